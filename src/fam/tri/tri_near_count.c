/* How many pairs and boxes rows look at: some rows go down the tree in double precision, whose
 * bounds differ from those of the run by rounding. Units are cut by it, and so decides the deck's
 * `search: auto`. */
#include "integers.h"
#include "parallel.h"
#include "tri_near.h"
#include "tri_pairs.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SEEDS = 2 * TRI_FEW_K + 2 * TRI_TILE };

typedef struct counting {
  const tsl_problem *problem;
  const tri_params *p;
  const tri_tree *t;
  int64_t step;          /**< a row is counted in each of so many tiles */
  double *pairs, *boxes; /**< [tiles] of the row */
} counting;

/** A row on its way down. */
typedef struct seeker {
  const counting *c;
  double x[TRI_NEAR_D], radius, cut;
  int64_t own;
  double pairs, boxes;
} seeker;

static double at(const tri_params *p, const void *array, int64_t i) {
  return p->type == TSL_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

/** The formula on differences of coordinates. */
static double value_of(const tri_params *p, const double *differences, double ei, double ej) {
  double acc = 0;
  switch (p->function) {
#define X(NAME, name, ...)                                           \
  case TRI_##NAME:                                                   \
    for (int64_t k = 0; k < p->d; k++)                               \
      acc = tri_step_##name##_f64(acc, differences[k], 0, INFINITY); \
    return tri_finish_##name##_f64(acc, ei, ej, p->scale);
    TRI_DIRECT_LIST(X)
#undef X
  default:
    return 0;
  }
}

/** The bound of box b; a point: its value. Boxes are lo and hi, [d][ld]. */
static double bound_of(const seeker *s, const void *lo, const void *hi, int64_t ld,
                       const void *extra, int64_t b) {
  const tri_params *p = s->c->p;
  double gaps[TRI_NEAR_D];
  for (int64_t k = 0; k < p->d; k++) {
    const double x = s->x[k], a = at(p, lo, k * ld + b), z = at(p, hi, k * ld + b);
    gaps[k] = p->function == TRI_EUCLIDEAN_PERIODIC ? tri_gap_periodic_f64(x, x, a, z, p->box[k])
                                                    : tri_gap_f64(x, x, a, z);
  }
  return value_of(p, gaps, s->radius, extra != NULL ? at(p, extra, b) : 0);
}

/** Nodes [begin, end) of a level and what is below them. */
static void go_down(seeker *s, int level, int64_t begin, int64_t end) {
  const tri_tree *t = s->c->t;
  const bool after = s->c->p->output == TRI_HISTOGRAM && !s->c->p->two;
  const int64_t own = after ? s->own >> 5 * level : 0;
  for (int64_t m = tsl_max(begin, own); m < end; m++) {
    const double bound = bound_of(s, t->lo, t->hi, t->ld, t->extra, t->first[level] + m);
    s->boxes++;
    if (bound > s->cut) continue;
    if (level == 0)
      s->pairs += TRI_TILE;
    else
      go_down(s, level - 1, m * TRI_FAN, tsl_min((m + 1) * TRI_FAN, t->nodes[level - 1]));
  }
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/** topk: the k-th value among the first tiles looked at. */
static void seed(seeker *s) {
  const tri_params *p = s->c->p;
  const tsl_field *f = s->c->problem->fields;
  const void *x = f[TRI_POINTS].data, *extra = f[TRI_EXTRAS].shape[0] > 0 ? f[TRI_EXTRAS].data : 0;
  const int64_t seeds = tri_near_seeds(p), first = tri_near_seed(s->c->t->nodes[0], seeds, s->own);
  double values[MOST_SEEDS];
  int64_t n = 0;
  for (int64_t j = first * TRI_TILE; j < tsl_min((first + seeds) * TRI_TILE, tri_columns_of(p));
       j++)
    values[n++] = bound_of(s, x, x, p->n_pad, extra, j);
  qsort(values, (size_t)n, sizeof *values, ascending);
  const int64_t last = p->k - p->two; /* of one set the row itself is among them */
  s->cut = last < n ? values[last] : INFINITY;
}

static void take_point(seeker *s, int64_t i) {
  const tri_params *p = s->c->p;
  const tsl_field *f = s->c->problem->fields;
  for (int64_t k = 0; k < p->d; k++) s->x[k] = at(p, f[TRI_POINTS].data, k * p->n_pad + i);
  if (f[TRI_EXTRAS].shape[0] > 0) s->radius = at(p, f[TRI_EXTRAS].data, i);
}

/** Two sets: a tile near the row, by the nearest box of each level. */
static int64_t nearest_tile(const seeker *s) {
  const tri_tree *t = s->c->t;
  int64_t begin = 0;
  for (int level = t->levels - 1; level >= 0; level--) {
    const int64_t end = tsl_min(begin + TRI_FAN, t->nodes[level]);
    double least = INFINITY;
    int64_t best = begin;
    for (int64_t m = begin; m < end; m++) {
      const double bound = bound_of(s, t->lo, t->hi, t->ld, t->extra, t->first[level] + m);
      if (bound < least) least = bound, best = m;
    }
    begin = level > 0 ? best * TRI_FAN : best;
  }
  return begin;
}

static tsl_err count_tiles(void *context, int slot, int64_t lo, int64_t hi) {
  const counting *c = context;
  const tri_params *p = c->p;
  (void)slot;
  for (int64_t m = lo; m < hi; m++) {
    const int64_t tile = m * c->step, middle = tile * TRI_TILE + TRI_TILE / 2;
    seeker s = {.c = c, .own = tile, .cut = tri_near_cut(p)};
    take_point(&s, p->first + tsl_min(middle, tri_rows_of(p) - 1));
    if (p->two) s.own = nearest_tile(&s);
    if (tri_wants_nearest(p)) seed(&s);
    go_down(&s, c->t->levels - 1, 0, c->t->nodes[c->t->levels - 1]);
    c->pairs[m] = s.pairs, c->boxes[m] = s.boxes;
  }
  return TSL_OK;
}

double tri_near_least(const tsl_problem *problem) {
  enum { ROWS = 64, COLUMNS = 1024 };
  const counting c = {.problem = problem, .p = tri_params_of(problem)};
  const tri_params *p = c.p;
  const tsl_field *f = problem->fields;
  const void *x = f[TRI_POINTS].data, *extra = f[TRI_EXTRAS].shape[0] > 0 ? f[TRI_EXTRAS].data : 0;
  int64_t kept = 0, pairs = 0;
  if (tri_wants_nearest(p)) return (double)p->k / (double)(tri_columns_of(p) - !p->two);
  for (int64_t r = 0; r < ROWS; r++) {
    seeker s = {.c = &c};
    const int64_t i = p->first + r * tri_rows_of(p) / ROWS;
    take_point(&s, i);
    for (int64_t k = 0; k < COLUMNS; k++) {
      const int64_t j = (2 * k + 1) * tri_columns_of(p) / (2 * COLUMNS);
      kept += i != j && bound_of(&s, x, x, p->n_pad, extra, j) <= tri_near_cut(p);
      pairs += i != j;
    }
  }
  return (double)kept / (double)pairs;
}

tsl_err tri_near_count(const tsl_problem *problem, const tri_tree *tree, int64_t rows,
                       tri_look *look) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t tiles = tsl_divide_up(tri_rows_of(p), TRI_TILE);
  counting c = {.problem = problem, .p = p, .t = tree, .step = tsl_max(1, tiles / rows)};
  const int64_t m = tsl_divide_up(tiles, c.step);
  *look = (tri_look){0};
  TSL_TRY(tsl_alloc(m, sizeof *c.pairs, "pairs of rows", (void **)&c.pairs));
  TSL_TRY(tsl_alloc(m, sizeof *c.boxes, "boxes of rows", (void **)&c.boxes));
  TSL_TRY(tsl_alloc(tiles, sizeof *look->row, "work of rows", (void **)&look->row));
  TSL_TRY(tsl_parallel(m, 16, count_tiles, &c));
  for (int64_t tile = 0; tile < tiles; tile++) {
    const int64_t s = tile / c.step;
    const double points = (double)tsl_min(TRI_TILE, tri_rows_of(p) - tile * TRI_TILE);
    look->row[tile] = (float)(c.pairs[s] + c.boxes[s]);
    look->pairs += points * c.pairs[s];
    look->boxes += points * c.boxes[s];
  }
done:
  TSL_FREE_ALL(c.pairs, c.boxes);
  return err;
}
