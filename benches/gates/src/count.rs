//! How a work is counted: by this program once more, in a process of its own, under valgrind or not.

use std::process::Command;

use crate::heap;
use crate::works::{Counted, Work};

/// What a worker prints before the units of its marked part.
const UNITS: &str = "units ";
const BYTES: &str = "bytes ";
const CALLS: &str = "calls ";

/// The marked part. Valgrind counts while this is on the stack, so the name is told to it.
#[inline(never)]
fn marked_part(f: &mut dyn FnMut()) {
    f();
}

/// Does a work in this process and prints what it had.
pub(crate) fn run(work: &Work) {
    let mut held = None;
    let units = (work.run)(&mut |f| {
        if work.counted == Counted::Instructions {
            return marked_part(f);
        }
        heap::start();
        let before = heap::held();
        f();
        let after = heap::held();
        held = Some((after.bytes - before.bytes, after.calls - before.calls));
    });
    println!("{UNITS}{units}");
    if let Some((bytes, calls)) = held {
        println!("{BYTES}{bytes}\n{CALLS}{calls}");
    }
}

/// Whether there is a valgrind.
pub(crate) fn has_valgrind() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|out| out.status.success())
}

/// What a work takes, a unit.
pub(crate) fn figure(work: &Work) -> Result<f64, String> {
    let itself = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = if work.counted == Counted::Instructions {
        let mut valgrind = Command::new("valgrind");
        valgrind
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg("--toggle-collect=*marked_part*")
            .arg(itself);
        valgrind
    } else {
        Command::new(itself)
    };
    let output = command
        .args(["work", work.counted.name(), work.name])
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let after = |text: &str, word: &str| -> Option<f64> {
        text.lines().find_map(|line| line.split_once(word))?.1.trim().parse().ok()
    };
    let total = match work.counted {
        Counted::Instructions => after(&err, "Collected : "),
        Counted::Bytes => after(&out, BYTES),
        Counted::Allocations => after(&out, CALLS),
    };
    match (total, after(&out, UNITS)) {
        (Some(total), Some(units)) if output.status.success() => Ok(total / units),
        _ => Err(format!(
            "{} of {} ended with {}\n{err}",
            work.counted.name(),
            work.name,
            output.status
        )),
    }
}
