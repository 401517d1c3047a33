/* Boys functions and Hermite Coulomb integrals, summed over charges or at points. */
#include "xc_hermite_lanes.h"

#include "xc_one.h"

#include "fn.h"

#include <math.h>
#include <string.h>
#include <threads.h>

static xc_one_tables tables;
static once_flag filled = ONCE_FLAG_INIT;

/* F_n(t) = exp(-t) sum_k (2t)^k / ((2n + 1)(2n + 3)...(2n + 2k + 1)): all terms positive. */
static double boys_series(int n, double t) {
  double term = 1.0 / (2 * n + 1), sum = term;
  for (int k = 1; term > 1e-18 * sum; k++) {
    term *= 2 * t / (2 * n + 2 * k + 1);
    sum += term;
  }
  return exp(-t) * sum;
}

static void fill_step(int t, int u, int v) {
  xc_hermite_step *s = &tables.step[xc_hermite_at(t, u, v)];
  if (t > 0)
    *s = (xc_hermite_step){0, xc_hermite_at(t - 1, u, v), t > 1 ? xc_hermite_at(t - 2, u, v) : 0,
                           t - 1};
  else if (u > 0)
    *s = (xc_hermite_step){1, xc_hermite_at(t, u - 1, v), u > 1 ? xc_hermite_at(t, u - 2, v) : 0,
                           u - 1};
  else if (v > 0)
    *s = (xc_hermite_step){2, xc_hermite_at(t, u, v - 1), v > 1 ? xc_hermite_at(t, u, v - 2) : 0,
                           v - 1};
}

static void fill_up(int t, int u, int v) {
  const int up[3] = {xc_hermite_at(t + 1, u, v), xc_hermite_at(t, u + 1, v),
                     xc_hermite_at(t, u, v + 1)};
  memcpy(tables.up[xc_hermite_at(t, u, v)], up, sizeof up);
}

static void fill_sums(int t, int u, int v) {
  const int left =
      XC_REPULSION_L - t - u - v < XC_HERMITE_L ? XC_REPULSION_L - t - u - v : XC_HERMITE_L;
  int16_t *row = tables.sum[xc_hermite_at(t, u, v)];
  for (int a = 0; a <= left; a++)
    for (int b = 0; a + b <= left; b++)
      for (int c = 0; a + b + c <= left; c++)
        row[xc_hermite_at(a, b, c)] = (int16_t)xc_hermite_at(t + a, u + b, v + c);
}

static void fill_powers(int l) {
  for (int a = 0; a <= l; a++)
    for (int b = 0; a + b <= l; b++) {
      const int c = l - a - b;
      memcpy(tables.power[l][xc_cartesian_at(b, c)], (int[3]){a, b, c}, 3 * sizeof(int));
    }
}

static void xc_hermite_fill(void) {
  enum { TOP = XC_HERMITE_ROW - 2 };
  xc_harmonics_fill(&tables.harmonics);
  for (int l = 0; l <= XC_MAX_L; l++) fill_powers(l);
  for (int d = 0; d <= XC_REPULSION_L; d++)
    for (int t = 0; t <= d; t++)
      for (int u = 0; t + u <= d; u++) {
        fill_step(t, u, d - t - u);
        if (d < XC_HERMITE_L) fill_up(t, u, d - t - u);
        if (d <= XC_HERMITE_L) fill_sums(t, u, d - t - u);
      }
  for (int k = 0; k < XC_BOYS_NODES; k++) {
    const double t = (double)k / XC_BOYS_STEPS;
    double *row = tables.boys[k], *f = row + 1;
    row[0] = exp(-t), f[TOP] = boys_series(TOP, t);
    for (int n = TOP; n > 0; n--) f[n - 1] = xc_boys_down(n, t, f[n], row[0]);
  }
}

const xc_one_tables *xc_one_tables_get(void) {
  call_once(&filled, xc_hermite_fill);
  return &tables;
}

void xc_boys(int last, double t, double *f) {
  double arguments[XC_CHARGE_LANES] = {t}, lanes[XC_HERMITE_L + 1][XC_CHARGE_LANES];
  xc_boys_lanes(xc_one_tables_get(), last, arguments, lanes);
  for (int n = 0; n <= last; n++) f[n] = lanes[n][0];
}

/* Memory of XC_CHARGE_LANES charges. */
typedef struct lanes {
  double work[2][XC_HERMITES][XC_CHARGE_LANES], f[XC_HERMITE_L + 1][XC_CHARGE_LANES];
  double r[3][XC_CHARGE_LANES], q[XC_CHARGE_LANES], t[XC_CHARGE_LANES], p[XC_CHARGE_LANES];
} lanes;

/* R of degree <= l, of a->r. */
static inline __attribute__((always_inline))
const double (*hermites_of(const xc_one_tables *tab, int l, double p, lanes *a))[XC_CHARGE_LANES] {
  for (int k = 0; k < XC_CHARGE_LANES; k++)
    a->t[k] = p * (a->r[0][k] * a->r[0][k] + a->r[1][k] * a->r[1][k] + a->r[2][k] * a->r[2][k]);
  for (int k = 0; k < XC_CHARGE_LANES; k++) a->p[k] = p;
  xc_boys_lanes(tab, l, a->t, a->f);
  return xc_hermite_lanes(tab, l, a->p, (const double(*)[XC_CHARGE_LANES])a->r, a->f,
                          (double(*const[2])[XC_CHARGE_LANES]){a->work[0], a->work[1]});
}

/* Likewise of charges from first on; q of those beyond n is 0. */
static inline __attribute__((always_inline))
const double (*lanes_of(const xc_one_tables *tab, int l, double p, const double at[3],
                        const xc_charge *charges, int64_t first, int64_t n,
                        lanes *a))[XC_CHARGE_LANES] {
  for (int k = 0; k < XC_CHARGE_LANES; k++) {
    const xc_charge *c = &charges[first + k < n ? first + k : n - 1];
    a->q[k] = first + k < n ? c->q : 0;
    for (int x = 0; x < 3; x++) a->r[x][k] = at[x] - c->at[x];
  }
  return hermites_of(tab, l, p, a);
}

static inline __attribute__((always_inline)) void add_lanes(int count, const double *q,
                                                            const double (*from)[XC_CHARGE_LANES],
                                                            double (*total)[XC_CHARGE_LANES]) {
  for (int h = 0; h < count; h++)
    for (int k = 0; k < XC_CHARGE_LANES; k++) total[h][k] += q[k] * from[h][k];
}

static inline __attribute__((always_inline)) void
sum_lanes(int count, const double (*total)[XC_CHARGE_LANES], double *sum) {
  for (int h = 0; h < count; h++) {
    sum[h] = 0;
    for (int k = 0; k < XC_CHARGE_LANES; k++) sum[h] += total[h][k];
  }
}

TSL_LEVELS
void xc_hermite_charges(const xc_one_tables *tab, int l, double p, const double at[3],
                        const xc_charge *charges, int64_t n, double sum[XC_HERMITES]) {
  double total[XC_HERMITES][XC_CHARGE_LANES];
  lanes a;
  const int count = xc_hermite_count(l);
  memset(total, 0, (size_t)count * sizeof *total);
  for (int64_t first = 0; first < n; first += XC_CHARGE_LANES)
    add_lanes(count, a.q, lanes_of(tab, l, p, at, charges, first, n, &a), total);
  sum_lanes(count, (const double(*)[XC_CHARGE_LANES])total, sum);
}

TSL_LEVELS
void xc_hermite_forces(const xc_one_tables *tab, int l, double p, const double at[3],
                       const xc_charge *charges, int64_t n, const double *weights,
                       double sum[XC_HERMITES], double (*forces)[3]) {
  double total[XC_HERMITES][XC_CHARGE_LANES];
  lanes a;
  const int count = xc_hermite_count(l), all = xc_hermite_count(l + 1);
  memset(total, 0, (size_t)all * sizeof *total);
  for (int64_t first = 0; first < n; first += XC_CHARGE_LANES) {
    double force[3][XC_CHARGE_LANES] = {{0}};
    const double(*r)[XC_CHARGE_LANES] = lanes_of(tab, l + 1, p, at, charges, first, n, &a);
    add_lanes(all, a.q, r, total);
    for (int h = 0; h < count; h++)
      for (int x = 0; x < 3; x++)
        for (int k = 0; k < XC_CHARGE_LANES; k++) force[x][k] += weights[h] * r[tab->up[h][x]][k];
    for (int k = 0; k < XC_CHARGE_LANES && first + k < n; k++)
      for (int x = 0; x < 3; x++) forces[first + k][x] += a.q[k] * force[x][k];
  }
  sum_lanes(all, (const double(*)[XC_CHARGE_LANES])total, sum);
}

TSL_LEVELS
void xc_hermite_points(const xc_one_tables *tab, int l, double p, const double at[3],
                       const double *number, const double *const place[3], int64_t n, double *out) {
  double sum[XC_CHARGE_LANES];
  lanes a;
  const int count = xc_hermite_count(l);
  for (int64_t first = 0; first < n; first += XC_CHARGE_LANES) {
    const int some = (int)(n - first < XC_CHARGE_LANES ? n - first : XC_CHARGE_LANES);
    for (int x = 0; x < 3; x++)
      for (int k = 0; k < XC_CHARGE_LANES; k++)
        a.r[x][k] = at[x] - place[x][first + (k < some ? k : some - 1)];
    const double(*r)[XC_CHARGE_LANES] = hermites_of(tab, l, p, &a);
    for (int k = 0; k < XC_CHARGE_LANES; k++) sum[k] = number[0] * r[0][k];
    for (int h = 1; h < count; h++)
      for (int k = 0; k < XC_CHARGE_LANES; k++) sum[k] += number[h] * r[h][k];
    for (int k = 0; k < some; k++) out[first + k] += sum[k];
  }
}
