/* The loop over quartets that contracts their derivatives with two densities of one spin. */
#include "xc_fock_gradient.h"

#include "xc_gradient_blocks.h"

#include <math.h>

enum { BLOCK = XC_GRADIENT_MOST * XC_GRADIENT_MOST * XC_GRADIENT_MOST * XC_GRADIENT_MOST };

/* A quartet, its functions and how often it occurs. */
typedef struct quartet {
  const xc_shell *shell[4];
  int64_t at[4];
  int size[4];
  double times;
} quartet;

/* times G, the mean of both orders of the ket. */
static void set_exchange(const quartet *q, int64_t n, const double *d, double share, double *g) {
  const double factor = -0.25 * q->times * share;
  for (int i = 0; i < q->size[0]; i++)
    for (int j = 0; j < q->size[1]; j++) {
      const double *di = d + (q->at[0] + i) * n, *dj = d + (q->at[1] + j) * n;
      for (int k = 0; k < q->size[2]; k++) {
        const double dik = factor * di[q->at[2] + k], djk = factor * dj[q->at[2] + k];
        for (int l = 0; l < q->size[3]; l++)
          *g++ += dik * dj[q->at[3] + l] + djk * di[q->at[3] + l];
      }
    }
}

static void do_quartet(xc_engine *engine, const xc_fock *fock, double share,
                       const xc_shell_pair *bra, const xc_shell_pair *ket, double most,
                       double (*gradient)[3]) {
  const int64_t shells[4] = {bra->a, bra->b, ket->a, ket->b}, n = fock->basis->n;
  const double *blocks[9];
  double g[BLOCK];
  quartet q = {.times =
                   (bra->a == bra->b ? 1 : 2) * (ket->a == ket->b ? 1 : 2) * (bra == ket ? 1 : 2)};
  int64_t count = 1;
  for (int k = 0; k < 4; k++) {
    q.shell[k] = &fock->basis->shells[shells[k]];
    q.at[k] = q.shell[k]->first;
    q.size[k] = xc_shell_size(q.shell[k]);
    count *= q.size[k];
  }
  if (xc_gradient_rigid(4, q.shell)) return;
  xc_engine_precision(engine, 1e-3 * fock->threshold / most);
  if (!xc_engine_quartet_gradient(engine, shells[0], shells[1], shells[2], shells[3], blocks))
    return;
  for (int64_t k = 0; k < count; k++) g[k] = 0;
  for (int s = 0; s < 2; s++)
    if (fock->spin[s] != NULL)
      set_exchange(&q, n, fock->spin[s], fock->spin[1] == NULL ? 2 * share : share, g);
  xc_gradient_add(4, q.shell, count, g, blocks, gradient);
}

/* Largest product of two density elements that meets the quartet. */
static double product_bound(const xc_fock *fock, const xc_shell_pair *p, const xc_shell_pair *q) {
  const int64_t n = fock->basis->n_shells;
  const double *row_a = fock->largest + p->a * n, *row_b = fock->largest + p->b * n;
  return fmax(row_a[q->a] * row_b[q->b], row_a[q->b] * row_b[q->a]);
}

void xc_fock_gradient(xc_engine *quartets, const xc_fock *fock, double share, int64_t lo,
                      int64_t hi, double (*gradient)[3]) {
  const xc_shell_pair *list = fock->pairs->list;
  const double most = fock->most;
  for (int64_t p = lo; p < hi; p++)
    for (int64_t q = 0; q <= p; q++) {
      const double bound = list[p].bound * list[q].bound;
      if (bound * most * most < fock->threshold) break; /* and so are all that follow */
      if (xc_fock_leaves(fock, &list[p], &list[q])) continue;
      const double product = product_bound(fock, &list[p], &list[q]);
      if (bound * product >= fock->threshold)
        do_quartet(quartets, fock, share, &list[p], &list[q], product, gradient);
    }
}
