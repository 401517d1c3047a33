#!/usr/bin/env python3
"""A result larger than the memory it may use streams to the file.

usage: memory_stream.py TESELA [--fast] [ONLY]

20000 points have 199,990,000 distances, 800 MB in fp32, through run.memory = 16 MiB (--fast: 9000
points, 162 MB, through 4 MiB). The same for the square.
Needs 2 GB of disk in the temporary folder; the file is deleted.
"""
import os
import shutil

import harness
from harness import check, check_units, h5py, np

suite = harness.Suite(__doc__)
N = 9000 if suite.fast else 20000
CAP = 4 if suite.fast else 16  # MiB
ABOVE = 2 * CAP + 90  # MiB over a tiny run: results in flight; the writer's 64 MiB of chunks and buffers
SPOTS = 200


def make_points():
    x = np.random.default_rng(7).normal(size=(N, 3)).astype(np.float32)
    np.save(suite.path("points.npy"), x)
    return x.astype(float)


X = make_points()


def deck(output, n=None):
    source = {"file": "points.npy"}
    if n is not None:
        np.save(suite.path("few.npy"), X[:n].astype(np.float32))
        source = {"file": "few.npy"}
    return {"family": "tri", "run": {"memory": f"{CAP} MiB"}, "output": {"overwrite": True},
            "tri": {"function": "euclidean", "output": output, "input": source}}


def near(values, expected):
    return np.all(np.abs(values - expected) <= 8 * 2.0**-24 * expected)


def check_condensed(data):
    """Some rows whole, the very first and last pair, and spots."""
    check(data.shape == (N * (N - 1) // 2,) and data.dtype == np.float32, f"{data.shape} {data.dtype}")
    for i in (0, 1, N // 3, N // 2, N - 2):
        lo = N * i - i * (i + 1) // 2
        row = data[lo:lo + N - 1 - i]
        check(near(row, np.linalg.norm(X[i + 1:] - X[i], axis=1)), f"row {i} differs from numpy")
    rng = np.random.default_rng(8)
    for i, j in np.sort(rng.integers(0, N, (SPOTS, 2)), axis=1):
        if i < j:
            value = data[N * i - i * (i + 1) // 2 + j - i - 1]
            check(near(value, np.linalg.norm(X[i] - X[j])), f"pair ({i}, {j}) differs from numpy")


def check_square(data):
    check(data.shape == (N, N) and data.dtype == np.float32, f"{data.shape} {data.dtype}")
    for i in (0, 1, N // 3, N // 2, N - 1):
        row = data[i]
        check(near(row[:i], np.linalg.norm(X[:i] - X[i], axis=1)), f"row {i} differs from numpy")
        check(not np.any(row[i:]), f"row {i} is not zero from the diagonal on")


CHECK = {"condensed": check_condensed, "square": check_square}


def run_peak(tree):
    suite.deck("stream.yaml", tree)
    run, peak = harness.run_peak(suite, ["run", "stream.yaml", "-o", "stream.h5", "-q"])
    check(run.status == 0 and "VALID" in run.out, run.tail())
    return peak


def streams_alone(output):
    small, large = run_peak(deck(output, n=100)), run_peak(deck(output))
    with h5py.File(suite.path("stream.h5"), "r") as file:
        check(file["run"].attrs["verdict"] == "VALID", "not VALID")
        check_units(file, 1)
        CHECK[output](file["results/distances"])
    size = os.path.getsize(suite.path("stream.h5")) / 2**20
    os.remove(suite.path("stream.h5"))
    check(large < small + ABOVE, f"peak {large:.0f} MiB, a tiny run {small:.0f} MiB")
    return f"{size:.0f} MiB of file, peak {large:.0f} MiB, a tiny run {small:.0f} MiB"


def streams_with_ranks(output, ranks):
    with suite.result(deck(output), ranks=ranks, name="stream", timeout=600) as file:
        check_units(file, ranks)
        CHECK[output](file["results/distances"])
    os.remove(suite.path("stream.h5"))


def compressed():
    """Deflate through a serial writer gives the same numbers (a parallel library may refuse it)."""
    tree = deck("condensed", n=1500)
    with suite.result(tree, name="plain") as file:
        plain = file["results/distances"][()]
    tree["output"]["compress"] = 4
    with suite.result(tree, name="packed") as file:
        check(np.array_equal(file["results/distances"][()], plain), "compression changed the result")
        return f"filter {file['results/distances'].compression}"


if shutil.disk_usage(suite.folder).free < (2 if not suite.fast else 0.5) * 1e9:
    print(f"skipped: less than 2 GB free in {suite.folder}")
    raise SystemExit(77)
suite.case(f"condensed, n = {N}, memory {CAP} MiB", streams_alone, "condensed")
suite.case(f"condensed, n = {N}, memory {CAP} MiB, 2 ranks", streams_with_ranks, "condensed", 2)
suite.case(f"square, n = {N}, memory {CAP} MiB", streams_alone, "square")
suite.case("compress", compressed)
suite.end()
