/* Distributions sorted by degree, eight side by side, and the loop in which they meet. */
#include "xc_coulomb_gradient.h"

#include "xc_hermite_lanes.h"
#include "xc_primitives.h"

#include "parallel.h"

#include <string.h>

enum { LANES = XC_CHARGE_LANES, DEGREES = 2 * XC_MAX_L + 1 };

/* Distributions of one degree, in the order of the list of pairs of shells, in blocks of LANES. */
typedef struct degree {
  int64_t n, blocks, sums;   /* sums: where theirs begin, [blocks][count(l + 1)][LANES] */
  int64_t *first;            /* [n_pairs + 1] how many belong to pairs before one */
  int32_t *pair, *primitive; /* [n] of the list; i n_b + j */
  double *p, *at[3];         /* [blocks][LANES] */
  double *numbers;           /* [blocks][count(l)][LANES] (-1)^h H_h 2^1/2 pi^5/4 / p */
  double *norm, *slope;      /* [blocks] the largest (q|q)^1/2, and of derivatives */
} degree;

struct xc_distributions {
  const xc_basis *basis;
  const xc_pairs *pairs;
  const double *density;
  double threshold;
  bool *high;          /* [n_pairs] has a shell of degree least or higher */
  double *size;        /* [primitives of all pairs][2] norm and slope */
  int64_t *primitives; /* [n_pairs + 1] how many pairs of them come before one */
  degree of[DEGREES];
};

typedef double lanes[LANES];

/* Lane k of each block's numbers; of a block of count numbers. */
static double *lane_of(double *blocks, int64_t entry, int count) {
  return blocks + entry / LANES * count * LANES + entry % LANES;
}

static int degree_of(const xc_distributions *all, int64_t pair) {
  const xc_shell_pair *p = &all->pairs->list[pair];
  return all->basis->shells[p->a].l + all->basis->shells[p->b].l;
}

/* ------------------------------------------------------------- distributions */

/* Work of one pair of shells. */
typedef struct maker {
  const xc_shell *a, *b;
  double block[XC_ONE_BLOCK], factor; /* factor: of the Hermite numbers */
  xc_primitives q;
  xc_hermites density;
} maker;

static void open_pair(const xc_distributions *all, int64_t pair, maker *m) {
  m->a = &all->basis->shells[all->pairs->list[pair].a];
  m->b = &all->basis->shells[all->pairs->list[pair].b];
  xc_primitives_density(all->basis, m->a, m->b, all->density, m->block);
}

static void open_primitives(maker *m, int k) {
  xc_primitives_set(&m->q, m->a, m->b, k / m->b->n, k % m->b->n, 1, 0);
  m->factor = sqrt(2 * M_PI * M_PI * sqrt(M_PI)) / m->q.p * m->q.factor;
  xc_hermites_set(&m->q, m->block, &m->density);
}

/* (q|q) of Hermite numbers of degree <= l. */
static double self_repulsion(int l, double p, const double *h) {
  const xc_one_tables *tab = xc_one_tables_get();
  lanes one = {0}, work[2][XC_REPULSIONS], f[XC_REPULSION_L + 1], half, zero[3] = {{0}};
  for (int k = 0; k < LANES; k++) half[k] = p / 2;
  xc_boys_lanes(tab, 2 * l, one, f);
  const lanes *r = xc_hermite_lanes(tab, 2 * l, half, (const lanes *)zero, f,
                                    (lanes *const[2]){work[0], work[1]});
  double sum = 0, sign = 1;
  for (int d = 0; d <= l; d++, sign = -sign)
    for (int j = xc_hermite_count(d - 1); j < xc_hermite_count(d); j++)
      for (int i = 0; i < xc_hermite_count(l); i++)
        sum += sign * h[i] * h[j] * r[tab->sum[i][j]][0];
  return sum / sqrt(2 * p);
}

/* A Gaussian of the product changes by (l + 1) p^1/2, its height by 2 alpha beta |AB| / p. */
static tsl_err measure_pairs(void *context, int slot, int64_t lo, int64_t hi) {
  xc_distributions *all = context;
  maker m;
  (void)slot;
  for (int64_t pair = lo; pair < hi; pair++) {
    const int l = degree_of(all, pair);
    double *size = all->size + 2 * all->primitives[pair], apart = 0;
    open_pair(all, pair, &m);
    for (int x = 0; x < 3; x++) apart += pow(m.a->at[x] - m.b->at[x], 2);
    for (int k = 0; k < m.a->n * m.b->n; k++, size += 2) {
      open_primitives(&m, k);
      const double height = 2 * m.q.alpha * m.q.beta / m.q.p * sqrt(apart);
      size[0] = fabs(m.factor) * sqrt(fmax(self_repulsion(l, m.q.p, m.density.whole), 0));
      size[1] = size[0] * (height + (l + 1) * sqrt(m.q.p));
    }
  }
  return TSL_OK;
}

static tsl_err open_degree(degree *d, int l, int64_t n_pairs) {
  tsl_err err = TSL_OK;
  static const char what[] = "distributions of the density";
  const int64_t places = d->blocks * LANES;
  TSL_TRY(tsl_alloc(n_pairs + 1, sizeof *d->first, what, (void **)&d->first));
  TSL_TRY(tsl_alloc(d->n, sizeof *d->pair, what, (void **)&d->pair));
  TSL_TRY(tsl_alloc(d->n, sizeof *d->primitive, what, (void **)&d->primitive));
  TSL_TRY(tsl_alloc(places, sizeof *d->p, what, (void **)&d->p));
  for (int x = 0; x < 3; x++)
    TSL_TRY(tsl_alloc(places, sizeof *d->at[x], what, (void **)&d->at[x]));
  TSL_TRY(tsl_alloc(places * xc_hermite_count(l), sizeof *d->numbers, what, (void **)&d->numbers));
  TSL_TRY(tsl_alloc(d->blocks, sizeof *d->norm, what, (void **)&d->norm));
  TSL_TRY(tsl_alloc(d->blocks, sizeof *d->slope, what, (void **)&d->slope));
  for (int64_t k = 0; k < places; k++) d->p[k] = 1; /* those that fill the last block are 0 */
done:
  return err;
}

/* Number those that are large enough to meet any other. */
static tsl_err sort_pairs(xc_distributions *all) {
  tsl_err err = TSL_OK;
  const int64_t n = all->pairs->n, total = all->primitives[n];
  double norm = 0, slope = 0;
  int64_t sums = 0;
  for (int64_t k = 0; k < total; k++)
    norm = fmax(norm, all->size[2 * k]), slope = fmax(slope, all->size[2 * k + 1]);
  for (int pass = 0; pass < 2; pass++) {
    for (int l = 0; l < DEGREES; l++) {
      degree *d = &all->of[l];
      d->blocks = (d->n + LANES - 1) / LANES, d->sums = sums;
      if (pass == 1) TSL_TRY(open_degree(d, l, n));
      if (pass == 1) sums += d->blocks * LANES * xc_hermite_count(l + 1);
      d->n = 0;
    }
    for (int64_t pair = 0; pair < n; pair++) {
      degree *d = &all->of[degree_of(all, pair)];
      for (int64_t k = all->primitives[pair]; k < all->primitives[pair + 1]; k++) {
        if (all->size[2 * k] * slope + all->size[2 * k + 1] * norm < all->threshold) continue;
        if (pass == 1) d->pair[d->n] = (int32_t)pair;
        if (pass == 1) d->primitive[d->n] = (int32_t)(k - all->primitives[pair]);
        d->n++;
      }
      for (int l = 0; pass == 1 && l < DEGREES; l++) all->of[l].first[pair + 1] = all->of[l].n;
    }
  }
done:
  return err;
}

/* Blocks are whole in a range: its grain is one of them. */
typedef struct filler {
  xc_distributions *all;
  int l;
} filler;

static tsl_err fill_blocks(void *context, int slot, int64_t lo, int64_t hi) {
  const filler *f = context;
  const xc_distributions *all = f->all;
  degree *d = &f->all->of[f->l];
  maker m;
  int64_t last = -1;
  (void)slot;
  for (int64_t e = lo * LANES; e < hi * LANES && e < d->n; e++) {
    const int64_t pair = d->pair[e];
    const double *size = all->size + 2 * (all->primitives[pair] + d->primitive[e]);
    if (pair != last) open_pair(all, pair, &m);
    open_primitives(&m, d->primitive[e]);
    last = pair, d->p[e] = m.q.p;
    for (int x = 0; x < 3; x++) d->at[x][e] = m.q.at[x];
    double *to = lane_of(d->numbers, e, xc_hermite_count(f->l)), sign = 1;
    for (int t = 0, h = 0; t <= f->l; t++, sign = -sign)
      for (; h < xc_hermite_count(t); h++) to[h * LANES] = sign * m.factor * m.density.whole[h];
    d->norm[e / LANES] = fmax(d->norm[e / LANES], size[0]);
    d->slope[e / LANES] = fmax(d->slope[e / LANES], size[1]);
  }
  return TSL_OK;
}

static tsl_err open_all(xc_distributions *all, int least) {
  tsl_err err = TSL_OK;
  const int64_t n = all->pairs->n;
  TSL_TRY(tsl_alloc(n, sizeof *all->high, "pairs of shells", (void **)&all->high));
  TSL_TRY(tsl_alloc(n + 1, sizeof *all->primitives, "pairs", (void **)&all->primitives));
  for (int64_t k = 0; k < n; k++) {
    const xc_shell *a = &all->basis->shells[all->pairs->list[k].a];
    const xc_shell *b = &all->basis->shells[all->pairs->list[k].b];
    all->high[k] = a->l >= least || b->l >= least;
    all->primitives[k + 1] = all->primitives[k] + a->n * b->n;
  }
  TSL_TRY(tsl_alloc(2 * all->primitives[n], sizeof *all->size, "bounds", (void **)&all->size));
done:
  return err;
}

tsl_err xc_distributions_create(const xc_basis *basis, const xc_pairs *pairs, const double *density,
                                double threshold, int least, xc_distributions **out) {
  tsl_err err = TSL_OK;
  xc_distributions *all = NULL;
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *all, "distributions of the density", (void **)&all));
  all->basis = basis, all->pairs = pairs, all->density = density, all->threshold = threshold;
  TSL_TRY(open_all(all, least));
  TSL_TRY(tsl_parallel(pairs->n, LANES, measure_pairs, all));
  TSL_TRY(sort_pairs(all));
  for (int l = 0; l < DEGREES; l++)
    TSL_TRY(tsl_parallel(all->of[l].blocks, 1, fill_blocks, &(filler){all, l}));
  *out = all;
done:
  if (err != TSL_OK) xc_distributions_destroy(&all);
  return err;
}

void xc_distributions_destroy(xc_distributions **distributions) {
  xc_distributions *all = *distributions;
  if (all == NULL) return;
  for (int l = 0; l < DEGREES; l++) {
    degree *d = &all->of[l];
    TSL_FREE_ALL(d->first, d->pair, d->primitive, d->p, d->at[0], d->at[1], d->at[2], d->numbers,
                 d->norm, d->slope);
  }
  TSL_FREE_ALL(all->high, all->primitives, all->size);
  tsl_free(all);
  *distributions = NULL;
}

int64_t xc_distributions_sums(const xc_distributions *all) {
  const degree *last = &all->of[DEGREES - 1];
  return last->sums + last->blocks * LANES * xc_hermite_count(DEGREES);
}

double xc_distributions_bytes(const xc_basis *basis, const xc_pairs *pairs, int threads) {
  double bytes = 0;
  for (int64_t k = 0; k < pairs->n; k++) {
    const xc_shell *a = &basis->shells[pairs->list[k].a], *b = &basis->shells[pairs->list[k].b];
    const int l = a->l + b->l;
    bytes +=
        8.0 * a->n * b->n * (8 + xc_hermite_count(l) + (double)threads * xc_hermite_count(l + 1));
  }
  return bytes + 8.0 * (double)pairs->n * (DEGREES + 2);
}

/* -------------------------------------------------------------------- meeting */

/* A distribution that meets others. */
typedef struct bra {
  double p, at[3], norm, slope;
  double number[XC_HERMITES]; /* without signs */
  bool high;
  lanes sum[XC_HERMITES]; /* V, of each lane's partners */
} bra;

/* Memory of a block. */
typedef struct room {
  lanes work[2][XC_REPULSIONS], f[XC_REPULSION_L + 1], r[3], t, reduced;
} room;

/* R of a block, by (p + q)^-1/2; 0 of those outside [first, last) or of too low degrees. */
static inline __attribute__((always_inline)) const lanes *
hermites_of(const xc_one_tables *tab, const xc_distributions *all, const degree *d, int l,
            const bra *b, int64_t block, int64_t first, int64_t last, room *w) {
  const int64_t at = block * LANES;
  lanes factor;
  for (int k = 0; k < LANES; k++) {
    const double q = d->p[at + k], s = b->p + q;
    w->reduced[k] = b->p * q / s;
    factor[k] = 1 / sqrt(s);
    w->t[k] = 0;
  }
  for (int x = 0; x < 3; x++)
    for (int k = 0; k < LANES; k++) {
      w->r[x][k] = b->at[x] - d->at[x][at + k];
      w->t[k] += w->reduced[k] * w->r[x][k] * w->r[x][k];
    }
  if (at < first || at + LANES > last || !b->high)
    for (int k = 0; k < LANES; k++)
      if (at + k < first || at + k >= last || !(b->high || all->high[d->pair[at + k]]))
        factor[k] = 0;
  xc_boys_lanes(tab, l, w->t, w->f);
  for (int n = 0; n <= l; n++)
    for (int k = 0; k < LANES; k++) w->f[n][k] *= factor[k];
  return xc_hermite_lanes(tab, l, w->reduced, (const lanes *)w->r, w->f,
                          (lanes *const[2]){w->work[0], w->work[1]});
}

/* A bra of degree lb and places [first, last) of degree lk: V of the bra and, unless sums are NULL,
 * of the others. */
static inline __attribute__((always_inline)) void meet(const xc_distributions *all, int lb, int lk,
                                                       int64_t first, int64_t last, bra *b, room *w,
                                                       double *sums) {
  const xc_one_tables *tab = xc_one_tables_get();
  const degree *d = &all->of[lk];
  const int nb = xc_hermite_count(lb), nk = xc_hermite_count(lk), up = xc_hermite_count(lk + 1);
  for (int64_t block = first / LANES; block * LANES < last; block++) {
    if (b->norm * d->slope[block] + b->slope * d->norm[block] < all->threshold) continue;
    const lanes *r = hermites_of(tab, all, d, lb + lk + 1, b, block, first, last, w);
    const lanes *number = (const lanes *)(d->numbers + block * nk * LANES);
    for (int h = 0; h < xc_hermite_count(lb + 1); h++)
      for (int i = 0; i < nk; i++) {
        const double *of = r[tab->sum[h][i]];
        for (int k = 0; k < LANES; k++) b->sum[h][k] += number[i][k] * of[k];
      }
    if (sums == NULL) continue;
    lanes *sum = (lanes *)(sums + d->sums + block * up * LANES);
    for (int i = 0; i < up; i++)
      for (int h = 0; h < nb; h++) {
        const double *of = r[tab->sum[i][h]];
        for (int k = 0; k < LANES; k++) sum[i][k] += b->number[h] * of[k];
      }
  }
}

TSL_LEVELS
static void meet_degree(const xc_distributions *all, int lb, int lk, int64_t first, int64_t last,
                        bra *b, room *w, double *sums) {
  if (lb == 0 && lk == 0)
    meet(all, 0, 0, first, last, b, w, sums);
  else if (lb == 0 && lk == 1)
    meet(all, 0, 1, first, last, b, w, sums);
  else if (lb == 1 && lk == 0)
    meet(all, 1, 0, first, last, b, w, sums);
  else if (lb == 1 && lk == 1)
    meet(all, 1, 1, first, last, b, w, sums);
  else
    meet(all, lb, lk, first, last, b, w, sums);
}

static void set_bra(const xc_distributions *all, int l, int64_t entry, bra *b) {
  const degree *d = &all->of[l];
  const double *number = lane_of(d->numbers, entry, xc_hermite_count(l));
  const int64_t pair = d->pair[entry];
  const double *size = all->size + 2 * (all->primitives[pair] + d->primitive[entry]);
  double sign = 1;
  b->p = d->p[entry], b->norm = size[0], b->slope = size[1], b->high = all->high[pair];
  for (int x = 0; x < 3; x++) b->at[x] = d->at[x][entry];
  for (int t = 0, h = 0; t <= l; t++, sign = -sign)
    for (; h < xc_hermite_count(t); h++) b->number[h] = sign * number[h * LANES];
  memset(b->sum, 0, (size_t)xc_hermite_count(l + 1) * sizeof *b->sum);
}

/* Sums have the sign of numbers. */
static void add_bra(const xc_distributions *all, int l, int64_t entry, const bra *b, double *sums) {
  const degree *d = &all->of[l];
  double *to = lane_of(sums + d->sums, entry, xc_hermite_count(l + 1)), sign = 1;
  for (int t = 0, h = 0; t <= l + 1; t++, sign = -sign)
    for (; h < xc_hermite_count(t); h++)
      for (int k = 0; k < LANES; k++) to[h * LANES] += sign * b->sum[h][k];
}

void xc_coulomb_meet(const xc_distributions *all, int64_t pair, bool alone, double *sums) {
  const int l = degree_of(all, pair);
  const int64_t *own = all->of[l].first + pair;
  bra b;
  room w;
  for (int64_t e = own[0]; e < own[1]; e++) {
    set_bra(all, l, e, &b);
    for (int k = 0; k < DEGREES; k++) {
      const int64_t last = alone ? all->of[k].n : all->of[k].first[pair];
      meet_degree(all, l, k, 0, last, &b, &w, alone ? NULL : sums);
    }
    if (!alone) meet_degree(all, l, l, own[0], own[1], &b, &w, NULL);
    add_bra(all, l, e, &b, sums);
  }
}

/* --------------------------------------------------------------------- forces */

/* V of an entry, and what its functions feel. */
static void add_forces(const maker *m, int l, const double *sums, double (*gradient)[3]) {
  const xc_one_tables *tab = xc_one_tables_get();
  double v[XC_HERMITES], sign = m->factor;
  for (int t = 0, h = 0; t <= l + 1; t++, sign = -sign)
    for (; h < xc_hermite_count(t); h++) v[h] = sign * sums[h * LANES];
  for (int x = 0; x < 3; x++) {
    double a = 0, both = 0;
    for (int h = 0; h < xc_hermite_count(l + 1); h++) a += m->density.moved[x][h] * v[h];
    for (int h = 0; h < xc_hermite_count(l); h++) both += m->density.whole[h] * v[tab->up[h][x]];
    gradient[m->a->atom][x] += a;
    gradient[m->b->atom][x] += both - a;
  }
}

void xc_coulomb_forces(const xc_distributions *all, int64_t lo, int64_t hi, const double *sums,
                       double (*gradient)[3]) {
  maker m;
  for (int64_t pair = lo; pair < hi; pair++) {
    const int l = degree_of(all, pair);
    const degree *d = &all->of[l];
    open_pair(all, pair, &m);
    for (int64_t e = d->first[pair]; e < d->first[pair + 1]; e++) {
      open_primitives(&m, d->primitive[e]);
      add_forces(&m, l, lane_of((double *)sums + d->sums, e, xc_hermite_count(l + 1)), gradient);
    }
  }
}
