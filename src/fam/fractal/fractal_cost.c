/* Expected steps of each part of the image, from a grid of samples. */
#include "fractal_family.h"
#include "fractal_fn.h"

#include <math.h>

enum {
  LAST = 256,     /* samples along a side of the finest grid */
  LONGEST = 30000 /* steps of a walk: nearly all points that leave have left */
};

/** A grid of samples and the rules of walking; x, y: the tables of the box. */
typedef struct plan {
  const fractal_params *params;
  const void *x, *y;
  int64_t lo[2], size[2]; /**< box: rows, columns */
  int64_t n[2];           /**< samples */
  int64_t most;           /**< steps of a walk; at most maxiter */
  int interior, periodicity;
} plan;

/** What a walk found. */
typedef struct walk {
  int64_t steps;
  int64_t value; /**< 0: it has not left */
  int ended;     /**< 0: it was cut short before maxiter */
} walk;

/** Place of sample s along axis 0 (rows) or 1 (columns): the middle of its share. */
TSL_FN int64_t sample_at(const plan *w, int axis, int64_t s) {
  return w->lo[axis] + (int64_t)(((double)s + 0.5) * (double)w->size[axis] / (double)w->n[axis]);
}

#define FRACTAL_REAL double
#define FRACTAL_(name) name##_f64
#include "fractal_cost_body.h"

#define FRACTAL_REAL float
#define FRACTAL_(name) name##_f32
#include "fractal_cost_body.h"
#include "integers.h"

TSL_FN int64_t walk_grid(const plan *w, walk *walks) {
  const int64_t columns = w->n[1];
  int64_t steps = 0;
  for (int64_t row = 0; row < w->n[0]; row++)
    steps += w->params->type == TSL_F32 ? walk_row_f32(w, row, walks + row * columns)
                                        : walk_row_f64(w, row, walks + row * columns);
  return steps;
}

/* The same with the machine's multiply-add where the compiler may not count on it; the C library's
 * gives the same bits. */
#if defined(__x86_64__) && !defined(__FMA__)
__attribute__((target("fma"))) static int64_t walk_grid_fma(const plan *w, walk *walks) {
  return walk_grid(w, walks);
}
static int64_t walk_all(const plan *w, walk *walks) {
  return __builtin_cpu_supports("fma") ? walk_grid_fma(w, walks) : walk_grid(w, walks);
}
#else
static int64_t walk_all(const plan *w, walk *walks) {
  return walk_grid(w, walks);
}
#endif

/* ------------------------------------------------------ from walks to cost */

/**
 * Steps to expect of a walk, and the fixed part of each pixel. One that was cut short at m steps is
 * mostly inside: all of maxiter. With periodicity it will repeat some day; the chance to go on
 * beyond n steps falls like 1/n, so that m (1 + ln(maxiter / m)) are to be expected.
 */
static double expected(const plan *w, const walk *found) {
  const double m = (double)found->steps, all = (double)w->params->maxiter;
  if (found->ended || m < 1) return m + FRACTAL_COST_FIXED;
  return (w->periodicity ? fmin(all, m * (1 + log(all / m))) : all) + FRACTAL_COST_FIXED;
}

/** Has the sample the value of its neighbours? Then filling computes its border only. */
static bool is_uniform(const plan *w, const walk *walks, int64_t row, int64_t column) {
  const walk *here = &walks[row * w->n[1] + column];
  if (row > 0 && here[-w->n[1]].value != here->value) return false;
  if (row + 1 < w->n[0] && here[w->n[1]].value != here->value) return false;
  if (column > 0 && here[-1].value != here->value) return false;
  return column + 1 >= w->n[1] || here[1].value == here->value;
}

/** Sums from the top left corner, so that any box is the difference of four. */
static tsl_err sum_up(const plan *w, const walk *walks, fractal_cost *cost) {
  tsl_err err = TSL_OK;
  const double border = 4.0 / FRACTAL_TILE; /* part of a tile that lies on its border */
  const double share =
      (double)w->size[0] / (double)w->n[0] * ((double)w->size[1] / (double)w->n[1]);
  const int64_t pitch = w->n[1] + 1;
  void *memory = NULL;
  TSL_TRY(tsl_alloc((w->n[0] + 1) * pitch, sizeof(double), "expected cost", &memory));
  cost->before = memory;
  for (int64_t row = 0; row < w->n[0]; row++) {
    double left = 0;
    for (int64_t i = 0; i < w->n[1]; i++) {
      const bool filled = !w->params->exact && is_uniform(w, walks, row, i);
      left += share * expected(w, &walks[row * w->n[1] + i]) * (filled ? border : 1);
      cost->before[(row + 1) * pitch + i + 1] = cost->before[row * pitch + i + 1] + left;
    }
  }
  for (int axis = 0; axis < 2; axis++) {
    cost->lo[axis] = w->lo[axis];
    cost->hi[axis] = w->lo[axis] + w->size[axis];
    cost->n[axis] = w->n[axis];
  }
done:
  return err;
}

/* ------------------------------------------------------------- finer grids */

static void set_grid(plan *w, int64_t side) {
  for (int axis = 0; axis < 2; axis++) w->n[axis] = tsl_min(side, w->size[axis]);
}

static int64_t samples_of(const plan *w, int64_t side) {
  return tsl_min(side, w->size[0]) * tsl_min(side, w->size[1]);
}

/** Steps to expect of all pixels, were each computed. */
static double all_expected(const plan *w, const walk *walks) {
  const int64_t n = w->n[0] * w->n[1];
  double sum = 0;
  for (int64_t k = 0; k < n; k++) sum += expected(w, &walks[k]);
  return sum / (double)n * (double)w->size[0] * (double)w->size[1];
}

/** Is a grid of this side worth its steps, when the one before took so many? */
static bool is_worth(const plan *w, int64_t side, double steps, double most) {
  if (side > LAST || (side > w->size[0] && side > w->size[1])) return false;
  return steps * (double)samples_of(w, side) / (double)(w->n[0] * w->n[1]) <= most;
}

tsl_err fractal_cost_make(const tsl_problem *problem, const int64_t lo[2], const int64_t hi[2],
                          const fractal_effort *effort, fractal_cost *cost) {
  tsl_err err = TSL_OK;
  const fractal_params *p = fractal_params_of(problem);
  const bool plain = p->schedule != FRACTAL_SCHEDULE_AUTO || p->threads != FRACTAL_THREADS_AUTO;
  int64_t left = effort->budget, steps = 0;
  double most = 0; /* steps of the next grid */
  void *walks = NULL;
  plan w = {.params = p,
            .x = problem->fields[FRACTAL_X].data,
            .y = problem->fields[FRACTAL_Y].data,
            .lo = {lo[0], lo[1]},
            .size = {hi[0] - lo[0], hi[1] - lo[1]},
            .interior = p->interior && !plain,
            .periodicity = p->periodicity && !plain};
  *cost = (fractal_cost){0};
  TSL_TRY(tsl_alloc(LAST * LAST, sizeof(walk), "samples", &walks));
  for (int64_t side = effort->first; steps == 0 || is_worth(&w, side, (double)steps, most);
       side *= 2) {
    set_grid(&w, side);
    w.most = tsl_min(p->maxiter, tsl_min(LONGEST, left / samples_of(&w, side)) + 1);
    steps = walk_all(&w, walks) + 1;
    left -= steps;
    most = fmin((double)left, effort->part * all_expected(&w, walks));
  }
  TSL_TRY(sum_up(&w, walks, cost));
done:
  tsl_free(walks);
  return err;
}

/* ------------------------------------------------------------------ boxes */

/** Steps above row a and left of column c. */
static double before(const fractal_cost *cost, int64_t a, int64_t c) {
  const double f[2] = {
      (double)(a - cost->lo[0]) * (double)cost->n[0] / (double)(cost->hi[0] - cost->lo[0]),
      (double)(c - cost->lo[1]) * (double)cost->n[1] / (double)(cost->hi[1] - cost->lo[1])};
  const int64_t row = tsl_min((int64_t)f[0], cost->n[0] - 1);
  const int64_t column = tsl_min((int64_t)f[1], cost->n[1] - 1);
  const double u = f[0] - (double)row, v = f[1] - (double)column;
  const double *s = cost->before + row * (cost->n[1] + 1) + column, *t = s + cost->n[1] + 1;
  return (1 - u) * ((1 - v) * s[0] + v * s[1]) + u * ((1 - v) * t[0] + v * t[1]);
}

double fractal_cost_of(const fractal_cost *cost, int64_t a, int64_t b, int64_t c, int64_t d) {
  const double least = (double)(b - a) * (double)(d - c); /* rounding may take away more */
  return fmax(least,
              before(cost, b, d) - before(cost, a, d) - before(cost, b, c) + before(cost, a, c));
}

void fractal_cost_clear(fractal_cost *cost) {
  tsl_free(cost->before);
  *cost = (fractal_cost){0};
}
