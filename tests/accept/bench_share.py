#!/usr/bin/env python3
"""tesela bench share: its two sides, what it says of them, and what it refuses.

usage: bench_share.py TESELA [--fast] [ONLY]

Units last as long as TSL_TEST_SLOW says, whatever else the machine does, so the speeds of the sides are known; of
three runs the best counts, as for anybody's machine that is busy now and then.
"""
import csv
import re

import harness
from harness import check

suite = harness.Suite(__doc__)
DECK = {"family": "fractal", "fractal": {"set": "mandelbrot", "xres": 64, "yres": 48, "maxiter": 20},
        "run": {"device": "cpu", "threads": 1, "units": 48}}
COLUMNS = ["plan", "share", "items", "fast_s", "others_s", "wall_s", "ideal_s", "waiting"]
UNIT = 0.005  # s


def bench(ranks, *args, **more):
    deck = suite.deck("deck.yaml", DECK)
    return suite.run(["bench", "share", deck, "-q", "--repeat", "3", *args], ranks=ranks, **more)


def sides_case(times, share, ratio):
    """Seconds of a unit on each rank in units of UNIT; rank 0's best share; rank 0 against the others."""
    path, slow = suite.path(f"table{len(times)}{times[0]}.csv"), ",".join(f"{rank}:+{UNIT * time}" for rank, time in enumerate(times))
    run = bench(len(times), "--csv", path, env={"TSL_TEST_SLOW": slow}, timeout=300)
    check(run.status == 0, run.tail())
    with open(path, encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    check(list(rows[0]) == COLUMNS, f"columns {list(rows[0])}")
    by_plan = {row["plan"]: row for row in rows}
    alone, others = by_plan["rank 0 alone"], by_plan["others alone"]
    check(float(alone["items"]) == 1 and float(others["items"]) == 0, f"not alone: {alone} {others}")
    said = re.search(r"^rank 0 alone (\S+) s, others alone (\S+) s: rank 0 (\S+) times as fast$", run.out, re.M)
    check(said is not None, run.out)
    check(abs(float(said[3]) - float(others["wall_s"]) / float(alone["wall_s"])) < 2e-3, f"{said[0]}, in the table {rows}")
    check(abs(float(said[3]) / ratio - 1) < 0.2, f"{said[0]}, expected {ratio}")
    best = float(re.search(r"^best fixed share (\S+):", run.out, re.M)[1])
    check(abs(best - share) < 0.1, f"best share {best}, expected {share}")


def refused(ranks, words, *args):
    run = bench(ranks, *args)
    check(run.status == 2 and words in run.err, f"{words}: {run.tail()}")


suite.case("rank 0 three times as fast", sides_case, (1, 3), 3 / 4, 3)
suite.case("rank 0 half as fast", sides_case, (2, 1), 1 / 3, 1 / 2)
if not suite.fast:
    suite.case("rank 0 against two others", sides_case, (1, 2, 2), 1 / 2, 1)
suite.case("one rank", refused, 1, "mpirun -n 2 or more")
suite.case("no tolerance", refused, 2, "allowed are 0.0001 to 0.5", "--tolerance", "0")
suite.case("too many runs", refused, 2, "allowed are 1 to 100", "--repeat", "101")
suite.end()
