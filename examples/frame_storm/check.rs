//! The same answers without cells: each universe computed from the plain data, from nothing. What goes over
//! the wires must be equal to it in every channel, and so must what the monitor shows.

use std::fmt;

use crate::desk::Desk;
use crate::dmx::{self, Packet, Universe};
use crate::rig::{FIXTURES, Group, Rig};
use crate::track::Track;

/// What goes over the wire of a universe at a time of the show.
pub(crate) fn universe(rig: &Rig, desk: &Desk, number: usize, time_ns: u64) -> Universe {
    let packets: Vec<Packet> = rig
        .groups_of(number)
        .flat_map(|group| (0..FIXTURES).map(move |fixture| (group, fixture)))
        .map(|(group, fixture)| packet(rig, desk, group, fixture, time_ns))
        .collect();
    dmx::pack(&packets)
}

fn packet(rig: &Rig, desk: &Desk, group: usize, fixture: usize, time_ns: u64) -> Packet {
    let tracks = &rig.groups[group];
    let number = group * FIXTURES + fixture;
    let own = |track: &Track| at(rig, group, track, time_ns);
    let level = if fixture == 0 { patched(rig, desk, group, time_ns) } else { own(&tracks.level) };
    let muted = desk.muted == group;
    let [home_pan, home_tilt] = desk.homes[number];
    dmx::packet(
        dmx::dimmer(level, desk.trims[number], desk.faders[group], desk.grand, muted),
        dmx::colour(own(&tracks.hue), desk.saturations[group]),
        dmx::position(own(&tracks.pan), home_pan),
        dmx::position(own(&tracks.tilt), home_tilt),
    )
}

fn patched(rig: &Rig, desk: &Desk, group: usize, time_ns: u64) -> f32 {
    let patch = desk.patches[group];
    let Group { level, .. } = &rig.groups[patch.group];
    patch.curve.apply(at(rig, patch.group, level, time_ns))
}

/// Where a track of a group is.
fn at(rig: &Rig, group: usize, track: &Track, time_ns: u64) -> f32 {
    let at_s = rig.timeline_of(group).position_s(time_ns);
    track.value(track.segment(at_s), at_s)
}

/// A channel that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// The number of the frame.
    pub(crate) frame: u64,
    /// From 1.
    pub(crate) universe: usize,
    /// From 1.
    pub(crate) channel: usize,
    /// Where it was seen.
    pub(crate) place: &'static str,
    pub(crate) got: u8,
    pub(crate) expected: u8,
}

impl Mismatch {
    /// The first channel that differs in a universe, which is counted from 0.
    pub(crate) fn find(
        frame: u64,
        universe: usize,
        place: &'static str,
        got: &Universe,
        expected: &Universe,
    ) -> Option<Self> {
        let channel = (0..got.len()).find(|&at| got[at] != expected[at])?;
        let (got, expected) = (got[channel], expected[channel]);
        Some(Self { frame, universe: universe + 1, channel: channel + 1, place, got, expected })
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frame, universe, channel, place, got, expected } = self;
        write!(
            f,
            "frame {frame}: channel {channel} of universe {universe} is {got} {place}, and {expected} when computed plainly"
        )
    }
}

impl std::error::Error for Mismatch {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wrong_channel_is_told() {
        let (good, mut bad) = ([7; 512], [7; 512]);
        assert_eq!(Mismatch::find(3, 0, "on the wire", &good, &good), None);
        bad[300] = 8;
        bad[301] = 8;
        let mismatch = Mismatch::find(3, 0, "on the wire", &bad, &good).unwrap();
        assert_eq!(
            mismatch.to_string(),
            "frame 3: channel 301 of universe 1 is 8 on the wire, and 7 when computed plainly"
        );
    }

    #[test]
    fn a_mute_and_a_patch_show() {
        let (rig, mut desk) = (Rig::new(9, 3), Desk::new(3));
        let dimmers = |desk: &Desk| {
            let channels = universe(&rig, desk, 0, 5_000_000_000);
            [0, 8, 32, 40, 64].map(|at| channels[at])
        };
        let before = dimmers(&desk);
        assert_eq!(before[..2], [0, 0]);
        desk.muted = 1;
        let after = dimmers(&desk);
        assert_eq!((after[0], after[2..4].to_vec(), after[4]), (after[1], vec![0, 0], before[4]));
        desk.patches[0] = crate::desk::Patch { group: 2, curve: crate::desk::Curve::Linear };
        assert_eq!(dimmers(&desk), [before[4], after[1], 0, 0, before[4]]);
    }
}
