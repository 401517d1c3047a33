/* Means, variances and covariance of the points of all sets, as scipy's seuclidean and mahalanobis
 * take them: divided by n - 1. */
#include "tri_family.h"

#include <float.h>
#include <math.h>

/** Largest covariance, so that it and its factor stay modest. */
enum { MOST_D = 4096 };

void tri_spread_clear(tri_spread *s) {
  TSL_FREE_ALL(s->mean, s->factor);
  *s = (tri_spread){0};
}

static const double *row_of(const tri_preparing *c, int64_t i) {
  return c->points->table.values + i * c->points->table.columns;
}

static void find_mean(const tri_preparing *c, double *mean) {
  const int64_t n = c->points->table.n, d = c->p->d;
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < d; k++) mean[k] += row_of(c, i)[k] / (double)n;
}

/** A variance must be more than what rounding leaves of 0, and a number. */
static tsl_err check_variance(const tri_preparing *c, int64_t k, double mean, double variance) {
  tsl_err err = TSL_OK;
  if (variance > DBL_MAX)
    TSL_DECK_FAIL(c->deck, c->path, "the variance of coordinate %lld (from 0) overflows fp64",
                  (long long)k);
  if (!(sqrt(variance) > 4 * DBL_EPSILON * fabs(mean)))
    TSL_DECK_FAIL(c->deck, c->path,
                  "coordinate %lld (from 0) is the same for all points, and has no "
                  "variance to divide by",
                  (long long)k);
done:
  return err;
}

/** factor[k]: 1 / root of the variance. */
static tsl_err scale(const tri_preparing *c, const tsl_reals *given, tri_spread *s) {
  tsl_err err = TSL_OK;
  const int64_t n = c->points->table.n, d = c->p->d;
  if (given->n > 0 && (int64_t)given->n != d)
    TSL_DECK_FAIL(c->deck, "tri.function.variances", "%llu variances for points of %lld dimensions",
                  (unsigned long long)given->n, (long long)d);
  for (int64_t i = 0; i < n && given->n == 0; i++)
    for (int64_t k = 0; k < d; k++) {
      const double t = row_of(c, i)[k] - s->mean[k];
      s->factor[k] += t * t / (double)(n - 1);
    }
  for (int64_t k = 0; k < d; k++) {
    const double variance = given->n > 0 ? given->values[k] : s->factor[k];
    TSL_TRY(check_variance(c, k, s->mean[k], variance));
    s->factor[k] = 1 / sqrt(variance);
  }
done:
  return err;
}

/** Lower triangle of the covariance. */
static void find_covariance(const tri_preparing *c, const double *mean, double *t, double *a) {
  const int64_t n = c->points->table.n, d = c->p->d;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < d; k++) t[k] = row_of(c, i)[k] - mean[k];
    for (int64_t r = 0; r < d; r++)
      for (int64_t k = 0; k <= r; k++) a[r * d + k] += t[r] * t[k] / (double)(n - 1);
  }
}

/** a = L L^T in place. @return whether a is positive definite */
static bool factorise(int64_t d, double *a) {
  for (int64_t r = 0; r < d; r++) {
    const double whole = a[r * d + r];
    for (int64_t k = 0; k <= r; k++) {
      double sum = a[r * d + k];
      for (int64_t m = 0; m < k; m++) sum -= a[r * d + m] * a[k * d + m];
      a[r * d + k] = k < r ? sum / a[k * d + k] : sum;
    }
    if (!(a[r * d + r] > 1e-12 * whole)) return false; /* what rounding leaves of 0 */
    a[r * d + r] = sqrt(a[r * d + r]);
  }
  return true;
}

/** The inverse of a lower triangle, in place, column by column from the last. */
static void invert(int64_t d, double *a) {
  for (int64_t k = d - 1; k >= 0; k--) {
    a[k * d + k] = 1 / a[k * d + k];
    for (int64_t r = d - 1; r > k; r--) {
      double sum = 0;
      for (int64_t m = k + 1; m <= r; m++) sum += a[r * d + m] * a[m * d + k];
      a[r * d + k] = -sum * a[k * d + k];
    }
  }
}

/** factor: L^-1 of the covariance L L^T. */
static tsl_err whiten(const tri_preparing *c, tri_spread *s) {
  tsl_err err = TSL_OK;
  const int64_t d = c->p->d;
  double *t = NULL;
  TSL_TRY(tsl_alloc(d, sizeof *t, "one point", (void **)&t));
  find_covariance(c, s->mean, t, s->factor);
  for (int64_t k = 0; k < d && c->points->table.n > 1; k++)
    TSL_TRY(check_variance(c, k, s->mean[k], s->factor[k * d + k]));
  if (!factorise(d, s->factor))
    TSL_DECK_FAIL(c->deck, c->path,
                  "the points' covariance has no inverse: %lld points in %lld dimensions lie in a "
                  "space of fewer, which has no Mahalanobis distance",
                  (long long)c->points->table.n, (long long)d);
  invert(d, s->factor);
done:
  tsl_free(t);
  return err;
}

tsl_err tri_spread_create(const tri_preparing *c, const tsl_reals *variances, tri_spread *s) {
  tsl_err err = TSL_OK;
  const tri_prepare how = tri_abouts[c->p->function].prepare;
  const int64_t d = c->p->d;
  if ((how != TRI_SCALED && how != TRI_WHITENED) || c->points->table.n == 0) goto done;
  if (how == TRI_WHITENED && d > MOST_D)
    TSL_DECK_FAIL(c->deck, "tri.function",
                  "mahalanobis takes up to %d dimensions; the points have %lld", MOST_D,
                  (long long)d);
  TSL_TRY(tsl_alloc(d, sizeof *s->mean, "mean of the points", (void **)&s->mean));
  TSL_TRY(tsl_alloc(how == TRI_SCALED ? d : d * d, sizeof *s->factor, "covariance of the points",
                    (void **)&s->factor));
  find_mean(c, s->mean);
  if (how == TRI_SCALED)
    TSL_TRY(scale(c, variances, s));
  else
    TSL_TRY(whiten(c, s));
done:
  return err;
}
