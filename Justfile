# Short names for common work; `just` lists them. Needs nothing beyond the Rust
# toolchain unless a recipe says so.

set shell := ["bash", "-euo", "pipefail", "-c"]
set positional-arguments

# Frame pointers and readable names, for profilers.
profile_flags := "-Cforce-frame-pointers=yes -Csymbol-mangling-version=v0"

# Without module paths, for labels of flame graphs; folded stacks keep the whole names.
short_names := "sed -E 's/(hyphae|core|alloc|std)::([a-z_0-9]+::)*([A-Za-z_])/\\3/g; s/<(<Derived<[^;]*>)::turn::[{]closure#0[}] as [^;]*::call_once/\\1::compute/g'"

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

# Other libraries on the same graphs, as a table (--quick: the answers alone): ARGS
peers *ARGS:
    cargo run --release --locked --manifest-path benches/peers/Cargo.toml --target-dir target/peers -- "$@"

# Whether each target of speed and size is met, by ratios of one run: ARGS
[no-exit-message]
targets *ARGS:
    cargo run --release --locked --manifest-path benches/peers/Cargo.toml --target-dir target/peers -- targets "$@"

# Whether instructions, bytes and allocations are those of the baseline (valgrind; otherwise the exact ones alone)
[no-exit-message]
gates:
    cargo run --quiet --release --locked --manifest-path benches/gates/Cargo.toml --target-dir target/gates -- check

# Renew the baseline, and say in CHANGELOG.md what changed and why: REASON
[no-exit-message]
gates-renew *REASON:
    cargo run --quiet --release --locked --manifest-path benches/gates/Cargo.toml --target-dir target/gates -- renew "$@"

# Runs the tests of published hyphae 1.3.3, which cargo fetches, against this crate: [--failed] tells why each one fails
[no-exit-message]
hyphae-tests *ARGS:
    tests/published/run.py "$@"

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

# Profiling: docs/profiling.md tells which recipe answers which question. BIN is an
# example or a bench; without one it is frame_storm. ARGS are the program's. All
# output goes to target/profile.

# Sampled profile for the browser, by samply: [BIN] ARGS
[no-exit-message]
profile *ARGS: (_need "samply" "cargo install samply --locked") (_paranoid "1" "samply")
    @just _record samply stable "$@"

# The same of a nightly build in which LLVM merges no equal functions: [BIN] ARGS
[no-exit-message]
profile-nightly *ARGS: (_need "samply" "cargo install samply --locked") (_paranoid "1" "samply")
    @just _record samply nightly "$@"

# Flame graph of samples, by perf and inferno: [BIN] ARGS
[no-exit-message]
perf *ARGS: (_need "perf" "apt install linux-perf") (_need "inferno-flamegraph" "cargo install inferno --locked") _can_record
    @just _record perf stable "$@"

# Flame graph with inlined functions, by cargo-flamegraph: [BIN] ARGS
[no-exit-message]
flamegraph *ARGS: (_need "perf" "apt install linux-perf") (_need "flamegraph" "cargo install flamegraph") _can_record
    @just _record flamegraph stable "$@"

# Flame graph of spans, by tracing-flame and inferno: ARGS of frame_storm
[no-exit-message]
trace-flame *ARGS: (_need "inferno-flamegraph" "cargo install inferno --locked")
    @just _trace flame target/profile/spans.folded "$@"
    inferno-flamegraph --countname ns --title "frame_storm, spans" < target/profile/spans.folded > target/profile/spans.svg
    @echo "open target/profile/spans.svg in a browser"

# Timeline of spans in Chrome's format: ARGS of frame_storm
[no-exit-message]
trace-chrome *ARGS:
    @just _trace chrome target/profile/spans.json "$@"
    @echo "open target/profile/spans.json with speedscope (npm install -g speedscope), ui.perfetto.dev or chrome://tracing"

# Live view of spans in Tracy, on this machine alone: ARGS of frame_storm
[no-exit-message]
tracy *ARGS: (_need "c++" "apt install g++")
    @echo "connect Tracy's viewer to 127.0.0.1"
    @if (( $# == 0 )); then set -- --cells 5000 --frames 3600; fi; just _trace tracy target/profile/tracy.none "$@"

# Counters, times and the hot cells of frame_storm: ARGS
[no-exit-message]
hot *ARGS:
    @mkdir -p target/profile
    cargo run --release --features frames --example frame_storm -- "$@" | tee target/profile/hot.txt
    @echo "kept in target/profile/hot.txt"

# Build BIN for profiling with a TOOLCHAIN and run it under TOOL
[no-exit-message]
_record TOOL TOOLCHAIN *ARGS:
    #!/usr/bin/env bash
    set -euo pipefail
    tool=$1 toolchain=$2 bin=frame_storm kind=--example
    shift 2
    if [[ -f examples/${1-}.rs || -f examples/${1-}/main.rs || -f benches/${1-}.rs ]]; then
        bin=$1
        shift
    fi
    if [[ -f benches/$bin.rs ]]; then
        kind=--bench
        set -- --bench --profile-time 10 "$@"
    fi
    export RUSTFLAGS="{{ profile_flags }}"
    cargo=(cargo) out=target/profile/$bin
    if [[ $toolchain == nightly ]]; then
        cargo=(cargo +nightly) out+=-nightly
        export CARGO_TARGET_DIR=target/nightly
        RUSTFLAGS+=" -Zmerge-functions=disabled"
    fi
    build=("${cargo[@]}" build --profile profiling --features profiling,frames "$kind" "$bin")
    echo "${build[*]}"
    exe=$("${build[@]}" --message-format=json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
    mkdir -p target/profile
    echo "$exe $*"
    case $tool in
    samply)
        # samply's own exit code does not tell how the program ended.
        rm -f "$out.status"
        samply record --save-only -o "$out.json.gz" -- \
            bash -c '"${@:2}"; echo "$?" > "$1"' _ "$out.status" "$exe" "$@"
        status=$(cat "$out.status" 2>/dev/null || echo 1)
        [[ $status == 0 ]] || { echo "the program ended with exit code $status"; exit "$status"; }
        echo "open it with: samply load $out.json.gz"
        ;;
    perf)
        perf record -F 997 --call-graph fp -o "$out.perf.data" -- "$exe" "$@"
        # A name with `->` in it would be taken for two functions, one inlined in the other.
        perf script -i "$out.perf.data" | sed 's/ -> / => /g' | inferno-collapse-perf > "$out.folded"
        {{ short_names }} "$out.folded" | inferno-flamegraph --title "$bin, samples" > "$out.svg"
        echo "open $out.svg in a browser"
        ;;
    flamegraph)
        flamegraph -c "record -F 499 --call-graph dwarf,16384 -o $out.dwarf.data" \
            --title "$bin, samples with inlined functions" --post-process "{{ short_names }}" \
            -o "$out.inlined.svg" -- "$exe" "$@"
        echo "open $out.inlined.svg in a browser"
        ;;
    esac

# Run frame_storm with a LAYER that listens to its spans
[no-exit-message]
_trace LAYER OUT *ARGS:
    #!/usr/bin/env bash
    set -euo pipefail
    layer=$1 out=$2
    shift 2
    # A line or two for each span: a few hundred MB a minute of the whole storm.
    if (( $# == 0 )); then set -- --cells 2000 --frames 120; fi
    mkdir -p target/profile
    cargo run --profile profiling --manifest-path examples/tracers/Cargo.toml --target-dir target/tracers \
        --features "$layer" -- "$layer" "$out" "$@"

# Say how to install a missing tool
[no-exit-message]
_need TOOL HINT:
    @command -v "$1" >/dev/null || { echo "$1 is missing; install it with: $2"; exit 1; }

# Say what to set when the kernel lets no one sample; changes nothing itself
[no-exit-message]
_can_record:
    @perf record -q -o /dev/null -- true 2>/dev/null || { echo "perf may not record here; allow it with: sudo sysctl kernel.perf_event_paranoid=1"; exit 1; }

# The same for a tool that reads the level itself
[no-exit-message]
_paranoid MOST TOOL:
    @level=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 0); (( level <= $1 )) || { echo "$2 may not record while kernel.perf_event_paranoid is $level; allow it with: sudo sysctl kernel.perf_event_paranoid=$1"; exit 1; }
