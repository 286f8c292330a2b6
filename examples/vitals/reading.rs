//! One sample of the machine: raw numbers, as totals since boot where the kernel counts.
//!
//! Plain data. Knows nothing of where a sample comes from (that is [`crate::proc`] or
//! [`crate::record`]), of rates, of percentages, of cells.

/// All raw numbers of one sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reading {
    /// When it was taken: ms since the program started, never going back.
    pub(crate) at_ms: u64,
    /// Processors and kernel totals.
    pub(crate) stat: Stat,
    /// Memory.
    pub(crate) memory: Memory,
    /// Load, where the kernel tells it.
    pub(crate) load: Option<Load>,
    /// Network interfaces, in the kernel's order; empty where they are hidden.
    pub(crate) nets: Vec<Net>,
    /// Disks and partitions, in the kernel's order; empty where they are hidden (as in many containers).
    pub(crate) disks: Vec<Disk>,
}

/// What `/proc/stat` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The sum over all cores.
    pub(crate) cpu: CpuTimes,
    /// The cores that are online.
    pub(crate) cores: Vec<Core>,
    /// Context switches since boot (0 if not told).
    pub(crate) ctxt: u64,
    /// Processes and threads made since boot (0 if not told).
    pub(crate) processes: u64,
}

/// The times of one core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Core {
    /// The kernel's number of the core; numbers are missing while cores are offline.
    pub(crate) id: u64,
    /// Its times.
    pub(crate) times: CpuTimes,
}

/// Times since boot in clock ticks. Time spent in guests is part of `user` and `nice`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CpuTimes {
    /// Programs.
    pub(crate) user: u64,
    /// Programs of low priority.
    pub(crate) nice: u64,
    /// The kernel.
    pub(crate) system: u64,
    /// Nothing to do.
    pub(crate) idle: u64,
    /// Nothing to do but wait for a disk; the kernel may let it go back.
    pub(crate) iowait: u64,
    /// Hardware interrupts.
    pub(crate) irq: u64,
    /// Soft interrupts.
    pub(crate) softirq: u64,
    /// Taken away by the hypervisor.
    pub(crate) steal: u64,
}

/// What `/proc/meminfo` says, in kB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// `MemTotal`.
    pub(crate) total: u64,
    /// `MemAvailable`; before Linux 3.14 the sum of free, buffers and cached.
    pub(crate) available: u64,
    /// `MemFree`.
    pub(crate) free: u64,
    /// `Buffers`.
    pub(crate) buffers: u64,
    /// `Cached`.
    pub(crate) cached: u64,
    /// `SwapTotal`.
    pub(crate) swap_total: u64,
    /// `SwapFree`.
    pub(crate) swap_free: u64,
}

/// What `/proc/loadavg` says.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Load {
    /// Averages over 1, 5 and 15 minutes.
    pub(crate) averages: [f64; 3],
    /// Threads that can run now.
    pub(crate) running: u64,
    /// Threads that exist.
    pub(crate) total: u64,
}

/// One network interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Net {
    /// Its name.
    pub(crate) name: String,
    /// Its totals.
    pub(crate) totals: NetTotals,
}

/// Totals of one network interface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NetTotals {
    /// Bytes received.
    pub(crate) rx_bytes: u64,
    /// Packets received.
    pub(crate) rx_packets: u64,
    /// Bytes sent.
    pub(crate) tx_bytes: u64,
    /// Packets sent.
    pub(crate) tx_packets: u64,
}

/// One disk or partition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Disk {
    /// Its name.
    pub(crate) name: String,
    /// Its totals.
    pub(crate) totals: DiskTotals,
}

/// Totals of one disk or partition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DiskTotals {
    /// Sectors of 512 bytes read.
    pub(crate) sectors_read: u64,
    /// Sectors of 512 bytes written.
    pub(crate) sectors_written: u64,
    /// ms with a request under way (0 for partitions before Linux 2.6.25).
    pub(crate) busy_ms: u64,
}

/// For each kind of numbers: the way to and from the plain columns, in the order of the fields.
macro_rules! columns {
    ($kind:ident, $count:literal, $($field:ident),+) => {
        impl From<[u64; $count]> for $kind {
            fn from([$($field),+]: [u64; $count]) -> Self {
                Self { $($field),+ }
            }
        }

        impl $kind {
            /// The numbers in the order of the fields.
            pub(crate) fn columns(&self) -> [u64; $count] {
                [$(self.$field),+]
            }
        }
    };
}

columns!(CpuTimes, 8, user, nice, system, idle, iowait, irq, softirq, steal);
columns!(Memory, 7, total, available, free, buffers, cached, swap_total, swap_free);
columns!(NetTotals, 4, rx_bytes, rx_packets, tx_bytes, tx_packets);
columns!(DiskTotals, 3, sectors_read, sectors_written, busy_ms);
