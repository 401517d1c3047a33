#!/usr/bin/env python3
"""Pair functions that are sums of other terms, and those of points moved and stretched, against scipy.

usage: tri_terms.py TESELA [--fast] [ONLY]

Values may differ by a few units in the last place for each dimension, and by what exp and log of 1.5 ulp
leave of a power (minkowski). The other outputs must be those of the matrix to the last bit.
"""
import harness
from harness import check, np
from scipy.spatial.distance import cdist, pdist, squareform

FUNCTIONS = ["seuclidean", "mahalanobis", "minkowski", "canberra", "braycurtis", "jensenshannon", "hamming", "jaccard",
             "dice", "russellrao", "rogerstanimoto", "sokalsneath", "yule"]
TRUTHS = ("jaccard", "dice", "russellrao", "rogerstanimoto", "sokalsneath", "yule")
U = {"fp32": 2.0**-24, "fp64": 2.0**-53}


def points(function, n, d, seed):
    """Points exact in fp32, of the kind that the function compares."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)).astype(np.float32).astype(float)
    if function in TRUTHS:
        return (rng.random((n, d)) < 0.4) * rng.integers(1, 4, (n, d)).astype(float)
    if function == "hamming":
        return np.round(x)
    if function in ("braycurtis", "jensenshannon"):
        x = np.abs(x) * (rng.random((n, d)) < 0.8)
        x[:, 0] += 0.25
        x[n // 2] = 2 * x[0]  # of the same shares
        return x
    return x * (rng.random((n, d)) < 0.8) if function == "canberra" else x


def reference(function, x, other, p):
    more = {"p": p} if p else {}
    if function in TRUTHS:
        x, other = x != 0, other if other is None else other != 0
    with np.errstate(all="ignore"):
        v = pdist(x, function, **more) if other is None else cdist(x, other, function, **more)
    return np.nan_to_num(v)  # 0 / 0 is 0


def run(function, x, precision="fp64", output="condensed", other=None, ranks=None, p=None, **keys):
    np.save(suite.path("x.npy"), x)
    section = {"function": {"name": function, "p": p} if p else function, "output": output, "precision": precision,
               "input": {"file": "x.npy"}, **keys}
    if other is not None:
        np.save(suite.path("y.npy"), other)
        section["other"] = {"input": {"file": "y.npy"}}
    with suite.result({"family": "tri", "tri": section}, ranks=ranks) as file:
        return {name: data[()] for name, data in file["results"].items()}


def near_to(got, wanted, function, d, precision):
    error = {"minkowski": 40, "mahalanobis": 400}.get(function, 8) * (d + 4) * U[precision]
    floor = 1e-3 if function == "jensenshannon" else 1e-6  # a root of what rounding leaves
    off = np.abs(got - wanted) / (np.abs(wanted) + floor)
    check(got.shape == wanted.shape and np.all(off <= error), f"off by {off.max()} of the value, not {error}")


def matrix_case(function, n, d, precision, ranks, p=None):
    x = points(function, n, d, 100 * d + n)
    got = run(function, x, precision, ranks=ranks, p=p)["distances"]
    near_to(got, reference(function, x, None, p), function, d, precision)


def two_case(function, ranks):
    x, y = points(function, 23, 5, 1), points(function, 31, 5, 2)
    got = run(function, x, other=y, ranks=ranks)["distances"]
    near_to(got, reference(function, x, y, None), function, 5, "fp64")


def outputs_case(function, precision, ranks):
    """All that is kept of the matrix is what it has."""
    x = points(function, 61, 6, 7)
    v = run(function, x, precision)["distances"]
    whole = squareform(v).astype(v.dtype)
    square = run(function, x, precision, "square", ranks=ranks)["distances"]
    check(np.array_equal(square, np.tril(whole)), "square")
    far = whole.astype(float) + np.where(np.eye(61) > 0, np.inf, 0)
    order = np.lexsort((np.tile(np.arange(61), (61, 1)), far), axis=1)[:, :4]
    top = run(function, x, precision, "topk", ranks=ranks, k=4)
    check(np.array_equal(top["neighbours"], order) and
          np.array_equal(top["values"], np.take_along_axis(whole, order, 1)), "topk")
    cut = float(np.median(v))
    kept = run(function, x, precision, "threshold", ranks=ranks, threshold=cut)
    i, j = np.triu_indices(61, 1)
    check(np.array_equal(kept["pairs"], np.column_stack([i, j])[v <= cut]) and
          np.array_equal(kept["values"], v[v <= cut]), "threshold")
    degree = run(function, x, precision, "degree", ranks=ranks, threshold=cut)["degree"]
    check(np.array_equal(degree, (far <= cut).sum(1)), "degree")
    top = float(v.max())
    bins = run(function, x, precision, "histogram", ranks=ranks, bins=9, range=[0, top + 1])
    check(np.array_equal(bins["counts"], np.histogram(v, bins["edges"])[0]), "histogram")


def variances_case():
    x = points("seuclidean", 40, 3, 5)
    given = [0.5, 2.0, 7.0]
    np.save(suite.path("x.npy"), x)
    section = {"function": {"name": "seuclidean", "variances": given}, "output": "condensed", "precision": "fp64",
               "input": {"file": "x.npy"}}
    with suite.result({"family": "tri", "tri": section}) as file:
        near_to(file["results/distances"][()], pdist(x, "seuclidean", V=given), "seuclidean", 3, "fp64")


def refused_case():
    x = points("canberra", 12, 3, 3)

    def refused(table, function, words, **keys):
        np.save(suite.path("x.npy"), table)
        deck = suite.deck("bad.yaml", {"family": "tri", "tri": {"function": function, "output": "topk", "k": 2,
                                                                "input": {"file": "x.npy"}, **keys}})
        done = suite.run(["run", deck, "-o", suite.path("bad.h5")])
        check(done.status == 2 and all(word in done.err for word in words), f"{words} expected: {done.tail()}")

    refused(x, "braycurtis", ["negative", "braycurtis"])
    refused(np.zeros((5, 3)), "jensenshannon", ["zero vector"])
    refused(x[:3], "mahalanobis", ["covariance", "inverse"])
    refused(np.column_stack([x, np.ones(12)]), "seuclidean", ["coordinate 3", "variance"])
    refused(np.column_stack([x, np.full(12, 0.7)]), "mahalanobis", ["coordinate", "variance"])
    refused(x * 1e200, "seuclidean", ["coordinate 0", "overflows"])
    refused(x, {"name": "euclidean", "p": 3}, ["tri.function.p", "not used"])
    refused(x, {"name": "minkowski", "p": 0}, ["tri.function.p", "0.001"])
    refused(x, {"name": "seuclidean", "variances": [1, 2]}, ["2 variances", "3 dimensions"])
    refused(x, "canberra", ["tri.search"], search="near")


if __name__ == "__main__":
    suite = harness.Suite(__doc__, jobs=3)
    for k, function in enumerate(FUNCTIONS):
        for turn, (n, d) in enumerate([(37, 1), (50, 3), (41, 17), (180, 130)]):
            precision = ("fp32", "fp64")[(turn + k) % 2]
            if suite.fast and (turn + k) % 2 == 0:
                continue
            suite.case(f"{function} {n} {d} {precision}", matrix_case, function, n, d, precision, 1 + (turn + k) % 3)
        suite.case(f"{function} of two sets", two_case, function, 2)
        if not suite.fast or k % 4 == 0:
            suite.case(f"outputs of {function}", outputs_case, function, ("fp32", "fp64")[k % 2], 1 + k % 3)
    for p in (0.7, 1, 3, 9.5):
        suite.case(f"minkowski of order {p}", matrix_case, "minkowski", 40, 4, "fp64", None, p)
    suite.case("given variances", variances_case)
    suite.case("refused", refused_case)
    suite.end()
