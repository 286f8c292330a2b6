//! The rig: what there is to light and what moves it, made up from a seed. Plain data.
//!
//! A group of four fixtures follows four tracks of its own (level, hue, pan and tilt). Sixteen groups fill a universe and
//! share a timeline.

use std::ops::Range;
use std::rc::Rc;

use crate::dmx;
use crate::random::Random;
use crate::track::{Timeline, Track};

/// Fixtures in a group. The dimmer of the first can be patched to any group's level.
pub(crate) const FIXTURES: usize = 4;

/// Groups in a universe.
pub(crate) const GROUPS: usize = dmx::FIXTURES / FIXTURES;

/// The number of cells that stand alone: `storm` makes them.
pub(crate) const LONE_CELLS: usize = 11;

/// The number of cells for each universe, with its timeline.
pub(crate) const UNIVERSE_CELLS: usize = 8;

/// The number of cells for each group.
pub(crate) const GROUP_CELLS: usize = 3 + 8 + FIXTURES * 8 + 4;

/// The least number of cells: one group.
pub(crate) const LEAST_CELLS: usize = cells(1);

/// How many cells there are with so many groups.
pub(crate) const fn cells(groups: usize) -> usize {
    LONE_CELLS + groups * GROUP_CELLS + groups.div_ceil(GROUPS) * UNIVERSE_CELLS
}

/// As many groups as so many cells allow, one at least.
pub(crate) fn groups(most_cells: usize) -> usize {
    let full = LONE_CELLS + UNIVERSE_CELLS;
    let mut groups = most_cells.saturating_sub(full) / GROUP_CELLS;
    while groups > 1 && cells(groups) > most_cells {
        groups -= 1;
    }
    groups.max(1)
}

/// What a group of fixtures follows.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) level: Track,
    pub(crate) hue: Track,
    pub(crate) pan: Track,
    pub(crate) tilt: Track,
}

impl Group {
    fn random(timeline: &Timeline, random: &mut Random) -> Self {
        let moves = timeline.random_moves(random);
        let mut track = || timeline.random_track(&moves, random);
        Self { level: track(), hue: track(), pan: track(), tilt: track() }
    }
}

/// All there is.
#[derive(Debug, Clone)]
pub(crate) struct Rig {
    /// One for each universe.
    pub(crate) timelines: Vec<Rc<Timeline>>,
    pub(crate) groups: Vec<Group>,
}

impl Rig {
    pub(crate) fn new(seed: u64, groups: usize) -> Self {
        let mut random = Random::stream(seed, 0);
        let mut rig = Self { timelines: Vec::new(), groups: Vec::new() };
        for group in 0..groups {
            if group.is_multiple_of(GROUPS) {
                rig.timelines.push(Rc::new(Timeline::random(&mut random)));
            }
            let timeline = &rig.timelines[group / GROUPS];
            rig.groups.push(Group::random(timeline, &mut random));
        }
        rig
    }

    pub(crate) fn fixtures(&self) -> usize {
        self.groups.len() * FIXTURES
    }

    pub(crate) fn timeline_of(&self, group: usize) -> &Rc<Timeline> {
        &self.timelines[group / GROUPS]
    }

    /// The groups of a universe.
    pub(crate) fn groups_of(&self, universe: usize) -> Range<usize> {
        universe * GROUPS..((universe + 1) * GROUPS).min(self.groups.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_groups_as_fit() {
        assert_eq!(groups(0), 1);
        for most in LEAST_CELLS..3000 {
            let groups = groups(most);
            assert!(cells(groups) <= most && cells(groups + 1) > most, "{most}: {groups}");
        }
    }

    #[test]
    fn the_last_universe_may_be_shorter() {
        let rig = Rig::new(1, GROUPS + 3);
        assert_eq!((rig.timelines.len(), rig.fixtures()), (2, 76));
        assert_eq!([rig.groups_of(0), rig.groups_of(1)], [0..16, 16..19]);
    }

    #[test]
    fn a_seed_makes_one_rig() {
        let tracks = |seed| Rig::new(seed, 20).groups.into_iter().map(|group| group.level);
        assert!(tracks(4).eq(tracks(4)));
        assert!(tracks(4).ne(tracks(5)));
    }
}
