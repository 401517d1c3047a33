/* What groups add to the gradient when functions move with their atoms and points with their
 * owners (xc_cpu_gradient.h): each thread a point, functions shell by shell with derivatives made
 * anew. Sums of a warp are added as integers, so their order does not matter. */
#include "xc_gpu.cuh"

#include "xc_functions.h"

enum { SLOPE_BLOCK = 128 };

/** What a thread knows of its point and the shell at hand. */
struct slope_point {
  double at[3]; /**< from the shell's centre */
  double f, g, h;
  double b[3];         /**< what multiplies grad phi in psi; LDA: b[0] what multiplies phi */
  double curve;        /**< meta-GGAs: what multiplies D grad phi */
  const double *x, *z; /**< of the shell's first function */
  int64_t ld, block;   /**< block: from X of phi to those of grad phi */
};

/* sum += grad phi_i z_i + (grad grad phi_i) (x_i b + curve y_i) of a shell's functions, y_i of
 * meta-GGAs alone: D grad phi; LDA: grad phi_i x_i b. */
template <int L, int SPHERICAL, int KIND>
static __device__ __forceinline__ void add_shell(const slope_point &k, double sum[3]) {
  constexpr int SIZE = SPHERICAL ? 2 * L + 1 : (L + 1) * (L + 2) / 2;
  if constexpr (KIND >= XC_KIND_GRADIENT) {
    double d[9][XC_MAX_FUNCTIONS];
    xc_function_seconds_f64(L, SPHERICAL, k.at[0], k.at[1], k.at[2], k.f, k.g, k.h, d);
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
      const double x = k.x[i * k.ld], z = k.z[i * k.ld];
      double b[3] = {x * k.b[0], x * k.b[1], x * k.b[2]};
#pragma unroll
      for (int c = 0; c < 3 && KIND >= XC_KIND_TAU; c++)
        b[c] = fma(k.curve, k.x[(1 + c) * k.block + i * k.ld], b[c]);
      sum[0] += d[0][i] * z + d[3][i] * b[0] + d[4][i] * b[1] + d[5][i] * b[2];
      sum[1] += d[1][i] * z + d[4][i] * b[0] + d[6][i] * b[1] + d[7][i] * b[2];
      sum[2] += d[2][i] * z + d[5][i] * b[0] + d[7][i] * b[1] + d[8][i] * b[2];
    }
  } else {
    double v[XC_MAX_FUNCTIONS], d[3][XC_MAX_FUNCTIONS];
    xc_functions_f64(L, SPHERICAL, k.at[0], k.at[1], k.at[2], k.f, k.g, v, d[0], d[1], d[2]);
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
      const double z = k.b[0] * k.x[i * k.ld];
#pragma unroll
      for (int c = 0; c < 3; c++) sum[c] += d[c][i] * z;
    }
  }
}

#define SHELL(l, spherical)                \
  case 2 * (l) + (spherical):              \
    add_shell<l, spherical, KIND>(k, sum); \
    break;

template <int KIND>
static __device__ __forceinline__ void do_shell(const xc_shell *shell, const double at[3],
                                                slope_point &k, double sum[3]) {
  double square = 0;
#pragma unroll
  for (int c = 0; c < 3; c++) k.at[c] = at[c] - shell->at[c], square += k.at[c] * k.at[c];
  if (KIND >= XC_KIND_GRADIENT)
    xc_radial_second_f64(shell->n, shell->exponent, shell->coefficient, square, &k.f, &k.g, &k.h);
  else
    xc_radial_f64(shell->n, shell->exponent, shell->coefficient, square, &k.f, &k.g);
  switch (2 * shell->l + (shell->spherical != 0)) { XC_SHELL_KINDS(SHELL) }
}

/** Where sums go; owners NULL: points stay. */
struct slope_sums {
  unsigned long long *atoms, *flag;
  const int32_t *owners;
  double factor, scale;
};

/* What a warp's points have of an atom leaves its sum. */
static __device__ __forceinline__ void give_away(const slope_sums &to, int32_t group, int atom,
                                                 double sum[3]) {
#pragma unroll
  for (int c = 0; c < 3; c++) {
    for (int d = XC_WARP / 2; d > 0; d /= 2) sum[c] += __shfl_down_sync(~0u, sum[c], d);
    if (threadIdx.x % XC_WARP == 0)
      xc_gradient_add(&to.atoms[3 * atom + c], -to.factor * sum[c], to.scale, group, to.flag);
    sum[c] = 0;
  }
}

/* Block (points, piece). Lists are sorted by atom; all lanes of a warp go through them, those
 * beyond the points with x = z = 0 in the padding. */
template <int KIND>
static __global__ void __launch_bounds__(SLOPE_BLOCK)
    slopes_kernel(const xc_piece *pieces, const xc_shell *shells, const int32_t *lists,
                  const int32_t *rows_of, const double *points, int64_t n_points,
                  const double *scales, int64_t stride, int spin, const slope_sums to) {
  const xc_piece k = pieces[blockIdx.y];
  const int p = (int)(blockIdx.x * SLOPE_BLOCK + threadIdx.x);
  double at[3] = {0, 0, 0}, sum[3] = {0, 0, 0}, all[3] = {0, 0, 0};
  slope_point own = {};
  int atom = -1;
  if (p >= k.ld) return; /* whole warps: ld is a multiple of the lanes */
  own.ld = k.ld, own.block = (int64_t)k.ld * k.pad;
  for (int c = 0; c < 3 && p < k.n; c++) at[c] = points[c * n_points + k.first + p];
  const double *const scale = scales + 4 * spin * stride + k.points + p;
  for (int c = 0; c < 3; c++) own.b[c] = KIND >= XC_KIND_GRADIENT ? scale[(1 + c) * stride] : 0;
  if (KIND == XC_KIND_LOCAL) own.b[0] = 2 * scale[0];
  if (KIND >= XC_KIND_TAU) own.curve = 2 * scales[(XC_TAU_SCALE + spin) * stride + k.points + p];
  for (int s = 0; s < k.n_shells; s++) {
    const xc_shell *shell = &shells[lists[k.list + s]];
    const int64_t row = rows_of[k.list + s] * (int64_t)k.ld + p;
    double part[3] = {0, 0, 0};
    if (shell->atom != atom && atom >= 0) give_away(to, k.group, atom, sum);
    atom = shell->atom;
    own.x = (const double *)k.x + row, own.z = (const double *)k.z + row;
    do_shell<KIND>(shell, at, own, part);
    for (int c = 0; c < 3; c++) sum[c] += part[c], all[c] += part[c];
  }
  if (atom >= 0) give_away(to, k.group, atom, sum);
  if (to.owners == NULL || p >= k.n) return;
  unsigned long long *const owner = &to.atoms[3 * to.owners[k.first + p]];
  for (int c = 0; c < 3; c++)
    xc_gradient_add(&owner[c], to.factor * all[c], to.scale, k.group, to.flag);
}

template <int KIND> static tsl_err run(xc_gpu *w, const xc_batch *batch, int spin) {
  tsl_err err = TSL_OK;
  const dim3 grid((unsigned)tsl_ceil_div(batch->most_ld, SLOPE_BLOCK), (unsigned)batch->n);
  const slope_sums to = {(unsigned long long *)w->gradient.groups.data,
                         (unsigned long long *)w->flag.data,
                         (const int32_t *)w->gradient.owners.data, w->p->n_spin == 1 ? 4.0 : 2.0,
                         xc_gradient_scale(w->p)};
  TSL_LAUNCH((slopes_kernel<KIND>), grid, SLOPE_BLOCK, 0, w->stream, batch->card,
             (const xc_shell *)w->shells.data, (const int32_t *)w->lists.data,
             (const int32_t *)w->rows_of.data, (const double *)w->points.data, w->p->n_points,
             batch->arrays + XC_INPUTS * batch->stride, batch->stride, spin, to);
done:
  return err;
}

tsl_err xc_slopes_run(xc_gpu *w, const xc_batch *batch, int spin) {
  const xc_functional *f = &w->p->functional;
  return f->tau && !batch->nonlocal ? run<XC_KIND_TAU>(w, batch, spin)
         : f->gga                   ? run<XC_KIND_GRADIENT>(w, batch, spin)
                                    : run<XC_KIND_LOCAL>(w, batch, spin);
}
