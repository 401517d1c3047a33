#!/usr/bin/env python3
"""Two sets of points against scipy: matrices, pairs within a threshold, neighbours, counts, and numbers of each row.

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


def cloud(seed, n, kind, d=3):
    """Points on a coarse grid coincide within a set and between the sets, and have equal distances."""
    rng = np.random.default_rng(seed)
    if kind == "grid":
        return rng.integers(0, 4, (n, d)).astype(float)
    return points(seed, n, d) if kind == "clusters" else rng.random((n, d)).astype(np.float32).astype(float)


def rows_case(kind, sizes, ranks, search, precision="fp64"):
    """A number or two, or a list, of each point of the first set."""
    a, b = cloud(11, sizes[0], kind), cloud(12, sizes[1], kind)
    m = cdist(a, b)
    cut = float(np.quantile(m, 0.1)) if kind != "grid" else 1.0
    base = {"function": "euclidean", "precision": precision}
    out = results(two(a, b, **base, output="degree", threshold=cut, search=search), ranks)
    check(out["degree"].shape == (sizes[0],) and (out["degree"] == (m <= cut).sum(1)).all(), "degree")
    out = results(two(a, b, **base, output="csr", threshold=cut, search=search), ranks)
    inside = m <= cut
    check(np.array_equal(out["indptr"], np.r_[0, np.cumsum(inside.sum(1))]), "indptr")
    check(np.array_equal(out["indices"], np.nonzero(inside)[1]), "indices")
    near_to(out["values"], m[inside], "values of csr", 1e-13 if precision == "fp64" else 1e-6)
    for output, best in (("minimum", np.argmin), ("maximum", np.argmax)):
        more = {"search": search} if output == "minimum" else {}
        out = results(two(a, b, **base, output=output, **more), ranks)
        near_to(out["values"], np.take_along_axis(m, best(m, 1)[:, None], 1)[:, 0], output,
                1e-13 if precision == "fp64" else 1e-6)
        check((out["neighbours"] == best(m, 1)).all(), f"{output}: other points, of equal ones not the first")


def alone_case(ranks):
    """Sets far from each other: empty lists; and only some rows have neighbours."""
    a, b = cloud(13, 300, "random"), 5 + cloud(14, 170, "random")
    b[-3:] = a[[7, 7, 250]]
    out = results(two(a, b, function="euclidean", output="csr", threshold=1e-6, search="near"), ranks)
    check(np.array_equal(out["indices"], [167, 168, 169]) and (out["values"] == 0).all(), "entries")
    wanted = np.zeros(301, int)
    wanted[8:] += 2
    wanted[251:] += 1
    check(np.array_equal(out["indptr"], wanted), "indptr")
    out = results(two(a, b[:-3], function="euclidean", output="csr", threshold=1, search="all"), ranks)
    check(out["indices"].size == 0 and not out["indptr"].any(), "no entries")


def boxed_case(ranks):
    """Nearest images: scipy's trees."""
    rng = np.random.default_rng(15)
    edges = np.array([1.0, 1.5, 1.25])
    a, b = ((rng.random((n, 3)) * edges).astype(np.float32).astype(float) for n in (900, 2100))
    first, other = cKDTree(a, boxsize=edges), cKDTree(b, boxsize=edges)
    base = {"function": "euclidean", "box": edges.tolist()}
    for search in ("near", "all"):
        out = results(two(a, b, **base, output="degree", threshold=0.15, search=search), ranks)
        check(np.array_equal(out["degree"], [len(x) for x in first.query_ball_tree(other, 0.15)]), "degree")
        out = results(two(a, b, **base, output="minimum", search=search), ranks)
        values, which = other.query(a)
        near_to(out["values"], values, "nearest images")
        check((out["neighbours"] == which).all(), "other images")


def swapped_case():
    """Columns of the one are rows of the other: csr is the transpose, degree its column sums."""
    import scipy.sparse
    a, b = cloud(16, 700, "clusters"), cloud(17, 900, "clusters")
    forth, back = (results(two(*sets, function="manhattan", output="csr", threshold=0.2)) for sets in ((a, b), (b, a)))
    matrix, other = (scipy.sparse.csr_matrix((o["values"], o["indices"], o["indptr"]), shape)
                     for o, shape in ((forth, (700, 900)), (back, (900, 700))))
    check(matrix.nnz > 0 and (matrix != other.T).nnz == 0, "not the transpose")
    degree = results(two(b, a, function="manhattan", output="degree", threshold=0.2))["degree"]
    check(np.array_equal(degree, np.diff(matrix.tocsc().indptr)), "degree of the other set")


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
    for output, cut in zip(("threshold", "topk", "histogram", "degree", "csr", "minimum"), (*keys, keys[0], keys[0], {})):
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
    m = cdist(a, b, "cosine")
    near_to(results(two(a, b, function="cosine", output="sum"), ranks)["sums"][:, 0], m.sum(1), "sums", 1e-10)
    far = results(two(a, b, function="cosine", output="maximum"), ranks)["neighbours"]
    check(np.array_equal(far, m.argmax(1)), "farthest by products")
    cut = float(np.quantile(m, 0.05)) + 1e-9
    near = results(two(a, b, function="cosine", output="csr", threshold=cut), ranks)
    check(np.array_equal(near["indices"], np.nonzero(m <= cut)[1]), "csr of products")


def between_case(ranks):
    """Two kinds of one file: what the kinds' points in two files give, and which points they are."""
    rng = np.random.default_rng(10)
    x, kinds = points(7, 900, 3), rng.integers(0, 3, 900)
    np.save(suite.path("mix.npy"), np.column_stack([x, kinds]))
    a, b = np.flatnonzero(kinds == 2), np.flatnonzero(kinds == 0)
    mix = {"input": {"file": "mix.npy", "kind_column": 3}, "between": {"first": 2, "other": 0}, "precision": "fp64"}
    for output, more in (("condensed", {}), ("threshold", {"threshold": 0.1}), ("topk", {"k": 4}),
                         ("histogram", {"range": [0, 0.3], "bins": 12}), ("degree", {"threshold": 0.1}), ("minimum", {}),
                         ("maximum", {}), ("csr", {"threshold": 0.1}), ("sum", {})):
        keys = {"function": "euclidean", "output": output, **more}
        one, other = results({**mix, **keys}, ranks), results(two(x[a], x[b], **keys))
        for name in other:
            check(one[name].tobytes() == other[name].tobytes(), f"{output}: {name} differs")
        if output != "histogram":
            check(np.array_equal(one["points_first"], a) and np.array_equal(one["points_other"], b), "points")


def empty_case():
    """One of the sets has no points."""
    for n, m in ((0, 5), (5, 0), (0, 0)):
        for output in ("condensed", "threshold", "topk", "histogram", "degree", "csr", "minimum", "maximum", "sum"):
            more = {"histogram": {"range": [0, 1]}} | dict.fromkeys(("threshold", "degree", "csr"), {"threshold": 1})
            more = more.get(output, {})
            tree = {"function": "euclidean", "output": output, "generator": {"kind": "uniform", "n": n},
                    "other": {"generator": {"kind": "uniform", "n": m}}, **more}
            if output == "topk" and m > 0:
                tree["k"] = 3
            out = results(tree)
            if output == "condensed":
                check(out["distances"].shape == (n, m), "shape")
            if output in ("degree", "sum"):
                numbers = out[{"sum": "sums"}.get(output, output)]
                check(numbers.shape[0] == n and not numbers.any(), "numbers of rows without columns")
            if output in ("minimum", "maximum"):
                check(out["neighbours"].size == out["values"].size == 0, "a nearest point of none")
            if output == "csr":
                check(np.array_equal(out["indptr"], np.zeros(n + 1)), "indptr")


def refused_case():
    base = {"function": "euclidean", "generator": {"kind": "uniform", "n": 50}}
    other = {"generator": {"kind": "uniform", "n": 5}}
    for keys, words in (
            ({"output": "square", "other": other}, "condensed gives the matrix of two"),
            ({"output": "components", "threshold": 1, "other": other}, "components is of one set"),
            ({"output": "dbscan", "threshold": 1, "other": other}, "dbscan is of one set"),
            ({"output": "linkage", "other": other}, "linkage is of one set"),
            ({"output": "linkage", "between": {"first": 1, "other": 2}}, "linkage is of one set"),
            ({"output": "degree", "other": other}, "needs the key threshold"),
            ({"output": "csr", "threshold": 1, "self": True, "other": other}, "not used by output csr"),
            ({"output": "maximum", "function": "inner", "other": other}, "is of distances"),
            ({"output": "condensed", "other": other, "map": "bb"}, "a rectangle"),
            ({"output": "topk", "other": other, "k": 6}, "50 points have 5 each"),
            ({"output": "topk", "other": {"generator": {"kind": "uniform", "n": 5, "d": 2}}}, "2 dimensions"),
            ({"output": "topk", "other": {"generator": {"kind": "plummer", "n": 5, "clusters": 3}}}, "clusters"),
            ({"output": "topk", "other": {"input": {"file": "none.csv"}}}, "none.csv"),
            ({"output": "topk", "other": {"generator": {"n": 5}}}, "exactly one"),
            ({"output": "topk", "between": {"first": 1, "other": 2}}, "no kinds"),
            ({"output": "topk", "between": {"first": 1}}, "first and other"),
            ({"output": "topk", "between": {"first": 1, "other": 2}, "other": other}, "already"),
            ({"output": "histogram", "box": [1, 1, 1], "range": [0, 0.6], "other": other}, "every edge at least 1.2")):
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
for number, (kind, sizes) in enumerate([(k, s) for k in ("random", "clusters", "grid") for s in SIZES]):
    if suite.fast and number % 3 == 0:
        continue
    ranks, search = (3, None, 5, 2)[number % 4], ("all", "near")[number // 2 % 2]
    suite.case(f"rows, {kind}, {sizes}, {ranks or 1} ranks, {search}", rows_case, kind, sizes, ranks, search)
suite.case("rows, one precision less", rows_case, "grid", (500, 777), 2, "near", "fp32")
suite.case("rows alone", alone_case, 3)
suite.case("rows in a box", boxed_case, 2)
suite.case("rows and columns swapped", swapped_case)
suite.case("near and all", equal_case, "euclidean", 3)
suite.case("near and all, haversine", equal_case, "haversine", 2)
suite.case("near and all, overlap", equal_case, "overlap", None)
suite.case("periodic", periodic_case, 3)
suite.case("products", product_case, 2)
suite.case("between two kinds", between_case, 3)
suite.case("no points", empty_case)
suite.case("refused", refused_case)
suite.end()
