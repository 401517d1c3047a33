/**
 * @file triples.h
 * The family triples: all i < j < k of n points (a tetrahedral domain), as seen by its backends.
 *
 *   axilrod_teller  energy and forces of the triple-dipole potential (triples_fn.h). Rows i are cut
 *                   into blocks, each with the pairs (i, j), j > i, of its rows and all third
 *                   points k; a unit is the blocks [lo[0], hi[0]).
 *   triangles       how many triangles have their sides in which bins, sorted from the shortest to
 *                   the longest side. A unit is the rows [lo[0], hi[0]) of the sorted points.
 *   equation        sums of a function that the deck gives (triples_equation.h). A unit is the rows
 *                   [lo[0], hi[0]).
 *
 * Blocks do not depend on the ranks, and each has a sum of its own for every point, added up by the
 * root in the order of blocks: the same bits for any number of ranks and any plan.
 */
#pragma once

#include "contract.h"
#include "fn.h"

TSL_C_BEGIN

typedef enum triples_function {
  TRIPLES_AXILROD_TELLER,
  TRIPLES_TRIANGLES,
  TRIPLES_EQUATION,
  TRIPLES_N_FUNCTIONS
} triples_function;

enum {
  TRIPLES_TILE = 64,       /**< third points summed up in the type of the run; rows of a block are a
                                multiple */
  TRIPLES_BLOCKS = 128,    /**< at most */
  TRIPLES_LANES = 64,      /**< sums of a row of pairs, each of every so many columns */
  TRIPLES_SUMS = 4,        /**< three components of the force, and the energy */
  TRIPLES_MAX_BINS = 64,   /**< of a side */
  TRIPLES_MAX_N = 1 << 20, /**< points */
};

/** Parameters; plain data, the same on all ranks. */
typedef struct triples_params {
  int32_t function;   /**< triples_function */
  int32_t type;       /**< TSL_F32 or TSL_F64: of points and arithmetic */
  int32_t bins;       /**< TRIANGLES: of a side */
  int32_t length;     /**< points are in units of 2^length, so that r^-10 stays in range */
  int64_t n;          /**< points */
  int64_t n_pad;      /**< n rounded up to TRIPLES_TILE */
  int64_t d;          /**< coordinates that points have, 1 to 3; the others are 0 */
  int64_t block_rows; /**< rows of a block, a multiple of TRIPLES_TILE */
  int64_t blocks;
  double strength;           /**< AXILROD_TELLER: nu, energy times length^9 */
  double cutoff;             /**< longest side, in the unit of the points; INFINITY: any */
  double box[3];             /**< periods, in the unit of the points; INFINITY: none */
  double range_lo, range_hi; /**< TRIANGLES: edges of the bins of a side, in the points' unit */
  int64_t cells[3];          /**< TRIANGLES: along each dimension, none shorter than range_hi */
  int32_t all;               /**< EQUATION: 1: each point's sum is over all of its triples; 0: over
                                those whose other points come before it */
  int32_t n_quantities;
  uint32_t equation; /**< hash of its text */
  int32_t slopes;    /**< EQUATION: 1: forces as well, by its gradient */
} triples_params;

/**
 * Indices into problem->fields:
 *   TRIPLES_POINTS  IN   [3][n_pad] params.type; triangles: cell by cell
 *   TRIPLES_CELLS   IN   i32 [cells + 1] or [0]: where each cell's points begin, x the fastest
 *   axilrod_teller  2 "partial" GATHER f64 [blocks][n][TRIPLES_SUMS], hidden: of the pairs of a
 *                     block, without strength, in units of 2^length: -F and energy of its rows
 *                   3 "forces" GATHER f64 [n][d], by the family
 *   triangles       2 "triangles" SUM u64 [bins][bins][bins], 3 "edges" f64 [bins + 1]
 *   equation        2 "sums" GATHER f64 [n], 3 "quantities" IN [n_quantities n_pad], with slopes
 *                     4 "forces" GATHER f64 [n][d], then those of lang_equation.h
 */
enum {
  TRIPLES_POINTS,
  TRIPLES_CELLS,
  TRIPLES_OUT,
  TRIPLES_OUT_2,
  TRIPLES_QUANTITIES = TRIPLES_OUT_2,
  TRIPLES_FORCES
};

static inline const triples_params *triples_params_of(const tsl_problem *problem) {
  return (const triples_params *)problem->params;
}

/** Rows [first, end) of a block; end <= n. */
TSL_FN int64_t triples_block_end(const triples_params *p, int64_t block) {
  const int64_t end = (block + 1) * p->block_rows;
  return end < p->n ? end : p->n;
}

/** The cells around one, itself included: along each dimension n from first on, modulo cells. */
typedef struct triples_around {
  int64_t first[3];
  int n[3];
} triples_around;

/** Each once, though a box has few of them. cells: params.cells; box: params.box */
TSL_FN triples_around triples_around_cell(const int64_t cells[3], const double box[3],
                                          int64_t cell) {
  triples_around a;
  for (int k = 0; k < 3; k++) {
    const int64_t at = cell % cells[k];
    const int periodic = box[k] < INFINITY;
    const int64_t last = periodic || at + 1 < cells[k] ? at + 1 : at;
    a.first[k] = periodic || at > 0 ? at - 1 : at;
    a.n[k] = (int)(last - a.first[k] + 1);
    if (a.n[k] > cells[k]) a.first[k] = 0, a.n[k] = (int)cells[k];
    cell /= cells[k];
  }
  return a;
}

TSL_FN int triples_around_count(const triples_around *a) {
  return a->n[0] * a->n[1] * a->n[2];
}

/** Number m of them. */
TSL_FN int64_t triples_cell_around(const int64_t cells[3], const triples_around *a, int m) {
  const int step[3] = {m % a->n[0], m / a->n[0] % a->n[1], m / (a->n[0] * a->n[1])};
  int64_t cell = 0;
  for (int k = 2; k >= 0; k--)
    cell = cell * cells[k] + (a->first[k] + step[k] + cells[k]) % cells[k];
  return cell;
}

/** The cell of n whose points, from starts[cell] on, hold place i; the last one that is not empty
 *  where there is none. */
TSL_FN int64_t triples_cell_of_place(const int32_t *starts, int64_t n, int64_t i) {
  int64_t low = 0, high = n - 1;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (starts[middle + 1] > i)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static inline int64_t triples_cells_of(const triples_params *p) {
  return p->cells[0] * p->cells[1] * p->cells[2];
}

/** Most points in the cells around any, from TRIPLES_CELLS. */
int64_t triples_most_around(const triples_params *p, const int32_t *starts);

/** Words of the deck; NULL-ended. */
extern const char *const triples_function_words[];

extern const tsl_family tsl_family_triples;

TSL_C_END
