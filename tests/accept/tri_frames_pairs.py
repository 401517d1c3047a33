#!/usr/bin/env python3
"""Pairs of atoms of a list over time: distances of nearest images by numpy, contacts, the part of frames in which each
pair is one; ranks, a kill, and lists that are refused with file and line.

usage: tri_frames_pairs.py TESELA [--fast] [ONLY]
"""
import harness
from frames_truth import nearest, xyz_text
from harness import check, np
from interrupted import compare_contents, contents, go_on_after_kill

suite = harness.Suite(__doc__, jobs=2)
CELLS = {
    "orthorhombic": np.diag([9.0, 11, 13]),
    "triclinic": np.array([[12, 0, 0], [4, 11, 0], [-3, 5, 13.0]]),
    "flat": np.array([[14, 0, 0], [6.9, 13, 0], [6.5, 6, 14.0]]),
    "skewed": np.array([[9, 0, 0], [22, 8, 0], [-17, 13, 10.0]]),
    "left-handed": np.array([[4, 11, 0], [12, 0, 0], [-3, 5, 13.0]]),
}


def frames_of(n, count, cell, seed=3):
    rng = np.random.default_rng(seed)
    if cell is None:
        return [(rng.normal(0, 9, (n, 3)), None) for _ in range(count)]
    return [(rng.uniform(-1.5, 2, (n, 3)) @ c, c) for c in (cell * (1 + 0.01 * k) for k in range(count))]


def pairs_of(n, m, seed=5):
    """m different pairs, some with the larger atom first."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    pairs = np.stack([i, j], axis=1)[rng.choice(len(i), m, replace=False)]
    turned = rng.random(m) < 0.5
    pairs[turned] = pairs[turned][:, ::-1]
    return pairs


def distances(x, cell, pairs, periodic=(True, True, True)):
    """Nearest of very many images: the cell may be skewed."""
    return nearest(x[pairs[:, 0]] - x[pairs[:, 1]], cell, periodic, reach=5)


def deck(name, pairs="pairs.txt", threshold=4.0, which="all", threads=1, **more):
    return {"family": "tri", "run": {"device": "cpu", "threads": threads, "ranks": "all"},
            "tri": {"function": "euclidean", "output": "threshold", "threshold": threshold, "atom_pairs": pairs,
                    "input": {"file": name, "frames": which}, **more}}


def result(tree, ranks=None):
    with suite.result(tree, ranks=ranks) as file:
        units = file["results/distances"].attrs["unit"]
        return harness.datasets(file), units


def write_pairs(pairs, form="{} {}\n", name="pairs.txt"):
    suite.write(name, "".join(form.format(i, j) for i, j in pairs))


def compare(out, frames, pairs, threshold, periodic=(True, True, True)):
    truth = np.array([distances(x, c, pairs, periodic) for x, c in frames])
    check(out["atom_pairs"].tolist() == pairs.tolist(), "other pairs")
    check(out["distances"].dtype == np.float64 and out["distances"].shape == truth.shape, "other shape")
    off = np.abs(out["distances"] - truth).max()
    check(off < 1e-12 * (1 + np.abs(truth).max()), f"distances are off by {off}")
    check(np.abs(truth - threshold).min() > 1e-9, "a pair is at the threshold: take another seed")
    near = truth <= threshold
    check(0 < near.sum() < near.size, "all pairs or none are contacts: take another threshold")
    check(np.array_equal(out["in_contact"], near), "other contacts")
    check(np.array_equal(out["contacts"], near.sum(axis=1)), "other numbers of contacts")
    check(np.allclose(out["occupancy"], near.mean(axis=0), rtol=1e-14), "other occupancy")


def cell_case(name, ranks, precision):
    frames, pairs = frames_of(60, 5, CELLS[name]), pairs_of(60, 90)
    suite.write("a.xyz", xyz_text(frames))
    write_pairs(pairs)
    out, unit = result(deck("a.xyz", threshold=5.5, precision=precision), ranks)
    check(unit == "angstrom", unit)
    compare(out, frames, pairs, 5.5)


def axes_case():
    """Axes that are not periodic, no cell, the deck's box; thresholds beyond half of a cell."""
    pairs = pairs_of(50, 60)
    write_pairs(pairs)
    for periodic in ((True, True, False), (False, True, False), (False, False, False)):
        frames = frames_of(50, 3, CELLS["triclinic"])
        suite.write("open.xyz", xyz_text(frames, f'pbc="{" ".join("T" if p else "F" for p in periodic)}"'))
        compare(result(deck("open.xyz", threshold=9.5))[0], frames, pairs, 9.5, periodic)
    free = frames_of(50, 3, None)
    suite.write("free.xyz", xyz_text(free))
    compare(result(deck("free.xyz", threshold=15.0))[0], free, pairs, 15.0)
    box = [(x, np.diag([20.0, 19, 18])) for x, _ in free]
    compare(result(deck("free.xyz", threshold=8.0, box=[20, 19, 18]))[0], box, pairs, 8.0)
    compare(result(deck("free.xyz", threshold=11.0, box=[20, 19, 18]))[0], box, pairs, 11.0)


def all_case():
    """A list of all pairs has as many contacts as are counted without a list."""
    frames = frames_of(80, 4, CELLS["triclinic"])
    suite.write("all.xyz", xyz_text(frames))
    write_pairs(pairs_of(80, 80 * 79 // 2))
    tree = deck("all.xyz", precision="fp64")
    out, _ = result(tree)
    del tree["tri"]["atom_pairs"]
    with suite.result(tree) as file:
        check(np.array_equal(file["results/contacts"][:], out["contacts"]), "other contacts")


def ranks_case():
    """The same bytes from any number of ranks and threads."""
    suite.write("many.xyz", xyz_text(frames_of(40, 17, CELLS["flat"])))
    write_pairs(pairs_of(40, 33))
    first = None
    for ranks, threads in ((None, 1), (2, 1), (3, 1), (5, 1), (None, 3)):
        out, _ = result(deck("many.xyz", threads=threads), ranks)
        first = first or out
        check(first.keys() == out.keys(), "other datasets")
        for name in out:
            check(out[name].tobytes() == first[name].tobytes(), f"{name} differs with {ranks} ranks")


def restart_case():
    suite.write("long.xyz", xyz_text(frames_of(40, 40, CELLS["triclinic"])))
    write_pairs(pairs_of(40, 33))
    tree = deck("long.xyz")
    with suite.result(tree) as file:
        whole = contents(file.filename)
    compare_contents("pairs", go_on_after_kill(suite, tree, "killed", 2, 3), whole)


def forms_case():
    """Ways to write a list; a single pair; some of the frames; a distance of the threshold counts."""
    frames, pairs = frames_of(40, 4, CELLS["triclinic"]), pairs_of(40, 12)
    suite.write("a.xyz", xyz_text(frames))
    write_pairs(pairs)
    truth, _ = result(deck("a.xyz", threshold=5.5))
    compare(truth, frames, pairs, 5.5)
    for form in ("{},{}\n", " {}\t{} \r\n", "{} ; {}\n", "# none\n\n{} {} # a pair\n"):
        write_pairs(pairs, form, "other.txt")
        out, _ = result(deck("a.xyz", "other.txt", threshold=5.5))
        check(all(np.array_equal(out[k], truth[k]) for k in truth), f"other results of {form!r}")
    out, _ = result(deck("a.xyz", threshold=5.5, which="2:4:2"))
    check(np.array_equal(out["distances"], truth["distances"][[1, 3]]), "other frames")
    suite.write("on.xyz", xyz_text([(np.array([[0.0, 0, 0], [2, 0, 0], [15, 0, 0]]), np.diag([16.0, 16, 16]))]))
    suite.write("on.txt", "0 1\n2 1\n2 0")
    out, _ = result(deck("on.xyz", "on.txt", threshold=2.0))
    check(out["distances"].tolist() == [[2, 3, 1]] and out["in_contact"].tolist() == [[1, 0, 1]], f"{out}")
    check(out["occupancy"].tolist() == [1, 0, 1] and out["contacts"].tolist() == [2], f"{out}")


def refused_case():
    suite.write("a.xyz", xyz_text(frames_of(40, 2, CELLS["triclinic"])))

    def bad(what, text, words, **more):
        suite.write("bad.txt", text)
        run = suite.run(["run", suite.deck("bad.yaml", deck("a.xyz", "bad.txt", **more)), "-o", suite.path("bad.h5")])
        said = run.out + run.err
        check(run.status == 2, f"{what}: status {run.status}: {said[-400:]}")
        for word in words:
            check(word in said, f"{what}: '{word}' is missing in {said[-400:]}")

    bad("outside", "0 1\n2 40\n", ["bad.yaml", "tri.atom_pairs", "bad.txt:2: atom 40; the frames have atoms 0 to 39"])
    bad("negative", "0 1\n# x\n-1 2\n", ["bad.txt:3: atom -1; the frames have atoms 0 to 39"])
    bad("twice", "3 7\n0 1\n3 7\n", ["bad.txt:3: atoms 3 and 7 are the pair of line 1, too"])
    bad("turned", "0 1\n3 7\n4 5\n7 3\n", ["bad.txt:4: atoms 3 and 7 are the pair of line 2, too"])
    bad("itself", "0 1\n5 5\n", ["bad.txt:2: atom 5 with itself"])
    bad("one column", "0 1\n2\n", ["bad.txt:2: two numbers of atoms are expected"])
    bad("three columns", "0 1 2\n", ["bad.txt:1: two numbers of atoms are expected; '2' is one more"])
    bad("a word", "0 1\n0 Ar\n", ["bad.txt:2: two numbers of atoms are expected; 'Ar' is none"])
    bad("no whole number", "0 1.5\n", ["bad.txt:1: two numbers of atoms are expected; '1.5' is none"])
    bad("nothing", "# none\n", ["bad.txt: no pair of atoms is in it"])
    bad("histogram", "0 1\n", ["tri.atom_pairs", "is of output threshold"], output="histogram")
    suite.write("b.csv", "0 0 0\n1 1 1\n")
    tree = deck("b.csv")
    del tree["tri"]["input"]["frames"]
    run = suite.run(["run", suite.deck("bad.yaml", tree), "-o", suite.path("bad.h5")])
    check(run.status == 2 and "tri.atom_pairs: goes with a trajectory" in run.out + run.err, run.tail())
    tree["tri"].update(atom_pairs="none.txt", input={"file": "a.xyz", "frames": "all"})
    run = suite.run(["run", suite.deck("bad.yaml", tree), "-o", suite.path("bad.h5")])
    check(run.status == 2 and "tri.atom_pairs" in run.err + run.out and "cannot open" in run.out + run.err, run.tail())
    suite.write("flat.xyz", xyz_text(frames_of(9, 1, np.array([[1000.0, 0, 0], [900, 5, 0], [0, 0, 9]]))))
    suite.write("on.txt", "0 1\n")
    run = suite.run(["run", suite.deck("bad.yaml", deck("flat.xyz", "on.txt")), "-o", suite.path("bad.h5")])
    check(run.status == 2 and "flat.xyz: frame 1: its cell is too flat" in run.out + run.err, run.tail())


for turn, kind in enumerate(CELLS):
    suite.case(kind, cell_case, kind, (None, 2, 3)[turn % 3], ("fp32", "fp64")[turn % 2])
suite.case("axes, no cell, the deck's box", axes_case)
suite.case("a list of all pairs", all_case)
suite.case("ranks and threads", ranks_case)
suite.case("killed on 2 ranks, 3 go on", restart_case)
suite.case("forms of lists", forms_case)
suite.case("refused", refused_case)
suite.end()
