/** @file dp_cpu_dtw.c  Bands of dynamic time warping. */
#include "dp_cpu.h"
#include "dp_kernels.h"
#include "dp_pipe.h"

#include <math.h>
#include <string.h>

enum { DTW_ROWS = 1024, DTW_KEEP_ROWS = 256 /* rows of a block; of one that is kept */ };

typedef struct dtw_strip {
  int64_t column, at; /**< first column; place among the values by lane */
  int32_t lanes, wide;
} dtw_strip;

struct dp_cpu_dtw {
  dp_cpu cpu;
  bool square, wide_values;   /**< f64, not f32 */
  int64_t n, m, size, vector; /**< size: bytes of a value; vector: values of a vector */
  const char *rows, *columns; /**< not owned */
  dtw_strip *strips;
  int64_t n_strips, entries;
  char *x;      /**< [n] by row with room */
  char *y, *h;  /**< [entries] by lane: columns, last row */
  char *corner; /**< [n_strips] M of the row above, column before the strip */
  char *edge;   /**< [edge_rows] by row with room: M of the column before the strip */
  int64_t edge_rows;
  /* kept of tile [keep_lo, keep_hi) */
  char *keep_edge; /**< [n_strips][rows + 1] left edges */
  char *keep_row;  /**< [blocks][m] rows above the blocks */
  int64_t keep_edges, keep_rows, keep_lo, keep_hi;
};

/* ------------------------------------------------------------------ values */

static double value_get(const dp_cpu_dtw *b, const char *list, int64_t k) {
  return b->wide_values ? ((const double *)list)[k] : (double)((const float *)list)[k];
}

static void value_put(const dp_cpu_dtw *b, char *list, int64_t k, double value) {
  if (b->wide_values)
    ((double *)list)[k] = value;
  else
    ((float *)list)[k] = (float)value;
}

/** Columns of a strip, and the place by lane of one of them. */
static int64_t strip_columns(const dtw_strip *s) {
  return s->lanes * (s->wide ? DP_COLUMNS : 1);
}

static int64_t place_of(const dp_cpu_dtw *b, const dtw_strip *s, int64_t column) {
  const int64_t r = s->wide ? DP_COLUMNS : 1;
  return s->at + column % r * b->vector + s->lanes - 1 - column / r;
}

static void to_lanes(const dp_cpu_dtw *b, const char *columns, char *lanes) {
  for (int64_t k = 0; k < b->n_strips; k++)
    for (int64_t c = 0; c < strip_columns(&b->strips[k]); c++)
      memcpy(lanes + place_of(b, &b->strips[k], c) * b->size,
             columns + (b->strips[k].column + c) * b->size, (size_t)b->size);
}

static void from_lanes(const dp_cpu_dtw *b, const char *lanes, char *columns) {
  for (int64_t k = 0; k < b->n_strips; k++)
    for (int64_t c = 0; c < strip_columns(&b->strips[k]); c++)
      memcpy(columns + (b->strips[k].column + c) * b->size,
             lanes + place_of(b, &b->strips[k], c) * b->size, (size_t)b->size);
}

/* ------------------------------------------------------------------ open and close */

static tsl_err cut_strips(dp_cpu_dtw *b) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(b->m / b->vector + DP_COLUMNS + 2, sizeof *b->strips, "strips of warping",
                    (void **)&b->strips));
  for (int64_t c = 0; c < b->m;) {
    dtw_strip *s = &b->strips[b->n_strips++];
    const int64_t left = b->m - c, r = left >= DP_COLUMNS ? DP_COLUMNS : 1;
    s->wide = r > 1;
    s->lanes = (int32_t)(left / r < b->vector ? left / r : b->vector);
    s->column = c;
    s->at = b->entries;
    c += s->lanes * r;
    b->entries += r * b->vector;
  }
done:
  return err;
}

tsl_err dp_cpu_dtw_open(const dp_cpu *cpu, tsl_type type, bool square, const void *rows, int64_t n,
                        const void *columns, int64_t m, dp_cpu_dtw **out) {
  tsl_err err = TSL_OK;
  dp_cpu_dtw *b = NULL;
  *out = NULL;
  if (type != TSL_F32 && type != TSL_F64)
    TSL_FAIL(TSL_ERR_INPUT, "dynamic time warping of %s values; allowed are f32 and f64",
             tsl_type_name(type));
  TSL_TRY(tsl_alloc(1, sizeof *b, "band of warping", (void **)&b));
  b->cpu = *cpu;
  b->square = square;
  b->wide_values = type == TSL_F64;
  b->size = (int64_t)tsl_type_bytes(type);
  b->vector = cpu->kernels->bytes / b->size;
  b->n = n, b->m = m;
  b->rows = rows, b->columns = columns;
  TSL_TRY(cut_strips(b));
  TSL_TRY(tsl_alloc(n + 2 * DP_PAD, (size_t)b->size, "rows of warping", (void **)&b->x));
  TSL_TRY(tsl_alloc(b->entries, (size_t)b->size, "columns of warping", (void **)&b->y));
  TSL_TRY(tsl_alloc(b->entries, (size_t)b->size, "row of warping", (void **)&b->h));
  TSL_TRY(tsl_alloc(b->n_strips, (size_t)b->size, "strips of warping", (void **)&b->corner));
  if (n > 0) memcpy(b->x + DP_PAD * b->size, rows, (size_t)(n * b->size));
  to_lanes(b, columns, b->y);
  dp_cpu_dtw_begin(b);
  *out = b;
done:
  if (err != TSL_OK) dp_cpu_dtw_close(&b);
  return err;
}

void dp_cpu_dtw_close(dp_cpu_dtw **band) {
  dp_cpu_dtw *b = *band;
  if (b == NULL) return;
  TSL_FREE_ALL(b->strips, b->x, b->y, b->h, b->corner, b->edge, b->keep_edge, b->keep_row, b);
  *band = NULL;
}

void dp_cpu_dtw_begin(dp_cpu_dtw *b) {
  for (int64_t k = 0; k < b->entries; k++) value_put(b, b->h, k, INFINITY);
}

void dp_cpu_dtw_row_get(const dp_cpu_dtw *b, void *row) {
  from_lanes(b, b->h, row);
}

void dp_cpu_dtw_row_put(dp_cpu_dtw *b, const void *row) {
  to_lanes(b, row, b->h);
}

/* ------------------------------------------------------------------ tiles */

/** A tile under way. */
typedef struct tile {
  dp_cpu_dtw *band;
  int64_t lo, rows, block;
  bool keep;
} tile;

/** Remember the block's left side and the row above it. */
static void keep_block(const tile *t, const dtw_strip *s, int64_t strip, int64_t block,
                       int64_t rows) {
  const dp_cpu_dtw *b = t->band;
  const int64_t first = block * t->block, at = strip * (t->rows + 1) + first;
  char *row = b->keep_row + (block * b->m + s->column) * b->size;
  memcpy(b->keep_edge + at * b->size, b->corner + strip * b->size, (size_t)b->size);
  memcpy(b->keep_edge + (at + 1) * b->size, b->edge + (DP_PAD + first) * b->size,
         (size_t)(rows * b->size));
  for (int64_t c = 0; c < strip_columns(s); c++)
    memcpy(row + c * b->size, b->h + place_of(b, s, c) * b->size, (size_t)b->size);
}

static void dp_cpu_dtw_run_block(void *context, int64_t strip, int64_t block, int thread) {
  const tile *t = context;
  dp_cpu_dtw *b = t->band;
  const dtw_strip *s = &b->strips[strip];
  const int64_t first = block * t->block, left = t->rows - first;
  const int64_t rows = left < t->block ? left : t->block, size = b->size;
  char *corner = b->corner + strip * size, *edge = b->edge + (DP_PAD + first) * size;
  double next = 0;
  (void)thread;
  if (t->keep) keep_block(t, s, strip, block, rows);
  memcpy(&next, edge + (rows - 1) * size, (size_t)size);
  const dp_dtw_strip args = {.lanes = s->lanes,
                             .wide = s->wide,
                             .square = b->square,
                             .rows = rows,
                             .a = b->x + (DP_PAD + t->lo + first) * size,
                             .b = b->y + s->at * size,
                             .edge = edge,
                             .corner = corner,
                             .h = b->h + s->at * size};
  b->cpu.kernels->dtw[b->wide_values](&args);
  memcpy(corner, &next, (size_t)size);
}

static tsl_err dp_cpu_dtw_grow(char **list, int64_t *had, int64_t need, int64_t size) {
  tsl_err err = TSL_OK;
  if (need <= *had) goto done;
  tsl_free(*list);
  *list = NULL;
  *had = 0;
  TSL_TRY(tsl_alloc(need, (size_t)size, "what a tile of warping keeps", (void **)list));
  *had = need;
done:
  return err;
}

static tsl_err dp_cpu_dtw_make_room(dp_cpu_dtw *b, const tile *t, int64_t blocks) {
  tsl_err err = TSL_OK;
  int64_t edges = 0, rows = 0;
  TSL_TRY(dp_cpu_dtw_grow(&b->edge, &b->edge_rows, t->rows + 2 * DP_PAD, b->size));
  if (!t->keep) goto done;
  b->keep_lo = b->keep_hi = 0;
  if (!tsl_mul_i64(b->n_strips, t->rows + 1, &edges) || !tsl_mul_i64(blocks, b->m, &rows))
    TSL_FAIL(TSL_ERR_MEMORY, "what %lld x %lld cells keep does not fit", (long long)t->rows,
             (long long)b->m);
  TSL_TRY(dp_cpu_dtw_grow(&b->keep_edge, &b->keep_edges, edges, b->size));
  TSL_TRY(dp_cpu_dtw_grow(&b->keep_row, &b->keep_rows, rows, b->size));
  b->keep_lo = t->lo, b->keep_hi = t->lo + t->rows;
done:
  return err;
}

/** Left edge and corners; *top gets what entry 0 of the right edge is. */
static void dp_cpu_dtw_enter(dp_cpu_dtw *b, const tile *t, const char *left, char *top) {
  char first[sizeof(double)];
  const size_t size = (size_t)b->size;
  char *edge = b->edge + DP_PAD * b->size;
  value_put(b, first, 0, t->lo == 0 ? 0 : (double)INFINITY);
  if (left != NULL) memcpy(first, left, size);
  for (int64_t i = 0; left == NULL && i < t->rows; i++) value_put(b, edge, i, INFINITY);
  if (left != NULL) memcpy(edge, left + size, size * (size_t)t->rows);
  memcpy(top, first, size);
  for (int64_t k = 0; k < b->n_strips; k++) {
    const dtw_strip *s = &b->strips[k];
    memcpy(b->corner + k * b->size, top, size);
    memcpy(top, b->h + place_of(b, s, strip_columns(s) - 1) * b->size, size);
  }
}

tsl_err dp_cpu_dtw_tile(dp_cpu_dtw *b, int64_t lo, int64_t hi, const void *left, void *right,
                        bool keep) {
  tsl_err err = TSL_OK;
  tile t = {
      .band = b, .lo = lo, .rows = hi - lo, .block = keep ? DTW_KEEP_ROWS : DTW_ROWS, .keep = keep};
  char top[sizeof(double)];
  if (lo < 0 || hi < lo || hi > b->n)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld to %lld of %lld", (long long)lo, (long long)hi,
             (long long)b->n);
  while (!keep && b->cpu.threads > 1 && t.block > 128 && t.rows < 4 * t.block * b->cpu.threads)
    t.block /= 2;
  const int64_t blocks = (t.rows + t.block - 1) / t.block;
  TSL_TRY(dp_cpu_dtw_make_room(b, &t, blocks));
  dp_cpu_dtw_enter(b, &t, left, top);
  TSL_TRY(dp_pipe_run(b->cpu.threads, b->n_strips, blocks, dp_cpu_dtw_run_block, &t));
  if (right == NULL) goto done;
  memcpy(right, top, (size_t)b->size);
  memcpy((char *)right + b->size, b->edge + DP_PAD * b->size, (size_t)(t.rows * b->size));
done:
  return err;
}

int64_t dp_cpu_dtw_keep_bytes(const dp_cpu *cpu, tsl_type type, int64_t rows, int64_t m) {
  const double size = (double)tsl_type_bytes(type), vector = cpu->kernels->bytes / size;
  const double strips = (double)m / (vector * DP_COLUMNS) + 3;
  const double blocks = (double)rows / DTW_KEEP_ROWS + 1;
  const double bytes = size * (strips * ((double)rows + 1) + blocks * (double)m);
  return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

/* ------------------------------------------------------------------ the way back */

/** The cells of a kept block up to (i, j) of the tile, i and j from 1. */
typedef struct patch {
  int64_t row, column, width; /**< before its first cell; values of a row, the left side included */
  double *values;             /**< [rows + 1][width], the row above included */
} patch;

/** d(x_i, y_j) + before, in the band's type. */
static double after(const dp_cpu_dtw *b, int64_t i, int64_t j, double before) {
  const double x = value_get(b, b->rows, i), y = value_get(b, b->columns, j);
  if (b->wide_values) return (b->square ? (x - y) * (x - y) : fabs(x - y)) + before;
  const float d = (float)x - (float)y;
  return (double)((b->square ? d * d : fabsf(d)) + (float)before);
}

static void patch_fill(const dp_cpu_dtw *b, int64_t i, int64_t j, patch *p) {
  const int64_t tile_rows = b->keep_hi - b->keep_lo, block = (i - 1) / DTW_KEEP_ROWS;
  int64_t strip = 0;
  while (strip + 1 < b->n_strips && b->strips[strip + 1].column < j) strip++;
  p->row = block * DTW_KEEP_ROWS;
  p->column = b->strips[strip].column;
  p->width = j - p->column + 1;
  const int64_t at = strip * (tile_rows + 1) + p->row;
  for (int64_t r = 0; r <= i - p->row; r++) {
    double *row = p->values + r * p->width;
    row[0] = value_get(b, b->keep_edge, at + r);
    for (int64_t c = 1; c < p->width; c++) {
      const double *up = row - p->width;
      if (r == 0) {
        row[c] = value_get(b, b->keep_row, block * b->m + p->column + c - 1);
        continue;
      }
      double least = up[c - 1] < row[c - 1] ? up[c - 1] : row[c - 1];
      if (up[c] < least) least = up[c];
      row[c] = after(b, b->keep_lo + p->row + r - 1, p->column + c - 1, least);
    }
  }
}

tsl_err dp_cpu_dtw_trace(const dp_cpu_dtw *b, int64_t *row, int64_t *column, dp_pair *pairs,
                         int64_t room, int64_t *count) {
  tsl_err err = TSL_OK;
  patch p = {.values = NULL};
  int64_t i = *row - b->keep_lo, j = *column;
  *count = 0;
  if (i < 0 || *row > b->keep_hi || j < 0 || j > b->m)
    TSL_FAIL(TSL_ERR_INTERNAL, "cell (%lld, %lld) is not in the kept tile", (long long)*row,
             (long long)*column);
  TSL_TRY(tsl_alloc((DTW_KEEP_ROWS + 1) * (DP_COLUMNS * b->vector + 1), sizeof *p.values,
                    "cells of a walk", (void **)&p.values));
  while (i > 0 && j > 0) {
    patch_fill(b, i, j, &p);
    while (i > p.row && j > p.column) {
      const double *at = p.values + (i - p.row) * p.width + j - p.column, *up = at - p.width;
      if (*count == room)
        TSL_FAIL(TSL_ERR_INTERNAL, "room for %lld cells is too little", (long long)room);
      pairs[(*count)++] = (dp_pair){b->keep_lo + i - 1, j - 1};
      const bool pair = after(b, b->keep_lo + i - 1, j - 1, up[-1]) == at[0];
      const bool left = !pair && after(b, b->keep_lo + i - 1, j - 1, at[-1]) == at[0];
      i -= !left;
      j -= pair || left;
    }
  }
  *row = b->keep_lo + i;
  *column = j;
done:
  tsl_free(p.values);
  return err;
}
