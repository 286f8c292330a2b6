//! The arena seen from outside: ids, columns, totals on graphs counted by hand, the graph as text.

use hyphae::{Cell, CellId, Pipeline, Source, arena, batch, join_vec};

#[allow(dead_code)] // each binary uses a part of it
#[path = "field_reports/support.rs"]
mod support;

use support::caught;

/// `a` and `b` named, their join, its sum, and a subscriber on the sum.
struct Graph {
    a: Cell<i32>,
    b: Cell<i32>,
    join: CellId,
    sum: Cell<i32, hyphae::CellImmutable>,
    _guard: hyphae::SubscriptionGuard,
}

fn graph() -> Graph {
    let (a, b) = (Cell::new(1).with_name("a"), Cell::new(2).with_name("b"));
    let join = a.join(&b);
    let id = join.cell_id();
    let sum = join.map(|(a, b)| a + b).materialize().with_name("sum");
    let guard = sum.watch(|_| ());
    Graph { a, b, join: id, sum, _guard: guard }
}

#[test]
fn cells_come_inputs_first() {
    let g = graph();
    let ids = arena::cells();
    assert_eq!(ids.len(), 4);
    for &id in &ids {
        let at = |id| ids.iter().position(|one| *one == id).expect("it is listed");
        let inputs = arena::dependencies(id).expect("it lives");
        assert!(inputs.into_iter().all(|input| at(input) < at(id)));
    }
    assert!(ids.contains(&g.a.cell_id()) && arena::contains(g.join));
}

#[test]
fn the_columns_of_a_cell() {
    let g = graph();
    let sum = g.sum.cell_id();
    assert_eq!(arena::cell::<i32>(sum).map(|cell| cell.get()), Some(3));
    assert_eq!(
        (arena::name(sum).as_deref(), arena::name(g.join).as_deref()),
        (Some("sum"), Some("a::join"))
    );
    assert_eq!((arena::operator(sum), arena::operator(g.join)), (Some("map"), Some("join")));
    assert_eq!(arena::type_name(sum), Some("i32"));
    assert_eq!(arena::type_name(g.join), Some("(i32, i32)"));
    assert_eq!((arena::uuid(sum), arena::by_uuid(g.sum.id())), (Some(g.sum.id()), Some(sum)));
    assert_eq!(arena::place(sum), g.sum.place());
    let info = arena::info(sum).expect("it lives");
    assert_eq!(
        (info.id(), info.name.as_deref(), Some(info.place)),
        (Some(sum), Some("sum"), g.sum.place())
    );
}

#[test]
fn edges_heights_and_subscribers() {
    let g = graph();
    let (a, b, sum) = (g.a.cell_id(), g.b.cell_id(), g.sum.cell_id());
    let mut inputs = arena::dependencies(g.join).expect("it lives");
    inputs.sort();
    assert_eq!(inputs, [a, b]);
    assert_eq!(
        (arena::dependencies(a), arena::dependencies(sum)),
        (Some(vec![]), Some(vec![g.join]))
    );
    assert_eq!((arena::dependents(a), arena::dependents(sum)), (Some(vec![g.join]), Some(vec![])));
    assert_eq!([a, b, g.join, sum].map(arena::height), [Some(0), Some(0), Some(1), Some(2)]);
    assert_eq!([a, sum].map(arena::subscribers), [Some(0), Some(1)]);
}

/// The height is one more than the highest input, however the graph was built.
#[test]
fn the_height_is_that_of_the_longest_path() {
    let a = Cell::new(1);
    let mut leg = a.clone().lock();
    for _ in 0..5 {
        leg = leg.map(|v| v + 1).materialize();
    }
    let all = join_vec([a.clone().lock(), leg, a.clone().lock()]);
    assert_eq!(arena::height(all.cell_id()), Some(6));
    a.complete();
    assert_eq!(arena::height(all.cell_id()), Some(0));
}

#[test]
fn bytes_grow_with_value_edges_and_subscribers() {
    let bytes = |id| arena::bytes(id).expect("it lives");
    let (small, large) = (Cell::new(1_u8), Cell::new([0_u8; 1000]));
    assert!(bytes(small.cell_id()) >= 1 && bytes(large.cell_id()) >= bytes(small.cell_id()) + 990);
    let before = bytes(small.cell_id());
    let guard = small.watch(|_| ());
    let with_one = bytes(small.cell_id());
    let second = small.watch(|_| ());
    let with_two = bytes(small.cell_id());
    assert!(with_one > before);
    assert_eq!(with_two - with_one, with_one - before);
    drop((guard, second));
    assert_eq!(bytes(small.cell_id()), before);
    // A source cell of a small value stays small.
    assert!(before <= 160, "{before} bytes");
}

#[test]
fn totals_of_what_lives() {
    let g = graph();
    let totals = arena::totals();
    assert_eq!((totals.cells, totals.edges, totals.subscribers), (4, 3, 1));
    assert!(totals.capacity >= 4 && totals.table_bytes > 0);
    assert_eq!(arena::capacity(), totals.capacity);
    drop(g);
    let totals = arena::totals();
    assert_eq!((totals.cells, totals.edges, totals.subscribers), (0, 0, 0));
}

/// The counters of what happens, each counted by hand.
#[test]
fn totals_of_what_happens() {
    let g = graph();
    let counted = |f: &dyn Fn()| {
        let before = arena::totals();
        f();
        let after = arena::totals();
        [
            after.waves - before.waves,
            after.rounds - before.rounds,
            after.recomputations - before.recomputations,
            after.deliveries - before.deliveries,
            after.moves - before.moves,
            after.stale_accesses - before.stale_accesses,
        ]
    };
    assert_eq!(counted(&|| g.a.set(2)), [1, 1, 2, 1, 0, 0]);
    assert_eq!(
        counted(&|| batch(|| [&g.a, &g.b].iter().for_each(|c| c.set(3)))),
        [1, 1, 2, 1, 0, 0]
    );
    assert_eq!(counted(&|| assert_eq!(g.sum.get(), 6)), [0; 6]);
    // The first delivery of a subscription is not counted, the later ones are.
    assert_eq!(counted(&|| drop(g.sum.watch(|_| ()))), [0; 6]);
    let other = Cell::new(0);
    assert_eq!(counted(&|| other.set(1)), [1, 1, 0, 0, 0, 0]);
    let source = Source::new();
    let _count = source.clone().scan(0, |n, _: &i32| n + 1).materialize();
    assert_eq!(counted(&|| batch(|| (0..3).for_each(|v| source.emit(v)))), [1, 3, 3, 0, 0, 0]);
    let cutoff = Cell::with_cutoff(1, |a, b| a == b);
    assert_eq!(counted(&|| cutoff.set(1)), [1, 1, 1, 0, 0, 0]);
    // An end is a wave: the join learns of it and goes on with the other side.
    assert_eq!(counted(&|| g.a.complete()), [1, 1, 1, 0, 0, 0]);
    assert_eq!(counted(&|| g.b.complete()), [1, 1, 2, 1, 0, 0]);
}

#[test]
fn stale_accesses_are_counted() {
    let cell = Cell::new(1);
    let (id, weak) = (cell.cell_id(), cell.downgrade());
    let before = arena::totals().stale_accesses;
    cell.dispose();
    assert!(cell.try_get().is_err() && weak.upgrade().is_none());
    assert_eq!(arena::totals().stale_accesses - before, 2);
    drop(cell);
    assert!(arena::name(id).is_none() && arena::cell::<i32>(id).is_none());
    assert_eq!(arena::totals().stale_accesses - before, 4);
    // Asking whether it lives is no mistake.
    assert!(!arena::contains(id) && !weak.is_alive());
    assert_eq!(arena::totals().stale_accesses - before, 4);
}

#[test]
fn memory_is_given_back() {
    let keep = Cell::new(1);
    let many: Vec<_> = (0..10_000).map(Cell::new).collect();
    many.iter().for_each(|cell| drop(cell.watch(|_| ())));
    let full = arena::totals();
    assert!(full.capacity >= 10_001);
    drop(many);
    arena::shrink_to_fit();
    let shrunk = arena::totals();
    assert!(shrunk.capacity < full.capacity / 4, "{} of {}", shrunk.capacity, full.capacity);
    assert!(shrunk.table_bytes < full.table_bytes / 2);
    keep.set(2);
    let derived = (&keep).map(|v| v + 1).materialize();
    assert_eq!((keep.get(), derived.get()), (2, 3));
}

#[test]
fn guards_are_listed_with_their_places() {
    let cell = Cell::new(1).with_name("watched");
    let line = line!() + 1;
    let first = cell.watch(|_| ());
    let second = cell.subscribe_changes(|_| ());
    let leaked = Cell::new(2).watch(|_| ()).leak().expect("an id");
    let guards = arena::guards();
    assert_eq!(guards.len(), 3);
    let on_cell: Vec<u32> = guards
        .iter()
        .filter(|g| g.cell.id() == Some(cell.cell_id()))
        .map(|g| g.place.line())
        .collect();
    assert_eq!(on_cell, [line, line + 1]);
    assert!(guards[0] == guards[0].clone() && guards[0] != guards[1]);
    let text = guards[0].to_string();
    assert!(text.starts_with("subscription made at tests/arena.rs:"), "{text}");
    assert!(text.contains("\"watched\""), "{text}");
    drop((first, second));
    leaked.unsubscribe();
    assert_eq!(arena::guards(), []);
}

#[test]
fn assert_no_live_lists_cells_and_subscriptions() {
    arena::assert_no_live();
    let cell = Cell::new(1).with_name("leftover");
    let guard = cell.watch(|_| ());
    let text = caught(arena::assert_no_live).expect("a cell lives");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.len()), ("1 cells and 1 subscriptions are alive", 3));
    assert!(
        lines[1].contains("cell \"leftover\"") && lines[1].contains("tests/arena.rs:"),
        "{text}"
    );
    assert!(lines[2].contains("subscription made at tests/arena.rs:"), "{text}");
    drop((cell, guard));
    arena::assert_no_live();
}

#[test]
fn assert_no_live_shows_twenty_of_each() {
    let _cells: Vec<_> = (0..30).map(Cell::new).collect();
    let text = caught(arena::assert_no_live).expect("cells live");
    assert!(text.starts_with("30 cells and 0 subscriptions are alive"));
    assert_eq!(text.lines().count(), 21);
}

#[test]
fn the_dependency_tree_opens_each_cell_once() {
    let (a, b) = (Cell::new(1).with_name("a"), Cell::new(2).with_name("b"));
    let ab = a.join(&b).map(|(a, b)| a + b).materialize().with_name("ab");
    let left = (&ab).map(|v| v + 1).materialize().with_name("left");
    let all = join_vec([left, ab, a.lock()]).map(Vec::len).materialize().with_name("all");
    let tree = arena::dependency_tree(all.cell_id()).expect("it lives");
    let list = arena::dependencies(all.cell_id()).expect("it lives")[0];
    let mut lines: Vec<String> = tree.lines().map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "all");
    assert_eq!(lines.remove(0), format!("  {list:?}"));
    // Inputs may come in any order, but each is opened at its first place only.
    assert_eq!(lines.iter().filter(|line| line.trim_start() == "a::join").count(), 1);
    assert_eq!(lines.iter().filter(|line| line.trim_start() == "ab").count(), 1);
    assert_eq!(lines.iter().filter(|line| line.trim_start() == "ab (above)").count(), 1);
    assert!(lines.contains(&"    left".to_owned()) && lines.iter().any(|l| l.ends_with("  b")));
}

/// A graph with every kind of trouble for text: quotes, backslashes, line ends, controls, other scripts.
fn troublesome() -> (Vec<Cell<i32>>, Cell<Vec<i32>, hyphae::CellImmutable>) {
    let names = [
        "plain",
        "with \"quotes\"",
        "back\\slash",
        "two\nlines",
        "bell\u{7}tab\t",
        "Pegel \u{2013} \u{540d}",
    ];
    let cells: Vec<_> = names.iter().map(|name| Cell::new(1).with_name(*name)).collect();
    let all = join_vec(cells.iter().cloned()).with_name("all");
    (cells, all)
}

#[test]
fn the_graph_as_json() {
    assert_eq!(arena::json(), "[]");
    let (cells, all) = troublesome();
    let _guard = all.watch(|_| ());
    let json = Json::parse(&arena::json()).expect("it is JSON");
    let Json::List(rows) = json else { panic!("a list") };
    assert_eq!(rows.len(), cells.len() + 1);
    for (row, cell) in rows.iter().zip(&cells) {
        assert_eq!(row.text("name"), cell.name().as_deref().expect("named"));
        assert_eq!(row.text("id"), format!("{:?}", cell.cell_id()));
        assert_eq!((row.text("operator"), row.text("type")), ("cell", "i32"));
        assert_eq!(row.text("place"), cell.place().expect("a place").to_string());
        assert_eq!(row.get("inputs"), &Json::List(Vec::new()));
    }
    let last = &rows[cells.len()];
    assert_eq!((last.text("operator"), last.get("subscribers")), ("join_vec", &Json::Number(1)));
    let Json::List(inputs) = last.get("inputs") else { panic!("a list") };
    let mut inputs: Vec<String> = inputs.iter().map(|id| id.as_text().to_owned()).collect();
    let mut expected: Vec<String> = cells.iter().map(|c| format!("{:?}", c.cell_id())).collect();
    inputs.sort();
    expected.sort();
    assert_eq!(inputs, expected);
}

#[test]
fn the_graph_as_dot() {
    let (cells, all) = troublesome();
    let dot = arena::dot();
    let lines: Vec<&str> = dot.lines().collect();
    assert_eq!((lines[0], lines[lines.len() - 1]), ("digraph hyphae {", "}"));
    let (mut nodes, mut edges) = (0, 0);
    for line in &lines[1..lines.len() - 1] {
        let (quoted, rest) = quoted_parts(line);
        match (quoted.as_slice(), rest.trim()) {
            ([], "rankdir=LR;" | "node [shape=box];") => (),
            ([id, label], "[label=];") => {
                nodes += 1;
                assert!(id.starts_with("CellId(") && label.contains("tests/arena.rs:"), "{line}");
            }
            ([_, to], "-> ;") => {
                edges += 1;
                assert_eq!(*to, format!("{:?}", all.cell_id()));
            }
            other => panic!("{line}: {other:?}"),
        }
    }
    assert_eq!((nodes, edges), (cells.len() + 1, cells.len()));
}

/// The quoted strings of a line (still escaped), and the line without them.
fn quoted_parts(line: &str) -> (Vec<String>, String) {
    let (mut parts, mut rest, mut inside, mut escaped) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match (inside, escaped, c) {
            (true, false, '"') => inside = false,
            (false, _, '"') => {
                inside = true;
                parts.push(String::new());
            }
            (true, ..) => {
                escaped = c == '\\' && !escaped;
                parts.last_mut().expect("one is open").push(c);
            }
            (false, _, ' ') if rest.ends_with(' ') => (),
            (false, ..) => rest.push(c),
        }
    }
    assert!(!inside, "a string is not closed: {line}");
    (parts, rest)
}

/// The subset of JSON that the arena writes.
#[derive(Debug, PartialEq)]
enum Json {
    Text(String),
    Number(u64),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn parse(text: &str) -> Option<Json> {
        let mut rest = text;
        let json = value(&mut rest)?;
        rest.trim().is_empty().then_some(json)
    }

    #[track_caller]
    fn get(&self, key: &str) -> &Json {
        let Json::Object(fields) = self else { panic!("not an object") };
        &fields.iter().find(|field| field.0 == key).expect("the field is there").1
    }

    #[track_caller]
    fn text(&self, key: &str) -> &str {
        self.get(key).as_text()
    }

    #[track_caller]
    fn as_text(&self) -> &str {
        let Json::Text(text) = self else { panic!("not a string") };
        text
    }
}

fn eat(rest: &mut &str, token: char) -> Option<()> {
    *rest = rest.trim_start().strip_prefix(token)?;
    Some(())
}

fn value(rest: &mut &str) -> Option<Json> {
    *rest = rest.trim_start();
    match rest.chars().next()? {
        '"' => string(rest).map(Json::Text),
        '[' => items(rest, ('[', ']'), value).map(Json::List),
        '{' => items(rest, ('{', '}'), field).map(Json::Object),
        _ => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (digits, after) = rest.split_at(end);
            *rest = after;
            digits.parse().ok().map(Json::Number)
        }
    }
}

fn field(rest: &mut &str) -> Option<(String, Json)> {
    *rest = rest.trim_start();
    let key = string(rest)?;
    eat(rest, ':')?;
    Some((key, value(rest)?))
}

fn items<T>(
    rest: &mut &str,
    (open, close): (char, char),
    item: fn(&mut &str) -> Option<T>,
) -> Option<Vec<T>> {
    eat(rest, open)?;
    let mut items = Vec::new();
    if eat(rest, close).is_some() {
        return Some(items);
    }
    loop {
        items.push(item(rest)?);
        if eat(rest, close).is_some() {
            return Some(items);
        }
        eat(rest, ',')?;
    }
}

fn string(rest: &mut &str) -> Option<String> {
    let mut chars = rest.strip_prefix('"')?.chars();
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => break,
            '\\' => text.push(escape(&mut chars)?),
            c if c < ' ' => return None,
            c => text.push(c),
        }
    }
    *rest = chars.as_str();
    Some(text)
}

fn escape(chars: &mut std::str::Chars<'_>) -> Option<char> {
    match chars.next()? {
        'n' => Some('\n'),
        'u' => {
            let digits: String = chars.by_ref().take(4).collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
        }
        c @ ('"' | '\\') => Some(c),
        _ => None,
    }
}

/// The nodes behind a switch are cells too: who takes a handle to one by its id may do so.
#[test]
fn a_hidden_node_that_is_held_by_its_id_outlives_its_cell() {
    let sel = Cell::new(0);
    let a = Cell::new(1);
    let before = arena::cells();
    let out = sel.switch_map({
        let a = a.clone();
        move |_| a.clone()
    });
    let merged = sel.merge_map_limit(1, {
        let a = a.clone();
        move |_| a.clone()
    });
    let hidden: Vec<_> = arena::cells().into_iter().filter(|id| !before.contains(id)).collect();
    let held: Vec<_> = hidden.iter().filter_map(|&id| arena::cell::<()>(id)).collect();
    assert!(held.len() >= 3, "{}", held.len());
    drop((out, merged));
    sel.set(5);
    sel.set(6);
    a.set(4);
    a.complete();
    sel.set(7);
    drop(held);
}
