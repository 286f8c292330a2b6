//! The hot cells in the log: when asked, and every so many notifies.

use std::cell::RefCell;
use std::process::Command;
use std::sync::Once;

use hyphae::{Cell, Pipeline, batch, log_hot_cells, log_hot_cells_every};

thread_local! {
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static ON_LOG: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
}

/// Keeps what each thread logs, and does what its test wants done meanwhile.
struct Keeper;

impl log::Log for Keeper {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let line = format!("{} {} {}", record.level(), record.target(), record.args());
        LINES.with_borrow_mut(|lines| lines.push(line));
        let action = ON_LOG.take();
        if let Some(mut action) = action {
            action();
            ON_LOG.replace(Some(action));
        }
    }

    fn flush(&self) {}
}

fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Keeper).expect("no other logger in this program");
        log::set_max_level(log::LevelFilter::Info);
    });
    LINES.take();
}

/// What was logged since the last time.
fn logged() -> Vec<String> {
    LINES.take()
}

#[test]
fn when_asked() {
    keep();
    let cells: Vec<_> = (0..3).map(|i| Cell::new(0).with_name(format!("cell {i}"))).collect();
    cells[1].set(1);
    log_hot_cells(2);
    let lines = logged();
    assert_eq!(lines.len(), 1);
    let lines: Vec<&str> = lines[0].lines().collect();
    assert_eq!(lines[0], "INFO hyphae the 2 hottest of 3 cells:");
    assert_eq!(lines.len(), 4, "a head and two rows");
    assert!(lines[1].starts_with("notifies"), "{lines:?}");
    assert!(lines[2].ends_with("cell 1") && lines[3].ends_with("cell 0"), "{lines:?}");
    log_hot_cells(99);
    assert!(logged()[0].starts_with("INFO hyphae the 3 hottest of 3 cells:\n"));
}

/// Before the first wave in which the number is reached, and so on from there.
#[test]
fn every_so_many_notifies() {
    keep();
    let a = Cell::new(0);
    let derived: Vec<_> = (0..4).map(|_| (&a).map(|v| v + 1).materialize()).collect();
    log_hot_cells_every(10);
    let at = |sets: usize| {
        (0..sets)
            .map(|v| {
                a.set(v as i32);
                logged().len()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(at(7), [0, 0, 1, 0, 1, 0, 1], "5 cells notify in each wave");
    log_hot_cells_every(0);
    assert_eq!(at(5), [0; 5]);
    log_hot_cells_every(1);
    assert_eq!(at(3), [0, 1, 1]);
    drop(derived);
}

#[test]
fn notifies_are_counted_from_the_call_on() {
    keep();
    let a = Cell::new(0);
    (0..100).for_each(|v| a.set(v));
    log_hot_cells_every(3);
    let lines: Vec<_> = (0..5)
        .map(|v| {
            a.set(v);
            logged().len()
        })
        .collect();
    assert_eq!(lines, [0, 0, 0, 1, 0]);
}

/// A logger is user code: what it writes waits, what it reads is there, its panic goes to the caller.
#[test]
fn a_logger_may_call_the_library() {
    keep();
    let (a, b) = (Cell::new(0), Cell::new(0));
    let seen = crate::support::Log::new();
    let _guards = (seen.on(&a), seen.on(&b));
    ON_LOG.replace(Some({
        let (a, b) = (a.clone(), b.clone());
        Box::new(move || b.set(a.get() * 100))
    }));
    log_hot_cells_every(2);
    (1..=3).for_each(|v| a.set(v));
    seen.check(&[0, 0, 1, 2, 3, 200]);
    log_hot_cells_every(1);
    seen.take();
    a.set(4);
    batch(|| a.set(5));
    seen.check(&[4, 5, 400]);
    ON_LOG.replace(Some(Box::new(|| panic!("no room on the disk"))));
    let message = crate::support::caught(|| a.set(6));
    assert_eq!(message.as_deref(), Some("no room on the disk"));
    ON_LOG.take();
    a.set(7);
    assert_eq!(a.get(), 7);
}

const EVERY: &str = "RSHIP_HYPHA_TRACE_LOG_EVERY";
const TOP: &str = "RSHIP_HYPHA_TRACE_TOP_N";
const MARK: &str = "logged by the child: ";

/// The rows of each log of a child process: this program anew, with these variables.
fn rows_in_child(every: &str, top: Option<&str>) -> Vec<usize> {
    let mut child = Command::new(std::env::current_exe().expect("this program is a file"));
    let name = "log::the_environment_sets_the_period";
    child.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(EVERY, every);
    match top {
        Some(top) => child.env(TOP, top),
        None => child.env_remove(TOP),
    };
    let output = child.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let line =
        text.lines().find_map(|line| line.split_once(MARK)).expect("it says what it logged").1;
    line.split_whitespace().map(|rows| rows.parse().expect("a number")).collect()
}

/// What a child does: 25 cells, 30 notifies. It tells the rows of each log.
fn be_the_child() {
    keep();
    let cells: Vec<_> = (0..25).map(Cell::new).collect();
    (0..30).for_each(|v| cells[v % 25].set(0));
    let rows: Vec<_> = logged().iter().map(|log| (log.lines().count() - 2).to_string()).collect();
    println!("\n{MARK}{}", rows.join(" "));
}

#[test]
fn the_environment_sets_the_period() {
    if std::env::var_os(EVERY).is_some() {
        return be_the_child();
    }
    assert_eq!(rows_in_child("10", None), [20, 20], "before the 11th and the 21st wave");
    assert_eq!(rows_in_child("29", Some("3")), [3]);
    assert_eq!(rows_in_child("12", Some("1000")), [25, 25]);
    assert_eq!(rows_in_child("10", Some("0")), [20, 20], "0 is no number of cells");
    assert_eq!(rows_in_child("10", Some("many")), [20, 20]);
    for off in ["0", "", "soon", "-1"] {
        assert_eq!(rows_in_child(off, None), [0; 0], "{off:?}");
    }
}
