#!/usr/bin/env python3
"""A small run of each family, on one rank and on two, against what plain Python computes.

usage: each_family.py TESELA [ONLY]

For the inner loop: some seconds. What a family can do besides is tested by scripts of its own.
"""
import fractal_truth
import harness
from harness import check, np

suite = harness.Suite(__doc__, jobs=2)
RUN = {"device": "cpu", "threads": 1, "ranks": "all"}


def tri():
    points = np.random.default_rng(5).normal(size=(60, 3))
    np.save(suite.path("points.npy"), points)
    i, j = np.triu_indices(60, 1)
    section = {"function": "euclidean", "precision": "fp64", "output": "condensed", "input": {"file": "points.npy"}}
    return section, "distances", np.sqrt(((points[i] - points[j]) ** 2).sum(axis=1)), 1e-14


def dp():
    rng = np.random.default_rng(6)
    a, b = ("".join(rng.choice(list("ACGT"), n)) for n in (50, 70))
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a):
        last, row = row, [i + 1]
        for j, other in enumerate(b):
            row.append(min(last[j] + (letter != other), last[j + 1] + 1, row[j] + 1))
    return {"problem": "edit", "a": {"text": a}, "b": {"text": b}}, "goal", np.array([row[-1]]), 0


def fractal():
    section = fractal_truth.sized("julia", 21, 15)
    section["maxiter"] = 60
    x, y = fractal_truth.tables(section)
    return section, "iterations", np.array([[fractal_truth.exact_value(section, a, b) for a in x] for b in y]), 0


def triples():
    points = np.random.default_rng(7).normal(size=(40, 3))
    np.save(suite.path("points.npy"), points)
    r = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    i, j, k = np.array([(i, j, k) for i in range(40) for j in range(i) for k in range(j)]).T
    sides = np.sort([r[i, j], r[i, k], r[j, k]], axis=0)
    counts = np.histogramdd(sides.T, bins=4, range=[(0, 2)] * 3)[0].astype(np.uint64)
    return {"function": "triangles", "precision": "fp64", "bins": 4, "range": [0, 2],
            "input": {"file": "points.npy"}}, "triangles", counts, 0


def xc():
    """psi4 1.3.2: PBE/def2-SVP with 99 x 590 points."""
    section = {"molecule": {"atoms": '"O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"'}, "basis": "def2-SVP",
               "functional": "pbe", "grid": {"preset": "fine"}, "reproducible": True}
    return section, "total energy", np.array([-76.27201440]), 3e-7


def run(family):
    section, name, truth, tolerance = family()
    seen = []
    for ranks in (None, 2):
        tree = {"family": family.__name__, "run": {**RUN, "units": 9} if family is not xc else RUN,
                family.__name__: section}
        with suite.result(tree, ranks=ranks) as file:
            results = file["results"]
            seen.append(results[name][()] if name in results else np.array([results.attrs[name]]))
    check(np.array_equal(seen[0], seen[1]), f"two ranks give another result: {seen[0][:3]!r}, {seen[1][:3]!r}")
    check(seen[0].shape == truth.shape, f"shape {seen[0].shape}, expected {truth.shape}")
    worst = np.max(np.abs(seen[0] - truth) / np.maximum(np.abs(truth), 1e-300) if tolerance else seen[0] != truth)
    check(worst <= tolerance, f"{worst:.2e} away from the truth")


for one in (tri, triples, dp, fractal, xc):
    if one is not xc or suite.has_family("xc"):
        suite.case(one.__name__, run, one)
suite.end()
