/* Gradients of J and K on the threads of a host: quartets of a unit dealt to threads, and (P|mn)
 * and (P|Q) of fitting shells. */
#include "xc_batches_own.h"
#include "xc_fit_gradient.h"
#include "xc_fock_gradient.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* ------------------------------------------------------------------ memory */

static tsl_err open_thread(const xc_batches *b, xc_batch_thread *t) {
  tsl_err err = TSL_OK;
  const xc_params *p = b->p;
  const double precision = 1e-3 * p->threshold;
  xc_engine **slopes = t->slopes;
  if (t->gradient != NULL) goto done;
  for (int k = 0; k < b->n_operators; k++)
    TSL_TRY(xc_engine_create(b->integrals, XC_QUARTET_GRADIENTS, b->operators[k].omega, precision,
                             &slopes[XC_SLOPE_QUARTETS + k]));
  if (p->fitted) {
    TSL_TRY(
        xc_engine_create(b->integrals, XC_TRIPLE_GRADIENTS, 0, 1e-16, &slopes[XC_SLOPE_TRIPLES]));
    TSL_TRY(
        xc_engine_create(b->integrals, XC_DOUBLE_GRADIENTS, 0, 1e-16, &slopes[XC_SLOPE_DOUBLES]));
    TSL_TRY(tsl_alloc(xc_batches_most_size(&b->view.fitting) * p->n_fit, sizeof *t->pairs,
                      "weights of pairs", (void **)&t->pairs));
  }
  if (p->n_products > 0)
    TSL_TRY(tsl_alloc(p->n_orbitals * (p->n + p->n_orbitals), sizeof *t->half,
                      "products of orbitals", (void **)&t->half));
  if (p->n_products > 0 && t->square == NULL)
    TSL_TRY(tsl_alloc(p->n * p->n, sizeof *t->square, "products of orbitals", (void **)&t->square));
  if (p->reproducible)
    TSL_TRY(tsl_alloc(p->n_atoms, sizeof *t->share, "gradient", (void **)&t->share));
  TSL_TRY(tsl_alloc(p->n_atoms, sizeof *t->gradient, "gradient", (void **)&t->gradient));
done:
  return err;
}

static tsl_err set_fit_bounds(xc_batches *b) {
  tsl_err err = TSL_OK;
  xc_engine *doubles = NULL;
  TSL_TRY(xc_engine_create(b->integrals, XC_DOUBLES, 0, 1e-16, &doubles));
  TSL_TRY(tsl_alloc(b->p->n_fit_shells, sizeof *b->fit_bounds, "bounds of the fitting set",
                    (void **)&b->fit_bounds));
  for (int64_t s = 0; s < b->p->n_fit_shells; s++) {
    const int n = xc_shell_size(&b->view.fitting.shells[s]);
    const double *v = xc_engine_double(doubles, s, s);
    double most = 0;
    for (int i = 0; i < n && v != NULL; i++) most = fmax(most, v[i * (n + 1)]);
    b->fit_bounds[s] = sqrt(most);
  }
done:
  xc_engine_destroy(&doubles);
  return err;
}

tsl_err xc_batches_gradient_open(xc_batches *b) {
  tsl_err err = TSL_OK;
  const int64_t most = b->p->fitted ? xc_batches_most_size(&b->view.fitting) : 0;
  for (int t = 0; t < b->threads; t++) TSL_TRY(open_thread(b, &b->thread[t]));
  if (!b->p->fitted || b->weights != NULL) goto done;
  TSL_TRY(set_fit_bounds(b));
  TSL_TRY(tsl_alloc(most * b->p->n_packed, sizeof *b->weights, "weights of fitting integrals",
                    (void **)&b->weights));
done:
  return err;
}

double xc_batches_gradient_bytes(const tsl_problem *problem, int threads) {
  const xc_params *p = xc_params_of(problem);
  xc_view view;
  if (!p->gradient || p->fitted) return 0;
  xc_view_set(problem, &view);
  return xc_distributions_bytes(&view.orbital, &view.pairs, threads);
}

static void close_densities(xc_batches *b) {
  for (int t = 0; b->thread != NULL && t < b->threads; t++) {
    tsl_free(b->thread[t].potentials);
    b->thread[t].potentials = NULL;
  }
  xc_distributions_destroy(&b->distributions);
  tsl_free(b->spins);
  b->spins = NULL;
}

void xc_batches_gradient_close(xc_batches *b) {
  for (int t = 0; b->thread != NULL && t < b->threads; t++) {
    xc_batch_thread *own = &b->thread[t];
    for (int k = 0; k < XC_N_SLOPES; k++) xc_engine_destroy(&own->slopes[k]);
    TSL_FREE_ALL(own->gradient, own->share, own->pairs, own->half);
  }
  close_densities(b);
  TSL_FREE_ALL(b->weights, b->fit_bounds, b->products);
}

/* ------------------------------------------------------------------- sums */

void xc_batches_gradient_begin(xc_batches *b) {
  close_densities(b);
  for (int t = 0; t < b->threads; t++)
    if (b->thread[t].gradient != NULL)
      memset(b->thread[t].gradient, 0, (size_t)b->p->n_atoms * sizeof *b->thread[t].gradient);
}

/* What pairs of shells feel in the end, each thread of what it has summed; reproducible: they have
 * felt it. */
static void add_forces(xc_batches *b) {
#pragma omp parallel for schedule(static, 1) num_threads(b->threads)
  for (int t = 0; t < b->threads; t++)
    if (b->thread[t].potentials != NULL && !b->p->reproducible)
      xc_coulomb_forces(b->distributions, 0, b->view.pairs.n, b->thread[t].potentials,
                        b->thread[t].gradient);
  close_densities(b);
}

void xc_batches_gradient_collect(xc_batches *b, double *out) {
  const int64_t n = 3 * b->p->n_atoms;
  add_forces(b);
  memset(out, 0, (size_t)n * sizeof *out);
  for (int t = 0; t < b->threads; t++) {
    const double *sum = b->thread[t].gradient != NULL ? b->thread[t].gradient[0] : NULL;
    for (int64_t k = 0; sum != NULL && k < n; k++) out[k] += sum[k];
  }
}

/* Where a thread adds: reproducible, what one share adds is rounded alone. */
static double (*sum_of(const xc_batch_thread *t))[3] {
  return t->share != NULL ? t->share : t->gradient;
}

static void flush(const xc_batches *b, xc_batch_thread *t) {
  static const double most = 1024; /* half of what is exact */
  for (int64_t a = 0; t->share != NULL && a < b->p->n_atoms; a++)
    for (int x = 0; x < 3; x++) {
      t->gradient[a][x] += xc_fixed_share(t->share[a][x]);
      t->share[a][x] = 0;
      if (!(fabs(t->gradient[a][x]) < most)) t->bad = true;
    }
}

static tsl_err check(const xc_batches *b) {
  bool good = true;
  for (int t = 0; t < b->threads; t++) good = good && !b->thread[t].bad;
  return xc_fixed_held(good, "the gradient of Coulomb and exchange energy");
}

/* ---------------------------------------------------------------- quartets */

/* The largest elements of this phase's densities of single spins, which K is screened by. */
static void set_spins(xc_batches *b) {
  xc_fock spins = {.basis = &b->view.orbital};
  for (int s = 0; s < b->p->n_spin && xc_functional_exact(&b->p->functional); s++)
    spins.spin[s] = xc_asked_spin(b->problem, s);
  xc_fock_largest(&spins, b->spins);
  b->most_spin = spins.most;
}

/* The densities of this phase, that of both spins for J of pairs of shells. */
static tsl_err open_densities(xc_batches *b) {
  static const double part = 1e-2; /* of the threshold of shells is that of primitives */
  tsl_err err = TSL_OK;
  if (b->spins != NULL) goto done;
  TSL_TRY(tsl_alloc(b->p->n_shells * b->p->n_shells, sizeof *b->spins, "largest elements",
                    (void **)&b->spins));
  set_spins(b);
  if (b->p->fitted) goto done;
  TSL_TRY(xc_distributions_create(&b->view.orbital, &b->view.pairs, xc_asked_total(b->problem),
                                  part * b->p->threshold, b->least, &b->distributions));
  for (int t = 0; t < b->threads; t++)
    TSL_TRY(tsl_alloc(xc_distributions_sums(b->distributions), sizeof(double),
                      "potentials of distributions", (void **)&b->thread[t].potentials));
done:
  return err;
}

/* J of a bra pair; reproducible: alone. */
static void run_coulomb(const xc_batches *b, xc_batch_thread *t, int64_t pair) {
  xc_coulomb_meet(b->distributions, pair, b->p->reproducible, t->potentials);
  if (b->p->reproducible)
    xc_coulomb_forces(b->distributions, pair, pair + 1, t->potentials, t->share);
}

/* K of a bra pair of an operator. */
static void run_exchange(const xc_batches *b, xc_batch_thread *t, int which, int64_t pair) {
  xc_fock fock = xc_batches_task(b, t, which);
  const double share = xc_functional_share(&b->p->functional) * b->operators[which].weight;
  if (fock.spin[0] == NULL) return;
  fock.largest = b->spins, fock.most = b->most_spin;
  xc_fock_gradient(t->slopes[XC_SLOPE_QUARTETS + which], &fock, share, pair, pair + 1, sum_of(t));
}

/* Dealt as by xc_batches_fock. */
static void run_pairs(xc_batches *b, int64_t lo, int64_t hi) {
#pragma omp parallel num_threads(b->threads)
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    xc_batch_thread *t = &b->thread[me];
    for (int64_t pair = lo + me; pair < hi; pair += all) {
      if (!b->p->fitted) run_coulomb(b, t, pair);
      for (int k = 0; k < b->n_operators; k++) run_exchange(b, t, k, pair);
      flush(b, t);
    }
  }
}

/* ----------------------------------------------------------------- fitting */

static const double *coefficients_of(const xc_batches *b) {
  return b->problem->fields[XC_IN_COEFFICIENTS].data;
}

/* c_P D_mn of the functions of a shell, and exchange's part. */
static void set_weights(const xc_batches *b, int64_t shell) {
  const int64_t m = b->p->n_packed, first = xc_batches_first(b, shell);
  const double *c = coefficients_of(b);
#pragma omp parallel for schedule(static) num_threads(b->threads) if (m > XC_ALONE)
  for (int64_t k = 0; k < m; k++)
    for (int64_t f = first; f < xc_batches_first(b, shell + 1); f++)
      b->weights[(f - first) * m + k] = c[f] * b->packed[k];
  if (b->p->n_products > 0)
    xc_batches_products_weigh(b, first, xc_batches_first(b, shell + 1) - first);
}

/* Threads share the pairs of shells; reproducible: one has them all, whose sum is rounded. */
static void run_triples(xc_batches *b, int64_t shell) {
  const int threads = b->p->reproducible ? 1 : b->threads;
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    xc_batch_thread *t = &b->thread[me];
    xc_fit_gradient(t->slopes[XC_SLOPE_TRIPLES], &b->view.orbital, &b->view.fitting, &b->view.pairs,
                    shell, b->weights, b->fit_bounds[shell], b->p->threshold, me, all, sum_of(t));
    flush(b, t);
  }
}

/* - c_P c_Q of a shell and those before it, both orders in one, and exchange's part. */
static void set_pairs(const xc_batches *b, xc_batch_thread *t, int64_t shell) {
  const int64_t n = b->p->n_fit, first = xc_batches_first(b, shell);
  const double *c = coefficients_of(b);
  for (int64_t f = first; f < xc_batches_first(b, shell + 1); f++)
    for (int64_t q = 0; q < first; q++) t->pairs[(f - first) * n + q] = -c[f] * c[q];
  if (b->p->n_products > 0)
    xc_batches_products_pair(b, t, first, xc_batches_first(b, shell + 1) - first);
}

/* Shells [lo, hi) with all before them; pairs NULL: weights are made shell by shell. */
static void run_metric(xc_batches *b, int64_t lo, int64_t hi, const double *pairs) {
#pragma omp parallel num_threads(b->threads)
  for (int64_t s = lo + omp_get_thread_num(); s < hi; s += omp_get_num_threads()) {
    xc_batch_thread *t = &b->thread[omp_get_thread_num()];
    const int64_t row = xc_batches_first(b, s) - xc_batches_first(b, lo);
    if (pairs == NULL) set_pairs(b, t, s);
    xc_fit_metric_gradient(t->slopes[XC_SLOPE_DOUBLES], &b->view.fitting, s,
                           pairs == NULL ? t->pairs : pairs + row * b->p->n_fit, sum_of(t));
    flush(b, t);
  }
}

static void run_shells(xc_batches *b, int64_t lo, int64_t hi) {
  for (int64_t s = lo; s < hi; s++) {
    set_weights(b, s);
    run_triples(b, s);
  }
  run_metric(b, lo, hi, NULL);
}

/* The shell that begins with a function: ranges of functions are of whole shells. */
static int64_t shell_of(const xc_batches *b, int64_t function) {
  int64_t s = 0;
  while (xc_batches_first(b, s) < function) s++;
  return s;
}

tsl_err xc_batches_gradient(xc_batches *b, const tsl_unit *unit) {
  tsl_err err = TSL_OK;
  TSL_TRY(xc_batches_gradient_open(b));
  openblas_set_num_threads(1); /* products are made inside the threads here */
  if (unit->kind == XC_UNIT_FOCK) TSL_TRY(open_densities(b));
  if (unit->kind == XC_UNIT_FOCK)
    run_pairs(b, unit->lo[0], unit->hi[0]);
  else if (unit->kind == XC_UNIT_FIT)
    run_shells(b, unit->lo[0], unit->hi[0]);
  else
    run_shells(b, shell_of(b, unit->lo[0]), shell_of(b, unit->hi[0]));
  TSL_TRY(check(b));
done:
  return err;
}

tsl_err xc_batches_gradient_metric(xc_batches *b, const tsl_unit *unit, const double *pairs) {
  tsl_err err = TSL_OK;
  TSL_TRY(xc_batches_gradient_open(b));
  openblas_set_num_threads(1);
  run_metric(b, shell_of(b, unit->lo[0]), shell_of(b, unit->hi[0]), pairs);
  TSL_TRY(check(b));
done:
  return err;
}
