//! The example `vitals` as a program: what it prints for the shipped recording, and how it fails.
//!
//! The program is the one that `cargo test` builds beside the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/vitals.rec");

/// The example's binary, two folders above this test's.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let program = profile.join("examples/vitals").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "{} is missing: build it with `cargo build --example vitals` (a plain `cargo test` does)",
        program.display()
    );
    program
}

/// Exit code, standard output, standard error.
fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(program()).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A file that is removed when the test ends.
struct TempFile(PathBuf);

impl TempFile {
    /// A path of its own; nothing is there yet.
    fn new(name: &str) -> Self {
        let name = format!("vitals-{}-{name}.rec", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn with(name: &str, text: &str) -> Self {
        let file = Self::new(name);
        fs::write(&file.0, text).unwrap();
        file
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The row of the summary that begins with this word, without it.
fn row<'a>(output: &'a str, name: &str) -> &'a str {
    let mut lines = output.lines();
    let found = lines.find_map(|line| line.strip_prefix(name));
    found.unwrap_or_else(|| panic!("no `{name}` in {output}")).trim()
}

// Every frame after the first computes 60 of the 68 derived cells. The other eight are the two of the switch (never), what
// follows from names that came or went (three, never) and from alarms that were raised or ended (three, six times):
// 121 * 60 + 6 * 3 = 7278.
const SUMMARY: &str = "
ticks             122 in 12.1 s
cells             77 (most: 77)
recomputations    7278 in 121 waves
alarms            3: cpu busy x1, cpu saturated x1, disk busy x1
verdict           ok; frames: ok 96, busy 8, strained 18
cpu               7.12 s worked, peak 100%; busiest core 1, peak 100%
peaks             memory 3%, swap -, load1 0.63
net (without lo)  peak 0 B/s in, 0 B/s out
  lo              peak 6.0 MB/s in, 6.0 MB/s out
disk              peak 5.3 MB/s read, 1.8 GB/s written
  vda             peak 5.3 MB/s read, 1.8 GB/s written
";

const EVENTS: &str = "   2.3 s  ** alarm: cpu busy (above 70% for 3 frames)
   2.6 s  ** alarm: cpu saturated (above 92% for 3 frames)
   4.4 s  ** over: cpu saturated (below 80% for 3 frames)
   4.6 s  ** over: cpu busy (below 50% for 3 frames)
   7.5 s  ** alarm: disk busy (above 80% for 2 frames)
   7.8 s  ** over: disk busy (below 50% for 2 frames)
";

#[test]
fn a_replay_of_the_shipped_recording_is_exact_and_the_same_every_time() {
    let (code, output, errors) = run(&["--replay", SHIPPED]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(output.ends_with(SUMMARY), "{output}");
    let line_at_4_s = "   4.0 s   58%   92%    2%    -       0 B      0 B       0 B      0 B   0.60       2  ▂█  \
                       strained: cpu saturated";
    assert!(output.lines().any(|line| line == line_at_4_s), "{output}");
    let (events, seconds): (Vec<_>, Vec<_>) = output
        .lines()
        .filter(|line| line.get(6..8) == Some(" s"))
        .partition(|line| line.contains(" ** "));
    assert_eq!(events.join("\n") + "\n", EVENTS);
    assert_eq!(seconds.len(), 12, "{output}");
    assert_eq!(run(&["--replay", SHIPPED]).1, output);
}

// Of the 60 cells that a frame computes, four are common to all views (the time, whole seconds, the frames by level and the
// join they are counted from); the processors have 33, the interfaces 12, the disks 11. What is not shown has no cells:
// 121 * 37 + 4 * 3 = 4489, 121 * 16 = 1936, 121 * 15 + 2 * 3 = 1821.
const CPU: [&str; 2] = [
    "    time   cpu  mean   mem swap  load1  alarms  cores and verdict
   1.0 s    0%    3%    2%    -   0.60       0  ▁▁  ok
",
    "
ticks             122 in 12.1 s
view              cpu
cells             52 (most: 52)
recomputations    4489 in 121 waves
alarms            2: cpu busy x1, cpu saturated x1
verdict           ok; frames: ok 99, busy 5, strained 18
cpu               7.12 s worked, peak 100%; busiest core 1, peak 100%
peaks             memory 3%, swap -, load1 0.63
",
];

const NET: [&str; 2] = [
    "    time  net in/s    out/s  alarms  verdict
   1.0 s       0 B      0 B       0  ok
",
    "
ticks             122 in 12.1 s
view              net
cells             30 (most: 30)
recomputations    1936 in 121 waves
alarms            0
verdict           ok; frames: ok 122, busy 0, strained 0
net (without lo)  peak 0 B/s in, 0 B/s out
  lo              peak 6.0 MB/s in, 6.0 MB/s out
",
];

const DISK: [&str; 2] = [
    "    time  disk r/s      w/s  alarms  verdict
   1.0 s       0 B      0 B       0  ok
",
    "
ticks             122 in 12.1 s
view              disk
cells             30 (most: 30)
recomputations    1821 in 121 waves
alarms            1: disk busy x1
verdict           ok; frames: ok 119, busy 3, strained 0
disk              peak 5.3 MB/s read, 1.8 GB/s written
  vda             peak 5.3 MB/s read, 1.8 GB/s written
",
];

/// The lines of the events of a run.
fn events(output: &str) -> String {
    output.lines().filter(|line| line.contains(" ** ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_view_shows_and_computes_one_part() {
    let events_of = |words: &[&str]| -> String {
        let lines = EVENTS.split_inclusive('\n');
        lines.filter(|line| words.iter().any(|word| line.contains(word))).collect()
    };
    let cpu = events_of(&["cpu busy", "cpu saturated"]);
    let disk = events_of(&["disk busy"]);
    assert_eq!((cpu.lines().count(), disk.lines().count()), (4, 2));
    let views = [("cpu", CPU, cpu), ("net", NET, String::new()), ("disk", DISK, disk)];
    for (view, [start, end], expected) in views {
        let (code, output, errors) = run(&["--view", view, "--replay", SHIPPED]);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        let (_title, shown) = output.split_once('\n').unwrap();
        assert!(shown.starts_with(start), "{output}");
        assert!(shown.ends_with(end), "{output}");
        assert_eq!(events(&output), expected);
        assert_eq!(run(&["--replay", SHIPPED, &format!("--view={view}")]).1, output);
    }
}

#[test]
fn all_is_what_is_shown_if_nothing_is_said() {
    let (code, output, _) = run(&["--replay", SHIPPED, "--view", "all"]);
    assert_eq!((code, output), (Some(0), run(&["--replay", SHIPPED]).1));
}

#[test]
fn an_unknown_view_is_an_error_that_names_the_views() {
    let (code, output, errors) = run(&["--view", "memory", "--replay", SHIPPED]);
    assert_eq!((code, output.as_str()), (Some(2), ""));
    let expected = "`--view` needs `cpu`, `net`, `disk` or `all`, not `memory`";
    assert_eq!(errors, format!("vitals: {expected}; see --help\n"));
}

#[test]
fn frames_limits_a_replay() {
    let (code, output, _) = run(&["--replay", SHIPPED, "--frames", "12"]);
    assert_eq!((code, row(&output, "ticks")), (Some(0), "12 in 1.1 s"));
    assert_eq!(row(&output, "recomputations"), "660 in 11 waves");
}

#[test]
fn a_wrong_command_line_ends_with_2_and_shows_nothing() {
    let (code, output, errors) = run(&["now"]);
    assert_eq!((code, output.as_str()), (Some(2), ""));
    assert_eq!(errors, "vitals: unknown argument `now`; see --help\n");
}

#[test]
fn help_names_every_option() {
    let (code, output, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    for option in ["--view VIEW", "--frames N", "--rate HZ", "--record FILE", "--replay FILE"] {
        assert!(output.contains(option), "{option}");
    }
}

#[test]
fn a_missing_recording_is_named() {
    let file = TempFile::new("missing");
    let (code, output, errors) = run(&["--replay", file.path()]);
    assert_eq!((code, output.as_str()), (Some(1), ""));
    let expected = format!("vitals: cannot read {}: ", file.path());
    assert!(errors.starts_with(&expected), "{errors}");
}

#[test]
fn a_recording_that_was_cut_off_is_shown_up_to_there() {
    let text = fs::read_to_string(SHIPPED).unwrap();
    let file = TempFile::with("cut", &text[..text.len() - 10]);
    let (code, output, errors) = run(&["--replay", file.path()]);
    assert_eq!((code, row(&output, "ticks")), (Some(1), "121 in 12.0 s"));
    let expected = "123: the recording is cut off in this line";
    assert_eq!(errors, format!("vitals: {}:{expected}\n", file.path()));
}

#[test]
fn garbage_is_told_with_line_and_column() {
    let text = fs::read_to_string(SHIPPED).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    let broken = lines[3].replacen("kernel", "colonel", 1);
    let column = broken.find("colonel").unwrap() + 1;
    lines[3] = &broken;
    let file = TempFile::with("garbage", &(lines.join("\n") + "\n"));
    let (code, output, errors) = run(&["--replay", file.path()]);
    assert_eq!((code, row(&output, "ticks")), (Some(1), "2 in 0.1 s"));
    let place = format!("vitals: {}:4:{column}: ", file.path());
    assert!(errors.starts_with(&place), "{errors}");
    assert!(errors.ends_with("found `colonel`\n"), "{errors}");
}

#[test]
fn a_recording_without_frames_is_an_error() {
    let file = TempFile::with("empty", "vitals-recording 1 100\n");
    let (code, _, errors) = run(&["--replay", file.path()]);
    assert_eq!((code, errors.as_str()), (Some(1), "vitals: there are no frames\n"));
}

/// What was shown while recording is shown again by the replay.
#[test]
fn a_live_run_and_its_recording_show_the_same() {
    if !Path::new("/proc/stat").exists() {
        let (code, output, _) = run(&["--frames", "3"]);
        assert_eq!((code, row(&output, "ticks")), (Some(0), "3 in 0.2 s"));
        assert!(output.contains("is missing"), "{output}");
        return;
    }
    let file = TempFile::new("live");
    let (code, live, errors) = run(&["--frames", "3", "--rate", "100", "--record", file.path()]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let (code, replayed, _) = run(&["--replay", file.path()]);
    assert_eq!(code, Some(0));
    let shown = |output: &str| output.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(shown(&live), shown(&replayed));
    assert!(row(&live, "ticks").starts_with("3 in 0.0"), "{live}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_recording_that_cannot_be_written_is_an_error() {
    let (code, output, errors) = run(&["--frames", "2", "--record", "/no/such/folder/x.rec"]);
    assert_eq!((code, output.as_str()), (Some(1), ""));
    let expected = "vitals: cannot write /no/such/folder/x.rec: ";
    assert!(errors.starts_with(expected), "{errors}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(program());
    command.args(["--replay", SHIPPED]).stdout(writer);
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(program());
    command.args(["--replay", SHIPPED]).stdout(full);
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("vitals: No space left"), "{errors}");
    assert_eq!(output.status.code(), Some(1));
}
