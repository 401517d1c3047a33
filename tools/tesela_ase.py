"""tesela as a calculator of ASE (https://ase-lib.org): energies, forces and dipoles by a served job.

    import sys; sys.path.insert(0, "tools")
    from ase.io import read
    from tesela_ase import Tesela
    atoms = read("inputs/xc/water.xyz")
    with Tesela("inputs/xc/water.yaml") as atoms.calc:
        VelocityVerlet(atoms, 0.5 * units.fs).run(5)

The deck says how to compute: basis, functional, charge, multiplicity, point charges (which stay where they are); the
atoms and their places are ASE's. One `tesela serve` answers all geometries, each from the densities of those before;
it begins with the first and ends with close() or the calculator. Smeared fields give their free energy, whose
derivative the forces are. Units are ASE's: Angstrom, eV. Needs numpy and ase.
"""
import numpy as np
from ase.calculators.calculator import CalculationFailed, Calculator, all_changes
from ase.units import Bohr, Hartree

from pages.served import Job, ServedError, energy_of


class Tesela(Calculator):
    """Of a deck; sets, ranks, launcher, program: see pages.served.Job. What fails raises CalculationFailed with what
    tesela said; the next geometry is computed all the same."""

    implemented_properties = ["energy", "free_energy", "forces", "dipole"]

    def __init__(self, deck, sets=(), ranks=None, launcher=None, program=None, **more):
        super().__init__(**more)
        self.job = Job(deck, sets, ranks, launcher, program)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        """End the job, if there is one; its exit status."""
        return self.job.close() if hasattr(self, "job") else None

    def calculate(self, atoms=None, properties=("energy",), system_changes=all_changes):
        super().calculate(atoms, properties, system_changes)
        driver = "gradient" if "forces" in properties else "energy"
        try:
            found = self.job.ask(self.atoms.get_chemical_symbols(), self.atoms.get_positions(), driver)
        except ServedError as error:
            raise CalculationFailed(str(error)) from None
        energy = energy_of(found) * Hartree
        self.results = {"energy": energy, "free_energy": energy,
                        "dipole": np.array(found["properties"]["scf_dipole_moment"]) * Bohr}
        if driver == "gradient":
            self.results["forces"] = -np.reshape(found["return_result"], (-1, 3)) * (Hartree / Bohr)
