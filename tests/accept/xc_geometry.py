#!/usr/bin/env python3
"""Geometries of inputs/xc that tools/xc_geometry makes by itself: the files are the tool's, and bonds are as stated.

usage: xc_geometry.py TESELA [--fast] [ONLY]
"""
import os
import subprocess
import sys

import harness
from harness import check, np

suite = harness.Suite(__doc__)
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
XYZ = os.path.join(ROOT, "inputs", "xc")
LONGEST = {"CC": 1.56, "CH": 1.12, "CN": 1.50, "CO": 1.32, "HN": 1.03, "HO": 0.99, "FeN": 2.12, "CFe": 1.75}


def read(text):
    lines = text.splitlines()
    rows = [line.split() for line in lines[2:]]
    check(int(lines[0]) == len(rows), f"{lines[0]} atoms, {len(rows)} lines")
    return [row[0] for row in rows], np.array([[float(v) for v in row[1:]] for row in rows])


def distances(places):
    return np.linalg.norm(places[:, None] - places[None], axis=2)


def bonds_of(symbols, between):
    """Pairs that are near enough for a bond, by element."""
    found = {}
    for i, a in enumerate(symbols):
        for j in range(i):
            kind = "".join(sorted((a, symbols[j])))
            if between[i, j] < LONGEST.get(kind, 0):
                found.setdefault(kind, []).append(between[i, j])
    return found


def same_case(name, file):
    made = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "xc_geometry"), name], capture_output=True, text=True,
                          check=True).stdout
    with open(os.path.join(XYZ, file), encoding="ascii") as stored:
        symbols, places = read(stored.read())
    other, again = read(made)
    check(symbols == other and np.abs(places - again).max() < 1e-5, f"{file} is not what the tool makes")


def proline_case():
    """Iron porphine with CO and C5H9NO2: formula, bonds of each kind, angles at the iron, chirality, nothing too near."""
    with open(os.path.join(XYZ, "iron_porphyrin_proline_co.xyz"), encoding="ascii") as file:
        symbols, at = read(file.read())
    count = {s: symbols.count(s) for s in set(symbols)}
    check(count == {"Fe": 1, "C": 26, "H": 21, "N": 5, "O": 3}, f"{count}")
    between = distances(at)
    bonds = bonds_of(symbols, between)
    number = {kind: len(found) for kind, found in bonds.items()}
    # porphine: 20 C-C, 8 C-N, 12 C-H, 4 Fe-N; CO and Fe-C; proline: 4 C-C, 2 C-N, 7 C-H, N-H, C=O, C-O, O-H, Fe-N
    want = {"CC": 20 + 4, "CN": 8 + 2, "CH": 12 + 7, "FeN": 4 + 1, "CFe": 1, "CO": 1 + 2, "HN": 1, "HO": 1}
    check(number == want, f"bonds {number}, not {want}")
    near = lambda kind, length: any(abs(found - length) < 2e-3 for found in bonds[kind])  # noqa: E731
    for kind, lengths in {"FeN": (2.00, 2.10), "CFe": (1.73,), "CO": (1.15, 1.214, 1.308), "CC": (1.530, 1.492, 1.503, 1.525),
                          "CN": (1.466, 1.473, 1.38), "HN": (1.01,), "HO": (0.97,)}.items():
        for length in lengths:
            check(near(kind, length), f"no {kind} of {length}: {np.round(bonds[kind], 4)}")
    apart = between + 9 * np.eye(len(symbols))
    check(apart.min() > 0.96, f"two atoms at {apart.min():.3f}")
    check(apart[:39, 40:].min() > 2.2, f"the molecules are {apart[:39, 40:].min():.3f} apart")
    n, ca, cb, acid = at[39], at[40], at[41], at[51]
    check(np.dot(n - ca, np.cross(acid - ca, cb - ca)) > 1, "not the S form, L-proline")


suite.case("porphyrin", same_case, "porphyrin", "iron_porphyrin_co.xyz")
suite.case("proline", same_case, "proline", "iron_porphyrin_proline_co.xyz")
suite.case("c60", same_case, "c60", "c60.xyz")
suite.case("bonds of proline", proline_case)
suite.end()
