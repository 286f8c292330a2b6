//! UUIDs of cells: computed from the id when asked for, or given by the application.
//!
//! A computed UUID is version 8 and holds the 64 bits of the id and the 58 bits of the store's number, so it decodes
//! back without a table and two stores of a process never give the same. Layout of the 122 free bits, high to low:
//! store number, id.

use uuid::Uuid;

use crate::error::{Error, Fallible};
use crate::graph::CellKey;
#[cfg(feature = "trace")]
use crate::store::Tables;
use crate::store::node::NodeRef;
use crate::store::{Store, flag};
use slotmap::{Key, KeyData};

const LOW_62: u64 = (1 << 62) - 1;

fn compute(store: &Store, id: CellKey) -> Uuid {
    let bits = id.data().as_ffi();
    let high_60 = u128::from(store.number) << 2 | u128::from(bits >> 62);
    let (high_48, mid_12) = (high_60 >> 12, high_60 & 0xfff);
    Uuid::from_u128(high_48 << 80 | 8 << 76 | mid_12 << 64 | 0b10 << 62 | u128::from(bits & LOW_62))
}

/// Splits a UUID that some store of ours may have computed: store number and id.
fn decode(uuid: Uuid) -> Option<(u64, CellKey)> {
    let bits = uuid.as_u128();
    if bits >> 76 & 0xf != 8 || bits >> 62 & 0b11 != 0b10 {
        return None;
    }
    let high_60 = (bits >> 80) << 12 | (bits >> 64 & 0xfff);
    let id_bits = (high_60 & 0b11) << 62 | bits & u128::from(LOW_62);
    let number = u64::try_from(high_60 >> 2).ok()?;
    let id = CellKey::from(KeyData::from_ffi(u64::try_from(id_bits).ok()?));
    Some((number, id))
}

/// The UUID of a live cell.
pub(crate) fn of(store: &Store, id: CellKey) -> Option<Uuid> {
    let node = store.find(id)?;
    if node.has(flag::GIVEN_UUID) {
        return store.tables.borrow().uuids.get(id).copied();
    }
    node.raise(flag::SEEN_UUID);
    Some(compute(store, id))
}

/// The UUID of a live cell for reports, which hand nothing out: the application may give it another one later.
#[cfg(feature = "trace")]
pub(crate) fn peek(store: &Store, tables: &Tables, id: CellKey, node: NodeRef) -> Uuid {
    let given = node.has(flag::GIVEN_UUID).then(|| tables.uuids.get(id).copied()).flatten();
    given.unwrap_or_else(|| compute(store, id))
}

/// The UUID that was computed for a cell which is gone.
#[cfg(feature = "trace")]
pub(crate) fn of_dead(store: &Store, id: CellKey) -> Uuid {
    compute(store, id)
}

/// The live cell of a UUID.
pub(crate) fn find(store: &Store, uuid: Uuid) -> Option<CellKey> {
    if let Some(&id) = store.tables.borrow().by_uuid.get(&uuid) {
        return Some(id);
    }
    let (number, id) = decode(uuid)?;
    let node =
        store.find(id).filter(|node| number == store.number && !node.has(flag::GIVEN_UUID))?;
    node.raise(flag::SEEN_UUID);
    Some(id)
}

/// Gives a cell a UUID of the application's own.
pub(crate) fn give(store: &Store, node: NodeRef, uuid: Uuid) -> Fallible<()> {
    let node = store.usable(node)?;
    let id = store.id_of(node);
    let Some(cell) = store.info(id) else {
        return Err(Box::new(Error::StoreClosed));
    };
    let handed_out = node.has(flag::SEEN_UUID).then(|| compute(store, id));
    let given = store.tables.borrow().uuids.get(id).copied();
    if let Some(kept) = handed_out.or(given) {
        return if kept == uuid {
            Ok(())
        } else {
            Err(Box::new(Error::UuidHandedOut { uuid: kept, cell }))
        };
    }
    // The whole range of computed ones is taken: each may be some cell's, now or later.
    let computed = decode(uuid).is_some_and(|(number, _)| number == store.number);
    let mut tables = store.tables.borrow_mut();
    if computed || tables.by_uuid.contains_key(&uuid) {
        return Err(Box::new(Error::DuplicateUuid { uuid, cell }));
    }
    tables.by_uuid.insert(uuid, id);
    tables.uuids.insert(id, uuid);
    node.raise(flag::GIVEN_UUID);
    Ok(())
}
