//! The command line.

use std::ffi::OsString;

use lexopt::prelude::*;

use crate::clock::Budget;
use crate::libraries::{self, Build, Entry, Role};
use crate::shapes::{self, Shape, Size};
use crate::worker::Task;

const HELP: &str = "\
usage: peers [table|targets] [OPTIONS]

  table      measure and print the table (what happens without a command)
  targets    measure, print each target, and fail when one is missed

  --shapes A,B      only these
  --libraries A,B   only these
  --processes N     processes for each figure, the best of which counts (5; 2 of those that take over 1.5 s)
  --millis N        how long each of them measures (90)
  --quick           small shapes, one process: checks the answers, its figures mean nothing
  --list            name the shapes and the libraries
";

/// What is wanted.
pub(crate) enum Command {
    /// Print something and stop.
    Print(String),
    /// Measure one library on one shape in this process.
    Worker(String, &'static Shape, Task),
    /// Measure all that was chosen.
    Drive(Choice),
}

/// What is to be measured, and how.
pub(crate) struct Choice {
    /// The shapes.
    pub shapes: Vec<&'static Shape>,
    /// The libraries.
    pub libraries: Vec<&'static Entry>,
    /// Processes a figure.
    pub processes: usize,
    /// Milliseconds a process.
    pub millis: u64,
    /// How large.
    pub size: Size,
    /// Whether the targets are wanted.
    pub targets: bool,
}

impl Choice {
    /// With all libraries that `are` of the kind, when none were named.
    fn with_all(mut self, are: fn(&Entry) -> bool) -> Self {
        if self.libraries.is_empty() {
            self.libraries = libraries::ALL.iter().filter(|library| are(library)).collect();
        }
        self
    }
}

/// Reads the arguments.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut words: Vec<String> = Vec::new();
    let mut choice = Choice {
        shapes: shapes::ALL.iter().collect(),
        libraries: Vec::new(),
        processes: 5,
        millis: 90,
        size: Size::Full,
        targets: false,
    };
    let (mut check, mut steps) = (false, None);
    let wrong = |error: lexopt::Error| error.to_string();
    while let Some(arg) = parser.next().map_err(wrong)? {
        match arg {
            Long("shapes") => {
                choice.shapes = names(&mut parser, "shape", shapes::ALL, |s| s.name)?;
            }
            Long("libraries") => {
                choice.libraries = names(&mut parser, "library", libraries::ALL, |l| l.name)?;
            }
            Long("processes") => choice.processes = number(&mut parser)?.max(1),
            Long("millis") => choice.millis = number(&mut parser)? as u64,
            Long("quick") => choice.size = Size::Quick,
            Long("check") => check = true,
            Long("steps") => steps = Some(number(&mut parser)? as u64),
            Long("list") => return Ok(Command::Print(list())),
            Short('h') | Long("help") => return Ok(Command::Print(HELP.to_owned())),
            Value(word) => words.push(word.string().map_err(wrong)?),
            other => return Err(other.unexpected().to_string()),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] | ["table"] if choice.size == Size::Quick => {
            Ok(Command::Drive(choice.with_all(|l| [Build::Main, Build::Batch].contains(&l.build))))
        }
        [] | ["table"] => Ok(Command::Drive(choice.with_all(|l| l.role != Role::Observed))),
        ["targets"] if choice.size == Size::Quick => {
            Err("targets are of the full shapes; not with --quick".to_owned())
        }
        ["targets"] => Ok(Command::Drive(Choice { targets: true, ..choice.with_all(|_| true) })),
        ["worker", library, shape] => {
            let shape = shapes::find(shape).ok_or(format!("no shape is named {shape}"))?;
            let budget = Budget::millis(choice.millis);
            let task = Task { size: choice.size, check, steps, budget };
            Ok(Command::Worker(library.to_owned(), shape, task))
        }
        _ => Err(format!("{} is not a command; --help tells them", words.join(" "))),
    }
}

fn number(parser: &mut lexopt::Parser) -> Result<usize, String> {
    let value = parser.value().map_err(|e| e.to_string())?;
    value.parse().map_err(|e| e.to_string())
}

fn names<T>(
    parser: &mut lexopt::Parser,
    what: &str,
    all: &'static [T],
    name: fn(&T) -> &'static str,
) -> Result<Vec<&'static T>, String> {
    let value = parser.value().and_then(|v| v.string()).map_err(|e| e.to_string())?;
    let find = |wanted: &str| {
        all.iter()
            .find(|one| name(one) == wanted)
            .ok_or_else(|| format!("no {what} is named {wanted}; --list tells the names"))
    };
    value.split(',').map(find).collect()
}

fn list() -> String {
    let of = |names: Vec<&str>| names.join(" ");
    format!(
        "shapes: {}\nlibraries: {}\n",
        of(shapes::ALL.iter().map(|s| s.name).collect()),
        of(libraries::ALL.iter().map(|l| l.name).collect()),
    )
}
