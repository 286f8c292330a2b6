//! A spreadsheet on the command line: each entry of a CSV file is a cell, so that an edit evaluates
//! only the formulas that depend on it.
//!
//! `--help` tells what it takes. [`sheet`] has the cells, [`evaluation`] knows nothing of them.

mod address;
mod args;
mod csv;
mod evaluation;
mod expression;
mod formula;
mod load;
mod mistake;
mod script;
mod session;
mod sheet;
mod table;
mod token;
mod typed;
mod value;

use std::error::Error;
use std::fs;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::args::Args;
use crate::session::Session;

fn main() -> ExitCode {
    let args = match args::from_env() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let done = run(&args, &mut out);
    // What was done before an error is shown before it.
    let flushed = out.flush().map_err(Into::into);
    hyphae::arena::assert_no_live();
    match done.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sheet: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Reads all files before it does anything, so that a mistake in them leaves nothing half done.
fn run(args: &Args, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let file = args.file.display().to_string();
    let edits = load::edits(&file, mistake::text_of(&file, &read(&args.file)?)?)?;
    let name = args.script.as_deref().map_or_else(String::new, |path| path.display().to_string());
    let script = match &args.script {
        Some(path) => script::steps(&name, mistake::text_of(&name, &read(path)?)?)?,
        None => Vec::new(),
    };
    let mut session = Session::load(&file, &edits, out, args.changes)?;
    session.run("", &args.steps)?;
    session.run(&name, &script)?;
    Ok(session.close()?)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Whether the reader of the output has gone, which is no fault: `sheet file.csv | head`.
fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
