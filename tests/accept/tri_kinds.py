#!/usr/bin/env python3
"""Histograms of kinds, weights, listed and logarithmic edges and of two axes against plain loops of numpy.

usage: tri_kinds.py TESELA [--fast] [ONLY]

Kinds from a column, a file of words and XYZ symbols; near pairs and all pairs; 1, 2, 3 and 5 ranks. Weights are exact
multiples, so that sums are compared to the last bit with Python's integers.
"""
import fractions

import harness
from harness import check, np
from scipy.spatial.distance import cdist, pdist

suite = harness.Suite(__doc__, jobs=2)


def exact(x):
    return x.astype(np.float32).astype(float)


def cloud(seed, n, d=3):
    rng = np.random.default_rng(seed)
    return exact(rng.random((5, d))[rng.integers(0, 5, n)] * 0.7 + 0.3 * rng.random((n, d)))


def results(tree, ranks=None):
    tree = {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "tri": tree}
    with suite.result(tree, ranks=ranks) as file:
        return harness.datasets(file)


def tree_of(table, name="points.npy", **more):
    np.save(suite.path(name), table)
    return {"function": "euclidean", "output": "histogram", "precision": "fp64", "input": {"file": name, **more}}


def pairs_of(x, box=None):
    """Differences and indices of all pairs i < j."""
    i, j = np.triu_indices(len(x), 1)
    t = np.abs(x[i] - x[j])
    if box is not None:
        t = np.minimum(t, np.asarray(box) - t)
    return i, j, t


def binned(values, edges, closed=False):
    """Bin of each value, bins open at their upper edges; -1 outside."""
    b = np.searchsorted(edges, values, side="right") - 1
    if closed:
        b[values == edges[-1]] = len(edges) - 2
    return np.where((b >= 0) & (b < len(edges) - 1), b, -1)


def partial(kinds, n_kinds, i, j, cell, n_cells, weights=None):
    """Counts [pairs of kinds][cells], pairs in the order 0-0, 0-1, .., 1-1, .."""
    low, high = np.minimum(kinds[i], kinds[j]), np.maximum(kinds[i], kinds[j])
    pair = low * n_kinds - low * (low - 1) // 2 + high - low
    inside = cell >= 0
    out = np.zeros((n_kinds * (n_kinds + 1) // 2, n_cells), dtype=float if weights is not None else np.int64)
    np.add.at(out, (pair[inside], cell[inside]), 1 if weights is None else weights[inside])
    return out


def same(got, wanted, what):
    check(got.shape == wanted.shape, f"{what}: shape {got.shape}, not {wanted.shape}")
    check(np.array_equal(got, wanted), f"{what}: {np.argwhere(got != wanted)[:3].tolist()} differ")


def kinds_case(ranks, search, box):
    n = 1300
    rng = np.random.default_rng(3)
    x, kinds = cloud(1, n), rng.integers(0, 3, n)
    tree = tree_of(np.column_stack([x[:, :2], 10 * kinds - 7, x[:, 2]]), kind_column=2)
    tree.update(bins=23, range=[0, 0.25], search=search, **({"box": box} if box else {}))
    out = results(tree, ranks)
    i, j, t = pairs_of(x, box)
    d = np.sqrt((t ** 2).sum(1))
    wanted = partial(kinds, 3, i, j, binned(d, np.linspace(0, 0.25, 24)), 23)
    same(out["counts"], wanted, "counts")
    same(out["kinds"], np.array([[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]), "kinds")
    if box:
        n_of = np.bincount(kinds)
        ideal = np.array([n_of[a] * (n_of[a] - 1) / 2 if a == b else n_of[a] * n_of[b] for a, b in out["kinds"]])
        shells = 4 / 3 * np.pi * np.diff(out["edges"] ** 3) / np.prod(box)
        check(np.allclose(out["rdf"], wanted / ideal[:, None] / shells, rtol=1e-12), "rdf")
    del tree["input"]["kind_column"]
    tree["input"]["columns"] = [0, 1, 3]
    same(out["counts"].sum(0), results(tree)["counts"], "sum over kinds")


def symbols_case():
    """Words of a file and symbols of XYZ are the same kinds, in the order of the alphabet."""
    rng = np.random.default_rng(4)
    n = 400
    x, kinds = cloud(2, n), rng.integers(0, 3, n)
    words = np.array(["C", "H", "O"])[kinds]
    with open(suite.path("mix.xyz"), "w", encoding="ascii") as file:
        file.write(f"{n}\nmade up\n" + "".join(f"{w} {a!r} {b!r} {c!r}\n" for w, (a, b, c) in zip(words, x.tolist())))
    with open(suite.path("words.txt"), "w", encoding="ascii") as file:
        file.write("# kinds\n" + "\n".join(words) + "\n")
    tree = {"function": "manhattan", "output": "histogram", "precision": "fp64", "bins": 9, "range": [0, 0.9]}
    one = results({**tree, "input": {"file": "mix.xyz", "symbols": True}}, 2)
    np.save(suite.path("plain.npy"), x)
    other = results({**tree, "input": {"file": "plain.npy", "kind_file": "words.txt"}})
    i, j, t = pairs_of(x)
    wanted = partial(kinds, 3, i, j, binned(t.sum(1), np.linspace(0, 0.9, 10)), 9)
    same(one["counts"], wanted, "symbols")
    same(other["counts"], wanted, "words")


def edges_case(ranks, search):
    x = cloud(5, 900)
    d = pdist(x)
    lo, hi = 0.01, 0.3
    tree = tree_of(x)
    out = results({**tree, "bins": 12, "range": [lo, hi], "spacing": "log", "search": search}, ranks)
    check(np.allclose(out["edges"], np.geomspace(lo, hi, 13), rtol=1e-14), "logarithmic edges")
    same(out["counts"], np.bincount(binned(d, out["edges"]) + 1, minlength=13)[1:], "logarithmic bins")
    edges = [0, 0.01, 0.011, 0.1, 0.25, float(d[17]), 2.5]
    edges.sort()
    out = results({**tree, "edges": edges, "search": search}, ranks)
    same(out["counts"], np.bincount(binned(d, np.array(edges)) + 1, minlength=7)[1:], "listed bins")
    single = results({**tree, "edges": edges, "precision": "fp32"})["counts"]
    check(abs(single.astype(int) - out["counts"]).max() < 20 and single.sum() == out["counts"].sum(), "fp32")


def weights_case(ranks, negative):
    """Sums of products to the last bit."""
    n = 500
    rng = np.random.default_rng(6)
    x, kinds = cloud(7, n), rng.integers(0, 2, n)
    w = rng.integers(-(1 << 24) if negative else 0, 1 << 24, n) / 2.0 ** 20
    tree = tree_of(np.column_stack([x, kinds, w]), kind_column=3, weight_column=4)
    tree.update(bins=7, range=[0, 0.5])
    out = results(tree, ranks)
    i, j, t = pairs_of(x)
    cell = binned(np.sqrt((t ** 2).sum(1)), np.linspace(0, 0.5, 8))
    same(out["counts"], partial(kinds, 2, i, j, cell, 7), "counts")
    whole = [int(v) for v in w * 2 ** 20]
    for pair, (a, b) in enumerate(out["kinds"]):
        for c in range(7):
            at = (cell == c) & (np.minimum(kinds[i], kinds[j]) == a) & (np.maximum(kinds[i], kinds[j]) == b)
            total = sum((whole[p] * whole[q] for p, q in zip(i[at], j[at])), 0)
            check(float(fractions.Fraction(int(total), 1 << 40)) == out["weighted_counts"][pair, c], "weights")


def plane_case(axes, ranks, search, box, d):
    x = cloud(8, 1100, d)
    x[:40, : d - 1] = x[0, : d - 1]  # pairs along the axis: mu = 1
    tree = tree_of(x)
    tree.update(axes=axes, bins=6, range=[0, 0.2], bins_2=5, search=search, **({"box": box} if box else {}))
    if axes == "rp_pi":
        tree["range_2"] = [0, 0.15]
    out = results(tree, ranks)
    _, _, t = pairs_of(x, box)
    s, along = np.sqrt((t ** 2).sum(1)), t[:, -1]
    first = s if axes == "s_mu" else np.sqrt((t[:, :-1] ** 2).sum(1))
    second = np.divide(along, s, out=np.zeros_like(s), where=s > 0) if axes == "s_mu" else along
    a = binned(first, np.linspace(0, 0.2, 7))
    b = binned(second, out["edges_2"], axes == "s_mu")
    wanted = np.zeros((6, 5), dtype=np.int64)
    np.add.at(wanted, (a[(a >= 0) & (b >= 0)], b[(a >= 0) & (b >= 0)]), 1)
    same(out["counts"], wanted, "counts")
    check(axes == "rp_pi" or wanted[:, -1].sum() > 780, "no pairs along the axis")


def sets_case(ranks):
    """Data and random points: DD, DR and RR in one pass, and DR alone."""
    a, b = cloud(9, 700), cloud(10, 1500)
    np.save(suite.path("b.npy"), b)
    tree = tree_of(a, "a.npy")
    tree.update(bins=11, range=[0, 0.4], other={"input": {"file": "b.npy"}})
    out = results({**tree, "self": True}, ranks)
    edges = np.linspace(0, 0.4, 12)
    of = [np.bincount(binned(d.ravel(), edges) + 1, minlength=12)[1:] for d in (pdist(a), cdist(a, b), pdist(b))]
    same(out["counts"], np.array(of), "DD, DR, RR")
    same(results(tree, ranks)["counts"], of[1], "DR")
    kinds = np.random.default_rng(11).integers(0, 2, 2200)
    np.save(suite.path("a.npy"), np.column_stack([a, kinds[:700]]))
    np.save(suite.path("b.npy"), np.column_stack([b, kinds[700:]]))
    tree["input"]["kind_column"] = tree["other"]["input"]["kind_column"] = 3
    out = results(tree, ranks)
    m = binned(cdist(a, b).ravel(), edges).reshape(700, 1500)
    for pair, (k, l) in enumerate(out["kinds"]):
        part = m[kinds[:700] == k][:, kinds[700:] == l].ravel()
        same(out["counts"][pair], np.bincount(part + 1, minlength=12)[1:], f"kinds {k}, {l}")


def estimate(counts, norms, which):
    dd, dr, rr = (c / n for c, n in zip(counts, norms))
    return dd / rr - 1 if which == "natural" else (dd - 2 * dr + rr) / rr


def taken_counts(m, ra, rb, wa, wb, cell, n_cells, alike):
    """Counts and number of pairs with each region taken m times, pairs within one as often as it is taken."""
    factor = np.where(ra[:, None] == rb[None, :], m[ra][:, None], m[ra][:, None] * m[rb][None, :])
    weight = factor * wa[:, None] * wb[None, :]
    if alike:
        weight = np.triu(weight, 1)
    inside = cell >= 0
    return np.bincount(cell[inside], weight[inside], n_cells), weight.sum()


def estimator_case(which, axes, cut, ranks):
    """Landy and Szalay's and the natural estimator, each region left out once."""
    rng = np.random.default_rng(13)
    n, m, regions, bins = 260, 610, 6, 4
    a, b = cloud(14, n), exact(rng.random((m, 3)))
    wa, wb = (rng.integers(1, 64, s) / 16 for s in (n, m))
    ra, rb = ((x[:, 0] * 3).astype(int) % 3 + 3 * (x[:, 1] > 0.5) for x in (a, b))
    np.save(suite.path("b.npy"), np.column_stack([b, wb, rb]))
    tree = tree_of(np.column_stack([a, wa, ra]), "a.npy", weight_column=3, region_column=4)
    tree.update(bins=bins, range=[0.05, 0.8], self=True, estimator=which, search="near",
                other={"input": {"file": "b.npy", "weight_column": 3, "region_column": 4}})
    if axes == "s_mu":
        tree.update(axes=axes, bins_2=3)
    if cut:  # regions that the program cuts: the same ones are read from its counts
        for s in (tree["input"], tree["other"]["input"]):
            del s["region_column"]
            s["columns"] = [0, 1, 2]
        tree["regions"] = 5
    out = results(tree, ranks)
    if cut:
        check(out["region_counts"].shape[0] == 3 * 25, "regions")
        check(np.array_equal(out["region_counts"].reshape(3, 25, -1).sum(1), out["counts"].reshape(3, -1)), "sum")
        del tree["regions"]
        check(np.allclose(results(tree)["correlation"], out["correlation"], rtol=1e-11, atol=1e-13),
              "regions change the estimate")
        check((out["error"] > 0).all(), "errors")
        return
    both = []
    for x, y, alike in ((a, a, True), (a, b, False), (b, b, True)):
        t = np.abs(x[:, None] - y[None, :])
        s = np.sqrt((t ** 2).sum(2))
        cell = binned(s, out["edges"])
        if axes == "s_mu":
            mu = np.divide(t[:, :, 2], s, out=np.zeros_like(s), where=s > 0)
            second = binned(mu, out["edges_2"], True)
            cell = np.where(cell >= 0, 3 * cell + second, -1)
        if alike:
            cell[np.tril_indices(len(x))] = -1
        both.append(cell)
    n_cells = out["correlation"].size

    def of(taken):
        parts = [taken_counts(taken, p, q, u, v, cell, n_cells, alike) for p, q, u, v, cell, alike in
                 ((ra, ra, wa, wa, both[0], True), (ra, rb, wa, wb, both[1], False), (rb, rb, wb, wb, both[2], True))]
        return estimate([c for c, _ in parts], [k for _, k in parts], which)

    every = np.ones(regions)
    check(np.allclose(out["correlation"].ravel(), of(every), rtol=1e-10, atol=1e-12), "correlation")
    xi = np.array([of(every - (np.arange(regions) == r)) for r in range(regions)])
    covariance = (regions - 1) * np.cov(xi.T, bias=True)
    check(np.allclose(out["covariance"], covariance, rtol=1e-8, atol=1e-12), "covariance")
    check(np.allclose(out["error"].ravel(), np.sqrt(np.diag(covariance)), rtol=1e-8), "error")
    near = results({**tree, "resampling": "bootstrap", "resamples": 400})["error"]
    check(np.all(near < 6 * out["error"]) and np.all(near > out["error"] / 6), "bootstrap is far from jackknife")


def refused_case():
    x = cloud(12, 20)
    tree = tree_of(np.column_stack([x, np.arange(20) / 2, np.arange(20) // 7]), columns=[0, 1, 2])
    with open(suite.path("few.txt"), "w", encoding="ascii") as file:
        file.write("A\n" * 19)
    with open(suite.path("weights.txt"), "w", encoding="ascii") as file:
        file.write("1.5\n" * 21)
    base = {"range": [0, 1]}
    for keys, more, words in (
            ({"kind_file": "few.txt"}, base, "few.txt: 19 kinds for 20 points"),
            ({"kind_file": "none.txt"}, base, "none.txt"),
            ({"weight_file": "weights.txt"}, base, "weights.txt: 21 weights for 20 points"),
            ({"kind_column": 3}, base, "kind 0.5 is no whole number"),
            ({"kind_column": 9}, base, "9"),
            ({"kind_column": 3, "kind_file": "few.txt"}, base, "one of kind_column, kind_file and symbols"),
            ({"symbols": True}, base, "not used by this input format"),
            ({"region_column": 3}, base, "region 0.5 is no whole number"),
            ({}, {"edges": [0, 2, 1]}, "not ascending"),
            ({}, {"edges": [1]}, "2 to 65537"),
            ({}, {"edges": [0, 1], "bins": 3}, "leave out range, bins"),
            ({}, {"range": [0, 1], "spacing": "log"}, "begin above 0"),
            ({}, {"range": [0, 1], "axes": "rp_pi"}, "needs the range of pi"),
            ({}, {"range": [0, 1], "axes": "s_mu", "range_2": [0, 1.5]}, "mu is 1 at most"),
            ({}, {"range": [0, 1], "range_2": [0, 1]}, "needs axes"),
            ({}, {"range": [0, 1], "axes": "s_mu", "function": "manhattan"}, "euclidean only"),
            ({}, {"range": [0, 0.4], "axes": "rp_pi", "range_2": [0, 0.6], "box": [1, 1, 1]}, "at least 1.2"),
            ({}, {"range": [0, 1], "self": True}, "needs another set"),
            ({}, {"range": [0, 1], "estimator": "natural"}, "needs random points"),
            ({}, {"range": [0, 1], "regions": 21}, "21 regions for 20 points"),
            ({}, {"range": [0, 1], "resampling": "bootstrap"}, "needs an estimator"),
            ({"kind_column": 3}, {"output": "topk"}, "not used by output topk"),
            ({"kind_column": 4}, {"output": "topk", "between": {"first": 1, "other": 7}}, "no point is of kind '7'"),
            ({"kind_column": 4}, {"output": "topk", "between": {"first": 1, "other": 1}}, "not '1' twice")):
        deck = {**tree, **more, "input": {**tree["input"], **keys}}
        run = suite.run(["run", suite.deck("bad.yaml", {"family": "tri", "tri": deck}), "-o", suite.path("bad.h5")])
        check(run.status == 2 and words in run.err and "bad.yaml:" in run.err, f"'{words}' expected: {run.tail()}")


for ranks, search, box in ((None, "all", None), (2, "near", None), (3, "all", [1, 1.25, 1.5]), (5, "near", [1, 1.25, 1.5])):
    suite.case(f"kinds, {search}, {ranks or 1} ranks", kinds_case, ranks, search, box)
suite.case("symbols and words", symbols_case)
suite.case("edges, all", edges_case, None, "all")
suite.case("edges, near", edges_case, 3, "near")
suite.case("weights", weights_case, 2, False)
suite.case("weights, negative", weights_case, 3, True)
for axes in ("rp_pi", "s_mu"):
    suite.case(f"{axes}, all", plane_case, axes, None, "all", None, 3)
    suite.case(f"{axes}, near", plane_case, axes, 5, "near", [1, 1.5, 1.25], 3)
    suite.case(f"{axes}, plane", plane_case, axes, 2, "near", None, 2)
suite.case("two sets", sets_case, 3)
suite.case("natural estimator", estimator_case, "natural", "value", False, 2)
suite.case("Landy and Szalay", estimator_case, "landy_szalay", "s_mu", False, 3)
suite.case("regions by cutting", estimator_case, "landy_szalay", "value", True, None)
suite.case("refused", refused_case)
suite.end()
