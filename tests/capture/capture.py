#!/usr/bin/env python3
"""Samples real programs with perf and checks what a profiler sees of hyphae: cells of different types, operators and
closures are frames of their own, and counters, spans and samples agree on what is hot.

    python3 tests/capture/capture.py [storm] [operators] [workloads]

Builds with the feature `profiling` into target/profiling-ci. Exit code 0: all is as it should be; 77: nothing was
checked, the last line says why; 1: something is wrong, and is listed.
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import stacks

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "target" / "profiling-ci"
FLAGS = "-Cforce-frame-pointers=yes -Csymbol-mangling-version=v0"
SKIPPED = 77

METHODS = ("notify", "write_value", "fanout")
SUBSCRIBER = "<hyphae::store::callback::Typed<"
CELL = re.compile(r"<hyphae::store::probe::frames::Cell<(.*)>>::(notify|write_value|fanout)")
STAGE = "hyphae::store::probe::frames::operator::<"
# A stage, an operator's kernel, or the turn of either; or the comparison of a cell that has one.
OPERATOR = re.compile(rf"{STAGE}|<+hyphae::(operators::|store::node::(Derived|Cutoff)<)")
CLOSURE = r"<?{crate}::[\w:<>]*?\{{closure#\d+\}}"

# What an operator's frame has in its name. Operators that choose their inputs have more kernels, with longer names.
OPERATORS = {
    "map": "operators::pure::Map<",
    "filter": "operators::pure::Filter<",
    "tap": "operators::pure::Tap<",
    "map_ok": "operators::pure::MapOk<",
    "catch_error": "operators::pure::CatchError<",
    "scan": "operators::sequence::Scan<",
    "deduped": "operators::sequence::Deduped<",
    "pairwise": "operators::sequence::Pairwise<",
    "window": "operators::sequence::Window<",
    "take_while": "operators::sequence::TakeWhile<",
    "join": "operators::combine::Join<",
    "join_vec": "operators::combine::OverList<",
    "combine": "operators::combine::Combine<",
    "zip": "operators::pair::Zip<",
    "zip_vec": "operators::pair::ZipVec<",
    "merge": "operators::merge::Merge<",
    "concat": "operators::merge::Concat<",
    "take_until": "operators::merge::TakeUntil<",
    "with_latest_from": "operators::sample::WithLatestFrom",
    "sample": "operators::sample::Sample,",
    "switch_map": "operators::switch::SwitchMap<",
    "merge_map": "operators::flatten::MergeMap<",
    "selector": "operators::selector::Selector",
    "computed": "operators::computed::Computed<",
}
PARTS = ("heavy", "wide", "deep")

failures = []


def check(holds, what):
    print(f"{'ok    ' if holds else 'FAILED'} {what}")
    if not holds:
        failures.append(what)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def build():
    """All programs in one go, so that the library is compiled once."""
    programs = ["frame_storm", "capture_operators", "capture_workloads"]
    cargo = ["cargo", "build", "--quiet", "--profile", "profiling", "--features", "flame,frames"]
    cargo += ["--target-dir", str(OUT)]
    for program in programs:
        cargo += ["--example", program]
    subprocess.run(cargo, check=True, cwd=ROOT, env={**os.environ, "RUSTFLAGS": FLAGS})
    return [OUT / "profiling" / "examples" / program for program in programs]


def record(program, *args):
    taken = stacks.record([str(program), *args], OUT / "capture.data")
    print(f"       {program.name} {' '.join(args)}: {len(taken)} samples")
    return taken


def below(stack, method):
    """The frames below the first `notify`, `write_value` or `fanout` of a stack; None where there is none."""
    for at, frame in enumerate(stack):
        cell = CELL.fullmatch(frame)
        if cell and cell[2] == method:
            return stack[at + 1 :]
    return None


def check_seen(taken):
    """The methods are seen as frames, each of three value types at least."""
    seen = {cell.groups() for stack in taken for cell in map(CELL.fullmatch, stack) if cell}
    for method in METHODS:
        types = sorted(value for value, of in seen if of == method)
        check(len(types) >= 3, f"{method} is a frame of {len(types)} value types: {', '.join(types)}")


def operator_of(name):
    """The first type that a stage's name has in brackets."""
    depth = 0
    for at, letter in enumerate(name[len(STAGE) :], len(STAGE)):
        if letter == "," and depth == 0:
            return name[:at]
        depth += (letter in "<([") - (letter in ">)]" and name[at - 1] != "-")
    return name


def check_symbols(program):
    """A method of a value type has one symbol, and no code is that of two types."""
    found = stacks.symbols(program)
    cells = [name for name, _ in found if CELL.fullmatch(name)]
    once = cells and len(set(cells)) == len(cells)
    check(once, f"{len(cells)} symbols, one for each value type and method")
    # A stage's first turn and all others may share code.
    ours = {(at, operator_of(name)) for name, at in found if name.startswith(STAGE)}
    ours |= {(at, name) for name, at in found if CELL.fullmatch(name)}
    alone = len({at for at, _ in ours}) == len(ours) > len(cells)
    check(alone, f"{len(ours)} functions of cells and stages, each with code of its own")
    check_calls(program, {name for name, _ in found})


def check_calls(program, names):
    """No frame is gone from the stack while it calls. A stage or a subscriber may have an indirect jump of the user's
    own code, within itself; the methods of a cell have none."""
    cells = set(filter(CELL.fullmatch, names))
    frames = cells | {name for name in names if name.startswith((STAGE, SUBSCRIBER))}
    jumps = stacks.leaving_jumps(program)
    gone = {name for name, to in jumps if name in cells or (to and name in frames)}
    check(not gone, f"{len(frames)} functions keep their frame in all calls, except: {sorted(gone)}")


def check_named(taken):
    """The compute half: samples below `notify`."""
    turns = [rest for rest in (below(stack, "notify") for stack in taken) if rest is not None]
    named = sum(any(map(OPERATOR.match, rest)) for rest in turns)
    share = 100 * named / max(len(turns), 1)
    check(len(turns) >= 1000, f"{len(turns)} samples below notify")
    check(share >= 95, f"{share:.1f} % of them below a frame that names the operator")


def closures(taken, crate):
    """The program's closures after which operators' frames are named: the first one in the name."""
    frames = {frame for stack in taken for frame in stack if OPERATOR.match(frame)}
    found = (re.search(CLOSURE.format(crate=crate), frame) for frame in frames)
    return {closure[0] for closure in found if closure}


def check_storm(program):
    work = "--hz 0 --cells 20000 --frames 2500 --timing off --quiet"
    taken = record(program, *work.split())
    check_seen(taken)
    check_symbols(program)
    check_named(taken)
    found = closures(taken, "frame_storm")
    check(len(found) >= 10, f"{len(found)} closures have operators' frames")


def check_operators(program):
    taken = record(program, "2")
    check_seen(taken)
    check_symbols(program)
    check_named(taken)
    turns = [rest for rest in (below(stack, "notify") for stack in taken) if rest]
    frames = {frame for rest in turns for frame in rest if OPERATOR.match(frame)}
    missing = [name for name, part in OPERATORS.items() if not any(part in it for it in frames)]
    check(not missing, f"{len(OPERATORS)} operators have frames, except: {missing}")
    twin = re.compile(rf"{STAGE}hyphae::operators::pure::Map<<\w+::Rig>::add_twins::")
    twins = [frame for frame in frames if twin.match(frame)]
    check(len(twins) == 2, f"{len(twins)} of 2 closures with equal bodies have frames")
    effects = [stack for stack in taken if any("run_effect::<" in frame for frame in stack)]
    check(effects and all(below(stack, "fanout") for stack in effects), "effects run below fanout")


def shares(times):
    whole = sum(times.values())
    return {part: 100 * times[part] / whole for part in PARTS}


def measured_shares(program, hottest, mode, waves):
    """What the program itself has measured: of each part the run that was disturbed least."""
    command = [str(program), hottest, mode, waves]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    runs = [dict(word.split("=") for word in line.split()) for line in lines]
    return shares({part: min(int(run[part]) for run in runs) for part in PARTS})


def sampled_shares(program, hottest, waves):
    """A sample is of the part whose closure is on the stack."""
    samples = Counter()
    for stack in record(program, hottest, "plain", waves):
        rest = below(stack, "notify") or below(stack, "fanout") or ()
        for part in PARTS:
            samples[part] += any(f"capture_workloads::{part}::" in frame for frame in rest)
    return shares(samples)


def check_workloads(program):
    waves = "12"
    for hottest in PARTS:
        told = {
            "counters": measured_shares(program, hottest, "counters", waves),
            "spans": measured_shares(program, hottest, "spans", waves),
            "samples": sampled_shares(program, hottest, waves),
        }
        hot = {max(of, key=of.get) for of in told.values()}
        check(hot == {hottest}, f"{hottest}: counters, spans and samples name it the hottest")
        columns = [[of[part] for of in told.values()] for part in PARTS]
        apart = max(max(column) - min(column) for column in columns)
        text = "; ".join(f"{by} {' '.join(f'{of[it]:.1f}' for it in PARTS)}" for by, of in told.items())
        check(apart <= 5, f"{hottest}: shares within 5 points ({apart:.1f}): {text}")


def main():
    if why := stacks.no_recording():
        skip(why)
    if missing := [tool for tool in ("nm", "objdump") if not shutil.which(tool)]:
        skip(f"missing: {' '.join(missing)}")
    wanted = sys.argv[1:] or ["storm", "operators", "workloads"]
    storm, operators, workloads = build()
    checks = {
        "storm": lambda: check_storm(storm),
        "operators": lambda: check_operators(operators),
        "workloads": lambda: check_workloads(workloads),
    }
    for name in wanted:
        print(f"-- {name}")
        checks[name]()
    if failures:
        sys.exit(f"{len(failures)} checks failed")


if __name__ == "__main__":
    main()
