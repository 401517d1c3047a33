#!/usr/bin/env python3
"""Equations of three points against numpy over all i < j < k: sums, of each point, forces, boxes, cut-offs, ranks, bad ones.

usage: triples_equation.py TESELA [--fast] [ONLY]

Axilrod-Teller as an equation is also compared with the function of that name. Forces are compared with central
differences of numpy's sum.
"""
import harness
from harness import check, np

suite = harness.Suite(__doc__, jobs=2)
RNG = np.random.default_rng(29)
TABLE = "points.csv"
LIMIT = {"fp32": 3e-6, "fp64": 3e-14}
TELLER = ("c9 * (1 + 0.375 * (r2_ij + r2_jk - r2_ki) * (r2_ij - r2_jk + r2_ki) * (r2_jk + r2_ki - r2_ij) "
          "/ (r2_ij * r2_jk * r2_ki)) / pow(r_ij * r_jk * r_ki, 3)")


PRODUCT = "(r2_ij + r2_jk - r2_ki) * (r2_ij - r2_jk + r2_ki) * (r2_jk + r2_ki - r2_ij)"
TELLER_SLOPE = ("2 * r_ij * c9 * ((0.375 * ((r2_ij - r2_jk + r2_ki) * (r2_jk + r2_ki - r2_ij) + "
                "(r2_ij + r2_jk - r2_ki) * (r2_jk + r2_ki - r2_ij) - (r2_ij + r2_jk - r2_ki) * (r2_ij - r2_jk + r2_ki)) - "
                f"0.9375 * {PRODUCT} / r2_ij) / pow(r_ij * r_jk * r_ki, 5) - 1.5 / (r2_ij * pow(r_ij * r_jk * r_ki, 3)))")


def all_triples(n):
    grid = np.arange(n)
    return np.nonzero((grid[:, None, None] < grid[None, :, None]) & (grid[None, :, None] < grid[None, None, :]))


def sums(x, q, function, box=None, cutoff=np.inf):
    """Of each point, of the absolute values, and the sum over all triples. function(sides, squares, quantities)"""
    d = x[:, None] - x[None]
    if box is not None:
        d -= box * np.round(d / box)
    square = (d**2).sum(-1)
    t = all_triples(len(x))
    squares = np.array([square[t[0], t[1]], square[t[1], t[2]], square[t[2], t[0]]])
    values = np.where((squares <= cutoff**2).all(0), function(np.sqrt(squares), squares, q[np.array(t)]), 0)
    each, size = np.zeros(len(x)), np.zeros(len(x))
    for corner in t:
        np.add.at(each, corner, values)
        np.add.at(size, corner, abs(values))
    return each, size, values.sum()


def tree(value, output="sums", precision="fp64", more=None, **keys):
    function = {"value": f'"{value}"', "symmetric": True, "parameters": [{"name": "s", "value": 0.3},
                                                                         {"name": "c9", "value": -2.5}],
                "quantities": [{"name": "q", "column": -1}], **(more or {})}
    source = {"file": TABLE, "columns": [0, 1, 2], **keys.pop("input", {})}
    function["quantities"] = [{**q, "column": len(source["columns"]) if q["column"] < 0 else q["column"]}
                              for q in function["quantities"]]
    return {"family": "triples", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
            "triples": {"function": function, "output": output, "precision": precision, "input": source, **keys}}


def points(n, d=3, spread=1.0):
    x = (spread * RNG.random((n, d))).astype(np.float32).astype(float)
    q = RNG.normal(size=n).astype(np.float32).astype(float)
    np.savetxt(suite.path(TABLE), np.c_[x, q], delimiter=",", fmt="%.17g")
    return x, q


def run(deck, ranks=None):
    with suite.result(deck, ranks=ranks) as file:
        return harness.datasets(file), dict(file["results"].attrs)


EXPRESSIONS = [
    ("exp(-(r_ij + r_jk + r_ki) / s) * q_i * q_j * q_k",
     lambda r, r2, q: np.exp(-r.sum(0) / 0.3) * q.prod(0)),
    ("max(r2_ij, r2_jk, r2_ki) < s ? sqrt(r_ij * r_jk * r_ki) : d",
     lambda r, r2, q: np.where(r2.max(0) < 0.3, np.sqrt(r.prod(0)), 3)),
    ("1", lambda r, r2, q: np.ones(r.shape[1])),
    ("abs(q_i + q_j + q_k) * log(1 + r2_ij * r2_jk * r2_ki)", lambda r, r2, q: abs(q.sum(0)) * np.log(1 + r2.prod(0))),
]


def corner(a, b, opposite):
    """Stillinger and Weber's three-body term (Phys. Rev. B 31, 1985, 5262) of the corner between sides a and b."""
    return (f"(r_{a} < 0.5 && r_{b} < 0.5 ? exp(0.2 / (r_{a} - 0.5) + 0.2 / (r_{b} - 0.5)) * "
            f"pow((r2_{a} + r2_{b} - r2_{opposite}) / (2 * r_{a} * r_{b}) + 1 / 3, 2) : 0)")


def stillinger_weber(r, r2, _):
    total = 0
    for a, b, opposite in ((0, 2, 1), (0, 1, 2), (1, 2, 0)):
        near = (r[a] < 0.5) & (r[b] < 0.5)
        with np.errstate(over="ignore", divide="ignore"):
            pair = np.exp(0.2 / (r[a] - 0.5) + 0.2 / (r[b] - 0.5))
        total = total + np.where(near, pair * ((r2[a] + r2[b] - r2[opposite]) / (2 * r[a] * r[b]) + 1 / 3) ** 2, 0)
    return total


EXPRESSIONS.append((" + ".join((corner("ij", "ki", "jk"), corner("ij", "jk", "ki"), corner("jk", "ki", "ij"))),
                    stillinger_weber))


def value_case(text, function, precision, n):
    x, q = points(n)
    each, size, total = sums(x, q, function)
    found, attributes = run(tree(text, "sums", precision))
    limit = LIMIT[precision] * (1 + size)
    check((abs(found["sums"] - each) <= limit).all(), f"sums are off by {abs(found['sums'] - each).max()}")
    check(abs(attributes["sum"] - total) <= LIMIT[precision] * (1 + size.sum()), f"sum {attributes['sum']}, not {total}")
    found, attributes = run(tree(text, "sum", precision))
    check("sums" not in found, "sums of points were not asked for")
    check(abs(attributes["sum"] - total) <= LIMIT[precision] * (1 + size.sum()), f"sum {attributes['sum']}, not {total}")


def box_case(d, edges, cutoff, precision):
    """Nearest images; triples with a longer side do not count."""
    x, q = points(150, d, 2.0)
    edges = None if edges is None else np.array(edges)
    each, size, total = sums(x, q, lambda r, r2, q: q.prod(0) * np.exp(-r2.sum(0)), edges, cutoff)
    keys = {"input": {"columns": list(range(d))}, "cutoff": cutoff, **({} if edges is None else {"box": edges.tolist()})}
    found, attributes = run(tree("q_i * q_j * q_k * exp(-r2_ij - r2_jk - r2_ki)", precision=precision, **keys))
    off = abs(found["sums"] - each)
    check((off <= (1e-12 if precision == "fp64" else 1e-4) * (1 + size)).all(), f"sums are off by {off.max()}")
    check(size.max() > 0 and abs(attributes["sum"] - total) < 1e-3 * (1 + size.sum()), "another sum")


def teller_case(n, keys):
    """The energy of axilrod_teller. Points apart, so that no triple is most of it."""
    edge = int(np.ceil(n ** (1 / 3)))
    grid = np.stack(np.meshgrid(*[np.arange(edge)] * 3), -1).reshape(-1, 3)[:n] + 0.2 * RNG.random((n, 3))
    np.savetxt(suite.path(TABLE), np.c_[grid, np.ones(n)], delimiter=",", fmt="%.17g")
    _, mine = run(tree(TELLER, "sum", **keys))
    deck = tree(TELLER, **keys)
    del deck["triples"]["output"]
    deck["triples"].update({"function": "axilrod_teller", "strength": -2.5})
    _, theirs = run(deck)
    check(abs(mine["sum"] - theirs["energy"]) < 1e-12 * abs(theirs["energy"]), f"{mine['sum']}, {theirs['energy']}")


# Values, their derivatives by r_ij, and numpy's functions.
SLOPES = [
    ("exp(-(r_ij + r_jk + r_ki) / s) * q_i * q_j * q_k", "-exp(-(r_ij + r_jk + r_ki) / s) * q_i * q_j * q_k / s",
     EXPRESSIONS[0][1]),
    # not a product: the derivative depends on which side it is by
    ("q_i * r2_jk * r_ij * r_ki + q_j * r2_ki * r_jk * r_ij + q_k * r2_ij * r_ki * r_jk",
     "q_i * r2_jk * r_ki + q_j * r2_ki * r_jk + 2 * q_k * r_ij * r_ki * r_jk",
     lambda r, r2, q: q[0] * r2[1] * r[0] * r[2] + q[1] * r2[2] * r[1] * r[0] + q[2] * r2[0] * r[2] * r[1]),
]


def differences(x, q, function, step=1e-5, **keys):
    """Minus the slope of the sum over all triples, from five places: points are as near as 1e-3."""
    forces = np.zeros_like(x)
    for i, k in np.ndindex(x.shape):
        for steps, weight in ((-2, -1), (-1, 8), (1, -8), (2, 1)):
            moved = x.copy()
            moved[i, k] += steps * step
            forces[i, k] += weight / (12 * step) * sums(moved, q, function, **keys)[2]
    return forces


def forces_case(number, d, n, precision, threads=1, edges=None, cutoff=np.inf):
    """Triples that reach the cut-off jump: of the values here they are left out by the step."""
    value, gradient, function = SLOPES[number]
    x, q = points(n, d)
    keys = {"input": {"columns": list(range(d))}, **({} if np.isinf(cutoff) else {"cutoff": cutoff}),
            **({} if edges is None else {"box": edges})}
    deck = tree(value, "forces", precision, {"gradient": f'"{gradient}"'}, **keys)
    deck["run"]["threads"] = threads
    found, attributes = run(deck)
    box = None if edges is None else np.array(edges)
    each, size, total = sums(x, q, function, box, cutoff)
    check((abs(found["sums"] - each) <= LIMIT[precision] * (1 + size)).all(), "other sums")
    check(abs(attributes["sum"] - total) <= LIMIT[precision] * (1 + size.sum()), "another sum")
    expected = differences(x, q, function, box=box, cutoff=cutoff)
    off, most = abs(found["forces"] - expected).max(), abs(expected).max()
    check(most > 0 and off <= {"fp32": 2e-5, "fp64": 1e-8}[precision] * most, f"off by {off} of {most}")
    check(found["forces"].shape == x.shape, f"shape {found['forces'].shape}")


def teller_forces_case(n, keys, precision):
    edge = int(np.ceil(n ** (1 / 3)))
    grid = np.stack(np.meshgrid(*[np.arange(edge)] * 3), -1).reshape(-1, 3)[:n] + 0.2 * RNG.random((n, 3))
    np.savetxt(suite.path(TABLE), np.c_[grid, np.ones(n)], delimiter=",", fmt="%.17g")
    mine, attributes = run(tree(TELLER, "forces", precision, {"gradient": f'"{TELLER_SLOPE}"'}, **keys))
    deck = tree(TELLER, precision=precision, **keys)
    del deck["triples"]["output"]
    deck["triples"].update({"function": "axilrod_teller", "strength": -2.5})
    theirs, energy = run(deck)
    off, most = abs(mine["forces"] - theirs["forces"]).max(), abs(theirs["forces"]).max()
    check(off < {"fp32": 1e-5, "fp64": 1e-12}[precision] * most, f"off by {off} of {most}")
    check(abs(attributes["sum"] - energy["energy"]) < 1e-5 * abs(energy["energy"]), "another energy")


def ranks_case(output, precision):
    points(331)
    deck = tree(EXPRESSIONS[0][0], output, precision, {"gradient": f'"{SLOPES[0][1]}"'} if output == "forces" else None)
    one, attributes = run(deck)
    for ranks in (2, 3, 5):
        found, others = run(deck, ranks)
        check(others["sum"] == attributes["sum"], f"{ranks} ranks: another sum")
        for name, data in one.items():
            check(found[name].tobytes() == data.tobytes(), f"{ranks} ranks: other bytes of {name}")


# Deck changes and what the message has.
REFUSED = [
    (dict(value="exp(-r_ij / sigma)"), ["function.value: column 13: unknown name 'sigma'", "^~~~~"]),
    (dict(value="r_ik"), ["did you mean 'r_ij'?"]),
    (dict(value="q_i * r_jk"), ["function.symmetric: the value is not symmetric: of points ("]),
    (dict(value="r_ij + r_jk"), ["the value is not symmetric"]),
    (dict(value="r_ij * q_k + r_jk * q_j + r_ki * q_i"), ["the value is not symmetric"]),
    (dict(value="r_ij", more={"symmetric": False}), ["say symmetric: yes"]),
    (dict(value="r_ij / (s - s)"), ["division by zero"]),
    (dict(value="1", more={"quantities": [{"name": "q", "column": 9}]}), ["column 9 is asked for"]),
    (dict(value="1", more={"parameters": [{"name": "r_ij", "value": 3}]}), ["parameters[0].name", "given twice"]),
    (dict(value="1", strength=2), ["triples.strength: not used by function equation"]),
    (dict(value="1", box=[4, 4, 4]), ["a periodic box needs a cut-off"]),
    (dict(value="1", more={"name": "triangles"}), ["function.value: not used by function triangles"]),
    (dict(value="1", output="total"), ["unknown word 'total'"]),
    (dict(value="r_ij * r_jk * r_ki", output="forces"), ["triples.output: forces of an equation need the key gradient"]),
    (dict(value="r_ij * r_jk * r_ki", more={"gradient": '"r_jk * r_ki"'}), ["function.gradient: not used by output sums"]),
    (dict(value="r_ij * r_jk * r_ki", output="forces", more={"gradient": '"r_jk * r_ik"'}),
     ["function.gradient: column 8: unknown name 'r_ik'", "^~~~", "did you mean"]),
    (dict(value="r_ij * r_jk * r_ki", output="forces", more={"gradient": '"r_ij * r_ki"'}),
     ["function.gradient: it is not the value's derivative by r_ij: of points ("]),
    (dict(value="r_ij * r_jk * r_ki", output="forces", more={"gradient": '"r_jk * (r_ki"'}), ["function.gradient: column"]),
]


def refused_case(keys, words):
    points(20)
    ran = suite.run(["run", suite.deck("bad.yaml", tree(**keys)), "-o", suite.path("bad.h5"), "--overwrite"])
    check(ran.status == 2, f"status {ran.status}: {ran.tail()}")
    for word in words:
        check(word in ran.err, f"no '{word}' in: {ran.err}")


def values_case():
    """What is no number stops the run; made-up points have no quantities."""
    points(20)
    ran = suite.run(["run", suite.deck("bad.yaml", tree("log(-r_ij * r_jk * r_ki)")), "-o", suite.path("b.h5"),
                     "--overwrite"])
    check(ran.status == 3 and "NaN or infinity" in ran.err, ran.err)
    deck = tree("1")
    del deck["triples"]["input"]
    deck["triples"]["generator"] = {"kind": "uniform", "n": 9}
    ran = suite.run(["run", suite.deck("bad.yaml", deck), "-o", suite.path("b.h5"), "--overwrite"])
    check(ran.status == 2 and "made-up points have no columns" in ran.err, ran.err)


for number, (each, expected) in enumerate(EXPRESSIONS):
    for each_precision in ("fp64",) if suite.fast and number > 0 else ("fp32", "fp64"):
        for size in (97,) if number > 0 else (2, 277) if suite.fast else (1, 2, 3, 67, 277):
            suite.case(f"{each:.60}, {each_precision}, {size} points", value_case, each, expected, each_precision, size)
for each_precision in ("fp32", "fp64"):
    suite.case(f"a cut-off, {each_precision}", box_case, 3, None, 0.9, each_precision)
    suite.case(f"a box, {each_precision}", box_case, 3, [2.0, 2.5, 2.2], 0.6, each_precision)
suite.case("a box of two dimensions", box_case, 2, [2.0, 1.8], 0.5, "fp64")
suite.case("a line", box_case, 1, None, 0.5, "fp64")
suite.case("Axilrod-Teller", teller_case, 120, {})
suite.case("Axilrod-Teller, a box and a cut-off", teller_case, 125, {"box": [5, 5, 5], "cutoff": 1.6})
for number in range(len(SLOPES)):
    for each_precision in ("fp32", "fp64"):
        suite.case(f"forces, {number}, {each_precision}", forces_case, number, 3, 29, each_precision)
suite.case("forces, more than a chunk", forces_case, 0, 1, 67 if suite.fast else 131, "fp64", 3)
suite.case("forces in two dimensions, a box", forces_case, 0, 2, 40, "fp64", 2, [1.0, 1.1], 0.3)
for each_precision in ("fp32", "fp64"):
    suite.case(f"Axilrod-Teller, forces, {each_precision}", teller_forces_case, 340, {}, each_precision)
suite.case("Axilrod-Teller, forces, a box and a cut-off", teller_forces_case, 125, {"box": [5, 5, 5], "cutoff": 1.6}, "fp64")
for each_precision in ("fp32", "fp64"):
    suite.case(f"any number of ranks, {each_precision}", ranks_case, "sums" if each_precision == "fp32" else "sum",
               each_precision)
    suite.case(f"any number of ranks, forces, {each_precision}", ranks_case, "forces", each_precision)
suite.case("values that are none", values_case)
for each, expected in REFUSED:
    suite.case(f"refused: {each}", refused_case, each, expected)
suite.end()
