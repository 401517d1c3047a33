/**
 * @file dp_gpu.cuh
 * The family dp on a card: engines that compute tiles of a table, as host functions.
 *
 *   dp_gpu.cu         what the engines share
 *   dp_bits*.cu       longest common subsequence, unit edit distance     (dp_bits.cuh)
 *   dp_edit.cu        kernels of the latter
 *   dp_affine*.cu     global and local alignment with affine gaps        (dp_affine*.cuh)
 *   dp_engine.cuh     any recurrence; also as text for NVRTC             (dp_engine_text.h)
 *   dp_grid.cu        weighted edit distance, time warping by it        (dp_grid, dp_cells)
 *   dp_interval*.cu   matrix chain, search tree, Nussinov                (dp_interval*.cuh)
 *   dp_fold.cu        foldings, intervals with more tables               (dp_fold.cuh)
 *   dp_partition*.cu  sums over structures of foldings                   (dp_partition*.cuh)
 *   dp_knapsack*.cu   knapsacks                                          (dp_knapsack.cuh)
 *   dp_sweep.cuh      binomial, allotment, stagecoach
 *   dp_ptx.cuh        tickets, words and counters between warps
 *   dp_bench*.cu      measurements
 *   dp_backend_gpu*   the backend made of them (dp_backend_gpu.cuh)
 *
 * A *band* is a run of neighbouring columns that one worker owns. It holds the last row computed so
 * far, and a tile continues it: rows lo..hi-1 of the whole table, all columns of the band. What
 * comes in from the left and goes out to the right are the edges of dp.h, so bands of one card, of
 * several cards and of sockets can be chained in any mix, with the same bits.
 *
 * Edge pointers are host or device memory. NULL for a left edge means that the band begins with
 * the first column and the boundary of the table is to its left; NULL for a right edge means that
 * nobody wants it. Functions that put an edge into host memory wait for the card; all others queue
 * on the stream of the card and wait only where they return values.
 *
 * The *state* of a band is its last row as the engine has it, in device memory: get and put only
 * queue, and are cheaper than rows in the form that all devices share.
 */
#pragma once

#include "dp.h"
#include "gpu.cuh"

/** A card as the engines use it; one for each worker, shared by its bands. */
typedef struct dp_card {
  tsl_gpu_memory memory;
  int processors;   /**< multiprocessors */
  int shared_limit; /**< largest dynamic shared memory of a block, bytes */
  cudaStream_t stream;
  tsl_gpu_timer timer;
  tsl_gpu_buffer ticket; /**< u32 [8], counters of a launch */
} dp_card;

/** Set up on the current device. @param[in] memory_limit  bytes, 0: what the card gives */
tsl_err dp_card_open(int64_t memory_limit, dp_card *card);
/** Zeroed memory accepted. */
void dp_card_close(dp_card *card);
/** Wait for all that was queued. */
tsl_err dp_card_wait(dp_card *card);

/**
 * Go back through a kept tile by one warp, and wait.
 * @param[in,out] args    result and out are set here, to places in buffer
 * @param[in]     buffer  64 bytes, and one for each step that is possible
 * @param[in,out] values  what the kernel reads and leaves at args.result; the last: steps made
 * @param[out]    steps   one byte each; host
 */
template <class ARGS, int N>
tsl_err dp_card_walk(dp_card *card, void (*walk_kernel)(ARGS), ARGS args,
                     const tsl_gpu_buffer *buffer, long long (&values)[N], uint8_t *steps) {
  tsl_err err = TSL_OK;
  args.result = (long long *)buffer->data;
  args.out = (uint8_t *)buffer->data + 64;
  TSL_CUDA_TRY(
      cudaMemcpyAsync(args.result, values, sizeof values, cudaMemcpyDefault, card->stream));
  TSL_LAUNCH(walk_kernel, dim3(1), 32, 0, card->stream, args);
  TSL_CUDA_TRY(
      cudaMemcpyAsync(values, args.result, sizeof values, cudaMemcpyDefault, card->stream));
  TSL_TRY(dp_card_wait(card));
  TSL_CUDA_TRY(cudaMemcpy(steps, args.out, (size_t)values[N - 1], cudaMemcpyDefault));
done:
  return err;
}
/** Is this device memory? */
bool dp_card_holds(const void *memory);
/** Zero the ticket. */
tsl_err dp_card_reset(dp_card *card);
/** Blocks of `warps` warps that strips keep busy, at most what is resident of the kernel. */
tsl_err dp_card_blocks(const dp_card *card, const void *kernel, int warps, size_t shared_bytes,
                       int64_t strips, unsigned *blocks);
/** Test knob: the environment TSL_TEST_WARPS, warps of strips that a multiprocessor has at once; 0,
 *  or no number: as many as fit. Fewer make a shorter fill (dp_backend_gpu_fill.cu). */
int dp_card_most_warps(void);

/** Warps of a block, such that the strips spread over all multiprocessors: 1, 2 or 4. */
int dp_card_warps(const dp_card *card, int64_t strips);

/* -------------------------------------------------- longest common subsequence and edit distance
 */

struct dp_bits;
/** A band of DP_LCS or of DP_EDIT with unit costs. */
typedef struct dp_bits dp_bits;

/**
 * Open a band.
 * @param[in] problem  DP_LCS or DP_EDIT
 * @param[in] rows     [n] letters of the rows, bytes 0..255, host; copied
 * @param[in] columns  [m] letters of the band's columns, host; copied
 * @param[in] words    words of 32 columns in a lane: 1, 2 or 4; 0: chosen from m
 */
tsl_err dp_bits_open(dp_card *card, dp_problem problem, const uint8_t *rows, int64_t n,
                     const uint8_t *columns, int64_t m, int words, dp_bits **out);
void dp_bits_close(dp_bits **band);

/** Back to the boundary row above the table. */
tsl_err dp_bits_begin(dp_bits *band);

/**
 * Compute rows [lo, hi), which continue the rows before.
 * @param[in]  left   LCS uint32 [ceil(R/32)], EDIT uint32 [2][ceil(R/32)], dp.h
 * @param[out] right  the same of the last column; bits from R on are zero
 * @param[in]  keep   also keep the bits of all cells of the tile for dp_bits_trace; replaces those
 *                    of an earlier tile
 */
tsl_err dp_bits_tile(dp_bits *band, int64_t lo, int64_t hi, const uint32_t *left, uint32_t *right,
                     bool keep);

/** Bytes that keep needs for R rows of m columns. */
int64_t dp_bits_keep_bytes(dp_problem problem, int64_t rows, int64_t m);

/**
 * M[row][last column] - M[row][column before the first] of the last row computed. LCS: the sum over
 * all bands is the length; EDIT: add the row number M[row][0].
 */
tsl_err dp_bits_sum(dp_bits *band, int64_t *sum);

/**
 * Last row computed, as bits of columns: M[i][j] - M[i][j-1] is +1 (first), -1 (second, EDIT only).
 * uint32 [1 or 2][ceil(m/32)], bits from m on are zero. Together with the row number this is all
 * of a band's state: a special row or a checkpoint. For tests.
 */
tsl_err dp_bits_row_get(dp_bits *band, uint32_t *bits);
tsl_err dp_bits_row_put(dp_bits *band, const uint32_t *bits);

/** The state, device memory: the words of each part of a row of bits. */
tsl_err dp_bits_state_get(dp_bits *band, void *state);
tsl_err dp_bits_state_put(dp_bits *band, const void *state);

/**
 * Walk back through the tile kept last, from cell (*row, *column) until a side of the tile.
 * Cells are 1-based in the table: row in lo..hi, column in 0..m of the band; on return *row == lo
 * (the last row of the tile above) or *column == 0 (the band to the left).
 * LCS: left where M[i][j-1] = M[i][j], else up where M[i-1][j] = M[i][j], else a match.
 * EDIT: diagonal where it attains M[i][j], else left (insertion), else up (deletion).
 * @param[out] pairs  [room] pairs in descending order: LCS the matches, EDIT every diagonal step;
 *                    columns are counted in the band; host
 * @param[out] count  their number, at most min(hi - lo, m)
 */
tsl_err dp_bits_trace(dp_bits *band, int64_t *row, int64_t *column, dp_pair *pairs, int64_t room,
                      int64_t *count);
/** The same by the host, which gets all bits of the tile first. */
tsl_err dp_bits_trace_host(dp_bits *band, int64_t *row, int64_t *column, dp_pair *pairs,
                           int64_t room, int64_t *count);
/** Give back what was kept for the way back. */

/* ------------------------------------------------------------------- alignment with affine gaps */

struct dp_affine;
/** A band of DP_GLOBAL or DP_LOCAL. */
typedef struct dp_affine dp_affine;

/**
 * Open a band. Values have 16 bits where a bound proves that they hold and the card has
 * instructions for two of them at once, else 32; results are the same. Test knob: the environment
 * TSL_TEST_LANES=16 or 32, see dp_affine_force.
 * @param[in] problem  DP_GLOBAL or DP_LOCAL
 * @param[in] scores   open, extend >= 0, alphabet 1..32
 * @param[in] rows     [n] letters 0..alphabet-1, host; copied
 * @param[in] columns  [m] letters of the band's columns, host; copied
 * @param[in] total    columns of the whole table, for the overflow check
 * @param[in] first    columns before the band
 * @param[in] width    columns in a lane (16 bits: in half a lane): 4, 8 or 16; 0: chosen
 * @return TSL_ERR_INPUT for letters outside the alphabet or scores that may exceed 30 bits
 */
tsl_err dp_affine_open(dp_card *card, dp_problem problem, const letters_scores *scores,
                       const uint8_t *rows, int64_t n, const uint8_t *columns, int64_t m,
                       int64_t total, int64_t first, int width, dp_affine **out);
void dp_affine_close(dp_affine **band);
/**
 * DP_LOCAL: leave cells out from here on that can change no best cell and no way back from it
 * (dp_affine.cuh). Rows and edges then hold less than the table where none of these leads.
 * @param[in] rows, columns  of the table, from the band's first on
 * @param[in] known          a score that some cell of the table has, or 0
 */
tsl_err dp_affine_prune(dp_affine *band, int64_t rows, int64_t columns, int64_t known);
/** Cells left out so far; waits. */
tsl_err dp_affine_pruned(dp_affine *band, int64_t *cells);
tsl_err dp_affine_begin(dp_affine *band);

/** Compute rows [lo, hi). left, right: int32 [R + 1][2], H and E' as in dp.h; left may have any E'
 *  that gives the same max(E', H - open). keep: also the directions, for dp_affine_trace. */
tsl_err dp_affine_tile(dp_affine *band, int64_t lo, int64_t hi, const int32_t *left, int32_t *right,
                       bool keep);
int64_t dp_affine_keep_bytes(int64_t rows, int64_t m);
/** Columns of a state, and between edges, are a multiple of this. */
enum { DP_AFFINE_ALIGN = 1024 };
/** DP_LOCAL: as dp_affine_tile, with the edges right of each `every` columns, of which the band has
 *  a multiple. @param[out] sides  device memory, int32 [m / every][R + 1][2] */
tsl_err dp_affine_tile_sides(dp_affine *band, int64_t lo, int64_t hi, const int32_t *left,
                             int64_t every, int32_t *sides);

/**
 * dp_affine_tile in two halves, without keep: a tile begins while the one before drains. Start
 * queues rows [lo, hi), on a stream of its own but after all that the card's stream has; at most
 * two tiles are started and not finished, and meanwhile nothing but start, ended and finish is
 * called for the band. Results are the same. Tiles must have cells: lo < hi, columns.
 * @param[in]  left   device memory or NULL, must stay until finish
 * @param[out] right  pinned host memory or NULL, filled when finish returns
 * @return when it fails the tile is not started, or the card is lost
 */
tsl_err dp_affine_start(dp_affine *band, int64_t lo, int64_t hi, const int32_t *left,
                        int32_t *right);
/** Has the tile started first and not finished come to its end? Does not wait. */
bool dp_affine_ended(const dp_affine *band);
/** Wait for the tile started first and not finished.
 *  @param[out] seconds  from its begin, or the end of the one before when that is later, to its end
 */
tsl_err dp_affine_finish(dp_affine *band, double *seconds);

/** The same; H of row lo + r and column c of the band goes to cells[r * ld + c], device memory. */
tsl_err dp_affine_tile_cells(dp_affine *band, int64_t lo, int64_t hi, const int32_t *left,
                             int32_t *right, int32_t *cells, int64_t ld);

/** Bits of a value, 16 or 32, in which the band's tiles are computed, or tried. */
int dp_affine_bits(const dp_affine *band, bool keep);
/** 16: wherever 16 bits can be tried; a tile in which they do not hold is done again in 32, without
 *  the host. 32: always. 0: as said at dp_affine_open. */
void dp_affine_force(dp_affine *band, int bits);
/** Tiles done again in 32 bits so far. For tests. */
tsl_err dp_affine_again(dp_affine *band, int64_t *tiles);

/** The state, 8 bytes a column of device memory; put makes it table row `row`. */
tsl_err dp_affine_state_get(dp_affine *band, void *state);
tsl_err dp_affine_state_put(dp_affine *band, int64_t row, const void *state);

/** H and F of the last row computed, [m] each, host. F is what the row below may extend. For tests.
 */
tsl_err dp_affine_row_get(dp_affine *band, int32_t *h, int32_t *f);

/** DP_LOCAL: the best cell of the band so far. DP_GLOBAL: the last cell of the last row. */
tsl_err dp_affine_best(dp_affine *band, dp_best *best);
/** DP_LOCAL, before the first tile: the best cell above the row that a put has set. */
tsl_err dp_affine_best_put(dp_affine *band, const dp_best *best);

/**
 * Walk back through the tile kept last from *place until a side of the tile or, DP_LOCAL, the
 * begin of the alignment. Where several ways attain a value: end of a local alignment, pair, left,
 * up; a gap is opened where opening attains its value, else extended.
 * @param[out] steps  [room] dp_step as bytes, from the end to the begin; host
 * @param[out] count  at most (hi - lo) + m
 */
tsl_err dp_affine_trace(dp_affine *band, dp_place *place, uint8_t *steps, int64_t room,
                        int64_t *count);
/** The same by the host, which gets all directions of the tile first. */
tsl_err dp_affine_trace_host(dp_affine *band, dp_place *place, uint8_t *steps, int64_t room,
                             int64_t *count);

/* ------------------------------------------------ weighted edit distance, dynamic time warping */

struct dp_grid;
/** A band of DP_EDIT with any costs or of DP_LCS (values int32), or of DP_DTW (float or double). */
typedef struct dp_grid dp_grid;

/** @param[in] insert, remove, replace  costs >= 0 of a column's letter alone, of a row's letter
 * alone, of two different letters @param[in] total, first  columns of the table, and before the
 * band
 *  @return TSL_ERR_INPUT for negative costs or values that may exceed 30 bits */
tsl_err dp_grid_open_edit(dp_card *card, int64_t insert, int64_t remove, int64_t replace,
                          const uint8_t *rows, int64_t n, const uint8_t *columns, int64_t m,
                          int64_t total, int64_t first, dp_grid **out);

/** Lengths as they are defined, for whole tables. */
tsl_err dp_grid_open_lcs(dp_card *card, const uint8_t *rows, int64_t n, const uint8_t *columns,
                         int64_t m, int64_t first, dp_grid **out);

/** @param[in] type    TSL_F32 or TSL_F64
 *  @param[in] square  (x - y)^2 instead of |x - y|
 *  @param[in] rows, columns  [n], [m] of the type, finite, host; copied */
tsl_err dp_grid_open_dtw(dp_card *card, tsl_type type, bool square, const void *rows, int64_t n,
                         const void *columns, int64_t m, int64_t first, dp_grid **out);
void dp_grid_close(dp_grid **band);
tsl_err dp_grid_begin(dp_grid *band);

/** Compute rows [lo, hi). left, right: value [R + 1], dp.h. DTW has a row 0 and a column 0 of
 *  infinity with 0 in the corner, as if it had a boundary. keep: for dp_grid_trace. */
tsl_err dp_grid_tile(dp_grid *band, int64_t lo, int64_t hi, const void *left, void *right,
                     bool keep);
int64_t dp_grid_keep_bytes(int64_t rows, int64_t m);

/** The same; the value of row lo + r and column c of the band goes to cells[r * ld + c], device
 *  memory. */
tsl_err dp_grid_tile_cells(dp_grid *band, int64_t lo, int64_t hi, const void *left, void *right,
                           void *cells, int64_t ld);

/** The state, [dp_grid_state_bytes] device memory; put makes it table row `row`. */
int64_t dp_grid_state_bytes(const dp_grid *band);
tsl_err dp_grid_state_get(dp_grid *band, void *state);
tsl_err dp_grid_state_put(dp_grid *band, int64_t row, const void *state);

/** Last cell of the last row computed; m > 0. */
tsl_err dp_grid_last(dp_grid *band, double *value);

/** Walk back through the tile kept last, as dp_affine_trace: the diagonal where it attains the
 *  value, else left, else up. */
tsl_err dp_grid_trace(dp_grid *band, int64_t *row, int64_t *column, uint8_t *steps, int64_t room,
                      int64_t *count);
/** The same by the host, which gets all ways of the tile first. */
tsl_err dp_grid_trace_host(dp_grid *band, int64_t *row, int64_t *column, uint8_t *steps,
                           int64_t room, int64_t *count);

/* ----------------------------------------------------------------------------------- intervals */

enum {
  DP_INTERVAL_TILE = 64 /**< boxes begin and end at multiples of this, or at the last post */
};

/**
 * Posts 0..N-1 and a value X[a][b] for each pair a < b:
 *
 *   X[a][a+1] = base,   X[a][b] = best over a < k < b of X[a][k] + X[k][b] + term, then finish
 *
 *   MATRIX_CHAIN  N = n + 1, base 0, min, term d[a] d[k] d[b]; matrix t has d[t-1] x d[t]
 *   SEARCH_TREE   N = n + 2, keys at posts 1..n; base base[a]; min; finish adds high[b] - low[a];
 *                 split k is the root
 *   NUSSINOV      N = n + 1, X[a][b] = pairs of letters a..b-1, base 0, max; finish: where letters
 *                 a and b-1 pair and b-1 - a > loop, also X[a+1][b-1] + 1
 */
typedef struct dp_interval_input {
  dp_problem problem;
  int64_t n;
  const int64_t *dims;             /**< MATRIX_CHAIN: [n + 1], >= 0 */
  bool real;                       /**< SEARCH_TREE: doubles, else int64 */
  const void *high, *low;          /**< SEARCH_TREE: [n + 2], ascending, dp_tree_sums */
  const void *base;                /**< SEARCH_TREE: [n + 1] weights of gaps >= 0 */
  const uint8_t *letters;          /**< NUSSINOV: [n] 0..31; FOLD: A C G U are 0..3 */
  uint32_t pairs[32];              /**< NUSSINOV: bit y of pairs[x]: letters x and y may pair */
  int32_t loop;                    /**< NUSSINOV: unpaired letters that a pair must enclose, >= 0 */
  const struct rna_energy *energy; /**< FOLD */
  const int32_t *sizes;            /**< FOLD: [n + 1] hairpins by size */
} dp_interval_input;

struct dp_interval;
/** A triangle of values on a card, or the part of it that this worker needs. */
typedef struct dp_interval dp_interval;

/**
 * Open. Values are int32 (NUSSINOV), double (real) or int64; inside, doubles also where integers
 * are proven to stay below 2^53, which is exact.
 * @return TSL_ERR_INPUT where values may exceed 63 bits, TSL_ERR_DEVICE_MEMORY
 */
tsl_err dp_interval_open(dp_card *card, const dp_interval_input *input, dp_interval **out);
void dp_interval_close(dp_interval **w);
/** Number of posts. */
int64_t dp_interval_posts(const dp_interval *w);
/** Forget all values. */
tsl_err dp_interval_begin(dp_interval *w);

/**
 * Compute X[a][b] for a in [lo[0], hi[0]), b in [lo[1], hi[1]), a < b. All that it needs outside
 * of the box, X[a][k] and X[k][b], must have been computed or put before; NUSSINOV also needs
 * X[hi[0]][lo[1] - 1].
 */
tsl_err dp_interval_box(dp_interval *w, const int64_t lo[2], const int64_t hi[2]);

/** Compute n boxes that do not need each other in one launch; only queued. */
tsl_err dp_interval_boxes(dp_interval *w, const dp_box *boxes, int64_t n);

/** Take all values as computed and zero, to measure boxes by themselves; undone by begin. */
tsl_err dp_interval_pretend(dp_interval *w);

/** Values of a box, [hi[0] - lo[0]][hi[1] - lo[1]], zero where a >= b; host, or device memory and
 *  then only queued. */
tsl_err dp_interval_get(dp_interval *w, const int64_t lo[2], const int64_t hi[2], void *values);
/** Take in the values of a box that somebody else has computed; waits for pinned memory only. */
tsl_err dp_interval_put(dp_interval *w, const int64_t lo[2], const int64_t hi[2],
                        const void *values);

/** FOLD, whose values are V: all that others need of a box (dp.h, edges), in place of get and put;
 *  host, waits. And the energy of all letters, after the last box. */
tsl_err dp_interval_edge_out(dp_interval *w, const int64_t lo[2], const int64_t hi[2],
                             void *values);
tsl_err dp_interval_edge_in(dp_interval *w, const int64_t lo[2], const int64_t hi[2],
                            const void *values);
tsl_err dp_interval_energy(dp_interval *w, int32_t *energy);
/** X[a][b], or 0 when a == b; int64 (NUSSINOV too), or double when real. */
tsl_err dp_interval_value(dp_interval *w, int64_t a, int64_t b, void *value);

/**
 * A solution of the whole triangle, of which all values are here. MATRIX_CHAIN and SEARCH_TREE:
 * split k, 0 < k < N - 1, belongs to the interval (first[k], second[k]); the smallest k that
 * attains a value is its split. NUSSINOV: first[i] is the partner of letter i or -1 and second is
 * unused; the smallest split is taken where one attains the value, else the pair.
 * @param[out] first, second  [N], host
 */
tsl_err dp_interval_trace(dp_interval *w, int64_t *first, int64_t *second);

/* --------------------------------------------------------------------------------- knapsacks */

struct dp_knapsack;
/** A band of capacities of DP_KNAPSACK (0/1) or DP_KNAPSACK_UNBOUNDED. */
typedef struct dp_knapsack dp_knapsack;

/**
 * Open a band of the capacities first .. first + count - 1.
 * @param[in] weights, values  [n], >= 0, host; copied. A weight of 0 is taken if its value is
 *                             positive; UNBOUNDED refuses that.
 * @return TSL_ERR_INPUT for negative numbers or values that may exceed 62 bits
 */
tsl_err dp_knapsack_open(dp_card *card, dp_problem problem, int64_t n, const int64_t *weights,
                         const int64_t *values, int64_t first, int64_t count, dp_knapsack **out);
void dp_knapsack_close(dp_knapsack **band);
/** Back to no item: all values 0. */
tsl_err dp_knapsack_begin(dp_knapsack *band);

/** Capacities left of the band whose values items [lo, hi) need: at most first. UNBOUNDED: first.
 */
int64_t dp_knapsack_halo(const dp_knapsack *band, int64_t lo, int64_t hi);

/**
 * Consider items lo..hi-1 after the items before.
 * @param[in] left  values before item lo of the halo capacities left of the band, ascending, host;
 *                  NULL when the halo is empty
 * @param[in] keep  keep a bit for each item and capacity, for dp_knapsack_trace
 */
tsl_err dp_knapsack_items(dp_knapsack *band, int64_t lo, int64_t hi, const int64_t *left,
                          bool keep);

/** Values of capacities c0..c1-1 of the table that lie in the band, after the last item; host. For
 *  tests. */
tsl_err dp_knapsack_get(dp_knapsack *band, int64_t c0, int64_t c1, int64_t *values);

/**
 * Walk back over the items kept last, from item *item (hi) and capacity *capacity until item lo or
 * the band is left. An item is taken only where that is better than leaving it; unbounded: once
 * more only where that is better.
 * @param[in,out] item      on return the items from here on are decided; unbounded: item - 1 too
 *                          may have been taken and is to be looked at again
 * @param[in,out] capacity  what is left
 * @param[out]    taken     [hi - lo] how often this call takes each item, host
 */
tsl_err dp_knapsack_trace(dp_knapsack *band, int64_t *item, int64_t *capacity, int64_t *taken);

/* --------------------------------------------------------------------------------- the backend */

/** dp_backend_gpu.cu */
extern const tsl_backend dp_backend_gpu;
