"""Pictures of the results of family tri, and drawings that other families use too."""
import numpy as np

from . import h5, molecule, raster, svg
from .page import figure, number, percent

SIDE = 300           # rows and columns of a sampled matrix
MOST_DRAWN = 10_000  # points of a picture
CLUSTERS = ("c1", "c2", "c3", "c4", "c5", "c7", "c6")  # the last: of none


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


def outline(name, title, edges, heights, words, sentence, level=None, error=None):
    """Steps of a histogram; error: beside them steps that are so much lower and higher."""
    chart = svg.Chart(svg.Scale(float(edges[0]), float(edges[-1])), svg.Scale(0, float(heights.max()) * 1.06 or 1.0),
                      *words, says=title)
    if level is not None:
        chart.level(level)
    if error is not None:
        chart.outline(edges, heights - error, "c2", "a standard error below and above")
        chart.outline(edges, heights + error, "c2")
    chart.outline(edges, heights, "c1")
    return figure(name, title, chart.html(), sentence)


def matrix(name, title, values, extent, labels, word, sentence, square=True, log=False):
    """Values as colours; extent: left, right, bottom, top."""
    span = raster.Range(values, log)
    pixels = raster.coloured(values, span.lo, span.hi, log)
    chart = raster.framed(pixels, extent, labels, title, span, word, square)
    return figure(name, title, chart.html(), sentence), pixels


# ---- points -------------------------------------------------------------------------------


def window(places):
    """Middle and half height of what is shown at equal scales; few points far out are left out."""
    wide = (svg.WIDTH - svg.LEFT - svg.RIGHT) / (svg.HEIGHT - svg.TOP - svg.BOTTOM)
    lo, low, high, hi = np.quantile(places, (0, 0.01, 0.99, 1), axis=0)
    whole, most = (max((b - a)[0] / wide, (b - a)[1]) / 2 for a, b in ((lo, hi), (low, high)))
    far = whole > 3 * most > 0
    middle, half = ((low + high) / 2, 1.5 * most) if far else ((lo + hi) / 2, 1.06 * max(whole, 1e-300))
    return middle, half * np.array([wide, 1])


def points(drawn, n, labels=None):
    """Points in a plane, or in space as seen along the direction in which they extend least; drawn: places of some;
    labels: cluster of every point, -1 none."""
    if not 1 < len(drawn) <= MOST_DRAWN or drawn.ndim != 2 or not 2 <= drawn.shape[1] <= 3:
        return None
    places, names = drawn[...].astype(float), ("coordinate 1", "coordinate 2")
    if not np.isfinite(places).all():
        return None
    said = "Every point" if len(places) == n else f"{len(places):,} of {n:,} points, evenly spaced in their order"
    if h5.unit_of(drawn) == "degree":
        places, names = places[:, ::-1], ("longitude", "latitude")
    elif places.shape[1] == 3:
        places, names = molecule.turned(places), ("along the longest extent", "across it")
        said += ", seen along the direction in which they extend least: what is nearer is darker"
    middle, half = window(places[:, :2])
    inside = (np.abs(places[:, :2] - middle) <= half).all(axis=1)
    if not inside.all():
        said += f"; {int((~inside).sum()):,} lie farther out"
    places = places[inside]
    cluster = np.zeros(len(drawn)) if labels is None else labels[...][np.arange(len(drawn)) * n // len(drawn)]
    colour = np.where(cluster < 0, 6, cluster % 6)[inside]
    if labels is not None:
        said += "; a colour for each cluster, used again after six" + ("; grey: none" if (cluster < 0).any() else "")
    chart = svg.Chart(*(svg.Scale(float(m - h), float(m + h)) for m, h in zip(middle, half)),
                      *(h5.labelled(name, h5.unit_of(drawn)) for name in names), left=svg.LEFT, says="the points")
    layers = np.array_split(np.argsort(places[:, 2]), 4) if places.shape[1] == 3 else [np.arange(len(places))]
    for depth, layer in enumerate(layers):
        for at, one in enumerate(CLUSTERS):
            chosen = layer[colour[layer] == at]
            if len(chosen):
                chart.dots(*places[chosen, :2].T, one, thick=2.5 if len(places) > 500 else 4,
                           opacity=(depth + 1) / len(layers) * 0.85)
    return figure("points", "The points", chart.html(), said + ".")


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
    word = h5.quantity_of(dataset)
    made, pixels = matrix("matrix", f"The {word} of each pair", values, (0, n, n, 0), ("point j", "point i"),
                          h5.axis_of(dataset), f"{said}; mirrored at the diagonal.")
    spread = values[np.tril_indices(len(values), -1)] if dataset.ndim == 2 else h5.blocks(dataset)[0].ravel()
    return [(made, pixels), bars("spread", f"Distribution of the {word}", spread, h5.axis_of(dataset),
                                 f"{spread.size:,} of {n * (n - 1) // 2:,} pairs.")]


# ---- other outputs ------------------------------------------------------------------------


def histogram(results, n):
    edges, counts, made = results["edges"][...], results["counts"][...], []
    if "rdf" in results:
        rdf = results["rdf"][...]
        top = int(rdf.argmax())
        tail = rdf[len(rdf) // 2:]
        across = h5.labelled("distance r", h5.unit_of(results["edges"]))
        made.append(outline("rdf", "Radial distribution g(r)", edges, rdf, (across, "g(r)"),
                            f"Highest at r = {(edges[top] + edges[top + 1]) / 2:.4g} with {rdf[top]:.4g}; over the "
                            f"outer half of the range its mean is {tail.mean():.4g} (dashed: 1, an ideal gas).", 1,
                            results["rdf_error"][...] if "rdf_error" in results else None))
    if "coordination" in results:
        running = results["coordination"][...]
        across = h5.labelled("distance r", h5.unit_of(results["edges"]))
        made.append(outline("coordination", "Neighbours of an atom", edges, running, (across, "neighbours up to r"),
                            f"{running[-1]:.5g} within {edges[-1]:.4g} in the mean of {len(results['frames'])} frames.",
                            None, results["coordination_error"][...]))
    peak = int(counts.argmax())
    made.append(outline("counts", "Pairs in each bin", edges, counts.astype(float),
                        (h5.axis_of(results["edges"]), "pairs"),
                        f"{int(counts.sum()):,} pairs in {len(counts)} bins, most ({int(counts[peak]):,}) between "
                        f"{edges[peak]:.4g} and {edges[peak + 1]:.4g}."))
    return made


def contacts(results, _):
    """Of each frame of a trajectory."""
    frames, values = results["frames"][...], results["contacts"][...].astype(float)
    low, high = float(values.min()), float(values.max())
    room = 0.06 * (high - low) or 1.0
    chart = svg.Chart(svg.Scale(float(frames[0]), float(max(frames[-1], frames[0] + 1))),
                      svg.Scale(low - room, high + room), "frame", "pairs within the threshold", says="contacts")
    chart.line(frames, values, "c1")
    made = [figure("contacts", "Contacts of each frame", chart.html(),
                   f"From {low:,.0f} to {high:,.0f}, {values.mean():,.6g} in the mean.")]
    return made + listed(results, frames) if "occupancy" in results else made


def listed(results, frames):
    """Pairs of a list over time: the first few, and how much of the time all are in contact."""
    dataset, few = results["distances"], 6
    rows = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), SIDE)).astype(np.int64))
    values = np.array([dataset[int(k), :few] for k in rows])
    chart = svg.Chart(svg.Scale(float(frames[0]), float(max(frames[-1], frames[0] + 1))),
                      svg.Scale(0, float(values.max()) * 1.06 or 1.0), "frame", h5.axis_of(dataset), says="distances")
    for k, (i, j) in enumerate(results["atom_pairs"][:few]):
        chart.line(frames[rows], values[:, k], f"c{k + 1}", f"{i} - {j}")
    n = dataset.shape[1]
    return [figure("distances", "Distances of pairs of atoms", chart.html(),
                   f"The first {values.shape[1]} of {n:,} pairs of the list, {len(rows):,} of {len(frames):,} frames."),
            bars("occupancy", "Part of the frames in contact", results["occupancy"][...], "part of the frames",
                 f"{n:,} pairs of the list.")]


def degrees(pairs, n, name, sentence, labels):
    """How many points are in how many pairs."""
    counts = np.bincount(np.bincount(pairs.ravel(), minlength=n))
    every = svg.steps(0, max(1, len(counts) - 1), 12)
    chart = svg.Chart(svg.Scale(-0.6, len(counts) - 0.4, ticks=[t for t in every if float(t).is_integer()]),
                      svg.Scale(0, float(counts.max()) * 1.06), *labels, says=sentence)
    chart.boxes([(k - 0.4, k + 0.4, float(count), 0) for k, count in enumerate(counts) if count], "c1")
    return figure(name, "Pairs of a point", chart.html(), sentence)


def degree(results, n):
    """degree, and rows of csr."""
    counts = results["degree"][...] if "degree" in results else np.diff(results["indptr"][...])
    return [bars("degrees", "Points within the threshold", counts.astype(float), "others within the threshold",
                 f"Of {n:,} points.")] if n else []


def clusters(results, n):
    """How large they are."""
    labels = results["labels"][...]
    sizes = np.sort(np.bincount(labels[labels >= 0]))[::-1].astype(float) if n else np.zeros(0)
    if not sizes.size:
        return []
    shown = sizes[:60]
    chart = svg.Chart(svg.Scale(0.5, len(shown) + 0.5), svg.Scale(0, shown[0] * 1.06), "cluster, by size", "points",
                      says="sizes of clusters")
    chart.boxes([(k + 0.6, k + 1.4, size, 0) for k, size in enumerate(shown)], "c1")
    said = f"{len(sizes):,} clusters, the largest of {int(sizes[0]):,} points, {int((sizes == 1).sum()):,} of one point"
    return [figure("clusters", "Sizes of clusters", chart.html(), said + ".")]


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
            bars("spread", f"The {h5.quantity_of(results['values'])} of the kept pairs", values,
                 h5.axis_of(results["values"]),
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
    if values.ndim == 1:
        return [bars("neighbours", f"The {h5.quantity_of(results['values'])} of one other point", values,
                     h5.axis_of(results["values"]), f"Of {values.size:,} points.")]
    k = values.shape[1]
    edges = np.histogram_bin_edges(values[np.isfinite(values)], bins=80)
    curves = [np.histogram(values[:, c], edges)[0].astype(float) for c in ((0, k - 1) if k > 1 else (0,))]
    chart = svg.Chart(svg.Scale(edges[0], edges[-1]), svg.Scale(0, max(c.max() for c in curves) * 1.06),
                      h5.axis_of(results["values"]), "points", says="where the neighbours are")
    for curve, colour, label in zip(curves, ("c1", "c2"), ("nearest", f"neighbour {k}")):
        chart.outline(edges, curve, colour, label)
    said = (f"The nearest neighbour is at {np.median(values[:, 0]):.4g} in the median, the last of {k} kept at "
            f"{np.median(values[:, -1]):.4g}{'' if whole else ' (a sample of the points)'}.")
    return [figure("neighbours", "Nearest and farthest kept neighbour", chart.html(), said)]


def forces(results, n):
    field, _ = h5.blocks(results["accelerations"])
    potential, whole = h5.blocks(results["potential"], h5.SAMPLE // max(1, field.shape[1]))
    if not len(field):
        return []
    said = "All points." if whole else "A sample of the points."
    return [bars("accelerations", "Accelerations", np.sqrt((field ** 2).sum(axis=1)),
                 "magnitude of the acceleration", said),
            bars("potentials", "Potentials", potential, "potential", said)]


def three_body(results, n):
    field, whole = h5.blocks(results["forces"])
    if not len(field):
        return []
    return [bars("forces", "Three-body forces", np.sqrt((field ** 2).sum(axis=1)), "magnitude of the force",
                 "All points." if whole else "A sample of the points.")]
