/* Rows of streamed fields once more: read back and written by the root after the stream, and rows
   of an earlier run before it. */
#include "out_h5_own.h"

#include <string.h>

tsl_err tsl_out_reopen(tsl_out *out, tsl_out_stream *stream, const tsl_field *field) {
  tsl_err err = TSL_OK;
  char path[TSL_NAME + 16];
  hid_t access = -1;
  if (stream->dataset >= 0) return TSL_OK;
  access = tsl_out_stream_access();
  TSL_H5(out, access, "set up", "chunk cache");
  stream->dataset = H5Dopen2(out->file, tsl_out_path_of(field, path), access);
  TSL_H5(out, stream->dataset, "open dataset", path);
done:
  if (access >= 0) (void)H5Pclose(access);
  return err;
}

/* Rows [lo, hi) selected in the dataset, and memory for them; closed by the caller. */
static tsl_err select_rows(const tsl_out *out, hid_t dataset, const tsl_field *field, int64_t lo,
                           int64_t hi, hid_t *file_space, hid_t *memory_space) {
  tsl_err err = TSL_OK;
  const hsize_t start[3] = {(hsize_t)lo, 0, 0};
  const hsize_t extent[3] = {(hsize_t)(hi - lo), (hsize_t)field->shape[1],
                             (hsize_t)field->shape[2]};
  *file_space = H5Dget_space(dataset);
  *memory_space = H5Screate_simple(field->rank, extent, NULL);
  if (*file_space < 0 || *memory_space < 0 ||
      H5Sselect_hyperslab(*file_space, H5S_SELECT_SET, start, NULL, extent, NULL) < 0)
    TSL_H5(out, -1, "select in dataset", field->name);
done:
  return err;
}

/* One of to and from is NULL. */
static tsl_err move_rows(tsl_out *out, const tsl_field *field, int64_t lo, int64_t hi, void *to,
                         const void *from) {
  tsl_err err = TSL_OK;
  hid_t file_space = -1, memory_space = -1;
  tsl_out_stream *stream = NULL;
  TSL_TRY(tsl_out_find_stream(out, TSL_OUT_DESCRIBE, field, field->combine == TSL_LIST, &stream));
  if (lo < 0 || hi < lo || hi > field->shape[0])
    TSL_FAIL(TSL_ERR_INTERNAL, "field '%s': rows %lld..%lld leave 0..%lld", field->name,
             (long long)lo, (long long)hi, (long long)field->shape[0]);
  if ((hi - lo) * field->shape[1] * field->shape[2] == 0) goto done;
  TSL_TRY(tsl_out_reopen(out, stream, field));
  TSL_TRY(select_rows(out, stream->dataset, field, lo, hi, &file_space, &memory_space));
  if (to != NULL)
    TSL_H5(out,
           H5Dread(stream->dataset, tsl_out_type(field->type), memory_space, file_space,
                   H5P_DEFAULT, to),
           "read dataset", field->name);
  else
    TSL_H5(out,
           H5Dwrite(stream->dataset, tsl_out_type(field->type), memory_space, file_space,
                    H5P_DEFAULT, from),
           "write dataset", field->name);
done:
  if (memory_space >= 0) (void)H5Sclose(memory_space);
  if (file_space >= 0) (void)H5Sclose(file_space);
  return tsl_out_settle(out, err);
}

tsl_err tsl_out_read_rows(tsl_out *out, const tsl_field *field, int64_t lo, int64_t hi,
                          void *rows) {
  return move_rows(out, field, lo, hi, rows, NULL);
}

tsl_err tsl_out_write_rows(tsl_out *out, const tsl_field *field, int64_t lo, int64_t hi,
                           const void *rows) {
  return move_rows(out, field, lo, hi, NULL, rows);
}

/* ------------------------------------------------------- rows of an earlier run */

int64_t tsl_out_place(const tsl_out *out, const tsl_field *field) {
  for (int s = 0; s < out->n_streams; s++)
    if (strcmp(out->streams[s].name, field->name) == 0 && out->streams[s].dataset >= 0) {
      const haddr_t place = H5Dget_offset(out->streams[s].dataset);
      return place == HADDR_UNDEF ? -1 : (int64_t)place;
    }
  return -1;
}

tsl_err tsl_out_read_slab(tsl_out *out, const tsl_field *field, const int64_t lo[3],
                          const int64_t hi[3], void *data) {
  tsl_err err = TSL_OK;
  hsize_t start[3], extent[3];
  hid_t file_space = -1, memory_space = -1;
  tsl_out_stream *stream = NULL;
  TSL_TRY(tsl_out_find_stream(out, TSL_OUT_DEFINE, field, false, &stream));
  for (int k = 0; k < 3; k++) {
    if (lo[k] < 0 || hi[k] <= lo[k] || hi[k] > field->shape[k])
      TSL_FAIL(TSL_ERR_INTERNAL, "field '%s': box %lld..%lld of dimension %d leaves 0..%lld",
               field->name, (long long)lo[k], (long long)hi[k], k, (long long)field->shape[k]);
    start[k] = (hsize_t)lo[k];
    extent[k] = (hsize_t)(hi[k] - lo[k]);
  }
  file_space = H5Dget_space(stream->dataset);
  memory_space = H5Screate_simple(field->rank, extent, NULL);
  if (file_space < 0 || memory_space < 0 ||
      H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, extent, NULL) < 0)
    TSL_H5(out, -1, "select in dataset", field->name);
  TSL_H5(out,
         H5Dread(stream->dataset, tsl_out_type(field->type), memory_space, file_space, H5P_DEFAULT,
                 data),
         "read dataset", field->name);
done:
  if (memory_space >= 0) (void)H5Sclose(memory_space);
  if (file_space >= 0) (void)H5Sclose(file_space);
  return err;
}
