/* Derivatives of overlap, kinetic energy and attraction by charges with respect to the places of
 * shells and charges, contracted with densities pair by pair. */
#include "xc_one_gradient.h"

#include "xc_ecp_local.h"
#include "xc_primitives.h"

#include <string.h>

/* A primitive x^i exp(-a x^2) of centre A: d/dA = 2 a x^(i+1) - i x^(i-1). */
typedef struct shift {
  double up, down; /* weights of i + 1 and i - 1 */
} shift;

static shift shift_of(const xc_primitives *q, int i) {
  return (shift){2 * q->alpha, -i};
}

/* ------------------------------------------------ overlap and kinetic energy */

/* Overlap and kinetic energy along the axes, and their derivatives with respect to A. */
typedef struct axes {
  double s[3], t[3], ds[3], dt[3];
} axes;

static void set_axis(const xc_primitives *q, int x, int i, int j, axes *out) {
  const shift d = shift_of(q, i);
  out->s[x] = q->e[x].of[i][j][0];
  out->t[x] = xc_primitives_kinetic(q, x, i, j);
  out->ds[x] = d.up * q->e[x].of[i + 1][j][0];
  out->dt[x] = d.up * xc_primitives_kinetic(q, x, i + 1, j);
  if (i == 0) return;
  out->ds[x] += d.down * q->e[x].of[i - 1][j][0];
  out->dt[x] += d.down * xc_primitives_kinetic(q, x, i - 1, j);
}

/* force += overlap weight * dS/dA + kinetic weight * dT/dA of one pair of functions. */
static void add_element(const xc_primitives *q, const int i[3], const int j[3], double overlap,
                        double kinetic, double force[3]) {
  axes v;
  for (int x = 0; x < 3; x++) set_axis(q, x, i[x], j[x], &v);
  for (int x = 0; x < 3; x++) {
    const int y = (x + 1) % 3, z = (x + 2) % 3;
    force[x] += overlap * v.ds[x] * v.s[y] * v.s[z];
    force[x] += kinetic *
                (v.dt[x] * v.s[y] * v.s[z] + v.ds[x] * v.t[y] * v.s[z] + v.ds[x] * v.s[y] * v.t[z]);
  }
}

static void overlap_kinetic_shells(const xc_shell *a, const xc_shell *b, const double *overlap,
                                   const double *kinetic, double force[3]) {
  const xc_one_tables *tables = xc_one_tables_get();
  const int na = XC_CARTESIANS(a->l), nb = XC_CARTESIANS(b->l);
  xc_primitives q;
  for (int k = 0; k < a->n * b->n; k++) {
    xc_primitives_set(&q, a, b, k / b->n, k % b->n, 1, 2);
    const double factor = xc_primitives_overlap(&q);
    for (int i = 0; i < na; i++)
      for (int j = 0; j < nb; j++)
        add_element(&q, tables->power[a->l][i], tables->power[b->l][j],
                    factor * overlap[i * nb + j], factor * kinetic[i * nb + j], force);
  }
}

void xc_overlap_kinetic_gradient(const xc_basis *basis, int64_t lo, int64_t hi,
                                 const double *overlap, const double *kinetic,
                                 double (*gradient)[3]) {
  double blocks[2][XC_ONE_BLOCK];
  for (int64_t k = lo; k < hi; k++)
    for (int64_t l = 0; l < k; l++) {
      const xc_shell *a = &basis->shells[k], *b = &basis->shells[l];
      double force[3] = {0};
      if (a->atom == b->atom) continue; /* they move together */
      xc_primitives_density(basis, a, b, overlap, blocks[0]);
      xc_primitives_density(basis, a, b, kinetic, blocks[1]);
      overlap_kinetic_shells(a, b, blocks[0], blocks[1], force);
      for (int x = 0; x < 3; x++)
        gradient[a->atom][x] += force[x], gradient[b->atom][x] -= force[x];
    }
}

/* ------------------------------------------------------------------ charges */

/* out[0]: E_t of functions i and j along x; out[1]: its derivative, t up to i + j + 1. */
static void coefficients(const xc_primitives *q, int x, int i, int j,
                         double out[2][2 * XC_MAX_L + 2]) {
  const shift d = shift_of(q, i);
  const int top = i + j;
  for (int t = 0; t <= top + 1; t++) {
    out[0][t] = t <= top ? q->e[x].of[i][j][t] : 0;
    out[1][t] = d.up * q->e[x].of[i + 1][j][t];
    if (i > 0 && t < top) out[1][t] += d.down * q->e[x].of[i - 1][j][t];
  }
}

static void add_hermites(const xc_primitives *q, const int i[3], const int j[3], double weight,
                         xc_hermites *out) {
  double e[3][2][2 * XC_MAX_L + 2];
  for (int x = 0; x < 3; x++) coefficients(q, x, i[x], j[x], e[x]);
  for (int t = 0; t <= i[0] + j[0] + 1; t++)
    for (int u = 0; u <= i[1] + j[1] + 1; u++)
      for (int v = 0; v <= i[2] + j[2] + 1; v++) {
        const int excess = (t > i[0] + j[0]) + (u > i[1] + j[1]) + (v > i[2] + j[2]);
        if (excess > 1) continue; /* nothing, and of too high a degree */
        const int h = xc_hermite_at(t, u, v);
        const double a = e[0][0][t], b = e[1][0][u], c = e[2][0][v];
        if (excess == 0) out->whole[h] += weight * a * b * c;
        out->moved[0][h] += weight * e[0][1][t] * b * c;
        out->moved[1][h] += weight * a * e[1][1][u] * c;
        out->moved[2][h] += weight * a * b * e[2][1][v];
      }
}

void xc_hermites_set(const xc_primitives *q, const double *block, xc_hermites *out) {
  const xc_one_tables *tables = xc_one_tables_get();
  const int na = XC_CARTESIANS(q->a->l), nb = XC_CARTESIANS(q->b->l);
  const size_t used = (size_t)xc_hermite_count(q->a->l + q->b->l + 1) * sizeof(double);
  memset(out->whole, 0, used);
  for (int x = 0; x < 3; x++) memset(out->moved[x], 0, used);
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++)
      add_hermites(q, tables->power[q->a->l][i], tables->power[q->b->l][j], block[i * nb + j], out);
}

/* Charges feel the whole density; a's functions their derivative; b's what is left. */
static void attraction_primitives(const xc_primitives *q, const xc_charge *charges, int64_t n,
                                  const double *block, double (*gradient)[3],
                                  double (*on_charges)[3]) {
  const xc_one_tables *tables = xc_one_tables_get();
  const int l = q->a->l + q->b->l;
  double factor, sum[XC_HERMITES];
  xc_hermites density;
  if (!xc_primitives_feel(q, &factor)) return;
  xc_hermites_set(q, block, &density);
  for (int h = 0; h < xc_hermite_count(l); h++) density.whole[h] *= -factor;
  xc_hermite_forces(tables, l, q->p, q->at, charges, n, density.whole, sum, on_charges);
  for (int x = 0; x < 3; x++) {
    double a = 0, both = 0;
    for (int h = 0; h < xc_hermite_count(l + 1); h++) a += factor * density.moved[x][h] * sum[h];
    for (int h = 0; h < xc_hermite_count(l); h++) both -= density.whole[h] * sum[tables->up[h][x]];
    gradient[q->a->atom][x] += a;
    gradient[q->b->atom][x] += both - a;
  }
}

void xc_attraction_gradient(const xc_basis *basis, const xc_charge *charges, int64_t n, int64_t lo,
                            int64_t hi, const double *density, double (*gradient)[3],
                            double (*on_charges)[3]) {
  double block[XC_ONE_BLOCK];
  xc_primitives q;
  for (int64_t k = lo; k < hi && n > 0; k++)
    for (int64_t l = 0; l <= k; l++) {
      const xc_shell *a = &basis->shells[k], *b = &basis->shells[l];
      xc_primitives_density(basis, a, b, density, block);
      for (int p = 0; p < a->n * b->n; p++) {
        xc_primitives_set(&q, a, b, p / b->n, p % b->n, 1, 0);
        attraction_primitives(&q, charges, n, block, gradient, on_charges);
      }
    }
}

/* ---------------------------------------------- effective core potentials */

/* As charges feel the density; force += of a's functions, of b's, of the centre. */
static void local_primitives(const xc_primitives *q, const xc_ecp_centre *centre,
                             const xc_hermites *density, double force[3][3]) {
  const xc_one_tables *tables = xc_one_tables_get();
  const int l = q->a->l + q->b->l;
  double sum[XC_HERMITES];
  xc_ecp_hermites(centre, l + 1, q->p, q->at, sum);
  for (int x = 0; x < 3; x++) {
    double a = 0, both = 0;
    for (int h = 0; h < xc_hermite_count(l + 1); h++) a += density->moved[x][h] * sum[h];
    for (int h = 0; h < xc_hermite_count(l); h++) both += density->whole[h] * sum[tables->up[h][x]];
    force[0][x] += q->factor * a;
    force[1][x] += q->factor * (both - a);
    force[2][x] -= q->factor * both;
  }
}

void xc_ecp_local_gradient(const xc_basis *basis, const xc_ecp_centre *centres, int64_t n,
                           int64_t lo, int64_t hi, const double *density, double (*gradient)[3]) {
  double block[XC_ONE_BLOCK], unused;
  xc_primitives q;
  xc_hermites expanded;
  for (int64_t k = lo; k < hi; k++)
    for (int64_t l = 0; l <= k; l++) {
      const xc_shell *a = &basis->shells[k], *b = &basis->shells[l];
      xc_primitives_density(basis, a, b, density, block);
      for (int p = 0; p < a->n * b->n; p++) {
        xc_primitives_set(&q, a, b, p / b->n, p % b->n, 1, 0);
        if (!xc_primitives_feel(&q, &unused)) continue;
        xc_hermites_set(&q, block, &expanded);
        for (int64_t c = 0; c < n; c++) {
          double force[3][3] = {{0}};
          local_primitives(&q, &centres[c], &expanded, force);
          const int64_t atoms[3] = {a->atom, b->atom, centres[c].atom};
          for (int w = 0; w < 3; w++)
            for (int x = 0; x < 3; x++) gradient[atoms[w]][x] += force[w][x];
        }
      }
    }
}
