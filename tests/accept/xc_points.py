#!/usr/bin/env python3
"""What family xc finds at points of space: cube files and Hirshfeld's charges.

usage: xc_points.py TESELA [--fast] [ONLY]

Truth: xc_points_truth.json, which tools/xc_points_truth made with PySCF's cubegen on the same points; cubes are read by
a reader of their own here.
"""
import json
import os
import subprocess
import sys
import time

import harness
import interrupted
from harness import check, np
from pages_harness import TOOLS, Page, tool
from xc_harness import near

sys.path.insert(0, TOOLS)
from pages import plane  # noqa: E402

suite = harness.Suite(__doc__, jobs=2)
HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "xc_points_truth.json"), encoding="ascii") as truth_file:
    TRUTH = json.load(truth_file)
CASES = {case["name"]: case for case in TRUTH["cases"]}
HEAD = 2


def read_cube(path):
    """Origin, numbers of points, steps, orbitals' numbers, atoms and values of a file, all by its format."""
    with open(path, encoding="ascii") as file:
        lines = file.read().split("\n")
    check(lines[0].startswith("tesela: ") and lines[-1] == "", f"{path} begins with {lines[0]!r}")
    atoms, *origin = lines[HEAD].split()
    axes = [line.split() for line in lines[HEAD + 1:HEAD + 4]]
    points, steps = [int(axis[0]) for axis in axes], np.array([axis[1:] for axis in axes], float)
    at = HEAD + 4 + abs(int(atoms))
    nuclei = np.array([line.split() for line in lines[HEAD + 4:at]], float)
    numbers = []
    if int(atoms) < 0:
        count, *numbers = map(int, lines[at].split())
        check(count == len(numbers) == 1, f"{path} has {count} orbitals")
        at += 1
    rows = -(-points[2] // 6)
    body = lines[at:-1]
    check(len(body) == rows * points[0] * points[1], f"{path} has {len(body)} lines of values")
    check(all(len(line) % 13 == 0 for line in body), f"{path} has values of other widths")
    values = np.array([line[k:k + 13] for line in body for k in range(0, len(line), 13)], float)
    return np.array(origin, float), points, steps, numbers, nuclei, values.reshape(points)


def tree_of(case, folder, **more):
    """The deck of a case, with cubes of all that there is."""
    molecule = {"atoms": f'"{case["atoms"]}"', "multiplicity": case.get("multiplicity", 1)}
    name = case["name"].replace(" ", "_")
    basis = case.get("basis")
    if "text" in case:
        basis = suite.write(f"{name}.nw", case["text"])
    if "charges" in case:
        molecule["charges"] = suite.write(f"{name}.txt", "".join(f"{x} {y} {z} {q}\n" for (x, y, z), q in case["charges"]))
    os.makedirs(folder, exist_ok=True)
    cube = {key: os.path.join(folder, f"{key}.cube") for key in ("density", "spin", "potential") if key in case["values"]}
    cube.update(orbitals=f'"{case["orbitals"]}"', orbital_files=f'"{os.path.join(folder, "mo_*.cube")}"',
                spacing=TRUTH["spacing"], margin=TRUTH["margin"])
    section = {"molecule": molecule, "basis": basis, "functional": case["functional"],
               "functions": case.get("functions", "auto"), "grid": {"preset": "ultrafine"},
               "scf": {"energy": 1e-11, "commutator": 1e-8}, "threshold": 1e-14, "hirshfeld": True, "cube": cube, **more}
    return {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "xc": section}


def file_of(folder, key):
    own = key in ("density", "spin", "potential")
    return os.path.join(folder, f"{key}.cube" if own else f"mo_{key.replace(':', '_')}.cube")


def digits(found, truth):
    """The largest difference in units of the last digit that the format has; of values that cancel to less than 1/100 of
    the largest, in the last digit that such a value has, as both fields are converged to 1e-8 hartree and no further."""
    signed, truth = truth, np.abs(truth)
    return float((np.abs(found - signed) / 10.0 ** (np.floor(np.log10(np.maximum(truth, truth.max() / 100))) - 5)).max())


def cubegen_case(name):
    """Every value that cubegen has, to two units of the last digit, orbitals up to their sign."""
    case, folder = CASES[name], suite.path(name.replace(" ", "_"))
    with suite.result(tree_of(case, folder), timeout=300) as file:
        lines = dict(file["results"].attrs)
        charges = file["results/hirshfeld_charges"][()]
    near("total energy", lines["total energy"], case["energy"], 2e-7)
    worst = {}
    for key, truth in case["values"].items():
        origin, points, steps, numbers, nuclei, values = read_cube(file_of(folder, key))
        near("origin", origin, case["origin"], 1e-9)
        near("steps", steps, np.eye(3) * TRUTH["spacing"], 1e-9)
        check(points == case["points"], f"points {points}")
        check(len(nuclei) == len(case["hirshfeld"]) and (nuclei[:, 0] == nuclei[:, 1]).all(), "atoms are missing")
        truth = np.array(truth).reshape(points)
        if key not in ("density", "spin", "potential"):
            check(len(numbers) == 1, "the orbital's number is missing")
            truth = truth * np.sign(np.vdot(truth, values))
        worst[key] = digits(values, truth)
    check(max(worst.values()) <= 2, f"units of the last digit: {worst}")
    near("Hirshfeld's charges", charges, case["hirshfeld"], 1e-5)
    return ", ".join(f"{key} {value:.1f}" for key, value in worst.items()) + " units of the last digit"


def sum_case():
    """The sum of the density is the line of the summary, and nearly the electrons."""
    case, folder = CASES["water"], suite.path("sums")
    tree = tree_of(case, folder, grid={"preset": "coarse"})
    tree["xc"]["cube"].update(spacing=0.12, margin=6)
    del tree["xc"]["cube"]["potential"]
    with suite.result(tree, name="sums", timeout=300) as file:
        told = float(file["results"].attrs["electrons of density cube"])
    values = read_cube(file_of(folder, "density"))[-1]
    near("electrons of the line", values.sum() * 0.12 ** 3, told, 1e-4)
    near("electrons of ten", told, 10, 0.1)
    norm = read_cube(file_of(folder, "homo"))[-1]
    near("norm of the orbital", (norm ** 2).sum() * 0.12 ** 3, 1, 1e-3)
    return f"{told:.5f} electrons"


def charges_case():
    """Charges add up to the molecule's, and equal atoms have equal ones."""
    tree = {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
            "xc": {"molecule": {"atoms": '"N 0 0 0; H 0.95 0 -0.38; H -0.475 0.8227 -0.38; H -0.475 -0.8227 -0.38; H 0 0 1.02"',
                                "charge": 1}, "basis": "def2-TZVP", "functional": "pbe", "hirshfeld": True}}
    with suite.result(tree, name="ammonium") as file:
        charges = file["results/hirshfeld_charges"][()]
    near("their sum", charges.sum(), 1, 1e-4)
    near("equal atoms", charges[1:4], charges[1:4].mean(), 2e-4)
    tree["xc"]["hirshfeld"] = False
    with suite.result(tree, name="plain") as file:
        check("hirshfeld_charges" not in file["results"], "charges that nobody asked for")
    return f"N {charges[0]:+.4f}"


def same_case():
    """The same text, charges and sum on any ranks and threads, with a gradient and fitted Coulomb before them, too."""
    case, seen = CASES["hydroxyl"], {}
    for ranks, threads in ((1, 1), (2, 1), (3, 1), (5, 1), (1, 2)):
        for kind, more in (("exact", {}), ("fitted", {"coulomb": "fitted", "task": "gradient"})):
            name = f"same{ranks}{threads}{kind}"
            tree = tree_of(case, suite.path(name), grid={"preset": "coarse"}, reproducible=True, **more)
            tree["run"]["threads"] = threads
            tree["xc"]["cube"]["spacing"] = 0.41
            with suite.result(tree, ranks=ranks, name=name, timeout=300) as file:
                found = [file["results/hirshfeld_charges"][()].tobytes(), file["results"].attrs["electrons of density cube"]]
                units, lattice = file["run/units"][()], 5
            for key in case["values"]:
                with open(file_of(suite.path(name), key), encoding="ascii") as text:
                    found.append(text.read())
            check(seen.setdefault(kind, found) == found, f"{name} differs")
            owners = set(units["rank"][units["kind"] == lattice])
            check(len(owners) == ranks, f"{name}: ranks {owners} have the blocks")
    return f"{len(found) - 2} cubes"


def slabs_case():
    """A cube of several slabs has the values of a coarser one, of one slab, at the points of both."""
    values = {}
    for step, ranks in ((0.06, 3), (0.12, 1)):
        tree = {"molecule": {"atoms": '"H 0 0 0; H 0 0.1 0.73"'}, "basis": "STO-3G", "functional": "svwn5",
                "cube": {"density": f"slabs{ranks}.cube", "spacing": step, "margin": 5.04}, "reproducible": True}
        run = {"device": "cpu", "threads": 1, "ranks": "all"}
        with suite.result({"family": "xc", "run": run, "xc": tree}, ranks=ranks, name=f"slabs{ranks}", timeout=600) as file:
            phases = file["run/phases"][()]
        slabs = int((phases["kinds"] == 1 << 5).sum())
        check(slabs > 1 if ranks > 1 else slabs == 1, f"{slabs} slabs")
        values[ranks] = read_cube(suite.path(f"slabs{ranks}.cube"))[-1]
    coarse, fine = values[1], values[3][::2, ::2, ::2]
    least = tuple(slice(0, min(sizes)) for sizes in zip(coarse.shape, fine.shape))
    worst = digits(fine[least], coarse[least])
    check(worst <= 1.01, f"{worst} units of the last digit")
    return f"{values[3].size} points"


def killed_case():
    """Killed between two slabs, a run goes on with the next one, and the file is that of a run that nobody disturbed."""
    tree = {"molecule": {"atoms": '"H 0 0 0; H 0 0.1 0.73"'}, "basis": "STO-3G", "functional": "svwn5", "reproducible": True,
            "cube": {"density": "whole.cube", "spacing": 0.06, "margin": 5.04}}
    run = {"device": "cpu", "threads": 1, "checkpoint": 0.1}
    arguments = ["run", suite.deck("killed.yaml", {"family": "xc", "run": run, "xc": tree}), "--overwrite"]
    done = suite.run([*arguments, "-o", "whole.h5"])
    check(done.status == 0, done.tail())
    cube, partial = suite.path("killed.cube"), suite.path("killed.cube.part")
    arguments += ["-o", "killed.h5", "--set", "xc.cube.density=killed.cube"]
    process = suite.start(arguments, env=interrupted.pace(8))
    while not (os.path.exists(partial) and os.path.getsize(partial)) and process.poll() is None:
        time.sleep(0.02)
    time.sleep(0.5)
    interrupted.kill_all(process)
    check(not os.path.exists(cube) and os.path.exists(partial), "killed too late")
    done = suite.run([*arguments[:2], *arguments[3:], "--restart", "killed.h5"])
    check(done.status == 0 and "goes on from a checkpoint before phase 4" in done.out, done.tail())
    with open(cube, "rb") as went_on, open(suite.path("whole.cube"), "rb") as whole:
        check(went_on.read() == whole.read(), "another cube")
    check(not os.path.exists(partial), "a part is left")


def slice_case():
    """The plane's values are those of the cube that the run wrote at the same points, spherical functions to g and
    Cartesian ones, one and two spins; atoms out of the plane have thin rings; there is a picture, and it varies."""
    worst, pairs, borane = 0.0, "H 0 -0.4 0; H 0 0.4 0; H 2.2 0 -0.37; H 2.2 0 0.37", "B 0 0 0; H 1.2 0.3 0; H -1.1 0.4 0; H 0 -1.2 1"
    shells = "".join(f"H {kind}\n 4.1 0.3\n 0.4 0.7\n" for kind in "SPDFG")
    suite.write("wide.nw", f"BASIS SPHERICAL\n{shells}END\n")
    for name, atoms, thin, functions, basis, multiplicity in (("round", pairs, 2, "auto", "wide.nw", 1),
                                                              ("straight", borane, 0, "cartesian", "def2-TZVP", 3)):
        tree = {"molecule": {"atoms": atoms, "multiplicity": multiplicity}, "basis": basis,
                "functions": functions, "functional": "pbe", "grid": {"preset": "coarse"},
                "cube": {"density": f"{name}.cube", "spacing": 0.9, "margin": 2}}
        run = {"device": "cpu", "threads": 1}
        with suite.result({"family": "xc", "run": run, "xc": tree}, name=name) as file:
            origin, counts, steps, _, nuclei, truth = read_cube(suite.path(f"{name}.cube"))
            nuclei = nuclei[:, 2:]
            lattice = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), -1)
            found = plane.at(file["results"], (origin + lattice @ steps).reshape(-1, 3)).reshape(counts)
        worst = max(worst, float((np.abs(found - truth) / (np.abs(truth) + 1e-6)).max()))
        tool(suite, "report", f"{name}.h5", "--png", f"{name}.png")
        page = Page(suite.path(f"{name}.html"))
        page.has("molecule", "slice")
        rings = [one.get("stroke-width") for one in page.figures["slice"].find("svg").iter("circle")]
        flat = np.linalg.eigh(np.cov(nuclei.T))[1][:, 0]
        outside = int((np.abs((nuclei - nuclei.mean(axis=0)) @ flat) > 0.5).sum())
        check(len(rings) == 4 and rings.count("0.8") == outside == thin, f"{outside} atoms outside, rings {rings}")
        with open(suite.path(f"{name}.png"), "rb") as file:
            head = file.read(24)
        wide_by = [int.from_bytes(head[k:k + 4], "big") for k in (16, 20)]
        check(max(wide_by) >= 200 and min(wide_by) > 100, f"a picture of {wide_by}")
    check(worst < 1e-4, f"{worst:.1e} from the cube")
    return f"{worst:.1e} from the cube"


def full_case():
    """A disk that fills up while the field is computed costs the cube that is there; a disk that is full, nothing."""
    case, folder = CASES["water"], suite.path("disk")
    os.makedirs(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tesela", folder], capture_output=True, check=False).returncode:
        return "skipped: no mount"
    try:
        slow = {"energy": 1e-9, "commutator": 1e-7, "damping": 0.9, "damping_until": 1e-6, "iterations": 1000, "diis": 0}
        tree = tree_of(case, suite.path("disk_else"), scf=slow)
        tree["xc"]["cube"].update(density=os.path.join(folder, "d.cube"), spacing=0.4, margin=4)
        arguments = ["run", suite.deck("disk.yaml", tree), "-o", suite.path("disk.h5"), "--overwrite", "-q"]
        with open(os.path.join(folder, "filler"), "wb") as file:
            process, began = suite.start(arguments), time.monotonic()
            time.sleep(1)
            file.write(b"x" * 4096 * 40)
        run = suite.finish(process, began, 120)
        check(run.status == 0 and "lost: xc.cube.density" in run.err and "No space left" in run.err, run.tail())
        check("electrons of density cube" not in run.out, "a sum of half a cube")
        check(os.listdir(folder) == ["filler"], f"left {os.listdir(folder)}")
        check(os.path.exists(file_of(suite.path("disk_else"), "potential")), "another cube is lost too")
        run = suite.run(arguments)
        check(run.status == 2 and "disk.yaml:" in run.err and "xc.cube.density" in run.err and "are free" in run.err, run.tail())
    finally:
        subprocess.run(["umount", folder], check=True)


for molecule in CASES:
    suite.case(f"{molecule} as cubegen has it", cubegen_case, molecule)
suite.case("sums", sum_case)
suite.case("charges of ammonium", charges_case)
suite.case("ranks and threads", same_case)
suite.case("slabs", slabs_case)
suite.case("killed between slabs", killed_case)
suite.case("density slice", slice_case)
suite.case("a full disk", full_case)
suite.end()
