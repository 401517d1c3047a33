#!/usr/bin/env python3
"""Solutions within little memory: the same bytes as with all decisions kept, down to a few rows; refused below.

usage: dp_space.py TESELA [--fast] [ONLY]

Common subsequences, edit distances of unit and other costs, global and local alignments, their free ends and warpings of
ragged shapes (long and narrow, wide and short), with memories from all decisions to the least that fits, so that regions
are halved once, twice and many times; on 1, 2, 3 and 5 ranks, with the rows between which a solution is recovered in memory
and on disk, and on a card, where there is one. A run that is killed while it recovers a solution, and goes on from there
on other ranks, gives the same too.
"""
import os
import re
import signal
import time

import harness
from harness import check, np
from dp_truth import letters, mutated
from interrupted import compare_contents, contents, members

suite = harness.Suite(__doc__, jobs=4)
FAST = suite.fast
AFFINE = {"scores": {"match": 2, "mismatch": -3, "open": 5, "extend": 2}}
PROBLEMS = {
    "lcs": {"problem": "lcs", "band": "off"},
    "unit edit": {"problem": "edit", "band": "off"},
    "weighted edit": {"problem": "edit", "band": "off", "edit": {"insert": 3, "delete": 2, "substitute": 4}},
    "global": {"problem": "global", "band": "off", **AFFINE},
    "local": {"problem": "local", **AFFINE},
    "overlap": {"problem": "global", "free_ends": ["a_begin", "b_end"], **AFFINE},
    "read": {"problem": "edit", "free_ends": ["b_begin", "b_end"]},
    "dtw": {"problem": "dtw", "type": "f64"},
    "dtw f32": {"problem": "dtw", "type": "f32", "distance": "square"},
}
# Letters of a and b: square, tall, wide, and ends that are no multiple of anything.
SHAPES = [(2500, 2500), (4111, 701), (530, 5003), (1999, 3001)]


def inputs(name, shape, seed):
    rng = np.random.default_rng(seed)
    if name.startswith("dtw"):
        for letter, n in zip("ab", shape):
            np.savetxt(suite.path(letter + ".csv"), np.cumsum(rng.integers(-9, 10, n)), fmt="%d")
        return {"a": {"file": "a.csv"}, "b": {"file": "b.csv"}}
    short = letters(rng, min(shape))
    near = mutated(rng, short, 0.2)
    near += letters(rng, max(shape) - len(near)) if len(near) < max(shape) else ""
    a, b = (short, near) if shape[0] < shape[1] else (near, short)
    suite.write("pair.fasta", f">a\n{a}\n>b\n{b}\n")
    return {"alphabet": "dna", "a": {"file": "pair.fasta"}, "b": {"file": "pair.fasta", "record": 2}}


def tree_of(name, sources, memory, disk=False, **run):
    rows = {"special_rows": {"folder": suite.path("."), "size": "100 MiB"}} if disk else {}
    return {"family": "dp", "run": {"device": "cpu", "threads": 1, "ranks": "all", **run},
            "dp": {**PROBLEMS[name], "mode": "recover", "memory": memory, **rows, **sources}}


def solved(name, sources, memory, ranks=None, disk=False, args=()):
    with suite.result(tree_of(name, sources, memory, disk), ranks, args=args, timeout=300) as file:
        check(("special rows go to disk" in file["run/facts"][()].decode()) == disk, "not where they should be")
        made = harness.datasets(file)
        made.update({f"line {k}": np.asarray(v) for k, v in file["results"].attrs.items()})
    return made


def least(name, sources, ranks=None):
    """KiB that a refusal says are enough; 64, the least that the key takes, where these are."""
    run = suite.run(["plan", suite.deck("refused.yaml", tree_of(name, sources, "64 KiB"))], ranks)
    if run.status == 0:
        return 64
    found = re.search(r"about ([\d.]+) (B|KiB|MiB) is needed", run.err)
    check(run.status == 2 and "dp.memory" in run.err and found, run.tail())
    return float(found[1]) * {"B": 1 / 1024, "KiB": 1, "MiB": 1024}[found[2]]


def same(name, shape, seed, ranks):
    """The memories are the least that is enough and a few times as much."""
    sources = inputs(name, shape, seed)
    whole = solved(name, sources, "1 GiB")
    for n_ranks in ranks:
        enough = least(name, sources, n_ranks)
        for times in (1.02, 4) if FAST else (1.02, 1.5, 3, 8, 30):
            for disk in (False, True):
                made = solved(name, sources, f"{int(1024 * enough * times) + 1} B", n_ranks, disk)
                harness.check_same(whole, made)
    return f"{enough:.3g} KiB are enough for {shape[0]} x {shape[1]}"


def uneven(name):
    """A rank with twelve times the columns of the others keeps rows of them all; memory is little for that."""
    sources = inputs(name, (30011, 29997), 3)
    whole = solved(name, sources, "1 GiB")
    tree = tree_of(name, sources, f"{int(1.5 * 1024 * least(name, sources))} B", calibrate="always")
    with suite.result(tree, 3, env={"TSL_TEST_SLOW": "0:12,2:12"}) as file:
        harness.check_same({name: whole[name] for name in file["results"]}, harness.datasets(file))


def on_card(name, ranks, args):
    """Rows of a card on disk, from a memory that is little to one that is not."""
    sources = inputs(name, (60000, 59997), 3)
    whole = solved(name, sources, "8 GiB", args=["--set", "run.threads=0"])
    for memory in ("4 MiB", "64 MiB"):
        for disk in (False, True):
            harness.check_same(whole, solved(name, sources, memory, ranks if ranks > 1 else None, disk, args))


def killed(name, ranks, others, number, disk=False):
    """While the solution is recovered; the rest of it on other ranks."""
    sources = inputs(name, (20011, 19997), 5)
    memory = f"{int(3 * 1024 * least(name, sources, max(ranks or 1, others or 1)))} B"
    tree = tree_of(name, sources, memory, disk, checkpoint=0.05)
    deck = suite.deck("walk.yaml", tree)
    truth, out = suite.path("truth.h5"), suite.path("walk.h5")
    check(suite.run(["run", deck, "-o", truth]).status == 0, "no truth")
    began = time.time()
    process = suite.start(["run", deck, "-o", out], ranks,
                          env={"TSL_TEST_SLOW": "+0.02" if disk else "+0.2", "TSL_TEST_CHECKPOINTS": "prompt"})
    patience = harness.Patience(100)
    while steps_saved(out) < 2:
        check(process.poll() is None and not patience.over(), "no checkpoint of a part of the solution")
        time.sleep(0.01)
    for pid, title in members(process.pid):
        if title == os.path.basename(suite.binary)[:15]:
            os.kill(pid, number)
    suite.finish(process, began, 200)
    run = suite.run(["run", deck, "-o", out, "--restart", out], others)
    check(run.status == 0 and "the rest of the solution is left to recover" in run.out, run.tail())
    compare_contents(name, contents(out), contents(truth))


def steps_saved(out):
    """Of the checkpoints that are whole."""
    most = 0
    for slot in "01":
        try:
            with open(f"{out}.ckpt.{slot}", "rb") as file:
                data = file.read()
        except FileNotFoundError:
            continue
        at = 8
        while at + 16 <= len(data) - 8:
            tag = int(np.frombuffer(data[at:at + 4], np.int32)[0])
            size = int(np.frombuffer(data[at + 8:at + 16], np.int64)[0])
            if tag == WALK:
                most = max(most, (size - 64) // 16)
            at += 16 + (size + 7) // 8 * 8
    return most


def counted(tree, ranks):
    """What plan says the way back computes again, of the table, and its seconds by those of the table; what a run counts."""
    deck = suite.deck("counted.yaml", tree)
    plan = suite.run(["plan", deck], ranks)
    part = re.search(r"the way back computes about ([\d.e+-]+) of the table again", plan.out)
    seconds = re.search(r"predicted ([\d.e+-]+) s of computing; .*; then ([\d.e+-]+) s of the way back", plan.out)
    check(plan.status == 0 and part and seconds, plan.tail())
    run = suite.run(["run", deck, "-o", suite.path("counted.h5"), "--overwrite"], ranks)
    cells = [float(x) for x in re.findall(r"rank \d+ computed ([\d.e+-]+) cells again on the way back", run.out)]
    check(run.status == 0 and cells, run.tail())
    return float(part[1]), float(seconds[2]) / float(seconds[1]), sum(cells)


def predicted(name, ranks):
    """Cells computed again are as many as plan says, where the path is near the diagonal, in all memories and on all ranks."""
    n, rng = 6007, np.random.default_rng(3)
    sources, worst = inputs(name, (n, n), 3), 0
    if name.startswith("dtw"):
        series = np.cumsum(rng.integers(-9, 10, n))
        for letter, x in (("a", series), ("b", series + rng.integers(-3, 4, n))):
            np.savetxt(suite.path(letter + ".csv"), x, fmt="%d")
    for n_ranks in ranks:
        enough = least(name, sources, n_ranks)
        for times, disk in [(1.02, False), (10, False), (3, True)] + ([] if FAST else [(2, False), (100, False), (1.02, True)]):
            tree = tree_of(name, sources, f"{int(1024 * enough * times) + 1} B", disk)
            part, seconds, cells = counted(tree, n_ranks)
            off = part / (cells / n ** 2) - 1
            check(abs(off) < 0.15, f"{part} of the table, counted {cells / n ** 2:.4g}: {n_ranks} ranks, {times} times {enough} KiB")
            if n_ranks is None:
                check(abs(seconds - part) < 0.02 * part, f"{seconds} of the seconds for {part} of the table")
            worst = max(worst, abs(off))
    return f"at most {100 * worst:.2g} % off"


def predicted_narrow():
    """A table with fewer columns than ranks: some ranks have none, and what the others compute again is a number."""
    tree = {"family": "dp", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
            "dp": {"problem": "lcs", "mode": "recover", "a": {"text": "ACGT"}, "b": {"text": "AC"}}}
    plan = suite.run(["plan", suite.deck("narrow.yaml", tree)], 3)
    part = re.search(r"the way back computes about (\S+) of the table again", plan.out)
    check(plan.status == 0 and part and 0 < float(part[1]) < 1, plan.tail())


def predicted_sweep():
    """A knapsack whose decisions do not fit makes them all again; where they fit none."""
    rng, n, room = np.random.default_rng(4), 2000, 2000
    tree = {"family": "dp", "run": {"device": "cpu", "threads": 1},
            "dp": {"problem": "knapsack", "mode": "recover", "capacity": room, "memory": "200 KB",
                   "weights": {"values": rng.integers(1, 90, n).tolist()}, "values": {"values": rng.integers(1, 90, n).tolist()}}}
    part, seconds, cells = counted(tree, None)
    check(part == 1 and abs(seconds - 1) < 0.02 and cells == n * (room + 1), f"{part} {seconds} {cells}")
    tree["dp"]["memory"] = "1 MB"
    plan = suite.run(["plan", suite.deck("kept.yaml", tree)])
    check(plan.status == 0 and "way back" not in plan.out, plan.tail())


WALK = 10  # TSL_BLOCK_WALK
for count, name in enumerate(PROBLEMS):
    for k, shape in enumerate(SHAPES):
        if not FAST or k == count % len(SHAPES):
            ranks = (None, 2, 3, 5) if not FAST or count % 3 == 0 else (None,)
            suite.case(f"{name}, {shape[0]} x {shape[1]}", same, name, shape, count + k, ranks)
for name in [n for n in PROBLEMS if n not in ("local", "overlap", "read")]:
    suite.case(f"cells computed again, {name}", predicted, name, (None, 2, 3))
for name in ("global", "dtw"):
    suite.case(f"uneven ranks, {name}", uneven, name)
suite.case("decisions made again", predicted_sweep)
suite.case("again, fewer columns than ranks", predicted_narrow)
suite.case("killed in the walk, global, 1 rank, then 2", killed, "global", None, 2, signal.SIGKILL, True)
for n_ranks, args in suite.cards():
    for name in ("unit edit", "global", "local", "dtw f32"):
        suite.case(f"{args[-1]}, {name}", on_card, name, n_ranks, args)
if not FAST:
    suite.case("stopped in the walk, local, 3 ranks, then 1", killed, "local", 3, None, signal.SIGTERM)
    suite.case("killed in the walk, dtw, 2 ranks, then 3", killed, "dtw", 2, 3, signal.SIGKILL)
    suite.case("stopped in the walk, lcs, 1 rank, then 1", killed, "lcs", None, None, signal.SIGTERM)
suite.end()
