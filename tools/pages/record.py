"""What an output file says about its run: who took part, how long it took, and where the time of the ranks went."""
import json
import math

import numpy as np

from . import h5

OF_PHASE = ("share", "rebalance", "begin", "compute", "collect", "combine", "record", "advance")  # no checkpoints


class Run:
    """The /run group of an output in memory. Times in seconds, shares 0..1.

    units      computed by this run; before: finished before a restart, from the checkpoint, with
               the times of the run that computed them
    wall       of the computation: all phases where the file records them, else the last one
    computing, between, waiting
               the ranks' time n * wall: devices at work; between units (handing out, sending
               results, messages); ended and waiting for the last rank
    stages     where rank 0's time went, stage by stage; None in outputs of earlier versions
    exchange   sharing inputs and combining results, by rank 0's clock; 0 where it is not recorded
    """

    def __init__(self, file):
        run = file["run"]
        self.attributes = {name: h5.attribute(run, name) for name in run.attrs}
        self.placements = file["run/machine"][...]
        units = file["run/units"][...]
        self.units, self.before = units[units["rank"] >= 0], units[units["rank"] < 0]
        self.balance = run["balance"][...] if "balance" in run else None
        self.calibration = run["calibration"][...] if "calibration" in run else None
        self.use = run["ranks"][...] if "ranks" in run else None
        self.phases, self.phase_times = table_of(run, "phases"), table_of(run, "phase_times")
        self.stages = table_of(run, "stages")
        self.ranks = len(self.placements)
        self.predicted, self.wall = self.number("predicted_seconds"), self.number("measured_seconds")
        self.total = self.number("total_seconds")
        self.exchange = column_sum(self.phases, "communication")
        self.computing, self.between, self.waiting = self.shares()
        self.imbalance = self.number("imbalance")
        self.work = float(self.units["count"].sum()) if len(self.units) else 0.0

    def time(self, measure):
        """Seconds that count: of the computation, with sharing and combining, or of the whole run."""
        return self.wall + self.exchange if measure == "computation" else self.total

    def round(self):
        """Seconds of a phase of each set of kinds, as `tesela plan --cluster` has them; of a single phase its wall."""
        return self.parts_of_round()[0]

    def parts_of_round(self):
        """The whole; of it the mean rank's device time; devices that wait, until the last unit ends; before and after,
        rank 0's work and messages. Of each set of kinds the middle one of the later half of its phases (of two the
        shorter), when little is set up any more, in sum, so that parts hardly miss the whole. Of a single phase its
        units alone."""
        if self.phases is None or len(self.phases) < 2 or self.stages is None:
            mean = float(self.units["measured"].sum()) / max(1, self.taking_part())
            return np.array([self.wall, mean, self.wall - mean, 0.0])
        spent = dict.fromkeys(self.phases["phase"].tolist(), 0.0)
        for row in self.stages:
            if h5.text_of(row["stage"]) in OF_PHASE and row["phase"] in spent:
                spent[row["phase"]] += float(row["seconds"])
        parts = np.zeros(4)
        for kinds in np.unique(self.phases["kinds"]):
            rows = self.phases[self.phases["kinds"] == kinds]
            whole, wall = np.array([spent[k] for k in rows["phase"].tolist()]), rows["measured"]
            mean = rows["computed"] / max(1, self.taking_part())
            if len(rows) > 1:  # else of no iteration
                parts += [middle(of[len(rows) // 2:]) for of in (whole, mean, wall - mean, whole - wall)]
        return parts

    def number(self, name, default=math.nan):
        return float(self.attributes.get(name, default))

    def shares(self):
        """From the table that sums up the phases rank by rank."""
        wall = self.number("measured_seconds")
        if self.balance is None or not wall > 0:
            return math.nan, math.nan, math.nan
        all_time = self.ranks * wall
        busy, finish = self.balance["measured"], self.balance["finish"]
        return (float(busy.sum() / all_time), float(np.maximum(finish - busy, 0).sum() / all_time),
                float(np.maximum(wall - finish, 0).sum() / all_time))

    def taking_part(self):
        return self.ranks if self.use is None else int(self.use["takes_part"].sum())

    def devices(self):
        """How many of what compute, as "2 x NVIDIA H200, 1 x AMD EPYC"."""
        kinds = {}
        for placement in self.placements:
            kinds[h5.text_of(placement["device"])] = kinds.get(h5.text_of(placement["device"]), 0) + 1
        return ", ".join(f"{count} x {name}" for name, count in kinds.items())


def middle(values):
    """Of two the smaller."""
    return sorted(values)[(len(values) - 1) // 2]


def table_of(run, name):
    """A table of /run, or None where the file has none of that name."""
    if name not in run or not getattr(run[name], "dtype", None) or not run[name].dtype.names:
        return None
    return run[name][...]


def column_sum(table, name):
    return float(table[name].sum()) if table is not None and name in table.dtype.names else 0.0


def read(path):
    with h5.opened(path) as file:
        return Run(file)


def trace_units(path):
    """Units of a file of --trace as records rank, start, measured, dynamic; ValueError says what is wrong."""
    with open(path, encoding="utf-8") as stream:
        tree = json.load(stream)
    events = tree.get("traceEvents") if isinstance(tree, dict) else None
    if not isinstance(events, list):
        raise ValueError("holds no traceEvents")
    rows = []
    for event in events:
        if event.get("ph") == "X" and event.get("name") == "unit":
            rows.append((int(event["pid"]), 1e-6 * float(event["ts"]), 1e-6 * float(event["dur"]), 0))
    kind = [("rank", "i4"), ("start", "f8"), ("measured", "f8"), ("dynamic", "i4")]
    return np.array(rows, dtype=kind)
