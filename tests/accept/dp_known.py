#!/usr/bin/env python3
"""Dynamic programming against known answers, brute force, and parasail and edlib where they are.

usage: dp_known.py TESELA [--fast] [ONLY]
"""
import itertools
import math
import os
import random
import re

import harness
from dp_truth import (LETTERS, Align, Allotment, Binomial, Chain, Dtw, Edit, Lcs, Local, Nussinov, Sack, Stagecoach, Tree,
                      Unbounded, close, instances, near, word)
from harness import check, np

suite = harness.Suite(__doc__, jobs=4)
NO_PATH = ("binomial",)
MATRICES = ("BLOSUM45", "BLOSUM50", "BLOSUM62", "BLOSUM80", "BLOSUM90", "PAM30", "PAM70", "PAM250", "NUC.4.4")
LINES = {"lcs": "length", "edit": "distance", "dtw": "distance", "binomial": "binomial coefficient",
         "knapsack": "value", "knapsack_unbounded": "value", "allotment": "return", "stagecoach": "cost",
         "matrix_chain": "multiplications", "search_tree": "expected cost", "nussinov": "pairs"}


def solve(problem, mode, ranks=None, **run):
    tree = {"family": "dp", "run": {"device": "cpu", "threads": 1, **run}, "dp": {**problem.deck(), "mode": mode}}
    return suite.result(tree, ranks=ranks)


def goal_of(file, problem):
    value = file["results/goal"][0]
    line = file["results"].attrs[LINES.get(problem.name, "score")]
    check(line == value, f"the summary says {line}, the field {value}")
    return value


def solved(problem, value=None, ranks=None, modes=("value", "table", "recover"), **run):
    """All modes give the value; the table is right; the solution attains the value."""
    value = problem.value() if value is None else value
    for mode in modes:
        if mode == "recover" and problem.name in NO_PATH:
            continue
        with solve(problem, mode, ranks, **run) as file:
            goal = goal_of(file, problem)
            check(close(goal, value), f"{mode}: {goal}, should be {value}: {problem.deck()}")
            if mode == "table":
                check_table(file["results/table"][()], problem)
            if mode == "recover":
                check_path(file, problem, goal)


def check_table(table, problem):
    truth = problem.table()
    check(table.shape == truth.shape, f"table {table.shape}, should be {truth.shape}")
    for at in np.ndindex(*truth.shape):
        check(close(table[at], truth[at]), f"table{list(at)} is {table[at]}, should be {truth[at]}: {problem.deck()}")


def check_path(file, problem, goal):
    path = [tuple(int(x) for x in row) for row in file["results/path"][()]]
    more = {}
    if problem.name == "local":
        more["begin"] = tuple(int(file["results"].attrs[f"first letter of {x}"]) for x in "ab")
    worth = problem.worth(path, **more)
    check(close(worth, goal), f"the solution is worth {worth}, not {goal}: {problem.deck()}")


# --------------------------------------------------------------- known answers


def book_cases():
    suite.case("matrix chain of CLRS", solved, Chain([30, 35, 15, 5, 10, 20, 25]), 15125)
    suite.case("search tree of CLRS", solved, Tree([0.15, 0.10, 0.05, 0.10, 0.20], [0.05, 0.10, 0.05, 0.05, 0.05, 0.10]),
               2.75)
    suite.case("equal matrices", solved, Chain([7] * 21), 19 * 7**3)
    for k, (capacity, weights, values, best) in enumerate(SACKS):
        suite.case(f"knapsack P0{k + 1}", solved, Sack(capacity, weights, values), best,
                   modes=("value", "recover"))
    suite.case("even weights, odd capacity", solved, Sack(101, [2] * 60, [2] * 60), 100)
    for k, m in ((5, 3), (9, 4), (30, 0)):
        suite.case(f"hairpin G{k} A{m} C{k}", solved, Nussinov("G" * k + "A" * m + "C" * k, span=m), k)
    suite.case("no pairs", solved, Nussinov("A" * 25), 0)
    suite.case("shifted series", solved, Dtw([0, 0, 1, 5, 2, 2, 7, 0], [0, 1, 1, 1, 5, 2, 7, 7, 0, 0]), 0)
    suite.case("kitten, sitting", solved, Edit("kitten", "sitting"), 3)
    suite.case("concave returns", solved, concave(), concave_best())


SACKS = [  # Burkardt's KNAPSACK_01 data sets
    (165, [23, 31, 29, 44, 53, 38, 63, 85, 89, 82], [92, 57, 49, 68, 60, 43, 67, 84, 87, 72], 309),
    (26, [12, 7, 11, 8, 9], [24, 13, 23, 15, 16], 51),
    (190, [56, 59, 80, 64, 75, 17], [50, 50, 64, 46, 50, 5], 150),
    (50, [31, 10, 20, 19, 4, 3, 6], [70, 20, 39, 37, 7, 5, 10], 107),
    (104, [25, 35, 45, 5, 25, 3, 2, 2], [350, 400, 450, 20, 70, 8, 5, 5], 900),
    (170, [41, 50, 49, 59, 55, 57, 60], [442, 525, 511, 593, 546, 564, 617], 1735),
    (750, [70, 73, 77, 80, 82, 87, 90, 94, 98, 106, 110, 113, 115, 118, 120],
     [135, 139, 149, 150, 156, 163, 173, 184, 192, 201, 210, 214, 221, 229, 240], 1458)]


def concave():
    rng = random.Random(3)
    rows = []
    for _ in range(6):
        gains = sorted((rng.randint(0, 50) for _ in range(20)), reverse=True)
        rows.append(np.concatenate([[0], np.cumsum(gains)]))
    return Allotment(np.array(rows), "i64")


def concave_best():
    """Of concave returns the largest gains are taken one after another."""
    gains = np.sort(np.diff(concave().returns, axis=1).ravel())[::-1]
    return int(gains[:20].sum())


def longest_increasing(numbers):
    import bisect
    ends = []
    for x in numbers:
        at = bisect.bisect_left(ends, x)
        ends[at:at + 1] = [x]
    return len(ends)


def word_cases():
    rng = random.Random(5)
    letters = [chr(c) for c in range(ord("0"), ord("z")) if chr(c) not in '"\\']
    order = letters[:]
    rng.shuffle(order)
    suite.case("LCS of permutations", solved, Lcs("".join(letters), "".join(order)),
               longest_increasing([letters.index(c) for c in order]), modes=("value", "recover"))
    text = word(rng, 700)
    gone = set(rng.sample(range(700), 60))
    less = "".join(c for k, c in enumerate(text) if k not in gone)
    suite.case("LCS after 60 deletions", solved, Lcs(text, less), 640, modes=("value", "recover"))
    suite.case("edit after 60 deletions", solved, Edit(text, less), 60, modes=("value", "recover"))
    suite.case("disjoint alphabets", solved, Lcs("a" * 50, "b" * 40), 0)
    suite.case("an island", solved, Local("T" * 30 + "ACGGCATTA" + "T" * 9, "G" * 5 + "ACGGCATTA" + "G" * 8), 18,
               modes=("value", "recover"))


def lucas(n, k, p):
    """C(n, k) modulo a prime."""
    out = 1
    while n or k:
        out = out * math.comb(n % p, k % p) % p
        n, k = n // p, k // p
    return out


def binomial_cases():
    for n, k, p in ((1000, 300, 7), (500, 250, 13), (999, 998, 997), (60, 30, 0), (61, 58, 0), (3, 5, 0), (0, 0, 0)):
        value = lucas(n, k, p) if p else math.comb(n, k)
        suite.case(f"C({n}, {k}) mod {p}", solved, Binomial(n, k, p), value, modes=("value",))
    suite.case("C(70, 35) does not fit", overflows, Binomial(70, 35))


def overflows(problem):
    tree = {"family": "dp", "run": {"device": "cpu"}, "dp": problem.deck()}
    run = suite.run(["run", suite.deck("over.yaml", tree), "-q"])
    check(run.status == 3 and "63 bits" in run.err, run.tail())


# ---------------------------------------------------------------- brute force


def brute_cases():
    for seed in range(2 if suite.fast else 12):
        for k, problem in enumerate(instances(seed, (9, 14, 5)[seed % 3])):
            suite.case(f"seed {seed}, instance {k}, {problem.name}", solved, problem)
    for k, problem in enumerate(instances(77, 40)):
        suite.case(f"3 ranks, instance {k}, {problem.name}", solved, problem, ranks=3)


def empty_cases():
    for a, b in (("", ""), ("", "ACG"), ("ACGT", "")):
        for problem in (Lcs(a, b), Edit(a, b), Edit(a, b, 2, 3, 4), Align(a, b), Local(a, b)):
            suite.case(f"{problem.name} of '{a}' and '{b}'", solved, problem)
    for problem in (Nussinov(""), Chain([5]), Tree([], [0.5]), Tree([], [3], "i64"), Sack(0, [], []), Sack(5, [], []),
                    Unbounded(0, [1], [1]), Allotment([[3]]), Stagecoach([4, 2, 2], []), Stagecoach([4], [1, 2])):
        suite.case(f"smallest {problem.name} {problem.deck()}", solved, problem)


# ------------------------------------------------------------------- memory


def memory_cases():
    """A small budget makes recovery keep rows and compute again; the solution stays the same."""
    rng = random.Random(8)
    a = word(rng, 3000)
    b = near(rng, a, "ACGT", 0.1)
    for problem in (Lcs(a, b), Edit(a, b), Edit(a, b, 2, 3, 4), Align(a, b), Local(a, b)):
        suite.case(f"{problem.name} in little memory", little_memory, problem)
    items = [rng.randint(1, 300) for _ in range(600)]
    suite.case("knapsack in little memory", little_memory, Sack(9000, items, items[::-1]))
    suite.case("unbounded in little memory", little_memory, Unbounded(9000, items, items[::-1]))
    returns = np.array([[rng.randint(0, 9 * k + 1) for k in range(150)] for _ in range(200)])
    suite.case("allotment in little memory", little_memory, Allotment(returns, "i32"))
    suite.case("chain in little memory", little_memory, Chain([rng.randint(1, 9) for _ in range(120)]))


def with_memory(problem, memory):
    out = suite.path("memory.h5")
    tree = {"family": "dp", "run": {"device": "cpu", "threads": 1},
            "dp": {**problem.deck(), "mode": "recover", "memory": memory}}
    return suite.run(["run", suite.deck("memory.yaml", tree), "-q", "-o", out, "--overwrite"]), out


def little_memory(problem):
    """64 KiB is enough or is refused with the amount that is enough."""
    paths, needed = [], "64 KiB"
    run, out = with_memory(problem, needed)
    if run.status != 0:
        found = re.search(r"(?:about )?([0-9.]+ [KM]iB) is needed", run.err)
        check(run.status == 2 and found, run.tail())
        needed = found.group(1)
    for memory in (needed, "1 GiB"):
        run, out = with_memory(problem, memory)
        check(run.status == 0, f"with {memory}: {run.tail()}")
        with harness.h5py.File(out) as file:
            paths.append(file["results/path"][()])
    check(np.array_equal(*paths), "another solution than with much memory")
    return f"{needed} was enough"


# -------------------------------------------------------------------- peers


def peer_cases():
    rng = random.Random(11)
    pairs = []
    for n in (50, 500, 2000):
        a = word(rng, n)
        pairs += [(a, near(rng, a, "ACGT", rate)) for rate in (0.05, 0.5)]
    try:
        import edlib
        for a, b in pairs:
            suite.case(f"edlib, {len(a)} letters", solved, Edit(a, b), edlib.align(a, b)["editDistance"], modes=("value",))
    except ImportError:
        print("edlib is not installed: its cases are left out (Debian: python3-edlib)")
    try:
        import parasail
        dna = parasail.matrix_create("ACGT", 2, -3)
        for a, b in pairs:
            for kind, aligner in ((Align, parasail.nw_striped_32), (Local, parasail.sw_striped_32)):
                score = aligner(a, b, 7, 2, dna).score  # parasail: the first letter costs open
                suite.case(f"parasail {kind.name}, {len(a)} letters", solved, kind(a, b), score,
                           modes=("value", "recover"))
        for name, n in itertools.product(MATRICES, (30, 700)):
            kind = "dna" if name == "NUC.4.4" else "protein"
            a = word(rng, n, LETTERS[kind] + ("RYSWKMN" if kind == "dna" else "BZX"))
            b = near(rng, a, LETTERS[kind], 0.4)
            scores = parasail.Matrix(matrix_file(name))
            suite.case(f"parasail {name}, {n} letters", by_name, name, kind, a, b,
                       parasail.nw_striped_32(a, b, 11, 1, scores).score, parasail.sw_striped_32(a, b, 11, 1, scores).score)
        suite.case("matrices by name have parasail's scores of amino acids and bases", same_scores, parasail)
    except ImportError:
        print("parasail is not installed: its cases are left out (Debian: python3-parasail)")


def matrix_file(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../inputs/matrices", name)


def by_name(name, alphabet, a, b, best_global, best_local):
    """With scores that come with tesela: problem global and local."""
    for problem, score in (("global", best_global), ("local", best_local)):
        tree = {"family": "dp", "run": {"device": "cpu"},
                "dp": {"problem": problem, "mode": "recover", "alphabet": alphabet, "a": {"text": a}, "b": {"text": b},
                       "scores": {"matrix": name, "open": 10, "extend": 1}}}
        with suite.result(tree) as file:
            check(file["results/goal"][0] == score, f"{problem}: {file['results/goal'][0]}, parasail {score}")


def same_scores(parasail):
    """parasail's copies are older where B, Z and X are concerned, and its BLOSUM80 has another scale, ln(2) / 3."""
    for name in MATRICES:
        peer = getattr(parasail, {"NUC.4.4": "nuc44"}.get(name, name.lower()))
        order = "ATGCSWRYKMBVHDN" if name == "NUC.4.4" else "ARNDCQEGHILKMFPSTWYV"
        rows = [line.split() for line in open(matrix_file(name)) if not line.startswith("#")]
        ours = {(row[0], column): int(s) for row in rows[1:] for column, s in zip(rows[0], row[1:])}
        differ = [(x, y) for i, x in enumerate(order) for j, y in enumerate(order) if ours[x, y] != peer.matrix[i, j]]
        check(bool(differ) == (name == "BLOSUM80"), f"{name}: {differ}")


for cases in (book_cases, word_cases, binomial_cases, empty_cases, memory_cases, peer_cases, brute_cases):
    cases()
suite.end()
