#!/usr/bin/env python3
"""Several hosts on this machine: namespaces that share its cores and files, but no memory and no network.

usage: network.py N COMMAND...            run COMMAND on the first of N hosts
       network.py N -n RANKS COMMAND...   run COMMAND on so many ranks of N hosts, by mpirun
       network.py --into FOLDER HOST COMMAND...   on a host of a network that is up, as ssh would

Each host is a process with namespaces of its own: network, name, processes, shared memory, mounts.
Another one is the switch, whose bridge joins their interfaces eth0, 10.77.0.1 and so on. Nothing of
the machine's own network is seen, named or changed, so that any number of networks may stand side
by side; when this process ends, however it does, the kernel ends the hosts with all they run, and
their networks go with them. Needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN) and Debian's iproute2.

A host runs what is asked for by a socket in the network's folder. That is all the remote shell that
Open MPI needs: FOLDER/agent HOST COMMAND stands for ssh.
"""
import array
import ctypes
import json
import os
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

NAMES = ["alpha", "beta", "gamma", "delta"]
PREFIX = "10.77.0."
PR_SET_PDEATHSIG = 1
FLAGS = ["--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"]


def find(name):
    """Path of a program; /usr/sbin is not in everybody's PATH."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def why_not():
    """Why there can be no hosts here, or an empty text."""
    missing = [name for name in ("ip", "unshare", "nsenter", "mount") if find(name) is None]
    if missing:
        return f"{', '.join(missing)} not found; Debian packages: iproute2 util-linux mount (tools/install-deps)"
    tried = subprocess.run([find("unshare"), *FLAGS, "sh", "-c", "ip link add name a type veth peer name b && "
                            "ip link add name c type bridge && mount -t tmpfs none /dev/shm"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        lines = tried.stderr.strip().splitlines() or [f"exit {tried.returncode}"]
        return f"namespaces are not allowed or the kernel has no veth or bridge: {lines[-1]}"
    return ""


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


# --------------------------------------------------------- on a host: process 1


def send_request(stream, request, fds):
    data = json.dumps(request).encode()
    stream.sendmsg([struct.pack("!I", len(data))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
    stream.sendall(data)


def receive_request(stream):
    """What is asked for, and the caller's standard streams; nothing of who only looks whether this host is up."""
    head, ancillary, _, _ = stream.recvmsg(4, socket.CMSG_LEN(3 * array.array("i").itemsize))
    fds = array.array("i")
    if not ancillary:
        return None, []
    fds.frombytes(ancillary[0][2])
    data = b""
    while len(data) < struct.unpack("!I", head)[0]:
        data += stream.recv(1 << 16)
    return json.loads(data), fds.tolist()


def attend(stream, overlay):
    """Run one command; it is killed when the caller goes away."""
    request, fds = receive_request(stream)
    if request is None:
        return
    try:
        cwd = request["cwd"] if os.path.isdir(request["cwd"]) else "/"
        child = subprocess.Popen(request["command"], env={**request["env"], **overlay}, cwd=cwd, stdin=fds[0],
                                 stdout=fds[1], stderr=fds[2], start_new_session=True)
    except OSError as why:
        os.write(fds[2], f"{why}\n".encode())
        stream.sendall(struct.pack("!i", 127))
        return
    for fd in fds:
        os.close(fd)
    ready, _, _ = select.select([stream, os.pidfd_open(child.pid)], [], [])
    if stream in ready:
        os.killpg(child.pid, signal.SIGKILL)
    status = child.wait()
    if stream not in ready:
        stream.sendall(struct.pack("!i", status))


def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0] > 0:
            pass
    except ChildProcessError:
        pass


def be_host(folder, name):
    """Process 1 of a host: serve, and bury orphans."""
    for line in ("mount -t tmpfs -o mode=1777 none /dev/shm", f"mount --bind {folder}/hosts /etc/hosts",
                 "ip link set lo up"):
        subprocess.run(line.split(), check=True)
    socket.sethostname(name)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/{name}.socket")
    listener.listen(64)
    signal.signal(signal.SIGCHLD, reap)
    while True:
        stream, _ = listener.accept()
        with open(f"{folder}/{name}.json", encoding="utf-8") as file:
            overlay = json.load(file)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            attend(stream, overlay)
            os._exit(0)
        stream.close()


# ------------------------------------------------------------------- from outside


def connect(folder, name):
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(f"{folder}/{name}.socket")
    return stream


def into(folder, name, command):
    """Run a command on a host with the caller's streams, environment and folder; its exit status."""
    try:
        with connect(folder, name) as stream:
            send_request(stream, {"command": command, "env": dict(os.environ), "cwd": os.getcwd()}, [0, 1, 2])
            answer = stream.recv(4)
    except OSError as why:
        sys.stderr.write(f"host {name}: {why}\n")
        return 255
    status = struct.unpack("!i", answer)[0] if len(answer) == 4 else 255  # the host went down
    return status if status >= 0 else 128 - status


class Host:
    """A host that is up."""

    def __init__(self, network, number, name):
        self.network, self.number, self.name = network, number, name
        self.address = f"{PREFIX}{number + 1}"
        self.port = f"port{number}"  # at the switch
        self.process = self.pid = None

    def start(self, *flags):
        self.network.write(f"{self.name}.json", "{}")
        self.process = self.network.spawn(self.name, [*FLAGS, *flags])

    def set(self, **environment):
        """What the environment of all that starts there has from now on."""
        self.network.write(f"{self.name}.json", json.dumps(environment))

    def command(self, *command):
        """A command line that runs this one there."""
        return [sys.executable, os.path.abspath(__file__), "--into", self.network.folder, self.name, *command]

    def run(self, *command, **more):
        return subprocess.run(self.command(*command), text=True, capture_output=True, check=False, timeout=300, **more)

    def cable(self, plugged):
        """Without it the interface has no carrier."""
        self.network.switch_run("ip", "link", "set", self.port, "up" if plugged else "down")

    def forwarded(self, forwards):
        """Does the switch forward what comes and goes here? When it does not, nothing tells the host."""
        self.network.switch_run("ip", "link", "set", self.port, *(["master", "bridge"] if forwards else ["nomaster"]))

    def processes(self, program):
        """Numbers, as seen from the machine, of its processes of a name."""
        mine, found = os.readlink(f"/proc/{self.pid}/ns/net"), []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                    if file.read().strip() == program and os.readlink(f"/proc/{pid}/ns/net") == mine:
                        found.append(int(pid))
            except OSError:
                continue
        return found

    def impatient(self, times):
        """Its TCP gives a connection up after so many attempts: 5 take 13 s, the usual 15 take 15 minutes."""
        self.network.inside(self.pid, "sh", "-c", f"echo {times} >/proc/sys/net/ipv4/tcp_retries2")

    def kill(self):
        """All of its processes, with kill -9."""
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait()


class Network:
    """Started by `with`: N hosts, and what Open MPI needs to know of them.

    flags: more words for unshare, by the host's number. line: (milliseconds, per cent), all are joined by a line that
    delivers so late and loses so much (relay.py), not by a bridge.
    """

    def __init__(self, n, flags=None, line=None, names=NAMES):
        self.n, self.flags, self.line, self.names = n, flags or {}, line, names

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="thosts")  # short: sockets' paths have a limit
        self.hosts = [Host(self, k, self.names[k]) for k in range(self.n)]
        self.switch = self.relay = None
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def write(self, name, text, mode=0o644):
        """At once: a host may be reading it."""
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path + ".new", mode)
        os.rename(path + ".new", path)

    def spawn(self, name, flags):
        with open(os.path.join(self.folder, f"{name}.log"), "ab") as log:
            return subprocess.Popen([find("unshare"), *flags, sys.executable, os.path.abspath(__file__), "--host",
                                     self.folder, name], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    preexec_fn=die_with_parent, start_new_session=True)

    def start(self):
        self.write("hosts", "127.0.0.1 localhost\n" + "".join(f"{h.address} {h.name}\n" for h in self.hosts))
        self.write("agent", f"#!/bin/sh\nhost=$1; shift\nexec {shlex.quote(sys.executable)} "
                            f"{shlex.quote(os.path.abspath(__file__))} --into {self.folder} \"$host\" sh -c \"$*\"\n", 0o755)
        self.write("switch.json", "{}")
        self.switch = self.spawn("switch", FLAGS)
        for host in self.hosts:
            host.start(*self.flags.get(host.number, []))
        for host in self.hosts:
            host.pid = self.answering(host.name, host.process)
        self.switch_pid = self.answering("switch", self.switch)
        if self.line is None:
            self.join_by_bridge()
        else:
            self.join_by_line()
        for host in self.hosts:
            self.inside(host.pid, "ip", "address", "add", f"{host.address}/24", "dev", "eth0")
            self.inside(host.pid, "ip", "link", "set", "eth0", "up")

    def join_by_bridge(self):
        self.switch_run("ip", "link", "add", "name", "bridge", "type", "bridge", "forward_delay", "0")
        self.switch_run("ip", "link", "set", "bridge", "up")
        for host in self.hosts:
            self.switch_run("ip", "link", "add", "name", host.port, "type", "veth", "peer", "name", "eth0", "netns",
                            str(host.pid))
            self.switch_run("ip", "link", "set", host.port, "master", "bridge", "up")

    def join_by_line(self):
        self.relay = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py"),
                                       *map(str, self.line), *(str(host.pid) for host in self.hosts)],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
        if not self.relay.stdout.readline():
            raise RuntimeError("no line between the hosts")

    def answering(self, name, process):
        """The number of a host's process 1, once it listens."""
        end = time.time() + 120
        while time.time() < end and process.poll() is None:
            try:
                with connect(self.folder, name) as stream:
                    return struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
            except OSError:
                time.sleep(0.02)
        with open(os.path.join(self.folder, f"{name}.log"), encoding="utf-8") as log:
            raise RuntimeError(f"host {name} does not come up: {log.read()}")

    def living(self):
        """The hosts that are up."""
        return [host for host in self.hosts if host.process.poll() is None]

    def switch_run(self, *command):
        return self.inside(self.switch_pid, *command)

    def inside(self, pid, *command):
        """A command of the machine in a host's network."""
        subprocess.run([find("nsenter"), "--net", "-t", str(pid), find(command[0]), *command[1:]], check=True,
                       stdin=subprocess.DEVNULL)

    def mpirun(self, ranks, *options, n=None):
        """mpirun on the first host: ranks in even shares on all, or on the first n, with Open MPI's words for this
        network."""
        n = n or self.n
        share = [ranks // n + (k < ranks % n) for k in range(n)]
        hosts = ",".join(f"{h.name}:{count}" for h, count in zip(self.hosts, share) if count > 0)
        mca = {"plm_rsh_agent": os.path.join(self.folder, "agent"), "btl_tcp_if_include": "eth0",
               "oob_tcp_if_include": "eth0", "pml": "ob1", "btl": "self,vader,tcp", "mpi_yield_when_idle": "1"}
        root = ["--allow-run-as-root"] if os.getuid() == 0 else []
        words = [w for key, value in mca.items() for w in ("--mca", key, value)]
        return self.hosts[0].command("mpirun", *root, *words, "--host", hosts, "--bind-to", "none", *options, "-n",
                                     str(ranks))

    def __exit__(self, *_):
        for process in [*(h.process for h in self.hosts), self.switch, self.relay]:
            if process is not None:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help"):
        sys.exit(__doc__)
    if words[0] == "--host":
        be_host(words[1], words[2])
    if words[0] == "--into":
        sys.exit(into(words[1], words[2], words[3:]))
    if why_not():
        print(f"skipped: {why_not()}")
        sys.exit(77)
    with Network(int(words[0])) as network:
        command = network.hosts[0].command(*words[1:])
        if words[1] == "-n":  # with what src/mpi/main.c asks Open MPI for
            command = [*network.mpirun(int(words[2]), "--mca", "osc", "sm,rdma,pt2pt"), *words[3:]]
        with tempfile.TemporaryDirectory(prefix="tsl") as sessions:  # Open MPI's, named by host and process alone
            sys.exit(subprocess.run(command, env={**os.environ, "TMPDIR": sessions}, check=False).returncode)


if __name__ == "__main__":
    main()
