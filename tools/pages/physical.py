"""What two fields of family xc have in common that nature would know of: energies, levels, densities.

How often was iterated, the groups of the grid and the history are left out, and so is what no measurement
sees: signs of orbitals, and rotations among orbitals of about one level, of which the density is compared.
"""
import numpy as np

# largest difference of the lines of the summary; the total energy is stationary, its terms are not
LINES = {"total energy": 1e-7, "nuclear repulsion": 1e-7, "kinetic energy": 1e-4, "attraction by charges": 1e-4,
         "Coulomb energy": 1e-4, "exact exchange": 1e-4, "exchange-correlation": 1e-4, "electrons integrated": 1e-4,
         "electrons": 0, "highest occupied": 1e-4, "lowest empty": 1e-4, "gap": 1e-4, "dipole x": 1e-4, "dipole y": 1e-4,
         "dipole z": 1e-4, "entropy": 1e-3, "free energy": 1e-7, "energy at no width": 1e-5, "Fermi level": 1e-4,
         "Fermi level of beta": 1e-4, "spin square": 1e-4, "functions": 0, "independent functions": 0,
         "smallest eigenvalue of overlap": 1e-8}
# likewise of the cells of datasets
FIELDS = {"atoms": 1e-8, "basis": 1e-8, "overlap": 1e-8, "density": 1e-4, "fock": 1e-4, "orbital_energies": 1e-4,
          "occupations": 1e-3, "mulliken_charges": 1e-4, "hirshfeld_charges": 1e-4, "xc_matrix": 1e-4, "xc_integrals": 1e-4,
          "gradient": 1e-5, "charge_gradient": 1e-5}
SAME_LEVEL = 1e-3  # hartree; orbitals nearer than this may be rotated into each other
ORBITALS = 1e-2    # elements of the density of the orbitals of one level
LEFT_OUT = ("history", "group_sizes", "orbitals")


def levels_of(values):
    """Ranges of orbitals whose energies follow each other closely."""
    ends = [k + 1 for k in range(len(values) - 1) if values[k + 1] - values[k] > SAME_LEVEL]
    return list(zip([0, *ends], [*ends, len(values)]))


def compare_orbitals(a, b):
    """Largest difference of the densities of levels; the energies are A's."""
    worst = 0.0
    for spin in range(len(a["orbitals"])):
        for lo, hi in levels_of(a["orbital_energies"][spin]):
            one, other = a["orbitals"][spin][lo:hi], b["orbitals"][spin][lo:hi]
            worst = max(worst, float(np.abs(one.T @ one - other.T @ other).max()))
    return worst


def rows_of_fields(a, b):
    """(name, largest difference, tolerance); difference None: there is no telling."""
    for name in sorted(set(a) | set(b)):
        if name in LEFT_OUT:
            continue
        same = name in a and name in b and a[name].shape == b[name].shape
        worst = float(np.abs(a[name] - b[name]).max(initial=0.0)) if same else None
        yield name, worst, FIELDS.get(name, 0.0)
    if all("orbitals" in f and "orbital_energies" in f for f in (a, b)):
        same = a["orbitals"].shape == b["orbitals"].shape
        yield "orbitals, by level", compare_orbitals(a, b) if same else None, ORBITALS


def rows_of_lines(a, b):
    for name, most in LINES.items():
        if name not in a and name not in b:
            continue
        both = name in a and name in b
        yield name, abs(float(a[name]) - float(b[name])) if both else None, most


def compare(files, say):
    """Print a line for each quantity. Returns how many differ."""
    count = 0
    fields = [{name: item[()] for name, item in file["results"].items()} for file in files]
    lines = [dict(file["results"].attrs) for file in files]
    verdicts = [file["run"].attrs.get("verdict") for file in files]
    for rows in (rows_of_lines(*lines), rows_of_fields(*fields)):
        for name, worst, most in rows:
            bad = worst is None or not worst <= most
            count += bad
            how = "is not in both, or of another shape" if worst is None else f"differs by {worst:.3g}, at most {most:g}"
            name = "".join(c if c.isprintable() else "?" for c in name)  # it is a file's word
            say(f"{'DIFFERENT' if bad else 'same     '}  {name}: {how}")
    if not np.array_equal(*verdicts):
        count += 1
        say("DIFFERENT  verdict")
    say(f"left out: {', '.join(LEFT_OUT[:2])}, iterations, signs and rotations of orbitals")
    return count
