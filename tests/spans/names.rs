//! What spans say of a cell: its name or its place, and its id.

use hyphae::{Cell, CellImmutable, Pipeline, Source};
use uuid::Uuid;

use crate::capture::Capture;

#[test]
fn a_new_name_is_told_from_the_next_wave_on() {
    let price = Cell::new(0).with_name("price");
    let tax = (&price).map(|v| v * 2).materialize().with_name("tax");
    let capture = Capture::new();
    price.set(1);
    tax.set_name("vat");
    price.set(2);
    let ids = |tax_name: &str| {
        [("price".to_owned(), price.id().to_string()), (tax_name.to_owned(), tax.id().to_string())]
    };
    assert_eq!(capture.named("hyphae.fanout"), [ids("tax"), ids("vat")].concat());
}

#[test]
fn cells_without_a_name_show_where_they_were_made() {
    let a = Cell::new(0);
    let b: Cell<i32, CellImmutable> = (&a).map(|v| v * 2).materialize();
    let source = Source::new();
    let at = line!();
    let place = |before: u32| format!("{}:{}", file!(), at - before);
    let capture = Capture::new();
    a.set(1);
    source.emit(1);
    let expected = [
        (place(3), a.id().to_string()),
        (place(2), b.id().to_string()),
        (place(1), source.id().to_string()),
    ];
    assert_eq!(capture.named("hyphae.fanout"), expected);
    assert_eq!(capture.named("hyphae.compute"), expected[1..2]);
}

#[test]
fn ids_are_those_of_the_cells_for_as_long_as_they_live() {
    let a = Cell::new(0).with_name("a");
    let own = Uuid::from_u128(77);
    let b = (&a).map(|v| v + 1).materialize().with_name("b").with_uuid(own);
    let capture = Capture::new();
    a.set(1);
    a.set(2);
    let told = capture.named("hyphae.fanout");
    assert_eq!(told[..2], told[2..]);
    assert_eq!(told[1], ("b".to_owned(), own.to_string()));
    assert_eq!(told[0].1.parse::<Uuid>().ok(), Some(a.id()));
    drop((a, b));
    let next = Cell::new(0).with_name("a");
    next.set(1);
    assert_ne!(capture.named("hyphae.fanout")[4].1, told[0].1, "another cell, another id");
}

/// Who listens must not change what a program may do: an id that a span has shown was not handed out to the program.
#[test]
fn a_uuid_of_the_application_s_own_can_be_given_while_someone_listens() {
    let _capture = Capture::new();
    let a = Cell::new(0);
    a.set(1);
    let switched = a.switch_map(|v| Cell::new(*v));
    assert!(switched.try_with_uuid(Uuid::from_u128(1)).is_ok(), "right after construction");
    let used = (&a).map(|v| v + 1).materialize();
    a.set(2);
    assert!(used.try_with_uuid(Uuid::from_u128(2)).is_ok(), "after a wave");
}

#[test]
fn names_of_any_text() {
    let capture = Capture::new();
    for name in ["", " ", "a=b;c", "zwölf\nzeilen", "\"quoted\""] {
        let cell = Cell::new(0).with_name(name);
        cell.set(1);
        let named = capture.named("hyphae.fanout");
        assert_eq!(named.last().map(|named| &*named.0), Some(name));
    }
}
