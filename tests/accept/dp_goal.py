#!/usr/bin/env python3
"""What of a recurrence's table is filled: the part that the goal rests on, and diagonals alone.

usage: dp_goal.py TESELA [--fast] [ONLY]

Values against plain loops here; the cut table against the whole one, which mode: table always fills.
"""
import json
import math
import pathlib
import re

import harness
from harness import check, np

suite = harness.Suite(__doc__, jobs=3)
DECKS = pathlib.Path(__file__).resolve().parents[2] / "inputs/dp"
COSTS = [int(x) for x in np.random.default_rng(3).integers(1, 100, 32)]
TEXTS = ["".join(np.random.default_rng(seed).choice(list("ACGT"), 40)) for seed in (1, 2)]
CHAIN = "min(k = i .. j-1 : M[i][k] + M[k+1][j] + p[i] * p[k+1] * p[j+1])"
LCS = "a[i-1] == b[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])"
ZERO = {"where": "i == 0 || j == 0", "value": "0"}


def deck(rows, cols, boundary, cell, goal, data=(), cells="all", **more):
    return {"family": "dp", "run": {"device": "cpu"},
            "dp": {"problem": "recurrence", "table": {"type": "i64", "rows": rows, "cols": cols, "cells": cells},
                   "data": list(data), "boundary": boundary, "cell": cell, "goal": goal, **more}}


def binomial(goal, **more):
    return deck(40, 40, [{"where": "j == 0 || j == i", "value": "1"}, {"where": "j > i", "value": "0"}],
                "M[i-1][j-1] + M[i-1][j]", goal, **more)


def lcs(goal, cell=LCS, **more):
    return deck(41, 41, [ZERO], cell, goal, [{"name": n, "text": t} for n, t in zip("ab", TEXTS)], **more)


def knapsack(goal, **more):
    return deck(33, 201, [{"where": "i == 0", "value": "0"}],
                "j < w[i-1] ? M[i-1][j] : max(M[i-1][j], M[i-1][j-w[i-1]] + w[i-1] % 7)", goal,
                [{"name": "w", "values": COSTS}], **more)


def chain(goal, **more):
    return deck(31, 31, [{"where": "i == j", "value": "0"}], CHAIN, goal, [{"name": "p", "values": COSTS}], "upper",
                **more)


def sized(goal, **more):
    """An equation that asks how large its table is has the whole of it."""
    return deck(20, 30, [{"where": "i == 0 || j == 0", "value": "rows(M) - j"}], "M[i-1][j-1] + cols(M)", goal, **more)


def rising(goal, **more):
    """Rows from below: what lies above the goal is cut."""
    return deck(20, 30, [{"where": "i == 19", "value": "j"}], "j > 0 ? M[i+1][j-1] + 1 : M[i+1][j]", goal, **more)


def halves(goal, **more):
    """Offsets of both signs: nothing can be cut of the columns."""
    return deck(20, 30, [{"where": "i == 0", "value": "j"}], "M[i-1][29-j] + 1", goal, **more)


def best_product(p, i, j):
    best = {(k, k): 0 for k in range(i, j + 1)}
    for d in range(1, j - i + 1):
        for a in range(i, j - d + 1):
            best[a, a + d] = min(best[a, k] + best[k + 1, a + d] + p[a] * p[k + 1] * p[a + d + 1] for k in range(a, a + d))
    return best[i, j]


def lcs_of(n, m):
    row = [0] * (m + 1)
    for x in TEXTS[0][:n]:
        last, row = row, [0]
        for j, y in enumerate(TEXTS[1][:m], 1):
            row.append(last[j - 1] + 1 if x == y else max(last[j], row[j - 1]))
    return row[m]


def goal_of(made, ranks=1, args=()):
    with suite.result(json.dumps(made), ranks=ranks, args=list(args)) as file:
        return int(file["results/goal"][()].reshape(-1)[0])


def table_said(made, name="said"):
    """Rows and columns that are filled, as plan tells, or None where it is the whole table."""
    run = suite.run(["plan", suite.deck(f"{name}.yaml", json.dumps(made))])
    check(run.status == 0, run.tail())
    found = re.search(r"the goal needs .*: a table of (\d+) x (\d+) instead of (\d+) x (\d+)", run.out)
    return found and (int(found[1]), int(found[2]))


def cut_case(name, make, goal, size, truth):
    found = table_said(make(goal), name)
    check(found == size, f"{found} cells are filled instead of {size}")
    with suite.result(json.dumps(make(goal, mode="table")), name=name) as file:
        whole = int(file["results/goal"][()].reshape(-1)[0])
        shape = file["results/table"].shape
    stated = make(goal)["dp"]["table"]
    check(shape == (stated["rows"], stated["cols"]), f"mode: table writes {shape}")
    check(table_said(make(goal, mode="table"), name) is None, "mode: table is cut")
    mixes = [(3, ()), (2, ["-s", "dp.mode=recover"]), (1, ()), (1, ["-s", "dp.interpret=yes"])]
    for ranks, args in mixes[:2] if suite.fast else mixes:
        value = goal_of(make(goal), ranks, args)
        check(value == whole, f"{value} on {ranks} ranks {args}, of the whole table {whole}")
    if truth is not None:
        check(whole == truth, f"{whole}, here {truth}")


# Where the cells that a cell reads may lie, by pattern: signs of row and column, and whether the row is never the own.
READS = {"RUD": ((-2, -1), (-2, 2)), "RDU": ((1, 2), (-2, 2)), "CLR": ((-2, 2), (-2, -1)), "CRL": ((-2, 2), (1, 2)),
         "NOSE": ((-2, 0), (-2, 0)), "SENO": ((0, 2), (0, 2)), "SONE": ((0, 2), (-2, 0)), "NESO": ((-2, 0), (0, 2))}


class Random:
    """A recurrence with offsets of a pattern, made up; sometimes of fewer directions than the pattern has, of a
    triangle, or of two tables."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(1000 + seed)
        draw = lambda lo, hi: int(self.rng.integers(lo, hi + 1))
        self.pattern = list(READS)[seed % 8]
        rows, columns = READS[self.pattern]
        self.cells = ["all", "upper", "lower"][draw(0, 2)] if self.pattern in ("SONE", "NESO") and seed % 3 == 0 else "all"
        self.n_tables = 2 if seed % 5 == 4 else 1
        self.rows = draw(12, 24)
        self.cols = self.rows if self.cells != "all" else draw(12, 24)
        narrow = draw(0, 3)  # 1, 2: no reads of other rows, columns, where the pattern has the own one
        self.reads = []
        while not self.reads:
            for _ in range(draw(1, 3)):
                di = 0 if narrow == 1 and rows[0] <= 0 <= rows[1] else draw(*rows)
                dj = 0 if narrow == 2 and columns[0] <= 0 <= columns[1] else draw(*columns)
                if (di, dj) != (0, 0):
                    self.reads.append((di, dj, draw(1, 5), draw(0, self.n_tables - 1)))
        self.x = [draw(0, 50) for _ in range(self.rows)]
        self.goals = [(draw(0, self.rows - 1), draw(0, self.cols - 1)) for _ in range(draw(1, 2))]
        self.goals = [(min(g), max(g)) if self.cells == "upper" else (max(g), min(g)) if self.cells == "lower" else g
                      for g in self.goals]
        self.over = [None, None, None, "last row", "last column"][draw(0, 4)]

    def has(self, i, j):
        ordered = {"all": True, "upper": i <= j, "lower": i >= j}[self.cells]
        return 0 <= i < self.rows and 0 <= j < self.cols and ordered

    def boundary(self):
        """A cell whose reads are not all in the table."""
        inside = [f"i + {di} >= 0 && i + {di} < {self.rows} && j + {dj} >= 0 && j + {dj} < {self.cols}"
                  + {"all": "", "upper": f" && i + {di} <= j + {dj}", "lower": f" && i + {di} >= j + {dj}"}[self.cells]
                  for di, dj, *_ in self.reads]
        return f"!({' && '.join(inside)})"

    def make(self, whole=False, **more):
        name = "MN"
        tables = []
        for t in range(self.n_tables):
            terms = [f"{w + t} * {name[other]}[i + {di}][j + {dj}]" for di, dj, w, other in self.reads]
            cell = f"({' + '.join(terms)} + x[i] + 3 * i - j + 100{' + 0 * rows(M)' if whole else ''}) % 997"
            tables.append({"name": name[t], "boundary": [{"where": self.boundary(), "value": f"(7 * i + 3 * j + {t}) % 11"}],
                           "cell": cell})
        last = name[self.n_tables - 1]
        goal = (f"max {last} over {self.over}" if self.over else
                " + ".join(f"{last}[{i}][{j}]" for i, j in self.goals))
        made = {"problem": "recurrence", "table": {"type": "i64", "rows": self.rows, "cols": self.cols, "cells": self.cells},
                "pattern": self.pattern, "data": [{"name": "x", "values": self.x}], "goal": goal, **more}
        if self.n_tables > 1:
            made["tables"] = tables
        else:
            made |= {k: v for k, v in tables[0].items() if k != "name"}
        return {"family": "dp", "run": {"device": "cpu"}, "dp": made}

    def value(self, t, i, j, known):
        if (t, i, j) not in known:
            if all(self.has(i + di, j + dj) for di, dj, *_ in self.reads):
                sum_ = sum((w + t) * self.value(other, i + di, j + dj, known) for di, dj, w, other in self.reads)
                known[t, i, j] = int(math.fmod(sum_ + self.x[i] + 3 * i - j + 100, 997))
            else:
                known[t, i, j] = (7 * i + 3 * j + t) % 11
        return known[t, i, j]

    def size(self):
        """Rows and columns between those that the goal reads and the edges to which reads lead; None: all."""
        at = self.goals if not self.over else \
            [(self.rows - 1, k) for k in (0, self.cols - 1)] if self.over == "last row" else \
            [(k, self.cols - 1) for k in (0, self.rows - 1)]
        part = []
        for way, n in ((0, self.rows), (1, self.cols)):
            steps, places = [r[way] for r in self.reads], [g[way] for g in at]
            part.append([0 if min(steps) < 0 else min(places), n if max(steps) > 0 else max(places) + 1])
        rows, columns = part
        if self.cells == "upper":
            rows[1], columns[0] = min(rows[1], columns[1]), rows[0]
        if self.cells == "lower":
            columns[1], rows[0] = min(columns[1], rows[1]), columns[0]
        size = rows[1] - rows[0], columns[1] - columns[0]
        return None if size == (self.rows, self.cols) else size

    def truth(self):
        """The goal, and the cells that a search from its cells finds."""
        known, last = {}, self.n_tables - 1
        if self.over:
            cells = [(i, j) for i in range(self.rows) for j in range(self.cols) if self.has(i, j)
                     and (i == self.rows - 1 if self.over == "last row" else j == self.cols - 1)]
            return max(self.value(last, i, j, known) for i, j in cells), None
        return sum(self.value(last, i, j, known) for i, j in self.goals), {(i, j, t) for t, i, j in known}


def random_case(seed):
    """Values by a search from the goal; cells of the path likewise; the size as the reads' signs tell."""
    made = Random(seed)
    goal, cells = made.truth()
    for ranks in (1, 2, 3):
        found = goal_of(made.make(), ranks)
        check(found == goal, f"{made.pattern}: {found} on {ranks} ranks, here {goal}")
    check(goal_of(made.make(), args=["-s", "dp.interpret=yes"]) == goal, "another value, interpreted")
    paths = []
    for whole in (False, True):
        with suite.result(json.dumps(made.make(whole, mode="recover")), ranks=1 + whole, name=f"path{whole}") as file:
            paths.append(file["results/path"][()])
    check(np.array_equal(*paths), f"{made.pattern}: another path than of the whole table")
    if cells is not None:
        found = {(r[0], r[1], r[3] if made.n_tables > 1 else 0) for r in paths[0]}
        check(found == cells, f"{made.pattern}: {len(found)} cells of the path, here {len(cells)}")
    check(table_said(made.make(), "said") == made.size(), f"{made.pattern}: {table_said(made.make())} cells")


def path_case():
    """Cells that the goal rests on are the same ones, from the cut table and from the whole of one that it fills."""
    a, b = TEXTS
    small = deck(21, 31, [ZERO], LCS, "M[20][30]", [{"name": "a", "text": a[:20]}, {"name": "b", "text": b[:30]}],
                 mode="recover")
    with suite.result(json.dumps(small), name="small") as one, \
            suite.result(json.dumps(lcs("M[20][30]", mode="recover")), name="cut") as other:
        check((one["results/path"][()] == other["results/path"][()]).all(), "other cells")


def error_case():
    """What is not needed is not computed: a division by zero there does not end the run; one in need does."""
    cell = "M[i-1][j] + 60 / (j - 30)"
    made = deck(20, 40, [{"where": "i == 0", "value": "0"}], cell, "M[19][29]")
    check(goal_of(made) == 19 * -60, "not the sum")
    made["dp"]["goal"] = "M[19][30]"
    run = suite.run(["run", suite.deck("bad.yaml", json.dumps(made)), "-o", suite.path("bad.h5"), "-q"])
    check(run.status == 3 and "division by zero" in run.err, run.tail())


def outside_case():
    run = suite.run(["plan", suite.deck("outside.yaml", json.dumps(lcs("M[50][3]")))])
    check(run.status == 2 and "dp.goal" in run.err, run.tail())


def diagonals_case(ranks):
    """inputs/dp/diagonals.yaml at sizes of its own: the table beyond stays 0, the goal is that of plain loops."""
    text = (DECKS / "diagonals.yaml").read_text().replace("random: 301, seed: 1, lo: 1, hi: 1000", f"values: {COSTS}")
    with suite.result(text, ranks=ranks, args=["-s", "dp.mode=table"], name=f"diagonals{ranks}") as file:
        goal, table = int(file["results/goal"][()].reshape(-1)[0]), file["results/table"][()]
    n, last = len(COSTS) - 1, 7
    check(goal == min(best_product(COSTS, k, k + last) for k in range(n - last)), f"goal {goal}")
    for i in range(n):
        for j in range(i, n):
            want = best_product(COSTS, i, j) if j - i <= last else 0
            check(table[i, j] == want, f"{table[i, j]} at {i}, {j} instead of {want}")


suite.case("binomial, corner", cut_case, "b1", binomial, "M[39][39]", None, 1)
suite.case("binomial, within", cut_case, "b2", binomial, "M[30][11]", (31, 12), math.comb(30, 11))
suite.case("binomial, two cells", cut_case, "b3", binomial, "M[30][4] + M[7][6]", (31, 7), math.comb(30, 4) + 7)
suite.case("binomial, first cell", cut_case, "b4", binomial, "M[0][0]", (1, 1), 1)
suite.case("rows and columns asked for", cut_case, "b6", sized, "M[7][5]", None, 20 - 0 + 5 * 30)
suite.case("binomial, last column", cut_case, "b5", binomial, "max over last column", None, None)
suite.case("subsequence", cut_case, "l1", lcs, "M[20][31]", (21, 32), lcs_of(20, 31))
suite.case("subsequence, to the right", cut_case, "l2",
           lambda goal, **more: lcs(goal, "j < 40 ? M[i-1][j+1] + 1 : M[i-1][j]", **more), "M[9][3]", (10, 38), 9)
suite.case("knapsack", cut_case, "k1", knapsack, "M[20][150]", (21, 151), None)
suite.case("matrix chain, from the first", cut_case, "c1", chain, "M[0][12]", (13, 13), best_product(COSTS, 0, 12))
suite.case("matrix chain, within", cut_case, "c2", chain, "M[5][12]", (8, 8), best_product(COSTS, 5, 12))
suite.case("rows from below", cut_case, "r1", rising, "M[3][10]", (17, 11), None)
suite.case("columns from both sides", cut_case, "h1", halves, "M[5][10]", (6, 30), None)
suite.case("the same path", path_case)
suite.case("errors beyond", error_case)
suite.case("a goal outside", outside_case)
for n_case in range(16 if suite.fast else 64):
    suite.case(f"random {n_case}", random_case, n_case)
for n_ranks in (1, 3):
    suite.case(f"diagonals alone, {n_ranks} ranks", diagonals_case, n_ranks)
suite.end()
