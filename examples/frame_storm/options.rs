//! The command line of the example, parsed by hand.
//!
//! Knows what the options mean together, not what is done with them.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use hyphae::Timing;

use crate::rig::LEAST_CELLS;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
frame_storm: a light show as cells, frame by frame, and what each frame costs

usage: frame_storm [OPTION]...

  --cells N      at most so many cells, from 66 to 5000000 (default: 50000)
  --frames N     stop after so many frames (default: 600); 0: when Enter is
                 pressed
  --hz N         frames a second, from 1 to 10000 (default: 60); 0: as fast as it
                 can, with the steps and the budget of 60
  --warm-up MS   awake for so long before each frame, to have the cells in the
                 processor's caches (default: 4)
  --seed N       what the show is made up from (default: 1)
  --churn N      re-links a second: dimmers that are made to follow something else
                 (default: 120)
  --assert       compare the channels of some frames with a plain computation
  --timing WHAT  which waves are timed for each cell: off, all, or one in N
                 (default: 16)
  --pass         tell which cells fire more than once in a frame
  --report FILE  write a page (HTML) with all that was found
  --flame FILE   write a flame graph (SVG); needs a build with the feature `flame`
  --quiet        print nothing but errors
  --help, -h     print this and stop

An option with a value may also be written --option=VALUE. With --hz 0 a seed gives the same show
and the same output each time, but for the times. A wrong command line ends with exit code 2.
";

/// The highest `--cells`.
const MOST_CELLS: usize = 5_000_000;

/// The highest `--churn`.
const MOST_CHURN: u32 = 10_000_000;

/// Frames a second for the show of `--hz 0`.
const SHOW_HZ: f64 = 60.0;

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Options {
    /// At most so many cells.
    pub(crate) cells: usize,
    /// `None`: until Enter is pressed.
    pub(crate) frames: Option<u64>,
    pub(crate) pace: Pace,
    pub(crate) warm_up: Duration,
    pub(crate) seed: u64,
    /// Re-links a second.
    pub(crate) churn: u32,
    /// Whether answers are checked.
    pub(crate) assert: bool,
    pub(crate) timing: Timing,
    pub(crate) pass: bool,
    pub(crate) report: Option<PathBuf>,
    pub(crate) flame: Option<PathBuf>,
    pub(crate) quiet: bool,
}

/// When frames run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pace {
    /// So many times a second.
    Hertz(f64),
    /// One right after the other.
    Fast,
}

impl Pace {
    /// Frames a second of the show.
    pub(crate) fn hz(self) -> f64 {
        match self {
            Self::Hertz(hz) => hz,
            Self::Fast => SHOW_HZ,
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hertz(hz) => write!(f, "{hz} Hz"),
            Self::Fast => f.write_str("as fast as it can"),
        }
    }
}

/// A choice of `--timing`, as it is written.
pub(crate) fn timing_word(timing: Timing) -> String {
    match timing {
        Timing::Off => "off".to_owned(),
        Timing::EveryWave => "all".to_owned(),
        Timing::OneWaveIn(waves) => waves.to_string(),
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cells: 50_000,
            frames: Some(600),
            pace: Pace::Hertz(60.0),
            warm_up: Duration::from_millis(4),
            seed: 1,
            churn: 120,
            assert: false,
            timing: Timing::OneWaveIn(16),
            pass: false,
            report: None,
            flame: None,
            quiet: false,
        }
    }
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Command {
    /// To run.
    Run(Options),
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

/// Parses the command line of this process. With `--help` and with a wrong command line it prints and returns the exit
/// code to end with: 0 or 2.
pub(crate) fn from_env() -> Result<Options, ExitCode> {
    match parse(std::env::args_os().skip(1)) {
        Ok(Command::Run(options)) => Ok(options),
        Ok(Command::Help) => {
            print!("{HELP}");
            Err(ExitCode::SUCCESS)
        }
        Err(error) => {
            eprintln!("frame_storm: {error}");
            Err(ExitCode::from(2))
        }
    }
}

/// Parses a command line without the name of the program. The first mistake is the one reported, and `--help` before it
/// wins.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, UsageError> {
    let mut args = args.into_iter();
    let mut given = Given::default();
    while let Some(arg) = args.next() {
        if arg == "--help" || arg == "-h" {
            return Ok(Command::Help);
        }
        let (name, glued) = split(&arg);
        let is_flag = glued.is_none();
        let value = || glued.or_else(|| args.next().filter(|value| !is_option(value)));
        given.set(name, is_flag, value).ok_or_else(|| unknown(&arg))??;
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
    UsageError(format!("unknown argument `{}`", shown(arg)))
}

/// An argument for a message, on one line.
fn shown(arg: &OsStr) -> String {
    arg.to_string_lossy().escape_debug().to_string()
}

// What the options need, for messages.
const CELLS: &str = "a whole number from 66 to 5000000";
const COUNT: &str = "a whole number";
const RATE: &str = "0 or a number from 1 to 10000";
const MILLISECONDS: &str = "a number of milliseconds from 0 to 1000";
const CHURN: &str = "a whole number up to 10000000";
const TIMING: &str = "`off`, `all` or a whole number of at least 1";
const FILE: &str = "a file name";

/// The options met so far.
#[derive(Default)]
struct Given {
    cells: Option<usize>,
    frames: Option<u64>,
    pace: Option<Pace>,
    warm_up: Option<Duration>,
    seed: Option<u64>,
    churn: Option<u32>,
    timing: Option<Timing>,
    report: Option<PathBuf>,
    flame: Option<PathBuf>,
    assert: Option<()>,
    pass: Option<()>,
    quiet: Option<()>,
}

impl Given {
    /// Takes one option; `None` if there is no option of that name. The value is asked for once at most.
    fn set(
        &mut self,
        name: &str,
        is_flag: bool,
        value: impl FnOnce() -> Option<OsString>,
    ) -> Option<Result<(), UsageError>> {
        Some(match name {
            "--cells" => once(&mut self.cells, name, CELLS, value, cells),
            "--frames" => once(&mut self.frames, name, COUNT, value, number),
            "--hz" => once(&mut self.pace, name, RATE, value, pace),
            "--warm-up" => once(&mut self.warm_up, name, MILLISECONDS, value, milliseconds),
            "--seed" => once(&mut self.seed, name, COUNT, value, number),
            "--churn" => once(&mut self.churn, name, CHURN, value, churn),
            "--timing" => once(&mut self.timing, name, TIMING, value, timing),
            "--report" => once(&mut self.report, name, FILE, value, file),
            "--flame" => once(&mut self.flame, name, FILE, value, file),
            "--assert" if is_flag => flag(&mut self.assert, name),
            "--pass" if is_flag => flag(&mut self.pass, name),
            "--quiet" if is_flag => flag(&mut self.quiet, name),
            _ => return None,
        })
    }

    /// What the options mean together.
    fn together(self) -> Result<Options, UsageError> {
        if self.flame.is_some() && !cfg!(feature = "flame") {
            let problem = "`--flame` needs a build with `--features frames,flame`";
            return Err(UsageError(problem.to_owned()));
        }
        let default = Options::default();
        Ok(Options {
            cells: self.cells.unwrap_or(default.cells),
            frames: self.frames.map_or(default.frames, |frames| (frames > 0).then_some(frames)),
            pace: self.pace.unwrap_or(default.pace),
            warm_up: self.warm_up.unwrap_or(default.warm_up),
            seed: self.seed.unwrap_or(default.seed),
            churn: self.churn.unwrap_or(default.churn),
            timing: self.timing.unwrap_or(default.timing),
            report: self.report,
            flame: self.flame,
            assert: self.assert.is_some(),
            pass: self.pass.is_some(),
            quiet: self.quiet.is_some(),
        })
    }
}

fn given_twice(name: &str) -> UsageError {
    UsageError(format!("`{name}` is given twice"))
}

fn flag(slot: &mut Option<()>, name: &str) -> Result<(), UsageError> {
    slot.replace(()).map_or(Ok(()), |()| Err(given_twice(name)))
}

/// Fills the slot of an option that may be given once, with what `parse` makes of its value.
fn once<T>(
    slot: &mut Option<T>,
    name: &str,
    kind: &str,
    value: impl FnOnce() -> Option<OsString>,
    parse: fn(&str) -> Option<T>,
) -> Result<(), UsageError> {
    if slot.is_some() {
        return Err(given_twice(name));
    }
    let value = value().ok_or_else(|| UsageError(format!("`{name}` needs {kind}")))?;
    *slot = value.to_str().and_then(parse);
    let wrong = || UsageError(format!("`{name}` needs {kind}, not `{}`", shown(&value)));
    slot.as_ref().map(|_| ()).ok_or_else(wrong)
}

fn number(value: &str) -> Option<u64> {
    value.parse().ok()
}

fn cells(value: &str) -> Option<usize> {
    value.parse().ok().filter(|cells| (LEAST_CELLS..=MOST_CELLS).contains(cells))
}

fn churn(value: &str) -> Option<u32> {
    value.parse().ok().filter(|churn| *churn <= MOST_CHURN)
}

fn pace(value: &str) -> Option<Pace> {
    match value.parse().ok()? {
        0.0 => Some(Pace::Fast),
        hz @ 1.0..=10_000.0 => Some(Pace::Hertz(hz)),
        _ => None,
    }
}

fn milliseconds(value: &str) -> Option<Duration> {
    let ms: f64 = value.parse().ok()?;
    (0.0..=1000.0).contains(&ms).then(|| Duration::from_secs_f64(ms / 1000.0))
}

fn timing(value: &str) -> Option<Timing> {
    match value {
        "off" => Some(Timing::Off),
        "all" => Some(Timing::EveryWave),
        _ => value.parse().ok().filter(|waves| *waves > 0).map(Timing::OneWaveIn),
    }
}

fn file(value: &str) -> Option<PathBuf> {
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
        let rows: [(&str, fn(&mut Options)); 13] = [
            ("", |_| ()),
            ("--cells 66", |options| options.cells = LEAST_CELLS),
            ("--frames 0", |options| options.frames = None),
            ("--frames=7 --seed=0", |options| (options.frames, options.seed) = (Some(7), 0)),
            ("--hz 0", |options| options.pace = Pace::Fast),
            ("--hz 59.94", |options| options.pace = Pace::Hertz(59.94)),
            ("--warm-up 0", |options| options.warm_up = Duration::ZERO),
            ("--warm-up 0.5", |options| options.warm_up = Duration::from_micros(500)),
            ("--churn 10000000", |options| options.churn = MOST_CHURN),
            ("--timing off", |options| options.timing = Timing::Off),
            ("--timing 3", |options| options.timing = Timing::OneWaveIn(3)),
            ("--report=--x --assert", |options| {
                (options.report, options.assert) = (Some("--x".into()), true);
            }),
            ("--quiet --pass", |options| (options.quiet, options.pass) = (true, true)),
        ];
        for (line, change) in rows {
            let mut options = Options::default();
            change(&mut options);
            assert_eq!(parsed(line), Ok(Command::Run(options)), "{line}");
        }
        for line in ["--help", "-h", "--frames 3 --help --nonsense"] {
            assert_eq!(parsed(line), Ok(Command::Help), "{line}");
        }
    }

    #[test]
    fn bad_lines_get_one_clear_line() {
        let rows = [
            ("now", "unknown argument `now`".to_owned()),
            ("--cell 3", "unknown argument `--cell`".into()),
            ("--quiet=1", "unknown argument `--quiet=1`".into()),
            ("a\nb", "unknown argument `a\\nb`".into()),
            ("--cells", format!("`--cells` needs {CELLS}")),
            ("--cells --hz 3", format!("`--cells` needs {CELLS}")),
            ("--cells 65", format!("`--cells` needs {CELLS}, not `65`")),
            ("--cells 5000001", format!("`--cells` needs {CELLS}, not `5000001`")),
            ("--frames -1", format!("`--frames` needs {COUNT}, not `-1`")),
            ("--seed x", format!("`--seed` needs {COUNT}, not `x`")),
            ("--hz 0.5", format!("`--hz` needs {RATE}, not `0.5`")),
            ("--hz NaN", format!("`--hz` needs {RATE}, not `NaN`")),
            ("--hz 10001", format!("`--hz` needs {RATE}, not `10001`")),
            ("--churn 10000001", format!("`--churn` needs {CHURN}, not `10000001`")),
            ("--warm-up -1", format!("`--warm-up` needs {MILLISECONDS}, not `-1`")),
            ("--warm-up NaN", format!("`--warm-up` needs {MILLISECONDS}, not `NaN`")),
            ("--timing 0", format!("`--timing` needs {TIMING}, not `0`")),
            ("--report=", format!("`--report` needs {FILE}, not ``")),
            ("--seed 1 --seed 1", "`--seed` is given twice".into()),
            ("--pass --pass", "`--pass` is given twice".into()),
        ];
        for (line, message) in rows {
            assert_eq!(parsed(line), Err(format!("{message}; see --help")), "{line}");
        }
    }

    #[test]
    fn a_flame_graph_needs_its_feature() {
        let asked = parsed("--flame a.svg");
        if cfg!(feature = "flame") {
            let flame = Some("a.svg".into());
            assert_eq!(asked, Ok(Command::Run(Options { flame, ..Options::default() })));
        } else {
            let problem = "`--flame` needs a build with `--features frames,flame`; see --help";
            assert_eq!(asked, Err(problem.to_owned()));
        }
    }

    #[test]
    fn help_and_messages_tell_the_limits() {
        let least = format!("from {LEAST_CELLS} to {MOST_CELLS}");
        assert!(HELP.contains(&least) && CELLS.contains(&least), "{least}");
        assert!(CHURN.contains(&MOST_CHURN.to_string()));
        assert!(HELP.lines().all(|line| line.len() <= 100));
    }
}
