/* Fermi level by bisection; occupations fall with their level, so there is one. */
#include "xc_occupation.h"

#include <math.h>

enum { MOST_BISECTIONS = 200 };

static double fraction_of(xc_smearing kind, double x) {
  return kind == XC_SMEARING_FERMI ? 1 / (1 + exp(x)) : 0.5 * erfc(x);
}

static double part_of_entropy(xc_smearing kind, double x, double f) {
  if (kind == XC_SMEARING_GAUSSIAN) return exp(-x * x) / (2 * sqrt(M_PI));
  return f > 0 && f < 1 ? -f * log(f) - (1 - f) * log1p(-f) : 0;
}

static double occupy_all(xc_smearing kind, double width, double fermi, int64_t m,
                         const double *levels, double *occupations) {
  double sum = 0;
  for (int64_t k = 0; k < m; k++)
    sum += occupations[k] = fraction_of(kind, (levels[k] - fermi) / width);
  return sum;
}

double xc_occupy(xc_smearing kind, double width, int64_t m, const double *levels, int64_t electrons,
                 double *occupations, double *fermi) {
  double entropy = 0, low, high;
  *fermi = 0;
  if (kind == XC_SMEARING_NONE || electrons == 0 || electrons == m) {
    for (int64_t k = 0; k < m; k++) occupations[k] = k < electrons;
    return 0;
  }
  low = levels[0] - 50 * width, high = levels[m - 1] + 50 * width;
  for (int k = 0; k < MOST_BISECTIONS; k++) {
    *fermi = 0.5 * (low + high);
    if (*fermi <= low || *fermi >= high) break;
    if (occupy_all(kind, width, *fermi, m, levels, occupations) < (double)electrons)
      low = *fermi;
    else
      high = *fermi;
  }
  (void)occupy_all(kind, width, *fermi, m, levels, occupations);
  for (int64_t k = 0; k < m; k++)
    entropy += part_of_entropy(kind, (levels[k] - *fermi) / width, occupations[k]);
  return entropy;
}
