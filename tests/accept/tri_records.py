#!/usr/bin/env python3
"""Records that ranks read themselves, of plain files and of what gzip, bgzip and samtools pack.

usage: tri_records.py TESELA [--fast] [ONLY]

Distances are edlib's and scores parasail's. Results and files of alignments and names have the same bytes on 1, 2 and 3
ranks however files are packed. A run that was stopped goes on, with the same letters alone. Memory does not grow with
the letters. What is wrong with gzip is said before work begins.
"""
import gzip
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time
import zlib

import edlib
import h5py
import numpy as np
import parasail

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


def members(text):
    """Members that end anywhere, one after another, some of nothing."""
    rng, packed, at = random.Random(len(text)), [], 0
    while at < len(text):
        n = rng.choice((0, 1, 7000, 300000, 1500000))
        packed.append(gzip.compress(text[at:at + n], rng.randint(1, 9)))
        at += n
    return b"".join(packed) + gzip.compress(b"")


def blocks(text):
    """As bgzip: members of 65280 bytes of text that tell their length, and an empty one (SAM 1.6, section 4.1)."""
    packed = []
    for at in range(0, len(text) + 65280, 65280):
        part = text[at:at + 65280]
        z = zlib.compressobj(6, zlib.DEFLATED, -15)
        data = z.compress(part) + z.flush()
        packed.append(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(data) + 25) + data +
                      struct.pack("<II", zlib.crc32(part), len(part)))
    return b"".join(packed)


PACKED = {"": lambda text: text, ".gz": lambda text: gzip.compress(text, 1), ".gz9": gzip.compress, ".gzm": members,
          ".bgz": blocks}


def write(name, forms, widths, pairs, endings=tuple(PACKED)):
    """Both files, packed in each way."""
    texts = [[], []]
    for title, *letters in pairs:
        for i in range(2):
            texts[i].append(record(f"{title}{i}", letters[i], forms[i], widths[i]))
    for i in range(2):
        text = "".join(texts[i]).encode()
        for ending in endings:
            suite.write(f"{name}{i}{ending}", PACKED[ending](text))


def deck(name, files, ending="", other=None, **keys):
    other = ending if other is None else other
    return suite.deck(name, {"family": "tri", "tri": {
        "output": "paired", "input": {"file": files + "0" + ending}, "other": {"input": {"file": files + "1" + other}},
        **keys}})


def text_of(path):
    with open(path, "rb") as file:
        return b"".join(line for line in file if not line.startswith(b"@PG"))


def results(name, files, ending, ranks, keys):
    """Datasets and files of a run; names of files are those of `keys`."""
    named = {key: f"{name}{value}" if key in ("tsv", "alignment") else value for key, value in keys.items()}
    out = suite.path(f"{name}.h5")
    run = suite.run(["run", deck(f"{name}.yaml", files, *ending, **named), "-o", out], ranks)
    check(run.status == 0, run.tail())
    check(("gzip," in run.out) == any(ending) == ("entries to gzip" in run.out), "does not say how files were read")
    beside = [text_of(suite.path(named[key])) for key in ("tsv", "alignment") if key in named]
    return datasets(out), beside


def datasets(path):
    with h5py.File(path, "r") as file:
        return harness.datasets(file)


def value_of(keys, one, other):
    """Of edlib or parasail; None: they have none."""
    if keys["function"] == "edit":
        return edlib.align(one, other)["editDistance"]
    if keys["function"] == "local":
        scores = keys["scores"]
        matrix = parasail.matrix_create("ACGTN", scores["match"], scores["mismatch"])
        return parasail.sw_striped_32(one, other, scores["open"] + scores["extend"], scores["extend"], matrix).score
    return None


def same_case(number, forms, widths, keys):
    name = f"s{number}"
    pairs = list(made(number, 3000 if suite.fast else 9000, 120))
    write(name, forms, widths, pairs)
    truth, beside = results(name + "p", name, ("", ""), 1, keys)
    own = [value_of(keys, one, other) for _, one, other in pairs]
    check(own[0] is None or np.array_equal(truth["values"], own), "edlib or parasail find other values")
    ways = ((2, "", ""), (1, ".gz", ".gz"), (2, ".gz9", ".gz"), (3, ".gz", ".gzm"), (2, ".gzm", ".bgz"),
            (3, ".bgz", ""), (3, "", ".gz9"))
    for k, (ranks, *ending) in enumerate(ways):
        got, text = results(f"{name}r{k}", name, ending, ranks, keys)
        check(got.keys() == truth.keys(), f"{got.keys()}")
        for key, value in truth.items():
            check(value.tobytes() == got[key].tobytes(), f"{ranks} ranks, {ending}: {key} differs")
        check(text == beside, f"{ranks} ranks, {ending}: a file beside the output differs")


def long_case():
    """Files of many entries: the other way, letters that hardly repeat, and as samtools packs them."""
    rng = np.random.default_rng(5)
    letters = rng.choice(np.frombuffer(b"ACGT", "u1"), (12000, 2, 400))
    letters[:, 1] = np.where(rng.random((12000, 400)) < 0.1, letters[:, 1], letters[:, 0])
    pairs = [(f"r{k}", *(row.tobytes().decode()[:300 + k % 101] for row in both)) for k, both in enumerate(letters)]
    write("long", ("FASTQ", "FASTQ"), (10000, 10000), pairs, ("", ".gz", ".bgz"))
    own = [edlib.align(one, other)["editDistance"] for _, one, other in pairs]
    endings = [("", ".gz"), (".gz", ".gz"), (".gz", ".bgz")]
    if shutil.which("samtools"):
        for i in range(2):
            sam = subprocess.run(["samtools", "import", "-0", suite.path(f"long{i}"), "-O", "sam"], check=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            subprocess.run(["samtools", "fastq", "-0", suite.path(f"long{i}.fq.gz"), "-"], input=sam, check=True,
                           stderr=subprocess.DEVNULL)
        endings.append((".fq.gz", ".fq.gz"))
    for ranks, ending in enumerate(endings, 1):
        got, _ = results(f"longr{ranks}", "long", ending, min(ranks, 3), {"function": "edit"})
        check(np.array_equal(got["values"], own), f"{ending}: edlib finds other distances")


def stopped_case(ending):
    """Stopped after some units, and restarted on other ranks; not with other letters."""
    pairs = list(made(7, 20000, 150))
    name = "stop" + ending
    write(name, ("FASTA", "FASTQ"), (60, 10000), pairs, (ending,))
    file, out, truth = deck(f"{name}.yaml", name, ending, function="edit"), suite.path(f"{name}.h5"), f"{name}t.h5"
    run = suite.run(["run", file, "-o", suite.path(truth)])
    check(run.status == 0, run.tail())
    began = time.time()
    process = suite.start(["run", file, "-o", out, "--set", "run.units=60"], env={"TSL_TEST_SLOW": "400"})
    while not os.path.exists(out + ".part") and time.time() < began + 60:
        time.sleep(0.05)
    harness.let_work(1.0)
    os.kill(process.pid, signal.SIGTERM)
    run = suite.finish(process, began, 120)
    check(run.status == 85, run.tail())
    first = f"{name}0{ending}"
    good = open(suite.path(first), "rb").read()
    text = gzip.decompress(good) if ending else good
    at = text.rindex(b"A")
    suite.write(first, PACKED[ending](text[:at] + b"C" + text[at + 1:]))
    run = suite.run(["run", file, "-o", out, "--set", "run.units=60", "--restart", out], 2)
    check(run.status == 2, f"goes on with other letters: {run.tail()}")
    suite.write(first, good)
    run = suite.run(["run", file, "-o", out, "--set", "run.units=60", "--restart", out], 2)
    check(run.status == 0 and "from a checkpoint" in run.out, run.tail())
    harness.check_same(datasets(out), datasets(suite.path(truth)))


def memory_case(ending, counts, most):
    """The growth of the peak between two numbers of records, for each record; it has more letters than the bound."""
    peaks = []
    pool = "".join(random.Random(1).choices("ACGT", k=100000))
    for n in counts:
        for i in range(2):
            text = "".join(f">r{k}\n{pool[k * 7919 % 99000 + i * 9:][:400]}\n" for k in range(n)).encode()
            suite.write(f"m{n}{i}{ending}", PACKED[ending](text))
        name = deck(f"m{n}{ending}.yaml", f"m{n}", ending, function="edit")
        run, peak = harness.run_peak(suite, ["run", name, "-o", suite.path(f"m{n}{ending}.h5")])
        check(run.status == 0, run.tail())
        peaks.append(peak)
    each = (peaks[1] - peaks[0]) * 2**20 / (counts[1] - counts[0])
    check(each < most, f"{each:.0f} bytes for each pair of 800 letters")


def spoilt_case():
    """Gzip that is cut off, damaged or followed by something: file and record, and nothing is written."""
    write("bad", ("FASTA", "FASTQ"), (60, 10000), list(made(11, 8000, 150)), ("", ".gz", ".gzm", ".bgz"))
    for i, ending in ((0, ".gz"), (1, ".gz"), (0, ".gzm"), (1, ".bgz")):
        name = f"bad{i}{ending}"
        good = open(suite.path(name), "rb").read()
        text, middle = gzip.decompress(good), len(good) // 2
        ways = {"cut off": good[:middle], "cut off: its": good[:-12] if ending == ".gz" else good[:-3],
                "damaged": good[:middle] + bytes(20) + good[middle + 20:],
                "7 bytes behind the end of the gzip file": good + b"garbage"}
        if ending == ".gz":
            ways["incorrect data check"] = good[:-8] + bytes([good[-8] ^ 1]) + good[-7:]
        for words, spoilt in ways.items():
            suite.write(name, spoilt)
            run = suite.run(["run", deck("bad.yaml", "bad", ending, "" if i == 0 else ending, function="edit"), "-o",
                             suite.path("bad.h5")], 2)
            check(run.status == 2 and words in run.err and name in run.err, f"{words}: {run.tail()}")
            said = re.search(r"(?:behind (\d+) bytes of text|not gzip).*, in record (\d+) or behind it", run.err)
            check(said is not None, f"names no record: {run.err}")
            before = text[:int(said[1] or len(text))]
            record = before.count(b"\n>") + 1 if i == 0 else -(-before.count(b"\n") // 4)
            check(words == "damaged" or abs(int(said[2]) - record) <= i, f"not record {record}: {run.err}")
            check(not os.path.exists(suite.path("bad.h5")), "wrote results")
        suite.write(name, good)


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
    for i in range(2):
        suite.write(f"few{i}.gz", gzip.compress(open(suite.path(f"few{i}"), "rb").read()))
    for ending in ("", ".gz"):
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
    suite.case("many entries", long_case)
    suite.case("stopped", stopped_case, "")
    suite.case("stopped, gzip", stopped_case, ".gz")
    suite.case("memory", memory_case, "", (60000, 300000), 100)
    suite.case("memory, gzip", memory_case, ".gz", (40000, 200000), 120)
    suite.case("spoilt", spoilt_case)
    suite.case("refused", refused_case)
    suite.end()
