#!/usr/bin/env python3
"""Bad decks of family xc get a clear message and the promised exit status, and leave nothing behind.

usage: xc_bad_input.py TESELA [--fast] [ONLY]

Each case runs alone and with two ranks (--fast: with two ranks only where ranks matter).
"""
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


suite.case("the deck that the cases start from is good", good_deck)
molecule_cases()
name_cases()
basis_cases()
suite.end()
