//! Long chains fused at compile time, over many inputs, against the references; one node and one edge each.

use hyphae::{Cell, CellImmutable, Pipeline, arena};

use crate::build::stage;
use crate::model::Op;
use crate::script::{ROOTS, Root, Run, steps};

/// The operators one by one, innermost first.
macro_rules! fuse {
    ($p:expr;) => { $p.filter(|_| true).materialize() };
    ($p:expr; $op:ident $k:literal $($rest:tt)*) => { fuse!(stage!($p, $op($k)); $($rest)*) };
}

type Make = fn(&Cell<i64>) -> Cell<Option<i64>, CellImmutable>;

/// Chains, each as a list for the references and as one fused pipeline.
macro_rules! chains {
    ($([$($op:ident $k:literal),*])*) => {
        vec![$((
            vec![$(Op::$op($k)),*],
            (|cell| fuse!(cell.map(|v| *v); $($op $k)*)) as Make,
            (|cell| fuse!(cell.filter(|v| *v >= 0); $($op $k)*)) as Make,
        )),*]
    };
}

fn chains() -> Vec<(Vec<Op>, Make, Make)> {
    chains! {
        [Map 1, Filter 0, Scan 0, Window 1, Deduped 0, Take 3]
        [Take 4, Buffer 1, Map 1, Skip 1, Pairwise 0, Tap 0]
        [Skip 1, Take 3, Buffer 1, LastOr 9, Map 1, Finalize 0]
        [Cold 0, Buffer 2, Window 1, Distinct 0, Map 2, Take 2]
        [First 0, LastOr 5, Map 1, Buffer 0, Scan 7, Tap 1]
        [TakeWhile 6, Last 0, Map 1, First 0, Scan 1, LastOr 4]
        [Take 0, LastOr 5, Map 1]
        [Filter 1, Take 0, LastOr 3, Finalize 1]
        [SkipWhile 3, Deduped 0, Pairwise 0, Buffer 1, Last 0, Map 0]
        [Catch 4, OrDefault 2, OrElse 9, Distinct 0, UntilChangedBy 1, Scan 0]
        [Buffer 1, Buffer 1, Take 2, Window 2]
        [Window 2, Window 2, Filter 1, SkipWhile 9, TakeWhile 500, Buffer 2]
        [Take 5, Take 3, Take 4, Last 0]
        [Last 0, Buffer 1, Take 1, LastOr 3]
        [Pairwise 0, Cold 0, Skip 1, First 0, Finalize 0, LastOr 1]
        [Scan 2, Take 2, Skip 2, LastOr 6, Pairwise 0, LastOr 2]
    }
}

#[test]
fn fused_chains_agree_with_the_references() {
    let inputs =
        ["", "|", "!", "1 4 4 6 2", "1 4 4 6 2 |", "1 4 4 6 2 !", "5 5 | 6", "0 9 3 3 8 1 2 |"];
    for (ops, plain, filtered) in chains() {
        for root in ROOTS.into_iter().filter(|root| *root != Root::Source) {
            let make = if root == Root::Filtered { filtered } else { plain };
            for (input, batched) in inputs.iter().flat_map(|input| [(input, false), (input, true)])
            {
                for (start, before) in [(3, ""), (-1, ""), (6, "|"), (6, "2 !")] {
                    let (before, after) = (steps(before), steps(input));
                    let run = Run { root, start, before, after, batched };
                    assert_eq!(
                        run.heard_by(make),
                        run.expected_fused(&ops),
                        "{ops:?} over {run:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_fused_chain_is_one_node_and_one_edge() {
    for (ops, plain, _) in chains() {
        let cell = Cell::new(1);
        let before = arena::totals();
        let derived = plain(&cell);
        let after = arena::totals();
        assert_eq!(after.cells - before.cells, 1, "{ops:?}");
        let edges = if derived.is_complete() { 0 } else { 1 };
        assert_eq!(after.edges - before.edges, edges, "{ops:?}");
    }
}
