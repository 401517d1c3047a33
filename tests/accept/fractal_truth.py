"""What an escape-time image must be: coordinates, values by the compiled plain loops of
fractal_reference.c, values by exact rational arithmetic, mean and binarised image.

Written from docs/families/fractal.md; nothing here comes from the program.
"""
import subprocess
import sys
from fractions import Fraction

from harness import check, np

SEAHORSE = [-0.743643887037151, 0.13182590420533]
VIEWS = {
    "full": {"set": "mandelbrot", "view": {"centre": [-0.75, 0.0], "width": 3.0}, "maxiter": 1000},
    "seahorse": {"set": "mandelbrot", "view": {"centre": SEAHORSE, "width": 1e-3}, "maxiter": 2000},
    "elephant": {"set": "mandelbrot", "view": {"centre": [0.2925755, -0.0149977], "width": 1e-4}, "maxiter": 1500},
    "deep": {"set": "mandelbrot", "view": {"centre": SEAHORSE, "width": 1e-10}, "maxiter": 4000},
    "julia": {"set": "julia", "c": [-0.8, 0.156], "view": {"centre": [0.0, 0.0], "width": 3.2}, "maxiter": 700},
    "burning ship": {"set": "burning_ship", "view": {"centre": [-1.76, -0.03], "width": 0.12}, "maxiter": 900},
}
MORE = {
    "tip": {"set": "mandelbrot", "view": {"centre": [-2.0, 0.0], "width": 1e-6}, "maxiter": 500},
    "corners": {"set": "mandelbrot", "view": {"corners": [-2.0, -1.25, 0.5, 1.25]}, "maxiter": 300},
    "julia at the edge": {"set": "julia", "c": [0.0, 2.0], "view": {"centre": [0.0, 0.0], "width": 4.0},
                          "maxiter": 100},
    "julia far out": {"set": "julia", "c": [-1.5, 1.6], "view": {"centre": [0.0, 0.0], "width": 5.0}, "maxiter": 50},
    "dust of fp32": {"set": "mandelbrot", "precision": "fp32", "view": {"centre": [-0.743644, 0.131826], "width": 3e-4},
                     "maxiter": 1500},
    "full fp32": {"set": "mandelbrot", "precision": "fp32", "view": {"centre": [-0.75, 0.0], "width": 3.0},
                  "maxiter": 1000},
    "julia fp32": {"set": "julia", "c": [-0.8, 0.156], "precision": "fp32",
                   "view": {"centre": [0.0, 0.0], "width": 3.2}, "maxiter": 700},
    "ship fp32": {"set": "burning_ship", "precision": "fp32", "view": {"centre": [-0.5, -0.5], "width": 3.7},
                  "maxiter": 500},
    "many steps": {"set": "mandelbrot", "view": {"centre": SEAHORSE, "width": 1e-6}, "maxiter": 70000},
}


def sized(name, xres, yres, **more):
    """The deck section of a view at a size."""
    return {**{**VIEWS, **MORE}[name], "xres": xres, "yres": yres, **more}


# ------------------------------------------------------------ coordinates


def real_of(section):
    return np.float32 if section.get("precision") == "fp32" else np.float64


def axis_of(section):
    """((centre, step) of x, the same of y) as the deck says."""
    view, n = section["view"], (section["xres"], section["yres"])
    if "corners" in view:
        lo, hi = view["corners"][:2], view["corners"][2:]
        return [(0.5 * (lo[a] + hi[a]), (hi[a] - lo[a]) / n[a]) for a in (0, 1)]
    return [(view["centre"][a], view["width"] / n[0]) for a in (0, 1)]


def tables(section):
    """x [xres] and y [yres]: centres of the pixels, worked out in fp64, then rounded."""
    (cx, dx), (cy, dy) = axis_of(section)
    xres, yres, real = section["xres"], section["yres"], real_of(section)
    x = [cx + (i + 0.5 - xres / 2) * dx for i in range(xres)]
    y = [cy - (j + 0.5 - yres / 2) * dy for j in range(yres)]
    return np.array(x, real), np.array(y, real)


# ----------------------------------------------------------------- values


def reference_program():
    named = [word.split("=", 1)[1] for word in sys.argv if word.startswith("--reference=")]
    if not named:
        sys.exit("--reference=PROGRAM (of fractal_reference.c) is missing")
    return named[0]


def values(section, rows=None):
    """Values [yres][xres] by plain loops; rows: only these."""
    x, y = tables(section)
    y = y if rows is None else y[rows]
    c = section.get("c", [0.0, 0.0])
    done = subprocess.run(
        [reference_program(), section["set"], "f32" if real_of(section) == np.float32 else "f64", str(len(x)),
         str(len(y)), str(section["maxiter"]), repr(float(c[0])), repr(float(c[1]))],
        input=x.tobytes() + y.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, np.uint32).reshape(len(y), len(x))


def rounded(q, bits):
    """The number of so many bits that is nearest to the fraction q, ties to even."""
    if q == 0:
        return q
    shift = q.numerator.bit_length() - q.denominator.bit_length() - bits
    for shift in (shift, shift + 1):
        whole = round(q / Fraction(2)**shift)  # half to even
        if abs(whole) <= 2**bits:
            return whole * Fraction(2)**shift
    raise AssertionError("no such number")


def exact_value(section, px, py):
    """Value of one point: rational arithmetic, rounded where the documented formula rounds."""
    bits = 24 if real_of(section) == np.float32 else 53
    r = lambda q: rounded(q, bits)  # noqa: E731
    x = y = Fraction(0)
    cx, cy = Fraction(float(px)), Fraction(float(py))
    if section["set"] == "julia":
        x, y = cx, cy
        cx, cy = (Fraction(float(real_of(section)(v))) for v in section["c"])
    for k in range(1, section["maxiter"]):
        if r(x * x + r(y * y)) >= 4:
            return k
        if section["set"] == "burning_ship":
            x, y = abs(x), abs(y)
        x, y = r(r(x - y) * r(x + y) + cx), r(2 * x * y + cy)
    return 0


def escape_exactly(re, im, most):
    """k of c = re + i im in exact arithmetic, by the definition; the numbers double in length."""
    x, y = Fraction(0), Fraction(0)
    for n in range(most):
        if x * x + y * y >= 4:
            return n + 1
        x, y = x * x - y * y + re, 2 * x * y + im
    raise AssertionError("has not left")


# ----------------------------------------------------------------- images


def is_same(found, expected, what):
    check(found.shape == expected.shape, f"{what}: shape {found.shape}, expected {expected.shape}")
    where = np.argwhere(found != expected)
    check(not len(where), f"{what}: {len(where)} pixels differ, the first at {where[:3].tolist()}: "
          f"{[int(found[tuple(w)]) for w in where[:3]]}, expected {[int(expected[tuple(w)]) for w in where[:3]]}")


def binarised(image):
    """255 where the value is at least the mean; in whole numbers."""
    total = int(image.sum(dtype=np.uint64))
    least = -(-total // image.size)
    return np.where(image.astype(np.int64) >= least, 255, 0).astype(np.uint8)


def check_coordinates(file, section):
    data = file["results/iterations"]
    for axis, table in enumerate(reversed(tables(section))):
        found = data.dims[axis][0]
        check(found.dtype == table.dtype, f"coordinates have type {found.dtype}")
        check(found[()].tobytes() == table.tobytes(), f"{found.name} is not centre + (i + 0.5 - n/2) step")
    check(np.all(np.diff(data.dims[1][0][()]) > 0) and np.all(np.diff(data.dims[0][0][()]) < 0),
          "x does not rise or y does not fall")


def check_lines(file, section, image):
    lines, total = file["results"].attrs, int(image.sum(dtype=np.uint64))
    inside = int((image == 0).sum())
    check(lines["mean"] == total / image.size, f"mean {lines['mean']}, expected {total / image.size}")
    check(lines["pixels inside"] == inside, f"inside {lines['pixels inside']}, expected {inside}")
    check(lines["pixels"] == image.size, f"pixels {lines['pixels']}")
    steps = total - (image.size - inside) + inside * (section["maxiter"] - 1)
    check(lines["steps of the plain loop"] == steps, f"steps {lines['steps of the plain loop']}, expected {steps}")


def check_output(file, section, expected):
    """All of an output against expected values."""
    image = file["results/iterations"]
    wanted = np.uint16 if section["maxiter"] <= 65536 else np.uint32
    check(image.dtype == wanted, f"type {image.dtype}, expected {np.dtype(wanted)}")
    is_same(image[()], expected, "iterations")
    check_coordinates(file, section)
    check_lines(file, section, expected)
    check(file["results/binarised"].dtype == np.uint8, "binarised is not u8")
    is_same(file["results/binarised"][()], binarised(expected), "binarised")
