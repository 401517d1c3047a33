/**
 * @file tri_estimate.c
 * Correlation functions of data (kind 0) and random points (kind 1), and their errors.
 *
 *   natural       DD/RR - 1                       Peebles and Hauser 1974, ApJS 28, 19
 *   landy_szalay  (DD - 2 DR + RR) / RR           Landy and Szalay 1993, ApJ 412, 64
 *
 * each count divided by the number of pairs of its kinds, weights considered. Errors are those of
 * resampled regions, each taken m_r times: a pair of regions r and s then counts m_r m_s times, one
 * within a region m_r times; so do the numbers of pairs. Jackknife leaves each region out once:
 * covariance (R - 1)/R sum (xi_r - mean)(xi_r - mean)^T. Bootstrap draws R regions of R with
 * replacement: covariance 1/(B - 1) sum over B draws. Norberg et al. 2009, MNRAS 396, 19.
 */
#include "tri_marks.h"

#include <math.h>
#include <string.h>

enum { DD, DR, RR };

typedef struct estimate {
  const tri_params *p;
  const tri_own *own;
  int64_t cells, regions;
  double *counts; /**< [3][regions][regions][cells], in units of pairs */
  double *taken;  /**< [regions] how often each one is taken */
  double *sums;   /**< [3][cells] */
} estimate;

/** How often a pair of regions counts. */
static double times(const estimate *e, int64_t r, int64_t s) {
  return r == s ? e->taken[r] : e->taken[r] * e->taken[s];
}

/** Pairs of two kinds, or of one, in all regions as often as they are taken. */
static double pairs_of(const estimate *e, int a, int b) {
  const int64_t n = e->regions;
  double pairs = 0;
  for (int64_t r = 0; r < n; r++)
    for (int64_t s = a == b ? r : 0; s < n; s++) {
      const tri_total *x = &e->own->totals[(a * n + r) * 2], *y = &e->own->totals[(b * n + s) * 2];
      const double within = (x->weight * x->weight - x->square) / 2;
      pairs += times(e, r, s) * (a == b && r == s ? within : x->weight * y->weight);
    }
  return pairs;
}

/** The estimate with regions as they are taken, NaN where there are no random pairs. */
static void evaluate(const estimate *e, double *xi) {
  const int64_t n = e->regions;
  const double norm[3] = {pairs_of(e, 0, 0), pairs_of(e, 0, 1), pairs_of(e, 1, 1)};
  memset(e->sums, 0, (size_t)(3 * e->cells) * sizeof *e->sums);
  for (int k = 0; k < 3; k++)
    for (int64_t r = 0; r < n; r++)
      for (int64_t s = 0; s < n; s++) {
        const double *from = e->counts + ((k * n + r) * n + s) * e->cells;
        const double factor = times(e, r, s) / norm[k];
        for (int64_t c = 0; c < e->cells && factor != 0; c++)
          e->sums[k * e->cells + c] += factor * from[c];
      }
  for (int64_t c = 0; c < e->cells; c++) {
    const double dd = e->sums[c], dr = e->sums[e->cells + c], rr = e->sums[2 * e->cells + c];
    xi[c] = !(rr > 0)                          ? NAN
            : e->own->estimator == TRI_NATURAL ? dd / rr - 1
                                               : (dd - 2 * dr + rr) / rr;
  }
}

/* -------------------------------------------------------------- resampling */

static uint64_t next_random(uint64_t *state) { /* splitmix64, Steele, Lea and Flood 2014 */
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/** Take the regions for sample number b. */
static void take(const estimate *e, int64_t b, uint64_t *state) {
  const bool jackknife = e->own->resampling == TRI_JACKKNIFE;
  for (int64_t r = 0; r < e->regions; r++) e->taken[r] = jackknife && r != b;
  for (int64_t k = 0; k < e->regions && !jackknife; k++)
    e->taken[next_random(state) % (uint64_t)e->regions] += 1;
}

/** Covariance of the samples; samples [n][cells] lose their mean. */
static void covary(const estimate *e, int64_t n, double *samples, double *covariance,
                   double *error) {
  const double factor =
      e->own->resampling == TRI_JACKKNIFE ? (double)(n - 1) / (double)n : 1 / (double)(n - 1);
  const int64_t cells = e->cells;
  for (int64_t c = 0; c < cells; c++) {
    double mean = 0;
    for (int64_t b = 0; b < n; b++) mean += samples[b * cells + c] / (double)n;
    for (int64_t b = 0; b < n; b++) samples[b * cells + c] -= mean;
  }
  for (int64_t c = 0; c < cells; c++)
    for (int64_t f = 0; f < cells; f++) {
      double sum = 0;
      for (int64_t b = 0; b < n; b++) sum += samples[b * cells + c] * samples[b * cells + f];
      covariance[c * cells + f] = factor * sum;
      if (c == f) error[c] = sqrt(factor * sum);
    }
}

static tsl_err resample(const estimate *e, double *covariance, double *error) {
  tsl_err err = TSL_OK;
  const int64_t n = e->own->resampling == TRI_JACKKNIFE ? e->regions : e->own->resamples;
  uint64_t state = 1;
  double *samples = NULL;
  TSL_TRY(tsl_alloc(n * e->cells, sizeof *samples, "samples", (void **)&samples));
  for (int64_t b = 0; b < n; b++) {
    take(e, b, &state);
    evaluate(e, samples + b * e->cells);
  }
  covary(e, n, samples, covariance, error);
done:
  tsl_free(samples);
  return err;
}

/** Bins without random pairs have no estimate, in all samples: 0, so that files hold numbers. */
static void no_numbers(double *values, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    if (!isfinite(values[k])) values[k] = 0;
}

static tsl_err set_counts(const tsl_problem *problem, estimate *e) {
  tsl_err err = TSL_OK;
  const int64_t all = tri_cells_of(e->p);
  TSL_TRY(tsl_alloc(all, sizeof *e->counts, "counts of regions", (void **)&e->counts));
  TSL_TRY(tsl_alloc(e->regions, sizeof *e->taken, "regions", (void **)&e->taken));
  TSL_TRY(tsl_alloc(3 * e->cells, sizeof *e->sums, "sums", (void **)&e->sums));
  for (int64_t c = 0; c < all; c++) e->counts[c] = tri_weighted_count(problem, c);
  for (int64_t r = 0; r < e->regions; r++) e->taken[r] = 1;
done:
  return err;
}

tsl_err tri_estimate(const tsl_problem *problem, double *xi, double *covariance, double *error) {
  tsl_err err = TSL_OK;
  const tri_own *own = problem->own;
  estimate e = {.p = tri_params_of(problem), .own = own, .regions = own->regions};
  e.cells = tri_cells_each(e.p);
  TSL_TRY(set_counts(problem, &e));
  evaluate(&e, xi);
  no_numbers(xi, e.cells);
  if (covariance == NULL) goto done;
  TSL_TRY(resample(&e, covariance, error));
  no_numbers(covariance, e.cells * e.cells);
  no_numbers(error, e.cells);
done:
  TSL_FREE_ALL(e.counts, e.taken, e.sums);
  return err;
}
