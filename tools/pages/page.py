"""HTML of a page: one file, no network, light and dark by the reader's setting, fit to print."""
import html
import re

from . import files
from .text import plain

ROWS = 2000  # of a table on a page

# Colours by role. c1 to c6 are told apart by people with any colour vision (and by marker and dash).
LIGHT = {"ink": "#1c2430", "soft": "#59636f", "line": "#d9dee4", "grid": "#e6eaee", "paper": "#ffffff",
         "back": "#f3f5f7", "good": "#17703f", "bad": "#b3261e", "warn": "#8a5a00", "c1": "#1f5fa8",
         "c2": "#c4580a", "c3": "#12836b", "c4": "#8445a0", "c5": "#96780a", "c6": "#6b7682", "c7": "#c2417c",
         "pale": "#b9d1e8", "head": "#22384f"}
DARK = {"ink": "#e8ebf0", "soft": "#a3adb9", "line": "#3a424d", "grid": "#2d343d", "paper": "#1b2026",
        "back": "#12161a", "good": "#63cf92", "bad": "#ff8f86", "warn": "#e8b75a", "c1": "#6aa9ec",
        "c2": "#f0a050", "c3": "#4fc3a1", "c4": "#c792e0", "c5": "#d9bd55", "c6": "#a9b3c0", "c7": "#f08bb4",
        "pale": "#37587a", "head": "#9fc3e8"}

CSS = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 78rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; }
header { border-bottom: 3px solid var(--head); padding-bottom: .8rem; margin-bottom: 1.2rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.6rem 0 .8rem; color: var(--head); }
h3 { font-size: 1rem; margin: 0 0 .4rem; font-weight: 650; }
p { margin: .3rem 0; max-width: 62rem; }
.soft { color: var(--soft); }
.verdict { font-weight: 700; border: 1px solid; border-radius: .3rem; padding: 0 .45rem; }
.VALID { color: var(--good); } .INVALID, .bad { color: var(--bad); }
.warnings { border-left: .3rem solid var(--warn); background: var(--paper); padding: .5rem .9rem;
  margin: .9rem 0; } .warnings li { margin: .15rem 0; } .warnings ul { margin: 0; padding-left: 1.1rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .7rem; margin-bottom: .8rem; }
.tile, figure, .table, pre { background: var(--paper); border: 1px solid var(--line);
  border-radius: .4rem; }
.tile { flex: 0 1 11.4rem; padding: .55rem .9rem; font-size: .88rem; }
.tile b { display: block; font-size: 1.25rem; font-weight: 600; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.many .tile { padding: .35rem .7rem; font-size: .82rem; } .many .tile b { font-size: 1rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 30rem), 1fr));
  gap: .9rem; align-items: start; margin-bottom: .8rem; }
figure { margin: 0; padding: .8rem .9rem; break-inside: avoid; }
figure.full { grid-column: 1 / -1; overflow-x: auto; }
figure svg { display: block; width: 100%; height: auto; }
figure.full > svg { min-width: 44rem; }
svg text { fill: var(--soft); font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
svg text.ink { fill: var(--ink); }
figcaption { color: var(--ink); font-size: .92rem; margin-top: .5rem; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; font-size: .85rem; color: var(--soft);
  margin: .1rem 0 .3rem; } .legend svg { display: inline-block; width: 2rem; height: .9rem;
  vertical-align: -.1rem; margin-right: .35rem; }
.table { overflow-x: auto; margin-bottom: .8rem; }
table { border-collapse: collapse; width: 100%; font-size: .87rem; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; vertical-align: top; }
tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 600; background: var(--back); vertical-align: bottom; }
td.wide { white-space: normal; min-width: 16rem; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
th.number { white-space: normal; }
.dense table { font-size: .76rem; } .dense th, .dense td { padding: .3rem .42rem; }
.dense th { white-space: normal; vertical-align: bottom; }
tr.failed td { color: var(--bad); }
pre { margin: 0 0 .8rem; padding: .8rem 1rem; font-size: .84rem; line-height: 1.45;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.decks { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr));
  gap: .8rem; align-items: start; }
details > summary { cursor: pointer; color: var(--soft); margin-bottom: .5rem; }
@page { margin: 14mm; }
@media print { html { font-size: 11px; } body { background: #fff; font-size: 11px; }
  main { padding: 0; max-width: none; }
  figure, .tile, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .figures { grid-template-columns: 1fr 1fr; } .decks { grid-template-columns: 1fr; }
  .tile { flex-basis: 22%; } .table { overflow: visible; } th, td { white-space: normal; padding: .2rem .4rem; }
  .dense table { font-size: 7px; } .dense th, .dense td { padding: .15rem .2rem; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""


def escape(text):
    """Text as HTML."""
    return html.escape(plain(text), quote=True)


def variables(colours):
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


def style():
    return (f":root {{ color-scheme: light dark; {variables(LIGHT)} }}\n"
            f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {variables(DARK)} }} }}{CSS}")


# ---- numbers as text ----------------------------------------------------------------------


def number(value):
    """A number for people: whole ones with separators, others with 6 digits."""
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.6g}"


def seconds(value):
    """Seconds with 4 digits in a unit that fits."""
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= scale:
            return f"{value / scale:.4g} {unit}"
    return f"{value:.3g} s"


def percent(share, digits=1):
    return f"{100 * share:.{digits}f} %"


def size(count):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            return f"{count:.4g} {unit}"
        count /= 1024


def some(count, one, many=None):
    return f"{count:,} {one if count == 1 else many or one + 's'}"


NUMBER = {True: ' class="number"', False: ""}
FULL = {True: ' class="full"', False: ""}
OPEN = {True: ' open=""', False: ""}

# ---- parts ----------------------------------------------------------------------------------


def tiles(lines):
    """lines of (name, value)."""
    cells = (f'<div class="tile"><span class="soft">{escape(name)}</span><b>{escape(value)}</b></div>'
             for name, value in lines)
    many = " many" if len(lines) > 12 else ""
    return f'<div class="tiles{many}">{"".join(cells)}</div>'


def is_number(value):
    return not isinstance(value, str) or re.fullmatch(r"-?[\d.,]+(e[-+]?\d+)?( %| m?s| µs)?", value) is not None


def cell(value):
    """Text stands left, numbers right."""
    shown = value if isinstance(value, str) else number(value)
    wide = ' class="wide"' if len(shown) > 48 else ""
    return f"<td{NUMBER[True] if is_number(value) else wide}>{escape(shown)}</td>"


def table(titles, rows, name=""):
    """rows of text and numbers; a page holds so many and says how many more there are."""
    numeric = [bool(rows) and is_number(value) for value in (rows[0] if rows else titles)]
    head = "".join(f"<th{NUMBER[right]}>{escape(title)}</th>" for title, right in zip(titles, numeric))
    body = "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows[:ROWS])
    if len(rows) > ROWS:
        body += f'<tr><td class="wide" colspan="{len(titles)}">and {len(rows) - ROWS} more rows, in the file</td></tr>'
    return raw_table(f"<tr>{head}</tr>", body, name)


def raw_table(head, body, name=""):
    at = f' id="{escape(name)}"' if name else ""
    dense = " dense" if head.count("<th") > 11 else ""
    return f'<div class="table{dense}"><table{at}><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def figure(name, title, drawing, sentence, full=False):
    """A drawing with its title and one sentence that says what it shows."""
    return (f'<figure id="{escape(name)}"{FULL[full]}><h3>{escape(title)}</h3>'
            f"{drawing}<figcaption>{escape(sentence)}</figcaption></figure>")


def figures(made):
    made = [one for one in made if one]
    return f'<div class="figures">{"".join(made)}</div>' if made else ""


def section(title, *parts):
    shown = "".join(part for part in parts if part)
    return f"<h2>{escape(title)}</h2>{shown}" if shown else ""


def warnings(lines):
    if not lines:
        return ""
    return f'<div class="warnings">{listed(lines)}</div>'


def hidden(title, *parts, opened=False):
    """Parts that a reader opens by a line that stands for them."""
    return f"<details{OPEN[opened]}><summary>{escape(title)}</summary>{''.join(parts)}</details>"


def folded(title, text, opened=False):
    return hidden(title, f"<pre>{escape(text)}</pre>", opened=opened)


def listed(lines):
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def document(title, about, head, parts):
    """The whole page; about is the soft line below the title, head what follows it in the header."""
    return "".join([
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"/>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        f"<title>{escape(title)}</title><style>{style()}</style></head><body><main>",
        f"<header><h1>{escape(title)}</h1><p class=\"soft\">{escape(about)}</p>{head}</header>",
        *parts, "</main></body></html>\n"])


def write(path, data, inputs=()):
    """Whole or not at all; inputs are not replaced."""
    files.put(path, data, inputs)
