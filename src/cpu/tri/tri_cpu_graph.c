/** @file tri_cpu_graph.c  Phases of components, dbscan and linkage: what active rows report. */
#include "tri_cpu.h"

#include <math.h>

tsl_err tri_graph_open(tsl_worker *w) {
  tsl_err err = TSL_OK;
  if (w->p->near)
    TSL_TRY(tsl_alloc(w->tree.ld, sizeof *w->uniform, "components", (void **)&w->uniform));
  w->within_room = 2 * w->p->k + 64;
  tri_graph_begin(w); /* trials come before the first phase */
done:
  return err;
}

void tri_graph_begin(tsl_worker *w) {
  w->graph = tri_graph_view_of(w->problem);
  w->nearest = w->graph.stage != TRI_STAGE_LINK;
  w->skips = w->p->near && w->graph.stage != TRI_STAGE_CORE;
  if (w->skips) tri_graph_uniform(&w->tree, w->p->n, w->graph.component, w->uniform);
}

static int32_t *links_of(const tri_job *job, int64_t row) {
  return (int32_t *)job->part->slab[TRI_OUT] + 2 * (row - job->unit->lo[0]);
}

static void set_reach(const tsl_worker *w, const tri_job *job, int64_t row, double value) {
  const int64_t at = row - job->unit->lo[0];
  if (w->p->output == TRI_COMPONENTS) return;
  if (w->t)
    ((double *)job->part->slab[TRI_OUT_2])[at] = value;
  else
    ((float *)job->part->slab[TRI_OUT_2])[at] = (float)value;
}

/* ------------------------------------------------------------------- LINK */

/** What a row has seen so far is in the slab itself. */
static tsl_err link_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  const int32_t *component = w->graph.component;
  (void)thread;
  if (row->tiles == NULL) component += row->lo;
  if (w->graph.active[row->i]) /* the row itself is among its columns, and of its own component */
    w->kernels->link[w->t](row->values, row->hi - row->lo, w->cut, row->tiles, component,
                           links_of(job, row->i));
  return TSL_OK;
}

/* ------------------------------------------------------------------- CORE */

/** The k-th least of n values, k >= 1; the k least go to the front (Hoare, CACM 4, 1961, 321). */
static double kth_least(double *v, int64_t n, int64_t k) {
  int64_t lo = 0, hi = n - 1;
  while (lo < hi) {
    const double a = v[lo], b = v[lo + (hi - lo) / 2], c = v[hi];
    const double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
    int64_t i = lo, j = hi;
    while (i <= j) {
      while (v[i] < pivot) i++;
      while (pivot < v[j]) j--;
      if (i > j) break;
      const double swapped = v[i];
      v[i++] = v[j], v[j--] = swapped;
    }
    if (k - 1 <= j)
      hi = j;
    else if (k - 1 >= i)
      lo = i;
    else
      break;
  }
  return v[k - 1];
}

/** Few values are parted by vectors, without a branch that nobody can predict. */
static double kth_of(const tsl_worker *w, double *v, int64_t n, int64_t k) {
  return n <= TRI_MOST_RANKED ? w->kernels->kth(v, n, k) : kth_least(v, n, k);
}

static void core_start(tsl_worker *w, tri_thread *thread, int64_t rows) {
  (void)w;
  for (int64_t r = 0; r < rows; r++) thread->within_n[r] = 0;
}

/** Keep the k least of n >= k values, k >= 1. @return the k-th */
static double keep_least(const tsl_worker *w, double *v, int64_t n, int64_t k) {
  const double kth = kth_of(w, v, n, k);
  int64_t kept = 0;
  for (int64_t c = 0; c < n; c++) { /* fewer than k are less; equal ones are all alike */
    const double value = v[c];
    v[kept] = value;
    kept += value < kth;
  }
  while (kept < k) v[kept++] = kth;
  return kth;
}

/** The first and the last of the places that a row has seen within its cut. */
static void widen(int32_t *links, int32_t place) {
  links[1] = links[0] < 0 || place > links[1] ? place : links[1];
  links[0] = links[0] < 0 || place < links[0] ? place : links[0];
}

/** With twice k values there is a cut again: rows look at less from then on. */
static tsl_err core_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  const int64_t k = w->p->k;
  int32_t *const links = links_of(job, row->i);
  double *const within = thread->within + row->slot * w->within_room;
  int64_t *const held = &thread->within_n[row->slot];
  double *const cut = &thread->cuts[row->slot];
  const int64_t n = w->kernels->select[w->t](row->values, row->hi - row->lo, *cut, thread->places);
  for (int64_t f = 0; f < n; f++) {
    const int64_t c = thread->places[f];
    within[*held] =
        w->t ? ((const double *)row->values)[c] : (double)((const float *)row->values)[c];
    const int64_t place = tri_column_place(row, c);
    widen(links, (int32_t)place);
    *held += place != row->i;
    if (*held < w->within_room && (f + 1 < n || *held < 2 * k)) continue;
    *cut = k > 0 ? keep_least(w, within, *held, k) : -INFINITY;
    *held = k;
  }
  return TSL_OK;
}

static tsl_err core_finish(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  const int64_t k = w->p->k, held = thread->within_n[row->slot];
  double *const within = thread->within + row->slot * w->within_room;
  double value = k == 0 ? 0 : held < k ? INFINITY : kth_of(w, within, held, k);
  if (w->function != w->p->function) value = w->t ? sqrt(value) : (double)sqrtf((float)value);
  set_reach(w, job, row->i, value);
  return TSL_OK;
}

/* ---------------------------------------------------------------- NEAREST */

static tsl_err nearest_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  return w->graph.active[row->i] ? tri_topk_take(w, thread, job, row) : TSL_OK;
}

static tsl_err nearest_finish(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  const tri_near *const nearest = thread->heap + row->slot;
  if (thread->heap_n[row->slot] == 0) return TSL_OK;
  set_reach(w, job, row->i, nearest->value);
  links_of(job, row->i)[0] = (int32_t)nearest->j;
  return TSL_OK;
}

/** As rows have it that see nothing. */
static void set_nothing(const tsl_worker *w, const tri_job *job, int64_t row) {
  const bool link = w->graph.stage == TRI_STAGE_LINK;
  const int32_t own = w->graph.component[row];
  int32_t *const links = links_of(job, row);
  links[0] = !link ? -1 : own >= 0 ? own : INT32_MAX;
  links[1] = !link ? 0 : own >= 0 ? own : -1;
  set_reach(w, job, row, link ? 0 : INFINITY);
}

tsl_err tri_run_graph(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tri_job job = {.unit = unit, .part = part, .take = link_take};
  if (w->graph.stage == TRI_STAGE_CORE)
    job.take = core_take, job.start = core_start, job.finish = core_finish;
  if (w->graph.stage == TRI_STAGE_NEAREST)
    job.take = nearest_take, job.start = tri_topk_start, job.finish = nearest_finish;
  for (int64_t i = unit->lo[0]; i < unit->hi[0]; i++) set_nothing(w, &job, i);
  return tri_walk(w, &job);
}
