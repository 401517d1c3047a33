/* NPY (numpy.lib.format, versions 1 to 3): one array of numbers, 1-D or 2-D, C or Fortran order. */
#include "memory.h"
#include "table_read.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MAX = 1 << 16, CHUNK = 1 << 16 };

typedef struct npy {
  int64_t n, width; /**< points, numbers per point */
  int64_t data;     /**< offset of the first number */
  int type;         /**< index into types */
  bool fortran;     /**< [width][n] in the file */
  bool swap;        /**< big-endian */
} npy;

/** Element types by numpy's code; get turns element i of a buffer into a double. */
#define TYPE_LIST(X)    \
  X("f8", f8, double)   \
  X("f4", f4, float)    \
  X("i8", i8, int64_t)  \
  X("i4", i4, int32_t)  \
  X("i2", i2, int16_t)  \
  X("i1", i1, int8_t)   \
  X("u8", u8, uint64_t) \
  X("u4", u4, uint32_t) \
  X("u2", u2, uint16_t) \
  X("u1", u1, uint8_t)  \
  X("b1", b1, uint8_t)

#define X(code, name, type)                                 \
  static double get_##name(const void *buffer, int64_t i) { \
    return (double)((const type *)buffer)[i];               \
  }
TYPE_LIST(X)
#undef X

/** IEEE 754 binary16. */
static double get_f2(const void *buffer, int64_t i) {
  const uint16_t h = ((const uint16_t *)buffer)[i];
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double size = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                      : exponent == 0 ? ldexp(fraction, -24)
                                      : ldexp(1024 + fraction, exponent - 25);
  return h >> 15 ? -size : size;
}

static const struct {
  const char *code;
  int64_t bytes;
  double (*get)(const void *, int64_t);
} types[] = {
#define X(code, name, type) {code, (int64_t)sizeof(type), get_##name},
    TYPE_LIST(X)
#undef X
        {"f2", 2, get_f2}};
enum { N_TYPES = sizeof types / sizeof types[0] };

/* ----------------------------------------------------------------- header */

/** Text after "'key':" and blanks, or NULL. */
static const char *find_value(const char *header, const char *key) {
  char quoted[32];
  const char *at = NULL;
  (void)snprintf(quoted, sizeof quoted, "'%s'", key);
  at = strstr(header, quoted);
  if (at == NULL) return NULL;
  at += strlen(quoted);
  at += strspn(at, " ");
  if (*at++ != ':') return NULL;
  return at + strspn(at, " ");
}

/** What numpy's letter stands for, where it is no real number. */
static const char *name_of_type(const char *name) {
  switch (name[0] == '\0' ? '\0' : name[1]) {
  case 'c':
    return " (complex numbers)";
  case 'f':
    return " (extended precision)";
  case 'O':
    return " (Python objects)";
  case 'S':
  case 'U':
    return " (text)";
  case 'M':
  case 'm':
    return " (times)";
  default:
    return "";
  }
}

static tsl_err parse_type(const char *path, const char *header, npy *a) {
  tsl_err err = TSL_OK;
  char shown[48], name[16] = "";
  const char *at = find_value(header, "descr");
  const char *end = at != NULL && *at == '\'' ? strchr(at + 1, '\'') : NULL;
  if (at == NULL) TSL_FAIL(TSL_ERR_INPUT, "%s: the NPY header has no 'descr'", path);
  if (end == NULL || end - at > 8)
    TSL_FAIL(TSL_ERR_INPUT, "%s: element type %s is not supported; save real numbers, f4 or f8",
             path, table_shown(at, at + strcspn(at, "\n"), shown));
  memcpy(name, at + 1, (size_t)(end - at - 1));
  for (a->type = 0; a->type < N_TYPES; a->type++)
    if (name[0] != '\0' && strcmp(name + 1, types[a->type].code) == 0) break;
  if (a->type == N_TYPES || strchr("<>|=", name[0]) == NULL)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: element type '%s'%s is not supported; f2 f4 f8 i1..i8 u1..u8 b1 are (numpy: "
             "a.astype('<f8'))",
             path, table_shown(at + 1, end, shown), name_of_type(name));
  a->swap = name[0] == '>';
done:
  return err;
}

static tsl_err parse_order(const char *path, const char *header, npy *a) {
  tsl_err err = TSL_OK;
  const char *at = find_value(header, "fortran_order");
  if (at == NULL || (strncmp(at, "True", 4) != 0 && strncmp(at, "False", 5) != 0))
    TSL_FAIL(TSL_ERR_INPUT, "%s: the NPY header has no valid 'fortran_order'", path);
  a->fortran = *at == 'T';
done:
  return err;
}

/** "(5, 3)" or "(5,)" -> n, width. */
static tsl_err parse_shape(const char *path, const char *header, npy *a) {
  tsl_err err = TSL_OK;
  int64_t shape[2] = {0, 1};
  int rank = 0;
  char *stop = NULL;
  const char *at = find_value(header, "shape");
  if (at == NULL || *at != '(') TSL_FAIL(TSL_ERR_INPUT, "%s: the NPY header has no 'shape'", path);
  for (at++; isdigit((unsigned char)*at); rank++) {
    errno = 0;
    const long long extent = strtoll(at, &stop, 10);
    if (errno != 0) TSL_FAIL(TSL_ERR_INPUT, "%s: the shape overflows 64-bit counts", path);
    if (rank < 2) shape[rank] = extent;
    at = stop + strspn(stop, ", ");
  }
  if (*at != ')') TSL_FAIL(TSL_ERR_INPUT, "%s: the NPY header has no valid 'shape'", path);
  if (rank != 1 && rank != 2)
    TSL_FAIL(TSL_ERR_INPUT, "%s: the array has %d dimensions; points need 1 or 2", path, rank);
  a->n = shape[0];
  a->width = shape[1];
done:
  return err;
}

/** Read magic, version and header text. */
static tsl_err load_header(const char *path, FILE *file, char *header, npy *a) {
  tsl_err err = TSL_OK;
  unsigned char b[12] = {0};
  size_t lead = 10, length = 0;
  if (fread(b, 1, 10, file) != 10 || memcmp(b, "\x93NUMPY", 6) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s is not an NPY file", path);
  if (b[6] < 1 || b[6] > 3)
    TSL_FAIL(TSL_ERR_INPUT, "%s: NPY version %d.%d is unknown; 1 to 3 are read", path, b[6], b[7]);
  length = (size_t)b[8] | (size_t)b[9] << 8;
  if (b[6] > 1) {
    if (fread(b + 10, 1, 2, file) != 2) TSL_FAIL(TSL_ERR_INPUT, "%s: cut off in its header", path);
    length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    lead = 12;
  }
  if (length >= HEADER_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%s: a header of %zu bytes is no plain array", path, length);
  if (fread(header, 1, length, file) != length)
    TSL_FAIL(TSL_ERR_INPUT, "%s: cut off in its header", path);
  header[length] = '\0';
  a->data = (int64_t)(lead + length);
done:
  return err;
}

static tsl_err check_size(const char *path, int64_t bytes, const npy *a) {
  tsl_err err = TSL_OK;
  int64_t need = 0;
  if (!tsl_mul_i64(a->n, a->width, &need) || !tsl_mul_i64(need, types[a->type].bytes, &need) ||
      !tsl_add_i64(need, a->data, &need))
    TSL_FAIL(TSL_ERR_INPUT, "%s: shape (%lld, %lld) overflows 64-bit sizes", path, (long long)a->n,
             (long long)a->width);
  if (need != bytes)
    TSL_FAIL(TSL_ERR_INPUT, "%s: shape (%lld, %lld) of %s needs %lld bytes, the file has %lld",
             path, (long long)a->n, (long long)a->width, types[a->type].code, (long long)need,
             (long long)bytes);
done:
  return err;
}

static tsl_err read_header(const char *path, FILE *file, int64_t bytes, npy *a) {
  tsl_err err = TSL_OK;
  void *header = NULL;
  TSL_TRY(tsl_alloc(HEADER_MAX, 1, "NPY header", &header));
  TSL_TRY(load_header(path, file, header, a));
  TSL_TRY(parse_type(path, header, a));
  TSL_TRY(parse_order(path, header, a));
  TSL_TRY(parse_shape(path, header, a));
  TSL_TRY(check_size(path, bytes, a));
done:
  tsl_free(header);
  return err;
}

/* ------------------------------------------------------------------- data */

static void swap_bytes(void *buffer, int64_t size, int64_t count) {
  unsigned char *b = buffer;
  for (int64_t i = 0; i < count; i++, b += size)
    for (int64_t low = 0, high = size - 1; low < high; low++, high--) {
      const unsigned char kept = b[low];
      b[low] = b[high], b[high] = kept;
    }
}

/** Count elements from element first of the array. */
static tsl_err table_read_npy_load(const char *path, FILE *file, const npy *a, int64_t first,
                                   int64_t count, void *buffer) {
  tsl_err err = TSL_OK;
  const int64_t size = types[a->type].bytes;
  if (fseeko(file, (off_t)(a->data + first * size), SEEK_SET) != 0 ||
      (int64_t)fread(buffer, (size_t)size, (size_t)count, file) != count)
    TSL_FAIL(TSL_ERR_IO, "cannot read '%s': %s", path,
             ferror(file) ? strerror(errno) : "shrinking");
  if (a->swap) swap_bytes(buffer, size, count);
done:
  return err;
}

static uint64_t magnitude(const npy *a, const void *buffer, int64_t i) {
  const uint64_t bits = ((const uint64_t *)buffer)[i];
  return types[a->type].code[0] == 'i' && bits >> 63 ? 0 - bits : bits;
}

/** Element `at` of a buffer goes to row and column of the table. */
static tsl_err table_read_npy_take(const table_source *source, const npy *a, const table_pick *pick,
                                   const void *buffer, int64_t at, int64_t row, int64_t column,
                                   table_rows *table) {
  tsl_err err = TSL_OK;
  const char *code = types[a->type].code;
  const uint64_t size = code[0] != 'f' && code[1] == '8' ? magnitude(a, buffer, at) : 0;
  if (size != 0 && size >> __builtin_ctzll(size) >> 53 != 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: row %lld, column %lld (both from 0) is %s%llu, a whole number that double "
             "precision cannot hold",
             source->path, (long long)row, (long long)pick->from[column],
             code[0] == 'i' && ((const int64_t *)buffer)[at] < 0 ? "-" : "",
             (unsigned long long)size);
  TSL_TRY(table_rows_put(source, pick, row, column, types[a->type].get(buffer, at), table));
done:
  return err;
}

/** C order: whole rows, some at a time. */
static tsl_err table_read_npy_read_rows(const table_source *source, FILE *file, const npy *a,
                                        const table_pick *pick, table_rows *table) {
  tsl_err err = TSL_OK;
  const int64_t rows = CHUNK / a->width + 1;
  void *buffer = NULL;
  TSL_TRY(tsl_alloc(rows * a->width, (size_t)types[a->type].bytes, "rows of an NPY file", &buffer));
  for (int64_t i0 = 0; i0 < a->n; i0 += rows) {
    const int64_t m = a->n - i0 < rows ? a->n - i0 : rows;
    TSL_TRY(table_read_npy_load(source->path, file, a, i0 * a->width, m * a->width, buffer));
    for (int64_t i = 0; i < m; i++)
      for (int64_t c = 0; c < pick->n; c++)
        TSL_TRY(table_read_npy_take(source, a, pick, buffer, i * a->width + pick->from[c], i0 + i,
                                    c, table));
  }
done:
  tsl_free(buffer);
  return err;
}

/** Fortran order: each wanted column, some rows at a time. */
static tsl_err read_columns(const table_source *source, FILE *file, const npy *a,
                            const table_pick *pick, table_rows *table) {
  tsl_err err = TSL_OK;
  void *buffer = NULL;
  TSL_TRY(tsl_alloc(CHUNK, (size_t)types[a->type].bytes, "column of an NPY file", &buffer));
  for (int64_t c = 0; c < pick->n; c++)
    for (int64_t i0 = 0; i0 < a->n; i0 += CHUNK) {
      const int64_t m = a->n - i0 < CHUNK ? a->n - i0 : CHUNK;
      TSL_TRY(table_read_npy_load(source->path, file, a, pick->from[c] * a->n + i0, m, buffer));
      for (int64_t i = 0; i < m; i++)
        TSL_TRY(table_read_npy_take(source, a, pick, buffer, i, i0 + i, c, table));
    }
done:
  tsl_free(buffer);
  return err;
}

tsl_err table_read_npy(const table_source *source, table_rows *table) {
  tsl_err err = TSL_OK;
  FILE *file = NULL;
  int64_t bytes = 0;
  npy a = {0};
  table_pick pick = {0};
  TSL_TRY(table_file_open(source->path, &file, &bytes));
  TSL_TRY(read_header(source->path, file, bytes, &a));
  TSL_TRY(table_pick_create(source, a.width, &pick));
  TSL_TRY(table_rows_create(a.n, pick.n, source->path, table));
  table->facts.width = a.width;
  (void)snprintf(table->facts.kind, sizeof table->facts.kind, "NPY of %s%s",
                 a.swap ? "big-endian " : "", types[a.type].code);
  TSL_TRY((a.fortran ? read_columns : table_read_npy_read_rows)(source, file, &a, &pick, table));
done:
  table_pick_clear(&pick);
  if (file != NULL) (void)fclose(file);
  return err;
}
