/* gpu.xc.gradient: what each kind of unit adds to the gradient on a card beside a socket's, of
 * densities without any pattern; whole gradients of fields that have converged. */
#include "test_xc_gpu.h"

#include "xc_exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS_AGAIN = 5 };
static const char *const kinds[XC_N_UNIT_KINDS] = {"groups", "quartets", "fit", "exchange",
                                                   "nonlocal"};

/* Of each spin another, positive as the functional wants it; asked for is the whole. */
static void set_densities(xc_made *made) {
  enum { RANK = 4 };
  const xc_params *p = xc_params_of(&made->problem);
  const int64_t n = p->n, nn = n * n;
  double *d = made->problem.fields[XC_IN_DENSITIES].data, *total = d + p->n_spin * nn;
  memset(total, 0, (size_t)nn * sizeof *d);
  for (int s = 0; s < p->n_spin; s++) {
    double *own = d + s * nn;
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) {
        own[i * n + j] = i == j ? 0.3 + 0.1 * s : 0;
        for (int k = 0; k < RANK; k++)
          own[i * n + j] +=
              0.09 * cos(0.7 * (double)i + 1.9 * k + s) * cos(0.7 * (double)j + 1.9 * k + s);
        total[i * n + j] += (p->n_spin == 1 ? 2 : 1) * own[i * n + j];
      }
    memcpy(total + (1 + s) * nn, own, (size_t)nn * sizeof *d);
  }
}

/* Coefficients, orbitals and fitted products of orbitals. */
static void set_fit(xc_made *made) {
  const xc_params *p = xc_params_of(&made->problem);
  const tsl_field *fields = made->problem.fields;
  const int64_t products = p->n_spin * p->n_fit * p->n_products;
  double *c = fields[XC_IN_COEFFICIENTS].data, *of = fields[XC_IN_PRODUCTS].data;
  for (int64_t k = 0; k < p->n_fit; k++) c[k] = 0.1 * cos(1.7 * (double)k);
  for (int64_t k = 0; k < products; k++) of[k] = 0.05 * cos(0.9 * (double)k + 0.3);
}

/** Both devices and what they found. */
typedef struct pair {
  const tsl_backend *backend[2];
  tsl_worker *worker[2];
  xc_outcome out;
  double *gradient[2]; /**< [n_atoms][3] */
  double *first;       /**< of the card, with another number of units a call */
} pair;

static void pair_close(pair *p) {
  for (int k = 0; k < 2; k++) {
    p->backend[k]->close(&p->worker[k]);
    tsl_free(p->gradient[k]);
  }
  tsl_free(p->first);
  xc_outcome_close(&p->out);
}

static tsl_err pair_open(xc_made *made, const tsl_device *card, const tsl_device *host, pair *p) {
  tsl_err err = TSL_OK;
  const tsl_device *const devices[2] = {card, host};
  TSL_TRY(xc_outcome_open(made, &p->out));
  TSL_TRY(tsl_alloc(xc_params_of(&made->problem)->n_atoms, 3 * (int64_t)sizeof(double), "gradient",
                    (void **)&p->first));
  for (int k = 0; k < 2; k++) {
    TSL_TRY(p->backend[k]->open(&made->problem, devices[k], &p->worker[k]));
    TSL_TRY(tsl_alloc(xc_params_of(&made->problem)->n_atoms, 3 * (int64_t)sizeof(double),
                      "gradient", (void **)&p->gradient[k]));
  }
done:
  return err;
}

/* One kind of unit in one phase, so many units a call. */
static tsl_err compare_kind(const char *what, xc_made *made, pair *p, int phase, int kind,
                            int64_t call) {
  tsl_err err = TSL_OK;
  const xc_params *params = xc_params_of(&made->problem);
  const int64_t n = 3 * params->n_atoms;
  double off = 0, most = 0, seconds[2];
  for (int k = 0; k < 2; k++) {
    TSL_TRY(xc_phase(p->backend[k], p->worker[k], made, phase, 1 << kind,
                     call % 2 ? XC_ORDER_TURNED : XC_ORDER_GIVEN, call, &p->out));
    memcpy(p->gradient[k], made->problem.fields[XC_SUM_GRADIENT].data, (size_t)n * sizeof(double));
    seconds[k] = p->out.seconds;
  }
  for (int64_t k = 0; k < n; k++) {
    const double d = fabs(p->gradient[0][k] - p->gradient[1][k]);
    if (!(d <= off)) off = d; /* NaN stays */
    most = fmax(most, fabs(p->gradient[1][k]));
  }
  printf("%-40s %-8s %4lld functions, %3lld units a call: off by %.1e of %.1e, %.1f ms; socket "
         "%.1f\n",
         what, kinds[kind], (long long)params->n, (long long)call, off, most, seconds[0] * 1e3,
         seconds[1] * 1e3);
  (void)fflush(stdout);
  if (!(off < 1e-10) && !(off < 1e-12 * most))
    TSL_FAIL(TSL_ERR_NUMERIC, "%s: %s: not the socket's", what, kinds[kind]);
  if (params->reproducible && call == CALLS_AGAIN &&
      memcmp(p->first, p->gradient[0], (size_t)n * sizeof(double)) != 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "%s: %s: other bits with other calls", what, kinds[kind]);
  memcpy(p->first, p->gradient[0], (size_t)n * sizeof(double));
done:
  return err;
}

static tsl_err one_case(const char *what, const char *section, const tsl_device *card,
                        const tsl_device *host) {
  static const int64_t calls[] = {256, CALLS_AGAIN};
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  pair p = {.backend = {tsl_backend_find(&tsl_platform_gpu, "xc"),
                        tsl_backend_find(&tsl_platform_cpu, "xc")}};
  TSL_TRY(xc_made_open(section, &made));
  set_densities(&made);
  set_fit(&made);
  *(int32_t *)made.problem.fields[XC_IN_TASK].data = XC_TASK_GRADIENT;
  TSL_TRY(pair_open(&made, card, host, &p));
  for (int kind = 0; kind < XC_N_UNIT_KINDS; kind++)
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
      int64_t count = 0;
      for (int64_t u = 0; u < made.units.n; u++) count += made.units.list[u].kind == kind;
      if (count > 0) TSL_TRY(compare_kind(what, &made, &p, kind == XC_UNIT_FIT, kind, calls[k]));
    }
done:
  pair_close(&p);
  xc_made_close(&made);
  return err;
}

#define FIT "  coulomb: fitted\n"
#define IRON "  molecule: {atoms: 'Fe 0 0 0; O 0.3 0.2 1.58', multiplicity: 5}\n"
#define BECKE "  grid: {radial: 12, angular: 26, scheme: becke, adjust: bragg}\n"

static tsl_err molecules(const tsl_device *card, const tsl_device *host) {
  tsl_err err = TSL_OK;
  static const struct {
    const char *what, *functional, *section;
  } cases[] = {
      {"water pbe, fitted", "pbe", WATER "  basis: def2-SVP\n" FIT SMALL},
      {"water svwn5, Becke", "svwn5", WATER "  basis: def2-SVP\n" FIT BECKE},
      {"water pbe, the grid at rest", "pbe",
       WATER "  basis: def2-SVP\n" FIT "  grid: {radial: 12, angular: 26, response: no}\n"},
      {"water b3lyp, exact", "b3lyp", WATER "  basis: def2-SVP\n" SMALL},
      {"water pbe, exact Coulomb", "pbe", WATER "  basis: 6-31G*\n" SMALL},
      {"water pbe0, fitted Coulomb", "pbe0", WATER "  basis: def2-SVP\n" FIT SMALL},
      {"water pbe0, fitted exchange", "pbe0",
       WATER "  basis: def2-SVP\n  exchange: fitted\n" FIT SMALL},
      {"a triplet, pbe", "pbe", OXYGEN "  basis: def2-TZVP\n" FIT SMALL},
      {"a triplet, svwn5", "svwn5", OXYGEN "  basis: def2-SVP\n" FIT SMALL},
      {"a triplet, b3lyp exact", "b3lyp", OXYGEN "  basis: def2-TZVP\n" SMALL},
      {"a functional of libxc", "b97_d", OXYGEN "  basis: def2-SVP\n" FIT SMALL},
      {"water tpss, fitted", "tpss", WATER "  basis: def2-SVP\n" FIT SMALL},
      {"water r2scan0, exact", "r2scan0", WATER "  basis: def2-TZVP\n" SMALL},
      {"water tpss, the grid at rest", "tpss",
       WATER "  basis: def2-SVP\n" FIT "  grid: {radial: 12, angular: 26, response: no}\n"},
      {"a triplet, tpss", "tpss", OXYGEN "  basis: def2-TZVP\n" FIT SMALL},
      {"a triplet, tpss, the grid at rest", "tpss",
       OXYGEN "  basis: def2-SVP\n" FIT "  grid: {radial: 12, angular: 26, response: no}\n"},
      {"benzene tpss, Becke", "tpss", BENZENE "  basis: def2-SVP\n" FIT BECKE},
      {"water of libxc, tau", "m06-2x", WATER "  basis: def2-SVP\n" SMALL},
      {"a triplet of libxc, tau", "m06-2x", OXYGEN "  basis: def2-SVP\n" SMALL},
      {"water cam-b3lyp, exact", "cam-b3lyp", WATER "  basis: def2-TZVP\n" SMALL},
      {"water lc-wpbe, fitted Coulomb", "lc-wpbe", WATER "  basis: def2-SVP\n" FIT SMALL},
      {"a triplet, wb97x exact", "wb97x", OXYGEN "  basis: def2-SVP\n" SMALL},
      {"benzene hse06", "hse06", BENZENE "  basis: 6-31G*\n" SMALL},
      {"iron oxide tpss", "tpss", IRON "  basis: def2-SVP\n" FIT SMALL},
      {"reproducible, tpss", "tpss", OXYGEN "  basis: def2-SVP\n  reproducible: yes\n" FIT SMALL},
      {"Cartesian functions", "pbe",
       WATER "  basis: DZVP\n  functions: cartesian\n  fitting: DZVP-fit\n" FIT SMALL},
      {"iron oxide pbe", "pbe", IRON "  basis: def2-TZVP\n" FIT SMALL},
      {"iron oxide b3lyp exact", "b3lyp", IRON "  basis: def2-SVP\n" SMALL},
      {"benzene pbe", "pbe", BENZENE "  basis: def2-SVP\n" FIT SMALL},
      {"benzene b3lyp exact", "b3lyp", BENZENE "  basis: 6-31G*\n" SMALL},
      {"reproducible", "b3lyp", OXYGEN "  basis: STO-3G\n  reproducible: yes\n" SMALL},
      {"reproducible, fitted", "pbe", BENZENE "  basis: def2-SVP\n  reproducible: yes\n" FIT SMALL},
      {"a triplet, fitted exchange", "b3lyp",
       OXYGEN "  basis: def2-TZVP\n  exchange: fitted\n" FIT SMALL},
      {"Cartesian functions, fitted exchange", "pbe0",
       WATER "  basis: 6-31G*\n  functions: cartesian\n  exchange: fitted\n" FIT SMALL}};
  char section[2048];
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    if (!xc_known(cases[k].functional)) continue;
    /* Card and socket leave out small integrals by rules of their own. */
    (void)snprintf(section, sizeof section,
                   "%s  functional: %s\n  task: gradient\n  threshold: 1e-15\n", cases[k].section,
                   cases[k].functional);
    TSL_TRY(one_case(cases[k].what, section, card, host));
  }
done:
  return err;
}

/* Contractions, tight and diffuse shells, all degrees. */
static tsl_err degrees(const tsl_device *card, const tsl_device *host) {
  tsl_err err = TSL_OK;
  static const char *const functions[] = {"spherical", "cartesian"};
  static const char *const functionals[] = {"pbe", "pbe0", "tpss", "cam-b3lyp"};
  char path[64] = "", section[2048], what[96];
  TSL_TRY(xc_write_basis(path));
  for (int k = 0; k < (xc_known("cam-b3lyp") ? 8 : 6); k++) {
    (void)snprintf(section, sizeof section,
                   WATER "  basis: %s\n  functions: %s\n  functional: %s\n%s%s%s"
                         "  task: gradient\n" SMALL,
                   path, functions[k % 2], functionals[k / 2], k < 2 ? FIT "  fitting: " : "",
                   k < 2 ? path : "", k < 2 ? "\n" : "");
    (void)snprintf(what, sizeof what, "water to g, %s, %s", functionals[k / 2], functions[k % 2]);
    TSL_TRY(one_case(what, section, card, host));
  }
done:
  if (path[0] != '\0') (void)unlink(path);
  return err;
}

/* --------------------------------------------------------------------- fields */

/* The gradient of a field that has converged. @param[out] gradient  [atoms][3] */
static tsl_err field(const char *section, const tsl_backend *backend, const tsl_device *device,
                     double *gradient) {
  tsl_err err = TSL_OK;
  xc_made made = {.deck = NULL};
  xc_outcome out = {.xc = NULL};
  tsl_worker *worker = NULL;
  bool more = true;
  TSL_TRY(xc_made_open(section, &made));
  TSL_TRY(xc_outcome_open(&made, &out));
  TSL_TRY(backend->open(&made.problem, device, &worker));
  for (int phase = 0; more; phase++) {
    TSL_TRY(xc_phase(backend, worker, &made, phase, (1 << XC_N_UNIT_KINDS) - 1, XC_ORDER_GIVEN, 7,
                     &out));
    TSL_TRY(tsl_family_xc.advance(&made.problem, phase, &more));
  }
  if (made.problem.fields[XC_SUM_GRADIENT].hidden)
    TSL_FAIL(TSL_ERR_NUMERIC, "the field has not converged");
  memcpy(gradient, made.problem.fields[XC_SUM_GRADIENT].data,
         (size_t)(3 * xc_params_of(&made.problem)->n_atoms) * sizeof *gradient);
done:
  backend->close(&worker);
  xc_outcome_close(&out);
  xc_made_close(&made);
  return err;
}

static tsl_err one_field(const char *what, const char *section, int atoms, const tsl_device *card,
                         const tsl_device *host) {
  tsl_err err = TSL_OK;
  double of[2][9] = {{0}}, off = 0, most = 0;
  TSL_TRY(field(section, tsl_backend_find(&tsl_platform_gpu, "xc"), card, of[0]));
  TSL_TRY(field(section, tsl_backend_find(&tsl_platform_cpu, "xc"), host, of[1]));
  for (int k = 0; k < 3 * atoms; k++) {
    off = fmax(off, fabs(of[0][k] - of[1][k]));
    most = fmax(most, fabs(of[1][k]));
  }
  printf("%-40s whole gradient off by %.1e of %.1e\n", what, off, most);
  if (!(off < 1e-8)) TSL_FAIL(TSL_ERR_NUMERIC, "%s: not the socket's", what);
done:
  return err;
}

#define END                                                                       \
  "  grid: {radial: 30, angular: 86}\n  scf: {energy: 1e-11, commutator: 1e-8}\n" \
  "  task: gradient\n"

tsl_err xc_test_gradient(const tsl_device *card, const tsl_device *host) {
  tsl_err err = TSL_OK;
  TSL_TRY(molecules(card, host));
  TSL_TRY(degrees(card, host));
  TSL_TRY(one_field("water pbe", WATER "  basis: def2-SVP\n  functional: pbe\n" FIT END, 3, card,
                    host));
  TSL_TRY(one_field("water pbe, mixed",
                    WATER "  basis: def2-SVP\n  functional: pbe\n  precision: mixed\n" FIT END, 3,
                    card, host));
  TSL_TRY(one_field("water tpss, mixed",
                    WATER "  basis: def2-SVP\n  functional: tpss\n  precision: mixed\n" FIT END, 3,
                    card, host));
  TSL_TRY(one_field("oxygen r2scan", OXYGEN "  basis: def2-SVP\n  functional: r2scan\n" FIT END, 2,
                    card, host));
  if (xc_known("wb97x"))
    TSL_TRY(one_field("oxygen wb97x, mixed",
                      OXYGEN "  basis: def2-SVP\n  functional: wb97x\n  precision: mixed\n" END, 2,
                      card, host));
  TSL_TRY(one_field("water pbe, non-local",
                    WATER "  basis: def2-SVP\n  functional: pbe\n" NONLOCAL FIT END, 3, card,
                    host));
  TSL_TRY(one_field("oxygen tpss, non-local",
                    OXYGEN "  basis: def2-SVP\n  functional: tpss\n" NONLOCAL END, 2, card, host));
  TSL_TRY(one_field("oxygen b3lyp", OXYGEN "  basis: def2-SVP\n  functional: b3lyp\n" END, 2, card,
                    host));
  TSL_TRY(one_field("water pbe0, fitted exchange",
                    WATER "  basis: def2-SVP\n  functional: pbe0\n  exchange: fitted\n" FIT END, 3,
                    card, host));
done:
  return err;
}
