//! The columns of counters beside the arena: one row for each live cell, by the number that its node holds.
//!
//! They know no cells: who reads them walks the arena.
//!
//! Invariants: **W1** a row belongs to one live node, or is in `free`. **W2** `times` is empty, or as long as `counts`: it comes
//! into being when times are first asked for.
//!
//! Costs: 32 bytes a cell, and 40 more once times are on; both in chunks, so that growing moves nothing. A row is taken and given back
//! in O(1) without a search.

use crate::graph::Column;

/// What is counted for a cell: one cache line holds two.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    /// Rounds in which it emitted: a value, its end, or both.
    pub(crate) notifies: u64,
    /// Turns that gave nothing.
    pub(crate) cut_offs: u64,
    /// Calls of subscribers.
    pub(crate) deliveries: u64,
    /// The store's clock when it last emitted.
    pub(crate) emitted: u32,
}

/// What is measured for a cell, in units of the clock in use.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Times {
    /// All its turns.
    pub(crate) compute: u64,
    /// All calls of its subscribers.
    pub(crate) delivery: u64,
    /// Its turns and calls in the last round in which it had any.
    pub(crate) last: u64,
    /// The longest call of a subscriber.
    pub(crate) slowest: u64,
    /// The store's clock when `last` began.
    pub(crate) since: u32,
}

/// No row.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// All rows.
#[derive(Default)]
pub(crate) struct Rows {
    counts: Column<Counts>,
    times: Column<Times>,
    timed: bool,
    free: Vec<u32>,
}

impl Rows {
    /// A row for a new cell.
    pub(crate) fn take(&mut self) -> u32 {
        if let Some(row) = self.free.pop() {
            return row;
        }
        let row = self.counts.len();
        self.counts.push(Counts::default());
        if self.timed {
            self.times.push(Times::default());
        }
        u32::try_from(row).expect("fewer rows than ranks")
    }

    /// The row of a cell that is gone.
    pub(crate) fn give_back(&mut self, row: u32) {
        self.clear(row);
        self.free.push(row);
    }

    /// Forgets all that was counted and measured in a row.
    pub(crate) fn clear(&mut self, row: u32) {
        self.counts[row as usize] = Counts::default();
        self.clear_times(row);
    }

    /// Forgets what was measured in a row.
    pub(crate) fn clear_times(&mut self, row: u32) {
        if self.timed {
            self.times[row as usize] = Times::default();
        }
    }

    #[inline]
    pub(crate) fn counts(&mut self, row: u32) -> Option<&mut Counts> {
        self.counts.get_mut(row as usize)
    }

    /// What was measured for a row; makes the column if there is none.
    #[inline]
    pub(crate) fn times(&mut self, row: u32) -> &mut Times {
        if !self.timed {
            self.make_times();
        }
        &mut self.times[row as usize]
    }

    #[cold]
    fn make_times(&mut self) {
        self.timed = true;
        for _ in 0..self.counts.len() {
            self.times.push(Times::default());
        }
    }

    pub(crate) fn read_counts(&self, row: u32) -> Counts {
        self.counts.get(row as usize).copied().unwrap_or_default()
    }

    pub(crate) fn read_times(&self, row: u32) -> Times {
        self.times.get(row as usize).copied().unwrap_or_default()
    }

    /// Forgets the column of times.
    pub(crate) fn drop_times(&mut self) {
        self.timed = false;
        self.times = Column::new();
    }

    /// The store's clock starts anew.
    pub(crate) fn reset_clock(&mut self) {
        for row in 0..self.counts.len() {
            self.counts[row].emitted = 0;
        }
        for row in 0..self.times.len() {
            self.times[row].since = 0;
        }
    }

    /// Gives back the memory of vacant rows at the end.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.free.sort_unstable();
        while self.free.last().is_some_and(|&row| row as usize + 1 == self.counts.len()) {
            self.free.pop();
            self.counts.pop();
            self.times.pop();
        }
        self.counts.shrink_to_fit();
        self.times.shrink_to_fit();
        self.free.shrink_to_fit();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.counts.bytes() + self.times.bytes() + self.free.capacity() * size_of::<u32>()
    }
}
