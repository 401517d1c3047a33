#!/usr/bin/env python3
"""A fault on one rank ends the job at once with a message on what failed and where, and nothing is
left under the output's name; what was saved before can be continued.

usage: faults.py TESELA [--fast] [ONLY]
"""
import glob
import os
import re
import socket
import time

import harness
from harness import check, h5py, np

suite = harness.Suite(__doc__, jobs=3)  # runs are slowed down by sleeping
UNITS = 200
HOST = socket.gethostname()


def deck(**more):
    return {"family": "tri", "run": {"checkpoint": 0.2, "units": UNITS, "ranks": "all", **more},
            "tri": {"function": "euclidean", "output": "condensed",
                    "generator": {"kind": "plummer", "n": 2000, "seed": 3}}}


suite.deck("tri.yaml", deck())
suite.deck("watched.yaml", deck(watchdog=1.5))
suite.deck("list.yaml", {**deck(checkpoint=0.3), "tri": {
    "function": "euclidean", "output": "threshold", "threshold": 0.3,
    "generator": {"kind": "plummer", "n": 2000, "seed": 3}}})


# tiles that wait for one another
TILES = {"family": "dp", "run": {"checkpoint": 0.2, "units": 40, "ranks": "all", "threads": 1, "watchdog": 1.5}}
PARTS = {"wave": 20, "table": 320}  # computed at once, about; others have UNITS
suite.deck("wave.yaml", {**TILES, "dp": {"problem": "local", "a": {"random": 900, "seed": 3},
                                         "b": {"random": 900, "seed": 4}}})
suite.deck("table.yaml", {**TILES, "dp": {"problem": "dtw", "mode": "table", "type": "f64",
                                          "a": {"random": 600, "seed": 3, "lo": 0, "hi": 9},
                                          "b": {"random": 600, "seed": 4, "lo": 0, "hi": 9}}})


def fail(what, rank, unit, ranks, words, statuses, name="tri", seconds=3.0, limit=15):
    """A run that lasts some seconds and meets the fault; returns the run and its output's name."""
    out = suite.path(f"{name}_{what}{ranks}.h5")
    for path in glob.glob(out + "*"):
        os.remove(path)
    env = {"TSL_TEST_FAULT": f"{what}:{rank}:{unit}", "TSL_TEST_SLOW": f"+{seconds / PARTS.get(name, UNITS)}"}
    run = suite.run(["run", name + ".yaml", "-o", out], ranks, env=env, timeout=60)
    check(run.status in statuses, run.tail())
    for word in words:
        check(re.search(word, run.err), f"no '{word}' in: {run.tail()}")
    check(not os.path.exists(out), "there is an output")
    check(run.seconds < limit / harness.share_of_core(), f"ended after {run.seconds:.1f} s")
    return run, out


def undisturbed(name):
    truth = suite.path(name + "_truth.h5")
    if not os.path.exists(truth):
        run = suite.run(["run", name + ".yaml", "-o", truth])
        check(run.status == 0, run.tail())
    return truth


def late_tile(name):
    """A tile of the last lane, which is the last rank's, some stages before the end."""
    with h5py.File(undisturbed(name), "r") as file:
        units = file["run/units"][()]
    mine = np.sort(units["id"][units["hi1"] == units["hi1"].max()])
    return int(mine[3 * len(mine) // 4])


def continued(out, name="tri"):
    """If something was saved, the rest gives the result of an undisturbed run."""
    truth = undisturbed(name)
    if not glob.glob(out + ".ckpt.*"):
        return "before the first checkpoint"
    run = suite.run(["run", name + ".yaml", "-o", out, "--restart", out])
    check(run.status == 0, run.tail())
    with h5py.File(truth, "r") as a, h5py.File(out, "r") as b:
        for key in a["results"]:
            check(np.array_equal(a["results"][key][()], b["results"][key][()]), f"{key} differs")
    return "and was continued"


def injected(what, rank, ranks, words, name="tri"):
    # the last unit of rank 0's part, or of all: some checkpoints are written before it
    _, out = fail(what, rank, 60 if rank == 0 else UNITS // 2 + 40, ranks, words, (3,), name)
    return continued(out, name)


def injected_tile(what, ranks, words, name):
    _, out = fail(what, ranks - 1, late_tile(name), ranks, words, (3,), name, limit=50)
    return continued(out, name)


def killed():
    """kill -9 of one rank: the launcher ends the others."""
    run, out = fail("kill", 1, UNITS // 2 + 40, 2, [], range(1, 256))
    return f"exit {run.status} after {run.seconds:.1f} s, {continued(out)}"


def hung(rank, ranks, unit):
    run, out = fail("hang", rank, unit, ranks, [f"rank {rank} on {HOST}", r"units \d+ to \d+", "watchdog"],
                    (3,), "watched", limit=25)
    first, last = map(int, re.search(r"units (\d+) to (\d+)", run.err).groups())
    check(first <= unit <= last, f"unit {unit} is not among {first} to {last}")
    return f"ended after {run.seconds:.1f} s, {continued(out)}"


for number in (None, 2):
    who = 0 if number is None else 1
    suite.case(f"device error, {number or 1} ranks", injected, "error", who, number, ["injected failure", f"rank {who} on {HOST}"])
    suite.case(f"out of device memory, {number or 1} ranks", injected, "oom", who, number, ["device memory", "run.device_memory"])
    suite.case(f"NaN in rows, {number or 1} ranks", injected, "nan", who, number, ["NaN or infinity", "distances"])
suite.case("NaN in lists", injected, "nan", 0, None, ["NaN or infinity", "values"], "list")
suite.case("rank killed", killed)
for number in (1, 2, 3):
    suite.case(f"device error in a tile, {number} ranks", injected_tile, "error", number,
               ["injected failure", f"rank {number - 1} on {HOST}"], "wave")
    suite.case(f"NaN in a tile, {number} ranks", injected_tile, "nan", number, ["NaN or infinity", "table"], "table")
suite.case("hung tile", injected_tile, "hang", 2, [f"rank 1 on {HOST}", r"units \d+ to \d+", "watchdog"], "wave")
suite.case("hung unit, 1 rank", hung, 0, None, 60)
suite.case("hung unit, 2 ranks", hung, 1, 2, UNITS // 2 + 40)
suite.end()
