//! How many instructions a node takes: two runs of a worker under valgrind, of few and of more steps. The difference is
//! that of the steps alone, the same each time, whatever else the machine does.

use std::process::Command;

use crate::builds::Builds;
use crate::libraries;
use crate::worker::NODES;

/// Instructions a node, or why they cannot be told.
pub(crate) fn instructions(builds: &Builds, library: &str, shape: &str) -> Result<f64, String> {
    const FEW: u64 = 10;
    const MORE: u64 = 30;
    let few = collected(builds, library, shape, FEW)?;
    let more = collected(builds, library, shape, MORE)?;
    Ok((more.0 - few.0) / (MORE - FEW) as f64 / more.1)
}

/// Instructions of a whole run, and the nodes of its graph.
fn collected(builds: &Builds, name: &str, shape: &str, steps: u64) -> Result<(f64, f64), String> {
    let library = libraries::ALL.iter().find(|l| l.name == name).ok_or("no such library")?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(builds.of(library))
        .args(["worker", library.worker, shape, "--steps", &steps.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let after = |text: &str, word: &str| -> Option<f64> {
        text.lines().find_map(|line| line.split_once(word))?.1.trim().parse().ok()
    };
    match (after(&err, "Collected :"), after(&out, NODES)) {
        (Some(count), Some(nodes)) => Ok((count, nodes)),
        _ => Err(format!("valgrind ended with {}", output.status)),
    }
}
