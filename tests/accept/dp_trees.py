#!/usr/bin/env python3
"""Parse trees as solutions of interval recurrences with coupled tables, against all trees of small sentences.

usage: dp_trees.py TESELA [--fast] [ONLY]

A symbol of the grammar is a table; rules are A -> B C, A -> B where B comes before A, and A -> letter. A tree is put
together from the records of a solution and read with the grammar alone: its weights add up to the goal and its leaves
are the sentence.
"""
import functools
import json
import math
import pathlib
import random

import harness
from harness import check

suite = harness.Suite(__doc__, jobs=3)
DECKS = pathlib.Path(__file__).resolve().parents[2] / "inputs/dp"
NAMES = "ABCDEFGH"
NONE = -10 ** 6  # no derivation: no sum of weights is as small
ALL = ((1, []), (2, []), (3, []), (1, ["--interpret"]))


class Grammar:
    def __init__(self, rng, real):
        weight = (lambda: math.log(rng.uniform(0.01, 1))) if real else lambda: rng.randint(-9, 9)
        self.real, self.letters, self.n = real, "abc"[:rng.randint(1, 3)], rng.randint(2, 8)
        pairs = [(a, b, c) for a in range(self.n) for b in range(self.n) for c in range(self.n)]
        self.splits = {r: weight() for r in rng.sample(pairs, rng.randint(self.n, min(3 * self.n, len(pairs))))}
        self.units = {(a, b): weight() for a in range(self.n) for b in range(a) if rng.random() < 0.3}
        self.leaves = {(a, x): weight() for a in range(self.n) for x in self.letters if rng.random() < 0.6}

    def deck(self, text, goal, mode="recover"):
        none = "-inf" if self.real else str(NONE)
        tables = []
        for a in range(self.n):
            units = [f"{NAMES[b]}[i][j] + {w!r}" for (p, b), w in self.units.items() if p == a]
            leaf = none
            for x in self.letters:
                if (a, x) in self.leaves:
                    leaf = f"text[i] == '{x}' ? {self.leaves[a, x]!r} : {leaf}"
            splits = [f"max(k = i .. j - 1 : {NAMES[b]}[i][k] + {NAMES[c]}[k+1][j]) + {w!r}"
                      for (p, b, c), w in self.splits.items() if p == a]
            best = lambda terms: f"max({', '.join(terms)})" if len(terms) > 1 else terms[0]
            tables.append({"name": NAMES[a], "boundary": [{"where": "i == j", "value": best([leaf, *units])}],
                           "cell": best([none, *units, *splits])})
        return {"family": "dp", "run": {"device": "cpu", "threads": 2},
                "dp": {"problem": "recurrence", "mode": mode, "tables": tables, "goal": f"{NAMES[goal]}[0][len(text) - 1]",
                       "table": {"type": "f64" if self.real else "i64", "rows": "len(text)", "cols": "len(text)", "cells": "upper"},
                       "data": [{"name": "text", "text": text}]}}

    def trees(self, text, a, most=None):
        """Weights of all derivations of the text from a, one by one; units go down in the list, so that they end."""
        if len(text) == 1 and (a, text) in self.leaves:
            yield self.leaves[a, text]
        for (p, b), w in self.units.items():
            if p == a:
                yield from (w + x for x in self.trees(text, b))
        for (p, b, c), w in self.splits.items():
            for k in range(1, len(text)) if p == a else ():
                right = list(self.trees(text[k:], c))
                yield from (w + x + y for x in (self.trees(text[:k], b) if right else ()) for y in right)

    def best(self, text):
        """Cocke, Younger and Kasami: the best derivation of each part of the text from each symbol."""
        @functools.lru_cache(None)
        def cell(i, j, a):
            found = [self.leaves[a, text[i]]] if i == j and (a, text[i]) in self.leaves else []
            found += [w + cell(i, j, b) for (p, b), w in self.units.items() if p == a]
            found += [w + cell(i, k, b) + cell(k + 1, j, c) for (p, b, c), w in self.splits.items() if p == a
                      for k in range(i, j)]
            return max(found, default=-math.inf)
        return cell

    def weigh(self, text, path):
        """The weight of the tree that the records are, and its leaves; each node is checked to be a rule."""
        below = [[] for _ in path]
        for n, (i, j, above, a) in enumerate(path):
            if above >= 0:
                below[above].append(n)
        total, leaves = 0, []
        for n, (i, j, above, a) in enumerate(path):
            nodes = [tuple(path[m][[0, 1, 3]].tolist()) for m in below[n]]
            if len(nodes) == 2:
                (i1, k, b), (k1, j1, c) = nodes
                check((i1, k1, j1) == (i, k + 1, j) and (a, b, c) in self.splits, f"no rule: {(i, j, a)} -> {nodes}")
                total += self.splits[a, b, c]
            elif len(nodes) == 1:
                check(nodes[0][:2] == (i, j) and (a, nodes[0][2]) in self.units, f"no rule: {(i, j, a)} -> {nodes}")
                total += self.units[a, nodes[0][2]]
            else:
                check(not nodes and i == j and (a, text[i]) in self.leaves, f"no leaf: {(i, j, a)} -> {nodes}")
                total += self.leaves[a, text[i]]
                leaves.append(int(i))
        return total, leaves


def solved(tree, ranks=1, args=()):
    with suite.result(tree if isinstance(tree, str) else json.dumps(tree), ranks=ranks, args=list(args), timeout=300) as file:
        return file["results/goal"][()].reshape(-1)[0], file["results/path"][()]


def derivable(rng, real, least, most):
    """A grammar and a sentence that it derives from its last symbol."""
    while True:
        grammar = Grammar(rng, real)
        text = "".join(rng.choice(grammar.letters) for _ in range(rng.randint(least, most)))
        if grammar.best(text)(0, len(text) - 1, grammar.n - 1) > -math.inf:
            return grammar, text


def check_tree(grammar, text, want):
    paths = []
    for ranks, args in ALL:
        goal, path = solved(grammar.deck(text, grammar.n - 1), ranks, args)
        check(abs(goal - want) <= 1e-12 * abs(want), f"{goal}, not {want}, of {text}; {ranks} ranks {args}")
        check(path[0].tolist() == [0, len(text) - 1, -1, grammar.n - 1], f"{path[0]}")
        total, leaves = grammar.weigh(text, path)
        check(abs(total - want) <= 1e-9 and leaves == list(range(len(text))), f"the tree has {total} and the leaves {leaves}, not {want}")
        paths.append(path.tobytes())
    check(len(set(paths)) == 1, "not the same tree")


def all_trees_case(seed):
    rng = random.Random(f"trees {seed}")
    grammar, text = derivable(rng, seed % 3 == 0, 1, 5)
    check_tree(grammar, text, max(grammar.trees(text, grammar.n - 1)))


def long_case(seed, n):
    """Several boxes a side, shared out to ranks."""
    rng = random.Random(f"long {seed}")
    grammar, text = derivable(rng, seed % 2 == 0, n, n)
    check_tree(grammar, text, grammar.best(text)(0, n - 1, grammar.n - 1))


def no_parse_case():
    """A sentence that the grammar does not derive: the value says so, and no tree is made up."""
    grammar = Grammar(random.Random(1), False)
    grammar.splits, grammar.units, grammar.leaves = {(0, 0, 0): 1}, {}, {(0, "a"): 1}
    goal, path = solved(grammar.deck("aba", 0))
    check(goal < NONE / 2 and len(path) <= 5, f"{goal} {path}")
    grammar.real = True
    goal, path = solved(grammar.deck("aba", 0))
    check(goal == -math.inf, f"{goal} {path}")


def stochastic_case(seed):
    """inputs/dp/stochastic_grammar.yaml: the parse is a structure, whose probability is that of its rules and letters."""
    rng = random.Random(f"stochastic {seed}")
    s = "".join(rng.choice("ACGU") for _ in range(rng.randint(3, 9) if seed < 4 else 90))
    text = (DECKS / "stochastic_grammar.yaml").read_text()
    start = text.index("text: G") + 6
    text = text[:start] + s + text[text.index("}", start):]
    low, pairs = 0.002, {"AU": 0.16, "UA": 0.16, "CG": 0.262, "GC": 0.262, "GU": 0.065, "UG": 0.065}
    pair = lambda i, j: math.log(pairs.get(s[i] + s[j], low))
    log = math.log

    @functools.lru_cache(None)
    def symbol(name, i, j):
        if i == j:
            return -math.inf if name == "F" else log(0.894603 * 0.25) + (log(0.131466) if name == "S" else 0)
        close = pair(i, j) + symbol("F", i + 1, j - 1) if j > i + 1 else -math.inf
        if name == "L":
            return log(0.105397) + close
        split = max(symbol("L", i, k) + symbol("S", k + 1, j) for k in range(i, j))
        if name == "F":
            return max(log(0.787640) + close, log(0.212360) + split)
        return max(log(0.131466) + symbol("L", i, j), log(0.868534) + split)
    want = symbol("S", 0, len(s) - 1)
    for ranks in (1, 3):
        goal, path = solved(text, ranks)
        check(abs(goal - want) <= 1e-11 * abs(want), f"{goal}, not {want}, of {s}")
        below = {}
        for i, j, above, t in path.tolist():
            below.setdefault(above, []).append((i, j, t))
        total, letters = 0, []
        for n, (i, j, _, t) in enumerate(path.tolist()):
            under = below.get(n, [])
            if under == [(i + 1, j - 1, 1)] and t < 2:
                total, letters = total + log((0.105397, 0.787640)[t]) + pair(i, j), letters + [i, j]
            elif len(under) == 2:
                check(t > 0 and under[0][2] == 0 and under[1][2] == 2 and under[0][1] + 1 == under[1][0], f"{(i, j, t)} -> {under}")
                total += log((0, 0.212360, 0.868534)[t])
            elif under:
                check(t == 2 and under == [(i, j, 0)], f"{(i, j, t)} -> {under}")
                total += log(0.131466)
            else:
                check(t == 0 and i == j, f"{(i, j, t)}")
                total, letters = total + log(0.894603 * 0.25), letters + [i]
        check(abs(total - want) < 1e-9 and sorted(letters) == list(range(len(s))), f"the tree has {total}, not {want}: {letters}")


for seed in range(4 if suite.fast else 40):
    suite.case(f"all trees {seed}", all_trees_case, seed)
for seed in range(2 if suite.fast else 6):
    suite.case(f"a long sentence {seed}", long_case, seed, 40 if suite.fast else 150)
    suite.case(f"stochastic grammar {seed}", stochastic_case, 4 * seed % 6)
suite.case("no parse", no_parse_case)
suite.end()
