/**
 * @file dp_affine_narrow.cuh
 * The strips of dp_affine.cuh with 16 bits for each value, two cells in a register.
 *
 * A lane is two halves: the low 16 bits of its registers hold NC columns, the high ones the next
 * NC, one row behind. So a warp is a pipeline of 64 halves over 64 NC columns, and a step of two
 * cells is three fused add-max, one max, one addition and one permutation, which joins the scores
 * of the two rows (the profile holds 16 bits for each letter and column).
 *
 * Values are relative to a base of the warp, which moves between chunks of rows. Before a chunk
 * all values from which it is computed, those in registers and those of the edge, are seen to lie
 * within reach of the base; within a chunk no value can then leave 16 bits (dp_narrow_measure).
 * Where they do not lie within reach the strip gives up and says so (spoiled), and the launch is
 * done again in 32 bits. Outside the kernel everything is as 32 bits have it, bit for bit: E and F
 * that are worth no more than a gap opened anew are raised to that when they are cut to 16 bits,
 * which changes no value and no direction that follows.
 */
#ifndef TSL_GPU_DP_AFFINE_NARROW_CUH
#define TSL_GPU_DP_AFFINE_NARROW_CUH

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
  const uint32_t none = LOCAL ? __vcmpeq2(h, zero) : 0;
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

/* ---------------------------------------------------------------- base and range */

/** Smallest and largest of all lanes. */
static __device__ __forceinline__ void dp_narrow_span(int *least, int *most) {
  for (int d = 16; d > 0; d /= 2) {
    const int low = __shfl_xor_sync(DP_ALL_LANES, *least, d);
    const int high = __shfl_xor_sync(DP_ALL_LANES, *most, d);
    *least = low < *least ? low : *least;
    *most = high > *most ? high : *most;
  }
}

/** What follows from the base. */
template <int NC>
static __device__ __forceinline__ void dp_narrow_settle(dp_narrow_lane<NC> &l,
                                                        const dp_affine_peak &peak) {
  const int bar = (int)((int64_t)peak.bar - l.base < INT16_MIN ? INT16_MIN : peak.bar - l.base);
  l.zero = dp_pack(-l.base, -l.base);
  l.bar = dp_pack(bar, bar);
}

/** H (less open and extend) and F of the row above; columns that do not exist are as the last. */
static __device__ __forceinline__ int dp_narrow_above(const dp_affine_args &a, const int32_t *row,
                                                      int column) {
  return __ldcg(&row[column < a.columns_n ? column : a.columns_n - 1]);
}

static __device__ __forceinline__ int dp_narrow_corner(const dp_affine_args &a, int column) {
  return (column == 0 ? a.edge[0].x : dp_narrow_above(a, a.h_above, column - 1)) - a.open_extend;
}

template <int NC>
static __device__ __forceinline__ void
dp_narrow_load(const dp_affine_args &a, const dp_narrow_place &p, dp_narrow_lane<NC> &l) {
  const int corner[2] = {dp_narrow_corner(a, p.first), dp_narrow_corner(a, p.first + NC)};
  int least = corner[0] < corner[1] ? corner[0] : corner[1];
  int most = corner[0] < corner[1] ? corner[1] : corner[0];
  for (int k = 0; k < 2 * NC; k++) {
    const int g = dp_narrow_above(a, a.h_above, p.first + k) - a.open_extend;
    least = g < least ? g : least;
    most = g > most ? g : most;
  }
  dp_narrow_span(&least, &most);
  l.base = least + (most - least) / 2;
  l.spoiled = most - l.base > a.reach || least - l.base < -a.reach;
#pragma unroll
  for (int k = 0; k < NC; k++) {
    int g[2], f[2];
    for (int half = 0; half < 2; half++) {
      const int column = p.first + half * NC + k, open = a.open_extend - a.extend;
      const int h = dp_narrow_above(a, a.h_above, column);
      const int gap = dp_narrow_above(a, a.f_above, column);
      g[half] = h - a.open_extend - l.base;
      f[half] = (gap > h - open ? gap : h - open) - l.base;
    }
    l.g[k] = dp_pack(g[0], g[1]);
    l.f[k] = dp_pack(f[0], f[1]);
  }
  l.corner = dp_pack(corner[0] - l.base, corner[1] - l.base);
  l.h = l.e = l.exit_h = l.exit_e = l.ways = 0;
  l.less_open = dp_pack(-a.open_extend, -a.open_extend);
  l.less_extend = dp_pack(-a.extend, -a.extend);
}

template <int NC>
static __device__ __forceinline__ void
dp_narrow_store(const dp_affine_args &a, const dp_narrow_place &p, const dp_narrow_lane<NC> &l) {
#pragma unroll
  for (int k = 0; k < NC; k++) {
    int32_t *const h = a.h_below + p.first + k, *const f = a.f_below + p.first + k;
    h[0] = dp_low(l.g[k]) + a.open_extend + l.base;
    h[NC] = dp_high(l.g[k]) + a.open_extend + l.base;
    f[0] = dp_low(l.f[k]) + l.base;
    f[NC] = dp_high(l.f[k]) + l.base;
  }
}

/** Move the base by delta. E and F lie at most a pair and two gaps below a G, so that they stay
 *  what they are where G is within reach; floor: least from which an extension can be taken. */
template <int NC>
static __device__ __forceinline__ void dp_narrow_move(dp_narrow_lane<NC> &l, int delta, int floor) {
  const uint32_t least = dp_pack(floor, floor);
  l.base += delta;
  for (int k = 0; k < NC; k++) {
    l.g[k] = dp_shift(l.g[k], delta);
    l.f[k] = __vmaxs2(dp_shift(l.f[k], delta), least);
  }
  l.corner = dp_shift(l.corner, delta);
  l.h = dp_shift(l.h, delta);
  l.e = __vmaxs2(dp_shift(l.e, delta), least);
}

/** Before a chunk: are all values in registers within reach? Moves the base to their middle when
 *  some are far from it. */
template <int NC>
static __device__ __forceinline__ void
dp_narrow_check(const dp_affine_args &a, const dp_affine_peak &peak, dp_narrow_lane<NC> &l) {
  const uint32_t far = dp_pack(a.reach / 2, a.reach / 2),
                 below = dp_pack(-a.reach / 2, -a.reach / 2);
  uint32_t high = l.corner, low = l.corner;
#pragma unroll
  for (int k = 0; k < NC; k += 2) {
    high = __vimax3_s16x2(high, l.g[k], l.g[k + 1]);
    low = __vimin3_s16x2(low, l.g[k], l.g[k + 1]);
  }
  const bool near = __vmaxs2(high, far) == far && __vmins2(low, below) == below;
  if (!__any_sync(DP_ALL_LANES, !near)) return;
  int most = dp_high(high) > dp_low(high) ? dp_high(high) : dp_low(high);
  int least = dp_high(low) < dp_low(low) ? dp_high(low) : dp_low(low);
  dp_narrow_span(&least, &most);
  if (most > a.reach || least < -a.reach) l.spoiled = true;
  const int middle = (most + least) / 2;
  if (l.spoiled || (middle < a.reach / 4 && middle > -a.reach / 4)) return;
  dp_narrow_move<NC>(l, middle, INT16_MIN + a.extend);
  dp_narrow_settle<NC>(l, peak);
}

/** Wait for a chunk of the strip before and bring it in: H in the low half, E in the high one. */
template <int NC, bool LOCAL>
static __device__ __forceinline__ void
dp_narrow_take(const dp_affine_args &a, const dp_narrow_place &p, int chunk, uint32_t *known,
               uint32_t *in, dp_narrow_lane<NC> &l, dp_affine_peak &peak) {
  const int row = chunk * DP_AFFINE_CHUNK + p.lane, open = a.open_extend - a.extend;
  int most = INT32_MIN / 2;
  bool out = false;
  dp_affine_wait(a, p.strip, chunk, p.lane, known);
  if (row < a.rows_n) {
    const int2 at = __ldcg(&a.edge[row + 1]);
    const int h = at.x - l.base, e = (at.y > at.x - open ? at.y : at.x - open) - l.base;
    out = h > a.reach || h < -a.reach;
    in[p.lane] = dp_pack(h, e);
    most = at.x;
  }
  if (__any_sync(DP_ALL_LANES, out)) l.spoiled = true;
  if (LOCAL && dp_affine_raise(most - a.open_extend - 1, peak)) dp_narrow_settle<NC>(l, peak);
  __syncwarp();
}

/* ---------------------------------------------------------------- chunks of rows */

/** What a step writes besides rows. row: of the low half; live as in dp_narrow_row. */
template <int NC, int MODE, bool RAGGED, bool RAMP>
static __device__ __forceinline__ void
dp_narrow_write(const dp_affine_args &a, const dp_narrow_place &p, dp_narrow_lane<NC> &l, int row,
                uint32_t live, uint32_t directions, int2 *out) {
  const bool low = !RAMP || (live & 1u) != 0, high = !RAMP || (live >> 31) != 0;
  if (MODE == DP_AFFINE_CELLS) {
#pragma unroll
    for (int k = 0; k < NC; k++) {
      int32_t *cell = a.cells + row * a.ld + p.first + k;
      if (low && p.first + k < a.columns_n) cell[0] = dp_low(l.g[k]) + a.open_extend + l.base;
      if (high && p.first + NC + k < a.columns_n)
        cell[NC - a.ld] = dp_high(l.g[k]) + a.open_extend + l.base;
    }
  }
  if (MODE == DP_AFFINE_WAYS) {
    if (high)
      a.history[(p.strip * a.steps + row - 1 + DP_AFFINE_LAG * p.lane) * DP_WARP + p.lane] =
          __byte_perm(l.ways, directions, 0x7610);
    l.ways = directions;
  }
  if (!RAGGED && p.lane == DP_WARP - 1 && high)
    out[(row - 1) & (DP_AFFINE_CHUNK - 1)] =
        make_int2(dp_high(l.h) + l.base, dp_high(l.e) + l.base);
  if (RAGGED && p.lane == p.exit / 2 && (p.exit % 2 == 0 ? low : high)) {
    const int h = p.exit % 2 == 0 ? dp_low(l.exit_h) : dp_high(l.exit_h);
    const int e = p.exit % 2 == 0 ? dp_low(l.exit_e) : dp_high(l.exit_e);
    __stcg(&a.edge[row - p.exit % 2 + 1], dp_affine_pass(a, h + l.base, e + l.base));
  }
}

/** Profiles of the letters of both halves' rows. */
typedef struct dp_narrow_letters {
  const uint32_t *mine; /**< of letter 0 */
  const uint32_t *high;
  int next; /**< letter of the low half's next row */
} dp_narrow_letters;

/** The steps of a chunk. RAMP: some halves' rows may not exist in some of them. */
template <int NC, bool LOCAL, int MODE, bool RAGGED, bool RAMP>
static __device__ __forceinline__ void
dp_narrow_chunk(const dp_affine_args &a, const dp_narrow_place &p, int chunk, dp_narrow_lane<NC> &l,
                dp_narrow_letters &t, const uint32_t *in, int2 *out, dp_affine_peak &peak) {
#pragma unroll 2
  for (int s = 0; s < DP_AFFINE_CHUNK; s++) {
    const int row = chunk * DP_AFFINE_CHUNK + s - DP_AFFINE_LAG * p.lane;
    const uint32_t *low = t.mine + t.next * dp_narrow_size<NC>::LETTER;
    uint32_t h = __shfl_up_sync(DP_ALL_LANES, l.h, 1), e = __shfl_up_sync(DP_ALL_LANES, l.e, 1);
    uint32_t live = 0xffffffffu;
    if (p.lane == 0) h = in[s] << 16, e = in[s];
    if (RAMP)
      live = ((unsigned)row < (unsigned)a.rows_n ? 0x0000ffffu : 0u) |
             ((unsigned)(row - 1) < (unsigned)a.rows_n ? 0xffff0000u : 0u);
    if ((unsigned)(row + 1) < (unsigned)a.rows_n) t.next = a.rows[row + 1];
    const uint32_t directions = dp_narrow_row<NC, LOCAL, MODE == DP_AFFINE_WAYS, RAGGED, RAMP>(
        l, low, t.high, __byte_perm(h, l.h, 0x5432), __byte_perm(e, l.e, 0x5432), p.stop, live);
    t.high = low + dp_narrow_size<NC>::LETTER / 2;
    if (LOCAL) dp_narrow_look<NC, RAMP>(l, row, p.first, live, peak);
    dp_narrow_write<NC, MODE, RAGGED, RAMP>(a, p, l, row, live, directions, out);
    if (!RAGGED && s == DP_AFFINE_CHUNK - 2 && chunk >= DP_AFFINE_LAG)
      dp_affine_give(a, p.strip, chunk - DP_AFFINE_LAG, p.lane, out);
  }
}

/** Give up: tell the host, and let nobody wait. */
static __device__ __forceinline__ void dp_narrow_leave(const dp_affine_args &a, int strip,
                                                       int lane) {
  if (lane == 0) *(volatile uint32_t *)a.spoiled = 1;
  dp_post_counter(&a.finished[strip], 0x7fffffffu, lane);
}

/** One strip from the first row to the last. */
template <int NC, bool LOCAL, int MODE, bool RAGGED>
static __device__ __forceinline__ void dp_narrow_strip(const dp_affine_args &a, int strip, int lane,
                                                       uint32_t *profile, uint32_t *in, int2 *out) {
  const int chunks = dp_affine_chunks(a.rows_n, DP_AFFINE_LAG);
  const int last = a.columns_n - 1 - strip * DP_NARROW_HALVES * NC;
  const int exit = RAGGED ? last / NC : DP_NARROW_HALVES - 1;
  const dp_narrow_place p = {strip, lane, (strip * DP_NARROW_HALVES + 2 * lane) * NC, exit,
                             lane == exit / 2 ? last % NC : -1};
  const int grains = DP_NARROW_HALVES * NC / DP_AFFINE_GRAIN, grain = strip * grains;
  dp_affine_peak peak;
  dp_narrow_letters t = {profile + dp_narrow_size<NC>::WORDS * lane, NULL, 0};
  dp_narrow_lane<NC> l;
  uint32_t known = 0;
  dp_narrow_profile<NC>(a, p, profile);
  if (!dp_affine_follow(a, grain, grains, lane)) return dp_narrow_leave(a, strip, lane);
  peak = dp_affine_peak_of(a, grain, grains);
  dp_narrow_load<NC>(a, p, l);
  dp_narrow_settle<NC>(l, peak);
  __syncwarp();
  t.high = t.mine + dp_narrow_size<NC>::LETTER / 2;
  if (lane == 0 && a.rows_n > 0) t.next = a.rows[0];
  for (int chunk = 0; chunk < chunks; chunk++) {
    dp_narrow_check<NC>(a, peak, l);
    if (chunk * DP_AFFINE_CHUNK < a.rows_n)
      dp_narrow_take<NC, LOCAL>(a, p, chunk, &known, in, l, peak);
    if (l.spoiled) return dp_narrow_leave(a, strip, lane);
    if (chunk < DP_AFFINE_LAG || (chunk + 1) * DP_AFFINE_CHUNK > a.rows_n)
      dp_narrow_chunk<NC, LOCAL, MODE, RAGGED, true>(a, p, chunk, l, t, in, out, peak);
    else
      dp_narrow_chunk<NC, LOCAL, MODE, RAGGED, false>(a, p, chunk, l, t, in, out, peak);
  }
  dp_narrow_store<NC>(a, p, l);
  if (LOCAL) dp_affine_settle(a, lane, peak, grain, grains);
  dp_affine_turn(a, strip, lane);
  dp_affine_mark(a, grain, grains, lane, a.spoiled);
}

template <int NC, bool LOCAL, int MODE>
__global__ void __launch_bounds__(128) dp_narrow_kernel(const __grid_constant__ dp_affine_args a) {
  const int lane = threadIdx.x % DP_WARP, warp = threadIdx.x / DP_WARP;
  uint32_t *profile = (uint32_t *)((char *)dp_shared() + warp * dp_affine_shared(NC, a.letters));
  int2 *out = (int2 *)(profile + a.letters * dp_narrow_size<NC>::LETTER);
  uint32_t *in = (uint32_t *)(out + DP_AFFINE_CHUNK);
  for (;;) {
    const uint32_t strip = dp_next_ticket(a.ticket, lane);
    if (strip >= (uint32_t)a.strips) return;
    if ((strip + 1) * DP_NARROW_HALVES * NC > (uint32_t)a.columns_n)
      dp_narrow_strip<NC, LOCAL, MODE, true>(a, (int)strip, lane, profile, in, out);
    else
      dp_narrow_strip<NC, LOCAL, MODE, false>(a, (int)strip, lane, profile, in, out);
    __syncwarp();
  }
}

#endif
