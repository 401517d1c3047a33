#!/usr/bin/env python3
"""Two sets of points against scipy: matrices, pairs within a threshold, neighbours and counts of one in the other.

usage: tri_two.py TESELA [--fast] [ONLY]

Sets of unlike sizes (1 point, fewer points than a tile, more than a block), 1, 2, 3 and 5 ranks, near pairs and all
pairs. Points are exact in fp32, so that scipy sees the same ones.
"""
import harness
from harness import check, h5py, np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

suite = harness.Suite(__doc__, jobs=2)
SIZES = [(1, 1), (7, 1300), (1300, 7), (333, 450), (1000, 1), (130, 2049)]


def points(seed, n, d):
    rng = np.random.default_rng(seed)
    x = rng.random((4, d))[rng.integers(0, 4, n)] + 0.2 * rng.random((n, d))
    return x.astype(np.float32).astype(float)


def results(tree, ranks=None):
    tree = {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "tri": tree}
    with suite.result(tree, ranks=ranks) as file:
        return harness.datasets(file)


def two(a, b, **more):
    np.save(suite.path("a.npy"), a)
    np.save(suite.path("b.npy"), b)
    return {"input": {"file": "a.npy"}, "other": {"input": {"file": "b.npy"}}, "precision": "fp64", **more}


def near_to(got, wanted, what, tolerance=1e-13):
    check(got.shape == wanted.shape, f"{what}: {got.shape}, not {wanted.shape}")
    check(got.size == 0 or np.abs(got - wanted).max() <= tolerance, f"{what} differs")


def matrix_case(function, d, sizes, ranks):
    a, b = points(1, sizes[0], d), points(2, sizes[1], d)
    wanted = cdist(a, b, {"manhattan": "cityblock"}.get(function, function))
    near_to(results(two(a, b, function=function, output="condensed"), ranks)["distances"], wanted, "distances")
    single = results(two(a, b, function=function, output="condensed", precision="fp32"))["distances"]
    near_to(single, wanted, "fp32", 2e-6 * max(1, wanted.max()))


def cuts_case(d, sizes, ranks, search):
    """The three outputs that need not look at all pairs."""
    a, b = points(3, sizes[0], d), points(4, sizes[1], d)
    m = cdist(a, b)
    cut = float(np.quantile(m, 0.2))
    base = {"function": "euclidean", "search": search}
    out = results(two(a, b, **base, output="threshold", threshold=cut), ranks)
    wanted = np.argwhere(m <= cut)
    check(np.array_equal(out["pairs"], wanted), "other pairs")
    near_to(out["values"], m[m <= cut], "values")
    edges = np.linspace(0, cut, 18)
    counts = results(two(a, b, **base, output="histogram", bins=17, range=[0, cut]), ranks)["counts"]
    check(np.array_equal(counts, np.histogram(m[m < cut], edges)[0]), "other counts")
    k = min(5, sizes[1])
    out = results(two(a, b, **base, output="topk", k=k), ranks)
    values, which = cKDTree(b).query(a, list(range(1, k + 1)))
    near_to(out["values"], values, "values of neighbours")
    check((out["neighbours"] == which).all(), "other neighbours")


def equal_case(function, ranks):
    """fp32 of functions with their own preparation: near pairs have the bytes of all pairs."""
    rng = np.random.default_rng(6)
    n, m, more = 2200, 1500, {}
    if function == "haversine":
        a, b = (np.column_stack([rng.uniform(-90, 90, s), rng.uniform(-180, 360, s)]) for s in (n, m))
        keys = ({"threshold": 300}, {"k": 7}, {"range": [10, 900], "bins": 40})
    elif function == "overlap":
        a, b = (np.column_stack([rng.random((s, 3)), rng.uniform(0, 0.05, s) ** 2]) for s in (n, m))
        keys = ({"threshold": 0.04}, {"k": 7}, {"range": [-0.002, 0.1], "bins": 40})
        more = {"radius_column": 3}
    else:
        a, b = 1000 + rng.random((n, 5)), 1000 + rng.random((m, 5))
        keys = ({"threshold": 0.2}, {"k": 7}, {"range": [0, 0.3], "bins": 40})
    for output, cut in zip(("threshold", "topk", "histogram"), keys):
        tree = {**two(a, b, function=function, output=output, precision="fp32", **cut)}
        tree["input"].update(more)
        tree["other"]["input"].update(more)
        one, other = results({**tree, "search": "all"}), results({**tree, "search": "near"}, ranks)
        for name in one:
            check(one[name].tobytes() == other[name].tobytes(), f"{output}: {name} differs")


def periodic_case(ranks):
    """Data-random counts in a box, and the matrix of cosine with many dimensions, which is a product."""
    rng = np.random.default_rng(8)
    edges = np.array([1.0, 1.5, 1.25])
    a, b = ((rng.random((n, 3)) * edges).astype(np.float32).astype(float) for n in (2000, 3100))
    out = results(two(a, b, function="euclidean", output="histogram", box=edges.tolist(), bins=25, range=[0, 0.25],
                      search="near"), ranks)
    tree = cKDTree(a, boxsize=edges)
    sums = tree.count_neighbors(cKDTree(b, boxsize=edges), out["edges"])
    check(np.array_equal(np.diff(sums), out["counts"]), "scipy counts other pairs")
    shells = 4 / 3 * np.pi * np.diff(out["edges"] ** 3) * len(a) * len(b) / edges.prod()
    check(np.allclose(out["rdf"], out["counts"] / shells, rtol=1e-12), "rdf")


def product_case(ranks):
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=(300, 40)), rng.normal(size=(517, 40))
    for function in ("cosine", "correlation"):
        for output, more in (("condensed", {}), ("topk", {"k": 9})):
            out = results(two(a, b, function=function, output=output, **more), ranks)
            m = cdist(a, b, function)
            if output == "condensed":
                near_to(out["distances"], m, function, 1e-12)
            else:
                near_to(out["values"], np.sort(m, axis=1)[:, :9], function, 1e-12)
                check(np.array_equal(out["neighbours"], np.argsort(m, axis=1)[:, :9]), f"{function}: neighbours")


def between_case(ranks):
    """Two kinds of one file: what the kinds' points in two files give, and which points they are."""
    rng = np.random.default_rng(10)
    x, kinds = points(7, 900, 3), rng.integers(0, 3, 900)
    np.save(suite.path("mix.npy"), np.column_stack([x, kinds]))
    a, b = np.flatnonzero(kinds == 2), np.flatnonzero(kinds == 0)
    mix = {"input": {"file": "mix.npy", "kind_column": 3}, "between": {"first": 2, "other": 0}, "precision": "fp64"}
    for output, more in (("condensed", {}), ("threshold", {"threshold": 0.1}), ("topk", {"k": 4}),
                         ("histogram", {"range": [0, 0.3], "bins": 12})):
        keys = {"function": "euclidean", "output": output, **more}
        one, other = results({**mix, **keys}, ranks), results(two(x[a], x[b], **keys))
        for name in other:
            check(one[name].tobytes() == other[name].tobytes(), f"{output}: {name} differs")
        if output != "histogram":
            check(np.array_equal(one["points_first"], a) and np.array_equal(one["points_other"], b), "points")


def empty_case():
    """One of the sets has no points."""
    for n, m in ((0, 5), (5, 0), (0, 0)):
        for output in ("condensed", "threshold", "topk", "histogram"):
            more = {"threshold": {"threshold": 1}, "histogram": {"range": [0, 1]}}.get(output, {})
            tree = {"function": "euclidean", "output": output, "generator": {"kind": "uniform", "n": n},
                    "other": {"generator": {"kind": "uniform", "n": m}}, **more}
            if output == "topk" and m > 0:
                tree["k"] = 3
            out = results(tree)
            if output == "condensed":
                check(out["distances"].shape == (n, m), "shape")


def refused_case():
    base = {"function": "euclidean", "generator": {"kind": "uniform", "n": 50}}
    other = {"generator": {"kind": "uniform", "n": 5}}
    for keys, words in (
            ({"output": "square", "other": other}, "condensed gives the matrix of two"),
            ({"output": "condensed", "other": other, "map": "bb"}, "a rectangle"),
            ({"output": "topk", "other": other, "k": 6}, "50 points have 5 each"),
            ({"output": "topk", "other": {"generator": {"kind": "uniform", "n": 5, "d": 2}}}, "2 dimensions"),
            ({"output": "topk", "other": {"generator": {"kind": "plummer", "n": 5, "clusters": 3}}}, "clusters"),
            ({"output": "topk", "other": {"input": {"file": "none.csv"}}}, "none.csv"),
            ({"output": "topk", "other": {"generator": {"n": 5}}}, "exactly one"),
            ({"output": "topk", "between": {"first": 1, "other": 2}}, "no kinds"),
            ({"output": "topk", "between": {"first": 1}}, "first and other"),
            ({"output": "topk", "between": {"first": 1, "other": 2}, "other": other}, "already"),
            ({"output": "histogram", "box": [1, 1, 1], "range": [0, 0.6], "other": other}, "every edge at least 1.2"),
            ({"output": "forces", "function": "gravity", "other": other}, "of one set")):
        deck = suite.deck("bad.yaml", {"family": "tri", "tri": {**base, **keys}})
        run = suite.run(["run", deck, "-o", suite.path("bad.h5")])
        check(run.status == 2 and words in run.err and "bad.yaml:" in run.err, f"'{words}' expected: {run.tail()}")


turn = 0
for sizes in SIZES:
    for d in (1, 3, 6):
        turn += 1
        ranks = (None, 2, 3, 5)[turn % 4]
        function = ("euclidean", "manhattan", "sqeuclidean", "chebyshev")[turn // 2 % 4]
        if suite.fast and turn % 3 == 0:
            continue
        suite.case(f"matrix {sizes}, {d} dimensions, {function}, {ranks or 1} ranks", matrix_case, function, d, sizes,
                   ranks)
        suite.case(f"cut-offs {sizes}, {d} dimensions, {ranks or 1} ranks", cuts_case, d, sizes, ranks,
                   ("near", "all")[turn % 2])
suite.case("near and all", equal_case, "euclidean", 3)
suite.case("near and all, haversine", equal_case, "haversine", 2)
suite.case("near and all, overlap", equal_case, "overlap", None)
suite.case("periodic", periodic_case, 3)
suite.case("products", product_case, 2)
suite.case("between two kinds", between_case, 3)
suite.case("no points", empty_case)
suite.case("refused", refused_case)
suite.end()
