#!/usr/bin/env python3
"""Recurrences of several tables with one order, against plain loops, a built-in problem and parasail.

usage: dp_tables.py TESELA [--fast] [ONLY]

Random decks are made as text and as Python at once; compiled, interpreted and shared out over ranks they give the
same bytes.
"""
import json
import pathlib
import random

import harness
from harness import check, np

try:
    import parasail
except ImportError:  # the built-in problem, which has its own tests, is left
    parasail = None

suite = harness.Suite(__doc__, jobs=3)
CARDS = suite.cards()
DECKS = pathlib.Path(__file__).resolve().parents[2] / "inputs/dp"


def deck(table, tables, goal, mode="table", data=(), **more):
    entries = [{"name": n, "boundary": [{"where": w, "value": v} for w, v in rules], "cell": cell}
               for n, rules, cell in tables]
    return {"family": "dp", "run": {"device": "cpu", "threads": 2},
            "dp": {"problem": "recurrence", "mode": mode, "table": table, "data": list(data), "tables": entries,
                   "goal": goal, **more}}


def run(made, ranks=1, args=(), field="table"):
    with suite.result(made if isinstance(made, str) else json.dumps(made), ranks=ranks, args=list(args),
                      timeout=300) as file:
        return file["results/goal"][()].reshape(-1)[0], file[f"results/{field}"][()] if field else None


def records():
    parts = (DECKS / "pair.fasta").read_text().split(">")[1:]
    return ["".join(p.split("\n")[1:]).upper() for p in parts]


# ----------------------------------------------------------------------- known problems


def gotoh_case():
    """Its score is the built-in problem's and parasail's; its path adds up to it."""
    a, b = records()
    goal, path = run((DECKS / "gotoh.yaml").read_text().replace("pair.fasta", str(DECKS / "pair.fasta")), field="path")
    built_in = {"family": "dp", "dp": {"problem": "global", "a": {"text": a}, "b": {"text": b},
                                       "scores": {"match": 2, "mismatch": -3, "open": 5, "extend": 2}}}
    with suite.result(json.dumps(built_in)) as file:
        score = file["results/goal"][()].reshape(-1)[0]
    check(goal == score, f"{goal}, the built-in problem {score}")
    if parasail is not None:
        other = parasail.nw_striped_32(a, b, 7, 2, parasail.matrix_create("".join(sorted(set(a + b))), 2, -3)).score
        check(goal == other, f"{goal}, parasail {other}")
    check(path.shape[1] == 4 and path[0].tolist() == [len(a), len(b), -1, 2], f"{path[:2]}")
    check((path[1:, 2] == np.arange(len(path) - 1)).all(), "not a chain")
    total, (i, j, _, t) = 0, path[0]
    for i2, j2, _, t2 in path[1:]:
        move = (i - i2, j - j2, t, t2)
        costs = {(1, 1, 2, 2): 2 if a[i - 1] == b[j - 1] else -3, (0, 0, 2, 0): 0, (0, 0, 2, 1): 0,
                 (0, 1, 0, 2): -7, (0, 1, 0, 0): -2, (1, 0, 1, 2): -7, (1, 0, 1, 1): -2}
        check(move in costs, f"{move} at {i}, {j}")
        total, i, j, t = total + costs[move], i2, j2, t2
    last = 0 if i == j == 0 else -7 - 2 * (i + j - 1)
    check(i * j == 0 and total + last == goal, f"the path has {total + last}, the goal is {goal}")


def any_gaps(a, b, cost, match, mismatch):
    """Score of the best alignment with gaps of any cost, those of all lengths tried in each cell."""
    h = np.zeros((len(a) + 1, len(b) + 1))
    h[1:, 0], h[0, 1:] = -cost[1:len(a) + 1], -cost[1:len(b) + 1]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            pair = h[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            h[i, j] = max(pair, (h[i, :j] - cost[j:0:-1]).max(), (h[:i, j] - cost[i:0:-1]).max())
    return h[-1, -1]


def two_piece_case(ranks):
    """Gaps of the less of 4 + 2 k and 24 + k, on both sides of k = 20, at the ends and within."""
    rng = np.random.default_rng(11)
    s = "".join(rng.choice(list("ACGT"), 260))
    k = np.arange(400)
    cost = np.minimum(4 + 2 * k, 24 + k)
    text = (DECKS / "two_piece_gaps.yaml").read_text()
    for a, b in ((s, s[:60] + s[75:120] + s[190:]), (s[45:230], s[:140] + s[161:]), (s[:70], s[190:]), (s[:3], s[:90])):
        made = text.replace("file: pair.fasta, type: letters, record: 2", f"type: letters, text: {b}")
        goal, path = run(made.replace("file: pair.fasta, type: letters", f"type: letters, text: {a}"), ranks, field="path")
        want = any_gaps(a, b, cost, 2, -4)
        check(goal == want, f"{goal}, not {want}")
        check(path[0].tolist() == [len(a), len(b), -1, 4], f"{path[0]}")


def hmm_loops(a, b, gap, longer, end, alone):
    """Probabilities, not logarithms."""
    n, m = len(a), len(b)
    f = np.zeros((3, n + 1, m + 1))
    f[0, 0, 0] = 1
    for i in range(n + 1):
        for j in range(m + 1):
            if i and j:
                same = 0.19 if a[i - 1] == b[j - 1] else 0.02
                f[0, i, j] = same * (f[0, i - 1, j - 1] * (1 - 2 * gap - end) +
                                     (f[1, i - 1, j - 1] + f[2, i - 1, j - 1]) * (1 - longer - end))
            if i:
                f[1, i, j] = alone * (f[0, i - 1, j] * gap + f[1, i - 1, j] * longer)
            if j:
                f[2, i, j] = alone * (f[0, i, j - 1] * gap + f[2, i, j - 1] * longer)
    return f


def hmm_paths(a, b, gap, longer, end, alone):
    """The sum over all paths of states, one by one."""
    move = np.array([[1 - 2 * gap - end, gap, gap], [1 - longer - end, longer, 0], [1 - longer - end, 0, longer]])

    def tails(i, j, state):
        if i == len(a) and j == len(b):
            return end
        total = 0.0
        for to, (di, dj) in enumerate(((1, 1), (1, 0), (0, 1))):
            if i + di <= len(a) and j + dj <= len(b) and move[state, to] > 0:
                emit = alone if to else 0.19 if a[i] == b[j] else 0.02
                total += move[state, to] * emit * tails(i + di, j + dj, to)
        return total

    return tails(0, 0, 0)


def hmm_case(a, b):
    numbers = (0.1, 0.3, 0.05, 0.25)
    text = (DECKS / "pair_hmm.yaml").read_text().replace("GATTACAGATTACA", a).replace("GCATGCTTACGA", b)
    text = text.replace("  problem: recurrence", "  problem: recurrence\n  mode: table")
    f = hmm_loops(a, b, *numbers)
    goal, table = run(text)
    with np.errstate(divide="ignore"):
        truth = np.log(np.moveaxis(f, 0, 2))
    finite = np.isfinite(truth)
    check(np.array_equal(np.isfinite(table), finite), "infinite values differ")
    check(np.abs(table[finite] - truth[finite]).max() < 1e-11, "tables differ")
    check(abs(goal - np.log(0.05 * f[:, -1, -1].sum())) < 1e-11, f"goal {goal}")
    if len(a) * len(b) < 20:
        check(abs(goal - np.log(hmm_paths(a, b, *numbers))) < 1e-11, f"goal {goal} is not the sum over paths")
    for ranks, args in ((3, []), (1, ["--interpret", "--set", "run.device=cpu"])):
        check(run(text, ranks, args)[1].tobytes() == table.tobytes(), "not the same bytes")


def fold_case(n, seed):
    """Pairs (V) and intervals (W), as of folding: W splits, V closes W or stacks on V."""
    seq = "".join(random.Random(seed).choice("ACGU") for _ in range(n))
    far, pairs = 9999, {"AU", "UA", "GC", "CG", "GU", "UG"}
    v, w = np.full((n, n), far), np.zeros((n, n), int)
    for d in range(4, n):
        for i in range(n - d):
            j = i + d
            if seq[i] + seq[j] in pairs:
                v[i, j] = min(d % 7 - 2, v[i + 1, j - 1] - 3, w[i + 1, j - 1] + 2)
            splits = [w[i, k] + w[k + 1, j] for k in range(i + 4, j - 4)]
            w[i, j] = min([v[i, j], w[i + 1, j], w[i, j - 1]] + splits)
    truth = np.stack([np.triu(v), np.triu(w)], 2)
    pair = " || ".join(f"(s[i] == '{p[0]}' && s[j] == '{p[1]}')" for p in sorted(pairs))
    made = deck({"type": "i32", "rows": n, "cols": n, "cells": "upper"},
                [("V", [("j - i < 4", "9999")],
                  f"{pair} ? min((j - i) % 7 - 2, V[i+1][j-1] - 3, W[i+1][j-1] + 2) : 9999"),
                 ("W", [("j - i < 4", "0")],
                  "min(V[i][j], W[i+1][j], W[i][j-1], min(k = i + 4 .. j - 5 : W[i][k] + W[k+1][j] else 9999))")],
                f"W[0][{n - 1}]", data=[{"name": "s", "text": seq}])
    for ranks, args in ((1, []), (3, []), (1, ["--interpret"])):
        goal, table = run(made, ranks, args)
        check(goal == w[0, n - 1] and np.array_equal(table, truth), f"{ranks} ranks {args}: {goal}, {w[0, n - 1]}")
    made["dp"]["mode"] = "recover"
    _, path = run(made, field="path")
    check(path[0].tolist() == [0, n - 1, -1, 1] and (path[1:, 2] < np.arange(1, len(path))).all(), f"{path}")
    for i, j, start, t in path[1:]:
        i2, j2, _, t2 = path[start]
        check((i >= i2 and j <= j2 and (i, j) != (i2, j2)) or (t, t2) == (0, 1), f"{(i, j, t)} under {(i2, j2, t2)}")


# ------------------------------------------------------------------------- random decks


class Term:
    """A text and its value."""

    def __init__(self, text, value):
        self.text, self.value = text, value


class Shape:
    """Tables of a random deck: their number, n x m cells, so many layers (0: no third index), signs of the order."""

    def __init__(self, count, n, m, depth, si, sj):
        self.count, self.n, self.m, self.depth, self.si, self.sj = count, n, m, depth, si, sj
        self.layer = [(5 * k + 3) % depth for k in range(depth)]


def read(rng, shape, t, row, col, at):
    """Some layer of another cell."""
    kinds = [("", lambda k: 0)] if not shape.depth else [
        ("[k]", lambda k: k), ("[max(k - 2, 0)]", lambda k: max(k - 2, 0)), ("[c[k]]", lambda k: shape.layer[k]),
        (f"[{shape.depth - 1} - k]", lambda k: shape.depth - 1 - k), (f"[min(k+1, {shape.depth - 1})]", lambda k: min(k + 1, shape.depth - 1))]
    text, layer = rng.choice(kinds)
    return Term(f"{NAMES[t]}[{row}][{col}]{text}", lambda get, i, j, k: get(t, *at(i, j), layer(k)))


NAMES = "PQRSTUVW"


def remainder(a, n):
    """With the sign of the dividend, as the language has it."""
    return a - n * int(a / n)


def joined(rng, terms):
    """max or min of terms with something added, or a sum that stays small."""
    terms = [Term(f"{x.text} + {c}", lambda *at, x=x, c=c: x.value(*at) + c)
             for x in terms for c in [rng.randint(0, 9)]]
    kind = rng.choice(["max", "min", "sum"])
    if kind == "sum":
        return Term("(" + " + ".join(x.text for x in terms) + ") % 101",
                    lambda *at: remainder(sum(x.value(*at) for x in terms), 101))
    pick = max if kind == "max" else min
    return Term(f"{kind}({', '.join(x.text for x in terms)}{', 7' if len(terms) == 1 else ''})",
                lambda *at: pick([x.value(*at) for x in terms] + ([7] if len(terms) == 1 else [])))


def wave_terms(rng, shape, t):
    moves = rng.sample([(1, 1), (1, 0), (0, 1)], rng.randint(1, 3))
    terms = [read(rng, shape, rng.randrange(shape.count), f"i{-shape.si * a:+d}", f"j{-shape.sj * b:+d}",
                  lambda i, j, a=a, b=b: (i - shape.si * a, j - shape.sj * b)) for a, b in moves]
    return terms + own_terms(rng, shape, t)


def own_terms(rng, shape, t):
    """Of the same cell: the same layer of tables before, any layer before."""
    third = "[k]" if shape.depth else ""
    terms = [Term(f"{NAMES[u]}[i][j]{third}", lambda get, i, j, k, u=u: get(u, i, j, k))
             for u in rng.sample(range(t), min(t, rng.randint(0, 2)))]
    if shape.depth and rng.random() < 0.7:
        u, back = rng.randrange(shape.count), rng.randint(1, 2)
        terms.append(Term(f"(k >= {back} ? {NAMES[u]}[i][j][k-{back}] : k)",
                          lambda get, i, j, k: get(u, i, j, k - back) if k >= back else k))
    if shape.depth and rng.random() < 0.3:
        v = rng.randrange(shape.count)
        terms.append(Term(f"max(l = 0 .. k - 1 : {NAMES[v]}[i][j][l] - l else 2)",
                          lambda get, i, j, k: max((get(v, i, j, l) - l for l in range(k)), default=2)))
    return terms


def row_terms(rng, shape, t):
    m, si, v = shape.m, shape.si, rng.randrange(shape.count)
    terms = [read(rng, shape, rng.randrange(shape.count), f"i{-si:+d}", f"min(j + 3, {m - 1})",
                  lambda i, j: (i - si, min(j + 3, m - 1)))]
    third = "[k]" if shape.depth else ""
    terms.append(Term(f"max(l = 0 .. j : {NAMES[v]}[i{-si:+d}][l]{third} - l)",
                      lambda get, i, j, k: max(get(v, i - si, l, k) - l for l in range(j + 1))))
    return terms + own_terms(rng, shape, t)


def interval_terms(rng, shape, t):
    u, v, third = rng.randrange(shape.count), rng.randrange(shape.count), "[k]" if shape.depth else ""
    terms = [read(rng, shape, u, "i+1", "j", lambda i, j: (i + 1, j)), read(rng, shape, v, "i", "j-1", lambda i, j: (i, j - 1)),
             Term(f"max(l = i .. j - 1 : {NAMES[u]}[i][l]{third} + {NAMES[v]}[l+1][j]{third} - 40)",
                  lambda get, i, j, k: max(get(u, i, l, k) + get(v, l + 1, j, k) - 40 for l in range(i, j)))]
    if t > 0: # the cell itself is one of those that the range reads
        w = rng.randrange(t)
        terms.append(Term(f"max(l = i .. j : {NAMES[w]}[l][j]{third} - l)",
                          lambda get, i, j, k: max(get(w, l, j, k) - l for l in range(i, j + 1))))
    return rng.sample(terms, rng.randint(1, len(terms))) + own_terms(rng, shape, t)


def goal_over(rng, values, upper, g, count, depth):
    """A goal over cells of table g, its value, and the first record of its solution: the first of the best cells."""
    word, cells = rng.choice(["max", "min"]), rng.choice(["all", "last row", "last column"])
    sign = 1 if word == "max" else -1
    i, j, k = np.indices(values.shape)
    there = (i <= j) | (not upper)
    if cells != "all":
        there &= (i == len(values) - 1) if cells == "last row" else (j == values.shape[1] - 1)
    place = np.unravel_index(np.where(there, sign * values, -10 ** 9).argmax(), values.shape)
    table, layer = [g] * (count > 1), [int(place[2])] * (depth > 0)
    return f"{word} {NAMES[g]} over {cells}", values[place], [int(x) for x in place[:2]] + [-1] + table + layer


def random_case(kind, seed, deep):
    rng = random.Random(f"{kind} {seed}{' deep' if deep else ''}")
    count, depth = rng.randint(1 if deep else 2, 3 if deep else 6), rng.choice([1, 2, 5, 12, 30]) if deep else 0
    n, m, si, sj = rng.randint(2, 40), rng.randint(2, 30 if deep else 90), 1, 1
    if kind == "wave":
        si, sj = rng.choice([(1, 1), (-1, 1), (1, -1), (-1, -1)])
        make, edge = wave_terms, (f"i == {0 if si > 0 else n - 1} || j == {0 if sj > 0 else m - 1}",
                                  lambda i, j: i == (0 if si > 0 else n - 1) or j == (0 if sj > 0 else m - 1))
    elif kind == "rows":
        si = rng.choice([1, -1])
        make, edge = row_terms, (f"i == {0 if si > 0 else n - 1}", lambda i, j: i == (0 if si > 0 else n - 1))
    else:
        n = m = rng.randint(2, 20 if deep else 70)
        si = -1
        make, edge = interval_terms, ("i == j", lambda i, j: i == j)
    shape = Shape(count, n, m, depth, si, sj)
    type_ = rng.choice(["i32", "i64", "f64", "i16"] if kind != "interval" else ["i32", "i64", "f64"])
    cells = [joined(rng, make(rng, shape, t)) for t in range(count)]
    bases = [rng.randint(0, 9) for _ in range(count)]
    low = rng.random() < 0.5 and depth > 1 # layer 0 has a rule of its own
    truth = np.zeros((n, m, max(depth, 1), count), np.int64)
    get = lambda t, i, j, k: int(truth[i, j, k, t])
    for i in range(n)[::si]:
        for j in range(m)[::sj]:
            if kind == "interval" and i > j:
                continue
            for k, t in np.ndindex(max(depth, 1), count):
                if low and k == 0:
                    truth[i, j, k, t] = (i + j) % 5
                elif edge[1](i, j):
                    truth[i, j, k, t] = (3 * i + 5 * j + 7 * k + bases[t]) % 11 if t == 0 or bases[t] % 2 else truth[i, j, k, 0] + 1
                else:
                    truth[i, j, k, t] = cells[t].value(get, i, j, k)
    if type_[0] == "f" and any("%" in c.text for c in cells):
        type_ = "i64"
    third, value = ("[k]", "7 * k + ") if depth else ("", "")
    tables = [(NAMES[t], [("k == 0", "(i + j) % 5")] * low + [(edge[0], f"(3 * i + 5 * j + {value}{bases[t]}) % 11"
                                                              if t == 0 or bases[t] % 2 else f"P[i][j]{third} + 1")],
               cells[t].text) for t in range(count)]
    g = rng.randrange(count)
    table = {"type": type_, "rows": n, "cols": m, "cells": "upper" if kind == "interval" else "all"}
    data = []
    if depth:
        table["depth"], data = depth, [{"name": "c", "values": shape.layer, "type": "int"}]
    goals = [goal_over(rng, truth[..., g], kind == "interval", g, count, depth) for _ in range(2)]
    a, b, c = rng.randrange(n), rng.randrange(m), rng.randrange(max(depth, 1))
    if kind != "interval" or a <= b:
        third = f"[{c}]" if depth else ""
        goals.append((f"{NAMES[g]}[{a}][{b}]{third} - P[{a}][{b}]{third.replace(str(c), '0')}",
                      truth[a, b, c, g] - truth[a, b, 0, 0], None))
    if depth:
        goals.append((f"max(l = 0 .. {depth - 1} : {NAMES[g]}[{n // 2}][{m - 1}][l])", truth[n // 2, m - 1, :, g].max(), None))
    truth = truth.reshape(n, m, -1) if depth or count > 1 else truth[:, :, 0, 0]
    for goal, best, first in goals:
        made = deck(table, tables, goal, data=data)
        bytes_ = set()
        for ranks, args in ((1, []), (1, ["--interpret"]), (2, []), (3, ["--interpret"]), (5, []), *CARDS):
            got, cells_ = run(made, ranks, args)
            check(got == best, f"{goal}: {got}, not {best}; {ranks} ranks {args}\n{json.dumps(made)}")
            check(np.array_equal(cells_, truth), f"the table differs; {ranks} ranks {args}\n{json.dumps(made)}")
            bytes_.add(cells_.tobytes())
        check(len(bytes_) == 1, "not the same bytes")
        made["dp"]["mode"] = "value"
        for ranks, args in ((1, []), (3, []), *CARDS):
            check(run(made, ranks, args, None)[0] == best, f"mode value, {ranks} ranks {args}\n{json.dumps(made)}")
        made["dp"]["mode"] = "recover"
        paths = [run(made, ranks, args, "path")[1] for ranks, args in ((1, []), (3, []), (1, ["--interpret"]), *CARDS)]
        check(len({p.tobytes() for p in paths}) == 1, "not the same solution")
        check(first is None or paths[0][0].tolist() == first, f"{goal}: ends in {paths[0][0]}, not {first}\n{json.dumps(made)}")


# --------------------------------------------------------------------------- bad input


def refused_case():
    shape = {"type": "i32", "rows": 5, "cols": 6}
    edge = [("i == 0 || j == 0", "0")]

    def refuse(tables, goal, *words, table=shape, **more):
        made = json.dumps(deck(table, tables, goal, **more), indent=1)
        done = suite.run(["run", suite.write("bad.yaml", made.encode()), "-o", suite.path("bad.h5")])
        check(done.status == 2 and all(w in done.err for w in words), f"{words} expected: {done.status} {done.tail()}")

    one = ("A", edge, "A[i-1][j] + 1")
    refuse([("A", edge, "B[i][j] + 1"), ("B", edge, "A[i][j] + 1")], "A[1][1]", "dp.tables[0].cell",
           "A reads the same cell of B, and B that of A: neither can be computed first", "^~~~~~~")
    refuse([("A", edge, "B[i][j] + 1"), ("B", edge, "B[i-1][j]")], "A[1][1]",
           "A reads the same cell of B, which is computed after it; put B before A", "^~~~~~~")
    refuse([one, ("B", edge, "B[i-1][j] + C[i][j]")], "A[1][1]", "dp.tables[1].cell", "unknown name 'C'", "^")
    refuse([one, one], "A[1][1]", "dp.tables[1].name", "'A'")
    refuse([one], "A[1][1]", "'A'", "dp.data[0].name", data=[{"name": "A", "values": [1]}])
    refuse([(f"T{t}", edge, "1") for t in range(9)], "T0[1][1]", "dp.tables", "9 tables; at most 8")
    refuse([one, ("B", edge, "A[i+1][j] + B[i-1][j]")], "A[1][1]", "dp.tables", "A[i+1][j]")
    refuse([one, ("B", edge, "1")], "max over all", "dp.goal", "there are 2 tables", "max A over all")
    refuse([one, ("B", edge, "1")], "max C over all", "dp.goal", "there is no table 'C'")
    refuse([one, ("B", [("i == 0", "B[i][j]")], "B[i-1][j]")], "A[1][1]", "dp.tables[1].boundary[0].value", "B[i][j]")
    refuse([one], "A[1][1]", "dp.cell", "`tables`", cell="1")
    refuse([one], "A[1][1]", "dp.table.name", "`tables`", table={**shape, "name": "Z"})
    bad = deck(shape, [one], "A[1][1]")
    bad["dp"]["tables"][0]["rows"] = 4
    done = suite.run(["run", suite.write("bad.yaml", json.dumps(bad).encode()), "-o", suite.path("bad.h5")])
    check(done.status == 2 and "rows" in done.err, done.tail())
    # an error while it is filled names table and cell
    made = deck({**shape, "type": "i16"}, [one, ("B", edge, "A[i][j] * 9000 + B[i-1][j]")], "B[4][5]")
    for args in ([], ["--interpret"]):
        done = suite.run(["run", suite.write("bad.yaml", json.dumps(made).encode()), "-o", suite.path("bad.h5"), *args])
        check(done.status == 3 and "dp.tables[1].cell" in done.err and "at i = 3, j = 1" in done.err, done.tail())


suite.case("Gotoh", gotoh_case)
for ranks in (1, 3):
    suite.case(f"two-piece gaps on {ranks} ranks", two_piece_case, ranks)
suite.case("pair HMM", hmm_case, "GATTACAGATTACA", "GCATGCTTACGA")
suite.case("pair HMM, all paths", hmm_case, "GAT", "CATG")
for n, seed in ((7, 1), (90, 2)):
    suite.case(f"pairs and intervals of {n} letters", fold_case, n, seed)
for kind in ("wave", "rows", "interval"):
    for seed in range(2 if suite.fast else 25):
        suite.case(f"random {kind} {seed}", random_case, kind, seed, False)
        suite.case(f"random {kind} {seed} with depth", random_case, kind, seed, True)
suite.case("refused", refused_case)
suite.end()
