#!/usr/bin/env python3
"""Sums, equations and gravity of two sets against numpy: what sources at one place do at another.

usage: tri_fields.py TESELA [--fast] [ONLY]

Sources (the other set) have the charges, masses and vectors, targets (the first set) the results. 1, 2, 3 and 5 ranks,
sets of unlike sizes, clustered points, a periodic box, and decks that make no sense.
"""
import harness
from harness import check, np
from scipy.spatial.distance import cdist

suite = harness.Suite(__doc__, jobs=2)
SIZES = [(1, 1), (7, 1300), (1300, 7), (333, 450), (1000, 1), (130, 2049)]
LIMIT = {"fp32": 3e-6, "fp64": 3e-14}
EDGES = np.array([1.0, 1.5, 1.25])


def sets(n, m, clustered=False):
    """Coordinates, a quantity, and of the sources two vectors, too."""
    rng = np.random.default_rng(100 * n + m)
    a, b = (rng.random((size, 3)) * (1 if clustered else EDGES) for size in (n, m))
    if clustered:
        a, b = (x[np.arange(len(x)) // 40 * 40] + 0.01 * x for x in (a, b))
    return (a, rng.normal(size=n)), (b, rng.normal(size=m), rng.normal(size=(m, 2)))


def save(targets, sources):
    np.savetxt(suite.path("targets.csv"), np.column_stack(targets), delimiter=",", fmt="%.17g")
    np.savetxt(suite.path("sources.csv"), np.column_stack(sources), delimiter=",", fmt="%.17g")


def deck(function, output, precision="fp64", vectors=None, source=None, **more):
    target = {"file": "targets.csv", "columns": [0, 1, 2]}
    source = {"file": "sources.csv", "columns": [0, 1, 2], **(source or {})}
    if vectors:
        source["vector_columns"] = vectors
    return {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
            "tri": {"function": function, "output": output, "precision": precision, "input": target,
                    "other": {"input": source}, **more}}


def equation(value, **more):
    return {"value": f'"{value}"', "parameters": [{"name": "s", "value": 0.3}],
            "quantities": [{"name": "q", "column": 3}], **more}


def out(tree, ranks=None):
    with suite.result(tree, ranks=ranks) as file:
        return harness.datasets(file)


def close(got, truth, precision, what, factor=1):
    check(got.shape == truth.shape, f"{what}: shape {got.shape}, not {truth.shape}")
    off = np.abs(got - truth).max() / np.abs(truth).max()
    check(off < factor * LIMIT[precision], f"{what}: off by {off:.2g}")


def differences(a, b, boxed=False):
    dx = a[:, None] - b[None]
    return dx - EDGES * np.rint(dx / EDGES) if boxed else dx


def sum_case(sizes, ranks, precision, clustered):
    """K v of a kernel that is not symmetric, and of distances; two vectors are two times one."""
    (a, p), (b, q, v) = sets(*sizes, clustered)
    save((a, p), (b, q, v))
    K = np.exp(-cdist(a, b, "sqeuclidean") / 0.18) * p[:, None] + q[None]
    text = "exp(-r2 / (2 * s * s)) * q_i + q_j"
    both = out(deck(equation(text), "sum", precision, [4, 5]), ranks)["sums"]
    scale = np.abs(K) @ np.abs(v)
    check((np.abs(both - K @ v) <= LIMIT[precision] * scale.max()).all(), "K v")
    one = out(deck(equation(text), "sum", precision, [5]))["sums"]
    check((one[:, 0] == both[:, 1]).all(), "one vector gives other bits than two")
    plain = out(deck("euclidean", "sum", precision, [4, 5]), ranks)["sums"]
    check((np.abs(plain - cdist(a, b) @ v) <= LIMIT[precision] * scale.max()).all(), "distances times vectors")
    ones = out(deck("manhattan", "sum", precision), ranks)["sums"]
    close(ones[:, 0], cdist(a, b, "cityblock").sum(1), precision, "ones")


def columns_case(ranks):
    """Radii of both sets beside vectors of the sources alone; bits."""
    (a, p), (b, q, v) = sets(140, 333)
    save((a, np.abs(p)), (b, np.abs(q), v))
    tree = deck("overlap", "sum", vectors=[5, 4], source={"radius_column": 3})
    tree["tri"]["input"]["radius_column"] = 3
    gaps = cdist(a, b) - np.abs(p)[:, None] - np.abs(q)[None]
    sums = out(tree, ranks)["sums"]
    check(np.abs(sums - gaps @ v[:, ::-1]).max() < 1e-12 * (np.abs(gaps) @ np.abs(v)).max(), "gaps times vectors")
    rng = np.random.default_rng(3)
    x, y = (rng.random((n, 150)) < 0.3 for n in (90, 260))
    np.save(suite.path("x.npy"), x.astype(np.uint8))
    np.save(suite.path("y.npy"), y.astype(np.uint8))
    bits = {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
            "tri": {"function": "jaccard", "precision": "fp64", "input": {"file": "x.npy"}, "other": {"input": {"file": "y.npy"}}}}
    m = cdist(x, y, "jaccard")
    close(out({**bits, "tri": {**bits["tri"], "output": "sum"}}, ranks)["sums"][:, 0], m.sum(1), "fp64", "sums of bits")
    got = out({**bits, "tri": {**bits["tri"], "output": "csr", "threshold": 0.7}}, ranks)
    check(np.array_equal(got["indices"], np.nonzero(m <= 0.7)[1]), "csr of bits")


def ranks_case():
    """The same bytes from any number of ranks."""
    (a, p), (b, q, v) = sets(611, 777)
    save((a, p), (b, q, v))
    slope = {"gradient": '"-dx[k] / (r * r2) * q_j"'}
    for tree in (deck(equation("exp(-r / s) * q_i"), "sum", "fp32", [4, 5]), deck("euclidean", "sum", "fp32", [4, 5]),
                 deck(equation("q_j / r", **slope), "forces", "fp32"),
                 deck("gravity", "forces", "fp32", source={"columns": [0, 1, 2]}, mass=0.3, softening=0.01)):
        first = out(tree)
        for ranks in (2, 3, 5):
            other = out(tree, ranks)
            for name in first:
                check(first[name].tobytes() == other[name].tobytes(), f"{name} differs with {ranks} ranks")


def forces_case(ranks, precision, boxed):
    """Potential and field of charges at targets."""
    (a, p), (b, q, v) = sets(210, 640)
    save((a, p), (b, q, v))
    dx = differences(a, b, boxed)
    r2 = (dx ** 2).sum(-1) + 0.09
    law = equation("q_i * q_j / sqrt(r2 + s * s)",
                   gradient='"-q_i * q_j * dx[k] / ((r2 + s * s) * sqrt(r2 + s * s))"')
    got = out(deck(law, "forces", precision, **({"box": EDGES.tolist()} if boxed else {})), ranks)
    qq = p[:, None] * q[None]
    scale = (np.abs(qq) / r2).sum(1).max()
    off = np.abs(got["potential"] - (qq / np.sqrt(r2)).sum(1)).max() / scale
    check(off < LIMIT[precision], f"potential: off by {off:.2g}")
    off = np.abs(got["forces"] - (dx * (qq / r2 ** 1.5)[..., None]).sum(1)).max() / scale
    check(off < 3 * LIMIT[precision], f"forces: off by {off:.2g}")


def gravity_case(sizes, ranks, precision):
    (a, p), (b, q, v) = sets(*sizes)
    mass = np.abs(q)
    save((a, p), (b, mass, v))
    dx, eps2 = -differences(a, b), 0.02 ** 2
    r2 = (dx ** 2).sum(-1) + eps2
    more = {"softening": 0.02, "G": 2}
    for source, m in (({"mass_column": 3}, mass), ({}, np.full(sizes[1], 0.7))):
        got = out(deck("gravity", "forces", precision, source=source, **more, **({} if source else {"mass": 0.7})), ranks)
        close(got["potential"], -2 * (m / np.sqrt(r2)).sum(1), precision, "potential")
        scale = 2 * (m / r2).sum(1)
        pull = 2 * (dx * (m / r2 ** 1.5)[..., None]).sum(1)
        check((np.abs(got["accelerations"] - pull) <= 4 * LIMIT[precision] * scale[:, None]).all(), "accelerations")


def outputs_case(precision, ranks):
    """All outputs of a function that is not symmetric, of the values that the matrix has."""
    (a, p), (b, q, v) = sets(300, 410)
    save((a, p), (b, q, v))
    law = equation("r + q_j / 8 + (dx[0] > 0 ? s : 0)")
    m = out(deck(law, "condensed", precision), ranks)["distances"]
    close(m, cdist(a, b) + q[None] / 8 + 0.3 * (differences(a, b)[..., 0] > 0), precision, "matrix")
    near = out(deck(law, "topk", precision, k=9), ranks)
    order = np.argsort(m, 1, kind="stable")[:, :9]
    check((near["neighbours"] == order).all(), "other neighbours")
    check((near["values"] == np.take_along_axis(m, order, 1)).all(), "other values of neighbours")
    cut = out(deck(law, "threshold", precision, threshold=0.4), ranks)
    kept = m <= m.dtype.type(0.4)
    check((cut["pairs"] == np.argwhere(kept)).all() and (cut["values"] == m[kept]).all(), "other pairs")
    check((out(deck(law, "degree", precision, threshold=0.4), ranks)["degree"] == kept.sum(1)).all(), "degree")
    rows = out(deck(law, "csr", precision, threshold=0.4), ranks)
    check(np.array_equal(rows["indices"], np.nonzero(kept)[1]) and np.array_equal(rows["values"], m[kept]), "csr")
    far = out(deck(law, "maximum", precision), ranks)
    check((far["neighbours"] == m.argmax(1)).all() and (far["values"] == m.max(1)).all(), "maximum")
    counts = out(deck(law, "histogram", precision, bins=16, range=[0, 2]), ranks)["counts"]
    check((counts == np.histogram(m, 16, (0, 2))[0]).all(), "other counts")


def paired_case():
    (a, p), (b, q, v) = sets(222, 222)
    save((a, p), (b, q, v))
    got = out(deck(equation("q_i - q_j + r"), "paired"), 2)["values"]
    close(got, p - q + np.linalg.norm(a - b, axis=1), "fp64", "paired")


def kinds_case(ranks):
    """Two kinds of one file: vectors of the second kind count. With self: all three kinds of pairs, symmetric."""
    rng = np.random.default_rng(5)
    x, kind, v = rng.random((900, 3)), rng.integers(0, 3, 900), rng.normal(size=900)
    np.savetxt(suite.path("mix.csv"), np.column_stack((x, kind, v)), delimiter=",", fmt="%.17g")
    one, other = kind == 1, kind == 0
    tree = {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
            "tri": {"function": {"value": '"1 / (s + r)"', "parameters": [{"name": "s", "value": 0.1}]}, "output": "sum",
                    "precision": "fp64", "between": {"first": 1, "other": 0},
                    "input": {"file": "mix.csv", "columns": [0, 1, 2], "kind_column": 3, "vector_columns": [4]}}}
    got = out(tree, ranks)
    close(got["sums"][:, 0], 1 / (0.1 + cdist(x[one], x[other])) @ v[other], "fp64", "sums", 10)
    check((got["points_first"] == np.flatnonzero(one)).all(), "points")
    pull = {**tree["tri"], "function": "gravity", "output": "forces", "softening": 0.1,
            "input": {"file": "mix.csv", "columns": [0, 1, 2], "kind_column": 3, "mass_column": 3}}
    pull["between"] = {"first": 0, "other": 2}
    got = out({**tree, "tri": pull}, ranks)
    near = cdist(x[kind == 0], x[kind == 2], "sqeuclidean") + 0.01
    close(got["potential"], -(2 / np.sqrt(near)).sum(1), "fp64", "potential of a kind")  # masses of 2
    (a, p), (b, q, w) = sets(150, 230)
    save((a, p), (b, q, w))
    counts = out(deck(equation("r", symmetric=True), "histogram", bins=10, range=[0, 2], self=True), ranks)["counts"]
    upper = [np.triu_indices(len(s), 1) for s in (a, b)]
    for row, values in zip(counts, (cdist(a, a)[upper[0]], cdist(a, b), cdist(b, b)[upper[1]])):
        check((row == np.histogram(values, 10, (0, 2))[0]).all(), "counts with self")


def generated_case():
    """Made-up sources without columns: one vector of ones, masses of 1 / n."""
    made = {"kind": "uniform", "n": 500, "d": 3}
    tree = {"family": "tri", "run": {"device": "cpu", "threads": 1},
            "tri": {"function": "euclidean", "output": "sum", "precision": "fp64", "generator": {**made, "n": 60},
                    "other": {"generator": made}}}
    matrix = {**tree, "tri": {**tree["tri"], "output": "condensed"}}
    close(out(tree)["sums"][:, 0], out(matrix)["distances"].sum(1), "fp64", "sums")
    tree["tri"].update(function="gravity", output="forces", softening=0.1)
    m = out(matrix)["distances"]
    close(out(tree)["potential"], -(1 / np.sqrt(m ** 2 + 0.01)).sum(1) / 500, "fp64", "potential")


def nobody_case():
    """No sources: no field; no targets: no rows."""
    for n, m in ((9, 0), (0, 9)):
        tree = {"family": "tri", "run": {"device": "cpu", "threads": 1},
                "tri": {"generator": {"kind": "uniform", "n": n}, "other": {"generator": {"kind": "uniform", "n": m}}}}
        field = {"value": '"1 / r"', "gradient": '"-dx[k] / (r * r2)"'}
        for function, name in (("gravity", "accelerations"), (field, "forces")):
            got = out({**tree, "tri": {**tree["tri"], "function": function, "output": "forces"}}, 2)
            check(got[name].shape == (n, 3) and not got[name].any() and not got["potential"].any(), name)


def singular_case():
    """A target on a source has no potential without softening: said, and no file."""
    (a, p), (b, q, v) = sets(50, 60)
    b[17] = a[3]
    save((a, p), (b, q, v))
    for tree in (deck(equation("q_j / r"), "sum"), deck("gravity", "forces", mass=1)):
        run = suite.run(["run", suite.deck("singular.yaml", tree), "-o", suite.path("singular.h5")])
        check(run.status == 3 and "coinciding points" in run.err, f"status 3 and why: {run.tail()}")


def refused_case():
    (a, p), (b, q, v) = sets(20, 30)
    save((a, p), (b, q, v))
    law = equation("q_i * r + q_j")
    for tree, words in (
            (deck(law, "sum", input={"file": "targets.csv", "columns": [0, 1, 2], "vector_columns": [3]}),
             "vectors are those of the other set: give other.input.vector_columns"),
            (deck("gravity", "forces", input={"file": "targets.csv", "columns": [0, 1, 2], "mass_column": 3}, mass=1),
             "masses are those of the other set"),
            (deck("gravity", "forces"), "gravity needs masses: give other.input.mass_column or mass"),
            (deck("gravity", "sum", mass=1), "forces only"),
            (deck("euclidean", "forces"), "gravity or an equation"),
            (deck("euclidean", "sum", vectors=[9]), "column 9"),
            (deck("euclidean", "sum", other={"input": {"file": "sources.csv", "vector_columns": [4]}}), "give columns"),
            (deck("euclidean", "topk", vectors=[4], k=2), "not used by output topk"),
            (deck(equation("r", diagonal=False), "sum"), "two sets have no pair of a point with itself"),
            (deck({**law, "symmetric": True}, "condensed"), "the value is not symmetric"),
            (deck(law, "histogram", bins=4, range=[0, 1], self=True), "is of unordered pairs"),
            (deck(law, "square"), "condensed gives the matrix of two"),
            (deck(law, "forces"), "need the key gradient"),
            (deck({**law, "gradient": '"q_i * dx[k] / r2"'}, "forces"), "not the value's derivative"),
            (deck(equation("q_k"), "sum"), "q_k"),
            (deck(law, "sum", other={"generator": {"kind": "uniform", "n": 9}}), "no columns to take")):
        run = suite.run(["run", suite.deck("bad.yaml", tree), "-o", suite.path("bad.h5")])
        check(run.status == 2 and words in run.err and "bad.yaml:" in run.err, f"'{words}' expected: {run.tail()}")


for number, sizes in enumerate(SIZES):
    for precision in ("fp64", "fp32"):
        ranks = (None, 2, 3, 5)[(number + (precision == "fp32")) % 4]
        suite.case(f"sums, {sizes}, {precision}, {ranks or 1} ranks", sum_case, sizes, ranks, precision, number % 2 == 1)
    if not suite.fast or number % 2:
        suite.case(f"gravity, {sizes}", gravity_case, sizes, (3, None)[number % 2], ("fp32", "fp64")[number // 2 % 2])
suite.case("columns", columns_case, 3)
suite.case("ranks", ranks_case)
for precision in ("fp64", "fp32"):
    suite.case(f"forces, {precision}", forces_case, 2, precision, False)
    suite.case(f"outputs, {precision}", outputs_case, precision, 3)
suite.case("forces in a box", forces_case, None, "fp64", True)
suite.case("paired", paired_case)
suite.case("kinds", kinds_case, 2)
suite.case("made up", generated_case)
suite.case("nobody", nobody_case)
suite.case("singular", singular_case)
suite.case("refused", refused_case)
suite.end()
