/* Equations of decks: compiled for each SIMD level of the job; sums over pairs of rows. */
#include "triples_cpu.h"

#include <math.h>
#include <omp.h>

extern const char triples_equation_loops_text[];

enum {
  ROWS = 16,   /* done together */
  COLUMNS = 64 /* of a task */
};

tsl_err triples_cpu_prepare(tsl_problem *problem, const tsl_device *devices, int n) {
  if (triples_params_of(problem)->function != TRIPLES_EQUATION) return TSL_OK;
  return lang_cpu_prepare_equation(problem, triples_equation_loops_text, &triples_purpose, devices,
                                   n);
}

tsl_err triples_equation_create(tsl_worker *w, const tsl_problem *problem,
                                const tsl_device *device) {
  tsl_err err = TSL_OK;
  void *address = NULL;
  TSL_TRY(lang_cpu_load(problem, device, &w->object));
  TSL_TRY(lang_object_find(w->object, "tsl_triples_pairs", &address));
  w->pairs = (triples_equation_pairs *)address;
  if (w->p->slopes) {
    TSL_TRY(lang_object_find(w->object, "tsl_triples_slopes", &address));
    w->pair_slopes = (triples_equation_pairs *)address;
  }
  triples_equation_arguments(problem, problem->fields[TRIPLES_POINTS].data,
                             problem->fields[TRIPLES_QUANTITIES].data, &w->args);
  TSL_TRY(tsl_alloc(ROWS * w->p->n_pad, sizeof(double), "sums of pairs", (void **)&w->slopes));
done:
  return err;
}

/** Sum of a row's pairs: lanes by column, then lane by lane. */
static double sum_row(const double *pairs, int64_t n) {
  double lane[TRIPLES_LANES] = {0}, sum = 0;
  for (int64_t j = 0; j < n; j += TRIPLES_LANES)
    for (int64_t l = 0; l < TRIPLES_LANES && j + l < n; l++) lane[l] += pairs[j + l];
  for (int l = 0; l < TRIPLES_LANES; l++) sum += lane[l];
  return sum;
}

static double coordinate(const tsl_worker *w, int64_t k, int64_t i) {
  const int64_t at = k * w->p->n_pad + i;
  return w->t ? ((const double *)w->view.x)[at] : (double)((const float *)w->view.x)[at];
}

/** -sum of slopes[j] (x_i - x_j) / r_ij over j != i: lanes by column, then lane by lane. */
static void force_of_row(const tsl_worker *w, int64_t i, const double *slopes, double *force) {
  const triples_params *p = w->p;
  double lane[3][TRIPLES_LANES] = {{0}};
  for (int64_t j = 0; j < p->n; j++) {
    double t[3] = {0}, square = 0;
    for (int64_t k = 0; k < p->d; k++) {
      t[k] = coordinate(w, k, i) - coordinate(w, k, j);
      if (isfinite(p->box[k])) t[k] -= p->box[k] * nearbyint(t[k] / p->box[k]);
      square += t[k] * t[k];
    }
    for (int64_t k = 0; k < p->d && j != i; k++)
      lane[k][j % TRIPLES_LANES] += slopes[j] * t[k] / sqrt(square);
  }
  for (int64_t k = 0; k < p->d; k++) {
    force[k] = 0;
    for (int l = 0; l < TRIPLES_LANES; l++) force[k] -= lane[k][l];
  }
}

/** Pairs of rows [first, end), dealt to the team of threads that calls; ends with all of them. */
static void run_pairs(tsl_worker *w, triples_equation_pairs *pairs, int64_t first, int64_t end) {
  const int64_t columns = triples_columns(w->p, end - 1), tasks = (columns + COLUMNS - 1) / COLUMNS;
#pragma omp for schedule(dynamic, 1)
  for (int64_t task = tasks * (end - first) - 1; task >= 0; task--) {
    const int64_t row = task % (end - first), last = triples_columns(w->p, first + row);
    const int64_t begin = task / (end - first) * COLUMNS;
    if (begin < last)
      pairs(&w->args, first + row, begin, begin + COLUMNS < last ? begin + COLUMNS : last,
            w->slopes + row * w->p->n_pad);
  }
}

/** Rows [first, end), ROWS at most. @param[out] forces  or NULL */
static void run_rows(tsl_worker *w, int64_t first, int64_t end, double *sums, double *forces) {
#pragma omp parallel num_threads(w->threads)
  {
    run_pairs(w, w->pairs, first, end);
#pragma omp for schedule(static)
    for (int64_t i = first; i < end; i++)
      sums[i - first] = sum_row(w->slopes + (i - first) * w->p->n_pad, triples_columns(w->p, i));
    if (forces != NULL) {
      run_pairs(w, w->pair_slopes, first, end);
#pragma omp for schedule(static)
      for (int64_t i = first; i < end; i++)
        force_of_row(w, i, w->slopes + (i - first) * w->p->n_pad, forces + (i - first) * w->p->d);
    }
  }
}

void triples_equation_run(tsl_worker *w, const tsl_unit *unit, double *sums, double *forces) {
  for (int64_t i = unit->lo[0]; i < unit->hi[0]; i += ROWS) {
    const int64_t row = i - unit->lo[0];
    run_rows(w, i, i + ROWS < unit->hi[0] ? i + ROWS : unit->hi[0], sums + row,
             forces != NULL ? forces + row * w->p->d : NULL);
  }
}
