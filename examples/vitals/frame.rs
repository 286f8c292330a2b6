//! One frame of a recording: a reading as words on one line.
//!
//! ```text
//! <ms> cpu <8 times> core <id> <8 times> .. kernel <ctxt> <processes>
//!     mem <total> <available> <free> <buffers> <cached> <swap total> <swap free>
//!     load <1 min> <5 min> <15 min> <running> <total>
//!     net <name> <rx bytes> <rx packets> <tx bytes> <tx packets> ..
//!     disk <name> <sectors read> <sectors written> <ms busy> ..
//! ```
//!
//! all on one line, in this order; `core`, `net` and `disk` any number of times, `load` perhaps not
//! at all. What is decoded is exactly what was encoded. Knows nothing of files, headers, `/proc`.

use std::fmt::{Display, Write};

use crate::reading::{Core, Disk, Load, Net, Reading, Stat};
use crate::words::{ParseError, Words};

/// Appends one frame without its end of line.
pub(crate) fn encode(line: &mut String, reading: &Reading) {
    let Stat { cpu, cores, ctxt, processes } = &reading.stat;
    push(line, &[reading.at_ms]);
    push_tagged(line, "cpu", &cpu.columns());
    for core in cores {
        push_tagged(line, "core", &[core.id]);
        push(line, &core.times.columns());
    }
    push_tagged(line, "kernel", &[ctxt, processes]);
    push_tagged(line, "mem", &reading.memory.columns());
    if let Some(load) = reading.load {
        push_tagged(line, "load", &load.averages);
        push(line, &[load.running, load.total]);
    }
    for net in &reading.nets {
        push_tagged(line, "net", &[&net.name]);
        push(line, &net.totals.columns());
    }
    for disk in &reading.disks {
        push_tagged(line, "disk", &[&disk.name]);
        push(line, &disk.totals.columns());
    }
}

fn push_tagged(line: &mut String, tag: &str, values: &[impl Display]) {
    push(line, &[tag]);
    push(line, values);
}

fn push(line: &mut String, values: &[impl Display]) {
    for value in values {
        let gap = if line.is_empty() { "" } else { " " };
        let _ = write!(line, "{gap}{value}"); // writing to a string cannot fail
    }
}

/// Reads one frame, to the end of the line.
pub(crate) fn decode(words: &mut Words<'_>) -> Result<Reading, ParseError> {
    let at_ms = words.number()?;
    let stat = stat(words)?;
    tag(words, "mem")?;
    let memory = words.numbers()?.into();
    let load = words.take("load").then(|| load(words)).transpose()?;
    let nets = many(words, "net", net)?;
    let disks = many(words, "disk", disk)?;
    words.end()?;
    Ok(Reading { at_ms, stat, memory, load, nets, disks })
}

fn stat(words: &mut Words<'_>) -> Result<Stat, ParseError> {
    tag(words, "cpu")?;
    let cpu = words.numbers()?.into();
    let cores = many(words, "core", core)?;
    tag(words, "kernel")?;
    let [ctxt, processes] = words.numbers()?;
    Ok(Stat { cpu, cores, ctxt, processes })
}

fn core(words: &mut Words<'_>) -> Result<Core, ParseError> {
    let (id, times) = (words.number()?, words.numbers()?.into());
    Ok(Core { id, times })
}

fn load(words: &mut Words<'_>) -> Result<Load, ParseError> {
    let averages = words.decimals()?;
    let [running, total] = words.numbers()?;
    Ok(Load { averages, running, total })
}

fn net(words: &mut Words<'_>) -> Result<Net, ParseError> {
    let name = words.need("an interface name")?.to_owned();
    let totals = words.numbers()?.into();
    Ok(Net { name, totals })
}

fn disk(words: &mut Words<'_>) -> Result<Disk, ParseError> {
    let name = words.need("a disk name")?.to_owned();
    let totals = words.numbers()?.into();
    Ok(Disk { name, totals })
}

/// Reads the groups with this tag, one after another.
fn many<T>(
    words: &mut Words<'_>,
    tag: &str,
    one: fn(&mut Words<'_>) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    let mut all = Vec::new();
    while words.take(tag) {
        all.push(one(words)?);
    }
    Ok(all)
}

fn tag(words: &mut Words<'_>, tag: &str) -> Result<(), ParseError> {
    let what = format!("`{tag}`");
    let found = words.need(&what)?;
    if found == tag { Ok(()) } else { Err(words.unexpected(&what, found)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = "7 cpu 1 2 3 4 5 6 7 8 core 0 8 7 6 5 4 3 2 1 core 9 0 0 0 0 0 0 0 0 \
        kernel 11 12 mem 7 6 5 4 3 2 1 load 0.5 1 12.25 2 99 net load 1 2 3 4 net disk 0 0 0 0 \
        disk net 5 6 7";
    const BARE: &str = "8 cpu 0 0 0 0 0 0 0 0 kernel 0 0 mem 0 0 0 0 0 0 0";

    fn decoded(line: &str) -> Result<Reading, String> {
        decode(&mut Words::new("r", 2, line)).map_err(|error| error.to_string())
    }

    fn encoded(reading: &Reading) -> String {
        let mut line = String::new();
        encode(&mut line, reading);
        line
    }

    #[test]
    fn every_field_has_its_place() {
        let frame = decoded(FULL).unwrap();
        assert_eq!(encoded(&frame), FULL);
        let Reading { at_ms, stat, memory, load, nets, disks } = frame;
        assert_eq!([at_ms, stat.cpu.steal, stat.cores[1].id, stat.processes], [7, 8, 9, 12]);
        assert_eq!((memory.total, memory.swap_free), (7, 1));
        assert_eq!(load.unwrap(), Load { averages: [0.5, 1.0, 12.25], running: 2, total: 99 });
        assert_eq!([&nets[0].name, &nets[1].name, &disks[0].name], ["load", "disk", "net"]);
        assert_eq!((nets[0].totals.tx_packets, disks[0].totals.busy_ms), (4, 7));
        let bare = decoded(BARE).unwrap();
        assert_eq!((bare.load, encoded(&bare)), (None, BARE.to_owned()));
    }

    #[test]
    fn any_reading_comes_back_exactly() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed >> (seed % 64)
        };
        let names = ["eth0", "eth0.100", "caf\u{e9}", "net", "1"].map(str::to_owned);
        for round in 1..200 {
            let mut reading = Reading { at_ms: random(), ..Reading::default() };
            let stat = &mut reading.stat;
            (stat.ctxt, stat.cpu) = (u64::MAX, [(); 8].map(|()| random()).into());
            for id in 0..random() % 5 {
                stat.cores.push(Core { id, times: [(); 8].map(|()| random()).into() });
            }
            reading.memory = [(); 7].map(|()| random()).into();
            let averages = [(); 3].map(|()| random() as f64 / 100.0);
            let load = Load { averages, running: random(), total: random() };
            reading.load = Some(load).filter(|_| round % 2 == 0);
            for name in names.iter().take(round % 6).cloned() {
                let totals = [(); 4].map(|()| random()).into();
                reading.nets.push(Net { name: name.clone(), totals });
                let totals = [(); 3].map(|()| random()).into();
                reading.disks.push(Disk { name, totals });
            }
            assert_eq!(decoded(&encoded(&reading)), Ok(reading));
        }
    }

    #[test]
    fn errors_name_the_column() {
        // `F` stands for a good frame.
        let table = "
=> 1: expected a whole number, found the end of the line
7 cpu 1 2 3 4 5 6 7 kernel => 21: expected a whole number, found `kernel`
7 cpu 1 2 3 4 5 6 7 8 kernel 1 2 swap 1 => 34: expected `mem`, found `swap`
F load 1 x => 59: expected a decimal number, found `x`
F load 1 2 3 4 5 load 1 2 3 4 5 => 67: expected the end of the line, found `load`
F net eth0 1 2 3 => 66: expected a whole number, found the end of the line
F disk => 56: expected a disk name, found the end of the line
F gpu 1 => 52: expected the end of the line, found `gpu`";
        for line in table.lines().skip(1) {
            let (input, expected) = line.split_once("=> ").unwrap();
            let text = input.trim_end().replace('F', BARE);
            assert_eq!(decoded(&text), Err(format!("r:2:{expected}")), "{line}");
        }
    }
}
