#!/usr/bin/env python3
"""tesela bench dp-paper: its table and CSV, its optima against tables filled here, and what it refuses.

usage: dp_paper.py TESELA [--fast] [ONLY]
"""
import csv
import math
import os

import harness
from harness import check

suite = harness.Suite(__doc__)
SIZES = (40, 65)
MASK = 2 ** 64 - 1
COLUMNS = ["problem", "n", "by", "mode", "runs", "mean_s", "deviation_s", "times_plain", "optimum"]


def random_bits(seed, k):
    """splitmix64 (Steele, Lea and Flood 2014)."""
    z = (seed * 0xD1342543DE82EF95 + (k + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def numbers(n, seed, high):
    return [1 + math.floor((random_bits(seed, k) >> 11) * 2.0 ** -53 * high) for k in range(n)]


def letters(n, seed):
    return [(random_bits(seed, k) >> 32) * 26 >> 32 for k in range(n)]


def knapsack(n):
    weights, values, best = numbers(n, 1, n // 8 + 1), numbers(n, 2, 1000), [0] * (n + 1)
    for w, v in zip(weights, values):
        best = [max(best[j], best[j - w] + v) if j >= w else best[j] for j in range(n + 1)]
    return best[n]


def lcs(n):
    a, b, row = letters(n, 1), letters(n, 2), [0] * (n + 1)
    for x in a:
        last, row = row, [0] * (n + 1)
        for j, y in enumerate(b, 1):
            row[j] = last[j - 1] + 1 if x == y else max(last[j], row[j - 1])
    return row[n]


def matrix_chain(n):
    p, best = numbers(n + 1, 1, 1000), [[0] * n for _ in range(n)]
    for d in range(1, n):
        for i in range(n - d):
            best[i][i + d] = min(best[i][k] + best[k + 1][i + d] + p[i] * p[k + 1] * p[i + d + 1] for k in range(i, i + d))
    return best[0][n - 1]


TRUTHS = {"binomial": lambda n: math.comb(n, n // 2) % 1000000007, "knapsack": knapsack, "lcs": lcs,
          "matrix_chain": matrix_chain}


def table_case(ranks):
    path = suite.path(f"paper{ranks}.csv")
    run = suite.run(["bench", "dp-paper", "--n", ",".join(map(str, SIZES)), "--repeat", "2", "--csv", path, "-s",
                     "run.device=cpu"], ranks=ranks, timeout=300)
    check(run.status == 0, run.tail())
    with open(path, encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    check(list(rows[0]) == COLUMNS, f"columns {list(rows[0])}")
    kinds = {name: {(r["by"], r["mode"]) for r in rows if r["problem"] == name} for name in TRUTHS}
    for name, truth in TRUTHS.items():
        modes = ("value",) if name == "binomial" else ("value", "recover")
        check(kinds[name] == {(h, m) for h in ("plain", "equation", "engine") for m in modes}, f"{name}: {kinds[name]}")
        for n in SIZES:
            found = {int(r["optimum"]) for r in rows if r["problem"] == name and int(r["n"]) == n}
            check(found == {truth(n)}, f"{name}, {n}: {found}, here {truth(n)}")
    check(all(float(r["mean_s"]) > 0 and float(r["deviation_s"]) >= 0 and r["runs"] == "2" for r in rows), "seconds")
    for row in rows:
        check(f"{row['optimum']}" in run.out, f"{row} is not in the table")
    check(not [name for name in os.listdir(suite.path("")) if name.startswith("tesela-bench")], "an output is left")


def refused(args, words):
    run = suite.run(["bench", "dp-paper", *args])
    check(run.status == 2 and words in run.err, f"{words}: {run.tail()}")


for ranks in (1, 3):
    suite.case(f"{ranks} ranks", table_case, ranks)
suite.case("no size", refused, ["--n", "4,x"], "whole numbers from 1 to 32768")
suite.case("a size of one", refused, ["--n", "1"], "2 at least")
suite.case("too many runs", refused, ["--repeat", "101"], "whole numbers from 1 to 100")
suite.case("a wrong problem", refused, ["--problem", "knapsak"], "did you mean 'knapsack'?")
suite.case("a deck", refused, ["deck.yaml"], "takes no 'deck.yaml'")
suite.case("no value", refused, ["--csv"], "--csv needs a value")
suite.case("a wrong key", refused, ["-s", "run.devise=cpu"], "run.devise")
suite.end()
