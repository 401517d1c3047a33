#!/usr/bin/env python3
"""Extensions with x-drop of pairs of sequences, against the definition written out and parasail's tables.

usage: tri_extension.py TESELA [--fast] [ONLY]

Score, end and path of each pair must be those of all cells filled antidiagonal by antidiagonal, of which those that
fall more than x_drop below the best antidiagonal before are taken out; without x_drop those of parasail's whole table,
and scores alone, which whole tables give in 8, 16 or 32 bits, those of tables filled row by row.
"""
import re

import harness
from harness import check, np

DNA, PROTEIN = "ACGT", "ARNDCQEGHILKMFPSTWYVBZX*"
SCORINGS = {  # (match, mismatch) or None: a matrix that is not symmetric; open, extend
    "affine": ((2, -3), 5, 2),
    "linear": ((1, -1), 0, 1),
    "blast": ((1, -2), 0, 2),
    "large": ((900, -700), 1500, 300),
    "free gaps": ((1, -1), 0, 0),
    "matrix": (None, 7, 1),
    "matrix, linear": (None, 0, 4),
}
WHOLE = {  # likewise, of whole tables
    **SCORINGS,
    "nothing to gain": ((0, -3), 0, 2),
    "leaves 16 bits": ((60, -70), 90, 20),
    "long gaps": ((3, -2), 3, 100),
}
LEAST = -(1 << 30)


def extension(a, b, table, gap, drop):
    """(score, end of a, end of b, CIGAR); table: {letters: score}; drop: None for no limit."""
    n, m = len(a), len(b)
    pairs = np.array([[table[x, y] for y in b] for x in a]).reshape(n, m)
    h, e, f = (np.full((n + 1, m + 1), LEAST, np.int32) for _ in range(3))
    h[0, 0] = top = 0
    for k in range(1, n + m + 1):
        i = np.arange(max(0, k - m), min(n, k) + 1)
        j = k - i
        left, up = j > 0, i > 0
        both = left & up
        along, down, pair = (np.full(len(i), LEAST) for _ in range(3))
        along[left] = np.maximum(h[i, j - 1] - gap[0], e[i, j - 1])[left] - gap[1]
        down[up] = np.maximum(h[i - 1, j] - gap[0], f[i - 1, j])[up] - gap[1]
        pair[both] = h[i[both] - 1, j[both] - 1] + pairs[i[both] - 1, j[both] - 1]
        best = np.maximum(pair, np.maximum(along, down))
        kept = best >= (top - drop if drop is not None else LEAST // 2)
        h[i[kept], j[kept]], e[i[kept], j[kept]], f[i[kept], j[kept]] = best[kept], along[kept], down[kept]
        top = max(top, best.max())
    end = np.unravel_index(np.argmax(h), h.shape)
    return int(top), int(end[0]), int(end[1]), path(a, b, h, e, f, pairs, gap, end)


def whole(a, b, table, gap):
    """Score of the best cell of the whole table, row by row; gaps along a row from those that open best."""
    pairs = np.array([[table[x, y] for y in b] for x in a]).reshape(len(a), len(b))
    along = gap[1] * np.arange(len(b) + 1)
    h = np.append(0, -gap[0] - along[1:])
    down, top = np.full(len(b) + 1, LEAST), 0
    for i, row in enumerate(pairs):
        down = np.maximum(h - gap[0], down) - gap[1]
        opened = np.append(-gap[0] - gap[1] * (i + 1), np.maximum(h[:-1] + row, down[1:]))
        best = np.maximum.accumulate(opened + along)[:-1] - along[1:] - gap[0]
        h = np.append(opened[0], np.maximum(opened[1:], best))
        top = max(top, h.max())
    return int(top)


def path(a, b, h, e, f, pairs, gap, end):
    """From the end: a pair, left, up; a gap opened rather than extended."""
    (i, j), state, out = end, "cell", []
    while (i, j) != (0, 0):
        if state == "cell":
            if i > 0 and j > 0 and h[i, j] == h[i - 1, j - 1] + pairs[i - 1, j - 1]:
                out.append("=" if a[i - 1] == b[j - 1] else "X")
                i, j = i - 1, j - 1
                continue
            state = "left" if h[i, j] == e[i, j] else "up"
        was = e[i, j] if state == "left" else f[i, j]
        i, j = (i, j - 1) if state == "left" else (i - 1, j)
        out.append("D" if state == "left" else "I")
        if was == h[i, j] - gap[0] - gap[1]:
            state = "cell"
    return "".join(f"{len(run)}{run[0]}" for run in (x.group() for x in re.finditer(r"(.)\1*", "".join(out[::-1])))) or "*"


# -------------------------------------------------------------- sequences


def word(rng, n, letters):
    return "".join(rng.choice(list(letters), n))


def near(rng, s, letters, share=0.12):
    """A copy with letters changed, left out and put in."""
    dice = rng.random(len(s))
    return "".join("" if d < share / 3 else word(rng, 1, letters) if d < 2 * share / 3 else
                   c + word(rng, 1, letters) if d < share else c for c, d in zip(s, dice)) or letters[0]


def lists(rng, n, longest, letters):
    """Alike for a while and then not, with a stretch in between that is not, strangers, single letters."""
    a, b = [], []
    for k in range(n):
        head, tail = (word(rng, int(rng.integers(1, longest)), letters) for _ in range(2))
        middle = word(rng, int(rng.integers(1, 12)), letters)
        x = head if k % 5 == 0 else head + middle + tail if k % 5 < 3 else head + tail
        y = near(rng, head, letters) + (near(rng, tail, letters) if k % 5 < 3 else word(rng, longest // 2, letters))
        x, y = (x, word(rng, longest, letters)) if k % 11 == 10 else (x, y)
        a, b = a + [x if k % 7 else x[:1]], b + [y if k % 13 else y[:2]]
    return a, b


def scoring_of(name, rng):
    """Keys of the deck, table of scores, costs of gaps, letters."""
    plain, opening, extend = WHOLE[name]
    if plain is not None:
        table = {(x, y): plain[x != y] for x in DNA for y in DNA}
        return {"match": plain[0], "mismatch": plain[1], "open": opening, "extend": extend}, table, \
            (opening, extend), DNA
    table = {(x, y): int(rng.integers(-4, 3)) + 6 * (x == y) for x in PROTEIN for y in PROTEIN}
    suite.write("made.txt", "   " + "  ".join(PROTEIN) + "\n" + "".join(
        f"{x} " + " ".join(f"{table[x, y]:3d}" for y in PROTEIN) + "\n" for x in PROTEIN))
    return {"matrix": "made.txt", "open": opening, "extend": extend}, table, (opening, extend), PROTEIN


def deck(a, b, scores, letters, drop, output="paired", **keys):
    alphabet = "dna" if letters == DNA else "protein"
    section = {"function": "extension", "output": output, "scores": scores, **keys}
    for name, seqs, tag in (("a", a, "q"), ("b", b, "r")):
        suite.write(f"{name}.fa", "".join(f">{tag}{k}\n{s}\n" for k, s in enumerate(seqs)))
        source = {"input": {"file": f"{name}.fa", "alphabet": alphabet}}
        section.update(source if name == "a" else {"other": source} if b is not a else {})
    if drop is not None:
        section["x_drop"] = drop
    return {"family": "tri", "tri": section}


def results(tree, ranks=None, args=()):
    with suite.result(tree, ranks=ranks, args=args) as file:
        return {name: data[()] for name, data in file["results"].items()}


def table_lines(name):
    """(score, end of query, end of target, CIGAR) of a table's lines, all of which begin at 0."""
    with open(suite.path(name), encoding="ascii") as file:
        lines = [line.rstrip("\n").split("\t") for line in file][1:]
    check(all(x[2] == x[6] == "0" for x in lines), f"{name}: an extension that does not begin at 0")
    return [(int(x[8]), int(x[3]), int(x[7]), x[11]) for x in lines]


# ------------------------------------------------------------------ cases


def drops_case(name, ranks, args=()):
    """Several limits, 0 and none among them: score, end and path of every pair; scores alone are the same."""
    rng = np.random.default_rng(len(name) * 7 + ranks)
    scores, table, gap, letters = scoring_of(name, rng)
    a, b = lists(rng, 60 if suite.fast else 120, 70, letters)
    size, without = max(table.values()), None
    for drop in (None, 0, 2 * size, 5 * size, 12 * size):
        want = [extension(x, y, table, gap, drop) for x, y in zip(a, b)]
        got = results(deck(a, b, scores, letters, drop, alignment=suite.path("drops.tsv")), ranks, args)
        check(np.array_equal(got["values"], [x[0] for x in want]), f"x_drop {drop}: not the scores")
        lines = table_lines("drops.tsv")
        for k, (line, x) in enumerate(zip(lines, want)):
            check(line == x, f"x_drop {drop}, pair {k}: {line}, not {x}\n{a[k]}\n{b[k]}")
        check(len(lines) == len(want), "lines")
        alone = results(deck(a, b, scores, letters, drop), ranks, args)["values"]
        check(np.array_equal(alone, got["values"]), f"x_drop {drop}: scores alone differ")
        without = want if without is None else without
        lost = sum(x[0] < y[0] for x, y in zip(want, without))
        check(drop is None or drop > 2 * size or lost > 0, f"x_drop {drop} drops nothing: no case")


def parasail_case():
    """Without x_drop: the best of all cells of the table from end to end."""
    try:
        import parasail
    except ImportError as why:
        return f"left out: {why}"
    rng = np.random.default_rng(5)
    for letters, matrix, keys in ((DNA, parasail.matrix_create(DNA, 2, -3), {"match": 2, "mismatch": -3}),
                                  (PROTEIN[:20], parasail.blosum62, {"matrix": "BLOSUM62"})):
        a, b = lists(rng, 150, 160, letters)
        scores = {**keys, "open": 9, "extend": 2}
        results(deck(a, b, scores, letters, None, alignment=suite.path("peer.tsv")))
        for k, (x, y, line) in enumerate(zip(a, b, table_lines("peer.tsv"))):
            whole = np.full((len(x) + 1, len(y) + 1), -1)
            peer = parasail.nw_table_scan_32(x, y, 11, 2, matrix)
            whole[0, 0], whole[1:, 1:] = 0, peer.score_table
            end = np.unravel_index(np.argmax(whole), whole.shape)
            check(line[:3] == (whole.max(), *end), f"pair {k}: {line}, parasail {whole.max()} at {end}")
    return None


def mixed(rng, n, letters):
    """Of one letter and of hundreds, in no order; every third one like the one before it."""
    out = []
    for k in range(n):
        size = 1 if k % 9 == 0 else int(rng.integers(1, 400 if k % 4 == 0 else 40))
        out.append(near(rng, out[-1], letters) if k % 3 == 2 else word(rng, size, letters))
    return out


def whole_case(name, ranks, args=()):
    """Scores of whole tables of like and unlike lengths: record by record, of all pairs of two sets and of one."""
    rng = np.random.default_rng(len(name) * 11 + ranks)
    scores, table, gap, letters = scoring_of(name, rng)
    a, b = mixed(rng, 90, letters), mixed(rng, 90, letters)[::-1]
    want = [whole(x, y, table, gap) for x, y in zip(a, b)]
    check(np.array_equal(results(deck(a, b, scores, letters, None), ranks, args)["values"], want), "paired")
    check(max(want) == 0 if name == "nothing to gain" else 0 < max(want), f"{max(want)}: no case")
    few, alone = a[:20], b[:24]
    own = np.array([[whole(x, y, table, gap) for y in b] for x in few])
    got = results(deck(few, b, scores, letters, None, "condensed"), ranks, args)["distances"]
    check(np.array_equal(got, own), "condensed of two sets")
    best = results(deck(few, b, scores, letters, None, "topk", k=5), ranks, args)
    order = np.argsort(-own, axis=1, kind="stable")[:, :5]
    check(np.array_equal(best["neighbours"], order), "topk: not the best")
    check(np.array_equal(best["values"], np.take_along_axis(own, order, 1)), "topk: not their scores")
    own = [whole(x, y, table, gap) for k, x in enumerate(alone) for y in alone[k + 1:]]
    got = results(deck(alone, alone, scores, letters, None, "condensed"), ranks, args)["distances"]
    check(np.array_equal(got, own), "condensed of one set")


def outputs_case(ranks, args=(), drop=14):
    """All pairs of two sets, and of one; the best, and those above a threshold."""
    rng = np.random.default_rng(8)
    scores, table, gap, letters = scoring_of("affine", rng)
    base = [word(rng, int(n), letters) for n in rng.integers(20, 60, 5)]
    a = [near(rng, base[k % 5], letters) + word(rng, 20, letters) for k in range(23)]
    b = [near(rng, base[k % 5], letters) for k in range(31)]
    want = np.array([[extension(x, y, table, gap, drop)[0] for y in b] for x in a])
    got = results(deck(a, b, scores, letters, drop, "condensed"), ranks, args)["distances"]
    check(np.array_equal(got, want), "condensed of two sets")
    best = results(deck(a, b, scores, letters, drop, "topk", k=4, alignment=suite.path("best.paf")), ranks, args)
    order = np.argsort(-want, axis=1, kind="stable")[:, :4]
    check(np.array_equal(best["neighbours"], order), "topk: not the best")
    check(np.array_equal(best["values"], np.take_along_axis(want, order, 1)), "topk: not their scores")
    with open(suite.path("best.paf"), encoding="ascii") as file:
        paf = {(x[0], x[5]): x for x in (line.split("\t") for line in file)}
    for i, row in enumerate(order):
        for j in row:
            x = extension(a[i], b[j], table, gap, drop)
            line = paf.get((f"q{i}", f"r{j}"))
            check((line is None) == (x[3] == "*"), f"{i}, {j}: {line}")
            if line is not None:
                check((line[2], int(line[3]), line[7], int(line[8]), line[15].strip()) ==
                      ("0", x[1], "0", x[2], f"cg:Z:{x[3]}") and line[14] == f"AS:i:{x[0]}", f"{line}: {x}")
    kept = results(deck(a, b, scores, letters, drop, "threshold", threshold=30), ranks, args)
    check(np.array_equal(kept["pairs"], np.argwhere(want >= 30)), "threshold")
    own = np.array([[extension(x, y, table, gap, drop)[0] for y in b] for x in b])
    square = results(deck(b, b, scores, letters, drop, "square"), ranks, args)["distances"]
    check(np.array_equal(square, np.tril(own)), "square")


def sam_case():
    """Letters behind the end are S, as in local alignments; nothing aligned: unmapped."""
    a, b = ["ACGTACGTACTTTTTTTT", "CCCC"], ["ACGTACGTACGGGGGGGG", "GGGG"]
    results(deck(a, b, {"match": 2, "mismatch": -3, "open": 5, "extend": 2}, DNA, 6, alignment=suite.path("x.sam")))
    with open(suite.path("x.sam"), encoding="ascii") as file:
        lines = [line.split("\t") for line in file if line[0] != "@"]
    check(lines[0][1:6] == ["0", "r0", "1", "255", "10=8S"] and "AS:i:20\n" in lines[0] + [lines[0][-2] + "\n"],
          f"{lines[0]}")
    check(lines[1][1] == "4" and lines[1][5] == "*", f"{lines[1]}")


def long_case():
    """A table in strips of antidiagonals, of which those before the last are computed again."""
    rng = np.random.default_rng(9)
    scores, table, gap, letters = scoring_of("affine", rng)
    a = word(rng, 3300, letters)
    b = [near(rng, a, letters, 0.2), near(rng, a[:1500], letters) + word(rng, 2000, letters)]
    for drop in (None, 60, 1500):
        results(deck([a] * 2, b, scores, letters, drop, alignment=suite.path("long.tsv")))
        want = [extension(a, x, table, gap, drop) for x in b]
        check(table_lines("long.tsv") == want, f"x_drop {drop}: not the alignments")


def same_bytes_case():
    """1, 2, 3 and 5 ranks, of sockets and cards, and other cuts: the same files."""
    rng = np.random.default_rng(10)
    scores, _, _, letters = scoring_of("affine", rng)
    a, b = lists(rng, 300, 400, letters)
    seen = set()
    mixes = [(n, ["-s", "run.device=cpu"]) for n in (1, 1, 2, 3, 5)] + list(suite.cards())
    for (ranks, args), units in zip(mixes, (1, 40, 24, 24, 30, 40, 24, 1)):
        values = results(deck(a, b, scores, letters, 30, alignment=suite.path("same.sam")), ranks,
                         (*args, "-s", f"run.units={units}"))["values"]
        with open(suite.path("same.sam"), "rb") as file:
            seen.add((values.tobytes(), file.read()))
    check(len(seen) == 1, f"{len(seen)} different files")


def refused_case():
    suite.write("a.fa", ">a\nACGT\n")

    def refused(words, **keys):
        section = {"function": "extension", "output": "condensed", "input": {"file": "a.fa"}, **keys}
        done = suite.run(["run", suite.deck("bad.yaml", {"family": "tri", "tri": section}), "-o", suite.path("bad.h5")])
        check(done.status == 2 and all(x in done.err for x in words), f"{words} expected: {done.tail()}")

    refused(["tri.x_drop", "-1"], x_drop=-1)
    refused(["tri.x_drop", "1000000000"], x_drop=2000000000)
    refused(["tri.x_drop"], x_drop="far")
    refused(["tri.x_drop", "not used by function local"], function="local", x_drop=10)
    refused(["tri.x_drop", "not used by function edit"], function="edit", x_drop=10)
    refused(["linkage", "scores"], output="linkage")
    refused(["alignments are of"], input={"file": "a.fa", "alphabet": "bytes"})
    refused(["x_drop"], xdrop=10)
    long = word(np.random.default_rng(2), 60000, DNA)
    tree = deck([long], [long], {"match": 2}, DNA, 50, alignment=suite.path("long.paf"))
    few = ("-s", "run.device=cpu", "-s", "run.host_memory=512MiB", "-s", "run.threads=2")
    done = suite.run(["run", suite.deck("bad.yaml", tree), "-o", suite.path("bad.h5"), *few])
    check(done.status == 2 and "the alignment of 'q0' with 'r0' takes" in done.err and "fewer threads" in done.err and
          "family dp" not in done.err, done.tail())


if __name__ == "__main__":
    suite = harness.Suite(__doc__, jobs=2)
    for n, scoring in enumerate(SCORINGS):
        suite.case(f"{scoring}", drops_case, scoring, 1 + n % 3)
    for n, scoring in enumerate(WHOLE):
        suite.case(f"whole, {scoring}", whole_case, scoring, 1 + n % 3)
    for n_ranks, mix in suite.cards():
        for scoring in ("affine", "matrix", "leaves 16 bits", "long gaps"):
            suite.case(f"whole, {scoring}, {mix[1]}", whole_case, scoring, n_ranks, mix)
        suite.case(f"affine, {mix[1]}", drops_case, "affine", n_ranks, mix)
        suite.case(f"matrix, {mix[1]}", drops_case, "matrix", n_ranks, mix)
        suite.case(f"outputs, {mix[1]}", outputs_case, n_ranks, mix)
    suite.case("parasail", parasail_case)
    for n_ranks in (1, 2, 3):
        suite.case(f"outputs, {n_ranks} ranks", outputs_case, n_ranks)
    suite.case("outputs, nothing dropped", outputs_case, 2, (), None)
    suite.case("SAM", sam_case)
    suite.case("strips", long_case)
    suite.case("the same on all ranks", same_bytes_case)
    suite.case("refused", refused_case)
    suite.end()
