#!/usr/bin/env python3
"""Results of family xc beside the energy: terms, levels, moments, charges, matrices, files.

usage: xc_results.py TESELA [--fast] [ONLY]

Truth: xc_truth.json, which tools/xc_truth made with PySCF; for files their own readers here.
"""
import functools
import json
import os
import signal
import subprocess
import sys
import time

import harness
import xc_harness
import xc_molden
from harness import check, np
from xc_harness import near

suite = harness.Suite(__doc__, jobs=2)
HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "xc_truth.json"), encoding="ascii") as truth_file:
    TRUTH = {case["name"]: case for case in json.load(truth_file)["cases"]}


def fitted(case):
    return {"coulomb": "fitted", "exchange": "fitted"} if case.get("exchange") == "fitted" else {}


def deck(case, **more):
    molecule = {"atoms": f'"{case["atoms"]}"', "charge": case.get("charge", 0), "multiplicity": case.get("multiplicity", 1)}
    section = {"molecule": molecule, "basis": case["basis"], "functional": case["functional"],
               "functions": case.get("functions", "auto"), "grid": {"preset": "ultrafine"},
               "scf": {"energy": 1e-9, "commutator": 1e-7}, **fitted(case), **more}
    return {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "xc": section}


solve = functools.partial(xc_harness.solve, suite)


# ------------------------------------------------------------------ numbers


def truth_case(name):
    """Every number that PySCF has too."""
    case = TRUTH[name]
    lines, data = solve(deck(case))
    for term, value in case["terms"].items():
        near(term, lines[term], value, (1e-7 if fitted(case) else 2e-6) if term == "total energy" else 1e-5)
    near("orbital energies", data["orbital_energies"], case["levels"], 1e-5)
    near("dipole", [lines[f"dipole {axis}"] for axis in "xyz"], case["dipole"], 1e-5)
    near("Mulliken's charges", data["mulliken_charges"], case["charges"], 1e-5)
    return f"{lines['total energy'] - case['terms']['total energy']:+.1e} hartree"


def matrices_case(name):
    """Orbitals are orthonormal and diagonal in the Kohn-Sham matrix, and make the density."""
    case = TRUTH[name]
    lines, data = solve(deck(case, grid={"preset": "coarse"}))
    overlap, spins = data["overlap"], len(data["density"])
    unpaired = case.get("multiplicity", 1) - 1
    filled = [round(lines["electrons"] + unpaired) // 2, round(lines["electrons"] - unpaired) // 2]
    for t in range(spins):
        c = data["orbitals"][t]
        near("C S C^T", c @ overlap @ c.T, np.eye(len(c)), 1e-10)
        near("C F C^T", c @ data["fock"][t] @ c.T, np.diag(data["orbital_energies"][t]), 1e-9)
        near("density", c[:filled[t]].T @ c[:filled[t]], data["density"][t], 1e-5)
    sizes = data["group_sizes"]
    check(sizes[:, 0].sum() == lines["grid points"] and len(sizes) == lines["groups"], "the groups do not hold the grid")
    check(sizes[:, 1].min() >= 0 and sizes[:, 1].max() <= lines["functions"], "a group has too many functions")


# -------------------------------------------------------------------- files


def molden_case(name, **more):
    """Orbitals of the file are orthonormal in its own functions; energies and occupations are ours."""
    case = TRUTH[name]
    file = suite.path(f"{name}.molden")
    lines, data = solve(deck(case, grid={"preset": "coarse"}, molden=file, **more))
    overlap, orbitals, found = xc_molden.load(file)
    near("norms of s and p functions", np.diag(overlap), np.ones(len(overlap)), 1e-9)
    check(len(found["atoms"]) == len(data["mulliken_charges"]), "atoms are missing")
    check(sum(filled.sum() for _, filled, _ in orbitals.values()) == lines["electrons"], "electrons are missing")
    check(len(orbitals) == len(data["orbitals"]), "a spin is missing")
    for t, spin in enumerate(["Alpha", "Beta"][:len(orbitals)]):
        levels, _, c = orbitals[spin]
        near("C^T S C", c @ overlap @ c.T, np.eye(len(c)), 1e-9)
        near("energies", levels, data["orbital_energies"][t], 1e-11)
    return f"{len(overlap)} functions"


MIXED = """BASIS SPHERICAL
O S
 130.7 0.15
 23.8 0.53
 6.4 0.44
O SP
 5.03 -0.1 0.16
 1.17 0.4 0.61
 0.38 0.7 0.39
O D
 1.2 1.0
O F
 0.9 1.0
O G
 0.8 1.0
H S
 3.4 0.15
 0.62 0.53
 0.17 0.44
H D
 0.7 1.0
END
"""


def g_case(kind):
    """To the last angular momentum."""
    suite.write("mixed.nw", MIXED)
    return molden_case("water", basis="./mixed.nw", functions=kind, scf={"energy": 1e-6})


# names and types of QCSchema's AtomicResult, version 1; of properties, those that are used here
FIELDS = {"schema_name": str, "schema_version": int, "molecule": dict, "driver": str, "model": dict, "keywords": dict,
          "properties": dict, "return_result": float, "extras": dict, "success": bool, "stdout": type(None),
          "stderr": type(None), "error": (dict, type(None)), "provenance": dict}
PROPERTIES = {"calcinfo_nbasis": int, "calcinfo_nmo": int, "calcinfo_nalpha": int, "calcinfo_nbeta": int, "calcinfo_natom": int,
              "nuclear_repulsion_energy": float, "return_energy": float, "scf_one_electron_energy": float,
              "scf_two_electron_energy": float, "scf_xc_energy": float, "scf_dipole_moment": list, "scf_total_energy": float,
              "scf_iterations": int}


def check_fields(what, found, fields):
    check(set(found) == set(fields), f"{what}: {sorted(set(found) ^ set(fields))}")
    for name, kind in fields.items():
        check(isinstance(found[name], kind), f"{what}: {name} is {type(found[name])}")


def schema_of(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def schema_case(name):
    """The file is QCSchema, its numbers are the output's, and it runs again as an input."""
    case = TRUTH[name]
    path = suite.path(f"{name}.json")
    lines, data = solve(deck(case, grid={"preset": "coarse"}, qcschema=path))
    result = schema_of(path)
    check_fields("the result", result, FIELDS)
    check_fields("properties", result["properties"], PROPERTIES)
    made = result["properties"]
    check(result["success"] is True and result["error"] is None, "no success")
    near("energy", [result["return_result"], made["scf_total_energy"], made["return_energy"]], lines["total energy"], 1e-12)
    parts = ("nuclear_repulsion_energy", "scf_one_electron_energy", "scf_two_electron_energy", "scf_xc_energy")
    near("sum of the terms", sum(made[part] for part in parts), lines["total energy"], 1e-9)
    near("dipole", made["scf_dipole_moment"], [lines[f"dipole {axis}"] for axis in "xyz"], 1e-12)
    near("charges", result["extras"]["tesela"]["mulliken_charges"], data["mulliken_charges"], 1e-12)
    check(result["molecule"]["symbols"] == [a.split()[0] for a in case["atoms"].split("; ")], "other atoms")
    again = suite.path("again.h5")
    run = suite.run(["run", path, "-o", again, "--overwrite", "-q", "-s", "xc.grid.preset=coarse", "-s", "xc.scf.energy=1e-9",
                     "-s", "xc.scf.commutator=1e-7", "-s", f"xc.functions={case.get('functions', 'auto')}"])
    check(run.status == 0, run.tail())
    with harness.h5py.File(again, "r") as file:
        near("energy of the second run", file["results"].attrs["total energy"], lines["total energy"], 1e-9)


def failed_schema_case():
    """Of a run that did not converge the file says so."""
    path = suite.path("failed.json")
    tree = deck(TRUTH["water"], grid={"preset": "coarse"}, qcschema=path, scf={"iterations": 2})
    run = suite.run(["run", suite.deck("failed.yaml", tree), "-o", suite.path("failed.h5"), "-q"])
    check(run.status == 3, run.tail())
    result = schema_of(path)
    check_fields("the result", result, FIELDS)
    check(result["success"] is False and result["error"]["error_type"] == "convergence_error", str(result["error"]))
    check("2 iterations" in result["error"]["error_message"], result["error"]["error_message"])


def input_case():
    """A QCSchema input by hand, alone and with ranks; --set replaces what it says."""
    suite.write("h'2.json", json.dumps({
        "schema_name": "qcschema_input", "schema_version": 1, "driver": "energy", "keywords": {},
        "model": {"method": "hf", "basis": "STO-3G"},
        "molecule": {"symbols": ["H", "H"], "geometry": [0, 0, 0, 0, 0, 1.4], "molecular_charge": 0}}))
    for ranks, sets, truth in ((None, [], -1.11671433), (2, [], -1.11671433), (None, ["-s", "xc.basis=6-31G*"], -1.12674270)):
        run = suite.run(["run", "h'2.json", "-o", "h2.h5", "--overwrite", "-q", *sets], ranks)
        check(run.status == 0, run.tail())
        with harness.h5py.File(suite.path("h2.h5"), "r") as file:  # PySCF
            near("energy", file["results"].attrs["total energy"], truth, 1e-7)


def data_folder_case():
    """Basis sets come from where TSL_DATA_DIR says, and from nowhere else then."""
    os.makedirs(suite.path("data/basis"), exist_ok=True)
    suite.write("data/basis/mine.nw", "BASIS SPHERICAL\nHe S\n 1.0 1.0\nEND\n")
    tree = deck({"atoms": "He 0 0 0", "basis": "mine", "functional": "hf"})
    run = suite.run(["run", suite.deck("he.yaml", tree), "-o", "he.h5", "-q"], env={"TSL_DATA_DIR": suite.path("data")})
    check(run.status == 0, run.tail())
    with harness.h5py.File(suite.path("he.h5"), "r") as file:
        # one s function of exponent a: 3 a - 4 Z sqrt(2 a / pi) + 2 sqrt(a / pi)
        truth = 3 - 8 * np.sqrt(2 / np.pi) + 2 / np.sqrt(np.pi)
        near("energy", file["results"].attrs["total energy"], truth, 1e-9)
    run = suite.run(["run", "he.yaml", "-o", "he.h5", "-q", "--overwrite"], env={"TSL_DATA_DIR": suite.path("none")})
    check(run.status == 2 and "TSL_DATA_DIR" in run.err, run.tail())


def rates_case():
    """tools/xc_rates: the rates are of the output's times."""
    with suite.result(deck(TRUTH["water"], coulomb="fitted"), name="rates") as file:
        times, count = file["run/phase_times"][()], len(file["results/history"])
        total = float(file["run"].attrs["total_seconds"])
    made = subprocess.run([sys.executable, os.path.join(HERE, "..", "..", "tools", "xc_rates"), suite.path("rates.h5")],
                          capture_output=True, text=True)
    check(made.returncode == 0, made.stderr)
    found = {line.split("  ")[0]: float(line.split()[-5]) for line in made.stdout.splitlines() if line.endswith(" s") and "a day" in line}
    first = times["measured"][(times["kind"] == 0) & (times["phase"] == 0)].max()
    near("XC iterations", found["XC iterations, the first"] * first / 86400, 1, 1e-3)
    near("SCF iterations", found["SCF iterations, whole run"] * total / count / 86400, 1, 1e-3)


# ------------------------------------------------------------------ balance


def predicted(*sets):
    """Balance over equal ranks that `tesela plan` prints for vitamin C, by ranks, in percent."""
    path = os.path.join(HERE, "..", "..", "inputs", "xc", "vitamin_c.yaml")
    run = suite.run(["plan", path, *(word for one in sets for word in ("-s", one))])
    check(run.status == 0 and "groups by functions" in run.out, run.tail())
    table = run.out[run.out.index("predicted balance"):].splitlines()[1:]
    return {int(line.split()[0]): float(line.split()[2]) for line in table if "ranks " in line and line.endswith("%")}


def balance_case():
    """Median cuts let eight ranks work; spheres and cubes stop near three, as published."""
    kd, cubes = predicted(), predicted("xc.groups.kind=cubes", "xc.groups.reach=exponent", "xc.grid.preset=lio2")
    check(kd[8] >= 95, f"kd: {kd}")
    check(8 * cubes[8] / 100 < 4, f"cubes: {cubes}")
    return f"8 ranks do the work of {8 * kd[8] / 100:.2f}; with cubes of {8 * cubes[8] / 100:.2f}"


# ----------------------------------------------------------------- restarts


def checkpoints(out):
    """Which files are there now: each checkpoint is a new one."""
    found = set()
    for k in "01":
        try:
            found.add((k, os.stat(f"{out}.ckpt.{k}").st_mtime_ns))
        except FileNotFoundError:
            continue
    return found


def interrupt(path, out):
    """Run a deck until it has written some checkpoints, of an iteration at least, then ask it to stop."""
    process = suite.start(["run", path, "-o", out, "-q"], env={"TSL_TEST_CHECKPOINTS": "prompt"})
    began, patience, seen = time.time(), harness.Patience(60), set()
    while len(seen) < 6 and process.poll() is None and not patience.over():
        seen |= checkpoints(out)
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM)
    run = suite.finish(process, began, 120)
    check(run.status == 85, run.tail())


def restart_case(coulomb):
    """Stopped and continued on other ranks: the same energy. With other atoms: refused."""
    xyz = [line.split() for line in TRUTH["methanol"]["atoms"].split("; ")]
    text = lambda atoms: f"{len(atoms)}\n\n" + "\n".join(" ".join(words) for words in atoms) + "\n"
    suite.write("mol.xyz", text(xyz))
    tree = {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all", "checkpoint": 0.001},
            "xc": {"molecule": {"xyz": "mol.xyz"}, "basis": "def2-TZVP", "functional": "pbe0", "coulomb": coulomb,
                   "scf": {"energy": 1e-10, "commutator": 1e-7}}}
    truth = solve(tree)[0]
    path, out = suite.deck(f"{coulomb}.yaml", tree), suite.path(f"{coulomb}.h5")
    interrupt(path, out)
    suite.write("mol.xyz", text([["C", "0", "0.7", "0"], *xyz[1:]]))
    run = suite.run(["run", path, "-o", out, "-q", "--restart", out])
    check(run.status == 2, f"another molecule: {run.tail()}")
    suite.write("mol.xyz", text(xyz))
    run = suite.run(["run", path, "-o", out, "-q", "--restart", out], ranks=3)
    check(run.status == 0, run.tail())
    with harness.h5py.File(out, "r") as file:
        lines = dict(file["results"].attrs)
        near("energy", lines["total energy"], truth["total energy"], 1e-8)
        near("dipole", [lines[f"dipole {axis}"] for axis in "xyz"], [truth[f"dipole {axis}"] for axis in "xyz"], 1e-5)
        done = file["results/history"][()]
        phases = file["run"].attrs["phases"]
    check(lines["iterations"] == truth["iterations"], f"{lines['iterations']} iterations, undisturbed {truth['iterations']}")
    check((done[:, 0] == np.arange(1, len(done) + 1)).all() and len(done) == truth["iterations"], "the history is not whole")
    check(phases < len(done) * (2 if coulomb == "fitted" else 1), "it began anew")
    return f"the last {phases} phases after a restart, {len(done)} iterations in all; alone {truth['iterations']:.0f}"


def exchange_case():
    """Fitted exchange: the same field on any ranks, with integrals kept or anew."""
    tree = deck(TRUTH["oxygen_fitted"], grid={"preset": "coarse"})
    energies = [solve(tree, ranks)[0]["total energy"] for ranks in (1, 2, 3)]
    tree["xc"]["fitting_cache"] = 0
    energies.append(solve(tree)[0]["total energy"])
    check(max(energies) - min(energies) < 1e-10, f"energies {energies}")
    return f"{max(energies) - min(energies):.1e} hartree apart"


for molecule in ["water", "oxygen", "oxygen_fitted"] if suite.fast else TRUTH:
    suite.case(f"{molecule} as PySCF has it", truth_case, molecule)
    suite.case(f"matrices of {molecule}", matrices_case, molecule)
suite.case("fitted exchange on ranks", exchange_case)
for molecule in (m for m in TRUTH if not fitted(TRUTH[m])):
    suite.case(f"Molden file of {molecule}", molden_case, molecule)
    suite.case(f"QCSchema of {molecule}", schema_case, molecule)
for functions in ("spherical", "cartesian"):
    suite.case(f"Molden file with g functions, {functions}", g_case, functions)
suite.case("QCSchema of a failure", failed_schema_case)
suite.case("QCSchema in", input_case)
suite.case("the folder of data", data_folder_case)
suite.case("iterations a day", rates_case)
suite.case("balance of vitamin C", balance_case)
for way in ("exact", "fitted"):
    suite.case(f"restart, {way} Coulomb", restart_case, way)
suite.end()
