#!/usr/bin/env python3
"""Recurrences of decks against plain loops: all engines, all eight patterns, compiled and interpreted.

usage: dp_recur.py TESELA [--fast] [ONLY]

Each recurrence is written once, for cells that need those before them, and turned into the other
patterns by reversing and exchanging rows and columns, in the deck and in its plain table.
"""
import harness
from harness import check, np

suite = harness.Suite(__doc__, jobs=3)


def draw(n, lo, hi, seed):
    return np.random.default_rng(seed).integers(lo, hi + 1, n)


# ------------------------------------------------------------------ turning


class Turn:
    """Texts of a deck whose rows p or columns q run backwards, or are exchanged."""

    def __init__(self, rows, cols, flip_p=False, flip_q=False, exchange=False):
        self.rows, self.cols, self.flip_p, self.flip_q, self.exchange = rows, cols, flip_p, flip_q, exchange
        self.p = f"({rows - 1} - {'j' if exchange else 'i'})" if flip_p else "j" if exchange else "i"
        self.q = f"({cols - 1} - {'i' if exchange else 'j'})" if flip_q else "i" if exchange else "j"

    def cell(self, p, q):
        """The reference to the cell that is (p, q) before turning."""
        p = f"{self.rows - 1} - ({p})" if self.flip_p else p
        q = f"{self.cols - 1} - ({q})" if self.flip_q else q
        return f"M[{q}][{p}]" if self.exchange else f"M[{p}][{q}]"

    def text(self, template):
        """@p, @q: row and column; @M{p|q}: a cell."""
        while "@M{" in template:
            at = template.index("@M{")
            end = template.index("}", at)
            template = template[:at] + self.cell(*template[at + 3:end].split("|")) + template[end + 1:]
        return template.replace("@p", self.p).replace("@q", self.q)

    def table(self, t):
        t = t[::-1] if self.flip_p else t
        t = t[:, ::-1] if self.flip_q else t
        return np.ascontiguousarray(t.T if self.exchange else t)


def deck(turn, r, goal, mode="value", pattern="auto", cells="all"):
    rows, cols = (turn.cols, turn.rows) if turn.exchange else (turn.rows, turn.cols)
    lines = ["family: dp", "run: {device: cpu, threads: 1}", "dp:", "  problem: recurrence", f"  mode: {mode}",
             f"  table: {{type: {r['type']}, rows: {rows}, cols: {cols}, cells: {cells}}}", f"  pattern: {pattern}"]
    if r["data"]:
        lines.append("  data:")
    for name, values in r["data"].items():
        lines.append(f"    - {{name: {name}, values: [{', '.join(str(v) for v in values)}]}}")
    if r["boundary"]:
        lines.append("  boundary:")
    for where, value in r["boundary"]:
        lines.append(f'    - {{where: "{turn.text(where)}", value: "{turn.text(value)}"}}')
    lines += [f'  cell: "{turn.text(r["cell"])}"', f'  goal: "{turn.text(goal)}"', ""]
    return "\n".join(lines)


# -------------------------------------------------------------- recurrences


def wave(n, m, kind="i32"):
    """Alignment: three neighbours."""
    a, b = draw(n, 0, 3, 1), draw(m, 0, 3, 2)
    t = np.zeros((n + 1, m + 1), np.int64)
    t[:, 0], t[0, :] = -2 * np.arange(n + 1), -2 * np.arange(m + 1)
    for d in range(2, n + m + 1):
        i = np.arange(max(1, d - m), min(n, d - 1) + 1)
        j = d - i
        same = np.where(a[i - 1] == b[j - 1], 3, -1)
        t[i, j] = np.maximum(t[i - 1, j - 1] + same, np.maximum(t[i - 1, j], t[i, j - 1]) - 2)
    return t, {"type": kind, "data": {"a": a, "b": b}, "boundary": [("@p == 0 || @q == 0", "-2 * (@p + @q)")],
               "cell": "max(@M{@p-1|@q-1} + (a[@p-1] == b[@q-1] ? 3 : -1), max(@M{@p-1|@q}, @M{@p|@q-1}) - 2)"}


def warp(n, m, kind):
    """Dynamic time warping in reals, without a boundary row of its own."""
    a, b = draw(n, -9, 9, 5) / 8, draw(m, -9, 9, 6) / 8
    real = np.float32 if kind == "f32" else np.float64
    t = np.zeros((n, m), real)
    for p in range(n):
        for q in range(m):
            before = [t[p - 1, q]] * (p > 0) + [t[p, q - 1]] * (q > 0) + [t[p - 1, q - 1]] * (p > 0 and q > 0)
            t[p, q] = abs(real(a[p]) - real(b[q])) + (min(before) if before else real(0))
    return t, {"type": kind, "data": {"a": a, "b": b},
               "boundary": [("@p == 0 && @q == 0", "abs(a[0] - b[0])"),
                            ("@p == 0", "sum(k = 0 .. @q : abs(a[0] - b[k]))"),
                            ("@q == 0", "sum(k = 0 .. @p : abs(a[k] - b[0]))")],
               "cell": "abs(a[@p] - b[@q]) + min(@M{@p-1|@q}, @M{@p|@q-1}, @M{@p-1|@q-1})"}


def sweep(n, m):
    """Two rows above at other columns."""
    w, v = draw(n, 0, m // 4, 3), draw(n, -5, 40, 4)
    t = np.zeros((n, m), np.int64)
    q = np.arange(m)
    t[0] = q % 7
    t[1] = q % 5
    for p in range(2, n):
        t[p] = t[p - 1]
        there = q >= w[p]
        t[p, there] = np.maximum(t[p - 1, there], t[p - 2, q[there] - w[p]] + v[p])
    return t, {"type": "i32", "data": {"w": w, "v": v}, "boundary": [("@p == 0", "@q % 7"), ("@p == 1", "@q % 5")],
               "cell": "@q < w[@p] ? @M{@p-1|@q} : max(@M{@p-1|@q}, @M{@p-2|@q-w[@p]} + v[@p])"}


def range_sweep(n, m):
    """A range over the row above."""
    r = draw(m, 0, 30, 7)
    t = np.zeros((n, m), np.int64)
    for p in range(1, n):
        for q in range(m):
            t[p, q] = np.max(t[p - 1, q::-1] + r[:q + 1])
    return t, {"type": "i64", "data": {"r": r}, "boundary": [("@p == 0", "0")],
               "cell": "max(k = 0 .. @q : @M{@p-1|@q-k} + r[k])"}


def own_row(n, m):
    """Unbounded knapsack: cells of the own row."""
    w, v = draw(n, 1, 9, 8), draw(n, 0, 20, 9)
    t = np.zeros((n, m), np.int64)
    for p in range(1, n):
        for q in range(m):
            t[p, q] = max(t[p - 1, q], t[p, q - w[p]] + v[p] if q >= w[p] else 0)
    return t, {"type": "i16", "data": {"w": w, "v": v}, "boundary": [("@p == 0", "0")],
               "cell": "max(@M{@p-1|@q}, @q >= w[@p] ? @M{@p|@q-w[@p]} + v[@p] : 0)"}


def far_row(n, m):
    """Any row above."""
    d = [0] + [1 + x % p for p, x in enumerate(draw(n - 1, 0, 99, 10), 1)]
    t = np.zeros((n, m), np.int64)
    t[0] = np.arange(m)
    for p in range(1, n):
        t[p] = t[p - d[p]] + np.roll(t[p - 1], -1) % 1000
    return t, {"type": "i64", "data": {"d": d}, "boundary": [("@p == 0", "@q")],
               "cell": f"@M{{@p-d[@p]|@q}} + @M{{@p-1|(@q+1) % {m}}} % 1000"}


def chain(n):
    """Matrix chain: intervals, of which there are those with p <= q."""
    d = draw(n + 1, 1, 20, 11)
    t = np.zeros((n, n), np.int64)
    for size in range(1, n):
        for p in range(n - size):
            q = p + size
            t[p, q] = np.min(t[p, p:q] + t[p + 1:q + 1, q] + d[p] * d[p + 1:q + 1] * d[q + 1])
    return t, {"type": "i64", "data": {"d": d}, "boundary": [("@p == @q", "0")],
               "cell": "min(k = @p .. @q-1 : @M{@p|k} + @M{k+1|@q} + d[@p] * d[k+1] * d[@q+1])"}


def ways(n, m):
    """Rook's shortest ways: all cells before in row and column."""
    c = draw(n + m, 1, 50, 12)
    t = np.zeros((n, m), np.int64)
    for p in range(n):
        for q in range(m):
            before = ([t[:p, q].min()] if p else []) + ([t[p, :q].min()] if q else [])
            t[p, q] = c[p + q] + (min(before) - 60 if before else 0)
    return t, {"type": "i64", "data": {"c": c}, "boundary": [("@p == 0 && @q == 0", "c[0]")],
               "cell": "c[@p+@q] - 60 + min(min(k = 0 .. @p-1 : @M{k|@q} else 1000000), "
                       "min(k = 0 .. @q-1 : @M{@p|k} else 1000000))"}


def blocked(n, m, kind):
    """Cheapest way past cells that cannot be entered; where there is none the cost is infinite."""
    c = draw(n + m, 1, 40, 13) / 4
    real = np.float32 if kind == "f32" else np.float64
    t = np.full((n, m), np.inf, real)
    for p in range(n):
        for q in range(m):
            if p == 0 or q == 0:
                t[p, q] = real(0) if p + q < 3 else np.inf
            elif (p * 7 + q * 5) % 6 != 0:
                t[p, q] = real(c[p + q]) + min(t[p - 1, q], t[p - 1, q - 1])
    return t, {"type": kind, "data": {"c": c}, "boundary": [("@p == 0 || @q == 0", "@p + @q < 3 ? 0 : inf")],
               "cell": "(@p * 7 + @q * 5) % 6 == 0 ? inf : c[@p+@q] + min(@M{@p-1|@q}, @M{@p-1|@q-1})"}


# -------------------------------------------------------------------- cases

CORNERS = {"NOSE": (False, False), "SENO": (True, True), "SONE": (True, False), "NESO": (False, True)}
SWEEPS = {"RUD": (False, False), "RDU": (True, False), "CLR": (False, True), "CRL": (True, True)}


def same_table(turn, truth, text, ranks, args=()):
    with suite.result(text, ranks=ranks, args=args, timeout=300) as file:
        table = file["results/table"][()]
    expected = turn.table(truth)
    check(table.shape == expected.shape, f"{table.shape}, expected {expected.shape}")
    wrong = np.argwhere(table != expected)
    check(len(wrong) == 0, f"{len(wrong)} cells differ, first {wrong[:2].tolist()}")


def same_goal(text, expected, ranks, args=()):
    with suite.result(text, ranks=ranks, args=args, timeout=300) as file:
        goal = file["results/goal"][()].reshape(-1)[0]
    check(goal == expected, f"goal {goal}, expected {expected}")


def same_path(turn, truth, text, ranks):
    """Every cell of a chain is read by the one before; the path begins at the goal's cell."""
    with suite.result(text, ranks=ranks, timeout=300) as file:
        path = file["results/path"][()]
        goal = file["results/goal"][()].reshape(-1)[0]
    table = turn.table(truth)
    check(len(path) > 1 and table[tuple(path[0, :2])] == goal, f"path begins at {path[:1]}, goal {goal}")
    check(len({tuple(c) for c in path[:, :2]}) == len(path), "a cell is twice in the path")
    check(np.array_equal(path[:, 2], np.arange(len(path)) - 1), "a chain whose cells are not of the one before")
    return path


def tables(name, turn, made, pattern="auto", cells="all", first=True):
    """The whole table, by every road; --fast: by one, where it is not the first pattern."""
    truth, r = made
    text = deck(turn, r, "@M{%d|%d}" % (turn.rows - 1 if cells == "all" else 0, turn.cols - 1), "table", pattern, cells)
    for ranks in (3,) if suite.fast else (1, 2, 3, 5):
        suite.case(f"{name} {pattern}, table, {ranks} ranks", same_table, turn, truth, text, ranks)
    if first or not suite.fast:
        suite.case(f"{name} {pattern}, table, interpreted, 2 ranks", same_table, turn, truth, text, 2, ["--interpret"])


def goals(name, turn, made, pattern="auto", cells="all", first=True):
    """Whatever is asked, in linear memory."""
    truth, r = made
    t = turn.table(truth)
    there = np.triu(np.ones(t.shape, bool)) if cells == "upper" else np.ones(t.shape, bool)
    middle = (turn.rows // 3, turn.cols // 2)
    asked = {"@M{%d|%d} - 2 * @M{%d|%d}" % (*middle, 0, turn.cols - 1): truth[middle] - 2 * truth[0, -1],
             "max over all": t[there].max(), "min over all": t[there].min()}
    if cells == "all":
        asked.update({"max over last row": t[-1].max(), "min over last column": t[:, -1].min()})
    for k, (goal, expected) in enumerate(asked.items()):
        if suite.fast and not first and k != 1:
            continue
        for args in ((), ["--interpret"]) if not suite.fast else ((),):
            suite.case(f"{name} {pattern}, {goal}{' interpreted' if args else ''}", same_goal,
                       deck(turn, r, goal, "value", pattern, cells), expected, (1, 3, 2)[k % 3], args)


def all_cases():
    for k, (pattern, flips) in enumerate(CORNERS.items()):
        made = wave(150, 190, ("i32", "i16", "i64", "i32")[k])
        turn = Turn(151, 191, *flips)
        tables("alignment", turn, made, pattern, first=k == 0)
        goals("alignment", turn, made, pattern, first=k == 0)
        tables("rook", Turn(270, 70, *flips), ways(270, 70), pattern, first=False)
    for k, (pattern, (flip, exchange)) in enumerate(SWEEPS.items()):
        made = sweep(120, 300)
        turn = Turn(120, 300, flip, False, exchange)
        tables("sweep", turn, made, pattern, first=k == 3)
        goals("sweep", turn, made, pattern, first=k == 3)
    tables("ranges", Turn(40, 300, True, True, False), range_sweep(40, 300), "RDU")
    for pattern in ("NOSE", "SENO"):
        tables("own row", Turn(40, 200, *CORNERS[pattern]), own_row(40, 200), pattern, first=pattern == "NOSE")
    tables("far row", Turn(90, 130), far_row(90, 130), "RUD")
    for kind in ("f32", "f64"):
        tables(f"warping {kind}", Turn(90, 140), warp(90, 140, kind), "NOSE")
        goals(f"warping {kind}", Turn(90, 140), warp(90, 140, kind), "NOSE", first=False)
    made = chain(300)
    tables("chain", Turn(300, 300), made, "SONE", "upper")
    goals("chain", Turn(300, 300), made, "SONE", "upper")
    tables("chain", Turn(300, 300, exchange=True), made, "NESO", "lower", first=False)


def large_cases():
    """Several blocks and strips, several threads."""
    made = wave(1500, 9000)
    turn = Turn(1501, 9001)
    t = made[0]
    for threads in (3,) if suite.fast else (1, 3):
        for goal, expected in (("@M{1500|9000}", t[-1, -1]), ("max over all", t.max()), ("@M{777|8500}", t[777, 8500])):
            text = deck(turn, made[1], goal).replace("threads: 1", f"threads: {threads}")
            suite.case(f"large, {goal}, {threads} threads", same_goal, text, expected, 1)
    made = sweep(300, 40000)
    text = deck(Turn(300, 40000), made[1], "@M{299|39999}").replace("threads: 1", "threads: 3")
    suite.case("large sweep, 3 threads", same_goal, text, made[0][-1, -1], 1)


def path_cases():
    made = wave(150, 190)
    turn = Turn(151, 191)
    paths = {}

    def same(ranks):
        path = same_path(turn, made[0], deck(turn, made[1], "@M{150|190}", "recover"), ranks)
        check(0 in path[-1, :2], f"the path ends at {path[-1]}")
        paths.setdefault("one", path)
        check(np.array_equal(paths["one"], path), "another path than before")

    for ranks in (1, 3):
        suite.case(f"path of the alignment, {ranks} ranks", same, ranks)


# ------------------------------------------------------------------ solutions


def brackets(i, j, d):
    """Every order of the product of matrices i..j, as (multiplications, tree)."""
    if i == j:
        yield 0, (i, j)
    for k in range(i, j):
        for left, tree in brackets(i, k, d):
            for right, other in brackets(k + 1, j, d):
                yield left + right + d[i] * d[k + 1] * d[j + 1], (i, j, tree, other)


def as_tree(path, record):
    """Records (i, j, from) as nested tuples, in the order of the file."""
    below = [as_tree(path, r) for r in np.flatnonzero(path[:, 2] == record)]
    return (*(int(x) for x in path[record, :2]), *below)


def cost(tree, d):
    """Multiplications of a tree, from the sizes alone."""
    i, j, *below = tree
    if i == j:
        check(not below, f"({i}, {j}) rests on {below}")
        return 0
    check(len(below) == 2 and below[0][0] == i and below[0][1] + 1 == below[1][0] and below[1][1] == j,
          f"({i}, {j}) rests on {below}")
    return sum(cost(b, d) for b in below) + d[i] * d[below[1][0]] * d[j + 1]


def best_brackets(n, seed, ranks, args):
    """The recovered tree is the cheapest of all, and the first of those with the smallest splits."""
    d = [int(x) for x in draw(n + 1, 1, 9, seed)]
    recurrence = {**chain(n)[1], "data": {"d": d}}
    text = deck(Turn(n, n), recurrence, f"@M{{0|{n - 1}}}", "recover", "auto", "upper")
    with suite.result(text, ranks=ranks, args=args, timeout=300) as file:
        path, goal = file["results/path"][()], int(file["results/goal"][()].reshape(-1)[0])
    least = min(c for c, _ in brackets(0, n - 1, d))
    tree = as_tree(path, 0)
    check(len(path) == 2 * n - 1 and path[0, 2] == -1 and (path[1:, 2] < np.arange(1, len(path))).all(), f"{path}")
    check(goal == least and cost(tree, d) == least, f"goal {goal}, tree {cost(tree, d)}, least {least}")
    first = next(t for c, t in brackets(0, n - 1, d) if c == least)
    check(tree == first, f"{tree} is not the first of the cheapest, {first}")


def shared_cells():
    """A cell that two others rest on stands once, under the first."""
    text = ("family: dp\ndp:\n  problem: recurrence\n  mode: recover\n  table: {type: i64, rows: 30, cols: 1}\n"
            "  boundary: [{where: i < 2, value: i}]\n  cell: \"M[i-1][j] + M[i-2][j]\"\n  goal: \"M[29][0]\"\n")
    with suite.result(text, timeout=300) as file:
        path = file["results/path"][()]
        goal = file["results/goal"][()].reshape(-1)[0]
    check(goal == 514229, f"goal {goal}")
    check(sorted(path[:, 0]) == list(range(30)), f"cells {path[:, 0]}")
    check(all(r == -1 or path[r, 0] - path[k, 0] in (1, 2) for k, r in enumerate(path[:, 2])), f"{path}")


def solution_cases():
    for n, seed in ((1, 1), (2, 2), (6, 3), (9, 4), (9, 5)):
        for ranks, args in ((1, ()), (3, ()), (1, ["--interpret"])):
            suite.case(f"best brackets of {n} matrices {seed}, {ranks} ranks {' '.join(args)}", best_brackets, n, seed,
                       ranks, args)
    suite.case("cells that several rest on", shared_cells)


def infinite_cases():
    """inf is a number of the language in every mode."""
    for kind in ("f64", "f32"):
        made = blocked(60, 80, kind)
        turn = Turn(60, 80)
        for pattern in ("RUD", "NOSE"):
            tables(f"blocked {kind}", turn, made, pattern)
            for goal, expected in (("max over all", np.inf), ("min over last row", made[0][-1].min()),
                                   ("@M{7|74}", made[0][7, 74])):
                for args in ((), ["--interpret"]):
                    suite.case(f"blocked {kind} {pattern}, {goal} {' '.join(args)}", same_goal,
                               deck(turn, made[1], goal, "value", pattern), expected, 2, args)
        end = int(np.argmin(made[0][-1]))
        text = deck(turn, made[1], f"@M{{59|{end}}}", "recover", "RUD")
        suite.case(f"way of blocked {kind}", lambda text=text, made=made: same_path(turn, made[0], text, 2) is None)


def small_cases():
    """Sizes 1 and 2, more ranks than cells, empty tables."""
    for n, m in ((1, 1), (1, 2), (2, 1), (5, 1), (1, 5)):
        made = wave(n - 1, m - 1)
        tables(f"alignment {n} x {m}", Turn(n, m), made, "NOSE", first=n + m == 2)
    text = ("family: dp\ndp:\n  problem: recurrence\n  table: {type: i32, rows: 0, cols: 3}\n"
            "  cell: \"0\"\n  goal: \"17\"\n")
    suite.case("no rows", same_goal, text, 17, 2)


for cases in (all_cases, large_cases, path_cases, solution_cases, infinite_cases, small_cases):
    cases()
suite.end()
