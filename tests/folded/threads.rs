//! Each thread has a stack of its own. The clock is shared and moves only when a test says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use hyphae::{Folded, FoldedLayer};
use tracing::{Dispatch, dispatcher, span::EnteredSpan};
use tracing_subscriber::prelude::*;

use super::{fanout, lines, wave};

#[derive(Clone, Default)]
struct Now(Arc<AtomicU64>);

impl Now {
    fn pass(&self, ns: u64) {
        self.0.fetch_add(ns, Ordering::SeqCst);
    }
}

fn record() -> (Now, Dispatch, Folded) {
    let now = Now::default();
    let clock = now.clone();
    let (layer, folded) = FoldedLayer::with_clock(move || clock.0.load(Ordering::SeqCst));
    (now, Dispatch::new(tracing_subscriber::registry().with(layer)), folded)
}

type Job = Box<dyn FnOnce(&mut Vec<EnteredSpan>) + Send>;

/// A thread that does one thing after the other, each on demand.
struct Worker {
    jobs: Sender<Job>,
    done: Receiver<()>,
    thread: thread::JoinHandle<()>,
}

impl Worker {
    fn new(dispatch: &Dispatch) -> Self {
        let (jobs, todo) = channel::<Job>();
        let (finished, done) = channel();
        let dispatch = dispatch.clone();
        let work = move || {
            let mut entered = Vec::new();
            for job in todo {
                job(&mut entered);
                finished.send(()).expect("the test waits");
            }
            std::mem::forget(entered); // what is still entered is never left
        };
        let thread = thread::spawn(move || dispatcher::with_default(&dispatch, work));
        Self { jobs, done, thread }
    }

    fn run(&self, job: impl FnOnce(&mut Vec<EnteredSpan>) + Send + 'static) {
        self.jobs.send(Box::new(job)).expect("the worker lives");
        self.done.recv().expect("the job ends");
    }

    fn enter(&self, name: &'static str) {
        self.run(move |entered| entered.push(fanout(name).entered()));
    }

    fn leave(&self) {
        self.run(|entered| drop(entered.pop().expect("a span is entered")));
    }

    fn end(self) {
        drop(self.jobs);
        self.thread.join().expect("the worker ends");
    }
}

#[test]
fn stacks_of_threads_are_apart() {
    let (now, dispatch, folded) = record();
    let (left, right) = (Worker::new(&dispatch), Worker::new(&dispatch));
    left.enter("a");
    now.pass(1);
    right.enter("b");
    now.pass(10); // both
    left.enter("inner");
    now.pass(100); // inner and b
    right.leave();
    now.pass(1_000); // inner
    left.leave();
    left.leave();
    now.pass(10_000);
    left.end();
    right.end();
    let expected = [
        "hyphae.fanout [a] 11",
        "hyphae.fanout [a];hyphae.fanout [inner] 1100",
        "hyphae.fanout [b] 110",
    ];
    assert_eq!(lines(&folded), expected);
    assert_eq!(folded.total_ns(), 1_221, "times of threads are added");
}

#[test]
fn one_span_on_two_threads_is_on_both_stacks() {
    let (now, dispatch, folded) = record();
    let span = dispatcher::with_default(&dispatch, || wave(1));
    let workers = [Worker::new(&dispatch), Worker::new(&dispatch)];
    workers[0].enter("a");
    for worker in &workers {
        let span = span.clone();
        worker.run(move |entered| entered.push(span.entered()));
        now.pass(10);
    }
    workers[0].leave();
    now.pass(100);
    workers[1].leave();
    now.pass(1_000); // a
    workers[0].leave();
    workers.into_iter().for_each(Worker::end);
    let expected =
        ["hyphae.fanout [a] 1100", "hyphae.fanout [a];hyphae.wave 20", "hyphae.wave 110"];
    assert_eq!(lines(&folded), expected);
}

#[test]
fn a_thread_that_ends_inside_a_span_stops_counting() {
    let (now, dispatch, folded) = record();
    let worker = Worker::new(&dispatch);
    worker.enter("open");
    now.pass(10);
    assert_eq!(lines(&folded), ["hyphae.fanout [open] 10"]);
    worker.end();
    now.pass(1_000);
    assert_eq!(lines(&folded), ["hyphae.fanout [open] 10"]);
    // Later threads start with an empty stack.
    let worker = Worker::new(&dispatch);
    worker.enter("next");
    now.pass(5);
    worker.leave();
    worker.end();
    assert_eq!(lines(&folded), ["hyphae.fanout [next] 5", "hyphae.fanout [open] 10"]);
}

fn is_shared<T: Clone + Send + Sync + 'static>(_: &T) {}

#[test]
fn results_are_taken_while_threads_record() {
    let (now, dispatch, folded) = record();
    let rounds = 200;
    let work = |name: &'static str| {
        let (dispatch, now) = (dispatch.clone(), now.clone());
        thread::spawn(move || {
            let work = || fanout(name).in_scope(|| now.pass(1));
            dispatcher::with_default(&dispatch, || (0..rounds).for_each(|_| work()));
        })
    };
    let threads = ["a", "b"].map(work);
    is_shared(&folded);
    let mut before = 0;
    while !threads.iter().all(thread::JoinHandle::is_finished) {
        let total = folded.total_ns();
        assert!(before <= total, "sums never shrink");
        before = total;
    }
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    assert_eq!(folded.stacks().map(|s| s.count).collect::<Vec<_>>(), [rounds, rounds]);
    // Each thread's span also sees the time that the other one makes pass.
    let (total, wall) = (folded.total_ns(), 2 * rounds);
    assert!((wall..=2 * wall).contains(&total), "{total}");
}
