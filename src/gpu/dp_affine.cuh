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
 * has read, and counts the rows that it has finished. E becomes E' (dp.h) when an edge leaves the
 * band.
 */
#ifndef TSL_GPU_DP_AFFINE_CUH
#define TSL_GPU_DP_AFFINE_CUH

#include "dp_gpu.cuh"
#include "dp_ptx.cuh"

enum {
  DP_AFFINE_ALIGN = 1024,   /**< columns of state are a multiple of this */
  DP_AFFINE_KEEP_WIDTH = 8, /**< columns of a lane when directions are kept: one word a row */
  DP_AFFINE_CHUNK = 32,     /**< rows between messages of strips */
  DP_AFFINE_LAG = 2,        /**< 16 bits: rows between neighbouring lanes, and chunks between the
                             *   first and the last half lane */
};

/** Direction of a cell, four bits: the source of H, and whether E and F extend a gap. */
enum {
  DP_FROM_PAIR,
  DP_FROM_LEFT,
  DP_FROM_UP,
  DP_FROM_NOTHING, /**< local: the alignment begins after this cell */
  DP_FROM_MASK = 3,
  DP_LEFT_EXTENDS = 4,
  DP_UP_EXTENDS = 8,
};

/** What a launch writes besides rows and edges. */
enum dp_affine_mode { DP_AFFINE_VALUES, DP_AFFINE_WAYS, DP_AFFINE_CELLS };

typedef struct dp_affine_args {
  const int32_t *h_above, *f_above; /**< [stride] row above the tile */
  int32_t *h_below, *f_below;       /**< [stride] last row of the tile */
  const uint8_t *rows;              /**< [rows] letters of the tile's rows */
  const uint8_t *columns;           /**< [stride] letters; from m on `letters` */
  const int32_t *scores;            /**< [letters][letters + 1] s(row, column), last column -inf */
  int2 *edge;                       /**< [rows + 1] H and E; entry 0 is the row above */
  uint32_t *ticket, *finished;      /**< finished: [strips] chunks of rows */
  dp_best *best;                    /**< [strips] */
  uint32_t *history;                /**< WAYS: [strips][steps][32], row r of lane l in r + lag l */
  int32_t *cells;                   /**< CELLS: H of the tile's first cell, rows ld apart */
  int64_t ld;
  int64_t row0;  /**< row of the table above the tile */
  int64_t steps; /**< of history, a strip */
  int rows_n, columns_n, strips, letters, lag;
  int32_t open_extend, extend;
  int32_t reach;     /**< 16 bits: dp_narrow_measure */
  uint32_t *spoiled; /**< 16 bits: set to 1 when they did not hold; 32 bits: compute only when it is
                      *   1, NULL: always */
} dp_affine_args;

/** Steps of a strip, whole chunks; lag: rows that the last lane is behind the first, in chunks. */
static __host__ __device__ __forceinline__ int dp_affine_chunks(int rows, int lag) {
  return (rows + DP_AFFINE_CHUNK - 1) / DP_AFFINE_CHUNK + lag;
}

/** Columns of a lane, or of a half: 16, 8 or 4. Wide ones cost less for each cell, narrow ones make
 *  more strips; the profile must fit. @param[in] lanes  of a strip, or halves */
static inline int dp_affine_wide(int processors, int letters, int64_t columns, int64_t lanes) {
  for (int width = 16; width > 4; width /= 2)
    if (letters * width <= 128 && columns >= 6 * processors * lanes * width) return width;
  return 4;
}

/** Bytes of shared memory of a warp: the profile, and a chunk of edges in and out. */
static __host__ __device__ __forceinline__ int dp_affine_shared(int width, int letters) {
  return letters * 32 * width * 4 + 2 * DP_AFFINE_CHUNK * 8;
}

/** Cells of a lane in one row, and what passes through it. */
template <int NC> struct dp_affine_lane {
  int g[NC], f[NC];   /**< row above: H - open - extend, F */
  int corner;         /**< G of the row above, of the column before the first */
  int h, e;           /**< H and E of the last column of the row just done */
  int exit_h, exit_e; /**< ragged: the same of the last real column */
};

/**
 * Best cell of a lane: g as in dp_affine_lane. A cell is looked for where g rises above bar only:
 * that of the peak, or one below the largest of the edge, whose cells are to the left and as good.
 * So a strip to the right of a path on which H grows, where each row beats the one before it by
 * gaps from that path alone, looks for none of them; the best cell of all strips is never missed.
 */
typedef struct dp_affine_peak {
  int g, row, column, bar;
} dp_affine_peak;

static __device__ __forceinline__ dp_affine_peak dp_affine_peak_of(const dp_affine_args &a,
                                                                   int strip) {
  const int g = (int)a.best[strip].score - a.open_extend;
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

/** The best of all lanes to best: score, then smallest row, then smallest column. */
static __device__ __forceinline__ void dp_affine_settle(const dp_affine_args &a, int lane,
                                                        dp_affine_peak peak, dp_best *best) {
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
  if (lane != 0 || (int64_t)peak.g + a.open_extend <= best->score) return;
  best->score = (int64_t)peak.g + a.open_extend;
  best->row = a.row0 + peak.row + 1;
  best->column = (int64_t)peak.column + 1;
}

template <int NC>
static __device__ __forceinline__ void dp_affine_load(const dp_affine_args &a, int first,
                                                      dp_affine_lane<NC> &l) {
#pragma unroll
  for (int k = 0; k < NC; k++) {
    l.g[k] = a.h_above[first + k] - a.open_extend;
    l.f[k] = a.f_above[first + k];
  }
  l.corner = (first == 0 ? a.edge[0].x : a.h_above[first - 1]) - a.open_extend;
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

/** Wait for a chunk of the strip before. */
static __device__ __forceinline__ void dp_affine_wait(const dp_affine_args &a, int strip, int chunk,
                                                      int lane, uint32_t *known) {
  if (strip > 0 && *known < (uint32_t)chunk + 1) {
    uint32_t seen = 0;
    if (lane == 0) do
        seen = dp_load_acquire(&a.finished[strip - 1]);
      while (seen < (uint32_t)chunk + 1);
    *known = __shfl_sync(DP_ALL_LANES, seen, 0);
  }
  __syncwarp(); /* lane 0 has read the chunk before */
}

/** Wait for a chunk and bring it in. */
template <bool LOCAL>
static __device__ __forceinline__ void dp_affine_take(const dp_affine_args &a, int strip, int chunk,
                                                      int lane, uint32_t *known, int2 *in,
                                                      dp_affine_peak &peak) {
  const int row = chunk * DP_AFFINE_CHUNK + lane;
  int most = INT32_MIN / 2;
  dp_affine_wait(a, strip, chunk, lane, known);
  if (row < a.rows_n) {
    in[lane] = __ldcg(&a.edge[row + 1]);
    most = in[lane].x;
  }
  if (LOCAL) dp_affine_raise(most - a.open_extend - 1, peak);
  __syncwarp();
}

/** Hand over a chunk. */
static __device__ __forceinline__ void dp_affine_give(const dp_affine_args &a, int strip, int chunk,
                                                      int lane, const int2 *out) {
  const int row = chunk * DP_AFFINE_CHUNK + lane;
  __syncwarp();
  if (row < a.rows_n) __stcg(&a.edge[row + 1], out[lane]);
  dp_post_counter(&a.finished[strip], (uint32_t)chunk + 1, lane);
}

/** One strip from the first row to the last. */
template <int NC, bool LOCAL, int MODE, bool RAGGED>
static __device__ __forceinline__ void dp_affine_strip(const dp_affine_args &a, int strip, int lane,
                                                       int *profile, int2 *in, int2 *out) {
  const int first = (strip * DP_WARP + lane) * NC, chunks = dp_affine_chunks(a.rows_n, 1);
  const int last = a.columns_n - 1 - strip * DP_WARP * NC; /* ragged: last column in the strip */
  const int exit = RAGGED ? last / NC : DP_WARP - 1, stop = lane == exit ? last % NC : -1;
  dp_affine_lane<NC> l;
  dp_affine_peak peak = dp_affine_peak_of(a, strip);
  uint32_t known = 0;
  dp_affine_load<NC>(a, first, l);
  dp_affine_profile<NC>(a, first, lane, profile);
  __syncwarp();
  const int4 *mine = (const int4 *)profile + lane;
  int letter = lane == 0 && a.rows_n > 0 ? a.rows[0] : 0;
  for (int chunk = 0; chunk < chunks; chunk++) {
    if (chunk * DP_AFFINE_CHUNK < a.rows_n)
      dp_affine_take<LOCAL>(a, strip, chunk, lane, &known, in, peak);
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
        if (RAGGED && lane == exit) __stcg(&a.edge[row + 1], make_int2(l.exit_h, l.exit_e));
      }
      if (!RAGGED && s == DP_AFFINE_CHUNK - 2 && chunk > 0)
        dp_affine_give(a, strip, chunk - 1, lane, out);
    }
  }
  dp_affine_store<NC>(a, first, l);
  if (LOCAL) dp_affine_settle(a, lane, peak, &a.best[strip]);
}

template <int NC, bool LOCAL, int MODE>
__global__ void __launch_bounds__(128) dp_affine_kernel(const __grid_constant__ dp_affine_args a) {
  const int lane = threadIdx.x % DP_WARP, warp = threadIdx.x / DP_WARP;
  int *profile = (int *)((char *)dp_shared() + warp * dp_affine_shared(NC, a.letters));
  int2 *in = (int2 *)(profile + a.letters * 32 * NC), *out = in + DP_AFFINE_CHUNK;
  if (a.spoiled != NULL && *a.spoiled == 0) return;
  for (;;) {
    const uint32_t strip = dp_next_ticket(a.ticket, lane);
    if (strip >= (uint32_t)a.strips) return;
    if ((strip + 1) * DP_WARP * NC > (uint32_t)a.columns_n)
      dp_affine_strip<NC, LOCAL, MODE, true>(a, (int)strip, lane, profile, in, out);
    else
      dp_affine_strip<NC, LOCAL, MODE, false>(a, (int)strip, lane, profile, in, out);
    __syncwarp();
  }
}

typedef void (*dp_affine_function)(dp_affine_args);

/** The band. */
struct dp_affine {
  dp_card *card; /**< not owned */
  bool local;
  int width;   /**< columns of a lane, 0: chosen */
  int asked;   /**< bits of a value: 16, 32, or 0: chosen */
  bool packed; /**< the card has instructions for two values of 16 bits */
  int letters;
  int32_t open_extend, extend;
  int32_t reach, slope; /**< dp_narrow_measure */
  int64_t n, m, stride, first;
  int64_t row; /**< rows done */
  int now;     /**< h[now], f[now] are the last row */
  tsl_gpu_buffer rows, columns, scores, h[2], f[2], edge, finished, best;
  tsl_gpu_buffer history, steps;
  tsl_gpu_buffer flags;              /**< u32: spoiled, tiles done again */
  tsl_gpu_buffer old_edge, old_best; /**< as they were before a tile in 16 bits */
  int64_t edge_rows;                 /**< rows of the edge of the last tile */
  int64_t kept_lo, kept_hi, kept_steps;
  int kept_lag;
};

/** Bits of a value and columns of a lane (16 bits: of half a lane). */
typedef struct dp_affine_shape {
  int bits, width;
} dp_affine_shape;

/**
 * Of the band: reach, the largest |value| before a chunk of rows from which none leaves 16 bits in
 * it, 0 where the scores are too large for that; slope, by which H changes from cell to cell.
 */
void dp_narrow_measure(dp_affine *band, const dp_scores *scores);
/** Do 16 bits hold for sure in strips of 64 width columns? */
bool dp_narrow_fits(const dp_affine *band, int width);
/** The kernel of a mode. */
dp_affine_function dp_narrow_pick(bool local, int width, int mode);
/** Remember what a tile replaces. */
tsl_err dp_narrow_save(dp_affine *band, int64_t rows);
/** When 16 bits did not hold: all as before the tile, counters at zero. */
tsl_err dp_narrow_restore(dp_affine *band, int64_t rows);

#endif
