#!/usr/bin/env python3
"""What observing costs, for docs/profiling.md: instructions (by valgrind) and time for each cell of some shapes, in builds
with and without features. Times are the least of several processes that take turns, so that all had quiet moments.

    tests/capture/costs.py [chain] [fan] [storm]
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from capture import FLAGS, ROOT

OUT = ROOT / "target" / "costs"
ROUNDS = 9

# What is measured: a label, the build's features, its flags, the mode of the program.
ROWS = [
    ("off", "", "", "plain"),
    ("trace", "trace", "", "plain"),
    ("trace, times of one wave in 16", "trace", "", "sixteenth"),
    ("trace, times of every wave", "trace", "", "times"),
    ("profiling, nobody listens", "flame", "", "plain"),
    ("the same with frame pointers", "flame", FLAGS, "plain"),
    ("FoldedLayer listens", "flame", "", "folded"),
]


def build(features, flags):
    """The program of a build, under a name of its own."""
    cargo = ["cargo", "build", "--quiet", "--release", "--target-dir", str(OUT), "--example", "costs"]
    cargo += ["--features", features] if features else []
    subprocess.run(cargo, check=True, cwd=ROOT, env={**os.environ, "RUSTFLAGS": flags})
    program = OUT / f"costs-{features or 'off'}{'-fp' if flags else ''}"
    shutil.copy(OUT / "release" / "examples" / "costs", program)
    return program


def run(command):
    """What the program tells: nanoseconds a wave and cells in it; and what was written beside that."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    nanos, cells = map(int, done.stdout.split())
    return nanos, cells, done.stderr


def instructions(command, shape, mode):
    """Instructions for each cell of a wave, of 32 waves."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured*"]
    _, cells, told = run(tool + [command, shape, mode, "32", "1"])
    return int(re.search(r"Collected : (\d+)", told)[1]) / 32 / cells


def nanoseconds(command, shape, mode):
    nanos, cells, _ = run([command, shape, mode, "50", "20"])
    return nanos / cells


def main():
    programs = {(features, flags): build(features, flags) for _, features, flags, _ in ROWS}
    for shape in sys.argv[1:] or ["chain", "fan", "storm"]:
        rows = [(label, programs[features, flags], mode) for label, features, flags, mode in ROWS]
        # Spans of the storm cost what those of the others do, and take minutes under valgrind.
        rows = [row for row in rows if (shape, row[2]) != ("storm", "folded")]
        times = [[nanoseconds(program, shape, mode) for _, program, mode in rows] for _ in range(ROUNDS)]
        print(f"\n{shape}, for each cell{'instructions':>28}{'ns':>8}{'ratio':>8}")
        least = [min(column) for column in zip(*times)]
        for (label, program, mode), ns in zip(rows, least):
            count = instructions(program, shape, mode)
            print(f"{label:<36}{count:>12.1f}{ns:>8.1f}{ns / least[0]:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
