#!/usr/bin/env python3
"""Near pairs alone (`search: near`) give the bytes that all pairs give, and the counts of scipy's k-d tree.

usage: tri_near.py TESELA [--fast] [ONLY]

Clouds: uniform, clustered, a lattice (distances that are equal), repeated points, all points equal, points on a line,
a plane in space, far from the origin. One to sixteen dimensions, a periodic box or none, 1, 2, 3 and 5 ranks. Points
are exact in fp32, so that scipy counts the same ones.
"""
import harness
from harness import check, h5py, np
from scipy.spatial import cKDTree
from tri_clouds import clustered, equal, lattice, repeated, uniform

suite = harness.Suite(__doc__, jobs=2)
N = 4500


def line(rng, n, d):
    return np.outer(rng.random(n), np.ones(d))


def plane(rng, n, d):
    x = rng.random((n, d))
    x[:, 0] = 0.5
    return x


def far(rng, n, d):
    return 1000 + rng.random((n, d))


CLOUDS = [uniform, clustered, lattice, repeated, equal, line, plane, far]


def cloud(make, n, d):
    x = make(np.random.default_rng(100 * n + d), n, d)
    return x.astype(np.float32).astype(float)


def results(tree, ranks=None, search="near", **run):
    run = {"device": "cpu", "threads": 1, "ranks": "all", **run}
    tree = {"family": "tri", "run": run, "tri": {**tree, "search": search}}
    with suite.result(tree, ranks=ranks) as file:
        return harness.datasets(file), file["run/facts"].asstr()[()]


def same(tree, ranks=None):
    """Near and all pairs; returns what they gave."""
    one, other = results(tree, search="all")[0], results(tree, ranks)[0]
    check(one.keys() == other.keys(), "other datasets")
    for name in one:
        a, b = one[name], other[name]
        check(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), f"{name} differs")
    return other


def decks(x, **more):
    """threshold, topk and histogram of points with a sensible cut-off."""
    np.save(suite.path("points.npy"), x)
    base = {"function": "euclidean", "input": {"file": "points.npy"}, **more}
    cut = 0.07 if x.shape[1] < 4 else 0.5
    return ({**base, "output": "threshold", "threshold": cut},
            {**base, "output": "topk", "k": 11},
            {**base, "output": "histogram", "bins": 30, "range": [0, cut]})


def cloud_case(make, d, precision, function, ranks):
    x = cloud(make, N if d < 4 else N // 3, d)
    for tree in decks(x, precision=precision, function=function):
        same(tree, ranks)


def cloud_cases():
    functions = ["euclidean", "sqeuclidean", "manhattan", "chebyshev"]
    turn = 0
    for make in CLOUDS:
        for d in (1, 2, 3, 5, 16):
            turn += 1
            if suite.fast and turn % 4 != 0 and d != 3:
                continue
            function, precision = functions[turn % 4], ("fp32", "fp64")[turn // 2 % 2]
            ranks = (None, 2, 3, 5)[turn % 4]
            suite.case(f"{make.__name__}, {d} dimensions, {function}, {precision}, {ranks or 1} ranks", cloud_case,
                       make, d, precision, function, ranks)


def units_case():
    """Neighbouring units are searched as one: whatever their number is, results are those of all pairs."""
    np.save(suite.path("points.npy"), cloud(clustered, N, 3))
    base = {"function": "euclidean", "input": {"file": "points.npy"}}
    for output, keys in (("threshold", {"threshold": 0.03}), ("csr", {"threshold": 0.03}), ("minimum", {}),
                         ("degree", {"threshold": 0.03}), ("topk", {"k": 5}),
                         ("dbscan", {"threshold": 0.03, "min_samples": 40})):
        tree = {**base, "output": output, **keys}
        truth = results(tree, search="all")[0]
        for units, ranks in ((7, None), (300, 3)):
            found = results(tree, ranks, units=units)[0]
            for name in truth:
                check(truth[name].tobytes() == found[name].tobytes(), f"{output}, {units} units: {name} differs")


def function_case(function):
    """The functions that want points of their own."""
    rng = np.random.default_rng(5)
    n = N // 2
    if function == "haversine":
        x = np.column_stack([rng.uniform(-90, 90, n), rng.uniform(-180, 360, n)])
        keys = ({"threshold": 300}, {"k": 7}, {"range": [10, 900], "bins": 40})
        base = {"function": function}
    elif function == "overlap":
        x = np.column_stack([rng.random((n, 3)), rng.uniform(0, 0.05, n) ** 2])
        keys = ({"threshold": 0.04}, {"k": 7}, {"range": [-0.002, 0.1], "bins": 40})
        base = {"function": function}
    else:
        x = rng.normal(size=(n, 4))
        keys = ({"threshold": 0.003}, {"k": 7}, {"range": [0, 0.01], "bins": 40})
        base = {"function": function}
    np.save(suite.path("points.npy"), x)
    base["input"] = {"file": "points.npy", **({"radius_column": 3} if function == "overlap" else {})}
    for output, more in zip(("threshold", "topk", "histogram"), keys):
        for precision in ("fp32", "fp64"):
            out = same({**base, "output": output, "precision": precision, **more}, 2)
            check(output != "threshold" or len(out["values"]) > 100, "hardly any pair is near")


def periodic_case(d, ranks):
    """Of a cloud around the box's corner the cut-off goes across its faces."""
    edges = np.array([1.0, 1.5, 1.25])[:d]
    x = np.mod(cloud(clustered, N, d) + cloud(uniform, N, d) * (np.arange(N)[:, None] % 2), 1) * edges
    x = np.mod(x.astype(np.float32).astype(float), edges)
    for tree in decks(x, precision="fp64", box=edges.tolist()):
        out = same(tree, ranks)
        if tree["output"] == "threshold":
            pairs = cKDTree(x, boxsize=edges).query_pairs(tree["threshold"], output_type="ndarray")
            check(np.array_equal(np.unique(pairs, axis=0), out["pairs"]), "scipy finds other pairs")


def scipy_case(make, n):
    """Pairs, counts and neighbours of many points."""
    x = cloud(make, n, 3)
    tree = cKDTree(x)
    threshold, topk, histogram = decks(x, precision="fp64")
    cut = threshold["threshold"] = histogram["range"][1] = 0.02
    out, facts = results(threshold, search="auto")
    check("search: near pairs, about" in facts, f"all pairs were looked at: {facts}")
    check(np.array_equal(np.unique(tree.query_pairs(cut, output_type="ndarray"), axis=0), out["pairs"]),
          "scipy finds other pairs")
    counts = results(histogram)[0]["counts"]
    edges = np.linspace(0, cut, histogram["bins"] + 1)
    # bins are open at their upper edge, which no distance of these points meets
    of_scipy = np.diff((tree.count_neighbors(tree, edges) - len(x)) // 2)
    check(np.array_equal(of_scipy, counts), f"scipy counts {of_scipy.tolist()}, we {counts.tolist()}")
    near = results(topk)[0]
    values, which = tree.query(x, topk["k"] + 1)
    check(np.array_equal(values[:, 1:], near["values"]) or np.allclose(values[:, 1:], near["values"], rtol=4e-16),
          "scipy's neighbours are at other distances")
    check((which[:, 1:] == near["neighbours"]).all(), "scipy finds other neighbours")


def refused_case():
    """What cannot be searched says why, with the line."""
    for keys, words in (
            ({"function": "cosine", "output": "topk", "k": 2, "generator": {"kind": "uniform", "n": 50, "d": 16}},
             "matrix product"),
            ({"function": "euclidean", "output": "topk", "k": 2, "generator": {"kind": "uniform", "n": 50, "d": 17}},
             "16 dimensions at most"),
            ({"function": "euclidean", "output": "condensed", "generator": {"kind": "uniform", "n": 50}},
             "not used by output condensed"),
            ({"function": "euclidean", "output": "threshold", "threshold": 0.6, "box": [1, 1, 1],
              "generator": {"kind": "uniform", "n": 50}}, "every edge at least 1.2")):
        run = suite.run(["run", suite.deck("bad.yaml", {"family": "tri", "tri": {**keys, "search": "near"}}),
                         "-o", suite.path("bad.h5")])
        check(run.status == 2 and words in run.err and "bad.yaml:" in run.err, f"'{words}' expected: {run.tail()}")


def choice_case():
    """auto looks at all pairs where a search would not leave much out; the plan says when not."""
    for cut, near in ((0.02, True), (0.9, False)):
        tree = {"function": "euclidean", "output": "threshold", "threshold": cut,
                "generator": {"kind": "uniform", "n": 20000}}
        plan = suite.run(["plan", suite.deck("plan.yaml", {"family": "tri", "tri": tree})])
        check(plan.status == 0 and ("search: near pairs" in plan.out) == near, f"within {cut}: {plan.tail()}")


cloud_cases()
for each in ("haversine", "overlap", "cosine", "correlation"):
    suite.case(f"function {each}", function_case, each)
for dimensions in (1, 2, 3):
    suite.case(f"periodic, {dimensions} dimensions", periodic_case, dimensions, (None, 3, 5)[dimensions - 1])
suite.case("units", units_case)
suite.case("scipy, uniform", scipy_case, uniform, 60000)
suite.case("scipy, clustered", scipy_case, clustered, 30000)
suite.case("refused", refused_case)
suite.case("choice", choice_case)
suite.end()
