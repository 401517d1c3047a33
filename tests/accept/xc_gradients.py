#!/usr/bin/env python3
"""Gradients of family xc.

usage: xc_gradients.py TESELA [--fast] [ONLY]

Truth: xc_gradient_truth.json, which tools/xc_gradient_truth made with PySCF, and differences of this
program's own energies; both on geometries without symmetry.
"""
import json
import os
import signal
import time

import harness
from harness import check, np
from xc_harness import near

suite = harness.Suite(__doc__, jobs=2)
HERE = os.path.dirname(os.path.abspath(__file__))
BOHR = 0.529177210903
with open(os.path.join(HERE, "xc_gradient_truth.json"), encoding="ascii") as truth_file:
    TRUTH = {case["name"]: case for case in json.load(truth_file)["cases"]}
SMALL = {"radial": 50, "angular": 194, "pruning": "none"}
TIGHT = {"energy": 1e-11, "commutator": 1e-8}


def deck(case, task="gradient", grid=None, **more):
    """Of a case of the truth, on the grid that it was made on or another."""
    molecule = {"atoms": f'"{case["atoms"]}"', "charge": case.get("charge", 0), "multiplicity": case.get("multiplicity", 1)}
    if "charges" in case:
        lines = [" ".join(repr(number) for number in (*at, q)) for at, q in case["charges"]]
        molecule["charges"] = suite.write("charges.txt", "\n".join(lines) + "\n")
    radial, angular = case.get("grid", (75, 302))
    points = dict(grid or {"radial": radial, "angular": angular, "pruning": "none", "scheme": "becke"})
    if task == "gradient":
        points["response"] = case.get("response", False)
    section = {"task": task, "molecule": molecule, "basis": case["basis"], "functional": case["functional"],
               "functions": case.get("functions", "auto"), "grid": points, "scf": TIGHT}
    if "nonlocal" in case:
        section["nonlocal"] = {"radial": 50, "angular": 194, "pruning": "none", **case["nonlocal"]}
        if grid:
            section["nonlocal"].update({"radial": 20, "angular": 50})
    if "fitting" in case:
        section.update({"coulomb": "fitted", "fitting": case["fitting"]})
    if "ecp" in case:
        section["ecp"] = suite.write("own.nw", case["ecp"])
    if "exchange" in case:
        section["exchange"] = case["exchange"]
    section.update(more)
    return {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "xc": section}


def lines_of(file):
    return {k: float(v) for k, v in file["results"].attrs.items() if isinstance(v, np.floating)}


def solve(tree, ranks=None, name="case"):
    """Summary lines, datasets."""
    with suite.result(tree, ranks=ranks, timeout=600, name=name) as file:
        return lines_of(file), harness.datasets(file)


# -------------------------------------------------------------------- truth


def truth_case(name):
    """As PySCF has it; the lines of the summary are of the dataset."""
    case = TRUTH[name]
    lines, data = solve(deck(case))
    found = data["gradient"]
    near("total energy", lines["total energy"], case["energy"], 1e-8)
    near("gradient", found, case["gradient"], case.get("limit", 5e-8))
    near("norm", lines["gradient norm"], np.linalg.norm(found), 1e-12)
    near("largest component", lines["largest gradient component"], np.abs(found).max(), 1e-12)
    near("sum of forces", [lines[f"sum of forces {x}"] for x in "xyz"], -found.sum(axis=0), 1e-12)
    check(("charge_gradient" in data) == ("charges" in case), f"datasets: {sorted(data)}")
    if "charges" in case:
        near("gradient of charges", data["charge_gradient"], case["on_charges"], 5e-8)
    return f"{np.abs(found - case['gradient']).max():.1e} hartree/bohr away"


# -------------------------------------------------------------- differences


def moved(case, atom, axis, step):
    """The case with an atom moved by step, bohr; beyond the atoms: a charge."""
    atoms = [line.split() for line in case["atoms"].split("; ")]
    if atom < len(atoms):
        atoms[atom][1 + axis] = repr(float(atoms[atom][1 + axis]) + step * BOHR)
        return {**case, "atoms": "; ".join(" ".join(words) for words in atoms)}
    charges = [(list(at), q) for at, q in case["charges"]]
    charges[atom - len(atoms)][0][axis] += step * BOHR
    return {**case, "charges": charges}


def difference(case, atom, axis, **more):
    """Of the fourth order, of free energies where there are any."""
    step, energies = 4e-3, {}
    for k in (-2, -1, 1, 2):
        lines, data = solve(deck(moved(case, atom, axis, k * step), task="energy", grid=SMALL, **more))
        check("gradient" not in data, "an energy has a gradient")
        energies[k] = lines.get("free energy", lines["total energy"])
    return (8 * (energies[1] - energies[-1]) - (energies[2] - energies[-2])) / (12 * step)


def difference_case(name, places, **more):
    """With what follows the grid, a gradient is the derivative of the energy; forces add up to nothing."""
    case = {**TRUTH[name], "response": True}
    lines, data = solve(deck(case, grid=SMALL, **more))
    found = np.concatenate([data["gradient"], data.get("charge_gradient", np.zeros((0, 3)))])
    near("sum of all forces", found.sum(axis=0), 0, 1e-9)
    worst = 0
    for atom, axis in places:
        off = abs(found[atom, axis] - difference(case, atom, axis, **more))
        worst = max(worst, off)
        check(off <= 1e-7, f"atom {atom}, axis {axis}: {found[atom, axis]:.9f} is {off:.1e} away")
    return f"{worst:.1e} hartree/bohr away"


# -------------------------------------------------------------------- ranks


def ranks_case(name):
    """The same on any number of ranks; reproducible: the same bits."""
    case = {**TRUTH[name], "response": True}
    found = [solve(deck(case, grid=SMALL), ranks)[1]["gradient"] for ranks in (1, 2, 3)]
    near("gradients on ranks", found, found[0], 1e-10)
    if case.get("exchange") != "fitted":
        bits = [solve(deck(case, grid=SMALL, reproducible=True), ranks)[1]["gradient"].tobytes() for ranks in (1, 3)]
        check(bits[0] == bits[1], "reproducible: other bits on 3 ranks")
    return f"{np.abs(np.array(found) - found[0]).max():.1e} apart"


def restart_case(name):
    """Stopped when the field has converged: its last iteration is repeated, the gradient follows."""
    tree = deck(TRUTH[name], grid=SMALL)
    truth, whole = solve(tree)
    tree["run"]["checkpoint"] = 3600
    path, out = suite.deck("stop.yaml", tree), suite.path(f"stop_{name}.h5")
    began, last = time.time(), f"phase {2 * truth['iterations'] - 1:.0f}:"
    process = suite.start(["run", path, "-o", out], env={"TSL_TEST_SLOW": "0:20"})  # the gradient takes as long as the signal
    for line in process.stdout:
        if line.startswith(last):  # of the field; the next is the gradient's first
            break
    process.send_signal(signal.SIGTERM)
    run = suite.finish(process, began, 120)
    check(run.status == 85, run.tail())
    run = suite.run(["run", path, "-o", out, "-q", "--restart", out], ranks=2)
    check(run.status == 0, run.tail())
    with harness.h5py.File(out, "r") as file:
        near("gradient", file["results/gradient"][()], whole["gradient"], 1e-7)
        lines, phases = lines_of(file), file["run"].attrs["phases"]
    check(lines["iterations"] == truth["iterations"], f"{lines['iterations']} iterations, {truth['iterations']} undisturbed")
    check(phases <= 5, f"{phases} phases after the restart")
    return f"{phases} phases after the restart"


# -------------------------------------------------------------------- files


def schema_case():
    """The driver of a QCSchema file asks for it, and the result is QCSchema's."""
    case = TRUTH["water_lda"]
    atoms = [line.split() for line in case["atoms"].split("; ")]
    suite.write("in.json", json.dumps({
        "schema_name": "qcschema_input", "schema_version": 1, "driver": "gradient", "keywords": {},
        "model": {"method": case["functional"], "basis": case["basis"]},
        "molecule": {"symbols": [words[0] for words in atoms],
                     "geometry": [float(x) / BOHR for words in atoms for x in words[1:]]}}))
    args = ["run", "in.json", "-q", "--overwrite", "-s", "xc.grid.preset=coarse", "-s", "xc.qcschema=out.json"]
    run = suite.run([*args, "-o", "slope.h5"])
    check(run.status == 0, run.tail())
    with open(suite.path("out.json"), encoding="utf-8") as file:
        result = json.load(file)
    with harness.h5py.File(suite.path("slope.h5"), "r") as file:
        found = file["results/gradient"][()].ravel()
        energy = float(file["results"].attrs["total energy"])
    check(result["driver"] == "gradient" and result["success"] is True, str(result["driver"]))
    near("return_result", result["return_result"], found, 1e-15)
    for name in ("return_gradient", "scf_total_gradient"):
        near(name, result["properties"][name], found, 1e-15)
    near("return_energy", result["properties"]["return_energy"], energy, 1e-12)
    run = suite.run([*args, "-o", "flat.h5", "-s", "xc.task=energy"])
    check(run.status == 0, run.tail())
    with harness.h5py.File(suite.path("flat.h5"), "r") as file:
        check("gradient" not in file["results"], "the deck asked for the energy alone")


def unconverged_case():
    """Of a field that does not converge there is none."""
    tree = deck(TRUTH["water_lda"], grid=SMALL, scf={"iterations": 3}, qcschema=suite.path("none.json"))
    run = suite.run(["run", suite.deck("none.yaml", tree), "-o", suite.path("none.h5"), "-q"])
    check(run.status == 3, run.tail())
    with harness.h5py.File(suite.path("none.h5"), "r") as file:
        check("gradient" not in file["results"], "it has a gradient")
        check("gradient norm" not in file["results"].attrs, "it has a norm")
    with open(suite.path("none.json"), encoding="utf-8") as file:
        check(json.load(file)["return_result"] is None, "QCSchema has a gradient")


def calibration_case():
    """Phases of a gradient take longer than the units' own work, so no calibration is corrected by them."""
    case = {key: value for key, value in TRUTH["methanol_fitted"].items() if key != "fitting"}
    path, stored = suite.deck("learn.yaml", deck({**case, "functional": "pbe0"}, grid=SMALL)), suite.path("speeds")
    kept = []
    for words in (["calibrate", path], ["run", path, "-o", suite.path("learn.h5"), "-q"]):
        run = suite.run([*words, "--set", f"run.calibration={stored}"])
        check(run.status == 0, run.tail())
        with open(stored, "rb") as file:
            kept.append(file.read())
    check(len(kept[0]) > 0 and kept[0] == kept[1], "a gradient has corrected the calibration")


QUICK = ("water_lda_response", "oxygen", "oxygen_fitted", "water_charges", "water_fitted_exchange", "water_tpss", "oxygen_m062x",
         "water_pbe_vv10", "oxygen_wb97m_v",
         "silver_hydride", "magnesium_own", "iodide_charges")
for molecule in QUICK if suite.fast else TRUTH:
    suite.case(f"{molecule} as PySCF has it", truth_case, molecule)
suite.case("differences, point charges", difference_case, "water_charges", [(0, 2), (1, 1), (4, 0)])
suite.case("differences, fitted, Cartesian, two spins", difference_case, "oxygen_fitted", [(0, 2), (1, 1)])
suite.case("differences, hybrid, two spins", difference_case, "oxygen", [(1, 2)])
suite.case("differences, effective core potentials", difference_case, "gold_cation", [(0, 2), (1, 0)])
suite.case("differences, effective core potentials, fitted", difference_case, "silver_hydride", [(1, 0), (1, 2)])
suite.case("differences, all powers of potentials", difference_case, "magnesium_own", [(0, 2), (1, 1)])
suite.case("differences, tau", difference_case, "methanol_r2scan", [(0, 0), (3, 2)])
suite.case("differences, tau of two spins, libxc", difference_case, "oxygen_m062x", [(0, 1)])
suite.case("differences, non-local", difference_case, "water_pbe_vv10", [(0, 2), (1, 0)])
suite.case("differences, non-local, two spins", difference_case, "oxygen_wb97m_v", [(1, 1)])
suite.case("differences, smearing", difference_case, "water_charges", [(0, 2)],
           smearing={"kind": "fermi", "width": 0.2})
suite.case("differences, fitted exchange", difference_case, "water_fitted_exchange", [(0, 2), (1, 1)])
for molecule in ("water_charges", "oxygen", "oxygen_fitted", "water_fitted_exchange", "water_pbe_vv10"):
    suite.case(f"{molecule} on ranks", ranks_case, molecule)
suite.case("restart", restart_case, "methanol_fitted")
suite.case("restart, non-local", restart_case, "water_pbe_vv10")
suite.case("calibration", calibration_case)
suite.case("QCSchema", schema_case)
suite.case("a field that does not converge", unconverged_case)
suite.end()
