//! Two cells and their sum.

use hyphae::{Cell, Pipeline};

fn main() {
    let a = Cell::new(1);
    let b = Cell::new(2);
    let sum = a.join(&b).map(|(a, b)| a + b).materialize();
    let guard = sum.watch(|sum| println!("the sum is {sum}"));
    a.set(40);
    assert_eq!(sum.get(), 42);
    drop(guard);
}
