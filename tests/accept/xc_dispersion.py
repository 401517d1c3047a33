#!/usr/bin/env python3
"""Dispersion of family xc (xc.dispersion).

usage: xc_dispersion.py TESELA [--fast] [ONLY]

Truth: xc_dispersion_truth.json, which tools/xc_dispersion_truth made with the libraries' own Python
interfaces, and differences of energies of this program. Skipped where the libraries are not found.
"""
import json
import os
import sys

import harness
from harness import check, np
from xc_harness import near, solve

suite = harness.Suite(__doc__, jobs=2)
HERE = os.path.dirname(os.path.abspath(__file__))
BOHR = 0.529177210903
with open(os.path.join(HERE, "xc_dispersion_truth.json"), encoding="ascii") as truth_file:
    TRUTH = {case["name"]: case for case in json.load(truth_file)["cases"]}
KINDS = {"d3bj": "libs-dftd3.so", "d4": "libdftd4.so"}


def deck(case, kind, **more):
    """A field in few functions: dispersion does not depend on it."""
    molecule = {"atoms": f'"{case["atoms"]}"', "charge": case.get("charge", 0)}
    section = {"task": "gradient", "molecule": molecule, "basis": "STO-3G", "functional": case["functional"],
               "dispersion": kind, "grid": {"radial": 20, "angular": 50, "pruning": "none"},
               "scf": {"energy": 1e-10, "commutator": 1e-7}, **more}
    return {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "xc": section}


def lacking(kind):
    """Is the library of a kind not here?"""
    path = suite.deck("probe.yaml", deck(TRUTH["water"], kind, task="energy"))
    run = suite.run(["run", path, "-o", suite.path("probe.h5"), "-q", "--overwrite"])
    return run.status == 2 and "is not here" in run.err


def truth_case(name, kind):
    """What is added to energy and gradient; nothing else changes."""
    case = TRUTH[name]
    lines, data = solve(suite, deck(case, kind), name="with")
    bare, plain = solve(suite, deck(case, "none"), name="without")
    check("dispersion" not in bare, "a line for nothing")
    near("dispersion", lines["dispersion"], case[kind]["energy"], 1e-10)
    near("added to the energy", lines["total energy"] - bare["total energy"], case[kind]["energy"], 1e-9)
    near("added to the gradient", data["gradient"] - plain["gradient"], case[kind]["gradient"], 1e-7)
    return f"{case[kind]['energy']:.2e} hartree"


def difference_case(kind):
    """The gradient is the energy's derivative."""
    case, step, energies = TRUTH["dimer"], 4e-3, {}
    grid = {"radial": 50, "angular": 194, "pruning": "none"}
    tight = {"energy": 1e-11, "commutator": 1e-8}
    _, data = solve(suite, deck(case, kind, functional="hf", grid=grid, scf=tight), name="slope")
    atoms = [line.split() for line in case["atoms"].split(";")]
    for k in (-2, -1, 1, 2):
        moved = [list(words) for words in atoms]
        moved[3][3] = repr(float(atoms[3][3]) + k * step * BOHR)
        there = {**case, "atoms": "; ".join(" ".join(words) for words in moved)}
        energies[k] = solve(suite, deck(there, kind, task="energy", functional="hf", grid=grid, scf=tight))[0]["total energy"]
    found = (8 * (energies[1] - energies[-1]) - (energies[2] - energies[-2])) / (12 * step)
    off = abs(found - data["gradient"][3, 2])
    check(off < 1e-8, f"{data['gradient'][3, 2]:.10f}, by differences {found:.10f}")
    return f"{off:.1e} hartree/bohr away"


def schema_case(kind):
    """QCSchema's output has it."""
    case = TRUTH["water"]
    lines, _ = solve(suite, deck(case, kind, qcschema=suite.path("out.json")))
    with open(suite.path("out.json"), encoding="utf-8") as file:
        properties = json.load(file)["properties"]
    near("its energy", properties["scf_dispersion_correction_energy"], case[kind]["energy"], 1e-10)
    near("total", properties["scf_total_energy"], lines["total energy"], 1e-12)


def refused_case(kind, needle, env=None, **more):
    path = suite.deck("bad.yaml", deck(TRUTH["water"], kind, **more))
    run = suite.run(["run", path, "-o", suite.path("bad.h5"), "-q", "--overwrite"], env=env)
    check(run.status == 2 and "xc.dispersion" in run.err and needle in run.err, run.tail())


for word, library in KINDS.items():
    suite.case(f"{word}, no library", refused_case, word, library, env={"TSL_DISPERSION": "/nowhere"})
if any(lacking(word) for word in KINDS):
    print("skipped: the libraries of PyPI's pyscf-dispersion are not found")
    sys.exit(77)
for word in KINDS:
    for molecule in ("dimer", "thiolate") if suite.fast else TRUTH:
        suite.case(f"{molecule}, {word}", truth_case, molecule, word)
    suite.case(f"differences, {word}", difference_case, word)
    suite.case(f"QCSchema, {word}", schema_case, word)
    suite.case(f"a functional without parameters, {word}", refused_case, word, "svwn5", functional="svwn5")
    suite.case(f"a sum, {word}", refused_case, word, "sum", functional='"0.5*pbe + 0.5*blyp"')
suite.end()
