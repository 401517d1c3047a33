#!/usr/bin/env python3
"""What was computed is not lost: the output's folder is removed while the run goes on, cannot be made
anew, or another file has taken the output's name.

usage: keeps_results.py TESELA [--fast] [ONLY]
"""
import fcntl
import glob
import os
import shutil
import signal
import time

import harness
from harness import check, h5py
from interrupted import members

suite = harness.Suite(__doc__, jobs=4)  # runs are slowed down by sleeping
LIMIT = 120
UNITS = 400  # so many that a pause is short, and the next checkpoint soon
TRI = {"function": "euclidean", "generator": {"kind": "uniform", "n": 1500, "seed": 3}}
DECKS = {  # rows that are streamed, sums in memory, tiles with edges
    "condensed": {"family": "tri", "run": {"checkpoint": 0.3, "units": UNITS}, "tri": {**TRI, "output": "condensed"}},
    "rdf": {"family": "tri", "run": {"checkpoint": 0.3, "units": UNITS},
            "tri": {**TRI, "output": "histogram", "box": [1, 1, 1], "bins": 50, "range": [0, 0.5]}},
    "lcs": {"family": "dp", "run": {"checkpoint": 1, "units": 20, "threads": 1, "device": "cpu"},
            "dp": {"problem": "lcs", "mode": "value", "a": {"random": 3000, "seed": 1}, "b": {"random": 3000, "seed": 2}}},
}


def slow(name, seconds):
    return {"TSL_TEST_SLOW": f"+{seconds / (16 if name == 'lcs' else UNITS):.3g}"}


def results(path):
    with h5py.File(path, "r") as file:
        check(file["run"].attrs["verdict"] == "VALID", "not VALID")
        return {name: data.tobytes() for name, data in harness.datasets(file).items()}


def truth(name):
    out = suite.path(f"{name}_truth.h5")
    if not os.path.exists(out):
        run = suite.run(["run", f"{name}.yaml", "-o", out, "-q"])
        check(run.status == 0, run.tail())
    return results(out)


def begin(name, out, ranks, seconds, waits_for, more=(), **environment):
    """A slow run that has got so far: "part", it computes, or "ckpt.?", it has written a checkpoint."""
    environment = {**slow(name, seconds), "TSL_TEST_CHECKPOINTS": "prompt", **environment}
    process = suite.start(["run", f"{name}.yaml", "-o", out, *more], ranks, env=environment)
    wait_for(process, out, waits_for)
    if waits_for == "part":  # the name is there first: then the file is locked, and opened by all ranks by that name
        time.sleep(0.5)  # as the run, which is slowed down by sleeping
        if ranks is not None:
            harness.let_work(0.3)
        check(process.poll() is None, "ended too early")
    return process


def wait_for(process, out, ending):
    patience = harness.Patience(60)
    while not glob.glob(f"{out}.{ending}") and process.poll() is None and not patience.over():
        time.sleep(0.02)
    check(process.poll() is None and not patience.over(), f"no {out}.{ending}")


def remove(folder):
    """At once, although the run writes into it meanwhile."""
    os.rename(folder, folder + "_gone")
    shutil.rmtree(folder + "_gone")


def end(process):
    return suite.finish(process, time.time(), LIMIT)


def fresh(name):
    folder = suite.path(name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


# ------------------------------------------------------------------ removed


def removed(name, ranks):
    """The folder goes: that is said, it is made anew, and the results are all there."""
    folder = fresh(f"gone_{name}_{ranks}")
    out = os.path.join(folder, "deep", "out.h5")
    os.makedirs(os.path.dirname(out))
    process = begin(name, out, ranks, 12 if name == "lcs" else 6 * (ranks or 1), "part")
    remove(folder)
    run = end(process)
    check(run.status == 0 and "was removed while the run goes on" in run.err, run.tail())
    check(results(out) == truth(name), "other results than those of an undisturbed run")
    check(os.listdir(os.path.dirname(out)) == ["out.h5"], f"left: {os.listdir(os.path.dirname(out))}")


def removed_then_killed(name, ranks):
    """The next checkpoint after that is good for a restart."""
    folder = fresh(f"killed_{name}_{ranks}")
    out = os.path.join(folder, "out.h5")
    process = begin(name, out, ranks, 30, "part")
    remove(folder)
    wait_for(process, out, "ckpt.?")  # in the folder made anew
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    with open(out + ".part", "rb") as part:  # ranks of mpirun end a little later
        fcntl.flock(part, fcntl.LOCK_EX)
    run = suite.run(["run", f"{name}.yaml", "-o", out, "--restart", out], None if ranks else 2)
    check(run.status == 0 and "goes on from a checkpoint" in run.out, run.tail())
    check(results(out) == truth(name), "other results than those of an undisturbed run")


def removed_without_checkpoints(ranks):
    folder = fresh(f"bare_{ranks}")
    out = os.path.join(folder, "out.h5")
    process = begin("condensed", out, ranks, 6 * (ranks or 1), "part", ["-s", "run.checkpoint=0"])
    remove(folder)
    run = end(process)
    check(run.status == 0 and results(out) == truth("condensed"), run.tail())


def no_way_back(ranks):
    """A file stands where the folder was: the results go elsewhere, and the last line says where."""
    folder = fresh(f"blocked_{ranks}")
    home = fresh(f"home_{ranks}")
    out = os.path.join(folder, "out.h5")
    process = begin("condensed", out, ranks, 15 * (ranks or 1), "ckpt.?", HOME=home)
    remove(folder)
    with open(folder, "w") as file:
        file.write("precious")
    run = end(process)
    check(run.status == 3 and "elsewhere" in run.err and "no checkpoint" in run.err, run.tail())
    check("the one before is kept" not in run.err, f"a checkpoint that is gone is said to be kept: {run.err}")
    line = [text for text in run.err.splitlines() if "the finished result is in" in text]
    check(line, run.tail())
    other = os.path.join(suite.folder, line[-1].rsplit("'", 2)[1])
    check(results(other) == truth("condensed"), "other results than those of an undisturbed run")
    with open(folder) as file:
        check(file.read() == "precious", "the file in the way was touched")
    os.remove(other)
    os.remove(folder)


def name_taken(ranks):
    """Another file appears as the output: it stays, and the results get another name."""
    folder = fresh(f"taken_{ranks}")
    out = os.path.join(folder, "out.h5")
    process = begin("condensed", out, ranks, 4, "ckpt.?")
    with open(out, "w") as file:
        file.write("precious")
    run = end(process)
    check(run.status == 3 and "out-1.h5" in run.err and "exists" in run.err, run.tail())
    with open(out) as file:
        check(file.read() == "precious", "the other file was replaced")
    check(results(os.path.join(folder, "out-1.h5")) == truth("condensed"), "other results")


def locked_for_a_while(ranks):
    """A killed run keeps its lock until the kernel has closed its files: the next one waits for that."""
    out = os.path.join(fresh(f"while_{ranks}"), "out.h5")
    with open(out + ".part", "wb") as part:
        fcntl.flock(part, fcntl.LOCK_EX)
        process = suite.start(["run", "condensed.yaml", "-o", out], ranks)
        patience = harness.Patience(LIMIT)
        while not opens(process, out + ".part"):
            check(process.poll() is None and not patience.over(), "does not wait for the lock")
            time.sleep(0.01)
    run = end(process)
    check(run.status == 0 and results(out) == truth("condensed"), run.tail())


def opens(process, path):
    """Does a process of this run have the file open?"""
    links = [link for pid, _ in members(process.pid) for link in glob.glob(f"/proc/{pid}/fd/*")]
    return any(os.path.realpath(link) == os.path.realpath(path) for link in links)


def locked(ranks):
    """Another run writes the file."""
    folder = fresh(f"locked_{ranks}")
    out = os.path.join(folder, "out.h5")
    with open(out + ".part", "wb") as part:
        fcntl.flock(part, fcntl.LOCK_EX)
        run = suite.run(["run", "condensed.yaml", "-o", out], ranks)
    check(run.status == 2 and "is being written by another run" in run.err, run.tail())
    check(os.listdir(folder) == ["out.h5.part"], f"left: {os.listdir(folder)}")


for deck, tree in DECKS.items():
    suite.deck(f"{deck}.yaml", tree)
for count in (None, 2):
    for deck in DECKS:
        suite.case(f"{deck}: folder removed, {count or 1} ranks", removed, deck, count)
        suite.case(f"{deck}: folder removed, then killed, {count or 1} ranks", removed_then_killed, deck, count)
    suite.case(f"folder removed, no checkpoints, {count or 1} ranks", removed_without_checkpoints, count)
    suite.case(f"folder cannot be made anew, {count or 1} ranks", no_way_back, count)
    suite.case(f"name taken by another file, {count or 1} ranks", name_taken, count)
    suite.case(f"file of a run that ends, {count or 1} ranks", locked_for_a_while, count)
    suite.case(f"file of another run, {count or 1} ranks", locked, count)
suite.end()
