//! Random graphs and writes: a cell's fan-out spans are its notifies, exactly, with subscribers and without; the width
//! of a wave is the number of turns in it.

use std::collections::BTreeMap;

use hyphae::{Signal, hot_traced_cells, reset_trace};
use proptest::prelude::*;

use crate::capture::Capture;
use crate::world::{World, act, make};

/// Fan-out spans of each live cell, and its notifies.
fn both(capture: &Capture) -> [BTreeMap<String, u64>; 2] {
    let mut spans = BTreeMap::new();
    for (_, id) in capture.named("hyphae.fanout") {
        *spans.entry(id).or_insert(0) += 1;
    }
    let hot = hot_traced_cells().into_iter().map(|cell| (cell.id.to_string(), cell.notify_count));
    let mut notifies: BTreeMap<String, u64> = hot.collect();
    spans.retain(|id, _| notifies.contains_key(id));
    notifies.retain(|_, &mut count| count > 0);
    [spans, notifies]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn fanouts_are_notifies(
        makes in prop::collection::vec(make(), 1..12),
        acts in prop::collection::vec(act(), 1..20),
    ) {
        let capture = Capture::new();
        let (watched, bare) = (World::new(&makes), World::new(&makes));
        let hear = |_: &Signal<'_, i64>| ();
        let _guards: Vec<_> = watched.cells.iter().map(|cell| cell.subscribe(hear)).collect();
        reset_trace();
        capture.take();
        for act in &acts {
            watched.act(act);
            bare.act(act);
            let [spans, notifies] = both(&capture);
            prop_assert_eq!(spans, notifies, "after {:?}", act);
        }
        let spans = capture.spans();
        // Turns for reads in a batch come before the wave that the batch is.
        let mut reads = 0;
        for &number in &spans.roots {
            let root = &spans.all[&number];
            if root.name == "hyphae.compute" {
                reads += 1 + spans.below(number, "hyphae.compute");
                continue;
            }
            let field = |name| root.field(name).parse::<usize>().expect("a number");
            let inside = spans.below(number, "hyphae.compute");
            prop_assert_eq!(field("width"), inside + std::mem::take(&mut reads));
            // A cell that dies in the wave may have emitted, and has no fan-out then.
            prop_assert!(field("emits") >= spans.below(number, "hyphae.fanout"));
            prop_assert!(field("widest") <= field("width") && field("levels") <= field("width"));
        }
    }
}
