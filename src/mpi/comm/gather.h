/**
 * @file gather.h
 * Plain rows of every rank to one array on rank 0.
 */
#pragma once

#include "contract.h"

#include <mpi.h>

/**
 * Collective on comm. Concatenate the ranks' rows in rank order on rank 0.
 * @param[in]  rows       shape [n], each of row_bytes
 * @param[out] all        rank 0: shape [*n_all], free with tsl_free; other ranks NULL
 * @param[out] n_all      rank 0: total rows; other ranks 0
 */
tsl_err tsl_gather_rows(MPI_Comm comm, const void *rows, int64_t n, size_t row_bytes, void **all,
                        int64_t *n_all);
