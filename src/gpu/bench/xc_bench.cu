/* `tesela bench xc`: on a card, the integrals of density fitting, and one build of the
 * exchange-correlation energy and matrix of the guess density: the first, which computes the
 * functions of the basis, and the next ones. */
#include "xc_bench.cuh"

#include "clock.h"

#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_XYZ = 16, CALL = 256 }; /* units of a call, as the runtime hands them out */

/* Of an H200, nominal: matrix units in double, and memory. */
static const double FLOPS = 67e12, BYTES = 4.8e12;

typedef struct options {
  int64_t repeat;
  const char *xyz[MOST_XYZ];
  const char *deck, *functional, *basis, *grid;
  int n_xyz;
  bool mixed_only, double_only, help;
} options;

static void xc_bench_print_help(void) {
  printf("tesela bench xc [--deck FILE] [--xyz FILE]... [--functional F] [--basis B] [--grid G]\n"
         "                [--repeat N] [--precision fp64|mixed]\n"
         "Fitting integrals, and builds of the exchange-correlation energy and matrix, on card 0, "
         "of the\n"
         "guess density.\n"
         "  --deck FILE      the molecule and all else from a deck\n"
         "  --xyz FILE       a molecule; may be given again; none: water\n"
         "  --functional F   pbe\n"
         "  --basis B        def2-SVP\n"
         "  --grid G         default\n"
         "  --repeat N       builds that count, best of N (10)\n"
         "  --precision P    one of both alone\n"
         "bound: 4 points functions^2 operations at 67 TFLOP/s, or 14 words of 8 bytes for each "
         "point\n"
         "and function at 4.8 TB/s, whichever is longer (nominal, H200).\n");
}

static tsl_err xc_bench_read_options(int argc, char **argv, options *o) {
  tsl_err err = TSL_OK;
  for (int a = 1; a < argc; a++) {
    const char *const value = a + 1 < argc ? argv[a + 1] : NULL;
    if (strcmp(argv[a], "--help") == 0) {
      o->help = true;
      continue;
    }
    if (value == NULL) TSL_FAIL(TSL_ERR_USAGE, "%s: unknown, or without its value", argv[a]);
    if (strcmp(argv[a], "--deck") == 0)
      o->deck = value;
    else if (strcmp(argv[a], "--functional") == 0)
      o->functional = value;
    else if (strcmp(argv[a], "--basis") == 0)
      o->basis = value;
    else if (strcmp(argv[a], "--grid") == 0)
      o->grid = value;
    else if (strcmp(argv[a], "--xyz") == 0 && o->n_xyz < MOST_XYZ)
      o->xyz[o->n_xyz++] = value;
    else if (strcmp(argv[a], "--precision") == 0 && strcmp(value, "fp64") == 0)
      o->double_only = true;
    else if (strcmp(argv[a], "--precision") == 0 && strcmp(value, "mixed") == 0)
      o->mixed_only = true;
    else if (strcmp(argv[a], "--repeat") == 0) {
      o->repeat = atoll(value);
      if (o->repeat < 1 || o->repeat > 10000)
        TSL_FAIL(TSL_ERR_USAGE, "--repeat %s; allowed 1..10000", value);
    } else
      TSL_FAIL(TSL_ERR_USAGE, "unknown option '%s'; `tesela bench xc --help` lists them", argv[a]);
    a++;
  }
done:
  return err;
}

/* ------------------------------------------------------------------ problem */

typedef struct made {
  tsl_deck *deck;
  tsl_problem problem;
  tsl_units units;
  tsl_unit *groups; /* [n_groups] */
  tsl_part *parts;
  int64_t n_groups;
  double s1, s2; /* points x functions, x functions^2 */
} made;

static void made_close(made *m) {
  if (m->problem.family != NULL) m->problem.family->destroy(&m->problem);
  tsl_problem_clear(&m->problem);
  tsl_deck_destroy(&m->deck);
  tsl_free(m->units.list);
  tsl_free(m->groups);
  tsl_free(m->parts);
}

static tsl_err open_deck(const options *o, const char *xyz, made *m) {
  tsl_err err = TSL_OK;
  char text[8192], where[4200];
  int n = 0;
  if (o->deck != NULL) return tsl_deck_read(o->deck, NULL, 0, &m->deck);
  if (xyz != NULL)
    (void)snprintf(where, sizeof where, "xyz: '%.4096s'", xyz);
  else
    (void)snprintf(where, sizeof where,
                   "atoms: O 0 0 0.1174; H 0 0.757 -0.4696; H 0 -0.757 -0.4696");
  n = snprintf(text, sizeof text,
               "family: xc\nxc:\n  molecule:\n    %s\n  basis: '%.256s'\n"
               "  functional: '%.256s'\n  grid:\n    preset: '%.64s'\n"
               "  coulomb: fitted\n",
               where, o->basis, o->functional, o->grid);
  if (n < 0 || (size_t)n >= sizeof text) TSL_FAIL(TSL_ERR_USAGE, "the options are too long");
  TSL_TRY(tsl_deck_parse(text, (size_t)n, "bench", NULL, 0, &m->deck));
done:
  return err;
}

static tsl_err list_groups(made *m) {
  tsl_err err = TSL_OK;
  for (int64_t u = 0; u < m->units.n; u++) m->n_groups += m->units.list[u].kind == XC_UNIT_GROUP;
  TSL_TRY(tsl_alloc(m->n_groups, sizeof *m->groups, "groups", (void **)&m->groups));
  TSL_TRY(tsl_alloc(m->n_groups, sizeof *m->parts, "parts", (void **)&m->parts));
  m->n_groups = 0;
  for (int64_t u = 0; u < m->units.n; u++) {
    const tsl_unit *unit = &m->units.list[u];
    if (unit->kind != XC_UNIT_GROUP) continue;
    const xc_group *group = (const xc_group *)m->problem.fields[XC_IN_GROUPS].data + unit->lo[0];
    const xc_group_features f = xc_group_features_of(group);
    m->s1 += f.nb, m->s2 += f.nbb;
    m->groups[m->n_groups++] = *unit;
  }
done:
  return err;
}

static tsl_err made_open(const options *o, const char *xyz, made *m) {
  tsl_err err = TSL_OK;
  tsl_limits limits = {};
  limits.slab_bytes = limits.device_bytes = INT64_MAX;
  limits.target_units = 512, limits.n_ranks = 1;
  TSL_TRY(open_deck(o, xyz, m));
  m->problem.family = &tsl_family_xc;
  TSL_TRY(tsl_family_xc.create(m->deck, &m->problem));
  TSL_TRY(tsl_family_xc.units(&m->problem, &limits, &m->units));
  TSL_TRY(list_groups(m));
  for (int f = XC_SUM_XC; f <= XC_SUM_GAMMA; f++)
    TSL_TRY(tsl_field_allocate(&m->problem.fields[f]));
done:
  return err;
}

/* -------------------------------------------------------------------- builds */

/** Seconds of one build. */
typedef struct timing {
  double card;  /* all groups */
  double whole; /* with the densities to the card and the matrix back, by the host's clock */
} timing;

static tsl_err build(tsl_worker *worker, made *m, timing *best) {
  tsl_err err = TSL_OK;
  const double start = tsl_now();
  double first = 0, last = 0;
  TSL_TRY(xc_backend_gpu.begin(worker, 0));
  first = tsl_now();
  for (int64_t u = 0; u < m->n_groups; u += CALL)
    TSL_TRY(xc_backend_gpu.run(worker, m->groups + u, std::min<int64_t>(CALL, m->n_groups - u),
                               m->parts + u));
  last = tsl_now(); /* run has waited for the card */
  TSL_TRY(xc_backend_gpu.collect(worker, &m->problem));
  best->card = std::min(best->card, last - first);
  best->whole = std::min(best->whole, tsl_now() - start);
done:
  return err;
}

static void print_build(const made *m, const char *what, const timing *t) {
  const xc_params *p = xc_params_of(&m->problem);
  const double *sums = (const double *)m->problem.fields[XC_SUM_INTEGRALS].data;
  const double flops = 4 * p->n_spin * m->s2, bytes = 8 * 14.0 * p->n_spin * m->s1;
  const double bound = std::max(flops / FLOPS, bytes / BYTES);
  printf("  %-32s %9.3f ms, with transfers %9.3f; %6.2f TFLOP/s %7.1f GB/s %5.1f %% of bound "
         "%10.0f a day\n    energy %.12f electrons %.8f\n",
         what, t->card * 1e3, t->whole * 1e3, flops / t->card * 1e-12, bytes / t->card * 1e-9,
         100 * bound / t->card, 86400 / t->card, sums[XC_INTEGRAL_ENERGY],
         sums[XC_INTEGRAL_ALPHA] + sums[XC_INTEGRAL_BETA]);
  (void)fflush(stdout);
}

/* The steps of one build, each waited for. */
static tsl_err print_steps(tsl_worker *worker, made *m) {
  tsl_err err = TSL_OK;
  static const char *const names[XC_N_STEPS] = {
      "functions", "gather", "X", "density", "functional", "potential", "M", "scatter", "weights"};
  xc_gpu *const w = (xc_gpu *)worker;
  double steps[XC_N_STEPS] = {};
  timing t = {1e30, 1e30};
  w->steps = steps;
  err = build(worker, m, &t);
  w->steps = NULL;
  TSL_TRY(err);
  printf("    steps, ms:");
  for (int s = 0; s < XC_N_STEPS; s++) printf(" %s %.3f", names[s], steps[s] * 1e3);
  printf("\n");
done:
  return err;
}

static tsl_err best_build(const options *o, tsl_worker *worker, made *m, const char *what) {
  tsl_err err = TSL_OK;
  timing t = {1e30, 1e30};
  for (int64_t r = 0; r < o->repeat; r++) TSL_TRY(build(worker, m, &t));
  print_build(m, what, &t);
  TSL_TRY(print_steps(worker, m));
done:
  return err;
}

static tsl_err run_builds(const options *o, made *m, const tsl_device *device, bool mixed) {
  tsl_err err = TSL_OK;
  tsl_worker *worker = NULL;
  timing first = {1e30, 1e30};
  *(int32_t *)m->problem.fields[XC_IN_PRECISION].data = mixed;
  TSL_TRY(xc_backend_gpu.open(&m->problem, device, &worker));
  TSL_TRY(build(worker, m, &first));
  print_build(m, mixed ? "mixed, first" : "fp64, first", &first);
  TSL_TRY(best_build(o, worker, m, mixed ? "mixed, functions kept" : "fp64, functions kept"));
  ((xc_gpu *)worker)->calls = mixed ? XC_CALLS_BUCKETS : XC_CALLS_ONE;
  TSL_TRY(best_build(o, worker, m,
                     mixed ? "likewise, products by buckets" : "likewise, products in one call"));
done:
  xc_backend_gpu.close(&worker);
  return err;
}

/* ----------------------------------------------------------------- integrals */

static void print_integrals(const xc_triple_times *times) {
  printf("    degree functions      pairs  primitive   ms by l of P: 0        1        2        3  "
         "      "
         "4   expand  1e9/s\n");
  for (int k = 0; k < XC_TRIPLE_GROUPS && times[k].group.n > 0; k++) {
    const xc_triple_times *t = &times[k];
    double integrals = 0, seconds = 0;
    printf("    %6d %9d %10lld %10lld      ", (int)t->group.L, (int)t->group.size,
           (long long)t->group.n, (long long)t->group.twos);
    for (int l = 0; l < XC_TRIPLE_STEPS; l++) {
      printf(" %8.3f", t->seconds[l] * 1e3);
      seconds += t->seconds[l];
      if (l <= XC_MAX_L)
        integrals += (double)t->parts[l] * (2 * l + 1) * (double)(t->group.n * t->group.size);
    }
    printf(" %6.2f\n", integrals / seconds * 1e-9);
  }
}

/* All fitting integrals at once; times by class with a second worker, each step waited for. */
static tsl_err run_integrals(made *m, const tsl_device *device, xc_triple_times *times) {
  tsl_err err = TSL_OK;
  tsl_worker *worker = NULL;
  const xc_params *p = xc_params_of(&m->problem);
  double seconds = 0, start = 0;
  TSL_TRY(xc_backend_gpu.open(&m->problem, device, &worker));
  ((xc_gpu *)worker)->triple_times = times;
  start = tsl_now();
  TSL_TRY(xc_fit_fill((xc_gpu *)worker, m->units.list, m->units.n, &seconds));
  printf("  fitting integrals %s: %lld x %lld, %9.3f ms on the card, with lists %9.3f; %.3g a "
         "second\n",
         times == NULL ? "" : "by class", (long long)p->n_fit, (long long)p->n_packed,
         seconds * 1e3, (tsl_now() - start) * 1e3,
         (double)p->n_fit * (double)p->n_packed / seconds);
  if (times != NULL) print_integrals(times);
done:
  xc_backend_gpu.close(&worker);
  return err;
}

static tsl_err run_molecule(const options *o, const tsl_device *device, const char *xyz) {
  tsl_err err = TSL_OK;
  made m = {};
  const xc_params *p = NULL;
  xc_triple_times times[XC_TRIPLE_GROUPS] = {};
  TSL_TRY(made_open(o, xyz, &m));
  p = xc_params_of(&m.problem);
  printf("%s: %s, %lld functions, %lld points, %lld groups; points x functions %.4g, x functions^2 "
         "%.4g; %.1f GFLOP, functions %.2f GB\n",
         o->deck != NULL ? o->deck
         : xyz != NULL   ? xyz
                         : "water",
         p->functional.name, (long long)p->n, (long long)p->n_points, (long long)p->n_groups, m.s1,
         m.s2, 4e-9 * p->n_spin * m.s2, 32e-9 * m.s1);
  for (int by_class = 0; by_class < 2 && p->fitted; by_class++)
    TSL_TRY(run_integrals(&m, device, by_class ? times : NULL));
  if (!o->mixed_only) TSL_TRY(run_builds(o, &m, device, false));
  if (!o->double_only) TSL_TRY(run_builds(o, &m, device, true));
done:
  made_close(&m);
  return err;
}

static void print_published(void) {
  printf(
      "published: exchange-correlation 22 times faster on 2 x E5-2620v2 (12 cores) and 8 times on "
      "a K40, 5 times on an M2090,\n  than its earlier code; keeping functions gained 25 %%; a K40 "
      "was 1.5 to 2 times as fast as those cores (LIO, 2015).\n"
      "goal: taxol, pbe/def2-SVP, default grid, functions kept: 60 ms in fp64 on an H200.\n");
}

tsl_err xc_bench(int argc, char **argv) {
  tsl_err err = TSL_OK;
  options o = {};
  tsl_device device = {};
  const char *why = NULL;
  o.repeat = 10, o.functional = "pbe", o.basis = "def2-SVP", o.grid = "default";
  TSL_TRY(xc_bench_read_options(argc, argv, &o));
  if (o.help) {
    xc_bench_print_help();
    goto done;
  }
  if (tsl_platform_gpu.count(&why) == 0) TSL_FAIL(TSL_ERR_DEVICE, "%s", why);
  TSL_TRY(tsl_platform_gpu.describe(0, &device));
  TSL_TRY(tsl_platform_gpu.select(&device));
  device.memory_limit = device.memory_free / 10 * 9;
  printf("%s\n", device.name);
  if (o.deck != NULL || o.n_xyz == 0) TSL_TRY(run_molecule(&o, &device, NULL));
  for (int k = 0; k < o.n_xyz; k++) TSL_TRY(run_molecule(&o, &device, o.xyz[k]));
  print_published();
done:
  return err;
}
