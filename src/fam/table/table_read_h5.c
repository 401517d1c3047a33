/* HDF5: one 1-D or 2-D dataset of integers or reals, 3-D where that is asked for. The only file of
 * the family that sees HDF5. The library may die or loop in a hostile file, so another process
 * reads it and sends the rows. */
#include "integers.h"
#include "memory.h"
#include "sandbox.h"
#include "table_read.h"

#include <hdf5.h>
#include <string.h>

enum { CHUNK = 1 << 16, HINT = 400 };

typedef struct h5 {
  hid_t file, access, set, space, type, transfer;
  int rank;
  int64_t n, width;
  int64_t depth; /* rows of a matrix; of 1-D and 2-D all */
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

/** Stands for an integer that double precision cannot hold: a NaN, refused like all others. */
static const uint64_t INEXACT = UINT64_C(0x7ff0746573656c61);

/** Has an integer of at most 8 bytes more than 53 digits between its first and last 1? The
 *  library's own count takes signs and trailing zeros for digits. */
static bool is_inexact(hid_t type, const unsigned char *bytes) {
  const size_t n = H5Tget_size(type);
  uint64_t bits = 0;
  for (size_t k = 0; k < n; k++)
    bits = bits << 8 | bytes[H5Tget_order(type) == H5T_ORDER_BE ? k : n - 1 - k];
  if (H5Tget_sign(type) == H5T_SGN_2 && bits >> (8 * n - 1) != 0) bits = 0 - bits;
  return bits != 0 && bits >> __builtin_ctzll(bits) >> 53 != 0;
}

/** Called by the library for integers that do not fit; others are left to it. */
static H5T_conv_ret_t mark_inexact(H5T_conv_except_t what, hid_t from, hid_t to, void *source,
                                   void *target, void *data) {
  (void)to, (void)data;
  if (what != H5T_CONV_EXCEPT_PRECISION || !is_inexact(from, source)) return H5T_CONV_UNHANDLED;
  memcpy(target, &INEXACT, sizeof INEXACT);
  return H5T_CONV_HANDLED;
}

static tsl_err open_file(const char *path, h5 *f) {
  tsl_err err = TSL_OK;
  FILE *probe = NULL;
  int64_t bytes = 0;
  TSL_TRY(table_file_open(path, &probe, &bytes)); /* says why when the file is missing */
  if ((f->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)) < 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s is not a readable HDF5 file", path);
  if ((f->access = H5Pcreate(H5P_DATASET_ACCESS)) < 0 ||
      H5Pset_elink_cb(f->access, refuse_link, NULL) < 0 ||
      (f->transfer = H5Pcreate(H5P_DATASET_XFER)) < 0 ||
      H5Pset_type_conv_cb(f->transfer, mark_inexact, NULL) < 0)
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

/** Only numbers that double precision can hold, integers of 64 bits being looked at one by one. */
static tsl_err check_type(const table_source *source, const h5 *f) {
  tsl_err err = TSL_OK;
  static const char *const words[H5T_NCLASSES] = {
      [H5T_STRING] = "text",
      [H5T_BITFIELD] = "bit fields",
      [H5T_OPAQUE] = "opaque bytes",
      [H5T_COMPOUND] = "records (complex numbers are such)",
      [H5T_REFERENCE] = "references",
      [H5T_ENUM] = "an enumeration (h5py stores bool so; save int8)",
      [H5T_VLEN] = "lists",
      [H5T_ARRAY] = "arrays",
      [H5T_TIME] = "times"};
  const H5T_class_t class = H5Tget_class(f->type);
  if (class != H5T_FLOAT && class != H5T_INTEGER)
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' holds %s, no integers or reals", source->path,
             source->dataset,
             class > 0 && class < H5T_NCLASSES && words[class] != NULL ? words[class] : "others");
  if (H5Tget_size(f->type) > sizeof(double))
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: dataset '%s' holds numbers of %zu bytes, more than double precision; save 8",
             source->path, source->dataset, H5Tget_size(f->type));
done:
  return err;
}

static tsl_err look_at_dataset(const table_source *source, h5 *f) {
  tsl_err err = TSL_OK;
  hsize_t shape[3] = {0, 1, 1};
  if ((f->type = H5Dget_type(f->set)) < 0 || (f->space = H5Dget_space(f->set)) < 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' is damaged", source->path, source->dataset);
  TSL_TRY(check_type(source, f));
  if (!stored_inside(f->set))
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' keeps its numbers in other files; copy it first",
             source->path, source->dataset);
  f->rank = H5Sget_simple_extent_ndims(f->space);
  if (f->rank < 1 || f->rank > (source->deep ? 3 : 2))
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' has %d dimensions; %s", source->path, source->dataset,
             f->rank, source->deep ? "1 to 3 are allowed" : "points need 1 or 2");
  if (H5Sget_simple_extent_dims(f->space, shape, NULL) < 0 || shape[0] > INT64_MAX ||
      shape[1] > INT64_MAX || shape[2] > INT64_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' has no valid shape", source->path, source->dataset);
  f->n = f->depth = (int64_t)shape[0];
  f->width = (int64_t)shape[1];
  if (f->rank < 3) goto done;
  f->depth = (int64_t)shape[1], f->width = (int64_t)shape[2];
  if (!tsl_mul_i64((int64_t)shape[0], f->depth, &f->n))
    TSL_FAIL(TSL_ERR_INPUT, "%s: dataset '%s' is too large", source->path, source->dataset);
done:
  return err;
}

/** Why a dataset cannot be read: the filter that this library lacks, if it is that. */
static void find_reason(hid_t set, char reason[HINT]) {
  const hid_t plan = H5Dget_create_plist(set);
  const int n = plan >= 0 ? H5Pget_nfilters(plan) : 0;
  (void)snprintf(reason, HINT, "damaged file?");
  for (int k = 0; k < n; k++) {
    unsigned flags = 0, config = 0;
    size_t none = 0;
    char name[64] = "";
    const H5Z_filter_t id =
        H5Pget_filter2(plan, (unsigned)k, &flags, &none, NULL, sizeof name, name, &config);
    if (id < 0 || H5Zfilter_avail(id) > 0) continue;
    (void)snprintf(reason, HINT,
                   "compressed by filter %d%s%s, which this HDF5 library lacks: give its plugin in "
                   "HDF5_PLUGIN_PATH, or h5repack -f GZIP=4 where it is known",
                   (int)id, name[0] != '\0' ? " " : "", name);
    break;
  }
  if (plan >= 0) (void)H5Pclose(plan);
}

/** Rows [i0, i0 + m), of one matrix, as doubles. */
static tsl_err load_rows(const table_source *source, const h5 *f, int64_t i0, int64_t m,
                         double *rows) {
  tsl_err err = TSL_OK;
  char reason[HINT];
  const bool deep = f->rank == 3;
  const hsize_t row = (hsize_t)(deep ? i0 % f->depth : i0), matrix = (hsize_t)(i0 / f->depth);
  const hsize_t start[3] = {deep ? matrix : row, deep ? row : 0, 0};
  const hsize_t count[3] = {deep ? 1 : (hsize_t)m, (hsize_t)(deep ? m : f->width),
                            (hsize_t)f->width};
  const hid_t memory = H5Screate_simple(f->rank, count, NULL);
  if (memory < 0 || H5Sselect_hyperslab(f->space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
      H5Dread(f->set, H5T_NATIVE_DOUBLE, memory, f->space, f->transfer, rows) < 0) {
    find_reason(f->set, reason);
    TSL_FAIL(TSL_ERR_INPUT, "%s: cannot read rows %lld to %lld of dataset '%s': %s", source->path,
             (long long)i0, (long long)(i0 + m - 1), source->dataset, reason);
  }
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
  TSL_TRY(tsl_sandbox_put(to, shape, (int64_t)sizeof shape));
  TSL_TRY(tsl_alloc(some * f->width, sizeof *rows, "rows of an HDF5 file", (void **)&rows));
  for (int64_t i0 = 0, m; i0 < f->n; i0 += m) {
    m = tsl_min(tsl_min(f->n - i0, some), f->depth - i0 % f->depth);
    TSL_TRY(load_rows(source, f, i0, m, rows));
    TSL_TRY(tsl_sandbox_put(to, rows, m * f->width * (int64_t)sizeof *rows));
  }
done:
  tsl_free(rows);
  return err;
}

static void close_all(h5 *f) {
  if (f->transfer >= 0) (void)H5Pclose(f->transfer);
  if (f->type >= 0) (void)H5Tclose(f->type);
  if (f->space >= 0) (void)H5Sclose(f->space);
  if (f->set >= 0) (void)H5Dclose(f->set);
  if (f->access >= 0) (void)H5Pclose(f->access);
  if (f->file >= 0) (void)H5Fclose(f->file);
}

tsl_err table_h5_send(const table_source *source, int to) {
  tsl_err err = TSL_OK;
  h5 f = {.file = -1, .access = -1, .set = -1, .space = -1, .type = -1, .transfer = -1};
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

/* What is asked for over there: a word, the file's name and that of the dataset, if any, each ended
 * by 0. */
static tsl_err send_file(const void *ask, int to) {
  const char *word = ask, *path = word + strlen(word) + 1, *dataset = path + strlen(path) + 1;
  const table_source source = {.path = path,
                               .dataset = dataset[0] != '\0' ? dataset : NULL,
                               .extra = -1,
                               .deep = strcmp(word, "deep") == 0};
  return table_h5_send(&source, to);
}

static tsl_err table_read_h5_take_number(const reading *r, const table_pick *pick, int64_t row,
                                         int64_t column, double value) {
  tsl_err err = TSL_OK;
  if (memcmp(&value, &INEXACT, sizeof value) == 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: row %lld, column %lld (both from 0) is a whole number that double precision "
             "cannot hold",
             r->source->path, (long long)row, (long long)pick->from[column]);
  TSL_TRY(table_rows_put(r->source, pick, row, column, value, r->table));
done:
  return err;
}

static tsl_err take_rows(const reading *r, const table_pick *pick, const int64_t shape[2],
                         int from) {
  tsl_err err = TSL_OK;
  const int64_t n = shape[0], width = shape[1], some = rows_of_block(width);
  double *rows = NULL;
  TSL_TRY(tsl_alloc(some * width, sizeof *rows, "rows of an HDF5 file", (void **)&rows));
  for (int64_t i0 = 0; i0 < n; i0 += some) {
    const int64_t m = n - i0 < some ? n - i0 : some;
    TSL_TRY(tsl_sandbox_get(from, rows, m * width * (int64_t)sizeof *rows));
    for (int64_t i = 0; i < m; i++)
      for (int64_t c = 0; c < pick->n; c++)
        TSL_TRY(table_read_h5_take_number(r, pick, i0 + i, c, rows[i * width + pick->from[c]]));
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
  TSL_TRY(tsl_sandbox_get(from, shape, (int64_t)sizeof shape));
  TSL_TRY(table_pick_create(r->source, shape[1], &pick));
  TSL_TRY(table_rows_create(shape[0], pick.n, r->source->path, r->table));
  r->table->facts = (table_facts){.kind = "HDF5", .width = shape[1]};
  TSL_TRY(take_rows(r, &pick, shape, from));
done:
  table_pick_clear(&pick);
  return err;
}

tsl_err table_read_h5(const table_source *source, table_rows *table) {
  tsl_err err = TSL_OK;
  const char *dataset = source->dataset != NULL ? source->dataset : "";
  const char *word = source->deep ? "deep" : "flat";
  const size_t n_word = strlen(word) + 1, n_path = strlen(source->path) + 1;
  const size_t n_dataset = strlen(dataset) + 1, n_ask = n_word + n_path + n_dataset;
  reading r = {source, table};
  char *ask = NULL;
  TSL_TRY(tsl_alloc((int64_t)n_ask, 1, "names of a file", (void **)&ask));
  memcpy(ask, word, n_word);
  memcpy(ask + n_word, source->path, n_path);
  memcpy(ask + n_word + n_path, dataset, n_dataset);
  TSL_TRY(tsl_sandbox(
      source->path,
      &(tsl_sandbox_sides){
          .part = send_file, .take = take_file, .ask = ask, .n_ask = (int64_t)n_ask, .arg = &r}));
done:
  tsl_free(ask);
  return err;
}
