#!/usr/bin/env python3
"""Values of tri where rounding could lie, against numpy in extended precision.

usage: tri_exact.py TESELA [--fast] [ONLY]

Equal points are at distance 0 and nothing is below it; parallel points keep their digits; a cloud far
from its origin is computed as if it were near; numbers that would underflow are refused.
"""
import harness
from harness import check, np

suite = harness.Suite(__doc__, jobs=2)
EPSILON = {"fp32": 2.0**-23, "fp64": 2.0**-52}


def deck_of(function, output, precision, **more):
    return {"family": "tri", "tri": {"function": function, "output": output, "precision": precision, **more}}


def save(x, name="points.npy"):
    np.save(suite.path(name), x)
    return {"file": name}


def condensed(function, x, precision, **more):
    deck = deck_of(function, "condensed", precision, input=save(x), **more)
    with suite.result(deck) as file:
        return file["results/distances"][()].astype(np.longdouble)


def angles(x, centred):
    """1 - cos of all pairs i < j by differences of unit vectors, in extended precision."""
    u = x.astype(np.longdouble)
    if centred:
        u = u - u.mean(axis=1, keepdims=True)
    u = u / np.sqrt((u * u).sum(axis=1, keepdims=True))
    i, j = np.triu_indices(len(x), 1)
    return ((u[i] - u[j]) ** 2).sum(axis=1) / 2


# ---------------------------------------------------------------- cosine, correlation


def angle_of_equals(function, precision, d):
    """Of each point three copies and its mirror image: distances 0 and 2, and none outside."""
    rng = np.random.default_rng(d)
    x = rng.normal(size=(40, d)) + (5 if function == "cosine" else 0)
    same = np.vstack([x, x, x])
    i, j = np.triu_indices(len(same), 1)
    v = condensed(function, same, precision)
    check(np.all(v[i % 40 == j % 40] == 0), f"equal points at {v[i % 40 == j % 40].max()}")
    both = np.vstack([x, -x])
    v = condensed(function, both, precision)
    check(v.min() >= 0 and v.max() <= 2, f"outside [0, 2]: {v.min()}, {v.max()}")
    check(np.all(np.abs(v - angles(both, function == "correlation")) <= (d + 8) * EPSILON[precision]), "wrong values")
    for output, more, name in (("threshold", {"threshold": 0}, "pairs"), ("histogram", {"range": [0, 1e-30]}, "counts")):
        with suite.result(deck_of(function, output, precision, input=save(same), **more)) as file:
            got = len(file["results/pairs"]) if name == "pairs" else file["results/counts"][()].sum()
        check(got == 120, f"{output}: {got} of 120 equal pairs")


def angle_of_parallels(function, d):
    """Nearly parallel points keep the digits that their unit vectors have."""
    rng = np.random.default_rng(d)
    x = rng.normal(size=d) * (1 + 1e-9 * rng.normal(size=(30, d)))
    v, true = condensed(function, x, "fp64"), angles(x, function == "correlation")
    tolerance = np.sqrt(true) * 4 * 2.0**-53 + d * 2.0**-53 * true
    near = true < 0.5 * (d + 8) * EPSILON["fp64"]
    check(near.all(), "the case is not what it should be")
    check(np.all(np.abs(v - true) <= tolerance), f"off by {np.max(np.abs(v - true) / true)} relative")


def correlation_on_a_base():
    """A large common offset of a point's numbers costs no digits beyond those that it has not."""
    rng = np.random.default_rng(3)
    x = np.rint(rng.normal(size=(30, 9)) * 1e4) + 2.0**45  # exact, the deviations too
    v, true = condensed("correlation", x, "fp64"), angles(x, True)
    check(np.all(np.abs(v - true) <= 20 * EPSILON["fp64"]), f"off by {np.max(np.abs(v - true))}")


# ---------------------------------------------------------------- far from the origin


def exact(function, x, extra=None):
    """Values of all pairs i < j in extended precision."""
    x = x.astype(np.longdouble)
    i, j = np.triu_indices(len(x), 1)
    t = np.abs(x[i] - x[j])
    square = (t * t).sum(axis=1)
    if function == "overlap":
        return np.sqrt(square) - (extra[i] + extra[j]), i, j
    return {"euclidean": np.sqrt(square), "sqeuclidean": square, "manhattan": t.sum(axis=1),
            "chebyshev": t.max(axis=1)}[function], i, j


def grid(n=300, seed=1):
    """Metres of a UTM zone in a patch of 10 m, as surveyors have them."""
    rng = np.random.default_rng(seed)
    return np.array([5.0e5, 4.5e6, 750.0]) + rng.uniform(0, 10, (n, 3))


def far_distances(function):
    """fp32, off by the rounding of numbers of the size of the patch alone."""
    x = grid()
    extra = np.full(len(x), 0.25)
    more = {"radius": 0.25} if function == "overlap" else {}
    v, (true, _, _) = condensed(function, x, "fp32", **more), exact(function, x, extra)
    tolerance = 8 * 10 * EPSILON["fp32"] * (20 if function == "sqeuclidean" else 1)
    check(np.all(np.abs(v - true) <= tolerance), f"off by {np.max(np.abs(v - true))}")


def far_neighbours():
    """The nearest neighbour of each point; raw fp32 coordinates give another for one of six."""
    x = grid()
    v, i, j = exact("euclidean", x)
    square = np.full((len(x), len(x)), np.inf, np.longdouble)
    square[i, j] = square[j, i] = v
    with suite.result(deck_of("euclidean", "topk", "fp32", k=1, input=save(x))) as file:
        near = file["results/neighbours"][:, 0]
    check(np.array_equal(near, square.argmin(axis=1)), f"{np.sum(near != square.argmin(axis=1))} are wrong")


def far_outlier():
    """One point at the origin does not spoil those that are far from it."""
    x = np.vstack([grid(), np.zeros((1, 3))])
    v, (true, i, j) = condensed("euclidean", x, "fp32"), exact("euclidean", x)
    patch = j < len(x) - 1
    check(np.all(np.abs(v - true)[patch] <= 8 * 10 * EPSILON["fp32"]), "the patch is spoilt")
    check(np.all(np.abs(v - true) <= 8 * EPSILON["fp32"] * true + 8e-6), "the outlier is wrong")


def far_city():
    """Streets of a town: metres on a sphere of 6371 km."""
    rng = np.random.default_rng(2)
    degrees = np.array([52.37, 4.89]) + rng.uniform(0, 1e-3, (200, 2))
    v = condensed("haversine", degrees, "fp32")
    lat, lon = np.radians(degrees.astype(np.longdouble)).T
    i, j = np.triu_indices(len(degrees), 1)
    a = np.sin((lat[i] - lat[j]) / 2) ** 2 + np.cos(lat[i]) * np.cos(lat[j]) * np.sin((lon[i] - lon[j]) / 2) ** 2
    true = 2 * np.longdouble(6371.0088) * np.arcsin(np.sqrt(a))
    check(np.all(np.abs(v - true) <= 16 * EPSILON["fp32"] * 0.2), f"off by {1000 * np.max(np.abs(v - true))} m")


def forces(x, softening, mass):
    """Accelerations by fp32 within 1e-5 of the sum of the magnitudes."""
    deck = deck_of("gravity", "forces", "fp32", input=save(x), mass=mass, softening=softening)
    x = x.astype(np.longdouble)
    t = x[None] - x[:, None]
    r2 = (t * t).sum(axis=2) + np.longdouble(softening) ** 2
    np.fill_diagonal(r2, 1)
    w = r2 ** np.longdouble(-1.5) * np.longdouble(mass)
    np.fill_diagonal(w, 0)
    a, size = (w[:, :, None] * t).sum(axis=1), np.abs(w[:, :, None] * t).sum(axis=1)
    with suite.result(deck) as file:
        got = file["results/accelerations"][()]
    bound = 1e-5 * np.sqrt((size**2).sum(axis=1))[:, None]
    check(np.all(np.abs(got - a) <= bound), f"off by {np.max(np.abs(got - a) / bound)} of the bound")


def far_forces():
    """Accelerations and potentials do not depend on where a cluster is."""
    near = np.random.default_rng(4).normal(size=(200, 3))
    forces(near + np.array([3e6, -2e7, 1e5]), 0.1, 1 / 200)


def forces_in_any_unit():
    """Light years in metres, nuclei in metres: r^-3 is beyond fp32, the accelerations are not."""
    x = np.random.default_rng(4).normal(size=(200, 3))
    for scale, mass in ((1e16, 2e30), (1e-14, 1e-25), (1.0, 1e-20)):
        forces(x * scale, 0.1 * scale, mass)


def exact_points_stay():
    """Points that fp32 holds as they are keep all digits, dense ones at the origin among them."""
    x = np.vstack([np.array([[0, 0], [2.0**-60, 0], [0, 3 * 2.0**-61]]), np.full((40, 2), 1e6) + np.arange(80).reshape(40, 2)])
    v, (true, _, _) = condensed("euclidean", x.astype(np.float32), "fp32"), exact("euclidean", x)
    check(np.all(np.abs(v - true) <= 4 * EPSILON["fp32"] * true), "digits are lost")


def far_box():
    """A cloud many periods away from the box."""
    rng = np.random.default_rng(5)
    edges, x = np.array([10.0, 12.0, 14.0]), rng.uniform(0, 1, (200, 3)) * [10, 12, 14]
    moved = x + edges * np.array([2.0**20, -(2.0**21), 3.0])
    t = moved[:, None].astype(np.longdouble) - moved[None].astype(np.longdouble)
    t -= np.rint(t / edges) * edges
    true = np.sqrt((t * t).sum(axis=2))
    with suite.result(deck_of("euclidean", "topk", "fp32", k=5, box=edges, input=save(moved))) as file:
        near, v = file["results/neighbours"][()], file["results/values"][()]
    check(np.all(np.abs(v - true[np.arange(200)[:, None], near]) <= 14 * EPSILON["fp32"]), "wrong distances")


def says_what_rounding_costs():
    """The line of a run names the largest shift, and the other precision where neighbours suffer."""
    def line(x, precision="fp32", function="euclidean", **more):
        run = suite.run(["plan", suite.deck("plan.yaml", deck_of(function, "condensed", precision, input=save(x), **more))])
        check(run.status == 0, run.tail())
        return [line for line in run.out.splitlines() if line.startswith("points: ")][0]
    patch = line(grid(), unit="m")
    check("counted from their middle; rounding moves them by up to " in patch and " m" in patch, patch)
    check("fp64 tells them apart" not in patch, patch)
    check("rounding" not in line(grid(), "fp64"), "fp64 rounds")
    check("rounding" not in line(grid().astype(np.float32)), "exact points are rounded")
    rng = np.random.default_rng(6)
    pairs = rng.uniform(-1e6, 1e6, (100, 3))
    pairs = np.vstack([pairs, pairs + rng.uniform(-1, 1, (100, 3))])
    check("fp64 tells them apart" in line(pairs), f"nothing is said of neighbours: {line(pairs)}")
    check("rounding moves their unit vectors by up to" in line(grid(), function="cosine"), "of cosine nothing is said")


# ---------------------------------------------------------------- underflow


def refused(function, x, precision, word, output="condensed", **more):
    deck = suite.deck("tiny.yaml", deck_of(function, output, precision, input=save(x), **more))
    run = suite.run(["run", deck, "-o", "tiny.h5", "--overwrite", "-q"])
    check(run.status == 2 and word in run.err, f"{function} {precision}: {run.tail()}")


def underflow():
    """Clouds whose squares vanish are refused, like those whose squares overflow."""
    x = np.random.default_rng(7).normal(size=(50, 3))
    for function in ("euclidean", "sqeuclidean", "overlap"):
        more = {"radius": 0} if function == "overlap" else {}
        refused(function, x * 1e-30, "fp32", "underflow fp32; use precision: fp64", **more)
        refused(function, x * 1e-160, "fp64", "underflow fp64; use a smaller unit", **more)
        refused(function, x * 1e-310, "fp64", "underflow fp64; use a smaller unit", **more)
    refused("manhattan", x * 1e-40, "fp32", "underflow fp32")
    refused("chebyshev", x * 1e-310, "fp64", "underflow fp64")
    refused("euclidean", x * 1e-30, "fp32", "tri.box", output="topk", box=[1e-30] * 3)
    refused("haversine", x[:, :2], "fp32", "tri.sphere_radius", sphere_radius=1e-50)
    refused("gravity", x, "fp32", "largest mass, 1e-50, underflows", output="forces", mass=1e-50)
    for function, scale, precision in (("euclidean", 1e-14, "fp32"), ("euclidean", 1e-140, "fp64"),
                                       ("manhattan", 1e-35, "fp32"), ("chebyshev", 1e-300, "fp64")):
        v, (true, _, _) = condensed(function, x * scale, precision), exact(function, x * scale)
        check(np.all(np.abs(v - true) <= 16 * EPSILON[precision] * scale), f"{function} at {scale}")
    v = condensed("cosine", x * 1e-300, "fp64")
    check(np.all(np.abs(v - angles(x, False)) <= 11 * EPSILON["fp64"]), "cosine depends on the length")
    check(not condensed("euclidean", np.full((5, 3), 1e-300), "fp64").any(), "equal points")


for name in ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "overlap"):
    suite.case(f"far_distances {name}", far_distances, name)
for body in (far_neighbours, far_outlier, far_city, far_forces, forces_in_any_unit, far_box, exact_points_stay, says_what_rounding_costs, underflow):
    suite.case(body.__name__, body)
for d in (2, 3, 15, 16, 40, 300):
    for function in ("cosine", "correlation"):
        for precision in ("fp32", "fp64"):
            if d > 2 or function == "cosine":
                suite.case(f"angle_of_equals {function} {precision} {d}", angle_of_equals, function, precision, d)
        if d > 2:
            suite.case(f"angle_of_parallels {function} {d}", angle_of_parallels, function, d)
suite.case("correlation_on_a_base", correlation_on_a_base)
suite.end()
