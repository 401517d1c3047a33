#!/usr/bin/env python3
"""A real Slurm of two virtual nodes on this host, for as long as one command or one with-block lasts.

usage: cluster.py COMMAND...      run COMMAND beside it; SLURM_CONF says where it is

munged, slurmctld and two slurmd run as children of this process, in a folder of their own, with
their own key and ports. Nothing outside the folder is read or changed, and all is stopped at the
end, also after an exception, SIGINT or SIGTERM. The cards are files such as /dev/null, which Slurm
counts and hands out like real ones.

Where namespaces are allowed (root), the nodes and a head, on which slurmctld and all commands run,
are hosts of their own (tests/hosts/network.py): they share no memory, and what goes from one to
another goes by TCP. Elsewhere all of them are this host, on loopback only, with its shared memory;
when this process is killed the daemons get SIGTERM from the kernel.

Node n1 has 32 cores and 4 cards "tesla", n2 32 cores and 2 cards "geforce"; both are this host, so
that they are larger than it is and tests start few ranks. Partition main is the default; low and
high hold the same nodes, and a job in high sends jobs of low back to the queue, where Slurm keeps it
for cred_expire seconds.
"""
import contextlib
import ctypes
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hosts"))
import network  # noqa: E402

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue", "scancel", "sinfo"]
PR_SET_PDEATHSIG = 1

CONF = """\
ClusterName=box
SlurmctldHost={head}
SlurmctldPort={control}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge/socket,cred_expire=15
{communication}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
TmpFS={folder}/tmp/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=60
MinJobAge=300
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=gpu
NodeName=DEFAULT Sockets=2 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=256000
NodeName=n1 {first} Gres=gpu:tesla:4
NodeName=n2 {second} Gres=gpu:geforce:2
PartitionName=DEFAULT Nodes=n1,n2 MaxTime=1-0 State=UP OverSubscribe=NO
PartitionName=main Default=YES PriorityTier=5 PreemptMode=off
PartitionName=low PriorityTier=1 GraceTime=120
PartitionName=high PriorityTier=10 PreemptMode=off
"""

GRES = """\
AutoDetect=off
NodeName=n1 Name=gpu Type=tesla File=/dev/null,/dev/zero,/dev/full,/dev/random
NodeName=n2 Name=gpu Type=geforce File=/dev/null,/dev/zero
"""


def find(name):
    """Path of a daemon; /usr/sbin is not in everybody's PATH."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def why_not():
    """Why no cluster can be started here, or an empty text."""
    missing = [name for name in PROGRAMS if find(name) is None]
    if missing:
        return f"{', '.join(missing)} not found; Debian packages: slurm-wlm munge (tools/install-deps)"
    if not network.why_not():
        return ""
    try:
        socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        return f"the name of this host, {socket.gethostname()}, has no address; add it to /etc/hosts"
    return ""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Cluster:
    """Started by `with`; environment is what its commands need."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="tslurm")  # short: the socket's path has a limit
        self.daemons, self.network = [], None
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith("SLURM_")},
                            "SLURM_CONF": os.path.join(self.folder, "slurm.conf")}
        self.environment["PATH"] += ":/usr/sbin:/sbin"
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(143))
        try:
            if self.why_one_host() == "":
                self.network = network.Network(3, names=["head", "n1", "n2"]).__enter__()
            self.write_files()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    @staticmethod
    def why_one_host():
        """Why the nodes are no hosts of their own, or an empty text."""
        return network.why_not()

    def places(self):
        """What the configuration says of head and nodes: of hosts, or of this one with free ports."""
        if self.network is not None:
            head, *nodes = self.network.hosts
            return {"head": f"head({head.address})", "control": 6817, "communication": "",
                    **{key: f"NodeHostname={n.name} NodeAddr={n.address} Port=6818" for key, n in zip(("first", "second"), nodes)}}
        host = socket.gethostname().split(".")[0]
        control, *ports = free_ports(3)
        return {"head": f"{host}(127.0.0.1)", "control": control,
                "communication": "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny",
                **{key: f"NodeHostname={host} NodeAddr=127.0.0.1 Port={port}" for key, port in zip(("first", "second"), ports)}}

    def at(self, place, command):
        """The words that run a command on the head or a node."""
        if self.network is None:
            return command
        return self.network.hosts[("head", "n1", "n2").index(place)].command(*command)

    def write_files(self):
        for name in ("munge", "state", "log", "spool/n1", "spool/n2", "tmp/n1", "tmp/n2"):
            os.makedirs(os.path.join(self.folder, name))
        os.chmod(self.folder, 0o755)
        os.chmod(os.path.join(self.folder, "munge"), 0o711)
        key = os.open(os.path.join(self.folder, "munge/key"), os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(key, os.urandom(128))
        os.close(key)
        conf = CONF.format(folder=self.folder, user=getpass.getuser(), **self.places())
        for name, text in (("slurm.conf", conf), ("gres.conf", GRES),
                           ("cgroup.conf", "CgroupPlugin=cgroup/v1\n"), ("plugstack.conf", "")):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)

    def spawn(self, place, name, *args):
        with open(os.path.join(self.folder, "log", f"{len(self.daemons)}-{name}"), "wb") as log:
            self.daemons.append(subprocess.Popen(
                self.at(place, [find(name), *args]), env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.folder, preexec_fn=die_with_parent, start_new_session=True))

    def start(self):
        munge = os.path.join(self.folder, "munge")
        self.spawn("head", "munged", "-F", f"--key-file={munge}/key", f"--socket={munge}/socket",
                   f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.wait(lambda: os.path.exists(f"{munge}/socket"), "munged makes no socket")
        self.spawn("head", "slurmctld", "-D", "-c", "-i")
        self.wait(lambda: "UP" in self.call("scontrol", "ping").stdout, "slurmctld does not answer")
        for node in ("n1", "n2"):
            self.spawn(node, "slurmd", "-D", "-N", node)
        self.wait_up()

    def wait_up(self):
        self.wait(lambda: len(self.call("sinfo", "-h", "-N", "-p", "main", "-t", "idle,mixed,alloc", "-o", "%N")
                              .stdout.split()) == 2, "the two nodes do not get up")

    def wait(self, done, complaint, seconds=120):
        """Until done() holds; a daemon that ended is the complaint's reason."""
        end = time.time() + seconds
        while not done():
            dead = [d for d in self.daemons if d.poll() is not None]
            if dead or time.time() > end:
                raise RuntimeError(f"{complaint}{' (a daemon ended)' if dead else ''}:\n{self.logs()}")
            time.sleep(0.1)

    @contextlib.contextmanager
    def lost(self, node):
        """Within it the node is down: all that Slurm had started there is killed. Hosts only."""
        host = self.network.hosts[("head", "n1", "n2").index(node)]
        daemon = self.daemons.pop(next(k for k, d in enumerate(self.daemons) if d.args[-1] == node))
        host.run("sh", "-c", "kill -KILL -1")  # at once: none sees another die, as srun would, and cancel its step
        daemon.wait()
        self.call("scontrol", "update", f"nodename={node}", "state=down", "reason=lost")
        try:
            yield
        finally:
            self.spawn(node, "slurmd", "-D", "-N", node)
            self.call("scontrol", "update", f"nodename={node}", "state=resume")
            self.wait_up()

    def logs(self):
        texts = []
        for name in sorted(os.listdir(os.path.join(self.folder, "log"))):
            with open(os.path.join(self.folder, "log", name), encoding="utf-8", errors="replace") as file:
                texts.append(f"--- {name}\n" + "".join(file.readlines()[-15:]))
        return "".join(texts)

    def call(self, *command, **more):
        """Run one of Slurm's commands."""
        return subprocess.run(self.at("head", list(command)), env={**self.environment, **more.pop("env", {})}, text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)

    def remains(self):
        """Processes that belong to this cluster: those whose environment names its configuration."""
        mark = f"SLURM_CONF={self.environment['SLURM_CONF']}\0".encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if mark in file.read() + b"\0" and int(pid) != os.getpid():
                        found.append(int(pid))
            except OSError:
                continue
        return found

    def running(self, program):
        """Processes of this cluster that run a program, by its name."""
        found = []
        for pid in self.remains():
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                    found += [pid] if file.read().strip() == program else []
            except OSError:
                continue
        return found

    def signal_all(self, number):
        for pid in self.remains():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue

    def __exit__(self, *_):
        if len(self.daemons) > 1 and self.daemons[1].poll() is None:
            self.call("scancel", "--quiet", "-u", getpass.getuser())
            end = time.time() + 5
            while self.call("squeue", "-h").stdout.strip() and time.time() < end:
                time.sleep(0.1)
        for daemon in reversed(self.daemons):
            daemon.terminate()
        end = time.time() + 5
        while self.remains() and time.time() < end:
            for daemon in self.daemons:
                daemon.poll()
            time.sleep(0.1)
        self.signal_all(signal.SIGKILL)
        for daemon in self.daemons:
            daemon.wait()
        if self.network is not None:
            self.network.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    if why_not():
        print(f"skipped: {why_not()}")
        sys.exit(77)
    with Cluster() as cluster:
        sys.exit(subprocess.run(cluster.at("head", sys.argv[1:]), env=cluster.environment, check=False).returncode)


if __name__ == "__main__":
    main()
