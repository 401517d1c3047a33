#!/usr/bin/env python3
"""tools/bench-xc-peers: its table, what it refuses to compare, and how it times a peer.

usage: xc_peers.py TESELA [--fast] [ONLY]

The peer is a stand-in; where pyscf is installed, one case compares with it.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import sys
import time

import harness
from harness import check, np
from pages_harness import TOOLS

sys.path.insert(0, TOOLS)
LOADER = importlib.machinery.SourceFileLoader("bench_xc_peers", os.path.join(TOOLS, "bench-xc-peers"))
peers = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_xc_peers", LOADER))
LOADER.exec_module(peers)

suite = harness.Suite(__doc__)


def pair(difference=0.0, own=None, other=None):
    made = peers.Pair("water", "exact", ("tesela", "PySCF"))
    made.sides = [own or peers.Field(-76.0, 9, 2.0, [0.5, 0.1, 0.3, 0.2], [0.9, 0.02, 0.02], 1.0, {"start": 0.1}),
                  other or peers.Field(-76.0 - difference, 8, 5.0, [0.8], [0.4, 0.1, 0.1])]
    return made


def reported(pairs, name="report.json"):
    """Exit status, what was printed, and the JSON."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = peers.report(["the head"], pairs, suite.path(name))
    with open(suite.path(name), encoding="utf-8") as file:
        return status, out.getvalue(), json.load(file)


def compared():
    """Ratios are the peer's time over tesela's, of medians without the first iteration."""
    status, text, tree = reported([pair(3e-7)])
    lines = text.splitlines()
    check(status == 0 and lines[0] == "the head" and lines[1].startswith("molecule"), text)
    check(len({len(line) for line in lines[1:4]}) == 1, f"columns do not stand below each other:\n{text}")
    check(lines[2].split() == ["water", "B3LYP", "exact", "tesela", "-76.000000000", "9", "2", "1", "200", "20", "0.9"],
          lines[2])
    check(lines[3].split() == ["PySCF", "-76.000000300", "8", "5", "-", "800", "100", "0.4"], lines[3])
    check(lines[4].split() == ["ratio", "+3.0e-07", "2.50", "x", "4.00", "x", "5.00", "x", "0.44", "x"], lines[4])
    row = tree["pairs"][0]
    check(row["refused"] is None and abs(row["ratio"]["wall"] - 2.5) < 1e-12, f"{row}")
    check(row["tesela"]["stages"] == {"start": 0.1} and row["PySCF"]["first_jk"] == 0.4, f"{row}")


def refused():
    """Other energies, failures and what is no number: said so, no ratio, status 1, the others as they are."""
    nan = peers.Field(float("nan"), 8, 5.0, [0.8], [0.4])
    for bad, words in ((pair(1.1e-6), "1.1e-06"), (pair(-2e-3), "2.0e-03"), (pair(other=nan), "nan"),
                       (pair(other="out of memory"), "PySCF failed: out of memory"),
                       (pair(own="exit status 3: no"), "tesela failed: exit status 3: no")):
        status, text, tree = reported([bad, pair()])
        check(status == 1 and "refused" in text and words in text, text)
        check(text.count(" x") == 4, f"ratios of what was refused:\n{text}")
        check(words in tree["pairs"][0]["refused"] and "ratio" not in tree["pairs"][0], f"{tree['pairs'][0]}")
        check(tree["pairs"][1]["refused"] is None and "ratio" in tree["pairs"][1], f"{tree['pairs'][1]}")
    check(reported([pair(0.99e-6)])[0] == 0, "1e-6 hartree are allowed")


class Calls:
    """get_j is one of get_jk, as in PySCF."""

    def get_jk(self, scale):
        time.sleep(0.02)
        return scale, 2 * scale

    def get_j(self, scale):
        return self.get_jk(scale)[0]

    def broken(self):
        raise ValueError("broken")


def watched():
    """A call counts once, whatever it calls; results and errors are those of the method."""
    calls, settled = Calls(), []
    parts = peers.Parts(lambda: settled.append(1))
    for name, part in (("get_jk", "jk"), ("get_j", "jk"), ("broken", "xc")):
        parts.watch(calls, name, part)
    check(calls.get_j(3) == 3 and calls.get_jk(scale=4) == (4, 8), "other results")
    try:
        calls.broken()
        check(False, "an error was lost")
    except ValueError:
        pass
    check(calls.get_j(5) == 5, "after an error")
    check(len(parts.calls["jk"]) == 3 and min(parts.calls["jk"]) >= 0.02 and "xc" not in parts.calls, f"{parts.calls}")
    check(len(settled) == 7, f"{len(settled)} waits for the card")


def iterations():
    """Two phases an iteration, two ranks: the slowest rank of each phase counts."""
    times = np.array([(4, 0, 0, 1.0), (4, 0, 2, 0.5), (4, 1, 0, 2.0), (5, 0, 2, 0.25), (5, 1, 2, 0.125), (6, 0, 0, 4.0),
                      (7, 1, 2, 8.0)], dtype=[("phase", "i8"), ("rank", "i4"), ("kind", "i4"), ("measured", "f8")])
    phases = np.array([(4,), (5,), (6,), (7,)], dtype=[("phase", "i8")])
    check(peers.by_iteration(times, phases, 2, lambda kind: kind == 0) == [2.0, 4.0], "XC")
    check(peers.by_iteration(times, phases, 2, lambda kind: kind != 0) == [0.75, 8.0], "J")
    try:
        peers.by_iteration(times, phases, 3, lambda kind: True)
        check(False, "four phases are no three iterations")
    except peers.Failed:
        pass


class StandIn:
    """A peer that answers with what it was given."""

    name, off, energies = "stand-in", 0.0, {}

    def __init__(self, options):
        self.about = f"a stand-in with {options.threads} threads"

    def field(self, path, mode):
        return peers.Field(self.energies[os.path.basename(path), mode] + self.off, 3, 10.0, [1.0, 1.0], [1.0, 1.0])


def called(peer, *words):
    """Exit status and output of the whole tool."""
    out, kept = io.StringIO(), sys.argv
    sys.argv = ["bench-xc-peers", suite.binary, "--device", "cpu", "--threads", "1", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            peers.main(peer)
    except SystemExit as end:
        return end.code, out.getvalue()
    finally:
        sys.argv = kept
    return None, out.getvalue()


def ratios(text):
    """Lines of ratios; 'iterations' holds that word too."""
    return len(re.findall(r"\bratio\b", text))


def whole():
    """Runs of the program, in the modes: the outputs' energies and times stand in the table."""
    suite.write("lih.xyz", "2\nLiH\nLi 0 0 0\nH 0 0 1.6\n")
    words = ("--molecules", suite.path("lih.xyz"), "--basis", "STO-3G", "--set", "xc.grid.preset=coarse")
    for mode, keys in (("fitted", {"functional": "pbe", "coulomb": "fitted"}), ("exact", {"functional": "b3lyp"}),
                       ("both", {"functional": "b3lyp", "coulomb": "fitted", "exchange": "fitted"})):
        tree = {"molecule": {"xyz": suite.path("lih.xyz")}, "basis": "STO-3G",
                "grid": {"preset": "coarse", "scheme": "becke", "adjust": "treutler"}, **keys}
        with suite.result({"family": "xc", "run": {"device": "cpu", "threads": 1}, "xc": tree}, name=mode) as file:
            StandIn.energies["lih.xyz", mode] = float(file["results"].attrs["total energy"])
    status, text = called(StandIn, *words, "--json", suite.path("whole.json"))
    check(status == 0 and ratios(text) == 3 and "tesela 0" in text and "a stand-in with 1 threads" in text, text)
    with open(suite.path("whole.json"), encoding="utf-8") as file:
        for row in json.load(file)["pairs"]:
            own = row["tesela"]
            check(own["wall"] >= sum(own["stages"].values()) >= own["computing"] > own["xc"] > 0, f"{own}")
            check(own["jk"] > 0 and own["first_jk"] > 0, f"{own}")
    StandIn.off = 1e-4
    status, text = called(StandIn, *words, "--modes", "fitted")
    check(status == 1 and "refused" in text and "1.0e-04" in text, text)
    StandIn.off = 0.0
    status, text = called(StandIn, *words, "--modes", "exact", "--set", "xc.scf.iterations=2")
    check(status == 1 and "tesela failed: exit status 3" in text, text)
    status, text = called(StandIn, "--molecules", "no_such_molecule")
    check(status == 2 and "no_such_molecule" in text, text)


def beside_pyscf():
    """Energies of PySCF itself, in all modes."""
    if importlib.util.find_spec("pyscf") is None:
        return "no pyscf"
    status, text = called(None, "--molecules", "water")
    check(status == 0 and ratios(text) == 3, text)
    return None


for each in (compared, refused, watched, iterations, whole, beside_pyscf):
    suite.case(each.__name__.replace("_", " "), each)
suite.end()
