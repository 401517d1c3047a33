"""A scaling experiment: its points and runs, the files they leave, and running what is missing.

DIR/experiment.json   what was asked for; a folder holds one experiment
DIR/deck.yaml         the deck as it was
DIR/runs/NAME.h5      output of a run (large results are taken out: only what /run says counts)
DIR/runs/NAME.json    how it ended; a run with this file and exit status 0 is not repeated
DIR/runs/NAME.log     what it printed
"""
import hashlib
import json
import os
import shlex
import shutil
import sys

import h5py

from . import h5, record
from .page import seconds as seconds_text, write

LARGE = 8 << 20       # bytes of results above which they are taken out of a run's file
CLOSE = 0.05          # fixed time: so near to the wanted seconds is near enough
TRIALS = 6            # fixed time: sizes tried for each point


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
        self.done = self.note["status"] == 0 and os.path.exists(self.path("h5"))
        if self.note["status"] == 0 and not self.done:
            self.note = None  # somebody removed the output

    def command(self):
        calibration = self.owner.path("runs", f"calibration-{self.devices.replace(',', '+')}-n{self.ranks}")
        sets = [f"run.device={self.devices}", f"run.calibration={calibration}", *self.owner.sets, *self.sets]
        if self.owner.threads:
            sets.append(f"run.threads={self.owner.threads}")
        words = [self.owner.program, "run", self.owner.deck, "-o", self.path("h5"), "--overwrite", "-q"]
        return words + [word for one in sets for word in ("--set", one)]

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


class Point:
    """A device mix and a number of ranks, with its runs."""

    def __init__(self, devices, ranks, mix):
        self.devices, self.ranks, self.mix = devices, ranks, mix
        self.runs, self.factor = [], 1.0

    def name(self):
        return f"{self.devices.replace(',', '+')}-n{self.ranks}"


def points_of(devices, ranks):
    """A word (cpu, gpu, auto) goes over all rank counts; a list (gpu0,cpu) has one rank for each of its words."""
    points = []
    for word in devices:
        mix = "," in word or word[-1].isdigit()
        counts = [len(word.split(","))] if mix else ranks
        points += [Point(word, count, mix) for count in counts]
    names = [point.name() for point in points]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ExperimentError(f"asked for twice: {', '.join(sorted(twice))}")
    return points


class Experiment:
    """What was asked for, in a folder."""

    def __init__(self, folder, deck, program, options, growths, at):
        self.folder, self.deck, self.program = os.path.abspath(folder), os.path.abspath(deck), program
        self.mode, self.repeat, self.threads = options.mode, options.repeat, options.threads
        self.sets, self.measure, self.wanted = options.set, options.measure, options.seconds
        self.growths, self.at, self.warm = growths, at, options.warmup
        self.title = options.title
        self.words = ["tools/scaling", *sys.argv[1:]]
        self.points = points_of(options.devices, options.ranks)
        self.first = min(point.ranks for point in self.points)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    # ---- folder

    def identity(self):
        """What must be equal for runs to belong together."""
        return {"deck": digest(self.deck), "mode": self.mode, "sets": self.sets, "threads": self.threads,
                "at": [[count, text] for count, text in self.at], "seconds": self.wanted, "first": self.first,
                "grow": [f"{g.key}={g.base:.9g}^{g.power:.9g}" for g in self.growths]}

    def prepare(self):
        """Make the folder or recognise it."""
        for part in ("runs", "work"):
            os.makedirs(self.path(part), exist_ok=True)
        known, now = self.path("experiment.json"), self.identity()
        if not os.path.exists(known):
            shutil.copyfile(self.deck, self.path("deck.yaml"))
            write(known, json.dumps(now | {"command": shlex.join(self.words)}, indent=1) + "\n")
            return
        with open(known, encoding="utf-8") as file:
            before = json.load(file)
        different = [key for key in now if now[key] != before.get(key)]
        if different:
            raise ExperimentError(f"{self.folder} holds another experiment: {', '.join(different)} differ; choose "
                                  "another folder with -o, or remove this one")

    def asked(self):
        """The command that began the experiment."""
        with open(self.path("experiment.json"), encoding="utf-8") as file:
            return json.load(file).get("command", "")

    # ---- runs

    def settings(self, point, factor):
        given = [text for count, text in self.at if count == point.ranks]
        return [growth.setting(factor) for growth in self.growths] + given

    def make_runs(self, point, factor):
        point.factor = factor
        sets = self.settings(point, factor)
        numbers = range(0 if self.warm else 1, self.repeat + 1)
        point.runs = [Run(self, f"{point.name()}-r{k}", point.devices, point.ranks, k, sets) for k in numbers]

    def plan(self):
        """Runs in the order in which they are made: one repeat of every point after the other."""
        for point in self.points:
            self.make_runs(point, point.ranks / self.first if self.mode == "weak" else 1.0)
        return sorted((run for point in self.points for run in point.runs), key=lambda run: run.repeat)

    def time_of(self, run):
        done = run.result()
        return None if done is None else done.wall if self.measure == "computation" else done.total

    def search(self, point, factor, start):
        """Fixed time: the growth at which a run takes the wanted seconds; None when a trial failed."""
        for trial in range(1, TRIALS + 1):
            run = Run(self, f"{point.name()}-t{trial}", point.devices, point.ranks, trial, self.settings(point, factor))
            start([run])
            took = self.time_of(run)
            if took is None:
                point.runs = [run]  # shown as failed
                return None
            if abs(took / self.wanted - 1) <= CLOSE:
                break
            factor *= min(max(self.wanted / took, 1 / 64), 64)
        return factor

    def run_fixed_time(self, start):
        factors = {}
        for point in sorted(self.points, key=lambda point: point.ranks):
            guess = factors.get(point.devices, (1.0, self.first))
            factor = self.search(point, guess[0] * point.ranks / guess[1], start)
            if factor is None:
                continue
            factors[point.devices] = (factor, point.ranks)
            self.make_runs(point, factor)
            start(point.runs)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
