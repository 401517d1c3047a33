#!/usr/bin/env python3
"""Foldings of RNA: energies and structures against brute force, ViennaRNA's numbers, and each other.

usage: dp_fold.py TESELA [--fast] [ONLY]

Truths: all structures of short sequences, by loops written again (dp_fold_energy.py); dp_fold_truth.json,
which tools/dp_fold_truth made with ViennaRNA from the same parameters, inputs/dp/made_up.par. Where there is a
card, it solves every case too.
"""
import io
import json
import os
import random
from contextlib import redirect_stdout

import dp_fold_parameters
import harness
from dp_fold_energy import Model, pairs_of, read, short_sequences, structures
from harness import check, np

suite = harness.Suite(__doc__, jobs=4)
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PARAMETERS = os.path.abspath(os.path.join(TOP, "inputs", "dp", "made_up.par"))
SECTIONS = read(PARAMETERS)
FORBIDDEN = 2 ** 30
DEVICES = ("cpu", "gpu") if " gpu0 " in suite.run(["devices"]).out else ("cpu",)


def solve(letters, mode="recover", ranks=None, env=None, parameters=PARAMETERS, device="cpu", **keys):
    section = {"problem": "fold", "mode": mode, "a": {"text": f'"{letters}"'}, "parameters": parameters, **keys}
    tree = {"family": "dp", "run": {"device": device, "threads": 2}, "dp": section}
    return suite.result(tree, ranks=ranks, **({"env": env} if env else {}))


def text_of(file):
    return bytes(file["results/structure"][()]).decode("ascii")


def solution(letters, **more):
    """Energy and structure, which must agree with one another and with the path."""
    found = set()
    for device in DEVICES:
        with solve(letters, device=device, **more) as file:
            goal, text = int(file["results/goal"][0]), text_of(file)
            path = [tuple(map(int, row)) for row in file["results/path"][()]]
        check(path == pairs_of(text), f"path {path} of {text}")
        found.add((goal, text))
    check(len(found) == 1, f"devices differ: {found}")
    return found.pop()


# ------------------------------------------------------------------- truths


def brute_force(letters, celsius, dangles):
    model = Model(SECTIONS, celsius, dangles)
    energies = [e for e in (model.energy(letters, s) for s in structures(letters)) if e is not None]
    goal, text = solution(letters, temperature=celsius, dangles=dangles)
    check(goal == min(energies), f"{goal}, should be {min(energies)}, of {len(energies)} structures of {letters}")
    check(model.energy(letters, pairs_of(text)) == goal, f"{text} has not {goal}")


def brute_cases():
    for letters, celsius, dangles in short_sequences(5):
        suite.case(f"all structures of {letters}", brute_force, letters, celsius, dangles)


def peer(cases):
    for case in cases:
        goal, text = solution(case["letters"], temperature=case["temperature"], dangles=case["dangles"])
        check(goal == case["energy"], f"{goal}, ViennaRNA has {case['energy']}: {case}")
        model = Model(SECTIONS, case["temperature"], case["dangles"])
        check(model.energy(case["letters"], pairs_of(text)) == goal, f"{text} has not {goal}")
        check(model.energy(case["letters"], pairs_of(case["structure"])) == goal, "the truth contradicts itself")


def same_parameters():
    made = io.StringIO()
    with redirect_stdout(made):
        dp_fold_parameters.main()
    with open(PARAMETERS, encoding="ascii") as file:
        check(file.read() == made.getvalue(), "inputs/dp/made_up.par is not what dp_fold_parameters.py writes")


# ------------------------------------------------------------------- ranks, levels, tables


def everything(file):
    return {name: file["results"][name][()].tobytes() for name in file["results"]}


def same_bytes(letters, mode):
    with solve(letters, mode) as file:
        first = everything(file)
    cards = (("gpu", None), ("gpu,cpu", 2), ("cpu,gpu,cpu", 3)) if "gpu" in DEVICES else ()
    for device, ranks in (("cpu", 2), ("cpu", 3), ("cpu", 5), *cards):
        with solve(letters, mode, ranks, device=device) as file:
            check(everything(file) == first, f"{ranks} ranks on {device} differ, mode {mode}")


def same_levels(letters):
    with solve(letters, "table") as file:
        first = everything(file)
    for level in (2, 3, 4):
        file = harness.at_level(level, solve, letters, "table")
        if file is not None:
            with file:
                check(everything(file) == first, f"level {level} differs")


def table(letters):
    """V of all pairs is the least energy of what they enclose, of short stretches by brute force."""
    model = Model(SECTIONS)
    with solve(letters, "table", device=DEVICES[-1]) as file:
        values = file["results/table"][()]
    n = len(letters)
    check(values.shape == (n + 1, n + 1), str(values.shape))
    check(not np.tril(values).any(), "below the diagonal")
    for i in range(n):
        for j in range(i, n):
            outside = model.outside("exterior", letters[i] + letters[j], letters[i - 1] if i else None,
                                    letters[j + 1] if j + 1 < n else None) if letters[i] + letters[j] in (
                                        "GC", "CG", "AU", "UA", "GU", "UG") else 0
            all_of = [model.energy(letters, s) for s in structures(letters, i, j + 1) if (i, j) in s]
            least = min((e - outside for e in all_of if e is not None), default=FORBIDDEN)
            check(values[i, j + 1] == least, f"V[{i}][{j + 1}] is {values[i, j + 1]}, should be {least}")


def trivial():
    for letters in ("", "A", "GGCC", "NNNNNNNNNNNNNNNN", "GNNNNNNNNN"):
        goal, text = solution(letters)
        check(goal == 0 and text == "." * len(letters), f"{letters}: {goal} {text}")


def structure_file():
    name = suite.path("s.txt")
    goal, text = solution("GGGGAAAACCCCN", structure=name)
    with open(name, encoding="ascii") as file:
        check(file.read() == f"GGGGAAAACCCCN\n{text} ({goal / 100:6.2f})\n", "text file")


# ------------------------------------------------------------------- refusals


def refused(text, *words):
    """The parameter file is refused, with words in the message."""
    name = suite.write("bad.par", text)
    tree = {"family": "dp", "dp": {"problem": "fold", "a": {"text": '"GGGAAACCC"'}, "parameters": name}}
    run = suite.run(["run", suite.deck("bad", tree), "-q", "-o", suite.path("bad.h5")])
    check(run.status == 2, f"status {run.status}: {run.tail()}")
    for word in ("dp.parameters", "bad.par", *words):
        check(word in run.err, f"'{word}' is not in: {run.err}")


def refusals():
    with open(PARAMETERS, encoding="ascii") as file:
        good = file.read()
    lines = good.split("\n")
    at = lines.index("# stack") + 1  # its first row is line at + 1
    without = good[:good.index("# bulge\n")] + good[good.index("# bulge_enthalpies"):]
    for name, text, words in (
            ("nothing", "", (":1:", "first line")),
            ("another version", good.replace("v2.0", "v1.8"), (":1:", "v2.0")),
            ("a missing section", without, ("section bulge is missing",)),
            ("a short row", "\n".join(lines[:at] + [lines[at].rsplit(None, 1)[0]] + lines[at + 1:]),
             ("section stack", "48 of 49")),
            ("a row too many", "\n".join(lines[:at] + [lines[at]] + lines[at:]),
             (f":{at + 8}:", "section stack", "after its last number")),
            ("a word", good.replace("# stack\n", "# stack\n minus ", 1), (f":{at + 1}:", "section stack", "'minus'")),
            ("half a number", good.replace("# stack\n", "# stack\n 1.5 ", 1), (f":{at + 1}:", "section stack", "'1.5'")),
            ("a large number", good.replace("# stack\n", "# stack\n 9999999 ", 1), ("section stack", "2^20")),
            ("an unknown section", good.replace("# stack\n", "# stacks\n", 1), (f":{at}:", "section stacks")),
            ("a section twice", good.replace("# END", good[good.index("# NINIO"):good.index("# Misc")] + "# END"),
             ("section NINIO", "twice")),
            ("a hairpin too long", good.replace("# Triloops\n", "# Triloops\nGAAAAC 10 10\n"),
             ("section Triloops", "'GAAAAC'", "5 letters")),
            ("a hairpin of none", good.replace("# Triloops\n", "# Triloops\nGANAC 10 10\n"), ("'GANAC'",)),
            ("cut off", good[:good.index("\n", len(good) // 2)], ("section int", "numbers")),
    ):
        suite.case(f"parameters: {name}", refused, text, *words)


def no_file(keys, *words):
    section = {"problem": "fold", "a": {"text": '"GGG"'}, **keys}
    run = suite.run(["run", suite.deck("bad", {"family": "dp", "dp": section}), "-q", "-o", suite.path("bad.h5")])
    check(run.status == 2, f"status {run.status}: {run.tail()}")
    for word in words:
        check(word in run.err, f"'{word}' is not in: {run.err}")


def main():
    with open(os.path.join(TOP, "tests", "accept", "dp_fold_truth.json"), encoding="ascii") as file:
        cases = json.load(file)["cases"]
    brute_cases()
    for k in range(0, len(cases), 10):
        suite.case(f"ViennaRNA's numbers {k}..", peer, cases[k:k + 10])
    suite.case("the parameters are made as they say", same_parameters)
    dice = random.Random(3)
    letters = "".join(dice.choice("ACGU") for _ in range(900))
    for mode in ("recover", "table"):
        suite.case(f"900 letters on 1, 2, 3, 5 ranks, {mode}", same_bytes, letters, mode)
    suite.case("levels of SIMD", same_levels, letters[:300])
    suite.case("table", table, "GGCAGAAACUGAAACCC")
    suite.case("nothing to pair", trivial)
    suite.case("text file", structure_file)
    refusals()
    suite.case("no parameters", no_file, {}, "needs the key parameters")
    suite.case("a file that is not there", no_file, {"parameters": "none.par"}, "dp.parameters", "none.par")
    suite.case("dangles 1", no_file, {"parameters": PARAMETERS, "dangles": 1}, "dp.dangles", "0 or 2")
    suite.case("memory", no_file, {"parameters": PARAMETERS, "mode": "recover", "memory": "64 KiB",
                                   "a": {"random": 500}}, "dp.memory")
    suite.end()


main()
