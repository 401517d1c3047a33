/* Bodies of xc_loops.h, compiled once for each SIMD level by tsl_simd (tools/cmake/TslSimd.cmake),
 * which defines TSL_SIMD_TABLE and TSL_SIMD_LEVEL, and once by xc_loops_plain.c, whose products,
 * XC_PRODUCT, are not those of BLAS. */
#include "fn.h"
#include "xc_functions.h"
#include "xc_loops.h"
#include "xc_vv10.h"

#include <string.h>

enum { TILE = 128 };

/** Points of a tile relative to the shell's centre, and its radial parts there. */
typedef struct radial {
  double x[TILE], y[TILE], z[TILE], r2[TILE], f[TILE], g[TILE], h[TILE];
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

/* -------------------------------------------------------------- gradients */

/* h of xc_radial_second_f64 beside what set_radial has set. */
static void set_second(const xc_shell *s, int n, radial *t) {
#pragma omp simd
  for (int p = 0; p < n; p++) t->h[p] = 0;
  for (int k = 0; k < s->n; k++) {
    const double a = s->exponent[k], c = 4 * a * a * s->coefficient[k];
#pragma omp simd
    for (int p = 0; p < n; p++) t->h[p] = fma(c, xc_exp_f64(-a * t->r2[p]), t->h[p]);
  }
}

/** Parts of a gradient at the points of a tile. */
typedef struct parts {
  double x[TILE], y[TILE], z[TILE];
} parts;

/* sum_i z_i grad phi_i of one kind of shell. */
static inline __attribute__((always_inline)) void
add_first(int l, int spherical, const radial *t, int n, int64_t ld, const double *z, parts *to) {
  const int size = spherical ? 2 * l + 1 : (l + 1) * (l + 2) / 2;
  TSL_INDEPENDENT
  for (int p = 0; p < n; p++) {
    double value[XC_MAX_FUNCTIONS], dx[XC_MAX_FUNCTIONS], dy[XC_MAX_FUNCTIONS],
        dz[XC_MAX_FUNCTIONS], sx = 0, sy = 0, sz = 0;
    xc_functions_f64(l, spherical, t->x[p], t->y[p], t->z[p], t->f[p], t->g[p], value, dx, dy, dz);
#pragma GCC unroll 15
    for (int i = 0; i < size; i++) {
      const double zi = z[i * ld + p];
      sx = fma(zi, dx[i], sx), sy = fma(zi, dy[i], sy), sz = fma(zi, dz[i], sz);
    }
    to->x[p] = sx, to->y[p] = sy, to->z[p] = sz;
  }
}

/** What the second derivatives of a shell's functions are taken times, at the points of a tile. */
typedef struct weights {
  double at[3][XC_MAX_FUNCTIONS][TILE];
} weights;

/* x_i slope, and where there is a curve (x_1i, x_2i, x_3i) curve beside it. */
static void set_weights(int size, int n, int64_t ld, const double *const x[4],
                        const double *const slope[3], const double *curve, weights *w) {
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < size; i++) {
      const double *restrict xi = x[0] + i * ld, *restrict s = slope[k];
      double *restrict to = w->at[k][i];
      if (curve == NULL) {
#pragma omp simd
        for (int p = 0; p < n; p++) to[p] = xi[p] * s[p];
        continue;
      }
      const double *restrict xk = x[1 + k] + i * ld;
#pragma omp simd
      for (int p = 0; p < n; p++) to[p] = fma(curve[p], xk[p], xi[p] * s[p]);
    }
}

/* Likewise with (grad grad phi_i) times their weights. */
static inline __attribute__((always_inline)) void add_second(int l, int spherical, const radial *t,
                                                             int n, int64_t ld, const double *z,
                                                             const weights *w, parts *to) {
  const int size = spherical ? 2 * l + 1 : (l + 1) * (l + 2) / 2;
  TSL_INDEPENDENT
  for (int p = 0; p < n; p++) {
    double d[9][XC_MAX_FUNCTIONS], sx = 0, sy = 0, sz = 0;
    xc_function_seconds_f64(l, spherical, t->x[p], t->y[p], t->z[p], t->f[p], t->g[p], t->h[p], d);
#pragma GCC unroll 15
    for (int i = 0; i < size; i++) {
      const double zi = z[i * ld + p];
      const double xa = w->at[0][i][p], xb = w->at[1][i][p], xc = w->at[2][i][p];
      sx = fma(zi, d[0][i], fma(xa, d[3][i], fma(xb, d[4][i], fma(xc, d[5][i], sx))));
      sy = fma(zi, d[1][i], fma(xa, d[4][i], fma(xb, d[6][i], fma(xc, d[7][i], sy))));
      sz = fma(zi, d[2][i], fma(xa, d[5][i], fma(xb, d[7][i], fma(xc, d[8][i], sz))));
    }
    to->x[p] = sx, to->y[p] = sy, to->z[p] = sz;
  }
}

#define FIRST(l, spherical)                             \
  case 2 * (l) + (spherical):                           \
    add_first(l, spherical, &t, n, ld, z + at, &found); \
    break;
#define SECOND(l, spherical)                                 \
  case 2 * (l) + (spherical):                                \
    add_second(l, spherical, &t, n, ld, z + at, &w, &found); \
    break;

/* Parts of a tile to points and sum. */
static void add_part(int n, const double *part, double *restrict move, double *sum) {
  double all = 0;
  for (int p = 0; p < n; p++) all += part[p];
#pragma omp simd
  for (int p = 0; p < n; p++) move[p] += part[p];
  *sum += all;
}

static void gradient(const xc_shell *shell, const xc_place *place, int64_t ld,
                     const double *const x[4], const double *z, const double *const slope[3],
                     const double *curve, double *const move[3], double sum[3]) {
  radial t;
  parts found;
  weights w;
  const int kind = 2 * shell->l + (shell->spherical != 0);
  const int size = xc_shell_size(shell);
  for (int64_t at = 0; at < place->n; at += TILE) {
    const int n = (int)(place->n - at < TILE ? place->n - at : TILE);
    set_radial(shell, place, at, n, &t);
    if (slope[0] != NULL) {
      const double *const slopes[3] = {slope[0] + at, slope[1] + at, slope[2] + at};
      const double *here[4] = {x[0] + at};
      for (int k = 1; k < 4 && curve != NULL; k++) here[k] = x[k] + at;
      set_second(shell, n, &t);
      set_weights(size, n, ld, here, slopes, curve != NULL ? curve + at : NULL, &w);
      switch (kind) { XC_SHELL_KINDS(SECOND) }
    } else {
      switch (kind) { XC_SHELL_KINDS(FIRST) }
    }
    add_part(n, found.x, move[0] + at, &sum[0]);
    add_part(n, found.y, move[1] + at, &sum[1]);
    add_part(n, found.z, move[2] + at, &sum[2]);
  }
}

/* ---------------------------------------------------------------- density */

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

/* ------------------------------------------------------------------ pairs */

enum { MEET = 32 }; /* points that meet a site together */

typedef struct meeting {
  double near[5][MEET], out[6][MEET];
} meeting;

/* Points of a tile and all sites; slopes is a constant where it is called. */
static inline __attribute__((always_inline)) void meet(meeting *m, int64_t sites,
                                                       const double *const far[6], bool slopes) {
  for (int64_t j = 0; j < sites; j++) {
    const double x = far[0][j], y = far[1][j], z = far[2][j], charge = far[5][j];
    const xc_vv10_site site = {far[3][j], far[4][j]};
    TSL_INDEPENDENT
    for (int p = 0; p < MEET; p++) {
      const double d[3] = {m->near[0][p] - x, m->near[1][p] - y, m->near[2][p] - z};
      const xc_vv10_site own = {m->near[3][p], m->near[4][p]};
      xc_vv10_sums s = {
          m->out[0][p], m->out[1][p], m->out[2][p], {m->out[3][p], m->out[4][p], m->out[5][p]}};
      xc_vv10_add(own, site, charge, d, &s);
      m->out[0][p] = s.f, m->out[1][p] = s.u, m->out[2][p] = s.v;
      if (!slopes) continue;
      xc_vv10_add_slope(own, site, charge, d, &s);
      m->out[3][p] = s.at[0], m->out[4][p] = s.at[1], m->out[5][p] = s.at[2];
    }
  }
}

static void pairs(int64_t n, const double *const near[5], int64_t sites, const double *const far[6],
                  bool slopes, double *const out[6]) {
  for (int64_t at = 0; at < n; at += MEET) {
    const size_t here = (size_t)(n - at < MEET ? n - at : MEET);
    meeting m;
    memset(&m, 0, sizeof m);
    for (int p = 0; p < MEET; p++) m.near[4][p] = 1;
    for (int k = 0; k < 5; k++) memcpy(m.near[k], near[k] + at, here * sizeof(double));
    if (slopes)
      meet(&m, sites, far, true);
    else
      meet(&m, sites, far, false);
    for (int k = 0; k < (slopes ? 6 : 3); k++) memcpy(out[k] + at, m.out[k], here * sizeof(double));
  }
}

#ifndef XC_PRODUCT
#define XC_PRODUCT NULL
#endif

const xc_loops TSL_SIMD_TABLE = {.level = TSL_SIMD_LEVEL,
                                 .functions = functions,
                                 .density = density,
                                 .potential = potential,
                                 .gradient = gradient,
                                 .pairs = pairs,
                                 .product = XC_PRODUCT};
