//! Spans that are not left in the order in which they were entered.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hyphae::FoldedLayer;
use proptest::prelude::*;
use tracing::span::EnteredSpan;
use tracing_subscriber::prelude::*;

use super::{busy, fanout, lines, now, pass, record, wave};

#[test]
fn a_span_left_before_the_one_inside_it() {
    let (_guard, folded) = record();
    let a = fanout("a").entered();
    pass(1);
    let b = fanout("b").entered();
    pass(10);
    drop(a);
    pass(100);
    busy(fanout("c"), 1_000);
    drop(b);
    pass(10_000);
    let expected = [
        "hyphae.fanout [a] 1",
        "hyphae.fanout [a];hyphae.fanout [b] 110",
        "hyphae.fanout [a];hyphae.fanout [b];hyphae.fanout [c] 1000",
    ];
    assert_eq!(lines(&folded), expected);
}

#[test]
fn a_span_entered_again_is_entered_until_it_is_left_as_often() {
    let (_guard, folded) = record();
    let a = fanout("a");
    let first = a.clone().entered();
    pass(1);
    let b = fanout("b").entered();
    pass(10);
    let second = a.clone().entered();
    pass(100); // b is still the innermost
    drop(b);
    pass(1_000);
    drop(first);
    pass(10_000);
    drop(second);
    pass(100_000);
    busy(a, 1_000_000); // once more, later
    let expected = ["hyphae.fanout [a] 1011001", "hyphae.fanout [a];hyphae.fanout [b] 110"];
    assert_eq!(lines(&folded), expected);
    assert_eq!(folded.stacks().map(|stack| stack.count).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn one_span_below_different_ones() {
    let (_guard, folded) = record();
    let shared = fanout("shared");
    for name in ["a", "b"] {
        fanout(name).in_scope(|| shared.in_scope(|| pass(5)));
    }
    let expected = [
        "hyphae.fanout [a] 0",
        "hyphae.fanout [a];hyphae.fanout [shared] 5",
        "hyphae.fanout [b] 0",
        "hyphae.fanout [b];hyphae.fanout [shared] 5",
    ];
    assert_eq!(lines(&folded), expected);
}

#[test]
fn a_panic_leaves_what_it_passes_through() {
    let (_guard, folded) = record();
    let outer = wave(1).entered();
    let run = || {
        let _a = fanout("a").entered();
        pass(1);
        let _b = fanout("b").entered();
        pass(10);
        std::panic::resume_unwind(Box::new("not to be shown"));
    };
    catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
    pass(100);
    drop(outer);
    pass(1_000);
    let expected = [
        "hyphae.wave 100",
        "hyphae.wave;hyphae.fanout [a] 1",
        "hyphae.wave;hyphae.fanout [a];hyphae.fanout [b] 10",
    ];
    assert_eq!(lines(&folded), expected);
}

/// A span that is forgotten counts as entered, as it does for `tracing`: what comes later is inside of it.
#[test]
fn a_span_never_left_takes_the_time() {
    let (_guard, folded) = record();
    let outer = wave(1).entered();
    pass(1);
    std::mem::forget(fanout("open").entered());
    pass(10);
    drop(outer);
    pass(100);
    let expected = ["hyphae.wave 1", "hyphae.wave;hyphae.fanout [open] 110"];
    assert_eq!(lines(&folded), expected);
    pass(1_000);
    assert_eq!(folded.total_ns(), 1_111);
}

#[test]
fn a_clock_that_goes_backwards_counts_nothing() {
    let (_guard, folded) = record();
    pass(1_000);
    let a = fanout("a").entered();
    super::NOW.set(400);
    drop(a);
    assert_eq!(lines(&folded), ["hyphae.fanout [a] 0"]);
    super::NOW.set(5_000);
    busy(fanout("a"), 3);
    assert_eq!(lines(&folded), ["hyphae.fanout [a] 3"]);
}

#[derive(Debug, Clone)]
enum Step {
    Enter(usize),
    Leave(usize),
    Pass(u64),
    Read,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0_usize..4).prop_map(Step::Enter),
        3 => (0_usize..8).prop_map(Step::Leave),
        3 => (1_u64..1_000).prop_map(Step::Pass),
        1 => Just(Step::Read),
    ]
}

proptest! {
    /// Four spans, entered and left in any order, again and again.
    #[test]
    fn self_times_add_up_to_the_busy_time(steps in prop::collection::vec(step(), 0..60)) {
        let (layer, folded) = FoldedLayer::with_clock(now);
        let _guard = tracing_subscriber::registry().with(layer).set_default();
        let spans = ["a", "b", "c", "d"].map(fanout);
        let mut entered: Vec<EnteredSpan> = Vec::new();
        let (mut busy_ns, mut inner_ns) = (0, [0; 4]);
        let mut order: Vec<(usize, usize)> = Vec::new(); // spans entered, and how often
        let mut held: Vec<usize> = Vec::new();
        for step in steps {
            match step {
                Step::Enter(span) => {
                    entered.push(spans[span].clone().entered());
                    held.push(span);
                    match order.iter_mut().find(|(entered, _)| *entered == span) {
                        Some((_, times)) => *times += 1,
                        None => order.push((span, 1)),
                    }
                }
                Step::Leave(at) if at < entered.len() => {
                    drop(entered.remove(at));
                    let span = held.remove(at);
                    let place = order.iter().position(|(entered, _)| *entered == span);
                    let place = place.expect("it is entered");
                    order[place].1 -= 1;
                    order.retain(|(_, times)| *times > 0);
                }
                Step::Leave(_) => {}
                Step::Pass(ns) => {
                    pass(ns);
                    if let Some((innermost, _)) = order.last() {
                        busy_ns += ns;
                        inner_ns[*innermost] += ns;
                    }
                }
                Step::Read => prop_assert_eq!(folded.total_ns(), busy_ns),
            }
        }
        prop_assert_eq!(folded.total_ns(), busy_ns);
        for (name, expected) in ["a", "b", "c", "d"].into_iter().zip(inner_ns) {
            let own = format!("hyphae.fanout [{name}]");
            let stacks = folded.stacks().filter(|stack| stack.frames().next_back() == Some(&own));
            prop_assert_eq!(stacks.map(|stack| stack.self_ns).sum::<u64>(), expected);
        }
    }
}
