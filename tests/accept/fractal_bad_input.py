#!/usr/bin/env python3
"""Bad decks of family fractal get a clear message and exit status 2, and leave nothing behind.

usage: fractal_bad_input.py TESELA [--fast] [ONLY]

Each case runs alone and with two ranks (--fast: with two ranks only where ranks matter).
"""
import os
import subprocess

import harness
import refusal
from harness import check, h5py
from refusal import LIMIT, change

suite = harness.Suite(__doc__, jobs=4)
refusals = refusal.Refusals(suite)
refuse, both = refusals.refuse, refusals.both

HEAD = "family: fractal\nfractal:\n"
GOOD = HEAD + "  set: mandelbrot\n  xres: 60\n  yres: 40\n"
JULIA = HEAD + "  set: julia\n  c: [-0.8, 0.156]\n  xres: 60\n  yres: 40\n"


def with_keys(*lines, base=GOOD):
    return base + "".join(f"  {line}\n" for line in lines)


def view(*lines, base=GOOD):
    return base + "  view:\n" + "".join(f"    {line}\n" for line in lines)


def good_decks():
    """The decks that the cases start from are good."""
    for deck in (GOOD, JULIA):
        suite.write("good.yaml", deck)
        run = suite.run(["run", "good.yaml", "-o", "good.h5", "--overwrite", "-q"], timeout=LIMIT)
        check(run.status == 0, run.tail())


# --------------------------------------------------------------- resolution


def size_cases():
    for value in ("0", "-5"):
        both(f"xres {value}", change("xres: 60", f"xres: {value}", GOOD), ["bad.yaml:4", "xres", value, "1"],
             ranks_matter=True)
        both(f"yres {value}", change("yres: 40", f"yres: {value}", GOOD), ["bad.yaml:5", "yres", value])
    both("xres broken", change("xres: 60", "xres: 60.5", GOOD), ["bad.yaml:4", "60.5"])
    both("xres a word", change("xres: 60", "xres: wide", GOOD), ["bad.yaml:4", "wide"])
    both("xres a list", change("xres: 60", "xres: [60, 40]", GOOD), ["bad.yaml:4", "xres"])
    both("pixels beyond 64 bits", HEAD + "  xres: 1e12\n  yres: 1e12\n", ["bad.yaml:3", "pixels", "64"], ranks_matter=True)
    both("xres beyond sense", change("xres: 60", "xres: 1e30", GOOD), ["bad.yaml:4", "xres"])
    both("coordinates beyond memory", change("xres: 60", "xres: 900000000000", GOOD), ["bad.yaml", "memory"],
         ranks_matter=True)
    for value in ("0", "-1", "2147483648", "1e20", "many"):
        both(f"maxiter {value}", with_keys(f"maxiter: {value}"), ["bad.yaml:6", "maxiter"])
    both("maxiter says its range", with_keys("maxiter: 0"), ["1"], ranks_matter=True)
    both("sum beyond 64 bits", HEAD + "  xres: 100000\n  yres: 100000\n  maxiter: 2147483647\n", ["bad.yaml:5", "maxiter", "64"])
    for ranks in (None, 2):
        suite.case(f"image larger than the disk, {ranks or 1} ranks", refuse,
                   HEAD + "  xres: 3e6\n  yres: 3e6\n  maxiter: 2\n", ["out.h5", "free"], status=3, ranks=ranks)


# --------------------------------------------------------------------- view


def view_cases():
    corners = ("corners: [{}, {}, {}, {}]".format)
    both("view inverted in x", view(corners(1, -1, -1, 1)), ["bad.yaml:7", "corners", "inverted", "x_lo"], ranks_matter=True)
    both("view inverted in y", view(corners(-1, 1, 1, -1)), ["bad.yaml:7", "inverted", "y_lo"])
    both("view empty in x", view(corners(1, -1, 1, 1)), ["bad.yaml:7", "empty", "x_lo"])
    both("view empty in y", view(corners(-1, 0, 1, 0)), ["bad.yaml:7", "empty", "y_lo"])
    both("three corners", view("corners: [0, 0, 1]"), ["bad.yaml:7", "4", "x_lo"])
    both("corners of words", view("corners: [a, b, c, d]"), ["bad.yaml:7", "a"])
    both("corners NaN", view("corners: [.nan, 0, 1, 1]"), ["bad.yaml:7", "corners"])
    both("corners infinite", view("corners: [-.inf, 0, 1, 1]"), ["bad.yaml:7", "corners"])
    both("corners far away", view("corners: [0, 0, 1e30, 1]"), ["bad.yaml:7", "1e30"])
    both("corners and centre", view("corners: [0, 0, 1, 1]", "centre: [0, 0]", "width: 1"), ["bad.yaml", "either", "not both"])
    both("corners and width", view("corners: [0, 0, 1, 1]", "width: 1"), ["bad.yaml", "not both"])
    both("centre without width", view("centre: [0, 0]"), ["bad.yaml", "width"])
    both("width without centre", view("width: 1"), ["bad.yaml", "centre"])
    both("centre of three", view("centre: [0, 0, 0]", "width: 1"), ["bad.yaml", "centre"])
    both("width zero", view("centre: [0, 0]", "width: 0"), ["bad.yaml:8", "width"])
    both("width negative", view("centre: [0, 0]", "width: -1"), ["bad.yaml:8", "width", "-1"])
    both("width NaN", view("centre: [0, 0]", "width: .nan"), ["bad.yaml:8", "width"])
    both("misspelt centre", view("center: [0, 0]", "width: 1"), ["bad.yaml:7", "center", "centre"])
    both("view a number", with_keys("view: 3"), ["bad.yaml:6", "view"])


def smallest(message):
    """The width that a refusal names as the smallest."""
    words = message.replace(",", " ").split()
    return words[words.index("is", words.index("smallest")) + 1].rstrip(".")


def too_narrow(precision, centre, width, key="width"):
    """The refusal names a width; with that the run succeeds, and with half of it it does not."""
    def deck(value):
        if key == "width":
            return view(f"centre: [{centre[0]}, {centre[1]}]", f"width: {value}",
                        base=with_keys(f"precision: {precision}"))
        half = f"{float(value) / 2!r}"
        return view(f"corners: [-1, {centre[1]} , 1, {centre[1]}]".replace(f"{centre[1]} ,", f"{centre[1] - float(half)!r},")
                    .replace(f"1, {centre[1]}]", f"1, {centre[1] + float(half)!r}]"),
                    base=with_keys(f"precision: {precision}"))

    message = refuse(deck(width), ["bad.yaml", key, "too small", "smallest meaningful", precision])
    least = smallest(message)
    suite.write("least.yaml", deck(least))
    run = suite.run(["run", "least.yaml", "-o", "least.h5", "--overwrite", "-q"], timeout=LIMIT)
    check(run.status == 0, f"{key} {least}, named as the smallest, is refused: {run.tail()}")
    with h5py.File(suite.path("least.h5"), "r") as file:
        for dimension in file["results/iterations"].dims:
            table = dimension[0][()]
            check(len(set(table.tolist())) == len(table), "neighbouring coordinates are one number")
    refuse(deck(repr(float(least) / 3)), ["too small"])
    return message


def narrow_cases():
    suite.case("too narrow, fp64", too_narrow, "fp64", [-0.75, 0.1], "1e-15")
    suite.case("too narrow, fp64, far smaller", too_narrow, "fp64", [-0.75, 0.1], "1e-200")
    suite.case("too narrow, fp64, only in y", too_narrow, "fp64", [0.0001, 1.5], "1e-15")
    suite.case("too narrow, fp32", too_narrow, "fp32", [-0.75, 0.1], "1e-7")
    suite.case("too narrow, fp32, corners", too_narrow, "fp32", [0, 0.5], "1e-7", key="height")
    both("too narrow, 2 ranks", view("centre: [-0.75, 0.1]", "width: 1e-15"), ["smallest meaningful width"],
         ranks_matter=True)
    both("too narrow, fp32 has a hint", view("centre: [-0.75, 0.1]", "width: 1e-7", base=with_keys("precision: fp32")),
         ["fp64"])
    both("more columns than fp32 has numbers", view("centre: [-0.75, 0.1]", "width: 1", base=with_keys("precision: fp32")
         .replace("xres: 60", "xres: 100000000")), ["bad.yaml", "fp32"])


# -------------------------------------------------------------------- words


def word_cases():
    both("unknown set", change("mandelbrot", "mandlebrot", GOOD), ["bad.yaml:3", "mandlebrot", "mandelbrot", "burning_ship"],
         ranks_matter=True)
    both("unknown palette", with_keys("png: a.png", "palette: rainbow"), ["bad.yaml:7", "rainbow", "grey", "viridis"],
         ranks_matter=True)
    both("unknown precision", with_keys("precision: fp16"), ["bad.yaml:6", "fp16", "fp32"])
    both("unknown schedule", with_keys("cpu_schedule: runtime"), ["bad.yaml:6", "runtime", "collapse"])
    both("unknown gpu_memory", with_keys("gpu_memory: host"), ["bad.yaml:6", "host", "pinned"])
    both("unknown gpu_threads", with_keys("gpu_threads: 3d"), ["bad.yaml:6", "3d", "2d"])
    both("unknown gpu_mean", with_keys("gpu_mean: warp"), ["bad.yaml:6", "warp", "tree"])
    both("exact a number", with_keys("exact: 2"), ["bad.yaml:6", "exact"])
    both("unknown key", with_keys("iterations: 100"), ["bad.yaml:6", "iterations"])
    both("another family's key", with_keys("output: square"), ["bad.yaml:6", "output"])
    both("another family's section", "family: tri\nfractal:\n  set: julia\n", ["bad.yaml"])


def julia_cases():
    both("c with mandelbrot", with_keys("c: [0, 1]"), ["bad.yaml:6", "fractal.c", "mandelbrot"])
    both("c with burning_ship", with_keys("c: [0, 1]", base=GOOD.replace("mandelbrot", "burning_ship")), ["bad.yaml:6", "burning_ship"])
    both("julia without c", change("  c: [-0.8, 0.156]\n", "", JULIA), ["bad.yaml", "fractal.c", "[re, im]"], ranks_matter=True)
    both("c of one number", change("[-0.8, 0.156]", "[1]", JULIA), ["bad.yaml:4", "[re, im]"])
    both("c of three numbers", change("[-0.8, 0.156]", "[1, 2, 3]", JULIA), ["bad.yaml:4", "3"])
    both("c a number", change("[-0.8, 0.156]", "1", JULIA), ["bad.yaml:4", "fractal.c"])
    both("c NaN", change("[-0.8, 0.156]", "[.nan, 0]", JULIA), ["bad.yaml:4"])
    both("c infinite", change("[-0.8, 0.156]", "[0, .inf]", JULIA), ["bad.yaml:4"])


def unused_cases():
    both("interior with julia", with_keys("interior: yes", base=JULIA), ["bad.yaml:7", "interior", "julia"])
    both("palette without png", with_keys("palette: grey"), ["bad.yaml:6", "palette", "png"])
    both("binarised_png without binarise", with_keys("binarise: no", "binarised_png: b.png"), ["bad.yaml:7", "binarise"])
    both("filling with a plain loop", with_keys("exact: no", "cpu_schedule: static"), ["bad.yaml", "exact", "static"])
    both("filling with a plain kernel", with_keys("exact: no", "gpu_threads: 2d"), ["bad.yaml", "exact", "2d"])
    both("block without a plain kernel", with_keys("gpu_block: 64"), ["bad.yaml:6", "gpu_block", "gpu_threads"])
    both("block of no whole rows", with_keys("gpu_threads: 2d", "gpu_block: 40"), ["bad.yaml:7", "gpu_block", "16", "40"])
    both("cublas beyond 2^53", HEAD + "  xres: 10000\n  yres: 10000\n  maxiter: 1e9\n  gpu_mean: cublas\n",
         ["bad.yaml:6", "cublas", "2^53"])
    both("share of the cards without its plan", GOOD + "run:\n  gpu_share: 0.5\n", ["bad.yaml:7", "gpu_share", "share"])
    both("plan share without a share", GOOD + "run:\n  plan: share\n", ["bad.yaml:7", "gpu_share"])
    both("share above 1", GOOD + "run:\n  plan: share\n  gpu_share: 1.5\n", ["bad.yaml:8", "gpu_share", "1.5"])


# ----------------------------------------------------------------- pictures


def picture_cases():
    os.makedirs(suite.path("folder.png"), exist_ok=True)
    suite.write("plain", "text")
    suite.write("notes.png", "precious notes, no picture")
    for key in ("png", "binarised_png"):
        both(f"{key} in no folder", with_keys(f"{key}: nowhere/a.png"), ["bad.yaml:6", key, "nowhere/a.png"],
             ranks_matter=True)
        both(f"{key} below a file", with_keys(f"{key}: plain/a.png"), ["bad.yaml:6", key, "plain/a.png"])
        both(f"{key} is a folder", with_keys(f"{key}: folder.png"), ["bad.yaml:6", key, "folder.png"])
        both(f"{key} in /proc", with_keys(f"{key}: /proc/tesela.png"), ["bad.yaml:6", key, "/proc"])
        both(f"{key} is no picture", with_keys(f"{key}: notes.png"), ["bad.yaml:6", key, "notes.png", "not replaced"])
        both(f"{key} of another kind", with_keys(f"{key}: a.jpg"), ["bad.yaml:6", key, "a.jpg", ".png"])
        both(f"{key} too wide", HEAD + f"  xres: 2147483648\n  yres: 1\n  maxiter: 2\n  {key}: a.png\n",
             ["bad.yaml:6", key, "PNG", "2147483647"])
        both(f"{key} too high", HEAD + f"  xres: 1\n  yres: 2147483648\n  maxiter: 2\n  {key}: a.png\n",
             ["bad.yaml:6", key, "PNG", "2147483647"])
        both(f"{key} without a name", with_keys(f"{key}: ''"), ["bad.yaml:6", key])
    both("both pictures in one file", with_keys("png: a.png", "binarised_png: a.png"), ["bad.yaml:7", "a.png"])
    both("both pictures in one file by a detour", with_keys("png: a.png", "binarised_png: folder.png/../a.png"), ["bad.yaml:7", "a.png"])
    with open(suite.path("notes.png")) as file:
        suite.everywhere("the notes are untouched", lambda: check(file.read() == "precious notes, no picture", "changed"))
    suite.case("a picture named as the output", picture_is_output)
    suite.case("full disk for a picture", full_disk)


def picture_is_output():
    """Two files of one name: refused before anything is computed."""
    deck = with_keys("png: same.png").replace("xres: 60", "xres: 2000000")
    return refuse(deck, ["fractal.png", "same.png", "output file"], output="same.png")


def full_disk():
    """A picture that does not fit on its disk, after the image is computed: named, nothing of it is left,
    and the image is."""
    small = suite.path("small")
    os.makedirs(small, exist_ok=True)
    mounted = os.getuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True).returncode == 0
    if not mounted:
        return "skipped: cannot mount a small tmpfs here (needs root)"
    deck = view("centre: [-0.743643887037151, 0.13182590420533]", "width: 1e-10", base=with_keys(
        "maxiter: 20000", "png: small/large.png").replace("xres: 60", "xres: 800").replace("yres: 40", "yres: 400"))
    try:
        for ranks in (None, 2):
            suite.write("full.yaml", deck)
            run = suite.run(["run", "full.yaml", "-o", "full.h5", "-q", "--overwrite"], ranks, timeout=LIMIT)
            check(run.status == 0 and "small/large.png" in run.err and "No space" in run.err, run.tail())
            check(os.path.exists(suite.path("full.h5")) and os.listdir(small) == [], f"left: {os.listdir(small)}")
        return ""
    finally:
        subprocess.run(["umount", small], check=True)


suite.case("good decks", good_decks)
for cases in (size_cases, view_cases, narrow_cases, word_cases, julia_cases, unused_cases, picture_cases):
    cases()
suite.end()
