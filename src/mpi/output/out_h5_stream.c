/* The streamed part of the output: boxes and lists written while the run goes on. */
#include "collective_error.h"
#include "heartbeat.h"
#include "out_h5_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20, CHUNK_CACHE = 64 * MIB, CHUNK_SLOTS = 100003 };

/* Whole chunks leave the cache first. Not 1: then those never filled (a triangle's diagonal) stay.
 */
static const double PREEMPT = 0.75;

/* ------------------------------------------------------------------- layout */

static hsize_t at_most(hsize_t value, hsize_t limit) {
  return value < 1 ? 1 : value < limit ? value : limit;
}

/* About 4 MiB; of two dimensions a full row of chunks stays within 16 MiB, so that bands of rows
   written one after another find their partly filled chunks in the cache. */
static void chunk_of(int rank, const hsize_t *dims, size_t element, bool grows, hsize_t *chunk) {
  const hsize_t inner = rank == 3 ? at_most(dims[2], MIB) : 1;
  const hsize_t width = (hsize_t)element * inner;
  hsize_t columns = 1;
  for (int k = 1; k < rank; k++) columns = at_most(dims[1], (hsize_t)1 << 40);
  if (grows) {
    chunk[0] = at_most(MIB / (width * columns), (hsize_t)1 << 18);
    for (int k = 1; k < rank; k++) chunk[k] = at_most(dims[k], MIB);
    return;
  }
  if (rank == 1) {
    chunk[0] = at_most(dims[0], MIB);
    return;
  }
  chunk[0] = at_most(at_most(16 * MIB / (width * columns), (hsize_t)1 << 20), dims[0]);
  chunk[1] = at_most(at_most(4 * MIB / (width * chunk[0]), (hsize_t)1 << 22), dims[1]);
  if (rank == 3) chunk[2] = inner;
}

static herr_t add_filters(hid_t create, const tsl_out *out) {
  if (out->compress > 0 && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0 &&
      (H5Pset_shuffle(create) < 0 || H5Pset_deflate(create, (unsigned)out->compress) < 0))
    return -1;
  return H5Pset_fletcher32(create);
}

hid_t tsl_out_layout(const tsl_out *out, int rank, const hsize_t *dims, size_t element, bool grows,
                     bool filters) {
  hsize_t chunk[3] = {1, 1, 1};
  hsize_t count = 1;
  herr_t status = 0;
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  for (int k = 0; k < rank; k++) count *= dims[k];
  if (grows || (filters && count > 0)) {
    chunk_of(rank, dims, element, grows, chunk);
    status = H5Pset_chunk(create, rank, chunk);
    if (status >= 0) status = add_filters(create, out);
  } else if (!filters) { /* every element will be written, so nothing is filled in before */
    status = H5Pset_layout(create, H5D_CONTIGUOUS);
    if (status >= 0) status = H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY);
    if (status >= 0) status = H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
  }
  if (status >= 0) return create;
  (void)H5Pclose(create);
  return -1;
}

hid_t tsl_out_stream_access(void) {
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  if (access < 0 || H5Pset_chunk_cache(access, CHUNK_SLOTS, CHUNK_CACHE, PREEMPT) >= 0)
    return access;
  (void)H5Pclose(access);
  return -1;
}

/* ------------------------------------------------------------------- define */

static tsl_err create_stream(tsl_out *out, const tsl_field *field, tsl_out_stream *stream) {
  tsl_err err = TSL_OK;
  hsize_t dims[3], most[3];
  hid_t space = -1, create = -1, access = -1, place = -1;
  for (int k = 0; k < 3; k++) dims[k] = most[k] = (hsize_t)field->shape[k];
  if (stream->is_list) dims[0] = 0, most[0] = H5S_UNLIMITED;
  place = H5Gopen2(out->file, "/results", H5P_DEFAULT);
  space = H5Screate_simple(field->rank, dims, most);
  create = tsl_out_layout(out, field->rank, dims, tsl_type_bytes((tsl_type)field->type),
                          stream->is_list, !out->parallel && !out->plain);
  access = tsl_out_stream_access();
  if (place < 0 || space < 0 || create < 0 || access < 0)
    TSL_H5(out, -1, "describe dataset", field->name);
  stream->dataset =
      H5Dcreate2(place, field->name, tsl_out_type(field->type), space, H5P_DEFAULT, create, access);
  TSL_H5(out, stream->dataset, "create dataset", field->name);
  TSL_H5(out, tsl_out_put_field(stream->dataset, field), "describe dataset", field->name);
done:
  if (access >= 0) (void)H5Pclose(access);
  if (create >= 0) (void)H5Pclose(create);
  if (space >= 0) (void)H5Sclose(space);
  if (place >= 0) (void)H5Gclose(place);
  return err;
}

tsl_err tsl_out_field(tsl_out *out, const tsl_field *field) {
  tsl_err err = TSL_OK;
  tsl_out_stream *stream = NULL;
  TSL_TRY(tsl_out_ready(out, TSL_OUT_DEFINE));
  if (out->n_streams == TSL_MAX_FIELDS)
    TSL_FAIL(TSL_ERR_INTERNAL, "more than %d streamed fields", TSL_MAX_FIELDS);
  stream = &out->streams[out->n_streams++];
  memset(stream, 0, sizeof *stream);
  (void)snprintf(stream->name, sizeof stream->name, "%s", field->name);
  stream->is_list = field->combine == TSL_LIST;
  stream->dataset = -1;
  if (out->rank == 0) err = create_stream(out, field, stream);
  err = tsl_out_settle(out, err);
done:
  return err;
}

/* ------------------------------------------------------------ open and close */

bool tsl_out_independent(const tsl_out *out) {
  for (int s = 0; s < out->n_streams; s++)
    if (out->streams[s].is_list && out->size > 1) return false;
  return out->size == 1 || out->parallel;
}

/* Write the description out, and reserve the space of the contiguous datasets now: a full disk
   shows here, on one rank, and not in the middle of the run on all. */
static tsl_err reserve(tsl_out *out, bool close) {
  tsl_err err = TSL_OK;
  off_t bytes = 0;
  if (close)
    TSL_H5(out, tsl_out_close_file(out), "close", "file");
  else
    TSL_H5(out, H5Fflush(out->file, H5F_SCOPE_LOCAL), "flush", "file");
  TSL_TRY(tsl_out_settle(out, err));
  bytes = lseek(out->disk.fd, 0, SEEK_END);
  if (bytes > 0 && fallocate(out->disk.fd, 0, 0, bytes) != 0 && errno != EOPNOTSUPP &&
      errno != ENOSYS) {
    out->disk.failed = errno;
    out->disk.needed = bytes;
  }
  err = tsl_out_settle(out, err);
done:
  return err;
}

#ifdef H5_HAVE_PARALLEL
static tsl_err open_mpio(tsl_out *out) {
  tsl_err err = TSL_OK;
  char name[TSL_NAME + 16];
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  TSL_H5(out, access, "set up", "access");
  TSL_H5(out, H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "set up", "access");
  TSL_H5(out, H5Pset_fapl_mpio(access, out->comm, MPI_INFO_NULL), "set up", "MPI-IO");
  out->file = H5Fopen(out->part, H5F_ACC_RDWR, access);
  TSL_H5(out, out->file, "open", "file by MPI-IO");
  out->mpio = true;
  for (int s = 0; s < out->n_streams; s++) {
    (void)snprintf(name, sizeof name, "/results/%s", out->streams[s].name);
    out->streams[s].dataset = H5Dopen2(out->file, name, H5P_DEFAULT);
    TSL_H5(out, out->streams[s].dataset, "open dataset", name);
  }
done:
  if (access >= 0) (void)H5Pclose(access);
  return err;
}
#else
static tsl_err open_mpio(tsl_out *out) { /* unreachable: out->parallel is false */
  return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "%s: HDF5 is not parallel", out->part);
}
#endif

tsl_err tsl_out_open_mpio(tsl_out *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_out_check_visible(out));
  TSL_COLLECTIVE_TRY(out->comm, open_mpio(out));
  if (out->rank == 0) tsl_out_remove_pointers(out);
done:
  return err;
}

tsl_err tsl_out_open_stream(tsl_out *out) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(out->comm, tsl_out_ready(out, TSL_OUT_DEFINE));
  out->stage = TSL_OUT_STREAM;
  out->disk.resume = false;
  if (!out->parallel || out->n_streams == 0 || !tsl_out_independent(out)) {
    TSL_COLLECTIVE_TRY(out->comm, out->rank == 0 && out->plain ? reserve(out, false) : TSL_OK);
    goto done;
  }
  TSL_COLLECTIVE_TRY(out->comm, out->rank == 0 ? reserve(out, true) : TSL_OK);
  TSL_TRY(tsl_out_open_mpio(out));
done:
  return err;
}

static tsl_err end_mpio(tsl_out *out) {
  tsl_err err = TSL_OK;
  /* All ranks do both, whatever failed before: both are collective. Flush syncs each host's pages.
   */
  const herr_t flushed = H5Fflush(out->file, H5F_SCOPE_LOCAL);
  const herr_t closed = tsl_out_close_file(out);
  if (out->failure.code != TSL_OK) return tsl_err_restore(&out->failure);
  if (flushed < 0 || closed < 0) TSL_H5(out, -1, "close", "file by MPI-IO");
done:
  return err;
}

/* By MPI-IO rows go straight to the system; HDF5's flush, which syncs too, has nothing to add. */
static tsl_err flush_here(tsl_out *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_out_ready(out, TSL_OUT_STREAM));
  if (out->mpio || out->rank != 0) goto done;
  TSL_H5(out, H5Fflush(out->file, H5F_SCOPE_LOCAL), "flush", "file");
  TSL_TRY(tsl_out_settle(out, err));
done:
  return err;
}

tsl_err tsl_out_flush(tsl_out *out) {
  tsl_err err = TSL_OK;
  if (tsl_heart_alarm()) return flush_here(out);
  TSL_COLLECTIVE_TRY(out->comm, flush_here(out));
done:
  return err;
}

bool tsl_out_by_all(const tsl_out *out) {
  return out->mpio;
}

tsl_err tsl_out_rows(const tsl_out *out, int *fd) {
  tsl_err err = TSL_OK;
  *fd = -1;
  if (out->rank == 0)
    *fd = fcntl(out->disk.fd, F_DUPFD_CLOEXEC, 0);
  else if (out->mpio)
    *fd = open(out->part, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  else
    return TSL_OK;
  if (*fd < 0) TSL_FAIL(TSL_ERR_IO, "%s: cannot open: %s", out->part, strerror(errno));
done:
  return err;
}

tsl_err tsl_out_end_rows(tsl_out *out) {
  tsl_err err = TSL_OK;
  if (out->rank != 0) return TSL_OK;
  for (int s = 0; s < out->n_streams; s++) {
    const hid_t dataset = out->streams[s].dataset;
    out->streams[s].dataset = -1;
    if (dataset >= 0) TSL_H5(out, H5Dclose(dataset), "close dataset", out->streams[s].name);
  }
done:
  return tsl_out_settle(out, err);
}

tsl_err tsl_out_close_stream(tsl_out *out) {
  tsl_err err = TSL_OK;
  const bool was_mpio = out->mpio;
  TSL_COLLECTIVE_TRY(out->comm, was_mpio ? end_mpio(out) : tsl_out_ready(out, TSL_OUT_STREAM));
  out->stage = TSL_OUT_DESCRIBE;
  if (out->rank == 0) err = was_mpio ? tsl_out_open_root(out, false) : tsl_out_end_rows(out);
  TSL_COLLECTIVE_TRY(out->comm, err);
done:
  return err;
}

/* -------------------------------------------------------------------- write */

tsl_err tsl_out_find_stream(tsl_out *out, tsl_out_stage stage, const tsl_field *field, bool is_list,
                            tsl_out_stream **stream) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_out_ready(out, stage));
  for (int s = 0; s < out->n_streams; s++)
    if (strcmp(out->streams[s].name, field->name) == 0 && out->streams[s].is_list == is_list) {
      *stream = &out->streams[s];
      return TSL_OK;
    }
  TSL_FAIL(TSL_ERR_INTERNAL, "output '%s': field '%s' is not streamed", out->path, field->name);
done:
  return err;
}

/* A stream that this rank may write; lists grow after the stage of streaming as well. */
static tsl_err open_stream(tsl_out *out, const tsl_field *field, bool is_list,
                           tsl_out_stream **stream) {
  tsl_err err = TSL_OK;
  const bool later = is_list && out->stage == TSL_OUT_DESCRIBE;
  TSL_TRY(
      tsl_out_find_stream(out, later ? TSL_OUT_DESCRIBE : TSL_OUT_STREAM, field, is_list, stream));
  if (later) TSL_TRY(tsl_out_reopen(out, *stream, field));
  if ((*stream)->dataset < 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "output '%s': field '%s' is not open for writing on rank %d",
             out->path, field->name, out->rank);
done:
  return err;
}

/* Write a box of a dataset from contiguous memory. */
static tsl_err write_box(tsl_out *out, hid_t dataset, const tsl_field *field,
                         const hsize_t start[3], const hsize_t extent[3], const void *data) {
  tsl_err err = TSL_OK;
  hid_t target = -1, source = -1;
  target = H5Dget_space(dataset);
  source = H5Screate_simple(field->rank, extent, NULL);
  if (target < 0 || source < 0 ||
      H5Sselect_hyperslab(target, H5S_SELECT_SET, start, NULL, extent, NULL) < 0)
    TSL_H5(out, -1, "select in dataset", field->name);
  TSL_H5(out, H5Dwrite(dataset, tsl_out_type(field->type), source, target, H5P_DEFAULT, data),
         "write dataset", field->name);
done:
  if (source >= 0) (void)H5Sclose(source);
  if (target >= 0) (void)H5Sclose(target);
  return tsl_out_settle(out, err);
}

tsl_err tsl_out_slab(tsl_out *out, const tsl_field *field, const int64_t lo[3], const int64_t hi[3],
                     const void *data) {
  tsl_err err = TSL_OK;
  tsl_out_stream *stream = NULL;
  hsize_t start[3], extent[3];
  bool empty = false;
  TSL_TRY(open_stream(out, field, false, &stream));
  for (int k = 0; k < 3; k++) {
    if (lo[k] < 0 || hi[k] < lo[k] || hi[k] > field->shape[k])
      TSL_FAIL(TSL_ERR_INTERNAL, "field '%s': box %lld..%lld of dimension %d leaves 0..%lld",
               field->name, (long long)lo[k], (long long)hi[k], k, (long long)field->shape[k]);
    start[k] = (hsize_t)lo[k];
    extent[k] = (hsize_t)(hi[k] - lo[k]);
    empty = empty || extent[k] == 0;
  }
  if (!empty) TSL_TRY(write_box(out, stream->dataset, field, start, extent, data));
done:
  return err;
}

tsl_err tsl_out_append(tsl_out *out, const tsl_field *field, const void *data, int64_t n) {
  tsl_err err = TSL_OK;
  tsl_out_stream *stream = NULL;
  hsize_t start[3] = {0, 0, 0}, extent[3], shape[3];
  TSL_TRY(open_stream(out, field, true, &stream));
  if (n < 0) TSL_FAIL(TSL_ERR_INTERNAL, "field '%s': %lld records", field->name, (long long)n);
  if (n == 0) goto done;
  start[0] = stream->count;
  extent[0] = (hsize_t)n;
  shape[0] = stream->count + (hsize_t)n;
  for (int k = 1; k < 3; k++) extent[k] = shape[k] = (hsize_t)field->shape[k];
  TSL_H5(out, H5Dset_extent(stream->dataset, shape), "extend dataset", field->name);
  TSL_TRY(write_box(out, stream->dataset, field, start, extent, data));
  stream->count = shape[0];
done:
  return tsl_out_settle(out, err);
}
