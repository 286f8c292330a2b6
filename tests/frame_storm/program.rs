//! The example as a program: what it prints and writes, and how it fails.
//!
//! The program is the one that `cargo test` builds beside the tests.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::elements::elements;

/// The example's binary, two folders above this test's.
fn program() -> Command {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let program = profile.join("examples/frame_storm");
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "{} is missing: build it with `cargo build --features frames --example frame_storm` (a plain `cargo test \
         --features frames` does)",
        program.display()
    );
    Command::new(program)
}

/// Exit code, standard output, standard error.
fn run(line: &str) -> (Option<i32>, String, String) {
    let output = program().args(line.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A file that is removed when the test ends.
struct TempFile(PathBuf);

impl TempFile {
    /// A path of its own; nothing is there yet.
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("frame-storm-{}-{name}", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What does not depend on times: all but the frame statistics.
fn untimed(output: &str) -> String {
    let (before, after) = output.split_once("over budget, ").unwrap();
    let (before, _) = before.rsplit_once('\n').unwrap();
    format!("{before}\n{}", after.split_once("hot cells, ").unwrap().1)
}

#[test]
fn a_seed_gives_the_same_each_time() {
    let line = "--cells 1500 --frames 40 --hz 0 --timing off --pass --assert --seed";
    let [first, second, other] = [7, 7, 8].map(|seed| run(&format!("{line} {seed}")));
    assert_eq!((first.0, &first.2[..]), (Some(0), ""));
    assert_eq!(untimed(&first.1), untimed(&second.1));
    let checksum = |output: &str| {
        let line = output.lines().find(|line| line.starts_with("checksum")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{output}"))
    };
    assert_eq!(checksum(&first.1), checksum(&second.1));
    assert_ne!(checksum(&first.1), checksum(&other.1));
}

#[test]
fn it_tells_what_was_built_and_found() {
    let (code, output, errors) = run("--cells 1500 --frames 40 --hz 0 --pass --assert --churn 90");
    assert_eq!((code, &errors[..]), (Some(0), ""));
    let parts = [
        "show of seed 1, 90 re-links a second",
        "2 universes, 124 fixtures, 31 groups, 124 tracks, 2 timelines",
        "1484 cells, ",
        "40 frames as fast as it can, 60 re-links",
        "frames checked               20, all channels right",
        "\n40 frames, ",
        "jitter of the first fan-out",
        "hot cells, by time; one wave in 16 is timed",
        "one frame: ",
        " 2 re-fires (",
        "2 x  unnamed cell (",
    ];
    for part in parts {
        assert!(output.contains(part), "{part}: {output}");
    }
}

#[test]
fn frames_come_at_a_rate() {
    let (code, output, errors) = run("--cells 100 --frames 5 --hz 500");
    assert_eq!((code, &errors[..]), (Some(0), ""));
    assert!(output.contains("\n5 frames at 500 Hz, "), "{output}");
}

#[test]
fn a_wrong_command_line_ends_with_2_and_shows_nothing() {
    for line in ["now", "--cells 65", "--hz -1", "--frames", "--timing 0", "--pass --pass"] {
        let (code, output, errors) = run(line);
        assert_eq!((code, &output[..]), (Some(2), ""), "{line}");
        assert!(errors.starts_with("frame_storm: ") && errors.ends_with("; see --help\n"));
    }
}

#[test]
fn help_names_every_option() {
    let (code, output, _) = run("--help");
    assert_eq!(code, Some(0));
    let options = ["cells", "frames", "hz", "seed", "churn", "assert", "timing", "pass", "report"];
    for option in options.iter().chain(&["flame", "quiet"]) {
        assert!(output.contains(&format!("  --{option} ")), "{option}");
    }
}

#[test]
fn a_report_is_one_page() {
    let file = TempFile::new("report.html");
    let line = format!("--cells 1500 --frames 20 --hz 0 --quiet --report {}", file.path());
    assert_eq!(run(&line), (Some(0), String::new(), String::new()));
    let page = file.text();
    elements(&page).unwrap();
    assert_eq!(page.contains("<object class=\"flame\""), cfg!(feature = "flame"));
}

#[test]
#[cfg(feature = "flame")]
fn a_flame_graph_names_operators_and_cells() {
    let file = TempFile::new("flame.svg");
    let line = format!("--cells 1500 --frames 20 --hz 0 --flame {}", file.path());
    let (code, output, errors) = run(&line);
    assert_eq!((code, &errors[..]), (Some(0), ""));
    assert!(output.ends_with(&format!("\nwritten: {}\n", file.path())), "{output}");
    let svg = file.text();
    for name in ["hyphae.wave", "combine", "fixture *", "fixture */dimmer", "track *", "computed"] {
        assert!(svg.contains(&format!("<title>{name} (")), "{name}");
    }
}

#[test]
#[cfg(not(feature = "flame"))]
fn a_flame_graph_needs_its_feature() {
    let (code, output, errors) = run("--flame x.svg");
    assert_eq!((code, &output[..]), (Some(2), ""));
    assert!(errors.contains("needs a build with `--features frames,flame`"), "{errors}");
}

#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let file = TempFile::new("no-folder");
    let line = format!("--cells 100 --frames 2 --hz 0 --report {}/report.html", file.path());
    let (code, output, errors) = run(&line);
    assert_eq!(code, Some(1));
    assert!(output.contains("hot cells"), "{output}");
    assert!(errors.starts_with(&format!("frame_storm: cannot write {}", file.path())), "{errors}");
}

#[test]
fn enter_ends_a_run_without_an_end() {
    let mut command = program();
    command.args(["--frames", "0", "--hz", "0", "--cells", "100"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text.contains("until Enter is pressed") && text.contains("hot cells"), "{text}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = program();
    command.args(["--cells", "100", "--frames", "3", "--hz", "0"]).stdout(writer);
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}
