/* Sums and changes of matrices element by element: bound by memory, so threads share them in ranges
 * that the number of elements alone decides. */
#include "xc_matrix.h"

#include "parallel.h"

#include <math.h>
#include <string.h>

/* A range has at least RANGE elements, so that it is worth a thread's waking; at most RANGES are.
 * Blocks of BLOCK elements stay in the first-level cache; TILE x TILE of a matrix likewise. */
enum { RANGE = 1 << 16, RANGES = 1024, BLOCK = 2048, TILE = 32, LANES = 8 };

static int64_t range_of(int64_t n) {
  return n / RANGES >= RANGE ? n / RANGES + 1 : RANGE;
}

/* ------------------------------------------------------------------------ sums */

typedef struct dot {
  const double *a, *b;
  int64_t range;
  double sum[RANGES];
} dot;

static tsl_err dot_range(void *context, int slot, int64_t lo, int64_t hi) {
  dot *d = context;
  double lane[LANES] = {0}, sum = 0;
  int64_t k = lo;
  (void)slot;
  for (; k + LANES <= hi; k += LANES)
    for (int u = 0; u < LANES; u++) lane[u] += d->a[k + u] * d->b[k + u];
  for (; k < hi; k++) sum += d->a[k] * d->b[k];
  for (int u = 0; u < LANES; u++) sum += lane[u];
  d->sum[lo / d->range] = sum;
  return TSL_OK;
}

double xc_matrix_dot(int64_t n, const double *a, const double *b) {
  dot d;
  double sum = 0;
  d.a = a, d.b = b, d.range = range_of(n);
  (void)tsl_parallel(n, d.range, dot_range, &d);
  for (int64_t k = 0; k * d.range < n; k++) sum += d.sum[k];
  return sum;
}

typedef struct combination {
  int count;
  const double *factor, *const *x;
  double *out;
} combination;

static void combine_block(const combination *c, int64_t lo, int64_t n) {
  double sum[BLOCK];
  for (int64_t i = 0; i < n; i++) sum[i] = c->factor[0] * c->x[0][lo + i];
  for (int k = 1; k < c->count; k++)
    for (int64_t i = 0; i < n; i++) sum[i] += c->factor[k] * c->x[k][lo + i];
  memcpy(c->out + lo, sum, (size_t)n * sizeof *sum);
}

static tsl_err combine_range(void *context, int slot, int64_t lo, int64_t hi) {
  (void)slot;
  for (int64_t i = lo; i < hi; i += BLOCK)
    combine_block(context, i, hi - i < BLOCK ? hi - i : BLOCK);
  return TSL_OK;
}

void xc_matrix_combine(int64_t n, int count, const double *factor, const double *const *x,
                       double *out) {
  combination c = {count, factor, x, out};
  (void)tsl_parallel(n, range_of(n), combine_range, &c);
}

void xc_matrix_add(int64_t n, double factor, const double *x, double *y) {
  const double factors[2] = {1, factor};
  const double *const both[2] = {y, x};
  xc_matrix_combine(n, 2, factors, both, y);
}

void xc_matrix_copy(int64_t n, const double *from, double *to) {
  const double one = 1;
  xc_matrix_combine(n, 1, &one, &from, to);
}

/* ------------------------------------------------------------------- transpose */

typedef struct mirror {
  int64_t n;
  double factor, sign;
  double *a;
  double most[TSL_PARALLEL_MOST]; /* of the ranges of a slot */
} mirror;

/* Elements [i0, i1) x [j0, j1) of the lower triangle and their mirror images. */
static double mirror_tile(const mirror *m, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  double most = 0;
  for (int64_t i = i0; i < i1; i++)
    for (int64_t j = j0; j < (j1 <= i ? j1 : i + 1); j++) {
      double *low = m->a + i * m->n + j, *high = m->a + j * m->n + i;
      const double value = m->factor * (*low + m->sign * *high);
      *low = value, *high = m->sign * value;
      most = fmax(most, fabs(value));
    }
  return most;
}

/* Rows of tiles. */
static tsl_err mirror_rows(void *context, int slot, int64_t lo, int64_t hi) {
  mirror *m = context;
  for (int64_t i = lo * TILE; i < hi * TILE && i < m->n; i += TILE)
    for (int64_t j = 0; j <= i; j += TILE) {
      const int64_t end = i + TILE < m->n ? i + TILE : m->n;
      m->most[slot] = fmax(m->most[slot], mirror_tile(m, i, end, j, j + TILE));
    }
  return TSL_OK;
}

static double mirror_all(int64_t n, double factor, double sign, double *a) {
  mirror m = {.n = n, .factor = factor, .sign = sign, .a = a};
  double most = 0;
  (void)tsl_parallel((n + TILE - 1) / TILE, 1 + 2 * RANGE / (TILE * (n + 1)), mirror_rows, &m);
  for (int slot = 0; slot < TSL_PARALLEL_MOST; slot++) most = fmax(most, m.most[slot]);
  return most;
}

void xc_matrix_symmetrise(int64_t n, double factor, double *a) {
  (void)mirror_all(n, factor, 1, a);
}

double xc_matrix_antisymmetrise(int64_t n, double *a) {
  return mirror_all(n, 1, -1, a);
}
