//! How deep and how wide the work of a round is: a cell that is computed is one level above the highest of its inputs that
//! were computed in the same round, and on level 1 without any. What has no inputs is on none.
//!
//! Invariants: **V1** `counts` are those of `round`: each cell that was computed in it counts once, on the level it had last.
//!
//! Costs: a look at each input of each cell that is computed; 24 bytes for each slot of the arena, once asked for.

use slotmap::SecondaryMap;

use crate::graph::{CellKey, EdgeKind, Graph, Rank};

/// The level of a cell in the round in which it was computed last.
#[derive(Clone, Copy)]
struct Level {
    round: u64,
    level: u32,
}

/// Levels of the round under way, and how far they went.
#[derive(Default)]
pub(super) struct Levels {
    of: SecondaryMap<CellKey, Level>,
    round: u64,
    /// How many cells are on each, from level 1.
    counts: Vec<u32>,
    /// The highest level of a round, and the most cells on one, in the wave under way.
    pub(super) of_wave: (u32, u32),
    /// The same in the frame under way.
    pub(super) of_frame: (u32, u32),
}

impl Levels {
    /// Counts the cell at `rank`, which is computed in this round.
    pub(super) fn count<P: Copy>(&mut self, graph: &Graph<P>, rank: Rank, round: u64) {
        let inputs = graph.ins(rank).filter(|&(_, kind)| kind != EdgeKind::Order);
        let below = inputs.map(|(input, _)| self.of_round(graph.id(input), round).unwrap_or(0));
        if let Some(below) = below.max() {
            self.set(graph.id(rank), round, below + 1);
        }
    }

    fn of_round(&self, id: CellKey, round: u64) -> Option<u32> {
        self.of.get(id).filter(|level| level.round == round).map(|level| level.level)
    }

    /// Moves a cell to a level from the one that it had in this round.
    fn set(&mut self, id: CellKey, round: u64, level: u32) {
        if self.round != round {
            self.round = round;
            self.counts.clear();
        }
        if let Some(before) = self.of_round(id, round) {
            self.counts[before as usize - 1] -= 1;
        }
        if self.counts.len() < level as usize {
            self.counts.resize(level as usize, 0);
        }
        self.counts[level as usize - 1] += 1;
        self.of.insert(id, Level { round, level });
    }

    /// A round has settled.
    pub(super) fn end_round(&mut self, round: u64) {
        if self.round != round {
            return;
        }
        let highest = self.counts.iter().rposition(|&count| count > 0);
        let highest = highest.map_or(0, |at| at as u32 + 1);
        let widest = self.counts.iter().copied().max().unwrap_or(0);
        for extent in [&mut self.of_wave, &mut self.of_frame] {
            *extent = (extent.0.max(highest), extent.1.max(widest));
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.of.capacity() * size_of::<(u64, Level)>() + self.counts.capacity() * size_of::<u32>()
    }
}
