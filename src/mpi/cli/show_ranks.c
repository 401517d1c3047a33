/* `tesela show`: the tables with one row for each rank. */
#include "columns.h"
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

typedef struct seat_row {
  char host[64], device[80], cpuset[256];
  int32_t rank, node, kind, index, threads;
} seat_row;

static const tsl_column seat_columns[] = {
    TSL_TEXT_COLUMN(seat_row, host, "host"),
    TSL_TEXT_COLUMN(seat_row, device, "device"),
    TSL_TEXT_COLUMN(seat_row, cpuset, "cpuset"),
    TSL_COLUMN(seat_row, rank, "rank", TSL_I32, ""),
    TSL_COLUMN(seat_row, node, "node", TSL_I32, ""),
    TSL_COLUMN(seat_row, kind, "kind", TSL_I32, ""),
    TSL_COLUMN(seat_row, index, "index", TSL_I32, ""),
    TSL_COLUMN(seat_row, threads, "threads", TSL_I32, ""),
    TSL_NO_COLUMN,
};

static void print_seat(seat_row *row) {
  row->host[63] = row->device[79] = row->cpuset[255] = '\0';
  printf("  rank %-4d node %-3d ", row->rank, row->node);
  tsl_text_print(stdout, row->host);
  printf("  %s%d  ", row->kind == TSL_GPU ? "gpu" : "cpu", row->index);
  tsl_text_print(stdout, row->device);
  printf("  %d thread%s  cpus ", row->threads, row->threads == 1 ? "" : "s");
  tsl_text_print(stdout, row->cpuset[0] != '\0' ? row->cpuset : "not pinned");
  printf("\n");
}

int tsl_show_ranks(hid_t file) {
  int64_t n = 0;
  seat_row *rows = show_ranks_read_rows(file, "/run/machine", seat_columns, sizeof *rows, &n);
  if (rows == NULL) return n < 0;
  printf("\nRanks\n");
  for (int64_t r = 0; r < n && r < MOST_ROWS; r++) print_seat(&rows[r]);
  print_rest(n);
  free(rows);
  return 0;
}

/* ---- /run/balance */

typedef struct balance_row {
  int32_t rank;
  int64_t units, dynamic;
  double static_share, predicted, measured, idle;
} balance_row;

static const tsl_column balance_columns[] = {
    TSL_COLUMN(balance_row, rank, "rank", TSL_I32, ""),
    TSL_COLUMN(balance_row, units, "units", TSL_I64, ""),
    TSL_COLUMN(balance_row, dynamic, "dynamic", TSL_I64, ""),
    TSL_COLUMN(balance_row, static_share, "static_share", TSL_F64, ""),
    TSL_COLUMN(balance_row, predicted, "predicted", TSL_F64, ""),
    TSL_COLUMN(balance_row, measured, "measured", TSL_F64, ""),
    TSL_COLUMN(balance_row, idle, "idle", TSL_F64, ""),
    TSL_NO_COLUMN,
};

int tsl_show_balance(hid_t file) {
  int64_t n = 0;
  balance_row *rows = show_ranks_read_rows(file, "/run/balance", balance_columns, sizeof *rows, &n);
  if (rows == NULL) return n < 0;
  printf("\nBalance\n  %5s %8s %8s %8s  %11s  %10s  %8s\n", "rank", "units", "static %", "dynamic",
         "predicted s", "measured s", "idle s");
  for (int64_t r = 0; r < n && r < MOST_ROWS; r++)
    printf("  %5d %8lld %8.1f %8lld  %11.4g  %10.4g  %8.3g\n", rows[r].rank,
           (long long)rows[r].units, 100 * rows[r].static_share, (long long)rows[r].dynamic,
           rows[r].predicted, rows[r].measured, rows[r].idle);
  print_rest(n);
  free(rows);
  return 0;
}
