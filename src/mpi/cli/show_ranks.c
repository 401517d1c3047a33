/* `tesela show`: the tables with one row for each rank. */
#include "run_tables.h"
#include "show_own.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_ROWS = 4096 };

static herr_t add_text(hid_t row, const tsl_column *c) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  herr_t status = type < 0 ? -1 : H5Tset_size(type, (size_t)c->text);
  if (status >= 0) status = H5Tset_cset(type, H5T_CSET_UTF8);
  if (status >= 0) status = H5Tinsert(row, c->name, c->offset, type);
  if (type >= 0) (void)H5Tclose(type);
  return status;
}

static herr_t add_number(hid_t row, const tsl_column *c) {
  return H5Tinsert(row, c->name, c->offset,
                   c->type == TSL_I32   ? H5T_NATIVE_INT32
                   : c->type == TSL_I64 ? H5T_NATIVE_INT64
                                        : H5T_NATIVE_DOUBLE);
}

static hid_t row_type(const tsl_column *columns, size_t bytes) {
  const hid_t row = H5Tcreate(H5T_COMPOUND, bytes);
  if (row < 0) return -1;
  for (const tsl_column *c = columns; c->name != NULL; c++)
    if ((c->text > 0 ? add_text(row, c) : add_number(row, c)) < 0) {
      (void)H5Tclose(row);
      return -1;
    }
  return row;
}

/* Read the first n elements of a one-dimensional dataset. */
static herr_t read_first(hid_t dataset, hid_t space, hid_t type, hsize_t n, void *data) {
  const hsize_t start[1] = {0}, count[1] = {n};
  const hid_t memory = H5Screate_simple(1, count, NULL);
  herr_t status = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
  if (status >= 0) status = H5Dread(dataset, type, memory, space, H5P_DEFAULT, data);
  if (memory >= 0) (void)H5Sclose(memory);
  return status;
}

/* Rows of a table, at most MOST_ROWS of *n; NULL when absent (*n 0) or unreadable (*n -1). */
static void *show_ranks_read_rows(hid_t file, const char *path, const tsl_column *columns,
                                  size_t bytes, int64_t *n) {
  hid_t dataset = -1, space = -1, type = -1;
  void *rows = NULL;
  bool good = false;
  *n = 0;
  if (!tsl_show_has(file, path)) return NULL;
  dataset = H5Dopen2(file, path, H5P_DEFAULT);
  if (dataset >= 0) space = H5Dget_space(dataset);
  type = row_type(columns, bytes);
  rows = calloc(MOST_ROWS, bytes);
  if (rows != NULL && space >= 0 && type >= 0 && tsl_show_inside(dataset) &&
      H5Sget_simple_extent_ndims(space) == 1) {
    *n = H5Sget_simple_extent_npoints(space);
    good = read_first(dataset, space, type, (hsize_t)(*n < MOST_ROWS ? *n : MOST_ROWS), rows) >= 0;
  }
  if (type >= 0) (void)H5Tclose(type);
  if (space >= 0) (void)H5Sclose(space);
  if (dataset >= 0) (void)H5Dclose(dataset);
  if (good) return rows;
  free(rows);
  *n = -1;
  return NULL;
}

static void print_rest(int64_t n) {
  if (n > MOST_ROWS) printf("  ... %lld more\n", (long long)(n - MOST_ROWS));
}

/* ---- /run/machine */

static void print_seat(tsl_placement *row) {
  tsl_device *device = &row->device;
  row->host[sizeof row->host - 1] = device->name[sizeof device->name - 1] =
      row->cpuset[sizeof row->cpuset - 1] = '\0';
  printf("  rank %-4d node %-3d ", row->rank, row->node);
  tsl_text_print(stdout, row->host);
  printf("  %s%d  ", device->kind == TSL_GPU ? "gpu" : "cpu", device->index);
  tsl_text_print(stdout, device->name);
  printf("  %d thread%s  cpus ", row->threads, row->threads == 1 ? "" : "s");
  tsl_text_print(stdout, row->cpuset[0] != '\0' ? row->cpuset : "not pinned");
  printf("\n");
}

int tsl_show_ranks(hid_t file) {
  int64_t n = 0;
  tsl_placement *rows =
      show_ranks_read_rows(file, "/run/machine", tsl_machine_columns, sizeof *rows, &n);
  if (rows == NULL) return n < 0;
  printf("\nRanks\n");
  for (int64_t r = 0; r < n && r < MOST_ROWS; r++) print_seat(&rows[r]);
  print_rest(n);
  free(rows);
  return 0;
}

/* ---- /run/balance */

int tsl_show_balance(hid_t file) {
  int64_t n = 0;
  tsl_share_line *rows =
      show_ranks_read_rows(file, "/run/balance", tsl_balance_columns, sizeof *rows, &n);
  if (rows == NULL) return n < 0;
  printf("\nBalance\n  %5s %8s %8s %8s  %11s  %10s  %8s\n", "rank", "units", "static %", "dynamic",
         "predicted s", "measured s", "idle s");
  for (int64_t r = 0; r < n && r < MOST_ROWS; r++)
    printf("  %5d %8lld %8.1f %8lld  %11.4g  %10.4g  %8.3g\n", rows[r].rank,
           (long long)rows[r].units, 100 * rows[r].static_share, (long long)rows[r].dynamic,
           rows[r].predicted, rows[r].busy, rows[r].idle);
  print_rest(n);
  free(rows);
  return 0;
}
