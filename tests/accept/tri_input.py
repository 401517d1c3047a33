#!/usr/bin/env python3
"""How family tri reads its points, and what it says of that.

usage: tri_input.py TESELA [--fast] [ONLY]
"""
import harness
from harness import check, h5py, np

suite = harness.Suite(__doc__, jobs=2)


def deck_of(source, **more):
    return {"family": "tri", "tri": {"function": "euclidean", "output": "condensed", "input": source, **more}}


def says(args, words):
    """The line of a run and of its plan, nothing with --quiet, and what is stored."""
    tree = deck_of(*args[:1], **args[1])
    deck, out = suite.deck("case.yaml", tree), suite.path("case.h5")
    run = suite.run(["run", deck, "-o", out, "--overwrite"])
    check(run.status == 0, run.tail())
    lines = [line for line in run.out.splitlines() if line.startswith("points: ")]
    check(len(lines) == 1 and all(word in lines[0] for word in words), f"{words} expected in {lines}")
    plan = suite.run(["plan", deck])
    check(lines[0] in plan.out.splitlines(), f"the plan lacks the line: {plan.tail()}")
    quiet = suite.run(["run", deck, "-o", out, "--overwrite", "-q"])
    check(quiet.status == 0 and "points: " not in quiet.out, "the line comes with --quiet")
    with h5py.File(out, "r") as file:
        check(file["run/facts"].asstr()[()] == lines[0] + "\n", "another line is stored")


def says_how_read():
    """File, rows, columns used, skipped header, dimension, precision."""
    suite.write("points.csv", "name,x,y\na,1,2\nb,3,4\nc,5,6\n")
    says(({"file": "points.csv", "columns": [1, 2]}, {"precision": "fp64"}),
         ("points.csv: text with commas", "3 rows", "columns 1, 2 of 3", "line 1 skipped as a header ('name,x,y')",
          "3 of 2 dimensions, in fp64"))
    np.save(suite.path("points.npy"), np.arange(8, dtype=np.float32).reshape(2, 4))
    says(({"file": "points.npy"}, {}), ("points.npy: NPY of f4", "2 rows", "all 4 columns", "4 dimensions, in fp32"))


suite.case("says_how_read", says_how_read)
suite.end()
