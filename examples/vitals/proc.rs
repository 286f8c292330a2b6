//! Takes a [`Reading`] of the running machine from the text files below `/proc`.
//!
//! Knows which of them a reading cannot do without, and what to say if they are not there. The texts
//! themselves are for [`crate::parse`]. Keeps no state between two readings; knows nothing of the
//! recording or of cells.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::parse::{self, DISKSTATS, LOADAVG, MEMINFO, NET_DEV, STAT};
use crate::reading::Reading;
use crate::words::ParseError;

/// Where the kernel's files are.
pub(crate) const ROOT: &str = "/proc";

/// Why there is no reading.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// A file or folder that a reading cannot do without is not there.
    Missing(PathBuf),
    /// A file is there but cannot be read.
    Io(PathBuf, io::Error),
    /// A file says something that is not understood.
    Parse(ParseError),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remedy = "use `--replay FILE` to play a recording instead";
        match self {
            Self::Missing(path) => {
                write!(
                    f,
                    "{} is missing; a live reading needs the counters of Linux: ",
                    path.display()
                )?;
                f.write_str(remedy)
            }
            Self::Io(path, error) => write!(f, "cannot read {}: {error}; {remedy}", path.display()),
            Self::Parse(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl Reading {
    /// Reads the counters below `root` (that of this machine is [`ROOT`]) now; `start` is when the
    /// program started. `stat` and `meminfo` must be there; what belongs to any other file stays
    /// empty if that is missing or not to be read.
    pub(crate) fn from_root(start: &Instant, root: &Path) -> Result<Self, ReadError> {
        Ok(Self {
            at_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            stat: required(root, STAT, parse::stat)?,
            memory: required(root, MEMINFO, parse::meminfo)?,
            load: optional(root, LOADAVG, |text| parse::loadavg(text).map(Some))?,
            nets: optional(root, NET_DEV, parse::net_dev)?,
            disks: optional(root, DISKSTATS, parse::diskstats)?,
        })
    }
}

type Parser<T> = fn(&str) -> Result<T, ParseError>;

fn required<T>(root: &Path, file: &str, parse: Parser<T>) -> Result<T, ReadError> {
    let path = root.join(file);
    read(&path, parse).map_err(|error| match error {
        ReadError::Io(_, why) if why.kind() == ErrorKind::NotFound => {
            ReadError::Missing(if root.is_dir() { path } else { root.to_owned() })
        }
        other => other,
    })
}

fn optional<T: Default>(root: &Path, file: &str, parse: Parser<T>) -> Result<T, ReadError> {
    let hidden = [ErrorKind::NotFound, ErrorKind::PermissionDenied, ErrorKind::NotADirectory];
    match read(&root.join(file), parse) {
        Err(ReadError::Io(_, error)) if hidden.contains(&error.kind()) => Ok(T::default()),
        other => other,
    }
}

fn read<T>(path: &Path, parse: Parser<T>) -> Result<T, ReadError> {
    let bytes = fs::read(path).map_err(|error| ReadError::Io(path.to_owned(), error))?;
    let text = String::from_utf8_lossy(&bytes); // interface names may be any bytes
    parse(&text).map_err(|mut error| {
        error.file = path.display().to_string();
        ReadError::Parse(error)
    })
}

/// The clock ticks per second of [`CpuTimes`](crate::reading::CpuTimes), as the kernel told this process at its start below
/// `root`; 100, which is right nearly everywhere, if that cannot be read.
pub(crate) fn clock_ticks(root: &Path) -> u64 {
    const WORD: usize = size_of::<usize>();
    const AT_CLKTCK: usize = 17;
    let auxv = fs::read(root.join("self/auxv")).unwrap_or_default();
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, usize::from_ne_bytes);
    let mut pairs = auxv.chunks_exact(2 * WORD).map(|pair| pair.split_at(WORD));
    let ticks = pairs.find(|(key, _)| word(key) == AT_CLKTCK).map_or(0, |(_, value)| word(value));
    if ticks == 0 { 100 } else { ticks as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is removed when the test ends.
    struct FakeRoot(PathBuf);

    impl FakeRoot {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("vitals-{}-{name}", std::process::id()));
            fs::create_dir_all(root.join("net")).unwrap();
            files.iter().for_each(|(file, text)| fs::write(root.join(file), text).unwrap());
            Self(root)
        }

        /// A reading from here, or its error with the folder shown as `ROOT`.
        fn read(&self) -> Result<Reading, String> {
            let reading = Reading::from_root(&Instant::now(), &self.0);
            let root = self.0.display().to_string();
            reading.map_err(|error| error.to_string().replace(&root, "ROOT"))
        }
    }

    impl Drop for FakeRoot {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const CPU: (&str, &str) = (STAT, "cpu 1 2 3 4\n");
    const MEM: (&str, &str) = (MEMINFO, "MemTotal: 2 kB\nMemFree: 1 kB\n");

    #[test]
    fn only_stat_and_meminfo_are_required() {
        let bare = FakeRoot::new("bare", &[CPU, MEM]).read().unwrap();
        assert!(bare.load.is_none() && bare.nets.is_empty() && bare.disks.is_empty());
        assert_eq!((bare.stat.cpu.idle, bare.memory.total), (4, 2));
        let missing = FakeRoot::new("no-meminfo", &[CPU]).read().unwrap_err();
        assert!(missing.starts_with("ROOT/meminfo is missing; "), "{missing}");
        let broken = FakeRoot::new("broken", &[CPU, MEM, (LOADAVG, "x")]).read().unwrap_err();
        assert_eq!(broken, "ROOT/loadavg:1:1: expected a decimal number, found `x`");
    }

    #[test]
    fn a_missing_root_is_named_itself() {
        let root = Path::new("no/such/root");
        let error = Reading::from_root(&Instant::now(), root).unwrap_err().to_string();
        assert!(error.starts_with("no/such/root is missing; ") && error.contains("--replay"));
        assert_eq!(clock_ticks(root), 100);
    }

    #[test]
    fn this_machine_can_be_read() {
        if Path::new(ROOT).join(STAT).exists() {
            let reading = Reading::from_root(&Instant::now(), Path::new(ROOT)).unwrap();
            assert!(reading.memory.total > 0 && reading.stat.cpu.idle > 0);
            assert!(clock_ticks(Path::new(ROOT)) > 0);
        }
    }
}
