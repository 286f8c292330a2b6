//! One cell of every kind of operator, driven in a loop for a sampling profiler: `capture_operators [SECONDS]`.
//!
//! Values are costly to clone and to compare, and each closure works, so that samples fall on every operator. It knows
//! no profiler; `capture.py` looks at the stacks.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hyphae::{
    Cell, Pipeline, Source, SubscriptionGuard, combine, effect, join_vec, merge_vec, selector,
    zip_vec,
};

/// About a quarter of a microsecond.
#[inline(never)]
fn work(seed: f64) -> f64 {
    (0..64).fold(seed, |sum, step| black_box(sum * 0.5 + f64::from(step)))
}

/// Takes a value that must not be optimized away.
fn touch(value: f64) {
    let _ = black_box(value);
}

/// A number that is costly to clone and to compare.
#[derive(Debug)]
struct Load(f64);

impl Clone for Load {
    fn clone(&self) -> Self {
        touch(work(self.0));
        Self(self.0)
    }
}

impl PartialEq for Load {
    fn eq(&self, other: &Self) -> bool {
        touch(work(other.0));
        self.0 == other.0
    }
}

/// Two inputs that change by turns or together, and what is kept alive.
struct Rig {
    left: Cell<Load, hyphae::CellMutable>,
    right: Cell<Load, hyphae::CellMutable>,
    pulse: Source<u32>,
    kept: Vec<SubscriptionGuard>,
}

impl Rig {
    fn keep<T: 'static, M: 'static>(&mut self, cell: &Cell<T, M>) {
        self.kept.push(cell.watch(|value| {
            black_box(value);
        }));
    }

    /// Operators that are stages of one chain.
    fn add_stages(&mut self) {
        let left = self.left.clone();
        self.keep(&(&left).map(|v| work(v.0)).materialize());
        self.keep(
            &(&left)
                .map(|v| work(v.0 + 1.0) as i64)
                .filter(|v| work(*v as f64) > 0.0)
                .materialize(),
        );
        self.keep(&(&left).scan(0.0, |sum, v| work(sum + v.0)).materialize());
        self.keep(&(&left).tap(|v| touch(work(v.0))).materialize());
        self.keep(&(&left).deduped().materialize());
        self.keep(&(&left).pairwise().materialize());
        self.keep(&left.window(3).materialize());
        self.keep(&(&left).take_while(|v| work(v.0) >= 0.0).materialize());
        let tried = (&left).map(|v| if v.0 < 50.0 { Ok(v.0) } else { Err(v.0) }).materialize();
        self.keep(&(&tried).map_ok(|v| work(*v)).materialize());
        self.keep(&(&tried).catch_error(|v: &f64| work(*v)).materialize());
        self.keep(&self.pulse.clone().map(|v| work(f64::from(*v))).materialize());
    }

    /// Closures with equal bodies, whose types have equal names.
    fn add_twins(&mut self) {
        let left = self.left.clone();
        self.keep(&(&left).map(|v| work(v.0)).materialize());
        self.keep(&(&left).map(|v| work(v.0)).materialize());
    }

    /// Operators with more than one input.
    fn add_kernels(&mut self) {
        let (left, right) = (self.left.clone(), self.right.clone());
        self.keep(&left.join(&right));
        self.keep(&join_vec([left.clone(), right.clone()]));
        self.keep(&combine((&left, &right), |(a, b)| work(a.0 + b.0)));
        self.keep(&left.zip(&right));
        self.keep(&zip_vec([left.clone(), right.clone()]));
        self.keep(&left.merge(&right));
        self.keep(&merge_vec([left.clone(), right.clone()]));
        self.keep(&left.sample(&right).materialize());
        self.keep(&(&left).with_latest_from(&right).materialize());
        self.keep(&left.concat(&right));
        self.keep(&left.take_until(&Cell::new(())));
    }

    /// Operators that choose their inputs as they go.
    fn add_dynamic(&mut self) {
        let (left, right) = (self.left.clone(), self.right.clone());
        let sides = [left.clone(), right.clone()];
        self.keep(&left.switch_map(move |v| sides[work(v.0) as usize % 2].clone()));
        self.keep(&left.merge_map(|v| {
            let made = Cell::new(work(v.0));
            made.complete();
            made
        }));
        let (a, b) = (left.clone(), right.clone());
        self.keep(&Cell::computed(move || work(a.with(|v| v.0) + b.with(|v| v.0))));
        let (a, b) = (left.clone(), right);
        self.kept.push(effect(move || touch(work(a.with(|v| v.0) - b.with(|v| v.0)))));
        let chosen = selector(&(&left).map(|v| v.0 as i64 % 8).materialize());
        (0..8).for_each(|key| self.keep(&chosen.is(key)));
    }
}

fn main() {
    let seconds = std::env::args().nth(1).map_or(1.0, |text| text.parse().expect("SECONDS"));
    let (left, right) = (Cell::new(Load(0.0)), Cell::new(Load(0.0)));
    let mut rig = Rig { left, right, pulse: Source::new(), kept: Vec::new() };
    rig.add_stages();
    rig.add_twins();
    rig.add_kernels();
    rig.add_dynamic();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    for step in (0u32..).take_while(|_| Instant::now() < end) {
        rig.left.set(Load(f64::from(step % 100)));
        rig.right.set(Load(f64::from(step % 90)));
        rig.pulse.emit(step);
    }
}
