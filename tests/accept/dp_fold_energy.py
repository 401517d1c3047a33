"""Energies of RNA structures, written from the definition of the loops: the truth of dp_fold.py and dp_partition.py.

    read(path)                              a parameter file, {section: list of numbers}
    Model(file, celsius, dangles, exact)    energies at a temperature; exact: not rounded, ends of stems smooth
    Model.energy(letters, pairs)            of a structure, 0.01 kcal/mol; None: forbidden
    structures(letters, may_pair)           all structures of a short sequence, as sets of pairs
"""
import itertools
import math
import random
import re

PAIRS = ("CG", "GC", "GU", "UG", "AU", "UA")
LETTERS = "NACGU"
LIMIT = 10 ** 7


def read(path):
    with open(path, encoding="ascii") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    parts = re.split(r"^# (\S+).*$", text, flags=re.M)
    return {name: body.split() for name, body in zip(parts[1::2], parts[2::2])}


def number(word):
    return {"INF": LIMIT, "DEF": -50, "NST": 0}[word] if word.isalpha() else int(word)


class Model:
    def __init__(self, sections, celsius=37, dangles=2, exact=False):
        self.sections, self.dangles, self.exact = sections, dangles, exact
        self.factor = (celsius + 273.15) / 310.15
        self.tables = {name: self.scaled(name) for name in sections if name + "_enthalpies" in sections}
        cu, cu_h, cc, cc_h, ci, ci_h = map(int, sections["ML_params"])
        self.base, self.closing, self.stem = self.at(cu, cu_h), self.at(cc, cc_h), self.at(ci, ci_h)
        ninio, ninio_h, self.most = map(int, sections["NINIO"])
        self.ninio = self.at(ninio, ninio_h)
        misc = sections["Misc"]
        self.terminal = self.at(int(misc[2]), int(misc[3]))
        self.logarithm = float(misc[4]) * self.factor
        self.special = {}
        for name in ("Hexaloops", "Tetraloops", "Triloops"):
            words = sections[name]
            for loop, energy, enthalpy in zip(words[::3], words[1::3], words[2::3]):
                self.special.setdefault(loop, self.at(int(energy), int(enthalpy)))

    def at(self, energy, enthalpy):
        if energy >= LIMIT or enthalpy >= LIMIT:
            return LIMIT
        value = enthalpy - (enthalpy - energy) * self.factor
        return value if self.exact else int(value)

    def lowered(self, value):
        """Never a cost; exact: as ViennaRNA smooths it for sums over structures."""
        if not self.exact or -value / 10 < -1.2283697:
            return min(value, 0)
        if -value / 10 > 0.8660254:
            return value
        return -3.8490018 * (math.sin(-value / 10 - 0.34242663) + 1) ** 2

    def scaled(self, name):
        both = zip(self.sections[name], self.sections[name + "_enthalpies"])
        return [self.at(number(g), number(h)) for g, h in both]

    def look(self, name, *index, dims):
        place = 0
        for i, d in zip(index, dims):
            place = place * d + i
        return self.tables[name][place]

    def end(self, pair):
        return self.terminal if pair not in ("CG", "GC") else 0

    def mismatch(self, name, pair, x, y):
        return self.look("mismatch_" + name, PAIRS.index(pair), LETTERS.index(x), LETTERS.index(y), dims=(7, 5, 5))

    def outside(self, name, pair, x, y):
        """A stem's neighbours outside of it; never a cost, and nothing without dangles."""
        if self.dangles == 0 or (x is None and y is None):
            return self.end(pair)
        if y is None:
            value = self.look("dangle5", PAIRS.index(pair), LETTERS.index(x), dims=(7, 5))
        elif x is None:
            value = self.look("dangle3", PAIRS.index(pair), LETTERS.index(y), dims=(7, 5))
        else:
            value = self.mismatch(name, pair, x, y)
        return self.lowered(value) + self.end(pair)

    def hairpin(self, s):
        size, pair = len(s) - 2, s[0] + s[-1]
        if size < 3:
            return LIMIT
        if s in self.special:
            return self.special[s]
        energy = self.tables["hairpin"][min(size, 30)]
        if size > 30:
            beyond = self.logarithm * math.log(size / 30)
            energy += beyond if self.exact else int(beyond)
        return energy + (self.end(pair) if size == 3 else self.mismatch("hairpin", pair, s[1], s[-2]))

    def small(self, name, first, second, *letters):
        if name == "int22":
            return self.two_by_two(PAIRS.index(first), PAIRS.index(second), letters)
        dims = (7, 7) + (5,) * len(letters)
        return self.look(name, PAIRS.index(first), PAIRS.index(second), *(LETTERS.index(x) for x in letters), dims=dims)

    def two_by_two(self, first, second, letters):
        """The worst of what an N may be, of energies and of enthalpies."""
        worst = []
        for name in ("int22", "int22_enthalpies"):
            values = []
            for four in itertools.product(*("ACGU" if x == "N" else x for x in letters)):
                place = 6 * first + second
                for x in four:
                    place = 4 * place + "ACGU".index(x)
                values.append(number(self.sections[name][place]))
            worst.append(max(values))
        return self.at(*worst)

    def interior(self, left, right):
        """left: from the outer pair's first letter to the inner one's; right: from the inner one's second on."""
        n1, n2 = len(left) - 2, len(right) - 2
        outer, inner = left[0] + right[-1], right[0] + left[-1]
        more, less = max(n1, n2), min(n1, n2)
        if more + less > 30:
            return LIMIT
        if more == 0:
            return self.look("stack", PAIRS.index(outer), PAIRS.index(inner), dims=(7, 7))
        if less == 0:
            stacked = self.look("stack", PAIRS.index(outer), PAIRS.index(inner), dims=(7, 7))
            return self.tables["bulge"][more] + (stacked if more == 1 else self.end(outer) + self.end(inner))
        a, b, c, d = left[1], right[-2], right[1], left[-2]
        if (less, more) == (1, 1):
            return self.small("int11", outer, inner, a, b)
        if (less, more) == (1, 2):
            return self.small("int21", outer, inner, a, c, b) if n1 == 1 else self.small("int21", inner, outer, c, a, d)
        if (less, more) == (2, 2):
            return self.small("int22", outer, inner, a, d, c, b)
        energy = self.tables["internal"][more + less] + min(self.most, (more - less) * self.ninio)
        kind = "internal_1n" if less == 1 else "internal_23" if (less, more) == (2, 3) else "internal"
        return energy + self.mismatch(kind, outer, a, b) + self.mismatch(kind, inner, c, d)

    def loop(self, s, i, j, inside):
        if not inside:
            return self.hairpin(s[i:j + 1])
        if len(inside) == 1:
            p, q = inside[0]
            return self.interior(s[i:p + 1], s[q:j + 1])
        unpaired = j - i - 1 - sum(q - p + 1 for p, q in inside)
        stems = [(s[p] + s[q], s[p - 1], s[q + 1]) for p, q in inside] + [(s[j] + s[i], s[j - 1], s[i + 1])]
        return (self.closing + self.base * unpaired + self.stem * len(stems) +
                sum(self.outside("multi", pair, x, y) for pair, x, y in stems))

    def energy(self, letters, pairs):
        s, partner = letters, dict(pairs)
        total = 0

        def within(k, end):
            found = []
            while k < end:
                if k in partner:
                    found.append((k, partner[k]))
                    k = partner[k]
                k += 1
            return found

        for p, q in within(0, len(s)):
            total += self.outside("exterior", s[p] + s[q], s[p - 1] if p else None, s[q + 1] if q + 1 < len(s) else None)
        for i, j in partner.items():
            part = self.loop(s, i, j, within(i + 1, j))
            if part >= LIMIT:
                return None
            total += part
        return total


def structures(s, lo=0, hi=None):
    """All sets of pairs that do not cross, as tuples of (i, j)."""
    hi = len(s) if hi is None else hi
    if hi - lo < 5:
        yield ()
        return
    yield from structures(s, lo + 1, hi)
    for j in range(lo + 4, hi):
        if s[lo] + s[j] in PAIRS:
            for inside in structures(s, lo + 1, j):
                for rest in structures(s, j + 1, hi):
                    yield ((lo, j),) + inside + rest


def pairs_of(text):
    """Of dots and brackets."""
    found, stack = [], []
    for k, c in enumerate(text):
        if c == "(":
            stack.append(k)
        elif c == ")":
            found.append((stack.pop(), k))
    return sorted(found)


def short_sequences(seed):
    """(letters, temperature, dangles) of which all structures can be tried; the last ones have multiloops."""
    dice = random.Random(seed)
    for k, alphabet in enumerate(("GC", "GGCCAU", "ACGU", "GU", "GGCCN", "GCAU", "GGCC", "ACGU")):
        n = 15 if set(alphabet) == {"G", "C"} else 17
        yield "".join(dice.choice(alphabet) for _ in range(n)), (37, 20, 61.5)[k % 3], 2 * (k % 2)
    for letters in ("GGGAAACCGAAAGGC", "GCGAAAGCGAAAGCC", "GGAGAAACAGAAACACC", "GAGAAACGAAACC"):
        yield letters, 37, 2
