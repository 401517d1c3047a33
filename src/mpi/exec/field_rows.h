/**
 * @file field_rows.h
 * Finished fields by rows, from memory or from the file: what family.finish works on.
 */
#pragma once

#include "executor.h"
#include "out_h5.h"

/**
 * Collective on comm; nothing for a family without finish. Let the family derive and draw:
 * family.finish on the root, then everything on disk.
 *
 * A streamed field is read and written in its dataset of FILE.part, another one in its array. The
 * store's calls return TSL_ERR_INTERNAL for a field that is not GATHER or rows outside it,
 * TSL_ERR_NUMERIC for NaN or infinity in written rows, TSL_ERR_STOPPED after a signal, and errors
 * of the file. Tiles computed again have the executor's worker. Memory: the family's rows and the
 * caches of tsl_out_read_rows.
 */
tsl_err tsl_field_rows_finish(MPI_Comm comm, const tsl_executor *executor, tsl_problem *problem,
                              tsl_out *out);
