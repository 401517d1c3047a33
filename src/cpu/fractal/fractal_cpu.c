/** @file fractal_cpu.c  The backend of fractal on a socket: open, run, collect, close. */
#include "fractal_cpu.h"

#include "sorted.h"

#include <omp.h>
#include <string.h>

enum {
  LEAST_CHUNK = 64,  /**< pixels; a multiple of what kernels take side by side */
  MOST_CHUNK = 4096, /**< pixels */
  CHUNKS = 16        /**< a chunk is the rest of the pixels / (threads * this) */
};

/* ------------------------------------------------------------------ open, close */

static void fractal_close_cpu(tsl_worker **worker) {
  tsl_worker *w = *worker;
  if (w == NULL) return;
  for (int k = 0; w->strips != NULL && k < w->threads; k++) fractal_strip_destroy(&w->strips[k]);
  TSL_FREE_ALL(w->strips, w);
  *worker = NULL;
}

static tsl_err fractal_open_cpu(const tsl_problem *problem, const tsl_device *device,
                                tsl_worker **worker) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  int level = 0;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "fractal worker", (void **)&w));
  w->p = fractal_params_of(problem);
  w->x = problem->fields[FRACTAL_X].data;
  w->y = problem->fields[FRACTAL_Y].data;
  w->t = w->p->type == TSL_F64;
  w->r_bytes = w->t ? 8 : 4;
  w->value_bytes = w->p->value_type == TSL_U16 ? 2 : 4;
  w->threads = device->threads > 0 ? device->threads : omp_get_max_threads();
  TSL_TRY(tsl_cpu_level_use(&level));
  w->kernels = fractal_kernels_at(level);
  TSL_TRY(tsl_test_delay_factor(&w->slow));
  if (!w->p->exact) {
    if (w->p->schedule != FRACTAL_SCHEDULE_AUTO)
      TSL_FAIL(TSL_ERR_INPUT, "exact: no fills tiles, which only cpu_schedule: auto does");
    TSL_TRY(tsl_alloc(w->threads, sizeof(fractal_strip *), "strips", (void **)&w->strips));
    for (int k = 0; k < w->threads; k++) TSL_TRY(fractal_strip_create(&w->strips[k]));
  }
  *worker = w;
done:
  if (err != TSL_OK) fractal_close_cpu(&w);
  return err;
}

static tsl_err fractal_begin_cpu(tsl_worker *w, int phase) {
  (void)phase;
  memset(w->totals, 0, sizeof w->totals);
  return TSL_OK;
}

static tsl_err fractal_collect_cpu(tsl_worker *w, tsl_problem *problem) {
  memcpy(problem->fields[FRACTAL_TOTALS].data, w->totals, sizeof w->totals);
  return TSL_OK;
}

/* ------------------------------------------------------------------ values */

uint32_t fractal_value(const tsl_worker *w, const void *values, int64_t k) {
  return w->value_bytes == 2 ? ((const uint16_t *)values)[k] : ((const uint32_t *)values)[k];
}

void fractal_count_values(const tsl_worker *w, const void *values, int64_t n, uint64_t *totals) {
  uint64_t sum = 0, inside = 0;
  for (int64_t k = 0; k < n; k++) {
    const uint32_t value = fractal_value(w, values, k);
    sum += value;
    inside += value == 0;
  }
  totals[FRACTAL_TOTAL_VALUES] += sum;
  totals[FRACTAL_TOTAL_INSIDE] += inside;
}

/* ------------------------------------------------------------------ dealing */

int64_t fractal_unit_of(const fractal_job *job, int64_t item) {
  return tsl_last_at_most(job->first, job->n, sizeof *job->first, item);
}

/** Row pieces of the chunk of pixels [at, end) that a thread holds. */
typedef struct row_source {
  fractal_source source;
  const tsl_worker *w;
  fractal_job *job;
  int64_t at, end;
} row_source;

/** Take the next chunk: large at first, small in the end, so that threads end together. */
static bool chunk_take(row_source *s) {
  const int64_t all = s->job->first[s->job->n];
  int64_t from = __atomic_load_n(&s->job->next, __ATOMIC_RELAXED), size;
  do {
    if (from >= all) return false;
    size = (all - from) / (CHUNKS * s->w->threads) / LEAST_CHUNK * LEAST_CHUNK;
    size = size < LEAST_CHUNK ? LEAST_CHUNK : size > MOST_CHUNK ? MOST_CHUNK : size;
    if (size > all - from) size = all - from;
  } while (!__atomic_compare_exchange_n(&s->job->next, &from, from + size, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  s->at = from;
  s->end = from + size;
  return true;
}

/** The rest of the row, or of the chunk when that ends first. */
static bool row_next(fractal_source *source, fractal_piece *piece) {
  row_source *const s = (row_source *)source;
  const tsl_worker *const w = s->w;
  if (s->at >= s->end && !chunk_take(s)) return false;
  const int64_t u = fractal_unit_of(s->job, s->at);
  const tsl_unit *unit = &s->job->units[u];
  const int64_t width = fractal_width(unit), inside = s->at - s->job->first[u];
  const int64_t row = inside / width, column = inside % width;
  const int64_t chunk = s->end - s->at, rest = width - column;
  *piece = (fractal_piece){
      .x = w->x + (unit->lo[1] + column) * w->r_bytes,
      .y = w->y + (unit->lo[0] + row) * w->r_bytes,
      .one_y = true,
      .out = (char *)s->job->parts[u].slab[FRACTAL_VALUES] + inside * w->value_bytes,
      .n = chunk < rest ? chunk : rest,
      .unit = u,
  };
  s->at += piece->n;
  return true;
}

/** All units together, on all threads. */
static void run_dealt(tsl_worker *w, fractal_job *job) {
#pragma omp parallel num_threads(w->threads)
  {
    const int thread = omp_get_thread_num();
    fractal_counts counts = {.work = job->n > 1 ? job->work + thread * job->n : NULL};
    row_source rows = {.source = {row_next}, .w = w, .job = job};
    if (w->p->exact)
      w->kernels->paint[w->t](w->p, &rows.source, &counts);
    else
      fractal_strips_run(w, job, thread, &counts);
#pragma omp critical(fractal_totals)
    for (int k = 0; k < FRACTAL_N_TOTALS; k++) w->totals[k] += counts.totals[k];
  }
}

static int64_t items_of(const tsl_worker *w, const tsl_unit *unit) {
  if (unit->hi[0] <= unit->lo[0] || unit->hi[1] <= unit->lo[1]) return 0;
  return w->p->exact ? (unit->hi[0] - unit->lo[0]) * fractal_width(unit)
                     : fractal_strip_count(unit);
}

/** Share the seconds out by the steps of the units. */
static void seconds_share(const tsl_worker *w, fractal_job *job, double seconds) {
  double all = 0;
  for (int64_t k = 0; k < w->threads * job->n; k++) all += job->work[k];
  for (int64_t u = 0; u < job->n; u++) {
    double mine = 0;
    for (int k = 0; k < w->threads; k++) mine += job->work[k * job->n + u];
    job->parts[u].seconds = all > 0 ? seconds * mine / all : seconds / (double)job->n;
  }
}

static tsl_err run_together(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  fractal_job job = {.units = units, .parts = parts, .n = n};
  const double start = tsl_cpu_seconds();
  TSL_TRY(tsl_alloc(n + 1, sizeof *job.first, "units", (void **)&job.first));
  TSL_TRY(tsl_alloc(w->threads * n, sizeof *job.work, "units", (void **)&job.work));
  for (int64_t u = 0; u < n; u++) job.first[u + 1] = job.first[u] + items_of(w, &units[u]);
  run_dealt(w, &job);
  seconds_share(w, &job, tsl_cpu_unit_seconds(start, w->slow, n));
done:
  TSL_FREE_ALL(job.first, job.work);
  return err;
}

static tsl_err fractal_run_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  if (n == 0) return TSL_OK;
  if (w->p->schedule == FRACTAL_SCHEDULE_AUTO) return run_together(w, units, n, parts);
  for (int64_t u = 0; u < n; u++) {
    void *const values = parts[u].slab[FRACTAL_VALUES];
    const double start = tsl_cpu_seconds();
    fractal_plain_run(w, &units[u], values);
    parts[u].seconds = tsl_cpu_unit_seconds(start, w->slow, 1);
  }
  return TSL_OK;
}

const tsl_backend fractal_backend_cpu = {
    .family = "fractal",
    .open = fractal_open_cpu,
    .begin = fractal_begin_cpu,
    .run = fractal_run_cpu,
    .collect = fractal_collect_cpu,
    .close = fractal_close_cpu,
};
