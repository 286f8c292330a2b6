//! Pure parsers of the text files that a Linux kernel publishes below `/proc`.
//!
//! They accept columns and lines that newer kernels may add and the columns that old ones lack,
//! but never a broken number. Values stay raw. Knows nothing of where the texts come from.

use crate::reading::{Core, CpuTimes, Disk, Load, Memory, Net, Stat};
use crate::words::{ParseError, Words, is_word};

/// The file below `/proc`: processors and kernel totals.
pub(crate) const STAT: &str = "stat";
/// The file below `/proc`: memory.
pub(crate) const MEMINFO: &str = "meminfo";
/// The file below `/proc`: network interfaces.
pub(crate) const NET_DEV: &str = "net/dev";
/// The file below `/proc`: load.
pub(crate) const LOADAVG: &str = "loadavg";
/// The file below `/proc`: disks and partitions.
pub(crate) const DISKSTATS: &str = "diskstats";

/// Parses `/proc/stat`; the aggregate line must be there.
pub(crate) fn stat(text: &str) -> Result<Stat, ParseError> {
    let (mut stat, mut aggregate) = (Stat::default(), None);
    for mut words in Words::lines(STAT, text) {
        match words.need("a key")? {
            "cpu" => aggregate = Some(cpu_times(&mut words)?),
            "ctxt" => stat.ctxt = words.number()?,
            "processes" => stat.processes = words.number()?,
            key => {
                if let Some(id) = key.strip_prefix("cpu").filter(|id| starts_with_digit(id)) {
                    let id = words.whole(id)?;
                    stat.cores.push(Core { id, times: cpu_times(&mut words)? });
                }
            }
        }
    }
    stat.cpu = aggregate.ok_or_else(|| ParseError::lacks(STAT, text, "`cpu` line"))?;
    Ok(stat)
}

/// Four columns are as old as the file, the others came with Linux 2.6.
fn cpu_times(words: &mut Words<'_>) -> Result<CpuTimes, ParseError> {
    let mut columns = [0; 8];
    for (index, column) in columns.iter_mut().enumerate() {
        if index < 4 || words.more() {
            *column = words.number()?;
        }
    }
    Ok(columns.into())
}

/// The keys of `/proc/meminfo` for the fields of [`Memory`], in their order.
const MEMINFO_KEYS: [&str; 7] =
    ["MemTotal", "MemAvailable", "MemFree", "Buffers", "Cached", "SwapTotal", "SwapFree"];

/// Parses `/proc/meminfo`; `MemTotal` and `MemFree` must be there.
pub(crate) fn meminfo(text: &str) -> Result<Memory, ParseError> {
    let mut found = [None; MEMINFO_KEYS.len()];
    for mut words in Words::lines(MEMINFO, text) {
        let label = words.label();
        if let Some(at) = MEMINFO_KEYS.iter().position(|key| Some(*key) == label) {
            found[at] = Some(words.number()?);
        }
    }
    let lacks = |key: &str| ParseError::lacks(MEMINFO, text, &format!("`{key}:` line"));
    for required in [0, 2] {
        found[required].ok_or_else(|| lacks(MEMINFO_KEYS[required]))?;
    }
    let mut memory = Memory::from(found.map(Option::unwrap_or_default));
    if found[1].is_none() {
        let without_cached = memory.free.saturating_add(memory.buffers);
        memory.available = without_cached.saturating_add(memory.cached);
    }
    Ok(memory)
}

/// Parses `/proc/loadavg`.
pub(crate) fn loadavg(text: &str) -> Result<Load, ParseError> {
    let mut words = Words::new(LOADAVG, 1, text.lines().next().unwrap_or_default());
    let averages = words.decimals()?;
    let threads = words.need("running/total")?;
    let pair = threads.split_once('/').ok_or_else(|| words.unexpected("running/total", threads))?;
    let (running, total) = (words.whole(pair.0)?, words.whole(pair.1)?);
    Ok(Load { averages, running, total })
}

/// Parses `/proc/net/dev`: two lines of headings, then one line an interface.
pub(crate) fn net_dev(text: &str) -> Result<Vec<Net>, ParseError> {
    Words::lines(NET_DEV, text).filter(|words| words.line() > 2).map(net).collect()
}

fn net(mut words: Words<'_>) -> Result<Net, ParseError> {
    let label = words.label().filter(|label| is_word(label));
    let name = label.ok_or_else(|| words.error("expected an interface name and a colon"))?;
    let [rx_bytes, rx_packets] = words.numbers()?;
    words.skip(6); // errs drop fifo frame compressed multicast
    let [tx_bytes, tx_packets] = words.numbers()?;
    let totals = [rx_bytes, rx_packets, tx_bytes, tx_packets].into();
    Ok(Net { name: name.to_owned(), totals })
}

/// Parses `/proc/diskstats`, leaving out loop and RAM disks.
pub(crate) fn diskstats(text: &str) -> Result<Vec<Disk>, ParseError> {
    Words::lines(DISKSTATS, text).filter_map(|words| disk(words).transpose()).collect()
}

fn disk(mut words: Words<'_>) -> Result<Option<Disk>, ParseError> {
    let [_major, _minor] = words.numbers()?;
    let name = words.need("a disk name")?.to_owned();
    let number = name.strip_prefix("loop").or_else(|| name.strip_prefix("ram"));
    if number.is_some_and(starts_with_digit) {
        return Ok(None);
    }
    // Partitions before Linux 2.6.25: reads, sectors read, writes, sectors written.
    let short = words.left() == 4;
    let mut after = |count| {
        words.skip(count);
        words.number()
    };
    let sectors_read = after(if short { 1 } else { 2 })?;
    let sectors_written = after(if short { 1 } else { 3 })?;
    let busy_ms = if short { 0 } else { after(2)? };
    let totals = [sectors_read, sectors_written, busy_ms].into();
    Ok(Some(Disk { name, totals }))
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    /// What the error of a parser says; panics if there is none.
    fn message<T: fmt::Debug>(result: Result<T, ParseError>) -> String {
        result.unwrap_err().to_string()
    }

    /// Checks a table of lines `input => output`; `;` in an input stands for an end of line.
    fn check(table: &str, output: impl Fn(&str) -> String) {
        for line in table.lines().filter(|line| !line.is_empty()) {
            let (input, expected) = line.split_once(" => ").expect(line);
            assert_eq!(output(&input.replace(';', "\n")), expected.trim(), "{line}");
        }
    }

    const OLD_STAT: &str = "cpu  9 8 7 6;cpu0 5 4 3 2;page 1 2;disk_io: (3,0):(1,1,8,0,0);ctxt 5";

    #[test]
    fn stat_of_many_kernels() {
        // Aggregate, cores (number and time in user programs), ctxt and processes. In order:
        // Linux 2.4, 2.6.10 without steal, offline cores and no end of line, keys to come.
        let table = "
cpu 1 2 3 4 5 6 7; => [1, 2, 3, 4, 5, 6, 7, 0] [] 0 0
cpu 1 2 3 4 5 6 7 8 9 10;cpu0 1 0 0 0;cpu3 4 0 0 0;processes 7 => [1, 2, 3, 4, 5, 6, 7, 8] [(0, 1), (3, 4)] 0 7
cpufreq x;cpu 9 0 0 0 0 0 0 0 0 0 11 twelve;;new -1 ?;ctxt 18446744073709551615; => [9, 0, 0, 0, 0, 0, 0, 0] [] 18446744073709551615 0";
        check(&format!("{OLD_STAT}; => [9, 8, 7, 6, 0, 0, 0, 0] [(0, 5)] 5 0{table}"), |text| {
            let Stat { cpu, cores, ctxt, processes } = stat(text).unwrap();
            let cores: Vec<_> = cores.iter().map(|core| (core.id, core.times.user)).collect();
            format!("{:?} {cores:?} {ctxt} {processes}", cpu.columns())
        });
    }

    #[test]
    fn stat_of_many_cores() {
        let core = |n| format!("cpu{n} {n} 0 0 1 0 0 0 0 0 0\n");
        let text = format!("cpu  1 0 0 1\n{}intr 1 2", (0..1024).map(core).collect::<String>());
        let cores = stat(&text).unwrap().cores;
        assert!(cores.iter().map(|core| (core.id, core.times.user)).eq((0..1024).map(|n| (n, n))));
    }

    #[test]
    fn meminfo_of_many_kernels() {
        // total, available, free, buffers, cached, swap total, swap free
        let table = "
MemTotal:       9 kB;MemFree: 8 kB;MemAvailable: 7 kB;Buffers: 6 kB;Cached: 5 kB;SwapCached: 4 kB;SwapTotal: 3 kB;SwapFree: 2 kB;HugePages_Total: 1; => [9, 7, 8, 6, 5, 3, 2]
MemTotal: 900 kB;MemFree: 100 kB;Buffers: 10 kB;Cached: 20 kB => [900, 130, 100, 10, 20, 0, 0]
        total:    used:    free:  cached:;Mem:  9 8 7 6;Swap: 5 4 3;MemTotal: 2;MemFree:1 kB => [2, 1, 1, 0, 0, 0, 0]";
        check(table, |text| format!("{:?}", meminfo(text).unwrap().columns()));
    }

    #[test]
    fn interface_names_and_glued_colons() {
        let table = "
    lo:    3193      29    0    0    0     0          0         0     3194      30    0    0    0     0       0          0 => lo [3193, 29, 3194, 30]
  eth0:123 4 0 0 0 0 0 0 5 6 0 0 0 0 0 0 => eth0 [123, 4, 5, 6]
eth0:1:1234567890123 4 0 0 0 0 0 0 5 6 => eth0:1 [1234567890123, 4, 5, 6]
eth0.100: 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0 new => eth0.100 [1, 2, 3, 4]
vlan-4094@x: 1 2 - - - - - - 3 4 => vlan-4094@x [1, 2, 3, 4]
caf\u{e9}\u{fffd}:1 2 0 0 0 0 0 0 3 4 => caf\u{e9}\u{fffd} [1, 2, 3, 4]";
        check(table, |line| {
            let text = format!("Inter-|   Receive\n face |bytes\n{line}\n");
            let nets = net_dev(&text).unwrap();
            nets.iter().map(|net| format!("{} {:?}", net.name, net.totals.columns())).collect()
        });
        assert_eq!(net_dev("Inter-|\n face |\n"), Ok(vec![]));
    }

    #[test]
    fn diskstats_of_many_kernels() {
        let table = "
254 0 vda 4723 2516 1110650 3197 481 3320 256904 788 0 1576 4172 3044 21 38264 186 6 0 => vda [1110650, 256904, 1576]
   8       1 sda1 1 2 3 4 5 6 7 8 9 10 11 => sda1 [3, 7, 10]
   8       1 sda1 35486 38030 38084 38031 => sda1 [38030, 38031, 0]
259 0 nvme0n1p1 1 2 3 4 5 6 7 8 -1 10 => nvme0n1p1 [3, 7, 10]
104 0 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11 => cciss/c0d0 [3, 7, 10]
253 0 zram0 0 0 0 0 0 0 0 0 0 0 0;7 0 loop0 x;1 15 ram15 0 0 0 0 => zram0 [0, 0, 0]
9 0 rampart 1 2 3 4 5 6 7 8 9 10 11 => rampart [3, 7, 10]
7 1 loop1 0 0 0 0 0 0 0 0 0 0 0; => ";
        check(table, |text| {
            let disks = diskstats(text).unwrap();
            disks.iter().map(|disk| format!("{} {:?}", disk.name, disk.totals.columns())).collect()
        });
    }

    #[test]
    fn loadavg_with_columns_to_come() {
        let averages = [0.5, 12.25, 100.0];
        let load = loadavg("0.50 12.25 100.00 3/1024 4711 new\n");
        assert_eq!(load, Ok(Load { averages, running: 3, total: 1024 }));
    }

    #[test]
    fn errors_name_file_line_and_column() {
        let table = "
cpu  1 2 3 4;cpu0 1 2 x 4; => stat:2:10: expected a whole number, found `x`
cpu  1 2 3; => stat:1:11: expected a whole number, found the end of the line
cpu0x 1 2 3 4; => stat:1:1: expected a whole number, found `0x`
ctxt 1; => stat:2:1: no `cpu` line in the whole file
 => stat:1:1: no `cpu` line in the whole file";
        check(table, |text| message(stat(text)));
        let table = "
MemTotal: 1 kB;MemFree: -3 kB; => meminfo:2:10: expected a whole number, found `-3`
MemTotal: 1 kB; => meminfo:2:1: no `MemFree:` line in the whole file";
        check(table, |text| message(meminfo(text)));
        let table = "
 => loadavg:1:1: expected a decimal number, found the end of the line
0.1 0.2 nan 1/2 3 => loadavg:1:9: expected a decimal number, found `nan`
0.1 0.2 0.3 12 3 => loadavg:1:13: expected running/total, found `12`";
        check(table, |text| message(loadavg(text)));
        let table = "
eth0 12 => net/dev:3:1: expected an interface name and a colon
 : 1 2 => net/dev:3:1: expected an interface name and a colon
eth0:1 2 0 0 0 => net/dev:3:15: expected a whole number, found the end of the line";
        check(table, |line| message(net_dev(&format!("a\nb\n{line}"))));
        let table = "
8 0 sda 1 2 3z 4 5 => diskstats:1:13: expected a whole number, found `3z`
8 0 => diskstats:1:4: expected a disk name, found the end of the line";
        check(table, |text| message(diskstats(text)));
    }
}
