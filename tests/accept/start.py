#!/usr/bin/env python3
"""What the start of a process costs, counted: images, libraries, threads, readings of the host's topology; and what the
user has set stands.

usage: start.py TESELA [ONLY]
"""
import array
import collections
import fcntl
import glob
import os
import re
import subprocess
import termios
import time

import harness
from harness import check

suite = harness.Suite(__doc__)
suite.deck("rdf.yaml", {"family": "tri", "tri": {"function": "euclidean", "output": "histogram", "bins": 10, "range": [0, 2],
                                                "generator": {"kind": "clusters", "n": 100, "seed": 3}}})
RUN = ["run", "rdf.yaml", "-o", "rdf.h5", "--overwrite", "--quiet"]


def good(args, ranks=None, **more):
    run = suite.run(args, ranks, **more)
    check(run.status == 0, run.tail())
    return run


def once():
    """One image of the program, and no library begins twice."""
    log = suite.path("linker")
    good(RUN, env={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": log})
    begun = collections.defaultdict(collections.Counter)
    for path in glob.glob(log + ".*"):
        with open(path, errors="replace", encoding="utf-8") as file:
            text = file.read()
        begun[path].update(re.findall(r"calling init: (\S+)", text))
        begun[path].update("program" for _ in re.findall(r"initialize program: \S*tesela", text))
    first = [counts for counts in begun.values() if counts["program"] > 0]
    check(len(first) == 1, f"{len(first)} processes of the program say something")
    check(len(first[0]) > 10, first[0])  # it did say something
    twice = [name for name, n in first[0].items() if n > 1]
    check(not twice, f"more than once: {twice}")


def readings(ranks):
    """(of the host, of a text), as hwloc says."""
    said = good(RUN, ranks, env={"HWLOC_COMPONENTS_VERBOSE": "1"}).err
    lists = re.findall(r"Final list of enabled discovery components: (\S+)", said)
    text = sum(one.startswith("xml") for one in lists)
    return len(lists) - text, text


def topology():
    """What ranks read of the host grows by MPI's own look alone, one a rank; ours are of the text of one of them."""
    for left in (2, 1, 0):  # lines of several ranks may run into each other, and are then missed
        host, text = zip(readings(2), readings(4))
        if not sum(host):
            return "this hwloc does not say what it reads"
        if left and not (text[1] - text[0] >= 2 >= host[1] - host[0]):
            continue
        check(text[1] - text[0] >= 2, f"of text: {text}")
        check(host[1] - host[0] <= 2, f"of the host: {host}")
        break
    return None


def spins(env):
    """Does a thread that waits spin? As the OpenMP library says itself."""
    inherited = {k: v for k, v in os.environ.items() if k.startswith(("ASAN", "LSAN", "UBSAN", "TSAN"))}
    done = harness.completed([suite.binary, "--version"], 60, text=True,
                             env={**inherited, **env, "OMP_DISPLAY_ENV": "verbose"})
    check(done.returncode == 0, done.stderr)
    found = re.findall(r"(?:GOMP_SPINCOUNT|KMP_BLOCKTIME) *= *'(\w+)'", done.stderr)
    check(found, done.stderr)
    return found[-1] != "0"


def waiting():
    full = {f"TSL_FILL_{k}": "x" * k for k in range(100)}
    check(not spins({}), "with nothing set")
    check(not spins(full), "with a hundred variables")
    check(not spins({"OPENBLAS_NUM_THREADS": "2"}), "with the other variable set")
    check(spins({"OMP_WAIT_POLICY": "active"}), "the user's OMP_WAIT_POLICY=active")
    check(spins({"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "1000"}), "the user's number of turns")


def threads():
    """No thread beside the first before one is needed: seen while the program waits for a reader of its help."""
    if len(os.sched_getaffinity(0)) < 2:
        return "one processor: no library would start more"
    reader, writer = os.pipe()
    size = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen([suite.binary, "help", "dp"], stdout=writer, env=suite.environment())
    try:
        full = array.array("i", [0])
        until = time.monotonic() + 60
        while full[0] < size and time.monotonic() < until:
            time.sleep(0.01)
            fcntl.ioctl(reader, termios.FIONREAD, full)
        check(full[0] >= size, f"{full[0]} of {size} bytes of help")
        n = len(os.listdir(f"/proc/{process.pid}/task"))
    finally:
        os.close(writer)
        os.close(reader)
        process.wait()
    check(n == 1, f"{n} threads")
    return None


def stranger():
    """Processes of a launcher that this MPI library does not know say so, the first of them; its own knows better."""
    alone = {"PMI_SIZE": "2", "PMI_RANK": "0"}
    run = suite.run(RUN, env=alone)
    check(run.status == 2 and "2 processes were started, but for MPI each is alone" in run.err, run.tail())
    run = suite.run(RUN, env={**alone, "PMI_RANK": "1"})
    check(run.status == 2 and run.err == "", run.tail())
    good(RUN, env={"PMI_SIZE": "1", "PMI_RANK": "0"})
    good(RUN, ranks=2, env=alone)


suite.case("one image", once)
suite.case("another library's launcher", stranger)
suite.case("topology once a node", topology)
suite.case("threads that wait sleep", waiting)
suite.case("no idle threads", threads)
suite.end()
