/* Memory and room of each thread, and sums of threads joined in a fixed order or as integers. */
#include "xc_batches_own.h"
#include "xc_memory.h"

#include <string.h>

/* Has this host sums of J from quartets, of K? */
static bool makes_coulomb(const xc_batches *b) {
  return !b->p->fitted && b->least < XC_BATCHES_NONE;
}

static bool makes_exchange(const xc_batches *b) {
  return xc_functional_exact(&b->p->functional) && b->least < XC_BATCHES_NONE;
}

xc_fock xc_batches_task(const xc_batches *b, const xc_batch_thread *t, int which) {
  const xc_operator *one = &b->operators[which];
  xc_fock fock = {.basis = &b->view.orbital,
                  .pairs = &b->view.pairs,
                  .largest = b->largest,
                  .most = b->most,
                  .threshold = b->p->threshold,
                  .least = b->least,
                  .total = b->p->fitted || one->omega > 0 ? NULL : xc_asked_total(b->problem),
                  .coulomb = t->coulomb};
  for (int s = 0; s < b->p->n_spin && one->weight != 0; s++) {
    fock.spin[s] = xc_asked_spin(b->problem, s);
    fock.exchange[s] = t->exchange[s];
  }
  return fock;
}

/* ------------------------------------------------------------------ memory */

tsl_err xc_batches_room(const tsl_problem *problem, int threads, int64_t limit, double other,
                        double *room) {
  static const double ANY = 1e18;
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  const double taken = xc_memory_fields(problem) + xc_memory_sums(p, threads) + other;
  const double needed = taken + xc_batches_least(problem);
  char has[24], needs[24];
  *room = limit > 0 ? (double)limit - taken : ANY;
  if (limit > 0 && needed > (double)limit)
    TSL_FAIL(TSL_ERR_MEMORY,
             "a rank may use %s of host memory (run.host_memory; its standard is half of what is "
             "free, split among the host's ranks), but needs at least %s for %lld functions on %d "
             "threads: raise run.host_memory, or lower run.threads or the number of ranks",
             tsl_bytes_text((double)limit, has), tsl_bytes_text(xc_memory_said(needed), needs),
             (long long)p->n, threads);
done:
  return err;
}

static tsl_err open_matrix(const xc_batches *b, const char *what, double **sums, int64_t **fixed) {
  tsl_err err = TSL_OK;
  const int64_t nn = b->p->n * b->p->n;
  TSL_TRY(tsl_alloc(nn, sizeof **sums, what, (void **)sums));
  if (b->p->reproducible) TSL_TRY(tsl_alloc(nn, sizeof **fixed, what, (void **)fixed));
done:
  return err;
}

static tsl_err open_thread(const xc_batches *b, xc_batch_thread *t) {
  tsl_err err = TSL_OK;
  const xc_params *p = b->p;
  for (int k = 0; k < b->n_operators && b->least < XC_BATCHES_NONE; k++)
    TSL_TRY(xc_engine_create(b->integrals, XC_QUARTETS, b->operators[k].omega, 1e-3 * p->threshold,
                             &t->quartets[k]));
  if (p->fitted) TSL_TRY(xc_engine_create(b->integrals, XC_TRIPLES, 0, 1e-16, &t->triples));
  if (makes_coulomb(b)) TSL_TRY(open_matrix(b, "Coulomb matrix", &t->coulomb, &t->fixed_coulomb));
  for (int s = 0; s < p->n_spin && makes_exchange(b); s++)
    TSL_TRY(open_matrix(b, "exchange matrix", &t->exchange[s], &t->fixed_exchange[s]));
  if (p->fitted_exchange && makes_exchange(b)) {
    TSL_TRY(tsl_alloc(p->n * p->n, sizeof(double), "integrals of a fitting function",
                      (void **)&t->square));
    TSL_TRY(
        tsl_alloc(p->n * p->n, sizeof(double), "transformed fitting integrals", (void **)&t->x));
  }
done:
  return err;
}

tsl_err xc_batches_open(const tsl_problem *problem, int threads, double room, int least,
                        xc_batches **out) {
  tsl_err err = TSL_OK;
  xc_batches *b = NULL;
  const xc_params *p = xc_params_of(problem);
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *b, "batches of integrals", (void **)&b));
  b->problem = problem, b->p = p, b->threads = threads, b->least = least;
  b->n_operators = xc_operators_of(p, b->operators);
  xc_view_set(problem, &b->view);
  TSL_TRY(xc_integrals_create(&b->view.orbital, &b->view.fitting, &b->integrals));
  TSL_TRY(tsl_alloc(p->n_shells * p->n_shells, sizeof(double), "largest elements",
                    (void **)&b->largest));
  TSL_TRY(tsl_alloc(threads, sizeof *b->thread, "threads", (void **)&b->thread));
  for (int t = 0; t < threads; t++) TSL_TRY(open_thread(b, &b->thread[t]));
  if (p->fitted) TSL_TRY(xc_batches_fit_open(b, room));
  TSL_TRY(xc_batches_quartets_open(b, room));
  *out = b;
done:
  if (err != TSL_OK) xc_batches_close(&b);
  return err;
}

void xc_batches_close(xc_batches **batches) {
  xc_batches *b = *batches;
  if (b == NULL) return;
  for (int t = 0; b->thread != NULL && t < b->threads; t++) {
    xc_batch_thread *own = &b->thread[t];
    for (int k = 0; k < XC_MOST_OPERATORS; k++) xc_engine_destroy(&own->quartets[k]);
    xc_engine_destroy(&own->triples);
    TSL_FREE_ALL(own->coulomb, own->fixed_coulomb, own->square, own->x);
    for (int s = 0; s < 2; s++) tsl_free(own->exchange[s]), tsl_free(own->fixed_exchange[s]);
  }
  xc_batches_fit_close(b);
  xc_batches_quartets_close(b);
  xc_batches_gradient_close(b);
  TSL_FREE_ALL(b->thread, b->largest);
  xc_integrals_destroy(&b->integrals);
  tsl_free(b);
  *batches = NULL;
}

/* ------------------------------------------------------------------- phases */

static void clear(void *sums, int64_t n) {
  if (sums != NULL) memset(sums, 0, (size_t)n * sizeof(double));
}

/* Pairs in as many ranges as there are threads. */
static void pack(xc_batches *b) {
  const int64_t n = b->view.pairs.n;
#pragma omp parallel for schedule(static, 1) num_threads(b->threads) if (b->p->n_packed > XC_ALONE)
  for (int t = 0; t < b->threads; t++)
    xc_fit_pack(&b->view.orbital, &b->view.pairs, n * t / b->threads, n * (t + 1) / b->threads,
                xc_asked_total(b->problem), b->packed);
}

static void unpack(const xc_batches *b, double *coulomb) {
  const int64_t n = b->view.pairs.n;
#pragma omp parallel for schedule(static, 1) num_threads(b->threads) if (b->p->n_packed > XC_ALONE)
  for (int t = 0; t < b->threads; t++)
    xc_fit_unpack(&b->view.orbital, &b->view.pairs, n * t / b->threads, n * (t + 1) / b->threads,
                  b->fitted, coulomb);
}

void xc_batches_begin(xc_batches *b, int phase) {
  const xc_params *p = b->p;
  const int64_t nn = p->n * p->n;
  b->phase = phase;
  if (xc_has_quartets(p)) xc_batches_quartets_begin(b);
  for (int t = 0; t < b->threads; t++) {
    xc_batch_thread *own = &b->thread[t];
    own->bad = false;
    clear(own->coulomb, nn), clear(own->fixed_coulomb, nn);
    for (int s = 0; s < 2; s++) clear(own->exchange[s], nn), clear(own->fixed_exchange[s], nn);
  }
  xc_batches_gradient_begin(b);
  b->bad_fit = false;
  xc_batches_exchange_begin(b);
  clear(b->gamma, p->n_fit);
  clear(b->fitted, p->n_packed), clear(b->fixed_fitted, p->n_packed);
  if (p->fitted && phase % xc_phases(p) == 0) pack(b);
}

const double *xc_batches_largest(const xc_batches *b) {
  return b->largest;
}

static void sum_threads(const xc_batches *b, int which, double *out) {
  const int64_t nn = b->p->n * b->p->n;
  memset(out, 0, (size_t)nn * sizeof *out);
  for (int t = 0; t < b->threads; t++) {
    const double *from = which < 0 ? b->thread[t].coulomb : b->thread[t].exchange[which];
    for (int64_t k = 0; from != NULL && k < nn; k++) out[k] += from[k];
  }
}

static bool join_threads(const xc_batches *b, int which, int64_t *out) {
  const int64_t nn = b->p->n * b->p->n;
  bool good = true;
  memset(out, 0, (size_t)nn * sizeof *out);
  for (int t = 0; t < b->threads; t++) {
    const xc_batch_thread *own = &b->thread[t];
    const int64_t *from = which < 0 ? own->fixed_coulomb : own->fixed_exchange[which];
    good = xc_fixed_join(nn, from, out) && good && !own->bad;
  }
  return good;
}

static void add_to(double *to, const double *more, int64_t n) {
  for (int64_t k = 0; more != NULL && k < n; k++) to[k] += more[k];
}

/* As xc_fit_unpack. */
static void unpack_fixed(const xc_batches *b, int64_t *coulomb) {
  const int64_t n = b->p->n;
  const int64_t *packed = b->fixed_fitted;
  memset(coulomb, 0, (size_t)(n * n) * sizeof *coulomb);
  for (int64_t k = 0; k < b->view.pairs.n; k++) {
    const xc_shell *p = &b->view.orbital.shells[b->view.pairs.list[k].a];
    const xc_shell *q = &b->view.orbital.shells[b->view.pairs.list[k].b];
    for (int i = 0; i < xc_shell_size(p); i++)
      for (int j = 0; j < xc_shell_size(q); j++, packed++)
        coulomb[(p->first + i) * n + q->first + j] = coulomb[(q->first + j) * n + p->first + i] =
            *packed;
  }
}

static tsl_err collect_fixed(xc_batches *b, tsl_problem *problem) {
  const xc_params *p = b->p;
  int64_t *coulomb = problem->fields[XC_SUM_COULOMB].data;
  int64_t *exchange = problem->fields[XC_SUM_EXCHANGE].data;
  bool good = !b->bad_fit;
  for (int s = 0; s < p->n_spin && xc_functional_exact(&p->functional); s++)
    good = join_threads(b, s, exchange + s * p->n * p->n) && good;
  if (p->fitted)
    unpack_fixed(b, coulomb);
  else
    good = join_threads(b, -1, coulomb) && good;
  xc_fixed_set_guard(problem, XC_FIXED_COULOMB, XC_SUM_COULOMB);
  xc_fixed_set_guard(problem, XC_FIXED_EXCHANGE, XC_SUM_EXCHANGE);
  return xc_fixed_held(good, "the Coulomb or the exchange matrix");
}

static void collect_plain(xc_batches *b, tsl_problem *problem, const xc_batches_more *more) {
  const xc_params *p = b->p;
  const int64_t nn = p->n * p->n;
  double *coulomb = problem->fields[XC_SUM_COULOMB].data;
  double *exchange = problem->fields[XC_SUM_EXCHANGE].data;
  for (int s = 0; s < p->n_spin && xc_functional_exact(&p->functional); s++) {
    sum_threads(b, s, exchange + s * nn);
    if (more->exchange != NULL) add_to(exchange + s * nn, more->exchange + s * nn, nn);
    if (p->fitted_exchange) xc_batches_mirror(p->n, exchange + s * nn);
  }
  if (!p->fitted) {
    sum_threads(b, -1, coulomb);
    add_to(coulomb, more->coulomb, nn);
    return;
  }
  memset(coulomb, 0, (size_t)nn * sizeof *coulomb);
  if (b->phase % xc_phases(p) != xc_phases(p) - 1) return;
  add_to(b->fitted, more->fitted, p->n_packed);
  unpack(b, coulomb);
}

tsl_err xc_batches_collect(xc_batches *b, tsl_problem *problem, const xc_batches_more *more) {
  tsl_err err = TSL_OK;
  const xc_params *p = b->p;
  if (p->reproducible)
    TSL_TRY(collect_fixed(b, problem));
  else
    collect_plain(b, problem, more);
  if (p->gradient) xc_batches_gradient_collect(b, problem->fields[XC_SUM_GRADIENT].data);
  if (p->n_products > 0) TSL_TRY(xc_batches_products_collect(b, problem));
  if (p->n_fit == 0 || (p->fitted_exchange && xc_task_of(problem) != XC_TASK_PRODUCTS)) goto done;
  add_to(b->gamma, more->gamma, p->n_fit);
  memcpy(problem->fields[XC_SUM_GAMMA].data, b->gamma, (size_t)p->n_fit * sizeof *b->gamma);
done:
  return err;
}
