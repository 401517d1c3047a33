"""The electrons' density in the plane in which a molecule extends most, from its basis and density matrix."""
import numpy as np

from . import molecule, raster
from .page import figure, some

MARGIN = 3.0     # bohr around the nuclei
MOST = 240       # points along the longer side
FEWEST = 24
WORK = 2e10      # operations
FLOOR = 1e-4     # electrons per bohr^3 of the darkest colour
IN_PLANE = 0.5   # bohr from the plane: an atom in it
ROWS = 4096      # points at a time
MOST_L, COLUMNS = 4, 6  # of a basis


def harmonics(l, x, y, z):
    """Solid harmonics r^l C_lm, m = -l..l, of Helgaker, Jorgensen, Olsen, 6.4.70-71: rows."""
    below, row = None, {0: np.ones_like(x)}
    square = x * x + y * y + z * z
    for k in range(l):
        above = {}
        for m in range(-k, k + 1):
            term = (2 * k + 1) * z * row[m]
            if below is not None and m in below:
                term = term - np.sqrt((k + m) * (k - m)) * square * below[m]
            above[m] = term / np.sqrt((k + m + 1) * (k - m + 1))
        scale = np.sqrt((2 if k == 0 else 1) * (2 * k + 1) / (2 * k + 2))
        other = row[-k] if k else np.zeros_like(x)
        above[k + 1], above[-k - 1] = scale * (x * row[k] - y * other), scale * (y * row[k] + x * other)
        below, row = row, above
    return [row[m] for m in range(-l, l + 1)]


def monomials(l, x, y, z):
    """x^a y^b z^c, a descending, then b descending."""
    return [x ** (l - k) * y ** (k - c) * z ** c for k in range(l + 1) for c in range(k + 1)]


def shells(basis):
    """Atom, l, whether spherical, exponents and coefficients of each shell; basis: a row a primitive."""
    for rows in np.split(basis, np.flatnonzero(np.diff(basis[:, 0])) + 1):
        yield int(rows[0, 1]), int(rows[0, 2]), rows[0, 3] != 0, rows[:, 4], rows[:, 5]


def functions(basis, atoms, points):
    """Values of all functions at points [n][3], bohr: a row a function."""
    rows = []
    for atom, l, spherical, exponents, coefficients in shells(basis):
        x, y, z = (points - atoms[atom, 1:4]).T
        radial = coefficients @ np.exp(-exponents[:, None] * (x * x + y * y + z * z))
        rows += [radial * angle for angle in (harmonics if spherical else monomials)(l, x, y, z)]
    return np.array(rows)


def holds(basis, atoms, n):
    """Are these n functions of these atoms?"""
    if basis.ndim != 2 or basis.shape[1] != COLUMNS or not len(basis) or not np.isfinite(basis).all():
        return False
    atom, l = basis[:, 1], basis[:, 2]
    if min(atom.min(), l.min()) < 0 or atom.max() >= len(atoms) or l.max() > MOST_L:
        return False
    return n == sum(2 * l + 1 if spherical else (l + 1) * (l + 2) // 2 for _, l, spherical, _, _ in shells(basis))


def at(results, points):
    """Electrons per bohr^3 of both spins at points [n][3], bohr."""
    basis, atoms, spins = (results[name][...].astype(float) for name in ("basis", "atoms", "density"))
    total = spins.sum(axis=0) * (2 / len(spins))
    parts = []
    for first in range(0, len(points), ROWS):
        phi = functions(basis, atoms, points[first:first + ROWS])
        parts.append(np.einsum("ip,ip->p", phi, total @ phi))
    return np.concatenate(parts)


def axes(places):
    """The middle of places, and rows: directions in which they extend most, less, least."""
    middle = places.mean(axis=0)
    return middle, np.linalg.svd(places - middle, full_matrices=True)[2]


def lattice(flat, n_functions):
    """Points along both axes of a plane that holds places [n][2]; fewer where there are many functions."""
    low, high = flat.min(axis=0) - MARGIN, flat.max(axis=0) + MARGIN
    shape = (high - low) / (high - low).max()
    most = min(MOST, np.sqrt(WORK / (2 * n_functions ** 2) / shape.prod()))
    return [np.linspace(a, b, max(2, int(most * share))) for a, b, share in zip(low, high, shape)]


def marks(chart, numbers, turned):
    """Atoms: those of the plane with a full ring, others with a thin one."""
    for k, (u, v, depth) in enumerate(turned):
        near = abs(depth) <= IN_PLANE
        chart.parts.append(f'<circle cx="{chart.px(u):.1f}" cy="{chart.py(v):.1f}" r="{4.5 if near else 3}" fill="none" '
                           f'stroke="#ffffff" stroke-width="{1.8 if near else 0.8}"/>')
        if near and len(turned) <= molecule.NAMED:
            chart.parts.append(f'<text x="{chart.px(u) + 6:.1f}" y="{chart.py(v) - 6:.1f}" style="fill:#ffffff">'
                               f"{molecule.symbol(abs(int(numbers[k])))}</text>")


def picture(results):
    """Figure and pixels; None where the output has no density with its basis, or too many functions or atoms."""
    if not all(name in results for name in ("basis", "atoms", "density")) or results["density"].ndim != 3:
        return None
    atoms, n = results["atoms"][...].astype(float), results["density"].shape[1]
    if not 0 < len(atoms) <= molecule.MOST or not np.isfinite(atoms).all() or n == 0 or WORK / (2 * n * n) < FEWEST ** 2:
        return None
    if not holds(results["basis"][...], atoms, n):
        return None
    middle, along = axes(atoms[:, 1:4])
    turned = (atoms[:, 1:4] - middle) @ along.T
    u, v = lattice(turned[:, :2], n)
    points = middle + u[None, :, None] * along[0] + v[::-1, None, None] * along[1]
    values = at(results, points.reshape(-1, 3)).reshape(len(v), len(u))
    if not np.isfinite(values).all():
        return None
    span = raster.Range(values, log=True, lo=FLOOR, hi=max(float(values.max()), 2 * FLOOR))
    pixels = raster.coloured(np.maximum(values, FLOOR), span.lo, span.hi, True)
    chart = raster.framed(pixels, (u[0], u[-1], v[0], v[-1]), ("along the longest extent (bohr)", "across (bohr)"),
                          "the electrons' density in a plane", span, "electrons/bohr^3")
    marks(chart, atoms[:, 0], turned)
    inside = int((np.abs(turned[:, 2]) <= IN_PLANE).sum())
    said = (f"In the plane through the middle of the atoms in which they extend most, from the density matrix, on a "
            f"logarithmic scale; {FLOOR:g} and less are dark. Wide rings: {some(inside, 'atom')} within {IN_PLANE:g} bohr of "
            f"the plane; thin ones: {len(atoms) - inside} above or below it.")
    return figure("slice", "Density of the electrons", chart.html(), said), pixels
