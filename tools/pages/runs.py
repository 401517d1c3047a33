"""One start of the program, and the files that it leaves.

DIR/runs/NAME.h5      output of a run (large results are taken out: only what /run says counts)
DIR/runs/NAME.json    how it ended; a run with this file and exit status 0 is not repeated
DIR/runs/NAME.log     what it printed
"""
import json
import os
import shlex

import h5py

from . import h5, record
from .page import seconds as seconds_text, write

LARGE = 8 << 20       # bytes of results above which they are taken out of a run's file


class ExperimentError(Exception):
    """The request or the folder is wrong, and how."""


class Run:
    """One start of the program."""

    def __init__(self, owner, name, devices, ranks, repeat, sets):
        self.owner, self.name, self.devices, self.ranks = owner, name, devices, ranks
        self.repeat, self.sets = repeat, list(sets)
        self.work = owner.path("work")
        self.note, self.done = None, False
        if os.path.exists(self.path("json")):
            with open(self.path("json"), encoding="utf-8") as file:
                self.note = json.load(file)
            self.check_note()

    def path(self, kind):
        return self.owner.path("runs", f"{self.name}.{kind}")

    def check_note(self):
        """A file of another request under this name is not taken for this run's."""
        if self.note["sets"] != self.sets and self.note["status"] == 0:
            raise ExperimentError(f"{self.path('json')} is of a run with {' '.join(self.note['sets'])}, not "
                                  f"{' '.join(self.sets)}: choose another folder (-o)")
        self.done = self.note["status"] == 0 and self.kept()
        if self.note["status"] == 0 and not self.done:
            self.note = None  # somebody removed the output

    def kept(self):
        """Is there still all that a run that ended well leaves?"""
        return os.path.exists(self.path("h5"))

    def command(self):
        sets = [f"run.threads={self.owner.threads}"] if self.owner.threads else []
        return self.words(f"calibration-{self.devices.replace(',', '+')}-n{self.ranks}", self.sets + sets)

    def words(self, calibration, sets):
        """The command with a calibration file of that name in the folder of runs, and with these settings."""
        sets = [f"run.device={self.devices}", f"run.calibration={self.owner.path('runs', calibration)}",
                *self.owner.sets, *sets]
        words = [self.owner.program, "run", self.owner.deck, "-o", self.path("h5"), "--overwrite", "-q"]
        return words + [word for one in sets for word in ("--set", one)]

    def start(self, launcher):
        launcher.start(self)

    def known(self):
        """It ended well before, or ended at all since this program began: what had failed is repeated once."""
        return self.done

    def ended(self, status, seconds):
        """Write down how it ended. Exit status 0 without a readable output is a failure as well."""
        error = "" if status == 0 else self.last_words() or f"exit status {status}"
        if status == 0:
            try:
                slim(self.path("h5"))
                record.read(self.path("h5"))
            except (h5.Unfit, OSError, KeyError) as why:
                status, error = 1, f"no readable output: {why}"
        self.note = {"name": self.name, "devices": self.devices, "ranks": self.ranks, "repeat": self.repeat,
                     "sets": self.sets, "status": status, "seconds": seconds, "error": error,
                     "command": shlex.join(self.command())}
        self.done = True
        write(self.path("json"), json.dumps(self.note, indent=1) + "\n")

    def last_words(self):
        """The program's own message, else the last line of the log."""
        try:
            with open(self.path("log"), encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file if line.strip()]
        except OSError:
            return ""
        for mark in ("tesela: error", "sbatch:", "noticed that", "the job ended", "ended after"):
            own = [line for line in lines if mark in line]
            if own:
                return own[0][:300]
        lines = [line for line in lines if line.strip("-*= ")]
        return lines[-1][:300] if lines else ""

    def result(self):
        """The record of a run that ended well, else None."""
        if self.note is None or self.note["status"] != 0:
            return None
        return record.read(self.path("h5"))

    def title(self):
        return f"{self.ranks} ranks, {self.devices}"

    def short(self):
        done = self.result()
        if done is None:
            return f"FAILED: {self.note['error']}"
        return f"computed in {seconds_text(done.wall)}, whole run {seconds_text(done.total)}"


def slim(path):
    """Take large results out of a file: their attributes and everything under /run stay."""
    if os.path.getsize(path) <= LARGE:
        return
    with h5.opened(path) as source, h5py.File(path + ".part", "w") as target:
        for name, value in source.attrs.items():
            target.attrs[name] = value
        source.copy("run", target)
        results = target.create_group("results")
        for name, value in source["results"].attrs.items():
            results.attrs[name] = value
        results.attrs["taken_out"] = "by tools/scaling: " + ", ".join(source["results"])
    os.replace(path + ".part", path)
