#!/usr/bin/env python3
"""Compile the loops of xc over points again and check that the compiler made each vector code.

usage: xc_vectorised.py COMPILE_COMMANDS    the build's compile_commands.json

Counts gcc's notes "loop vectorized using 32 byte vectors" (64 for level 4). Functionals: one loop
for each own functional and each part, restricted and polarised. Groups: functions of each kind of
shell (10 with gradients, 8 of values alone), 3 of their radial parts, 2 densities, 2 potentials. Their
gradients: 20 of each kind of shell without and with second derivatives, 2 of what those are taken times, 5 of radial
parts, 3 sums. Points that meet sites: 3 (gcc takes the one with slopes apart), and one that fills.
Exit status 77 for other compilers.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

PARTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/fam/xc/functional/xc_parts.h")
with open(PARTS, encoding="utf-8") as lists:  # a row begins with X(name,
    FUNCTIONALS = 2 * len(re.findall(r"^  X\(\w+, ", lists.read(), re.M))
GROUPS = 10 + 8 + 3 + 2 + 2
GRADIENTS = 20 + 2 + 5 + 3
PAIRS = 3 + 1
FILES = {"xc_kernels_v3.c": (32, FUNCTIONALS), "xc_kernels_v4.c": (64, FUNCTIONALS),
         "xc_loops_v3.c": (32, GROUPS + GRADIENTS + PAIRS), "xc_loops_v4.c": (64, GROUPS + GRADIENTS + PAIRS)}


def notes(command, folder):
    """What the compiler says about vectorised loops; None when it is not gcc."""
    words = shlex.split(command)
    if "Free Software Foundation" not in subprocess.run([words[0], "--version"], capture_output=True, text=True,
                                   check=True).stdout:
        return None
    with tempfile.TemporaryDirectory() as temporary:
        output = os.path.join(temporary, "notes")
        words[words.index("-o") + 1] = os.path.join(temporary, "out.o")
        subprocess.run(words + [f"-fopt-info-vec-optimized={output}"], cwd=folder, check=True)
        with open(output, encoding="utf-8") as file:
            return file.read()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        entries = json.load(file)
    wanted = [e for e in entries if os.path.basename(e["file"]) in FILES]
    # As tests/accept/harness.py reads them; one file at least.
    one_in = max(1, min(int(os.environ.get("TSL_TEST_ONE_IN", "1")), len(wanted)))
    failed = 0
    for entry in wanted[int(os.environ.get("TSL_TEST_FIRST", "0")) % one_in::one_in]:
        name = os.path.basename(entry["file"])
        size, loops = FILES[name]
        text = notes(entry["command"], entry["directory"])
        if text is None:
            sys.exit(77)
        count = len(re.findall(rf"loop vectorized using {size} byte vectors", text))
        print(f"{name}: {count} of {loops} loops with {size}-byte vectors")
        failed += count != loops
    sys.exit(77 if not wanted else failed > 0)


main()
