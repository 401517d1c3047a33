"""What the scripts of tests/accept and tests/mpi share: starting tesela, decks, counting cases.

A script is called as  SCRIPT TESELA [--fast] [--hosts=N] [--one-in=N]  and prints one line per case, then
"N passed, N failed". With --hosts runs of several ranks are spread over N hosts of a network of their own
(tests/hosts/network.py); runs without mpirun stay on this host. With --one-in the script has every N-th of
its cases only (Suite). Exit status: 0 all passed, 1 a case failed, 77 a Python package is missing, or no
hosts can be made.
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

try:
    import h5py
    import numpy as np
    import scipy  # noqa: F401  (checked here once for all scripts)
except ImportError as why:
    print(f"skipped: {why}; Debian packages: python3-numpy python3-scipy python3-h5py")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hosts"))
import network  # noqa: E402

STARVED = 900  # s without a sign of life from a rank, on a busy machine


class Failed(Exception):
    """A case did not hold."""


def check(condition, message):
    if not condition:
        raise Failed(message)


# ------------------------------------------------------------------ decks


def scalar(value):
    """A value as YAML."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {scalar(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(scalar(v) for v in value) + "]"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def yaml(tree, indent=0):
    """A nested dict as block YAML."""
    lines = []
    for key, value in tree.items():
        pad = "  " * indent
        if isinstance(value, dict):
            lines.append(f"{pad}{key}:")
            lines.append(yaml(value, indent + 1).rstrip("\n"))
        else:
            lines.append(f"{pad}{key}: {scalar(value)}")
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------- runs


class Run:
    """How a run of tesela ended."""

    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def tail(self):
        lines = (self.err.strip() or self.out.strip()).splitlines()
        said = [line for line in lines if line.startswith("tesela") or "Sanitizer" in line or "runtime error" in line]
        # mpirun adds a dozen lines of its own
        text = "\n".join(said or lines)[-600:]
        return f"exit {self.status}: {text}"


def share_of_core():
    """What a process gets of a core while others use the machine, too: 1 on a free one."""
    with open("/proc/loadavg", encoding="ascii") as file:
        words = file.read().split()
    return min(1, os.cpu_count() / max(1, int(words[3].split("/")[0]), float(words[0])))


class Patience:
    """A clock for limits: seconds of a machine that is free. While others use it, too, it goes slower, by what a
    process gets of a core: what is slow is not taken for what hangs."""

    def __init__(self, seconds):
        self.left, self.last = seconds, time.monotonic()

    def over(self):
        now = time.monotonic()
        self.left -= (now - self.last) * share_of_core()
        self.last = now
        return self.left <= 0


def completed(command, seconds, **more):
    """subprocess.run with its output captured and seconds of a free machine; more: as for Popen."""
    patience = Patience(seconds)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more)
    while True:
        try:
            out, err = process.communicate(timeout=min(1, seconds))
            return subprocess.CompletedProcess(command, process.returncode, out, err)
        except subprocess.TimeoutExpired:
            if not patience.over():
                continue
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failed(f"{' '.join(command)[:300]} does not end")


def let_work(seconds):
    """Sleep so long on a free machine, longer where others use it, too."""
    patience = Patience(seconds)
    while not patience.over():
        time.sleep(0.1)


def stacks(first):
    """Where a process that hangs and its children are, by gdb; nothing without it."""
    if shutil.which("gdb") is None or shutil.which("pgrep") is None:
        return ""
    children = subprocess.run(["pgrep", "-P", str(first)], text=True, capture_output=True, check=False).stdout.split()
    text = ""
    for pid in (*children, str(first)):
        try:
            done = subprocess.run(["gdb", "-p", pid, "-batch", "-ex", "thread apply all backtrace 12"], text=True,
                                  capture_output=True, check=False, timeout=30, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            continue
        text += "".join(f"\n{line[:120]}" for line in done.stdout.splitlines() if line.startswith(("Thread", "#")))
    return text[:6000]


class Suite:
    """A temporary folder, the binary, and the count of cases.

    jobs: so many processes share the cases, each with a folder of its own; what a script does outside
    its cases, all do. Starting a program is mostly waiting, so that there may be more than cores.
    TSL_TEST_ONE_IN=K and TSL_TEST_FIRST=F in the environment: of the cases the first, and every K-th from number F
    (standard 0) on. With --one-in=N every K N-th.
    """

    def __init__(self, doc, jobs=1):
        words = [a for a in sys.argv[1:] if not a.startswith("-")]
        if len(words) < 1:
            sys.exit(f"{doc}\nusage: {sys.argv[0]} TESELA [--fast] [ONLY]")
        self.binary = os.path.abspath(words[0])
        self.only = words[1] if len(words) > 1 else ""
        self.fast = "--fast" in sys.argv
        self.passed = self.failed = self.starts = 0
        self.group, self.groups = None, {}
        self.apart, self.dealt = False, 0
        self.one_by_one, self.seen = False, 0
        self.n_hosts = self.hosts_asked()
        self.common = tempfile.mkdtemp(prefix="tesela_test_")  # of all processes
        self.one_in = int(os.environ.get("TSL_TEST_ONE_IN", "1")) * self.number_asked("one-in", 1) if not self.only else 1
        self.slow_build = "ASAN_OPTIONS" in os.environ
        self.first = int(os.environ.get("TSL_TEST_FIRST", "0")) % self.one_in
        self.jobs = jobs if not self.only else 1
        self.share, self.children, self.report = self.fork()
        self.folder = tempfile.mkdtemp(prefix="tesela_test_")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("TSL_")}
        self.env["XDG_CACHE_HOME"] = os.path.join(self.folder, "cache")
        self.sessions = tempfile.mkdtemp(prefix="tsl")  # a short path: sockets are in there
        self.network = network.Network(self.n_hosts).__enter__() if self.n_hosts else None

    @staticmethod
    def number_asked(option, standard):
        """N of --OPTION=N."""
        asked = [a.split("=")[1] for a in sys.argv if a.startswith(f"--{option}=")]
        return int(asked[0]) if asked else standard

    def hosts_asked(self):
        """N of --hosts=N, 0 without; ends the script where there can be none."""
        hosts = self.number_asked("hosts", 0)
        if hosts and network.why_not():
            print(f"skipped: {network.why_not()}")
            sys.exit(77)
        return hosts

    def fork(self):
        """The number of this process, and on process 0 the others and where they report."""
        children = []
        sys.stdout.flush()
        for share in range(1, self.jobs):
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(reader)
                return share, [], writer
            os.close(writer)
            children.append((pid, reader))
        return 0, children, None

    def mine(self):
        """Is the next case this process's? Cases of one group stay together; those that are apart are left
        out together, and else dealt out one by one; one_by_one: they are one process's, but left out one by one."""
        key = self.group if self.group is not None else ("case", len(self.groups))
        number = self.groups.setdefault(key, len(self.groups))
        self.seen += 1
        which = self.seen - 1 if self.one_by_one else number
        if which != 0 and which % self.one_in != self.first:
            return False
        if self.one_by_one:
            return number % self.jobs == self.share
        if not self.apart:
            return (number + self.one_in - 1) // self.one_in % self.jobs == self.share
        self.dealt += 1
        return self.dealt % self.jobs == self.share

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def deck(self, name, tree):
        return self.write(name, tree if isinstance(tree, str) else yaml(tree))

    def environment(self, more=None):
        """The environment of one run. A TMPDIR of its own: Open MPI 4 removes its folder of
        sessions at the end of one program while another makes it."""
        self.starts += 1
        temporary = os.path.join(self.sessions, str(self.starts))
        os.mkdir(temporary)
        return {**self.env, "TMPDIR": temporary, **(more or {})}

    def command(self, args, ranks, hosts=None):
        """Where all ranks are on this host, mpirun is spared the search for networks, longer than most runs."""
        hosts = hosts or self.network
        if ranks is None:
            return [self.binary, *args]
        if hosts is not None:
            return [*hosts.mpirun(ranks), self.binary, *args]
        root = " --allow-run-as-root" if os.getuid() == 0 else ""
        launcher = os.environ.get("TSL_TEST_MPIRUN", f"mpirun{root} -q --oversubscribe --bind-to none --mca pml ob1 "
                                  "--mca mpi_yield_when_idle 1")
        return [*launcher.split(), "-n", str(ranks), self.binary, *args]

    def patient(self, args, ranks, cwd):
        """Ranks that a busy machine starves for a minute are not lost, unless the heartbeat is what is tested."""
        if ranks is None or args[:1] != ["run"] or len(args) < 2 or "heartbeat" in " ".join(args):
            return args
        try:
            with open(os.path.join(cwd or self.folder, args[1]), "rb") as file:
                asked = b"heartbeat" in file.read()
        except OSError:
            return args  # no deck: the run says so
        return args if asked else [*args, "-s", f"run.heartbeat={STARVED}"]

    def start(self, args, ranks=None, env=None, prepare=None, cwd=None, hosts=None):
        """Start tesela in a process group of its own; ranks None: without mpirun; hosts: over this network."""
        if ranks is not None and shutil.which("mpirun") is None:
            raise Failed("mpirun not found")
        args = self.patient(args, ranks, cwd)
        return subprocess.Popen(self.command(args, ranks, hosts), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace",
                                env=self.environment(env), cwd=cwd or self.folder,
                                preexec_fn=prepare, start_new_session=True)

    def finish(self, process, began, timeout):
        patience = Patience(timeout)
        while True:
            try:
                out, err = process.communicate(timeout=min(1, timeout))
                return Run(process.returncode, out, err, time.time() - began)
            except subprocess.TimeoutExpired:
                if patience.over():
                    break
        where = stacks(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise Failed(f"not ended after {timeout} s of a free machine: {err[-300:]}{where}")

    def run(self, args, ranks=None, timeout=120, **more):
        began = time.time()
        return self.finish(self.start(args, ranks, **more), began, timeout)

    def has_family(self, kind):
        """Is the family in this build?"""
        run = self.run(["help", kind])
        check(run.status == 0, run.tail())
        return "lacks the libraries" not in run.out

    def result(self, tree, ranks=None, name="case", args=(), **more):
        """Run a deck that must succeed; returns the open output file. Files beside it are replaced."""
        out = self.path(name + ".h5")
        if os.path.exists(out):
            os.remove(out)
        deck = self.deck(name + ".yaml", tree)
        run = self.run(["run", deck, "-o", out, "-q", "--overwrite", *args], ranks, **more)
        check(run.status == 0, run.tail())
        file = h5py.File(out, "r")
        check(file["run"].attrs["verdict"] == "VALID", "verdict is not VALID")
        if self.network is not None and ranks is not None:
            nodes = len(set(file["run/machine"]["node"]))
            check(nodes == min(ranks, self.n_hosts), f"on {nodes} hosts")
        return file

    def cards(self):
        """(ranks, arguments) of a card alone and beside sockets; empty where there is no card."""
        mixes = ("gpu", "gpu,cpu", "cpu,gpu,cpu") if " gpu0 " in self.run(["devices"]).out else ()
        return tuple((mix.count(",") + 1, ["--set", f"run.device={mix}"]) for mix in mixes)

    def case(self, name, body, *args, **more):
        """Run body and print its verdict."""
        if not self.mine() or self.only not in name:
            return
        self.run_case(name, body, *args, **more)

    def everywhere(self, name, body, *args, **more):
        """A case that every process runs, as it looks at what its other cases left."""
        if self.only in name:
            self.run_case(name, body, *args, **more)

    def run_case(self, name, body, *args, **more):
        began = time.time()
        try:
            note = body(*args, **more)
            self.passed += 1
            verdict = "ok  "
        except Failed as why:
            self.failed += 1
            verdict, note = "FAIL", why
        except Exception:  # a broken test is a failure with its trace
            self.failed += 1
            verdict, note = "FAIL", traceback.format_exc()
        line = f"{verdict} {name} ({time.time() - began:.1f} s){f': {note}' if note else ''}\n"
        os.write(sys.stdout.fileno(), line.encode())  # at once, among the lines of others

    def end(self):
        if self.network is not None:
            self.network.__exit__()
        shutil.rmtree(self.sessions, ignore_errors=True)
        if self.failed == 0:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print(f"files kept in {self.folder}", flush=True)
        if self.report is not None:
            os.write(self.report, f"{self.passed} {self.failed}".encode())
            os._exit(0)
        for pid, reader in self.children:
            counts = os.read(reader, 100).split()
            self.passed += int(counts[0]) if counts else 0
            self.failed += int(counts[1]) if counts else 1  # it broke off
            os.waitpid(pid, 0)
        shutil.rmtree(self.common, ignore_errors=True)
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def at_level(level, run, *args):
    """run(*args, env=...), which must succeed, on this SIMD level; None where the build or the processor lacks it."""
    try:
        return run(*args, env={"TSL_SIMD": str(level)})
    except Failed as why:
        if "this build has kernels" in str(why) or "this processor has level" in str(why):
            return None
        raise


# ---------------------------------------------------------------- results


def datasets(file):
    """All datasets of /results as arrays by name."""
    return {name: file["results"][name][()] for name in file["results"]}


def check_same(one, other):
    """Arrays by name, the same byte for byte."""
    check(one.keys() == other.keys(), f"one has {sorted(one)}, the other {sorted(other)}")
    for name, a in one.items():
        b = other[name]
        check(a.dtype == b.dtype and a.shape == b.shape, f"{name}: {b.dtype} {b.shape}, one rank {a.dtype} {a.shape}")
        if a.tobytes() != b.tobytes():
            where = np.argwhere(a != b)
            check(False, f"{name} differs in {len(where)} places, the first at {where[:3].tolist()}")


def processes():
    """Of this host: number, name, and the words of /proc/NUMBER/stat behind the name, from the state on."""
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as file:
                head, rest = file.read().rsplit(")", 1)
        except OSError:
            continue  # it has ended meanwhile
        number, name = head.split(" (", 1)
        yield int(number), name, rest.split()


def check_units(file, ranks):
    """Every unit of the plan ran exactly once, on a rank of the run."""
    units = file["run/units"][()]
    check(np.array_equal(np.sort(units["id"]), np.arange(len(units))),
          "a unit is missing or was computed twice")
    if len(units):
        check(units["rank"].min() >= 0 and units["rank"].max() < ranks, "a unit has no owner")
    check(len(file["run/machine"]) == ranks, "the machine table misses a rank")
    return units


def check_left_out(file, units):
    """Of two ranks the second is too slow for so little work: it was left out, and that is on record."""
    ranks = file["run/ranks"][()]
    check(ranks["takes_part"].tolist() == [1, 0] and ranks["gain"][1] < ranks["price"][1], f"taken part: {ranks}")
    check((units["rank"] == 0).all(), "a rank that was left out computed")


PEAK = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:]);"
        "print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss);"
        "sys.exit(r.returncode)")


def run_peak(suite, args, timeout=600):
    """Run tesela alone; returns the run and its peak resident memory in MiB."""
    began = time.time()
    process = subprocess.Popen([sys.executable, "-c", PEAK, suite.binary, *args], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=suite.environment(),
                               cwd=suite.folder, start_new_session=True)
    run = suite.finish(process, began, timeout)
    peak = [line for line in run.out.splitlines() if line.startswith("peak ")]
    check(len(peak) == 1, run.tail())
    return run, int(peak[0].split()[1]) / 1024
