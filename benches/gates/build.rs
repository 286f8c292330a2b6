//! Tells the program which compiler made it.

use std::process::Command;

fn main() {
    let rustc = std::env::var_os("RUSTC").expect("cargo names the compiler");
    let output = Command::new(rustc).arg("-vV").output().expect("the compiler tells its version");
    let text = String::from_utf8(output.stdout).expect("its version is text");
    let of = |word: &str| {
        text.lines().find_map(|line| line.strip_prefix(word)).unwrap_or("unknown").to_string()
    };
    println!(
        "cargo::rustc-env=COMPILER={} {} {}",
        of("release: "),
        of("commit-hash: "),
        of("host: ")
    );
    println!("cargo::rerun-if-changed=build.rs");
}
