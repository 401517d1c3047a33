#!/usr/bin/env python3
"""Trajectories that are cut off, as a full disk or a killed simulation leaves them: the broken frame is named, the
frames before it have the counts of the whole file.

usage: tri_frames_cut.py TESELA [--fast] [ONLY]

XTC, TRR, DCD, PDB and NetCDF are written by chemfiles' Python package (skipped where it lacks); DCD of other orders of
bytes, marks of records, cells and fixed atoms by struct.
"""
import os
import struct
import sys

import harness
from harness import check, np

sys.path += ["/usr/local/lib/tesela-chemfiles", os.path.expanduser("~/.local/lib/tesela-chemfiles")]
try:
    import chemfiles
except ImportError:
    print("skipped: PyPI's chemfiles is not installed")
    sys.exit(77)

suite = harness.Suite(__doc__, jobs=2)
ENV = {"TSL_CHEMFILES": os.path.dirname(chemfiles.__file__)}
FRAMES = 4


def deck(name, which="all", **more):
    return {"family": "tri", "run": {"device": "cpu", "threads": 1},
            "tri": {"function": "euclidean", "output": "histogram", "bins": 20, "range": [0, 5],
                    "input": {"file": name, "frames": which}, **more}}


def places(n):
    rng = np.random.default_rng(n)
    return [np.round(rng.uniform(0, 14, (n, 3)), 2) for _ in range(FRAMES)]


def write(name, n):
    path = suite.path(name)
    with chemfiles.Trajectory(path, "w") as out:
        for x in places(n):
            frame = chemfiles.Frame()
            for p in x:
                frame.add_atom(chemfiles.Atom("Ar"), p)
            frame.cell = chemfiles.UnitCell([14, 15, 16])
            out.write(frame)
    with open(path, "rb") as file:
        return file.read()


def result(name, which="all", **more):
    with suite.result(deck(name, which, **more), env=ENV) as file:
        return harness.datasets(file), file["run/facts"].asstr()[()]


def plan(name, **more):
    run = suite.run(["plan", suite.deck("plan.yaml", deck(name, **more))], env=ENV)
    return run.status, run.out + run.err


def put(name, data):
    with open(suite.path(name), "wb") as file:
        file.write(data)


def named(name, data, what, **more):
    """plan says that frame 4 is left out, and why."""
    put(name, data)
    status, said = plan(name, **more)
    check(status == 0, f"{what}: exit {status}: {said[-400:]}")
    for words in (f"{FRAMES - 1} frames of", f"frame {FRAMES} is cut off (", "left out"):
        check(words in said, f"{what}: '{words}' is missing in {said[-400:]}")


def whole(name, data, what, **more):
    put(name, data)
    status, said = plan(name, **more)
    check(status == 0 and f"{FRAMES} frames of" in said and "cut off" not in said, f"{what}: {said[-400:]}")


def kept(name, data, all_counts, **more):
    """The frames before the broken one count as in the whole file; ranges end at them."""
    put(name, data)
    out, facts = result(name, **more)
    check(f"frame {FRAMES} is cut off (" in facts, f"not named: {facts}")
    check(np.array_equal(out["counts_frames"], all_counts[:-1]), "other counts")
    out, _ = result(name, f"1:{FRAMES - 1}", **more)
    check(np.array_equal(out["counts_frames"], all_counts[:-1]), "other counts of a range")
    run = suite.run(["run", suite.deck("bad.yaml", deck(name, f"1:{FRAMES}", **more)), "-o", suite.path("bad.h5")],
                    env=ENV)
    for words in ("tri.input.frames", f"the file has frames 1 to {FRAMES - 1}; frame {FRAMES} is cut off ("):
        check(run.status == 2 and words in run.out + run.err, f"{words}: {run.tail()}")


def alone(name, data, what):
    """Where the first frame is cut off there is nothing to keep."""
    put(name, data)
    status, said = plan(name)
    for words in (name, "frame 1 is cut off (", "there is no other"):
        check(status == 2 and words in said, f"{what}: exit {status}: '{words}' is missing in {said[-400:]}")


def frame_bytes(data, header=0):
    return (len(data) - header) // FRAMES


def binary_case(ending, n):
    name = f"a{n}{ending}"
    data = write(name, n)
    all_counts = result(name)[0]["counts_frames"]
    begin = {}
    with open(suite.path(name), "rb") as file:
        begin = starts(ending, file.read(), n)
    check(begin[-1] == len(data), f"frames are {begin}, the file has {len(data)} bytes")
    last, first = begin[-2], begin[0]
    whole(name, data[:last] + data[last:], "whole")
    cuts = {last + 1, last + 4, last + 56, last + 83, last + 91, last + 92, (last + len(data)) // 2, len(data) - 4,
            len(data) - 1}
    for cut in sorted(c for c in cuts if last < c < len(data)):
        named(name, data[:cut], f"{cut - last} of {len(data) - last} bytes")
    kept(name, data[:len(data) - 5], all_counts)
    for cut in (first + 60, (first + begin[1]) // 2, begin[1] - 1):
        alone(name, data[:cut], f"{cut} bytes in all")
    put(name, data[:last])  # a cut between frames is none, but what a DCD's header announces
    status, said = plan(name)
    check(status == 0 and f"{FRAMES - 1} frames of" in said and "cut off" not in said, said[-400:])
    check((f"announces {FRAMES} frames, of which {FRAMES - 1} are there" in said) == (ending == ".dcd"), said[-400:])


def starts(ending, data, n):
    """Where frames begin, and the end: of XTC by its magic number and sizes, of others by equal sizes."""
    if ending != ".xtc":
        header = len(data) % (3 * (8 + 4 * n) + 56) if ending == ".dcd" else 0
        size = frame_bytes(data, header)
        return [header + k * size for k in range(FRAMES + 1)]
    at, found = 0, [0]
    while at < len(data):
        check(struct.unpack(">ii", data[at:at + 8]) == (1995, n), "no XTC")
        at += 56 + 12 * n if n <= 9 else 92 + -(-struct.unpack(">i", data[at + 88:at + 92])[0] // 4) * 4
        found.append(at)
    return found


def broken_case(ending):
    """What is no frame between frames ends the run."""
    name = "broken" + ending
    data = write(name, 30)
    begin = starts(ending, data, 30)
    put(name, data[:begin[2]] + b"\0" * 4 + data[begin[2] + 4:])
    status, said = plan(name)
    check(status == 2 and name in said and f"frame 3 does not begin at byte {begin[2]}" in said, said[-400:])


def netcdf_case():
    data = write("a.nc", 30)
    put("a.nc", data[:-50])
    status, said = plan("a.nc")
    check(status == 0 and "frame 4 cannot be read and is left out (chemfiles: " in said, said[-400:])


def gro_case():
    """Wherever the last frame is cut, the others are kept; a cell without the end of its line is one."""
    data = write("a.gro", 30)
    all_counts = result("a.gro")[0]["counts_frames"]
    begin = len(data) // FRAMES * (FRAMES - 1)
    check(begin * FRAMES == len(data) * (FRAMES - 1), "frames of unequal sizes")
    line = len(data) - data.rstrip().rfind(b"\n") - 1  # and its end
    for less in (2, 4, 8, line - 14, line - 1, line):
        named("a.gro", data[:-less], f"{less} bytes less")
    head = data.index(b"\n", data.index(b"\n", begin) + 1) + 1
    for cut, words in ((len(data) - line - 1, "29 of 30 atoms"), (len(data) - 9 * line, " of 30 atoms"), (head, "0 of 30 atoms"),
                       (head - 1, "its head"), (begin + 1, "its head")):
        named("a.gro", data[:cut], f"{cut - begin} bytes")
        check(words in plan("a.gro")[1], f"{cut - begin} bytes: {plan('a.gro')[1][-300:]}")
    for cut in (len(data) - 9, head + 100, head - 1):
        kept("a.gro", data[:cut], all_counts)
    whole("a.gro", data[:-1], "no end of the last line")
    whole("a.gro", data + b"\n", "an empty line")
    one = data[:len(data) // FRAMES]
    for cut in (len(one) - 4, head - begin + 100, head - begin - 1):
        alone("a.gro", one[:cut], f"{cut} bytes of one frame")


def dump_text(n, columns="id type x y z", cell="pp pp pp", line_end="\n"):
    """A LAMMPS dump, atoms in an order of their own, and where frames begin."""
    rng, text, begin = np.random.default_rng(n), "", []
    for k, x in enumerate(places(n)):
        begin.append(len(text))
        text += f"ITEM: TIMESTEP\n{100 * k}\nITEM: NUMBER OF ATOMS\n{n}\nITEM: BOX BOUNDS {cell}\n0 14\n0 15\n0 16\n"
        text += f"ITEM: ATOMS {columns}\n" + "".join(f"{i + 1} 1 {x[i, 0]:.2f} {x[i, 1]:.2f} {x[i, 2]:.2f}\n"
                                                     for i in rng.permutation(n))
    return text.replace("\n", line_end), [b + text[:b].count("\n") * (len(line_end) - 1) for b in begin] + \
        [len(text.replace("\n", line_end))]


def dump_case(n, line_end):
    """chemfiles refuses all of a file whose last frame lacks a line."""
    text, begin = dump_text(n, line_end=line_end)
    name, last, whole_text = "a.lammpstrj", begin[3], text.encode()
    whole(name, whole_text, "whole")
    out, _ = result(name, precision="fp64")
    truth = np.array(dcd_truth(0, n))
    check(np.array_equal(out["counts_frames"], truth), "other counts than numpy's")
    atoms = text.index("ITEM: ATOMS", last)
    first = text.index("\n", atoms) + 1
    lines = [k + 1 for k in range(first, len(text)) if text[k] == "\n"]
    for cut, words in ((last + 3, "its head"), (last + 14, "its head"), (last + 40, "its head"),
                       (atoms - 3, f"0 of {n} atoms"), (atoms + 5, f"0 of {n} atoms"), (first, f"0 of {n} atoms"), (first + 4, f"0 of {n} atoms"),
                       (lines[0], f"1 of {n} atoms"), (lines[-2] + 3, f"{n - 1} of {n} atoms"),
                       (len(text) - 1 - (line_end == "\r\n"), f"{n - 1} of {n} atoms")):
        named(name, whole_text[:cut], f"cut at {cut - last}")
        check(words in plan(name)[1], f"cut at {cut - last}: no '{words}' in {plan(name)[1][-300:]}")
    put(name, whole_text[:lines[-2] + 3])
    kept(name, whole_text[:lines[-2] + 3], truth, precision="fp64")
    for cut in (40, begin[1] - 3):
        alone(name, whole_text[:cut], f"{cut} bytes in all")
    put(name, whole_text[:last])  # a cut between frames is none
    status, said = plan(name)
    check(status == 0 and "3 frames of" in said and "cut off" not in said, said[-400:])


def dump_long_case():
    """The frame's beginning is further from the file's end than what is read first."""
    text, begin = dump_text(60000)
    check(begin[4] - begin[3] > 1 << 20, "frames are too short for this")
    named("long.lammpstrj", text[:-9].encode(), "9 bytes less", range=[0, 1])
    check("59999 of 60000 atoms" in plan("long.lammpstrj", range=[0, 1])[1], "other atoms")


def ranks_case(name):
    """Frames before a broken one are shared by ranks and threads."""
    data = write(name, 60) if name.endswith(".gro") else dump_text(60)[0].encode()
    put(name, data[:-400])
    tree = deck(name)
    tree["run"].update({"threads": 2, "ranks": "all"})
    found = []
    for ranks in (1, 2, 3):
        with suite.result(tree, ranks=ranks, env=ENV) as file:
            found.append(harness.datasets(file)["counts_frames"].tobytes())
    check(found[0] == found[1] == found[2] and len(found[0]) == (FRAMES - 1) * 20 * 8, "other counts")


# ------------------------------------------------------------------- DCD


def dcd(order, wide, cell, fixed, announced=FRAMES, n=30, four=False):
    """A file as CHARMM writes it (24), or X-PLOR (0) without a cell. Returns the file and where frames begin."""
    def record(body):
        mark = struct.pack(order + ("q" if wide else "i"), len(body))
        return mark + body + mark

    version = 24 if cell or four else 0
    numbers = [announced, 1, 1, announced, 0, 0, 0, 0, fixed]
    numbers += [struct.unpack(order + "i", struct.pack(order + "f", 0.5))[0], int(cell), int(four)] if version else \
        list(struct.unpack(order + "ii", struct.pack(order + "d", 0.5))) + [0]
    numbers += [0] * 7 + [version]
    text = record(b"CORD" + struct.pack(order + "20i", *numbers))
    text += record(struct.pack(order + "i", 2) + b"a title".ljust(80) + b"another".ljust(80))
    text += record(struct.pack(order + "i", n))
    if fixed:
        text += record(struct.pack(order + f"{n - fixed}i", *range(1, n - fixed + 1)))
    begin = []
    for k, x in enumerate(places(n)):
        begin.append(len(text))
        m = n - fixed if k > 0 else n
        if cell:
            text += record(struct.pack(order + "6d", 14, 90, 15, 90, 90, 16))
        for axis in range(3):
            text += record(struct.pack(order + f"{m}f", *x[:m, axis]))
        if four:
            text += record(struct.pack(order + f"{m}f", *([0.0] * m)))
    return text, begin + [len(text)]


def dcd_truth(fixed, n=30):
    x = np.array(places(n))
    x[:, n - fixed:] = x[0, n - fixed:]
    i, j = np.triu_indices(n, 1)
    d = x[:, i] - x[:, j]
    d -= np.round(d / [14, 15, 16]) * [14, 15, 16]
    edges = np.linspace(0, 5, 21)
    r = np.linalg.norm(d, axis=2)
    sure = np.abs(r[..., None] - edges).min() > 1e-6
    check(sure, "a pair is at an edge: take other places")
    return [np.histogram(row, edges)[0] for row in r]


def dcd_case(order, wide, cell, fixed, four=False):
    more = {"precision": "fp64"} if cell else {"precision": "fp64", "box": [14, 15, 16]}
    data, begin = dcd(order, wide, cell, fixed, four=four)
    whole("own.dcd", data, "whole", **more)
    out, _ = result("own.dcd", **more)
    check(np.array_equal(out["counts_frames"], dcd_truth(fixed)), "other counts than numpy's")
    for cut in (begin[3] + 1, begin[3] + 60, begin[4] - 5, begin[4] - 1):
        named("own.dcd", data[:cut], f"{cut - begin[3]} bytes of {begin[4] - begin[3]}", **more)
    kept("own.dcd", data[:-9], out["counts_frames"], **more)
    for cut in (begin[0], begin[0] + 1, begin[1] - 1):
        alone("own.dcd", data[:cut], f"{cut} of {begin[1]} bytes")
    for cut in (30, 90, begin[0] - 1):
        put("own.dcd", data[:cut])
        status, said = plan("own.dcd", **more)
        check(status == 2 and "own.dcd: its header is cut off or broken at byte" in said, said[-400:])


def dcd_header_case():
    """A header whose count is old, as of a simulation that goes on, is no error."""
    for announced in (0, 3):
        whole("old.dcd", dcd("<", False, True, 0, announced)[0], f"{announced} announced")
    put("old.dcd", dcd("<", False, True, 0, 9)[0])
    status, said = plan("old.dcd")
    check(status == 0 and "the header announces 9 frames, of which 4 are there" in said, said[-400:])


# ------------------------------------------------------------------- PDB


def pdb_text(n, end, first="MODEL {:8d}\n", last=""):
    text, begin = "", []
    for k, x in enumerate(places(n)):
        begin.append(len(text))
        text += "CRYST1   14.000   15.000   16.000  90.00  90.00  90.00 P 1           1\n" + first.format(k + 1)
        for i, p in enumerate(x):
            text += f"ATOM  {i + 1:5d} Ar   RES A   1    {p[0]:8.3f}{p[1]:8.3f}{p[2]:8.3f}  1.00  0.00          Ar\n"
        text += end
    return text + last, begin + [len(text)]


def pdb_case(end, last):
    n = 30
    text, begin = pdb_text(n, end, last=last)
    whole("a.pdb", text.encode(), "whole")
    all_counts = result("a.pdb")[0]["counts_frames"]
    atoms = begin[3] + text[begin[3]:].index("ATOM")
    line = text[atoms:].index("\n") + 1
    for cut, found in ((begin[3] + 3, 0), (begin[3] + 20, 0), (atoms + 20, 0), (atoms + line, 1),
                       (atoms + 7 * line + 53, 7), (atoms + 7 * line + 54, 8), (atoms + n * line - 1, n),
                       (atoms + n * line, n), (atoms + n * line + 2, n)):
        named("a.pdb", text[:cut].encode(), f"cut at {cut - begin[3]}")
        _, said = plan("a.pdb")
        check(f"({found} of {n} atoms are there, without an END)" in said, f"{cut - begin[3]}: {said[-300:]}")
    kept("a.pdb", text[:atoms + 9 * line + 7].encode(), all_counts)
    for more in ("\n \n", "EN", "\r\n"):
        whole("a.pdb", (text[:begin[4]] + more).encode(), f"and {more!r}")
    put("a.pdb", text[:begin[1] - len(end)].encode())  # one frame, all of it but the END
    status, said = plan("a.pdb")
    check(status == 0 and "frame 1 has no END" in said, said[-400:])


def long_tail_case():
    """The END is further from the file's end than what is read first."""
    text, begin = pdb_text(40000, "ENDMDL\n")
    name = "long.pdb"
    put(name, text[:begin[4] - 9].encode())
    status, said = plan(name, range=[0, 1])
    check(status == 0 and "frame 4 is cut off (40000 of 40000 atoms" in said, said[-400:])


for kind, atoms in ((".xtc", 150), (".xtc", 5), (".trr", 150), (".trr", 5), (".dcd", 150)):
    suite.case(f"{kind}, {atoms} atoms", binary_case, kind, atoms)
for kind in (".xtc", ".trr"):
    suite.case(f"broken {kind}", broken_case, kind)
suite.case("NetCDF", netcdf_case)
suite.case("GRO", gro_case)
suite.case("LAMMPS dump", dump_case, 30, "\n")
suite.case("LAMMPS dump, lines of Windows", dump_case, 7, "\r\n")
suite.case("LAMMPS dump, a long frame", dump_long_case)
suite.case("LAMMPS dump, ranks", ranks_case, "r.lammpstrj")
suite.case("GRO, ranks", ranks_case, "r.gro")
for shape in (("<", False, True, 0), (">", False, True, 0), ("<", False, False, 0), ("<", True, True, 0),
              (">", True, False, 0), ("<", False, True, 7), (">", False, False, 7)):
    suite.case(f"DCD {shape}", dcd_case, *shape)
suite.case("DCD with a fourth coordinate", dcd_case, "<", False, True, 0, True)
suite.case("DCD, an old header", dcd_header_case)
for words in (("ENDMDL\n", ""), ("ENDMDL\n", "END\n"), ("END\n", ""), ("TER\nENDMDL\nEND\n", "")):
    suite.case(f"PDB {words}", pdb_case, *words)
suite.case("PDB, a long frame", long_tail_case)
suite.end()
