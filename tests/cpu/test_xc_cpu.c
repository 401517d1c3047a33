/**
 * @file test_xc_cpu.c
 * Exchange-correlation builds on a socket: every SIMD level, way of sharing, number of threads and
 * cache gives the scalar build's sums, and those are right: electrons of the guess, and the change
 * of the energy with the density against the matrix. (P|mn) kept and computed anew: same bits.
 */
#include "test_xc_cpu.h"

#include "bench_xc_molecules.h"
#include "cases.h"
#include "levels.h"
#include "xc_cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static xc_params *params(bench_xc_molecule *m) {
  return m->problem.params;
}

/** Builds of a worker; the last one's sums stay in the fields. */
static void build(bench_xc_molecule *m, int threads, bool scalar, int times) {
  const tsl_device device = {.kind = TSL_CPU, .threads = threads};
  tsl_worker *w = NULL;
  tsl_part *parts = NULL;
  must(tsl_alloc(params(m)->n_groups, sizeof *parts, "parts", (void **)&parts), "memory");
  must(xc_backend_cpu.open(&m->problem, &device, &w), "open");
  if (scalar) {
    w->loops = &xc_loops_plain;
    xc_evaluator_destroy(&w->evaluator);
    must(xc_evaluator_create(&w->p->functional, w->p->n_spin, 1, &w->evaluator), "functional");
  }
  for (int k = 0; k < times; k++) {
    must(xc_backend_cpu.begin(w, 2 * k), "begin");
    must(xc_backend_cpu.run(w, m->groups, w->p->n_groups, parts), "run");
    must(xc_backend_cpu.collect(w, &m->problem), "collect");
  }
  xc_backend_cpu.close(&w);
  tsl_free(parts);
}

static double *matrix_of(const bench_xc_molecule *m) {
  return m->problem.fields[XC_SUM_XC].data;
}

static double sum_of(const bench_xc_molecule *m, int which) {
  return ((const double *)m->problem.fields[XC_SUM_INTEGRALS].data)[which];
}

/** dE / dt of the density (1 + t) D is the trace of V with the whole density. */
static void check_derivative(bench_xc_molecule *m) {
  const double step = 1e-4;
  const int64_t n = params(m)->n;
  double *density = m->problem.fields[XC_IN_DENSITIES].data, trace = 0, energy[2];
  for (int64_t k = 0; k < n * n; k++) trace += 2 * density[k] * matrix_of(m)[k];
  for (int side = 0; side < 2; side++) {
    const double factor = side == 0 ? 1 + step : 1 - step;
    for (int64_t k = 0; k < n * n; k++) density[k] *= factor;
    build(m, 1, true, 1);
    energy[side] = sum_of(m, XC_INTEGRAL_ENERGY);
    for (int64_t k = 0; k < n * n; k++) density[k] /= factor;
  }
  const double slope = (energy[0] - energy[1]) / (2 * step);
  check(fabs(slope - trace) < 1e-6, "trace of V and D", trace, slope);
}

static void compare(bench_xc_molecule *m, const double *matrix, const double *sums) {
  const int64_t n = params(m)->n;
  double most = 0;
  for (int64_t k = 0; k < n * n; k++) most = fmax(most, fabs(matrix_of(m)[k] - matrix[k]));
  check(most < 1e-12, "matrix, largest difference", most, 0);
  for (int k = 0; k < XC_N_INTEGRALS; k++)
    check(fabs(sum_of(m, k) - sums[k]) < 1e-11, "integral", sum_of(m, k), sums[k]);
}

static void check_groups(void) {
  bench_xc_molecule m;
  must(bench_xc_make("water", &m), "water");
  const int64_t n = params(&m)->n;
  double *matrix = NULL, sums[XC_N_INTEGRALS];
  must(tsl_alloc(n * n, sizeof *matrix, "matrix", (void **)&matrix), "memory");
  build(&m, 1, true, 1);
  check(fabs(sum_of(&m, XC_INTEGRAL_ALPHA) - 10) < 1e-4, "electrons", sum_of(&m, XC_INTEGRAL_ALPHA),
        10);
  check_derivative(&m);
  build(&m, 1, true, 1);
  memcpy(matrix, matrix_of(&m), (size_t)(n * n) * sizeof *matrix);
  memcpy(sums, m.problem.fields[XC_SUM_INTEGRALS].data, sizeof sums);
  const int least = lowest_level();
  int64_t number = 0;
  for (int level = tsl_cpu_level(); level >= least; level--)
    for (int parallel = 0; parallel < XC_N_PARALLEL; parallel++)
      for (int threads = 1; threads <= 3; threads++)
        for (int cache = 0; cache < 3; cache++) { /* none, a part, all */
          if (!case_is_mine(number++)) continue;
          const char text[2] = {(char)('0' + level), 0};
          (void)setenv("TSL_SIMD", text, 1);
          params(&m)->parallel = parallel;
          params(&m)->cache = cache == 0 ? 0 : (int64_t)1 << (cache == 1 ? 22 : 30);
          build(&m, threads, false, 2);
          compare(&m, matrix, sums);
        }
  (void)unsetenv("TSL_SIMD");
  tsl_free(matrix);
  bench_xc_clear(&m);
}

/** gamma and J of all fitting shells in two units, two iterations. */
static void fit(bench_xc_molecule *m, int64_t keep, double *gamma, double *coulomb) {
  const int64_t middle = params(m)->n_fit_shells / 3, n = params(m)->n;
  const tsl_device device = {.kind = TSL_CPU, .threads = 2};
  const tsl_unit units[2] = {
      {.kind = XC_UNIT_FIT, .hi = {middle, 1, 1}},
      {.kind = XC_UNIT_FIT, .lo = {middle}, .hi = {params(m)->n_fit_shells, 1, 1}}};
  tsl_worker *w = NULL;
  tsl_part parts[2] = {{.seconds = 0}};
  bool anew = false;
  double *c = m->problem.fields[XC_IN_COEFFICIENTS].data;
  for (int64_t k = 0; k < params(m)->n_fit; k++) c[k] = sin((double)k);
  params(m)->fitting_cache = keep;
  must(xc_backend_cpu.open(&m->problem, &device, &w), "open");
  for (int phase = 0; phase < 4; phase++) {
    must(xc_backend_cpu.begin(w, phase), "begin");
    must(xc_backend_cpu.run(w, units, 2, parts), "run");
    must(xc_backend_cpu.collect(w, &m->problem), "collect");
    if (phase == 2)
      memcpy(gamma, m->problem.fields[XC_SUM_GAMMA].data, (size_t)params(m)->n_fit * sizeof *gamma);
  }
  memcpy(coulomb, m->problem.fields[XC_SUM_COULOMB].data, (size_t)(n * n) * sizeof *coulomb);
  const double bytes = xc_batches_kept(w->batches, &anew);
  check(bytes <= (double)keep, "bytes of rows", bytes, (double)keep);
  check(anew != (params(m)->n_fit * params(m)->n_packed * 8 <= keep), "some rows anew", anew,
        !anew);
  xc_backend_cpu.close(&w);
}

static void check_fit(const char *deck) {
  bench_xc_molecule m;
  double *gamma[2], *coulomb[2];
  tsl_worker *w = NULL;
  must(bench_xc_make(deck, &m), deck);
  const int64_t n = params(&m)->n, n_fit = params(&m)->n_fit;
  const tsl_device small = {.kind = TSL_CPU, .threads = 2, .memory_limit = 1 << 20};
  for (int k = 0; k < 2; k++) {
    must(tsl_alloc(n_fit, sizeof(double), "gamma", (void **)&gamma[k]), "memory");
    must(tsl_alloc(n * n, sizeof(double), "J", (void **)&coulomb[k]), "memory");
  }
  fit(&m, (int64_t)1 << 40, gamma[0], coulomb[0]);
  check(gamma[0][0] != 0 && coulomb[0][0] != 0, "gamma", gamma[0][0], 1);
  for (int64_t keep = 0; keep <= (int64_t)20 << 20; keep += (int64_t)5 << 20) {
    fit(&m, keep, gamma[1], coulomb[1]);
    check(memcmp(gamma[0], gamma[1], (size_t)n_fit * 8) == 0, "gamma anew, bits", 1, 0);
    check(memcmp(coulomb[0], coulomb[1], (size_t)(n * n) * 8) == 0, "J anew, bits", 1, 0);
  }
  check(xc_backend_cpu.open(&m.problem, &small, &w) == TSL_ERR_MEMORY && w == NULL &&
            strstr(tsl_err_message(), "needs at least") != NULL,
        "too little memory is refused", 0, 1);
  for (int k = 0; k < 2; k++) tsl_free(gamma[k]), tsl_free(coulomb[k]);
  bench_xc_clear(&m);
}

int main(int argc, char **argv) {
  check_groups();
  if (argc > 1) check_fit(argv[1]);
  printf("%ld checks, %ld failures\n", n_checks, n_failures);
  return n_failures == 0 && argc > 1 ? 0 : 1;
}
