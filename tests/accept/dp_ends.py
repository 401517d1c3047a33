#!/usr/bin/env python3
"""Alignments whose ends are free: semi-global and overlap alignments, against plain tables of numpy, parasail and edlib.

usage: dp_ends.py TESELA [--fast] [ONLY]

All 16 combinations of free ends, with linear and affine gaps, a matrix of scores, unit and weighted edit distances.
Of 0 to 300 letters the whole table, the end (of the best cells that of the smallest row, then column) and the path must
be those of a plain table and a walk by the rules of docs/families/dp.md. Longer ones against parasail's sg_* and edlib's
HW and SHW; 1, 2, 3 and 5 ranks give the same bytes, and so does a run that goes on after a kill.
"""

import harness
from dp_truth import letters, mutated
from harness import check, np
from interrupted import compare_contents, contents, go_on_after_kill

suite = harness.Suite(__doc__, jobs=4)
FAST = suite.fast
WORDS = ("a_begin", "a_end", "b_begin", "b_end")
COMBINATIONS = [[w for k, w in enumerate(WORDS) if bits >> k & 1] for bits in range(16)]
MATRIX = np.array([[5, -4, -1, -3], [-2, 7, -3, 0], [-1, -3, 6, -4], [-3, 1, -4, 4]])  # not symmetric


def scores(match, mismatch, opening, extend):
    return {"problem": "global", "scores": {"match": match, "mismatch": mismatch, "open": opening, "extend": extend}}


def costs(insert, delete, substitute):
    return {"problem": "edit", "edit": {"insert": insert, "delete": delete, "substitute": substitute}}


SCORINGS = {
    "affine": scores(2, -3, 5, 2),
    "linear": scores(1, -1, 0, 1),
    "large scores": scores(900, -700, 1500, 300),
    "matrix": {"problem": "global", "scores": {"matrix": "made.txt", "open": 5, "extend": 2}},
    "unit edit": {"problem": "edit"},
    "weighted edit": costs(3, 2, 4),
}
PARASAIL = {(): "nw", ("b_begin",): "sg_db", ("b_end",): "sg_de", ("a_begin",): "sg_qb", ("a_end",): "sg_qe",
            ("b_begin", "b_end"): "sg_dx", ("a_begin", "a_end"): "sg_qx", ("a_begin", "b_end"): "sg_qb_de",
            ("a_end", "b_begin"): "sg_qe_db", ("a_begin", "b_begin"): "sg_qb_db", ("a_end", "b_end"): "sg_qe_de",
            WORDS: "sg"}

# ------------------------------------------------------------------ sequences


KINDS = ("strangers", "overlap", "inside", "alike", "two letters", "repeats")


def pair(kind, n, seed):
    """Two sequences of about n letters."""
    rng = np.random.default_rng(seed)
    common = letters(rng, n // 2)
    if kind == "overlap":  # the end of a is the beginning of b
        return letters(rng, n - n // 2) + common, mutated(rng, common, 0.1) + letters(rng, n - n // 2)
    if kind == "inside":  # a read of a reference
        return mutated(rng, common, 0.1), letters(rng, n // 4) + common + letters(rng, n // 3)
    if kind == "alike":
        a = letters(rng, n)
        return a, mutated(rng, a, 0.1)
    if kind == "two letters":  # many ties
        return letters(rng, n, "AC"), letters(rng, max(n - 3, 0), "AC")
    if kind == "repeats":
        return ("ACGGT" * n)[:n], ("GTACG" * n)[: n + n // 3]
    return letters(rng, n), letters(rng, n + n // 5)


# --------------------------------------------------------------- plain tables


class Plain:
    """Values as scores, larger is better: H, and E and F of the gaps in a and in b (Gotoh 1982)."""

    def __init__(self, name, a, b, ends):
        section, self.ends = SCORINGS[name], ends
        self.edit = section["problem"] == "edit"
        given = section.get("scores", section.get("edit", {}))
        self.open = 0 if self.edit else given["open"]
        self.of_b = given.get("insert", 1) if self.edit else given["extend"]  # a letter of b alone
        self.of_a = given.get("delete", 1) if self.edit else given["extend"]
        good, bad = (0, -given.get("substitute", 1)) if self.edit else (given.get("match", 0), given.get("mismatch", 0))
        table = MATRIX if name == "matrix" else np.where(np.eye(4, dtype=bool), good, bad)
        self.x, self.y = (np.array(["ACGT".index(c) for c in s], dtype=np.int64) for s in (a, b))
        self.pair = table[self.x][:, self.y]
        self.fill(len(a), len(b))

    def border(self, n, each, free):
        line = -(self.open + each * np.arange(n + 1)) * (not free)
        line[0] = 0
        return line

    def fill(self, n, m):
        self.h = np.zeros((n + 1, m + 1), np.int64)
        self.e, self.f = (np.full_like(self.h, -10**9) for _ in range(2))
        self.h[:, 0] = self.border(n, self.of_a, "a_begin" in self.ends)
        self.h[0] = self.border(m, self.of_b, "b_begin" in self.ends)
        columns = self.of_b * np.arange(m + 1)
        for i in range(1, n + 1):
            h, f = self.h[i], self.f[i]
            f[1:] = np.maximum(self.f[i - 1, 1:], self.h[i - 1, 1:] - self.open) - self.of_a
            h[1:] = np.maximum(f[1:], self.h[i - 1, :-1] + self.pair[i - 1])
            self.e[i, 1:] = np.maximum.accumulate(h + columns)[:-1] - columns[1:] - self.open
            h[1:] = np.maximum(h[1:], self.e[i, 1:])

    def end(self):
        """Value and cell: of the smallest row, then column."""
        n, m = len(self.x), len(self.y)
        cells = [(n, m)] + [(i, m) for i in range(n + 1) if "a_end" in self.ends]
        cells += [(n, j) for j in range(m + 1) if "b_end" in self.ends]
        i, j = min(cells, key=lambda at: (-self.h[at], *at))
        return int(self.h[i, j]), i, j

    def walk(self, i, j):
        """Runs and the beginning: a pair, else left, else up; a gap is opened rather than extended."""
        ways, state = [], "h"
        while i > 0 and j > 0:
            if state == "h":
                if self.h[i, j] == self.h[i - 1, j - 1] + self.pair[i - 1, j - 1]:
                    ways.append(0 if self.x[i - 1] == self.y[j - 1] else 1)
                    i, j = i - 1, j - 1
                    continue
                state = "e" if self.h[i, j] == self.e[i, j] else "f"
            if state == "e":
                opened = self.e[i, j] == self.h[i, j - 1] - self.open - self.of_b
                ways.append(2)
                j -= 1
            else:
                opened = self.f[i, j] == self.h[i - 1, j] - self.open - self.of_a
                ways.append(3)
                i -= 1
            state = "h" if opened else state
        if "a_begin" not in self.ends:
            ways, i = ways + [3] * i, 0
        if "b_begin" not in self.ends:
            ways, j = ways + [2] * j, 0
        return runs(ways[::-1]), (i, j)

    def worth(self, path, i, j):
        """What a path from cell (i, j) on is worth, and where it ends."""
        total = 0
        for op, n in path:
            if op >= 2:
                total -= self.open + n * (self.of_b if op == 2 else self.of_a)
            for _ in range(n):
                if op < 2:
                    check((self.x[i] == self.y[j]) == (op == 0), f"letters {i}, {j} are not what the path says")
                    total += self.pair[i, j]
                i, j = i + (op != 2), j + (op != 3)
        return int(total), (i, j)


def runs(ways):
    joined = []
    for way in ways:
        if joined and joined[-1][0] == way:
            joined[-1][1] += 1
        else:
            joined.append([way, 1])
    return joined


# ----------------------------------------------------------------------- runs


def tree_of(name, mode, ends, a, b, **more):
    suite.write("pair.fasta", f">read\n{a}\n>reference\n{b}\n")
    suite.write("made.txt", "   A C G T\n" + "".join(f"{'ACGT'[x]} {' '.join(map(str, MATRIX[x]))}\n" for x in range(4)))
    section = {**SCORINGS[name], "mode": mode, "alphabet": "dna", "free_ends": ends, "a": {"file": "pair.fasta"},
               "b": {"file": "pair.fasta", "record": 2}, **more}
    return {"family": "dp", "run": {"device": "cpu", "threads": 1}, "dp": section}


def run(name, mode, ends, a, b, ranks=None, env=None, args=(), **more):
    """Results and lines of the summary."""
    tree = tree_of(name, mode, ends, a, b, **more)
    with suite.result(tree, ranks=ranks, env=env, args=args, timeout=300) as file:
        made = harness.datasets(file)
        made.update({f"line {k}": np.asarray(v) for k, v in file["results"].attrs.items()})
    return made


def place(made, what):
    return tuple(int(made[f"line {what} {x}"]) for x in "ab")


def check_end(made, plain):
    value, i, j = plain.end()
    check(made["goal"][0] == (-value if plain.edit else value), f"goal {made['goal'][0]}, a plain table {value}")
    if plain.ends:
        check(place(made, "end in") == (i, j), f"ends in {place(made, 'end in')} instead of {(i, j)}")
    return value, i, j


def check_path(made, plain):
    value, i, j = check_end(made, plain)
    path = made["path"].tolist()
    truth, begin = plain.walk(i, j)
    found = place(made, "first letter of") if plain.ends else (0, 0)
    check(found == begin, f"begins at {found} instead of {begin}")
    check(plain.worth(path, *begin) == (value, (i, j)), f"path worth {plain.worth(path, *begin)}, not {value, (i, j)}")
    check(path == truth, f"path {path} instead of {truth}")


def check_sam(plain, path, begin, end):
    """The last line of the SAM file."""
    with open(suite.path("out.sam"), encoding="ascii") as file:
        fields = file.read().splitlines()[-1].split("\t")
    n = len(plain.x)
    if end[1] == begin[1]:
        check(fields[1] == "4" and fields[3] == "0" and fields[5] == "*", f"not unmapped: {fields}")
        return
    cigar = "".join(f"{length}{letter}" for length, letter in
                    [(begin[0], "S"), *((length, "=XDI"[op]) for op, length in path), (n - end[0], "S")] if length)
    check(fields[1] == "0" and fields[3] == str(begin[1] + 1) and fields[5] == cigar, f"{fields}, expected {cigar}")


def solved(plain, name, mode, ends, a, b):
    more = {"alignment": suite.path("out.sam")} if mode == "recover" else {}
    made = run(name, mode, ends, a, b, **more)
    check_end(made, plain)
    if mode == "table":
        check(np.array_equal(made["table"], -plain.h if plain.edit else plain.h), f"{ends}: another table")
    if mode == "recover":
        check_path(made, plain)
        if ends:
            check_sam(plain, made["path"].tolist(), place(made, "first letter of"), place(made, "end in"))


def small(name, kind, n, seed, combinations):
    """Fast: one mode each, in turn."""
    a, b = pair(kind, n, seed)
    for count, ends in enumerate(combinations):
        plain = Plain(name, a, b, ends)
        for k, mode in enumerate(("recover", "value", "table")):
            if not FAST or (count + seed) % 3 == k:
                solved(plain, name, mode, ends, a, b)


# ----------------------------------------------------------------------- peers


def by_parasail(parasail, name, ends, a, b):
    """Its ends lie in cells that hold a pair of letters; an alignment of none is worth 0, or its gaps."""
    given = SCORINGS[name]["scores"]
    matrix = parasail.matrix_create("ACGT", given["match"], given["mismatch"])
    gap = given["open"] + given["extend"]  # parasail: the first letter costs open
    score = getattr(parasail, PARASAIL[tuple(ends)] + "_striped_32")(a, b, gap, given["extend"], matrix).score
    alone = []
    if {"a_begin", "b_end"} <= set(ends) or {"b_begin", "a_end"} <= set(ends):
        alone = [0]
    return max([score, *alone])


def peers(name, kind, n, seed, combinations):
    import edlib
    import parasail
    a, b = pair(kind, n, seed)
    for ends in combinations:
        if name == "unit edit":
            mode = {(): "NW", ("b_end",): "SHW", ("b_begin", "b_end"): "HW"}[tuple(ends)]
            found = edlib.align(a, b, mode=mode, task="distance")
            score, end = found["editDistance"], min(at[1] for at in found["locations"]) + 1
        else:
            score, end = by_parasail(parasail, name, ends, a, b), None
        for mode in ("value", "recover"):
            made = run(name, mode, ends, a, b)
            check(made["goal"][0] == score, f"{ends}: {made['goal'][0]}, the peer {score}")
            if end is not None and ends:
                check(place(made, "end in") == (len(a), end), f"ends in {place(made, 'end in')}, edlib {end}")
        if made["path"].size:
            plain = Plain(name, "", "", ends)
            plain.x, plain.y = (np.array(["ACGT".index(c) for c in s]) for s in (a, b))
            plain.pair = Lookup(plain)
            begin = place(made, "first letter of") if ends else (0, 0)
            worth, _ = plain.worth(made["path"].tolist(), *begin)
            check(worth == (-score if plain.edit else score), f"{ends}: the path is worth {worth}, not {score}")


class Lookup:
    """Scores of pairs of long sequences."""

    def __init__(self, plain):
        self.plain = plain

    def __getitem__(self, at):
        same = self.plain.x[at[0]] == self.plain.y[at[1]]
        return (0 if same else -1) if self.plain.edit else (2 if same else -3)


# ------------------------------------------------------- ranks, memory, restart


def ranks_agree(name, mode, ends, kind, n, seed):
    a, b = pair(kind, n, seed)
    truth = run(name, mode, ends, a, b)
    for ranks in (2, 3, 5):
        harness.check_same(truth, run(name, mode, ends, a, b, ranks))


def little_memory(name, ends):
    """Rows are kept at distances and computed again."""
    a, b = pair("overlap", 3000, 9)
    harness.check_same(run(name, "recover", ends, a, b), run(name, "recover", ends, a, b, memory="1 MiB"))


def goes_on(name, mode, ends, kind):
    """Killed, and restarted on another number of ranks."""
    a, b = pair(kind, 4000, 12)
    tree = tree_of(name, mode, ends, a, b)
    tree["run"]["units"] = 20
    with suite.result(tree) as whole:
        truth = contents(whole.filename)
    compare_contents(name, go_on_after_kill(suite, tree, "stopped", 2, 3, each=0.02), truth)


def refused(more, words, problem="global"):
    tree = {"family": "dp", "run": {"device": "cpu"},
            "dp": {"problem": problem, "a": {"text": "ACGT"}, "b": {"text": "AGT"}, **more}}
    made = suite.run(["run", suite.deck("refused.yaml", tree), "-o", suite.path("refused.h5")])
    check(made.status == 2 and words in made.err and "refused.yaml:" in made.err, made.tail())


# ----------------------------------------------------------------------- cases

for count, name in enumerate(SCORINGS):
    for part in range(4):
        chosen = COMBINATIONS[part::4]
        kind = KINDS[(count + part) % len(KINDS)]
        suite.case(f"{name}, {kind}, 70 letters, {part}", small, name, kind, 70, count, chosen)
        if not FAST:
            for seed, other in enumerate(KINDS):
                suite.case(f"{name}, {other}, 300 letters, {part}", small, name, other, 300, 20 + seed, chosen)
for count, n in enumerate((0, 1, 2, 5, 31, 32, 33, 64, 65, 300)):
    name = list(SCORINGS)[count % len(SCORINGS)]
    suite.case(f"{name}, {n} letters", small, name, KINDS[count % 6], n, n, COMBINATIONS[count % 3::3] if FAST else COMBINATIONS)
for ends in ([], ["b_end"], ["b_begin", "b_end"]):
    suite.case(f"edlib {ends}", peers, "unit edit", "inside", 2000, 5, [ends])
for count, ends in enumerate(PARASAIL):
    if not FAST or count % 4 == 3:
        suite.case(f"parasail {PARASAIL[ends]}", peers, "affine", KINDS[count % 4], 2000 if FAST else 5000, count, [list(ends)])
for count, (name, ends) in enumerate((("unit edit", COMBINATIONS[12]), ("affine", COMBINATIONS[6]), ("unit edit", COMBINATIONS[15]),
                                      ("weighted edit", COMBINATIONS[10]), ("matrix", COMBINATIONS[15]), ("affine", COMBINATIONS[9]))):
    for mode in ("value", "table", "recover"):
        if not FAST or (count + len(mode)) % 5 == 0:
            suite.case(f"ranks, {name}, {mode}, {ends}", ranks_agree, name, mode, ends, KINDS[1 + count % 3], 700, count)
for name, ends in (("unit edit", COMBINATIONS[15]), ("affine", COMBINATIONS[6]), ("weighted edit", COMBINATIONS[12])):
    suite.case(f"{name} in little memory", little_memory, name, ends)
for name, mode, ends in (("unit edit", "value", COMBINATIONS[10]), ("affine", "recover", COMBINATIONS[6]),
                         ("weighted edit", "table", COMBINATIONS[11]), ("unit edit", "recover", COMBINATIONS[14])):
    if not FAST or "edit" not in name or mode == "value":
        suite.case(f"{name}, {mode}: goes on after a kill", goes_on, name, mode, ends, "overlap")
suite.case("unknown word", refused, {"free_ends": ["a_begin", "a_top"]}, "dp.free_ends[1]: unknown word 'a_top'")
suite.case("twice the same word", refused, {"free_ends": ["b_end", "b_end"]}, "'b_end' is in the list already")
suite.case("no list", refused, {"free_ends": {"a_begin": True}}, "expected a word or a list of words")
for problem in ("local", "lcs"):
    suite.case(f"free ends of {problem}", refused, {"free_ends": ["a_begin"]}, f"not used by problem {problem}", problem)
suite.end()
