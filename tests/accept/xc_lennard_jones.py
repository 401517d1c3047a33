#!/usr/bin/env python3
"""Lennard-Jones between atoms and point charges, beside a plain sum and differences of energies.

usage: xc_lennard_jones.py TESELA [--fast] [ONLY]
"""
import json

import harness
from harness import check, np
from xc_harness import near, solve

suite = harness.Suite(__doc__, jobs=2)
BOHR, HARTREE_KCAL = 0.529177210903, 627.5094740630558  # CODATA 2018, kcal of 4184 J
SYMBOLS = ["O", "H", "H"]
PLACES = np.array([[0.02, -0.01, 0.117], [0.03, 0.757, -0.469], [-0.04, -0.757, -0.465]])
ATOMS = {"O": (0.1521, 3.1506), "H": (0.046, 0.4)}
# x y z q epsilon sigma: two waters of TIP3P's kind, and a charge without dispersion
CHARGES = np.array([[0.1, 0.2, -2.9, -0.834, 0.1521, 3.1506], [0.8, 0.3, -3.4, 0.417, 0.046, 0.4],
                    [-0.7, 0.1, -3.3, 0.417, 0.046, 0.4], [2.9, -0.2, 0.6, -0.834, 0.1521, 3.1506],
                    [3.3, 0.6, 0.9, 0.417, 0.046, 0.4], [3.2, -0.9, 1.1, 0.417, 0, 0]])


def deck(places=PLACES, charges=CHARGES, lennard_jones=None, **more):
    name = suite.write("charges.txt", "\n".join(" ".join(repr(float(x)) for x in row) for row in charges) + "\n")
    atoms = "; ".join(" ".join([s, *(repr(float(x)) for x in at)]) for s, at in zip(SYMBOLS, places))
    molecule = {"atoms": f'"{atoms}"', "charges": name}
    if lennard_jones is not None:
        molecule["lennard_jones"] = lennard_jones
    section = {"molecule": molecule, "basis": "STO-3G", "functional": "pbe", "grid": {"radial": 40, "angular": 110},
               "scf": {"energy": 1e-11, "commutator": 1e-8}, **more}
    return {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "xc": section}


PARAMETERS = {"atoms": '"' + "; ".join(f"{s} {e} {r}" for s, (e, r) in ATOMS.items()) + '"'}


def plain(places, charges, geometric=False):
    """Energy in hartree by a loop over pairs."""
    energy = 0
    for symbol, at in zip(SYMBOLS, places):
        epsilon, sigma = ATOMS[symbol]
        for row in charges:
            s = (sigma * row[5]) ** 0.5 if geometric else (sigma + row[5]) / 2
            x = (s / np.linalg.norm(at - row[:3])) ** 6
            energy += 4 * (epsilon * row[4]) ** 0.5 * (x * x - x)
    return energy / HARTREE_KCAL


def differences(function, table, step=1e-4):
    """d function / d place of the first three columns, per bohr."""
    slopes = np.zeros((len(table), 3))
    for k in range(len(table)):
        for x in range(3):
            one, other = table.copy(), table.copy()
            one[k, x] += step
            other[k, x] -= step
            slopes[k, x] = (function(one) - function(other)) / (2 * step) * BOHR
    return slopes


def sums(mixing):
    """Energy and both gradients differ from those without by the plain sum's."""
    geometric = mixing == "geometric"
    more = {} if mixing is None else {"mixing": mixing}
    without, before = solve(suite, deck(charges=CHARGES[:, :4], task="gradient"))
    lines, found = solve(suite, deck(lennard_jones={**PARAMETERS, **more}, task="gradient",
                                     qcschema=suite.path("out.json")), ranks=2 if geometric else None)
    truth = plain(PLACES, CHARGES, geometric)
    near("term", lines["Lennard-Jones"], truth, 1e-12)
    near("energy", lines["total energy"] - without["total energy"], truth, 1e-9)
    near("on atoms", found["gradient"] - before["gradient"],
         differences(lambda at: plain(at, CHARGES, geometric), PLACES), 1e-8)
    near("on charges", found["charge_gradient"] - before["charge_gradient"],
         differences(lambda rows: plain(PLACES, rows, geometric), CHARGES), 1e-8)
    near("sum of all", found["gradient"].sum(axis=0) + found["charge_gradient"].sum(axis=0), 0, 1e-9)
    with open(suite.path("out.json"), encoding="ascii") as file:
        near("QCSchema", json.load(file)["extras"]["tesela"]["lennard_jones_energy"], truth, 1e-12)
    check("Lennard-Jones" not in without, "a term that nobody asked for")


def total():
    """The gradient is that of the total energy: an atom and two charges moved."""
    _, found = solve(suite, deck(lennard_jones=PARAMETERS, task="gradient"))
    step = 2e-3

    def energy(atom, charge, x, by):
        places, charges = PLACES.copy(), CHARGES.copy()
        (places if charge is None else charges)[atom if charge is None else charge, x] += by
        return solve(suite, deck(places, charges, PARAMETERS))[0]["total energy"]

    moves = [(0, None, 2), (None, 0, 2), (None, 4, 0)]
    for atom, charge, x in moves[:2] if suite.fast else moves:
        slope = (energy(atom, charge, x, step) - energy(atom, charge, x, -step)) / (2 * step) * BOHR
        one = found["gradient"][atom] if charge is None else found["charge_gradient"][charge]
        near(f"atom {atom}, charge {charge}", one[x], slope, 5e-7)


def ghost():
    """A ghost of an element with parameters has none, and needs none."""
    tree = deck(lennard_jones=PARAMETERS)
    atoms = tree["xc"]["molecule"]["atoms"][1:-1]
    tree["xc"]["molecule"]["atoms"] = f'"{atoms}; Gh-O 1.5 0 1; Gh-He 0 2 1"'
    near("term", solve(suite, tree)[0]["Lennard-Jones"], plain(PLACES, CHARGES), 1e-12)


def refused():
    """What is missing or wrong, with its place; status 2."""
    negative, lines = CHARGES.copy(), {"atoms": '"O 0.1 3; H 0.1"'}
    negative[3, 4] = -1
    cases = ((deck(lennard_jones={"atoms": '"O 0.1521 3.1506"'}), "atom 2 (H) has no parameters"),
             (deck(lennard_jones=lines), "atoms:2: 2 words"),
             (deck(lennard_jones={"atoms": '"O 0.1 x; H 0 0"'}), "atoms:1"),
             (deck(lennard_jones={"atoms": '"O -0.1 3; H 0 0"'}), "0 to 1000"),
             (deck(lennard_jones={"atoms": '"Q 0.1 3; H 0 0"'}), "atoms:1"),
             (deck(lennard_jones={"mixing": "geometric"}), "needs atoms"),
             (deck(lennard_jones={**PARAMETERS, "mixing": "kong"}), "lorentz-berthelot"),
             (deck(charges=CHARGES[:, :4], lennard_jones=PARAMETERS), "4 columns"),
             (deck(charges=CHARGES[:, :5]), "5 columns"),
             (deck(), "need lennard_jones"),
             (deck(charges=negative, lennard_jones=PARAMETERS), "point charge 4"))
    for number, (tree, words) in enumerate(cases):
        charges = suite.path("charges.txt")
        rows = {7: CHARGES[:, :4], 8: CHARGES[:, :5], 10: negative}.get(number, CHARGES)
        suite.write("charges.txt", "\n".join(" ".join(repr(float(x)) for x in row) for row in rows) + "\n")
        run = suite.run(["run", suite.deck("bad.yaml", tree), "-o", suite.path("bad.h5")])
        check(run.status == 2 and words in run.err and "bad.yaml:" in run.err, f"{charges}, case {number}: {run.tail()}")


def restarted():
    """A checkpoint is of its parameters: others are refused, in the file of charges and in the deck; the same go on."""
    other = CHARGES.copy()
    other[3, 4] *= 1.5
    tree = deck(lennard_jones=PARAMETERS)
    truth = solve(suite, tree)[0]
    short = deck(lennard_jones=PARAMETERS, scf={"energy": 1e-11, "commutator": 1e-8, "iterations": 4})
    path, out = suite.deck("short.yaml", short), suite.path("short.h5")
    words = ["run", path, "-o", out, "-q", "--overwrite"]
    again = [*words, "--restart", out, "-s", "xc.scf.iterations=90"]
    run = suite.run(words)
    check(run.status == 3, run.tail())
    deck(charges=other)
    run = suite.run(again)
    check(run.status == 2 and "other Lennard-Jones parameters" in run.err, run.tail())
    deck(charges=CHARGES)
    for key, value in (("mixing", "geometric"), ("atoms", "O 0.2 3; H 0.046 0.4")):
        run = suite.run([*again, "-s", f"xc.molecule.lennard_jones.{key}={value}"])
        check(run.status == 2 and f"lennard_jones.{key}" in run.err, run.tail())
    run = suite.run(again)
    check(run.status == 0, run.tail())
    with harness.h5py.File(out, "r") as file:
        lines = dict(file["results"].attrs)
    near("energy", lines["total energy"], truth["total energy"], 1e-9)
    near("term", lines["Lennard-Jones"], truth["Lennard-Jones"], 1e-12)


for way in (None, "lorentz-berthelot", "geometric"):
    suite.case(f"sums, mixing {way}", sums, way)
suite.case("differences of the total", total)
suite.case("ghosts", ghost)
suite.case("refused", refused)
suite.case("restart", restarted)
suite.end()
