/**
 * @file dp_steps.h
 * Steps of a traceback, as dp.h has them for each problem.
 */
#pragma once

#include "dp_host.h"

TSL_C_BEGIN

/** A growing list from malloc; zero-initialise, free(at). */
typedef struct dp_steps {
  int64_t (*at)[2];
  int64_t n, room;
} dp_steps;

/** Append a pair. @return TSL_ERR_MEMORY */
tsl_err dp_steps_add(dp_steps *steps, int64_t first, int64_t second);
/** Append (op, length), joined with the step before when that has the same op. */
tsl_err dp_steps_run(dp_steps *steps, int64_t op, int64_t length);

/** Append an alignment as (op, length), from cell (i, j) of the table on.
 *  @param[in] directions  [n] dp_step */
tsl_err dp_steps_alignment(const dp_context *c, const uint8_t *directions, int64_t n, int64_t i,
                           int64_t j, dp_steps *steps);

/** Score of that part of an alignment with affine gaps. A gap is opened by the letter where the
 *  traceback leaves it. @param[in] state  in which the traceback is after it (dp_place) */
int64_t dp_steps_score(const dp_context *c, const uint8_t *directions, int64_t n, int64_t i,
                       int64_t j, int32_t state);

/** Append the cells that the directions leave, from cell (i, j) of the table on. */
tsl_err dp_steps_cells(const uint8_t *directions, int64_t n, int64_t i, int64_t j, dp_steps *steps);

/** Append pairs of letters. LCS: the pairs themselves. EDIT: what lies between them as well.
 *  @param[in] pairs     [n] rows and columns counted from cell (lo[0], lo[1]) of the table
 *  @param[in] from, to  the cells where the traceback began and ended */
tsl_err dp_steps_pairs(const dp_context *c, const dp_pair *pairs, int64_t n, const int64_t lo[2],
                       const int64_t from[2], const int64_t to[2], dp_steps *steps);

TSL_C_END
