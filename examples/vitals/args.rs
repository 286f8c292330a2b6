//! The command line of the example, parsed by hand.
//!
//! Knows what the options mean together, not what is done with them.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::view::View;
use crate::words::shown;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
vitals: a live monitor of the Linux machine it runs on

usage: vitals [--view VIEW] [--frames N] [--rate HZ] [--record FILE | --replay FILE]

  --view VIEW    show and compute one part only:
                   cpu   processors, memory, swap space and load
                   net   network interfaces
                   disk  disks
                   all   all of these (default)
                 alarms and verdict are of what is shown
  --frames N     stop after N frames (default: after 10 s; in a replay: at the
                 end of the recording)
  --rate HZ      frames per second, above 0 and up to 100 (default: 4; in a
                 replay: as fast as it can)
  --record FILE  write what is read to FILE too, replacing it
  --replay FILE  play a recording instead of reading this machine
  --help, -h     print this and stop

An option may also be written --option=VALUE. A wrong command line ends with exit code 2.
";

/// Frames per second of a live run if nothing is said.
pub(crate) const DEFAULT_RATE: f64 = 4.0;

/// How long a live run goes on if nothing is said.
pub(crate) const DEFAULT_SECONDS: f64 = 10.0;

/// The highest `--rate`: the kernel counts times in ticks of mostly 1/100 s.
pub(crate) const MAX_RATE: f64 = 100.0;

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Args {
    /// Where the readings come from and go to.
    pub(crate) mode: Mode,
    /// What is shown.
    pub(crate) view: View,
    /// Stop after so many frames; at least 1.
    pub(crate) frames: Option<u64>,
    /// Frames per second, if said.
    pub(crate) rate: Option<f64>,
}

/// Where the readings come from and go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Read this machine.
    Live,
    /// Read this machine and write a recording.
    Record(PathBuf),
    /// Read a recording.
    Replay(PathBuf),
}

impl Args {
    /// The time from one frame to the next; `None` in a replay as fast as it can.
    pub(crate) fn period(&self) -> Option<Duration> {
        let default = if matches!(self.mode, Mode::Replay(_)) { None } else { Some(DEFAULT_RATE) };
        self.rate
            .or(default)
            .map(|rate| Duration::try_from_secs_f64(1.0 / rate).unwrap_or(Duration::MAX))
    }

    /// How many frames to read of a machine: those asked for, or as many as fit the default time (two
    /// at least, because a rate takes two).
    pub(crate) fn live_frames(&self) -> u64 {
        let rate = self.rate.unwrap_or(DEFAULT_RATE);
        let fitting = (rate * DEFAULT_SECONDS).floor() as u64 + 1;
        self.frames.unwrap_or(fitting.max(2))
    }
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Command {
    /// To run.
    Run(Args),
    /// To print [`HELP`].
    Help,
}

/// What is wrong with a command line, on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; see --help", self.0)
    }
}

impl std::error::Error for UsageError {}

/// Parses the command line of this process. With `--help` and with a wrong command line it prints
/// and returns the exit code to end with: 0 or 2.
pub(crate) fn from_env() -> Result<Args, ExitCode> {
    match parse(std::env::args_os().skip(1)) {
        Ok(Command::Run(args)) => Ok(args),
        Ok(Command::Help) => {
            print!("{HELP}");
            Err(ExitCode::SUCCESS)
        }
        Err(error) => {
            eprintln!("vitals: {error}");
            Err(ExitCode::from(2))
        }
    }
}

/// Parses a command line without the name of the program. The first mistake is the one reported,
/// and `--help` before it wins.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, UsageError> {
    let mut args = args.into_iter();
    let mut given = Given::default();
    while let Some(arg) = args.next() {
        if arg == "--help" || arg == "-h" {
            return Ok(Command::Help);
        }
        let (name, glued) = split(&arg);
        let value = || glued.or_else(|| args.next().filter(|value| !is_option(value)));
        given.set(name, value).ok_or_else(|| unknown(&arg))??;
    }
    given.together().map(Command::Run)
}

/// `--name=value` as name and value; anything else is a name alone.
fn split(arg: &OsStr) -> (&str, Option<OsString>) {
    let text = arg.to_str().unwrap_or_default();
    text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.into())))
}

fn is_option(arg: &OsStr) -> bool {
    arg.as_encoded_bytes().starts_with(b"--")
}

fn unknown(arg: &OsStr) -> UsageError {
    let arg = shown(&arg.to_string_lossy());
    UsageError(format!("unknown argument `{arg}`"))
}

// What the options need, for messages.
const COUNT: &str = "a whole number of at least 1";
const RATE: &str = "a number above 0 and up to 100";
const FILE: &str = "a file name";
const VIEW: &str = "`cpu`, `net`, `disk` or `all`";

/// The options met so far.
#[derive(Default)]
struct Given {
    view: Option<View>,
    frames: Option<u64>,
    rate: Option<f64>,
    record: Option<PathBuf>,
    replay: Option<PathBuf>,
}

impl Given {
    /// Takes one option; `None` if there is no option of that name. The value is asked for once at most.
    fn set(
        &mut self,
        name: &str,
        value: impl FnOnce() -> Option<OsString>,
    ) -> Option<Result<(), UsageError>> {
        Some(match name {
            "--view" => once(&mut self.view, name, VIEW, value, view),
            "--frames" => once(&mut self.frames, name, COUNT, value, frames),
            "--rate" => once(&mut self.rate, name, RATE, value, rate),
            "--record" => once(&mut self.record, name, FILE, value, file),
            "--replay" => once(&mut self.replay, name, FILE, value, file),
            _ => return None,
        })
    }

    /// What the options mean together.
    fn together(self) -> Result<Args, UsageError> {
        let mode = match (self.record, self.replay) {
            (None, None) => Mode::Live,
            (Some(file), None) => Mode::Record(file),
            (None, Some(file)) => Mode::Replay(file),
            (Some(_), Some(_)) => {
                let problem =
                    "`--record` and `--replay` exclude each other: a replay is a recording already";
                return Err(UsageError(problem.to_owned()));
            }
        };
        let view = self.view.unwrap_or_default();
        Ok(Args { mode, view, frames: self.frames, rate: self.rate })
    }
}

/// Fills the slot of an option that may be given once, with what `parse` makes of its value.
fn once<T>(
    slot: &mut Option<T>,
    name: &str,
    kind: &str,
    value: impl FnOnce() -> Option<OsString>,
    parse: fn(&OsStr) -> Option<T>,
) -> Result<(), UsageError> {
    if slot.is_some() {
        return Err(UsageError(format!("`{name}` is given twice")));
    }
    let value = value().ok_or_else(|| UsageError(format!("`{name}` needs {kind}")))?;
    *slot = parse(&value);
    if slot.is_some() {
        return Ok(());
    }
    let found = shown(&value.to_string_lossy());
    Err(UsageError(format!("`{name}` needs {kind}, not `{found}`")))
}

fn view(value: &OsStr) -> Option<View> {
    View::named(value.to_str()?)
}

fn frames(value: &OsStr) -> Option<u64> {
    value.to_str()?.parse().ok().filter(|frames| *frames > 0)
}

fn rate(value: &OsStr) -> Option<f64> {
    let rate = value.to_str()?.parse().ok()?;
    (rate > 0.0 && rate <= MAX_RATE).then_some(rate)
}

fn file(value: &OsStr) -> Option<PathBuf> {
    if value.is_empty() { None } else { Some(value.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a line, its words separated by single blanks.
    fn parsed(line: &str) -> Result<Command, String> {
        let words = line.split(' ').filter(|_| !line.is_empty()).map(OsString::from);
        parse(words).map_err(|error| error.to_string())
    }

    #[test]
    fn good_lines() {
        use Mode::{Live, Record, Replay};
        let rows = [
            ("", Live, None, None),
            ("--frames 3 --rate 0.5", Live, Some(3), Some(0.5)),
            ("--rate=100 --frames=18446744073709551615", Live, Some(u64::MAX), Some(100.0)),
            ("--record a=b.rec", Record("a=b.rec".into()), None, None),
            ("--record=--x", Record("--x".into()), None, None),
            ("--replay - --rate 1e1", Replay("-".into()), None, Some(10.0)),
        ];
        for (line, mode, frames, rate) in rows {
            let args = Args { mode, view: View::All, frames, rate };
            assert_eq!(parsed(line), Ok(Command::Run(args)), "{line}");
        }
        for view in View::ALL {
            let args = Args { mode: Live, view, frames: Some(2), rate: None };
            let line = format!("--view {view} --frames 2");
            assert_eq!(parsed(&line), Ok(Command::Run(args)), "{line}");
        }
        for line in ["--help", "-h", "--frames 3 --help --nonsense"] {
            assert_eq!(parsed(line), Ok(Command::Help), "{line}");
        }
    }

    #[test]
    fn bad_lines_get_one_clear_line() {
        let number = "`--frames` needs a whole number of at least 1";
        let rate = "`--rate` needs a number above 0 and up to 100";
        let view = "`--view` needs `cpu`, `net`, `disk` or `all`";
        let rows = [
            ("now", "unknown argument `now`".into()),
            ("--frame 3", "unknown argument `--frame`".into()),
            ("--help=x", "unknown argument `--help=x`".into()),
            (" ", "unknown argument ``".into()),
            ("a\nb", "unknown argument `a\\nb`".into()),
            ("--frames", number.into()),
            ("--frames --rate 3", number.into()),
            ("--frames 0", format!("{number}, not `0`")),
            ("--frames -1", format!("{number}, not `-1`")),
            ("--frames 1.5", format!("{number}, not `1.5`")),
            ("--frames=", format!("{number}, not ``")),
            ("--rate 0", format!("{rate}, not `0`")),
            ("--rate -2", format!("{rate}, not `-2`")),
            ("--rate nan", format!("{rate}, not `nan`")),
            ("--rate inf", format!("{rate}, not `inf`")),
            ("--rate 100.1", format!("{rate}, not `100.1`")),
            ("--rate 5hz", format!("{rate}, not `5hz`")),
            ("--view", view.into()),
            ("--view memory", format!("{view}, not `memory`")),
            ("--view=", format!("{view}, not ``")),
            ("--view net --view net", "`--view` is given twice".into()),
            ("--record", "`--record` needs a file name".into()),
            ("--replay=", "`--replay` needs a file name, not ``".into()),
            ("--rate 1 --rate 2", "`--rate` is given twice".into()),
        ];
        for (line, expected) in rows {
            assert_eq!(parsed(line), Err(format!("{expected}; see --help")), "{line}");
        }
        for line in ["--record a --replay b", "--replay b --record a --frames 1"] {
            assert!(parsed(line).unwrap_err().contains("exclude each other"), "{line}");
        }
    }

    #[test]
    fn the_period_follows_rate_and_mode() {
        let rows = [
            ("--rate 10", Some(100)),
            ("", Some(250)),
            ("--record a", Some(250)),
            ("--replay a", None),
            ("--replay a --rate 50", Some(20)),
        ];
        for (line, ms) in rows {
            let Ok(Command::Run(args)) = parsed(line) else { panic!("{line}") };
            assert_eq!(args.period(), ms.map(Duration::from_millis), "{line}");
        }
        let slow =
            Args { mode: Mode::Live, view: View::All, frames: None, rate: Some(f64::MIN_POSITIVE) };
        assert_eq!(slow.period(), Some(Duration::MAX));
    }

    #[test]
    fn a_live_run_ends_by_itself() {
        for (line, frames) in
            [("", 41), ("--rate 0.01", 2), ("--rate 100", 1001), ("--rate 9 --frames 1", 1)]
        {
            let Ok(Command::Run(args)) = parsed(line) else { panic!("{line}") };
            assert_eq!(args.live_frames(), frames, "{line}");
        }
    }

    #[test]
    fn the_help_tells_the_defaults() {
        assert!(HELP.contains(&format!("after {DEFAULT_SECONDS} s;")));
        assert!(HELP.contains(&format!("default: {DEFAULT_RATE};")));
        assert!(HELP.contains(&format!("up to {MAX_RATE} ")));
        let default = HELP.lines().filter(|line| line.contains("(default)")).collect::<Vec<_>>();
        assert_eq!(
            default,
            [format!("                   {}   all of these (default)", View::default())]
        );
    }

    #[test]
    fn the_help_tells_every_view() {
        for view in View::ALL {
            assert!(HELP.contains(&format!("\n                   {view:<4}  ")), "{view}");
            assert!(VIEW.contains(&format!("`{view}`")));
        }
    }
}
