/* Broadcasts and messages in pieces of at most 1 GiB, and allocation of a problem's fields away
 * from the root. */
#include "bcast.h"

#include "collective_error.h"

#include <string.h>

enum { PIECE = 1 << 30 };

tsl_err tsl_bcast_bytes(MPI_Comm comm, void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  for (int64_t at = 0; at < n; at += PIECE) {
    const int length = (int)(n - at < PIECE ? n - at : PIECE);
    TSL_MPI(MPI_Bcast((char *)bytes + at, length, MPI_BYTE, 0, comm));
  }
done:
  return err;
}

tsl_err tsl_bcast_send(MPI_Comm comm, int to, int tag, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  for (int64_t at = 0; at < n; at += PIECE) {
    const int length = (int)(n - at < PIECE ? n - at : PIECE);
    TSL_MPI(MPI_Send((const char *)bytes + at, length, MPI_BYTE, to, tag, comm));
  }
done:
  return err;
}

tsl_err tsl_bcast_receive(MPI_Comm comm, int from, int tag, void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  for (int64_t at = 0; at < n; at += PIECE) {
    const int length = (int)(n - at < PIECE ? n - at : PIECE);
    TSL_MPI(MPI_Recv((char *)bytes + at, length, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE));
  }
done:
  return err;
}

/* Does this rank hold the field's array? */
static bool held_here(const tsl_field *field, int rank) {
  if (field->role & TSL_IN) return true;
  if (field->combine == TSL_LIST || field->stream) return false;
  return rank == 0 || field->combine != TSL_GATHER;
}

static tsl_err allocate_fields(tsl_problem *problem, int rank) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < problem->n_fields; f++) {
    tsl_field *field = &problem->fields[f];
    if (rank != 0) field->data = NULL; /* the root's pointer came with the table */
    if (held_here(field, rank)) TSL_TRY(tsl_field_allocate(field));
  }
done:
  return err;
}

/* The first time all IN fields, then those whose number of changes is another. */
static tsl_err share_fields(MPI_Comm comm, tsl_problem *problem, bool all) {
  tsl_err err = TSL_OK;
  int64_t changes[TSL_MAX_FIELDS] = {0};
  for (int f = 0; f < problem->n_fields; f++) changes[f] = problem->fields[f].changes;
  TSL_MPI(MPI_Bcast(changes, TSL_MAX_FIELDS, MPI_INT64_T, 0, comm));
  for (int f = 0; f < problem->n_fields; f++) {
    tsl_field *field = &problem->fields[f];
    field->changes = changes[f];
    if (!(field->role & TSL_IN) || (!all && field->shared == field->changes)) continue;
    TSL_TRY(tsl_bcast_bytes(comm, field->data, tsl_field_bytes(field)));
    field->shared = field->changes;
  }
done:
  return err;
}

tsl_err tsl_bcast_inputs(MPI_Comm comm, tsl_problem *problem) {
  return share_fields(comm, problem, false);
}

/* Fields may hold root pointers while in transit; drop them before anything can fail. */
static void forget_pointers(tsl_problem *problem) {
  for (int f = 0; f < problem->n_fields; f++) problem->fields[f].data = NULL;
}

tsl_err tsl_bcast_problem(MPI_Comm comm, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  int rank = 0;
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  TSL_MPI(MPI_Bcast(&problem->params_bytes, 1, MPI_INT64_T, 0, comm));
  TSL_MPI(MPI_Bcast(&problem->n_fields, 1, MPI_INT32_T, 0, comm));
  TSL_MPI(MPI_Bcast(problem->fields, (int)sizeof problem->fields, MPI_BYTE, 0, comm));
  if (rank != 0) forget_pointers(problem);
  if (rank != 0) err = tsl_alloc(problem->params_bytes, 1, "problem parameters", &problem->params);
  if (err == TSL_OK) err = allocate_fields(problem, rank);
  TSL_COLLECTIVE_TRY(comm, err);
  TSL_TRY(tsl_bcast_bytes(comm, problem->params, problem->params_bytes));
  TSL_TRY(share_fields(comm, problem, true));
done:
  return err;
}
