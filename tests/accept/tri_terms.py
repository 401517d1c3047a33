#!/usr/bin/env python3
"""Pair functions that are sums of other terms, and those of points moved and stretched, against scipy.

usage: tri_terms.py TESELA [--fast] [ONLY]

Values may differ by a few units in the last place for each dimension, and by what exp and log of 1.5 ulp
leave of a power (minkowski). Of truths a few units in the last place for whole rows of bits: one bit more would be
seen. The other outputs must be those of the matrix to the last bit.
"""
import harness
from harness import check, h5py, np
from scipy.cluster.hierarchy import linkage
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


def bits_case(function, n, d, precision, ranks):
    """Of counts, which are exact."""
    x = points(function, n, d, 100 * d + n)
    x[n // 2] = 0
    x[n // 3] = 1
    got = run(function, x, precision, ranks=ranks)["distances"]
    near_to(got, reference(function, x, None, None), function, 0, precision)


def packed_case(function, d, precision, ranks):
    """Eight dimensions a byte, from NPY and HDF5, of one set and of two, give what their numbers give."""
    x, y = (points(function, n, d, 3) != 0 for n in (41, 29))
    size = -(-d // 8) * 8
    wide_x, wide_y = (np.pad(z, ((0, 0), (0, size - d))).astype(float) for z in (x, y))
    bits_x, bits_y = np.packbits(x, axis=1), np.packbits(y, axis=1)
    wanted = run(function, wide_x, precision)["distances"]
    near_to(wanted, reference(function, wide_x, None, None), function, 0, precision)
    packed = {"function": function, "precision": precision}
    np.save(suite.path("bits.npy"), bits_x)
    np.save(suite.path("others.npy"), bits_y)
    with h5py.File(suite.path("bits.h5"), "w") as file:
        file["bits"] = bits_x
    for source in ({"file": "bits.npy"}, {"file": "bits.h5", "dataset": "bits"}):
        deck = {**packed, "output": "condensed", "input": {**source, "packed": True}}
        with suite.result({"family": "tri", "tri": deck}, ranks=ranks) as file:
            check(np.array_equal(file["results/distances"][()], wanted), f"packed {source}")
    deck = {**packed, "output": "condensed", "input": {"file": "bits.npy", "packed": True},
            "other": {"input": {"file": "others.npy", "packed": True}}}
    with suite.result({"family": "tri", "tri": deck}, ranks=ranks) as file:
        near_to(file["results/distances"][()], reference(function, wide_x, wide_y, None), function, 0, precision)


def sums_case(function, precision, ranks):
    """Of truths: value(i, j) times vectors, which are columns beside the coordinates."""
    x, rng = points(function, 150, 70, 11), np.random.default_rng(1)
    vectors = rng.integers(1, 9, (150, 2)).astype(float)
    whole = squareform(run(function, x, precision)["distances"]).astype(float)
    for columns in ({}, {"columns": list(range(70)), "vector_columns": [70, 71]}):
        np.save(suite.path("sum.npy"), np.hstack([x, vectors]) if columns else x)
        deck = {"function": function, "output": "sum", "precision": precision, "input": {"file": "sum.npy", **columns}}
        with suite.result({"family": "tri", "tri": deck}, ranks=ranks) as file:
            got = file["results/sums"][()]
        wanted = whole @ (vectors if columns else np.ones((150, 1)))
        check(np.allclose(got, wanted, rtol=100 * U[precision], atol=0), "sums")


def clusters_case(function, ranks):
    """Linkage and dbscan see the values of the matrix."""
    x = points(function, 60, 66, 5)
    v = run(function, x, "fp64")["distances"]
    tree = run(function, x, "fp64", "linkage", ranks=ranks)["linkage"]
    check(np.array_equal(tree[:, 2], linkage(v, "single")[:, 2]), "linkage")
    far = squareform(v) + np.where(np.eye(60) > 0, np.inf, 0)
    most = run(function, x, "fp64", "minimum", ranks=ranks)
    check(np.array_equal(most["neighbours"], far.argmin(1)) and np.array_equal(most["values"], far.min(1)), "minimum")
    most = run(function, x, "fp64", "maximum", ranks=ranks)
    far[np.eye(60) > 0] = -np.inf
    check(np.array_equal(most["neighbours"], far.argmax(1)) and np.array_equal(most["values"], far.max(1)), "maximum")


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
    packed = {"file": "x.npy", "packed": True}
    refused(np.full((5, 3), 255.0), "canberra", ["tri.input.packed", "not used"], input=packed)
    refused(np.array([[0.0, 255], [256, 7], [1, 2], [3, 4]]), "jaccard", ["point 1", "256 is no byte"], input=packed)
    refused(np.array([[0.0, 255], [7, 0.5], [1, 2], [3, 4]]), "yule", ["point 1", "0.5 is no byte"], input=packed)
    refused(np.ones((4, 2)), "dice", ["tri.other", "packed"], input=packed,
            other={"input": {"file": "x.npy"}})


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
    for k, d in enumerate((31, 32, 33, 63, 64, 65, 255, 257, 2048)):
        for turn, function in enumerate(TRUTHS):
            if suite.fast and (turn + k) % 3 > 0:
                continue
            precision = ("fp32", "fp64")[(turn + k) % 2]
            suite.case(f"{function} of {d} bits {precision}", bits_case, function, 67, d, precision, 1 + (turn + k) % 3)
    for k, function in enumerate(TRUTHS):
        precision = ("fp32", "fp64")[k % 2]
        suite.case(f"packed {function}", packed_case, function, (8, 64, 77, 130, 1024, 3)[k], precision, 1 + k % 3)
        if not suite.fast or k % 3 == 0:
            suite.case(f"sums of {function}", sums_case, function, precision, 1 + k % 3)
            suite.case(f"clusters of {function}", clusters_case, function, 1 + k % 3)
    for p in (0.7, 1, 3, 9.5):
        suite.case(f"minkowski of order {p}", matrix_case, "minkowski", 40, 4, "fp64", None, p)
    suite.case("given variances", variances_case)
    suite.case("refused", refused_case)
    suite.end()
