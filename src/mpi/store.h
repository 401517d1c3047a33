/**
 * @file store.h
 * Finished fields by rows, from memory or from the file: what family.finish works on.
 */
#ifndef TSL_MPI_STORE_H
#define TSL_MPI_STORE_H

#include "out_h5.h"

/** State behind a tsl_store; nothing is owned. */
typedef struct tsl_store_state {
  tsl_problem *problem;
  tsl_out *out; /**< after tsl_out_close_stream */
} tsl_store_state;

/**
 * Make a store; root only.
 *
 * A streamed field is read and written in its dataset of FILE.part, another one in its array.
 * read and write return TSL_ERR_INTERNAL for a field that is not GATHER or rows outside it,
 * TSL_ERR_NUMERIC for NaN or infinity in written rows, TSL_ERR_STOPPED after a signal, and errors
 * of the file. Memory: the caller's rows and the caches of tsl_out_read_rows.
 * @param[out] state  must outlive the store
 */
void tsl_store_make(tsl_problem *problem, tsl_out *out, tsl_store_state *state, tsl_store *store);

/**
 * Let the family derive and draw: family.finish on the root, then everything on disk.
 * Collective: on comm. Does nothing for a family without finish.
 */
tsl_err tsl_store_finish(MPI_Comm comm, tsl_problem *problem, tsl_out *out);

#endif
