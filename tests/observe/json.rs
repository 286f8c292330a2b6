//! Reports as JSON (feature `serde`).

use hyphae::{Cell, Pipeline, census, hot_traced_cells, profiling, reset_trace};
use serde_json::{Value, json, to_value};

use crate::tools::Hand;

#[test]
fn hot_cells() {
    let hand = Hand::timing_all();
    let a = Cell::new(0).with_name("level");
    let at = line!() - 1;
    let b = (&a).map(hand.of(40)).materialize();
    let _guard = b.watch_changes(hand.call(2));
    b.own(a.watch(|_| ()));
    reset_trace();
    a.set(1);
    let hot = to_value(hot_traced_cells()).expect("plain data");
    let expected = json!({
        "id": a.id().to_string(),
        "name": "level",
        "caller": format!("{}:{at}:13", file!()),
        "operator": "cell",
        "notify_count": 1,
        "delivery_count": 1,
        "cut_off_count": 0,
        "subscriber_count": 2,
        "owned_count": 0,
        "compute_time_ns": 0,
        "delivery_time_ns": 0,
        "total_notify_time_ns": 0,
        "last_notify_time_ns": 0,
        "slowest_subscriber_ns": 0,
    });
    assert_eq!(hot[0], expected);
    let of = |field: &str| hot[1][field].clone();
    assert_eq!(
        (of("name"), of("operator"), of("id")),
        (Value::Null, json!("map"), json!(b.id().to_string()))
    );
    assert_eq!([of("owned_count"), of("compute_time_ns"), of("delivery_time_ns")], [1, 40, 2]);
    assert_eq!(
        [of("total_notify_time_ns"), of("last_notify_time_ns"), of("slowest_subscriber_ns")],
        [42, 42, 2]
    );
    assert_eq!(hot.as_array().map(Vec::len), Some(2));
}

#[test]
fn the_census() {
    let cells: Vec<Cell<u8>> = (0..3).map(|i| Cell::new(i + 1)).collect();
    let at = line!() - 1;
    let rows = to_value(census()).expect("plain data");
    let row = census()[0].clone();
    let expected = json!([{
        "file": file!(), "line": at, "column": row.column, "operator": "cell",
        "cell_count": 3, "subscriber_count": 0, "bytes": row.bytes,
    }]);
    assert_eq!((rows, cells.len()), (expected, 3));
}

#[test]
fn a_pass() {
    let a = Cell::new(0);
    profiling::pass(|| (1..3).for_each(|v| a.set(v)));
    let report = profiling::take_report().expect("a pass has been");
    let expected = json!({ "per_cell": [[a.id().to_string(), 2]] });
    assert_eq!(to_value(report).expect("plain data"), expected);
}
