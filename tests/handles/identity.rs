//! Ids and UUIDs of cells (rules C1, C2, C3).

use std::collections::HashSet;

use hyphae::{Cell, CellId, CellImmutable, Error, Pipeline, Source, WeakCell, WeakSource, arena};
use uuid::Uuid;

#[test]
fn handles_are_eight_bytes_also_in_an_option() {
    assert_eq!(size_of::<Cell<String>>(), 8);
    assert_eq!(size_of::<Option<Cell<String>>>(), 8);
    assert_eq!(size_of::<Cell<[u64; 9], CellImmutable>>(), 8);
    assert_eq!(size_of::<WeakCell<String>>(), 8);
    assert_eq!(size_of::<Option<WeakCell<String>>>(), 8);
    assert_eq!(size_of::<(Source<u8>, WeakSource<u8>)>(), 16);
    assert_eq!(size_of::<Option<CellId>>(), 8);
}

#[test]
fn clones_and_locked_handles_are_one_cell() {
    let cell = Cell::new(1);
    let (clone, locked) = (cell.clone(), cell.clone().lock());
    clone.set(42);
    assert_eq!((cell.get(), locked.get()), (42, 42));
    let ids = [cell.cell_id(), clone.cell_id(), locked.cell_id(), cell.downgrade().cell_id()];
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert_eq!(arena::totals().cells, 1);
}

#[test]
fn an_id_is_never_given_out_twice() {
    let mut seen = HashSet::new();
    for round in 0..10_000 {
        let cell = Cell::new(round);
        assert!(seen.insert(cell.cell_id()), "the id of round {round} came before");
    }
    assert_eq!(arena::totals().cells, 0);
    assert!(seen.iter().all(|id| !arena::contains(*id)));
}

/// A dead id answers `None` to every question although its slot has a new tenant.
#[test]
fn a_dead_id_answers_none_to_everything() {
    let dead = Cell::new(1_i32).with_name("gone");
    let (id, weak, uuid) = (dead.cell_id(), dead.downgrade(), dead.id());
    drop(dead);
    let _tenant = Cell::new(2_i32).with_name("tenant");
    assert!(weak.upgrade().is_none() && !weak.is_alive());
    assert!(arena::cell::<i32>(id).is_none() && !arena::contains(id));
    assert!(arena::info(id).is_none() && arena::name(id).is_none() && arena::uuid(id).is_none());
    assert!(arena::place(id).is_none() && arena::operator(id).is_none());
    assert!(arena::type_name(id).is_none() && arena::height(id).is_none());
    assert!(arena::dependencies(id).is_none() && arena::dependents(id).is_none());
    assert!(arena::subscribers(id).is_none() && arena::bytes(id).is_none());
    assert!(arena::dependency_tree(id).is_none() && arena::by_uuid(uuid).is_none());
}

#[test]
fn upgrades_check_the_type() {
    let cell = Cell::new(5_u32);
    let id = cell.cell_id();
    assert_eq!(arena::cell::<u32>(id).map(|cell| cell.get()), Some(5));
    assert!(arena::cell::<i32>(id).is_none());
    assert!(arena::cell::<Option<u32>>(id).is_none());
    let derived = cell.map(u32::to_string).materialize();
    assert!(arena::cell::<String>(derived.cell_id()).is_some());
    // The value type of a source is its own: no cell handle comes of it.
    let source = Source::<u32>::new();
    assert!(arena::cell::<u32>(source.cell_id()).is_none());
    assert!(arena::cell::<Option<u32>>(source.cell_id()).is_none());
}

#[test]
fn weak_handles_upgrade_while_the_cell_lives() {
    let cell = Cell::new(42);
    let weak = cell.downgrade();
    let other = weak.clone();
    assert_eq!((weak.upgrade().map(|c| c.get()), other.is_alive()), (Some(42), true));
    let upgraded = weak.upgrade();
    drop(cell);
    assert!(weak.is_alive());
    drop(upgraded);
    assert!(weak.upgrade().is_none() && other.upgrade().is_none() && !other.is_alive());
    let locked = Cell::new(1).lock();
    assert!(locked.downgrade().upgrade().is_some_and(|c| c.get() == 1));
}

#[test]
fn computed_uuids_are_stable_unique_and_of_version_8() {
    let cells: Vec<_> = (0..1000).map(Cell::new).collect();
    let uuids: HashSet<Uuid> = cells.iter().map(Cell::id).collect();
    assert_eq!(uuids.len(), 1000);
    for cell in &cells {
        let uuid = cell.id();
        assert_eq!((uuid.get_version_num(), uuid.get_variant()), (8, uuid::Variant::RFC4122));
        assert_eq!((cell.clone().id(), arena::uuid(cell.cell_id())), (uuid, Some(uuid)));
        assert_eq!(arena::by_uuid(uuid), Some(cell.cell_id()));
    }
}

#[test]
fn a_uuid_of_the_past_finds_nothing() {
    let cell = Cell::new(1);
    let uuid = cell.id();
    drop(cell);
    let successor = Cell::new(2);
    assert_ne!(successor.id(), uuid);
    assert_eq!(arena::by_uuid(uuid), None);
    assert_eq!(arena::by_uuid(Uuid::nil()), None);
}

#[test]
fn a_cell_can_be_given_a_uuid() {
    let uuid = Uuid::from_u128(0x1234_5678_9abc_4def_8123_4567_89ab_cdef);
    let cell = Cell::new(1).with_uuid(uuid);
    assert_eq!((cell.id(), arena::by_uuid(uuid)), (uuid, Some(cell.cell_id())));
    // The same again is no change.
    let cell = cell.with_uuid(uuid);
    assert_eq!(cell.id(), uuid);
    drop(cell);
    assert_eq!(arena::by_uuid(uuid), None);
    // Free again.
    let next = Cell::new(2).try_with_uuid(uuid).expect("nobody has it");
    assert_eq!(next.id(), uuid);
    let derived = (&next).map(|v| v + 1).materialize().with_uuid(Uuid::from_u128(7));
    assert_eq!(arena::by_uuid(Uuid::from_u128(7)), Some(derived.cell_id()));
}

#[test]
fn a_uuid_that_is_taken_is_refused() {
    let uuid = Uuid::from_u128(99);
    let owner = Cell::new(1).with_uuid(uuid);
    let error = Cell::new(2).with_name("late").try_with_uuid(uuid).expect_err("it is taken");
    let Error::DuplicateUuid { uuid: refused, cell } = &error else { panic!("{error}") };
    assert_eq!((*refused, cell.name.as_deref()), (uuid, Some("late")));
    assert_eq!(arena::by_uuid(uuid), Some(owner.cell_id()));
    // One that the store computes is taken too, whether the cell has asked for it or not.
    let computed = owner.map(|v| *v).materialize();
    let error = Cell::new(3).try_with_uuid(computed.id()).expect_err("it is computed");
    assert!(matches!(error, Error::DuplicateUuid { .. }), "{error}");
}

#[test]
fn a_uuid_that_was_handed_out_stays() {
    type Ask = fn(&Cell<i32>) -> Option<Uuid>;
    let asked: [Ask; 4] = [
        |cell| Some(cell.id()),
        |cell| arena::uuid(cell.cell_id()),
        |cell| cell.watch(|_| ()).source(),
        |cell| Some(hyphae::DepNode::id(cell)),
    ];
    for ask in asked {
        let cell = Cell::new(1);
        let kept = ask(&cell).expect("a UUID");
        let error = cell.clone().try_with_uuid(Uuid::from_u128(5)).expect_err("handed out");
        let Error::UuidHandedOut { uuid, cell: info } = &error else { panic!("{error}") };
        assert_eq!((*uuid, info.id()), (kept, Some(cell.cell_id())));
        assert_eq!(cell.id(), kept);
        // Its own is no change.
        assert!(cell.try_with_uuid(kept).is_ok());
    }
    let given = Cell::new(1).with_uuid(Uuid::from_u128(6));
    let error = given.try_with_uuid(Uuid::from_u128(7)).expect_err("it has one");
    assert!(matches!(error, Error::UuidHandedOut { uuid, .. } if uuid == Uuid::from_u128(6)));
}

#[test]
fn names_are_set_and_set_anew() {
    let cell = Cell::new(1);
    assert_eq!(cell.name(), None);
    let cell = cell.with_name("first");
    let other = cell.clone();
    other.set_name(String::from("second"));
    assert_eq!(cell.name().as_deref(), Some("second"));
    assert_eq!(arena::name(cell.cell_id()).as_deref(), Some("second"));
}

#[test]
fn the_debug_text_of_a_handle_has_id_name_and_place() {
    let cell = Cell::new(1).with_name("level");
    let place = cell.place().expect("a place").to_string();
    for text in [format!("{cell:?}"), format!("{:?}", cell.downgrade())] {
        assert!(text.contains("Cell") && text.contains("level"), "{text}");
        assert!(text.contains(&place) && text.contains(&format!("{:?}", cell.cell_id())), "{text}");
    }
    let weak = cell.downgrade();
    drop(cell);
    let text = format!("{weak:?}");
    assert!(text.contains("WeakCell") && !text.contains("level"), "{text}");
}

/// Ids and marks can be keys and shown.
#[test]
fn ids_are_ordered_hashed_and_shown() {
    let (a, b) = (Cell::new(1), Cell::new(2));
    let ids = [a.cell_id(), b.cell_id(), a.clone().cell_id()];
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 2);
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 2);
    assert!(format!("{:?}", ids[0]).starts_with("CellId("));
    assert_ne!(format!("{:?}", ids[0]), format!("{:?}", ids[1]));
    let marks = format!("{:?} {:?}", hyphae::CellMutable, CellImmutable);
    assert_eq!(marks, "CellMutable CellImmutable");
}
