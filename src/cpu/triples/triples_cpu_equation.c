/* Equations of decks: compiled for each SIMD level of the job; sums over pairs of rows. */
#include "triples_cpu.h"

#include <omp.h>
#include <string.h>

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

/** Rows [first, end), ROWS at most. */
static void run_rows(tsl_worker *w, int64_t first, int64_t end, double *sums) {
  const int64_t columns = triples_columns(w->p, end - 1), tasks = (columns + COLUMNS - 1) / COLUMNS;
#pragma omp parallel num_threads(w->threads)
  {
#pragma omp for schedule(dynamic, 1)
    for (int64_t task = tasks * (end - first) - 1; task >= 0; task--) {
      const int64_t row = task % (end - first), last = triples_columns(w->p, first + row);
      const int64_t begin = task / (end - first) * COLUMNS;
      if (begin < last)
        w->pairs(&w->args, first + row, begin, begin + COLUMNS < last ? begin + COLUMNS : last,
                 w->slopes + row * w->p->n_pad);
    }
#pragma omp for schedule(static)
    for (int64_t i = first; i < end; i++)
      sums[i - first] = sum_row(w->slopes + (i - first) * w->p->n_pad, triples_columns(w->p, i));
  }
}

void triples_equation_run(tsl_worker *w, const tsl_unit *unit, double *sums) {
  for (int64_t i = unit->lo[0]; i < unit->hi[0]; i += ROWS)
    run_rows(w, i, i + ROWS < unit->hi[0] ? i + ROWS : unit->hi[0], sums + i - unit->lo[0]);
}
