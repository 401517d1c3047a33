"""Optimisers of other projects, which ask for energies and gradients until the molecule is at a minimum.

Each has the same form: f(start, numbers, evaluate, limit, most, folder) -> has it converged? start in bohr,
evaluate(places) -> Point, limit: hartree/bohr, most: displacements, folder: for its own log.
"""
import importlib
import os

import numpy as np

from .molecule import ANGSTROM, symbol
from .path import HARTREE

GRADIENT = 4.5e-4  # hartree/bohr, the largest of an atom: Gaussian's criterion, which is geomeTRIC's standard
# geomeTRIC's other criteria beside that one: RMS gradient; RMS and largest displacement, Angstrom; change of energy.
OTHERS = {"grms": 3e-4, "drms": 1.2e-3, "dmax": 1.8e-3}
ENERGY = 1e-6
SAME = 1e-6  # bohr; a restart asks for the same places again, but for rounding

LOG = """[loggers]
keys=root
[handlers]
keys=file
[formatters]
keys=plain
[logger_root]
level=INFO
handlers=file
[handler_file]
class=geometric.nifty.RawFileHandler
level=INFO
formatter=plain
args=(r'%(logfilename)s',)
[formatter_plain]
format=%(message)s
"""


class OptimiserError(Exception):
    """The optimiser cannot go on, or is not there, and what may help."""


class Astray(Exception):
    """A restart asks for other places than the steps that are there have."""


def by_geometric(start, numbers, evaluate, limit, most, folder):
    """In internal coordinates (translation, rotation, and delocalised internals)."""
    from geometric.engine import Engine
    from geometric.errors import GeomOptNotConvergedError
    from geometric.molecule import Molecule
    from geometric.optimize import run_optimizer

    class Tesela(Engine):
        """Energies and gradients for geomeTRIC."""

        def __init__(self):
            molecule = Molecule()
            molecule.elem, molecule.xyzs = [symbol(z) for z in numbers], [start * ANGSTROM]
            super().__init__(molecule)

        def calc_new(self, coords, dirname):
            point = evaluate(np.array(coords).reshape(-1, 3))
            return {"energy": point.energy, "gradient": point.gradient.ravel()}

    stem = os.path.join(folder, "geometric")
    with open(f"{stem}.ini", "w", encoding="ascii") as file:
        file.write(LOG)
    scale = limit / GRADIENT
    wanted = {f"convergence_{name}": value * scale for name, value in OTHERS.items()}
    try:
        run_optimizer(customengine=Tesela(), input=stem, prefix=stem, logIni=f"{stem}.ini", maxiter=most,
                      convergence_energy=ENERGY, convergence_gmax=limit, **wanted)
    except GeomOptNotConvergedError:
        return False
    except (ArithmeticError, ValueError, np.linalg.LinAlgError, RuntimeError) as error:
        raise OptimiserError(f"geomeTRIC gave up: {type(error).__name__}: {error} ({stem}.log); --optimiser ase "
                             "works in Cartesian coordinates") from None
    return True


def by_ase(start, numbers, evaluate, limit, most, folder):
    """BFGS in Cartesian coordinates; converged by the gradient alone."""
    from ase import Atoms
    from ase.optimize import BFGS

    from .ase_points import Points

    atoms = Atoms(numbers=numbers, positions=start * ANGSTROM)
    atoms.calc = Points(evaluate)
    found = BFGS(atoms, logfile=os.path.join(folder, "ase.log")).run(fmax=limit * HARTREE / ANGSTROM, steps=most)
    return bool(found)


OPTIMISERS = {"geometric": by_geometric, "ase": by_ase}
NAMES = {"geometric": "geomeTRIC", "ase": "ASE's BFGS"}


def version(name):
    """Of an optimiser's package, or None where it is not installed."""
    try:
        return str(importlib.import_module(name).__version__)
    except ImportError:
        return None


def choose(name, python, field=False):
    """Name and version of the optimiser: the one asked for, else the first that is there.

    field: beside point charges, a molecule's place and turn count. geomeTRIC limits the length of its steps, and judges
    them, up to translation and rotation, which then may be of any size.
    """
    if field and name == "geometric":
        raise OptimiserError("geomeTRIC does not limit how far it shifts and turns the whole molecule, which matters "
                             "beside point charges: --optimiser ase")
    wanted = [name] if name else [one for one in OPTIMISERS if not (field and one == "geometric")]
    for one in wanted:
        if version(one):
            return one, version(one)
    why = " (beside point charges geomeTRIC is not used)" if field else ""
    raise OptimiserError(f"no {' and no '.join(wanted)} in {python}{why}. geomeTRIC: `pip install geometric` in a "
                         "virtual environment with --system-site-packages, then start this tool by that environment's "
                         "python3; ASE: the same with `ase`, or Debian's package python3-ase")


class Relaxation:
    """What an optimiser asks for, answered by steps that are there, then by new ones.

    told(k) is called for each new step.
    """

    def __init__(self, steps, path, told):
        self.steps, self.path, self.told, self.asked = steps, path, told, 0

    def evaluate(self, places):
        k = self.path.begin + self.asked
        self.asked += 1
        if k < len(self.path.points):
            if np.abs(places - self.path.points[k].places).max() > SAME:
                raise Astray
            return self.path.points[k]
        self.path.add(self.steps.at(k, places))
        self.steps.clean(k - 1)
        self.told(k)
        return self.path.points[k]

    def run(self, name, limit, most, folder):
        """Has it converged? most: displacements in all, those before a restart among them."""
        while True:
            start = self.path.points[self.path.begin].places
            left = max(most - self.path.begin, 0)
            try:
                return OPTIMISERS[name](start, self.path.numbers, self.evaluate, limit, left, folder)
            except Astray:
                self.anew()

    def anew(self):
        """From the last step, as if it were the first."""
        self.path.begin, self.asked = len(self.path.points) - 1, 0
        self.path.write()
