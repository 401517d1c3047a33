/* Random numbers for tests: the same on every machine (splitmix64, Steele et al. 2014). */
#pragma once

#include <stdint.h>

static inline uint64_t random_bits(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/** In [0, 1). */
static inline double random_unit(uint64_t *state) {
  return (double)(random_bits(state) >> 11) * 0x1p-53;
}

/** In 0..n-1. */
static inline int random_below(uint64_t *state, int n) {
  return (int)(random_bits(state) % (uint64_t)n);
}
