"""One sentence for each figure of a scaling experiment, computed from its data."""
from .ceiling import TOGETHER
from .page import percent, seconds, some

GOOD = 0.90    # efficiency that is called good
HIGH = 1.05    # efficiency that needs an explanation
NEAR = 0.15    # prediction error that is called near
SHORT = 0.1    # s, below which a run is too short for its shares to mean much
NOISY = 0.10   # spread of the repeats, over their median, that deserves a warning
UNFIT = 0.25   # deviation of a point from the fitted law above which the law is not believed
FLAT = 0.005   # serial share that cannot be told from 0

POINTS = ("median, fastest and slowest of the runs that count; speed-up low and high from the slowest and the fastest; "
          "karp flatt: the serial share that this point alone would need; computing, between (units), waiting (for the "
          "last rank), exchange (sharing and combining): shares of the ranks' time in the median run; units: from the "
          "first to the last unit, which is what is predicted; balanced: time had all ranks ended together over the "
          "time it took; ceiling: efficiency of runs of one rank that share nothing but the host; of ceiling: "
          "efficiency over that.")
COPIES = ("Copies of the run of one rank, started at once, each with the whole problem on the cores of one rank of the "
          "point. Time: at the mean of the copies' speeds. Together: while one copy computed, the share of the others "
          f"that did; below {100 * TOGETHER:.0f} % they are started again (tries).")


def how(table):
    """What was measured, and how."""
    experiment = table.experiment
    counts = sorted({len(p.good) for p in table.points if p.good})
    runs = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    what = "the computation" if experiment.measure == "computation" else "the whole run"
    said = f"Time of {what}; median of {runs} {'run' if counts[-1] == 1 else 'runs'} of each point"
    if counts[-1] > 1:
        said += ", bars from the fastest to the slowest"
    if experiment.warm:
        said += "; a run before them did not count"
    if experiment.growths and experiment.mode != "strong":
        said += "; the problem grows by " + ", ".join(f"{g.key} ~ ranks^{g.power:.4g}" for g in experiment.growths)
    if experiment.wanted:
        said += f"; wanted {seconds(experiment.wanted)}"
    return said + "."


def names(table, word):
    """The series in words; nothing when there is only one."""
    return f"{word}: " if len(table.series) > 1 else ""


def joined(parts):
    """One sentence for each series; a series' name stays as the command line has it."""
    return " ".join(parts) if len(parts) > 1 else parts[0][0].upper() + parts[0][1:]


def time(table):
    parts = []
    for word, mine in table.series.items():
        first, last = mine[0], mine[-1]
        said = f"{names(table, word)}{some(first.ranks, 'rank')} {takes(first)} {seconds(first.median)}"
        if last is not first:
            said += f", {last.ranks} take {seconds(last.median)}"
            if table.experiment.mode != "strong":
                said += f" for {last.growth:.4g} times the work"
        parts.append(said + ".")
    return joined(parts)


def work(table):
    parts = []
    for word, mine in table.series.items():
        last = mine[-1]
        parts.append(f"{names(table, word)}{some(last.ranks, 'rank')} {'does' if last.ranks == 1 else 'do'} "
                     f"{last.growth:.4g} times the work of {mine[0].ranks} in {last.median / mine[0].median:.3g} "
                     "times the time.")
    return joined(parts)


def takes(point):
    return "takes" if point.ranks == 1 else "take"


def speedup(table):
    parts, strong = [], table.experiment.mode == "strong"
    for word, mine in table.series.items():
        if word not in table.fits:
            parts.append(f"{names(table, word)}only one number of ranks: no speed-up.")
            continue
        last, fit = mine[-1], table.fits[word]
        share = fit.amdahl if strong else fit.gustafson
        said = f"{names(table, word)}{last.ranks} ranks do the work of {last.speedup:.3g}"
        parts.append(f"{said}; {serial_sentence(mine, fit, share, strong)}.")
    return joined(parts)


def serial_sentence(mine, fit, share, strong):
    """What the fitted law says, and whether it may be believed."""
    law = "Amdahl" if strong else "Gustafson"
    off = max(abs(p.speedup / fit.curve(strong, p.ranks) - 1) for p in mine)
    if off > UNFIT:
        return f"{law}'s law does not describe these points: its best fit is up to {percent(off, 0)} off"
    if share < FLAT:
        return f"the fitted serial share, {percent(share, 2)}, cannot be told from none"
    if grows(mine):
        return (f"{law}'s law fits best with a serial share of {percent(share, 2)}, but the share that each point "
                "alone would need grows with the ranks: overhead rather than serial work")
    said = f"{law}'s law fits with a serial share of {percent(share, 2)}"
    if strong:
        said += f", so that no number of ranks would be more than {fit.base / share:.3g} times as fast as one"
    return said


def grows(mine):
    shares = [p.serial for p in mine if p.serial == p.serial]
    return len(shares) >= 3 and shares[-1] > 1.5 * max(shares[0], FLAT)


# ---- reasons --------------------------------------------------------------------------------


def losses(point, base):
    """Rank time that a point spends beyond its base point for the same work, by reason, as shares of its time."""
    grown = {name: (point.cost[name] - base.cost[name]) * point.efficiency for name in point.cost}
    return sorted(grown.items(), key=lambda item: -item[1])


def crowded(point):
    """More threads than cores on some node?"""
    nodes = {}
    for placement in point.typical.record.placements:
        if placement["kind"] == 0:
            threads, cores = nodes.get((placement["node"], placement["index"]), (0, 0))
            nodes[(placement["node"], placement["index"])] = (threads + int(placement["threads"]), int(placement["processors"]))
    return any(threads > cores for threads, cores in nodes.values())


def reason(point, base):
    """Why a point is less efficient than its base, as a clause."""
    name, share = losses(point, base)[0]
    if share <= 0:
        return "no single part of the ranks' time has grown"
    part = percent(share)
    if name == "computing":
        if crowded(point):
            return ("there are more threads than cores, so that the units themselves cost "
                    f"{part} of the ranks' time more")
        return (f"the same units take longer, {part} of the ranks' time (shared caches and memory, clocks, or smaller "
                "units)")
    if name == "between":
        return f"{part} of the ranks' time goes to what lies between units: handing them out and sending results"
    if name == "waiting":
        return f"{part} of the ranks' time is lost waiting for the last rank"
    if name == "exchange":
        return f"{part} of the time goes to sharing inputs and combining results"
    return f"{part} of the time lies around the computation: reading, combining, writing"


def efficiency(table):
    parts = []
    for word, mine in table.series.items():
        base, low = mine[0], next((p for p in mine if p.efficiency < GOOD), None)
        if len(mine) == 1:
            parts.append(f"{names(table, word)}only one number of ranks.")
        elif low is not None:
            parts.append(f"{names(table, word)}efficiency falls below {100 * GOOD:.0f} % at {low.ranks} ranks "
                         f"({percent(low.efficiency)}) because {reason(low, base)}.")
        else:
            last = min(mine[1:], key=lambda p: p.efficiency)
            said = (f"{names(table, word)}efficiency stays at {percent(last.efficiency)} or more up to "
                    f"{mine[-1].ranks} ranks")
            if last.efficiency < 0.995:
                said += f"; at {last.ranks}, the lowest, {reason(last, base)}"
            parts.append(said + ".")
        parts[-1] += ceiling(mine)
    return joined(parts)


def ceiling(mine):
    """What the ranks could have reached at most, where that was measured; else nothing."""
    last = next((p for p in reversed(mine[1:]) if p.ceiling == p.ceiling), None)
    if last is None:
        return ""
    first = mine[0].ranks
    alone = "one alone" if first == 1 else f"{first} of them"
    return (f" The host itself gives {percent(last.ceiling)}: so fast, compared with {alone}, are {last.ranks} runs of "
            "one rank at once that have nothing in common but its clock, physical cores, caches and memory; the ranks "
            f"reach {percent(last.of_ceiling)} of that.")


def cost(mine):
    base, last = mine[0], mine[-1]
    if last is base:
        return f"{percent(base.typical.parts['computing'])} of the ranks' time is computing."
    more = 1 / last.efficiency - 1
    said = (f"The same work costs {percent(abs(more))} {'more' if more > 0 else 'less'} rank-seconds on {last.ranks} "
            f"ranks than on {base.ranks}")
    if more > 0.005:
        said += f": {reason(last, base)}"
    return said + "."


def talk(point):
    """Share of the ranks' time that is neither computing nor waiting for the last rank."""
    return point.typical.parts["between"] + point.typical.parts["exchange"]


def overhead(table):
    worst = max((p for mine in table.series.values() for p in mine), key=lambda p: p.typical.record.imbalance)
    busiest = max((p for mine in table.series.values() for p in mine), key=talk)
    return (f"The last rank ends at most {percent(worst.typical.record.imbalance, 2)} after the mean ({worst.devices}, "
            f"{some(worst.ranks, 'rank')}); communication (between units, sharing, combining) takes at most "
            f"{percent(talk(busiest), 2)} of the ranks' time ({busiest.devices}, {some(busiest.ranks, 'rank')}).")


def prediction(rows):
    errors = sorted(abs(row.record.predicted / row.record.wall - 1) for row in rows)
    near = sum(error <= NEAR for error in errors)
    worst = max(rows, key=lambda row: abs(row.record.predicted / row.record.wall - 1))
    return (f"{near} of {some(len(rows), 'run')} took within {100 * NEAR:.0f} % of the prediction (median error "
            f"{percent(errors[len(errors) // 2])}, largest {percent(errors[-1])} in {worst.run.name}).")


def mixes(mine):
    best, worst = mine[-1], min(mine, key=lambda p: p.balanced)
    return (f"{best.devices} is the fastest with {seconds(best.median)}; measured by the speeds of its own devices, "
            f"each mix reaches at least {percent(worst.balanced)} of what they could do together ({worst.devices}).")


# ---- warnings -------------------------------------------------------------------------------


def listed(words, most=6):
    """The first few, and how many more."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def failures(table):
    """Failed runs by what they said."""
    reasons = {}
    for row in table.failures():
        reasons.setdefault(row.error, []).append(row.run.name)
    return [f"Failed: {listed(names)}: {error}" for error, names in reasons.items()]


def warnings(table):
    lines = failures(table)
    missing = [row.run.name for point in table.points for row in point.missing]
    missing += [row.run.name for row in table.copies() if row.status == "not run"]
    if missing:
        lines.append(f"Not run yet: {listed(missing)}.")
    good = [p for p in table.points if p.good]
    short = [p for p in good if p.median < SHORT]
    if short:
        lines.append(f"Runs of less than {SHORT:g} s ({listed([p.point.name() for p in short])}): a larger problem "
                     "would be measured better.")
    noisy = [p for p in good if (p.slowest - p.fastest) / p.median > NOISY]
    if noisy:
        lines.append(f"Repeats differ by more than {100 * NOISY:.0f} % ({listed([p.point.name() for p in noisy])}): "
                     "the machine had other work, or runs are too short.")
    fast = [p for p in good if p.efficiency > HIGH]
    if fast:
        lines.append(f"Efficiency above {100 * HIGH:.0f} % ({listed([p.point.name() for p in fast])}): more cache for "
                     "each rank, or the point with the fewest ranks was disturbed.")
    above = [p for p in good if p.of_ceiling > HIGH]
    if above:
        lines.append(f"More than {100 * HIGH:.0f} % of what the host gives ({listed([p.point.name() for p in above])}): "
                     "a share of the problem finds more room in the caches than the whole, or the copies were "
                     "disturbed.")
    crowd = [p for p in good if crowded(p)]
    if crowd:
        lines.append("More threads than cores: " + listed([p.point.name() for p in crowd]) + ".")
    if any(len(p.good) < 3 for p in good):
        lines.append("Fewer than three runs of some points: their bars say little.")
    left = [p for p in good if p.typical.record.taking_part() < p.ranks]
    if left:
        lines.append("Some ranks were left out as too slow to pay: " + listed([p.point.name() for p in left]) +
                     " (run.ranks=all makes all take part).")
    versions = {row.record.attributes.get("git_hash") for row in table.good_rows()}
    if len(versions) > 1:
        lines.append(f"The runs are of {len(versions)} versions of the program.")
    return lines
