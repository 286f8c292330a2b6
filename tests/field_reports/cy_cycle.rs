//! CY-3 and CY-5 where an edge would close a circle: refused with its path, survived, cured by an edit (rules P6, P7).

use hyphae::{Cell, CellImmutable, CellInfo, Error, Pipeline, WeakCell, arena};

use crate::support::{Count, Log, Slot, caught, live, owning, run_on_small_stack};

type Derived = Cell<i32, CellImmutable>;
/// A cell that closures reach without holding it: a strong handle in a circle would be a leak of the test's own.
type Later = Slot<WeakCell<i32, CellImmutable>>;

/// The cell in `slot`.
fn of(slot: &Later) -> Derived {
    slot.full().upgrade().expect("the test holds it")
}

/// Checks that `message` tells name, id and place of each cell.
#[track_caller]
fn check_names(message: &str, cells: &[&Derived]) {
    for cell in cells {
        let info = arena::info(cell.cell_id()).expect("it lives");
        let name = info.name.clone().expect("it has a name");
        let place = format!("{}:{}", info.place.file(), info.place.line());
        assert!(message.contains(&format!("{name:?}")), "{name} in {message}");
        assert!(message.contains(&place), "{place} in {message}");
        assert!(message.contains(&format!("{:?}", cell.cell_id())), "{message}");
    }
}

/// The names along a path.
fn names(path: &[CellInfo]) -> Vec<String> {
    path.iter().map(|cell| cell.name.clone().unwrap_or_default()).collect()
}

/// `A` is 1, or `B` if `t`; `B` is one more than `A`.
struct Circle {
    t: Cell<bool>,
    a: Derived,
    b: Derived,
}

impl Circle {
    /// With `A` made by `make` from the toggle and the place in which `B` will be.
    fn new(make: impl FnOnce(&Cell<bool>, &Later) -> Derived) -> Self {
        let (t, slot) = (Cell::new(false), Later::new());
        let a = make(&t, &slot).with_name("A");
        let b = (&a).map(|a| a + 1).materialize().with_name("B");
        slot.put(b.downgrade());
        Self { t, a, b }
    }

    fn by_switch() -> Self {
        Self::new(|t, slot| {
            let slot = slot.clone();
            t.switch_map(move |t| if *t { of(&slot) } else { Cell::new(1).lock() })
        })
    }

    fn by_reads() -> Self {
        Self::new(|t, slot| {
            Cell::computed(owning!([t, slot] move || if t.get() { of(&slot).get() } else { 1 }))
        })
    }

    fn values(&self) -> (i32, i32) {
        (self.a.get(), self.b.get())
    }
}

const BOTH: [fn() -> Circle; 2] = [Circle::by_switch, Circle::by_reads];

/// Under a toggle A depended on B and B on A: B stayed stale in silence. Here with a callback for the way back.
#[test]
fn cy_3_a_circle_through_a_callback_is_an_error_that_names_it() {
    let (t, p) = (Cell::new(false), Cell::new(0_u64).with_name("way back"));
    let a = t.switch_map(owning!([p] move |t| if *t { p.clone() } else { Cell::new(1) }));
    let a = a.with_name("A");
    let b = (&a).map(|a| a + 1).materialize().with_name("B");
    let last = Log::new();
    let _log = last.on(&b);
    let _back = b.watch(owning!([p] move |b| p.set(*b)));
    assert_eq!((a.get(), b.get(), p.get()), (1, 2, 2));
    let error = t.try_set(true).expect_err("it does not converge");
    assert!(matches!(error, Error::NoConvergence { .. }));
    let message = error.to_string();
    assert!(message.contains("\"B\"") && message.contains("\"way back\""), "{message}");
    assert_eq!(last.take().last(), Some(&b.get()), "not stale in silence");
    assert_eq!(b.get(), a.get() + 1);
    t.set(false);
    assert_eq!((a.get(), b.get(), p.get()), (1, 2, 2));
}

/// The same as a real circle, made by a switch and by a read: the error of the write that made it, again and again.
#[test]
fn cy_3_a_circle_of_dependencies_is_refused_with_its_path() {
    for circle in BOTH.map(|make| make()) {
        let log = Log::new();
        let _guard = log.on(&circle.b);
        for _ in 0..3 {
            let message = caught(|| circle.t.set(true)).expect("the circle is refused");
            check_names(&message, &[&circle.a, &circle.b]);
            // The refusal counts as the closure's panic: the last good values, and they fit.
            assert_eq!(circle.values(), (1, 2));
            circle.t.set(false);
            assert_eq!(circle.values(), (1, 2));
        }
        assert!(log.take().iter().all(|v| *v == 2));
    }
}

/// In a batch, and in a callback: the error goes to the outermost caller, all else of the wave is done.
#[test]
fn cy_3_a_circle_made_in_a_batch_or_a_callback() {
    for circle in BOTH.map(|make| make()) {
        let (other, trigger) = (Cell::new(0), Cell::new(0));
        let sum = circle.b.join(&other);
        let log = Log::new();
        let _guard = log.on(&sum);
        let message = caught(|| {
            hyphae::batch(|| {
                circle.t.set(true);
                other.set(1);
            });
        });
        check_names(&message.expect("refused"), &[&circle.a, &circle.b]);
        circle.t.set(false);
        let _acts = trigger.subscribe_changes({
            let (t, other) = (circle.t.clone(), other.clone());
            move |_| {
                t.set(true);
                other.set(2);
            }
        });
        let message = caught(|| trigger.set(1));
        check_names(&message.expect("refused"), &[&circle.a, &circle.b]);
        assert_eq!(log.take().last(), Some(&(2, 2)));
    }
}

/// No trace is left: a thousand circles made and cured.
#[test]
fn cy_3_refused_circles_leave_nothing_behind() {
    for make in BOTH {
        let circle = make();
        let again = || {
            assert!(caught(|| circle.t.set(true)).is_some());
            circle.t.set(false);
        };
        again();
        let before = live();
        (0..1000).for_each(|_| again());
        assert_eq!(live(), before);
        drop(circle);
        arena::assert_no_live();
    }
}

/// Two cells that each read the other, if asked to: cured from either side, without the other being touched.
#[test]
fn cy_3_a_circle_of_reads_is_cured_from_either_side() {
    for cure in 0..2 {
        let toggles = [Cell::new(false), Cell::new(false)];
        let slots = [Later::new(), Later::new()];
        let cells: Vec<Derived> = (0..2)
            .map(|i| {
                let (t, other) = (toggles[i].clone(), slots[1 - i].clone());
                let own = 10 * (i as i32 + 1);
                let cell = Cell::computed(move || if t.get() { of(&other).get() + 1 } else { own });
                cell.with_name(["A", "B"][i])
            })
            .collect();
        slots.iter().zip(&cells).for_each(|(slot, cell)| slot.put(cell.downgrade()));
        toggles[0].set(true);
        assert_eq!((cells[0].get(), cells[1].get()), (21, 20));
        let message = caught(|| toggles[1].set(true)).expect("a circle");
        check_names(&message, &[&cells[0], &cells[1]]);
        toggles[cure].set(false);
        let expected = if cure == 0 { (10, 11) } else { (21, 20) };
        assert_eq!((cells[0].get(), cells[1].get()), expected);
        assert!(caught(|| toggles[cure].set(true)).is_some());
        assert_eq!(caught(|| toggles[1 - cure].set(false)), None);
        let expected = if cure == 0 { (21, 20) } else { (10, 11) };
        assert_eq!((cells[0].get(), cells[1].get()), expected);
    }
}

/// Who reads whom flips in one wave: one may ask the other before that has let go of it, but there is no circle.
#[test]
fn cy_3_cells_that_swap_who_reads_whom() {
    let (t, n) = (Cell::new(false), Cell::new(1));
    let slots = [Later::new(), Later::new()];
    let cells: Vec<Derived> = (0..2)
        .map(|i| {
            let other = slots[1 - i].clone();
            let cell = Cell::computed(owning!([t, n] move || {
                if t.get() == (i == 0) { of(&other).get() + 1 } else { n.get() }
            }));
            slots[i].put(cell.downgrade());
            cell
        })
        .collect();
    // At first the one made second reads the one made first.
    assert_eq!((cells[0].get(), cells[1].get()), (1, 2));
    for _ in 0..10 {
        t.set(true);
        assert_eq!((cells[0].get(), cells[1].get()), (n.get() + 1, n.get()));
        n.set(n.get() + 1);
        assert_eq!((cells[0].get(), cells[1].get()), (n.get() + 1, n.get()));
        t.set(false);
        assert_eq!((cells[0].get(), cells[1].get()), (n.get(), n.get() + 1));
    }
}

/// A closure that asks for the error gets it as a value, with the path, and the wave is a good one.
#[test]
fn cy_5_the_error_is_a_value_for_who_asks_for_it() {
    let (paths, texts) = (Log::new(), Log::new());
    let circle = Circle::new(|t, slot| {
        Cell::computed(owning!([t, slot, paths, texts] move || {
            if !t.get() {
                return 1;
            }
            match of(&slot).try_get() {
                Ok(value) => value,
                Err(Error::Cycle { path }) => {
                    texts.push(Error::Cycle { path: path.clone() }.to_string());
                    paths.push(path);
                    -1
                }
                Err(other) => panic!("{other}"),
            }
        }))
    });
    assert_eq!(circle.t.try_set(true), Ok(()));
    assert_eq!(circle.values(), (-1, 0));
    let path = paths.take().pop().expect("the read was refused");
    assert_eq!(path.len(), 3, "{path:?}");
    assert_eq!(path.first(), path.last());
    assert!(["A", "B"].iter().all(|name| names(&path).contains(&(*name).to_owned())), "{path:?}");
    let text = texts.take().pop().expect("as the path");
    check_names(&text, &[&circle.a, &circle.b]);
    circle.t.set(false);
    assert_eq!(circle.values(), (1, 2));
}

/// Along the path each cell reads the next; who is not on it is not named.
#[test]
fn cy_5_the_path_goes_from_reader_to_read() {
    let (open, slot, paths) = (Cell::new(true), Later::new(), Log::new());
    let first = Cell::computed(owning!([open, slot, paths] move || {
        if open.get() {
            return 0;
        }
        match of(&slot).try_get() {
            Err(Error::Cycle { path }) => paths.push(names(&path)),
            other => panic!("{other:?}"),
        }
        1
    }));
    let first = first.with_name("c0");
    let (mut chain, mut bystanders) = (vec![first], Vec::new());
    for i in 1..5 {
        let last = chain[i - 1].clone();
        bystanders.push((&last).map(|v| *v).materialize().with_name("bystander"));
        chain.push(Cell::computed(move || last.get()).with_name(format!("c{i}")));
    }
    slot.put(chain[4].downgrade());
    open.set(false);
    let path = paths.take().pop().expect("refused");
    assert_eq!((path.len(), &path[0]), (6, &path[5]), "{path:?}");
    let number = |name: &String| name[1..].parse::<usize>().expect("c and a number");
    for pair in path.windows(2) {
        let (reader, read) = (number(&pair[0]), number(&pair[1]));
        assert_eq!(read, (reader + 4) % 5, "c{reader} reads c{read} in {path:?}");
    }
}

/// The shortest circle: a cell that reads itself; with `untracked` it is none, and gives the previous value.
#[test]
fn cy_5_a_cell_that_reads_itself() {
    let (n, slot, paths) = (Cell::new(0), Later::new(), Log::new());
    let own = Cell::computed(owning!([n, slot, paths] move || {
        let n = n.get();
        if n == 1 {
            match of(&slot).try_get() {
                Err(Error::Cycle { path }) => paths.push(names(&path)),
                other => panic!("{other:?}"),
            }
        }
        let before = if n < 2 { 0 } else { hyphae::untracked(|| of(&slot).get()) };
        before * 10 + n
    }));
    let own = own.with_name("own");
    slot.put(own.downgrade());
    n.set(1);
    assert_eq!(paths.take().pop().expect("refused"), ["own", "own"]);
    assert_eq!(own.get(), 1);
    [2, 3].into_iter().for_each(|v| n.set(v));
    assert_eq!(own.get(), 123);
}

/// A circle of `n` cells by reads, the first of which closes it if `shut`.
fn ring(n: usize, shut: &Cell<bool>, cut: &Cell<bool>, lengths: &Log<usize>) -> Vec<Derived> {
    let slot = Later::new();
    let first = Cell::computed(owning!([shut, slot, lengths] move || {
        if !shut.get() {
            return 0;
        }
        match of(&slot).try_get() {
            Ok(value) => value,
            Err(Error::Cycle { path }) => {
                lengths.push(path.len());
                -1
            }
            Err(other) => panic!("{other}"),
        }
    }));
    let mut cells = vec![first];
    for i in 1..n {
        let (last, cut) = (cells[i - 1].clone(), (i == n / 2).then(|| cut.clone()));
        cells.push(Cell::computed(move || {
            if cut.as_ref().is_some_and(Cell::get) { 1000 } else { last.get() + 1 }
        }));
    }
    slot.put(cells[n - 1].downgrade());
    cells
}

/// A circle of many cells, found and cured on a small stack. The cure is in the middle of the circle: the reader that
/// was refused runs again because of it.
#[test]
fn cy_5_a_long_circle_is_found_and_cured() {
    const N: usize = 20_000;
    run_on_small_stack(256, || {
        let (shut, cut, lengths) = (Cell::new(false), Cell::new(false), Log::new());
        let cells = ring(N, &shut, &cut, &lengths);
        let last = || cells[N - 1].get();
        assert_eq!(last(), N as i32 - 1);
        shut.set(true);
        assert!(lengths.take().iter().all(|length| *length == N + 1));
        assert_eq!((cells[0].get(), last()), (-1, N as i32 - 2));
        cut.set(true);
        let half = (N - N / 2) as i32;
        assert_eq!((last(), cells[0].get()), (999 + half, 999 + half));
        assert_eq!(cells[1].get(), 1000 + half);
        // Now it is the cell in the middle that is refused, and the first that cures it.
        assert!(caught(|| cut.set(false)).is_some());
        assert_eq!((cells[N / 2].get(), cells[0].get()), (1000, 999 + half));
        shut.set(false);
        assert_eq!((cells[0].get(), last()), (0, N as i32 - 1));
        drop((cells, shut, cut));
        arena::assert_no_live();
    });
}

/// An effect that writes what it reads is feedback, not a circle: fine if it comes to rest, an error else.
#[test]
fn cy_1_an_effect_that_writes_what_it_reads() {
    let (a, runs) = (Cell::new(0_u64).with_name("counter"), Count::new());
    let clamp = hyphae::effect(owning!([a, runs] move || {
        runs.up();
        if a.get() < 50 {
            a.set(a.get() + 1);
        }
    }));
    assert_eq!((a.get(), runs.get()), (50, 51));
    drop(clamp);
    let message = caught(|| {
        drop(hyphae::effect(owning!([a] move || a.set(a.get() + 1))));
    });
    assert!(message.is_some_and(|text| text.contains("counter")));
    assert_eq!(a.subscriber_count(), 0, "a construction that fails leaves nothing behind");
    let log = Log::new();
    let _guard = log.on(&a);
    a.set(1);
    assert_eq!(log.take().last(), Some(&1));
}
