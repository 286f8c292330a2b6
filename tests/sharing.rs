//! A shared pipeline over a shared pipeline: each hidden cell lives as long as it has consumers.
use hyphae::*;
#[test]
fn hidden_cells_come_and_go_with_their_consumers() {
    let s = Cell::new(1);
    let a = (&s).map(|v| v + 1).share();
    let b = a.clone().map(|v| v * 10).share();
    let c = b.clone().materialize();
    assert_eq!((c.get(), s.dependents(), arena::totals().cells), (20, 1, 4));
    drop(c);
    assert_eq!((s.dependents(), arena::totals().cells), (0, 1));
    s.set(4);
    let c = b.clone().map(|v| v + 1).materialize();
    let d = a.materialize();
    assert_eq!((c.get(), d.get()), (51, 5));
    s.set(5);
    assert_eq!((c.get(), d.get()), (61, 6));
    drop((c, d, b, s));
    arena::assert_no_live();
}
