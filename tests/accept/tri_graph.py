#!/usr/bin/env python3
"""Row reductions and graphs of tri: degree, minimum, maximum, csr, components, dbscan, linkage.

usage: tri_graph.py TESELA [--fast] [ONLY]

Truth: scipy's distances and everything else worked out from their matrix: components and single linkage by scipy, DBSCAN
by its definition (scikit-learn besides, where it is installed), the minimum spanning tree by Kruskal's algorithm in the
order that the documentation promises. Clouds: uniform, clustered, a lattice (equal distances), repeated points, all points
equal. By all pairs and by a search, fp32 and fp64, a box, 1, 2, 3 and 5 ranks. Coordinates are multiples of 2^-10, so that
no sum of squares is rounded.
"""
import harness
from harness import check, np
from interrupted import compare_contents, contents, go_on_after_kill
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist, squareform
from tri_clouds import clustered, equal, lattice, repeated, uniform

try:
    from sklearn.cluster import DBSCAN
except ImportError:
    DBSCAN = None

suite = harness.Suite(__doc__, jobs=2)
TYPE = {"fp32": np.float32, "fp64": np.float64}


def points(make, n, d):
    return np.round(make(np.random.default_rng(10 * n + d), n, d) * 1024) / 1024


# ------------------------------------------------------------------ truth


class Truth:
    """What follows from a matrix of values; of a point with itself they do not count."""

    def __init__(self, values, cut):
        self.n, self.cut = len(values), cut
        self.values = values.copy()
        np.fill_diagonal(self.values, np.inf)
        self.near = self.values <= cut

    def degree(self):
        return {"degree": self.near.sum(1)}

    def minimum(self):
        return {"values": self.values.min(1), "neighbours": self.values.argmin(1)}

    def maximum(self):
        others = np.where(np.isinf(self.values), -np.inf, self.values)
        return {"values": others.max(1), "neighbours": others.argmax(1)}

    def csr(self):
        graph = csr_matrix(self.near)
        return {"indptr": graph.indptr, "indices": graph.indices, "values": self.values[self.near]}

    def components(self):
        return {"labels": connected_components(self.near, directed=False)[1]}

    def dbscan(self, min_samples):
        others = np.pad(np.sort(self.values, 1), ((0, 0), (0, min_samples)), constant_values=np.inf)
        distances = others[:, min_samples - 2] if min_samples > 1 else np.zeros(self.n)
        distances = np.where((distances <= self.cut) | (min_samples == 1), distances, np.inf)
        core = np.flatnonzero(np.isfinite(distances))
        labels = np.full(self.n, -1)
        labels[core] = connected_components(self.near[np.ix_(core, core)], directed=False)[1] if len(core) else 0
        for i in np.flatnonzero(np.isinf(distances)):
            of = labels[core[self.near[i, core]]]
            labels[i] = of.min() if len(of) else -1
        return {"labels": labels, "core_distances": distances}

    def linkage(self):
        i, j = np.triu_indices(self.n, 1)
        values = self.values[i, j]
        parent = np.arange(self.n)
        edges = []
        for e in np.lexsort((j, i, values)):
            a, b = i[e], j[e]
            if parent[a] != parent[b]:
                parent[parent == parent[b]] = parent[a]
                edges.append(e)
        pairs = np.column_stack([i[edges], j[edges]])
        return {"pairs": pairs, "values": values[edges], "linkage": dendrogram(pairs, values[edges])}


def dendrogram(pairs, values):
    """The rows of a linkage matrix from the edges of a tree in their order."""
    name, rows = {i: i for i in range(len(pairs) + 1)}, []
    members = {i: [i] for i in name}
    for e, (a, b) in enumerate(pairs):
        one, other = sorted((name[a], name[b]))
        both = members.pop(one) + members.pop(other)
        rows.append([one, other, values[e], len(both)])
        members[len(name) + e] = both
        for i in both:
            name[i] = len(name) + e
    return np.array(rows).reshape(-1, 4)


# ------------------------------------------------------------------ cases


def results(tree, ranks=None):
    tree = {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "tri": tree}
    with suite.result(tree, ranks=ranks) as file:
        return {k: v for k, v in harness.datasets(file).items() if k != "drawn"}


def check_all(truth, base, searches, ranks, precision="fp64", close=False):
    """Every output against the truth."""
    base = {**base, "precision": precision}
    outputs = [("degree", {}), ("minimum", {}), ("maximum", {}), ("csr", {}), ("components", {}), ("linkage", {})]
    outputs += [("dbscan", {"min_samples": m}) for m in ((4,) if suite.fast else (1, 4, 12))]
    if suite.fast and ranks is not None:  # of a run by one rank they are seen in other cases
        outputs = [one for one in outputs if one[0] in ("csr", "components", "linkage", "dbscan")]
    for output, more in outputs:
        wanted = getattr(truth, output)(**more)
        for search in searches:
            keys = {**base, **more, "output": output}
            if output not in ("minimum", "maximum", "linkage"):
                keys["threshold"] = float(truth.cut)
            if output != "maximum":
                keys["search"] = search
            got = results(keys, ranks)
            check(got.keys() == wanted.keys(), f"{output}: datasets {list(got)}")
            for name, value in wanted.items():
                value = value.astype(TYPE[precision]) if name in ("values", "core_distances") else value
                if name == "linkage":
                    value[:, 2] = value[:, 2].astype(TYPE[precision])
                same = np.allclose(got[name], value, rtol=3e-15) if close and value.dtype.kind == "f" \
                    else np.array_equal(got[name], value)
                check(got[name].shape == value.shape and same, f"{output} {more}, search: {search}: {name} differs")


def cloud_case(make, n, d, precision, ranks):
    x = points(make, n, d)
    np.save(suite.path("points.npy"), x)
    cut = {2: 0.04, 3: 0.08}.get(d, 0.3)
    values = squareform(pdist(x)).astype(TYPE[precision])
    truth = Truth(values, TYPE[precision](cut))
    check_all(truth, {"function": "euclidean", "input": {"file": "points.npy"}}, ("near",) if suite.fast and ranks else ("all", "near"), ranks,
              precision)
    if make is uniform and n > 2:  # no two distances are equal, nearly
        z = linkage(squareform(values.astype(float)), "single")
        check(np.array_equal(z[:, 2], truth.linkage()["linkage"][:, 2]), "the truth is not scipy's")
    if DBSCAN is not None:
        ours = truth.dbscan(4)["labels"]
        labels = DBSCAN(eps=truth.cut, min_samples=4, metric="precomputed").fit(squareform(pdist(x))).labels_
        check(precision == "fp32" or np.array_equal(ours, labels), "the truth is not scikit-learn's")


def box_case(ranks):
    """Clusters across the faces of a box."""
    edges = np.array([1.0, 0.75, 1.25])
    x = np.mod(points(clustered, 900, 3) + 0.5, edges)
    np.save(suite.path("points.npy"), x)
    apart = np.abs(x[:, None] - x[None])
    truth = Truth(np.sqrt((np.minimum(apart, edges - apart) ** 2).sum(2)), 0.05)
    check_all(truth, {"function": "euclidean", "input": {"file": "points.npy"}, "box": edges.tolist()},
              ("near",), ranks)


def function_case(function, ranks):
    """Functions of their own preparation; values are taken from output square."""
    rng = np.random.default_rng(3)
    n, keys, cut = 400, {}, 0.02
    x = rng.normal(size=(n, 5))
    if function == "haversine":
        x, cut = np.column_stack([rng.uniform(-90, 90, n), rng.uniform(-180, 360, n)]), 500
    if function == "overlap":
        x, cut = np.column_stack([rng.random((n, 3)), 0.05 * rng.random(n)]), 0
        keys = {"radius_column": 3}
    np.save(suite.path("points.npy"), x)
    base = {"function": function, "input": {"file": "points.npy", **keys}, "precision": "fp64"}
    square = results({**base, "output": "square"})["distances"]
    values = np.tril(square, -1) + np.tril(square, -1).T
    check_all(Truth(values, cut), base, ("all", "near"), ranks)


def large_case():
    """Enough points that near pairs are looked at unasked, on ranks of unequal speed."""
    tree = {"function": "euclidean", "precision": "fp32", "generator": {"kind": "clusters", "n": 60000, "scale": 0.02}}
    for output, more in (("components", {"threshold": 0.004}), ("dbscan", {"threshold": 0.006, "min_samples": 8}),
                         ("linkage", {}), ("csr", {"threshold": 0.003}), ("degree", {"threshold": 0.003})):
        keys = {**tree, **more, "output": output}
        one, other = results(keys), results(keys, 3)
        for name, value in one.items():
            check(value.tobytes() == other[name].tobytes(), f"{output}: {name} depends on the ranks")
        if output == "dbscan":
            check(len(np.unique(value)) > 3, "hardly any cluster")


def few_case():
    """No points, one, two."""
    base = {"function": "euclidean", "generator": {"kind": "uniform", "n": 0}}
    for n in (0, 1, 2):
        base["generator"]["n"] = n
        shape = {"degree": (n,), "csr": (n + 1,), "components": (n,), "dbscan": (n,), "minimum": (n if n > 1 else 0,),
                 "maximum": (n if n > 1 else 0,), "linkage": (max(n - 1, 0), 4)}
        names = {"csr": "indptr", "components": "labels", "dbscan": "labels", "minimum": "values", "maximum": "values"}
        for output, wanted in shape.items():
            keys = {**base, "output": output}
            if output in ("degree", "csr", "components", "dbscan"):
                keys["threshold"] = 0.5
            got = results(keys, 2 if n == 1 else None)
            check(got[names.get(output, output)].shape == wanted, f"{output} of {n} points: {got}")


def killed_case(output, ranks, again, **keys):
    """A run of several phases goes on from the first one's checkpoint."""
    tree = {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all", "units": 40},
            "tri": {"function": "euclidean", "output": output, "precision": "fp64",
                    "generator": {"kind": "clusters", "n": 3000, "clusters": 12, "seed": 8}, **keys}}
    with suite.result(tree) as file:
        whole = contents(file.filename)
    compare_contents(output, go_on_after_kill(suite, tree, f"killed_{output}", ranks, again), whole)


def refused_case():
    for keys, words in (
            ({"output": "components"}, "output components needs the key threshold"),
            ({"output": "linkage", "threshold": 1}, "not used by output linkage"),
            ({"output": "csr", "threshold": 1, "min_samples": 3}, "not used by output csr"),
            ({"output": "dbscan", "threshold": 1, "min_samples": 0}, "min_samples"),
            ({"output": "maximum", "search": "near"}, "not used by output maximum"),
            ({"output": "dbscan", "threshold": 0.6, "box": [1, 1, 1]}, "every edge at least 1.2"),
            ({"output": "degre", "threshold": 1}, "degree")):
        tree = {"function": "euclidean", "generator": {"kind": "uniform", "n": 50}, **keys}
        run = suite.run(["run", suite.deck("bad.yaml", {"family": "tri", "tri": tree}), "-o", suite.path("bad.h5")])
        check(run.status == 2 and words in run.err and "bad.yaml:" in run.err, f"'{words}' expected: {run.tail()}")


turn = 0
for cloud in (uniform, clustered, lattice, repeated, equal):
    for dimensions in (2, 3, 6):
        turn += 1
        if suite.fast and turn not in (1, 5, 9, 10, 15):
            continue
        count, real = (700, 333, 130)[turn // 2 % 3], ("fp64", "fp32")[turn // 3 % 2]
        rank_count = (None, 2, 3, 5)[turn % 4]
        suite.case(f"{cloud.__name__}, {count} points of {dimensions} dimensions, {real}, {rank_count or 1} ranks",
                   cloud_case, cloud, count, dimensions, real, rank_count)
suite.case("box", box_case, 3)
for each in ("haversine", "overlap", "cosine"):
    suite.case(f"function {each}", function_case, each, None)
suite.case("large", large_case)
suite.case("few points", few_case)
suite.case("killed, dbscan", killed_case, "dbscan", None, 3, threshold=0.02, min_samples=6)
suite.case("killed, linkage", killed_case, "linkage", 2, None)
suite.case("killed, components", killed_case, "components", 3, 2, threshold=0.02)
suite.case("refused", refused_case)
suite.end()
