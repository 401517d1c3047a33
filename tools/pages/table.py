"""The experiment as rows: one for each run, one for each point. The CSV files and the page hold the same."""
import csv
import io
import math
import statistics

from . import h5, laws
from .ceiling import CopiesRow
from .page import write

PARTS = ("computing", "between", "waiting", "exchange", "around")


class Row:
    """One run; record is None when it failed or has not ended."""

    def __init__(self, run, measure):
        self.run, self.record = run, run.result()
        self.status = "not run" if run.note is None else "ok" if self.record is not None else "FAILED"
        self.error = "" if run.note is None else run.note["error"]
        if self.record is None:
            return
        self.computation, self.total = self.record.time("computation"), self.record.time("run")
        self.time = self.record.time(measure)
        self.parts = parts_of(self.record, measure) if self.time > 0 else dict.fromkeys(PARTS, math.nan)
        if self.record.attributes.get("verdict") != "VALID":
            self.status, self.error = "INVALID", str(self.record.attributes.get("reason", ""))
        elif not self.record.wall > 0:
            self.status, self.error = "FAILED", "nothing was computed: the problem is empty"

    def values(self):
        """Columns of runs.csv."""
        run, done = self.run, self.record
        head = {"run": run.name, "devices": run.devices, "ranks": run.ranks, "repeat": run.repeat,
                "status": self.status, "settings": " ".join(run.sets)}
        names = ("computation_s", "run_s", "units_s", "predicted_s", *PARTS, "imbalance", "units", "work",
                 "taking_part", "nodes")
        if done is None:
            return head | dict.fromkeys(names, math.nan) | {"error": self.error}
        part = [self.parts[name] for name in PARTS]
        numbers = (self.computation, self.total, done.wall, done.predicted, *part, done.imbalance, len(done.units),
                   done.work, done.taking_part(), len(set(done.placements["node"])))
        return head | dict(zip(names, numbers)) | {"error": self.error}


def parts_of(done, measure):
    """Shares of the ranks' time; they add up to 1. around counts only where the whole run is measured."""
    both = done.wall + done.exchange
    time = max(done.total, both) if measure == "run" else both
    shares = {name: getattr(done, name) * done.wall / time for name in PARTS[:3]}
    return shares | {"exchange": done.exchange / time, "around": 1 - both / time}


class PointRow:
    """A point: median, extremes, and what follows from the base point of its series."""

    def __init__(self, point, measure):
        self.point, self.devices, self.ranks, self.mix = point, point.devices, point.ranks, point.mix
        self.rows = [Row(run, measure) for run in point.runs]
        counted = [row for row in self.rows if row.run.repeat > 0]
        self.good = sorted((row for row in counted if row.status == "ok"), key=lambda row: row.time)
        self.failed = [row for row in self.rows if row.status in ("FAILED", "INVALID")]
        self.missing = [row for row in counted if row.status == "not run"]
        self.copies = [CopiesRow(one) for one in point.copies]
        times = [row.time for row in self.copies if row.run.repeat > 0 and row.status == "ok"]
        self.alone = statistics.median(times) if times else math.nan  # ranks that share nothing but the host
        self.ceiling = self.of_ceiling = math.nan
        self.speedup = self.low = self.high = self.efficiency = self.serial = self.balanced = math.nan
        self.cost = dict.fromkeys(PARTS, math.nan)
        if self.good:
            times = [row.time for row in self.good]
            self.median, self.fastest, self.slowest = statistics.median(times), times[0], times[-1]
            self.typical = self.good[(len(times) - 1) // 2]  # the run whose shares and timeline stand for the point
            self.work = self.typical.record.work
            self.predicted = statistics.median(row.record.predicted for row in self.good)
            self.units_time = statistics.median(row.record.wall for row in self.good)
            self.round = statistics.median(row.record.round() for row in self.good)

    def relate(self, base, strong):
        """To the base point of the series. Its own speed-up is its number of ranks: the ideal line is S = n."""
        works = (1.0, 1.0) if strong or not (base.work > 0 and self.work > 0) else (base.work, self.work)
        if not strong and works == (1.0, 1.0):
            works = (float(base.ranks), float(self.ranks))
        self.growth = works[1] / works[0]

        def ratio(seconds):
            return base.ranks * laws.speedup(base.median, works[0], seconds, works[1])

        self.speedup, self.low, self.high = ratio(self.median), ratio(self.slowest), ratio(self.fastest)
        self.efficiency = self.speedup / self.ranks
        self.serial = laws.karp_flatt(self.ranks / base.ranks, self.speedup / base.ranks)
        self.ceiling = base.alone / self.alone
        self.of_ceiling = self.efficiency / self.ceiling
        self.cost = {name: share / self.efficiency for name, share in self.typical.parts.items()}

    def values(self):
        """Columns of points.csv."""
        head = {"devices": self.devices, "ranks": self.ranks, "runs": len(self.good), "failed": len(self.failed)}
        names = ("median_s", "fastest_s", "slowest_s", "speedup", "speedup_low", "speedup_high", "efficiency",
                 "ceiling", "of_ceiling", "karp_flatt", "predicted_s", "units_s", "work", *PARTS, "imbalance",
                 "balanced")
        if not self.good:
            return head | dict.fromkeys(names, math.nan)
        typical = self.typical
        numbers = (self.median, self.fastest, self.slowest, self.speedup, self.low, self.high, self.efficiency,
                   self.ceiling, self.of_ceiling, self.serial, self.predicted, self.units_time, self.work,
                   *(typical.parts[name] for name in PARTS), typical.record.imbalance, self.balanced)
        return head | dict(zip(names, numbers))


class Table:
    """All points; series: those of one device word, by ranks; mixes: lists of devices."""

    def __init__(self, experiment):
        self.experiment = experiment
        self.points = [PointRow(point, experiment.measure) for point in experiment.points]
        words = list(dict.fromkeys(p.devices for p in self.points if not p.mix))
        self.series = {word: sorted((p for p in self.points if p.devices == word and p.good), key=lambda p: p.ranks)
                       for word in words}
        self.series = {word: points for word, points in self.series.items() if points}
        self.mixes = [p for p in self.points if p.mix and p.good]
        for points in self.series.values():
            for point in points:
                point.relate(points[0], experiment.mode == "strong")
        for point in self.points:
            if point.good:
                done = point.typical.record
                point.balanced = done.number("ideal_seconds") / done.number("measured_seconds")
        self.fits = {word: Fit(points) for word, points in self.series.items() if len(points) > 1}

    def all_rows(self):
        return [row for point in self.points for row in point.rows]

    def good_rows(self):
        return [row for point in self.points for row in point.good]

    def copies(self):
        return [row for point in self.points for row in point.copies]

    def failures(self):
        return [row for point in self.points for row in point.failed] + [
            row for row in self.copies() if row.status == "FAILED"]


class Fit:
    """Serial shares of a series by both laws."""

    def __init__(self, points):
        self.base = points[0].ranks
        ns, speedups = [p.ranks / self.base for p in points], [p.speedup / self.base for p in points]
        self.amdahl, self.gustafson = laws.amdahl_share(ns, speedups), laws.gustafson_share(ns, speedups)

    def curve(self, strong, ranks):
        law, share = (laws.amdahl, self.amdahl) if strong else (laws.gustafson, self.gustafson)
        return self.base * law(share, ranks / self.base)


def written(value):
    """A value as the CSV has it: numbers with 9 digits, nothing for what is not known."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    return "" if math.isnan(value) else f"{value:.9g}"


def csv_text(rows):
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow([written(value) for value in row.values()])
    return stream.getvalue()


def run_values(table):
    return [row.values() for row in table.all_rows()]


def copies_values(table):
    return [row.values() for row in table.copies()]


def point_values(table):
    return [point.values() for point in table.points]


def write_csv(table, stem):
    """STEM.csv with a row for each point, STEM_runs.csv with one for each run, STEM_copies.csv with one for each
    group of copies where there are some. Returns the names of the files."""
    kinds = {"": point_values(table), "_runs": run_values(table), "_copies": copies_values(table)}
    made = {f"{stem}{kind}.csv": rows for kind, rows in kinds.items() if rows}
    for name, rows in made.items():
        write(name, csv_text(rows))
    return list(made)


def hosts(rows):
    return sorted({h5.text_of(placement["host"]) for row in rows for placement in row.record.placements})
