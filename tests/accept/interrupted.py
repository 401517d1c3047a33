"""Runs that tests interrupt: decks of every family and output, how to make them last, and what of two results
must be the same."""
import os
import signal
import time

import numpy as np

import harness
from harness import check, h5py

UNITS = 200
TRI = {"family": "tri", "run": {"checkpoint": 0.1, "units": UNITS},
       "tri": {"function": "euclidean", "output": "condensed",
               "generator": {"kind": "plummer", "n": 3000, "seed": 3}}}


def tri(**keys):
    return {**TRI, "tri": {**TRI["tri"], **keys}}


def dp(problem, mode="value", **keys):
    return {"family": "dp", "run": {"checkpoint": 0.1, "units": 20, "threads": 1, "device": "cpu"},
            "dp": {"problem": problem, "mode": mode, **keys}}


def letters(n, seed):
    return {"random": n, "seed": seed}


def numbers(n, seed, lo=1, hi=90):
    return {"random": n, "seed": seed, "lo": lo, "hi": hi}


BOUNDARY = [{"where": "i == 0 || j == 0", "value": "i + j"}]


def recurrence(mode="value", rows=900, cols=1000, depth=None, **keys):
    rules = {} if "tables" in keys else {"boundary": BOUNDARY}
    third = {} if depth is None else {"depth": depth}
    return dp("recurrence", mode, table={"rows": rows, "cols": cols, **third}, data=[{"name": "a", **numbers(1000, 5)}],
              **rules, **keys)


def xc(molecule, functional, **keys):
    scf = {"energy": 1e-10, "commutator": 1e-7}
    return {"family": "xc", "run": {"checkpoint": 0.1, "threads": 1, "ranks": "all", "device": "cpu"},
            "xc": {"molecule": molecule, "basis": "def2-SVP", "functional": functional, "grid": {"preset": "coarse"},
                   "scf": scf, **keys}}


WORDS = {"a": letters(4000, 3), "b": letters(5000, 4)}
SACK = {"capacity": 20000, "weights": numbers(600, 1), "values": numbers(600, 2)}
DIAGONAL = "max(M[i-1][j-1] + a[j] % 7, M[i-1][j] - a[i], M[i][j-1] - 1)"
WATER = {"atoms": '"O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"'}
OXYGEN = {"atoms": '"O 0 0 0; O 0 0 1.2"', "multiplicity": 3}
CALLS = {"lcs": 16, "local": 16, "dtw table": 160, "global path": 64, "edit path": 64, "knapsack": 30, "sack path": 30,
         "sack table": 30, "chain": 16, "nussinov": 16, "tree table": 16, "own": 16, "own table": 16, "own tables": 16,
         "own rows": 60, "own layers": 16, "own indices": 16, "layers value": 16,
         "water": 500, "oxygen": 500, "fitted": 500,
         "same bits": 500}  # to the device of a single rank; others have UNITS

DECKS = {
    "lcs": dp("lcs", **WORDS),
    "local": dp("local", **WORDS),
    "dtw table": dp("dtw", "table", a=numbers(800, 1), b=numbers(900, 2)),
    "global path": dp("global", "recover", **WORDS),
    "edit path": dp("edit", "recover", **WORDS),
    "knapsack": dp("knapsack", **SACK),
    "sack path": dp("knapsack", "recover", **SACK),
    "sack table": dp("knapsack", "table", **SACK),
    "chain": dp("matrix_chain", "recover", dimensions=numbers(2000, 1)),
    "nussinov": dp("nussinov", "recover", a=letters(2000, 6), span=3),
    "tree table": dp("search_tree", "table", keys=numbers(2000, 1), gaps=numbers(2001, 2)),
    "own": recurrence(cell=DIAGONAL, goal="max over all"),
    "own table": recurrence("table", cell=DIAGONAL, goal="max over all"),
    "own tables": recurrence("recover", goal="max M over all", tables=[
        {"name": "E", "boundary": BOUNDARY, "cell": '"max(M[i][j-1] - 3, E[i][j-1] - 1)"'},
        {"name": "M", "boundary": BOUNDARY, "cell": '"max(M[i-1][j-1] + a[j] % 7 - a[i] % 5, E[i][j], M[i-1][j] - 2)"'}]),
    "own layers": recurrence("recover", 120, 150, depth=40, goal="max over all",
                             cell='"max(M[i-1][j-1][max(k - 1, 0)] + a[j] % 7 - a[i + k] % 5, M[i-1][j][k], k > 0 ? M[i][j][k-1] : 0)"'),
    "own indices": recurrence("recover", 120, 150, depth=[8, 5], goal="max over all",
                              cell='"max(M[i-1][j-1][max(k - 1, 0)][4 - l] + a[j] % 7 - a[i + k] % 5, M[i-1][j][k][l], '
                                   'k > 0 ? M[i][j][k-1][(l + 2) % 5] : 0, l > 0 ? M[i][j][k][l-1] : 1)"'),
    "layers value": recurrence("value", 700, 800, depth=30, goal="M[699][799][29]",
                               pattern="RUD",
                               cell='"max(M[i-1][max(j - 3, 0)][max(k - 1, 0)] + a[j] % 7 - a[i + k] % 5, M[i-1][j][k])"'),
    "own rows": recurrence("recover", 60, 20000, cell='"j < a[i] ? M[i-1][j] : max(M[i-1][j], M[i-1][j - a[i]] + a[i] % 5)"',
                           goal="max over all", pattern="RUD"),
    "condensed": tri(),
    "square": tri(output="square"),
    "rdf": tri(output="histogram", box=[20, 20, 20], bins=200, range=[0, 10],
               generator={"kind": "uniform", "n": 4000, "seed": 7}),
    "threshold": tri(output="threshold", threshold=0.5),
    "topk": tri(output="topk", k=5),
    "lists of two": tri(output="csr", threshold=0.3, other={"generator": {"kind": "uniform", "n": 2000, "side": 2}}),
    "sums of two": tri(output="sum", other={"generator": {"kind": "uniform", "n": 2000, "side": 2}}),
    "fractal": {"family": "fractal", "run": {"checkpoint": 0.1, "units": UNITS},
                "fractal": {"set": "mandelbrot", "xres": 640, "yres": 480, "maxiter": 1000, "cpu_schedule": "dynamic",
                            "view": {"corners": [-2.25, -1.25, 1.5, 1.25]}}},
    "water": xc(WATER, "b3lyp"),
    "oxygen": xc(OXYGEN, "pbe"),
    "fitted": xc(WATER, "pbe", coulomb="fitted"),
    "same bits": xc(WATER, "pbe", reproducible=True),
}
NEAR = {"water", "oxygen", "fitted"}


def pace(seconds, name=None):
    """The environment in which a run lasts about so long, on one rank, and writes checkpoints as often as asked."""
    return {"TSL_TEST_SLOW": f"+{seconds / CALLS.get(name, UNITS):.3g}", "TSL_TEST_CHECKPOINTS": "prompt"}


def contents(path):
    """The datasets of /results as bytes, and its attributes."""
    with h5py.File(path, "r") as file:
        check(file["run"].attrs["verdict"] == "VALID", "not VALID")
        found = {}
        file["results"].visititems(
            lambda name, item: found.update({name: item[()].tobytes()}) if hasattr(item, "shape") else None)
        found.update({f"@{k}": np.asarray(v).tobytes() for k, v in file["results"].attrs.items()})
        ids = np.sort(file["run/units"]["id"])
        check(np.array_equal(ids, np.arange(len(ids))), "a unit is missing or twice in /run/units")
        return found


ENERGIES = ("total energy", "nuclear repulsion", "kinetic energy", "attraction by charges", "Coulomb energy", "exact exchange",
            "exchange-correlation", "iterations")


def compare_energies(found, truth):
    """Everything goes on as it was, but for the order of sums: as many iterations in all."""
    for key in ENERGIES:
        one, other = (float(np.frombuffer(of["@" + key])[0]) for of in (found, truth))
        check(abs(one - other) <= 1e-8, f"{key} is {one:.10f} instead of {other:.10f}")


def compare_contents(name, found, truth):
    """Byte for byte; energies of xc as near as other iterations allow."""
    check(found.keys() == truth.keys(), f"{sorted(found)} instead of {sorted(truth)}")
    if name in NEAR:
        return compare_energies(found, truth)
    for key in truth:
        check(found[key] == truth[key], f"{key} differs from the undisturbed run")
    return None


def checkpoints(out):
    """The checkpoints that a run has left of this output."""
    return [p for p in (out + ".ckpt.0", out + ".ckpt.1") if os.path.exists(p)]


def written(out):
    """The same as pairs of path and time of writing."""
    for path in checkpoints(out):
        try:
            yield path, os.stat(path).st_mtime_ns
        except FileNotFoundError:  # replaced just now
            pass


def members(session):
    """Processes of a session, as (number, name); mpirun gives each rank a group of its own."""
    return [(number, name) for number, name, words in harness.processes()
            if int(words[3]) == session and words[0] != "Z"]


def kill_all(process):
    """kill -9 for the program and its launcher, and wait until all are gone."""
    patience = harness.Patience(20)
    while members(process.pid):
        check(not patience.over(), "a killed run is still there")
        for number, _ in members(process.pid):
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)
    process.communicate()


def go_on_after_kill(suite, tree, name, ranks, again, each=0.05, saves=1):
    """Kill a run, each of whose units sleeps, once so many checkpoints were written; the rest on other ranks.

    Returns its contents. Units must be many, and the run's time in computing."""
    tree = {**tree, "run": {**tree.get("run", {}), "checkpoint": 0.1}}
    deck, out = suite.deck(name + ".yaml", tree), suite.path(name + ".h5")
    for path in (out, *checkpoints(out)):
        if os.path.exists(path):
            os.remove(path)
    process = suite.start(["run", deck, "-o", out], ranks,
                          env={"TSL_TEST_SLOW": f"+{each}", "TSL_TEST_CHECKPOINTS": "prompt"})
    patience, seen = harness.Patience(60), set()
    while len(seen) < saves and process.poll() is None:
        check(not patience.over(), f"{len(seen)} checkpoints in the time of a hang")
        time.sleep(0.01)
        seen.update(written(out))
    kill_all(process)
    if len(seen) < saves or os.path.exists(out):  # a disk slower than the units, or a kill that came too late
        check(each < 2, f"{len(seen)} checkpoints before the end")
        return go_on_after_kill(suite, tree, name, ranks, again, 3 * each, saves)
    run = suite.run(["run", deck, "-o", out, "--restart", out], again)
    check(run.status == 0 and "goes on from a checkpoint" in run.out, run.tail())
    return contents(out)
