#!/usr/bin/env python3
"""Bad decks of family dp get a clear message and the promised exit status, and leave nothing behind.

usage: dp_bad_input.py TESELA [--fast] [ONLY]

Each case runs alone and with two ranks (--fast: with two ranks only where ranks matter).
"""
import gzip
import os

import harness
import refusal
from harness import check, np
from refusal import LIMIT, change

suite = harness.Suite(__doc__, jobs=4)
refusals = refusal.Refusals(suite)
both = refusals.both

HEAD = "family: dp\ndp:\n"
LCS = HEAD + "  problem: lcs\n  a: {text: ACGT}\n  b: {text: AGT}\n"
LOCAL = HEAD + "  problem: local\n  a: {text: ACGT}\n  b: {text: AGT}\n"
SACK = HEAD + "  problem: knapsack\n  capacity: 10\n  weights: {values: [3, 4, 5]}\n  values: {values: [1, 2, 3]}\n"
CHAIN = HEAD + "  problem: matrix_chain\n  dimensions: {values: [3, 4, 5]}\n"
OWN = HEAD + """  problem: recurrence
  table: {type: i32, rows: len(a) + 1, cols: len(b) + 1}
  data:
    - {name: a, text: ACCGT}
    - {name: b, text: ACGT}
  boundary:
    - {where: "i == 0 || j == 0", value: "0"}
  cell: "a[i-1] == b[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])"
  goal: "M[len(a)][len(b)]"
"""


SOCKETS = ["--set", "run.device=cpu"]  # of what concerns them alone, on hosts with cards, too
INTERPRET = ["--interpret", *SOCKETS]


def good_decks():
    """The decks that the cases start from are good."""
    for deck in (LCS, LOCAL, SACK, CHAIN, OWN):
        suite.write("good.yaml", deck)
        run = suite.run(["run", "good.yaml", "-o", "good.h5", "--overwrite", "-q"], timeout=LIMIT)
        check(run.status == 0, run.tail())


def key_cases():
    both("no problem", HEAD + "  mode: value\n", ["bad.yaml", "problem"])
    both("a problem misspelt", change("lcs", "lsc", LCS), ["bad.yaml:3", "lsc", "lcs"], ranks_matter=True)
    both("a key of another problem", LCS + "  capacity: 3\n", ["bad.yaml:6", "dp.capacity", "not used by problem lcs"])
    both("a key of another mode", LCS + "  memory: 1 GiB\n", ["bad.yaml:6", "dp.memory", "not used by mode value"])
    both("b is missing", change("  b: {text: AGT}\n", "", LCS), ["needs the key b"])
    both("text and file", change("{text: AGT}", "{text: AGT, file: x}", LCS), ["bad.yaml:5", "exactly one"])
    both("letters where numbers are", change("{values: [3, 4, 5]}", "{text: abc}", CHAIN), ["unknown key 'text'"])
    both("a plan for independent units", LCS + "run: {plan: lpt}\n", ["run.plan", "lpt", "strips"], ranks_matter=True)
    both("a negative capacity", change("10", "-1", SACK), ["bad.yaml:4", "capacity"])
    both("no solution of a binomial", HEAD + "  problem: binomial\n  mode: recover\n  n: 5\n  k: 2\n",
         ["dp.mode", "no solution to recover"])


def refuse_matrix(text, needles):
    suite.write("matrix.txt", text)
    refusals.refuse(LOCAL + "  scores: {matrix: matrix.txt}\n", ["bad.yaml:", *needles])


def packed_cases():
    """FASTQ, and what gzip packed."""
    record = b"@one\nACGT\n+\nIIII\n@two x\nAC-T\n+\nIIII\n"
    whole = gzip.compress(record)
    for name, content in (("reads.fastq.gz", whole), ("cut.fastq.gz", whole[:-5]), ("more.fastq.gz", whole + b"more"),
                          ("sum.fastq.gz", whole[:-7] + bytes([whole[-7] ^ 1]) + whole[-6:]),
                          ("short.fq", record.replace(b"IIII", b"III")), ("plain.fq", b"ACGT\n")):
        with open(suite.path(name), "wb") as file:
            file.write(content)
    for what, name, needles in (
            ("a letter of a packed record", "reads.fastq.gz, record: 2",
             ["bad.yaml:4", "reads.fastq.gz:6: column 3: letter '-' at place 3 of record 2 'two'"]),
            ("gzip that is cut off", "cut.fastq.gz", ["bad.yaml:4", "cut.fastq.gz", "cut off"]),
            ("gzip with another checksum", "sum.fastq.gz", ["sum.fastq.gz", "damaged", "data check"]),
            ("gzip with something behind it", "more.fastq.gz", ["more.fastq.gz", "4 bytes behind"]),
            ("a quality too short", "short.fq", ["short.fq:5", "record 1 'one'", "3 characters for 4 letters"]),
            ("FASTQ that is none", "plain.fq", ["plain.fq", "'@'", "format: text"])):
        both(what, change("{text: ACGT}", f"{{file: {name}}}", LOCAL), needles)


def letter_cases():
    both("a letter that is no base", change("text: ACGT", "text: ACZT", LOCAL), ["bad.yaml:4", "'Z' at place 3", "ACGTN"],
         ranks_matter=True)
    suite.write("gap.fa", ">one\nAC\n>two x\nAC\nTT-GT\n")
    both("a gap in a file", change("{text: ACGT}", "{file: gap.fa, record: 2}", LOCAL),
         ["bad.yaml:4", "gap.fa:5: column 3: letter '-' at place 5 of record 2 'two'"])
    both("a record that is not there", change("{text: ACGT}", "{file: gap.fa, record: 3}", LOCAL),
         ["gap.fa", "record 3", "has 2"], ranks_matter=True)
    suite.write("bases.txt", "ACGT\nAC-T\n")
    both("a gap in plain text", change("{text: ACGT}", "{file: bases.txt}", LOCAL), ["bases.txt:2: column 3: letter '-'"])
    suite.write("records.txt", ">one\nACGT\n>two\nAC\n")
    both("FASTA by another name", change("{text: ACGT}", "{file: records.txt}", LOCAL),
         ["records.txt:1: column 1: letter '>'", "format: fasta"])
    both("a record of FASTA by another name", change("{text: ACGT}", "{file: records.txt, record: 2}", LCS),
         ["records.txt", "read as plain text", "format: fasta"])
    suite.write("plain.fa", "ACGT\n")
    both("FASTA by name only", change("{text: ACGT}", "{file: plain.fa}", LCS), ["plain.fa", "'>'", "format: text"],
         ranks_matter=True)
    both("no FASTA", change("{text: ACGT}", "{file: bases.txt, format: fasta}", LCS), ["bases.txt", "no FASTA file"])
    packed_cases()
    both("a format of no file", change("{text: ACGT}", "{text: ACGT, format: text}", LCS), ["bad.yaml:4", "for a file"])
    both("a protein with the letters of dna", change("text: ACGT", "text: MKTAYI", LOCAL), ["'I' at place 6", "alphabet dna"])
    both("no file", change("{text: ACGT}", "{file: none.fa}", LOCAL), ["bad.yaml:", "none.fa"])
    both("a folder", change("{text: ACGT}", "{file: .}", LOCAL), ["regular file"])
    matrices = (("half a score matrix", "  A C G T N\nA 1 2 3\n", ["matrix.txt:2", "row 'A' has 3 scores for 5"]),
                ("rows missing from a score matrix", "  A C G T N\nA 1 2 3 4 5\n", ["matrix.txt", "no row for letter C"]),
                ("a row without a column", "  A C G\nA 1 2 3\nC 1 2 3\nG 1 2 3\nT 1 2 3\n", ["matrix.txt:5", "'T' has no column"]),
                ("a row twice", "  A C\nA 1 2\nC 1 2\nC 3 4\n", ["matrix.txt:4", "'C' is there twice"]),
                ("a column twice", "  A C A\nA 1 2 3\nC 1 2 3\n", ["matrix.txt:1", "'A' is there twice"]),
                ("letters of a matrix that are one", "  T U\nT 1 2\nU 1 2\n", ["matrix.txt:1", "'T' and 'U' are one letter"]),
                ("a matrix of another alphabet", "  A R N D E\n", ["matrix.txt:1", "'E' is not of the alphabet dna"]),
                ("a letter that the matrix lacks", "  A C\nA 1 2\nC 1 2\n", ["bad.yaml:4", "'G' at place 3", "no scores in", "matrix.txt"]))
    for name, text, needles in matrices:
        suite.case(name, refuse_matrix, text, needles)
    suite.write("rows.txt", "  A\nA 1\n")
    both("matrix and match", LOCAL + "  scores: {matrix: rows.txt, match: 3}\n", ["dp.scores", "either"])


def number_cases():
    both("a weight that is no whole number", change("[3, 4, 5]", "[3, 4.5, 5]", SACK), ["bad.yaml:5", "number 2 is 4.5"])
    both("a negative weight", change("[3, 4, 5]", "[3, 4, -5]", SACK), ["bad.yaml:5", "number 3 is -5"])
    both("fewer values than weights", change("[1, 2, 3]", "[1, 2]", SACK), ["2 values for 3 weights"])
    both("a dimension of 0", change("[3, 4, 5]", "[3, 0, 5]", CHAIN), ["bad.yaml:4", "number 2 is 0"])
    suite.write("words.csv", "1,2\n3,x\n")
    both("a word in a file", change("{values: [3, 4, 5]}", "{file: words.csv, columns: 1}", CHAIN), ["words.csv:2", "'x'"])
    suite.write("ragged.csv", "1,2\n3\n")
    both("a ragged file", change("{values: [3, 4, 5]}", "{file: ragged.csv}", CHAIN), ["ragged.csv:2"])
    suite.write("items.csv", "weight,value\n3,1\n4,2\n5,3\n")
    np.save(suite.path("items.npy"), np.array([[3.0, 1], [4, 2], [5, 3]]))
    for name in ("items.csv", "items.npy"):
        both(f"two columns of {name} as weights", change("{values: [3, 4, 5]}", "{file: %s}" % name, SACK),
             ["bad.yaml:5: dp.weights", "2 columns", "columns: [0]"])
        both(f"two columns of {name} as a time series", HEAD + "  problem: dtw\n  a: {file: %s}\n  b: {values: [1]}\n" % name,
             ["bad.yaml:4: dp.a", "2 columns", "columns: [0]"])
        both(f"two columns of {name} named for a series", change("{values: [3, 4, 5]}", "{file: %s, columns: [0, 1]}" % name, CHAIN),
             ["bad.yaml:4: dp.dimensions", "2 columns"])
    both("rows of another length", HEAD + "  problem: allotment\n  capacity: 2\n  returns: {file: items.csv}\n",
         ["bad.yaml:5: dp.returns", "rows of 2", "rows of 3"])
    suite.write("line.csv", "3,4,5\n")
    both("a series in a row", change("{values: [3, 4, 5]}", "{file: line.csv}", CHAIN), ["line.csv", "one row of 3"])
    both("an empty series", HEAD + "  problem: dtw\n  a: {values: []}\n  b: {values: [1]}\n", ["dp.a", "empty"])


def overflow_cases():
    """Numbers that would be wrong end with status 3."""
    both("chain beyond 63 bits", change("[3, 4, 5]", "[4e6, 4e6, 4e6, 4e6]", CHAIN), ["dp.dimensions", "overflow"],
         status=3, ranks_matter=True)
    both("knapsack beyond 63 bits", HEAD + "  problem: knapsack_unbounded\n  capacity: 1e6\n  weights: {values: [3]}\n"
         "  values: {values: [9e15]}\n", ["dp.values", "overflow"], status=3)
    both("scores beyond 30 bits", HEAD + "  problem: global\n  a: {random: 100000}\n  b: {random: 100000}\n"
         "  scores: {match: 10000}\n", ["dp.scores", "30 bits"], status=3)
    both("binomial beyond 63 bits", HEAD + "  problem: binomial\n  n: 200\n  k: 100\n", ["63 bits", "modulus"], status=3,
         ranks_matter=True)
    both("binomial table beyond 63 bits", HEAD + "  problem: binomial\n  mode: table\n  n: 80\n  k: 80\n", ["63 bits"],
         status=3, ranks_matter=True)
    both("cells beyond 64 bits", HEAD + "  problem: knapsack\n  capacity: 1e12\n  weights: {random: 10000000, lo: 1}\n"
         "  values: {random: 10000000, lo: 1}\n", ["64-bit"], status=3)


def memory_cases():
    long = HEAD + "  problem: global\n  mode: recover\n  memory: 64 KiB\n  a: {random: 9000}\n  b: {random: 9000, seed: 2}\n"
    both("too little memory for recovery", long, ["dp.memory", "is needed"], ranks_matter=True)
    disk = long.replace("memory: 64 KiB", "memory: 1 MiB") + "  special_rows: {%s}\n"
    both("special rows of another mode", LCS + "  special_rows: {folder: .}\n", ["bad.yaml:6", "dp.special_rows", "mode value"])
    both("special rows of a sweep", SACK + "  mode: recover\n  special_rows: {folder: .}\n", ["not used by problem knapsack"])
    both("special rows in no folder", disk % "size: 1 GiB", ["bad.yaml:8", "dp.special_rows", "needs the key folder"])
    both("special rows in a folder that is not there", disk % "folder: none/here",
         ["bad.yaml:8", "dp.special_rows.folder", "none/here", "No such file"], ranks_matter=True)
    both("special rows in a file", disk % "folder: bad.yaml", ["bad.yaml:8", "no file can be made", "Not a directory"])
    both("more special rows than the disk holds", disk % "folder: ., size: 900 PiB",
         ["bad.yaml:8", "dp.special_rows.size", "900.0 PiB", "free for each of"], ranks_matter=True)
    both("no room for one special row", disk % "folder: ., size: 64 KiB", ["dp.special_rows.size", "64.0 KiB", "need"],
         ranks_matter=True)
    both("too little memory for a chain", CHAIN.replace("{values: [3, 4, 5]}", "{random: 300, lo: 1, hi: 9}")
         + "  mode: recover\n  memory: 64 KiB\n", ["dp.memory", "is needed"])
    both("too little memory of the host for recovery", change("64 KiB", "1 TiB", long) + "run: {host_memory: 1 MiB}\n",
         ["each of", "may use 1.0 MiB", "run.host_memory"], args=SOCKETS, ranks_matter=True)
    both("too little memory of the host for a chain", CHAIN.replace("{values: [3, 4, 5]}", "{random: 900, lo: 1, hi: 9}")
         + "  mode: recover\nrun: {host_memory: 1 MiB}\n", ["rank 0 needs 9.3 MiB", "may use 1.0 MiB"], args=SOCKETS)
    both("too little memory of a rank for a chain", CHAIN.replace("{values: [3, 4, 5]}", "{random: 900, lo: 1, hi: 9}")
         + "run: {host_memory: 1 MiB}\n", ["needs 3.1 MiB on each rank", "may use 1.0 MiB"], args=SOCKETS)
    both("too little memory of a rank for a row", SACK.replace("capacity: 10", "capacity: 1e6")
         + "run: {host_memory: 1 MiB}\n", ["needs 15.3 MiB on each rank", "may use 1.0 MiB"], args=SOCKETS)
    both("an alignment that cannot be written", LOCAL + "  mode: recover\n  alignment: /no/such/folder/a.txt\n",
         ["bad.yaml:", "dp.alignment", "/no/such/folder/a.txt", "cannot be written"], ranks_matter=True)


def caret(deck, needles, lines, **more):
    """The message is followed by the expression and a caret."""
    suite.write("bad.yaml", deck)
    run = suite.run(["run", "bad.yaml", "-o", "out.h5"], timeout=LIMIT, **more)
    said = run.err[run.err.index("tesela: error:"):].splitlines()
    check(run.status == 2, run.tail())
    check(all(needle in said[0] for needle in needles), said[0])
    check([line.rstrip() for line in said[1:3]] == lines, f"{said[1:3]}, expected {lines}")


def recurrence_cases():
    line = '    a[i-1] == b[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])'
    suite.case("a misspelt function, with a caret", caret, change("max(", "mix(", OWN),
               ["bad.yaml:10", "dp.cell", "column 38", "'mix'"], [line.replace("max", "mix"), " " * 41 + "^~~"])
    suite.case("an expression that ends, with a caret", caret, change("[len(b)]", "[len(b)", OWN),
               ["bad.yaml:11", "dp.goal", "expected ']'"], ["    M[len(a)][len(b)", " " * 20 + "^"])
    both("an undefined array", change("a[i-1]", "c[i-1]", OWN), ["bad.yaml:10", "unknown name 'c'"])
    both("a read outside the table", change("M[i-1][j-1]", "M[i-2][j-1]", OWN), ["M[-1][0] is outside", "i = 1, j = 1"],
         ranks_matter=True)
    both("a read outside an array", change("b[j-1]", "b[j]", OWN), ["index 4 of 'b'", "j = 4"])
    both("a goal outside the table", change("M[len(a)]", "M[len(a)+1]", OWN), ["bad.yaml:11", "M[6][4] is outside"])
    both("a cycle", change("M[i][j-1])", "i < 5 ? M[i+1][j] : 0)", OWN), ["need each other", "reads M[2]["])
    both("a pattern that does not fit", OWN + "  pattern: SENO\n", ["M[i-1][j-1] reads M[0][0]", "i = 1, j = 1", "SENO"],
         ranks_matter=True)
    both("a pattern that is none", OWN + "  pattern: NOES\n", ["bad.yaml:12", "NOES", "NOSE"])
    both("rows as text", change("rows: len(a) + 1", "rows: many", OWN), ["bad.yaml:4", "table.rows", "'many'"])
    both("no cell", change("  cell:", "  #", OWN), ["needs the keys table, cell and goal"])
    both("a key of recurrences", LCS + "  goal: M[0][0]\n", ["dp.goal", "not used by problem lcs"])
    both("--interpret where nothing is compiled", LCS, ["dp.interpret", "not used by problem lcs"], args=["--interpret"])


def recurrence_number_cases():
    grow = change("M[i-1][j-1] + 1", "M[i-1][j-1] * 70000 + 70000", OWN)
    for args in ((), INTERPRET):
        both(f"a value beyond the type {' '.join(args[:1])}", grow,
             ["bad.yaml:10: dp.cell: column 1", "4900070000 does not fit", "i = 2, j = 2"], status=3, args=args,
             ranks_matter=True)
    both("a sum beyond 64 bits", change("M[i-1][j-1] + 1", "9000000000000000000 + 9000000000000000000", OWN),
         ["integer overflow", "i = 1, j = 1"], status=3)
    both("a division by zero", change("M[i-1][j-1] + 1", "M[i-1][j-1] / (j - 1)", OWN),
         ["bad.yaml:10: dp.cell", "division by zero", "j = 1"], status=3)
    both("a value beyond the type on the boundary", change('value: "0"', 'value: "i * 1000000000"', OWN),
         ["bad.yaml:9: dp.boundary[0].value", "3000000000 does not fit", "i = 3, j = 0"], status=3)
    both("a cycle through a boundary", change('value: "0"', 'value: "j == 3 ? M[1][j] : 0"', OWN),
         ["bad.yaml:9: dp.boundary[0].value", "need each other", "M[1][3]"])
    both("cells beyond 64 bits of a recurrence", change("len(a) + 1", "1000000000000", OWN).replace(
        "len(b) + 1", "1000000000000"), ["bad.yaml:4", "dp.table", "64-bit"], ranks_matter=True)
    long = OWN.replace("text: ACCGT", "type: letters, random: 300").replace("text: ACGT", "type: letters, random: 400")
    both("too little memory for the path of a recurrence", long + "  mode: recover\n  memory: 64 KiB\n",
         ["dp.memory", "some rows of the table", "88.8 KiB is needed"], ranks_matter=True)


REAL = HEAD + """  problem: recurrence
  table: {type: f64, rows: 2001, cols: 4}
  boundary: [{where: i == 0, value: "j + 1"}]
  cell: "CELL"
  goal: "M[2000][0]"
"""


def real_cases():
    """Reals that would be wrong end the run, wherever they stand and whoever computes them."""
    lost = {"M[i-1][j] * 0.4": "underflow", "M[i-1][j] / 1e9": "underflow", "M[i-1][j] * 3": "overflow",
            "M[i-1][j] + 1e306": "overflow", "1 / (M[i-1][j] - j - 1)": "division by zero",
            "min(5, 1 / (i - 7.0), M[i-1][j])": "division by zero", "max(k = 0 .. 1 : k * inf)": "not a number",
            "M[i-1][j] - inf + inf": "not a number"}
    for k, (cell, what) in enumerate(lost.items()):
        for args in ((), INTERPRET):
            both(f"{what} of {cell} {' '.join(args[:1])}", REAL.replace("CELL", cell),
                 ["bad.yaml:6: dp.cell: column", f"{what}: ", " at i = "], status=3, args=args, ranks_matter=k == 0)
    both("a goal that is lost", REAL.replace("CELL", "M[i-1][j]").replace("M[2000][0]", "M[2000][0] * 1e200 * 1e200"),
         ["bad.yaml:7: dp.goal: column 1", "overflow: 1e+200 * 1e+200"], status=3)
    both("a number beyond f32", REAL.replace("f64", "f32").replace("CELL", "M[i-1][j] + 1e39"),
         ["bad.yaml:6: dp.cell", "column 13", "does not fit"])
    both("data beyond f32", REAL.replace("f64", "f32").replace("CELL", "M[i-1][j] + x[0]")
         + "  data: [{name: x, values: [1, 1e-60]}]\n", ["bad.yaml:8: dp.data[0]", "number 2 is 1e-60"])


def host_cases():
    """A table that does not fit the host's memory is refused before anything is computed."""
    wide = OWN.replace("text: ACCGT", "type: letters, random: 3000").replace("text: ACGT", "type: letters, random: 4000")
    wide = change("M[i-1][j-1] + 1", "M[i-1][j-1] + M[i-1][j] - M[i-1][j]", wide)  # no path: all is kept
    both("a table beyond the host's memory", wide + "  mode: recover\nrun: {host_memory: 40 MiB}\n",
         ["whole table", "45.8 MiB", "40.0 MiB", "run.host_memory"], ranks_matter=True)


ATTACKER = """#!/bin/sh
# Who may write to $PARENT puts a folder of their own in the place of the one that the compiler was started for.
for text; do :; done
mv "$PARENT/tesela" "$PARENT/away"
(umask 077; mkdir -p "$(dirname "$text")")
sed 's/+ (V)1/+ (V)5/g' "$PARENT/away${text#"$PARENT/tesela"}" > "$text"
exec cc "$@"
"""


def attacked():
    """No folder is used that others could swap while the compiler works."""
    parent = suite.path("everybodys")
    os.mkdir(parent)
    os.chmod(parent, 0o777)
    attacker = suite.write("attacker", ATTACKER)
    os.chmod(attacker, 0o755)
    suite.write("good.yaml", OWN)
    run = suite.run(["run", "good.yaml", "-o", "good.h5", "--overwrite", "-q"], timeout=LIMIT,
                    env={"XDG_CACHE_HOME": parent, "CC": attacker, "PARENT": parent})
    check(not os.path.exists(os.path.join(parent, "away")), f"the attacker was let in: {run.tail()} {run.out[-200:]}")
    check(run.status == 2 and "everybodys can be changed by others" in run.err, run.tail())


def compiler_cases():
    suite.case("an attacker beside the compiler", attacked)
    nowhere = {"CC": "/nonexistent/cc", "XDG_CACHE_HOME": os.path.join(suite.env["XDG_CACHE_HOME"], "none")}
    both("no compiler", OWN, ["no compiler '/nonexistent/cc'", "--interpret"], args=SOCKETS, env=nowhere, ranks_matter=True)

    def solved(args, env, ranks):
        suite.write("good.yaml", OWN)
        run = suite.run(["run", "good.yaml", "-o", "good.h5", "--overwrite", "-q", *args], ranks, env=env, timeout=LIMIT)
        check(run.status == 0 and "goal" in run.out and " 4\n" in run.out, run.tail() + run.out)

    suite.case("no compiler but --interpret", solved, INTERPRET, nowhere, 2)
    suite.group = "compiled once"
    suite.case("a compiler", solved, [], {"CC": "cc"}, None)
    suite.case("no compiler but a cached object", solved, [],
               {"CC": "cc", "PATH": "/nonexistent"}, None)
    suite.group = None
    suite.case("a compiler that fails leaves a message", refusals.refuse, OWN, ["false", "does not compile"], status=3,
               args=SOCKETS, env={"CC": "/bin/false"})


suite.case("good decks", good_decks)
for cases in (key_cases, letter_cases, number_cases, overflow_cases, memory_cases, recurrence_cases,
              recurrence_number_cases, real_cases, host_cases, compiler_cases):
    cases()
suite.end()
