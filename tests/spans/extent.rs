//! What the span of a wave says at its end: how many cells were computed, on how many levels, and how many emitted.

use hyphae::{Cell, CellImmutable, Pipeline, Source, batch};
use tracing::subscriber::NoSubscriber;

use crate::capture::Capture;

/// Width, levels, widest and emits of each wave since the last time.
fn extents(capture: &Capture) -> Vec<[u64; 4]> {
    let mut spans = capture.spans();
    let waves = spans.roots.iter().map(|root| &spans.all[root]);
    let waves = waves.filter(|wave| wave.name == "hyphae.wave");
    let field = |wave: &crate::capture::Told, name| wave.field(name).parse().expect("a number");
    let told =
        waves.map(|wave| ["width", "levels", "widest", "emits"].map(|name| field(wave, name)));
    let told = told.collect();
    *spans = Default::default();
    told
}

type Derived = Cell<i32, CellImmutable>;

fn chain(from: &Derived, length: usize) -> Vec<Derived> {
    let mut cells = vec![from.clone()];
    for _ in 0..length {
        let next = cells[cells.len() - 1].clone().map(|v| v + 1).materialize();
        cells.push(next);
    }
    cells.split_off(1)
}

#[test]
fn a_chain_a_fan_and_what_joins_them() {
    let a = Cell::new(0);
    let capture = Capture::new();
    a.set(1);
    assert_eq!(extents(&capture), [[0, 0, 0, 1]]);
    let chain = chain(&a.clone().lock(), 4);
    a.set(2);
    assert_eq!(extents(&capture), [[4, 4, 1, 5]]);
    let fan: Vec<_> = (0..10).map(|_| (&a).map(|v| v % 2).deduped().materialize()).collect();
    a.set(3);
    assert_eq!(extents(&capture), [[14, 4, 11, 15]]);
    let joined = chain[3].join(&fan[0]);
    a.set(5);
    assert_eq!(extents(&capture), [[15, 5, 11, 6]], "the fan is cut off");
    drop(joined);
}

/// A wave has the levels of its highest round, and the widest of any.
#[test]
fn rounds() {
    let (a, source) = (Cell::new(0), Source::new());
    let latest = source.clone().map(|v: &i32| *v).materialize();
    let deep = chain(&(&a).map(|v| *v).materialize(), 3);
    let wide: Vec<_> = (0..5).map(|_| latest.clone().map(|v| v.is_some()).materialize()).collect();
    let capture = Capture::new();
    batch(|| {
        a.set(1);
        (0..3).for_each(|v| source.emit(v));
    });
    // Four of the chain in the first round; the map and five over it in each of three; emits with the two inputs.
    assert_eq!(extents(&capture), [[4 + 3 * 6, 4, 5 + 1, 4 + 1 + 3 * 7]]);
    drop((deep, wide));
}

#[test]
fn each_wave_starts_at_nothing() {
    let a = Cell::new(0);
    let deep = chain(&a.clone().lock(), 7);
    let b = Cell::new(0);
    let flat = (&b).map(|v| *v).materialize();
    let capture = Capture::new();
    a.set(1);
    b.set(1);
    b.complete();
    b.set(2);
    assert_eq!(extents(&capture), [[7, 7, 1, 8], [1, 1, 1, 2], [1, 1, 1, 2], [0; 4]]);
    drop((deep, flat));
}

/// Who comes back hears of the wave under way alone.
#[test]
fn after_a_pause() {
    let a = Cell::new(0);
    let deep = chain(&a.clone().lock(), 7);
    let b = Cell::new(0);
    let flat = (&b).map(|v| *v).materialize();
    let capture = Capture::new();
    a.set(1);
    {
        let _quiet = tracing::subscriber::set_default(NoSubscriber::default());
        a.set(2);
        b.set(2);
    }
    b.set(3);
    assert_eq!(extents(&capture), [[7, 7, 1, 8], [1, 1, 1, 2]]);
    drop((deep, flat));
}

/// What a read in a batch computes belongs to the wave that the batch is, although its span is where the read is.
#[test]
fn reads_in_a_batch() {
    let a = Cell::new(0);
    let deep = chain(&a.clone().lock(), 4);
    let wide: Vec<_> = (0..6).map(|_| (&a).map(|v| *v).materialize()).collect();
    let capture = Capture::new();
    batch(|| {
        a.set(1);
        wide.iter().for_each(|cell| assert_eq!(cell.get(), 1));
        assert_eq!(deep[2].get(), 4);
    });
    assert_eq!(extents(&capture), [[6 + 3 + 1, 4, 7, 11]]);
}

/// A panic leaves the numbers of a wave whole.
#[test]
fn panics() {
    let a = Cell::new(0);
    let checked = (&a).map(|v| assert_ne!(*v, 1, "refused")).materialize();
    let below = (&checked).map(|()| ()).materialize();
    let _guard = a.watch_changes(|v| assert_ne!(*v, 2, "refused"));
    let capture = Capture::new();
    [1, 2, 3].into_iter().for_each(|v| drop(crate::support::caught(|| a.set(v))));
    let waves = extents(&capture);
    assert_eq!((waves[0][0], waves[0][3]), (1, 1));
    assert_eq!(waves[1..], [[2, 2, 1, 3]; 2]);
    drop(below);
}
