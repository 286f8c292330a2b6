//! What a run was like, for its end.
//!
//! Reads the panel's cells and the totals of the arena; writes nothing itself.

use hyphae::arena;

use crate::gauge::Traffic;
use crate::panel::Panel;
use crate::parts::{Devices, Machine, Parts};
use crate::text::{bytes, number, percent};
use crate::verdict::Level;
use crate::view::View;

/// What the main loop counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Frames taken.
    pub(crate) ticks: u64,
    /// The most cells alive after a frame.
    pub(crate) most_cells: usize,
}

impl Tally {
    /// Counts a frame that the panel has taken.
    pub(crate) fn count(&mut self) {
        self.ticks += 1;
        self.most_cells = self.most_cells.max(arena::totals().cells);
    }
}

/// The lines of the summary. `clock_ticks` is the unit of processor times, per second.
pub(crate) fn summary(panel: &Panel, tally: Tally, clock_ticks: u64) -> Vec<String> {
    let (elapsed, parts) = (panel.elapsed.get(), panel.parts.get());
    let mut lines =
        vec![String::new(), row("ticks", &format!("{} in {elapsed:.1} s", tally.ticks))];
    if parts.view != View::All {
        lines.push(row("view", &parts.view.to_string()));
    }
    lines.extend(graph(tally));
    lines.push(row("alarms", &alarms(&parts)));
    lines.push(row("verdict", &verdict(&parts)));
    if let Some(machine) = &parts.machine {
        lines.push(row("cpu", &cpu(machine, clock_ticks)));
        lines.push(row("peaks", &peaks(machine)));
    }
    let net = parts.net.iter().flat_map(|net| devices("net (without lo)", "in", "out", net));
    lines.extend(net);
    lines.extend(parts.disk.iter().flat_map(|disk| devices("disk", "read", "written", disk)));
    lines
}

fn row(name: &str, text: &str) -> String {
    format!("{name:<18}{text}")
}

fn graph(tally: Tally) -> [String; 2] {
    let totals = arena::totals();
    let cells = format!("{} (most: {})", totals.cells, tally.most_cells);
    let work = format!("{} in {} waves", totals.recomputations, totals.waves);
    [row("cells", &cells), row("recomputations", &work)]
}

fn alarms(parts: &Parts) -> String {
    let counted = parts.alarms.iter().map(|alarm| (alarm.watch.get(), alarm));
    let raised: Vec<_> = counted.filter(|(watch, _)| watch.count > 0).collect();
    let mut text = raised.iter().map(|(watch, _)| watch.count).sum::<u64>().to_string();
    for (at, (watch, alarm)) in raised.iter().enumerate() {
        let gap = if at == 0 { ": " } else { ", " };
        let state = if watch.raised { " (still on)" } else { "" };
        text += &format!("{gap}{} x{}{state}", alarm.rule.what, watch.count);
    }
    text
}

fn verdict(parts: &Parts) -> String {
    let frames = parts.by_level.get();
    let counts = Level::ALL.map(|level| format!("{level} {}", frames[level as usize]));
    format!("{}; frames: {}", parts.verdict.get(), counts.join(", "))
}

fn cpu(machine: &Machine, clock_ticks: u64) -> String {
    let worked = machine.worked.get() as f64 / clock_ticks as f64;
    let peak = percent(machine.cpu.peak.get());
    let mut text = format!("{worked:.2} s worked, peak {peak}");
    let cores = machine.cores.list();
    let peaks = cores.iter().map(|(id, core)| (core.peak.get(), id));
    let busiest = peaks.max_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(a.1.cmp(b.1)));
    if let Some((peak, id)) = busiest {
        text += &format!("; busiest core {id}, peak {}", percent(peak));
    }
    text
}

fn peaks(machine: &Machine) -> String {
    let memory = percent(machine.memory.peak.get());
    let (swap, load) = (machine.swap.peak.get(), machine.load.peak.get());
    format!("memory {memory}, swap {}, load1 {}", percent(swap), number(load))
}

/// The peaks of all devices together, then of each that moved anything.
fn devices(kind: &str, taken: &str, given: &str, devices: &Devices) -> Vec<String> {
    let flow = |traffic: &Traffic| {
        let peak = traffic.peak.get();
        let (a, b) = (bytes(Some(peak.taken)), bytes(Some(peak.given)));
        format!("peak {a}/s {taken}, {b}/s {given}")
    };
    let mut lines = vec![row(kind, &flow(&devices.total))];
    for (name, traffic) in devices.rows.list() {
        let peak = traffic.peak.get();
        if peak.taken + peak.given > 0.0 {
            lines.push(row(&format!("  {name}"), &flow(&traffic)));
        }
    }
    lines
}
