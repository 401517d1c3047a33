#!/usr/bin/env python3
"""Solutions of recurrences within little memory: the same bytes as from the whole table; refused below.

usage: dp_strips.py TESELA [--fast] [ONLY]

Wavefronts and rows that read one to three rows above, in all eight orders, with several tables, inner indices, reals
and whole numbers, goals at a cell, of several cells and over cells, chains and solutions that branch: with memories from
the least that is enough to more than the whole table, by the interpreter, on 1, 2, 3 and 5 ranks, on a card and beside
one where there is any. A run that is killed while the table is filled goes on on other ranks to the same.
"""
import json
import os
import re
import signal
import time

import harness
from harness import check, np
from interrupted import checkpoints, members

suite = harness.Suite(__doc__, jobs=3)
FAST = suite.fast
CARDS = suite.cards()
LETTERS = [{"name": "a", "random": 701, "seed": 1, "type": "letters"}, {"name": "b", "random": 523, "seed": 2, "type": "letters"}]
COST = [{"name": "c", "random": 701 * 523, "seed": 5, "lo": 0, "hi": 40, "width": 523}]
EDGE = [{"where": "i == 0 || j == 0", "value": "i + j"}]
PAIR = {"rows": "len(a) + 1", "cols": "len(b) + 1"}
LAST = "M[len(a)][len(b)]"


def corner(up, left):
    """Costs of a way through a table from one corner to the other, in the direction of the signs; the boundary is where it
    begins."""
    i, j = f"i{'-' if up > 0 else '+'}1", f"j{'-' if left > 0 else '+'}1"
    first = (0 if up > 0 else 700, 0 if left > 0 else 522)
    return {"table": {"name": "M", "type": "i32", "rows": 701, "cols": 523}, "data": COST,
            "boundary": [{"where": f"i == {first[0]} || j == {first[1]}", "value": "c[i][j]"}],
            "cell": f"c[i][j] + min(M[{i}][{j}] - 1, M[{i}][j], M[i][{j}])", "goal": f"M[{700 - first[0]}][{522 - first[1]}]"}


def rows(sign, depth, by_columns=False):
    """The cheapest way down or up from any cell of a row to the next ones, reading `depth` rows."""
    place = (lambda d, s: f"M[i{s}][j{'-' if sign > 0 else '+'}{d}]") if by_columns else \
        (lambda d, s: f"M[i{'-' if sign > 0 else '+'}{d}][j{s}]")
    along, length, size = ("j", 523, 701) if by_columns else ("i", 701, 523)
    across = "i" if by_columns else "j"
    inside = [place(1, ""), f"({across} > 0 ? {place(1, '-1')} : 99999)", f"({across} < {size - 1} ? {place(1, '+1')} : 99999)"]
    inside += [f"{place(d, '')} + {d}" for d in range(2, depth + 1)]
    begins = f"{along} < {depth}" if sign > 0 else f"{along} >= {length - depth}"
    return {"table": {"name": "M", "type": "i32", "rows": 701, "cols": 523}, "data": COST,
            "boundary": [{"where": begins, "value": "c[i][j]"}],
            "cell": f"c[i][j] + min({', '.join(inside)})", "goal": "min over last column" if by_columns and sign > 0
            else "min over last row" if sign > 0 else "min(M[0][0], M[0][5], M[5][0])"}


DECKS = {
    "lcs": {"table": {"name": "M", "type": "i32", **PAIR}, "data": LETTERS, "boundary": [{"where": "i == 0 || j == 0", "value": 0}],
            "cell": "a[i-1] == b[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])", "goal": LAST},
    "local, reals": {"table": {"name": "M", "type": "f64", **PAIR}, "data": LETTERS, "boundary": [{"where": "i == 0 || j == 0", "value": 0}],
                     "cell": "max(0, M[i-1][j-1] + (a[i-1] == b[j-1] ? 1.25 : -0.75), M[i-1][j] - 1, M[i][j-1] - 1)", "goal": "max over all"},
    "gotoh": {"table": {"type": "i32", **PAIR}, "data": LETTERS, "goal": "H[len(a)][len(b)]",
              "tables": [{"name": "E", "boundary": [{"where": "i == 0 || j == 0", "value": -9999}], "cell": "max(H[i][j-1] - 5, E[i][j-1] - 1)"},
                         {"name": "F", "boundary": [{"where": "i == 0 || j == 0", "value": -9999}], "cell": "max(H[i-1][j] - 5, F[i-1][j] - 1)"},
                         {"name": "H", "boundary": [{"where": "i == 0 || j == 0", "value": "-2 * (i + j)"}],
                          "cell": "max(H[i-1][j-1] + (a[i-1] == b[j-1] ? 3 : -2), E[i][j], F[i][j])"}]},
    "branching": {"table": {"name": "M", "type": "f64", "rows": 700, "cols": 600}, "boundary": [{"where": "i == 0 || j == 0", "value": "1 / (1 + i + j)"}],
                  "cell": "(i + 3 * j) % 40 == 0 ? (M[i-1][j] + M[i][j-1]) / 2 : M[i-1][j-1]", "goal": "M[699][599] + M[100][20]"},
    "few items": {"table": {"name": "M", "type": "i32", "rows": "len(w) + 1", "cols": "901", "depth": ["9"]},
                  "data": [{"name": "w", "random": 300, "seed": 3, "lo": 1, "hi": 90}], "boundary": [{"where": "i == 0 || k == 0", "value": 0}],
                  "cell": "j < w[i-1] ? M[i-1][j][k] : max(M[i-1][j][k], M[i-1][j-w[i-1]][k-1] + w[i-1] * 3 % 11)", "goal": "M[len(w)][900][8]"},
    "three": {"table": {"name": "M", "type": "i16", "rows": "len(a) + 1", "cols": "len(b) + 1", "depth": ["len(d) + 1"]},
              "data": [{"name": "a", "random": 190, "seed": 1, "type": "letters"}, {"name": "b", "random": 170, "seed": 2, "type": "letters"},
                       {"name": "d", "random": 11, "seed": 4, "type": "letters"}],
              "boundary": [{"where": "i == 0 || j == 0 || k == 0", "value": 0}],
              "cell": "a[i-1] == b[j-1] && b[j-1] == d[k-1] ? M[i-1][j-1][k-1] + 1 : max(M[i-1][j][k], M[i][j-1][k], M[i][j][k-1])",
              "goal": "M[len(a)][len(b)][len(d)]"},
    **{f"wave {'down' if up > 0 else 'up'} {'right' if left > 0 else 'left'}": corner(up, left) for up in (1, -1) for left in (1, -1)},
    "rows down": rows(1, 1), "rows up, 2": rows(-1, 2), "rows down, 3": rows(1, 3),
    "columns right": rows(1, 1, True), "columns left, 2": rows(-1, 2, True),
}


def deck_of(name, tree):
    return suite.write(name, json.dumps(tree))


def tree_of(name, memory, **run):
    return {"family": "dp", "run": {"device": "cpu", "threads": 1, "ranks": "all", **run},
            "dp": {"problem": "recurrence", "mode": "recover", "memory": memory, **DECKS[name]}}


def solved(name, memory, ranks=None, more=()):
    out = suite.path("made.h5")
    run = suite.run(["run", deck_of("made.yaml", tree_of(name, memory)), "-o", out, "--overwrite", *more], ranks, timeout=300)
    check(run.status == 0 and "VALID" in run.out, run.tail())
    kept = re.search(r"solution from rows kept each (\d+), between", run.out)
    with harness.h5py.File(out, "r") as file:
        return int(kept[1]) if kept else 0, harness.datasets(file)


def least(name):
    """KiB that a refusal says are enough."""
    run = suite.run(["plan", deck_of("refused.yaml", tree_of(name, "64 KiB"))])
    found = re.search(r"keeps some rows of the table on one rank: ([\d.]+) (KiB|MiB) is needed", run.err)
    check(run.status == 2 and "dp.memory" in run.err and found, run.tail())
    return float(found[1]) * {"KiB": 1, "MiB": 1024}[found[2]]


def same(name, ranks):
    """The memories are the least that is enough, and twice as much; more for a solution that is no path."""
    whole = solved(name, "1 GiB")
    check(whole[0] == 0, "the whole table is not kept where it fits")
    enough = least(name)
    for n_ranks in ranks:
        for times in (1.1, 2) if n_ranks is None else (1.1,):
            memory = f"{int(1024 * (enough * times + (512 if name == 'branching' else 0))) + 1} B"
            kept, made = solved(name, memory, n_ranks)
            check(kept > 0, f"the whole table is kept in {memory}")
            harness.check_same(whole[1], made)
    for n_ranks, args in CARDS:
        harness.check_same(whole[1], solved(name, memory, n_ranks, args)[1])
    return f"{enough:.3g} KiB are enough, {len(made['path'])} records"


def interpreted():
    whole = solved("lcs", "1 GiB")
    kept, made = solved("lcs", f"{int(1100 * least('lcs'))} B", None, ["--interpret"])
    check(kept > 0, "all kept")
    harness.check_same(whole[1], made)


def killed(name, ranks, others):
    """While the table is filled; the rest of it, and the solution, on other ranks."""
    memory = f"{int(1200 * least(name))} B"
    deck, out = deck_of("killed.yaml", tree_of(name, memory, checkpoint=0.05)), suite.path("killed.h5")
    truth = solved(name, memory)[1]
    began = time.time()
    process = suite.start(["run", deck, "-o", out], ranks, env={"TSL_TEST_SLOW": "+0.1", "TSL_TEST_CHECKPOINTS": "prompt"})
    patience = harness.Patience(100)
    while not checkpoints(out):
        check(process.poll() is None and not patience.over(), "no checkpoint")
        time.sleep(0.01)
    for pid, title in members(process.pid):
        if title == os.path.basename(suite.binary)[:15]:
            os.kill(pid, signal.SIGKILL)
    suite.finish(process, began, 200)
    run = suite.run(["run", deck, "-o", out, "--restart", out], others)
    check(run.status == 0 and "goes on from a checkpoint" in run.out, run.tail())
    with harness.h5py.File(out, "r") as file:
        harness.check_same(truth, harness.datasets(file))


def predicted(name, low, high):
    """plan says what is computed again, and how long that takes."""
    plan = suite.run(["plan", deck_of("planned.yaml", tree_of(name, f"{int(1200 * least(name))} B"))])
    part = re.search(r"the way back computes about ([\d.e+-]+) of the table again", plan.out)
    seconds = re.search(r"predicted ([\d.e+-]+) s of computing; .*; then ([\d.e+-]+) s of the way back", plan.out)
    check(plan.status == 0 and part and seconds, plan.tail())
    check(low <= float(part[1]) <= high, f"{part[1]} of the table")
    check(abs(float(seconds[2]) / float(seconds[1]) / float(part[1]) - 1) < 0.1, f"{seconds[0]}, {part[0]}")


def too_many():
    """A solution of more values than there is memory for: said, with their number, before a result is written."""
    DECKS["all"] = {**DECKS["branching"], "cell": "(M[i-1][j] + M[i][j-1]) / 2"}
    run = suite.run(["run", deck_of("many.yaml", tree_of("all", f"{int(1030 * least('all'))} B")), "-o", suite.path("many.h5")])
    check(run.status != 0 and "dp.memory" in run.err and re.search(r"rests on more than \d+ values", run.err), run.tail())
    check(not os.path.exists(suite.path("many.h5")), "a result is left")


def whole_needed():
    """Intervals read any earlier cell: the refusal says that the whole table is needed."""
    tree = {"family": "dp", "dp": {"problem": "recurrence", "mode": "recover", "memory": "64 KiB",
                                   "table": {"name": "M", "type": "i64", "rows": 300, "cols": 300, "cells": "upper"},
                                   "boundary": [{"where": "i == j", "value": "i % 7"}],
                                   "cell": "min(k = i .. j - 1 : M[i][k] + M[k+1][j])", "goal": "M[0][299]"}}
    run = suite.run(["plan", deck_of("intervals.yaml", tree)])
    check(run.status == 2 and "keeps the whole table on one rank: 703.1 KiB is needed" in run.err, run.tail())


for count, deck in enumerate(DECKS):
    suite.case(deck, same, deck, (None, 2, 3, 5) if not FAST else (None, 2 + count % 4 + (count % 4 == 2)))
suite.case("interpreted", interpreted)
suite.case("killed, lcs, 1 rank, then 2", killed, "lcs", None, 2)
suite.case("killed, rows down 3, 2 ranks, then 1", killed, "rows down, 3", 2, None)
suite.case("predicted, a wavefront", predicted, "lcs", 0.5, 0.6)
suite.case("predicted, rows", predicted, "rows down", 1, 1)
suite.case("a solution of too many values", too_many)
suite.case("the whole table is needed", whole_needed)
suite.end()
