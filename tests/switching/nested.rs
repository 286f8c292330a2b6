//! Switches inside switches, computed cells among them, against a plain evaluation of the same expression.

use hyphae::{Cell, CellImmutable, Pipeline, arena, batch};

use crate::random::Random;
use crate::support::{Log, owning};

type Derived = Cell<u64, CellImmutable>;

/// Four sources, of which the first three select.
#[derive(Clone)]
struct Inputs([Cell<u64>; 4]);

impl Inputs {
    fn new() -> Self {
        Self([0; 4].map(Cell::new))
    }

    /// What every program below computes.
    fn expected(&self) -> u64 {
        let [a, b, c, d] = self.0.each_ref().map(Cell::get);
        let leaf = if c % 2 == 0 { d } else { d * 1000 };
        match b % 3 {
            0 => leaf + a,
            1 => leaf * 2,
            _ => b,
        }
    }
}

/// Fresh cells on every level.
fn fresh(inputs: &Inputs) -> Derived {
    let [a, b, c, d] = inputs.0.clone();
    b.switch_map(move |v| match v % 3 {
        0 => leaf_of(&c, &d).join(&a).map(|(leaf, a)| leaf + a).materialize(),
        1 => leaf_of(&c, &d).map(|leaf| leaf * 2).materialize(),
        _ => Cell::new(*v).lock(),
    })
}

fn leaf_of(c: &Cell<u64>, d: &Cell<u64>) -> Derived {
    c.switch_map(owning!([d] move |c| {
        let factor = if c % 2 == 0 { 1 } else { 1000 };
        (&d).map(move |d| d * factor).materialize()
    }))
}

/// Cells that are made once and reached from inside; the innermost is shared by the branches.
fn cached(inputs: &Inputs) -> Derived {
    let [a, b, c, d] = inputs.0.clone();
    let (one, thousand) = ((&d).map(|d| *d).materialize(), (&d).map(|d| d * 1000).materialize());
    let leaf = c.switch_map(move |c| if c % 2 == 0 { one.clone() } else { thousand.clone() });
    let branches = [
        leaf.join(&a).map(|(leaf, a)| leaf + a).materialize(),
        leaf.map(|leaf| leaf * 2).materialize(),
        b.clone().lock(),
    ];
    b.switch_map(move |v| branches[(v % 3) as usize].clone())
}

/// Reads only.
fn reads(inputs: &Inputs) -> Derived {
    let [a, b, c, d] = inputs.0.clone();
    let leaf = Cell::computed(
        owning!([d] move || if c.get() % 2 == 0 { d.get() } else { d.get() * 1000 }),
    );
    Cell::computed(move || match b.get() % 3 {
        0 => leaf.get() + a.get(),
        1 => leaf.get() * 2,
        _ => b.get(),
    })
}

/// A computed cell made in a switch, which reads a switch that is made in a computed cell.
fn mixed(inputs: &Inputs) -> Derived {
    let [a, b, c, d] = inputs.0.clone();
    b.switch_map(move |v| {
        let v = *v;
        let leaf = leaf_of(&c, &d);
        Cell::computed(owning!([a] move || match v % 3 {
            0 => leaf.get() + a.get(),
            1 => leaf.get() * 2,
            _ => v,
        }))
    })
}

/// Random writes, some of them in batches with reads in between: the value is right after each wave, each wave gives one
/// delivery at most, and a change of value always gives one.
fn check(make: fn(&Inputs) -> Derived, seed: u64) {
    let (inputs, mut random) = (Inputs::new(), Random(seed));
    let out = make(&inputs);
    let log = Log::new();
    let guard = log.on(&out);
    log.take();
    for _ in 0..2_000 {
        let before = inputs.expected();
        let writes = 1 + random.below(3);
        batch(|| {
            for _ in 0..writes {
                inputs.0[random.below(4) as usize].set(random.below(50));
                if random.below(4) == 0 {
                    assert_eq!(out.get(), inputs.expected());
                }
            }
        });
        let (now, heard) = (inputs.expected(), log.take());
        assert_eq!(out.get(), now);
        assert!(heard.len() <= 1 && heard.iter().all(|v| *v == now), "{heard:?}, not {now}");
        assert!(now == before || heard.len() == 1, "{before} became {now}");
    }
    drop((out, guard, inputs));
    arena::assert_no_live();
}

#[test]
fn nested_switches_with_fresh_cells() {
    (0..4).for_each(|seed| check(fresh, seed));
}

#[test]
fn nested_switches_with_cached_cells() {
    (0..4).for_each(|seed| check(cached, seed));
}

#[test]
fn computed_cells_that_branch() {
    (0..4).for_each(|seed| check(reads, seed));
}

#[test]
fn switches_and_computed_cells_in_each_other() {
    (0..4).for_each(|seed| check(mixed, seed));
}

/// All four over the same sources at once: they agree, also with one another inside a wave.
#[test]
fn all_programs_agree_in_every_wave() {
    let (inputs, mut random) = (Inputs::new(), Random(99));
    let programs = [fresh, cached, reads, mixed].map(|make| make(&inputs));
    let all = hyphae::join_vec(programs.iter().cloned());
    let torn = all.map(|values| values.iter().any(|v| *v != values[0])).materialize();
    let log = Log::new();
    let _guard = log.on(&torn);
    for _ in 0..2_000 {
        inputs.0[random.below(4) as usize].set(random.below(50));
        assert_eq!(programs[0].get(), inputs.expected());
    }
    assert!(log.take().into_iter().all(|torn| !torn));
}

/// Depth: each level makes the next, and all of them are replaced from the top, from the middle and from the bottom.
#[test]
fn many_levels_are_replaced_from_any_of_them() {
    const LEVELS: usize = 40;
    fn level(selectors: &[Cell<u64>]) -> Derived {
        match selectors {
            [last] => last.map(|v| *v).materialize(),
            [first, rest @ ..] => {
                let rest = rest.to_vec();
                first.switch_map(move |v| {
                    let v = *v;
                    level(&rest).map(move |deep| deep.wrapping_mul(3) + v).materialize()
                })
            }
            [] => unreachable!("there is a last one"),
        }
    }
    let selectors: Vec<_> = (0..LEVELS).map(|_| Cell::new(0)).collect();
    let expected = || {
        let fold = |deep: u64, v: &Cell<u64>| deep.wrapping_mul(3) + v.get();
        selectors.iter().rev().skip(1).fold(selectors[LEVELS - 1].get(), fold)
    };
    let out = level(&selectors);
    let cells = arena::totals().cells;
    for (round, at) in [0, 20, LEVELS - 2, LEVELS - 1, 1, 0, 39, 10].into_iter().enumerate() {
        selectors[at].set(u64::from(at > 30) * round as u64 + u64::from(at < 15));
        assert_eq!(out.get(), expected(), "after level {at}");
        assert_eq!(arena::totals().cells, cells);
    }
    batch(|| selectors.iter().for_each(|cell| cell.set(0)));
    assert_eq!((out.get(), arena::totals().cells), (0, cells));
    drop((out, selectors));
    arena::assert_no_live();
}
