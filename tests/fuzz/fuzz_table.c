/* Any bytes as a table of numbers in text, NPY and XYZ: read or refused with a message, and what is
 * read is finite and as large as it says. (HDF5 is the library's to read.) */
#include "fuzz_driver.h"
#include "table_read.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What people are told: printable, within any size, and rows of one width only. */
static void try_words(const table_source *source, const table_rows *table) {
  char text[300];
  for (size_t size = 1; size <= sizeof text; size += 13) {
    table_describe(source, table, text, size);
    must(strlen(text) < size, "words beyond their end");
    for (const char *c = text; *c != '\0'; c++) must(*c < 0 || *c >= ' ', "a control character");
  }
  must(table_check_width(source, table, table->columns) == TSL_OK, "its own width");
  must(table_check_width(source, table, table->columns + 1) == TSL_ERR_INPUT, "another width");
}

static void try_source(const table_source *source) {
  table_rows table = {0};
  const tsl_err err = table_read(source, &table);
  must(err == TSL_OK ||
           ((err == TSL_ERR_INPUT || err == TSL_ERR_MEMORY) && tsl_err_message()[0] != '\0'),
       "refusal");
  must(err == TSL_OK || table.values == NULL, "rows of a refused file");
  must(err != TSL_OK || (table.n > 0 && table.columns > 0), "a table of nothing");
  for (int64_t k = 0; k < table.n * table.columns; k++)
    must(isfinite(table.values[k]), "a number that is none");
  if (err == TSL_OK) try_words(source, &table);
  table_rows_clear(&table);
}

/* All of it, and two columns with one more. */
static void try_format(const char *path, int32_t format) {
  static const int64_t columns[] = {1, 0};
  table_source source = {.path = path, .format = format, .comment = '#', .extra = -1};
  try_source(&source);
  source.columns = columns, source.n_columns = 2, source.extra = 2;
  source.header = TABLE_HEADER_YES, source.delimiter = TABLE_DELIMITER_COMMA;
  try_source(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  static int file = -1;
  static char path[40];
  table_source source = {.path = path, .extra = -1};
  int32_t format = TABLE_FORMAT_AUTO;
  tsl_err err = TSL_OK;
  if (file < 0) {
    file = memfd_create("fuzz_table", 0);
    must(file >= 0, "no file in memory");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  }
  must(ftruncate(file, 0) == 0 && pwrite(file, data, n_bytes, 0) == (ssize_t)n_bytes, "writing");
  err = table_read_format(&source, &format);
  must(format != TABLE_FORMAT_AUTO, "format");
  must(err == TSL_OK || (err == TSL_ERR_INPUT && strstr(tsl_err_message(), path) != NULL),
       "a file of a known kind that is not read");
  try_format(path, TABLE_FORMAT_TEXT);
  try_format(path, TABLE_FORMAT_NPY);
  try_format(path, TABLE_FORMAT_XYZ);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {
    "x,y,r\n1,2,3\n-4.5e-3,5,6\n# note\n7,8,9\n", "1 2 3\n4\t5  6\r\n", "1;2;3\n\n4;5;6",
    "2\ncomment\nH 0 0 0.5\nHe 1 1e2 -3\n", "a\n1e308\n-1e-320\n0x10\n",
    /* numbers of type i4, 2 rows of 3, written without zero bytes */
    "\x93NUMPY\x01\x01v {'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\nabcdef",
    "\x93NUMPY\x01\x01v {'descr': '>f2', 'fortran_order': True, 'shape': (2, 2), }\n0a1b2c3d",
    "\x93NUMPY\x01\x01v {'descr': '>i8', 'fortran_order': False, 'shape': (1,), }\n12345678",
    "1\nProperties=species:S:1:pos:R:3\nO 1 2 3\n", "9007199254740993,1e-400\nNA,NA\n", "PK\3\4",
    ""};

static const char tokens[] =
    "\n\1,\1;\1\t\1 \1#\1-\1+\1.\1e\1E\1"
    "0\1"
    "9\1"
    "99999999999999999999\1inf\1nan\1'descr'\1'<f8'\1'>i4'\1|b1\1shape\1(\1)\1"
    "'>f4'\1'<f2'\1'|b1'\1'<c16'\1Properties=\1pos:R:3\1NA\1\x1f\x8b\1\xff\xfe\1"
    "True\1'fortran_order'\1\x93NUMPY\1\r\1\"\1'";

FUZZ_MAIN("fuzz_table", "texts")

#endif
