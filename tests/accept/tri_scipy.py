#!/usr/bin/env python3
"""Every function, output and precision of tri against scipy and numpy.

usage: tri_scipy.py TESELA [--fast] [ONLY]

Points are exact in the precision of the run, so that only tesela's own arithmetic is compared.
With u = 2^-24 (fp32) or 2^-53 (fp64) and d dimensions, a value may differ from the reference by

  euclidean             (d + 4) u v                    a rounding per step, square root included
  sqeuclidean           (d + 4) u v
  manhattan             (d + 2) u v
  chebyshev             2 u v
  cosine, correlation   (d + 8) u, absolute            unit vectors rounded once, sum of d products
  haversine             R (8 u v/R + 12 u / cos(v/2R)) unit vectors rounded once; towards the
                                                       antipode asin magnifies: 1/cos is at most 1/sqrt(4 u),
                                                       an error of 9 km in fp32
  overlap               (d + 6) u (gap + 2 radii)
  periodic              (d + 6) u (v + sum of edges)   points wrapped, then rounded once
  gravity               24 u (fp32), n u (fp64), times the sum of the absolute contributions

plus 4 * 2^-53 of the same scale for the reference itself. threshold, topk and histogram must agree
but for pairs within these bounds of the threshold, the k-th neighbour or an edge of a bin.
"""
import itertools
import re

import harness
import tri_letters
import tri_terms
import tri_types
from harness import check, check_units, h5py, np
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform

U = {"fp32": 2.0**-24, "fp64": 2.0**-53}
TYPE = {"fp32": np.float32, "fp64": np.float64}
FUNCTIONS = ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine", "correlation",
             "haversine", "overlap"]
OUTPUTS = ["condensed", "square", "threshold", "topk", "histogram"]
SIZES = [0, 1, 2, 37, 500]
DIMENSIONS = [1, 2, 3, 7, 40]
FORMATS = ["csv", "npy", "npy_fortran", "hdf5", "xyz"]
SCIPY = {"manhattan": "cityblock"}
EARTH = 6371.0088

suite = harness.Suite(__doc__, jobs=3)

# ----------------------------------------------------------------- points


def make_points(function, n, d, precision, seed, edges=None):
    """Points exact in the precision, as float64, and the extra number of each (radius, mass)."""
    rng = np.random.default_rng(seed)
    if function == "haversine":
        x = np.column_stack([rng.uniform(-90, 90, n), rng.uniform(-180, 360, n)])
    elif edges is not None:
        x = rng.uniform(-1.5, 2.5, (n, d)) * edges  # outside the box too
    else:
        x = rng.normal(size=(n, d)) + 3 * rng.integers(0, 3, (n, 1))
    extra = rng.uniform(0.05, 0.6, n)
    round_to = TYPE[precision]
    return x.astype(round_to).astype(float), extra.astype(round_to).astype(float)


def write_text(name, table, delimiter=","):
    lines = [delimiter.join(repr(float(v)) for v in row) for row in table]
    return suite.write(name, "# points\n" + "\n".join(lines) + "\n")


def write_points(how, x, extra, precision):
    """Write points (and extra as last column); returns the deck's input section without columns."""
    table = x if extra is None else np.column_stack([x, extra])
    if how == "csv":
        return {"file": write_text("points.csv", table)}
    if how in ("npy", "npy_fortran"):
        order = np.asfortranarray if how == "npy_fortran" else np.ascontiguousarray
        np.save(suite.path("points.npy"), order(table.astype(TYPE[precision])))
        return {"file": "points.npy"}
    if how == "hdf5":
        with h5py.File(suite.path("points.h5"), "w") as file:
            file["group/points"] = table
        return {"file": "points.h5", "dataset": "/group/points"}
    words = [" ".join(["C", *(repr(float(v)) for v in row)]) for row in table]
    suite.write("points.xyz", f"{len(words)}\ncomment\n" + "".join(w + "\n" for w in words))
    return {"file": "points.xyz"}


def usable(how, d, extra):
    """XYZ has three coordinates or more."""
    return how != "xyz" or 3 <= d + extra <= 63


def points_of(how, x, extra, key, precision):
    """The part of the deck that gives the points, extra as column `key`; a file without points is refused, so
    that none come from a generator."""
    n, d = x.shape
    if n == 0:
        return {"generator": {"kind": "uniform", "n": 0, "d": d}, **({"radius": 1.0} if key == "radius_column" else {})}
    source = write_points(how, x, extra if key else None, precision)
    if key:
        source[key] = d
    if how == "xyz" and d != 3:
        source["columns"] = list(range(d))
    return {"input": source}


# -------------------------------------------------------------- references


def great_circle(x):
    """Haversine formula on degrees, all pairs i < j; distances in units of the radius."""
    i, j = np.triu_indices(len(x), 1)
    lat, lon = np.radians(x[:, 0]), np.radians(x[:, 1])
    a = (np.sin((lat[i] - lat[j]) / 2) ** 2 +
         np.cos(lat[i]) * np.cos(lat[j]) * np.sin((lon[i] - lon[j]) / 2) ** 2)
    return 2 * np.arctan2(np.sqrt(a), np.sqrt(np.maximum(0, 1 - a)))


def minimum_image(x, edges):
    i, j = np.triu_indices(len(x), 1)
    t = x[i] - x[j]
    t -= edges * np.round(t / edges)
    return np.sqrt((t * t).sum(axis=1))


def reference(function, x, extra, edges, u):
    """Values of all pairs i < j in pdist's order, and how far tesela's may be off."""
    n, d = x.shape
    i, j = np.triu_indices(n, 1)
    if n < 2:
        return np.zeros(0), np.zeros(0)
    u = u + 4 * 2.0**-53
    if edges is not None:
        v = minimum_image(x, edges)
        return v, (d + 6) * u * (v + edges.sum())
    if function == "haversine":
        a = great_circle(x)
        slope = np.minimum(1 / np.maximum(np.cos(a / 2), 1e-300), 1 / np.sqrt(4 * u))
        return EARTH * a, EARTH * (8 * u * a + 12 * u * slope)
    if function == "overlap":
        gap = pdist(x)
        radii = extra[i] + extra[j]
        return gap - radii, (d + 6) * u * (gap + 2 * radii)
    v = pdist(x, SCIPY.get(function, function))
    if function in ("cosine", "correlation"):
        return v, np.full(len(v), (d + 8) * u)
    steps = {"manhattan": d + 2, "chebyshev": 2}.get(function, d + 4)
    return v, steps * u * v


# ---------------------------------------------------------------- compare


def compare(values, v, tol, what):
    check(values.shape == v.shape, f"{what}: shape {values.shape}, expected {v.shape}")
    if v.size == 0:
        return 0.0
    off = np.abs(values.astype(float) - v)
    worst = int(np.argmax(off - tol))
    check(np.all(off <= tol), f"{what}: element {worst} is {values.flat[worst]!r}, expected "
          f"{v.flat[worst]!r} within {tol.flat[worst]:.2e}")
    return float(np.max(off / np.maximum(tol, 1e-300)))


def check_condensed(out, v, tol, x, extra, deck):
    return compare(out["distances"], v, tol, "distances")


def check_square(out, v, tol, x, extra, deck):
    n, s = len(x), out["distances"]
    check(s.shape == (n, n), f"shape {s.shape}")
    check(not np.any(np.triu(s, 1)), "a number above the diagonal")
    diagonal = -2 * extra if deck["function"] == "overlap" else np.zeros(n)
    check(np.array_equal(np.diag(s).astype(float), diagonal), "wrong diagonal")
    if n < 2:
        return 0.0
    lower = np.tril_indices(n, -1)
    return compare(s[lower], squareform(v, checks=False)[lower], squareform(tol, checks=False)[lower], "square")


def check_threshold(out, v, tol, x, extra, deck):
    n, t = len(x), deck["threshold"]
    pairs, values = out["pairs"], out["values"]
    check(pairs.shape == (len(values), 2), f"shapes {pairs.shape} and {values.shape}")
    i, j = pairs[:, 0], pairs[:, 1]
    check(np.all((0 <= i) & (i < j) & (j < n)), "a pair without i < j < n")
    place = n * i - i * (i + 1) // 2 + (j - i - 1)
    check(np.all(np.diff(place) > 0), "pairs not sorted by (i, j), or twice")
    kept = np.zeros(len(v), bool)
    kept[place] = True
    check(np.all(kept[v <= t - tol]), "a pair within the threshold is missing")
    check(not np.any(kept[v > t + tol]), "a pair beyond the threshold was kept")
    return compare(values, v[place], tol[place], "values")


def check_topk(out, v, tol, x, extra, deck):
    n, k = len(x), deck["k"] if len(x) > 1 else 0
    near, values = out["neighbours"], out["values"].astype(float)
    check(near.shape == (n, k) and values.shape == (n, k), f"shapes {near.shape}, {values.shape}")
    if n < 2:
        return 0.0
    full, slack = squareform(v, checks=False), squareform(tol, checks=False)
    np.fill_diagonal(full, np.inf)
    rows = np.arange(n)[:, None]
    check(np.all((near >= 0) & (near < n) & (near != rows)), "a neighbour out of range or itself")
    check(np.all(np.diff(np.sort(near, axis=1), axis=1) > 0), "a neighbour twice")
    tied = np.diff(values, axis=1) == 0
    check(np.all(np.diff(values, axis=1) >= 0), "neighbours not sorted by value")
    check(np.all(np.diff(near, axis=1)[tied] > 0), "equal values not sorted by index")
    best = np.sort(full, axis=1)[:, :k]
    check(np.all(np.abs(values - best) <= 2 * slack.max(axis=1)[:, None]), "not the k smallest values")
    return compare(values, full[rows, near], slack[rows, near], "values")


def check_histogram(out, v, tol, x, extra, deck):
    counts, edges = out["counts"], out["edges"]
    lo, hi = deck["range"]
    check(counts.dtype == np.uint64 and len(counts) == deck["bins"], "counts have a wrong type or length")
    check(np.allclose(edges, np.linspace(lo, hi, deck["bins"] + 1), rtol=1e-14, atol=0), "wrong edges")
    slack = tol + 4 * U[deck["precision"]] * max(abs(lo), abs(hi))
    at_least = [np.count_nonzero((v >= lo + slack) & (v < e - slack)) for e in edges]
    at_most = [np.count_nonzero((v >= lo - slack) & (v < e + slack)) for e in edges]
    sums = np.concatenate([[0], np.cumsum(counts.astype(np.int64))])
    check(np.all((sums >= at_least) & (sums <= at_most)), "counts differ from numpy's")
    clear = np.abs(v[:, None] - edges[None, :]).min(axis=1, initial=np.inf) > slack
    if np.all(clear):  # no value near an edge: exactly numpy's counts
        check(np.array_equal(counts, np.histogram(v, edges)[0]), "counts differ from numpy's")
    check(int(counts.sum()) == out["attrs"]["pairs in range"], "summary and counts differ")
    return None


CHECK = {"condensed": check_condensed, "square": check_square, "threshold": check_threshold,
         "topk": check_topk, "histogram": check_histogram}


# ------------------------------------------------------------------ cases


def choose_keys(output, v, n):
    """Keys of the output that make a telling case for these values."""
    spread = np.quantile(v, [0.05, 0.3, 0.8]) if len(v) else np.array([0.5, 1.0, 2.0])
    if output == "threshold":
        return {"threshold": float(spread[1])}
    if output == "topk":
        return {"k": max(1, min(9, n - 1))}
    if output == "histogram":
        lo, hi = float(spread[0]), float(spread[2])
        return {"bins": 33, "range": [lo, hi if hi > lo else lo + 1]}
    return {}


def read_result(tree, name="case", **more):
    with suite.result(tree, name=name, **more) as file:
        check_units(file, 1)
        out = harness.datasets(file)
        out["attrs"] = dict(file["results"].attrs)
        check(file["results"].attrs["points"] >= 0, "no line 'points' in the results")
    return out


def pair_case(function, output, precision, n, d, how, edges=None):
    x, extra = make_points(function, n, d, precision, seed=1000 * n + d, edges=edges)
    with_extra = function == "overlap"
    source = points_of(how, x, extra, "radius_column" if with_extra else None, precision)
    v, tol = reference(function, x, extra, edges, U[precision])
    deck = {"function": function, "output": output, "precision": precision,
            **choose_keys(output, v, n)}
    if edges is not None:
        deck["box"] = edges
        if output == "histogram":
            deck["range"] = [0.0, float(edges.min() / 2)]
        if output == "threshold":
            deck["threshold"] = float(edges.min() / 2 * 0.9)
    out = read_result({"family": "tri", "tri": {**deck, **source}})
    check(out["attrs"]["points"] == n, "wrong number of points")
    used = CHECK[output](out, v, tol, x, extra, deck)
    if edges is not None and output == "histogram":
        check_rdf(out, n, edges)
    return None if used is None else f"{100 * used:.0f} % of the bound"


def check_rdf(out, n, edges):
    e, d = out["edges"], len(edges)
    if n < 2:
        check(not np.any(out["rdf"]), "rdf of no pairs is not zero")
        return
    unit = {1: 2.0, 2: np.pi, 3: 4 * np.pi / 3}[d]
    ideal = n * (n - 1) / 2 * unit * (e[1:] ** d - e[:-1] ** d) / np.prod(edges)
    check(np.allclose(out["rdf"], out["counts"] / ideal, rtol=1e-11), "wrong rdf")


def dimensions_for(function):
    if function == "haversine":
        return [2]
    return [d for d in DIMENSIONS if function != "correlation" or d > 1]


def all_pair_cases():
    """Every function x output x precision with every n, dimension and format in turn."""
    turn = itertools.count()
    for function, output, precision in itertools.product(FUNCTIONS, OUTPUTS, U):
        ds = dimensions_for(function)
        sizes = [(37, 37, 500, 37, 37, next(turn) % 3)[next(turn) % 6]] if suite.fast else SIZES
        picks = [(n, ds[next(turn) % len(ds)]) for n in sizes]
        if not suite.fast:
            picks += [(37, d) for d in ds] + [(500, ds[-1])]
        for n, d in dict.fromkeys(picks):
            extra = function == "overlap"
            hows = [h for h in FORMATS if usable(h, d, extra)]
            how = hows[next(turn) % len(hows)]
            suite.case(f"{function} {output} {precision} n={n} d={d} {how}", pair_case, function,
                       output, precision, n, d, how)


def periodic_cases():
    edges = np.array([2.0, 3.5, 2.75])
    for output, precision in itertools.product(["histogram", "threshold", "topk", "condensed", "square"], U):
        for n, d in [(0, 3), (1, 3), (2, 1), (37, 2), (500, 3)]:
            if suite.fast and n not in (37, 500):
                continue
            suite.case(f"periodic {output} {precision} n={n} d={d}", pair_case, "euclidean", output,
                       precision, n, d, "npy", edges=edges[:d])


def many_case(function, n, k):
    """More neighbours than a search gives."""
    x, extra = make_points(function, n, 3, "fp32", seed=n)
    v, tol = reference(function, x, extra, None, U["fp32"])
    deck = {"function": function, "output": "topk", "precision": "fp32", "k": k}
    out = read_result({"family": "tri", "tri": {**deck, **points_of("npy", x, extra, None, "fp32")}})
    check_topk(out, v, tol, x, extra, deck)


def covered_case():
    """Every function that decks may name has a reference here, in tri_terms.py, tri_types.py, tri_letters.py or tri_extension.py."""
    words = re.search(r"function: (.*?) +\(required\)", suite.run(["help", "tri"]).out).group(1)
    named = [*FUNCTIONS, *tri_terms.FUNCTIONS, *tri_types.FUNCTIONS, "gravity", "equation", *tri_letters.FUNCTIONS, "extension"]
    check(sorted(words.split(" | ")) == sorted(named), f"functions {words}, references of {named}")


# ------------------------------------------------------------------ gravity


def gravity_reference(x, mass, eps, constant):
    """Accelerations, potentials, and the sums of their absolute contributions."""
    t = x[None, :, :] - x[:, None, :]
    r2 = (t * t).sum(axis=2) + eps * eps
    np.fill_diagonal(r2, 1)
    w = constant * mass[None, :] / r2**1.5
    np.fill_diagonal(w, 0)
    phi = w * r2
    return ((w[:, :, None] * t).sum(axis=1), -phi.sum(axis=1),
            np.abs(w[:, :, None] * t).sum(axis=1), phi.sum(axis=1))


def gravity_case(precision, n, d, how, equal, eps, constant):
    x, mass = make_points("gravity", n, d, precision, seed=n + d)
    x *= 100.0
    x = x.astype(TYPE[precision]).astype(float)
    source = points_of(how, x, mass, None if equal else "mass_column", precision)
    deck = {"function": "gravity", "output": "forces", "precision": precision, "softening": eps,
            "G": constant}
    if equal:
        deck["mass"] = 0.75
        mass = np.full(n, 0.75)
    out = read_result({"family": "tri", "tri": {**deck, **source}})
    a, phi, a_sum, phi_sum = gravity_reference(x, mass, eps, constant)
    u = 24 * U["fp32"] if precision == "fp32" else max(n, 16) * U["fp64"]
    norm = np.broadcast_to(np.sqrt((a_sum**2).sum(axis=1))[:, None], a.shape)
    used = max(compare(out["accelerations"], a, u * norm, "accelerations"),
               compare(out["potential"], phi, u * phi_sum, "potential"))
    energy = 0.5 * (mass * phi).sum()
    check(abs(out["attrs"]["potential energy"] - energy) <= 2 * u * abs(energy), "wrong potential energy")
    check(abs(out["attrs"]["total mass"] - mass.sum()) <= 1e-12 * (1 + mass.sum()), "wrong total mass")
    return f"{100 * used:.0f} % of the bound"


def gravity_cases():
    for precision in U:
        for n, d, how, equal in [(0, 3, "npy", True), (1, 3, "csv", True), (2, 1, "hdf5", False),
                                 (37, 2, "npy_fortran", False), (37, 3, "xyz", True),
                                 (500, 3, "npy", False), (500, 3, "csv", True), (1500, 2, "npy", False)]:
            if suite.fast and n not in (2, 37, 500):
                continue
            suite.case(f"gravity {precision} n={n} d={d} {how} {'equal' if equal else 'masses'}",
                       gravity_case, precision, n, d, how, equal, 0.5, 6.5)
        suite.case(f"gravity {precision} unsoftened", gravity_case, precision, 100, 3, "npy", False, 0.0, 1.0)


# ------------------------------------------------------------------ exact cases


def lattice(m):
    return np.array(list(itertools.product(range(m), repeat=2)), float)


def exact_case(precision):
    """Integer points: 3-4-5 triangles hit thresholds and edges exactly, and ties are many."""
    x = lattice(8)
    source = write_points("npy", x, None, precision)
    base = {"function": "euclidean", "precision": precision, "input": source}
    v = pdist(x)
    i, j = np.triu_indices(len(x), 1)
    out = read_result({"family": "tri", "tri": {**base, "output": "threshold", "threshold": 5}})
    check(np.array_equal(out["pairs"], np.column_stack([i, j])[v <= 5]), "threshold 5 is not <= 5")
    out = read_result({"family": "tri", "tri": {**base, "output": "histogram", "bins": 5, "range": [0, 5]}})
    expected = [np.count_nonzero((v >= b) & (v < b + 1)) for b in range(5)]
    check(list(out["counts"]) == expected, f"bins are not [lo, hi): {out['counts']}, expected {expected}")
    out = read_result({"family": "tri", "tri": {**base, "output": "topk", "k": 12}})
    square = squareform(v)
    np.fill_diagonal(square, np.inf)
    order = np.array([sorted(range(len(x)), key=lambda c: (row[c], c))[:12] for row in square])
    check(np.array_equal(out["neighbours"], order), "ties are not in the order of the index")


def tree_case():
    """threshold and topk of 3000 points against a k-d tree."""
    x, _ = make_points("euclidean", 3000, 3, "fp64", 5)
    source = write_points("npy", x, None, "fp64")
    base = {"function": "euclidean", "precision": "fp64", "input": source}
    tree = cKDTree(x)
    out = read_result({"family": "tri", "tri": {**base, "output": "threshold", "threshold": 0.3}})
    pairs = tree.query_pairs(0.3, output_type="ndarray")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    check(np.array_equal(out["pairs"], pairs), "pairs differ from the tree's")
    out = read_result({"family": "tri", "tri": {**base, "output": "topk", "k": 20}})
    near = tree.query(x, 21)
    check(np.array_equal(out["neighbours"], near[1][:, 1:]), "neighbours differ from the tree's")


def coincident_case(precision):
    """Equal points are at distance exactly zero."""
    x = np.repeat(np.array([[0.1, 0.7, -3.0]]), 40, axis=0).astype(TYPE[precision]).astype(float)
    source = write_points("npy", x, None, precision)
    for function in ("euclidean", "manhattan", "chebyshev", "sqeuclidean", "cosine"):
        out = read_result({"family": "tri", "tri": {"function": function, "output": "condensed",
                                                    "precision": precision, "input": source}})
        check(not np.any(out["distances"]), f"{function}: coincident points are not at 0")


def antipode_case(precision):
    """Poles, antipodes, the date line."""
    x = np.array([[90, 0], [-90, 0], [0, 0], [0, 180], [0, -180], [0, 360], [45, 10], [-45, -170]], float)
    source = write_points("csv", x, None, precision)
    v, tol = reference("haversine", x, None, None, U[precision])
    out = read_result({"family": "tri", "tri": {"function": "haversine", "output": "condensed",
                                                "precision": precision, "input": source}})
    compare(out["distances"], v, tol, "distances")
    out = read_result({"family": "tri", "tri": {"function": "haversine", "output": "condensed", "input": source,
                                                "precision": precision, "sphere_radius": 1.0}})
    compare(out["distances"], v / EARTH, tol / EARTH, "distances")


# ------------------------------------------------------------------ inputs


TEXTS = [  # text, deck keys
    ("1,2,3\n4,5,7\n-1e2,.5,+3.\n", {}),
    ("x;y;z\n1;2;3\n4;5;7\n-1e2;.5;+3.\n", {}),
    ("# c\r\n1\t2\t3\r\n\r\n4\t5\t7 # end\r\n-1e2\t.5\t3\r\n", {}),
    ("  1   2 3\n4 5    7\n-100 0.5 3", {}),
    ("\ufeffa,b,c\n1,2,3\n4,5,7\n-100,0.5,3\n", {}),
    ('name,x,y,z\n"a, b",1,2,3\nq,4,5,7\nr,-100,0.5,3\n', {"columns": [1, 2, 3]}),
    ("% c\n3,9,2,1\n7,9,5,4\n3,9,0.5,-100\n", {"columns": [3, 2, 0], "comment": '"%"'}),
    ("1,2,3\n1,2,3\n4,5,7\n-100,0.5,3\n", {"header": "yes"}),
    ("1;2;3\n4;5;7\n-100;0.5;3\n", {"delimiter": "semicolon", "header": "no", "format": "csv"}),
]


def text_case(text, keys):
    suite.write("text.csv", text)
    expected = pdist(np.array([[1, 2, 3], [4, 5, 7], [-100, 0.5, 3]]))
    out = read_result({"family": "tri", "tri": {"function": "euclidean", "output": "condensed",
                                                "precision": "fp64", "input": {"file": "text.csv", **keys}}})
    compare(out["distances"], expected, 1e-14 * expected, "distances")


def type_case(code, how):
    """Whole and real numbers of every width."""
    x = (np.arange(12).reshape(6, 2) ** 2 % 97).astype(code)
    if how == "npy":
        np.save(suite.path("typed.npy"), x)
        source = {"file": "typed.npy"}
    else:
        with h5py.File(suite.path("typed.h5"), "w") as file:
            file["x"] = x
        source = {"file": "typed.h5", "dataset": "x"}
    out = read_result({"family": "tri", "tri": {"function": "manhattan", "output": "condensed",
                                                "precision": "fp64", "input": source}})
    check(np.array_equal(out["distances"], pdist(x.astype(float), "cityblock")), "distances differ")


def flat_case(how):
    """A one-dimensional array holds points of one dimension."""
    x = np.array([1.0, 4.0, 9.5, -2.0])
    np.save(suite.path("flat.npy"), x)
    with h5py.File(suite.path("flat.h5"), "w") as file:
        file["x"] = x
    source = {"file": "flat.npy"} if how == "npy" else {"file": "flat.h5", "dataset": "x"}
    out = read_result({"family": "tri", "tri": {"function": "euclidean", "output": "condensed",
                                                "precision": "fp64", "input": source}})
    check(np.array_equal(out["distances"], pdist(x[:, None])), "distances differ")


def input_cases():
    for k, (text, keys) in enumerate(TEXTS):
        suite.case(f"text {k}", text_case, text, keys)
    codes = ["<f8", ">f4", "<i8", "<f4", "<f2", ">f2", ">f8", "<i4", ">i2", "i1", ">u8", "<u4", "<u2", "u1"]
    for code in codes[:3] if suite.fast else codes:
        suite.case(f"npy type {code}", type_case, code, "npy")
        suite.case(f"hdf5 type {code}", type_case, code, "hdf5")
    suite.case("npy type bool", type_case, "?", "npy")
    suite.case("npy one-dimensional", flat_case, "npy")
    suite.case("hdf5 one-dimensional", flat_case, "hdf5")


# --------------------------------------------------------------- generators


def generator_case(kind, more):
    """The numbers are tesela's own; what must hold is their law, and the seed's meaning."""
    tree = {"family": "tri", "tri": {"function": "euclidean", "output": "condensed", "precision": "fp64",
                                     "generator": {"kind": kind, "n": 700, "seed": 3, **more}}}
    first, again = read_result(tree)["distances"], read_result(tree)["distances"]
    check(np.array_equal(first, again), "the same seed gave other points")
    tree["tri"]["generator"]["seed"] = 4
    check(not np.array_equal(first, read_result(tree)["distances"]), "another seed gave the same points")
    check(np.all(first > 0), "coincident points")
    if kind == "uniform":  # mean distance in a unit cube: 0.6617 (Robbins 1978)
        check(abs(first.mean() / (more["side"] * 0.661707) - 1) < 0.03, f"mean {first.mean()}")


def generator_cases():
    suite.case("generator uniform", generator_case, "uniform", {"side": 2.0})
    suite.case("generator plummer", generator_case, "plummer", {"scale": 1.5})
    suite.case("generator clusters", generator_case, "clusters", {"clusters": 5, "d": 7})


suite.case("functions covered", covered_case)
suite.case("1025 nearest of 1026", many_case, "euclidean", 1026, 1025)
suite.case("1300 nearest of 1500", many_case, "manhattan", 1500, 1300)
all_pair_cases()
periodic_cases()
gravity_cases()
for each in U:
    suite.case(f"exact {each}", exact_case, each)
    suite.case(f"coincident {each}", coincident_case, each)
    suite.case(f"antipodes {each}", antipode_case, each)
suite.case("k-d tree", tree_case)
input_cases()
generator_cases()
suite.end()
