/**
 * @file combine.h
 * The ranks' parts of OUT fields become one on rank 0.
 */
#pragma once

#include "phase.h"

/**
 * Collective on comm. Combine SUM, MIN and MAX fields into the root's arrays and check them for NaN
 * and infinity. Integers are exact; floating sums follow MPI_Reduce, so families state a tolerance.
 * GATHER fields are complete already (result_writer.h).
 */
tsl_err tsl_combine_reduce(MPI_Comm comm, tsl_problem *problem);

/** Is the field combined by tsl_combine_reduce? */
bool tsl_combine_reduced(const tsl_field *field);

/** Not collective. Combine an array of the field's type and shape into field->data, as another
 *  rank's part. */
tsl_err tsl_combine_fold(const tsl_field *field, const void *part);

/**
 * Collective on phase->comm. Append the LIST fields to the output in unit order: the order does not
 * depend on who computed. Sets shape[0] of each LIST field to the number of records, on all ranks.
 * @param[in] rows  rank 0: log of all ranks, shape [n_rows], gives each unit's owner
 */
tsl_err tsl_combine_lists(tsl_phase *phase, const tsl_out_unit *rows, int64_t n_rows);
