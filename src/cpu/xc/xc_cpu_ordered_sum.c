/** @file xc_cpu_ordered_sum.c  Pieces end in any order and are added in theirs. */
#include "xc_cpu.h"
#include "xc_fixed.h"

enum { MOST_EACH = 4, ENOUGH = 1 << 26 }; /* slots of a thread, bytes for them beyond two */

static int64_t slot_size(const tsl_worker *w) {
  return w->p->n_spin * w->most_functions * w->most_functions;
}

int xc_ordered_sum_slots(const tsl_worker *w) {
  const int64_t each = ENOUGH / (slot_size(w) * (int64_t)sizeof(double)) + 2;
  return (int)(each < MOST_EACH ? each : MOST_EACH) * w->threads;
}

tsl_err xc_ordered_sum_open(tsl_worker *w) {
  tsl_err err = TSL_OK;
  xc_ordered_sum *sum = &w->ordered_sum;
  const int64_t b = w->most_functions, size = slot_size(w);
  const int n = xc_ordered_sum_slots(w);
  TSL_TRY(tsl_alloc(n, sizeof *sum->slots, "slots", (void **)&sum->slots));
  sum->n = n;
  for (int k = 0; k < sum->n; k++) {
    xc_slot *slot = &sum->slots[k];
    slot->piece = -1;
    TSL_TRY(tsl_alloc(size, sizeof *slot->matrix, "matrix of a group", (void **)&slot->matrix));
    TSL_TRY(tsl_alloc(b, sizeof *slot->at, "places", (void **)&slot->at));
  }
  if (pthread_mutex_init(&sum->lock, NULL) != 0 || pthread_cond_init(&sum->room, NULL) != 0)
    TSL_FAIL(TSL_ERR_MEMORY, "no memory for a lock");
  sum->made = true;
done:
  return err;
}

void xc_ordered_sum_close(xc_ordered_sum *sum) {
  for (int k = 0; sum->slots != NULL && k < sum->n; k++) {
    tsl_free(sum->slots[k].matrix);
    tsl_free(sum->slots[k].at);
  }
  tsl_free(sum->slots);
  if (!sum->made) return;
  (void)pthread_mutex_destroy(&sum->lock);
  (void)pthread_cond_destroy(&sum->room);
}

void xc_ordered_sum_begin(xc_ordered_sum *sum, int64_t lo, int64_t hi) {
  sum->taken = sum->added = lo;
  sum->end = hi;
}

/* A slot of this piece (-1: free) that is done if it holds one; NULL: none. */
static xc_slot *xc_cpu_ordered_sum_find(const xc_ordered_sum *sum, int64_t piece) {
  for (int k = 0; k < sum->n; k++)
    if (sum->slots[k].piece == piece && (piece < 0 || sum->slots[k].done)) return &sum->slots[k];
  return NULL;
}

xc_slot *xc_ordered_sum_take(xc_ordered_sum *sum) {
  xc_slot *slot = NULL;
  (void)pthread_mutex_lock(&sum->lock);
  while (sum->taken < sum->end && (slot = xc_cpu_ordered_sum_find(sum, -1)) == NULL)
    (void)pthread_cond_wait(&sum->room, &sum->lock);
  if (slot != NULL) slot->piece = sum->taken++, slot->done = false;
  (void)pthread_mutex_unlock(&sum->lock);
  return slot;
}

/* Add the piece's matrices to the worker's. */
static void scatter(tsl_worker *w, const xc_slot *slot, int64_t b) {
  const int64_t n = w->p->n;
  for (int s = 0; s < w->p->n_spin; s++)
    for (int64_t i = 0; i < b; i++) {
      const double *from = slot->matrix + (s * b + i) * b;
      double *to = w->xc + (s * n + slot->at[i]) * n;
      for (int64_t j = 0; j < b; j++) to[slot->at[j]] += from[j];
    }
  for (int s = 0; s < XC_N_INTEGRALS; s++) w->integrals_sum[s] += slot->sums[s];
}

/* Likewise to sums of integers. */
static void scatter_fixed(tsl_worker *w, const xc_slot *slot, int64_t b) {
  const int64_t n = w->p->n;
  const double scale = xc_fixed_scale(w->problem, XC_FIXED_XC);
  const double integrals = xc_fixed_scale(w->problem, XC_FIXED_INTEGRALS);
  bool good = true;
  for (int s = 0; s < w->p->n_spin; s++)
    for (int64_t i = 0; i < b; i++) {
      const double *from = slot->matrix + (s * b + i) * b;
      int64_t *to = w->fixed + (s * n + slot->at[i]) * n;
      for (int64_t j = 0; j < b; j++) good = xc_fixed_add(&to[slot->at[j]], from[j], scale) && good;
    }
  for (int s = 0; s < XC_N_INTEGRALS; s++)
    good = xc_fixed_add(&w->integrals_fixed[s], slot->sums[s], integrals) && good;
  if (!good) w->bad = true;
}

void xc_ordered_sum_add(tsl_worker *w, xc_slot *slot, const tsl_unit *units) {
  xc_ordered_sum *sum = &w->ordered_sum;
  (void)pthread_mutex_lock(&sum->lock);
  slot->done = true;
  for (xc_slot *next; !sum->adding && (next = xc_cpu_ordered_sum_find(sum, sum->added)) != NULL;) {
    sum->adding = true;
    (void)pthread_mutex_unlock(&sum->lock);
    const int64_t b = w->view.groups[units[w->pieces[next->piece].unit].lo[0]].functions;
    (w->fixed != NULL ? scatter_fixed : scatter)(w, next, b);
    (void)pthread_mutex_lock(&sum->lock);
    sum->adding = false;
    sum->added++;
    next->piece = -1;
    (void)pthread_cond_broadcast(&sum->room);
  }
  (void)pthread_mutex_unlock(&sum->lock);
}
