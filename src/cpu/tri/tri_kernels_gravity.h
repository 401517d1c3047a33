/* Gravity kernels of one SIMD level, part of tri_kernels.h. Lanes are rows i, columns j are
 * broadcast, so the sum of a row runs over ascending j whatever unit or lane it is in.
 *
 * f32: 1/r from the processor's estimate y and one correction of order 2 or 3. With
 * e = 1 - r^2 y^2 the exact r^-3 is y^3 (1 + 3/2 e + 15/8 e^2 + ...). A constant factor of the
 * bracket is left out of the loop and applied to the sums:
 *   estimate of 14 bits: 3/2 (5/3 - r^2 y^2), relative error 15/8 (2^-13)^2 = 2.8e-8;
 *   estimate of 12 bits: 15/8 (8/15 + e (4/5 + e)), relative error 35/16 (1.5 2^-11)^3 = 9e-10.
 * The potential is w r^2, one operation more. Rounding adds some 2^-24; the whole stays
 * below 3e-7. f64: 1/sqrt, as a plain loop computes it. */

#if defined __AVX512F__
typedef __m512 vf;
typedef __m512d vd;
enum { VF = 16, VD = 8 };
#define VF_SET(a) _mm512_set1_ps(a)
#define VD_SET(a) _mm512_set1_pd(a)
#define VF_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define VF_FNMA(a, b, c) _mm512_fnmadd_ps(a, b, c)
#define VF_RSQRT(a) _mm512_rsqrt14_ps(a)
#define VD_SQRT(a) _mm512_sqrt_pd(a)
#define BITS14 1
#elif defined __AVX2__ && defined __FMA__
typedef __m256 vf;
typedef __m256d vd;
enum { VF = 8, VD = 4 };
#define VF_SET(a) _mm256_set1_ps(a)
#define VD_SET(a) _mm256_set1_pd(a)
#define VF_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define VF_FNMA(a, b, c) _mm256_fnmadd_ps(a, b, c)
#define VF_RSQRT(a) _mm256_rsqrt_ps(a)
#define VD_SQRT(a) _mm256_sqrt_pd(a)
#define BITS14 0
#elif defined __SSE2__
typedef __m128 vf;
typedef __m128d vd;
enum { VF = 4, VD = 2 };
#define VF_SET(a) _mm_set1_ps(a)
#define VD_SET(a) _mm_set1_pd(a)
#define VF_FMA(a, b, c) ((a) * (b) + (c))
#define VF_FNMA(a, b, c) ((c) - (a) * (b))
#define VF_RSQRT(a) _mm_rsqrt_ps(a)
#define VD_SQRT(a) _mm_sqrt_pd(a)
#define BITS14 0
#else
typedef float vf __attribute__((vector_size(16)));
typedef double vd __attribute__((vector_size(16)));
enum { VF = 4, VD = 2 };
#define VF_SET(a) ((vf){(a), (a), (a), (a)})
#define VD_SET(a) ((vd){(a), (a)})
#define VF_FMA(a, b, c) ((a) * (b) + (c))
#define VF_FNMA(a, b, c) ((c) - (a) * (b))
static inline vf VF_RSQRT(vf a) {
  for (int k = 0; k < VF; k++) a[k] = 1 / sqrtf(a[k]);
  return a;
}
static inline vd VD_SQRT(vd a) {
  for (int k = 0; k < VD; k++) a[k] = sqrt(a[k]);
  return a;
}
#define BITS14 0
#endif

typedef int32_t vi32 __attribute__((vector_size(4 * VF)));
typedef int64_t vi64 __attribute__((vector_size(8 * VD)));

/** Vectors of rows worked on together, to hide latency; 2 VF divides TRI_GRAVITY_ROWS. */
enum { NV = 2 };
#define EACH UNROLL for (int v = 0; v < NV; v++)

/** Sums of columns [j0, j1) for NV vectors of rows; lane l of vector v is row i + v VF + l. */
TSL_FN void gravity_tile_f32(const float *p, int64_t i, int64_t j0, int64_t j1, const vf x[3][NV],
                             vf softening2, const bool equal, const bool self, vf sums[4][NV]) {
  vf sx[NV], sy[NV], sz[NV], su[NV];
  vi32 lane[NV];
  EACH {
    sx[v] = sy[v] = sz[v] = su[v] = VF_SET(0);
    for (int l = 0; l < VF; l++) lane[v][l] = v * VF + l;
  }
  for (int64_t j = j0; j < j1; j++) {
    const vf xj = VF_SET(p[4 * j]), yj = VF_SET(p[4 * j + 1]), zj = VF_SET(p[4 * j + 2]);
    EACH {
      const vf dx = xj - x[0][v], dy = yj - x[1][v], dz = zj - x[2][v];
      const vf r2 = VF_FMA(dx, dx, VF_FMA(dy, dy, VF_FMA(dz, dz, softening2)));
      const vf y = VF_RSQRT(r2);
      const vf y2 = y * y;
#if BITS14
      const vf c = VF_FNMA(r2, y2, VF_SET(5.0f / 3.0f));
#else
      const vf e = VF_FNMA(r2, y2, VF_SET(1.0f));
      const vf c = VF_FMA(e, e + VF_SET(0.8f), VF_SET(8.0f / 15.0f));
#endif
      vf w = y2 * y * c;
      if (!equal) w = w * VF_SET(p[4 * j + 3]);
      if (self) w = (vf)((vi32)w & (lane[v] != (int32_t)(j - i)));
      sx[v] = VF_FMA(w, dx, sx[v]);
      sy[v] = VF_FMA(w, dy, sy[v]);
      sz[v] = VF_FMA(w, dz, sz[v]);
      su[v] = VF_FMA(w, r2, su[v]);
    }
  }
  EACH {
    sums[0][v] = sx[v], sums[1][v] = sy[v], sums[2][v] = sz[v], sums[3][v] = su[v];
  }
}

/** All columns for NV VF rows from i; sums are added to. */
TSL_FN void gravity_rows_f32(const tri_bodies *b, int64_t i, const vf x[3][NV], const bool equal,
                             double *const sums[4]) {
  const vf softening2 = VF_SET((float)b->softening2);
  const float *const p = b->p;
  vf part[4][NV];
  for (int64_t j0 = 0; j0 < b->n; j0 += TRI_GRAVITY_TILE) {
    const int64_t j1 = j0 + TRI_GRAVITY_TILE < b->n ? j0 + TRI_GRAVITY_TILE : b->n;
    if (j0 < i + NV * VF && i < j1)
      gravity_tile_f32(p, i, j0, j1, x, softening2, equal, true, part);
    else
      gravity_tile_f32(p, i, j0, j1, x, softening2, equal, false, part);
    for (int s = 0; s < 4; s++)
      SIMD for (int l = 0; l < NV * VF; l++) sums[s][l] += (double)((const float *)part[s])[l];
  }
}

static void gravity_f32(const tri_bodies *b, int64_t i, int rows,
                        double sums[4][TRI_GRAVITY_ROWS]) {
  const double factor = BITS14 ? 1.5 : 1.875;
  memset(sums, 0, sizeof(double[4][TRI_GRAVITY_ROWS]));
  for (int r = 0; r < rows; r += NV * VF) {
    vf x[3][NV];
    double *const part[4] = {sums[0] + r, sums[1] + r, sums[2] + r, sums[3] + r};
    for (int k = 0; k < 3; k++)
      for (int l = 0; l < NV * VF; l++)
        ((float *)x[k])[l] = r + l < rows ? ((const float *)b->p)[4 * (i + r + l) + k] : 0;
    if (b->equal)
      gravity_rows_f32(b, i + r, x, true, part);
    else
      gravity_rows_f32(b, i + r, x, false, part);
  }
  for (int s = 0; s < 4; s++)
    for (int r = 0; r < rows; r++) sums[s][r] *= factor;
}

/** All columns for VD rows from i: r2 = dx dx + dy dy + dz dz + eps^2, w = y (y y), y = 1/sqrt(r2).
 */
static void gravity_rows_f64(const tri_bodies *b, int64_t i, int rows, double *const sums[4]) {
  const double *const p = b->p;
  vd x[3], s[4] = {VD_SET(0), VD_SET(0), VD_SET(0), VD_SET(0)};
  vi64 lane;
  for (int l = 0; l < VD; l++) {
    lane[l] = l;
    for (int k = 0; k < 3; k++) ((double *)&x[k])[l] = l < rows ? p[4 * (i + l) + k] : 0;
  }
  for (int64_t j = 0; j < b->n; j++) {
    const vd dx = VD_SET(p[4 * j]) - x[0];
    const vd dy = VD_SET(p[4 * j + 1]) - x[1];
    const vd dz = VD_SET(p[4 * j + 2]) - x[2];
    const vd r2 = dx * dx + dy * dy + dz * dz + VD_SET(b->softening2);
    vd y = VD_SET(1) / VD_SQRT(r2);
    if (j - i >= 0 && j - i < VD) y = (vd)((vi64)y & (lane != j - i));
    vd w = y * (y * y), u = y;
    if (!b->equal) {
      w = w * VD_SET(p[4 * j + 3]);
      u = u * VD_SET(p[4 * j + 3]);
    }
    s[0] += w * dx, s[1] += w * dy, s[2] += w * dz, s[3] += u;
  }
  for (int k = 0; k < 4; k++)
    for (int l = 0; l < VD; l++) sums[k][l] = s[k][l];
}

static void gravity_f64(const tri_bodies *b, int64_t i, int rows,
                        double sums[4][TRI_GRAVITY_ROWS]) {
  for (int r = 0; r < rows; r += VD) {
    double *const part[4] = {sums[0] + r, sums[1] + r, sums[2] + r, sums[3] + r};
    gravity_rows_f64(b, i + r, rows - r, part);
  }
}
