#!/usr/bin/env python3
"""What may happen to a run over several hosts: links that die, hosts that go down, clocks and
calibrations that differ, folders and programs that a host does not see.

usage: faults.py TESELA [--fast] [ONLY]

Results of runs that end well are those of one host, byte for byte. Hosts are namespaces of this
machine (network.py). Exit status 77: namespaces are not allowed.
"""
import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "accept"))
import network  # noqa: E402
import harness  # noqa: E402
from harness import check, check_units, h5py, np  # noqa: E402

LIMIT = 180  # s: a run in which nothing has moved for so long hangs, even on a busy machine
HEARTBEAT = 3
ATTEMPTS = 5  # of TCP, which then gives up after 13 s: mpirun waits that long for its daemon beyond a dead link
FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")  # Debian: libfaketime


def tri(**keys):
    return {"family": "tri", "run": {"device": "cpu", "threads": 1, "ranks": "all", "units": 200, "checkpoint": 0.5},
            "tri": {"function": "euclidean", "generator": {"kind": "plummer", "n": 2000, "seed": 3}, **keys}}


DECKS = {
    "condensed": tri(output="condensed"),  # each rank writes where HDF5 is parallel
    "histogram": tri(output="histogram", bins=100, range=[0, 5]),
    "threshold": tri(output="threshold", threshold=0.5),  # rank 0 writes
    "alignment": {"family": "dp", "run": {"device": "cpu", "threads": 1, "ranks": "all", "units": 20, "checkpoint": 0.5},
                  "dp": {"problem": "local", "mode": "recover", "a": {"random": 4000, "seed": 3},
                         "b": {"random": 5000, "seed": 4}}},
    "recurrence": {"family": "dp", "run": {"device": "cpu", "threads": 1, "ranks": "all"},
                   "dp": {"problem": "recurrence", "mode": "recover", "table": {"rows": 300, "cols": 400},
                          "data": [{"name": "a", "random": 400, "seed": 5, "lo": 1, "hi": 9}],
                          "boundary": [{"where": '"i == 0 || j == 0"', "value": '"i + j"'}],
                          "cell": '"max(M[i-1][j-1] + a[j] % 7, M[i-1][j] - a[i], M[i][j-1] - 1)"',
                          "goal": '"max over all"'}},
    "image": {"family": "fractal", "run": {"device": "cpu", "threads": 1, "ranks": "all", "units": 200, "checkpoint": 0.5},
              "fractal": {"set": "mandelbrot", "xres": 320, "yres": 240, "maxiter": 1000,
                          "view": {"corners": [-2.25, -1.25, 1.5, 1.25]}}},
    "water": {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all", "checkpoint": 0.5},
              "xc": {"molecule": {"atoms": '"O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"'}, "basis": "def2-SVP",
                     "functional": "pbe", "coulomb": "fitted", "grid": {"preset": "coarse"}, "reproducible": True}},
}
CALLS = {"alignment": 128, "water": 500}  # units or groups of them that one rank computes one by one; others have 200

suite = harness.Suite(__doc__, jobs=8)  # runs are slowed down by sleeping, or wait
TRUTH = {}


def contents(path):
    with h5py.File(path, "r") as file:
        check(file["run"].attrs["verdict"] == "VALID", "the verdict is not VALID")
        check(np.array_equal(np.sort(file["run/units"]["id"]), np.arange(len(file["run/units"]))) or "phases" in file["run"],
              "a unit is missing or twice")
        found = {}
        file["results"].visititems(
            lambda name, item: found.update({name: item[()].tobytes()}) if hasattr(item, "shape") else None)
        found.update({f"@{k}": np.asarray(v).tobytes() for k, v in file["results"].attrs.items()})
        return found


def same(name, path):
    """Byte for byte what one host has computed."""
    if name not in TRUTH:
        truth = suite.path(f"{name}_truth.h5")
        run = suite.run(["run", deck(name), "-o", truth, "-q"])
        check(run.status == 0, run.tail())
        TRUTH[name] = contents(truth)
    found = contents(path)
    check(found.keys() == TRUTH[name].keys(), f"{sorted(found)} instead of {sorted(TRUTH[name])}")
    differ = [key for key, value in TRUTH[name].items() if found[key] != value]
    check(not differ, f"differ from the run on one host: {differ}")


def deck(name, **run):
    tree = DECKS[name]
    return suite.deck(f"{name}.yaml", {**tree, "run": {**tree["run"], **run}})


class Trial:
    """A run over the hosts of a network of its own, while it goes on."""

    def __init__(self, net, name, ranks=None, seconds=6.0, env=None, binary=None, args=(), folder=None, **run):
        self.net, self.name = net, name
        self.out = os.path.join(folder or suite.folder, f"{name}.h5")
        for path in self.files() if "--restart" not in args else []:
            os.remove(path)
        self.log = suite.path(f"{name}.log")
        slow = {"TSL_TEST_SLOW": f"+{seconds / CALLS.get(name, 200):.3g}"} if seconds else {}
        environment = suite.environment({"TSL_TEST_CHECKPOINTS": "prompt", **slow, **(env or {})})
        command = [*net.mpirun(ranks or net.n), binary or suite.binary, "run", deck(name, **run), "-o", self.out,
                   *args]
        self.looked = self.moved = time.time()
        self.last = None
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=suite.folder,
                                            start_new_session=True)

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def files(self):
        """The output and what is beside it."""
        return glob.glob(glob.escape(self.out) + "*")

    def look(self):
        """What can move: messages, files, ranks that come or go."""
        found = [len(self.text()), [h.processes("tesela") for h in self.net.living()]]
        for path in self.files():
            try:
                found.append((path, os.path.getmtime(path)))
            except FileNotFoundError:
                continue
        return found

    def moves(self):
        """Has anything moved in the last LIMIT seconds?"""
        if time.time() > self.looked + 1:
            self.looked = time.time()
            now = self.look()
            if now != self.last:
                self.moved, self.last = self.looked, now
        return time.time() < self.moved + LIMIT

    def until(self, condition, what):
        while not condition():
            check(self.process.poll() is None, f"ended before {what}: {self.text()[-1500:]}")
            check(self.moves(), f"no {what}: {self.text()[-1500:]}")
            time.sleep(0.1)

    def computes(self):
        """Wait until it computes, and has saved something."""
        self.until(lambda: "of computing; output" in self.text(), "computing")
        self.until(lambda: os.path.exists(self.out + ".ckpt.0"), "checkpoint")

    def end(self):
        while self.process.poll() is None:
            if not self.moves():
                where = {host.name: host.processes("tesela") for host in self.net.living()}
                self.process.kill()
                self.process.wait()
                check(False, f"nothing has moved for {LIMIT} s, ranks are {where}: {self.text()[-1500:]}")
            time.sleep(0.1)
        return self.process.returncode

    def done(self):
        status = self.end()
        check(status == 0, f"exit {status}: {self.text()[-1500:]}")
        check(self.files() == [self.out], f"left: {self.files()}")
        same(self.name, self.out)

    def gone(self):
        """No rank is left on a host that is up; seconds until then."""
        began = time.time()
        while left := {h.name: h.processes("tesela") for h in self.net.living() if h.processes("tesela")}:
            check(time.time() < began + LIMIT, f"ranks are left: {left}")
            time.sleep(0.1)
        return time.time() - began


def goes_on(trial, hosts):
    """What was saved is continued on so many hosts, new ones, and gives the same."""
    left = sorted(os.path.basename(path) for path in trial.files())
    base = os.path.basename(trial.out)
    check(set(left) <= {base + end for end in (".part", ".ckpt.0", ".ckpt.1")}, f"left: {left}")
    with network.Network(hosts) as net:
        rest = Trial(net, trial.name, seconds=0, args=["--restart", trial.out])
        rest.done()
    done = re.search(r"goes on from a checkpoint (.*)", rest.text())
    check(done is not None, f"it began anew: {rest.text()[-1500:]}")
    return f"a checkpoint {done.group(1)}"


# -------------------------------------------------------------------- links


def link_back(name, way):
    """A link that is dead for 5 s: TCP sends again, and the run goes on."""
    with network.Network(2) as net:
        trial = Trial(net, name, 3, seconds=12)
        trial.computes()
        way(net.hosts[1], False)
        time.sleep(5)
        way(net.hosts[1], True)
        check(trial.process.poll() is None, "it had ended: the case shows nothing")
        trial.done()


def link_dead(name, way, number):
    """A link that is dead for good: both sides end, with the name of a rank on the other."""
    with network.Network(2) as net:
        for host in net.hosts:
            host.impatient(ATTEMPTS)
        trial = Trial(net, name, 3, seconds=60, heartbeat=HEARTBEAT)
        trial.computes()
        way(net.hosts[number], False)
        took = trial.gone()
        status = trial.end()
        text = trial.text()
        check(status == 3, f"exit {status}: {text[-1500:]}")
        check(re.search(r"rank \d+ on host (alpha|beta) .* silent for", text), f"names nobody: {text[-1500:]}")
    return f"ranks ended after {took:.1f} s, {goes_on(trial, 2)}"


def bad_line(name, delay, loss):
    """Everything that a host sends is late, and some of it lost."""
    if not os.path.exists("/dev/net/tun"):
        return "skipped: no /dev/net/tun"
    with network.Network(2, line=(delay, loss)) as net:
        trial = Trial(net, name, 3, seconds=2)
        trial.done()
    return None


# -------------------------------------------------------------------- hosts


def host_killed(name, number):
    """All processes of a host are killed: the job ends, nobody is left, and the rest goes on elsewhere."""
    with network.Network(3) as net:
        trial = Trial(net, name, 4, seconds=60)
        trial.computes()
        net.hosts[number].kill()
        status = trial.end()
        check(status != 0, "it has succeeded")
        trial.gone()
    return f"exit {status}, {goes_on(trial, 2)}"


def rank_killed(name):
    with network.Network(3) as net:
        trial = Trial(net, name, 4, seconds=60)
        trial.computes()
        os.kill(net.hosts[2].processes("tesela")[0], signal.SIGKILL)
        status = trial.end()
        check(status != 0, "it has succeeded")
        trial.gone()
    return f"exit {status}, {goes_on(trial, 3)}"


def stopped(name, hosts, others):
    """USR1 to all ranks: status 85, and the rest on another number of hosts gives the same."""
    with network.Network(hosts) as net:
        trial = Trial(net, name, hosts, seconds=30)
        trial.computes()
        for host in net.hosts:
            for pid in host.processes("tesela"):
                with contextlib.suppress(ProcessLookupError):  # the others have told it to stop, and it has
                    os.kill(pid, signal.SIGUSR1)
        status = trial.end()
        check(status == 85, f"exit {status}: {trial.text()[-1500:]}")
        trial.gone()
    return goes_on(trial, others)


# ------------------------------------------------------- hosts that are not alike


def shifted(net, shift):
    """Is the second host's monotonic clock another, and the third one's date, where that can be?"""
    up = [float(host.run("cat", "/proc/uptime").stdout.split()[0]) for host in net.hosts]
    check(abs(up[1] - up[0] - shift) < 60, f"uptimes are {up}")
    if not FAKETIME:
        return "no libfaketime: dates are equal; "
    net.hosts[2].set(LD_PRELOAD=FAKETIME[0], FAKETIME="-40d", FAKETIME_DONT_FAKE_MONOTONIC="1", DONT_FAKE_MONOTONIC="1")
    date = [int(host.run("date", "+%s").stdout) for host in net.hosts]
    check(date[0] - date[2] > 39 * 86400, f"dates are {date}")
    return ""


def clocks(name, shift):
    """Hosts with other clocks: times of two hosts are never compared."""
    if not os.path.exists("/proc/self/ns/time"):
        return "skipped: this kernel has no namespaces of time"
    trace = suite.path("trace.json")
    with network.Network(3, {1: ["--time", "--monotonic", str(shift), "--boottime", str(shift)]}) as net:
        note = shifted(net, shift)
        trial = Trial(net, name, 3, seconds=6, args=["--trace", trace], heartbeat=HEARTBEAT)
        trial.done()
    with h5py.File(trial.out, "r") as file:
        units = file["run/units"][()]
        check(0 < file["run"].attrs["total_seconds"] < shift / 2, "the run took time of another clock")
    check((units["start"] >= 0).all() and (units["start"] < shift / 2).all(), "units began at a time of another clock")
    with open(trace, encoding="utf-8") as file:
        starts = [float(word) for word in re.findall(r'"ts": ?([-\d.e+]+)', file.read())]
    os.remove(trace)
    check(starts and min(starts) > -1e6 and max(starts) < 1e6 * shift / 2, f"a trace from {min(starts)} to {max(starts)} us")
    share = np.bincount(units["rank"], weights=units["count"], minlength=3) / units["count"].sum()
    check(name != "histogram" or share.min() > 0.05, f"shares are {share}")
    return f"{note}shares {np.round(share, 2).tolist()}"


def calibrations(name):
    """Each host has a folder of caches of its own; the first one's calibration, of a time when the second host was slow,
    holds for both."""
    with network.Network(2) as net:
        for host in net.hosts:
            shutil.rmtree(suite.path(f"cache-{host.name}"), ignore_errors=True)
            host.set(XDG_CACHE_HOME=suite.path(f"cache-{host.name}"))
        for env in ({"TSL_TEST_SLOW": "1:30"}, {}):
            trial = Trial(net, name, 2, seconds=0, env=env)
            trial.done()
    found = [len(glob.glob(suite.path(f"cache-{host.name}/tesela/calibration*"))) for host in net.hosts]
    check(found == [1, 0], f"files of calibrations are {found}")


def no_compiler():
    """A recurrence is compiled on each host; one without a compiler says so or computes without, and equal."""
    with network.Network(2) as net:
        for host in net.hosts:
            shutil.rmtree(suite.path(f"cache-{host.name}"), ignore_errors=True)
            host.set(XDG_CACHE_HOME=suite.path(f"cache-{host.name}"))
        for program in ("cc", "gcc"):
            path = os.path.realpath(shutil.which(program))
            check(net.hosts[1].run("mount", "--bind", "/dev/null", path).returncode == 0, "no mount")
        trial = Trial(net, "recurrence", 2, seconds=0)
        status = trial.end()
    if status == 0:
        same("recurrence", trial.out)
        return "computes"
    check(status == 2 and "beta" in trial.text(), f"exit {status}: {trial.text()[-1500:]}")
    return "refused"


def other_folder(name, holds):
    """On one host the folder of the output is another: rank 0 writes, or the run is refused by name."""
    folder = suite.path("folder")
    os.makedirs(folder, exist_ok=True)
    with network.Network(2) as net:
        check(net.hosts[1].run("mount", "-t", "tmpfs", "none", folder).returncode == 0, "no mount")
        if holds:  # what a run with rank 0 there has left
            net.hosts[1].run("truncate", "-s", "9000000", os.path.join(folder, f"{name}.h5.part"))
        trial = Trial(net, name, 2, seconds=0, args=["-q"], folder=folder)
        if trial.end() == 0:
            trial.done()
            os.remove(trial.out)
            return "through rank 0"
        check(trial.process.returncode == 2, f"exit {trial.process.returncode}: {trial.text()[-1500:]}")
        check("host beta" in trial.text() and "a folder that all hosts share" in trial.text(), trial.text()[-1500:])
        check(not os.listdir(folder), f"left: {os.listdir(folder)}")
    check(name in ("condensed", "image"), "refused, though rank 0 writes it")
    return "refused"


def no_program():
    """mpirun says which host lacks the program; nothing is computed."""
    folder = suite.path("program")
    os.makedirs(folder, exist_ok=True)
    binary = os.path.join(folder, "tesela")
    shutil.copy(suite.binary, binary)
    with network.Network(2) as net:
        check(net.hosts[1].run("mount", "-t", "tmpfs", "none", folder).returncode == 0, "no mount")
        trial = Trial(net, "histogram", 2, binary=binary, seconds=0)
        status = trial.end()
        text = trial.text()
        check(status not in (0, None), "it has succeeded")
        check(re.search(r"(?s)beta.*program/tesela|program/tesela.*beta", text), f"does not say what is missing where: {text}")
        trial.gone()
        check(not trial.files(), "there is an output")
    return f"exit {status}"


def main():
    if network.why_not():
        print(f"skipped: {network.why_not()}")
        sys.exit(77)
    for name in ("condensed", "alignment"):
        suite.case(f"link without carrier for 5 s, {name}", link_back, name, network.Host.cable)
        suite.case(f"link that loses all for 5 s, {name}", link_back, name, network.Host.forwarded)
    suite.case("link dead for good, histogram", link_dead, "histogram", network.Host.forwarded, 1)
    suite.case("link of the first host dead, alignment", link_dead, "alignment", network.Host.forwarded, 0)
    suite.case("no carrier for good, condensed", link_dead, "condensed", network.Host.cable, 1)
    for name in ("condensed", "alignment", "water"):
        suite.case(f"5 ms late and 1 % lost, {name}", bad_line, name, 5, 1)
    for name, number in (("condensed", 2), ("alignment", 1), ("image", 0), ("water", 2)):
        suite.case(f"host {number} killed, {name}", host_killed, name, number)
    suite.case("a rank of another host killed, condensed", rank_killed, "condensed")
    for k, name in enumerate(("condensed", "threshold", "alignment", "image", "water")):
        hosts, others = ((3, 2), (2, 3), (3, 1), (2, 1), (3, 2))[k]
        suite.case(f"stopped on {hosts} hosts, continued on {others}, {name}", stopped, name, hosts, others)
    for name in ("histogram", "alignment", "water"):
        suite.case(f"other clocks, {name}", clocks, name, 100000)
    for name in ("histogram", "alignment", "water", "recurrence"):
        suite.case(f"other calibrations, {name}", calibrations, name)
    suite.case("a host without a compiler", no_compiler)
    for name in ("condensed", "histogram", "threshold", "alignment", "recurrence", "image", "water"):
        suite.case(f"no output folder on a host, {name}", other_folder, name, False)
    suite.case("a file of the output's name on a host's own disk", other_folder, "condensed", True)
    suite.case("a host without the program", no_program)
    suite.end()


main()
