#!/usr/bin/env python3
"""A band of diagonals gives what the whole table gives, byte for byte, and that is what plain tables of numpy give.

usage: dp_similar.py TESELA [--fast] [ONLY]

Random sequences of 0 to 6000 letters, from equal ones to strangers, also of unequal lengths: a copy with
letters changed, left out and inserted, a part of the other, one long gap, gaps that move apart and come together
again, repeats that align in many ways. Unit and weighted edit distances, common subsequences and alignments with
affine gaps, plain and by a matrix, value and path, on 1, 2, 3 and 5 ranks. Where sequences are alike a band must
have been enough; strangers may not cost more than a fortieth of the table besides. A terminal sees how far a band is,
and SIGINT ends it at once. Where there is a card, a root that drives it has its node's cores compute the band, with the
results of the card's table.
"""
import os
import re
import signal
import subprocess

import harness
from harness import check, np
from dp_truth import LETTERS, letters, mutated

suite = harness.Suite(__doc__, jobs=4)
FAST = suite.fast
MATRIX = np.array([[5, -4, -1, -3], [-2, 7, -3, 0], [-1, -3, 6, -4], [-3, 1, -4, 4]])  # not symmetric


def pair(kind, n, seed):
    """Two sequences of about n letters."""
    rng = np.random.default_rng(seed)
    a = letters(rng, n)
    gap, at = n // 100, n // 3
    if kind == "equal":
        return a, a
    if kind.startswith("mutated"):
        return a, mutated(rng, a, float(kind.split()[1]))
    if kind == "half":  # of b
        return a[: n // 2], a
    if kind == "beginning":
        return a[: n - gap], a
    if kind == "end":
        return a, mutated(rng, a[gap:], 0.02)
    if kind == "long gap":
        return a, mutated(rng, a[:at] + a[at + gap:], 0.01)
    if kind == "gaps there and back":  # the path leaves the diagonal where it begins and comes back
        return a, a[:at] + letters(rng, 3 * gap) + a[at:2 * at] + a[2 * at + 3 * gap:]
    if kind == "repeats":  # shifted by a period, and many alignments are as good
        return "ACGGT" * (n // 5), "ACGGT" * (n // 5 - 3) + "AC"
    if kind == "repeats that differ":
        return mutated(rng, a[:100] * (n // 100), 0.02), mutated(rng, a[:100] * (n // 100), 0.02)
    if kind == "protein":
        a = letters(rng, n, LETTERS["protein"])
        return a, "".join(letters(rng, 1, LETTERS["protein"]) if x < 0.1 else y for x, y in zip(rng.random(n), a))
    if kind == "one letter":
        return "A" * n, "A" * (n - gap)
    if kind == "no letter in common":
        return letters(rng, n, "AC"), letters(rng, n, "GT")
    return a, letters(rng, n + gap)  # strangers


KINDS = ["equal", "mutated 0.002", "mutated 0.03", "mutated 0.15", "mutated 0.4", "half", "beginning", "end", "long gap",
         "gaps there and back", "repeats", "repeats that differ", "one letter", "no letter in common", "strangers"]
ALIKE = KINDS[:3]
PROBLEMS = {
    "unit edit": {"problem": "edit"},
    "weighted edit": {"problem": "edit", "edit": {"insert": 3, "delete": 2, "substitute": 4}},
    "dear letters": {"problem": "edit", "edit": {"insert": 1, "delete": 0, "substitute": 9}},
    "lcs": {"problem": "lcs"},
    "global": {"problem": "global"},
    "costs": {"problem": "global", "scores": {"match": 0, "mismatch": -4, "open": 6, "extend": 2}},
    "no opening": {"problem": "global", "scores": {"match": 1, "mismatch": -1, "open": 0, "extend": 1}},
    "free gaps": {"problem": "global", "scores": {"match": 3, "mismatch": -2, "open": 4, "extend": 0}},
    "matrix": {"problem": "global", "scores": {"matrix": "made.txt", "open": 5, "extend": 2}},
}

# ------------------------------------------------------------------ plain tables


def plain_edit(a, b, insert, delete, replace):
    """Cheapest way from a to b: rows of numpy, letters of b by the least of all before."""
    steps = insert * np.arange(len(b) + 1)
    row = steps.copy()
    for letter in a:
        best = np.minimum(row + delete, np.concatenate([[row[0] + delete], row[:-1] + replace * (b != letter)]))
        row = np.minimum.accumulate(best - steps) + steps
    return int(row[-1])


def plain_global(a, b, score, gap_open, extend):
    """Gotoh 1982; a gap in a, from the best of all cells before it."""
    columns = extend * np.arange(len(b) + 1)
    h = -columns - gap_open
    h[0] = 0
    f = np.full(len(b) + 1, -10**9)
    for letter in a:
        f = np.maximum(f, h - gap_open) - extend
        best = np.concatenate([[f[0]], np.maximum(f[1:], h[:-1] + score[letter][b])])
        gap = np.maximum.accumulate(best + columns)[:-1] - columns[1:] - gap_open
        h = best.copy()
        h[1:] = np.maximum(best[1:], gap)
    return int(h[-1])


def truth(name, a, b):
    section = PROBLEMS[name]
    x, y = (np.array(["ACGT".index(c) for c in s], dtype=np.int64) for s in (a, b))
    if section["problem"] == "lcs":
        return (len(a) + len(b) - plain_edit(x, y, 1, 1, 2)) // 2
    if section["problem"] == "edit":
        costs = section.get("edit", {})
        return plain_edit(x, y, costs.get("insert", 1), costs.get("delete", 1), costs.get("substitute", 1))
    scores = {"match": 2, "mismatch": -3, "open": 5, "extend": 2, **section.get("scores", {})}
    plain = np.where(np.eye(4, dtype=bool), scores["match"], scores["mismatch"])
    return plain_global(x, y, MATRIX if name == "matrix" else plain, scores["open"], scores["extend"])


# ------------------------------------------------------------------ runs


def run(name, mode, ranks=1, **more):
    """Results and what was said of the band."""
    section = {**PROBLEMS[name], "mode": mode, "alphabet": "dna", "a": {"file": "pair.fasta"},
               "b": {"file": "pair.fasta", "record": 2}, **more}
    tree = {"family": "dp", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "dp": section}
    with suite.result(tree, ranks=ranks if ranks > 1 else None, timeout=300) as file:
        said = re.search(r"([\d.e+]+) of the table's ([\d.e+]+) cells in .*; (no path|not certain)",
                         file["run/facts"][()].decode())
        made = harness.datasets(file)
        made.update({f"line {k}": np.asarray(v) for k, v in file["results"].attrs.items()})
    return made, (float(said[1]) / float(said[2]), said[3] == "no path") if said else (0, False)


def write_pair(a, b):
    suite.write("pair.fasta", f">a\n{a}\n>b\n{b}\n")
    suite.write("made.txt", "   A C G T\n" + "".join(f"{'ACGT'[x]} {' '.join(map(str, MATRIX[x]))}\n" for x in range(4)))


def same(name, kind, n, seed, ranks=()):
    a, b = pair(kind, n, seed)
    write_pair(a, b)
    notes = []
    for mode in ("value", "recover"):
        whole, (part, certain) = run(name, mode, band="off")
        check(not certain and part == 0, "a band although it is off")
        made, (part, certain) = run(name, mode)
        harness.check_same(whole, made)
        check(part <= (0.6 if certain else 0.025), f"{100 * part:.3g} % of the table in bands")
        notes.append(f"{100 * part:.2g} %{'' if certain else ' in vain' if part else ''}")
        for n_ranks in ranks:
            made, (part, certain) = run(name, mode, n_ranks)
            harness.check_same(whole, made)
            check(part <= (0.6 if certain else 0.025) / n_ranks, f"{100 * part:.3g} % of the table in bands on {n_ranks} ranks")
    if len(a) * len(b) < 2e7:
        check(whole["goal"][0] == truth(name, a, b), f"goal {whole['goal'][0]}, a plain table {truth(name, a, b)}")
    return ", ".join(notes)


def saves(name, kind, n):
    """Sequences that are alike need a small part."""
    write_pair(*pair(kind, n, 77))
    _, (part, certain) = run(name, "value")
    check(certain and part < 0.35, f"{100 * part:.3g} % of the table, {'certain' if certain else 'in vain'}")
    return f"{100 * part:.2g} %"


def fits():
    """A solution whose table takes more memory than there is, but whose band does not; strangers are refused."""
    n = 300000
    section = {"memory": "8 MiB", "mode": "recover", "alphabet": "dna", "a": {"random": n, "seed": 3}}
    run_keys = {"device": "cpu", "threads": 1}
    tree = {"family": "dp", "run": run_keys, "dp": {"problem": "global", **section, "b": {"mutate": 0.0001, "seed": 4}}}
    with suite.result(tree) as file:
        path, goal = file["results/path"][()], file["results/goal"][0]
    check(path[path[:, 0] != 3, 1].sum() > 0.99 * n and goal > 1.9 * n, "no path")
    tree["dp"]["b"] = {"random": n, "seed": 4}
    refused = suite.run(["run", suite.deck("refused.yaml", tree), "-o", suite.path("refused.h5")])
    check(refused.status == 2 and "dp.memory" in refused.err, refused.tail())


PLANNED = {"mutated 0.03": (0, 25), "long gap": (0, 25), "end": (0, 25), "half": (45, 60), "strangers": (60, 100),
           "protein": (0, 40)}
SAID = r"a path has the (?:distance|score|length) (-?\d+): (?:a band of about ([\d.]+) %|no band) of the table's [\d.e+]+"


def plans(name, kind):
    """What `tesela plan` says is what a run says: a score that a path has, from which follows about what is computed."""
    write_pair(*pair(kind, 20000, 5))
    section = {**PROBLEMS[name], "alphabet": "dna", "a": {"file": "pair.fasta"}, "b": {"file": "pair.fasta", "record": 2}}
    if kind == "protein":
        section["alphabet"] = "protein"
        section.update({"scores": {"matrix": "BLOSUM62", "open": 10, "extend": 1}} if name == "matrix" else {})
    deck = suite.deck("plan.yaml", {"family": "dp", "run": {"device": "cpu", "threads": 1}, "dp": section})
    said = suite.run(["plan", deck])
    made = re.search(SAID + r" cells is certain; at least ([\d.]+) % are needed", said.out)
    check(said.status == 0 and made, said.tail() + said.out)
    likely, least = float(made[2] or 100), float(made[3])
    check(PLANNED[kind][0] <= likely <= PLANNED[kind][1] and least <= likely, f"{likely} %, at best {least} %")
    with suite.result({"family": "dp", "run": {"device": "cpu", "threads": 1}, "dp": section}) as file:
        facts, goal = file["run/facts"][()].decode(), int(file["results/goal"][0])
    check(made[0] in facts, facts)
    check(("by the shortcut" in said.out) == (likely <= 60), said.out)
    check(int(made[1]) >= goal if "distance" in made[0] else int(made[1]) <= goal, f"{made[1]}, but the optimum is {goal}")
    part = re.search(r"([\d.e+]+) of the table's ([\d.e+]+) cells in .*; no path", facts)
    check(bool(part) == (likely <= 60), facts)
    check(not part or abs(float(part[1]) / float(part[2]) - likely / 100) < 0.05, facts)
    return f"{likely} %"


def slow_root():
    """A band on rank 0 that would take longer than the table on both ranks is not computed."""
    a, b = pair("mutated 0.03", 30000, 5)
    write_pair(a, b)
    section = {**PROBLEMS["global"], "alphabet": "dna", "a": {"file": "pair.fasta"}, "b": {"file": "pair.fasta", "record": 2}}
    tree = {"family": "dp", "dp": section, "run": {"device": "cpu", "threads": 1, "ranks": "all", "calibrate": "always"}}
    parts, goals = [], []
    for slow in (1, 30):
        with suite.result(tree, ranks=2, env={"TSL_TEST_SLOW": f"0:{slow}"}) as file:
            parts.append("no path outside" in file["run/facts"][()].decode())
            goals.append(int(file["results/goal"][0]))
    check(parts == [True, False] and goals[0] == goals[1], f"a band: {parts}; {goals}")


def on_card(mode, ranks, args):
    """A table that takes a card a second: the cores of its host are faster by a band."""
    section = {"problem": "global", "mode": mode, "alphabet": "dna", "a": {"random": 1500000, "seed": 1},
               "b": {"mutate": 0.0005, "seed": 2}, **({"memory": "256 MiB"} if mode == "recover" else {})}
    made = []
    for band in ("off", "auto"):
        tree = {"family": "dp", "run": {"ranks": "all"}, "dp": {**section, "band": band}}
        with suite.result(tree, ranks if ranks > 1 else None, args=args) as file:
            facts = file["run/facts"][()].decode()
            check(("no path outside" in facts) == (band == "auto"), facts)
            made.append({**harness.datasets(file), **{key: np.asarray(v) for key, v in file["results"].attrs.items()}})
    harness.check_same(*made)


def on_terminal(n, mode, number=None):
    """The parts that a terminal is shown of a band, in per cent; with a signal sent after the first, the exit status."""
    section = {"problem": "global", "mode": mode, "alphabet": "dna", "a": {"random": n, "seed": 1}, "b": {"mutate": 0.05}}
    section.update({"memory": "2 GiB"} if mode == "recover" else {})
    deck = suite.deck(f"long_{mode}.yaml", {"family": "dp", "run": {"device": "cpu", "threads": 1}, "dp": section})
    out, shown = suite.path(f"long_{mode}.h5"), b""
    master, slave = os.openpty()
    process = subprocess.Popen(suite.command(["run", deck, "-o", out, "--overwrite"], None), stdout=subprocess.PIPE,
                               stderr=slave, env=suite.environment(), start_new_session=True)
    os.close(slave)
    try:
        while piece := os.read(master, 4096):
            shown += piece
            if number and b"%" in shown:
                process.send_signal(number)
                number = None
    except OSError:
        pass  # the end of a terminal
    os.close(master)
    facts = process.communicate()[0].decode()
    return [float(part) for part in re.findall(rb"([\d.]+) %", shown)], process.returncode, shown.decode() + facts, out


def shows_itself(mode):
    """From little to all, as time goes by: of a solution, too, whose way back computes again."""
    parts, status, said, out = on_terminal(100000 if suite.slow_build else 600000, mode)
    check(status == 0 and os.path.exists(out) and "no path outside" in said, said)
    check(len(parts) > 2 and parts == sorted(parts) and parts[0] < 60 and parts[-1] <= 100, parts)
    return f"{len(parts)} lines, from {parts[0]} to {parts[-1]} %"


def stops():
    """SIGINT after the first line: long before the band would have ended nothing is left."""
    parts, status, said, out = on_terminal(200000 if suite.slow_build else 1500000, "value", signal.SIGINT)
    check(status == 3 and "stopped by signal 2 before the work was done" in said and parts[-1] < 80, f"{status}: {said}")
    check(not os.path.exists(out) and not os.path.exists(out + ".part"), "an output was left behind")
    return f"at {parts[-1]} %"


SIZES = [0, 1, 2, 63, 64, 65, 500, 1400, 1999, 2000]
rounds = np.random.default_rng(11)
names = list(PROBLEMS)
for count, kind in enumerate(KINDS):
    for name in names[count % 2::2] if FAST else names:
        suite.case(f"{name}, {kind}, 4000", same, name, kind, 4000, count)
for count, size in enumerate(SIZES[:7] if FAST else SIZES):
    suite.case(f"{names[count % len(names)]}, {size} letters", same, names[count % len(names)], KINDS[count % 5], size, count)
for count in range(4 if FAST else 60):
    name, kind = names[rounds.integers(len(names))], KINDS[rounds.integers(len(KINDS))]
    suite.case(f"round {count}: {name}, {kind}", same, name, kind, int(rounds.integers(100, 5001)), 100 + count)
for name in ("unit edit", "global") if FAST else names:
    for kind in ("mutated 0.03", "long gap") if FAST else KINDS:
        suite.case(f"{name}, {kind}, 6000, ranks", same, name, kind, 6000, 7, (2, 3, 5))
for name in ("unit edit", "lcs", "global", "costs", "matrix"):
    for kind in ALIKE if name != "costs" else ALIKE[:2]:
        suite.case(f"{name}, {kind}: a small part", saves, name, kind, 8000)
for name in ("unit edit", "global"):
    suite.case(f"{name}, repeats that differ: a small part", saves, name, "repeats that differ", 60000)
suite.case("more than the memory", fits)
suite.case("a slow rank 0", slow_root)
for ranks, args in suite.cards():
    for mode in ("value", "recover"):
        suite.case(f"a card as root, {args[-1]}, {mode}", on_card, mode, ranks, args)
for mode in ("value", "recover"):
    suite.case(f"a terminal, {mode}", shows_itself, mode)
suite.case("an interrupt", stops)
for name in ("unit edit", "lcs", "global", "matrix"):
    for kind in PLANNED:
        suite.case(f"plan: {name}, {kind}", plans, name, kind)
suite.end()
