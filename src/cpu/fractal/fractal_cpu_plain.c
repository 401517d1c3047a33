/** @file fractal_cpu_plain.c  Schedules of a document: plain loops dealt by OpenMP. */
#include "fractal_cpu.h"

#include <omp.h>

/** A unit and its values. */
typedef struct canvas {
  tsl_worker *w;
  const tsl_unit *unit;
  char *values;
  int64_t rows, columns;
} canvas;

/** Pixels [column, column + n) of a row of the unit. */
static inline void plain_piece(const canvas *c, int64_t row, int64_t column, int64_t n) {
  const tsl_worker *w = c->w;
  const fractal_piece piece = {
      .x = w->x + (c->unit->lo[1] + column) * w->r_bytes,
      .y = w->y + (c->unit->lo[0] + row) * w->r_bytes,
      .one_y = true,
      .out = c->values + (row * c->columns + column) * w->value_bytes,
      .n = n,
  };
  w->kernels->plain[w->t](w->p, &piece);
}

static void run_tasks(const canvas *c) {
#pragma omp parallel num_threads(c->w->threads)
#pragma omp single
  for (int64_t row = 0; row < c->rows; row++)
    for (int64_t column = 0; column < c->columns; column++) {
#pragma omp task firstprivate(row, column)
      plain_piece(c, row, column, 1);
    }
}

static void run_static(const canvas *c) {
#pragma omp parallel for schedule(static) num_threads(c->w->threads)
  for (int64_t row = 0; row < c->rows; row++) plain_piece(c, row, 0, c->columns);
}

static void run_dynamic(const canvas *c) {
#pragma omp parallel for schedule(dynamic) num_threads(c->w->threads)
  for (int64_t row = 0; row < c->rows; row++) plain_piece(c, row, 0, c->columns);
}

static void run_guided(const canvas *c) {
#pragma omp parallel for schedule(guided) num_threads(c->w->threads)
  for (int64_t row = 0; row < c->rows; row++) plain_piece(c, row, 0, c->columns);
}

static void run_collapse(const canvas *c) {
#pragma omp parallel for collapse(2) schedule(dynamic) num_threads(c->w->threads)
  for (int64_t row = 0; row < c->rows; row++)
    for (int64_t column = 0; column < c->columns; column++) plain_piece(c, row, column, 1);
}

/** The sum is taken as the documents do, in a loop of its own. */
static void count(const canvas *c) {
  uint64_t values = 0, inside = 0;
#pragma omp parallel for schedule(static) num_threads(c->w->threads) reduction(+ : values, inside)
  for (int64_t row = 0; row < c->rows; row++) {
    uint64_t totals[FRACTAL_N_TOTALS] = {0};
    fractal_count_values(c->w, c->values + row * c->columns * c->w->value_bytes, c->columns,
                         totals);
    values += totals[FRACTAL_TOTAL_VALUES];
    inside += totals[FRACTAL_TOTAL_INSIDE];
  }
  c->w->totals[FRACTAL_TOTAL_VALUES] += values;
  c->w->totals[FRACTAL_TOTAL_INSIDE] += inside;
}

void fractal_plain_run(tsl_worker *w, const tsl_unit *unit, void *values) {
  const canvas c = {.w = w,
                    .unit = unit,
                    .values = values,
                    .rows = unit->hi[0] - unit->lo[0],
                    .columns = fractal_width(unit)};
  if (c.rows <= 0 || c.columns <= 0) return;
  if (w->p->schedule == FRACTAL_SCHEDULE_TASKS) run_tasks(&c);
  if (w->p->schedule == FRACTAL_SCHEDULE_STATIC) run_static(&c);
  if (w->p->schedule == FRACTAL_SCHEDULE_DYNAMIC) run_dynamic(&c);
  if (w->p->schedule == FRACTAL_SCHEDULE_GUIDED) run_guided(&c);
  if (w->p->schedule == FRACTAL_SCHEDULE_COLLAPSE) run_collapse(&c);
  count(&c);
}
