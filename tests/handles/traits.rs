//! The traits for programs that are generic over handles: each method is the handle's own.

use hyphae::{
    Cell, CellImmutable, DepNode, Gettable, Mutable, Pipeline, Signal, Source, SubscriptionGuard,
    Watchable,
};

use crate::support::{Heard, Log};

fn follow<T: Clone + 'static>(node: &impl Watchable<T>, log: &Log<Heard<T>>) -> SubscriptionGuard {
    let log = log.clone();
    node.subscribe(move |signal: &Signal<'_, T>| log.push(Heard::of(signal)))
}

fn double(cell: &(impl Mutable<i32> + Gettable<i32>)) {
    cell.set(cell.get() * 2);
}

#[test]
fn generic_code_reads_writes_and_subscribes() {
    let cell = Cell::new(4);
    let locked: Cell<i32, CellImmutable> = (&cell).map(|v| v + 1).materialize();
    let log = Log::new();
    let guard = follow(&cell, &log);
    let _locked = follow(&locked, &log);
    double(&cell);
    Watchable::unsubscribe(&cell, guard.id().expect("an id"));
    Mutable::complete(&cell);
    let value = Heard::Value;
    log.check(&[value(4), value(5), value(8), value(9), Heard::Complete]);
    assert!(Watchable::is_complete(&cell) && Watchable::is_complete(&locked));
    assert!(!Watchable::is_error(&cell) && Watchable::error(&locked).is_none());
}

#[test]
fn generic_code_sees_failures() {
    let cell = Cell::new(1);
    Mutable::fail(&cell, "boom");
    assert!(Watchable::is_error(&cell) && !Watchable::is_complete(&cell));
    assert_eq!(Watchable::error(&cell).map(|e| e.to_string()).as_deref(), Some("boom"));
    let heard = Log::new();
    let _guard = Watchable::subscribe_result(&cell, {
        let heard = heard.clone();
        move |signal| {
            heard.push(signal.is_error());
            Err("logged".to_owned())
        }
    });
    heard.check(&[false, true]);
}

#[test]
fn a_node_tells_its_place_in_the_graph() {
    let a = Cell::new(1).with_name("a");
    let b = Cell::new(2);
    let sum = a.join(&b).map(|(a, b)| a + b).materialize().with_name("sum");
    assert!(!a.has_dependencies());
    assert_eq!((a.dependency_count(), DepNode::subscriber_count(&a)), (0, 1));
    assert_eq!((sum.dependency_count(), sum.deps().len()), (1, 1));
    assert!(sum.has_dependencies());
    assert_eq!(DepNode::name(&sum).as_deref(), Some("sum"));
    assert_eq!((sum.display_name(), DepNode::id(&sum)), ("sum".to_owned(), sum.id()));
    assert_eq!(DepNode::cell_id(&a), a.cell_id());
    let short = b.id().simple().to_string();
    assert_eq!(b.display_name(), format!("Cell({})", &short[..8]));
    let unnamed = format!("{:?}", b.cell_id());
    assert_eq!(sum.dependency_tree(), format!("sum\n  a::join\n    a\n    {unnamed}\n"));
    sum.print_dependency_tree();
    let _guard = a.watch(|_| ());
    assert_eq!(DepNode::subscriber_count(&a), 2);
}

#[test]
fn a_source_is_a_node_too() {
    let source = Source::<i32>::new().with_name("keys");
    let count = source.clone().scan(0, |n, _| n + 1).materialize();
    assert_eq!(DepNode::name(&source).as_deref(), Some("keys"));
    assert_eq!(DepNode::id(&source), Source::id(&source));
    assert_eq!((DepNode::subscriber_count(&source), source.dependency_count()), (1, 0));
    assert_eq!(count.deps(), [DepNode::cell_id(&source)]);
    assert!(count.dependency_tree().ends_with("  keys\n"));
}

/// A dead node's questions have empty answers.
#[test]
fn a_node_without_dependencies_has_an_empty_list() {
    let cell = Cell::new(1);
    let below = (&cell).map(|v| *v).materialize();
    assert_eq!(below.dependency_count(), 1);
    cell.complete();
    assert_eq!((below.dependency_count(), below.deps()), (0, Vec::new()));
}
