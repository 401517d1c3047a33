#!/usr/bin/env python3
"""Files of sequences in odd forms, longer than the pieces that threads read, against a plain reader line by line.

usage: tri_reads.py TESELA [--fast] [ONLY]

Each file is compared record by record with what the plain reader has of it, written anew: all distances are 0, and
names are the same. Of a file with faults the plain reader says which comes first, and in which line and record.
"""
import functools
import gzip
import random
import re

import harness
from harness import check

BLANKS = b" \t\n\v\f\r"
LETTERS = b"ACGTNRYSWKMBDHVX"
ENDS = {"LF": b"\n", "CR LF": b"\r\n", "CR": b"\r"}
TEXT = 5 << 18  # bytes: a piece and a quarter


class Refused(Exception):
    """What a message must have in it."""


class Records:
    """The plain reader."""

    def __init__(self, file, data):
        self.file, self.lines = file, re.split(b"\r\n|\n|\r", data.removeprefix(b"\xef\xbb\xbf"))
        if self.lines[-1] == b"":
            self.lines.pop()
        self.heads, self.letters, self.at = [], [], 0  # letters: of each record [(line, its text)]
        quality = data.removeprefix(b"\xef\xbb\xbf").lstrip(BLANKS)[:1] == b"@"
        (self.fastq if quality else self.fasta)()
        self.names, self.texts = [], []
        self.translate()

    def refuse(self, line, record, what):
        name = self.name(self.heads[record - 1][1])
        raise Refused(f"{self.file}:{line}: record {record} '{name}'{what}")

    @staticmethod
    def name(head):
        word = re.match(rb"[ \t]*([^ \t\n\v\f\r]*)", head[1:]).group(1)
        return "".join(chr(c) if 0x21 <= c <= 0x7e else "?" for c in word)

    def empty(self, record):
        if record and not any(bare(text) for _, text in self.letters[record - 1]):
            self.refuse(self.heads[record - 1][0], record, " has no letters")

    def begin(self, number, line):
        self.empty(len(self.heads))
        self.heads.append((number, line))
        self.letters.append([])

    def fasta(self):
        for number, line in enumerate(self.lines, 1):
            if line[:1] == b">":
                self.begin(number, line)
            elif line[:1] != b";" and self.heads:
                self.letters[-1].append((number, line))
            elif line[:1] != b";" and bare(line):
                raise Refused(f"{self.file}:{number}: letters before the first header")
        self.empty(len(self.heads))

    def fastq(self):
        number, count = 0, len(self.lines)
        while number < count:
            line, number = self.lines[number], number + 1
            if line[:1] != b"@" and not bare(line):
                continue
            record = len(self.heads)
            if line[:1] != b"@":
                self.refuse(number, record, ": its quality goes on")
            self.begin(number, line)
            number = self.fastq_body(number, record + 1)
        self.empty(len(self.heads))

    def fastq_body(self, number, record):
        count, wanted = len(self.lines), 0
        while True:
            if number == count:
                self.refuse(number, record, f": no line with '+' behind its {wanted} letters: the file ends")
            line, number = self.lines[number], number + 1
            if line[:1] in (b"@", b">"):
                self.refuse(number, record, f": no line with '+' behind its {wanted} letters: this line is")
            if line[:1] == b"+":
                break
            self.letters[-1].append((number, line))
            wanted += len(bare(line))
        had = 0
        while had < wanted:
            said = f": its quality has {had} characters for {wanted} letters"
            if number == count:
                self.refuse(number, record, said)
            line, number = self.lines[number], number + 1
            odd = re.search(rb"[^!-~ \t\n\v\f\r]", line)
            if odd:
                self.refuse(number, record, f": byte {odd[0][0]} at column {odd.start() + 1} of its quality")
            before, had = had, had + len(bare(line))
            if had > wanted:
                odd = 0 < before < wanted and line[:1] == b"@"
                self.refuse(number, record, said if odd else f": its quality has {had} characters for {wanted} letters")
        return number

    def translate(self):
        """Names and letters, in the order of the file."""
        if not self.heads:
            raise Refused(f"{self.file}: no records: no line begins with '>'")
        first = {}
        for record, ((number, head), lines) in enumerate(zip(self.heads, self.letters), 1):
            name = self.name(head)
            if name and name in first:
                self.refuse(number, record, f": record {first[name]} has the same name")
            first[name] = record
            for line, text in lines:
                odd = re.search(rb"(?i)[^%sU \t\n\v\f\r]" % LETTERS, text)
                if odd:
                    self.refuse(line, record, f": column {odd.start() + 1}: letter ")
            self.names.append(name)
            self.texts.append(b"".join(bare(text) for _, text in lines).upper().replace(b"U", b"T"))


def bare(text):
    return text.translate(None, BLANKS)


def spread(rng, text, often):
    """On lines of their own, blanks and empty lines among them; often: of four records."""
    if rng.randrange(4) >= often:
        return [text]
    lines, at = [], 0
    while at < len(text):
        n = rng.choice((1, 7, 60, 61, 300))
        lines += [text[at:at + n]] + [b""] * (rng.random() < 0.05)
        at += n
    return lines


def record(rng, k, quality, wrapped, length=None):
    """Lines of record k."""
    n = length or rng.choice((1, 2, 149, 150, rng.randrange(1, 400)))
    text = bytes(rng.choices(b"ACGTacgtNnRu", (8, 8, 8, 8, 2, 2, 2, 2, 1, 1, 1, 1), k=n))
    name = rng.choice((b"r%d", b" \tr%d:1", b"r%d/1 a > b @ c", b"r\x01\xe4%d\x00>x", b">@r%d", b"+r%d")) % k
    head = (b"@" if quality else b">") + (b"" if rng.random() < 0.01 else name)
    lines = [head, *spread(rng, text, wrapped)]
    if not quality:
        if wrapped and rng.random() < 0.02:
            lines += [b";a comment", b";>r0"]
        return [line.replace(b"N", b" N ") if wrapped and rng.random() < 0.05 else line for line in lines]
    marks = bytes(rng.choices(b"@+>IJ!~", k=n))
    return [*lines, b"+" + rng.choice((b"", name)), *spread(rng, marks, wrapped)]


@functools.lru_cache(maxsize=2)
def made(seed, quality, wrapped, end, size=TEXT, long=None):
    """Records as lists of lines; record 40 is so long."""
    rng, records, n = random.Random(seed), [], 0
    while n < size + 2 * (long or 0):
        records.append(record(rng, len(records), quality, wrapped, long if len(records) == 40 else None))
        n += sum(len(line) + len(end) for line in records[-1])
    return records


def joined(records, end, last=True):
    return end.join(line for lines in records for line in lines) + (end if last else b"")


def deck(file, other, **keys):
    return {"family": "tri", "tri": {"function": "edit", "output": "paired", "input": {"file": file},
                                     "other": {"input": {"file": other}}, **keys}}


def same_case(seed, quality, wrapped, end, zipped, threads):
    """One letter of the copy is another one."""
    text = (b"\xef\xbb\xbf" if seed % 2 else b"") + joined(made(seed, quality, wrapped, end), end, seed % 3 > 0)
    want = Records("odd", text)
    suite.write("odd", gzip.compress(text, 1) if zipped else text)
    changed = len(want.texts) - 3
    other = [t if k != changed else (b"C" if t[:1] != b"C" else b"G") + t[1:] for k, t in enumerate(want.texts)]
    suite.write("plain", b"".join(b">p%d\n%s\n" % (k, t) for k, t in enumerate(other)))
    args = ("-s", f"run.threads={threads}")
    with suite.result(deck("odd", "plain", tsv="names"), args=args) as file:
        values = file["results/values"][()]
    check(values.sum() == values[changed] == 1, f"other letters in records {values.nonzero()[0][:9]}")
    with open(suite.path("names"), encoding="ascii") as file:
        names = [line.split("\t")[0] for line in file][1:]
    check(names == [name or str(k) for k, name in enumerate(want.names)], "other names")


def spoilt(records, quality, fault, k):
    """The lines of record k with a fault."""
    lines = list(records[k])
    if fault == "empty":
        return [lines[0], b"", *((b"+", b"") if quality else (b" \t",))]
    if fault == "letter":
        return [lines[0], lines[1] + b"-", *lines[2:-1], lines[-1] + b"I" * quality]
    if fault == "nul":
        return [lines[0], b"\x00" + lines[1][1:], *lines[2:]]
    if fault == "name":
        return [records[k - 1][0], *lines[1:]]
    if fault == "mark":
        return [lines[0], b">" + lines[1], *lines[2:]]
    if fault == "short":
        return [*lines[:-1], lines[-1][:-1] or b" "]
    if fault == "long":
        return [*lines, b"I"]
    return [*lines[:2], *lines[3:]]  # no '+'


def refused(file, words, threads):
    run = suite.run(["run", suite.deck("bad.yaml", deck(file, "plain")), "-o", suite.path("bad.h5"),
                     "-s", f"run.threads={threads}"])
    check(run.status == 2 and words in run.err and "tri.input.file" in run.err, f"'{words}' expected: {run.tail()}")


def fault_case(quality, fault, end, threads):
    """The fault at several places; then another one before it."""
    rng = random.Random(len(fault) + threads)
    records = made(7, quality, 0, end, long=None if suite.fast else (1 << 20) + 7)
    suite.write("plain", ">p\nA\n")
    for second in (None, *(() if suite.fast else ("letter", "name", "empty", "nul"))):
        for k in (len(records) - 2, rng.randrange(41, len(records)), 39)[:1 if suite.fast else 3]:
            bad = list(records)
            bad[k] = spoilt(records, quality, fault, k)
            if second is not None:
                first = rng.randrange(2, k - 1)
                bad[first] = spoilt(records, quality, second, first)
            text = joined(bad, end)
            suite.write("odd", text)
            try:
                Records("odd", text)
            except Refused as why:
                refused("odd", str(why), threads)
                continue
            check(fault in ("short", "mark", "plus"), f"{fault} is no fault")


def other_case():
    """Faults of both files, of one, and of gzip."""
    good = joined(made(5, False, 0, b"\n"), b"\n")
    packed = gzip.compress(good, 1)
    suite.write("plain", good)
    suite.write("cut.gz", packed[:-len(packed) // 3])
    refused("cut.gz", "cut.gz: the gzip file is cut off", 2)
    run = suite.run(["run", suite.deck("bad.yaml", deck("plain", "cut.gz")), "-o", suite.path("bad.h5")])
    check(run.status == 2 and "tri.other.input.file" in run.err and "cut off" in run.err, run.tail())
    suite.write("plain", good + b">last\n")
    refused("cut.gz", "cut.gz: the gzip file is cut off", 2)
    refused("nowhere", "cannot open", 2)
    suite.write("blank", b" \n" * 30000)
    refused("blank", "blank: no records: the file has nothing but blanks", 2)
    suite.write("late", b"\n" * 30000 + b"x")
    refused("late", "late: neither FASTA nor FASTQ: it begins with 'x'", 2)


if __name__ == "__main__":
    suite = harness.Suite(__doc__, jobs=2)
    seed = 0
    for form in ("FASTA", "FASTQ"):
        for word, ending in ENDS.items():
            for many in (0, 2):
                for count in (1 + seed % 3,) if suite.fast else (1, 2, 3):
                    suite.case(f"{form}, {word}, {('a line', 'lines')[many > 0]}, {count} threads", same_case, seed,
                               form == "FASTQ", many, ending, seed % 4 == 3, count)
                seed += 1
    for form, faults in (("FASTA", "empty letter nul name"), ("FASTQ", "letter nul name mark short long plus empty")):
        for number, word in enumerate(faults.split()):
            for ending in ("LF",) if suite.fast else ENDS:
                suite.case(f"{form}, {ending}, fault: {word}", fault_case, form == "FASTQ", word, ENDS[ending],
                           1 + number % 3)
    suite.case("faults of both files", other_case)
    suite.end()
