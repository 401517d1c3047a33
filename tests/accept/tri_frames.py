#!/usr/bin/env python3
"""Frames of trajectories: counts of a plain loop over images, ranks, ranges of frames, formats, and what is refused.

usage: tri_frames.py TESELA [--fast] [ONLY]

Places are random, or on a lattice, clustered, all in one spot; cells are orthorhombic, triclinic and turned, thin, left
handed; some axes are not periodic. In fp64 every count is that of numpy; in fp32 a pair at an edge may be in the bin
beside it. XTC, DCD and PDB need libchemfiles and its Python package, which writes them (skipped where they lack).
"""
import os
import sys

import harness
from frames_truth import nearest, xyz_text
from harness import check, h5py, np
from interrupted import compare_contents, contents, go_on_after_kill

suite = harness.Suite(__doc__, jobs=2)


def orthorhombic(rng):
    return np.diag(rng.uniform(9, 15, 3))


def thin(rng):
    return np.diag([30.0, 8.0, 12.0])


def turned(rng):
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return np.array([[12, 0, 0], [4, 11, 0], [-3, 5, 13.0]]) @ rotation


def left_handed(rng):
    return turned(rng)[[1, 0, 2]]


def flat(rng):
    return np.array([[14, 0, 0], [6.9, 13, 0], [6.5, 6, 14.0]])


CELLS = [orthorhombic, thin, turned, left_handed, flat]


def scattered(rng, n):
    return rng.uniform(-1, 2, (n, 3))


def lattice(rng, n):
    return rng.integers(0, 9, (n, 3)) / 8.0 + 1e-3 * rng.random((n, 3))


def clustered(rng, n):
    return rng.random((5, 3))[rng.integers(0, 5, n)] + 0.03 * rng.normal(size=(n, 3))


def one_spot(rng, n):
    return 0.99999 + 1e-4 * rng.random((n, 3))


PLACES = [scattered, lattice, clustered, one_spot]


def distances(x, cell, periodic=(True, True, True)):
    """Of all pairs, the nearest of 27 images."""
    i, j = np.triu_indices(len(x), 1)
    return nearest(x[i] - x[j], cell, periodic)


def half_height(cell):
    return min(1 / np.linalg.norm(np.linalg.inv(cell), axis=0)) / 2


def deck(name, cut, bins=40, which="all", **more):
    return {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
            "tri": {"function": "euclidean", "output": "histogram", "bins": bins, "range": [0, cut],
                    "input": {"file": name, "frames": which}, **more}}


def result(tree, ranks=None, env=None):
    more = {} if env is None else {"env": env}
    with suite.result(tree, ranks=ranks, **more) as file:
        return harness.datasets(file)


def close(frame, counts, d, cut, bins, exact):
    edges = cut * np.arange(bins + 1) / bins
    truth = np.histogram(d[d < cut], edges)[0]
    off = np.abs(truth - counts.astype(np.int64)).sum()
    unsure = np.abs(d[:, None] - edges[None, :]).min(axis=1) < (1e-7 if exact else 2e-5)
    check(off <= 2 * unsure.sum(), f"frame {frame}: counts are off by {off}, {unsure.sum()} pairs are at edges")
    check(not exact or unsure.sum() < 0.01 * len(d) + 5, "too many pairs at edges to tell")


def cell_case(make, places, n, precision, ranks):
    rng = np.random.default_rng(n + 7 * ranks)
    frames = []
    for _ in range(4):
        cell = make(rng)
        frames.append((places(rng, n) @ cell, cell))
    cut, bins = 0.999 * min(half_height(c) for _, c in frames), 37
    suite.write("frames.xyz", xyz_text(frames))
    out = result(deck("frames.xyz", cut, bins, precision=precision), ranks if ranks > 1 else None)
    check(out["frames"].tolist() == [1, 2, 3, 4], "other frames")
    g = []
    for k, (x, cell) in enumerate(frames):
        close(k + 1, out["counts_frames"][k], distances(x, cell), cut, bins, precision == "fp64")
        volume = abs(np.linalg.det(cell))
        check(np.isclose(out["volumes"][k], volume, rtol=1e-12), "other volume")
        e = out["edges"]
        ideal = n * (n - 1) / 2 * 4 / 3 * np.pi * (e[1:] ** 3 - e[:-1] ** 3) / volume
        g.append(out["counts_frames"][k] / ideal)
    check(np.allclose(out["rdf_frames"], g, rtol=1e-12), "other g(r) of frames")
    check(np.allclose(out["rdf"], np.mean(g, axis=0), rtol=1e-12), "other mean")
    check(np.allclose(out["rdf_error"], np.std(g, axis=0, ddof=1) / 2, rtol=1e-9), "other error")
    running = 2 * np.cumsum(out["counts_frames"], axis=1) / n
    check(np.allclose(out["coordination"], running.mean(axis=0), rtol=1e-12), "other coordination")
    check(np.allclose(out["coordination_error"], running.std(axis=0, ddof=1) / 2, rtol=1e-9), "its error")
    check(np.array_equal(out["counts"], out["counts_frames"].sum(axis=0)), "other sum")


def cell_cases():
    turn = 0
    for make in CELLS:
        for places in PLACES:
            for n in (2, 3, 331):
                turn += 1
                if suite.fast and turn % 3 != 0:
                    continue
                suite.case(f"{make.__name__}, {places.__name__}, {n} atoms", cell_case, make, places, n,
                           ("fp32", "fp64")[turn // 3 % 2], (1, 2, 3, 5)[turn // 3 % 4])


def trajectory(count, n=150, seed=5):
    rng = np.random.default_rng(seed)
    return [(scattered(rng, n) @ c, c) for c in (turned(rng) * (1 + 0.01 * k) for k in range(count))]


def ranks_case():
    """The same bytes from any number of ranks and threads."""
    suite.write("many.xyz", xyz_text(trajectory(23)))
    for output in ({}, {"output": "threshold", "threshold": 4.5}):
        first = None
        for ranks, threads in ((None, 1), (None, 3), (2, 1), (3, 1), (5, 1)):
            tree = deck("many.xyz", 5.0)
            tree["run"]["threads"] = threads
            if output:
                del tree["tri"]["range"], tree["tri"]["bins"]
            tree["tri"].update(output)
            out = result(tree, ranks)
            first = first or out
            check(first.keys() == out.keys(), "other datasets")
            for name in out:
                check(out[name].tobytes() == first[name].tobytes(), f"{name} differs with {ranks} ranks")


def few_threads_case():
    """Threads share a frame where there are fewer frames than threads."""
    frames = trajectory(1, 1100)
    suite.write("large.xyz", xyz_text(frames))
    tree = deck("large.xyz", 5.0, precision="fp64")
    one = result(tree)["counts"]
    tree["run"]["threads"] = 4
    check(np.array_equal(one, result(tree)["counts"]), "other counts")
    close(1, one, distances(*frames[0]), 5.0, 40, True)


def choice_case():
    suite.write("nine.xyz", xyz_text(trajectory(9)))
    everything = result(deck("nine.xyz", 5.0))
    for which, numbers in (("2:8:3", [2, 5, 8]), ('"7:"', [7, 8, 9]), ('":2"', [1, 2]), ("4:4", [4])):
        out = result(deck("nine.xyz", 5.0, which=which))
        check(out["frames"].tolist() == numbers, f"{which}: {out['frames']}")
        rows = everything["counts_frames"][np.array(numbers) - 1]
        check(np.array_equal(out["counts_frames"], rows), f"{which}: other rows")


def contacts_case():
    frames = trajectory(5)
    suite.write("five.xyz", xyz_text(frames))
    tree = deck("five.xyz", 1, precision="fp64", output="threshold", threshold=4.0)
    del tree["tri"]["bins"], tree["tri"]["range"]
    out = result(tree, 2)
    truth = [(distances(x, c) <= 4.0).sum() for x, c in frames]
    check(out["contacts"].tolist() == truth, f"{out['contacts']}, not {truth}")
    on_it = np.array([[0.0, 0, 0], [2, 0, 0], [4, 0, 0]])
    suite.write("on.xyz", xyz_text([(on_it, np.diag([16.0, 16, 16]))]))
    tree["tri"].update(threshold=2.0, input={"file": "on.xyz", "frames": "all"})
    check(result(tree)["contacts"].tolist() == [2], "a distance of the threshold counts")


def open_case(periodic):
    """Axes that are not periodic, a cell or none."""
    rng = np.random.default_rng(11)
    letters = " ".join("T" if k else "F" for k in periodic)
    frames = [(rng.uniform(-40, 60, (200, 3)), np.diag([30.0, 31.0, 32.0])) for _ in range(3)]
    text = xyz_text(frames, comment=f'pbc="{letters}"')
    suite.write("open.xyz", text)
    out = result(deck("open.xyz", 14.0, precision="fp64"))
    for k, (x, cell) in enumerate(frames):
        close(k + 1, out["counts_frames"][k], distances(x, cell, np.array(periodic)), 14.0, 40, True)
    check(np.all(out["volumes"] == 0) == (not all(periodic)), "volume of an open cell")


def no_cell_case():
    rng = np.random.default_rng(12)
    frames = [(rng.normal(0, 9, (200, 3)), None) for _ in range(3)]
    suite.write("free.xyz", xyz_text(frames, comment="no cell"))
    out = result(deck("free.xyz", 60.0, precision="fp64"))
    check("rdf" not in out, "g(r) without a volume")
    for k, (x, _) in enumerate(frames):
        close(k + 1, out["counts_frames"][k], distances(x, None), 60.0, 40, True)
    out = result(deck("free.xyz", 9.0, precision="fp64", box=[20, 19, 18]))
    for k, (x, _) in enumerate(frames):
        close(k + 1, out["counts_frames"][k], distances(x, np.diag([20.0, 19, 18])), 9.0, 40, True)


def dialects_case():
    """Columns elsewhere, blank lines, CRLF, exponents, no end of line at the end."""
    frames = trajectory(3)
    suite.write("plain.xyz", xyz_text(frames))
    truth = result(deck("plain.xyz", 5.0))["counts_frames"]
    usual = xyz_text(frames)
    other = {"columns": xyz_text(frames, 'Properties=species:S:1:q:R:2:pos:R:3:id:I:1', ("0.5", "1e3"), ("7",)),
             "blank": usual.replace("150\n", "\n150\n"), "crlf": usual.replace("\n", "\r\n"), "no end": usual[:-1],
             "tabs": usual.replace("Ar ", "  Ar\t")}
    for name, text in other.items():
        suite.write("other.extxyz", text)
        check(np.array_equal(result(deck("other.extxyz", 5.0))["counts_frames"], truth), name)
    short = [(np.round(x, 3), c) for x, c in frames]
    suite.write("short.xyz", xyz_text(short))
    suite.write("long.xyz", "".join(
        f"{len(x)}\nLattice=\"{' '.join(repr(float(v)) for v in c.ravel())}\"\n" + "".join(
            f"Ar {p[0]:.20f} {p[1]:.17e} {p[2]:+.3f}\n" for p in x) for x, c in short))
    check(np.array_equal(result(deck("short.xyz", 5.0))["counts_frames"],
                         result(deck("long.xyz", 5.0))["counts_frames"]), "numbers in another form")


def left_out_case():
    """A last frame that is cut off is named, and those before it are kept."""
    text = xyz_text(trajectory(4))
    lines = text.splitlines(keepends=True)
    for name, cut in {"lines": "".join(lines[:-7]), "head": "".join(lines[:-151]), "count": "".join(lines[:-151]),
                      "word": text[:text.rstrip().rfind(" ")]}.items():
        suite.write("cut.xyz", cut)
        with suite.result(deck("cut.xyz", 5.0)) as file:
            facts, rows = file["run/facts"].asstr()[()], len(file["results/frames"])
        check(rows == 3 and "frame 4 of line 457 is cut off" in facts, f"{name}: {facts}")


def refuse(name, words, tree, ranks=None, env=None):
    path = suite.deck("bad.yaml", tree)
    run = suite.run(["run", path, "-o", suite.path("bad.h5")], ranks=ranks, **({"env": env} if env else {}))
    said = run.out + run.err
    check(run.status == 2, f"{name}: status {run.status}: {said[-500:]}")
    for word in words:
        check(word in said, f"{name}: '{word}' is missing in {said[-500:]}")


def refused_case():
    good = trajectory(3)
    text = xyz_text(good)

    def bad(name, content, words, cut=5.0, file="bad.xyz", **more):
        suite.write(file, content)
        refuse(name, words, deck(file, cut, **more))

    x, c = good[1]
    bad("atoms", xyz_text([good[0], (x[:-1], c), good[2]]), ["bad.xyz:153: frame 2 has 149 atoms, the first one 150"])
    bad("boxes", xyz_text([good[0], (x, None), good[2]]), ["bad.xyz:154: frame 2 has no Lattice"])
    bad("only frame cut off", text[:300], ["frame 1 of line 1 is cut off", "there is no other"])
    bad("empty", "\n\n", ["an empty XYZ file"])
    bad("word", text.replace("Ar", "Ar x", 1), ["bad.xyz:3", "'x' is not a number"])
    bad("nan", text.replace("Ar ", "Ar nan ", 1), ["bad.xyz:3"])
    bad("few words", "2\nLattice=\"9 0 0 0 9 0 0 0 9\"\nAr 1 2\nAr 1 2 3\n", ["bad.xyz:3: 3 words"], cut=2.0)
    bad("count", "x\n\n", ["'x' is not a number of atoms"])
    bad("lattice", "1\nLattice=\"9 0 0 0 9 0 0 0\"\nAr 1 2 3\n", ["Lattice needs 9 numbers"], cut=2.0)
    bad("flat cell", "1\nLattice=\"9 0 0 0 9 0 9 9 0\"\nAr 1 2 3\n", ["tri.input.file", "frame 1", "its cell has no volume"], cut=2.0)
    bad("properties", text.replace("pos:R:3", "pos:R:2", 1), ["bad.xyz:2: frame 1: Properties without pos:R:3"])
    bad("half", text, ["tri.range", "above half of the least height"], cut=half_height(good[0][1]) * 1.01)
    bad("ending", text, ["frames are read of files whose names end in"], file="bad.abc")
    bad("range of frames", text, ["the file has frames 1 to 3"], which="2:9")
    bad("words of frames", text, ["FIRST:LAST"], which="two")
    bad("box beside cells", text, ["have cells of their own"], box=[20, 20, 20])
    bad("box of two", xyz_text([(x, None)]), ["2 edges"], box=[20, 20])
    bad("key", text, ["bad.yaml", "tri.search: not used with input.frames"], search="near")
    bad("column", text, ["tri.input.columns"], input={"file": "bad.xyz", "frames": "all", "columns": [0, 1, 2]})
    bad("function", text, ["function euclidean"], function="manhattan")
    bad("output", text, ["histogram or threshold"], output="topk")
    bad("lo above hi", text, ["0 <= lo < hi"], range=[3, 2])
    suite.write("bad.dcd", text)
    refuse("no library", ["libchemfiles.so", "PyPI: chemfiles", "TSL_CHEMFILES"], deck("bad.dcd", 5.0),
           env={"TSL_CHEMFILES": "/nowhere"})
    refuse("no file", ["tri.input.file", "cannot open"], deck("none.xyz", 5.0))


def restart_case(ranks, again):
    """Frames that are finished stay so after a kill."""
    suite.write("many.xyz", xyz_text(trajectory(40)))
    tree = deck("many.xyz", 5.0)
    with suite.result(tree) as file:
        whole = contents(file.filename)
    compare_contents("frames", go_on_after_kill(suite, tree, f"killed_{ranks}", ranks, again), whole)


def library_case(ending, exact):
    cells = [np.array([[12, 0, 0], [4, 11, 0], [-3, 5, 13.0]]) * (1 + 0.01 * k) for k in range(5)]
    frames = [(np.round(scattered(np.random.default_rng(k), 150) @ c, 2), c) for k, c in enumerate(cells)]
    import chemfiles
    env = {"TSL_CHEMFILES": os.path.dirname(chemfiles.__file__)}
    path = suite.path("lib" + ending)
    with chemfiles.Trajectory(path, "w") as out:
        for x, c in frames:
            frame = chemfiles.Frame()
            for p in x:
                frame.add_atom(chemfiles.Atom("Ar"), p)
            frame.cell = chemfiles.UnitCell(c.T)
            out.write(frame)
    suite.write("lib.xyz", xyz_text(frames))
    mine, its = (result(deck("lib" + e, 4.9, precision="fp64"), 2, env) for e in (".xyz", ending))
    check(its["frames"].tolist() == [1, 2, 3, 4, 5], "other frames")
    check(np.allclose(mine["volumes"], its["volumes"], rtol=1e-4), "other volumes")
    off = np.abs(mine["counts_frames"].astype(int) - its["counts_frames"].astype(int)).sum()
    check(off <= exact * mine["counts"].sum(), f"counts are off by {off} of {mine['counts'].sum()}")


def library_cases():
    sys.path += ["/usr/local/lib/tesela-chemfiles", os.path.expanduser("~/.local/lib/tesela-chemfiles")]
    try:
        import chemfiles  # noqa: F401
    except ImportError:
        print("skipped: XTC, DCD, PDB (PyPI's chemfiles is not installed)")
        return
    for ending in (".xtc", ".dcd", ".pdb"):
        suite.case(f"library {ending}", library_case, ending, 0.01)


cell_cases()
suite.case("ranks and threads", ranks_case)
suite.case("a frame of several threads", few_threads_case)
suite.case("ranges of frames", choice_case)
suite.case("contacts", contacts_case)
for axes in ((True, True, False), (False, True, False), (False, False, False), (True, True, True)):
    suite.case(f"axes {axes}", open_case, axes)
suite.case("no cell, the deck's box", no_cell_case)
suite.case("dialects of XYZ", dialects_case)
suite.case("a last frame cut off", left_out_case)
suite.case("refused", refused_case)
suite.case("killed on 1 rank, 3 go on", restart_case, None, 3)
suite.case("killed on 2 ranks, 1 goes on", restart_case, 2, None)
library_cases()
suite.end()
