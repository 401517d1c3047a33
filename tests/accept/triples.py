#!/usr/bin/env python3
"""Triples against plain numpy over all i < j < k: Axilrod-Teller energies and forces, counts of triangles; bad decks.

usage: triples.py TESELA [--fast] [ONLY]

Energies and forces of the reference are the textbook's: cosines of the angles, and slopes of each triangle along its
three sides. Clouds: uniform, clustered, a line, a plane, a lattice; 1 to 3 dimensions, a box or none; 1, 2, 3, 5 ranks
give the same bytes.
"""
import harness
import refusal
from harness import check, np

suite = harness.Suite(__doc__, jobs=2)
refusals = refusal.Refusals(suite)


def uniform(rng, n):
    return 4 * rng.random((n, 3))


def clustered(rng, n):
    return 6 * rng.random((5, 3))[rng.integers(0, 5, n)] + 0.3 * rng.normal(size=(n, 3))


def lattice(_, n):
    edge = int(np.ceil(n ** (1 / 3)))
    return np.stack(np.meshgrid(*[np.arange(edge)] * 3), -1).reshape(-1, 3)[:n].astype(float)


def line(rng, n):
    return np.sort(rng.random(n))[:, None] * 9


def plane(rng, n):
    return 3 * rng.random((n, 2))


def points(make, n):
    x = make(np.random.default_rng(n), n).astype(np.float32).astype(float)
    np.save(suite.path("points.npy"), x)
    return x


def differences(x, box):
    d = x[:, None] - x[None]
    return d if box is None else d - box * np.round(d / box)


def all_triples(n):
    i, j = np.triu_indices(n, 1)
    times = n - 1 - j
    k = np.repeat(j + 1, times) + np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(i, times), np.repeat(j, times), k


def axilrod_teller(x, strength, cutoff, box):
    """Energy by the cosines of the angles, forces by slopes along the squares of the sides."""
    d = differences(x, box)
    square = (d**2).sum(-1)
    i, j, k = all_triples(len(x))
    within = np.maximum(np.maximum(square[i, j], square[i, k]), square[j, k]) <= cutoff**2
    i, j, k = i[within], j[within], k[within]
    a, b, c = square[i, j], square[i, k], square[j, k]
    u = 1 / (a * b * c)
    cosines = (a + b - c) * (a + c - b) * (b + c - a) / 8 * u
    forces = np.zeros_like(x)

    def pull(a, b, c, one, other):
        product = (a + b - c) * (a + c - b) * (b + c - a)
        along = (a + c - b) * (b + c - a) + (a + b - c) * (b + c - a) - (a + b - c) * (a + c - b)
        slope = strength * (-1.5 * u**1.5 / a + 0.375 * u**2.5 * (along - 2.5 * product / a))
        np.add.at(forces, one, -2 * slope[:, None] * d[one, other])
        np.add.at(forces, other, 2 * slope[:, None] * d[one, other])

    pull(a, b, c, i, j)
    pull(b, c, a, i, k)
    pull(c, a, b, j, k)
    return strength * (u**1.5 * (1 + 3 * cosines)).sum(), forces


def triangles(x, bins, lo, hi, box):
    r = np.sqrt((differences(x, box) ** 2).sum(-1))
    inside = (r >= lo) & (r < hi)
    bin_of = np.where(inside, np.minimum(((r - lo) * (bins / (hi - lo))).astype(int), bins - 1), -1)
    i, j, k = all_triples(len(x))
    sides = np.sort([bin_of[i, j], bin_of[i, k], bin_of[j, k]], axis=0)
    counts = np.zeros((bins,) * 3, np.uint64)
    np.add.at(counts, tuple(sides[:, sides[0] >= 0]), np.uint64(1))
    return counts


def run(tree, ranks=None):
    deck = {"family": "triples", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "triples": tree}
    with suite.result(deck, ranks=ranks) as file:
        return harness.datasets(file), dict(file["results"].attrs)


def energy_case(make, n, box, cutoff):
    x = points(make, n)
    tree = {"function": "axilrod_teller", "strength": -2.5, "input": {"file": "points.npy"}}
    if box is not None:
        tree["box"] = box
    if cutoff < np.inf:
        tree["cutoff"] = cutoff
    energy, forces = axilrod_teller(x, -2.5, cutoff, None if box is None else np.array(box))
    for precision, most in (("fp64", 1e-12), ("fp32", 2e-5)):
        found, attributes = run({**tree, "precision": precision})
        scale = max(np.abs(forces).max(), abs(energy) / len(x), 1e-300)  # on a lattice forces are 0
        check(found["forces"].shape == x.shape, f"shape {found['forces'].shape}")
        off = np.abs(found["forces"] - forces).max() / scale
        check(off <= most, f"{precision}: forces are off by {off:.1e}")
        off = abs(attributes["energy"] - energy) / max(abs(energy), 1e-300)
        check(off <= 20 * most, f"{precision}: the energy is off by {off:.1e}")
        for ranks in ((2, 5) if precision == "fp32" else (3,)) if n > 100 else ():
            again, _ = run({**tree, "precision": precision}, ranks)
            check(again["forces"].tobytes() == found["forces"].tobytes(), f"{ranks} ranks: other bytes")


def close_case():
    """Three points so close together that fp32 has no room for the powers of their sides."""
    x = uniform(np.random.default_rng(40), 40)
    x[1:3] = x[0] + 2e-5 * np.eye(3)[:2]
    np.save(suite.path("points.npy"), x)
    tree = {"function": "axilrod_teller", "input": {"file": "points.npy"}}
    try:
        run({**tree, "precision": "fp32"})
    except harness.Failed as why:
        check("so close together that their energy overflows" in str(why), f"another refusal: {why}")
    else:
        check(False, "fp32 was not refused")
    energy, forces = axilrod_teller(x, 1, np.inf, None)
    found, attributes = run({**tree, "precision": "fp64"})
    check(abs(attributes["energy"] / energy - 1) <= 1e-8, f"energy {attributes['energy']}, by numpy {energy}")
    check(np.abs(found["forces"] - forces).max() <= 1e-8 * np.abs(forces).max(), "other forces")


def count_case(make, n, box, bins, lo, hi):
    x = points(make, n)
    tree = {"function": "triangles", "bins": bins, "range": [lo, hi], "input": {"file": "points.npy"}}
    if box is not None:
        tree["box"] = box
    want = triangles(x, bins, lo, hi, None if box is None else np.array(box))
    found, attributes = run({**tree, "precision": "fp64"})
    check(np.array_equal(found["triangles"], want), "other counts")
    check(attributes["triangles in range"] == want.sum(), "another sum of counts")
    one = run({**tree, "precision": "fp32"})[0]
    off = np.abs(one["triangles"].astype(int) - want.astype(int)).sum()
    check(off <= 2 + 1e-5 * want.sum(), f"fp32 has {off} in other bins")
    for ranks in (2, 5) if n > 200 else ():
        check(np.array_equal(run({**tree, "precision": "fp32"}, ranks)[0]["triangles"], one["triangles"]), f"{ranks} ranks")


BASE = """family: triples
triples:
  function: axilrod_teller
  generator: {kind: uniform, n: 50}
"""


def bad_cases():
    def both(name, new, words, old="  generator: {kind: uniform, n: 50}\n"):
        refusals.both(name, refusal.change(old, new, BASE), words)

    both("an unknown function", "  function: axilrod\n", ["bad.yaml:3", "axilrod_teller"],
         "  function: axilrod_teller\n")
    both("no points", "", ["either input.file or generator.kind"])
    both("bins of energies", "  bins: 9\n  generator: {kind: uniform, n: 50}\n", ["bad.yaml:4", "not used by function"])
    both("a box without cut-off", "  box: [1, 1, 1]\n  generator: {kind: uniform, n: 50}\n", ["bad.yaml:4", "cutoff"])
    both("a cut-off above a third of the box", "  box: [1, 1, 1]\n  cutoff: 0.4\n  generator: {kind: uniform, n: 50}\n",
         ["bad.yaml:5", "every edge at least 1.2"])
    both("a box of two edges", "  box: [1, 1]\n  cutoff: 0.2\n  generator: {kind: uniform, n: 50}\n", ["2 edges"])
    both("triangles without range", "  function: triangles\n", ["range: [lo, hi]"], "  function: axilrod_teller\n")
    both("an empty range", "  function: triangles\n  range: [2, 1]\n", ["must be less"],
         "  function: axilrod_teller\n")
    suite.write("twice.csv", "0,0,0\n1,1,1\n2,0,1\n1,1,1\n")
    both("points at one place", "  input: {file: twice.csv}\n", ["points 1 and 3", "same place"])
    suite.write("wide.csv", "0,0,0,1\n1,1,1,2\n")
    both("points of four coordinates", "  input: {file: wide.csv}\n", ["name the columns"])
    both("made-up points of four coordinates", "  generator: {kind: uniform, d: 4}\n", ["bad.yaml:4", "generator.d", "1 to 3"])
    both("too many made-up points", "  generator: {kind: uniform, n: 2000000}\n", ["generator.n", "at most 1048576"])
    both("clusters of uniform points", "  generator: {kind: uniform, clusters: 3}\n", ["clusters", "not used by this generator"])
    both("a dataset of a text", "  input: {file: twice.csv, dataset: x}\n", ["dataset", "not used by this input format"])


for each, size, edges, longest in ((uniform, 2, None, np.inf), (uniform, 3, None, np.inf),
                                   (uniform, 130, None, np.inf), (clustered, 150, None, np.inf),
                                   (clustered, 64, None, 2.0), (lattice, 125, [5.0, 5.0, 5.0], 1.6),
                                   (line, 40, None, np.inf), (plane, 65, None, 1.5),
                                   (uniform, 129, [4.0, 4.5, 5.0], 1.3)):
    suite.case(f"energy, {each.__name__}, {size} points, {'box, ' if edges else ''}sides up to {longest}", energy_case,
               each, size, edges, longest)
suite.case("energy, three points close together", close_case)
for each, size, edges, *bins_of_sides in ((uniform, 3, None, 4, 0, 9), (uniform, 250, None, 7, 0.1, 0.9),
                                          (uniform, 300, [4.0, 4.0, 4.0], 6, 0, 1.33),
                                          (clustered, 200, None, 10, 0, 20), (lattice, 216, [6.0, 6.0, 6.0], 4, 0.5, 1.9),
                                          (line, 100, [9.0], 5, 0, 3), (plane, 200, [3.0, 3.0], 8, 0, 0.4)):
    suite.case(f"triangles, {each.__name__}, {size} points{', box' if edges else ''}", count_case, each, size, edges,
               *bins_of_sides)
bad_cases()
suite.end()
