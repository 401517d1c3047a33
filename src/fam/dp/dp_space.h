/**
 * @file dp_space.h
 * What a recovery within little memory needs and what it costs: estimates, before any work.
 *
 * A table is filled once, and some rows (states) are kept on the way. The way back fills what lies
 * between two of them again, left of where it comes in, by halves: of a region whose decisions do
 * not fit, the half without the path's end is filled and its edge kept, then the other half is a
 * region of its own, then the rest of the first (dp_bands_region.h). An edge of n letters needs as
 * many bytes as the state of n letters.
 */
#pragma once

#include "dp.h"
#include "dp_cut.h"

TSL_C_BEGIN

enum {
  DP_SPACE_LEAST = 64, /**< rows and columns of a region that is not halved any more */
  /** Rows between which regions are halved: more would save less than 1/8 of the table, and a card
   *  is as slow again with tiles of a 100th of 2 million rows. */
  DP_SPACE_ROWS = 8
};

/** Bits of decisions of one cell. */
double dp_space_cell_bits(const dp_params *p);

/** Bytes of one column's state; as many of a wavefront's edge for a row. */
double dp_space_state_bytes(const dp_params *p);

/** Rows of a wavefront's columns that are kept at most, of so many bytes of memory: as many as half
 *  of them holds, or p->special_rows bytes on disk; or 1; 0: not even then would what lies between
 *  them fit the memory that is left.
 *  @param[in] edges  the left edge of all rows is kept beside them */
double dp_space_rows(const dp_params *p, int64_t columns, bool edges, double bytes);

/** Ranks that share a wavefront's columns. */
typedef struct dp_space_ranks {
  int64_t n;
  double widest; /**< part of the columns that one of them has at most; 0: 5/4 of the mean */
} dp_space_ranks;

/** Bytes of the fewest special rows that a rank may need, with its left edges. */
double dp_space_least_rows(const dp_params *p, dp_space_ranks ranks);

/** A wavefront on some ranks, with so many bytes of memory on each. */
typedef struct dp_space {
  bool fits;
  double
      least;   /**< stages from which on the decisions of one fit half of the memory, or are halved;
                     at most most */
  double most; /**< stages whose rows fit */
} dp_space;

/** @param[in] halves  regions may be halved */
dp_space dp_space_plan(const dp_params *p, dp_space_ranks ranks, double bytes, bool halves);

/** Bytes of the decisions of so many rows and columns. */
typedef int64_t dp_space_keep_fn(const void *self, int64_t rows, int64_t columns);

/** Rows of a tile of `rows` rows that recovery takes at a time: as many as their decisions fit half
 *  the memory, and so many bytes; but no fewer than lie between the rows that are kept at most.
 *  @param[in] edges  as of dp_space_rows
 *  @param[in] keep   called with self */
int64_t dp_space_step(const dp_params *p, int64_t columns, bool edges, int64_t rows, int64_t bytes,
                      dp_space_keep_fn *keep, const void *self);

/** First column of a rank's where all have as many; of `ranks` the end. */
static inline int64_t dp_space_column(const dp_params *p, int64_t ranks, int64_t rank) {
  return (int64_t)((double)p->m / (double)ranks * (double)rank);
}

/**
 * Cells that the way back through a wavefront computes again, as expected: where its path is the
 * straight line from the last cell to the first, and ranks have as many columns each. Paths of
 * local alignments and of free ends are elsewhere, most often shorter.
 * @param[in]  stages   ends of the tiles' rows
 * @param[in]  sockets  decisions are those that sockets keep, else those of cards
 * @param[out] cells    [stages->n][ranks]
 */
void dp_space_again(const dp_params *p, const dp_ends *stages, int64_t ranks, bool sockets,
                    double *cells);

TSL_C_END
