"""The problems of inputs/dp/catalogue and papers solved without dynamic programming: all candidates tried.

    solve(path) -> the optimum of the deck's own instance

Only the numbers are taken from the deck (data and constants); what they mean is written here again.
"""
import itertools
import math
import os
import re
from fractions import Fraction


def read(path):
    """Arrays and constants of a deck by name; arrays with a width are lists of rows."""
    values = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            entry = re.match(r"\s+- \{name: (\w+), (.*)\}\s*$", line)
            if not entry:
                continue
            name, rest = entry.groups()
            listed = re.search(r"values: \[(.*?)\]", rest)
            text = re.search(r"text: (\w+)", rest)
            value = re.search(r"value: (\S+)$", rest)
            width = re.search(r"width: (\d+)", rest)
            if listed:
                numbers = [float(n) if "." in n else int(n) for n in listed.group(1).split(",")]
                n = int(width.group(1)) if width else 0
                values[name] = [numbers[k:k + n] for k in range(0, len(numbers), n)] if n else numbers
            elif text:
                values[name] = text.group(1)
            elif value and re.fullmatch(r"[\d.]+", value.group(1)):
                values[name] = float(value.group(1)) if "." in value.group(1) else int(value.group(1))
    return values


def trees(lo, hi):
    """All binary trees with leaves lo..hi in order: (left, right) or the number of a leaf."""
    if lo == hi:
        yield lo
    for k in range(lo, hi):
        for left in trees(lo, k):
            for right in trees(k + 1, hi):
                yield left, right


def search_trees(lo, hi):
    """All binary search trees of keys lo..hi-1 as (root, left, right); None: empty."""
    if lo == hi:
        yield None
    for root in range(lo, hi):
        for left in search_trees(lo, root):
            for right in search_trees(root + 1, hi):
                yield root, left, right


def binomial(d):
    return sum(1 for _ in itertools.combinations(range(d["n"]), d["k"]))


def knapsack(d):
    pairs = list(zip(d["w"], d["v"]))
    return max(sum(v for _, v in some) for n in range(len(pairs) + 1)
               for some in itertools.combinations(pairs, n) if sum(w for w, _ in some) <= d["C"])


def common_subsequence(d):
    def is_in(word, text):
        letters = iter(text)
        return all(letter in letters for letter in word)
    return max(n for n in range(len(d["a"]) + 1)
               for word in itertools.combinations(d["a"], n) if is_in(word, d["b"]))


def matrix_chain(d):
    p = d["p"]

    def cost(tree):
        if isinstance(tree, int):
            return 0, p[tree], p[tree + 1]
        (a, rows, inner), (b, _, columns) = cost(tree[0]), cost(tree[1])
        return a + b + rows * inner * columns, rows, columns
    return min(cost(tree)[0] for tree in trees(0, len(p) - 2))


def edit_distance(d):
    """Breadth first from word to word."""
    words, steps, letters = {d["a"]}, 0, sorted(set(d["a"] + d["b"]))
    while d["b"] not in words:
        more = set()
        for w in words:
            for k in range(len(w) + 1):
                more.add(w[:k] + w[k + 1:])
                for letter in letters:
                    more.update((w[:k] + letter + w[k:], w[:k] + letter + w[k + 1:]))
        words, steps = words | more, steps + 1
    return steps


def allotment(d):
    r = d["r"]
    return max(sum(r[i][k] for i, k in enumerate(ks))
               for ks in itertools.product(range(len(r[0])), repeat=len(r)) if sum(ks) < len(r[0]))


def radix_code_tree(d):
    def cost(tree, depth):
        if isinstance(tree, int):
            return d["w"][tree] * depth
        return cost(tree[0], depth + 1) + cost(tree[1], depth + 1)
    return min(cost(tree, 0) for tree in trees(0, len(d["w"]) - 1))


def assembly_line(d):
    n = len(d["e"][0])
    return min(d["enter"][lines[0]] + d["leave"][lines[-1]] +
               sum(d["e"][lines[i]][i] for i in range(n)) +
               sum(d["t"][lines[i]][i] for i in range(n - 1) if lines[i] != lines[i + 1])
               for lines in itertools.product(range(2), repeat=n))


def assignment(d):
    n = len(d["c"])
    return min(sum(d["c"][i][job] for i, job in enumerate(jobs))
               for jobs in itertools.permutations(range(n)))


def search_tree(d):
    def cost(tree, depth):
        if tree is None:
            return 0
        return d["p"][tree[0]] * depth + cost(tree[1], depth + 1) + cost(tree[2], depth + 1)
    return min(cost(tree, 1) for tree in search_trees(0, len(d["p"])))


def covering(d):
    n, best = len(d["x"]), None
    for m in range(1, d["m"] + 1):
        for sizes in itertools.combinations(range(n), m):
            if sizes[-1] != n - 1:
                continue
            cost = sum(d["x"][s] * d["c"][min(t for t in sizes if t >= s)] for s in range(n))
            best = cost if best is None else min(best, cost)
    return best


def deadline_scheduling(d):
    jobs = list(zip(d["d"], d["p"]))
    best = 0
    for n in range(len(jobs) + 1):
        for some in itertools.combinations(jobs, n):
            if any(all(t < job[0] for t, job in enumerate(order))
                   for order in itertools.permutations(some)):
                best = max(best, sum(p for _, p in some))
    return best


def discounted_profits(d):
    best = 0
    for sold in itertools.product(range(len(d["g"])), repeat=d["T"]):
        stock, profit, weight = 3, 0.0, 1.0
        for k in sold:
            if k > stock:
                break
            profit, weight, stock = profit + weight * d["r"][k], weight * d["b"], d["g"][stock - k]
        else:
            best = max(best, profit)
    return best


def fibonacci(d):
    """Words of n - 2 bits without two ones side by side."""
    return sum("11" not in "".join(bits) for bits in itertools.product("01", repeat=d["n"] - 2))


def integer_program(d):
    return max(sum(c * k for c, k in zip(d["c"], x))
               for x in itertools.product(range(d["z"] + 1), repeat=len(d["c"]))
               if sum(a * k for a, k in zip(d["a"], x)) <= d["y"]
               and sum(e * k for e, k in zip(d["e"], x)) <= d["z"])


def plans(d, made, start, cost, empty):
    """Least cost of making 0..made in each period; cost(period, made, stock after it)."""
    best = None
    for ks in itertools.product(range(made + 1), repeat=len(d["d"])):
        stock, total = start, 0
        for t, k in enumerate(ks):
            stock += k - d["d"][t]
            if not 0 <= stock <= d["S"]:
                break
            total += cost(t, k, stock)
        else:
            if not empty or stock == 0:
                best = total if best is None else min(best, total)
    return best


def inventory(d):
    return plans(d, d["X"], 0, lambda t, k, stock: (d["setup"] if k else 0) + d["unit"] * k +
                 d["hold"] * stock, True)


def production(d):
    return plans(d, d["X"], 1, lambda t, k, stock: 3 * k * k + 2 * stock, False)


def transportation(d):
    return plans(d, len(d["g"][0]) - 1, 0,
                 lambda t, k, stock: d["g"][t][k] + d["h"][t] * stock, False)


def investment(d):
    best = 0
    for ks in itertools.product(range(d["W"] + 1), repeat=d["T"]):
        capital = 3
        for k in ks:
            if k > capital:
                break
            capital = min(d["W"], d["a"][k] + d["e"][capital - k])
        else:
            best = max(best, capital)
    return best


def las_vegas(d):
    """All betting plans: a bet for each history of wins and losses."""
    p = Fraction(2, 3)

    def chance(plays, chips):
        if plays == 0:
            return Fraction(chips >= d["S"])
        return max(p * chance(plays - 1, chips + bet) + (1 - p) * chance(plays - 1, chips - bet)
                   for bet in range(chips + 1))
    return float(chance(d["N"], 2))


def integer_knapsack(d):
    most = [d["C"] // w for w in d["w"]]
    return max(sum(k * v for k, v in zip(ks, d["v"]))
               for ks in itertools.product(*(range(m + 1) for m in most))
               if sum(k * w for k, w in zip(ks, d["w"])) <= d["C"])


def routes(c):
    """All routes through the stages as lists of step lengths; c: blocks of rows, one for each stage."""
    states = len(c[0])
    for route in itertools.product(range(states), repeat=len(c) // states + 1):
        yield route[0], [c[i * states + a][b] for i, (a, b) in enumerate(zip(route, route[1:]))]


def minimum_maximum(d):
    return min(max(steps) for _, steps in routes(d["c"]))


def stagecoach(d):
    return min(sum(steps) for first, steps in routes(d["c"]) if first == 0)


def nim(d):
    def wins(pile):
        return any(pile >= m and not wins(pile - m) for m in d["m"])
    return sum(wins(pile) for pile in range(21))


def distribution(d):
    best = None
    for ks in itertools.product(*(range(n + 1) for n in d["d"])):
        if sum(ks) > d["A"] or sum(d["d"]) - sum(ks) > d["B"]:
            continue
        cost = sum(g * k + h * (n - k) + (d["fixed"] if 0 < k < n else 0)
                   for g, h, n, k in zip(d["g"], d["h"], d["d"], ks))
        best = cost if best is None else min(best, cost)
    return best


def reliability(d):
    best = 0
    for ks in itertools.product(range(1, 4), repeat=len(d["c"])):
        if sum(k * c for k, c in zip(ks, d["c"])) <= d["B"]:
            product = 1
            for i, k in enumerate(ks):
                product *= d["q"][i][k]
            best = max(best, product)
    return best


def replacement(d):
    n = len(d["c"])
    return min(sum(d["c"][a][b] for a, b in zip((0, *some), (*some, n - 1)))
               for m in range(n - 1) for some in itertools.combinations(range(1, n - 1), m))


def spanning_tree(d):
    edges, n = list(zip(d["u"], d["v"], d["w"])), len(d["bit"])

    def joins(some):
        seen = {0}
        for _ in range(n):
            seen |= {b for a, b, _ in some if a in seen} | {a for a, b, _ in some if b in seen}
        return len(seen) == n
    return min(sum(w for _, _, w in some) for some in itertools.combinations(edges, n - 1) if joins(some))


def curve_fitting(d):
    y = d["y"]

    def error(piece):
        mean = sum(piece) / len(piece)
        return sum((v - mean) ** 2 for v in piece)
    return min(sum(error(y[a:b]) for a, b in zip((0, *cuts), (*cuts, len(y))))
               for k in range(d["K"]) for cuts in itertools.combinations(range(1, len(y)), k))


def process_scheduling(d):
    total = sum(d["a"])
    return min(max(sum(some), total - sum(some)) for n in range(len(d["a"]) + 1)
               for some in itertools.combinations(d["a"], n))


def shortest_path(d):
    n = len(d["d"])
    return min(sum(d["d"][a][b] for a, b in zip((0, *middle), (*middle, n - 1)))
               for m in range(n - 1) for middle in itertools.permutations(range(1, n - 1), m))


def paths(steps, at, end):
    """All lists of cells from one to another by these steps."""
    if at == end:
        yield [at]
    for di, dj in steps:
        if at[0] + di <= end[0] and at[1] + dj <= end[1]:
            for rest in paths(steps, (at[0] + di, at[1] + dj), end):
                yield [at, *rest]


WARPS = ((1, 1), (1, 0), (0, 1))


def windowed_warping(d):
    x, y = d["x"], d["y"]
    return min(sum(sum((a - b) ** 2 for a, b in zip(x[i], y[j])) for i, j in path)
               for path in paths(WARPS, (0, 0), (len(x) - 1, len(y) - 1)) if all(abs(i - j) <= d["R"] for i, j in path))


def subsequence_warping(d):
    x, y = d["x"], d["y"]
    return min(sum(abs(x[i] - y[j]) for i, j in path) for first in range(len(y)) for last in range(first, len(y))
               for path in paths(WARPS, (0, first), (len(x) - 1, last)))


def bounded_knapsack(d):
    def total(numbers, some):
        return sum(n * k for n, k in zip(numbers, some))
    return max(total(d["v"], some) for some in itertools.product(*(range(c + 1) for c in d["c"]))
               if total(d["w"], some) <= d["C"])


def multiple_choice_knapsack(d):
    rows = range(len(d["w"]))
    return max(sum(d["v"][r][k] for r, k in zip(rows, some)) for some in itertools.product(range(len(d["w"][0])), repeat=len(rows))
               if sum(d["w"][r][k] for r, k in zip(rows, some)) <= d["C"])


def general_gaps(d):
    a, b = d["a"], d["b"]

    def score(path):
        moves = [(i - p, j - q, i, j) for (p, q), (i, j) in zip(path, path[1:])]
        pairs = sum(2 if a[i - 1] == b[j - 1] else -1 for di, dj, i, j in moves if di and dj)
        gaps = [len(list(run)) for gap, run in itertools.groupby(m[:2] for m in moves) if gap != (1, 1)]
        return pairs - sum(2 + math.log(k) for k in gaps)
    return max(score(path) for path in paths(WARPS, (0, 0), (len(a), len(b))))


def transpositions(d):
    a, b = d["a"], d["b"]

    def cost(p, q, i, j):
        if (i - p, j - q) == (2, 2):
            return 1 if a[p:i] == b[q:j][::-1] else 4
        return 1 if i - p != j - q else int(a[p] != b[q])
    return min(sum(cost(*here, *there) for here, there in zip(path, path[1:]))
               for path in paths((*WARPS, (2, 2)), (0, 0), (len(a), len(b))))


def backward(d):
    """The probability of what is seen, over all lists of states."""
    def probability(states):
        p = d["start"][states[0]]
        for here, there in zip(states, states[1:]):
            p *= d["move"][here][there]
        for state, letter in zip(states, d["seen"]):
            p *= d["emit"][state]["xyz".index(letter)]
        return p
    return math.log(sum(map(probability, itertools.product(range(len(d["start"])), repeat=len(d["seen"])))))


covering_as_knapsack = covering


def solve(path):
    """The optimum of a deck, by the function of the same name."""
    return globals()[os.path.splitext(os.path.basename(path))[0]](read(path))
