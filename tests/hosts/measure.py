#!/usr/bin/env python3
"""What hosts cost: two ranks of one host against two hosts of one rank each, on the same two cores.

usage: measure.py TESELA [--repeats=N] [--brief] [ONLY]

Runs alternate, N times (5); --brief: smaller problems. A line for each problem: medians of the
seconds of whole runs, of computing alone and of processor time of both ranks, and of the ratios of
the pairs. No test: on a machine that others use only those of processor time say something, as a
rank of two hosts is held to its core. Exit status 1 when a result differs or a run of two hosts
takes over 10 % longer.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

import network

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = os.path.join(HERE, "..", "..", "inputs")
MOST = 1.10
CORES = sorted(os.sched_getaffinity(0))[:2]
ALIGNMENT = """\
family: dp
dp: {problem: global, mode: recover, a: {random: 1000, seed: 1}, b: {mutate: 0.2, seed: 2}}
"""
# deck, settings, those of --brief
PROBLEMS = {
    "rdf": ("tri/rdf.yaml", ["tri.generator.n=250000"], ["tri.generator.n=60000"]),
    "image": ("fractal/full.yaml", ["fractal.xres=6000", "fractal.yres=4000", "fractal.maxiter=1e7"],
              ["fractal.xres=1500", "fractal.yres=1000"]),
    "alignment": (ALIGNMENT, ["dp.a.random=200000"], ["dp.a.random=60000"]),
    "c60": ("xc/c60.yaml", ["xc.basis=STO-3G"], ["xc.molecule.xyz=benzene.xyz"]),
}
# A rank that leaves its processor time behind: lines of bash's times, the second one of its children.
RANK = 'status=0; "$@" || status=$?; times >"$TIMES.$OMPI_COMM_WORLD_RANK"; exit $status'


class Way:
    """One host of two cores, or two hosts of a core each."""

    def __init__(self, n_hosts):
        self.network = network.Network(n_hosts).__enter__()
        for host in self.network.hosts:
            os.sched_setaffinity(host.pid, set(CORES) if n_hosts == 1 else {CORES[host.number]})

    def run(self, binary, words, folder):
        """Seconds of a run: whole, computing, processor; and the bytes of its results."""
        out = os.path.join(folder, "out.h5")
        env = {**os.environ, "TIMES": os.path.join(folder, "times"), "XDG_CACHE_HOME": os.path.join(folder, "cache")}
        began = time.time()
        done = subprocess.run([*self.network.mpirun(2), "bash", "-c", RANK, "rank", binary, "run", *words, "-o", out, "--overwrite"],
                              env=env, cwd=folder, text=True, capture_output=True, check=False)
        whole = time.time() - began
        if done.returncode != 0:
            sys.exit(f"exit {done.returncode}: {done.stderr}")
        with h5py.File(out, "r") as file:
            ranks = len(set(file["run/machine"]["node"]))
            if ranks != self.network.n:
                sys.exit(f"on {ranks} hosts instead of {self.network.n}")
            results = {name: item[()] for name, item in file["results"].items() if isinstance(item, h5py.Dataset)}
            computing = float(file["run"].attrs["measured_seconds"])
        return (whole, computing, sum(processor(f"{env['TIMES']}.{rank}") for rank in (0, 1))), results


def processor(path):
    """User and system seconds of the children, from bash's times."""
    with open(path, encoding="utf-8") as file:
        words = file.read().split()[2:4]
    return sum(60 * float(w.split("m")[0]) + float(w.split("m")[1].rstrip("s")) for w in words)


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k], equal_nan=one[k].dtype.kind == "f") for k in one)


def near(one, other):
    """Energies of iterations that sum in another order."""
    return all(np.allclose(one[k], other[k], rtol=1e-6, atol=1e-6) for k in one if k.startswith("energ"))


def measure(ways, binary, name, brief, repeats):
    deck, long, short = PROBLEMS[name]
    words = ["deck.yaml" if "\n" in deck else os.path.join(INPUTS, deck), "-q", "-s", "run.device=cpu", "-s", "run.threads=1", "-s", "run.ranks=all"]
    words += [w for setting in (short if brief else long) for w in ("-s", setting)]
    times, results = {1: [], 2: []}, {}
    with tempfile.TemporaryDirectory(prefix="tesela_measure_") as folder:
        with open(os.path.join(folder, "deck.yaml"), "w", encoding="utf-8") as file:
            file.write(deck)
        for n in (1, 2):
            ways[n].run(binary, words, folder)  # what is measured and compiled once is there now
        for repeat in range(repeats):
            for n in ((1, 2), (2, 1))[repeat % 2]:
                seconds, results[n] = ways[n].run(binary, words, folder)
                times[n].append(seconds)
    medians = {n: [statistics.median(column) for column in zip(*times[n])] for n in times}
    right = (near if name == "c60" else same)(results[1], results[2])
    ratio = [statistics.median(two / one for one, two in zip(*columns)) for columns in zip(zip(*times[1]), zip(*times[2]))]
    for n in (1, 2):
        spread = max(t[0] for t in times[n]) / min(t[0] for t in times[n]) - 1
        print(f"{name:10} {n} host{'s' if n > 1 else ' '}  {medians[n][0]:9.3f} s  computing {medians[n][1]:9.3f} s  "
              f"processor {medians[n][2]:9.3f} s  spread {100 * spread:.0f} %")
    print(f"{name:10} ratio    {ratio[0]:9.3f}    computing {ratio[1]:9.3f}    processor {ratio[2]:9.3f}    "
          f"{'the same result' if right else 'ANOTHER RESULT'}", flush=True)
    return right and ratio[0] <= MOST


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("-")]
    options = [w for w in sys.argv[1:] if w.startswith("-")]
    if not words or "--help" in options:
        sys.exit(__doc__)
    if network.why_not() or len(CORES) < 2:
        print(f"skipped: {network.why_not() or 'fewer than two cores'}")
        sys.exit(77)
    repeats = int(([o.split("=")[1] for o in options if o.startswith("--repeats=")] or ["5"])[0])
    names = [name for name in PROBLEMS if len(words) < 2 or words[1] in name]
    ways = {n: Way(n) for n in (1, 2)}
    good = [measure(ways, os.path.abspath(words[0]), name, "--brief" in options, repeats) for name in names]
    for way in ways.values():
        way.network.__exit__()
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
