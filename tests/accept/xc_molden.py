"""Read a Molden file and compute the overlap of its functions, with nothing of tesela's.

Functions are expanded in x^a y^b z^c exp(-r^2 e); the overlap of two such is a product of three
one-dimensional integrals, done by Gauss-Hermite quadrature, which is exact for polynomials. Solid
harmonics are made from the closed formula (Helgaker, Jorgensen, Olsen, Molecular Electronic-Structure
Theory, 6.4.47).
"""
from collections import defaultdict
from math import comb, factorial

import numpy as np

MOMENTA = "spdfg"
CARTESIAN = {2: "200 020 002 110 101 011", 3: "300 030 003 120 210 201 102 012 021 111",
             4: "400 040 004 310 301 130 031 103 013 220 202 022 211 121 112"}


def sections(path):
    """Lines of each section by its name in lower case, titles such as [5D] as empty ones."""
    found, name = defaultdict(list), None
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.startswith("["):
                name = line[1:line.index("]")].lower()
                found[name] = []
            elif line.strip():
                found[name].append(line.split())
    return found


def harmonic(l, m):
    """{(a, b, c): coefficient} of the real solid harmonic, up to its norm."""
    terms, half = defaultdict(float), 0.5 if m < 0 else 0.0
    order = abs(m)
    for t in range((l - order) // 2 + 1):
        for u in range(t + 1):
            v = half
            while v <= order / 2:
                c = ((-1) ** int(t + v - half) * 0.25 ** t * comb(l, t) * comb(l - t, order + t) * comb(t, u)
                     * comb(order, int(2 * v)))
                a, b = int(2 * t + order - 2 * (u + v)), int(2 * (u + v))
                terms[a, b, l - a - b] += c
                v += 1
    assert factorial(l) > 0 and all(min(powers) >= 0 for powers in terms)
    return dict(terms)


def functions_of(l, spherical):
    """Expansions of a shell's functions in Molden's order."""
    if l == 0:
        return [{(0, 0, 0): 1.0}]
    if l == 1:
        return [{(1, 0, 0): 1.0}, {(0, 1, 0): 1.0}, {(0, 0, 1): 1.0}]
    if not spherical:
        return [{tuple(int(p) for p in powers): 1.0} for powers in CARTESIAN[l].split()]
    return [harmonic(l, m) for k in range(l + 1) for m in ([0] if k == 0 else [k, -k])]


def primitive_norm(l, exponent):
    """Of x^l exp(-exponent r^2)."""
    odd = np.prod(np.arange(2 * l - 1, 0, -2)) if l else 1
    return (2 * exponent / np.pi) ** 0.75 * (4 * exponent) ** (l / 2) / np.sqrt(odd)


def read_shells(found):
    """[(l, centre, [(exponent, coefficient of the bare primitive)])]."""
    centres = {int(words[1]): np.array([float(w) for w in words[3:6]]) for words in found["atoms"]}
    shells, centre, left = [], None, 0
    for words in found["gto"]:
        if left > 0:
            exponent, coefficient = float(words[0]), float(words[1])
            shells[-1][2].append((exponent, coefficient * primitive_norm(shells[-1][0], exponent)))
            left -= 1
        elif words[0] in MOMENTA:
            shells.append((MOMENTA.index(words[0]), centre, []))
            left = int(words[1])
        else:
            centre = centres[int(words[0])]
    return shells


NODES, WEIGHTS = np.polynomial.hermite.hermgauss(6)  # exact to degree 11 of 8 = 2 * 4


def line(a, b, powers_a, powers_b, x, y):
    """All integrals of (t - x)^i (t - y)^j exp(-a (t - x)^2 - b (t - y)^2), [i][j]."""
    p, middle = a + b, (a * x + b * y) / (a + b)
    t = NODES / np.sqrt(p) + middle
    left = np.array([(t - x) ** i for i in range(powers_a + 1)])
    right = np.array([(t - y) ** j for j in range(powers_b + 1)])
    return np.exp(-a * b / p * (x - y) ** 2) / np.sqrt(p) * np.einsum("q,iq,jq->ij", WEIGHTS, left, right)


def block(one, other, spherical):
    """Overlap of two shells, not normalised."""
    (la, at, primitives), (lb, to, others) = one, other
    rows, columns = functions_of(la, spherical), functions_of(lb, spherical)
    out = np.zeros((len(rows), len(columns)))
    for a, ca in primitives:
        for b, cb in others:
            lines = [line(a, b, la, lb, at[k], to[k]) for k in range(3)]
            for i, row in enumerate(rows):
                for j, column in enumerate(columns):
                    for p, cp in row.items():
                        for q, cq in column.items():
                            out[i, j] += ca * cb * cp * cq * lines[0][p[0], q[0]] * lines[1][p[1], q[1]] * lines[2][p[2], q[2]]
    return out


def overlap(shells, spherical):
    """S of the functions, each of norm 1 as Molden has them, but for what the contraction says."""
    sizes = [len(functions_of(l, spherical)) for l, _, _ in shells]
    first = np.concatenate([[0], np.cumsum(sizes)])
    matrix = np.zeros((first[-1], first[-1]))
    norms = np.concatenate([np.diag(block(s, s, spherical)) ** 0.5 for s in shells])
    for i, one in enumerate(shells):
        for j, other in enumerate(shells[:i + 1]):
            part = block(one, other, spherical)
            matrix[first[i]:first[i + 1], first[j]:first[j + 1]] = part
            matrix[first[j]:first[j + 1], first[i]:first[i + 1]] = part.T
    # s and p as the contraction says (x^l of norm 1), so that wrong coefficients show
    true = np.concatenate([np.ones(n) if l < 2 else norms[f:f + n] for (l, _, _), n, f in zip(shells, sizes, first)])
    return matrix / np.outer(true, true)


def read_orbitals(found, n):
    """{"Alpha" or "Beta": (energies, occupations, [orbital][function])}."""
    out = {}
    for words in found["mo"]:
        if words[0] == "Ene=":
            energy = float(words[1])
        elif words[0] == "Spin=":
            spin = out.setdefault(words[1], ([], [], []))
            spin[0].append(energy)
            spin[2].append(np.zeros(n))
        elif words[0] == "Occup=":
            spin[1].append(float(words[1]))
        elif words[0] != "Sym=":
            spin[2][-1][int(words[0]) - 1] = float(words[1])
    return {name: tuple(np.array(part) for part in spin) for name, spin in out.items()}


def load(path):
    """Overlap and orbitals by spin of a file."""
    found = sections(path)
    spherical = "5d" in found
    assert spherical != ("6d" in found)
    matrix = overlap(read_shells(found), spherical)
    return matrix, read_orbitals(found, len(matrix)), found
