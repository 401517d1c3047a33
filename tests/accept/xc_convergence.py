#!/usr/bin/env python3
"""Fields that do not converge by themselves: accelerators, smearing, spins of atoms, guesses from a smaller basis.

usage: xc_convergence.py TESELA [--fast] [ONLY]

Truth: xc_scf_truth.json, which tools/xc_scf_truth made with PySCF.
"""
import functools
import json
import os
import re

import harness
import xc_harness
import xc_molden
from harness import check, np
from xc_harness import near

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


solve = functools.partial(xc_harness.solve, suite)


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
    orbitals = xc_molden.load(file)[1]
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


# ------------------------------------------------------------- accelerators

# Fields that Pulay's DIIS alone ends late, or not within 100 iterations, found by trying oxides and carbonyls
HARD = {
    "manganese oxide": {"atoms": "Mn 0 0 0; O 0 0 1.65", "multiplicity": 6, "basis": "def2-SVP", "functional": "hf"},
    "iron carbonyl": {"atoms": "Fe 0 0 0; C 0 0 1.8; O 0 0 2.95", "multiplicity": 3, "basis": "STO-3G", "functional": "b3lyp"},
}
EASY = {
    "water": {"atoms": "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696", "basis": "def2-SVP", "functional": "pbe"},
    "oxygen": {"atoms": "O 0 0 0; O 0 0 1.2", "multiplicity": 3, "basis": "def2-SVP", "functional": "b3lyp"},
    "ozone": {"atoms": "O 0 0 0; O 1.0885 0.6697 0; O -1.0885 0.6697 0", "basis": "def2-SVP", "functional": "pbe"},
}


def usual(case, **more):
    """With the usual limits of the iterations, on a coarse grid."""
    return deck(case, **{"grid": {"preset": "coarse"}, "threshold": 1e-11, "scf": {}, **more})


def hard_case(case):
    """ADIIS ends what DIIS alone does not, or late: which of them is a matter of rounding. The density is stationary, by
    a damped field without either."""
    alone = suite.run(["run", suite.deck("diis.yaml", usual(case, scf={"accelerator": "diis"})), "-o", "diis.h5", "-q",
                       "--overwrite"], timeout=600)
    ended = re.search(r"^ *iterations +(\d+)$", alone.out, re.M)
    check(alone.status == 3 and "not converged in 100" in alone.err or alone.status == 0 and ended,
          f"DIIS alone: {alone.tail()}")
    lines, _ = solve(usual(case), name="adiis")
    most = 60 if alone.status else 0.75 * int(ended.group(1))
    check(lines["iterations"] <= most, f"{lines['iterations']:.0f} iterations, expected {most:.0f} at most")
    plain, _ = solve(usual(case, scf={"diis": 0, "damping": 0.3, "damping_until": 0, "iterations": 400},
                           guess={"file": suite.path("adiis.h5")}))
    near("energy", plain["total energy"], lines["total energy"], 1e-7)
    return f"{lines['iterations']:.0f} iterations"


def easy_case(case):
    """The usual accelerator costs no iteration more than DIIS alone, and has the same energy."""
    found = [solve(usual(case, scf={"accelerator": which, "energy": 1e-9, "commutator": 1e-6}))[0] for which in ("diis", "adiis+diis")]
    near("energy", found[1]["total energy"], found[0]["total energy"], 1e-9)
    check(found[1]["iterations"] <= found[0]["iterations"], f"{found[1]['iterations']:.0f} iterations")
    return f"{found[1]['iterations']:.0f} iterations, {found[0]['iterations']:.0f} by DIIS alone"


def advice_case():
    """What fits the field is advised: more iterations, smearing, damping."""
    fluorine = {"atoms": "F 0 0 0; F 0 0 2.5", "basis": "def2-SVP", "functional": "pbe"}
    metal = HARD["manganese oxide"]
    for case, scf, needle in ((EASY["water"], {"iterations": 4}, "xc.scf.iterations"), (fluorine, {}, "xc.smearing"),
                              (metal, {"accelerator": "diis", "iterations": 40}, "try xc.scf.accelerator adiis+diis"),
                              (metal, {"iterations": 22, "energy": 1e-15}, "try xc.scf.damping")):
        path = suite.deck("advice.yaml", usual(case, scf=scf))
        run = suite.run(["run", path, "-o", "advice.h5", "-q", "--overwrite"], timeout=600)
        check(run.status == 3 and needle in run.err, f"{needle}: {run.tail()}")
    lines, _ = solve(usual(fluorine, smearing={"kind": "fermi", "width": 0.01}))
    check(lines["iterations"] < 50, f"smeared: {lines['iterations']:.0f} iterations")


# ---------------------------------------------------------------- stability


def stability(case, how, **more):
    return deck(case, reference="unrestricted" if case.get("two") else "restricted",
                scf={"energy": 1e-10, "commutator": 1e-6, "stability": how}, **more)


def stable_case(case):
    """PySCF's lowest eigenvalue of whole Hessians; a saddle point says so, and is left for PySCF's minimum."""
    name = "lowest second derivative"
    saddle = case[name] < -1e-4
    path, out = suite.deck("look.yaml", stability(case, "check")), suite.path("look.h5")
    run = suite.run(["run", path, "-o", out, "-q", "--overwrite"], timeout=600)
    check(run.status == (3 if saddle else 0) and ("saddle point" in run.err) == saddle, run.tail())
    with harness.h5py.File(out, "r") as file:
        found, energy = (float(file["results"].attrs[key]) for key in (name, "total energy"))
    near(name, found, case[name], 2e-5)
    near("energy", energy, case["total energy"], 1e-8)
    # the way down from a saddle point is one of several: the same on a machine, whatever else it does
    lines, _ = solve(stability(case, "follow", task="gradient", reproducible=True), ranks=2)
    near("energy at the end", lines["total energy"], case["lower energy"], 1e-7)
    near(f"{name} there", lines[name], case["there"], 2e-5)
    check((lines["saddle points left"] > 0) == saddle, "saddle points left")
    return f"{found:+.6f}, then {lines[name]:+.6f} hartree, {lines['Fock matrices for it']:.0f} Fock matrices"


def same_field_case():
    """A look changes nothing of the field, of any way to make J and K."""
    for ways in ({}, {"coulomb": "fitted"}, {"coulomb": "fitted", "exchange": "fitted"}):
        found = [solve(usual(EASY["oxygen"], scf={"stability": how, "energy": 1e-9}, reproducible="exchange" not in ways, **ways))
                 for how in ("none", "check")]
        (plain, before), (looked, after) = found
        check("lowest second derivative" not in plain and looked["lowest second derivative"] > 0.05, "what is said")
        for key in ("density", "fock", "orbitals"):
            check(ways.get("exchange") or np.array_equal(before[key], after[key]), f"{key} with {ways}")
        near("energy", looked["total energy"], plain["total energy"], 1e-9)
    helium = {"atoms": "He 0 0 0", "basis": "STO-3G", "functional": "hf"}
    lines, _ = solve(usual(helium, scf={"stability": "check"}))
    check("lowest second derivative" not in lines, "helium has nothing to turn")


# --------------------------------------------------------------- projection


def projected_case(name, case, small, large):
    """The density of a small basis spares iterations in a large one, whose energy is the same."""
    solve({**usual({**case, "basis": small})}, name="small")
    alone, _ = solve(usual({**case, "basis": large}))
    tree = usual({**case, "basis": large}, guess={"file": suite.path("small.h5")})
    lines, _ = solve(tree, ranks=2)
    near("energy", lines["total energy"], alone["total energy"], 1e-8)
    check(lines["iterations"] < alone["iterations"], f"{lines['iterations']:.0f} iterations, {alone['iterations']:.0f} alone")
    run = suite.run(["run", suite.deck("guess.yaml", tree), "-o", "guess.h5"])
    check("projected from" in run.out, run.out[:400])
    back = usual({**case, "basis": small}, guess={"file": suite.path("guess.h5")})
    near("energy in the small basis", solve(back)[0]["total energy"], solve(usual({**case, "basis": small}))[0]["total energy"], 1e-8)
    return f"{lines['iterations']:.0f} iterations, {alone['iterations']:.0f} alone"


def kept_case():
    """A projected density holds its electrons and its orbitals: in a basis that contains the small one it is the same."""
    case = {"atoms": "O 0 0 0.1; H 0.76 0 -0.47", "multiplicity": 2, "functional": "hf"}
    small = "O S\n 30 0.3\n 6 0.7\nO S\n 0.7 1\nO P\n 1.1 1\nH S\n 0.6 1\n"
    suite.write("small.nw", f"BASIS SPHERICAL\n{small}END\n")
    suite.write("large.nw", f"BASIS SPHERICAL\n{small}O P\n 5 1\nO D\n 0.9 1\nH P\n 0.8 1\nEND\n")
    lines, _ = solve(usual({**case, "basis": "./small.nw"}, scf={"energy": 1e-11, "commutator": 1e-8}), name="small")
    path = suite.deck("first.yaml", usual({**case, "basis": "./large.nw"}, scf={"iterations": 1},
                                          guess={"file": suite.path("small.h5")}))
    run = suite.run(["run", path, "-o", "first.h5", "-q"])
    check(run.status == 3, run.tail())
    with harness.h5py.File(suite.path("first.h5"), "r") as file:
        near("energy of the projected density", file["results"].attrs["total energy"], lines["total energy"], 1e-9)


for one in EASY:
    suite.case(f"easy {one}", easy_case, EASY[one])
for one in HARD:
    suite.case(f"hard {one}", hard_case, HARD[one])
suite.case("advice", advice_case)
for one, two, three in (("water", "def2-SVP", "def2-TZVP"), ("oxygen", "STO-3G", "def2-SVP")):
    suite.case(f"projected {one}, {two} to {three}", projected_case, one, EASY[one], two, three)
suite.case("a projection to a larger space", kept_case)
for one in TRUTH["smeared"]:
    suite.case(f"smeared {one['name']}", smeared_case, one)
suite.case("smeared water", narrow_case)
for one in TRUTH["broken"]:
    suite.case(f"broken {one['name']}", broken_case, one)
suite.case("words of spins", words_case)
for one in TRUTH["stable"]:
    suite.case(f"stability of {one['name']}", stable_case, one)
suite.case("a look changes nothing", same_field_case)
suite.end()
