/**
 * @file dp_kernels.h
 * The kernels of the family dp on a socket, one table for each SIMD level.
 *
 * Skewed strips (bits, align, dtw). A strip is a few columns wide and any number of rows high. A
 * vector of N lanes covers G <= N groups of R neighbouring columns (words of 64 columns for bits);
 * lane p holds group G - 1 - p, so that data moves from lane p + 1 to lane p. In step s lane p
 * computes all R columns of row s - (G - 1) + p: what it needs from the left its neighbour finished
 * one step before. Every array "by row" is read and written with the row of lane 0 as its address,
 * hence the room of DP_PAD values before the first and after the last row. Arrays "by lane" are
 * [R][N]: value r N + p belongs to column (G - 1 - p) R + r of the strip.
 *
 * All kernels give the same bits on every level.
 */
#pragma once

#include "dp.h"
#include "rna_energy.h"
#include "rna_weights.h"

enum {
  DP_PAD = 64,         /**< values of room before and after arrays by row */
  DP_WORDS = 4,        /**< R of the wide bit strips */
  DP_BITS_BLOCK = 512, /**< rows of a block of bit strips; a multiple of 64 */
  DP_PLANES = 8,       /**< bits of a letter's code */
  DP_COLUMNS = 8,      /**< R of the wide strips of align and dtw */
};

/** Bit strip: DP_LCS (p: the letters' columns without difference) or DP_EDIT (p: +1, n: -1). */
typedef struct dp_bit_strip {
  int planes; /**< of the codes: at most DP_PLANES */
  int lanes;  /**< G */
  int wide;   /**< R: 1: DP_WORDS, 0: 1 */
  int last;   /**< bit of the last column in the last word */
  int64_t rows;
  const uint64_t *a; /**< by row [planes][a_ld]: all ones where the bit of the code is set */
  int64_t a_ld;
  const uint64_t *b; /**< by lane, [planes] of them: bits of the columns' codes */
  uint64_t *p, *n;   /**< by lane, in and out; n: EDIT */
  const uint64_t *left_p,
      *left_n;                 /**< by row, 0 or 1: M[i][j] - M[i-1][j] is 1 (p), -1 (n: EDIT) */
  uint64_t *right_p, *right_n; /**< the same of the last column */
  uint64_t
      *keep; /**< NULL, or for each step by lane: LCS p; EDIT no change on the diagonal, then p */
} dp_bit_strip;

/** A side of a block of align and how it is crossed (dp_cpu_align_prune.c). */
typedef struct dp_align_side {
  int32_t *h, *gap; /**< [n], in and out: H, and the gap that leads on into the block */
  int64_t n;
  int32_t across; /**< cells to the opposite side */
  int32_t open, extend;
  int32_t along, turned; /**< paths from before cell 0: on along the far side; into its gap */
} dp_align_side;

/** Widths of numbers of align strips. DP_MOVING: 8 bits from bases that move, outside 32 bits. */
typedef enum dp_number_width { DP_W8, DP_MOVING, DP_W16, DP_W32, DP_N_WIDTHS } dp_number_width;

/** What an align strip computes. */
typedef enum dp_align_kind {
  DP_ALIGN_LOCAL,  /**< affine, and the largest H of each lane */
  DP_ALIGN_GLOBAL, /**< affine */
  DP_ALIGN_LINEAR, /**< gaps cost extend_* a letter; e and f are not used */
  DP_ALIGN_LOCATE, /**< DP_ALIGN_LOCAL at DP_W32, and the first cell whose H is target */
  DP_ALIGN_TRACK,  /**< of bands: DP_ALIGN_GLOBAL, and its largest H: LOCAL with another floor */
  DP_N_ALIGN_KINDS
} dp_align_kind;

/**
 * Align strip. Values have the width of the kernel: H - base, E' - extend - base, F' - extend -
 * base (dp.h). At W8 and W16 the last is cut at 0, else at floor. A gap in the rows'
 * sequence (left to right, E) costs open + g extend_e, one in the columns' (F) open + g extend_f.
 */
typedef struct dp_align_strip {
  int lanes, wide; /**< G; R: DP_COLUMNS when wide, else 1 */
  int64_t rows;
  const uint8_t *a;            /**< by row: codes, or with profile letters 0..LETTERS_SCORED-1 */
  const void *b;               /**< by lane: codes; equal codes score match */
  const void *profile;         /**< NULL, or by lane [LETTERS_SCORED]: scores of each letter */
  void *scores;                /**< with profile: room of DP_ALIGN_ROOM bytes, aligned to 64 */
  const void *left_h, *left_e; /**< by row, left_h from row -1 */
  void *right_h, *right_e;     /**< by row */
  void *h, *f;                 /**< by lane, in and out */
  void *best;                  /**< out: [N], largest H of the lane and base, LOCAL and LOCATE */
  int32_t open, extend_e, extend_f, match, mismatch, floor;
  int32_t target;      /**< LOCATE */
  int64_t row, column; /**< LOCATE, in and out: a smaller cell (row, column) replaces it */
  int32_t move, below; /**< MOVING: rows between two moves, 4..32; values wanted below a lane's */
} dp_align_strip;

/** Strip of dynamic time warping, f32 or f64. */
typedef struct dp_dtw_strip {
  int lanes, wide; /**< G; R: DP_COLUMNS when wide, else 1 */
  int square;      /**< (x - y)^2 instead of |x - y| */
  int64_t rows;
  const void *a;      /**< by row: x */
  const void *b;      /**< by lane: y */
  void *edge;         /**< by row: M of the column before, replaced by M of the last column */
  const void *corner; /**< one value: M of row -1, the column before */
  void *h;            /**< by lane, in and out: M */
} dp_dtw_strip;

/** Order of the tables of kernels by type. */
typedef enum dp_row_type { DP_ROW_I32, DP_ROW_I64, DP_ROW_F32, DP_ROW_F64 } dp_row_type;

/** Numbers of interval tables. */
typedef enum dp_join_type { DP_JOIN_I16, DP_JOIN_I32, DP_JOIN_I64, DP_JOIN_F64 } dp_join_type;
enum {
  DP_SIDE = 64,  /**< of a tile of an interval table */
  DP_STRIPE = 16 /**< rows of a tile that one product takes */
};

/**
 * A tile (I, J) of X, [DP_SIDE][DP_SIDE], to be finished: c holds the best over all k in the tiles
 * between; k in the tiles of its rows and of its columns are missing. Where a >= b a table holds
 * the worst value (X[a][a] = 0 with pairs). Lists have DP_SIDE values of the table's type.
 */
typedef struct dp_join {
  void *c;
  const void *ii, *jj;      /**< tiles (I, I), NULL when I == J, and (J, J), c when I == J */
  int rows, columns;        /**< posts in I and J */
  int64_t row, column;      /**< first posts */
  const void *da, *db;      /**< MATRIX_CHAIN: d of the posts of I and J, else NULL */
  const void *base;         /**< by row: X[a][a + 1]; NULL: 0 */
  const void *high, *low;   /**< SEARCH_TREE: by column, by row, else NULL */
  const uint64_t *pairs;    /**< NUSSINOV: by row, bit of a column: a and b - 1 pair; else NULL */
  const void *below, *left; /**< NUSSINOV: row I + DP_SIDE of J's columns; X[a + 1][J - 1] by row */
} dp_join;

/* ---- foldings */

enum {
  DP_FOLD_HALO = 32,                  /**< columns before a tile, rows below it */
  DP_FOLD_LD = DP_FOLD_HALO + DP_SIDE /**< of a window: rows, and columns of a row */
};

/** Costs of loops by their sizes; ONE, BULGE: by the letters of the longer side. */
typedef struct dp_fold_costs {
  int32_t generic[RNA_LOOP + 1][RNA_LOOP + 1], one[RNA_LOOP + 1], bulge[RNA_LOOP + 1], two_three;
} dp_fold_costs;

/** Row a of a tile of V. All lists have DP_SIDE values, of the tile's columns. */
typedef struct dp_fold_row {
  /** V of pairs inside and what they add to a loop of that kind: [][DP_FOLD_LD] from row a and the
   *  tile's first column on; DP_FOLD_HALO columns before it are readable. */
  const int32_t *window[DP_FOLD_WINDOWS];
  const int32_t *outer[DP_FOLD_PLAIN]; /**< what the closing pair adds */
  const int32_t *near[DP_FOLD_NEAR];   /**< energies by key */
  const int32_t *key;
  const int32_t *sizes, *hairpin; /**< hairpins by size, and their ends */
  const int32_t *closing, *split; /**< of multiloops; -D[a + 1][b - 1] */
  const dp_fold_costs *costs;
  int32_t *v; /**< in: of small hairpins; out */
} dp_fold_row;

/** A row of a tile of M, sign turned, those below being done. */
typedef struct dp_fold_join {
  int32_t *c;             /**< the tile; the row has the best splits over tiles between */
  const int32_t *ii, *jj; /**< tiles on the diagonal; ii NULL: c is one */
  int row, rows, first, columns;
  const int32_t *stem;  /**< [DP_SIDE] energies where the whole is one stem */
  const int32_t *below; /**< [DP_SIDE] the next row */
  int32_t before;       /**< the column before the first */
  int32_t base;         /**< cost of an unpaired letter */
  int32_t *split;       /**< [DP_SIDE] out: -D of the row */
} dp_fold_join;

/** Row a of a tile of sums over loops of this pair and another. Lists have DP_SIDE values. */
typedef struct dp_partition_row {
  /** The other pairs' sums and what these pairs add to a loop of that kind: [][DP_FOLD_LD] from row
   *  a and the tile's first column on; DP_FOLD_HALO rows and columns the way of step are there. */
  const double *window[DP_FOLD_WINDOWS];
  int64_t step; /**< 1: the other pairs are inside, rows below, columns before; -1: outside */
  const double *own[DP_FOLD_PLAIN]; /**< what this pair adds */
  const double *near[DP_FOLD_NEAR]; /**< weights by key */
  const int32_t *key[DP_FOLD_NEAR];
  const rna_weights_costs *costs;
  double *sum; /**< in and out: is added to */
} dp_partition_row;

enum {
  DP_STEPS = 64, /**< steps for which scores are prepared together */
  DP_ALIGN_ROOM = DP_COLUMNS * (DP_STEPS + 64) * 64
};

typedef struct dp_kernels {
  int level; /**< 2, 3, 4: x86-64-v2..v4; 0: any */
  int bytes; /**< of a vector */

  void (*bits)(dp_problem problem, const dp_bit_strip *strip);
  /** out[q * ld + k]: all ones where bit q of codes[k] is set. */
  void (*bits_spread)(const uint8_t *codes, int64_t n, int planes, uint64_t *out, int64_t ld);
  /** Bits of words to values 0 or 1, and back; n values. */
  void (*bits_expand)(const uint32_t *words, int64_t n, uint64_t *values);
  void (*bits_compress)(const uint64_t *values, int64_t n, uint32_t *words);

  void (*align[DP_N_WIDTHS])(dp_align_kind kind, dp_align_strip *strip);
  /** out[k] = from[k] - shift, cut at 0 when clip; and back: out[k] = from[k] + shift. */
  void (*narrow[DP_N_WIDTHS])(const int32_t *from, int64_t n, int32_t shift, bool clip, void *out);
  void (*widen[DP_N_WIDTHS])(const void *from, int64_t n, int32_t shift, int32_t *out);
  void (*dtw[2])(const dp_dtw_strip *strip); /**< f32, f64 */

  /** to[k] = max(from[k], from[k - weight] + value) for skip <= k < n, from[k] before; from[skip -
   *  weight] on is there. bits: NULL, or [(n + 63) / 64]: bit k: the second is larger. to may be
   * from. */
  void (*sack_i32)(const int32_t *from, int32_t *to, int64_t n, int64_t skip, int64_t weight,
                   int32_t value, uint64_t *bits);
  void (*sack_i64)(const int64_t *from, int64_t *to, int64_t n, int64_t skip, int64_t weight,
                   int64_t value, uint64_t *bits);
  /** to[k] = max(from[k], to[k - weight] + value), ascending; weight at least a vector of values or
   *  n at most weight. bits: NULL, or [n / 64], n a multiple of 64: bit k: the second is larger. to
   *  may be from. */
  void (*sack_again)(const int64_t *from, int64_t *to, int64_t n, int64_t weight, int64_t value,
                     uint64_t *bits);
  void (*shrink)(const int64_t *from, int64_t n, int32_t *to);
  void (*stretch)(const int32_t *from, int64_t n, int64_t *to);
  /** Bit k: to[k] > from[k]. */
  void (*larger)(const int64_t *to, const int64_t *from, int64_t n, uint64_t *bits);
  /** to[k] = from[k] + from[k - 1], k < n; modulus 0: the top bit once set stays. */
  void (*pascal)(const int64_t *from, int64_t *to, int64_t n, int64_t modulus);
  /** to[c - lo] = max over k <= c of from[c - k] + returns[k], c in [lo, hi); at: NULL, or
   *  [hi - lo]: the smallest k. By dp_row_type. */
  void (*allot[4])(const void *from, const void *returns, int64_t lo, int64_t hi, void *to,
                   int32_t *at);
  /** to[s] = min over k of from[k] + costs[k * ld + s], s < n; false where an integer sum leaves
   *  its type; at: NULL, or [n]: the smallest k. */
  bool (*stage[4])(const void *from, const void *costs, int64_t m, int64_t ld, int64_t n, void *to,
                   int32_t *at);

  /** DP_STRIPE rows of c = best(c, a + b + da dk db), a, b, c in tiles; da NULL: no term. best is
   *  max for I16 and I32, min for I64 and F64. By dp_join_type. */
  void (*meet[4])(const void *a, const void *b, void *c, const void *da, const void *dk,
                  const void *db);
  void (*join[4])(const dp_join *tile);

  void (*fold_row)(const dp_fold_row *row);
  void (*fold_join)(const dp_fold_join *row);
  /** to = v + more, [n]; best = min(best, v + more + also), [DP_SIDE]. */
  void (*fold_add)(const int32_t *v, const int32_t *more, int n, int32_t *to);
  void (*fold_least)(const int32_t *v, const int32_t *more, int32_t also, int32_t *best);

  void (*partition_row)(const dp_partition_row *row);
  /** c += scale a b of tiles, the product of a row of a and a column of b being summed first. */
  void (*partition_meet)(const double *a, const double *b, double *c, double scale);
  /** to += from scale, [DP_SIDE]; to = v w scale, [n]. */
  void (*partition_add)(const double *from, double scale, double *to);
  void (*partition_times)(const double *v, const double *w, double scale, int n, double *to);

  /** Smallest and largest of n values and *lo, *hi. */
  void (*range)(const int32_t *from, int64_t n, int32_t *lo, int32_t *hi);
  /** Of gaps g[k], [n], that open and go on to n: the largest g[k] - open - (n - 1 - k) extend. */
  int32_t (*opened)(const int32_t *gap, int64_t n, int32_t open, int32_t extend);
  /** One side of a block of align to the opposite one, by gaps alone. */
  void (*cross)(const dp_align_side *side);
} dp_kernels;

/** The kernels for an x86-64 level (2, 3, 4). Made by tsl_simd (tools/cmake/TslSimd.cmake). */
const dp_kernels *dp_kernels_at(int level);
