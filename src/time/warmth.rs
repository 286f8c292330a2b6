//! Waiting for a boundary awake. A program that sleeps between its frames finds the store's memory cold: others on the
//! machine have had the processor's caches meanwhile, and a settle of a millisecond takes two. What is read until the
//! boundary is warm.
//!
//! It knows no frames. It runs nothing of the user's but the clock.
//!
//! Costs: the processor, for the time that it is awake.

use super::clock::Clock;
use crate::error::Fallible;
use crate::store::with_store;

/// Returns at `boundary_ns` by the clock, having slept until `lead_ns` before and warmed the store since.
pub(super) fn wait(clock: &dyn Clock, boundary_ns: u64, lead_ns: u64) -> Fallible<()> {
    if lead_ns > 0 {
        clock.sleep_until(boundary_ns.saturating_sub(lead_ns));
        warm_until(clock, boundary_ns)?;
    }
    clock.sleep_until(boundary_ns);
    Ok(())
}

/// Warms the store over and over; once only on a clock that stands still meanwhile.
fn warm_until(clock: &dyn Clock, end_ns: u64) -> Fallible<()> {
    let began_ns = clock.now_nanos();
    let (mut now_ns, mut from) = (began_ns, 0);
    while now_ns < end_ns {
        from = with_store(|store| store.warm(from))?;
        now_ns = clock.now_nanos();
        if from == 0 && now_ns == began_ns {
            break;
        }
    }
    Ok(())
}
