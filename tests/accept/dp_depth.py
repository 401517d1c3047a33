#!/usr/bin/env python3
"""Recurrences with a third index, against all subsequences, alignments, parses and selections of small inputs.

usage: dp_depth.py TESELA [--fast] [ONLY]

Random decks with a third index are in dp_tables.py, four indices and more in dp_indices.py.
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


def made(table, cell, goal, boundary=(), data=(), constants=(), mode="value", **more):
    return {"family": "dp", "run": {"device": "cpu", "threads": 2},
            "dp": {"problem": "recurrence", "mode": mode, "table": table, "data": list(data),
                   "constants": [{"name": n, "value": v} for n, v in constants],
                   "boundary": [{"where": w, "value": v} for w, v in boundary], "cell": cell, "goal": goal, **more}}


def goal_of(deck, ranks=1, args=(), field=None):
    text = deck if isinstance(deck, str) else json.dumps(deck)
    with suite.result(text, ranks=ranks, args=list(args), timeout=300) as file:
        goal = file["results/goal"][()].reshape(-1)[0]
        return (goal, file[f"results/{field}"][()]) if field else goal


def from_deck(name, **texts):
    """A deck of inputs/dp with other letters."""
    text = (DECKS / f"{name}.yaml").read_text()
    for key, value in texts.items():
        start = text.index(f"{{name: {key}, ")
        text = text[:start] + f"{{name: {key}, type: letters, text: {value}}}" + text[text.index("}", start) + 1:]
    return text


SOCKETS = tuple((n, ["--set", "run.device=cpu"]) for n in (1, 2, 3))
CARDS = suite.cards()
ALL = SOCKETS + ((1, ["--interpret", "--set", "run.device=cpu"]),) + CARDS


def words(rng, least, most):
    return ["".join(rng.choice("ACGT") for _ in range(rng.randint(least, most))) for _ in range(3)]


# --------------------------------------------------------------- three sequences


def lcs_by_subsequences(a, b, c):
    """The longest of all subsequences of a that b and c have."""
    def has(text, word):
        letters = iter(text)
        return all(x in letters for x in word)
    for n in range(len(a), -1, -1):
        if any(has(b, word) and has(c, word) for word in itertools.combinations(a, n)):
            return n
    return 0


def lcs_by_planes(a, b, c):
    """The whole table, i by i."""
    m = np.zeros((len(a) + 1, len(b) + 1, len(c) + 1), int)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            for k in range(1, len(c) + 1):
                m[i, j, k] = m[i - 1, j - 1, k - 1] + 1 if a[i - 1] == b[j - 1] == c[k - 1] else max(
                    m[i - 1, j, k], m[i, j - 1, k], m[i, j, k - 1])
    return m


def lcs_case(seed):
    rng = random.Random(seed)
    a, b, c = words(rng, 4, 10)
    best = lcs_by_subsequences(a, b, c)
    deck = from_deck("three_sequences", a=a, b=b, c=c)
    for ranks, args in ALL:
        goal, path = goal_of(deck, ranks, args, "path")
        check(goal == best, f"{goal}, not {best}, of {a} {b} {c}; {ranks} ranks {args}")
        check(path.shape[1] == 4 and path[0].tolist() == [len(a), len(b), -1, len(c)], f"{path[:3]}")
        places = [tuple(int(x) for x in row[[0, 1, 3]]) for row in path]
        letters = [a[p[0] - 1] for p, q in zip(places, places[1:]) if all(x - y == 1 for x, y in zip(p, q))]
        matches = [p for p, q in zip(places, places[1:]) if all(x - y == 1 for x, y in zip(p, q))]
        check(all(a[i - 1] == b[j - 1] == c[k - 1] for i, j, k in matches) and len(letters) == best, f"the path has {letters}")


def lcs_table_case(ranks, args):
    a, b, c = words(random.Random(7), 150, 170)
    c = c[:33]
    truth = lcs_by_planes(a, b, c)
    deck = from_deck("three_sequences", a=a, b=b, c=c).replace("mode: recover", "mode: table")
    goal, table = goal_of(deck, ranks, args, "table")
    check(goal == truth[-1, -1, -1] and np.array_equal(table, truth), f"the table differs on {ranks} ranks {args}")


def align_by_recursion(a, b, c, gap):
    """All ways to write the three below each other, from their ends."""
    def pair(x, y):
        return 0 if x is None and y is None else gap if x is None or y is None else int(x != y)

    @functools.lru_cache(None)
    def cost(i, j, k):
        if i == j == k == 0:
            return 0
        best = []
        for di, dj, dk in itertools.product((0, 1), repeat=3):
            if (di or dj or dk) and di <= i and dj <= j and dk <= k:
                x, y, z = a[i - 1] if di else None, b[j - 1] if dj else None, c[k - 1] if dk else None
                best.append(cost(i - di, j - dj, k - dk) + pair(x, y) + pair(x, z) + pair(y, z))
        return min(best)
    return cost(len(a), len(b), len(c))


def align_case(seed):
    rng = random.Random(f"align {seed}")
    a, b, c = words(rng, 1, 25)
    want = align_by_recursion(a, b, c, 2)
    deck = from_deck("three_alignment", a=a, b=b, c=c)
    for ranks, args in ALL:
        goal, path = goal_of(deck, ranks, args, "path")
        check(goal == want, f"{goal}, not {want}, of {a} {b} {c}; {ranks} ranks {args}")
        total = 0
        for (i, j, _, k), (i2, j2, _, k2) in zip(path, path[1:]):
            column = [w[x - 1] if x > y else None for w, x, y in ((a, i, i2), (b, j, j2), (c, k, k2))]
            total += sum(0 if x is y is None else 2 if x is None or y is None else int(x != y)
                         for x, y in itertools.combinations(column, 2))
        check(total == goal and path[-1][[0, 1, 3]].tolist() == [0, 0, 0], f"the path costs {total}, not {goal}")


def local_by_cube(a, b, c, type_=int):
    """Local alignment of three: a column's pairs of letters score 2 or -1, a letter against a gap -1; 0 begins anew."""
    m = np.zeros((len(a) + 1, len(b) + 1, len(c) + 1), type_)
    for at in np.ndindex(m.shape):
        if min(at) > 0:
            m[at] = max(0, *(m[tuple(np.subtract(at, step))] + column_score(a, b, c, at, step) for step in STEPS))
    return m


STEPS = [s for s in itertools.product((0, 1), repeat=3) if any(s)]


def column_score(a, b, c, at, step):
    x, y, z = (w[n - 1] if s else "-" for w, n, s in zip((a, b, c), at, step))
    return sum(0 if u == v == "-" else -1 if "-" in (u, v) else 2 if u == v else -1 for u, v in ((x, y), (x, z), (y, z)))


def local_deck(a, b, c, over, type_="i32"):
    moves = [", ".join(["M[{}][{}][{}]".format(*(f"{n}-1" if s else n for n, s in zip("ijk", step)))]) + " + " + " + ".join(
        "0" if not s and not t else "-1" if s != t else f"({u}[{i}-1] == {v}[{j}-1] ? 2 : -1)"
        for (u, i, s), (v, j, t) in itertools.combinations(zip("abc", "ijk", step), 2)) for step in STEPS]
    sizes = [f"len({w}) + 1" for w in "abc"]
    return made({"type": type_, "rows": sizes[0], "cols": sizes[1], "depth": sizes[2]}, f"max(0, {', '.join(moves)})",
                f"max over {over}", [("i == 0 || j == 0 || k == 0", "0")],
                [{"name": n, "text": w} for n, w in zip("abc", (a, b, c))], mode="recover")


def local_case(seed):
    """The best cell of all, of the last row or column; the path's columns add up to it."""
    rng = random.Random(f"local {seed}")
    motif = "".join(rng.choice("ACGT") for _ in range(8))
    a, b, c = (w[:rng.randint(0, len(w))] + motif + w for w in words(rng, 3, 14))
    cube, type_ = local_by_cube(a, b, c), rng.choice(["i16", "i32", "i64", "f32"])
    for over, values in (("all", cube), ("last row", cube[-1:]), ("last column", cube[:, -1:])):
        i, j, k = np.unravel_index(values.argmax(), values.shape)
        first = [i + len(cube) - len(values), j + cube.shape[1] - values.shape[1], -1, k]
        for ranks, args in ALL:
            goal, path = goal_of(local_deck(a, b, c, over, type_), ranks, args, "path")
            check(goal == values.max(), f"{over}: {goal}, not {values.max()}, of {a} {b} {c}; {ranks} ranks {args}")
            check(path[0].tolist() == first, f"{over}: the path ends in {path[0]}, not {first}")
            places, total = path[:, [0, 1, 3]], 0
            for at, before in zip(places, places[1:]):
                total += column_score(a, b, c, at, at - before)
            check(total == goal and cube[tuple(places[-1])] == 0, f"{over}: the columns have {total}, not {goal}")


def local_table_case():
    """mode: table, of a size that several strips and blocks share; equally good cells: the first counts."""
    a, b, c = ["".join(np.random.default_rng(n).choice(list("AC"), 23 * n)) for n in (9, 17, 1)]
    small, first = local_by_cube(a[:20], b[:20], c[:20]), None
    for ranks, args in SOCKETS + CARDS:
        goal, table = goal_of({**(deck := local_deck(a, b, c, "all")), "dp": {**deck["dp"], "mode": "table"}}, ranks, args, "table")
        plain, path = goal_of(deck, ranks, args, "path")
        best = np.argwhere(table == table.max())[0]
        check(goal == plain == table.max() and path[0][[0, 1, 3]].tolist() == best.tolist(), f"{goal} {plain} {path[0]} {best}")
        check(np.array_equal(table[:21, :21, :21], small), "the table differs")
        first = table.tobytes() if first is None else first
        check(table.tobytes() == first, f"the table differs from that of one socket: {ranks} ranks {args}")


# ------------------------------------------------------- intervals and selections


def parse_case(seed):
    """A random grammar; every tree of every interval is tried."""
    rng = random.Random(f"parse {seed}")
    symbols, rules, letters = rng.randint(2, 5), rng.randint(3, 9), 3
    grammar = [[rng.randrange(symbols) for _ in range(rules)] for _ in range(3)]
    weight = [rng.randint(-5, 9) for _ in range(rules)]
    leaf = [[rng.choice([-900, rng.randint(0, 5)]) for _ in range(letters)] for _ in range(symbols)]
    text = [rng.randrange(letters) for _ in range(rng.randint(2, 9))]

    @functools.lru_cache(None)
    def best(i, j, k):
        if i == j:
            return leaf[k][text[i]]
        return max([best(i, s, b) + best(s + 1, j, c) + w for s in range(i, j)
                    for a, b, c, w in zip(*grammar, weight) if a == k] + [-900 * (j - i + 1)])
    deck = (DECKS / "parsing.yaml").read_text()
    start, end = deck.index("  table:"), deck.index("  boundary:")
    arrays = {"parent": grammar[0], "left": grammar[1], "right": grammar[2], "weight": weight}
    head = f"  table: {{type: i64, rows: len(text), cols: len(text), depth: {symbols}, cells: upper}}\n  data:\n"
    head += "".join(f"    - {{name: {n}, values: {v}}}\n" for n, v in arrays.items())
    head += f"    - {{name: text, values: {[x + ord('a') for x in text]}}}\n"
    head += f"    - {{name: letter, width: {letters}, values: {sum(leaf, [])}}}\n"
    deck = deck[:start] + head + deck[end:]
    for ranks, args in ALL:
        goal, path = goal_of(deck, ranks, args, "path")
        want = best(0, len(text) - 1, 0)
        check(goal == want, f"{goal}, not {want}; {ranks} ranks {args}\n{deck}")
        for i, j, _, k in path:
            check(0 <= k < symbols and i <= j, f"{path}")


def parse_known_case():
    """The text of the deck is balanced: letters, pairs and concatenations have the weights of its tree."""
    goal = goal_of((DECKS / "parsing.yaml").read_text().replace("recover", "value"))
    check(goal == 27, f"{goal}")


def sack_case(seed):
    rng = random.Random(f"sack {seed}")
    n, room, most = rng.randint(1, 11), rng.randint(1, 40), rng.randint(1, 5)
    w, v = [rng.randint(1, 20) for _ in range(n)], [rng.randint(1, 30) for _ in range(n)]
    want = max(sum(v[x] for x in some) for size in range(most + 1) for some in itertools.combinations(range(n), min(size, n))
               if sum(w[x] for x in some) <= room)
    text = (DECKS / "few_items.yaml").read_text()
    data, constants = text.index("  data:"), text.index("  boundary:")
    text = text[:data] + f"""  data:
    - {{name: w, values: {w}}}
    - {{name: v, values: {v}}}
  constants:
    - {{name: C, value: {room}}}
    - {{name: most, value: {most}}}
""" + text[constants:]
    for ranks, args in ALL:
        goal, path = goal_of(text, ranks, args, "path")
        taken = [int(i) - 1 for (i, j, _, k), (_, j2, _, k2) in zip(path, path[1:]) if k2 == k - 1]
        check(goal == want, f"{goal}, not {want}; {ranks} ranks {args}\n{text}")
        check(sum(v[x] for x in taken) == goal and sum(w[x] for x in taken) <= room and len(taken) <= most, f"{taken}")


def duration_case():
    """Real values: hidden states that stay for a time (k counts down), against every list of states."""
    rng = np.random.default_rng(5)
    seen, states, longest = rng.integers(0, 2, 7), 3, 3
    move, stay, emit = (np.log(rng.uniform(0.1, 1, shape)) for shape in ((states, states), (states, longest), (states, 2)))

    def score(runs):
        at, total, before = 0, 0.0, None
        for state, length in runs:
            total += stay[state, length - 1] + emit[state, seen[at:at + length]].sum()
            total += move[before, state] if before is not None else 0
            at, before = at + length, state
        return total

    def runs(left):
        if left == 0:
            yield ()
        for length in range(1, min(left, longest) + 1):
            for rest in runs(left - length):
                for state in range(states):
                    yield ((state, length), *rest)
    want = max(score(r) for r in runs(len(seen)))
    array = lambda name, x, **more: {"name": name, "values": x.ravel().tolist(), **more}
    # M[t][s][k]: letters up to t, the state s has been there for k + 1 of them when it ends or goes on
    cell = ("emit[j][seen[i]] + (k > 0 ? M[i-1][j][k-1]"
            f" : max(s = 0 .. {states - 1} : max(l = 0 .. {longest - 1} : M[i-1][s][l] + stay[s][l]) + move[s][j]))")
    deck = made({"type": "f64", "rows": len(seen), "cols": states, "depth": longest}, cell,
                f"max(s = 0 .. {states - 1} : max(l = 0 .. {longest - 1} : M[{len(seen) - 1}][s][l] + stay[s][l]))",
                [("i == 0", "k == 0 ? emit[j][seen[0]] : -inf")],
                [array("seen", seen, type="int"), array("emit", emit, width=2), array("move", move, width=states),
                 array("stay", stay, width=longest)])
    for ranks, args in ALL:
        goal = goal_of(deck, ranks, args)
        check(abs(goal - want) < 1e-12, f"{goal}, not {want}; {ranks} ranks {args}")


def large_depth_case():
    """So many layers that strips are narrow and tiles small: prefix sums in k, exactly known."""
    for pattern, cell in (("NOSE", "M[i-1][j-1][k] + (k > 0 ? M[i][j][k-1] - M[i-1][j-1][k-1] : 0) + 1"), ("RUD", "M[i-1][j][k] + 1")):
        deck = made({"type": "i32", "rows": 40, "cols": 150, "depth": 3000}, cell, "M[39][149][2999] + M[39][149][0] + M[7][9][1234]",
                    [("i == 0 || j == 0", "0")], pattern=pattern)
        steps = (39, 7)
        at = lambda i, k: i * (k + 1) if pattern == "NOSE" else i
        for ranks, args in SOCKETS[::2] + CARDS:
            goal, want = goal_of(deck, ranks, args), at(steps[0], 2999) + at(steps[0], 0) + at(steps[1], 1234)
            check(goal == want, f"{pattern}: {goal}, not {want}; {ranks} ranks {args}")


# --------------------------------------------------------------------- bad input


def refused_case():
    table = {"type": "i32", "rows": 5, "cols": 6, "depth": 4}
    edge = [("i == 0 || j == 0", "0")]

    def refuse(*said, cell="M[i-1][j][k] + 1", goal="M[4][5][3]", boundary=edge, table=table, args=(), **more):
        deck = json.dumps(made(table, cell, goal, boundary, **more), indent=1)
        done = suite.run(["run", suite.write("bad.yaml", deck.encode()), "-o", suite.path("bad.h5"), *args])
        check(done.status == 2 and all(s in done.err for s in said), f"{said} expected: {done.status} {done.tail()}")

    refuse("dp.table.depth[0]", "0; allowed 1 to 2^21", table={**table, "depth": 0})
    refuse("dp.table.depth", "-3; allowed 1 to", table={**table, "depth": -3})
    refuse("dp.table.depth", "allowed 1 to", table={**table, "depth": 1 << 30})
    refuse("dp.table.depth", "unknown name 'c'", "^", table={**table, "depth": "len(c)"})
    refuse("dp.cell", "M[0][1][-1] is outside the table of 5 rows, 6 columns and depth 4 at i = 1, j = 1, k = 0", "^~~~~",
           cell="M[i-1][j][k-1]")
    refuse("dp.cell", "M[0][1][4] is outside", "k = 3", "^~~~~", cell="M[i-1][j][k+1]")
    refuse("dp.cell", "computed after it: k ascends; at i = 1, j = 1, k = 0", "^~~~~", cell="k < 3 ? M[i][j][k+1] : 0")
    refuse("dp.cell", "computed from it: k ascends", "^~~~~", cell="M[i][j][k] + 1")
    refuse("dp.goal", "'M' has 3 indices, as `depth` is given; these are 2", "^~~~~", goal="M[4][5]")
    refuse("dp.goal", "got 'over'", goal="max over last layer")
    refuse("dp.goal", "there is no table 'N'", goal="max N over all")
    refuse("dp.goal", "M[4][5][4] is outside the table", goal="M[4][5][4]")
    refuse("dp.goal", "'k' is the place of a cell", "^", goal="M[4][5][k]")
    refuse("dp.cell", "column 22: 'M' has 2 indices only; each size of `depth` gives it one more", cell="M[i-1][j] + M[i-1][j][0]", goal="M[4][5]",
           table={"type": "i32", "rows": 5, "cols": 6})
    refuse("dp.cell", "unknown name 'k'", cell="M[i-1][j] + k", goal="M[4][5]", table={"type": "i32", "rows": 5, "cols": 6})
    refuse("dp.data[0].name", "'k' is an index of the table", data=[{"name": "k", "values": [1]}])
    refuse("dp.cell", "'k' is an index of the table", cell="max(k = 0 .. 3 : M[i-1][j][k])")
    refuse("dp.boundary[0].value", "unknown name 'z'", boundary=[("k == 0", "z")])
    refuse("dp.memory", "is too little", "is needed", mode="recover", memory="1 MB", goal="M[299][299][3]",
           table={**table, "rows": 300, "cols": 300, "depth": 30}, cell="max(M[i-1][j][k], M[i][j-1][k])")
    refuse("rows and columns of cells are needed: 447.0 GiB of host memory", table={**table, "rows": 30000, "cols": 30000, "depth": 1000000}, goal="M[29999][29999][3]",
           cell="max(M[i-1][j][k], M[i][j-1][k])")
    for _, args in CARDS[:1]:
        refuse("a card takes rows of 2.0 GiB", "30000 cells of 156.2 KiB", "dp.table.depth", args=args, goal="M[2][29999][3]",
               cell="max(M[i-1][j][k], M[i][j-1][k])", table={**table, "rows": 3, "cols": 30000, "depth": 40000})
    # an error while it is filled names the layer
    deck = json.dumps(made({**table, "type": "i16"}, "M[i-1][j][k] * 8 + 100 * k", "M[4][5][3]", edge, pattern="RUD"))
    for args in ([], ["--interpret"]):
        done = suite.run(["run", suite.write("bad.yaml", deck.encode()), "-o", suite.path("bad.h5"), *args])
        check(done.status == 3 and "at i = 4, j = 5, k = 1" in done.err, done.tail())


for seed in range(3 if suite.fast else 12):
    suite.case(f"subsequences {seed}", lcs_case, seed)
    suite.case(f"alignment {seed}", align_case, seed)
    suite.case(f"local alignment {seed}", local_case, seed)
    suite.case(f"parse {seed}", parse_case, seed)
    suite.case(f"few items {seed}", sack_case, seed)
for ranks, args in SOCKETS + CARDS:
    suite.case(f"table of three sequences on {ranks} ranks, {args[-1]}", lcs_table_case, ranks, args)
suite.case("local alignment, table", local_table_case)
suite.case("parse of the deck", parse_known_case)
suite.case("durations", duration_case)
suite.case("many layers", large_depth_case)
suite.case("refused", refused_case)
suite.end()
