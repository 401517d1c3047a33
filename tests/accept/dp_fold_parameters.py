#!/usr/bin/env python3
"""Writes inputs/dp/made_up.par: a parameter file in ViennaRNA's format 2.0 with made-up numbers.

They have plausible sizes and signs and no other meaning. int11 and int22 are symmetric, as a loop looks
the same from both of its pairs.
usage: dp_fold_parameters.py > inputs/dp/made_up.par
"""
import random
import sys

LETTERS = 5


class Maker:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.lines = ["## RNAfold parameter file v2.0", "",
                      "/* Made-up numbers, for trying out and for tests: no thermodynamics. */", ""]

    def section(self, name, rows):
        self.lines.append("# " + name)
        self.lines += [" ".join("%5s" % ("INF" if x is None else x) for x in row) for row in rows]
        self.lines.append("")

    def number(self, low, high):
        return 10 * self.dice.randint(low // 10, high // 10)

    def both(self, name, rows, enthalpy):
        """Energies and enthalpies of a table; enthalpy(energy) is one of them."""
        self.section(name, rows)
        self.section(name + "_enthalpies",
                     [[None if x is None else enthalpy(x) for x in row] for row in rows])

    def random_rows(self, rows, columns, low, high):
        return [[self.number(low, high) for _ in range(columns)] for _ in range(rows)]


def write_pairs(m):
    stack = [[0] * 7 for _ in range(7)]
    for a in range(7):
        for b in range(a, 7):
            stack[a][b] = stack[b][a] = m.number(-340, -40) + (100 if a == 6 or b == 6 else 0)
    m.both("stack", stack, lambda x: 3 * x - m.number(0, 300))
    for name, low, high in (("hairpin", -230, 30), ("internal", -110, 70), ("internal_1n", -60, 70),
                            ("internal_23", -110, 70), ("multi", -120, 10), ("exterior", -120, 10)):
        m.both("mismatch_" + name, m.random_rows(7 * LETTERS, LETTERS, low, high),
               lambda x: 2 * x - m.number(-200, 300))
    for name in ("dangle5", "dangle3"):
        m.both(name, m.random_rows(7, LETTERS, -90, 10), lambda x: 2 * x - m.number(0, 300))


def turned(index, of):
    """Indices of a loop seen from its other pair."""
    a, b, letters = index[0], index[1], index[2:]
    return (b, a) + (letters[::-1] if of == 2 else letters[2:] + letters[:2])


def symmetric(m, dims, low, high, of):
    """A table over pairs and letters that is the same from both sides, as nested rows of the last
    index."""
    import itertools
    values = {}
    for index in itertools.product(*(range(d) for d in dims)):
        if turned(index, of) in values:
            values[index] = values[turned(index, of)]
        else:
            values[index] = m.number(low, high)
    return [[values[head + (k,)] for k in range(dims[-1])]
            for head in itertools.product(*(range(d) for d in dims[:-1]))]


def write_small_loops(m):
    change = lambda x: 2 * x - 500 - m.number(-200, 300)
    rows = symmetric(m, (7, 7, 5, 5), 0, 190, 2)
    m.section("int11", rows)
    m.section("int11_enthalpies", [[10 * (x // 5) - 700 for x in row] for row in rows])
    m.both("int21", m.random_rows(7 * 7 * 25, 5, 100, 400), change)
    rows = symmetric(m, (6, 6, 4, 4, 4, 4), -60, 250, 4)
    m.section("int22", rows)
    m.section("int22_enthalpies", [[10 * (x // 5) - 900 for x in row] for row in rows])


def write_sizes(m):
    def rising(first, least, start, step):
        row, value = [None] * first, start
        for _ in range(31 - first):
            row.append(value)
            value = max(least, value + m.number(0, step))
        return [row[:10], row[10:20], row[20:30], row[30:]]

    m.both("hairpin", rising(3, 0, 540, 20), lambda x: x - m.number(0, 400))
    m.both("bulge", rising(1, 0, 380, 30), lambda x: 2 * x + m.number(0, 300))
    m.both("internal", rising(2, 0, 100, 40), lambda x: -m.number(100, 700))
    m.section("ML_params", [[10, 20, 840, 2900, -60, -200]])
    m.section("NINIO", [[50, 310, 280]])
    m.section("Misc", [[400, 350, 60, 380, "107.856000", 0]])


def write_special(m):
    def loops(name, letters, count):
        seen = {}
        while len(seen) < count:
            ends = m.dice.choice(("CG", "GC", "AU", "UA", "GU", "UG"))
            inside = "".join(m.dice.choice("ACGU") for _ in range(letters - 2))
            seen[ends[0] + inside + ends[1]] = (m.number(50, 700), m.number(-1600, 700))
        m.lines.append("# " + name)
        m.lines += ["%s %5d %6d" % (loop, g, h) for loop, (g, h) in sorted(seen.items())] + [""]

    loops("Hexaloops", 8, 30)
    loops("Tetraloops", 6, 30)
    loops("Triloops", 5, 30)


def main():
    m = Maker(2026)
    write_pairs(m)
    write_small_loops(m)
    write_sizes(m)
    write_special(m)
    m.lines.append("# END")
    sys.stdout.write("\n".join(m.lines) + "\n")


if __name__ == "__main__":
    main()
