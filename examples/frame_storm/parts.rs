//! The cells of tracks, of a group of fixtures and of a universe.
//!
//! Each kind of cell is made in one line, so a census shows the kinds. Names cost memory: timelines, tracks, fixtures, their
//! dimmers and universes have one, the rest shows where it is made.

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::{Cell, CellImmutable, Pipeline, SubscriptionGuard, combine, join_vec, same_float};

use crate::desk::{Desk, Patch};
use crate::dmx::{self, Packet, Universe};
use crate::rig::{FIXTURES, Rig};
use crate::storm::{Master, Wire, follow};
use crate::track::Track;

/// A track at the moment.
pub(crate) type Sampler = Cell<f32, CellImmutable>;

/// Where a timeline is, in seconds.
type Position = Cell<f32, CellImmutable>;

/// The tracks of a group at the moment.
#[derive(Debug)]
pub(crate) struct Tracks {
    pub(crate) level: Sampler,
    hue: Sampler,
    pan: Sampler,
    tilt: Sampler,
}

/// The tracks of all groups, played by their timelines.
pub(crate) fn samplers(rig: &Rig, time_ns: &Cell<u64>) -> Vec<Tracks> {
    let universes = 0..rig.timelines.len();
    universes.flat_map(|universe| tracks_of(rig, universe, time_ns)).collect()
}

fn tracks_of(rig: &Rig, universe: usize, time_ns: &Cell<u64>) -> Vec<Tracks> {
    let timeline = rig.timelines[universe].clone();
    let position = time_ns.map(move |&time_ns| timeline.position_s(time_ns)).materialize();
    let position = position.with_name(format!("timeline {}", universe + 1));
    rig.groups_of(universe)
        .map(|group| {
            let tracks = &rig.groups[group];
            let sampler =
                |place, track| sampler(&position, track).with_name(track_name(group, place));
            Tracks {
                level: sampler(1, &tracks.level),
                hue: sampler(2, &tracks.hue),
                pan: sampler(3, &tracks.pan),
                tilt: sampler(4, &tracks.tilt),
            }
        })
        .collect()
}

/// The name of a group's track, counted from 1.
fn track_name(group: usize, place: usize) -> String {
    format!("track {}", group * 4 + place)
}

/// The segment changes at keyframes only; the value does not while the track stands still.
fn sampler(position: &Position, track: &Track) -> Sampler {
    let (finder, track) = (track.clone(), track.clone());
    let segment = position.map(move |&at_s| finder.segment(at_s)).deduped().materialize();
    position
        .with_latest_from(&segment)
        .map(move |&(at_s, segment)| track.value(segment, at_s))
        .distinct_until_changed_by(same_float)
        .materialize()
}

/// Four fixtures, and what is set for them together.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) fader: Cell<f32>,
    pub(crate) saturation: Cell<f32>,
    pub(crate) patch: Cell<Patch>,
    pub(crate) fixtures: Vec<Fixture>,
}

/// What all fixtures of a group share.
struct Shared<'a> {
    tracks: &'a Tracks,
    fader: &'a Cell<f32>,
    saturation: &'a Cell<f32>,
    muted: Cell<bool, CellImmutable>,
    grand: &'a Cell<f32>,
}

impl Group {
    pub(crate) fn new(number: usize, tracks: &Tracks, desk: &Desk, master: &Master) -> Self {
        let fader = Cell::new(desk.faders[number]);
        let saturation = Cell::new(desk.saturations[number]);
        let patch = Cell::new(desk.patches[number]);
        let patched = patch.switch_map({
            let levels = master.levels.clone();
            move |patch| follow(*patch, &levels)
        });
        let muted = master.is_muted.is(number);
        let (grand, fader_, saturation_) = (&master.grand, &fader, &saturation);
        let shared = Shared { tracks, fader: fader_, saturation: saturation_, muted, grand };
        let fixtures = (0..FIXTURES)
            .map(|place| {
                let level = if place == 0 { &patched } else { &tracks.level };
                Fixture::new(number * FIXTURES + place, level, &shared, desk)
            })
            .collect();
        Self { fader, saturation, patch, fixtures }
    }

    /// The fixture of a number, counted through all groups.
    pub(crate) fn fixture(groups: &[Self], number: usize) -> &Fixture {
        &groups[number / FIXTURES].fixtures[number % FIXTURES]
    }
}

/// A fixture: what is set for it, what the monitor shows of it, and its channels.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) trim: Cell<f32>,
    pub(crate) home: Cell<[f32; 2]>,
    pub(crate) dimmer: Cell<u8, CellImmutable>,
    pub(crate) colour: Cell<[u8; 3], CellImmutable>,
    packet: Cell<Packet, CellImmutable>,
}

impl Fixture {
    fn new(number: usize, level: &Sampler, group: &Shared<'_>, desk: &Desk) -> Self {
        let name = format!("fixture {}", number + 1);
        let trim = Cell::new(desk.trims[number]);
        let home = Cell::new(desk.homes[number]);
        let dimmer = dimmer(level, &trim, group).with_name(format!("{name}/dimmer"));
        let colour = colour(group);
        let pan = combine((&group.tracks.pan, &home), |(pan, home)| dmx::position(*pan, home[0]));
        let tilt = tilt(&group.tracks.tilt, &home);
        let packet = combine((&dimmer, &colour, &pan, &tilt), |(dimmer, colour, pan, tilt)| {
            dmx::packet(*dimmer, *colour, *pan, *tilt)
        });
        Self { trim, home, dimmer, colour, packet: packet.with_name(name) }
    }
}

/// The binding of a dimmer: its level, and all that turns it down.
fn dimmer(level: &Sampler, trim: &Cell<f32>, group: &Shared<'_>) -> Cell<u8, CellImmutable> {
    combine(
        (level, trim, group.fader, group.grand, &group.muted),
        |(level, trim, fader, grand, muted)| dmx::dimmer(*level, *trim, *fader, *grand, *muted),
    )
}

/// The binding of the colour, as a join and a map.
fn colour(group: &Shared<'_>) -> Cell<[u8; 3], CellImmutable> {
    let both = group.tracks.hue.join(group.saturation);
    (&both).map(|&(hue, saturation)| dmx::colour(hue, saturation)).materialize()
}

/// The binding of the tilt, as a computed cell.
fn tilt(tilt: &Sampler, home: &Cell<[f32; 2]>) -> Cell<u16, CellImmutable> {
    let (tilt, home) = (tilt.clone(), home.clone());
    Cell::computed(move || dmx::position(tilt.get(), home.get()[1]))
}

/// A universe, what is known about it, and the wire that it is sent over.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) wire: Wire,
    /// How many channels change in a frame, on average of the last eight.
    pub(crate) load: Cell<Option<f32>, CellImmutable>,
    /// How many channels have changed.
    pub(crate) traffic: Cell<Option<u64>, CellImmutable>,
    /// How many channels have changed last, and how often the universe was sent.
    pub(crate) status: Cell<(Option<u32>, u64), CellImmutable>,
    _sender: SubscriptionGuard,
}

impl Output {
    pub(crate) fn new(number: usize, groups: &[Group]) -> Self {
        let fixtures = groups.iter().flat_map(|group| &group.fixtures);
        let packets = join_vec(fixtures.map(|fixture| fixture.packet.clone()));
        let universe = (&packets).map(|packets| dmx::pack(packets)).materialize();
        let universe = universe.with_name(format!("universe {}", number + 1));
        let changes =
            (&universe).pairwise().map(|(before, after)| dmx::changes(before, after)).materialize();
        let (load, traffic) = (load(&changes), traffic(&changes));
        let sent = Cell::new(0);
        let status = combine((&changes, &sent), |(changes, sent)| (*changes, *sent));
        let wire: Wire = Rc::new(RefCell::new([0; 512]));
        let _sender = send(&universe, &wire, sent);
        Self { wire, load, traffic, status, _sender }
    }
}

type Changes = Cell<Option<u32>, CellImmutable>;

fn load(changes: &Changes) -> Cell<Option<f32>, CellImmutable> {
    let mean = |last: &Vec<Option<u32>>| {
        let sum: u32 = last.iter().flatten().sum();
        Some(sum as f32 / last.len() as f32)
    };
    changes.plan().window(8).map(mean).materialize()
}

fn traffic(changes: &Changes) -> Cell<Option<u64>, CellImmutable> {
    let add = |sum: &Option<u64>, changes: &Option<u32>| {
        Some(sum.unwrap_or(0) + u64::from(changes.unwrap_or(0)))
    };
    changes.scan(None, add).materialize()
}

/// Puts each state of the universe on the wire, and counts it: that write is a wave of its own.
fn send(
    universe: &Cell<Universe, CellImmutable>,
    wire: &Wire,
    sent: Cell<u64>,
) -> SubscriptionGuard {
    let wire = wire.clone();
    universe.watch(move |channels| {
        *wire.borrow_mut() = *channels;
        sent.update(|count| *count += 1);
    })
}
