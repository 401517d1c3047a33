/* Which format a file has, what is refused by name, and the readers. */
#include "table_read.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

enum { LOOK = 20 /* first bytes looked at */ };

/** The beginning of a file and what it tells. */
typedef struct mark {
  const char *bytes;
  size_t n;
  const char *what;
} mark;

#define MARK(bytes, what) \
  { bytes, sizeof bytes - 1, what }

static bool has_mark(const mark *m, const unsigned char *first, size_t n) {
  return n >= m->n && memcmp(first, m->bytes, m->n) == 0;
}

/** Files that hold numbers and are no text. */
static const mark foreign[] = {
    MARK("PK\3\4", "a zip archive (.npz, .xlsx); save one array as .npy or text"),
    MARK("PK\5\6", "an empty zip archive (.npz)"),
    MARK("\x1f\x8b", "compressed by gzip; unpack it first (gunzip)"),
    MARK("BZh91AY", "compressed by bzip2; unpack it first (bunzip2)"),
    MARK("\xfd"
         "7zXZ",
         "compressed by xz; unpack it first (unxz)"),
    MARK("\x28\xb5\x2f\xfd", "compressed by zstd; unpack it first (unzstd)"),
    MARK("\xff\xfe", "UTF-16 or UTF-32 text; save it as UTF-8"),
    MARK("\xfe\xff", "UTF-16 text; save it as UTF-8"),
    MARK("\0\0\xfe\xff", "UTF-32 text; save it as UTF-8"),
    MARK("PAR1\x15", "a Parquet file; save it as text or .npy"),
    MARK("ARROW1\0\0", "an Arrow file; save it as text or .npy"),
    MARK("MATLAB 5.0", "a MATLAB file; save it with -v7.3, which is HDF5"),
    MARK("CDF\1", "a classic netCDF file; nccopy -k nc4 makes HDF5 of it"),
    MARK("CDF\2", "a classic netCDF file; nccopy -k nc4 makes HDF5 of it"),
    MARK("SIMPLE  =", "a FITS file; save it as text or .npy"),
    MARK("\x80\4\x95", "a Python pickle; save it with numpy.save"),
};

static int32_t guess_format(const char *path, const unsigned char *first, size_t n) {
  static const mark npy = MARK("\x93NUMPY", ""), hdf5 = MARK("\x89HDF\r\n\x1a\n", ""),
                    matlab = MARK("MATLAB 7.3 MAT-file", "");
  const size_t length = strlen(path);
  if (has_mark(&npy, first, n)) return TABLE_FORMAT_NPY;
  if (has_mark(&hdf5, first, n) || has_mark(&matlab, first, n)) return TABLE_FORMAT_HDF5;
  if (length >= 4 && strcasecmp(path + length - 4, ".xyz") == 0) return TABLE_FORMAT_XYZ;
  return TABLE_FORMAT_TEXT;
}

static tsl_err refuse_foreign(const char *path, const unsigned char *first, size_t n) {
  tsl_err err = TSL_OK;
  for (size_t m = 0; m < sizeof foreign / sizeof *foreign; m++)
    if (has_mark(&foreign[m], first, n)) TSL_FAIL(TSL_ERR_INPUT, "%s is %s", path, foreign[m].what);
done:
  return err;
}

tsl_err table_read_format(const table_source *source, int32_t *format) {
  tsl_err err = TSL_OK;
  unsigned char first[LOOK];
  size_t n = 0;
  int64_t bytes = 0;
  FILE *file = NULL;
  TSL_TRY(table_file_open(source->path, &file, &bytes));
  n = fread(first, 1, sizeof first, file);
  if (ferror(file)) TSL_FAIL(TSL_ERR_IO, "cannot read '%s': %s", source->path, strerror(errno));
  *format =
      source->format != TABLE_FORMAT_AUTO ? source->format : guess_format(source->path, first, n);
  if (*format == TABLE_FORMAT_TEXT || *format == TABLE_FORMAT_XYZ)
    TSL_TRY(refuse_foreign(source->path, first, n));
done:
  if (file != NULL) (void)fclose(file);
  return err;
}

tsl_err table_read(const table_source *source, table_rows *table) {
  tsl_err err = TSL_OK;
  static tsl_err (*const readers[])(const table_source *, table_rows *) = {
      [TABLE_FORMAT_TEXT] = table_read_text,
      [TABLE_FORMAT_NPY] = table_read_npy,
      [TABLE_FORMAT_HDF5] = table_read_h5,
      [TABLE_FORMAT_XYZ] = table_read_xyz,
  };
  *table = (table_rows){0};
  TSL_TRY(readers[source->format](source, table));
  if (table->n == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: no numbers in this file%s", source->path,
             table->facts.header > 0 ? ", only a header" : "");
done:
  if (err != TSL_OK) table_rows_clear(table);
  return err;
}
