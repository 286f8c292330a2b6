//! The hot cells in the log, when asked and every so many notifies.

use super::hot;
use crate::store::{Store, with_store};

/// How many cells the log shows, unless `RSHIP_HYPHA_TRACE_TOP_N` says otherwise.
const TOP: usize = 20;

/// Writes the hot cells to the log (`log::info!`, target `hyphae`), as a table: the `limit` of most notifies.
///
/// ```
/// let cell = hyphae::Cell::new(1);
/// cell.set(2);
/// hyphae::log_hot_cells(10);
/// ```
pub fn log_hot_cells(limit: usize) {
    let _ = with_store(|store| write(store, limit));
}

/// Writes the hot cells to the log each time that cells of this thread have notified `notifies` times in all, before the
/// next wave; 0 stops that. At start, the environment variable `RSHIP_HYPHA_TRACE_LOG_EVERY` says how often, and
/// `RSHIP_HYPHA_TRACE_TOP_N` how many cells are shown (20 if it does not).
pub fn log_hot_cells_every(notifies: u64) {
    let _ = with_store(|store| store.probe.set_log_period(notifies));
}

fn write(store: &Store, limit: usize) {
    let hot = hot::collect(store);
    let (shown, cells) = (limit.min(hot.len()), hot.len());
    log::info!(target: "hyphae", "the {shown} hottest of {cells} cells:\n{}", hot.top(limit));
}

/// The period is over.
pub(crate) fn write_due(store: &Store) {
    let top = crate::system::number_of("RSHIP_HYPHA_TRACE_TOP_N").filter(|&n| n > 0);
    write(store, top.map_or(TOP, |n| usize::try_from(n).unwrap_or(usize::MAX)));
}
