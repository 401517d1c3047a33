/* One span of a sweep: its rows queued, with their decisions or all of them where they are wanted.
 * Rows are whole rows of the table in device memory; a span computes its columns, and to their left
 * what its later rows need. */
#include "dp_backend_gpu.cuh"
#include "dp_knapsack.cuh"
#include "dp_sweep.cuh"

/* F is called with a value of the problem's type. */
template <class F> static tsl_err as_type(const dp_worker *w, F call) {
  const int32_t type = w->dp.c.p->type;
  return type == TSL_I32   ? call((int32_t)0)
         : type == TSL_I64 ? call((int64_t)0)
         : type == TSL_F32 ? call(0.0f)
                           : call(0.0);
}

/* A scratch row that is not x. */
static char *other_scratch(const dp_worker *w, const void *x) {
  char *first = dp_row_at(&w->dp.rows, &w->dp.rows.scratch[0]);
  return x != first ? first : dp_row_at(&w->dp.rows, &w->dp.rows.scratch[1]);
}

/* Queue a copy of columns [from, to) of a row. */
static tsl_err copy_columns(const dp_worker *w, const void *x, int64_t from, int64_t to, void *y) {
  tsl_err err = TSL_OK;
  const int64_t each = w->dp.rows.each;
  if (from < to)
    TSL_CUDA_TRY(cudaMemcpyAsync((char *)y + from * each, (const char *)x + from * each,
                                 (size_t)((to - from) * each), cudaMemcpyDeviceToDevice,
                                 w->card.stream));
done:
  return err;
}

static __global__ void widen_kernel(const int32_t *in, int64_t count, int64_t *out) {
  const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) out[k] = in[k];
}

tsl_err dp_row_cast(dp_worker *w, const void *row, int64_t from, int64_t to, void *out) {
  tsl_err err = TSL_OK;
  const int64_t n = to - from;
  if (w->dp.rows.narrow)
    TSL_LAUNCH(widen_kernel, dim3((unsigned)tsl_ceil_div(n, 256)), 256, 0, w->card.stream,
               (const int32_t *)row + from, n, (int64_t *)out);
  else
    TSL_CUDA_TRY(cudaMemcpyAsync(out, (const char *)row + from * w->dp.c.bytes,
                                 (size_t)(n * w->dp.c.bytes), cudaMemcpyDeviceToDevice,
                                 w->card.stream));
done:
  return err;
}

/* ------------------------------------------------------------------------------- knapsacks */

/* A list of items to go over the columns [from, to) with. */
typedef struct sack_job {
  const void *x; /* row above; columns from `lowest` on are used */
  void *y;       /* row computed; NULL: a scratch row is taken and put here */
  int64_t from, to, lowest;
  int64_t left;   /* unbounded: columns left of `from` that all passes hand on */
  uint32_t *bits; /* of the list's first row, or NULL */
} sack_job;

template <class T>
static tsl_err run_pass(dp_worker *w, const sack_job *job, const dp_knap_list *list, int64_t k,
                        int items, int64_t first, const void *in, void *out) {
  const int64_t shift = (32 - job->from % 32) % 32; /* words of bits begin with column from */
  dp_knap_args<T> a = {};
  a.in = (const T *)in - shift;
  a.out = (T *)out - shift;
  a.start = (first + shift) / 32 * 32;
  a.end = job->to + shift;
  a.lowest = job->lowest + shift;
  a.band = job->from + shift;
  a.bits_stride = tsl_ceil_div(job->to - job->from, 32);
  a.bits = job->bits;
  a.merge = w->dp.c.p->problem == DP_KNAPSACK_UNBOUNDED;
  return dp_knap_launch(&w->card, a, list, k, items);
}

/* All passes of the list; after each, the columns that those behind it reach are there. */
template <class T> static tsl_err run_list(dp_worker *w, sack_job *job, const dp_knap_list *list) {
  tsl_err err = TSL_OK;
  const bool unbounded = w->dp.c.p->problem == DP_KNAPSACK_UNBOUNDED;
  const void *in = job->x;
  int64_t after = 0; /* weights of items behind */
  for (int64_t k = 0; k < list->n; k++) after += list->weight[k];
  for (int64_t k = 0, next; k < list->n; k = next) {
    int64_t sum = 0, first = 0;
    const int items = dp_knap_pass(list, k, dp_knap_size<T>::HALO, &sum);
    next = k + (items > 0 ? items : 1);
    after -= sum;
    first = job->from - (!unbounded ? after : next < list->n ? job->left : 0);
    void *out = next == list->n && job->y != NULL ? job->y : other_scratch(w, in);
    TSL_TRY(
        run_pass<T>(w, job, list, k, items, first > job->lowest ? first : job->lowest, in, out));
    in = out;
  }
  if (job->y == NULL)
    job->y = (void *)in;
  else if (list->n == 0)
    TSL_TRY(copy_columns(w, in, job->from, job->to, job->y));
done:
  return err;
}

/* Unbounded: the columns left of the span hold the last row of the stage already, and serve as if
 * they were the row before an item: all items of the stage count any number of times there. */
static tsl_err join_left(dp_worker *w, const dp_sweep_span *span, int64_t weight, sack_job *job) {
  tsl_err err = TSL_OK;
  char *joined = dp_row_at(&w->dp.rows, &w->dp.rows.scratch[0]);
  job->left = weight < span->from ? weight : span->from;
  job->lowest = span->from - job->left;
  TSL_TRY(copy_columns(w, span->bottom, job->lowest, span->from, joined));
  if (job->x != joined) TSL_TRY(copy_columns(w, job->x, span->from, span->to, joined));
  job->x = joined;
done:
  return err;
}

/* Columns that items [lo, hi) reach to the left of a span, at most `most`. */
static int64_t reach_of(const dp_worker *w, int64_t lo, int64_t hi, int64_t most) {
  const int64_t *weights = (const int64_t *)dp_input(&w->dp.c, DP_A);
  int64_t sum = 0;
  for (int64_t i = lo; i < hi && sum < most; i++)
    if (weights[i] <= w->dp.c.p->m) sum += weights[i];
  return sum < most ? sum : most;
}

static tsl_err run_items(dp_worker *w, const dp_sweep_span *span, int64_t lo, int64_t hi,
                         sack_job *job) {
  tsl_err err = TSL_OK;
  const bool unbounded = w->dp.c.p->problem == DP_KNAPSACK_UNBOUNDED;
  const int64_t *weights = (const int64_t *)dp_input(&w->dp.c, DP_A);
  const int64_t *values = (const int64_t *)dp_input(&w->dp.c, DP_B);
  dp_knap_list list = {};
  if (unbounded && weights[lo] == 0 && values[lo] > 0)
    TSL_FAIL(TSL_ERR_INPUT, "dp: item %lld weighs nothing and may be taken without end",
             (long long)lo);
  TSL_TRY(dp_knap_list_make(unbounded, weights, values, lo, hi, span->to - 1, &list));
  if (unbounded && span->from > 0 && list.n > 0) TSL_TRY(join_left(w, span, weights[lo], job));
  TSL_TRY(w->dp.rows.narrow ? run_list<int32_t>(w, job, &list) : run_list<int64_t>(w, job, &list));
done:
  dp_knap_list_clear(&list);
  return err;
}

static tsl_err run_sacks(dp_worker *w, const dp_sweep_span *span, void *made, char *rows) {
  tsl_err err = TSL_OK;
  const bool single = w->dp.c.p->problem == DP_KNAPSACK_UNBOUNDED || rows != NULL;
  const int64_t columns = span->to - span->from, words = tsl_ceil_div(columns, 32);
  const void *x = span->top;
  if (made != NULL) TSL_TRY(dp_zero(&w->dp.c, made, 4 * words * (span->hi - span->lo)));
  for (int64_t i = span->lo, next; i < span->hi; i = next) {
    sack_job job = {};
    next = single ? i + 1 : span->hi;
    job.x = x;
    job.y = next == span->hi ? span->bottom : NULL;
    job.to = span->to;
    job.from = span->from;
    if (w->dp.c.p->problem == DP_KNAPSACK) job.from -= reach_of(w, next, span->hi, span->from);
    if (made != NULL) job.bits = (uint32_t *)made + (i - span->lo) * words;
    TSL_TRY(run_items(w, span, i, next, &job));
    x = job.y;
    if (rows != NULL)
      TSL_TRY(
          dp_row_cast(w, x, span->from, span->to, rows + (i - span->lo) * columns * w->dp.c.bytes));
  }
done:
  return err;
}

/* Row i of the span to where the table's rows go; NULL: nowhere. */
static tsl_err row_out(dp_worker *w, const dp_sweep_span *span, int64_t i, const void *x,
                       char *rows) {
  const int64_t row_bytes = (span->to - span->from) * w->dp.c.bytes;
  if (rows == NULL) return TSL_OK;
  return dp_row_cast(w, x, span->from, span->to, rows + (i - span->lo) * row_bytes);
}

/* -------------------------------------------------------------------------------- binomial */

/* Any cell of the table that is too large counts. */
static tsl_err run_binomial(dp_worker *w, const dp_sweep_span *span, char *rows) {
  tsl_err err = TSL_OK;
  const int64_t most = rows != NULL ? 1 : DP_BINOMIAL_ROWS;
  const void *x = span->top;
  for (int64_t i = span->lo, next; i < span->hi; i = next) {
    next = i + most < span->hi ? i + most : span->hi;
    const int64_t halo = span->hi - next < span->from ? span->hi - next : span->from;
    const int64_t block = (int64_t)DP_BINOMIAL_THREADS * DP_BINOMIAL_LANE - (next - i);
    void *y = next == span->hi ? span->bottom : other_scratch(w, x);
    dp_binomial_args a = {};
    a.in = (const int64_t *)x;
    a.out = (int64_t *)y;
    a.start = span->from - halo;
    a.end = span->to;
    a.row = i;
    a.rows = next - i;
    a.n = INT64_MAX;
    a.k = INT64_MAX / 2;
    a.modulus = (uint64_t)w->dp.c.p->modulus;
    a.bad = (int *)w->sweep.bad.data;
    TSL_LAUNCH(dp_binomial_kernel, dim3((unsigned)tsl_ceil_div(a.end - a.start, block)),
               DP_BINOMIAL_THREADS, 0, w->card.stream, a);
    x = y;
    TSL_TRY(row_out(w, span, i, x, rows));
  }
done:
  return err;
}

/* ------------------------------------------------------------------ allotment and stagecoach */

/* A warp for each column: the largest x[c - k] + returns[k], and the smallest such k. */
template <class T>
static __global__ void __launch_bounds__(128)
    allot_choice_kernel(const T *x, const T *returns, int64_t from, int64_t to, T *y,
                        int32_t *choice) {
  const int lane = (int)threadIdx.x % DP_WARP;
  const int64_t c = from + (int64_t)blockIdx.x * 4 + threadIdx.x / DP_WARP;
  T best = 0;
  int at = INT32_MAX;
  if (c >= to) return;
  for (int64_t k = lane; k <= c; k += DP_WARP) {
    const T v = x[c - k] + returns[k];
    if (at == INT32_MAX || v > best) {
      best = v;
      at = (int)k;
    }
  }
  for (int d = 16; d > 0; d /= 2) {
    const T v = __shfl_xor_sync(DP_ALL_LANES, best, d);
    const int k = __shfl_xor_sync(DP_ALL_LANES, at, d);
    if (k != INT32_MAX && (at == INT32_MAX || v > best || (v == best && k < at))) {
      best = v;
      at = k;
    }
  }
  if (lane != 0) return;
  y[c] = best;
  choice[c - from] = at;
}

/* The least x[k] + costs[k][s], and the smallest such k; parts of the k side by side. */
template <class T>
static __global__ void stage_choice_kernel(const T *x, const T *costs, int64_t m, int64_t from,
                                           int64_t to, T *y, int32_t *choice) {
  __shared__ T best_of[DP_STAGE_PARTS][DP_STAGE_STATES];
  __shared__ int at_of[DP_STAGE_PARTS][DP_STAGE_STATES];
  const int lane = (int)threadIdx.x % DP_STAGE_STATES, part = (int)threadIdx.x / DP_STAGE_STATES;
  const int64_t s = from + (int64_t)blockIdx.x * DP_STAGE_STATES + lane;
  T best = 0;
  int at = INT32_MAX;
  for (int64_t k = part; s < to && k < m; k += DP_STAGE_PARTS) {
    const T v = x[k] + costs[k * m + s];
    if (at == INT32_MAX || v < best) {
      best = v;
      at = (int)k;
    }
  }
  best_of[part][lane] = best;
  at_of[part][lane] = at;
  __syncthreads();
  if (part != 0 || s >= to) return;
  for (int p = 1; p < DP_STAGE_PARTS; p++) {
    const T v = best_of[p][lane];
    const int k = at_of[p][lane];
    if (k != INT32_MAX && (v < best || (v == best && k < at))) {
      best = v;
      at = k;
    }
  }
  y[s] = best;
  if (choice != NULL) choice[s - from] = at;
}

/* Columns of one row; k NULL: no decisions. */
template <class T>
static tsl_err run_row(dp_worker *w, const dp_sweep_span *span, int64_t item, const T *x, T *y,
                       int32_t *k) {
  tsl_err err = TSL_OK;
  const int64_t m = w->dp.c.p->m, columns = span->to - span->from;
  const T *numbers = (const T *)w->sweep.numbers.data;
  if (w->dp.c.p->problem == DP_STAGECOACH)
    TSL_LAUNCH((stage_choice_kernel<T>), dim3((unsigned)tsl_ceil_div(columns, DP_STAGE_STATES)),
               DP_STAGE_STATES * DP_STAGE_PARTS, 0, w->card.stream, x, numbers + (item - 1) * m * m,
               m, span->from, span->to, y, k);
  else if (k != NULL)
    TSL_LAUNCH((allot_choice_kernel<T>), dim3((unsigned)tsl_ceil_div(columns, 4)), 128, 0,
               w->card.stream, x, numbers + item * (m + 1), span->from, span->to, y, k);
  else
    TSL_LAUNCH((dp_allot_kernel<T>),
               dim3((unsigned)tsl_ceil_div(columns, DP_ALLOT_THREADS * DP_ALLOT_LANE)),
               DP_ALLOT_THREADS, 0, w->card.stream, x, numbers + item * (m + 1), span->from,
               columns, y + span->from);
done:
  return err;
}

template <class T>
static tsl_err run_rows(dp_worker *w, const dp_sweep_span *span, void *made, char *rows) {
  tsl_err err = TSL_OK;
  const int64_t columns = span->to - span->from;
  const void *x = span->top;
  for (int64_t i = span->lo; i < span->hi; i++) {
    void *y = i + 1 == span->hi ? span->bottom : other_scratch(w, x);
    int32_t *k = made != NULL ? (int32_t *)made + (i - span->lo) * columns : NULL;
    TSL_TRY(run_row<T>(w, span, i, (const T *)x, (T *)y, k));
    x = y;
    TSL_TRY(row_out(w, span, i, x, rows));
  }
done:
  return err;
}

tsl_err dp_span_run(dp_worker *w, const dp_sweep_span *span, void *made, void *rows) {
  if (span->from >= span->to) return TSL_OK;
  if (dp_is_sack(w->dp.c.p)) return run_sacks(w, span, made, (char *)rows);
  if (w->dp.c.p->problem == DP_BINOMIAL) return run_binomial(w, span, (char *)rows);
  return as_type(w,
                 [=](auto zero) { return run_rows<decltype(zero)>(w, span, made, (char *)rows); });
}
