//! A program with the imports of published hyphae 1.3.3.

use std::cell::Cell as Count;
use std::rc::Rc;

use hyphae::bounded_input::{BoundedInput, OverflowPolicy};
use hyphae::bounded_output::BoundedOutput;
use hyphae::cell::{Cell, CellImmutable};
use hyphae::pipeline::{Definite, Pipeline};
use hyphae::scheduler::{batch, no_coalesce};
use hyphae::traits::{DepNode, Gettable, Mutable, Watchable};
use hyphae::{CellValue, Signal, flat};
// All of these are one trait here.
#[allow(unused_imports)]
use hyphae::{FilterExt, JoinExt, MapExt, MaterializeDefinite};

fn doubled<T: CellValue + Into<u64>>(cell: &Cell<T, CellImmutable>) -> Cell<u64, CellImmutable> {
    cell.map(|n| n.clone().into() * 2).materialize()
}

fn total<W: Watchable<u64>>(cells: &[W]) -> u64 {
    cells.iter().map(Gettable::get).sum()
}

fn next<P: Pipeline<u64, Definite>>(plan: P) -> Cell<u64, CellImmutable> {
    plan.map(|n| n + 1).materialize()
}

#[test]
fn imports_and_names_of_1_3_3_are_found() {
    let (a, b) = (Cell::new(1_u32).with_name("a"), Cell::new(10_u64).with_name("b"));
    let two = doubled(&a.clone().lock());
    let sum = two.join(&b).join(&a).map(flat!(|two, b, a| two + b + u64::from(*a))).materialize();
    let seen = Rc::new(Count::new(0));
    let count = seen.clone();
    let guard = sum.subscribe(move |signal| {
        if let Signal::Value(value) = signal {
            count.set(**value);
        }
    });
    batch(|| {
        Mutable::set(&a, 2);
        b.set(20);
    });
    assert_eq!((seen.get(), total(&[two.clone(), sum.clone()])), (26, 30));
    assert_eq!(next(b.clone()).filter(|n| n % 2 == 1).materialize().get(), Some(21));
    assert_eq!(two.dependency_count(), 1);
    let input = BoundedInput::new(0, 1, OverflowPolicy::DropOldest);
    let output = BoundedOutput::new(&input.to_cell(), 3);
    assert_eq!(input.push_flush(1), Ok(()));
    assert_eq!(output.try_iter().collect::<Vec<_>>(), [0, 1]);
    let events = no_coalesce(|| Cell::new(0));
    let heard = BoundedOutput::new(&events, 9);
    batch(|| (1..=3).for_each(|n| events.set(n)));
    assert_eq!(heard.len(), 4);
    drop(guard);
}
