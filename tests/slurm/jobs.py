#!/usr/bin/env python3
"""Every file of jobs/ submitted to a real Slurm of two virtual nodes, with small decks.

usage: jobs.py TESELA [ONLY]

Also: allocations that a run does not use, and that the cluster of the tests leaves nothing behind.
Exit status 77: Slurm's programs are missing.
"""
import glob
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "accept"))
import cluster as slurm  # noqa: E402
import harness  # noqa: E402
from harness import check, check_units, h5py, np  # noqa: E402

ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))
N = 3000  # points of the decks
PATIENT = "-s run.heartbeat=600"  # ranks share two cores with others: a minute without a sign is no loss
SMALL = f"-s tri.generator.n={N} {PATIENT}"
LIMIT = 180  # s of a free machine: a job of which nothing has moved for so long hangs
# Where both nodes are this host, shared memory would mix them up.
APART = not slurm.Cluster.why_one_host()
MPI = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader,tcp" if APART else "self,tcp",
       "OMPI_MCA_btl_tcp_if_include": "eth0" if APART else "lo",
       "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def own_words(log):
    """Without what Open MPI says of every end."""
    theirs = r"-+|NOTE: invoking MPI_ABORT|You may or may not see|exactly when Open MPI|with errorcode|MPI_ABORT was|$"
    return "\n".join(line for line in log.splitlines() if not re.match(theirs, line))


class Job:
    """A job that was submitted."""

    def __init__(self, box, number, log):
        self.box, self.number, self.log_path = box, number, log
        self.left = []  # processes of tesela when it was waited for in vain

    def show(self):
        """The fields that scontrol shows, of the first task or part if there are more."""
        text = self.box.call("scontrol", "-o", "show", "job", self.number).stdout
        return dict(re.findall(r"(\w+)=(\S*)", text.splitlines()[0] if text else ""))

    def states(self):
        text = self.box.call("scontrol", "-o", "show", "job", self.number).stdout
        return re.findall(r"\bJobState=(\w+)", text)

    def log(self):
        try:
            with open(self.log_path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def look(self):
        """What can move: its state, its messages, its processes and files."""
        files = glob.glob(glob.escape(self.box.suite.folder) + "/**/*.h5*", recursive=True)
        return (self.states(), self.show().get("Restarts"), len(self.log()), self.box.cluster.running("tesela"),
                sorted((path, os.stat(path).st_mtime) for path in files if os.path.exists(path)))

    def until(self, done, complaint, limit=LIMIT):
        """Wait for done(), but not for a job in which nothing has moved for so many seconds."""
        last, patience, looked = None, harness.Patience(limit), 0.0
        while not done():
            if time.time() > looked + 1:
                now, looked = self.look(), time.time()
                patience, last = (harness.Patience(limit), now) if now != last else (patience, last)
            if patience.over():
                self.left = self.box.cluster.running("tesela")
                check(False, f"{complaint}: {self.states()}, {limit} s without a change: {self.log()[-1500:]}\n"
                      f"{self.box.cluster.logs()[-6000:]}")
            time.sleep(0.2)

    def has_ended(self):
        states = self.states()
        return bool(states) and not any(s in ("PENDING", "RUNNING", "COMPLETING", "REQUEUED", "CONFIGURING") for s in states)

    def wait(self, limit=LIMIT):
        """Until it has ended; returns the exit status of the script."""
        try:
            self.until(self.has_ended, f"job {self.number} does not end", limit)
        except harness.Failed:
            self.box.call("scancel", self.number)
            raise
        return int(self.show()["ExitCode"].split(":")[0])

    def done(self):
        """Wait, and it must have succeeded; returns the log."""
        status = self.wait()
        check(status == 0 and set(self.states()) == {"COMPLETED"},
              f"job {self.number} {self.states()} exit {status}: {own_words(self.log())[-2500:]}")
        return self.log()


class Box:
    """The cluster and a folder to submit from."""

    def __init__(self, suite, cluster):
        self.suite, self.cluster, self.count = suite, cluster, 0
        self.call = cluster.call
        os.symlink(os.path.join(ROOT, "inputs"), suite.path("inputs"))

    def submit(self, script, *args, **variables):
        """Submit a file of jobs/, or a text; variables go to its environment."""
        self.count += 1
        log = self.suite.path(f"job-{self.count}.log")
        path = os.path.join(ROOT, "jobs", script)
        if "\n" in script:
            path = self.suite.write(f"job-{self.count}.sbatch", script)
        env = {**MPI, "XDG_CACHE_HOME": self.suite.path("cache"), "PROGRAM": self.suite.binary, **variables}
        if "--array" not in " ".join(args) and script != "array.sbatch":
            args = (f"--output={log}", *args)
        run = self.call("sbatch", "--parsable", *args, path, env=env, cwd=self.suite.folder)
        check(run.returncode == 0, f"sbatch {script}: {run.stderr}")
        return Job(self, run.stdout.strip(), log)

    def output(self, name, ranks, nodes=1):
        """A result that must be valid, of so many ranks on so many nodes; open."""
        file = h5py.File(self.suite.path(name), "r")
        check(file["run"].attrs["verdict"] == "VALID", f"{name}: the verdict is not VALID")
        check_units(file, ranks)
        check(len(set(file["run/machine"]["node"])) == nodes, f"{name}: not on {nodes} nodes")
        return file


suite = harness.Suite(__doc__)


def truth():
    """Counts of the deck, by a run without Slurm."""
    path = suite.path("truth.h5")
    if not os.path.exists(path):
        run = suite.run(["run", os.path.join(ROOT, "inputs/tri/rdf.yaml"), "-o", path, "-q", *SMALL.split()])
        check(run.status == 0, run.tail())
    with h5py.File(path, "r") as file:
        counts = file["results/counts"][()]
    check(0 < counts.sum() <= N * (N - 1) // 2, "the truth counts no pairs")
    return counts


def same(file):
    check(np.array_equal(file["results/counts"][()], truth()), "the counts differ from a run without Slurm")


def table_rows(log, ranks):
    """The table of ranks in a log names each of them."""
    for rank in range(ranks):
        check(re.search(rf"(?m)^  {rank} +\d+ +\S+ +(cpu|gpu)\d+ ", log), f"no row of rank {rank} in:\n{log[-2000:]}")


# ------------------------------------------------------------------- jobs/


def cpu(box):
    log = box.submit("cpu.sbatch", OUTPUT="cpu.h5", OPTIONS=SMALL).done()
    table_rows(log, 2)
    check("verdict   VALID" in log, "tesela show is missing in the log")
    same(box.output("cpu.h5", 2))


def over_nodes(box, script, *args):
    """Submit a job over both nodes; its log and its output's name.

    What two things outside tesela can spoil is tried again, both seen on busy machines: Open MPI 4
    over TCP crashes in MPI_Init when a peer that is through with it sends to a rank that has not
    registered its receive functions yet (a call of address 0 below mca_btl_tcp), and an srun over two
    parts may wait on when all its tasks have ended."""
    for attempt in range(4):
        output = f"{script[:-7]}-{attempt}.h5"
        job = box.submit(script, *args, OUTPUT=output, OPTIONS=SMALL)
        try:
            job.wait(60)
        except harness.Failed as why:
            check("VALID" in job.log() and not job.left, why)
            continue
        if "tesela" in job.log() or "Failing at address: (nil)" not in job.log():
            break
    return job.done(), output


def found_by_itself(box):
    """The program of the PATH is taken where none is named; names and options with blanks stay whole."""
    folder = suite.path("installed")
    os.makedirs(folder)
    os.symlink(suite.binary, os.path.join(folder, "tesela"))
    deck = suite.write("a deck.yaml", open(os.path.join(ROOT, "inputs/tri/rdf.yaml"), "rb").read())
    box.submit("cpu.sbatch", DECK=deck, OUTPUT="with blanks.h5", OPTIONS=f"{SMALL} -s 'title=two words'", PROGRAM="",
               PATH=f"{folder}:{os.environ['PATH']}").done()
    file = box.output("with blanks.h5", 2)
    check(file["run"].attrs["title"] == "two words", f"the title is {file['run'].attrs['title']}")
    same(file)


def module_missing(box):
    """A module that cannot be loaded ends the job before anything runs."""
    job = box.submit("cpu.sbatch", OUTPUT="module.h5", OPTIONS=SMALL, MODULES="no-such-module")
    check(job.wait() != 0 and not os.path.exists(suite.path("module.h5")), job.log())


def preemptible_on_cards(box):
    """The same script where a job has cards; none is here, so that auto gives sockets."""
    cards = ["--gpus-per-node=2", "--ntasks-per-node=3", "--cpus-per-task=8", "--exclusive"]
    log = box.submit("preemptible.sbatch", *cards, DEVICE="auto", OUTPUT="cards.h5", OPTIONS=SMALL).done()
    table_rows(log, 3)
    same(box.output("cards.h5", 3))
    job = box.submit("preemptible.sbatch", *cards, OUTPUT="no-cards.h5", OPTIONS=SMALL, CUDA_VISIBLE_DEVICES="")
    check(job.wait() == 2 and "a GPU is asked for" in job.log(), f"not refused: {job.log()}")


def nodes(box):
    log, output = over_nodes(box, "nodes.sbatch", "--nodes=2")
    table_rows(log, 4)
    same(box.output(output, 4, 2))


def gpu_on_sockets(box):
    """No card here: auto gives every rank a socket."""
    log = box.submit("gpu.sbatch", "--gpus-per-node=2", "--ntasks-per-node=3", OUTPUT="gpu.h5", DEVICE="auto",
                     OPTIONS=SMALL).done()
    table_rows(log, 3)
    same(box.output("gpu.h5", 3))


def gpu_refused(box):
    """The script asks for the cards by name, so that a card that is not there is an error."""
    job = box.submit("gpu.sbatch", "--gpus-per-node=2", "--ntasks-per-node=3", OUTPUT="no.h5", OPTIONS=SMALL,
                     CUDA_VISIBLE_DEVICES="")
    check(job.wait() == 2, f"not refused: {job.log()}")
    check("a GPU is asked for, but local rank 0 sees none" in job.log(), job.log())
    check(not os.path.exists(suite.path("no.h5")), "an output was written")


def mixed(box):
    log, output = over_nodes(box, "mixed.sbatch")
    table_rows(log, 9)
    check("heterogeneous job of" not in log, f"srun over all parts is warned about: {log}")
    file = box.output(output, 9, 2)
    check(sorted(file["run/machine"]["node"].tolist()) == [0] * 6 + [1] * 3, "not 6 and 3 ranks")
    same(file)


def array(box):
    decks = []
    for n in (100, 200, 300):
        decks.append(suite.deck(f"array {n}.yaml", {"family": "tri", "tri": {
            "function": "euclidean", "output": "condensed", "generator": {"kind": "uniform", "n": n, "seed": 1}}}))
    job = box.submit("array.sbatch", "--array=0-3", "--output=array-%a.log", DECKS="\n".join(decks), FOLDER="array")
    job.wait()
    for task, n in enumerate((100, 200, 300)):
        file = box.output(f"array/{task}-array {n}.h5", 1)
        check(file["results"].attrs["pairs"] == n * (n - 1) // 2, f"deck {task} is another")
    with open(suite.path("array-3.log"), encoding="utf-8") as file:
        check("task 3 of 3 decks; use --array=0-2" in file.read(), "no word about a task without a deck")
    check(sorted(job.states()) == ["COMPLETED"] * 3 + ["FAILED"], f"tasks are {job.states()}")


def rows(name):
    with open(suite.path(name), encoding="utf-8") as file:
        return [line.split(",") for line in file.read().split()[1:]]


def strong(box):
    log = box.submit("strong.sbatch", "--nodes=2", "--ntasks-per-node=1", FOLDER="strong", REPEATS="2",
                     OPTIONS=f"-s run.device=cpu {SMALL}").done()
    table = rows("strong/strong.csv")
    check([row[:2] for row in table] == [["1", "1"], ["2", "1"], ["1", "2"], ["2", "2"]], f"table: {table}")
    check(all(float(row[2]) > 0 and 0 <= float(row[3]) <= 1 for row in table), f"table: {table}")
    for ranks in (1, 2):
        file = box.output(f"strong/{ranks}-1.h5", ranks, ranks)
        check(set(file["run/machine"]["threads"]) == {1}, "not one thread for each rank")
        same(file)
    best = [min(float(row[2]) for row in table if row[0] == n) for n in "12"]
    line = f"{2:6d} {best[1]:12.4f} {best[0] / best[1]:9.2f}"
    check(line in log, f"no line '{line}' in {log[-600:]}")


def weak(box):
    log = box.submit("weak.sbatch", "--ntasks-per-node=4", FOLDER="weak", REPEATS="1", BASE="1000").done()
    table = rows("weak/weak.csv")
    check([row[0] for row in table] == ["1", "2", "4"], f"table: {table}")
    for ranks, n in ((1, 1000), (2, 1414), (4, 2000)):
        file = box.output(f"weak/{ranks}-1.h5", ranks)
        check(file["results"].attrs["points"] == n, f"{ranks} ranks did not get {n} points")
    check("efficiency" in log and re.search(r"(?m)^ +4 +2000 ", log), log[-600:])


# ------------------------------------------------------- stop and go on


SLOW_FIRST = """#!/bin/sh
# Until the run has been stopped once, units last $SECONDS_EACH at least: it cannot end before that.
case " $* " in
  *" --restart "*) ;;
  *) export TSL_TEST_SLOW="+$SECONDS_EACH" XDG_CACHE_HOME="$XDG_CACHE_HOME/slow" ;;
esac
exec "$TESELA" "$@"
"""


def slow_first(each):
    """Variables of a job whose program is tesela, slow until the first stop."""
    path = suite.path("slow_first")
    if not os.path.exists(path):
        os.chmod(suite.write("slow_first", SLOW_FIRST), 0o755)
    return {"PROGRAM": path, "TESELA": suite.binary, "SECONDS_EACH": str(each)}


def preempt(box, job):
    """A job of a partition with precedence takes all nodes for a moment, whenever Slurm's scheduler
    comes by."""
    box.submit("#!/bin/bash\nsleep 1\n", "--partition=high", "--nodes=2", "--exclusive")


def user_signal(box, job):
    """What --signal=B:USR1@T sends: SIGUSR1 to the script."""
    box.call("scancel", "--batch", "--signal=USR1", job.number)


def same_arrays(one, other):
    check(set(one) == set(other) and len(one) > 0, f"results: {list(one)}, {list(other)}")
    for key in one:
        check(np.array_equal(one[key][()], other[key][()]), f"{key} differs from an undisturbed run")


def same_energies(one, other):
    """Orbitals of one energy may be any mix of each other, energies not. The total is stationary; its
    terms follow the density, whose commutator is what converged."""
    names = [name for name in one.attrs if name.endswith(" energy")]
    check("total energy" in names, f"results: {list(one.attrs)}")
    for name in names:
        near = 1e-6 if name == "total energy" else 1e-4
        check(abs(one.attrs[name] - other.attrs[name]) < near, f"{name}: {one.attrs[name]}, {other.attrs[name]}")


def as_undisturbed(name, path, options, compare=same_arrays):
    """Is NAME.h5 what a run of two ranks without Slurm gives?"""
    apart = suite.path(f"{name}-whole")  # the job's pictures are not replaced
    os.mkdir(apart)
    whole = os.path.join(apart, "whole.h5")
    run = suite.run(["run", os.path.join(ROOT, path), "-o", whole, "-q", *options], 2, cwd=apart)
    check(run.status == 0, run.tail())
    with h5py.File(suite.path(f"{name}.h5"), "r") as one, h5py.File(whole, "r") as other:
        check(one["run"].attrs["verdict"] == "VALID", "the verdict is not VALID")
        compare(one["results"], other["results"])


def round_trip(box, deck, options, disturb, each, compare=same_arrays):
    """Submit, stop, requeue, restart, finish; the same result as a run that nothing disturbs. Before
    the stop a unit lasts `each` seconds at least."""
    name = deck.replace("/", "-")[:-5]
    path = os.path.join("inputs", deck)
    job = box.submit("preemptible.sbatch", "--partition=low", "--cpus-per-task=1", DECK=path, OUTPUT=f"{name}.h5",
                     OPTIONS=" ".join(options), **slow_first(each))
    output = suite.path(f"{name}.h5")
    job.until(lambda: "of computing" in job.log(), "does not start")
    time.sleep(2 * each)
    disturb(box, job)
    job.until(lambda: job.show().get("Restarts") == "1", "not requeued")
    check(not os.path.exists(output), f"was not stopped: {job.log()[-1500:]}")
    kept = [k for k in "01" if os.path.exists(f"{output}.ckpt.{k}")]
    log = job.done()
    check(kept, f"no checkpoint was left for the restart: {log[-3000:]}")
    check("back into the queue" in log, f"the script did not see status 85: {log[-3000:]}")
    check("goes on from a checkpoint" in log, f"began anew: {log[-3000:]}")
    check(log.count("VALID") >= 1 and not any(os.path.exists(f"{output}.ckpt.{k}") for k in "01"),
          "checkpoints are left behind a good end")
    as_undisturbed(name, path, options, compare)


UNITS = ["-s", "run.threads=1", "-s", "run.units=400", *PATIENT.split()]


def requeue_tri(box):
    round_trip(box, "tri/rdf.yaml", [*UNITS, "-s", "tri.generator.n=60000"], preempt, 0.5)


def requeue_fractal(box):
    size = ["-s", "fractal.xres=300", "-s", "fractal.yres=200"]
    round_trip(box, "fractal/full.yaml", [*UNITS, *size], user_signal, 0.5)


def cancelled(box):
    """A job that its owner cancels leaves a checkpoint and does not come back."""
    job = box.submit("preemptible.sbatch", "--cpus-per-task=1", OUTPUT="cancelled.h5", OPTIONS=" ".join(UNITS),
                     **slow_first(0.5))
    job.until(lambda: "of computing" in job.log(), "does not start")
    time.sleep(1)
    box.call("scancel", job.number)
    job.until(lambda: "cancelled; go on by hand" in job.log(), "no word of it")
    check(os.path.exists(suite.path("cancelled.h5.ckpt.0")), "no checkpoint")
    job.wait()
    time.sleep(1)
    shown = job.show()
    check(shown["JobState"] == "CANCELLED" and shown["Restarts"] == "0", f"came back: {shown}")


def requeue_dp(box):
    options = ["-s", "run.threads=1", "-s", "dp.a.random=200000", "-s", "dp.mode=value", "-s", "dp.band=off",
               *PATIENT.split()]
    round_trip(box, "dp/lcs.yaml", options, user_signal, 1)


def requeue_xc(box):
    round_trip(box, "xc/benzene.yaml", ["-s", "run.threads=1", *PATIENT.split()], user_signal, 0.05, same_energies)


# ------------------------------------------------------ other nodes than before


LONG = ["-s", "run.threads=1", "-s", "run.units=400", "-s", "tri.generator.n=60000"]


def started(box, name, *args, options=(), **variables):
    """A job of preemptible.sbatch with a rank on each node, slow until it is stopped, that computes."""
    job = box.submit("preemptible.sbatch", "--ntasks-per-node=1", "--cpus-per-task=1", *args, OUTPUT=f"{name}.h5",
                     OPTIONS=" ".join([*LONG, *options]), **{**slow_first(0.5), **variables})
    job.until(lambda: "of computing" in job.log(), "does not start")
    time.sleep(3)
    return job


def nodes_of(name):
    with h5py.File(suite.path(name), "r") as file:
        return sorted(file["run/machine"]["node"].tolist())


def node_lost(box):
    """A node goes down: the job goes on, without its node, and is not started again."""
    job = started(box, "lost", "--nodes=2", options=["-s", "run.heartbeat=10", "-s", "run.checkpoint=1"])
    with box.cluster.lost("n2"):
        log = job.done()
    check("status 3, and n2 lost; goes on on n1" in log and "goes on from a checkpoint" in log, own_words(log)[-3000:])
    check(job.show()["Restarts"] == "0", "was started again")
    check(nodes_of("lost.h5") == [0], "not on the node that is left")
    as_undisturbed("lost", "inputs/tri/rdf.yaml", [*LONG, *PATIENT.split()])


def script_lost(box):
    """The node of the script itself goes down: back into the queue, and on when it is up again."""
    job = started(box, "again", "--nodes=2", options=["-s", "run.heartbeat=10", "-s", "run.checkpoint=1"])
    with box.cluster.lost("n1"):
        job.until(lambda: job.show().get("Restarts") == "1", "not requeued")
    check("goes on from a checkpoint" in job.done(), own_words(job.log())[-3000:])
    as_undisturbed("again", "inputs/tri/rdf.yaml", [*LONG, *PATIENT.split()])


def join(box, job):
    return box.submit("join.sbatch", "--ntasks-per-node=1", "--cpus-per-task=1", f"--job-name=join-{job.number}", "--nodelist=n2")


def nodes_join(box):
    """Another job gives its node to one that runs, which says before what that gains."""
    job = started(box, "joined", "--nodes=1", "--nodelist=n1", options=PATIENT.split())
    joins = join(box, job)
    log = job.done()
    said = re.search(r"predicted to compute for (\S+) s on n1, (\S+) s on n1 n2", log)
    check(said and 0 < float(said[2]) < float(said[1]), own_words(log)[-3000:])
    check(job.show()["Restarts"] == "0", "was started again")
    check(nodes_of("joined.h5") == [0, 1], "not on both nodes")
    as_undisturbed("joined", "inputs/tri/rdf.yaml", [*LONG, *PATIENT.split()])
    joins.done()


def joined_lost(box):
    """The job that has joined is killed: the other goes on without it."""
    job = started(box, "alone", "--nodes=1", "--nodelist=n1", options=PATIENT.split(), PROGRAM=suite.binary,
                  TSL_TEST_SLOW="+0.06", XDG_CACHE_HOME=suite.path("cache/slow"))
    joins = join(box, job)
    job.until(lambda: job.log().count("of computing") == 2, "is not joined")
    time.sleep(2)
    box.call("scancel", "--signal=KILL", joins.number)
    log = job.done()
    check("n2 lost; goes on on n1" in log, own_words(log)[-3000:])
    check(nodes_of("alone.h5") == [0], "not on the node that is left")
    as_undisturbed("alone", "inputs/tri/rdf.yaml", [*LONG, *PATIENT.split()])


def joins_nothing(box):
    """A job of no name, and one that does not run."""
    job = box.submit("join.sbatch", "--ntasks-per-node=1", "--cpus-per-task=1")
    check(job.wait() == 2 and "which job?" in job.log(), job.log())
    job = box.submit("join.sbatch", "--ntasks-per-node=1", "--cpus-per-task=1", "--job-name=join-99999")
    check(job.wait() == 2 and "job 99999 does not run" in job.log(), job.log())


# ----------------------------------------------- what an allocation offers


BATCH = "#!/bin/bash\n#SBATCH --time=2\n"
RUN = f"\"$PROGRAM\" run inputs/tri/rdf.yaml {SMALL} -s output.overwrite=true -o"


def part_of_allocation(box):
    """Fewer ranks than tasks: said, with the way to use all. mpirun reaches even this node by a step
    of its daemons here, as the node's name is not the host's, so that it cannot know."""
    job = box.submit(BATCH + f"{RUN} one.h5\nmpirun --bind-to none {RUN} some.h5\nsrun {RUN} all.h5\n", "--ntasks=4")
    log = job.done()
    check("1 rank runs, but the Slurm allocation has 4 tasks; start with srun or mpirun without -n" in log, log)
    check(log.count("Slurm allocation has") == 1, f"all ranks are warned about too: {log}")
    box.output("some.h5", 4)
    same(box.output("all.h5", 4))


def mpirun_in_hetjob(box):
    """mpirun starts ranks on the first part only; tesela says so."""
    job = box.submit(BATCH + "#SBATCH --ntasks=2 --gpus=tesla:1\n#SBATCH hetjob\n#SBATCH --ntasks=1 --gpus=geforce:1\n"
                     f"mpirun --bind-to none {RUN} part.h5\n")
    log = job.done()
    check("but the heterogeneous job of 2 components has 3 tasks; mpirun takes only the first component: "
          "use srun --het-group=0-1" in log, log)


def narrow(box):
    """More threads than cores: said, with the option that gives more."""
    log = box.submit(BATCH + f"srun -n 1 taskset -c 0 {RUN} narrow.h5 -s run.threads=2\n", "--ntasks=1").done()
    check("the launcher leaves 1 of the node's" in log and "srun --cpus-per-task=N" in log, log)


def bad_status(box):
    """A bad deck ends the job with tesela's exit status."""
    job = box.submit("cpu.sbatch", OUTPUT="bad.h5", OPTIONS="-s tri.bins=-1")
    check(job.wait() == 2, f"exit {job.wait()}: {job.log()}")
    check("tri.bins" in job.log(), job.log())


# -------------------------------------------------------------- clean end


def left_by(process):
    """The folder of a cluster that runs as another process, once it is up."""
    line = process.stdout.readline().strip()
    check(os.path.isdir(line), f"no cluster: {line}")
    return line


def stopped_by_signal():
    """A cluster whose process is told to stop takes all it started along."""
    process = subprocess.Popen([sys.executable, os.path.join(HERE, "cluster.py"), "sh", "-c",
                                "dirname $SLURM_CONF; srun -n 1 sleep 60"], stdout=subprocess.PIPE, text=True)
    folder = left_by(process)
    process.send_signal(signal.SIGTERM)
    check(process.wait(120) == 143, f"exit {process.returncode}")
    check(not os.path.exists(folder), f"{folder} is left")
    check(not processes(folder), f"processes are left: {processes(folder)}")


def processes(folder):
    """Ids of processes that know a cluster's configuration."""
    other = slurm.Cluster()
    other.environment = {"SLURM_CONF": os.path.join(folder, "slurm.conf")}
    return other.remains()


def main():
    why = slurm.why_not()
    if why:
        print(f"skipped: {why}")
        sys.exit(77)
    print("nodes are hosts of their own" if APART else f"both nodes are this host: {slurm.Cluster.why_one_host()}", flush=True)
    suite.case("cluster.stopped_by_signal", stopped_by_signal)
    with slurm.Cluster() as cluster:
        box = Box(suite, cluster)
        for body in (cpu, found_by_itself, module_missing, nodes, preemptible_on_cards, gpu_on_sockets, gpu_refused, mixed, array, strong, weak):
            suite.case(f"jobs.{body.__name__}", body, box)
        for body in (requeue_tri, requeue_fractal, requeue_dp, requeue_xc, cancelled):
            suite.case(f"preemptible.{body.__name__}", body, box)
        for body in (node_lost, script_lost, nodes_join, joined_lost, joins_nothing) if APART else ():
            suite.case(f"elastic.{body.__name__}", body, box)
        for body in (part_of_allocation, mpirun_in_hetjob, narrow, bad_status):
            suite.case(f"allocation.{body.__name__}", body, box)
    suite.everywhere("cluster.leaves_nothing", lambda: check(
        not cluster.remains() and not os.path.exists(cluster.folder), "processes or files are left"))
    suite.end()


main()
