//! Cells for things that come and go: a row of cells for each key, made and dropped while running.
//!
//! A subscriber on the cell of the keys makes the rows of new keys and drops those of keys that are
//! gone; dropping the handles frees their cells. Knows nothing of what a row holds.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::rc::Rc;

use hyphae::{Cell, Pipeline, SubscriptionGuard};

use crate::gauge::Shown;

/// The rows of the keys that are there now.
pub(crate) struct Rows<K: 'static, R> {
    rows: Rc<RefCell<BTreeMap<K, R>>>,
    keys: Shown<Vec<K>>,
    _follow: SubscriptionGuard,
}

impl<K: Ord + Clone + 'static, R: Clone + 'static> Rows<K, R> {
    /// Rows for the keys of a map in a cell. `make` is called for each key that appears.
    pub(crate) fn of<V: 'static, M>(
        name: &str,
        map: &Cell<Rc<BTreeMap<K, V>>, M>,
        make: impl Fn(&K) -> R + 'static,
    ) -> Self {
        let keys = map
            .distinct_until_changed_by(|new, old| new.keys().eq(old.keys()))
            .map(|map| map.keys().cloned().collect::<Vec<K>>())
            .materialize()
            .with_name(name);
        let rows = Rc::new(RefCell::new(BTreeMap::new()));
        let target = rows.clone();
        let follow = keys.watch(move |keys| {
            let mut rows = target.borrow_mut();
            rows.retain(|key, _| keys.binary_search(key).is_ok());
            for key in keys {
                rows.entry(key.clone()).or_insert_with(|| make(key));
            }
        });
        Self { rows, keys, _follow: follow }
    }

    /// The keys, in order.
    pub(crate) fn keys(&self) -> &Shown<Vec<K>> {
        &self.keys
    }

    /// The rows now, in the order of their keys.
    pub(crate) fn list(&self) -> Vec<(K, R)> {
        let rows = self.rows.borrow();
        rows.iter().map(|(key, row)| (key.clone(), row.clone())).collect()
    }
}

/// What came (`true`) and what went between two lists of keys.
pub(crate) fn changes<K: Ord + Display>(before: &[K], after: &[K]) -> Vec<(bool, String)> {
    let missing = |from: &[K], key: &&K| from.binary_search(key).is_err();
    let came = after.iter().filter(|key| missing(before, key));
    let went = before.iter().filter(|key| missing(after, key));
    let came = came.map(|key| (true, key.to_string()));
    came.chain(went.map(|key| (false, key.to_string()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyphae::arena;

    fn map(rows: &[(&'static str, i32)]) -> Rc<BTreeMap<&'static str, i32>> {
        Rc::new(rows.iter().copied().collect())
    }

    #[test]
    fn rows_come_and_go_with_their_cells() {
        let source = Cell::new(map(&[("a", 1)]));
        let input = source.clone();
        let rows = Rows::of("keys", &source, move |key| {
            let key = *key;
            (&input).map(move |map| map.get(key).copied()).materialize().with_name(key)
        });
        let values = || -> Vec<_> {
            let rows = rows.list();
            rows.iter().map(|(key, row)| (*key, row.get())).collect()
        };
        assert_eq!((values(), arena::totals().cells), (vec![("a", Some(1))], 3));
        source.set(map(&[("a", 2), ("b", 3)]));
        assert_eq!(values(), [("a", Some(2)), ("b", Some(3))]);
        let b = rows.list()[1].1.downgrade();
        assert_eq!(arena::totals().cells, 4);
        source.set(map(&[("a", 4)]));
        assert_eq!(values(), [("a", Some(4))]);
        assert!(b.upgrade().is_none());
        assert_eq!(arena::totals().cells, 3);
        drop((rows, source));
        arena::assert_no_live();
    }

    #[test]
    fn changes_name_what_came_and_what_went() {
        let came_and_went = changes(&["a", "b"], &["b", "c"]);
        assert_eq!(came_and_went, [(true, "c".into()), (false, "a".into())]);
        assert!(changes(&["a"], &["a"]).is_empty());
    }
}
