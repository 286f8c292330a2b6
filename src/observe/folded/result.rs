//! What was folded, as stacks, as text and as a picture.
//!
//! It reads the sums and knows nothing of spans. Results are in the order of the paths and the same for the same sums.
//! Reading takes time in proportion to the number of stacks; the layer waits meanwhile.

use std::error::Error;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use inferno::flamegraph;

use super::Shared;

/// The result of a [`FoldedLayer`](super::FoldedLayer), to be taken at any time and as often as wanted: also while the
/// layer is in use, from any thread. Spans that are entered count up to now.
///
/// `Display` gives what [`write_to`](Self::write_to) writes.
///
/// Cost: in proportion to the number of stacks; the layer waits meanwhile.
#[derive(Clone)]
pub struct Folded {
    shared: Arc<Shared>,
}

/// One distinct stack of spans and its sums.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoldedStack {
    /// The frames, outermost first, with a `;` between them.
    pub path: String,
    /// The time, in nanoseconds, while the last frame was the innermost one.
    pub self_ns: u64,
    /// How often the last frame was entered below the others.
    pub count: u64,
}

impl FoldedStack {
    /// The frames, outermost first.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.path.split(';')
    }

    /// Adds a stack of the same path; whether it was one.
    fn merge(&mut self, other: &Self) -> bool {
        let same = self.path == other.path;
        if same {
            self.self_ns += other.self_ns;
            self.count += other.count;
        }
        same
    }
}

impl Folded {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Each stack that was entered, in the order of their paths.
    pub fn stacks(&self) -> impl Iterator<Item = FoldedStack> + use<> {
        let mut stacks = Vec::new();
        let mut state = self.shared.state();
        state.each((self.shared.clock)(), |path, sums| {
            let (self_ns, count) = (sums.self_ns, sums.count);
            stacks.push(FoldedStack { path: path.to_owned(), self_ns, count });
        });
        drop(state);
        stacks.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        stacks.dedup_by(|next, kept| kept.merge(next));
        stacks.into_iter()
    }

    /// The busy time in nanoseconds: the sum of all self times, of all threads.
    pub fn total_ns(&self) -> u64 {
        let mut state = self.shared.state();
        state.total_ns((self.shared.clock)())
    }

    /// Starts from zero, for a look at a part of a run. Spans that are entered count from now on.
    pub fn reset(&self) {
        let mut state = self.shared.state();
        state.reset((self.shared.clock)());
    }

    /// Writes a line for each stack: its frames with a `;` between them, a space, and the self time in nanoseconds.
    /// Tools for flame graphs read it: inferno, flamegraph.pl, speedscope. They may call the numbers samples.
    ///
    /// # Errors
    /// [`FoldedError::Empty`] when nothing was recorded, [`FoldedError::Io`] when `out` fails.
    pub fn write_to(&self, out: impl Write) -> Result<(), FoldedError> {
        let text = self.to_string();
        if text.is_empty() {
            return Err(FoldedError::Empty);
        }
        finish(out, |out| out.write_all(text.as_bytes()))
    }

    /// Writes a flame graph as SVG, one file that needs no other: a click looks closer, and names can be searched. The
    /// width of a frame is its self time and that of the frames above it. Frames below 0.01 % of the whole are not
    /// drawn.
    ///
    /// # Errors
    /// [`FoldedError::Empty`] when no time was recorded, [`FoldedError::Io`] when `out` fails.
    pub fn render_svg(&self, out: impl Write) -> Result<(), FoldedError> {
        let stacks: Vec<_> = self.stacks().collect();
        let total: u64 = stacks.iter().map(|stack| stack.self_ns).sum();
        if total == 0 {
            return Err(FoldedError::Empty);
        }
        let mut options = flamegraph::Options::default();
        options.title = "Self time by cell".to_owned();
        options.subtitle = Some(format!("{total} ns in spans; time outside of spans is left out"));
        options.count_name = "ns".to_owned();
        options.name_type = "Frame:".to_owned();
        options.deterministic = true;
        let lines: Vec<_> = stacks.iter().map(ToString::to_string).collect();
        let lines = lines.iter().map(String::as_str);
        finish(out, |out| flamegraph::from_lines(&mut options, lines, out))
    }
}

/// Writes through a buffer, to the last byte.
fn finish<W: Write>(
    out: W,
    write: impl FnOnce(&mut BufWriter<W>) -> io::Result<()>,
) -> Result<(), FoldedError> {
    let mut out = BufWriter::new(out);
    write(&mut out).and_then(|()| out.flush()).map_err(FoldedError::Io)
}

/// The stack's line, without the line break.
impl fmt::Display for FoldedStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.self_ns)
    }
}

impl fmt::Display for Folded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stacks().try_for_each(|stack| writeln!(f, "{stack}"))
    }
}

impl fmt::Debug for Folded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folded").field("total_ns", &self.total_ns()).finish_non_exhaustive()
    }
}

/// Why there is no folded result.
#[derive(Debug)]
#[non_exhaustive]
pub enum FoldedError {
    /// No time was recorded.
    Empty,
    /// The program has a global subscriber already.
    Installed,
    /// The output could not be written.
    Io(io::Error),
}

impl fmt::Display for FoldedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "no time was recorded in spans: build with the feature `profiling`, add the FoldedLayer to the \
                 subscriber before the work starts, let its filters pass `hyphae=trace`, and see that no \
                 `max_level_*` feature of tracing cuts off traces",
            ),
            Self::Installed => f.write_str(
                "the program has a global tracing subscriber already: add the FoldedLayer where that is built, with \
                 `.with(layer)`",
            ),
            Self::Io(error) => write!(f, "the folded stacks could not be written: {error}"),
        }
    }
}

impl Error for FoldedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Empty | Self::Installed => None,
        }
    }
}
