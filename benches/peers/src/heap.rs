//! Counts what the program holds on the heap. The only file with unsafe code.
//!
//! Off until [`start`] is called, so that what times are taken of pays for one load. Requested sizes are counted, not
//! what the allocator makes of them.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static ON: AtomicBool = AtomicBool::new(false);
static TAKEN: AtomicU64 = AtomicU64::new(0);
static GIVEN: AtomicU64 = AtomicU64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);

struct Counting;

#[global_allocator]
static HEAP: Counting = Counting;

fn note(taken: usize, given: usize) {
    if ON.load(Relaxed) {
        TAKEN.fetch_add(taken as u64, Relaxed);
        GIVEN.fetch_add(given as u64, Relaxed);
        CALLS.fetch_add(u64::from(taken > 0), Relaxed);
    }
}

// SAFETY: all work is the system allocator's, whose contract is the same; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        note(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What is held since [`start`].
#[derive(Clone, Copy, Default)]
pub(crate) struct Held {
    /// Requested and not given back.
    pub bytes: u64,
    /// Calls that took memory.
    pub calls: u64,
}

/// Starts to count.
pub(crate) fn start() {
    ON.store(true, Relaxed);
}

/// What is held now.
pub(crate) fn held() -> Held {
    let bytes = TAKEN.load(Relaxed).saturating_sub(GIVEN.load(Relaxed));
    Held { bytes, calls: CALLS.load(Relaxed) }
}
