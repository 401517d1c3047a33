/**
 * @file tri_cpu_extension.h
 * Extensions of pairs of sequences on a socket (EXTENSION, fam/tri/tri_extension.h): a pair at a
 * time, antidiagonal by antidiagonal, whose cells are the lanes.
 */
#pragma once

#include "tri_cpu_traceback.h"

/** A pair at work. Cells of antidiagonal k are kept by their rows, [-1 .. n + 1]; those beside the
 *  rows that are computed are TRI_EXTENSION_MINUS. */
typedef struct tri_extension {
  uint8_t *a; /**< [n + 1] the row's letters from 1 on */
  uint8_t *b; /**< [m + 1] the column's, the last one first */
  int64_t n, m;
  int32_t *scores; /**< [][TRI_LETTER_CODES] */
  int32_t open, extend;
  int32_t *h[3], *e[2], *f[2]; /**< values, gaps along the row and down: of antidiagonal k, of that
                                    before it, and so on */
} tri_extension;

/** What one thread owns. */
typedef struct tri_extender tri_extender;
struct tri_cpu_letters;

/** tri_extender_clear() also after an error. @param[in] letters  outlives it */
tsl_err tri_extender_create(const struct tri_cpu_letters *letters, tri_extender **extender);
void tri_extender_clear(tri_extender **extender);

/** Score of the pair of sequences at two places. */
int64_t tri_extend(tri_extender *extender, int64_t row, int64_t column);

/** The same, and directions are kept. @param[out] value  score  @param[out] at  the best cell */
tsl_err tri_extend_traced(tri_extender *extender, int64_t row, int64_t column, int64_t *value,
                          int64_t at[2]);

/** Bits of TRI_PLANE_PAIR and so on of a cell (i, j) that led to the best one, of the pair that was
 *  traced last. Those asked for one after another lie on falling antidiagonals. */
uint8_t tri_extension_direction(tri_extender *extender, int64_t i, int64_t j);
