"""Speed-up, efficiency, and the serial share by the laws of Amdahl and Gustafson.

n is the number of ranks over that of the base point, S the speed-up on the same scale (S = 1 at n = 1).
"""
import math


def speedup(base_seconds, base_work, seconds, work):
    """Work per second over that of the base point."""
    return (work / seconds) / (base_work / base_seconds)


def least_squares(xs, ys):
    """Slope of y = s x through the origin."""
    below = sum(x * x for x in xs)
    return sum(x * y for x, y in zip(xs, ys)) / below if below > 0 else math.nan


def clipped(share):
    return min(max(share, 0.0), 1.0) if math.isfinite(share) else math.nan


def amdahl_share(ns, speedups):
    """Serial share s of the base run in S = 1 / (s + (1 - s) / n): 1/E - 1 = s (n - 1)."""
    return clipped(least_squares([n - 1 for n in ns], [n / s - 1 for n, s in zip(ns, speedups)]))


def amdahl(share, n):
    return 1 / (share + (1 - share) / n)


def gustafson_share(ns, speedups):
    """Serial share s of the scaled run in S = n - s (n - 1)."""
    return clipped(least_squares([n - 1 for n in ns], [n - s for n, s in zip(ns, speedups)]))


def gustafson(share, n):
    return n - share * (n - 1)


def karp_flatt(n, s):
    """Serial share that a single point would need; growing with n: overhead, constant: serial work."""
    return (1 / s - 1 / n) / (1 - 1 / n) if n > 1 else math.nan
