//! The cells of the monitor: sources for what is read, the view, and what is derived for it.
//!
//! Each frame is one batch, so everything derived is computed once for it and from one reading.
//! What the view does not show has no cells: a switch makes those of the next view and drops the others.
//! Knows neither where readings come from nor how anything is shown.

use std::collections::BTreeMap;
use std::rc::Rc;

use hyphae::{Cell, Pipeline, arena, batch};

use crate::gauge::Shown;
use crate::measure::{Volumes, disk_volumes, net_volumes};
use crate::parts::Parts;
use crate::reading::{CpuTimes, Memory, Reading};
use crate::view::View;

/// The processor times of each core by its number; cheap to clone.
pub(crate) type Cores = Rc<BTreeMap<u64, CpuTimes>>;

/// The cells that are written, all of them once a frame.
pub(crate) struct Sources {
    /// The time of the reading, in ms.
    pub(crate) clock: Cell<u64>,
    /// All processors together.
    pub(crate) cpu: Cell<CpuTimes>,
    /// Each core.
    pub(crate) cores: Cell<Cores>,
    /// Memory and swap space.
    pub(crate) memory: Cell<Memory>,
    /// The load of the last minute.
    pub(crate) load: Cell<Option<f64>>,
    /// Network interfaces.
    pub(crate) nets: Cell<Volumes>,
    /// Disks.
    pub(crate) disks: Cell<Volumes>,
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

/// All cells.
pub(crate) struct Panel {
    sources: Rc<Sources>,
    /// Seconds since the first frame.
    pub(crate) elapsed: Shown<f64>,
    /// Whole seconds since the first frame; changes once a second.
    pub(crate) second: Shown<u64>,
    /// What is derived for the view; changes with it.
    pub(crate) parts: Shown<Rc<Parts>>,
}

impl Panel {
    /// The panel of a machine, from its first reading. The view may change between any two frames.
    pub(crate) fn new(first: &Reading, view: &Cell<View>) -> Self {
        let sources = Rc::new(Sources::new(first));
        let (elapsed, second) = times(&sources.clock);
        let parts = parts(view, &sources);
        Self { sources, elapsed, second, parts }
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

/// The parts of the view. The cell in the switch holds their handles, and only the switch holds that cell: with the next
/// view it goes, and all cells of the last one go with it.
fn parts(view: &Cell<View>, sources: &Rc<Sources>) -> Shown<Rc<Parts>> {
    let sources = sources.clone();
    let parts = view.switch_map(move |view| {
        Cell::new(Rc::new(Parts::of(*view, &sources))).with_name(format!("parts of {view}"))
    });
    parts.with_name("parts")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Flow;
    use crate::parts::{Devices, Machine};
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

    /// A panel that shows all, and its parts.
    fn panel(first: &Reading) -> (Panel, Rc<Parts>) {
        let panel = Panel::new(first, &Cell::new(View::All));
        let parts = panel.parts.get();
        (panel, parts)
    }

    impl Parts {
        fn machine(&self) -> &Machine {
            self.machine.as_ref().expect("processors are shown")
        }

        fn net(&self) -> &Devices {
            self.net.as_ref().expect("interfaces are shown")
        }

        fn disk(&self) -> &Devices {
            self.disk.as_ref().expect("disks are shown")
        }
    }

    #[test]
    fn everything_follows_a_reading() {
        let (panel, parts) = panel(&reading(500, &["lo", "eth0"], &[0, 1]));
        let machine = parts.machine();
        assert_eq!((machine.cpu.now.get(), parts.net().total.now.get()), (None, None));
        panel.tick(&reading(1500, &["lo", "eth0"], &[0, 1]));
        let (net, disk) = (parts.net().total.now.get(), parts.disk().total.now.get());
        let flow = |taken, given, busy| Some(Flow { taken, given, busy });
        assert_eq!(net, flow(1000.0, 2000.0, 0.0));
        assert_eq!(disk, flow(512_000.0, 0.0, 0.5));
        assert_eq!((machine.cpu.now.get(), machine.worked.get()), (Some(0.25), 1000));
        assert_eq!((machine.memory.now.get(), machine.swap.now.get()), (Some(0.25), None));
        assert_eq!((panel.elapsed.get(), panel.second.get()), (1.0, 1));
        assert_eq!(parts.by_level.get(), [2, 0, 0]);
    }

    #[test]
    fn devices_and_cores_come_and_go() {
        let (panel, parts) = panel(&reading(0, &["eth0"], &[0]));
        let net = parts.net();
        let cells = arena::totals().cells;
        panel.tick(&reading(1000, &["eth0", "eth1"], &[0, 2]));
        let rows = net.rows.list();
        let (name, new) = &rows[1];
        assert_eq!((name.as_str(), new.now.get()), ("eth1", None));
        assert_eq!(arena::totals().cells, cells + 2 + 4);
        assert_eq!(net.total.now.get().unwrap().taken, 1000.0);
        panel.tick(&reading(2000, &["eth0", "eth1"], &[0, 2]));
        assert_eq!(new.now.get().unwrap().taken, 1000.0);
        assert_eq!(net.total.now.get().unwrap().taken, 2000.0);
        assert_eq!(parts.machine().cores.list()[1].1.now.get(), Some(0.25));
        drop(rows);
        panel.tick(&reading(3000, &["eth0"], &[0]));
        assert_eq!(arena::totals().cells, cells);
        assert_eq!(net.total.now.get().unwrap().taken, 1000.0);
        panel.tick(&reading(4000, &[], &[]));
        assert_eq!(net.total.now.get(), Some(Flow::default()));
        drop((panel, parts));
        arena::assert_no_live();
    }

    #[test]
    fn alarms_make_the_verdict() {
        let full = |at_ms| Reading {
            memory: Memory::from([100, 1, 0, 0, 0, 0, 0]),
            ..reading(at_ms, &[], &[0])
        };
        let (panel, parts) = panel(&full(0));
        let verdicts = [1000, 2000, 3000].map(|at_ms| {
            panel.tick(&full(at_ms));
            parts.verdict.get().to_string()
        });
        assert_eq!(
            verdicts,
            ["ok", "strained: memory nearly full", "strained: memory nearly full"]
        );
        assert_eq!((parts.running.get(), parts.by_level.get()), (1, [2, 0, 2]));
    }

    /// Recomputations of a frame, and the cells that there are after it.
    fn cost(panel: &Panel, at_ms: u64) -> (u64, usize) {
        let before = arena::totals().recomputations;
        panel.tick(&reading(at_ms, &["lo", "eth0"], &[0, 1]));
        let after = arena::totals();
        (after.recomputations - before, after.cells)
    }

    #[test]
    fn what_is_not_shown_has_no_cells() {
        let view = Cell::new(View::All);
        let panel = Panel::new(&reading(0, &["lo", "eth0"], &[0, 1]), &view);
        let cpu = panel.parts.with(|parts| parts.machine().cpu.now.downgrade());
        let all = cost(&panel, 100);
        view.set(View::Net);
        assert!(!cpu.is_alive());
        let net = cost(&panel, 200);
        view.set(View::Disk);
        let disk = cost(&panel, 300);
        view.set(View::Cpu);
        let machine = cost(&panel, 400);
        // Beside its groups a view has 8 sources, the times (2), the switch (3), the verdict with its history (4), and the
        // list of the alarms that are raised. Over interfaces there is no alarm: that list ends at once, and is gone.
        let (shared, list) = (8 + 2 + 3 + 4, 1);
        let groups = (net.1 - shared) + (disk.1 - shared - list) + (machine.1 - shared - list);
        assert_eq!(all.1, groups + shared + list);
        assert!(net.0 < all.0 && disk.0 < all.0 && machine.0 < all.0);
        view.set(View::All);
        assert_eq!(cost(&panel, 500), all);
        drop((panel, view));
        arena::assert_no_live();
    }

    #[test]
    fn figures_begin_when_they_are_shown() {
        let view = Cell::new(View::Cpu);
        let first = reading(0, &["eth0"], &[0]);
        let panel = Panel::new(&first, &view);
        panel.tick(&reading(1000, &["eth0"], &[0]));
        view.set(View::Net);
        let parts = panel.parts.get();
        assert_eq!((parts.net().total.now.get(), parts.by_level.get()), (None, [1, 0, 0]));
        panel.tick(&reading(2000, &["eth0"], &[0]));
        assert_eq!(parts.net().total.peak.get().taken, 1000.0);
        view.set(View::All);
        let peak = panel.parts.with(|parts| parts.net().total.peak.get().taken);
        assert_eq!(peak, 0.0);
        assert_eq!(panel.parts.with(|parts| parts.machine().worked.get()), 0);
        assert_eq!(panel.second.get(), 2, "the time goes on");
    }

    /// A view that changes together with a frame: the cells of the last one are not computed for it.
    #[test]
    fn a_view_may_change_with_a_frame() {
        let view = Cell::new(View::Cpu);
        let panel = Panel::new(&reading(0, &["eth0"], &[0]), &view);
        panel.tick(&reading(1000, &["eth0"], &[0]));
        let level = panel.parts.with(|parts| parts.by_level.downgrade());
        batch(|| {
            view.set(View::Net);
            panel.sources.set(&reading(2000, &["eth0"], &[0]));
        });
        assert!(!level.is_alive());
        let parts = panel.parts.get();
        assert_eq!((parts.view, parts.net().total.now.get()), (View::Net, None));
        panel.tick(&reading(3000, &["eth0"], &[0]));
        assert_eq!(parts.net().total.now.get().map(|flow| flow.taken), Some(1000.0));
    }
}
