#!/usr/bin/env python3
"""The result does not depend on who computed what: 1, 2, 3 and 5 ranks, every plan.

usage: rank_invariant.py TESELA [--fast] [ONLY]

Everything in /results is compared bit for bit, gravity included (all ranks of one host have the same
SIMD level), with one exception: cosine and correlation of 16 dimensions or more are matrix products
of a library, whose order of summation may follow the size of a block. There values may differ by
2 (d + 8) 2^-24 (fp32) or 2 (d + 8) 2^-53 (fp64), absolute.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accept"))
import harness  # noqa: E402
from harness import check, check_units, np  # noqa: E402

suite = harness.Suite(__doc__, jobs=4)
PLANS = ["strips", "lpt", "bins", "roundrobin"]
BLAS_DIMENSIONS = 16


def blobs(n, d=3, **more):
    return {"kind": "clusters", "n": n, "d": d, "clusters": 5, "seed": 11, **more}


DECKS = {
    "condensed": {"function": "euclidean", "output": "condensed", "generator": blobs(1201)},
    "condensed fp64": {"function": "manhattan", "output": "condensed", "precision": "fp64",
                       "generator": blobs(611, 7)},
    "square": {"function": "euclidean", "output": "square", "generator": blobs(1003)},
    "square correlation": {"function": "correlation", "output": "square", "generator": blobs(500, 10)},
    "square matrix product": {"function": "correlation", "output": "square", "generator": blobs(700, 64)},
    "threshold": {"function": "euclidean", "output": "threshold", "threshold": 0.2, "generator": blobs(2003)},
    "threshold of nothing": {"function": "euclidean", "output": "threshold", "threshold": -1,
                             "generator": blobs(300)},
    "overlap": {"function": "overlap", "output": "threshold", "radius": 0.03, "generator": blobs(1500)},
    "topk": {"function": "euclidean", "output": "topk", "k": 17, "generator": blobs(1500)},
    "topk product": {"function": "cosine", "output": "topk", "k": 5, "precision": "fp64",
                     "generator": blobs(400, 32)},
    "histogram": {"function": "euclidean", "output": "histogram", "bins": 100, "range": [0, 2],
                  "generator": blobs(3001)},
    "rdf": {"function": "euclidean", "output": "histogram", "box": [2, 2, 3],
            "generator": {"kind": "uniform", "n": 3001}},
    "near threshold": {"function": "euclidean", "output": "threshold", "threshold": 0.1, "search": "near",
                       "generator": blobs(2503)},
    "near topk": {"function": "manhattan", "output": "topk", "k": 9, "search": "near", "generator": blobs(1703, 5)},
    "near rdf": {"function": "euclidean", "output": "histogram", "box": [2, 2, 3], "range": [0, 0.3], "search": "near",
                 "precision": "fp64", "generator": {"kind": "uniform", "n": 3001}},
    "forces": {"function": "gravity", "output": "forces", "softening": 0.01,
               "generator": {"kind": "plummer", "n": 3001}},
    "forces fp64": {"function": "gravity", "output": "forces", "precision": "fp64", "softening": 0.01,
                    "generator": {"kind": "plummer", "n": 1009}},
}


def run(tree, ranks, **run_keys):
    """Arrays and summary lines of a run, and its table of units."""
    env = run_keys.pop("env", None)
    keys = {"device": "cpu", "threads": 1, "ranks": run_keys.pop("ranks_wanted", "all"), **run_keys}
    with suite.result({"family": "tri", "run": keys, "tri": tree}, ranks=ranks if ranks > 1 else None, env=env) as file:
        units = check_units(file, ranks)
        if keys["ranks"] == "useful":
            harness.check_left_out(file, units)
        check(file["run"].attrs["plan"] == keys.get("plan", "strips"), "another plan is in the file")
        lines = {k: v for k, v in file["results"].attrs.items()}
        return harness.datasets(file), lines, units


def is_product(tree):
    return tree["function"] in ("cosine", "correlation") and tree["generator"]["d"] >= BLAS_DIMENSIONS


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def compare(tree, one, other):
    for name in one[0]:
        a, b = one[0][name], other[0][name]
        if same_bits(a, b):
            continue
        where = np.argwhere(a != b)[:3].tolist() if a.shape == b.shape else f"{a.shape} {b.shape}"
        check(is_product(tree), f"{name} differs at {where}")
        u = 2.0**-24 if a.dtype == np.float32 else 2.0**-53
        check(np.issubdtype(a.dtype, np.floating) and a.shape == b.shape and
              np.max(np.abs(a - b)) <= 2 * (tree["generator"]["d"] + 8) * u,
              f"{name} differs by more than rounding at {where}")
    check(one[0].keys() == other[0].keys(), "the files have different datasets")
    check(one[1].keys() == other[1].keys(), "the files have different summary lines")
    for name, line in one[1].items():
        check(line == other[1][name], f"line '{name}' is {other[1][name]}, with one rank {line}")


alone = {}


def first(name):
    """The result of one rank, computed once."""
    if name not in alone:
        alone[name] = run(DECKS[name], 1)
    return alone[name]


def case(name, ranks, **run_keys):
    other = run(DECKS[name], ranks, **run_keys)
    compare(DECKS[name], first(name), other)
    shares = np.bincount(other[2]["rank"], minlength=ranks)
    return f"units per rank {shares.tolist()}, {int(other[2]['dynamic'].sum())} dynamic"


def put(label, body, subject, *args, **more):
    """A case; those of one subject are one process's, as they are compared with one truth."""
    suite.group, suite.one_by_one = str(subject), True
    suite.case(label, body, subject, *args, **more)


def ranks_cases():
    for name in DECKS:
        for ranks in [3] if suite.fast else [2, 3, 5]:
            put(f"{name}, {ranks} ranks", case, name, ranks)


def plan_cases():
    names = ["condensed", "threshold", "histogram"] if suite.fast else ["condensed", "square", "threshold",
                                                                        "topk", "histogram", "forces"]
    for k, name in enumerate(names):
        for p, plan in enumerate(PLANS):
            for dynamic in [(0, 0.2, 1)[(k + p) % 3]] if suite.fast else [0, 0.2, 1]:
                put(f"{name}, plan {plan}, dynamic {dynamic}", static_case, name, 3, plan, dynamic)


def static_case(name, ranks, plan, dynamic):
    other = run(DECKS[name], ranks, plan=plan, dynamic=dynamic)
    compare(DECKS[name], first(name), other)
    units = other[2][np.argsort(other[2]["id"])]
    if dynamic == 0:
        check(not units["dynamic"].any(), "units were taken from other ranks with dynamic: 0")
    if plan == "roundrobin":
        order = np.arange(len(units))
        dealt = order % ranks
        check(np.array_equal(units["dynamic"] == 1, units["rank"] != dealt), "taken units are not marked")
        kept = order // ranks < (1 - dynamic) * np.bincount(dealt, minlength=ranks)[dealt]
        check(not units["dynamic"][kept].any(), f"more than {dynamic} of a rank's units were taken")


def share_cases():
    """A fixed share: nothing is taken, and the result is the same."""
    for name in ["condensed", "threshold"] if suite.fast else DECKS:
        for share in [0.37] if suite.fast else [0, 0.37, 1]:
            put(f"{name}, fixed share {share}", share_case, name, share)


def share_case(name, share):
    other = run(DECKS[name], 3, plan="share", gpu_share=share)
    compare(DECKS[name], first(name), other)
    units = other[2][np.argsort(other[2]["id"])]
    check(not units["dynamic"].any(), "units were taken from a fixed share")
    rows = units["hi0"] - units["lo0"]
    middle = np.cumsum(rows) - 0.5 * rows  # rank 0 stands for the cards where there are none
    check(np.array_equal(units["rank"] == 0, middle < share * rows.sum()), "the cut is elsewhere")


def variation_cases():
    """Threads, memory and number of units change the cut, not the result."""
    for name in ["condensed", "threshold", "topk", "forces"] if suite.fast else DECKS:
        put(f"{name}, 2 threads", case, name, 1, threads=2)
        put(f"{name}, 7 units wanted", case, name, 2, units=7)
        memory = "16 MiB" if DECKS[name]["output"] == "threshold" else "1 MiB"  # lists must fit
        put(f"{name}, memory {memory}", case, name, 2, memory=memory, units=1)
        put(f"{name}, a unit for each row", case, name, 3, units=100000)


def slow_case(name, plan, dynamic):
    """Rank 1 is three times slower: same bits, less work for rank 1."""
    other = run(DECKS[name], 2, plan=plan, dynamic=dynamic, calibrate="always", env={"TSL_TEST_SLOW": "1:3"})
    compare(DECKS[name], first(name), other)
    work = [other[2]["count"][other[2]["rank"] == r].sum() for r in (0, 1)]
    return f"rank 1 did {100 * work[1] / sum(work):.0f} % of the pairs"


def slow_cases():
    for name in ["condensed", "histogram"] if suite.fast else ["condensed", "square", "threshold", "topk",
                                                               "histogram", "forces"]:
        put(f"{name}, slow rank", slow_case, name, "strips", 0.2)
        put(f"{name}, slow rank, plan lpt", slow_case, name, "lpt", 1)
    for plan in ("lpt", "roundrobin"):
        put(f"histogram, slow rank does less, {plan}", slow_share_case, "slow", plan)
    for name in ["condensed", "histogram", "threshold"] if suite.fast else DECKS:
        put(f"{name}, a rank that is not useful", case, name, 2, ranks_wanted="useful", env={"TSL_TEST_SLOW": "1:30"})


def slow_share_case(_, plan):
    """The rank whose units last three times as long does clearly less than half of them, dealt so or relieved."""
    tree = {"function": "euclidean", "output": "histogram", "bins": 50, "range": [0, 2], "precision": "fp64",
            "generator": blobs(2000)}
    one = run(tree, 1)
    other = run(tree, 2, plan=plan, units=40, calibrate="always", env={"TSL_TEST_SLOW": "0:+0.05,1:+0.15"})
    compare(tree, one, other)
    check(plan != "roundrobin" or other[2]["dynamic"].any(), "nothing was taken from the slow rank")
    share = float((other[2]["rank"] == 1).mean())
    check(0 < share < 0.42, f"rank 1, three times slower, did {100 * share:.0f} % of the units")
    return f"rank 1 did {100 * share:.0f} % of the units"


def small_cases():
    """More ranks than units, one point, none."""
    for name in ["condensed", "square", "threshold", "topk", "histogram", "rdf", "forces"]:
        for n in (0, 1, 2, 3):
            if suite.fast and n not in (0, 2):
                continue
            put(f"{name}, n = {n}, 5 ranks", small_case, name, n)


def small_case(name, n):
    tree = {**DECKS[name], "generator": {**DECKS[name]["generator"], "n": n}}
    if "k" in tree:
        tree["k"] = max(1, n - 1)
    one = run(tree, 1)
    for dynamic in (0.2, 1):
        compare(tree, one, run(tree, 5, dynamic=dynamic))
    check(len(one[2]) <= n, "more units than points")


ranks_cases()
plan_cases()
share_cases()
variation_cases()
slow_cases()
small_cases()
suite.end()
