/* Loops over the points of a block, compiled for each level of x86-64 and chosen when the program
 * starts. */
#include "xc_values.h"

#include "xc_functions.h"

#include "fn.h"

#include <math.h>
#include <string.h>

/* Rows of the density and points whose sums stay in registers while functions pass by. */
enum { ROWS = 4, WIDTH = 8, VECTORS = 2, LANES = WIDTH * VECTORS };
typedef double lanes __attribute__((vector_size(WIDTH * sizeof(double)), aligned(8), may_alias));

void xc_values_clear(xc_values *values) {
  TSL_FREE_ALL(values->phi, values->matrix);
  *values = (xc_values){.phi = NULL};
}

static tsl_err reserve(xc_values *v, int64_t functions) {
  tsl_err err = TSL_OK;
  const int64_t rows = (functions + ROWS) / ROWS * ROWS;
  if (rows <= v->room) goto done;
  TSL_FREE_ALL(v->phi, v->matrix);
  v->phi = v->matrix = NULL, v->room = 0;
  TSL_TRY(tsl_alloc(rows * XC_PLACES, sizeof *v->phi, "functions at points", (void **)&v->phi));
  TSL_TRY(tsl_alloc(rows * rows, sizeof *v->matrix, "density of a block", (void **)&v->matrix));
  v->room = rows;
done:
  return err;
}

/* ---------------------------------------------------------------- functions */

/* Points from the shell's centre, and its radial part there. */
typedef struct radial {
  double x[XC_PLACES], y[XC_PLACES], z[XC_PLACES], r2[XC_PLACES], f[XC_PLACES];
} radial;

static inline __attribute__((always_inline)) void values_radial(const xc_shell *s,
                                                                const xc_places *at, radial *t) {
  const int n = (int)at->n;
#pragma omp simd
  for (int p = 0; p < n; p++) {
    t->x[p] = at->x[p] - s->at[0];
    t->y[p] = at->y[p] - s->at[1];
    t->z[p] = at->z[p] - s->at[2];
    t->r2[p] = t->x[p] * t->x[p] + t->y[p] * t->y[p] + t->z[p] * t->z[p];
    t->f[p] = 0;
  }
  for (int k = 0; k < s->n; k++) {
    const double a = s->exponent[k], c = s->coefficient[k];
#pragma omp simd
    for (int p = 0; p < n; p++) t->f[p] += c * xc_exp_f64(-a * t->r2[p]);
  }
}

/* The functions of one kind of shell; l and spherical are constants where it is called. */
static inline __attribute__((always_inline)) void values_fill(int l, int spherical, const radial *t,
                                                              int n, double *out) {
  const int size = spherical ? 2 * l + 1 : (l + 1) * (l + 2) / 2;
  TSL_INDEPENDENT
  for (int p = 0; p < n; p++) {
    double value[XC_MAX_FUNCTIONS];
    xc_function_values_f64(l, spherical, t->x[p], t->y[p], t->z[p], t->f[p], value);
#pragma GCC unroll 15
    for (int i = 0; i < size; i++) out[i * XC_PLACES + p] = value[i];
  }
}

#define KIND(l, spherical)                              \
  case 2 * (l) + (spherical):                           \
    values_fill(l, spherical, &t, (int)points->n, out); \
    break;

TSL_LEVELS
static void values_of_shell(const xc_shell *shell, const xc_places *points, double *out) {
  radial t;
  values_radial(shell, points, &t);
  switch (2 * shell->l + (shell->spherical != 0)) { XC_SHELL_KINDS(KIND) }
}

tsl_err xc_values_fill(const xc_basis *basis, const int32_t *shells, int64_t n_shells,
                       const xc_places *points, xc_values *v) {
  tsl_err err = TSL_OK;
  int64_t functions = 0;
  for (int64_t k = 0; k < n_shells; k++) functions += xc_shell_size(&basis->shells[shells[k]]);
  TSL_TRY(reserve(v, functions));
  v->basis = basis, v->shells = shells, v->n_shells = n_shells;
  v->functions = functions, v->n_points = points->n;
  double *out = v->phi;
  for (int64_t k = 0; k < n_shells; k++) {
    const xc_shell *shell = &basis->shells[shells[k]];
    values_of_shell(shell, points, out);
    out += xc_shell_size(shell) * XC_PLACES;
  }
  for (int64_t i = 0; i < functions && points->n < XC_PLACES; i++)
    memset(v->phi + i * XC_PLACES + points->n, 0, (size_t)(XC_PLACES - points->n) * sizeof *v->phi);
  const int64_t end = (functions + ROWS) / ROWS * ROWS; /* rows that fill up the last ones */
  memset(v->phi + functions * XC_PLACES, 0,
         (size_t)((end - functions) * XC_PLACES) * sizeof *v->phi);
done:
  return err;
}

/* ------------------------------------------------------------------ density */

/* Lower triangle of the density of the block's functions, what is left of the diagonal doubled,
 * zero right of it and in rows that fill up the last ones. */
static void pack_density(const xc_values *v, const double *density) {
  const int64_t b = v->functions, rows = (b + ROWS) / ROWS * ROWS, n = v->basis->n;
  int64_t i = 0;
  memset(v->matrix, 0, (size_t)(rows * b) * sizeof *v->matrix);
  for (int64_t s = 0; s < v->n_shells; s++) {
    const xc_shell *shell = &v->basis->shells[v->shells[s]];
    for (int p = 0; p < xc_shell_size(shell); p++, i++) {
      const double *from = density + (shell->first + p) * n;
      double *to = v->matrix + i * b;
      int64_t j = 0;
      for (int64_t t = 0; t <= s; t++) {
        const xc_shell *other = &v->basis->shells[v->shells[t]];
        for (int q = 0; q < xc_shell_size(other) && j <= i; q++, j++)
          to[j] = (j < i ? 2 : 1) * from[other->first + q];
      }
    }
  }
}

/* Sums of LANES points. */
TSL_LEVELS
static void density_lanes(int64_t b, const double *phi, const double *d, double *rho) {
  lanes sum[VECTORS] = {{0}};
  for (int64_t i = 0; i < b; i += ROWS) {
    lanes x[ROWS][VECTORS] = {{{0}}};
    const int64_t end = i + ROWS < b ? i + ROWS : b;
    for (int64_t j = 0; j < end; j++) {
      const lanes *f = (const lanes *)(phi + j * XC_PLACES);
#pragma GCC unroll 4
      for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++) x[r][v] += d[(i + r) * b + j] * f[v];
    }
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
      for (int v = 0; v < VECTORS; v++)
        sum[v] += x[r][v] * ((const lanes *)(phi + (i + r) * XC_PLACES))[v];
  }
  for (int v = 0; v < VECTORS; v++) ((lanes *)rho)[v] = sum[v];
}

void xc_values_density(const xc_values *v, const double *density, double *rho) {
  memset(rho, 0, XC_PLACES * sizeof *rho);
  if (v->functions == 0) return;
  pack_density(v, density);
  for (int64_t p = 0; p < v->n_points; p += LANES)
    density_lanes(v->functions, v->phi + p, v->matrix, rho + p);
}

void xc_values_orbital(const xc_values *v, const double *orbital, double *psi) {
  const double *phi = v->phi;
  memset(psi, 0, XC_PLACES * sizeof *psi);
  for (int64_t s = 0; s < v->n_shells; s++) {
    const xc_shell *shell = &v->basis->shells[v->shells[s]];
    for (int i = 0; i < xc_shell_size(shell); i++, phi += XC_PLACES) {
      const double c = orbital[shell->first + i];
#pragma omp simd
      for (int p = 0; p < XC_PLACES; p++) psi[p] += c * phi[p];
    }
  }
}
