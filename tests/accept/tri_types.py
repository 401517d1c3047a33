#!/usr/bin/env python3
"""Inner products, categories, and points of short number types, against numpy and scipy.

usage: tri_types.py TESELA [--fast] [ONLY]

Points of small whole numbers have inner products and sums of squares that floating point holds exactly:
all outputs must be numpy's to the last bit. Those of real numbers may be off by a rounding for each
dimension, of the sum of the sizes of the products.
"""
import harness
from harness import check, h5py, np
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, pdist

FUNCTIONS = ["inner"]
U = {"fp32": 2.0**-24, "fp64": 2.0**-53}
TYPE = {"fp32": np.float32, "fp64": np.float64}


def whole_points(n, d, seed, most=9):
    """Whole numbers, some points twice, one of zeros."""
    x = np.random.default_rng(seed).integers(-most, most + 1, (n, d)).astype(float)
    if n > 3:
        x[n // 2], x[n - 1] = x[0], 0
    return x


def run(function, x, precision="fp64", output="condensed", other=None, ranks=None, source=None, **keys):
    np.save(suite.path("x.npy"), x)
    section = {"function": function, "output": output, "precision": precision,
               "input": {"file": "x.npy", **(source or {})}, **keys}
    if other is not None:
        np.save(suite.path("y.npy"), other)
        section["other"] = {"input": {"file": "y.npy", **(source or {})}}
    with suite.result({"family": "tri", "tri": section}, ranks=ranks) as file:
        return {name: data[()] for name, data in file["results"].items()}


def same(got, wanted, what):
    check(np.array_equal(got, wanted), f"{what}: {got} for {wanted}")


def refused(table, words, source=None, **keys):
    np.save(suite.path("x.npy"), table)
    section = {"function": "inner", "output": "condensed", "input": {"file": "x.npy", **(source or {})}, **keys}
    deck = suite.deck("bad.yaml", {"family": "tri", "tri": section})
    done = suite.run(["run", deck, "-o", suite.path("bad.h5")])
    check(done.status == 2 and all(word in done.err for word in words), f"{words} expected: {done.tail()}")


# ------------------------------------------------------------ inner products


def real_case(n, d, precision, ranks):
    x = np.random.default_rng(n + d).normal(size=(n, d)).astype(np.float32).astype(float)
    got = run("inner", x, precision, ranks=ranks)["distances"]
    i, j = np.triu_indices(n, 1)
    bound = (d + 1) * U[precision] * (np.abs(x) @ np.abs(x).T)[i, j] + 1e-300
    off = np.abs(got - (x @ x.T)[i, j]) / bound
    check(got.dtype == TYPE[precision] and np.all(off <= 1), f"off by {off.max()} of the bound")


def matrices_case(n, d, precision, ranks):
    """Values of all pairs, of a set and of two; a point with itself is no zero."""
    x, y = whole_points(n, d, 1), whole_points(n + 5, d, 2)
    gram = x @ x.T
    same(run("inner", x, precision, "condensed", ranks=ranks)["distances"], gram[np.triu_indices(n, 1)], "condensed")
    same(run("inner", x, precision, "square", ranks=ranks)["distances"], np.tril(gram), "square")
    same(run("inner", x, precision, other=y, ranks=ranks)["distances"], x @ y.T, "two sets")
    same(run("inner", x, precision, "paired", other=y[:n], ranks=ranks)["values"], (x * y[:n]).sum(1), "paired")
    table = np.hstack([x, y[:n, :1]])
    source = {"columns": list(range(d)), "vector_columns": [d]}
    same(run("inner", table, precision, "sum", ranks=ranks, source=source)["sums"], gram @ y[:n, :1], "sum")


def nearest_case(n, d, k, precision, ranks):
    """The k largest, of equal ones the first, of a set and of two."""
    x, y = whole_points(n, d, 3, 2), whole_points(n + 9, d, 4, 2)
    for other, values in ((None, x @ x.T - np.diag(np.full(n, np.inf))), (y, x @ y.T)):
        order = np.argsort(-values, axis=1, kind="stable")[:, :k]
        got = run("inner", x, precision, "topk", other, ranks, k=k)
        same(got["neighbours"], order, "neighbours")
        same(got["values"], np.take_along_axis(values, order, 1), "values")
        check(not np.any(np.signbit(got["values"][got["values"] == 0])), "a zero has a sign")


def cut_case(n, d, cut, precision, ranks):
    """What is kept has values of at least the threshold, equal ones too."""
    x, y = whole_points(n, d, 5), whole_points(n - 7, d, 6)
    gram, keys = x @ x.T, {"precision": precision, "ranks": ranks, "threshold": cut}
    i, j = np.nonzero(np.triu(gram >= cut, 1))
    got = run("inner", x, output="threshold", **keys)
    same(got["pairs"], np.column_stack([i, j]), "pairs")
    same(got["values"], gram[i, j], "values")
    got, (i, j) = run("inner", x, output="threshold", other=y, **keys), np.nonzero(x @ y.T >= cut)
    same(got["pairs"], np.column_stack([i, j]), "pairs of two sets")
    same(got["values"], (x @ y.T)[i, j], "values of two sets")
    near = (gram >= cut) & ~np.eye(n, dtype=bool)
    same(run("inner", x, output="degree", **keys)["degree"], near.sum(1), "degree")
    got, (i, j) = run("inner", x, output="csr", **keys), np.nonzero(near)
    same(got["indptr"], np.concatenate([[0], near.sum(1).cumsum()]), "indptr")
    same(got["indices"], j, "indices")
    same(got["values"], gram[i, j], "values of rows")
    labels = run("inner", x, output="components", **keys)["labels"]
    truth = connected_components(near)[1]
    same(labels, np.unique(truth, return_inverse=True)[1], "components")
    bins = run("inner", x, precision, "histogram", ranks=ranks, bins=7, range=[-50.5, 60.5])
    same(bins["counts"], np.histogram(gram[np.triu_indices(n, 1)], bins["edges"])[0], "histogram")


def inner_refused_case():
    x = whole_points(12, 3, 7)
    for output in ("minimum", "maximum", "dbscan", "linkage"):
        refused(x, ["tri.output", output, "inner gives scores"], output=output,
                **({"threshold": 1} if output == "dbscan" else {}))
    refused(x, ["tri.search", "inner"], output="topk", k=2, search="near")
    refused(x * 1e19, ["so large", "fp32", "fp64"])
    refused(x * 1e-20, ["so small", "fp32", "fp64"])
    refused(x * 1e160, ["so large", "fp64", "unit of length"], precision="fp64")
    refused(x, ["tri.map", "not used"], map="bb")
    refused(np.where(x == 2, np.nan, x), ["x.npy", "row", "column"])


# ----------------------------------------------------------------- categories


def categories(n, d, dtype, seed):
    """Whole numbers over the range of a type, many of them equal or 0, some points twice, one of zeros."""
    rng, about = np.random.default_rng(seed), np.iinfo(dtype)
    few = np.array([0, 0, 1, 2, about.min, about.max, about.max - 1], dtype)
    x = np.where(rng.random((n, d)) < 0.7, rng.choice(few, (n, d)), rng.integers(about.min, about.max, (n, d), dtype))
    x[n // 2], x[n - 1] = x[0], 0
    return x


def categories_case(function, n, d, dtype, precision, ranks):
    """Shares of exact counts: scipy's to the last bit, in all outputs that look at values."""
    x, y = categories(n, d, dtype, 8), categories(n + 3, d, dtype, 9)
    v, t = pdist(x, function), cdist(x, y, function)
    v, t = np.nan_to_num(v).astype(TYPE[precision]), np.nan_to_num(t).astype(TYPE[precision])
    same(run(function, x, precision, ranks=ranks)["distances"], v, "condensed")
    same(run(function, x, precision, other=y, ranks=ranks)["distances"], t, "two sets")
    order = np.argsort(t, axis=1, kind="stable")[:, :5]
    got = run(function, x, precision, "topk", y, ranks, k=5)
    same(got["neighbours"], order, "neighbours")
    same(got["values"], np.take_along_axis(t, order, 1), "values")
    cut = float(np.median(v))
    got = run(function, x, precision, "threshold", ranks=ranks, threshold=cut)
    i, j = np.triu_indices(n, 1)
    same(got["pairs"], np.column_stack([i, j])[v <= cut], "pairs")
    same(got["values"], v[v <= cut], "values within")
    tree = run(function, x, precision, "linkage", ranks=ranks)["linkage"]
    same(tree[:, 2], linkage(v.astype(float), "single")[:, 2], "linkage")


def sources_case(function):
    """The same bytes as NPY in both orders, as HDF5, as text."""
    x = categories(23, 9, np.uint8, 10)
    wanted = pdist(x, function)
    np.save(suite.path("f.npy"), np.asfortranarray(x))
    with h5py.File(suite.path("x.h5"), "w") as file:
        file["x"] = x
    np.savetxt(suite.path("x.csv"), x, "%d", ",")
    for source in ({"file": "f.npy"}, {"file": "x.h5", "dataset": "x"}, {"file": "x.csv"}):
        same(run(function, x, source=source)["distances"], wanted, str(source))


def truths_case(precision):
    """One number that is no truth changes jaccard's value as scipy has it, and only of its own pairs."""
    x = (np.random.default_rng(11).random((30, 70)) < 0.5).astype(float)
    x[4, 7] = 1
    for number in (1, 2, -1, 0.5):
        x[4, 7] = number
        same(run("jaccard", x, precision)["distances"], pdist(x, "jaccard").astype(TYPE[precision]), f"{number}")


def categories_refused_case():
    x = categories(12, 3, np.int64, 12) >> 10
    x[3, 1] = 2**24 + 1
    for function in ("hamming", "jaccard"):
        refused(x, ["tri.input.file", "whole number", "fp64"], function=function)
        refused(np.array([[0], [2**24], [2**24 + 1]]), ["point 2", "16777217"], function=function)
    refused(np.full((3, 4096), 2), ["tri.precision", "4095", "4096", "fp64"], function="jaccard")
    same(run("jaccard", np.vstack([np.full((2, 4095), 2), np.full((1, 4095), 3)]), "fp32")["distances"], [0, 1, 1], "d")
    refused(np.array([[1, 2**53 + 1]]), ["x.npy", "row 0", "column 1", "double"], function="hamming")


if __name__ == "__main__":
    suite = harness.Suite(__doc__, jobs=3)
    for turn, (n, d) in enumerate([(37, 1), (50, 3), (41, 5), (130, 17), (90, 301), (2, 4)]):
        each = ("fp32", "fp64")[turn % 2]
        if suite.fast and turn % 2 == 0:
            continue
        suite.case(f"inner {n} {d} {each}", real_case, n, d, each, 1 + turn % 3)
        suite.case(f"inner matrices {n} {d} {each}", matrices_case, n, d, each, 1 + turn % 3)
    for turn, (n, d, k) in enumerate([(61, 2, 4), (70, 6, 69), (1100, 3, 1040), (300, 20, 9)]):
        suite.case(f"inner nearest {n} {d} {k}", nearest_case, n, d, k, ("fp32", "fp64")[turn % 2], 1 + turn % 3)
    for turn, (n, d, cut) in enumerate([(60, 2, 12), (61, 7, 0), (64, 16, -20.5)]):
        suite.case(f"inner cut {n} {d} {cut}", cut_case, n, d, cut, ("fp32", "fp64")[turn % 2], 1 + turn % 3)
    suite.case("inner refused", inner_refused_case)
    for turn, (n, d) in enumerate([(37, 1), (50, 3), (41, 16), (60, 133), (45, 1025)]):
        for k, function in enumerate(("hamming", "jaccard")):
            dtype = (np.uint8, np.int8, np.int16, np.uint16)[(turn + k) % 4]
            each = ("fp32", "fp64")[(turn + k) % 2]
            suite.case(f"{function} {n} {d} {dtype.__name__}", categories_case, function, n, d, dtype, each,
                       1 + (turn + k) % 3)
    suite.case("hamming int32", categories_case, "hamming", 40, 6, np.int32, "fp64", 2)
    for function in ("hamming", "jaccard"):
        suite.case(f"{function} sources", sources_case, function)
    for each in ("fp32", "fp64"):
        suite.case(f"jaccard, one number, {each}", truths_case, each)
    suite.case("categories refused", categories_refused_case)
    suite.end()
