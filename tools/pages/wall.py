"""Where the wall time of a job went: rank 0's stages one after another, phases split by what the devices computed."""
import math

from . import h5, svg
from .page import figure, figures, percent, seconds, table

SHORT = 0.01   # share of the whole below which neighbouring stages are one row,
TINY = 0.001   # and one joins a longer neighbour
TOLD = 0.05    # share above which the page says what waiting is
ALONE = 2      # phases that stand alone: the first ones make what later ones keep
GROUPS = 6     # of the phases after them
KINDS = {"xc": ("XC", "four-centre J and K", "fitted J"), "tri": ("pairs",), "triples": ("triples",), "fractal": ("pixels",),
         "dp": ("tiles", "tiles off the diagonal")}
FAMILY = {"xc": "algebra", "dp": "solution", "fractal": "derived fields"}  # what the family does on rank 0
WAITING = "waiting"
STAGES = {"set-up": ("start", "deck", "machine", "create", "units", "open worker"),
          "calibration and planning": ("calibrate", "plan", "rebalance"),
          "copies and messages": ("share", "begin", "collect", "combine", "record"),
          "family": ("advance", "traceback", "finish"), "writing": ("checkpoint", "write")}
COLOURS = {"set-up": "c5", "calibration and planning": "pale", WAITING: "c6", "family": "c4",
           "copies and messages": "c7", "writing": "head"}
KIND_COLOURS = ("c1", "c2", "c3")


class Row:
    """A span of the wall time: what it is called, and the seconds of its parts."""

    def __init__(self, label, parts):
        self.labels, self.parts = [label], dict(parts)
        self.main, self.most = label, self.total()  # of the stages in it the longest

    def total(self):
        return sum(self.parts.values())

    def add(self, other):
        self.labels += other.labels
        if other.most > self.most:
            self.main, self.most = other.main, other.most
        for part, value in other.parts.items():
            self.parts[part] = self.parts.get(part, 0.0) + value
        return self

    def label(self):
        first, last = self.labels[0], self.labels[-1]
        if isinstance(first, int):
            return f"phase {first}" if first == last else f"phases {first} to {last}"
        return self.main if len(self.labels) == 1 else f"{self.main} and {len(self.labels) - 1} more"


def part_of(stage):
    """Stages that this page does not know count as set-up."""
    return next((part for part, stages in STAGES.items() if stage in stages), "set-up")


# ---- rows -----------------------------------------------------------------------------------


def device_times(run):
    """{phase: {kind: seconds}}, the mean of the ranks that take part. Of phases beyond the table of times all counts
    for their first kind."""
    ranks, found = max(run.taking_part(), 1), {}
    for row in run.phase_times if run.phase_times is not None else ():
        kinds = found.setdefault(int(row["phase"]), {})
        kinds[int(row["kind"])] = kinds.get(int(row["kind"]), 0.0) + float(row["measured"]) / ranks
    for row in run.phases if run.phases is not None else ():
        if int(row["phase"]) not in found:
            bits = int(row["kinds"])
            found[int(row["phase"])] = {(bits & -bits).bit_length() - 1 if bits else 0: float(row["computed"]) / ranks}
    return found


def phase_row(phase, stages, kinds):
    """A phase: of what computing took, what is not the devices' is waiting."""
    row = Row(phase, {})
    for stage, value in stages:
        if stage != "compute":
            row.add(Row(phase, {part_of(stage): value}))
            continue
        busy = sum(kinds.values())
        scale = min(1.0, value / busy) if busy > 0 else 0.0  # the ranks' clocks are not the same
        row.add(Row(phase, {kind: scale * spent for kind, spent in kinds.items()}))
        row.add(Row(phase, {WAITING: value - scale * busy}))
    return row


def together(rows, whole):
    """Neighbours that are short become one, and what is next to nothing goes with its neighbour."""
    made = []
    for row in rows:
        if made and (max(row.total(), made[-1].most) < SHORT * whole or
                     min(row.total(), made[-1].most) < TINY * whole):
            made[-1].add(row)
        else:
            made.append(row)
    return made


def grouped(rows):
    """Few phases stand alone; of many the first ones, and the others in groups."""
    if len(rows) <= ALONE + GROUPS:
        return rows
    made, later = rows[:ALONE], rows[ALONE:]
    step = 2 * -(-len(later) // (2 * GROUPS))  # an iteration may be two phases
    for begin in range(0, len(later), step):
        for row in later[begin + 1:begin + step]:
            later[begin].add(row)
        made.append(later[begin])
    return made


def rows_of(run):
    """Before, in and after the phases, in order of time; nothing of outputs that hold no stages."""
    if run.stages is None or not len(run.stages):
        return []
    before, phases, after, kinds = [], {}, [], device_times(run)
    for line in run.stages:
        phase, stage, value = int(line["phase"]), h5.text_of(line["stage"]), float(line["seconds"])
        if phase >= 0:
            phases.setdefault(phase, []).append((stage, value))
        else:
            (after if phases else before).append(Row(stage, {part_of(stage): value}))
    whole = float(run.stages["seconds"].sum())
    return (together(before, whole) + grouped([phase_row(*each, kinds.get(each[0], {})) for each in phases.items()]) +
            together(after, whole))


# ---- picture and table ------------------------------------------------------------------------


class Part:
    """One colour of the picture, one column of the table."""

    def __init__(self, run, key):
        family = run.attributes.get("family")
        if isinstance(key, int):
            names = KINDS.get(family, ())
            self.name = names[key] if key < len(names) else f"units of kind {key}"
            self.colour = KIND_COLOURS[key % len(KIND_COLOURS)]
        else:
            self.name, self.colour = (FAMILY.get(family, "advance") if key == "family" else key), COLOURS[key]
        self.key = key


def parts_of(run, rows):
    """Those that took time, in the order of a run."""
    found = {key for row in rows for key, value in row.parts.items() if value > 0}
    kinds = sorted(key for key in found if isinstance(key, int))
    order = ["set-up", "calibration and planning", *kinds, WAITING, "copies and messages", "family", "writing"]
    return [Part(run, key) for key in order if key in found]


def label_axis(labels):
    """Rows from the top down, with their names."""
    scale = svg.Scale(-0.6, len(labels) - 0.4, ticks=list(range(len(labels))), form=lambda v: labels[int(v)])
    upward = scale.at
    scale.at = lambda value: 1 - upward(value)
    return scale


def drawn(rows, parts, total):
    """The whole run as one bar, and below it each row where it lies in time."""
    whole = Row("whole run", {})
    for row in rows:
        whole.add(Row("", row.parts))
    begins = [0.0, *(sum(row.total() for row in rows[:k]) for k in range(len(rows)))]
    labels = label_axis(["whole run", *(row.label() for row in rows)])
    chart = svg.Chart(svg.Scale(0, 1.07 * total, ticks=svg.steps(0, total, 8)), labels,
                      "seconds after the start of the program", "", width=1240,
                      height=svg.TOP + svg.BOTTOM + 30 * (len(rows) + 1), grid="x",
                      says="where the wall time of the run went")
    ends = list(begins)
    for part in parts:
        boxes = []
        for k, row in enumerate([whole, *rows]):
            value = row.parts.get(part.key, 0.0)
            if value > 0:
                boxes.append((ends[k], ends[k] + value, k - 0.34, k + 0.34))
                ends[k] += value
        chart.boxes(boxes, part.colour, part.name)
    for k, end in enumerate(ends):
        chart.text(end + 0.006 * total, k + 0.15, seconds(end - begins[k]), "start")
    return chart


def sentence(rows, parts, total):
    spent = {part.name: sum(row.parts.get(part.key, 0.0) for row in rows) for part in parts}
    most = sorted(spent.items(), key=lambda item: -item[1])[:3]
    said = ", ".join(f"{percent(value / total)} {name}" for name, value in most)
    longest = max(rows, key=Row.total)
    told = (" Waiting is what of the phases devices did not compute: between units, for the last rank, for results on "
            "their way." if spent.get(WAITING, 0.0) > TOLD * total else "")
    return (f"Of {seconds(total)} from the start of the program to the end of writing, by rank 0's clock: {said}. The "
            f"longest row, {longest.label()}, took {seconds(longest.total())}.{told}")


def numbers(rows, parts, total):
    """The picture's numbers: a row for each of its bars, a column for each colour; the last row is shares."""
    digits = max(0, 3 - math.floor(math.log10(total)))  # the whole has four

    def shown(value):
        return f"{value:.{digits}f}" if value > 0 else ""

    sums = [sum(row.parts.get(part.key, 0.0) for row in rows) for part in parts]
    lines = [["whole run", *map(shown, sums), shown(total)]]
    for row in rows:
        lines.append([row.label(), *(shown(row.parts.get(part.key, 0.0)) for part in parts), shown(row.total())])
    lines.append(["share", *(percent(value / total) for value in sums), percent(1.0)])
    return table(["seconds", *(part.name for part in parts), "together"], lines, "wall-times")


def picture(run):
    """Figure and table; empty where the output holds no stages."""
    rows = rows_of(run)
    total = sum(row.total() for row in rows)
    if not total > 0:
        return ""
    parts = parts_of(run, rows)
    drawing = figure("wall", "Where the time of the job went", drawn(rows, parts, total).html(),
                     sentence(rows, parts, total), full=True)
    return figures([drawing]) + numbers(rows, parts, total)
