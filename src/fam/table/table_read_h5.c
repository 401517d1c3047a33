/* HDF5: one 1-D or 2-D dataset of integers or reals. The only file of the family that sees HDF5.
 * The library may die or loop in a hostile file, so another process reads it and sends the rows. */
#include "apart.h"
#include "memory.h"
#include "table_read.h"

#include <hdf5.h>
#include <string.h>

enum { CHUNK = 1 << 16, HINT = 400 };

typedef struct h5 {
  hid_t file, access, set, space, type;
  int rank;
  int64_t n, width;
} h5;

/** No link of a file may lead to another file. */
static herr_t refuse_link(const char *parent, const char *group, const char *child,
                          const char *object, unsigned *flags, hid_t access, void *data) {
  (void)parent, (void)group, (void)child, (void)object, (void)flags, (void)access, (void)data;
  return -1;
}

/** Append a dataset's name to the hint; stops the walk when the hint is full. */
static herr_t collect_name(hid_t object, const char *name, const H5O_info_t *info, void *data) {
  char *hint = data;
  const size_t used = strlen(hint);
  (void)object;
  if (info->type != H5O_TYPE_DATASET) return 0;
  if (used + strlen(name) + 8 > HINT) return 1;
  (void)snprintf(hint + used, HINT - used, "%s /%s", used > 0 ? "," : "", name);
  return 0;
}

static tsl_err open_file(const char *path, h5 *f) {
  tsl_err err = TSL_OK;
  FILE *probe = NULL;
  int64_t bytes = 0;
  TSL_TRY(table_file_open(path, &probe, &bytes)); /* says why when the file is missing */
  if ((f->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)) < 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s is not a readable HDF5 file", path);
  if ((f->access = H5Pcreate(H5P_DATASET_ACCESS)) < 0 ||
      H5Pset_elink_cb(f->access, refuse_link, NULL) < 0)
    TSL_FAIL(TSL_ERR_IO, "%s: HDF5 refuses to set up access", path);
done:
  if (probe != NULL) (void)fclose(probe);
  return err;
}

static tsl_err open_dataset(const table_source *source, h5 *f) {
  tsl_err err = TSL_OK;
  char hint[HINT] = "";
  if (source->dataset != NULL) f->set = H5Dopen2(f->file, source->dataset, f->access);
  if (f->set >= 0) goto done;
  (void)H5Ovisit2(f->file, H5_INDEX_NAME, H5_ITER_INC, collect_name, hint, H5O_INFO_BASIC);
  if (source->dataset == NULL)
    TSL_FAIL(TSL_ERR_INPUT, "%s: name the dataset with input.dataset; it has:%s", source->path,
             hint[0] != '\0' ? hint : " none");
  TSL_FAIL(TSL_ERR_INPUT, "%s: no dataset '%s' in this file; it has:%s", source->path,
           source->dataset, hint[0] != '\0' ? hint : " none");
done:
  return err;
}

/** Numbers of this very file only: no external storage, no virtual dataset. */
static bool stored_inside(hid_t set) {
  const hid_t plan = H5Dget_create_plist(set);
  const bool inside =
      plan >= 0 && H5Pget_layout(plan) != H5D_VIRTUAL && H5Pget_external_count(plan) == 0;
  if (plan >= 0) (void)H5Pclose(plan);
  return inside;
}

static tsl_err look_at_dataset(const table_source *source, h5 *f) {
  tsl_err err = TSL_OK;
  hsize_t shape[2] = {0, 1};
  if ((f->type = H5Dget_type(f->set)) < 0 || (f->space = H5Dget_space(f->set)) < 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' is damaged", source->path, source->dataset);
  if (H5Tget_class(f->type) != H5T_FLOAT && H5Tget_class(f->type) != H5T_INTEGER)
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' holds no integers or reals", source->path,
             source->dataset);
  if (!stored_inside(f->set))
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' keeps its numbers in other files; copy it first",
             source->path, source->dataset);
  f->rank = H5Sget_simple_extent_ndims(f->space);
  if (f->rank != 1 && f->rank != 2)
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' has %d dimensions; points need 1 or 2", source->path,
             source->dataset, f->rank);
  if (H5Sget_simple_extent_dims(f->space, shape, NULL) < 0 || shape[0] > INT64_MAX ||
      shape[1] > INT64_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' has no valid shape", source->path, source->dataset);
  f->n = (int64_t)shape[0];
  f->width = (int64_t)shape[1];
done:
  return err;
}

/** Rows [i0, i0 + m) as doubles. */
static tsl_err load_rows(const table_source *source, const h5 *f, int64_t i0, int64_t m,
                         double *rows) {
  tsl_err err = TSL_OK;
  const hsize_t start[2] = {(hsize_t)i0, 0}, count[2] = {(hsize_t)m, (hsize_t)f->width};
  const hid_t memory = H5Screate_simple(f->rank, count, NULL);
  if (memory < 0 || H5Sselect_hyperslab(f->space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
      H5Dread(f->set, H5T_NATIVE_DOUBLE, memory, f->space, H5P_DEFAULT, rows) < 0)
    TSL_FAIL(TSL_ERR_IO, "%s: cannot read rows %lld to %lld of dataset '%s' (damaged file?)",
             source->path, (long long)i0, (long long)(i0 + m - 1), source->dataset);
done:
  if (memory >= 0) (void)H5Sclose(memory);
  return err;
}

static int64_t rows_of_block(int64_t width) {
  return CHUNK / width + 1;
}

/** Shape, then all rows as doubles. */
static tsl_err send_rows(const table_source *source, const h5 *f, int to) {
  tsl_err err = TSL_OK;
  const int64_t shape[2] = {f->n, f->width}, some = rows_of_block(f->width);
  double *rows = NULL;
  TSL_TRY(tsl_apart_put(to, shape, (int64_t)sizeof shape));
  TSL_TRY(tsl_alloc(some * f->width, sizeof *rows, "rows of an HDF5 file", (void **)&rows));
  for (int64_t i0 = 0; i0 < f->n; i0 += some) {
    const int64_t m = f->n - i0 < some ? f->n - i0 : some;
    TSL_TRY(load_rows(source, f, i0, m, rows));
    TSL_TRY(tsl_apart_put(to, rows, m * f->width * (int64_t)sizeof *rows));
  }
done:
  tsl_free(rows);
  return err;
}

static void close_all(h5 *f) {
  if (f->type >= 0) (void)H5Tclose(f->type);
  if (f->space >= 0) (void)H5Sclose(f->space);
  if (f->set >= 0) (void)H5Dclose(f->set);
  if (f->access >= 0) (void)H5Pclose(f->access);
  if (f->file >= 0) (void)H5Fclose(f->file);
}

tsl_err table_h5_send(const table_source *source, int to) {
  tsl_err err = TSL_OK;
  h5 f = {.file = -1, .access = -1, .set = -1, .space = -1, .type = -1};
  table_pick pick = {0};
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* our messages, not the library's */
  TSL_TRY(open_file(source->path, &f));
  TSL_TRY(open_dataset(source, &f));
  TSL_TRY(look_at_dataset(source, &f));
  TSL_TRY(table_pick_create(source, f.width, &pick)); /* refuses what is too wide */
  TSL_TRY(send_rows(source, &f, to));
done:
  table_pick_clear(&pick);
  close_all(&f);
  return err;
}

/* ---- here */

typedef struct reading {
  const table_source *source;
  table_rows *table;
} reading;

/* What is asked for over there: the file's name, ended by 0, and that of the dataset, if any. */
static tsl_err send_file(const void *ask, int to) {
  const char *path = ask, *dataset = path + strlen(path) + 1;
  const table_source source = {
      .path = path, .dataset = dataset[0] != '\0' ? dataset : NULL, .extra = -1};
  return table_h5_send(&source, to);
}

static tsl_err take_rows(const reading *r, const table_pick *pick, const int64_t shape[2],
                         int from) {
  tsl_err err = TSL_OK;
  const int64_t n = shape[0], width = shape[1], some = rows_of_block(width);
  double *rows = NULL;
  TSL_TRY(tsl_alloc(some * width, sizeof *rows, "rows of an HDF5 file", (void **)&rows));
  for (int64_t i0 = 0; i0 < n; i0 += some) {
    const int64_t m = n - i0 < some ? n - i0 : some;
    TSL_TRY(tsl_apart_get(from, rows, m * width * (int64_t)sizeof *rows));
    for (int64_t i = 0; i < m; i++)
      for (int64_t c = 0; c < pick->n; c++)
        TSL_TRY(
            table_rows_put(r->source, pick, i0 + i, c, rows[i * width + pick->from[c]], r->table));
  }
done:
  tsl_free(rows);
  return err;
}

static tsl_err take_file(void *arg, int from) {
  tsl_err err = TSL_OK;
  const reading *r = arg;
  table_pick pick = {0};
  int64_t shape[2];
  TSL_TRY(tsl_apart_get(from, shape, (int64_t)sizeof shape));
  TSL_TRY(table_pick_create(r->source, shape[1], &pick));
  TSL_TRY(table_rows_create(shape[0], pick.n, r->source->path, r->table));
  TSL_TRY(take_rows(r, &pick, shape, from));
done:
  table_pick_clear(&pick);
  return err;
}

tsl_err table_read_h5(const table_source *source, table_rows *table) {
  tsl_err err = TSL_OK;
  const char *dataset = source->dataset != NULL ? source->dataset : "";
  const size_t n_path = strlen(source->path) + 1, n_dataset = strlen(dataset) + 1;
  reading r = {source, table};
  char *ask = NULL;
  TSL_TRY(tsl_alloc((int64_t)(n_path + n_dataset), 1, "names of a file", (void **)&ask));
  memcpy(ask, source->path, n_path);
  memcpy(ask + n_path, dataset, n_dataset);
  TSL_TRY(tsl_apart(source->path, &(tsl_apart_sides){.part = send_file,
                                                     .take = take_file,
                                                     .ask = ask,
                                                     .n_ask = (int64_t)(n_path + n_dataset),
                                                     .arg = &r}));
done:
  tsl_free(ask);
  return err;
}
