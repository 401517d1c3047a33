#!/usr/bin/env python3
"""Record by record (output paired), and alignments of kept pairs as SAM, PAF and tables.

usage: tri_alignments.py TESELA [--fast] [ONLY]

Values against the table of each pair filled cell by cell (tri_letters.py), and parasail and edlib where they are
installed. Alignments are scored again here from the letters, beside family dp's, and read by samtools where it is.
"""
import os
import re
import shutil
import subprocess

import harness
from harness import check, np
from tri_letters import distance, plain, score

SCORES = {"match": 2, "mismatch": -3, "open": 5, "extend": 2}
PROTEIN = "ARNDCQEGHILKMFPSTWYVBZX*"


def word(rng, n, letters="ACGT"):
    return "".join(rng.choice(list(letters), n))


def near(rng, s, letters="ACGT", share=0.1):
    """A copy with letters changed, left out and put in."""
    out = []
    for letter in s:
        dice = rng.random()
        if dice < share / 3:
            continue
        out.append(rng.choice(list(letters)) if dice < 2 * share / 3 else letter)
        if dice > 1 - share / 3:
            out.append(rng.choice(list(letters)))
    return "".join(out) or letters[0]


def pairs(rng, lengths, letters="ACGT"):
    """Two lists: copies with errors, parts, and strangers of another length."""
    a = [word(rng, n, letters) for n in lengths]
    b = [near(rng, s, letters) if k % 3 else word(rng, max(1, lengths[-1 - k]), letters) for k, s in enumerate(a)]
    return a, [s[len(s) // 4:] if k % 5 == 0 else s for k, s in enumerate(b)]


def write(name, seqs, tag):
    suite.write(name, "".join(f">{tag}{k}\n{s}\n" for k, s in enumerate(seqs)))


def deck(a, b, function, output="paired", alphabet="dna", **keys):
    write("a.fa", a, "q")
    section = {"function": function, "output": output, "input": {"file": "a.fa", "alphabet": alphabet}, **keys}
    if b is not None:
        write("b.fa", b, "r")
        section["other"] = {"input": {"file": "b.fa", "alphabet": alphabet}}
    return {"family": "tri", "tri": section}


def run(a, b, function, ranks=None, **keys):
    with suite.result(deck(a, b, function, **keys), ranks=ranks) as file:
        return {name: data[()] for name, data in file["results"].items()}


def value(function, a, b, table=None, gap=(5, 2)):
    if function == "edit":
        return distance(a, b)
    return score(a, b, table or plain("ACGT", 2, -3), gap, function == "local")


# ----------------------------------------------------------------- values


def paired_case(function, ranks):
    """Lengths around words and vectors, 1 beside 513; plain scores, and ones that leave 8 bits."""
    rng = np.random.default_rng(31)
    lengths = [1, 513, 2, 64, 65, 63, 31, 200, 129, 16, 17, 33, 300] + list(rng.integers(1, 90, 66))
    a, b = pairs(rng, lengths)
    want = [value(function, x, y) for x, y in zip(a, b)]
    check(np.array_equal(run(a, b, function, ranks)["values"], want), "not the values")
    if function != "edit":
        large = {"match": 900, "mismatch": -800, "open": 1000, "extend": 70}
        want = [value(function, x, y, plain("ACGT", 900, -800), (1000, 70)) for x, y in zip(a, b)]
        check(np.array_equal(run(a, b, function, ranks, scores=large)["values"], want), "large scores: not the values")


def matrix_case(function, ranks):
    """24 letters by a matrix that is not symmetric; scores about and beyond 8 bits."""
    rng = np.random.default_rng(32)
    table = {(x, y): int(rng.integers(-4, 3)) + 7 * (x == y) for x in PROTEIN for y in PROTEIN}
    suite.write("made.txt", "   " + "  ".join(PROTEIN) + "\n" + "".join(
        f"{x} " + " ".join(f"{table[x, y]:3d}" for y in PROTEIN) + "\n" for x in PROTEIN))
    a, b = pairs(rng, list(rng.integers(1, 100, 90)), PROTEIN)
    want = [value(function, x, y, table, (7, 1)) for x, y in zip(a, b)]
    scores = {"matrix": "made.txt", "open": 7, "extend": 1}
    got = run(a, b, function, ranks, alphabet="protein", scores=scores, alignment=suite.path("made.sam"))
    check(np.array_equal(got["values"], want), "not the scores")
    check(max(want) > 255 and function != "local" or min(x for x in want if x > 0) < 100, "no case")
    verify("made.sam", a, b, function, range(len(a)), want, table, (7, 1))


def peers_case():
    """Scores of many pairs as parasail and edlib have them."""
    try:
        import edlib
        import parasail
    except ImportError as why:
        return f"left out: {why}"
    rng = np.random.default_rng(33)
    a, b = pairs(rng, list(rng.integers(1, 400, 700)))
    table = parasail.matrix_create("ACGT", 2, -3)
    for function, peer in (("global", parasail.nw_scan_32), ("local", parasail.sw_scan_32)):
        want = [peer(x, y, 7, 2, table).score for x, y in zip(a, b)]
        check(np.array_equal(run(a, b, function)["values"], want), f"parasail, {function}")
    want = [edlib.align(x, y)["editDistance"] for x, y in zip(a, b)]
    check(np.array_equal(run(a, b, "edit")["values"], want), "edlib")
    return None


def points_case(ranks):
    """Row k of two tables."""
    rng = np.random.default_rng(34)
    for d, function in ((3, "euclidean"), (20, "cosine")):
        x, y = rng.normal(size=(2, 157, d))
        np.save(suite.path("x.npy"), x)
        np.save(suite.path("y.npy"), y)
        tree = {"family": "tri",
                "tri": {"function": function, "output": "paired", "precision": "fp64", "input": {"file": "x.npy"},
                        "other": {"input": {"file": "y.npy"}}}}
        with suite.result(tree, ranks=ranks) as file:
            got = file["results/values"][()]
        want = np.linalg.norm(x - y, axis=1) if d == 3 else 1 - (x * y).sum(1) / np.linalg.norm(x, axis=1) / \
            np.linalg.norm(y, axis=1)
        check(np.allclose(got, want, rtol=1e-13, atol=1e-14), f"{function}: not the values")


# ------------------------------------------------------------- alignments


def worth(cigar, a, b, function, table, gap):
    """Score and letters that differ of the parts a and b under a CIGAR."""
    i = j = total = differ = 0
    for n, op in ((int(n), op) for n, op in re.findall(r"(\d+)([=XID])", cigar)):
        x, y = a[i:i + n if op != "D" else i], b[j:j + n if op != "I" else j]
        if op in "=X":
            check(len(x) == len(y) == n and all((p == q) == (op == "=") for p, q in zip(x, y)), f"{cigar}: {op}")
            total += sum(table[p, q] for p, q in zip(x, y)) if function != "edit" else n * (op == "X")
        else:
            check(len(x) + len(y) == n, f"{cigar} is longer than its sequences")
            total += n if function == "edit" else -gap[0] - n * gap[1]
        differ += n * (op != "=")
        i, j = i + len(x), j + len(y)
    check((i, j) == (len(a), len(b)), f"{cigar} is not of all letters")
    return total, differ


def records(name):
    with open(suite.path(name), encoding="ascii") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return [line for line in lines if line[0] == "@SQ"], [line for line in lines if line[0][0] != "@"]


def verify(name, a, b, function, columns, values, table=None, gap=(5, 2)):
    """Records of pairs (k, columns[k]) in this order, best of a query first in none but `paired`."""
    table = table or plain("ACGT", 2, -3)
    references, lines = records(name)
    check([r[1:] for r in references] == [[f"SN:r{k}", f"LN:{len(s)}"] for k, s in enumerate(b)], "@SQ")
    check(len(lines) == len(a), f"{len(lines)} records")
    for k, (line, want) in enumerate(zip(lines, values)):
        tags = dict(tag.split(":i:") for tag in line[11:])
        check(line[0] == f"q{k}" and line[9] == (a[k] if "*" not in a[k] else "*"), f"query {k}: {line}")
        check(int(tags["XD" if function == "edit" else "AS"]) == want, f"{k}: value {tags}, {want}")
        if line[1] == "4":
            check(want == 0 and function == "local" and line[2:6] == ["*", "0", "0", "*"], f"unmapped: {line}")
            continue
        check(line[1:3] == ["0", f"r{columns[k]}"], f"{k}: {line}")
        clips = [int(n) for n in (re.findall(r"^(\d+)S", line[5]) or ["0"]) + (re.findall(r"(\d+)S$", line[5]) or ["0"])]
        begin, span = int(line[3]) - 1, sum(int(n) for n in re.findall(r"(\d+)[=XD]", line[5]))
        part, other = a[k][clips[0]:len(a[k]) - clips[1]], b[columns[k]][begin:begin + span]
        check(function == "local" or (part, other) == (a[k], b[columns[k]]), f"{k}: not from end to end")
        total, differ = worth(line[5], part, other, function, table, gap)
        check(total == want and differ == int(tags["NM"]), f"{k}: {line[5]} is worth {total}, not {want}")


def by_dp(function, a, b, scores=SCORES):
    """CIGAR and place of one pair as family dp writes them."""
    section = {"problem": function, "mode": "recover", "alphabet": "dna", "a": {"text": a}, "b": {"text": b},
               "alignment": suite.path("dp.sam"), **({} if function == "edit" else {"scores": scores})}
    with suite.result({"family": "dp", "run": {"device": "cpu"}, "dp": section}, name="dp"):
        return records("dp.sam")[1][0][3:6:2]


def paired_sam_case(function, ranks):
    """CIGARs are worth their values, and some of them are those of family dp."""
    rng = np.random.default_rng(35)
    a, b = pairs(rng, [1, 140, 2, 60, 65, 31, 90, 101] + list(rng.integers(1, 150, 42)))
    got = run(a, b, function, ranks, alignment=suite.path("paired.sam"))
    verify("paired.sam", a, b, function, range(len(a)), [value(function, x, y) for x, y in zip(a, b)])
    lines = records("paired.sam")[1]
    for k in (1, 4, 3):
        if lines[k][1] == "0":
            check(by_dp(function, a[k], b[k]) == lines[k][3:6:2], f"pair {k}: not the alignment of dp")
    check(len(got["spans"]) == len(a) and got["spans"][:, 4].sum() == len(got["operations"]), "spans")


def growing_case():
    """Local values that leave 8, and 16, bits in the middle of their tables, beside some that do not."""
    rng = np.random.default_rng(41)
    a = [word(rng, 380) for _ in range(3)] + [word(rng, n) for n in rng.integers(20, 60, 67)]
    b = [near(rng, s, share=0.02) if k % 9 < 3 else word(rng, 40) for k, s in enumerate(a)]
    for match, mismatch, gap, least in ((5, -4, (8, 1), 256), (100, -90, (20, 5), 1 << 15)):
        scores = {"match": match, "mismatch": mismatch, "open": gap[0], "extend": gap[1]}
        table = plain("ACGT", match, mismatch)
        want = [value("local", x, y, table, gap) for x, y in zip(a, b)]
        check(max(want) > least > min(want), "no case")
        run(a, b, "local", scores=scores, alignment=suite.path("growing.sam"))
        verify("growing.sam", a, b, "local", range(len(a)), want, table, gap)
        for k in (0, 2, 3, 9, 69):
            check(by_dp("local", a[k], b[k], scores) == records("growing.sam")[1][k][3:6:2], f"pair {k}: not that of dp")


def long_case(function):
    """Tables in stages of rows, of which those before the last are computed again."""
    rng = np.random.default_rng(36)
    a = word(rng, 31000)
    b = [near(rng, a, share=0.2), a[2000:] + word(rng, 1500)]
    run([a, a], b, function, alignment=suite.path("long.sam"))
    lines = records("long.sam")[1]
    for k, line in enumerate(lines):
        check(by_dp(function, a, b[k]) == line[3:6:2], f"pair {k}: not the alignment of dp")


def parsed(name):
    """(query, its begin, end, reference, its begin, end, CIGAR, value) of a file of any kind."""
    out = []
    with open(suite.path(name), encoding="ascii") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if line[0] != "@"]
    for line in lines[name.endswith(".tsv"):]:
        if name.endswith(".sam"):
            if int(line[1]) & 4:
                continue
            first = int((re.findall(r"^(\d+)S", line[5]) or ["0"])[0])
            cigar = re.sub(r"\d+S", "", line[5])
            spans = [sum(int(n) for n in re.findall(rf"(\d+)[=X{op}]", cigar)) for op in "ID"]
            begin = int(line[3]) - 1
            out.append((line[0], first, first + spans[0], line[2], begin, begin + spans[1], cigar, line[11][5:]))
        elif name.endswith(".paf"):
            check(line[4] == "+" and int(line[10]) - int(line[9]) == int(line[13][5:]), f"PAF: {line}")
            out.append((line[0], int(line[2]), int(line[3]), line[5], int(line[7]), int(line[8]), line[15][5:],
                        line[14][5:]))
        elif line[11] != "*":
            out.append((line[0], int(line[2]), int(line[3]), line[4], int(line[6]), int(line[7]), line[11], line[8]))
    return out


def kept_case(output, function, ranks):
    """topk and threshold: the pairs that are kept, the best of a query primary, in all three formats alike."""
    rng = np.random.default_rng(37)
    b = [word(rng, n) for n in rng.integers(40, 120, 9)]
    a = [near(rng, b[k % 9], share=0.2) for k in range(20)] + ["A" * 15]
    if output == "threshold" and function == "edit":
        keys = {"threshold": 45}
    else:
        keys = {"k": 3} if output == "topk" else {"threshold": 12}
    files = {}
    for ending in ("sam", "paf", "tsv"):
        got = run(a, b, function, ranks, output=output, alignment=suite.path(f"kept.{ending}"), **keys)
        files[ending] = parsed(f"kept.{ending}")
    check(files["sam"] == files["paf"] == files["tsv"], "the formats differ")
    kept = got["pairs"] if output == "threshold" else \
        [(i, j) for i, row in enumerate(got["neighbours"]) for j in row]
    want = [(f"q{i}", f"r{j}", v) for (i, j), v in zip(kept, got["values"].ravel())]
    want = [w for w in want if function == "edit" or w[2] != 0]
    check([(x[0], x[3], float(x[7])) for x in files["sam"]] == want, "not the pairs")
    best = {}
    for name, _, v in want:
        best[name] = min(best.get(name, v), v) if function == "edit" else max(best.get(name, v), v)
    seen = set()
    for line, (name, _, v) in zip([x for x in records("kept.sam")[1] if not int(x[1]) & 4], want):
        primary = v == best[name] and name not in seen
        seen |= {name} if primary else set()
        check(int(line[1]) == (0 if primary else 256) and (line[9] == "*") == (not primary), f"flag: {line}")
    table = plain("ACGT", 2, -3)
    for x in files["tsv"]:
        part, other = a[int(x[0][1:])][x[1]:x[2]], b[int(x[3][1:])][x[4]:x[5]]
        check(worth(x[6], part, other, function, table, (5, 2))[0] == float(x[7]), f"{x}")


def same_bytes_case():
    """Lengths of 100:1 on 1, 2 and 3 ranks: the same files; units of like cost."""
    rng = np.random.default_rng(38)
    a, b = pairs(rng, [int(n) for n in 10 ** rng.uniform(0.8, 2.8, 400)])
    seen = set()
    for ranks in (1, 2, 3):
        tree = deck(a, b, "global", alignment=suite.path("bytes.sam"))
        with suite.result(tree, ranks=ranks, args=("-s", "run.units=24")) as file:
            values = file["results/values"][()].tobytes()
            counts = file["run/units"]["count"]
        with open(suite.path("bytes.sam"), "rb") as sam:
            seen.add((values, sam.read()))
        cells = max(len(x) * len(y) for x, y in zip(a, b)) / 64
        check(len(counts) > 12 and counts.max() < 2 * counts.mean() + 2 * cells, f"units are uneven: {counts}")
    check(len(seen) == 1, "results depend on the ranks")


def samtools_case():
    """samtools reads what is written, and counts the same."""
    if shutil.which("samtools") is None:
        return "left out: no samtools"
    rng = np.random.default_rng(39)
    a, b = pairs(rng, list(rng.integers(1, 150, 60)))
    run(a, b, "local", alignment=suite.path("tools.sam"))
    mapped = len(parsed("tools.sam"))

    def tool(*words):
        done = subprocess.run(["samtools", *words, suite.path("tools.sam")], capture_output=True, text=True, check=False)
        check(done.returncode == 0 and done.stderr == "", f"samtools {words}: {done.stderr}")
        return done.stdout
    check(int(tool("view", "-c")) == 60 and int(tool("view", "-c", "-F", "4")) == mapped, "samtools view -c")
    tool("quickcheck")
    stats = dict(line.split("\t")[1:3] for line in tool("stats").splitlines() if line.startswith("SN"))
    letters = sum(x[2] - x[1] for x in parsed("tools.sam"))
    check(int(stats["bases mapped (cigar):"]) == letters, "samtools stats")
    return None


def again_case(function, ranks):
    """Stages of large tables that tracebacks compute again are in the plan's items: as many as runs count."""
    rng = np.random.default_rng(41)
    a, b = pairs(rng, [3000, 40, 31000, 700, 32500, 90])
    b[0], b[2], b[4] = near(rng, a[0]), near(rng, a[2]), near(rng, a[4])
    tree = deck(a, b, function, alignment="again.paf")
    name = suite.deck("again.yaml", {**tree, "run": {"device": "cpu"}})
    plan = suite.run(["plan", name], ranks)
    items = sum(float(x) for x in re.findall(r"^ +\d+  .{34} +\d+ +([\d.e+]+) ", plan.out[plan.out.index("items"):], re.M))
    done = suite.run(["run", name, "-o", suite.path("again.h5"), "--overwrite"], ranks)
    counted = sum(int(x) for x in re.findall(r"computed (\d+) cells again on the way back", done.out))
    check(done.status == 0 and counted > 2e7, done.tail())
    want = (sum(len(x) * len(y) for x, y in zip(a, b)) + counted) / 64 + 4 * len(a)
    check(abs(items / want - 1) < 2e-3, f"{items} items planned, {want} computed, {counted} cells of them again")


# ----------------------------------------------------------------- refused


def refused_case():
    rng = np.random.default_rng(40)
    a, b = pairs(rng, [20, 30, 40])

    def refused(words, tree, *args):
        done = suite.run(["run", suite.deck("bad.yaml", tree), "-o", suite.path("bad.h5"), *args])
        check(done.status == 2 and all(w in done.err for w in words), f"{words} expected: {done.tail()}")

    refused(["tri.other", "has 3", "has 2"], deck(a, b[:2], "edit"))
    refused(["tri.output", "other"], deck(a, None, "edit"))
    refused(["tri.alignment", "not used by output histogram"],
            deck(a, b, "edit", "histogram", bins=4, range=[0, 4], alignment="x.sam"))
    refused(["tri.alignment", ".sam, .paf or .tsv"], deck(a, b, "edit", alignment="x.bam"))
    refused(["tri.alignment"], deck(a, b, "edit", alignment="no/such/folder/x.sam"))
    points = {"family": "tri", "tri": {"function": "euclidean", "output": "topk", "k": 1, "alignment": "x.sam",
                                       "generator": {"kind": "uniform", "n": 9}}}
    refused(["tri.alignment", "not used by function euclidean"], points)
    long = ["ACGT" * 5000, "AC"]
    refused(["tri.alignment", "'q0' with 'r0'", "bytes"], deck(long, long, "edit", alignment="x.sam"),
            "-s", "run.device=cpu", "-s", "run.host_memory=64MiB", "-s", "run.threads=2")
    for names in (("a,b", "c", "a_b"), ("(x", "b", ")x"), ("3", "2", "")):
        tree = deck(a, b, "edit", alignment="x.sam")
        suite.write("b.fa", "".join(f">{name}\n{s}\n" for name, s in zip(names, b)))
        refused(["tri.alignment", f"'{names[0 if names[2] else 1]}'", f"'{names[2]}'", ".paf"], tree)
        tree["tri"]["alignment"] = suite.path("named.paf")
        done = suite.run(["run", suite.deck("named.yaml", tree), "-o", suite.path("named.h5"), "--overwrite"])
        check(done.status == 0, done.tail())
    there = suite.write("there.sam", "mine\n")
    refused(["tri.alignment", "exists"], deck(a, b, "edit", alignment=there))
    with open(there, encoding="ascii") as file:
        check(file.read() == "mine\n", "a file that was there is gone")
    done = suite.run(["run", suite.deck("good.yaml", deck(a, b, "edit", alignment=there)), "-o", suite.path("good.h5"),
                      "--overwrite"])
    check(done.status == 0 and len(records("there.sam")[1]) == 3, done.tail())
    os.unlink(there)


if __name__ == "__main__":
    suite = harness.Suite(__doc__, jobs=3)
    for k, name in enumerate(("edit", "global", "local")):
        suite.case(f"paired {name}", paired_case, name, 1 + k)
        suite.case(f"paired {name}, SAM", paired_sam_case, name, 3 - k)
        suite.case(f"long {name}", long_case, name)
    suite.case("global by a matrix", matrix_case, "global", 2)
    suite.case("local by a matrix", matrix_case, "local", None)
    suite.case("growing", growing_case)
    suite.case("peers", peers_case)
    suite.case("points", points_case, 2)
    suite.case("topk local", kept_case, "topk", "local", 2)
    suite.case("threshold edit", kept_case, "threshold", "edit", None)
    suite.case("threshold local", kept_case, "threshold", "local", None)
    suite.case("topk global", kept_case, "topk", "global", None)
    suite.case("the same bytes", same_bytes_case)
    suite.case("samtools", samtools_case)
    suite.case("computed again, global", again_case, "global", None)
    suite.case("computed again, edit", again_case, "edit", 2)
    suite.case("refused", refused_case)
    suite.end()
