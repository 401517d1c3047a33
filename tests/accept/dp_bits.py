#!/usr/bin/env python3
"""Recurrences with bits of integers, products and places of extremes, against Python.

usage: dp_bits.py TESELA [--fast] [ONLY]

Compiled and interpreted values, on one rank and several, are the same bytes.
"""
import itertools
import json
import os

import harness
from harness import check, h5py, np

suite = harness.Suite(__doc__, jobs=3)
INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inputs", "dp")


def deck(kind, rows, cols, cell, goal="0", data=(), boundary=(), mode="table"):
    return {"family": "dp", "run": {"device": "cpu", "threads": 1},
            "dp": {"problem": "recurrence", "mode": mode, "table": {"type": kind, "rows": rows, "cols": cols},
                   "data": list(data), "boundary": [{"where": w, "value": v} for w, v in boundary], "cell": cell,
                   "goal": goal}}


def tables(made, ranks):
    """The table, from everywhere the same."""
    found = []
    for count, args in ((1, []), (ranks, []), (1, ["--interpret"])):
        with suite.result(json.dumps(made), ranks=count, args=args, timeout=300) as file:
            found.append(file["results/table"][()])
    check(all(found[0].tobytes() == t.tobytes() for t in found[1:]), "not the same bytes")
    return found[0]


def expression(rng, depth):
    """Operators of bits and sums without brackets: Python has the same precedence."""
    if depth == 0 or rng.random() < 0.2:
        return str(rng.choice(["i", "j", "a[j]", "(M[i-1][j] & 1023)", "7", "(j & 3)", "-5"]))
    left, right = expression(rng, depth - 1), expression(rng, depth - 1)
    op = rng.choice(["&", "|", "^", "+", "-", "<<", ">>"])
    if op in "<<>>":
        return f"((({left}) & 4095) {op} (({right}) & 7))"
    return f"{left} {op} {right}" if rng.random() < 0.7 else f"~({left} {op} {right})"


def cell_value(text, values, i, j):
    names = {"i": i, "j": j, "a": 3 * j - 4, "above": int(values[i - 1][j])}
    return eval(text.replace("M[i-1][j]", "above").replace("a[j]", "a"), names)  # pylint: disable=eval-used


def random_case(seed, kind, ranks):
    rng = np.random.default_rng(seed)
    text = expression(rng, 4) + " ^ M[i-1][j] & 1023"
    rows, cols = 9, 7
    truth = np.zeros((rows, cols), np.int64)
    truth[0] = np.arange(cols) * 11 - 30
    for i in range(1, rows):
        for j in range(cols):
            truth[i, j] = cell_value(text, truth, i, j)
    data = [{"name": "a", "values": [3 * j - 4 for j in range(cols)]}]
    got = tables(deck(kind, rows, cols, text, data=data, boundary=[("i == 0", "11 * j - 30")]), ranks)
    check(np.array_equal(got, truth), f"{text}: {got[1].tolist()}, not {truth[1].tolist()}")


def salesman_case(kind, ranks):
    """Held and Karp 1962: shortest tour through all cities, against all orders of them."""
    n = 8
    rng = np.random.default_rng(5)
    way = rng.integers(1, 100, (n, n))
    shortest = min(sum(way[t[k], t[(k + 1) % n]] for k in range(n))
                   for t in ((n - 1, *rest) for rest in itertools.permutations(range(n - 1))))
    m = n - 1
    data = [{"name": "way", "values": way.reshape(-1).tolist(), "width": n}]
    made = deck(kind, 1 << m, m, f"min(k = 0 .. {m - 1} : (i >> k & 1) == 1 && k != j ? M[i ^ 1 << j][k] + way[k][j] "
                ": 100000)", f"min(k = 0 .. {m - 1} : M[{(1 << m) - 1}][k] + way[k][{m}])", data,
                [("(i >> j & 1) == 0", "100000"), ("i == 1 << j", f"way[{m}][j]")])
    with suite.result(json.dumps(made), ranks=ranks) as file:
        goal = file["results/goal"][()].reshape(-1)[0]
    tables(made, ranks)
    check(goal == shortest, f"{goal}, not {shortest}")


def folds_case(kind, ranks):
    """prod, argmin, argmax of values of the table and of data; the first of equal ones."""
    cols, rows = 6, 5
    rng = np.random.default_rng(6)
    scale = rng.integers(-3, 4, (rows, cols)).astype(float if kind[0] == "f" else int)
    scale[2] = 2
    truth = np.zeros((rows, cols))
    truth[0] = [3, -1, 4, -1, 5, 4]
    for i in range(1, rows):
        seen = truth[i - 1] * scale[i]
        truth[i] = [np.argmin(seen), np.argmax(seen), np.prod(scale[i][:2]), 1, 104 + np.argmin(seen[4:]), 7]
    data = [{"name": "s", "values": scale.reshape(-1).tolist(), "width": cols}]
    cell = ("j == 0 ? argmin(k = 0 .. 5 : M[i-1][k] * s[i][k]) : j == 1 ? argmax(k = 0 .. 5 : M[i-1][k] * s[i][k]) : "
            "j == 2 ? prod(k = 0 .. j - 1 : s[i][k]) : j == 3 ? prod(k = 4 .. 3 : 0) : "
            "j == 4 ? 100 + argmin(k = j .. 5 : M[i-1][k] * s[i][k]) : argmax(k = 2 .. 1 : k else 7)")
    truth[1:, 3] = 1
    for i in range(1, rows):  # column 3 is settled
        seen = truth[i - 1] * scale[i]
        truth[i, [0, 1, 4]] = [np.argmin(seen), np.argmax(seen), 104 + np.argmin(seen[4:])]
    got = tables(deck(kind, rows, cols, cell, data=data,
                      boundary=[(f"i == 0 && j == {j}", str(int(v))) for j, v in enumerate(truth[0])]), ranks)
    check(np.array_equal(got, truth), f"{got.tolist()}, not {truth.tolist()}")


def steps_case(kind, ranks):
    """Every third cell of the row above, down from j and up from it: a range with a step is one of its number."""
    rows, cols = 6, 40
    truth = np.zeros((rows, cols), np.int64)
    truth[0] = [(5 * j) % 7 - 3 for j in range(cols)]
    for i in range(1, rows):
        for j in range(cols):
            truth[i, j] = (truth[i - 1, j::-3].sum() - 2 * truth[i - 1, j::4].min()) % 1000 - 500
    cell = (f"(sum(k = 0 .. j / 3 : M[i-1][j - 3 * k]) - 2 * min(k = 0 .. ({cols - 1} - j) / 4 : M[i-1][j + 4 * k]) + 100000) "
            "% 1000 - 500")
    got = tables(deck(kind, rows, cols, cell, boundary=[("i == 0", "(5 * j) % 7 - 3")]), ranks)
    check(np.array_equal(got, truth), f"{got.tolist()}, not {truth.tolist()}")


def recovered_case():
    """argmin rests on the cell that it names; a product on all."""
    boundary = [("i == 0", "(j - 2) * (j - 2)")]
    with suite.result(json.dumps(deck("i32", 2, 5, "argmin(k = 0 .. 4 : M[i-1][k])", "M[1][3]", (), boundary,
                                      mode="recover"))) as file:
        path = sorted(map(tuple, file["results/path"][:, :2]))
        check(file["results/goal"][0] == 2 and path == [(0, 2), (1, 3)], f"{path}")
    with suite.result(json.dumps(deck("f64", 2, 3, "prod(k = 0 .. 2 : M[i-1][k])", "M[1][0]", (), [("i == 0", "j + 2")],
                                      mode="recover"))) as file:
        path = sorted(map(tuple, file["results/path"][:, :2]))
        check(file["results/goal"][0] == 24 and path == [(0, 0), (0, 1), (0, 2), (1, 0)], f"{path}")


def refused_case():
    def run(cell, words, status, kind="i64", mode="table"):
        made = deck(kind, 80, 3, cell, "M[79][2]", (), [("i == 0", "1")], mode=mode)
        done = suite.run(["run", suite.write("bad.yaml", json.dumps(made).encode()), "-o", suite.path("bad.h5")])
        check(done.status == status and all(w in done.err for w in words), f"{words} expected: {done.tail()}")

    run("1 << i", ["dp.cell", "integer overflow: 1 << 63 at i = 63, j = 0"], 3)
    run("M[i-1][j] >> i", ["a shift by 64 bits; 0 to 63", "i = 64, j = 0"], 3)
    run("M[i-1][j] >> i", ["a shift by 64 bits; 0 to 63", "i = 64, j = 2"], 3, mode="value")  # cut to the goal's column
    run("M[i-1][j] << -1", ["a shift by -1 bits", "i = 1, j = 0"], 3)
    run("M[i-1][j] & 1", ["an operand of bits is an integer; this is a real"], 2, "f64")
    run("argmin(k = 0 .. j - 1 : M[i-1][k])", ["the range is empty", "i = 1, j = 0"], 2)
    run("prod(k = 0 .. 1 : 2 else 1)", ["an empty prod is 1; it takes no 'else'"], 2)
    run("prod(2, 3)", ["prod takes a range: prod(k = lo .. hi : expression)"], 2)
    run("prod(k = 0 .. i : 2)", ["integer overflow", "i = 62, j = 0"], 3)
    run("M[argmin(k = 0 .. 2 : M[i-1][k])][j]", ["an index may not depend on values of the table"], 2)
    pair = {"family": "tri", "tri": {"function": "equation", "equation": {"value": "r2 | 1"}, "output": "sum",
                                     "generator": {"kind": "uniform", "n": 10, "d": 2}}}
    done = suite.run(["run", suite.write("bad.yaml", json.dumps(pair).encode()), "-o", suite.path("bad.h5")])
    check(done.status == 2 and "values of pairs are reals" in done.err, done.tail())


def sample_case():
    """The tour of the deck that is shipped: no order of its cities is shorter, and its way has that length."""
    with open(os.path.join(INPUTS, "salesman.yaml"), encoding="ascii") as file:
        text = file.read()
    values = text[text.index("values: [") + 9:text.index("0]\n")] + "0"
    way = np.array(values.split(","), int).reshape(9, 9)
    run = suite.run(["run", os.path.join(INPUTS, "salesman.yaml"), "-o", suite.path("s.h5"), "-q"])
    check(run.status == 0, run.tail())
    with h5py.File(suite.path("s.h5")) as file:
        goal, path = file["results/goal"][0], file["results/path"][()]
    tours = np.array(list(itertools.permutations(range(8))))
    tours = np.column_stack([np.full(len(tours), 8), tours, np.full(len(tours), 8)])
    check(goal == way[tours[:, :-1], tours[:, 1:]].sum(1).min(), f"{goal}")
    cities = [8, *path[:, 1], 8]
    check(sorted(path[:, 1]) == list(range(8)) and sum(way[a, b] for a, b in zip(cities, cities[1:])) == goal, f"{path}")


for seed in range(6 if suite.fast else 40):
    suite.case(f"random bits {seed}", random_case, seed, ("i64", "i32")[seed % 2], 2 + seed % 2)
for number, kind in enumerate(("i32", "f64", "i64")):
    suite.case(f"salesman {kind}", salesman_case, kind, 2 + number)
for number, kind in enumerate(("i32", "f64", "f32")):
    suite.case(f"products and places {kind}", folds_case, kind, 3 - number % 2)
for number, kind in enumerate(("i32", "i64")):
    suite.case(f"ranges with a step {kind}", steps_case, kind, 2 + number)
suite.case("the shipped tour", sample_case)
suite.case("recovered", recovered_case)
suite.case("refused", refused_case)
suite.end()
