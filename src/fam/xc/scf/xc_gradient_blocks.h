/** @file xc_gradient_blocks.h  Blocks of derivatives of integrals times weights, by atom. */
#pragma once

#include "xc_molecule.h"

/** Functions of the largest shell. */
enum { XC_GRADIENT_MOST = (XC_MAX_L + 1) * (XC_MAX_L + 2) / 2 };

/** Do n shells belong to one atom? Nothing changes when they move together. */
static inline bool xc_gradient_rigid(int n, const xc_shell *const *shells) {
  for (int k = 1; k < n; k++)
    if (shells[k]->atom != shells[0]->atom) return false;
  return true;
}

/**
 * gradient += weights . blocks for n shells; the last one's is minus the sum of the others'.
 * @param[in] blocks  [3 (n - 1)], each of count elements
 */
static inline void xc_gradient_add(int n, const xc_shell *const *shells, int64_t count,
                                   const double *weights, const double *const *blocks,
                                   double (*gradient)[3]) {
  for (int k = 0; k < n - 1; k++)
    for (int x = 0; x < 3; x++) {
      const double *block = blocks[3 * k + x];
      double sum = 0;
      for (int64_t i = 0; i < count; i++) sum += weights[i] * block[i];
      gradient[shells[k]->atom][x] += sum;
      gradient[shells[n - 1]->atom][x] -= sum;
    }
}
