#!/usr/bin/env python3
"""Adding something touches as few files as docs/architecture.md says: a copy of the tree gets a pair
function, a functional (part and mixture), a ready problem of dp and a family, is built, and runs a deck of each.

usage: extend.py TESELA

The copy is built by preset cpu with the compilers of the build that TESELA is in, kernels for this processor
alone and without optimisation; ccache is used where it is. Where cases are dealt, a copy gets one of the
four. Exit status 77: no compiler, CMake or Ninja, or TESELA is not from a git checkout.
"""
import os
import re
import shutil
import subprocess
import sys

import harness
from harness import check, np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# ------------------------------------------------------------- what is added

PAIR_ROW = """X(GEMAN, geman, TRI_RAW, TRI_NO_EXTRA, TRI_SQUARES, TRI_UNITLESS, 5, 0, "Geman-McClure distance")"""
PAIR_BODY = """\
TSL_FN R TRI_(tri_step_geman)(R acc, R a, R b, R box) {
  (void)box;
  const R t = a - b, square = t * t;
  return acc + square / ((R)1 + square);
}
TSL_FN R TRI_(tri_finish_geman)(R acc, R ei, R ej, R scale) {
  (void)ei, (void)ej, (void)scale;
  return acc;
}

"""
PART_ROW = """X(wigner, LDA_C, COMMON, "lda_c_wigner")"""
MIXTURE_ROW = """X(swigner, 0, W(slater, 1) W(wigner, 1), "Slater exchange, Wigner correlation")"""
PART_BODY = """\
/** Wigner: -a / (b + r_s), (1 - zeta^2) times that when polarised. */
TSL_FN XC_ENERGY XC_(xc_wigner_rks)(R x, R y) {
  const R whole = (R)1 / ((R)7.8 + y);
  XC_ENERGY out = {(R)-0.44 * whole, (R)0.88 * y * whole * whole, (R)0};
  (void)x;
  return out;
}
TSL_FN XC_ENERGY XC_(xc_wigner_uks)(const XC_SPINS *s) {
  const R y = (R)XC_RS * s->r, part = s->p * s->m;
  const XC_ENERGY whole = XC_(xc_wigner_rks)(XC_SQRT(y), y);
  XC_ENERGY out = {part * whole.e, part * whole.x, (R)-2 * s->zeta * whole.e};
  return out;
}

"""
READY_ROW = """\
/* Letters inserted and deleted: n + m - 2 lcs. */
DP_READY(INDEL, indel, EDIT, .needs = "a b", .takes = "alphabet recover memory alignment", .goal = "distance",
         .settle = settle_indel)
"""
READY_SETTLE = """\
/** A letter changed is one deleted and one inserted. */
static tsl_err settle_indel(const tsl_deck *deck, dp_deck *s) {
  (void)deck;
  s->edit.replace = 2;
  return TSL_OK;
}

"""
XC_WORDS = {"water": 1, "oxygen": 3}  # molecule: multiplicity

# ------------------------------------------------------------------ the copy


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def cached(folder):
    """Entries of a build's CMakeCache.txt."""
    try:
        with open(os.path.join(folder, "CMakeCache.txt"), encoding="utf-8") as file:
            return dict(re.findall(r"^([A-Za-z_]\w*):\w+=(.*)$", file.read(), re.M))
    except OSError:
        return {}


def tree_files():
    """Files of the checkout, those not yet tracked too."""
    done = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    names = [n for n in done.stdout.split("\0") if n and os.path.isfile(os.path.join(ROOT, n))]
    return names if done.returncode == 0 else []


class Copy:
    """A copy of the tree, and what was changed in it."""

    def __init__(self, folder, names):
        self.folder, self.edited, self.made = folder, set(), set()
        for name in names:
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), self.path(name))

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def edit(self, name, pattern, text):
        """Put text behind the first match of pattern."""
        old = self.read(name)
        match = re.search(pattern, old, re.M)
        check(match, f"{name} has no {pattern}")
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(old[:match.end()] + text + old[match.end():])
        self.edited.add(name)

    def add_row(self, name, table, row):
        """A row at the end of a list that is a macro."""
        self.edit(name, rf"^#define {table}\(.*\\\n(?:.*\\\n)*.*[^\\\n]$", f" \\\n  {row}")

    def add_folder(self, of, to):
        for name in sorted(os.listdir(os.path.join(HERE, "extend", of))):
            os.makedirs(self.path(to), exist_ok=True)
            shutil.copy2(os.path.join(HERE, "extend", of, name), self.path(f"{to}/{name}"))
            self.made.add(f"{to}/{name}")

    def counted(self):
        """Files edited and files made since the last call."""
        counts = len(self.edited), len(self.made)
        self.edited, self.made = set(), set()
        return counts

    def check_docs(self, page):
        done = subprocess.run([self.path("tools/check_docs"), self.path(page)], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout + done.stderr


def promised(what):
    """Files to edit, of the table in docs/architecture.md."""
    with open(os.path.join(ROOT, "docs/architecture.md"), encoding="utf-8") as file:
        row = re.search(rf"^\| {what} \| (\d+) \|", file.read(), re.M)
    check(row, f"docs/architecture.md does not say what {what} takes")
    return int(row.group(1))


def same_count(what, counts, made=False):
    edited, new = counts
    check(edited == promised(what), f"{what}: {edited} files edited, {promised(what)} promised")
    check((new > 0) == made, f"{what}: {new} files of its own")
    return f"{edited} edited, {new} of its own"


# --------------------------------------------------------------------- cases


def adds_pair_function():
    copy.add_row("src/fam/tri/tri_functions.h", "TRI_DISTANCE_LIST", PAIR_ROW)
    copy.edit("src/fam/tri/tri_pairs_body.h", r"^\}\n\n(?=#undef R$)", PAIR_BODY)
    return same_count("a pair function", copy.counted())


def adds_part():
    copy.add_row("src/fam/xc/functional/xc_parts.h", "XC_PART_LIST", PART_ROW)
    copy.edit("src/fam/xc/functional/xc_fn_lda_body.h", r"^\}\n\n(?=#undef R$)", PART_BODY)
    return same_count("a part of a functional", copy.counted())


def adds_mixture():
    copy.add_row("src/fam/xc/functional/xc_parts.h", "XC_OWN_LIST", MIXTURE_ROW)
    return same_count("a mixture of parts", copy.counted())


def adds_ready_problem():
    copy.edit("src/fam/dp/dp_ready.def", r"(?s:\A.*\n)\Z", READY_ROW)
    copy.edit("src/fam/dp/dp_ready.c", r"^/\* ---- what a word says .*\n\n", READY_SETTLE)
    return same_count("a ready problem", copy.counted())


def adds_family():
    copy.add_folder("fam", "src/fam/sums")
    copy.add_folder("cpu", "src/cpu/sums")
    copy.edit("src/core/families.def", r"^TSL_FAMILY\(fractal\)\n", "TSL_FAMILY(sums)\n")
    return same_count("a family", copy.counted(), made=True)


def docs_ask_for(word, page, after, row):
    """The tables of pair functions and of ready problems cannot be forgotten."""
    done = subprocess.run(["git", "rev-parse", "--absolute-git-dir"], cwd=ROOT, capture_output=True, text=True, check=True)
    with open(copy.path(".git"), "w", encoding="utf-8") as file:  # whose history has the commits that pages cite
        file.write(f"gitdir: {done.stdout}")
    status, said = copy.check_docs(page)
    check(status == 1 and word in said, f"check_docs ended with {status}: {said}")
    copy.edit(page, rf"^\| `{after}` .*\n", row)
    copy.counted()  # pages are no part of what is promised
    status, said = copy.check_docs(page)
    check(status == 0, f"check_docs ended with {status}: {said}")


def builds():
    keep = ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_PREFIX_PATH", "TSL_HDF5", "TSL_XC")
    options = [f"-D{name}={cache[name]}" for name in keep if cache.get(name)]
    env = {**os.environ, "CCACHE_BASEDIR": copy.folder, "CCACHE_NOHASHDIR": "1"}
    if shutil.which("ccache"):
        options += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    for command in (["cmake", "--preset", "cpu", "-DTSL_TESTS=OFF", "-DTSL_WERROR=ON", "-DTSL_SIMD=native",
                     "-DTSL_KERNEL_OPTIMISATION=-O0", *options],
                    ["cmake", "--build", "--preset", "cpu", "--target", "tesela"]):
        done = subprocess.run(command, cwd=copy.folder, env=env, capture_output=True, text=True, check=False)
        check(done.returncode == 0, f"{' '.join(command[:3])}: {done.stdout[-1500:]}{done.stderr[-500:]}")
    suite.binary = copy.path("build/cpu/bin/tesela")


def runs_pair_function(precision):
    x = np.random.default_rng(4).normal(size=(200, 5)).astype("f4" if precision == "fp32" else "f8")
    np.save(suite.path("x.npy"), x)
    with suite.result({"family": "tri", "tri": {"function": "geman", "output": "condensed", "precision": precision,
                                                "input": {"file": "x.npy"}}}) as file:
        got, unit = file["results/distances"][:], file["results/distances"].attrs["unit"]
    i, j = np.triu_indices(len(x), 1)
    square = (x[i].astype(float) - x[j]) ** 2
    off = np.abs(got - (square / (1 + square)).sum(axis=1)).max()
    check(off < (1e-5 if precision == "fp32" else 1e-14), f"off by {off}")
    check(unit in ("1", b"1"), f"unit {unit}")
    return f"off by {off:.1e}"


def indels(a, b):
    """Table of the letters to insert and to delete, cell by cell."""
    table = np.add.outer(np.arange(len(a) + 1), np.arange(len(b) + 1))
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            table[i, j] = table[i - 1, j - 1] if x == y else 1 + min(table[i - 1, j], table[i, j - 1])
    return table


def cost(path, a, b):
    """Letters inserted and deleted by the runs of a path; a letter changed is both."""
    i = j = total = 0
    for operation, length in path:
        changed = [x != y for x, y in zip(a[i:i + length], b[j:j + length])] if operation < 2 else []
        check(all(c == (operation == 1) for c in changed), f"run of {length} at {i}, {j} is none of {operation}")
        total += 2 * length if operation == 1 else length if operation > 1 else 0
        i, j = i + length * (operation != 2), j + length * (operation != 3)
    check((i, j) == (len(a), len(b)), f"the path ends at {i}, {j}")
    return total


def runs_ready_problem(ranks):
    random = np.random.default_rng(5)
    for n, m in ((0, 0), (0, 3), (1, 1), (67, 0), (150, 131)):
        a, b = ("".join(random.choice(list("ACGT"), size=k)) for k in (n, m))
        for name, letters in (("a", a), ("b", b)):
            with open(suite.path(name), "w", encoding="ascii") as file:
                file.write(letters)
        tree = {"problem": "indel", "a": {"file": "a", "format": "text"}, "b": {"file": "b", "format": "text"}}
        wanted = indels(a, b)
        for mode in ("value", "table", "recover"):
            with suite.result({"family": "dp", "dp": {**tree, "mode": mode}}, ranks) as file:
                goal = int(file["results/goal"][0])
                check(goal == wanted[-1, -1], f"{n} x {m}, {mode}: {goal} for {wanted[-1, -1]}")
                if mode == "table":
                    check(np.array_equal(file["results/table"][:], wanted), f"{n} x {m}: another table")
                if mode == "recover":
                    found = cost(file["results/path"][:], a, b)
                    check(found == goal, f"{n} x {m}: the path costs {found}, the optimum is {goal}")


def energy(molecule, functional, source):
    tree = {"molecule": {"xyz": os.path.join(ROOT, f"inputs/xc/{molecule}.xyz"), "multiplicity": XC_WORDS[molecule]},
            "basis": "STO-3G", "functional": functional, "source": source}
    with suite.result({"family": "xc", "xc": tree}) as file:
        return float(file["results"].attrs["total energy"])


def runs_functional(molecule):
    """The mixture by its name, its parts by libxc's names, and the same by libxc."""
    if not suite.has_family("xc"):
        return "left out: this build lacks the libraries of xc"
    own = energy(molecule, "swigner", "own")
    check(abs(own - energy(molecule, "lda_x+lda_c_wigner", "own")) < 1e-12, "the mixture is not its parts")
    check(abs(own - energy(molecule, "lda_x+lda_c_vwn", "own")) > 1e-3, "Wigner's correlation is VWN's")
    off = abs(own - energy(molecule, "lda_x+lda_c_wigner", "libxc"))
    check(off < 1e-8, f"off by {off} hartree")
    return f"off by {off:.1e} hartree"


def runs_family(ranks):
    for rows, columns in ((0, 3), (1, 1), (1000, 37)):
        tree = {"family": "sums", "sums": {"rows": rows, "columns": columns}}
        with suite.result(tree, ranks) as file:
            got = file["results/sums"][:]
        i, j = np.indices((rows, columns))
        wanted = (1 / (i + j + 1)).sum(axis=1)
        check(got.shape == wanted.shape and np.allclose(got, wanted, rtol=1e-14), f"{rows} rows: {got} for {wanted}")


suite = harness.Suite(__doc__)
build = os.path.dirname(os.path.dirname(suite.binary))
cache, tracked = cached(build), tree_files()
for program in ("git", "cmake", "ninja", cache.get("CMAKE_C_COMPILER", "cc")):
    if shutil.which(program) is None:
        skip(f"{program} not found")
if not tracked:
    skip(f"{ROOT} is no git checkout")
copy = Copy(suite.path("tree"), tracked)
suite.group = "all"  # later cases look at what earlier ones left

# Cases of each addition: before the copy is built, and after.
ADDITIONS = [
    ([("adds a pair function", adds_pair_function),
      ("docs ask for a pair function's row", docs_ask_for, "geman", "docs/families/tri.md", "mahalanobis",
       "| `geman` | sum_k t^2 / (1 + t^2), t = x_ik - x_jk | |\n")],
     [(f"runs the pair function, {each}", runs_pair_function, each) for each in ("fp32", "fp64")]),
    ([("adds a part of a functional", adds_part), ("adds a mixture of parts", adds_mixture)],
     [(f"runs the functional, {each}", runs_functional, each) for each in XC_WORDS]),
    ([("adds a ready problem", adds_ready_problem),
      ("docs ask for a ready problem's row", docs_ask_for, "indel", "docs/families/dp.md", "partition",
       "| `indel` | letters inserted and deleted | `a` `b` | i32 |\n")],
     [("runs the ready problem", runs_ready_problem, None), ("runs the ready problem on 3 ranks", runs_ready_problem, 3)]),
    ([("adds a family", adds_family)],
     [("runs the family", runs_family, None), ("runs the family on 3 ranks", runs_family, 3)]),
]
if suite.one_in > 1:
    ADDITIONS = [ADDITIONS[suite.first % len(ADDITIONS)]]
for before, _ in ADDITIONS:
    for case in before:
        suite.case(*case)
suite.case("builds", builds)
if suite.failed == 0:
    for _, after in ADDITIONS:
        for case in after:
            suite.case(*case)
suite.end()
