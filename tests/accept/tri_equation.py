#!/usr/bin/env python3
"""Equations of decks and sums over all points against numpy: values, order, sums, forces, ranks, bad equations.

usage: tri_equation.py TESELA [--fast] [ONLY]
"""
import harness
from harness import check, h5py, np
from scipy.spatial.distance import cdist, pdist
from scipy.special import erfc

suite = harness.Suite(__doc__, jobs=2)
N = 700
RNG = np.random.default_rng(11)
X = RNG.random((N, 3))
Q = RNG.normal(size=N)
V = RNG.normal(size=(N, 2))
DX = X[:, None] - X[None]
R2 = (DX ** 2).sum(-1)
R = np.sqrt(R2)
QI, QJ = Q[:, None], Q[None]
UPPER = np.triu_indices(N, 1)
TABLE = "points.csv"
LIMIT = {"fp32": 3e-6, "fp64": 3e-14}


def points():
    np.savetxt(suite.path(TABLE), np.c_[X, Q, V], delimiter=",", fmt="%.17g")


def tree(value, output, precision="fp64", symmetric=True, more=None, **tri):
    source = {"file": TABLE, "columns": [0, 1, 2], **tri.pop("input", {})}
    equation = {"value": f'"{value}"', "symmetric": symmetric, "parameters": [{"name": "s", "value": 0.2}],
                "quantities": [{"name": "q", "column": 3}], **(more or {})}
    return {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
            "tri": {"function": equation, "output": output, "precision": precision,
                    "input": source, **tri}}


def out(deck, ranks=None):
    points()
    with suite.result(deck, ranks=ranks) as file:
        return harness.datasets(file)


def close(got, truth, precision, what):
    check(got.shape == truth.shape, f"{what}: shape {got.shape}")
    off = np.abs(got - truth).max() / np.abs(truth).max()
    check(off < LIMIT[precision], f"{what}: off by {off:.2g}")


# Expressions of every operation and their truth.
EXPRESSIONS = {
    "exp(-r2 / (2 * s * s)) * q_i * q_j": lambda: np.exp(-R2 / 0.08) * QI * QJ,
    "sum(k = 0 .. d - 1 : abs(dx[k]))": lambda: np.abs(DX).sum(-1),
    "max(k = 0 .. d - 1 : dx[k] * dx[k])": lambda: (DX ** 2).max(-1),
    "min(abs(dx[0]), abs(dx[1]), s) + 1 / 2": lambda: np.minimum(np.abs(DX[..., :2]).min(-1), 0.2) + 0.5,
    "r < 0.3 && !(r <= 0.1) || q_i + q_j > 2 ? pow(r, 3) : log(1 + r)":
        lambda: np.where(((R < 0.3) & (R > 0.1)) | (QI + QJ > 2), R ** 3, np.log1p(R)),
    "sqrt(x_i[0] * x_j[0]) / (1 + r2) - pow(1 + r, -5)":
        lambda: np.sqrt(np.outer(X[:, 0], X[:, 0])) / (1 + R2) - (1 + R) ** -5.0,
    "q_i * q_j * (1 - erf(r / s)) / (s + r) + cos(40 * dx[0]) * sin(r2 / s)":
        lambda: QI * QJ * erfc(R / 0.2) / (0.2 + R) + np.cos(40 * DX[..., 0]) * np.sin(R2 / 0.2),
    "(q_i - q_j) * (q_i - q_j) * (r > s) + len(x_i)": lambda: (QI - QJ) ** 2 * (R > 0.2) + 3,
}


def expression_case(text, precision):
    truth = EXPRESSIONS[text]()
    close(out(tree(text, "condensed", precision))["distances"], truth[UPPER], precision, "condensed")
    square = out(tree(text, "square", precision))["distances"]
    close(square, np.tril(truth), precision, "square")
    bare = out(tree(text, "square", precision, more={"diagonal": False}))["distances"]
    check((np.diag(bare) == 0).all() and (np.tril(bare, -1) == np.tril(square, -1)).all(), "diagonal: no")


def outputs_case(precision):
    """The outputs of built-in functions, of values that condensed gives."""
    text = "r + abs(q_i - q_j) / 8"
    values = out(tree(text, "condensed", precision))["distances"]
    full = np.full((N, N), np.inf, values.dtype)
    full[UPPER] = values
    full.T[UPPER] = values
    near = out(tree(text, "topk", precision, k=9))
    order = np.argsort(full, 1, kind="stable")[:, :9]
    check((near["neighbours"] == order).all(), "other neighbours")
    check((near["values"] == np.take_along_axis(full, order, 1)).all(), "other values of neighbours")
    cut = out(tree(text, "threshold", precision, threshold=0.2))
    kept = values <= values.dtype.type(0.2)
    check((cut["pairs"] == np.array(UPPER).T[kept]).all() and (cut["values"] == values[kept]).all(), "other pairs")
    counts = out(tree(text, "histogram", precision, bins=16, range=[0, 2]))["counts"]
    check((counts == np.histogram(values, 16, (0, 2))[0]).all(), "other counts")


def rows_case(precision, ranks):
    """Numbers and lists of each point, of a function that is not symmetric."""
    text = "r + (q_i > q_j ? s : 0)"
    full = out(tree(text, "topk", precision, False, k=N - 1), ranks)
    at = np.full((N, N), np.inf, full["values"].dtype)
    np.put_along_axis(at, full["neighbours"], full["values"], 1)
    close(at[~np.eye(N, dtype=bool)], (R + 0.2 * (QI > QJ))[~np.eye(N, dtype=bool)], precision, "values")
    inside = at <= at.dtype.type(0.25)
    check((out(tree(text, "degree", precision, False, threshold=0.25), ranks)["degree"] == inside.sum(1)).all(), "degree")
    kept = out(tree(text, "csr", precision, False, threshold=0.25), ranks)
    check(np.array_equal(kept["indices"], np.nonzero(inside)[1]) and np.array_equal(kept["values"], at[inside]), "csr")
    near = out(tree(text, "minimum", precision, False), ranks)
    check((near["neighbours"] == at.argmin(1)).all() and (near["values"] == at.min(1)).all(), "minimum")
    np.fill_diagonal(at, -np.inf)
    far = out(tree(text, "maximum", precision, False), ranks)
    check((far["neighbours"] == at.argmax(1)).all() and (far["values"] == at.max(1)).all(), "maximum")


def sum_case(precision, ranks):
    text = "exp(-r2 / (2 * s * s)) * q_i"
    K = np.exp(-R2 / 0.08) * QI
    both = out(tree(text, "sum", precision, False, input={"vector_columns": [4, 5]}), ranks)["sums"]
    close(both, K @ V, precision, "two vectors")
    for m in range(2):
        one = out(tree(text, "sum", precision, False, input={"vector_columns": [4 + m]}), ranks)["sums"]
        check((one[:, 0] == both[:, m]).all(), "one vector gives other bits than two")
    close(out(tree(text, "sum", precision, False), ranks)["sums"][:, 0], K.sum(1), precision, "ones")
    bare = out(tree("1 / r", "sum", precision, True, {"diagonal": False}), ranks)["sums"][:, 0]
    with np.errstate(divide="ignore"):
        close(bare, np.where(R > 0, 1 / R, 0).sum(1), precision, "without the diagonal")


def ranks_case():
    """The same bytes from any number of ranks, of sums and of forces."""
    for deck in (tree("exp(-r / s)", "sum", "fp32", input={"vector_columns": [4, 5]}),
                 tree("exp(-r2) * q_j", "forces", "fp32", False, {"gradient": '"-2 * dx[k] * exp(-r2) * q_j"'})):
        first = out(deck)
        for ranks in (2, 3, 5):
            other = out(deck, ranks)
            for name in first:
                check(first[name].tobytes() == other[name].tobytes(), f"{name} differs with {ranks} ranks")


def built_in_case(function, metric):
    deck = {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
            "tri": {"function": function, "output": "sum", "precision": "fp64",
                    "input": {"file": TABLE, "columns": [0, 1, 2], "vector_columns": [4, 5]}}}
    close(out(deck)["sums"], cdist(X, X, metric) @ V, "fp64", function)


def wide_case():
    """Matrix products of a built-in function, and more points than a block has."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2600, 20))
    np.save(suite.path("wide.npy"), x)
    deck = {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
            "tri": {"function": "cosine", "output": "sum", "precision": "fp64", "input": {"file": "wide.npy"}}}
    with suite.result(deck) as file:
        close(file["results/sums"][:, 0], cdist(x, x, "cosine").sum(1), "fp64", "cosine")


def forces_case(precision):
    got = out(tree("exp(-r2 / (2 * s * s)) * q_i * q_j", "forces", precision, True,
                   {"gradient": '"-dx[k] / (s * s) * exp(-r2 / (2 * s * s)) * q_i * q_j"'}))
    K = np.exp(-R2 / 0.08) * QI * QJ
    np.fill_diagonal(K, 0)
    close(got["forces"], (DX / 0.04 * K[..., None]).sum(1), precision, "forces")
    close(got["potential"], K.sum(1), precision, "potential")


def box_case(precision):
    edges = np.array([0.5, 0.625, 0.75])
    x = np.mod(X, edges)
    dx = x[:, None] - x[None]
    dx -= edges * np.round(dx / edges)
    truth = np.exp(-(dx ** 2).sum(-1) / 0.08) + dx[..., 2] ** 2
    got = out(tree("exp(-r2 / (2 * s * s)) + dx[2] * dx[2]", "condensed", precision, box=edges.tolist()))
    close(got["distances"], truth[UPPER], precision, "in a box")
    deck = tree("r", "threshold", precision, box=edges.tolist(), threshold=0.2)
    one = out(deck)
    deck["tri"] = {"function": "euclidean", "output": "threshold", "threshold": 0.2, "precision": precision,
                   "box": edges.tolist(), "input": {"file": TABLE, "columns": [0, 1, 2]}}
    other = out(deck)
    check(one["pairs"].tobytes() == other["pairs"].tobytes(), "r is not euclidean's with a box")
    check(one["values"].tobytes() == other["values"].tobytes(), "r is not euclidean's with a box")


def same_formula_case():
    """r is euclidean's distance, bit for bit; far points are counted from their middle."""
    for shift in (0, 4.5e6):
        np.savetxt(suite.path("far.csv"), X + shift, delimiter=",", fmt="%.17g")
        base = {"output": "condensed", "precision": "fp32", "input": {"file": "far.csv"}}
        one = {"family": "tri", "tri": {"function": {"value": "r", "symmetric": True}, **base}}
        with suite.result(one) as file:
            mine = file["results/distances"][()]
        with suite.result({"family": "tri", "tri": {"function": "euclidean", **base}}) as file:
            check(mine.tobytes() == file["results/distances"][()].tobytes(), "other bits than euclidean")
        check(np.abs(mine - pdist(X)).max() < 1e-6, "far points lost their distances")


def older_case():
    """function: equation beside a map equation is the same, and a line says so; so is a word in a map."""
    new = tree("q_i * q_j * r", "sum")
    old = {**new, "tri": {**new["tri"], "equation": new["tri"]["function"], "function": "equation"}}
    check(out(new)["sums"].tobytes() == out(old)["sums"].tobytes(), "other bytes")
    points()
    run = suite.run(["run", suite.deck("old.yaml", old), "-o", suite.path("old.h5"), "--overwrite"])
    check("is an older form of function: {value: ...}" in run.out + run.err, run.tail())
    word, inside = ({"family": "tri", "tri": {"function": f, "output": "condensed", "input": new["tri"]["input"]}}
                    for f in ("euclidean", {"name": "euclidean"}))
    check(out(word)["distances"].tobytes() == out(inside)["distances"].tobytes(), "a word is not its map")


# Deck changes and what the message has.
REFUSED = [
    (dict(value="exp(-r2 / sigma)"), ["function.value: column 11: unknown name 'sigma'", "^~~~~"]),
    (dict(value="exq(r)"), ["did you mean 'exp'?"]),
    (dict(value="exp(-r2"), ["the text ends; expected ')'"]),
    (dict(value="q_i * r", symmetric=True), ["function.symmetric: the value is not symmetric: of points ("]),
    (dict(value="r", symmetric=False, output="condensed"), ["output condensed is of unordered pairs"]),
    (dict(value="x_i[3]"), ["x_i[3] is outside: there are 3"]),
    (dict(value="pow(r, 0.5)"), ["a power is an integer", "exp(y * log(x))"]),
    (dict(value="r / (s - s)"), ["division by zero"]),
    (dict(value="x_i[q_i]"), ["an index is an integer; this is a real"]),
    (dict(value="i + r"), ["unknown name 'i'"]),
    (dict(value="r", more={"quantities": [{"name": "q", "column": 9}]}), ["column 9 is asked for, but it has 6 columns"]),
    (dict(value="r", more={"parameters": [{"name": "exp", "value": 1}]}), ["'exp' is a function of the language"]),
    (dict(value="r", more={"parameters": [{"name": "q_i", "value": 1}]}), ["given twice"]),
    (dict(value="exp(-r)", output="forces", more={"gradient": '"dx[k] / r * exp(-r)"'}),
     ["function.gradient: it is not the value's derivative"]),
    (dict(value="exp(-r)", output="forces"), ["need the key gradient"]),
    (dict(value="exp(-r)", output="sum", more={"gradient": '"dx[k]"'}), ["function.gradient: not used by output sum"]),
    (dict(value="r", output="dbscan", symmetric=True, threshold=1), ["function equation gives no output dbscan"]),
    (dict(value="r", output="sum", more={"name": "euclidean"}), ["function.value: not used by function euclidean"]),
    (dict(value="r", search="near", output="topk"), ["tri.search: not used by function equation"]),
]


def refused_case(keys, words):
    keys = {"output": "sum", "symmetric": False, **keys}
    points()
    run = suite.run(["run", suite.deck("bad.yaml", tree(**keys)), "-o", suite.path("bad.h5"), "--overwrite"])
    check(run.status == 2, f"status {run.status}: {run.tail()}")
    for word in words:
        check(word in run.err, f"no '{word}' in: {run.err}")


def values_case():
    """What is no number stops the run; without a compiler the message says so."""
    points()
    run = suite.run(["run", suite.deck("bad.yaml", tree("log(r - 9)", "sum")), "-o", suite.path("b.h5"), "--overwrite"])
    check(run.status == 3 and "NaN or infinity" in run.err, run.err)
    run = suite.run(["run", suite.deck("bad.yaml", tree("r + 0.123456", "sum")), "-o", suite.path("b.h5"),
                     "--overwrite"], env={"CC": "/nonexistent/cc"})
    check(run.status == 2 and "the equation must be compiled" in run.err, run.err)


for text in EXPRESSIONS:
    for precision in ("fp32", "fp64"):
        suite.case(f"{text}, {precision}", expression_case, text, precision)
for precision in ("fp32", "fp64"):
    suite.case(f"all outputs, {precision}", outputs_case, precision)
    suite.case(f"rows, {precision}", rows_case, precision, {"fp32": 3, "fp64": None}[precision])
    suite.case(f"sums, {precision}", sum_case, precision, None)
    suite.case(f"forces, {precision}", forces_case, precision)
    suite.case(f"a box, {precision}", box_case, precision)
suite.case("sums, 3 ranks", sum_case, "fp64", 3)
suite.case("any number of ranks", ranks_case)
suite.case("the distance of euclidean", same_formula_case)
suite.case("the older form", older_case)
for function, metric in (("euclidean", "euclidean"), ("sqeuclidean", "sqeuclidean"), ("manhattan", "cityblock"),
                         ("chebyshev", "chebyshev"), ("cosine", "cosine")):
    suite.case(f"sums of {function}", built_in_case, function, metric)
suite.case("sums of products", wide_case)
for number, (keys, words) in enumerate(REFUSED):
    suite.case(f"refused {number}: {keys['value']}", refused_case, keys, words)
suite.case("no values, no compiler", values_case)
suite.end()
