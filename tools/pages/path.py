"""The steps of an optimisation: in memory, and in three files that are whole after every step.

steps.h5         all that a restart needs, in double precision
steps.csv        a row a step
trajectory.xyz   extended XYZ: Angstrom, eV, eV/Angstrom, as viewers and ASE expect
"""
import io
import json
import math
import os

import h5py
import numpy as np

from . import files, table
from .molecule import ANGSTROM, symbol
from .step import Point

HARTREE = 27.211386245988  # eV


class PathError(Exception):
    """A folder whose steps cannot be used, and why."""


def lengths(vectors):
    """Root of the mean square, and the largest, of the rows' lengths."""
    squares = (np.asarray(vectors) ** 2).sum(axis=1)
    return math.sqrt(squares.mean()), math.sqrt(squares.max())


class Path:
    """points in order; begin: the first of those that the optimiser, as it is now, has seen."""

    def __init__(self, folder):
        self.folder, self.points, self.begin = folder, [], 0
        self.numbers = self.source = None

    def name(self, word):
        return os.path.join(self.folder, word)

    def add(self, point):
        self.points.append(point)
        self.write()

    # ---- rows

    def row(self, k):
        """Columns of steps.csv; gradients and displacements are lengths of atoms' vectors."""
        point, before = self.points[k], self.points[max(k - 1, 0)]
        rms, most = lengths(point.gradient)
        moved_rms, moved = lengths((point.places - before.places) * ANGSTROM)
        return {"step": k, "energy_hartree": point.energy, "change_hartree": point.energy - before.energy,
                "rms_gradient_hartree_bohr": rms, "largest_gradient_hartree_bohr": most,
                "rms_displacement_angstrom": moved_rms, "largest_displacement_angstrom": moved,
                "iterations": point.iterations, "seconds": point.seconds}

    def rows(self):
        return [self.row(k) for k in range(len(self.points))]

    # ---- files

    def write(self):
        files.put(self.name("steps.h5"), self.hdf5())
        rows = [row | {"energy_hartree": f"{row['energy_hartree']:.12f}"} for row in self.rows()]
        files.put(self.name("steps.csv"), table.csv_text(rows))
        files.put(self.name("trajectory.xyz"), "".join(self.frame(k) for k in range(len(self.points))))

    def hdf5(self):
        stream = io.BytesIO()
        with h5py.File(stream, "w") as file:
            file.attrs["begin"], file.attrs["source"] = self.begin, json.dumps(self.source)
            for name, values, unit in (
                    ("atomic_numbers", self.numbers, "1"), ("places", [p.places for p in self.points], "bohr"),
                    ("energy", [p.energy for p in self.points], "hartree"),
                    ("gradient", [p.gradient for p in self.points], "hartree/bohr"),
                    ("seconds", [p.seconds for p in self.points], "s"),
                    ("iterations", [p.iterations for p in self.points], "1")):
                file.create_dataset(name, data=np.array(values)).attrs["unit"] = unit
        return stream.getvalue()

    def frame(self, k):
        point, force = self.points[k], HARTREE / ANGSTROM
        rows = [f"{symbol(z)} " + " ".join(f"{x:.10f}" for x in (*(place * ANGSTROM), *(-slope * force)))
                for z, place, slope in zip(self.numbers, point.places, point.gradient)]
        head = (f'Properties=species:S:1:pos:R:3:forces:R:3 energy={point.energy * HARTREE:.10f} step={k} '
                'pbc="F F F"')
        return "\n".join([str(len(rows)), head, *rows]) + "\n"

    def load(self):
        """What steps.h5 holds."""
        name = self.name("steps.h5")
        try:
            with h5py.File(name, "r") as file:
                self.numbers, self.begin = file["atomic_numbers"][...], int(file.attrs["begin"])
                self.source = json.loads(file.attrs["source"])
                columns = [file[word][...] for word in ("places", "energy", "gradient", "seconds", "iterations")]
        except (OSError, KeyError, ValueError, TypeError) as error:
            raise PathError(f"{name}: {error}") from None
        self.points = [Point(place, float(energy), slope, float(seconds), int(iterations))
                       for place, energy, slope, seconds, iterations in zip(*columns)]
        if not 0 <= self.begin < len(self.points) or not np.isfinite(columns[0]).all():
            raise PathError(f"{name}: holds no steps to go on from")
