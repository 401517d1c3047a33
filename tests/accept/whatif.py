#!/usr/bin/env python3
"""tesela plan --cluster: what nodes that are not here would do, against plans and runs here, and against what must
hold for any machine.

usage: whatif.py TESELA [--fast] [ONLY]
"""
import os
import re
import resource
import signal
import time

import h5py
import harness
import numpy as np
from harness import check

suite = harness.Suite(__doc__)
FREE = {"latency": 0.0, "bandwidth": 1e30}  # a network that costs nothing
POINTS = 12000 if suite.fast else 30000

DECKS = {
    "tri": {"family": "tri", "run": {"threads": 1}, "tri": {
        "function": "euclidean", "output": "histogram", "box": [10, 10, 10], "range": [0, 5],
        "generator": {"kind": "uniform", "n": POINTS, "seed": 1}}},
    "fractal": {"family": "fractal", "run": {"threads": 1}, "fractal": {
        "set": "mandelbrot", "xres": 600, "yres": 400, "maxiter": 5000, "view": {"centre": [-0.743644, 0.131826], "width": 0.0015}}},
    "dp": {"family": "dp", "run": {"threads": 1}, "dp": {
        "problem": "lcs", "a": {"random": 60000, "seed": 1}, "b": {"random": 60000, "seed": 2}}},
}


def column(line, heads):
    """The numbers of a row by the words above them; bytes as text."""
    words = re.sub(r"(\d) (B|KiB|MiB|GiB|TiB|PiB|EiB)\b", r"\1_\2", line).split()
    return dict(zip(heads, words))


HEADS = ["nodes", "ranks", "units", "compute", "share", "between", "combine", "time", "speed-up", "efficiency", "idle",
         "network", "host", "device", "plan"]


class Table:
    """What `tesela plan --cluster` printed."""

    def __init__(self, out):
        lines = out.splitlines()
        at = next(k for k, line in enumerate(lines) if line.split()[:3] == ["nodes", "ranks", "units"])
        self.rows = []
        for line in lines[at + 1:]:
            if not re.match(r"  +\d+ +\d+ +\d+ ", line):
                break
            self.rows.append(column(line, HEADS))
        self.one = float(re.search(r"speed-up over one node, (\S+) s", out)[1])
        self.fits = re.findall(r"^(Amdahl|Gustafson): serial fraction (\S+) ", out, re.M)

    def of(self, head):
        return np.array([float(row[head]) for row in self.rows])


def cluster(nodes, devices, network=None, name="far.yaml"):
    """A file; devices as lists of keys."""
    lines = ["cluster:", f"  nodes: {harness.scalar(nodes)}", "  devices:"]
    lines += [f"    - {harness.scalar(device)}" for device in devices]
    lines += [f"  network: {harness.scalar(network or FREE)}"]
    return suite.write(name, "\n".join(lines) + "\n")


def plan(deck, far=None, ranks=None, args=()):
    run = suite.run(["plan", deck, *(["--cluster", far] if far else []), *args], ranks)
    check(run.status == 0, run.tail())
    return run.out


def what_if(deck, nodes, devices, network=None, args=()):
    return Table(plan(deck, cluster(nodes, devices, network), args=args))


def calibrated(kind, ranks=None):
    """The deck of a family, calibrated on as many ranks; the name of its device."""
    deck = suite.deck(f"{kind}.yaml", DECKS[kind])
    plan(deck, ranks=ranks)
    out = plan(deck, ranks=ranks)  # from the file, as what-if plans are
    check("calibration from file" in out, out)
    name = re.search(r"^ +0  (.+?) {2,}\d+ ", out[out.index("predicted s"):], re.M)[1]
    full = next(line for line in suite.run(["rates", deck]).out.splitlines() if name[:30] in line)
    full = re.match(r"  (.+?)  +\S+ +1 thread", full)
    return deck, (full[1] if full else name).strip(), float(re.search(r"predicted (\S+) s of computing", out)[1])


def one_node_is_the_plan_here(kind, ranks):
    deck, name, predicted = calibrated(kind, ranks)
    table = what_if(deck, 1, [{"name": f'"{name}"', "count": ranks, "threads": 1}])
    check(table.rows[0]["ranks"] == str(ranks), table.rows)
    check(abs(table.of("compute")[0] / predicted - 1) < 2e-3,
          f"{table.of('compute')[0]} s imagined, {predicted} s planned")
    check(table.of("time")[0] == table.of("compute")[0], "one node has a network")


def measured(kind, ranks):
    """So that it says wrong, not slow: the machine is others', too. Runs have corrected the calibration."""
    deck, name, _ = calibrated(kind, ranks)
    best = np.inf
    for _ in range(3):
        run = suite.run(["run", deck, "--overwrite"], ranks)
        check(run.status == 0, run.tail())
        best = min(best, float(re.search(r"computed in (\S+) s", run.out)[1]))
    table = what_if(deck, 1, [{"name": f'"{name}"', "count": ranks, "threads": 1}])
    check(1 / 30 < table.one / best < 10, f"{table.one} s imagined, {best} s measured")
    return f"imagined {table.one:.3g} s, measured {best:.3g} s"


def twice_the_nodes_half_the_time(kind):
    deck, name, _ = calibrated(kind)
    table = what_if(deck, [1, 2, 4, 8, 16], [{"name": f'"{name}"'}], args=["-s", "run.units=4096"])
    product = table.of("time") * table.of("nodes") / table.one
    check(np.all(np.abs(product - 1) < 0.03), f"nodes times time: {product}")
    check(np.allclose(table.of("speed-up"), table.one / table.of("time"), rtol=5e-3, atol=6e-3), table.rows)
    check(np.allclose(table.of("efficiency"), 100 * table.of("speed-up") / table.of("nodes"), atol=0.2), table.rows)
    check(np.all(table.of("idle") < 3), f"idle: {table.of('idle')}")
    check(all(abs(float(s)) < 0.03 for _, s in table.fits), f"serial: {table.fits}")


def faster_devices():
    deck, name, _ = calibrated("tri")
    twice = what_if(deck, 1, [{"name": "X", "like": f'"{name}"', "speed": 2}])
    figures = {"compute": 2, "memory": 2, "launch": 2}
    same = what_if(deck, 1, [{"name": "X", "like": f'"{name}"', "figures": figures}])
    here = what_if(deck, 1, [{"name": f'"{name}"'}])
    check(abs(here.one / twice.one - 2) < 1e-2 and same.one == twice.one, f"{here.one}, {twice.one}, {same.one}")
    equal = what_if(deck, 1, [{"name": f'"{name}"', "count": 2}])  # calibrated beside as many ranks, maybe
    mixed = what_if(deck, 1, [{"name": f'"{name}"'}, {"name": "X", "like": f'"{name}"', "speed": 2}])
    check(abs(equal.one / mixed.one - 1.5) < 0.03, f"one of two twice as fast: {equal.one / mixed.one}")


def a_slower_network_is_never_faster(kind):
    deck, name, _ = calibrated(kind)
    for key, values in (("latency", (0.0, 1e-6, 1e-3, 1.0)), ("bandwidth", (1e12, 1e9, 1e6, 1e3))):
        last, speed = 0, {"latency": 1e-6, "bandwidth": 1e9}
        for value in values:
            table = what_if(deck, [1, 2, 3, 8], [{"name": f'"{name}"'}], {**speed, key: value})
            check(np.all(table.of("time") >= last), f"{key} {value}: {table.of('time')} after {last}")
            last = table.of("time")
        check(last[0] < last[1], "one node needs no network, two do")


def fits_are_those_of_the_table():
    deck, name, _ = calibrated("tri")
    table = what_if(deck, [2, 4, 8, 16], [{"name": f'"{name}"'}], {"latency": 1e-3, "bandwidth": 1e9})
    n, t = table.of("nodes"), table.of("time") / table.one
    amdahl = np.linalg.lstsq((1 - 1 / n)[:, None], t - 1 / n, rcond=None)[0][0]
    gustafson = np.linalg.lstsq((n - 1)[:, None], n - 1 / t, rcond=None)[0][0]
    fits = {law: float(s) for law, s in table.fits}
    check(abs(fits["Amdahl"] / amdahl - 1) < 0.02 and abs(fits["Gustafson"] / gustafson - 1) < 0.02,
          f"{fits}, from the table {amdahl} and {gustafson}")
    check(amdahl > 1e-3, "a slow network leaves nothing serial?")


def many_units_for_many_ranks(policy):
    """A million units for 4,096 ranks of four kinds within 1 GiB and 2 s of a processor; what looks at each
    pair of them takes minutes."""
    deck, name, _ = calibrated("tri")
    devices = [{"name": f"X{speed}", "like": f'"{name}"', "speed": speed} for speed in (0.3, 1, 2, 3.3)]
    wide = ["-s", "run.units=1000000", "-s", "tri.generator.n=1000000", "-s", f"run.plan={policy}"]
    wide += ["-s", "run.gpu_share=0"] if policy == "share" else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run, peak = harness.run_peak(suite, ["plan", deck, "--cluster", cluster([1024], devices), *wide])
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    check(run.status == 0, run.tail())
    row = Table(run.out).rows[0]
    check(row["ranks"] == "4096" and int(row["units"]) >= 900000, row)
    check(peak < 1024 or suite.slow_build, f"{peak} MiB")
    check(seconds < 4 or suite.slow_build, f"{seconds} s")  # twice the goal: others use the caches, too
    return f"{row['units']} units in {seconds:.1f} s of a processor, {peak:.0f} MiB"


# ---- what a run showed


ALIKE = {"family": "dp", "run": {"threads": 1}, "dp": {
    "problem": "local", "alphabet": "dna", "a": {"random": 200000 if suite.slow_build else 400000, "seed": 1},
    "b": {"mutate": 0.1}, "scores": {"match": 2, "mismatch": -3, "open": 5, "extend": 2}}}


def pipeline_end(units, seconds):
    """When the last rank ends whose strip waits for the one on its left, stage by stage; seconds of each tile."""
    _, stage = np.unique(units["lo0"], return_inverse=True)
    busy = np.zeros((stage.max() + 1, units["rank"].max() + 1))
    np.add.at(busy, (stage, units["rank"]), seconds)
    ends = np.zeros(busy.shape[1] + 1)  # of the stage before, after a rank that is always done
    for row in busy:
        for rank, own in enumerate(row):
            ends[rank + 1] = max(ends[rank], ends[rank + 1]) + own
    return ends[-1]


def strips_by_plan_and_run(ranks, calibration):
    """When the pipeline ends: imagined, as the run itself predicted, by what its tiles took; and what ranks would take
    that never wait; the first two at the speed that the device had in that run. Calibrates anew."""
    env = {"TSL_TEST_CLOCK": "processor", "XDG_CACHE_HOME": suite.path(calibration)}
    deck, out = suite.deck("alike.yaml", ALIKE), suite.path("alike.h5")
    run = suite.run(["run", deck, "-o", out, "--overwrite"], ranks, env=env)
    check(run.status == 0, run.tail())
    with h5py.File(out) as file:
        name = file["run/machine"][0]["device"].decode()
    far = cluster(1, [{"name": f'"{name}"', "count": ranks, "threads": 1}])
    plan_far = suite.run(["plan", deck, "--cluster", far], env=env)
    run = suite.run(["run", deck, "-o", out, "--overwrite"], ranks, env=env)  # by the same calibration
    check(plan_far.status == 0 and run.status == 0, plan_far.tail() + run.tail())
    with h5py.File(out) as file:
        units = file["run/units"][...]
    level = units["measured"].sum() / units["predicted"].sum()
    return (Table(plan_far.out).one * level, pipeline_end(units, units["predicted"]) * level,
            pipeline_end(units, units["measured"]), units["measured"].sum() / ranks)


def strips_wait_as_foretold(ranks):
    """Of alike sequences most cells are left out, those at a rank's turn are not: how long ranks wait for one another
    hangs on what either kind costs. Tiles count in seconds of a processor, as ranks here share cores: with what each
    took the pipeline ends when the plan says, but for how fast the device is at all. A calibration takes a moment, in
    which others may run: of three it is the middle one that must be right. What a cell that is left out takes of one
    that is computed is a constant of optimised code: with sanitizers the one takes 20 times as long, the other does
    not, and the plan is held against the run's own prediction alone."""
    tries = []
    for k in range(1 if suite.slow_build else 3):
        said, predicted, measured, ideal = strips_by_plan_and_run(ranks, f"processor{k}")
        check(measured > 1.2 * ideal, f"ranks hardly wait: {measured} s, ideal {ideal} s")
        check(abs(said / predicted - 1) < 0.01, f"imagined {said} s, by the run's own prediction {predicted} s")
        tries.append(said / measured)
    check(suite.slow_build or abs(np.median(tries) - 1) < 0.1, f"imagined over what the tiles took: {tries}")
    return f"imagined {said:.3g} s, by the tiles {measured:.3g} s, ideal {ideal:.3g} s; ratios {np.round(tries, 3)}"


def bands_are_shared_out():
    """A calibration of one rank in which a band takes a millisecond and cells nothing: so does each stage of each
    imagined rank, however many lanes it has; ranks one behind the other then take 16 stages each and their number."""
    own = suite.path("bands")
    deck, name, _ = calibrated("dp")
    args = ["-s", f"run.calibration={own}"]
    plan(deck, args=args)
    with open(own, encoding="ascii") as file:
        lines = [line.split(" ", 7) for line in file]
    lanes = int(re.search(r"\|(\d+),lanes", lines[-1][7])[1])
    with open(own, "a", encoding="ascii") as file:
        for words in lines:
            file.write(" ".join([*words[:2], str(1e-3 / lanes), "0", "0", "0", "+0", words[7]]))
    nodes = [2, 4, 8, 16]
    table = what_if(deck, nodes, [{"name": f'"{name}"', "threads": 1}], args=args)
    truth = np.array([1e-3 * (16 * n + n - 1) for n in nodes])
    check(np.allclose(table.of("compute"), truth, rtol=0.05), f"{table.of('compute')} s, {truth} s")


WATER = {"family": "xc", "run": {"threads": 1}, "xc": {
    "molecule": {"atoms": '"O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"'}, "basis": "def2-SVP",
    "functional": "pbe", "coulomb": "fitted"}}
FINE = {"radial": 150, "angular": 590}  # an iteration takes as long as one is known well
OF_PHASE = ("share", "rebalance", "begin", "compute", "collect", "combine", "record", "advance")


def settled_parts(path):
    """Of an iteration by its record the mean rank's device time, what devices wait beside it, and what is before the
    first unit and after the last: of each set of kinds the middle one of the later half of its phases."""
    with h5py.File(path) as file:
        phases, stages = file["run/phases"][...], file["run/stages"][...]
        ranks, times = len(file["run/machine"]), file["run/phase_times"][...]
    spent = {k: sum(row["seconds"] for row in stages if row["phase"] == k and row["stage"].decode() in OF_PHASE)
             for k in phases["phase"].tolist()}
    parts = np.zeros(3)
    for kinds in np.unique(phases["kinds"]):
        rows = phases[phases["kinds"] == kinds]
        mean = np.array([times["measured"][times["phase"] == k].sum() for k in rows["phase"].tolist()]) / ranks
        rest = np.array([spent[k] for k in rows["phase"].tolist()]) - rows["measured"]
        half = len(rows) // 2
        parts += [sorted(of[half:])[(len(rows) - half - 1) // 2] for of in (mean, rows["measured"] - mean, rest)]
    return parts


def between_phases():
    """What a run has shown of its phases besides their units is in the time of an iteration: rank 0's work, as long on
    any number of nodes, and devices that wait, as long beside what they compute; both shorter on faster nodes."""
    env = {"XDG_CACHE_HOME": suite.path("water")}
    deck, out = suite.deck("water.yaml", WATER), suite.path("water.h5")
    check(suite.run(["calibrate", deck], env=env).status == 0, "not calibrated")
    name = re.search(r"^ +0  (.+?) {2,}", suite.run(["plan", deck], env=env).out.split("predicted s")[1], re.M)[1]
    far = cluster([1, 4], [{"name": f'"{name}"'}])
    before = suite.run(["plan", deck, "--cluster", far], env=env).out
    check("not counted: rank 0's work between phases" in before and not np.any(Table(before).of("between")), before)
    run = suite.run(["run", deck, "-o", out, "--overwrite"], env=env)
    check(run.status == 0, run.tail())
    mean, wait, rest = settled_parts(out)
    after = suite.run(["plan", deck, "--cluster", far], env=env).out
    table = Table(after)
    check("not counted: rank 0" not in after, after)
    truth = rest + wait / mean * table.of("compute")
    check(abs(table.of("between")[0] / truth[0] - 1) < 1e-2, f"{table.of('between')} s, {truth} s")
    check(rest * 0.99 < table.of("between")[1] < truth[1] * 1.01, f"4 nodes: {table.of('between')} s, {truth} s")
    parts = sum(table.of(part) for part in ("compute", "share", "between", "combine"))
    check(np.allclose(table.of("time"), parts, rtol=6e-3), table.rows)
    twice = Table(suite.run(["plan", deck, "--cluster", cluster(1, [{"name": "X", "like": f'"{name}"', "speed": 2}])],
                            env=env).out)
    check(abs(2 * twice.of("between")[0] / truth[0] - 1) < 2e-2, f"twice as fast: {twice.rows}")
    return f"{1e3 * truth[0]:.2f} ms of {1e3 * table.one:.2f} ms"


def an_iteration_as_it_ran(ranks):
    """A run that a wrong calibration has misled by a fifth tells what an iteration takes: an iteration of as many
    imagined ranks is the run's own, part by part, not half way there, nor that of the last phase."""
    env = {"XDG_CACHE_HOME": suite.path(f"iteration{ranks}")}
    deck, out = suite.deck("fine.yaml", {**WATER, "xc": {**WATER["xc"], "grid": FINE}}), suite.path("iteration.h5")
    check(suite.run(["calibrate", deck], ranks, env=env).status == 0, "not calibrated")
    path = os.path.join(env["XDG_CACHE_HOME"], "tesela", "calibration")
    with open(path, encoding="ascii") as file:
        lines = [line.split(" ", 7) for line in file]
    with open(path, "a", encoding="ascii") as file:
        for words in lines:
            file.write(" ".join([*words[:2], *(f"{1.2 * float(word):.9e}" for word in words[2:6]), *words[6:]]))
    run = suite.run(["run", deck, "-o", out, "--overwrite"], ranks, env=env)
    check(run.status == 0, run.tail())
    with h5py.File(out) as file:
        name = file["run/machine"][0]["device"].decode()
    mean, wait, rest = settled_parts(out)
    far = cluster(1, [{"name": f'"{name}"', "count": ranks, "threads": 1}])
    said = suite.run(["plan", deck, "--cluster", far], env=env).out
    table = Table(said)
    check(f"as one of {ranks} ranks" in said and "take from each other" not in said, said)
    error = table.of("time")[0] / (mean + wait + rest) - 1
    check(abs(error) < 0.08, f"imagined {table.rows}, the run {[mean, wait, rest]}")
    more = suite.run(["plan", deck, "--cluster", cluster(1, [{"name": f'"{name}"', "count": ranks + 2}])], env=env).out
    check(f"not counted: what {ranks + 2} ranks of a node take from each other" in more
          and f"mpirun -n {ranks + 2} tesela run {deck}" in more, more)
    return f"{100 * error:+.1f} %"


def settled_units_are_even():
    """Units of which one kind takes long to set up are dealt so that phases with everything in place are even, as moves
    between phases make them; by their first runs one of two ranks would have a third of the work more."""
    own = suite.path("settled")
    deck = suite.deck("hybrid.yaml", {**WATER, "xc": {**WATER["xc"], "functional": "b3lyp"}})
    args = ["-s", f"run.calibration={own}"]
    plan(deck, args=args)
    with open(own, encoding="ascii") as file:
        lines = [line.split(" ", 7) for line in file]
    name = lines[0][7].split("|")[1].replace(",", " ")
    with open(own, "a", encoding="ascii") as file:
        for words in lines:
            file.write(" ".join([*words[:2], "0.01", "0", "0", "0", "+1e-4" if words[1] == "1" else "+0", words[7]]))
    table = what_if(deck, [1, 2], [{"name": f'"{name}"', "threads": 1}], args=args)
    check(abs(2 * table.of("compute")[1] / table.of("compute")[0] - 1) < 0.03, table.rows)
    move = what_if(deck, [1, 2], [{"name": f'"{name}"', "threads": 1}], args=[*args, "-s", "run.rebalance=no"])
    check(2 * move.of("compute")[1] / move.of("compute")[0] > 1.1, f"the case shows nothing: {move.rows}")


def as_cards(path, name):
    """Every calibration of a file once more, as that of a card: those have no host."""
    with open(path, encoding="ascii") as file:
        lines = [line.split(" ", 7) for line in file.read().splitlines()]
    with open(path, "a", encoding="ascii") as file:
        for words in lines:
            parts = words[7].split("|")
            parts[0], parts[1] = "", name.replace(" ", ",")
            file.write(" ".join([*words[:7], "|".join(parts)]) + "\n")


def the_example():
    """Cards that nobody here has, of the file that comes with tesela."""
    deck, strips, card = suite.deck("tri.yaml", DECKS["tri"]), suite.deck("dp.yaml", DECKS["dp"]), "NVIDIA H100 80GB HBM3"
    example = os.path.join(os.path.dirname(harness.__file__), "..", "..", "inputs", "clusters", "two_kinds.yaml")
    own = suite.path("own")
    small = ["-s", "run.units=4096", "-s", f"run.calibration={own}"]
    for kind in (deck, strips):
        plan(kind, args=small)
    refused(deck, example, f"two_kinds.yaml:7: cluster.devices[0].name: no calibration of '{card}'", args=small)
    as_cards(own, card)
    out = plan(deck, example, args=small)
    table = Table(out)
    check(table.of("ranks").tolist() == [6, 12, 24, 48, 96, 192, 384], table.rows)
    check(np.all(np.diff(table.of("compute")) < 0), table.of("compute"))
    coarse = ["-s", "run.units=64", *small[2:]]
    check("nodes are about" not in out and "nodes are about" in plan(deck, example, args=coarse), out)
    refused(strips, cluster(1, [{"name": card}]),
            f"far.yaml:4: cluster.devices[0].name: '{card}' is a card that is not on this host", args=small)


def refused(deck, far, *texts, args=()):
    run = suite.run(["plan", deck, "--cluster", far, *args])
    check(run.status == 2, run.tail())
    for text in texts:
        check(text in run.err, f"no '{text}' in: {run.err}")


def what_is_left(kind):
    """After a stop: of the whole the part that is not finished, here and on imagined nodes."""
    deck, name, _ = calibrated(kind)
    args = ["-s", "run.units=400", "-s", "run.device=cpu"]
    whole, out = plan(deck, args=args), suite.path(f"left-{kind}.h5")
    began = time.time()
    process = suite.start(["run", deck, "-o", out, *args], env={"TSL_TEST_SLOW": "+0.02", "XDG_CACHE_HOME": suite.path("slow")})
    while not os.path.exists(out + ".part") and process.poll() is None:
        time.sleep(0.05)
    time.sleep(3)
    process.send_signal(signal.SIGUSR1)
    run = suite.finish(process, began, 120)
    check(run.status == 85, run.tail())
    left = plan(deck, args=[*args, "--restart", out])
    done, of = map(int, re.search(r"goes on from a checkpoint with (\d+) of (\d+) units", left).groups())
    check(0 < done < of, f"{done} of {of} units are finished")
    seconds = [float(re.search(r"predicted (\S+) s of computing", text)[1]) for text in (whole, left)]
    if kind == "tri":  # whose units are equal
        check(abs(seconds[1] / seconds[0] - (1 - done / of)) < 0.05, f"{seconds}, {done} of {of}")
    check(seconds[1] < seconds[0], f"{seconds}")
    table = what_if(deck, [1, 2], [{"name": f'"{name}"', "threads": 1}], args=[*args, "--restart", out])
    check(abs(table.one / seconds[1] - 1) < 2e-3, f"{table.one} s imagined, {seconds[1]} s planned")
    check(0.45 < table.of("time")[1] / table.one < 0.65, f"two nodes: {table.rows}")
    check(os.path.exists(out + ".ckpt.0"), "the plan has removed the checkpoint")
    run = suite.run(["plan", deck, "--restart", suite.path("none.h5")])
    check(run.status == 2 and "there is no checkpoint" in run.err, run.tail())


def bad_files():
    strips, name, _ = calibrated("dp")
    refused(strips, cluster([1, 65], [{"name": f'"{name}"'}]), "far.yaml:2: cluster.nodes[1]: 65 nodes are 65 ranks")
    deck, name, _ = calibrated("tri")
    good = [{"name": f'"{name}"'}]
    refused(deck, cluster(1, [{"name": f'"{name[:-1]}x"'}]), "far.yaml:4: cluster.devices[0].name: no calibration",
            f"did you mean '{name}'?", f"tesela calibrate {deck}")
    refused(deck, cluster(1, [{"name": "X", "like": "Y"}]), "far.yaml:4: cluster.devices[0].like: no calibration")
    refused(deck, cluster(1, [{"name": f'"{name}"', "threads": 7}]), "with 7 threads")
    refused(deck, cluster(0, good), "far.yaml:2: cluster.nodes")
    refused(deck, cluster([1, 0], good), "far.yaml:2: cluster.nodes[1]")
    refused(deck, cluster(1, good, {"latency": -1e-6, "bandwidth": 1e9}), "far.yaml:5: cluster.network.latency")
    refused(deck, cluster(1, good, {"latency": 1e-6}), "missing key 'bandwidth'")
    refused(deck, cluster(1, good, {"latency": 1e-6, "bandwith": 1e9}), "did you mean 'bandwidth'?")
    refused(deck, suite.write("far.yaml", "cluster: {nodes: [1}\n"), "far.yaml:1")
    refused(deck, suite.path("none.yaml"), "none.yaml")
    refused(suite.deck("tri2.yaml", {**DECKS["fractal"], "fractal": {
        **DECKS["fractal"]["fractal"], "set": "burning_ship"}}), cluster(1, good), "no calibration of", "tesela calibrate")
    check(suite.run(["run", deck, "--cluster", "far.yaml"]).status == 2, "`run` takes --cluster")


for family in DECKS:
    for size in (1, 2):
        suite.case(f"one_node_is_the_plan_here.{family}.{size}", one_node_is_the_plan_here, family, size)
        if family != "dp":  # ranks that wait for one another show how busy the machine is
            suite.case(f"measured.{family}.{size}", measured, family, size)
    if family != "dp":
        suite.case(f"twice_the_nodes_half_the_time.{family}", twice_the_nodes_half_the_time, family)
        suite.case(f"what_is_left.{family}", what_is_left, family)
    suite.case(f"a_slower_network_is_never_faster.{family}", a_slower_network_is_never_faster, family)
for policy in ("strips", "lpt", "bins", "roundrobin", "share"):
    suite.case(f"many_units_for_many_ranks.{policy}", many_units_for_many_ranks, policy)
suite.case("strips_wait_as_foretold", strips_wait_as_foretold, 4)
suite.case("bands_are_shared_out", bands_are_shared_out)
if suite.has_family("xc"):
    suite.case("between_phases", between_phases)
    suite.case("settled_units_are_even", settled_units_are_even)
    for size in (1, 2):
        suite.case(f"an_iteration_as_it_ran.{size}", an_iteration_as_it_ran, size)
for case in (faster_devices, fits_are_those_of_the_table, bad_files, the_example):
    suite.case(case.__name__, case)
suite.end()
