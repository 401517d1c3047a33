/* gpu.xc.quartets: exact J and K of a card beside a socket's by libint2, of densities without any
 * pattern, so that each integral counts in some element. */
#include "test_xc_gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set_densities(xc_made *made) {
  const xc_params *p = xc_params_of(&made->problem);
  double *d = made->problem.fields[XC_IN_DENSITIES].data;
  for (int64_t k = 0; k < 2 * p->n_spin + 1; k++)
    for (int64_t i = 0; i < p->n; i++)
      for (int64_t j = 0; j <= i; j++)
        d[(k * p->n + i) * p->n + j] = d[(k * p->n + j) * p->n + i] =
            cos(1.3 * (double)(i * i) + 0.7 * (double)j + (double)k);
}

/* The largest difference as a part of the largest element; [count][n][n]. Sums of batches count by
 * both of their triangles together (xc_fock_finish). */
static double off_by(const double *a, const double *b, int64_t count, int64_t n) {
  double worst = 0, largest = 0;
  for (int64_t k = 0; k < count * n * n; k++) {
    const int64_t i = k / n % n, j = k % n, turned = k - i * n - j + j * n + i;
    const double off = fabs(a[k] + a[turned] - b[k] - b[turned]);
    if (!(off <= worst)) worst = off; /* NaN stays */
    largest = fmax(largest, fabs(b[k] + b[turned]));
  }
  return count == 0 ? 0 : worst / largest;
}

/* The card beside the socket, with so many units a call. */
static tsl_err compare_calls(const char *what, xc_made *made, tsl_worker *card, int64_t call,
                             const xc_outcome *theirs, xc_outcome *mine) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(&made->problem);
  const int64_t spins = xc_functional_exact(&p->functional) ? p->n_spin : 0;
  TSL_TRY(xc_phase(tsl_backend_find(&tsl_platform_gpu, "xc"), card, made, 0, 1 << XC_UNIT_FOCK,
                   call % 2 ? XC_ORDER_GIVEN : XC_ORDER_TURNED, call, mine));
  const double j = off_by(mine->coulomb, theirs->coulomb, !p->fitted, p->n);
  const double k = off_by(mine->exchange, theirs->exchange, spins, p->n);
  printf("%-34s %4lld functions, %3lld units a call: J %.1e K %.1e, %.3f ms; socket %.3f ms\n",
         what, (long long)p->n, (long long)call, j, k, mine->seconds * 1e3, theirs->seconds * 1e3);
  (void)fflush(stdout);
  if (!(j < 1e-12) || !(k < 1e-12))
    TSL_FAIL(TSL_ERR_NUMERIC, "%s: J off by %.3g, K by %.3g of the largest", what, j, k);
  if (j == 0 && k == 0) TSL_FAIL(TSL_ERR_NUMERIC, "%s: the card's are the socket's bits", what);
done:
  return err;
}

/* With several numbers of units a call, or all of them in one. */
static tsl_err one_case(const char *what, const char *section, bool several, const tsl_device *card,
                        const tsl_device *host) {
  static const int64_t calls[] = {256, 1, 5};
  const size_t n = several ? sizeof calls / sizeof *calls : 1;
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  xc_outcome mine = {.xc = NULL}, theirs = {.xc = NULL};
  tsl_worker *workers[2] = {NULL, NULL};
  const tsl_backend *gpu = tsl_backend_find(&tsl_platform_gpu, "xc");
  const tsl_backend *cpu = tsl_backend_find(&tsl_platform_cpu, "xc");
  TSL_TRY(xc_made_open(section, &made));
  TSL_TRY(xc_outcome_open(&made, &mine));
  TSL_TRY(xc_outcome_open(&made, &theirs));
  set_densities(&made);
  TSL_TRY(gpu->open(&made.problem, card, &workers[0]));
  TSL_TRY(cpu->open(&made.problem, host, &workers[1]));
  TSL_TRY(xc_phase(cpu, workers[1], &made, 0, 1 << XC_UNIT_FOCK, XC_ORDER_GIVEN, 256, &theirs));
  for (size_t k = 0; k < n; k++)
    TSL_TRY(compare_calls(what, &made, workers[0], calls[k], &theirs, &mine));
done:
  gpu->close(&workers[0]);
  cpu->close(&workers[1]);
  xc_outcome_close(&mine);
  xc_outcome_close(&theirs);
  xc_made_close(&made);
  return err;
}

#define NO_GRID "  grid: {radial: 4, angular: 6}\n"

/* ------------------------------------------------------------------- classes */

static const char LETTER[] = "SPDF";

/** Exponents of shells: all within a factor of 30 of the least. */
typedef struct exponents {
  const char *what;
  double least;
} exponents;

/* A basis for H, He, Li, Be: 1s of STO-3G, which the nucleus wants, and a shell of degree l. */
static tsl_err write_shells(const int l[4], double least, char path[64]) {
  static const char *const elements[4] = {"H", "He", "Li", "Be"};
  tsl_err err = TSL_OK;
  FILE *file = NULL;
  (void)snprintf(path, 64, "/tmp/test_xc_gpu.XXXXXX");
  const int handle = mkstemp(path);
  if (handle < 0 || (file = fdopen(handle, "w")) == NULL)
    TSL_FAIL(TSL_ERR_IO, "cannot write '%s'", path);
  (void)fprintf(file, "BASIS \"one\" SPHERICAL\n");
  for (int k = 0; k < 4; k++) {
    const double z2 = (k + 1) * (k + 1);
    (void)fprintf(file, "%s S\n %.6f 0.154329\n %.6f 0.535328\n %.6f 0.444635\n", elements[k],
                  2.227661 * z2, 0.405771 * z2, 0.109818 * z2);
    (void)fprintf(file, "%s %c\n", elements[k], LETTER[l[k]]);
    for (int e = 0; e <= k % 3; e++)
      (void)fprintf(file, " %.6f %.2f\n", least * (1 + 0.37 * k) * pow(4.3, e), 0.8 - 0.3 * e);
  }
  (void)fprintf(file, "END\n");
  if (fclose(file) != 0) err = TSL_ERR_IO;
done:
  return err;
}

/* Shells of degrees l at four places, as far from one another as their exponents are wide. Atoms
 * keep 0.1 angstrom. K of 1 / r, and of it and erf(omega r) / r where libxc says of how much. */
static tsl_err one_class(const int l[4], const exponents *range, const tsl_device *card,
                         const tsl_device *host) {
  tsl_err err = TSL_OK;
  char path[64] = "", section[2048], what[96];
  const double wide = fmax(0.4 / sqrt(range->least), 0.13);
  TSL_TRY(write_shells(l, range->least, path));
  for (int cartesian = 0; cartesian < 2; cartesian++) {
    (void)snprintf(
        section, sizeof section,
        "  molecule: {atoms: 'H 0 0 0; He %g %g %g; Li %g %g %g; Be %g %g %g', charge: "
        "8}\n  basis: %s\n  functions: %s\n  functional: %s\n  threshold: 1e-16\n" NO_GRID,
        0.3 * wide, -0.5 * wide, 0.9 * wide, -1.1 * wide, 0.4 * wide, 0.2 * wide, 0.7 * wide,
        1.2 * wide, -0.8 * wide, path, cartesian ? "cartesian" : "spherical",
        cartesian && xc_known("cam-b3lyp") ? "cam-b3lyp" : "pbe0");
    (void)snprintf(what, sizeof what, "(%c%c|%c%c) %s", LETTER[l[0]], LETTER[l[1]], LETTER[l[2]],
                   LETTER[l[3]], range->what);
    TSL_TRY(one_case(what, section, false, card, host));
  }
done:
  if (path[0] != '\0') (void)unlink(path);
  return err;
}

tsl_err xc_test_classes(const tsl_device *card, const tsl_device *host) {
  tsl_err err = TSL_OK;
  static const exponents ranges[] = {{"middle", 0.4}, {"tight", 80}, {"diffuse", 0.03}};
  static const int pairs[][2] = {{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1},
                                 {2, 2}, {3, 0}, {3, 1}, {3, 2}, {3, 3}};
  for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
    for (size_t bra = 0; bra < sizeof pairs / sizeof *pairs; bra++)
      for (size_t ket = 0; ket <= bra; ket++) {
        const int l[4] = {pairs[bra][0], pairs[bra][1], pairs[ket][0], pairs[ket][1]};
        TSL_TRY(one_class(l, &ranges[k], card, host));
      }
done:
  return err;
}

/* ----------------------------------------------------------------- molecules */

/* g functions are the host's, beside the card's. */
static tsl_err quartets_to_g(const tsl_device *card, const tsl_device *host) {
  tsl_err err = TSL_OK;
  static const char *const kinds[] = {"spherical", "cartesian"};
  char path[64] = "", section[2048], what[96];
  TSL_TRY(xc_write_basis(path));
  for (int kind = 0; kind < 2; kind++) {
    (void)snprintf(section, sizeof section,
                   WATER "  basis: %s\n  functions: %s\n  functional: pbe0\n" NO_GRID, path,
                   kinds[kind]);
    (void)snprintf(what, sizeof what, "water to g, %s", kinds[kind]);
    TSL_TRY(one_case(what, section, true, card, host));
  }
done:
  if (path[0] != '\0') (void)unlink(path);
  return err;
}

tsl_err xc_test_quartets(const tsl_device *card, const tsl_device *host) {
  tsl_err err = TSL_OK;
  static const struct {
    const char *what, *functional, *section;
  } cases[] = {
      {"water STO-3G", "pbe0", WATER "  basis: STO-3G\n"},
      {"water def2-SVP", "pbe0", WATER "  basis: def2-SVP\n"},
      {"water def2-SVP, J alone", "pbe", WATER "  basis: def2-SVP\n"},
      {"water def2-SVP, K alone", "pbe0", WATER "  basis: def2-SVP\n  coulomb: fitted\n"},
      {"oxygen def2-SVP, two spins", "b3lyp5", OXYGEN "  basis: def2-SVP\n"},
      {"water def2-TZVP", "pbe0", WATER "  basis: def2-TZVP\n"},
      {"water def2-TZVP, Cartesian", "pbe0", WATER "  basis: def2-TZVP\n  functions: cartesian\n"},
      {"iron oxide def2-TZVP", "pbe0",
       "  molecule: {atoms: 'Fe 0 0 0; O 0.3 0.2 1.58', multiplicity: 5}\n  basis: def2-TZVP\n"},
      {"benzene 6-31G*", "pbe0", BENZENE "  basis: 6-31G*\n"},
      {"benzene def2-SVP", "pbe0", BENZENE "  basis: def2-SVP\n"},
      {"water cam-b3lyp", "cam-b3lyp", WATER "  basis: def2-TZVP\n"},
      {"oxygen hse06, two spins", "hse06", OXYGEN "  basis: def2-SVP\n"},
      {"water lc-wpbe, K alone", "lc-wpbe", WATER "  basis: def2-SVP\n  coulomb: fitted\n"},
      {"benzene lc-wpbe", "lc-wpbe", BENZENE "  basis: 6-31G*\n"}};
  char section[2048];
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    if (!xc_known(cases[k].functional)) continue;
    (void)snprintf(section, sizeof section, "%s  functional: %s\n" NO_GRID, cases[k].section,
                   cases[k].functional);
    TSL_TRY(one_case(cases[k].what, section, true, card, host));
  }
  TSL_TRY(quartets_to_g(card, host));
done:
  return err;
}
