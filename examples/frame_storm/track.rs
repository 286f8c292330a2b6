//! Timelines and their tracks: keyframes, and what a track is at a moment.
//!
//! Plain data and arithmetic; it knows no cells.

use std::rc::Rc;

use crate::random::Random;

/// Nanoseconds in a second.
pub(crate) const SECOND_NS: f64 = 1e9;

/// How a value gets from one keyframe to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ease {
    Linear,
    /// Slow at both ends.
    Smooth,
}

/// A value at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Key {
    /// Seconds from the start of the timeline.
    pub(crate) at_s: f32,
    pub(crate) value: f32,
    /// How it gets from here to the next one.
    pub(crate) ease: Ease,
}

/// Keyframes in the order of time, two at least. The first is at 0, the last at the end of the timeline. A clone is the same
/// track.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Track {
    keys: Rc<[Key]>,
    /// The times of the keys once more, close together: they are searched in every frame.
    times_s: Rc<[f32]>,
}

impl Track {
    fn new(keys: Vec<Key>) -> Self {
        Self { times_s: keys.iter().map(|key| key.at_s).collect(), keys: keys.into() }
    }

    /// Which two keyframes a moment lies between: the number of the earlier one.
    pub(crate) fn segment(&self, at_s: f32) -> usize {
        let passed = self.times_s.iter().filter(|time_s| **time_s <= at_s).count();
        passed.clamp(1, self.times_s.len() - 1) - 1
    }

    /// The value at a moment in a segment. Between equal keyframes it is exactly theirs.
    pub(crate) fn value(&self, segment: usize, at_s: f32) -> f32 {
        let (from, to) = (self.keys[segment], self.keys[segment + 1]);
        if from.value == to.value {
            return from.value;
        }
        let part = (at_s - from.at_s) / (to.at_s - from.at_s);
        let eased = match from.ease {
            Ease::Linear => part,
            Ease::Smooth => part * part * (3.0 - 2.0 * part),
        };
        from.value + (to.value - from.value) * eased
    }
}

/// A stretch of show that plays over and over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Timeline {
    length_s: f64,
    offset_s: f64,
    /// When something may begin to move.
    cues_s: Vec<f64>,
}

/// The part of the cues at which a group of fixtures moves.
const MOVES: f64 = 0.33;

/// The part of a group's tracks that moves then.
const JOINS_IN: f64 = 0.8;

impl Timeline {
    pub(crate) fn random(random: &mut Random) -> Self {
        let mut cues_s = vec![0.0];
        let length_s = random.between(12.0, 30.0);
        loop {
            let next = cues_s[cues_s.len() - 1] + random.between(1.5, 4.0);
            if next > length_s - 1.5 {
                return Self { length_s, offset_s: random.between(0.0, length_s), cues_s };
            }
            cues_s.push(next);
        }
    }

    /// Where it is, in seconds from its start, at a time of the show.
    pub(crate) fn position_s(&self, time_ns: u64) -> f32 {
        ((time_ns as f64 / SECOND_NS + self.offset_s) % self.length_s) as f32
    }

    /// For each cue when the movement that begins there is over; `None` where nothing moves.
    pub(crate) fn random_moves(&self, random: &mut Random) -> Vec<Option<f64>> {
        let ends = self.cues_s.iter().skip(1).chain([&self.length_s]);
        let spans = self.cues_s.iter().zip(ends);
        spans
            .map(|(from, to)| {
                random.chance(MOVES).then(|| from + (to - from) * random.between(0.4, 0.9))
            })
            .collect()
    }

    /// A track that follows most of the movements of its group and stands still in between.
    pub(crate) fn random_track(&self, moves: &[Option<f64>], random: &mut Random) -> Track {
        let first = random.unit() as f32;
        let mut keys = vec![];
        let mut value = first;
        for (cue, end) in self.cues_s.iter().zip(moves) {
            let ease = if random.chance(0.5) { Ease::Linear } else { Ease::Smooth };
            keys.push(Key { at_s: *cue as f32, value, ease });
            if let Some(end) = end.filter(|_| random.chance(JOINS_IN)) {
                value = random.unit() as f32;
                keys.push(Key { at_s: end as f32, value, ease });
            }
        }
        keys.push(Key { at_s: self.length_s as f32, value: first, ease: Ease::Linear });
        // It ends as it begins: the last movement leads there.
        let last = keys.len() - 2;
        keys[last].value = first;
        Track::new(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(at_s: f32, value: f32, ease: Ease) -> Key {
        Key { at_s, value, ease }
    }

    #[test]
    fn values_between_keyframes() {
        let keys = vec![
            key(0.0, 0.0, Ease::Linear),
            key(2.0, 1.0, Ease::Linear),
            key(3.0, 1.0, Ease::Smooth),
            key(4.0, 0.0, Ease::Linear),
        ];
        let track = Track::new(keys);
        let rows = [
            (0.0, 0, 0.0),
            (0.5, 0, 0.25),
            (2.0, 1, 1.0),
            (2.9, 1, 1.0),
            (3.25, 2, 0.84375),
            (3.5, 2, 0.5),
            (4.0, 2, 0.0),
        ];
        for (at_s, segment, value) in rows {
            assert_eq!(track.segment(at_s), segment, "{at_s}");
            assert_eq!(track.value(segment, at_s), value, "{at_s}");
        }
    }

    #[test]
    fn a_timeline_begins_again() {
        let timeline = Timeline { length_s: 12.0, offset_s: 10.0, cues_s: vec![0.0] };
        let at = |seconds: u64| timeline.position_s(seconds * 1_000_000_000);
        assert_eq!([at(0), at(1), at(2), at(13), at(14)], [10.0, 11.0, 0.0, 11.0, 0.0]);
    }

    #[test]
    fn random_tracks_are_in_order_and_begin_as_they_end() {
        let mut random = Random::new(3);
        let mut still = 0;
        for _ in 0..50 {
            let timeline = Timeline::random(&mut random);
            let moves = timeline.random_moves(&mut random);
            let track = timeline.random_track(&moves, &mut random);
            let keys = &track.keys;
            assert!(keys.len() >= 2 && keys.is_sorted_by(|a, b| a.at_s < b.at_s), "{keys:?}");
            assert_eq!((keys[0].at_s, keys[keys.len() - 1].at_s), (0.0, timeline.length_s as f32));
            assert_eq!(keys[0].value, keys[keys.len() - 1].value);
            assert!(keys.iter().all(|key| (0.0..=1.0).contains(&key.value)));
            still += keys.windows(2).filter(|pair| pair[0].value == pair[1].value).count();
        }
        assert!(still > 50, "{still}");
    }
}
