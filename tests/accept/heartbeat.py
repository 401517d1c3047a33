#!/usr/bin/env python3
"""A rank that is stopped is named by the others, which save what they have; the job ends with status
3, nothing of it goes on, and a restart gives the result of a run that nobody disturbed. Jobs that
are suspended as a whole, and ranks that are merely busy, come to their end.

usage: heartbeat.py TESELA [--fast] [ONLY]
"""
import glob
import os
import re
import signal
import socket
import time

import harness
from harness import check, h5py, np

suite = harness.Suite(__doc__, jobs=8)  # runs are slowed down by sleeping
HOST = socket.gethostname()
BEAT = 3  # s
LIMIT = 120
UNITS = 200


def run_keys(**more):
    return {"units": UNITS, "ranks": "all", "threads": 1, "heartbeat": BEAT, **more}


WATER = '"O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"'
DECKS = {
    "rows": {"family": "tri", "tri": {"function": "euclidean", "output": "condensed",
                                      "generator": {"kind": "plummer", "n": 2000, "seed": 3}}},
    "counts": {"family": "tri", "tri": {"function": "euclidean", "output": "histogram", "bins": 100, "range": [0, 9],
                                        "generator": {"kind": "plummer", "n": 2000, "seed": 3}}},
    "list": {"family": "tri", "tri": {"function": "euclidean", "output": "threshold", "threshold": 0.3,
                                      "generator": {"kind": "plummer", "n": 2000, "seed": 3}}},
    "image": {"family": "fractal", "fractal": {"set": "mandelbrot", "xres": 320, "yres": 240, "maxiter": 500,
                                               "view": {"corners": [-2.25, -1.25, 1.5, 1.25]}}},
    "tiles": {"family": "dp", "dp": {"problem": "dtw", "mode": "table", "type": "f64",
                                     "a": {"random": 600, "seed": 3, "lo": 0, "hi": 9},
                                     "b": {"random": 600, "seed": 4, "lo": 0, "hi": 9}}},
    "water": {"family": "xc", "xc": {"molecule": {"atoms": WATER}, "basis": "def2-SVP", "functional": "pbe",
                                     "grid": {"preset": "coarse"}, "reproducible": True}},
}
PARTS = {"tiles": 6400, "water": 500}  # computed at once by sockets, about; others have UNITS
SAVED = "the other ranks have saved what is done"


def deck(name, **more):
    if name in PARTS:  # slowed by parts that cards do not have, and xc's bits are those of one kind of device
        more["device"] = "cpu"
    return suite.deck(f"{name}.yaml", {**DECKS[name], "run": run_keys(**more)})


def pace(name, seconds):
    return {"TSL_TEST_SLOW": f"+{seconds / PARTS.get(name, UNITS):.3g}"}


def contents(path):
    with h5py.File(path, "r") as file:
        check(file["run"].attrs["verdict"] == "VALID", "not VALID")
        return harness.datasets(file)


def same_as_undisturbed(name, out):
    truth = suite.path(name + "_truth.h5")
    if not os.path.exists(truth):
        run = suite.run(["run", deck(name), "-o", truth])
        check(run.status == 0, run.tail())
    found, wanted = contents(out), contents(truth)
    check(found.keys() == wanted.keys(), f"{sorted(found)} instead of {sorted(wanted)}")
    for key in wanted:  # the history of an xc run is that of its last part
        check(key == "history" or np.array_equal(found[key], wanted[key]), f"{key} differs")


# ------------------------------------------------------------------ processes


def ranks_of(process):
    """Process numbers by rank, of the program itself."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/environ"):
        number = int(path.split("/")[2])
        try:
            if os.getsid(number) != process.pid or os.readlink(f"/proc/{number}/exe") != suite.binary:
                continue
            with open(path, "rb") as file:
                rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", file.read())
        except OSError:
            continue  # it has ended meanwhile
        if rank is not None:
            # a rank has a child that reads files: the parent has the lower number
            rank = int(rank.group(1))
            found[rank] = min(number, found.get(rank, number))
    return found


def lives(number):
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(condition, process, what, limit=60):
    patience = harness.Patience(limit)
    while not condition():
        if process.poll() is not None:
            raise harness.Failed(f"ended before {what}: {process.communicate()[1][-500:]}")
        check(not patience.over(), f"no {what}")
        time.sleep(0.02)


def start(name, ranks, seconds, out, **more):
    """A run that computes: it has been told how long it will, and some time has passed."""
    for path in glob.glob(out + "*"):
        os.remove(path)
    environment = {**pace(name, seconds), "TSL_TEST_CHECKPOINTS": "prompt"}
    process = suite.start(["run", deck(name, **more), "-o", out], ranks, env=environment)
    wait_for(lambda: os.path.exists(out + ".part"), process, "output")
    time.sleep(1.5)
    check(process.poll() is None, "ended too early")
    return process


# ---------------------------------------------------------------------- cases


def stopped(name, ranks, victim, saves, **more):
    """One rank stops; saves: the others can save what they have; None: it depends on the moment. Where it does not,
    both files of checkpoints are there and the next one is not due, as those that wait inside one cannot save."""
    out = suite.path(f"{name}{ranks}{victim}.h5")
    between = "checkpoint" in more and saves
    process = start(name, ranks, 40.0 if between else 20.0, out, **more)
    if "checkpoint" in more:
        wait_for(lambda: len(glob.glob(out + ".ckpt.?")) >= (2 if between else 1), process, "checkpoint")
        time.sleep(more["checkpoint"] / 3 if between else BEAT / 2)  # all ranks have heard of it
    numbers, began = ranks_of(process), time.time()
    check(sorted(numbers) == list(range(ranks)), f"ranks {numbers}")
    os.kill(numbers[victim], signal.SIGSTOP)
    run = suite.finish(process, began, LIMIT)
    check(run.status == 3, run.tail())
    named = re.findall(r"rank (\d+) on host (\S+) \(device [^,]+, (?:last unit \d+|no unit so far)\) has been silent for ([\d.]+) s", run.err)
    check([(one[0], one[1]) for one in named] == [(str(victim), HOST)], f"named: {named} in {run.err[-900:]}")
    limit = 2 * BEAT / harness.share_of_core()  # who watches and was starved itself starts its clocks anew
    check(BEAT <= float(named[0][2]) <= limit, f"silent for {named[0][2]} s, wanted {limit:.1f}")
    patience = harness.Patience(10)  # its launcher has killed it; the system takes a moment to
    while any(lives(number) for number in numbers.values()):
        check(not patience.over(), "a rank is left")
        time.sleep(0.05)
    check(saves is None or (SAVED in run.err) == saves, run.err[-900:])
    check("checkpoint" not in more or "no checkpoint is known" not in run.err, "there was a checkpoint")
    check(not os.path.exists(out), "there is an output")
    return f"ended after {run.seconds:.1f} s; {goes_on(name, out, saves or 'checkpoint' in more)}"


def goes_on(name, out, must):
    """The rest on one rank."""
    begun = bool(glob.glob(out + ".ckpt.?"))
    check(begun or not must, "no checkpoint")
    run = suite.run(["run", deck(name), "-o", out] + (["--restart", out] if begun else []), timeout=LIMIT)
    check(run.status == 0 and "warning: checkpoint" not in run.err, run.tail())
    same_as_undisturbed(name, out)
    left = glob.glob(out + ".*")
    check(not left, f"left behind: {left}")
    found = re.search(r"goes on from a checkpoint.*", run.out)
    check(found is not None or not begun, run.tail())
    return found.group(0) if found else "began anew"


def suspended(name, whole, seconds):
    """All processes of the job stop, or one rank for less than run.heartbeat; then they go on."""
    out = suite.path(f"{name}_suspended.h5")
    process = start(name, 2, 8.0, out)
    numbers = [*ranks_of(process).values(), process.pid] if whole else [ranks_of(process)[1]]
    for number in numbers:
        os.kill(number, signal.SIGSTOP)
    time.sleep(seconds)
    for number in numbers:
        os.kill(number, signal.SIGCONT)
    run = suite.finish(process, time.time(), LIMIT)
    check(run.status == 0, run.tail())
    same_as_undisturbed(name, out)


def busy():
    """Ranks whose cores compute, and whose units take longer than run.heartbeat."""
    out = suite.path("busy.h5")
    run = suite.run(["run", deck("image"), "-o", out, "-s", "run.units=2"], 2, env={"TSL_TEST_SLOW": f"+{BEAT + 1}"})
    check(run.status == 0 and "silent" not in run.err and "heartbeat" not in run.err, run.tail())


def sockets(number):
    """Datagram sockets of a process."""
    with open(f"/proc/{number}/net/udp") as file:
        numbers = {line.split()[9] for line in file.readlines()[1:]}
    found = 0
    for link in glob.glob(f"/proc/{number}/fd/*"):
        try:
            match = re.match(r"socket:\[(\d+)\]", os.readlink(link))
        except OSError:
            continue
        found += match is not None and match.group(1) in numbers
    return found


def without(ranks, wanted, **more):
    """Where there is nobody to watch, or nobody wants it, there is no socket."""
    out = suite.path(f"without{ranks}.h5")
    process = start("rows", ranks, 4.0, out, **more)
    number = process.pid if ranks is None else ranks_of(process)[0]
    found = sockets(number)
    run = suite.finish(process, time.time(), LIMIT)
    check(run.status == 0, run.tail())
    check(found == wanted, f"{found} sockets")


def refused(value):
    suite.deck("refused.yaml", {**DECKS["rows"], "run": {"heartbeat": value}})
    run = suite.run(["run", "refused.yaml"])
    check(run.status == 2 and re.search(r"refused.yaml:\d+: .*run\.heartbeat", run.err), run.tail())


suite.case("busy ranks", busy)  # first: the device is measured by such units, too
MIXES = ((2, 1), (2, 0), (3, 1))
for ranks, victim in MIXES:
    for each in ("rows", "image"):
        if victim > 0:
            suite.case(f"{each}: rank {victim} of {ranks} stops", stopped, each, ranks, victim, True)
        else:
            suite.case(f"{each}: rank {victim} of {ranks} stops", stopped, each, ranks, victim, False, checkpoint=0.5)
    suite.case(f"tiles: rank {victim} of {ranks} stops", stopped, "tiles", ranks, victim, False, checkpoint=0.5)
suite.case("counts: rank 2 of 3 stops", stopped, "counts", 3, 2, True)
suite.case("counts: rank 1 of 2 stops, after checkpoints", stopped, "counts", 2, 1, None, checkpoint=0.5)
suite.case("list: rank 1 of 3 stops", stopped, "list", 3, 1, True)
suite.case("list: rank 1 of 2 stops, after checkpoints", stopped, "list", 2, 1, True, checkpoint=3)
suite.case("rows: rank 1 of 2 stops, after checkpoints", stopped, "rows", 2, 1, True, checkpoint=3)
for ranks, victim in MIXES:
    suite.case(f"water: rank {victim} of {ranks} stops", stopped, "water", ranks, victim, None if victim > 0 else False,
               checkpoint=0.2)
suite.case("suspended as a whole", suspended, "rows", True, 3 * BEAT)
suite.case("tiles suspended as a whole", suspended, "tiles", True, 3 * BEAT)
suite.case("one rank away for a moment", suspended, "rows", False, 0.4 * BEAT)
suite.case("a single rank has no heartbeat", without, None, 0)
suite.case("heartbeat 0", without, 2, 0, heartbeat=0)
suite.case("heartbeat of two ranks", without, 2, 1)
suite.case("heartbeat too short", refused, 0.05)
suite.case("heartbeat below 0", refused, -1)
suite.end()
