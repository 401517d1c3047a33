#!/usr/bin/env python3
"""xc.reproducible: the same bits, whoever computes; and energies as without it.

usage: xc_reproducible.py TESELA [--fast] [--gpu] [ONLY]

Water with a fitted pure functional, oxygen (two spins) with a hybrid and exact Coulomb, benzene with a
fitted hybrid, over ranks, plans, moves of units, threads and ways of sharing, functions and fitting
integrals kept or not: all datasets and attributes of /results are those of one rank, bit by bit. A
second run beside, without the key, differs by less than 1e-9 hartree.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accept"))
import harness  # noqa: E402
from harness import check, check_units, h5py, np  # noqa: E402

suite = harness.Suite(__doc__)
DEVICE = "gpu" if "--gpu" in sys.argv else "cpu"
NEAR = 1e-9
RING = "; ".join(f"{symbol} {r * np.cos(k * np.pi / 3):.6f} {r * np.sin(k * np.pi / 3):.6f} 0"
                 for symbol, r in (("C", 1.3915), ("H", 2.4715)) for k in range(6))
WATER = {"atoms": '"O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"'}
OXYGEN = {"atoms": '"O 0 0 0; O 0 0 1.2"', "multiplicity": 3}
DECKS = {
    "water": {"molecule": WATER, "basis": "def2-SVP", "functional": "pbe", "coulomb": "fitted"},
    "oxygen": {"molecule": OXYGEN, "basis": "STO-3G", "functional": "b3lyp"},
    "benzene": {"molecule": {"atoms": f'"{RING}"'}, "basis": "STO-3G", "functional": "pbe0", "coulomb": "fitted"},
}
kept = {}


def tree_of(name, run, more):
    return {"family": "xc", "run": {"device": DEVICE, "threads": 1, "ranks": "all", **run},
            "xc": {**DECKS[name], "grid": {"preset": "coarse"}, "reproducible": True, **more}}


def contents(results):
    """Bytes of datasets and attributes below /results, the file's own book-keeping left out."""
    found = {}

    def add(path, thing):
        for key, value in thing.attrs.items():
            if key not in ("DIMENSION_LIST", "REFERENCE_LIST"):
                found[f"{path}@{key}"] = np.asarray(value).tobytes()
        if isinstance(thing, h5py.Dataset):
            found[path] = (str(thing.dtype), thing.shape, thing[()].tobytes())

    add("", results)
    results.visititems(add)
    return found


def run_of(name, ranks, env=None, more=None, **run):
    with suite.result(tree_of(name, run, more or {}), ranks, env=env, timeout=600) as file:
        check_units(file, ranks or 1)
        return contents(file["results"]), file["results"].attrs["total energy"], file["run/phases"]["moved"].sum()


def first_of(name):
    if name not in kept:
        kept[name] = run_of(name, None)
    return kept[name]


def same_case(name, ranks, env=None, more=None, moves=False, **run):
    wanted, _, _ = first_of(name)
    found, _, moved = run_of(name, ranks, env, more, **run)
    check(sorted(found) == sorted(wanted), f"other things: {sorted(set(found) ^ set(wanted))}")
    differ = [key for key in wanted if found[key] != wanted[key]]
    check(not differ, f"other bits: {differ}")
    check(not moves or moved > 0, "no unit moved: the case shows nothing")
    return f"{len(wanted)} datasets and attributes, {moved} moves"


def near_case(name):
    """The key changes no more than rounding."""
    _, energy, _ = first_of(name)
    _, plain, _ = run_of(name, 2, more={"reproducible": False})
    check(abs(energy - plain) <= NEAR, f"{energy - plain:.1e} hartree")
    return f"{energy - plain:+.1e} hartree"


def big_case(ranks):
    """What a sum cannot hold is an error on one rank, and where only the sum over ranks is too large."""
    tree = tree_of("water", {}, {"functional": "100*lda_x + 100*gga_x_b88 + 100*gga_x_pbe"})
    deck = suite.deck("big.yaml", tree)
    run = suite.run(["run", deck, "-o", suite.path("big.h5"), "--overwrite"], ranks, timeout=300)
    check(run.status != 0 and "xc.reproducible can hold" in run.err, run.tail())
    return run.err.strip().splitlines()[0]


for name in DECKS:
    suite.case(f"{name}: again", same_case, name, None)
    suite.case(f"{name}: as without the key", near_case, name)
    for ranks in (2, 3, 5):
        if not suite.fast or ranks == 3 or name == "oxygen":
            suite.case(f"{name}: {ranks} ranks", same_case, name, ranks)
    for plan in ("strips", "lpt", "roundrobin"):
        if not suite.fast or plan == "lpt":
            suite.case(f"{name}: plan {plan}, no rebalancing", same_case, name, 3, plan=plan, rebalance="no")
    suite.case(f"{name}: units move", same_case, name, 2, {"TSL_TEST_SLOW": "1:3", "TSL_TEST_CLOCK": "processor"},
               moves=True, plan="roundrobin", calibrate="always")
    suite.case(f"{name}: nothing kept", same_case, name, 2, None, {"cache": 0, "fitting_cache": 0, "quartet_cache": 0})
    if DEVICE == "cpu":
        for parallel in ("hybrid", "inner", "outer"):
            if not suite.fast or parallel == "inner":
                suite.case(f"{name}: two threads, {parallel}", same_case, name, None, None, {"parallel": parallel},
                           threads=2)
if DEVICE == "cpu":
    suite.case("beyond the sums of a rank", big_case, None)
    suite.case("beyond the sum over ranks", big_case, 5)
suite.end()
