/** @file tri_cpu.c  The backend of tri on a socket: open, run, collect, close. */
#include "tri_cpu.h"
#include "tri_bits.h"
#include "tri_cpu_frames.h"
#include "tri_cpu_records.h"
#include "tri_records.h"

#include "integers.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>

/** Block sizes: points of a block stay in the first two cache levels, values in the first. */
static void sizes_choose(tsl_worker *w) {
  const tri_params *p = w->p;
  w->blas = tri_abouts[p->function].sum == TRI_PRODUCT && p->d >= TRI_BLAS_D;
  w->fill_rows = w->blas ? TRI_BLAS_ROWS : TRI_FILL_ROWS;
  w->group_rows = p->near ? TRI_TILE : w->blas ? TRI_BLAS_ROWS : p->d <= 4 ? 8 : 32;
  w->columns = w->blas ? 512 : (p->d <= 4 ? TRI_MAX_COLUMNS : 512) / (w->t + 1);
  w->row_stride = w->columns + (w->blas ? 0 : TRI_LAP);
  w->copies = p->bins <= 512 ? 8 : p->bins <= 1024 ? 4 : p->bins <= 2048 ? 2 : 1;
  w->bins_room = (p->bins + 1 + 15) / 16 * 16;
  w->cache_bytes = tsl_cpu_cache_bytes();
}

/** The largest square whose root is at most cut; negative: none. */
static double square_of_cut(const tsl_worker *w, double cut) {
  if (cut < 0) return -1;
  if (w->t) {
    double square = cut * cut;
    while (sqrt(square) > cut) square = nextafter(square, 0);
    while (sqrt(nextafter(square, INFINITY)) <= cut) square = nextafter(square, INFINITY);
    return square;
  }
  const float most = (float)cut;
  float square = most * most;
  while (sqrtf(square) > most) square = nextafterf(square, 0);
  while (sqrtf(nextafterf(square, INFINITY)) <= most) square = nextafterf(square, INFINITY);
  return (double)square;
}

/** Where values are only compared with the cut-off, squares do as well; the roots of those that are
 *  kept come at the end. */
static void function_choose(tsl_worker *w) {
  const tri_params *p = w->p;
  w->function = p->function;
  w->cut = tri_near_cut(p);
  if (p->function != TRI_EUCLIDEAN ||
      !tri_output_in(p, TRI_BIT(THRESHOLD) | TRI_BIT(CSR) | TRI_BIT(DEGREE) | TRI_BIT(COMPONENTS) |
                            TRI_BIT(DBSCAN)))
    return;
  w->function = TRI_SQEUCLIDEAN;
  w->cut = square_of_cut(w, p->threshold);
}

static void view_set(tsl_worker *w, const tsl_problem *problem) {
  const tri_params *p = w->p;
  w->view = (tri_view){.x = problem->fields[tri_of_bits(p) ? TRI_WORDS : TRI_POINTS].data,
                       .ld = p->n_pad,
                       .d = p->d,
                       .box = {p->box[0], p->box[1], p->box[2]},
                       .scale = p->scale};
  if (tri_abouts[p->function].extra != TRI_NO_EXTRA)
    w->view.extra = problem->fields[TRI_EXTRAS].data;
}

static void tri_close_cpu(tsl_worker **worker) {
  tsl_worker *w = *worker;
  if (w == NULL) return;
  tri_frames_close_cpu(&w->frames);
  for (int k = 0; w->thread != NULL && k < w->threads; k++) tri_thread_clear(w, &w->thread[k]);
  tri_tree_clear(&w->tree);
  tri_cells_clear(&w->cells);
  tri_cpu_equation_close(&w->equation);
  tri_tracer_clear(&w->tracer);
  tri_cpu_records_close(&w->records);
  tri_cpu_letters_close(&w->letters);
  tri_matrix_clear(&w->matrix);
  TSL_FREE_ALL(w->thread, (void *)w->bodies.p, w->uniform, w->ones, w);
  *worker = NULL;
}

static tsl_err tri_open_cpu(const tsl_problem *problem, const tsl_device *device,
                            tsl_worker **worker) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  int level = 0;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "tri worker", (void **)&w));
  w->p = tri_params_of(problem);
  w->problem = problem;
  w->nearest = tri_wants_nearest(w->p);
  w->t = w->p->type == TSL_F64;
  w->value_bytes = w->t ? 8 : 4;
  w->threads = device->threads > 0 ? device->threads : omp_get_max_threads();
  TSL_TRY(tsl_cpu_level_use(&level));
  w->kernels = tri_kernels_at(level);
  TSL_TRY(tsl_test_delay_factor(&w->slow));
  if (w->p->frames > 0) {
    TSL_TRY(tri_frames_open_cpu(problem, w->threads, &w->frames));
    *worker = w;
    return TSL_OK;
  }
  if (w->p->streamed) TSL_TRY(tri_cpu_records_open(w, problem));
  view_set(w, problem);
  sizes_choose(w);
  function_choose(w);
  TSL_TRY(tri_cpu_equation_open(problem, device, &w->equation));
  TSL_TRY(tri_cpu_letters_open(problem, w->p, &w->letters));
  if (w->p->output == TRI_SUM) TSL_TRY(tri_sum_open(w, problem));
  if (w->p->near) TSL_TRY(tri_tree_create(problem, &w->tree));
  if (tri_is_graph(w->p)) TSL_TRY(tri_graph_open(w));
  w->order = problem->fields[TRI_ORDER].data;
  TSL_TRY(tsl_alloc(w->threads, sizeof *w->thread, "threads", (void **)&w->thread));
  for (int k = 0; k < w->threads; k++) TSL_TRY(tri_thread_create(w, &w->thread[k]));
  if (w->p->output == TRI_FORCES) TSL_TRY(tri_forces_prepare(w, problem));
  if (w->p->aligned) TSL_TRY(tri_tracer_create(&w->letters, w->threads, &w->tracer));
  if (tri_has_cells(w->p)) TSL_TRY(tri_cells_create(w, problem, &w->cells));
  if (w->blas) openblas_set_num_threads(1);
  *worker = w;
done:
  if (err != TSL_OK) tri_close_cpu(&w);
  return err;
}

static tsl_err tri_begin_cpu(tsl_worker *w, int phase) {
  (void)phase;
  w->begun = true;
  if (w->cells != NULL)
    tri_cells_zero(w->cells);
  else if (w->p->output == TRI_HISTOGRAM && w->frames == NULL)
    tri_histogram_zero(w);
  if (tri_is_graph(w->p)) tri_graph_begin(w);
  return TSL_OK;
}

static tsl_err run_unit(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  switch ((tri_output)w->p->output) {
  case TRI_CONDENSED:
  case TRI_SQUARE:
    return tri_run_store(w, unit, part);
  case TRI_THRESHOLD:
  case TRI_CSR:
    return tri_run_threshold(w, unit, part);
  case TRI_TOPK:
  case TRI_MINIMUM:
    return tri_run_topk(w, unit, part);
  case TRI_DEGREE:
    return tri_run_degree(w, unit, part);
  case TRI_MAXIMUM:
    return tri_run_maximum(w, unit, part);
  case TRI_COMPONENTS:
  case TRI_DBSCAN:
  case TRI_LINKAGE:
    return tri_run_graph(w, unit, part);
  case TRI_HISTOGRAM:
    return w->cells != NULL ? tri_run_cells(w, unit, part) : tri_run_histogram(w, unit, part);
  case TRI_FORCES:
    return tri_run_forces(w, unit, part);
  case TRI_SUM:
    return tri_run_sum(w, unit, part);
  case TRI_PAIRED:
    return tri_run_paired(w, unit, part);
  case TRI_N_OUTPUTS:
    break;
  }
  return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "tri: output %d unknown", w->p->output);
}

/** How many of n units run as one: neighbours, whose slabs are one. Of near pairs more of their
 *  rows are then in a tile and search together; of sequences long pairs begin before all others.
 *  What is streamed fits a window; SQUARE: each unit has rows of a width of its own. */
static int64_t together(const tsl_worker *w, const tsl_unit *units, int64_t n) {
  const bool any = w->p->near || (tri_of_letters(w->p) && w->p->output != TRI_SQUARE);
  const int64_t m = any ? tsl_neighbours(units, n) : 1;
  double bytes = units->device_bytes;
  int64_t k = 1;
  if (w->records == NULL) return m;
  while (k < m && (bytes += units[k].device_bytes) <= TRI_WINDOW_BYTES) k++;
  return k;
}

static tsl_err tri_run_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  if (w->frames != NULL) return tri_frames_run_cpu(w->frames, units, n, w->slow, parts);
  for (int64_t u = 0, m; u < n; u += m) {
    const double start = tsl_cpu_seconds();
    tsl_unit unit = units[u];
    m = together(w, units + u, n - u);
    unit.hi[0] = units[u + m - 1].hi[0];
    if (w->records != NULL) TSL_TRY(tri_cpu_records_take(w, &unit));
    TSL_TRY(run_unit(w, &unit, &parts[u]));
    tri_restore_signs(w->p, &unit, &parts[u]);
    if (w->p->aligned) TSL_TRY(tri_traceback_run(w, &unit, &parts[u]));
    tsl_seconds_spread(tsl_cpu_unit_seconds(start, w->slow, m), units + u, m, parts + u);
  }
done:
  return err;
}

static tsl_err tri_collect_cpu(tsl_worker *w, tsl_problem *problem) {
  if (w->cells != NULL)
    tri_cells_total(w->cells, problem->fields[TRI_OUT].data,
                    w->p->weighted ? problem->fields[TRI_OUT_2].data : NULL);
  else if (w->p->output == TRI_HISTOGRAM && w->frames == NULL)
    tri_histogram_total(w, problem->fields[TRI_OUT].data);
  return TSL_OK;
}

/** Frames: a thread computes each, and waits for the last one of a batch. Near pairs: rows of the
 *  input lie anywhere, so that a tile has rows of a batch only where this holds much of them;
 *  but a batch is not shared with other ranks, and trials of so many would take long. */
static int64_t tri_saturating_units_cpu(const tsl_worker *w, const tsl_unit *unit) {
  enum { NEAR_UNITS = 32 };
  if (w->frames != NULL) return 2 * w->threads;
  if (tri_of_letters(w->p) && w->p->output != TRI_PAIRED) return tri_matrix_units(w, unit);
  return w->p->near && !tri_rows_are_places(w->p) && w->begun ? NEAR_UNITS : 1;
}

/** Sequences: pairs that 8 bits did not hold. */
static void tri_notes_cpu(const tsl_worker *w, char text[TSL_NOTES]) {
  const int64_t again = tri_tracer_again(w->tracer);
  int64_t done[2] = {0};
  for (int k = 0; w->thread != NULL && k < w->threads; k++)
    for (int b = 0; b < 2; b++) {
      if (w->thread[k].letters != NULL) done[b] += w->thread[k].letters->done[b];
      if (w->thread[k].pairs != NULL) done[b] += w->thread[k].pairs->done[b];
    }
  int used = 0;
  text[0] = '\0';
  if (done[1] > 0)
    used =
        snprintf(text, TSL_NOTES, "%lld of %lld scores exceeded 8 bits: computed again in more%s",
                 (long long)done[1], (long long)done[0], again > 0 ? "; " : "");
  if (again > 0)
    (void)snprintf(text + used, TSL_NOTES - (size_t)used,
                   "computed %lld cells again on the way back", (long long)again);
}

const tsl_backend tri_backend_cpu = {
    .family = "tri",
    .prepare = tri_cpu_prepare,
    .open = tri_open_cpu,
    .begin = tri_begin_cpu,
    .run = tri_run_cpu,
    .saturating_units = tri_saturating_units_cpu,
    .collect = tri_collect_cpu,
    .notes = tri_notes_cpu,
    .close = tri_close_cpu,
};
