#!/usr/bin/env python3
"""Sums over the structures of RNA: brute force, ViennaRNA, and runs with each other.

usage: dp_partition.py TESELA [--fast] [ONLY]

Truths: the Boltzmann weights of all structures of short sequences, by loops written again (dp_fold_energy.py);
dp_partition_truth.json, which tools/dp_partition_truth made with ViennaRNA from inputs/dp/made_up.par, for random and for
natural sequences; and where the Python package viennarna is installed, itself with its own parameters.
"""
import json
import math
import os
import random
import re

import harness
from dp_fold_energy import Model, pairs_of, read, short_sequences, structures
from dp_fold_natural import NATURAL
from harness import check, np
from interrupted import compare_contents, contents, go_on_after_kill

try:
    import RNA
except ImportError:
    RNA = None

suite = harness.Suite(__doc__, jobs=4)
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PARAMETERS = os.path.abspath(os.path.join(TOP, "inputs", "dp", "made_up.par"))
SECTIONS = read(PARAMETERS)


def tree_of(letters, mode="table", problem="partition", **keys):
    section = {"problem": problem, "mode": mode, "a": {"text": f'"{letters}"'}, "parameters": PARAMETERS, **keys}
    return {"family": "dp", "run": {"device": "cpu", "threads": 2}, "dp": section}


def solve(letters, mode="table", ranks=None, env=None, **keys):
    return suite.result(tree_of(letters, mode, **keys), ranks=ranks, **({"env": env} if env else {}))


def sums(letters, **keys):
    """Ensemble energy and probabilities [n][n]."""
    with solve(letters, **keys) as file:
        return float(file["results/goal"][0]), file["results/table"][()]


# ------------------------------------------------------------------- truths


def brute_force(letters, celsius, dangles):
    model, kt = Model(SECTIONS, celsius, dangles, exact=True), 1.98717e-3 * (celsius + 273.15)
    n, whole, truth = len(letters), 0, np.zeros((len(letters), len(letters)))
    for structure in structures(letters):
        energy = model.energy(letters, structure)
        if energy is None:
            continue
        weight = math.exp(-energy / 100 / kt)
        whole += weight
        for i, j in structure:
            truth[i, j] += weight
    ensemble, table = sums(letters, temperature=celsius, dangles=dangles)
    check(table.shape == (n, n), str(table.shape))
    check(abs(ensemble + kt * math.log(whole)) < 1e-10, f"{ensemble}, should be {-kt * math.log(whole)}")
    worst = np.abs(table - truth / whole).max()
    check(worst < 1e-12, f"probabilities are off by {worst}")


def brute_cases():
    for letters, celsius, dangles in short_sequences(6):
        suite.case(f"all structures of {letters}", brute_force, letters, celsius, dangles)


def compare(case, least):
    ensemble, table = sums(case["letters"], temperature=case["temperature"], dangles=case["dangles"])
    check(abs(ensemble - case["ensemble"]) <= 2e-7 * abs(ensemble) + 1e-9,  # ViennaRNA gives it in single precision
          f"{ensemble}, ViennaRNA has {case['ensemble']}")
    listed = {(i, j): p for i, j, p in case["pairs"]}
    for (i, j), p in listed.items():
        check(abs(table[i, j] - p) < 1e-8, f"pair {i}, {j}: {table[i, j]}, ViennaRNA has {p}")
    for i, j in np.argwhere(table >= least + 1e-8):
        check((i, j) in listed, f"pair {i}, {j} of {table[i, j]} is not ViennaRNA's")


def natural(case, least):
    compare(case, least)
    check(NATURAL[case["name"]] == case["letters"], "other letters than those of the truth")
    with suite.result(tree_of(case["letters"], "recover", "fold", dangles=case["dangles"])) as file:
        goal, text = int(file["results/goal"][0]), bytes(file["results/structure"][()]).decode("ascii")
    check(goal == case["energy"], f"{goal}, ViennaRNA has {case['energy']}")
    check(Model(SECTIONS, 37, case["dangles"]).energy(case["letters"], pairs_of(text)) == goal, text)


def peer(letters, celsius, dangles):
    """ViennaRNA itself, with its own parameters."""
    own = suite.path("own.par")
    RNA.params_save(own)
    model = RNA.md()
    model.temperature, model.dangles = celsius, dangles
    compound = RNA.fold_compound(letters, model)
    structure, energy = compound.mfe()
    compound.exp_params_rescale(energy)
    truth, ensemble = None, compound.pf()[1]
    truth = np.array(compound.bpp())[1:, 1:]
    found, table = sums(letters, temperature=celsius, dangles=dangles, parameters=own)
    check(abs(found - ensemble) <= 2e-7 * abs(ensemble) + 1e-9, f"{found}, ViennaRNA has {ensemble}")
    worst = np.abs(table - truth).max()
    check(worst < 1e-10, f"probabilities are off by {worst}")
    with suite.result(tree_of(letters, "recover", "fold", parameters=own, temperature=celsius, dangles=dangles)) as file:
        check(int(file["results/goal"][0]) == round(100 * energy), f"{energy}: {structure}")
    with solve(letters, "recover", temperature=celsius, dangles=dangles, parameters=own) as file:
        said, theirs = float(file["results"].attrs["maximum expected accuracy"]), pairs_of(compound.MEA(1.0)[0])
    other = accuracy_of(theirs, truth, 1)  # ViennaRNA's best one, for which it leaves out pairs below 5e-5
    check(-1e-9 < said - other < 1e-3 * len(letters), f"accuracy {said}, of ViennaRNA's structure {other}")
    return f"{worst:.1e}"


def peers():
    dice = random.Random(8)
    for name, letters in NATURAL.items():
        suite.case(f"ViennaRNA itself, {name}", peer, letters, 37, 2)
    for n in (20, 200, 600) if suite.fast else (20, 64, 65, 200, 256, 600, 1000, 3000):
        letters = "".join(dice.choice("ACGUACGUGCN") for _ in range(n))
        for celsius, dangles in ((37, 2),) if n > 1000 else ((37, 2), (20, 0), (61.5, 2)):
            suite.case(f"ViennaRNA itself, {n} letters, {celsius} degrees, {dangles}", peer, letters, celsius, dangles)


def no_overflow():
    """A hairpin whose sum over structures is far beyond what a double holds, and beside it nothing."""
    letters = "A" * 150 + "GC" * 250 + "GAAA" + "GC" * 250 + "N" * 150
    ensemble, table = sums(letters, temperature=0)
    with suite.result(tree_of(letters, "value", "fold", temperature=0)) as file:
        least = int(file["results/goal"][0]) / 100
    check(ensemble < least and ensemble > 1.05 * least, f"ensemble {ensemble}, least energy {least}")
    check(-ensemble / (1.98717e-3 * 273.15) > 2 * 710, "the case is too small")
    check(0.5 < table.max() <= 1 + 1e-9 and np.isfinite(table).all(), f"largest probability {table.max()}")


# ------------------------------------------------------------------- maximum expected accuracy


def accuracy_of(pairs, table, gamma):
    alone = 1 - table.sum(0) - table.sum(1)
    return sum(2 * gamma * table[i, j] - alone[i] - alone[j] for i, j in pairs) + alone.sum()


def best_accuracy(table, gamma):
    """By intervals, plainly: the first letter is alone, or pairs with k."""
    n, alone = len(table), 1 - table.sum(0) - table.sum(1)
    best = np.zeros((n + 2, n + 1))  # [i][j] of letters i..j-1
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n + 1):
            ways = 2 * gamma * table[i, i + 1:j] + best[i + 1, i + 1:j] + best[i + 2:j + 1, j]
            best[i, j] = max(best[i + 1, j] + alone[i], ways.max(initial=-1))
    return best[0, n]


def most_accurate(letters, celsius=37, dangles=2, every=False):
    """No structure is better, and the one that is given is as good as said."""
    _, table = sums(letters, temperature=celsius, dangles=dangles)
    for gamma in (0, 0.3, 1, 4, 1000):
        with solve(letters, "recover", gamma=gamma, temperature=celsius, dangles=dangles) as file:
            text = bytes(file["results/accurate"][()]).decode("ascii")
            said = float(file["results"].attrs["maximum expected accuracy"])
        check(abs(accuracy_of(pairs_of(text), table, gamma) - said) < 1e-9, f"{text} is not worth {said}")
        check(abs(best_accuracy(table, gamma) - said) < 1e-9, f"gamma {gamma}: {said}, better {best_accuracy(table, gamma)}")
        if every:
            best = max(accuracy_of(pairs, table, gamma) for pairs in structures(letters))
            check(abs(best - said) < 1e-9, f"gamma {gamma}: {said}, of all structures {best}")
        check(gamma > 0 or "(" not in text, f"pairs that are worth nothing: {text}")


def accuracies():
    for letters, celsius, dangles in short_sequences(9):
        suite.case(f"most accurate of {letters}", most_accurate, letters, celsius, dangles, True)
    for name in list(NATURAL)[: 2 if suite.fast else 20]:
        if len(NATURAL[name]) <= 200:
            suite.case(f"most accurate, {name}", most_accurate, NATURAL[name])
    suite.case("most accurate, random", most_accurate, "".join(random.Random(4).choice("ACGU") for _ in range(150)))


# ------------------------------------------------------------------- the same on every mix


def same_bytes(letters, mode):
    with solve(letters, mode) as file:
        first = contents(file.filename)
    for ranks in (2, 3, 5):
        with solve(letters, mode, ranks) as file:
            check(contents(file.filename) == first, f"{ranks} ranks differ, mode {mode}")


def on_cards(letters):
    for mode in ("recover", "table", "value"):
        with solve(letters, mode) as file:
            first = contents(file.filename)
        for device, ranks in (("gpu", None), ("gpu,cpu", 2)):
            tree = tree_of(letters, mode)
            tree["run"]["device"] = device
            with suite.result(tree, ranks=ranks) as file:
                check(contents(file.filename) == first, f"{device} differs, mode {mode}")


def same_levels(letters):
    with solve(letters) as file:
        first = contents(file.filename)
    for level in (2, 3, 4):
        file = harness.at_level(level, solve, letters)
        if file is not None:
            with file:
                check(contents(file.filename) == first, f"level {level} differs")


def goes_on(letters, device="cpu"):
    """Killed in the sweep outside, after the four stages inside, and restarted on another number of ranks."""
    tree, ranks = tree_of(letters, "recover"), (2, 3) if device == "cpu" else (1, 1)
    tree["run"]["device"] = device
    found = go_on_after_kill(suite, tree, f"stopped_{device}", *ranks, each=0.3, saves=5 if device == "cpu" else 3)
    with solve(letters, "recover") as whole:
        compare_contents("partition", found, contents(whole.filename))


# ------------------------------------------------------------------- what comes of it


def outputs(letters):
    plot, text = suite.path("dot.ps"), suite.path("centroid.txt")
    _, table = sums(letters)
    deck = suite.deck("out", tree_of(letters, "recover", dot_plot=plot, structure=text, threshold=0.01))
    made = suite.run(["run", deck, "-o", suite.path("out.h5"), "--overwrite"])
    check(made.status == 0, made.tail())
    with harness.h5py.File(suite.path("out.h5"), "r") as file:
        pairs, values = file["results/pairs"][()], file["results/probabilities"][()]
        paired, dots = file["results/paired"][()], bytes(file["results/structure"][()]).decode("ascii")
        path = [tuple(map(int, row)) for row in file["results/path"][()]]
        accurate = bytes(file["results/accurate"][()]).decode("ascii")
    want = np.argwhere(table >= 0.01)
    check((pairs == want).all() and (values == table[want[:, 0], want[:, 1]]).all(), "pairs above the threshold")
    check(np.abs(paired - table.sum(0) - table.sum(1)).max() < 1e-12, "probabilities of letters")
    centroid = sorted((int(i), int(j)) for i, j in np.argwhere(table > 0.5))
    check(path == centroid == pairs_of(dots), f"centroid {dots}")
    energy = Model(SECTIONS).energy(letters, centroid)
    distance = np.where(table > 0.5, 1 - table, table).sum() - np.tril(table).sum()
    check(f"{letters}\n{dots} {{{energy / 100:6.2f} d={distance:.2f}}}\n" in made.out, made.out)
    with open(text, encoding="ascii") as file:
        lines = file.read().splitlines()
    check(lines[:2] == [letters, f"{dots} ({energy / 100:6.2f})"] and len(lines) == 3, "text file")
    best = best_accuracy(table, 1)
    check(lines[2] == f"{accurate} {{{Model(SECTIONS).energy(letters, pairs_of(accurate)) / 100:6.2f} MEA={best:.2f}}}", lines[2])
    with open(plot, encoding="ascii") as file:
        body = file.read()
    boxes = re.findall(r"^(\d+) (\d+) ([0-9.]+) ubox$", body, flags=re.M)
    check([(int(i) - 1, int(j) - 1) for i, j, _ in boxes] == [tuple(map(int, row)) for row in want], "boxes of the plot")
    check(all(abs(float(r) ** 2 - p) < 1e-8 for (_, _, r), p in zip(boxes, values)), "sizes of the boxes")
    check(len(re.findall(r" lbox$", body, flags=re.M)) == len(centroid), "boxes of the centroid")


def trivial():
    for letters in ("", "A", "GGCC", "NNNNNNNNNNNNNNNN"):
        with solve(letters, "recover") as file:
            check(file["results/goal"][0] == 0 and not file["results/paired"][()].any(), letters)
            check(bytes(file["results/structure"][()]).decode("ascii") == "." * len(letters), letters)
        ensemble, table = sums(letters)
        check(ensemble == 0 and not table.any(), letters)


def summary_of_fold():
    letters = NATURAL["TAR element of HIV-1"]
    for more in ("", "A" * (101 - len(letters))):
        deck = suite.deck("shown", tree_of(letters + more, "recover", "fold"))
        made = suite.run(["run", deck, "-o", suite.path("shown.h5"), "--overwrite"])
        check(made.status == 0, made.tail())
        with harness.h5py.File(suite.path("shown.h5"), "r") as file:
            text = bytes(file["results/structure"][()]).decode("ascii")
            line = f"{letters}{more}\n{text} ({int(file['results/goal'][0]) / 100:6.2f})\n"
        check((line in made.out) == (more == ""), made.out)


def refused(keys, *words):
    run = suite.run(["run", suite.deck("bad", tree_of("GGG", **keys)), "-q", "-o", suite.path("bad.h5")])
    check(run.status == 2, f"status {run.status}: {run.tail()}")
    for word in words:
        check(word in run.err, f"'{word}' is not in: {run.err}")


def main():
    with open(os.path.join(TOP, "tests", "accept", "dp_partition_truth.json"), encoding="ascii") as file:
        truth = json.load(file)
    brute_cases()
    for k, case in enumerate(truth["cases"]):
        suite.case(f"ViennaRNA's numbers {k}", compare, case, truth["least"])
    for case in truth["natural"]:
        suite.case(f"{case['name']}, dangles {case['dangles']}", natural, case, truth["least"])
    accuracies()
    suite.case("gamma in mode table", refused, {"gamma": 2}, "dp.gamma", "mode table")
    suite.case("gamma below 0", refused, {"mode": "recover", "gamma": -1}, "dp.gamma")
    if RNA is not None:
        peers()
    dice = random.Random(3)
    letters = "".join(dice.choice("ACGU") for _ in range(900))
    for mode in ("recover", "table", "value"):
        suite.case(f"900 letters on 1, 2, 3, 5 ranks, {mode}", same_bytes, letters, mode)
    suite.case("levels of SIMD", same_levels, letters[:300])
    suite.case("stopped and restarted", goes_on, letters)
    suite.case("no overflow", no_overflow)
    suite.case("outputs", outputs, NATURAL["tRNA-Phe of yeast, unmodified"])
    suite.case("nothing to pair", trivial)
    suite.case("the structure in the summary", summary_of_fold)
    suite.case("dangles 1", refused, {"dangles": 1}, "dp.dangles", "0 or 2")
    suite.case("threshold in mode table", refused, {"threshold": 0.1}, "dp.threshold", "mode table")
    suite.case("recovery elsewhere", refused, {"mode": "recover", "recover": "host"}, "dp.recover", "not used")
    suite.case("memory", refused, {"mode": "recover", "memory": "64 KiB", "a": {"random": 500}}, "dp.memory")
    if " gpu0 " in suite.run(["devices"]).out:
        for n in (5, 256, 900):
            suite.case(f"{n} letters on a card, and with a socket beside it", on_cards, letters[:n])
        suite.case("a card, stopped and restarted", goes_on, letters, "gpu")
    suite.end()


main()
