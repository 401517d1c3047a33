#!/usr/bin/env python3
"""The command line: help, subcommands, overrides, trace, and the deck stored in the output.

usage: cli.py TESELA [--fast] [ONLY]
"""
import glob
import json
import os
import re
import subprocess
import time

import harness
from harness import check, h5py, np

suite = harness.Suite(__doc__, jobs=3)
SUBCOMMANDS = ["run", "plan", "devices", "calibrate", "bench", "show"]

DECK = """\
# a comment that stays in the stored text
family: tri
title: a small case
tri:
  function: euclidean
  output: condensed
  generator:
    kind: clusters
    n: 300
    seed: 5
"""
suite.write("deck.yaml", DECK)


def good(args, ranks=None, **more):
    run = suite.run(args, ranks, **more)
    check(run.status == 0, run.tail())
    return run


def bad(args, *needles):
    run = suite.run(args, timeout=20)
    check(run.status == 2, f"expected exit 2: {run.tail()}")
    check(run.err.count("tesela: error:") == 1, run.tail())
    for needle in needles:
        check(needle in run.err, f"no '{needle}' in: {run.err}")


def results(path):
    with h5py.File(suite.path(path), "r") as file:
        return harness.datasets(file)


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


# -------------------------------------------------------------------- help


def help_of(word):
    text = good([word, "--help"]).out
    check("usage:" in text and f"tesela {word}" in text, f"no usage in: {text}")
    check(good(["help", word]).out == text, "`help WORD` and `WORD --help` differ")
    check(max(map(len, text.splitlines())) <= 100, "a help line is too long")


def main_help():
    text = good(["--help"]).out
    for word in [*SUBCOMMANDS, "help", "--version"]:
        check(re.search(rf"tesela {word}\b", text) or word in text, f"{word} is not in the help")
    check(good(["-h"]).out == text and good(["help"]).out == text, "-h, help and --help differ")
    check("Exit status" in text, "the exit statuses are not in the help")


def help_tri():
    text = good(["help", "tri"]).out
    for key in ("function", "output", "generator", "softening", "threshold", "columns"):
        check(re.search(rf"^ +{key}:", text, re.M), f"key {key} is not in `help tri`")
    check("euclidean" in text and "(required)" in text, "no words, or no required key")


def help_keys(topic, keys):
    text = good(["help", topic]).out
    for key in keys:
        check(re.search(rf"^ +{key}:", text, re.M), f"key {key} is not in `help {topic}`")


def version():
    check(re.fullmatch(r"tesela \d+\.\d+\.\d+ \(\S+\)\n", good(["--version"]).out), "odd version line")


def blas_kernels():
    """OpenBLAS that does not know the processor gets the kernels that it can run; a user's choice stands."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        able = re.search(r"^flags.* avx2\b", file.read(), re.M) is not None
    for chosen, allowed in ((None, not able), ("Prescott", True)):
        env = {"OPENBLAS_VERBOSE": "2", **({"OPENBLAS_CORETYPE": chosen} if chosen else {})}
        said = good(["--version"], env=env)
        cores = re.findall(r"^Core: (\w+)", said.out + said.err, re.M)
        if not cores:
            return "this OpenBLAS has kernels of one processor"
        check(allowed or cores[-1] != "Prescott", f"kernels {cores}")
        check(chosen is None or cores[-1] == chosen, f"{chosen} was asked for, {cores} taken")
    return None


def help_cases():
    suite.case("--help", main_help)
    suite.case("--version", version)
    suite.case("kernels of OpenBLAS", blas_kernels)
    for word in SUBCOMMANDS:
        suite.case(f"{word} --help", help_of, word)
    suite.case("help tri", help_tri)
    suite.case("help fractal", help_keys, "fractal", ["set", "view", "centre", "maxiter", "palette", "gpu_mean"])
    suite.case("help run-keys", help_keys, "run-keys", ["device", "threads", "plan", "dynamic", "memory"])
    suite.case("help output-keys", help_keys, "output-keys", ["file", "overwrite", "compress"])
    suite.case("no subcommand", bad, [], "--help")
    suite.case("unknown subcommand", bad, ["rum", "deck.yaml"], "'rum'", "'run'")
    suite.case("unknown option", bad, ["run", "deck.yaml", "--overwrit"], "--overwrit", "--overwrite")
    suite.case("beginning of an option", bad, ["run", "deck.yaml", "--out", "a.h5"], "--out", "'--output' or '-o'")
    suite.case("beginning of two options", bad, ["run", "deck.yaml", "--o", "a.h5"], "--o")
    suite.write("famly.yaml", DECK.replace("family:", "famly:"))
    suite.case("family misspelt", bad, ["plan", "famly.yaml"], "famly.yaml:2", "'famly'", "'family'")
    suite.write("title.yaml", DECK.replace("a small case", "x" * 11_000_000))
    suite.case("a title of 11 MB", bad, ["plan", "title.yaml"], "title.yaml:3", "11000000", "1000")
    suite.write("text.yaml", DECK + "run:\n  device: " + "x" * 2_000_000 + "\n")
    suite.case("a text of 2 MB", bad, ["plan", "text.yaml"], "text.yaml:12", "run.device", "2000000")
    suite.case("option of another subcommand", bad, ["plan", "deck.yaml", "--trace", "t"], "--trace", "plan")
    suite.case("option without value", bad, ["run", "deck.yaml", "-o"], "-o", "value")
    suite.case("option before its value", bad, ["run", "deck.yaml", "-o", "-q"], "-o", "'-q'", "./-q")
    suite.case("option=value", bad, ["run", "deck.yaml", "--output=a.h5"], "--output a.h5")
    suite.case("deck without subcommand", bad, ["deck.yaml"], "tesela run deck.yaml")
    suite.case("word after devices", bad, ["devices", "all"], "'all'")
    suite.case("two topics", bad, ["help", "tri", "xc"], "'xc'")
    suite.case("no deck", bad, ["run"], "deck")
    suite.case("two decks", bad, ["run", "deck.yaml", "deck.yaml"], "one")
    suite.case("unknown topic", bad, ["help", "trii"], "'trii'", "'tri'")
    suite.case("unknown benchmark", bad, ["bench", "nothing-like-it"], "nothing-like-it")
    suite.case("show without file", bad, ["show"], "show")
    suite.case("show of a missing file", bad, ["show", "none.h5"], "none.h5")
    suite.case("show of another file", bad, ["show", "deck.yaml"], "deck.yaml")


# -------------------------------------------------------------- subcommands


def plan(ranks):
    before = set(os.listdir(suite.folder))
    text = good(["plan", "deck.yaml", "--set", "run.plan=lpt"], ranks).out
    check("units" in text and "plan lpt" in text and "predicted" in text, text)
    rows = re.findall(r"^ +(\d+)  .* +(\d+)  +\d\.\d+e", text, re.M)
    check(len(rows) == (ranks or 1), f"{len(rows)} lines of ranks in: {text}")
    check(set(os.listdir(suite.folder)) - before <= {"cache"}, "plan left a file")


def at_once():
    """Shells that start one run after another: none meets another's."""
    shells, each = 4, 15 if suite.fast else 100
    loop = 'for k in $(seq $2); do "$1" plan deck.yaml >/dev/null || exit 9; done'
    env = suite.environment()  # one TMPDIR for all
    began = [subprocess.Popen(["sh", "-c", loop, "sh", suite.binary, str(each)], env=env, cwd=suite.folder, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(shells)]
    texts = [shell.communicate()[1] for shell in began]
    check(all(shell.returncode == 0 for shell in began), "".join(texts)[-600:])
    check(not os.listdir(env["TMPDIR"]), f"left behind: {os.listdir(env['TMPDIR'])}")
    return f"{shells * each} runs"


def no_session_folder():
    """A run of one rank shares no folder with others, so it needs none."""
    good(["plan", "deck.yaml"], env={"TMPDIR": suite.path("none/such")})


def devices(ranks):
    text = good(["devices"], ranks).out
    rows = re.findall(r"^ +(\d+) ", text, re.M)
    check([int(r) for r in rows] == list(range(ranks or 1)), f"not one line per rank: {text}")
    check("cpu" in text or "gpu" in text, text)


def calibrate():
    path = suite.path("speeds")
    text = good(["calibrate", "deck.yaml", "--set", f"run.calibration={path}"]).out
    check(path in text, text)
    with open(path) as file:
        first = file.read()
    check(first.count("\n") >= 1, "nothing was stored")
    run = good(["plan", "deck.yaml", "--set", f"run.calibration={path}"]).out
    check("from file" in run, f"the stored calibration was not used: {run}")
    with open(path) as file:
        check(file.read() == first, "a stored calibration was measured again")
    suite.write("speeds", "garbage\n\x00\xff 1 2 3\n")
    bad(["plan", "deck.yaml", "--set", f"run.calibration={path}"], "speeds", "no calibration file")
    suite.write("speeds", "garbage\n\x00\xff 1 2 3\n" + first)
    check("from file" in good(["plan", "deck.yaml", "--set", f"run.calibration={path}"]).out, "junk hides a calibration")
    for number in ("inf", "nan", "1e308", "-1"):
        suite.write("speeds", first + "".join(f"{line.split(' ')[0]} {line.split(' ')[1]} {number} {line.split(' ', 3)[3]}"
                                              for line in first.splitlines(True)))
        run = good(["plan", "deck.yaml", "--set", f"run.calibration={path}"]).out
        check("inf" not in run and "nan" not in run, f"a coefficient of {number} is believed: {run}")
    os.remove(path)
    os.mkfifo(path)
    process = suite.start(["plan", "deck.yaml", "--set", f"run.calibration={path}"])
    run = suite.finish(process, time.time(), 60)
    check(run.status == 0 and "measured now" in run.out, f"a pipe as calibration file: {run.tail()}")


def heals():
    """A calibration that is far off is corrected by the run that it misled, which says so."""
    deck = DECK.replace("n: 300", "n: 2000") + "run:\n  threads: 1\n"
    suite.write("heal.yaml", deck)
    path = suite.path("wrong")
    words = ["heal.yaml", "--set", f"run.calibration={path}", "--set", "tri.output=histogram", "--set", "tri.range=[0, 9]"]
    slow = {"TSL_TEST_SLOW": "+0.004"}  # 512 units
    good(["calibrate", *words], env=slow)
    with open(path) as file:
        lines = [line.split(" ", 7) for line in file]
    for factor in (30, 1 / 30):
        with open(path, "w") as file:
            for line in lines:
                file.write(" ".join([*line[:2], *(f"{float(w) * factor:.9e}" for w in line[2:6]), *line[6:]]))
        run = good(["run", *words, "-o", "heal.h5", "--overwrite"], env=slow)
        check("was off by" in run.err and "corrected" in run.err and path in run.err, f"factor {factor}: {run.tail()}")
        again = good(["run", *words, "-o", "heal.h5", "--overwrite"], env=slow)
        check("was off by" not in again.err and "from file" in again.out, f"not corrected: {again.tail()}")


def full_stdout(args):
    """What is printed and does not arrive is a failure; the results of a run are in their file."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([suite.binary, *args], stdout=full, stderr=subprocess.PIPE, text=True, cwd=suite.folder,
                              env=suite.environment(), timeout=60, check=False)
    check(done.returncode == 3 and "standard output" in done.stderr, f"exit {done.returncode}: {done.stderr}")


def full_stdout_cases():
    def run():
        full_stdout(["run", "deck.yaml", "-q", "-o", "full.h5", "--overwrite"])
        check(len(results("full.h5")) > 0, "no results")
        full_stdout(["show", "full.h5"])

    good(["calibrate", "deck.yaml"])
    for args in (["--help"], ["-h"], ["help", "tri"], ["--version"], ["devices"], ["plan", "deck.yaml"], ["bench"],
                 ["calibrate", "deck.yaml"], ["rates", "deck.yaml"], ["run", "--help"]):
        suite.case(f"stdout is full: {' '.join(args)}", full_stdout, args)
    suite.case("stdout is full: run, show", run)


def bench_list():
    check(re.search(r"^  \S+ +\S", good(["bench"]).out, re.M), "no benchmark is listed")


def show():
    good(["run", "deck.yaml", "-o", "show.h5", "--overwrite", "-q"])
    text = good(["show", "show.h5"]).out
    for word in ("VALID", "a small case", "distances", "44850", "pairs"):
        check(word in text, f"no '{word}' in: {text}")
    check(good(["show", "show.h5", "--values", "0"]).out != good(["show", "show.h5", "--values", "20"]).out,
          "--values has no effect")


def show_broken():
    good(["run", "deck.yaml", "-o", "show.h5", "--overwrite", "-q"])
    with open(suite.path("show.h5"), "rb") as file:
        data = file.read()
    suite.write("cut.h5", data[:len(data) // 2])
    bad(["show", "cut.h5"], "cut.h5")
    with h5py.File(suite.path("other.h5"), "w") as file:
        file["x"] = 1
    bad(["show", "other.h5"], "other.h5")


# ---------------------------------------------------------------------- run


def run_text():
    text = good(["run", "deck.yaml", "-o", "text.h5", "--overwrite"]).out
    for word in ("a small case", "rank", "units", "predicted", "imbalance", "points", "VALID", "text.h5"):
        check(word in text, f"no '{word}' in: {text}")


def quiet():
    run = good(["run", "deck.yaml", "-o", "quiet.h5", "-q"])
    check(run.err == "", f"stderr with -q: {run.err}")
    check(not re.search(r" $", run.out, re.M), f"blanks at the end of a line: {run.out}")
    check("VALID" in run.out and "imbalance" not in run.out, f"stdout with -q: {run.out}")
    check(good(["run", "deck.yaml", "-o", "quiet2.h5", "--quiet"]).out.count("\n") == run.out.count("\n"),
          "-q and --quiet differ")


def default_output():
    os.makedirs(suite.path("work"), exist_ok=True)
    good(["run", "../deck.yaml", "-q"], cwd=suite.path("work"))
    check(os.path.exists(suite.path("work/deck.h5")), "no deck.h5 in the working folder")


def output_key():
    good(["run", "deck.yaml", "-q", "--set", "output.file=key.h5"])
    check(os.path.exists(suite.path("key.h5")), "output.file was ignored")
    good(["run", "deck.yaml", "-q", "--set", "output.file=key.h5", "-o", "option.h5"])
    check(os.path.exists(suite.path("option.h5")), "-o does not win over output.file")


def overrides(ranks):
    out = f"set{ranks}.h5"
    good(["run", "deck.yaml", "-o", out, "-q", "--set", "tri.generator.n=20", "-s", "tri.output=square",
          "--set", "run.plan=bins", "--set", "tri.precision=fp64"], ranks)
    with h5py.File(suite.path(out), "r") as file:
        data = file["results/distances"]
        check(data.shape == (20, 20) and data.dtype == np.float64, f"{data.shape} {data.dtype}")
        check(file["run"].attrs["plan"] == "bins", "run.plan was not overridden")
        check(file["run/deck"].asstr()[()] == DECK, "the deck's text is not stored as it was")


def trace(ranks):
    out = f"trace{ranks}"
    good(["run", "deck.yaml", "-o", out + ".h5", "-q", "--trace", out + ".json"], ranks)
    with open(suite.path(out + ".json")) as file:
        events = json.load(file)["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    for e in spans:
        check(e["dur"] >= 0 and e["ts"] >= 0 and 0 <= e["pid"] < ranks, f"odd event {e}")
    with h5py.File(suite.path(out + ".h5"), "r") as file:
        units = file["run/units"][()]
    ran = {e["args"]["unit"]: e["pid"] for e in spans if e["name"] == "unit"}
    check(len([e for e in spans if e["name"] == "unit"]) == len(units), "not one event per unit")
    check(ran == {int(u["id"]): int(u["rank"]) for u in units}, "trace and table of units differ")
    device = sorted((e["pid"], e["ts"], e["dur"]) for e in spans if e["tid"] == 0)
    for a, b in zip(device, device[1:]):
        check(a[0] != b[0] or a[1] + a[2] <= b[1] + 50, f"two units at once on a device: {a} {b}")
    check({e["pid"] for e in events if e["name"] == "process_name"} == set(range(ranks)), "ranks without name")


RESOLVE = {
    "condensed": "", "histogram": "  range: [0, 1]\n", "topk": "", "square": "  map: fr\n  block: 32\n",
    "threshold": "  threshold: 0.25\n"}


def resolved(output, keys):
    """The stored deck with all defaults runs again, anywhere, and gives the same."""
    suite.write("first.yaml", DECK.replace("condensed", output) + keys)
    good(["run", "first.yaml", "-o", "first.h5", "--overwrite", "-q", "--set", "tri.generator.n=77"])
    with h5py.File(suite.path("first.h5"), "r") as file:
        text = file["run/resolved_deck"].asstr()[()]
    check("77" in text and "precision" in text and "dynamic" in text, f"not resolved: {text}")
    suite.write("again.yaml", text)
    good(["run", "again.yaml", "-o", "again.h5", "--overwrite", "-q"])
    check(same(results("first.h5"), results("again.h5")), "the resolved deck gave another result")
    with h5py.File(suite.path("again.h5"), "r") as file:
        check(file["run/resolved_deck"].asstr()[()] == text, "resolving again changed the deck")


def stored():
    good(["run", "deck.yaml", "-o", "stored.h5", "-q"], 2)
    with h5py.File(suite.path("stored.h5"), "r") as file:
        run = file["run"]
        for name in ("family", "title", "version", "git_hash", "plan", "start_time", "verdict", "reason",
                     "predicted_seconds", "measured_seconds", "total_seconds", "imbalance", "waiting"):
            check(name in run.attrs, f"no attribute {name} of /run")
        check("stored.h5" in run["command"].asstr()[()], "the command is not stored")
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", run.attrs["start_time"]), "odd start time")
        check(len(run["machine"]) == 2 and len(run["units"]) > 0 and len(run["calibration"]) > 0, "empty tables")
        check(file.attrs["tesela_format"] >= 1, "no format number")
        for name, data in file["results"].items():
            check("unit" in data.attrs and data.attrs.get("doc", "x"), f"{name} has no unit or doc")


def relative_input():
    """Files are found from the deck's folder, not from the working folder."""
    os.makedirs(suite.path("data"), exist_ok=True)
    np.savetxt(suite.path("data/p.csv"), np.random.default_rng(1).normal(size=(9, 3)), delimiter=",")
    suite.write("data/d.yaml", "family: tri\ntri:\n  function: euclidean\n  output: condensed\n"
                "  input:\n    file: p.csv\n")
    good(["run", "data/d.yaml", "-o", "relative.h5", "-q"])
    good(["run", "data/d.yaml", "-o", "relative2.h5", "-q"], 2)


# Molecules that take minutes: planned, and water stands for running them.
LARGE = {os.path.join("xc", f"{name}.yaml") for name in ("beta_carotene", "c60", "haem_proline", "iron_porphyrin_co",
                                                         "taxol", "vitamin_c")}
LIGHT = ["-s", "xc.basis=STO-3G", "-s", "xc.grid.preset=coarse"]


INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inputs")
DELIVERED = sorted(os.path.relpath(deck, INPUTS) for deck in glob.glob(os.path.join(INPUTS, "*", "*.yaml"))
                   if os.path.basename(os.path.dirname(deck)) != "clusters")  # no decks: whatif.py has them


def example(name):
    """A deck that is delivered runs, or is planned where it takes minutes; large molecules in a small basis and on
    few points."""
    deck, limit = os.path.join(INPUTS, name), 300 if suite.slow_build else 120  # where builds are slow
    if name in LARGE:
        good(["plan", deck, "-q", *LIGHT], timeout=limit)
    else:
        good(["run", deck, "-o", name.replace(os.sep, "_") + ".h5", "-q"], timeout=limit)


def all_families():
    """There are decks of each family, so that none of the cases below is missing with its folder."""
    check({name.split(os.sep)[0] for name in DELIVERED} >= {"tri", "fractal", "dp", "xc"}, f"{DELIVERED}")


def cut_anew():
    """A long run with a slow rank is cut anew into finer units; every one of them is computed once."""
    rdf = os.path.join(INPUTS, "tri", "rdf.yaml")
    points = 30000 if suite.slow_build else 60000  # as long in a build that is slow
    sets = ["-s", f"tri.generator.n={points}", "-s", "run.threads=1", "-q"]
    good(["run", rdf, "-o", "coarse.h5", *sets])
    good(["run", rdf, "-o", "finer.h5", "-s", "run.ranks=all", *sets], 2, env={"TSL_TEST_SLOW": "1:20", "TSL_TEST_CLOCK": "processor"})
    with h5py.File(suite.path("coarse.h5"), "r") as one, h5py.File(suite.path("finer.h5"), "r") as two:
        check(len(two["run/units"]) > len(one["run/units"]), "the units were not cut anew")
        check(np.array_equal(one["results/counts"][()], two["results/counts"][()]), "other counts")


help_cases()
for each in (None, 2):
    suite.case(f"plan, {each or 1} ranks", plan, each)
    suite.case(f"devices, {each or 1} ranks", devices, each)
suite.case("runs at once", at_once)
suite.case("no folder of sessions", no_session_folder)
suite.case("calibrate", calibrate)
suite.case("a calibration that is off heals", heals)
full_stdout_cases()
suite.case("bench", bench_list)
suite.case("show", show)
suite.case("show of broken files", show_broken)
suite.case("run", run_text)
suite.case("quiet", quiet)
suite.case("default output", default_output)
suite.case("output.file and -o", output_key)
for each in (1, 2):
    suite.case(f"--set, {each} ranks", overrides, each)
    suite.case(f"--trace, {each} ranks", trace, each)
for each, lines in RESOLVE.items():
    suite.case(f"resolved deck, {each}", resolved, each, lines)
suite.case("what is stored", stored)
suite.case("relative input", relative_input)
suite.case("units cut anew", cut_anew)
suite.case("decks of all families", all_families)
for each in DELIVERED if suite.has_family("xc") else [deck for deck in DELIVERED if not deck.startswith("xc/")]:
    suite.case(f"delivered deck {each}", example, each)
suite.end()
