#!/usr/bin/env python3
"""Runs of the frames of an XYZ file: beside runs of single frames and PySCF, choice, files that are wrong, restarts.

usage: xc_series.py TESELA [--fast] [ONLY]

Truth: xc_truth.json, which tools/xc_truth made with PySCF.
"""
import json
import os
import re
import signal
import sys
import time

import harness
from harness import check, np
from xc_harness import near, solve

suite = harness.Suite(__doc__, jobs=2)
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
with open(os.path.join(HERE, "xc_truth.json"), encoding="ascii") as truth_file:
    TRUTH = {case["name"]: case for case in json.load(truth_file)["cases"]}
SYMBOLS = [words.split()[0] for words in TRUTH["water"]["atoms"].split("; ")]
WATER = np.array([[float(x) for x in words.split()[1:]] for words in TRUTH["water"]["atoms"].split("; ")])
MOVES = np.array([[0, 0, 0.03], [0.05, 0.01, 0], [0.02, 0, -0.04]])
PATH = [WATER + k * MOVES for k in range(-2, 5)]  # the third frame is PySCF's water


def xyz(places, comment="", symbols=None):
    rows = [f"{s} {x!r} {y!r} {z!r}" for s, (x, y, z) in zip(symbols or SYMBOLS, np.asarray(places).tolist())]
    return "\n".join([str(len(rows)), comment, *rows]) + "\n"


def tree(frames="all", **more):
    section = {"molecule": {"xyz": "path.xyz"}, "basis": "def2-SVP", "functional": "pbe", "coulomb": "fitted",
               "grid": {"preset": "coarse"}, "scf": {"energy": 1e-9, "commutator": 1e-7}, **more}
    if frames is not None:
        section["molecule"] = {**section["molecule"], "frames": f'"{frames}"'}
    return {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "xc": section}


def write_path(places=None, name="path.xyz"):
    suite.write(name, "".join(xyz(one, f"frame {k + 1}") for k, one in enumerate(PATH if places is None else places)))


def alone(places, **more):
    suite.write("one.xyz", xyz(places))
    return solve(suite, tree(None, **{**more, "molecule": {**more.get("molecule", {}), "xyz": "one.xyz"}}), name="one")


# ------------------------------------------------------------------- numbers


def equal(ranks):
    """Each frame is its own run: energy, gradient, charges, dipole."""
    write_path()
    lines, found = solve(suite, tree(task="gradient", hirshfeld=True), ranks=ranks)
    check(found["frames"].tolist() == list(range(1, 8)), "numbers of frames")
    check((found["converged"] == 1).all() and "computed" not in found and "mark" not in found, str(list(found)))
    near("coordinates", found["coordinates"], np.array(PATH) / 0.529177210903, 1e-12)
    check(found["atomic_numbers"].tolist() == [8, 1, 1], "atoms")
    for k in range(0, 7, 3 if suite.fast else 1):
        single, data = alone(PATH[k], task="gradient", hirshfeld=True)
        near("energy", found["energies"][k], single["total energy"], 1e-8)
        near("gradient", found["gradients"][k], data["gradient"], 2e-6)
        near("dipole", found["dipoles"][k], [single[f"dipole {x}"] for x in "xyz"], 1e-5)
        for name in ("mulliken_charges", "hirshfeld_charges"):
            near(name, found[name][k], data[name], 1e-5)
    check(lines["frame of lowest energy"] == found["energies"].argmin() + 1, "another lowest")
    near("lowest", lines["lowest energy"], found["energies"].min(), 0)
    near("steepest", lines["largest gradient component"], np.abs(found["gradients"]).max(), 0)
    check(found["iterations"][2:].mean() < found["iterations"][0], f"frames begin anew: {found['iterations']}")


def pyscf():
    """One of the frames is PySCF's, whatever came before."""
    write_path()
    _, found = solve(suite, tree("2:3", coulomb="exact", grid={"preset": "ultrafine"}))
    near("energy", found["energies"][1], TRUTH["water"]["terms"]["total energy"], 1e-6)
    near("charges", found["mulliken_charges"][1], TRUTH["water"]["charges"], 1e-5)


def kinds():
    """Smeared fields, point charges with Lennard-Jones, ghosts: as runs of their own."""
    write_path(PATH[:3])
    smeared = {"smearing": {"kind": "fermi", "width": 0.05}}
    _, found = solve(suite, tree(task="gradient", **smeared))
    single, data = alone(PATH[2], task="gradient", **smeared)
    near("free energy", found["free_energies"][2], single["free energy"], 2e-8)
    near("gradient", found["gradients"][2], data["gradient"], 4e-6)
    suite.write("around.txt", "0 0 3 0.4 0.1 3\n0.5 0 -3 -0.4 0.2 2.5\n")
    around = {"charges": "around.txt", "lennard_jones": {"atoms": '"O 0.15 3.1; H 0 0"'}}
    _, found = solve(suite, tree(task="gradient", molecule={"xyz": "path.xyz", **around}))
    single, data = alone(PATH[1], task="gradient", molecule=around)
    near("energy", found["energies"][1], single["total energy"], 1e-8)
    near("on charges", found["charge_gradients"][1], data["charge_gradient"], 2e-6)
    symbols = ["Gh-O", "H", "H"]
    suite.write("ghost.xyz", xyz(WATER, symbols=symbols) + "\n" + xyz(PATH[3], 'Properties=species:S:1:pos:R:3:x:R:1 pbc="F F F"', symbols))
    _, found = solve(suite, tree(molecule={"xyz": "ghost.xyz"}))
    check(found["atomic_numbers"].tolist() == [-8, 1, 1], "the ghost")


CHOICES = {"all": range(1, 8), "2:7:3": (2, 5), ":3": (1, 2, 3), "6:": (6, 7), "5:5": (5,), "1:7:99999999999": (1,),
           "::4": (1, 5)}


def choices():
    write_path()
    for which, numbers in CHOICES.items():
        _, found = solve(suite, tree(which, basis="STO-3G", coulomb="exact", grid={"radial": 20, "angular": 50}))
        check(found["frames"].tolist() == list(numbers), f"{which}: {found['frames']}")
        near("coordinates", found["coordinates"] * 0.529177210903, [PATH[k - 1] for k in numbers], 1e-12)


# ---------------------------------------------------------------- what is wrong


GOOD = xyz(WATER)
BAD = {
    "broken last frame": (GOOD * 2 + "3\n\nO 0 0 0\nH 0 0 1\n", "path.xyz:14: frame 3: 3 atoms announced in line 11, 2 found"),
    "last frame without atoms": (GOOD + "3\n", "path.xyz:6: frame 2: 3 atoms cannot be in a file this short"),
    "another number of atoms": (GOOD + xyz(WATER[:2]), "path.xyz:6: frame 2 has 2 atoms, the first one 3"),
    "another element": (GOOD + xyz(WATER, symbols=["O", "H", "F"]), "path.xyz:10: frame 2: atom 3 is F, in the first one H"),
    "another order": (GOOD + xyz(WATER, symbols=["H", "O", "H"]), "path.xyz:8: frame 2: atom 1 is H"),
    "a ghost": (GOOD + xyz(WATER, symbols=["O", "H", "Gh-H"]), "atom 3 is a ghost of H"),
    "no number": (GOOD + xyz(WATER).replace("0.757", "nan"), "path.xyz:9"),
    "no element": (GOOD + xyz(WATER, symbols=["O", "H", "Xx"]), "path.xyz:10"),
    "words": (GOOD + "three atoms\n", "path.xyz:6: frame 2: 2 words where the number of atoms"),
    "atoms on top of each other": (GOOD * 3 + xyz(WATER * 0), "frame 4"),
    "two billion atoms": (GOOD + "2000000000\n\nO 0 0 0\n", "path.xyz:6"),
    "columns in another order": (GOOD + xyz(WATER, "Properties=pos:R:3:species:S:1"), "path.xyz:7: frame 2: Properties"),
    "nothing": ("", "an empty XYZ file"),
    "blank lines": ("\n\n \n", "an empty XYZ file"),
    "zeros": (b"\0" * 100, "path.xyz:1"),
}


def bad_file(what):
    """Before any work: status 2, file, line and frame, and nothing is left."""
    text, words = BAD[what]
    suite.write("path.xyz", text)
    run = suite.run(["run", suite.deck("bad.yaml", tree()), "-o", "bad.h5"])
    check(run.status == 2 and words in run.err and "bad.yaml" in run.err, run.tail())
    check("frame 1, 1 of" not in run.out, "it has computed")
    check(not [name for name in os.listdir(suite.folder) if name.startswith("bad.h5")], "files are left")


def bad_words():
    """Keys that cannot be, and a file of frames without the key."""
    write_path()
    for which in ("0:3", "3:2", "1:8", "8:", "1:7:0", "1:2:", "2", "a:b", "1:2:3:4", "-1:2", ""):
        run = suite.run(["run", suite.deck("bad.yaml", tree(which)), "-o", "bad.h5"])
        check(run.status == 2 and "frames" in run.err, f"{which}: {run.tail()}")
    one = tree(None)
    run = suite.run(["run", suite.deck("bad.yaml", one), "-o", "bad.h5"])
    check(run.status == 2 and "path.xyz:6" in run.err and "xc.molecule.frames" in run.err, run.tail())
    one["xc"]["molecule"] = {"atoms": '"He 0 0 0"', "frames": "all"}
    run = suite.run(["run", suite.deck("bad.yaml", one), "-o", "bad.h5"])
    check(run.status == 2 and "xyz: FILE is missing" in run.err, run.tail())
    for args in (["run", "good.yaml", "-o", "bad.h5", "-s", "xc.molden=a.molden"], ["serve", "good.yaml", "--qcschema"],
                 ["serve", "good.yaml", "--ipi", "unix:a"]):
        suite.deck("good.yaml", tree())
        run = suite.run(args)
        check(run.status == 2 and ("xc.molden" in run.err or "`tesela run`" in run.err), f"{args}: {run.tail()}")
    run = suite.run(["plan", "good.yaml"])
    check(run.status == 0, run.tail())


def not_converged():
    """A frame that does not converge is told and marked, the others are computed; status 3, the output is there."""
    write_path([WATER, WATER * 3, PATH[3]])
    run = suite.run(["run", suite.deck("short.yaml", tree(scf={"iterations": 8, "commutator": 1e-5})), "-o", "short.h5"])
    check(run.status == 3 and "1 of 3 frames: 2" in run.err and "NOT converged" in run.out, run.tail())
    with harness.h5py.File(suite.path("short.h5"), "r") as file:
        found = harness.datasets(file)
        check(file["run"].attrs["verdict"] == "INVALID", "verdict")
    check(found["converged"].tolist() == [1, 0, 1], str(found["converged"]))
    near("energy", found["energies"][2], alone(PATH[3])[0]["total energy"], 1e-7)
    check(not [name for name in os.listdir(suite.folder) if name.startswith("short.h5.")], "a checkpoint is left")


# -------------------------------------------------------------------- restarts


LONG = [WATER + 0.01 * k * MOVES for k in range(40)]


def stopped(name, number, ranks=None):
    """A run that gets a signal once it has computed some frames, the deck and the output's name."""
    write_path(LONG, f"{name}.xyz")
    one = tree(molecule={"xyz": f"{name}.xyz"})
    one["run"]["checkpoint"] = 0.001
    path, out = suite.deck(f"{name}.yaml", one), suite.path(f"{name}.h5")
    process = suite.start(["run", path, "-o", out], ranks, env={"TSL_TEST_CHECKPOINTS": "prompt"})
    began, patience = time.time(), harness.Patience(120)
    seen = set()
    while len(seen) < 6 and not patience.over() and process.poll() is None:
        for k in "01":
            try:
                seen.add(os.stat(f"{out}.ckpt.{k}").st_mtime_ns)
            except FileNotFoundError:
                pass
        time.sleep(0.005)
    for one, _, words in harness.processes():
        if int(words[3]) == process.pid:  # of its session: ranks have groups of their own
            os.kill(one, number)
    run = suite.finish(process, began, 120)
    check(len(re.findall("^frame ", run.out, re.M)) < len(LONG), "it came to its end")
    return path, out, run


def again(path, out, *more, ranks=None, status=0, words=""):
    run = suite.run(["run", path, "-o", out, "--restart", out, *more], ranks)
    check(run.status == status and words in run.err, run.tail())
    return run


def computed_in(run):
    return [int(number) for number in re.findall(r"^frame (\d+),", run.out, re.M)]


def restart(name, number, status, ranks):
    """Killed or stopped, then continued: with other work refused, else the rest alone is computed, and all is right."""
    path, out, first = stopped(name, number, ranks)
    check(status is None or first.status == status, first.tail())
    check(not os.path.exists(out), "an output before the end")
    run = suite.run(["run", path, "-o", out])
    check(run.status == 2 and "--restart" in run.err, f"begins over a checkpoint: {run.tail()}")
    again(path, out, "-s", "xc.functional=blyp", status=2, words="xc.functional")
    again(path, out, "-s", "xc.molecule.frames=1:20", status=2, words="xc.molecule.frames")
    write_path(LONG[:3] + [WATER] + LONG[4:], f"{name}.xyz")
    again(path, out, status=2, words="frames have changed")
    write_path(LONG[:-1], f"{name}.xyz")
    again(path, out, status=2)
    write_path(LONG, f"{name}.xyz")
    second = again(path, out, ranks=2 if ranks is None else None)
    numbers, before = computed_in(second), computed_in(first)
    check(numbers and numbers[0] > 3 and numbers == list(range(numbers[0], len(LONG) + 1)), f"computed {numbers}")
    check(numbers[0] >= before[-1] - 1, f"frames up to {before[-1]} were computed, and it goes on with {numbers[0]}")
    with harness.h5py.File(out, "r") as file:
        found = harness.datasets(file)
    for k in (0, numbers[0] - 2, numbers[0] - 1, len(LONG) - 1):
        near(f"frame {k + 1}", found["energies"][k], alone(LONG[k])[0]["total energy"], 1e-8)
    check((found["converged"] == 1).all(), "not all have converged")
    left = [one for one in os.listdir(suite.folder) if one.startswith(f"{name}.h5.")]
    check(not left, f"left: {left}")
    return f"{before[-1]} frames, then from {numbers[0]}"


def other_charges():
    """Point charges and Lennard-Jones are files: others are found once the next frame is computed."""
    suite.write("near.txt", "0 0 3 0.4 0.1 3\n")
    around = {"charges": "near.txt", "lennard_jones": {"atoms": '"O 0.15 3.1; H 0 0"'}}
    one = tree(molecule={"xyz": "path.xyz", **around}, basis="STO-3G", coulomb="exact")
    one["run"]["checkpoint"] = 0.001
    write_path(LONG)
    path, out = suite.deck("around.yaml", one), suite.path("around.h5")
    process = suite.start(["run", path, "-o", out], env={"TSL_TEST_CHECKPOINTS": "prompt"})
    began, patience = time.time(), harness.Patience(60)
    while not os.path.exists(f"{out}.ckpt.1") and not patience.over():
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM)
    run = suite.finish(process, began, 60)
    check(run.status == 85 and "--restart" in run.err, run.tail())
    suite.write("near.txt", "0 0 3 0.4 0.2 3\n")
    again(path, out, status=2, words="Lennard-Jones")
    suite.write("near.txt", "0 0 3 0.4 0.1 3\n")
    again(path, out)


def page():
    """The report shows energy and gradient against the frame."""
    write_path()
    solve(suite, tree(task="gradient"), name="shown")
    done = harness.completed([sys.executable, os.path.join(ROOT, "tools", "report"), "shown.h5", "-o", "shown.html"], 60,
                             cwd=suite.folder)
    check(done.returncode == 0, done.stderr[-300:])
    with open(suite.path("shown.html"), encoding="utf-8") as file:
        text = file.read()
    for words in ("energies of 7 frames of H2O", "energy above the lowest", "gradients of each frame", "kcal/mol"):
        check(words in text, f"no '{words}'")


if not suite.has_family("xc"):
    print("skipped: this build has no family xc")
    raise SystemExit(77)
suite.case("frames as runs", equal, None)
suite.case("frames as runs, 2 ranks", equal, 2)
suite.case("PySCF", pyscf)
suite.case("kinds", kinds)
suite.case("choices", choices)
for case in BAD:
    suite.case(f"bad: {case}", bad_file, case)
suite.case("bad words", bad_words)
suite.case("not converged", not_converged)
suite.case("SIGKILL", restart, "killed", signal.SIGKILL, -signal.SIGKILL, None)
suite.case("SIGTERM", restart, "ended", signal.SIGTERM, 85, None)
suite.case("SIGKILL, 2 ranks", restart, "two", signal.SIGKILL, None, 2)
suite.case("other charges", other_charges)
suite.case("page", page)
suite.end()
