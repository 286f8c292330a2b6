//! The bits of a node's header.

/// The node is dead: no handle, guard or dependent is left. Only the graveyard still knows it.
pub(crate) const DEAD: u32 = 1;
/// The cell completed or failed; the record is in the table of ends.
pub(crate) const ENDED: u32 = 1 << 1;
/// `dispose` was called.
pub(crate) const DISPOSED: u32 = 1 << 2;
/// The behaviour has not been dropped yet.
pub(crate) const KERNEL: u32 = 1 << 3;
/// The behaviour is a cut-off on a source.
pub(crate) const CUTOFF: u32 = 1 << 4;
/// Each write of a batch is kept (a `Source`, or a cell marked `no_coalesce`).
pub(crate) const EVENT: u32 = 1 << 5;
/// The node of a `Source`.
pub(crate) const SOURCE: u32 = 1 << 6;
/// An `update` is running on it.
pub(crate) const LENT: u32 = 1 << 7;
/// It has a name.
pub(crate) const NAMED: u32 = 1 << 8;
/// It owns guards.
pub(crate) const OWNS: u32 = 1 << 9;
/// It has first/last-subscriber hooks.
pub(crate) const HOOKED: u32 = 1 << 10;
/// Writes made in callbacks or events of a batch have a queue of their own here.
pub(crate) const INBOX: u32 = 1 << 11;
/// Its UUID was given by the application.
pub(crate) const GIVEN_UUID: u32 = 1 << 12;
/// Its computed UUID was handed out.
pub(crate) const SEEN_UUID: u32 = 1 << 13;
/// It had a subscriber or dependent when its hooks were last looked at.
pub(crate) const OBSERVED: u32 = 1 << 14;
/// It ended with an error.
pub(crate) const FAILED: u32 = 1 << 15;
/// A cut-off has a value before the batch to compare with.
pub(crate) const PENDING: u32 = 1 << 16;
/// The pending write of a cut-off counts as a change already: someone was made who has seen it.
pub(crate) const FORCED: u32 = 1 << 17;
/// The last run of its closure has left clean-ups.
pub(crate) const CLOSING: u32 = 1 << 18;
/// Its closure reads cells as their dependent, and is running.
pub(crate) const RUNNING: u32 = 1 << 19;
/// A read of its closure was refused, since it would have closed a cycle.
pub(crate) const REFUSED: u32 = 1 << 20;
/// It lies on a cycle that was refused.
pub(crate) const ON_CYCLE: u32 = 1 << 21;
/// The last run of its closure was abandoned.
pub(crate) const REPEAT: u32 = 1 << 22;
/// Calls of its subscribers are measured in all waves.
#[cfg(feature = "trace")]
pub(crate) const METERED: u32 = 1 << 23;
/// One of its inputs has ended, so that its turns ask how.
pub(crate) const ASKS_ENDS: u32 = 1 << 24;
/// It is computed when it is wanted (see `demand`).
pub(crate) const LAZY: u32 = 1 << 25;
/// A lazy cell has a subscriber, or a dependent that is computed in each wave.
pub(crate) const WANTED: u32 = 1 << 26;
/// A lazy cell that nobody wants may not be up to date.
pub(crate) const STALE: u32 = 1 << 27;
/// The inputs of a stale cell do not trigger it any more.
pub(crate) const ASLEEP: u32 = 1 << 28;

/// What a dying node may have in the side tables.
pub(crate) const TABLED: u32 = ENDED | NAMED | OWNS | HOOKED | INBOX | GIVEN_UUID | ON_CYCLE;

/// What makes a write more than storing a value and telling dependents.
pub(crate) const SPECIAL: u32 = CUTOFF | SOURCE | ENDED | DISPOSED | DEAD;
