"""Figures of one run: ranks, shares of time, timeline, prediction, phases."""
import numpy as np

from . import svg
from .page import ROWS, figure, number, percent, seconds, some

MANY = 3000     # units drawn one by one up to here
SLICES = 400    # else the share of each slice of time in which a rank computed
DOTS = 2500     # of the scatter
SHORT = 0.05    # s of computation below which shares say little
WARN = 0.05     # share of time lost above which the page says so


def tall(ranks):
    return int(np.clip(110 + 26 * ranks, 170, 900))


def rank_axis(ranks):
    """Ranks from the top down."""
    every = max(1, -(-ranks // 24))
    scale = svg.Scale(-0.6, ranks - 0.4, ticks=list(range(0, ranks, every)), form=lambda v: f"{v:.0f}")
    upward = scale.at
    scale.at = lambda value: 1 - upward(value)
    return scale


# ---- timeline -----------------------------------------------------------------------------


def busy_share(own, edges):
    """Share of each slice of time in which the rank computed."""
    starts, stops = np.sort(own["start"]), np.sort(own["start"] + own["measured"])

    def elapsed(times):  # sum of max(0, edge - time)
        sums = np.concatenate([[0], np.cumsum(times)])
        k = np.searchsorted(times, edges)
        return edges * k - sums[k]

    return np.clip(np.diff(elapsed(starts) - elapsed(stops)) / np.diff(edges), 0, 1)


def spans(own, near):
    """Units of a rank as (begin, end); those nearer to each other than near are one."""
    made = []
    for begin, end in sorted(zip(own["start"], own["start"] + own["measured"])):
        if made and begin - made[-1][1] < near:
            made[-1][1] = max(end, made[-1][1])
        else:
            made.append([begin, end])
    return made


def draw_each(chart, units, ranks):
    """Units that are wide enough stand apart; narrow ones flow together unless time lies between them."""
    pixel = (chart.x.hi - chart.x.lo) / (chart.width - chart.left - chart.right)
    wide = np.median(units["measured"]) > 4 * pixel
    for dynamic, colour, label in ((0, "c1", "its own by the plan"), (1, "c2", "taken from another rank")):
        chosen = units[units["dynamic"] == dynamic]
        boxes = [(begin, end, rank - 0.38, rank + 0.38) for rank in range(ranks)
                 for begin, end in spans(chosen[chosen["rank"] == rank], 0.0 if wide else 0.4 * pixel)]
        if boxes:
            chart.boxes(boxes, colour, label, gap=0.6 if wide else 0)


def draw_shares(chart, units, zero, end, ranks):
    edges = np.linspace(zero, end, SLICES + 1)
    boxes = []
    for rank in range(ranks):
        shares = busy_share(units[units["rank"] == rank], edges)
        boxes += [(edges[k] - zero, edges[k + 1] - zero, rank + 0.38 - 0.76 * share, rank + 0.38)
                  for k, share in enumerate(shares) if share > 0]
    chart.boxes(boxes, "c1", "share of each slice of time in which the rank computed")


def timeline(units, ranks, name="timeline", title="Timeline of the ranks", full=True, about=""):
    """Units of each rank over time; None when there are none."""
    if not len(units):
        return None
    zero, end = float(units["start"].min()), float((units["start"] + units["measured"]).max())
    if not end > zero:
        return None
    scale, unit = (1e3, "ms") if end - zero < 1 else (1, "s")
    units = units.copy()
    units["start"], units["measured"] = (units["start"] - zero) * scale, units["measured"] * scale
    zero, end = 0.0, (end - zero) * scale
    chart = svg.Chart(svg.Scale(zero, end, most=8), rank_axis(ranks), f"{unit} after the first unit began", "rank",
                      width=1240 if full else svg.WIDTH, height=tall(ranks), grid="x", says=title)
    if len(units) <= MANY:
        draw_each(chart, units, ranks)
    else:
        draw_shares(chart, units, zero, end, ranks)
    busy = np.bincount(units["rank"], units["measured"], ranks) / end
    least = int(busy.argmin())
    said = (f"{some(len(units), 'unit')} in {seconds(end / scale)}; from the first to the last, the ranks computed for "
            f"{percent(busy.mean())} of the time" + (f", least rank {least} with {percent(busy[least])}." if ranks > 1
                                                     else "."))
    return figure(name, title, chart.html(), about + said, full)


# ---- ranks --------------------------------------------------------------------------------


def by_rank(run):
    """Predicted and measured device time of each rank."""
    if not len(run.units):
        return None
    if run.balance is not None:  # all phases
        predicted, measured = run.balance["predicted"].astype(float), run.balance["measured"].astype(float)
    else:
        predicted, measured = (np.bincount(run.units["rank"], run.units[name], run.ranks)
                               for name in ("predicted", "measured"))
    top = max(predicted.max(), measured.max())
    chart = svg.Chart(svg.Scale(0, top * 1.04), rank_axis(run.ranks), "seconds of device time", "rank",
                      height=tall(run.ranks), grid="x", says="device time of each rank")
    chart.boxes([(0, v, r - 0.36, r - 0.02) for r, v in enumerate(predicted)], "pale", "predicted")
    chart.boxes([(0, v, r + 0.02, r + 0.36) for r, v in enumerate(measured)], "c1", "measured")
    spread = measured.max() / measured.mean() - 1 if measured.mean() > 0 else 0.0
    off = np.abs(measured - predicted).sum() / max(measured.sum(), 1e-300)
    said = f"Predictions of the ranks are off by {percent(off)} of the device time"
    if run.ranks > 1:
        said += f"; the busiest rank (rank {measured.argmax()}) has {percent(spread)} more than the mean"
    return figure("ranks", "Device time of each rank", chart.html(), said + ".")


def rank_shares(run):
    """Computing, between units and waiting, of each rank."""
    wall = run.number("measured_seconds")
    if run.balance is None or not wall > 0:
        return None
    chart = svg.Chart(svg.Scale(0, 1, form=lambda v: f"{100 * v:.0f} %", ticks=[0, .2, .4, .6, .8, 1]),
                      rank_axis(run.ranks), "share of the computation's time", "rank", height=tall(run.ranks), grid="x",
                      right=30, says="where the time of each rank went")
    busy, finish = run.balance["measured"] / wall, run.balance["finish"] / wall
    rows = range(run.ranks)
    chart.boxes([(0, min(busy[r], 1), r - 0.36, r + 0.36) for r in rows], "c1", "computing")
    chart.boxes([(busy[r], max(finish[r], busy[r]), r - 0.36, r + 0.36) for r in rows], "c2", "between units")
    chart.boxes([(max(finish[r], busy[r]), 1, r - 0.36, r + 0.36) for r in rows if finish[r] < 1], "c6",
                "ended, waiting for the last")
    return figure("shares", "Where the ranks' time went", chart.html(), shares_sentence(run))


def shares_sentence(run):
    said = (f"{percent(run.computing)} of the ranks' time is computing, {percent(run.between)} lies between units "
            f"(handing out, sending results), {percent(run.waiting)} is waiting for the last rank")
    worst = max((run.between, "between units"), (run.waiting, "in waiting"))
    if run.computing < 1 - WARN:
        said += f"; most of the loss is {worst[1]}"
    return said + "."


# ---- prediction ---------------------------------------------------------------------------


def correlation(a, b):
    """Pearson's; None where one of them does not vary."""
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0 and np.ptp(b) > 0 else None


def scatter(run):
    """Predicted against measured time of each unit (xc: a group of points)."""
    chosen = run.units[(run.units["predicted"] > 0) & (run.units["measured"] > 0)]
    if len(chosen) < 2:
        return None
    error = np.abs(chosen["measured"] / chosen["predicted"] - 1)
    total = chosen["measured"].sum() / chosen["predicted"].sum() - 1
    shown = chosen[np.linspace(0, len(chosen) - 1, DOTS).astype(int)] if len(chosen) > DOTS else chosen
    x, y = shown["predicted"], shown["measured"]
    middle = np.sqrt(x.min() * x.max())
    lo, hi = min(0.8 * x.min(), middle / 3), max(1.25 * x.max(), middle * 3)
    chart = svg.Chart(svg.Scale(lo, hi, log=True), svg.Scale(min(lo, 0.8 * y.min()), max(hi, 1.25 * y.max()), log=True),
                      "predicted seconds", "measured seconds",
                      says="predicted against measured time of each unit")
    for k, kind in enumerate(np.unique(shown["kind"])[:len(svg.COLOURS)]):
        at = shown["kind"] == kind
        several = len(np.unique(shown["kind"])) > 1
        chart.dots(x[at], y[at], svg.COLOURS[k], f"kind {kind}" if several else "units")
    chart.line([lo, hi], [lo, hi], "ink", "as predicted", thick=1.2)
    said = (f"The median unit is {percent(float(np.median(error)))} off its prediction; all units together take "
            f"{percent(abs(total))} {'more' if total > 0 else 'less'} than predicted.")
    together = correlation(chosen["predicted"], chosen["measured"])
    if together is not None:
        said += f" Correlation of the two: {together:.4f}."
    if len(shown) < len(chosen):
        said += f" Drawn: {some(len(shown), 'unit')} of {number(len(chosen))}."
    return figure("prediction", "Units: predicted and measured", chart.html(), said)


# ---- phases -------------------------------------------------------------------------------


def phases(run):
    """Predicted and measured time of each phase; None where the file holds no such record."""
    table = run.phases
    if table is None or len(table) < 2 or "measured" not in table.dtype.names:
        return None
    at = table["phase"] if "phase" in table.dtype.names else np.arange(len(table))
    measured = table["measured"].astype(float)
    predicted = table["predicted"].astype(float) if "predicted" in table.dtype.names else None
    talk = table["communication"].astype(float) if "communication" in table.dtype.names else None
    top = max(column.max() for column in (measured, predicted, talk) if column is not None) * 1.08
    chart = svg.Chart(svg.Scale(float(at.min()) - 0.5, float(at.max()) + 0.5), svg.Scale(0, top or 1.0), "phase",
                      "seconds", says="time of each phase")
    if predicted is not None:
        chart.line(at, predicted, "c2", "predicted", dash="7 4")
    if talk is not None:
        chart.line(at, talk, "c3", "sharing and combining", dash="2 3")
    chart.line(at, measured, "c1", thick=1.4)
    chart.points(at, measured, "c1", label="measured", titles=[f"phase {a}: {seconds(m)}" for a, m in
                                                              zip(at, measured)])
    said = (f"{some(len(table), 'phase')} in {seconds(float(measured.sum()))}; the first took "
            f"{seconds(float(measured[0]))}, the median one {seconds(float(np.median(measured)))}")
    if predicted is not None and predicted.sum() > 0:
        said += f"; together {percent(abs(measured.sum() / predicted.sum() - 1))} off the prediction"
    if run.exchange > 0:
        said += f"; sharing and combining took {seconds(run.exchange)} more"
    return figure("phases", "Phases", chart.html(), said + ".")


def rebalancing(run):
    """Imbalance of each phase, and what was expected of moving units after the phase before it."""
    table = run.phases
    names = ("imbalance", "imbalance_after", "moved")
    if table is None or len(table) < 2 or run.ranks < 2 or any(n not in table.dtype.names for n in names):
        return None
    at, measured, moved = table["phase"], table["imbalance"].astype(float), table["moved"]
    expected = np.where(moved > 0, table["imbalance_after"], np.nan)
    top = max(measured.max(), np.nan_to_num(expected).max(), 0.01) * 1.1
    chart = svg.Chart(svg.Scale(float(at.min()) - 0.5, float(at.max()) + 0.5),
                      svg.Scale(0, top, form=lambda v: f"{100 * v:.3g} %"), "phase", "imbalance",
                      says="imbalance of the phases")
    chart.line(at, measured, "c1", thick=1.4)
    chart.points(at, measured, "c1", 0, "measured")
    chart.points(at, expected, "c2", 2, "expected of the units that were moved before it",
                 titles=[some(int(m), "unit") + " moved" for m in moved])
    said = (f"The busiest rank computed {percent(measured[0])} longer than the mean in the first phase and "
            f"{percent(measured[-1])} in the last; {some(int(moved.sum()), 'unit')} were moved between phases "
            f"{some(int((moved > 0).sum()), 'time')}.")
    return figure("rebalancing", "Balance from phase to phase", chart.html(), said)


def restart_sentence(run):
    """What of a result this run did not compute; empty when it computed all."""
    if not len(run.before):
        return ""
    return (f"{some(len(run.before), 'unit')} of {number(len(run.before) + len(run.units))} came from the checkpoint: "
            f"they took {seconds(float(run.before['measured'].sum()))} of device time before the restart. The figures and times are of "
            "the run that went on.")


def sentence_of(run):
    """The run in one line."""
    said = f"computed in {seconds(run.wall)} on {some(run.ranks, 'rank')}"
    return said + (f", imbalance {percent(run.imbalance)}" if run.ranks > 1 else "")


def figures_of(run, traced=None):
    """All figures of a run; traced: units of a trace, which holds all phases, or None."""
    units, about = (run.units, "") if traced is None else (traced, "From the trace, all phases. ")
    if len(run.before):
        about += "Since the restart: "
    if run.ranks > ROWS:  # no bar of a thousandth of a pixel for each
        return [scatter(run), phases(run), rebalancing(run)]
    return [rank_shares(run), by_rank(run), scatter(run), phases(run), rebalancing(run),
            timeline(units, run.ranks, about=about)]


def warnings_of(run):
    """What a reader should know before trusting the run's times or repeating it."""
    lines = []
    if run.taking_part() < run.ranks:
        lines.append(f"{some(run.ranks - run.taking_part(), 'rank')} of {run.ranks} did not take part: too slow to pay "
                     "(run.ranks=all forces them).")
    if run.wall < SHORT:
        return lines + [f"The computation took {seconds(run.wall)}: too short for its shares and its prediction to "
                        "mean much."]
    lost = 1 - run.computing
    if lost > WARN and run.ranks > 1:
        remedy = ("between units: larger units (fewer of them: run.units) may help" if run.between > run.waiting else
                  "at the end: more units (run.units) may help")
        lines.append(f"{percent(lost)} of the ranks' device time was idle, mostly {remedy}.")
    error = abs(run.wall / run.predicted - 1) if run.predicted > 0 else 0.0
    if error > 0.15:
        lines.append(f"The computation took {percent(error)} {'more' if run.wall > run.predicted else 'less'} than "
                     "predicted: the machine had other work, or was measured too briefly (run.calibrate=always).")
    return lines
