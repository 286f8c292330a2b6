"""Recording with perf, and its samples as stacks of names. It knows nothing of hyphae.

A stack is a tuple of function names, outermost first. perf leaves inlined functions out of stacks that were taken by
frame pointers, so each name is a symbol of the program.
"""

import re
import subprocess
from pathlib import Path

HERTZ = 4000


def no_recording():
    """Why perf cannot record here, in one line; None when it can."""
    try:
        command = ["perf", "record", "-q", "-g", "-o", "/dev/null", "--", "true"]
        tried = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        return "perf is missing"
    if tried.returncode == 0:
        return None
    said = tried.stderr.decode(errors="replace").strip().splitlines()
    return f"perf cannot record: {said[0] if said else tried.returncode}"


def rate():
    """Samples a second; the kernel takes no more than its own limit."""
    limit = Path("/proc/sys/kernel/perf_event_max_sample_rate")
    return min(HERTZ, int(limit.read_text())) if limit.exists() else HERTZ


def record(command, data):
    """Runs a command under perf; gives its stacks. A command that fails is an error."""
    # No -e: perf takes the processor's cycles where it can, and a timer where it cannot.
    perf = ["perf", "record", "-q", "--call-graph=fp", "-F", str(rate()), "-o", str(data), "--"]
    subprocess.run(perf + command, check=True, stdout=subprocess.DEVNULL)
    script = ["perf", "script", "-i", str(data), "-F", "comm,ip,sym"]
    text = subprocess.run(script, check=True, capture_output=True).stdout
    return list(fold(text.decode(errors="replace")))


def fold(script):
    """The stacks of perf script's output: for each sample a line, a line for each frame, innermost first, an empty one."""
    for sample in script.split("\n\n"):
        words = [line.split(maxsplit=1) for line in sample.strip("\n").split("\n")[1:]]
        frames = [parts[1].strip() for parts in words if len(parts) == 2]
        if frames:
            yield tuple(reversed(frames))


def leaving_jumps(program):
    """Direct jumps out of a function into another, as calls that are a function's last act become: from, to. Indirect
    ones are there without a target, for they may also be a jump within the function."""
    objdump = ["objdump", "-d", "-C", "--no-show-raw-insn", str(program)]
    listing = subprocess.run(objdump, check=True, capture_output=True, text=True).stdout
    function = None
    for line in listing.splitlines():
        if head := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = head[1]
        elif jump := re.search(r"\t(?:jmp|b|br) +[^<]*(?:<(.*?)(?:\+0x[0-9a-f]+)?>)?$", line):
            if jump[1] != function:
                yield function, jump[1]


def symbols(program):
    """Names and addresses of a program's functions."""
    nm = subprocess.run(["nm", "-C", str(program)], check=True, capture_output=True, text=True)
    found = re.findall(r"^([0-9a-f]+) [tTwW] (.*)$", nm.stdout, re.MULTILINE)
    return [(name, address) for address, name in found]
