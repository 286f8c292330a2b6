//! A search box: what is typed is searched when the typing pauses, by a worker thread, and an answer that comes too late is
//! never shown.
//!
//! `debounce` waits for the pause, `switch_map` holds the cell of the newest search alone, and the worker's answers come
//! through an inbox: each goes to the cell of its own search, and if that is gone, nowhere.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use hyphae::{
    Capacity, Cell, CellImmutable, Inbox, ManualClock, SubscriptionGuard, WeakCell, combine, timers,
};

const WORDS: &[&str] = &["cell", "chain", "clock", "column", "cue", "cursor", "cut-off", "cycle"];
const MS: u64 = 1_000_000;

type Answer = Option<Vec<&'static str>>;

struct Request {
    number: u64,
    text: String,
}

/// Answers two requests at a time, the later one first: as networks do.
fn worker(requests: mpsc::Receiver<Request>, answer: impl Fn(u64, Vec<&'static str>)) {
    let mut held: Option<Request> = None;
    let search = |request: &Request| {
        let found = WORDS.iter().filter(|word| word.starts_with(&request.text));
        answer(request.number, found.copied().collect());
    };
    for request in requests {
        match held.take() {
            None => held = Some(request),
            Some(earlier) => {
                search(&request);
                search(&earlier);
            }
        }
    }
    held.iter().for_each(search);
}

/// The searches that wait for an answer, by number.
#[derive(Default)]
struct Searches {
    last: u64,
    waiting: HashMap<u64, WeakCell<Answer>>,
}

/// The cell of what is found for what is typed: `None` while there is no answer to it.
fn results(
    typed: &Cell<String>,
    requests: mpsc::Sender<Request>,
    searches: &Rc<RefCell<Searches>>,
) -> Cell<Answer, CellImmutable> {
    let searches = searches.clone();
    typed.debounce(Duration::from_millis(300)).switch_map(move |text| {
        let cell = Cell::new(None);
        let mut searches = searches.borrow_mut();
        searches.last += 1;
        let number = searches.last;
        searches.waiting.insert(number, cell.downgrade());
        let _ = requests.send(Request { number, text: text.clone() });
        cell
    })
}

type Late = Rc<RefCell<Vec<(u64, Vec<&'static str>)>>>;

/// Brings each answer to the cell of its search; those of which the cell is gone are late.
fn answers(searches: &Rc<RefCell<Searches>>, late: &Late) -> Inbox<(u64, Vec<&'static str>)> {
    let (searches, late) = (searches.clone(), late.clone());
    Inbox::new(Capacity::Unbounded, move |(number, found)| {
        let waiting = searches.borrow_mut().waiting.remove(&number);
        match waiting.and_then(|cell| cell.upgrade()) {
            Some(cell) => cell.set(Some(found)),
            None => late.borrow_mut().push((number, found)),
        }
    })
}

/// Prints what the box shows, and keeps it.
fn show(
    typed: &Cell<String>,
    found: &Cell<Answer, CellImmutable>,
) -> (Rc<RefCell<Vec<String>>>, SubscriptionGuard) {
    let shown = Rc::new(RefCell::new(vec![]));
    let log = shown.clone();
    let line = combine((typed, found), |(text, found)| format!("{text:?}: {found:?}"));
    let guard = line.watch(move |line| {
        println!("{:>5} ms  {line}", timers::now_ns() / MS);
        log.borrow_mut().push(line.clone());
    });
    (shown, guard)
}

fn main() {
    let clock = ManualClock::new();
    timers::set_clock(clock.clone());
    let (requests, queue) = mpsc::channel();
    let (woken, wakes) = mpsc::channel();
    let (searches, late) = (Rc::new(RefCell::new(Searches::default())), Late::default());
    let inbox = answers(&searches, &late).with_waker(move || {
        let _ = woken.send(());
    });
    let sender = inbox.sender();
    let worker = thread::spawn(move || {
        worker(queue, |number, found| {
            let _ = sender.send((number, found));
        });
    });

    let typed = Cell::new(String::new());
    let found = results(&typed, requests, &searches);
    let (shown, guard) = show(&typed, &found);

    let mut answered = 0;
    let mut wait_for = |count| {
        while answered < count {
            wakes.recv().expect("the worker lives");
            answered += inbox.drain();
        }
    };
    let type_in = |at_ms: u64, text: &str| {
        timers::advance_to(&clock, at_ms * MS);
        typed.set(text.to_owned());
    };
    // The empty box is the first request. "c" and "cu" come without a pause, so that "cu" is the second.
    type_in(100, "c");
    type_in(250, "cu");
    timers::advance_to(&clock, 600 * MS);
    wait_for(2);
    type_in(900, "cue");
    type_in(1000, "cut");
    type_in(1400, "cut-");
    timers::advance_to(&clock, 1700 * MS);
    wait_for(4);

    println!("came too late: {:?}", late.borrow());
    let numbers: Vec<u64> = late.borrow().iter().map(|answer| answer.0).collect();
    assert_eq!(numbers, [1, 3], "the answers to the empty box and to \"cut\"");
    assert_eq!(found.get(), Some(vec!["cut-off"]));
    assert!(shown.borrow().iter().all(|line| !line.contains("chain")), "never shown");
    drop((typed, found, guard));
    worker.join().expect("the worker does not panic");
}
