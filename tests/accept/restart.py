#!/usr/bin/env python3
"""Runs that are killed, stopped or run out of time go on from their checkpoints, and their results
are those of a run that nobody disturbed, byte for byte (xc: energies to 1e-8 hartree, and byte for
byte where xc.reproducible promises it).

usage: restart.py TESELA [--fast] [--kills=N] [ONLY]

At least N kills -9 (default 30; --fast: 6) of each family at random moments, spread over its decks;
each time it goes on with another number of ranks. The last line of a family says how many fell into
computing, how many restarts went on from a checkpoint, and how many had none yet.
"""
import fcntl
import glob
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import harness
from harness import check, h5py, np
from interrupted import DECKS, checkpoints, compare_contents, contents, kill_all, members, pace, tri

suite = harness.Suite(__doc__, jobs=3)  # runs are slowed down by sleeping
KILLS = int(([a[8:] for a in sys.argv if a.startswith("--kills=")] or [6 if suite.fast else 30])[0])
LIMIT = 120
random.seed(20240607)

TRUTH = {}


def undisturbed(name):
    run = suite.run(["run", name + ".yaml", "-o", f"{name}_truth.h5"])
    check(run.status == 0, run.tail())
    left = glob.glob(suite.path(f"{name}_truth.h5.*"))
    check(not left, f"left behind: {left}")
    TRUTH[name] = contents(suite.path(f"{name}_truth.h5"))


def compare(name, out):
    if name not in TRUTH:
        undisturbed(name)
    compare_contents(name, contents(out), TRUTH[name])


def finished(run):
    """Units that a restart found done, of how many."""
    found = re.search(r"from a checkpoint with (\d+) of (\d+) units", run.out)
    check(found is not None, f"does not tell what it goes on from: {run.tail()}")
    return int(found.group(1)), int(found.group(2))


def start(name, out, ranks, restart, seconds, more=()):
    args = ["run", name + ".yaml", "-o", out, *more]
    if restart:
        args += ["--restart", out]
    return suite.start(args, ranks, env=pace(seconds, name))


def fresh(name, label):
    out = suite.path(f"{name}_{label}.h5".replace(" ", "_"))
    for path in glob.glob(out + "*"):
        os.remove(path)
    return out


def last(name, out, ranks, restart=True, whole=True):
    """The rest at full speed, and the comparison; whole: no checkpoint is damaged."""
    args = ["run", name + ".yaml", "-o", out] + (["--restart", out] if restart else [])
    run = suite.run(args, ranks, timeout=LIMIT)
    check(run.status == 0 and not (whole and "warning: checkpoint" in run.err), run.tail())
    compare(name, out)
    left = glob.glob(out + ".*")
    check(not left, f"left behind: {left}")
    return run


class Told:
    """What a run has printed so far, while it runs."""

    def __init__(self, process):
        self.process, self.text = process, ""
        os.set_blocking(process.stdout.fileno(), False)

    def listen(self):
        try:
            self.text += os.read(self.process.stdout.fileno(), 1 << 16).decode(errors="replace")
        except BlockingIOError:
            pass

    def computes(self):
        self.listen()
        return "of computing; output" in self.text


COUNTS = ("kills", "computing", "walking", "saved", "anew", "ends")


def progress(out):
    """Sequence, finished units and units of the newest checkpoint, or None."""
    try:
        with open(newest(out), "rb") as file:
            sequence, _, units, rows = np.frombuffer(file.read(56)[24:56], np.int64)
    except (FileNotFoundError, ValueError):  # there is none, or the run ends just now and removes it
        return None
    return int(sequence), int(rows), int(units)


def walks(out):
    """Is the solution being recovered?"""
    made = progress(out)
    return made is not None and made[1] == made[2]


def wait_for_moment(out, before, process, told):
    """Any moment; some time after it computes; after, or in the middle of, writing a checkpoint; in a walk."""
    def until(condition):
        while process.poll() is None and not condition():
            time.sleep(0.002)

    walk = 30 if "path" in out else 0  # there is one
    kind = random.choices(("any", "computing", "saved", "writing", "walk"), (15, 35 if before else 15, 35, 15, walk))[0]
    end = time.time() + random.uniform(0.0, 2.0)
    if kind != "any":
        until(told.computes)
        end = time.time() + random.uniform(0.0, 1.5)
    if kind == "saved":
        until(lambda: progress(out) != before)
        end = time.time() + random.uniform(0.0, 0.5)
    if kind == "walk":
        until(lambda: walks(out))
        end = time.time() + random.uniform(0.0, 0.5)
    if kind == "writing":
        until(lambda: glob.glob(out + ".ckpt.?.tmp"))
        end = time.time() + random.uniform(0.0, 0.005)
    until(lambda: time.time() >= end)


def kill_once(name, out, ranks, tally):
    """Start or go on, and kill at a random moment; False when the run came to its end before."""
    before = progress(out)
    saved = before is not None
    process = start(name, out, ranks, saved, 4.0)
    began, told = time.time(), Told(process)
    tally["saved" if saved else "anew"] += 1
    wait_for_moment(out, before, process, told)
    computes, ended = told.computes(), process.poll() is not None
    check(not (saved and computes) or "goes on from a checkpoint" in told.text, "it began anew")
    if ended:
        run = suite.finish(process, began, LIMIT)
        check(run.status == 0 and "warning: checkpoint" not in run.err, run.tail())
    else:
        kill_all(process)
        tally["computing"] += computes
    return not ended


def kills(name, ranks):
    """kill -9 at random moments, each time on other ranks, N times; runs that come to their end in
    spite of it, and the last one, are compared."""
    out = fresh(name, f"kill{ranks[0]}")
    tally = dict.fromkeys(COUNTS, 0)
    while tally["kills"] < each(name):
        if kill_once(name, out, ranks[tally["kills"] % len(ranks)], tally):
            tally["kills"] += 1
            tally["walking"] += family(name) == "dp" and walks(out)
        if os.path.exists(out):  # also when it was killed after its end
            compare(name, out)
            tally["ends"] += 1
            out = fresh(name, f"kill{ranks[0]}")
    tally["saved" if checkpoints(out) else "anew"] += 1
    last(name, out, ranks[tally["kills"] % len(ranks)], bool(checkpoints(out)))
    tally["ends"] += 1
    return tally


def ranks_first(name, ranks):
    return words(kills(name, ranks))


def counted(name, ranks):
    """Kills that count for the sum of the family; who has the last of its decks makes that."""
    tally = kills(name, ranks)
    with open(os.path.join(suite.common, family(name)), "a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(tally) + "\n")
        file.flush()
        file.seek(0)
        tallies = [json.loads(line) for line in file]
    if len(tallies) == decks_of(family(name)):
        sums = {key: sum(one[key] for one in tallies) for key in COUNTS}
        suite.run_case(f"kills of {family(name)} in sum", sum_of, sums)
    return words(tally)


def family(name):
    return DECKS[name]["family"]


def each(name):
    """Kills of each deck of a family."""
    return -(-KILLS // decks_of(family(name)))


def decks_of(kind):
    return sum(family(name) == kind for name in DECKS)


def words(tally):
    return (f"{tally['kills']} kills, {tally['computing']} of them while it computed and {tally['walking']} in the walk; "
            f"{tally['saved']} starts from a checkpoint, {tally['anew']} from nothing saved; "
            f"{tally['ends']} results compared")


def sum_of(sums):
    """Of all decks of a family; most kills have to fall into computing."""
    check(sums["kills"] >= KILLS and 2 * sums["computing"] >= sums["kills"], words(sums))
    check(2 * sums["saved"] >= sums["kills"], words(sums))
    return words(sums)


def wait_for(condition, process, what):
    patience = harness.Patience(60)
    while not condition():
        check(process.poll() is None, f"ended before {what}")
        check(not patience.over(), f"no {what}")
        time.sleep(0.02)


def stopped(name, ranks, others, number):
    """A signal to the ranks: status 85, and the rest on other ranks gives the same."""
    out = fresh(name, f"stop{number}")
    began = time.time()
    process = start(name, out, ranks, False, 40.0)
    wait_for(lambda: os.path.exists(out + ".part"), process, "output")
    harness.let_work(1.0)
    for pid in programs(process.pid):
        os.kill(pid, number)
    run = suite.finish(process, began, LIMIT)
    check(run.status == 85, run.tail())
    check("--restart" in run.err and "continue with" in run.err, run.tail())
    check(os.path.exists(out + ".part") and not os.path.exists(out), "no .part, or an output")
    run = last(name, out, others)
    done, of = finished(run)
    check(0 < done < of, f"{done} of {of} units were finished")
    return f"went on with {done} of {of} units"


WAITS = "import signal, sys, time; signal.signal({0}, lambda *_: sys.exit(7)); print('waits', flush=True); time.sleep(30)"


def launcher_forwards(number):
    """Does this mpirun pass the signal on to its processes? Some do not."""
    command = [sys.executable, "-c", WAITS.format(int(number))]
    mpirun = suite.command([], 1)[:-1]
    process = subprocess.Popen([*mpirun, *command], stdout=subprocess.PIPE, env=suite.environment())
    process.stdout.readline()
    process.send_signal(number)
    return process.wait() == 7


def launcher_stopped(number, status):
    """A signal to mpirun. SIGTERM: it gives the ranks the time of an option, and its own status; SIGUSR1: theirs."""
    if number == signal.SIGUSR1 and not launcher_forwards(number):
        return "this mpirun does not pass it on"
    out = fresh("condensed", f"launcher{number}")
    began = time.time()
    # mpirun waits that time before it passes SIGTERM on, too: the run is longer than that on any machine
    env = {**pace(200.0), "OMPI_MCA_odls_base_sigkill_timeout": "20"}
    process = suite.start(["run", "condensed.yaml", "-o", out, "-s", "run.checkpoint=1000"], 2, env=env)
    wait_for(lambda: os.path.exists(out + ".part"), process, "output")
    harness.let_work(1.0)
    process.send_signal(number)
    run = suite.finish(process, began, LIMIT)
    check(run.status == status and "continue with" in run.err, run.tail())
    check(checkpoints(out), "it said that it can be continued, and left no checkpoint")
    done, of = finished(last("condensed", out, None))
    check(0 < done < of, f"{done} of {of} units were finished")
    return f"went on with {done} of {of} units"


def stopped_walking(name, ranks, others, number):
    """A signal while the solution is recovered: all tiles are in the checkpoint, and the walk is made again."""
    out = fresh(name, f"walk{number}")
    began = time.time()
    # Pauses before the walk are dear where several ranks wait for the end of a stage: the first checkpoint is in the walk.
    more = ["-s", "run.checkpoint=35"] if ranks == 3 else []
    process = start(name, out, ranks, False, 40.0, more)
    wait_for(lambda: walks(out), process, "walk")
    for pid in programs(process.pid):
        os.kill(pid, number)
    run = suite.finish(process, began, LIMIT)
    check(run.status == 85 and "--restart" in run.err and not os.path.exists(out), run.tail())
    check(walks(out), "the checkpoint has not all tiles")
    run = last(name, out, others)
    check("the solution is left to recover" in run.out and len(set(finished(run))) == 1, run.tail())


def programs(session):
    """The processes of the program itself."""
    name = os.path.basename(suite.binary)[:15]
    return [number for number, title in members(session) if title == name]


def interrupted():
    """Ctrl-C stops at once and leaves nothing that was not safe before."""
    out = fresh("fractal", "int")
    deck = suite.deck("fractal_int.yaml", {**DECKS["fractal"], "run": {"checkpoint": 1000, "units": 200}})
    began = time.time()
    process = suite.start(["run", deck, "-o", out], env=pace(8.0))
    wait_for(lambda: os.path.exists(out + ".part"), process, "output")
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    run = suite.finish(process, began, LIMIT)
    check(run.status == 3 and "signal" in run.err, run.tail())
    check(not glob.glob(out + "*"), f"left behind: {glob.glob(out + '*')}")


def in_time(run, seconds):
    """It has stopped by then, and a start of a few seconds, on a free machine."""
    limit = (seconds + 6) / harness.share_of_core()
    check(run.seconds < limit, f"stopped after {run.seconds:.1f} s of {seconds}, wanted {limit:.1f}")


def walltime():
    out = fresh("condensed", "wall")
    began = time.time()
    process = start("condensed", out, 2, False, 30.0, ["--max-walltime", "0:00:06"])
    run = suite.finish(process, began, LIMIT)
    check(run.status == 85, run.tail())
    in_time(run, 6)
    last("condensed", out, None)
    return f"stopped after {run.seconds:.1f} s of 6"


def slurm_tells():
    out = fresh("condensed", "slurm")
    env = {**pace(30.0), "SLURM_JOB_END_TIME": str(int(time.time() + 5))}
    run = suite.run(["run", "condensed.yaml", "-o", out], env=env)
    check(run.status == 85, run.tail())
    in_time(run, 5)
    last("condensed", out, 2)


def two_checkpoints(name, label, deck=None):
    """A killed run with two checkpoints; the second is put off where the first was dear."""
    out = fresh(name, label)
    process = start(name, out, None, False, 60.0)
    wait_for(lambda: len(checkpoints(out)) == 2, process, "second checkpoint")
    kill_all(process)
    return out


def newest(out):
    def sequence(path):
        with open(path, "rb") as file:
            return int.from_bytes(file.read(32)[24:32], "little")
    return max(checkpoints(out), key=sequence)


def damage(path, kind):
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        if kind == "truncated":
            file.truncate(size // 2)
        elif kind == "turned":
            file.seek(size // 2)
            byte = file.read(1)[0]
            file.seek(size // 2)
            file.write(bytes([byte ^ 4]))
        elif kind == "empty":
            file.truncate(0)
        else:
            file.write(b"something else of some length, foreign")


def damaged(kind):
    out = two_checkpoints("condensed", "damaged")
    bad = newest(out)
    damage(bad, kind)
    run = last("condensed", out, None, whole=False)
    check(bad in run.err and "instead" in run.err, f"no word about {bad}: {run.err}")


def both_damaged():
    out = two_checkpoints("condensed", "both")
    for path in checkpoints(out):
        damage(path, "turned")
    run = suite.run(["run", "condensed.yaml", "-o", out, "--restart", out])
    check(run.status == 2 and "remove" in run.err, run.tail())
    check(os.path.exists(out + ".part"), "the rows are gone")


def damaged_rows():
    """A byte of the rows computed so far is turned: found, and nothing wrong comes out."""
    out = two_checkpoints("condensed", "rows")
    size = os.path.getsize(out + ".part")
    with h5py.File(out + ".part", "r") as file:  # can be opened after kill -9
        place = file["results/distances"].id.get_offset()
    with open(out + ".part", "r+b") as file:
        file.seek(place)
        row = file.read(4096)
        check(any(row), "no rows where they were looked for")
        file.seek(place)
        file.write(bytes([row[0] ^ 1]))
    run = suite.run(["run", "condensed.yaml", "-o", out, "--restart", out])
    check(run.status == 2 and "rows" in run.err, run.tail())
    check(os.path.getsize(out + ".part") == size, "the file was changed")
    os.remove(out + ".part")
    run = suite.run(["run", "condensed.yaml", "-o", out, "--restart", out])
    check(run.status == 2 and ".part" in run.err, run.tail())


def older_on_request():
    """One of the two is asked for by its name."""
    out = two_checkpoints("rdf", "older")
    old = [p for p in checkpoints(out) if p != newest(out)][0]
    run = suite.run(["run", "rdf.yaml", "-o", out, "--restart", old])
    check(run.status == 0, run.tail())
    compare("rdf", out)


def other_deck():
    out = two_checkpoints("condensed", "other")
    deck = suite.deck("other.yaml", tri(generator={"kind": "plummer", "n": 3000, "seed": 4}))
    run = suite.run(["run", deck, "-o", out, "--restart", out])
    check(run.status == 2 and "tri.generator.seed" in run.err, run.tail())
    run = suite.run(["run", "fractal.yaml", "-o", out, "--restart", out])
    check(run.status == 2 and "family" in run.err, run.tail())
    args = ["--set", "run.threads=1", "--set", "run.dynamic=0.5", "--set", "title=x"]
    run = suite.run(["run", "condensed.yaml", "-o", out, "--restart", out, *args])
    check(run.status == 0, run.tail())
    compare("condensed", out)


def other_data():
    """The deck is the same, the points in its file are not."""
    points = np.random.default_rng(1).normal(size=(2000, 3))
    np.save(suite.path("points.npy"), points)
    tree = {"family": "tri", "run": {"checkpoint": 0.1, "units": 100},
            "tri": {"function": "euclidean", "output": "condensed", "input": {"file": "points.npy"}}}
    suite.deck("data.yaml", tree)
    out = fresh("data", "other")
    process = suite.start(["run", "data.yaml", "-o", out], env={"TSL_TEST_SLOW": "+0.05"})
    wait_for(lambda: checkpoints(out), process, "checkpoint")
    kill_all(process)
    points[7, 1] += 1e-3
    np.save(suite.path("points.npy"), points)
    run = suite.run(["run", "data.yaml", "-o", out, "--restart", out])
    check(run.status == 2 and "input data" in run.err, run.tail())
    np.save(suite.path("points.npy"), points[:1900])
    run = suite.run(["run", "data.yaml", "-o", out, "--restart", out])
    check(run.status == 2 and "input data" in run.err and "cuts" not in run.err, run.tail())


def forgotten():
    """A run does not throw a checkpoint away unless told to."""
    out = two_checkpoints("condensed", "forgot")
    run = suite.run(["run", "condensed.yaml", "-o", out])
    check(run.status == 2 and "--restart" in run.err, run.tail())
    check(len(checkpoints(out)) == 2, "a checkpoint is gone")
    last("condensed", out, None)
    run = suite.run(["run", "condensed.yaml", "-o", out, "--restart", out, "--overwrite"])
    check(run.status == 2 and "no checkpoint" in run.err, run.tail())


def full_disk():
    """No room for a checkpoint: a warning, the one before stays, the run goes on and is right."""
    folder = suite.path("full_disk")
    os.makedirs(folder, exist_ok=True)
    if os.system(f"mount -t tmpfs -o size=4m tmpfs {folder} 2>/dev/null") != 0:
        return "left out: no tmpfs can be mounted here"
    try:
        out, filler = os.path.join(folder, "rdf.h5"), os.path.join(folder, "filler")
        began = time.time()
        process = start("rdf", out, None, False, 6.0)
        wait_for(lambda: checkpoints(out), process, "checkpoint")
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        kept = newest(out)
        before = os.stat(kept).st_mtime_ns
        time.sleep(1.0)
        check(os.stat(kept).st_mtime_ns >= before, "the checkpoint is gone")
        wait_for(lambda: not glob.glob(out + "*.tmp"), process, "moment without half a checkpoint")
        os.remove(filler)
        run = suite.finish(process, began, LIMIT)
        check(run.status == 0, run.tail())
        check("no checkpoint" in run.err and "kept" in run.err, f"no warning: {run.tail()}")
        compare("rdf", out)
        check(os.listdir(folder) == ["rdf.h5"], f"left: {os.listdir(folder)}")
    finally:
        os.system(f"umount {folder}")


def without():
    """Checkpoints that are switched off: nothing that needs them is begun."""
    for more in (["--max-walltime", "1:00:00", "-s", "run.checkpoint=0"], ["--max-walltime", "90"],
                 ["--max-walltime", "0:0:0"]):
        run = suite.run(["run", "lcs.yaml", "-o", fresh("lcs", "off"), *more])
        check(run.status == 2 and "--max-walltime" in run.err, run.tail())


def every_stage(name):
    """Stopped as soon as a stage is done, again and again, each time on other ranks."""
    out = fresh(name, "steps")
    stops = 0
    for ranks in (2, 3, None, 2):
        args = ["run", name + ".yaml", "-o", out, "--max-walltime", "0:00:01", "-s", "run.ranks=all"]
        run = suite.run(args + (["--restart", out] if stops else []), ranks, timeout=LIMIT)
        check(run.status == 85, f"stop {stops}: {run.tail()}")
        stops += 1
    done, of = finished(last(name, out, 3))
    check(0 < done < of, f"{done} of {of} units were finished")
    return f"{stops} stops, then {done} of {of} tiles were done"


def compressed():
    tree = tri()
    deck = suite.deck("packed.yaml", {**tree, "output": {"compress": 2}})
    run = suite.run(["run", deck, "-o", fresh("packed", "a")])
    check(run.status == 0 and "no checkpoints: output.compress" in run.out, run.tail())


if not suite.has_family("xc"):
    DECKS = {title: deck for title, deck in DECKS.items() if deck["family"] != "xc"}
for title in DECKS:
    suite.deck(title + ".yaml", DECKS[title])
for kind in sorted({family(title) for title in DECKS}):
    suite.group, suite.apart = kind == "dp", True  # all of a family or none, for their sum
    for title in DECKS:
        if family(title) == kind:
            suite.case(f"killed {title}", counted, title, (None, 2, 3))
suite.group, suite.apart = None, False
suite.case("killed condensed with ranks first", ranks_first, "condensed", (3, None, 2))
suite.case("SIGTERM, 1 rank, then 2", stopped, "condensed", None, 2, signal.SIGTERM)
suite.case("SIGTERM, 2 ranks, then 3", stopped, "fractal", 2, 3, signal.SIGTERM)
suite.case("SIGUSR1, 3 ranks, then 1", stopped, "threshold", 3, None, signal.SIGUSR1)
suite.case("SIGTERM, rdf, 2 ranks, then 1", stopped, "rdf", 2, 1, signal.SIGTERM)
suite.case("SIGTERM, lcs, 2 ranks, then 3", stopped, "lcs", 2, 3, signal.SIGTERM)
suite.case("SIGUSR1, global path, 3 ranks, then 1", stopped, "global path", 3, None, signal.SIGUSR1)
suite.case("SIGTERM in the walk, global path, 1 rank, then 2", stopped_walking, "global path", None, 2, signal.SIGTERM)
suite.case("SIGUSR1 in the walk, edit path, 3 ranks, then 1", stopped_walking, "edit path", 3, None, signal.SIGUSR1)
suite.case("SIGTERM in the walk, sack path, 2 ranks, then 3", stopped_walking, "sack path", 2, 3, signal.SIGTERM)
for title in ("lcs", "dtw table", "global path", "sack path", "chain", "own") if suite.fast else DECKS:
    if family(title) == "dp":
        suite.case(f"every stage, {title}", every_stage, title)
suite.case("SIGTERM to mpirun", launcher_stopped, signal.SIGTERM, 1)
suite.case("SIGUSR1 to mpirun", launcher_stopped, signal.SIGUSR1, 85)
suite.case("SIGINT", interrupted)
suite.case("--max-walltime", walltime)
suite.case("the end that Slurm tells", slurm_tells)
for way in ("truncated", "turned", "empty", "foreign"):
    suite.case(f"newest checkpoint {way}", damaged, way)
suite.case("both damaged", both_damaged)
suite.case("rows damaged", damaged_rows)
suite.case("older on request", older_on_request)
suite.case("another deck", other_deck)
suite.case("other data", other_data)
suite.case("--restart forgotten", forgotten)
suite.case("disk full", full_disk)
suite.case("no checkpoints", without)
suite.case("compressed rows", compressed)
suite.end()
