//! What a subscriber receives.

use hyphae::{Cell, CellError, Signal};

use crate::support::Log;

#[test]
fn the_kinds_of_a_signal() {
    let error = CellError::new("boom");
    let signals: [Signal<'_, i32>; 3] =
        [Signal::Value(&5), Signal::Complete, Signal::Error(&error)];
    let kinds = signals.map(|s| (s.is_value(), s.is_complete(), s.is_error()));
    assert_eq!(kinds, [(true, false, false), (false, true, false), (false, false, true)]);
    assert_eq!(signals.map(|s| s.value_ref().copied()), [Some(5), None, None]);
    let texts = signals.map(|s| s.error_ref().map(CellError::to_string));
    assert_eq!(texts, [None, None, Some("boom".to_owned())]);
    let debug = signals.map(|s| format!("{s:?}"));
    assert_eq!(debug, ["Value(5)", "Complete", "Error(\"boom\")"]);
}

#[test]
fn signals_are_copied_freely_also_of_unsized_values() {
    fn both<'a, T: ?Sized>(signal: Signal<'a, T>) -> (Signal<'a, T>, Signal<'a, T>) {
        (signal, signal)
    }
    let (a, b) = both(Signal::Value("text"));
    assert_eq!((a.value_ref(), b.value_ref()), (Some("text"), Some("text")));
}

/// All subscribers get the one value that is in the cell: nothing is cloned for them.
#[test]
fn subscribers_borrow_the_value_of_the_cell() {
    struct Unclonable(u8);
    let cell = Cell::new(Unclonable(1));
    let log = Log::new();
    let watch = || {
        let log = log.clone();
        cell.watch(move |v| log.push((std::ptr::from_ref(v).addr(), v.0)))
    };
    let _guards = (watch(), watch());
    cell.set(Unclonable(2));
    let at = cell.with(|v| std::ptr::from_ref(v).addr());
    log.check(&[(at, 1), (at, 1), (at, 2), (at, 2)]);
}
