//! Computed cells that read each other as plans say which are edited at random, rings among them, against plain evaluation
//! (rules P0, P7, P14): a member of a ring, and whoever reads one, is a fault exactly while there is a ring.

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::{Cell, CellImmutable, Error, batch};

type Sum = Result<i64, ()>;
type Plan = (i64, Vec<usize>);
/// Edits made at once: a node's new constant and whom it reads, in order.
type Step = Vec<(usize, i64, Vec<usize>)>;

struct Net {
    plans: Vec<Cell<Plan>>,
    nodes: Rc<RefCell<Vec<Cell<Sum, CellImmutable>>>>,
}

impl Net {
    fn new(size: usize) -> Self {
        let plans: Vec<_> = (0..size).map(|_| Cell::new((0, vec![]))).collect();
        let nodes: Rc<RefCell<Vec<Cell<Sum, CellImmutable>>>> = Rc::default();
        for plan in &plans {
            let plan: Cell<Plan> = plan.clone();
            let all: Rc<RefCell<Vec<Cell<Sum, CellImmutable>>>> = nodes.clone();
            let node = Cell::computed(move || {
                let (constant, reads): Plan = plan.get();
                reads.iter().try_fold(constant, |sum: i64, &node: &usize| -> Sum {
                    let cell: Cell<Sum, CellImmutable> = all.borrow()[node].clone();
                    match cell.try_get() {
                        Ok(value) => Ok(sum + value?),
                        Err(Error::Cycle { .. }) => Err(()),
                        Err(other) => panic!("{other}"),
                    }
                })
            });
            nodes.borrow_mut().push(node);
        }
        Self { plans, nodes }
    }

    fn apply(&self, step: &Step) {
        batch(|| {
            step.iter().for_each(|(node, constant, reads)| {
                self.plans[*node].set((*constant, reads.clone()));
            });
        });
    }

    fn values(&self) -> Vec<Sum> {
        let nodes = self.nodes.borrow().clone();
        nodes.iter().map(|node| node.get()).collect()
    }

    fn plainly(&self, node: usize, open: &mut Vec<usize>) -> Sum {
        if open.contains(&node) {
            return Err(());
        }
        open.push(node);
        let (constant, reads) = self.plans[node].get();
        let sum = reads.iter().try_fold(constant, |sum, &read| Ok(sum + self.plainly(read, open)?));
        open.pop();
        sum
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        let nodes = self.nodes.take();
        drop(nodes);
    }
}

fn wrong(size: usize, steps: &[Step]) -> Option<String> {
    let net = Net::new(size);
    for (at, step) in steps.iter().enumerate() {
        net.apply(step);
        let (found, expected) = (
            net.values(),
            (0..size).map(|node| net.plainly(node, &mut vec![])).collect::<Vec<_>>(),
        );
        if found != expected {
            return Some(format!("after step {at}: found {found:?}, expected {expected:?}"));
        }
    }
    None
}

/// Steps of a few edits each, in the numbers of a seed.
fn steps(seed: u64, size: u64) -> Vec<Step> {
    let mut state = seed;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut edit = || {
        let (node, constant) = (random(size) as usize, random(3) as i64);
        (node, constant, (0..random(3)).map(|_| random(size) as usize).collect())
    };
    (0..12).map(|step| (0..=(seed + step) % 3).map(|_| edit()).collect()).collect()
}

#[test]
fn random_plans_are_evaluated_right() {
    for size in [3, 6, 12] {
        for seed in 0..400 {
            assert_eq!(wrong(size, &steps(seed, size as u64)), None, "seed {seed}");
        }
    }
}

/// Node 0 reads 1. In one wave 1 comes to read 0 (a ring) and 4 to read 0: 4 keeps what 0 was before.
#[test]
fn a_reader_beside_the_ring() {
    let steps = [vec![(0, 2, vec![1])], vec![(2, 2, vec![]), (1, 0, vec![2, 0]), (4, 2, vec![0])]];
    assert_eq!(wrong(6, &steps), None);
}

/// 1 -> 2 -> (5, 4), 4 -> 0. In one wave 0 comes to read 1, which stops to read 2, and 5 changes: no ring is left, but 2
/// keeps what 4 was before.
#[test]
fn a_ring_that_never_was() {
    let steps = [
        vec![(2, 1, vec![5, 4])],
        vec![(4, 0, vec![0]), (1, 1, vec![2])],
        vec![(0, 1, vec![1]), (5, 2, vec![]), (1, 1, vec![])],
    ];
    assert_eq!(wrong(6, &steps), None);
}

/// A reader beside the ring is told of a cycle by the way; it must hear when that is gone.
#[test]
fn a_fault_that_stays() {
    let steps = [
        vec![(0, 1, vec![4, 1])],
        vec![(4, 2, vec![5])],
        vec![(5, 1, vec![0]), (1, 1, vec![0]), (4, 1, vec![])],
        vec![(1, 0, vec![])],
    ];
    assert_eq!(wrong(6, &steps), None);
}
