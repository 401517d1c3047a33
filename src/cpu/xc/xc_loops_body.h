/* Bodies of xc_loops.h, compiled once for each SIMD level by tsl_simd (tools/cmake/TslSimd.cmake),
 * which defines TSL_SIMD_TABLE and TSL_SIMD_LEVEL, and once by xc_loops_plain.c, whose products,
 * XC_PRODUCT, are not those of BLAS. */
#include "fn.h"
#include "xc_functions.h"
#include "xc_loops.h"

#include <string.h>

enum { TILE = 128 };

/** Points of a tile relative to the shell's centre, and its radial parts there. */
typedef struct radial {
  double x[TILE], y[TILE], z[TILE], r2[TILE], f[TILE], g[TILE];
} radial;

/* As xc_radial_f64, with the loop over points inside. */
static void set_radial(const xc_shell *s, const xc_place *place, int64_t at, int n, radial *t) {
#pragma omp simd
  for (int p = 0; p < n; p++) {
    t->x[p] = place->x[at + p] - s->at[0];
    t->y[p] = place->y[at + p] - s->at[1];
    t->z[p] = place->z[at + p] - s->at[2];
    t->r2[p] = t->x[p] * t->x[p] + t->y[p] * t->y[p] + t->z[p] * t->z[p];
    t->f[p] = t->g[p] = 0;
  }
  for (int k = 0; k < s->n; k++) {
    const double a = s->exponent[k], c = s->coefficient[k];
#pragma omp simd
    for (int p = 0; p < n; p++) {
      const double e = c * xc_exp_f64(-a * t->r2[p]);
      t->f[p] += e;
      t->g[p] = fma(-a, e, t->g[p]);
    }
  }
#pragma omp simd
  for (int p = 0; p < n; p++) t->g[p] = t->g[p] + t->g[p];
}

/* The functions of one kind of shell; l and spherical are constants where it is called. */
static inline __attribute__((always_inline)) void fill(int l, int spherical, const radial *t, int n,
                                                       bool gradients, int64_t ld,
                                                       double *const out[4], int64_t at) {
  const int size = spherical ? 2 * l + 1 : (l + 1) * (l + 2) / 2;
  const double *restrict x = t->x, *restrict y = t->y, *restrict z = t->z;
  const double *restrict f = t->f, *restrict g = t->g;
  double *restrict v0 = out[0] + at, *restrict v1 = gradients ? out[1] + at : NULL;
  double *restrict v2 = gradients ? out[2] + at : NULL, *restrict v3 =
                                                            gradients ? out[3] + at : NULL;
  if (!gradients) {
    TSL_INDEPENDENT
    for (int p = 0; p < n; p++) {
      double value[XC_MAX_FUNCTIONS];
      xc_function_values_f64(l, spherical, x[p], y[p], z[p], f[p], value);
#pragma GCC unroll 15
      for (int i = 0; i < size; i++) v0[i * ld + p] = value[i];
    }
    return;
  }
  TSL_INDEPENDENT
  for (int p = 0; p < n; p++) {
    double value[XC_MAX_FUNCTIONS], dx[XC_MAX_FUNCTIONS], dy[XC_MAX_FUNCTIONS],
        dz[XC_MAX_FUNCTIONS];
    xc_functions_f64(l, spherical, x[p], y[p], z[p], f[p], g[p], value, dx, dy, dz);
#pragma GCC unroll 15
    for (int i = 0; i < size; i++) {
      v0[i * ld + p] = value[i];
      v1[i * ld + p] = dx[i];
      v2[i * ld + p] = dy[i];
      v3[i * ld + p] = dz[i];
    }
  }
}

#define KIND(l, spherical)                             \
  case 2 * (l) + (spherical):                          \
    fill(l, spherical, &t, n, gradients, ld, out, at); \
    break;

static void functions(const xc_shell *shell, const xc_place *place, bool gradients, int64_t ld,
                      double *const out[4]) {
  radial t;
  for (int64_t at = 0; at < place->n; at += TILE) {
    const int n = (int)(place->n - at < TILE ? place->n - at : TILE);
    set_radial(shell, place, at, n, &t);
    switch (2 * shell->l + (shell->spherical != 0)) { XC_SHELL_KINDS(KIND) }
  }
}

/* Points whose sums stay in registers while the functions pass by: VECTORS vectors of WIDTH. */
enum {
  WIDTH = TSL_SIMD_LEVEL == 4   ? 8
          : TSL_SIMD_LEVEL == 3 ? 4
          : TSL_SIMD_LEVEL == 1 ? 1
                                : 2,
  VECTORS = TSL_SIMD_LEVEL == 4 ? 4 : 2,
  LANES = WIDTH * VECTORS
};
typedef double lanes __attribute__((vector_size(WIDTH * sizeof(double)), aligned(8), may_alias));

static inline __attribute__((always_inline)) const lanes *lanes_at(const double *from) {
  return (const lanes *)from;
}

/* Density at LANES points, with gradients. */
static void density_lanes(int64_t rows, int64_t ld, double factor, const double *const phi[4],
                          const double *x, double *const to[4]) {
  lanes sum[4][VECTORS] = {{{0}}};
  for (int64_t at = 0; at < rows * ld; at += ld)
    for (int v = 0; v < VECTORS; v++) {
      const lanes xi = lanes_at(x + at)[v];
      sum[0][v] += xi * lanes_at(phi[0] + at)[v];
      sum[1][v] += xi * lanes_at(phi[1] + at)[v];
      sum[2][v] += xi * lanes_at(phi[2] + at)[v];
      sum[3][v] += xi * lanes_at(phi[3] + at)[v];
    }
  for (int k = 0; k < 4; k++)
    for (int v = 0; v < VECTORS; v++)
      for (int i = 0; i < WIDTH; i++)
        to[k][v * WIDTH + i] += (k == 0 ? 1 : 2) * factor * sum[k][v][i];
}

static void density(int64_t rows, int64_t n, int64_t ld, double factor, const double *const phi[4],
                    const double *x, double *rho, double *const gradients[3]) {
  const bool all = gradients[0] != NULL;
  const double twice = 2 * factor;
  const int64_t whole = all ? n / LANES * LANES : 0;
  for (int64_t p = 0; p < whole; p += LANES)
    density_lanes(
        rows, ld, factor, (const double *const[4]){phi[0] + p, phi[1] + p, phi[2] + p, phi[3] + p},
        x + p, (double *const[4]){rho + p, gradients[0] + p, gradients[1] + p, gradients[2] + p});
  for (int64_t i = 0; i < rows && whole < n; i++) {
    const double *restrict xi = x + i * ld, *restrict v = phi[0] + i * ld;
    double *restrict r = rho;
#pragma omp simd
    for (int64_t p = whole; p < n; p++) r[p] += factor * xi[p] * v[p];
    for (int k = 0; k < 3 && all; k++) {
      const double *restrict d = phi[1 + k] + i * ld;
      double *restrict g = gradients[k];
#pragma omp simd
      for (int64_t p = whole; p < n; p++) g[p] += twice * xi[p] * d[p];
    }
  }
}

static void potential(int64_t rows, int64_t n, int64_t ld, const double *a,
                      const double *const b[3], const double *const phi[4], double *z) {
  const bool all = b[0] != NULL;
  for (int64_t i = 0; i < rows; i++) {
    const double *restrict v = phi[0] + i * ld;
    double *restrict to = z + i * ld;
    if (!all) {
#pragma omp simd
      for (int64_t p = 0; p < n; p++) to[p] = a[p] * v[p];
      continue;
    }
    const double *restrict dx = phi[1] + i * ld, *restrict dy = phi[2] + i * ld,
                           *restrict dz = phi[3] + i * ld;
#pragma omp simd
    for (int64_t p = 0; p < n; p++)
      to[p] = a[p] * v[p] + b[0][p] * dx[p] + b[1][p] * dy[p] + b[2][p] * dz[p];
  }
}

#ifndef XC_PRODUCT
#define XC_PRODUCT NULL
#endif

const xc_loops TSL_SIMD_TABLE = {.level = TSL_SIMD_LEVEL,
                                 .functions = functions,
                                 .density = density,
                                 .potential = potential,
                                 .product = XC_PRODUCT};
