/**
 * @file sums.h
 * The family sums, which accept.extend adds: sums over the rows of Hilbert's matrix 1/(i + j + 1).
 * A unit is a range of rows [lo[0], hi[0]).
 */
#pragma once

#include "contract.h"

/** Parameters of a problem; plain data, the same on all ranks. */
typedef struct sums_params {
  int64_t rows, columns;
} sums_params;

/** Index into problem->fields: GATHER f64 [rows]. */
enum { SUMS_SUMS };

extern const tsl_family tsl_family_sums;
