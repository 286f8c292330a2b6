//! All cells of the monitor: sources for what is read, and what is derived from them.
//!
//! Each frame is one batch, so everything derived is computed once for it and from one reading.
//! Knows neither where readings come from nor how anything is shown.

use std::collections::BTreeMap;
use std::rc::Rc;

use hyphae::{Cell, Pipeline, arena, batch};

use crate::alarm::{Alarm, Rule};
use crate::gauge::{Gauge, Shown, Traffic};
use crate::measure::{
    Flow, Moment, Volumes, device_flow, disk_volumes, is_disk, is_network, larger, memory_used,
    net_volumes, spent, swap_used, total_flow,
};
use crate::reading::{CpuTimes, Memory, Reading};
use crate::rows::Rows;
use crate::text::{number, percent};
use crate::verdict::{Level, Verdict, raised, verdict};

type Cores = Rc<BTreeMap<u64, CpuTimes>>;

/// The cells that are written, all of them once a frame.
struct Sources {
    clock: Cell<u64>,
    cpu: Cell<CpuTimes>,
    cores: Cell<Cores>,
    memory: Cell<Memory>,
    load: Cell<Option<f64>>,
    nets: Cell<Volumes>,
    disks: Cell<Volumes>,
}

impl Sources {
    fn new(reading: &Reading) -> Self {
        Self {
            clock: Cell::new(reading.at_ms).with_name("clock"),
            cpu: Cell::new(reading.stat.cpu).with_name("cpu times"),
            cores: Cell::new(cores(reading)).with_name("core times"),
            memory: Cell::new(reading.memory).with_name("meminfo"),
            load: Cell::new(load1(reading)).with_name("load1"),
            nets: Cell::new(net_volumes(&reading.nets)).with_name("interface totals"),
            disks: Cell::new(disk_volumes(&reading.disks)).with_name("disk totals"),
        }
    }

    fn set(&self, reading: &Reading) {
        self.clock.set(reading.at_ms);
        self.cpu.set(reading.stat.cpu);
        self.cores.set(cores(reading));
        self.memory.set(reading.memory);
        self.load.set(load1(reading));
        self.nets.set(net_volumes(&reading.nets));
        self.disks.set(disk_volumes(&reading.disks));
    }
}

fn cores(reading: &Reading) -> Cores {
    let cores = reading.stat.cores.iter();
    Rc::new(cores.map(|core| (core.id, core.times)).collect())
}

fn load1(reading: &Reading) -> Option<f64> {
    reading.load.map(|load| load.averages[0])
}

/// The devices of one kind.
pub(crate) struct Devices {
    /// All that count, together.
    pub(crate) total: Traffic,
    /// Each for itself.
    pub(crate) rows: Rows<String, Traffic>,
}

impl Devices {
    fn of(
        kind: &str,
        clock: &Cell<u64>,
        volumes: &Cell<Volumes>,
        counts: fn(&str, &Volumes) -> bool,
    ) -> Self {
        let moments: Shown<Moment> = clock.join(volumes).with_name(format!("{kind} moment"));
        let total =
            Traffic::of(kind, &moments, move |before, after| total_flow(before, after, counts));
        let rows = Rows::of(&format!("{kind} names"), volumes, move |name: &String| {
            let device = name.clone();
            Traffic::of(name, &moments, move |before, after| device_flow(&device, before, after))
        });
        Self { total, rows }
    }
}

/// A value and the highest it was.
pub(crate) struct Value {
    /// Now.
    pub(crate) now: Shown<Option<f64>>,
    /// The highest so far.
    pub(crate) peak: Shown<Option<f64>>,
}

impl Value {
    fn of(name: &str, now: Shown<Option<f64>>) -> Self {
        let peak = (&now)
            .scan(None, |peak, now| larger(*peak, *now))
            .materialize()
            .with_name(format!("{name} peak"));
        Self { now: now.with_name(name), peak }
    }
}

/// All that is derived.
pub(crate) struct Panel {
    sources: Sources,
    /// Seconds since the first frame.
    pub(crate) elapsed: Shown<f64>,
    /// Whole seconds since the first frame; changes once a second.
    pub(crate) second: Shown<u64>,
    /// All cores together.
    pub(crate) cpu: Gauge,
    /// Clock ticks worked since the first frame.
    pub(crate) worked: Shown<u64>,
    /// Each core.
    pub(crate) cores: Rows<u64, Gauge>,
    /// The share of memory in use.
    pub(crate) memory: Value,
    /// The share of swap space in use.
    pub(crate) swap: Value,
    /// The load of the last minute.
    pub(crate) load: Value,
    /// Network interfaces.
    pub(crate) net: Devices,
    /// Disks.
    pub(crate) disk: Devices,
    /// All alarms.
    pub(crate) alarms: Vec<Alarm>,
    /// How many of them are raised.
    pub(crate) running: Shown<usize>,
    /// How the machine is.
    pub(crate) verdict: Shown<Verdict>,
    /// How many frames it was at each level.
    pub(crate) by_level: Shown<[u64; 3]>,
}

impl Panel {
    /// The panel of a machine, from its first reading.
    pub(crate) fn new(first: &Reading) -> Self {
        let sources = Sources::new(first);
        let cpu = Gauge::of("cpu", &sources.cpu);
        let memory = share("memory", &sources.memory, memory_used);
        let swap = share("swap", &sources.memory, swap_used);
        let load = Value::of("load1", sources.load.clone().lock());
        let disk = Devices::of("disk", &sources.clock, &sources.disks, is_disk);
        let alarms = alarms(&Watched {
            cpu: &cpu.mean,
            memory: &memory.now,
            swap: &swap.now,
            load: &load_per_core(&sources),
            disk: &busy(&disk.total.now),
        });
        let raised = raised(&alarms);
        let verdict = verdict(&alarms, &raised);
        let (elapsed, second) = times(&sources.clock);
        Self {
            elapsed,
            second,
            worked: worked(&sources.cpu),
            cores: core_rows(&sources.cores),
            net: Devices::of("net", &sources.clock, &sources.nets, is_network),
            by_level: by_level(&sources.clock, &verdict),
            cpu,
            memory,
            swap,
            load,
            disk,
            running: running(&raised),
            alarms,
            verdict,
            sources,
        }
    }

    /// Takes the next reading.
    pub(crate) fn tick(&self, reading: &Reading) {
        let before = arena::totals();
        batch(|| self.sources.set(reading));
        let after = arena::totals();
        let waves = after.waves - before.waves;
        assert_eq!(waves, 1, "a frame is one wave: no subscriber writes a cell");
        let computed = after.recomputations - before.recomputations;
        assert!(computed <= before.cells as u64, "a frame computes no cell twice");
    }
}

/// Seconds since the first frame, with fractions and whole.
fn times(clock: &Cell<u64>) -> (Shown<f64>, Shown<u64>) {
    let first = clock.get();
    let since = move |ms: &u64| *ms - first;
    let elapsed = clock.map(move |ms| since(ms) as f64 / 1000.0);
    let second = clock.map(move |ms| since(ms) / 1000).deduped();
    (elapsed.materialize().with_name("elapsed"), second.materialize().with_name("second"))
}

fn worked(cpu: &Cell<CpuTimes>) -> Shown<u64> {
    let first = cpu.get();
    cpu.map(move |now| spent(&first, now).0).materialize().with_name("worked")
}

fn core_rows(cores: &Cell<Cores>) -> Rows<u64, Gauge> {
    let input = cores.clone();
    Rows::of("core numbers", cores, move |&id| {
        let times = (&input)
            .map(move |cores| cores.get(&id).copied().unwrap_or_default())
            .materialize()
            .with_name(format!("core {id} times"));
        Gauge::of(&format!("core {id}"), &times)
    })
}

fn share(name: &str, memory: &Cell<Memory>, used: fn(&Memory) -> Option<f64>) -> Value {
    Value::of(name, memory.map(used).materialize())
}

fn load_per_core(sources: &Sources) -> Shown<Option<f64>> {
    let count = (&sources.cores)
        .map(|cores| cores.len().max(1))
        .deduped()
        .materialize()
        .with_name("core count");
    sources
        .load
        .join(&count)
        .map(|(load, cores)| load.map(|load| load / *cores as f64))
        .materialize()
        .with_name("load per core")
}

fn busy(disk: &Shown<Option<Flow>>) -> Shown<Option<f64>> {
    disk.map(|flow| flow.map(|flow| flow.busy)).materialize().with_name("disk busy")
}

fn running(raised: &Shown<Vec<bool>>) -> Shown<usize> {
    raised
        .map(|raised| raised.iter().filter(|raised| **raised).count())
        .materialize()
        .with_name("alarms running")
}

fn by_level(clock: &Cell<u64>, verdict: &Shown<Verdict>) -> Shown<[u64; 3]> {
    clock
        .join(verdict)
        .scan([0; 3], |frames, (_, verdict)| {
            let mut frames = *frames;
            frames[verdict.level as usize] += 1;
            frames
        })
        .materialize()
        .with_name("frames by level")
}

/// What the alarms watch.
struct Watched<'a> {
    cpu: &'a Shown<Option<f64>>,
    memory: &'a Shown<Option<f64>>,
    swap: &'a Shown<Option<f64>>,
    load: &'a Shown<Option<f64>>,
    disk: &'a Shown<Option<f64>>,
}

fn alarms(on: &Watched<'_>) -> Vec<Alarm> {
    use Level::{Busy, Strained};
    let rule = |text| {
        move |what, level, above, below, hold| Rule { what, level, above, below, hold, text }
    };
    let (share, plain) = (rule(percent), rule(number));
    vec![
        Alarm::on(on.cpu, share("cpu busy", Busy, 0.7, 0.5, 3)),
        Alarm::on(on.cpu, share("cpu saturated", Strained, 0.92, 0.8, 3)),
        Alarm::on(on.memory, share("memory nearly full", Strained, 0.9, 0.85, 3)),
        Alarm::on(on.swap, share("swap half full", Busy, 0.5, 0.4, 3)),
        Alarm::on(on.disk, share("disk busy", Busy, 0.8, 0.5, 2)),
        Alarm::on(on.load, plain("queue for the cpu", Busy, 1.0, 0.8, 3)),
        Alarm::on(on.load, plain("long queue for the cpu", Strained, 3.0, 2.0, 3)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{Core, Disk, Load, Net};

    /// A machine whose counters are all proportional to the time, with these interfaces and cores.
    fn reading(at_ms: u64, nets: &[&str], cores: &[u64]) -> Reading {
        let mut reading = Reading { at_ms, ..Reading::default() };
        let times = CpuTimes::from([at_ms, 0, 0, at_ms * 3, 0, 0, 0, 0]);
        reading.stat.cpu = times;
        reading.stat.cores = cores.iter().map(|&id| Core { id, times }).collect();
        let net =
            |name: &&str| Net { name: (*name).to_owned(), totals: [at_ms, 0, 2 * at_ms, 0].into() };
        reading.nets = nets.iter().map(net).collect();
        reading.disks = vec![Disk { name: "sda".into(), totals: [at_ms, 0, at_ms / 2].into() }];
        reading.load = Some(Load { averages: [0.5; 3], ..Load::default() });
        reading.memory = Memory::from([4, 3, 0, 0, 0, 0, 0]);
        reading
    }

    #[test]
    fn everything_follows_a_reading() {
        let panel = Panel::new(&reading(500, &["lo", "eth0"], &[0, 1]));
        assert_eq!((panel.cpu.now.get(), panel.net.total.now.get()), (None, None));
        panel.tick(&reading(1500, &["lo", "eth0"], &[0, 1]));
        let (net, disk) = (panel.net.total.now.get(), panel.disk.total.now.get());
        let flow = |taken, given, busy| Some(Flow { taken, given, busy });
        assert_eq!(net, flow(1000.0, 2000.0, 0.0));
        assert_eq!(disk, flow(512_000.0, 0.0, 0.5));
        assert_eq!((panel.cpu.now.get(), panel.worked.get()), (Some(0.25), 1000));
        assert_eq!((panel.memory.now.get(), panel.swap.now.get()), (Some(0.25), None));
        assert_eq!((panel.elapsed.get(), panel.second.get()), (1.0, 1));
        assert_eq!(panel.by_level.get(), [2, 0, 0]);
    }

    #[test]
    fn devices_and_cores_come_and_go() {
        let panel = Panel::new(&reading(0, &["eth0"], &[0]));
        let cells = arena::totals().cells;
        panel.tick(&reading(1000, &["eth0", "eth1"], &[0, 2]));
        let rows = panel.net.rows.list();
        let (name, new) = &rows[1];
        assert_eq!((name.as_str(), new.now.get()), ("eth1", None));
        assert_eq!(arena::totals().cells, cells + 2 + 4);
        assert_eq!(panel.net.total.now.get().unwrap().taken, 1000.0);
        panel.tick(&reading(2000, &["eth0", "eth1"], &[0, 2]));
        assert_eq!(new.now.get().unwrap().taken, 1000.0);
        assert_eq!(panel.net.total.now.get().unwrap().taken, 2000.0);
        assert_eq!(panel.cores.list()[1].1.now.get(), Some(0.25));
        drop(rows);
        panel.tick(&reading(3000, &["eth0"], &[0]));
        assert_eq!(arena::totals().cells, cells);
        assert_eq!(panel.net.total.now.get().unwrap().taken, 1000.0);
        panel.tick(&reading(4000, &[], &[]));
        assert_eq!(panel.net.total.now.get(), Some(Flow::default()));
        drop(panel);
        arena::assert_no_live();
    }

    #[test]
    fn alarms_make_the_verdict() {
        let full = |at_ms| Reading {
            memory: Memory::from([100, 1, 0, 0, 0, 0, 0]),
            ..reading(at_ms, &[], &[0])
        };
        let panel = Panel::new(&full(0));
        let verdicts = [1000, 2000, 3000].map(|at_ms| {
            panel.tick(&full(at_ms));
            panel.verdict.get().to_string()
        });
        assert_eq!(
            verdicts,
            ["ok", "strained: memory nearly full", "strained: memory nearly full"]
        );
        assert_eq!((panel.running.get(), panel.by_level.get()), (1, [2, 0, 2]));
    }
}
