#!/usr/bin/env python3
"""Iterations of xc share their work evenly, and the energy does not depend on who did what.

usage: xc_balance.py TESELA [--fast] [ONLY]

The clock is a virtual one (TSL_TEST_CLOCK=work): units take what they are predicted to, times 0.75 to 1.25, so
that nothing else on the machine disturbs; ranks of another speed are made by TSL_TEST_SLOW, which multiplies.
Vitamin C, PBE/def2-SVP, fitted Coulomb: an iteration is two phases. What is measured is the imbalance
(longest rank over mean - 1) of the even phases from the third iteration on, which have all but a few
per mille of the work: the median of the phases, at most 5 %. Predictions and equal ranks are of the default
grid, ranks of other speeds of a coarse one; runs end at the eighth iteration, as nothing moves any more.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accept"))
import harness  # noqa: E402
from harness import check, check_units, np  # noqa: E402

suite = harness.Suite(__doc__)
DECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inputs", "xc", "vitamin_c.yaml")
COMMON = ["--set", "run.device=cpu", "--set", "run.threads=1", "--set", "run.ranks=all"]
EVEN, SAME = 0.05, 1e-10
FEW = ("xc.scf.energy=1e-3", "xc.scf.commutator=1e-2")  # iterations
COARSE = ("xc.grid.preset=coarse",)
ENERGY = -683.5164218  # hartree, of one rank, on a coarse grid after few iterations
KIND_PAIRS, KIND_FIT = 1, 2


# ------------------------------------------------------------------ predicted


def predicted(*sets, ranks=None):
    """Balance over equal ranks by their number; balance and seconds of the plan's sets of kinds."""
    run = suite.run(["plan", DECK, *COMMON, *(w for s in sets for w in ("--set", s))], ranks, timeout=300,
                    env={"TSL_TEST_CLOCK": "work"})
    check(run.status == 0, run.tail())
    table = {int(n): float(p) / 100 for n, p in re.findall(r"^ +(\d+) ranks +([\d.]+) %$", run.out, re.M)}
    kinds = {k: (float(p) / 100, float(s)) for k, s, p in
             re.findall(r"^phases of units of kind ([\d ]+): predicted (\S+) s each, balance ([\d.]+) %", run.out, re.M)}
    return table, kinds


def kd_case():
    """Groups of equal points let eight equal ranks reach 95 %."""
    table, kinds = predicted()
    check(table[8] >= 0.95, f"8 ranks: {100 * table[8]:.1f} %")
    check(sorted(kinds) == ["0 1 2", "2"], f"sets of kinds: {kinds}")
    return f"8 ranks {100 * table[8]:.2f} %"


def cubes_case():
    """The seed's spheres and cubes, with its reach of functions, keep about three ranks busy."""
    table, _ = predicted("xc.groups.kind=cubes", "xc.groups.reach=exponent")
    busy = 8 * table[8]
    check(2 < busy < 3.5, f"8 ranks are worth {busy:.2f}")
    return f"8 ranks are worth {busy:.2f}"


def plan_case(ranks, plan):
    """What the planner deals is even over an iteration: a phase of units of all kinds and a short one of
    those of fitting shells, which it deals by ten iterations with what only the first one makes. bins fills
    one rank after the other and leaves the short phase looser."""
    short = 0.5 if plan == "bins" else 0.85
    _, kinds = predicted(f"run.plan={plan}", "run.calibrate=always", ranks=ranks)
    even = sum(share * s for share, s in kinds.values()) / sum(s for _, s in kinds.values())
    check(even >= 0.95 and kinds["0 1 2"][0] >= 0.95 and kinds["2"][0] >= short, f"{even:.3f}; balance and seconds {kinds}")
    return f"{100 * even:.2f} %; " + ", ".join(f"kinds {k}: {100 * v:.2f} %" for k, (v, _) in sorted(kinds.items()))


# ------------------------------------------------------------------- measured


def compute(ranks, slow, *sets):
    """Tables of a run of the deck."""
    out = suite.path("vitamin.h5")
    env = {"TSL_TEST_CLOCK": "work", **({"TSL_TEST_SLOW": slow} if slow else {})}
    words = [w for s in ("run.calibrate=always", *FEW, *sets) for w in ("--set", s)]
    run = suite.run(["run", DECK, "-o", out, "--overwrite", *COMMON, *words], ranks, env=env, timeout=600)
    check(run.status == 0 and "VALID" in run.out, run.tail())
    with harness.h5py.File(out) as file:
        units = check_units(file, ranks)
        energy = file["results"].attrs["total energy"]
        return file["run/phases"][()], file["run/phase_times"][()], units, energy, run


def check_record(phases, times, units, size):
    """The tables say the same, and units that rest are not in them."""
    check(np.array_equal(phases["phase"], np.arange(len(phases))), "phases are missing")
    for line in phases:
        own = times[times["phase"] == line["phase"]]
        check(own["units"].sum() == line["units"], f"phase {line['phase']}: units do not add up")
        check(abs(own["measured"].sum() - line["computed"]) <= 1e-9 + 1e-6 * line["computed"], "times do not add up")
        ranks = np.bincount(own["rank"], own["measured"])
        check(abs(ranks.max() * size / ranks.sum() - 1 - line["imbalance"]) < 1e-6, "another imbalance")
    odd, even = phases[1::2], phases[0::2]
    check((even["units"] == len(units)).all() and (even["kinds"] == 7).all(), "units rest in an even phase")
    check((odd["units"] == (units["kind"] == KIND_FIT).sum()).all() and (odd["kinds"] == 1 << KIND_FIT).all(),
          "an odd phase has other units than those of fitting shells")
    check(set(times[times["phase"] % 2 == 1]["kind"]) == {KIND_FIT}, "kinds that rest were timed")


def even_case(ranks, slow, *sets):
    phases, times, units, energy, run = compute(ranks, slow, *sets)
    check_record(phases, times, units, ranks)
    check(run.out.count("\nphase ") == len(phases), "a phase has no line")
    check(f"sums over {len(phases)} phases" in run.out, "the report does not name the phases")
    settled = np.median(phases["imbalance"][4::2])
    check(settled <= EVEN, f"imbalance {100 * settled:.1f} %: {np.round(100 * phases['imbalance'][::2], 1).tolist()}")
    return (f"imbalance {100 * phases['imbalance'][0]:.1f} % in the first phase, {100 * settled:.1f} % later; "
            f"{phases['moved'].sum()} moves")


def slow_case(speed, *sets):
    """A slow rank gets what it can do in a phase's time, if anything: phases come to take what ranks of these speeds
    must take together."""
    phases, times, units, energy, run = compute(2, f"1:{speed}", *COARSE, *sets)
    check_record(phases, times, units, 2)
    check(abs(energy - ENERGY) < 1e-6, f"energy {energy}")
    longest, ideal = [], []
    for p in phases["phase"][4::2]:
        own = np.bincount(*(times[times["phase"] == p][c] for c in ("rank", "measured")), minlength=2)
        longest.append(own.max())
        ideal.append((own[0] + own[1] / speed) / (1 + 1 / speed))
    over = np.median(np.array(longest) / ideal) - 1
    check(over <= EVEN, f"{100 * over:.1f} % above the ideal time")
    return f"{100 * over:.1f} % above the ideal time, {(units['rank'] == 1).sum()} of {len(units)} units on the slow rank"


def still_case():
    """Without rebalancing, units stay where a plan that ignores speed has put them."""
    phases, times, units, _, _ = compute(2, "1:3", *COARSE, "run.plan=roundrobin", "run.rebalance=no")
    check_record(phases, times, units, 2)
    check((phases["moved"] == 0).all(), "units moved")
    for home in (units["kind"] == KIND_FIT, units["kind"] != KIND_FIT):  # dealt one after the other
        own = np.sort(units[home], order="id")
        check(np.array_equal(own["rank"], np.arange(len(own)) % 2), "not dealt in turn")
    check(np.median(phases["imbalance"][4::2]) > 0.3, "even without rebalancing: the test shows nothing")
    return f"imbalance {100 * np.median(phases['imbalance'][4::2]):.0f} %"


# ------------------------------------------------------------------- energies

DECKS = {
    "fitted": {"functional": "pbe0", "coulomb": "fitted", "molecule": {
        "atoms": '"O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696"'}},
    "exact": {"functional": "pbe", "molecule": {"atoms": '"O 0 0 0; O 0 0 1.2"', "multiplicity": 3}},
}
alone = {}


def energy(name, ranks=None, env=None, **run):
    tree = {"family": "xc", "run": {"device": "cpu", "threads": 1, "ranks": "all", **run},
            "xc": {"basis": "def2-SVP", "grid": {"preset": "coarse"}, "scf": {"energy": 1e-10, "commutator": 1e-7},
                   **DECKS[name]}}
    with suite.result(tree, ranks, env=env, timeout=300) as file:
        check_units(file, ranks or 1)
        return file["results"].attrs["total energy"], int(file["run/phases"]["moved"].sum())


def energy_case(name, plan, rebalance, slow=None):
    if name not in alone:
        alone[name] = energy(name)[0]
    more = {"calibrate": "always"} if slow else {}
    found, moved = energy(name, 3, {"TSL_TEST_SLOW": slow} if slow else None, plan=plan, rebalance=rebalance, **more)
    check(abs(found - alone[name]) <= SAME, f"{found - alone[name]:.1e} hartree from one rank")
    check(rebalance == "yes" or moved == 0, f"{moved} units moved")
    return f"{found - alone[name]:+.1e} hartree, {moved} moves"


EXACT = ("xc.functional=b3lyp", "xc.coulomb=exact", "xc.basis=STO-3G", *COARSE)


def kept_case():
    """Batches whose integrals are kept stay, and move when the plan ignored speed, by what their first run cost."""
    out = suite.path("kept.h5")
    settings = (*EXACT, "run.plan=roundrobin", "run.calibrate=always", "xc.scf.energy=1e-3", "xc.scf.commutator=1e-2")
    run = suite.run(["run", DECK, "-o", out, "--overwrite", *COMMON, *(w for s in settings for w in ("--set", s))], 2,
                    env={"TSL_TEST_CLOCK": "work", "TSL_TEST_SLOW": "1:3"}, timeout=300)
    check(run.status == 0, run.tail())
    with harness.h5py.File(out) as file:
        units, phases = check_units(file, 2), file["run/phases"][()]
    later = units[units["phase"] > 0]
    check((later["dynamic"] == 0).all(), "a batch that is kept was taken")
    settled = np.median(phases["imbalance"][2:])
    check(phases["moved"].sum() > 0 and settled <= EVEN, f"imbalance {np.round(100 * phases['imbalance'], 1).tolist()}")
    return f"imbalance {100 * phases['imbalance'][0]:.0f} % in the first phase, {100 * settled:.1f} % later; {phases['moved'].sum()} moves"


def taken_case():
    """After the first phase a rank with nothing left takes what keeps nothing, and nothing else, from a rank whose
    part is too large. The second phase has more quartets than the guess of atoms; a plan ignores speed."""
    out = suite.path("taken.h5")
    settings = (*EXACT, "xc.quartet_cache=0", "run.plan=roundrobin", "run.rebalance=no", "xc.scf.iterations=2")
    run = suite.run(["run", DECK, "-o", out, "--overwrite", *COMMON, *(w for s in settings for w in ("--set", s))], 2,
                    env={"TSL_TEST_SLOW": "1:2"}, timeout=300)
    check(run.status == 3 and "not converged in 2 iterations" in run.err, run.tail())
    with harness.h5py.File(out) as file:
        units = check_units(file, 2)
    check((units["phase"] == 1).all(), "units of another phase")
    taken = units[units["dynamic"] == 1]
    check(len(taken) > 0 and (taken["kind"] == KIND_PAIRS).all(), f"{len(taken)} units, kinds {set(taken['kind'].tolist())}")
    return f"{len(taken)} of {(units['kind'] == KIND_PAIRS).sum()} batches of pairs"


def key_case():
    for setting in ("run.rebalance_threshold=-0.1", "run.rebalance=perhaps"):
        run = suite.run(["plan", DECK, "--set", setting])
        check(run.status == 2 and setting.split("=", maxsplit=1)[0].split(".")[1] in run.err, run.tail())


suite.case("predicted balance, kd", kd_case)
suite.case("predicted balance, cubes", cubes_case)
for plan in ("strips", "lpt", "bins"):
    if not suite.fast or plan == "strips":
        suite.case(f"predicted balance, plan {plan} on 4 ranks", plan_case, 4, plan)
suite.case("even on 4 ranks", even_case, 4, None)
suite.case("even on speeds 1:3", even_case, 2, "1:3", *COARSE)
suite.case("even on speeds 1:3 from a plan that ignores them", even_case, 2, "1:3", *COARSE, "run.plan=roundrobin")
for slow in (10, 30):
    suite.case(f"speeds 1:{slow}", slow_case, slow)
    if not suite.fast:
        suite.case(f"speeds 1:{slow} from a plan that ignores them", slow_case, slow, "run.plan=roundrobin")
suite.case("speeds 1:1000 from a plan that ignores them", slow_case, 1000, "run.plan=roundrobin")
suite.case("not even without rebalancing", still_case)
suite.case("quartets kept, speeds 1:3 from a plan that ignores them", kept_case)
suite.case("taken after the first phase", taken_case)
for name in DECKS:
    for plan in ("strips", "lpt", "bins", "roundrobin"):
        for rebalance in ("yes", "no"):
            if not suite.fast or plan in ("lpt", "roundrobin"):
                suite.case(f"energy {name}, plan {plan}, rebalance {rebalance}", energy_case, name, plan, rebalance)
    suite.case(f"energy {name}, slow rank", energy_case, name, "roundrobin", "yes", "1:3")
suite.case("keys", key_case)
suite.end()
