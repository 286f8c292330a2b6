//! The example `sheet` as a program: what it prints for the shipped table, and how it fails.
//!
//! The program is the one that `cargo test` builds beside the tests.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/rig.csv");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/rig.edits");

/// The example's binary, two folders above this test's.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let program = profile.join("examples/sheet").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "{} is missing: build it with `cargo build --example sheet` (a plain `cargo test` does)",
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

/// What a run without mistakes prints.
#[track_caller]
fn printed(args: &[&str]) -> String {
    let (code, output, errors) = run(args);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{args:?}");
    output
}

/// What a run prints below its first line, which is about loading the file.
#[track_caller]
fn told(args: &[&str]) -> String {
    let output = printed(args);
    output.split_once('\n').unwrap().1.to_owned()
}

/// A file that is removed when the test ends.
struct TempFile(PathBuf);

impl TempFile {
    fn with(name: &str, text: impl AsRef<[u8]>) -> Self {
        let name = format!("sheet-{}-{name}", std::process::id());
        let file = Self(std::env::temp_dir().join(name));
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

// Trailing blanks are never printed.
const SHIPPED: &str = r#"         A         B        C         D           E
 1  Fixture      Count  W each     W total  Line
 2  Wash, LED       24        350     8400  L1
 3  Profile 26"      8        750     6000  L2
 4  Blinder          4       1320     5280  L3
 5  Strobe           6       1500     9000  L3
 6
 7  Mains        V      A at most  Load     Used
 8  L1             240         64       35        0.546875
 9  L2             240         64       25        0.390625
10  L3             240         64     59.5       0.9296875
11  All                       192    119.5  0.622395833333
"#;

#[test]
fn the_shipped_table() {
    let output = printed(&[TABLE]);
    assert_eq!(output, format!("{TABLE}: 49 entries, 14 formulas; 14 computed\n{SHIPPED}"));
}

const CHANGES: &str = r#"B5 = 8: 5 formulas recomputed
  B5: 6 => 8
  D5: 9000 => 12000
  D10: 59.5 => 72
  E10: 0.9296875 => "too much"
  D11: 119.5 => 132
  E11: 0.622395833333 => "check"
undo: 5 formulas recomputed
  B5: 8 => 6
  D5: 12000 => 9000
  D10: 72 => 59.5
  E10: "too much" => 0.9296875
  D11: 132 => 119.5
  E11: "check" => 0.622395833333
B9 = 0: 4 formulas recomputed
  B9: 240 => 0
  D9: 25 => #DIV/0!
  E9: 0.390625 => #DIV/0!
  D11: 119.5 => #DIV/0!
  E11: 0.622395833333 => #DIV/0!
undo: 4 formulas recomputed
  B9: 0 => 240
  D9: #DIV/0! => 25
  E9: #DIV/0! => 0.390625
  D11: #DIV/0! => 119.5
  E11: #DIV/0! => 0.622395833333
2 edits at once: 12 formulas recomputed
  C2: 350 => 250
  D2: 8400 => 6000
  C3: 750 => 420
  D3: 6000 => 3360
  C5: 1500 => 840
  D5: 9000 => 5040
  D8: 35 => 25
  E8: 0.546875 => 0.390625
  D9: 25 => 14
  E9: 0.390625 => 0.21875
  D10: 59.5 => 43
  E10: 0.9296875 => 0.671875
  D11: 119.5 => 82
  E11: 0.622395833333 => 0.427083333333
C4 = =D4/B4: 6 formulas recomputed
  C4: 1320 => #CYCLE! C4 -> D4 -> C4
  D4: 5280 => #CYCLE! C4 -> D4 -> C4
  D10: 43 => #CYCLE! C4 -> D4 -> C4
  E10: 0.671875 => #CYCLE! C4 -> D4 -> C4
  D11: 82 => #CYCLE! C4 -> D4 -> C4
  E11: 0.427083333333 => #CYCLE! C4 -> D4 -> C4
C4 = 1200: 5 formulas recomputed
  C4: #CYCLE! C4 -> D4 -> C4 => 1200
  D4: #CYCLE! C4 -> D4 -> C4 => 4800
  D10: #CYCLE! C4 -> D4 -> C4 => 41
  E10: #CYCLE! C4 -> D4 -> C4 => 0.640625
  D11: #CYCLE! C4 -> D4 -> C4 => 80
  E11: #CYCLE! C4 -> D4 -> C4 => 0.416666666667
         A         B        C         D           E
 1  Fixture      Count  W each     W total  Line
 2  Wash, LED       24        250     6000  L1
 3  Profile 26"      8        420     3360  L2
 4  Blinder          4       1200     4800  L3
 5  Strobe           6        840     5040  L3
 6
 7  Mains        V      A at most  Load     Used
 8  L1             240         64       25        0.390625
 9  L2             240         64       14         0.21875
10  L3             240         64       41        0.640625
11  All                       192       80  0.416666666667
"#;

#[test]
fn the_shipped_script_tells_what_each_edit_changed() {
    let args = [TABLE, "--script", SCRIPT, "--changes"];
    assert_eq!(told(&args), CHANGES);
}

#[test]
fn two_runs_print_the_same() {
    let args = [TABLE, "--script", SCRIPT, "--set", "E11==SUM(A1:E12)", "--set", "B5==D8"];
    let output = printed(&args);
    assert!(output.contains("#CYCLE!"), "{output}");
    assert_eq!(printed(&args), output);
}

#[test]
fn edits_of_the_command_line_are_made_one_by_one_or_at_once() {
    let file = TempFile::with("set.csv", "1,2,=A1+B1\n");
    let args = ["--set", "A1=5", "--set=B1=7", "--changes", file.path()];
    let one_by_one = "A1 = 5: 1 formula recomputed
  A1: 1 => 5
  C1: 3 => 7
B1 = 7: 1 formula recomputed
  B1: 2 => 7
  C1: 7 => 12
";
    assert_eq!(told(&args), one_by_one);
    let at_once = "2 edits at once: 1 formula recomputed
  A1: 1 => 5
  B1: 2 => 7
  C1: 3 => 12
";
    assert_eq!(told(&[&args[..], &["--batch"]].concat()), at_once);
}

#[test]
fn the_script_comes_after_the_command_line_and_can_undo_it() {
    let file = TempFile::with("order.csv", "1\n");
    let script = TempFile::with("order.edits", "undo\nprint\n");
    let output = told(&["--script", script.path(), "--set", "A1==1/0", file.path()]);
    let expected = "A1 = =1/0: 1 formula recomputed
undo: 0 formulas recomputed
   A
1  1
   A
1  1
";
    assert_eq!(output, expected);
}

/// 10 000 formulas, each reading the one above, and 1 000 that read none of them.
#[test]
fn an_edit_recomputes_exactly_its_dependents() {
    let row = |row| {
        let first = if row == 1 { "1".to_owned() } else { format!("=A{}+2", row - 1) };
        let other = if row % 10 == 0 { format!("=B{row}*2") } else { String::new() };
        format!("{first},,{other}\n")
    };
    let file = TempFile::with("deep.csv", (1..=10_001).map(row).collect::<String>());
    let edits = ["--set", "A1=5", "--set", "B10=1", "--set", "A9000=x", "--set", "D1=1"];
    let output = printed(&[&edits[..], &["--changes", file.path()]].concat());
    let heads: Vec<_> = output.lines().filter(|line| !line.starts_with(' ')).collect();
    let loaded = format!("{}: 11001 entries, 11000 formulas; 11000 computed", file.path());
    let expected = [
        &loaded,
        "A1 = 5: 10000 formulas recomputed",
        "B10 = 1: 1 formula recomputed",
        "A9000 = x: 1001 formulas recomputed",
        "D1 = 1: 0 formulas recomputed",
    ];
    assert_eq!(heads, expected);
    assert_eq!(output.lines().count(), 5 + 10_001 + 2 + 1002 + 1);
}

#[test]
fn a_wrong_command_line_ends_with_2_and_shows_nothing() {
    let (code, output, errors) = run(&["--set", "A1==(1", TABLE]);
    assert_eq!((code, output.as_str()), (Some(2), ""));
    let problem = "expected `)`, `,` or an operator, found the end; see --help";
    assert_eq!(errors, format!("sheet: `--set A1==(1`, column 7: {problem}\n"));
}

#[test]
fn help_names_every_option() {
    let output = printed(&["--help"]);
    for option in ["--set ENTRY=VALUE", "--batch", "--script FILE", "--changes", "--help"] {
        assert!(output.contains(option), "{option}");
    }
}

/// Of a file that cannot be used nothing is shown.
#[track_caller]
fn fails(args: &[&str], expected: &str) {
    let (code, output, errors) = run(args);
    assert_eq!((code, output.as_str()), (Some(1), ""));
    assert_eq!(errors, format!("sheet: {expected}\n"));
}

#[test]
fn a_broken_file_is_told_with_line_and_column() {
    let rows: [(&[u8], &str); 4] = [
        (b"a,b\nc,\"d\n", "2:3: this quote is never closed"),
        (b"1,2\n3,\"=\"\"a\"\"+\"", "2:11: expected a value, found the end"),
        (b"1\n2,\xff\n", "2:3: this is not UTF-8 text"),
        (
            b"a,b\nc,d\"e\n",
            "2:4: a quote inside a field; put the field in quotes and double this one",
        ),
    ];
    for (index, (text, problem)) in rows.into_iter().enumerate() {
        let file = TempFile::with(&format!("broken-{index}.csv"), text);
        fails(&[file.path()], &format!("{}:{problem}", file.path()));
    }
}

#[test]
fn a_formula_that_nests_too_deep_is_an_error() {
    let text = "1,=".to_owned() + &"(".repeat(100_000);
    let file = TempFile::with("nested.csv", text);
    let problem = "1:68: parentheses nest deeper than 64 levels";
    fails(&[file.path()], &format!("{}:{problem}", file.path()));
}

#[test]
fn a_broken_script_is_told_with_line_and_column() {
    let script = TempFile::with("broken.edits", "A1 = 5\nB1 = =1 +* 2\n");
    let problem = format!("{}:2:10: expected a value, found `*`", script.path());
    fails(&[TABLE, "--script", script.path()], &problem);
}

#[test]
fn what_was_done_before_an_error_is_shown() {
    let file = TempFile::with("early.csv", "1\n");
    let script = TempFile::with("early.edits", "A1 = 2\nundo\nundo\n");
    let (code, output, errors) = run(&[file.path(), "--script", script.path()]);
    assert_eq!((code, output.lines().count()), (Some(1), 3));
    assert_eq!(errors, format!("sheet: {}:3:1: nothing to undo\n", script.path()));
}

#[test]
fn a_missing_file_is_named() {
    for args in [["no/such.csv", "--changes"].as_slice(), &[TABLE, "--script", "no/such.csv"]] {
        let (code, output, errors) = run(args);
        assert_eq!((code, output.as_str()), (Some(1), ""));
        assert!(errors.starts_with("sheet: cannot read no/such.csv: "), "{errors}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(program());
    command.args([TABLE, "--script", SCRIPT]).stdout(writer);
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(program()).arg(TABLE).stdout(full).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("sheet: No space left"), "{errors}");
    assert_eq!(output.status.code(), Some(1));
}
