#!/usr/bin/env python3
"""A disk whose fsync takes a second, and checkpoints that are asked for far too often: the computation does not wait
for the disk, what is on the disk is usable whenever the run is killed, and the results are those of any other run.

usage: slow_disk.py TESELA --library=slow_fsync.so [ONLY]

Which thread waits for the disk is counted, not timed: the main threads of an undisturbed run sync as often with a
hundred checkpoints as with one.
"""
import glob
import os
import random
import signal
import sys
import time

import harness
from harness import check
from interrupted import DECKS, checkpoints, compare_contents, contents, members, pace

suite = harness.Suite(__doc__, jobs=8)
LIBRARY = [os.path.abspath(a.split("=", 1)[1]) for a in sys.argv if a.startswith("--library=")][0]
NAMES = [name for name in ("condensed", "fractal", "rdf", "tree table", "nussinov", "water")
         if DECKS[name]["family"] != "xc" or suite.run(["help", "xc"]).status == 0]
OFTEN = 0.06  # s
LIMIT = 300
random.seed(20260304)


def disk(seconds, log=None):
    sanitizer = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0")))
    more = {"TSL_TEST_FSYNC_LOG": log} if log else {}
    return {"LD_PRELOAD": LIBRARY, "ASAN_OPTIONS": sanitizer, "TSL_TEST_FSYNC": str(seconds), **more}


def fresh(name, label):
    out = suite.path(f"{name}_{label}.h5".replace(" ", "_"))
    for path in glob.glob(out + "*"):
        os.remove(path)
    return out


def run(name, label, ranks, env, more=()):
    out = fresh(name, label)
    log = out + "_syncs"
    done = suite.run(["run", name + ".yaml", "-o", out, *more], ranks, timeout=LIMIT,
                     env={**pace(2.0, name), **env, "TSL_TEST_FSYNC_LOG": log})
    check(done.status == 0, done.tail())
    with open(log) as file:
        syncs = [line.split(" ", 1) for line in file]
    return out, done, syncs


def main_syncs(syncs):
    return sum(thread == "main" for thread, _ in syncs)


def truth(name):
    out = suite.path(f"{name}_truth.h5".replace(" ", "_"))
    if not os.path.exists(out):
        done = suite.run(["run", name + ".yaml", "-o", out])
        check(done.status == 0, done.tail())
    return contents(out)


def slow(name, ranks):
    """As many syncs by main threads as without checkpoints, and about as long."""
    _, bare, few = run(name, "bare", ranks, disk(1), ["-s", "run.checkpoint=0"])
    out, often, syncs = run(name, "often", ranks, disk(1), ["-s", f"run.checkpoint={OFTEN}"])
    compare_contents(name, contents(out), truth(name))
    made = sum(thread == "beside" and ".ckpt." in path for thread, path in syncs)
    check(made > 0, f"no checkpoint was written: {syncs}")
    # A file that lasts is described and reserved before the rows: it may be synced once more by each rank.
    check(main_syncs(syncs) <= main_syncs(few) + (ranks or 1), f"{main_syncs(syncs)} syncs, {main_syncs(few)} without")
    check(often.seconds < 3 * bare.seconds + 20, f"{often.seconds:.1f} s, {bare.seconds:.1f} s without checkpoints")
    check(often.err.count("further apart") == 1, f"the longer interval is not said once: {often.err}")
    check(not glob.glob(out + ".*"), "left behind")
    return f"{often.seconds:.1f} s with {made} checkpoints, {bare.seconds:.1f} s without any"


def killed(name, ranks):
    """kill -9 at any moment after the first checkpoint: the run goes on from it."""
    out = fresh(name, "killed")
    process = suite.start(["run", name + ".yaml", "-o", out, "-s", f"run.checkpoint={OFTEN}"], ranks,
                          env={**pace(12.0 if DECKS[name]["family"] == "dp" else 60.0, name), **disk(0.4)})
    while process.poll() is None and not checkpoints(out):
        time.sleep(0.002)
    check(process.poll() is None, "the run has ended before its first checkpoint")
    time.sleep(random.uniform(0, 3))
    for pid, _ in members(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.communicate()
    check(checkpoints(out), "the checkpoint is gone")
    done = suite.run(["run", name + ".yaml", "-o", out, "--restart", out], None if ranks else 2, timeout=LIMIT)
    check(done.status == 0 and "goes on from a checkpoint" in done.out, done.tail())
    compare_contents(name, contents(out), truth(name))


def stop_while_writing(name, ranks):
    """SIGTERM to all ranks half a second after the disk has begun with the first checkpoint: the files left."""
    out = fresh(name, "stopped")
    log = out + "_syncs"
    process = suite.start(["run", name + ".yaml", "-o", out, "-s", f"run.checkpoint={OFTEN}"], ranks,
                          env={**pace(60.0, name), **disk(2, log)})
    began = time.time()
    while process.poll() is None and not (os.path.exists(log) and "beside" in open(log).read()):
        time.sleep(0.01)
    time.sleep(0.5)
    for pid, title in members(process.pid):
        if title == os.path.basename(suite.binary)[:15]:
            os.kill(pid, signal.SIGTERM)
    done = suite.finish(process, began, LIMIT)
    check(done.status == 85, done.tail())
    check(not glob.glob(out + "*.tmp"), "a checkpoint was left half written")
    return out, checkpoints(out)


def stopped(name, ranks):
    """SIGTERM while a checkpoint is being written: that is waited for, and another one is written. Ranks that were
    held up between handing the first to the disk and going on end with that one: then once more."""
    for _ in range(3):
        out, files = stop_while_writing(name, ranks)
        if len(files) == 2:
            break
    check(len(files) == 2, f"the first one was not waited for: {files}")
    done = suite.run(["run", name + ".yaml", "-o", out, "--restart", out], timeout=LIMIT)
    check(done.status == 0, done.tail())
    compare_contents(name, contents(out), truth(name))


for title in NAMES:
    suite.deck(title + ".yaml", DECKS[title])
for count in (None, 2):
    for title in NAMES:
        suite.case(f"{title}: a slow disk, {count or 1} ranks", slow, title, count)
        suite.case(f"{title}: killed on a slow disk, {count or 1} ranks", killed, title, count)
suite.case("SIGTERM while a checkpoint is written", stopped, "condensed", 2)
suite.case("SIGTERM while a checkpoint is written, 1 rank", stopped, "rdf", None)
suite.end()
