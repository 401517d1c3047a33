#!/usr/bin/env python3
"""The pages of tools/report and tools/scaling in a browser: nothing cut off, wide and narrow, light, dark and printed.

usage: pages_browser.py TESELA [--fast] [ONLY]

Needs chromium (Debian: chromium); without it the test is skipped. A script that measures every text
is added to a copy of the page; the pages themselves have none.
"""
import json
import os
import re
import shutil
import sys

import harness
from harness import check, np
from pages_harness import tool

BROWSER = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
if BROWSER is None:
    print("skipped: no browser; Debian package: chromium")
    sys.exit(77)

MEASURE = """<script>
for (const folded of document.querySelectorAll('details')) folded.open = true;
const out = {cut: [], empty: [], over: [], wide: document.documentElement.scrollWidth - window.innerWidth};
for (const svg of document.querySelectorAll('figure > svg')) {
  const box = svg.getBoundingClientRect(), name = svg.parentElement.id;
  if (box.width < 200 || box.height < 80) out.empty.push(name);
  const texts = [...svg.querySelectorAll('text')].map(text => [text, text.getBoundingClientRect()]);
  for (const [text, t] of texts) {
    for (const [other, o] of texts)
      if (other !== text && t.left < o.right - 2 && o.left < t.right - 2 && t.top < o.bottom - 4 && o.top < t.bottom - 4)
        out.over.push(name + ': ' + text.textContent + ' over ' + other.textContent);
    if (t.left < box.left - 1 || t.right > box.right + 1 || t.top < box.top - 1 || t.bottom > box.bottom + 1)
      out.cut.push(name + ': ' + text.textContent);
  }
}
const pre = document.createElement('p'); pre.id = 'measured'; pre.textContent = JSON.stringify(out);
document.body.appendChild(pre);
</script>"""

suite = harness.Suite(__doc__)
RDF = {"family": "tri", "title": "pairs", "run": {"device": "cpu", "threads": 1},
       "tri": {"function": "euclidean", "output": "histogram", "box": [1, 1, 1], "bins": 40, "range": [0, 0.5],
               "generator": {"kind": "uniform", "n": 3000, "seed": 3}}}
WATER = {"family": "xc", "run": {"device": "cpu", "threads": 1},
         "xc": {"molecule": {"atoms": "O 0 0 0; H 0 0.757 0.587; H 0 -0.757 0.587"}, "basis": "STO-3G", "functional": "pbe",
                "coulomb": "fitted", "grid": {"preset": "coarse"}}}
FRACTAL = {"family": "fractal", "run": {"device": "cpu"},
           "fractal": {"set": "mandelbrot", "xres": 320, "yres": 240, "view": {"centre": [-0.743644, 0.131826], "width": 0.0015}}}


def browse(*args, width=1300):
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},2400",
               f"--user-data-dir={suite.path('browser')}", "--host-resolver-rules=MAP * ~NOTFOUND", *args]
    done = harness.completed(command, 120, text=True, cwd=suite.folder, env=suite.environment())
    check(done.returncode == 0, done.stderr[-500:])
    return done.stdout


def made():
    """The pages, once."""
    if not os.path.exists(suite.path("rdf.html")):
        for name, tree in (("rdf", RDF), ("fractal", FRACTAL), *[("water", WATER)] * HAS_XC):
            with suite.result(tree, 2, name=name):
                pass
            tool(suite, "report", f"{name}.h5")
        suite.deck("scale.yaml", RDF)
        tool(suite, "scaling", "scale.yaml", "--ranks", "1,2", "--devices", "cpu", "cpu,cpu", "--repeat", "2",
             "-o", "scale", "--program", suite.binary)
        with_ceiling()
        shutil.copyfile(suite.path("scale/scale.html"), suite.path("scale.html"))


def with_ceiling():
    """Copies of runs so short are seldom at once: the page is drawn from notes as groups leave them."""
    for count, times in ((1, [1.0]), (2, [1.6, 1.8])):
        for repeat in (1, 2):
            note = {"name": f"cpu-n{count}-c{repeat}", "devices": "cpu", "ranks": count, "repeat": repeat, "sets": [],
                    "status": 0, "error": "", "tries": 1, "times": times, "together": 0.9}
            suite.write(f"scale/runs/{note['name']}.json", json.dumps(note))
    tool(suite, "scaling", "scale.yaml", "--ranks", "1,2", "--devices", "cpu", "cpu,cpu", "--repeat", "2",
         "-o", "scale", "--program", suite.binary, "--page-only", "--ceiling")


def nothing_cut_off(name, width=1300):
    """Every text of every figure lies within its figure and on no other, and the page is not wider than the window."""
    made()
    with open(suite.path(f"{name}.html"), encoding="utf-8") as file:
        text = file.read()
    suite.write("measured.html", text.replace("</body>", MEASURE + "</body>"))
    dom = browse("--dump-dom", f"file://{suite.path('measured.html')}", width=width)
    found = re.search(r'<p id="measured">(.*?)</p>', dom, re.S)
    check(found, "the script did not run")
    seen = json.loads(found[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    check(not seen["cut"] and not seen["empty"] and not seen["over"] and seen["wide"] <= 0, f"{seen}")


def picture(name, *args):
    """A screenshot as numbers [rows][columns][3], 0..1."""
    import matplotlib.image
    made()
    target = suite.path(f"{name}.png")
    browse(*args, f"--screenshot={target}", f"file://{suite.path(name)}.html")
    return matplotlib.image.imread(target)[..., :3]


def light_and_dark(name):
    """Both are drawn, with few colours of the paper and many of the ink; the second is dark."""
    light, dark = picture(name), picture(name, "--blink-settings=preferredColorScheme=0")
    check(light.shape == dark.shape and light.shape[1] == 1300, f"{light.shape} {dark.shape}")
    check(np.median(light) > 0.9 and np.median(dark) < 0.25, f"paper {np.median(light):.2f} and {np.median(dark):.2f}")
    for drawn in (light, dark):
        colours = len(np.unique((drawn.reshape(-1, 3) * 255).astype(int), axis=0))
        check(colours > 100, f"{colours} colours: not drawn")


def printed(name):
    made()
    target = suite.path(f"{name}.pdf")
    browse(f"--print-to-pdf={target}", "--no-pdf-header-footer", f"file://{suite.path(name)}.html")
    with open(target, "rb") as file:
        text = file.read()
    pages = len(re.findall(rb"/Type\s*/Page\b", text))
    check(text.startswith(b"%PDF") and 1 <= pages <= 12, f"{pages} pages")
    return f"{pages} pages"


HAS_XC = "lacks the libraries" not in suite.run(["help", "xc"]).out
for page in ("rdf", "fractal", "scale", *["water"] * HAS_XC):
    suite.case(f"nothing cut off, {page}", nothing_cut_off, page)
    suite.case(f"printed, {page}", printed, page)
for page in ("rdf", *["water"] * HAS_XC):
    suite.case(f"narrow, {page}", nothing_cut_off, page, 520)
for page in ("rdf", "scale"):
    suite.case(f"light and dark, {page}", light_and_dark, page)
suite.end()
