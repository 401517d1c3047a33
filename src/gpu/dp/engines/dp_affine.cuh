/**
 * @file dp_affine.cuh
 * Strips of an alignment with affine gaps (Gotoh 1982), 32 bits for each value; those with 16 bits
 * are in dp_affine_narrow.cuh.
 *
 *   E[i][j] = max(E[i][j-1], H[i][j-1] - open) - extend        a gap among the columns
 *   F[i][j] = max(F[i-1][j], H[i-1][j] - open) - extend        a gap among the rows
 *   H[i][j] = max(H[i-1][j-1] + s(a_i, b_j), E, F, and 0 when local)
 *
 * A warp owns a strip of 32 NC columns and walks down the rows, lane l one row behind lane l - 1,
 * NC columns in the registers of a lane. A lane keeps G = H - open - extend and F of the row above;
 * the scores it adds, s + open + extend, lie in shared memory for each letter (the profile), so a
 * cell is three fused add-max, one max and one addition. H and E of the last column go to the next
 * strip through one list of edges in the device memory, 32 rows at a time: a strip replaces what it
 * has read, and counts the rows that it has finished. What it writes is E' (dp.h), which is as
 * good to the next strip and what all devices have where the edge leaves the band.
 *
 * Block pruning (Sandes and de Melo 2013) of local alignments in 16 bits. A path that crosses a
 * chunk of a strip comes from a value around it, and gains a pair at most in each row and column
 * that is left. Where even so it stays below a score that some cell has (known), the chunk is left
 * out and H = 0 put behind it. No value then is above that of the whole table, and all on a path
 * to a best cell are what they are there: none of these crosses a chunk left out. So the best cell
 * is the same, also among several, and so is every direction on the way back from it.
 *
 * Chained launches. At the end of a launch the card empties as strips end, and at the begin of the
 * next it fills as they begin one after another. So the launch of the next rows may be on the card
 * while the one before drains (dp_affine_start). What it takes over, by columns:
 *   - rows h and f and best cells: three sets in turn. Launch n reads set n and writes set n + 1,
 *     which launch n - 1 does not touch: that reads set n - 1, and n - 2 has ended.
 *   - marks: for each DP_AFFINE_GRAIN columns the number of the last launch that has written them.
 *     A strip sets those of its columns when it ends (release) and begins when its own and the one
 *     on their left, which has its corner, are those of the launch before (acquire).
 *   - everything else (edge, counters, ticket, spoiled) exists twice, for launches of even and odd
 *     number.
 * Launches hand over columns and not strips: 16 and 32 bits have strips of different widths.
 *
 * Why nobody waits for ever:
 *   - At most two launches are under way: n is queued after the host has seen the end of n - 2. So
 *     a strip of n - 1 finds all marks of n - 2 set and waits for strips of its own launch only,
 *     which warps that run have taken by the ticket. n - 1 ends if one of its blocks gets a place.
 *   - A block of n that waits keeps its place. But launches that overlap are of the same kernel and
 *     shape, and a chained grid has one block less than the card has places: were all the blocks of
 *     n there, one place would be left, and only n - 1 can take it. No order in which the card
 *     begins blocks is relied upon. (Where several processes have blocks on a card at once, as by
 *     MPS, the last place may go to another; that n - 1 was queued before n then has to do.)
 *   - What n - 1 needs before its kernel (copies, zeros) is done before n begins (an event), and
 *     after it there are copies alone. So no other kernel needs a place in between.
 *   - 16 bits that do not hold: a strip that gives up sets no mark, nor does a strip to its right,
 *     whose edge is then not good. A strip that waits for a mark looks whether the launch before
 *     has given up, and does the same. The host does n - 1 again in 32 bits when both have ended,
 *     and launches n again.
 * A warp that waits for the launch before sleeps between two looks, longer each time: the strips of
 * that launch need the issue slots.
 */
#pragma once

#include "dp_affine_args.cuh"

/** Cells of a lane in one row, and what passes through it. */
template <int NC> struct dp_affine_lane {
  int g[NC], f[NC];   /**< row above: H - open - extend, F */
  int corner;         /**< G of the row above, of the column before the first */
  int h, e;           /**< H and E of the last column of the row just done */
  int exit_h, exit_e; /**< ragged: the same of the last real column */
};

/**
 * Best cell of a lane: g as in dp_affine_lane. A cell is looked for where g rises above bar only:
 * that of the peak, or one below the largest of the edge, whose cells are to the left and as good,
 * or one below a score that the table is known to have.
 * So a strip to the right of a path on which H grows, where each row beats the one before it by
 * gaps from that path alone, looks for none of them; the best cell of all strips is never missed.
 */
typedef struct dp_affine_peak {
  int g, row, column, bar;
} dp_affine_peak;

/** Best cell of a strip above the tile: of `count` grains. The same in all lanes. */
static __device__ __forceinline__ dp_best dp_affine_best_of(const dp_affine_args &a, int grain,
                                                            int count) {
  dp_best best = {0, 0, 0};
  for (int k = grain; k < grain + count; k++) {
    const long long *from = (const long long *)&a.best_above[k];
    const dp_best x = {__ldcg(from), __ldcg(from + 1), __ldcg(from + 2)};
    const bool sooner = x.row < best.row || (x.row == best.row && x.column < best.column);
    if (x.score > best.score || (x.score == best.score && x.score > 0 && sooner)) best = x;
  }
  return best;
}

static __device__ __forceinline__ dp_affine_peak dp_affine_peak_of(const dp_affine_args &a,
                                                                   int grain, int count) {
  const int g = (int)dp_affine_best_of(a, grain, count).score - a.open_extend;
  return {g, INT32_MAX, INT32_MAX, g};
}

/** The bar to the largest of all lanes' bars; the same answer in all lanes: did it rise in one?
 *  Every lane calls it. */
static __device__ __forceinline__ bool dp_affine_raise(int bar, dp_affine_peak &peak) {
  for (int d = 16; d > 0; d /= 2) {
    const int other = __shfl_xor_sync(DP_ALL_LANES, bar, d);
    bar = other > bar ? other : bar;
  }
  const bool higher = bar > peak.bar;
  if (higher) peak.bar = bar;
  return __any_sync(DP_ALL_LANES, higher);
}

/**
 * May a best cell lie in a chunk of rows of a strip, or on a path through it? H around it is at
 * most `most`, and each row and column adds a pair at most. Tells others the lane's peak before.
 * The same answer in all lanes.
 * @param[in]  width  columns of a strip
 * @param[out] score  one that the table has; untouched where nothing is left out
 */
static __device__ __forceinline__ bool dp_affine_worth(const dp_affine_args &a, int width,
                                                       int strip, int chunk, int lane, int most,
                                                       const dp_affine_peak &peak, int *score) {
  if (a.known == NULL) return true;
  const int late = (chunk - DP_AFFINE_LAG) * DP_AFFINE_CHUNK; /* rows of the last lane */
  const int64_t rows = a.rows_left - (late > 0 ? late : 0);
  const int64_t columns = a.columns_left - (int64_t)strip * width;
  const int64_t reached = (most > 0 ? most : 0) + a.pair * (rows < columns ? rows : columns);
  const int known = __ldcg(a.known), mine = peak.g + a.open_extend;
  if (mine > known && (a.spoiled == NULL || dp_load_acquire(a.spoiled) == 0))
    atomicMax(a.known, mine);
  *score = __shfl_sync(DP_ALL_LANES, known, 0);
  return reached >= *score;
}

template <int NC>
static __device__ __forceinline__ void dp_affine_profile(const dp_affine_args &a, int first,
                                                         int lane, int *profile) {
  for (int k = 0; k < NC; k++) {
    const int letter = a.columns[first + k];
    for (int x = 0; x < a.letters; x++)
      profile[(x * (NC / 4) + k / 4) * 128 + lane * 4 + k % 4] =
          a.scores[x * (a.letters + 1) + letter] + a.open_extend;
  }
}

/** One row. @param[in] scores  profile of the row's letter, from the lane's part on
 *  @param[in] h, e  of the column to the left @param[in] stop  ragged: last real column, or -1
 *  @return KEEP: directions, four bits for each column */
template <int NC, bool LOCAL, bool KEEP, bool RAGGED>
static __device__ __forceinline__ uint32_t dp_affine_row(const dp_affine_args &a,
                                                         dp_affine_lane<NC> &l, const int4 *scores,
                                                         int h, int e, int stop) {
  int left = h - a.open_extend, diagonal = l.corner;
  uint32_t directions = 0;
  l.corner = left;
#pragma unroll
  for (int k4 = 0; k4 < NC / 4; k4++) {
    const int4 four = scores[k4 * 32];
    const int s[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int k = 4 * k4 + q, up = l.g[k];
      const int f = __viaddmax_s32(l.f[k], -a.extend, up);
      const int e_new = __viaddmax_s32(e, -a.extend, left);
      const int pair =
          LOCAL ? __viaddmax_s32_relu(diagonal, s[q], f) : __viaddmax_s32(diagonal, s[q], f);
      h = pair > e_new ? pair : e_new;
      if (KEEP) {
        const uint32_t from = LOCAL && h == 0        ? DP_FROM_NOTHING
                              : h == diagonal + s[q] ? DP_FROM_PAIR
                              : h == e_new           ? DP_FROM_LEFT
                                                     : DP_FROM_UP;
        directions |= (from | (e_new != left ? DP_LEFT_EXTENDS : 0) | (f != up ? DP_UP_EXTENDS : 0))
                      << (4 * k);
      }
      e = e_new;
      diagonal = up;
      left = h - a.open_extend;
      l.g[k] = left;
      l.f[k] = f;
      if (RAGGED && k == stop) l.exit_h = h, l.exit_e = e;
    }
  }
  l.h = h;
  l.e = e;
  return directions;
}

/** Remember the first column of the row whose value is above the peak. */
template <int NC>
static __device__ __forceinline__ void dp_affine_look(const dp_affine_lane<NC> &l, int row,
                                                      int first, dp_affine_peak &peak) {
  int most = l.g[0];
#pragma unroll
  for (int k = 1; k + 1 < NC; k += 2) most = __vimax3_s32(most, l.g[k], l.g[k + 1]);
  most = most > l.g[NC - 1] ? most : l.g[NC - 1];
  if (most <= peak.bar) return;
  peak.g = peak.bar = most;
  peak.row = row;
#pragma unroll
  for (int k = NC - 1; k >= 0; k--)
    if (l.g[k] == most) peak.column = first + k;
}

/** The best of all lanes and of the rows above, for the rows below: score, then smallest row, then
 *  smallest column. */
static __device__ __forceinline__ void dp_affine_settle(const dp_affine_args &a, int lane,
                                                        dp_affine_peak peak, int grain, int count) {
  dp_best best = dp_affine_best_of(a, grain, count);
  for (int d = 16; d > 0; d /= 2) {
    dp_affine_peak other;
    other.g = __shfl_xor_sync(DP_ALL_LANES, peak.g, d);
    other.row = __shfl_xor_sync(DP_ALL_LANES, peak.row, d);
    other.column = __shfl_xor_sync(DP_ALL_LANES, peak.column, d);
    const bool better =
        other.g > peak.g ||
        (other.g == peak.g &&
         (other.row < peak.row || (other.row == peak.row && other.column < peak.column)));
    if (better) peak = other;
  }
  if ((int64_t)peak.g + a.open_extend > best.score)
    best = {(int64_t)peak.g + a.open_extend, a.row0 + peak.row + 1, (int64_t)peak.column + 1};
  if (lane < count) a.best_below[grain + lane] = lane == 0 ? best : dp_best{0, 0, 0};
}

template <int NC>
static __device__ __forceinline__ void dp_affine_load(const dp_affine_args &a, int first,
                                                      dp_affine_lane<NC> &l) {
#pragma unroll
  for (int k = 0; k < NC; k++) {
    l.g[k] = __ldcg(&a.h_above[first + k]) - a.open_extend;
    l.f[k] = __ldcg(&a.f_above[first + k]);
  }
  l.corner = (first == 0 ? a.edge[0].x : __ldcg(&a.h_above[first - 1])) - a.open_extend;
  l.h = l.e = l.exit_h = l.exit_e = 0;
}

template <int NC>
static __device__ __forceinline__ void dp_affine_store(const dp_affine_args &a, int first,
                                                       const dp_affine_lane<NC> &l) {
#pragma unroll
  for (int k = 0; k < NC; k++) {
    a.h_below[first + k] = l.g[k] + a.open_extend;
    a.f_below[first + k] = l.f[k];
  }
}

/** CELLS: H of a row to the table. */
template <int NC>
static __device__ __forceinline__ void dp_affine_show(const dp_affine_args &a, int row, int first,
                                                      const dp_affine_lane<NC> &l) {
#pragma unroll
  for (int k = 0; k < NC; k++)
    if (first + k < a.columns_n) a.cells[row * a.ld + first + k] = l.g[k] + a.open_extend;
}

/** Wait until the launch before has done the columns of a strip, `count` grains, and its corner.
 *  @return false: it has given up; the same in all lanes */
static __device__ __forceinline__ bool dp_affine_follow(const dp_affine_args &a, int grain,
                                                        int count, int lane) {
  enum { FIRST_NAP = 128, LONGEST_NAP = 8192 }; /* ns */
  const int mine = grain - 1 + lane;
  const bool asks = mine >= 0 && lane <= count && mine * DP_AFFINE_GRAIN < a.columns_n;
  for (unsigned nap = FIRST_NAP;; nap = nap < LONGEST_NAP ? 2 * nap : nap) {
    const bool here = !asks || dp_load_acquire(&a.marks[mine]) + 1 >= a.number;
    if (__all_sync(DP_ALL_LANES, here)) break;
    const bool lost = lane == 0 && a.given_up != NULL && dp_load_acquire(a.given_up) != 0;
    if (__any_sync(DP_ALL_LANES, lost)) return false;
    __nanosleep(nap);
  }
  __syncwarp();
  return true;
}

/** The columns of a strip are done; what the lanes have written is seen by who sees the marks. A
 *  launch that has given up marks nothing from there on. */
static __device__ __forceinline__ void dp_affine_mark(const dp_affine_args &a, int grain, int count,
                                                      int lane, const uint32_t *spoiled) {
  __syncwarp();
  if (lane >= count || (spoiled != NULL && dp_load_acquire(spoiled) != 0)) return;
  __threadfence();
  dp_store_release(&a.marks[grain + lane], a.number);
}

/** H and E as they go to the next strip: E', which is worth the same there. */
static __device__ __forceinline__ int2 dp_affine_pass(const dp_affine_args &a, int h, int e) {
  const int opened = h - (a.open_extend - a.extend);
  return make_int2(h, e > opened ? e : opened);
}

/** The edge to which a strip's rows go, and from which they come. */
template <int MODE>
static __device__ __forceinline__ int2 *dp_affine_right(const dp_affine_args &a, int strip) {
  return MODE == DP_AFFINE_SIDES ? a.sides + (int64_t)(strip / a.each) * (a.rows_n + 1) : a.edge;
}
template <int MODE>
static __device__ __forceinline__ const int2 *dp_affine_left(const dp_affine_args &a, int strip) {
  return strip == 0 ? a.edge : dp_affine_right<MODE>(a, strip - 1);
}

/** Last strip before an edge that stays, when it ends: the edge's corner, and of the one that
 *  leaves the score that the table has. All strips have read the one that came in.
 *  @param[in] columns  of a strip */
template <int MODE>
static __device__ __forceinline__ void dp_affine_turn(const dp_affine_args &a, int strip, int lane,
                                                      int columns) {
  const bool sides = MODE == DP_AFFINE_SIDES;
  if (lane != 0 || (sides ? (strip + 1) % a.each != 0 : strip != a.strips - 1)) return;
  dp_affine_right<MODE>(a, strip)[0] =
      make_int2(__ldcg(&a.h_above[sides ? (strip + 1) * columns - 1 : a.columns_n - 1]),
                a.known != NULL && !sides ? __ldcg(a.known) : DP_MINUS_INFINITY);
}

/** Wait for a chunk of the strip before. */
static __device__ __forceinline__ void dp_affine_wait(const dp_affine_args &a, int strip, int chunk,
                                                      int lane, uint32_t *known) {
  if (strip > 0 && *known < (uint32_t)chunk + 1) {
    uint32_t seen = 0;
    if (lane == 0) {
      while (*(volatile uint32_t *)&a.finished[strip - 1] < (uint32_t)chunk + 1)
        __nanosleep(DP_AFFINE_NAP);
      seen = dp_load_acquire(&a.finished[strip - 1]);
    }
    *known = __shfl_sync(DP_ALL_LANES, seen, 0);
  }
  __syncwarp(); /* lane 0 has read the chunk before */
}

/** Wait for a chunk and bring it in from the edge on the left. */
template <bool LOCAL>
static __device__ __forceinline__ void
dp_affine_take(const dp_affine_args &a, const int2 *left, int strip, int chunk, int lane,
               uint32_t *known, int2 *in, dp_affine_peak &peak) {
  const int row = chunk * DP_AFFINE_CHUNK + lane;
  int most = INT32_MIN / 2;
  dp_affine_wait(a, strip, chunk, lane, known);
  if (row < a.rows_n) {
    in[lane] = __ldcg(&left[row + 1]);
    most = in[lane].x;
  }
  if (LOCAL) dp_affine_raise(most - a.open_extend - 1, peak);
  __syncwarp();
}

/** Hand over a chunk, to the edge on the right. */
static __device__ __forceinline__ void dp_affine_give(const dp_affine_args &a, int2 *right,
                                                      int strip, int chunk, int lane,
                                                      const int2 *out) {
  const int row = chunk * DP_AFFINE_CHUNK + lane;
  __syncwarp();
  if (row < a.rows_n) __stcg(&right[row + 1], dp_affine_pass(a, out[lane].x, out[lane].y));
  dp_post_counter(&a.finished[strip], (uint32_t)chunk + 1, lane);
}

/** One strip from the first row to the last. */
template <int NC, bool LOCAL, int MODE, bool RAGGED>
static __device__ __forceinline__ void dp_affine_strip(const dp_affine_args &a, int strip, int lane,
                                                       int *profile, int2 *in, int2 *out) {
  const int first = (strip * DP_WARP + lane) * NC, chunks = dp_affine_chunks(a.rows_n, 1);
  const int last = a.columns_n - 1 - strip * DP_WARP * NC; /* ragged: last column in the strip */
  const int exit = RAGGED ? last / NC : DP_WARP - 1, stop = lane == exit ? last % NC : -1;
  const int grains = DP_WARP * NC / DP_AFFINE_GRAIN, grain = strip * grains;
  const int2 *const left = dp_affine_left<MODE>(a, strip);
  int2 *const right = dp_affine_right<MODE>(a, strip);
  dp_affine_lane<NC> l;
  dp_affine_peak peak;
  uint32_t known = 0;
  dp_affine_profile<NC>(a, first, lane, profile);
  (void)dp_affine_follow(a, grain, grains, lane); /* 32 bits hold */
  peak = dp_affine_peak_of(a, grain, grains);
  dp_affine_load<NC>(a, first, l);
  __syncwarp();
  const int4 *mine = (const int4 *)profile + lane;
  int letter = lane == 0 && a.rows_n > 0 ? a.rows[0] : 0;
  for (int chunk = 0; chunk < chunks; chunk++) {
    if (chunk * DP_AFFINE_CHUNK < a.rows_n)
      dp_affine_take<LOCAL>(a, left, strip, chunk, lane, &known, in, peak);
#pragma unroll 2
    for (int s = 0; s < DP_AFFINE_CHUNK; s++) {
      const int step = chunk * DP_AFFINE_CHUNK + s, row = step - lane;
      const int4 *scores = mine + letter * (NC / 4) * 32;
      int h = __shfl_up_sync(DP_ALL_LANES, l.h, 1), e = __shfl_up_sync(DP_ALL_LANES, l.e, 1);
      if (lane == 0) h = in[s].x, e = in[s].y;
      if ((unsigned)(row + 1) < (unsigned)a.rows_n) letter = a.rows[row + 1];
      if ((unsigned)row < (unsigned)a.rows_n) {
        const uint32_t directions =
            dp_affine_row<NC, LOCAL, MODE == DP_AFFINE_WAYS, RAGGED>(a, l, scores, h, e, stop);
        if (LOCAL) dp_affine_look<NC>(l, row, first, peak);
        if (MODE == DP_AFFINE_CELLS) dp_affine_show<NC>(a, row, first, l);
        if (MODE == DP_AFFINE_WAYS)
          a.history[(strip * a.steps + row + a.lag * lane) * DP_WARP + lane] = directions;
        if (!RAGGED && lane == exit) out[row % DP_AFFINE_CHUNK] = make_int2(l.h, l.e);
        if (RAGGED && lane == exit) __stcg(&right[row + 1], dp_affine_pass(a, l.exit_h, l.exit_e));
      }
      if (!RAGGED && s == DP_AFFINE_CHUNK - 2 && chunk > 0)
        dp_affine_give(a, right, strip, chunk - 1, lane, out);
    }
  }
  dp_affine_store<NC>(a, first, l);
  if (LOCAL) dp_affine_settle(a, lane, peak, grain, grains);
  dp_affine_turn<MODE>(a, strip, lane, DP_WARP * NC);
  dp_affine_mark(a, grain, grains, lane, NULL);
}

template <int NC, bool LOCAL, int MODE>
__global__ void __launch_bounds__(128) dp_affine_kernel(const __grid_constant__ dp_affine_args a) {
  const int lane = threadIdx.x % DP_WARP, warp = threadIdx.x / DP_WARP;
  int *profile = (int *)((char *)dp_shared() + warp * dp_affine_shared(NC, a.letters));
  int2 *in = (int2 *)(profile + a.letters * 32 * NC), *out = in + DP_AFFINE_CHUNK;
  if (a.spoiled != NULL && *a.spoiled == 0) return;
  for (;;) {
    const uint32_t strip = dp_affine_next(a, lane);
    if (strip >= (uint32_t)a.strips) return;
    if ((strip + 1) * DP_WARP * NC > (uint32_t)a.columns_n)
      dp_affine_strip<NC, LOCAL, MODE, true>(a, (int)strip, lane, profile, in, out);
    else
      dp_affine_strip<NC, LOCAL, MODE, false>(a, (int)strip, lane, profile, in, out);
    __syncwarp();
  }
}
