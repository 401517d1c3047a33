/* Metric (P|Q), integrals (P|mn) of ranges of fitting shells, and packing and unpacking of
 * symmetric matrices. */
#include "xc_fit.h"

#include <string.h>

int64_t xc_fit_functions(const xc_basis *fitting, int64_t lo, int64_t hi) {
  int64_t n = 0;
  for (int64_t k = lo; k < hi; k++) n += xc_shell_size(&fitting->shells[k]);
  return n;
}

void xc_fit_metric(xc_engine *doubles, const xc_basis *fitting, int64_t lo, int64_t hi,
                   double *metric) {
  for (int64_t p = lo; p < hi; p++)
    for (int64_t q = p; q < fitting->n_shells; q++) {
      const xc_shell *a = &fitting->shells[p], *b = &fitting->shells[q];
      const double *v = xc_engine_double(doubles, q, p);
      double *to = metric + a->first * fitting->n + b->first;
      for (int j = 0; j < xc_shell_size(b); j++)
        for (int i = 0; i < xc_shell_size(a); i++) to[i * fitting->n + j] = v != NULL ? *v++ : 0;
    }
}

/* Block of one triple to its rows. */
static void store_triple(const double *v, int n_rows, int64_t n_block, int64_t n_packed,
                         double *rows) {
  for (int i = 0; i < n_rows; i++) {
    double *to = rows + i * n_packed;
    if (v == NULL)
      memset(to, 0, (size_t)n_block * sizeof *to);
    else
      memcpy(to, v + i * n_block, (size_t)n_block * sizeof *to);
  }
}

void xc_fit_triples(xc_engine *triples, const xc_basis *orbital, const xc_basis *fitting,
                    const xc_pairs *pairs, int64_t shell, int64_t lo, int64_t hi, double *rows) {
  const int n_rows = xc_shell_size(&fitting->shells[shell]);
  for (const xc_shell_pair *pair = pairs->list + lo; pair < pairs->list + hi; pair++) {
    const int64_t n_block = (int64_t)xc_shell_size(&orbital->shells[pair->a]) *
                            xc_shell_size(&orbital->shells[pair->b]);
    store_triple(xc_engine_triple(triples, shell, pair->a, pair->b), n_rows, n_block,
                 pairs->n_packed, rows + pair->packed);
  }
}

void xc_fit_pack(const xc_basis *orbital, const xc_pairs *pairs, int64_t lo, int64_t hi,
                 const double *density, double *packed) {
  for (const xc_shell_pair *pair = pairs->list + lo; pair < pairs->list + hi; pair++) {
    const xc_shell *a = &orbital->shells[pair->a], *b = &orbital->shells[pair->b];
    const double times = a == b ? 1 : 2;
    double *to = packed + pair->packed;
    for (int i = 0; i < xc_shell_size(a); i++)
      for (int j = 0; j < xc_shell_size(b); j++)
        *to++ = times * density[(a->first + i) * orbital->n + b->first + j];
  }
}

void xc_fit_unpack(const xc_basis *orbital, const xc_pairs *pairs, int64_t lo, int64_t hi,
                   const double *packed, double *coulomb) {
  const int64_t n = orbital->n;
  for (const xc_shell_pair *pair = pairs->list + lo; pair < pairs->list + hi; pair++) {
    const xc_shell *a = &orbital->shells[pair->a], *b = &orbital->shells[pair->b];
    const double *from = packed + pair->packed;
    for (int i = 0; i < xc_shell_size(a); i++)
      for (int j = 0; j < xc_shell_size(b); j++) {
        const double value = *from++;
        coulomb[(a->first + i) * n + b->first + j] = value;
        coulomb[(b->first + j) * n + a->first + i] = value;
      }
  }
}
