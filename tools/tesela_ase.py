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
import json
import os
import subprocess

import numpy as np
from ase.calculators.calculator import CalculationFailed, Calculator, all_changes
from ase.units import Bohr, Hartree

from pages import deck as decks, launch


class Tesela(Calculator):
    """Of a deck. sets: as KEY=VALUE of `tesela run --set`; ranks: by mpirun, or by launcher, a command with {ranks} in
    it; program: by default of this tree's builds, else of the PATH. What fails raises CalculationFailed with what
    tesela said; the next geometry is computed all the same."""

    implemented_properties = ["energy", "free_energy", "forces", "dipole"]

    def __init__(self, deck, sets=(), ranks=None, launcher=None, program=None, **more):
        super().__init__(**more)
        words = launch.Local(launcher).words(ranks or 1) if ranks or launcher else []
        self.command = [*words, launch.program_of(program), "serve", deck, "--qcschema", "-q"]
        self.command += [word for one in sets for word in ("-s", one)]
        with open(deck, encoding="utf-8") as file:
            known = decks.scalars(file.read())
        known |= dict(one.split("=", 1) for one in sets)
        self.charge = int(known.get("xc.molecule.charge", 0))
        self.multiplicity = int(known.get("xc.molecule.multiplicity", 0))
        self.job = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        """End the job, if there is one; its exit status."""
        job, self.job = getattr(self, "job", None), None
        if job is None:
            return None
        job.stdin.close()
        job.stdout.close()
        return job.wait()

    def question(self, gradient):
        """AtomicInput of QCSchema for the atoms."""
        molecule = {"symbols": self.atoms.get_chemical_symbols(), "molecular_charge": self.charge,
                    "geometry": (self.atoms.get_positions() / Bohr).ravel().tolist()}
        if self.multiplicity:
            molecule["molecular_multiplicity"] = self.multiplicity
        return {"schema_name": "qcschema_input", "schema_version": 1, "molecule": molecule, "keywords": {},
                "driver": "gradient" if gradient else "energy"}

    def ask(self, question):
        """AtomicResult."""
        if self.job is None:
            self.job = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True)
        try:
            self.job.stdin.write(json.dumps(question) + "\n")
            self.job.stdin.flush()
            line = self.job.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            status = self.job.wait()
            self.job = None
            raise CalculationFailed(f"{' '.join(map(os.fspath, self.command))} ended with status {status}")
        answer = json.loads(line)
        if not answer["success"]:
            raise CalculationFailed(answer["error"]["error_message"])
        return answer

    def calculate(self, atoms=None, properties=("energy",), system_changes=all_changes):
        super().calculate(atoms, properties, system_changes)
        found = self.ask(self.question("forces" in properties))
        own, terms = found["extras"]["tesela"], found["properties"]
        energy = own.get("free_energy", terms["return_energy"]) * Hartree
        self.results = {"energy": energy, "free_energy": energy,
                        "dipole": np.array(terms["scf_dipole_moment"]) * Bohr}
        if found["driver"] == "gradient":
            self.results["forces"] = -np.reshape(found["return_result"], (-1, 3)) * (Hartree / Bohr)
