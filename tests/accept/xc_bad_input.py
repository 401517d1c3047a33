#!/usr/bin/env python3
"""Bad decks of family xc get a clear message and the promised exit status, and leave nothing behind.

usage: xc_bad_input.py TESELA [--fast] [ONLY]

Each case runs alone and with two ranks (--fast: with two ranks only where ranks matter).
"""
import re

import harness
import refusal
from harness import check
from refusal import LIMIT, change

suite = harness.Suite(__doc__, jobs=4)
refusals = refusal.Refusals(suite)
both = refusals.both

WATER = """family: xc
xc:
  molecule:
    atoms: "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"
  basis: STO-3G
  functional: pbe
  grid: {preset: coarse}
"""


def good_deck():
    suite.write("good.yaml", WATER)
    run = suite.run(["run", "good.yaml", "-o", "good.h5", "--overwrite", "-q"], timeout=LIMIT)
    check(run.status == 0, run.tail())


def molecule_cases():
    both("no molecule", change('atoms: "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"', "charge: 0", WATER),
         ["xc.molecule", "exactly one"], ranks_matter=True)
    both("two molecules", change("    atoms:", "    xyz: water.xyz\n    atoms:", WATER), ["exactly one"])
    both("an unknown element", change("O 0 0", "Oo 0 0", WATER), ["bad.yaml:4", "Oo"])
    both("atoms on each other", change("-0.757 0 -0.4696", "0.757 0 -0.4697", WATER), ["bad.yaml:3", "Angstrom"])
    both("NaN", change("-0.757", "nan", WATER), ["bad.yaml:4", "nan"])
    both("a coordinate missing", change("H -0.757 0 -0.4696", "H -0.757 0", WATER), ["bad.yaml:4"])
    both("odd electrons as a singlet", change("    atoms:", "    charge: 1\n    multiplicity: 1\n    atoms:", WATER),
         ["bad.yaml", "multiplicity"], ranks_matter=True)
    both("no electron", change("    atoms:", "    charge: 10\n    atoms:", WATER), ["electron"])
    both("no file", change('atoms: "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"', "xyz: none.xyz", WATER),
         ["none.xyz"], ranks_matter=True)
    suite.write("short.xyz", "3\n\nO 0 0 0\nH 0 0 1\n")
    both("too few atoms", change('atoms: "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"', "xyz: short.xyz", WATER),
         ["short.xyz"])
    suite.write("nan.txt", "0 0 3 nan\n")
    both("NaN in charges", change("    atoms:", "    charges: nan.txt\n    atoms:", WATER), ["nan.txt"])
    both("atoms closer than 0.1 Angstrom", change("H -0.757 0 -0.4696", "H 0 0 0.2", WATER), ["bad.yaml:3", "Angstrom"])
    suite.write("on.txt", "0.757 0 -0.4696 1\n")
    both("a charge on an atom", change("    atoms:", "    charges: on.txt\n    atoms:", WATER), ["charge", "Angstrom"])
    both("charge beside JSON", change('atoms: "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"',
         "json: x.json\n    charge: 1", WATER), ["xc.molecule.charge", "remove"])


def name_cases():
    both("a functional misspelt", change("pbe", "pbee", WATER), ["bad.yaml:6", "pbee", "pbe"], ranks_matter=True)
    both("a meta-GGA", change("pbe", "mgga_x_scan", WATER), ["bad.yaml:6", "meta"])
    both("a basis misspelt", change("STO-3G", "STO-3", WATER), ["bad.yaml:5", "STO-3G"], ranks_matter=True)
    both("an element that the basis lacks", change("STO-3G", "def2-SVP", change("O 0 0", "Ag 0 0", WATER)), ["Ag"])
    both("a preset misspelt", change("coarse", "corse", WATER), ["bad.yaml:7", "coarse"])
    both("an angular rule that is none", change("preset: coarse", "radial: 30, angular: 51", WATER), ["bad.yaml:7", "51"])
    both("radial without angular", change("preset: coarse", "radial: 30", WATER), ["xc.grid", "together"])
    both("a fitting set with exact Coulomb", WATER + "  fitting: DZVP-fit\n", ["xc.fitting", "remove"])
    both("restricted orbitals of a triplet", change("    atoms:", "    multiplicity: 3\n    atoms:", WATER)
         + "  reference: restricted\n", ["xc.reference", "alpha"])
    both("keys of other groups", WATER + "  groups: {kind: kd, side: 3}\n", ["xc.groups.side", "kd"])
    both("an unknown key", WATER + "  iterations: 3\n", ["bad.yaml:8", "iterations"])
    both("damping of 1", WATER + "  scf: {damping: 1}\n", ["bad.yaml:8", "damping"])
    both("more memory of DIIS than there is", WATER + "  scf: {diis: 99}\n", ["bad.yaml:8", "diis"])


def basis_cases():
    suite.write("l5.nw", "BASIS SPHERICAL\nH H\n 1.0 1.0\nO S\n 1.0 1.0\nEND\n")
    both("angular momentum above the limit", change("STO-3G", "./l5.nw", WATER), ["l5.nw"])
    suite.write("tiny.nw", "BASIS SPHERICAL\nH S\n 1.0 1.0\nO S\n 1.0 1.0\nEND\n")
    both("fewer functions than electrons", change("STO-3G", "./tiny.nw", WATER), ["xc.basis", "electrons"])
    suite.write("noise.nw", b"\x00\xff\x01BASIS\n")
    both("a basis that is no text", change("STO-3G", "./noise.nw", WATER), ["noise.nw"])


def dependent_case():
    """The same functions twice: half of them are left out, the energy stays, and that is reported."""
    shells = "H S\n 1.3 1.0\nH S\n 0.3 1.0\nO S\n 20 1.0\nO S\n 5 1.0\nO S\n 0.5 1.0\nO P\n 0.9 1.0\n"
    energies = []
    for name, text in (("once", shells), ("twice", shells + shells)):
        suite.write(f"{name}.nw", f"BASIS SPHERICAL\n{text}END\n")
        suite.write("dependent.yaml", change("STO-3G", f"./{name}.nw", WATER))
        run = suite.run(["run", "dependent.yaml", "-o", f"{name}.h5", "--overwrite"], timeout=LIMIT)
        check(run.status == 0, run.tail())
        with harness.h5py.File(suite.path(f"{name}.h5"), "r") as file:
            lines = dict(file["results"].attrs)
        energies.append(lines["total energy"])
        check(lines["independent functions"] == 10, f"{name}: {lines['independent functions']} independent functions")
        check(lines["functions"] == (10 if name == "once" else 20), f"{name}: {lines['functions']} functions")
        check((lines["smallest eigenvalue of overlap"] < 1e-10) == (name == "twice"), "the overlap's eigenvalue")
        check(name == "once" or "independent functions" in run.out, run.out[-600:])
    check(abs(energies[1] - energies[0]) < 1e-8, f"energies {energies}")


def unconverged_case():
    """Status 3, and the output is kept with its verdict and the reason."""
    suite.write("few.yaml", WATER + "  scf: {iterations: 2}\n")
    run = suite.run(["run", "few.yaml", "-o", "few.h5", "--overwrite"], timeout=LIMIT)
    check(run.status == 3 and "not converged in 2 iterations" in run.err, run.tail())
    with harness.h5py.File(suite.path("few.h5"), "r") as file:
        check(file["run"].attrs["verdict"] == "INVALID", "the verdict is not INVALID")
        check("not converged" in str(file["run"].attrs["reason"]), "no reason")
        check(file["results/density"].shape == (1, 7, 7), "the density is not kept")


def memory_case():
    """Whatever of the fitting integrals may be kept, the energy is the same; bytes below 0 are refused."""
    tree = change("functional: pbe", "functional: pbe\n  coulomb: fitted\n  cache: 0", WATER)
    suite.write("memory.yaml", tree)
    words = ["run", "memory.yaml", "-o", "memory.h5", "--overwrite", "--set", "run.device=cpu"]
    energies = []
    for keep in ("0", "100 KiB", "1 TiB"):
        run = suite.run([*words, "--set", f"xc.fitting_cache={keep}"], timeout=LIMIT)
        check(run.status == 0, run.tail())
        with harness.h5py.File(suite.path("memory.h5"), "r") as file:
            energies.append(file["results"].attrs["total energy"])
    check(max(energies) - min(energies) < 1e-9, f"energies {energies}")
    run = suite.run([*words, "--set", "xc.fitting_cache=-1"], timeout=LIMIT)
    check(run.status == 2 and "xc.fitting_cache" in run.err, run.tail())


NEEDS = r"needs at least ([\d.]+) (KiB|MiB|GiB)"
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def capped(sets, ranks=None):
    """A run of a larger basis under a cap: its energy, and what ranks did without."""
    suite.write("cap.yaml", change("STO-3G", "def2-TZVP", WATER))
    words = [w for s in ("run.device=cpu", "run.threads=2", "run.ranks=all", *sets) for w in ("--set", s)]
    run = suite.run(["run", "cap.yaml", "-o", "cap.h5", "--overwrite", *words], ranks, timeout=LIMIT)
    check(run.status == 0, run.tail())
    with harness.h5py.File(suite.path("cap.h5"), "r") as file:
        told = {int(row["rank"]): row["told"].decode() for row in file["run/memory"][()]}
        limits = file["run/machine"]["host_limit"][()]
        energy = file["results"].attrs["total energy"]
    for rank, text in told.items():
        check(f"rank {rank} {text}" in run.out, f"not printed: {text}")
    return energy, told, limits


def cap_case(coulomb, ranks):
    """A cap that nothing fits is refused with what is needed; that much is enough, and more keeps more."""
    key, sets = "run.host_memory", [f"xc.coulomb={coulomb}"]
    suite.write("cap.yaml", change("STO-3G", "def2-TZVP", WATER))
    words = [w for s in ("run.device=cpu", "run.threads=2", *sets, f"{key}=1 MiB") for w in ("--set", s)]
    run = suite.run(["run", "cap.yaml", "-o", "none.h5", *words], ranks, timeout=LIMIT)
    check(run.status == 3 and run.err.count("tesela: error:") == 1, run.tail())
    check(f"raise {key}" in run.err and "may use 1.0 MiB" in run.err, run.tail())
    found = re.search(NEEDS, run.err)
    check(found is not None, run.tail())
    least = float(found[1]) * UNITS[found[2]]
    check((1 << 20) < least < (32 << 20), f"needs {least:.4g} B")
    whole, told, _ = capped(sets, ranks)
    check(not told, f"with all memory: {told}")
    kept = []
    for cap in (least, 2 * least, 8 * least):
        energy, told, limits = capped([*sets, f"{key}={int(cap)}"], ranks)
        check(abs(energy - whole) < 1e-9, f"{int(cap)} B: {energy - whole:.1e} hartree")
        check((limits == int(cap)).all(), f"limits {limits}")
        kept.append(min(int(re.search(r"keeps functions of (\d+) of", told[r])[1]) if r in told else 1000
                        for r in range(ranks or 1)))
        if cap == least:
            check(len(told) == (ranks or 1) and all("run.host_memory" in t for t in told.values()), f"told {told}")
            check(coulomb == "exact" or all("fitting integrals" in t for t in told.values()), f"told {told}")
    check(kept[0] < 4 and kept == sorted(kept) and kept[2] > kept[0], f"groups kept: {kept}")
    return f"needs {found[1]} {found[2]}, groups kept {kept}"


def no_cache_case():
    """A cache of the deck is obeyed, and what is left out is said."""
    whole, _, _ = capped([])
    energy, told, _ = capped(["xc.cache=0"])
    check(abs(energy - whole) < 1e-9 and "keeps functions of 0 of" in told.get(0, ""), f"told {told}")
    run = suite.run(["run", "cap.yaml", "-o", "none.h5", "--set", "run.host_memory=1 KiB"], timeout=LIMIT)
    check(run.status == 2 and "run.host_memory" in run.err, run.tail())


def file_cases():
    suite.write("mine.molden", "my notes\n")
    suite.write("mine.json", "{}\n")
    both("a Molden file by another name", WATER + "  molden: water.txt\n", ["xc.molden", ".molden"])
    both("a file that is no Molden file", WATER + "  molden: mine.molden\n", ["not replaced"], ranks_matter=True)
    both("a JSON file that is no result", WATER + "  qcschema: mine.json\n", ["not replaced"])
    both("a folder that is not there", WATER + "  molden: none/water.molden\n", ["none/water.molden", "No such"])
    both("the output twice", WATER + "  qcschema: out.json\n", ["output file too"], output="out.json")


def json_cases():
    molecule = '"molecule": {"symbols": ["He"], "geometry": [0, 0, 0]}'
    tree = change('atoms: "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"', "json: mol.json", WATER)
    for name, text, needles in (
            ("JSON cut short", "{" + molecule, ["mol.json:1"]),
            ("JSON of an optimisation", f'{{"driver": "gradient", {molecule}}}', ["driver", "gradient"]),
            ("JSON with keywords", f'{{"keywords": {{"scf_type": "df"}}, {molecule}}}', ["keywords"]),
            ("JSON without a geometry", '{"molecule": {"symbols": ["He"]}}', ["geometry"])):
        suite.write("mol.json", text)
        both(name, tree, needles)
    suite.write("bare.json", "{" + molecule + "}")
    suite.case("JSON without a method", bare_case)


def bare_case():
    run = suite.run(["run", "bare.json", "-o", "bare.h5"], timeout=LIMIT)
    check(run.status == 2 and "xc.functional" in run.err, run.tail())


suite.case("the deck that the cases start from is good", good_deck)
molecule_cases()
name_cases()
basis_cases()
file_cases()
json_cases()
suite.case("linear dependence", dependent_case)
suite.case("memory", memory_case)
for coulomb in ("exact", "fitted"):
    suite.case(f"too little memory, {coulomb} Coulomb", cap_case, coulomb, None)
suite.case("too little memory, 2 ranks", cap_case, "fitted", 2)
suite.case("no functions kept", no_cache_case)
suite.case("no convergence", unconverged_case)
suite.end()
