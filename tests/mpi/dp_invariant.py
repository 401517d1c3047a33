#!/usr/bin/env python3
"""A table, its optimum and the recovered solution are the same, byte for byte, whoever computed what.

usage: dp_invariant.py TESELA [--fast] [--gpu] [ONLY]

One rank against 2, 3 and 5 ranks, both plans, wishes for few and many tiles, slowed ranks and tables
of fewer lanes than ranks. --gpu: the same with cards, and cards and sockets mixed; needs a card.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accept"))
import harness  # noqa: E402
from harness import check, check_units, np  # noqa: E402

suite = harness.Suite(__doc__)
GPU = "--gpu" in sys.argv
SCALE = 1 if suite.fast else 4
MIXES = {1: ["gpu0"], 2: ["gpu0,cpu", "cpu,gpu0", "gpu0,gpu0"], 3: ["gpu0,cpu,cpu", "cpu,gpu0,gpu0"]}


def letters(n, **more):
    return {"random": n * SCALE, **more}


def numbers(n, lo, hi, seed):
    return {"random": n, "lo": lo, "hi": hi, "seed": seed}


def texts(**more):
    return {"a": letters(1500, seed=3), "b": {"mutate": 0.3, "seed": 9}, **more}


PROBLEMS = {
    "lcs": {"problem": "lcs", **texts(alphabet="dna")},
    "edit": {"problem": "edit", **texts(alphabet="dna")},
    "weighted edit": {"problem": "edit", **texts(alphabet="dna"), "edit": {"insert": 2, "delete": 3, "substitute": 4}},
    "global": {"problem": "global", **texts()},
    "local": {"problem": "local", "a": letters(1100, seed=3), "b": letters(1700, seed=4)},
    "protein": {"problem": "local", "alphabet": "protein", **texts(scores={"match": 4, "mismatch": -1})},
    "dtw": {"problem": "dtw", "a": numbers(700, 0, 9, 1), "b": numbers(900, 0, 9, 2)},
    "dtw f32": {"problem": "dtw", "type": "f32", "distance": "square", "a": numbers(700, 0.5, 9, 1),
                "b": numbers(900, 0.5, 9, 2)},
    "knapsack": {"problem": "knapsack", "capacity": 5000, "weights": numbers(200, 1, 300, 1),
                 "values": numbers(200, 1, 50, 2)},
    "light knapsack": {"problem": "knapsack", "capacity": 9000, "weights": numbers(500, 0, 9, 1),
                       "values": numbers(500, 0, 9, 2)},
    "unbounded": {"problem": "knapsack_unbounded", "capacity": 3001, "weights": numbers(30, 90, 900, 1),
                  "values": numbers(30, 90, 905, 2)},
    "binomial": {"problem": "binomial", "n": 1200, "k": 401, "modulus": 1000007},
    "exact binomial": {"problem": "binomial", "n": 61, "k": 30},
    "allotment": {"problem": "allotment", "capacity": 150, "returns": numbers(20 * 151, 0, 9, 1)},
    "stagecoach": {"problem": "stagecoach", "type": "i32", "start": numbers(70, 0, 3, 1), "costs": numbers(9 * 4900, 0, 9, 2)},
    "stagecoach f64": {"problem": "stagecoach", "start": numbers(33, 0.5, 3, 1), "costs": numbers(7 * 1089, 0.5, 9, 2)},
    "chain": {"problem": "matrix_chain", "dimensions": numbers(700, 1, 90, 1)},
    "tree": {"problem": "search_tree", "keys": numbers(650, 0.5, 9, 1), "gaps": numbers(651, 0.5, 9, 2)},
    "nussinov": {"problem": "nussinov", "a": letters(600, seed=2), "span": 3},
}
NO_PATH = ("binomial", "exact binomial")


def run(section, mode, ranks, env=None, **keys):
    keys = {"device": "cpu", "threads": 1, **keys}
    if "gpu" in keys["device"]:
        keys["allow_shared_gpu"] = True
    tree = {"family": "dp", "run": keys, "dp": {**section, "mode": mode}}
    with suite.result(tree, ranks=ranks, env=env, timeout=300) as file:
        units = check_units(file, ranks)
        made = harness.datasets(file)
        made.update({f"line {k}": np.asarray(v) for k, v in file["results"].attrs.items()})
    return made, units


alone = {}


def truth(name, mode):
    if (name, mode) not in alone:
        alone[name, mode] = run(PROBLEMS[name], mode, 1)[0]
    return alone[name, mode]


def compare(one, other):
    check(one.keys() == other.keys(), f"one has {sorted(one)}, the other {sorted(other)}")
    for name, a in one.items():
        b = other[name]
        check(a.dtype == b.dtype and a.shape == b.shape, f"{name}: {b.dtype} {b.shape}, one rank {a.dtype} {a.shape}")
        if a.tobytes() != b.tobytes():
            where = np.argwhere(a != b)
            check(False, f"{name} differs in {len(where)} places, the first at {where[:3].tolist()}")


def case(name, mode, ranks, **keys):
    made, units = run(PROBLEMS[name], mode, ranks, **keys)
    compare(truth(name, mode), made)
    return f"tiles per rank {np.bincount(units['rank'], minlength=ranks).tolist()}"


def modes_of(name):
    return ["recover", "table", "value"] if name not in NO_PATH else ["table", "value"]


def ranks_cases():
    for k, name in enumerate(PROBLEMS):
        for m, mode in enumerate(modes_of(name)):
            for ranks in ((3, 5, 2)[(k + m) % 3],) if suite.fast else (2, 3, 5):
                suite.case(f"{name}, {mode}, {ranks} ranks", case, name, mode, ranks)


def cut_cases():
    """Wishes for tiles, plans and threads change the cut, not the result."""
    for k, name in enumerate(PROBLEMS):
        mode = modes_of(name)[0 if k % 3 else 1]
        for units in ((1, 2, 7, 100)[k % 4],) if suite.fast else (1, 2, 7, 100):
            suite.case(f"{name}, {mode}, {units} lanes wanted, 3 ranks", case, name, mode, 3, units=units)
        suite.case(f"{name}, {mode}, 9 lanes wanted, 1 rank", case, name, mode, 1, units=9)
        suite.case(f"{name}, {mode}, round robin, 3 ranks", case, name, mode, 3, plan="roundrobin")
        if not suite.fast:
            suite.case(f"{name}, {mode}, 3 threads", case, name, mode, 2, threads=3)


def slow_cases():
    for name in ("lcs", "local", "knapsack", "chain"):
        suite.case(f"{name}, slow rank", case, name, "recover", 2, calibrate="always", env={"TSL_TEST_SLOW": "1:3"})


def small_cases():
    """Fewer lanes than ranks."""
    PROBLEMS["one letter"] = {"problem": "global", "a": {"text": "A"}, "b": {"text": "A"}}
    PROBLEMS["a column"] = {"problem": "lcs", "alphabet": "dna", "a": letters(100), "b": {"text": "G"}}
    PROBLEMS["a row"] = {"problem": "local", "a": {"text": "G"}, "b": letters(100)}
    PROBLEMS["one item"] = {"problem": "knapsack", "capacity": 3, "weights": {"values": [2]}, "values": {"values": [5]}}
    PROBLEMS["no capacity"] = {"problem": "knapsack", "capacity": 0, "weights": {"values": [2, 0]},
                               "values": {"values": [5, 1]}}
    PROBLEMS["one state"] = {"problem": "stagecoach", "start": {"values": [1]}, "costs": numbers(50, 0, 9, 1)}
    for name in list(PROBLEMS)[-6:]:
        for mode in modes_of(name):
            suite.case(f"{name}, {mode}, 5 ranks", case, name, mode, 5)


def card_cases():
    for name in PROBLEMS:
        for mode in modes_of(name):
            for ranks, mixes in MIXES.items():
                for mix in mixes[:1] if suite.fast else mixes:
                    suite.case(f"{name}, {mode}, {mix}", case, name, mode, ranks, device=mix)


if GPU:
    if "no gpu" in suite.run(["devices"]).out.lower():
        print("skipped: no card here, or the program was built without CUDA")
        sys.exit(77)
    card_cases()
else:
    for cases in (ranks_cases, cut_cases, slow_cases, small_cases):
        cases()
suite.end()
