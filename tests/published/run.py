#!/usr/bin/env python3
"""Runs the tests of published hyphae 1.3.3 against this crate.

Cargo fetches the published crate into its own cache; nothing of it is kept here. Each `#[test]` function becomes a
module of its own with the imports and helpers of its file, in which import paths alone are rewritten. What does not
compile has failed. Not applicable is what uses threads, the inspector, or maps.

    tests/published/run.py            the table and the share that passes
    tests/published/run.py --failed   also why each one failed

Fails when a test fails that `expected.txt` does not name.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
WORK = ROOT / "target" / "hyphae-tests"
VERSION = "1.3.3"
SECONDS = 10

THREADS = re.compile(r"\bthread::(?!sleep)|\bthread_local|\brayon\b|\bBarrier\b|\bmpsc\b|\bcrossbeam|\bParallel|\.parallel\(|\bCondvar\b|\bscope\.spawn")
MAPS = re.compile(r"\b(CellMap|CellSet|NestedMap|MapDiff|SetDiff|MapQuery|ReactiveMap|ReactiveKeys|HasForeignKey|IdFor|JoinKeyFrom|WeakCellMap)\b")
INSPECTOR = re.compile(r"\b(registry|server)::|\binspector\b|value_debug")
# Folders and files whose subject is one of these throughout.
SUBJECTS = {
    "maps": re.compile(r"^(cell_map|cell_set|nested_map)\.rs$|^(map_query|traits/collections)/|tests/map_query"),
    "threads": re.compile(r"^platform/|^tests/concurrency\.rs$"),
    "inspector": re.compile(r"^(registry|server)\.rs$"),
}


def fetch():
    """The folder of the published crate's sources."""
    crate = WORK / "fetch"
    (crate / "src").mkdir(parents=True, exist_ok=True)
    (crate / "src" / "lib.rs").write_text("")
    (crate / "Cargo.toml").write_text(
        f'[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\nhyphae = "={VERSION}"\n')
    out = subprocess.run(["cargo", "metadata", "--quiet", "--format-version", "1"], cwd=crate, capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"the published crate can't be fetched:\n{out.stderr}")
    for package in json.loads(out.stdout)["packages"]:
        if package["name"] == "hyphae":
            return pathlib.Path(package["manifest_path"]).parent
    sys.exit("cargo does not know the published crate")


def skip(text, at):
    """The place after a comment, string or character that begins at `at`; `at` if none does."""
    if text.startswith("//", at):
        return (text.find("\n", at) + 1) or len(text)
    if text.startswith("/*", at):
        return text.find("*/", at) + 2
    raw = re.match(r'r(#*)"', text[at:])
    if raw and not (at and text[at - 1].isalnum()):
        end = '"' + raw.group(1)
        return text.find(end, at + raw.end()) + len(end)
    if text[at] == '"':
        at += 1
        while text[at] != '"':
            at += 2 if text[at] == "\\" else 1
        return at + 1
    char = re.match(r"'(\\.[^']*|[^\\'])'", text[at:at + 12])
    return at + char.end() if char else at


def items(text):
    """The items of a module body, each with its attributes and comments."""
    start = at = depth = 0
    while at < len(text):
        after = skip(text, at)
        if after > at:
            at = after
            continue
        char = text[at]
        at += 1
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        ends = depth == 0 and (char == ";" or char == "}" and not re.match(r"\s*[;,.)]", text[at:]))
        if ends:
            yield text[start:at]
            start = at


def body(item):
    opens = item.index("{")
    return item[opens + 1:item.rindex("}")]


def rewrite(item):
    """Import paths, and paths that begin at the crate."""
    if re.search(r"^\s*(pub\s+)?use\s", item, re.M):
        item = re.sub(r"use\s+super::(super::)*\*\s*;", "use hyphae::everything::*;", item)
        item = re.sub(r"use\s+super::(super::)*", "use hyphae::everything::", item)
    return re.sub(r"\bcrate::", "hyphae::", item)


def tests_of(path, name):
    """The modules of tests in a file: common items, and the test functions by name."""
    text = path.read_text()
    bodies = [text] if name.startswith("tests/") else [
        body(item) for item in items(text) if re.search(r"#\[cfg\((all\()?test\b", item) and re.search(r"\bmod\s+\w+\s*\{", item)]
    for inside in bodies:
        common, tests = [], []
        for item in items(inside):
            found = re.search(r"#\[test\]", item) and re.search(r"\bfn\s+(\w+)", item)
            (tests.append((found.group(1), item)) if found else common.append(item))
        yield common, tests


def inapplicable(name, text):
    for reason, subject in SUBJECTS.items():
        if subject.search(name):
            return reason
    if MAPS.search(text):
        return "maps"
    if THREADS.search(text):
        return "threads"
    return "inspector" if INSPECTOR.search(text) else None


def collect(source):
    """All tests: file, function, the text of their module, and why not applicable."""
    found = []
    for path in sorted((source / "src").rglob("*.rs")):
        name = path.relative_to(source / "src").as_posix()
        for common, tests in tests_of(path, name):
            for function, item in tests:
                used = [c for c in common if not re.search(r"^\s*(pub(\(\w+\))?\s+)?mod\s+\w+\s*;", c, re.M)]
                text = "".join(rewrite(part) for part in [*used, item])
                # Helpers of the file speak of what other tests use: the function alone tells.
                found.append((name, function, text, inapplicable(name, item)))
    return found


MANIFEST = """[package]
name = "hyphae-tests"
version = "0.0.0"
edition = "2024"
[workspace]
[lib]
doctest = false
[dependencies]
hyphae = {{ package = "hyphae-everything", path = "../everything" }}
uuid = "1"
log = "0.4"
anyhow = "1"
futures-core = "0.3"
futures = "0.3"
"""

EVERYTHING = """[package]
name = "hyphae-everything"
version = "0.0.0"
edition = "2024"
[workspace]
[dependencies]
inner = {{ package = "hyphae", path = {path}, features = ["compat", "async", "profiling", "metrics"] }}
"""


def write(tests):
    """The crate of the tests; `hyphae::everything` is what `super` of a file of the published crate would have in reach."""
    everything = WORK / "everything"
    (everything / "src").mkdir(parents=True, exist_ok=True)
    (everything / "Cargo.toml").write_text(EVERYTHING.format(path=json.dumps(str(ROOT))))
    (everything / "src" / "lib.rs").write_text(
        "pub use inner::*;\n"
        "pub mod everything {\n"
        "    pub use inner::*;\n"
        "    pub use std::{rc::Rc, sync::{Arc, Mutex, atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering}}, time::{Duration, Instant}};\n"
        "}\n")
    crate = WORK / "crate"
    (crate / "src").mkdir(parents=True, exist_ok=True)
    (crate / "Cargo.toml").write_text(MANIFEST.format())
    for old in (crate / "src").glob("t*.rs"):
        old.unlink()
    for number, (_, _, text, _) in tests:
        (crate / "src" / f"t{number}.rs").write_text(text)
    return crate


def build(crate, numbers):
    """Builds, leaves out what does not compile, and builds again. Gives the program and the errors by number."""
    errors, live = {}, set(numbers)
    while True:
        (crate / "src" / "lib.rs").write_text("#![allow(warnings)]\n" + "".join(f"#[cfg(test)] mod t{n};\n" for n in sorted(live)))
        out = subprocess.run(["cargo", "test", "--no-run", "--quiet", "--message-format", "json"], cwd=crate, capture_output=True, text=True)
        program, bad = None, {}
        for line in out.stdout.splitlines():
            message = json.loads(line)
            if message.get("executable"):
                program = message["executable"]
            diagnostic = message.get("message")
            if message.get("reason") == "compiler-message" and diagnostic["level"] == "error":
                # Also where a macro of the standard library stands in a test.
                for number in re.findall(r'src/t(\d+)\.rs"', json.dumps(diagnostic["spans"])):
                    bad.setdefault(int(number), diagnostic["message"])
        if out.returncode == 0:
            return program, errors
        if not bad:
            sys.exit(f"the tests can't be built:\n{out.stderr}")
        errors.update(bad)
        live -= bad.keys()


def run(program, number, function):
    """None if the test passes, else why not."""
    try:
        out = subprocess.run([program, "--exact", f"t{number}::{function}", "--test-threads=1"], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"not over in {SECONDS} s"
    if out.returncode == 0 and "1 passed" in out.stdout:
        return None
    said = [line for line in out.stdout.splitlines() if line.strip() and not line.startswith(("running", "test ", "failures", "----", "note", "error"))]
    return " | ".join(said[:3])[:200] or "it failed"


def main():
    found = collect(fetch())
    applicable = [(number, test) for number, test in enumerate(found) if test[3] is None]
    program, errors = build(write(applicable), [number for number, _ in applicable])
    rows, failed = {}, {}
    for number, (name, function, _, reason) in enumerate(found):
        row = rows.setdefault(name, [0, 0, 0])
        if reason:
            row[2] += 1
            continue
        why = errors.get(number) or run(program, number, function)
        row[0 if why is None else 1] += 1
        if why is not None:
            failed[f"{name}::{function}"] = ("does not compile: " if number in errors else "") + why
    report(found, rows, failed)


def report(found, rows, failed):
    print(f"{'file':44} passed failed  n/a")
    for name, (good, bad, rest) in sorted(rows.items()):
        if good or bad:
            print(f"{name:44} {good:6} {bad:6} {rest:4}")
    good, bad = (sum(row[at] for row in rows.values()) for at in (0, 1))
    print(f"{len(found)} tests, {good + bad} apply: {good} passed, {bad} failed ({100 * good / (good + bad):.1f} % pass)")
    known = dict(re.findall(r"^(\S+::\S+)\s+(.*)$", (HERE / "expected.txt").read_text(), re.M)) if (HERE / "expected.txt").exists() else {}
    for test, why in sorted(failed.items()):
        if "--failed" in sys.argv or test not in known:
            print(f"  {test}: {why}" + (f"\n      intended: {known[test]}" if test in known else ""))
    unknown = failed.keys() - known.keys()
    if unknown:
        sys.exit(f"{len(unknown)} tests fail that expected.txt does not name")


if __name__ == "__main__":
    main()
