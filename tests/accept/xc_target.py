#!/usr/bin/env python3
"""xc.groups.target: 0, a trial decides: what is kept, who decides, restarts, and what is refused.

usage: xc_target.py TESELA [--fast] [ONLY]
"""
import os
import re

import harness
from harness import check, np

suite = harness.Suite(__doc__)
TARGETS = [128, 256, 512, 1024, 2048]
WAY = "-2"  # the second word of a line of the calibration file that holds a way
WATER = "O 0 0 0.1173; H 0 0.7572 -0.4692; H 0 -0.7572 -0.4692"


def tree(target, **more):
    return {"family": "xc", "xc": {"molecule": {"atoms": f"'{WATER}'"}, "basis": "STO-3G", "functional": "svwn5",
                                   "groups": {"target": target}, **more},
            "run": {"device": "cpu", "threads": 1, "calibration": suite.path("times")}}


def forget():
    if os.path.exists(suite.path("times")):
        os.remove(suite.path("times"))


def ways():
    """The ways in the calibration file, with their lines."""
    with open(suite.path("times"), encoding="ascii") as file:
        lines = [line.split() for line in file]
    return [(int(float(words[2])), words) for words in lines if words[1] == WAY]


def put(words, way):
    """One more line like this one, of another way."""
    with open(suite.path("times"), "a", encoding="ascii") as file:
        file.write(" ".join([*words[:2], f"{float(way):.9e}", *words[3:]]) + "\n")


def results(deck, ranks=None, **more):
    """Energy, the points of the groups, and what the run printed."""
    path, out = suite.deck("case.yaml", deck), suite.path("case.h5")
    run = suite.run(["run", path, "-o", out, "--overwrite"], ranks, **more)
    check(run.status == 0, run.tail())
    with harness.h5py.File(out, "r") as file:
        return file["results"].attrs["total energy"], file["results/group_sizes"][()], run.out


def points(sizes):
    return np.array([row[0] for row in sizes])


def cut_to(sizes, target, label):
    """Median cuts of n points into groups of at most target leave more than half of it in the largest."""
    most = points(sizes).max()
    check(target / 2 < most <= target, f"{label}: groups of up to {most} points, not {target}")


def kept_case(ranks):
    forget()
    energy, sizes, out = results(tree(0, molden=suite.path("case.molden")), ranks)
    check(os.path.exists(suite.path("case.molden")), "no Molden file")
    said = re.search(r"^trial on .+:((?: \S+){5}) s; way (\d) of 5 is kept$", out, re.M)
    check(said is not None, out)
    seconds = [float(word) for word in said[1].split()]
    best = int(said[2]) - 1
    middle, least = seconds[2], min(seconds)
    if 1.1 * least < 0.98 * middle:
        check(seconds[best] == least > 0, f"{said[0]}: not the fastest")
    elif 1.1 * least > 1.02 * middle:
        check(best == 2, f"{said[0]}: faster by noise alone")
    check([way for way, _ in ways()] == [best], f"{said[0]}, kept: {ways()}")
    cut_to(sizes, TARGETS[best], "after the trial")
    fixed, of_fixed, out = results(tree(TARGETS[best]), ranks)
    check("trial on" not in out and np.array_equal(points(sizes), points(of_fixed)), "other groups than by the number")
    check(abs(energy - fixed) < 1e-10, f"energies {energy} {fixed}")
    again, sizes, out = results(tree(0), ranks)
    check("trial on" not in out and np.array_equal(points(sizes), points(of_fixed)), "found anew")
    check(abs(energy - again) < 1e-10 and len(ways()) == 1, f"energies {energy} {again}, {ways()}")


def file_case():
    """The last line of the file decides, one that cannot be is not taken."""
    forget()
    energy = results(tree(0))[0]
    (_, words), = ways()
    for way in (0, 4, 7):
        put(words, way)
        other, sizes, out = results(tree(0))
        check("trial on" not in out, out)
        cut_to(sizes, TARGETS[way] if way < 5 else 512, f"way {way}")
        check(abs(energy - other) < 1e-8, f"energies {energy} {other}")
    run = suite.run(["calibrate", suite.deck("case.yaml", tree(0))])
    check(run.status == 0 and "trial on" in run.out and len(ways()) == 5, f"calibrate tries: {run.tail()}")


def restart_case():
    """A run goes on with the groups it began with, whatever another machine's file says."""
    forget()
    results(tree(0))
    (_, words), = ways()
    out = suite.path("stopped.h5")

    put(words, 0)
    path = suite.deck("stopped.yaml", tree(0, scf={"iterations": 2}))
    run = suite.run(["run", path, "-o", out, "-q", "--overwrite"])
    check(run.status == 3 and "--restart" in run.err, run.tail())
    put(words, 4)
    for ranks in (None, 2):
        more = suite.path(f"more{ranks}.h5")
        for name in os.listdir(suite.path("")):
            if name.startswith("stopped.h5.ckpt"):
                with open(suite.path(name), "rb") as file, open(suite.path(f"more{ranks}.h5{name[10:]}"), "wb") as copy:
                    copy.write(file.read())
        run = suite.run(["run", path, "-o", more, "-q", "--restart", more, "-s", "xc.scf.iterations=50"], ranks)
        check(run.status == 0, run.tail())
        with harness.h5py.File(more, "r") as file:
            cut_to(file["results/group_sizes"][()], TARGETS[0], f"{ranks} ranks")


def refused():
    deck = suite.deck("case.yaml", tree(0, reproducible=True))
    run = suite.run(["run", deck, "-o", suite.path("no.h5")])
    check(run.status == 2 and "xc.groups.target" in run.err and "not reproducible" in run.err, run.tail())
    deck = suite.deck("case.yaml", tree(-1))
    run = suite.run(["run", deck, "-o", suite.path("no.h5")])
    check(run.status == 2 and "target" in run.err, run.tail())


suite.case("kept, one rank", kept_case, None)
suite.case("kept, two ranks", kept_case, 2)
if not suite.fast:
    suite.case("kept, three ranks", kept_case, 3)
suite.case("the file", file_case)
suite.case("restart", restart_case)
suite.case("refused", refused)
suite.end()
