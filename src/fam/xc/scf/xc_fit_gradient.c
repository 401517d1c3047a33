/* Derivatives of (P|mn) and (P|Q), contracted with weights shell by shell. */
#include "xc_fit_gradient.h"

#include "xc_gradient_blocks.h"

#include <math.h>

enum { MOST = XC_GRADIENT_MOST };

/* Rows of a block of weights one after another. @return the largest */
static double gather(int n_rows, int64_t n_columns, const double *from, int64_t ld, double *to) {
  double most = 0;
  for (int i = 0; i < n_rows; i++)
    for (int64_t j = 0; j < n_columns; j++) {
      *to = from[i * ld + j];
      most = fmax(most, fabs(*to++));
    }
  return most;
}

void xc_fit_gradient(xc_engine *triples, const xc_basis *orbital, const xc_basis *fitting,
                     const xc_pairs *pairs, int64_t shell, const double *weights, double bound,
                     double threshold, int64_t first, int64_t step, double (*gradient)[3]) {
  const xc_shell *p = &fitting->shells[shell];
  const int rows = xc_shell_size(p);
  double block[MOST * MOST * MOST];
  for (int64_t k = first; k < pairs->n; k += step) {
    const xc_shell_pair *pair = &pairs->list[k];
    const xc_shell *const shells[3] = {p, &orbital->shells[pair->a], &orbital->shells[pair->b]};
    const int64_t columns = (int64_t)xc_shell_size(shells[1]) * xc_shell_size(shells[2]);
    const double *blocks[6];
    if (xc_gradient_rigid(3, shells)) continue;
    const double most = gather(rows, columns, weights + pair->packed, pairs->n_packed, block);
    if (most * bound * pair->bound < threshold) continue;
    if (xc_engine_triple_gradient(triples, shell, pair->a, pair->b, blocks))
      xc_gradient_add(3, shells, rows * columns, block, blocks, gradient);
  }
}

void xc_fit_metric_gradient(xc_engine *doubles, const xc_basis *fitting, int64_t shell,
                            const double *weights, double (*gradient)[3]) {
  const xc_shell *p = &fitting->shells[shell];
  const int rows = xc_shell_size(p);
  double block[MOST * MOST];
  for (int64_t k = 0; k < shell; k++) {
    const xc_shell *const shells[2] = {p, &fitting->shells[k]};
    const int columns = xc_shell_size(shells[1]);
    const double *blocks[3];
    if (xc_gradient_rigid(2, shells)) continue;
    (void)gather(rows, columns, weights + shells[1]->first, fitting->n, block);
    if (xc_engine_double_gradient(doubles, shell, k, blocks))
      xc_gradient_add(2, shells, (int64_t)rows * columns, block, blocks, gradient);
  }
}
