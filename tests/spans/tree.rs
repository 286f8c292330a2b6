//! Which spans a wave has, what is inside what, and what each says.

use hyphae::{Cell, CellImmutable, Pipeline, Source, batch, hot_traced_cells};

use crate::capture::Capture;

struct Invoice {
    price: Cell<i32>,
    tax: Cell<i32, CellImmutable>,
    total: Cell<i32, CellImmutable>,
}

fn invoice() -> Invoice {
    let price = Cell::new(100).with_name("price");
    let tax = (&price).map(|v| v / 5).materialize().with_name("tax");
    let total = (&tax).map(|v| v + 1).materialize().with_name("total");
    Invoice { price, tax, total }
}

#[test]
fn a_chain() {
    let Invoice { price, tax, total } = invoice();
    let _guard = total.watch(|_| ());
    let capture = Capture::new();
    price.set(200);
    let ids = [&price.clone().lock(), &tax, &total]
        .map(|cell| (cell.name().expect("it has one").to_string(), cell.id().to_string()));
    assert_eq!(capture.named("hyphae.fanout"), ids);
    assert_eq!(capture.named("hyphae.compute"), ids[1..]);
    capture.check(
        "
        wave 0 2
          compute map tax
          compute map total
          fanout price
          fanout tax
          fanout total
        ",
    );
    price.set(5);
    assert_eq!(capture.take().len(), 6, "each wave has its own");
}

#[test]
fn a_wave_without_dependents_and_one_without_subscribers() {
    let capture = Capture::new();
    let alone = Cell::new(1).with_name("alone");
    alone.set(2);
    let _guard = alone.watch(|_| ());
    alone.set(3);
    alone.modify(|v| *v = 4);
    capture.check(
        "
        wave 0 0
          fanout alone
        wave 0 0
          fanout alone
        wave 0 0
          fanout alone
        ",
    );
}

#[test]
fn what_is_cut_off_has_a_turn_and_no_fanout() {
    let source = Cell::with_cutoff(0, i32::eq).with_name("source");
    let even = (&source).filter(|v| v % 2 == 0).materialize().with_name("even");
    let below = (&even).map(|v| *v).materialize().with_name("below");
    let capture = Capture::new();
    source.set(0);
    source.set(1);
    batch(|| source.set(2));
    capture.check(
        "
        wave 0 1
          compute cell source
        wave 0 2
          compute cell source
          compute filter even
          fanout source
        wave 0 3
          compute cell source
          compute filter even
          compute map below
          fanout source
          fanout even
          fanout below
        ",
    );
    drop(below);
}

#[test]
fn a_join_is_computed_once_for_two_changes() {
    let (a, b) = (Cell::new(0).with_name("a"), Cell::new(0).with_name("b"));
    let _both = a.join(&b).with_name("both");
    let capture = Capture::new();
    batch(|| {
        b.set(1);
        a.set(1);
        a.set(2);
    });
    batch(|| ());
    capture.check(
        "
        wave 0 1
          compute join both
          fanout a
          fanout b
          fanout both
        wave 0 0
        ",
    );
}

/// Rounds are one after the other in the span of their wave.
#[test]
fn rounds() {
    let source = Source::new().with_name("source");
    let _sum = source.clone().scan(0, |sum, v: &i32| sum + v).materialize().with_name("sum");
    let capture = Capture::new();
    batch(|| (1..3).for_each(|v| source.emit(v)));
    source.complete();
    capture.check(
        "
        wave 0 2
          compute scan sum
          fanout source
          fanout sum
          compute scan sum
          fanout source
          fanout sum
        wave 0 1
          compute scan sum
          fanout source
          fanout sum
        ",
    );
}

/// An end is an emit; a value and an end in one round are one.
#[test]
fn ends() {
    let Invoice { price, tax, total } = invoice();
    let _guard = total.subscribe(|_| ());
    let capture = Capture::new();
    batch(|| {
        price.set(1);
        price.complete();
    });
    price.set(2);
    tax.dispose();
    capture.check(
        "
        wave 0 2
          compute map tax
          compute map total
          fanout price
          fanout tax
          fanout total
        wave 0 0
        wave 0 0
        ",
    );
}

#[test]
fn a_switch() {
    let which = Cell::new(0).with_name("which");
    let inners = [0, 1].map(|i| Cell::new(i).with_name(format!("inner {i}")));
    let shown = which
        .switch_map({
            let inners = inners.clone();
            move |i: &usize| inners[*i].clone()
        })
        .with_name("shown");
    let capture = Capture::new();
    which.set(1);
    inners[0].set(5);
    inners[1].set(6);
    let hot = hot_traced_cells();
    let chooser = hot.iter().find(|cell| cell.operator == "switch_map" && cell.name.is_none());
    let place = chooser.expect("it is listed").display_name();
    capture.check(&format!(
        "
        wave 0 2
          compute switch_map {place}
          compute switch_map shown
          fanout which
          fanout {place}
          fanout shown
        wave 0 0
          fanout inner 0
        wave 0 1
          compute switch_map shown
          fanout inner 1
          fanout shown
        ",
    ));
    drop(shown);
}

/// Construction has no spans, whether a wave has been or not.
#[test]
fn construction_and_first_calls_have_none() {
    let capture = Capture::new();
    let make = || {
        let a = Cell::new(0);
        let b = (&a).map(|v| v + 1).materialize();
        let switched = a.switch_map(|v| Cell::new(*v));
        let merged = a.merge_map(|v| Cell::new(*v));
        let read = Cell::computed({
            let b = b.clone();
            move || b.get()
        });
        drop((switched.watch(|_| ()), merged.watch(|_| ()), read.watch(|_| ())));
    };
    make();
    assert_eq!(capture.take(), [""; 0]);
    Cell::new(0).set(1);
    capture.take();
    make();
    assert_eq!(capture.take(), [""; 0]);
    let trigger = Cell::new(0).with_name("trigger");
    let _guard = trigger.watch_changes(move |_| make());
    trigger.set(1);
    capture.check(
        "
        wave 0 0
          fanout trigger
        ",
    );
}

/// `width` is how many cells were computed: a field that is recorded when the wave is over.
#[test]
fn the_width_of_a_wave() {
    let a = Cell::new(0);
    let cells: Vec<_> = (0..100).map(|_| (&a).map(|v| v % 2).deduped().materialize()).collect();
    let joined: Vec<_> = cells.chunks(2).map(|pair| pair[0].join(&pair[1])).collect();
    let capture = Capture::new();
    a.set(2);
    a.set(3);
    let spans = capture.spans();
    let widths: Vec<_> = spans.roots.iter().map(|root| spans.all[root].field("width")).collect();
    assert_eq!(widths, ["100", "150"]);
    let below = |name| spans.roots.iter().map(|&root| spans.below(root, name)).collect::<Vec<_>>();
    assert_eq!((below("hyphae.compute"), below("hyphae.fanout")), (vec![100, 150], vec![1, 151]));
    drop(joined);
}
