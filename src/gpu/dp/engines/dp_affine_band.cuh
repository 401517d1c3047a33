/**
 * @file dp_affine_band.cuh
 * The host's side of strips with affine gaps: a band, its launches, what they hand on.
 *
 *   dp_affine.cu        set-up, tiles one at a time
 *   dp_affine_chain.cu  tiles that begin while the one before drains
 *   dp_affine_narrow.cu 16 bits: kernels, what the scores allow, the way back to 32 bits
 *   dp_affine_rows.cu   rows, states and best cells
 *   dp_affine_trace.cu  the way back
 */
#pragma once

#include "dp_affine.cuh"

typedef void (*dp_affine_function)(dp_affine_args);

/** Rows between two tiles: what a launch hands to the next. */
typedef struct dp_affine_rows {
  tsl_gpu_buffer h, f; /**< [stride] */
  tsl_gpu_buffer best; /**< dp_best [stride / DP_AFFINE_GRAIN] */
} dp_affine_rows;

/** What a launch has for itself. */
typedef struct dp_affine_own {
  tsl_gpu_buffer edge;
  tsl_gpu_buffer old_edge; /**< 16 bits: as it was before the tile */
  tsl_gpu_buffer counters; /**< finished [strips], then the ticket and taken (dp_affine_args) */
} dp_affine_own;

/** Bits of a value and columns of a lane (16 bits: of half a lane). */
typedef struct dp_affine_shape {
  int bits, width;
} dp_affine_shape;

/** A tile that is started and not finished. */
typedef struct dp_affine_flight {
  int64_t rows;
  int32_t *right; /**< pinned; may be NULL */
  dp_affine_shape shape;
  dp_affine_args args;
} dp_affine_flight;

/** What chained launches need besides; made by the first. Launch k of them has streams and flights
 *  k % 2, events k % 3. */
typedef struct dp_affine_chain {
  bool open;
  int64_t started, finished;
  cudaStream_t streams[2];
  cudaEvent_t begin[3], end[3]; /**< of a kernel; of all that was queued */
  cudaEvent_t ready;            /**< what the card's own stream has done for it */
  dp_affine_flight flights[2];
  uint32_t *spoiled; /**< [2] pinned copy of flags */
} dp_affine_chain;

/** Words on the card. */
typedef struct dp_affine_flags {
  uint32_t spoiled[2];       /**< of either own */
  uint32_t again;            /**< tiles done again by the card */
  int known;                 /**< local: a score that the table has */
  unsigned long long rested; /**< cells left out */
} dp_affine_flags;

/** The band. */
struct dp_affine {
  dp_card *card; /**< not owned */
  bool local;
  int width;   /**< columns of a lane, 0: chosen */
  int asked;   /**< bits of a value: 16, 32, or 0: chosen */
  bool packed; /**< the card has instructions for two values of 16 bits */
  int letters;
  int32_t open_extend, extend;
  int32_t reach, slope;            /**< dp_narrow_measure */
  int32_t pair;                    /**< largest score of a pair, at least 0 */
  int64_t rows_left, columns_left; /**< dp_affine_prune; 0: nothing is left out */
  int known;                       /**< a score that the table has: before the first row */
  int64_t n, m, stride, first;
  int64_t row;     /**< rows done, or queued */
  int sides;       /**< sets of rows: 2, with chained launches 3 */
  int now;         /**< sets[now] is the last row */
  uint32_t number; /**< launches so far */
  tsl_gpu_buffer rows, columns, scores, marks;
  dp_affine_rows sets[3];
  dp_affine_own own[2]; /**< one launch at a time has the first */
  tsl_gpu_buffer history, steps;
  tsl_gpu_buffer flags; /**< dp_affine_flags */
  int64_t redone;       /**< tiles done again by the host */
  int last;             /**< own[last] has the edge of the last tile, */
  int64_t edge_rows;    /**< with so many rows */
  int64_t kept_lo, kept_hi, kept_steps;
  int kept_lag;
  dp_affine_chain chain;
};

/** Marks, and best cells, of a row. */
static inline int64_t dp_affine_grains(const dp_affine *b) {
  return b->stride / DP_AFFINE_GRAIN;
}

/**
 * Of the band: reach, the largest |value| before a chunk of rows from which none leaves 16 bits in
 * it, 0 where the scores are too large for that; slope, by which H changes from cell to cell.
 */
void dp_narrow_measure(dp_affine *band, const letters_scores *scores);
/** What H around a chunk of a strip of 64 width columns may be apart. */
int32_t dp_narrow_apart(const dp_affine *band, int width);
/** Do 16 bits hold for sure in strips of 64 width columns? */
bool dp_narrow_fits(const dp_affine *band, int width);
/** The kernel of a mode. */
dp_affine_function dp_narrow_pick(bool local, int width, int mode);
/** Queue: remember what a tile replaces, spoiled to 0. @param[in] k  which of own */
tsl_err dp_narrow_save(dp_affine *band, int k, int64_t rows, cudaStream_t stream);
/** Queue: when 16 bits did not hold, all as before the tile, counters at zero. */
tsl_err dp_narrow_restore(dp_affine *band, int k, int64_t rows, cudaStream_t stream);

/* dp_affine.cu, for dp_affine_chain.cu */

/** Queue: the table has this score, if more is not known. */
tsl_err dp_affine_know(dp_affine *band, int64_t score);

/** Queue: the edge that comes in, counters at zero. @param[in] left  NULL: the boundary */
tsl_err dp_affine_enter(dp_affine *band, int k, int64_t lo, int64_t rows, const int32_t *left,
                        cudaStream_t stream);
/** 16 bits where they hold for sure and the card has instructions for them. */
dp_affine_shape dp_affine_choose(const dp_affine *band, int mode);
/** The shape in 32 bits. */
dp_affine_shape dp_affine_choose_wide(const dp_affine *band, int mode);
/** Arguments of rows [lo, hi), from sets[now] to the next one. */
dp_affine_args dp_affine_args_of(const dp_affine *band, int k, int64_t lo, int64_t hi);
/** Queue the kernel. @param[in] beside  its grid leaves a place on the card to another launch */
tsl_err dp_affine_launch(dp_affine *band, dp_affine_args *args, dp_affine_shape shape, int mode,
                         cudaStream_t stream, bool beside);
/** Memory of a set of rows. */
tsl_err dp_affine_reserve_set(dp_affine *band, int set);
/** Do rows [lo, hi) continue those before? */
tsl_err dp_affine_check_rows(const dp_affine *band, int64_t lo, int64_t hi);
/** After the flights; zeroed memory accepted. */
void dp_affine_chain_close(dp_affine *band);
