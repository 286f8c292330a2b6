//! What a switch does to the order of the cells below it: nothing, once it has been where it goes.

use hyphae::{Cell, CellImmutable, Pipeline, arena, join_vec};

use crate::support::{Count, owning};

const DESCENDANTS: usize = 10_000;
const SWITCHES: u64 = 10_000;

type Derived = Cell<u64, CellImmutable>;

/// Cells below `top`: half of them a chain, half a fan of its end, behind a cut-off at 1000.
struct Below {
    end: Cell<Vec<u64>, CellImmutable>,
    runs: Count,
}

impl Below {
    fn new(top: &Derived) -> Self {
        let runs = Count::new();
        let mut chain = top.map(|v| v / 1000).deduped().materialize();
        for _ in 0..DESCENDANTS / 2 {
            chain = chain.map(runs.of(|v: &u64| v + 1)).materialize();
        }
        let fan = (0..DESCENDANTS / 2).map(|_| (&chain).map(runs.of(|v: &u64| *v)).materialize());
        let end = join_vec(fan);
        Self { end, runs }
    }

    /// Checks that all follow the value of the top, having run `times` times.
    #[track_caller]
    fn check(&self, top: u64, times: usize) {
        assert_eq!(self.runs.get(), times * DESCENDANTS);
        let (count, expected) = (DESCENDANTS / 2, top / 1000 + DESCENDANTS as u64 / 2);
        self.end.with(|all| assert!(all.len() == count && all.iter().all(|v| *v == expected)));
    }
}

/// The moves of ranks that `f` causes.
fn moves(f: impl FnOnce()) -> u64 {
    let before = arena::totals().moves;
    f();
    arena::totals().moves - before
}

/// Switches `sel` often, which gives `kinds` values of `top` in turn: no rank moves after the first switches, and nothing
/// runs below the cut-off.
fn check_switches(sel: &Cell<u64>, top: &Derived, below: &Below, kinds: u64) {
    (0..=2).for_each(|v| sel.set(v));
    let moved = moves(|| {
        for v in 0..SWITCHES {
            sel.set(v % 900);
            assert_eq!(top.get() % 1000, v % 900 % kinds);
        }
    });
    assert_eq!(moved, 0);
    below.check(0, 1);
}

/// The closure makes a cell over a source each time: it takes the place of the one torn down.
#[test]
fn fresh_inner_cells_move_nothing() {
    let (sel, source) = (Cell::new(0), Cell::new(0));
    let top = sel.switch_map(owning!([source] move |v| {
        let v = v % 900;
        (&source).map(move |s| s + v).materialize()
    }));
    let below = Below::new(&top);
    check_switches(&sel, &top, &below, 900);
    assert_eq!(moves(|| source.set(5000)), 0);
    below.check(5000, 2);
}

/// The same with several cells in a row, a computed one among them, and a source made on the spot.
#[test]
fn fresh_inner_chains_move_nothing() {
    let (sel, source) = (Cell::new(0), Cell::new(0));
    let top = sel.switch_map(owning!([source] move |v| {
        let own = Cell::new(v % 900);
        let sum = source.join(&own).map(|(s, v)| s + v).materialize();
        Cell::computed(move || sum.get())
    }));
    let below = Below::new(&top);
    check_switches(&sel, &top, &below, 900);
    source.set(5000);
    below.check(5000, 2);
}

/// Two cells made before the switch.
#[test]
fn two_cached_inner_cells_move_nothing() {
    let (sel, source) = (Cell::new(0), Cell::new(0));
    let cached = [0, 1].map(|n| (&source).map(move |s| s + n).materialize());
    let top = sel.switch_map(owning!([cached] move |v| cached[(*v % 900 % 2) as usize].clone()));
    let below = Below::new(&top);
    check_switches(&sel, &top, &below, 2);
    source.set(5000);
    below.check(5000, 2);
}

/// Two cells made after the switch and after all that hangs below it: their first visit moves ranks, later ones none.
#[test]
fn two_younger_inner_cells_move_once() {
    let (sel, source) = (Cell::new(0), Cell::new(0));
    let slot = crate::support::Slot::<[Derived; 2]>::new();
    let top = sel.switch_map(owning!([source, slot] move |v| {
        slot.get().map_or(source.clone().lock(), |cells| cells[(*v % 900 % 2) as usize].clone())
    }));
    let below = Below::new(&top);
    slot.put([0, 1].map(|n| {
        let mut last = source.clone().lock();
        for _ in 0..10 {
            last = last.map(|s| *s).materialize();
        }
        last.map(move |s| s + n).materialize()
    }));
    check_switches(&sel, &top, &below, 2);
    source.set(5000);
    below.check(5000, 2);
}

/// A cell made outside just before each switch to it: ever a younger one. It moves, and not the ten thousand below.
#[test]
fn ever_younger_inner_cells_move_few_ranks() {
    let (sel, source) = (Cell::new(0_u64), Cell::new(0));
    let slot = crate::support::Slot::<Derived>::new();
    let top = sel.switch_map(owning!([source, slot] move |_| {
        slot.get().unwrap_or_else(|| source.clone().lock())
    }));
    let below = Below::new(&top);
    let next = |n: u64| {
        slot.put((&source).map(move |s| s + n % 900).materialize());
        sel.set(n);
        assert_eq!(top.get(), n % 900);
    };
    const TIMES: u64 = 500;
    (0..10).for_each(next);
    let moved = moves(|| (0..TIMES).for_each(next));
    assert!(moved <= 16 * TIMES, "{moved} moves in {TIMES} switches");
    source.set(5000);
    below.check(5000, 2);
}

/// A computed cell that reads the one or the other, older and younger ones.
#[test]
fn changing_reads_move_nothing() {
    let (sel, source) = (Cell::new(0), Cell::new(0));
    let older = (&source).map(|s| *s).materialize();
    let slot = crate::support::Slot::<Derived>::new();
    let top = Cell::computed(owning!([sel, older, slot] move || {
        if sel.get() % 900 % 2 == 0 { older.get() } else { slot.get().map_or(1, |cell| cell.get()) }
    }));
    let below = Below::new(&top);
    slot.put((&source).map(|s| s + 1).materialize());
    check_switches(&sel, &top, &below, 2);
    source.set(5000);
    below.check(5000, 2);
}

/// A switch in a switch, of which each switches in turn.
#[test]
fn nested_switches_move_nothing() {
    let (sel, source) = (Cell::new(0), Cell::new(0));
    let half = (&sel).map(|v| v / 2).deduped().materialize();
    let top = half.switch_map(owning!([sel, source] move |_| {
        sel.switch_map(owning!([source] move |v| {
            let v = v % 900;
            (&source).map(move |s| s + v).materialize()
        }))
    }));
    let below = Below::new(&top);
    check_switches(&sel, &top, &below, 900);
    source.set(5000);
    below.check(5000, 2);
}

/// Ten thousand switches side by side over one selector: each goes its own way, none disturbs the other.
#[test]
fn many_switches_of_one_selector_move_nothing() {
    let (sel, cached) = (Cell::new(0_usize), [Cell::new(1_u64), Cell::new(2)]);
    let runs = Count::new();
    let tops: Vec<_> = (0..DESCENDANTS)
        .map(|i| {
            sel.switch_map(owning!([cached, runs] move |v| {
                runs.up();
                cached[(v + i) % 2].clone()
            }))
        })
        .collect();
    let sum = join_vec(tops.iter().cloned()).map(|all| all.iter().sum::<u64>()).materialize();
    (1..3).for_each(|v| sel.set(v));
    let edges = arena::totals().edges;
    assert_eq!(moves(|| (3..20).for_each(|v| sel.set(v))), 0);
    assert_eq!((runs.get(), arena::totals().edges), (20 * DESCENDANTS, edges));
    assert_eq!((tops[0].get(), tops[1].get(), sum.get()), (2, 1, 15_000));
    cached[0].set(10);
    assert_eq!(sum.get(), 60_000);
}
