#!/usr/bin/env python3
"""tools/optimise: minima, restarts, what it refuses; energies and forces for ASE.

usage: xc_optimise.py TESELA [--fast] [ONLY]

Truth: xc_optimise_truth.json, which tools/xc_optimise_truth made with PySCF and geomeTRIC. Needs geomeTRIC or ASE.
"""
import csv
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time

import harness
from harness import check, np
from pages_harness import TOOLS, Page, tool
from xc_harness import near

HAVE = [name for name in ("geometric", "ase") if importlib.util.find_spec(name)]
if not HAVE:
    print(f"skipped: no geometric and no ase in {sys.executable}; `pip install geometric`, Debian package python3-ase")
    sys.exit(77)
suite = harness.Suite(__doc__, jobs=2)
HERE = os.path.dirname(os.path.abspath(__file__))
BOHR, HARTREE = 0.529177210903, 27.211386245988
with open(os.path.join(HERE, "xc_optimise_truth.json"), encoding="ascii") as truth_file:
    TRUTH = {case["name"]: case for case in json.load(truth_file)["cases"]}
SMALL = {"radial": 30, "angular": 110, "pruning": "none"}
FILES = ("steps.csv", "steps.h5", "trajectory.xyz", "optimised.xyz", "optimise.html")


def deck(name, case, grid=None, **more):
    """A file of a case of the truth, on the grid that it was made on or another."""
    molecule = {"atoms": f'"{case["atoms"]}"', "charge": case.get("charge", 0),
                "multiplicity": case.get("multiplicity", 1)}
    if "charges" in case:
        lines = [" ".join(repr(number) for number in (*at, q)) for at, q in case["charges"]]
        suite.write("charges.txt", "\n".join(lines) + "\n")
        molecule["charges"] = "charges.txt"
    radial, angular = case.get("grid", (75, 302))
    points = grid or {"radial": radial, "angular": angular, "pruning": "none", "scheme": "becke",
                      "response": case.get("response", True)}
    if "fitting" in case:
        more.update(coulomb="fitted", fitting=case["fitting"])
    section = {"molecule": molecule, "basis": case["basis"], "functional": case["functional"], "grid": points,
               "scf": {"energy": 1e-10, "commutator": 1e-7}, **more}
    return suite.deck(f"{name}.yaml", {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
                                       "xc": section})


def optimise(*args, status=0):
    """Standard output and error."""
    return tool(suite, "optimise", *args, "--program", suite.binary, status=status, timeout=600)


def rows_of(folder):
    with open(suite.path(f"{folder}/steps.csv"), encoding="ascii") as file:
        return list(csv.DictReader(file))


def places_of(folder):
    with open(suite.path(f"{folder}/optimised.xyz"), encoding="ascii") as file:
        return np.array([[float(x) for x in line.split()[1:]] for line in file.read().splitlines()[2:]])


def distances(places):
    places = np.asarray(places)
    return np.linalg.norm(places[:, None, :] - places[None, :, :], axis=2)


# ------------------------------------------------------------------- minima


def minimum_case(name, optimiser, steps=None):
    """Energy, distances and number of steps as the same library has them with PySCF; files agree with each other."""
    case, folder = TRUTH[name], f"{name}-{optimiser}"
    out, _ = optimise(deck(folder, case), "-o", folder, "--optimiser", optimiser)
    missing = [one for one in FILES if not os.path.exists(suite.path(f"{folder}/{one}"))]
    check(not missing, f"no {missing}")
    rows, places = rows_of(folder), places_of(folder)
    energy = float(rows[-1]["energy_hartree"])
    near("first energy", float(rows[0]["energy_hartree"]), case["first_energy"], 2e-7)
    near("energy", energy, case["energy"], 1e-6)
    near("distances", distances(places), distances(case["places"]), 1e-3)
    if "charges" in case:
        charge = np.array(case["charges"][0][0])
        near("distances from the charge", np.linalg.norm(places - charge, axis=1),
             np.linalg.norm(np.array(case["places"]) - charge, axis=1), 1e-3)
    check(float(rows[-1]["largest_gradient_hartree_bohr"]) < 4.5e-4, f"{rows[-1]}")
    if steps is not None:
        check(abs(len(rows) - 1 - case["steps"]) <= steps, f"{len(rows) - 1} steps, PySCF {case['steps']}")
    check(f"{energy:.9f}" in out, out)
    check_files(folder, rows)
    return f"{energy - case['energy']:+.1e} hartree, {len(rows) - 1} steps (truth {case['steps']})"


def check_files(folder, rows):
    """HDF5, trajectory and page of the same steps."""
    with harness.h5py.File(suite.path(f"{folder}/steps.h5"), "r") as file:
        gradient, energies, places = (file[name][()] for name in ("gradient", "energy", "places"))
    near("energies of the CSV", [float(row["energy_hartree"]) for row in rows], energies, 1e-11)
    largest = np.sqrt((gradient ** 2).sum(axis=2)).max(axis=1)
    near("gradients of the CSV", [float(row["largest_gradient_hartree_bohr"]) for row in rows], largest, 1e-9)
    near("places", places[-1] * BOHR, places_of(folder), 1e-10)
    with open(suite.path(f"{folder}/trajectory.xyz"), encoding="ascii") as file:
        lines = file.read().splitlines()
    atoms = gradient.shape[1]
    check(len(lines) == len(rows) * (atoms + 2), f"{len(lines)} lines")
    numbers = np.array([[float(x) for x in line.split()[1:]] for line in lines[-atoms:]])
    near("forces of the trajectory", numbers[:, 3:], -gradient[-1] * HARTREE / BOHR, 1e-8)
    check(f"energy={energies[-1] * HARTREE:.6f}"[:-1] in lines[-atoms - 1], lines[-atoms - 1])
    page = Page(suite.path(f"{folder}/optimise.html"))
    check({"energies", "gradients", "molecule"} <= set(page.figures), f"{sorted(page.figures)}")


def inputs_case():
    """A QCSchema file, an XYZ file and atoms in a deck are the same molecule; ranks change nothing."""
    case = TRUTH["formaldehyde"]
    atoms = [line.split() for line in case["atoms"].split("; ")]
    places = [[float(x) for x in words[1:]] for words in atoms]
    suite.write("in.json", json.dumps({
        "schema_name": "qcschema_input", "schema_version": 1, "driver": "energy", "keywords": {},
        "model": {"method": case["functional"], "basis": case["basis"]},
        "molecule": {"symbols": [words[0] for words in atoms],
                     "geometry": (np.array(places) / BOHR).ravel().tolist()}}))
    suite.write("in.xyz", f"{len(atoms)}\n\n" + "\n".join(" ".join(words) for words in atoms) + "\n")
    xyz = suite.deck("in.yaml", {"family": "xc", "xc": {"molecule": {"xyz": "in.xyz"}, "basis": case["basis"],
                                                        "functional": case["functional"]}})
    grid = ["-s", "xc.grid={radial: 30, angular: 110, pruning: none}", "--max-steps", "2"]
    found = []
    for folder, words in (("of-deck", [deck("plain", case, SMALL)]), ("of-json", ["in.json", *grid]),
                          ("of-xyz", [xyz, *grid, "--ranks", "2"])):
        optimise(*words, "-o", folder, *(["--max-steps", "2"] if folder == "of-deck" else []), status=3)
        found.append([float(row["energy_hartree"]) for row in rows_of(folder)])
    check(len(found[0]) == 3, f"{found}")
    near("energies", found[1:], [found[0]] * 2, 1e-7)  # limits of the field are others
    return f"{np.abs(np.array(found[1:]) - found[0]).max():.1e} hartree apart"


def spins_case():
    """A broken symmetry stays broken from step to step."""
    hydrogen = {"atoms": "H 0 0 0; H 0.1 0 2.2", "basis": "STO-3G", "functional": "hf"}
    path = deck("spins", hydrogen, SMALL, guess={"spins": '"1 1; 2 -1"'})
    optimise(path, "-o", "spins", "--max-steps", "1", status=3)
    with harness.h5py.File(suite.path("spins/runs/step-0001.h5"), "r") as file:
        densities = file["results/density"][()]
    check(len(densities) == 2 and np.abs(densities[0] - densities[1]).max() > 0.3, "the spins are the same")


# ----------------------------------------------------------------- restarts


def started(*args):
    command = [sys.executable, os.path.join(TOOLS, "optimise"), *args, "--program", suite.binary]
    return subprocess.Popen(command, cwd=suite.folder, env=suite.environment(), stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def count(folder):
    return len(rows_of(folder)) if os.path.exists(suite.path(f"{folder}/steps.csv")) else 0


def killed(process, folder, steps, number):
    """End it by a signal when so many steps are there."""
    patience = harness.Patience(120)
    while count(folder) < steps and process.poll() is None and not patience.over():
        time.sleep(0.01)
    process.send_signal(number)
    return process.wait()


def again(*args):
    """Restart; a run that outlived its optimisation holds the folder for a moment."""
    patience = harness.Patience(60)
    while not patience.over():
        done = harness.completed([sys.executable, os.path.join(TOOLS, "optimise"), *args, "--restart", "--program",
                                  suite.binary], 600, cwd=suite.folder, text=True, env=suite.environment())
        if "is in use" not in done.stderr:
            check(done.returncode == 0, done.stderr[-600:])
            return done.stdout
        time.sleep(0.1)
    raise harness.Failed("the folder stays in use")


def restart_case(optimiser, number, status):
    """Killed in the middle, then to the end: the steps of a run that was not killed."""
    path, whole = deck(f"kill-{optimiser}", TRUTH["formaldehyde"], SMALL), f"whole-{optimiser}"
    stopped = f"stopped-{optimiser}"
    optimise(path, "-o", whole, "--optimiser", optimiser)
    args = [path, "-o", stopped, "--optimiser", optimiser]
    found = killed(started(*args), stopped, 2, number)
    check(found == status, f"exit {found}")
    before = rows_of(stopped)
    again(*args)
    rows, truth = rows_of(stopped), rows_of(whole)
    check(rows[:len(before)] == before, "steps of before are others now")
    check(len(rows) == len(truth), f"{len(rows) - 1} steps, without a kill {len(truth) - 1}")
    near("energies", *([float(row["energy_hartree"]) for row in one] for one in (rows, truth)), 1e-8)
    near("places", places_of(stopped), places_of(whole), 1e-5)
    again(*args)
    check(rows_of(stopped) == rows, "a restart at the end makes new steps")
    again(*args, "--fmax", "4e-5")
    check(len(rows_of(stopped)) > len(rows), "a smaller --fmax makes no steps")
    return f"killed after {len(before)} of {len(truth)} points"


def changed_case():
    """At a restart the deck, the settings that count and damaged files are refused; the field's may change."""
    path = deck("changed", TRUTH["formaldehyde"], SMALL)
    optimise(path, "-o", "changed", "--max-steps", "1", status=3)
    _, err = optimise(path, "-o", "changed", status=2)
    check("--restart" in err, err)
    _, err = optimise(path, "-o", "changed", "--restart", "-s", "xc.functional=pbe", status=2)
    check("other sets" in err, err)
    optimise(path, "-o", "changed", "--restart", "-s", "xc.scf.iterations=90", "--max-steps", "2", status=3)
    check(count("changed") == 3, f"{count('changed')} points")
    if len(HAVE) == 2:
        optimise(path, "-o", "changed", "--restart", "--optimiser", "ase")
        check(count("changed") > 3, "another optimiser does not go on")
    suite.write("changed/steps.h5", b"\x89HDF\r\n\x1a\nno more of it")
    _, err = optimise(path, "-o", "changed", "--restart", status=2)
    check("steps.h5" in err, err)


# ---------------------------------------------------------------- bad input


def bad_case():
    """Messages that say what to do, and status 2 or 3."""
    good = deck("good", TRUTH["formaldehyde"], SMALL)
    other = suite.deck("tri.yaml", {"family": "tri", "tri": {"function": "euclidean"}})
    near_atoms = deck("near", {"atoms": "H 0 0 0; H 0 0 0.05", "basis": "STO-3G", "functional": "hf"}, SMALL)
    single = deck("single", {"atoms": "He 0 0 0", "basis": "def2-SVP", "functional": "hf"}, SMALL)
    for args, status, words in (
            ([other], 2, "is of family tri"), (["nothing.yaml"], 2, "No such file"),
            ([near_atoms], 2, "0.05 Angstrom apart"),
            ([single], 2, "single atom"), ([good, "-s", "xc.basis=none"], 2, "none"),
            ([good, "-s", "xc.scf.iterations=2"], 3, "xc.scf.iterations"), ([good, "--fmax", "0"], 2, "above 0"),
            ([good, "--max-steps", "-1"], 2, "above 0"), ([good, "-s", "xc"], 2, "KEY=VALUE"),
            ([good, "--optimiser", "newton"], 2, "invalid choice")):
        _, err = optimise(*args, "-o", "bad", status=status)
        check(words in err, err)
    out, err = tool(suite, "optimise", good, "-o", "bad", "--program", "nowhere", status=2)
    check("--program" in err, err)
    beside = deck("beside", {**TRUTH["formaldehyde"], "charges": [((0, 0, 5), 0.1)]}, SMALL)
    if "geometric" in HAVE:
        _, err = optimise(beside, "-o", "beside", "--optimiser", "geometric", status=2)
        check("--optimiser ase" in err, err)
    suite.write("mine.molden", "mine")
    suite.write("mine.cube", "tesela: mine")
    written = deck("written", TRUTH["formaldehyde"], SMALL, molden="mine.molden", qcschema="mine.json",
                   cube={"density": "mine.cube", "spacing": 1})
    optimise(written, "-o", "written", "--max-steps", "1", status=3)
    with open(suite.path("mine.molden"), encoding="ascii") as file:
        check(file.read() == "mine" and not os.path.exists(suite.path("mine.json")), "steps write files of the deck")
    with open(suite.path("mine.cube"), encoding="ascii") as file:
        check(file.read() == "tesela: mine", "steps write a cube of the deck")
    check(os.path.exists(suite.path("written/runs/step-0001.molden")), "no Molden file of the last step")
    squeezed = deck("squeezed", {"atoms": "H 0 0 0; H 0 0 0.25", "basis": "STO-3G", "functional": "hf"}, SMALL)
    _, err = optimise(squeezed, "-o", "squeezed", "--max-steps", "1", status=3)
    check("less than half a bond" in err, err)


# ---------------------------------------------------------------------- ASE


def drift(path, steps, timestep):
    """Change of the sum of both energies in so many steps at constant energy, and the kinetic one; eV."""
    from ase import Atoms, units
    from ase.calculators.calculator import CalculationFailed
    from ase.md.verlet import VelocityVerlet
    from tesela_ase import Tesela
    words = [one.split() for one in TRUTH["formaldehyde"]["atoms"].split(";")]
    atoms = Atoms([word[0] for word in words], [[float(x) for x in word[1:]] for word in words])
    with Tesela(path, program=suite.binary) as atoms.calc:
        first = atoms.get_potential_energy()
        VelocityVerlet(atoms, timestep=timestep * units.fs).run(steps)
        change, kinetic = atoms.get_potential_energy() + atoms.get_kinetic_energy() - first, atoms.get_kinetic_energy()
        atoms.positions[1] = atoms.positions[0]
        try:
            atoms.get_potential_energy()
            check(False, "atoms on top of each other have an energy")
        except CalculationFailed as error:
            check("Angstrom apart" in str(error), str(error))
        check(atoms.calc.close() == 0, "the job did not end well")
    return change, kinetic


def dynamics_case():
    """What Verlet's steps lose of the energy goes with the square of their length, where forces are its derivative."""
    sys.path.insert(0, TOOLS)
    path = deck("dynamics", TRUTH["formaldehyde"], SMALL)
    (long, kinetic), (short, _) = drift(path, 5, 0.1), drift(path, 10, 0.05)
    check(kinetic > 1e-2 and abs(long) < 5e-3 * kinetic, f"{long} eV lost of {kinetic} eV")
    check(3.9 < long / short < 4.1, f"{long} eV lost, in steps of half the length {short} eV")
    return f"{long:.2e} eV of {kinetic:.3f} eV, in steps of half the length {short:.2e} eV"


if "geometric" in HAVE:
    for molecule in (name for name in TRUTH if "charges" not in TRUTH[name] and not (suite.fast and name == "alanine")):
        suite.case(f"{molecule} by geomeTRIC", minimum_case, molecule, "geometric", max(1, TRUTH[molecule]["steps"] // 10))
    suite.case("restart after SIGKILL, geomeTRIC", restart_case, "geometric", signal.SIGKILL, -signal.SIGKILL)
if "ase" in HAVE:
    suite.case("hydroperoxyl by ASE", minimum_case, "hydroperoxyl", "ase")
    suite.case("water beside a charge by ASE", minimum_case, "water_charge", "ase", 1)
    suite.case("restart after SIGTERM, ASE", restart_case, "ase", signal.SIGTERM, 130)
    suite.case("dynamics by ASE", dynamics_case)
suite.case("inputs and ranks", inputs_case)
suite.case("broken symmetry", spins_case)
suite.case("changed requests", changed_case)
suite.case("bad input", bad_case)
suite.end()
