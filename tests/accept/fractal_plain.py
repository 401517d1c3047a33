#!/usr/bin/env python3
"""Escape-time images are, pixel for pixel, what plain loops and exact arithmetic give.

usage: fractal_plain.py TESELA --reference=PROGRAM [--fast] [ONLY]

PROGRAM is fractal_reference.c, compiled; it is itself compared with rational arithmetic. Then
come pictures, streaming, and numbers that mathematics knows.
"""
import cmath
import math
import os
from fractions import Fraction

import fractal_truth as truth
import harness
from harness import check, check_units, h5py, np

try:
    from PIL import Image
except ImportError:
    Image = None

suite = harness.Suite(__doc__, jobs=3)
SIZE = (96, 61) if suite.fast else (331, 217)
known = {}


def reference(section):
    """Values of a section, computed once."""
    name = repr(sorted((k, v) for k, v in section.items() if k in ("set", "c", "view", "xres", "yres", "maxiter",
                                                                   "precision")))
    if name not in known:
        known[name] = truth.values(section)
    return known[name]


def result(section, ranks=None, run=None, **more):
    tree = {"family": "fractal", "run": {"device": "cpu", **(run or {})}, "fractal": section}
    return suite.result(tree, ranks=ranks, **more)


# ------------------------------------------------------------- references


def reference_is_exact(name):
    """The compiled loops against rounding by rational arithmetic."""
    section = truth.sized(name, 11, 7)
    section["maxiter"] = min(section["maxiter"], 130)
    x, y = truth.tables(section)
    expected = np.array([[truth.exact_value(section, a, b) for a in x] for b in y])
    truth.is_same(truth.values(section), expected, "reference")


def image(name, run=None, **more):
    size = (60, 40) if name == "many steps" else SIZE  # most of it inside, slow for plain loops
    section = truth.sized(name, *size, **more)
    with result(section, run=run) as file:
        check_units(file, 1)
        truth.check_output(file, section, reference(section))
        return f"{int((reference(section) == 0).sum())} of {size[0] * size[1]} inside"


def default_view(name, deck):
    """Without a view the whole set is seen: nothing on the rim is inside."""
    with result({**deck, "xres": 150, "yres": 100, "maxiter": 200}) as file:
        data = file["results/iterations"]
        x, y = data.dims[1][0][()], data.dims[0][0][()]
        seen = data[()]
    check(np.isclose(x[1] - x[0], y[0] - y[1]), "pixels are not square")
    check(np.all(seen[[0, -1]] > 0) and np.all(seen[:, [0, -1]] > 0), "the set reaches the rim")
    check((seen == 0).any() or name == "julia dust", "nothing is inside")


DEFAULTS = {"mandelbrot": {"set": "mandelbrot"}, "burning ship": {"set": "burning_ship"},
            "julia": {"set": "julia", "c": [-0.12, 0.75]}, "julia dust": {"set": "julia", "c": [-0.8, 0.3]}}


def image_cases():
    for name in ("full", "julia", "burning ship", "full fp32", "julia fp32", "ship fp32"):
        suite.case(f"reference is exact, {name}", reference_is_exact, name)
    for name in {**truth.VIEWS, **truth.MORE}:
        suite.case(f"image, {name}", image, name)
    for name, deck in DEFAULTS.items():
        suite.case(f"default view, {name}", default_view, name, deck)


# ------------------------------------------------- where shortcuts are risky


def borders(precision, widths):
    """Small views on the border of the cardioid, at the cusp, the neck and the disc: many steps."""
    turns = (0, 0.1, 1 / 3, 0.45, 0.499, 0.5)
    spots = [cmath.exp(2j * math.pi * t) / 2 - cmath.exp(4j * math.pi * t) / 4 for t in turns]
    spots += [-1 + 0.25 * cmath.exp(2j * math.pi * t) for t in (0, 0.003, 0.2)]
    for c in spots[::2] if suite.fast else spots:
        for width in widths:
            section = {"set": "mandelbrot", "precision": precision, "xres": 24, "yres": 16,
                       "view": {"centre": [c.real, c.imag], "width": width}, "maxiter": 50000 if suite.fast else 500000}
            with result(section) as file:
                truth.check_output(file, section, reference(section))


# --------------------------------------------------------------- switches


def switches():
    for name in ("full", "seahorse", "deep", "full fp32"):
        for interior, periodicity in ((False, True), (True, False), (False, False)):
            suite.case(f"{name}, interior {interior}, periodicity {periodicity}", image, name, interior=interior,
                       periodicity=periodicity)
    for name in ("julia", "burning ship", "julia at the edge", "ship fp32"):
        suite.case(f"{name}, no periodicity", image, name, periodicity=False)
    suite.case("no binarised image", no_binarised)


def no_binarised():
    section = truth.sized("full", 50, 40, binarise=False)
    with result(section) as file:
        check("binarised" not in file["results"], "binarised is there")
        truth.is_same(file["results/iterations"][()], reference(section), "iterations")


def schedules():
    for schedule in ("tasks", "static", "dynamic", "guided", "collapse", "auto"):
        for name in ("full", "burning ship") if suite.fast else [*truth.VIEWS, "full fp32", "tip"]:
            for threads in (1, 3):
                suite.case(f"schedule {schedule}, {name}, {threads} threads", image, name,
                           run={"threads": threads}, cpu_schedule=schedule)


def simd(level, name):
    section = truth.sized(name, *SIZE)
    file = harness.at_level(level, result, section)
    if file is None:
        return "not here"
    with file:
        truth.check_output(file, section, reference(section))
    return None


def sizes():
    """Widths around those of a vector; single rows and columns."""
    for xres, yres in ((1, 1), (1, 50), (50, 1), (2, 3), (7, 5), (8, 8), (9, 31), (17, 16), (63, 2), (65, 33)):
        section = truth.sized("full", xres, yres)
        with result(section) as file:
            truth.check_output(file, section, reference(section))


def one_value():
    """maxiter 1 and 2, and views of one value only: the mean is the value, all pixels are 255."""
    for name, maxiter in (("full", 1), ("full", 2), ("full", 3)):
        section = truth.sized(name, 40, 30, maxiter=maxiter)
        with result(section) as file:
            truth.check_output(file, section, reference(section))
    for centre in ([-1.0, 0.0], [3.0, 3.0]):
        section = {"set": "mandelbrot", "view": {"centre": centre, "width": 0.01}, "xres": 33, "yres": 9, "maxiter": 99}
        with result(section) as file:
            truth.check_output(file, section, reference(section))
            check((file["results/binarised"][()] == 255).all(), "a pixel is below the mean of equal values")


# ---------------------------------------------------------------- filling


def filled(name):
    """exact: no says how much it filled and how much of that it found wrong."""
    section = truth.sized(name, 700, 500)
    exact = reference(section)
    with result({**section, "exact": False}) as file:
        lines, seen = dict(file["results"].attrs), file["results/iterations"][()]
        total = int(seen.sum(dtype=np.uint64))
        check(lines["mean"] == total / seen.size, "the mean is not that of the image")
        truth.is_same(file["results/binarised"][()], truth.binarised(seen), "binarised")
    wrong = int((seen != exact).sum())
    count, sampled, missed = (int(lines[k]) for k in ("pixels filled", "filled pixels sampled", "sampled pixels wrong"))
    check(0 < count < seen.size, f"{count} pixels filled")
    check(abs(sampled - count / 64) < 6 * math.sqrt(count / 64) + 64, f"{sampled} of {count} filled pixels sampled")
    check(missed <= sampled and missed <= wrong + sampled, f"{missed} of {sampled} wrong")
    check(wrong < 2e-3 * seen.size, f"{wrong} pixels differ from the exact image")
    estimate = lines["estimated wrong fraction"] * seen.size
    check(abs(estimate - wrong) < 64 * 6 * math.sqrt(wrong / 64 + 1), f"estimated {estimate:.0f} wrong, there are {wrong}")
    return f"{100 * count / seen.size:.0f} % filled, {wrong} pixels wrong, {estimate:.0f} estimated"


def filled_over():
    """The whole set in one tile whose border is of one value: filled over, and found out."""
    section = {"set": "mandelbrot", "view": {"centre": [0.0, 0.0], "width": 13.7}, "xres": 96, "yres": 96, "maxiter": 100}
    exact = reference(section)
    with result({**section, "exact": False}) as file:
        wrong = int((file["results/iterations"][()] != exact).sum())
        missed, estimate = (file["results"].attrs[k] for k in ("sampled pixels wrong", "estimated wrong fraction"))
    check(wrong > 400, f"{wrong} pixels wrong: the example is not filled over")
    check(missed > 0 and 0.3 * wrong < estimate * exact.size < 3 * wrong,
          f"{wrong} wrong, {missed:.0f} of them sampled, {estimate * exact.size:.0f} estimated")
    return f"{wrong} wrong, {estimate * exact.size:.0f} estimated"


# --------------------------------------------------------------- pictures


def pixels(name, mode):
    picture = Image.open(suite.path(name))
    check(picture.format == "PNG", f"{name} is no PNG")
    return np.asarray(picture.convert(mode)), picture.mode


def pictures(palette, name="seahorse"):
    section = truth.sized(name, *SIZE, png="view.png", binarised_png="halves.png", palette=palette)
    values = reference(section)
    with result(section) as file:
        truth.check_output(file, section, values)
        halves, mode = pixels("halves.png", "L")
        check(mode in ("L", "1", "P"), f"halves.png is {mode}")
        truth.is_same(halves, file["results/binarised"][()], "halves.png")
    colours, _ = pixels("view.png", "RGB")
    check(colours.shape == (*values.shape, 3), f"view.png has shape {colours.shape}")
    black = ~colours.any(axis=2)
    truth.is_same(black, values == 0, "black pixels")
    check_colours(values, colours.astype(int), palette)
    for left in ("view.png.part", "halves.png.part"):
        check(not os.path.exists(suite.path(left)), f"{left} is still there")


def check_colours(values, colours, palette):
    """One colour for a value; brighter or the same for a larger one; in the palette."""
    light = colours @ [0.2126, 0.7152, 0.0722]
    chosen = {}
    for value, colour in zip(values.ravel(), map(tuple, colours.reshape(-1, 3))):
        check(chosen.setdefault(value, colour) == colour, f"two colours for the value {value}")
    order = sorted(chosen)
    at = {v: light.ravel()[np.argmax(values.ravel() == v)] for v in order if v > 0}
    levels = [at[v] for v in order if v > 0]
    check(all(a <= b + 1.5 for a, b in zip(levels, levels[1:])), "a larger value is darker")
    check(len({c for c in chosen.values()}) > min(30, len(order) // 3), "few colours")
    if palette == "grey":
        check((colours[..., 0] == colours[..., 1]).all() and (colours[..., 1] == colours[..., 2]).all(), "not grey")
        return
    import matplotlib
    ideal = np.round(255 * matplotlib.colormaps["viridis"](np.linspace(0, 1, 1024))[:, :3]).astype(int)
    for colour in set(chosen.values()) - {(0, 0, 0)}:
        check(np.abs(ideal - colour).max(axis=1).min() <= 3, f"{colour} is not in viridis")


def pictures_replace():
    """A second run replaces its own pictures; ranks do not matter."""
    section = truth.sized("full", 120, 90, png="same.png", binarised_png="same2.png")
    seen = []
    for ranks in (None, 1, 3):
        with result(section, ranks=ranks):
            seen.append([open(suite.path(name), "rb").read() for name in ("same.png", "same2.png")])
    check(seen[0] == seen[1] == seen[2], "the pictures differ")


# ---------------------------------------------------------------- streams

CAP = 4  # MiB


def streams():
    """An image of some hundred megabytes, with pictures, through 4 MiB."""
    side = 9000 if suite.fast else 16000
    peaks = []
    for n in (64, side):
        section = truth.sized("full", n, n, maxiter=200, png="large.png", binarised_png="large2.png")
        suite.deck("stream.yaml", {"family": "fractal", "run": {"device": "cpu", "memory": f"{CAP} MiB"},
                                   "fractal": section, "output": {"overwrite": True}})
        run, peak = harness.run_peak(suite, ["run", "stream.yaml", "-o", "stream.h5", "-q"])
        check(run.status == 0 and "VALID" in run.out, run.tail())
        peaks.append(peak)
    rows = [0, 1, side // 3, side // 2, side - 1]
    with h5py.File(suite.path("stream.h5"), "r") as file:
        values = truth.values(section, rows)
        truth.is_same(file["results/iterations"][rows], values, "rows")
        least = math.ceil(Fraction(file["results"].attrs["mean"]))
        truth.is_same(file["results/binarised"][rows], np.where(values >= least, 255, 0), "rows of binarised")
    size = os.path.getsize(suite.path("stream.h5")) / 2**20
    if Image is not None:
        Image.MAX_IMAGE_PIXELS = None
        for name in ("large.png", "large2.png"):
            with Image.open(suite.path(name)) as picture:
                check(picture.size == (side, side), f"{name} has size {picture.size}")
    for name in ("stream.h5", "large.png", "large2.png"):
        os.remove(suite.path(name))
    above = 2 * CAP + 2 * 64 + 60  # results in flight; 64 MiB of chunks of each dataset; rows and pictures
    check(peaks[1] < peaks[0] + above, f"peak {peaks[1]:.0f} MiB, a tiny run {peaks[0]:.0f} MiB")
    return f"{size:.0f} MiB of file, peak {peaks[1]:.0f} MiB, a tiny run {peaks[0]:.0f} MiB"


# ------------------------------------------------------------ mathematics


def value_at(re, im, maxiter, **more):
    """Value of one point: an image of one pixel."""
    section = {"set": "mandelbrot", "view": {"centre": [re, im], "width": 1.0}, "xres": 1, "yres": 1,
               "maxiter": maxiter, **more}
    with result(section) as file:
        check(file["results/iterations"].dims[1][0][0] == re and file["results/iterations"].dims[0][0][0] == im,
              "the pixel is not on the point")
        return int(file["results/iterations"][0, 0])


def points_inside():
    """Points with attracting orbits of period 1, 2, 3, 4 and 1 again, near its end."""
    for re, im in ((0.0, 0.0), (-1.0, 0.0), (-0.12, 0.75), (-1.31, 0.0), (-0.1, 0.62)):
        for interior in (True, False):
            check(value_at(re, im, 1_000_000, interior=interior) == 0, f"{re} + {im} i is not inside")


def points_outside():
    """k by exact arithmetic; -2 is in the set, and |z|^2 = 4 counts as left."""
    for re, im in ((0.3, 0.0), (0.5, 0.0), (1.0, 0.0), (-2.0, 0.0), (2.0, 0.0), (0.0, 2.0), (0.4, 0.4), (-1.5, 0.5)):
        k = truth.escape_exactly(Fraction(re), Fraction(im), 20)
        found = value_at(re, im, 1000)
        check(found == k, f"{re} + {im} i: {found}, by exact arithmetic {k}")
        check(value_at(re, im, k + 1) == k and value_at(re, im, k) == 0, "maxiter is not the first value left out")


def pi_at_the_neck():
    """Steps to leave at -3/4 + e i, times e, tend to pi (D. Boll 1991; A. Klebanoff, Fractals 9 (2001) 393)."""
    for e in (1e-2, 1e-4, 1e-6):
        n = value_at(-0.75, e, 20_000_000) - 1
        check(abs(n * e - math.pi) < 2.5 * e + 2e-6, f"{n} steps at e = {e}")


def pi_at_the_cusp():
    """Steps to leave at 1/4 + e, times sqrt(e), tend to pi."""
    for e in (1e-6, 1e-10):
        n = value_at(0.25 + e, 0.0, 20_000_000) - 1
        check(abs(n * math.sqrt(e) - math.pi) < 3 * math.sqrt(e), f"{n} steps at e = {e}")


AREA = 1.506591885  # R. P. Munafo's and T. Foerstemann's counts agree on 1.50659


def area():
    """Pixels inside times their area."""
    n, maxiter = (1000, 5000) if suite.fast else (3000, 50000)
    section = {"set": "mandelbrot", "view": {"corners": [-2.0, -1.25, 0.5, 1.25]}, "xres": n, "yres": n,
               "maxiter": maxiter}
    with result(section) as file:
        found = file["results"].attrs["pixels inside"] * (2.5 / n)**2
    bound = 4 * 2.5 / n**1.5 * 2.5 + 4 / maxiter  # pixels on the border; points that leave later
    check(abs(found - AREA) < bound, f"area {found:.5f}, known {AREA:.5f}, allowed {bound:.1e}")
    return f"area {found:.5f}, off by {found - AREA:+.5f}"


def symmetric():
    """A view that is symmetric about the real axis gives a symmetric image, an odd number of rows too."""
    for yres in (100, 101):
        section = truth.sized("full", 150, yres)
        with result(section) as file:
            seen = file["results/iterations"][()]
        check(np.array_equal(seen, seen[::-1]), f"not symmetric with {yres} rows")


image_cases()
suite.case("borders, fp64", borders, "fp64", (1e-2, 1e-5, 1e-8, 1e-11))
suite.case("borders, fp32", borders, "fp32", (1e-1, 1e-3, 1e-5))
switches()
schedules()
for each in (2, 3, 4):
    for view in ("full", "deep", "julia", "burning ship", "full fp32", "julia at the edge"):
        suite.case(f"SIMD level {each}, {view}", simd, each, view)
suite.case("sizes", sizes)
suite.case("one value", one_value)
for view in ("full", "julia", "seahorse"):
    suite.case(f"filled, {view}", filled, view)
suite.case("filled over", filled_over)
if Image is None:
    print("skip pictures: no PIL (Debian: python3-pil)")
else:
    for colours_of in ("grey", "viridis"):
        for view in ("seahorse", "full", "julia"):
            suite.case(f"pictures, {colours_of}, {view}", pictures, colours_of, view)
suite.case("pictures are replaced", pictures_replace)
suite.case("streams", streams)
for each in (points_inside, points_outside, pi_at_the_neck, pi_at_the_cusp, area, symmetric):
    suite.case(each.__name__.replace("_", " "), each)
suite.end()
