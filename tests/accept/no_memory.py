#!/usr/bin/env python3
"""An allocation that fails on one rank, wherever it is, ends the job on all: nobody waits for the rank that has
left, the message says what was to be allocated, and no output is left under its name.

usage: no_memory.py TESELA [--fast] [ONLY]

All allocations of a run are refused in turn, one in each run; with --fast every 41st.
"""
import os

import harness
from harness import check

suite = harness.Suite(__doc__, jobs=8)  # a launcher waits before it ends the other ranks
STEP = 41 if suite.fast else 1
FEW = {"ranks": "all", "threads": 1}
DECKS = {
    "list": {"family": "tri", "run": {**FEW, "units": 12, "checkpoint": 0.01},
             "tri": {"function": "euclidean", "output": "threshold", "threshold": 0.3,
                     "generator": {"kind": "plummer", "n": 200, "seed": 3}}},
    "table": {"family": "dp", "run": {**FEW, "units": 12, "checkpoint": 0.01},
              "dp": {"problem": "lcs", "mode": "recover", "a": {"random": 90, "seed": 3},
                     "b": {"random": 90, "seed": 4}}},
    "image": {"family": "fractal", "run": {**FEW, "units": 12}, "fractal": {"set": "mandelbrot", "xres": 40, "yres": 40}},
    "phases": {"family": "xc", "run": {**FEW, "checkpoint": 0.01},
               "xc": {"molecule": {"xyz": "h2.xyz"}, "basis": "STO-3G", "functional": "pbe", "coulomb": "fitted"}},
}
suite.write("h2.xyz", "2\nhydrogen\nH 0 0 0\nH 0 0 0.74\n")
for word, tree in DECKS.items():
    suite.deck(word + ".yaml", tree)


def refused(name, rank, n):
    """The run without the rank's allocation n; True when it has no such allocation."""
    out = suite.path(f"{name}.h5")
    run = suite.run(["run", name + ".yaml", "-o", out, "--overwrite"], 2, timeout=30,
                    env={"TSL_TEST_NO_MEMORY": f"{rank}:{n}"})
    if run.status == 0:
        left = "no host memory" not in run.err
        os.remove(out)
        return left
    check(run.status == 3, f"allocation {n}: {run.tail()}")
    check("no host memory" in run.err or "lack of memory" in run.err, f"allocation {n}: {run.tail()}")
    check(not os.path.exists(out), f"allocation {n}: there is an output")
    return False


def ends(name, rank, first, step):
    n = first
    while not refused(name, rank, n):
        n += step
    check(n >= 20, "hardly anything is allocated")
    return f"{(n - first) // step} allocations"


PARTS = 1 if suite.fast else 3
for name in DECKS:
    if name == "phases" and not suite.has_family("xc"):
        continue
    for rank in (0, 1):
        for part in range(PARTS):
            suite.case(f"{name}, rank {rank}, from {part}", ends, name, rank, part, STEP * PARTS)
suite.end()
