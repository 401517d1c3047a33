/* Row counts are exchanged by MPI_Allgather, rows by messages to rank 0 in pieces of at most 1 GiB.
 * */
#include "gather.h"

#include "collective_error.h"

#include <string.h>

enum { TAG_ROWS = 7, PIECE = 1 << 30 };

static tsl_err send_all(MPI_Comm comm, const char *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  for (int64_t at = 0; at < n; at += PIECE)
    TSL_MPI(
        MPI_Send(bytes + at, (int)(n - at < PIECE ? n - at : PIECE), MPI_BYTE, 0, TAG_ROWS, comm));
done:
  return err;
}

static tsl_err receive_all(MPI_Comm comm, int source, char *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  for (int64_t at = 0; at < n; at += PIECE)
    TSL_MPI(MPI_Recv(bytes + at, (int)(n - at < PIECE ? n - at : PIECE), MPI_BYTE, source, TAG_ROWS,
                     comm, MPI_STATUS_IGNORE));
done:
  return err;
}

tsl_err tsl_gather_rows(MPI_Comm comm, const void *rows, int64_t n, size_t row_bytes, void **all,
                        int64_t *n_all) {
  tsl_err err = TSL_OK;
  int rank = 0, size = 1;
  int64_t *counts = NULL, total = 0, at = 0;
  *all = NULL;
  *n_all = 0;
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  TSL_MPI(MPI_Comm_size(comm, &size));
  TSL_COLLECTIVE_TRY(comm, tsl_alloc(size, sizeof *counts, "row counts", (void **)&counts));
  TSL_MPI(MPI_Allgather(&n, 1, MPI_INT64_T, counts, 1, MPI_INT64_T, comm));
  for (int r = 0; r < size; r++) total += counts[r];
  TSL_COLLECTIVE_TRY(comm, rank == 0 ? tsl_alloc(total, row_bytes, "gathered rows", all) : TSL_OK);
  if (rank != 0) {
    TSL_TRY(send_all(comm, rows, n * (int64_t)row_bytes));
    goto done;
  }
  if (n > 0) memcpy(*all, rows, (size_t)n * row_bytes);
  at = n * (int64_t)row_bytes;
  for (int r = 1; r < size; r++) {
    TSL_TRY(receive_all(comm, r, (char *)*all + at, counts[r] * (int64_t)row_bytes));
    at += counts[r] * (int64_t)row_bytes;
  }
  *n_all = total;
done:
  tsl_free(counts);
  if (err != TSL_OK) tsl_free(*all), *all = NULL;
  return err;
}
