//! The desk: what the operators of the show set by hand, and the script of what they do.
//!
//! Plain data; it knows no cells. What is done in a frame follows from the seed and the number of the frame alone, so that
//! a run that skips frames comes to the same state.

use crate::random::Random;
use crate::rig::FIXTURES;

/// How a patched dimmer follows a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Curve {
    Linear,
    Square,
    Inverse,
}

impl Curve {
    const ALL: [Self; 3] = [Self::Linear, Self::Square, Self::Inverse];

    pub(crate) fn apply(self, level: f32) -> f32 {
        match self {
            Self::Linear => level,
            Self::Square => level * level,
            Self::Inverse => 1.0 - level,
        }
    }
}

/// What the first dimmer of a group follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patch {
    /// The group whose level it is.
    pub(crate) group: usize,
    pub(crate) curve: Curve,
}

/// Something that an operator does. Numbers are those of a group or a fixture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Event {
    /// The fader of all fixtures is moved.
    Grand(f32),
    /// One group is muted, and only that.
    Mute(usize),
    /// The fader of a group is moved.
    Fader(usize, f32),
    Saturation(usize, f32),
    /// How bright a fixture is beside others.
    Trim(usize, f32),
    /// Where a fixture points to at rest: pan and tilt.
    Home(usize, [f32; 2]),
    /// A group's first dimmer follows something else: a re-link.
    Patch(usize, Patch),
    /// The button.
    Go,
}

/// What all is set to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Desk {
    pub(crate) grand: f32,
    pub(crate) muted: usize,
    pub(crate) faders: Vec<f32>,
    pub(crate) saturations: Vec<f32>,
    pub(crate) trims: Vec<f32>,
    pub(crate) homes: Vec<[f32; 2]>,
    pub(crate) patches: Vec<Patch>,
    /// How often the button was pressed.
    pub(crate) goes: u64,
    /// How often something was patched.
    pub(crate) relinks: u64,
}

impl Desk {
    /// A desk for so many groups, before anything was done: each group follows itself.
    pub(crate) fn new(groups: usize) -> Self {
        let own = |group| Patch { group, curve: Curve::Linear };
        Self {
            grand: 1.0,
            muted: 0,
            faders: vec![1.0; groups],
            saturations: vec![1.0; groups],
            trims: vec![1.0; groups * FIXTURES],
            homes: vec![[0.0; 2]; groups * FIXTURES],
            patches: (0..groups).map(own).collect(),
            goes: 0,
            relinks: 0,
        }
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        match *event {
            Event::Grand(value) => self.grand = value,
            Event::Mute(group) => self.muted = group,
            Event::Fader(group, value) => self.faders[group] = value,
            Event::Saturation(group, value) => self.saturations[group] = value,
            Event::Trim(fixture, value) => self.trims[fixture] = value,
            Event::Home(fixture, home) => self.homes[fixture] = home,
            Event::Patch(group, patch) => {
                self.patches[group] = patch;
                self.relinks += 1;
            }
            Event::Go => self.goes += 1,
        }
    }
}

/// What is done in which frame.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) seed: u64,
    pub(crate) groups: usize,
    /// Frames a second.
    pub(crate) hz: f64,
    /// Re-links a second.
    pub(crate) churn: u32,
}

impl Script {
    /// Calls `act` for what is done in the frame `index`, in order.
    pub(crate) fn events(&self, index: u64, act: &mut impl FnMut(&Event)) {
        let mut random = Random::stream(self.seed, index + 1);
        self.moves(&mut random, act);
        for _ in 0..self.relinks(index) {
            let group = random.below(self.groups);
            let curve = Curve::ALL[random.below(Curve::ALL.len())];
            act(&Event::Patch(group, Patch { group: random.below(self.groups), curve }));
        }
        self.on_the_clock(index, &mut random, act);
    }

    /// Hands on faders: a few in each frame.
    fn moves(&self, random: &mut Random, act: &mut impl FnMut(&Event)) {
        for _ in 0..2 {
            act(&Event::Fader(random.below(self.groups), random.between(0.5, 1.0) as f32));
        }
        act(&Event::Saturation(random.below(self.groups), random.unit() as f32));
        let fixtures = self.groups * FIXTURES;
        act(&Event::Trim(random.below(fixtures), random.between(0.6, 1.0) as f32));
        let home = [random.between(-0.2, 0.2) as f32, random.between(-0.2, 0.2) as f32];
        act(&Event::Home(random.below(fixtures), home));
        if random.chance(0.01) {
            act(&Event::Go);
        }
    }

    /// What happens at certain times: all goes down and up again for two of ten seconds, and each two seconds another group
    /// is muted.
    fn on_the_clock(&self, index: u64, random: &mut Random, act: &mut impl FnMut(&Event)) {
        let grand = self.grand(index);
        let before = index.checked_sub(1).map_or(1.0, |before| self.grand(before));
        if grand != before {
            act(&Event::Grand(grand));
        }
        let interval = |index: u64| (self.seconds(index) / 2.0) as u64;
        if index > 0 && interval(index) != interval(index - 1) {
            act(&Event::Mute(random.below(self.groups)));
        }
    }

    fn grand(&self, index: u64) -> f32 {
        match self.seconds(index) % 10.0 {
            down @ 8.0..9.0 => (1.0 - 0.7 * (down - 8.0)) as f32,
            up @ 9.0.. => (0.3 + 0.7 * (up - 9.0)) as f32,
            _ => 1.0,
        }
    }

    fn relinks(&self, index: u64) -> u64 {
        let until = |index: u64| (index as f64 * f64::from(self.churn) / self.hz) as u64;
        until(index + 1) - until(index)
    }

    fn seconds(&self, index: u64) -> f64 {
        index as f64 / self.hz
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(seed: u64, churn: u32) -> Script {
        Script { seed, groups: 7, hz: 60.0, churn }
    }

    /// What is done in the first frames.
    fn events(script: &Script, frames: u64) -> Vec<Event> {
        let mut events = vec![];
        (0..frames).for_each(|index| script.events(index, &mut |event| events.push(*event)));
        events
    }

    #[test]
    fn re_links_come_at_their_rate() {
        for churn in [0, 1, 59, 60, 61, 1000] {
            let mut desk = Desk::new(7);
            events(&script(1, churn), 180).iter().for_each(|event| desk.apply(event));
            assert_eq!(desk.relinks, u64::from(churn) * 3);
        }
    }

    #[test]
    fn a_seed_makes_one_script() {
        assert_eq!(events(&script(1, 90), 200), events(&script(1, 90), 200));
        assert_ne!(events(&script(1, 90), 200), events(&script(2, 90), 200));
    }

    #[test]
    fn all_goes_down_and_up_again() {
        let events = events(&script(1, 0), 601);
        let grand: Vec<f32> = events
            .iter()
            .filter_map(|event| if let Event::Grand(value) = event { Some(*value) } else { None })
            .collect();
        assert_eq!(grand.len(), 120);
        assert!((grand[59] - 0.3).abs() < 0.02 && grand[119] == 1.0, "{grand:?}");
        let mutes = events.iter().filter(|event| matches!(event, Event::Mute(_))).count();
        assert_eq!(mutes, 5);
    }

    #[test]
    fn curves() {
        assert_eq!(Curve::ALL.map(|curve| curve.apply(0.5)), [0.5, 0.25, 0.5]);
        assert_eq!(Curve::ALL.map(|curve| curve.apply(0.0)), [0.0, 0.0, 1.0]);
    }
}
