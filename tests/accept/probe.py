#!/usr/bin/env python3
"""What is known of devices. tesela probe: all groups measured, remembered by its key, measured anew
where that does not fit; plans by it. tesela rates: what calibrations say of a deck.

usage: probe.py TESELA [--fast] [ONLY]
"""
import csv
import glob
import os
import re

import harness
from harness import check

suite = harness.Suite(__doc__)
GROUPS = ["arithmetic", "main memory", "latency of dependent reads", "branches", "counters of threads",
          "threads"]


def probe(*args, ranks=None):
    run = suite.run(["probe", *args], ranks)
    check(run.status == 0, run.tail())
    return run.out


def figures(name):
    with open(suite.path(name), newline="") as file:
        return list(csv.DictReader(file))


def remembered_file():
    found = glob.glob(os.path.join(suite.env["XDG_CACHE_HOME"], "tesela", "probe-*"))
    check(len(found) == 1, f"files: {found}")
    return found[0]


def measures():
    out = probe("--csv", suite.path("a.csv"))
    rows = figures("a.csv")
    check([g for g in GROUPS if not any(r["group"] == g for r in rows)] == [], "a group is missing")
    check(all(float(r["value"]) > 0 for r in rows), "a figure is not positive")
    check(all(g in out for g in GROUPS) and "remembered" not in out, out)
    for line in out.splitlines():
        near = re.search(r" (\d+) %  (.*)$", line)
        check(near is None or int(near[1]) <= 90 or near[2].strip() == "", f"advice where nothing is lost: {line}")
    wide = {r["figure"]: float(r["value"]) for r in rows}
    check(wide["read, stride 1 words"] > 2 * wide["read, stride 16 words"], "strides cost nothing?")
    check(wide["128 MiB"] > 3 * wide["16 KiB"], "caches are no faster than memory?")


def remembers():
    check("remembered" in probe("--csv", suite.path("b.csv")), "not remembered")
    check(figures("a.csv") == figures("b.csv"), "other figures")
    check("remembered" not in probe("--again"), "--again printed what was remembered")


def forgets_what_does_not_fit():
    path = remembered_file()
    text = open(path).read()
    for change in (text.replace("|", "|another ", 1), "\n".join(text.split("\n")[:-3]) + "\n",
                   text + "x" * 5000):
        with open(path, "w") as file:
            file.write(change)
        check("remembered" not in probe(), f"believed {change[:80]!r}")


def ranks():
    probe("--csv", suite.path("c.csv"), ranks=2)
    check({r["rank"] for r in figures("c.csv")} == {"0", "1"}, "a rank is missing")


def bad_words():
    for args in (["--agian"], ["--csv"], ["deck.yaml"]):
        run = suite.run(["probe", *args])
        check(run.status == 2 and "--help" in run.err, run.tail())
    run = suite.run(["probe", "--again", "--csv", suite.path("no/folder.csv")])
    check(run.status == 2 and "folder.csv: cannot write: No such file" in run.err, run.tail())
    check("measured" not in run.out, f"refused only after probing: {run.out}")
    run = suite.run(["probe", "--device", ""])
    check(run.status == 2 and "device without a name" in run.err, run.tail())
    check("usage" in probe("--help"), "no help")


DECK = """\
family: tri
tri:
  function: euclidean
  output: histogram
  box: [10, 10, 10]
  range: [0, 5]
  generator: {kind: uniform, n: 2000, seed: 1}
"""


def rates():
    deck = suite.write("rates.yaml", DECK)
    none = suite.run(["rates", deck])
    check(none.status == 2 and "tesela calibrate" in none.err, none.tail())
    for threads in ("1", "2"):
        run = suite.run(["calibrate", deck, "-q", "-s", f"run.threads={threads}"])
        check(run.status == 0, run.tail())
    run = suite.run(["rates", deck])
    lines = [line for line in run.out.splitlines() if " thread" in line]
    check(run.status == 0 and len(lines) == 2, run.tail())
    check(sum(" 1 thread " in line for line in lines) == 1, run.out)
    passes = [float(line.split()[-2]) for line in lines]
    seconds = [float(line.split()[-3]) for line in lines]
    check(passes[0] >= passes[1] and lines[0].split()[-1] == "100.0%", run.out)
    run = suite.run(["calibrate", deck, "-q", "-s", "run.threads=1"], 2)
    check(run.status == 0, run.tail())
    beside = suite.run(["rates", deck]).out
    lines = [" ".join(line.split()[:-3]) for line in beside.splitlines() if " thread" in line]
    check(len(lines) == len(set(lines)) and any("2 ranks" in line for line in lines), f"lines that look alike: {beside}")
    check(all(abs(p * s / 86400 - 1) < 1e-3 for p, s in zip(passes, seconds)), run.out)
    calibration = os.path.join(suite.env["XDG_CACHE_HOME"], "tesela", "calibration")
    text = open(calibration).read()
    with open(calibration, "w") as file:  # a faster card of another host, junk, and a torn line
        for line in [l for l in text.splitlines() if not l.startswith("probe ")][:1]:
            words = line.split(" ", 7)
            fast = [words[0], "0", *(f"{float(w) / 100:.9e}" for w in words[2:6]), words[6], words[7]]
            parts = fast[7].split("|")
            parts[0], parts[1] = "", "Fast,Card,9000"
            fast[7] = "|".join(parts)
            old = [*fast[:6], fast[7].replace("Fast,Card", "Old,Line")]  # without the column of first runs
            file.write(" ".join(fast) + "\n" + " ".join(old) + "\n" + "junk | nan\n")
            file.write(" ".join(fast[:6]).replace("e", "x") + "\n")
        file.write(text + text[:40])
    run = suite.run(["rates", deck])
    first = next(line for line in run.out.splitlines() if "100.0%" in line)
    check("Fast Card 9000" in first and "(card)" in first and "Old Line" not in run.out, run.out)


GUESSED = {
    "rdf": {"family": "tri", "tri": {"function": "euclidean", "output": "histogram", "box": [10, 10, 10], "range": [0, 5],
                                     "generator": {"kind": "uniform", "n": 20000, "seed": 1}}},
    "image": {"family": "fractal", "fractal": {"set": "mandelbrot", "xres": 1500, "yres": 1000, "maxiter": 1000}},
    "lcs": {"family": "dp", "dp": {"problem": "lcs", "band": "off", "a": {"random": 100000, "seed": 1},
                                   "b": {"random": 100000, "seed": 2}}}}


def predicted(out):
    return float(re.search(r"predicted (\S+) s of computing", out)[1])


def probed(name):
    """A calibration file that has a probe and nothing else; its words."""
    file = suite.path(name)
    probe("--calibration", file, "--threads", "1")
    lines = open(file).read().splitlines()
    check(len(lines) == 1 and lines[0].startswith("probe "), lines)
    return file, lines[0].split(" ")


def one_thread(file, *more):
    return ["-s", "run.threads=1", "-s", f"run.calibration={file}", *more]


def guesses():
    """Twice the figures, half the time; measured beside the guess; a run measures whatever the guess says."""
    file, words = probed("probed")
    said = []
    for name, made in GUESSED.items():
        deck = suite.deck(f"{name}.yaml", made)
        run = suite.run(["plan", deck, *one_thread(file, "-s", "run.calibrate=probe")])
        check(run.status == 0 and "guessed from what `tesela probe` measured" in run.out, run.tail())
        check(open(file).read().count("\n") == 1, "a guess was stored")
        fast = suite.write("fast", " ".join([words[0], *(f"{float(w) * f:.17e}" for w, f in zip(words[1:5], (2, 2, .5, 2))),
                                             words[5]]) + "\n")
        half = suite.run(["plan", deck, *one_thread(fast, "-s", "run.calibrate=probe")])
        check(abs(2 * predicted(half.out) / predicted(run.out) - 1) < 2e-3, f"{half.out} {run.out}")
        measured = suite.run(["plan", deck, *one_thread(fast)])  # in a file of its own: a start, not the model
        check(measured.status == 0 and "calibration measured now" in measured.out, measured.tail())
        again = suite.run(["plan", deck, *one_thread(fast, "-s", "run.calibrate=probe")])
        check("calibration from file" in again.out and predicted(again.out) == predicted(measured.out), again.out)
        factor = predicted(measured.out) / predicted(run.out)
        check(1 / 60 < factor < 60, f"{name}: measured {factor} times the guess")
        said.append(f"{name} guessed {predicted(run.out):.3g} s, measured {predicted(measured.out):.3g} s")
    return "; ".join(said)


def guesses_of_clusters():
    file, words = probed("probed_far")
    deck = suite.deck("image.yaml", GUESSED["image"])
    device = words[5].split("|")[1].replace(",", " ")
    far = suite.write("far.yaml", "cluster:\n  nodes: [1, 4]\n  devices:\n    - {name: \"%s\", count: 2}\n"
                      "  network: {latency: 1e-6, bandwidth: 1e9}\n" % device)
    run = suite.run(["plan", deck, "--cluster", far, *one_thread(file)])
    check(run.status == 0 and "guessed from its probe on " in run.out, run.tail())
    one = suite.run(["plan", deck, *one_thread(file, "-s", "run.calibrate=probe")])
    table = float(re.search(r"speed-up over one node, (\S+) s", run.out)[1])
    check(abs(table * 2 / predicted(one.out) - 1) < 0.1, f"{table} s of two, {predicted(one.out)} s of one")
    other = suite.write("other", open(file).read().replace(device.replace(" ", ","), "Another"))
    run = suite.run(["plan", deck, "--cluster", far, *one_thread(other)])
    check(run.status == 2 and "tesela probe --calibration" in run.err, run.tail())


def bad_guesses():
    deck = suite.deck("image.yaml", GUESSED["image"])
    file, words = probed("good")
    good = open(file).read()
    for k in range(1, 5):
        for value in ("0", "nan", "-1", "inf", "1e-320", "many"):
            bad = suite.write("bad", "# of a cluster\n" + good + " ".join([*words[:k], value, *words[k + 1:]]) + "\n")
            run = suite.run(["plan", deck, *one_thread(bad, "-s", "run.calibrate=probe")])
            check(run.status == 2 and f"{bad}:3: a probe has" in run.err, f"{k} {value}: {run.tail()}")
    for text in ("probe 1e9\n", "probe 1e9 1e9 1e-6 1e9\n", "probe 1e9 1e9 1e-6 1e9 a|b\n"):
        bad = suite.write("bad", text)
        run = suite.run(["plan", deck, *one_thread(bad, "-s", "run.calibrate=probe")])
        check(run.status == 2 and f"{bad}:1: a probe has" in run.err, run.tail())
    run = suite.run(["plan", deck, *one_thread(suite.path("none"), "-s", "run.calibrate=probe")])
    check(run.status == 2 and "tesela probe --calibration" in run.err, run.tail())
    for args in (["run", deck, "-o", suite.path("bad.h5")], ["calibrate", deck]):
        run = suite.run([*args, *one_thread(file, "-s", "run.calibrate=probe")])
        check(run.status == 2 and "is a guess for `tesela plan`" in run.err, run.tail())
    csv_file = suite.write("not_one.csv", "a,b\n1,2\n")
    run = suite.run(["probe", "--calibration", csv_file])
    check(run.status == 2 and "no calibration file" in run.err, run.tail())
    run = suite.run(["probe", "--threads", "0"])
    check(run.status == 2 and "1 to 4096" in run.err, run.tail())


for name, body in (("measures", measures), ("remembers", remembers),
                   ("forgets_what_does_not_fit", forgets_what_does_not_fit), ("ranks", ranks),
                   ("bad_words", bad_words), ("rates", rates), ("guesses", guesses),
                   ("guesses_of_clusters", guesses_of_clusters), ("bad_guesses", bad_guesses)):
    suite.case(name, body)
suite.end()
