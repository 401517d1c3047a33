#!/usr/bin/env python3
"""Recurrences in logarithms of probabilities against scipy: forward and backward of hidden Markov models, alignments
summed over all paths, inside probabilities of a grammar.

usage: dp_logs.py TESELA [--fast] [ONLY]

Each by every engine's order: rows, a wavefront, intervals; compiled and interpreted values are the same bits.
"""
import json

import harness
from harness import check, np
from scipy.special import logsumexp

suite = harness.Suite(__doc__, jobs=3)
LIMITS = {"f64": 1e-12, "f32": 1e-5}


def deck(kind, rows, cols, data, boundary, cell, goal, cells="all", mode="table"):
    table = {"type": kind, "rows": rows, "cols": cols, "cells": cells}
    return {"family": "dp", "run": {"device": "cpu", "threads": 1},
            "dp": {"problem": "recurrence", "mode": mode, "table": table, "data": data,
                   "boundary": [{"where": w, "value": v} for w, v in boundary], "cell": cell, "goal": goal}}


def numbers(name, values):
    values = np.asarray(values)
    width = {"width": values.shape[1]} if values.ndim == 2 else {}
    return {"name": name, "values": [float(v) for v in values.reshape(-1)], **width}


def letters(name, numbers):
    return {"name": name, "text": "".join("ABCD"[n] for n in numbers), "type": "letters"}


def compare(made, truth, goal, ranks):
    """The table is the truth's; other ranks and the interpreter give the same bytes."""
    kind = made["dp"]["table"]["type"]
    tables = []
    for count, args in ((1, []), (ranks, []), (1, ["--interpret"])):
        with suite.result(json.dumps(made), ranks=count, args=args, timeout=300) as file:
            tables.append(file["results/table"][()])
            value = file["results/goal"][()].reshape(-1)[0]
    finite = np.isfinite(truth)
    off = np.abs(tables[0][finite] - truth[finite]) / np.maximum(1, np.abs(truth[finite]))
    check(off.max() <= LIMITS[kind], f"values are off by {off.max()}")
    check(np.array_equal(tables[0][~finite], truth[~finite]), "infinite values differ")
    check(abs(value - goal) <= LIMITS[kind] * max(1, abs(goal)), f"goal {value}, not {goal}")
    check(all(tables[0].tobytes() == t.tobytes() for t in tables[1:]), "not the same bytes")


def model(states, steps, seed):
    """A hidden Markov model in logarithms; some transitions are impossible."""
    rng = np.random.default_rng(seed)
    move = rng.random((states, states)) * (rng.random((states, states)) < 0.7)
    with np.errstate(divide="ignore"):
        move = np.log(move / move.sum(1, keepdims=True))
    return move, np.log(rng.dirichlet(np.ones(4), states)), rng.integers(0, 4, steps)


def forward_case(kind, ranks):
    """Rabiner 1989, equations 19 to 21; probabilities come as they are, their logarithms from the equation."""
    states, steps = 23, 40
    move, emit, seen = model(states, steps, 1)
    truth = np.empty((steps, states))
    truth[0] = -np.log(states) + emit[:, seen[0]]
    for t in range(1, steps):
        truth[t] = logsumexp(truth[t - 1][:, None] + move, axis=0) + emit[:, seen[t]]
    data = [numbers("a", np.exp(move)), numbers("b", emit), letters("o", seen)]
    made = deck(kind, steps, states, data, [("i == 0", "log(1 / cols(a)) + b[j][o[0]-'A']")],
                f"logsum(k = 0 .. {states - 1} : M[i-1][k] + log(a[k][j])) + b[j][o[i]-'A']",
                f"logsum({', '.join(f'M[{steps - 1}][{s}]' for s in range(states))})")
    compare(made, truth, logsumexp(truth[-1]), ranks)


def backward_case(kind, ranks):
    """From the last row up."""
    states, steps = 9, 60
    move, emit, seen = model(states, steps, 2)
    truth = np.zeros((steps, states))
    for t in range(steps - 2, -1, -1):
        truth[t] = logsumexp(move + emit[:, seen[t + 1]] + truth[t + 1], axis=1)
    data = [numbers("a", np.exp(move)), numbers("b", emit), letters("o", seen)]
    made = deck(kind, steps, states, data, [(f"i == {steps - 1}", "0")],
                f"logsum(k = 0 .. {states - 1} : log(a[j][k]) + b[k][o[i+1]-'A'] + M[i+1][k])", "M[0][4]")
    compare(made, truth, truth[0, 4], ranks)


def paths_case(kind, ranks):
    """All alignments of two texts, each by its probability, and letters by their names."""
    rng = np.random.default_rng(3)
    a, b = ("".join(rng.choice(list("ACGT"), n)) for n in (70, 90))
    pair, gap = np.log([0.05, 0.8, 0.6]), np.log(0.1)
    truth = np.empty((71, 91))
    truth[:, 0], truth[0, :] = gap * np.arange(71), gap * np.arange(91)
    for i in range(1, 71):
        for j in range(1, 91):
            same = (1 if a[i - 1] != "A" else 2) if a[i - 1] == b[j - 1] else 0
            truth[i, j] = logsumexp([truth[i - 1, j - 1] + pair[same], truth[i - 1, j] + gap, truth[i, j - 1] + gap])
    data = [{"name": "a", "text": a, "type": "letters"}, {"name": "b", "text": b, "type": "letters"}]
    made = deck(kind, 71, 91, data, [("i == 0 || j == 0", "log(1/10) * (i + j)")],
                "logsum(M[i-1][j-1] + log(a[i-1] != b[j-1] ? 0.05 : a[i-1] == 'A' ? 0.6 : 0.8), "
                "M[i-1][j] + log(0.1), M[i][j-1] + log(0.1))", "M[70][90]")
    compare(made, truth, truth[70, 90], ranks)


def inside_case(kind, ranks):
    """One nonterminal: S -> S S | letter; the inside probability of each interval (Lari and Young 1990)."""
    n = 50
    leaf = np.log(np.random.default_rng(4).random(n))
    truth = np.zeros((n, n))
    for d in range(n):
        for i in range(n - d):
            j = i + d
            truth[i, j] = leaf[i] if d == 0 else logsumexp(truth[i, i:j] + truth[np.arange(i + 1, j + 1), j]) + np.log(0.3)
    made = deck(kind, n, n, [numbers("leaf", leaf)], [("i == j", "leaf[i]")],
                "logsum(k = i .. j - 1 : M[i][k] + M[k+1][j]) + log(3 / 10)", f"M[0][{n - 1}]", "upper")
    compare(made, truth, truth[0, n - 1], ranks)


def recovered_case():
    """All that a logsum sums belongs to the solution."""
    made = deck("f64", 3, 2, [], [("i == 0", "-j")], "logsum(k = 0 .. 1 : M[i-1][k])", "M[2][1]", mode="recover")
    with suite.result(json.dumps(made)) as file:
        path = file["results/path"][()]
    check(sorted(map(tuple, path[:, :2])) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1)], f"{path}")


def refused_case():
    def run(cell, words, status):
        made = deck("f64", 4, 3, [], [("i == 0", "1")], cell, "M[3][2]", mode="value")
        done = suite.run(["run", suite.write("bad.yaml", json.dumps(made).encode()), "-o", suite.path("bad.h5")])
        check(done.status == status and all(w in done.err for w in words), f"{words} expected: {done.tail()}")

    run("log(-M[i-1][j])", ["dp.cell", "not a number: log of -1 at i = 1, j = 2"], 3)
    run("exp(800 * M[i-1][j])", ["dp.cell", "overflow: exp of 800 at i = 1, j = 2"], 3)
    run("pow(M[i-1][j], 50 + 20 * j)", ["a power is from -64 to 64, this is 90", "i = 1, j = 2"], 2)
    run("logsom(1, M[i-1][j])", ["unknown name 'logsom'; did you mean 'logsum'?"], 2)


for kind in LIMITS:
    for ranks in (2, 3, 5):
        if ranks == 3 or not suite.fast:
            suite.case(f"forward, {kind}, {ranks} ranks", forward_case, kind, ranks)
            suite.case(f"backward, {kind}, {ranks} ranks", backward_case, kind, ranks)
            suite.case(f"all alignments, {kind}, {ranks} ranks", paths_case, kind, ranks)
            suite.case(f"inside, {kind}, {ranks} ranks", inside_case, kind, ranks)
suite.case("recovered", recovered_case)
suite.case("refused", refused_case)
suite.end()
