"""A molecule as a picture: its atoms and bonds, seen along the direction in which it extends least."""
import numpy as np

from . import svg
from .page import escape, figure, some

ANGSTROM = 0.529177210903  # of a bohr
MOST = 1000    # atoms drawn
NAMED = 250    # atoms with their symbols
SLACK = 0.45   # angstrom that a bond may be longer than the sum of its atoms' covalent radii
PIXELS = 110    # of an angstrom at most
MARGIN = 34

SYMBOLS = ("X H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y "
           "Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re "
           "Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm").split()
# Covalent radii in pm: Cordero et al., Dalton Trans. 2008, 2832; of Mn, Fe and Co those of high spin.
RADII = (0, 31, 28, 128, 96, 84, 76, 71, 66, 57, 58, 166, 141, 121, 111, 107, 105, 102, 106, 203, 176, 170, 160, 153,
         139, 161, 152, 150, 124, 132, 122, 122, 120, 119, 120, 120, 116, 220, 195, 190, 175, 164, 154, 147, 146, 142,
         139, 145, 144, 142, 139, 139, 138, 139, 140, 244, 215, 207, 204, 203, 201, 199, 198, 198, 196, 194, 192, 192,
         189, 190, 187, 187, 175, 170, 162, 151, 144, 141, 136, 136, 132, 145, 146, 148, 140, 150, 150, 260, 221, 215,
         206, 200, 196, 190, 187, 180, 169)
COLOURS = {"H": "#e9edf1", "C": "#59636f", "N": "#2f62c4", "O": "#cc3329", "F": "#6cae4c", "P": "#d9791f",
           "S": "#d8b21a", "Cl": "#3c9a40", "Br": "#96391f", "I": "#6f2f93"}
OTHERS = "#8d74ab"


def symbol(number):
    return SYMBOLS[number] if 0 <= number < len(SYMBOLS) else "X"


def formula(numbers):
    """Hill's order: carbon, hydrogen, then the others by the alphabet; without carbon all by the alphabet."""
    names = [symbol(int(number)) for number in numbers]
    counts = {name: names.count(name) for name in sorted(set(names))}
    first = [name for name in ("C", "H") if name in counts and "C" in counts]
    order = first + [name for name in counts if name not in first]
    return "".join(f"{name}{counts[name] if counts[name] > 1 else ''}" for name in order)


def radii(numbers):
    """Covalent radii in angstrom."""
    return np.array([RADII[z] if 0 <= z < len(RADII) else 160 for z in numbers]) / 100


def bonds(numbers, places):
    """Pairs of atoms that are as near as bonded ones; places in angstrom."""
    near = radii(numbers)[:, None] + radii(numbers)[None, :] + SLACK
    apart = np.linalg.norm(places[:, None, :] - places[None, :, :], axis=2)
    real = (numbers[:, None] > 0) & (numbers[None, :] > 0)
    return np.argwhere(np.triu((apart < near) & real, 1))


def turned(places):
    """The same places with the longest extent along the first axis, the shortest along the last."""
    centred = places - places.mean(axis=0)
    return centred @ np.linalg.svd(centred, full_matrices=True)[2].T


class View:
    """Pixels of places that are turned."""

    def __init__(self, places):
        extent = np.maximum(np.ptp(places[:, :2], axis=0), 1e-9)
        self.scale = float(min(PIXELS, *((np.array([svg.WIDTH, svg.HEIGHT]) - 2 * MARGIN) / extent)))
        self.height = float(extent[1] * self.scale + 2 * MARGIN + 26)
        middle = (places[:, :2].max(axis=0) + places[:, :2].min(axis=0)) / 2
        self.at = (places[:, :2] - middle) * self.scale * [1, -1] + [svg.WIDTH / 2, (self.height - 26) / 2]


def bond_line(a, b):
    (x0, y0), (x1, y1) = a, b
    return (f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="var(--soft)" stroke-width="3" '
            'stroke-linecap="round"/>')


def atom_circle(name, at, size, named):
    colour = COLOURS.get(name, OTHERS)
    ink = "#1c2430" if name in ("H", "S") else "#ffffff"
    disc = (f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{size:.1f}" fill="{colour}" stroke="var(--ink)" '
            'stroke-width="0.8"/>')
    word = (f'<text x="{at[0]:.1f}" y="{at[1] + 4.2:.1f}" text-anchor="middle" style="fill:{ink};font-size:12px">'
            f"{escape(name)}</text>")
    return disc + word if named and size >= 7 else disc


def ruler(view):
    """One angstrom, below the picture."""
    x, y = 16, view.height - 12
    return (f'<path d="M{x} {y:.1f}h{view.scale:.1f}" stroke="var(--soft)" stroke-width="2"/>'
            f'<text x="{x + view.scale + 8:.1f}" y="{y + 4:.1f}">1 angstrom</text>')


def picture(atoms):
    """atoms: rows of atomic number and place in bohr; None where there are none, or too many to see."""
    if not 0 < len(atoms) <= MOST or not np.isfinite(atoms).all():
        return None
    numbers, places = atoms[:, 0].astype(int), turned(atoms[:, 1:4] * ANGSTROM)
    joined, view = bonds(numbers, places), View(places)
    depth = places[:, 2]
    parts = [(min(depth[a], depth[b]) - 1e-6, bond_line(view.at[a], view.at[b])) for a, b in joined]
    sizes = np.clip(0.42 * radii(numbers) * view.scale, 3, 20)
    parts += [(depth[k], atom_circle(symbol(z), view.at[k], sizes[k], len(atoms) <= NAMED))
              for k, z in enumerate(numbers)]
    drawn = "".join(part for _, part in sorted(parts, key=lambda part: part[0]))
    said = (f"{formula(numbers)}: {some(len(atoms), 'atom')} where the output has them; lines join the "
            f"{some(len(joined), 'pair')} nearer than their covalent radii and {SLACK} angstrom.")
    drawing = (f'<svg viewBox="0 0 {svg.WIDTH} {view.height:.1f}" role="img" aria-label="{escape(said)}">'
               f"{drawn}{ruler(view)}</svg>")
    return figure("molecule", "The molecule", drawing, said)
