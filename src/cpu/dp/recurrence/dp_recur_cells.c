/** @file dp_recur_cells.c  What is taken out of cells that have been computed. */
#include "dp_recur_cpu.h"
#include "integers.h"

#include <string.h>

/* ---- errors of threads */

void dp_fault_keep(dp_fault *fault, tsl_err err) {
  if (err == TSL_OK) return;
#pragma omp critical(dp_fault)
  if (!fault->failed) {
    tsl_err_save(err, &fault->copy);
    __atomic_store_n(&fault->failed, true, __ATOMIC_RELEASE);
  }
}

bool dp_fault_is(const dp_fault *fault) {
  return __atomic_load_n(&fault->failed, __ATOMIC_ACQUIRE);
}

tsl_err dp_fault_settle(const dp_fault *fault) {
  return fault->failed ? tsl_err_restore(&fault->copy) : TSL_OK;
}

/* ---- the goal */

/** Cells that the goal may choose and that are in the box. */
static dp_area chosen_in(const dp_recur_cpu *r, int64_t p0, int64_t p1, int64_t q0, int64_t q1) {
  return (dp_area){.p0 = tsl_max(p0, r->choice.p0),
                   .p1 = tsl_min(p1, r->choice.p1),
                   .q0 = tsl_max(q0, r->choice.q0),
                   .q1 = tsl_min(q1, r->choice.q1)};
}

static bool is_empty(const dp_area *c) {
  return c->p0 >= c->p1 || c->q0 >= c->q1;
}

/** The first wanted cell in the rows of a box from row p on; false: none. */
static bool next_wanted(const dp_recur *recur, const dp_area *box, int64_t *p, int64_t *k) {
  int64_t at[2] = {*p, 0};
  while (*p < box->p1) {
    *k = dp_recur_wanted_from(recur, *p, box->q0);
    if (*k == recur->n_wanted) return false;
    dp_code_fold(&recur->code, recur->wanted[*k][0], recur->wanted[*k][1], &at[0], &at[1]);
    if (at[0] == *p && at[1] < box->q1) return true;
    *p = at[0] > *p ? at[0] : *p + 1;
  }
  return false;
}

bool dp_recur_is_watched(const dp_recur_cpu *r, int64_t p0, int64_t p1, int64_t q0, int64_t q1,
                         bool chosen) {
  const dp_area box = {.p0 = p0, .p1 = p1, .q0 = q0, .q1 = q1};
  const dp_area c = chosen_in(r, p0, p1, q0, q1);
  int64_t p = p0, k = 0;
  return (!chosen && !is_empty(&c)) || next_wanted(r->recur, &box, &p, &k);
}

static const char *address(const dp_recur_cpu *r, const dp_area *c, int64_t p, int64_t q) {
  return c->values + ((p - c->p0) * c->stride + q - c->q0) * r->bytes;
}

static void keep_wanted(dp_recur_cpu *r, const dp_area *c) {
  const dp_recur *recur = r->recur;
  int64_t k = 0, at[2];
  for (int64_t p = c->p0; next_wanted(recur, c, &p, &k); p++)
    for (; k < recur->n_wanted; k++) {
      dp_code_fold(&recur->code, recur->wanted[k][0], recur->wanted[k][1], &at[0], &at[1]);
      if (at[0] != p || at[1] >= c->q1) break;
      r->wanted[k] =
          dp_recur_bits(recur->code.type, address(r, c, p, at[1]) + recur->wanted[k][2] * r->step);
    }
}

void dp_recur_offer(dp_recur_cpu *r, const dp_recur_best *best) {
#pragma omp critical(dp_best)
  if (dp_recur_better(r->recur, best, &r->best)) r->best = *best;
}

/** The extreme of n values, step apart, as bits. */
#define EXTREME(T)                                                                                \
  do {                                                                                            \
    const T *x = (const T *)values;                                                               \
    T most = x[0];                                                                                \
    for (int64_t k = step; maximum && k < n * step; k += step) most = x[k] > most ? x[k] : most;  \
    for (int64_t k = step; !maximum && k < n * step; k += step) most = x[k] < most ? x[k] : most; \
    return dp_recur_bits(type, &most);                                                            \
  } while (0)

static int64_t extreme(int32_t type, bool maximum, const char *values, int64_t n, int64_t step) {
  switch (type) {
  case TSL_I16:
    EXTREME(int16_t);
  case TSL_I32:
    EXTREME(int32_t);
  case TSL_I64:
    EXTREME(int64_t);
  case TSL_F32:
    EXTREME(float);
  default:
    EXTREME(double);
  }
}

/** Is there a value in the row's n cells, in any layer, that is better than the best? Without cells
 *  that are none. */
static bool is_promising(const dp_recur_cpu *r, const char *values, int64_t n,
                         const dp_recur_best *best) {
  const dp_recurrence *recurrence = r->recur->recurrence;
  if (recurrence->equation.names.tables[0].cells != LANG_CELLS_ALL) return true;
  const dp_recur_best here = {extreme(r->recur->code.type, recurrence->equation.maximum != 0,
                                      values, n * tsl_max(r->recur->code.layers, 1),
                                      r->recur->code.tables),
                              0, 0, 0};
  return dp_recur_better(r->recur, &here, best) || here.bits == best->bits;
}

/** The layers of cell (p, q), from the goal's table in the first on. */
static void offer_cell(const dp_recur_cpu *r, const char *cell, int64_t p, int64_t q,
                       dp_recur_best *best) {
  const dp_code *code = &r->recur->code;
  dp_recur_best here = {0};
  dp_code_unfold(code, p, q, &here.i, &here.j);
  if (!dp_recur_candidate(r->recur, here.i, here.j)) return;
  for (here.layer = 0; here.layer < tsl_max(code->layers, 1); here.layer++) {
    here.bits = dp_recur_bits(code->type, cell + here.layer * code->tables * r->step);
    if (dp_recur_better(r->recur, &here, best)) *best = here;
  }
}

static void dp_recur_cells_choose(dp_recur_cpu *r, const dp_area *cells) {
  const dp_area c = chosen_in(r, cells->p0, cells->p1, cells->q0, cells->q1);
  dp_recur_best best = {0, -1, -1, 0};
  if (is_empty(&c)) return;
  for (int64_t p = c.p0; p < c.p1; p++) {
    const char *row =
        address(r, cells, p, c.q0) + r->recur->recurrence->equation.goal_table * r->step;
    if (!is_promising(r, row, c.q1 - c.q0, &best)) continue;
    for (int64_t q = c.q0; q < c.q1; q++) offer_cell(r, row + (q - c.q0) * r->bytes, p, q, &best);
  }
  if (best.i >= 0) dp_recur_offer(r, &best);
}

void dp_recur_watch(dp_recur_cpu *r, const dp_area *cells, bool chosen) {
  keep_wanted(r, cells);
  if (!chosen) dp_recur_cells_choose(r, cells);
}

/* ---- the user's table */

/** n cells from `from` to `to`, to in steps of cells. */
static void copy_steps(const char *from, char *to, int64_t n, int64_t step, int64_t bytes) {
  if (step == 1) {
    memcpy(to, from, (size_t)(n * bytes));
  } else if (bytes == 2) {
    for (int64_t k = 0; k < n; k++) ((int16_t *)to)[k * step] = ((const int16_t *)from)[k];
  } else if (bytes == 4) {
    for (int64_t k = 0; k < n; k++) ((int32_t *)to)[k * step] = ((const int32_t *)from)[k];
  } else if (bytes == 8) {
    for (int64_t k = 0; k < n; k++) ((int64_t *)to)[k * step] = ((const int64_t *)from)[k];
  } else {
    for (int64_t k = 0; k < n; k++) memcpy(to + k * step * bytes, from + k * bytes, (size_t)bytes);
  }
}

/** Rows of cells that belong to one unit, to its slab. */
static void store_unit(const tsl_worker *w, const dp_area *c, const tsl_unit *u, char *slab) {
  const dp_recur_cpu *r = w->recur;
  const dp_code *code = &r->recur->code;
  const int64_t q0 = tsl_max(c->q0, u->lo[1]), q1 = tsl_min(c->q1, u->hi[1]);
  const int64_t p0 = tsl_max(c->p0, u->lo[0]), p1 = tsl_min(c->p1, u->hi[0]);
  int64_t lo[2], hi[2], i, j;
  if (q0 >= q1 || p0 >= p1) return;
  dp_recur_tile_box(code, u, lo, hi);
  const int64_t width = hi[1] - lo[1];
  const int64_t across = code->fold.transpose != 0 ? width : 1;
  const bool back = code->fold.transpose != 0 ? code->fold.flip_i != 0 : code->fold.flip_j != 0;
  for (int64_t p = p0; p < p1; p++) {
    dp_code_unfold(code, p, q0, &i, &j);
    copy_steps(address(r, c, p, q0), slab + ((i - lo[0]) * width + j - lo[1]) * r->bytes, q1 - q0,
               back ? -across : across, r->bytes);
  }
}

void dp_recur_store(const tsl_worker *w, const dp_area *cells, const tsl_unit *units, int64_t n,
                    tsl_part *parts) {
  if (!dp_recur_gives(w->dp.c.table, parts)) return;
  for (int64_t k = 0; k < n; k++) store_unit(w, cells, &units[k], parts[k].slab[w->dp.c.table]);
}
