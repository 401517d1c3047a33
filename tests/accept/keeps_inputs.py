#!/usr/bin/env python3
"""No output of any kind destroys a file: inputs stay as they are under every name that they have, other
files are replaced only with --overwrite, nothing is written through a link, and a file beside the
output that cannot be written costs that file alone.

usage: keeps_inputs.py TESELA [--fast] [ONLY]
"""
import io
import json
import os
import subprocess

import harness
from harness import check, h5py, np

suite = harness.Suite(__doc__, jobs=3)
LIMIT = 60
POINTS = np.random.default_rng(7).normal(size=(60, 3))
FASTA = ">query\nACGTACGTTAGC\n"
WATER = "3\nwater\nO 0 0 0.117\nH 0 0.757 -0.469\nH 0 -0.757 -0.469\n"


def read(name):
    with open(suite.path(name), "rb") as file:
        return file.read()


def put(name, text):
    """A file of its own; one that is as it should be stays, with its other names."""
    path = suite.path(name)
    text = text if isinstance(text, bytes) else text.encode()
    if os.path.isfile(path) and not os.path.islink(path) and read(name) == text:
        return
    clear(name)
    suite.write(name, text)


def save(name, values):
    buffer = io.BytesIO()
    np.save(buffer, values)
    put(name, buffer.getvalue())


def clear(*names):
    for name in names:
        if os.path.lexists(suite.path(name)):
            os.remove(suite.path(name))


# ------------------------------------------------------------ decks, inputs


def tri(file="in.npy", **more):
    return {"family": "tri", "tri": {"function": "euclidean", "output": "condensed", "input": {"file": suite.path(file)}}, **more}


def dp(**more):
    return {"family": "dp", "dp": {"problem": "global", "mode": "recover", "a": {"file": suite.path("a.fa")},
                                   "b": {"file": suite.path("b.fa")}, **more}}


def fractal(**more):
    return {"family": "fractal", "fractal": {"set": "mandelbrot", "xres": 40, "yres": 30, "maxiter": 50,
                                             "view": {"centre": [-0.5, 0], "width": 3}, **more}}


def xc(**more):
    return {"family": "xc", "xc": {"molecule": {"xyz": suite.path("water.xyz")}, "basis": "sto-3g", "functional": "pbe", "grid": {"preset": "coarse"},
                                   **more}}


def inputs():
    save("in.npy", POINTS)
    put("in.csv", "1,2,3\n4,5,6\n7,8,10\n")
    put("a.fa", FASTA)
    put("b.fa", FASTA.replace("TT", "T"))
    put("water.xyz", WATER)
    if not os.path.exists(suite.path("in.h5")):
        with h5py.File(suite.path("in.h5"), "w") as file:
            file["points"] = POINTS


def keep(tree, names, args, *needles, left=()):
    """The run is refused before anything is computed, and the named inputs keep their bytes."""
    inputs()
    clear(*left)
    put("deck.yaml", harness.yaml(tree))
    before = {name: read(name) for name in names}
    run = suite.run(["run", "deck.yaml", *args], timeout=LIMIT)
    for name in names:
        check(os.path.exists(suite.path(name)) and read(name) == before[name], f"{name} was destroyed: {run.tail()}")
    check(run.status == 2, f"not refused: {run.tail()}")
    check("computed in" not in run.out and "units;" not in run.out, f"refused only after the plan: {run.out}")
    for needle in needles:
        check(needle in run.err, f"no '{needle}' in: {run.err}")
    for name in left:
        check(not os.path.lexists(suite.path(name)), f"{name} was left")


def aliases(name):
    """Other names of an input, by what they are."""
    hard, soft = "hard_" + name, "soft_" + name
    clear(hard, soft)
    os.link(suite.path(name), suite.path(hard))
    os.symlink(suite.path(name), suite.path(soft))
    return {"itself": name, "a detour": "./" + name, "a hard link": hard, "a symbolic link": soft,
            "/proc": f"/proc/self/cwd/{name}"}


def every_alias(kind, name, tree, option):
    """option(alias) gives the deck and the arguments."""
    inputs()
    for what in aliases(name):
        def one(what=what):
            inputs()
            alias = aliases(name)[what]
            deck, args = option(alias)
            for more in ([], ["--overwrite"]):
                keep(deck if deck is not None else tree, [name], ["-o", "out.h5", *args, *more] if "-o" not in args
                     else [*args, *more], left=["out.h5"])
        suite.case(f"{kind} is an input by {what}", one)


def input_cases():
    every_alias("-o", "in.npy", tri(), lambda alias: (None, ["-o", alias]))
    every_alias("-o", "in.csv", tri("in.csv"), lambda alias: (None, ["-o", alias]))
    every_alias("--trace", "in.npy", tri(), lambda alias: (None, ["--trace", alias]))
    every_alias("run.calibration", "in.csv", None,
                lambda alias: (tri("in.csv", run={"calibration": alias}), []))
    every_alias("dp.alignment", "a.fa", None, lambda alias: (dp(alignment=alias), []))
    every_alias("--trace", "b.fa", dp(), lambda alias: (None, ["--trace", alias]))
    suite.case("-o is an HDF5 input", keep, {"family": "tri", "tri": {
        "function": "euclidean", "output": "condensed", "input": {"file": suite.path("in.h5"), "dataset": "points"}}}, ["in.h5"],
        ["-o", "in.h5", "--overwrite"], "in.h5", "input of this run")
    suite.case("-o is the deck", keep, tri(), ["deck.yaml"], ["-o", "deck.yaml", "--overwrite"], "is the deck")
    suite.case("run.calibration is the deck", keep, tri(run={"calibration": "deck.yaml"}), ["deck.yaml"],
               ["-o", "out.h5"], "deck.yaml")
    for ending in (".part", ".ckpt.0", ".ckpt.1", ".ckpt.0.tmp"):
        suite.case(f"an input named OUTPUT{ending}", working_name, ending)
    suite.case("a picture's working name is an input", picture_part)
    suite.case("xc.molden is an input", molecule, "molden", "water.molden")
    suite.case("xc.qcschema is an input", molecule, "qcschema", "water.json")


def working_name(ending):
    inputs()
    name = "q.h5" + ending
    save(name, POINTS)
    keep(tri(name), [name], ["-o", "q.h5", "--overwrite"], "input of this run")
    clear(name)


def picture_part():
    put("deck.png.part", harness.yaml(fractal(png="deck.png")))
    before = read("deck.png.part")
    run = suite.run(["run", "deck.png.part", "-o", "out.h5", "--overwrite"], timeout=LIMIT)
    check(read("deck.png.part") == before, "the deck was destroyed")
    check(run.status == 2 and "is the deck" in run.err, run.tail())
    clear("deck.png.part")


def molecule(key, name):
    if suite.run(["help", "xc"]).status != 0:
        return "skipped: built without xc"
    text = json.dumps({"schema_name": "qcschema_molecule", "schema_version": 2, "symbols": ["H", "H"],
                       "geometry": [0, 0, 0, 0, 0, 1.4], "note": "\"qcschema_output\" [Molden Format]"})
    put(name, "[Molden Format]\n" if key == "molden" else "{\"qcschema_output\": 1, " + text[1:])
    before = read(name)
    tree = xc(**{key: name})
    tree["xc"]["molecule"] = {"xyz" if key == "molden" else "json": suite.path(name)}
    put("deck.yaml", harness.yaml(tree))
    run = suite.run(["run", "deck.yaml", "-o", "out.h5", "--overwrite"], timeout=LIMIT)
    check(read(name) == before, f"{name} was destroyed: {run.tail()}")
    check(run.status == 2, run.tail())
    clear(name)


# ------------------------------------------------------------- kept endings


def ending_cases():
    for name in ("q.h5.part", "q.h5.ckpt.0", "q.h5.ckpt.1", "q.h5.ckpt.17", "q.tmp"):
        suite.case(f"-o {name}", keep, tri(), ["in.npy"], ["-o", name], name, "unfinished", left=[name])
        suite.case(f"--trace {name}", keep, tri(), ["in.npy"], ["-o", "out.h5", "--trace", name], name, "unfinished",
                   left=["out.h5", name])
    suite.case("output.file ends in .part", keep, tri(output={"file": "q.h5.part"}), ["in.npy"], [], "unfinished")
    suite.case("dp.alignment ends in .part", keep, dp(alignment="x.part"), ["a.fa"], ["-o", "out.h5"], "deck.yaml:",
               "unfinished", left=["out.h5"])
    suite.case("a name of 1,500 bytes", keep, tri(), ["in.npy"], ["-o", "./" * 740 + "out.h5"], "bytes")


# ---------------------------------------------------- existing files, links


def beside(kind):
    """Name, deck and arguments of a file beside the output."""
    return {"trace": ("t.json", tri(), ["--trace", "t.json"]),
            "alignment": ("t.txt", dp(alignment="t.txt"), []),
            "png": ("t.png", fractal(png="t.png"), []),
            "binarised png": ("t.png", fractal(binarised_png="t.png"), []),
            "molden": ("t.molden", xc(molden="t.molden"), []),
            "qcschema": ("t.json", xc(qcschema="t.json"), []),
            "cube": ("t.cube", xc(cube={"density": "t.cube", "spacing": 1}), [])}[kind]


KINDS = ["trace", "alignment", "png", "binarised png", "molden", "qcschema", "cube"]


def skip(kind):
    return kind in ("molden", "qcschema", "cube") and suite.run(["help", "xc"]).status != 0


def replaced_only_when_asked(kind):
    if skip(kind):
        return "skipped: built without xc"
    inputs()
    name, tree, args = beside(kind)
    clear(name, "out.h5")
    put("deck.yaml", harness.yaml(tree))
    first = suite.run(["run", "deck.yaml", "-o", "out.h5", "-q", *args], timeout=LIMIT)
    check(first.status == 0 and os.path.getsize(suite.path(name)) > 0, first.tail())
    check(not os.path.exists(suite.path(name + ".part")), f"{name}.part is left")
    before = read(name)
    clear("out.h5")
    again = suite.run(["run", "deck.yaml", "-o", "out.h5", *args], timeout=LIMIT)
    check(again.status == 2 and name in again.err and "--overwrite" in again.err, again.tail())
    check("units;" not in again.out, "refused only after the plan")
    check(read(name) == before, f"{name} was replaced without --overwrite")
    last = suite.run(["run", "deck.yaml", "-o", "out.h5", "-q", "--overwrite", *args], timeout=LIMIT)
    check(last.status == 0, last.tail())
    plan = suite.run(["plan", "deck.yaml", "-q"], timeout=LIMIT)
    check(plan.status == 0, f"a plan writes nothing and replaces nothing: {plan.tail()}")
    clear(name, "out.h5")
    return None


def through_link(kind, dangling):
    if skip(kind):
        return "skipped: built without xc"
    inputs()
    name, tree, args = beside(kind)
    clear(name, "target", "out.h5")
    if not dangling:
        put("target", "precious")
    os.symlink("target", suite.path(name))
    put("deck.yaml", harness.yaml(tree))
    for more in ([], ["--overwrite"]):
        run = suite.run(["run", "deck.yaml", "-o", "out.h5", *args, *more], timeout=LIMIT)
        check(run.status == 2 and "link" in run.err, run.tail())
        check(os.path.islink(suite.path(name)), "the link was replaced")
        check(not os.path.exists(suite.path("target")) if dangling else read("target") == b"precious",
              "written through the link")
    clear(name, "target", "out.h5")
    return None


def output_is_link(dangling):
    inputs()
    clear("out.h5", "target")
    if not dangling:
        put("target", "precious")
    os.symlink("target", suite.path("out.h5"))
    keep(tri(), ["in.npy"], ["-o", "out.h5", "--overwrite"], "out.h5", "link")
    check(os.path.islink(suite.path("out.h5")) and os.path.exists(suite.path("target")) != dangling, "the link was replaced")
    clear("out.h5", "target")


def part_is_link(kind):
    if skip(kind):
        return "skipped: built without xc"
    inputs()
    name, tree, args = beside(kind)
    clear(name, name + ".part", "target", "out.h5")
    os.symlink("target", suite.path(name + ".part"))
    put("deck.yaml", harness.yaml(tree))
    run = suite.run(["run", "deck.yaml", "-o", "out.h5", *args], timeout=LIMIT)
    check(run.status == 2 and not os.path.exists(suite.path("target")), run.tail())
    clear(name, name + ".part", "target", "out.h5")
    return None


def calibration_through_link():
    inputs()
    clear("cal", "target", "out.h5")
    os.symlink("target", suite.path("cal"))
    put("deck.yaml", harness.yaml(tri(run={"calibration": "cal"})))
    run = suite.run(["run", "deck.yaml", "-o", "out.h5", "-q"], timeout=LIMIT)
    check(run.status == 0 and "not stored" in run.err and not os.path.exists(suite.path("target")), run.tail())
    clear("cal", "target", "out.h5")


def calibration_is_notes():
    put("notes.txt", "my notes\n")
    for word in ("run", "plan", "calibrate"):
        put("deck.yaml", harness.yaml(tri(run={"calibration": "notes.txt"})))
        inputs()
        run = suite.run([word, "deck.yaml"], timeout=LIMIT)
        check(run.status == 2 and "deck.yaml:" in run.err and "notes.txt" in run.err, run.tail())
        check(read("notes.txt") == b"my notes\n", "lines were added to the notes")


def tables(args, ranks=None):
    inputs()
    put("deck.yaml", harness.yaml(tri()))
    put("t.csv", "precious")
    run = suite.run([*args, "--csv", "t.csv"], ranks, timeout=LIMIT)
    check(run.status == 2 and "t.csv" in run.err, run.tail())
    check(read("t.csv") == b"precious", "the table was replaced")
    clear("t.csv")
    os.symlink("target", suite.path("t.csv"))
    run = suite.run([*args, "--csv", "t.csv"], ranks, timeout=LIMIT)
    check(run.status == 2 and not os.path.exists(suite.path("target")), f"written through a link: {run.tail()}")
    clear("t.csv")


def old_checkpoints_stay_until_checked():
    """--overwrite begins anew only once the run is known to be good."""
    inputs()
    clear("q.h5")
    put("q.h5.ckpt.0", "a checkpoint of hours")
    put("deck.yaml", harness.yaml(tri("none.npy")))
    run = suite.run(["run", "deck.yaml", "-o", "q.h5", "--overwrite"], timeout=LIMIT)
    check(run.status == 2 and os.path.exists(suite.path("q.h5.ckpt.0")), f"the checkpoint is gone: {run.tail()}")
    put("deck.yaml", harness.yaml(tri()))
    run = suite.run(["run", "deck.yaml", "-o", "q.h5", "-q", "--overwrite"], timeout=LIMIT)
    check(run.status == 0 and not os.path.exists(suite.path("q.h5.ckpt.0")), run.tail())
    clear("q.h5")


def link_cases():
    for kind in KINDS:
        suite.case(f"{kind}: replaced only with --overwrite", replaced_only_when_asked, kind)
        suite.case(f"{kind}: a dangling link", through_link, kind, True)
        suite.case(f"{kind}: a link to a file", through_link, kind, False)
        suite.case(f"{kind}: its working name is a link", part_is_link, kind)
    suite.case("-o: a dangling link", output_is_link, True)
    suite.case("-o: a link to a file", output_is_link, False)
    suite.case("run.calibration: a dangling link", calibration_through_link)
    suite.case("run.calibration: a file of something else", calibration_is_notes)
    suite.case("probe --csv", tables, ["probe", "--device", "cpu"])
    suite.case("bench tri-cpu --csv", tables, ["bench", "tri-cpu", "--quick"])
    suite.case("bench share --csv", tables, ["bench", "share", "deck.yaml"], 2)
    suite.case("bench dp-paper --csv", tables, ["bench", "dp-paper", "--n", "9", "--repeat", "1"])
    suite.case("old checkpoints stay until the run is known to be good", old_checkpoints_stay_until_checked)


# -------------------------------------------------- a file that is lost


def small_disk(name, body):
    folder = suite.path(name)
    os.makedirs(folder, exist_ok=True)
    done = os.getuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,nr_inodes=20", "tmpfs", folder],
                                               capture_output=True, check=False).returncode == 0
    if not done:
        return "skipped: cannot mount a small tmpfs here (needs root)"
    try:
        return body(folder)
    finally:
        subprocess.run(["umount", folder], check=True)


def lost(kind, ranks):
    """A full disk under the file costs the file; the results are whole."""
    if skip(kind):
        return "skipped: built without xc"
    inputs()
    name, tree, args = beside(kind)
    full = f"small_{name}"

    def body(folder):
        path = os.path.join(folder, name)
        section = tree[tree["family"]]
        for key in ("png", "binarised_png", "alignment", "molden", "qcschema"):
            if key in section:
                section[key] = path
        arguments = [path if word == name else word for word in args]
        if tree["family"] == "fractal":
            section.update(xres=400, yres=300, maxiter=3000, view={"centre": [-0.7436438870, 0.1318259042], "width": 1e-8})
        put("deck.yaml", harness.yaml(tree))
        clear("out.h5")
        with open(os.path.join(folder, "filler"), "wb") as file:
            file.write(b"x" * 4096 * 4)
        for strict in (False, True):
            run = suite.run(["run", "deck.yaml", "-o", "out.h5", "-q", "--overwrite", *arguments,
                             *(["--strict"] if strict else [])], ranks, timeout=LIMIT)
            check(run.status == (3 if strict else 0), f"strict {strict}: {run.tail()}")
            check("warning" in run.err and path in run.err and "No space left" in run.err, run.tail())
            with h5py.File(suite.path("out.h5"), "r") as file:
                check(file["run"].attrs["verdict"] == "VALID", "verdict is not VALID")
            check(os.listdir(folder) == ["filler"], f"left: {os.listdir(folder)}")
        clear("out.h5")

    return small_disk(full, body)


def lost_cases():
    for kind in KINDS:
        if kind == "cube":
            continue  # refused before work (xc_points.py), or lost when the disk fills up later
        for ranks in (None, 2):
            suite.case(f"{kind} on a full disk, {ranks or 1} ranks", lost, kind, ranks)


for cases in (input_cases, ending_cases, link_cases, lost_cases):
    cases()
suite.end()
