"""What `tesela plan DECK --cluster FILE` predicts for numbers of nodes, as CSV and page, beside measured points."""
import csv
import io
import os
import re
import subprocess

from . import laws, page, svg
from .page import figure, percent, seconds, some

NUMBERS = ("nodes", "ranks", "units", "compute_s", "share_s", "between_s", "combine_s", "time_s", "speedup", "efficiency", "idle")
SIZES = ("network", "rank0_host", "device")
VALUES = [r"([-\d.e+]+)"] * len(NUMBERS) + [r"([\d.]+ [KMGT]?i?B|-)"] * len(SIZES)
LINE = re.compile(r"\s*" + r"\s+".join(VALUES) + r"\s+[\d.]+$")
HEADS = ["devices", "ranks", "predicted", "measured", "off by"]
COLUMNS = "time, compute, share, between and combine in seconds; efficiency and idle are parts of 1. Docs: operations.md."


class SimulationError(Exception):
    """The program could not plan, in its own words."""


def simulate(made, cluster):
    """(what the program said, rows {column: value}) for the experiment's deck and settings."""
    words = [made.program, "plan", made.deck, "--cluster", cluster]
    sets = made.sets + ([f"run.threads={made.threads}"] if made.threads else [])
    done = subprocess.run(words + [word for text in sets for word in ("-s", text)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SimulationError(done.stderr.strip())
    rows = [row_of(found) for found in map(LINE.match, done.stdout.splitlines()) if found]
    if not rows:
        raise SimulationError(f"no row in what the program said:\n{done.stdout}")
    return done.stdout, rows


def row_of(found):
    row = {name: float(text) for name, text in zip(NUMBERS, found.groups())}
    row |= {name: int(row[name]) for name in ("nodes", "ranks", "units")}
    row |= {name: round(row[name] / 100, 6) for name in ("efficiency", "idle")}
    return row | dict(zip(SIZES, found.groups()[len(NUMBERS):]))


def beside(rows, table):
    """Points of each number of ranks: of a series of the folder, by its name."""
    ranks = {row["ranks"] for row in rows}
    return {word: [p for p in points if p.ranks in ranks] for word, points in table.series.items()}


# ---- figures ----------------------------------------------------------------------------------


def rank_scale(rows):
    ranks = [row["ranks"] for row in rows]
    return svg.Scale(ranks[0] / 1.12, ranks[-1] * 1.12, log=True, ticks=ranks[-9:], form=lambda v: f"{v:.0f}")


def time_figure(rows, measured):
    values = [row["time_s"] for row in rows] + [p.round for points in measured.values() for p in points]
    chart = svg.Chart(rank_scale(rows), svg.Scale(min(values) * 0.7, max(values) * 1.4, log=True), "ranks", "seconds",
                      says="predicted time against ranks")
    ranks = [row["ranks"] for row in rows]
    chart.line(ranks, [row["time_s"] for row in rows], "c1", "predicted", thick=1.6)
    for k, (word, points) in enumerate(measured.items()):
        colour = svg.COLOURS[(k + 1) % len(svg.COLOURS)]
        chart.points([p.ranks for p in points], [p.round for p in points], colour, k, f"measured ({word})")
    ends = "; ".join(f"{some(row['ranks'], 'rank')}: {seconds(row['time_s'])}" for row in (rows[0], rows[-1]))
    between = seconds(rows[-1]["share_s"] + rows[-1]["combine_s"])
    return figure("time", "Time", chart.html(), f"{ends}, of which {between} to share and combine.")


def speedup_figure(rows):
    nodes, speedups = [row["nodes"] / rows[0]["nodes"] for row in rows], [row["speedup"] for row in rows]
    share, scaled = laws.amdahl_share(nodes, speedups), laws.gustafson_share(nodes, speedups)
    top = max(nodes)
    x = svg.Scale(0.9, top * 1.1, log=True, ticks=nodes[-9:], form=lambda v: f"{v:g}")
    chart = svg.Chart(x, svg.Scale(0.8, top * 1.2, log=True), "nodes over the fewest", "speed-up",
                      says="speed-up against nodes")
    at = [top ** (k / 40) for k in range(41)]
    chart.line([1, top], [1, top], "soft", "ideal", dash="5 4", thick=1.4)
    chart.line(at, [laws.amdahl(share, n) for n in at], "c2", f"Amdahl, serial share {percent(share, 2)}", thick=1.4)
    above = [n for n in at if laws.gustafson(scaled, n) > 0.8]
    chart.line(above, [laws.gustafson(scaled, n) for n in above], "c3",
               f"Gustafson, serial share {percent(scaled, 2)}", "2 3", 1.4)
    chart.points(nodes, speedups, "c1", 0, "predicted")
    good = [row for row in rows if row["efficiency"] >= 0.9]
    return figure("speedup", "Speed-up", chart.html(), f"Up to {good[-1]['nodes']} nodes do 90 % of what they could."
                  if good else "No number of nodes does 90 % of what it could.")


# ---- page and CSV -------------------------------------------------------------------------------


def compared(rows, measured):
    """Predicted and measured seconds of computing, and between the phases of an iteration."""
    at = {row["ranks"]: row["compute_s"] + row["between_s"] for row in rows}
    return [[word, p.ranks, seconds(at[p.ranks]), seconds(p.round), percent(at[p.ranks] / p.round - 1)]
            for word, points in measured.items() for p in points]


def csv_text(rows):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def document(said, rows, table, cluster):
    measured = beside(rows, table)
    pairs = compared(rows, measured)
    with open(cluster, encoding="utf-8", errors="replace") as file:
        text = file.read()
    titles = [name.replace("_", " ") for name in rows[0]]
    shown = [[value if isinstance(value, str) else page.number(value) for value in row.values()] for row in rows]
    head = "<p>Nothing was run: the planner of a run has dealt the work to imagined ranks.</p>"
    return page.document(f"{os.path.basename(table.experiment.deck)}: simulated scaling", "predicted", head, [
        page.section("Scaling", page.figures([speedup_figure(rows), time_figure(rows, measured)])),
        page.section("Beside what was measured", page.table(HEADS, pairs, "measured")) if pairs else "",
        page.section("Nodes", page.table(titles, shown, "nodes"), f'<p class="soft">{COLUMNS}</p>'),
        page.section("Cluster", page.folded("as it was", text, True)),
        page.section("What the program said", page.folded("tesela plan --cluster", said))])
