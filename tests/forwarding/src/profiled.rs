//! What the application sees with the feature on.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex};

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Counts spans by name.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<BTreeMap<&'static str, u32>>>);

impl Subscriber for Spans {
    fn enabled(&self, data: &Metadata<'_>) -> bool {
        data.target() == "hyphae"
    }

    fn new_span(&self, made: &Attributes<'_>) -> Id {
        let mut names = self.0.lock().expect("no panic under the lock");
        *names.entry(made.metadata().name()).or_default() += 1;
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Three sets, each with the input and three cells over it.
pub(crate) fn check_counters() {
    let hot = hyphae::hot_traced_cells();
    let counts: Vec<_> = hot.iter().map(|cell| (cell.notify_count, cell.delivery_count)).collect();
    assert_eq!(counts, [(3, 0), (3, 3), (3, 3), (3, 3)]);
}

pub(crate) fn check() {
    let spans = Spans::default();
    tracing::subscriber::with_default(spans.clone(), super::work);
    let names = spans.0.lock().expect("no panic under the lock").clone();
    let expected = [("hyphae.compute", 9), ("hyphae.fanout", 12), ("hyphae.wave", 3)];
    assert_eq!(names, BTreeMap::from(expected));
    match symbols() {
        Ok(symbols) => check_frames(&symbols),
        Err(reason) => println!("skipped: {reason}"),
    }
}

/// The program's own symbols; or why there are none that name types.
fn symbols() -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let nm = |option: &str| {
        let output = Command::new("nm").arg(option).arg(&program).output();
        let output = output.map_err(|error| format!("no nm: {error}"))?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // How `main` is mangled tells how the rest is, also where a frame is missing.
    if !nm("--no-demangle")?
        .lines()
        .any(|line| line.contains(" _R") && line.contains("forwarding4main"))
    {
        return Err("symbols without types; build with -Csymbol-mangling-version=v0".to_owned());
    }
    nm("--demangle")
}

/// One function for each frame and each type, at an address of its own.
fn check_frames(symbols: &str) {
    let mut addresses = Vec::new();
    for kind in ["notify", "write_value", "fanout"] {
        for value in ["Meters", "Seconds", "Notes"] {
            let name = format!("frames::Cell<forwarding::{value}>>::{kind}");
            let found: Vec<_> = symbols.lines().filter(|line| line.ends_with(&name)).collect();
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            addresses.extend(found[0].split(' ').next());
        }
    }
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), 9, "frames that were folded into one");
}
