#!/usr/bin/env python3
"""tools/report and tools/scaling: pages that are whole, alone, and say what the files say.

usage: pages.py TESELA [--fast] [ONLY]

Numbers are computed here again, from the output files.
"""
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

import harness
from harness import check, h5py, np
from pages_harness import TOOLS, Page, csv_rows, same_as_csv, tool

sys.path.insert(0, TOOLS)
from pages import ceiling as copies, deck, laws, svg, wall  # noqa: E402

suite = harness.Suite(__doc__, jobs=3)
CPU = {"device": "cpu", "threads": 1}
POINTS = {"generator": {"kind": "uniform", "n": 3000, "seed": 3}}
RDF = {"family": "tri", "title": "small & <quick>", "run": CPU,
       "tri": {"function": "euclidean", "output": "histogram", "box": [1, 1, 1], "bins": 40,
               "range": [0, 0.5], **POINTS}}
RUN_FIGURES = ("wall", "shares", "ranks", "prediction", "timeline")
WORDS = {"a": {"text": "ACGTACGTTAGC"}, "b": {"text": "ACGTTACGTAGC"}}
WATER = {"molecule": {"atoms": "O 0 0 0; H 0 0.757 0.587; H 0 -0.757 0.587"}, "basis": "STO-3G", "functional": "pbe",
         "grid": {"preset": "coarse"}}


# ------------------------------------------------------------------ report


def report(name, figures, tree, ranks=2, args=()):
    with suite.result(tree, ranks, name=name, args=args):
        pass
    tool(suite, "report", f"{name}.h5", "--png", f"{name}.png")
    page = Page(suite.path(f"{name}.html"))
    page.has(*figures, *RUN_FIGURES)
    science_first(page, figures, suite.path(f"{name}.h5"))
    wall_adds_up(page, suite.path(f"{name}.h5"))
    correlates(page, suite.path(f"{name}.h5"))
    return page


def correlates(page, path):
    """The picture of time against prediction says how well they go together, over the units of the file."""
    with h5py.File(path) as file:
        units = file["run/units"][...]
    units = units[(units["rank"] >= 0) & (units["predicted"] > 0) & (units["measured"] > 0)]
    a, b = units["predicted"], units["measured"]
    varies = np.ptp(a) > 0 and np.ptp(b) > 0
    said = f"Correlation of the two: {np.corrcoef(a, b)[0, 1]:.4f}." if varies else None
    caption = page.caption("prediction")
    check(said in caption if varies else "Correlation" not in caption, f"'{caption}', not '{said}'")


def wall_adds_up(page, path):
    """Rows and columns of the table are the whole run's time, which is that of the file; one bar for each row."""
    with h5py.File(path) as file:
        total, stages = file["run"].attrs["total_seconds"], file["run/stages"][...]
        kinds = set(file["run/phase_times"]["kind"][file["run/phase_times"]["measured"] > 0])
    near(stages["seconds"].sum(), total)
    rows = page.texts("wall-times")
    names, whole, rows, shares = rows[0], rows[1], rows[2:-1], rows[-1]
    check(whole[0] == "whole run" and shares[0] == "share" and "waiting" in names, f"{names} {whole} {shares}")
    check(len(names) >= 5 + len(kinds), f"{names}, kinds {kinds}")
    half = 0.5 * 10.0 ** -len(whole[-1].partition(".")[2])  # what rounding may take off a number
    for k, line in enumerate([whole, *rows]):
        check(abs(sum(map(number_of, line[1:-1])) - number_of(line[-1])) <= half * (len(line) + 1), f"row {k}: {line}")
    for k, name in enumerate(names[1:], 1):
        column = sum(number_of(line[k]) for line in rows)
        check(abs(column - number_of(whole[k])) <= half * (len(rows) + 1), f"{name}: {column}, not {whole[k]}")
    check(abs(number_of(whole[-1]) - total) <= half * 1.01, f"{whole[-1]} s, the file says {total}")
    for line in (whole, *rows):
        check(line[0] in page.words("wall"), f"no bar for '{line[0]}': {page.words('wall')}")


def number_of(text):
    return float(text) if text else 0.0


def science_first(page, figures, path):
    """Results in the open, how each input was read, and the run behind one line at the end."""
    check(page.sections()[0] == "Result" and page.sections()[-1] == "How it was computed", page.sections())
    line, behind = page.folded()
    check(line.startswith("computed in ") and " rank" in line, line)
    check(behind.issuperset(RUN_FIGURES) and not behind.intersection(figures), f"folded: {sorted(behind)}")
    with h5py.File(path) as file:
        facts = file["run/facts"][()].decode().split("\n\n")[0]
    for fact in facts.splitlines():
        check(" ".join(fact.split()) in page.body(), f"not on the page: {fact}")
    for name in page.figures:
        check(not {"value", "hartree"}.intersection(page.words(name)), f"{name}: an axis without a quantity")


def report_histogram():
    page = report("rdf", ("rdf", "counts"), RDF)
    with h5py.File(suite.path("rdf.h5")) as file:
        pairs, rdf = int(file["results/counts"][...].sum()), file["results/rdf"][...]
    check(f"{pairs:,} pairs" in page.caption("counts"), page.caption("counts"))
    check(f"{rdf.max():.4g}" in page.caption("rdf"), page.caption("rdf"))
    check("small & <quick>" in page.body() and "VALID" in page.body(), "the head")
    with h5py.File(suite.path("rdf.h5")) as file:
        balance, wall = file["run/balance"][...], file["run"].attrs["measured_seconds"]
    busy = balance["measured"].sum() / (len(balance) * wall)
    check(page.caption("shares").startswith(f"{100 * busy:.1f} %"), page.caption("shares"))
    check(not os.path.exists(suite.path("rdf.png")), "a picture where there are charts only")


def report_matrix():
    report("square", ("matrix", "spread"),
           {"family": "tri", "run": CPU, "tri": {"function": "euclidean", "output": "square",
                                               "generator": {"kind": "clusters", "n": 200}}})
    with open(suite.path("square.png"), "rb") as file:
        head = file.read(24)
    check(head[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(head[16:20], "big") == 200, "no picture of 200 columns")


def report_graph():
    report("graph", ("graph", "degrees", "spread"),
           {"family": "tri", "run": CPU, "tri": {"function": "euclidean", "output": "threshold", "threshold": 0.1,
                                               **POINTS}})
    of_two = {"function": "euclidean", "output": "csr", "threshold": 0.1, **POINTS, "other": POINTS}
    report("lists", ("degrees",), {"family": "tri", "run": CPU, "tri": of_two})


def report_frames():
    """Kinds of atoms, and listed pairs over time."""
    rng = np.random.default_rng(8)
    suite.write("frames.xyz", "".join('30\nLattice="9 0 0 0 9 0 0 0 9"\n' + "".join(
        f"{'OH'[k % 2]} {x:.3f} {y:.3f} {z:.3f}\n" for k, (x, y, z) in enumerate(9 * rng.random((30, 3))))
        for _ in range(7)))
    suite.write("listed.txt", "0 1\n2 9\n")
    frames = {"function": "euclidean", "input": {"file": "frames.xyz", "frames": "all", "symbols": True}}
    report("partial", ("rdf", "counts"), {"family": "tri", "run": CPU, "tri": {
        **frames, "output": "histogram", "bins": 30, "range": [0, 4]}})
    del frames["input"]["symbols"]
    page = report("listed", ("contacts", "distances", "occupancy"), {"family": "tri", "run": CPU, "tri": {
        **frames, "output": "threshold", "threshold": 4, "atom_pairs": "listed.txt"}})
    check("first 2 of 2 pairs of the list, 7 of 7 frames" in page.caption("distances"), page.caption("distances"))


def report_points():
    """Those that were read, some of many: in a plane, on a sphere, in space; more dimensions have no picture."""
    rng = np.random.default_rng(5)
    lines = rng.normal(size=(5000, 3)) * [40, 5, 1] + 7
    lines[17] = 1e4
    for name, function, columns, words in (("plane", "euclidean", 2, ("coordinate 1", "coordinate 2")),
                                           ("sphere", "haversine", 2, ("longitude (degree)", "latitude (degree)")),
                                           ("space", "gravity", 3, ("along the longest extent", "across it"))):
        read = np.clip(lines, -80, 80) if name == "sphere" else lines
        np.savetxt(suite.path(f"{name}.csv"), read[:, :columns], "%.17g", ",")
        tree = {"function": function, "input": {"file": f"{name}.csv"}, "precision": "fp64",
                **({"output": "forces", "softening": 0.1, "mass": 1} if function == "gravity" else
                   {"output": "topk", "k": 3})}
        page = report(name, ("points",), {"family": "tri", "run": CPU, "tri": tree})
        with h5py.File(suite.path(f"{name}.h5")) as file:
            drawn = file["input/drawn"][...]
        check(np.array_equal(drawn, read[np.arange(2000) * 5000 // 2000, :columns]), f"{name}: other points")
        for word in words:
            check(word in page.words("points"), f"{name}: {page.words('points')}")
        check("2,000 of 5,000" in page.caption("points"), page.caption("points"))
    for made, pictured in ((4, False), (1, False), (3, True)):
        page = report(f"d{made}", (), {"family": "tri", "run": CPU, "tri": {
            "function": "euclidean", "output": "square", "generator": {"kind": "uniform", "n": 30, "d": made}}})
        check(("points" in page.figures) == pictured, f"{made} dimensions: {page.figures}")


def report_little():
    """No points, one point: figures may be missing, the page is whole."""
    for n in (0, 1):
        for output in ({"output": "square"}, {"output": "histogram", "bins": 3, "range": [0, 1]},
                       {"output": "threshold", "threshold": 1e-6}):
            tree = {"family": "tri", "run": CPU, "tri": {"function": "euclidean", **output,
                                                       "generator": {"kind": "uniform", "n": n}}}
            with suite.result(tree, name="little"):
                pass
            tool(suite, "report", "little.h5")
            Page(suite.path("little.html"))
            os.remove(suite.path("little.html"))


def report_forces():
    report("forces", ("accelerations", "potentials"),
           {"family": "tri", "run": CPU, "tri": {"function": "gravity", "output": "forces",
                                               "generator": {"kind": "plummer", "n": 500}}})


def report_fractal():
    page = report("fractal", ("image", "binarised", "escapes"),
                  {"family": "fractal", "run": CPU, "fractal": {"set": "mandelbrot", "xres": 160, "yres": 120}})
    with h5py.File(suite.path("fractal.h5")) as file:
        inside = 100 * float((file["results/iterations"][...] == 0).mean())
    check(f"{inside:.2f} %" in page.caption("image"), page.caption("image"))


def report_dp():
    report("dp", ("path",), {"family": "dp", "run": CPU, "dp": {"problem": "global", "mode": "recover", **WORDS}})
    page = report("cells", ("table",), {"family": "dp", "run": CPU, "dp": {"problem": "edit", "mode": "table", **WORDS}})
    check("distance" in page.words("table"), f"the table's values: {page.words('table')}")


def has_xc():
    help_text = suite.run(["help", "xc"])
    return help_text.status == 0 and "lacks the libraries" not in help_text.out


def headed(name, tree, words):
    """The heading says what was computed, or is the title; the file's name is neither."""
    with suite.result(tree, name=f"{name}_bare"):
        pass
    tool(suite, "report", f"{name}_bare.h5")
    page = Page(suite.path(f"{name}_bare.html"))
    check(page.heading() == words, f"headed '{page.heading()}', expected '{words}'")
    with suite.result({**tree, "title": "my own title"}, name=f"{name}_titled"):
        pass
    tool(suite, "report", f"{name}_titled.h5")
    page = Page(suite.path(f"{name}_titled.html"))
    check(page.heading() == "my own title" and words in page.body(), f"headed '{page.heading()}'")
    with h5py.File(suite.path(f"{name}_bare.h5"), "r+") as file:
        for dataset in list(file["results"]):  # as tools/scaling leaves large ones
            del file["results"][dataset]
    tool(suite, "report", f"{name}_bare.h5")


def headings():
    """What was computed, in words, of every family and every output of tri."""
    def tri(name, words, function="euclidean", **keys):
        headed(name, {"family": "tri", "run": CPU, "tri": {"function": function, "generator": POINTS["generator"],
                                                         **keys}}, words)

    tri("h_rdf", "Radial distribution function, 3,000 points", output="histogram", box=[1, 1, 1], bins=9, range=[0, 0.5])
    tri("h_bins", "Histogram of the Euclidean distance, 3,000 points", output="histogram", bins=9, range=[0, 1])
    tri("h_all", "City-block (L1) distance of all pairs, 3,000 points", "manhattan", output="condensed")
    tri("h_few", "Pairs with a squared Euclidean distance of at most 0.01 nm^2, 3,000 points", "sqeuclidean",
        output="threshold", threshold=0.01, unit="nm")
    tri("h_near", "3 nearest neighbours by cosine distance, 1 - cos, 3,000 points", "cosine", output="topk", k=3)
    tri("h_pull", "Gravitational forces, 500 points", "gravity", output="forces", generator={"kind": "plummer", "n": 500})
    headed("h_set", {"family": "fractal", "run": CPU, "fractal": {"set": "julia", "c": [-0.8, 0.156], "xres": 40,
                                                                "yres": 30}},
           "Julia set of c = [-0.8, 0.156], 40 x 30 pixels")
    headed("h_dp", {"family": "dp", "run": CPU, "dp": {"problem": "global", **WORDS}},
           "Global alignment, 12 x 12 letters")
    if has_xc():
        headed("h_xc", {"family": "xc", "run": CPU, "xc": WATER}, "Kohn-Sham energy of H2O, PBE/STO-3G")


def axes():
    """Axes say what stands along them, and in which unit."""
    page = report("axes", ("rdf", "counts"), {**RDF, "tri": {**RDF["tri"], "unit": "nm"}})
    check("distance r (nm)" in page.words("rdf"), f"{page.words('rdf')}")
    check("minimum-image Euclidean distance (nm)" in page.words("counts"), f"{page.words('counts')}")


def molecule():
    """Atoms and bonds are those of the coordinates: two of water, none between the hydrogens."""
    if not has_xc():
        return "this build has no xc"
    page = report("drawn", ("molecule", "slice", "levels", "charges"), {"family": "xc", "run": CPU, "xc": WATER})
    drawing = page.figures["molecule"].find("svg")
    check(len(list(drawing.iter("circle"))) == 3 and len(list(drawing.iter("line"))) == 2, "atoms and bonds of water")
    check(sorted(page.words("molecule")) == ["1 angstrom", "H", "H", "O"], f"{page.words('molecule')}")
    ends = {(one.get("cx"), one.get("cy")) for one in drawing.iter("circle")}
    for line in drawing.iter("line"):
        check({(line.get("x1"), line.get("y1")), (line.get("x2"), line.get("y2"))} <= ends, "a bond that ends nowhere")
    scale = float(next(drawing.iter("path")).get("d").split("h")[1])
    line = next(drawing.iter("line"))
    long = np.hypot(*(float(line.get(f"{axis}2")) - float(line.get(f"{axis}1")) for axis in "xy")) / scale
    check(abs(long - np.hypot(0.757, 0.587)) < 0.01, f"a bond of {long:.3f} angstrom")
    return None


def report_xc():
    """Levels and charges; the gap in the caption is that of the file."""
    if not has_xc():
        return "this build has no xc"
    page = report("water", ("levels", "charges", "density"),
                  {"family": "xc", "run": CPU, "xc": {"molecule": {"atoms": "H 0 0 0; H 0 0 0.74"}, "basis": "STO-3G",
                                                    "functional": "pbe", "grid": {"preset": "coarse"}}})
    with h5py.File(suite.path("water.h5")) as file:
        results = file["results"].attrs
        gap = results["lowest empty"] - results["highest occupied"]
        phases = file["run/phases"][...] if "run/phases" in file else []
        history = file["results/history"][...] if "history" in file["results"] else []
    check(f"{gap:.5f} hartree" in page.caption("levels"), page.caption("levels"))
    if len(phases) > 1:  # earlier versions recorded the last phase only
        page.has("phases", "rebalancing")
        check(page.caption("phases").startswith(f"{len(phases)} phases in "), page.caption("phases"))
    if len(history):
        check(f"{history[-1][3]:.2e}" in page.caption("convergence"), page.caption("convergence"))
    return None


def report_earlier():
    """An output of a version that recorded no stages: no such picture, and the page is whole."""
    with suite.result(RDF, name="earlier"):
        pass
    with h5py.File(suite.path("earlier.h5"), "r+") as file:
        del file["run/stages"]
    tool(suite, "report", "earlier.h5")
    check("wall" not in Page(suite.path("earlier.html")).figures, "a picture of nothing")


def many_phases():
    """Few phases stand alone, many in groups, none twice; waiting is what the devices did not compute."""
    def row(phase):
        return wall.phase_row(phase, [("share", 0.5), ("compute", 2.0), ("advance", 1.0)], {0: 1.0, 2: 0.5})

    for n in (0, 1, 8, 9, 31, 1000):
        rows = wall.grouped([row(phase) for phase in range(3, n + 3)])
        check(len(rows) <= 8, f"{n} phases in {len(rows)} rows")
        phases = [phase for one in rows for phase in range(one.labels[0], one.labels[-1] + 1)]
        check(phases == list(range(3, n + 3)), f"{n} phases: {phases}")
        near(sum(one.total() for one in rows), 3.5 * n)
    near(rows[-1].parts[wall.WAITING] / rows[-1].parts[0], 0.5)
    near(wall.phase_row(0, [("compute", 1.0)], {0: 3.0, 1: 1.0}).parts[1], 0.25)
    times = (("y", 0.01), ("a", 1), ("b", 90), ("z", 0.05), ("c", 1), ("d", 1.5), ("e", 1), ("f", 90))
    labels = [one.label() for one in wall.together([wall.Row(name, {"set-up": t}) for name, t in times], 184.56)]
    check(labels == ["a and 1 more", "b and 1 more", "d and 2 more", "f"], f"{labels}")


def report_trace():
    """The timeline comes from the trace; a file that is none is refused."""
    with suite.result(RDF, 2, name="traced", args=("--trace", suite.path("trace.json"))):
        pass
    tool(suite, "report", "traced.h5", "--trace", "trace.json")
    check("From the trace" in Page(suite.path("traced.html")).caption("timeline"), "no timeline of the trace")
    for text in ("[", '{"traceEvents": [{"ph": "X", "name": "unit"}]}', '{"traceEvents": []}'):
        suite.write("bad.json", text)
        _, err = tool(suite, "report", "traced.h5", "--trace", "bad.json", status=2)
        check("bad.json" in err, err)


def saved_units(name):
    """Finished units in the newer checkpoint."""
    found = [0]
    for slot in (0, 1):
        path = suite.path(f"{name}.h5.ckpt.{slot}")
        if os.path.exists(path):
            with open(path, "rb") as file:
                found.append(int(np.frombuffer(file.read(56)[24:56], np.int64)[3]))
    return max(found)


def stopped(name, tree):
    """A run that is told to stop once it has saved some units."""
    process = suite.start(["run", suite.deck(f"{name}.yaml", tree), "-o", suite.path(f"{name}.h5")],
                          env={"TSL_TEST_SLOW": "+0.03"})
    began, patience = time.time(), harness.Patience(60)
    while process.poll() is None and saved_units(name) == 0:
        check(not patience.over(), "no checkpoint")
        time.sleep(0.02)
    process.send_signal(signal.SIGUSR1)
    run = suite.finish(process, began, 60)
    check(run.status == 85, run.tail())


def report_restarted():
    """Units from a checkpoint belong to no rank: they are told, and no figure counts them."""
    tree = {"family": "tri", "run": {**CPU, "units": 150, "checkpoint": 0.2},
            "tri": {"function": "euclidean", "output": "condensed", "generator": {"kind": "uniform", "n": 1000}}}
    stopped("again", tree)
    page = report("again", ("matrix", "spread"), tree, args=("--restart", suite.path("again.h5")))
    with h5py.File(suite.path("again.h5")) as file:
        units = file["run/units"][...]
    before = units["rank"] < 0
    check(0 < before.sum() < len(units), f"{before.sum()} of {len(units)} units before the restart")
    check(f"{before.sum()} units of {len(units)} came from the checkpoint" in page.body(), page.body()[:3000])
    check(page.caption("timeline").startswith(f"Since the restart: {len(units) - before.sum()} units in "),
          page.caption("timeline"))
    shutil.copyfile(suite.path("again.h5"), suite.path("nothing.h5"))
    with h5py.File(suite.path("nothing.h5"), "r+") as file:  # a restart that found all units finished
        units["rank"] = -1
        file["run/units"][...] = units
    tool(suite, "report", "nothing.h5")
    page = Page(suite.path("nothing.html"))
    check("timeline" not in page.figures and f"{len(units)} units of {len(units)} came" in page.body(), "its page")


def report_refuses():
    suite.write("text.h5", "no HDF5")
    _, err = tool(suite, "report", "text.h5", status=2)
    check("text.h5" in err, err)
    with h5py.File(suite.path("other.h5"), "w") as file:
        file["results"] = np.zeros(3)
    _, err = tool(suite, "report", "other.h5", status=2)
    check("not an output" in err, err)


def report_keeps_files():
    """Neither its input nor a file of another kind, nor the target of a link."""
    with suite.result(RDF, name="kept"):
        pass
    os.link(suite.path("kept.h5"), suite.path("kept.html"))
    os.symlink("target", suite.path("linked.html"))
    suite.write("notes.html", "my notes")
    before = open(suite.path("kept.h5"), "rb").read()
    for args in ((), ("-o", "kept.h5"), ("-o", "./kept.h5"), ("-o", "linked.html"), ("-o", "notes.html")):
        tool(suite, "report", "kept.h5", *args, status=2)
        check(open(suite.path("kept.h5"), "rb").read() == before, f"{args}: the input was replaced")
    check(not os.path.exists(suite.path("target")), "written through a link")
    check(open(suite.path("notes.html")).read() == "my notes", "the notes were replaced")
    tool(suite, "report", "kept.h5", "-o", "good.html")


# ----------------------------------------------------------------- scaling


def scaling(*args, status=0, env=None):
    return tool(suite, "scaling", *args, "--program", suite.binary, status=status, env=env)


def time_of(name, folder="strong"):
    """Seconds of a run, as they are in its file."""
    with h5py.File(suite.path(os.path.join(folder, "runs", f"{name}.h5"))) as file:
        phases = file["run"].get("phases")
        talk = float(phases["communication"].sum()) if phases is not None else 0.0
        return float(file["run"].attrs["measured_seconds"]) + talk


STRONG = ("scale.yaml", "--ranks", "1,2", "--devices", "cpu", "--repeat", "3", "--threads", "1", "-o", "strong")


def strong():
    """Medians, speed-up and efficiency, and the page with the same numbers as the CSV."""
    suite.deck("scale.yaml", RDF)
    scaling(*STRONG)
    points, runs = csv_rows(suite.path("strong/strong.csv")), csv_rows(suite.path("strong/strong_runs.csv"))
    check([row["ranks"] for row in points] == ["1", "2"] and len(runs) == 6, f"{points}")
    times = {n: [time_of(f"cpu-n{n}-r{k}") for k in (1, 2, 3)] for n in (1, 2)}
    for row in points:
        mine = times[int(row["ranks"])]
        near(row["median_s"], statistics.median(mine))
        near(row["fastest_s"], min(mine))
        near(row["slowest_s"], max(mine))
        near(row["efficiency"], statistics.median(times[1]) / statistics.median(mine) / int(row["ranks"]))
        parts = sum(float(row[part]) for part in ("computing", "between", "waiting", "exchange", "around"))
        near(parts, 1.0)
    page = Page(suite.path("strong/strong.html"))
    page.has("speedup", "efficiency", "time", "overhead", "cost-cpu", "prediction")
    check(sum(name.startswith("timeline-") for name in page.figures) == 2, "two timelines")
    same_as_csv(page, "points", points)
    same_as_csv(page, "runs", runs)


def near(value, truth):
    check(abs(float(value) - truth) <= 1e-7 * max(abs(truth), 1e-12), f"{value}, expected {truth}")


def resumed():
    """The same command runs nothing; a run whose output is gone is made again; another request is refused."""
    out, _ = scaling(*STRONG)
    check("[1/" not in out, out)
    os.remove(suite.path("strong/runs/cpu-n2-r2.h5"))
    out, _ = scaling(*STRONG)
    check("[1/1] cpu-n2-r2" in out, out)
    _, err = scaling(*STRONG, "--set", "tri.bins=50", status=2)
    check("sets differ" in err, err)
    before = os.stat(suite.path("strong/runs/cpu-n1-r1.h5")).st_mtime_ns
    scaling(*STRONG, "--page-only", "--name", "again")
    check(os.path.exists(suite.path("strong/again.html")), "no page")
    check(os.stat(suite.path("strong/runs/cpu-n1-r1.h5")).st_mtime_ns == before, "a run was repeated")


def simulated():
    """What the program plans for nodes that are not here, as it says it, beside the runs of the folder."""
    with h5py.File(suite.path("strong/runs/cpu-n1-r1.h5")) as file:
        name = file["run/machine"][0]["device"].decode()
    suite.write("nodes.yaml", f"cluster:\n  nodes: [1, 2, 32]\n  devices: [{{name: {name}, threads: 1}}]\n"
                              "  network: {latency: 2e-6, bandwidth: 25e9}\n")
    suite.run(["calibrate", "scale.yaml", "-s", "run.threads=1"])
    scaling(*STRONG, "--simulate", suite.path("nodes.yaml"))
    rows, page = csv_rows(suite.path("strong/strong_simulated.csv")), Page(suite.path("strong/strong_simulated.html"))
    said = suite.run(["plan", "scale.yaml", "--cluster", "nodes.yaml", "-s", "run.threads=1"]).out
    check([row["ranks"] for row in rows] == ["1", "2", "32"] and f" {rows[2]['time_s']} " in said, f"{rows} {said}")
    page.has("speedup", "time")
    check("Beside what was measured" in page.body(), "no measured points")
    _, err = scaling(*STRONG, "--simulate", suite.path("scale.yaml"), status=2)
    check("scale.yaml:" in err and "cluster" in err, err)


def failed():
    """A device list that cannot be: shown as failed in page and CSV, repeated the next time, exit status 1."""
    suite.deck("scale.yaml", RDF)
    args = ("scale.yaml", "--ranks", "1", "--devices", "cpu", "gpu77", "cpu,cpu", "--repeat", "1", "-o", "failed")
    for _ in range(2):
        out, err = scaling(*args, status=1)
        check("gpu77-n1-r1" in out and "FAILED gpu77-n1-r1" in err, out + err)
    runs = csv_rows(suite.path("failed/failed_runs.csv"))
    check([row["status"] for row in runs] == ["ok", "FAILED", "ok"], f"{runs}")
    page = Page(suite.path("failed/failed.html"))
    page.has("mixes")
    same_as_csv(page, "runs", runs)
    check("Failed: gpu77-n1-r1" in page.body(), "the failure is not in the head")


def weak():
    """The problem grows with the ranks: n as the root, pairs in proportion."""
    suite.deck("scale.yaml", RDF)
    scaling("scale.yaml", "--mode", "weak", "--grow", "tri.generator.n=1/2", "--ranks", "1,2", "--repeat", "1",
            "-o", "weak", "--threads", "1", "--title", "grown")
    sizes = {}
    for n in (1, 2):
        with h5py.File(suite.path(f"weak/runs/cpu-n{n}-r1.h5")) as file:
            sizes[n] = float(file["results"].attrs["points"])
    check(sizes == {1: 3000, 2: round(3000 * 2 ** 0.5)}, f"{sizes}")
    row = csv_rows(suite.path("weak/weak.csv"))[1]
    pairs = {n: sizes[n] * (sizes[n] - 1) / 2 for n in sizes}
    scaled = pairs[2] / time_of("cpu-n2-r1", "weak") / (pairs[1] / time_of("cpu-n1-r1", "weak"))
    check(abs(float(row["speedup"]) / scaled - 1) < 1e-6, f"{row['speedup']}, expected {scaled}")
    page = Page(suite.path("weak/weak.html"))
    page.has("work", "speedup")
    check("grown" in page.body() and "Gustafson" in page.text, "title and law")


def fixed_time():
    """Sizes are tried until a run takes the wanted time, or six have been."""
    bare = {key: value for key, value in RDF.items() if key != "title"}
    suite.write("scale.yaml", harness.yaml(bare) + "title: >-\n  a title\n  of two lines\n")
    scaling("scale.yaml", "--mode", "time", "--seconds", "0.03", "--grow", "tri.generator.n=0.5", "--ranks", "1",
            "--repeat", "1", "-o", "time", "--threads", "1")
    with open(suite.path("time/runs/cpu-n1-r1.json"), encoding="utf-8") as file:
        last = json.load(file)["sets"]
    trials = sorted(name for name in os.listdir(suite.path("time/runs")) if name.startswith("cpu-n1-t") and
                    name.endswith(".json"))
    check(1 <= len(trials) <= 6 and last[0].startswith("tri.generator.n="), f"{trials} {last}")
    took = [time_of(name[:-5], "time") for name in trials]
    check(len(trials) == 6 or abs(took[-1] / 0.03 - 1) <= 0.05, f"{took}")
    Page(suite.path("time/time.html")).has("work")
    check(Page(suite.path("time/time.html")).heading() == "a title of two lines: scaling", "the title as YAML reads it")


FAKE = {"sbatch": """#!/bin/bash
id=$(($(ls "$FAKE"/job* 2>/dev/null | wc -l) + 1))
grep -q -- '--partition=main' "$2" || { echo "no partition" >&2; exit 1; }
n=$(sed -n 's/^#SBATCH --ntasks=//p' "$2"); log=$(sed -n 's/^#SBATCH --output=//p' "$2")
touch "$FAKE/job$id"
(RANKS=$n bash "$2" >"$log" 2>&1; rm -f "$FAKE/job$id"; touch "$FAKE/job$id.end") &
echo "$id;box"
""", "squeue": """#!/bin/bash
[ -e "$FAKE/job$3" ] && echo RUNNING || { echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1; }
""", "srun": """#!/bin/bash
root=(); [ "$(id -u)" -ne 0 ] || root=(--allow-run-as-root)
[ "$1" = --mpi=pmix ] && shift; [ "$RANKS" = 1 ] && exit 3
exec mpirun "${root[@]}" --oversubscribe --bind-to none -n "$RANKS" "$@"
"""}


def slurm():
    """Jobs are submitted and collected; one that ends with status 3 is a failed run."""
    suite.deck("scale.yaml", RDF)
    for name, text in FAKE.items():
        os.chmod(suite.write(name, text), 0o755)
    env = {"PATH": f"{suite.folder}:{os.environ['PATH']}", "FAKE": suite.folder}
    args = ("scale.yaml", "--ranks", "1,2", "--repeat", "1", "--slurm", "-o")
    scaling(*args, "slurm", "--slurm-options", "--partition=main", status=1, env=env)
    runs = csv_rows(suite.path("slurm/slurm_runs.csv"))
    check([row["status"] for row in runs] == ["FAILED", "ok"], f"{runs}")
    left = [name for name in os.listdir(suite.path("slurm/runs")) if name.endswith((".job", ".status"))]
    check(not left, f"left over: {left}")
    _, err = scaling(*args, "refused_jobs", env=env, status=1)
    check("no partition" in err, err)


def noted(folder, name):
    with open(suite.path(f"{folder}/runs/{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def ceiling():
    """As many copies at once as ranks, each on one rank's cores; efficiency over theirs in the page and the CSV."""
    suite.deck("alone.yaml", {**RDF, "tri": {**RDF["tri"], "generator": {**POINTS["generator"], "n": 30000}}})
    args = ("alone.yaml", "--ranks", "1,2", "--repeat", "1", "--threads", "1", "--ceiling", "-o", "alone")
    if len(os.sched_getaffinity(0)) < 2:
        _, err = scaling(*args, status=1)
        return check("FAILED cpu-n2-c1: the ranks have no cores of their own" in err, err)
    for _ in range(5):  # where other work slows one of two copies, they are not together
        done = subprocess.run([sys.executable, os.path.join(TOOLS, "scaling"), *args, "--program", suite.binary],
                              cwd=suite.folder, env=suite.environment(), capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
        check("at once for" in done.stderr, done.stderr)
    check(done.returncode == 0, done.stderr)
    points, groups = csv_rows(suite.path("alone/alone.csv")), csv_rows(suite.path("alone/alone_copies.csv"))
    notes = {n: noted("alone", f"cpu-n{n}-c1") for n in (1, 2)}
    check([len(set(notes[n]["cores"])) for n in (1, 2)] == [1, 2], f"cores: {notes}")
    alone = {n: n / sum(1 / seconds for seconds in notes[n]["times"]) for n in (1, 2)}
    for row, group in zip(points, groups):
        n = int(row["ranks"])
        near(group["time_s"], alone[n])
        near(row["ceiling"], alone[1] / alone[n])
        near(row["of_ceiling"], float(row["efficiency"]) * alone[n] / alone[1])
    begin, end = zip(*notes[2]["spans"])
    both = max(0, min(end) - max(begin))
    near(groups[1]["together"], both / statistics.mean(e - b for b, e in notes[2]["spans"]))
    page = Page(suite.path("alone/alone.html"))
    same_as_csv(page, "points", points)
    same_as_csv(page, "copies", groups)
    check("The host itself gives" in page.caption("efficiency"), page.caption("efficiency"))
    left = [name for name in os.listdir(suite.path("alone/runs")) if name.startswith("cpu-n2-c1-")]
    check(not left, f"left over: {left}")
    out, _ = scaling(*args)
    check("[1/" not in out, out)
    return f"{100 * float(points[1]['ceiling']):.0f} %"


# Programs that are as they should be in runs, and not in copies (which write a trace)
UNFIT = {"late": ("[ $OMPI_COMM_WORLD_LOCAL_RANK = 0 ] || sleep 1", "at once for"),
         "astray": ("set -- taskset -c {other} \"$@\"", "does --program bind?"),
         "ends": ("[ $OMPI_COMM_WORLD_LOCAL_RANK = 0 ] || { echo 'tesela: error: ended'; exit 3; }", "error: ended")}


def no_ceiling():
    """Copies that are not at once, not on their cores, or fail: no ceiling, and why."""
    suite.deck("scale.yaml", RDF)
    if len(os.sched_getaffinity(0)) < 2:
        return "left out: one core"
    other = max(os.sched_getaffinity(0))
    for name, (line, needle) in UNFIT.items():
        text = f"#!/bin/bash\nset -- {suite.binary} \"$@\"\ncase $* in *--trace*)\n{line.replace('{other}', str(other))};;\nesac\nexec \"$@\"\n"
        os.chmod(suite.write(f"program_{name}", text), 0o755)
        _, err = tool(suite, "scaling", "scale.yaml", "--ranks", "2", "--repeat", "1", "--threads", "1", "--ceiling",
                      "-o", name, "--program", suite.path(f"program_{name}"), status=1)
        check("FAILED cpu-n2-c1" in err and needle in err, f"{name}: {err}")
        check(csv_rows(suite.path(f"{name}/{name}.csv"))[0]["ceiling"] == "", f"{name}: a ceiling")
        check(needle in Page(suite.path(f"{name}/{name}.html")).body(), f"{name}: not in the page")


def refused():
    suite.deck("scale.yaml", RDF)
    for words, needle in ((("--mode", "weak"), "--grow"), (("--grow", "tri.generator.n=1"), "--mode weak"),
                          (("--mode", "weak", "--grow", "tri.generator.size=1"), "tri.generator.size"),
                          (("--mode", "weak", "--grow", "tri.function=1"), "no number"),
                          (("--mode", "weak", "--grow", "tri.generator.n=0"), "power"),
                          (("--seconds", "1"), "--mode time"), (("--devices", "cpu,cpu", "cpu,cpu"), "twice"),
                          (("--repeat", "0"), "above 0"), (("--at", "2"), "RANKS:"),
                          (("--ceiling", "--slurm"), "not with --slurm"), (("--ceiling", "--launch", "a"), "--launch"),
                          (("--ceiling", "--devices", "gpu"), "--devices cpu"),
                          (("--ceiling", "--mode", "time", "--seconds", "1", "--grow", "tri.generator.n=1"), "weak")):
        _, err = scaling("scale.yaml", *words, "-o", "refused", status=2)
        check(needle in err, f"{words}: {err}")
    _, err = scaling("none.yaml", status=2)
    check("none.yaml" in err, err)


# ------------------------------------------------------------------- parts


def known_laws():
    """Data made by a law give its share back; more exact than the tools need."""
    ns = [1, 2, 4, 8, 16]
    for share in (0.0, 0.01, 0.2, 1.0):
        speedups = [1 / (share + (1 - share) / n) for n in ns]
        check(abs(laws.amdahl_share(ns, speedups) - share) < 1e-12, f"Amdahl {share}")
        check(abs(laws.karp_flatt(8, speedups[3]) - share) < 1e-12, f"Karp and Flatt {share}")
        check(abs(laws.gustafson_share(ns, [n - share * (n - 1) for n in ns]) - share) < 1e-12, f"Gustafson {share}")


def known_copies():
    """Spans of two and three copies by hand; cores as lists."""
    for spans, truth in (([(0, 1)], 1), ([(0, 1), (0, 1)], 1), ([(0, 1), (1, 2)], 0), ([(0, 2), (1, 3)], 0.5),
                         ([(0, 1), (0, 2)], 2 / 3), ([(0, 2), (0, 2), (1, 3)], (3 + 3 + 2) / 12)):
        near(copies.together(spans), truth)
    near(copies.typical_time([1, 2]), 4 / 3)  # two ranks with a speed of 1 and 1/2 do 3/2 of one's work
    check(copies.cores_of("0-2,8") == {0, 1, 2, 8} and not copies.cores_of(""), "lists of cores")


def known_decks():
    text = ("family: tri # a\ntri:\n  generator:\n    kind: 'a#b' # c\n    n: 20000 # points\n  bins: 4\n"
            "run: {device: cpu}\n")
    found = deck.scalars(text)
    wanted = {"tri.generator.n": "20000", "tri.generator.kind": "a#b", "tri.bins": "4"}
    check(all(found[key] == value for key, value in wanted.items()), f"{found}")
    check(deck.Growth("tri.generator.n=1/2", found).setting(4.0) == "tri.generator.n=40000", "grown by a root")
    check(deck.Growth("a.b=2.5^1", found).setting(2.0) == "a.b=5", "a base of its own")


def known_ticks():
    check(svg.steps(0, 1, 5) == [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0], f"{svg.steps(0, 1, 5)}")
    for lo, hi in ((1e-6, 1e-5), (0.9, 1.1), (1, 1e12), (3, 3.1)):
        ticks = svg.Scale(lo, hi, log=True).ticks
        check(2 <= len(ticks) <= 14 and all(lo * 0.99 <= t <= hi * 1.01 for t in ticks), f"{lo} {hi}: {ticks}")


for each in (fixed_time, slurm, failed, weak, report_histogram, report_matrix, report_graph, report_frames, report_points,
             report_little, headings, axes, molecule, report_forces, report_fractal, report_dp, report_xc, report_earlier,
             many_phases, report_trace, report_restarted, report_refuses, report_keeps_files, ceiling, no_ceiling, refused,
             known_laws, known_copies, known_decks, known_ticks):
    suite.case(each.__name__.replace("_", " "), each)
suite.group = "strong"  # the second looks at what the first left
for each in (strong, simulated, resumed):
    suite.case(each.__name__, each)
suite.end()
