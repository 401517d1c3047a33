"""QM/MM with LAMMPS (https://lammps.org): some atoms by tesela, in the field of the charges of all others.

    from lammps import lammps
    from tesela_lammps import Embedded
    lmp = lammps()
    ...                                  # atoms with masses, charges, force field; QM atoms with charge 0
    with Embedded("water.yaml", lmp, {1: "O", 2: "H", 3: "H"}) as qm:
        qm.couple()                      # fix tesela all external: energies and forces at each step
        lmp.command("run 100")

LAMMPS has all among the MM atoms, and what of the QM atoms is not electrostatic: their Lennard-Jones with MM atoms. tesela
has the QM atoms, and the Coulomb forces between them and the charges of the MM atoms, on both sides. So in LAMMPS QM
atoms have no charges, no bonds, angles or dihedrals, and no pairs among themselves (neigh_modify exclude). Units of
LAMMPS are real; the cell is not periodic; LAMMPS has one rank, tesela as many as it is given. See docs/qmmm.md.
"""
import numpy as np

from pages.molecule import ANGSTROM
from pages.served import Job, energy_of

KCAL = 627.5094740630558  # of a hartree, kcal/mol


class Embedded:
    """atoms: {number of an atom in LAMMPS: its symbol}; more: sets, ranks, launcher, program of pages.served.Job."""

    def __init__(self, deck, lmp, atoms, **more):
        self.job, self.lmp, self.atoms = Job(deck, **more), lmp, atoms
        self.energy, self.steps = None, 0  # hartree, of QM and QM/MM; how many were asked for

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.job.close()

    def couple(self, name="tesela"):
        """As a fix external of LAMMPS, whose energy counts."""
        self.lmp.command(f"fix {name} all external pf/callback 1 1")
        self.lmp.command(f"fix_modify {name} energy yes")
        self.name = name
        self.lmp.set_fix_external_callback(name, self.step, self.lmp)

    def step(self, lmp, _number, _n, tags, places, forces):
        """Called by LAMMPS: forces in kcal/mol/Angstrom of all atoms, added to its own."""
        charges = lmp.numpy.extract_atom("q")[:len(tags)]
        inside = np.array([tag in self.atoms for tag in tags])
        quantum = np.flatnonzero(inside)[np.argsort(tags[inside])]
        around = np.flatnonzero(~inside & (charges != 0))
        if len(quantum) != len(self.atoms) or charges[quantum].any():
            raise ValueError("the QM atoms are not all there, or have charges in LAMMPS")
        found = self.job.ask([self.atoms[tag] for tag in tags[quantum]], places[quantum],
                             charges=np.column_stack([places[around], charges[around]]))
        self.energy, self.steps = energy_of(found), self.steps + 1
        factor = KCAL / ANGSTROM
        forces[:] = 0
        forces[quantum] = -np.reshape(found["return_result"], (-1, 3)) * factor
        if len(around):
            forces[around] = -np.reshape(found["extras"]["tesela"]["charge_gradient"], (-1, 3)) * factor
        lmp.fix_external_set_energy_global(self.name, self.energy * KCAL)
