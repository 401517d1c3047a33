/** @file xc_cpu_turns.c  Pieces end in any order and are added in theirs. */
#include "xc_cpu.h"
#include "xc_fixed.h"

enum { MOST_EACH = 4, ENOUGH = 1 << 26 }; /* slots of a thread, bytes for them beyond two */

static int64_t slot_size(const tsl_worker *w) {
  return w->p->n_spin * w->most_functions * w->most_functions;
}

int xc_turns_slots(const tsl_worker *w) {
  const int64_t each = ENOUGH / (slot_size(w) * (int64_t)sizeof(double)) + 2;
  return (int)(each < MOST_EACH ? each : MOST_EACH) * w->threads;
}

tsl_err xc_turns_open(tsl_worker *w) {
  tsl_err err = TSL_OK;
  xc_turns *turns = &w->turns;
  const int64_t b = w->most_functions, size = slot_size(w);
  const int n = xc_turns_slots(w);
  TSL_TRY(tsl_alloc(n, sizeof *turns->slots, "slots", (void **)&turns->slots));
  turns->n = n;
  for (int k = 0; k < turns->n; k++) {
    xc_slot *slot = &turns->slots[k];
    slot->piece = -1;
    TSL_TRY(tsl_alloc(size, sizeof *slot->matrix, "matrix of a group", (void **)&slot->matrix));
    TSL_TRY(tsl_alloc(b, sizeof *slot->at, "places", (void **)&slot->at));
  }
  if (pthread_mutex_init(&turns->lock, NULL) != 0 || pthread_cond_init(&turns->room, NULL) != 0)
    TSL_FAIL(TSL_ERR_MEMORY, "no memory for a lock");
  turns->made = true;
done:
  return err;
}

void xc_turns_close(xc_turns *turns) {
  for (int k = 0; turns->slots != NULL && k < turns->n; k++) {
    tsl_free(turns->slots[k].matrix);
    tsl_free(turns->slots[k].at);
  }
  tsl_free(turns->slots);
  if (!turns->made) return;
  (void)pthread_mutex_destroy(&turns->lock);
  (void)pthread_cond_destroy(&turns->room);
}

void xc_turns_begin(xc_turns *turns, int64_t lo, int64_t hi) {
  turns->taken = turns->added = lo;
  turns->end = hi;
}

/* A slot of this piece (-1: free) that is done if it holds one; NULL: none. */
static xc_slot *find(const xc_turns *turns, int64_t piece) {
  for (int k = 0; k < turns->n; k++)
    if (turns->slots[k].piece == piece && (piece < 0 || turns->slots[k].done))
      return &turns->slots[k];
  return NULL;
}

xc_slot *xc_turns_take(xc_turns *turns) {
  xc_slot *slot = NULL;
  (void)pthread_mutex_lock(&turns->lock);
  while (turns->taken < turns->end && (slot = find(turns, -1)) == NULL)
    (void)pthread_cond_wait(&turns->room, &turns->lock);
  if (slot != NULL) slot->piece = turns->taken++, slot->done = false;
  (void)pthread_mutex_unlock(&turns->lock);
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

void xc_turns_add(tsl_worker *w, xc_slot *slot, const tsl_unit *units) {
  xc_turns *turns = &w->turns;
  (void)pthread_mutex_lock(&turns->lock);
  slot->done = true;
  for (xc_slot *next; !turns->adding && (next = find(turns, turns->added)) != NULL;) {
    turns->adding = true;
    (void)pthread_mutex_unlock(&turns->lock);
    const int64_t b = w->view.groups[units[w->pieces[next->piece].unit].lo[0]].functions;
    (w->fixed != NULL ? scatter_fixed : scatter)(w, next, b);
    (void)pthread_mutex_lock(&turns->lock);
    turns->adding = false;
    turns->added++;
    next->piece = -1;
    (void)pthread_cond_broadcast(&turns->room);
  }
  (void)pthread_mutex_unlock(&turns->lock);
}
