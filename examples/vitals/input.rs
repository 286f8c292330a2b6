//! Where frames come from: this machine, a recording, or the shipped recording where there is no
//! `/proc`.
//!
//! Knows the pace and the number of frames. Knows nothing of cells.

use std::error::Error;
use std::io::BufRead;
use std::iter;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::args::{Args, DEFAULT_RATE, Mode};
use crate::proc::{self, ReadError};
use crate::reading::Reading;
use crate::record::{Reader, Writer};

/// The recording that comes with the example, part of the program so that it works from anywhere.
const SHIPPED: &str = include_str!("../data/vitals.rec");
const SHIPPED_NAME: &str = "examples/data/vitals.rec (built in)";

type Frame = Result<Reading, Box<dyn Error>>;

/// A run's frames.
pub(crate) struct Input {
    /// The frames, each when its time has come.
    pub(crate) frames: Box<dyn Iterator<Item = Frame>>,
    /// The unit of processor times, per second.
    pub(crate) clock_ticks: u64,
    /// What is shown, for people.
    pub(crate) title: String,
    /// What to say at the end.
    pub(crate) hint: Option<&'static str>,
}

impl Input {
    /// Opens what the command line asks for; `root` is where the kernel's files are.
    pub(crate) fn open(args: &Args, root: &Path) -> Result<Self, Box<dyn Error>> {
        if let Mode::Replay(path) = &args.mode {
            let title = format!("replaying {}", path.display());
            return Ok(Self::replay(args, Reader::open(path)?, title));
        }
        let start = Instant::now();
        match (Reading::from_root(&start, root), &args.mode) {
            (Ok(first), Mode::Record(path)) => {
                Self::live(args, root, start, first).recorded(path, root)
            }
            (Ok(first), _) => Ok(Self::live(args, root, start, first)),
            (Err(ReadError::Missing(missing)), Mode::Live) => Self::shipped(args, &missing),
            (Err(error), _) => Err(error.into()),
        }
    }

    /// The shipped recording in place of a machine that cannot be read.
    fn shipped(args: &Args, missing: &Path) -> Result<Self, Box<dyn Error>> {
        let reader = Reader::new(SHIPPED_NAME, SHIPPED.as_bytes())?;
        let title = format!(
            "{} is missing, so this machine cannot be read; replaying {SHIPPED_NAME} instead",
            missing.display()
        );
        Ok(Self::replay(args, reader, title))
    }

    /// The same frames, each written to a file before it is given on.
    fn recorded(mut self, path: &Path, root: &Path) -> Result<Self, Box<dyn Error>> {
        let writer = Writer::create(path, proc::clock_ticks(root));
        let mut writer = writer.map_err(|error| writing(path, &error))?;
        self.title += &format!(", recorded to {}", path.display());
        let path = path.to_owned();
        self.frames = Box::new(self.frames.map(move |frame| {
            let frame = frame?;
            let written = writer.frame(&frame);
            written.map_err(|error| writing(&path, &error))?;
            Ok(frame)
        }));
        Ok(self)
    }

    fn live(args: &Args, root: &Path, start: Instant, first: Reading) -> Self {
        let mut pace = Pace::from(start, args.period());
        let folder = root.to_owned();
        let later = iter::repeat_with(move || {
            pace.wait();
            Ok(Reading::from_root(&start, &folder)?)
        });
        let clock_ticks = proc::clock_ticks(root);
        let (count, rate) = (args.live_frames(), args.rate.unwrap_or(DEFAULT_RATE));
        Self {
            frames: Box::new(limited(count, iter::once(Ok(first)).chain(later))),
            clock_ticks,
            title: format!("watching this machine: {count} frames{}", a_second(Some(rate))),
            hint: args
                .frames
                .is_none()
                .then_some("(to watch for longer, say how many frames: --frames N)"),
        }
    }

    fn replay<R: BufRead + 'static>(args: &Args, reader: Reader<R>, title: String) -> Self {
        // A recording keeps no pace that was not asked for, also where it stands in for the machine.
        let period = args.rate.and(args.period());
        let mut pace = Pace::from(Instant::now(), period);
        let clock_ticks = reader.ticks();
        let frames = reader.enumerate().map(move |(at, frame)| {
            if at > 0 {
                pace.wait();
            }
            Ok(frame?)
        });
        Self {
            frames: Box::new(limited(args.frames.unwrap_or(u64::MAX), frames)),
            clock_ticks,
            title: title + &a_second(args.rate),
            hint: None,
        }
    }
}

/// What to say of a rate.
fn a_second(rate: Option<f64>) -> String {
    rate.map_or_else(String::new, |rate| format!(", {rate} a second"))
}

fn limited(count: u64, frames: impl Iterator<Item = Frame>) -> impl Iterator<Item = Frame> {
    frames.take(usize::try_from(count).unwrap_or(usize::MAX))
}

fn writing(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

/// Keeps the time between frames. One that comes late does not make the next ones come early.
struct Pace {
    next: Instant,
    period: Option<Duration>,
}

impl Pace {
    fn from(start: Instant, period: Option<Duration>) -> Self {
        Self { next: start, period }
    }

    /// Sleeps until the next frame is due.
    fn wait(&mut self) {
        let Some(period) = self.period else { return };
        let now = Instant::now();
        let due = self.next.checked_add(period).map(|due| due.max(now));
        thread::sleep(due.map_or(period, |due| due - now));
        self.next = due.unwrap_or(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;

    fn args(mode: Mode, frames: Option<u64>) -> Args {
        Args { mode, view: View::All, frames, rate: Some(100.0) }
    }

    #[test]
    fn without_proc_the_shipped_recording_is_played() {
        let live = Args { rate: None, ..args(Mode::Live, Some(2)) };
        let root = Path::new("no/such/root");
        let input = Input::open(&live, root).unwrap();
        assert_eq!(
            input.title,
            "no/such/root is missing, so this machine cannot be read; \
             replaying examples/data/vitals.rec (built in) instead"
        );
        assert_eq!((input.frames.count(), input.clock_ticks), (2, 100));
    }

    #[test]
    fn without_proc_nothing_is_recorded() {
        let file = std::env::temp_dir().join(format!("vitals-{}-none.rec", std::process::id()));
        let record = args(Mode::Record(file.clone()), Some(2));
        let error = Input::open(&record, Path::new("no/such/root")).err().unwrap();
        assert!(error.to_string().starts_with("no/such/root is missing; "));
        assert!(!file.exists());
    }
}
