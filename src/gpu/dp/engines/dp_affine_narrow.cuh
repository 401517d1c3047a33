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
 *
 * Local alignments leave out chunks in which no better cell can lie (dp_affine.cuh). What they
 * leave behind, H = 0, may stand beside large values. So before a chunk of a local alignment every
 * value around it is raised to the largest of them less what cells of a strip can be apart
 * (dp_narrow_apart), below which the whole table has none.
 */
#pragma once

#include "dp_affine_narrow_row.cuh"

enum {
  DP_NARROW_LEAP = 32, /**< chunks that are left out together */
  DP_NARROW_RING = 128 /**< rows whose letters a warp keeps: a chunk's, and those of lanes behind */
};

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
  const int64_t above = (int64_t)peak.bar - l.base; /* far above, where a score is known */
  const int bar = (int)(above < INT16_MIN ? INT16_MIN : above > INT16_MAX ? INT16_MAX : above);
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

/** Where chunks are left out: no H of the whole table around a strip lies below when one is `most`.
 */
static __device__ __forceinline__ int dp_narrow_floor(const dp_affine_args &a, int most) {
  return a.known == NULL ? INT32_MIN / 2 : most > a.apart ? most - a.apart : 0;
}

template <int NC, bool LOCAL>
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
  const int floor =
      LOCAL ? dp_narrow_floor(a, most + a.open_extend) - a.open_extend : INT32_MIN / 2;
  least = least > floor ? least : floor;
  l.base = least + (most - least) / 2;
  l.spoiled = most - l.base > a.reach || least - l.base < -a.reach;
#pragma unroll
  for (int k = 0; k < NC; k++) {
    int g[2], f[2];
    for (int half = 0; half < 2; half++) {
      const int column = p.first + half * NC + k, open = a.open_extend - a.extend;
      const int above = dp_narrow_above(a, a.h_above, column) - a.open_extend;
      const int h = (above > floor ? above : floor) + a.open_extend;
      const int gap = dp_narrow_above(a, a.f_above, column);
      g[half] = h - a.open_extend - l.base;
      f[half] = (gap > h - open ? gap : h - open) - l.base;
    }
    l.g[k] = dp_pack(g[0], g[1]);
    l.f[k] = dp_pack(f[0], f[1]);
  }
  l.corner = dp_pack((corner[0] > floor ? corner[0] : floor) - l.base,
                     (corner[1] > floor ? corner[1] : floor) - l.base);
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
template <int NC>
static __device__ __forceinline__ void
dp_narrow_take(const dp_affine_args &a, const dp_narrow_place &p, int chunk, uint32_t *known,
               uint32_t *in, dp_narrow_lane<NC> &l) {
  const int row = chunk * DP_AFFINE_CHUNK + p.lane, open = a.open_extend - a.extend;
  bool out = false;
  dp_affine_wait(a, p.strip, chunk, p.lane, known);
  if (row < a.rows_n) {
    const int2 at = __ldcg(&p.left[row + 1]);
    const int h = at.x - l.base, e = (at.y > at.x - open ? at.y : at.x - open) - l.base;
    out = h > a.reach || h < -a.reach;
    in[p.lane] = dp_pack(h, e);
  }
  if (__any_sync(DP_ALL_LANES, out)) l.spoiled = true;
  __syncwarp();
}

/* ---------------------------------------------------------------- local: chunks left out */

/** Largest and smallest H of a lane's registers. */
template <int NC>
static __device__ __forceinline__ void
dp_narrow_extent(const dp_affine_args &a, const dp_narrow_lane<NC> &l, int *least, int *most) {
  uint32_t high = l.corner, low = l.corner;
#pragma unroll
  for (int k = 0; k < NC; k += 2) {
    high = __vimax3_s16x2(high, l.g[k], l.g[k + 1]);
    low = __vimin3_s16x2(low, l.g[k], l.g[k + 1]);
  }
  const int base = l.base + a.open_extend;
  *most = (dp_high(high) > dp_low(high) ? dp_high(high) : dp_low(high)) + base;
  *least = (dp_high(low) < dp_low(low) ? dp_high(low) : dp_low(low)) + base;
}

/** Values around a chunk lie in [least, most], some in registers perhaps below least: raise these,
 *  and move the base to the middle. */
template <int NC>
static __device__ __forceinline__ void dp_narrow_lift(const dp_affine_args &a, int least, int most,
                                                      const dp_affine_peak &peak,
                                                      dp_narrow_lane<NC> &l) {
  const int open = a.open_extend - a.extend;
  const int middle = least + (most - least) / 2 - a.open_extend - l.base;
  dp_narrow_move<NC>(l, middle, INT16_MIN + a.extend);
  const int floor = least - l.base;
  const uint32_t g = dp_pack(floor - a.open_extend, floor - a.open_extend);
  const uint32_t h = dp_pack(floor, floor), gap = dp_pack(floor - open, floor - open);
#pragma unroll
  for (int k = 0; k < NC; k++) l.g[k] = __vmaxs2(l.g[k], g), l.f[k] = __vmaxs2(l.f[k], gap);
  l.corner = __vmaxs2(l.corner, g);
  l.h = __vmaxs2(l.h, h);
  l.e = __vmaxs2(l.e, gap);
  l.spoiled |= most - a.open_extend - l.base > a.reach;
  dp_narrow_settle<NC>(l, peak);
}

/** A chunk is left out: H = 0 behind it. */
template <int NC>
static __device__ __forceinline__ void
dp_narrow_rest(const dp_affine_args &a, const dp_affine_peak &peak, dp_narrow_lane<NC> &l) {
  const int open = a.open_extend - a.extend;
  l.base = 0;
  for (int k = 0; k < NC; k++) {
    l.g[k] = dp_pack(-a.open_extend, -a.open_extend);
    l.f[k] = dp_pack(-open, -open);
  }
  l.corner = dp_pack(-a.open_extend, -a.open_extend);
  l.h = 0;
  l.e = dp_pack(-open, -open);
  dp_narrow_settle<NC>(l, peak);
}

/**
 * Wait for a chunk of the strip before and bring it in as dp_narrow_take does, with all values
 * around it raised to what the whole table has at least.
 * @return PRUNE: can a best cell lie in it or beyond? The same in all lanes.
 */
template <int NC, bool PRUNE>
static __device__ __forceinline__ bool
dp_narrow_meet(const dp_affine_args &a, const dp_narrow_place &p, int chunk, uint32_t *known,
               uint32_t *in, dp_narrow_lane<NC> &l, dp_affine_peak &peak) {
  const int row = chunk * DP_AFFINE_CHUNK + p.lane, open = a.open_extend - a.extend;
  int least, most, score = 0;
  int2 at = make_int2(0, -open);
  dp_narrow_extent<NC>(a, l, &least, &most);
  if (chunk * DP_AFFINE_CHUNK < a.rows_n) {
    dp_affine_wait(a, p.strip, chunk, p.lane, known);
    if (row < a.rows_n) at = __ldcg(&p.left[row + 1]);
    if (row < a.rows_n && at.x > most) most = at.x;
    if (row < a.rows_n && at.x < least) least = at.x;
  }
  dp_narrow_span(&least, &most);
  if (PRUNE &&
      !dp_affine_worth(a, DP_NARROW_HALVES * NC, p.strip, chunk, p.lane, most, peak, &score))
    return false;
  if (!PRUNE && a.known != NULL) score = __ldcg(a.known);
  const int floor = dp_narrow_floor(a, most), far = a.reach / 2 + a.open_extend;
  const bool low = least < floor;
  least = low ? floor : least;
  if (low || most - l.base > far || least - l.base < a.open_extend - a.reach / 2)
    dp_narrow_lift<NC>(a, least, most, peak, l);
  const int h = at.x > floor ? at.x : floor;
  if (chunk * DP_AFFINE_CHUNK < a.rows_n) {
    in[p.lane] = dp_pack(h - l.base, (at.y > h - open ? at.y : h - open) - l.base);
    score = at.x > score ? at.x : score;
    if (dp_affine_raise(score - a.open_extend - 1, peak)) dp_narrow_settle<NC>(l, peak);
  }
  __syncwarp();
  return true;
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
    __stcg(&p.right[row - p.exit % 2 + 1], dp_affine_pass(a, h + l.base, e + l.base));
  }
}

/** Profiles of the letters of both halves' rows. */
typedef struct dp_narrow_letters {
  const uint32_t *mine; /**< of letter 0 */
  const uint32_t *high;
  int next;      /**< letter of the low half's next row */
  uint8_t *ring; /**< letters of rows r at r % DP_NARROW_RING, for all lanes */
} dp_narrow_letters;

/** The ring's letters of the chunk's rows and the next one's first, less the first row, which it
 *  has. From memory they come late to those who wait for each: others' messages empty the cache. */
static __device__ __forceinline__ void dp_narrow_fetch(const dp_affine_args &a, int chunk, int lane,
                                                       const dp_narrow_letters &t) {
  const int row = chunk * DP_AFFINE_CHUNK + 1 + lane;
  t.ring[row & (DP_NARROW_RING - 1)] = (unsigned)row < (unsigned)a.rows_n ? a.rows[row] : 0;
}

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
    t.next = t.ring[(row + 1) & (DP_NARROW_RING - 1)];
    const uint32_t directions = dp_narrow_row<NC, LOCAL, MODE == DP_AFFINE_WAYS, RAGGED, RAMP>(
        l, low, t.high, __byte_perm(h, l.h, 0x5432), __byte_perm(e, l.e, 0x5432), p.stop, live);
    t.high = low + dp_narrow_size<NC>::LETTER / 2;
    if (LOCAL) dp_narrow_look<NC, RAMP>(l, row, p.first, live, peak);
    dp_narrow_write<NC, MODE, RAGGED, RAMP>(a, p, l, row, live, directions, out);
    if (!RAGGED && s == DP_AFFINE_CHUNK - 2 && chunk >= DP_AFFINE_LAG)
      dp_affine_give(a, p.right, p.strip, chunk - DP_AFFINE_LAG, p.lane, out);
  }
}

/** Give up: tell the host, and let nobody wait. */
static __device__ __forceinline__ void dp_narrow_leave(const dp_affine_args &a, int strip,
                                                       int lane) {
  if (lane == 0) *(volatile uint32_t *)a.spoiled = 1;
  dp_post_counter(&a.finished[strip], 0x7fffffffu, lane);
}

/** Hand over the rows of n chunks that were left out, those which their steps would have ended. */
template <int NC, bool RAGGED>
static __device__ __forceinline__ void dp_narrow_pass(const dp_affine_args &a,
                                                      const dp_narrow_place &p, int chunk, int n) {
  const int late = RAGGED ? p.exit : DP_AFFINE_LAG * DP_AFFINE_CHUNK;
  for (int k = 0; k < n; k++) {
    const int row = (chunk + k) * DP_AFFINE_CHUNK + p.lane - late;
    if (row >= 0 && row < a.rows_n)
      __stcg(&p.right[row + 1], dp_affine_pass(a, 0, DP_MINUS_INFINITY));
  }
  if (!RAGGED && chunk + n > DP_AFFINE_LAG)
    dp_post_counter(&a.finished[p.strip], (uint32_t)(chunk + n - DP_AFFINE_LAG), p.lane);
}

/**
 * After a chunk that was left out: how many together may be left out, too, the next one at least
 * done by the strip before? Behind such a chunk nothing but the edge comes in. Each by itself takes
 * as long as a message from strip to strip. @return 0: to be seen of the next one alone
 */
template <int NC>
static __device__ __forceinline__ int dp_narrow_leap(const dp_affine_args &a,
                                                     const dp_narrow_place &p, int chunk,
                                                     uint32_t *known, const dp_affine_peak &peak) {
  const int first = chunk * DP_AFFINE_CHUNK;
  int most = 0, least = 0, score;
  if (chunk < DP_AFFINE_LAG || first + DP_NARROW_LEAP * DP_AFFINE_CHUNK > a.rows_n) return 0;
  dp_affine_wait(a, p.strip, chunk, p.lane, known);
  if (p.strip > 0 && *known < (uint32_t)chunk + DP_NARROW_LEAP) return 0;
#pragma unroll 8
  for (int k = 0; k < DP_NARROW_LEAP; k++) {
    const int h = __ldcg(&p.left[first + k * DP_AFFINE_CHUNK + p.lane + 1]).x;
    most = h > most ? h : most;
  }
  dp_narrow_span(&least, &most);
  return dp_affine_worth(a, DP_NARROW_HALVES * NC, p.strip, chunk, p.lane, most, peak, &score)
             ? 0
             : DP_NARROW_LEAP;
}

/** Begin with a chunk: the letters of all lanes' rows before it. */
template <int NC>
static __device__ __forceinline__ void dp_narrow_begin(const dp_affine_args &a,
                                                       const dp_narrow_place &p, int chunk,
                                                       dp_narrow_letters &t) {
  const int row = chunk * DP_AFFINE_CHUNK - DP_AFFINE_LAG * p.lane;
  for (int k = 1; k <= DP_AFFINE_LAG + 1; k++) dp_narrow_fetch(a, chunk - k, p.lane, t);
  __syncwarp();
  t.next = t.ring[row & (DP_NARROW_RING - 1)];
  t.high = t.mine + t.ring[(row - 1) & (DP_NARROW_RING - 1)] * dp_narrow_size<NC>::LETTER +
           dp_narrow_size<NC>::LETTER / 2;
}

template <int NC, int MODE, bool RAGGED>
static __device__ __forceinline__ dp_narrow_place dp_narrow_place_of(const dp_affine_args &a,
                                                                     int strip, int lane) {
  const int first = (strip * DP_NARROW_HALVES + 2 * lane) * NC;
  const int last = a.columns_n - 1 - strip * DP_NARROW_HALVES * NC;
  const int exit = RAGGED ? last / NC : DP_NARROW_HALVES - 1;
  return {strip,
          lane,
          first,
          exit,
          lane == exit / 2 ? last % NC : -1,
          dp_affine_left<MODE>(a, strip),
          dp_affine_right<MODE>(a, strip)};
}

/** One strip from the first row to the last. */
template <int NC, bool LOCAL, int MODE, bool RAGGED>
static __device__ __forceinline__ void dp_narrow_strip(const dp_affine_args &a, int strip, int lane,
                                                       uint32_t *profile, uint32_t *in, int2 *out) {
  constexpr bool PRUNE = LOCAL && (MODE == DP_AFFINE_VALUES || MODE == DP_AFFINE_SIDES);
  const int chunks = dp_affine_chunks(a.rows_n, DP_AFFINE_LAG);
  const dp_narrow_place p = dp_narrow_place_of<NC, MODE, RAGGED>(a, strip, lane);
  const int grains = DP_NARROW_HALVES * NC / DP_AFFINE_GRAIN, grain = strip * grains;
  dp_affine_peak peak;
  dp_narrow_letters t = {profile + dp_narrow_size<NC>::WORDS * lane, NULL, 0,
                         (uint8_t *)(in + DP_AFFINE_CHUNK)};
  dp_narrow_lane<NC> l;
  uint32_t known = 0;
  int rested = 0; /* PRUNE: chunks left out */
  bool rests = false;
  dp_narrow_profile<NC>(a, p, profile);
  if (!dp_affine_follow(a, grain, grains, lane)) return dp_narrow_leave(a, strip, lane);
  if (PRUNE && strip == 0 && lane == 0 && a.known != NULL) atomicMax(a.known, a.edge[0].y);
  peak = dp_affine_peak_of(a, grain, grains);
  dp_narrow_load<NC, LOCAL>(a, p, l);
  dp_narrow_settle<NC>(l, peak);
  __syncwarp();
  dp_narrow_begin<NC>(a, p, 0, t);
  for (int chunk = 0; chunk < chunks; chunk++) {
    if (LOCAL) {
      int left = PRUNE && rests ? dp_narrow_leap<NC>(a, p, chunk, &known, peak) : 0;
      if (left == 0 && !l.spoiled && !dp_narrow_meet<NC, PRUNE>(a, p, chunk, &known, in, l, peak))
        left = 1;
      if (PRUNE && left > 0) {
        if (!rests) dp_narrow_rest<NC>(a, peak, l);
        dp_narrow_pass<NC, RAGGED>(a, p, chunk, left);
        rests = true;
        rested += left;
        chunk += left - 1;
        continue;
      }
    } else {
      dp_narrow_check<NC>(a, peak, l);
      if (chunk * DP_AFFINE_CHUNK < a.rows_n) dp_narrow_take<NC>(a, p, chunk, &known, in, l);
    }
    if (l.spoiled) return dp_narrow_leave(a, strip, lane);
    if (PRUNE && rests) {
      dp_narrow_begin<NC>(a, p, chunk, t);
      if (lane == DP_WARP - 1) out[0] = dp_affine_pass(a, 0, DP_MINUS_INFINITY);
    }
    rests = false;
    dp_narrow_fetch(a, chunk, lane, t);
    __syncwarp();
    if (chunk < DP_AFFINE_LAG || (chunk + 1) * DP_AFFINE_CHUNK > a.rows_n)
      dp_narrow_chunk<NC, LOCAL, MODE, RAGGED, true>(a, p, chunk, l, t, in, out, peak);
    else
      dp_narrow_chunk<NC, LOCAL, MODE, RAGGED, false>(a, p, chunk, l, t, in, out, peak);
  }
  dp_narrow_store<NC>(a, p, l);
  if (PRUNE && lane == 0 && rested > 0)
    atomicAdd(a.rested, (unsigned long long)rested * DP_AFFINE_CHUNK * DP_NARROW_HALVES * NC);
  if (LOCAL) dp_affine_settle(a, lane, peak, grain, grains);
  dp_affine_turn<MODE>(a, strip, lane, DP_NARROW_HALVES * NC);
  dp_affine_mark(a, grain, grains, lane, a.spoiled);
}

template <int NC, bool LOCAL, int MODE>
__global__ void __launch_bounds__(128) dp_narrow_kernel(const __grid_constant__ dp_affine_args a) {
  const int lane = threadIdx.x % DP_WARP, warp = threadIdx.x / DP_WARP;
  uint32_t *profile = (uint32_t *)((char *)dp_shared() + warp * dp_affine_shared(NC, a.letters));
  int2 *out = (int2 *)(profile + a.letters * dp_narrow_size<NC>::LETTER);
  uint32_t *in = (uint32_t *)(out + DP_AFFINE_CHUNK);
  for (;;) {
    const uint32_t strip = dp_affine_next(a, lane);
    if (strip >= (uint32_t)a.strips) return;
    if ((strip + 1) * DP_NARROW_HALVES * NC > (uint32_t)a.columns_n)
      dp_narrow_strip<NC, LOCAL, MODE, true>(a, (int)strip, lane, profile, in, out);
    else
      dp_narrow_strip<NC, LOCAL, MODE, false>(a, (int)strip, lane, profile, in, out);
    __syncwarp();
  }
}
