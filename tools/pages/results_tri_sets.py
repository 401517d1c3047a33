"""Pictures of family tri with kinds of points, two axes or two sets."""
import re

import numpy as np

from . import h5, svg
from . import results_tri as tri
from .page import figure

MOST_CURVES = 6
COLOURS = ("c1", "c2", "c3", "c4", "c5", "c6")


def names_of(file):
    """Names of the kinds, as /run/facts has them."""
    facts = h5.stored_text(file, "run/facts") or ""
    line = next((line for line in facts.splitlines() if line.startswith("kinds:")), "")
    return [word for _, word in re.findall(r"(\d+) (\S+?)(?:,|$)", line[6:])]


def labels(file, results):
    names = names_of(file)
    return [" - ".join(names[k] if k < len(names) else str(k) for k in pair) for pair in results["kinds"][...]]


def curves(name, title, edges, rows, words, said, across, level=None):
    """A curve for each of the pairs of kinds that have most."""
    most = np.argsort(-rows.sum(axis=1), kind="stable")[:MOST_CURVES]
    chart = svg.Chart(svg.Scale(float(edges[0]), float(edges[-1])), svg.Scale(0, float(rows.max()) * 1.06 or 1.0),
                      *across, says=title)
    if level is not None:
        chart.level(level)
    for k, colour in zip(most, COLOURS):
        chart.outline(edges, rows[k], colour, words[k])
    return figure(name, title, chart.html(), said)


def partial(file, results):
    """Counts, and g(r), of pairs of kinds."""
    edges, counts, words, made = results["edges"][...], results["counts"][...], labels(file, results), []
    said = f"{len(words)} pairs of kinds" + (f", the {MOST_CURVES} with most pairs" if len(words) > MOST_CURVES else "")
    if "rdf" in results:
        across = (h5.labelled("distance r", h5.unit_of(results["edges"])), "g(r)")
        made.append(curves("rdf", "Radial distribution g(r)", edges, results["rdf"][...], words,
                           f"{said} (dashed: 1, an ideal gas).", across, 1))
    made.append(curves("counts", "Pairs in each bin", edges, counts.astype(float), words,
                       f"{said}; {int(counts.sum()):,} pairs in all.", (h5.axis_of(results["edges"]), "pairs")))
    return made


def plane(results):
    """Counts of two axes as colours, of all kinds together."""
    counts = results["counts"][...]
    counts = (counts.sum(axis=0) if counts.ndim == 3 else counts).astype(float)
    first, second = results["edges"][...], results["edges_2"][...]
    values = np.where(counts > 0, counts, np.nan).T[::-1]
    axes = (h5.axis_of(results["edges"]), h5.axis_of(results["edges_2"]))
    return [tri.matrix("counts", "Pairs in each bin", values, (first[0], first[-1], second[0], second[-1]), axes, "pairs",
                       f"{int(counts.sum()):,} pairs in {counts.size:,} bins, which are drawn equally wide.", False)]


def correlation(results):
    """xi with its errors."""
    xi, edges = results["correlation"][...], results["edges"][...]
    if xi.ndim != 1:
        return []
    error = results["error"][...] if "error" in results else np.zeros_like(xi)
    log = edges[0] > 0 and edges[-1] / edges[0] > 5
    middles = np.sqrt(edges[1:] * edges[:-1]) if log else (edges[1:] + edges[:-1]) / 2
    lo, hi = float((xi - error).min()), float((xi + error).max())
    room = 0.06 * (hi - lo) or 1.0
    chart = svg.Chart(svg.Scale(float(edges[0]), float(edges[-1]), log=log), svg.Scale(min(lo, 0) - room, hi + room),
                      h5.axis_of(results["edges"]), "correlation", says="correlation function")
    chart.level(0)
    chart.points(middles, xi, "c1", lows=xi - error, highs=xi + error)
    bars = "Bars: one standard error, of resampled regions." if "error" in results else "No errors: no regions."
    return [figure("correlation", "Correlation function", chart.html(), bars)]


def histogram(file, results, n):
    if "edges_2" in results:
        return plane(results)
    made = correlation(results) if "correlation" in results else []
    return made + (partial(file, results) if "kinds" in results else tri.histogram(results, n))


def rectangle(results):
    """The matrix of two sets, and how its values are spread."""
    dataset = results["distances"]
    rows, columns = dataset.shape
    if min(rows, columns) < 1:
        return []
    at = tri.sampled_rows(rows)
    across = np.unique(np.linspace(0, columns - 1, min(columns, tri.SIDE)).astype(np.int64))
    values = np.array([dataset[int(i)][across] for i in at])
    word = h5.quantity_of(dataset)
    return [tri.matrix("matrix", f"The {word} of each pair", values, (0, columns, rows, 0),
                       ("point j of the other set", "point i"), h5.axis_of(dataset),
                       f"{len(at)} of {rows:,} rows, {len(across)} of {columns:,} columns.", False),
            tri.bars("spread", f"Distribution of the {word}", values.ravel(), h5.axis_of(dataset),
                     f"{values.size:,} of {rows * columns:,} pairs.")]


def graph(results):
    """The values of kept pairs of two sets."""
    values, whole = h5.blocks(results["values"])
    return [tri.bars("spread", f"The {h5.quantity_of(results['values'])} of the kept pairs", values,
                     h5.axis_of(results["values"]), f"{values.size:,} kept pairs{'' if whole else ' (a sample)'}.")]


OF_TWO = {"distances": rectangle, "pairs": graph}  # what two sets have otherwise than one
