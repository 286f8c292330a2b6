//! The command line of the example, parsed by hand.
//!
//! Knows what the options mean together, not what is done with them.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::script::Step;
use crate::typed::Edit;
use crate::value::shown;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
sheet: evaluates the formulas of a CSV file, and only what an edit changes

usage: sheet [--set ENTRY=VALUE]... [--batch] [--script FILE] [--changes] FILE

  --set ENTRY=VALUE  edit an entry: --set A1=5, --set B1==A1*2 for a formula,
                     --set A1= to clear it; may be given many times
  --batch            make all edits of --set at once instead of one by one
  --script FILE      then do what FILE says: lines such as A1 = 5, undo, print,
                     begin and commit (edits between them are made at once), or
                     comments that begin with #
  --changes          print what each edit changed instead of the table
  --help, -h         print this and stop

Each edit is followed by how many formulas were evaluated again because of it. The file's fields
are numbers, texts or formulas, which begin with `=`:

  =A1*(B1+2)/-C$3    + - * / and parentheses
  =IF(A1>=B1,\"x\",0)  = <> < <= > >= and texts in quotes
  =SUM(A1:B9,C1,5)   SUM MIN MAX AVG COUNT; of entries they take the numbers

A field that begins with ' is the text behind it. Entries reach from A1 to ZZ100000, ranges over
at most 100000 of them. A formula may have a fault as its value: #DIV/0!, #REF! (outside of the
sheet), #NAME? (unknown), #VALUE! (does not fit), #CYCLE! with the entries that read each other.

An option may also be written --option=VALUE. A file that cannot be read ends with exit code 1, a
wrong command line with 2.
";

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Args {
    /// The CSV file.
    pub(crate) file: PathBuf,
    /// The edits of `--set`.
    pub(crate) steps: Vec<Step>,
    /// To be done after them.
    pub(crate) script: Option<PathBuf>,
    /// Whether changes are shown instead of the table.
    pub(crate) changes: bool,
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
            eprintln!("sheet: {error}");
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
        if !is_option(&arg) {
            given.file(arg)?;
            continue;
        }
        let (name, glued) = split(&arg);
        match name {
            "--batch" if glued.is_none() => flag(&mut given.batch, name)?,
            "--changes" if glued.is_none() => flag(&mut given.changes, name)?,
            "--set" | "--script" => {
                let value = glued.or_else(|| args.next().filter(|value| !is_option(value)));
                given.option(name, value)?;
            }
            _ => return Err(unknown(&arg)),
        }
    }
    given.together().map(Command::Run)
}

/// `--name=value` as name and value; anything else is a name alone.
fn split(arg: &OsStr) -> (&str, Option<OsString>) {
    let text = arg.to_str().unwrap_or_default();
    text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.into())))
}

/// A single `-` would be a file name; what else begins with it is an option.
fn is_option(arg: &OsStr) -> bool {
    arg.as_encoded_bytes().starts_with(b"-") && arg.len() > 1
}

fn unknown(arg: &OsStr) -> UsageError {
    UsageError(format!("unknown argument `{}`", shown(&arg.to_string_lossy())))
}

fn flag(slot: &mut bool, name: &str) -> Result<(), UsageError> {
    if *slot {
        return Err(UsageError(format!("`{name}` is given twice")));
    }
    *slot = true;
    Ok(())
}

/// The arguments met so far.
#[derive(Default)]
struct Given {
    file: Option<PathBuf>,
    script: Option<PathBuf>,
    edits: Vec<Edit>,
    batch: bool,
    changes: bool,
}

impl Given {
    fn file(&mut self, arg: OsString) -> Result<(), UsageError> {
        if self.file.is_some() || arg.is_empty() {
            return Err(unknown(&arg));
        }
        self.file = Some(arg.into());
        Ok(())
    }

    /// Takes an option that has a value.
    fn option(&mut self, name: &str, value: Option<OsString>) -> Result<(), UsageError> {
        let value = value.filter(|value| !value.is_empty());
        if name == "--set" {
            let value = value.ok_or_else(|| needs(name, "an edit such as `A1=5`"))?;
            self.edits.push(edit(&value)?);
        } else if self.script.is_some() {
            return Err(UsageError(format!("`{name}` is given twice")));
        } else {
            self.script = Some(value.ok_or_else(|| needs(name, "a file name"))?.into());
        }
        Ok(())
    }

    /// What the arguments mean together.
    fn together(self) -> Result<Args, UsageError> {
        let file =
            self.file.ok_or_else(|| UsageError("the name of a CSV file is missing".into()))?;
        let steps = if !self.batch {
            self.edits.into_iter().map(|edit| Step::Edit(vec![edit])).collect()
        } else if self.edits.is_empty() {
            return Err(UsageError("`--batch` needs edits: `--set ENTRY=VALUE`".into()));
        } else {
            vec![Step::Edit(self.edits)]
        };
        Ok(Args { file, steps, script: self.script, changes: self.changes })
    }
}

fn needs(name: &str, kind: &str) -> UsageError {
    UsageError(format!("`{name}` needs {kind}"))
}

fn edit(value: &OsStr) -> Result<Edit, UsageError> {
    let text = value.to_string_lossy();
    Edit::parse(&text).map_err(|mistake| {
        let column = text[..mistake.offset].chars().count() + 1;
        let text = shown(&text);
        UsageError(format!("`--set {text}`, column {column}: {}", mistake.message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a line, its words separated by single blanks.
    fn parsed(line: &str) -> Result<Command, String> {
        let words = line.split(' ').filter(|_| !line.is_empty()).map(OsString::from);
        parse(words).map_err(|error| error.to_string())
    }

    fn args(line: &str) -> Args {
        match parsed(line) {
            Ok(Command::Run(args)) => args,
            other => panic!("{line}: {other:?}"),
        }
    }

    /// The edits of each step.
    fn steps(line: &str) -> Vec<Vec<String>> {
        let edits = |step: &Step| match step {
            Step::Edit(edits) => edits.iter().map(Edit::to_string).collect(),
            other => panic!("{line}: {other:?}"),
        };
        args(line).steps.iter().map(edits).collect()
    }

    #[test]
    fn good_lines() {
        let plain = Args { file: "a.csv".into(), steps: vec![], script: None, changes: false };
        assert_eq!(args("a.csv"), plain);
        assert_eq!(args("--changes a.csv"), Args { changes: true, ..plain.clone() });
        for line in ["a.csv --script=b", "--script b a.csv"] {
            assert_eq!(args(line), Args { script: Some("b".into()), ..plain.clone() }, "{line}");
        }
        let line = "--set A1=5 a.csv --set=b2==A1+1 --set A1=";
        assert_eq!(steps(line), [["A1 = 5"], ["B2 = =A1+1"], ["A1 cleared"]]);
        assert_eq!(steps("--set A1=5 --batch --set A2=-6 -"), [["A1 = 5", "A2 = -6"]]);
        for line in ["--help", "-h", "a.csv --batch --help --nonsense"] {
            assert_eq!(parsed(line), Ok(Command::Help), "{line}");
        }
    }

    #[test]
    fn bad_lines_get_one_clear_line() {
        let rows = [
            ("", "the name of a CSV file is missing"),
            ("--changes", "the name of a CSV file is missing"),
            ("a.csv b.csv", "unknown argument `b.csv`"),
            (" ", "unknown argument ``"),
            ("-x a.csv", "unknown argument `-x`"),
            ("--sets A1=5 a.csv", "unknown argument `--sets`"),
            ("--batch=yes a.csv", "unknown argument `--batch=yes`"),
            ("a.csv --batch", "`--batch` needs edits: `--set ENTRY=VALUE`"),
            ("a.csv --changes --changes", "`--changes` is given twice"),
            ("a.csv --script a --script b", "`--script` is given twice"),
            ("a.csv --script", "`--script` needs a file name"),
            ("--script= a.csv", "`--script` needs a file name"),
            ("a.csv --set", "`--set` needs an edit such as `A1=5`"),
            ("--set --batch", "`--set` needs an edit such as `A1=5`"),
            ("--set A1 a.csv", "`--set A1`, column 1: expected `ENTRY=VALUE`, for example `A1=5`"),
            ("--set a=5", "`--set a=5`, column 1: `a` is not the name of an entry"),
            ("--set A1==1+", "`--set A1==1+`, column 7: expected a value, found the end"),
            ("--set A1==\"ü\"%", "`--set A1==\"ü\"%`, column 8: `%` has no meaning in a formula"),
        ];
        for (line, expected) in rows {
            assert_eq!(parsed(line), Err(format!("{expected}; see --help")), "{line}");
        }
    }

    #[test]
    fn the_help_fits_a_terminal() {
        assert!(HELP.lines().all(|line| line.chars().count() <= 100));
    }
}
