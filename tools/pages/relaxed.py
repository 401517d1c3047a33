"""Page of an optimisation: energy and gradient of each step, the molecule, its bonds before and after."""
import numpy as np

from . import molecule, page, svg

SHOWN = 60  # bonds in the table


def chart(steps, columns, label, says, level=None, of="step"):
    """Values above 0 of each step on a logarithmic axis; columns: of (name, values)."""
    finite = [v for _, values in columns for v in values if v > 0] + ([level[1]] if level else [])
    drawn = svg.Chart(svg.Scale(steps[0] - 0.5, steps[-1] + 0.5, ticks=svg.whole_steps(steps[0], steps[-1])),
                      svg.Scale(min(finite) * 0.5, max(finite) * 2, log=True), of, label, says=says)
    for k, (name, values) in enumerate(columns):
        values = np.where(np.array(values) > 0, values, np.nan)
        drawn.line(steps, values, svg.COLOURS[k], thick=1.6, dash=svg.DASHES[k])
        drawn.points(steps, values, svg.COLOURS[k], k, name)
    if level:
        drawn.level(level[1], "soft", level[0])
    return drawn.html()


def energies(rows):
    values = np.array([row["energy_hartree"] for row in rows])
    above, lowest = values - values.min(), int(values.argmin())
    if not (above > 0).any():
        return None
    drawing = chart([row["step"] for row in rows], [("energy", above)], "energy above the lowest (hartree)",
                    "energy of each step")
    return page.figure("energies", "Energy", drawing,
                       f"Each step's energy above that of step {lowest}, {values[lowest]:.9f} hartree, the lowest; "
                       f"from the first step to the last it changes by {values[-1] - values[0]:+.3e} hartree.")


def gradients(rows, limit):
    columns = [(name, [row[f"{key}_gradient_hartree_bohr"] for row in rows])
               for name, key in (("largest", "largest"), ("root of the mean square", "rms"))]
    if not any(v > 0 for _, values in columns for v in values):
        return None
    drawing = chart([row["step"] for row in rows], columns, "gradient of an atom (hartree/bohr)",
                    "gradients of each step", ("limit of the largest", limit))
    first, last = columns[0][1][0], columns[0][1][-1]
    return page.figure("gradients", "Gradient", drawing,
                       f"Lengths of the atoms' gradients; the largest is {first:.2e} hartree/bohr at first and "
                       f"{last:.2e} at last, where at most {limit:.2e} is asked for.")


def bonds(path):
    """Lengths of the bonds at last, and what they were at first; angstrom."""
    first, last = (path.points[k].places * molecule.ANGSTROM for k in (0, -1))
    rows = []
    for a, b in molecule.bonds(path.numbers, last)[:SHOWN]:
        before, after = (float(np.linalg.norm(at[a] - at[b])) for at in (first, last))
        rows.append([f"{molecule.symbol(path.numbers[a])}{a + 1} - {molecule.symbol(path.numbers[b])}{b + 1}",
                     f"{before:.5f}", f"{after:.5f}", f"{after - before:.5f}"])
    return rows


def step_rows(rows):
    return [[row["step"], f"{row['energy_hartree']:.9f}", f"{row['change_hartree']:.2e}",
             f"{row['largest_gradient_hartree_bohr']:.2e}", f"{row['rms_gradient_hartree_bohr']:.2e}",
             f"{row['largest_displacement_angstrom']:.5f}", row["iterations"], f"{row['seconds']:.1f}"] for row in rows]


def document(path, title, about, converged, limit, words):
    """words: one sentence of how it ended."""
    rows, numbers = path.rows(), np.asarray(path.numbers)
    atoms = np.column_stack([numbers, path.points[-1].places])
    verdict, shown = ("VALID", "CONVERGED") if converged else ("INVALID", "NOT CONVERGED")
    head = f'<p><span class="verdict {verdict}">{shown}</span> {page.escape(words)}</p>'
    tiles = [("energy", f"{rows[-1]['energy_hartree']:.9f} hartree"),
             ("lower than at first by", f"{rows[0]['energy_hartree'] - rows[-1]['energy_hartree']:.6g} hartree"),
             ("largest gradient", f"{rows[-1]['largest_gradient_hartree_bohr']:.2e} hartree/bohr"),
             ("steps", page.number(len(rows) - 1)), ("in all", page.seconds(sum(row["seconds"] for row in rows)))]
    made = [energies(rows), gradients(rows, limit)] if len(rows) > 1 else []
    heading = f"{title or molecule.formula(numbers)}: {'optimised' if converged else 'not yet optimised'}"
    lengths = page.table(["bond", "first (angstrom)", "last (angstrom)", "change"], bonds(path), "bonds")
    columns = ["step", "energy (hartree)", "change", "largest gradient", "rms gradient",
               "largest displacement (angstrom)", "iterations", "seconds"]
    return page.document(heading, about, head, [
        page.section("Result", page.tiles(tiles), page.figures([*made, molecule.picture(atoms)])),
        page.section("Bonds", lengths if bonds(path) else ""),
        page.section("Steps", page.table(columns, step_rows(rows), "steps"))])
