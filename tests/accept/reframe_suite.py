#!/usr/bin/env python3
"""The performance tests in tests/reframe under ReFrame: they run here, and figures out of bounds or not there fail.

usage: reframe_suite.py TESELA [--fast] [ONLY]     (exit status 77 without ReFrame, PyPI's reframe-hpc)
"""
import json
import os
import shutil
import subprocess

import harness
from harness import check

suite = harness.Suite(__doc__)
SUITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../reframe")
FOLDERS = ["/usr/local/lib/tesela-reframe", os.path.expanduser("~/.local/lib/tesela-reframe")]
REFRAME = shutil.which("reframe", path=os.pathsep.join([os.environ["PATH"], *(f"{f}/bin" for f in FOLDERS)]))
BOUNDS = {"none": "{}",
          "met": '{"knapsack, value": (1e-3, 0, None, "1e9/s")}',
          "missed": '{"knapsack, value": (1e9, -0.1, None, "1e9/s")}',
          "not measured": '{"a figure that no bench prints": (1, -0.5, None, "1")}'}


def suite_with(bounds):
    """A copy of the tests with such references."""
    folder = os.path.join(suite.folder, "reframe")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SUITE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    with open(os.path.join(folder, "references.py"), "w", encoding="utf-8") as file:
        file.write(f'REFERENCES = {{"here:sockets": {{"dp-cpu": {BOUNDS[bounds]}}}}}\n')
    return folder


def reframe(folder, only):
    """Tests by name: ReFrame's exit status and the tests' reports."""
    report = os.path.join(suite.folder, "report.json")
    env = {**suite.environment({"PYTHONPATH": os.pathsep.join(FOLDERS)}), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    run = subprocess.run([REFRAME, "--prefix", suite.folder, "--system", "here", "-C", f"{folder}/settings.py", "-c", folder,
                          "-S", f"tesela={suite.binary}", "-S", "quick=yes", "-n", only, "-r", "--report-file", report],
                         env=env, cwd=suite.folder, capture_output=True, text=True, timeout=500, check=False)
    with open(report, encoding="utf-8") as file:
        tests = json.load(file)["runs"][0]["testcases"]
    return run.returncode, tests, run.stdout[-2000:] + run.stderr[-500:]


def bench(bounds):
    status, tests, said = reframe(suite_with(bounds), "dp-cpu")
    good = bounds in ("none", "met")
    check(len(tests) == 1 and (status == 0) == good and (tests[0]["result"] == "pass") == good, said)
    if good:
        check(len(tests[0]["perfvalues"]) > 10, str(tests[0]["perfvalues"]))
    else:
        check(tests[0]["fail_phase"] == "performance", said)


def decks():
    """One and two ranks; the suite as it is in the tree."""
    status, tests, said = reframe(SUITE, "Deck.*triples/argon")
    check(status == 0 and len(tests) == 2 and all(t["result"] == "pass" for t in tests), said)


if REFRAME is None:
    print("skipped: reframe (PyPI: reframe-hpc) is not installed")
    raise SystemExit(77)
for name in BOUNDS:
    suite.case(f"bounds: {name}", bench, name)
suite.case("decks", decks)
suite.end()
