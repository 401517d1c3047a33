/* Non-local correlation on the root: its grid, and sites of a density. */
#include "xc_nonlocal.h"
#include "xc_fixed.h"
#include "xc_matrix.h"

#include "parallel.h"

#include <string.h>

/* -------------------------------------------------------------------- deck */

tsl_err xc_nonlocal_choose(const tsl_deck *deck, const xc_deck *s, xc_params *p) {
  tsl_err err = TSL_OK;
  xc_vv10 *f = &p->functional.nonlocal;
  const bool given = tsl_deck_given(deck, "xc.nonlocal.b");
  if (given && f->b != 0)
    TSL_DECK_FAIL(deck, "xc.nonlocal.b", "%s carries VV10 of its own, b %g and C %g; remove it",
                  p->functional.name, f->b, f->c);
  if (!given && tsl_deck_given(deck, "xc.nonlocal.c"))
    TSL_DECK_FAIL(deck, "xc.nonlocal.c", "is used with b alone; remove it");
  if (given) *f = (xc_vv10){s->nonlocal.b, s->nonlocal.c};
  if (f->b == 0 && tsl_deck_given(deck, "xc.nonlocal"))
    TSL_DECK_FAIL(deck, "xc.nonlocal",
                  "%s carries no VV10; b: NUMBER, which belongs to the functional, adds it",
                  p->functional.name);
done:
  return err;
}

tsl_err xc_nonlocal_check(const tsl_deck *deck, const xc_deck *s, const xc_params *p) {
  tsl_err err = TSL_OK;
  if (p->functional.nonlocal.b == 0) goto done;
  if (!p->functional.gga)
    TSL_DECK_FAIL(deck, "xc.nonlocal", "VV10 is of GGAs and meta-GGAs; %s is local",
                  p->functional.name);
  if (p->fitted_exchange)
    TSL_DECK_FAIL(deck, "xc.exchange", "fitted is not made together with VV10; use exact");
  if (s->dispersion != XC_DISPERSION_NONE)
    TSL_DECK_FAIL(deck, "xc.dispersion",
                  "%s has dispersion by VV10, and would count it twice; remove one of them",
                  p->functional.name);
done:
  return err;
}

static tsl_err choose_rule(const tsl_deck *deck, const xc_deck *s, const xc_grid_rule *rest,
                           xc_grid_rule *rule) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_deck_blame(deck, "xc.nonlocal.preset", xc_grid_preset(s->nonlocal.preset, rule)));
  if (tsl_deck_given(deck, "xc.nonlocal.radial") != tsl_deck_given(deck, "xc.nonlocal.angular"))
    TSL_DECK_FAIL(deck, "xc.nonlocal", "radial and angular go together");
  if (tsl_deck_given(deck, "xc.nonlocal.radial")) {
    rule->sizes = XC_SIZES_GIVEN;
    rule->n_radial = s->nonlocal.radial, rule->n_angular = s->nonlocal.angular;
  }
  if (tsl_deck_given(deck, "xc.nonlocal.pruning")) rule->pruning = s->nonlocal.pruning;
  rule->scheme = rest->scheme, rule->adjust = rest->adjust, rule->cut = rest->cut;
  TSL_TRY(tsl_deck_blame(deck, "xc.nonlocal", xc_grid_check(rule)));
done:
  return err;
}

/* -------------------------------------------------------------------- grid */

tsl_err xc_nonlocal_grid(const tsl_deck *deck, const xc_deck *s, xc_own *own, xc_params *p,
                         xc_grid *grid) {
  tsl_err err = TSL_OK;
  const xc_groups_rule groups = xc_deck_groups(deck, s);
  xc_grid_rule rule = p->grid;
  xc_grid more = {0};
  xc_groups found = {0};
  if (p->functional.nonlocal.b == 0) goto done;
  TSL_TRY(choose_rule(deck, s, &p->grid, &rule));
  TSL_TRY(tsl_deck_blame(deck, "xc.nonlocal",
                         xc_grid_make(&rule, own->molecule.atoms, own->molecule.n_atoms, &more)));
  TSL_TRY(tsl_deck_blame(deck, "xc.groups", xc_groups_make(&groups, &own->orbital, &more, &found)));
  TSL_TRY(xc_groups_join(&own->groups, &found, grid->n));
  TSL_TRY(xc_grid_join(grid, &more));
  p->n_nonlocal_points = grid->n - p->n_points, p->n_points = grid->n;
  p->n_nonlocal_groups = own->groups.n - p->n_groups, p->n_groups = own->groups.n;
done:
  xc_grid_clear(&more);
  xc_groups_clear(&found);
  return err;
}

/* ------------------------------------------------------------------- sites */

typedef struct making {
  xc_vv10 f;
  double *rows; /* [XC_N_NONLOCAL][n] */
  int64_t n;
} making;

static tsl_err make_sites(void *context, int slot, int64_t lo, int64_t hi) {
  const making *m = context;
  const double *rho = m->rows, *slope = rho + XC_NONLOCAL_SLOPE * m->n;
  (void)slot;
  for (int64_t i = lo; i < hi; i++) {
    double sigma = 0;
    xc_vv10_site site = {0, 1};
    for (int x = 0; x < 3; x++) sigma += slope[x * m->n + i] * slope[x * m->n + i];
    if (rho[i] >= XC_VV10_LEAST) site = xc_vv10_site_of(m->f, rho[i], sigma);
    m->rows[XC_NONLOCAL_OMEGA * m->n + i] = site.omega;
    m->rows[XC_NONLOCAL_KAPPA * m->n + i] = site.kappa;
  }
  return TSL_OK;
}

/* Those that take part, one after another. */
static void list_sites(const making *m, const double *const point[4]) {
  double *sites = m->rows + XC_NONLOCAL_SITES * m->n;
  int64_t n = 0;
  for (int64_t i = 0; i < m->n; i++) {
    if (!(m->rows[i] >= XC_VV10_LEAST) || point[3][i] == 0) continue;
    const double all[XC_N_SITE_ROWS] = {point[0][i],
                                        point[1][i],
                                        point[2][i],
                                        m->rows[XC_NONLOCAL_OMEGA * m->n + i],
                                        m->rows[XC_NONLOCAL_KAPPA * m->n + i],
                                        point[3][i] * m->rows[i]};
    for (int k = 0; k < XC_N_SITE_ROWS; k++) sites[k * m->n + n] = all[k];
    n++;
  }
  for (int k = 0; k < XC_N_SITE_ROWS; k++)
    for (int64_t i = n; i < m->n; i++) sites[k * m->n + i] = 0;
}

tsl_err xc_nonlocal_sites(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  enum { RANGE = 4096 };
  const xc_params *p = xc_params_of(problem);
  tsl_field *fields = problem->fields;
  const making m = {p->functional.nonlocal, fields[XC_IN_NONLOCAL].data, p->n_nonlocal_points};
  const double *point[4];
  xc_view view;
  if (m.f.b == 0) goto done;
  xc_view_set(problem, &view);
  for (int k = 0; k < 4; k++) point[k] = view.point[k] + xc_local_points(p);
  if (m.n > 0)
    memcpy(m.rows, fields[XC_SUM_NONLOCAL].data,
           (size_t)(XC_NONLOCAL_OMEGA * m.n) * sizeof *m.rows);
  TSL_TRY(tsl_parallel(m.n, RANGE, make_sites, (void *)&m));
  list_sites(&m, point);
  tsl_field_touch(&fields[XC_IN_NONLOCAL]);
done:
  return err;
}

tsl_err xc_nonlocal_add(const tsl_problem *problem, double *xc) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  xc_own *own = xc_own_of(problem);
  const int64_t size = p->n_spin * p->n * p->n;
  double *more = NULL, integrals[XC_N_INTEGRALS];
  if (p->functional.nonlocal.b == 0) goto done;
  TSL_TRY(xc_matrix_create(p->n_spin * p->n, p->n, "non-local correlation", &more));
  xc_fixed_take(problem, XC_FIXED_XC, XC_SUM_XC, 0, size, more);
  xc_matrix_add(size, 1, more, xc);
  if (own->stability.running) goto done;
  xc_fixed_take(problem, XC_FIXED_INTEGRALS, XC_SUM_INTEGRALS, 0, XC_N_INTEGRALS, integrals);
  own->nonlocal = integrals[XC_INTEGRAL_ENERGY];
  own->integrals[XC_INTEGRAL_ENERGY] += own->nonlocal;
done:
  tsl_free(more);
  return err;
}
