//! Room for nodes: slots of a few sizes, cut from pages, so that the nodes of one kind lie side by side in the order in which
//! they were made, which is that in which they are computed; those of 64 bytes take one cache line each.
//!
//! It knows nothing of nodes: it hands out room and takes it back, and reads and writes none.
//!
//! Invariants: **S1** a slot is handed out to one taker at a time. **S2** a page stays where it is until all of its slots are free.
//! **S3** slots are as the layout asks: their size is a multiple of its alignment, and pages are aligned to 64.
//!
//! Costs: O(1) without a search; a slot that is given back is the next to be handed out. Pages double from 1 to 64 KiB. A size
//! of which nothing is left gives its pages back by itself, others when asked.

use std::alloc::Layout;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::rc::Rc;

/// Sizes are multiples of this.
const STEP: usize = 8;
/// The largest size.
const LARGEST: usize = 256;
/// Bytes of the first page of a size, and of all that come after some doublings.
const FIRST_PAGE: usize = 1 << 10;
const LARGEST_PAGE: usize = 1 << 16;

/// What pages are made of.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "it is room")] [u8; 64]);

/// Shared, so that moving it says nothing about who may use what is in it; cells, so that whoever has a slot may write there.
type Page = Rc<[Cell<MaybeUninit<Line>>]>;

/// The slots of one size.
#[derive(Default)]
struct Class {
    pages: Vec<Page>,
    /// Slots that were given back.
    free: Vec<NonNull<u8>>,
    /// Slots at the end of the last page that were never handed out.
    fresh: usize,
    live: usize,
}

/// Room for nodes.
pub(crate) struct Slab {
    classes: [Class; LARGEST / STEP],
}

impl Default for Slab {
    fn default() -> Self {
        Self { classes: std::array::from_fn(|_| Class::default()) }
    }
}

/// The size of slots for a layout; `None` where the allocator is to serve it.
const fn slot_size(layout: Layout) -> Option<usize> {
    let size = layout.size().next_multiple_of(STEP);
    let fits = size > 0 && size <= LARGEST && layout.align() <= align_of::<Line>();
    // With a slot for each node, tools that watch the allocator would not see the end of a node.
    if fits && !cfg!(any(miri, hyphae_no_slab)) { Some(size) } else { None }
}

impl Slab {
    /// Whether there are slots for a layout.
    pub(crate) const fn serves(layout: Layout) -> bool {
        slot_size(layout).is_some()
    }

    /// Bytes that are taken for a layout.
    pub(crate) const fn room(layout: Layout) -> usize {
        match slot_size(layout) {
            Some(size) => size,
            None => layout.size(),
        }
    }

    /// A slot for a layout; `None` if there are none for it.
    #[inline]
    pub(crate) fn take(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let size = slot_size(layout)?;
        Some(self.classes[size / STEP - 1].take(size))
    }

    /// Takes back a slot for a layout, in which nothing is left.
    #[inline]
    pub(crate) fn give_back(&mut self, slot: NonNull<u8>, layout: Layout) {
        if let Some(size) = slot_size(layout) {
            self.classes[size / STEP - 1].give_back(slot, size);
        }
    }

    /// Bytes held that are no slot in use.
    pub(crate) fn spare_bytes(&self) -> usize {
        let sizes = (1..).map(|n| n * STEP);
        self.classes.iter().zip(sizes).map(|(class, size)| class.bytes() - class.live * size).sum()
    }

    /// Gives back the pages of which no slot is in use.
    pub(crate) fn shrink_to_fit(&mut self) {
        let sizes = (1..).map(|n| n * STEP);
        self.classes.iter_mut().zip(sizes).for_each(|(class, size)| class.shrink_to_fit(size));
    }
}

/// How many slots a page has.
fn slots(page: &Page, size: usize) -> usize {
    size_of_val(&**page) / size
}

/// The slot of a page at an index.
fn slot(page: &Page, size: usize, index: usize) -> NonNull<u8> {
    let start = NonNull::from(&**page).cast::<u8>();
    NonNull::new(start.as_ptr().wrapping_add(index * size)).unwrap_or(start)
}

impl Class {
    #[inline]
    fn take(&mut self, size: usize) -> NonNull<u8> {
        self.live += 1;
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        match self.pages.last() {
            Some(page) if self.fresh > 0 => {
                self.fresh -= 1;
                slot(page, size, slots(page, size) - 1 - self.fresh)
            }
            _ => self.add_page(size),
        }
    }

    /// Makes a page and hands its first slot out.
    #[cold]
    fn add_page(&mut self, size: usize) -> NonNull<u8> {
        let double = self.pages.last().map_or(FIRST_PAGE, |page| 2 * size_of_val(&**page));
        let lines = double.min(LARGEST_PAGE) / size_of::<Line>();
        let page: Page = (0..lines).map(|_| Cell::new(MaybeUninit::uninit())).collect();
        self.fresh = slots(&page, size) - 1;
        let first = slot(&page, size, 0);
        self.pages.push(page);
        first
    }

    #[inline]
    fn give_back(&mut self, slot: NonNull<u8>, size: usize) {
        self.live -= 1;
        if self.live == 0 {
            return self.clear(size);
        }
        self.free.push(slot);
    }

    /// Nothing is in use: keeps the first page, and begins it anew.
    #[cold]
    fn clear(&mut self, size: usize) {
        self.free.clear();
        self.free.shrink_to(FIRST_PAGE / STEP);
        self.pages.truncate(1);
        self.fresh = self.pages.first().map_or(0, |page| slots(page, size));
    }

    fn bytes(&self) -> usize {
        let pages: usize = self.pages.iter().map(|page| size_of_val(&**page)).sum();
        pages + self.free.capacity() * size_of::<NonNull<u8>>()
    }

    fn shrink_to_fit(&mut self, size: usize) {
        if self.live == 0 {
            *self = Self::default();
            return;
        }
        let last = self.pages.len() - 1;
        self.free.sort_unstable();
        let free = std::mem::take(&mut self.free);
        let mut kept = Vec::with_capacity(self.pages.len());
        for (at, page) in std::mem::take(&mut self.pages).into_iter().enumerate() {
            let (start, end) = (slot(&page, size, 0), slot(&page, size, slots(&page, size)));
            let from = free.partition_point(|&slot| slot < start);
            let to = free.partition_point(|&slot| slot < end);
            let fresh = if at == last { self.fresh } else { 0 };
            if to - from + fresh < slots(&page, size) {
                self.free.extend_from_slice(&free[from..to]);
                kept.push(page);
            } else if at == last {
                self.fresh = 0;
            }
        }
        kept.shrink_to_fit();
        self.pages = kept;
        self.free.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const LAYOUT: Layout = Layout::new::<[u64; 8]>();

    #[test]
    fn slots_are_apart_aligned_and_used_again() {
        if !Slab::serves(LAYOUT) {
            return;
        }
        let mut slab = Slab::default();
        let mut taken: Vec<_> = (0..5000).filter_map(|_| slab.take(LAYOUT)).collect();
        let places: BTreeSet<usize> = taken.iter().map(|slot| slot.addr().get()).collect();
        assert_eq!(places.len(), 5000);
        assert!(places.iter().all(|place| place % 64 == 0));
        let gaps = places.iter().zip(places.iter().skip(1)).filter(|(a, b)| *b - *a != 64).count();
        assert!(gaps < 12, "{gaps} pages");
        let last = taken.pop();
        last.iter().for_each(|&slot| slab.give_back(slot, LAYOUT));
        assert_eq!(slab.take(LAYOUT), last);
        taken.extend(last);
        taken.drain(..).for_each(|slot| slab.give_back(slot, LAYOUT));
        assert!(slab.spare_bytes() < 1 << 20);
        slab.shrink_to_fit();
        assert_eq!(slab.spare_bytes(), 0);
    }

    #[test]
    fn shrinking_keeps_what_is_in_use() {
        if !Slab::serves(LAYOUT) {
            return;
        }
        let mut slab = Slab::default();
        let taken: Vec<_> = (0..20_000).filter_map(|_| slab.take(LAYOUT)).collect();
        let (gone, kept) = taken.split_at(19_000);
        gone.iter().for_each(|&slot| slab.give_back(slot, LAYOUT));
        let before = slab.spare_bytes();
        slab.shrink_to_fit();
        assert!(slab.spare_bytes() < before / 5, "{before} {}", slab.spare_bytes());
        let mut all: BTreeSet<_> = kept.iter().copied().collect();
        all.extend((0..30_000).filter_map(|_| slab.take(LAYOUT)));
        assert_eq!(all.len(), 31_000, "no slot twice");
    }

    #[test]
    fn what_is_too_large_is_the_allocator_s() {
        let mut slab = Slab::default();
        for layout in [Layout::new::<[u64; 33]>(), Layout::new::<[u128; 17]>(), Layout::new::<()>()]
        {
            assert_eq!((slab.take(layout), Slab::serves(layout)), (None, false));
        }
        assert_eq!(slab.spare_bytes(), 0);
    }
}
