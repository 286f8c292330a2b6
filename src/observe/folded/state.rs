//! The sums: a tree of stacks, and what each thread has entered.
//!
//! A node of the tree is a stack, by its parent node and the label on top; its number is its place in the table,
//! parents first. It does not know what labels are made of. Invariant: a thread's `mark` is the time up to which its
//! time has been given to stacks. A span costs ten look-ups in tables that are small or hot, and no allocation once its
//! stack is known.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Weak};

use indexmap::IndexMap;

use super::label::Parts;

thread_local! {
    /// Its address is the thread's key; that it lives says that the thread does.
    static THREAD: Arc<()> = Arc::new(());
}

/// Calls `f` with what stands for the current thread; not while the thread's own variables are being dropped.
pub(super) fn on_thread(f: impl FnOnce(&Arc<()>)) {
    let _ = THREAD.try_with(f);
}

/// The node below all.
const ROOT: usize = usize::MAX;

#[derive(Default)]
pub(super) struct State {
    /// Spans that are open, by number.
    spans: HashMap<u64, Span, Mix>,
    /// By the address of the thread's key, which is not given out again while an entry holds it.
    threads: HashMap<usize, Thread, Mix>,
    tree: Tree,
}

struct Span {
    label: usize,
    /// Times that it is entered now, on all threads.
    entered: usize,
}

struct Thread {
    alive: Weak<()>,
    mark: u64,
    /// The innermost one is last.
    entered: Vec<Entered>,
}

struct Entered {
    span: u64,
    node: usize,
    times: usize,
}

#[derive(Default)]
struct Tree {
    /// Labels by what they are made of; two may be equal.
    labels: IndexMap<Box<str>, Box<str>, Mix>,
    nodes: IndexMap<(usize, usize), Sums, Mix>,
}

#[derive(Default, Clone, Copy)]
pub(super) struct Sums {
    pub(super) self_ns: u64,
    pub(super) count: u64,
}

impl State {
    pub(super) fn open(&mut self, span: u64, parts: &Parts) {
        let label = self.tree.label(parts);
        self.spans.insert(span, Span { label, entered: 0 });
    }

    pub(super) fn close(&mut self, span: u64) {
        self.spans.remove(&span);
    }

    /// The clock is read last, so that the span does not pay for it.
    pub(super) fn enter(&mut self, span: u64, thread: &Arc<()>, clock: &dyn Fn() -> u64) {
        let Some(opened) = self.spans.get_mut(&span) else { return };
        let key = Arc::as_ptr(thread).addr();
        if !self.threads.contains_key(&key) {
            self.threads.retain(|_, thread| thread.is_alive());
            self.threads.insert(key, Thread::new(Arc::downgrade(thread)));
        }
        let Some(thread) = self.threads.get_mut(&key) else { return };
        opened.entered += 1;
        if opened.entered > 1
            && let Some(again) = thread.entered.iter_mut().find(|entered| entered.span == span)
        {
            again.times += 1;
            return;
        }
        let parent = thread.entered.last().map_or(ROOT, |entered| entered.node);
        let node = self.tree.node(parent, opened.label);
        thread.give(&mut self.tree, clock());
        self.tree.nodes[node].count += 1;
        thread.entered.push(Entered { span, node, times: 1 });
    }

    pub(super) fn exit(&mut self, span: u64, thread: &Arc<()>, now: u64) {
        let Some(thread) = self.threads.get_mut(&Arc::as_ptr(thread).addr()) else { return };
        let Some(at) = thread.entered.iter().rposition(|entered| entered.span == span) else {
            return;
        };
        if let Some(opened) = self.spans.get_mut(&span) {
            opened.entered -= 1;
        }
        thread.entered[at].times -= 1;
        if thread.entered[at].times == 0 {
            thread.give(&mut self.tree, now);
            thread.entered.remove(at);
        }
    }

    /// Gives the time up to `now` to what is entered. What a thread that is no more has left entered is forgotten.
    fn catch_up(&mut self, now: u64) {
        self.threads.retain(|_, thread| thread.is_alive());
        for thread in self.threads.values_mut() {
            thread.give(&mut self.tree, now);
        }
    }

    /// Calls `f` with the path of each stack and its sums, up to `now`: in no order that means anything, and more than
    /// once for a path whose labels were made in different ways.
    pub(super) fn each(&mut self, now: u64, mut f: impl FnMut(&str, Sums)) {
        self.catch_up(now);
        let mut paths: Vec<String> = Vec::with_capacity(self.tree.nodes.len());
        for (&(parent, label), &sums) in &self.tree.nodes {
            let label = &self.tree.labels[label];
            let path = match paths.get(parent) {
                Some(parent) => format!("{parent};{label}"),
                None => label.to_string(),
            };
            if sums.count > 0 || sums.self_ns > 0 {
                f(&path, sums);
            }
            paths.push(path);
        }
    }

    pub(super) fn total_ns(&mut self, now: u64) -> u64 {
        self.catch_up(now);
        self.tree.nodes.values().map(|sums| sums.self_ns).sum()
    }

    /// Starts from zero. The tree stays: stacks are entered on it.
    pub(super) fn reset(&mut self, now: u64) {
        self.catch_up(now);
        self.tree.nodes.values_mut().for_each(|sums| *sums = Sums::default());
    }
}

impl Thread {
    fn new(alive: Weak<()>) -> Self {
        Self { alive, mark: 0, entered: Vec::new() }
    }

    fn is_alive(&self) -> bool {
        self.alive.strong_count() > 0
    }

    /// Gives the time since the mark to the innermost stack, if there is one. A time before the mark is none: a clock
    /// was read while another thread took the sums.
    fn give(&mut self, tree: &mut Tree, now: u64) {
        if let Some(innermost) = self.entered.last() {
            tree.nodes[innermost.node].self_ns += now.saturating_sub(self.mark);
        }
        self.mark = self.mark.max(now);
    }
}

impl Tree {
    fn label(&mut self, parts: &Parts) -> usize {
        match self.labels.get_index_of(parts.key()) {
            Some(label) => label,
            None => self.labels.insert_full(parts.key().into(), parts.label()).0,
        }
    }

    fn node(&mut self, parent: usize, label: usize) -> usize {
        let entry = self.nodes.entry((parent, label));
        let node = entry.index();
        entry.or_default();
        node
    }
}

type Mix = BuildHasherDefault<MixHasher>;

/// A short hash for numbers and labels of the program's own: a multiplication for each eight bytes.
#[derive(Default)]
struct MixHasher(u64);

impl Hasher for MixHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|&word| self.write_u64(u64::from_le_bytes(word)));
        self.write_u64(rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    }

    /// The end of a text.
    fn write_u8(&mut self, _: u8) {}

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}
