"""Pictures of the results of family tri, and drawings that other families use too."""
import numpy as np

from . import h5, raster, svg
from .page import figure, number, percent

SIDE = 300  # rows and columns of a sampled matrix


# ---- drawings -----------------------------------------------------------------------------


def bars(name, title, values, word, sentence, bins=90):
    """How values are spread."""
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    counts, edges = np.histogram(values, bins)
    chart = svg.Chart(svg.Scale(edges[0], edges[-1]), svg.Scale(0, float(counts.max()) * 1.06), word, "count",
                      says=title)
    chart.boxes([(edges[k], edges[k + 1], count, 0) for k, count in enumerate(counts) if count], "c1", gap=0.4)
    said = (f"{sentence} Mean {number(float(f'{values.mean():.5g}'))}, from {number(float(f'{values.min():.5g}'))} to "
            f"{number(float(f'{values.max():.5g}'))}.")
    return figure(name, title, chart.html(), said)


def outline(name, title, edges, heights, word, unit, sentence, level=None):
    chart = svg.Chart(svg.Scale(float(edges[0]), float(edges[-1])), svg.Scale(0, float(heights.max()) * 1.06 or 1.0),
                      h5.labelled("value", unit), word, says=title)
    if level is not None:
        chart.level(level)
    chart.outline(edges, heights, "c1")
    return figure(name, title, chart.html(), sentence)


def matrix(name, title, values, extent, labels, word, sentence, square=True, log=False):
    """Values as colours; extent: left, right, bottom, top."""
    span = raster.Range(values, log)
    pixels = raster.coloured(values, span.lo, span.hi, log)
    chart = raster.framed(pixels, extent, labels, title, span, word, square)
    return figure(name, title, chart.html(), sentence), pixels


# ---- matrices -----------------------------------------------------------------------------


def sampled_rows(n):
    most = int(np.clip(2 * h5.SAMPLE // max(n, 1), 100, SIDE))
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def matrix_condensed(dataset, n):
    """Symmetric sample of the condensed vector at chosen points; rows are read whole."""
    at = sampled_rows(n)
    values = np.zeros((len(at), len(at)))
    for r, i in enumerate(at):
        first = int(n * i - i * (i + 1) // 2)
        row = dataset[first:first + int(n - 1 - i)]
        values[r, r + 1:] = row[at[r + 1:] - i - 1]
    return values + values.T, at


def matrix_square(dataset, n):
    at = sampled_rows(n)
    values = np.zeros((len(at), len(at)))
    for r, i in enumerate(at):
        values[r, :r + 1] = dataset[int(i), :int(i) + 1][at[:r + 1]]
    return values + np.tril(values, -1).T, at


def distances(results, n):
    dataset = results["distances"]
    if n < 2:
        return []
    values, at = matrix_square(dataset, n) if dataset.ndim == 2 else matrix_condensed(dataset, n)
    said = "Every point" if len(at) == n else f"{len(at)} of {n:,} points, evenly spaced"
    unit = h5.unit_of(dataset)
    made, pixels = matrix("matrix", "Values of the pairs", values, (0, n, n, 0), ("point j", "point i"),
                          h5.labelled("value", unit), f"{said}; mirrored at the diagonal.")
    spread = values[np.tril_indices(len(values), -1)] if dataset.ndim == 2 else h5.blocks(dataset)[0].ravel()
    return [(made, pixels), bars("spread", "How the values are spread", spread, h5.labelled("value", unit),
                                 f"{spread.size:,} of {n * (n - 1) // 2:,} pairs.")]


# ---- other outputs ------------------------------------------------------------------------


def histogram(results, n):
    edges, counts = results["edges"][...], results["counts"][...]
    unit, made = h5.unit_of(results["edges"]), []
    if "rdf" in results:
        rdf = results["rdf"][...]
        top = int(rdf.argmax())
        tail = rdf[len(rdf) // 2:]
        made.append(outline("rdf", "Radial distribution g(r)", edges, rdf, "g(r)", unit,
                            f"Highest at r = {(edges[top] + edges[top + 1]) / 2:.4g} with {rdf[top]:.4g}; over the "
                            f"outer half of the range its mean is {tail.mean():.4g} (dashed: 1, an ideal gas).", 1))
    peak = int(counts.argmax())
    made.append(outline("counts", "Pairs in each bin", edges, counts.astype(float), "pairs", unit,
                        f"{int(counts.sum()):,} pairs in {len(counts)} bins, most ({int(counts[peak]):,}) between "
                        f"{edges[peak]:.4g} and {edges[peak + 1]:.4g}."))
    return made


def degrees(pairs, n, name, sentence, labels):
    """How many points are in how many pairs."""
    counts = np.bincount(np.bincount(pairs.ravel(), minlength=n))
    every = svg.steps(0, max(1, len(counts) - 1), 12)
    chart = svg.Chart(svg.Scale(-0.6, len(counts) - 0.4, ticks=[t for t in every if float(t).is_integer()]),
                      svg.Scale(0, float(counts.max()) * 1.06), *labels, says=sentence)
    chart.boxes([(k - 0.4, k + 0.4, float(count), 0) for k, count in enumerate(counts) if count], "c1")
    return figure(name, "Pairs of a point", chart.html(), sentence)


def graph(results, n):
    pairs, whole = h5.blocks(results["pairs"])
    if not len(pairs):
        return []
    values, all_values = h5.blocks(results["values"])
    said = "" if whole else " (of a sample of the pairs)"
    mean = 2 * len(pairs) / max(n, 1)
    return [adjacency(pairs, n, whole),
            degrees(pairs, n, "degrees", f"A point is in {mean:.3g} kept pairs in the mean{said}.",
                    ("pairs that a point is in", "points")),
            bars("spread", "Values of the kept pairs", values, h5.labelled("value", h5.unit_of(results["values"])),
                 f"{values.size:,} kept pairs{'' if all_values else ' (a sample)'}.")]


def adjacency(pairs, n, whole):
    """The graph of the kept pairs as a picture: how many pairs fall into each cell."""
    side = min(n, SIDE)
    cells = (pairs * side // max(n, 1)).astype(np.int64)
    counts = np.zeros((side, side))
    np.add.at(counts, (cells[:, 0], cells[:, 1]), 1)
    counts = counts + counts.T
    if side < n:  # several points in a cell
        made, pixels = matrix("graph", "Which pairs are kept", np.where(counts > 0, counts, np.nan), (0, n, n, 0),
                              ("point j", "point i"), "pairs", graph_sentence(pairs, n, whole))
        return made, pixels
    pixels = np.where(counts[..., None] > 0, np.array([33, 95, 168], np.uint8), np.uint8(245)).astype(np.uint8)
    chart = raster.framed(pixels, (0, n, n, 0), ("point j", "point i"), "which pairs are kept")
    return figure("graph", "Which pairs are kept", chart.html(), graph_sentence(pairs, n, whole)), pixels


def graph_sentence(pairs, n, whole):
    share = len(pairs) / max(1, n * (n - 1) / 2)
    said = "" if whole else " in this sample"
    return f"{len(pairs):,} pairs of {n:,} points{said}: {percent(share, 3)} of all pairs."


def neighbours(results, n):
    values, whole = h5.blocks(results["values"])
    if not values.size:
        return []
    unit, k = h5.unit_of(results["values"]), values.shape[1]
    edges = np.histogram_bin_edges(values[np.isfinite(values)], bins=80)
    curves = [np.histogram(values[:, c], edges)[0].astype(float) for c in ((0, k - 1) if k > 1 else (0,))]
    chart = svg.Chart(svg.Scale(edges[0], edges[-1]), svg.Scale(0, max(c.max() for c in curves) * 1.06),
                      h5.labelled("value", unit), "points", says="values of the neighbours")
    for curve, colour, label in zip(curves, ("c1", "c2"), ("nearest", f"neighbour {k}")):
        chart.outline(edges, curve, colour, label)
    said = (f"The nearest neighbour is at {np.median(values[:, 0]):.4g} in the median, the last of {k} kept at "
            f"{np.median(values[:, -1]):.4g}{'' if whole else ' (a sample of the points)'}.")
    return [figure("neighbours", "Nearest and farthest kept neighbour", chart.html(), said)]


def input_points(file, n, d):
    """The points as [n][d] when the file holds them in a shape that says so, else None."""
    points = file.get("input/points")
    if d < 2 or points is None or points.ndim != 2 or n > 200_000:
        return None
    if points.shape[0] == n and points.shape[1] >= d:
        return points[:, :d]
    return points[:d, :n].T if points.shape[0] >= d and points.shape[1] >= n else None


def cloud(points, potential):
    """Points seen along the third axis: the deepest potential in each cell."""
    side = 360
    lo, hi = np.percentile(points[:, :2], 0.5, axis=0), np.percentile(points[:, :2], 99.5, axis=0)
    wide = float((hi - lo).max()) or 1.0
    cells = ((points[:, :2] - (lo + hi) / 2 + wide / 2) / wide * side).astype(int)
    inside = ((cells >= 0) & (cells < side)).all(axis=1)
    values = np.full((side, side), np.inf)
    np.minimum.at(values, (side - 1 - cells[inside, 1], cells[inside, 0]), potential[inside])
    values[~np.isfinite(values)] = np.nan
    middle = (lo + hi) / 2
    extent = (middle[0] - wide / 2, middle[0] + wide / 2, middle[1] - wide / 2, middle[1] + wide / 2)
    return matrix("cloud", "Points seen along the third axis", values, extent, ("x", "y"), "potential",
                  f"Coloured by the deepest potential in each cell; {percent(float(inside.mean()))} of the points are "
                  "within the window.")


def forces(results, n):
    field, _ = h5.blocks(results["accelerations"])
    potential, whole = h5.blocks(results["potential"], h5.SAMPLE // max(1, field.shape[1]))
    if not len(field):
        return []
    said = "All points." if whole else "A sample of the points."
    points = input_points(results.file, n, field.shape[1]) if whole else None
    made = [] if points is None else [cloud(points, potential)]
    return made + [bars("accelerations", "Accelerations", np.sqrt((field ** 2).sum(axis=1)),
                        "magnitude of the acceleration", said),
                   bars("potentials", "Potentials", potential, "potential", said)]
