//! Random graphs and writes: a cell's notifies are the waves in which its subscribers were called, whether there are
//! any or not.

use std::rc::Rc;

use hyphae::{Signal, SubscriptionGuard, hot_traced_cells, reset_trace};
use proptest::prelude::*;

use crate::world::{Shown, World, act, make};

/// A subscriber on each cell: how often it was called, in all and in how many waves.
struct Watch {
    calls: Vec<Rc<std::cell::Cell<u64>>>,
    waves: Vec<u64>,
    all: Vec<u64>,
    _guards: Vec<SubscriptionGuard>,
}

impl Watch {
    fn on(cells: &[Shown]) -> Self {
        let calls: Vec<Rc<std::cell::Cell<u64>>> = cells.iter().map(|_| Rc::default()).collect();
        let guard = |(cell, calls): (&Shown, &Rc<std::cell::Cell<u64>>)| {
            let calls = calls.clone();
            cell.subscribe_changes(move |_: &Signal<'_, i64>| calls.set(calls.get() + 1))
        };
        let guards = cells.iter().zip(&calls).map(guard).collect();
        calls.iter().for_each(|calls| calls.set(0));
        Self { waves: vec![0; cells.len()], all: vec![0; cells.len()], calls, _guards: guards }
    }

    fn wave_is_over(&mut self) {
        for (i, calls) in self.calls.iter().enumerate() {
            let calls = calls.take();
            self.waves[i] += u64::from(calls > 0);
            self.all[i] += calls;
        }
    }
}

/// Notifies of all cells.
fn notifies(cells: &[Shown]) -> Vec<u64> {
    let hot = hot_traced_cells();
    cells.iter().map(|cell| hot.get(cell.cell_id()).expect("it lives").notify_count).collect()
}

/// Calls of their subscribers.
fn deliveries(cells: &[Shown]) -> Vec<u64> {
    let hot = hot_traced_cells();
    cells.iter().map(|cell| hot.get(cell.cell_id()).expect("it lives").delivery_count).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn notifies_are_fan_outs(
        makes in prop::collection::vec(make(), 1..12),
        acts in prop::collection::vec(act(), 1..25),
    ) {
        let (watched, bare) = (World::new(&makes), World::new(&makes));
        reset_trace();
        let mut watch = Watch::on(&watched.cells);
        for act in &acts {
            watched.act(act);
            watch.wave_is_over();
            bare.act(act);
            prop_assert_eq!(notifies(&watched.cells), watch.waves.clone(), "after {:?}", act);
            prop_assert_eq!(notifies(&bare.cells), watch.waves.clone(), "nobody listens, after {:?}", act);
        }
        prop_assert_eq!(deliveries(&watched.cells), watch.all);
        prop_assert!(deliveries(&bare.cells).iter().all(|&calls| calls == 0));
    }
}
