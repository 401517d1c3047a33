/* gpu.xc.*: the backend of xc on a card, driven by the contract's calls.
 *   test_xc_gpu truth     energy, electrons, matrix beside plain loops; functionals, spins, bases
 *   test_xc_gpu sizes     groups of 1, a prime, 512, 2048 and more points
 *   test_xc_gpu repeat    the same bits again: kept functions or not, orders, calls, small memory
 *   test_xc_gpu coulomb   gamma, J, K beside the socket's
 *   test_xc_gpu integrals (P|mn) one by one beside the socket's, to g functions
 *   test_xc_gpu quartets  exact J and K beside the socket's, to g functions
 *   test_xc_gpu gradient  what units add to the gradient beside the socket's
 *   test_xc_gpu weights   weights of grids beside the host's
 *   test_xc_gpu mixed     float beside double
 *   test_xc_gpu scf       whole fields: card, mixed precision, socket: one energy
 *   test_xc_gpu reproducible  integers: the same whatever else a card, or a rank, was given
 *   test_xc_gpu memory    no room: an error that says so
 *   test_xc_gpu numbers   values that the sums cannot hold: an error that names the group
 * Exit status 77: no card. */
#include "test_xc_gpu.h"
#include "named_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tsl_device card, host;

enum {
  GROUPS = 1 << XC_UNIT_GROUP,
  BATCHES = 1 << XC_UNIT_FOCK | 1 << XC_UNIT_FIT | 1 << XC_UNIT_EXCHANGE | 1 << XC_UNIT_NONLOCAL,
  CALL = 256
};

/* --------------------------------------------------------------- comparing */

static double worst_of(const double *a, const double *b, int64_t n) {
  double worst = 0;
  for (int64_t k = 0; k < n; k++) {
    const double off = fabs(a[k] - b[k]);
    if (!(off <= worst)) worst = off; /* NaN stays */
  }
  return worst;
}

static tsl_err compare(const char *what, const xc_made *made, const xc_outcome *a,
                       const xc_outcome *b, double limit) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(&made->problem);
  const double sums = worst_of(a->sums, b->sums, XC_N_INTEGRALS);
  const double matrix = worst_of(a->xc, b->xc, p->n_spin * p->n * p->n);
  printf("%-34s %4lld functions %6lld points %5lld groups: sums %.1e matrix %.1e, %.3f ms\n", what,
         (long long)p->n, (long long)p->n_points, (long long)p->n_groups, sums, matrix,
         a->seconds * 1e3);
  (void)fflush(stdout);
  if (!(sums <= limit) || !(matrix <= limit))
    TSL_FAIL(TSL_ERR_NUMERIC, "%s: energy %.15g beside %.15g, off by %.3g; matrix by %.3g", what,
             a->sums[0], b->sums[0], sums, matrix);
done:
  return err;
}

static tsl_err same_bits(const char *what, const xc_made *made, const xc_outcome *a,
                         const xc_outcome *b) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(&made->problem);
  const size_t bytes = (size_t)(p->n_spin * p->n * p->n) * 8;
  if (memcmp(a->sums, b->sums, sizeof a->sums) != 0 || memcmp(a->xc, b->xc, bytes) != 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "%s: other bits: sums off by %.3g, matrix by %.3g", what,
             worst_of(a->sums, b->sums, XC_N_INTEGRALS),
             worst_of(a->xc, b->xc, p->n_spin * p->n * p->n));
  printf("%-34s the same bits\n", what);
done:
  return err;
}

/* A whole worker for one phase of groups. */
static tsl_err build(xc_made *made, int64_t memory, xc_outcome *out) {
  tsl_err err = TSL_OK;
  tsl_worker *worker = NULL;
  const tsl_backend *backend = tsl_backend_find(&tsl_platform_gpu, "xc");
  tsl_device device = card;
  if (memory > 0) device.memory_limit = memory;
  TSL_TRY(backend->open(&made->problem, &device, &worker));
  TSL_TRY(xc_phase(backend, worker, made, 0, GROUPS, XC_ORDER_GIVEN, CALL, out));
done:
  backend->close(&worker);
  return err;
}

/* --------------------------------------------------------------------- truth */

static tsl_err one_truth(const char *what, const char *section) {
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  xc_outcome mine = {.xc = NULL}, truth = {.xc = NULL};
  TSL_TRY(xc_made_open(section, &made));
  TSL_TRY(xc_outcome_open(&made, &mine));
  TSL_TRY(xc_outcome_open(&made, &truth));
  TSL_TRY(build(&made, 0, &mine));
  TSL_TRY(xc_truth(&made, &truth));
  TSL_TRY(compare(what, &made, &mine, &truth, 2e-11));
done:
  xc_outcome_close(&mine);
  xc_outcome_close(&truth);
  xc_made_close(&made);
  return err;
}

/* Even-tempered shells up to g on hydrogen and oxygen; sums to one word. */
static const char basis_text[] =
    "BASIS \"g\" SPHERICAL\n"
    "H S\n 5.4 0.2\n 1.1 0.5\n 0.3 0.5\nH P\n 0.9 1.0\nH D\n 0.8 1.0\nH F\n 0.9 1.0\nH G\n 1.0 "
    "1.0\n"
    "O S\n 120.0 0.1\n 18.0 0.4\n 4.1 0.6\nO S\n 0.9 1.0\nO S\n 0.3 1.0\nO P\n 8.0 0.2\n 1.7 0.6\n"
    "O P\n 0.4 1.0\nO D\n 1.2 1.0\nO F\n 1.4 1.0\nO G\n 1.6 1.0\nEND\n";

tsl_err xc_write_basis(char path[64]) {
  tsl_err err = TSL_OK;
  (void)snprintf(path, 64, "/tmp/test_xc_gpu.XXXXXX");
  const int file = mkstemp(path);
  if (file < 0) TSL_FAIL(TSL_ERR_IO, "cannot write '%s'", path);
  if (write(file, basis_text, sizeof basis_text - 1) != (ssize_t)sizeof basis_text - 1)
    err = TSL_ERR_IO;
  (void)close(file);
done:
  return err;
}

static tsl_err truth_functionals(void) {
  tsl_err err = TSL_OK;
  static const char *const names[] = {
      "svwn5", "pbe",     "blyp",   "pbe0",
      "b3lyp", "b3lyp5",  "b97-1",  "0.5*lda_x + 0.5*gga_x_b88",
      "tpss",  "r2scan0", "m06-2x", "0.5*mgga_x_tpss + 0.5*gga_x_b88"};
  char section[2048], what[96];
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    for (int spin = 0; spin < 2; spin++) {
      if (!xc_known(names[k])) {
        printf("%s is skipped: no libxc\n", names[k]);
        continue;
      }
      (void)snprintf(section, sizeof section,
                     "%s  basis: def2-SVP\n  functional: %s\n  coulomb: fitted\n" SMALL,
                     spin ? OXYGEN : WATER, names[k]);
      (void)snprintf(what, sizeof what, "%s %s", spin ? "oxygen" : "water", names[k]);
      TSL_TRY(one_truth(what, section));
    }
done:
  return err;
}

static tsl_err truth_bases(void) {
  tsl_err err = TSL_OK;
  static const char *const kinds[] = {"spherical", "cartesian"};
  static const char *const names[] = {"svwn5", "pbe"};
  char path[64] = "", section[2048], what[96];
  TSL_TRY(xc_write_basis(path));
  for (int kind = 0; kind < 2; kind++)
    for (int f = 0; f < 2; f++) {
      (void)snprintf(section, sizeof section,
                     WATER "  basis: %s\n  functions: %s\n  functional: %s\n" SMALL, path,
                     kinds[kind], names[f]);
      (void)snprintf(what, sizeof what, "water to g, %s, %s", kinds[kind], names[f]);
      TSL_TRY(one_truth(what, section));
    }
done:
  if (path[0] != '\0') (void)unlink(path);
  return err;
}

static tsl_err test_truth(void) {
  tsl_err err = TSL_OK;
  TSL_TRY(truth_functionals());
  TSL_TRY(truth_bases());
  TSL_TRY(one_truth("benzene pbe",
                    BENZENE "  basis: def2-SVP\n  functional: pbe\n  coulomb: fitted\n" SMALL));
done:
  return err;
}

static tsl_err test_sizes(void) {
  tsl_err err = TSL_OK;
  static const int targets[] = {1, 31, 127, 512, 2048, 1 << 20};
  char section[2048], what[64];
  for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
    (void)snprintf(section, sizeof section,
                   OXYGEN "  basis: STO-3G\n  functional: pbe\n  coulomb: fitted\n"
                          "  grid: {radial: 40, angular: %d}\n  groups: {target: %d}\n",
                   targets[k] == 1 ? 6 : 50, targets[k]);
    (void)snprintf(what, sizeof what, "groups of %d points", targets[k]);
    TSL_TRY(one_truth(what, section));
  }
  TSL_TRY(one_truth("spheres and cubes",
                    WATER "  basis: STO-3G\n  functional: pbe\n  coulomb: fitted\n"
                          "  grid: {radial: 30, angular: 50}\n  groups: {kind: cubes}\n"));
done:
  return err;
}

/* -------------------------------------------------------------------- repeat */

static tsl_err repeat_worker(xc_made *made, xc_outcome *first, xc_outcome *again) {
  tsl_err err = TSL_OK;
  tsl_worker *worker = NULL;
  const tsl_backend *backend = tsl_backend_find(&tsl_platform_gpu, "xc");
  TSL_TRY(backend->open(&made->problem, &card, &worker));
  TSL_TRY(xc_phase(backend, worker, made, 0, GROUPS, XC_ORDER_GIVEN, CALL, first));
  TSL_TRY(xc_phase(backend, worker, made, 0, GROUPS, XC_ORDER_GIVEN, CALL, again));
  TSL_TRY(same_bits("functions kept", made, again, first));
  TSL_TRY(xc_phase(backend, worker, made, 2, GROUPS, XC_ORDER_TURNED, CALL, again));
  TSL_TRY(compare("order turned", made, again, first, 1e-13));
  TSL_TRY(xc_phase(backend, worker, made, 4, GROUPS, XC_ORDER_GIVEN, 3, again));
  TSL_TRY(compare("calls of 3 units", made, again, first, 1e-13));
done:
  backend->close(&worker);
  return err;
}

static tsl_err repeat_memory(xc_made *made, const xc_outcome *first, xc_outcome *again) {
  tsl_err err = TSL_OK;
  xc_params *p = made->problem.params;
  TSL_TRY(build(made, 0, again));
  TSL_TRY(same_bits("another worker", made, again, first));
  p->card_cache = 1 << 20;
  TSL_TRY(build(made, 0, again));
  TSL_TRY(same_bits("1 MiB of functions kept", made, again, first));
  p->card_cache = 0;
  TSL_TRY(build(made, 0, again));
  TSL_TRY(same_bits("no function kept", made, again, first));
  TSL_TRY(build(made, 24 << 20, again));
  TSL_TRY(compare("24 MiB of the card", made, again, first, 1e-13));
done:
  return err;
}

static tsl_err test_repeat(void) {
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  xc_outcome first = {.xc = NULL}, again = {.xc = NULL};
  TSL_TRY(xc_made_open(BENZENE "  basis: def2-SVP\n  functional: pbe\n  coulomb: fitted\n"
                               "  grid: {radial: 20, angular: 50}\n  groups: {target: 300}\n",
                       &made));
  TSL_TRY(xc_outcome_open(&made, &first));
  TSL_TRY(xc_outcome_open(&made, &again));
  TSL_TRY(repeat_worker(&made, &first, &again));
  TSL_TRY(repeat_memory(&made, &first, &again));
done:
  xc_outcome_close(&first);
  xc_outcome_close(&again);
  xc_made_close(&made);
  return err;
}

/* ------------------------------------------------------------------- coulomb */

/* Likewise of count sums of batches [n][n], whose triangles count together (xc_fock_finish). */
static double worst_of_batches(const double *a, const double *b, int64_t count, int64_t n) {
  double worst = 0;
  for (int64_t k = 0; k < count * n * n; k++) {
    const int64_t i = k / n % n, j = k % n, turned = k - i * n - j + j * n + i;
    const double off = fabs(a[k] + a[turned] - b[k] - b[turned]);
    if (!(off <= worst)) worst = off; /* NaN stays */
  }
  return worst;
}

/* All phases of an iteration, by the card and by a socket; workers keep what they keep. */
static tsl_err compare_phases(const char *what, xc_made *made, tsl_worker *mine, tsl_worker *theirs,
                              xc_outcome *a, xc_outcome *b) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(&made->problem);
  const int64_t spins = xc_functional_exact(&p->functional) ? p->n_spin : 0;
  for (int phase = 0; phase < (p->fitted ? 4 : 2); phase++) {
    TSL_TRY(xc_phase(tsl_backend_find(&tsl_platform_gpu, "xc"), mine, made, phase, GROUPS | BATCHES,
                     XC_ORDER_GIVEN, 5, a));
    TSL_TRY(xc_phase(tsl_backend_find(&tsl_platform_cpu, "xc"), theirs, made, phase,
                     GROUPS | BATCHES, XC_ORDER_GIVEN, 5, b));
    TSL_TRY(compare(what, made, a, b, 1e-11));
    const double j = worst_of_batches(a->coulomb, b->coulomb, 1, p->n);
    const double k = worst_of_batches(a->exchange, b->exchange, spins, p->n);
    const double gamma = worst_of(a->gamma, b->gamma, p->n_fit);
    printf("%-34s phase %d: J %.1e K %.1e gamma %.1e\n", what, phase, j, k, gamma);
    if (!(j < 1e-10) || !(k < 1e-10) || !(gamma < 1e-10))
      TSL_FAIL(TSL_ERR_NUMERIC, "%s: not the socket's", what);
  }
done:
  return err;
}

static tsl_err one_coulomb(const char *what, const char *section, int64_t memory) {
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  xc_outcome a = {.xc = NULL}, b = {.xc = NULL};
  tsl_worker *mine = NULL, *theirs = NULL;
  const tsl_backend *gpu = tsl_backend_find(&tsl_platform_gpu, "xc");
  const tsl_backend *cpu = tsl_backend_find(&tsl_platform_cpu, "xc");
  tsl_device device = card;
  if (memory > 0) device.memory_limit = memory;
  TSL_TRY(xc_made_open(section, &made));
  TSL_TRY(xc_outcome_open(&made, &a));
  TSL_TRY(xc_outcome_open(&made, &b));
  double *c = made.problem.fields[XC_IN_COEFFICIENTS].data;
  for (int64_t k = 0; k < xc_params_of(&made.problem)->n_fit; k++) c[k] = cos((double)k);
  TSL_TRY(gpu->open(&made.problem, &device, &mine));
  TSL_TRY(cpu->open(&made.problem, &host, &theirs));
  TSL_TRY(compare_phases(what, &made, mine, theirs, &a, &b));
done:
  gpu->close(&mine);
  cpu->close(&theirs);
  xc_outcome_close(&a);
  xc_outcome_close(&b);
  xc_made_close(&made);
  return err;
}

static tsl_err test_coulomb(void) {
  tsl_err err = TSL_OK;
  const char *const fitted =
      OXYGEN "  basis: def2-SVP\n  functional: pbe\n  coulomb: fitted\n" SMALL;
  TSL_TRY(one_coulomb("fitted", fitted, 0));
  TSL_TRY(one_coulomb("fitted, half of it with the host", /* 28 MiB of integrals */
                      BENZENE "  basis: def2-SVP\n  functional: svwn5\n  coulomb: fitted\n" SMALL,
                      24 << 20));
  TSL_TRY(one_coulomb("exact", WATER "  basis: def2-SVP\n  functional: pbe0\n" SMALL, 0));
  TSL_TRY(one_coulomb("exact exchange alone",
                      WATER "  basis: def2-SVP\n  functional: b3lyp\n  coulomb: fitted\n" SMALL,
                      0));
done:
  return err;
}

/* ----------------------------------------------------------------- integrals */

/* Contractions, tight and diffuse shells, all degrees. */
static tsl_err integrals_to_g(void) {
  tsl_err err = TSL_OK;
  static const char *const kinds[] = {"spherical", "cartesian"};
  char path[64] = "", section[2048], what[96];
  TSL_TRY(xc_write_basis(path));
  for (int kind = 0; kind < 2; kind++) {
    (void)snprintf(section, sizeof section,
                   WATER "  basis: %s\n  functions: %s\n  functional: pbe\n  coulomb: fitted\n"
                         "  fitting: %s\n" SMALL,
                   path, kinds[kind], kind == 0 ? "def2-universal-jfit" : path);
    (void)snprintf(what, sizeof what, "water to g, %s", kinds[kind]);
    TSL_TRY(xc_integrals_same(what, section, &card, &host));
  }
done:
  if (path[0] != '\0') (void)unlink(path);
  return err;
}

static tsl_err test_integrals(void) {
  tsl_err err = TSL_OK;
  static const struct {
    const char *what, *section;
  } cases[] = {
      {"water def2-SVP", WATER "  basis: def2-SVP\n"},
      {"water def2-TZVP", WATER "  basis: def2-TZVP\n"},
      {"hydrogen sulphide def2-TZVP",
       "  molecule: {atoms: 'S 0 0 0.1; H 0 0.97 -0.83; H 0 -0.97 -0.83'}\n  basis: def2-TZVP\n"},
      {"iron oxide def2-TZVP",
       "  molecule: {atoms: 'Fe 0 0 0; O 0.3 0.2 1.58', multiplicity: 5}\n  basis: def2-TZVP\n"},
      {"water DZVP, Cartesian",
       WATER "  basis: DZVP\n  functions: cartesian\n  fitting: DZVP-fit\n"},
      {"water def2-TZVP, Cartesian", WATER "  basis: def2-TZVP\n  functions: cartesian\n"},
      {"benzene 6-31G*", BENZENE "  basis: 6-31G*\n"}};
  char section[2048];
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    (void)snprintf(section, sizeof section, "%s  functional: pbe\n  coulomb: fitted\n" SMALL,
                   cases[k].section);
    TSL_TRY(xc_integrals_same(cases[k].what, section, &card, &host));
  }
  TSL_TRY(integrals_to_g());
done:
  return err;
}

static tsl_err test_quartets(void) {
  return xc_test_quartets(&card, &host);
}

static tsl_err test_gradient(void) {
  return xc_test_gradient(&card, &host);
}

static tsl_err test_classes(void) {
  return xc_test_classes(&card, &host);
}

/* --------------------------------------------------------------- mixed, memory */

static tsl_err test_mixed(void) {
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  xc_outcome wide = {.xc = NULL}, narrow = {.xc = NULL};
  TSL_TRY(xc_made_open(BENZENE "  basis: def2-SVP\n  functional: pbe\n  coulomb: fitted\n"
                               "  precision: mixed\n" SMALL,
                       &made));
  TSL_TRY(xc_outcome_open(&made, &wide));
  TSL_TRY(xc_outcome_open(&made, &narrow));
  int32_t *single = made.problem.fields[XC_IN_PRECISION].data;
  if (*single != 1) TSL_FAIL(TSL_ERR_NUMERIC, "mixed does not begin with float");
  TSL_TRY(build(&made, 0, &narrow));
  *single = 0;
  TSL_TRY(build(&made, 0, &wide));
  TSL_TRY(compare("mixed beside double", &made, &narrow, &wide, 1e-4));
  if (worst_of(narrow.xc, wide.xc, xc_params_of(&made.problem)->n) == 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "mixed is no other than double");
done:
  xc_outcome_close(&wide);
  xc_outcome_close(&narrow);
  xc_made_close(&made);
  return err;
}

static tsl_err test_numbers(void) {
  tsl_err err = TSL_OK;
  static const double bad[] = {NAN, INFINITY, 1e12};
  xc_made made = {.deck = NULL};
  xc_outcome out = {.xc = NULL};
  TSL_TRY(
      xc_made_open(WATER "  basis: STO-3G\n  functional: pbe\n  coulomb: fitted\n" SMALL, &made));
  TSL_TRY(xc_outcome_open(&made, &out));
  double *density = made.problem.fields[XC_IN_DENSITIES].data;
  for (int k = 0; k < 3; k++) {
    density[0] = bad[k];
    const tsl_err found = build(&made, 0, &out);
    printf("density %g: %s\n", bad[k], tsl_err_message());
    if (found != TSL_ERR_NUMERIC || strstr(tsl_err_message(), "group") == NULL)
      TSL_FAIL(TSL_ERR_NUMERIC, "density %g: status %d", bad[k], (int)found);
  }
done:
  xc_outcome_close(&out);
  xc_made_close(&made);
  return err;
}

/* The field to its end by one worker. */
static tsl_err field(const char *section, const tsl_backend *backend, const tsl_device *device,
                     double *energy, int *phases) {
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  xc_outcome out = {.xc = NULL};
  tsl_worker *worker = NULL;
  tsl_summary summary = {.n_results = 0};
  bool more = true;
  TSL_TRY(xc_made_open(section, &made));
  TSL_TRY(xc_outcome_open(&made, &out));
  TSL_TRY(backend->open(&made.problem, device, &worker));
  for (*phases = 0; more; ++*phases) {
    TSL_TRY(xc_phase(backend, worker, &made, *phases, GROUPS | BATCHES, XC_ORDER_GIVEN, 7, &out));
    TSL_TRY(tsl_family_xc.advance(&made.problem, *phases, &more));
  }
  TSL_TRY(tsl_family_xc.summary(&made.problem, &summary));
  for (int k = 0; k < summary.n_results; k++)
    if (strcmp(summary.results[k].name, "total energy") == 0) *energy = summary.results[k].value;
  if (!summary.valid) TSL_FAIL(TSL_ERR_NUMERIC, "%s", summary.reason);
done:
  backend->close(&worker);
  xc_outcome_close(&out);
  xc_made_close(&made);
  return err;
}

static tsl_err one_field(const char *what, const char *section) {
  tsl_err err = TSL_OK;
  const tsl_backend *gpu = tsl_backend_find(&tsl_platform_gpu, "xc");
  double energy[3] = {0, 1, 2};
  int phases[3];
  char mixed[2048];
  (void)snprintf(mixed, sizeof mixed, "%s  precision: mixed\n", section);
  TSL_TRY(field(section, gpu, &card, &energy[0], &phases[0]));
  TSL_TRY(field(mixed, gpu, &card, &energy[1], &phases[1]));
  TSL_TRY(field(section, tsl_backend_find(&tsl_platform_cpu, "xc"), &host, &energy[2], &phases[2]));
  printf("%-16s card %.11f in %d phases, mixed %.11f in %d, socket %.11f in %d\n", what, energy[0],
         phases[0], energy[1], phases[1], energy[2], phases[2]);
  for (int k = 1; k < 3; k++)
    if (!(fabs(energy[k] - energy[0]) < 1e-9))
      TSL_FAIL(TSL_ERR_NUMERIC, "%s: other energies", what);
done:
  return err;
}

#define TIGHT "  grid: {radial: 30, angular: 86}\n  scf: {energy: 1e-10, commutator: 1e-6}\n"
static tsl_err test_scf(void) {
  tsl_err err = TSL_OK;
  TSL_TRY(
      one_field("water", WATER "  basis: def2-SVP\n  functional: pbe\n  coulomb: fitted\n" TIGHT));
  TSL_TRY(one_field("oxygen", OXYGEN "  basis: STO-3G\n  functional: b3lyp\n" TIGHT));
  if (xc_known("cam-b3lyp"))
    TSL_TRY(one_field("water, two operators",
                      WATER "  basis: def2-SVP\n  functional: cam-b3lyp\n" TIGHT));
  TSL_TRY(one_field("water, non-local", WATER
                    "  basis: def2-SVP\n  functional: pbe\n  coulomb: fitted\n" NONLOCAL TIGHT));
  TSL_TRY(one_field("oxygen, non-local",
                    OXYGEN "  basis: def2-SVP\n  functional: tpssh\n" NONLOCAL TIGHT));
  if (xc_known("wb97m-v"))
    TSL_TRY(one_field("oxygen wb97m-v", OXYGEN "  basis: STO-3G\n  functional: wb97m-v\n" TIGHT));
done:
  return err;
}

#define BOTH "  coulomb: fitted\n  exchange: fitted\n"
#define FITTED BOTH SMALL
static tsl_err test_exchange(void) {
  tsl_err err = TSL_OK;
  TSL_TRY(
      one_coulomb("fitted exchange", WATER "  basis: def2-SVP\n  functional: pbe0\n" FITTED, 0));
  TSL_TRY(one_coulomb("a triplet", OXYGEN "  basis: def2-TZVP\n  functional: b3lyp\n" FITTED, 0));
  TSL_TRY(one_coulomb("Cartesian functions",
                      WATER "  basis: 6-31G*\n  functional: pbe0\n  functions: cartesian\n" FITTED,
                      0));
  TSL_TRY(one_coulomb("integrals anew, some at a time", /* 26 MiB of them */
                      BENZENE "  basis: def2-SVP\n  functional: pbe0\n" FITTED, 40 << 20));
  TSL_TRY(one_field("fitted exchange", WATER "  basis: def2-SVP\n  functional: pbe0\n" BOTH TIGHT));
done:
  return err;
}

/* What the last message says is needed. */
static tsl_err needed(int64_t *bytes) {
  tsl_err err = TSL_OK;
  const char *at = strstr(tsl_err_message(), "needs at least ");
  double count = 0;
  char unit = 0;
  if (at == NULL || sscanf(at, "needs at least %lf %c", &count, &unit) != 2)
    TSL_FAIL(TSL_ERR_NUMERIC, "nothing is said to be needed: %s", tsl_err_message());
  *bytes = (int64_t)(count * (unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1 << 30));
done:
  return err;
}

static tsl_err test_memory(void) {
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  xc_outcome out = {.xc = NULL}, whole = {.xc = NULL};
  int64_t enough = 0;
  TSL_TRY(xc_made_open(BENZENE "  basis: def2-SVP\n  functional: pbe\n  coulomb: fitted\n" SMALL,
                       &made));
  TSL_TRY(xc_outcome_open(&made, &out));
  for (int64_t memory = 1 << 10; memory <= 1 << 20; memory *= 32) {
    const tsl_err found = build(&made, memory, &out);
    printf("%lld bytes: %s\n", (long long)memory, tsl_err_message());
    if (found != TSL_ERR_DEVICE_MEMORY)
      TSL_FAIL(TSL_ERR_NUMERIC, "%lld bytes of the card: status %d", (long long)memory, (int)found);
    TSL_TRY(needed(&enough));
  }
  TSL_TRY(xc_outcome_open(&made, &whole));
  TSL_TRY(build(&made, 0, &whole));
  TSL_TRY(build(&made, enough, &out));
  TSL_TRY(compare("as much as is needed", &made, &out, &whole, 1e-13));
done:
  xc_outcome_close(&whole);
  xc_outcome_close(&out);
  xc_made_close(&made);
  return err;
}

/* ------------------------------------------------------------- reproducible */

/* One phase of the units of a parity (2: all), `call` a call. */
static tsl_err part_of(tsl_worker *worker, xc_made *made, int phase, int parity, int64_t call,
                       xc_outcome *out) {
  xc_made part = *made;
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(made->units.n, sizeof *part.units.list, "units", (void **)&part.units.list));
  part.units.n = 0;
  for (int64_t u = 0; u < made->units.n; u++)
    if (parity == 2 || u % 2 == parity) part.units.list[part.units.n++] = made->units.list[u];
  TSL_TRY(xc_phase(tsl_backend_find(&tsl_platform_gpu, "xc"), worker, &part, phase,
                   GROUPS | BATCHES, XC_ORDER_TURNED, call, out));
done:
  tsl_free(part.units.list);
  return err;
}

/* More numbers of 64 bits to some. */
static void join(double *to, const double *more, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    int64_t a, b;
    memcpy(&a, to + k, 8), memcpy(&b, more + k, 8);
    a += b;
    memcpy(to + k, &a, 8);
  }
}

/* Two cards' shares together beside one card's whole. */
static tsl_err same_parts(const char *what, const xc_made *made, xc_outcome parts[2],
                          const xc_outcome *whole) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(&made->problem);
  const int64_t nn = p->n * p->n, k = tsl_field_count(&made->problem.fields[XC_SUM_EXCHANGE]);
  join(parts[0].sums, parts[1].sums, XC_N_INTEGRALS);
  join(parts[0].xc, parts[1].xc, p->n_spin * nn);
  join(parts[0].coulomb, parts[1].coulomb, nn);
  join(parts[0].exchange, parts[1].exchange, k);
  for (int64_t f = 0; f < p->n_fit; f++) parts[0].gamma[f] += parts[1].gamma[f];
  TSL_TRY(same_bits(what, made, &parts[0], whole));
  if (memcmp(parts[0].coulomb, whole->coulomb, (size_t)nn * 8) != 0 ||
      memcmp(parts[0].exchange, whole->exchange, (size_t)k * 8) != 0 ||
      memcmp(parts[0].gamma, whole->gamma, (size_t)p->n_fit * 8) != 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "%s: other bits of J, K or gamma", what);
done:
  return err;
}

static tsl_err one_reproducible(const char *what, const char *section) {
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  xc_outcome whole = {.xc = NULL}, parts[2] = {{.xc = NULL}, {.xc = NULL}};
  tsl_worker *workers[3] = {NULL, NULL, NULL};
  const tsl_backend *gpu = tsl_backend_find(&tsl_platform_gpu, "xc");
  bool more = true;
  TSL_TRY(xc_made_open(section, &made));
  TSL_TRY(xc_outcome_open(&made, &whole));
  for (int k = 0; k < 2; k++) TSL_TRY(xc_outcome_open(&made, &parts[k]));
  for (int k = 0; k < 3; k++) {
    ((xc_params *)made.problem.params)->card_cache = k == 2 ? 1 << 20 : (int64_t)1 << 40;
    TSL_TRY(gpu->open(&made.problem, &card, &workers[k]));
  }
  for (int phase = 0; phase < 4 && more; phase++) {
    TSL_TRY(part_of(workers[1], &made, phase, 0, 1, &parts[0]));
    TSL_TRY(part_of(workers[2], &made, phase, 1, 3, &parts[1]));
    TSL_TRY(part_of(workers[0], &made, phase, 2, CALL, &whole));
    TSL_TRY(same_parts(what, &made, parts, &whole));
    TSL_TRY(tsl_family_xc.advance(&made.problem, phase, &more));
  }
done:
  for (int k = 0; k < 3; k++) gpu->close(&workers[k]);
  xc_outcome_close(&whole);
  for (int k = 0; k < 2; k++) xc_outcome_close(&parts[k]);
  xc_made_close(&made);
  return err;
}

static tsl_err test_reproducible(void) {
  tsl_err err = TSL_OK;
  static const char water[] = WATER "  basis: def2-SVP\n  functional: pbe\n";
  const tsl_backend *gpu = tsl_backend_find(&tsl_platform_gpu, "xc");
  char fixed[2048];
  double energy[3];
  int phases = 0;
  TSL_TRY(one_reproducible("benzene, fitted",
                           BENZENE "  basis: def2-SVP\n  functional: pbe\n  coulomb: fitted\n"
                                   "  reproducible: yes\n  grid: {radial: 20, angular: 50}\n"
                                   "  groups: {target: 300}\n"));
  TSL_TRY(one_reproducible("oxygen, exact, hybrid",
                           OXYGEN "  basis: STO-3G\n  functional: b3lyp\n  reproducible: yes\n"
                                  "  groups: {target: 200}\n" SMALL));
  TSL_TRY(one_reproducible("water, float",
                           WATER "  basis: def2-SVP\n  functional: pbe\n  coulomb: fitted\n"
                                 "  precision: mixed\n  reproducible: yes\n" SMALL));
  (void)snprintf(fixed, sizeof fixed, "%s  reproducible: yes\n", water);
  TSL_TRY(field(water, gpu, &card, &energy[0], &phases));
  TSL_TRY(field(fixed, gpu, &card, &energy[1], &phases));
  TSL_TRY(field(fixed, gpu, &card, &energy[2], &phases));
  printf("water: %.12f, reproducible %.12f\n", energy[0], energy[1]);
  if (!(fabs(energy[1] - energy[0]) < 1e-9) || energy[1] != energy[2])
    TSL_FAIL(TSL_ERR_NUMERIC, "water: other energies, %.15g and again %.15g", energy[1], energy[2]);
done:
  return err;
}

static tsl_err test_weights(void) {
  return xc_test_weights(&card);
}

int main(int argc, char **argv) {
  tsl_err err = TSL_OK;
  static const named_test tests[] = {
      {"truth", test_truth},         {"sizes", test_sizes},
      {"repeat", test_repeat},       {"coulomb", test_coulomb},
      {"integrals", test_integrals}, {"quartets", test_quartets},
      {"classes", test_classes},     {"mixed", test_mixed},
      {"memory", test_memory},       {"scf", test_scf},
      {"numbers", test_numbers},     {"reproducible", test_reproducible},
      {"exchange", test_exchange},   {"gradient", test_gradient},
      {"weights", test_weights}};
  const char *why = NULL;
  if (tsl_platform_gpu.count(&why) == 0) {
    printf("%s\n", why);
    return 77;
  }
  TSL_TRY(tsl_platform_gpu.describe(0, &card));
  TSL_TRY(tsl_platform_gpu.select(&card));
  TSL_TRY(tsl_platform_cpu.describe(0, &host));
  host.threads = 2, host.memory_limit = host.memory;
  return run_named(tests, (int)(sizeof tests / sizeof *tests), argc, argv);
done:
  fprintf(stderr, "%s\n%s", tsl_err_message(), tsl_err_places());
  return tsl_err_status(err);
}
