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


def compared(function, x):
    """What scipy is given: to jaccard, as each of its versions defines it, truths."""
    return x != 0 if function == "jaccard" else x


def categories_case(function, n, d, dtype, precision, ranks):
    """Shares of exact counts: scipy's to the last bit, in all outputs that look at values."""
    x, y = categories(n, d, dtype, 8), categories(n + 3, d, dtype, 9)
    v = pdist(compared(function, x), function)
    t = cdist(compared(function, x), compared(function, y), function)
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
    wanted = pdist(compared(function, x), function)
    np.save(suite.path("f.npy"), np.asfortranarray(x))
    with h5py.File(suite.path("x.h5"), "w") as file:
        file["x"] = x
    np.savetxt(suite.path("x.csv"), x, "%d", ",")
    for source in ({"file": "f.npy"}, {"file": "x.h5", "dataset": "x"}, {"file": "x.csv"}):
        same(run(function, x, source=source)["distances"], wanted, str(source))


def categories_refused_case():
    x = categories(12, 3, np.int64, 12) >> 10
    x[3, 1] = 2**24 + 1
    refused(x, ["tri.input.file", "whole number", "fp64"], function="hamming")
    refused(np.array([[0], [2**24], [2**24 + 1]]), ["point 2", "16777217"], function="hamming")
    refused(np.array([[1, 2**53 + 1]]), ["x.npy", "row 0", "column 1", "double"], function="hamming")


# ---------------------------------------------------------------- short types


def all_of(name):
    """All finite numbers of a type that are not negative, ascending: number k has the bits k."""
    if name == "fp16":
        return np.arange(0x7c00, dtype=np.uint16).view(np.float16).astype(float)
    return (np.arange(0x7f80, dtype=np.uint32) << 16).view(np.float32).astype(float)


def rounded(x, name):
    """The nearest of all numbers, of two the one with even bits."""
    table = all_of(name)
    above = np.clip(np.searchsorted(table, np.abs(x)), 1, len(table) - 1)
    low, high = np.abs(x) - table[above - 1], table[above] - np.abs(x)
    return np.copysign(table[np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)], x)


def hard_numbers(name, n, d, seed):
    """Reals, numbers halfway between two of the type and beside these, small and large ones."""
    rng, table = np.random.default_rng(seed), all_of(name)
    k = rng.integers(0, len(table) - 1, (5, n, d))
    half = (table[k[0]] + table[k[0] + 1]) / 2
    kinds = np.stack([rng.normal(size=(n, d)), half, half * (1 + 2.0**-40), half * (1 - 2.0**-40), table[k[1]]])
    x = kinds[rng.integers(0, 5, (n, d)), np.arange(n)[:, None], np.arange(d)] * rng.choice([-1, 1], (n, d))
    x = np.where(np.abs(x) < (1e4 if name == "fp16" else 1e15), x, rng.normal(size=(n, d)))
    x[0, :2] = (65504, 2.0**-25) if name == "fp16" else (1 + 2.0**-8 + 2.0**-40, 2.0**-134 * 1.5)
    return x


def short_case(name, function, output, ranks, **keys):
    """All bits are those of fp32 with the rounded points."""
    x, y = hard_numbers(name, 60, 5, 13), hard_numbers(name, 50, 5, 14)
    other = {"other": y} if output in ("topk", "paired") else {}
    if output == "paired":
        x = x[:50]
    got = run(function, x, name, output, ranks=ranks, **other, **keys)
    wanted = run(function, rounded(x, name), "fp32", output, ranks=ranks,
                 **{k: rounded(v, name) for k, v in other.items()}, **keys)
    check(got.keys() == wanted.keys() and "drawn" not in got, f"{got.keys()}")
    for each, values in wanted.items():
        check(values.dtype == got[each].dtype and values.tobytes() == got[each].tobytes(), f"{each} differ")
    raw = run(function, x, "fp32", output, ranks=ranks, **other, **keys)
    changed = any(raw[each].tobytes() != values.tobytes() for each, values in wanted.items())
    check(changed or output == "histogram", "rounding changes nothing")


def halves_case():
    """Points of float16 in the file are what they are, in both byte orders."""
    x = np.random.default_rng(15).normal(size=(40, 7)).astype(np.float16)
    wanted = run("sqeuclidean", x.astype(float), "fp32")["distances"]
    for table in (x, x.astype(">f2"), np.asfortranarray(x)):
        for precision in ("fp16", "fp32"):
            same(run("sqeuclidean", table, precision)["distances"], wanted, f"{table.dtype} {precision}")


def bits_case():
    """bfloat16 as its bits, of one set and of two, NPY and HDF5."""
    rng = np.random.default_rng(16)
    bits = (rng.integers(0, 0x5000, (2, 30, 4)) + rng.integers(0, 2, (2, 30, 4)) * 0x8000).astype(np.uint16)
    x, y = (bits.astype(np.uint32) << 16).view(np.float32).astype(float)
    source = {"bfloat16": True}
    for precision in ("bf16", "fp32", "fp64"):
        wanted = run("euclidean", x, precision, other=y)["distances"]
        same(run("euclidean", bits[0], precision, other=bits[1], source=source)["distances"], wanted, precision)
    with h5py.File(suite.path("bits.h5"), "w") as file:
        file["x"] = bits[0]
    got = run("chebyshev", x, source={**source, "file": "bits.h5", "dataset": "x"})["distances"]
    same(got, pdist(x, "chebyshev"), "HDF5")


def bytes_case(d, dtype, ranks):
    """Sums of bytes are those of whole numbers."""
    rng = np.random.default_rng(d)
    x = rng.integers(-128, 128, (50, d)).astype(dtype)
    x[0], x[1], x[2] = -128, 127, 0
    whole, (i, j) = x.astype(np.int64), np.triu_indices(50, 1)
    squares = ((whole[i] - whole[j]) ** 2).sum(1)
    if d <= 1024:
        same(run("inner", x, "int8", ranks=ranks)["distances"].astype(int), (whole[i] * whole[j]).sum(1), "inner")
    if d <= 258:
        same(run("sqeuclidean", x, "int8", ranks=ranks)["distances"].astype(int), squares, "sqeuclidean")
        same(run("euclidean", x, "int8", ranks=ranks)["distances"], np.sqrt(squares.astype(np.float32)), "euclidean")
    same(run("manhattan", x, "int8", ranks=ranks)["distances"].astype(int), np.abs(whole[i] - whole[j]).sum(1), "city")
    same(run("sqeuclidean", x, "fp64", ranks=ranks)["distances"].astype(int), squares, "fp64")


def short_refused_case():
    x = np.random.default_rng(17).normal(size=(9, 3))
    for number in (65504.01, -65520, 1e30):
        bad = x.copy()
        bad[4, 2] = number
        refused(bad, ["tri.input.file", "point 4, coordinate 2", "fp16", "65504"], precision="fp16")
    with_large = np.vstack([x, [[65504, -65504, 0]]])
    run("manhattan", with_large, "fp16")
    np.save(suite.path("y.npy"), bad)
    refused(x, ["tri.other.input.file", "point 4, coordinate 2"], precision="fp16", other={"input": {"file": "y.npy"}})
    refused(x * 3e38, ["bf16", "coordinate"], precision="bf16")
    for number in (128, -129, 0.5):
        refused(np.array([[1, 2], [3, number]]), ["point 1, coordinate 1", "int8", "whole"], precision="int8")
    wide = np.zeros((2, 1025))
    wide[:] = -128
    refused(wide, ["tri.precision", "16793600", "fp64"], precision="int8")
    wide[1] = 127
    refused(wide[:, :259], ["tri.precision", "16841475", "fp64"], precision="int8", function="sqeuclidean")
    same(run("minkowski", wide[:, :300], "int8")["distances"] > 0, [True], "minkowski")
    refused(x, ["bfloat16", "point 0, coordinate 0", "16 bits"], {"bfloat16": True})
    refused(np.full((3, 2), 0x7f80, np.uint16), ["no finite number"], {"bfloat16": True})
    refused(x != 0, ["tri.input.bfloat16", "not used"], {"bfloat16": True}, function="dice")
    refused(np.array([[1, np.inf]], np.float16), ["x.npy", "row 0", "column 1"], precision="fp16")
    refused(x.astype(complex), ["complex"], precision="fp16")
    refused(x, ["tri.precision", "fp8", "bf16"], precision="fp8")
    suite.write("a.fa", ">a\nACGT\n>b\nACG\n")
    refused(x, ["tri.precision", "sequences"], {"file": "a.fa"}, function="edit", precision="fp16")


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
    suite.case("categories refused", categories_refused_case)
    turns = [("inner", "condensed", {}), ("euclidean", "topk", {"k": 3}), ("cosine", "square", {}),
             ("manhattan", "threshold", {"threshold": 900}), ("inner", "topk", {"k": 4}),
             ("canberra", "csr", {"threshold": 4.5}),
             ("correlation", "sum", {}), ("chebyshev", "linkage", {}), ("seuclidean", "paired", {}),
             ("sqeuclidean", "histogram", {"range": [0, 500], "bins": 40})]
    for turn, (function, output, keys) in enumerate(turns):
        for k, each in enumerate(("fp16", "bf16")):
            if not suite.fast or (turn + k) % 2 == 0:
                suite.case(f"{each} {function} {output}", short_case, each, function, output, 1 + (turn + k) % 3,
                           **keys)
    suite.case("halves of a file", halves_case)
    suite.case("bits of bfloat16", bits_case)
    for turn, d in enumerate((1, 7, 258, 1024)):
        suite.case(f"bytes {d}", bytes_case, d, (np.int8, float, np.int16)[turn % 3], 1 + turn % 3)
    suite.case("short types refused", short_refused_case)
    suite.end()
