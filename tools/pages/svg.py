"""Charts as inline SVG. Colours are those of the page (page.LIGHT, page.DARK), so a chart follows its theme."""
import math

from .page import escape

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 66, 16, 12, 50  # LEFT: at least; labels may need more
COLOURS = ("c1", "c2", "c3", "c4", "c5", "c6")
DASHES = ("", "7 4", "2 3", "9 3 2 3")


def rounded(value):
    """A coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def plain(value):
    """A number at a tick."""
    if value != 0 and (abs(value) >= 1e6 or abs(value) < 1e-3):
        mantissa, power = f"{value:.3g}".split("e") if "e" in f"{value:.3g}" else (f"{value:.3g}", None)
        if power is None:
            mantissa, power = f"{value:.2e}".split("e")
        mantissa = f"{float(mantissa):g}"
        return f"{mantissa}e{int(power)}"
    return f"{value:,.6g}"


def steps(lo, hi, most):
    """Multiples of 1, 2 or 5 times a power of ten within [lo, hi], at most about so many."""
    if not hi > lo:
        return [lo]
    raw = (hi - lo) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= raw * (1 - 1e-9))
    first = math.ceil(lo / step - 1e-9)
    return [k * step for k in range(first, math.floor(hi / step + 1e-9) + 1)]


def whole_steps(lo, hi):
    """Likewise whole numbers alone."""
    return [t for t in steps(lo, hi, 10) if float(t).is_integer()] or [lo]


def decades(lo, hi):
    """Ticks of a logarithmic axis."""
    a, b = math.floor(math.log10(lo) - 1e-9), math.ceil(math.log10(hi) + 1e-9)
    digits = (1, 2, 5) if b - a <= 3 else (1,)
    every = max(1, (b - a) // 8)
    ticks = [d * 10.0 ** p for p in range(a, b + 1, every) for d in digits]
    return [t for t in ticks if lo * (1 - 1e-9) <= t <= hi * (1 + 1e-9)]


class Scale:
    """Values of an axis as 0..1."""

    def __init__(self, lo, hi, log=False, ticks=None, form=plain, most=6):
        if log and not lo > 0:
            raise ValueError("a logarithmic axis begins above 0")
        if not hi > lo:  # a single value stands in the middle
            lo, hi = (lo / 2, hi * 2) if log else (lo - 0.5, hi + 0.5)
        self.lo, self.hi, self.log, self.form = lo, hi, log, form
        self.ticks = decades(lo, hi) if ticks is None and log else ticks
        if self.ticks is None or len(self.ticks) < 3 and ticks is None:
            self.ticks = steps(lo, hi, most)

    def at(self, value):
        if self.log:
            return math.log(max(value, 1e-300) / self.lo) / math.log(self.hi / self.lo)
        return (value - self.lo) / (self.hi - self.lo)


def room_for(y):
    """Pixels left of the plot for the labels of its axis and the axis' name."""
    return max(LEFT, 36 + 7.6 * max((len(y.form(tick)) for tick in y.ticks), default=0))


class Chart:
    """A plot area with axes; what is drawn later lies above."""

    def __init__(self, x, y, x_label, y_label, width=WIDTH, height=HEIGHT, left=None, right=RIGHT,
                 grid="xy", says=""):
        self.x, self.y, self.x_label, self.y_label = x, y, x_label, y_label
        self.width, self.height, self.right = width, height, right
        self.left = left or room_for(y)
        self.grid, self.says = grid, says
        self.parts, self.entries = [], []

    # ---- places

    def px(self, value):
        return self.left + self.x.at(value) * (self.width - self.left - self.right)

    def py(self, value):
        return self.height - BOTTOM - self.y.at(value) * (self.height - TOP - BOTTOM)

    def where(self, xs, ys):
        return [(self.px(a), self.py(b)) for a, b in zip(xs, ys) if math.isfinite(a) and math.isfinite(b)]

    # ---- marks

    def line(self, xs, ys, colour, label="", dash="", thick=2):
        points = " ".join(f"{rounded(a)},{rounded(b)}" for a, b in self.where(xs, ys))
        look = f'fill="none" stroke="var(--{colour})" stroke-width="{thick}" stroke-dasharray="{dash}"'
        self.parts.append(f'<polyline points="{points}" {look} stroke-linejoin="round"/>')
        if label:
            self.entries.append((label, f'<line x1="1" y1="7" x2="31" y2="7" {look}/>'))

    def points(self, xs, ys, colour, marker=0, label="", lows=None, highs=None, titles=None):
        """Markers, with bars from lows to highs, and a title each for a pointer."""
        for k, (a, b) in enumerate(zip(xs, ys)):
            if not (math.isfinite(a) and math.isfinite(b)):
                continue
            if lows is not None:
                self.error_bar(a, lows[k], highs[k], colour)
            title = f"<title>{escape(titles[k])}</title>" if titles else ""
            self.parts.append(f"<g>{title}{mark(marker, self.px(a), self.py(b), colour)}</g>")
        if label:
            self.entries.append((label, mark(marker, 16, 7, colour)))

    def error_bar(self, x, low, high, colour):
        a, low, high = self.px(x), self.py(low), self.py(high)
        if abs(low - high) < 0.5:
            return
        d = (f"M{rounded(a)} {rounded(low)}V{rounded(high)}M{rounded(a - 4)} {rounded(low)}h8"
             f"M{rounded(a - 4)} {rounded(high)}h8")
        self.parts.append(f'<path d="{d}" stroke="var(--{colour})" stroke-width="1.4" fill="none"/>')

    def dots(self, xs, ys, colour, label="", thick=4, opacity=0.55):
        """Many small marks as one path."""
        d = "".join(f"M{rounded(a)} {rounded(b)}h0" for a, b in self.where(xs, ys))
        look = f'stroke="var(--{colour})" stroke-width="{thick}" stroke-linecap="round" opacity="{opacity}"'
        self.parts.append(f'<path d="{d}" {look} fill="none"/>')
        if label:
            self.entries.append((label, f'<path d="M16 7h0" {look.replace(str(thick), "8", 1)}/>'))

    def boxes(self, rows, colour, label="", gap=0.0):
        """Rectangles (x0, x1, y0, y1) in values, as one path; gap: pixels left out at the right."""
        d = []
        for x0, x1, y0, y1 in rows:
            a, b, c, e = self.px(x0), self.px(x1), self.py(y0), self.py(y1)
            wide = max(b - a - gap, 0.3)
            d.append(f"M{rounded(a)} {rounded(c)}h{rounded(wide)}V{rounded(e)}h{rounded(-wide)}z")
        self.parts.append(f'<path d="{"".join(d)}" fill="var(--{colour})"/>')
        if label:
            self.entries.append((label, f'<rect x="8" y="2" width="16" height="10" fill="var(--{colour})"/>'))

    def outline(self, edges, heights, colour, label=""):
        """Steps of a histogram: heights[k] from edges[k] to edges[k + 1]."""
        xs = [e for edge in edges for e in (edge, edge)][1:-1]
        ys = [h for height in heights for h in (height, height)]
        self.line(xs, ys, colour, label, thick=1.6)

    def level(self, y, colour="soft", label=""):
        self.line([self.x.lo, self.x.hi], [y, y], colour, label, dash="5 4", thick=1.2)

    def image(self, uri, x0, x1, y0, y1):
        """A picture over the box of values; y0 is its upper edge."""
        a, b, c, d = self.px(x0), self.px(x1), self.py(y0), self.py(y1)
        self.parts.append(f'<image x="{rounded(min(a, b))}" y="{rounded(min(c, d))}" '
                          f'width="{rounded(abs(b - a))}" height="{rounded(abs(d - c))}" '
                          f'preserveAspectRatio="none" style="image-rendering:pixelated" href="{uri}"/>')

    def text(self, x, y, words, anchor="middle"):
        self.parts.append(f'<text x="{rounded(self.px(x))}" y="{rounded(self.py(y))}" '
                          f'text-anchor="{anchor}" class="ink">{escape(words)}</text>')

    # ---- frame

    def axes(self):
        made = []
        low, high = self.height - BOTTOM, TOP
        for tick in self.x.ticks:
            a = rounded(self.px(tick))
            if "x" in self.grid:
                made.append(f'<path d="M{a} {low}V{high}" stroke="var(--grid)"/>')
            words = self.x.form(tick)
            inside = rounded(min(self.px(tick), self.width - 3.9 * len(words) - 2))  # of the last one too
            made.append(f'<text x="{inside}" y="{low + 18}" text-anchor="middle">{escape(words)}</text>')
        for tick in self.y.ticks:
            b = rounded(self.py(tick))
            if "y" in self.grid:
                made.append(f'<path d="M{self.left} {b}H{self.width - self.right}" stroke="var(--grid)"/>')
            made.append(f'<text x="{self.left - 8}" y="{rounded(self.py(tick) + 4.5)}" '
                        f'text-anchor="end">{escape(self.y.form(tick))}</text>')
        made.append(f'<path d="M{self.left} {high}V{low}H{self.width - self.right}" '
                    'stroke="var(--soft)" fill="none"/>')
        return made + self.labels()

    def labels(self):
        middle = (self.left + self.width - self.right) / 2
        across = (TOP + self.height - BOTTOM) / 2
        below = (f'<text x="{rounded(middle)}" y="{self.height - 10}" text-anchor="middle">'
                 f"{escape(self.x_label)}</text>")
        beside = (f'<text x="14" y="{rounded(across)}" text-anchor="middle" '
                  f'transform="rotate(-90 14 {rounded(across)})">{escape(self.y_label)}</text>')
        return [below] * bool(self.x_label) + [beside] * bool(self.y_label)

    def html(self):
        legend = "".join(f'<span><svg viewBox="0 0 32 14" aria-hidden="true">{picture}</svg>{escape(label)}'
                         "</span>" for label, picture in self.entries)
        box = f'<div class="legend">{legend}</div>' if legend else ""
        return (f'{box}<svg viewBox="0 0 {self.width} {self.height}" role="img" '
                f'aria-label="{escape(self.says or self.y_label)}">{"".join(self.axes())}'
                f'{"".join(self.parts)}</svg>')


def mark(kind, x, y, colour):
    """A marker of one of four forms, ringed by the paper so that neighbours stay apart."""
    look = f'fill="var(--{colour})" stroke="var(--paper)" stroke-width="1"'
    if kind % 4 == 0:
        return f'<circle cx="{rounded(x)}" cy="{rounded(y)}" r="4.6" {look}/>'
    forms = {1: ((-4.2, -4.2), (4.2, -4.2), (4.2, 4.2), (-4.2, 4.2)), 2: ((0, -5.4), (5, 3.8), (-5, 3.8)),
             3: ((0, -5.6), (5.6, 0), (0, 5.6), (-5.6, 0))}
    corners = " ".join(f"{rounded(x + a)},{rounded(y + b)}" for a, b in forms[kind % 4])
    return f'<polygon points="{corners}" {look}/>'
