#!/usr/bin/env python3
"""Runs of all families that something ends at a random moment, and that go on on another mix of ranks: what a user
finds then, counted.

usage: campaign.py TESELA [--cycles=N] [--seed=S] [--devices=WORDS] [--jobs=J] [--table=FILE] [--fault=NAME] [--fast]

A cycle: a random deck, mix of ranks, fault and moment; then restarts on other mixes until the run ends well; the
result is compared with that of a run that nothing disturbed. --devices=gpu,cpu gives the ranks these words (run.device)
where there are cards; without, all ranks are sockets of one thread. --jobs: cycles at a time (2).
Written down by fault: exit statuses, restarts that went on from a checkpoint, how old the newest checkpoint was when the
fault struck; and, which must all be 0, wrong results, unusable checkpoints, orphans, leftovers and files destroyed.
Exit status 1 when one of these is not 0, or a run hangs. A launcher that waits for itself (Open MPI 4.1.4 in
PMIx_server_finalize) after all its ranks have ended is ended, and counted apart. Disks that are full need root (tmpfs),
links that go down need namespaces (tests/hosts/network.py); else they are left out, and that is said.
"""
import collections
import concurrent.futures
import glob
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "accept"))
import harness  # noqa: E402
import network  # noqa: E402  (harness knows where it is)
from harness import Failed, check  # noqa: E402
from interrupted import DECKS, NEAR, checkpoints, compare_contents, contents, members, pace  # noqa: E402

OPTIONS = dict(word[2:].split("=", 1) for word in sys.argv if word.startswith("--") and "=" in word)
FAST = "--fast" in sys.argv
CYCLES = int(OPTIONS.get("cycles", 40 if FAST else 200))
SEED = int(OPTIONS.get("seed", 1))
DEVICES = OPTIONS.get("devices", "")
if {"gpu", "cpu"} <= set(DEVICES.split(",")):
    NEAR.add("same bits")  # promised of sockets alone and of cards alone, not of a mixture of both
SECONDS = 2.0  # that a run lasts, about
INTERVAL = 0.1  # of checkpoints, in the decks
HEARTBEAT = 3.0
LIMIT = 300  # s of a free machine until a run is taken for one that hangs
ALONE = 30  # the same of a launcher without ranks
suite = harness.Suite(__doc__)
say_lock = threading.Lock()


class Cycle:
    """One deck in a folder of its own, from its first start to its good end."""

    def __init__(self, number):
        self.number = number
        self.random = random.Random(f"{SEED}/{number}")
        self.name = self.random.choice(sorted(DECKS))
        faults = [f for f in FAULTS if "fault" not in OPTIONS or f == OPTIONS["fault"]]
        self.fault = self.random.choice(faults)
        self.folder = suite.path(f"cycle{number}")
        self.mark = f"{os.getpid()}-{SEED}-{number}"
        self.statuses, self.found = [], collections.Counter()
        self.age = None  # s of the newest checkpoint when the fault struck
        os.mkdir(self.folder)
        self.hosts = None  # of the first start; restarts are on this one
        if self.fault == DISK_FULL:
            self.mount(self.random.uniform(0.2, 1.5))
        if self.fault == LINK_DOWN:
            self.hosts = network.Network(2).__enter__()
            for host in self.hosts.hosts:
                host.impatient(5)  # mpirun waits for its daemon beyond the link until TCP gives up
        self.deck = os.path.join(self.folder, "deck.yaml")
        shutil.copy(suite.path(self.name + ".yaml"), self.deck)
        self.out = os.path.join(self.folder, "out.h5")
        self.truth = digest(self.deck)

    def ranks(self):
        return self.random.choice((2, 3) if self.hosts else (None, 2, 3))

    def environment(self, slow):
        env = {"TSL_TEST_KILLS": self.mark, "XDG_CACHE_HOME": suite.path("cache"), "TMPDIR": self.temporary()}
        return {**env, **(pace(10 * SECONDS if self.hosts else SECONDS, self.name) if slow else {})}

    def temporary(self):
        path = os.path.join(suite.sessions, f"c{self.number}")
        os.makedirs(path, exist_ok=True)
        return path

    def mount(self, part, again=False):
        """The folder is a disk with room for this part of what an undisturbed run leaves."""
        size = int(part * os.path.getsize(suite.path(f"{self.name}_truth.h5"))) + 65536
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"{'remount,' if again else ''}size={size}", "tmpfs", self.folder],
                       check=True)

    def start(self, ranks, slow=True, more=()):
        args = ["run", self.deck, "-o", self.out, "-s", f"run.heartbeat={HEARTBEAT}", *more]
        if DEVICES:
            words = self.random.choices(DEVICES.split(","), k=ranks or 1)
            args += ["-s", f"run.device={','.join(words)}", "-s", "run.allow_shared_gpu=yes"]
        if checkpoints(self.out):
            args += ["--restart", self.out]
        elif glob.glob(self.out + "*"):
            args += ["--overwrite"]
        return suite.start(args, ranks, env=self.environment(slow), cwd=self.folder, hosts=self.hosts)

    def end(self, process):
        """Wait for the end."""
        run = suite.finish(process, time.time(), LIMIT)
        self.statuses.append(run.status)
        return run.out, run.err

    def orphans(self, session):
        """Processes of this cycle that are still there after a while. One that ends loses its environment before its
        files, and with them the lock of its output, are closed."""
        patience = harness.Patience(10)
        while left := {*marked(self.mark), *(pid for pid, _ in members(session))}:
            if patience.over():
                break
            time.sleep(0.1)
        for pid in left:
            send(pid, signal.SIGKILL)
        return left

    def run(self):
        process = self.start(self.ranks())
        watch = Listener(process)
        self.wait(process, watch)
        struck = time.time()
        newest = max((os.path.getmtime(p) for p in checkpoints(self.out)), default=None)
        computing = watch.computing()
        if process.poll() is None:
            FAULTS[self.fault](self, process)
            if computing and newest and self.fault != DISK_FULL:
                self.age = struck - newest
        _, err = watch.end(self)
        if self.hosts:
            self.switch_off()
        self.found["orphans"] += len(self.orphans(process.pid))
        self.after(err)
        self.go_on()

    def wait(self, process, watch):
        """Any moment: from the start, from when it computes, or while a checkpoint is being written. What the heartbeat
        has to find comes once there is one: before, ranks are in MPI_Init, say."""
        kind = self.random.choices(("any", "computing", "writing"), (1, 3, 1))[0]
        if self.fault in (LINK_DOWN, STOPPED):
            kind = "computing"
        end = time.time() + self.random.uniform(0, SECONDS)
        if kind != "any":
            while process.poll() is None and not (watch.computing() and (not self.hosts or checkpoints(self.out))):
                time.sleep(0.005)
            end = time.time() + self.random.uniform(0, SECONDS) + (HEARTBEAT if self.hosts else 0)  # all are heard by then
        if kind == "writing":
            while process.poll() is None and not glob.glob(self.out + ".ckpt.?.tmp"):
                time.sleep(0.001)
            end = time.time()
        while process.poll() is None and time.time() < end:
            time.sleep(0.002)

    def switch_off(self):
        """Both sides of the dead link have ended by themselves; the daemon of mpirun beyond it waits still."""
        check(self.statuses[0] in (0, 3), f"exit {self.statuses[0]}")  # 0: it had computed all by then
        patience = harness.Patience(LIMIT)
        while left := self.hosts.hosts[1].processes("tesela"):
            check(not patience.over(), f"ranks beyond the link do not end: {left}")
            time.sleep(0.1)
        self.hosts.__exit__()
        self.hosts = None

    def after(self, err):
        """What a fault does to files once the run is over; and are they whole?"""
        if self.fault == "bits flipped":
            for path in self.random.sample(checkpoints(self.out), min(1, len(checkpoints(self.out)))):
                flip(path, self.random)
        if self.fault == DISK_FULL:
            self.mount(100, again=True)
        check("Traceback" not in err, err[-500:])

    def go_on(self):
        """Restart on another mix until it has ended well; then compare."""
        for _ in range(4):
            if os.path.exists(self.out):
                break
            before = checkpoints(self.out)
            process = self.start(self.ranks(), slow=False)
            out, err = self.end(process)
            if before and process.returncode == 2:
                self.refused(before, err)
                continue
            if process.returncode == 0 and before:
                self.found["restarts"] += "goes on from a checkpoint" in out
            check(process.returncode == 0, f"restart ends with {process.returncode}: {said(err)}")
        self.compare()
        self.leftovers()

    def refused(self, before, err):
        """A checkpoint that cannot be used: only if this cycle has damaged it."""
        if self.fault != "bits flipped" or len(before) > 1:
            self.found["unusable checkpoints"] += 1
            self.say(f"a checkpoint is refused: {said(err)}")
        for path in before:
            os.remove(path)

    def compare(self):
        try:
            compare_contents(self.name, contents(self.out), TRUTH[self.name])
        except Failed as why:
            self.found["wrong results"] += 1
            self.say(why)

    def leftovers(self):
        left = [p for p in os.listdir(self.folder) if p not in ("deck.yaml", "out.h5")]
        left += [p for p in os.listdir(self.temporary()) if "tesela" in p]  # Open MPI's own it keeps after kill -9
        if left:
            self.found["leftovers"] += len(left)
            self.say(f"left behind: {left}")
        self.found["files destroyed"] += digest(self.deck) != self.truth

    def say(self, text):
        with say_lock:
            print(f"cycle {self.number}, {self.name}, {self.fault}: {text}", flush=True)

    def close(self):
        if self.fault == DISK_FULL:
            subprocess.run(["umount", self.folder], check=False)
        if self.hosts:
            self.hosts.__exit__()
        shutil.rmtree(self.temporary(), ignore_errors=True)


def said(err):
    """What the program itself has to say, without the launcher's words."""
    return " ".join(line for line in err.splitlines() if line.startswith("tesela:"))[-600:] or err[-300:]


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def flip(path, rng):
    """A few bits of a file, anywhere."""
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        file.seek(0)
        file.write(data)


def marked(mark):
    """Processes that carry the mark of a cycle in their environment."""
    found, word = [], f"TSL_TEST_KILLS={mark}\0".encode()
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                text = file.read() + b"\0"
            with open(path.replace("environ", "stat"), encoding="utf-8", errors="replace") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if word in text and state != "Z":
            found.append(int(path.split("/")[2]))
    return found


def kill_members(process):
    for pid, _ in members(process.pid):
        send(pid, signal.SIGKILL)


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Listener:
    """What a run prints, read beside it."""

    def __init__(self, process):
        self.process, self.out, self.err = process, "", ""
        self.threads = [threading.Thread(target=self.read, args=(name,), daemon=True) for name in ("out", "err")]
        for thread in self.threads:
            thread.start()

    def read(self, name):
        stream = getattr(self.process, "std" + name)
        for line in stream:
            setattr(self, name, getattr(self, name) + line)

    def computing(self):
        return "of computing; output" in self.out

    def end(self, cycle):
        """Until the process has ended."""
        patience, alone = harness.Patience(LIMIT), harness.Patience(ALONE)
        while self.process.poll() is None:
            if rank_processes(self.process):
                alone = harness.Patience(ALONE)
            elif alone.over():
                alone = harness.Patience(ALONE)
                where = harness.stacks(self.process.pid)
                if "PMIx_server_finalize" in where:  # anywhere else it is taken for a hang of the run
                    cycle.say(f"the launcher hangs without ranks: {where}")
                    cycle.found["launchers"] += 1
                    kill_members(self.process)
            if patience.over():
                where = harness.stacks(self.process.pid)
                kill_members(self.process)
                raise Failed(f"hangs after the fault: {where}")
            time.sleep(0.02)
        for thread in self.threads:
            thread.join(10)
        cycle.statuses.append(self.process.returncode)
        return self.out, self.err


# ---------------------------------------------------------------- faults


def rank_processes(process):
    """The processes of tesela, not of its launcher; those that compute, not their helpers."""
    name = os.path.basename(suite.binary)[:15]
    return sorted(pid for pid, title in members(process.pid) if title == name)


def one_rank(cycle, process, number):
    ranks = rank_processes(process)
    if ranks:
        send(cycle.random.choice(ranks), number)


def kill_rank(cycle, process):
    one_rank(cycle, process, signal.SIGKILL)


def kill_launcher(cycle, process):
    send(process.pid, signal.SIGKILL)


def stop_rank(cycle, process):
    """SIGSTOP: with others alive the heartbeat finds it; alone, somebody has to end it."""
    ranks = rank_processes(process)
    if not ranks:
        return
    victim = cycle.random.choice(ranks)
    send(victim, signal.SIGSTOP)
    if process.args[0] == suite.binary:  # one rank: nobody is there to notice
        time.sleep(0.3)
        send(victim, signal.SIGCONT)


def terminate_rank(cycle, process):
    one_rank(cycle, process, signal.SIGTERM)


def terminate_launcher(cycle, process):
    send(process.pid, signal.SIGTERM)


def user_signal(cycle, process):
    one_rank(cycle, process, signal.SIGUSR1)


def all_killed(cycle, process):
    kill_members(process)


def link_down(cycle, process):
    """For ever."""
    cycle.hosts.hosts[1].forwarded(False)


def runs_on(cycle, process):
    """The disk is full without more ado."""


DISK_FULL, LINK_DOWN, STOPPED = "disk full", "link down", "SIGSTOP of a rank"
FAULTS = {"kill -9 of a rank": kill_rank, "kill -9 of the launcher": kill_launcher, "kill -9 of all": all_killed,
          STOPPED: stop_rank, "SIGTERM to a rank": terminate_rank, "SIGTERM to the launcher": terminate_launcher,
          "SIGUSR1 to a rank": user_signal, "bits flipped": all_killed}
if os.getuid() == 0:
    FAULTS[DISK_FULL] = runs_on
if not network.why_not():
    FAULTS[LINK_DOWN] = link_down


# ------------------------------------------------------------ the campaign

ZERO = ("wrong results", "unusable checkpoints", "orphans", "leftovers", "files destroyed", "hangs and failures")
TRUTH = {}


def undisturbed(name):
    suite.deck(name + ".yaml", DECKS[name])
    run = suite.run(["run", name + ".yaml", "-o", f"{name}_truth.h5"], timeout=LIMIT)
    check(run.status == 0, run.tail())
    TRUTH[name] = contents(suite.path(f"{name}_truth.h5"))


def one(number):
    cycle = Cycle(number)
    try:
        cycle.run()
    except Failed as why:
        cycle.found["hangs and failures"] += 1
        cycle.say(why)
    finally:
        for pid in marked(cycle.mark):
            send(pid, signal.SIGKILL)
        cycle.close()
    if not sum(cycle.found[key] for key in ZERO):
        shutil.rmtree(cycle.folder, ignore_errors=True)
    return cycle


def table(cycles):
    """Markdown, a row for each fault."""
    lines = ["| Fault | Cycles | Exit statuses | Restarts from a checkpoint | Age of the checkpoint, s: median, most | "
             "launchers that hang | " + " | ".join(ZERO) + " |", "|---|" + "---|" * (5 + len(ZERO))]
    for fault in [*FAULTS, "all"]:
        some = [c for c in cycles if fault in (c.fault, "all")]
        if not some:
            continue
        found = sum((c.found for c in some), collections.Counter())
        ages = sorted(c.age for c in some if c.age is not None)
        age = f"{ages[len(ages) // 2]:.2f}, {ages[-1]:.2f}" if ages else ""
        counts = collections.Counter(c.statuses[0] for c in some if c.statuses)
        statuses = ", ".join(f"{status}: {n}" for status, n in sorted(counts.items()))
        lines.append(f"| {fault} | {len(some)} | {statuses} | {found['restarts']} | {age} | {found['launchers']} | "
                     + " | ".join(str(found[key]) for key in ZERO) + " |")
    return "\n".join(lines) + "\n"


def main():
    began = time.time()
    if LINK_DOWN not in FAULTS:
        print(f"no links that go down: {network.why_not()}")
    if FAST:
        for name in [n for n in DECKS if DECKS[n]["family"] == "xc" and n != "water"]:
            del DECKS[name]
    for name in list(DECKS):
        if DECKS[name]["family"] == "xc" and suite.run(["help", "xc"]).status != 0:
            del DECKS[name]
    with concurrent.futures.ThreadPoolExecutor(int(OPTIONS.get("jobs", 2))) as pool:
        list(pool.map(undisturbed, DECKS))
        cycles = []
        for cycle in pool.map(one, range(CYCLES)):
            cycles.append(cycle)
            if len(cycles) % 50 == 0:
                print(f"{len(cycles)} cycles, {time.time() - began:.0f} s", flush=True)
    text = table(cycles)
    print(text)
    if "table" in OPTIONS:
        with open(OPTIONS["table"], "w", encoding="utf-8") as file:
            file.write(text)
    found = sum((c.found for c in cycles), collections.Counter())
    bad = sum(found[key] for key in ZERO)
    print(f"seed {SEED}, {time.time() - began:.0f} s\n{CYCLES - min(bad, CYCLES)} passed, {bad} failed")
    sys.exit(bool(bad))


main()
