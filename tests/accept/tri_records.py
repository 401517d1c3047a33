#!/usr/bin/env python3
"""Records of plain files that ranks read themselves, against the same records of gzip, which are read whole.

usage: tri_records.py TESELA [--fast] [ONLY]

Results and files of alignments and names have the same bytes, on 1, 2 and 3 ranks; distances are also edlib's. A run
that was stopped goes on, with the same letters alone. Memory does not grow with the letters.
"""
import gzip
import os
import random
import signal
import time

import edlib
import h5py
import numpy as np

import harness
from harness import check


def record(name, letters, form, width):
    def lines(text):
        return "".join(text[k:k + width] + "\n" for k in range(0, len(text), width))
    if form == "FASTA":
        return f">{name} and more\n{lines(letters)}"
    return f"@{name} and more\n{lines(letters)}+\n{lines('@' + 'I' * (len(letters) - 1))}"


def made(seed, n, longest):
    """Pairs of names and letters: copies with changes, a few of them long."""
    rng = random.Random(seed)
    for k in range(n):
        length = rng.randint(1, longest * 20 if k % 997 == 5 else longest)
        one = rng.choices("ACGT", k=length)
        other = [rng.choice(["", c + c, "N"]) if rng.random() < 0.05 else c for c in one]
        yield f"r{k}(x", "".join(one), "".join(other) or "A"


def write(name, forms, widths, pairs):
    """Both files, plain and as gzip."""
    texts = ["", ""]
    for title, *letters in pairs:
        for i in range(2):
            texts[i] += record(f"{title}{i}", letters[i], forms[i], widths[i])
    for i in range(2):
        suite.write(f"{name}{i}", texts[i].encode())
        suite.write(f"{name}{i}.gz", gzip.compress(texts[i].encode(), 1))


def deck(name, files, ending="", **keys):
    return suite.deck(name, {"family": "tri", "tri": {
        "output": "paired", "input": {"file": files + "0" + ending}, "other": {"input": {"file": files + "1" + ending}},
        **keys}})


def text_of(path):
    with open(path, "rb") as file:
        return b"".join(line for line in file if not line.startswith(b"@PG"))


def results(name, files, ending, ranks, keys):
    """Datasets and files of a run; names of files are those of `keys`."""
    named = {key: f"{name}{value}" if key in ("tsv", "alignment") else value for key, value in keys.items()}
    out = suite.path(f"{name}.h5")
    run = suite.run(["run", deck(f"{name}.yaml", files, ending, **named), "-o", out], ranks)
    check(run.status == 0, run.tail())
    check(("gzip" in run.out) == (ending != ""), "does not say how files were read")
    beside = [text_of(suite.path(named[key])) for key in ("tsv", "alignment") if key in named]
    return datasets(out), beside


def datasets(path):
    with h5py.File(path, "r") as file:
        return harness.datasets(file)


def same_case(number, forms, widths, keys):
    name = f"s{number}"
    pairs = list(made(number, 3000 if suite.fast else 9000, 120))
    write(name, forms, widths, pairs)
    truth, beside = results(name + "z", name, ".gz", 1, keys)
    for ranks in (1, 2, 3):
        got, text = results(f"{name}p{ranks}", name, "", ranks, keys)
        check(got.keys() == truth.keys(), f"{got.keys()}")
        for key, value in truth.items():
            check(value.tobytes() == got[key].tobytes(), f"{ranks} ranks: {key} differs")
        check(text == beside, f"{ranks} ranks: a file beside the output differs")
    if keys["function"] == "edit":
        own = np.array([edlib.align(one, other)["editDistance"] for _, one, other in pairs])
        check(np.array_equal(truth["values"], own), "edlib finds other distances")


def stopped_case():
    """Stopped after some units, and restarted on other ranks; not with other letters."""
    pairs = list(made(7, 20000, 150))
    write("stop", ("FASTA", "FASTQ"), (60, 10000), pairs)
    name, out, truth = deck("stop.yaml", "stop", function="edit"), suite.path("stop.h5"), suite.path("truth.h5")
    run = suite.run(["run", name, "-o", truth])
    check(run.status == 0, run.tail())
    began = time.time()
    process = suite.start(["run", name, "-o", out, "--set", "run.units=60"], env={"TSL_TEST_SLOW": "400"})
    while not os.path.exists(out + ".part") and time.time() < began + 60:
        time.sleep(0.05)
    harness.let_work(1.0)
    os.kill(process.pid, signal.SIGTERM)
    run = suite.finish(process, began, 120)
    check(run.status == 85, run.tail())
    good = open(suite.path("stop0"), "rb").read()
    at = good.rindex(b"A")
    suite.write("stop0", good[:at] + b"C" + good[at + 1:])
    run = suite.run(["run", name, "-o", out, "--set", "run.units=60", "--restart", out], 2)
    check(run.status == 2, f"goes on with other letters: {run.tail()}")
    suite.write("stop0", good)
    run = suite.run(["run", name, "-o", out, "--set", "run.units=60", "--restart", out], 2)
    check(run.status == 0 and "from a checkpoint" in run.out, run.tail())
    harness.check_same(datasets(out), datasets(truth))


def memory_case():
    """The growth of the peak between two numbers of records, for each record."""
    peaks, counts = [], (60000, 300000)
    letters = "".join(random.Random(1).choices("ACGT", k=400))
    for n in counts:
        for i in range(2):
            suite.write(f"m{n}{i}", "".join(f">r{k}\n{letters[i * 9:]}\n" for k in range(n)).encode())
        name = deck(f"m{n}.yaml", f"m{n}", function="edit")
        run, peak = harness.run_peak(suite, ["run", name, "-o", suite.path(f"m{n}.h5")])
        check(run.status == 0, run.tail())
        peaks.append(peak)
    each = (peaks[1] - peaks[0]) * 2**20 / (counts[1] - counts[0])
    check(each < 100, f"{each:.0f} bytes for each pair of 791 letters")


def refused_case():
    write("few", ("FASTA", "FASTA"), (60, 60), list(made(3, 20, 50)))
    suite.write("few1", b">a\nACGT\n")
    run = suite.run(["run", deck("few.yaml", "few", function="edit"), "-o", suite.path("few.h5")])
    check(run.status == 2 and "the first has 20 and the other has 1" in run.err, run.tail())
    suite.write("few1", b"".join(b">a%d\nAC\n" % k for k in range(20)))
    suite.write("short.txt", "   A  G\nA  1 -1\nG -1  1\n")
    run = suite.run(["run", deck("few.yaml", "few", function="local", scores={"matrix": "short.txt"}), "-o",
                     suite.path("few.h5")])
    check(run.status == 2 and "sequence 'a0', letter 2: C has no scores" in run.err, run.tail())
    suite.write("few0", b"".join(b">b(%d\nAC\n" % k for k in range(19)) + b">b_7\nAG\n")
    suite.write("few1", b"".join(b">b(%d\nAC\n" % k for k in range(19)) + b">b_7\nAG\n")
    for ending, packed in (("", False), (".gz", True)):
        if packed:
            for i in range(2):
                suite.write(f"few{i}.gz", gzip.compress(open(suite.path(f"few{i}"), "rb").read()))
        run = suite.run(["run", deck("few.yaml", "few", ending, function="local", alignment="few.sam"), "-o",
                         suite.path("few.h5")])
        check(run.status == 2 and "references 7 'b(7' and 19 'b_7' would have the same name" in run.err, run.tail())


if __name__ == "__main__":
    suite = harness.Suite(__doc__, jobs=2)
    local = {"function": "local", "scores": {"match": 2, "mismatch": -3, "open": 5, "extend": 2}}
    files = ((("FASTA", "FASTA"), (60, 10000)), (("FASTQ", "FASTA"), (10000, 70)), (("FASTQ", "FASTQ"), (80, 10000)))
    for number, (forms, widths) in enumerate(files):
        said = f"{forms[0]} of {widths[0]}, {forms[1]} of {widths[1]}"
        ending = (".sam", ".paf", ".tsv")[number]
        suite.case(f"{said}: edit", same_case, number, forms, widths, {"function": "edit", "tsv": ".tsv"})
        suite.case(f"{said}: local, {ending}", same_case, number + 3, forms, widths, {**local, "alignment": ending})
    suite.case("extension, SAM", same_case, 6, ("FASTA", "FASTQ"), (61, 10000),
               {"function": "extension", "x_drop": 40, "alignment": ".sam"})
    suite.case("stopped", stopped_case)
    suite.case("memory", memory_case)
    suite.case("refused", refused_case)
    suite.end()
