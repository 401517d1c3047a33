/* J and K from (ab|cd) on a card, and in a phase of the gradient the derivatives of their energies:
 * lists kept on it, densities of monomials, screening of the bra pairs of a call beside all pairs,
 * kernels by classes, and sums back in the basis. */
#include "xc_gpu.cuh"
#include "xc_gpu_quartet_slopes.cuh"

#include <algorithm>
#include <limits.h>
#include <stdlib.h>
#include <vector>

enum {
  SCREEN = 256,          /* threads of a block that screens */
  LAUNCH_ROWS = 1 << 15, /* of a launch */
  LANES = 4,             /* pairs of classes at a time: the last blocks of one leave room */
  LIST = 1 << 25,        /* quartets listed at a time, if one row does not need more */
  LIST_PART = 4          /* of the memory that is left, for the lists */
};

/** Where pairs of classes are listed and computed one after another. */
typedef struct xc_quartet_lane {
  cudaStream_t stream;
  cudaEvent_t done;
  tsl_gpu_buffer list, counts; /* counts: listed; taken by teams */
} xc_quartet_lane;

/** What a worker keeps. */
struct xc_quartets {
  xc_quartet_lists lists;
  tsl_gpu_buffer keys, pairs, twos, turn, rys; /* of the basis */
  tsl_gpu_buffer alpha;                        /* likewise; empty when no gradient is asked for */
  tsl_gpu_buffer largest;                      /* [shells][shells] of the densities */
  tsl_gpu_buffer half;                         /* [functions][monomials], in between */
  tsl_gpu_buffer total, spin[2];       /* densities of monomials; empty: none is asked for */
  tsl_gpu_buffer coulomb, exchange[2]; /* sums likewise */
  tsl_gpu_buffer bras;                 /* pairs of shells of a call */
  xc_operator operators[XC_MOST_OPERATORS];
  int n_operators;
  xc_quartet_lane lanes[LANES];
  cudaEvent_t begun;      /* of a call */
  int processors, shared; /* of the card; shared memory that a block may have */
  tsl_gpu_timer timer;
  double most; /* of `largest` */
};

/* -------------------------------------------------------------------- memory */

static tsl_err upload_lists(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_quartets *q = w->quartets;
  const xc_quartet_lists *l = &q->lists;
  TSL_TRY(
      tsl_gpu_upload(w, &q->keys, l->keys, l->n * (int64_t)sizeof *l->keys, "lists of quartets"));
  TSL_TRY(tsl_gpu_upload(w, &q->pairs, l->pairs, l->n * (int64_t)sizeof *l->pairs,
                         "lists of quartets"));
  TSL_TRY(tsl_gpu_upload(w, &q->twos, l->twos, l->n_twos * (int64_t)sizeof *l->twos,
                         "lists of quartets"));
  if (w->p->gradient)
    TSL_TRY(tsl_gpu_upload(w, &q->alpha, l->alpha, l->n_twos * 8, "lists of quartets"));
  TSL_TRY(tsl_gpu_upload(w, &q->turn, l->turn, w->p->n * l->n_monomials * 8, "lists of quartets"));
  TSL_TRY(
      tsl_gpu_upload(w, &q->rys, xc_rys_tables_get(), sizeof(xc_rys_tables), "lists of quartets"));
done:
  return err;
}

static tsl_err reserve_matrices(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_quartets *q = w->quartets;
  const xc_params *p = w->p;
  const int64_t m = q->lists.n_monomials, bytes = m * m * 8;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &q->largest, p->n_shells * p->n_shells * 8, "densities"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &q->half, p->n * m * 8, "densities"));
  if (!p->fitted) {
    TSL_TRY(tsl_gpu_reserve(&w->memory, &q->total, bytes, "density of monomials"));
    TSL_TRY(tsl_gpu_reserve(&w->memory, &q->coulomb, bytes, "Coulomb matrix"));
  }
  for (int s = 0; s < p->n_spin && xc_functional_exact(&p->functional); s++) {
    TSL_TRY(tsl_gpu_reserve(&w->memory, &q->spin[s], bytes, "density of monomials"));
    TSL_TRY(tsl_gpu_reserve(&w->memory, &q->exchange[s], bytes, "exchange matrix"));
  }
done:
  return err;
}

static int64_t largest_class(const xc_quartet_lists *l) {
  int64_t most = 0;
  for (int c = 0; c < XC_QUARTET_CLASSES; c++) most = std::max(most, l->first[c + 1] - l->first[c]);
  return most;
}

/* A list takes a row of the largest class at least. */
static tsl_err open_lanes(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_quartets *q = w->quartets;
  const int64_t row = largest_class(&q->lists), left = w->memory.limit - w->memory.used;
  const int64_t part = left / LIST_PART / LANES / (int64_t)sizeof(int2);
  const int64_t some = std::max(std::min({part, (int64_t)LIST, q->lists.n * row}), row);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &q->bras, q->lists.n * 4, "pairs of shells"));
  TSL_CUDA_TRY(cudaEventCreateWithFlags(&q->begun, cudaEventDisableTiming));
  for (xc_quartet_lane &lane : q->lanes) {
    TSL_TRY(tsl_gpu_reserve(&w->memory, &lane.list, some * (int64_t)sizeof(int2), "quartets"));
    TSL_TRY(tsl_gpu_reserve(&w->memory, &lane.counts, 2 * sizeof(unsigned), "quartets"));
    TSL_CUDA_TRY(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking));
    TSL_CUDA_TRY(cudaEventCreateWithFlags(&lane.done, cudaEventDisableTiming));
  }
done:
  return err;
}

static void close_lanes(xc_gpu *w) {
  for (xc_quartet_lane &lane : w->quartets->lanes) {
    tsl_gpu_release(&w->memory, &lane.list);
    tsl_gpu_release(&w->memory, &lane.counts);
    if (lane.stream != NULL) (void)cudaStreamDestroy(lane.stream);
    if (lane.done != NULL) (void)cudaEventDestroy(lane.done);
  }
  if (w->quartets->begun != NULL) (void)cudaEventDestroy(w->quartets->begun);
}

static tsl_err ask_card(xc_quartets *q) {
  tsl_err err = TSL_OK;
  int card = 0;
  TSL_CUDA_TRY(cudaGetDevice(&card));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&q->processors, cudaDevAttrMultiProcessorCount, card));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&q->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, card));
done:
  return err;
}

tsl_err xc_quartets_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_quartets *q = NULL;
  if (!xc_quartets_on_card(w->p)) goto done;
  q = w->quartets = (xc_quartets *)calloc(1, sizeof *w->quartets);
  if (q == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for lists of quartets");
  q->n_operators = xc_operators_of(w->p, q->operators);
  TSL_TRY(ask_card(q));
  TSL_TRY(tsl_gpu_timer_create(&q->timer));
  TSL_TRY(xc_quartet_lists_create(&w->view.orbital, &w->view.pairs, &q->lists));
  if (q->lists.n == 0) goto done;
  if (q->lists.n_monomials > INT_MAX / q->lists.n_monomials)
    TSL_FAIL(TSL_ERR_INPUT, "%lld monomials; exact exchange on cards takes 46340",
             (long long)q->lists.n_monomials);
  TSL_TRY(upload_lists(w));
  TSL_TRY(reserve_matrices(w));
  TSL_TRY(open_lanes(w));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

void xc_quartets_close(xc_gpu *w) {
  xc_quartets *q = w->quartets;
  if (q == NULL) return;
  tsl_gpu_buffer *const all[] = {&q->keys,    &q->pairs,   &q->twos,        &q->turn,
                                 &q->rys,     &q->largest, &q->half,        &q->spin[0],
                                 &q->spin[1], &q->coulomb, &q->exchange[0], &q->exchange[1],
                                 &q->total,   &q->bras,    &q->alpha};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->memory, buffer);
  close_lanes(w);
  tsl_gpu_timer_destroy(&q->timer);
  xc_quartet_lists_clear(&q->lists);
  free(q);
  w->quartets = NULL;
}

/* ------------------------------------------------------------------ matrices */

/* to = T^T d T; d is on the host, symmetric. Row by row T is column by column T^T. */
static tsl_err to_monomials(xc_gpu *w, const double *d, tsl_gpu_buffer *to) {
  tsl_err err = TSL_OK;
  xc_quartets *q = w->quartets;
  const int n = (int)w->p->n, m = (int)q->lists.n_monomials;
  const double one = 1, zero = 0, *turn = (const double *)q->turn.data;
  double *given = (double *)w->matrix.data, *half = (double *)q->half.data;
  TSL_CUDA_TRY(
      cudaMemcpyAsync(given, d, (size_t)n * (size_t)n * 8, cudaMemcpyHostToDevice, w->stream));
  TSL_BLAS_TRY(tsl_blas.Dgemm(w->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, n, &one, turn, m, given, n,
                              &zero, half, m));
  TSL_BLAS_TRY(tsl_blas.Dgemm(w->blas, CUBLAS_OP_N, CUBLAS_OP_T, m, m, n, &one, half, m, turn, m,
                              &zero, (double *)to->data, m));
done:
  return err;
}

/* to = T sums T^T, on the host. */
static tsl_err from_monomials(xc_gpu *w, const tsl_gpu_buffer *sums, double *to) {
  tsl_err err = TSL_OK;
  xc_quartets *q = w->quartets;
  const int n = (int)w->p->n, m = (int)q->lists.n_monomials;
  const double one = 1, zero = 0, *turn = (const double *)q->turn.data;
  double *half = (double *)q->half.data, *result = (double *)w->matrix.data;
  TSL_BLAS_TRY(tsl_blas.Dgemm(w->blas, CUBLAS_OP_T, CUBLAS_OP_N, n, m, m, &one, turn, m,
                              (const double *)sums->data, m, &zero, half, n));
  TSL_BLAS_TRY(tsl_blas.Dgemm(w->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, m, &one, half, n, turn, m,
                              &zero, result, n));
  TSL_TRY(tsl_gpu_copy(w, to, result, (size_t)n * (size_t)n * 8));
done:
  return err;
}

static tsl_err clear(xc_gpu *w, const tsl_gpu_buffer *sums) {
  tsl_err err = TSL_OK;
  const int64_t m = w->quartets->lists.n_monomials;
  TSL_CUDA_TRY(cudaMemsetAsync(sums->data, 0, (size_t)(m * m) * 8, w->stream));
done:
  return err;
}

static bool is_idle(const xc_gpu *w) {
  return w->quartets == NULL || w->quartets->lists.n == 0 ||
         !xc_is_active(w->problem, w->phase, XC_UNIT_FOCK) || !xc_has_sums(w->problem);
}

tsl_err xc_quartets_begin(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_quartets *q = w->quartets;
  const int64_t shells = w->p->n_shells;
  const double *largest = xc_batches_largest(w->batches);
  if (is_idle(w)) goto done;
  q->most = *std::max_element(largest, largest + shells * shells);
  TSL_CUDA_TRY(cudaMemcpyAsync(q->largest.data, largest, (size_t)(shells * shells) * 8,
                               cudaMemcpyHostToDevice, w->stream));
  if (q->total.data != NULL) {
    TSL_TRY(to_monomials(w, xc_asked_total(w->problem), &q->total));
    TSL_TRY(clear(w, &q->coulomb));
  }
  for (int s = 0; s < w->p->n_spin && q->spin[s].data != NULL; s++) {
    TSL_TRY(to_monomials(w, xc_asked_spin(w->problem, s), &q->spin[s]));
    TSL_TRY(clear(w, &q->exchange[s]));
  }
done:
  return err;
}

tsl_err xc_quartets_collect(xc_gpu *w, double *coulomb, double *exchange) {
  tsl_err err = TSL_OK;
  xc_quartets *q = w->quartets;
  const int64_t nn = w->p->n * w->p->n;
  if (is_idle(w)) goto done;
  if (q->coulomb.data != NULL) TSL_TRY(from_monomials(w, &q->coulomb, coulomb));
  for (int s = 0; s < w->p->n_spin && q->exchange[s].data != NULL; s++)
    TSL_TRY(from_monomials(w, &q->exchange[s], exchange + s * nn));
done:
  return err;
}

/* ----------------------------------------------------------------- screening */

/** Some pairs of a class. */
typedef struct xc_screen_set {
  const int32_t *list; /**< [n] on the card; NULL: all from `first` on */
  int32_t first, n;
} xc_screen_set;

/** What screening is given: pairs of one class beside pairs of another. */
typedef struct xc_screen_task {
  const xc_quartet_key *keys;
  const double *largest; /**< [n_shells][n_shells] */
  xc_screen_set rows, columns;
  int2 *list;
  unsigned *count;
  double threshold, most;
  int32_t n_shells;
  int32_t coulomb, exchange; /**< are they asked for? */
  int32_t column_bra;        /**< the bra, which comes later in the list of pairs, is a column's */
  int32_t gradient;          /**< of derivatives */
} xc_screen_task;

/* The largest element of the densities that multiplies the quartet, as of xc_fock.c. */
static __device__ __forceinline__ double
density_bound(const xc_screen_task &k, const xc_quartet_key &p, const xc_quartet_key &q) {
  const double *a = k.largest + (int64_t)p.a * k.n_shells;
  const double *b = k.largest + (int64_t)p.b * k.n_shells;
  double most = 0;
  if (k.coulomb) most = fmax(a[p.b], k.largest[(int64_t)q.a * k.n_shells + q.b]);
  if (k.exchange) most = fmax(most, fmax(fmax(a[q.a], a[q.b]), fmax(b[q.a], b[q.b])));
  return most;
}

/* The largest product of two elements that multiplies its derivatives, as of xc_fock_gradient.c. */
static __device__ __forceinline__ double
product_bound(const xc_screen_task &k, const xc_quartet_key &p, const xc_quartet_key &q) {
  const double *a = k.largest + (int64_t)p.a * k.n_shells;
  const double *b = k.largest + (int64_t)p.b * k.n_shells;
  double most = 0;
  if (k.coulomb) most = a[p.b] * k.largest[(int64_t)q.a * k.n_shells + q.b];
  if (k.exchange) most = fmax(most, fmax(a[q.a] * b[q.b], a[q.b] * b[q.a]));
  return most;
}

static __device__ __forceinline__ int pair_of(const xc_screen_set &set, int at) {
  return set.list != NULL ? set.list[at] : set.first + at;
}

/* Of all quartets only those whose ket is not behind the bra in the list of pairs. */
static __device__ __forceinline__ bool is_left(const xc_screen_task &k, const xc_quartet_key &p,
                                               const xc_quartet_key &q) {
  const double bound = p.bound * q.bound;
  if (k.column_bra ? p.order >= q.order : q.order > p.order) return false;
  if (k.gradient)
    return (p.atom < 0 || p.atom != q.atom) && bound * k.most * k.most >= k.threshold &&
           bound * product_bound(k, p, q) >= k.threshold;
  return bound * k.most >= k.threshold && bound * density_bound(k, p, q) >= k.threshold;
}

/* List the quartets that the bounds leave, by rows. */
static __global__ void __launch_bounds__(SCREEN) screen_kernel(const xc_screen_task k) {
  __shared__ unsigned place, filled[SCREEN / 32];
  const int row = pair_of(k.rows, (int)blockIdx.y), at = (int)(blockIdx.x * SCREEN + threadIdx.x);
  const int column = at < k.columns.n ? pair_of(k.columns, at) : -1;
  const bool left = column >= 0 && is_left(k, k.keys[row], k.keys[column]);
  const unsigned warp = threadIdx.x / 32, votes = __ballot_sync(~0u, left);
  if (threadIdx.x % 32 == 0) filled[warp] = __popc(votes);
  const int all = __syncthreads_count(left);
  if (all == 0) return;
  if (threadIdx.x == 0) place = atomicAdd(k.count, (unsigned)all);
  __syncthreads();
  if (!left) return;
  unsigned to = place + __popc(votes & ((1u << threadIdx.x % 32) - 1));
  for (unsigned e = 0; e < warp; e++) to += filled[e];
  k.list[to] = make_int2(row, column);
}

/* ----------------------------------------------------------------------- run */

static xc_quartet_run run_of(const xc_gpu *w, int first, int second) {
  const bool low = first < XC_QUARTET_LOW && second < XC_QUARTET_LOW;
  if (w->task == XC_TASK_GRADIENT)
    return (low ? xc_quartet_slopes_low : xc_quartet_slopes_high)(first, second);
  return (low ? xc_quartet_low : xc_quartet_high)(first, second);
}

/* J is of 1 / r; K of each operator counts by its weight. */
static xc_quartet_task task_of(const xc_gpu *w, const xc_quartet_lane *lane,
                               const xc_operator *which) {
  const xc_quartets *q = w->quartets;
  const bool gradient = w->task == XC_TASK_GRADIENT;
  xc_quartet_task task = {};
  task.pairs = (const xc_quartet_pair *)q->pairs.data;
  task.twos = (const xc_quartet_two *)q->twos.data;
  task.list = (const int2 *)lane->list.data;
  task.counts = (unsigned *)lane->counts.data;
  task.rys = (const xc_rys_point *)q->rys.data;
  if (which->omega == 0) task.total = (const double *)q->total.data;
  task.coulomb = (double *)q->coulomb.data;
  for (int s = 0; s < 2 && which->weight != 0; s++) {
    task.spin[s] = (const double *)q->spin[s].data;
    task.exchange[s] = (double *)q->exchange[s].data;
  }
  task.n = (int)q->lists.n_monomials;
  task.processors = q->processors, task.shared = q->shared;
  task.alpha = (const double *)q->alpha.data;
  task.gradient = (double *)w->gradient.integrals.data;
  task.spread = which->omega > 0 ? 1 / (which->omega * which->omega) : 0;
  task.weight = which->weight;
  if (gradient) task.weight *= xc_functional_share(&w->p->functional) * (w->p->n_spin == 1 ? 2 : 1);
  task.n_gradient = (int)(3 * w->p->n_atoms), task.copies = XC_GRADIENT_COPIES;
  return task;
}

static xc_screen_task screen_of(const xc_gpu *w, const xc_quartet_lane *lane,
                                const xc_quartet_task *task) {
  const xc_quartets *q = w->quartets;
  xc_screen_task screen = {};
  screen.keys = (const xc_quartet_key *)q->keys.data;
  screen.largest = (const double *)q->largest.data;
  screen.list = (int2 *)lane->list.data, screen.count = (unsigned *)lane->counts.data;
  screen.threshold = w->p->threshold, screen.most = q->most;
  screen.n_shells = (int32_t)w->p->n_shells;
  screen.gradient = w->task == XC_TASK_GRADIENT;
  screen.coulomb = task->total != NULL, screen.exchange = task->spin[0] != NULL;
  return screen;
}

/* Quartets of two sets of pairs: as many rows at a time as the list takes. */
static tsl_err run_sets(xc_gpu *w, const xc_quartet_lane *lane, const xc_operator *which,
                        xc_screen_set rows, xc_screen_set columns, bool column_bra,
                        xc_quartet_run run) {
  tsl_err err = TSL_OK;
  xc_quartet_task task = task_of(w, lane, which);
  xc_screen_task screen = screen_of(w, lane, &task);
  const int32_t n = rows.n;
  if (n == 0 || columns.n == 0) goto done;
  screen.rows = rows, screen.columns = columns, screen.column_bra = column_bra;
  screen.rows.n =
      (int32_t)std::min<int64_t>(LAUNCH_ROWS, lane->list.bytes / (int64_t)sizeof(int2) / columns.n);
  for (int32_t at = 0; at < n; at += screen.rows.n) {
    const unsigned some = (unsigned)std::min(screen.rows.n, n - at);
    screen.rows.first = rows.first + at;
    if (rows.list != NULL) screen.rows.list = rows.list + at;
    task.most = (int64_t)some * columns.n;
    TSL_CUDA_TRY(cudaMemsetAsync(lane->counts.data, 0, 2 * sizeof(unsigned), lane->stream));
    TSL_LAUNCH(screen_kernel, dim3((unsigned)tsl_ceil_div(columns.n, SCREEN), some), SCREEN, 0,
               lane->stream, screen);
    TSL_TRY(run(&task, lane->stream));
  }
done:
  return err;
}

/* Bra pairs of the call, by class. */
typedef struct bra_sets {
  xc_screen_set of[XC_QUARTET_CLASSES];
} bra_sets;

/* Two classes in the order that has a kernel: bras of the first with all of the second, then all of
 * the first with bras of the second. */
static tsl_err run_classes(xc_gpu *w, const xc_quartet_lane *lane, const xc_operator *which,
                           const bra_sets *bras, int first, int second) {
  tsl_err err = TSL_OK;
  const xc_quartet_lists *l = &w->quartets->lists;
  const xc_quartet_run run = run_of(w, first, second);
  xc_screen_set all[2];
  for (int k = 0; k < 2; k++) {
    const int c = k == 0 ? first : second;
    all[k] = {NULL, (int32_t)l->first[c], (int32_t)(l->first[c + 1] - l->first[c])};
  }
  TSL_TRY(run_sets(w, lane, which, bras->of[first], all[1], false, run));
  if (first != second) TSL_TRY(run_sets(w, lane, which, all[0], bras->of[second], true, run));
done:
  return err;
}

/* Pairs of the units, by class. */
static void list_bras(const xc_quartet_lists *l, const tsl_unit *units, int64_t n,
                      std::vector<int32_t> *bras) {
  for (int64_t u = 0; u < n; u++)
    for (int64_t k = units[u].lo[0]; units[u].kind == XC_UNIT_FOCK && k < units[u].hi[0]; k++)
      if (l->place[k] >= 0) bras->push_back(l->place[k]);
  std::sort(bras->begin(), bras->end());
}

/* All pairs of classes of an operator, those of one lane after another. */
static tsl_err run_operator(xc_gpu *w, const xc_operator *which, const bra_sets *bras) {
  tsl_err err = TSL_OK;
  xc_quartets *q = w->quartets;
  int next = 0;
  for (int first = 0; first < XC_QUARTET_CLASSES; first++)
    for (int second = 0; second < XC_QUARTET_CLASSES; second++)
      if (run_of(w, first, second) != NULL)
        TSL_TRY(run_classes(w, &q->lanes[next++ % LANES], which, bras, first, second));
done:
  return err;
}

/* All operators; the worker's stream goes on after all. */
static tsl_err run_lanes(xc_gpu *w, const bra_sets *bras) {
  tsl_err err = TSL_OK;
  xc_quartets *q = w->quartets;
  TSL_CUDA_TRY(cudaEventRecord(q->begun, w->stream));
  for (const xc_quartet_lane &lane : q->lanes)
    TSL_CUDA_TRY(cudaStreamWaitEvent(lane.stream, q->begun, 0));
  for (int k = 0; k < q->n_operators; k++) TSL_TRY(run_operator(w, &q->operators[k], bras));
  for (const xc_quartet_lane &lane : q->lanes) {
    TSL_CUDA_TRY(cudaEventRecord(lane.done, lane.stream));
    TSL_CUDA_TRY(cudaStreamWaitEvent(w->stream, lane.done, 0));
  }
done:
  return err;
}

tsl_err xc_quartets_run(xc_gpu *w, const tsl_unit *units, int64_t n, double *seconds) {
  tsl_err err = TSL_OK;
  xc_quartets *q = w->quartets;
  std::vector<int32_t> bras;
  bra_sets sets;
  *seconds = 0;
  if (is_idle(w)) goto done;
  list_bras(&q->lists, units, n, &bras);
  if (bras.empty()) goto done;
  TSL_TRY(tsl_gpu_timer_start(&q->timer, w->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(q->bras.data, bras.data(), bras.size() * sizeof bras[0],
                               cudaMemcpyHostToDevice, w->stream));
  for (int c = 0; c < XC_QUARTET_CLASSES; c++) {
    const auto lo = std::lower_bound(bras.begin(), bras.end(), (int32_t)q->lists.first[c]);
    const auto hi = std::lower_bound(lo, bras.end(), (int32_t)q->lists.first[c + 1]);
    sets.of[c] = {(const int32_t *)q->bras.data + (lo - bras.begin()), 0, (int32_t)(hi - lo)};
  }
  TSL_TRY(run_lanes(w, &sets));
  TSL_TRY(tsl_gpu_timer_stop(&q->timer, w->stream, seconds));
done:
  return err;
}
