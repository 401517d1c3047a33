/* A functional of libxc on the host's threads: slices of points from the densities to weighted
 * derivatives and partial sums. */
#include "xc_gpu_host.h"

#include <string.h>

/** Where tau and its scales are, and how many scales there are. */
enum { TAU = 8, ARRAYS = 10 };

/** Scratch memory of one slice. */
typedef struct slice {
  double sigma[3][XC_SLICE], e[XC_SLICE], vrho[2][XC_SLICE], vsigma[3][XC_SLICE], vtau[2][XC_SLICE];
} slice;

static void set_sigma(const xc_host_points *k, int n_spin, int64_t lo, int64_t n, slice *s) {
  static const int pairs[3][2] = {{0, 0}, {0, 1}, {1, 1}};
  for (int c = 0; c < (n_spin == 1 ? 1 : 3); c++)
    for (int64_t p = 0; p < n; p++) {
      s->sigma[c][p] = 0;
      for (int x = 0; x < 3; x++)
        s->sigma[c][p] += k->in[(2 + 3 * pairs[c][0] + x) * k->stride + lo + p] *
                          k->in[(2 + 3 * pairs[c][1] + x) * k->stride + lo + p];
    }
}

static void set_scales(const xc_host_points *k, xc_host_kind kind, int64_t lo, int64_t n,
                       const slice *s) {
  for (int t = 0; t < kind.n_spin; t++)
    for (int64_t p = 0; p < n; p++) {
      const double w = k->weights[lo + p];
      double *out = k->out + 4 * t * k->stride + lo + p;
      out[0] = 0.5 * w * s->vrho[t][p];
      for (int x = 0; x < 3 && kind.gga; x++) {
        const double *g = k->in + (2 + x) * k->stride + lo + p;
        double scale = 2 * w * s->vsigma[2 * t][p] * g[3 * t * k->stride];
        if (kind.n_spin == 2) scale += w * s->vsigma[1][p] * g[3 * (1 - t) * k->stride];
        out[(1 + x) * k->stride] = scale;
      }
      if (kind.tau) k->out[(TAU + t) * k->stride + lo + p] = 0.25 * w * s->vtau[t][p];
    }
}

static void set_partials(const xc_host_points *k, int n_spin, int64_t lo, int64_t n,
                         const slice *s) {
  double *sums = k->partials + lo / XC_SLICE * 3;
  memset(sums, 0, 3 * sizeof *sums);
  double *amount = k->out + ARRAYS * k->stride + lo;
  for (int64_t p = 0; p < n; p++) amount[p] = k->weights[lo + p] * s->e[p], sums[0] += amount[p];
  for (int t = 0; t < n_spin; t++)
    for (int64_t p = 0; p < n; p++)
      sums[1 + t] += k->weights[lo + p] * k->in[t * k->stride + lo + p];
}

static void do_slice(const xc_evaluator *evaluator, xc_host_kind kind, const xc_host_points *k,
                     int64_t lo) {
  const int64_t n = k->n - lo < XC_SLICE ? k->n - lo : XC_SLICE;
  const int64_t end = k->ld - lo < XC_SLICE ? k->ld - lo : XC_SLICE;
  slice s;
  xc_points points = {.n = n, .e = s.e};
  for (int t = 0; t < 2; t++)
    points.rho[t] = k->in + t * k->stride + lo, points.vrho[t] = s.vrho[t];
  for (int t = 0; t < 2 && kind.tau; t++)
    points.tau[t] = k->in + (TAU + t) * k->stride + lo, points.vtau[t] = s.vtau[t];
  for (int c = 0; c < 3 && kind.gga; c++)
    points.sigma[c] = s.sigma[c], points.vsigma[c] = s.vsigma[c];
  if (kind.gga) set_sigma(k, kind.n_spin, lo, n, &s);
  xc_evaluate(evaluator, &points);
  set_scales(k, kind, lo, n, &s);
  set_partials(k, kind.n_spin, lo, n, &s);
  for (int a = 0; a <= ARRAYS; a++)
    for (int64_t p = n; p < end; p++) k->out[a * k->stride + lo + p] = 0;
}

void xc_host_functional(const xc_evaluator *evaluator, xc_host_kind kind, int threads,
                        const xc_host_points *pieces, int64_t n) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int64_t k = 0; k < n; k++)
    for (int64_t lo = 0; lo < pieces[k].n; lo += XC_SLICE)
      do_slice(evaluator, kind, &pieces[k], lo);
}
