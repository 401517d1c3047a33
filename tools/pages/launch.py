"""Starting the runs of an experiment: mpirun on this machine, or jobs of Slurm."""
import os
import shlex
import shutil
import signal
import subprocess
import time

from .gate import Gate

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class LaunchError(Exception):
    """Nothing can be started, and why."""


def program_of(named):
    """The program to start, with its whole path: as named, else of this tree's builds or of the PATH."""
    if named:
        found = shutil.which(named)
    else:
        built = [os.path.join(ROOT, "build", preset, "bin", "tesela") for preset in ("cuda", "portable", "cpu")]
        found = next((path for path in built if os.access(path, os.X_OK)), None) or shutil.which("tesela")
    if not found:
        raise LaunchError(f"no program: {named or 'tesela'} is not there; say where with --program")
    return os.path.abspath(found)


def cores():
    """Physical cores that this process may use, as Open MPI counts its slots."""
    allowed = os.sched_getaffinity(0)
    pairs = set()
    for cpu in allowed:
        try:
            base = f"/sys/devices/system/cpu/cpu{cpu}/topology"
            with open(f"{base}/core_id", encoding="ascii") as core, \
                    open(f"{base}/physical_package_id", encoding="ascii") as package:
                pairs.add((core.read().strip(), package.read().strip()))
        except OSError:
            pairs.add(("cpu", str(cpu)))
    return len(pairs)


def is_open_mpi():
    out = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    return "Open MPI" in out or "OpenRTE" in out


class Local:
    """One run after the other by mpirun, or by a command of the user's in which {ranks} stands."""

    waits = True

    def __init__(self, template=None, timeout=3600):
        self.timeout = timeout
        self.template = shlex.split(template) if template else None
        if self.template is None and shutil.which("mpirun") is None:
            raise LaunchError("mpirun not found: install Open MPI, or say how to start ranks: "
                              "--launch 'srun -n {ranks}'")
        self.open_mpi = self.template is None and is_open_mpi()

    def words(self, ranks):
        if self.template is not None:
            return [word.replace("{ranks}", str(ranks)) for word in self.template]
        words = ["mpirun", "-n", str(ranks)]
        if self.open_mpi:
            words += ["--bind-to", "none"]
            words += ["--oversubscribe"] if ranks > cores() else []
            words += ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return words

    def start(self, run):
        """Start and wait; returns (exit status, seconds); the run's output goes to its log."""
        began = time.time()
        with open(run.path("log"), "wb") as log:
            process = subprocess.Popen(self.words(run.ranks) + run.command(), stdout=log, cwd=run.work,
                                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                status = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                end(process)
                log.write(f"\nended after {self.timeout:g} s: --timeout\n".encode())
                status = 124
            except BaseException:  # an interrupted experiment leaves no ranks behind
                end(process)
                raise
        run.ended(status, time.time() - began)

    def at_once(self, runs):
        """Start them together, and wait for all or until one fails: (that one, its status) or None."""
        with Gate() as gate:
            started, deadline = [], time.time() + self.timeout
            try:
                for number, run in enumerate(runs):
                    started.append(self.behind(gate, number, run))
                if wait(started, deadline, lambda: gate.waiting() == len(runs)):
                    gate.open()
                    wait(started, deadline, lambda: False)
                status = [process.poll() for process in started]
            finally:
                for process in started:
                    end(process)
        failed = [(run, code) for run, code in zip(runs, status) if code not in (0, None)]
        late = [(run, f"ended after {self.timeout:g} s: --timeout") for run, code in zip(runs, status) if code is None]
        return (failed + late + [None])[0]

    def behind(self, gate, number, run):
        """A run of one rank that waits at a gate. Open MPI 4 removes its folder of sessions at the end of one
        program while another makes it: each has one of its own."""
        with open(run.path("log"), "wb") as log:
            return subprocess.Popen(self.words(1) + gate.words(number) + run.command(), stdout=log, cwd=run.work,
                                    env=os.environ | {"TMPDIR": gate.place(number)}, stderr=subprocess.STDOUT,
                                    stdin=subprocess.DEVNULL, start_new_session=True)

    def collect(self, run):
        """Nothing is under way: a local run has ended when start returns."""
        return True


def wait(processes, deadline, until):
    """Until that holds, all have ended, one has failed, or it is too late; True when it holds."""
    while not until():
        status = [process.poll() for process in processes]
        if None not in status or any(status) or time.time() > deadline:
            return False
        time.sleep(0.02)
    return True


def end(process):
    """The process group, gently and then for certain."""
    for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


JOB = """#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --dependency=singleton
#SBATCH --ntasks={ranks}
#SBATCH --output={log}
{options}
cd {work} || exit 2
begin=$(date +%s.%N)
srun {srun} {command}
status=$?
printf '%s %s\\n' "$status" "$(echo "$(date +%s.%N) $begin" | awk '{{ print $1 - $2 }}')" > {status}.part
mv {status}.part {status}
exit $status
"""


class Slurm:
    """A job for each run; what has ended leaves a file with its status.

    Jobs of one name run one after the other: the repeats of a point, or all of the experiment.
    """

    def __init__(self, options, srun, wait=True, single=False, poll=5.0):
        self.options, self.srun, self.waits, self.poll = shlex.split(options), srun, wait, poll
        self.single = single
        if shutil.which("sbatch") is None:
            raise LaunchError("sbatch not found: --slurm needs a login node of a Slurm cluster")

    def script(self, run):
        options = "\n".join(f"#SBATCH {word}" for word in self.options)
        whose = os.path.basename(run.owner.folder) + ("" if self.single else "-" + run.name.rsplit("-", 1)[0])
        return JOB.format(name=f"tesela-{whose}", ranks=run.ranks, log=shlex.quote(run.path("log")), options=options,
                          work=shlex.quote(run.work), srun=self.srun, command=shlex.join(run.command()),
                          status=shlex.quote(run.path("status")))

    def start(self, run):
        """Submit, unless it is under way already."""
        if os.path.exists(run.path("job")):
            return
        with open(run.path("sbatch"), "w", encoding="utf-8") as file:
            file.write(self.script(run))
        done = subprocess.run(["sbatch", "--parsable", run.path("sbatch")], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            with open(run.path("log"), "w", encoding="utf-8") as log:
                log.write(f"sbatch: {done.stderr.strip() or done.stdout.strip()}\n")
            run.ended(done.returncode, 0.0)
            return
        with open(run.path("job"), "w", encoding="utf-8") as file:
            file.write(done.stdout.strip().split(";")[0] + "\n")

    def collect(self, run):
        """True when the run has ended, whichever way."""
        if run.known():
            return True
        known = self.queued(run)  # asked first: a job that ends between the two questions has its status
        if os.path.exists(run.path("status")):
            with open(run.path("status"), encoding="ascii") as file:
                status, seconds = file.read().split()
            run.ended(int(status), float(seconds))
        elif not known:
            with open(run.path("log"), "a", encoding="utf-8") as log:
                log.write("the job ended without a status: cancelled, out of time, or its node was lost\n")
            run.ended(1, 0.0)
        else:
            return False
        for kind in ("job", "status"):
            if os.path.exists(run.path(kind)):
                os.remove(run.path(kind))
        return True

    def queued(self, run):
        """Does Slurm still hold the job as pending or running?"""
        if not os.path.exists(run.path("job")):
            return False
        with open(run.path("job"), encoding="ascii") as file:
            job = file.read().strip()
        done = subprocess.run(["squeue", "-h", "-j", job, "-o", "%T"], capture_output=True, text=True, check=False)
        if done.returncode != 0 and "nvalid job" not in done.stderr:
            return True  # the controller does not answer: ask again later
        return any(state in done.stdout for state in ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED",
                                                       "REQUEUE", "STAGE_OUT"))


def run_all(launcher, runs, say):
    """Start what is missing and wait for it. Returns the runs that are still under way."""
    missing = [run for run in runs if not run.known()]
    if runs and not missing:
        return []
    for count, run in enumerate(missing, 1):
        say(f"[{count}/{len(missing)}] {run.name}: {run.title()}" + (f", {' '.join(run.sets)}" if run.sets else ""))
        run.start(launcher)
        if run.known():
            say("    " + run.short())
    while True:
        missing = [run for run in missing if not launcher.collect(run)]
        if not missing or not launcher.waits:
            return missing
        time.sleep(launcher.poll)
