#!/usr/bin/env python3
"""What cmake --install leaves: it works where it stands and after it was moved, and is found by
CMake, pkg-config, environment modules, man and bash.

usage: install.py TESELA [--fast] [ONLY]
"""
import os
import re
import shutil
import subprocess

import harness
from harness import check, h5py

suite = harness.Suite(__doc__)
build = os.path.dirname(os.path.dirname(suite.binary))
first, moved = suite.path("first"), suite.path("moved/prefix")


def call(*command, status=0, env=None, cwd=None):
    """The output of a command that must end with status."""
    done = subprocess.run(command, capture_output=True, text=True, env={**suite.environment(), **(env or {})},
                          cwd=cwd or suite.folder)
    check(done.returncode == status, f"{command}: exit {done.returncode}: {done.stderr[-400:]}{done.stdout[-400:]}")
    return done.stdout + done.stderr


def there(*parts):
    path = os.path.join(moved, *parts)
    check(os.path.exists(path), f"not installed: {os.path.join(*parts)}")
    return path


def library_folder():
    """lib, lib64 or lib/TRIPLET, as GNUInstallDirs chose."""
    for folder, _, names in os.walk(moved):
        if "teselaConfig.cmake" in names:
            return os.path.dirname(os.path.dirname(folder))
    raise harness.Failed("no teselaConfig.cmake")


def installs():
    call("cmake", "--install", build, "--prefix", first)
    os.makedirs(os.path.dirname(moved))
    shutil.move(first, moved)
    for parts in (("share", "man", "man1", "tesela.1"), ("share", "tesela", "jobs"),
                  ("share", "doc", "tesela", "README.md"), ("share", "doc", "tesela", "docs", "tour.md")):
        there(*parts)


def runs_a_deck():
    out = suite.path("rdf.h5")
    call(there("bin", "tesela"), "run", there("share", "tesela", "inputs", "tri", "rdf.yaml"), "-s",
         "tri.generator.n=500", "-o", out, "-q")
    with h5py.File(out) as file:
        check(file["run"].attrs["verdict"] == "VALID", "not valid")
    call(there("share", "tesela", "tools", "compare"), out, out)
    page = suite.path("rdf.html")
    call(there("share", "tesela", "tools", "report"), out, "-o", page)
    check(os.path.getsize(page) > 1000, "an empty page")


def finds_its_basis_sets():
    """Also when the tree it was built from is not there: the moved prefix holds them."""
    known = subprocess.run([there("bin", "tesela"), "help", "xc"], capture_output=True, text=True)
    if known.returncode != 0 or "lacks the libraries" in known.stdout:
        return "this build has no xc"
    deck = suite.deck("h2.yaml", {"family": "xc", "xc": {"molecule": {"atoms": "H 0 0 0; H 0 0 0.74"},
                                                       "basis": "STO-3G", "functional": "pbe"}})
    trace = call("strace", "-f", "-e", "trace=openat", there("bin", "tesela"), "run", deck, "-o",
                 suite.path("h2.h5"), "-q") if shutil.which("strace") else None
    if trace is None:
        call(there("bin", "tesela"), "run", deck, "-o", suite.path("h2.h5"), "-q")
        return "without strace: only that it ran"
    opened = [line for line in trace.splitlines() if "sto-3g" in line.lower() and "= -1" not in line]
    check(any(moved in line for line in opened), f"opened: {opened}")


def found_by_cmake():
    folder = suite.path("user")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "CMakeLists.txt"), "w") as file:
        file.write("""cmake_minimum_required(VERSION 3.21)
project(user LANGUAGES NONE)
find_package(tesela 0.1 REQUIRED)
get_target_property(where tesela::tesela LOCATION)
execute_process(COMMAND ${where} --version OUTPUT_VARIABLE said)
message(STATUS "said ${said}")
message(STATUS "data ${tesela_DATA_DIR}")
""")
    said = call("cmake", "-S", folder, "-B", os.path.join(folder, "b"), f"-DCMAKE_PREFIX_PATH={moved}")
    check("said tesela 0.1" in said and f"data {moved}/share/tesela" in said, said)
    wrong = f"{folder}/CMakeLists.txt"
    text = open(wrong).read().replace("tesela 0.1", "tesela 99.1")
    open(wrong, "w").write(text)
    call("cmake", "-S", folder, "-B", os.path.join(folder, "b2"), f"-DCMAKE_PREFIX_PATH={moved}", status=1)


def found_by_pkg_config():
    env = {"PKG_CONFIG_PATH": os.path.join(library_folder(), "pkgconfig")}
    check(call("pkg-config", "--modversion", "tesela", env=env).startswith("0.1"), "version")
    folder = call("pkg-config", "--variable=bindir", "tesela", env=env).strip()
    check(os.path.samefile(folder, there("bin")), f"bindir is {folder}")


def module_sets_the_paths():
    modulecmd = next((m for m in ("/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "/usr/share/modules/libexec/modulecmd.tcl", "/usr/lib/modulecmd.tcl")
                      if os.path.exists(m)), None)
    if modulecmd is None:
        with open(there("share", "modulefiles", "tesela", "0.1.0")) as file:
            check(file.readline().startswith("#%Module"), "first line")
        return "environment-modules is not installed: only looked at"
    env = {"MODULEPATH": there("share", "modulefiles")}
    said = call(modulecmd, "bash", "load", "tesela", env=env)
    check(os.path.join(moved, "bin") in said and f"TESELA_ROOT={moved}" in said, said)


def module_keeps_the_man_pages():
    """With the module, man finds tesela's page and those of the system, with MANPATH set before and not."""
    init = "/usr/share/modules/init/bash"
    if not os.path.exists(init) or shutil.which("man") is None:
        return "environment-modules or man is not installed"
    other = suite.path("other")  # a program beside the system's, with its page
    pages = os.path.join(other, "share", "man")
    os.makedirs(os.path.join(pages, "man1"))
    os.makedirs(os.path.join(other, "bin"))
    with open(os.path.join(pages, "man1", "other.1"), "w") as file:
        file.write('.TH OTHER 1\n.SH NAME\nother \\- a page\n')
    base = {"PATH": f"{other}/bin:/usr/bin:/bin", "MODULEPATH": there("share", "modulefiles")}
    look = f"source {init}; module load tesela; man -w tesela && man -w other"
    for mine in ({}, {"MANPATH": pages + ":"}):
        run = harness.completed(["bash", "-c", look], 60, env={**base, **mine}, text=True)
        check(run.returncode == 0 and f"{moved}/share/man" in run.stdout and "other.1" in run.stdout,
              f"MANPATH {mine}: {run.stdout}{run.stderr}")


def man_page_is_clean():
    if shutil.which("groff") is None and shutil.which("man") is None:
        return "neither man nor groff is installed"
    page = there("share", "man", "man1", "tesela.1")
    said = call("man", "--warnings", "-l", page, env={"MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
    check("warning" not in said, said)
    for command in ("run", "plan", "calibrate", "devices", "bench", "show"):
        check(re.search(rf"^ +{command}$|^ +{command} ", said, re.M), f"the page misses {command}")


COMPLETE = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); [ -n "{open}" ] && COMP_WORDS+=("") && COMP_CWORD=$((COMP_CWORD + 1))
_tesela; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completes():
    script = there("share", "bash-completion", "completions", "tesela")
    program = there("bin", "tesela")
    deck = there("share", "tesela", "inputs", "tri", "rdf.yaml")

    def words(text, fresh=False):
        return call("bash", "-c", COMPLETE.format(script=script, words=f"{program} {text}", open="1" if fresh else ""))

    check(words("ca").split() == ["calibrate"], words("ca"))
    check("--overwrite" in words("run --").split(), words("run --"))
    check("tri-cpu" in words("bench", fresh=True).split(), words("bench", fresh=True))
    check("tri.bins=" in words(f"run {deck} -s tri.b").split(), words(f"run {deck} -s tri.b"))
    check("run.plan=" in words(f"run {deck} -s run.p").split(), words(f"run {deck} -s run.p"))
    check(deck in words(f"run {deck[:-5]}").split(), words(f"run {deck[:-5]}"))


for name, body in (("installs", installs), ("runs_a_deck", runs_a_deck),
                   ("finds_its_basis_sets", finds_its_basis_sets), ("found_by_cmake", found_by_cmake),
                   ("found_by_pkg_config", found_by_pkg_config),
                   ("module_sets_the_paths", module_sets_the_paths),
                   ("module_keeps_the_man_pages", module_keeps_the_man_pages), ("man_page_is_clean", man_page_is_clean),
                   ("completes", completes)):
    suite.case(name, body)
suite.end()
