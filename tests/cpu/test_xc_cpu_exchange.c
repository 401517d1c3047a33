/**
 * @file test_xc_cpu_exchange.c
 * Fitted J and K on a socket beside sums as the definition has them, without orbitals or a Cholesky
 * factor: J_mn = sum_PQ (mn|P) (P|Q)^-1 sum_kl (Q|kl) D_kl, K_mn = sum_kl D_kl sum_PQ (mk|P)
 * (P|Q)^-1 (Q|ln), for guess densities, whose occupations are broken numbers, restricted,
 * unrestricted and Cartesian; any units, threads, memory.
 */
#include "bench_xc_molecules.h"
#include "test_xc_cpu.h"
#include "xc_batches_own.h"
#include "xc_cpu.h"
#include "xc_exchange.h"
#include "xc_matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double *matrix(int64_t rows, int64_t columns) {
  double *out = NULL;
  must(xc_matrix_create(rows, columns, "a matrix", &out), "memory");
  return out;
}

/* ------------------------------------------------------------------ brute force */

/* (P|mn) of all P, [n_fit][n][n], and the inverse of the metric. */
static void integrals(const tsl_problem *problem, double *squares, double *inverse) {
  const xc_params *p = xc_params_of(problem);
  xc_view v;
  xc_integrals *all = NULL;
  xc_engine *triples = NULL, *doubles = NULL;
  double *rows = matrix(p->n_fit, p->n_packed), *vectors = matrix(p->n_fit, p->n_fit);
  double *values = matrix(p->n_fit, 1);
  xc_view_set(problem, &v);
  must(xc_integrals_create(&v.orbital, &v.fitting, &all), "integrals");
  must(xc_engine_create(all, XC_TRIPLES, 0, 1e-16, &triples), "triples");
  must(xc_engine_create(all, XC_DOUBLES, 0, 1e-16, &doubles), "doubles");
  for (int64_t s = 0; s < p->n_fit_shells; s++)
    xc_fit_triples(triples, &v.orbital, &v.fitting, &v.pairs, s, 0, v.pairs.n,
                   rows + v.fitting.shells[s].first * p->n_packed);
  for (int64_t f = 0; f < p->n_fit; f++)
    xc_fit_unpack(&v.orbital, &v.pairs, 0, v.pairs.n, rows + f * p->n_packed,
                  squares + f * p->n * p->n);
  xc_fit_metric(doubles, &v.fitting, 0, p->n_fit_shells, vectors);
  must(xc_matrix_eigen(p->n_fit, vectors, values), "metric");
  for (int64_t a = 0; a < p->n_fit; a++)
    for (int64_t b = 0; b < p->n_fit; b++)
      for (int64_t k = 0; k < p->n_fit; k++)
        inverse[a * p->n_fit + b] +=
            vectors[k * p->n_fit + a] * vectors[k * p->n_fit + b] / values[k];
  xc_engine_destroy(&triples), xc_engine_destroy(&doubles);
  xc_integrals_destroy(&all);
  tsl_free(rows), tsl_free(vectors), tsl_free(values);
}

static void brute_force(const tsl_problem *problem, double *coulomb, double *exchange) {
  const xc_params *p = xc_params_of(problem);
  const int64_t n = p->n, nn = n * n;
  double *squares = matrix(p->n_fit * n, n), *inverse = matrix(p->n_fit, p->n_fit);
  double *z = matrix(p->n_fit * n, n), *half = matrix(n, n), *part = matrix(n, n);
  integrals(problem, squares, inverse);
  xc_matrix_product(p->n_fit, nn, p->n_fit, 1, inverse, false, squares, false, z);
  for (int64_t f = 0; f < p->n_fit; f++)
    xc_matrix_add(nn, xc_matrix_dot(nn, z + f * nn, xc_asked_total(problem)), squares + f * nn,
                  coulomb);
  for (int s = 0; s < p->n_spin; s++)
    for (int64_t f = 0; f < p->n_fit; f++) {
      xc_matrix_product(n, n, n, 1, squares + f * nn, false, xc_asked_spin(problem, s), false,
                        half);
      xc_matrix_product(n, n, n, 1, half, false, z + f * nn, false, part);
      xc_matrix_add(nn, 1, part, exchange + s * nn);
    }
  tsl_free(squares), tsl_free(inverse), tsl_free(z), tsl_free(half), tsl_free(part);
}

/* ------------------------------------------------------------------------ units */

static tsl_unit unit_of(int64_t lo, int64_t hi) {
  return (tsl_unit){.kind = XC_UNIT_EXCHANGE, .lo = {lo, 0, 0}, .hi = {hi, 1, 1}};
}

/** All functions, in two units, after a trial of a few; with memory for so many anew at a time and
 *  so many bytes of those that are kept. */
static void build(bench_xc_molecule *m, int threads, int64_t middle, int64_t anew, int64_t keep) {
  xc_params *p = m->problem.params;
  const tsl_device device = {.kind = TSL_CPU, .threads = threads};
  tsl_worker *w = NULL;
  tsl_part part = {.seconds = 0};
  const tsl_unit units[3] = {unit_of(0, middle), unit_of(middle, p->n_fit), unit_of(0, 2)};
  bool some_anew = false;
  p->fitting_cache = keep;
  must(xc_backend_cpu.open(&m->problem, &device, &w), "open");
  if (anew > 0) w->batches->anew_rows = anew, w->batches->fit_rows = 15;
  must(xc_backend_cpu.run(w, &units[2], 1, &part), "trial");
  for (int phase = 0; phase < 3; phase++) {
    must(xc_backend_cpu.begin(w, phase), "begin");
    for (int k = 1; k >= 0; k--) must(xc_backend_cpu.run(w, &units[k], 1, &part), "run");
    must(xc_backend_cpu.collect(w, &m->problem), "collect");
  }
  const double kept = xc_batches_kept(w->batches, &some_anew);
  const double all = 8 * (double)(p->n_fit * p->n_packed);
  check(keep > 0 ? kept == all && !some_anew : kept == 0 && some_anew, "what is kept", kept, all);
  xc_backend_cpu.close(&w);
}

/* The inverse by eigenvectors loses digits, as many of J, whose elements are larger, as of K. */
static void compare(const char *what, const bench_xc_molecule *m, int field, double limit,
                    const double *truth) {
  const tsl_field *sum = &m->problem.fields[field];
  const double *found = sum->data;
  double most = 0, size = 0;
  for (int64_t k = 0; k < tsl_field_count(sum); k++) {
    most = fmax(most, fabs(found[k] - truth[k]));
    size = fmax(size, fabs(truth[k]));
  }
  check(most < limit && size > 0.5, what, most, 0);
}

static void one(const char *what, const char *section) {
  bench_xc_molecule m;
  char path[] = "/tmp/tesela-exchange-XXXXXX.yaml";
  const int file = mkstemps(path, 5);
  FILE *out = file < 0 ? NULL : fdopen(file, "w");
  if (out == NULL) exit(1);
  fprintf(out,
          "family: xc\nxc:\n%s  coulomb: fitted\n  exchange: fitted\n  grid: {radial: 4, "
          "angular: 6}\n",
          section);
  (void)fclose(out);
  must(bench_xc_make(path, &m), what);
  (void)unlink(path);
  const xc_params *p = xc_params_of(&m.problem);
  double *coulomb = matrix(p->n, p->n), *exchange = matrix(p->n_spin * p->n, p->n);
  brute_force(&m.problem, coulomb, exchange);
  for (int threads = 1; threads <= 3; threads++)
    for (int keep = 0; keep < 2; keep++) {
      build(&m, threads, 1 + p->n_fit * threads / 5, threads * (1 - keep), keep * INT64_MAX / 2);
      compare(what, &m, XC_SUM_COULOMB, 1e-8, coulomb);
      compare(what, &m, XC_SUM_EXCHANGE, 1e-9, exchange);
    }
  tsl_free(coulomb), tsl_free(exchange);
  bench_xc_clear(&m);
}

int main(void) {
  one("water", "  molecule: {atoms: 'O 0 0 0.1; H 0.7 0.2 -0.5; H -0.8 0 -0.4'}\n"
               "  basis: def2-SVP\n  functional: pbe0\n");
  one("oxygen, a triplet", "  molecule: {atoms: 'O 0 0 0; O 0.3 0 1.2', multiplicity: 3}\n"
                           "  basis: def2-SVP\n  functional: hf\n");
  one("hydroxide, Cartesian", "  molecule: {atoms: 'O 0 0 0; H 0.1 0.2 0.9', charge: -1}\n"
                              "  basis: 6-31G*\n  functional: b3lyp\n");
  one("hydrogen atom", "  molecule: {atoms: 'H 0 0 0'}\n  basis: def2-TZVP\n  functional: hf\n"
                       "  reference: unrestricted\n");
  printf("%ld checks, %ld failures\n", n_checks, n_failures);
  return n_failures == 0 ? 0 : 1;
}
