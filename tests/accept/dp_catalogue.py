#!/usr/bin/env python3
"""Every deck of inputs/dp/catalogue and inputs/dp/papers gives what trying all candidates gives (dp_brute_force.py).

usage: dp_catalogue.py TESELA [--fast] [ONLY]      tesela run on each deck, on 1 and 3 ranks
       dp_catalogue.py --eval=PROGRAM              PROGRAM DECK prints "goal VALUE" (dp_eval_deck)
"""
import glob
import math
import os
import subprocess
import sys
import tempfile

import dp_brute_force

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../inputs/dp")


def decks():
    """Paths by name."""
    return {os.path.splitext(os.path.basename(p))[0]: p
            for p in sorted(glob.glob(os.path.join(INPUTS, "*", "*.yaml")))}


def is_same(value, expected):
    """Integers exactly, reals to rounding."""
    if isinstance(expected, int):
        return value == expected
    return math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12)


def evaluate(program):
    """All decks by the interpreter and by compiled code; returns the exit status."""
    failed = 0
    with tempfile.TemporaryDirectory() as cache:
        for name, path in decks().items():
            run = subprocess.run([program, path], capture_output=True, text=True, check=False,
                                 env={**os.environ, "XDG_CACHE_HOME": cache})
            goals = [line.split()[1] for line in run.stdout.splitlines() if line.startswith("goal ")]
            expected = dp_brute_force.solve(path)
            good = run.returncode == 0 and len(goals) == 1 and is_same(float(goals[0]), expected)
            failed += not good
            print(f"{'ok  ' if good else 'FAIL'} {name}: {goals} expected {expected} {run.stderr}")
    print(f"{len(decks()) - failed} passed, {failed} failed")
    return 1 if failed or not decks() else 0


def run_all():
    """All decks by tesela."""
    import harness  # needs numpy and h5py

    suite = harness.Suite(__doc__, jobs=3)

    def solved(path, ranks):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with suite.result(text, ranks=ranks) as file:
            value = file["results/goal"][()].reshape(-1)[0]
        expected = dp_brute_force.solve(path)
        harness.check(is_same(value, expected), f"{value}, expected {expected}")

    for name, path in decks().items():
        suite.case(name, solved, path, None)
    for name, path in decks().items():
        if not suite.fast or name in ("knapsack", "edit_distance", "matrix_chain", "shortest_path", "general_gaps"):
            suite.case(f"{name} on 3 ranks", solved, path, 3)
    suite.end()


if __name__ == "__main__":
    programs = [a[len("--eval="):] for a in sys.argv[1:] if a.startswith("--eval=")]
    sys.exit(evaluate(programs[0]) if programs else run_all())
