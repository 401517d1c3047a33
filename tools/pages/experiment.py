"""A scaling experiment: its points and their runs, in a folder.

DIR/experiment.json   what was asked for; a folder holds one experiment
DIR/deck.yaml         the deck as it was
DIR/runs/             of the runs (runs.py, ceiling.py)
"""
import hashlib
import json
import os
import shlex
import shutil
import sys

from .ceiling import Copies
from .page import write
from .runs import ExperimentError, Run

CLOSE = 0.05          # fixed time: so near to the wanted seconds is near enough
TRIALS = 6            # fixed time: sizes tried for each point


class Point:
    """A device mix and a number of ranks, with its runs."""

    def __init__(self, devices, ranks, mix):
        self.devices, self.ranks, self.mix = devices, ranks, mix
        self.runs, self.copies, self.factor = [], [], 1.0

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
        self.title, self.ceiling = options.title, options.ceiling
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
        if self.ceiling and point.devices == "cpu":
            first = min((p for p in self.points if p.devices == "cpu"), key=lambda p: p.ranks)
            whole = self.settings(first, first.ranks / self.first)  # where the problem grows: the smallest
            point.copies = [Copies(self, point, k, whole) for k in numbers]

    def plan(self):
        """Runs in the order in which they are made: one repeat of every point after the other, runs before copies."""
        for point in self.points:
            self.make_runs(point, point.ranks / self.first if self.mode == "weak" else 1.0)
        runs = [run for point in self.points for run in point.runs]
        return sorted(runs + [one for point in self.points for one in point.copies], key=lambda run: run.repeat)

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
