"""What a run computed, in words: from the attributes, the deck and the results of its output."""
import re

from . import deck, h5, molecule
from .page import number, some

SETS = {"mandelbrot": "Mandelbrot set", "julia": "Julia set", "burning_ship": "Burning ship"}
PROBLEMS = {"binomial": "Binomial coefficient", "knapsack": "Knapsack", "knapsack_unbounded": "Unbounded knapsack",
            "allotment": "Allotment", "stagecoach": "Cheapest way through stages",
            "lcs": "Longest common subsequence", "edit": "Edit distance", "global": "Global alignment",
            "local": "Local alignment", "dtw": "Dynamic time warping", "matrix_chain": "Matrix chain",
            "search_tree": "Optimal search tree", "nussinov": "RNA folding (Nussinov)", "recurrence": "Recurrence"}
LETTERS = ("lcs", "edit", "global", "local")


def of(file):
    """One line; never the file's name."""
    family, keys = h5.attribute(file["run"], "family"), deck.scalars(h5.stored_text(file, "run/resolved_deck"))
    makers = {"tri": tri, "triples": triples, "fractal": fractal, "dp": dp, "xc": xc}
    return makers[family](file["results"], keys) if family in makers else f"Results of family {family}"


def capital(text):
    return text[:1].upper() + text[1:]


def count(results, name):
    return number(h5.attribute(results, name, 0))


# ---- families -----------------------------------------------------------------------------


def quantity(results, name):
    """Of a dataset that tools/scaling may have taken out."""
    return h5.quantity_of(results[name], "distance") if name in results else "distance"


def kept(results, keys):
    """What tri kept of the pairs."""
    output = keys.get("tri.output")
    if output == "topk":
        return f"{keys.get('tri.k')} nearest neighbours by {quantity(results, 'values')}"
    if output == "threshold":
        unit = h5.unit_of(results["values"]) if "values" in results else ""
        return f"Pairs with a {quantity(results, 'values')} of at most {keys.get('tri.threshold')} {unit}".strip()
    if output == "histogram":
        return "Radial distribution function" if "rdf peak" in results.attrs else \
            f"Histogram of the {quantity(results, 'edges')}"
    return "Gravitational forces" if output == "forces" else f"{quantity(results, 'distances')} of all pairs"


def tri(results, keys):
    return f"{capital(kept(results, keys))}, {count(results, 'points')} points"


def triples(results, keys):
    what = {"triangles": f"Triangles with sides of {keys.get('triples.range')}", "axilrod_teller": "Axilrod-Teller forces",
            "equation": "Sum of an equation over all triples"}[keys.get("triples.function.name")]
    return f"{what}, {count(results, 'points')} points"


def fractal(results, keys):
    name = SETS.get(keys.get("fractal.set"), "Escape times")
    place = f" of c = {keys['fractal.c']}" if keys.get("fractal.set") == "julia" else ""
    return f"{name}{place}, {keys.get('fractal.xres')} x {keys.get('fractal.yres')} pixels"


def dp(results, keys):
    problem = keys.get("dp.problem", "")
    rows, columns = count(results, "rows"), count(results, "columns")
    sizes = f"{rows} x {columns} letters" if problem in LETTERS else f"{rows} x {columns}"
    return f"{PROBLEMS.get(problem, capital(problem))}, {sizes}"


def functional(name):
    """Names of letters stand in capitals, as papers print them; formulas and names such as wb97x as written."""
    return name.upper() if re.fullmatch(r"(?!w)[a-z0-9-]+", name) else name


def xc(results, keys):
    numbers = results["atoms"][:, 0] if "atoms" in results else results.get("atomic_numbers", ())
    of_what = molecule.formula(numbers[...]) if len(numbers) else "a molecule"
    level = "/".join(part for part in (functional(keys.get("xc.functional", "")), keys.get("xc.basis")) if part)
    energy = f"energies of {some(len(results['frames']), 'frame')}" if "frames" in results else "energy"
    return f"Kohn-Sham {energy} of {of_what}" + (f", {level}" if level else "")
