"""Energies and forces of points as a calculator of ASE; imported where ASE is installed alone."""
from ase.calculators.calculator import Calculator, all_changes

from .molecule import ANGSTROM
from .path import HARTREE


class Points(Calculator):
    """evaluate(places in bohr) -> Point."""

    implemented_properties = ["energy", "free_energy", "forces"]

    def __init__(self, evaluate, **more):
        super().__init__(**more)
        self.evaluate = evaluate

    def calculate(self, atoms=None, properties=("energy",), system_changes=all_changes):
        super().calculate(atoms, properties, system_changes)
        point = self.evaluate(self.atoms.get_positions() / ANGSTROM)
        energy = point.energy * HARTREE
        self.results = {"energy": energy, "free_energy": energy, "forces": -point.gradient * (HARTREE / ANGSTROM)}
