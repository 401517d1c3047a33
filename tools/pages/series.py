"""Pictures of a run of several frames: energy and gradient of each, the molecule of the lowest."""
import numpy as np

from . import molecule, relaxed, svg
from .page import figure, some

KCAL = 627.5094740630558  # of a hartree


def energies(results):
    """Energy of each frame above the lowest; a frame without convergence is marked."""
    frames, good = results["frames"][...], results["converged"][...] == 1
    free = "free_energies" in results
    values = results["free_energies" if free else "energies"][...].astype(float)
    above, lowest = values - values.min(), int(values.argmin())
    top = float(above.max()) * 1.08 or 1e-9
    chart = svg.Chart(svg.Scale(frames[0] - 0.5, frames[-1] + 0.5, ticks=svg.whole_steps(frames[0], frames[-1])),
                      svg.Scale(-0.03 * top, top), "frame", "energy above the lowest (hartree)", says="energy of each frame")
    chart.line(frames, above, "c1", thick=1.6)
    for k, (name, which) in enumerate((("converged", good), ("not converged", ~good))):
        if which.any():
            chart.points(frames[which], above[which], svg.COLOURS[k], k, "" if good.all() else name)
    highest = int(values.argmax())
    bad = "" if good.all() else f" {some(int((~good).sum()), 'frame')} did not converge."
    return figure("energies", "Free energy" if free else "Energy", chart.html(),
                  f"Each frame's energy above that of frame {frames[lowest]}, {values[lowest]:.9f} hartree, the lowest; "
                  f"frame {frames[highest]} is {above[highest]:.6f} hartree = {above[highest] * KCAL:.2f} kcal/mol "
                  f"above it.{bad}")


def gradients(results):
    if "gradients" not in results:
        return None
    lengths = np.linalg.norm(results["gradients"][...], axis=2)
    columns = [("largest", lengths.max(axis=1)), ("root of the mean square", np.sqrt((lengths ** 2).mean(axis=1)))]
    if not (lengths > 0).any():
        return None
    frames = results["frames"][...]
    drawing = relaxed.chart(frames, columns, "gradient of an atom (hartree/bohr)", "gradients of each frame", of="frame")
    steepest = int(columns[0][1].argmax())
    return figure("gradients", "Gradient", drawing,
                  f"Lengths of the atoms' gradients; the largest is {columns[0][1][steepest]:.2e} hartree/bohr, in frame "
                  f"{frames[steepest]}.")


def figures(results, n):
    lowest = int(results["energies"][...].argmin())
    atoms = np.column_stack([results["atomic_numbers"][...], results["coordinates"][lowest]])
    several = len(results["frames"]) > 1
    return ([energies(results), gradients(results)] if several else []) + [molecule.picture(atoms)]
