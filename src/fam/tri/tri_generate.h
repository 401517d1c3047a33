/**
 * @file tri_generate.h
 * Made-up points. Every number is a function of (seed, point, draw) alone, so neither the
 * order nor the number of ranks matters.
 */
#ifndef TSL_FAM_TRI_GENERATE_H
#define TSL_FAM_TRI_GENERATE_H

#include "table_read.h"

/** Generators in the order of the deck's words. */
typedef enum tri_kind { TRI_NONE, TRI_UNIFORM, TRI_PLUMMER, TRI_CLUSTERS } tri_kind;

typedef struct tri_generator {
  int32_t kind; /**< tri_kind, not NONE */
  int64_t n, d; /**< points, dimensions */
  int64_t seed;
  double side;       /**< UNIFORM, CLUSTERS: edge of the cube [0, side)^d */
  const double *box; /**< UNIFORM: shape [d], edges that replace side; or NULL */
  double scale;      /**< PLUMMER: scale radius; CLUSTERS: standard deviation of a cluster */
  int64_t clusters;  /**< CLUSTERS: how many; point i is in cluster i clusters / n */
} tri_generator;

/** The deck's words for tri_kind; NULL-ended. */
extern const char *const tri_kind_words[];

/** Points of the generator; table as from table_read, no extra column. */
tsl_err tri_generate(const tri_generator *g, table_rows *table);

#endif
