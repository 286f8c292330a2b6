//! GL-6: a sampled cell is settled before it is sampled, and does not trigger (rule P0).

use hyphae::{Cell, CellImmutable, Pipeline, Source, arena, batch};

use crate::support::{Count, Heard, Log, owning, turns};

const WORDS: [&str; 3] = ["cat", "donkey", "rhinoceros"];

/// `depth` maps below `word`, the last of which is its length.
fn length_below(word: &Cell<&'static str>, depth: usize) -> Cell<usize, CellImmutable> {
    let mut length = word.map(|w| w.len()).materialize();
    for _ in 1..depth {
        length = length.map(|l| *l).materialize();
    }
    length
}

/// Every length came with the word before it, and the first pair was missing.
#[test]
fn gl_6_a_derived_trigger_sees_the_sampled_cell_settled() {
    let word = Cell::new("a");
    let length = length_below(&word, 1);
    let sampled = (&length).with_latest_from(&word).materialize();
    let (by_operator, by_read, joined) = (Log::new(), Log::new(), Log::new());
    let _operator = by_operator.on(&sampled);
    let _read = length.watch(owning!([by_read, word] move |l| by_read.push((*l, word.get()))));
    let _joined = joined.on(&length.join(&word));
    WORDS.into_iter().for_each(|w| word.set(w));
    let expected = [(1, "a"), (3, "cat"), (6, "donkey"), (10, "rhinoceros")];
    by_operator.check(&expected);
    by_read.check(&expected);
    joined.check(&expected);
}

/// The other way round: the sampled cell hangs on the trigger, by a path much longer than the trigger's own.
#[test]
fn gl_6_a_sampled_cell_below_the_trigger_is_settled_too() {
    for depth in [1, 50] {
        let word = Cell::new("a");
        let length = length_below(&word, depth);
        let sampled = (&word).with_latest_from(&length).materialize();
        let log = Log::new();
        let _guard = log.on(&sampled);
        WORDS.into_iter().for_each(|w| word.set(w));
        log.check(&[("a", 1), ("cat", 3), ("donkey", 6), ("rhinoceros", 10)]);
    }
}

/// The sampled cell is made after the sampling one's trigger, and is re-linked in the very wave that samples it.
#[test]
fn gl_6_a_sampled_switch_has_switched() {
    let view = Cell::new(0);
    let sampled = view.switch_map(|v| Cell::new(v * 10));
    let pairs = (&view).with_latest_from(&sampled).materialize();
    let log = Log::new();
    let _guard = log.on(&pairs);
    [1, 2].into_iter().for_each(|v| view.set(v));
    log.check(&[(0, 0), (1, 10), (2, 20)]);
}

/// A computed cell as trigger, and as the sampled one.
#[test]
fn gl_6_computed_cells_on_both_sides() {
    let word = Cell::new("a");
    let length = Cell::computed(owning!([word] move || word.get().len()));
    let loud = Cell::computed(owning!([word] move || word.get().to_uppercase()));
    let pairs = (&length).with_latest_from(&loud).materialize();
    let log = Log::new();
    let _guard = log.on(&pairs);
    WORDS.into_iter().for_each(|w| word.set(w));
    let expected = [(1, "A"), (3, "CAT"), (6, "DONKEY"), (10, "RHINOCEROS")];
    log.check(&expected.map(|(length, loud)| (length, loud.to_owned())));
}

/// Writes to the sampled cell alone ran the sampling one.
#[test]
fn gl_6_the_sampled_cell_alone_triggers_nothing() {
    let (trigger, sampled) = (Cell::new(1), Cell::new("a"));
    let (runs, log) = (Count::new(), Log::new());
    let pairs = (&trigger).with_latest_from(&sampled).map(runs.of(|pair| *pair)).materialize();
    let _guard = log.on(&pairs);
    let idle = turns(|| ["b", "c"].into_iter().for_each(|s| sampled.set(s)));
    assert_eq!((idle, runs.get(), pairs.get()), (0, 1, (1, "a")));
    trigger.set(2);
    sampled.set("d");
    log.check(&[(1, "a"), (2, "c")]);
    assert_eq!(runs.get(), 2);
}

/// In a batch both count with their last value, whichever was written first, and also when only read in between.
#[test]
fn gl_6_a_batch_samples_once_and_last() {
    let (trigger, sampled) = (Cell::new(1), Cell::new("a"));
    let pairs = (&trigger).with_latest_from(&sampled).materialize();
    let log = Log::new();
    let _guard = log.on(&pairs);
    batch(|| {
        trigger.set(2);
        sampled.set("b");
    });
    batch(|| {
        sampled.set("c");
        trigger.set(3);
    });
    let read = batch(|| {
        trigger.set(4);
        sampled.set("d");
        pairs.get()
    });
    assert_eq!(read, (4, "d"));
    log.check(&[(1, "a"), (2, "b"), (3, "c"), (4, "d")]);
}

/// `sample` gives the value itself, at the changes of its notifier.
#[test]
fn gl_6_sample_gives_the_settled_value() {
    let word = Cell::new("a");
    let length = length_below(&word, 20);
    let at_word = length.sample(&word).materialize();
    let at_other = length.sample(&Cell::new(())).materialize();
    let log = Log::new();
    let _guard = log.on(&at_word);
    WORDS.into_iter().for_each(|w| word.set(w));
    log.check(&[1, 3, 6, 10]);
    assert_eq!(at_other.get(), 1);
}

/// An event samples the values of its wave, once for each event of a batch.
#[test]
fn gl_6_an_event_samples_what_was_written_with_it() {
    let word = Cell::new("a");
    let length = length_below(&word, 20);
    let ticks = Source::new();
    let sampled = length.sample_on(&ticks);
    let log = Log::new();
    let _guard = log.on(&sampled);
    word.set("cat");
    ticks.emit(());
    batch(|| {
        ticks.emit(());
        word.set("donkey");
        ticks.emit(());
    });
    log.check(&[1, 3, 6, 6]);
}

/// The sampled cell lives by the sampling one, and may end before it.
#[test]
fn gl_6_a_sampled_cell_is_held_and_may_end() {
    let trigger = Cell::new(1);
    let sampled = Cell::new("a");
    let (weak, log) = (sampled.downgrade(), Log::new());
    let pairs = (&trigger).with_latest_from(&sampled).materialize();
    let guard = log.hear(&pairs);
    sampled.set("b");
    sampled.complete();
    drop(sampled);
    trigger.set(2);
    assert!(weak.is_alive());
    trigger.complete();
    log.check(&[Heard::Value((1, "a")), Heard::Value((2, "b")), Heard::Complete]);
    assert!(!weak.is_alive(), "an ended cell lets go of what it read");
    drop((pairs, guard, trigger));
    arena::assert_no_live();
}
