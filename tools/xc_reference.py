#!/usr/bin/env python3
"""Write tests/unit/xc_reference.h: integrals and Hartree-Fock energies of PySCF.

usage: tools/xc_reference.py [FILE]

Needs the PyPI package pyscf (2.14 was used; `pip install pyscf` in a virtual environment). The basis
sets are those of inputs/xc/basis; geometries are in bohr or converted with the bohr of
src/fam/xc/molecule/xc_molecule.h, since PySCF's own constant is of another year.
"""
import os
import sys

import numpy as np
import pyscf
from pyscf import df, gto, qmmm, scf

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BOHR = 0.529177210903

# one of each angular momentum; shells of an element in ascending l, as PySCF sorts them
MIXED = """BASIS "mixed" SPHERICAL
O S
 130.7 0.15
 23.8 0.53
 6.4 0.44
O P
 5.03 0.16
 1.17 0.61
O D
 1.2 1.0
O F
 0.9 1.0
O G
 0.8 1.0
H S
 3.4 0.15
 0.62 0.53
H P
 0.7 1.0
C S
 2.9 -0.1
 0.68 0.4
C P
 0.7 1.0
C D
 0.55 1.0
END
"""
MIXED_ATOMS = [("O", (0.1, -0.2, 0.3)), ("H", (1.1, 0.4, -0.6)), ("C", (-0.9, 0.8, 1.3))]
MIXED_CHARGES = [((3.0, 0.5, -1.0), -0.7), ((-0.4, 2.0, 0.2), 0.4), ((40.0, -3.0, 9.0), 1.5)]
WATER = [("O", (0, 0, 0.1174)), ("H", (0.757, 0, -0.4696)), ("H", (-0.757, 0, -0.4696))]
OXYGEN = [("O", (0, 0, 0)), ("O", (0, 0, 1.2))]
# a stretched water molecule among three charges, a published regression case of the LIO program
LIO = [("O", (-0.409, 0.0555, -0.392)), ("H", (-0.45, -0.5015, 0.392)),
       ("H", (0.45, 0.5015, -0.299))]
LIO_CHARGES = [((-0.663, -0.7025, -2.985001), -0.834), ((0.079, -1.107501, -3.469002), 0.417),
               ((-0.231, -0.5085, -2.122001), 0.417)]


def basis_of(text, symbols):
    """PySCF's form of a NWChem text: per element [l, [exponent, coefficient], ...]."""
    basis = {s: [] for s in symbols}
    filled = []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words and words[0] == "ECP":
            break
        if not words or words[0] in ("BASIS", "END"):
            continue
        if words[0].isalpha():
            filled = [["SPDFG".index(letter)] for letter in words[1]]
            if words[0] in basis:
                basis[words[0]] += filled
        else:
            for shell, coefficient in zip(filled, words[1:]):
                shell.append([float(words[0]), float(coefficient)])
    return {s: sorted(shells, key=lambda shell: shell[0]) for s, shells in basis.items()}


def shipped(name, symbols):
    """A set of inputs/xc/basis."""
    with open(os.path.join(ROOT, "inputs", "xc", "basis", name + ".nw"), encoding="ascii") as file:
        return basis_of(file.read(), symbols)


def potentials(name, symbols, own=None):
    """Effective core potentials of a set of inputs/xc/basis, or of NWChem's text, PySCF's form."""
    with open(os.path.join(ROOT, "inputs", "xc", "basis", name + ".nw"), encoding="ascii") as file:
        text = (own or file.read()).partition("ECP\n")[2]
    return {s: gto.basis.parse_ecp(text, s) for s in symbols if f"{s} nelec" in text}


def bohr(places):
    """Angstrom to bohr."""
    return [(what, tuple(x / BOHR for x in at)) for what, at in places]


def molecule(atoms, basis, cart=False, spin=0):
    """A PySCF molecule, atoms in bohr."""
    return gto.M(atom=atoms, basis=basis, unit="Bohr", cart=cart, spin=spin, verbose=0)


def order(mol):
    """Our function i is scale[i] times PySCF's function place[i]: p is y z x in spherical shells,
    and of Cartesian shells x^l has norm 1."""
    place, scale, first = [], [], 0
    for shell in range(mol.nbas):
        l = mol.bas_angular(shell)
        for _ in range(mol.bas_nctr(shell)):
            n = (l + 1) * (l + 2) // 2 if mol.cart else 2 * l + 1
            place += [first + k for k in ([1, 2, 0] if l == 1 and not mol.cart else range(n))]
            scale += [np.sqrt((2 * l + 1) / (4 * np.pi)) if mol.cart and l > 1 else 1.0] * n
            first += n
    return np.array(place), np.array(scale)


def ours(mol, matrix, axes):
    """Reorder and rescale the leading axes of an array, each with its molecule."""
    for axis, of in enumerate(axes):
        place, scale = order(of)
        matrix = np.take(matrix, place, axis=axis)
        matrix = matrix * scale.reshape([-1 if a == axis else 1 for a in range(matrix.ndim)])
    return matrix


def digest(array):
    """A sum that any wrong order, sign or value changes."""
    weight = np.zeros(array.shape)
    for axis, step in zip(range(array.ndim), (0.37, 0.71, 1.13, 1.61)):
        shape = [-1 if a == axis else 1 for a in range(array.ndim)]
        weight = weight + step * np.arange(array.shape[axis]).reshape(shape)
    return float(np.sum(np.cos(weight) * array))


def integrals(out):
    """Digests over the mixed basis, spherical and Cartesian."""
    for cart in (False, True):
        mol = molecule(MIXED_ATOMS, basis_of(MIXED, "OHC"), cart, 1)
        # fitting functions: the same set, as an auxiliary molecule
        aux = molecule(MIXED_ATOMS, basis_of(MIXED, "OHC"), cart, 1)
        tag = "cartesian" if cart else "spherical"
        two = [mol, mol]
        attraction = np.zeros((mol.nao, mol.nao))
        for at, q in MIXED_CHARGES + [(a[1], gto.charge(a[0])) for a in MIXED_ATOMS]:
            with mol.with_rinv_origin(at):
                attraction -= q * mol.intor("int1e_rinv")
        dipole = [ours(mol, d, two) for d in mol.intor("int1e_r")]
        three = df.incore.aux_e2(mol, aux, "int3c2e", aosym="s1")
        out[f"overlap_{tag}"] = digest(ours(mol, mol.intor("int1e_ovlp"), two))
        out[f"kinetic_{tag}"] = digest(ours(mol, mol.intor("int1e_kin"), two))
        out[f"attraction_{tag}"] = digest(ours(mol, attraction, two))
        for axis in range(3):
            out[f"dipole_{'xyz'[axis]}_{tag}"] = digest(dipole[axis])
        out[f"quartets_{tag}"] = digest(ours(mol, mol.intor("int2e"), [mol] * 4))
        out[f"triples_{tag}"] = digest(ours(mol, three.transpose(2, 0, 1), [aux, mol, mol]))
        out[f"doubles_{tag}"] = digest(ours(mol, aux.intor("int2c2e"), [aux, aux]))


def run(mf):
    """A tightly converged energy."""
    mf.conv_tol, mf.conv_tol_grad, mf.max_cycle, mf.direct_scf_tol = 1e-12, 1e-8, 200, 1e-15
    mf.kernel()
    assert mf.converged
    return mf


def hartree_fock(out, name, mol, fit, charges=()):
    """Energies with exact and with fitted Coulomb; exchange is exact in both."""
    method = scf.UHF if mol.spin else scf.RHF
    for tag in ("exact", "fitted"):
        mf = method(mol)
        if charges:
            mf = qmmm.mm_charge(mf, [c[0] for c in charges], [c[1] for c in charges], unit="Bohr")
        if tag == "fitted":
            mf = mf.density_fit(auxbasis=fit, only_dfj=True)
        mf = run(mf)
        out[f"{name}_{tag}"] = mf.e_tot
        if tag == "exact":
            details(out, name, mol, mf)


def details(out, name, mol, mf):
    """Highest occupied and lowest empty orbital, dipole (e bohr), Mulliken charge of atom 0."""
    if mol.spin == 0:
        occupied = mol.nelectron // 2
        out[f"{name}_homo"], out[f"{name}_lumo"] = mf.mo_energy[occupied - 1:occupied + 1]
        for axis, value in enumerate(mf.dip_moment(unit="au", verbose=0)):
            out[f"{name}_dipole_{'xyz'[axis]}"] = value
    else:
        out[f"{name}_square"] = mf.spin_square()[0]
    out[f"{name}_mulliken"] = mf.mulliken_pop(verbose=0)[1][0]


def energies(out):
    """All Hartree-Fock cases."""
    jfit = shipped("def2-universal-jfit", ("O", "H"))
    svp = shipped("def2-SVP", ("O", "H"))
    water = molecule(bohr(WATER), svp)
    hartree_fock(out, "water", water, jfit)
    hartree_fock(out, "oxygen", molecule(bohr(OXYGEN), {"O": svp["O"]}, spin=2),
                 {"O": jfit["O"]})
    hartree_fock(out, "lio", molecule(bohr(LIO), svp), jfit,
                 [(at, q) for q, at in bohr([(c[1], c[0]) for c in LIO_CHARGES])])
    tzvp = shipped("def2-TZVP", ("O", "H"))
    hartree_fock(out, "triple", molecule(bohr(WATER), tzvp), jfit)
    hartree_fock(out, "cartesian", molecule(bohr(LIO), shipped("DZVP", ("O", "H")), cart=True),
                 shipped("DZVP-fit", ("O", "H")))


def text_of(out):
    """The header."""
    lines = [f"/* Written by tools/xc_reference.py with PySCF {pyscf.__version__}: atomic units.",
             " * Digests are sums of cos(0.37 i + 0.71 j + 1.13 k + 1.61 l) times element ijkl. */",
             "#pragma once", ""]
    rows = [f'"{row}\\n"' for row in MIXED.replace('"', '\\"').splitlines()]
    head = "static const char xc_mixed_basis[] = "
    lines += [head + rows[0]] + [" " * len(head) + row for row in rows[1:-1]]
    lines += [" " * len(head) + rows[-1] + ";", ""]
    lines += [f"#define XC_REF_{key.upper()} {value:.12f}" for key, value in out.items()]
    return "\n".join(lines + [""])


def main():
    """Compute and write."""
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "tests/unit/xc_reference.h")
    out = {}
    integrals(out)
    energies(out)
    with open(path, "w", encoding="ascii") as file:
        file.write(text_of(out))


if __name__ == "__main__":
    main()
