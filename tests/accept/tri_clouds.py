"""Clouds of n points in d dimensions, for the tests of near pairs and of graphs."""
from harness import np


def uniform(rng, n, d):
    return rng.random((n, d))


def clustered(rng, n, d):
    return rng.random((9, d))[rng.integers(0, 9, n)] + 0.02 * rng.normal(size=(n, d))


def lattice(rng, n, d):
    return rng.integers(0, round((2 * n) ** (1 / d)) + 1, (n, d)) / 16.0


def repeated(rng, n, d):
    return rng.random((n // 6 + 1, d))[rng.integers(0, n // 6 + 1, n)]


def equal(_, n, d):
    return np.full((n, d), 0.375)
