#!/usr/bin/env python3
"""Outputs that are cut off, damaged, foreign or hostile: every reader says so, and none dies or waits.

usage: hostile_files.py TESELA [--fast] [ONLY]

`tesela show`, `tesela run` with such a file as its input, tools/compare and tools/report read each.
HDF5 itself dies in some of them (the library's own defects); the readers live.
"""
import os
import random
import shutil
import subprocess
import sys
import zlib

import harness
from harness import check, h5py, np

suite = harness.Suite(__doc__, jobs=3)
TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")
LIMIT = 100  # s; 10 s of processor time are allowed, of a free machine
GOOD = {"family": "tri", "run": {"device": "cpu", "threads": 1},
        "tri": {"function": "euclidean", "output": "histogram", "bins": 9, "range": [0, 1],
                "generator": {"kind": "clusters", "n": 40}}}
READ = """\
family: tri
run: {{device: cpu, threads: 1}}
tri:
  function: euclidean
  output: condensed
  input: {{file: {file}, dataset: {dataset}}}
"""
with suite.result(GOOD, name="good"):
    pass
with open(suite.path("good.h5"), "rb") as whole:
    BYTES = whole.read()


def ended(command, allowed, what):
    """A reader ends in time, with one of these statuses and, unless it is 0, a message."""
    done = harness.completed(command, LIMIT, cwd=suite.folder, env=suite.environment())
    err = done.stderr.decode(errors="replace")
    check(done.returncode in allowed, f"{what}: {command[:3]}: exit {done.returncode}: {err[-700:]}")
    check("Traceback" not in err, f"{what}: {err[-900:]}")
    check(done.returncode in (0, 1) or len(err) > 10, f"{what}: {command[:3]}: no message")
    return done.returncode


def read_all(name, what, refused=(), only=("show", "run", "compare", "report")):
    """refused: names of the readers that must refuse it."""
    suite.write("read.yaml", READ.format(file=name, dataset="results/counts"))
    readers = {"show": ([suite.binary, "show", name], (0, 2)),
               "run": ([suite.binary, "run", "read.yaml", "-o", "read.h5", "--overwrite", "-q"], (0, 2, 3)),
               "compare": ([sys.executable, os.path.join(TOOLS, "compare"), "good.h5", name], (0, 1, 2)),
               "report": ([sys.executable, os.path.join(TOOLS, "report"), name, "-o", "page.html"], (0, 2))}
    for reader in only:
        command, allowed = readers[reader]
        refusal = allowed[1:] if reader != "compare" else allowed[2:]
        ended(command, refusal if reader in refused else allowed, what)


def cut_off():
    """At every length refused: an output has no byte too many."""
    lengths = [0, 7, 8, 95, 96, len(BYTES) // 3, len(BYTES) // 2, len(BYTES) - 1]
    for length in lengths if not suite.fast else lengths[::2] + lengths[-1:]:
        suite.write("cut.h5", BYTES[:length])
        read_all("cut.h5", f"cut to {length}", ("show", "run", "compare", "report"))


def foreign():
    for what, text in (("text", b"# no HDF5\n"), ("zeros", bytes(4096)), ("signature alone", BYTES[:8] + bytes(4096))):
        suite.write("foreign.h5", text)
        read_all("foreign.h5", what, ("show", "compare", "report"))
    with h5py.File(suite.path("foreign.h5"), "w") as file:
        file["results/counts"] = np.arange(9.0)
    read_all("foreign.h5", "another program's file", ("show", "compare", "report"))
    os.mkdir(suite.path("folder.h5"))
    read_all("folder.h5", "a folder", ("show", "run", "compare", "report"))
    os.mkfifo(suite.path("fifo.h5"))
    read_all("fifo.h5", "a pipe", ("show", "run", "compare", "report"))


def damaged(first):
    """Bytes at random; the library dies in some of these."""
    random.seed(first)
    for k in range(3 if suite.fast else 12):
        data = bytearray(BYTES)
        places = [at for at, byte in enumerate(BYTES) if byte]
        for at in random.sample(places, random.choice((1, 2, 8, 40))):
            data[at] = random.choice((0, 1, 127, 255, data[at] ^ 1 << random.randrange(8)))
        suite.write("damaged.h5", bytes(data))
        read_all("damaged.h5", f"damage {first}.{k}", only=("show", "run", "compare", "report")[:4 if k % 3 == 0 else 2])


# ------------------------------------------------------- well-formed, but not what it should be


def replace(file, path, make):
    if path in file:
        del file[path]
    make(file, path)


def huge(file, path):
    """16 EiB that were never written."""
    file.create_dataset(path, shape=(1 << 41, 1 << 20), dtype="f8", chunks=(1 << 10, 1 << 10))


def tall(file, path):
    """More rows than there is memory, never written."""
    file.create_dataset(path, shape=(1 << 31, 3), dtype="f8", chunks=(1 << 20, 3))


def bomb(file, path):
    """A kilobyte that becomes 64 MiB."""
    made = file.create_dataset(path, shape=(1 << 26,), dtype="u1", chunks=(1 << 26,), compression="gzip")
    made.id.write_direct_chunk((0,), zlib.compress(bytes(1 << 26), 9))


def large_chunk(file, path):
    """The largest chunk that HDF5 knows, never written."""
    file.create_dataset(path, shape=(1 << 32,), dtype="u1", chunks=((1 << 32) - 1,))


def virtual(file, path):
    layout = h5py.VirtualLayout(shape=(4,), dtype="f8")
    layout[:] = h5py.VirtualSource("fifo2.h5", "a", shape=(4,))
    file.create_virtual_dataset(path, layout)


def external(file, path):
    file.create_dataset(path, shape=(9,), dtype="f8", external=[("fifo2.h5", 0, 72)])


def many(file, path):
    for k in range(3000):
        file[f"{path}{k}"] = h5py.SoftLink("/results")
        file.attrs[f"a{k}"] = k


def deep(file, path):
    group = file.create_group(path)
    for _ in range(2000):
        group = group.create_group("g")


def many_ranks(file, path):
    for name in ("machine", "balance", "ranks"):
        rows = np.repeat(file["run"][name][...], 200_000)
        del file["run"][name]
        file["run"][name] = rows


def attribute(value, dtype=None):
    return lambda file, path: file["run"].attrs.create("verdict", value, dtype=dtype)


def put(value):
    return lambda file, path: file.__setitem__(path, value)


SEATS = np.zeros(2, dtype=[("host", "S3"), ("rank", "f8"), ("more", "i4", (3,))])
CHANGES = {
    "huge": ("results/counts", huge, ("run",)), "tall": ("results/counts", tall, ()),
    "bomb": ("results/counts", bomb, (), ("show", "compare", "report")),
    "large chunk": ("results/counts", large_chunk, ("run",), ("show", "run")),
    "virtual": ("results/counts", virtual, ("show", "run", "compare", "report")),
    "external": ("results/counts", external, ("show", "run", "compare", "report")),
    "external machine": ("run/machine", external, ("show", "report")),
    "external link": ("results/counts", put(h5py.ExternalLink("fifo2.h5", "/a")), ("run", "compare", "report")),
    "run elsewhere": ("run", put(h5py.ExternalLink("fifo2.h5", "/run")), ("show", "compare", "report")),
    "results elsewhere": ("results", put(h5py.ExternalLink("fifo2.h5", "/a")), ("show", "run", "compare", "report")),
    "link to itself": ("results", put(h5py.SoftLink("/results")), ("show", "run", "compare", "report")),
    "cycle of groups": ("results/counts", lambda file, path: file.__setitem__(path, file["/"]), ("run",)),
    "run a dataset": ("run", put(3.0), ("show", "report")),
    "machine a number": ("run/machine", put(3.0), ("show", "report")),
    "machine of others": ("run/machine", put(SEATS), ("report",)),
    "machine of texts": ("run/machine", put(np.array(["a", "b"], dtype=h5py.string_dtype())), ("show", "report")),
    "machine a group": ("run/machine", lambda file, path: file.create_group(path), ("show", "report")),
    "units of nothing": ("run/units", put(h5py.Empty("f8")), ("report",)),
    "text": ("results/counts", put("words" * 100000), ("run",)),
    "opaque": ("results/counts", put(np.void(b"abc\0\1" * 99)), ("run",)),
    "32 dimensions": ("results/counts", put(np.zeros((1,) * 32)), ("run",)),
    "no elements": ("results/counts", put(np.zeros((0, 5))), ()),
    "nan": ("results/counts", put(np.full(9, np.nan)), ("run",)),
    "wide integers": ("results/counts", put(np.full(9, 2**64 - 1, dtype="u8")), ()),
    "many links": ("results/x", many, ("compare", "report")),
    "number for verdict": ("", attribute(7), ()),
    "many verdicts": ("", attribute(["a"] * 500, h5py.string_dtype()), ()),
    "no verdict": ("", attribute(h5py.Empty(h5py.string_dtype())), ()),
    "escapes": ("", attribute("\x1b[2J\x07" * 1000), ()),
    "right to left": ("", attribute("\u202e\u2066" * 100), ()),
    "deep groups": ("results/deep", deep, ("compare", "report")),
    "a machine of many ranks": ("", many_ranks, ()),
}


def change(name):
    path, make, *said = CHANGES[name]
    if not os.path.exists(suite.path("fifo2.h5")):
        os.mkfifo(suite.path("fifo2.h5"))  # whoever opens it waits for ever
    shutil.copyfile(suite.path("good.h5"), suite.path("changed.h5"))
    try:
        with h5py.File(suite.path("changed.h5"), "r+") as file:
            if path:
                replace(file, path, make)
            else:
                make(file, path)
    except (OSError, ValueError, RuntimeError, MemoryError) as error:
        return f"this h5py does not write it: {error}"
    read_all("changed.h5", name, *said)
    shown = subprocess.run([suite.binary, "show", "changed.h5"], capture_output=True, cwd=suite.folder, check=False,
                           env=suite.environment(), timeout=LIMIT).stdout
    compared = subprocess.run([sys.executable, os.path.join(TOOLS, "compare"), "good.h5", "changed.h5"], check=False,
                              capture_output=True, cwd=suite.folder, env=suite.environment(), timeout=LIMIT).stdout
    for mark in (b"\x1b", b"\x07", "\u202e".encode(), "\u2066".encode()):
        check(mark not in shown + compared, "control characters reach the terminal")
    return None


suite.case("whole", read_all, "good.h5", "the output itself")
for each in (cut_off, foreign):
    suite.case(each.__name__.replace("_", " "), each)
for each in range(3):
    suite.case(f"damaged {each}", damaged, each)
for each in CHANGES:
    suite.case(each, change, each)
suite.end()
