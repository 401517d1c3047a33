#!/usr/bin/env python3
"""tesela serve: answers as those of runs, ASE and i-PI as clients, peers that say nonsense, kills.

usage: xc_serve.py TESELA [--fast] [ONLY]

ASE (Debian python3-ase), LAMMPS (python3-lammps), i-PI (PyPI ipi) and qcelemental (PyPI) are used where they are there.
"""
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import harness
from harness import check, np
from xc_harness import near, solve
from xc_serve_harness import ANGSTROM, ATOMS, SYMBOLS, WATER, Gone, Server, ended, question, start, tree

suite = harness.Suite(__doc__, jobs=2)
DECK = suite.deck("water.yaml", tree())
RANKS = (None, 2)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOVED = [WATER + 0.02 * k * np.array([[0, 0, 1], [0, 1, 0], [1, 0, -1]]) for k in range(4)]


def have(*names):
    return all(importlib.util.find_spec(name) for name in names)


def have_lammps():
    """Its library is another package than its module."""
    text = "from lammps import lammps; lammps(cmdargs=['-screen', 'none', '-log', 'none'])"
    return harness.completed([sys.executable, "-c", text], 60, cwd=suite.folder).returncode == 0


def atoms_at(places):
    """As a deck has them; places in bohr."""
    rows = (np.asarray(places) / ANGSTROM).tolist()
    return '"' + "; ".join(f"{s} {x!r} {y!r} {z!r}" for s, (x, y, z) in zip(SYMBOLS, rows)) + '"'


def run_at(places):
    """Energy and gradient of a run of its own."""
    one = tree(task="gradient")
    one["xc"]["molecule"]["atoms"] = atoms_at(places)
    lines, found = solve(suite, one)
    return lines["total energy"], found["gradient"]


# ------------------------------------------------------------------- answers


def sockets(kind, ranks):
    """Energies and forces over a socket are those of runs that begin anew."""
    with Server(kind) as server:
        job = start(suite, [DECK, "--ipi", server.address], ranks)
        server.begin()
        found = [server.forces(places) for places in MOVED]
        server.send("EXIT")
        _, err = ended(job)
    check(job.returncode == 0, err)
    for (energy, forces, virial), places in list(zip(found, MOVED))[:: 3 if suite.fast else 1]:
        truth, gradient = run_at(places)
        near("energy", energy, truth, 1e-8)
        near("forces", forces, -gradient, 2e-6)
        near("virial", virial, -gradient.T @ places, 1e-5)


def charges():
    """Point charges stay where they are; their forces are part of the virial, which turns with nothing."""
    name = suite.write("charges.txt", "0 0 3 0.5\n0.3 0 -3 -0.5\n")
    one = tree()
    one["xc"]["molecule"]["charges"] = name
    with Server() as server:
        job = start(suite, [suite.deck("charged.yaml", one), "--ipi", server.address])
        server.begin()
        energy, forces, virial = server.forces(WATER)
        server.send("EXIT")
        _, err = ended(job)
    check(job.returncode == 0, err)
    one["xc"]["task"] = "gradient"
    lines, found = solve(suite, one)
    near("energy", energy, lines["total energy"], 1e-8)
    near("forces", forces, -found["gradient"], 2e-6)
    near("virial", virial, virial.T, 1e-5)


def lines(ranks):
    """Good and bad lines in turn; each has its answer, and those of good ones are right."""
    bad = ["not json", "[]", "{}", question(np.zeros((3, 3))), question(WATER, "hessian"), question(WATER)[:70],
           question(WATER, symbols=("O", "H", "Xx")), question(WATER, model={"method": "b3lyp", "basis": "def2-SVP"}),
           question(WATER, keywords={"a": 1}), '{"molecule": {"symbols": ["O"], "geometry": [0, 0, NaN]}}',
           question(WATER[:2]), "\x01\xff", "{" * 5000]
    asked = [question(places, id=str(k)) for k, places in enumerate(MOVED)]
    asked += [question(WATER, "energy"), question([[0, 0, 0], [0, 0, 1.4]], symbols=("H", "H"))]
    text = "\n".join(line for pair in zip(asked * 3, bad + [""] * 9) for line in pair)  # the last has no end of line
    job = start(suite, [DECK, "--qcschema", "-q"], ranks)
    out, err = ended(job, text.encode("latin-1"))
    check(job.returncode == 0, err)
    answers = [json.loads(line) for line in out.splitlines()]
    good = [one for one in answers if one["success"]]
    check(len(good) == 18 and len(answers) - 18 == len(bad), f"{len(good)} good of {len(answers)}")
    for one in answers:
        check(one["success"] or one["error"]["error_type"] == "input_error", str(one))
    for k, places in enumerate(MOVED[:: 3 if suite.fast else 1]):
        energy, gradient = run_at(places)
        one = good[k * (3 if suite.fast else 1)]
        check(one["id"] == str(k * (3 if suite.fast else 1)), "another id")
        near("energy", one["properties"]["return_energy"], energy, 1e-8)
        near("gradient", one["return_result"], gradient.ravel(), 2e-6)
    near("energies of the driver energy", good[4]["return_result"], good[0]["properties"]["return_energy"], 1e-8)
    near("hydrogen again", good[5]["return_result"], good[11]["return_result"], 2e-6)
    return schema(answers) if have("qcelemental") else "qcelemental is not installed"


def schema(answers):
    """The answers are what qcelemental takes."""
    from qcelemental.models import AtomicResult, FailedOperation
    for one in answers:
        (AtomicResult if one["success"] else FailedOperation)(**one)


def moving_charges(ranks):
    """Point charges of each line: as those of a file, and forces on them come back."""
    one = tree(task="gradient")
    for x in (3.0, 3.1):
        one["xc"]["molecule"]["charges"] = suite.write("charges.txt", f"0 0 {x!r} 0.5\n0.3 0 -3 -0.5\n")
        numbers = [0, 0, x * ANGSTROM, 0.5, 0.3 * ANGSTROM, 0, -3 * ANGSTROM, -0.5]
        text = question(WATER, extras={"tesela": {"point_charges": numbers}})
        job = start(suite, [DECK, "--qcschema", "-q"], ranks)
        out, err = ended(job, "\n".join([text, question(WATER), text.replace(", -0.5]", "]")]).encode())
        charged, alone, bad = [json.loads(line) for line in out.splitlines()]
        check(job.returncode == 0 and "x y z q" in bad["error"]["error_message"], err)
        lines, found = solve(suite, one)
        near("energy", charged["properties"]["return_energy"], lines["total energy"], 1e-8)
        near("gradient", charged["return_result"], found["gradient"].ravel(), 2e-6)
        near("on charges", charged["extras"]["tesela"]["charge_gradient"], found["charge_gradient"].ravel(), 2e-6)
        check("charge_gradient" not in alone["extras"]["tesela"], "charges of the line before")


FIELDS = {
    "triplet, exact exchange": {"functional": "pbe0", "coulomb": "exact", "molecule": {"multiplicity": 3}},
    "fitted exchange": {"functional": "pbe0", "exchange": "fitted"},
    "smeared": {"smearing": {"kind": "fermi", "width": 0.02}},
    "reproducible": {"reproducible": True},
    "broken symmetry": {"guess": {"spins": '"1 2; 2 -1; 3 -1"'}, "functional": "hf", "coulomb": "exact"},
}


def fields(kind):
    """Mixtures of densities are good beginnings of any field."""
    more = {key: value for key, value in FIELDS[kind].items() if key != "molecule"}
    one = tree(basis="STO-3G", **more)
    one["xc"]["molecule"].update(FIELDS[kind].get("molecule", {}))
    with Server() as server:
        job = start(suite, [suite.deck("field.yaml", one), "--ipi", server.address])
        server.begin()
        found = [server.forces(places) for places in MOVED]
        server.send("EXIT")
        _, err = ended(job)
    check(job.returncode == 0, err)
    one["xc"]["task"] = "gradient"
    for (energy, forces, _), places in list(zip(found, MOVED))[1 :: 2 if suite.fast else 1]:
        one["xc"]["molecule"]["atoms"] = atoms_at(places)
        lines, truth = solve(suite, one)
        near("energy", energy, lines.get("free energy", lines["total energy"]), 2e-8)
        near("forces", forces, -truth["gradient"], 4e-6)


def charged():
    """A deck of an ion answers for that ion alone."""
    one = tree(task="energy")
    one["xc"]["molecule"].update({"atoms": '"O 0 0 0; H 0 0 0.97"', "charge": -1})
    job = start(suite, [suite.deck("ion.yaml", one), "--qcschema", "-q"])
    ion = json.loads(question([[0, 0, 0], [0, 0, 0.97 / 0.529177210903]], "energy", symbols=("O", "H")))
    neutral, ion["molecule"]["molecular_charge"] = json.dumps(ion), -1
    out, err = ended(job, f"{neutral}\n{json.dumps(ion)}\n".encode())
    first, second = [json.loads(line) for line in out.splitlines()]
    check(job.returncode == 0 and "asks for 0" in first["error"]["error_message"], f"{first}{err}")
    near("energy", second["return_result"], solve(suite, one)[0]["total energy"], 1e-8)


def not_converged():
    """A field that does not converge, from atoms and once more after a good one, is a FailedOperation; the next is right."""
    one = tree(scf={"iterations": 8, "commutator": 1e-5})
    job = start(suite, [suite.deck("short.yaml", one), "--qcschema", "-q"])
    far = [[0, 0, 0], [0, 0, 2.6], [0, 2.6, 0]]
    asked = [question(places, "energy", id=str(k)) for k, places in enumerate((far, WATER, WATER, far, WATER))]
    out, err = ended(job, "\n".join(asked).encode())
    answers = [json.loads(line) for line in out.splitlines()]
    check(job.returncode == 0 and [one["id"] for one in answers] == list("01234"), err)
    check([one["success"] for one in answers] == [False, True, True, False, True], err)
    for k in (0, 3):
        check(answers[k]["error"]["error_type"] == "convergence_error", str(answers[k]))
    check(len(re.findall("is INVALID: not converged", err)) == 3, err)
    near("energy", answers[4]["return_result"], answers[1]["return_result"], 1e-7)


# ------------------------------------------------------------------- clients


ASE = """
import json, subprocess, sys
import numpy as np
from ase import Atoms, units
from ase.calculators.socketio import SocketIOCalculator
from ase.md.verlet import VelocityVerlet
from ase.optimize import BFGS
atoms = Atoms(SYMBOLS, PLACES)
with SocketIOCalculator(unixsocket=NAME) as calc:
    job = subprocess.Popen(COMMAND)
    atoms.calc = calc
    BFGS(atoms, logfile=None).run(fmax=0.005, steps=40)
    found = {"minimum": atoms.get_potential_energy() / units.Hartree, "fmax": float(abs(atoms.get_forces()).max()),
             "bonds": [atoms.get_distance(0, 1), atoms.get_distance(0, 2)]}
    atoms.set_velocities([[0, 0, 0], [0, 0.02, 0.01], [0.01, 0, 0.02]])
    energies = []
    md = VelocityVerlet(atoms, 0.25 * units.fs)
    for step in range(STEPS):
        md.run(1)
        energies.append(atoms.get_total_energy() / units.Hartree)
found["drift"] = float(np.polyfit(np.arange(STEPS), energies, 1)[0] * STEPS)
found["status"] = job.wait(60)
json.dump(found, sys.stdout)
"""


def ase(ranks):
    """Water relaxed and moved by ASE."""
    if not have("ase"):
        return "ase is not installed"
    name = f"tsl_{os.getpid()}"
    names = {"SYMBOLS": SYMBOLS, "PLACES": (WATER * 0.529177210903 * 1.03).tolist(), "NAME": name,
             "COMMAND": suite.command(["serve", DECK, "--ipi", f"unix:{name}", "-q"], ranks),
             "STEPS": 40 if suite.fast else 200}
    text = "".join(f"{key} = {value!r}\n" for key, value in names.items()) + ASE
    done = harness.completed([sys.executable, "-c", text], 600, cwd=suite.folder, env=suite.environment())
    check(done.returncode == 0, done.stderr[-500:])
    found = json.loads(done.stdout)
    check(found["status"] == 0, f"tesela ended with {found['status']}")
    check(found["fmax"] < 0.005, f"not at a minimum: {found}")
    near("bonds, of one length", found["bonds"][0], found["bonds"][1], 2e-3)
    near("drift", found["drift"], 0, 1e-5)
    check(not os.path.exists(f"/tmp/ipi_{name}"), "the socket is left")
    return f"drift {found['drift']:.1e} hartree in {names['STEPS']} steps"


IPI = """<simulation mode="md" verbosity="quiet">
  <output prefix="sim"><properties stride="1"> [step, potential, conserved] </properties></output>
  <total_steps>3</total_steps>
  <prng><seed>1</seed></prng>
  <ffsocket mode="unix" name="driver"><address>{name}</address><parameters>{{token: {token}}}</parameters></ffsocket>
  <system>
    <initialize nbeads="1"><file mode="xyz" units="angstrom"> start.xyz </file>
      <velocities mode="thermal" units="kelvin"> 100 </velocities></initialize>
    <forces><force forcefield="driver"/></forces>
    <motion mode="dynamics"><dynamics mode="nve"><timestep units="femtosecond"> 0.25 </timestep></dynamics></motion>
    <ensemble><temperature units="kelvin"> 100 </temperature></ensemble>
  </system>
</simulation>
"""


def ipi():
    """Three steps of i-PI's own dynamics, which shows a token."""
    program = shutil.which("i-pi")
    if program is None:
        return "i-pi is not installed"
    name = f"tsl_ipi_{os.getpid()}"
    suite.write("start.xyz", "3\n# CELL(abcABC): 20 20 20 90 90 90\n" + ATOMS.replace("; ", "\n") + "\n")
    suite.write("input.xml", IPI.format(name=name, token=TOKEN))
    server = subprocess.Popen([program, "input.xml"], cwd=suite.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True)
    job = start(suite, [token_deck(), "--ipi", f"unix:{name}", "-s", "xc.serve.wait=60"])
    _, err = ended(job)
    said, _ = server.communicate(timeout=60)
    check(job.returncode == 0, f"{err}{said.decode()[-500:]}")
    with open(suite.path("sim.out"), encoding="ascii") as file:
        rows = [[float(x) for x in line.split()] for line in file if not line.startswith("#")]
    check(len(rows) == 4, str(rows))
    near("first potential", rows[0][1], run_at(WATER)[0], 1e-6)
    near("conserved", rows[-1][2], rows[0][2], 1e-5)
    return None


def page(name, there):
    """The examples of a page run as they are written, from a folder with inputs, tools and a build."""
    if not there():
        return "what it needs is not installed"
    folder = suite.path(name)
    os.makedirs(os.path.join(folder, "build", "cpu", "bin"))
    os.symlink(suite.binary, os.path.join(folder, "build", "cpu", "bin", "tesela"))
    for one in ("inputs", "tools"):
        os.symlink(os.path.join(ROOT, one), os.path.join(folder, one))
    with open(os.path.join(ROOT, "docs", f"{name}.md"), encoding="utf-8") as file:
        examples = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
    for number, text in enumerate(examples):
        done = harness.completed([sys.executable, "-c", text], 600, cwd=folder, env=suite.environment())
        check(done.returncode == 0, f"example {number + 1}: {done.stderr[-500:]}")
    check(len(examples) > 0, "no example")
    if name == "qmmm":
        drift, spread = [float(x) for x in re.search(r"drift (\S+) spread (\S+)", done.stdout.decode()).groups()]
        near("drift", drift, 0, 1e-5)
        check(spread < 2e-4, f"the energy swings by {spread}")
    return f"{len(examples)} examples"


# --------------------------------------------------------------- bad company


def header(word):
    return f"{word:12}".encode()


def posdata(n, numbers):
    return header("POSDATA") + bytes(144) + np.int32(n).tobytes() + np.asarray(numbers, dtype=float).tobytes()


HOSTILE = {
    "another number of atoms": (posdata(2, WATER[:2]), 2, "places of 2 atoms"),
    "minus one atom": (posdata(-1, []), 2, "places of -1 atoms"),
    "two billion atoms": (posdata(2**31 - 1, []), 2, "places of 2147483647"),
    "no number": (posdata(3, WATER * np.nan), 2, "nan"),
    "infinity": (posdata(3, np.full((3, 3), np.inf)), 2, "inf"),
    "atoms on top of each other": (posdata(3, WATER * 0), 2, "Angstrom apart"),
    "atoms beyond the moon": (posdata(3, WATER * 1e9), 2, "at most"),
    "no header": (bytes(range(200)), 2, "no message"),
    "a page": (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 2, "no message"),
    "forces of nothing": (header("GETFORCE"), 2, "before any places"),
    "a text of minus one": (header("INIT") + np.int32([0, -1]).tobytes(), 2, "INIT"),
    "a text of two gigabytes": (header("INIT") + np.int32([0, 2**31 - 1]).tobytes(), 2, "INIT"),
    "half a header": (b"STAT", 3, "middle of a message"),
    "half of the places": (posdata(3, WATER)[:170], 3, "middle of a message"),
    "nothing at all": (b"", 0, ""),
}


def hostile(ranks, what):
    data, status, words = HOSTILE[what]
    with Server() as server:
        job = start(suite, [DECK, "--ipi", server.address], ranks)
        server.begin()
        server.send(data)
        server.peer.shutdown(socket.SHUT_WR)
        _, err = ended(job)
    check(job.returncode == status, f"status {job.returncode}: {err[-300:]}")
    check(words in err, err[-300:])


def slowly():
    """A byte at a time is as good as a message."""
    with Server() as server:
        job = start(suite, [DECK, "--ipi", server.address])
        server.begin()
        for byte in posdata(3, WATER):
            server.send(bytes([byte]))
        check(server.status() == "HAVEDATA", "no data")
        server.send("GETFORCE")
        check(server.word() == "FORCEREADY", "no forces")
        server.get(8 + 4 + 72 + 72 + 4 + 1)
        server.send("EXIT")
        _, err = ended(job)
    check(job.returncode == 0, err)


TOKEN = "4f0c-AZ.Qe_19+/="


def token_deck():
    """Asks for a token, of a server anywhere."""
    os.chmod(suite.write("token", TOKEN + "\n"), 0o600)
    return suite.deck("token.yaml", tree(serve={"remote": True, "token": "token"}))


def address_of_this_host():
    """One that is not that of localhost, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return None
        name = probe.getsockname()[0]
    return None if name.startswith("127.") or name == "0.0.0.0" else name


def remote(ranks):
    """A server at another address than localhost is asked for the token, and answered with it."""
    name = address_of_this_host()
    if name is None:
        return "this host has no address but localhost"
    deck = token_deck()
    with Server(name) as server:
        job = start(suite, [DECK, "--ipi", server.address])
        _, err = ended(job)
        check(job.returncode == 2 and "another host" in err, err[-300:])
        job = start(suite, [DECK, "--ipi", server.address, "-s", "xc.serve.remote=yes"])
        _, err = ended(job)
        check(job.returncode == 2 and "xc.serve.remote" in err and "token" in err, err[-300:])
        job = start(suite, [deck, "--ipi", server.address], ranks)
        server.begin(f"name : water , token : {TOKEN} , ".encode())
        energy = server.forces(WATER)[0]
        server.send("EXIT")
        _, err = ended(job)
    check(job.returncode == 0, err)
    near("energy", energy, run_at(WATER)[0], 1e-8)
    return None


STRANGERS = {
    "no INIT": None,
    "no token": b"abc",
    "another token": b"token : 0000000000000000",
    "half of the token": b"token : " + TOKEN[:-1].encode(),
    "another after it": f"token : {TOKEN}".encode(),
}


def stranger(what):
    """Who does not show the token is told nothing, on any socket; status 2."""
    with Server() as server:
        job = start(suite, [token_deck(), "--ipi", server.address])
        server.meet()
        check(server.status() == "NEEDINIT", "a driver that has no INIT wants none")
        try:
            if STRANGERS[what] is not None:
                server.init(STRANGERS[what])
            if what == "another after it":
                server.init(b"token : 0000000000000000")
            server.post(WATER)
            server.send("GETFORCE")
            check(False, f"answered by {server.word()}")
        except (Gone, OSError):
            pass
        _, err = ended(job)
    check(job.returncode == 2 and "xc.serve.token" in err, f"{job.returncode}: {err[-300:]}")
    check(TOKEN not in err, "the token is told")


def refused():
    """Addresses and decks that cannot be."""
    for args, words in (
            ([DECK, "--ipi", "tcp:192.0.2.1:31415"], "another host"),
            ([DECK, "--ipi", "tcp:localhost"], "tcp:HOST:PORT"),
            ([DECK, "--ipi", "pipe:a"], "unix:NAME or tcp:HOST:PORT"),
            ([DECK, "--ipi", "unix:" + "a" * 200], "bytes"),
            ([DECK], "one of --ipi"),
            ([DECK, "--ipi", "unix:a", "--qcschema"], "one of --ipi"),
            ([DECK, "--qcschema", "-s", "xc.molden=a.molden"], "write none"),
            ([DECK, "--ipi", "unix:a", "-s", f"xc.serve.token={suite.path('none')}"], "xc.serve.token"),
            ([DECK, "--ipi", "unix:a", "-s", f"xc.serve.token={suite.write('open', TOKEN)}"], "chmod 600"),
            ([suite.deck("fractal.yaml", {"family": "fractal", "fractal": {"xres": 8, "yres": 8}}), "--qcschema"],
             "not served")):
        job = start(suite, args)
        _, err = ended(job, b"")
        check(job.returncode == 2 and words in err, f"{args}: status {job.returncode}: {err[-300:]}")
    job = start(suite, [DECK, "--ipi", f"unix:{suite.path('nobody')}", "-s", "xc.serve.wait=0.2"])
    _, err = ended(job)
    check(job.returncode == 3 and "no server" in err, err[-300:])


# -------------------------------------------------------------------- kills


def client_killed(ranks):
    """Who asked is gone while the answer is computed: status 3, no process is left."""
    with Server() as server:
        job = start(suite, [DECK, "--ipi", server.address], ranks)
        server.begin()
        server.post(WATER)
        server.peer.close()
        _, err = ended(job)
    check(job.returncode == 3 and "has not taken the forces" in err, f"{job.returncode}: {err[-300:]}")


def reader_gone(ranks):
    """Nobody reads the lines any more: an error, not a death by signal."""
    here, there = os.pipe()
    job = start(suite, [DECK, "--qcschema"], ranks, out=there)
    os.close(there)
    os.close(here)
    _, err = ended(job, (question(WATER) + "\n").encode() * 3)
    if ranks is None:  # else mpirun reads
        check(job.returncode == 3 and "cannot be sent" in err, f"{job.returncode}: {err[-300:]}")


def server_killed(ranks, number):
    """A signal to the job, between two questions and while it computes: the socket ends, nothing is left."""
    with Server() as server:
        job = start(suite, [DECK, "--ipi", server.address], ranks)
        server.begin()
        server.forces(WATER)
        server.post(MOVED[1])
        time.sleep(0.02)
        os.kill(job.pid, number)
        try:
            while server.status():
                time.sleep(0.05)
            check(False, "it goes on")
        except (Gone, OSError):
            pass
        _, err = ended(job)
    check(job.returncode != 0, err[-300:])
    check(number != signal.SIGTERM or ranks is not None or job.returncode == 3, f"status {job.returncode}")


def stopped_idle():
    """SIGTERM while nothing is asked."""
    with Server() as server:
        job = start(suite, [DECK, "--ipi", server.address])
        server.begin()
        job.send_signal(signal.SIGTERM)
        _, err = ended(job)
    check(job.returncode == 3 and "between two questions" in err, f"{job.returncode}: {err[-300:]}")


if not suite.has_family("xc"):
    print("skipped: this build has no family xc")
    raise SystemExit(77)
for n in RANKS:
    suite.case(f"lines, {n or 'no'} ranks", lines, n)
    suite.case(f"ase, {n or 'no'} ranks", ase, n)
    suite.case(f"client killed, {n or 'no'} ranks", client_killed, n)
    suite.case(f"reader gone, {n or 'no'} ranks", reader_gone, n)
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        suite.case(f"{signal_number.name}, {n or 'no'} ranks", server_killed, n, signal_number)
suite.case("unix socket", sockets, "unix", None)
suite.case("tcp socket, 2 ranks", sockets, "tcp", 2)
suite.case("charges", charges)
for field in FIELDS:
    suite.case(f"field: {field}", fields, field)
suite.case("charged", charged)
suite.case("moving charges", moving_charges, None)
suite.case("not converged", not_converged)
suite.case("i-PI", ipi)
suite.case("examples of serve.md", page, "serve", lambda: have("ase"))
suite.case("examples of qmmm.md", page, "qmmm", have_lammps)
suite.case("a byte at a time", slowly)
suite.case("refused", refused)
suite.case("remote, 2 ranks", remote, 2)
for case in STRANGERS:
    suite.case(f"stranger: {case}", stranger, case)
suite.case("stopped between questions", stopped_idle)
for case in HOSTILE:
    suite.case(f"hostile: {case}", hostile, 2 if case == "no number" else None, case)
suite.end()
