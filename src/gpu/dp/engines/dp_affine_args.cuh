/**
 * @file dp_affine_args.cuh
 * Strips of alignments with affine gaps: what a launch is given, and how wide its strips are.
 */
#pragma once

#include "dp_gpu.cuh"
#include "dp_ptx.cuh"

enum {
  DP_AFFINE_KEEP_WIDTH = 8, /**< columns of a lane when directions are kept: one word a row */
  DP_AFFINE_CHUNK = 32,     /**< rows between messages of strips */
  DP_AFFINE_GRAIN = 128,    /**< columns of a mark: those of the narrowest strip */
  DP_AFFINE_NAP = 100, /**< nanoseconds between looks for a message: acquiring loads without end
                             *   empty the caches of those that compute */
  DP_AFFINE_LAG = 2,   /**< 16 bits: rows between neighbouring lanes, and chunks between the
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
enum dp_affine_mode { DP_AFFINE_VALUES, DP_AFFINE_WAYS, DP_AFFINE_CELLS, DP_AFFINE_SIDES };

typedef struct dp_affine_args {
  const int32_t *h_above, *f_above; /**< [stride] row above the tile */
  int32_t *h_below, *f_below;       /**< [stride] last row of the tile */
  const uint8_t *rows;              /**< [rows] letters of the tile's rows */
  const uint8_t *columns;           /**< [stride] letters; from m on `letters` */
  const int32_t *scores;            /**< [letters][letters + 1] s(row, column), last column -inf */
  int2 *edge;                       /**< [rows + 1] H and E; entry 0 is the row above */
  uint32_t *ticket, *finished;      /**< finished: [strips] chunks of rows */
  uint32_t *taken;                  /**< [4 processors] strips that each scheduler has taken */
  int processors;                   /**< multiprocessors of the card */
  const dp_best *best_above;        /**< [grains] best cells above the tile, by columns */
  dp_best *best_below;              /**< [grains] and with the tile, in the first of a strip */
  uint32_t *marks;                  /**< [grains] last launch that has done these columns */
  uint32_t number;                  /**< of this launch; that of the launch before is 1 less */
  uint32_t *history;                /**< WAYS: [strips][steps][32], row r of lane l in r + lag l */
  int32_t *cells;                   /**< CELLS: H of the tile's first cell, rows ld apart */
  int64_t ld;
  int64_t row0;  /**< row of the table above the tile */
  int64_t steps; /**< of history, a strip */
  int rows_n, columns_n, strips, letters, lag;
  int32_t open_extend, extend;
  int32_t reach; /**< 16 bits: dp_narrow_measure */
  int32_t apart; /**< 16 bits: dp_narrow_apart */
  int32_t pair;  /**< local: largest score of a pair, at least 0 */
  int64_t rows_left,
      columns_left;           /**< local: of the table, from the tile's and the band's first on */
  int *known;                 /**< local: a score that the table has; NULL: leave nothing out */
  unsigned long long *rested; /**< cells left out */
  uint32_t *spoiled; /**< 16 bits: set to 1 when they did not hold; 32 bits: compute only when it is
                      *   1, NULL: always */
  const uint32_t *given_up; /**< chained, 16 bits: spoiled of the launch before; else NULL */
  int2 *sides;              /**< SIDES: [columns / every][rows + 1], the edges right of each so many
                        columns; `edge` then stays as it is */
  int every, each;          /**< columns, and strips, between them */
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

/**
 * The next strip, the same in all lanes. Where chunks are left out, those that are computed at a
 * time are of neighbouring strips, and all of them go as fast as the slowest: as its scheduler
 * lets it, which warps share. So a warp lets those on other schedulers go first whose turn it is,
 * for some microseconds at most; nothing but time depends on it.
 */
static __device__ __forceinline__ uint32_t dp_affine_next(const dp_affine_args &a, int lane) {
  enum { SCHEDULERS = 4, EARLY = 64, LOOKS = 64, NAP = 256 /* ns */ };
  if (a.known != NULL && lane == 0) {
    const uint32_t processor = dp_processor() % (uint32_t)a.processors;
    const uint32_t scheduler = dp_warp_place() % SCHEDULERS;
    const uint32_t had = atomicAdd(&a.taken[processor * SCHEDULERS + scheduler], 1u);
    const uint32_t turn = (had * SCHEDULERS + scheduler) * (uint32_t)a.processors + processor;
    for (int k = 0; k < LOOKS; k++) {
      const uint32_t next = *(volatile uint32_t *)a.ticket;
      if (next + EARLY >= turn || next >= (uint32_t)a.strips) break;
      __nanosleep(NAP);
    }
  }
  return dp_next_ticket(a.ticket, lane);
}

/** Bytes of shared memory of a warp: the profile, and a chunk of edges in and out. */
static __host__ __device__ __forceinline__ int dp_affine_shared(int width, int letters) {
  return letters * 32 * width * 4 + 2 * DP_AFFINE_CHUNK * 8;
}
