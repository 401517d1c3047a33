#!/usr/bin/env python3
"""Compile the loops of xc's functionals again and check that the compiler made each vector code.

usage: xc_vectorised.py COMPILE_COMMANDS    the build's compile_commands.json

Counts gcc's notes "loop vectorized using 32 byte vectors" (64 for level 4): there is one loop for
each own functional and each part, restricted and polarised. Exit status 77 for other compilers.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

LOOPS = 2 * (6 + 8)
BYTES = {"xc_functional_v3.c": 32, "xc_functional_v4.c": 64}


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
    found = failed = 0
    for entry in entries:
        name = os.path.basename(entry["file"])
        if name not in BYTES:
            continue
        found += 1
        text = notes(entry["command"], entry["directory"])
        if text is None:
            sys.exit(77)
        count = len(re.findall(rf"loop vectorized using {BYTES[name]} byte vectors", text))
        print(f"{name}: {count} of {LOOPS} loops with {BYTES[name]}-byte vectors")
        failed += count != LOOPS
    sys.exit(77 if found == 0 else failed > 0)


main()
