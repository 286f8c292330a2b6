//! What a view shows: the cells of the groups that belong to it, and the alarms over them.
//!
//! A group that no view shows has no cells. Knows neither when views change nor how anything is shown.

use hyphae::{Cell, Pipeline};

use crate::alarm::{Alarm, Rule};
use crate::gauge::{Gauge, Shown, Traffic};
use crate::measure::{
    Flow, Moment, Volumes, device_flow, is_disk, is_network, larger, memory_used, spent, swap_used,
    total_flow,
};
use crate::panel::{Cores, Sources};
use crate::reading::{CpuTimes, Memory};
use crate::rows::Rows;
use crate::text::{number, percent};
use crate::verdict::{Level, Verdict, raised, verdict};
use crate::view::View;

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

/// Processors, memory and load.
pub(crate) struct Machine {
    /// All cores together.
    pub(crate) cpu: Gauge,
    /// Clock ticks worked since it is shown.
    pub(crate) worked: Shown<u64>,
    /// Each core.
    pub(crate) cores: Rows<u64, Gauge>,
    /// The share of memory in use.
    pub(crate) memory: Value,
    /// The share of swap space in use.
    pub(crate) swap: Value,
    /// The load of the last minute.
    pub(crate) load: Value,
}

impl Machine {
    fn of(sources: &Sources) -> Self {
        Self {
            cpu: Gauge::of("cpu", &sources.cpu),
            worked: worked(&sources.cpu),
            cores: core_rows(&sources.cores),
            memory: share("memory", &sources.memory, memory_used),
            swap: share("swap", &sources.memory, swap_used),
            load: Value::of("load1", sources.load.clone().lock()),
        }
    }
}

/// What one view shows. All its figures begin when it is shown.
pub(crate) struct Parts {
    /// The view.
    pub(crate) view: View,
    /// Processors, memory and load.
    pub(crate) machine: Option<Machine>,
    /// Network interfaces.
    pub(crate) net: Option<Devices>,
    /// Disks.
    pub(crate) disk: Option<Devices>,
    /// The alarms over what is shown.
    pub(crate) alarms: Vec<Alarm>,
    /// How many of them are raised.
    pub(crate) running: Shown<usize>,
    /// How the machine is, as far as it is shown.
    pub(crate) verdict: Shown<Verdict>,
    /// How many frames it was at each level.
    pub(crate) by_level: Shown<[u64; 3]>,
}

impl Parts {
    /// Makes the cells of a view.
    pub(crate) fn of(view: View, sources: &Sources) -> Self {
        let machine = view.has(View::Cpu).then(|| Machine::of(sources));
        let devices = |kind, volumes, counts| Devices::of(kind, &sources.clock, volumes, counts);
        let disk = view.has(View::Disk).then(|| devices("disk", &sources.disks, is_disk));
        let net = view.has(View::Net).then(|| devices("net", &sources.nets, is_network));
        let alarms = alarms(machine.as_ref(), disk.as_ref(), sources);
        let raised = raised(&alarms);
        let verdict = verdict(&alarms, &raised);
        let by_level = by_level(&sources.clock, &verdict);
        let running = running(&raised);
        Self { view, machine, net, disk, alarms, running, verdict, by_level }
    }
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

/// The alarms over what there is, in the order of the summary.
fn alarms(machine: Option<&Machine>, disk: Option<&Devices>, sources: &Sources) -> Vec<Alarm> {
    use Level::{Busy, Strained};
    let rule = |text| {
        move |what, level, above, below, hold| Rule { what, level, above, below, hold, text }
    };
    let (share, plain) = (rule(percent), rule(number));
    let mut alarms = Vec::new();
    if let Some(Machine { cpu, memory, swap, .. }) = machine {
        alarms.push(Alarm::on(&cpu.mean, share("cpu busy", Busy, 0.7, 0.5, 3)));
        alarms.push(Alarm::on(&cpu.mean, share("cpu saturated", Strained, 0.92, 0.8, 3)));
        alarms.push(Alarm::on(&memory.now, share("memory nearly full", Strained, 0.9, 0.85, 3)));
        alarms.push(Alarm::on(&swap.now, share("swap half full", Busy, 0.5, 0.4, 3)));
    }
    if let Some(disk) = disk {
        alarms.push(Alarm::on(&busy(&disk.total.now), share("disk busy", Busy, 0.8, 0.5, 2)));
    }
    if machine.is_some() {
        let load = load_per_core(sources);
        alarms.push(Alarm::on(&load, plain("queue for the cpu", Busy, 1.0, 0.8, 3)));
        alarms.push(Alarm::on(&load, plain("long queue for the cpu", Strained, 3.0, 2.0, 3)));
    }
    alarms
}
