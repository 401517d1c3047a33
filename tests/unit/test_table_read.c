/* unit.tri.read: the readers of family tri on good and on bad files. */
#include "table_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/tsl_tri_read_XXXXXX";
static char path[128];

/** Write bytes to a file of the folder; its path is in `path`. */
static void write_bytes(const char *name, const void *bytes, size_t n) {
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
}

static table_source source_of(const char *name, const char *text) {
  write_bytes(name, text, strlen(text));
  return (table_source){.path = path, .comment = '#', .extra = -1};
}

/** Format and content of a source. */
static tsl_err load(table_source *source, table_rows *table) {
  const tsl_err err = table_read_format(source, &source->format);
  *table = (table_rows){0};
  return err == TSL_OK ? table_read(source, table) : err;
}

static void expect_rows(table_source source, int64_t n, int64_t columns, const double *values) {
  table_rows table;
  const tsl_err err = load(&source, &table);
  if (err != TSL_OK) print_error("%s\n", tsl_err_message());
  assert_int_equal(err, TSL_OK);
  assert_int_equal(table.n, n);
  assert_int_equal(table.columns, columns);
  for (int64_t i = 0; i < n * columns; i++) assert_true(table.values[i] == values[i]);
  table_rows_clear(&table);
}

/** The read fails with TSL_ERR_INPUT and its message has every one of the words. */
static void expect_refused(table_source source, const char *word, const char *other) {
  table_rows table;
  assert_int_equal(load(&source, &table), TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), word) == NULL || strstr(tsl_err_message(), other) == NULL)
    fail_msg("'%s' and '%s' expected in: %s", word, other, tsl_err_message());
  assert_null(table.values);
}

static const double six[] = {1, 2, 3, 4, 5, -6e-1};

static void text_good(void **state) {
  static const char *const texts[] = {"1,2,3\n4,5,-0.6\n",
                                      "1;2;3\n4;5;-.6",
                                      "1\t2\t3\n4\t5\t-6e-1\n",
                                      "  1 2  3 \n4\t 5 -0.6\n",
                                      "x,y,z\r\n1,2,3\r\n4,5,-.6",
                                      "# a comment, with commas\n\n1 2 3 # more\n4 5 -.6\n\n",
                                      "\xef\xbb\xbf+1, 2 ,3\n4,5,-.6\n",
                                      "\"1\",\"2\",3\n4,5,-6E-1\n"};
  (void)state;
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
    expect_rows(source_of("a.csv", texts[t]), 2, 3, six);
}

static void text_columns(void **state) {
  const int64_t columns[] = {2, 1};
  table_source s = source_of("a.csv", "name,lat,lon,r\n\"A, b\",1,2,9\nC,3,4,8\n");
  (void)state;
  s.columns = columns, s.n_columns = 2;
  expect_rows(s, 2, 2, (double[]){2, 1, 4, 3});
  s.extra = 3;
  expect_rows(s, 2, 3, (double[]){2, 1, 9, 4, 3, 8});
  s = source_of("a.csv", "1,2,3\n4,5,6\n");
  s.extra = 0; /* all others become coordinates */
  expect_rows(s, 2, 3, (double[]){2, 3, 1, 5, 6, 4});
  s = source_of("a.csv", "1999,2000\n1,2\n");
  s.header = TABLE_HEADER_YES;
  expect_rows(s, 1, 2, (double[]){1, 2});
}

/** What people are told of a source that is read well. */
static void expect_described(table_source source, const char *words) {
  char text[400];
  table_rows table;
  if (load(&source, &table) != TSL_OK) fail_msg("%s", tsl_err_message());
  table_describe(&source, &table, text, sizeof text);
  if (strstr(text, words) == NULL) fail_msg("'%s' expected in: %s", words, text);
  table_describe(&source, &table, text, 10); /* cut off, no further */
  assert_int_equal(strlen(text), 9);
  table_rows_clear(&table);
}

static void described(void **state) {
  const int64_t columns[] = {3, 1};
  table_source s = source_of("a.csv", "# c\nname,lat,lon\nA,1,2\n");
  (void)state;
  s.columns = columns + 1, s.n_columns = 1;
  expect_described(s, "a.csv: text with commas, 1 row, column 1 of 3, line 2 skipped as a header "
                      "('name,lat,lon')");
  expect_described(source_of("a.csv", "1;2\n3;4\n"),
                   "a.csv: text with semicolons, 2 rows, all 2 columns");
  s = source_of("a.csv", "1 2 3 4 5\n1 2 3 4 5\n");
  s.columns = columns, s.n_columns = 2, s.extra = 0;
  expect_described(s, "text with blanks, 2 rows, columns 3, 1, 0 of 5");
  expect_described(source_of("a.csv", "1\t2\t3\n"), "text with tabs, 1 row, all 3 columns");
  s = source_of("a.csv", "1,2,3\n");
  s.columns = columns + 1, s.n_columns = 1, s.extra = 0; /* delivered last */
  expect_described(s, "1 row, columns 1, 0 of 3");
  s = source_of("a.xyz", "1\n\nO 1 2 3 9\n");
  expect_described(s, "XYZ, 1 row, columns 0, 1, 2 of 4");
}

static void text_empty(void **state) {
  (void)state;
  expect_refused(source_of("a.csv", ""), "a.csv", "no numbers in this file");
  expect_refused(source_of("a.csv", "# nothing\n\n"), "a.csv", "no numbers in this file");
  expect_refused(source_of("a.csv", "x,y\n"), "a.csv", "only a header");
}

static void text_bad(void **state) {
  const int64_t columns[] = {3};
  table_source s;
  (void)state;
  expect_refused(source_of("a.csv", "1,2,3\n4,5,6\n7,8\n"), "a.csv:3: 2 fields", "line 1 has 3");
  expect_refused(source_of("a.csv", "1,2\n4\n"), "1 field, but line 1", "decimals have a point");
  expect_refused(source_of("a.csv", "1,5;2,5\n"), "a.csv:1: column 0 (from 0): '1,5'",
                 "decimals have a point");
  expect_refused(source_of("a.csv", "1,5 -2,5\n"), "'5 -2' is not a number",
                 "decimals have a point");
  expect_refused(source_of("a.csv", "1,2\n4,5,6\n"), "a.csv:2: 3 fields", "line 1 has 2");
  expect_refused(source_of("a.csv", "1,2\n3,nan\n"), "a.csv:2: column 1", "finite");
  expect_refused(source_of("a.csv", "-Inf,2\n"), "a.csv:1: column 0", "finite");
  expect_refused(source_of("a.csv", "1,2\n1e999,2\n"), "a.csv:2: column 0", "finite");
  expect_refused(source_of("a.csv", "1,2\n3,abc\n"), "a.csv:2: column 1", "'abc' is not a number");
  expect_refused(source_of("a.csv", "1,2\n3,0x10\n"), "column 1", "'0x10' is not a number");
  expect_refused(source_of("a.csv", "1,2\n3,\n"), "a.csv:2: column 1", "'' is not a number");
  expect_refused(source_of("a.csv", "1,x\n3,4\n"), "a.csv:1: column 1", "'x' is not a number");
  expect_refused(source_of("a.csv", "1 2\n3 1.2.3\n"), "a.csv:2", "'1.2.3' is not a number");
  expect_refused(source_of("a.csv", "NA,NA\n1,2\n"), "a.csv:1: column 0", "'NA' is not a number");
  expect_refused(source_of("a.csv", ",\n1,2\n"), "a.csv:1: column 0", "'' is not a number");
  expect_refused(source_of("a.csv", "1\n-9007199254740993\n"), "a.csv:2: column 0",
                 "double precision can hold");
  expect_refused(source_of("a.csv", "1,1e-400\n"), "a.csv:1: column 1",
                 "double precision can hold");
  expect_rows(source_of("a.csv", "0009007199254740992,-10000000000000000000000,1234567890123456.5,"
                                 "0e-400,0.0,1e-310\n"),
              1, 6, (double[]){0x1p53, -1e22, 1234567890123456.5, 0, 0, 1e-310});
  s = source_of("a.csv", "1,2,3\n");
  s.columns = columns, s.n_columns = 1;
  expect_refused(s, "column 3", "3 columns");
  s = source_of("a.csv", "5\n6\n");
  s.extra = 0;
  expect_refused(s, "no column is left", "coordinates");
}

static void text_many_short_lines(void **state) {
  /* a wide first line and many short ones must not cost memory of their product */
  enum { WIDE = 100000, LINES = 200000 };
  char *text = malloc(2 * WIDE + 2 * LINES + 1), *c = text;
  (void)state;
  assert_non_null(text);
  for (int i = 0; i < WIDE; i++) *c++ = '1', *c++ = i + 1 < WIDE ? ',' : '\n';
  for (int i = 0; i < LINES; i++) *c++ = '1', *c++ = '\n';
  *c = '\0';
  expect_refused(source_of("a.csv", text), "a.csv:2: 1 field,", "line 1 has 100000");
  free(text);
}

/** Files of numbers that are not read say what they are. */
static void foreign(void **state) {
  static const struct {
    const char *bytes, *word;
    size_t n;
  } files[] = {{"PK\3\4....", "zip archive (.npz", 8},
               {"\x1f\x8b\x08\0....", "gzip", 8},
               {"BZh91AY&SY", "bzip2", 10},
               {"\xfd"
                "7zXZ\0\0\0",
                "xz", 8},
               {"\x28\xb5\x2f\xfd....", "zstd", 8},
               {"\xff\xfe"
                "1\0,\0"
                "2\0",
                "UTF-16", 8},
               {"\xfe\xff\0"
                "1\0,\0"
                "2",
                "UTF-16", 8},
               {"PAR1\x15....", "Parquet", 9},
               {"MATLAB 5.0 MAT-file", "MATLAB", 19},
               {"CDF\1....", "netCDF", 8}};
  static const char *const names[] = {"a.csv", "a.xyz"};
  (void)state;
  for (size_t k = 0; k < 2 * sizeof files / sizeof *files; k++) {
    write_bytes(names[k % 2], files[k / 2].bytes, files[k / 2].n);
    expect_refused((table_source){.path = path, .extra = -1}, files[k / 2].word, names[k % 2]);
  }
  expect_rows(source_of("a.csv", "PAR1,PAR2\n1,2\n"), 1, 2, (double[]){1, 2});
}

static void series_is_one_column(void **state) {
  table_source s = source_of("a.csv", "1,2\n3,4\n");
  table_rows table;
  (void)state;
  assert_int_equal(load(&s, &table), TSL_OK);
  assert_int_equal(table_check_width(&s, &table, 2), TSL_OK);
  assert_int_equal(table_check_width(&s, &table, 1), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "2 columns where a series is one"));
  assert_int_equal(table_check_width(&s, &table, 4), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "rows of 2 numbers where rows of 4"));
  table_rows_clear(&table);
}

static void file_bad(void **state) {
  table_source s = {.path = "/tmp/there/is/no.csv", .extra = -1};
  (void)state;
  expect_refused(s, "cannot open", "No such file");
  s.path = folder;
  expect_refused(s, "not a regular file", folder);
}

/** An NPY file: header text for the given version, then data. */
static table_source npy_of(int version, const char *dict, const void *data, size_t bytes) {
  char buffer[4096];
  const size_t length = strlen(dict), lead = version == 1 ? 10 : 12;
  memcpy(buffer, "\x93NUMPY", 6);
  buffer[6] = (char)version, buffer[7] = 0;
  buffer[8] = (char)(length & 255), buffer[9] = (char)(length >> 8), buffer[10] = buffer[11] = 0;
  memcpy(buffer + lead, dict, length);
  if (bytes > 0) memcpy(buffer + lead + length, data, bytes);
  write_bytes("a.npy", buffer, lead + length + bytes);
  return (table_source){.path = path, .extra = -1};
}

static void npy_good(void **state) {
  const float f4[] = {1, 2, 3, 4, 5, 6};
  const double f8[] = {1, 2, 3, 4, 5, 6}, turned[] = {1, 3, 5, 2, 4, 6};
  const int16_t i2[] = {-1, 2, 3, 4, 5, 6};
  const unsigned char big[] = {0, 1, 255, 255, 1, 0, 0, 0, 255, 0, 127, 255};
  const unsigned char big8[] = {0xbf, 0xf8, 0, 0, 0, 0, 0, 0};
  const uint16_t f2[] = {0x3c00, 0xc000, 0x7bff, 1, 0x8400, 0x3555, 0};
  const int64_t whole[] = {INT64_MIN, INT64_C(1) << 54};
  const int64_t columns[] = {2};
  table_source s;
  (void)state;
  for (int v = 1; v <= 3; v++)
    expect_rows(npy_of(v, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", f8, 48),
                2, 3, f8);
  expect_rows(npy_of(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", f4, 24), 2,
              3, f8);
  expect_rows(npy_of(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }\n", f8, 48), 2,
              3, turned);
  expect_rows(npy_of(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (6,), }\n", i2, 12), 6,
              1, (double[]){-1, 2, 3, 4, 5, 6});
  expect_rows(npy_of(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (3, 2), }\n", big, 12),
              3, 2, (double[]){1, -1, 256, 0, -256, 32767});
  expect_rows(npy_of(1, "{'descr': '>f8', 'fortran_order': True, 'shape': (1, 1), }\n", big8, 8), 1,
              1, (double[]){-1.5});
  expect_rows(npy_of(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (7,), }\n", f2, 14), 7,
              1, (double[]){1, -2, 65504, 0x1p-24, -0x1p-14, 0.333251953125, 0});
  expect_rows(npy_of(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 1), }\n", "\1\0", 2),
              2, 1, (double[]){1, 0});
  expect_rows(npy_of(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n", whole, 16),
              2, 1, (double[]){-0x1p63, 0x1p54});
  s = npy_of(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }\n", f8, 48);
  s.columns = columns, s.n_columns = 1, s.extra = 0;
  expect_rows(s, 2, 2, (double[]){5, 1, 6, 2});
}

static void npy_bad(void **state) {
  static const struct {
    const char *dict, *word, *other;
  } bad[] = {
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "'<c8'", "complex numbers"},
      {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", "'<f16'",
       "extended precision"},
      {"{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }", "'<U2'", "(text)"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", "needs", "bytes"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "'|O'", "not supported"},
      {"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,), }", "[('x'", "supported"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", "needs", "bytes"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1), }", "3 dimensions", "1 or 2"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "0 dimensions", "1 or 2"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 0), }", "needs", "bytes"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "overflow",
       "a.npy"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 4), }", "overflow",
       "a.npy"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 4), }", "'shape'", "valid"},
      {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }", "'fortran_order'", "valid"},
      {"{'fortran_order': False, 'shape': (1,), }", "'descr'", "a.npy"},
      {"{'descr': '<f8", "supported", "a.npy"},
      {"", "'descr'", "a.npy"}};
  const double one = 1, nan_row[] = {1, 2, 3, NAN};
  const int64_t rounded[] = {1, (INT64_C(1) << 53) + 1, 3, -(INT64_C(1) << 60) - 1};
  const int64_t columns[] = {0};
  table_source s;
  (void)state;
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
    expect_refused(npy_of(1, bad[b].dict, &one, 8), bad[b].word, bad[b].other);
  expect_refused(npy_of(4, "{}", NULL, 0), "version 4", "a.npy");
  expect_refused(
      npy_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", nan_row, 32),
      "row 1, column 1", "NaN");
  expect_refused(
      npy_of(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", "\0\x7c", 2),
      "row 0, column 0", "infinite");
  expect_refused(npy_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", NULL, 0),
                 "no numbers", "a.npy");
  s = npy_of(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }", rounded, 32);
  expect_refused(s, "row 0, column 1", "9007199254740993, a whole number that double");
  s.columns = columns, s.n_columns = 1; /* a column that nobody asks for may hold anything */
  expect_rows(s, 2, 1, (double[]){1, 3});
  s = npy_of(1, "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 2), }", rounded, 32);
  expect_refused(s, "row 1, column 0", "a whole number that double");
  s = npy_of(1, "{'descr': '<u8', 'fortran_order': False, 'shape': (1, 1), }", rounded + 3, 8);
  expect_refused(s, "row 0, column 0", "17293822569102704639, a whole number");
  write_bytes("a.npy", "\x93NUMPY\1\0\xff\x0f{", 11);
  expect_refused((table_source){.path = path, .extra = -1}, "cut off", "a.npy");
}

static void npy_forced(void **state) {
  table_source s = source_of("a.npy", "1,2,3\n");
  (void)state;
  s.format = TABLE_FORMAT_NPY;
  expect_refused(s, "not an NPY file", "a.npy");
}

static void xyz_good(void **state) {
  const int64_t columns[] = {3, 4, 5};
  table_source s = source_of("a.xyz", "2\nwater, part\nO 1 2 3\nH\t4 5 -.6\n\n");
  (void)state;
  expect_rows(s, 2, 3, six);
  s = source_of("a.xyz", "2\n\nO 1 2 3 7\nH 4 5 -.6 8\n");
  expect_rows(s, 2, 3, six); /* further columns are left alone ... */
  s.extra = 3;               /* ... unless asked for */
  expect_rows(s, 2, 4, (double[]){1, 2, 3, 7, 4, 5, -.6, 8});
  expect_rows(source_of("a.xyz", "\xef\xbb\xbf"
                                 "1\nProperties=species:S:1:pos:R:3:q:R:1\nO 1 2 3 4\n"),
              1, 3, six);
  s = source_of("a.xyz",
                "1\nLattice=\"9 0 0\" Properties=species:S:1:force:R:3:pos:R:3\nO 7 8 9 1 2 3\n");
  expect_refused(s, "a.xyz:2: 'species:S:1:force:R:3", "columns");
  s.columns = columns, s.n_columns = 3;
  expect_rows(s, 1, 3, six);
}

static void xyz_bad(void **state) {
  (void)state;
  expect_refused(source_of("a.xyz", "3\n\nO 1 2 3\nH 4 5 6\n"), "3 atoms announced", "2 found");
  expect_refused(source_of("a.xyz", "1\n\nO 1 2 3\nH 4 5 6\n"), "a.xyz:4", "1 atoms");
  expect_refused(source_of("a.xyz", "two\n\nO 1 2 3\n"), "a.xyz:1", "'two'");
  expect_refused(source_of("a.xyz", "-1\n\n"), "a.xyz:1", "number of atoms");
  expect_refused(source_of("a.xyz", "1e12\n\nO 1 2 3\n"), "a.xyz:1", "short");
  expect_refused(source_of("a.xyz", "1\n\nO 1 2\n"), "a.xyz:3", "symbol x y z");
  expect_refused(source_of("a.xyz", "2\n\nO 1 2 3\nO 1 2\n"), "a.xyz:4", "3 words");
  expect_refused(source_of("a.xyz", "1\n\nO 1 2 z\n"), "a.xyz:3: column 2", "'z'");
  expect_refused(source_of("a.xyz", "1\n\nO 1 nan 3\n"), "a.xyz:3: column 1", "finite");
  expect_refused(source_of("a.xyz", ""), "empty", "a.xyz");
  expect_refused(source_of("a.xyz", "0\nempty\n"), "no numbers", "a.xyz");
}

/** An HDF5 file with /g/points [2][3] f4, /line [6] i4, /cube [1][1][1], /words. */
static void write_h5(void) {
  const float points[] = {1, 2, 3, 4, 5, 6};
  const int line[] = {1, 2, 3, 4, 5, 6};
  const struct {
    const char *name;
    hid_t type, memory;
    int rank;
    hsize_t shape[3];
    const void *data;
  } sets[] = {{"/g/points", H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, 2, {2, 3}, points},
              {"/line", H5T_STD_I32LE, H5T_NATIVE_INT, 1, {6}, line},
              {"/cube", H5T_STD_I32LE, H5T_NATIVE_INT, 3, {1, 1, 1}, line},
              {"/words", H5T_C_S1, H5T_C_S1, 1, {6}, "abcdef"},
              {"/none", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, {0, 3}, NULL}};
  (void)snprintf(path, sizeof path, "%s/a.h5", folder);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  (void)H5Gclose(H5Gcreate2(file, "/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
    const hid_t space = H5Screate_simple(sets[s].rank, sets[s].shape, NULL);
    const hid_t set =
        H5Dcreate2(file, sets[s].name, sets[s].type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (sets[s].data != NULL)
      assert_true(H5Dwrite(set, sets[s].memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, sets[s].data) >= 0);
    (void)H5Dclose(set);
    (void)H5Sclose(space);
  }
  (void)H5Lcreate_external("/etc/hostname", "/x", file, "/away", H5P_DEFAULT, H5P_DEFAULT);
  (void)H5Fclose(file);
}

static table_source h5_of(const char *dataset) {
  write_h5();
  return (table_source){.path = path, .extra = -1, .dataset = dataset};
}

static void h5_good(void **state) {
  const double f8[] = {1, 2, 3, 4, 5, 6};
  const int64_t columns[] = {1};
  table_source s = h5_of("/g/points");
  (void)state;
  expect_rows(s, 2, 3, f8);
  s.columns = columns, s.n_columns = 1, s.extra = 2;
  expect_rows(s, 2, 2, (double[]){2, 3, 5, 6});
  expect_rows(h5_of("line"), 6, 1, f8);
}

static void h5_bad(void **state) {
  table_source s;
  (void)state;
  expect_refused(h5_of("/points"), "no dataset '/points'", "/g/points");
  expect_refused(h5_of(NULL), "input.dataset", "/line");
  expect_refused(h5_of("/cube"), "'/cube'", "3 dimensions");
  expect_refused(h5_of("/words"), "'/words' holds text", "no integers or reals");
  expect_refused(h5_of("/none"), "a.h5", "no numbers");
  expect_refused(h5_of("/away"), "no dataset '/away'", "/line");
  s = source_of("b.h5", "\x89HDF\r\n\x1a\ngarbage");
  expect_refused(s, "not a readable HDF5 file", "b.h5");
}

enum { FILTER = 300 };

static size_t pass_on(unsigned flags, size_t n, const unsigned values[], size_t bytes, size_t *room,
                      void **buffer) {
  (void)flags, (void)n, (void)values, (void)room, (void)buffer;
  return bytes;
}

/** One dataset "x" of two chunks; filter 0: none. */
static table_source one_set(hid_t type, hid_t memory, const void *values, int filter) {
  const hsize_t shape[] = {4}, chunk[] = {2};
  (void)snprintf(path, sizeof path, "%s/c.h5", folder);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, shape, NULL), plan = H5Pcreate(H5P_DATASET_CREATE);
  (void)H5Pset_chunk(plan, 1, chunk);
  if (filter != 0) assert_true(H5Pset_filter(plan, filter, H5Z_FLAG_MANDATORY, 0, NULL) >= 0);
  const hid_t set = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  assert_true(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  (void)H5Dclose(set), (void)H5Sclose(space), (void)H5Pclose(plan), (void)H5Fclose(file);
  return (table_source){.path = path, .extra = -1, .dataset = "x"};
}

static void h5_filter_is_named(void **state) {
  static const H5Z_class2_t squeeze = {H5Z_CLASS_T_VERS, FILTER, 1,    1,
                                       "squeeze",        NULL,   NULL, pass_on};
  const double values[] = {1, 2, 3, 4};
  (void)state;
  assert_true(H5Zregister(&squeeze) >= 0);
  const table_source s = one_set(H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values, FILTER);
  expect_rows(s, 4, 1, values);
  assert_true(H5Zunregister(FILTER) >= 0);
  expect_refused(s, "'x': compressed by filter 300 squeeze", "HDF5_PLUGIN_PATH");
}

static void h5_numbers_are_kept(void **state) {
  const int64_t kept[] = {INT64_MIN, INT64_C(1) << 54, 7, -7};
  const int64_t rounded[] = {1, 2, (INT64_C(1) << 53) + 1, 4};
  const long double wide[] = {1, 2, 3, 4};
  (void)state;
  expect_rows(one_set(H5T_STD_I64BE, H5T_NATIVE_INT64, kept, 0), 4, 1,
              (double[]){-0x1p63, 0x1p54, 7, -7});
  expect_refused(one_set(H5T_STD_I64LE, H5T_NATIVE_INT64, rounded, 0), "row 2, column 0",
                 "a whole number that double");
  expect_refused(one_set(H5T_STD_U64LE, H5T_NATIVE_INT64, rounded, 0), "row 2, column 0",
                 "a whole number that double");
  expect_refused(one_set(H5T_NATIVE_LDOUBLE, H5T_NATIVE_LDOUBLE, wide, 0), "'x' holds numbers of",
                 "more than double precision");
}

static void h5_not_finite(void **state) {
  const double values[] = {1, 2, INFINITY, 4};
  const hsize_t shape[] = {2, 2};
  (void)state;
  (void)snprintf(path, sizeof path, "%s/c.h5", folder);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(2, shape, NULL);
  const hid_t set =
      H5Dcreate2(file, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  (void)H5Dclose(set), (void)H5Sclose(space), (void)H5Fclose(file);
  expect_refused((table_source){.path = path, .extra = -1, .dataset = "x"}, "row 1, column 0",
                 "infinite");
}

static int set_up(void **state) {
  (void)state;
  return mkdtemp(folder) == NULL;
}

static int tear_down(void **state) {
  static const char *const names[] = {"a.csv", "a.npy", "a.xyz", "a.h5", "b.h5", "c.h5"};
  (void)state;
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    (void)snprintf(path, sizeof path, "%s/%s", folder, names[n]);
    (void)unlink(path);
  }
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(text_good),
                                     cmocka_unit_test(text_columns),
                                     cmocka_unit_test(described),
                                     cmocka_unit_test(text_empty),
                                     cmocka_unit_test(text_bad),
                                     cmocka_unit_test(text_many_short_lines),
                                     cmocka_unit_test(foreign),
                                     cmocka_unit_test(series_is_one_column),
                                     cmocka_unit_test(file_bad),
                                     cmocka_unit_test(npy_good),
                                     cmocka_unit_test(npy_bad),
                                     cmocka_unit_test(npy_forced),
                                     cmocka_unit_test(xyz_good),
                                     cmocka_unit_test(xyz_bad),
                                     cmocka_unit_test(h5_good),
                                     cmocka_unit_test(h5_bad),
                                     cmocka_unit_test(h5_filter_is_named),
                                     cmocka_unit_test(h5_numbers_are_kept),
                                     cmocka_unit_test(h5_not_finite)};
  return cmocka_run_group_tests_name("unit.tri.read", tests, set_up, tear_down);
}
