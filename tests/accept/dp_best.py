#!/usr/bin/env python3
"""The k best local alignments without common pairs of letters, against declumping by whole tables.

usage: dp_best.py TESELA [--fast] [ONLY]

After each alignment the plain table is filled anew without the pairs that are taken (Waterman and Eggert 1987); scores,
ends, paths and files must be those of that, on 1, 2 and 3 ranks.
"""
import re

import harness
from harness import check, np

SCORINGS = {"affine": ((2, -3), 5, 2), "linear": ((1, -1), 0, 1), "free": ((3, -2), 2, 0), "large": ((900, -700), 1500, 300)}
OPERATIONS = "=XDI"
LEAST = -(1 << 30)


def tables(pairs, gap):
    """H, E (gaps along the row), F of a local alignment, antidiagonal by antidiagonal."""
    n, m = pairs.shape
    h = np.zeros((n + 1, m + 1), np.int64)
    e, f = np.full((n + 1, m + 1), LEAST), np.full((n + 1, m + 1), LEAST)
    for k in range(2, n + m + 1):
        i = np.arange(max(1, k - m), min(n, k - 1) + 1)
        j = k - i
        e[i, j] = np.maximum(h[i, j - 1] - gap[0], e[i, j - 1]) - gap[1]
        f[i, j] = np.maximum(h[i - 1, j] - gap[0], f[i - 1, j]) - gap[1]
        h[i, j] = np.maximum(np.maximum(h[i - 1, j - 1] + pairs[i - 1, j - 1], 0), np.maximum(e[i, j], f[i, j]))
    return h, e, f


def declumped(a, b, score, gap, most):
    """[(score, begin a, end a, begin b, end b, CIGAR)] and no pair of letters twice."""
    free = np.where(np.array(list(a))[:, None] == np.array(list(b))[None, :], score[0], score[1]).astype(np.int64)
    pairs, found = free.copy(), []
    while len(found) < most:
        h, e, f = tables(pairs, gap)
        end = i, j = np.unravel_index(np.argmax(h), h.shape)
        if h[end] == 0:
            break
        state, out = "cell", []
        while state != "cell" or h[i, j] > 0:
            if state == "cell" and h[i, j] == h[i - 1, j - 1] + pairs[i - 1, j - 1]:
                i, j = i - 1, j - 1
                out.append("=" if a[i] == b[j] else "X")
                pairs[i, j] = LEAST
                continue
            if state == "cell":
                state = "left" if h[i, j] == e[i, j] else "up"
            was, out = (e if state == "left" else f)[i, j], out + ["D" if state == "left" else "I"]
            i, j = (i, j - 1) if state == "left" else (i - 1, j)
            state = "cell" if was == h[i, j] - gap[0] - gap[1] else state
        cigar = "".join(f"{len(x.group())}{x.group()[0]}" for x in re.finditer(r"(.)\1*", "".join(out[::-1])))
        found.append(tuple(int(x) for x in (h[end], i, end[0], j, end[1])) + (cigar,))
    return found


def word(rng, n):
    return "".join(rng.choice(list("ACGT"), n))


def near(rng, s, share=0.15):
    dice = rng.random(len(s))
    return "".join("" if d < share / 3 else word(rng, 1) if d < 2 * share / 3 else c + word(rng, 1) if d < share else c
                   for c, d in zip(s, dice))


def pair(rng, kind, n):
    """Repeats in both, in one, a stretch of one letter, strangers."""
    unit = word(rng, max(2, n // 4))
    if kind == "repeats":
        return "".join(near(rng, unit) + word(rng, 4) for _ in range(3)), \
            word(rng, 5).join(near(rng, unit) for _ in range(3))
    if kind == "one letter":
        return word(rng, n // 3) + "A" * (n // 3), "A" * (n // 4) + word(rng, n // 3)
    if kind == "copy":
        s = word(rng, n)
        return s, near(rng, s)
    return word(rng, n), word(rng, n + 7)


KINDS = ("repeats", "one letter", "copy", "strangers")


def deck(a, b, scoring, best, **keys):
    (match, mismatch), opening, extend = SCORINGS[scoring]
    return {"family": "dp", "dp": {
        "problem": "local", "mode": "recover", "alphabet": "dna", "a": {"text": a}, "b": {"text": b}, "best": best,
        "scores": {"match": match, "mismatch": mismatch, "open": opening, "extend": extend}, **keys}}


def found_by(tree, ranks=None):
    """The same from the result: records of alignments and runs of path."""
    with suite.result(tree, ranks=ranks) as file:
        path = [(int(n), OPERATIONS[op]) for op, n in file["results/path"][()]]
        out = []
        for record in file["results/alignments"][()]:
            runs, path = path[:record[5]], path[record[5]:]
            out.append(tuple(int(x) for x in record[:5]) + ("".join(f"{n}{op}" for n, op in runs),))
        check(not path, "runs of no alignment")
        check(file["results/goal"][0] == (out[0][0] if out else 0), "goal")
    return out


def truth_case(scoring, ranks):
    rng = np.random.default_rng(len(scoring) + 10 * ranks)
    score, *gap = SCORINGS[scoring]
    counts = set()
    for k in range(8 if suite.fast else 24):
        a, b = pair(rng, KINDS[k % 4], int(rng.integers(8, 70)))
        best = int(rng.integers(2, 12))
        want, got = declumped(a, b, score, gap, best), found_by(deck(a, b, scoring, best), ranks)
        check(got == want, f"{a} {b} best {best}: {got}, not {want}")
        counts.add(len(got))
    check(max(counts) > 3, "no case")


def long_case():
    """Rows that are kept, 256 from one to the next, and what is left as it was below an alignment."""
    rng = np.random.default_rng(3)
    for n, kind in ((1100, "repeats"), (900, "copy"), (700, "strangers")):
        a, b = pair(rng, kind, n)
        want = declumped(a, b, (2, -3), (5, 2), 6)
        check(found_by(deck(a, b, "affine", 6)) == want and len(want) == 6, f"{kind}: not the alignments")


def files_case():
    """SAM: the best primary, others secondary without letters; PAF and a table with the same ones."""
    rng = np.random.default_rng(4)
    a, b = pair(rng, "repeats", 60)
    want = declumped(a, b, (2, -3), (5, 2), 4)
    for ending in ("sam", "paf", "tsv"):
        got = found_by(deck(a, b, "affine", 4, alignment=suite.path(f"best.{ending}")))
        with open(suite.path(f"best.{ending}"), encoding="ascii") as file:
            lines = [line.rstrip("\n").split("\t") for line in file if line[0] != "@"][ending == "tsv":]
        check(got == want and len(lines) == 4, f"{ending}: {len(lines)} lines")
        for k, (line, x) in enumerate(zip(lines, want)):
            if ending == "sam":
                clipped = re.sub(r"\b0S", "", f"{x[1]}S{x[5]}") + (f"{len(a) - x[2]}S" if x[2] < len(a) else "")
                check(line[1] == ("256" if k else "0") and line[3] == str(x[3] + 1) and line[5] == clipped and
                      line[9] == ("*" if k else a) and f"AS:i:{x[0]}" in line, f"{line}: {x}")
            elif ending == "paf":
                check((int(line[2]), int(line[3]), int(line[7]), int(line[8])) == x[1:5] and line[12][5:] == "PS"[k > 0]
                      and line[15] == f"cg:Z:{x[5]}" and line[14] == f"AS:i:{x[0]}", f"{line}: {x}")
            else:
                check((int(line[8]), int(line[2]), int(line[3]), int(line[6]), int(line[7]), line[11]) == x, f"{line}")


def few_case():
    """Fewer than were asked for; none at all; `best: 1` is what there was before."""
    check(found_by(deck("AC", "ACAC", "affine", 50)) == declumped("AC", "ACAC", (2, -3), (5, 2), 50), "few")
    check(found_by(deck("AAAA", "CCC", "affine", 3)) == [], "none")
    with suite.result(deck("ACGT", "ACGA", "affine", 1)) as file:
        check("alignments" not in file["results"] and file["results/path"].shape == (1, 2), "best: 1")


def refused_case():
    def refused(words, **keys):
        tree = deck("ACGTACGT", "ACGTAC", "affine", 3)
        tree["dp"].update(keys)
        done = suite.run(["run", suite.deck("bad.yaml", tree), "-o", suite.path("bad.h5")])
        check(done.status == 2 and all(x in done.err for x in words), f"{words} expected: {done.tail()}")

    refused(["dp.best", "not used by mode value"], mode="value")
    refused(["dp.best", "not used by problem global"], problem="global")
    refused(["dp.best", "1"], best=0)
    refused(["dp.memory", "too little for best: 3", "is needed"], a={"random": 900}, b={"random": 900}, memory=1000000)


if __name__ == "__main__":
    suite = harness.Suite(__doc__, jobs=2)
    for n_ranks, name in enumerate(SCORINGS):
        suite.case(f"{name}", truth_case, name, 1 + n_ranks % 3)
    suite.case("long", long_case)
    suite.case("files", files_case)
    suite.case("few", few_case)
    suite.case("refused", refused_case)
    suite.end()
