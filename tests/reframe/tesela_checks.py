"""Performance tests of tesela under ReFrame: its benches and decks, with figures per system in references.py.

usage: reframe -r [-S tesela=PATH] [-S quick=yes] [--tag bench|deck] -c tests/reframe -C tests/reframe/settings.py

A test fails where the program does, where a result is not VALID, or where a figure leaves its bounds.
"""
import csv
import os
import re
import sys

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function, variable

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from references import REFERENCES  # noqa: E402

INPUTS = os.path.join(HERE, "../../inputs")
SHOWN = {"measured_seconds": "s", "idle_seconds": "s", "total_seconds": "s"}  # of `tesela show`


class Tesela(rfm.RunOnlyRegressionTest):
    """What all tests share: the program, and figures that are known only after the run.

    Tests have a parameter `figures`: the bench or deck, and its key in references.py.
    """

    tesela = variable(str, value="tesela")
    quick = variable(bool, value=False)
    valid_systems = ["*"]
    valid_prog_environs = ["installed"]
    sourcesdir = None

    @run_before("run")
    def name_program(self):
        self.executable = self.tesela

    @run_before("performance")
    def set_figures(self):
        """Each figure of the run, with its bounds where this system has some."""
        bounds = REFERENCES.get(self.current_partition.fullname, {}).get(self.figures, {})
        found = self.read_figures()
        for name, (value, unit) in found.items():
            self.perf_variables[name] = sn.make_performance_function(sn.defer(value), unit)
        for name in bounds:
            if name not in found:  # it is to be seen, not to pass by not being there
                self.perf_variables[name] = sn.make_performance_function(sn.defer(float("nan")), bounds[name][3])
        self.reference = {self.current_partition.fullname: bounds}


class Bench(Tesela):
    """A command of `tesela bench`: each row of its CSV is a figure."""

    tags = {"bench"}
    out = "bench.csv"
    keys = ("what",)  # columns that name a row
    value, unit = "value", None  # its column; the unit where no column says it

    @run_before("run")
    def set_options(self):
        self.executable_opts = ["bench", self.figures, "--csv", self.out] + ["--quick"] * self.quick
        self.keep_files = [self.out]

    @sanity_function
    def has_rows(self):
        return sn.assert_true(len(self.rows()) > 0, msg=f"{self.out} has no rows")

    def rows(self):
        with open(os.path.join(self.stagedir, self.out), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def read_figures(self):
        found = {}
        for row in self.rows():
            name = ", ".join(row[k].strip() for k in self.keys if row[k])
            found[name] = (float(row[self.value]), self.unit or row["unit"] or "1")
            if row.get("ratio"):
                found[f"{name}, ratio"] = (float(row["ratio"]), "1")
        return found


@rfm.simple_test
class SocketBench(Bench):
    """Kernels of one socket, on all its cores."""

    figures = parameter(["tri-cpu", "fractal-cpu", "dp-cpu", "xc-cpu"])

    @run_before("run")
    def read_as(self):
        self.keys = {"fractal-cpu": ("what", "size"), "xc-cpu": ("molecule", "what")}.get(self.figures, self.keys)
        self.value = {"dp-cpu": "rate", "xc-cpu": "wall_s"}.get(self.figures, self.value)
        self.unit = {"dp-cpu": "1e9/s", "xc-cpu": "s"}.get(self.figures)


@rfm.simple_test
class CardBench(Bench):
    """Kernels of one card."""

    figures = parameter(["tri", "dp"])
    valid_systems = ["+cards"]


@rfm.simple_test
class Deck(Tesela):
    """A deck of inputs on one and two ranks, from start to the end of its output."""

    tags = {"deck"}
    figures = parameter(["tri/rdf", "tri/neighbours", "triples/argon", "fractal/seahorse", "dp/local", "xc/vitamin_c"])
    ranks = parameter([1, 2])

    @run_before("run")
    def set_options(self):
        self.num_tasks = self.ranks
        self.executable_opts = ["run", os.path.join(INPUTS, f"{self.figures}.yaml"), "-o", "out.h5", "--quiet"]
        self.postrun_cmds = [f"{self.tesela} show out.h5"]

    @sanity_function
    def is_valid(self):
        return sn.assert_found(r"^verdict +VALID$", self.stdout)

    def read_figures(self):
        with open(os.path.join(self.stagedir, str(self.stdout)), encoding="utf-8") as file:
            text = file.read()
        found = {name: float(value) for name, value in re.findall(r"^  (\w+_seconds) = (\S+)$", text, re.M)}
        return {name: (found[name], unit) for name, unit in SHOWN.items() if name in found}
