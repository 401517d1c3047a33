#!/usr/bin/env python3
"""Letters of alignments: what equals what, files as they are, names, and SAM by its specification.

usage: dp_letters.py TESELA [--fast] [ONLY]

Independent truths: plain loops (dp_truth.py), edlib and parasail, and pysam where they are installed.
"""
import gzip
import os
import random
import re

import harness
from dp_truth import Align, Edit, Lcs, Local, near, runs_worth, word
from harness import check, np

suite = harness.Suite(__doc__, jobs=4)
IUPAC = "ACGTNRYSWKMBDHVX"


def solve(section, ranks=None, **more):
    return suite.result({"family": "dp", "run": {"device": "cpu", "threads": 1}, "dp": section}, ranks=ranks, **more)


def path_of(file):
    return [tuple(int(x) for x in row) for row in file["results/path"][()]]


def attrs_begin(file):
    return tuple(int(file["results"].attrs[f"first letter of {x}"]) for x in "ab")


# ----------------------------------------------------------- what equals what


def equal_letters(problem, alphabet, fold, ranks=None):
    """Value, table and path as plain loops have them, which know nothing of alphabets."""
    truth = type(problem)(fold(problem.a), fold(problem.b), *problem_costs(problem))
    for mode in ("value", "table", "recover"):
        with solve({**problem.deck(), "alphabet": alphabet, "mode": mode}, ranks) as file:
            goal = file["results/goal"][0]
            check(goal == truth.value(), f"{mode}: {goal}, should be {truth.value()}: {problem.deck()}")
            if mode == "table":
                check(np.array_equal(file["results/table"][()], truth.table()), f"table of {problem.deck()}")
            if mode == "recover":
                begin = {"begin": attrs_begin(file)} if problem.name == "local" else {}
                check(truth.worth(path_of(file), **begin) == goal, f"path of {problem.deck()}")


def problem_costs(problem):
    return getattr(problem, "costs", ())


def letter_cases():
    rng = random.Random(21)
    for name, letters, fold in (
            ("N alone", "N", str), ("bases and N", "ACGTN", str), ("all of IUPAC", IUPAC, str),
            ("lower case", "ACGTNacgtnry", str.upper), ("U and T", "ACGTUut", lambda s: s.upper().replace("U", "T"))):
        for kind, costs in ((Lcs, ()), (Edit, ()), (Edit, (2, 3, 4)), (Align, ()), (Local, ())):
            a = word(rng, 37, letters)
            b = near(rng, a, letters, 0.5)
            problem = kind(a, b, *costs)
            suite.case(f"{name}, {problem.name} {costs}", equal_letters, problem, "dna", fold)
    a = word(rng, 150, "NNNACGTRY")
    for kind in (Lcs, Edit, Align, Local):
        suite.case(f"many N, {kind.name}, 3 ranks", equal_letters, kind(a, near(rng, a, "ACGTN", 0.3)), "dna", str, 3)
    letters = "ARNDCQEGHILKMFPSTWYVBZX*UOJ"
    for kind in (Lcs, Edit):
        a = word(rng, 60, letters)
        suite.case(f"proteins, {kind.name}", equal_letters, kind(a, near(rng, a, letters, 0.5)), "protein", str)


def peer_cases():
    rng = random.Random(22)
    for n in (64, 700):
        a = word(rng, n, "ACGTNNRY")
        b = near(rng, a, "ACGTNRY", 0.3)
        try:
            import edlib
            suite.case(f"edlib with N, {n} letters", same_goal, {"problem": "edit", "alphabet": "dna"}, a, b,
                       edlib.align(a, b)["editDistance"])
        except ImportError:
            print("edlib is not installed: its cases are left out (Debian: python3-edlib)")
        try:
            import parasail
            matrix = parasail.matrix_create("ACGTNRY", 2, -3)
            for name, aligner in (("global", parasail.nw_striped_32), ("local", parasail.sw_striped_32)):
                suite.case(f"parasail {name} with N, {n} letters", same_goal, {"problem": name}, a, b,
                           aligner(a, b, 7, 2, matrix).score)
        except ImportError:
            print("parasail is not installed: its cases are left out (Debian: python3-parasail)")


def same_goal(section, a, b, goal):
    with solve({**section, "a": {"text": a}, "b": {"text": b}, "mode": "recover"}) as file:
        check(file["results/goal"][0] == goal, f"{file['results/goal'][0]}, the other has {goal}")


# -------------------------------------------------------------- score matrices


def matrix_case(problem, ranks=None):
    """Scores of ambiguous letters are those of the matrix, for text in any case."""
    rng = random.Random(23)
    letters = "ACGTRYN"
    scores = {x: {y: rng.randint(-6, 6) for y in letters} for x in letters}
    lines = ["# made up", "  " + " ".join(letters)]
    lines += [x + " " + " ".join(str(scores[x][y]) for y in letters) for x in rng.sample(letters, len(letters))]
    suite.write("m.txt", "\n".join(lines) + "\n")
    a = word(rng, 41, letters)
    truth = problem(a, near(rng, a, letters, 0.4), matrix=scores)
    section = {"problem": problem.name, "mode": "recover", "a": {"text": a.lower()}, "b": {"text": truth.b},
               "scores": {"matrix": "m.txt", "open": 5, "extend": 2}}
    with solve(section, ranks) as file:
        goal = file["results/goal"][0]
        check(goal == truth.value(), f"{goal}, should be {truth.value()}")
        begin = attrs_begin(file) if problem.name == "local" else (0, 0)
        check(truth.worth(path_of(file), begin) == goal, "the path is worth another score")


def matrix_cases():
    for problem in (Align, Local):
        suite.case(f"a matrix over ambiguous letters, {problem.name}", matrix_case, problem)
        suite.case(f"a matrix over ambiguous letters, {problem.name}, 2 ranks", matrix_case, problem, 2)


# --------------------------------------------------------------------- files


def bytes_of_files(a, b, names=("a.txt", "b.txt"), more=None):
    """The distance of two files is that of their bytes."""
    for name, text in zip(names, (a, b)):
        suite.write(name, text)
    a, b = a.decode("latin-1"), b.decode("latin-1")
    for problem in (Lcs(a, b), Edit(a, b)):
        section = {"problem": problem.name, **{x: {"file": name, **(more or {})} for x, name in zip("ab", names)}}
        with solve(section) as file:
            check(file["results/goal"][0] == problem.value(), f"{problem.name}: {file['results/goal'][0]}, "
                  f"should be {problem.value()}")


def file_cases():
    suite.case("blanks and line ends are letters", bytes_of_files, b"the quick brown\nfox\n", b"thequickbrownfox\n")
    suite.case("a first line that begins with >", bytes_of_files, b"> said he\n> said she\nno\n", b"> said she\nyes\n")
    suite.case("CR LF, zeros and bytes above 127", bytes_of_files, b"a\r\nb\0\xff\xfe c\t", b"\xef\xbb\xbfa\nb\0\xffc")
    suite.case("FASTA to be read as text", bytes_of_files, b">x\nAC GT\n", b">y\nACGT\n", ("a.fa", "b.fa"),
               {"format": "text"})
    for name, more in (("seq.fasta", {}), ("seq.FA", {}), ("seq.txt", {"format": "fasta"}), ("seq", {"format": "fasta"})):
        suite.case(f"FASTA in {name} {more}", fasta, name, more)
    for name, members, more, ranks in (("reads.fastq.gz", 1, {}, None), ("reads.fq.gz", 5, {}, 2), ("reads", 3, {"format": "fastq"}, None)):
        suite.case(f"{name} of {members} members, {ranks} ranks", packed, name, members, more, ranks)
    suite.case("FASTA and text that gzip packed", packed_others)
    suite.case("numbers of files keep their rows", number_files)


def fasta(name, more):
    suite.write(name, ">one x\r\nAC G\r\n\r\nT\r\n>two\r\nacgg\r\n")
    for alphabet, distance in (("dna", 1), ("bytes", 4)):
        section = {"problem": "edit", "alphabet": alphabet, "a": {"file": name, **more},
                   "b": {"file": name, "record": 2, **more}}
        with solve(section) as file:
            check(file["results/goal"][0] == distance, f"{alphabet}: {file['results/goal'][0]}, not {distance}")


def packed(name, members, more, ranks=None):
    """Records of a FASTQ file that Python's gzip wrote, in several members that end anywhere."""
    rng = random.Random(25)
    reads = [word(rng, rng.randint(30, 90), "ACGTacgtNn") for _ in range(6)]
    quality = ["".join(chr(rng.randint(33, 126)) for _ in read) for read in reads]
    text = "".join(f"@r{k} of {len(reads)}\n{read}\n+\n{scores}\n" for k, (read, scores) in
                   enumerate(zip(reads, quality))).encode()
    cuts = [0, *sorted(rng.sample(range(len(text)), members - 1)), len(text)]
    with open(suite.path(name), "wb") as file:
        file.write(b"".join(gzip.compress(text[i:j]) for i, j in zip(cuts, cuts[1:])) + gzip.compress(b""))
    problem = Edit(reads[1].upper(), reads[4].upper())
    section = {"problem": "edit", "alphabet": "dna", "a": {"file": name, "record": 2, **more},
               "b": {"file": name, "record": 5, **more}}
    with solve(section, ranks) as file:
        check(file["results/goal"][0] == problem.value(), f"{file['results/goal'][0]}, not {problem.value()}")
    run = suite.run(["plan", suite.deck("packed.yaml", {"family": "dp", "dp": section})])
    line = f"a: {name}, gzip, FASTQ record 2 'r1', dna, {len(reads[1])} letters"
    check(any(said.startswith(line) for said in run.out.splitlines()), f"no line '{line}' in {run.out}")


def packed_others():
    """FASTA and plain text that gzip packed, the latter's bytes one by one, and letters of a recurrence."""
    for name, text in (("one.fa.gz", b">x\nACGT\n>y\nAG\n"), ("words.txt.gz", b"a b\nc")):
        with gzip.open(suite.path(name), "wb") as file:
            file.write(text)
    files = {"a": {"file": "one.fa.gz"}, "b": {"file": "one.fa.gz", "record": 2}}
    for section, goal in (({"problem": "lcs", "alphabet": "dna", **files}, 2),
                          ({"problem": "edit", "a": {"file": "words.txt.gz"}, "b": {"text": '"a bc"'}}, 1)):
        with solve(section) as file:
            check(file["results/goal"][0] == goal, f"{file['results/goal'][0]}, not {goal}")
    table = {"type": "i32", "rows": "len(a) + 1", "cols": "len(b) + 1"}
    data = [{"name": key, "type": "letters", **files[key]} for key in "ab"]
    with solve({"problem": "recurrence", "table": table, "data": data, "goal": "M[len(a)][len(b)]",
                "boundary": [{"where": "i == 0 || j == 0", "value": 0}],
                "cell": '"a[i-1] == b[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])"'}) as file:
        check(file["results/goal"][0] == 2, f"recurrence: {file['results/goal'][0]}, not 2")


def number_files():
    np.save(suite.path("dims.npy"), np.array([30.0, 35, 15, 5, 10, 20, 25]))
    suite.write("dims.csv", "30\n35\n15\n5\n10\n20\n25\n")
    for name in ("dims.npy", "dims.csv"):
        with solve({"problem": "matrix_chain", "dimensions": {"file": name}}) as file:
            check(file["results/goal"][0] == 15125, f"{name}: {file['results/goal'][0]}")
    suite.write("returns.csv", "0,10,100\n0,20,50\n")
    with solve({"problem": "allotment", "capacity": 1, "returns": {"file": "returns.csv", "columns": [0, 1]}}) as file:
        check(file["results/goal"][0] == 20, f"{file['results/goal'][0]} instead of 20")


def said():
    """A run says how it read its sequences."""
    suite.write("pair.fa", ">first one\nACGTN\n>second\nAC\n")
    suite.write("plain.txt", "ACGT\n")
    deck = suite.deck("said.yaml", {"family": "dp", "dp": {"problem": "lcs", "a": {"file": "pair.fa"},
                                                           "b": {"file": "plain.txt"}, "alphabet": "dna"}})
    for command in (["plan", deck], ["run", deck, "-o", suite.path("said.h5"), "--overwrite"]):
        run = suite.run(command)
        for line in ("a: pair.fa, FASTA record 1 'first', dna, 5 letters, 1 of them other than A C G T",
                     "b: plain.txt, plain text, dna, 4 letters"):
            check(line in run.out.splitlines(), f"no line '{line}' in {run.out}")


# ----------------------------------------------------------------------- SAM


HEADER = re.compile(r"^@(HD|SQ|RG|PG)(\t[A-Za-z][A-Za-z0-9]:[ -~]+)+$|^@CO\t.*$")
REFERENCE = r"[0-9A-Za-z!#$%&+./:;?@^_|~-][0-9A-Za-z!#$%&*+./:;=?@^_|~-]*"
FIELDS = [r"[!-?A-~]{1,254}", r"\d+", rf"\*|{REFERENCE}", r"\d+", r"\d+", r"\*|([0-9]+[MIDNSHPX=])+", rf"\*|=|{REFERENCE}",
          r"\d+", r"-?\d+", r"\*|[A-Za-z=.]+", r"[!-~]+"]
TAG = re.compile(r"^[A-Za-z][A-Za-z0-9]:(A:[!-~]|i:[-+]?[0-9]+|f:[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?|Z:[ !-~]*)$")


def read_sam(path):
    """Header lines and the record's fields, by SAM 1.6, sections 1.3 to 1.5."""
    with open(path, encoding="ascii") as file:
        lines = file.read().split("\n")
    check(lines.pop() == "" and len(lines) > 1, "no end of line at the end")
    header, record = lines[:-1], lines[-1].split("\t")
    for line in header:
        check(HEADER.match(line), f"no header line: {line!r}")
    check(header[0].startswith("@HD\tVN:1.6"), f"first line {header[0]!r}")
    check(sum(line.startswith("@HD") for line in header) == 1, "more than one @HD")
    for field, form in zip(record, FIELDS):
        check(re.fullmatch(form, field), f"field {field!r} is not {form}")
    check(len(record) >= 11 and all(TAG.match(tag) for tag in record[11:]), f"tags {record[11:]}")
    references = dict(line.split("\t")[1:3] for line in header if line.startswith("@SQ"))
    check_record(record, {k[3:]: int(v[3:]) for k, v in references.items()})
    with_pysam(path, record)
    return header, record


def check_record(record, references):
    flag, name, at, cigar, letters = int(record[1]), record[2], int(record[3]), record[5], record[9]
    check(all(1 <= length < 2**31 for length in references.values()), f"lengths {references}")
    if flag & 4:
        check((name, at, cigar) == ("*", 0, "*"), f"unmapped, but {record[:6]}")
        return
    check(name in references, f"no @SQ of {name}")
    runs = [(int(n), op) for n, op in re.findall(r"([0-9]+)([MIDNSHPX=])", cigar)]
    check(all(0 < n < 2**28 for n, _ in runs), cigar)
    check(all(op != "S" for _, op in runs[1:-1]), f"clipped inside: {cigar}")
    check(at >= 1 and at - 1 + sum(n for n, op in runs if op in "MDN=X") <= references[name], "beyond the reference")
    check(letters == "*" or sum(n for n, op in runs if op in "MIS=X") == len(letters), "CIGAR and SEQ")


def with_pysam(path, record):
    try:
        import pysam
    except ImportError:
        return
    with pysam.AlignmentFile(path, "r", check_sq=False) as file:
        reads = list(file.fetch(until_eof=True))
        check(len(reads) == 1 and reads[0].query_name == record[0], "pysam reads another record")
        check((reads[0].cigarstring or "*") == record[5], f"pysam: {reads[0].cigarstring}")


def letters_of(header):
    """Both sides of the alignment as shown, without gaps."""
    sides = {"a": "", "b": ""}
    for line in header:
        match = re.match(r"@CO\t([ab]) +\d+ (\S+)$", line)
        if match:
            sides[match[1]] += match[2].replace("-", "")
    return sides["a"], sides["b"]


def sam(section, name, reference, a, b, ranks=None):
    """The file is SAM, has the names, and its CIGAR is the path of the alignment of these letters."""
    with solve({**section, "mode": "recover", "alignment": suite.path("out.sam")}, ranks) as file:
        path = path_of(file)
        begin = attrs_begin(file) if section["problem"] == "local" else (0, 0)
        goal = int(file["results/goal"][0])
    header, record = read_sam(suite.path("out.sam"))
    check(record[0] == name, f"query {record[0]!r}, should be {name!r}")
    tag = "XD" if section["problem"] == "edit" else "AS"
    check(f"{tag}:i:{goal}" in record[11:], f"tags {record[11:]}, goal {goal}")
    check(record[9] == (a if re.fullmatch("[A-Za-z.]+", a) else "*"), f"SEQ {record[9]!r}")
    if not path or not b:
        check(record[1] == "4", f"flag {record[1]} of nothing aligned")
        return
    spans = [sum(n for op, n in path if op != 2), sum(n for op, n in path if op != 3)]
    clips = [begin[0], len(a) - begin[0] - spans[0]]
    runs = [(clips[0], "S")] + [(n, "=XDI"[op]) for op, n in path] + [(clips[1], "S")]
    check(record[5] == "".join(f"{n}{op}" for n, op in runs if n), f"CIGAR {record[5]}, path {path}")
    check(record[2] == reference and int(record[3]) == begin[1] + 1, f"at {record[2:4]}, begins {begin}")
    shown = (a[begin[0]:begin[0] + spans[0]], b[begin[1]:begin[1] + spans[1]])
    check(letters_of(header) == tuple(re.sub(r"[^!-~]", "?", s) for s in shown), f"letters {letters_of(header)}")
    check(f"NM:i:{sum(n for op, n in path if op)}" in record[11:], f"tags {record[11:]}")
    runs_worth(path, a.upper().replace("U", "T"), b.upper().replace("U", "T"), *begin, section["problem"] != "local",
               lambda x, y: 0, lambda op, n: 0)


def sam_cases():
    rng = random.Random(24)
    a = word(rng, 150, "ACGTacgtuNRy")
    b = near(rng, a, "ACGTN", 0.2)
    suite.write("pair.fa", f">chr*1,x@ y\n{a[:70]}\n{a[70:]}\n>=ref(2) z\n{b}\n")
    files = {"a": {"file": "pair.fa"}, "b": {"file": "pair.fa", "record": 2}, "alphabet": "dna"}
    for problem in ("edit", "global", "local"):
        for ranks in (None, 2):
            suite.case(f"SAM of {problem}, ranks {ranks}", named_sam, {"problem": problem, **files}, a, b, ranks)
    for problem in ("edit", "global", "local"):
        for x, y in (("AAAA", "CCCC"), ("", "ACG"), ("ACG", ""), ("", ""), ("ACG", "ACG"), ("TTACGTT", "ACG")):
            suite.case(f"SAM of {problem} of '{x}' and '{y}'", sam,
                       {"problem": problem, "alphabet": "dna", "a": {"text": f'"{x}"'}, "b": {"text": f'"{y}"'}}, "a", "b", x, y)
    suite.case("SAM of bytes", sam, {"problem": "edit", "a": {"text": '"a\\tbc"'}, "b": {"text": '"a\\tbd"'}}, "a", "b",
               "a\tbc", "a\tbd")
    suite.case("SAM of a header without a name", nameless)


def named_sam(section, a, b, ranks):
    suite.write("pair.fa", f">chr*1,x@ y\n{a[:70]}\n{a[70:]}\n>=ref(2) z\n{b}\n")
    sam(section, "chr*1,x_", "_ref_2_", a, b, ranks)


def nameless():
    suite.write("none.fa", ">\nACG\n>\nAG\n")
    sam({"problem": "edit", "alphabet": "dna", "a": {"file": "none.fa"}, "b": {"file": "none.fa", "record": 2}}, "a", "b",
        "ACG", "AG")


def shown_file():
    """The example of inputs/dp, as the documentation has it."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../inputs/dp")
    run = suite.run(["run", os.path.join(folder, "global.yaml"), "-q", "-o", suite.path("global.h5")])
    check(run.status == 0, run.tail())
    header, record = read_sam(suite.path("global.txt"))
    check(record[0] == "first" and record[2] == "second", str(record[:3]))


for cases in (letter_cases, peer_cases, matrix_cases, file_cases, sam_cases):
    cases()
suite.case("a run says how it read its sequences", said)
suite.case("the example's alignment", shown_file)
suite.end()
