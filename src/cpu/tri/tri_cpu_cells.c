/**
 * @file tri_cpu_cells.c
 * histogram of classes, weights, listed edges or two axes: values within reach are picked out by
 * vectors, then each pair finds its cell. Cells are counted by each thread apart, or together with
 * atomic additions where there are too many.
 */
#include "tri_cpu.h"
#include "tri_pairs.h"

#include <string.h>

enum { MOST_APART = 1 << 20 /**< cells of a thread */ };

typedef union tri_axis_any {
  tri_axis_f32 f32;
  tri_axis_f64 f64;
} tri_axis_any;

struct tri_cells {
  tri_axis_any axes[2];
  const int32_t *classes; /**< [n_pad], or NULL */
  const int32_t *slots;   /**< [classes][classes] */
  const int32_t *weights; /**< [n_pad], or NULL */
  int64_t each, all;      /**< cells */
  bool apart;             /**< each thread has a copy */
  int64_t copies;
  uint64_t *counts;     /**< [copies][all] */
  uint64_t *low, *high; /**< [copies][all] weighted: 128-bit sums */
};

/** An axis with edges, or else the uniform one. */
static tri_axis_any axis_of(const tsl_worker *w, int bins, const void *edges) {
  const double lo = w->p->range_lo, hi = w->p->range_hi, inv_width = bins / (hi - lo);
  tri_axis_any a = {0};
  if (w->t)
    a.f64 = (tri_axis_f64){lo, hi, inv_width, edges, bins};
  else
    a.f32 = (tri_axis_f32){(float)lo, (float)hi, (float)inv_width, edges, bins};
  return a;
}

static void set_axes(const tsl_worker *w, const tsl_problem *problem, tri_cells *c) {
  const tri_params *p = w->p;
  const char *edges = problem->fields[TRI_EDGES].data;
  c->axes[0] = axis_of(w, p->bins, p->listed ? edges : NULL);
  if (p->listed) edges += (p->bins + 1) * w->value_bytes;
  if (p->bins_2 > 0) c->axes[1] = axis_of(w, p->bins_2, edges);
}

tsl_err tri_cells_create(const tsl_worker *w, const tsl_problem *problem, tri_cells **cells) {
  tsl_err err = TSL_OK;
  const tri_params *p = w->p;
  const tsl_field *f = problem->fields;
  TSL_TRY(tsl_alloc(1, sizeof **cells, "cells", (void **)cells));
  tri_cells *c = *cells;
  set_axes(w, problem, c);
  if (p->classes > 0) c->classes = f[TRI_CLASSES].data, c->slots = f[TRI_SLOTS].data;
  if (p->weighted) c->weights = f[TRI_WEIGHTS].data;
  c->each = tri_cells_each(p);
  c->all = tri_cells_of(p);
  c->apart = w->threads == 1 || c->all <= MOST_APART;
  c->copies = c->apart ? w->threads : 1;
  TSL_TRY(tsl_alloc(c->copies * c->all, sizeof *c->counts, "counts", (void **)&c->counts));
  if (!p->weighted) goto done;
  TSL_TRY(tsl_alloc(c->copies * c->all, sizeof *c->low, "sums of weights", (void **)&c->low));
  TSL_TRY(tsl_alloc(c->copies * c->all, sizeof *c->high, "sums of weights", (void **)&c->high));
done:
  return err;
}

void tri_cells_clear(tri_cells **cells) {
  if (*cells == NULL) return;
  TSL_FREE_ALL((*cells)->counts, (*cells)->low, (*cells)->high, *cells);
  *cells = NULL;
}

void tri_cells_zero(tri_cells *c) {
  const size_t bytes = (size_t)(c->copies * c->all) * sizeof(uint64_t);
  memset(c->counts, 0, bytes);
  if (c->low != NULL) memset(c->low, 0, bytes);
  if (c->high != NULL) memset(c->high, 0, bytes);
}

#define CELL(R, name)                                                                              \
  /** Cell of a histogram for the pair of places i and j with this value, or -1. */                \
  static inline int64_t cell_##name(const tsl_worker *w, const tri_cells *c, int64_t i, int64_t j, \
                                    R value) {                                                     \
    const tri_params *p = w->p;                                                                    \
    const R box[3] = {(R)p->box[0], (R)p->box[1], (R)p->box[2]};                                   \
    const bool wrapped = p->function == TRI_EUCLIDEAN_PERIODIC;                                    \
    const int d = (int)p->d;                                                                       \
    if (p->axes == TRI_AXES_VALUE) return tri_axis_bin_##name(&c->axes[0].name, value);            \
    const R along = tri_apart_##name(w->view.x, w->view.ld, d, box, wrapped, true, i, j);          \
    const R first = p->axes == TRI_AXES_S_MU                                                       \
                        ? value                                                                    \
                        : tri_apart_##name(w->view.x, w->view.ld, d, box, wrapped, false, i, j);   \
    const R mu = value > (R)0 ? along / value : (R)0;                                              \
    const int a = tri_axis_bin_##name(&c->axes[0].name, first);                                    \
    const int b = tri_axis_bin_##name(&c->axes[1].name, p->axes == TRI_AXES_S_MU ? mu : along);    \
    return a < 0 || b < 0 ? -1 : (int64_t)a * p->bins_2 + b;                                       \
  }
CELL(float, f32)
CELL(double, f64)
#undef CELL

/** Where the copy's counts begin: the thread's own, or those of all. */
static int64_t copy_of(const tsl_worker *w, const tri_thread *thread, const tri_cells *c) {
  return c->apart ? (thread - w->thread) * c->all : 0;
}

/** Count the pair of places i and j in a cell. */
static void count_pair(const tri_cells *c, int64_t bias, int64_t i, int64_t j, int64_t cell) {
  if (c->apart)
    c->counts[cell]++;
  else
    (void)__atomic_fetch_add(&c->counts[cell], 1, __ATOMIC_RELAXED);
  if (c->weights == NULL) return;
  const uint64_t product = (uint64_t)((int64_t)c->weights[i] * c->weights[j] + bias);
  if (c->apart) {
    c->low[cell] += product;
    c->high[cell] += c->low[cell] < product;
  } else if (__atomic_add_fetch(&c->low[cell], product, __ATOMIC_RELAXED) < product) {
    (void)__atomic_fetch_add(&c->high[cell], 1, __ATOMIC_RELAXED);
  }
}

static tsl_err cells_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  (void)job;
  const tri_cells *c = w->cells;
  const int64_t i = row->place, copy = copy_of(w, thread, c);
  const int32_t *const slots =
      c->classes != NULL ? c->slots + (int64_t)c->classes[i] * w->p->classes : NULL;
  const int64_t n =
      w->kernels->select[w->t](row->values, row->hi - row->lo, tri_near_cut(w->p), thread->places);
  for (int64_t k = 0; k < n; k++) {
    const int32_t at = thread->places[k];
    const int64_t j = tri_column_place(row, at);
    const int32_t slot = slots != NULL ? slots[c->classes[j]] : 0;
    if (slot < 0) continue;
    const int64_t cell = w->t ? cell_f64(w, c, i, j, ((const double *)row->values)[at])
                              : cell_f32(w, c, i, j, ((const float *)row->values)[at]);
    if (cell >= 0) count_pair(c, w->p->bias, i, j, copy + slot * c->each + cell);
  }
  return TSL_OK;
}

tsl_err tri_run_cells(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tri_job job = {.unit = unit, .part = part, .split = true, .take = cells_take};
  return tri_walk(w, &job);
}

void tri_cells_total(const tri_cells *c, uint64_t *counts, uint64_t (*sums)[TRI_LIMBS]) {
  for (int64_t cell = 0; cell < c->all; cell++) {
    uint64_t low = 0, high = 0;
    counts[cell] = 0;
    for (int64_t copy = 0; copy < c->copies; copy++) {
      counts[cell] += c->counts[copy * c->all + cell];
      if (c->low == NULL) continue;
      low += c->low[copy * c->all + cell];
      high += c->high[copy * c->all + cell] + (low < c->low[copy * c->all + cell]);
    }
    if (sums == NULL) continue;
    sums[cell][0] = low & UINT32_MAX, sums[cell][1] = low >> 32;
    sums[cell][2] = high & UINT32_MAX, sums[cell][3] = high >> 32;
  }
}
