#!/usr/bin/env python3
"""Local alignments leave out blocks that hold no better score, and give what the whole table gives.

usage: dp_pruned.py TESELA [--fast] [ONLY]

Score, end and path are those of a plain table of numpy and a walk by the rules of docs/families/dp.md, of longer ones
the score parasail's. Similar, equal, shifted, exchanged, repeated sequences (many ends and paths as good), strangers,
N alone, a short piece of the other; lengths down to 0; 1, 2, 3 and 5 ranks, paths in little memory. Of alike sequences
a part must be computed alone, about that which the run has said before, and the run must say so.
"""
import re

import harness
from harness import check, h5py, np
from dp_truth import letters, mutated
from interrupted import go_on_after_kill

suite = harness.Suite(__doc__, jobs=2)
FAST = suite.fast
LETTERS = "ACGTN"
MATRIX = np.array([[5, -4, -1, -3, -2], [-2, 7, -3, 0, -2], [-1, -3, 6, -4, -2], [-3, 1, -4, 4, -2], [-2] * 4 + [1]])
SCORES = {
    "affine": {"match": 2, "mismatch": -3, "open": 5, "extend": 2},
    "linear": {"match": 1, "mismatch": -1, "open": 0, "extend": 1},
    "free gaps": {"match": 3, "mismatch": -2, "open": 4, "extend": 0},
    "fours": {"match": 8, "mismatch": -12, "open": 12, "extend": 4},
    "large": {"match": 500, "mismatch": -400, "open": 1200, "extend": 100},
    "matrix": {"matrix": "made.txt", "open": 6, "extend": 1},
}


def pair(kind, n, seed):
    rng = np.random.default_rng(seed)
    a = letters(rng, n)
    if kind.startswith("mutated"):
        return a, mutated(rng, a, float(kind.split()[1]))
    if kind == "shifted":
        return a, a[n // 3:] + letters(rng, n // 5)
    if kind == "exchanged":
        return a, a[n // 2:] + mutated(rng, a[: n // 2], 0.05)
    if kind == "piece":  # 1 : 20
        return a, mutated(rng, a[n // 2: n // 2 + n // 20], 0.05)
    if kind == "repeats":
        return "ACGGT" * (n // 5), "ACGGT" * (n // 5 - 3) + "AC"
    if kind == "one letter":
        return "A" * n, "A" * (n - n // 10)
    if kind == "N alone":
        return "N" * n, "N" * (n // 2)
    if kind == "twice":  # two ends as good
        return a, a[: n // 3] + letters(rng, 50) + a[: n // 3]
    return (a, a) if kind == "equal" else (a, letters(rng, n + n // 7))  # strangers


ALIKE = ["equal", "mutated 0.02", "mutated 0.1"]
KINDS = ALIKE + ["mutated 0.3", "shifted", "exchanged", "piece", "repeats", "one letter", "N alone", "twice", "strangers"]

# ------------------------------------------------------------------ plain tables


def plain(a, b, scores):
    """Score, and the path from its beginning, by whole tables H, E and F."""
    x, y = (np.array([LETTERS.index(c) for c in s], dtype=np.int64) for s in (a, b))
    s = MATRIX if "matrix" in scores else np.where(np.eye(5, dtype=bool), scores["match"], scores["mismatch"])
    gap_open, extend = scores["open"], scores["extend"]
    h, e, f = (np.full((len(a) + 1, len(b) + 1), low, dtype=np.int64) for low in (0, -10**9, -10**9))
    columns = extend * np.arange(len(b) + 1)
    for i, letter in enumerate(x, 1):
        f[i] = np.maximum(f[i - 1], h[i - 1] - gap_open) - extend
        best = np.concatenate([[0], np.maximum(np.maximum(f[i, 1:], h[i - 1, :-1] + s[letter][y]), 0)])
        e[i, 1:] = np.maximum.accumulate(best + columns)[:-1] - columns[1:] - gap_open
        h[i] = np.maximum(best, e[i])
    i, j = np.unravel_index(np.argmax(h), h.shape)  # the smallest row, then column
    score, steps, state = int(h[i, j]), [], 0
    while state or h[i, j] > 0:
        if state == 0 and h[i, j] == h[i - 1, j - 1] + s[x[i - 1]][y[j - 1]]:
            i, j = i - 1, j - 1
            steps.append(0 if x[i] == y[j] else 1)
            continue
        state = state or (2 if h[i, j] == e[i, j] else 3)
        steps.append(state)
        i, j = (i, j - 1) if state == 2 else (i - 1, j)
        if h[i, j] - gap_open >= (e if state == 2 else f)[i, j]:
            state = 0
    return score, (int(i), int(j)) if steps else None, steps[::-1]


def by_parasail(a, b, scores):
    import parasail
    matrix = parasail.matrix_create("ACGT", scores["match"], scores["mismatch"])
    return parasail.sw_striped_32(a, b, scores["open"] + scores["extend"], max(scores["extend"], 0), matrix).score


# ------------------------------------------------------------------ runs


def tree_of(name, mode, threads=1, **more):
    section = {"problem": "local", "mode": mode, "alphabet": "dna", "a": {"file": "pair.fasta"},
               "b": {"file": "pair.fasta", "record": 2}, "scores": SCORES[name], **more}
    return {"family": "dp", "run": {"device": "cpu", "threads": threads, "ranks": "all"}, "dp": section}


def looked(file):
    said = re.search(r"([\d.e+-]+) % of the table's cells computed", file["run/facts"][()].decode())
    return float(said[1]) / 100 if said else 1.0


def run(name, mode, ranks=1, threads=1, args=(), **more):
    """Results, and the part of the table that was computed."""
    with suite.result(tree_of(name, mode, threads, **more), ranks=ranks if ranks > 1 else None, args=args, timeout=300) as file:
        return harness.datasets(file), looked(file), dict(file["results"].attrs)


def write_pair(a, b):
    suite.write("pair.fasta", f">a\n{a}\n>b\n{b}\n")
    suite.write("made.txt", "   A C G T N\n" + "".join(f"{c} {' '.join(map(str, row))}\n" for c, row in zip(LETTERS, MATRIX)))


def same(name, kind, n, seed, ranks=()):
    a, b = pair(kind, n, seed)
    write_pair(a, b)
    score, begin, steps = plain(a, b, SCORES[name])
    made, part, _ = run(name, "value", threads=1 + seed % 2)
    check(made["goal"][0] == score, f"goal {made['goal'][0]}, a plain table {score}")
    parts = [part]
    for n_ranks in (1, *ranks):
        made, part, lines = run(name, "recover", n_ranks, **({"memory": "1 MiB"} if seed % 3 == 0 else {}))
        path = np.repeat(made["path"][:, 0], made["path"][:, 1]).tolist() if len(made["path"]) else []
        check(made["goal"][0] == score, f"{n_ranks} ranks: goal {made['goal'][0]}, a plain table {score}")
        check(path == steps, f"{n_ranks} ranks: another path")
        check(begin is None or (lines["first letter of a"], lines["first letter of b"]) == begin, "another begin")
        parts.append(part)
    return ", ".join(f"{100 * part:.3g} %" for part in parts)


def foretold(file):
    """What anchors say before the table is filled: a score, and the part that is to be computed."""
    said = re.search(r"score (\d+), so that about ([\d.e+-]+) %", file["run/facts"][()].decode())
    return (int(said[1]), float(said[2]) / 100) if said else (0, 1.0)


def saves(name, kind, n, most, ranks=1):
    """Sequences that are alike need a part, with and without path: that which their anchors tell."""
    a, b = pair(kind, n, 77)
    write_pair(a, b)
    score, notes = None, []
    for mode in ("value", "recover"):
        with suite.result(tree_of(name, mode), ranks=ranks if ranks > 1 else None, timeout=300) as file:
            goal, part, (known, told) = int(file["results/goal"][0]), looked(file), foretold(file)
        check(part < most, f"{mode}: {100 * part:.3g} % of the table")
        check(score in (None, goal), "another goal with a path")
        check(0.99 * goal < known <= goal, f"anchors have a score of {known}, the optimum is {goal}")
        check(abs(told - part) < 0.06, f"{100 * told:.3g} % foretold, {100 * part:.3g} % computed")
        with open(suite.env["XDG_CACHE_HOME"] + "/tesela/calibration") as lines:
            check(re.search(rf"\bdp\|local,{mode},\S*,a1\b", lines.read()), "no calibration of sequences that are alike")
        score = goal
        notes.append(f"{100 * part:.3g} %")
    try:
        check(score == by_parasail(a, b, SCORES[name]), "not parasail's score")
    except ImportError:
        notes.append("no parasail")
    return ", ".join(notes)


def decline(device):
    """Strangers before and after: values fall by more than 16 bits beyond the best cell."""
    rng = np.random.default_rng(9)
    alike = letters(rng, 5000)
    a, b = letters(rng, 7000) + alike + letters(rng, 14000), letters(rng, 3000) + alike + letters(rng, 14077)
    write_pair(a, b)
    tree = tree_of("fours", "recover", threads=2)
    tree["run"]["device"] = device
    with suite.result(tree, timeout=300) as file:
        goal = int(file["results/goal"][0])
    check(goal >= 8 * len(alike), f"goal {goal} of {len(alike)} equal letters")
    try:
        check(goal == by_parasail(a, b, SCORES["fours"]), f"{goal} is not parasail's score")
    except ImportError:
        return "no parasail"
    return None


def strangers(n):
    write_pair(*pair("strangers", n, 5))
    _, part, _ = run("affine", "value")
    check(part > 0.9, f"{100 * part:.3g} % of the table: too little to be true")
    return f"{100 * part:.3g} %"


def others_compute_all():
    """global and edit leave nothing out, nor does a table that is wanted whole."""
    write_pair(*pair("mutated 0.1", 3000, 3))
    _, part, _ = run("affine", "table")
    check(part == 1, "a table with cells left out")
    _, part, _ = run("affine", "value", problem="global", band="off")
    check(part == 1, "a global alignment with cells left out")


def resumed():
    """A run that goes on from a checkpoint has the same score, and no word of a part: it knows its own alone."""
    write_pair(*pair("mutated 0.1", 12000, 77))
    tree = tree_of("affine", "value")
    tree["run"]["units"] = 20
    go_on_after_kill(suite, tree, "resumed", 2, 1, saves=2)
    made, part, _ = run("affine", "value")
    with h5py.File(suite.path("resumed.h5"), "r") as file:
        check(file["results/goal"][0] == made["goal"][0], "another score")
        check(part < 1 and looked(file) == 1, f"{100 * part:.3g} %, and after a checkpoint {100 * looked(file):.3g} %")


SIZES = [0, 1, 2, 17, 64, 255, 257, 700]
names, rounds = list(SCORES), np.random.default_rng(3)
for count, kind in enumerate(KINDS):
    for name in names[count % 2::3] if FAST else names:
        suite.case(f"{name}, {kind}, 2500", same, name, kind, 2500, count)
for count, size in enumerate(SIZES):
    suite.case(f"{names[count % len(names)]}, {size} letters", same, names[count % len(names)], KINDS[count % 5], size, count)
for count in range(3 if FAST else 60):
    name, kind = names[rounds.integers(len(names))], KINDS[rounds.integers(len(KINDS))]
    suite.case(f"round {count}: {name}, {kind}", same, name, kind, int(rounds.integers(100, 3001)), 100 + count)
for kind in ("mutated 0.1", "repeats") if FAST else KINDS:
    suite.case(f"affine, {kind}, ranks", same, "affine", kind, 2400, 6, (2, 3, 5))
for kind in ALIKE:
    suite.case(f"{kind}: a part", saves, "affine", kind, 60000, 0.3)
suite.case("mutated 0.1: a part, 3 ranks", saves, "affine", "mutated 0.1", 60000, 0.3, 3)
suite.case("strangers: nearly all", strangers, 4000)
for device in ("cpu", "gpu") if " gpu0 " in suite.run(["devices"]).out else ("cpu",):
    suite.case(f"far below the best cell, {device}", decline, device)
suite.case("others compute all", others_compute_all)
suite.case("gone on from a checkpoint", resumed)
suite.end()
