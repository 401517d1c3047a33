/* Random data, counters and cuts shared by the tests of dp on a card. */
#pragma once

#include "dp_gpu.cuh"

#include <algorithm>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

extern long n_checks, n_failures;
extern bool small_sizes;
extern dp_card card;

/* Count a check; say what failed, the first few times. */
static inline bool check(bool good, const char *what, long long a = 0, long long b = 0,
                         long long c = 0) {
  n_checks++;
  if (good) return true;
  if (++n_failures <= 20) printf("FAIL %s (%lld, %lld, %lld)\n", what, a, b, c);
  return false;
}

/* Numbers from a counter (splitmix64). */
struct dp_random {
  uint64_t state;
  explicit dp_random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15ull + 1) {
  }
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) {
    return (int64_t)(next() % (uint64_t)n);
  }
};

static inline std::vector<uint8_t> random_text(dp_random &r, int64_t n, int letters) {
  std::vector<uint8_t> text((size_t)n);
  for (auto &c : text) c = (uint8_t)r.below(letters);
  return text;
}

/* A text that resembles another: letters changed, dropped and put in. */
static inline std::vector<uint8_t> relative_of(dp_random &r, const std::vector<uint8_t> &text,
                                               int64_t n, int letters) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i < text.size() && (int64_t)out.size() < n; i++) {
    const int64_t dice = r.below(20);
    if (dice == 0) continue;
    out.push_back(dice == 1 ? (uint8_t)r.below(letters) : text[i]);
    if (dice == 2) out.push_back((uint8_t)r.below(letters));
  }
  while ((int64_t)out.size() < n) out.push_back((uint8_t)r.below(letters));
  out.resize((size_t)n);
  return out;
}

/* 0 = c[0] <= ... <= c.back() = n, at random; some pieces may be empty. */
static inline std::vector<int64_t> random_cuts(dp_random &r, int64_t n, int pieces) {
  std::vector<int64_t> cuts = {0, n};
  for (int p = 1; p < pieces; p++) cuts.push_back(r.below(n + 1));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

tsl_err test_bits(void);
tsl_err test_affine(void);
tsl_err test_sides(void);
tsl_err test_interval(void);
tsl_err test_rows(void);
tsl_err test_engine(void);
tsl_err test_sweep(void);
