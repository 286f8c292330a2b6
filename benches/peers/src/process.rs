//! One worker process: started, waited for, and its outcome read.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::shapes::{Shape, Size};

/// The figures of a process, or why there are none.
pub(crate) type Outcome = Result<Vec<(String, f64)>, String>;

/// What to ask of a process.
#[derive(Clone, Copy)]
pub(crate) struct Order<'a> {
    /// The program.
    pub program: &'a Path,
    /// The library, as that program calls it.
    pub library: &'a str,
    /// The shape.
    pub shape: &'a Shape,
    /// How large.
    pub size: Size,
    /// Check, or take times.
    pub check: bool,
    /// For how long to measure.
    pub millis: u64,
    /// For how long to wait.
    pub patience: Duration,
}

/// Runs it to its end.
pub(crate) fn run(order: Order<'_>) -> Outcome {
    let mut command = Command::new(order.program);
    command.args(["worker", order.library, order.shape.name]);
    command.args(["--millis", &order.millis.to_string()]);
    if order.size == Size::Quick {
        command.arg("--quick");
    }
    if order.check {
        command.arg("--check");
    }
    // Both are short, so the pipes never fill.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let cannot = |error| format!("{}: {error}", order.program.display());
    let mut child = command.spawn().map_err(cannot)?;
    let ended = wait(&mut child, order.patience).map_err(cannot)?;
    let Some(success) = ended else {
        return Err(format!("does not end in {} s", order.patience.as_secs()));
    };
    let (mut out, mut err) = (String::new(), String::new());
    if let (Some(stdout), Some(stderr)) = (&mut child.stdout, &mut child.stderr) {
        stdout.read_to_string(&mut out).map_err(cannot)?;
        stderr.read_to_string(&mut err).map_err(cannot)?;
    }
    if success { figures(&out) } else { Err(reason(&err)) }
}

/// Whether it has succeeded; nothing when it had to be ended.
fn wait(child: &mut Child, patience: Duration) -> std::io::Result<Option<bool>> {
    let start = Instant::now();
    while start.elapsed() < patience {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        sleep(Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// The lines of a worker.
pub(crate) fn figures(out: &str) -> Outcome {
    let line = |line: &str| {
        let (name, figure) = line.split_once('\t')?;
        Some((name.to_owned(), figure.parse().ok()?))
    };
    let all = out.lines().map(|l| line(l).ok_or_else(|| format!("not a figure: {l}")));
    all.collect()
}

/// Why it has failed, in a few words.
pub(crate) fn reason(err: &str) -> String {
    if err.contains("has overflowed its stack") {
        return "overflows the stack".to_owned();
    }
    let mut lines = err.lines().filter(|l| !l.trim().is_empty() && !l.starts_with("note: "));
    lines.next_back().unwrap_or("ended without a word").trim().to_owned()
}
