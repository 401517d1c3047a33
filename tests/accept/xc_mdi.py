#!/usr/bin/env python3
"""tesela serve --mdi: an engine of the MolSSI Driver Interface beside runs; drivers that say nonsense.

usage: xc_mdi.py TESELA [--fast] [ONLY]

The driver here speaks in bytes; the MDI Library's own (PyPI pymdi) is used where it is there.
"""
import importlib.util
import os
import signal
import socket
import struct
import subprocess
import sys

import harness
from harness import check, np
from xc_harness import near, solve
from xc_serve_harness import ANGSTROM, SYMBOLS, WATER, Listener, ended, start, tree

suite = harness.Suite(__doc__, jobs=2)
DECK = suite.deck("water.yaml", tree())
MOVED = [WATER + 0.02 * k * np.array([[0, 0, 1], [0, 1, 0], [1, 0, -1]]) for k in range(4)]
LATTICE = np.array([[0.3, 0.1, 5.9], [0.5, -0.2, -6.1]])
CHARGES = np.array([0.5, -0.4])
INT, DOUBLE, CHAR = 1, 2, 3


class Driver(Listener):
    """MDI's side that asks: it sends and takes messages as bytes."""

    def begin(self, length=256):
        self.meet()
        self.peer.sendall(struct.pack("3i", 1, 4, 40))
        major, minor, _ = struct.unpack("3i", self.get(12))
        check((major, minor) == (1, 4), f"version {major}.{minor}")
        self.peer.sendall(struct.pack("2i", length, length))
        self.length = min(length, *struct.unpack("2i", self.get(8)))

    def say(self, word):
        self.peer.sendall(struct.pack("4i", 0, 0, CHAR, self.length) + word.encode().ljust(self.length, b"\0"))

    def send(self, word, values, kind=None):
        values = np.atleast_1d(values)
        self.say(word)
        code = kind or (DOUBLE if values.dtype.kind == "f" else INT)
        values = values.astype(float if code == DOUBLE else np.int32)
        self.peer.sendall(struct.pack("4i", 0, 0, code, values.size) + values.tobytes())

    def ask(self, word):
        """Numbers or text; None: an error."""
        self.say(word)
        error, kind, code, count = struct.unpack("4i", self.get(16))
        check(kind == 0, f"a message of kind {kind}")
        if error:
            return None
        if code == CHAR:
            return self.get(count).decode()
        return np.frombuffer(self.get(count * (8 if code == DOUBLE else 4)), float if code == DOUBLE else np.int32)


def run_at(places, lattice=False):
    """Energy, gradient, gradient on charges and Mulliken's charges of a run of its own."""
    one = tree(task="gradient")
    rows = (np.asarray(places) / ANGSTROM).tolist()
    one["xc"]["molecule"]["atoms"] = '"' + "; ".join(f"{s} {x!r} {y!r} {z!r}" for s, (x, y, z) in zip(SYMBOLS, rows)) + '"'
    if lattice:
        lines = [" ".join(repr(float(v)) for v in (*at / ANGSTROM, q)) for at, q in zip(LATTICE, CHARGES)]
        one["xc"]["molecule"]["charges"] = suite.write("lattice.txt", "\n".join(lines) + "\n")
    lines, found = solve(suite, one)
    return lines["total energy"], found


# ------------------------------------------------------------------- answers


def facts():
    """What an engine says of itself, with texts of any length."""
    for length in (256, 40, 12, 5000):
        with Driver("tcp") as driver:
            job = start(suite, [DECK, "--mdi", driver.address])
            driver.begin(length)
            check(driver.ask("<NAME").rstrip("\0") == "tesela", "another name")
            check(driver.ask("<@").rstrip("\0") == "@DEFAULT", "another node")
            check(driver.ask("<NATOMS").tolist() == [3] and driver.ask("<ELEMENTS").tolist() == [8, 1, 1], "other atoms")
            near("places", driver.ask("<COORDS").reshape(3, 3), WATER, 1e-12)
            check(driver.ask("<VERSION")[0] == 1 and driver.ask("<DIMENSIONS").tolist() == [1, 1, 1], "facts")
            check(driver.ask("<TOTCHARGE").tolist() == [0] and driver.ask("<ELEC_MULT").tolist() == [1], "electrons")
            words, stride = driver.ask("<COMMANDS"), driver.length + 1
            listed = [words[k:k + stride - 1].strip() for k in range(0, len(words), stride)]
            check(listed[0] == "@DEFAULT" and len(listed) == driver.ask("<NCOMMANDS")[0] + 1, str(listed))
            check({"<ENERGY", "<FORCES", ">COORDS", ">NLATTICE", "EXIT"} <= set(listed) or length == 12, str(listed))
            check(words[-1] == ";" and words[stride - 1] == ",", "separators")
            check(driver.ask("<NODES").strip() == "@DEFAULT".ljust(driver.length) + ",", "nodes")
            check(driver.ask("<NCALLBACKS").tolist() == [0] and driver.ask("<CALLBACKS")[-1] == ";", "callbacks")
            driver.say("@DEFAULT")
            driver.say("EXIT")
            _, err = ended(job)
        check(job.returncode == 0, err)


def answers(ranks):
    """Energies, forces and charges are those of runs; charges of a lattice are point charges."""
    with Driver("tcp") as driver:
        job = start(suite, [DECK, "--mdi", driver.address], ranks)
        driver.begin()
        driver.say("@DEFAULT")
        first = driver.ask("<ENERGY")
        found = []
        for places in MOVED:
            driver.send(">CELL", np.eye(3).ravel() * 20)
            driver.send(">CELL_DISPL", np.zeros(3))
            driver.send(">COORDS", places.ravel())
            found.append((driver.ask("<FORCES"), driver.ask("<ENERGY"), driver.ask("<PE"), driver.ask("<CHARGES")))
        driver.send(">NLATTICE", 2)
        driver.send(">CLATTICE", LATTICE.ravel())
        driver.send(">LATTICE", CHARGES)
        near_lattice = driver.ask("<ENERGY"), driver.ask("<FORCES"), driver.ask("<LATTICE_FORCES")
        driver.send(">NLATTICE", 0)
        again = driver.ask("<ENERGY")
        driver.say("EXIT")
        _, err = ended(job)
    check(job.returncode == 0, err)
    check(err.count("is not used") == 1 and ">CELL" in err, err[-300:])
    check(len([line for line in err.splitlines() if "question" in line]) == 7, f"computed more than asked: {err[-900:]}")
    near("first", first, run_at(WATER)[0], 1e-8)
    for (forces, energy, same, charges), places in list(zip(found, MOVED))[:: 3 if suite.fast else 1]:
        truth, data = run_at(places)
        near("energy", energy, truth, 1e-8)
        near("PE", same, energy, 0)
        near("forces", forces.reshape(3, 3), -data["gradient"], 2e-6)
        near("charges", charges, data["mulliken_charges"], 1e-5)
    truth, data = run_at(MOVED[-1], True)
    near("energy in a lattice", near_lattice[0], truth, 1e-8)
    near("forces in a lattice", near_lattice[1].reshape(3, 3), -data["gradient"], 2e-6)
    near("on the lattice", near_lattice[2].reshape(2, 3), -data["charge_gradient"], 2e-6)
    near("without the lattice", again, found[-1][1], 1e-7)


def failures():
    """What cannot be computed is an error in the header, and the job goes on."""
    with Driver("tcp") as driver:
        job = start(suite, [DECK, "--mdi", driver.address, "-s", "xc.scf.iterations=8", "-s", "xc.scf.commutator=1e-5"])
        driver.begin()
        driver.send(">COORDS", np.zeros(9))
        check(driver.ask("<ENERGY") is None and driver.ask("<FORCES") is None, "atoms on top of each other have an energy")
        driver.send(">COORDS", (WATER * 3).ravel())
        check(driver.ask("<ENERGY") is None, "a field that has not converged has an energy")
        driver.send(">COORDS", WATER.ravel())
        energy = driver.ask("<ENERGY")
        driver.say("EXIT")
        _, err = ended(job)
    check(job.returncode == 0 and "Angstrom apart" in err and "not converged" in err, err[-500:])
    near("energy", energy, run_at(WATER)[0], 1e-7)


LIBRARY = """
import sys
import numpy as np
import mdi
mdi.MDI_Init("-role DRIVER -name driver -method TCP -port " + sys.argv[1])
comm = mdi.MDI_Accept_Communicator()


def ask(word, n, kind):
    mdi.MDI_Send_Command(word, comm)
    return mdi.MDI_Recv(n, kind, comm)


def send(word, values, kind):
    mdi.MDI_Send_Command(word, comm)
    mdi.MDI_Send(values, len(values) if isinstance(values, list) else 1, kind, comm)


assert ask("<NAME", mdi.MDI_NAME_LENGTH, mdi.MDI_CHAR).strip() == "tesela"
known = [mdi.MDI_Check_Command_Exists("@DEFAULT", word, comm) for word in ("<FORCES", ">LATTICE", "EXIT", "<STRESS")]
assert known == [1, 1, 1, 0], known
assert mdi.MDI_Check_Node_Exists("@DEFAULT", comm) == 1 and mdi.MDI_Check_Node_Exists("@INIT_MD", comm) == 0
n = ask("<NATOMS", 1, mdi.MDI_INT)
places = np.array(ask("<COORDS", 3 * n, mdi.MDI_DOUBLE))
mdi.MDI_Send_Command("@DEFAULT", comm)
velocities, step, masses = np.zeros(3 * n), 10.0, np.repeat([15.999, 1.008, 1.008], 3) * 1822.888486
energies = []
forces = np.array(ask("<FORCES", 3 * n, mdi.MDI_DOUBLE))
for k in range(12):  # Verlet's steps, 0.24 fs each
    velocities += 0.5 * step * forces / masses
    places += step * velocities
    send(">COORDS", places.tolist(), mdi.MDI_DOUBLE)
    forces = np.array(ask("<FORCES", 3 * n, mdi.MDI_DOUBLE))
    velocities += 0.5 * step * forces / masses
    energies.append(ask("<ENERGY", 1, mdi.MDI_DOUBLE) + 0.5 * float((masses * velocities ** 2).sum()))
send(">NLATTICE", 2, mdi.MDI_INT)
send(">CLATTICE", LATTICE, mdi.MDI_DOUBLE)
send(">LATTICE", CHARGES, mdi.MDI_DOUBLE)
send(">COORDS", PLACES, mdi.MDI_DOUBLE)
energy = ask("<ENERGY", 1, mdi.MDI_DOUBLE)
on_lattice = ask("<LATTICE_FORCES", 6, mdi.MDI_DOUBLE)
mdi.MDI_Send_Command("EXIT", comm)
print(max(energies) - min(energies), energy, *on_lattice)
"""


def library(ranks):
    """The MDI Library as the driver: dynamics, and charges around."""
    if importlib.util.find_spec("mdi") is None:
        return "pymdi is not installed"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    names = f"LATTICE = {LATTICE.ravel().tolist()}\nCHARGES = {CHARGES.tolist()}\nPLACES = {WATER.ravel().tolist()}\n"
    driver = subprocess.Popen([sys.executable, "-c", names + LIBRARY, str(port)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, cwd=suite.folder)
    job = start(suite, [DECK, "--mdi", f"tcp:localhost:{port}", "-s", "xc.serve.wait=60"], ranks)
    _, err = ended(job)
    said, _ = driver.communicate(timeout=60)
    check(job.returncode == 0 and driver.returncode == 0, f"{err[-300:]}{said[-500:]}")
    swing, energy, *on_lattice = [float(word) for word in said.split()[-8:]]
    truth, data = run_at(WATER, True)
    near("energy", energy, truth, 1e-8)
    near("on the lattice", on_lattice, -data["charge_gradient"].ravel(), 2e-6)
    check(swing < 2e-5, f"the total energy swings by {swing}")
    return f"total energy within {swing:.1e} hartree"


# --------------------------------------------------------------- bad company


def message(code, count, data, error=0, kind=0):
    return struct.pack("4i", error, kind, code, count) + data


def word(text):
    return message(CHAR, 256, text.encode("latin-1").ljust(256, b"\0"))


HOSTILE = {
    "an unknown command": (word("<STRESS"), 2, "'<STRESS' is no command"),
    "another node": (word("@INIT_MD"), 2, "'@INIT_MD' is no command"),
    "another number of places": (word(">COORDS") + message(DOUBLE, 6, bytes(48)), 2, "count 6"),
    "minus one place": (word(">COORDS") + message(DOUBLE, -1, b""), 2, "count -1"),
    "integers for places": (word(">COORDS") + message(INT, 9, bytes(36)), 2, "type 1"),
    "no number": (word(">COORDS") + message(DOUBLE, 9, np.full(9, np.nan).tobytes()), 2, "nan"),
    "an infinite charge": (word(">NLATTICE") + message(INT, 1, struct.pack("i", 1)) + word(">LATTICE") +
                           message(DOUBLE, 1, struct.pack("d", np.inf)), 2, "inf"),
    "two billion charges": (word(">NLATTICE") + message(INT, 1, struct.pack("i", 2**31 - 1)), 2, ">NLATTICE"),
    "minus one charge": (word(">NLATTICE") + message(INT, 1, struct.pack("i", -1)), 2, ">NLATTICE"),
    "charges that nobody announced": (word(">LATTICE") + message(DOUBLE, 1, bytes(8)), 2, "count 1"),
    "other elements": (word(">ELEMENTS") + message(INT, 3, struct.pack("3i", 8, 1, 9)), 2, "the deck has 1"),
    "another charge": (word(">TOTCHARGE") + message(DOUBLE, 1, struct.pack("d", 1)), 2, ">TOTCHARGE"),
    "a command as long as it likes": (message(CHAR, 2**31 - 1, b"A" * 300), 2, "count 2147483647"),
    "an error": (message(CHAR, 256, bytes(256), error=1), 2, "error 1"),
    "another kind": (message(CHAR, 256, bytes(256), kind=7), 2, "kind 7"),
    "no text": (message(CHAR, 256, bytes(range(256))), 2, "no command"),
    "a page": (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 2, "where 0, 0"),
    "half a header": (b"\0\0\0\0", 3, "middle of a message"),
    "half of the places": (word(">COORDS") + message(DOUBLE, 9, bytes(30)), 3, "middle of a message"),
    "no places": (word(">COORDS"), 3, "middle of a message"),
    "nothing at all": (b"", 3, "without EXIT"),
}
STRANGERS = {
    "an old version": (struct.pack("3i", 1, 3, 2), 2, "version 1.3.2"),
    "version zero": (bytes(12), 2, "version 0.0.0"),
    "a version to come": (struct.pack("3i", 2, 0, 0), 2, "version 2.0.0"),
    "names of nothing": (struct.pack("5i", 1, 4, 0, 0, 0), 2, "names of 0"),
    "names of minus one": (struct.pack("5i", 1, 4, 0, -1, -1), 2, "names of -1"),
    "half a version": (b"\1\0\0", 3, "middle of a message"),
}


def hostile(what, table, ranks=None):
    data, status, words = table[what]
    with Driver("tcp") as driver:
        job = start(suite, [DECK, "--mdi", driver.address], ranks)
        if table is HOSTILE:
            driver.begin()
        else:
            driver.meet()
        driver.peer.sendall(data)
        driver.peer.shutdown(socket.SHUT_WR)
        _, err = ended(job)
    check(job.returncode == status and words in err, f"status {job.returncode}: {err[-300:]}")


def slowly():
    """A byte at a time is as good as a message."""
    with Driver("tcp") as driver:
        job = start(suite, [DECK, "--mdi", driver.address])
        driver.begin()
        for byte in word(">COORDS") + message(DOUBLE, 9, WATER.tobytes()) + word("<NATOMS"):
            driver.peer.sendall(bytes([byte]))
        check(struct.unpack("5i", driver.get(20))[-1] == 3, "another number of atoms")
        driver.say("EXIT")
        _, err = ended(job)
    check(job.returncode == 0, err)


def driver_killed(ranks):
    """The driver is gone while its answer is computed: status 3, no process is left."""
    with Driver("tcp") as driver:
        job = start(suite, [DECK, "--mdi", driver.address], ranks)
        driver.begin()
        driver.say("<FORCES")
        driver.peer.close()
        _, err = ended(job)
    check(job.returncode == 3, f"{job.returncode}: {err[-300:]}")


def stopped():
    """SIGTERM while nothing is asked."""
    with Driver("tcp") as driver:
        job = start(suite, [DECK, "--mdi", driver.address])
        driver.begin()
        job.send_signal(signal.SIGTERM)
        _, err = ended(job)
    check(job.returncode == 3 and "between two questions" in err, f"{job.returncode}: {err[-300:]}")


def refused():
    """Addresses and decks that cannot be."""
    os.chmod(suite.write("token", "0123456789abcdef"), 0o600)
    for args, words in (([DECK, "--mdi", "tcp:192.0.2.1:31415"], "another host"),
                        ([DECK, "--mdi", "localhost:1"], "tcp:HOST:PORT"),
                        ([DECK, "--mdi", "tcp:localhost:1", "--qcschema"], "one of --ipi"),
                        ([DECK, "--mdi", "tcp:localhost:1", "-s", f"xc.serve.token={suite.path('token')}"], "xc.serve.token")):
        job = start(suite, args)
        _, err = ended(job, b"")
        check(job.returncode == 2 and words in err, f"{args}: status {job.returncode}: {err[-300:]}")
    job = start(suite, [DECK, "--mdi", "tcp:localhost:1", "-s", "xc.serve.wait=0.2"])
    _, err = ended(job)
    check(job.returncode == 3 and "no server" in err, err[-300:])


if not suite.has_family("xc"):
    print("skipped: this build has no family xc")
    raise SystemExit(77)
suite.case("facts", facts)
suite.case("answers", answers, None)
suite.case("answers, 2 ranks", answers, 2)
suite.case("failures", failures)
suite.case("MDI Library", library, None)
suite.case("MDI Library, 2 ranks", library, 2)
suite.case("a byte at a time", slowly)
suite.case("refused", refused)
suite.case("stopped between questions", stopped)
suite.case("driver killed", driver_killed, None)
suite.case("driver killed, 2 ranks", driver_killed, 2)
for case in HOSTILE:
    suite.case(f"hostile: {case}", hostile, case, HOSTILE, 2 if case == "no number" else None)
for case in STRANGERS:
    suite.case(f"stranger: {case}", hostile, case, STRANGERS)
suite.end()
