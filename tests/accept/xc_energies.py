#!/usr/bin/env python3
"""Kohn-Sham energies equal those of psi4, on any number of ranks and by any way of computing.

usage: xc_energies.py TESELA [--fast] [ONLY]

Truth: psi4 1.3.2, def2-SVP (spherical), 99 x 590 points, exact Coulomb ("PK"); its SVWN has the VWN
fit of the random-phase approximation, so svwn5 is of PySCF 2.14 ("lda,vwn5", the same points not
pruned). The grids differ in their partition of space alone, so energies agree to 2e-6 hartree.
"""
import json
import os

import harness
from harness import check, check_units, np

suite = harness.Suite(__doc__, jobs=2)
WATER = "O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"
OXYGEN = "O 0 0 0; O 0 0 1.2"
RING = "; ".join(f"{s} {r * np.cos(k * np.pi / 3):.10f} {r * np.sin(k * np.pi / 3):.10f} 0"
                 for s, r in (("C", 1.3915), ("H", 2.4715)) for k in range(6))
RPA = "lda_x + lda_c_vwn_rpa"
# total energies of psi4 and PySCF, hartree
TRUTH = {
    "water": {"svwn5": -75.795190423, RPA: -75.99066364, "pbe": -76.27201440, "blyp": -76.33651804, "b3lyp5": -76.32100036,
              "b3lyp": -76.35814931},
    "oxygen": {"svwn5": -149.145161800, RPA: -149.46075656, "pbe": -150.06551047, "blyp": -150.20009294, "b3lyp5": -150.14483806,
               "b3lyp": -150.20479740},
    "benzene": {"pbe": -231.77117958, "b3lyp": -232.08371670},
}
MOLECULES = {"water": {"atoms": f'"{WATER}"'}, "oxygen": {"atoms": f'"{OXYGEN}"', "multiplicity": 3},
             "benzene": {"atoms": f'"{RING}"'}}
ELECTRONS = {"water": 10, "oxygen": 16, "benzene": 42}
NEAR, SAME = 2e-6, 1e-10


def deck(molecule, functional, run=None, **more):
    section = {"molecule": MOLECULES[molecule], "basis": "def2-SVP", "functional": f'"{functional}"',
               "grid": {"preset": "ultrafine"}, **more}
    return {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all", **(run or {})}, "xc": section}


def solve(tree, ranks=1, env=None):
    """Summary lines, datasets and units of a run."""
    with suite.result(tree, ranks=ranks if ranks > 1 else None, env=env, timeout=600) as file:
        units = check_units(file, ranks)
        lines = {k: float(v) for k, v in file["results"].attrs.items() if isinstance(v, np.floating)}
        return lines, harness.datasets(file), units


def energy_case(molecule, functional, **more):
    lines, data, _ = solve(deck(molecule, functional, **more))
    error = lines["total energy"] - TRUTH[molecule][functional]
    check(abs(error) < NEAR, f"{lines['total energy']:.8f}, true {TRUTH[molecule][functional]:.8f}: {error:.1e} away")
    atoms = len(data["mulliken_charges"])
    off = lines["electrons integrated"] - ELECTRONS[molecule]
    check(abs(off) < 1e-6 * atoms, f"{off:.1e} electrons too many")
    check(abs(data["mulliken_charges"].sum()) < 1e-8, "Mulliken's charges do not add up")
    parts = ("nuclear repulsion", "kinetic energy", "attraction by charges", "Coulomb energy", "exact exchange",
             "exchange-correlation")
    check(abs(sum(lines[p] for p in parts) - lines["total energy"]) < 1e-9, "the terms do not add up")
    return f"{error:+.1e} hartree"


def energies():
    for functional in ["svwn5", "pbe", "b3lyp"] if suite.fast else TRUTH["water"]:
        suite.case(f"water {functional}", energy_case, "water", functional)
    for functional in ["pbe"] if suite.fast else TRUTH["oxygen"]:
        suite.case(f"oxygen {functional}", energy_case, "oxygen", functional)
    if not suite.fast:
        for functional in TRUTH["benzene"]:
            suite.case(f"benzene {functional}", energy_case, "benzene", functional)
    suite.case("water of two spins", energy_case, "water", "b3lyp", reference="unrestricted")
    suite.case("water, libxc", energy_case, "water", "pbe", source="libxc")
    suite.case("water, cubes", energy_case, "water", "pbe", groups={"kind": "cubes"})


# ------------------------------------------------------------------- ranks

alone = {}


def one_rank(name, tree):
    if name not in alone:
        alone[name] = solve(tree)
    return alone[name]


def near(name, one, other, limit):
    worst = float(np.abs(np.asarray(one) - np.asarray(other)).max())
    check(worst <= limit, f"{name} differs by {worst:.1e}")


def same(one, other):
    """Energies to 1e-10; matrices as exact as the iterations leave them."""
    for name in ("total energy", "exchange-correlation", "electrons integrated"):
        near(name, one[0][name], other[0][name], SAME if name == "total energy" else 1e-8)
    check(one[0]["iterations"] == other[0]["iterations"], "not the same number of iterations")
    for name in ("density", "fock", "orbital_energies", "mulliken_charges", "xc_matrix"):
        near(name, one[1][name], other[1][name], 1e-7)


def rank_case(name, tree, ranks):
    """Ranks are judged by what they compute, whatever else the machine does."""
    made = solve(tree, ranks, {"TSL_TEST_CLOCK": "processor"})
    same(one_rank(name, tree), made)
    shares = np.bincount(made[2]["rank"], minlength=ranks)
    check(ranks == 1 or (shares > 0).sum() > 1, f"one rank did it all: {shares.tolist()}")
    return f"units per rank {shares.tolist()}"


def ranks_cases():
    coarse = {"grid": {"preset": "coarse"}, "scf": {"energy": 1e-10, "commutator": 1e-7}}
    decks = {"water pbe": deck("water", "pbe", **coarse),
             "oxygen b3lyp": deck("oxygen", "b3lyp", **coarse),
             "water b3lyp fitted": deck("water", "b3lyp", coulomb="fitted", **coarse),
             "water pbe, no cache": deck("water", "pbe", cache=0, **coarse)}
    for name, tree in decks.items():
        suite.group = name
        for ranks in (2, 5) if suite.fast else (1, 2, 3, 5):
            suite.case(f"{name}, {ranks} ranks", rank_case, name, tree, ranks)
    suite.group = "water pbe"
    for plan, dynamic in (("lpt", 1), ("bins", 0), ("roundrobin", 0.2)):
        tree = deck("water", "pbe", run={"plan": plan, "dynamic": dynamic}, **coarse)
        suite.case(f"water pbe, plan {plan}, dynamic {dynamic}", plan_case, decks["water pbe"], tree)
    for parallel in ("inner", "outer", "hybrid"):
        tree = deck("water", "pbe", run={"threads": 3}, parallel=parallel, **coarse)
        suite.case(f"water pbe, parallel {parallel}", plan_case, decks["water pbe"], tree)
    tree = deck("water", "pbe", cache='"1 MiB"', **coarse)
    suite.case("water pbe, small cache", plan_case, decks["water pbe"], tree)


def plan_case(usual, tree):
    same(one_rank("water pbe", usual), solve(tree, 2))


def bits_case():
    """The same plan and threads give the same bits."""
    run = {"plan": "roundrobin", "dynamic": 0, "threads": 3, "rebalance": "no"}
    tree = deck("oxygen", "b3lyp", run=run, grid={"preset": "coarse"})
    one, other = solve(tree, 2), solve(tree, 2)
    for name, data in one[1].items():
        check(data.tobytes() == other[1][name].tobytes(), f"{name} differs")


# ------------------------------------------------------------------- other

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inputs", "xc")
LIO = {"stretched": "O 71.762448 35.512769 96.172805; H 70.885172 36.746272 95.119946; H 73.544272 35.969662 96.043066",
       "charges": "O -0.409 0.0555 -0.392; H -0.45 -0.5015 0.392; H 0.45 0.5015 -0.299"}
# on the fine grid psi4's energy with the same fitting set, on LIO's grid the one that LIO ships
LIO_TRUTH = {("stretched", "ultrafine"): -76.066786, ("stretched", "lio2"): -76.066854,
             ("charges", "ultrafine"): -76.359708, ("charges", "lio2"): -76.359726}


def lio_case(name, grid):
    """Cartesian functions, fitted Coulomb and point charges, against psi4 and LIO."""
    molecule = {"atoms": f'"{LIO[name]}"'}
    if name == "charges":
        molecule["charges"] = os.path.join(INPUTS, "water_charges.txt")
    tree = deck("water", "pbe", coulomb="fitted", fitting="DZVP-fit", functions="cartesian")
    tree["xc"].update(molecule=molecule, basis="DZVP", grid={"preset": grid})
    error = solve(tree)[0]["total energy"] - LIO_TRUTH[name, grid]
    check(abs(error) < (NEAR if grid == "ultrafine" else 5e-6), f"{error:.1e} hartree away")
    return f"{error:+.1e} hartree"


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "xc_lio_truth.json"), encoding="ascii") as truth_file:
    LIO_CELLS = {case["name"]: case for case in json.load(truth_file)["cases"]}


def cells_case(name, preset):
    """Elements whose radii differ much, on LIO's grids: tools/xc_lio_truth has points and weights of its own."""
    case = LIO_CELLS[name]
    molecule = {"atoms": f'"{case["atoms"]}"', "charge": case["charge"], "multiplicity": case["multiplicity"]}
    tree = deck("water", "pbe", scf={"energy": 1e-9, "commutator": 1e-6})
    tree["xc"].update(molecule=molecule, basis=case["basis"], functions="cartesian" if case["basis"] == "DZVP" else "auto",
                      grid={"preset": preset})
    error = solve(tree)[0]["total energy"] - case[preset]
    check(abs(error) < NEAR, f"{error:.1e} hartree away; a shift held within 1/2 is "
          f"{case['lio2, clamped'] - case['lio2']:.1e} away")
    return f"{error:+.1e} hartree"


def fitted_case(molecule):
    """The fit is right to a tenth of a millihartree for an atom, and not the exact one."""
    exact = solve(deck(molecule, "pbe"))[0]["total energy"]
    lines, data, _ = solve(deck(molecule, "pbe", coulomb="fitted"))
    error = (lines["total energy"] - exact) / len(data["mulliken_charges"])
    check(-2e-4 < error < 2e-4 and error != 0, f"{error:.1e} hartree an atom from the exact energy")
    return f"{error:+.1e} hartree an atom"


def orbital_case():
    """The Fock matrix and the density have the orbital energies."""
    from scipy.linalg import eigh
    lines, data, _ = solve(deck("water", "pbe", scf={"commutator": 1e-7}))
    density, fock, levels = data["density"][0], data["fock"][0], data["orbital_energies"][0]
    count = ELECTRONS["water"] // 2
    # F C = S C e and D = C C^T of the occupied ones, so F D has their energies and zeros
    values = np.sort(np.linalg.eigvals(fock @ density).real)
    near("spectrum of F D", values[:count], levels[:count], 1e-6)
    near("empty part of F D", values[count:], np.zeros(len(values) - count), 1e-6)
    check(abs(lines["gap"] - (levels[count] - levels[count - 1])) < 1e-12, "the gap is not of the levels")
    check(eigh(density, eigvals_only=True)[-count] > 0, "the density has too few orbitals")


def other_case(tree, truth):
    """Energies of PySCF 2.14 on the same points."""
    error = solve(tree)[0]["total energy"] - truth
    check(abs(error) < NEAR, f"{error:.1e} hartree from {truth}")
    return f"{error:+.1e} hartree"


def other_cases():
    atom = deck("water", "pbe")
    atom["xc"]["molecule"] = {"atoms": '"H 0 0 0"'}
    large = deck("water", "b3pw91")
    large["xc"]["basis"] = "def2-TZVP"
    suite.case("one electron", other_case, atom, -0.4986294462)
    suite.case("Hartree-Fock", other_case, deck("water", "hf"), -75.9609751670)
    suite.case("a hybrid of libxc, f functions", other_case, large, -76.4333965033)


def invalid_case(tree, why):
    """INVALID, status 3, and the reason."""
    path = suite.deck("few.yaml", tree)
    run = suite.run(["run", path, "-o", suite.path("few.h5"), "-q", "--overwrite"])
    check(run.status == 3, run.tail())
    check(why in run.err + run.out, run.tail())
    out = suite.path("few.h5")
    if os.path.exists(out):
        with harness.h5py.File(out, "r") as file:
            check(file["run"].attrs["verdict"] == "INVALID", "the verdict is not INVALID")


def shipped_case(name, *sets):
    """The decks of inputs/xc run."""
    run = suite.run(["run", os.path.join(INPUTS, name), "-o", suite.path("shipped.h5"), "--overwrite",
                     *(word for one in sets for word in ("-s", one))], timeout=3600)
    check(run.status == 0 and "VALID" in run.out, run.tail())


COVALENT = {"H": 0.31, "C": 0.76, "N": 0.71, "O": 0.66, "Fe": 1.32}  # Angstrom, Cordero et al. 2008
PROLINE = 39  # its nitrogen is the atom of this number


def haem_case():
    """Iron has six neighbours, proline is whole, L, bound by nitrogen and clear of the rest."""
    with open(os.path.join(INPUTS, "haem_proline.xyz"), encoding="ascii") as file:
        lines = [line.split() for line in file.read().splitlines()[2:]]
    symbols = [line[0] for line in lines]
    at = np.array([[float(word) for word in line[1:]] for line in lines])
    apart = np.linalg.norm(at[:, None] - at[None], axis=2)
    radius = np.array([COVALENT[symbol] for symbol in symbols])
    bonded = (apart < 1.2 * (radius[:, None] + radius[None])) & (apart > 0)
    names = ["".join(sorted(symbols[j] for j in np.flatnonzero(row))) for row in bonded]
    check(names[0] == "CNNNNN" and bonded[0, PROLINE], f"iron: {names[0]}")
    check(sorted(names[PROLINE:]) == sorted(["CCFeH", "CCHN", *["CCHH"] * 2, "CHHN", "COO", "C", "CH", *"CCCCCCC", "N", "O"]),
          f"proline: {names[PROLINE:]}")
    alpha = next(k for k in range(PROLINE, len(symbols)) if names[k] == "CCHN")
    acid = next(j for j in np.flatnonzero(bonded[alpha]) if names[j] == "COO")
    beta = next(j for j in np.flatnonzero(bonded[alpha]) if names[j] == "CCHH")
    side = np.dot(at[acid] - at[alpha], np.cross(at[beta] - at[alpha], at[PROLINE] - at[alpha]))
    check(side > 0, "proline is D")  # from hydrogen: acid, side chain, nitrogen go clockwise
    gap = apart[PROLINE + 1:, :PROLINE].min()
    check(gap > 2.4, f"proline is {gap:.2f} Angstrom from the rest")


energies()
ranks_cases()
suite.group = None
suite.case("the same bits", bits_case)
suite.case("water, fitted Coulomb", fitted_case, "water")
suite.case("orbitals", orbital_case)
other_cases()
suite.case("not converged", invalid_case, deck("water", "pbe", scf={"iterations": 2}), "not converged in 2 iterations")
suite.case("grid too coarse", invalid_case, deck("water", "pbe", grid={"radial": 10, "angular": 50}), "too coarse")
for which in LIO_TRUTH:
    suite.case("LIO's water, " + ", ".join(which), lio_case, *which)
for molecule in LIO_CELLS:
    for preset in ("lio2",) if suite.fast else ("lio0", "lio2"):
        suite.case(f"LIO's cells, {molecule}, {preset}", cells_case, molecule, preset)
suite.case("inputs/xc/haem_proline.xyz", haem_case)
for shipped in ["water.yaml", "oxygen.yaml", "water_charges.yaml", *([] if suite.fast else ["benzene.yaml"])]:
    suite.case(f"inputs/xc/{shipped}", shipped_case, shipped)
if not suite.fast:  # minutes each
    for shipped in ("c60", "beta_carotene", "taxol"):
        suite.case(f"inputs/xc/{shipped}.yaml, STO-3G", shipped_case, f"{shipped}.yaml", "xc.basis=STO-3G")
    for shipped in ("vitamin_c", "iron_porphyrin_co"):
        suite.case(f"inputs/xc/{shipped}.yaml", shipped_case, f"{shipped}.yaml")
    suite.case("inputs/xc/haem_proline.yaml, coarse grid", shipped_case, "haem_proline.yaml", "xc.grid.preset=coarse")
suite.end()
