//! The rig as cells: what is set, what follows from it, a subscriber for each universe that puts it on the wire, and those
//! of a monitor.
//!
//! `parts` has the cells of a group and of a universe. Here are those that stand alone, and the ways in and out.

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::{Cell, CellImmutable, Pipeline, Selector, join_vec, selector};

use crate::desk::{Desk, Event, Patch};
use crate::dmx::{self, Universe};
use crate::monitor::Monitor;
use crate::parts::{Group, Output, Sampler, samplers};
use crate::rig::Rig;

/// Beats a second of the show: 120 a minute.
const BEATS: f64 = 2.0;

/// Everything. Cells live while this does.
#[derive(Debug)]
pub(crate) struct Storm {
    time_ns: Cell<u64>,
    master: Master,
    groups: Vec<Group>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) rhythm: Rhythm,
    /// How many channels have changed, over all universes.
    pub(crate) traffic: Cell<u64, CellImmutable>,
    pub(crate) monitor: Monitor,
}

/// What all fixtures depend on.
#[derive(Debug, Clone)]
pub(crate) struct Master {
    pub(crate) grand: Cell<f32>,
    muted: Cell<usize>,
    pub(crate) is_muted: Selector<usize>,
    /// The levels of all groups: a patched dimmer follows one of them.
    pub(crate) levels: Rc<[Sampler]>,
}

/// What beats.
#[derive(Debug)]
pub(crate) struct Rhythm {
    go: Cell<u64>,
    pub(crate) bar: Cell<Option<u64>, CellImmutable>,
    /// How many beats and presses of the button there were.
    pub(crate) steps: Cell<u64, CellImmutable>,
}

impl Storm {
    pub(crate) fn new(rig: &Rig) -> Self {
        let desk = Desk::new(rig.groups.len());
        let time_ns = Cell::new(0_u64).with_name("time");
        let sampled = samplers(rig, &time_ns);
        let levels = sampled.iter().map(|tracks| tracks.level.clone()).collect();
        let master = Master::new(&desk, levels);
        let groups: Vec<Group> = sampled
            .iter()
            .enumerate()
            .map(|(number, tracks)| Group::new(number, tracks, &desk, &master))
            .collect();
        let outputs: Vec<Output> = (0..rig.timelines.len())
            .map(|number| Output::new(number, &groups[rig.groups_of(number)]))
            .collect();
        let sums = join_vec(outputs.iter().map(|output| output.traffic.clone()));
        let traffic = (&sums).map(|sums| sums.iter().flatten().sum()).materialize();
        let traffic = traffic.with_name("traffic");
        let (rhythm, monitor) = (Rhythm::new(&time_ns), Monitor::new(&groups, &outputs));
        Self { time_ns, master, groups, outputs, rhythm, traffic, monitor }
    }

    /// Moves the show to a time.
    pub(crate) fn set_time(&self, time_ns: u64) {
        self.time_ns.set(time_ns);
    }

    /// Does what an operator does.
    pub(crate) fn apply(&self, event: &Event) {
        match *event {
            Event::Grand(value) => self.master.grand.set(value),
            Event::Mute(group) => self.master.muted.set(group),
            Event::Fader(group, value) => self.groups[group].fader.set(value),
            Event::Saturation(group, value) => self.groups[group].saturation.set(value),
            Event::Trim(fixture, value) => Group::fixture(&self.groups, fixture).trim.set(value),
            Event::Home(fixture, home) => Group::fixture(&self.groups, fixture).home.set(home),
            Event::Patch(group, patch) => self.groups[group].patch.set(patch),
            Event::Go => self.rhythm.go.update(|count| *count += 1),
        }
    }

    /// What a universe has on the wire.
    pub(crate) fn wire(&self, universe: usize) -> Universe {
        *self.outputs[universe].wire.borrow()
    }

    /// A checksum over all wires.
    pub(crate) fn checksum(&self) -> u64 {
        let wires: Vec<_> = self.outputs.iter().map(|output| output.wire.borrow()).collect();
        dmx::checksum(wires.iter().map(|wire| &**wire))
    }
}

impl Master {
    fn new(desk: &Desk, levels: Rc<[Sampler]>) -> Self {
        let muted = Cell::new(desk.muted).with_name("muted group");
        let grand = Cell::new(desk.grand).with_name("grand master");
        Self { is_muted: selector(&muted), grand, muted, levels }
    }
}

impl Rhythm {
    fn new(time_ns: &Cell<u64>) -> Self {
        let beat = time_ns
            .map(|&time_ns| (time_ns as f64 / crate::track::SECOND_NS * BEATS) as u64)
            .distinct_until_changed_by(u64::eq)
            .materialize()
            .with_name("beat");
        let bar = (&beat).filter(|beat| beat % 4 == 0).materialize().with_name("bar");
        let go = Cell::new(0).with_name("go");
        let steps = beat.merge(&go).scan(0, |steps, _| steps + 1).materialize().with_name("steps");
        Self { go, bar, steps }
    }
}

/// A wire: what was sent over it last.
pub(crate) type Wire = Rc<RefCell<Universe>>;

/// A group's patch and what it chooses.
pub(crate) fn follow(patch: Patch, levels: &[Sampler]) -> Sampler {
    let Patch { group, curve } = patch;
    (&levels[group]).map(move |&level| curve.apply(level)).materialize()
}
