"""Energy and gradient of a molecule at any places of its atoms: a run of tesela each, from the density of the last."""
import json
import os
import re
import subprocess
import time
from dataclasses import dataclass

import numpy as np

from . import deck, files, h5, launch
from .molecule import ANGSTROM, symbol

FAR = 0.45 / ANGSTROM  # bohr; a run takes no density of atoms that have moved by more than 0.5 Angstrom
REFUSED, IN_VAIN = 2, 3
BESIDE = (("molden", "molden"), ("qcschema", "out.json"))  # files that a deck may name: key, and ending here


class StepError(Exception):
    """No gradient, and why; status: refused before any work, or computed in vain."""

    def __init__(self, text, status):
        super().__init__(text)
        self.status = status


@dataclass
class Point:
    """Places in bohr, energy in hartree (smeared fields: the free energy, whose derivative the gradient is), gradient
    in hartree/bohr, seconds and iterations of the run."""

    places: np.ndarray
    energy: float
    gradient: np.ndarray
    seconds: float
    iterations: int


def quoted(text):
    """A word of a deck in quotes, whatever is in it."""
    return json.dumps(text, ensure_ascii=False)


def unquoted(text):
    """What a deck with all defaults has between quotes."""
    try:
        return json.loads(f'"{text}"')
    except ValueError:
        return text


class Steps:
    """Runs of one deck in a folder. Until a run has ended well: numbers and source are None.

    numbers   atomic numbers
    source    what the runs need to know of the deck's molecule beside places
    last      output of the last run that ended well and its places, or None
    """

    def __init__(self, deck_path, folder, program, sets=(), words=(), lock=None):
        self.deck, self.folder, self.program = os.path.abspath(deck_path), os.path.abspath(folder), program
        self.sets, self.words, self.lock = list(sets), list(words), lock
        self.numbers = self.source = self.last = None

    def path(self, number, ending):
        return os.path.join(self.folder, f"step-{number:04d}.{ending}")

    # ---- one run

    def first(self, number=0):
        """Of the deck as it is."""
        return self.run(number, [])

    def at(self, number, places):
        """places: bohr, (atoms, 3)."""
        return self.run(number, [f"xc.molecule={self.molecule(number, places)}", *self.guess(places)])

    def run(self, number, sets):
        """The point; StepError when there is none."""
        out, log = self.path(number, "h5"), self.path(number, "log")
        command = [*self.words, self.program, "run", self.deck, "-o", out, "-q", "--overwrite"]
        for one in [*self.sets, "xc.task=gradient", *self.beside(number), *sets]:
            command += ["--set", one]
        began = time.time()
        status = self.wait(command, log)
        if status != 0:
            raise StepError(said(log, status), REFUSED if status == REFUSED else IN_VAIN)
        point = self.read(out, time.time() - began)
        self.last = (out, point.places)
        return point

    def beside(self, number):
        """Files that the deck names go into the folder, cubes nowhere: a step replaces none of the user's."""
        text = "\n".join(self.sets)
        if not self.deck.lower().endswith(".json"):
            with open(self.deck, encoding="utf-8", errors="replace") as stream:
                text += stream.read()
        words = [f"xc.{key}={quoted(self.path(number, ending))}" for key, ending in BESIDE
                 if re.search(rf"\b{key}\b", text)]
        return words + ["xc.cube={}"] * bool(re.search(r"\bcube\b", text))

    def wait(self, command, log):
        """The exit status. The run holds the lock as well: it may outlive this program."""
        with open(log, "wb") as stream:
            process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                       start_new_session=True, pass_fds=() if self.lock is None else (self.lock,))
            try:
                return process.wait()
            except BaseException:  # no ranks are left behind
                launch.end(process)
                raise

    def read(self, out, seconds):
        """The point of an output; what it says of the molecule is kept."""
        try:
            with h5.opened(out) as file:
                results = file["results"]
                if "gradient" not in results:
                    raise StepError(f"{out} holds no gradient: family {h5.attribute(file['run'], 'family')}", REFUSED)
                atoms, gradient = results["atoms"][...], results["gradient"][...]
                energy = "free energy" if "free energy" in results.attrs else "total energy"
                point = Point(atoms[:, 1:4], float(results.attrs[energy]), gradient, seconds,
                              int(results.attrs["iterations"]))
                if self.source is None:
                    self.source = source_of(h5.stored_text(file, "run/resolved_deck"))
        except (h5.Unfit, OSError, KeyError) as error:
            raise StepError(str(error), IN_VAIN) from None
        self.numbers = atoms[:, 0].astype(int)
        return point

    # ---- what a step sets

    def molecule(self, number, places):
        """The deck's map for these places."""
        source = self.source
        kept = [f"charges: {quoted(source['charges'])}"] if source["charges"] else []
        if source["json"]:
            path = self.path(number, "json")
            self.write_json(path, places)
            return "{" + ", ".join([f"json: {quoted(path)}", *kept]) + "}"
        path = self.path(number, "xyz")
        files.put(path, xyz_text(self.numbers, places, f"step {number}"))
        kept += [f"charge: {source['charge']}", f"multiplicity: {source['multiplicity']}"]
        return "{" + ", ".join([f"xyz: {quoted(path)}", *kept]) + "}"

    def write_json(self, path, places):
        """The QCSchema file of the deck with other places."""
        is_deck = self.deck.lower().endswith(".json")
        original = self.deck if is_deck else os.path.join(os.path.dirname(self.deck), self.source["json"])
        try:
            with open(original, encoding="utf-8") as stream:
                tree = json.load(stream)
            tree.get("molecule", tree)["geometry"] = [float(x) for x in places.ravel()]
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise StepError(f"{original}: {error}", REFUSED) from None
        files.put(path, json.dumps(tree, indent=1) + "\n")

    def guess(self, places):
        """From the last density, while the atoms are near enough to it; else from atoms, with the deck's spins."""
        near = self.last is not None and np.linalg.norm(places - self.last[1], axis=1).max() <= FAR
        spins = self.source["spins"]
        if not near:
            return [f"xc.guess={{spins: {quoted(spins)}}}"] if spins else ["xc.guess={}"]
        return [f"xc.guess={{file: {quoted(self.last[0])}}}"] + ["xc.reference=unrestricted"] * bool(spins)

    def clean(self, least):
        """Remove outputs of steps before that one: densities are large."""
        for name in os.listdir(self.folder):
            stem, ending = os.path.splitext(name)
            if ending == ".h5" and stem.startswith("step-") and stem[5:].isdigit() and int(stem[5:]) < least:
                os.remove(os.path.join(self.folder, name))


def source_of(text):
    """Of a deck with all defaults: charge, multiplicity, files, and spins of atoms."""
    known = deck.scalars(text)
    words = {name: unquoted(known.get(f"xc.molecule.{name}", "")) for name in ("json", "charges")}
    return {**words, "charge": int(known.get("xc.molecule.charge", "0")),
            "multiplicity": int(known.get("xc.molecule.multiplicity", "0")),
            "spins": unquoted(known.get("xc.guess.spins", ""))}


def warnings(log):
    with open(log, encoding="utf-8", errors="replace") as stream:
        return [line.strip() for line in stream if line.startswith("tesela: warning")]


def said(log, status):
    """What a run that failed had to say, with its advice; how to go on from its file is said otherwise."""
    with open(log, encoding="utf-8", errors="replace") as stream:
        lines = [line.strip() for line in stream]
    mine = [line for line in lines if line.startswith("tesela: ") and not line.startswith("tesela: --restart")]
    return "\n".join(mine or [*lines[-5:], f"exit status {status}; {log}"])


def xyz_text(numbers, places, comment):
    """An XYZ file; places in bohr, with all their digits."""
    rows = [f"{symbol(z)} " + " ".join(repr(float(x)) for x in place)
            for z, place in zip(numbers, np.asarray(places) * ANGSTROM)]
    return "\n".join([str(len(rows)), comment, *rows]) + "\n"
