#!/usr/bin/env python3
"""Edit distances of all pairs of sequences, against the table of each pair filled cell by cell.

usage: tri_letters.py TESELA [--fast] [ONLY]

Lengths are chosen around the words of 32 and 64 letters that columns of a table are kept in, and beyond the 256
and 1024 letters at which cards change their way.
"""
import gzip

import harness
from harness import check, np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

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


def run(seqs, output="condensed", other=None, ranks=None, alphabet="dna", form="fasta", zipped=False, **keys):
    names = [f"{n}.{form}" + (".gz" if zipped else "") for n in ("a", "b")]
    write(names[0], seqs, form)
    section = {"function": "edit", "output": output, "input": {"file": names[0], "alphabet": alphabet}, **keys}
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
    degree = run(seqs, "degree", ranks=ranks, threshold=8)["degree"]
    check(np.array_equal(degree, (want <= 8).sum(1) - 1), "degree")


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
    refused(["forces"], output="forces")
    refused(["box"], box=[1.0])
    refused(["tri.regions", "not in space"], output="histogram", bins=4, range=[0, 4], regions=2)
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
    suite.case("refused", refused_case)
    suite.end()
