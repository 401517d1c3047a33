#!/usr/bin/env python3
"""A table, its optimum and the recovered solution are the same, byte for byte, whoever computed what.

usage: dp_invariant.py TESELA [--fast] [--gpu] [ONLY]

One rank against 2, 3 and 5 ranks, both plans, wishes for few and many tiles, slowed ranks and tables
of fewer lanes than ranks. --gpu: the same with cards, and cards and sockets mixed; needs a card.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accept"))
import harness  # noqa: E402
from harness import check, check_units, np  # noqa: E402

suite = harness.Suite(__doc__, jobs=1 if "--gpu" in sys.argv else 4)  # one at a time on a card
GPU = "--gpu" in sys.argv
SCALE = 1 if suite.fast else 4
# one word for each rank; a card may stand for several of them
MIXES = ["gpu0", "gpu0,cpu", "gpu0,gpu0", "cpu,gpu0,gpu0", "gpu0,cpu,gpu0,cpu,cpu", "cpu,gpu0", "gpu0,cpu,cpu",
         "gpu0,gpu0,gpu0,gpu0,gpu0"]


PARAMETERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inputs", "dp", "made_up.par")


def letters(n, **more):
    return {"random": n * SCALE, **more}


def numbers(n, lo, hi, seed):
    return {"random": n, "lo": lo, "hi": hi, "seed": seed}


def texts(**more):
    return {"a": letters(1500, seed=3), "b": {"mutate": 0.3, "seed": 9}, **more}


WHOLE = {"band": "off"}  # all cells by tiles
PROBLEMS = {
    "lcs": {"problem": "lcs", **texts(alphabet="dna"), **WHOLE},
    "edit": {"problem": "edit", **texts(alphabet="dna"), **WHOLE},
    "weighted edit": {"problem": "edit", **texts(alphabet="dna"), "edit": {"insert": 2, "delete": 3, "substitute": 4},
                      **WHOLE},
    "global": {"problem": "global", **texts(), **WHOLE},
    "local": {"problem": "local", "a": letters(1100, seed=3), "b": letters(1700, seed=4)},
    "protein": {"problem": "local", "alphabet": "protein", **texts(scores={"match": 4, "mismatch": -1})},
    "dtw": {"problem": "dtw", "a": numbers(700, 0, 9, 1), "b": numbers(900, 0, 9, 2)},
    "dtw f32": {"problem": "dtw", "type": "f32", "distance": "square", "a": numbers(700, 0.5, 9, 1),
                "b": numbers(900, 0.5, 9, 2)},
    "knapsack": {"problem": "knapsack", "capacity": 5000, "weights": numbers(200, 1, 300, 1),
                 "values": numbers(200, 1, 50, 2)},
    "light knapsack": {"problem": "knapsack", "capacity": 9000, "weights": numbers(500, 0, 9, 1),
                       "values": numbers(500, 0, 9, 2)},
    "unbounded": {"problem": "knapsack_unbounded", "capacity": 3001, "weights": numbers(30, 90, 900, 1),
                  "values": numbers(30, 90, 905, 2)},
    "light unbounded": {"problem": "knapsack_unbounded", "capacity": 2001, "weights": numbers(200, 1, 70, 3),
                        "values": numbers(200, 1, 75, 4)},
    "binomial": {"problem": "binomial", "n": 1200, "k": 401, "modulus": 1000007},
    "exact binomial": {"problem": "binomial", "n": 61, "k": 30},
    "allotment": {"problem": "allotment", "capacity": 150, "returns": numbers(20 * 151, 0, 9, 1)},
    "stagecoach": {"problem": "stagecoach", "type": "i32", "start": numbers(70, 0, 3, 1), "costs": numbers(9 * 4900, 0, 9, 2)},
    "stagecoach f64": {"problem": "stagecoach", "start": numbers(33, 0.5, 3, 1), "costs": numbers(7 * 1089, 0.5, 9, 2)},
    "chain": {"problem": "matrix_chain", "dimensions": numbers(700, 1, 90, 1)},
    "tree": {"problem": "search_tree", "keys": numbers(650, 0.5, 9, 1), "gaps": numbers(651, 0.5, 9, 2)},
    "nussinov": {"problem": "nussinov", "a": letters(600, seed=2), "span": 3},
    "overlap": {"problem": "global", **texts(), "free_ends": ["a_begin", "a_end", "b_begin", "b_end"]},
    "read": {"problem": "edit", **texts(alphabet="dna"), "free_ends": ["a_end", "b_begin", "b_end"]},
    "fold": {"problem": "fold", "a": letters(700, seed=4), "parameters": PARAMETERS},
}
SOCKETS_ONLY = ("fold",)
NO_PATH = ("binomial", "exact binomial")


def quoted(**texts):
    return {key: f'"{text}"' for key, text in texts.items()}


def recurrence(rows, cols, cell, goal, boundary=(), data=(), **table):
    """A deck's own recurrence; boundary: (where, value), data: (name, how many)."""
    return {"problem": "recurrence", "table": {"rows": rows, "cols": cols, **table},
            "data": [{"name": name, "random": n, "seed": 5 + n % 7, "lo": 1, "hi": 9} for name, n in data],
            "boundary": [quoted(where=where, value=value) for where, value in boundary],
            **quoted(cell=cell, goal=goal)}


def corner(di, dj):
    """Three neighbours from one corner of 700 x 900 cells."""
    up, left = "i-1" if di < 0 else "i+1", "j-1" if dj < 0 else "j+1"
    where = f"{'i == 0' if di < 0 else 'i == 699'} || {'j == 0' if dj < 0 else 'j == 899'}"
    return recurrence(700, 900, f"max(M[{up}][{left}] + (a[i] == b[j] ? 3 : -2), M[{up}][j] - 1, M[i][{left}] - 1)",
                      "max over all", [(where, "(i + j) % 5")], [("a", 700), ("b", 900)])


def sweep(before, other):
    """Two rows or columns before, at other places."""
    first, second = before
    return recurrence(300, 280, f"max(M[{first}] + a[{other}], M[{second}])", "max over last row",
                      [(f"{other} < 2 || {other} > 277", f"{other} * 3")], [("a", 300)])


OWN = {
    "NOSE": corner(-1, -1), "SENO": corner(1, 1), "SONE": corner(1, -1), "NESO": corner(-1, 1),
    "RUD": sweep(("i-1][(j * 7) % 280", "i-2][j"), "i"), "RDU": sweep(("i+1][(j * 7) % 280", "i+2][j"), "i"),
    "CLR": sweep(("(i * 7) % 300][j-1", "i][j-2"), "j"), "CRL": sweep(("(i * 7) % 300][j+1", "i][j+2"), "j"),
    # reads of some columns to the left, or of some to either side: not all ranks need all edges
    "near left": recurrence(120, 900, "max(j >= a[i] * 9 ? M[i-1][j - a[i] * 9] + b[j] : 0, M[i-2][j])", "max over all",
                            [("i < 2", "j % 7")], [("a", 120), ("b", 900)]),
    "near both": recurrence(900, 120, "max(i + 40 < 900 ? M[i+40][j+1] + a[i] : 3, i >= 100 ? M[i-100][j+1] - b[j] : i)",
                            "max over all", [("j == 119", "i % 11")], [("a", 900), ("b", 120)]),
    "own row": recurrence(50, 400, "max(M[i-1][j], j >= a[i] ? M[i][j-a[i]] + b[i] : 0)", "M[49][399]",
                          [("i == 0", "0")], [("a", 50), ("b", 51)]),
    "intervals": recurrence(600, 600, "min(k = i .. j-1 : M[i][k] + M[k+1][j] + a[i] * a[k+1] * a[j+1])",
                            "M[0][599] + M[3][77]", [("i == j", "0")], [("a", 601)], cells="upper", type="i64"),
    "real": recurrence(400, 500, "abs(a[i] - b[j]) / 3.0 + min(M[i-1][j-1], M[i-1][j], M[i][j-1])", "min over last row",
                       [("i == 0 || j == 0", "i + j")], [("a", 400), ("b", 500)], type="f64"),
}


def run(section, mode, ranks, env=None, **keys):
    keys = {"device": "cpu", "threads": 1, "ranks": keys.pop("ranks_wanted", "all"), **keys}
    if "gpu" in keys["device"]:
        keys["allow_shared_gpu"] = True
    tree = {"family": "dp", "run": keys, "dp": {**section, "mode": mode}}
    with suite.result(tree, ranks=ranks if ranks > 1 else None, env=env, timeout=300) as file:
        units = check_units(file, ranks)
        if keys["ranks"] == "useful":
            harness.check_left_out(file, units)
        made = harness.datasets(file)
        made.update({f"line {k}": np.asarray(v) for k, v in file["results"].attrs.items()})
    return made, units


alone = {}


def truth(name, mode):
    if (name, mode) not in alone:
        alone[name, mode] = run(PROBLEMS.get(name) or OWN[name], mode, 1)[0]
    return alone[name, mode]


def case(name, mode, ranks, **keys):
    made, units = run(PROBLEMS.get(name) or OWN[name], mode, ranks, **keys)
    harness.check_same(truth(name, mode), made)
    return f"tiles per rank {np.bincount(units['rank'], minlength=ranks).tolist()}"


def modes_of(name):
    return ["recover", "table", "value"] if name not in NO_PATH else ["table", "value"]


def put(label, body, subject, *args, **more):
    """A case; those of one subject are one process's, as they are compared with one truth."""
    suite.group, suite.one_by_one = str(subject), True
    suite.case(label, body, subject, *args, **more)


def ranks_cases():
    for k, name in enumerate(PROBLEMS):
        for m, mode in enumerate(modes_of(name)):
            for ranks in ((3, 2, 5, 3, 2)[(k + m) % 5],) if suite.fast else (2, 3, 5):
                put(f"{name}, {mode}, {ranks} ranks", case, name, mode, ranks)


def recurrence_cases():
    """The deck's own recurrences: all engines and patterns."""
    modes = ["table", "value", "recover"]
    for k, name in enumerate(OWN):
        for m, mode in enumerate(modes):
            if suite.fast and m != k % 3:
                continue
            for ranks in ((3, 5, 2)[k // 3 % 3],) if suite.fast else (2, 3, 5):
                put(f"recurrence {name}, {mode}, {ranks} ranks", case, name, mode, ranks)
        if not suite.fast:
            put(f"recurrence {name}, round robin", case, name, modes[k % 3], 3, plan="roundrobin")
            put(f"recurrence {name}, 7 lanes wanted", case, name, modes[k % 3], 2, units=7, threads=2)


def cut_cases():
    """Wishes for tiles, plans and threads change the cut, not the result."""
    for k, name in enumerate(PROBLEMS):
        mode = modes_of(name)[0 if k % 3 else 1]
        for units in ((1, 2, 7, 100)[k % 4],) if suite.fast else (1, 2, 7, 100):
            plan = ("strips", "roundrobin")[k % 2] if suite.fast else "strips"
            put(f"{name}, {mode}, {units} lanes wanted, {plan}, 3 ranks", case, name, mode, 3, units=units, plan=plan)
        put(f"{name}, {mode}, 9 lanes wanted, 1 rank", case, name, mode, 1, units=9)
        if k % 2 == 0 or not suite.fast:
            put(f"{name}, {mode}, round robin, 3 ranks", case, name, mode, 3, plan="roundrobin")
        if not suite.fast:
            put(f"{name}, {mode}, 3 threads", case, name, mode, 2, threads=3)


def slow_cases():
    for name in ("lcs", "local", "knapsack", "chain"):
        put(f"{name}, slow rank", case, name, "recover", 2, calibrate="always", env={"TSL_TEST_SLOW": "1:3"})
        put(f"{name}, a rank that is not useful", case, name, "recover", 2, ranks_wanted="useful",
                   env={"TSL_TEST_SLOW": "1:30", "TSL_TEST_CLOCK": "processor"})


def small_cases():
    """Fewer lanes than ranks."""
    PROBLEMS["one letter"] = {"problem": "global", "a": {"text": "A"}, "b": {"text": "A"}}
    PROBLEMS["a column"] = {"problem": "lcs", "alphabet": "dna", "a": letters(100), "b": {"text": "G"}}
    PROBLEMS["a row"] = {"problem": "local", "a": {"text": "G"}, "b": letters(100)}
    PROBLEMS["one item"] = {"problem": "knapsack", "capacity": 3, "weights": {"values": [2]}, "values": {"values": [5]}}
    PROBLEMS["no capacity"] = {"problem": "knapsack", "capacity": 0, "weights": {"values": [2, 0]},
                               "values": {"values": [5, 1]}}
    PROBLEMS["one state"] = {"problem": "stagecoach", "start": {"values": [1]}, "costs": numbers(50, 0, 9, 1)}
    for name in list(PROBLEMS)[-6:]:
        for m, mode in enumerate(modes_of(name)):
            ranks = 3 if suite.fast and m > 0 else 5
            put(f"{name}, {mode}, {ranks} ranks", case, name, mode, ranks)


def card_case(name, mode, mix, section=None, **keys):
    """section: more keys of the problem, which change no result."""
    ranks = mix.count(",") + 1
    made, units = run({**(PROBLEMS.get(name) or OWN[name]), **(section or {})}, mode, ranks, device=mix, **keys)
    harness.check_same(truth(name, mode), made)
    return f"tiles per rank {np.bincount(units['rank'], minlength=ranks).tolist()}"


def card_cases():
    """Cards, sockets and mixes of 1, 2, 3 and 5 ranks against one socket."""
    for k, name in enumerate([*PROBLEMS, *OWN]):
        for m, mode in enumerate(modes_of(name) if name not in SOCKETS_ONLY else ()):
            mixes = [MIXES[0], MIXES[1 + (3 * k + m) % (len(MIXES) - 1)]] if suite.fast else MIXES
            for mix in mixes:
                put(f"{name}, {mode}, {mix}", card_case, name, mode, mix)


def card_ways():
    """Where the solution is recovered, with how much memory, from which tiles: it is the same."""
    for k, name in enumerate(PROBLEMS):
        if name in SOCKETS_ONLY:
            continue
        mode = modes_of(name)[0]
        if mode == "recover":
            put(f"{name}, recovered on the host", card_case, name, mode, MIXES[2 * (k % 2)], section={"recover": "host"})
        if not suite.fast or k % 2:
            put(f"{name}, {mode}, round robin", card_case, name, mode, "gpu0,cpu,gpu0", plan="roundrobin")
        if not suite.fast or k % 2 == 0:
            put(f"{name}, {mode}, 9 lanes wanted", card_case, name, mode, "gpu0", units=9)
    for name in ("lcs", "edit", "weighted edit", "global", "local", "dtw"):
        put(f"{name}, recovered in little memory", card_case, name, "recover", "gpu0", section={"memory": f"{2 * SCALE * SCALE} MiB"})


if GPU:
    if "no gpu" in suite.run(["devices"]).out.lower():
        print("skipped: no card here, or the program was built without CUDA")
        sys.exit(77)
    card_cases()
    card_ways()
else:
    for cases in (ranks_cases, recurrence_cases, cut_cases, slow_cases, small_cases):
        cases()
suite.end()
