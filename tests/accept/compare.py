#!/usr/bin/env python3
"""tools/compare finds what differs in two outputs, where, and by how much; and refuses the rest.

usage: compare.py TESELA [--fast] [ONLY]

Outputs of the program are copied and changed with h5py at known places.
"""
import os
import re
import resource
import shutil
import sys

import harness
from harness import check, h5py, np

suite = harness.Suite(__doc__)
TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "compare")
HEAD = {"family": "tri", "run": {"device": "cpu"}}


def output(name, **tri):
    with suite.result({**HEAD, "tri": {"generator": {"kind": "clusters", "n": 60}, **tri}}, name=name):
        pass


output("square", function="euclidean", output="square")
output("condensed", function="euclidean", output="condensed")
output("histogram", function="euclidean", output="histogram", range=[0, 1], bins=20)


def changed(source, change):
    """A copy of an output, changed by change(file)."""
    shutil.copyfile(suite.path(source + ".h5"), suite.path("b.h5"))
    with h5py.File(suite.path("b.h5"), "r+") as file:
        change(file)
    return "b.h5"


def compare(*args, limit=None):
    def prepare():
        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    done = harness.completed([sys.executable, TOOL, *args], 300, cwd=suite.folder, text=True, preexec_fn=prepare)
    check("Traceback" not in done.stderr, done.stderr[-800:])
    return done.returncode, done.stdout, done.stderr


def expect(status, args, *needles):
    """The tool ends with the status and says the needles, on standard error when it refuses."""
    code, out, err = compare(*args)
    text = err if status == 2 else out
    check(code == status, f"exit {code}, expected {status}: {out[-500:]}{err[-500:]}")
    check(status != 2 or not out or "differ" not in out, f"a verdict before the refusal: {out}")
    for needle in needles:
        check(needle in text, f"no '{needle}' in: {text}")
    return text


# ------------------------------------------------------------- differences


def equal(name):
    expect(0, [name + ".h5", name + ".h5"], "equal")
    tree = {"square": "square", "condensed": "condensed"}.get(name)
    if tree:  # the same deck once more, with other units
        with suite.result({**HEAD, "run": {"device": "cpu", "units": 7}, "tri": {
                "generator": {"kind": "clusters", "n": 60}, "function": "euclidean", "output": tree}}, name="again"):
            pass
        expect(0, [name + ".h5", "again.h5"], "distances", "equal")


def two_cells():
    def change(file):
        file["results/distances"][7, 3] += 0.5
        file["results/distances"][41, 11] *= 1.001

    text = expect(1, ["square.h5", changed("square", change)], "2 of 3,600 cells", "rows 7 to 41, columns 3 to 11",
                  "absolute difference 0.5 at (7, 3)", "at (41, 11)", "1 difference")
    check(text.count("at (7, 3)") >= 2, text)


def largest_relative():
    def change(file):
        data = file["results/distances"]
        data[10, 2] = 4 * data[10, 2]
        data[20, 2] = data[20, 2] + 2.5

    with h5py.File(suite.path("square.h5")) as file:
        a, b = file["results/distances"][10, 2], file["results/distances"][20, 2]
    check(3 * a < 2.5 and 2.5 / (b + 2.5) < 0.75, "the example does not separate the two")
    expect(1, ["square.h5", changed("square", change)], "absolute difference 2.5 at (20, 2)",
           "relative difference 0.75 at (10, 2)")


def tolerance():
    def change(file):
        file["results/distances"][7, 3] = 2.0
        file["results/distances"][8, 3] = 100.0

    def base(file):
        change(file)
        file["results/distances"][7, 3] = 2.0 + 2.0**-10
        file["results/distances"][8, 3] = 101.0

    shutil.copyfile(suite.path(changed("square", base)), suite.path("a.h5"))
    args = ["a.h5", changed("square", change)]
    expect(1, args, "2 of 3,600")
    expect(1, [*args, "--tolerance", "0.001"], "1 of 3,600", "rows 8 to 8")
    expect(1, [*args, "--tolerance", "0.5/0.001"], "1 of 3,600", "rows 8 to 8")
    expect(0, [*args, "--tolerance", "0/0.01"], "equal")
    expect(0, [*args, "--tolerance", "1"], "equal")
    expect(1, [*args, "--tolerance", f"{2.0**-10 * 0.999}"], "2 of 3,600")


def one_dimension():
    def change(file):
        file["results/distances"][123] = -1
        file["results/distances"][1500] = -1

    expect(1, ["condensed.h5", changed("condensed", change), "--png", "diff.png"], "2 of 1,770 cells",
           "cells 123 to 1500", "at (123)", "diff.png")


def counts():
    """Unsigned 64-bit integers, the difference beyond the digits of a double."""
    def change(file):
        file["results/counts"][4] = 2**64 - 1
        file["results/counts"][5] = 2**64 - 2

    expect(1, ["histogram.h5", changed("histogram", change)], "counts", "2 of 20 cells", "at (4)",
           "18446744073709551615 in B")

    def same(file):
        change(file)
        file["results/counts"][5] = 2**64 - 1

    shutil.copyfile(suite.path(changed("histogram", same)), suite.path("a.h5"))
    expect(1, ["a.h5", changed("histogram", change)], "1 of 20 cells", "absolute difference 1 at (5)")


def not_numbers():
    def change(file):
        file["results/distances"][3, 1] = np.nan
        file["results/distances"][4, 1] = np.inf
        file["results/distances"][5, 5] = -0.0

    b = changed("square", change)
    expect(1, ["square.h5", b, "--tolerance", "1e30/0.9"], "2 of 3,600", "rows 3 to 4", "difference inf")
    shutil.copyfile(suite.path(b), suite.path("a.h5"))
    expect(0, ["a.h5", "b.h5"], "equal")


def replaced(name, data):
    def change(file):
        old = dict(file["results"][name].attrs)
        del file["results"][name]
        file["results"][name] = data
        for key, value in old.items():
            if key not in ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME"):
                file["results"][name].attrs[key] = value

    return change


def shapes_and_types():
    with h5py.File(suite.path("square.h5")) as file:
        data = file["results/distances"][()]
    expect(1, ["square.h5", changed("square", replaced("distances", data[:, :50]))], "shape [60][60] in A, [60][50] in B")
    text = expect(1, ["square.h5", changed("square", replaced("distances", data.astype("f8")))],
                  "type float32 in A, float64 in B")
    check("cells differ" not in text, text)
    data = data.astype("f8")
    data[1, 0] = 9
    expect(1, ["square.h5", changed("square", replaced("distances", data))], "type", "1 of 3,600")


def missing_field():
    def change(file):
        del file["results/edges"]
        file["results/extra"] = 1.5

    expect(1, ["histogram.h5", changed("histogram", change)], "edges", "only in A", "extra", "only in B", "2 differences")
    expect(0, ["histogram.h5", "b.h5", "--field", "counts"], "equal")
    expect(1, ["histogram.h5", "b.h5", "--field", "edges"], "only in A")
    expect(2, ["histogram.h5", "b.h5", "--field", "count"], "'count'", "counts")


def attributes():
    def change(file):
        file["results"].attrs["points"] = 61.0
        file["results/edges"].attrs["unit"] = "m"
        del file["results/counts"].attrs["doc"]

    expect(1, ["histogram.h5", changed("histogram", change)], "line points: 60 in A, 61 in B",
           "attribute unit: 1 in A, m in B", "doc: only in A", "3 differences")
    expect(1, ["histogram.h5", "b.h5", "--tolerance", "1"], "2 differences")


def coordinates():
    """A dimension scale that is not in /results is compared with the field."""
    def base(value):
        def change(file):
            file["input/x"] = np.linspace(0, value, 60)
            file["input/x"].make_scale("x")
            file["results/distances"].dims[1].attach_scale(file["input/x"])
        return change

    shutil.copyfile(suite.path(changed("square", base(1))), suite.path("a.h5"))
    expect(0, ["a.h5", "a.h5"], "/input/x")
    expect(1, ["a.h5", changed("square", base(2))], "/input/x", "59 of 60 cells")


# ------------------------------------------------------------------- size


def memory():
    """400 MB of cells in an address space that does not hold them."""
    def change(value):
        def fill(file):
            file.create_dataset("results/big", (10000, 10000), "f4", chunks=(64, 10000), fillvalue=1)
            file["results/big"][9999, 9998] = value
            file.create_dataset("results/wide", (1, 1, 30_000_000), "u1", fillvalue=int(value))
            file["results/wide"][0, 0, 29_999_999] = 5
        return fill

    shutil.copyfile(suite.path(changed("square", change(1))), suite.path("a.h5"))
    code, out, err = compare("a.h5", changed("square", change(2)), limit=450 << 20)
    check(code == 1, f"exit {code}: {out[-300:]} {err[-600:]}")
    check("1 of 100,000,000 cells" in out and "rows 9999 to 9999, columns 9998" in out, out)
    check("29,999,999 of 30,000,000 cells" in out and "layers 0 to 29999998" in out, out)
    for name in "ab":
        os.remove(suite.path(name + ".h5"))


# ---------------------------------------------------------------- picture


def picture_pixels(path):
    import matplotlib.image
    return matplotlib.image.imread(suite.path(path))


def picture():
    """One differing cell of 1000 x 1000 is seen; equal files give a picture of nothing."""
    data = np.zeros((1000, 1000), "u2")

    def add(file):
        file["results/plane"] = data

    shutil.copyfile(suite.path(changed("square", add)), suite.path("a.h5"))
    expect(0, ["a.h5", "a.h5", "--field", "plane", "--png", "none.png"], "none.png")
    data[500, 250] = 3
    expect(1, ["a.h5", changed("square", add), "--png", "one.png"], "plane", "1 of 1,000,000", "(500, 250)")
    none, one = picture_pixels("none.png"), picture_pixels("one.png")
    bright = (one[..., :3].max(axis=2) - one[..., :3].min(axis=2)) > 0.3
    check(bright.any(), "the cell is not in the picture")
    check(not ((none[..., :3].max(axis=2) - none[..., :3].min(axis=2)) > 0.3).any(), "a cell where nothing differs")


def no_picture():
    code, _, err = compare("square.h5", "condensed.h5", "--png", "no.png")
    check(code == 1 and "no.png not written" in err, f"exit {code}: {err}")
    expect(2, ["square.h5", "square.h5", "--png", "nowhere/no.png"], "nowhere/no.png")
    check(not os.path.exists(suite.path("no.png")), "a picture of nothing")


# ---------------------------------------------------------------- refusals


def refused():
    with open(suite.path("square.h5"), "rb") as file:
        whole = file.read()
    suite.write("cut.h5", whole[:len(whole) // 2])
    suite.write("text.h5", "no HDF5\n")
    suite.write("empty.h5", "")
    with h5py.File(suite.path("other.h5"), "w") as file:
        file["results/x"] = 1
    changed("square", lambda file: file.attrs.modify("tesela_format", 99))
    for name, needle in (("none.h5", "No such file"), ("cut.h5", "truncated"), ("text.h5", "signature"),
                         ("empty.h5", "empty.h5"), (".", "."), ("other.h5", "not an output"), ("b.h5", "layout 99")):
        expect(2, ["square.h5", name], name, needle)
        expect(2, [name, "square.h5"], name, needle)


def broken_inside():
    """A byte of a chunk is turned: the checksum finds it."""
    def pack(file):
        data = file["results/distances"][()]
        del file["results/distances"]
        file.create_dataset("results/distances", data=data, chunks=(60, 60), fletcher32=True)

    changed("square", pack)
    with h5py.File(suite.path("b.h5")) as file:
        offset = file["results/distances"].id.get_chunk_info(0).byte_offset
    shutil.copyfile(suite.path("b.h5"), suite.path("a.h5"))
    with open(suite.path("b.h5"), "r+b") as file:
        file.seek(offset + 100)
        byte = file.read(1)[0]
        file.seek(offset + 100)
        file.write(bytes([byte ^ 1]))
    expect(2, ["a.h5", "b.h5"], "b.h5", "distances")


def usage():
    expect(2, ["square.h5"], "B.h5")
    expect(2, ["square.h5", "square.h5", "--tolerance", "-1"], "--tolerance")
    expect(2, ["square.h5", "square.h5", "--tolerance", "a/b"], "a/b")
    expect(2, ["square.h5", "square.h5", "--tolerance", "nan"], "nan")
    code, out, _ = compare("--help")
    check(code == 0 and re.search(r"--field", out) and "Exit status" in out, out)


RING = "; ".join(f"{s} {r * np.cos(k * np.pi / 3):.10f} {r * np.sin(k * np.pi / 3):.10f} 0"
                 for s, r in (("C", 1.3915), ("H", 2.4715)) for k in range(6))


def field(name, **xc):
    """A field with degenerate levels."""
    section = {"molecule": {"atoms": f'"{RING}"'}, "basis": "STO-3G", "functional": "pbe", "grid": {"preset": "coarse"}, **xc}
    suite.result({"family": "xc", "run": {"device": "cpu"}, "xc": section}, name=name, timeout=300).close()


def physical():
    """Other signs, other orbitals of one level and another way there are no difference; another density is."""
    field("ring", task="gradient")
    field("again", task="gradient", guess={"file": "ring.h5"}, scf={"commutator": 1e-6})
    expect(0, ["ring.h5", "again.h5", "--physical"], "same       total energy", "same       gradient", "left out: history")
    expect(1, ["ring.h5", "again.h5"])

    def gauge(file):
        orbitals, levels = file["results/orbitals"], file["results/orbital_energies"][0]
        orbitals[0, 3] *= -1
        pair = next(k for k in range(2, 20) if abs(levels[k + 1] - levels[k]) < 1e-5)  # of equal levels
        one, other = orbitals[0, pair], orbitals[0, pair + 1]
        orbitals[0, pair], orbitals[0, pair + 1] = 0.6 * one + 0.8 * other, 0.8 * one - 0.6 * other
        file["results/history"][...] = 0

    expect(0, ["ring.h5", changed("ring", gauge), "--physical"])

    def mixed(file):  # orbitals of unlike levels
        orbitals = file["results/orbitals"]
        one, other = orbitals[0, 0], orbitals[0, 20]
        orbitals[0, 0], orbitals[0, 20] = 0.6 * one + 0.8 * other, 0.8 * one - 0.6 * other

    def denser(file):
        file["results/density"][0, 5, 5] += 1e-3

    def lower(file):
        file["results"].attrs["total energy"] -= 1e-6

    def steeper(file):
        file["results/gradient"][0, 0] += 1e-4

    def nan(file):
        file["results/fock"][0, 1, 1] = np.nan

    for change, needle in ((mixed, "DIFFERENT  orbitals"), (denser, "DIFFERENT  density"), (lower, "DIFFERENT  total energy"),
                           (steeper, "DIFFERENT  gradient"), (nan, "DIFFERENT  fock")):
        expect(1, ["ring.h5", changed("ring", change), "--physical"], needle)
    expect(2, ["square.h5", "square.h5", "--physical"], "family xc")
    expect(2, ["ring.h5", "ring.h5", "--physical", "--field", "density"], "no other option")


for each in ("square", "condensed", "histogram"):
    suite.case(f"equal, {each}", equal, each)
for case in (two_cells, largest_relative, tolerance, one_dimension, counts, not_numbers, shapes_and_types, missing_field,
             attributes, coordinates, memory, picture, no_picture, refused, broken_inside, usage):
    suite.case(case.__name__.replace("_", " "), case)
if suite.run(["help", "xc"]).status == 0:  # a build with the family
    suite.case("physical", physical)
suite.end()
