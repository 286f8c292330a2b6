//! What few cells have: names, given UUIDs, ends, inboxes, owned guards, hooks. Sparse tables keyed by id, so that a
//! cell without them pays nothing; for most of them a flag in the header says whether to look.
//!
//! Also the interned places of creation: a cell holds four bytes of them.

use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::panic::Location;
use std::rc::Rc;

use indexmap::IndexMap;
use slotmap::SparseSecondaryMap;
use uuid::Uuid;

use super::closure::Closing;
use super::kernel::End;
use super::subscribers::SubKey;
use crate::graph::CellKey;
use crate::subscription::SubscriptionGuard;

/// A hasher for keys that are numbers of our own making: one multiplication.
#[derive(Default, Clone, Copy)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(u64::from(b)));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

pub(crate) type NumberHash = BuildHasherDefault<NumberHasher>;
type Table<V> = SparseSecondaryMap<CellKey, V, NumberHash>;

/// The guards that a cell keeps, in order of arrival.
#[derive(Default)]
pub(crate) struct Owned {
    guards: IndexMap<OwnKey, SubscriptionGuard>,
    next: u64,
}

/// Under what a guard is kept: a key of the application's, or a number.
#[derive(PartialEq, Eq, Hash)]
enum OwnKey {
    Given(Uuid),
    Number(u64),
}

impl Owned {
    /// Keeps a guard; gives the one that was under the same key.
    pub(crate) fn add(
        &mut self,
        key: Option<Uuid>,
        guard: SubscriptionGuard,
    ) -> Option<SubscriptionGuard> {
        self.next += 1;
        let key = key.map_or(OwnKey::Number(self.next), OwnKey::Given);
        self.guards.insert(key, guard)
    }

    pub(crate) fn len(&self) -> usize {
        self.guards.len()
    }

    /// The subscriptions among them.
    pub(crate) fn subscriptions(&self) -> impl Iterator<Item = SubKey> {
        self.guards.values().filter_map(SubscriptionGuard::sub_key)
    }

    /// Takes the last one.
    pub(crate) fn pop(&mut self) -> Option<SubscriptionGuard> {
        self.guards.pop().map(|(_, guard)| guard)
    }
}

/// Called when a cell gets its first, or loses its last, subscriber or dependent.
pub(crate) struct Hook {
    pub(crate) on_first: bool,
    pub(crate) call: Rc<std::cell::RefCell<dyn FnMut()>>,
}

/// How a cell ended and when by the store's clock.
pub(crate) struct Ending {
    pub(crate) end: End,
    pub(crate) stamp: u32,
    /// When that was written, where it waited as an event; else the stamp.
    pub(crate) written: u32,
}

/// An edge that was refused, since its source depends on its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    /// Who tries again.
    pub(crate) reader: CellKey,
    pub(crate) src: CellKey,
    pub(crate) dst: CellKey,
}

/// The last event of a cell.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct LastEvent {
    /// The round that takes it, or took it.
    pub(crate) round: u64,
    /// The store's clock when it was applied.
    pub(crate) stamp: u32,
    /// The store's clock when it was written.
    pub(crate) written: u32,
}

#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) names: Table<Rc<str>>,
    pub(crate) uuids: Table<Uuid>,
    pub(crate) by_uuid: HashMap<Uuid, CellKey>,
    pub(crate) ends: Table<Ending>,
    pub(crate) inboxes: Table<Box<dyn Any>>,
    pub(crate) events: Table<LastEvent>,
    pub(crate) owned: Table<Owned>,
    pub(crate) hooks: Table<Vec<Hook>>,
    /// The clean-ups that the last run of a cell's closure has left.
    pub(crate) closings: Table<Closing>,
    /// The edges that a cycle through a cell has kept from being made.
    pub(crate) refused: Table<Vec<Refusal>>,
}

/// What the tables held of a dead cell; its drop runs user code, so the store must not be borrowed then.
#[derive(Default)]
pub(crate) struct Leftovers {
    _name: Option<Rc<str>>,
    _end: Option<Ending>,
    _inbox: Option<Box<dyn Any>>,
    /// Dropped one by one, last first.
    pub(crate) owned: Owned,
    _hooks: Vec<Hook>,
}

impl Leftovers {
    pub(crate) fn of(hooks: Vec<Hook>) -> Self {
        Self { _hooks: hooks, ..Self::default() }
    }
}

impl Tables {
    /// Takes all that a dying cell has.
    pub(crate) fn take(&mut self, id: CellKey) -> Leftovers {
        if let Some(uuid) = self.uuids.remove(id) {
            self.by_uuid.remove(&uuid);
        }
        self.events.remove(id);
        self.refused.remove(id);
        Leftovers {
            _name: self.names.remove(id),
            _end: self.ends.remove(id),
            _inbox: self.inboxes.remove(id),
            owned: self.owned.remove(id).unwrap_or_default(),
            _hooks: self.hooks.remove(id).unwrap_or_default(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        fn table<V>(table: &Table<V>) -> usize {
            table.capacity() * (size_of::<V>() + size_of::<CellKey>())
        }
        table(&self.names)
            + table(&self.uuids)
            + table(&self.ends)
            + table(&self.inboxes)
            + table(&self.events)
            + table(&self.owned)
            + table(&self.hooks)
            + table(&self.closings)
            + table(&self.refused)
            + self.by_uuid.capacity() * size_of::<(Uuid, CellKey)>()
    }
}

/// Places of creation, each kept once.
#[derive(Default)]
pub(crate) struct Places {
    known: Vec<&'static Location<'static>>,
    index: HashMap<usize, u32, NumberHash>,
    last: Option<(usize, u32)>,
}

impl Places {
    /// The number of a place. Cells made in a loop share one: that case costs a comparison.
    pub(crate) fn intern(&mut self, place: &'static Location<'static>) -> u32 {
        let address = std::ptr::from_ref(place).addr();
        match self.last {
            Some((last, number)) if last == address => number,
            _ => self.intern_other(address, place),
        }
    }

    fn intern_other(&mut self, address: usize, place: &'static Location<'static>) -> u32 {
        let known = &mut self.known;
        let number = *self.index.entry(address).or_insert_with(|| {
            known.push(place);
            u32::try_from(known.len() - 1).expect("fewer places than source lines")
        });
        self.last = Some((address, number));
        number
    }

    pub(crate) fn get(&self, number: u32) -> &'static Location<'static> {
        self.known[number as usize]
    }

    pub(crate) fn bytes(&self) -> usize {
        self.known.capacity() * size_of::<usize>()
            + self.index.capacity() * size_of::<(usize, u32)>()
    }
}
