#!/usr/bin/env python3
"""Edit distances of all pairs of sequences, against the table of each pair filled cell by cell.

usage: tri_letters.py TESELA [--fast] [ONLY]

Lengths are chosen around the words of 32 and 64 letters that columns of a table are kept in, and beyond the 256
and 1024 letters at which cards change their way.
"""
import gzip
import os

import harness
from harness import check, np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

FUNCTIONS = ["edit", "global", "local"]
ENDS = (1, 2, 31, 32, 33, 63, 64, 65, 95, 127, 128, 129, 255, 256, 257, 300, 511, 513)
ALPHABETS = {"dna": "ACGTN", "protein": "ARNDCQEGHILKMFPSTWYVBZX*", "bytes": "abcdefXYZ0189+-_"}


def distance(a, b):
    """Wagner and Fischer 1974, a row at a time."""
    a, b = np.frombuffer(a.encode(), np.uint8), np.frombuffer(b.encode(), np.uint8)
    steps = np.arange(len(b) + 1)
    row = steps.copy()
    for i, letter in enumerate(a):
        least = np.minimum(row[:-1] + (b != letter), row[1:] + 1)
        row = np.minimum.accumulate(np.concatenate(([i + 1], least)) - steps) + steps
    return int(row[-1])


def score(a, b, matrix, gap, local, largest=False):
    """Gotoh 1982, a row at a time: gaps along the row by a running maximum. matrix: {letters: score}; largest: of all
    cells, where it is not local, too."""
    opening, extend = gap
    steps = np.arange(len(b) + 1)
    edge = np.zeros(len(b) + 1) if local else np.where(steps > 0, -opening - extend * steps, 0.0)
    row, down, best = edge.astype(float), np.full(len(b) + 1, -1e9), 0.0
    with_b = {letter: np.array([matrix[letter, other] for other in b], float) for letter in set(a)}
    for i, letter in enumerate(a):
        pairs = with_b[letter]
        down = np.maximum(down, row - opening) - extend
        here = down.copy()
        here[1:] = np.maximum(row[:-1] + pairs, down[1:])
        here[0] = 0 if local else -opening - extend * (i + 1)
        here = np.maximum(here, 0) if local else here
        along = np.maximum.accumulate(here + extend * steps)[:-1] - opening - extend * steps[1:]
        row = np.concatenate((here[:1], np.maximum(here[1:], along)))
        best = max(best, row.max())
    return best if local or largest else row[-1]


def sequences(rng, lengths, letters):
    """Made-up ones, every third a changed copy of the one before it."""
    out = []
    for k, n in enumerate(lengths):
        s = rng.choice(list(letters), n)
        if k % 3 == 2 and len(out[-1]) >= n:
            s = np.array(list(out[-1][:n]))
            s[rng.integers(0, n, max(1, n // 10))] = letters[0]
        out.append("".join(s))
    return out


def write(name, seqs, form):
    text = "".join(f">s{k} of a test\n{s}\n" if form == "fasta" else f"@s{k}\n{s}\n+\n{'I' * len(s)}\n"
                   for k, s in enumerate(seqs))
    with gzip.open(suite.path(name), "wt") if name.endswith(".gz") else open(suite.path(name), "w") as file:
        file.write(text)


def run(seqs, output="condensed", other=None, ranks=None, alphabet="dna", form="fasta", zipped=False,
        function="edit", kind_file=None, **keys):
    names = [f"{n}.{form}" + (".gz" if zipped else "") for n in ("a", "b")]
    write(names[0], seqs, form)
    section = {"function": function, "output": output, "input": {"file": names[0], "alphabet": alphabet}, **keys}
    if kind_file is not None:
        section["input"]["kind_file"] = kind_file
    if other is not None:
        write(names[1], other, form)
        section["other"] = {"input": {"file": names[1], "alphabet": alphabet}}
    with suite.result({"family": "tri", "tri": section}, ranks=ranks) as file:
        return {name: data[()] for name, data in file["results"].items()}


def matrix(seqs):
    v = np.array([distance(a, b) for k, a in enumerate(seqs) for b in seqs[k + 1:]], float)
    return squareform(v) if len(v) else np.zeros((len(seqs), len(seqs)))


def lengths_case(alphabet, ranks):
    rng = np.random.default_rng(len(alphabet))
    seqs = sequences(rng, list(ENDS) + list(rng.integers(1, 90, 30)), ALPHABETS[alphabet])
    got = run(seqs, ranks=ranks, alphabet=alphabet, precision="fp64")["distances"]
    check(np.array_equal(squareform(got), matrix(seqs)), f"{alphabet}: not the distances")


def long_case():
    seqs = sequences(np.random.default_rng(5), (1023, 1025, 1025, 2100, 40, 2300), "ACGT")
    got = run(seqs, ranks=2)["distances"]
    check(np.array_equal(squareform(got), matrix(seqs)), "long sequences: not the distances")


def two_case(ranks):
    rng = np.random.default_rng(8)
    a, b = sequences(rng, rng.integers(1, 150, 21), "ACGT"), sequences(rng, rng.integers(1, 200, 150), "ACGT")
    want = np.array([[distance(x, y) for y in b] for x in a], float)
    got = run(a, other=b, ranks=ranks, form="fastq", zipped=True)["distances"]
    check(np.array_equal(got, want), "two sets: not the distances")
    near = run(a, "topk", other=b, ranks=ranks, k=7)
    order = np.argsort(want, axis=1, kind="stable")[:, :7]
    check(np.array_equal(near["neighbours"], order), "two sets: not the nearest")
    check(np.array_equal(near["values"], np.take_along_axis(want, order, 1)), "two sets: not their distances")
    cut = np.quantile(want, 0.1)
    check(np.array_equal(run(a, "degree", other=b, ranks=ranks, threshold=cut)["degree"], (want <= cut).sum(1)), "degree")
    kept = run(a, "csr", other=b, ranks=ranks, threshold=cut)
    check(np.array_equal(kept["indices"], np.nonzero(want <= cut)[1]) and
          np.array_equal(kept["values"], want[want <= cut]), "csr")
    for output, best in (("minimum", np.argmin), ("maximum", np.argmax)):
        check(np.array_equal(run(a, output, other=b, ranks=ranks)["neighbours"], best(want, 1)), output)
    check(np.array_equal(run(a, "sum", other=b, ranks=ranks)["sums"][:, 0], want.sum(1)), "sum")


def outputs_case(ranks):
    """All outputs keep what the matrix has."""
    rng = np.random.default_rng(9)
    families = [sequences(rng, [n], "ACGT")[0] for n in (60, 70, 80, 90, 100)]
    seqs = []
    for k in range(75):
        s = list(families[k % 5])
        for _ in range(rng.integers(0, 6)):
            s[rng.integers(len(s))] = "ACGT"[rng.integers(4)]
        seqs.append("".join(s))
    want = matrix(seqs)
    i, j = np.triu_indices(len(seqs), 1)
    square = run(seqs, "square", ranks=ranks)["distances"]
    check(np.array_equal(square, np.tril(want)), "square")
    near = run(seqs, "threshold", ranks=ranks, threshold=10)
    kept = want[i, j] <= 10
    check(np.array_equal(near["pairs"], np.stack((i[kept], j[kept]), 1)), "threshold: pairs")
    check(np.array_equal(near["values"], want[i, j][kept]), "threshold: values")
    counts = run(seqs, "histogram", ranks=ranks, bins=60, range=[0, 60])["counts"]
    check(np.array_equal(counts, np.histogram(want[i, j], np.arange(61))[0]) or want[i, j].max() >= 60, "histogram")
    labels = run(seqs, "components", ranks=ranks, threshold=10)["labels"]
    check(np.array_equal(labels, np.arange(75) % 5), f"components: {labels}")
    tree = run(seqs, "linkage", ranks=ranks)["linkage"]
    check(np.array_equal(tree[:, 2], linkage(want[i, j], "single")[:, 2]), "linkage: heights")
    sums = run(seqs, "sum", ranks=ranks)["sums"]
    check(np.array_equal(sums[:, 0], want.sum(1)), "sum")
    with open(suite.path("kinds.txt"), "w") as file:
        file.writelines(f"{'xy'[k % 2]}\n" for k in range(75))
    kinds = suite.path("kinds.txt")
    parts = run(seqs, "histogram", ranks=ranks, bins=120, range=[0, 120], kind_file=kinds)["counts"]
    of = [np.histogram(want[i, j][(i % 2 + j % 2) == k], np.arange(121))[0] for k in range(3)]
    check(sorted(map(tuple, parts.reshape(3, 120))) == sorted(map(tuple, of)), "histograms of kinds")
    degree = run(seqs, "degree", ranks=ranks, threshold=8)["degree"]
    check(np.array_equal(degree, (want <= 8).sum(1) - 1), "degree")


def plain(letters, match, mismatch):
    return {(a, b): match if a == b else mismatch for a in letters for b in letters}


def table_of(rng, letters, name="made.txt"):
    """A matrix that is not symmetric, and its file as NCBI writes them."""
    table = {(a, b): int(rng.integers(-4, 3)) + 6 * (a == b) for a in letters for b in letters}
    lines = ["# made up", "   " + "  ".join(letters)]
    lines += [f"{a} " + " ".join(f"{table[a, b]:3d}" for b in letters) for a in letters]
    with open(suite.path(name), "w") as file:
        file.write("\n".join(lines) + "\n")
    return table


def score_case(function, scores, ranks):
    """Plain scores; large ones leave 16 bits."""
    rng = np.random.default_rng(12)
    seqs = sequences(rng, [1, 2, 3, 31, 32, 33, 60, 64, 65, 70, 127] + list(rng.integers(1, 80, 34)), "ACGT")
    table = plain("ACGT", scores["match"], scores["mismatch"])
    got = run(seqs, function=function, scores=scores, ranks=ranks, precision="fp64")["distances"]
    want = [score(a, b, table, (scores["open"], scores["extend"]), function == "local")
            for k, a in enumerate(seqs) for b in seqs[k + 1:]]
    check(np.array_equal(got, want), f"{function}, {scores}: not the scores")


def bytes_case(ranks):
    """Scores about 251, beyond which 8 bits are done again: single pairs of a vector, and all of them."""
    rng = np.random.default_rng(16)
    table, scores = plain("ACGT", 1, -1), {"match": 1, "mismatch": -1, "open": 2, "extend": 1}
    base = sequences(rng, [300], "ACGT")[0]
    like = [base[:n] for n in (249, 250, 251, 252, 253, 300)]
    rows = like[2:5] + sequences(rng, [1, 251], "ACGT")
    for few, columns in ((True, 71), (False, 70)):
        other = sequences(rng, rng.integers(1, 301, columns), "ACGT")
        other[5::9 if few else 1] = [like[k % 6] for k in range(len(other[5::9 if few else 1]))]
        want = np.array([[score(a, b, table, (2, 1), True) for b in other] for a in rows])
        got = run(rows, function="local", scores=scores, other=other, ranks=ranks)["distances"]
        check(np.array_equal(got, want), f"single ones {few}: not the scores")
        check((want < 200).any() and np.isin([250, 251, 252, 253], want).all(), "no case")


def alone_case(function, scores, ranks):
    """Pairs that a socket computes one at a time: long ones, few, and those of unlike lengths; some are alike."""
    rng = np.random.default_rng(17)
    letters = "ACGT" if "match" in scores else "ARNDCQEGHILKMFPSTWYV"
    table = plain(letters, 2, -3) if "match" in scores else table_of(rng, letters, scores["matrix"])
    seqs = sequences(rng, (1100, 700, 690, 30, 4300, 4200, 620), letters)
    keys = {"function": function, "scores": scores, "ranks": ranks, "alphabet": "dna" if len(letters) == 4 else "protein"}

    def wanted(a, b):
        gap = scores["open"], scores["extend"]
        return score(a, b, table, gap, function == "local", function == "extension")

    got = run(seqs, **keys)["distances"]
    want = [wanted(a, b) for k, a in enumerate(seqs) for b in seqs[k + 1:]]
    check(np.array_equal(got, want), f"all pairs: {got} are not the scores {want}")
    other = [seqs[k] for k in (4, 2, 1, 4, 5, 0, 3)]
    got = run(seqs, "paired", other=other, **keys)["values"]
    want = [wanted(a, b) for a, b in zip(seqs, other)]
    check(np.array_equal(got, want), f"paired: {got} are not the scores {want}")


def matrix_case(function, ranks):
    rng = np.random.default_rng(13)
    letters = "ARNDCQEGHILKMFPSTWYV"
    a, b = (sequences(rng, rng.integers(1, 150, n), letters) for n in (19, 90))
    table = table_of(rng, letters)
    scores = {"matrix": "made.txt", "open": 7, "extend": 1}
    want = np.array([[score(x, y, table, (7, 1), function == "local") for y in b] for x in a])
    keys = {"function": function, "scores": scores, "other": b, "ranks": ranks, "alphabet": "protein"}
    check(np.array_equal(run(a, **keys)["distances"], want), "two sets: not the scores")
    best = run(a, "topk", k=9, **keys)
    order = np.argsort(-want, axis=1, kind="stable")[:, :9]
    check(np.array_equal(best["neighbours"], order), "not the best of the other set")
    check(np.array_equal(best["values"], np.take_along_axis(want, order, 1)), "not their scores")
    check(not np.signbit(best["values"][best["values"] == 0]).any(), "a score of -0")
    least = float(np.median(want))
    near = run(a, "threshold", threshold=least, **keys)
    check(np.array_equal(near["pairs"], np.argwhere(want >= least)), "threshold: pairs")
    check(np.array_equal(near["values"], want[want >= least]), "threshold: scores")
    kept = run(a, "csr", threshold=least, **keys)
    check(np.array_equal(kept["values"], near["values"]) and np.array_equal(kept["indices"], near["pairs"][:, 1]), "csr")


def score_outputs_case(ranks):
    seqs = sequences(np.random.default_rng(14), [40, 45, 45, 50, 30, 30, 61, 60, 60], "ACGT")
    want = np.array([[score(a, b, plain("ACGT", 2, -3), (5, 2), True) for b in seqs] for a in seqs])
    square = run(seqs, "square", function="local", ranks=ranks)["distances"]
    check(np.array_equal(square, np.tril(want)), "square: the diagonal has each sequence's own score")
    near = (want >= 20) & ~np.eye(9, dtype=bool)
    check(np.array_equal(run(seqs, "degree", function="local", threshold=20, ranks=ranks)["degree"], near.sum(1)),
          "degree")
    csr = run(seqs, "csr", function="local", threshold=20, ranks=ranks)
    check(np.array_equal(csr["indices"], np.nonzero(near)[1]) and np.array_equal(csr["values"], want[near]), "csr")


def tsv_case(ranks):
    """Tables with names beside the results; a name that is not there is the sequence's number."""
    rng = np.random.default_rng(15)
    a, b = (sequences(rng, rng.integers(1, 60, n), "ACGT") for n in (1030, 11))
    want = np.array([[distance(x, y) for y in b] for x in a])

    def table(output, other, **keys):
        file = suite.path("names.tsv")
        run(a if other else b, output, other=other, ranks=ranks, tsv=file, **keys)
        with open(file) as lines:
            head, *rows = [line.rstrip("\n").split("\t") for line in lines]
        os.unlink(file)
        return head, rows

    head, rows = table("topk", b, k=2)
    order = np.argsort(want, axis=1, kind="stable")[:, :2]
    check(head == ["query", "target", "distance"], f"topk: {head}")
    check(rows == [[f"s{i}", f"s{j}", str(want[i, j])] for i in range(len(a)) for j in order[i]], "topk: rows")
    head, rows = table("threshold", b, threshold=25)
    check(rows == [[f"s{i}", f"s{j}", str(want[i, j])] for i, j in np.argwhere(want <= 25)], "threshold: rows")
    head, rows = table("components", None, threshold=0)
    check(head == ["sequence", "label"] and len(rows) == len(b) and rows[3][0] == "s3", "components")


def refused_case():
    write("a.fasta", ["ACGT", "AC"], "fasta")

    def refused(words, **keys):
        section = {"function": "edit", "output": "condensed", "input": {"file": "a.fasta"}, **keys}
        deck = suite.deck("bad.yaml", {"family": "tri", "tri": section})
        done = suite.run(["run", deck, "-o", suite.path("bad.h5")])
        check(done.status == 2 and all(word in done.err for word in words), f"{words} expected: {done.tail()}")

    refused(["tri.input.columns", "sequences"], input={"file": "a.fasta", "columns": [0]})
    refused(["tri.generator.kind", "sequences"], generator={"kind": "uniform"}, input={})
    refused(["needs input.file"], input={})
    refused(["tri.search", "not used by function edit"], output="topk", k=1, search="near")
    refused(["tri.input.alphabet", "not used by function"], function="euclidean",
            input={"file": "a.fasta", "alphabet": "dna"})
    refused(["tri.tsv", "not used by output condensed"], tsv="x.tsv")
    refused(["tri.tsv"], output="topk", k=1, tsv="no/such/folder/x.tsv")
    refused(["forces"], output="forces")
    refused(["box"], box=[1.0])
    refused(["tri.regions", "not in space"], output="histogram", bins=4, range=[0, 4], regions=2)
    refused(["linkage", "scores"], output="linkage", function="local")
    refused(["tri.scores", "not used by function edit"], scores={"match": 1})
    refused(["alignments"], function="global", input={"file": "a.fasta", "alphabet": "bytes"})
    refused(["tri.scores.match", "10000"], function="global", scores={"match": 20000})
    table_of(np.random.default_rng(1), "ACG")
    refused(["s0", "letter 4", "T has no scores"], function="global", scores={"matrix": "made.txt"})
    refused(["protein"], input={"file": "a.fasta", "alphabet": "word"})
    with open(suite.path("a.fasta"), "a") as file:
        file.write(">third\nAC!T\n")
    refused(["a.fasta", "third", "!"])


if __name__ == "__main__":
    suite = harness.Suite(__doc__, jobs=3)
    for k, alphabet in enumerate(ALPHABETS):
        suite.case(f"lengths, {alphabet}", lengths_case, alphabet, 1 + k)
    suite.case("long sequences", long_case)
    for ranks in (1, 3):
        suite.case(f"two sets, {ranks} ranks", two_case, ranks)
    for ranks in (1, 2, 5):
        suite.case(f"outputs, {ranks} ranks", outputs_case, ranks)
    for k, scores in enumerate(({"match": 2, "mismatch": -3, "open": 5, "extend": 2},
                                {"match": 1, "mismatch": -1, "open": 0, "extend": 1},
                                {"match": 900, "mismatch": -800, "open": 1000, "extend": 70},
                                {"match": 5, "mismatch": -4, "open": 120, "extend": 0})):
        for function in ("global", "local"):
            suite.case(f"{function} {scores}", score_case, function, scores, 1 + k % 3)
    suite.case("scores about 8 bits", bytes_case, 2)
    for k, function in enumerate(("global", "local")):
        suite.case(f"{function} by a matrix", matrix_case, function, 1 + 2 * k)
    for k, function in enumerate(("global", "local", "extension")):
        suite.case(f"{function}, long and unlike", alone_case, function,
                   {"match": 2, "mismatch": -3, "open": 5, "extend": 2}, 1 + k % 2)
        suite.case(f"{function} by a matrix, long and unlike", alone_case, function,
                   {"matrix": "long.txt", "open": 7, "extend": 1}, 2 - k % 2)
    suite.case("tables with names", tsv_case, 2)
    suite.case("outputs of scores", score_outputs_case, 2)
    suite.case("refused", refused_case)
    suite.end()
