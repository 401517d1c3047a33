"""The page of a scaling experiment."""
import math
import os

from . import h5, page, say, svg, table as tables
from .page import figure, number, percent, seconds, some
from .run import timeline

STRONG = "strong"
PART_COLOURS = {"computing": ("c1", "computing"), "between": ("c2", "between units"),
                "waiting": ("c6", "waiting for the last rank"), "exchange": ("c3", "sharing and combining"),
                "around": ("c4", "around the computation")}


def rank_scale(points, low=None):
    """A logarithmic axis with a tick at each number of ranks."""
    ranks = sorted({p.ranks for p in points})
    lo, hi = low or ranks[0], ranks[-1]
    ticks = ranks if len(ranks) <= 8 else [r for r in ranks if r & (r - 1) == 0 or r == hi]
    return svg.Scale(lo / 1.12, hi * 1.12, log=True, ticks=ticks, form=lambda v: f"{v:.0f}")


def all_points(table):
    return [p for points in table.series.values() for p in points]


def looks(table):
    """Colour, marker and dash of each series."""
    return {word: (svg.COLOURS[k % len(svg.COLOURS)], k, svg.DASHES[k % len(svg.DASHES)])
            for k, word in enumerate(table.series)}


def title_of(point, value):
    return f"{point.devices}, {some(point.ranks, 'rank')}: {value} ({some(len(point.good), 'run')})"


# ---- time, speed-up, efficiency -------------------------------------------------------------


def time_figure(table):
    points = all_points(table)
    lo, hi = min(p.fastest for p in points), max(p.slowest for p in points)
    chart = svg.Chart(rank_scale(points), svg.Scale(lo * 0.7, hi * 1.4, log=True), "ranks", "seconds",
                      says="time against ranks")
    for word, (colour, marker, dash) in looks(table).items():
        mine = table.series[word]
        chart.line([p.ranks for p in mine], [p.median for p in mine], colour, thick=1.6, dash=dash)
        chart.points([p.ranks for p in mine], [p.median for p in mine], colour, marker, word,
                     [p.fastest for p in mine], [p.slowest for p in mine],
                     [title_of(p, seconds(p.median)) for p in mine])
    return figure("time", "Time", chart.html(), say.time(table))


def speedup_figure(table):
    points, strong = all_points(table), table.experiment.mode == STRONG
    lo, hi = min(p.ranks for p in points), max(p.ranks for p in points)
    top = max(max(p.high for p in points), hi)
    bottom = min(min(p.low for p in points), lo)
    log = hi / lo > 4
    y = (svg.Scale(bottom / 1.15, top * 1.2, log=True, ticks=doublings(bottom, top)) if log
         else svg.Scale(0, top * 1.08))
    x = rank_scale(points) if log else svg.Scale(0, hi * 1.08, ticks=sorted({p.ranks for p in points}))
    chart = svg.Chart(x, y, "ranks", "speed-up", says="speed-up against ranks")
    chart.line([lo, hi], [lo, hi], "soft", "ideal", dash="5 4", thick=1.4)
    for word, (colour, marker, dash) in looks(table).items():
        mine = table.series[word]
        if word in table.fits:
            fit = table.fits[word]
            at = [lo * (hi / lo) ** (k / 40) for k in range(41)]
            at = [a for a in at if fit.base <= a <= mine[-1].ranks * 1.0001]
            chart.line(at, [fit.curve(strong, a) for a in at], colour, fit_label(table, word), dash, 1.4)
        chart.points([p.ranks for p in mine], [p.speedup for p in mine], colour, marker, word, [p.low for p in mine],
                     [p.high for p in mine], [title_of(p, f"speed-up {p.speedup:.4g}") for p in mine])
    return figure("speedup", "Speed-up" if strong else "Scaled speed-up", chart.html(), say.speedup(table))


def work_figure(table):
    """Work done by each number of ranks, where the problem grows; None in strong scaling."""
    points = [p for p in all_points(table) if p.work > 0]
    if table.experiment.mode == STRONG or not points:
        return None
    lo, hi = min(p.work for p in points), max(p.work for p in points)
    chart = svg.Chart(rank_scale(points), svg.Scale(lo / 1.3, hi * 1.3, log=True), "ranks", "inner items of all units",
                      says="work against ranks")
    for word, (colour, marker, _) in looks(table).items():
        mine = table.series[word]
        ends = [mine[0].ranks, mine[-1].ranks]
        chart.line(ends, [mine[0].work * n / ends[0] for n in ends], "soft", "in proportion to the ranks", "5 4", 1.4)
        chart.points([p.ranks for p in mine], [p.work for p in mine], colour, marker, word,
                     titles=[title_of(p, f"work {p.work:.4g}") for p in mine])
    return figure("work", "Work", chart.html(), say.work(table))


def doublings(lo, hi):
    ticks = [2.0 ** k for k in range(-4, 24)]
    return [t for t in ticks if lo * 0.9 <= t <= hi * 1.1]


def fit_label(table, word):
    strong, fit = table.experiment.mode == STRONG, table.fits[word]
    law, share = ("Amdahl", fit.amdahl) if strong else ("Gustafson", fit.gustafson)
    return f"{law}, serial share {percent(share, 2)}" + (f" ({word})" if len(table.series) > 1 else "")


def efficiency_figure(table):
    points = all_points(table)
    limits = [p.ceiling for p in points if math.isfinite(p.ceiling)]
    top = max(1.06, max([p.high / p.ranks for p in points] + limits) * 1.03)
    bottom = max(0.0, min(0.7, min([p.low / p.ranks for p in points] + limits) * 0.95))
    chart = svg.Chart(rank_scale(points), svg.Scale(bottom, top, form=lambda v: f"{100 * v:.0f} %"), "ranks",
                      "efficiency", says="efficiency against ranks")
    chart.level(1.0, "soft", "ideal")
    chart.line([chart.x.lo, chart.x.hi], [say.GOOD, say.GOOD], "c6", f"{100 * say.GOOD:.0f} %", dash="2 3", thick=1.4)
    for word, (colour, marker, dash) in looks(table).items():
        mine = table.series[word]
        chart.line([p.ranks for p in mine], [p.efficiency for p in mine], colour, thick=1.6, dash=dash)
        limits = [p for p in mine if math.isfinite(p.ceiling)]
        if limits:
            chart.line([p.ranks for p in limits], [p.ceiling for p in limits], "ink",
                       "what the host gives" + (f" ({word})" if len(table.series) > 1 else ""), "9 4", 1.6)
        chart.points([p.ranks for p in mine], [p.efficiency for p in mine], colour, marker, word,
                     [p.low / p.ranks for p in mine], [p.high / p.ranks for p in mine],
                     [title_of(p, percent(p.efficiency)) for p in mine])
    return figure("efficiency", "Efficiency", chart.html(), say.efficiency(table))


# ---- where the time goes --------------------------------------------------------------------


def cost_figure(table, word):
    """Rank-seconds for the same work, in shares of the base point's, by what they were spent on."""
    mine = table.series[word]
    names = [n for n in tables.PARTS if any(p.cost[n] > 0 for p in mine)]
    top = max(1.05, max(sum(p.cost.values()) for p in mine)) * 1.06
    chart = svg.Chart(svg.Scale(-0.6, len(mine) - 0.4, ticks=list(range(len(mine))),
                                form=lambda k: str(mine[int(k)].ranks)),
                      svg.Scale(0, top, form=lambda v: f"{100 * v:.0f} %"), "ranks", "rank-seconds for the same work",
                      grid="y", says="what the ranks' time was spent on")
    below = [0.0] * len(mine)
    for name in names:
        colour, label = PART_COLOURS[name]
        boxes = [(k - 0.33, k + 0.33, below[k] + p.cost[name], below[k]) for k, p in enumerate(mine)]
        chart.boxes(boxes, colour, label)
        below = [b + p.cost[name] for b, p in zip(below, mine)]
    chart.level(1.0, "ink", f"cost on {some(mine[0].ranks, 'rank')}")
    return figure(f"cost-{word}", f"What the ranks' time is spent on ({word})", chart.html(), say.cost(mine))


def overhead_figure(table):
    """Imbalance and the share of communication against ranks."""
    points = all_points(table)
    top = max(max(p.typical.record.imbalance, say.talk(p)) for p in points)
    chart = svg.Chart(rank_scale(points), svg.Scale(0, max(top * 1.15, 0.01),
                                                    form=lambda v: f"{100 * v:.3g} %"), "ranks", "share",
                      says="imbalance and communication against ranks")
    for k, (word, mine) in enumerate(table.series.items()):
        several = f" ({word})" if len(table.series) > 1 else ""
        for colour, label, values in (
                ("c2", "communication", [say.talk(p) for p in mine]),
                ("c1", "imbalance", [p.typical.record.imbalance for p in mine])):
            chart.line([p.ranks for p in mine], values, colour, thick=1.6, dash=svg.DASHES[k % 4])
            chart.points([p.ranks for p in mine], values, colour, 2 * k + (colour == "c1"), label + several,
                         titles=[title_of(p, percent(v, 2)) for p, v in zip(mine, values)])
    return figure("overhead", "Imbalance and communication", chart.html(), say.overhead(table))


def prediction_figure(table):
    rows = [row for row in table.good_rows() if row.record.predicted > 0]
    if not rows:
        return None
    values = [v for row in rows for v in (row.record.predicted, row.record.wall)]
    lo, hi = 0.7 * min(values), 1.4 * max(values)
    chart = svg.Chart(svg.Scale(lo, hi, log=True), svg.Scale(lo, hi, log=True), "predicted seconds",
                      "measured seconds", says="predicted against measured time of the runs")
    chart.line([lo, hi], [lo, hi], "ink", "as predicted", thick=1.2)
    above, below = 1 + say.NEAR, 1 - say.NEAR
    chart.line([lo, hi / above], [lo * above, hi], "soft", f"± {100 * say.NEAR:.0f} %", "4 4", 1)
    chart.line([lo / below, hi], [lo, hi * below], "soft", "", "4 4", 1)
    for word, (colour, marker, _) in (looks(table) | {"device mixes": ("c5", 3, "")}).items():
        other = word not in table.series
        mine = [r for r in rows if r.run.devices == word or (other and r.run.devices not in table.series)]
        if mine:
            chart.points([r.record.predicted for r in mine], [r.record.wall for r in mine], colour, marker, word,
                         titles=[r.run.name for r in mine])
    return figure("prediction", "Runs: predicted and measured", chart.html(), say.prediction(rows))


def mixes_figure(table):
    """Each list of devices: its time, and what its ranks' measured speeds would allow."""
    if not table.mixes:
        return None
    mine = sorted(table.mixes, key=lambda p: -p.median)
    ideal = [p.median * p.balanced for p in mine]
    scale = svg.Scale(-0.6, len(mine) - 0.4, ticks=list(range(len(mine))), form=lambda k: mine[int(k)].devices)
    upward = scale.at
    scale.at = lambda value: 1 - upward(value)
    left = 30 + 7.2 * max(len(p.devices) for p in mine)
    chart = svg.Chart(svg.Scale(0, max(p.slowest for p in mine) * 1.06), scale, "seconds", "", left=min(left, 300),
                      height=110 + 46 * len(mine), grid="x", says="time of each device mix")
    chart.boxes([(0, p.median, k - 0.36, k) for k, p in enumerate(mine)], "c1", "measured (median)")
    chart.boxes([(0, t, k + 0.02, k + 0.3) for k, t in enumerate(ideal)], "pale", "had all ranks ended together")
    return figure("mixes", "Device mixes", chart.html(), say.mixes(mine))


def timelines(table, wanted):
    """Of the fewest and the most ranks of each series, and of the mixes, or of the wanted numbers of ranks."""
    chosen = []
    for mine in table.series.values():
        ends = {mine[0].ranks, mine[-1].ranks}
        chosen += [p for p in mine if p.ranks in (wanted or ends)]
    chosen += table.mixes[-2:]
    made = []
    for point in chosen:
        row = point.typical
        made.append(timeline(row.record.units, row.record.ranks, f"timeline-{row.run.name}",
                             f"Timeline: {point.devices}, {some(point.ranks, 'rank')}",
                             about=f"Run {row.run.name}. "))
    return made


# ---- tables -----------------------------------------------------------------------------------


def shown(name, value):
    """A value of the CSV as a person reads it."""
    if isinstance(value, str):
        return value
    text = tables.written(value)
    if text == "":
        return "-"
    shares = (*tables.PARTS, "efficiency", "imbalance", "karp_flatt", "balanced", "ceiling", "of_ceiling", "together")
    return percent(value, 2) if name in shares else number(float(f"{value:.5g}")) if value < 1e6 else f"{value:.5g}"


def csv_table(rows, name):
    """The rows of a CSV file; data-csv holds each value as it stands there."""
    names = [n for n in rows[0] if any(tables.written(row[n]) for row in rows)]
    numeric = {n: any(not isinstance(row[n], str) for row in rows) for n in names}
    titles = {n: n[:-2].replace("_", " ") + " (s)" if n.endswith("_s") else n.replace("_", " ") for n in names}
    head = "".join(f"<th{page.NUMBER[numeric[n]]}>{page.escape(titles[n])}</th>" for n in names)
    body = ""
    for row in rows:
        bad = row.get("status", "ok") not in ("ok", "not run") or row.get("failed", 0) > 0
        cells = "".join(f'<td{page.NUMBER[numeric[n]]} data-name="{n}" data-csv="'
                        f'{page.escape(tables.written(row[n]))}">{page.escape(shown(n, row[n]))}</td>' for n in names)
        body += f'<tr{BAD[bad]}>{cells}</tr>'
    return page.raw_table(f"<tr>{head}</tr>", body, name)


BAD = {True: ' class="failed"', False: ""}


def machine_table(table):
    """Placements of the largest run of each series and mix; equal placements together."""
    rows = []
    largest = [mine[-1] for mine in table.series.values()] + table.mixes
    for point in largest:
        groups = {}
        for placement in point.typical.record.placements:
            key = (h5.text_of(placement["host"]), "gpu" if placement["kind"] == 1 else "cpu", h5.text_of(placement["device"]),
                   int(placement["threads"]), int(placement["processors"]), page.size(int(placement["memory"])),
                   h5.text_of(placement["driver"]))
            groups.setdefault(key, []).append(int(placement["rank"]))
        for (host, kind, device, threads, processors, memory, driver), ranks in groups.items():
            rows.append([f"{point.devices}, {point.ranks}", spans(ranks), host, kind, device, threads, processors,
                         memory, driver])
    return page.table(["devices, ranks", "of these", "host", "kind", "device", "threads of each",
                       "cores or multiprocessors", "memory", "driver"], rows, "machine")


def spans(numbers):
    """0-3, 8 for 0, 1, 2, 3, 8."""
    parts = []
    for n in numbers:
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def fit_table(table):
    rows = [[word, f"{points[0].ranks} to {points[-1].ranks}", percent(table.fits[word].amdahl, 3),
             percent(table.fits[word].gustafson, 3)] for word, points in table.series.items() if word in table.fits]
    if not rows:
        return ""
    return page.table(["devices", "ranks", "serial share (Amdahl)", "serial share (Gustafson)"], rows, "fits")


def copies_table(table):
    return csv_table(tables.copies_values(table), "copies") if table.copies() else ""


# ---- page -------------------------------------------------------------------------------------


def head_tiles(table):
    lines = []
    for word, mine in table.series.items():
        last = mine[-1]
        lines += [(f"{word}: fastest", seconds(min(p.median for p in mine))),
                  (f"{word}: speed-up on {last.ranks}", f"{last.speedup:.3g}"),
                  (f"{word}: efficiency on {last.ranks}", percent(last.efficiency))]
        if math.isfinite(last.of_ceiling):
            lines.append((f"{word}: of what the host gives", percent(last.of_ceiling)))
    lines += [("runs that count", number(len(table.good_rows()))), ("failed runs", number(len(table.failures())))]
    return page.tiles(lines)


def about(table):
    done = table.good_rows()[0].record
    dates = sorted({str(row.record.attributes.get("start_time", ""))[:10] for row in table.good_rows()})
    versions = sorted({f"tesela {row.record.attributes.get('version')} ({row.record.attributes.get('git_hash')})"
                       for row in table.good_rows()})
    return " · ".join([MODES[table.experiment.mode], str(done.attributes.get("family")), *versions,
                       " to ".join(dict.fromkeys((dates[0], dates[-1]))), ", ".join(tables.hosts(table.good_rows()))])


MODES = {"strong": "strong scaling: the same problem on more ranks",
         "weak": "weak scaling: a problem that grows with the ranks",
         "time": "fixed time: the largest problem in the same time"}


def document(table, options):
    experiment = table.experiment
    with open(experiment.path("deck.yaml"), encoding="utf-8", errors="replace") as file:
        text = file.read()
    drawn = []
    if table.series:
        drawn = [speedup_figure(table), efficiency_figure(table), time_figure(table), work_figure(table),
                 overhead_figure(table)]
        drawn += [cost_figure(table, word) for word in table.series]
    drawn += [mixes_figure(table), prediction_figure(table)]
    head = f"<p>{page.escape(say.how(table))}</p>" + page.warnings(say.warnings(table))
    stem = options.name or os.path.basename(experiment.folder)
    known = table.good_rows()[0].record.attributes.get("title")  # as the program has read it
    title = experiment.title or known or os.path.splitext(os.path.basename(experiment.deck))[0]
    return page.document(f"{title}: scaling", about(table), head, [
        head_tiles(table), page.section("Scaling", page.figures(drawn)),
        page.section("Timelines", page.figures(timelines(table, options.timeline))),
        page.section("Points", csv_table(tables.point_values(table), "points"), f"<p class=\"soft\">{say.POINTS} "
                     f"Also in {page.escape(stem)}.csv.</p>"),
        page.section("Fits", fit_table(table)),
        page.section("Runs", csv_table(tables.run_values(table), "runs"),
                     f"<p class=\"soft\">Also in {page.escape(stem)}_runs.csv.</p>"),
        page.section("What the host gives", copies_table(table), f"<p class=\"soft\">{say.COPIES} Also in "
                     f"{page.escape(stem)}_copies.csv.</p>") if table.copies() else "",
        page.section("Machine", machine_table(table)),
        page.section("Deck", page.folded("as it was", text, len(text) < 3000)),
        page.section("Command", f"<pre>{page.escape(experiment.asked())}</pre>")])
