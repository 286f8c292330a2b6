//! The modules of the crate import downwards only. The order, from the bottom up, and the exceptions that there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Modules on one line may import each other.
const ORDER: [&[&str]; 11] = [
    &["graph", "system"],
    &["id"],
    &["error", "signal"],
    &["store"],
    &["cell", "weak", "subscription", "scope", "uuids"],
    &["observe"],
    &["pipeline"],
    &["operators", "time", "inbox"],
    &["source"],
    &["traits", "arena", "bounded", "stream", "ticks"],
    &["names"],
];

/// Imports against the order, each by name, with what they are for.
const EXCEPTIONS: [(&str, &str); 8] = [
    ("store/tables", "subscription"),    // cells own guards
    ("store/guards", "subscription"),    // a new subscription is handed out as a guard
    ("store/mod", "scope"),              // the scope that is current
    ("store/closure", "scope"),          // the scope of a run of a closure
    ("store/probe/counting", "observe"), // the log that is due
    ("store/probe/spans", "uuids"),      // the ids of cells
    ("pipeline/chain", "operators"),     // the two adaptors carry any stage and any gate
    ("pipeline/mod", "operators"),       // the trait names the types of all operators
];

fn level(module: &str) -> Option<usize> {
    ORDER.iter().position(|level| level.contains(&module))
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The modules of the crate that a text names after `crate::`, braces opened one level.
fn imports(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    let name = |text: &str| {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        text[..end].to_owned()
    };
    let after = code.match_indices("crate::").map(|(at, found)| &code[at + found.len()..]);
    let names = after.flat_map(|text| match text.strip_prefix('{') {
        Some(list) => list[..list.find("};").expect("a list ends")].split(", ").map(name).collect(),
        None => vec![name(text)],
    });
    names.collect()
}

#[test]
fn modules_import_downwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).expect("below the root").with_extension("");
        let module =
            inside.iter().next().and_then(|name| name.to_str()).expect("a name").to_owned();
        let text = fs::read_to_string(&path).expect("it can be read");
        if module == "lib" {
            continue;
        }
        let own = level(&module).unwrap_or_else(|| panic!("{module} is not in the order"));
        let above = imports(&text).into_iter().filter(|name| level(name).is_some_and(|l| l > own));
        found.extend(above.map(|name| (inside.to_string_lossy().replace('\\', "/"), name)));
    }
    let known = EXCEPTIONS.iter().map(|(file, module)| ((*file).to_owned(), (*module).to_owned()));
    assert_eq!(found, known.collect::<BTreeSet<_>>(), "left: imports against the order");
}
