//! The order: restoring it when an edge does not ascend, and squeezing vacant ranks out of it.
//!
//! An edge from `src` to a `dst` of lower rank breaks the order only between the two ranks. Of the
//! nodes there, those downstream of `dst` must come after those upstream of `src`. Exactly these
//! nodes are found, and they share out among themselves the ranks that they have: first the ones
//! upstream, then the ones downstream, each group in its old order. All other nodes stay.
//!
//! What it does not know: who keeps ranks outside. They are told of every change.
//!
//! Invariants: I1 to I4 of the graph hold again when a function of this module returns. While rows
//! are moved, the id table is ahead of them: it has the new ranks already.
//!
//! Where only a few nodes have to come before `dst`, and there are vacant ranks for them below it, these few move there
//! and nothing is searched downstream. Else, where no node downstream of `dst` is above `src`, they go to the end of
//! the order: the usual case of an input that is younger than its reader. The ranks they leave, and for a reader of many
//! inputs as many more, take the next such inputs.
//!
//! Costs: a reorder is O(m log m) for the m nodes found and their edges, however large the graph;
//! `compact` is O(ranks + edges).

use std::mem;

use super::scratch::{Row, Scratch};
use super::walk::Step;
use super::{CellKey, Cold, CycleFound, Graph, MAX_RANKS, NONE, Rank};

/// Fewer vacant ranks than this are not worth compacting.
const FEW_VACANT: usize = 64;

/// So many nodes move down, or go to the end of the order even if many ranks are vacant.
const FEW: usize = 16;

/// The most ranks that are left vacant below a node that goes to the end.
const MOST_ROOM: usize = 4096;

impl<P: Copy> Graph<P> {
    /// Whether more than half of the ranks are vacant, and not just a few. Never while ranks are
    /// held.
    #[inline]
    pub(crate) fn needs_compaction(&self) -> bool {
        !self.held && self.vacant > FEW_VACANT && self.vacant * 2 > self.records.len()
    }

    /// Squeezes the vacant ranks out; the order of the nodes stays. `moved` is called for each
    /// node whose rank changed, in order, when all is done. Ranks must not be held.
    pub(crate) fn compact(&mut self, mut moved: impl FnMut(P, Rank)) {
        debug_assert!(!self.held, "ranks are held");
        if self.vacant == 0 {
            return;
        }
        let mut plan = mem::take(&mut self.scratch.plan);
        plan.clear();
        plan.extend(self.iter().zip(0..).map(|((_, old, _), new)| (old, new)));
        plan.retain(|(old, new)| old != new);
        self.announce(&plan);
        for &(old, new) in &plan {
            let row = self.take_row(old);
            self.put_row(new, row);
        }
        self.trim();
        for &(_, new) in &plan {
            self.payload(new).into_iter().for_each(|p| moved(p, new));
        }
        self.scratch.plan = plan;
    }

    /// Makes room in the order for an edge from `src` to `dst`, which does not ascend. Returns the
    /// new ranks of the two; [`Graph::report_moves`] is to follow.
    pub(super) fn reorder(&mut self, src: Rank, dst: Rank) -> Result<(Rank, Rank), CycleFound> {
        let mut scratch = mem::take(&mut self.scratch);
        let found = match self.plan_down(&mut scratch, src, dst) {
            true => Ok(Way::Down),
            false => self.affected(&mut scratch, src, dst),
        };
        let ends = found.map(|way| {
            match way {
                Way::Down => (),
                Way::ToTheEnd => self.append_ranks(&mut scratch, dst),
                Way::Between => share_ranks(&mut scratch),
            }
            let ids = (self.id(src), self.id(dst));
            self.apply(&mut scratch);
            (self.settled_rank(ids.0), self.settled_rank(ids.1))
        });
        self.scratch = scratch;
        ends
    }

    /// Calls `moved` for each node that the last reorder moved.
    pub(super) fn report_moves(&mut self, mut moved: impl FnMut(P, Rank)) {
        for &(_, new) in &self.scratch.plan {
            self.payload(new).into_iter().for_each(|p| moved(p, new));
        }
    }

    /// Plans to move the nodes in `ahead` to the end, where ranks are made for them.
    fn append_ranks(&mut self, scratch: &mut Scratch<P>, dst: Rank) {
        let Scratch { ahead, plan, .. } = scratch;
        ahead.sort_unstable();
        let inputs = self.in_count(dst);
        let room = if inputs > FEW { inputs.min(MOST_ROOM) } else { 0 };
        let len = self.records.len();
        plan.clear();
        plan.extend(ahead.iter().zip((len + room) as Rank..).map(|(met, new)| (met.0, new)));
        let end = len + room + plan.len();
        self.grow_sets(end);
        for new in len..end {
            self.records.extend();
            self.cold.push(Cold::default());
            self.vacate(new as Rank);
        }
    }

    /// Plans to move `src` and what is upstream of it to vacant ranks below `dst`, if it is little and there are such. Then
    /// there is no cycle either: `dst` is not among it.
    fn plan_down(&self, scratch: &mut Scratch<P>, src: Rank, dst: Rank) -> bool {
        if src == dst || !self.few_behind(scratch, src, dst) {
            return false;
        }
        let Scratch { behind, plan, .. } = scratch;
        behind.sort_unstable();
        plan.clear();
        let mut from = 0;
        for &rank in &*behind {
            // Inputs at or above `dst` are in the plan already, and below `from`.
            let inputs = self.ins(rank).map(|edge| edge.0).filter(|&input| input < dst);
            from = inputs.max().map_or(from, |highest| from.max(highest + 1));
            match self.free.lowest_from(from).filter(|&vacant| vacant < dst) {
                Some(vacant) => plan.push((rank, vacant)),
                None => return false,
            }
            from = plan[plan.len() - 1].1 + 1;
        }
        true
    }

    /// Fills `behind` with `src` and what is upstream of it at or above `dst`; `false` if that is much, or `dst` is among it.
    fn few_behind(&self, scratch: &mut Scratch<P>, src: Rank, dst: Rank) -> bool {
        let mut met = 0;
        let mut few = true;
        self.upstream_until(scratch, src, dst, |rank, _| {
            met += 1;
            few = rank != dst && met < 4 * FEW;
            if few { Step::Follow } else { Step::Stop }
        });
        few && scratch.behind.len() <= FEW
    }

    /// Finds the nodes that have to move: into `ahead` those downstream of `dst`, and into
    /// `behind` those upstream of `src`, as far as their ranks are between the two. If those in `ahead` may go to the end,
    /// `behind` is not searched.
    fn affected(&self, scratch: &mut Scratch<P>, src: Rank, dst: Rank) -> Result<Way, CycleFound> {
        let mut above = false;
        let cycle = self.search_ahead(scratch, src, dst, &mut above);
        scratch.seen.clear(scratch.ahead.iter().map(|met| met.0));
        if let Some(last) = cycle {
            let path = self.cycle(&scratch.ahead, src, last);
            return Err(CycleFound { path });
        }
        // What leaves its place makes room for the next young input; not where there is much room already.
        let ahead = scratch.ahead.len();
        let fits = ahead <= FEW || self.vacant * 2 <= self.records.len();
        if fits && !above && self.records.len() + ahead + MOST_ROOM < MAX_RANKS {
            scratch.behind.clear();
            return Ok(Way::ToTheEnd);
        }
        self.upstream(scratch, src, dst, |_| true);
        Ok(Way::Between)
    }

    /// Fills `ahead`. If that meets `src`, returns the place of the node it was met from, which is
    /// [`NONE`] if `src` is `dst`. Sets `above` if something downstream of `dst` is above `src`.
    fn search_ahead(
        &self,
        scratch: &mut Scratch<P>,
        src: Rank,
        dst: Rank,
        above: &mut bool,
    ) -> Option<u32> {
        let Scratch { seen, ahead, .. } = scratch;
        ahead.clear();
        if src == dst {
            return Some(NONE);
        }
        seen.cover(self.records.len());
        seen.insert(dst);
        ahead.push((dst, NONE));
        let mut place = 0;
        while let Some(&(rank, _)) = ahead.get(place as usize) {
            for (next, _) in self.outs(rank) {
                if next == src {
                    return Some(place);
                }
                *above |= next > src;
                if next < src && seen.insert(next) {
                    ahead.push((next, place));
                }
            }
            place += 1;
        }
        None
    }

    /// The path from `src` against the edges to the origin of `ahead`, and to `src` again.
    fn cycle(&self, ahead: &[(Rank, u32)], src: Rank, last: u32) -> Vec<CellKey> {
        let mut path = vec![self.id(src)];
        let mut place = last;
        while let Some(&(rank, from)) = ahead.get(place as usize) {
            path.push(self.id(rank));
            place = from;
        }
        path.push(self.id(src));
        path
    }

    /// Moves the nodes as planned.
    fn apply(&mut self, scratch: &mut Scratch<P>) {
        let Scratch { plan, rows, .. } = scratch;
        self.announce(plan);
        rows.clear();
        rows.extend(plan.iter().map(|&(old, _)| self.take_row(old)));
        for (&(_, new), &row) in plan.iter().zip(&*rows) {
            self.put_row(new, row);
        }
        self.moves += plan.len() as u64;
        if !self.held {
            // What moved down may have left vacant ranks at the end.
            self.trim();
        }
    }

    /// Gives the ids and the edges of the nodes in `plan` their new ranks.
    fn announce(&mut self, plan: &[(Rank, Rank)]) {
        for &(old, new) in plan {
            self.ids.set_rank(self.id(old), new);
        }
        for &(old, new) in plan {
            self.rename(old, new);
        }
        self.shape += 1;
        self.disturb();
    }

    /// Takes what is kept by rank about a node, and leaves the rank vacant.
    fn take_row(&mut self, rank: Rank) -> Row<P> {
        self.vacate(rank);
        let row = Row {
            record: self.records[rank as usize].read(),
            cold: mem::take(&mut self.cold[rank as usize]),
            dirty: self.dirty.clear(rank),
            deliver: self.deliver.clear(rank),
        };
        self.records[rank as usize].clear();
        row
    }

    /// Puts a node at a rank that is vacant.
    fn put_row(&mut self, rank: Rank, row: Row<P>) {
        self.fill(rank);
        self.records[rank as usize].write(row.record);
        self.cold[rank as usize] = row.cold;
        if row.dirty {
            self.dirty.mark(rank);
        }
        if let (true, Some(payload)) = (row.deliver, self.payload(rank)) {
            self.mark_deliver(rank, payload);
        }
    }

    /// The rank of a node that is known to be live.
    fn settled_rank(&self, id: CellKey) -> Rank {
        self.ids.rank(id).expect("a moved node is live")
    }
}

/// How a reorder goes about it.
enum Way {
    /// Those upstream take vacant ranks below.
    Down,
    /// Those downstream take new ranks.
    ToTheEnd,
    /// Both share out the ranks that they have.
    Between,
}

/// Shares out the ranks of the nodes in `behind` and `ahead`, and plans the moves. Every node moves:
/// `dst` is below all of `behind` and comes after them, and `src` is above all of `ahead`.
fn share_ranks<P>(scratch: &mut Scratch<P>) {
    let Scratch { ahead, behind, slots, plan, .. } = scratch;
    behind.sort_unstable();
    ahead.sort_unstable();
    let order = || behind.iter().copied().chain(ahead.iter().map(|met| met.0));
    slots.clear();
    slots.extend(order());
    slots.sort_unstable();
    plan.clear();
    plan.extend(order().zip(slots.iter().copied()));
}
