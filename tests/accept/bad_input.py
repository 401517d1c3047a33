#!/usr/bin/env python3
"""Bad input gets a clear message, the promised exit status, and leaves nothing behind.

usage: bad_input.py TESELA [--fast] [ONLY]

Each case runs alone and with two ranks (--fast: with two ranks only where ranks matter). The message
is printed once, names the place, and all ranks leave within 20 s.
"""
import gzip
import os
import resource
import signal
import subprocess
import time

import harness
import refusal
from harness import check, h5py, np
from refusal import LIMIT

suite = harness.Suite(__doc__, jobs=4)
refusals = refusal.Refusals(suite)
listing, refuse, both = refusals.listing, refusals.refuse, refusals.both

GOOD = """\
family: tri
tri:
  function: euclidean
  output: condensed
  generator:
    kind: uniform
    n: 100
"""


def change(old, new, base=GOOD):
    return refusal.change(old, new, base)


def from_file(file, *more, function="euclidean", output="condensed", keys=""):
    lines = "".join(f"    {line}\n" for line in more)
    return (f"family: tri\ntri:\n  function: {function}\n  output: {output}\n{keys}  input:\n"
            f"    file: {file}\n{lines}")


# ------------------------------------------------------------------- decks


def deck_cases():
    both("unknown key", change("function:", "functon:"), ["bad.yaml:3", "functon", "function"],
         ranks_matter=True)
    both("unknown nested key", change("kind: uniform", "kimd: uniform"), ["bad.yaml:6", "kimd", "kind"])
    both("unknown run key", GOOD + "run:\n  devise: cpu\n", ["bad.yaml:9", "devise", "device"])
    both("unknown output key", GOOD + "output:\n  overwrit: yes\n", ["bad.yaml:9", "overwrit", "overwrite"])
    both("unknown section", GOOD + "ruin:\n  device: cpu\n", ["bad.yaml:8", "ruin", "run"])
    both("unknown family", change("family: tri", "family: tru"), ["bad.yaml:1", "tru", "tri"])
    both("no family", GOOD.replace("family: tri\n", ""), ["bad.yaml", "family"])
    both("empty deck", "", ["bad.yaml"])
    both("required key missing", change("  function: euclidean\n", ""), ["bad.yaml", "function"])
    both("misspelt word", change("euclidean", "euclidian"), ["bad.yaml:3", "euclidian", "euclidean"])
    both("word for a number", change("n: 100", "n: many"), ["bad.yaml:7", "many"])
    both("broken for a whole number", change("n: 100", "n: 2.5"), ["bad.yaml:7", "2.5"])
    both("map for a number", change("n: 100", "n: {a: 1}"), ["bad.yaml:7"])
    both("scalar for a map", change("  generator:\n    kind: uniform\n    n: 100\n", "  generator: 3\n"),
         ["bad.yaml:5", "generator"])
    both("precision fp8", GOOD + "  precision: fp8\n", ["bad.yaml:8", "fp8", "fp16"])
    both("negative n", change("n: 100", "n: -5"), ["bad.yaml:7", "-5"], ranks_matter=True)
    both("huge n", change("n: 100", "n: 4e9"), ["bad.yaml:7"])
    both("huge n beyond 64 bits", change("n: 100", "n: 1e30"), ["bad.yaml:7"])
    both("n x d beyond memory", change("n: 100", "n: 2147483519\n    d: 1000000"),
         ["bad.yaml:7: tri.generator.n", "memory", "lower n or d"], ranks_matter=True)
    both("duplicate key", GOOD + "  output: square\n", ["bad.yaml:8", "output"])
    both("no YAML", "family: tri\ntri: [1, 2\n", ["bad.yaml:"])
    both("tab", "family: tri\ntri:\n\tfunction: euclidean\n", ["bad.yaml:3:1", "a tab"])
    both("a mark that is no tab", "family: tri\ntitle: ñandú\ntri: @x\n", ["bad.yaml:3:6", "cannot start"])
    suite.case("byte order mark", byte_order_mark)
    both("word for yes or no", GOOD + "output:\n  overwrite: maybe\n", ["bad.yaml:9", "yes or no", "maybe"])
    both("unused key", GOOD + "  bins: 5\n", ["bad.yaml:8", "bins", "condensed"])
    both("unknown plan", GOOD + "run:\n  plan: stripes\n", ["bad.yaml:9", "stripes", "strips"])
    both("dynamic above 1", GOOD + "run:\n  dynamic: 1.5\n", ["bad.yaml:9", "1.5"])
    both("share without a number", GOOD + "run:\n  plan: share\n", ["bad.yaml:9", "gpu_share"])
    both("share for another plan", GOOD + "run:\n  gpu_share: 0.5\n", ["bad.yaml:9", "not used by plan strips"])
    both("share above 1", GOOD + "run:\n  plan: share\n  gpu_share: 1.5\n", ["bad.yaml:10", "1.5"])
    suite.case("share with one side", one_sided)
    both("memory too small", GOOD + "run:\n  memory: 1 kB\n", ["bad.yaml:9", "memory"])
    both("memory without sense", GOOD + "run:\n  memory: lots\n", ["bad.yaml:9", "lots"])
    both("bad override", GOOD, ["tri.generator.m"], args=["--set", "tri.generator.m=5"])
    both("override without value", GOOD, ["tri.bins"], args=["--set", "tri.bins"])
    both("override of a wrong type", GOOD, ["few"], args=["--set", "tri.generator.n=few"])
    suite.case("missing deck", missing_deck, None)
    suite.case("missing deck, 2 ranks", missing_deck, 2)


def byte_order_mark():
    suite.write("marked.yaml", "\ufeff" + GOOD)
    run = suite.run(["run", "marked.yaml", "-q", "-o", "marked.h5"], timeout=LIMIT)
    check(run.status == 0, run.tail())
    refuse("\ufeff" + change("n: 100", "n: many"), ["bad.yaml:7", "many"])


def one_sided():
    suite.write("bad.yaml", GOOD + "run:\n  plan: share\n  gpu_share: 0.5\n")
    run = suite.run(["run", "bad.yaml", "-o", "out.h5"], None, timeout=LIMIT)
    check(run.status == 2 and "no rank is on that side" in run.err, run.tail())
    check(not os.path.exists(suite.path("out.h5")), "an output was left")


def missing_deck(ranks):
    run = suite.run(["run", "nothing.yaml"], ranks, timeout=LIMIT)
    check(run.status == 2 and "nothing.yaml" in run.err, run.tail())


# ------------------------------------------------------------------ points


def text_cases():
    suite.write("ragged.csv", "1,2,3\n4,5,6\n7,8\n")
    suite.write("word.csv", "1,2,3\n4,five,6\n")
    suite.write("nan.csv", "x,y\n1,2\n3,nan\n")
    suite.write("inf.csv", "1,2\n3,4\n-inf,5\n")
    suite.write("huge.csv", "1,2\n1e999,4\n")
    suite.write("hole.csv", "1,2,3\n4,,6\n")
    suite.write("hex.csv", "0x10,1\n2,3\n")
    both("ragged text", from_file("ragged.csv"), ["bad.yaml:6", "ragged.csv:3", "2", "3"], ranks_matter=True)
    both("word in text", from_file("word.csv"), ["word.csv:2", "five"])
    both("NaN in text", from_file("nan.csv"), ["nan.csv:3", "nan"])
    both("Inf in text", from_file("inf.csv"), ["inf.csv:3", "inf"])
    both("overflow in text", from_file("huge.csv"), ["huge.csv:2", "1e999"])
    suite.write("nothing.csv", "# nothing but a comment\n")
    suite.write("heading.csv", "x,y,z\n")
    suite.write("missing.csv", "NA,NA,NA\n1,2,3\n")
    both("text without rows", from_file("nothing.csv"), ["bad.yaml:6", "nothing.csv", "no numbers"])
    both("a header alone", from_file("heading.csv"), ["bad.yaml:6", "heading.csv", "only a header"])
    both("missing values in the first line", from_file("missing.csv"), ["bad.yaml:6", "missing.csv:1", "'NA'"])
    both("empty field", from_file("hole.csv"), ["hole.csv:2"])
    both("hexadecimal", from_file("hex.csv", "header: no"), ["hex.csv:1", "0x10"])
    suite.write("commas.csv", "1,5;2,5\n3,5;4,5\n")
    suite.write("quoted.csv", '"1,5","2,5"\n')
    suite.write("blanks.csv", "1,5 2,5\n3,5 4,5\n")
    suite.write("tabs.csv", "1,5\t2\n3,5\t4\n")
    suite.write("mixed.csv", "1,5\n2\n")
    point = "decimals have a point"
    both("decimal commas", from_file("commas.csv"), ["bad.yaml:6", "commas.csv:1", "'1,5'", point], ranks_matter=True)
    both("one line of decimal commas", from_file("quoted.csv"), ["quoted.csv:1", "'1,5'", point])
    both("decimal commas between blanks", from_file("blanks.csv"), ["blanks.csv:1", "'5 2'", point])
    both("decimal commas between tabs", from_file("tabs.csv"), ["tabs.csv:1", point])
    both("decimal commas here and there", from_file("mixed.csv"), ["mixed.csv:2", "1 field,", point])
    both("missing file", from_file("none.csv"), ["bad.yaml:6", "none.csv", "No such file"], ranks_matter=True)
    both("folder as file", from_file("."), ["bad.yaml:6", "regular"])
    both("column out of range", from_file("ragged.csv", "columns: [0, 7]"), ["ragged.csv", "7"])
    both("file and generator", GOOD + "  input:\n    file: ragged.csv\n", ["bad.yaml:", "exactly one"])
    both("no points at all", change("  generator:\n    kind: uniform\n    n: 100\n", ""), ["bad.yaml:", "input.file"])
    suite.write("big.csv", "1,1e39\n2,3\n")
    both("beyond fp32", from_file("big.csv"), ["fp64"])


def xyz_cases():
    suite.write("short.xyz", "3\n\nC 0 0 0\nC 1 0 0\n")
    suite.write("long.xyz", "1\n\nC 0 0 0\nC 1 0 0\n")
    suite.write("count.xyz", "one\n\nC 0 0 0\n")
    suite.write("bad.xyz", "2\n\nC 0 0 0\nC 1 zero 0\n")
    suite.write("lie.xyz", "9000000000\n\nC 0 0 0\n")
    both("XYZ too short", from_file("short.xyz"), ["short.xyz", "3", "2"])
    both("XYZ too long", from_file("long.xyz"), ["long.xyz:4"])
    both("XYZ count", from_file("count.xyz"), ["count.xyz:1", "one"])
    both("XYZ number", from_file("bad.xyz"), ["bad.xyz:4", "zero"])
    both("XYZ lying count", from_file("lie.xyz"), ["lie.xyz:1"])


def save(name, array):
    np.save(suite.path(name), array, allow_pickle=True)


def npy_cases():
    x = np.arange(24.0).reshape(8, 3)
    save("complex.npy", x.astype(complex))
    save("wide.npy", x.astype(np.longdouble))
    save("whole.i8.npy", x.astype(int) + 2**53)
    save("none.npy", x[:0])
    np.savez(suite.path("pack.npz"), x=x)
    suite.write("text.csv.gz", gzip.compress(b"1,2,3\n4,5,6\n"))
    suite.write("wide.csv", "1,2\n3,4\n".encode("utf-16"))
    save("object.npy", np.array([[1, "a"]], object))
    save("struct.npy", np.zeros(3, [("a", "f4"), ("b", "f4")]))
    save("cube.npy", np.zeros((2, 2, 2)))
    x[5, 1] = np.nan
    save("nan.npy", x)
    x[5, 1] = np.inf
    save("inf.npy", np.asfortranarray(x))
    with open(suite.path("complex.npy"), "rb") as file:
        suite.write("cut.npy", file.read()[:40])
    np.save(suite.path("whole.npy"), np.zeros((100, 3)))
    with open(suite.path("whole.npy"), "rb") as file:
        suite.write("short.npy", file.read()[:-8])
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 8), }\n"
    suite.write("lie.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    both("NPY complex", from_file("complex.npy"), ["bad.yaml:6", "complex.npy", "c16"], ranks_matter=True)
    both("NPY extended precision", from_file("wide.npy"), ["bad.yaml:6", "wide.npy", "extended precision"])
    both("NPY whole numbers beyond 2^53", from_file("whole.i8.npy"), ["bad.yaml:6", "whole.i8.npy", "row 0", "double precision"])
    both("NPY without rows", from_file("none.npy"), ["bad.yaml:6", "none.npy", "no numbers"])
    both("an archive of NPY", from_file("pack.npz"), ["bad.yaml:6", "pack.npz", "zip archive"])
    both("compressed text", from_file("text.csv.gz"), ["bad.yaml:6", "text.csv.gz", "gunzip"])
    both("UTF-16 text", from_file("wide.csv"), ["bad.yaml:6", "wide.csv", "UTF-16"])
    both("NPY objects", from_file("object.npy"), ["object.npy", "O"])
    both("NPY structured", from_file("struct.npy"), ["struct.npy"])
    both("NPY three-dimensional", from_file("cube.npy"), ["cube.npy", "3 dimensions"])
    both("NPY NaN", from_file("nan.npy"), ["nan.npy", "row 5", "NaN"])
    both("NPY Inf in Fortran order", from_file("inf.npy"), ["inf.npy", "row 5", "infinite"])
    both("NPY cut header", from_file("cut.npy"), ["cut.npy"])
    both("NPY cut data", from_file("short.npy"), ["short.npy"])
    both("NPY lying shape", from_file("lie.npy"), ["lie.npy"])
    both("NPY column", from_file("whole.npy", "columns: [3]"), ["whole.npy", "column 3"])
    suite.case("NPY Fortran order is read", fortran_is_read)


def fortran_is_read():
    x = np.random.default_rng(1).normal(size=(30, 4))
    results = []
    for order in "CF":
        save("order.npy", np.array(x, order=order))
        with suite.result({"family": "tri", "tri": {"function": "euclidean", "output": "condensed",
                                                    "input": {"file": "order.npy"}}}) as file:
            results.append(file["results/distances"][()])
    check(np.array_equal(*results), "the order of the file changed the result")


def hdf5_cases():
    x = np.arange(24.0).reshape(8, 3)
    with h5py.File(suite.path("d.h5"), "w") as file:
        file["coordinates"] = x
        file["words"] = np.array([b"a", b"b"])
        file["cube"] = np.zeros((2, 2, 2))
        file["complex"] = x.astype(complex)
        file.create_group("group")
        x[5, 2] = np.nan
        file["nan"] = x
        file["link"] = h5py.ExternalLink("other.h5", "/x")
    with open(suite.path("d.h5"), "rb") as file:
        suite.write("cut.h5", file.read()[:3000])
    both("HDF5 without dataset", from_file("d.h5"), ["bad.yaml:6", "d.h5", "dataset", "coordinates"])
    both("HDF5 missing dataset", from_file("d.h5", "dataset: coordinate"),
         ["d.h5", "'coordinate'", "coordinates"], ranks_matter=True)
    both("HDF5 group", from_file("d.h5", "dataset: group"), ["d.h5", "group"])
    both("HDF5 text", from_file("d.h5", "dataset: words"), ["d.h5", "words"])
    both("HDF5 complex", from_file("d.h5", "dataset: complex"), ["d.h5", "complex"])
    both("HDF5 three-dimensional", from_file("d.h5", "dataset: cube"), ["d.h5", "3 dimensions"])
    both("HDF5 NaN", from_file("d.h5", "dataset: nan"), ["d.h5", "row 5", "NaN"])
    both("HDF5 external link", from_file("d.h5", "dataset: link"), ["d.h5", "link"])
    both("HDF5 cut", from_file("cut.h5", "dataset: coordinates"), ["cut.h5"])


# ----------------------------------------------------------------- science


def science_cases():
    gas = GOOD.replace("condensed", "histogram")
    both("box too small for the range", gas + "  box: [20, 20, 8]\n  range: [0, 5]\n", ["bad.yaml:9", "8", "10"],
         ranks_matter=True)
    both("box too small for the threshold",
         GOOD.replace("condensed", "threshold") + "  box: [2, 2, 2]\n  threshold: 1.5\n", ["bad.yaml:9", "3"])
    both("box of two edges", gas + "  box: [20, 20]\n", ["bad.yaml:8", "box"])
    both("box edge zero", gas + "  box: [20, 0, 20]\n", ["bad.yaml:8", "positive"])
    both("box with manhattan", GOOD.replace("euclidean", "manhattan") + "  box: [20, 20, 20]\n",
         ["bad.yaml:8", "box", "euclidean"])
    both("range missing", gas, ["bad.yaml", "range"])
    both("range reversed", gas + "  range: [5, 1]\n", ["bad.yaml:8", "less"])
    both("range of three", gas + "  range: [1, 2, 3]\n", ["bad.yaml:8", "range"])
    both("no bins", gas + "  range: [0, 1]\n  bins: 0\n", ["bad.yaml:9", "0"])
    both("threshold missing", GOOD.replace("condensed", "threshold"), ["bad.yaml", "threshold"])
    both("too many neighbours", GOOD.replace("condensed", "topk") + "  k: 100\n", ["bad.yaml:8", "100", "99"])
    both("radius missing", GOOD.replace("euclidean", "overlap"), ["bad.yaml:3", "radi"], ranks_matter=True)
    suite.write("radii.csv", "0,0,1\n3,3,-1\n")
    both("radius negative", from_file("radii.csv", "radius_column: 2", function="overlap"), ["point 1", "radius"])
    both("radius twice", from_file("radii.csv", "radius_column: 2", function="overlap", keys="  radius: 3\n"),
         ["bad.yaml:5", "radius"])
    both("mass missing", from_file("radii.csv", function="gravity", output="forces"), ["bad.yaml:3", "mass"])
    both("gravity condensed", GOOD.replace("euclidean", "gravity"), ["bad.yaml:4", "forces"])
    both("forces of distances", GOOD.replace("condensed", "forces"), ["bad.yaml:4", "gravity"])
    suite.write("zero.csv", "1,2\n0,0\n")
    both("cosine of zero", from_file("zero.csv", function="cosine"), ["point 1", "zero"])
    both("correlation of a constant", from_file("zero.csv", function="correlation"), ["point 1", "constant"])
    suite.write("pole.csv", "10,20\n91,0\n")
    both("latitude 91", from_file("pole.csv", function="haversine"), ["point 1", "latitude 91"])
    suite.write("triple.csv", "10,20,30\n1,2,3\n")
    both("haversine of three columns", from_file("triple.csv", function="haversine"), ["bad.yaml:3", "2 columns"])
    suite.write("stars.csv", "1,1,1\n1,1,1\n2,3,4\n")
    both("coincident stars", from_file("stars.csv", function="gravity", output="forces", keys="  mass: 1\n"),
         ["NaN or infinity", "accelerations", "coincid"], status=3, ranks_matter=True)
    both("list beyond run.memory", GOOD.replace("condensed", "threshold").replace("100", "3000") +
         "  threshold: 100\nrun:\n  memory: 1 MiB\n", ["run.memory"], status=3, ranks_matter=True)


# ------------------------------------------------------------------ output


def output_cases():
    suite.write("plain", "text")
    os.makedirs(suite.path("folder"), exist_ok=True)
    both("output below a file", GOOD, ["plain"], output="plain/out.h5", ranks_matter=True)
    both("output in /proc", GOOD, ["/proc"], output="/proc/tesela_test.h5")
    both("output in no folder", GOOD, ["nowhere"], output="nowhere/out.h5")
    both("output is a folder", GOOD, ["folder"], output="folder")
    for ranks in (None, 2):
        suite.case(f"existing output is kept, {ranks or 1} ranks", existing_output, ranks)
        suite.case(f"failed overwrite keeps the old file, {ranks or 1} ranks", failed_overwrite, ranks)
    suite.case("stale .part is replaced", stale_part)
    suite.case("default name exists", default_name)
    suite.case("output is the deck", output_is_deck)
    suite.case("trace not writable", trace_not_writable)
    suite.case("trace in no folder, before anything is computed", trace_in_no_folder)
    both("trace is the deck", GOOD, ["bad.yaml", "is the deck"], args=["--trace", "./bad.yaml"])
    both("trace is the output", GOOD, ["out.h5", "output file too"], args=["--trace", "./out.h5"], ranks_matter=True)


def existing_output(ranks):
    old = suite.write("old.h5", "precious")
    refuse(GOOD, ["old.h5", "exists", "overwrite"], ranks=ranks, output="old.h5")
    with open(old) as file:
        check(file.read() == "precious", "the old file was touched")
    run = suite.run(["run", "bad.yaml", "-o", "old.h5", "--overwrite"], ranks, timeout=LIMIT)
    check(run.status == 0, run.tail())
    check(h5py.is_hdf5(old), "--overwrite did not replace the file")
    os.remove(old)


def failed_overwrite(ranks):
    old = suite.write("old.h5", "precious")
    suite.write("nan.csv", "1,2\nnan,2\n")
    refuse(from_file("nan.csv"), ["nan.csv:2"], ranks=ranks, output="old.h5", args=["--overwrite"])
    with open(old) as file:
        check(file.read() == "precious", "the old file was touched")
    os.remove(old)


def stale_part():
    part = suite.write("stale.h5.part", "of a dead run")
    suite.write("good.yaml", GOOD)
    run = suite.run(["run", "good.yaml", "-o", "stale.h5"], timeout=LIMIT)
    check(run.status == 0, run.tail())
    check(not os.path.exists(part), "the stale .part is still there")
    check(h5py.is_hdf5(suite.path("stale.h5")), "no output")
    os.remove(suite.path("stale.h5"))


def default_name():
    suite.write("bad.h5", "precious")
    refuse(GOOD, ["bad.h5", "exists"], output=None)
    os.remove(suite.path("bad.h5"))


def output_is_deck():
    refuse(GOOD, ["bad.yaml", "is the deck"], output="./bad.yaml", args=["--overwrite"])
    with open(suite.path("bad.yaml")) as file:
        check(file.read() == GOOD, "the deck was touched")


def trace_not_writable():
    refuse(GOOD, ["plain/trace"], args=["--trace", "plain/trace.json"])


def trace_in_no_folder():
    suite.write("bad.yaml", GOOD)
    run = suite.run(["run", "bad.yaml", "-o", "out.h5", "--trace", "nowhere/trace.json"], timeout=LIMIT)
    check(run.status == 2 and "nowhere/trace.json" in run.err, run.tail())
    check("units;" not in run.out, f"refused only after the plan: {run.out}")


# --------------------------------------------------------------- full disk

LARGE = GOOD.replace("n: 100", "n: 5000")  # 50 MB
MANY = (GOOD.replace("condensed", "threshold").replace("n: 100", "n: 3000") +
        "  threshold: 100\n")  # 90 MB of records that nobody can foresee


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (24 << 20, 24 << 20))


def disk_cases():
    for name, deck in {"distances": LARGE, "list": MANY}.items():
        for ranks in (None, 2):
            suite.case(f"file size limit, {name}, {ranks or 1} ranks", refuse, deck, ["out.h5"], status=3,
                       ranks=ranks, prepare=limit_files)
    small = suite.path("small")
    os.makedirs(small, exist_ok=True)
    mounted = os.getuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", small], capture_output=True).returncode == 0
    if not mounted:
        print("skip full disk: cannot mount a small tmpfs here (needs root)")
        return
    try:
        for name, deck in {"distances": LARGE, "list": MANY}.items():
            for ranks in (None, 2):
                suite.case(f"full disk, {name}, {ranks or 1} ranks", refuse, deck, ["small/out.h5"], status=3,
                           ranks=ranks, output="small/out.h5")
    finally:
        subprocess.run(["umount", small], check=True)


# ----------------------------------------------------------------- devices


def device_cases():
    run = suite.run(["devices"])
    if "no gpu" not in run.out.lower():
        print("skip GPU asked for but absent: this host has one")
    else:
        both("GPU absent", GOOD + "run:\n  device: gpu\n", ["gpu"], ranks_matter=True)
        both("GPU absent in a list", GOOD + "run:\n  device: cpu,gpu0\n", ["gpu"], ranks_matter=True)
    both("empty device", GOOD + "run:\n  device: ''\n", ["bad.yaml:9", "run.device", "without a name", "gpu0"],
         ranks_matter=True)
    both("empty word among devices", GOOD, ["run.device=cpu,,cpu: run.device", "without a name"],
         args=["-s", "run.device=cpu,,cpu"])
    both("device without sense", GOOD + "run:\n  device: tpu\n", ["tpu"])
    both("test knob without sense", GOOD, ["TSL_TEST_SLOW"], env={"TSL_TEST_SLOW": "fast"})


# ------------------------------------------------------------------ memory


def memory_cap():
    """288 MB of distances through 4 MiB: a tiny run's memory and the writer's 64 MiB of chunks."""
    peaks = []
    for n in (100, 12000):
        suite.write("cap.yaml", change("n: 100", f"n: {n}") + "run:\n  memory: 4 MiB\n")
        run, peak = harness.run_peak(suite, ["run", "cap.yaml", "-o", "cap.h5", "--overwrite"])
        check(run.status == 0, run.tail())
        peaks.append(peak)
    size = os.path.getsize(suite.path("cap.h5"))
    os.remove(suite.path("cap.h5"))
    check(size > 287e6, f"the file has {size} bytes")
    check(peaks[1] < peaks[0] + 100, f"peak {peaks[1]:.0f} MiB, a tiny run {peaks[0]:.0f} MiB")
    return f"peak {peaks[1]:.0f} MiB, a tiny run {peaks[0]:.0f} MiB"


# ----------------------------------------------------------------- signals

LONG = GOOD.replace("euclidean", "gravity").replace("condensed", "forces").replace("n: 100", "n: 60000") + \
    "  softening: 0.1\nrun:\n  calibrate: always\n"


def children(pid):
    """Processes named tesela below pid."""
    parent, names = {}, {}
    for number, name, words in harness.processes():
        parent[number], names[number] = int(words[1]), name
    below = {pid}
    for _ in range(6):
        below |= {p for p in parent if parent[p] in below}
    return sorted(p for p in below if names.get(p) == os.path.basename(suite.binary)[:15])


def terminated(ranks, number, to_launcher=False, more=""):
    """A signal in the middle of a slowed run: every rank leaves, nothing stays. (With checkpoints
    SIGTERM keeps the work: restart.py.)"""
    suite.write("long.yaml", LONG + more)
    before = listing()
    began = time.time()
    process = suite.start(["run", "long.yaml", "-o", "long.h5"], ranks, env={"TSL_TEST_SLOW": "50"})
    try:
        part = suite.path("long.h5.part")
        patience = harness.Patience(60)
        while not os.path.exists(part) and process.poll() is None and not patience.over():
            time.sleep(0.05)
        check(os.path.exists(part), "the run did not begin to write")
        time.sleep(0.3)
        victim = process.pid if ranks is None or to_launcher else children(process.pid)[-1]
        sent = time.time()
        os.kill(victim, number)
        run = suite.finish(process, began, LIMIT)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    if not to_launcher:
        check(run.status == 3, run.tail())
        check("signal" in run.err, run.tail())
    check(run.status != 0, "a stopped run exits with 0")
    time.sleep(0.2)
    left = listing() - before
    check(not left, f"left behind: {sorted(left)}")
    return f"left {time.time() - sent:.1f} s after the signal, exit {run.status}"


def signal_cases():
    without = "  checkpoint: 0\n"
    suite.case("SIGTERM alone", terminated, None, signal.SIGTERM, more=without)
    suite.case("SIGINT alone", terminated, None, signal.SIGINT)
    suite.case("SIGTERM to one of 2 ranks", terminated, 2, signal.SIGTERM, more=without)
    suite.case("SIGTERM to mpirun, 2 ranks", terminated, 2, signal.SIGTERM, to_launcher=True, more=without)


deck_cases()
text_cases()
xyz_cases()
npy_cases()
hdf5_cases()
science_cases()
output_cases()
disk_cases()
device_cases()
suite.case("memory cap", memory_cap)
signal_cases()
suite.end()
