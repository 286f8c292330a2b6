//! Smoke.
use hyphae::{Cell, Pipeline, Source, batch};
use std::{cell::RefCell, rc::Rc};
#[test]
fn smoke() {
    let a = Cell::new(1);
    let b = (&a).map(|v| v * 10).materialize();
    let c = a.join(&b);
    let log = Rc::new(RefCell::new(vec![]));
    let g = c.watch({
        let log = log.clone();
        move |v| log.borrow_mut().push(*v)
    });
    a.set(2);
    batch(|| {
        a.set(3);
        assert_eq!(b.get(), 30);
        a.set(4);
    });
    assert_eq!(*log.borrow(), [(1, 10), (2, 20), (4, 40)]);
    drop(g);
    drop((a, b, c));
    hyphae::arena::assert_no_live();
    let s = Source::new();
    let n = s.clone().scan(0, |n, v: &i32| n + v).materialize();
    batch(|| {
        s.emit(1);
        s.emit(2);
    });
    assert_eq!(n.get(), Some(3));
}
