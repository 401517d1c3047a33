/**
 * @file dp_affine_narrow_row.cuh
 * The strips of dp_affine_narrow.cuh: two values in a register, lanes, and one row of them.
 */
#pragma once

#include "dp_affine.cuh"

enum { DP_NARROW_HALVES = 2 * DP_WARP };

/* ---------------------------------------------------------------- two values in a register */

static __device__ __forceinline__ int dp_low(uint32_t x) {
  return (int16_t)(x & 0xffffu);
}

static __device__ __forceinline__ int dp_high(uint32_t x) {
  return (int32_t)x >> 16;
}

static __device__ __forceinline__ int dp_clip(int value) {
  return value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value;
}

/** Both halves, each cut to 16 bits. */
static __device__ __forceinline__ uint32_t dp_pack(int low, int high) {
  return ((uint32_t)dp_clip(high) << 16) | ((uint32_t)dp_clip(low) & 0xffffu);
}

/** x where mask has ones, else y. */
static __device__ __forceinline__ uint32_t dp_choose(uint32_t mask, uint32_t x, uint32_t y) {
  return (x & mask) | (y & ~mask);
}

/** All ones in the halves in which x = y; x >= y, less than 2^15 apart. */
static __device__ __forceinline__ uint32_t dp_same(uint32_t x, uint32_t y) {
  return __viaddmin_s16x2(x, ~y, 0u);
}

/** All ones in the halves in which x = y, however far apart they may be. */
static __device__ __forceinline__ uint32_t dp_equal(uint32_t x, uint32_t y) {
  return __vadd2(__vminu2(x ^ y, 0x00010001u), 0xffffffffu);
}

/** Halves of x minus delta, cut to 16 bits. */
static __device__ __forceinline__ uint32_t dp_shift(uint32_t x, int delta) {
  return dp_pack(dp_low(x) - delta, dp_high(x) - delta);
}

/* ---------------------------------------------------------------- one strip of a warp */

/** A lane: two halves in each uint32_t, relative to base. */
template <int NC> struct dp_narrow_lane {
  uint32_t g[NC], f[NC];           /**< rows above: H - open - extend, F */
  uint32_t corner;                 /**< G of the rows above, of the columns before the first */
  uint32_t h, e;                   /**< H and E of the last columns of the rows just done */
  uint32_t exit_h, exit_e;         /**< ragged: the same of the last real column */
  uint32_t less_open, less_extend; /**< - open - extend, - extend */
  uint32_t zero;                   /**< local: H = 0 */
  uint32_t bar;                    /**< local: G that a new peak is above (dp_affine_peak) */
  uint32_t ways;                   /**< directions of the low half's row before */
  int base;
  bool spoiled; /**< the same in all lanes */
};

/** What a strip is for its lanes. */
typedef struct dp_narrow_place {
  int strip, lane;
  int first;      /**< column of the low half's first */
  int exit, stop; /**< half that has the strip's last real column; ragged: which one that is */
  const int2 *left;
  int2 *right; /**< edges that come and go */
} dp_narrow_place;

/** 32-bit words of one load of scores, and of a letter in the profile. */
template <int NC> struct dp_narrow_size {
  enum { WORDS = NC >= 8 ? 4 : 2, LETTER = 32 * NC };
};

/** Column k of a half of a lane, in 16-bit places: lanes side by side in loads. */
template <int NC>
static __device__ __forceinline__ int dp_narrow_spot(int letter, int half, int k, int lane) {
  const int load = 2 * dp_narrow_size<NC>::WORDS;
  return letter * 2 * dp_narrow_size<NC>::LETTER + half * dp_narrow_size<NC>::LETTER +
         (k / load * 32 + lane) * load + k % load;
}

/** Beyond the last column a pair is worth two gaps: nothing comes from it. */
template <int NC>
static __device__ __forceinline__ void
dp_narrow_profile(const dp_affine_args &a, const dp_narrow_place &p, uint32_t *profile) {
  int16_t *spots = (int16_t *)profile;
  for (int k = 0; k < 2 * NC; k++) {
    const int letter = a.columns[p.first + k];
    for (int x = 0; x < a.letters; x++) {
      const int score =
          letter == a.letters ? -2 * a.open_extend : a.scores[x * (a.letters + 1) + letter];
      spots[dp_narrow_spot<NC>(x, k / NC, k % NC, p.lane)] = (int16_t)(score + a.open_extend);
    }
  }
}

template <int NC>
static __device__ __forceinline__ void dp_narrow_scores(const uint32_t *from,
                                                        uint32_t (&s)[dp_narrow_size<NC>::WORDS]) {
  if constexpr (NC >= 8) {
    const uint4 four = *(const uint4 *)from;
    s[0] = four.x, s[1] = four.y, s[2] = four.z, s[3] = four.w;
  } else {
    const uint2 two = *(const uint2 *)from;
    s[0] = two.x, s[1] = two.y;
  }
}

/** Directions of two cells as dp_affine_row has them, in the lowest four bits of the halves. */
template <bool LOCAL>
static __device__ __forceinline__ uint32_t dp_narrow_ways(uint32_t h, uint32_t pair, uint32_t e,
                                                          uint32_t f, uint32_t left, uint32_t up,
                                                          uint32_t zero) {
  const uint32_t none = LOCAL ? dp_equal(h, zero) : 0;
  const uint32_t by_pair = dp_same(h, pair), by_left = dp_same(h, e);
  const uint32_t one = none | (by_left & ~by_pair), two = none | ~(by_left | by_pair);
  return (one & 0x00010001u) | (two & 0x00020002u) | (~dp_same(e, left) & 0x00040004u) |
         (~dp_same(f, up) & 0x00080008u);
}

/** One row of either half. @param[in] low, high  profiles of their letters
 *  @param[in] h, e  of the columns to the left @param[in] live  RAMP: ones where the row exists */
template <int NC, bool LOCAL, bool KEEP, bool RAGGED, bool RAMP>
static __device__ __forceinline__ uint32_t dp_narrow_row(dp_narrow_lane<NC> &l, const uint32_t *low,
                                                         const uint32_t *high, uint32_t h,
                                                         uint32_t e, int stop, uint32_t live) {
  constexpr int WORDS = dp_narrow_size<NC>::WORDS;
  uint32_t left = __vadd2(h, l.less_open), diagonal = l.corner, directions = 0;
  l.corner = RAMP ? dp_choose(live, left, l.corner) : left;
#pragma unroll
  for (int load = 0; load < NC / (2 * WORDS); load++) {
    uint32_t s_low[WORDS], s_high[WORDS];
    dp_narrow_scores<NC>(low + load * 32 * WORDS, s_low);
    dp_narrow_scores<NC>(high + load * 32 * WORDS, s_high);
#pragma unroll
    for (int q = 0; q < 2 * WORDS; q++) {
      const int k = 2 * WORDS * load + q;
      const uint32_t up = l.g[k], f_up = l.f[k];
      const uint32_t s = __byte_perm(s_low[q / 2], s_high[q / 2], q % 2 == 0 ? 0x5410 : 0x7632);
      const uint32_t f = __viaddmax_s16x2(f_up, l.less_extend, up);
      const uint32_t e_new = __viaddmax_s16x2(e, l.less_extend, left);
      const uint32_t pair = __viaddmax_s16x2(diagonal, s, f);
      h = LOCAL ? __vimax3_s16x2(pair, e_new, l.zero) : __vmaxs2(pair, e_new);
      if (KEEP)
        directions |= dp_narrow_ways<LOCAL>(h, __vadd2(diagonal, s), e_new, f, left, up, l.zero)
                      << (4 * k);
      e = e_new;
      diagonal = up;
      left = __vadd2(h, l.less_open);
      l.g[k] = RAMP ? dp_choose(live, left, up) : left;
      l.f[k] = RAMP ? dp_choose(live, f, f_up) : f;
      if (RAGGED && k == stop) l.exit_h = h, l.exit_e = e;
    }
  }
  l.h = h;
  l.e = e;
  return directions;
}

/** Remember the first column of the rows whose value is above the peak; the high half's row comes
 *  first. */
template <int NC, bool RAMP>
static __device__ __forceinline__ void dp_narrow_look(dp_narrow_lane<NC> &l, int row, int first,
                                                      uint32_t live, dp_affine_peak &peak) {
  uint32_t most = l.g[0];
#pragma unroll
  for (int k = 1; k + 1 < NC; k += 2) most = __vimax3_s16x2(most, l.g[k], l.g[k + 1]);
  most = __vmaxs2(most, l.g[NC - 1]);
  if (RAMP) most = dp_choose(live, most, l.bar);
  if (__vmaxs2(most, l.bar) == l.bar) return;
#pragma unroll 1
  for (int half = 1; half >= 0; half--) {
    const int up = half == 1 ? 0 : 16, g = dp_high(most << up);
    if (g <= dp_low(l.bar)) continue;
    peak.g = peak.bar = g + l.base;
    peak.row = row - half;
#pragma unroll
    for (int k = NC - 1; k >= 0; k--)
      if (dp_high(l.g[k] << up) == g) peak.column = first + half * NC + k;
    l.bar = dp_pack(g, g);
  }
}
