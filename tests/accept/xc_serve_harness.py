"""A served job and who asks it: pipes, and a server of i-PI's protocol that can say anything."""
import json
import os
import signal
import socket
import subprocess
import tempfile
import time

import harness
from harness import check, np

ATOMS = "O 0 0 0.117371; H 0 0.757197 -0.469483; H 0 -0.757197 -0.469483"
SYMBOLS = ["O", "H", "H"]
ANGSTROM = 1 / 0.529177210903
WATER = np.array([[float(x) for x in atom.split()[1:]] for atom in ATOMS.split(";")]) * ANGSTROM


def tree(**more):
    """Water on a small grid, one thread."""
    section = {"molecule": {"atoms": f'"{ATOMS}"'}, "basis": "def2-SVP", "functional": "pbe", "coulomb": "fitted",
               "grid": {"preset": "coarse"}, **more}
    return {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all"}, "xc": section}


def start(suite, args, ranks=None, out=subprocess.PIPE):
    """`tesela serve` with pipes."""
    words = ["serve", *args, *(["-s", f"run.heartbeat={harness.STARVED}"] if ranks else [])]
    return subprocess.Popen(suite.command(words, ranks), stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE,
                            env=suite.environment(), cwd=suite.folder, start_new_session=True)


def ended(process, text=None, seconds=300):
    """Standard output and error, once it has ended by itself; its session has no process any more."""
    try:
        out, err = process.communicate(text, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        check(False, f"does not end: {err.decode(errors='replace')[-300:]}")
    check(not alone(process.pid), "processes are left")
    return (out or b"").decode(), err.decode(errors="replace")


def alone(session):
    """Processes of a session that live, a moment later; ranks have groups of their own."""
    for _ in range(50):
        left = [number for number, _, words in harness.processes() if int(words[3]) == session and words[0] != "Z"]
        if not left:
            return []
        time.sleep(0.1)
    return left


def question(places, driver="gradient", symbols=tuple(SYMBOLS), **more):
    """AtomicInput, a line."""
    molecule = {"symbols": list(symbols), "geometry": np.asarray(places).ravel().tolist(), "molecular_charge": 0,
                "molecular_multiplicity": 1}
    return json.dumps({"schema_name": "qcschema_input", "schema_version": 1, "molecule": molecule, "driver": driver,
                       "model": {"method": "PBE", "basis": "def2-SVP"}, "keywords": {}, **more})


class Gone(Exception):
    """The other side has closed the connection."""


class Listener:
    """The side that asks: a socket for one job. kind: unix, tcp, or an address of this host."""

    def __init__(self, kind="unix"):
        self.folder = tempfile.mkdtemp(prefix="tsl_serve_")
        if kind == "unix":
            self.path = os.path.join(self.folder, "socket")
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(self.path)
            self.address = f"unix:{self.path}"
        else:
            self.path = None
            self.listener = socket.socket()
            host = "localhost" if kind == "tcp" else kind
            self.listener.bind((host, 0))
            self.address = f"tcp:{host}:{self.listener.getsockname()[1]}"
        self.listener.listen(1)
        self.listener.settimeout(120)
        self.peer = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in (self.peer, self.listener):
            if one is not None:
                one.close()
        if self.path:
            os.unlink(self.path)
        os.rmdir(self.folder)

    def meet(self):
        self.peer, _ = self.listener.accept()
        self.peer.settimeout(300)

    def get(self, n):
        data = b""
        while len(data) < n:
            more = self.peer.recv(n - len(data))
            if not more:
                raise Gone
            data += more
        return data


class Server(Listener):
    """i-PI's side: messages as bytes."""

    def send(self, *parts):
        """Words become headers; numbers and arrays their bytes."""
        for part in parts:
            self.peer.sendall(f"{part:12}".encode() if isinstance(part, str) else part)

    def word(self):
        return self.get(12).decode().strip()

    def status(self):
        self.send("STATUS")
        return self.word()

    def init(self, text):
        self.send("INIT", np.int32(0).tobytes(), np.int32(len(text)).tobytes(), text)

    def begin(self, text=b"abc"):
        self.meet()
        check(self.status() == "NEEDINIT", "a driver that has no INIT wants none")
        self.init(text)
        check(self.status() == "READY", "not ready after INIT")

    def post(self, places):
        self.send("POSDATA", np.eye(3).tobytes(), np.eye(3).tobytes(), np.int32(len(places)).tobytes(),
                  np.ascontiguousarray(places, dtype=float).tobytes())

    def forces(self, places):
        """Energy, forces, virial at places, in atomic units."""
        self.post(places)
        check(self.status() == "HAVEDATA", "no data after POSDATA")
        self.send("GETFORCE")
        check(self.word() == "FORCEREADY", "no forces")
        energy = np.frombuffer(self.get(8))[0]
        n = np.frombuffer(self.get(4), np.int32)[0]
        check(n == len(places), f"forces of {n} atoms")
        forces = np.frombuffer(self.get(24 * n)).reshape(n, 3)
        virial = np.frombuffer(self.get(72)).reshape(3, 3)
        self.get(int(np.frombuffer(self.get(4), np.int32)[0]))
        check(self.status() == "READY", "not ready after GETFORCE")
        return energy, forces, virial
