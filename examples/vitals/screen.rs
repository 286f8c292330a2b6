//! The screen: subscribers that write lines.
//!
//! One line a second of reading time, and one for each event: an alarm, a device or core that came or
//! went. A subscriber reads other cells as they are in the wave under way, so a line is of one frame.
//! Writes no cell.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

use hyphae::{Pipeline, Signal, SubscriptionGuard};

use crate::alarm::Alarm;
use crate::gauge::{Gauge, Shown};
use crate::measure::Flow;
use crate::page::Page;
use crate::panel::Panel;
use crate::parts::Parts;
use crate::rows::{Rows, changes};
use crate::text::{bar, bytes, number, percent};

/// How many cores are shown as bars.
const BARS: usize = 32;

/// Keeps the subscribers.
pub(crate) struct Screen {
    _guards: [SubscriptionGuard; 2],
}

impl Screen {
    /// Starts to write what a panel shows; with each view it begins anew.
    pub(crate) fn of(panel: &Rc<Panel>, page: &Page) -> Self {
        let events = Events { page: page.clone(), elapsed: panel.elapsed.clone() };
        let of_view = RefCell::new(Vec::new());
        let follow = panel.parts.watch(move |parts| {
            events.page.line(&headings(parts));
            let before = of_view.replace(events.all(parts));
            drop(before);
        });
        Self { _guards: [follow, lines(panel, page)] }
    }
}

fn headings(parts: &Parts) -> String {
    let mut line = format!("{:>8}", "time");
    if parts.machine.is_some() {
        line += &format!("  {:>4} {:>5}", "cpu", "mean");
        line += &format!("  {:>4} {:>4}", "mem", "swap");
    }
    if parts.net.is_some() {
        line += &format!("  {:>8} {:>8}", "net in/s", "out/s");
    }
    if parts.disk.is_some() {
        line += &format!("  {:>8} {:>8}", "disk r/s", "w/s");
    }
    if parts.machine.is_some() {
        return line + &format!("  {:>5}  {:>6}  cores and verdict", "load1", "alarms");
    }
    line + &format!("  {:>6}  verdict", "alarms")
}

/// A line each second. What was there before the first frame is no line.
fn lines(panel: &Rc<Panel>, page: &Page) -> SubscriptionGuard {
    let (source, page) = (panel.clone(), page.clone());
    panel.second.subscribe_changes(move |signal| {
        if signal.is_value() {
            page.line(&line(&source));
        }
    })
}

fn line(panel: &Panel) -> String {
    let parts = panel.parts.get();
    let mut line = stamp(panel.elapsed.get());
    if let Some(machine) = &parts.machine {
        let (cpu, mean) = (machine.cpu.now.get(), machine.cpu.mean.get());
        line += &format!("  {:>4} {:>5}", percent(cpu), percent(mean));
        let (memory, swap) = (machine.memory.now.get(), machine.swap.now.get());
        line += &format!("  {:>4} {:>4}", percent(memory), percent(swap));
    }
    for devices in [&parts.net, &parts.disk].into_iter().flatten() {
        let (taken, given) = amounts(devices.total.now.get());
        line += &format!("  {taken:>8} {given:>8}");
    }
    if let Some(machine) = &parts.machine {
        line += &format!("  {:>5}", number(machine.load.now.get()));
    }
    line += &format!("  {:>6}", parts.running.get());
    if let Some(machine) = &parts.machine {
        line += &format!("  {}", bars(&machine.cores.list()));
    }
    line + &format!("  {}", parts.verdict.get())
}

/// A bar for each core; of many cores the first ones.
fn bars(cores: &[(u64, Gauge)]) -> String {
    let shown = cores.iter().take(BARS);
    let mut bars: String = shown.map(|(_, core)| bar(core.now.get())).collect();
    if cores.len() > BARS {
        bars.push('…');
    }
    bars
}

fn amounts(flow: Option<Flow>) -> (String, String) {
    let taken = flow.map(|flow| flow.taken);
    let given = flow.map(|flow| flow.given);
    (bytes(taken), bytes(given))
}

fn stamp(seconds: f64) -> String {
    format!("{seconds:>6.1} s")
}

/// Writes events with the time.
struct Events {
    page: Page,
    elapsed: Shown<f64>,
}

impl Events {
    /// Subscribes to all that can happen in a view.
    fn all(&self, parts: &Parts) -> Vec<SubscriptionGuard> {
        let cores = parts.machine.iter().map(|machine| self.rows("core", &machine.cores));
        let nets = parts.net.iter().map(|net| self.rows("interface", &net.rows));
        let disks = parts.disk.iter().map(|disk| self.rows("disk", &disk.rows));
        let alarms = parts.alarms.iter().map(|alarm| self.alarm(alarm));
        cores.chain(nets).chain(disks).chain(alarms).collect()
    }

    fn writer(&self) -> impl Fn(&str) + 'static {
        let (page, elapsed) = (self.page.clone(), self.elapsed.clone());
        move |text| page.line(&format!("{}  ** {text}", stamp(elapsed.get())))
    }

    fn alarm(&self, alarm: &Alarm) -> SubscriptionGuard {
        let (write, rule) = (self.writer(), alarm.rule);
        alarm.raised.subscribe_changes(move |signal| {
            if let Signal::Value(raised) = signal {
                let verb = if **raised { "alarm" } else { "over" };
                write(&format!("{verb}: {} ({})", rule.what, rule.reason(**raised)));
            }
        })
    }

    fn rows<K, R>(&self, kind: &'static str, rows: &Rows<K, R>) -> SubscriptionGuard
    where
        K: Ord + Clone + Display + 'static,
        R: Clone + 'static,
    {
        let write = self.writer();
        let steps = rows
            .keys()
            .pairwise()
            .map(|(before, after)| changes(before, after))
            .materialize()
            .with_name(format!("{kind} changes"));
        steps.watch(move |changes| {
            for (came, name) in changes.iter().flatten() {
                let verb = if *came { "appeared" } else { "vanished" };
                write(&format!("{kind} {name} {verb}"));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{Memory, Net, Reading};
    use crate::view::View;
    use hyphae::Cell;

    fn reading(at_ms: u64, nets: &[&str], free: u64) -> Reading {
        let net = |name: &&str| Net { name: (*name).to_owned(), totals: [at_ms, 0, 0, 0].into() };
        Reading {
            at_ms,
            nets: nets.iter().map(net).collect(),
            memory: Memory::from([100, free, 0, 0, 0, 0, 0]),
            ..Reading::default()
        }
    }

    /// What the screen writes for these frames.
    fn written(frames: &[Reading]) -> Vec<String> {
        let views = vec![View::All; frames.len()];
        written_in(&views, frames)[1..].to_vec()
    }

    /// What it writes, headings too, with the view that is set before each frame.
    fn written_in(views: &[View], frames: &[Reading]) -> Vec<String> {
        let out = Rc::new(RefCell::new(Vec::new()));
        let page = Page::on(out.clone());
        let view = Cell::new(views[0]);
        let panel = Rc::new(Panel::new(&frames[0], &view));
        let screen = Screen::of(&panel, &page);
        for (next, frame) in views.iter().zip(frames).skip(1) {
            view.set_if_changed(*next);
            panel.tick(frame);
        }
        drop((screen, panel, view));
        hyphae::arena::assert_no_live();
        let text = String::from_utf8(out.take()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_line_comes_once_a_second_of_reading_time() {
        let frames = [7, 500, 1006, 1007, 1500, 1900, 3007].map(|ms| reading(ms, &[], 50));
        let times: Vec<_> = written(&frames).iter().map(|line| line[..8].to_owned()).collect();
        assert_eq!(times, ["   1.0 s", "   3.0 s"]);
    }

    #[test]
    fn events_come_when_they_happen() {
        let frames = [
            reading(0, &["a"], 50),
            reading(100, &["a", "b"], 5),
            reading(200, &["a", "b"], 5),
            reading(300, &["b"], 5),
            reading(400, &["b"], 5),
        ];
        let mut lines = written(&frames);
        lines[1..].sort(); // of unrelated cells in one wave the order is not promised
        let expected = [
            "   0.1 s  ** interface b appeared",
            "   0.3 s  ** alarm: memory nearly full (above 90% for 3 frames)",
            "   0.3 s  ** interface a vanished",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_line_shows_one_frame() {
        let lines = written(&[reading(0, &["a"], 50), reading(2000, &["a"], 75)]);
        let expected = "   2.0 s    0%    0%   25%    -    1.0 kB      0 B       0 B      0 B      -       0    ok";
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn a_view_has_its_own_columns_and_events() {
        use View::{All, Cpu, Disk, Net};
        let frame = |at_ms, nets: &[&str]| reading(at_ms, nets, 50);
        let frames = [
            frame(0, &["a"]),
            frame(1000, &["a", "b"]), // an interface that nobody sees come
            frame(2000, &["a"]),
            frame(3000, &["a", "c"]),
            frame(4000, &["a"]),
            frame(5000, &["a"]),
        ];
        let lines = written_in(&[Cpu, Cpu, Net, Net, Disk, All], &frames);
        let expected = [
            "    time   cpu  mean   mem swap  load1  alarms  cores and verdict",
            "   1.0 s    0%    0%   50%    -      -       0    ok",
            "    time  net in/s    out/s  alarms  verdict",
            "   2.0 s  ** interface b vanished",
            "   2.0 s    1.0 kB      0 B       0  ok",
            "   3.0 s  ** interface c appeared",
            "   3.0 s    1.0 kB      0 B       0  ok",
            "    time  disk r/s      w/s  alarms  verdict",
            "   4.0 s       0 B      0 B       0  ok",
            "    time   cpu  mean   mem swap  net in/s    out/s  disk r/s      w/s  load1  alarms  cores and verdict",
            "   5.0 s    0%    0%   50%    -    1.0 kB      0 B       0 B      0 B      -       0    ok",
        ];
        let sorted = |mut lines: Vec<String>| {
            // In one wave the order of unrelated cells is not promised.
            lines[3..7].sort();
            lines
        };
        assert_eq!(sorted(lines), sorted(expected.map(str::to_owned).to_vec()));
    }
}
