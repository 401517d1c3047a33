#include "test_xc_gpu.h"

#include "xc_harmonics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- driving */

tsl_err xc_made_open(const char *section, xc_made *made) {
  tsl_err err = TSL_OK;
  static char text[65536];
  const tsl_limits limits = {
      .slab_bytes = 1 << 20, .device_bytes = INT64_MAX, .target_units = 32, .n_ranks = 1};
  const int n = snprintf(text, sizeof text, "family: xc\nxc:\n%s", section);
  *made = (xc_made){.problem.family = &tsl_family_xc};
  TSL_TRY(tsl_deck_parse(text, (size_t)n, "test.yaml", NULL, 0, &made->deck));
  TSL_TRY(tsl_family_xc.create(made->deck, &made->problem));
  TSL_TRY(tsl_family_xc.units(&made->problem, &limits, &made->units));
  TSL_TRY(tsl_alloc(made->units.n, sizeof *made->parts, "parts", (void **)&made->parts));
  for (int f = XC_SUM_XC; f <= XC_SUM_GRADIENT; f++) {
    tsl_field *field = &made->problem.fields[f];
    TSL_TRY(tsl_alloc(tsl_field_count(field), sizeof(double), field->name, &field->data));
  }
done:
  return err;
}

void xc_made_close(xc_made *made) {
  tsl_family_xc.destroy(&made->problem);
  tsl_problem_clear(&made->problem);
  tsl_deck_destroy(&made->deck);
  tsl_free(made->units.list);
  tsl_free(made->parts);
}

tsl_err xc_outcome_open(const xc_made *made, xc_outcome *out) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(&made->problem);
  *out = (xc_outcome){.xc = NULL};
  TSL_TRY(tsl_alloc(p->n_spin * p->n * p->n, 8, "matrix", (void **)&out->xc));
  TSL_TRY(tsl_alloc(p->n * p->n, 8, "matrix", (void **)&out->coulomb));
  TSL_TRY(tsl_alloc(tsl_field_count(&made->problem.fields[XC_SUM_EXCHANGE]), 8, "matrix",
                    (void **)&out->exchange));
  TSL_TRY(tsl_alloc(p->n_fit, 8, "gamma", (void **)&out->gamma));
done:
  return err;
}

void xc_outcome_close(xc_outcome *out) {
  tsl_free(out->xc);
  tsl_free(out->coulomb);
  tsl_free(out->exchange);
  tsl_free(out->gamma);
}

static tsl_err run_units(const tsl_backend *backend, tsl_worker *worker, xc_made *made,
                         const tsl_unit *list, int64_t n, int64_t call) {
  tsl_err err = TSL_OK;
  for (int64_t u = 0; u < n; u += call)
    TSL_TRY(backend->run(worker, list + u, n - u < call ? n - u : call, made->parts + u));
done:
  return err;
}

tsl_err xc_phase(const tsl_backend *backend, tsl_worker *worker, xc_made *made, int phase,
                 int kinds, int order, int64_t call, xc_outcome *out) {
  tsl_err err = TSL_OK;
  tsl_unit *list = NULL;
  int64_t n = 0;
  const xc_params *p = xc_params_of(&made->problem);
  const tsl_field *f = made->problem.fields;
  TSL_TRY(tsl_alloc(made->units.n, sizeof *list, "units", (void **)&list));
  for (int64_t u = 0; u < made->units.n; u++) {
    const tsl_unit *unit = &made->units.list[order == XC_ORDER_GIVEN ? u : made->units.n - 1 - u];
    if (kinds >> unit->kind & 1 && xc_is_active(&made->problem, phase, unit->kind))
      list[n++] = *unit;
  }
  TSL_TRY(backend->begin(worker, phase));
  TSL_TRY(run_units(backend, worker, made, list, n, call));
  TSL_TRY(backend->collect(worker, &made->problem));
  out->seconds = 0;
  for (int64_t u = 0; u < n; u++) out->seconds += made->parts[u].seconds;
  memcpy(out->sums, f[XC_SUM_INTEGRALS].data, sizeof out->sums);
  memcpy(out->xc, f[XC_SUM_XC].data, (size_t)(p->n_spin * p->n * p->n) * 8);
  memcpy(out->coulomb, f[XC_SUM_COULOMB].data, (size_t)(p->n * p->n) * 8);
  memcpy(out->exchange, f[XC_SUM_EXCHANGE].data, (size_t)tsl_field_count(&f[XC_SUM_EXCHANGE]) * 8);
  memcpy(out->gamma, f[XC_SUM_GAMMA].data, (size_t)p->n_fit * 8);
done:
  tsl_free(list);
  return err;
}

/* --------------------------------------------------------------------- truth */

/** A function's value and gradient. */
typedef struct jet {
  double of[4];
} jet;

static double power(double x, int k) {
  return k < 0 ? 0 : k == 0 ? 1 : x * power(x, k - 1);
}

/* Monomial x^e0 y^e1 z^e2 times sum_k c exp(-a r^2). */
static jet monomial(const xc_shell *s, const double r[3], const int e[3]) {
  jet out;
  const double r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  const double m = power(r[0], e[0]) * power(r[1], e[1]) * power(r[2], e[2]);
  double f = 0, slope = 0;
  for (int k = 0; k < s->n; k++) {
    const double g = s->coefficient[k] * exp(-s->exponent[k] * r2);
    f += g, slope -= 2 * s->exponent[k] * g;
  }
  out.of[0] = m * f;
  for (int x = 0; x < 3; x++) {
    const int y = (x + 1) % 3, z = (x + 2) % 3;
    const double d = e[x] * power(r[x], e[x] - 1) * power(r[y], e[y]) * power(r[z], e[z]);
    out.of[1 + x] = d * f + m * r[x] * slope;
  }
  return out;
}

static int set_shell(const xc_harmonics *h, const xc_shell *s, const double r[3], jet *out) {
  jet all[XC_CARTESIANS(XC_MAX_L)];
  int n = 0;
  for (int a = s->l; a >= 0; a--)
    for (int b = s->l - a; b >= 0; b--)
      all[n++] = monomial(s, r, (const int[3]){a, b, s->l - a - b});
  if (!s->spherical) {
    memcpy(out, all, (size_t)n * sizeof *out);
    return n;
  }
  for (int m = 0; m < 2 * s->l + 1; m++)
    for (int k = 0; k < 4; k++) {
      out[m].of[k] = 0;
      for (int c = 0; c < n; c++) out[m].of[k] += h->of[s->l][m][c] * all[c].of[k];
    }
  return 2 * s->l + 1;
}

/** Functions of a group at a point. */
typedef struct here {
  jet *f;      /**< [n] */
  int64_t *at; /**< [n] their places */
  int64_t n;
} here;

static void set_here(const xc_view *v, const xc_harmonics *h, const xc_group *g, int64_t point,
                     here *k) {
  k->n = 0;
  for (int64_t s = 0; s < g->n_shells; s++) {
    const xc_shell *shell = &v->orbital.shells[v->lists[g->shells + s]];
    double r[3];
    for (int x = 0; x < 3; x++) r[x] = v->point[x][point] - shell->at[x];
    const int n = set_shell(h, shell, r, k->f + k->n);
    for (int i = 0; i < n; i++) k->at[k->n++] = shell->first + i;
  }
}

/** Density, gradient and tau of a spin: d[0], d[1..3], d[4]. */
static void set_density(const here *k, const double *density, int64_t n, double factor,
                        double d[5]) {
  for (int c = 0; c < 5; c++) d[c] = 0;
  for (int64_t i = 0; i < k->n; i++)
    for (int64_t j = 0; j < k->n; j++) {
      const double p = factor * density[k->at[i] * n + k->at[j]];
      d[0] += p * k->f[i].of[0] * k->f[j].of[0];
      for (int c = 1; c < 4; c++)
        d[c] += p * (k->f[i].of[c] * k->f[j].of[0] + k->f[i].of[0] * k->f[j].of[c]);
      for (int c = 1; c < 4; c++) d[4] += 0.5 * p * k->f[i].of[c] * k->f[j].of[c];
    }
}

/* V_ij += w (v phi_i phi_j + (2 s_own grad rho + s_mixed grad rho') . grad(phi_i phi_j) + t/2 grad
 * phi_i . grad phi_j). */
static void add_matrix(const here *k, int64_t n, double v, const double slope[3], double t,
                       double *out) {
  for (int64_t i = 0; i < k->n; i++)
    for (int64_t j = 0; j < k->n; j++) {
      double sum = v * k->f[i].of[0] * k->f[j].of[0];
      for (int c = 0; c < 3; c++)
        sum += slope[c] * (k->f[i].of[1 + c] * k->f[j].of[0] + k->f[i].of[0] * k->f[j].of[1 + c]) +
               0.5 * t * k->f[i].of[1 + c] * k->f[j].of[1 + c];
      out[k->at[i] * n + k->at[j]] += sum;
    }
}

static void do_point(const xc_made *made, const xc_evaluator *evaluator, const here *k, double w,
                     xc_outcome *out) {
  const xc_params *p = xc_params_of(&made->problem);
  const int gga = p->functional.gga;
  double d[2][5] = {{0}}, sigma[3], e, vrho[2] = {0}, vsigma[3] = {0}, vtau[2] = {0};
  xc_points points = {.n = 1, .e = &e};
  for (int s = 0; s < p->n_spin; s++)
    set_density(k, xc_density_of(&made->problem, s), p->n, p->n_spin == 1 ? 2 : 1, d[s]);
  for (int s = 0, c = 0; s < 2; s++)
    for (int t = s; t < 2; t++, c++)
      sigma[c] = d[s][1] * d[t][1] + d[s][2] * d[t][2] + d[s][3] * d[t][3];
  for (int s = 0; s < 2; s++) points.rho[s] = &d[s][0], points.vrho[s] = &vrho[s];
  for (int c = 0; c < 3 && gga; c++) points.sigma[c] = &sigma[c], points.vsigma[c] = &vsigma[c];
  for (int s = 0; s < 2 && p->functional.tau; s++)
    points.tau[s] = &d[s][4], points.vtau[s] = &vtau[s];
  xc_evaluate(evaluator, &points);
  out->sums[XC_INTEGRAL_ENERGY] += w * e;
  for (int s = 0; s < p->n_spin; s++) {
    double slope[3];
    out->sums[XC_INTEGRAL_ALPHA + s] += w * d[s][0];
    for (int c = 0; c < 3; c++)
      slope[c] = w * (2 * vsigma[2 * s] * d[s][1 + c] + vsigma[1] * d[1 - s][1 + c]);
    if (p->n_spin == 1)
      for (int c = 0; c < 3; c++) slope[c] = w * 2 * vsigma[0] * d[0][1 + c];
    add_matrix(k, p->n, w * vrho[s], slope, w * vtau[s], out->xc + s * p->n * p->n);
  }
}

/* libxc's terms in place of our own formulas. */
static tsl_err independent(const xc_functional *own, xc_functional *out) {
  if (xc_functional_find(own->name, XC_SOURCE_LIBXC, out) == TSL_OK) return TSL_OK;
  *out = *own;
  return TSL_OK;
}

tsl_err xc_truth(const xc_made *made, xc_outcome *out) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(&made->problem);
  xc_view v;
  xc_harmonics h;
  xc_functional functional;
  xc_evaluator *evaluator = NULL;
  here k = {.f = NULL};
  xc_view_set(&made->problem, &v);
  xc_harmonics_fill(&h);
  TSL_TRY(independent(&p->functional, &functional));
  TSL_TRY(xc_evaluator_create(&functional, p->n_spin, 0, &evaluator));
  TSL_TRY(tsl_alloc(p->n, sizeof *k.f, "functions", (void **)&k.f));
  TSL_TRY(tsl_alloc(p->n, sizeof *k.at, "places", (void **)&k.at));
  memset(out->sums, 0, sizeof out->sums);
  memset(out->xc, 0, (size_t)(p->n_spin * p->n * p->n) * 8);
  for (int64_t g = 0; g < p->n_groups; g++)
    for (int64_t i = v.groups[g].first; i < v.groups[g].first + v.groups[g].n; i++) {
      set_here(&v, &h, &v.groups[g], i, &k);
      do_point(made, evaluator, &k, v.point[3][i], out);
    }
done:
  xc_evaluator_destroy(&evaluator);
  tsl_free(k.f);
  tsl_free(k.at);
  return err;
}
