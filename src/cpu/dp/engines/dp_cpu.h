/**
 * @file dp_cpu.h
 * The family dp on a socket: engines that compute tiles of a table.
 *
 *   dp_cpu_bits*.c       longest common subsequence, unit edit distance: bits
 *   dp_cpu_align*.c      alignment with affine gaps, weighted edit distance: i8, i16, i32
 *   dp_cpu_dtw.c         dynamic time warping: f32, f64
 *   dp_cpu_sweep*.c      knapsack, binomial, allotment, stagecoach
 *   dp_cpu_interval*.c   matrix chain, search tree, Nussinov
 *   dp_cpu_fold*.c       folding: the tables of an interval problem beside its own
 *   dp_pipe.c            strips of a table in step
 *   dp_kernels*.h        what runs at one SIMD level
 *
 * A *band* is a run of neighbouring columns that one worker owns. It holds the last row computed so
 * far, and a tile continues it: rows lo..hi-1 of the whole table, all columns of the band. What
 * comes in from the left and goes out to the right are the edges of dp.h, so bands can be chained
 * in any mix of sockets and cards. NULL for a left edge means that the boundary of the table is to
 * its left; NULL for a right edge that nobody wants it; right may be left. Results, edges and rows
 * are the same bits for every cut into bands and tiles, every number of threads and every SIMD
 * level.
 *
 * Threads: a band belongs to one thread at a time; inside, OpenMP with dp_cpu.threads.
 * Cells are 1-based in the table where a row 0 and a column 0 exist, columns in the band.
 */
#pragma once

#include "dp.h"

TSL_C_BEGIN

struct dp_kernels;
struct rna_energy;

/** A socket as the engines use it; plain data, no owner. */
typedef struct dp_cpu {
  const struct dp_kernels *kernels; /**< of one SIMD level; static */
  int threads;                      /**< at least 1 */
} dp_cpu;

/** Set up. @return what tsl_cpu_level_use returns (cpu.h): TSL_SIMD chooses a lower level */
tsl_err dp_cpu_open(int threads, dp_cpu *cpu);

/* ---------------------------------------------- longest common subsequence and unit edit distance
 */

struct dp_cpu_bits;
/** A band of DP_LCS or of DP_EDIT with unit costs. */
typedef struct dp_cpu_bits dp_cpu_bits;

/**
 * Open a band. Memory: 2 or 3 bits for each column and planes of the letters (at most 8 bits), 1 or
 * 2 bits for each row of a tile.
 * @param[in] problem  DP_LCS or DP_EDIT
 * @param[in] rows     [n] letters of the rows, bytes 0..255; borrowed until close
 * @param[in] columns  [m] letters of the band's columns; borrowed until close
 */
tsl_err dp_cpu_bits_open(const dp_cpu *cpu, dp_problem problem, const uint8_t *rows, int64_t n,
                         const uint8_t *columns, int64_t m, dp_cpu_bits **out);
void dp_cpu_bits_close(dp_cpu_bits **band);

/** Back to the boundary row above the table. */
void dp_cpu_bits_begin(dp_cpu_bits *band);

/**
 * Compute rows [lo, hi), which continue the rows before.
 * @param[in]  left   LCS uint32 [ceil(R/32)], EDIT uint32 [2][ceil(R/32)]: bit r: M[i][j] -
 * M[i-1][j] is 1 (first part), -1 (second part) in the column before the band
 * @param[out] right  the same of the last column; bits from R on are zero
 * @param[in]  keep   also keep the bits of all cells for dp_cpu_bits_trace; replaces those of an
 *                    earlier tile
 * @return TSL_ERR_MEMORY
 */
tsl_err dp_cpu_bits_tile(dp_cpu_bits *band, int64_t lo, int64_t hi, const uint32_t *left,
                         uint32_t *right, bool keep);

/** Bytes that keep needs for R rows of m columns. */
int64_t dp_cpu_bits_keep_bytes(const dp_cpu *cpu, dp_problem problem, int64_t rows, int64_t m);

/**
 * M[row][last column] - M[row][column before the first] of the last row computed. LCS: the sum over
 * all bands is the length; EDIT: add the row number M[row][0].
 */
int64_t dp_cpu_bits_sum(const dp_cpu_bits *band);

/**
 * Last row computed, as bits of columns: M[i][j] - M[i][j-1] is +1 (first), -1 (second, EDIT only).
 * uint32 [1 or 2][ceil(m/32)], bits from m on are zero. This is all of a band's state: a special
 * row or a checkpoint.
 */
void dp_cpu_bits_row_get(const dp_cpu_bits *band, uint32_t *bits);
void dp_cpu_bits_row_put(dp_cpu_bits *band, const uint32_t *bits);

/**
 * Walk back through the tile kept last, from cell (*row, *column) until a side of the tile.
 * On return *row == lo (the last row of the tile above) or *column == 0 (the band to the left).
 * LCS: left where M[i][j-1] = M[i][j], else up where M[i-1][j] = M[i][j], else a match.
 * EDIT: diagonal where it attains M[i][j], else left (insertion), else up (deletion).
 * @param[out] pairs  [room] pairs in descending order: LCS the matches, EDIT every diagonal step;
 *                    room >= min(*row - lo, *column) is always enough
 * @param[out] count  their number
 */
tsl_err dp_cpu_bits_trace(const dp_cpu_bits *band, int64_t *row, int64_t *column, dp_pair *pairs,
                          int64_t room, int64_t *count);

/* ------------------------------------------ alignment with affine gaps, and weighted edit distance
 */

struct dp_cpu_align;
/** A band of DP_GLOBAL, DP_LOCAL or of DP_EDIT with weights. */
typedef struct dp_cpu_align dp_cpu_align;

/**
 * Open a band. Each strip and block of rows is computed with 8 or 16 bits where no value can leave
 * them, or where none has left them (then it is computed again), else with 32 bits.
 * @param[in] problem  DP_GLOBAL or DP_LOCAL
 * @param[in] scores   open, extend >= 0, alphabet 1..32; copied
 * @param[in] rows     [n] letters 0..alphabet-1; borrowed until close
 * @param[in] columns  [m] letters of the band's columns; borrowed until close
 * @param[in] total    columns of the whole table, for the overflow check
 * @param[in] first    columns before the band
 * @return TSL_ERR_INPUT for letters outside the alphabet or scores that may exceed 30 bits
 */
tsl_err dp_cpu_align_open(const dp_cpu *cpu, dp_problem problem, const letters_scores *scores,
                          const uint8_t *rows, int64_t n, const uint8_t *columns, int64_t m,
                          int64_t total, int64_t first, dp_cpu_align **out);

/** The same for DP_EDIT: costs >= 0 of a column's letter alone (insert), a row's letter alone
 *  (remove) and two different letters (replace); letters are bytes 0..255. */
tsl_err dp_cpu_edit_open(const dp_cpu *cpu, int64_t insert, int64_t remove, int64_t replace,
                         const uint8_t *rows, int64_t n, const uint8_t *columns, int64_t m,
                         int64_t total, int64_t first, dp_cpu_align **out);
void dp_cpu_align_close(dp_cpu_align **band);

/** Back to the boundary row above the table. */
void dp_cpu_align_begin(dp_cpu_align *band);

/**
 * Compute rows [lo, hi), which continue the rows before.
 * @param[in]  left   int32 [R + 1][2]: H and E' (dp.h), E' = max(E, H - open); any other E' that
 *                    gives the same maximum does as well. DP_EDIT: int32 [R + 1], M
 * @param[out] right  the same; E' of entry 0 is DP_MINUS_INFINITY
 * @param[in]  keep   also keep what dp_cpu_align_trace needs; replaces that of an earlier tile
 * @return TSL_ERR_MEMORY; TSL_ERR_NUMERIC when an edge or row holds values out of reach
 */
tsl_err dp_cpu_align_tile(dp_cpu_align *band, int64_t lo, int64_t hi, const void *left, void *right,
                          bool keep);

/** Bytes that keep needs for R rows of m columns: below a bit for each cell. */
int64_t dp_cpu_align_keep_bytes(const dp_cpu *cpu, int64_t rows, int64_t m);

/**
 * H and F' = max(F, H - open) of the last row computed, [m] each; DP_LOCAL: F' at least extend.
 * DP_EDIT: M, and f is not used. put: any other F' that gives the same maxima does as well.
 */
void dp_cpu_align_row_get(const dp_cpu_align *band, int32_t *h, int32_t *f);
void dp_cpu_align_row_put(dp_cpu_align *band, const int32_t *h, const int32_t *f);

/** DP_LOCAL: the best cell of the band so far (begin forgets it). Others: the last cell computed of
 *  the last row. */
dp_best dp_cpu_align_best(const dp_cpu_align *band);
/** DP_GLOBAL, before the first tile: the best is to have the largest value of all cells as its
 *  score, or 0, and no place. */
void dp_cpu_align_track(dp_cpu_align *band);
/**
 * DP_LOCAL: leave cells out from here on that can change no best cell and no way back from it
 * (dp_cpu_align_prune.c). Rows and edges then hold less than the table where none of these leads;
 * E' of entry 0 of an edge is a score that the table has.
 * @param[in] rows, columns  of the table, from the band's first on
 * @param[in] known          a score that some cell of the table has, or 0
 */
void dp_cpu_align_prune(dp_cpu_align *band, int64_t rows, int64_t columns, int64_t known);
/** Cells left out so far. */
int64_t dp_cpu_align_pruned(const dp_cpu_align *band);
/** DP_LOCAL: the best cell of the band above the row that row_put has set. */
void dp_cpu_align_best_put(dp_cpu_align *band, const dp_best *best);

/**
 * Walk back through the tile kept last from *place until a side of the tile or, DP_LOCAL, the
 * begin of the alignment. Where several ways attain a value: end of a local alignment, pair, left,
 * up; a gap is opened where opening attains its value, else extended.
 * @param[out] steps  [room] dp_step as bytes, from the end to the begin;
 *                    room >= place->row - lo + place->column is always enough
 * @param[out] count  their number
 */
tsl_err dp_cpu_align_trace(const dp_cpu_align *band, dp_place *place, uint8_t *steps, int64_t room,
                           int64_t *count);

/* ------------------------------------------------------------------ dynamic time warping */

struct dp_cpu_dtw;
/** A band of DP_DTW: M[i][j] = d(x_i, y_j) + min(M[i-1][j-1], M[i][j-1], M[i-1][j]), i, j from 1,
 *  M[0][0] = 0 and infinite elsewhere on the boundary. The same bits as a plain loop. */
typedef struct dp_cpu_dtw dp_cpu_dtw;

/**
 * Open a band.
 * @param[in] type     TSL_F32 or TSL_F64
 * @param[in] square   d = (x - y)^2, else |x - y|
 * @param[in] rows     [n] finite values; borrowed until close
 * @param[in] columns  [m] values of the band's columns; borrowed until close
 */
tsl_err dp_cpu_dtw_open(const dp_cpu *cpu, tsl_type type, bool square, const void *rows, int64_t n,
                        const void *columns, int64_t m, dp_cpu_dtw **out);
void dp_cpu_dtw_close(dp_cpu_dtw **band);
void dp_cpu_dtw_begin(dp_cpu_dtw *band);

/** Compute rows [lo, hi). left, right: values [R + 1], M; entry 0 is the row above the tile.
 *  keep: also keep what dp_cpu_dtw_trace needs. */
tsl_err dp_cpu_dtw_tile(dp_cpu_dtw *band, int64_t lo, int64_t hi, const void *left, void *right,
                        bool keep);
int64_t dp_cpu_dtw_keep_bytes(const dp_cpu *cpu, tsl_type type, int64_t rows, int64_t m);

/** M of the last row computed, values [m]. */
void dp_cpu_dtw_row_get(const dp_cpu_dtw *band, void *row);
void dp_cpu_dtw_row_put(dp_cpu_dtw *band, const void *row);

/** Walk back through the tile kept last from cell (*row, *column) until a side of it: diagonal
 * where it attains M[i][j], else left, else up. pairs: the cells left behind, from 0, at most *row
 * - lo + *column. */
tsl_err dp_cpu_dtw_trace(const dp_cpu_dtw *band, int64_t *row, int64_t *column, dp_pair *pairs,
                         int64_t room, int64_t *count);

/* ------------------------------------------------------------------ row sweeps
 *
 * Rows are addressed by column: row[c] is column c of the table, whatever columns the caller has.
 * A function computes columns [lo, hi) of the new row.
 */

/**
 * Knapsack 0/1: rows of `items` items at once, M[i][c] = max(M[i-1][c], M[i-1][c - w_i] + v_i).
 * Pieces of columns that fit the second-level cache take several items before the next piece; as
 * int32 where the values are proven to fit.
 * @param[in]  weights, values  [items] >= 0; a weight of 0 is taken when its value is positive
 * @param[in]  from   the row before, columns [max(0, lo - sum of the weights below hi), hi), not
 *                    descending, >= 0
 * @param[out] to     the row after the last item; not from
 * @param[out] taken  NULL, or [items][(hi - lo + 63) / 64]: bit c - lo: item taken at c, only where
 *                    that is better
 * @return TSL_ERR_INPUT for negative numbers; TSL_ERR_NUMERIC when a value may exceed 63 bits
 */
tsl_err dp_cpu_knapsack(const dp_cpu *cpu, const int64_t *weights, const int64_t *values,
                        int64_t items, const int64_t *from, int64_t *to, int64_t lo, int64_t hi,
                        uint64_t *taken);

/**
 * Unbounded knapsack: `items` items at once, M[i][c] = max(M[i-1][c], M[i][c - w_i] + v_i).
 * @param[in]     from  the row before, columns [lo, hi), not descending, >= 0
 * @param[in,out] to    the row after the last item, columns [max(0, lo - largest weight), lo); gets
 *                      [lo, hi); not from
 * @param[out] taken    NULL, or of one item [(hi - lo + 63) / 64]: bit c - lo: taken once more at c
 * @return TSL_ERR_INPUT for negative numbers and for w = 0 with v > 0; TSL_ERR_NUMERIC
 */
tsl_err dp_cpu_knapsack_unbounded(const dp_cpu *cpu, const int64_t *weights, const int64_t *values,
                                  int64_t items, const int64_t *from, int64_t *to, int64_t lo,
                                  int64_t hi, uint64_t *taken);

/** Is the bit of column c set in a list of dp_cpu_knapsack*? */
static inline bool dp_cpu_taken(const uint64_t *taken, int64_t lo, int64_t c) {
  return taken[(c - lo) / 64] >> (c - lo) % 64 & 1;
}

/**
 * Binomial coefficients: `rows` rows of Pascal's triangle further, C(i, c) = C(i-1, c-1) + C(i-1,
 * c).
 * @param[in]  modulus  1..2^62: remainders; 0: exact
 * @param[in]  from     columns [max(0, lo - rows), hi); row 0 is 1, 0, 0, ...
 * @param[out] to       not from. Exact: negative where the coefficient exceeds 63 bits
 */
tsl_err dp_cpu_binomial(const dp_cpu *cpu, int64_t modulus, int64_t rows, const int64_t *from,
                        int64_t *to, int64_t lo, int64_t hi);

/**
 * Allotment: M[i][c] = max over 0 <= k <= c of M[i-1][c - k] + r(k), one activity.
 * @param[in] type  TSL_I32, TSL_I64, TSL_F32, TSL_F64
 * @param[in] from  columns [0, hi), at most 2^31    @param[in] returns  [hi] r(k)
 * @param[out] choice  NULL, or [hi - lo]: the smallest k that attains the value
 * @return TSL_ERR_NUMERIC when an integer sum may leave its type
 */
tsl_err dp_cpu_allotment(const dp_cpu *cpu, tsl_type type, const void *from, const void *returns,
                         void *to, int64_t lo, int64_t hi, int32_t *choice);

/**
 * Stagecoach: M[t][s] = min over k < m of M[t-1][k] + w(k, s), one stage.
 * @param[in] from   [m], m below 2^31    @param[in] costs  [m][m], row k: w(k, .)
 * @param[out] choice  NULL, or [hi - lo]: the smallest k that attains the value
 * @return TSL_ERR_NUMERIC when an integer sum leaves its type
 */
tsl_err dp_cpu_stagecoach(const dp_cpu *cpu, tsl_type type, const void *from, const void *costs,
                          int64_t m, void *to, int64_t lo, int64_t hi, int32_t *choice);

/* ------------------------------------------------------------------ intervals
 *
 * Posts 0..N-1 and a value X[a][b] for each pair a < b, see dp.h.
 */

typedef struct dp_cpu_interval_input {
  dp_problem problem;     /**< DP_MATRIX_CHAIN, DP_SEARCH_TREE, DP_NUSSINOV, DP_FOLD */
  tsl_type type;          /**< of values outside: I64; SEARCH_TREE I64, F64; NUSSINOV, FOLD I32 */
  int64_t posts;          /**< N, at least 1 */
  const int64_t *dims;    /**< MATRIX_CHAIN: [N] d, >= 0 */
  const void *gaps;       /**< SEARCH_TREE: [N - 1] of the type: X[a][a + 1] */
  const void *high, *low; /**< SEARCH_TREE: [N] of the type, weights (dp_tree_sums) */
  const uint8_t *letters; /**< NUSSINOV: [N - 1] 0..31; FOLD: A C G U 0..3, others above */
  uint32_t pairs[32];     /**< NUSSINOV: bit y of pairs[x]: letters x and y may pair */
  int32_t span;           /**< NUSSINOV: letters at least between the two of a pair, >= 0 */
  const struct rna_energy *energy; /**< FOLD */
  const int32_t *sizes;            /**< FOLD: [N] energies of hairpins by size */
} dp_cpu_interval_input;

/* ---- sums over structures */

struct rna_weights_input;
/** Sums over the structures of letters between two posts, and outside (dp_cpu_partition.h). */
typedef struct dp_cpu_partition dp_cpu_partition;

/** Open and begin; the input is copied. Memory: 20 posts^2 bytes. */
tsl_err dp_cpu_partition_open(const dp_cpu *cpu, const struct rna_weights_input *in,
                              dp_cpu_partition **out);
/** Forget all sums. */
void dp_cpu_partition_begin(dp_cpu_partition *f);
void dp_cpu_partition_close(dp_cpu_partition **partition);
/** Compute n boxes of one sweep that do not need each other, after those that they need. */
void dp_cpu_partition_boxes(dp_cpu_partition *f, const dp_box *boxes, int64_t n);
/** Probabilities of the pairs of letters a and b - 1 of a box of the second sweep, row-major, of
 *  letters that are there: dp_region; nothing of the first. */
void dp_cpu_partition_get(const dp_cpu_partition *f, const dp_box *box, double *values);
/** All that others need of a box, and the taking in of it: an edge of dp.h. */
void dp_cpu_partition_edge_out(dp_cpu_partition *f, const dp_box *box, double *values);
void dp_cpu_partition_edge_in(dp_cpu_partition *f, const dp_box *box, const double *values);
/** -kT ln of the sum over all structures, kcal/mol, after the last box of the first sweep. */
double dp_cpu_partition_energy(const dp_cpu_partition *f);

/* ---- intervals */

struct dp_cpu_interval;
/** A triangle of values, or the part of it that this worker needs. */
typedef struct dp_cpu_interval dp_cpu_interval;

/**
 * Open and begin; the input is copied. Inside, values are int16 (or int32) for NUSSINOV, doubles
 * where all of them are proven to be integers below 2^53, else int64. Memory: half of N^2 values.
 * @return TSL_ERR_INPUT for negative dimensions; TSL_ERR_NUMERIC where values may exceed 61 bits
 */
tsl_err dp_cpu_interval_open(const dp_cpu *cpu, const dp_cpu_interval_input *input,
                             dp_cpu_interval **out);

/** The worst value everywhere, a max table's X[a][a] 0: nothing is left of trials, whose values
 *  would be taken for candidates. */
void dp_cpu_interval_begin(dp_cpu_interval *w);
void dp_cpu_interval_close(dp_cpu_interval **w);

/**
 * Compute n boxes that do not need each other; their sides are multiples of 64, or N. All that a
 * box needs outside of itself, X[a][k] and
 * X[k][b] for a < k < b, must have been computed or put before; NUSSINOV also X[hi[0]][lo[1] - 1].
 */
void dp_cpu_interval_boxes(dp_cpu_interval *w, const dp_box *boxes, int64_t n);

/** All of the triangle: boxes of 64 along one diagonal after the other. */
void dp_cpu_interval_all(dp_cpu_interval *w);

/** Values of a box, [hi[0] - lo[0]][hi[1] - lo[1]] of the type, zero where a >= b. */
void dp_cpu_interval_get(const dp_cpu_interval *w, const dp_box *box, void *values);
/** All that others need of a box, and the taking in of it: an edge of dp.h. Values alone but for
 *  FOLD. */
void dp_cpu_interval_edge_out(const dp_cpu_interval *w, const dp_box *box, void *values);
void dp_cpu_interval_edge_in(dp_cpu_interval *w, const dp_box *box, const void *values);
/** The optimum, of the type, after the last box; N > 1. */
void dp_cpu_interval_whole(const dp_cpu_interval *w, void *value);
/** Take in the values of a box that somebody else has computed. */
void dp_cpu_interval_put(dp_cpu_interval *w, const dp_box *box, const void *values);

TSL_C_END
