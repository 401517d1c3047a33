#!/usr/bin/env python3
"""The command line with mutated decks of inputs/, words, calibrations, outputs and traces: planned, shown, compared and
reported, or refused with a message.

usage: command_line.py TESELA [--seconds=N] [--seed=S] [--fast]

Nothing may die of a signal, print a traceback, blame a rank for bad input (exit 3 is for memory only) or use more than
20 s of processor time (100 s with sanitizers). What fails is kept, with the command that shows it.
"""
import glob
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "accept"))
import harness  # noqa: E402
from harness import check, h5py, np  # noqa: E402

OPTIONS = dict(re.findall(r"--(\w+)=(\S+)", " ".join(sys.argv)))
SECONDS = float(OPTIONS.get("seconds", 20 if "--fast" in sys.argv else 120))
SEED = int(OPTIONS.get("seed", time.time_ns() % 10**6))
MEMORY = 8 << 30  # bytes of address space
suite = harness.Suite(__doc__)
rng = random.Random(SEED)
ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))
shutil.copytree(os.path.join(ROOT, "inputs"), suite.path("inputs"))
DECKS = sorted(glob.glob(suite.path("inputs/*/*.yaml")) + glob.glob(suite.path("inputs/dp/catalogue/*.yaml")))
WORDS = ["0", "-1", "1", "1e308", "-1e-320", "nan", ".inf", "inf", "9223372036854775807", "9223372036854775808", "1e12", "yes",
         "no", "~", '""', "auto", "gpu", "[]", "{}", "[1, 2]", "{a: 1}", "'", '"', "&a", "*a", "!!str x", "\u202e", "\x1b[31m",
         "../" * 30, "/dev/zero", "/proc/self/mem", "x" * 5000, "- - -", ":", "# ", "\t"]


with open(suite.binary, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()
PROCESSOR = 100 if SANITIZED else 20  # s


def bounded():
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR + 5))
    if not SANITIZED:  # which takes terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def attempt(command, allowed, what):
    """Run it; its exit status must be one of these."""
    done = harness.completed(command, 600, cwd=suite.folder, preexec_fn=bounded, stdin=subprocess.DEVNULL,
                             env=suite.environment())
    err = done.stderr.decode(errors="replace")
    said = f"{what}: {' '.join(command)}: exit {done.returncode}: {err[-600:]}"
    check(done.returncode in allowed or (done.returncode == 3 and "memory" in err), said)
    check("Traceback" not in err, said)
    check(done.returncode == 0 or len(err) > 10 or done.returncode == 1, f"no message: {said}")
    plain = (done.stdout + done.stderr).decode(errors="replace")
    check("\x1b" not in plain and "\u202e" not in plain, f"control characters get through: {said!r}")
    return done.returncode


def mutate(text):
    """One or a few changes of lines, of values, of characters."""
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        kind, at = rng.randrange(6), rng.randrange(len(lines))
        if kind == 0:
            del lines[at]
            lines = lines or [""]
        elif kind == 1:
            lines.insert(at, rng.choice(lines))
        elif kind == 2 and ":" in lines[at]:
            lines[at] = lines[at].split(":")[0] + ": " + rng.choice(WORDS)
        elif kind == 3:
            lines[at] = re.sub(r"\d+", lambda m: rng.choice(WORDS[:11]), lines[at], count=1)
        elif kind == 4 and lines[at]:
            place = rng.randrange(len(lines[at]))
            lines[at] = lines[at][:place] + chr(rng.choice((0x20, 0x0, 0x7F, 0xE9, 0x3A, 0x5B, 0x7D))) + lines[at][place + 1:]
        else:
            lines[at] = rng.choice((" ", "  ", "")) + lines[at].lstrip()
    return "\n".join(lines)


def decks(until):
    tried = [0, 0]
    while time.time() < until:
        source = rng.choice(DECKS)
        with open(source, encoding="utf-8") as file:
            text = mutate(file.read())
        name = os.path.join(os.path.dirname(source), "mutant.yaml")
        with open(name, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        status = attempt([suite.binary, "plan", name, "-s", "run.threads=1"], (0, 2),
                         os.path.relpath(source, suite.folder))
        tried[status == 0] += 1
        os.remove(name)
    return f"{sum(tried)} decks, {tried[1]} of them planned"


def words(until):
    """Words of good command lines, mixed, doubled, left out and broken; none of them computes anything."""
    good = (["plan", "inputs/tri/rdf.yaml", "-s", "tri.bins=40", "-q"], ["show", "good.h5"], ["devices"], ["help", "tri"],
            ["rates", "inputs/tri/rdf.yaml"], ["bench"], ["--version"], ["plan", "--help"], ["run", "--help"])
    tried = 0
    while time.time() < until:
        line = list(rng.choice(good))
        for _ in range(rng.choice((1, 1, 2, 4))):
            kind, at = rng.randrange(4), rng.randrange(len(line) + 1)
            if kind == 0 and at < len(line):
                del line[at]
            elif kind == 1:
                line.insert(at, rng.choice(rng.choice(good)))
            elif kind == 2:
                line.insert(at, rng.choice(WORDS))
            elif at < len(line) and line[at]:
                place = rng.randrange(len(line[at]))
                line[at] = line[at][:place] + rng.choice(("", "=", "-", "\x7f", "é", "%n")) + line[at][place + 1:]
        if not {"run", "calibrate", "probe"}.intersection(line) or "--help" in line:
            attempt([suite.binary, *line], (0, 2), "words")
            tried += 1
    return f"{tried} command lines"


def calibrations(until):
    """A calibration file with changed lines; numbers of a line that is still of use are what its reader must judge."""
    deck = suite.deck("calibrated.yaml", {**GOOD, "run": {**GOOD["run"], "calibration": "mutant.txt"}})
    with suite.result({**GOOD, "run": {**GOOD["run"], "calibration": "lines.txt"}}, name="calibrated"):
        pass
    with open(suite.path("lines.txt"), encoding="utf-8") as file:
        text = file.read()
    tried = 0
    while time.time() < until:
        lines = [line.split(" ") for line in text.split("\n")]
        for _ in range(rng.choice((1, 1, 2, 5))):
            line = rng.choice(lines)
            at = rng.randrange(len(line))
            line[at] = rng.choice([*WORDS[:11], "inf", "+inf", "nan", "+", "0x1p1023", "", "1e-320", line[at] * 2])
        suite.write("mutant.txt", "\n".join(" ".join(line) for line in lines))
        attempt([suite.binary, "plan", deck], (0, 2), "calibration")
        attempt([suite.binary, "rates", deck], (0, 2), "calibration")
        tried += 1
    return f"{tried} calibrations"


GOOD = {"family": "tri", "run": {"device": "cpu", "threads": 1},
        "tri": {"function": "euclidean", "output": "topk", "k": 3, "generator": {"kind": "clusters", "n": 40}}}


def damage(path):
    """Bits flipped, a part cut off, or an object replaced by one of another kind."""
    if rng.random() < 0.5:
        with open(path, "r+b") as file:
            data = bytearray(file.read())
            for _ in range(rng.randint(1, 12)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            file.seek(0)
            file.write(data[:rng.randrange(len(data))] if rng.random() < 0.2 else data)
            file.truncate()
        return
    with h5py.File(path, "r+") as file:
        names = []
        file.visit(names.append)
        for name in rng.sample(names, rng.randint(1, 3)):
            if name not in file:
                continue
            what = rng.randrange(4)
            if what == 0:
                del file[name]
            elif what == 1:
                del file[name]
                file[name] = rng.choice((np.zeros((0, 3)), np.arange(5), "a \x1b[2J \u202e text", np.nan,
                                         np.zeros(3, [("a", "i4"), ("b", "S3")])))
            elif what == 2:
                file[name].attrs[rng.choice(("unit", "doc", "title", "verdict", "x" * 300))] = rng.choice(
                    ("\x1b]0;x\x07", "\u202e", -1, np.zeros(1000), b"\xff\xfe"))
            else:
                for key in list(file[name].attrs):
                    del file[name].attrs[key]


def outputs(until):
    tools = os.path.join(ROOT, "tools")
    tried = 0
    while time.time() < until:
        shutil.copy(suite.path("good.h5"), suite.path("mutant.h5"))
        damage(suite.path("mutant.h5"))
        attempt([suite.binary, "show", "mutant.h5"], (0, 2), "output")
        attempt([sys.executable, os.path.join(tools, "compare"), "good.h5", "mutant.h5"], (0, 1, 2), "output")
        attempt([sys.executable, os.path.join(tools, "report"), "mutant.h5", "-o", "page.html"], (0, 1, 2), "output")
        tried += 1
    return f"{tried} outputs"


def traces(until):
    tried = 0
    with open(suite.path("good.json"), encoding="utf-8") as file:
        text = file.read()
    while time.time() < until:
        suite.write("mutant.json", mutate(text.replace(",", ",\n")))
        attempt([sys.executable, os.path.join(ROOT, "tools", "report"), "good.h5", "--trace", "mutant.json", "-o", "page.html"],
                (0, 2), "trace")
        tried += 1
    return f"{tried} traces"


print(f"seed {SEED}")
with suite.result(GOOD, name="good", args=("--trace", suite.path("good.json"))):
    pass
begin = time.time()
for end, each in ((2, decks), (4, outputs), (5, words), (6, calibrations), (7, traces)):
    suite.case(each.__name__, each, begin + end / 7 * SECONDS)
suite.end()
