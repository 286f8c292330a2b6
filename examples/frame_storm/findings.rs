//! What was found in a run, gathered when it is over: the text and the page are made from this.

use std::collections::BTreeMap;

use hyphae::{Census, FrameStats, HotCells, Timing, arena, census, hot_traced_cells};

use crate::options::Options;
use crate::play::{Player, Record};
use crate::storm::Storm;

/// What was built, before the first frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Built {
    pub(crate) cells: usize,
    pub(crate) edges: usize,
    pub(crate) subscribers: usize,
    pub(crate) bytes: usize,
    /// What it stands for: a number and a word each.
    pub(crate) parts: Vec<(usize, &'static str)>,
    /// How many cells each operator computes.
    pub(crate) kinds: Vec<(usize, &'static str)>,
}

impl Built {
    pub(crate) fn look(player: &Player) -> Self {
        let (totals, rig) = (arena::totals(), &player.show.rig);
        let (universes, groups) = (rig.timelines.len(), rig.groups.len());
        Self {
            cells: totals.cells,
            edges: totals.edges,
            subscribers: totals.subscribers,
            bytes: census().iter().map(|row| row.bytes).sum(),
            parts: vec![
                (universes, "universes"),
                (rig.fixtures(), "fixtures"),
                (groups, "groups"),
                (groups * 4, "tracks"),
                (universes, "timelines"),
            ],
            kinds: kinds(),
        }
    }
}

/// Most cells first; equal ones by name.
fn kinds() -> Vec<(usize, &'static str)> {
    let mut counts = BTreeMap::new();
    for operator in arena::cells().into_iter().filter_map(arena::operator) {
        *counts.entry(operator).or_insert(0) += 1;
    }
    let mut kinds: Vec<_> = counts.into_iter().map(|(kind, cells)| (cells, kind)).collect();
    kinds.sort_by_key(|&(cells, _)| std::cmp::Reverse(cells));
    kinds
}

/// What all cells of one operator have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OperatorCost {
    pub(crate) operator: &'static str,
    pub(crate) cells: u64,
    pub(crate) notifies: u64,
    pub(crate) cut_offs: u64,
    pub(crate) compute_ns: u64,
    pub(crate) delivery_ns: u64,
}

impl OperatorCost {
    pub(crate) fn total_ns(&self) -> u64 {
        self.compute_ns + self.delivery_ns
    }
}

/// Most time first, then most notifies.
fn operator_costs(hot: &HotCells) -> Vec<OperatorCost> {
    let mut costs: BTreeMap<&str, OperatorCost> = BTreeMap::new();
    for cell in hot.iter() {
        let cost = costs.entry(cell.operator).or_default();
        cost.operator = cell.operator;
        cost.cells += 1;
        cost.notifies += cell.notify_count;
        cost.cut_offs += cell.cut_off_count;
        cost.compute_ns += cell.compute_time_ns;
        cost.delivery_ns += cell.delivery_time_ns;
    }
    let mut costs: Vec<_> = costs.into_values().collect();
    costs.sort_by_key(|cost| std::cmp::Reverse((cost.total_ns(), cost.notifies)));
    costs
}

/// What the cells say at the end.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Answers {
    /// Bars of music, and beats with presses of the button.
    pub(crate) bar: u64,
    pub(crate) steps: u64,
    /// How many states of universes were put on wires.
    pub(crate) sent: u64,
    pub(crate) channels_changed: u64,
    /// The most channels of a universe that change in a frame, on average of its last eight.
    pub(crate) highest_load: f32,
    /// How often something on the monitor was drawn anew.
    pub(crate) redraws: u64,
    pub(crate) checksum: u64,
}

impl Answers {
    pub(crate) fn look(storm: &Storm) -> Self {
        let screen = storm.monitor.screen.borrow();
        Self {
            bar: storm.rhythm.bar.get().unwrap_or(0) / 4,
            steps: storm.rhythm.steps.get(),
            sent: storm.outputs.iter().map(|output| output.status.get().1).sum(),
            channels_changed: storm.traffic.get(),
            highest_load: screen.meters.iter().copied().fold(0.0, f32::max),
            redraws: screen.redraws,
            checksum: storm.checksum(),
        }
    }
}

/// All that is told of a run.
#[derive(Debug, Clone)]
pub(crate) struct Findings {
    pub(crate) options: Options,
    pub(crate) built: Built,
    pub(crate) record: Record,
    pub(crate) stats: FrameStats,
    pub(crate) relinks: u64,
    pub(crate) answers: Answers,
    pub(crate) operators: Vec<OperatorCost>,
    /// All cells, hottest first.
    pub(crate) hot: HotCells,
    pub(crate) census: Census,
}

impl Findings {
    pub(crate) fn gather(options: &Options, built: Built, player: &Player, record: Record) -> Self {
        let hot = hot_traced_cells();
        let timed = options.timing != Timing::Off;
        let storm = &player.show.storm;
        Self {
            options: options.clone(),
            built,
            record,
            stats: player.stats().clone(),
            relinks: player.show.desk.relinks,
            answers: Answers::look(storm),
            operators: operator_costs(&hot),
            hot: if timed { hot.by_time() } else { hot.by_notifies() },
            census: census(),
        }
    }

    /// How the hot cells are sorted, and what their times are.
    pub(crate) fn order(&self) -> String {
        match self.options.timing {
            Timing::Off => "by notifies; no times with --timing off".to_owned(),
            Timing::EveryWave | Timing::OneWaveIn(0 | 1) => "by time".to_owned(),
            Timing::OneWaveIn(waves) => format!("by time; one wave in {waves} is timed"),
        }
    }

    /// The time of all cells.
    pub(crate) fn timed_ns(&self) -> u64 {
        self.operators.iter().map(OperatorCost::total_ns).sum()
    }
}
