#!/usr/bin/env python3
"""Fields that do not converge by themselves: accelerators, smearing, spins of atoms, guesses from a smaller basis.

usage: xc_convergence.py TESELA [--fast] [ONLY]

Truth: xc_scf_truth.json, which tools/xc_scf_truth made with PySCF.
"""
import json
import os

import harness
import xc_molden
from harness import check, np

suite = harness.Suite(__doc__, jobs=2)
HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "xc_scf_truth.json"), encoding="ascii") as truth_file:
    TRUTH = json.load(truth_file)
# PySCF's points: 99 x 590 of each atom, none left out
GRID = {"radial": 99, "angular": 590, "rule": "treutler", "pruning": "none", "scheme": "becke", "adjust": "treutler", "cut": 0}


def deck(case, **more):
    molecule = {"atoms": f'"{case["atoms"]}"', "charge": case.get("charge", 0), "multiplicity": case.get("multiplicity", 1)}
    section = {"molecule": molecule, "basis": case["basis"], "functional": case["functional"],
               "grid": {"preset": "coarse"} if case["functional"] == "hf" else GRID, "threshold": 1e-13,
               "scf": {"energy": 1e-10, "commutator": 1e-7}, **more}
    return {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "xc": section}


def solve(tree, ranks=None, name="case"):
    """Summary lines and datasets."""
    with suite.result(tree, ranks=ranks, timeout=600, name=name) as file:
        lines = {k: float(v) for k, v in file["results"].attrs.items() if isinstance(v, np.floating)}
        return lines, harness.datasets(file)


def near(name, found, truth, limit):
    worst = float(np.abs(np.asarray(found) - np.asarray(truth)).max())
    check(worst <= limit, f"{name} is {worst:.1e} away")


# ----------------------------------------------------------------- smearing


def smeared_case(case):
    """Energies, entropy and occupations as PySCF has them; densities and files fit to them."""
    file = suite.path("smeared.molden")
    lines, data = solve(deck(case, smearing={"kind": case["kind"], "width": case["width"]}, molden=file))
    for term, limit in (("total energy", 1e-8), ("free energy", 1e-8), ("energy at no width", 1e-8), ("entropy", 1e-6)):
        near(term, lines[term], case[term], limit)
    full = 2 if len(data["occupations"]) == 1 else 1
    filled = np.array(data["occupations"])
    near("occupations", np.sort(full * filled), np.sort(case["occupations"]), 1e-5)
    near("electrons", full * filled.sum(), lines["electrons"], 1e-9)
    for t, c in enumerate(data["orbitals"]):
        near("density", c.T @ np.diag(filled[t]) @ c, data["density"][t], 1e-5)
    heat = lines["total energy"] - lines["free energy"]
    near("width times entropy", heat, case["width"] * lines["entropy"], 1e-12)
    near("half of it", lines["total energy"] - lines["energy at no width"], heat / 2, 1e-12)
    orbitals = xc_molden.load(file)[2]
    for t, spin in enumerate(["Alpha", "Beta"][:len(filled)]):
        near("occupations of the Molden file", orbitals[spin][1], full * filled[t], 1e-8)
    return f"{lines['free energy'] - case['free energy']:+.1e} hartree, {lines['iterations']:.0f} iterations"


def narrow_case():
    """Of a molecule with a wide gap smearing changes nothing; ranks change nothing."""
    case = {"atoms": "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696", "basis": "STO-3G", "functional": "hf"}
    plain, data = solve(deck(case))
    check(set(np.unique(data["occupations"])) == {0, 1} and data["occupations"].sum() == 5, "occupations without smearing")
    check("free energy" not in plain and "entropy" not in plain, "a free energy without smearing")
    smeared, _ = solve(deck(case, smearing={"kind": "gaussian", "width": 0.001}), ranks=2)
    near("energy", smeared["total energy"], plain["total energy"], 1e-9)
    near("free energy", smeared["free energy"], plain["total energy"], 1e-9)
    check(smeared["highest occupied"] < smeared["Fermi level"] < smeared["lowest empty"], "the Fermi level")


# -------------------------------------------------------------------- spins


def broken_case(case):
    """PySCF's broken-symmetry energy, from spins of atoms."""
    text = "; ".join(f"{k + 1} {spin}" for k, spin in enumerate(case["spins"]) if spin)
    lines, data = solve(deck(case, guess={"spins": f'"{text}"'}, reference="unrestricted"))
    near("energy", lines["total energy"], case["total energy"], 1e-7)
    near("spin square", lines["spin square"], case["spin square"], 1e-4)
    check(len(data["density"]) == 2, "one spin")
    return f"{lines['total energy'] - case['total energy']:+.1e} hartree, {lines['iterations']:.0f} iterations"


def words_case():
    """Elements and numbers, the later one counts; unrestricted by itself; the other sign is the mirror image."""
    case = next(one for one in TRUTH["broken"] if one["name"] == "hydrogen")
    energies = []
    for text, sign in (("1 1; 2 -1", 1), ("H -1; 1 1", 1), ("h 1; 1 -1", -1)):
        lines, data = solve(deck(case, guess={"spins": f'"{text}"'}))
        energies.append(lines["total energy"])
        unpaired = np.diag((data["density"][0] - data["density"][1]) @ data["overlap"])
        check(sign * unpaired[:5].sum() > 0.5, f"'{text}': {unpaired[:5].sum():+.2f} unpaired electrons on atom 1")
    near("energies", energies, energies[0], 1e-9)


for one in TRUTH["smeared"]:
    suite.case(f"smeared {one['name']}", smeared_case, one)
suite.case("smeared water", narrow_case)
for one in TRUTH["broken"]:
    suite.case(f"broken {one['name']}", broken_case, one)
suite.case("words of spins", words_case)
suite.end()
