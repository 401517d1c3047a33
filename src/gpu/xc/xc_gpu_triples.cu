/* (P|mn) on a card: lists of pairs kept on it, expansion of pairs of primitives into memory that is
 * given back, kernels by class, Cartesian functions of P from their parts. */
#include "xc_gpu.cuh"
#include "xc_gpu_triples.cuh"

#include <algorithm>
#include <limits.h>
#include <stdlib.h>

enum {
  FILL_BYTES = 128 << 20, /* bytes for expansions at a time, if one pair does not need more */
  RANGE = 1 << 15,        /* most pairs of shells of a launch */
  FILL_WARPS = 4,         /* of a block that expands */
  COLUMNS = 128           /* of a block that joins parts */
};

/* --------------------------------------------------------------------- class */

static const xc_triple_class *class_of(const xc_triple_group *g) {
  return xc_triple_class_of(xc_triple_low, xc_triple_high, g);
}

/* Doubles of E of a pair of primitives. */
static int64_t expansion_of(const xc_triple_group *g) {
  const xc_triple_class *c = class_of(g);
  return (int64_t)xc_triple_chunks(c, g->size) * xc_hermite_count(g->L) * xc_triple_stride(c->N);
}

static int64_t bytes_of_two(const xc_triple_group *g) {
  return (int64_t)sizeof(xc_triple_centre) + expansion_of(g) * 8;
}

/* -------------------------------------------------------------------- memory */

static void drop_fill(xc_gpu *w) {
  tsl_gpu_buffer *const all[] = {&w->triples->expansion, &w->triples->parts,
                                 &w->triples->primitives, &w->triples->joins};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->memory, buffer);
}

void xc_triples_close(xc_gpu *w) {
  xc_triples *t = w->triples;
  if (t == NULL) return;
  drop_fill(w);
  tsl_gpu_buffer *const all[] = {&t->bras, &t->twos, &t->tables};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->memory, buffer);
  tsl_gpu_timer_destroy(&t->timer);
  xc_triple_lists_clear(&t->lists);
  free(t);
  w->triples = NULL;
}

static tsl_err open_lists(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_triples *t = (xc_triples *)calloc(1, sizeof *t);
  w->triples = t;
  if (t == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for lists of pairs");
  TSL_TRY(tsl_gpu_timer_create(&t->timer));
  TSL_TRY(xc_triple_lists_create(&w->view.orbital, &w->view.pairs, &t->lists));
  TSL_TRY(tsl_gpu_upload(w, &t->bras, t->lists.bras,
                         t->lists.n_bras * (int64_t)sizeof *t->lists.bras, "pairs of shells"));
  TSL_TRY(tsl_gpu_upload(w, &t->twos, t->lists.twos,
                         t->lists.n_twos * (int64_t)sizeof *t->lists.twos, "pairs of primitives"));
  TSL_TRY(tsl_gpu_upload(w, &t->tables, xc_triple_tables_get(), sizeof(xc_triple_tables),
                         "tables of integrals"));
done:
  return err;
}

static int64_t expansion_bytes(const xc_triples *t) {
  int64_t bytes = 0;
  for (int64_t k = 0; k < t->lists.n_groups; k++) {
    const xc_triple_group *g = &t->lists.groups[k];
    const int64_t one = bytes_of_two(g);
    const int64_t some = std::min(g->twos * one, (int64_t)FILL_BYTES);
    bytes = std::max(bytes, std::max(some, g->most * one));
  }
  return bytes;
}

tsl_err xc_triples_lists(xc_gpu *w, bool *ready) {
  tsl_err err = TSL_OK;
  if (w->triples == NULL) err = open_lists(w);
  *ready = err == TSL_OK;
  if (err != TSL_OK) xc_triples_close(w);
  return err == TSL_ERR_DEVICE_MEMORY ? TSL_OK : err;
}

tsl_err xc_triples_prepare(xc_gpu *w, bool *ready) {
  tsl_err err = TSL_OK;
  TSL_TRY(xc_triples_lists(w, ready));
  if (*ready) {
    const int64_t bytes = expansion_bytes(w->triples);
    if (bytes > w->memory.limit - w->memory.used) TSL_TRY(xc_cache_drop(w));
    err = tsl_gpu_reserve(&w->memory, &w->triples->expansion, bytes, "expansions of pairs");
    *ready = err == TSL_OK;
  }
done:
  if (err != TSL_OK) xc_triples_close(w);
  return err == TSL_ERR_DEVICE_MEMORY ? TSL_OK : err; /* then integrals are the host's */
}

/* -------------------------------------------------------------------- expand */

/** Where the expansion of a range of pairs of primitives goes. */
typedef struct range {
  int64_t first, n;       /* pairs of primitives */
  int H, N, size, chunks; /* Hermite functions; functions of a chunk, of a pair; chunks */
  xc_triple_centre *centres;
  double *e;
} range;

/* A warp a pair of primitives: exponent and centre, E along the axes, E of all functions. */
static __global__ void expand_kernel(const range k, const xc_triple_bra *bras,
                                     const xc_triple_two *twos, const xc_shell *shells,
                                     const xc_triple_tables *tables) {
  __shared__ xc_triple_pair pairs[FILL_WARPS];
  const int warp = threadIdx.x / XC_WARP, lane = threadIdx.x % XC_WARP,
            stride = xc_triple_stride(k.N);
  const int64_t at = (int64_t)blockIdx.x * FILL_WARPS + warp,
                count = (int64_t)k.chunks * k.H * stride;
  if (at >= k.n) return;
  const xc_triple_two two = twos[k.first + at];
  const xc_shell *a = &shells[bras[two.bra].a], *b = &shells[bras[two.bra].b];
  xc_triple_pair *q = &pairs[warp];
  const int nb = xc_shell_size(b);
  xc_triple_begin(a, b, two, lane, q);
  if (lane == 0) k.centres[at] = {q->p, {q->at[0], q->at[1], q->at[2]}};
  for (int64_t x = lane; x < count; x += XC_WARP) {
    const int f = (int)(x % stride), h = (int)(x / stride % k.H);
    const int ab = (int)(x / stride / k.H) * k.N + f;
    k.e[at * count + x] =
        f < k.N && ab < k.size
            ? xc_triple_element(tables, q, &tables->of[a->spherical != 0][a->l][ab / nb],
                                &tables->of[b->spherical != 0][b->l][ab % nb], h)
            : 0;
  }
}

/* ---------------------------------------------------------------------- join */

/* Monomials from parts, or, BACK, weights of parts from those of monomials, in place: a thread has
 * one element of all rows of a shell. */
template <bool BACK>
static __global__ void join_kernel(const xc_triple_join *joins, const xc_triple_tables *tables,
                                   int64_t n_packed) {
  enum { MOST = XC_CARTESIANS(XC_MAX_L) };
  const xc_triple_join join = joins[blockIdx.y];
  const int64_t column = (int64_t)blockIdx.x * COLUMNS + threadIdx.x;
  const int n = XC_CARTESIANS((int)join.l);
  double of[MOST];
  if (column >= n_packed) return;
  for (int k = 0; k < n; k++) of[k] = join.row[k * n_packed + column];
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < n; k++)
      sum = fma(BACK ? tables->parts[join.l][k][i] : tables->parts[join.l][i][k], of[k], sum);
    join.row[i * n_packed + column] = sum;
  }
}

tsl_err xc_triple_join_parts(xc_gpu *w, const void *joins, int64_t n, bool back) {
  enum { MOST = 32768 };
  tsl_err err = TSL_OK;
  const auto kernel = back ? join_kernel<true> : join_kernel<false>;
  for (int64_t k = 0; k < n; k += MOST) {
    const dim3 grid((unsigned)tsl_ceil_div(w->p->n_packed, COLUMNS),
                    (unsigned)std::min<int64_t>(MOST, n - k));
    TSL_LAUNCH(kernel, grid, COLUMNS, 0, w->stream, (const xc_triple_join *)joins + k,
               (const xc_triple_tables *)w->triples->tables.data, w->p->n_packed);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- fill */

static tsl_err expand(xc_gpu *w, const range *k) {
  tsl_err err = TSL_OK;
  const xc_triples *t = w->triples;
  TSL_LAUNCH(expand_kernel, (unsigned)tsl_ceil_div(k->n, FILL_WARPS), FILL_WARPS * XC_WARP, 0,
             w->stream, *k, (const xc_triple_bra *)t->bras.data,
             (const xc_triple_two *)t->twos.data, (const xc_shell *)w->shells.data,
             (const xc_triple_tables *)t->tables.data);
done:
  return err;
}

/* Around a step, where somebody asked for its time. */
static tsl_err fill_step_begin(xc_gpu *w) {
  return w->triple_times == NULL ? TSL_OK : tsl_gpu_timer_start(&w->step_timer, w->stream);
}

static tsl_err fill_step_end(xc_gpu *w, int64_t group, int step, int64_t parts) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  if (w->triple_times == NULL || group >= XC_TRIPLE_GROUPS) return TSL_OK;
  xc_triple_times *times = &w->triple_times[group];
  TSL_TRY(tsl_gpu_timer_stop(&w->step_timer, w->stream, &seconds));
  times->group = w->triples->lists.groups[group];
  times->parts[step] = parts;
  times->seconds[step] += seconds;
done:
  return err;
}

/* All parts with pairs of shells [lo, hi) of a group. */
static tsl_err run_range(xc_gpu *w, int64_t group, int64_t lo, int64_t hi,
                         const xc_triple_parts *parts) {
  tsl_err err = TSL_OK;
  const xc_triples *t = w->triples;
  const xc_triple_group *g = &t->lists.groups[group];
  const xc_triple_class *c = class_of(g);
  const int64_t first = t->lists.bras[lo].first;
  const int64_t twos = t->lists.bras[hi - 1].first + t->lists.bras[hi - 1].n - first;
  xc_triple_centre *centres = (xc_triple_centre *)t->expansion.data;
  double *e = (double *)(centres + twos);
  const range k = {
      first, twos, xc_hermite_count(g->L), c->N, g->size, xc_triple_chunks(c, g->size), centres, e};
  xc_triple_task task = {};
  task.bras = (const xc_triple_bra *)t->bras.data + lo;
  task.centres = centres, task.e = e;
  task.primitives = (const xc_triple_primitive *)t->primitives.data;
  task.boys = ((const xc_triple_tables *)t->tables.data)->boys[0];
  task.n_packed = w->p->n_packed;
  task.first = (int32_t)first, task.n_bras = (int32_t)(hi - lo);
  task.size = k.size, task.chunks = k.chunks;
  TSL_TRY(fill_step_begin(w));
  TSL_TRY(expand(w, &k));
  TSL_TRY(fill_step_end(w, group, XC_MAX_L + 1, twos));
  for (int l = 0; l <= XC_MAX_L; l++) {
    task.parts = (const xc_triple_part *)t->parts.data + parts->first[l];
    task.n_parts = (int32_t)(parts->first[l + 1] - parts->first[l]);
    TSL_TRY(fill_step_begin(w));
    TSL_TRY(c->run[l](&task, w->stream));
    TSL_TRY(fill_step_end(w, group, l, task.n_parts));
  }
done:
  return err;
}

/* As many pairs at a time as the memory for expansions takes. */
static tsl_err run_group(xc_gpu *w, int64_t group, const xc_triple_parts *parts) {
  tsl_err err = TSL_OK;
  const xc_triples *t = w->triples;
  const xc_triple_group *g = &t->lists.groups[group];
  const int64_t end = g->first + g->n, most = t->expansion.bytes / bytes_of_two(g);
  for (int64_t lo = g->first, hi; lo < end; lo = hi) {
    int64_t twos = 0;
    for (hi = lo; hi < end && hi - lo < RANGE && twos + t->lists.bras[hi].n <= most; hi++)
      twos += t->lists.bras[hi].n;
    TSL_TRY(run_range(w, group, lo, hi, parts));
  }
done:
  return err;
}

static tsl_err upload_parts(xc_gpu *w, const xc_triple_parts *parts) {
  tsl_err err = TSL_OK;
  xc_triples *t = w->triples;
  TSL_TRY(
      tsl_gpu_upload(w, &t->parts, parts->list, parts->n * (int64_t)sizeof *parts->list, "parts"));
  TSL_TRY(tsl_gpu_upload(w, &t->primitives, parts->primitives,
                         parts->n_primitives * (int64_t)sizeof *parts->primitives, "primitives"));
  TSL_TRY(tsl_gpu_upload(w, &t->joins, parts->joins, parts->n_joins * (int64_t)sizeof *parts->joins,
                         "Cartesian shells"));
done:
  return err;
}

tsl_err xc_triples_fill(xc_gpu *w, const xc_triple_ket *kets, int64_t n, double *seconds) {
  tsl_err err = TSL_OK;
  xc_triple_parts parts = {};
  if (n == 0) goto done;
  TSL_TRY(xc_triple_parts_create(kets, n, w->p->n_packed, &parts));
  TSL_TRY(upload_parts(w, &parts));
  TSL_TRY(tsl_gpu_timer_start(&w->triples->timer, w->stream));
  for (int64_t k = 0; k < w->triples->lists.n_groups; k++) TSL_TRY(run_group(w, k, &parts));
  TSL_TRY(xc_triple_join_parts(w, w->triples->joins.data, parts.n_joins, false));
  TSL_TRY(tsl_gpu_timer_stop(&w->triples->timer, w->stream, seconds));
done:
  xc_triple_parts_clear(&parts);
  drop_fill(w);
  return err;
}
