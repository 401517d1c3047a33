"""tesela as a calculator of ASE (https://ase-lib.org): energies and forces of an xc deck at any places of its atoms.

    import sys; sys.path.insert(0, "tools")
    from tesela_ase import Tesela
    atoms = Tesela.atoms("inputs/xc/water.yaml", folder="md")
    VelocityVerlet(atoms, 0.5 * units.fs).run(5)

The deck says all but the places: elements and their order, charge, multiplicity, point charges (which stay where they
are), basis, functional. Each call is a run of tesela from the density of the one before; smeared fields give their free
energy, whose derivative the forces are. The folder keeps logs, places, and the outputs of the last two runs. Units are
ASE's: Angstrom, eV. Needs h5py, numpy and ase.
"""
import os
import tempfile

import numpy as np
from ase import Atoms

from pages import launch, step
from pages.ase_points import Points
from pages.molecule import ANGSTROM


class Tesela(Points):
    """Of a deck. folder: of the runs, by default a temporary one that is removed with the calculator; sets: as
    KEY=VALUE of `tesela run --set`; ranks: by mpirun, or by launcher, a command with {ranks} in it; program: by default
    of this tree's builds, else of the PATH. Runs that fail raise pages.step.StepError with what they said."""

    def __init__(self, deck, folder=None, sets=(), ranks=None, launcher=None, program=None, **more):
        super().__init__(self.point, **more)
        self.temporary = tempfile.TemporaryDirectory(prefix="tesela_ase_") if folder is None else None
        folder = folder or self.temporary.name
        os.makedirs(folder, exist_ok=True)
        words = launch.Local(launcher).words(ranks or 1) if ranks or launcher else []
        self.steps = step.Steps(deck, folder, launch.program_of(program), sets, words)
        self.start, self.count = self.steps.first(), 0

    def point(self, places):
        """At places in bohr."""
        if len(places) != len(self.steps.numbers) or (self.atoms.numbers != self.steps.numbers).any():
            raise ValueError("the atoms are not those of the deck, in its order")
        self.count += 1
        found = self.steps.at(self.count, np.asarray(places))
        self.steps.clean(self.count - 1)
        return found

    @classmethod
    def atoms(cls, deck, **more):
        """The deck's molecule where the deck has it, with a calculator: as the constructor."""
        made = cls(deck, **more)
        return Atoms(numbers=made.steps.numbers, positions=made.start.places * ANGSTROM, calculator=made)
