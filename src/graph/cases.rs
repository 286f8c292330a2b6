//! Tests of the graph as a whole in cases chosen by hand: scale, reuse of memory, refusals, holds.

use super::EdgeKind::{Order, Passive, Trigger};
use super::*;

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

/// Creates, links, and removes nodes at random, with at most 200 of them at once.
fn churn(graph: &mut Graph<u32>, numbers: &mut Numbers, steps: u32) {
    let mut live: Vec<_> = graph.iter().map(|row| row.0).collect();
    for step in 0..steps {
        if live.len() >= 200 {
            let id = live.swap_remove(numbers.below(200));
            graph.remove(graph.rank_of(id).unwrap());
        }
        live.push(graph.insert(step));
        for kind in [Trigger, Trigger, Passive, Order] {
            let (a, b) = (numbers.below(live.len()), numbers.below(live.len()));
            let rank = |id| graph.rank_of(id).unwrap();
            let _ = graph.link(rank(live[a]), rank(live[b]), kind, |_, _| ());
        }
        if graph.needs_compaction() {
            graph.compact(|_, _| ());
        }
    }
}

#[test]
fn memory_is_used_again() {
    let (mut graph, mut numbers) = (Graph::new(), Numbers(7));
    churn(&mut graph, &mut numbers, 10_000);
    graph.check();
    let held = graph.bytes();
    churn(&mut graph, &mut numbers, 30_000);
    graph.check();
    assert!(graph.bytes() <= held + held / 4, "{} of {held}", graph.bytes());
}

#[test]
fn an_edge_that_comes_and_goes_allocates_nothing() {
    let mut graph = Graph::new();
    for node in 0..100u32 {
        graph.insert(node);
    }
    let mut held = 0;
    for round in 0..50 {
        for dst in 1..100 {
            let kind = [Trigger, Passive, Order][dst as usize % 3];
            assert_eq!(graph.link(0, dst, kind, |_, _| ()), Ok(true));
        }
        for dst in 1..100 {
            assert!(graph.pop_in(dst).is_some());
        }
        assert!(round == 0 || graph.bytes() == held);
        held = graph.bytes();
    }
    graph.check();
}

#[test]
fn a_chain_built_in_order_is_never_reordered() {
    const LEN: u32 = 100_000;
    let mut graph = Graph::new();
    for node in 0..LEN {
        let (_, rank) = graph.insert_ranked(node);
        if let Some(before) = rank.checked_sub(1) {
            assert_eq!(graph.link(before, rank, Trigger, |_, _| ()), Ok(true));
        }
    }
    assert_eq!(graph.moves(), 0);
    assert_eq!(graph.height(LEN - 1), LEN - 1);
    assert!(graph.reaches(0, LEN - 1));
    graph.mark_dirty(0);
    let (mut lane, mut count) = (None, 0);
    let mut next = graph.next_dirty(&mut lane);
    while let Some((rank, node)) = next {
        assert_eq!((rank, node), (count, count));
        next = graph.mark_and_next(rank, &mut lane);
        count += 1;
    }
    assert_eq!(count, LEN);
    let error = graph.link(LEN - 1, 0, Order, |_, _| ()).unwrap_err();
    assert_eq!(error.path.len(), LEN as usize + 1);
    graph.check();
    (0..LEN).for_each(|rank| graph.remove(rank));
    graph.shrink_to_fit();
    graph.check();
    assert!(graph.bytes() < 2_000_000, "only the id table is left");
}

#[test]
fn a_chain_built_backwards_ends_in_order() {
    let mut graph = Graph::new();
    let ids: Vec<_> = (0..500u32).map(|node| graph.insert(node)).collect();
    for pair in ids.windows(2) {
        let rank = |id| graph.rank_of(id).unwrap();
        let (src, dst) = (rank(pair[1]), rank(pair[0]));
        assert_eq!(graph.link(src, dst, Trigger, |_, _| ()), Ok(true));
    }
    graph.check();
    assert!(graph.iter().map(|row| row.2).eq((0..500).rev()));
}

#[test]
fn a_fan_is_marked_and_drained_in_order() {
    let mut graph = Graph::new();
    for node in 0..5000u32 {
        graph.insert(node);
    }
    for dst in (1..5000).rev() {
        assert_eq!(graph.link(0, dst, Trigger, |_, _| ()), Ok(true));
    }
    graph.mark_dirty(0);
    let mut lane = None;
    for expected in 0..5000 {
        assert_eq!(graph.next_dirty(&mut lane), Some((expected, expected)));
        graph.mark_dependents_outside(expected);
    }
    assert_eq!(graph.next_dirty(&mut lane), None);
    assert_eq!(graph.dependents(0), 4999);
    graph.remove(0);
    assert_eq!(graph.edge_count(), 0);
    graph.check();
}

#[test]
fn a_refused_edge_changes_nothing() {
    let mut graph = Graph::new();
    let ids: Vec<_> = (0..3u32).map(|node| graph.insert(node)).collect();
    for (src, dst) in [(0, 1), (1, 2)] {
        assert_eq!(graph.link(src, dst, Passive, |_, _| ()), Ok(true));
    }
    let refused = graph.link(2, 0, Order, |_, _| panic!("nothing moves"));
    let path = vec![ids[2], ids[1], ids[0], ids[2]];
    assert_eq!(refused, Err(CycleFound { path }));
    let refused = graph.link(1, 1, Trigger, |_, _| panic!("nothing moves"));
    let path = vec![ids[1], ids[1]];
    assert_eq!(refused, Err(CycleFound { path }));
    assert_eq!((graph.edge_count(), graph.moves()), (2, 0));
    graph.check();
}

#[test]
fn ranks_are_given_out_again_when_the_hold_is_lifted() {
    let mut graph = Graph::new();
    graph.insert(0u32);
    graph.hold_ranks(true);
    let (_, rank) = graph.insert_ranked(1);
    graph.remove(rank);
    graph.mark_dirty(rank);
    assert!(!graph.has_dirty(), "a vacant rank cannot be dirty");
    assert_eq!(graph.insert_ranked(2).1, rank + 1);
    graph.remove(rank + 1);
    graph.hold_ranks(false);
    assert_eq!((graph.ranks(), graph.insert_ranked(3).1), (1, rank));
    graph.check();
}

#[test]
fn a_node_without_dependents_goes_to_the_end() {
    let mut graph = Graph::new();
    let ids: Vec<_> = (0..100u32).map(|node| graph.insert(node)).collect();
    // Each reads the one after it, the last first: no edge is against an order that others rely on.
    for pair in ids.windows(2).rev() {
        let rank = |id| graph.rank_of(id).unwrap();
        let (src, dst) = (rank(pair[1]), rank(pair[0]));
        assert_eq!(graph.link(src, dst, Trigger, |_, _| ()), Ok(true));
    }
    assert_eq!(graph.moves(), 99);
    graph.check();
    assert!(graph.needs_compaction() || graph.ranks() == 199);
    graph.compact(|_, _| ());
    assert!(graph.iter().map(|row| row.2).eq((0..100).rev()));
    graph.check();
}

#[test]
fn an_order_edge_gives_way() {
    let mut graph = Graph::new();
    let ids: Vec<_> = (0..3u32).map(|node| graph.insert(node)).collect();
    assert_eq!(graph.link(0, 1, Order, |_, _| ()), Ok(true));
    assert_eq!(graph.link(1, 2, Trigger, |_, _| ()), Ok(true));
    let refused = graph.link(2, 0, Trigger, |_, _| ()).unwrap_err();
    assert!(graph.drop_order_edges(&refused.path));
    assert_eq!(graph.link(2, 0, Trigger, |_, _| ()), Ok(true));
    graph.check();
    let refused = graph.link(rank(&graph, ids[0]), rank(&graph, ids[1]), Order, |_, _| ());
    assert!(!graph.drop_order_edges(&refused.unwrap_err().path));
}

fn rank(graph: &Graph<u32>, id: CellKey) -> Rank {
    graph.rank_of(id).unwrap()
}

#[test]
fn a_young_input_takes_a_vacant_place_below_its_reader() {
    let mut graph = Graph::new();
    let ids: Vec<_> = (0..103u32).map(|node| graph.insert(node)).collect();
    for src in 2..102 {
        assert_eq!(graph.link(src, src + 1, Trigger, |_, _| ()), Ok(true));
    }
    graph.remove(1);
    let young = graph.insert(1000);
    assert_eq!(graph.link(0, rank(&graph, young), Trigger, |_, _| ()), Ok(true));
    assert_eq!(graph.link(rank(&graph, young), 2, Trigger, |_, _| ()), Ok(true));
    assert_eq!((rank(&graph, young), graph.moves()), (1, 1));
    graph.check();
    // Without a vacant place the hundred below it move, once: they leave room.
    for moves in [102, 103, 104] {
        let young = graph.insert(2000);
        let reader = rank(&graph, ids[2]);
        assert_eq!(graph.link(rank(&graph, young), reader, Trigger, |_, _| ()), Ok(true));
        assert_eq!(graph.moves(), moves);
        graph.check();
    }
}

#[test]
fn a_reader_of_many_inputs_leaves_room_for_more() {
    let mut graph = Graph::new();
    let reader = graph.insert(0u32);
    for input in 1..10_000u32 {
        let young = graph.insert(input);
        let (src, dst) = (rank(&graph, young), rank(&graph, reader));
        assert_eq!(graph.link(src, dst, Trigger, |_, _| ()), Ok(true));
    }
    graph.check();
    assert!(graph.moves() < 2 * 10_000, "{}", graph.moves());
}
