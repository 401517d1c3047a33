#!/usr/bin/env python3
"""Recurrences with four, five and six indices, against all subsequences, structures and selections of small inputs.

usage: dp_indices.py TESELA [--fast] [ONLY]

Random decks are made as text and as Python at once; compiled, interpreted and shared out over ranks they give the
same bytes. One more index alone is in dp_depth.py and dp_tables.py, restarts are in restart.py.
"""
import functools
import itertools
import json
import pathlib
import random

import harness
from harness import check, np

suite = harness.Suite(__doc__, jobs=3)
DECKS = pathlib.Path(__file__).resolve().parents[2] / "inputs/dp"
CPU = ["--set", "run.device=cpu"]
CARDS = suite.cards()
SOCKETS = tuple((ranks, CPU) for ranks in (1, 2, 3, 5))
ALL = SOCKETS + ((1, ["--interpret", *CPU]),) + CARDS
INNER = "klmn"


def made(table, cell, goal, boundary=(), data=(), constants=(), mode="recover", **more):
    return {"family": "dp", "run": {"device": "cpu", "threads": 2},
            "dp": {"problem": "recurrence", "mode": mode, "table": table, "data": list(data),
                   "constants": [{"name": n, "value": v} for n, v in constants],
                   "boundary": [{"where": w, "value": v} for w, v in boundary], "cell": cell, "goal": goal, **more}}


def goal_of(deck, ranks=1, args=(), field=None):
    with suite.result(deck if isinstance(deck, str) else json.dumps(deck), ranks=ranks, args=list(args), timeout=300) as file:
        goal = file["results/goal"][()].reshape(-1)[0]
        return (goal, file[f"results/{field}"][()]) if field else goal


def everywhere(deck, field="path"):
    """Goal and field, which are the same bytes whoever computes them."""
    first, (goal, values) = None, goal_of(deck, 1, CPU, field)
    for ranks, args in ALL[1:]:
        other, these = goal_of(deck, ranks, args, field)
        check(other == goal and these.tobytes() == values.tobytes(), f"{other}, not {goal}, or another {field}; {ranks} ranks {args}\n{deck}")
    return goal, values


# ------------------------------------------------------------- several sequences


def longest_common(words):
    """The longest of all subsequences of the first that the others have."""
    def has(text, word):
        letters = iter(text)
        return all(x in letters for x in word)
    return next(n for n in range(len(words[0]), -1, -1)
                if any(all(has(w, word) for w in words[1:]) for word in itertools.combinations(words[0], n)))


def lcs_deck(words, mode="recover", goal=None):
    """Of three to six sequences."""
    names, at = "abcdef"[:len(words)], "ijklmn"[:len(words)]
    cell = lambda back: "M" + "".join(f"[{x}-1]" if x in back else f"[{x}]" for x in at)
    same = " && ".join(f"{u}[{x}-1] == {v}[{y}-1]" for u, v, x, y in zip(names, names[1:], at, at[1:]))
    sizes = [f"len({n}) + 1" for n in names]
    return made({"type": "i16", "rows": sizes[0], "cols": sizes[1], "depth": sizes[2:]},
                f"{same} ? {cell(at)} + 1 : max({', '.join(cell(x) for x in at)})",
                goal or "M" + "".join(f"[len({n})]" for n in names), [(" || ".join(f"{x} == 0" for x in at), "0")],
                [{"name": n, "text": w} for n, w in zip(names, words)], mode=mode)


def lcs_case(count, seed):
    rng = random.Random(f"{count} {seed}")
    words = ["".join(rng.choice("AC" if count > 4 else "ACG") for _ in range(rng.randint(1, {4: 9, 5: 6, 6: 4}[count]))) for _ in range(count)]
    best = longest_common(words)
    goal, path = everywhere(lcs_deck(words))
    check(goal == best, f"{goal}, not {best}, of {words}")
    check(path.shape[1] == count + 1 and path[0].tolist() == [len(words[0]), len(words[1]), -1, *map(len, words[2:])], f"{path[:3]}")
    places = np.delete(path, 2, axis=1)
    matches = [p for p, q in zip(places, places[1:]) if (p - q == 1).all()]
    check(len(matches) == best and all(len({w[x - 1] for w, x in zip(words, p)}) == 1 for p in matches), f"the path is {places}")
    goal = goal_of(lcs_deck(words, "value", "max over all"), 3, CPU)
    check(goal == best, f"over all: {goal}")


def lcs_of_deck_case():
    """The deck of inputs/dp with letters of its own."""
    rng = random.Random(4)
    words = ["".join(rng.choice("ACGT") for _ in range(n)) for n in (9, 11, 8, 10)]
    text = (DECKS / "four_sequences.yaml").read_text()
    for name, word in zip("abcd", words):
        start = text.index(f"{{name: {name}, ")
        text = text[:start] + f"{{name: {name}, type: letters, text: {word}}}" + text[text.index("}", start) + 1:]
    goal = everywhere(text)[0]
    check(goal == longest_common(words), f"{goal}, of {words}")


def lcs_table(words):
    """The whole table, by planes of the last two sequences."""
    m = np.zeros([len(w) + 1 for w in words], np.int16)
    for at in itertools.product(*(range(1, n) for n in m.shape)):
        m[at] = m[tuple(x - 1 for x in at)] + 1 if len({w[x - 1] for w, x in zip(words, at)}) == 1 else max(
            m[at[:d] + (x - 1,) + at[d + 1:]] for d, x in enumerate(at))
    return m


def lcs_table_case():
    """mode: table, of rows and columns that several strips and tiles share."""
    rng = np.random.default_rng(7)
    words = ["".join(rng.choice(list("ACG"), n)) for n in (140, 75, 5, 6)]
    truth = lcs_table(words)
    goal, table = everywhere(lcs_deck(words, "table"), "table")
    check(table.shape == (141, 76, 42) and np.array_equal(table.reshape(truth.shape), truth) and goal == truth.max(), "the table differs")


# ------------------------------------------------------------ intervals x intervals


PAIRS = {"AU", "UA", "GC", "CG", "GU", "UG"}


def common_structure(a, b):
    """Most pairs of two structures that do not cross and have the same shape: every structure of each is made."""
    def structures(word):
        def inside(i, j):
            if i >= j:
                return {""}
            found = set(inside(i + 1, j))
            for k in range(i + 1, j):
                if word[i] + word[k] in PAIRS:
                    found |= {"(" + x + ")" + y for x in inside(i + 1, k) for y in inside(k + 1, j)}
            return found
        return inside(0, len(word))
    return max(len(s) // 2 for s in structures(a) & structures(b))


def fold_deck(a, b):
    """Letters i..j-1 of a and x..l-1 of b, x = len(b) - k, so that k ascends (Sankoff 1985, pairs alone)."""
    pair = lambda word, p, q: " || ".join(f"{word}[{p}] == '{x}' && {word}[{q}] == '{y}'" for x, y in sorted(PAIRS))
    cell = ("max(M[i+1][j][k][l], M[i][j-1][k][l], M[i][j][k-1][l], M[i][j][k][l-1],"
            f" j - i > 1 && l + k - len(b) > 1 && ({pair('a', 'i', 'j-1')}) && ({pair('b', 'len(b)-k', 'l-1')}) ? M[i+1][j-1][k-1][l-1] + 1 : 0,"
            " max(r = i + 1 .. j - 1 : max(s = len(b) - k + 1 .. l - 1 : M[i][r][k][s] + M[r][j][len(b)-s][l] else 0) else 0))")
    return made({"type": "i32", "rows": "len(a) + 1", "cols": "len(a) + 1", "depth": ["len(b) + 1", "len(b) + 1"], "cells": "upper"},
                cell, "M[0][len(a)][len(b)][len(b)]", [("i == j || l <= len(b) - k", "0")],
                [{"name": "a", "text": a}, {"name": "b", "text": b}])


def fold_case(seed):
    rng = random.Random(f"fold {seed}")
    a, b = ("".join(rng.choice("ACGU") for _ in range(rng.randint(2, 9))) for _ in range(2))
    want = common_structure(a, b)
    goal, path = everywhere(fold_deck(a, b))
    check(goal == want, f"{goal}, not {want}, of {a} {b}")
    check(path[0].tolist() == [0, len(a), -1, len(b), len(b)] and (path[:, 0] <= path[:, 1]).all(), f"{path[:3]}")
    pairs = 0
    for i, j, before, k, l in path:
        if before >= 0 and (path[before, [0, 1, 3, 4]] - (i, j, k, l)).tolist() == [-1, 1, 1, 1]:
            pairs += 1
            check(a[i - 1] + a[j] in PAIRS and b[len(b) - k - 1] + b[l] in PAIRS, f"{i, j, k, l} of {a} {b}")
    check(pairs == goal, f"{pairs} pairs of {goal} in {path}")


# -------------------------------------------------------------------- selections


def sack_case(seed):
    """Item x resource x resource x how many x whether the last was taken: no two neighbours are."""
    rng = random.Random(f"sack {seed}")
    n, most, room = rng.randint(1, 9), rng.randint(1, 4), (rng.randint(3, 16), rng.randint(2, 9))
    w, u, v = ([rng.randint(1, hi) for _ in range(n)] for hi in (8, 5, 30))
    fits = [s for size in range(most + 1) for s in itertools.combinations(range(n), min(size, n))
            if sum(w[x] for x in s) <= room[0] and sum(u[x] for x in s) <= room[1] and all(y - x > 1 for x, y in zip(s, s[1:]))]
    want = max(sum(v[x] for x in s) for s in fits)
    cell = ("m == 0 ? max(M[i-1][j][k][l][0], M[i-1][j][k][l][1])"
            " : j < w[i-1] || k < u[i-1] || l == 0 ? none : M[i-1][j - w[i-1]][k - u[i-1]][l-1][0] + v[i-1]")
    deck = made({"type": "i32", "rows": "len(w) + 1", "cols": "A + 1", "depth": ["B + 1", "most + 1", 2]}, cell,
                "max(M[len(w)][A][B][most][0], M[len(w)][A][B][most][1])", [("i == 0", "m == 0 ? 0 : none")],
                [{"name": x, "values": y} for x, y in zip("wuv", (w, u, v))],
                [("A", str(room[0])), ("B", str(room[1])), ("most", str(most)), ("none", "-1000000")])
    goal, path = everywhere(deck)
    taken = [i - 1 for i, j, _, k, l, m in path if m == 1]
    check(goal == want, f"{goal}, not {want}\n{json.dumps(deck)}")
    check(sum(v[x] for x in taken) == goal and tuple(sorted(taken)) in fits, f"{taken}")


# ------------------------------------------------------------------- random decks


def index_read(rng, place, extent):
    """An inner index of another cell: text, and its value from those of the cell."""
    name, e, other = INNER[place], extent[place], rng.randrange(len(extent))
    return rng.choice([
        (name, lambda x: x[place]), (name, lambda x: x[place]), (f"max({name} - 1, 0)", lambda x: max(x[place] - 1, 0)),
        (f"min({name} + 2, {e - 1})", lambda x: min(x[place] + 2, e - 1)), (f"{e - 1} - {name}", lambda x: e - 1 - x[place]),
        (f"({INNER[other]} + i) % {e}", None), (f"c[{INNER[other]}] % {e}", lambda x: (5 * x[other] + 3) % 7 % e), (str(e - 1), lambda x: e - 1)]), other, e


def random_read(rng, extent, row, col, at):
    parts = [index_read(rng, d, extent) for d in range(len(extent))]
    text = "".join(f"[{p[0][0]}]" for p in parts)
    value = lambda i, x: tuple(p[0][1](x) if p[0][1] else (x[p[1]] + i) % p[2] for p in parts)
    return (lambda t: f"{'PQ'[t]}[{row}][{col}]{text}"), lambda get, t, i, j, x: get(t, *at(i, j), value(i, x))


def own_read(rng, extent):
    """Of the same cell, some index lower and those behind it any."""
    d = rng.randrange(len(extent))
    behind = [rng.randrange(e) for e in extent[d + 1:]]
    text = "".join(f"[{INNER[n]}]" for n in range(d)) + f"[{INNER[d]}-1]" + "".join(f"[{b}]" for b in behind)
    return (lambda t: f"({INNER[d]} > 0 ? {'PQ'[t]}[i][j]{text} : j)",
            lambda get, t, i, j, x: get(t, i, j, (*x[:d], x[d] - 1, *behind)) if x[d] > 0 else j)


def random_terms(rng, kind, extent, m, si, sj):
    near = {"wave": [(1, 1), (1, 0), (0, 1)], "rows": [(1, 0), (2, 0)], "interval": [(-1, 0), (0, 1)]}[kind]
    terms = [random_read(rng, extent, f"i{-si * a:+d}", f"j{-sj * b:+d}", lambda i, j, a=a, b=b: (i - si * a, j - sj * b))
             for a, b in rng.sample(near, rng.randint(1, len(near)))]
    if kind == "rows":
        terms.append(random_read(rng, extent, f"i{-si:+d}", f"min(j + 3, {m - 1})", lambda i, j: (i - si, min(j + 3, m - 1))))
    if kind == "interval":
        here = "".join(f"[{x}]" for x in INNER[:len(extent)])
        terms.append(((lambda t: f"max(r = i .. j - 1 : {'PQ'[t]}[i][r]{here} + {'PQ'[t]}[r+1][j]{here} - 40)"),
                      lambda get, t, i, j, x: max(get(t, i, r, x) + get(t, r + 1, j, x) - 40 for r in range(i, j))))
    return terms + [own_read(rng, extent) for _ in range(rng.randint(0, 2))]


def random_case(kind, seed):
    rng = random.Random(f"indices {kind} {seed}")
    extent = tuple(rng.choice([1, 2, 3, 5, 9] if d < 2 else [1, 2, 3]) for d in range(rng.randint(2, 4)))
    count, n, m, si, sj = rng.randint(1, 2), rng.randint(3, 14), rng.randint(2, 20), 1, 1
    if kind == "interval":
        n = m = rng.randint(2, 8)
    else:
        si, sj = rng.choice([1, -1]), rng.choice([1, -1]) if kind == "wave" else 1
    first = [0 if si > 0 else n - 1, 0 if sj > 0 else m - 1]
    rows = [first[0], first[0] + si] if kind == "rows" else [first[0]]
    edge = {"wave": (f"i == {first[0]} || j == {first[1]}", lambda i, j: i == first[0] or j == first[1]),
            "rows": (f"i == {rows[0]} || i == {rows[-1]}", lambda i, j: i in rows), "interval": ("i == j", lambda i, j: i == j)}[kind]
    plain = [[(f, g, rng.randrange(count), rng.randint(0, 9)) for f, g in random_terms(rng, kind, extent, m, si, sj)] for _ in range(count)]
    low = rng.randrange(len(extent))  # a boundary in an inner index
    truth = np.zeros((n, m, *extent, count), np.int64)
    get = lambda t, i, j, x: int(truth[(i, j, *x, t)])
    pick = [rng.choice([max, min]) for _ in range(count)]
    for i, j in itertools.product(range(n)[::-si if kind == "interval" else si], range(m)[::sj]):
        if kind == "interval" and i > j:
            continue
        for x in np.ndindex(extent):
            for t in range(count):
                if x[low] == 0 and t == 0:
                    value = (i + 2 * j + 3 * x[-1]) % 5
                elif edge[1](i, j):
                    value = (3 * i + 5 * j + 7 * sum(x)) % 11 + t
                else:
                    value = pick[t]([g(get, u, i, j, x) + c for f, g, u, c in plain[t]] + [12])
                truth[(i, j, *x, t)] = value
    names, last = INNER[:len(extent)], INNER[len(extent) - 1]
    tables = [{"name": "PQ"[t], "boundary": [{"where": f"{INNER[low]} == 0", "value": f"(i + 2 * j + 3 * {last}) % 5"}] * (t == 0) + [
        {"where": edge[0], "value": f"(3 * i + 5 * j + 7 * ({' + '.join(names)})) % 11 + {t}"}],
        "cell": f"{pick[t].__name__}({', '.join(f'{f(u)} + {c}' for f, g, u, c in plain[t])}, 12)"} for t in range(count)]
    g, word = rng.randrange(count), rng.choice(["max", "min"])
    upper, over = kind == "interval", rng.choice(["all", "last row", "last column"])
    i, j = np.indices((n, m))
    there = ((i <= j) | (not upper)) & {"all": i >= 0, "last row": i == n - 1, "last column": j == m - 1}[over]
    asked = np.where(there.reshape(n, m, *[1] * len(extent)), truth[..., g] * (1 if word == "max" else -1), -10 ** 9)
    place = [int(x) for x in np.unravel_index(asked.argmax(), asked.shape)]
    deck = {"family": "dp", "run": {"device": "cpu", "threads": 2}, "dp": {
        "problem": "recurrence", "mode": "table", "data": [{"name": "c", "values": [(5 * x + 3) % 7 for x in range(9)], "type": "int"}],
        "table": {"type": rng.choice(["i16", "i32", "i64"]), "rows": n, "cols": m, "depth": list(extent), "cells": "upper" if upper else "all"},
        "tables": tables, "goal": f"{word} {'PQ'[g]} over {over}"}}
    goal, table = everywhere(deck, "table")
    check(np.array_equal(table.reshape(truth.shape), truth), f"the table differs\n{json.dumps(deck)}")
    check(goal == truth[(*place, g)], f"{goal}, not {truth[(*place, g)]}\n{json.dumps(deck)}")
    deck["dp"]["mode"] = "recover"
    path = everywhere(deck)[1]
    first = place[:2] + [-1] + [g] * (count > 1) + place[2:]
    check(path[0].tolist() == first, f"ends in {path[0]}, not {first}\n{json.dumps(deck)}")
    deck["dp"]["mode"] = "value"
    check(goal_of(deck, 3) == goal, "mode value")


# --------------------------------------------------------------------- bad input


def refused_case():
    table = {"type": "i32", "rows": 5, "cols": 6, "depth": [4, 3]}
    edge = [("i == 0 || j == 0", "0")]

    def refuse(*said, cell="M[i-1][j][k][l] + 1", goal="M[4][5][3][2]", boundary=edge, table=table, status=2, **more):
        deck = json.dumps(made(table, cell, goal, boundary, **{"mode": "value", **more}), indent=1)
        done = suite.run(["run", suite.write("bad.yaml", deck.encode()), "-o", suite.path("bad.h5")])
        check(done.status == status and "bad.yaml:" in done.err and all(s in done.err for s in said), f"{said} expected: {done.status} {done.tail()}")

    refuse("dp.table.depth", "5 extents; a table has at most 6 indices, these make 7", table={**table, "depth": [2, 2, 2, 2, 2]})
    refuse("dp.table.depth[1]", "0; allowed 1 to 2^21", table={**table, "depth": [4, 0]})
    refuse("dp.table.depth[1]", "4000000 layers of a cell with this extent; allowed 1 to 2^21", table={**table, "depth": [2000, 2000]})
    refuse("dp.table.depth[1]", "unknown name 'z'", "^", table={**table, "depth": [4, "len(z)"]})
    refuse("dp.cell", "column 1: 'M' has 4 indices, as `depth` is given; these are 3", "^~~~~~~~~~~~", cell="M[i-1][j][k] + 1")
    refuse("dp.goal", "'M' has 4 indices, as `depth` is given; these are 2", "^~~~~~~", goal="M[4][5]")
    refuse("dp.cell", "column 16: 'M' has 4 indices only; each size of `depth` gives it one more", "^", cell="M[i-1][j][k][l][0]")
    refuse("dp.cell", "unknown name 'm'", "^", cell="M[i-1][j][k][l] + m")
    refuse("dp.cell", "M[0][1][0][-1] is outside the table of 5 rows, 6 columns and depth 4 x 3 at i = 1, j = 1, k = 0, l = 0", "^~~~~",
           cell="M[i-1][j][k][l-1]")
    refuse("dp.cell", "M[0][1][4][0] is outside", "k = 3, l = 0", cell="M[i-1][j][k+1][l]")
    refuse("dp.cell", "M[1][1][0][1] of the same cell, which is computed after it: k, l ascend, the last index fastest; at i = 1, j = 1, k = 0, l = 0",
           "^~~~~", cell="l < 2 ? M[i][j][k][l+1] : 0")
    refuse("dp.cell", "computed from it", "^~~~~", cell="M[i][j][k][l] + 1")
    refuse("dp.data[0].name", "'l' is an index of the table, as `depth` is given", data=[{"name": "l", "values": [1]}])
    refuse("dp.cell", "'l' is an index of the table", cell="max(l = 0 .. 2 : M[i-1][j][k][l])")
    refuse("dp.goal", "'l' is the place of a cell", "^", goal="M[4][5][3][l]")
    refuse("dp.goal", "M[4][5][3][3] is outside the table", goal="M[4][5][3][3]")
    refuse("dp.memory", "is too little", "is needed", mode="recover", memory="1 MB", goal="M[299][299][3][2]",
           table={**table, "rows": 300, "cols": 300, "depth": [6, 5]}, cell="max(M[i-1][j][k][l], M[i][j-1][k][l])")
    # an error while it is filled names all indices
    deck = json.dumps(made({**table, "type": "i16"}, "M[i-1][j][k][l] * 8 + 100 * k + 10 * l", "M[4][5][3][2]", edge, pattern="RUD", mode="value"))
    for args in ([], ["--interpret"]):
        done = suite.run(["run", suite.write("bad.yaml", deck.encode()), "-o", suite.path("bad.h5"), *args])
        check(done.status == 3 and "at i = 4, j = 5, k = 0, l = 2" not in done.err and "k = " in done.err and ", l = " in done.err, done.tail())


def plan_case():
    plan = suite.run(["plan", suite.write("plan.yaml", json.dumps(lcs_deck(["ACGT" * 5] * 4)).encode())])
    check(plan.status == 0 and "patterns that fit: NOSE" in plan.out and "predicted" in plan.out, plan.tail())


for seed in range(2 if suite.fast else 12):
    for count in (4, 5, 6):
        suite.case(f"{count} sequences {seed}", lcs_case, count, seed)
    suite.case(f"common structure {seed}", fold_case, seed)
    suite.case(f"two resources {seed}", sack_case, seed)
for kind in ("wave", "rows", "interval"):
    for seed in range(2 if suite.fast else 20):
        suite.case(f"random {kind} {seed}", random_case, kind, seed)
suite.case("four sequences of the deck", lcs_of_deck_case)
suite.case("table of four sequences", lcs_table_case)
suite.case("plan", plan_case)
suite.case("refused", refused_case)
suite.end()
