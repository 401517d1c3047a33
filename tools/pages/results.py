"""Pictures of the result of a run: each a figure, rasters with their pixels."""
import numpy as np

from . import h5, molecule, plane, raster, results_tri as tri, results_tri_sets as sets, series, svg
from .page import figure, percent, some

IMAGE = 900  # rows and columns of a sampled image


# ---- fractal ------------------------------------------------------------------------------


def sampled(dataset):
    """At most IMAGE rows and columns, and how many of how many."""
    rows, columns = dataset.shape
    most_rows = min(IMAGE, max(1, h5.SAMPLE // max(1, columns)))
    step = max(1, -(-rows // most_rows), -(-columns // IMAGE))
    lines = np.array([dataset[row, ::step] for row in range(0, rows, step)])
    if step == 1:
        return lines, ""
    return lines, f" Drawn: {lines.shape[0]:,} x {lines.shape[1]:,} of {rows:,} x {columns:,} cells."


def window(dataset):
    """Outer edges (left, right, bottom, top) of an image by its coordinates, else by rows and columns."""
    rows, columns = dataset.shape
    if not all(len(dimension) for dimension in dataset.dims):
        return (0, columns, rows, 0), ("column", "row")
    y, x = (dataset.dims[k][0][...].astype(float) for k in (0, 1))
    dx, dy = (float(t[-1] - t[0]) / max(1, len(t) - 1) for t in (x, y))
    if dx == 0 or dy == 0:  # a single row or column: its pixels are square
        dx, dy = dx or -dy or 1.0, dy or -dx or -1.0
    edges = [x[0] - dx / 2, x[-1] + dx / 2, y[-1] + dy / 2, y[0] - dy / 2]
    names = [h5.quantity_of(dataset.dims[k][0], other) for k, other in ((1, "real part"), (0, "imaginary part"))]
    if max(abs(edges[1] - edges[0]), abs(edges[3] - edges[2])) < 1e-4 * max(map(abs, edges)):
        middles = (x[0] + x[-1]) / 2, (y[0] + y[-1]) / 2  # digits that ticks do not have: from the middle on
        edges = [edges[0] - middles[0], edges[1] - middles[0], edges[2] - middles[1], edges[3] - middles[1]]
        names = [f"{name} {'+' if m < 0 else '-'} {abs(m):.17g}" for name, m in zip(names, middles)]
    return edges, names


def escape_image(dataset):
    values, said = sampled(dataset)
    outside = values[values > 0]
    high = float(np.percentile(outside, 99.9)) if outside.size else 2.0
    low = float(outside.min()) if outside.size else 1.0
    span = raster.Range(values.astype(float), log=True, hi=max(high, 1.01 * low))
    pixels = raster.coloured(values.astype(float), span.lo, span.hi, True, outside=(0, 0, 0))
    extent, names = window(dataset)
    chart = raster.framed(pixels, extent, names, "iterations of each pixel", span, "iterations")
    inside = 1 - outside.size / max(values.size, 1)
    return figure("image", "Iterations until the point has left", chart.html(),
                  f"Black: inside ({percent(inside, 2)} of the pixels drawn).{said}"), pixels


def halves(dataset):
    values, said = sampled(dataset)
    extent, names = window(dataset)
    chart = raster.framed(values.astype(np.uint8), extent, names, "pixels at least at the mean")
    above = float((values > 0).mean()) if values.size else 0.0
    return figure("binarised", "White: at least the mean", chart.html(),
                  f"{percent(above)} of the pixels drawn take at least as many iterations as the mean.{said}")


def escapes(dataset):
    values, whole = h5.blocks(dataset)
    outside = values[values > 0]
    if not outside.size:
        return None
    edges = np.unique(np.rint(np.geomspace(outside.min(), outside.max() + 1, 100)))
    if len(edges) < 2:
        return None
    heights = np.histogram(outside, edges)[0] / np.diff(edges)
    lowest = float(heights[heights > 0].min())
    chart = svg.Chart(svg.Scale(edges[0], edges[-1], log=True), svg.Scale(lowest * 0.7, float(heights.max()) * 1.4,
                                                                        log=True),
                      "iterations", "pixels for each number", says="how many pixels leave when")
    chart.outline(edges, np.maximum(heights, lowest * 0.7), "c1")
    said = "" if whole else " (a sample)"
    return figure("escapes", "How many pixels leave after how many iterations", chart.html(),
                  f"Half of the pixels that leave{said} have done so after {np.median(outside):.4g} iterations, 1 in "
                  f"100 needs more than {np.percentile(outside, 99):.4g}.")


def fractal(results, n):
    made = [escape_image(results["iterations"])]
    if "binarised" in results:
        made.append(halves(results["binarised"]))
    return made + [escapes(results["iterations"])]


# ---- dp -----------------------------------------------------------------------------------


def dp_table(dataset):
    values, said = sampled(dataset)
    rows, columns = dataset.shape
    values = values.astype(float)
    return tri.matrix("table", "Values of the table", values, (0, columns, rows, 0), ("column j", "row i"),
                      h5.quantity_of(dataset), f"{rows:,} x {columns:,} cells.{said}", square=False)


def corners_of_runs(path):
    """Cells (i, j) where runs (operation, length) meet: 0 and 1 go on in both, 2 in j, 3 in i."""
    operation, length = path[:, 0], path[:, 1]
    down, right = np.where(operation != 2, length, 0), np.where(operation != 3, length, 0)
    return (np.concatenate([[0], np.cumsum(steps)]) for steps in (down, right))


def dp_path(path):
    """The solution: a way through the table, or what was chosen for each item or stage."""
    meaning = str(h5.attribute(path, "doc"))
    records, whole = h5.blocks(path)
    runs = meaning.startswith("Runs")
    if not len(records) or runs and not whole:
        return None
    cells = runs or "(i, j" in meaning
    down, right = corners_of_runs(records) if runs else (records[:, 0], records[:, 1])
    across, along = (right, down) if cells else (down, right)
    x = svg.Scale(float(min(across.min(), 0)), float(max(across.max(), 1)))
    y = (raster.Upward(float(min(along.min(), 0)), float(max(along.max(), 1))) if cells
         else svg.Scale(float(along.min()), float(max(along.max(), along.min() + 1))))
    labels = ("letter of b", "letter of a") if runs else ("j", "i") if cells else ("first of a record", "second of a record")
    chart = svg.Chart(x, y, *labels, says="the solution")
    if runs:
        chart.line(across, along, "c1")
    else:
        chosen = np.linspace(0, len(across) - 1, min(len(across), 4000)).astype(int)
        chart.dots(across[chosen], along[chosen], "c1")
    return figure("path", "The solution", chart.html(), meaning + ("" if whole else " (a sample)"))


def dp(results, n):
    made = [dp_table(results["table"])] if "table" in results else []
    return made + ([dp_path(results["path"])] if "path" in results else [])


# ---- xc -----------------------------------------------------------------------------------


def levels(results):
    """Orbital energies as levels, occupied and empty, around the gap."""
    energies = results["orbital_energies"][...]
    top = float(h5.attribute(results, "highest occupied", np.nan))
    if not np.isfinite(top):
        top = float(energies.max())
    low = float(h5.attribute(results, "lowest empty", top))
    reach = max(1.2 * (low - top), 1.0)
    shown = energies[(energies > top - 2.5 * reach) & (energies < low + 2 * reach)]
    below = int((energies <= top - 2.5 * reach).sum())
    spins = len(energies)
    chart = svg.Chart(svg.Scale(-0.6, spins - 0.4, ticks=list(range(spins)),
                                form=lambda v: ["alpha", "beta"][int(v)] if spins == 2 else "orbitals"),
                      svg.Scale(float(shown.min()) - 0.1, float(shown.max()) + 0.1), "", "energy (hartree)", grid="y",
                      says="orbital energies")
    for filled, colour, label in ((True, "c1", "occupied"), (False, "c2", "empty")):
        rows = [(spin - 0.3, spin + 0.3, e, e) for spin in range(spins) for e in energies[spin]
                if (e <= top + 1e-12) == filled and shown.min() <= e <= shown.max()]
        for k, (x0, x1, e, _) in enumerate(rows):
            chart.line([x0, x1], [e, e], colour, label if k == 0 else "", thick=1.6)
    gap = (f"between the highest occupied ({top:.5f} hartree) and the lowest empty level ({low:.5f} hartree) lie "
           f"{low - top:.5f} hartree = {(low - top) * 27.211386245988:.3f} eV" if low > top else
           f"the highest occupied level is {top:.5f} hartree")
    return figure("levels", "Orbital energies", chart.html(),
                  f"{gap[0].upper()}{gap[1:]}; {some(below, 'level')} below the window.")


def charges(results):
    values = results["mulliken_charges"][...].astype(float)
    if not values.size:
        return None
    n = len(values)
    top = max(float(np.abs(values).max()) * 1.1, 1e-6)
    every = [float(t) for t in svg.steps(1, n, 14) if float(t).is_integer() and 1 <= t <= n]
    chart = svg.Chart(svg.Scale(0.4, n + 0.6, ticks=sorted({1.0, *every})), svg.Scale(-top, top), "atom",
                      "charge (e)", grid="y", says="charges of the atoms")
    for sign, colour, label in ((1, "c2", "positive"), (-1, "c1", "negative")):
        rows = [(k + 0.65, k + 1.35, max(v, 0), min(v, 0)) for k, v in enumerate(values) if v * sign > 0]
        if rows:
            chart.boxes(rows, colour, label)
    chart.level(0, "soft")
    most, least = int(values.argmax()), int(values.argmin())
    return figure("charges", "Mulliken charges", chart.html(),
                  f"From {values[least]:+.4f} e (atom {least + 1}) to {values[most]:+.4f} e (atom {most + 1}); the "
                  f"sum is {values.sum():+.2e} e.")


def convergence(results):
    """Change of energy and commutator of each iteration; earlier versions have no history."""
    if "history" not in results or not results["history"].shape[0]:
        return None
    number, _, change, commutator = results["history"][...].T
    curves = [("change of energy", np.abs(change)), ("commutator", commutator)]
    curves = [(name, np.where(column > 0, column, np.nan)) for name, column in curves]
    finite = [v for _, column in curves for v in column if np.isfinite(v)]
    if not finite:
        return None
    chart = svg.Chart(svg.Scale(number[0] - 0.5, number[-1] + 0.5, ticks=svg.whole_steps(number[0], number[-1])),
                      svg.Scale(min(finite) * 0.5, max(finite) * 2, log=True), "iteration", "energy (hartree)",
                      says="convergence")
    for k, (name, column) in enumerate(curves):
        chart.line(number, column, svg.COLOURS[k], thick=1.6, dash=svg.DASHES[k])
        chart.points(number, column, svg.COLOURS[k], k, name)
    return figure("convergence", "Convergence", chart.html(),
                  f"{some(len(number), 'iteration')}; in the last one the energy changed by {change[-1]:.2e} hartree "
                  f"and the commutator was {commutator[-1]:.2e}.")


def groups(results):
    """Points and functions of each group of grid points."""
    if "group_sizes" not in results or not results["group_sizes"].shape[0]:
        return None
    points, functions = results["group_sizes"][...].T.astype(float)
    shown = np.linspace(0, len(points) - 1, min(len(points), 3000)).astype(int)
    chart = svg.Chart(svg.Scale(0, points.max() * 1.05), svg.Scale(0, functions.max() * 1.08), "points of a group",
                      "functions that reach it", says="sizes of the groups")
    chart.dots(points[shown], functions[shown], "c1", thick=7)
    return figure("groups", "Groups of grid points", chart.html(),
                  f"{some(len(points), 'group')} of {points.mean():.0f} points in the mean; {functions.mean():.0f} "
                  f"functions reach a group in the mean, {functions.max():.0f} at most.")


def density(dataset):
    values = np.log10(np.maximum(np.abs(dataset[0]), 1e-12))
    n = values.shape[0]
    return tri.matrix("density", "Density matrix", raster.smaller(values, 600), (0, n, n, 0), ("function", "function"),
                      "log10 |density|", f"{n} functions; magnitudes on a logarithmic scale.")


def xc(results, n):
    made = [molecule.picture(results["atoms"][...]), plane.picture(results)] if "atoms" in results else []
    made.append(levels(results))
    if "mulliken_charges" in results:
        made.append(charges(results))
    made.append(convergence(results))
    if "density" in results and results["density"].ndim == 3 and results["density"].shape[1] <= 4000:
        made.append(density(results["density"]))
    return made


# ---- all ----------------------------------------------------------------------------------

KINDS = [("contacts", tri.contacts), ("distances", tri.distances), ("counts", tri.histogram), ("pairs", tri.graph),
         ("labels", tri.clusters), ("degree", tri.degree), ("indptr", tri.degree),
         ("neighbours", tri.neighbours), ("accelerations", tri.forces), ("forces", tri.three_body), ("orbital_energies", xc),
         ("energies", series.figures), ("iterations", fractal), ("goal", dp)]


def pictures(file):
    """Figures of the result, and the pixels of its first picture, or None."""
    results = file["results"]
    n = int(h5.attribute(results, "points", 0))
    for name, make in KINDS:
        if name in results:
            if name == "counts":
                drawn = sets.histogram(file, results, n)
            elif "points of the other set" in results.attrs and name in sets.OF_TWO:
                drawn = sets.OF_TWO[name](results)
            else:
                drawn = make(results, n)
            made = [one if isinstance(one, tuple) else (one, None) for one in drawn]
            if "input/drawn" in file:
                made.append((tri.points(file["input/drawn"], n, results.get("labels")), None))
            first = next((pixels for _, pixels in made if pixels is not None), None)
            return [one for one, _ in made if one], first
    return [], None


def workings(results):
    """Figures of how the result was computed rather than of what it is."""
    return [groups(results)]
