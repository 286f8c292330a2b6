//! The id table: from [`CellKey`] to the rank of the node, with ids that are never given out twice.
//!
//! A slot map tells the tenants of a slot apart by a version of 32 bits, one of which says whether
//! the slot is occupied. A slot thus has 2^31 different ids; after that many tenants it would give
//! out its first id again. This table stops using a slot before that:
//!
//! - Removals that vacate a slot are counted. When their number reaches the epoch limit, the epoch
//!   ends: every vacant slot is filled for good with a *tombstone* (the rank [`NONE`]), the slots
//!   of all live nodes are marked as *old*, and the count starts again at zero.
//! - The removal of a node does not vacate an old slot but turns it into a tombstone.
//!
//! Why that is enough: at the end of an epoch every slot is either vacant, and becomes a
//! tombstone, or the slot of a live node, which is old, so that it becomes a tombstone
//! next. No slot is therefore vacated in an epoch after the one in which it came into being. In
//! that one epoch it is vacated at most `limit` times, so that it has at most `limit + 1` tenants
//! in all, a tombstone included. With a limit of 2^31 - 2 those are fewer than the ids of a slot,
//! and every tenant has one of its own.
//!
//! What it does not know: nodes.
//!
//! Invariants:
//! - I1: `slots` is the number of slots the map has ever made. The map fills vacant slots before
//!   it makes new ones, so that is the largest number of occupied slots there ever was.
//! - I2: `vacated` counts the removals that vacated a slot in this epoch, and is below `limit`.
//! - I3: `old` has nothing but slots that a node from before the epoch holds, or a tombstone.
//!
//! Costs: all O(1), except that the end of an epoch is O(slots). An epoch leaves at most as many
//! tombstones, of 8 bytes, as there were slots; from the first end on, a slot takes one bit more.

use slotmap::{Key, SlotMap};

use super::{CellKey, NONE, Rank};

/// Removals to an epoch; see the module comment.
const EPOCH_LIMIT: u32 = (1 << 31) - 2;

/// Maps ids to ranks.
#[derive(Clone, Debug)]
pub(super) struct Ids {
    /// The rank of each node, and [`NONE`] in each tombstone.
    map: SlotMap<CellKey, Rank>,
    /// How many slots the map has.
    slots: usize,
    /// Removals that vacated a slot in this epoch.
    vacated: u32,
    /// Removals to an epoch.
    limit: u32,
    /// The slots of this epoch's oldest nodes, a bit each; empty in the first epoch.
    old: Vec<u64>,
}

impl Default for Ids {
    fn default() -> Self {
        Self { map: SlotMap::with_key(), slots: 0, vacated: 0, limit: EPOCH_LIMIT, old: Vec::new() }
    }
}

impl Ids {
    /// A new id, for the node at `rank`.
    pub(super) fn insert(&mut self, rank: Rank) -> CellKey {
        let id = self.map.insert(rank);
        self.slots = self.slots.max(self.map.len());
        id
    }

    /// The rank of a node; `None` if the node is gone.
    #[inline]
    pub(super) fn rank(&self, id: CellKey) -> Option<Rank> {
        self.map.get(id).copied().filter(|&rank| rank != NONE)
    }

    /// Sets the rank of a live node.
    #[inline]
    pub(super) fn set_rank(&mut self, id: CellKey, rank: Rank) {
        self.map[id] = rank;
    }

    /// Makes an id invalid.
    pub(super) fn release(&mut self, id: CellKey) {
        if !self.old.is_empty() && self.is_old(id) {
            self.map[id] = NONE;
            return;
        }
        self.map.remove(id);
        self.vacated += 1;
        if self.vacated >= self.limit {
            self.end_epoch();
        }
    }

    /// Whether an id is from before this epoch.
    #[cold]
    fn is_old(&self, id: CellKey) -> bool {
        let (word, bit) = place_of(id);
        self.old.get(word).is_some_and(|old| old & bit != 0)
    }

    /// The heap bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.map.capacity() * size_of::<(Rank, u32)>() + self.old.capacity() * size_of::<u64>()
    }

    /// Fills every vacant slot with a tombstone, and marks all slots as old.
    #[cold]
    fn end_epoch(&mut self) {
        self.old.clear();
        // One bit more than there are slots: the map's first slot is never used.
        self.old.resize(self.slots / 64 + 1, 0);
        for (id, _) in self.map.iter().filter(|&(_, &rank)| rank != NONE) {
            let (word, bit) = place_of(id);
            self.old[word] |= bit;
        }
        for _ in self.map.len()..self.slots {
            self.map.insert(NONE);
        }
        self.vacated = 0;
    }

    /// Sets how many removals make an epoch.
    #[cfg(test)]
    pub(super) fn set_epoch_limit(&mut self, limit: u32) {
        self.limit = limit;
    }

    /// Asserts the invariants; `live` is the number of nodes.
    #[cfg(test)]
    pub(super) fn check(&self, live: usize) {
        let ranks = self.map.values().filter(|&&rank| rank != NONE);
        assert_eq!(ranks.count(), live, "one id for each node");
        assert!(self.map.len() <= self.slots, "I1");
        assert!(self.vacated < self.limit, "I2");
    }
}

/// Where the bit of an id's slot is: the word, and the bit in it.
fn place_of(id: CellKey) -> (usize, u64) {
    // The lower half of the number is the index of the slot.
    let slot = id.data().as_ffi() as u32;
    (slot as usize / 64, 1 << (slot % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn no_slot_is_vacated_more_often_than_the_limit() {
        for limit in 1..8 {
            let mut ids = Ids::default();
            ids.set_epoch_limit(limit);
            let (mut live, mut seen) = (Vec::new(), HashSet::new());
            let mut tenants = HashMap::new();
            for step in 0..2000usize {
                if step % 7 < 4 && live.len() < 9 || live.is_empty() {
                    let id = ids.insert(step as Rank);
                    assert!(seen.insert(id));
                    *tenants.entry(id.data().as_ffi() as u32).or_insert(0) += 1;
                    live.push((id, step as Rank));
                } else {
                    let (id, _) = live.swap_remove(step * 31 % live.len());
                    ids.release(id);
                    assert_eq!(ids.rank(id), None);
                }
                ids.check(live.len());
            }
            assert!(tenants.values().all(|&count| count <= limit));
            assert!(live.iter().all(|&(id, rank)| ids.rank(id) == Some(rank)));
            let dead = |id: &&CellKey| live.iter().all(|node| node.0 != **id);
            assert!(seen.iter().filter(dead).all(|&id| ids.rank(id).is_none()));
        }
    }

    #[test]
    fn the_map_fills_vacant_slots_first() {
        let mut ids = Ids::default();
        let made: Vec<_> = (0..10).map(|rank| ids.insert(rank)).collect();
        for &id in &made[2..] {
            ids.release(id);
        }
        for rank in 0..8 {
            let slot = ids.insert(rank).data().as_ffi() as u32;
            assert!(made.iter().any(|id| id.data().as_ffi() as u32 == slot));
        }
        assert_eq!(ids.slots, 10);
    }
}
