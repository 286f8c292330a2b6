//! hyphae beside other libraries, on the same graphs, in the same run. `--help` tells the options.
//!
//! The driver starts itself again as a worker for each library and shape ([`driver`], [`process`], [`worker`]), so that
//! none finds the heap, the caches or the threads of another, and one that crashes takes nothing with it. Graphs are
//! data ([`graph`], [`shapes`]); a library is one implementation of [`library::Library`].

mod builds;
mod clock;
mod driver;
mod graph;
mod hand;
mod heap;
mod instructions;
mod libraries;
mod library;
mod lives;
mod options;
mod process;
mod shapes;
mod store;
mod table;
mod targets;
#[cfg(test)]
mod tests;
mod worker;

use std::process::ExitCode;

use crate::options::Command;

fn main() -> ExitCode {
    match options::parse(std::env::args_os().skip(1)).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), String> {
    match command {
        Command::Print(text) => print!("{text}"),
        Command::Worker(library, shape, task) => {
            for (metric, figure) in libraries::run(&library, shape, task)? {
                println!("{metric}\t{figure}");
            }
        }
        Command::Drive(choice) => {
            let (results, builds) = driver::drive(&choice)?;
            print!("{}", table::all(&choice, &results));
            let mut faults = results.faults();
            if choice.targets {
                let (text, missed) = targets::judge(&choice, &results, &builds);
                print!("{text}");
                if missed > 0 {
                    faults.push(format!("{missed} targets are missed"));
                }
            }
            if !faults.is_empty() {
                return Err(faults.join("\n"));
            }
        }
    }
    Ok(())
}
