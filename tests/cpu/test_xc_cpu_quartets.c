/**
 * @file test_xc_cpu_quartets.c
 * Quartets kept from phase to phase: the bits of J and K of all made anew, whatever the room,
 * of densities that leave out other quartets than the first one did, and after units have moved.
 */
#include "bench_xc_molecules.h"
#include "test_xc_cpu.h"
#include "xc_cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PHASES = 6 };

/** Densities of a phase: small and large ones, diagonal ones and whole ones. */
static void set_densities(bench_xc_molecule *m, int phase) {
  static const double factor[PHASES] = {1e-3, 1, 1e-6, 40, 1, 0};
  const xc_params *p = xc_params_of(&m->problem);
  double *d = m->problem.fields[XC_IN_DENSITIES].data;
  for (int64_t k = 0; k < (2 * p->n_spin + 1) * p->n; k++)
    for (int64_t j = 0; j < p->n; j++) {
      const int64_t i = k % p->n, low = i < j ? i : j, high = i < j ? j : i;
      const bool there = phase != 0 || high - low < 2;
      d[k * p->n + j] = there ? factor[phase] * cos(0.3 * (double)(low + 7 * high + k / p->n)) : 0;
    }
}

/** A trial before the first phase uses all integrals that are kept, though the density leaves most
 *  of them out; the bits of the phases that follow are no others. */
static void try_first(tsl_worker *w, const xc_params *p, const tsl_unit *unit) {
  const double *largest = xc_batches_largest(w->batches);
  tsl_part part = {.seconds = 0};
  double least = INFINITY;
  for (int64_t k = 0; k < p->n_shells * p->n_shells; k++) least = fmin(least, largest[k]);
  check((least > 0) == (p->quartet_cache > 0), "all are used", least, (double)p->quartet_cache);
  must(xc_backend_cpu.run(w, unit, 1, &part), "trial");
}

/** J and K of some phases, in three units of which the middle one is another rank's in phase 1.
 *  @param[out] sums  [PHASES] of (1 + n_spin) n^2  @return bytes kept */
static double build(bench_xc_molecule *m, int threads, int64_t room, double **sums) {
  xc_params *p = m->problem.params;
  const int64_t nn = p->n * p->n, third = p->n_pairs / 3;
  const tsl_device device = {.kind = TSL_CPU, .threads = threads};
  const tsl_unit units[3] = {{.kind = XC_UNIT_FOCK, .hi = {third, 1, 1}},
                             {.kind = XC_UNIT_FOCK, .lo = {third}, .hi = {2 * third, 1, 1}},
                             {.kind = XC_UNIT_FOCK, .lo = {2 * third}, .hi = {p->n_pairs, 1, 1}}};
  tsl_worker *w = NULL;
  tsl_part part = {.seconds = 0};
  bool anew = false;
  p->quartet_cache = room;
  set_densities(m, 0);
  must(xc_backend_cpu.open(&m->problem, &device, &w), "open");
  try_first(w, p, &units[1]);
  for (int phase = 0; phase < PHASES; phase++) {
    const int step = phase * xc_phases(p);
    set_densities(m, phase);
    must(xc_backend_cpu.begin(w, step), "begin");
    for (int k = 0; k < 3; k++)
      if (phase != 1 || k != 1) must(xc_backend_cpu.run(w, &units[k], 1, &part), "run");
    must(xc_backend_cpu.collect(w, &m->problem), "collect");
    if (!p->fitted)
      memcpy(sums[phase], m->problem.fields[XC_SUM_COULOMB].data, (size_t)nn * sizeof **sums);
    memcpy(sums[phase] + nn, m->problem.fields[XC_SUM_EXCHANGE].data,
           (size_t)(p->n_spin * nn) * sizeof **sums);
  }
  const double kept = xc_batches_quartets_kept(w->batches, &anew);
  check(kept <= (double)room, "bytes kept", kept, (double)room);
  if (room > 0) check(anew == (room < INT64_MAX / 2), "some anew", anew, !anew);
  xc_backend_cpu.close(&w);
  return kept;
}

static void one(const char *what, const char *section) {
  bench_xc_molecule m;
  double *truth[PHASES], *found[PHASES];
  char path[] = "/tmp/tesela-quartets-XXXXXX.yaml";
  const int file = mkstemps(path, 5);
  FILE *out = file < 0 ? NULL : fdopen(file, "w");
  if (out == NULL) exit(1);
  fprintf(out, "family: xc\nxc:\n%s  grid: {radial: 4, angular: 6}\n", section);
  (void)fclose(out);
  must(bench_xc_make(path, &m), what);
  (void)unlink(path);
  const xc_params *p = xc_params_of(&m.problem);
  const int64_t count = (1 + p->n_spin) * p->n * p->n;
  for (int k = 0; k < PHASES; k++) {
    must(tsl_alloc(count, sizeof(double), "sums", (void **)&truth[k]), "memory");
    must(tsl_alloc(count, sizeof(double), "sums", (void **)&found[k]), "memory");
  }
  for (int threads = 1; threads <= 3; threads += 2) {
    check(build(&m, threads, 0, truth) == 0, "nothing kept", 1, 0);
    check(fabs(truth[1][count - 1]) > 1e-3, "sums", truth[1][count - 1], 1);
    const double all = build(&m, threads, INT64_MAX / 2, found);
    xc_view view;
    xc_view_set(&m.problem, &view);
    const double cost = xc_fock_cost(&view.orbital, &view.pairs, p->threshold, 0, p->n_pairs);
    check(all == 8 * cost, "all kept", all, 8 * cost);
    for (int part = 0; part < 4; part++) {
      if (part > 0) (void)build(&m, threads, (int64_t)(all * part / 4), found);
      for (int k = 0; k < PHASES; k++)
        check(memcmp(truth[k], found[k], (size_t)count * sizeof **found) == 0, what, part, k);
    }
  }
  for (int k = 0; k < PHASES; k++) tsl_free(truth[k]), tsl_free(found[k]);
  bench_xc_clear(&m);
}

int main(void) {
  static const char water[] =
      "  molecule: {atoms: \"O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 -0.4696\"}\n";
  static const char radical[] =
      "  molecule: {atoms: \"O 0 0 0; H 0 0 0.97; He 3 0 0\", multiplicity: 2}\n";
  char section[400];
  (void)snprintf(section, sizeof section, "%s  basis: def2-SVP\n  functional: b3lyp\n", water);
  one("restricted, exact", section);
  (void)snprintf(section, sizeof section, "%s  basis: 6-31G*\n  functional: hf\n", radical);
  one("unrestricted, exact", section);
  (void)snprintf(section, sizeof section,
                 "%s  basis: def2-SVP\n  functional: pbe0\n  coulomb: fitted\n", water);
  one("restricted, Coulomb fitted", section);
  printf("%ld checks, %ld failures\n", n_checks, n_failures);
  return n_failures == 0 ? 0 : 1;
}
