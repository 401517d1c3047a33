#!/usr/bin/env python3
"""Ghost atoms of family xc: functions and points without nucleus and electrons.

usage: xc_ghosts.py TESELA [--fast] [ONLY]

Truth: xc_ghost_truth.json, which tools/xc_ghost_truth made with PySCF, and differences of energies.
"""
import json
import os

import harness
from harness import check, np
from xc_harness import near, solve

suite = harness.Suite(__doc__, jobs=2)
BOHR = 0.529177210903
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "xc_ghost_truth.json"), encoding="ascii") as truth_file:
    TRUTH = json.load(truth_file)
CASES = {case["functional"]: case for case in TRUTH["cases"]}
FIRST, SECOND = range(3), range(3, 6)
PARTS = {"dimer": (range(6), ()), "first": (FIRST, ()), "second": (SECOND, ()), "first with ghosts": (FIRST, SECOND),
         "second with ghosts": (SECOND, FIRST)}
SMALL = {"radial": 50, "angular": 194, "pruning": "none"}


def atoms_of(part, mark="Gh-{}", moved=None):
    """The part as lines of an XYZ file; moved: an atom, an axis and how far, bohr."""
    atoms, ghosts = PARTS[part]
    lines = []
    for k, (symbol, at) in enumerate(TRUTH["atoms"]):
        if k not in atoms and k not in ghosts:
            continue
        place = list(at)
        if moved is not None and moved[0] == k:
            place[moved[1]] += moved[2] * BOHR
        lines.append(" ".join([symbol if k in atoms else mark.format(symbol), *map(repr, place)]))
    return lines


def deck(functional, lines, **more):
    section = {"molecule": {"atoms": '"' + "; ".join(lines) + '"'}, "basis": "def2-SVP", "functional": functional,
               "grid": {"preset": "ultrafine"}, "scf": {"energy": 1e-11, "commutator": 1e-8}, **more}
    return {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "xc": section}


def part_case(functional, part):
    """As PySCF has it: on its points for a functional, but for their partition."""
    truth = CASES[functional]["parts"][part]
    tree = deck(functional, atoms_of(part), **({"task": "gradient"} if functional == "hf" else {}))
    lines, data = solve(suite, tree)
    exact = functional == "hf"
    near("total energy", lines["total energy"], truth["energy"], 1e-8 if exact else 2e-6)
    near("dipole", [lines[f"dipole {x}"] for x in "xyz"], truth["dipole"], 1e-6 if exact else 1e-4)
    near("Mulliken's charges", data["mulliken_charges"], truth["charges"], 1e-6 if exact else 1e-4)
    if exact:
        near("gradient", data["gradient"], truth["gradient"], 1e-7)
    return f"{lines['total energy'] - truth['energy']:+.1e} hartree"


def counterpoise_case(functional):
    """The interaction of the dimer, corrected for the superposition of basis sets; and what the correction is."""
    found = {part: solve(suite, deck(functional, atoms_of(part)), name=part.replace(" ", "_"))[0]["total energy"]
             for part in PARTS}
    truth = {part: CASES[functional]["parts"][part]["energy"] for part in PARTS}

    def interaction(energies, ghosts):
        return energies["dimer"] - energies["first" + ghosts] - energies["second" + ghosts]
    for ghosts in ("", " with ghosts"):
        near(f"interaction{ghosts}", interaction(found, ghosts), interaction(truth, ghosts), 1e-8 if functional == "hf" else 2e-6)
    error = interaction(found, " with ghosts") - interaction(found, "")
    check(error > 1e-3, f"the superposition error of def2-SVP is {error:.1e} hartree")
    return f"{interaction(found, ' with ghosts'):.6f} hartree, {error:.6f} above the one without"


def spelling_case():
    """All spellings, in a file too, and QCSchema's `real`, are one molecule."""
    part, grid = "first with ghosts", {"grid": SMALL}
    usual = solve(suite, deck("hf", atoms_of(part), **grid))[0]["total energy"]
    for mark in ("@{}", "gh:{}", "Gh({})", "GHOST-{}", "Ghost:{}", "X-{}", "x:{}", "{}:", "{}-Bq"):
        lines = atoms_of(part, mark)
        path = suite.write("ghosts.xyz", f"{len(lines)}\nwater and ghosts\n" + "\n".join(lines) + "\n")
        tree = deck("hf", lines, molecule={"xyz": path}, **grid)
        near(mark, solve(suite, tree)[0]["total energy"], usual, 1e-12)
    atoms, _ = PARTS[part]
    path = suite.write("ghosts.json", json.dumps({
        "schema_name": "qcschema_molecule", "schema_version": 2, "symbols": [s for s, _ in TRUTH["atoms"]],
        "geometry": [x / BOHR for _, at in TRUTH["atoms"] for x in at], "real": [k in atoms for k in range(6)]}))
    out = suite.path("ghosts_out.json")
    lines, data = solve(suite, deck("hf", [], molecule={"json": path}, qcschema=out, hirshfeld=True, **grid))
    near("real", lines["total energy"], usual, 1e-9)
    with open(out, encoding="utf-8") as file:
        check(json.load(file)["molecule"]["real"] == [k in atoms for k in range(6)], "another `real`")
    check(data["atoms"][:, 0].tolist() == [8, 1, 1, -8, -1, -1], f"atoms {data['atoms'][:, 0]}")
    near("Hirshfeld's charges of ghosts", data["hirshfeld_charges"][3:], 0, 1e-12)


def difference_case():
    """The gradient on atoms and ghosts is the derivative of the energy."""
    part, step, worst = "second with ghosts", 4e-3, 0
    more = {"grid": SMALL, "scf": {"energy": 1e-11, "commutator": 1e-8}}
    found = solve(suite, deck("r2scan", atoms_of(part), task="gradient", **more))[1]["gradient"]
    near("sum of forces", found.sum(axis=0), 0, 1e-9)
    for atom, axis in ((0, 2), (5, 2)):
        energies = {k: solve(suite, deck("r2scan", atoms_of(part, moved=(atom, axis, k * step)), **more))[0]["total energy"]
                    for k in (-2, -1, 1, 2)}
        slope = (8 * (energies[1] - energies[-1]) - (energies[2] - energies[-2])) / (12 * step)
        worst = max(worst, abs(found[atom, axis] - slope))
    check(worst < 1e-7, f"{worst:.1e} away")
    check(np.abs(found[:3]).max() > 1e-5, "ghosts feel nothing")
    return f"{worst:.1e} hartree/bohr away"


def refused_case(needle, lines, **more):
    path = suite.deck("bad.yaml", deck("hf", lines, **more))
    run = suite.run(["run", path, "-o", suite.path("bad.h5"), "-q", "--overwrite"])
    check(run.status == 2 and needle in run.err, run.tail())


for name in ("first with ghosts",) if suite.fast else PARTS:
    for method in CASES:
        suite.case(f"{name}, {method}", part_case, method, name)
for method in ("hf",) if suite.fast else CASES:
    suite.case(f"counterpoise, {method}", counterpoise_case, method)
suite.case("spellings", spelling_case)
suite.case("differences", difference_case)
suite.case("ghosts alone", refused_case, "electrons", ["Gh-O 0 0 0"])
suite.case("a ghost of nothing", refused_case, "unknown element", ["Gh-Q 0 0 0", "H 0 0 1"])
suite.case("spins of ghosts", refused_case, "there is no atom", ["Gh-O 0 0 0", "H 0 0 1"], guess={"spins": '"O 1"'})
suite.end()
