/* A rank writes the slabs that it stores itself, neighbouring boxes as one, and sends the others to
 * rank 0 in messages of at most 1 GiB. Rank 0 receives, checks and stores them. */
#include "result_writer.h"

#include "collective_error.h"
#include "heartbeat.h"
#include "slab_pool.h"

#include <math.h>
#include <string.h>

enum { TAG_HEADER = 1, TAG_FIELD = 16, END_MARK = -1 };

static const int64_t PIECE = INT64_C(1) << 30;

/* Neighbouring boxes whose slabs lie behind each other: written to the file as one. */
typedef struct joined {
  const char *data; /* NULL: nothing */
  int64_t bytes, lo[3], hi[3];
} joined;

struct tsl_result_writer {
  MPI_Comm comm; /* not owned */
  tsl_problem *problem;
  tsl_out *out;
  const tsl_unit *units;
  int64_t n_units;
  int rank, size;
  bool *ended; /* [size] rank 0: no more comes */
  bool independent;
  joined pending[TSL_MAX_FIELDS];
  void *staging;         /* rank 0: received slabs of one field */
  int64_t *ids;          /* rank 0: of the received units */
  int64_t room, id_room; /* bytes; ids */
};

/* ---- values that may not be; a block is tested by its exponents before looking closer */

static bool finite_f32(const uint32_t *bits, int64_t n) {
  uint32_t bad = 0;
  for (int64_t k = 0; k < n; k++) bad |= (bits[k] & 0x7f800000u) == 0x7f800000u;
  return bad == 0;
}

/* One more than the largest exponent carries into the sign, an addition that all vectors have. */
static bool finite_f64(const uint64_t *bits, int64_t n) {
  const uint64_t exponent = UINT64_C(0x7ff0000000000000), one = UINT64_C(1) << 52;
  uint64_t bad = 0;
  for (int64_t k = 0; k < n; k++) bad |= (bits[k] & exponent) + one;
  return bad >> 63 == 0;
}

static bool all_finite(tsl_type type, const void *data, int64_t at, int64_t n) {
  return type == TSL_F32 ? finite_f32((const uint32_t *)data + at, n)
                         : finite_f64((const uint64_t *)data + at, n);
}

/* The value at `at`, which is not finite. */
static bool is_nan(tsl_type type, const void *data, int64_t at) {
  return type == TSL_F32 ? isnan(((const float *)data)[at]) : isnan(((const double *)data)[at]);
}

int64_t tsl_first_bad(const tsl_field *field, const void *data, int64_t n) {
  enum { BLOCK = 4096 };
  const tsl_type type = (tsl_type)field->type;
  if (type != TSL_F32 && type != TSL_F64) return -1;
  for (int64_t at = 0; at < n; at += BLOCK) {
    const int64_t end = n - at < BLOCK ? n : at + BLOCK;
    if (all_finite(type, data, at, end - at)) continue;
    for (int64_t k = at; k < end; k++)
      if (!all_finite(type, data, k, 1) && (!field->infinite || is_nan(type, data, k))) return k;
  }
  return -1;
}

const char *tsl_bad_word(const tsl_field *field) {
  return field->infinite ? "NaN" : "NaN or infinity";
}

static int64_t box_count(const int64_t lo[3], const int64_t hi[3]) {
  return (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]);
}

static tsl_err check_slab(const tsl_problem *problem, int f, const tsl_unit *unit,
                          const int64_t lo[3], const int64_t hi[3], const void *slab) {
  const tsl_field *field = &problem->fields[f];
  const char *why = problem->family->bad_value;
  const int64_t bad = tsl_first_bad(field, slab, box_count(lo, hi));
  if (bad < 0) return TSL_OK;
  return tsl_fail(TSL_ERR_NUMERIC, __FILE__, __LINE__,
                  "field '%s': %s at element %lld of unit %lld (rows %lld to %lld)%s%s",
                  field->name, tsl_bad_word(field), (long long)bad, (long long)unit->id,
                  (long long)unit->lo[0], (long long)unit->hi[0] - 1, why != NULL ? "; " : "",
                  why != NULL ? why : "");
}

/* ---- rank 0's side */

/* Copy a row-major box into the whole array. */
static void result_writer_place(const tsl_field *field, const int64_t lo[3], const int64_t hi[3],
                                const void *slab) {
  const size_t element = tsl_type_bytes((tsl_type)field->type);
  const size_t run = (size_t)(hi[2] - lo[2]) * element;
  const char *from = slab;
  for (int64_t i = lo[0]; i < hi[0]; i++)
    for (int64_t j = lo[1]; j < hi[1]; j++, from += run) {
      const int64_t at = (i * field->shape[1] + j) * field->shape[2] + lo[2];
      memcpy((char *)field->data + (size_t)at * element, from, run);
    }
}

static tsl_err write_pending(tsl_result_writer *d, int f) {
  joined *j = &d->pending[f];
  const char *data = j->data;
  if (data == NULL) return TSL_OK;
  j->data = NULL;
  return tsl_out_slab(d->out, &d->problem->fields[f], j->lo, j->hi, data);
}

static bool continues(const joined *j, const int64_t lo[3], const int64_t hi[3], const char *slab) {
  bool same = j->data != NULL && j->data + j->bytes == slab && j->hi[0] == lo[0];
  for (int k = 1; k < 3; k++) same = same && j->lo[k] == lo[k] && j->hi[k] == hi[k];
  return same;
}

/* Write the box, or keep it to be written with those that follow. */
static tsl_err result_writer_join(tsl_result_writer *d, int f, const int64_t lo[3],
                                  const int64_t hi[3], const char *slab) {
  tsl_err err = TSL_OK;
  joined *j = &d->pending[f];
  const tsl_type type = (tsl_type)d->problem->fields[f].type;
  if (!continues(j, lo, hi, slab)) {
    TSL_TRY(write_pending(d, f));
    *j = (joined){.data = slab};
    memcpy(j->lo, lo, sizeof j->lo);
  }
  memcpy(j->hi, hi, sizeof j->hi);
  j->bytes += box_count(lo, hi) * (int64_t)tsl_type_bytes(type);
done:
  return err;
}

tsl_err tsl_result_writer_flush(tsl_result_writer *d) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < d->problem->n_fields; f++) TSL_TRY(write_pending(d, f));
done:
  return err;
}

static tsl_err result_writer_store(tsl_result_writer *d, const tsl_unit *unit, int f,
                                   const void *slab) {
  const tsl_field *field = &d->problem->fields[f];
  int64_t lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
  tsl_err err = TSL_OK;
  d->problem->family->region(d->problem, unit, f, lo, hi);
  if (box_count(lo, hi) == 0) return TSL_OK;
  TSL_TRY(check_slab(d->problem, f, unit, lo, hi, slab));
  if (!field->stream)
    result_writer_place(field, lo, hi, slab);
  else if (d->out != NULL)
    TSL_TRY(result_writer_join(d, f, lo, hi, slab));
done:
  return err;
}

static bool goes_to_root(const tsl_result_writer *d, int f) {
  const tsl_field *field = &d->problem->fields[f];
  const bool gathered = (field->role & TSL_OUT) && field->combine == TSL_GATHER;
  return gathered && !(field->stream && d->independent);
}

tsl_err tsl_result_writer_open(MPI_Comm comm, tsl_problem *problem, tsl_out *out,
                               const tsl_unit *units, int64_t n, tsl_result_writer **delivery) {
  tsl_err err = TSL_OK;
  tsl_result_writer *d = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *d, "delivery", (void **)&d));
  *d = (tsl_result_writer){
      .comm = comm, .problem = problem, .out = out, .units = units, .n_units = n};
  TSL_MPI(MPI_Comm_rank(comm, &d->rank));
  TSL_MPI(MPI_Comm_size(comm, &d->size));
  TSL_TRY(tsl_alloc(d->size, sizeof *d->ended, "delivery", (void **)&d->ended));
  d->independent = out != NULL && tsl_out_independent(out);
  *delivery = d;
  d = NULL;
done:
  if (d != NULL) tsl_free(d->ended);
  tsl_free(d);
  return err;
}

void tsl_result_writer_close(tsl_result_writer **delivery) {
  if (*delivery == NULL) return;
  TSL_FREE_ALL((*delivery)->staging, (*delivery)->ids, (*delivery)->ended, *delivery);
  *delivery = NULL;
}

/* ---- the sender's side */

static tsl_err post(tsl_result_writer *d, tsl_message *parcel, const void *bytes, int64_t n,
                    int tag) {
  tsl_err err = TSL_OK;
  for (int64_t at = 0; at < n; at += PIECE) {
    const int length = (int)(n - at < PIECE ? n - at : PIECE);
    if (parcel->n_requests == 2 * TSL_MAX_FIELDS)
      TSL_FAIL(TSL_ERR_INPUT, "a result slab of %lld bytes is too large to send; raise run.units",
               (long long)n);
    TSL_MPI(MPI_Isend((const char *)bytes + at, length, MPI_BYTE, 0, tag, d->comm,
                      &parcel->requests[parcel->n_requests++]));
  }
done:
  return err;
}

/* The slabs of field f behind one another: where they begin, and their bytes. */
static tsl_err slabs_of(const tsl_result_writer *d, const tsl_unit *units, int64_t n,
                        const tsl_part *parts, int f, const char **first, int64_t *bytes) {
  tsl_err err = TSL_OK;
  *first = NULL, *bytes = 0;
  for (int64_t u = 0; u < n; u++) {
    const int64_t more = tsl_slab_bytes(d->problem, &units[u], f);
    const char *slab = parts[u].slab[f];
    if (more == 0) continue;
    if (*first == NULL) *first = slab;
    if (slab != *first + *bytes)
      TSL_FAIL(TSL_ERR_INTERNAL, "field '%s': the slab of unit %lld is apart from those before",
               d->problem->fields[f].name, (long long)units[u].id);
    *bytes += more;
  }
done:
  return err;
}

static tsl_err announce(tsl_result_writer *d, const tsl_unit *units, int64_t n,
                        tsl_message *parcel) {
  tsl_err err = TSL_OK;
  if (parcel->ids != NULL) return TSL_OK;
  TSL_TRY(tsl_alloc(n, sizeof *parcel->ids, "parcel", (void **)&parcel->ids));
  for (int64_t u = 0; u < n; u++) parcel->ids[u] = units[u].id;
  TSL_TRY(post(d, parcel, parcel->ids, n * (int64_t)sizeof *parcel->ids, TAG_HEADER));
done:
  return err;
}

tsl_err tsl_result_writer_send(tsl_result_writer *d, const tsl_unit *units, int64_t n,
                               const tsl_part *parts, tsl_message *parcel) {
  tsl_err err = TSL_OK;
  *parcel = (tsl_message){0};
  for (int f = 0; f < d->problem->n_fields && d->rank != 0; f++) {
    const char *slabs = NULL;
    int64_t bytes = 0;
    if (!goes_to_root(d, f)) continue;
    TSL_TRY(slabs_of(d, units, n, parts, f, &slabs, &bytes));
    if (bytes == 0) continue;
    TSL_TRY(announce(d, units, n, parcel));
    TSL_TRY(post(d, parcel, slabs, bytes, TAG_FIELD + f));
  }
done:
  return err;
}

tsl_err tsl_result_writer_put(tsl_result_writer *d, const tsl_unit *unit, const tsl_part *part) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < d->problem->n_fields; f++) {
    const tsl_field *field = &d->problem->fields[f];
    const bool gathered = (field->role & TSL_OUT) && field->combine == TSL_GATHER;
    const bool here = d->rank == 0 || !goes_to_root(d, f);
    if (gathered && here) TSL_TRY(result_writer_store(d, unit, f, part->slab[f]));
  }
done:
  return err;
}

tsl_err tsl_message_sent(tsl_message *parcel, bool *sent) {
  tsl_err err = TSL_OK;
  int flag = 1;
  if (parcel->n_requests > 0)
    TSL_MPI(MPI_Testall(parcel->n_requests, parcel->requests, &flag, MPI_STATUSES_IGNORE));
  *sent = flag != 0;
  if (!flag) goto done;
  tsl_free(parcel->ids);
  *parcel = (tsl_message){0};
done:
  return err;
}

void tsl_message_drop(tsl_message *parcel) {
  if (parcel->n_requests == 0) tsl_free(parcel->ids); /* else MPI may still read them */
  *parcel = (tsl_message){0};
}

static tsl_err receive(tsl_result_writer *d, int source, int tag, void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int64_t at = 0; at < n; at += PIECE) {
    const int length = (int)(n - at < PIECE ? n - at : PIECE);
    TSL_MPI(MPI_Irecv((char *)bytes + at, length, MPI_BYTE, source, tag, d->comm, &request));
    TSL_TRY(tsl_mpi_wait(&request, source, length));
  }
done:
  return err;
}

static tsl_err result_writer_grow(void **memory, int64_t *room, int64_t wanted, size_t size) {
  tsl_err err = TSL_OK;
  if (wanted <= *room) return TSL_OK;
  tsl_free(*memory);
  *memory = NULL, *room = 0;
  TSL_TRY(tsl_alloc(wanted, size, "receive buffer", memory));
  *room = wanted;
done:
  return err;
}

/* Store the received slabs of a field one behind another; neighbours are written together. */
static tsl_err store_received(tsl_result_writer *d, int64_t n, int f) {
  tsl_err err = TSL_OK;
  const char *slab = d->staging;
  for (int64_t k = 0; k < n; k++) {
    const tsl_unit *unit = &d->units[d->ids[k]];
    const int64_t bytes = tsl_slab_bytes(d->problem, unit, f);
    if (bytes > 0) TSL_TRY(result_writer_store(d, unit, f, slab));
    slab += bytes;
  }
  TSL_TRY(write_pending(d, f));
done:
  return err;
}

/* The units of a parcel that is announced with so many bytes. */
static tsl_err take_ids(tsl_result_writer *d, int source, int bytes, int64_t *n) {
  tsl_err err = TSL_OK;
  *n = bytes / (int64_t)sizeof *d->ids;
  TSL_TRY(result_writer_grow((void **)&d->ids, &d->id_room, *n, sizeof *d->ids));
  TSL_TRY(receive(d, source, TAG_HEADER, d->ids, bytes));
  for (int64_t k = 0; k < *n; k++)
    if (d->ids[k] >= d->n_units || (d->ids[k] < 0 && d->ids[0] != END_MARK))
      TSL_FAIL(TSL_ERR_INTERNAL, "rank %d sent results of unit %lld, which is none", source,
               (long long)d->ids[k]);
done:
  return err;
}

/* After a failed write the rest is still received, or the senders would wait for ever. */
static tsl_err take_parcel(tsl_result_writer *d, int source, int64_t n, bool drop) {
  tsl_err err = TSL_OK, first = TSL_OK;
  tsl_err_copy kept;
  for (int f = 0; f < d->problem->n_fields; f++) {
    int64_t bytes = 0;
    if (!goes_to_root(d, f)) continue;
    for (int64_t k = 0; k < n; k++) bytes += tsl_slab_bytes(d->problem, &d->units[d->ids[k]], f);
    if (bytes == 0) continue;
    TSL_TRY(result_writer_grow(&d->staging, &d->room, bytes, 1));
    TSL_TRY(receive(d, source, TAG_FIELD + f, d->staging, bytes));
    if (drop || first != TSL_OK) continue;
    first = store_received(d, n, f);
    if (first != TSL_OK) tsl_err_save(first, &kept);
  }
  if (first != TSL_OK) err = tsl_err_restore(&kept);
done:
  return err;
}

/* The sender is gone: its units are not finished, and MPI may still write to the buffers. */
static tsl_err leave_parcel(tsl_result_writer *d) {
  d->staging = d->ids = NULL;
  d->room = d->id_room = 0;
  return TSL_OK;
}

tsl_err tsl_result_writer_serve(tsl_result_writer *d, bool drop, bool *took) {
  tsl_err err = TSL_OK;
  int flag = 0, bytes = 0;
  int64_t n = 0;
  MPI_Status status;
  if (d->rank != 0 || d->size == 1) return TSL_OK;
  TSL_MPI(MPI_Iprobe(MPI_ANY_SOURCE, TAG_HEADER, d->comm, &flag, &status));
  if (!flag) return TSL_OK;
  *took = true;
  TSL_MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
  TSL_TRY(take_ids(d, status.MPI_SOURCE, bytes, &n));
  if (n == 1 && d->ids[0] == END_MARK)
    d->ended[status.MPI_SOURCE] = true;
  else
    TSL_TRY(take_parcel(d, status.MPI_SOURCE, n, drop));
done:
  if (err == TSL_ERR_LOST) return leave_parcel(d);
  return err;
}

tsl_err tsl_result_writer_end(tsl_result_writer *d) {
  tsl_err err = TSL_OK;
  const int64_t end = END_MARK;
  if (d->rank != 0) TSL_MPI(MPI_Send(&end, (int)sizeof end, MPI_BYTE, 0, TAG_HEADER, d->comm));
done:
  return err;
}

bool tsl_result_writer_complete(const tsl_result_writer *d) {
  for (int r = 1; d->rank == 0 && r < d->size; r++)
    if (!d->ended[r] && !tsl_heart_gone(r)) return false;
  return true;
}
