/** @file triples_cpu.c  The backend of triples on a socket. */
#include "triples_cpu.h"

#include <omp.h>
#include <string.h>

static void triples_close(tsl_worker **worker) {
  tsl_worker *w = *worker;
  if (w == NULL) return;
  for (int t = 0; w->thread != NULL && t < w->threads; t++)
    TSL_FREE_ALL(w->thread[t].scratch, w->thread[t].list.x, w->thread[t].list.bin,
                 w->thread[t].counts);
  lang_object_close(&w->object);
  TSL_FREE_ALL(w->thread, w->slopes, w);
  *worker = NULL;
}

static void view_set(tsl_worker *w, const tsl_problem *problem) {
  const triples_params *p = w->p;
  w->view = (triples_view){.x = problem->fields[TRIPLES_POINTS].data,
                           .n = p->n,
                           .ld = p->n_pad,
                           .box = {p->box[0], p->box[1], p->box[2]},
                           .cutoff2 = p->cutoff * p->cutoff,
                           .lo = p->range_lo,
                           .hi = p->range_hi,
                           .inverse_width = p->bins / (p->range_hi - p->range_lo),
                           .bins = p->bins};
}

static tsl_err make_scratch(tsl_worker *w) {
  tsl_err err = TSL_OK;
  for (int t = 0; t < w->threads; t++)
    TSL_TRY(tsl_alloc(w->kernels->scratch_bytes, 1, "sides of tiles", &w->thread[t].scratch));
  TSL_TRY(tsl_alloc(w->p->block_rows * w->p->n_pad, sizeof(double), "slopes of a block",
                    (void **)&w->slopes));
done:
  return err;
}

static tsl_err triples_open(const tsl_problem *problem, const tsl_device *device,
                            tsl_worker **worker) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  int level = 0;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "triples worker", (void **)&w));
  w->p = triples_params_of(problem);
  w->t = w->p->type == TSL_F64;
  w->threads = device->threads > 0 ? device->threads : omp_get_max_threads();
  TSL_TRY(tsl_cpu_level_use(&level));
  w->kernels = triples_kernels_at(level);
  TSL_TRY(tsl_test_delay_factor(&w->slow));
  view_set(w, problem);
  w->cells = problem->fields[TRIPLES_CELLS].data;
  TSL_TRY(tsl_alloc(w->threads, sizeof *w->thread, "threads", (void **)&w->thread));
  if (w->p->function == TRIPLES_EQUATION)
    TSL_TRY(triples_equation_create(w, problem, device));
  else if (w->p->function == TRIPLES_TRIANGLES)
    TSL_TRY(triples_triangles_create(w));
  else
    TSL_TRY(make_scratch(w));
  *worker = w;
done:
  if (err != TSL_OK) triples_close(&w);
  return err;
}

static tsl_err triples_begin(tsl_worker *w, int phase) {
  (void)phase;
  if (w->p->function == TRIPLES_TRIANGLES) triples_triangles_zero(w);
  return TSL_OK;
}

/** Tile `task` of the tiles of a block's rows and the columns from the block's first row on. */
static void slopes_of_tile(tsl_worker *w, int64_t first, int64_t tiles, int64_t task) {
  const int64_t i = first + task / tiles * TRIPLES_TILE, j = first + task % tiles * TRIPLES_TILE;
  double *const slopes = w->slopes + (i - first) * w->p->n_pad + j;
  void *const scratch = w->thread[omp_get_thread_num()].scratch;
  if (j < i) /* pairs of the rows above */
    for (int r = 0; r < TRIPLES_TILE; r++)
      memset(slopes + r * w->p->n_pad, 0, TRIPLES_TILE * sizeof(double));
  else
    w->kernels->slopes[w->t](&w->view, i, j, scratch, slopes, w->p->n_pad);
}

/** Sums of a block's pairs for all points, into sums[n][TRIPLES_SUMS]. */
static void run_block(tsl_worker *w, int64_t block, double *sums) {
  const triples_params *p = w->p;
  const int64_t first = block * p->block_rows, end = triples_block_end(p, block);
  const int64_t rows = (end - first + TRIPLES_TILE - 1) / TRIPLES_TILE;
  const int64_t tiles = (p->n_pad - first) / TRIPLES_TILE;
  memset(sums, 0, (size_t)(first * TRIPLES_SUMS) * sizeof(double));
#pragma omp parallel num_threads(w->threads)
  {
#pragma omp for schedule(dynamic, 1)
    for (int64_t task = 0; task < rows * tiles; task++) slopes_of_tile(w, first, tiles, task);
#pragma omp for schedule(static)
    for (int64_t t = 0; t < tiles; t++) {
      const int64_t j = first + t * TRIPLES_TILE;
      w->kernels->columns[w->t](&w->view, first, end - first, j, w->slopes + j, p->n_pad,
                                sums + j * TRIPLES_SUMS);
    }
#pragma omp for schedule(static)
    for (int64_t i = first; i < end; i++)
      w->kernels->row[w->t](&w->view, i, first, w->slopes + (i - first) * p->n_pad + first,
                            sums + i * TRIPLES_SUMS);
  }
}

static void run_blocks(tsl_worker *w, const tsl_unit *unit, double *sums) {
  for (int64_t block = unit->lo[0]; block < unit->hi[0]; block++)
    run_block(w, block, sums + (block - unit->lo[0]) * w->p->n * TRIPLES_SUMS);
}

static tsl_err triples_run(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  for (int64_t u = 0; u < n; u++) {
    const double start = tsl_cpu_seconds();
    if (w->p->function == TRIPLES_EQUATION)
      triples_equation_run(w, &units[u], parts[u].slab[TRIPLES_OUT],
                           w->p->slopes ? parts[u].slab[TRIPLES_FORCES] : NULL);
    else if (w->p->function == TRIPLES_TRIANGLES)
      triples_triangles_run(w, &units[u]);
    else
      run_blocks(w, &units[u], parts[u].slab[TRIPLES_OUT]);
    parts[u].seconds = tsl_cpu_unit_seconds(start, w->slow, 1);
  }
  return TSL_OK;
}

static tsl_err triples_collect(tsl_worker *w, tsl_problem *problem) {
  if (w->p->function == TRIPLES_TRIANGLES)
    triples_triangles_total(w, problem->fields[TRIPLES_OUT].data);
  return TSL_OK;
}

const tsl_backend triples_backend_cpu = {
    .family = "triples",
    .prepare = triples_cpu_prepare,
    .open = triples_open,
    .begin = triples_begin,
    .run = triples_run,
    .collect = triples_collect,
    .close = triples_close,
};
