/* Quartets of a unit dealt to threads; on sockets they are kept as far as the room goes. */
#include "xc_batches_own.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ memory */

tsl_err xc_batches_quartets_open(xc_batches *b, double room) {
  tsl_err err = TSL_OK;
  const xc_params *p = b->p;
  const double rows = fmin(b->rows_most, 8 * (double)p->n_fit * (double)p->n_packed);
  for (int k = 0; k < b->n_operators && b->least < XC_BATCHES_NONE; k++)
    if (b->operators[k].weight != 0 && b->operators[k].weight != 1)
      TSL_TRY(tsl_alloc(p->n_spin * p->n * p->n, sizeof(double), "densities by their weight",
                        (void **)&b->weighted[k]));
  if (!xc_has_quartets(p) || p->quartet_cache == 0 || b->least > 0) goto done;
  TSL_TRY(tsl_alloc(b->n_operators * p->n_pairs, sizeof *b->quartets, "quartets",
                    (void **)&b->quartets));
  b->quartets_most = fmin(room - rows, (double)p->quartet_cache);
done:
  return err;
}

void xc_batches_quartets_close(xc_batches *b) {
  for (int64_t k = 0; b->quartets != NULL && k < b->n_operators * b->p->n_pairs; k++)
    free(b->quartets[k].values);
  TSL_FREE_ALL(b->quartets, b->weighted[0], b->weighted[1]);
}

double xc_batches_quartets_kept(const xc_batches *b, bool *anew) {
  *anew = b->quartets_anew;
  return b->quartets_bytes;
}

static double pair_bytes(const xc_batches *b, int64_t pair) {
  return 8 * xc_fock_cost(&b->view.orbital, &b->view.pairs, b->p->threshold, pair, pair + 1);
}

/* Pairs whose units have gone to another rank give their integrals back. */
static void drop_idle(xc_batches *b) {
  for (int64_t k = 0; k < b->n_operators * b->p->n_pairs; k++) {
    xc_kept_pair *kept = &b->quartets[k];
    if (kept->values == NULL || kept->phase >= b->phase - 2) continue;
    b->quartets_bytes -= pair_bytes(b, k % b->p->n_pairs);
    free(kept->values);
    *kept = (xc_kept_pair){.values = NULL};
  }
}

/* Memory for the integrals of a bra pair, if they may be kept. Not zeroed: the thread that fills it
 * touches it first. */
static void keep_pair(xc_batches *b, int64_t pair, xc_kept_pair *kept) {
  kept->phase = b->phase;
  if (kept->values != NULL) return;
  const double bytes = pair_bytes(b, pair);
  if (bytes == 0) return;
  if (b->quartets_bytes + bytes > b->quartets_most && b->quartets_dropped != b->phase) {
    drop_idle(b);
    b->quartets_dropped = b->phase;
  }
  if (b->quartets_bytes + bytes <= b->quartets_most) kept->values = malloc((size_t)bytes);
  if (kept->values != NULL)
    b->quartets_bytes += bytes;
  else
    b->quartets_anew = true;
}

/* -------------------------------------------------------------------- sums */

/* What one bra pair has added goes to the fixed sums: J anywhere, K in the rows of its shells. */
static void flush_pair(const xc_batches *b, xc_batch_thread *t, int64_t pair) {
  const int64_t n = b->p->n;
  const xc_shell_pair *bra = &b->view.pairs.list[pair];
  const int64_t shells[2] = {bra->a, bra->b};
  bool good = true;
  if (t->coulomb != NULL)
    good = xc_fixed_flush(n * n, t->coulomb, xc_fixed_scale(b->problem, XC_FIXED_COULOMB),
                          t->fixed_coulomb);
  for (int s = 0; s < b->p->n_spin && t->exchange[s] != NULL; s++)
    for (int k = 0; k < 2; k++) {
      const xc_shell *shell = &b->view.orbital.shells[shells[k]];
      const int64_t at = shell->first * n;
      good = xc_fixed_flush(xc_shell_size(shell) * n, t->exchange[s] + at,
                            xc_fixed_scale(b->problem, XC_FIXED_EXCHANGE),
                            t->fixed_exchange[s] + at) &&
             good;
    }
  if (!good) t->bad = true;
}

void xc_batches_quartets_begin(xc_batches *b) {
  const xc_params *p = b->p;
  const int64_t nn = p->n * p->n;
  xc_fock all = {.basis = &b->view.orbital, .total = p->fitted ? NULL : xc_asked_total(b->problem)};
  for (int s = 0; s < p->n_spin && xc_functional_exact(&p->functional); s++)
    all.spin[s] = xc_asked_spin(b->problem, s);
  xc_fock_largest(&all, b->largest);
  b->most = all.most;
  for (int k = 0; k < b->n_operators; k++)
    for (int64_t i = 0; b->weighted[k] != NULL && i < p->n_spin * nn; i++)
      b->weighted[k][i] = b->operators[k].weight * xc_asked_spin(b->problem, 0)[i];
}

void xc_batches_trial(xc_batches *b) {
  for (int64_t k = 0; b->quartets != NULL && k < b->p->n_shells * b->p->n_shells; k++)
    b->largest[k] = b->most;
}

/* A bra pair of an operator. */
static void run_pair(xc_batches *b, xc_batch_thread *t, int which, int64_t pair) {
  xc_fock fock = xc_batches_task(b, t, which);
  xc_kept_pair *kept = b->quartets != NULL ? &b->quartets[which * b->p->n_pairs + pair] : NULL;
  double *values = kept != NULL ? kept->values : NULL;
  for (int s = 0; s < b->p->n_spin && b->weighted[which] != NULL; s++)
    fock.spin[s] = b->weighted[which] + s * b->p->n * b->p->n;
  xc_fock_pair(t->quartets[which], &fock, pair, values, values != NULL && kept->filled);
  if (values != NULL) kept->filled = true;
}

/* Pair k of the unit goes to thread k modulo threads: neighbours in the list cost the same. */
void xc_batches_fock(xc_batches *b, int64_t lo, int64_t hi) {
  for (int k = 0; k < b->n_operators && b->quartets != NULL; k++)
    for (int64_t pair = lo; pair < hi; pair++)
      keep_pair(b, pair, &b->quartets[k * b->p->n_pairs + pair]);
#pragma omp parallel num_threads(b->threads)
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    xc_batch_thread *t = &b->thread[me];
    for (int64_t pair = lo + me; pair < hi; pair += all) {
      for (int k = 0; k < b->n_operators; k++) run_pair(b, t, k, pair);
      if (b->p->reproducible) flush_pair(b, t, pair);
    }
  }
}
