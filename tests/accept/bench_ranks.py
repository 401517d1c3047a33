#!/usr/bin/env python3
"""tools/bench-ranks runs, names the stages of a run, and refuses the rest.

usage: bench_ranks.py TESELA [--fast] [ONLY]
"""
import csv
import os
import sys

import harness
from harness import check

suite = harness.Suite(__doc__)
TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bench-ranks")


def bench(*args):
    mpirun = os.environ.get("TSL_TEST_MPIRUN", "mpirun --oversubscribe --allow-run-as-root")
    return harness.completed([sys.executable, TOOL, suite.binary, "--mpirun", mpirun, *args], 300, cwd=suite.folder, text=True,
                             env=suite.environment())


def table():
    path = suite.path("ranks.csv")
    done = bench("--ranks", "1,2", "--repeat", "1", "-o", path)
    check(done.returncode == 0, done.stdout + done.stderr)
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    check(head == ["ranks", "1", "2"], head)
    times = {name: [float(v) for v in values] for name, *values in rows}
    for name in ("MPI alone", "tesela run", "start"):
        check(min(times[name]) > 0, f"{name}: {times.get(name)}")
    for k, n in enumerate((1, 2)):
        more = (times["tesela run"][k] - times["MPI alone"][k]) / n
        check(abs(times["more, a rank"][k] - more) < 1e-9, times)
        check(sum(v[k] for name, v in times.items() if name not in ("MPI alone", "tesela run", "more, a rank"))
              < times["tesela run"][k], times)  # stages are parts of the run
    for name in times:
        check(name in done.stdout, done.stdout)


def failing_run():
    done = bench("--ranks", "1", "--repeat", "1", "--set", "tri.bins=none")
    check(done.returncode == 1 and "tri.bins" in done.stderr, done.stdout + done.stderr)


def refused(*args):
    done = bench(*args)
    check(done.returncode == 2 and "--ranks" in done.stderr, done.stdout + done.stderr)


suite.case("table", table)
suite.case("a run that fails", failing_run)
suite.case("ranks that fall", refused, "--ranks", "4,2")
suite.case("no ranks", refused, "--ranks", "0,2")
suite.case("words for ranks", refused, "--ranks", "two")
suite.end()
