/* SUM, MIN and MAX fields by MPI_Reduce in pieces; LIST fields by messages to rank 0, which appends
 * them in unit order. */
#include "combine.h"

#include "collective_error.h"
#include "parallel.h"
#include "result_writer.h"

#include <stdlib.h>

enum { TAG_COUNT = 3, TAG_RECORDS = 4 };

static const int64_t PIECE = INT64_C(1) << 28; /* elements of one message or reduction */

static MPI_Datatype mpi_type(tsl_type type) {
  switch (type) {
  case TSL_U8:
    return MPI_UINT8_T;
  case TSL_I16:
    return MPI_INT16_T;
  case TSL_U16:
    return MPI_UINT16_T;
  case TSL_I32:
    return MPI_INT32_T;
  case TSL_U32:
    return MPI_UINT32_T;
  case TSL_I64:
    return MPI_INT64_T;
  case TSL_U64:
    return MPI_UINT64_T;
  case TSL_F32:
    return MPI_FLOAT;
  case TSL_F64:
    return MPI_DOUBLE;
  case TSL_N_TYPES:
    break;
  }
  return MPI_DATATYPE_NULL;
}

static MPI_Op mpi_op(tsl_combine combine) {
  return combine == TSL_SUM ? MPI_SUM : combine == TSL_MIN ? MPI_MIN : MPI_MAX;
}

bool tsl_combine_reduced(const tsl_field *field) {
  return (field->role & TSL_OUT) &&
         (field->combine == TSL_SUM || field->combine == TSL_MIN || field->combine == TSL_MAX);
}

static tsl_err reduce_field(MPI_Comm comm, int rank, const tsl_field *field) {
  tsl_err err = TSL_OK;
  const int64_t n = tsl_field_count(field);
  const size_t element = tsl_type_bytes((tsl_type)field->type);
  for (int64_t at = 0; at < n; at += PIECE) {
    const int length = (int)(n - at < PIECE ? n - at : PIECE);
    void *part = (char *)field->data + (size_t)at * element;
    TSL_MPI(MPI_Reduce(rank == 0 ? MPI_IN_PLACE : part, rank == 0 ? part : NULL, length,
                       mpi_type((tsl_type)field->type), mpi_op((tsl_combine)field->combine), 0,
                       comm));
  }
done:
  return err;
}

static tsl_err check_range(void *context, int slot, int64_t lo, int64_t hi) {
  const tsl_field *field = *(const tsl_field *const *)context;
  const char *data = field->data;
  (void)slot;
  const int64_t bad =
      tsl_first_bad(field, data + (size_t)lo * tsl_type_bytes((tsl_type)field->type), hi - lo);
  if (bad < 0) return TSL_OK;
  return tsl_fail(TSL_ERR_NUMERIC, __FILE__, __LINE__, "field '%s': %s at element %lld",
                  field->name, tsl_bad_word(field), (long long)(lo + bad));
}

/** A field may be as large as what all devices do in a phase of milliseconds. */
static tsl_err check_field(const tsl_field *field) {
  enum { RANGE = 1 << 16 };
  return tsl_parallel(tsl_field_count(field), RANGE, check_range, &field);
}

tsl_err tsl_combine_fold(const tsl_field *field, const void *part) {
  tsl_err err = TSL_OK;
  const int64_t n = tsl_field_count(field);
  const size_t element = tsl_type_bytes((tsl_type)field->type);
  for (int64_t at = 0; at < n; at += PIECE)
    TSL_MPI(MPI_Reduce_local((const char *)part + (size_t)at * element,
                             (char *)field->data + (size_t)at * element,
                             (int)(n - at < PIECE ? n - at : PIECE),
                             mpi_type((tsl_type)field->type), mpi_op((tsl_combine)field->combine)));
  TSL_TRY(check_field(field));
done:
  return err;
}

tsl_err tsl_combine_reduce(MPI_Comm comm, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  int rank = 0;
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  for (int f = 0; f < problem->n_fields; f++) {
    if (!tsl_combine_reduced(&problem->fields[f])) continue;
    TSL_TRY(reduce_field(comm, rank, &problem->fields[f]));
    TSL_COLLECTIVE_TRY(comm, rank == 0 ? check_field(&problem->fields[f]) : TSL_OK);
  }
done:
  return err;
}

/* ---- lists */

static tsl_err append(tsl_phase *phase, tsl_field *field, const void *records, int64_t n) {
  tsl_err err = TSL_OK;
  if (tsl_first_bad(field, records, n * tsl_field_row(field)) >= 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "field '%s': %s in a record", field->name, tsl_bad_word(field));
  if (n > 0 && phase->out != NULL) TSL_TRY(tsl_out_append(phase->out, field, records, n));
  field->shape[0] += n;
done:
  return err;
}

static tsl_err send_list(MPI_Comm comm, const tsl_field *field, const tsl_list *list) {
  tsl_err err = TSL_OK;
  const int64_t n = list->n * tsl_field_row(field);
  const size_t element = tsl_type_bytes((tsl_type)field->type);
  TSL_MPI(MPI_Send(&list->n, 1, MPI_INT64_T, 0, TAG_COUNT, comm));
  for (int64_t at = 0; at < n; at += PIECE)
    TSL_MPI(MPI_Send((const char *)list->data + (size_t)at * element,
                     (int)(n - at < PIECE ? n - at : PIECE), mpi_type((tsl_type)field->type), 0,
                     TAG_RECORDS, comm));
done:
  return err;
}

static tsl_err receive_list(MPI_Comm comm, int source, const tsl_field *field, tsl_list *list) {
  tsl_err err = TSL_OK;
  const size_t element = tsl_type_bytes((tsl_type)field->type);
  int64_t n = 0;
  TSL_MPI(MPI_Recv(&list->n, 1, MPI_INT64_T, source, TAG_COUNT, comm, MPI_STATUS_IGNORE));
  n = list->n * tsl_field_row(field);
  list->data = malloc((size_t)n * element + 1);
  if (list->data == NULL) TSL_FAIL(TSL_ERR_MEMORY, "field '%s': no memory for a list", field->name);
  for (int64_t at = 0; at < n; at += PIECE)
    TSL_MPI(MPI_Recv((char *)list->data + (size_t)at * element,
                     (int)(n - at < PIECE ? n - at : PIECE), mpi_type((tsl_type)field->type),
                     source, TAG_RECORDS, comm, MPI_STATUS_IGNORE));
done:
  return err;
}

static tsl_list *list_of(const tsl_phase *phase, int64_t unit, int f) {
  return &phase->lists.of[unit * phase->problem->n_fields + f];
}

/* Rank 0: take the units in order, from here or from their owner. After a failed write the rest is
 * still received, or the senders would wait. */
static tsl_err collect_lists(tsl_phase *phase, int f, const int32_t *owner) {
  tsl_err err = TSL_OK, first = TSL_OK;
  tsl_err_copy kept;
  tsl_list received = {0};
  tsl_field *field = &phase->problem->fields[f];
  for (int64_t u = 0; u < phase->plan->n_units; u++) {
    const tsl_list *list = list_of(phase, u, f);
    if (owner[u] > 0) {
      TSL_TRY(receive_list(phase->comm, owner[u], field, &received));
      list = &received;
    }
    if (first == TSL_OK) {
      first = append(phase, field, list->data, list->n);
      if (first != TSL_OK) tsl_err_save(first, &kept);
    }
    free(received.data);
    received = (tsl_list){0};
  }
  if (first != TSL_OK) err = tsl_err_restore(&kept);
done:
  free(received.data);
  return err;
}

static tsl_err send_lists(const tsl_phase *phase, int f, const int32_t *owner, int rank) {
  tsl_err err = TSL_OK;
  for (int64_t u = 0; u < phase->plan->n_units; u++)
    if (owner[u] == rank)
      TSL_TRY(send_list(phase->comm, &phase->problem->fields[f], list_of(phase, u, f)));
done:
  return err;
}

tsl_err tsl_combine_lists(tsl_phase *phase, const tsl_out_unit *rows, int64_t n_rows) {
  tsl_err err = TSL_OK;
  int32_t *owner = NULL;
  int rank = 0;
  const int64_t n_units = phase->plan->n_units;
  if (phase->lists.of == NULL) return TSL_OK; /* no LIST field, on any rank */
  TSL_MPI(MPI_Comm_rank(phase->comm, &rank));
  TSL_COLLECTIVE_TRY(phase->comm,
                     tsl_alloc(n_units, sizeof *owner, "unit owners", (void **)&owner));
  for (int64_t k = 0; rank == 0 && k < n_rows; k++) owner[rows[k].unit.id] = rows[k].owner;
  TSL_MPI(MPI_Bcast(owner, (int)n_units, MPI_INT32_T, 0, phase->comm));
  for (int f = 0; f < phase->problem->n_fields; f++) {
    tsl_field *field = &phase->problem->fields[f];
    if (!(field->role & TSL_OUT) || field->combine != TSL_LIST) continue;
    TSL_COLLECTIVE_TRY(phase->comm, rank == 0 ? collect_lists(phase, f, owner)
                                              : send_lists(phase, f, owner, rank));
    TSL_MPI(MPI_Bcast(&field->shape[0], 1, MPI_INT64_T, 0, phase->comm));
  }
done:
  tsl_free(owner);
  return err;
}
