#!/usr/bin/env python3
"""Kinds of a trajectory's atoms: partial g(r) and coordination numbers of each pair of kinds, by numpy's plain loop
over images; weights of atoms; kinds by symbols, by a text, by another file; ranks; what is refused.

usage: tri_frames_kinds.py TESELA [--fast] [ONLY]

PDB, GRO and XTC need chemfiles' Python package, which writes them (skipped where it lacks).
"""
import os
import sys

import harness
from harness import check, np

suite = harness.Suite(__doc__, jobs=2)
BINS, CUT = 25, 5.0
WORDS = ["Na", "Cl", "O", "H"]


def cell_of(k):
    return np.array([[13, 0, 0], [3.5, 12, 0], [-3, 4, 14.0]]) * (1 + 0.01 * k)


def frames_of(n, count, seed=3):
    rng = np.random.default_rng(seed)
    return [(rng.uniform(-1, 2, (n, 3)) @ cell_of(k), cell_of(k)) for k in range(count)]


def symbols_of(n, kinds, seed=4):
    """Every kind at least once, the last one exactly once."""
    rng = np.random.default_rng(seed)
    words = WORDS[:kinds] if kinds <= len(WORDS) else [f"K{k:02d}" for k in range(kinds)]
    some = list(rng.choice(words[:-1] or words, n - kinds))
    some += words
    rng.shuffle(some)
    return [str(s) for s in some]


def xyz_text(frames, symbols, comment="Properties=species:S:1:pos:R:3", after=None):
    text = ""
    for x, cell in frames:
        box = "" if cell is None else f'Lattice="{" ".join(repr(float(v)) for v in cell.ravel())}" '
        text += f"{len(x)}\n{box}{comment}\n"
        for s, p in zip(symbols, x):
            place = " ".join(repr(float(v)) for v in p)
            text += f"{s} {place}\n" if after is None else f"{after} {place} {s}\n"
    return text


def deck(name, threads=1, which="all", more=None, **keys):
    tree = {"family": "tri", "run": {"device": "cpu", "threads": threads, "ranks": "all"},
            "tri": {"function": "euclidean", "output": "histogram", "bins": BINS, "range": [0, CUT],
                    "precision": "fp64", "input": {"file": name, "frames": which, **(more or {"symbols": True})}}}
    tree["tri"].update(keys)
    return tree


def result(tree, ranks=None, env=None):
    with suite.result(tree, ranks=ranks, **({} if env is None else {"env": env})) as file:
        return harness.datasets(file), file["run/facts"].asstr()[()]


def histogram(x, cell, kinds, a, b, weights=None):
    """Pairs of an atom of kind a and one of kind b, each once, or their weights."""
    i, j = np.triu_indices(len(x), 1)
    keep = ((kinds[i] == a) & (kinds[j] == b)) | ((kinds[i] == b) & (kinds[j] == a))
    d = x[i[keep]] - x[j[keep]]
    best = np.full(len(d), np.inf)
    if cell is None:
        best = np.linalg.norm(d, axis=1)
    else:
        s = d @ np.linalg.inv(cell)
        s -= np.round(s)
        for image in np.ndindex(3, 3, 3):
            best = np.minimum(best, np.linalg.norm((s + np.array(image) - 1) @ cell, axis=1))
    edges = CUT * np.arange(BINS + 1) / BINS
    check(len(d) == 0 or np.abs(best[:, None] - edges).min() > 1e-7, "a pair is at an edge: take another seed")
    if weights is None:
        return np.histogram(best[best < CUT], edges)[0]
    return np.histogram(best, edges, weights=(weights[i] * weights[j])[keep] * (best < CUT))[0]


def compare(out, facts, frames, symbols):
    """All datasets against numpy."""
    names = sorted(set(symbols))
    kinds = np.array([names.index(s) for s in symbols])
    n, m = len(names), len(frames)
    atoms = np.bincount(kinds)
    for said in ("kinds: " + ", ".join(f"{k} {w}" for k, w in enumerate(names)),
                 "atoms of each kind: " + ", ".join(map(str, atoms))):
        check(said + "\n" in facts, f"{said} is missing in {facts}")
    pairs = [(a, b) for a in range(n) for b in range(a, n)]
    check(out["kinds"].tolist() == [list(p) for p in pairs], f"kinds: {out['kinds']}")
    counts = np.array([[histogram(x, c, kinds, a, b) for a, b in pairs] for x, c in frames])
    check(np.array_equal(out["counts_frames"], counts), "other counts of frames")
    check(np.array_equal(out["counts"], counts.sum(axis=0)), "other counts")
    coordination = np.zeros((m, n, n, BINS))
    for k, (a, b) in enumerate(pairs):
        running = np.cumsum(counts[:, k], axis=1)
        coordination[:, a, b] += running / atoms[a]
        coordination[:, b, a] += running / atoms[b] if a != b else running / atoms[a]
    check(np.allclose(out["coordination"], coordination.mean(axis=0), rtol=1e-12), "other coordination")
    error = coordination.std(axis=0, ddof=1) / np.sqrt(m) if m > 1 else np.zeros((n, n, BINS))
    check(np.allclose(out["coordination_error"], error, rtol=1e-9, atol=1e-14), "other error of coordination")
    if frames[0][1] is None:
        check("rdf" not in out, "g(r) without a volume")
        return
    e = out["edges"]
    shells = 4 / 3 * np.pi * (e[1:] ** 3 - e[:-1] ** 3)
    g = np.zeros(counts.shape)
    for k, (a, b) in enumerate(pairs):
        all_pairs = atoms[a] * atoms[b] if a != b else atoms[a] * (atoms[a] - 1) / 2
        for f, (_, cell) in enumerate(frames):
            if all_pairs > 0:
                g[f, k] = counts[f, k] / (all_pairs * shells / abs(np.linalg.det(cell)))
    check(np.allclose(out["rdf_frames"], g, rtol=1e-12), "other g(r) of frames")
    check(np.allclose(out["rdf"], g.mean(axis=0), rtol=1e-12), "other g(r)")
    error = g.std(axis=0, ddof=1) / np.sqrt(m) if m > 1 else np.zeros(g.shape[1:])
    check(np.allclose(out["rdf_error"], error, rtol=1e-9, atol=1e-14), "other error of g(r)")


def kinds_case(n, kinds, count, ranks, threads=1):
    frames, symbols = frames_of(n, count), symbols_of(n, kinds)
    suite.write("kinds.xyz", xyz_text(frames, symbols))
    out, facts = result(deck("kinds.xyz", threads), ranks)
    compare(out, facts, frames, symbols)


def sums_case():
    """All pairs of kinds together are the pairs without kinds; also with more bins than fit a cache's copies."""
    frames, symbols = frames_of(400, 3), symbols_of(400, 4)
    suite.write("sums.xyz", xyz_text(frames, symbols))
    for bins in (7, 300, 5000):
        for precision in ("fp32", "fp64"):
            with_kinds, _ = result(deck("sums.xyz", bins=bins, precision=precision))
            tree = deck("sums.xyz", bins=bins, precision=precision)
            del tree["tri"]["input"]["symbols"]
            without, _ = result(tree)
            check(np.array_equal(with_kinds["counts_frames"].sum(axis=1), without["counts_frames"]), "other sums")
            check(with_kinds["counts_frames"].shape == (3, 10, bins), "other shape")


def ranks_case():
    """The same bytes from any number of ranks and threads."""
    suite.write("many.xyz", xyz_text(frames_of(150, 11), symbols_of(150, 3)))
    first = None
    for ranks, threads in ((None, 1), (2, 1), (3, 1), (5, 1), (None, 3), (2, 2)):
        out, _ = result(deck("many.xyz", threads), ranks)
        first = first or out
        check(first.keys() == out.keys(), "other datasets")
        for name in out:
            check(out[name].tobytes() == first[name].tobytes(), f"{name} differs with {ranks} ranks")


def few_threads_case():
    """Threads share a frame where there are fewer frames than threads."""
    suite.write("large.xyz", xyz_text(frames_of(1100, 1), symbols_of(1100, 3)))
    one, _ = result(deck("large.xyz"))
    check(np.array_equal(one["counts"], result(deck("large.xyz", 4))[0]["counts"]), "other counts")


def sources_case():
    """The same kinds from symbols in another column, a text, another file, without a cell."""
    frames, symbols = frames_of(60, 3), symbols_of(60, 3)
    suite.write("a.xyz", xyz_text(frames, symbols))
    truth, facts = result(deck("a.xyz"))
    compare(truth, facts, frames, symbols)
    suite.write("late.xyz", xyz_text(frames, symbols, "Properties=q:S:1:pos:R:3:species:S:1", after="7"))
    suite.write("other.xyz", xyz_text(frames, ["X"] * 60))
    suite.write("words.txt", "# kinds\n" + "\n".join(symbols) + "\n")
    for name, more in (("late.xyz", {"symbols": True}), ("other.xyz", {"kind_file": "words.txt"}),
                       ("other.xyz", {"kind_file": "a.xyz"})):
        out, _ = result(deck(name, more=more), 2)
        for key in truth:
            check(np.array_equal(out[key], truth[key]), f"{more}: other {key}")
    free = [(x, None) for x, _ in frames]
    suite.write("free.xyz", xyz_text(free, symbols))
    compare(*result(deck("free.xyz")), free, symbols)


def write_weights(n, different, seed=5):
    """Some equal, some negative, a 0."""
    rng = np.random.default_rng(seed)
    weights = rng.choice(np.concatenate([[0, 1], rng.normal(size=different)]), n)
    suite.write("weights.txt", "".join(f"{float(w)!r}\n" for w in weights))
    return weights


def weights_case(n, kinds, different, cell, ranks, threads=1):
    """Sums of weights by numpy; all else as without weights, to the last bit."""
    frames, symbols = frames_of(n, 4), symbols_of(n, kinds or 2)
    frames = frames if cell else [(x, None) for x, _ in frames]
    names = sorted(set(symbols))
    which = np.array([names.index(s) for s in symbols]) if kinds else np.zeros(n, int)
    suite.write("weights.xyz", xyz_text(frames, symbols))
    weights = write_weights(n, different)
    own = {"symbols": True} if kinds else {"frames": "all"}
    plain, _ = result(deck("weights.xyz", more=own))
    out, facts = result(deck("weights.xyz", threads, more={**own, "weight_file": "weights.txt"}), ranks)
    classes = len({(k, w) for k, w in zip(which, weights)})
    check(f"weights: {classes} different ones of kinds" in facts, facts)
    for key, values in plain.items():
        check(values.tobytes() == out[key].tobytes() and values.shape == out[key].shape, f"other {key}")
    pairs = [(a, b) for a in range(len(names)) for b in range(a, len(names))] if kinds else [(0, 0)]
    truth = np.array([[histogram(x, c, which, a, b, weights) for a, b in pairs] for x, c in frames])
    sizes = np.array([[histogram(x, c, which, a, b, np.abs(weights)) for a, b in pairs] for x, c in frames])
    got = out["weighted_counts_frames"].reshape(truth.shape)
    check(np.all(np.abs(got - truth) <= 1e-13 * sizes), "other sums of weights of frames")
    check(out["weighted_counts_frames"].shape == out["counts_frames"].shape, "shape of frames")
    total = out["weighted_counts"]
    check(total.shape == out["counts"].shape, "shape of sums")
    check(np.all(np.abs(total.reshape(truth.shape[1:]) - truth.sum(axis=0)) <= 1e-13 * sizes.sum(axis=0)), "other sums")


def weights_ranks_case():
    """The same bytes from any number of ranks and threads, with a weight for each atom."""
    suite.write("many.xyz", xyz_text(frames_of(90, 7), symbols_of(90, 3)))
    write_weights(90, 300)
    first = None
    for ranks, threads in ((None, 1), (2, 1), (3, 1), (None, 3)):
        out, _ = result(deck("many.xyz", threads, more={"symbols": True, "weight_file": "weights.txt"}), ranks)
        first = first or out
        for name in first:
            check(out[name].tobytes() == first[name].tobytes(), f"{name} differs with {ranks} ranks")


def weights_refused_case():
    suite.write("good.xyz", xyz_text(frames_of(700, 1), symbols_of(700, 2)))
    more = {"weight_file": "w.txt"}
    for words, lines, keys in ((["weight_file", "w.txt: 3 weights for 700 points"], "1\n2\n3\n", {}),
                               (["weight_file", "w.txt:2"], "1\nabc\n" + "1\n" * 698, {}),
                               (["weight_file", "another unit"], "1e200\n" * 700, {}),
                               (["weight_file", "700 different weights", "fewer bins"],
                                "".join(f"{k}\n" for k in range(700)), {"bins": 100}),
                               (["weight_file", "output histogram"], "1\n" * 700, {"output": "threshold"})):
        suite.write("w.txt", lines)
        tree = deck("good.xyz", more=more, **keys)
        if "output" in keys:
            del tree["tri"]["bins"], tree["tri"]["range"]
            tree["tri"]["threshold"] = 3.0
        refuse(words[-1], words, tree)
    refuse("column", ["tri.input.weight_column: not used with input.frames"],
           deck("good.xyz", more={"weight_column": 3}))


def refuse(what, words, tree, env=None):
    run = suite.run(["run", suite.deck("bad.yaml", tree), "-o", suite.path("bad.h5")], **({"env": env} if env else {}))
    said = run.out + run.err
    check(run.status == 2, f"{what}: status {run.status}: {said[-500:]}")
    for word in words:
        check(word in said, f"{what}: '{word}' is missing in {said[-500:]}")


def refused_case():
    frames, symbols = frames_of(20, 3), symbols_of(20, 3)
    text = xyz_text(frames, symbols)
    suite.write("good.xyz", text)

    def bad(what, content, words, **more):
        suite.write("bad.xyz", content)
        refuse(what, words, deck("bad.xyz", **more))

    other = symbols[:7] + ["Xe"] + symbols[8:]
    bad("names change", xyz_text(frames[:2], symbols) + xyz_text(frames[2:], other),
        ["bad.xyz: frame 3: atom 7 (from 0) is 'Xe', in the first frame", f"'{symbols[7]}'"])
    bad("no species", xyz_text(frames, symbols, "Properties=q:S:1:pos:R:3"),
        ["bad.xyz:2: frame 1: Properties without species:S:1"])
    bad("a long symbol", text.replace(symbols[0] + " ", "abcdefghijklmnopqrstuvwxyz ", 1),
        ["bad.xyz:3: a symbol of more than 23 letters"])
    bad("too many kinds", xyz_text(frames_of(70, 1), [f"K{k}" for k in range(70)]),
        ["tri.input.symbols", "more than 64 kinds"])
    suite.write("few.txt", "A\nB\n")
    bad("few words", text, ["tri.input.kind_file", "few.txt: 2 kinds for 20 points"], more={"kind_file": "few.txt"})
    suite.write("few.xyz", xyz_text(frames_of(5, 1), symbols_of(5, 2)))
    bad("few atoms", text, ["tri.input.kind_file", "few.xyz: 5 atoms, the frames have 20"],
        more={"kind_file": "few.xyz"})
    bad("no such file", text, ["tri.input.kind_file", "cannot open"], more={"kind_file": "none.txt"})
    bad("two sources", text, ["tri.input.symbols", "one of kind_file and symbols"],
        more={"symbols": True, "kind_file": "few.txt"})
    bad("column", text, ["tri.input.kind_column: not used with input.frames"], more={"kind_column": 3})
    bad("many counts", xyz_text(frames_of(70, 1), [f"K{k % 64}" for k in range(70)]),
        ["tri.bins", "counts of a frame"], bins=65536)
    tree = deck("good.xyz", output="threshold", threshold=3.0)
    del tree["tri"]["bins"], tree["tri"]["range"]
    refuse("threshold", ["tri.input.symbols", "kinds are of output histogram"], tree)


def library_case(ending):
    """Types of a file's own atoms; of a file without any those of another one."""
    import chemfiles
    env = {"TSL_CHEMFILES": os.path.dirname(chemfiles.__file__)}
    frames = [(np.round(x, 2), c) for x, c in frames_of(60, 3)]
    symbols = symbols_of(60, 3)
    with chemfiles.Trajectory(suite.path("lib" + ending), "w") as out:
        for x, c in frames:
            frame = chemfiles.Frame()
            for s, p in zip(symbols, x):
                frame.add_atom(chemfiles.Atom(s), p)
            frame.cell = chemfiles.UnitCell(c.T)
            out.write(frame)
    suite.write("lib.xyz", xyz_text(frames, symbols))
    suite.write("words.txt", "\n".join(symbols))
    mine, _ = result(deck("lib.xyz"), env=env)
    own = ending in (".pdb", ".gro")
    sources = [{"kind_file": "words.txt"}] + ([{"symbols": True}, {"kind_file": "lib" + ending}] if own else
                                              [{"kind_file": "lib.xyz"}])
    for more in sources:
        its, facts = result(deck("lib" + ending, more=more), 2, env)
        check("kinds: 0 Cl, 1 Na, 2 O" in facts, facts)
        off = np.abs(mine["counts_frames"].astype(int) - its["counts_frames"].astype(int)).sum()
        check(off <= 0.02 * mine["counts"].sum(), f"{more}: off by {off} of {mine['counts'].sum()}")
        check(np.allclose(mine["coordination"], its["coordination"], rtol=0.2, atol=0.2), f"{more}: coordination")
    if not own:
        refuse("no types", ["tri.input.symbols", "frame 1: atom 0 (from 0) has no type"], deck("lib" + ending), env)


def library_cases():
    sys.path += ["/usr/local/lib/tesela-chemfiles", os.path.expanduser("~/.local/lib/tesela-chemfiles")]
    try:
        import chemfiles  # noqa: F401
    except ImportError:
        print("skipped: PDB, GRO, XTC (PyPI's chemfiles is not installed)")
        return
    for ending in (".pdb", ".gro", ".xtc"):
        suite.case(f"library {ending}", library_case, ending)


for shape in ((60, 1, 3, None), (61, 2, 4, 2), (150, 3, 3, 3), (40, 4, 1, None), (230, 17, 2, 2), (70, 64, 2, None)):
    suite.case(f"{shape[0]} atoms of {shape[1]} kinds, {shape[2]} frames", kinds_case, *shape)
suite.case("several threads", kinds_case, 300, 3, 2, None, 5)
suite.case("sums over kinds", sums_case)
suite.case("ranks and threads", ranks_case)
suite.case("a frame of several threads", few_threads_case)
suite.case("sources of kinds", sources_case)
suite.case("refused", refused_case)
for shape in ((60, 0, 3, True, None), (60, 0, 0, False, 2), (130, 2, 2, True, 3), (90, 3, 60, True, 2),
              (90, 0, 200, True, None, 3)):
    suite.case(f"weights of {shape[0]} atoms of {shape[1]} kinds", weights_case, *shape)
suite.case("weights, ranks and threads", weights_ranks_case)
suite.case("weights refused", weights_refused_case)
library_cases()
suite.end()
