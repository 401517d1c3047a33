"""Dynamic programming by plain Python, written from the definitions: values, whole tables, and what
a recovered solution is worth. Shared by the tests of dp, as are sequences that are made up.

Each problem is a class with: deck(), the section `dp:`; value(), the optimum; table(), all of it
or None; worth(path), the value of a recovered solution, checked for being one.
"""
import itertools
import random
from math import inf

from harness import check, np


# ------------------------------------------------------------------ sequences


def letters(rng, n, alphabet="ACGT"):
    return "".join(alphabet[k] for k in rng.integers(0, len(alphabet), n))


def mutated(rng, a, rate):
    """A part of the letters changed, followed by another, or left out."""
    made = []
    for letter in a:
        kind = rng.integers(0, 3) if rng.random() < rate else -1
        made.append({0: letters(rng, 1), 1: letter + letters(rng, 1), 2: ""}.get(kind, letter))
    return "".join(made)


LETTERS = {"dna": "ACGT", "rna": "ACGU", "protein": "ARNDCQEGHILKMFPSTWYV", "bytes": "abcd"}


def word(rng, n, letters="ACGT"):
    return "".join(rng.choice(letters) for _ in range(n))


def near(rng, text, letters, rate=0.2):
    """A copy with letters changed, left out and inserted."""
    out = []
    for c in text:
        dice = rng.random()
        if dice < rate / 3:
            continue
        out.append(rng.choice(letters) if dice < 2 * rate / 3 else c)
        if dice > 1 - rate / 3:
            out.append(rng.choice(letters))
    return "".join(out)


class Lcs:
    name = "lcs"

    def __init__(self, a, b):
        self.a, self.b = a, b

    def deck(self):
        return {"problem": self.name, "a": {"text": f'"{self.a}"'}, "b": {"text": f'"{self.b}"'}}

    def table(self):
        m = np.zeros((len(self.a) + 1, len(self.b) + 1), int)
        for i, x in enumerate(self.a):
            for j, y in enumerate(self.b):
                m[i + 1, j + 1] = m[i, j] + 1 if x == y else max(m[i, j + 1], m[i + 1, j])
        return m

    def value(self):
        return self.table()[-1, -1]

    def worth(self, path):
        i = j = -1
        for x, y in path:
            check(x > i and y > j and self.a[x] == self.b[y], f"({x}, {y}) does not continue the sequence")
            i, j = x, y
        return len(path)


class Edit:
    name = "edit"

    def __init__(self, a, b, insert=1, delete=1, substitute=1):
        self.a, self.b, self.costs = a, b, (insert, delete, substitute)

    def deck(self):
        costs = dict(zip(("insert", "delete", "substitute"), self.costs))
        return {"problem": self.name, "edit": costs, "a": {"text": f'"{self.a}"'}, "b": {"text": f'"{self.b}"'}}

    def table(self):
        insert, delete, substitute = self.costs
        m = np.zeros((len(self.a) + 1, len(self.b) + 1), int)
        m[0] = np.arange(len(self.b) + 1) * insert
        m[:, 0] = np.arange(len(self.a) + 1) * delete
        for i, x in enumerate(self.a):
            for j, y in enumerate(self.b):
                m[i + 1, j + 1] = min(m[i, j] + (x != y) * substitute, m[i + 1, j] + insert, m[i, j + 1] + delete)
        return m

    def value(self):
        return self.table()[-1, -1]

    def worth(self, path):
        return runs_worth(path, self.a, self.b, 0, 0, True, lambda x, y: (x != y) * self.costs[2],
                          lambda op, n: n * self.costs[op == 3])


def runs_worth(path, a, b, i, j, whole, pair, gap):
    """Sum over runs (operation, length): 0 match, 1 mismatch, 2 insert, 3 delete."""
    total = 0
    for op, n in path:
        check(n > 0, "an empty run")
        for _ in range(n):
            if op < 2:
                check((a[i] == b[j]) == (op == 0), f"letters {i} and {j} are not what the path says")
                total += pair(a[i], b[j])
            i, j = i + (op != 2), j + (op != 3)
        if op >= 2:
            total += gap(op, n)
    check(not whole or (i == len(a) and j == len(b)), "the path does not spell the sequences")
    return total


class Align:
    """Gotoh's recurrences with gaps of any length looked at one by one: O(n m (n + m))."""
    local = False
    name = "global"

    def __init__(self, a, b, alphabet="dna", match=2, mismatch=-3, opening=5, extend=2, matrix=None):
        self.a, self.b, self.alphabet, self.scores = a, b, alphabet, (match, mismatch, opening, extend)
        self.matrix = matrix

    def pair(self, x, y):
        if self.matrix is not None:
            return self.matrix[x][y]
        return self.scores[0] if x == y else self.scores[1]

    def gap(self, n):
        return -(self.scores[2] + n * self.scores[3]) if n else 0

    def deck(self):
        scores = dict(zip(("match", "mismatch", "open", "extend"), self.scores))
        return {"problem": self.name, "alphabet": self.alphabet, "scores": scores,
                "a": {"text": f'"{self.a}"'}, "b": {"text": f'"{self.b}"'}}

    def table(self):
        n, m = len(self.a), len(self.b)
        h = np.zeros((n + 1, m + 1), int)
        for i in range(n + 1):
            for j in range(m + 1):
                ways = [0] if self.local or i + j == 0 else []
                if i and j:
                    ways.append(h[i - 1, j - 1] + self.pair(self.a[i - 1], self.b[j - 1]))
                ways += [h[i - k, j] + self.gap(k) for k in range(1, i + 1)]
                ways += [h[i, j - k] + self.gap(k) for k in range(1, j + 1)]
                h[i, j] = max(ways)
        return h

    def value(self):
        return self.table().max() if self.local else self.table()[-1, -1]

    def worth(self, path, begin=(0, 0)):
        return runs_worth(path, self.a, self.b, *begin, not self.local, self.pair, lambda op, n: self.gap(n))


class Local(Align):
    local = True
    name = "local"


class Dtw:
    name = "dtw"

    def __init__(self, a, b, square=False, type="f64"):
        kind = np.float32 if type == "f32" else np.float64
        self.a, self.b = np.asarray(a, kind), np.asarray(b, kind)
        self.square, self.type = square, type

    def cost(self, i, j):
        d = self.a[i] - self.b[j]
        return d * d if self.square else abs(d)

    def deck(self):
        return {"problem": "dtw", "type": self.type, "distance": "square" if self.square else "absolute",
                "a": {"values": self.a.tolist()}, "b": {"values": self.b.tolist()}}

    def table(self):
        m = np.zeros((len(self.a), len(self.b)), self.a.dtype)
        for i in range(len(self.a)):
            for j in range(len(self.b)):
                before = [m[x, y] for x, y in ((i - 1, j - 1), (i, j - 1), (i - 1, j)) if x >= 0 and y >= 0]
                m[i, j] = self.cost(i, j) + (min(before) if before else 0)
        return m

    def value(self):
        return self.table()[-1, -1]

    def worth(self, path):
        total = self.a.dtype.type(0)
        check(list(path[0]) == [0, 0] and list(path[-1]) == [len(self.a) - 1, len(self.b) - 1], "ends of the path")
        for k, (i, j) in enumerate(path):
            if k:
                step = (i - path[k - 1][0], j - path[k - 1][1])
                check(step in ((1, 1), (1, 0), (0, 1)), f"step {step}")
            total = self.cost(i, j) + total
        return total


class Sack:
    name = "knapsack"
    most = 1

    def __init__(self, capacity, weights, values):
        self.capacity, self.weights, self.values = capacity, weights, values

    def deck(self):
        return {"problem": self.name, "capacity": self.capacity, "weights": {"values": list(self.weights)},
                "values": {"values": list(self.values)}}

    def table(self):
        m = np.zeros((len(self.weights) + 1, self.capacity + 1), int)
        for i, (w, v) in enumerate(zip(self.weights, self.values)):
            for j in range(self.capacity + 1):
                most = self.most if w == 0 else min(self.most, j // w)
                m[i + 1, j] = max(m[i, j - k * w] + k * v for k in range(most + 1))
        return m

    def value(self):
        return self.table()[-1, -1]

    def worth(self, path):
        check(all(1 <= k <= self.most for _, k in path), "an amount is out of range")
        check(len({i for i, _ in path}) == len(path), "an item is there twice")
        check(sum(k * self.weights[i] for i, k in path) <= self.capacity, "too heavy")
        return sum(k * self.values[i] for i, k in path)


class Unbounded(Sack):
    name = "knapsack_unbounded"
    most = 10**9


class Binomial:
    name = "binomial"

    def __init__(self, n, k, modulus=0):
        self.n, self.k, self.modulus = n, k, modulus

    def deck(self):
        return {"problem": self.name, "n": self.n, "k": self.k, "modulus": self.modulus}

    def table(self):
        rows = [[1] + [0] * self.k]
        for _ in range(self.n):
            rows.append([1] + [rows[-1][j - 1] + rows[-1][j] for j in range(1, self.k + 1)])
        return np.array([[x % self.modulus if self.modulus else x for x in row] for row in rows])

    def value(self):
        return self.table()[-1, -1]


class Allotment:
    name = "allotment"

    def __init__(self, returns, type="f64"):
        self.returns, self.type = np.asarray(returns, {"i32": int, "i64": int, "f32": np.float32}.get(type, float)), type

    def deck(self):
        return {"problem": self.name, "type": self.type, "capacity": self.returns.shape[1] - 1,
                "returns": {"values": self.returns.ravel().tolist()}}

    def table(self):
        n, m = self.returns.shape
        t = np.zeros((n + 1, m), self.returns.dtype)
        for i in range(n):
            for j in range(m):
                t[i + 1, j] = max(t[i, j - k] + self.returns[i, k] for k in range(j + 1))
        return t

    def value(self):
        return self.table()[-1, -1]

    def worth(self, path):
        amounts = {i: k for i, k in path}
        check(len(amounts) == len(path) and all(k > 0 for k in amounts.values()), "amounts")
        check(sum(amounts.values()) < self.returns.shape[1], "more is given than there is")
        total = self.returns.dtype.type(0)
        for i in range(len(self.returns)):
            total = total + self.returns[i, amounts.get(i, 0)]
        return total


class Stagecoach:
    name = "stagecoach"

    def __init__(self, start, costs, type="f64"):
        kind = {"i32": int, "i64": int, "f32": np.float32}.get(type, float)
        self.start = np.asarray(start, kind)
        self.costs = np.asarray(costs, kind).reshape(-1, len(start), len(start))
        self.type = type

    def deck(self):
        return {"problem": self.name, "type": self.type, "start": {"values": self.start.tolist()},
                "costs": {"values": self.costs.ravel().tolist()}}

    def table(self):
        rows = [self.start]
        for w in self.costs:
            rows.append(np.array([min(rows[-1][k] + w[k, s] for k in range(len(w))) for s in range(len(w))],
                                 self.start.dtype))
        return np.array(rows)

    def value(self):
        return self.table()[-1].min()

    def worth(self, path):
        check([t for t, _ in path] == list(range(len(self.costs) + 1)), "a stage is missing")
        total = self.start[path[0][1]]
        for t in range(1, len(path)):
            total = total + self.costs[t - 1, path[t - 1][1], path[t][1]]
        return total


class Chain:
    name = "matrix_chain"

    def __init__(self, dims):
        self.dims = dims
        self.known = {}

    def deck(self):
        return {"problem": self.name, "dimensions": {"values": list(self.dims)}}

    def cost(self, a, b):
        if b - a < 2:
            return 0
        if (a, b) not in self.known:
            d = self.dims
            self.known[a, b] = min(self.cost(a, k) + self.cost(k, b) + d[a] * d[k] * d[b] for k in range(a + 1, b))
        return self.known[a, b]

    def table(self):
        n = len(self.dims)
        return np.array([[self.cost(a, b) for b in range(n)] for a in range(n)])

    def value(self):
        return self.cost(0, len(self.dims) - 1)

    def worth(self, path):
        d, made = self.dims, {(i, i) for i in range(len(self.dims) - 1)}
        for i, j, k in reversed(path):  # parts come after the whole
            check((i, k) in made and (k + 1, j) in made, f"product {i}..{j} of parts that are not there")
            made.add((i, j))
        check((0, len(d) - 2) in made or len(d) < 2, "the whole product is not there")
        check(len(path) == max(0, len(d) - 2), "too many products")
        return sum(d[i] * d[k + 1] * d[j + 1] for i, j, k in path)


class Tree:
    name = "search_tree"

    def __init__(self, keys, gaps, type="f64"):
        self.keys, self.gaps, self.type = keys, gaps, type
        self.known = {}

    def deck(self):
        return {"problem": self.name, "type": self.type, "keys": {"values": list(self.keys)},
                "gaps": {"values": list(self.gaps)}}

    def weight(self, i, j):
        """Keys i..j-1 and the gaps around them."""
        return sum(self.keys[i:j]) + sum(self.gaps[i:j + 1])

    def cost(self, i, j):
        if i == j:
            return self.gaps[i]
        if (i, j) not in self.known:
            self.known[i, j] = min(self.cost(i, r) + self.cost(r + 1, j) for r in range(i, j)) + self.weight(i, j)
        return self.known[i, j]

    def table(self):
        n = len(self.keys) + 2
        return np.array([[self.cost(a, b - 1) if a < b else 0 for b in range(n)] for a in range(n)])

    def value(self):
        return self.cost(0, len(self.keys))

    def worth(self, path):
        depth, roots = {}, {(i, j): r for i, j, r in path}

        def down(i, j, level):  # keys i..j
            if i > j:
                depth["gap", i] = level
                return
            r = roots[i, j]
            check(i <= r <= j, "a root outside its keys")
            depth["key", r] = level + 1
            down(i, r - 1, level + 1)
            down(r + 1, j, level + 1)

        down(0, len(self.keys) - 1, 0)
        check(len(path) == len(self.keys), "too many roots")
        return (sum(w * depth["key", k] for k, w in enumerate(self.keys))
                + sum(w * (depth["gap", k] + 1) for k, w in enumerate(self.gaps)))


class Nussinov:
    name = "nussinov"

    def __init__(self, a, span=0, wobble=True):
        self.a, self.span, self.wobble = a, span, wobble
        self.known = {}

    def deck(self):
        return {"problem": self.name, "span": self.span, "wobble": self.wobble, "a": {"text": f'"{self.a}"'}}

    def pair(self, i, j):
        both = {self.a[i], self.a[j]}
        return j - i > self.span and (both in ({"A", "U"}, {"C", "G"}) or (self.wobble and both == {"G", "U"}))

    def best(self, i, j):
        """Letters i..j-1: the first is alone, or paired with one of the others."""
        if j - i < 2:
            return 0
        if (i, j) not in self.known:
            ways = [self.best(i + 1, j)]
            ways += [1 + self.best(i + 1, k) + self.best(k + 1, j) for k in range(i + 1, j) if self.pair(i, k)]
            self.known[i, j] = max(ways)
        return self.known[i, j]

    def table(self):
        n = len(self.a) + 1
        return np.array([[self.best(i, j) for j in range(n)] for i in range(n)])

    def value(self):
        return self.best(0, len(self.a))

    def worth(self, path):
        letters = [k for pair in path for k in pair]
        check(len(set(letters)) == len(letters), "a letter pairs twice")
        for i, j in path:
            check(self.pair(i, j), f"letters {i} and {j} do not pair")
        for (i, j), (x, y) in itertools.combinations(path, 2):
            check(not (i < x < j < y or x < i < y < j), "pairs cross")
        return len(path)


# ------------------------------------------------------------------ instances


def instances(seed, n=12):
    """One random instance of every problem with lengths about n, small values so that ties are many."""
    rng = random.Random(seed)

    def length(least=0):
        return rng.randint(least, n)

    def whole(count, lo, hi):
        return [rng.randint(lo, hi) for _ in range(count)]

    a, r = word(rng, length()), word(rng, length(), "ACGU")
    items, states, keys = length(), rng.randint(1, 6), length()
    b = near(rng, a, "ACGTN")
    yield Lcs(a, b)
    yield Lcs(word(rng, length(), "ab"), word(rng, length(), "abc"))
    yield Edit(a, b)
    yield Edit(word(rng, length(), "ab"), word(rng, length(), "ab"), *whole(3, 0, 4))
    for kind in (Align, Local):
        yield kind(a, b)
        yield kind(a, word(rng, length()), "dna", rng.randint(0, 3), rng.randint(-3, 1), rng.randint(0, 3),
                   rng.randint(0, 2))
        yield kind(word(rng, length(), LETTERS["protein"]), word(rng, length(), LETTERS["protein"]), "protein")
    for type in ("f32", "f64"):
        yield Dtw(whole(length(1), 0, 5), whole(length(1), 0, 5), rng.random() < 0.5, type)
        yield Dtw([rng.random() for _ in range(length(1))], [rng.random() for _ in range(length(1))], False, type)
    yield Sack(rng.randint(0, 3 * n), whole(items, 0, n), whole(items, 0, 9))
    yield Unbounded(rng.randint(0, 3 * n), whole(items, 1, n), whole(items, 0, 9))
    yield Binomial(length(), length())
    yield Binomial(5 * n + length(), length(), rng.randint(1, 1000))
    for type in ("i32", "i64", "f32", "f64"):
        size = (length(1), length(1))
        yield Allotment(np.array(whole(size[0] * size[1], -2, 6)).reshape(size), type)
        yield Stagecoach(whole(states, 0, 4), whole(states * states * rng.randint(0, n), 0, 5), type)
    yield Chain(whole(length(1), 1, 9))
    yield Tree(whole(keys, 0, 5), whole(keys + 1, 0, 5), "i64")
    yield Tree([rng.random() for _ in range(keys)], [rng.random() for _ in range(keys + 1)])
    yield Nussinov(r, rng.randint(0, 3), rng.random() < 0.5)


def close(one, other):
    """Equal numbers; real ones up to rounding."""
    if isinstance(one, (float, np.floating)) or isinstance(other, (float, np.floating)):
        tolerance = 1e-5 if isinstance(other, np.float32) else 1e-12
        return one == other or abs(one - other) <= tolerance * max(1, abs(other))
    return one == other


INFINITY = inf
