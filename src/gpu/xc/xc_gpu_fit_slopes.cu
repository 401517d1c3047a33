/* Derivatives of the fitted Coulomb energy on a card: fitting shells times their coefficients,
 * densities in Hermite functions, pairs of one degree at a time. */
#include "xc_gpu.cuh"
#include "xc_gpu_fit_slopes.cuh"
#include "xc_gpu_triples.cuh"

#include <algorithm>
#include <vector>

enum {
  EXPANSION = 256 << 20, /* bytes of densities at a time, if one pair does not need more */
  WARPS = 4              /* of a block that expands */
};

/** Lists of a call, on the host. */
struct slope_lists {
  std::vector<xc_slope_part> parts; /* by l, j, contraction */
  std::vector<xc_triple_primitive> primitives;
  int32_t first[XC_MAX_L + 2];     /* where parts of l begin; the end */
  std::vector<xc_slope_bra> pairs; /* as xc_triple_lists.bras */
};

/** And on the card. */
struct slope_card {
  tsl_gpu_buffer parts, primitives, bras, twos, h;
};

/* ------------------------------------------------------------- fitting shells */

static const double *coefficients_of(const xc_gpu *w, const xc_shell *s) {
  return (const double *)w->problem->fields[XC_IN_COEFFICIENTS].data + s->first;
}

/* q += c S_lm. */
static void add_harmonic(const xc_triple_tables *tables, int l, int m, double c, double *q) {
  const xc_polynomial *s = &tables->of[1][l][m];
  for (int k = 0; k < s->n; k++) q[xc_cartesian_at(s->power[k][1], s->power[k][2])] += c * s->c[k];
}

static void add_shell(const xc_gpu *w, int64_t number, slope_lists *lists) {
  const xc_triple_tables *tables = xc_triple_tables_get();
  const xc_shell *s = &w->view.fitting.shells[number];
  const double *c = coefficients_of(w, s);
  for (int j = 0, at = 0; j <= (s->spherical ? 0 : s->l / 2); j++) {
    xc_slope_part part = {};
    part.l = s->l - 2 * j, part.j = j, part.n = s->n, part.atom = s->atom;
    part.order = (int32_t)number, part.first = (int32_t)lists->primitives.size();
    for (int x = 0; x < 3; x++) part.at[x] = s->at[x];
    for (int m = 0; m < XC_SPHERICALS(part.l); m++, at++) {
      double sum = 0;
      for (int i = 0; i < XC_CARTESIANS(s->l) && !s->spherical; i++)
        sum += c[i] * tables->parts[s->l][i][at];
      add_harmonic(tables, part.l, m, s->spherical ? c[m] : sum, part.q);
    }
    for (int k = 0; k < s->n; k++)
      lists->primitives.push_back(xc_triple_weight(s->exponent[k], s->coefficient[k], j));
    lists->parts.push_back(part);
  }
}

static bool by_kind(const xc_slope_part &a, const xc_slope_part &b) {
  if (a.l != b.l) return a.l < b.l;
  if (a.j != b.j) return a.j < b.j;
  return a.n != b.n ? a.n < b.n : a.order < b.order;
}

static void list_parts(const xc_gpu *w, const tsl_unit *units, int64_t n, slope_lists *lists) {
  for (int64_t u = 0; u < n; u++)
    for (int64_t s = units[u].lo[0]; units[u].kind == XC_UNIT_FIT && s < units[u].hi[0]; s++)
      add_shell(w, s, lists);
  std::sort(lists->parts.begin(), lists->parts.end(), by_kind);
  for (int l = 0; l <= XC_MAX_L + 1; l++)
    lists->first[l] = (int32_t)(std::find_if(lists->parts.begin(), lists->parts.end(),
                                             [l](const xc_slope_part &p) { return p.l >= l; }) -
                                lists->parts.begin());
}

static void list_pairs(const xc_gpu *w, slope_lists *lists) {
  const xc_triple_lists *all = &w->triples->lists;
  const xc_shell *shells = w->view.orbital.shells;
  for (int64_t k = 0; k < all->n_bras; k++) {
    const xc_triple_bra *bra = &all->bras[k];
    lists->pairs.push_back({bra->first, bra->n, shells[bra->a].atom, shells[bra->b].atom, -1});
  }
}

/* -------------------------------------------------------------------- memory */

static int64_t bytes_of_h(int L) {
  return XC_SLOPE_SETS * 8 * (int64_t)xc_hermite_count(L);
}

/* Pairs of primitives of a group at a time. */
static int64_t twos_of(const xc_triple_group *g) {
  return std::max(g->most, std::min(g->twos, EXPANSION / bytes_of_h(g->L)));
}

/* All that a call needs, before it adds to anything. */
static tsl_err reserve_all(xc_gpu *w, const slope_lists *lists, slope_card *card) {
  tsl_err err = TSL_OK;
  const xc_triple_lists *all = &w->triples->lists;
  int64_t twos[XC_MAX_L + 1] = {}, most = 1, h = 8, bras = w->p->n_fit_shells;
  for (int64_t k = 0; k < w->p->n_fit_shells; k++)
    twos[w->view.fitting.shells[k].l] += w->view.fitting.shells[k].n;
  for (int l = 0; l <= XC_MAX_L; l++)
    most = std::max(most, twos[l]), h = std::max(h, twos[l] * bytes_of_h(l));
  for (int64_t k = 0; k < all->n_groups; k++) {
    const int64_t some = twos_of(&all->groups[k]);
    most = std::max(most, some), h = std::max(h, some * bytes_of_h(all->groups[k].L));
  }
  bras = std::max(bras, (int64_t)lists->pairs.size());
  TSL_TRY(
      xc_gradient_reserve(w, &card->parts, (int64_t)(lists->parts.size() * sizeof(xc_slope_part))));
  TSL_TRY(xc_gradient_reserve(w, &card->primitives,
                              (int64_t)(lists->primitives.size() * sizeof(xc_triple_primitive))));
  TSL_TRY(xc_gradient_reserve(w, &card->bras, bras * (int64_t)sizeof(xc_slope_bra)));
  TSL_TRY(xc_gradient_reserve(w, &card->twos, most * (int64_t)sizeof(xc_slope_two)));
  TSL_TRY(xc_gradient_reserve(w, &card->h, h));
done:
  return err;
}

template <class T>
static tsl_err upload(xc_gpu *w, const tsl_gpu_buffer *buffer, const std::vector<T> &from) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemcpyAsync(buffer->data, from.data(), from.size() * sizeof(T),
                               cudaMemcpyHostToDevice, w->stream));
done:
  return err;
}

/* ------------------------------------------------------------------- kernels */

/** A range of pairs of primitives. */
struct slope_range {
  int64_t first, n;
  int H;
  xc_slope_two *twos;
  double *h;
};

/* A warp a pair of primitives: exponent and centre, E along the axes, its density. */
static __global__ void density_kernel(const slope_range k, const xc_triple_bra *bras,
                                      const xc_triple_two *twos, const xc_shell *shells,
                                      const xc_triple_tables *tables, const double *packed) {
  __shared__ xc_triple_pair pairs[WARPS];
  const int warp = threadIdx.x / XC_WARP, lane = threadIdx.x % XC_WARP;
  const int64_t at = (int64_t)blockIdx.x * WARPS + warp;
  if (at >= k.n) return;
  const xc_triple_two two = twos[k.first + at];
  const xc_triple_bra bra = bras[two.bra];
  const xc_shell *a = &shells[bra.a], *b = &shells[bra.b];
  const double alpha = a->exponent[two.i];
  const int na = xc_shell_size(a), nb = xc_shell_size(b);
  xc_triple_pair *q = &pairs[warp];
  xc_triple_begin(a, b, two, lane, q);
  if (lane == 0) k.twos[at] = {q->p, {q->at[0], q->at[1], q->at[2]}, alpha / q->p};
  for (int x = lane; x < XC_SLOPE_SETS * k.H; x += XC_WARP) {
    const int set = x / k.H, axis = set > 0 ? set - 1 : 0;
    double sum = 0;
    for (int ab = 0; ab < na * nb; ab++)
      sum += packed[bra.packed + ab] *
             xc_slope_element(tables, q, &tables->of[a->spherical != 0][a->l][ab / nb],
                              &tables->of[b->spherical != 0][b->l][ab % nb], x % k.H, set, alpha,
                              q->at[axis] - a->at[axis]);
    k.h[at * XC_SLOPE_SETS * k.H + x] = sum;
  }
}

static xc_slope_run run_of(int L, int l) {
  return L < XC_SLOPE_LOW ? xc_slope_low[L][l] : xc_slope_high[L - XC_SLOPE_LOW][l];
}

/* All parts with the pairs of a task. */
static tsl_err run_parts(xc_gpu *w, const slope_lists *lists, const slope_card *card, int L,
                         xc_slope_task task) {
  tsl_err err = TSL_OK;
  task.primitives = (const xc_triple_primitive *)card->primitives.data;
  task.boys = ((const xc_triple_tables *)w->triples->tables.data)->boys[0];
  task.sums = (double *)w->gradient.integrals.data;
  task.copies = XC_GRADIENT_COPIES, task.n_sums = (int32_t)(3 * w->p->n_atoms);
  for (int l = 0; l <= XC_MAX_L; l++) {
    task.parts = (const xc_slope_part *)card->parts.data + lists->first[l];
    task.n_parts = lists->first[l + 1] - lists->first[l];
    TSL_TRY(run_of(L, l)(&task, w->stream));
  }
done:
  return err;
}

/* -------------------------------------------------------------------- (P|mn) */

/* Pairs of shells [lo, hi), of degree L. */
static tsl_err run_range(xc_gpu *w, const slope_lists *lists, const slope_card *card, int L,
                         int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const xc_triples *t = w->triples;
  const int32_t first = lists->pairs[(size_t)lo].first;
  const xc_slope_bra *last = &lists->pairs[(size_t)hi - 1];
  const int64_t n = last->first + last->n - first;
  const slope_range k = {first, n, xc_hermite_count(L), (xc_slope_two *)card->twos.data,
                         (double *)card->h.data};
  xc_slope_task task = {};
  TSL_LAUNCH(density_kernel, (unsigned)tsl_ceil_div(n, WARPS), WARPS * XC_WARP, 0, w->stream, k,
             (const xc_triple_bra *)t->bras.data, (const xc_triple_two *)t->twos.data,
             (const xc_shell *)w->shells.data, (const xc_triple_tables *)t->tables.data,
             (const double *)w->packed.data);
  task.bras = (const xc_slope_bra *)card->bras.data + lo;
  task.twos = k.twos, task.h = k.h;
  task.first = first, task.n_bras = (int32_t)(hi - lo);
  TSL_TRY(run_parts(w, lists, card, L, task));
done:
  return err;
}

/* As many pairs of a group at a time as the memory takes. */
static tsl_err run_pairs(xc_gpu *w, const slope_lists *lists, const slope_card *card) {
  tsl_err err = TSL_OK;
  const xc_triple_lists *all = &w->triples->lists;
  TSL_TRY(upload(w, &card->bras, lists->pairs));
  for (int64_t k = 0; k < all->n_groups; k++) {
    const xc_triple_group *g = &all->groups[k];
    const int64_t end = g->first + g->n, most = twos_of(g);
    for (int64_t lo = g->first, hi, twos; lo < end; lo = hi) {
      hi = xc_triple_lists_take(all, lo, end, most, &twos);
      if (twos > 0) TSL_TRY(run_range(w, lists, card, g->L, lo, hi));
    }
  }
done:
  return err;
}

/* --------------------------------------------------------------------- (P|Q) */

/* - c_Q of the functions of Q in the Hermite functions of a primitive. */
static void add_fitting(const xc_gpu *w, const xc_shell *s, int i, std::vector<xc_slope_two> *twos,
                        std::vector<double> *h) {
  const xc_triple_tables *tables = xc_triple_tables_get();
  const double *c = coefficients_of(w, s);
  const int H = xc_hermite_count(s->l);
  const size_t at = h->size();
  xc_shell one = {};
  xc_triple_pair q;
  one.n = 1, one.coefficient[0] = 1;
  for (int x = 0; x < 3; x++) one.at[x] = s->at[x];
  xc_triple_set(s, &one, i, 0, &q);
  for (int x = 0; x < 3; x++) xc_triple_expand(s, &one, i, 0, x, &q);
  twos->push_back({q.p, {q.at[0], q.at[1], q.at[2]}, 1});
  h->resize(at + (size_t)(XC_SLOPE_SETS * H), 0);
  for (int m = 0; m < xc_shell_size(s); m++)
    for (int k = 0; k < H; k++)
      (*h)[at + (size_t)k] -=
          c[m] * xc_triple_element(tables, &q, &tables->of[s->spherical != 0][s->l][m],
                                   &tables->of[0][0][0], k);
}

/* Each fitting shell with those before it, both orders in one. */
static tsl_err run_fitting(xc_gpu *w, const slope_lists *lists, const slope_card *card) {
  tsl_err err = TSL_OK;
  for (int l = 0; l <= XC_MAX_L; l++) {
    std::vector<xc_slope_bra> bras;
    std::vector<xc_slope_two> twos;
    std::vector<double> h;
    xc_slope_task task = {};
    for (int64_t k = 0; k < w->p->n_fit_shells; k++) {
      const xc_shell *s = &w->view.fitting.shells[k];
      if (s->l != l) continue;
      bras.push_back({(int32_t)twos.size(), s->n, s->atom, s->atom, (int32_t)k});
      for (int i = 0; i < s->n; i++) add_fitting(w, s, i, &twos, &h);
    }
    TSL_TRY(upload(w, &card->bras, bras));
    TSL_TRY(upload(w, &card->twos, twos));
    TSL_TRY(upload(w, &card->h, h));
    task.bras = (const xc_slope_bra *)card->bras.data;
    task.twos = (const xc_slope_two *)card->twos.data, task.h = (const double *)card->h.data;
    task.n_bras = (int32_t)bras.size();
    TSL_TRY(run_parts(w, lists, card, l, task));
    TSL_CUDA_TRY(cudaStreamSynchronize(w->stream)); /* the vectors go */
  }
done:
  return err;
}

tsl_err xc_fit_slopes(xc_gpu *w, const tsl_unit *units, int64_t n, double *seconds, bool *done) {
  tsl_err err = TSL_OK;
  slope_lists lists = {};
  slope_card card = {};
  bool ready = false;
  *seconds = 0, *done = false;
  list_parts(w, units, n, &lists);
  TSL_TRY(xc_triples_lists(w, &ready));
  if (!ready) goto done;
  list_pairs(w, &lists);
  err = reserve_all(w, &lists, &card);
  if (err == TSL_ERR_DEVICE_MEMORY) {
    err = TSL_OK;
    goto done;
  }
  TSL_TRY(err);
  TSL_TRY(tsl_gpu_timer_start(&w->triples->timer, w->stream));
  TSL_TRY(upload(w, &card.parts, lists.parts));
  TSL_TRY(upload(w, &card.primitives, lists.primitives));
  TSL_TRY(run_pairs(w, &lists, &card));
  TSL_TRY(run_fitting(w, &lists, &card));
  TSL_TRY(tsl_gpu_timer_stop(&w->triples->timer, w->stream, seconds));
  *done = true;
done:
  (void)cudaStreamSynchronize(w->stream);
  for (tsl_gpu_buffer *buffer : {&card.parts, &card.primitives, &card.bras, &card.twos, &card.h})
    tsl_gpu_release(&w->memory, buffer);
  return err;
}
