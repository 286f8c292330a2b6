//! What two readings say together: shares of time and amounts per second.
//!
//! Pure functions on plain data. A counter that went back (a device that was replaced, `iowait`)
//! counts as one that stood still. Knows nothing of cells.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::reading::{CpuTimes, Disk, Memory, Net};

const SECTOR: u64 = 512;

/// Totals of one device that moves bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Volume {
    /// Bytes received or read.
    pub(crate) taken: u64,
    /// Bytes sent or written.
    pub(crate) given: u64,
    /// ms with work under way; 0 where that is not told.
    pub(crate) busy_ms: u64,
}

/// All devices of one kind by name; cheap to clone.
pub(crate) type Volumes = Rc<BTreeMap<String, Volume>>;

/// All devices of one kind at a time, in ms.
pub(crate) type Moment = (u64, Volumes);

/// What a device, or several together, do in a second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Flow {
    /// Bytes received or read.
    pub(crate) taken: f64,
    /// Bytes sent or written.
    pub(crate) given: f64,
    /// The share of time with work under way; of several, that of the busiest.
    pub(crate) busy: f64,
}

impl Flow {
    /// The larger of both, each amount for itself.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            taken: self.taken.max(other.taken),
            given: self.given.max(other.given),
            busy: self.busy.max(other.busy),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            taken: self.taken + other.taken,
            given: self.given + other.given,
            busy: self.busy.max(other.busy),
        }
    }
}

/// The interfaces of a reading.
pub(crate) fn net_volumes(nets: &[Net]) -> Volumes {
    let volume =
        |net: &Net| Volume { taken: net.totals.rx_bytes, given: net.totals.tx_bytes, busy_ms: 0 };
    Rc::new(nets.iter().map(|net| (net.name.clone(), volume(net))).collect())
}

/// The disks and partitions of a reading.
pub(crate) fn disk_volumes(disks: &[Disk]) -> Volumes {
    let volume = |disk: &Disk| Volume {
        taken: disk.totals.sectors_read.saturating_mul(SECTOR),
        given: disk.totals.sectors_written.saturating_mul(SECTOR),
        busy_ms: disk.totals.busy_ms,
    };
    Rc::new(disks.iter().map(|disk| (disk.name.clone(), volume(disk))).collect())
}

/// The share of time, 0 to 1, that a processor worked between two readings; `None` if its clock did
/// not tick.
pub(crate) fn busy_share(before: &CpuTimes, after: &CpuTimes) -> Option<f64> {
    let (busy, total) = spent(before, after);
    (total > 0).then(|| busy as f64 / total as f64)
}

/// Clock ticks worked, and all clock ticks, between two readings.
pub(crate) fn spent(before: &CpuTimes, after: &CpuTimes) -> (u64, u64) {
    let mut grown = after.columns();
    for (column, before) in grown.iter_mut().zip(before.columns()) {
        *column = column.saturating_sub(before);
    }
    let grown = CpuTimes::from(grown);
    let total: u64 = grown.columns().iter().sum();
    (total - grown.idle - grown.iowait, total)
}

/// What one device did per second; `None` if it was not there at both times, or no time passed.
pub(crate) fn device_flow(name: &str, before: &Moment, after: &Moment) -> Option<Flow> {
    let ms = after.0.saturating_sub(before.0);
    let (old, new) = (before.1.get(name)?, after.1.get(name)?);
    (ms > 0).then(|| flow(old, new, ms as f64))
}

/// What the devices that count did per second together; `None` if no time passed. One that was not
/// there at both times adds nothing.
pub(crate) fn total_flow(
    before: &Moment,
    after: &Moment,
    counts: fn(&str, &Volumes) -> bool,
) -> Option<Flow> {
    if after.0 <= before.0 {
        return None;
    }
    let counted = after.1.keys().filter(|name| counts(name, &after.1));
    let flows = counted.filter_map(|name| device_flow(name, before, after));
    Some(flows.fold(Flow::default(), Flow::plus))
}

fn flow(old: &Volume, new: &Volume, ms: f64) -> Flow {
    let per_second = |old: u64, new: u64| new.saturating_sub(old) as f64 * 1000.0 / ms;
    Flow {
        taken: per_second(old.taken, new.taken),
        given: per_second(old.given, new.given),
        // The kernel's clock and ours differ by a ms or two.
        busy: (per_second(old.busy_ms, new.busy_ms) / 1000.0).min(1.0),
    }
}

/// Whether an interface counts in the total: the machine talking to itself does not.
pub(crate) fn is_network(name: &str, _: &Volumes) -> bool {
    name != "lo"
}

/// Whether a disk counts in the total: what lies on another disk (partitions, mapped and RAID devices)
/// would count twice, what lies in memory is no disk.
pub(crate) fn is_disk(name: &str, all: &Volumes) -> bool {
    let stacked = ["dm-", "md", "zram"];
    let on_another =
        |disk: &String| name.strip_prefix(disk.as_str()).is_some_and(is_partition_suffix);
    !stacked.iter().any(|kind| name.starts_with(kind)) && !all.keys().any(on_another)
}

/// What follows the name of the disk: `1` in `sda1`, `p1` in `nvme0n1p1`.
fn is_partition_suffix(rest: &str) -> bool {
    let digits = rest.strip_prefix('p').unwrap_or(rest);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The share of memory, 0 to 1, that programs could not get; `None` if there is none.
pub(crate) fn memory_used(memory: &Memory) -> Option<f64> {
    used(memory.total, memory.available)
}

/// The share of swap space in use; `None` if there is none.
pub(crate) fn swap_used(memory: &Memory) -> Option<f64> {
    used(memory.swap_total, memory.swap_free)
}

fn used(total: u64, free: u64) -> Option<f64> {
    (total > 0).then(|| total.saturating_sub(free) as f64 / total as f64)
}

/// The mean of the values that are known.
pub(crate) fn mean(values: &[Option<f64>]) -> Option<f64> {
    let known = || values.iter().flatten();
    let count = known().count();
    (count > 0).then(|| known().sum::<f64>() / count as f64)
}

/// The larger of two values that may be unknown.
pub(crate) fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.zip(b).map(|(a, b)| a.max(b)).or(a).or(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volumes(rows: &[(&str, [u64; 3])]) -> Volumes {
        let volume = |[taken, given, busy_ms]: [u64; 3]| Volume { taken, given, busy_ms };
        Rc::new(rows.iter().map(|(name, row)| ((*name).to_owned(), volume(*row))).collect())
    }

    #[test]
    fn idle_and_waiting_is_not_busy_and_counters_may_go_back() {
        let before = CpuTimes::from([10, 0, 5, 100, 50, 0, 0, 0]);
        let after = CpuTimes::from([12, 1, 5, 105, 40, 0, 2, 0]);
        assert_eq!(spent(&before, &after), (5, 10));
        assert_eq!(busy_share(&before, &after), Some(0.5));
        assert_eq!(busy_share(&after, &after), None);
    }

    #[test]
    fn a_flow_is_per_second_and_needs_time_and_both_readings() {
        let before = (1000, volumes(&[("a", [0, 100, 0]), ("gone", [0; 3])]));
        let after = (1500, volumes(&[("a", [50, 40, 600]), ("new", [9; 3])]));
        let flow = Flow { taken: 100.0, given: 0.0, busy: 1.0 };
        assert_eq!(device_flow("a", &before, &after), Some(flow));
        assert_eq!(device_flow("gone", &before, &after), None);
        assert_eq!(device_flow("new", &before, &after), None);
        assert_eq!(device_flow("a", &before, &(1000, after.1.clone())), None, "no time");
        assert_eq!(total_flow(&before, &after, |_, _| true), Some(flow));
        assert_eq!(total_flow(&after, &after, |_, _| true), None);
    }

    #[test]
    fn a_total_adds_amounts_and_takes_the_busiest() {
        let before = (0, volumes(&[("a", [0; 3]), ("b", [0; 3]), ("lo", [0; 3])]));
        let after = (1000, volumes(&[("a", [1, 2, 300]), ("b", [4, 8, 200]), ("lo", [99; 3])]));
        let flow = Flow { taken: 5.0, given: 10.0, busy: 0.3 };
        assert_eq!(total_flow(&before, &after, is_network), Some(flow));
    }

    #[test]
    fn only_whole_disks_count() {
        let names = [
            "dm-0",
            "md0",
            "mmcblk0",
            "mmcblk0p1",
            "nvme0n1",
            "nvme0n1p12",
            "sda",
            "sda1",
            "sdaa",
            "vda1",
            "zram0",
        ];
        let all = volumes(&names.map(|name| (name, [0; 3])));
        let whole: Vec<_> = names.into_iter().filter(|name| is_disk(name, &all)).collect();
        assert_eq!(whole, ["mmcblk0", "nvme0n1", "sda", "sdaa", "vda1"]);
    }

    #[test]
    fn unknown_values_are_left_out() {
        assert_eq!(mean(&[None, Some(1.0), Some(2.0)]), Some(1.5));
        assert_eq!(mean(&[None]), None);
        assert_eq!(larger(Some(1.0), None), Some(1.0));
        assert_eq!(larger(Some(1.0), Some(2.0)), Some(2.0));
        assert_eq!(larger(None, None), None);
        assert_eq!(swap_used(&Memory::default()), None);
        let memory = Memory::from([8, 6, 0, 0, 0, 4, 1]);
        assert_eq!((memory_used(&memory), swap_used(&memory)), (Some(0.25), Some(0.75)));
    }
}
