/* triangles: points sorted into cells no shorter than the longest side, so that all that a point
 * can be in a triangle with are in the cells around its own. */
#include "integers.h"
#include "triples_family.h"

#include <math.h>
#include <string.h>

/** How cells lie: along each dimension from `from` on. */
typedef struct grid {
  double from[3], size[3];
  int64_t n[3];
} grid;

/** Cells along a dimension of this length; longer than the longest side by more than rounding. */
static int64_t cells_along(const triples_params *p, double length) {
  const double least = p->range_hi * (1 + 0x1p-20) + length * 0x1p-21;
  const double n = least > 0 ? floor(length / least) : 1;
  return n >= 1 && n < 1e6 ? (int64_t)n : n >= 1 ? 1000000 : 1;
}

/** About a cell for each point at most: halve the longest dimension's until it is so. */
static void bound_cells(const triples_params *p, grid *g) {
  while ((double)g->n[0] * (double)g->n[1] * (double)g->n[2] > (double)tsl_max(64, p->n)) {
    int most = 0;
    for (int k = 1; k < 3; k++)
      if (g->n[k] > g->n[most]) most = k;
    g->n[most] = (g->n[most] + 1) / 2;
  }
}

static void choose_grid(const triples_params *p, const void *data, grid *g) {
  double length[3];
  for (int k = 0; k < 3; k++) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < p->n; i++) {
      const double x = tsl_real_get(p->type, data, k * p->n_pad + i);
      least = fmin(least, x), most = fmax(most, x);
    }
    const bool boxed = isfinite(p->box[k]);
    g->from[k] = boxed || p->n == 0 ? 0 : least;
    length[k] = boxed ? p->box[k] : p->n > 0 ? most - least : 0;
    g->n[k] = cells_along(p, length[k]);
  }
  bound_cells(p, g);
  for (int k = 0; k < 3; k++) g->size[k] = length[k] / (double)g->n[k];
}

static int64_t cell_of(const triples_params *p, const grid *g, const void *data, int64_t i) {
  int64_t cell = 0;
  for (int k = 2; k >= 0; k--) {
    const double x = tsl_real_get(p->type, data, k * p->n_pad + i) - g->from[k];
    const double c = g->size[k] > 0 ? floor(x / g->size[k]) : 0;
    const int64_t within = c < 0 ? 0 : c < (double)g->n[k] ? (int64_t)c : g->n[k] - 1;
    cell = cell * g->n[k] + within;
  }
  return cell;
}

/** Counting sort; starts[cells + 1], order[n] the input's point at each place. */
static tsl_err sort_points(const triples_params *p, const grid *g, const void *data, int64_t cells,
                           int32_t *starts, int32_t *order) {
  tsl_err err = TSL_OK;
  int32_t *cell = NULL;
  TSL_TRY(tsl_alloc(p->n, sizeof *cell, "cells", (void **)&cell));
  memset(starts, 0, (size_t)(cells + 1) * sizeof *starts);
  for (int64_t i = 0; i < p->n; i++) {
    cell[i] = (int32_t)cell_of(p, g, data, i);
    starts[cell[i] + 1]++;
  }
  for (int64_t c = 0; c < cells; c++) starts[c + 1] += starts[c];
  for (int64_t i = 0; i < p->n; i++) order[starts[cell[i]]++] = (int32_t)i;
  for (int64_t c = cells; c > 0; c--) starts[c] = starts[c - 1];
  starts[0] = 0;
done:
  tsl_free(cell);
  return err;
}

static tsl_err reorder(const triples_params *p, const int32_t *order, void *data) {
  tsl_err err = TSL_OK;
  const size_t bytes = tsl_type_bytes((tsl_type)p->type);
  char *row = NULL;
  TSL_TRY(tsl_alloc(p->n, bytes, "coordinates", (void **)&row));
  for (int k = 0; k < 3; k++) {
    char *const x = (char *)data + (size_t)(k * p->n_pad) * bytes;
    for (int64_t i = 0; i < p->n; i++)
      memcpy(row + (size_t)i * bytes, x + (size_t)order[i] * bytes, bytes);
    memcpy(x, row, (size_t)p->n * bytes);
  }
done:
  tsl_free(row);
  return err;
}

/* ------------------------------------------------------------------- work */

/** Points in the cells around one, and those of them in later cells. */
static void count_around(const triples_params *p, const int32_t *starts, int64_t own, double *all,
                         double *later) {
  const triples_around a = triples_around_cell(p->cells, p->box, own);
  *all = *later = 0;
  for (int m = 0; m < triples_around_count(&a); m++) {
    const int64_t cell = triples_cell_around(p->cells, &a, m);
    const double count = starts[cell + 1] - starts[cell];
    *all += count;
    *later += cell > own ? count : cell == own ? count / 2 : 0;
  }
}

int64_t triples_most_around(const triples_params *p, const int32_t *starts) {
  double most = 0, all, later;
  for (int64_t cell = 0; cell < triples_cells_of(p); cell++) {
    count_around(p, starts, cell, &all, &later);
    most = fmax(most, all);
  }
  return (int64_t)most;
}

/** Expected work of the rows before each cell: points looked at, and triangles. */
static void estimate_work(const triples_params *p, const int32_t *starts, double *work) {
  static const double inside[] = {2.0 / 3, 3.14159265358979 / 9, 4.18879020478639 / 27};
  work[0] = 0;
  for (int64_t cell = 0; cell < triples_cells_of(p); cell++) {
    const double rows = starts[cell + 1] - starts[cell];
    double all, later;
    count_around(p, starts, cell, &all, &later);
    const double sides = later * inside[p->d - 1];
    work[cell + 1] = work[cell] + rows * (all + sides * sides / 2);
  }
}

tsl_err triples_cells_make(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  triples_params *p = problem->params;
  triples_own *own = problem->own;
  void *const data = problem->fields[TRIPLES_POINTS].data;
  const bool needed = p->function == TRIPLES_TRIANGLES;
  tsl_field *added = NULL;
  int32_t *order = NULL;
  grid g = {0};
  if (needed) choose_grid(p, data, &g);
  for (int k = 0; k < 3; k++) p->cells[k] = g.n[k];
  const int64_t cells = g.n[0] * g.n[1] * g.n[2];
  TSL_TRY(tsl_problem_add_hidden(problem, "cells", "Where the points of each cell begin.", TSL_I32,
                                 needed ? cells + 1 : 0, 1, &added));
  if (!needed) goto done;
  TSL_TRY(tsl_alloc(p->n, sizeof *order, "order", (void **)&order));
  TSL_TRY(sort_points(p, &g, data, cells, added->data, order));
  TSL_TRY(reorder(p, order, data));
  TSL_TRY(tsl_alloc(cells + 1, sizeof(double), "work", (void **)&own->work));
  estimate_work(p, added->data, own->work);
done:
  tsl_free(order);
  return err;
}
