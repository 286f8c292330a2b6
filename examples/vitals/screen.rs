//! The screen: subscribers that write lines.
//!
//! One line a second of reading time, and one for each event: an alarm, a device or core that came or
//! went. A subscriber reads other cells as they are in the wave under way, so a line is of one frame.
//! Writes no cell.

use std::fmt::Display;
use std::rc::Rc;

use hyphae::{Pipeline, Signal, SubscriptionGuard};

use crate::alarm::Alarm;
use crate::gauge::Shown;
use crate::measure::Flow;
use crate::page::Page;
use crate::panel::Panel;
use crate::rows::{Rows, changes};
use crate::text::{bar, bytes, number, percent};

/// How many cores are shown as bars.
const BARS: usize = 32;

/// Keeps the subscribers.
pub(crate) struct Screen {
    _guards: Vec<SubscriptionGuard>,
}

impl Screen {
    /// Starts to write what a panel shows.
    pub(crate) fn of(panel: &Rc<Panel>, page: &Page) -> Self {
        page.line(&headings());
        let events = Events { page: page.clone(), elapsed: panel.elapsed.clone() };
        let mut guards = vec![
            lines(panel, page),
            events.rows("core", &panel.cores),
            events.rows("interface", &panel.net.rows),
            events.rows("disk", &panel.disk.rows),
        ];
        guards.extend(panel.alarms.iter().map(|alarm| events.alarm(alarm)));
        Self { _guards: guards }
    }
}

fn headings() -> String {
    let mut line = format!("{:>8}  {:>4} {:>5}", "time", "cpu", "mean");
    line += &format!("  {:>4} {:>4}", "mem", "swap");
    line += &format!("  {:>8} {:>8}", "net in/s", "out/s");
    line += &format!("  {:>8} {:>8}", "disk r/s", "w/s");
    line + &format!("  {:>5}  {:>6}  {}", "load1", "alarms", "cores and verdict")
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
    let mut line = stamp(panel.elapsed.get());
    let (cpu, mean) = (panel.cpu.now.get(), panel.cpu.mean.get());
    line += &format!("  {:>4} {:>5}", percent(cpu), percent(mean));
    let (memory, swap) = (panel.memory.now.get(), panel.swap.now.get());
    line += &format!("  {:>4} {:>4}", percent(memory), percent(swap));
    for traffic in [&panel.net.total, &panel.disk.total] {
        let (taken, given) = amounts(traffic.now.get());
        line += &format!("  {taken:>8} {given:>8}");
    }
    let (load, alarms) = (panel.load.now.get(), panel.running.get());
    line += &format!("  {:>5}  {alarms:>6}", number(load));
    line + &format!("  {}  {}", bars(panel), panel.verdict.get())
}

/// A bar for each core; of many cores the first ones.
fn bars(panel: &Panel) -> String {
    let rows = panel.cores.list();
    let shown = rows.iter().take(BARS);
    let mut bars: String = shown.map(|(_, core)| bar(core.now.get())).collect();
    if rows.len() > BARS {
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
    use std::cell::RefCell;

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
        let out = Rc::new(RefCell::new(Vec::new()));
        let page = Page::on(out.clone());
        let panel = Rc::new(Panel::new(&frames[0]));
        let screen = Screen::of(&panel, &page);
        frames[1..].iter().for_each(|frame| panel.tick(frame));
        drop((screen, panel));
        hyphae::arena::assert_no_live();
        let text = String::from_utf8(out.take()).unwrap();
        text.lines().skip(1).map(str::to_owned).collect()
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
}
