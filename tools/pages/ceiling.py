"""What the machine itself gives: N runs of one rank, each on the cores of a rank of the N-rank run, at once.

They share nothing but the host, so that what they lose against one of them alone is lost by clocks,
by physical cores that hardware threads or virtual cores share, and by caches and memory; no N-rank
run that splits the same work can be expected to do better.

DIR/runs/cpu-nN-cK.json   how the K-th such group of N copies went; the copies' own outputs are not kept
"""
import json
import math
import os
import shlex
import statistics

from . import h5, record
from .page import percent, seconds as seconds_text, write
from .runs import Run

TOGETHER = 0.8  # below this share the copies were too little at once, and are started again
ATTEMPTS = 3


def cores_of(text):
    """Numbers of hardware threads in a list such as 0-3,8."""
    numbers = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        numbers.update(range(int(low), int(high or low) + 1))
    return numbers


def together(spans):
    """While one of the copies computed, what share of the others did, on average; 1 for one alone."""
    if len(spans) < 2:
        return 1.0
    both = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
               for k, a in enumerate(spans) for j, b in enumerate(spans) if k != j)
    return both / ((len(spans) - 1) * sum(end - begin for begin, end in spans))


def typical_time(times):
    """Of copies that differ: the time at the mean of their speeds, as balanced ranks would add them up."""
    return statistics.harmonic_mean(times)


class Copy(Run):
    """One of the copies: a run of one rank on given hardware threads."""

    def __init__(self, group, number, placement):
        super().__init__(group.owner, f"{group.name}-{number}", group.devices, 1, group.repeat, group.sets)
        self.number, self.cores, self.threads = number, h5.text_of(placement["cpuset"]), int(placement["threads"])
        self.calibration = f"calibration-{group.devices}-c{group.ranks}-{number}"

    def command(self):
        """The run, on its cores. Programs that choose cores by the number of the rank find that of its rank."""
        return ["env", f"OMPI_COMM_WORLD_LOCAL_RANK={self.number}", "taskset", "-c", self.cores,
                *self.words(self.calibration, [*self.sets, f"run.threads={self.threads}"]),
                "--trace", self.path("trace")]

    def measured(self):
        """(seconds, begin and end of computing by the clock of the host); Unfit says what is wrong."""
        done = record.read(self.path("h5"))
        placement = h5.text_of(done.placements[0]["cpuset"])
        if cores_of(placement) != cores_of(self.cores):
            raise h5.Unfit(f"{self.name} ran on cores {placement or 'of all ranks'}, not {self.cores}: does --program bind?")
        if done.attributes.get("verdict") != "VALID" or not done.wall > 0:
            raise h5.Unfit(f"{self.name}: {done.attributes.get('reason') or 'nothing was computed'}")
        opened = os.stat(self.path("h5")).st_mtime - done.total  # the number of seconds is written last
        units = record.trace_units(self.path("trace"))
        begin, end = units["start"].min(), (units["start"] + units["measured"]).max()
        return done.time(self.owner.measure), (opened + begin, opened + end)

    def clear(self, *kinds):
        for kind in kinds:
            if os.path.exists(self.path(kind)):
                os.remove(self.path(kind))


class Copies(Run):
    """A group: as many copies at once as the point has ranks."""

    def __init__(self, owner, point, repeat, sets):
        self.point = point
        super().__init__(owner, f"{point.name()}-c{repeat}", point.devices, point.ranks, repeat, sets)

    def kept(self):
        return True  # all that counts is in the note

    def placements(self):
        """Where the ranks of the point's own runs sat; Unfit when copies cannot be put there."""
        done = next((one for one in (run.result() for run in self.point.runs) if one is not None), None)
        if done is None:
            raise h5.Unfit("no run of the point ended well: where its ranks sit is not known")
        if len(set(done.placements["node"])) > 1:
            raise h5.Unfit("the ranks sit on several hosts; copies are for one")
        sets = [cores_of(h5.text_of(placement["cpuset"])) for placement in done.placements]
        if not all(sets) or len(set().union(*sets)) < sum(map(len, sets)):
            raise h5.Unfit("the ranks have no cores of their own: more ranks than cores, or --program binds them to "
                           "the same")
        return done.placements

    def start(self, launcher):
        """Until the copies were at once, some times at most."""
        self.tries, share = 0, 0.0
        try:
            copies = [Copy(self, k, placement) for k, placement in enumerate(self.placements())]
            while self.tries < ATTEMPTS and share < TOGETHER:
                self.tries += 1
                share = self.attempt(launcher, copies)
            if share < TOGETHER:
                raise h5.Unfit(f"the copies computed at once for {percent(share, 0)} of their time only, "
                               f"{ATTEMPTS} times: a larger problem would be measured better")
        except (h5.Unfit, OSError, KeyError, ValueError) as why:
            self.close(1, str(why))

    def attempt(self, launcher, copies):
        """Start them once. Returns the share of their time that they were together; what counts is noted."""
        failed = launcher.at_once(copies)
        try:
            if failed is not None:
                run, status = failed
                raise h5.Unfit(f"{run.name}: {run.last_words() or f'exit status {status}'}")
            times, spans = zip(*(copy.measured() for copy in copies))
        finally:
            for copy in copies:
                copy.clear("h5", "trace")
        share, first = together(spans), min(begin for begin, _ in spans)
        if share >= TOGETHER:
            self.close(0, "", times=times, spans=[(begin - first, end - first) for begin, end in spans],
                       together=share, cores=[copy.cores for copy in copies], command=copies[0].command())
            for copy in copies:
                copy.clear("log")
        return share

    def close(self, status, error, **more):
        """Write down how the group went."""
        command = shlex.join(more.pop("command", []))
        self.note = {"name": self.name, "devices": self.devices, "ranks": self.ranks, "repeat": self.repeat,
                     "sets": self.sets, "status": status, "error": error, "tries": self.tries, **more,
                     "command": command}
        self.done = True
        write(self.path("json"), json.dumps(self.note, indent=1) + "\n")

    def result(self):
        """The note of a group that went well, else None."""
        return self.note if self.note is not None and self.note["status"] == 0 else None

    def title(self):
        return "a copy of the one-rank run" if self.ranks == 1 else f"{self.ranks} copies of the one-rank run at once"

    def short(self):
        done = self.result()
        if done is None:
            return f"FAILED: {self.note['error']}"
        return f"computed in {seconds_text(typical_time(done['times']))}, {percent(done['together'], 0)} of it together"


class CopiesRow:
    """A group as a row of the CSV and the page."""

    def __init__(self, run):
        self.run, done = run, run.result()
        self.status = "not run" if run.note is None else "ok" if done is not None else "FAILED"
        self.error = "" if run.note is None else run.note["error"]
        self.time = self.fastest = self.slowest = self.together = math.nan
        self.tries = run.note["tries"] if run.note is not None else 0
        if done is not None:
            times = done["times"]
            self.time, self.together = typical_time(times), done["together"]
            self.fastest, self.slowest = min(times), max(times)

    def values(self):
        run = self.run
        return {"run": run.name, "devices": run.devices, "copies": run.ranks, "repeat": run.repeat,
                "status": self.status, "time_s": self.time, "fastest_s": self.fastest, "slowest_s": self.slowest,
                "together": self.together, "tries": self.tries, "error": self.error}
