//! The committed figures, and the lines of the changelog that say why they changed.
//!
//! A row of the file holds all figures that its gate ever had, the newest last; each step from one to the next must
//! be told in the changelog, with both numbers and a reason: `- gates: chain:node 71.0 -> 75.2: the reason`.

use std::fmt::Write;
use std::path::PathBuf;

use crate::works::{self, Counted, Work};

const COMPILER: &str = "compiler ";
const WORD: &str = "- gates: ";
const HEADER: &str = "\
# What each gate takes: the figures it had, oldest first; the last one counts. Written by `just gates-renew`.
# Each step is told in CHANGELOG.md, in a line that starts with `- gates:`.
";

/// A file of this repository.
fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The figures of all gates.
#[derive(Debug, PartialEq)]
pub(crate) struct Baseline {
    /// Whose code the instructions are.
    pub compiler: String,
    /// The figures of each gate, in the order of [`works::ALL`], as they are written.
    pub rows: Vec<Vec<String>>,
}

/// A figure as it is written: instructions to a tenth; what is exact, exactly.
pub(crate) fn written(counted: Counted, figure: f64) -> String {
    match counted {
        Counted::Instructions => format!("{figure:.1}"),
        _ => format!("{figure:.5}"),
    }
}

/// The gate's name in files.
pub(crate) fn title(work: &Work) -> String {
    format!("{}:{}", work.counted.name(), work.name)
}

impl Baseline {
    fn parse(text: &str) -> Result<Self, String> {
        let mut this = Self { compiler: String::new(), rows: vec![Vec::new(); works::ALL.len()] };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(compiler) = line.strip_prefix(COMPILER) {
                this.compiler = compiler.to_string();
                continue;
            }
            let mut words = line.split_whitespace().map(str::to_string);
            let name = words.next().unwrap_or_default();
            let at = works::ALL.iter().position(|work| title(work) == name);
            let at = at.ok_or_else(|| {
                format!("the baseline has a row {name}, but no such gate is there")
            })?;
            this.rows[at] = words.collect();
        }
        Ok(this)
    }

    fn text(&self) -> String {
        let mut text = format!("{HEADER}{COMPILER}{}\n", self.compiler);
        for (work, row) in works::ALL.iter().zip(&self.rows).filter(|(_, row)| !row.is_empty()) {
            let _ = writeln!(text, "{} {}", title(work), row.join(" "));
        }
        text
    }

    pub(crate) fn read() -> Result<Self, String> {
        let text = std::fs::read_to_string(file("baseline.txt"));
        Self::parse(&text.map_err(|error| format!("baseline.txt: {error}"))?)
    }

    pub(crate) fn write(&self) -> Result<(), String> {
        std::fs::write(file("baseline.txt"), self.text()).map_err(|error| error.to_string())
    }

    /// The steps that the changelog does not tell.
    pub(crate) fn untold(&self, changelog: &str) -> Vec<String> {
        let told: Vec<_> = entries(changelog);
        let steps = works::ALL
            .iter()
            .zip(&self.rows)
            .flat_map(|(work, row)| row.windows(2).map(|pair| step(work, &pair[0], &pair[1])));
        steps.filter(|step| !told.iter().any(|entry| tells(entry, step))).collect()
    }
}

/// A step from one figure to another, as the changelog tells it.
pub(crate) fn step(work: &Work, from: &str, to: &str) -> String {
    format!("{} {from} -> {to}", title(work))
}

/// The entry of the changelog that tells steps.
pub(crate) fn entry(steps: &[String], reason: &str) -> String {
    format!("{WORD}{}: {reason}\n", steps.join(", "))
}

/// The entries on gates, each in one line.
fn entries(changelog: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    let mut open = false;
    for line in changelog.lines() {
        match (line.strip_prefix(WORD), line.strip_prefix("  ")) {
            (Some(first), _) => {
                entries.push(first.to_string());
                open = true;
            }
            (None, Some(more)) if open => {
                let entry = entries.last_mut().expect("one is open");
                entry.push(' ');
                entry.push_str(more.trim());
            }
            _ => open = false,
        }
    }
    entries
}

/// Whether an entry tells a step, and has a reason after all of its steps.
fn tells(entry: &str, step: &str) -> bool {
    let Some((steps, reason)) = entry.rsplit_once(": ") else { return false };
    steps.split(", ").any(|told| told == step) && reason.trim().len() >= 8
}

/// The changelog.
pub(crate) fn changelog() -> Result<String, String> {
    std::fs::read_to_string(file("../../CHANGELOG.md"))
        .map_err(|error| format!("CHANGELOG.md: {error}"))
}

/// Adds an entry to what is not released yet.
pub(crate) fn add_to_changelog(entry: &str) -> Result<(), String> {
    let text = with_entry(&changelog()?, entry).ok_or("CHANGELOG.md has no unreleased part")?;
    std::fs::write(file("../../CHANGELOG.md"), text).map_err(|error| error.to_string())
}

fn with_entry(changelog: &str, entry: &str) -> Option<String> {
    const PART: &str = "### Gates\n\n";
    let (before, rest) = changelog.split_once("## [Unreleased]\n")?;
    let end = rest.find("\n## [").map_or(rest.len(), |at| at + 1);
    let (unreleased, released) = rest.split_at(end);
    let unreleased = match unreleased.split_once(PART) {
        Some((above, below)) => format!("{above}{PART}{entry}{below}"),
        None => format!("{}\n\n{PART}{entry}", unreleased.trim_end()),
    };
    let gap = if released.is_empty() || unreleased.ends_with("\n\n") { "" } else { "\n" };
    Some(format!("{before}## [Unreleased]\n{unreleased}{gap}{released}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(figures: &[&str]) -> Baseline {
        let mut rows = vec![Vec::new(); works::ALL.len()];
        rows[0] = figures.iter().map(ToString::to_string).collect();
        Baseline { compiler: "1 x y".to_string(), rows }
    }

    #[test]
    fn what_is_written_is_read() {
        let some = baseline(&["71.0", "72.5"]);
        assert_eq!(Baseline::parse(&some.text()), Ok(some));
        assert!(Baseline::parse("instructions:nothing 5").is_err());
    }

    #[test]
    fn every_step_must_be_told_with_a_reason() {
        let work = &works::ALL[0];
        let (first, second) = (step(work, "71.0", "72.5"), step(work, "72.5", "70.0"));
        let three = baseline(&["71.0", "72.5", "70.0"]);
        assert_eq!(baseline(&["71.0"]).untold(""), [""; 0]);
        assert_eq!(three.untold(""), [first.clone(), second.clone()]);
        let log = entry(std::slice::from_ref(&first), "a check more");
        assert_eq!(three.untold(&log), std::slice::from_ref(&second));
        assert_eq!(three.untold(&log.replace("a check more", "why")).len(), 2);
        assert_eq!(three.untold(&log.replace("71.0", "71.1")).len(), 2);
        // One entry may tell several, and be wrapped.
        let both = entry(&[second, first], "all kinds, and more").replace(", ", ",\n  ");
        assert_eq!(three.untold(&format!("- other: 1\n  2\n{both}\nEnd")), [""; 0]);
        assert_eq!(three.untold(&format!("- other: 1\n  2\n\n{}\nEnd", &both[2..])).len(), 2);
    }

    #[test]
    fn an_entry_goes_to_what_is_not_released() {
        let log =
            "# C\n\n## [Unreleased]\n\n### Added\n\n- a\n\n## [1.0.0]\n\n### Gates\n\n- old\n";
        let once = with_entry(log, "- one\n").expect("it has the part");
        let twice = with_entry(&once, "- two\n").expect("it still has");
        assert_eq!(
            twice,
            "# C\n\n## [Unreleased]\n\n### Added\n\n- a\n\n### Gates\n\n- two\n- one\n\n## [1.0.0]\n\n### Gates\n\n- old\n"
        );
        assert_eq!(with_entry("# C\n", "- one\n"), None);
    }
}
