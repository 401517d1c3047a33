/* What a recovery within little memory needs and what it costs. */
#include "dp_space.h"

#include "dp_saved.h"
#include "integers.h"

#include <math.h>

double dp_space_cell_bits(const dp_params *p) {
  return dp_edge_is_bits(p) ? dp_ready_of(p)->bits : dp_ready_of(p)->history;
}

double dp_space_state_bytes(const dp_params *p) {
  return dp_edge_is_bits(p) ? dp_ready_of(p)->bits / 8.0 : (double)dp_edge_entry(p);
}

/** Does a region fit, with what its halves keep, and what a tile begins with? */
static bool region_fits(const dp_params *p, double rows, double columns, double bytes) {
  const double each = dp_space_state_bytes(p), cell = dp_space_cell_bits(p) / 8;
  bytes -= (rows + columns) * each;
  while (bytes > 0 && rows * columns * cell > bytes &&
         (rows > DP_SPACE_LEAST || columns > DP_SPACE_LEAST)) {
    const bool across = columns >= rows;
    bytes -= (across ? rows : columns) * each;
    *(across ? &columns : &rows) /= 2;
  }
  return bytes > 0;
}

/** Columns of the rank that has most; lanes may move to it later. */
static double widest(const dp_params *p, dp_space_ranks ranks) {
  const double columns = ceil((double)p->m / (double)ranks.n);
  return ranks.n > 1 ? fmin((double)p->m, fmax(1.25 * columns, 1.1 * ranks.widest * (double)p->m))
                     : columns;
}

static double row_bytes(const dp_params *p, int64_t columns) {
  return (double)columns * dp_space_state_bytes(p) + 64;
}

static double side_bytes(const dp_params *p, bool edges) {
  return edges ? (double)p->n * dp_space_state_bytes(p) : 0;
}

double dp_space_least_rows(const dp_params *p, dp_space_ranks ranks) {
  return row_bytes(p, (int64_t)widest(p, ranks)) + side_bytes(p, ranks.n > 1);
}

double dp_space_rows(const dp_params *p, int64_t columns, bool edges, double bytes) {
  const double row = row_bytes(p, columns), sides = side_bytes(p, edges);
  const bool disk = p->special_rows > 0;
  const double most = floor(((disk ? (double)p->special_rows : bytes / 2) - sides) / row);
  const double one = disk ? bytes : bytes - sides - row; /* left beside one row */
  const double rest = disk ? bytes : bytes - sides - most * row;
  if (disk && most < 1) return 0;
  if (most >= 1 && region_fits(p, (double)p->n / most, (double)columns, rest)) return most;
  return region_fits(p, (double)p->n, (double)columns, one) ? 1 : 0;
}

dp_space dp_space_plan(const dp_params *p, dp_space_ranks ranks, double bytes, bool halves) {
  const double columns = fmax(ceil((double)p->m / (double)ranks.n), ranks.widest * (double)p->m);
  const double all = (double)p->n * columns * dp_space_cell_bits(p) / 8;
  dp_space s = {.least = ceil(2 * all / bytes)};
  s.most = dp_space_rows(p, (int64_t)widest(p, ranks), ranks.n > 1, bytes);
  if (s.least < 1) s.least = 1;
  s.fits = s.most >= 1 && (halves || s.least <= s.most);
  if (halves) s.least = fmin(s.least, fmin(s.most, DP_SPACE_ROWS));
  return s;
}

int64_t dp_space_step(const dp_params *p, int64_t columns, bool edges, int64_t rows, int64_t bytes,
                      dp_space_keep_fn *keep, const void *self) {
  const int64_t half = tsl_min(bytes, p->budget) / 2;
  const double states = fmin(dp_space_rows(p, columns, edges, (double)p->budget), DP_SPACE_ROWS);
  const double pieces = states * (double)rows / (double)p->n;
  const int64_t each = pieces < 1 ? rows : (int64_t)((double)rows / pieces); /* 0: all rows fit */
  const int64_t least = 64 * tsl_max(1, tsl_divide_up(each, 64));
  int64_t step = rows;
  while (step / 2 >= least && keep(self, step, columns) > half) step = (step / 2 + 63) / 64 * 64;
  return step;
}

/* ---- what the way back computes again */

/** The way back on a straight line from the last cell to the first. */
typedef struct way_back {
  const dp_params *p;
  double bits;   /**< of decisions of a cell */
  double at[2];  /**< row and column */
  double memory; /**< bytes left for decisions and sides of halves */
  double cells;  /**< computed again so far */
} way_back;

/** Bits of decisions of a cell: sockets keep the sides of blocks, in vectors of 32 bytes. */
static double kept_bits(const dp_params *p, bool sockets) {
  if (!sockets || dp_edge_is_bits(p)) return dp_space_cell_bits(p);
  const double value = p->problem == DP_DTW ? (double)tsl_type_bytes((tsl_type)p->type) : 8;
  return 8 * value * ((p->problem == DP_DTW ? value / 256 : 1.0 / 256) + 1.0 / 512);
}

static int64_t kept_bytes(const void *self, int64_t rows, int64_t columns) {
  const way_back *w = self;
  return (int64_t)((double)rows * (double)columns * w->bits / 8);
}

/** On to the region's first row or column, whichever comes first. */
static void leave_region(way_back *w, const double lo[2]) {
  const double slope = (double)w->p->m / (double)w->p->n; /* columns of a row */
  const double column = w->at[1] - (w->at[0] - lo[0]) * slope;
  if (column >= lo[1]) {
    w->at[0] = lo[0], w->at[1] = column;
  } else {
    w->at[0] -= (w->at[1] - lo[1]) / slope, w->at[1] = lo[1];
  }
}

/** As dp_bands_region.c goes through a region, halves and all. */
static void walk_region(way_back *w, const double lo[2], const double hi[2]) {
  const double end[2] = {fmin(hi[0], w->at[0]), fmin(hi[1], w->at[1])};
  const double size[2] = {end[0] - lo[0], end[1] - lo[1]};
  if (size[0] <= 0 || size[1] <= 0) return;
  if ((size[0] <= DP_SPACE_LEAST && size[1] <= DP_SPACE_LEAST) ||
      size[0] * size[1] * w->bits / 8 <= w->memory) {
    w->cells += size[0] * size[1];
    leave_region(w, lo);
    return;
  }
  const int axis = size[1] >= size[0];
  const double half = 64 * ceil(size[axis] / 128);
  const double side = size[1 - axis] * dp_space_state_bytes(w->p);
  double second[2] = {lo[0], lo[1]}, first[2] = {end[0], end[1]};
  first[axis] = second[axis] = lo[axis] + half;
  w->cells += half * size[1 - axis];
  w->memory -= side;
  walk_region(w, second, end);
  w->memory += side;
  walk_region(w, lo, first);
}

/** Rows of a stage that are kept together, from the last on; how many cells. */
static double walk_stage(way_back *w, const int64_t rows[2], const int64_t columns[2], double kept,
                         int64_t step) {
  static const double TRIMMED = 1.25; /* LOCAL: columns that the path's score leaves for a row */
  const double each = dp_space_state_bytes(w->p), before = w->cells;
  const double slope = (double)w->p->m / (double)w->p->n;
  for (int64_t n = tsl_divide_up(rows[1] - rows[0], step) - 1; n >= 0; n--) {
    double lo[2] = {(double)(rows[0] + n * step), (double)columns[0]};
    if (w->p->problem == DP_LOCAL)
      lo[1] = fmax(lo[1], w->at[1] - TRIMMED * slope * (w->at[0] - lo[0]));
    const double hi[2] = {fmin(lo[0] + (double)step, (double)rows[1]), (double)columns[1]};
    w->memory = (double)w->p->budget - kept - (hi[0] - lo[0] + hi[1] - lo[1]) * each;
    walk_region(w, lo, hi);
  }
  return w->cells - before;
}

void dp_space_again(const dp_params *p, const dp_ends *stages, int64_t ranks, bool sockets,
                    double *cells) {
  way_back w = {.p = p, .bits = kept_bits(p, sockets), .at = {(double)p->n, (double)p->m}};
  for (int64_t rank = ranks - 1; rank >= 0; rank--) {
    const int64_t columns[2] = {dp_space_column(p, ranks, rank),
                                dp_space_column(p, ranks, rank + 1)};
    const int64_t width = columns[1] - columns[0];
    const double each = dp_space_state_bytes(p);
    double kept = rank > 0 ? (double)p->n * each : 0; /* of memory */
    int64_t rows[2] = {0, 0};
    for (int64_t s = 0; s < stages->n; s++, rows[0] = rows[1]) {
      rows[1] = stages->at[s];
      const int64_t step =
          dp_space_step(p, width, rank > 0, rows[1] - rows[0], INT64_MAX, kept_bytes, &w);
      kept += (double)tsl_divide_up(rows[1] - rows[0], step) * (double)width * each;
    }
    if (p->special_rows > 0) kept = 0;
    for (int64_t s = stages->n - 1; s >= 0; s--) {
      rows[0] = s > 0 ? stages->at[s - 1] : 0, rows[1] = stages->at[s];
      const int64_t step =
          dp_space_step(p, width, rank > 0, rows[1] - rows[0], INT64_MAX, kept_bytes, &w);
      cells[s * ranks + rank] = walk_stage(&w, rows, columns, kept, step);
    }
  }
}
