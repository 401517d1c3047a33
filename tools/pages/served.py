"""A `tesela serve` of one's own, asked in QCSchema: for tools/tesela_ase.py and tools/tesela_lammps.py."""
import json
import subprocess

import numpy as np

from . import deck as decks, launch
from .molecule import ANGSTROM


class ServedError(Exception):
    """No answer, and what tesela said."""


class Job:
    """Of a deck, which says basis, functional, charge, multiplicity; begun with the first question. sets: as KEY=VALUE
    of `tesela run --set`; ranks: by mpirun, or by launcher, a command with {ranks} in it; program: by default of this
    tree's builds, else of the PATH."""

    def __init__(self, deck, sets=(), ranks=None, launcher=None, program=None):
        words = launch.Local(launcher).words(ranks or 1) if ranks or launcher else []
        self.command = [*words, launch.program_of(program), "serve", str(deck), "--qcschema", "-q"]
        self.command += [word for one in sets for word in ("-s", one)]
        with open(deck, encoding="utf-8") as file:
            known = decks.scalars(file.read())
        known |= dict(one.split("=", 1) for one in sets)
        self.about = {"molecular_charge": int(known.get("xc.molecule.charge", 0))}
        if int(known.get("xc.molecule.multiplicity", 0)) > 0:
            self.about["molecular_multiplicity"] = int(known["xc.molecule.multiplicity"])
        self.process = None

    def close(self):
        """End it, if it runs; its exit status."""
        process, self.process = self.process, None
        if process is None:
            return None
        process.stdin.close()
        process.stdout.close()
        return process.wait()

    def ask(self, symbols, places, driver="gradient", charges=None):
        """AtomicResult of symbols at places (Angstrom), beside point charges: rows x y z q (Angstrom). What fails raises
        ServedError; but for a job that has ended, the next question is answered all the same."""
        molecule = {"symbols": list(symbols), "geometry": (np.asarray(places) / ANGSTROM).ravel().tolist(), **self.about}
        question = {"schema_name": "qcschema_input", "schema_version": 1, "molecule": molecule, "driver": driver,
                    "keywords": {}}
        if charges is not None and len(charges):
            rows = np.asarray(charges) / [ANGSTROM, ANGSTROM, ANGSTROM, 1]
            question["extras"] = {"tesela": {"point_charges": rows.ravel().tolist()}}
        answer = json.loads(self.line(json.dumps(question)))
        if not answer["success"]:
            raise ServedError(answer["error"]["error_message"])
        return answer

    def line(self, question):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            start_new_session=True)
        try:
            self.process.stdin.write(question + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            status = self.process.wait()
            self.process = None
            raise ServedError(f"{' '.join(self.command)} ended with status {status}")
        return answer


def energy_of(answer):
    """hartree; of smeared fields the free energy, whose derivative the gradient is."""
    return answer["extras"]["tesela"].get("free_energy", answer["properties"]["return_energy"])
