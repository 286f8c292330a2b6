//! Walks upstream: what a node depends on, within bounds given by rank.
//!
//! What it does not know: how the order comes about. It only uses that edges ascend, so nothing
//! below a rank can lead up to it from above.
//!
//! Invariants: the graph is not changed; I1 of the scratch buffers holds when a walk is over.
//!
//! Costs: O(nodes met and their in-edges), plus a sort where the result is in order. No recursion,
//! and no allocation in steady state, except in `height`.

use std::mem;

use super::scratch::Scratch;
use super::{EdgeKind, Graph, Rank};

impl<P: Copy> Graph<P> {
    /// Whether `to` is `from` or depends on it; an order edge is no dependency. Looks at ranks from
    /// `from` to `to` only.
    pub(crate) fn reaches(&mut self, from: Rank, to: Rank) -> bool {
        if from >= to {
            return from == to;
        }
        let mut scratch = mem::take(&mut self.scratch);
        let mut met = false;
        self.upstream_until(&mut scratch, to, from, |rank, kind| {
            if !is_dependency(kind) {
                return Step::Skip;
            }
            met |= rank == from;
            if met { Step::Stop } else { Step::Follow }
        });
        self.scratch = scratch;
        met
    }

    /// Fills `out` with the ranks, in order, that are `target` or upstream of it, along
    /// dependencies, and not below the lowest dirty rank: whatever has to be looked at to bring
    /// `target` up to date. Empty if nothing is dirty. What is `known` to be up to date is left out.
    pub(crate) fn cone(&mut self, target: Rank, known: impl Fn(P) -> bool, out: &mut Vec<Rank>) {
        out.clear();
        let Some(floor) = self.dirty.lowest().filter(|&floor| floor <= target) else {
            return;
        };
        let mut scratch = mem::take(&mut self.scratch);
        self.upstream_until(&mut scratch, target, floor, |rank, kind| {
            if is_dependency(kind) { self.follow_unless(rank, &known) } else { Step::Skip }
        });
        out.extend_from_slice(&scratch.behind);
        out.sort_unstable();
        self.scratch = scratch;
    }

    /// Whether `target` or anything upstream of it is dirty. What is `known` to be up to date is not looked at.
    pub(crate) fn is_behind(&mut self, target: Rank, known: impl Fn(P) -> bool) -> bool {
        let Some(floor) = self.dirty.lowest().filter(|&floor| floor <= target) else {
            return false;
        };
        let mut behind = self.dirty.contains(target);
        let mut scratch = mem::take(&mut self.scratch);
        if !behind {
            self.upstream_until(&mut scratch, target, floor, |rank, kind| {
                if !is_dependency(kind) {
                    return Step::Skip;
                }
                behind |= self.dirty.contains(rank);
                if behind { Step::Stop } else { self.follow_unless(rank, &known) }
            });
        }
        self.scratch = scratch;
        behind
    }

    fn follow_unless(&self, rank: Rank, known: impl Fn(P) -> bool) -> Step {
        if self.payload(rank).is_some_and(known) { Step::Skip } else { Step::Follow }
    }

    /// A way against the dependencies from `high` to `low`, both included; empty if there is none.
    pub(crate) fn route(&self, high: Rank, low: Rank) -> Vec<Rank> {
        let mut met = vec![(high, usize::MAX)];
        let mut seen = std::collections::HashSet::from([high]);
        let mut place = 0;
        while let Some(&(rank, _)) = met.get(place) {
            if rank == low {
                break;
            }
            let inputs = self.ins(rank).filter(|&(_, kind)| is_dependency(kind));
            for (source, _) in inputs.filter(|edge| edge.0 >= low) {
                if seen.insert(source) {
                    met.push((source, place));
                }
            }
            place += 1;
        }
        let mut way = Vec::new();
        while let Some(&(rank, from)) = met.get(place) {
            way.push(rank);
            place = from;
        }
        way.reverse();
        way
    }

    /// All that is upstream of `target`, and itself.
    pub(crate) fn ancestors(&mut self, target: Rank, out: &mut Vec<Rank>) {
        let mut scratch = mem::take(&mut self.scratch);
        self.upstream(&mut scratch, target, 0, |kind| kind != EdgeKind::Order);
        out.clear();
        out.extend_from_slice(&scratch.behind);
        self.scratch = scratch;
    }

    /// The length of the longest path of dependencies that ends at `rank`: 0 without inputs, else
    /// one more than the highest input. Order edges do not count.
    pub(crate) fn height(&mut self, rank: Rank) -> u32 {
        let mut scratch = mem::take(&mut self.scratch);
        self.upstream(&mut scratch, rank, 0, is_dependency);
        let cone = &mut scratch.behind;
        cone.sort_unstable();
        let low = cone[0];
        let mut heights = vec![0; (rank - low) as usize + 1];
        for &node in &*cone {
            let inputs = self.ins(node).filter(|&(_, kind)| is_dependency(kind));
            let above = inputs.map(|(input, _)| heights[(input - low) as usize] + 1);
            heights[(node - low) as usize] = above.max().unwrap_or(0);
        }
        self.scratch = scratch;
        heights[(rank - low) as usize]
    }

    /// Fills `behind` with `target` and all that is upstream of it, not below `floor`, along edges
    /// of which `follow` approves.
    pub(super) fn upstream(
        &self,
        scratch: &mut Scratch<P>,
        target: Rank,
        floor: Rank,
        follow: impl Fn(EdgeKind) -> bool,
    ) {
        self.upstream_until(scratch, target, floor, |_, kind| {
            if follow(kind) { Step::Follow } else { Step::Skip }
        });
    }

    /// The same, where `step` is asked about each edge that is met: its source and its kind.
    pub(super) fn upstream_until(
        &self,
        scratch: &mut Scratch<P>,
        target: Rank,
        floor: Rank,
        mut step: impl FnMut(Rank, EdgeKind) -> Step,
    ) {
        let Scratch { seen, behind, .. } = scratch;
        behind.clear();
        behind.push(target);
        seen.cover(self.records.len());
        let mut place = 0;
        'walk: while let Some(&rank) = behind.get(place) {
            for (source, kind) in self.ins(rank).filter(|&(source, _)| source >= floor) {
                match step(source, kind) {
                    Step::Follow if seen.insert(source) => behind.push(source),
                    Step::Follow | Step::Skip => {}
                    Step::Stop => break 'walk,
                }
            }
            place += 1;
        }
        seen.clear(behind.iter().copied());
    }
}

/// What to do about an edge that a walk meets.
pub(super) enum Step {
    /// Go on to its source.
    Follow,
    /// Leave it.
    Skip,
    /// End the walk.
    Stop,
}

/// Whether an edge is a dependency.
fn is_dependency(kind: EdgeKind) -> bool {
    kind != EdgeKind::Order
}
