#!/usr/bin/env python3
"""Bad decks of family xc get a clear message and the promised exit status, and leave nothing behind.

usage: xc_bad_input.py TESELA [--fast] [ONLY]

Each case runs alone and with two ranks (--fast: with two ranks only where ranks matter).
"""
import os
import re
import resource
import shutil

import harness
import refusal
from harness import check, np
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
    for name, text, needle in (("an empty file of charges", "", "charges.txt"),
                               ("a file of charges with nothing but comments", "# x y z q\n\n", "no numbers"),
                               ("charges with three columns", "0 0 3\n", "x y z q"),
                               ("charges with five columns", "0 0 3 1 1\n", "x y z q"),
                               ("charges with uneven rows", "0 0 3 1\n0 0 4\n", "charges.txt:2"),
                               ("a charge beyond all places", "0 0 1.7e308 1\n", "point charge 1: 1.7e+308"),
                               ("charges that are text", "0 0 3 one\n", "charges.txt:1")):
        suite.write("charges.txt", text)
        both(name, change("    atoms:", "    charges: charges.txt\n    atoms:", WATER),
             ["bad.yaml:4", "xc.molecule.charges", needle])
    both("atoms closer than 0.1 Angstrom", change("H -0.757 0 -0.4696", "H 0 0 0.2", WATER), ["bad.yaml:3", "Angstrom"])
    suite.write("on.txt", "0.757 0 -0.4696 1\n")
    both("a charge on an atom", change("    atoms:", "    charges: on.txt\n    atoms:", WATER), ["charge", "Angstrom"])
    both("charge beside JSON", change('atoms: "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"',
         "json: x.json\n    charge: 1", WATER), ["xc.molecule.charge", "remove"])


def name_cases():
    both("a functional misspelt", change("pbe", "pbee", WATER), ["bad.yaml:6", "pbee", "pbe"], ranks_matter=True)
    both("a published functional misspelt", change("functional: pbe", "functional: revPBEE", WATER), ["bad.yaml:6", "'revpbe'"])
    both("a functional of the Laplacian", change("pbe", "mgga_x_br89", WATER), ["bad.yaml:6", "Laplacian"])
    for name, needle in (("b97-d", "dispersion"), ("rvv10", "non-local"), ("pbe-d3", "dispersion"),
                         ("gga_x_optb88_vdw+gga_c_pbe", "non-local"), ("r2SCANL", "meta-GGA"), ("wB97M-rV", "non-local"),
                         ("wB97X-D", "a correction for dispersion"),
                         ("B2PLYP", "double hybrid"), ("revPBE-D3(BJ)", "'revpbe' is without")):
        both(f"{name}, which is not all computed here", change("functional: pbe", f"functional: {name}", WATER),
             ["bad.yaml:6", "xc.functional", needle])
    for name, key, needle, more in (
            ("VV10 of a local functional", "xc.nonlocal", "local", "  nonlocal: {b: 5.9}\n"),
            ("VV10 twice", "xc.nonlocal.b", "of its own", "  nonlocal: {b: 5.9}\n"),
            ("points of no VV10", "xc.nonlocal", "b: NUMBER", "  nonlocal: {preset: fine}\n"),
            ("C without b", "xc.nonlocal.c", "b alone", "  nonlocal: {c: 0.01}\n"),
            ("dispersion twice", "xc.dispersion", "twice", "  nonlocal: {b: 5.9}\n  dispersion: d3bj\n"),
            ("radial points of VV10 alone", "xc.nonlocal", "together", "  nonlocal: {b: 5.9, radial: 30}\n")):
        functional = {"VV10 of a local functional": "svwn5", "VV10 twice": "b97m-v"}.get(name, "pbe")
        both(name, change("functional: pbe", f"functional: {functional}", WATER) + more, [key, needle])
    both("a basis misspelt", change("STO-3G", "STO-3", WATER), ["bad.yaml:5", "STO-3G"], ranks_matter=True)
    both("an element that the basis lacks", change("O 0 0", "Au 0 0", WATER), ["no functions for Au"])
    both("a preset misspelt", change("coarse", "corse", WATER), ["bad.yaml:7", "coarse"])
    both("an angular rule that is none", change("preset: coarse", "radial: 30, angular: 51", WATER), ["bad.yaml:7", "51"])
    both("radial without angular", change("preset: coarse", "radial: 30", WATER), ["xc.grid", "together"])
    fitted = change("pbe", "pbe0", WATER) + "  coulomb: fitted\n  exchange: fitted\n"
    both("fitted exchange with exact Coulomb", change("  coulomb: fitted\n", "", fitted), ["xc.exchange", "coulomb: fitted"],
         ranks_matter=True)
    both("fitted exchange of a functional without any", change("pbe0", "pbe", fitted), ["xc.exchange", "no exact exchange"])
    both("fitted exchange that is to be reproducible", fitted + "  reproducible: yes\n", ["xc.exchange", "reproducible"])
    both("fitted exchange of changes", fitted + "  scf: {rebuild: 4}\n", ["xc.scf.rebuild", "remove"])
    both("fitted exchange with a set that is not there", fitted + "  fitting: none.nw\n", ["xc.fitting", "none.nw"])
    both("fitted exchange beyond the set", change("O 0 0 0.1174", "Fe 0 0 0.1174", fitted), ["xc.fitting", "Fe"])
    both("a fitting set with exact Coulomb", WATER + "  fitting: DZVP-fit\n", ["xc.fitting", "remove"])
    both("restricted orbitals of a triplet", change("    atoms:", "    multiplicity: 3\n    atoms:", WATER)
         + "  reference: restricted\n", ["xc.reference", "alpha"])
    both("keys of other groups", WATER + "  groups: {kind: kd, side: 3}\n", ["xc.groups.side", "kd"])
    both("an unknown key", WATER + "  iterations: 3\n", ["bad.yaml:8", "iterations"])
    both("damping of 1", WATER + "  scf: {damping: 1}\n", ["bad.yaml:8", "damping"])
    both("an accelerator misspelt", WATER + "  scf: {accelerator: adiis}\n", ["bad.yaml:8", "adiis+diis"])
    both("an accelerator without DIIS", WATER + "  scf: {accelerator: diis, diis: 0}\n", ["bad.yaml:8", "xc.scf.accelerator", "remove"])
    both("smearing by nobody", WATER + "  smearing: {kind: fermo}\n", ["bad.yaml:8", "fermi"])
    both("smearing without a width", WATER + "  smearing: {kind: fermi, width: 0}\n", ["bad.yaml:8", "width"])
    both("a width of nothing", WATER + "  smearing: {width: 0.01}\n", ["bad.yaml:8", "xc.smearing.width", "kind"])
    both("stability of smeared levels", WATER + "  smearing: {kind: fermi}\n  scf: {stability: check}\n",
         ["bad.yaml:9", "xc.scf.stability", "occupations 0 and 1"])
    both("smearing of shifted levels", WATER + "  smearing: {kind: gaussian}\n  scf: {level_shift: 0.3}\n",
         ["bad.yaml:9", "xc.scf.level_shift", "damping"])
    both("more memory of DIIS than there is", WATER + "  scf: {diis: 99}\n", ["bad.yaml:8", "diis"])


def spins_cases():
    def spins(text, base=WATER):
        return base + f'  guess: {{spins: "{text}"}}\n'

    triplet = change("    atoms:", "    multiplicity: 3\n    atoms:", WATER)
    for name, deck, needles in (
            ("spins without a number", spins("O"), ["bad.yaml:8", "xc.guess.spins", "spins:1", "atom spin"]),
            ("a spin that is text", spins("1 up"), ["spins:1", "'up'"]),
            ("a spin of NaN", spins("1 nan"), ["finite"]),
            ("a spin of an atom that is not there", spins("1 1; 4 -1"), ["spins:2", "1..3"]),
            ("atom 0", spins("0 1"), ["spins:1", "1..3"]),
            ("a spin of an element that is not there", spins("Fe 2; O -2"), ["no atom Fe"]),
            ("a spin of no element", spins("Ox 2"), ["Ox"]),
            ("more unpaired electrons than there are", spins("1 9; 2 -9"), ["atom 1 (O)", "9 electrons"]),
            ("spins of another multiplicity", spins("1 2; 2 -1"), ["1 unpaired", "0 by its multiplicity 1"]),
            ("spins of another triplet", spins("1 1", triplet), ["1 unpaired", "2 by its multiplicity 3"]),
            ("spins of restricted orbitals", spins("2 1; 3 -1") + "  reference: restricted\n", ["xc.reference", "guess.spins"]),
            ("spins beside a file", WATER + '  guess: {spins: "2 1; 3 -1", file: none.h5}\n', ["xc.guess.spins", "remove"])):
        both(name, deck, needles)


def basis_cases():
    suite.write("l5.nw", "BASIS SPHERICAL\nH H\n 1.0 1.0\nO S\n 1.0 1.0\nEND\n")
    both("angular momentum above the limit", change("STO-3G", "./l5.nw", WATER), ["l5.nw"])
    suite.write("tiny.nw", "BASIS SPHERICAL\nH S\n 1.0 1.0\nO S\n 20.0 1.0\nEND\n")
    both("fewer functions than electrons", change("STO-3G", "./tiny.nw", WATER), ["xc.basis", "electrons"])
    suite.write("valence.nw", "BASIS SPHERICAL\nH S\n 1.0 1.0\nO S\n 8.519 -0.14551\n 2.073 0.08286\n 0.6471 0.74325\n"
                "O S\n 0.2 1.0\nO P\n 0.6471 1.0\nEND\n")  # oxygen of SBKJC, whose core is a potential
    both("a basis without a core", change("STO-3G", "./valence.nw", WATER), ["bad.yaml:5", "xc.basis", "core of O"])
    suite.write("oxygen.nw", "BASIS SPHERICAL\nO S\n 30.0 1.0\nEND\n")
    both("a basis that lacks an element", change("STO-3G", "./oxygen.nw", WATER), ["bad.yaml:5", "no functions for H"])
    suite.write("odd.nw", "ECP\nO nelec 3\nEND\n")
    both("a core that is no closed shells", WATER + "  ecp: ./odd.nw\n", ["xc.ecp", "odd.nw:2", "closed shells"])
    both("no potentials where they are asked for", WATER + "  ecp: ./tiny.nw\n", ["xc.ecp", "no effective core potentials"])
    suite.write("core.nw", "ECP\nO nelec 2\nO ul\n2 3.0 -1.0\nO S\n2 2.0 9.0\nEND\n")
    both("electrons that a potential has replaced", change("    atoms", "    charge: 9\n    atoms", WATER) + "  ecp: ./core.nw\n",
         ["xc.molecule", "charge 9 leaves -1 electrons"])
    heavy = "family: xc\nxc:\n  molecule: {atoms: Cs 0 0 0; H 0 0 2.5}\n  basis: def2-SVP\n  functional: hf\n"
    both("a grid that ends before an element", heavy + "  grid: {preset: lio1}\n", ["xc.grid", "Slater", "55"])
    suite.write("noise.nw", b"\x00\xff\x01BASIS\n")
    both("a basis that is no text", change("STO-3G", "./noise.nw", WATER), ["noise.nw"])


def lio_file_case():
    """A file of LIO's kind with words and exponents that LIO passes over: a warning, and the energy without them."""
    clean = ("gaussian\n 8 5 3\n 3 1 1\n 0 0 1\n 130.7 0.15\n 23.8 0.53\n 6.4 0.44\n 0.4 1\n 0.9 1\n"
             "gaussian\n 1 2 1\n 2\n 0\n 3.4 0.15\n 0.6 0.5\nendbasis\n")
    strange = ("# a library\ngaussian\n 8 6 3 surplus\n 4 1 1  1 1\n 0 0 1\n 130.7 0.15 0.7\n 23.8 0.53\n 6.4 0.44\n"
               " 0.0 0.1\n 0.4 1\n 0.9 1 1\ngaussian\n 1 2 1\n 2\n 0\n 3.4 0.15\n 0.6 0.5\n"
               "gaussian\n 79 1 1\n 1\n 0\n 1 1\nendbasis\n")
    energies = []
    for name, text in (("clean", clean), ("strange", strange)):
        suite.write(f"{name}.lio", text)
        suite.write("lio.yaml", change("STO-3G", f"./{name}.lio", WATER))
        run = suite.run(["run", "lio.yaml", "-o", "lio.h5", "--overwrite", "-q"], timeout=LIMIT)
        check(run.status == 0, run.tail())
        warned = [line for line in run.err.splitlines() if "warning" in line and "read as LIO does" in line]
        check(len(warned) == (name == "strange"), f"{name}: {run.err}")
        with harness.h5py.File(suite.path("lio.h5"), "r") as file:
            energies.append(file["results"].attrs["total energy"])
    check("surplus words on 4 lines" in warned[0] and "1 primitives of exponent 0" in warned[0] and "line 9" in warned[0], warned[0])
    check(abs(energies[0] - energies[1]) < 1e-12, f"energies {energies}")


def input_line_case():
    """One line says how the input was read."""
    suite.write("two.txt", "0 0 3 0.25\n0 0 -4 -0.5\n")
    suite.write("read.yaml", change("    atoms:", "    charges: two.txt\n    charge: -1\n    atoms:", WATER))
    run = suite.run(["run", "read.yaml", "-o", "read.h5", "--overwrite"], timeout=LIMIT)
    check(run.status == 0, run.tail())
    line = [one for one in run.out.splitlines() if one.startswith("read ")]
    wanted = ("H2O, 3 atoms from the deck in Angstrom, charge -1, multiplicity 2; 2 point charges, in all -0.25 e, "
              "from two.txt in Angstrom; basis STO-3G of those that come with tesela, 7 functions")
    check(line == [f"read {wanted}"], f"{line}")


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


def continued_case(coulomb, ranks):
    """What did not converge goes on with more iterations, as if there had been enough at once; and its density is a guess."""
    suite.write("more.yaml", change("functional: pbe", f"functional: b3lyp\n  coulomb: {coulomb}", WATER))
    words = ["run", "more.yaml", "--overwrite", "-q", "--set", "run.device=cpu", "--set", "run.ranks=all"]
    whole = suite.run([*words, "-o", "whole.h5"], ranks, timeout=LIMIT)
    check(whole.status == 0, whole.tail())
    run = suite.run([*words, "-o", "more.h5", "--set", "xc.scf.iterations=4"], ranks, timeout=LIMIT)
    check(run.status == 3 and "--restart more.h5" in run.err and "xc.scf.iterations" in run.err, run.tail())
    with harness.h5py.File(suite.path("more.h5"), "r") as file:
        early = file["results/history"][()]
    guess = suite.run([*words, "-o", "guess.h5", "--set", "xc.guess.file=more.h5"], ranks, timeout=LIMIT)
    check(guess.status == 0, guess.tail())
    run = suite.run([*words, "-o", "more.h5", "--restart", "more.h5", "--set", "xc.functional=pbe"], ranks, timeout=LIMIT)
    check(run.status == 2 and "xc.functional" in run.err and "xc.scf.iterations" in run.err, run.tail())
    run = suite.run([*words, "-o", "more.h5", "--restart", "more.h5", "--set", "xc.scf.iterations=50"], ranks, timeout=LIMIT)
    check(run.status == 0, run.tail())
    check(not [name for name in os.listdir(suite.folder) if name.startswith("more.h5.")], f"left: {os.listdir(suite.folder)}")
    found = {}
    for name in ("whole", "more", "guess"):
        with harness.h5py.File(suite.path(f"{name}.h5"), "r") as file:
            found[name] = dict(file["results"].attrs), file["results/history"][()]
    check(abs(found["more"][0]["total energy"] - found["whole"][0]["total energy"]) < 1e-10, "another energy")
    check(found["more"][0]["iterations"] == found["whole"][0]["iterations"], "other iterations in all")
    check(np.abs(found["more"][1] - found["whole"][1]).max() < 1e-6, "another history")
    check(np.abs(found["more"][1][:3] - early[:3]).max() < 1e-12, "the history has lost its beginning")
    check(abs(found["guess"][0]["total energy"] - found["whole"][0]["total energy"]) < 1e-7, "another energy from the guess")
    check(found["guess"][0]["iterations"] < found["whole"][0]["iterations"], "the guess spares nothing")


def guess_case():
    """A density of the same atoms in the same basis, moved a little; all others are refused."""
    suite.write("first.yaml", WATER)
    run = suite.run(["run", "first.yaml", "-o", "first.h5", "--overwrite", "-q"], timeout=LIMIT)
    check(run.status == 0, run.tail())
    with harness.h5py.File(suite.path("first.h5"), "r") as file:
        plain = dict(file["results"].attrs)
        check(file["results/atoms"].shape == (3, 5) and file["results/atoms"][0, 0] == 8, "the atoms")
        check(file["results/basis"].shape == (15, 6), f"the basis: {file['results/basis'].shape}")
    guess = WATER + "  guess: {file: first.h5}\n"

    def solve(deck):
        suite.write("guess.yaml", deck)
        run = suite.run(["run", "guess.yaml", "-o", "guess.h5", "--overwrite"], timeout=LIMIT)
        check(run.status == 0 and "guess from first.h5" in run.out, run.tail())
        with harness.h5py.File(suite.path("guess.h5"), "r") as file:
            return dict(file["results"].attrs)

    same = solve(guess)
    check(same["iterations"] <= 2 and abs(same["total energy"] - plain["total energy"]) < 1e-8, f"{same}")
    moved = change("O 0 0 0.1174", "O 0 0 0.1574", guess)
    suite.write("alone.yaml", change("O 0 0 0.1174", "O 0 0 0.1574", WATER))
    run = suite.run(["run", "alone.yaml", "-o", "alone.h5", "--overwrite", "-q"], timeout=LIMIT)
    with harness.h5py.File(suite.path("alone.h5"), "r") as file:
        alone = dict(file["results"].attrs)
    near = solve(moved)
    check(abs(near["total energy"] - alone["total energy"]) < 1e-7 and near["iterations"] <= alone["iterations"], f"{near}")
    spins = solve(change("    atoms:", "    multiplicity: 3\n    atoms:", guess))
    check(spins["spin square"] > 1.9, f"{spins}")
    shutil.copy(suite.path("first.h5"), suite.path("torn.h5"))
    with harness.h5py.File(suite.path("torn.h5"), "r+") as file:
        file["results/density"][0, 0, 0] += 0.3
    shutil.copy(suite.path("first.h5"), suite.path("odd.h5"))
    with harness.h5py.File(suite.path("odd.h5"), "r+") as file:
        file["results/basis"][3, 2] = 7
    larger = change("STO-3G", "def2-SVP", guess)
    for deck, needle in ((change("O 0 0", "S 0 0", guess), "atomic number"), (change("O 0 0", "S 0 0", larger), "atomic number"),
                         (change("first.h5", "odd.h5", guess), "row 3 of its basis"), (change("first.h5", "torn.h5", larger), "electrons of spin"),
                         (change("O 0 0 0.1174", "O 0 0 1.1", guess), "Angstrom from where"),
                         (change("; H -0.757 0 -0.4696", "", change("    atoms:", "    charge: -1\n    atoms:", guess)), "3 atoms"),
                         (change("first.h5", "first.yaml", guess), "no HDF5 file"), (change("first.h5", "none.h5", guess), "none.h5"),
                         (change("first.h5", "torn.h5", guess), "electrons of spin")):
        suite.write("guess.yaml", deck)
        run = suite.run(["run", "guess.yaml", "-o", "no.h5"], timeout=LIMIT)
        check(run.status == 2 and "xc.guess.file" in run.err and needle in run.err, f"{needle}: {run.tail()}")


MAGNESIUM = """family: xc
xc:
  molecule: {atoms: "Mg 0 0 0"}
  basis: def2-SVP
  functional: pbe
  grid: {preset: coarse}
"""
CORE = """ECP
Mg nelec 10
Mg ul
2 1.2 -1.0
Mg S
2 1.5 8.0
END
"""


def core_case():
    """A density of atoms with their cores is no guess for some without; projections of functions are counted."""
    suite.write("core.nw", CORE)
    suite.write("all.yaml", MAGNESIUM)
    suite.write("core.yaml", MAGNESIUM + "  ecp: core.nw\n  guess: {file: all.h5}\n")
    run = suite.run(["run", "all.yaml", "-o", "all.h5", "--overwrite", "-q"], timeout=LIMIT)
    check(run.status == 0, run.tail())
    run = suite.run(["run", "core.yaml", "-o", "no.h5"], timeout=LIMIT)
    check(run.status == 2 and "xc.guess.file" in run.err and "replaces 0 electrons of atom 1" in run.err, run.tail())
    suite.write("heavy.yaml", change('"Mg 0 0 0"', '"I 0 0 0; I 0 0 2.7"', MAGNESIUM))
    run = suite.run(["run", "heavy.yaml", "-o", "no.h5", "--set", "run.device=cpu", "--set", "run.host_memory=6 MiB"],
                    timeout=LIMIT)
    check(run.status == 2 and "run.host_memory" in run.err and "more than" in run.err, run.tail())


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
    """A run of a larger basis under a cap: its energy, and what ranks did without. Groups stay where they were kept,
    whatever else makes a rank slow."""
    suite.write("cap.yaml", change("STO-3G", "def2-TZVP", WATER))
    fixed = ("run.device=cpu", "run.threads=2", "run.ranks=all", "run.rebalance=no")
    words = [w for s in (*fixed, *sets) for w in ("--set", s)]
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


def early_case():
    """What cannot fit in any case is refused before the grid and the integrals are made."""
    ball = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inputs", "xc", "c60.yaml")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = suite.run(["run", ball, "-o", "none.h5", "--set", "run.device=cpu", "--set", "run.host_memory=40 MiB"], timeout=LIMIT)
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    check(run.status == 2 and "run.host_memory" in run.err and "more than" in run.err, run.tail())
    good_deck()
    usual = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before - took  # a run of three atoms
    check(took < usual + 0.5, f"{took:.2f} s of processor time, a small run has {usual:.2f}")
    return f"{took:.2f} s of processor time"


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


def gradient_cases():
    both("a task that is none", WATER + "  task: forces\n", ["xc.task", "gradient"])
    both("response of an energy", change("preset: coarse", "preset: coarse, response: yes", WATER), ["xc.grid.response", "gradient"])


def cube_cases():
    def cube(text, base=WATER):
        return base + f"  cube: {{{text}}}\n"

    suite.write("mine.cube", "my notes\n")
    mo = "orbital_files: mo_*.cube, "
    for name, deck, needles in (
            ("an orbital that is none", cube(mo + "orbitals: homa"), ["xc.cube.orbitals", "'homa'", "lumo+1"]),
            ("half an orbital", cube(mo + "orbitals: homo-1x"), ["xc.cube.orbitals", "homo-1x"]),
            ("orbital 0", cube(mo + "orbitals: 0"), ["xc.cube.orbitals", "1..7"]),
            ("an orbital beyond the functions", cube(mo + "orbitals: 1 lumo+2"), ["xc.cube.orbitals", "orbital 8", "1..7"]),
            ("an orbital below the first", cube(mo + "orbitals: homo-5"), ["xc.cube.orbitals", "1..7"]),
            ("an orbital beyond all numbers", cube(mo + "orbitals: 99999999999999999999999"), ["xc.cube.orbitals", "1..7"]),
            ("beta's orbital of a singlet", cube(mo + 'orbitals: "beta:homo"'), ["xc.cube.orbitals", "remove beta:"]),
            ("an orbital twice", cube(mo + "orbitals: homo homo"), ["xc.cube.orbital_files", "mo_homo.cube"]),
            ("more orbitals than are written", cube(mo + f'orbitals: "{"1 " * 40}"'), ["xc.cube.orbital"]),
            ("orbitals without files", cube("orbitals: homo"), ["xc.cube.orbitals", "xc.cube.orbital_files"]),
            ("files without orbitals", cube("orbital_files: mo_*.cube"), ["xc.cube.orbital_files", "xc.cube.orbitals"]),
            ("files of one name", cube("orbitals: homo, orbital_files: mo.cube"), ["xc.cube.orbital_files", "one *"]),
            ("the spin of a singlet", cube("spin: s.cube"), ["xc.cube.spin", "same for both spins"]),
            ("a spacing below zero", cube("density: a.cube, spacing: -0.2"), ["spacing", "-0.2"]),
            ("no spacing", cube("density: a.cube, spacing: 0"), ["spacing"]),
            ("a margin below zero", cube("density: a.cube, margin: -1"), ["margin", "-1"]),
            ("a spacing of nothing", cube("spacing: 0.3"), ["xc.cube.spacing", "remove"]),
            ("a cube by another name", cube("density: a.txt"), ["xc.cube.density", ".cube"]),
            ("a file that is no cube of ours", cube("density: mine.cube"), ["xc.cube.density", "not replaced"]),
            ("a cube in a folder that is not there", cube("potential: none/a.cube"), ["xc.cube.potential", "No such"]),
            ("two cubes in one file", cube("potential: a.cube, density: ./a.cube"), ["a.cube", "too"]),
            ("a cube beyond all disks", cube("density: a.cube, spacing: 0.001, margin: 100"),
             ["xc.cube.spacing", "on disk", "of memory", "larger spacing"])):
        both(name, deck, ["bad.yaml:8", *needles])


def json_cases():
    molecule = '"molecule": {"symbols": ["He"], "geometry": [0, 0, 0]}'
    tree = change('atoms: "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"', "json: mol.json", WATER)
    for name, text, needles in (
            ("JSON cut short", "{" + molecule, ["mol.json:1"]),
            ("JSON of second derivatives", f'{{"driver": "hessian", {molecule}}}', ["driver", "hessian"]),
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
spins_cases()
basis_cases()
file_cases()
cube_cases()
json_cases()
gradient_cases()
suite.case("linear dependence", dependent_case)
suite.case("a basis file as LIO has them", lio_file_case)
suite.case("how the input was read", input_line_case)
suite.case("memory", memory_case)
for coulomb in ("exact", "fitted"):
    suite.case(f"too little memory, {coulomb} Coulomb", cap_case, coulomb, None)
suite.case("too little memory, 2 ranks", cap_case, "fitted", 2)
suite.case("too little memory in any case", early_case)
suite.case("no functions kept", no_cache_case)
suite.case("no convergence", unconverged_case)
suite.case("no convergence, continued", continued_case, "exact", None)
suite.case("no convergence, continued, fitted, 2 ranks", continued_case, "fitted", 2)
suite.case("a guess from a file", guess_case)
suite.case("a guess with other cores, and their memory", core_case)
suite.end()
