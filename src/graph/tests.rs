//! The graph against a naive model, under random operations.
//!
//! The model knows a node by its payload, which is the number of the node in the order of creation.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proptest::prelude::*;
use slotmap::Key;

use super::EdgeKind::{Order, Passive, Trigger};
use super::drain::ByHand;
use super::*;

/// One operation. Nodes are chosen by a number modulo how many there are.
#[derive(Clone, Debug)]
enum Op {
    /// Creates a node, after as many vacant ranks.
    Create(u8),
    /// Links two nodes.
    Link(u8, u8, EdgeKind),
    /// Creates a node in the lowest vacant rank above another node.
    CreateAbove(u8),
    /// Links without a test for duplicates, if there is none.
    LinkNew(u8, u8, EdgeKind),
    /// Removes an edge.
    Unlink(u8),
    /// Removes an edge and links its destination to another source.
    Relink(u8, u8, EdgeKind),
    /// Removes the last in-edge of a node.
    PopIn(u8),
    /// Removes a node.
    Remove(u8),
    /// Makes a node dirty.
    Mark(u8),
    /// Makes the dependents of a node dirty from outside.
    MarkOutside(u8),
    /// Makes a node clean.
    Take(u8),
    /// Notes a delivery.
    Deliver(u8),
    /// Takes a delivery.
    NextDeliver,
    /// Takes some dirty nodes, and marks the dependents of those chosen by the mask.
    Drain(u8, u8),
    /// Drops the lane and opens another.
    NewLane,
    /// Squeezes out the vacant ranks.
    Compact,
    /// Holds ranks, or lifts the hold.
    Hold(bool),
    /// Gives back memory.
    Shrink,
}

fn kind() -> impl Strategy<Value = EdgeKind> {
    prop_oneof![3 => Just(Trigger), 1 => Just(Passive), 1 => Just(Order)]
}

fn op() -> impl Strategy<Value = Op> {
    let gap = prop_oneof![3 => Just(0), 1 => 1..90u8];
    prop_oneof![
        6 => gap.prop_map(Op::Create),
        3 => any::<u8>().prop_map(Op::CreateAbove),
        12 => (any::<u8>(), any::<u8>(), kind()).prop_map(|(a, b, k)| Op::Link(a, b, k)),
        2 => (any::<u8>(), any::<u8>(), kind()).prop_map(|(a, b, k)| Op::LinkNew(a, b, k)),
        2 => any::<u8>().prop_map(Op::Unlink),
        3 => (any::<u8>(), any::<u8>(), kind()).prop_map(|(a, b, k)| Op::Relink(a, b, k)),
        1 => any::<u8>().prop_map(Op::PopIn),
        2 => any::<u8>().prop_map(Op::Remove),
        4 => any::<u8>().prop_map(Op::Mark),
        1 => any::<u8>().prop_map(Op::MarkOutside),
        1 => any::<u8>().prop_map(Op::Take),
        2 => any::<u8>().prop_map(Op::Deliver),
        1 => Just(Op::NextDeliver),
        6 => (0..6u8, any::<u8>()).prop_map(|(n, mask)| Op::Drain(n, mask)),
        1 => Just(Op::NewLane),
        1 => Just(Op::Compact),
        1 => any::<bool>().prop_map(Op::Hold),
        1 => Just(Op::Shrink),
    ]
}

/// An edge of the model: source, destination, and kind.
type Edge = (u32, u32, u8);

/// The edges of the model, and what follows from them.
#[derive(Default)]
struct Edges(BTreeSet<Edge>);

impl Edges {
    /// All that is downstream of `from`, itself included.
    fn downstream(&self, from: u32) -> BTreeSet<u32> {
        let (mut met, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(node) = open.pop() {
            let next = self.0.range((node, 0, 0)..(node + 1, 0, 0));
            open.extend(next.map(|edge| edge.1).filter(|&node| met.insert(node)));
        }
        met
    }

    /// The height of a node.
    fn height(&self, node: u32, known: &mut BTreeMap<u32, u32>) -> u32 {
        if let Some(&height) = known.get(&node) {
            return height;
        }
        let dependency = |edge: &&Edge| edge.1 == node && edge.2 != Order as u8;
        let inputs: Vec<_> = self.0.iter().filter(dependency).map(|e| e.0).collect();
        let above = inputs.iter().map(|&input| self.height(input, known) + 1);
        let height = above.max().unwrap_or(0);
        known.insert(node, height);
        height
    }
}

/// The graph and its model side by side.
struct Bench {
    graph: Graph<u32>,
    lane: Option<ByHand<u32>>,
    /// The nodes and their ids.
    live: BTreeMap<u32, CellKey>,
    /// What `moved` and `insert_ranked` told about ranks.
    ranks: BTreeMap<u32, Rank>,
    edges: Edges,
    dirty: BTreeSet<u32>,
    deliver: BTreeSet<u32>,
    created: u32,
    /// How many nodes each slot of the id table has had, and how many it may have.
    tenants: BTreeMap<u32, u32>,
    limit: u32,
    /// Ids of nodes that are gone.
    gone: HashSet<CellKey>,
    held: bool,
    /// Ranks given out while ranks were held.
    given: BTreeSet<Rank>,
}

impl Bench {
    fn new(epoch_limit: u32) -> Self {
        let mut graph = Graph::new();
        graph.set_epoch_limit(epoch_limit);
        Self {
            lane: None,
            graph,
            live: BTreeMap::new(),
            ranks: BTreeMap::new(),
            edges: Edges::default(),
            dirty: BTreeSet::new(),
            deliver: BTreeSet::new(),
            created: 0,
            tenants: BTreeMap::new(),
            limit: epoch_limit,
            gone: HashSet::new(),
            held: false,
            given: BTreeSet::new(),
        }
    }

    /// A node, if there is one.
    fn pick(&self, number: u8) -> Option<u32> {
        let count = self.live.len().max(1);
        self.live.keys().nth(number as usize % count).copied()
    }

    /// An edge, if there is one.
    fn pick_edge(&self, number: u8) -> Option<Edge> {
        let count = self.edges.0.len().max(1);
        self.edges.0.iter().nth(number as usize % count).copied()
    }

    fn run(&mut self, op: &Op) -> Option<()> {
        match *op {
            Op::Create(gap) => self.create(gap),
            Op::CreateAbove(a) => self.create_above(self.pick(a)?),
            Op::Link(a, b, kind) => self.link(self.pick(a)?, self.pick(b)?, kind),
            Op::LinkNew(a, b, kind) => self.link_new(self.pick(a)?, self.pick(b)?, kind),
            Op::Unlink(edge) => self.unlink(self.pick_edge(edge)?),
            Op::Relink(edge, a, kind) => {
                let edge = self.pick_edge(edge)?;
                self.unlink(edge);
                self.link(self.pick(a)?, edge.1, kind);
            }
            Op::PopIn(a) => self.pop_in(self.pick(a)?),
            Op::Remove(a) => self.remove(self.pick(a)?),
            Op::Mark(a) => self.mark(self.pick(a)?),
            Op::MarkOutside(a) => self.mark_outside(self.pick(a)?),
            Op::Take(a) => {
                let node = self.pick(a)?;
                let rank = self.ranks[&node];
                assert_eq!(self.graph.take_dirty(rank), self.dirty.remove(&node));
            }
            Op::Deliver(a) => {
                let node = self.pick(a)?;
                self.graph.mark_deliver(self.ranks[&node], node);
                self.deliver.insert(node);
            }
            Op::NextDeliver => {
                let expected = self.lowest(&self.deliver);
                assert_eq!(self.graph.next_deliver(), expected);
                expected.map(|(_, node)| self.deliver.remove(&node));
            }
            Op::Drain(count, mask) => self.drain(count, mask),
            Op::NewLane => self.lane = None,
            Op::Compact => self.compact(),
            Op::Hold(held) => self.hold(held),
            Op::Shrink => self.graph.shrink_to_fit(),
        }
        Some(())
    }

    fn insert(&mut self) -> u32 {
        let (id, rank) = self.graph.insert_ranked(self.created);
        assert!(!self.held || self.given.insert(rank), "a rank came back");
        self.note_new(id, rank)
    }

    fn create_above(&mut self, node: u32) {
        let floor = self.ranks[&node];
        let taken: BTreeSet<_> = self.ranks.values().copied().collect();
        let ranks = self.graph.ranks() as Rank;
        let lowest = (floor + 1..ranks).find(|rank| !taken.contains(rank)).unwrap_or(ranks);
        let (id, rank) = self.graph.insert_from(floor + 1, self.created);
        assert_eq!(rank, lowest);
        self.given.insert(rank);
        self.note_new(id, rank);
    }

    fn note_new(&mut self, id: CellKey, rank: Rank) -> u32 {
        let node = self.created;
        self.created += 1;
        assert!(!self.gone.contains(&id), "an id came back");
        let tenants = self.tenants.entry(id.data().as_ffi() as u32).or_insert(0);
        *tenants += 1;
        assert!(*tenants <= self.limit, "a slot is used too often");
        self.live.insert(node, id);
        self.ranks.insert(node, rank);
        node
    }

    fn create(&mut self, gap: u8) {
        let padding: Vec<_> = (0..gap).map(|_| self.insert()).collect();
        self.insert();
        padding.into_iter().for_each(|node| self.remove(node));
    }

    fn link(&mut self, src: u32, dst: u32, kind: EdgeKind) {
        let edge = (src, dst, kind as u8);
        let (a, b) = (self.ranks[&src], self.ranks[&dst]);
        let region = self.region(src, dst);
        let before = self.graph.moves();
        let ranks = &mut self.ranks;
        let linked = self.graph.link(a, b, kind, |node, rank| {
            assert_ne!(ranks.insert(node, rank), Some(rank));
        });
        let moves = self.graph.moves() - before;
        if self.edges.0.contains(&edge) {
            assert_eq!((linked, moves), (Ok(false), 0));
        } else if self.edges.downstream(dst).contains(&src) {
            assert_eq!(moves, 0);
            self.check_cycle(&linked.unwrap_err().path, src, dst);
        } else {
            assert_eq!(linked, Ok(true));
            assert!(moves <= region, "{moves} moves in a region of {region}");
            self.edges.0.insert(edge);
        }
    }

    fn link_new(&mut self, src: u32, dst: u32, kind: EdgeKind) {
        if self.edges.0.contains(&(src, dst, kind as u8)) {
            return;
        }
        let (a, b) = (self.ranks[&src], self.ranks[&dst]);
        let ranks = &mut self.ranks;
        let moved = |node, rank| {
            ranks.insert(node, rank);
        };
        if self.graph.link_new(a, b, kind, moved).is_ok() {
            self.edges.0.insert((src, dst, kind as u8));
        }
    }

    /// How many nodes an edge from `src` to `dst` may move.
    fn region(&self, src: u32, dst: u32) -> u64 {
        let (high, low) = (self.ranks[&src], self.ranks[&dst]);
        if high < low {
            return 0;
        }
        let ahead = self.edges.downstream(dst);
        let ahead = ahead.iter().filter(|node| self.ranks[node] <= high);
        let upstream = |node: &&u32| self.edges.downstream(**node).contains(&src);
        let within = self.live.keys().filter(|node| self.ranks[node] >= low);
        (ahead.count() + within.filter(upstream).count()) as u64
    }

    fn check_cycle(&self, path: &[CellKey], src: u32, dst: u32) {
        let rank = |&id| self.graph.rank_of(id).unwrap();
        let path: Vec<_> = path.iter().map(rank).collect();
        let path: Vec<_> = path.iter().map(|&r| self.graph.payload(r).unwrap()).collect();
        assert_eq!((path[0], path[path.len() - 1]), (src, src));
        assert_eq!(path[path.len() - 2], dst);
        for pair in path[..path.len() - 1].windows(2) {
            let fed = |kind| self.edges.0.contains(&(pair[1], pair[0], kind));
            assert!((0..3).any(fed), "the path has an edge that is not there");
        }
        let unique: BTreeSet<_> = path.iter().collect();
        assert_eq!(unique.len(), path.len() - 1);
    }

    fn unlink(&mut self, edge: Edge) {
        let kind = [Trigger, Passive, Order][edge.2 as usize];
        let (a, b) = (self.ranks[&edge.0], self.ranks[&edge.1]);
        assert!(self.graph.unlink(a, b, kind));
        assert!(!self.graph.unlink(a, b, kind));
        self.edges.0.remove(&edge);
    }

    fn pop_in(&mut self, node: u32) {
        let rank = self.ranks[&node];
        let last = self.graph.ins(rank).last();
        assert_eq!(self.graph.pop_in(rank), last);
        if let Some((source, kind)) = last {
            let source = self.graph.payload(source).unwrap();
            assert!(self.edges.0.remove(&(source, node, kind as u8)));
        }
    }

    fn remove(&mut self, node: u32) {
        self.graph.remove(self.ranks[&node]);
        let id = self.live.remove(&node).unwrap();
        self.ranks.remove(&node);
        self.gone.insert(id);
        self.edges.0.retain(|edge| edge.0 != node && edge.1 != node);
        self.dirty.remove(&node);
        self.deliver.remove(&node);
    }

    fn mark(&mut self, node: u32) {
        self.graph.mark_dirty(self.ranks[&node]);
        self.dirty.insert(node);
    }

    fn mark_outside(&mut self, node: u32) {
        self.graph.mark_dependents_outside(self.ranks[&node]);
        self.mark_model(node);
    }

    /// Makes the dependents of a node dirty in the model.
    fn mark_model(&mut self, node: u32) {
        let triggered = |edge: &&Edge| edge.0 == node && edge.2 == Trigger as u8;
        let triggered = self.edges.0.iter().filter(triggered);
        self.dirty.extend(triggered.map(|edge| edge.1));
    }

    fn lowest(&self, set: &BTreeSet<u32>) -> Option<(Rank, u32)> {
        set.iter().map(|node| (self.ranks[node], *node)).min()
    }

    fn drain(&mut self, count: u8, mask: u8) {
        let (mut last, mut taken) = (None, None);
        for step in 0..count {
            let expected = self.lowest(&self.dirty);
            let next = taken.take().unwrap_or_else(|| self.graph.next_dirty(&mut self.lane));
            assert_eq!(next, expected);
            let Some((rank, node)) = expected else { return };
            assert!(last < Some(rank), "in order, and each once");
            last = Some(rank);
            self.dirty.remove(&node);
            if mask >> (step % 8) & 1 == 0 {
                continue;
            }
            self.mark_model(node);
            if step + 1 < count {
                taken = Some(self.graph.mark_and_next(rank, &mut self.lane));
            } else {
                self.graph.mark_dependents_outside(rank);
            }
        }
    }

    fn compact(&mut self) {
        if self.held {
            return assert!(!self.graph.needs_compaction());
        }
        let order: Vec<_> = self.graph.iter().map(|row| row.0).collect();
        let ranks = &mut self.ranks;
        self.graph.compact(|node, rank| {
            assert!(ranks.insert(node, rank) > Some(rank));
        });
        assert_eq!(self.graph.ranks(), self.graph.len());
        assert!(self.graph.iter().map(|row| row.0).eq(order));
    }

    fn hold(&mut self, held: bool) {
        self.graph.hold_ranks(held);
        self.held = held;
        self.given = (0..self.graph.ranks() as Rank).collect();
    }

    /// Compares all that can be asked.
    fn compare(&mut self, number: u8) {
        self.graph.check();
        assert_eq!(self.graph.len(), self.live.len());
        assert_eq!(self.graph.edge_count(), self.edges.0.len());
        assert!(self.gone.iter().all(|&id| !self.graph.contains(id)));
        assert_eq!(self.graph.has_dirty(), !self.dirty.is_empty());
        let rows: BTreeMap<_, _> = self.graph.iter().map(|row| (row.2, row.0)).collect();
        assert_eq!(rows, self.live);
        let mut heights = BTreeMap::new();
        for (&node, &id) in &self.live {
            let rank = self.ranks[&node];
            assert_eq!(self.graph.rank_of(id), Some(rank));
            assert_eq!(self.graph.payload(rank), Some(node));
            assert_eq!(self.graph.is_dirty(rank), self.dirty.contains(&node));
            let height = self.edges.height(node, &mut heights);
            assert_eq!(self.graph.height(rank), height);
        }
        self.compare_edges();
        self.compare_reach(number);
    }

    fn compare_edges(&self) {
        let (mut outs, mut ins) = (BTreeSet::new(), BTreeSet::new());
        let name = |rank| self.graph.payload(rank).unwrap();
        for (&node, &rank) in &self.ranks {
            let named = |(other, kind)| (node, name(other), kind as u8);
            outs.extend(self.graph.outs(rank).map(named));
            let named = |(other, kind)| (name(other), node, kind as u8);
            ins.extend(self.graph.ins(rank).map(named));
            assert_eq!(self.graph.in_count(rank), self.graph.ins(rank).count());
            let strong = self.graph.outs(rank).filter(|out| out.1 != Order).count();
            assert_eq!(self.graph.dependents(rank), strong);
            assert_eq!(self.graph.has_dependents(rank), strong > 0);
        }
        assert_eq!(outs, self.edges.0);
        assert_eq!(ins, self.edges.0);
    }

    /// Compares reachability and the cone for one node.
    fn compare_reach(&mut self, number: u8) {
        let Some(target) = self.pick(number) else {
            return;
        };
        let floor = self.lowest(&self.dirty).map_or(NONE, |(rank, _)| rank);
        let (mut cone, mut expected) = (vec![NONE], BTreeSet::new());
        self.graph.cone(self.ranks[&target], |_| false, &mut cone);
        let dependencies = self.dependencies();
        for &node in self.live.keys() {
            let reached = dependencies.downstream(node).contains(&target);
            let from = self.ranks[&node];
            if reached && from >= floor {
                expected.insert(from);
            }
        }
        let dirty = expected.iter().any(|&rank| self.graph.is_dirty(rank));
        assert_eq!(self.graph.is_behind(self.ranks[&target], |_| false), dirty);
        self.compare_routes(target);
        assert!(cone.into_iter().eq(expected));
    }

    /// The edges but those of an order.
    fn dependencies(&self) -> Edges {
        let feeds = |edge: &Edge| edge.2 != Order as u8;
        Edges(self.edges.0.iter().copied().filter(feeds).collect())
    }

    /// Compares ways and ancestors for one node.
    fn compare_routes(&mut self, target: u32) {
        let high = self.ranks[&target];
        let mut ancestors = Vec::new();
        self.graph.ancestors(high, &mut ancestors);
        assert!(ancestors.contains(&high));
        let dependencies = self.dependencies();
        for &node in self.live.keys() {
            let low = self.ranks[&node];
            let depends = dependencies.downstream(node).contains(&target);
            let way = self.graph.route(high, low);
            assert_eq!(!way.is_empty(), depends);
            assert_eq!(self.graph.reaches(low, high), depends);
            if let (Some(first), Some(last)) = (way.first(), way.last()) {
                assert_eq!((*first, *last), (high, low));
            }
            let feeds = |pair: &[Rank]| self.graph.ins(pair[0]).any(|edge| edge.0 == pair[1]);
            assert!(way.windows(2).all(feeds));
            if ancestors.contains(&low) {
                assert!(!way.is_empty());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn agrees_with_the_model(
        limit in prop_oneof![1..9u32, Just(u32::MAX)],
        ops in prop::collection::vec(op(), 1..100),
    ) {
        let mut bench = Bench::new(limit);
        for (number, op) in (0..).zip(&ops) {
            bench.run(op);
            bench.compare(number as u8);
        }
    }
}
