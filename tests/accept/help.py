#!/usr/bin/env python3
"""--help, the man page, the completion and the program itself name the same commands and options.

usage: help.py TESELA [--fast] [ONLY]
"""
import os
import re
import shutil
import subprocess

import harness
from harness import check

suite = harness.Suite(__doc__)
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
OPTION = r"(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])"
BENCH = "bench"  # its options belong to each benchmark
LONG = {"-o": "--output", "-s": "--set", "-q": "--quiet", "-h": "--help"}
GENERAL = {"--help", "--version"}


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as file:
        return file.read()


def said(*args):
    run = suite.run(list(args))
    check(run.status == 0, run.tail())
    return run.out


def options_in(text):
    """Long names of all options of tesela that a text names."""
    text = text.replace("mpirun -n", "")
    return {LONG.get(word, word) for word in re.findall(OPTION, text)}


def same(mine, theirs, what):
    check(mine == theirs, f"{what}: too few {sorted(mine - theirs)}, too many {sorted(theirs - mine)}")


COMMANDS = re.findall(r"^(?:usage:)? +tesela ([a-z]+) ", said("--help"), re.M)
HELP = {name: options_in(said(name, "--help")) for name in COMMANDS if name not in ("help", BENCH)}
PAGE = re.sub(r"\\f[BIR]", "", read("docs", "man", "tesela.1")).replace("\\-", "-")


def section(name):
    return re.search(rf"^\.SH {name}\n(.*?)(?=^\.SH )", PAGE, re.M | re.S).group(1)


def man_page():
    lines = dict(re.findall(r"^tesela ([a-z]+)(.*)$", section("SYNOPSIS"), re.M))
    same(set(COMMANDS), set(lines), "commands of the synopsis")
    same(set(COMMANDS), set(re.findall(r"^\.B ([a-z]+)$", section("COMMANDS"), re.M)), "section COMMANDS")
    for name, options in HELP.items():
        same(options, options_in(lines[name]), f"synopsis of {name}")
    heads = options_in("\n".join(re.findall(r"^\.TP\n(.*)$", section("OPTIONS"), re.M)).replace('"', ""))
    same(set().union(*HELP.values()) | GENERAL | {"--csv"}, heads, "section OPTIONS")
    for word in ("FILE.json", "QCSchema"):
        check(word in PAGE and word in said("--help") and word in said("run", "--help"), f"no {word}")


COMPLETE = """
source {script}
COMP_WORDS=({program} {words} ""); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
{last}
_tesela; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(words, last=""):
    """What the completion offers after these words, for a word that begins with last."""
    script = os.path.join(ROOT, "tools", "packaging", "tesela.bash")
    text = COMPLETE.format(script=script, program=suite.binary, words=words,
                           last=f"COMP_WORDS[COMP_CWORD]={last}" if last else "")
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, env=suite.environment(), check=False)
    check(done.returncode == 0, done.stderr)
    return set(done.stdout.split())


def completion():
    if shutil.which("bash") is None:
        return "bash is not installed"
    same(set(COMMANDS) | GENERAL, completed(""), "commands completed")
    for name, options in HELP.items():
        same(options | {"--help"}, completed(name, "--"), f"options of {name} completed")
    topics = completed("help")
    check(set(COMMANDS) - {"help"} <= topics, f"topics without {sorted(set(COMMANDS) - {'help'} - topics)}")
    for topic in sorted(topics):
        said("help", topic)
    return None


VALUES = {"--max-walltime": ["1:00:00"], "--overwrite": [], "--strict": [], "--interpret": [], "--quiet": [], "--again": [],
          "--threads": ["1"]}


def with_values(options):
    return [word for option in sorted(options) for word in (option, *VALUES.get(option, ["a=1"]))]


def program():
    """Options that a command's help names are taken, others refused; --fast: one of those."""
    for name, options in HELP.items():
        said(name, *with_values(options), "--help")
        if name == "show":  # --help wins there over what is wrong
            continue
        others = sorted(set().union(*HELP.values()) - options)
        for option in others[:1] if suite.fast else others:
            run = suite.run([name, *with_values([option]), "--help"])
            check(run.status == 2, f"{name} {option}: exit {run.status}, though its help does not name it")


for each in (man_page, completion, program):
    suite.case(each.__name__.replace("_", " "), each)
suite.end()
