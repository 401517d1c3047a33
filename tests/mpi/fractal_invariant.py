#!/usr/bin/env python3
"""An escape-time image is the same, byte for byte, whoever computed which part of it.

usage: fractal_invariant.py TESELA [--fast] [--gpu] [ONLY]

Values, binarised image, totals, coordinates, summary and pictures of plain loops on one rank
against 1, 2, 3 and 5 ranks, every plan, slowed ranks and images of fewer units than
ranks. --gpu: the same with cards, cards and sockets mixed, and every gpu_ key; needs a card.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accept"))
import harness  # noqa: E402
from fractal_truth import MORE, VIEWS, sized  # noqa: E402
from harness import check, check_units, np  # noqa: E402

suite = harness.Suite(__doc__, jobs=1 if "--gpu" in sys.argv else 4)  # one at a time on a card
GPU = "--gpu" in sys.argv
SIZE = (157, 101) if suite.fast else (509, 331)
PLANS = {"strips": {}, "lpt": {}, "bins": {}, "roundrobin": {}, "share": {"gpu_share": 0.7}}
NAMES = [*VIEWS, "full fp32", "ship fp32", "tip"]
FEW = ["full", "seahorse", "burning ship"]
# one word for each rank; a card may stand for several of them
MIXES = {1: ["gpu0"], 2: ["gpu0,cpu", "cpu,gpu0", "gpu0,gpu0"], 3: ["gpu0,cpu,cpu", "gpu0,gpu0,cpu"],
         5: ["gpu0,cpu,gpu0,cpu,cpu", "gpu0,gpu0,gpu0,gpu0,gpu0"]}
PLAIN = {"cpu_schedule": "static"}
PICTURES = ("values.png", "halves.png")


def run(section, ranks, env=None, **keys):
    """Everything that a run makes: datasets, coordinates, summary, pictures; and its units."""
    keys = {"device": "cpu", "threads": 1, "ranks": keys.pop("ranks_wanted", "all"), **keys}
    if "gpu" in keys["device"]:
        keys["allow_shared_gpu"] = True
    tree = {"family": "fractal", "run": keys, "fractal": {**section, "png": PICTURES[0], "binarised_png": PICTURES[1]}}
    with suite.result(tree, ranks=ranks if ranks > 1 else None, env=env, timeout=300) as file:
        units = check_units(file, ranks)
        if keys["ranks"] == "useful":
            harness.check_left_out(file, units)
        made = {f"/results/{k}": v for k, v in harness.datasets(file).items()}
        scales = [file["results/iterations"].dims[k][0] for k in (0, 1)]
        made.update({scale.name: scale[()] for scale in scales})
        made.update({f"line {k}": np.asarray(v) for k, v in file["results"].attrs.items()})
    for name in PICTURES:
        with open(suite.path(name), "rb") as picture:
            made[name] = np.frombuffer(picture.read(), np.uint8)
        os.remove(suite.path(name))
    return made, units


def covers(units, xres, yres):
    """The boxes of the units are disjoint and cover the image."""
    count = np.zeros((yres, xres), np.int64)
    for u in units:
        count[u["lo0"]:u["hi0"], u["lo1"]:u["hi1"]] += 1
    check((count == 1).all(), f"{int((count != 1).sum())} pixels are in no unit or in several")


alone = {}


def truth(section):
    """Plain loops on one rank; with exact: no the default, which fills."""
    name = repr(section)
    if name not in alone:
        plain = {} if section.get("exact") is False else PLAIN
        alone[name] = run({**section, **plain}, 1)[0]
    return alone[name]


def case(section, ranks, **keys):
    extra = keys.pop("also", {})
    made, units = run({**section, **extra}, ranks, **keys)
    harness.check_same(truth(section), made)
    covers(units, section["xres"], section["yres"])
    shares = np.bincount(units["rank"], minlength=ranks)
    return f"units per rank {shares.tolist()}, {int(units['dynamic'].sum())} dynamic"


# ------------------------------------------------------------------ sockets


def put(label, body, subject, *args, **more):
    """A case; those of one subject are one process's, as they are compared with one truth."""
    suite.group, suite.one_by_one = str(subject), True
    suite.case(label, body, subject, *args, **more)


def ranks_cases():
    for name in NAMES:
        for ranks in [5] if suite.fast else [1, 2, 3, 5]:
            put(f"{name}, {ranks} ranks", case, sized(name, *SIZE), ranks)
    for ranks in (2, 3):
        put(f"full, {ranks} ranks", case, sized("full", *SIZE), ranks)
    for ranks in (1, 3, 5):
        put(f"full, filled, {ranks} ranks", case, sized("full", *SIZE, exact=False), ranks)


def plan_cases():
    for k, name in enumerate(FEW if suite.fast else VIEWS):
        for p, (plan, keys) in enumerate(PLANS.items()):
            for dynamic in [None] if plan == "share" else [(0, 0.2, 1)[(k + p) % 3]] if suite.fast else [0, 0.2, 1]:
                put(f"{name}, plan {plan}, dynamic {dynamic}", plan_case, name, plan, dynamic, keys)


def plan_case(name, plan, dynamic, keys):
    keys = {**keys, **({} if dynamic is None else {"dynamic": dynamic})}
    section = sized(name, *SIZE)
    made, units = run(section, 3, plan=plan, **keys)
    harness.check_same(truth(section), made)
    covers(units, *SIZE)
    if dynamic in (0, None):
        check(not units["dynamic"].any(), "units were taken from other ranks")


def cut_cases():
    """The number of units, their memory and the threads change the cut, not the image."""
    for name in FEW if suite.fast else NAMES:
        for units in (1, 2, 7, 100000):
            put(f"{name}, {units} units wanted", case, sized(name, *SIZE), 3, units=units)
        put(f"{name}, memory 1 MiB", case, sized(name, *SIZE), 2, memory="1 MiB", units=1)
        put(f"{name}, 3 threads", case, sized(name, *SIZE), 2, threads=3)
    for schedule in ("tasks", "dynamic", "collapse"):
        put(f"full, schedule {schedule}", case, sized("full", *SIZE), 3, also={"cpu_schedule": schedule})
    for units in (1, 7, 100000):
        put(f"full, filled, {units} units wanted", case, sized("full", *SIZE, exact=False), 3, units=units)


def slow_cases():
    for name in FEW:
        for plan, dynamic in (("strips", 0.2), ("lpt", 1)):
            put(f"{name}, slow rank, plan {plan}, dynamic {dynamic}", case, sized(name, *SIZE), 2, plan=plan,
                       dynamic=dynamic, calibrate="always", env={"TSL_TEST_SLOW": "1:3"})
    put("slow rank does less", slow_share, "slow")
    put("a rank that is not useful", case, sized("full", *SIZE), 2, ranks_wanted="useful", env={"TSL_TEST_SLOW": "1:30"})


def slow_share(_):
    """The rank whose units last three times as long does clearly less than half of them."""
    section = sized("seahorse", *SIZE)
    made, units = run(section, 2, units=40, calibrate="always", env={"TSL_TEST_SLOW": "0:+0.05,1:+0.15"})
    harness.check_same(truth(section), made)
    share = float((units["rank"] == 1).mean())
    check(0 < share < 0.42, f"rank 1, three times slower, did {100 * share:.0f} % of the units")
    return f"rank 1 did {100 * share:.0f} % of the units"


def small_cases():
    for xres, yres in ((1, 1), (1, 3), (3, 1), (2, 2), (5, 4), (1, 64), (64, 1)):
        for dynamic in (0.2, 1):
            put(f"{xres} x {yres}, dynamic {dynamic}, 5 ranks", case, sized("full", xres, yres), 5,
                       dynamic=dynamic)
    put("1 x 1, share", case, sized("full", 1, 1), 5, plan="share", gpu_share=0.5)
    for share in (0, 1):
        put(f"gpu_share {share}", case, sized("full", *SIZE), 3, plan="share", gpu_share=share)


# -------------------------------------------------------------------- cards


def mix_cases():
    for name in [*NAMES, *(n for n in MORE if n not in NAMES)]:
        for ranks, mixes in MIXES.items():
            for mix in mixes[:1] if suite.fast else mixes:
                put(f"{name}, {mix}", case, sized(name, *SIZE), ranks, device=mix)
    for name in ("full", "julia"):
        for mix in ("gpu0", "gpu0,cpu", "gpu0,cpu,cpu"):
            section = sized(name, *SIZE, exact=False)
            put(f"{name}, filled, {mix}", case, section, mix.count(",") + 1, device=mix)


def key_cases():
    """Every place of the image, every layout of threads, every way to sum."""
    for memory in ("device", "managed", "pinned"):
        for threads in ("auto", "1d", "2d"):
            for mean in ("auto", "cublas", "tree", "atomic"):
                name = "full" if suite.fast else NAMES[len(memory + threads + mean) % len(NAMES)]
                put(f"{name}, {memory}, {threads}, {mean}", case, sized(name, *SIZE), 1, device="gpu0",
                           also={"gpu_memory": memory, "gpu_threads": threads, "gpu_mean": mean})
    for name in ("full", "deep", "tip", "full fp32"):
        for interior, periodicity in ((False, True), (True, False), (False, False)):
            put(f"{name}, gpu0, interior {interior}, periodicity {periodicity}", case, sized(name, *SIZE), 1,
                       device="gpu0", also={"interior": interior, "periodicity": periodicity})


def card_small_cases():
    for xres, yres in ((1, 1), (1, 3), (33, 1), (31, 65), (1, 2000), (2000, 1)):
        for mix in ("gpu0", "gpu0,cpu", "gpu0,gpu0,cpu"):
            put(f"{xres} x {yres}, {mix}", case, sized("full", xres, yres), mix.count(",") + 1, device=mix)


def card_plan_cases():
    for plan, keys in PLANS.items():
        put(f"gpu0,cpu, plan {plan}", case, sized("full", *SIZE), 2, device="gpu0,cpu", plan=plan, **keys)
    for units in (1, 7, 100000):
        put(f"gpu0,cpu, {units} units wanted", case, sized("seahorse", *SIZE), 2, device="gpu0,cpu", units=units)
    put("gpu0, memory 1 MiB", case, sized("seahorse", 2000, 1500), 1, device="gpu0", memory="1 MiB")


if GPU:
    if "no gpu" in suite.run(["devices"]).out.lower():
        print("skipped: no card here, or the program was built without CUDA")
        sys.exit(77)
    for cases in (mix_cases, key_cases, card_small_cases, card_plan_cases):
        cases()
else:
    for cases in (ranks_cases, plan_cases, cut_cases, slow_cases, small_cases):
        cases()
suite.end()
