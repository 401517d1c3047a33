/* The units: groups of points, ranges of bra pairs, of fitting shells, of orthonormal fitting
 * functions and of blocks of cubes. */
#include "xc_family.h"
#include "xc_fit.h"

#include "parallel.h"

#include <math.h>

/* Floating-point operations: a function with its gradient, density and potential at a point; an
 * integral of four shells; one of three; a pair of points. */
static const double FUNCTION = 60, QUARTET = 60, TRIPLE = 60, PAIR = 30;

/** The units made so far. */
typedef struct maker {
  const xc_params *p;
  tsl_unit *list; /* NULL: count only */
  int64_t n;
} maker;

static tsl_unit *xc_units_add(maker *m, int32_t kind, int64_t lo, int64_t hi) {
  static tsl_unit nowhere;
  tsl_unit *u = m->list != NULL ? &m->list[m->n] : &nowhere;
  *u = (tsl_unit){.id = m->n, .kind = kind, .lo = {lo, 0, 0}, .hi = {hi, 1, 1}};
  m->n++;
  return u;
}

/** Groups [lo, hi). */
static void add_groups(maker *m, const xc_groups *groups, int32_t kind, int64_t lo, int64_t hi) {
  const double others = PAIR * (double)m->p->n_nonlocal_points;
  for (int64_t g = lo; g < hi; g++) {
    const xc_group_features f = xc_group_features_of(&groups->list[g]);
    tsl_unit *u = xc_units_add(m, kind, g, g + 1);
    u->count = f.nb;
    u->flops = m->p->n_spin * (4 * f.nbb + 20 * f.nb) + FUNCTION * f.nb;
    u->bytes = 8 * (18 * f.nb + 2 * m->p->n_spin * f.bb);
    u->device_bytes = 8 * (6 * f.nb + 3 * f.bb);
    u->setup = f.nb; /* functions at points, kept */
    if (kind != XC_UNIT_NONLOCAL) continue;
    u->count = (double)groups->list[g].n;
    u->flops += u->count * others;
  }
}

/** What makes (P|mn) takes time by: elements, and something for each shell however few functions it
 *  has, as integrals of s shells take twice as long an element as those of d shells. */
static double rows_cost(const xc_basis *fitting, int64_t n_packed, int64_t lo, int64_t hi) {
  enum { OF_SHELL = 2 };
  return (double)(xc_fit_functions(fitting, lo, hi) + OF_SHELL * (hi - lo)) * (double)n_packed;
}

/** Ends of at most wanted pieces of [0, n) of equal cost; cost(k) of item k. */
typedef struct cutter {
  const xc_own *own;
  const xc_params *p;
  double (*cost)(const struct cutter *c, int64_t item);
  int64_t n, wanted;
} cutter;

static double pair_cost(const cutter *c, int64_t pair) {
  return 1 + xc_fock_cost(&c->own->orbital, &c->own->pairs, c->p->threshold, pair, pair + 1);
}

static double fit_cost(const cutter *c, int64_t shell) {
  return (double)xc_fit_functions(&c->own->fitting, shell, shell + 1) * (double)c->p->n_packed;
}

/** Operations of a block of the middle slab, whose points have the most functions. */
static double lattice_cost(const cutter *c, int64_t number) {
  static const double TEXT = 300; /* of a number that is made text, as operations of others */
  const xc_lattice *l = &c->p->lattice;
  const xc_basis *basis = &c->own->orbital;
  xc_block b;
  xc_lattice_block(l, xc_lattice_slabs(l) / 2, number, &b);
  double functions = 0, one = 0;
  for (int64_t s = 0; s < basis->n_shells && b.points.n > 0; s++)
    if (xc_block_meets(&b, &basis->shells[s])) functions += xc_shell_size(&basis->shells[s]);
  one = FUNCTION * functions + PAIR * (double)l->pairs + TEXT * (double)l->n;
  for (int64_t k = 0; k < l->n; k++) {
    if (l->cubes[k].kind == XC_CUBE_ORBITAL) one += 2 * functions;
    if (l->cubes[k].kind < XC_CUBE_POTENTIAL) one += functions * (functions + 2);
  }
  return 1 + (double)b.points.n * one;
}

/** Integrals that are kept are made once. */
static void set_batch(const xc_params *p, const xc_basis *fitting, tsl_unit *u, double cost) {
  if (u->kind == XC_UNIT_LATTICE) {
    u->count = u->flops = cost;
    return;
  }
  const bool fit = u->kind == XC_UNIT_FIT, kept = fit || p->quartet_cache > 0;
  u->count = cost;
  u->flops = cost * (fit ? TRIPLE : QUARTET);
  u->bytes = (kept ? 8 * cost : 0) + 16 * (double)p->n * (double)p->n;
  u->device_bytes = u->bytes;
  u->setup = fit ? rows_cost(fitting, p->n_packed, u->lo[0], u->hi[0]) : kept ? cost : 0;
}

/** Units whose bra pairs are looked at. */
typedef struct guess_look {
  const xc_fock *fock;
  tsl_unit *units;
} guess_look;

static tsl_err look_at_units(void *context, int slot, int64_t lo, int64_t hi) {
  static const double MOST = 0.99; /* looking through the list takes time in any case */
  const guess_look *look = context;
  (void)slot;
  for (tsl_unit *u = look->units + lo; u < look->units + hi; u++)
    if (u->kind == XC_UNIT_FOCK)
      u->phase0_skipped = fmax(0, fmin(MOST, 1 - xc_fock_part(look->fock, u->lo[0], u->hi[0])));
  return TSL_OK;
}

/** What bra pairs have to do with the density that is asked for now, of all that the bounds leave.
 *  A guess of atoms has nothing between atoms, nor of functions that no atom fills; the densities
 *  that follow have a little everywhere. */
static tsl_err look_at_guess(const tsl_problem *problem, tsl_units *units) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  const xc_own *own = xc_own_of(problem);
  const int64_t n = p->n_shells;
  double *largest = NULL;
  xc_fock fock = {.basis = &own->orbital, .pairs = &own->pairs, .threshold = p->threshold};
  if (!p->fitted) fock.total = xc_asked_total(problem);
  if (!xc_has_quartets(p) || p->quartet_cache > 0) return TSL_OK;
  for (int s = 0; s < p->n_spin && xc_functional_exact(&p->functional); s++)
    fock.spin[s] = xc_asked_spin(problem, s);
  TSL_TRY(tsl_alloc(n * n, sizeof *largest, "bounds of densities", (void **)&largest));
  xc_fock_largest(&fock, largest);
  TSL_TRY(tsl_parallel(units->n, 1, look_at_units, &(guess_look){&fock, units->list}));
done:
  tsl_free(largest);
  return err;
}

static void add_batches(maker *m, int32_t kind, const cutter *c) {
  double total = 0, sum = 0, last = 0;
  int64_t lo = 0, made = 0;
  for (int64_t k = 0; k < c->n; k++) total += c->cost(c, k);
  for (int64_t k = 0; k < c->n; k++) {
    sum += c->cost(c, k);
    if (k + 1 < c->n && sum < total * (double)(made + 1) / (double)c->wanted) continue;
    set_batch(c->p, &c->own->fitting, xc_units_add(m, kind, lo, k + 1), sum - last);
    made = (int64_t)(sum / total * (double)c->wanted);
    lo = k + 1, last = sum;
  }
}

/** Rows B_Q, kept, are made of (P|mn) of all P up to Q by a product: rows x columns elements and
 *  2 columns x rows x hi operations, which devices do about PER times as fast as an element. */
static void set_exchange(const xc_params *p, const xc_basis *fitting, tsl_unit *u) {
  static const double PER = 1800;
  const double n = (double)p->n, rows = (double)(u->hi[0] - u->lo[0]), hi = (double)u->hi[0];
  int64_t shells = 0;
  while (shells < p->n_fit_shells && fitting->shells[shells].first < u->hi[0]) shells++;
  u->count = rows;
  u->flops = rows * 3 * n * n * (double)p->n_occupied;
  u->bytes = rows * 8 * ((double)p->n_packed + 2 * n * n);
  u->device_bytes = rows * 8 * (double)p->n_packed;
  u->setup = rows_cost(fitting, p->n_packed, 0, shells) + 2 * rows * hi * (double)p->n_packed / PER;
}

/** Ranges of whole shells, as those of the gradient are. */
static void add_exchange(maker *m, const xc_own *own, int64_t wanted) {
  const xc_basis *fitting = &own->fitting;
  const int64_t n = fitting->n;
  int64_t lo = 0, made = 0;
  for (int64_t s = 0; s < fitting->n_shells; s++) {
    const int64_t hi = fitting->shells[s].first + xc_shell_size(&fitting->shells[s]);
    if (hi < n && hi * wanted < n * (made + 1)) continue;
    set_exchange(m->p, fitting, xc_units_add(m, XC_UNIT_EXCHANGE, lo, hi));
    lo = hi, made = hi * wanted / n;
  }
}

static void add_all(maker *m, const xc_own *own, const tsl_limits *limits) {
  enum { PER_RANK = 8, PART = 4, EXCHANGE_PER_RANK = 2 };
  const xc_params *p = m->p;
  int64_t wanted = limits->target_units / PART;
  if (!limits->given && wanted < PER_RANK * limits->n_ranks) wanted = PER_RANK * limits->n_ranks;
  if (wanted < 1) wanted = 1;
  const cutter pairs = {own, p, pair_cost, p->n_pairs, wanted};
  const cutter fits = {own, p, fit_cost, p->n_fit_shells, wanted};
  const int64_t n_blocks = p->lattice.n > 0 ? xc_lattice_blocks(&p->lattice) : 0;
  const cutter blocks = {own, p, lattice_cost, n_blocks, wanted};
  add_groups(m, &own->groups, XC_UNIT_GROUP, 0, xc_local_groups(p));
  add_groups(m, &own->groups, XC_UNIT_NONLOCAL, xc_local_groups(p), p->n_groups);
  if (xc_has_quartets(p)) add_batches(m, XC_UNIT_FOCK, &pairs);
  if (p->fitted && !p->fitted_exchange) add_batches(m, XC_UNIT_FIT, &fits);
  if (p->lattice.n > 0) add_batches(m, XC_UNIT_LATTICE, &blocks);
  /* few: the first run of each makes (P|mn) of all P before its last row */
  const int64_t ranges = limits->n_ranks > 1 ? EXCHANGE_PER_RANK * limits->n_ranks : 1;
  if (p->fitted_exchange) add_exchange(m, own, limits->given ? wanted : ranges);
}

tsl_err xc_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units) {
  tsl_err err = TSL_OK;
  maker m = {.p = xc_params_of(problem)};
  *units = (tsl_units){0};
  add_all(&m, xc_own_of(problem), limits);
  if (m.n == 0) goto done;
  TSL_TRY(tsl_alloc(m.n, sizeof *m.list, "units", (void **)&m.list));
  m.n = 0;
  add_all(&m, xc_own_of(problem), limits);
  units->list = m.list;
  units->n = m.n;
  TSL_TRY(look_at_guess(problem, units));
done:
  return err;
}

/* ---------------------------------------------------------------- samples */

static double batch_cost(const xc_view *v, const xc_params *p, int32_t kind, int64_t lo,
                         int64_t hi) {
  if (kind == XC_UNIT_FIT)
    return (double)xc_fit_functions(&v->fitting, lo, hi) * (double)p->n_packed;
  return (double)(hi - lo) + xc_fock_cost(&v->orbital, &v->pairs, p->threshold, lo, hi);
}

void xc_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction, tsl_unit *out) {
  const xc_params *p = xc_params_of(problem);
  const int64_t lo = whole->lo[0], n = whole->hi[0] - lo;
  int64_t part = (int64_t)ceil(fraction * (double)n);
  xc_view view;
  *out = *whole;
  if (whole->kind == XC_UNIT_GROUP || whole->kind == XC_UNIT_NONLOCAL || part >= n) return;
  if (part < 1) part = 1;
  xc_view_set(problem, &view);
  if (whole->kind == XC_UNIT_LATTICE) { /* cut by cost: alike but for the last ones */
    out->lo[0] = lo + (n - part) / 2, out->hi[0] = out->lo[0] + part;
    set_batch(p, &view.fitting, out, whole->count * (double)part / (double)n);
    return;
  }
  if (whole->kind == XC_UNIT_EXCHANGE) { /* the first rows need the fewest (P|mn) */
    out->lo[0] = 0, out->hi[0] = part;
    set_exchange(p, &view.fitting, out);
    return;
  }
  const int64_t begin = lo + (n - part) / 2; /* an atom's first shells are not like its others */
  const double all = batch_cost(&view, p, whole->kind, lo, lo + n);
  out->lo[0] = begin, out->hi[0] = begin + part;
  set_batch(p, &view.fitting, out,
            whole->count / all * batch_cost(&view, p, whole->kind, begin, begin + part));
}
