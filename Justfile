# Short names for common work; `just` lists them. Needs nothing beyond the Rust
# toolchain unless a recipe says so.

set shell := ["bash", "-euo", "pipefail", "-c"]
set positional-arguments

# Frame pointers and readable names, for profilers.
profile_flags := "-Cforce-frame-pointers=yes -Csymbol-mangling-version=v0"

alias t := test

# List the recipes
default:
    @just --list

# Every check, as CI runs them
ci:
    .ci/run

# Tests and doctests
test *ARGS:
    cargo test "$@"

# Format check and clippy, warnings as errors
lint:
    cargo fmt --check
    cargo clippy --all-targets --all-features -- -D warnings

# Documentation, warnings as errors
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --all-features

# Benchmarks; arguments go to criterion, for example a name to select by
bench *ARGS:
    cargo bench --bench cells -- "$@"

# Tests under AddressSanitizer (nightly, x86_64 Linux)
asan:
    .ci/asan

# Unit tests under Miri (nightly with the miri and rust-src components)
miri:
    MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES="${PROPTEST_CASES:-2}" cargo +nightly miri test --lib

# Run each fuzz target for SECONDS (cargo-fuzz and a nightly)
[no-exit-message]
fuzz SECONDS="60":
    @just _need cargo-fuzz "cargo install cargo-fuzz"
    for target in $(cargo fuzz list --fuzz-dir tests/fuzz); do cargo +nightly fuzz run --fuzz-dir tests/fuzz "$target" -- -max_total_time="$1"; done

# Live monitor of this machine; for example `just vitals --frames 5`
vitals *ARGS:
    cargo run --release --example vitals -- "$@"

# Spreadsheet of a CSV file; without arguments the shipped one with its edits
sheet *ARGS:
    @if (( $# == 0 )); then set -- examples/data/rig.csv --script examples/data/rig.edits --changes; fi; cargo run --release --example sheet -- "$@"

# The smallest example
hello:
    cargo run --release --example hello

# Profile an example or bench with samply, into target/profile
[no-exit-message]
profile BIN *ARGS: _paranoid
    @just _need samply "cargo install samply --locked"
    @just _record "['samply', 'record', '--save-only', '-o', 'target/profile/$1.json.gz', '--']" "$@"
    @echo "view it with: samply load target/profile/$1.json.gz"

# Flame graph of an example or bench with perf and inferno, into target/profile
[no-exit-message]
perf BIN *ARGS: _paranoid
    @just _need perf "apt install linux-perf (Debian)"
    @just _need inferno-flamegraph "cargo install inferno --locked"
    @just _record "['perf', 'record', '-F', '997', '--call-graph', 'fp', '-o', 'target/profile/$1.perf.data', '--']" "$@"
    perf script -i "target/profile/$1.perf.data" | inferno-collapse-perf | inferno-flamegraph > "target/profile/$1.svg"
    @echo "flame graph: target/profile/$1.svg"

# Build BIN for profiling and run it under RUNNER, a TOML list
[no-exit-message]
_record RUNNER BIN *ARGS:
    #!/usr/bin/env bash
    set -euo pipefail
    runner=$1 bin=$2
    shift 2
    mkdir -p target/profile
    export RUSTFLAGS="{{ profile_flags }}"
    cargo=(cargo --config "target.'cfg(all())'.runner = $runner")
    if [[ -f benches/$bin.rs ]]; then
        "${cargo[@]}" bench --profile profiling --bench "$bin" -- --profile-time 10 "$@"
    else
        "${cargo[@]}" run --profile profiling --example "$bin" -- "$@"
    fi

# Say how to install a missing tool
[no-exit-message]
_need TOOL HINT:
    @command -v "$1" >/dev/null || { echo "$1 is missing; install it with: $2"; exit 1; }

# Say what to set when the kernel keeps profilers out; changes nothing itself
_paranoid:
    @level=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 0); if (( level > 1 )); then echo "perf_event_paranoid is $level; if recording fails, set it with: sudo sysctl kernel.perf_event_paranoid=1"; fi
