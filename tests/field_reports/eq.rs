//! EQ: cut-offs: floats, "the one before", derived booleans (rule C4).

use hyphae::{Cell, Pipeline, same_float};

use crate::support::{Count, Log};

/// Values made comparable: NaN is NaN (its sign differs between machines), 0.0 is not -0.0.
fn bits(values: Vec<f64>) -> Vec<u64> {
    let canonical = |v: f64| if v.is_nan() { f64::NAN } else { v };
    values.into_iter().map(|v| canonical(v).to_bits()).collect()
}

// NaN never equals itself: an update at each write, and a loop where a callback wrote it again.
#[test]
fn eq_1_nan_equals_nan_under_the_float_cutoff() {
    let x = Cell::with_cutoff(0.0_f64, same_float);
    let log = Log::new();
    let _guard = x.watch({
        let (x, log) = (x.clone(), log.clone());
        move |v| {
            log.push(*v);
            if v.is_nan() {
                x.set(f64::NAN);
            }
        }
    });
    x.set(f64::NAN);
    x.set(f64::NAN);
    // Another bit pattern is the same NaN.
    x.set(-f64::NAN);
    assert_eq!(bits(log.take()), bits(vec![0.0, f64::NAN]));
    x.set(1.0);
    assert_eq!(log.take(), [1.0]);
}

// Documented: 0.0 and -0.0 are the same; the value that is there stays.
#[test]
fn eq_1_zero_equals_negative_zero_under_the_float_cutoff() {
    let x = Cell::with_cutoff(0.0_f64, same_float);
    let log = Log::new();
    let _guard = log.on(&x);
    x.set(-0.0);
    assert_eq!(bits(log.take()), bits(vec![0.0]));
    assert_eq!(x.get().to_bits(), 0.0_f64.to_bits());
}

// The same comparison on a derived cell.
#[test]
fn eq_1_nan_equals_nan_on_a_derived_cell() {
    let x = Cell::new(-1.0_f64);
    let root = (&x).map(|v| v.sqrt());
    let root = root.distinct_until_changed_by(same_float).materialize();
    let log = Log::new();
    let _guard = log.on(&root);
    [-2.0, 4.0, -3.0, -4.0].into_iter().for_each(|v| x.set(v));
    assert_eq!(bits(log.take()), bits(vec![f64::NAN, 2.0, f64::NAN]));
}

// Users expected a comparison with the last value that came, the library took the last one it let pass.
#[test]
fn eq_4_the_comparison_is_with_the_last_value_that_passed() {
    let x = Cell::new(1.0_f64);
    let near = |a: &f64, b: &f64| (a - b).abs() < 1.0;
    let d = (&x).distinct_until_changed_by(near).materialize();
    let log = Log::new();
    let _guard = log.on(&d);
    [1.4, 1.8, 2.2, 2.9, 3.3].into_iter().for_each(|v| x.set(v));
    log.check(&[1.0, 2.2, 3.3]);
}

// "True means the same", and the new value comes first.
#[test]
fn eq_4_true_means_the_same() {
    let x = Cell::new(1);
    let pairs = Log::new();
    let d = (&x).distinct_until_changed_by({
        let pairs = pairs.clone();
        move |new: &i32, last: &i32| {
            pairs.push((*new, *last));
            new % 2 == last % 2
        }
    });
    let d = d.materialize();
    let log = Log::new();
    let _guard = log.on(&d);
    [3, 4, 5].into_iter().for_each(|v| x.set(v));
    pairs.check(&[(3, 1), (4, 1), (5, 4)]);
    log.check(&[1, 4, 5]);
}

// An effect on "is this the users' route" ran at each navigation.
#[test]
fn eq_5_a_derived_boolean_fires_when_it_changes() {
    let path = Cell::new("/a");
    let computed = Count::new();
    let is_users = computed.of(|path: &&str| path.starts_with("/users"));
    let users = (&path).map(is_users).deduped().materialize();
    let log = Log::new();
    let _guard = log.on(&users);
    let below = Count::new();
    let _text = (&users).map(below.of(bool::to_string)).materialize();
    ["/b", "/users/1", "/users/2", "/c"].into_iter().for_each(|p| path.set(p));
    log.check(&[false, true, false]);
    assert_eq!(computed.get(), 5);
    assert_eq!(below.get(), 3, "what hangs below is spared too");
}

// An object changed in place is "equal to itself", so the change was lost; here it is compared with what was before.
#[test]
fn eq_1_a_change_in_place_is_compared_with_the_value_before() {
    let list = Cell::with_cutoff(vec![1], Vec::eq);
    let lengths = Log::new();
    let _guard = list.watch({
        let lengths = lengths.clone();
        move |list| lengths.push(list.len())
    });
    list.update(|list| list.push(2));
    list.update(|list| {
        list.push(3);
        list.pop();
    });
    list.update(Vec::clear);
    lengths.check(&[1, 2, 0]);
}
