/* The walk back through a sweep by the decisions kept: by a kernel, or on the host by decisions
 * that were copied there. */
#include "dp_backend_gpu.cuh"
#include "dp_ptx.cuh"

#include <string.h>

/* A walk through the decisions of some items; places count from their first item and column. */
typedef struct walk_args {
  const uint32_t *bits;         /* knapsacks, [items][words] */
  const int32_t *k;             /* others, [items][columns] */
  int64_t words, columns, from; /* from: column of the table that column 0 is */
  const int64_t *weights;       /* of these items */
  bool again;                   /* unbounded: an item is looked at again after it was taken */
  bool stages;                  /* k is the column before, not the amount */
  int64_t *out;                 /* [items] how often taken, or k */
  long long *place;             /* items not yet decided, column (in and out) */
} walk_args;

/* One warp looks at 32 items at once for the capacity that is left. */
static __global__ void bits_kernel(const __grid_constant__ walk_args a) {
  const int lane = (int)threadIdx.x;
  int64_t item = a.place[0], c = a.place[1];
  __syncwarp();
  while (item > 0 && c >= 0) {
    const int64_t mine = item - 1 - lane;
    const bool bit = mine >= 0 && (a.bits[mine * a.words + c / 32] >> (c % 32) & 1) != 0;
    const uint32_t all = __ballot_sync(DP_ALL_LANES, bit);
    const int left_out = all == 0 ? DP_WARP : __ffs((int)all) - 1;
    if (lane == left_out) a.out[mine]++;
    item -= left_out < item ? left_out : item;
    if (all == 0) continue;
    c -= a.weights[item - 1];
    if (!a.again) item--;
  }
  if (lane != 0) return;
  a.place[0] = item;
  a.place[1] = c;
}

/* One thread: each decision is where the one before says. */
static __global__ void k_kernel(const __grid_constant__ walk_args a) {
  int64_t item = a.place[0], c = a.place[1];
  while (item > 0 && c >= 0 && c < a.columns) {
    const int64_t k = a.k[(item - 1) * a.columns + c];
    a.out[item - 1] = k;
    c = a.stages ? k - a.from : c - k;
    item--;
  }
  a.place[0] = item;
  a.place[1] = c;
}

/* The same on the host. */
static void walk_host(const walk_args *a) {
  int64_t item = a->place[0], c = a->place[1];
  while (item > 0 && c >= 0 && c < a->columns) {
    const int64_t i = item - 1;
    if (a->bits != NULL) {
      const bool taken = (a->bits[i * a->words + c / 32] >> (c % 32) & 1) != 0;
      a->out[i] += taken;
      if (taken) c -= a->weights[i];
      item -= !taken || !a->again;
    } else {
      a->out[i] = a->k[i * a->columns + c];
      c = a->stages ? a->out[i] - a->from : c - a->out[i];
      item--;
    }
  }
  a->place[0] = item;
  a->place[1] = c;
}

static walk_args args_of(const dp_worker *w, const dp_choices *c) {
  walk_args a = {};
  a.columns = c->to - c->from;
  a.words = tsl_ceil_div(a.columns, 32);
  a.from = c->from;
  a.again = w->c.p->problem == DP_KNAPSACK_UNBOUNDED;
  a.stages = w->c.p->problem == DP_STAGECOACH;
  return a;
}

/* out: [items] zeroed, host. */
static tsl_err walk_by_card(dp_worker *w, const dp_choices *c, long long place[2], int64_t *out) {
  tsl_err err = TSL_OK;
  const size_t bytes = (size_t)(8 * (c->hi - c->lo));
  walk_args a = args_of(w, c);
  cudaStream_t stream = w->card.stream;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &w->rows.walk, 16 + (int64_t)bytes, "walk"));
  a.place = (long long *)w->rows.walk.data;
  a.out = (int64_t *)w->rows.walk.data + 2;
  a.bits = (const uint32_t *)c->bits.data;
  a.k = (const int32_t *)c->k.data;
  TSL_CUDA_TRY(cudaMemcpyAsync(a.place, place, 16, cudaMemcpyDefault, stream));
  TSL_CUDA_TRY(cudaMemsetAsync(a.out, 0, bytes, stream));
  if (a.bits != NULL) {
    a.weights = (const int64_t *)w->rows.data.data + c->lo;
    TSL_LAUNCH(bits_kernel, dim3(1), DP_WARP, 0, stream, a);
  } else
    TSL_LAUNCH(k_kernel, dim3(1), 1, 0, stream, a);
  TSL_CUDA_TRY(cudaMemcpyAsync(place, a.place, 16, cudaMemcpyDefault, stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(out, a.out, bytes, cudaMemcpyDefault, stream));
  TSL_TRY(dp_card_wait(&w->card));
done:
  return err;
}

static tsl_err walk_by_host(dp_worker *w, const dp_choices *c, long long place[2], int64_t *out) {
  tsl_err err = TSL_OK;
  const bool sack = dp_is_sack(w->c.p);
  const int64_t bytes = dp_choices_bytes(w->c.p, c->hi - c->lo, c->to - c->from);
  walk_args a = args_of(w, c);
  void *decisions = NULL;
  TSL_TRY(tsl_alloc(bytes, 1, "decisions", &decisions));
  TSL_CUDA_TRY(cudaMemcpyAsync(decisions, sack ? c->bits.data : c->k.data, (size_t)bytes,
                               cudaMemcpyDefault, w->card.stream));
  TSL_TRY(dp_card_wait(&w->card));
  a.place = place;
  a.out = out;
  a.bits = sack ? (const uint32_t *)decisions : NULL;
  a.k = sack ? NULL : (const int32_t *)decisions;
  if (sack) a.weights = (const int64_t *)dp_input(&w->c, DP_A) + c->lo;
  walk_host(&a);
done:
  tsl_free(decisions);
  return err;
}

/* Steps of items first-1 down to last of c from `column` on. */
static tsl_err add_steps(const dp_worker *w, const dp_choices *c, const int64_t *out, int64_t first,
                         int64_t last, int64_t column, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const bool stages = w->c.p->problem == DP_STAGECOACH;
  for (int64_t i = first - 1; i >= last; i--) {
    if (stages)
      TSL_TRY(dp_steps_add(steps, c->lo + i, column));
    else if (out[i] > 0)
      TSL_TRY(dp_steps_add(steps, c->lo + i, out[i]));
    if (stages) column = out[i];
  }
done:
  return err;
}

/* Walk on through the decisions c. at[0] counts rows; stages are counted from 0, items from 1. */
static tsl_err walk_on(dp_worker *w, const dp_choices *c, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const int64_t stages = w->c.p->problem == DP_STAGECOACH;
  const int64_t first = cursor->at[0] + stages - c->lo, column = cursor->at[1];
  long long place[2] = {first, column - c->from};
  int64_t last = 0, *out = NULL;
  TSL_TRY(tsl_alloc(c->hi - c->lo, sizeof *out, "decisions", (void **)&out));
  TSL_TRY(w->c.p->host ? walk_by_host(w, c, place, out) : walk_by_card(w, c, place, out));
  /* unbounded: the item at which the walk left has been taken as well */
  last = place[0] > 0 && out[place[0] - 1] > 0 && !stages ? place[0] - 1 : place[0];
  TSL_TRY(add_steps(w, c, out, first, last, column, steps));
  cursor->at[0] = c->lo + place[0] - stages;
  cursor->at[1] = c->from + place[1];
done:
  tsl_free(out);
  return err;
}

/* The decisions of an item in a column, found from *at downwards; NULL: another worker's. */
static dp_choices *find(dp_rows_gpu *rows, int64_t item, int64_t column, int64_t *at) {
  while (*at > 0 && rows->list[*at].lo > item) --*at;
  for (int64_t k = *at; k >= 0 && rows->list[k].hi > item; k--) {
    dp_choices *c = &rows->list[k];
    if (c->lo <= item && c->from <= column && column < c->to) return c;
  }
  return NULL;
}

/* Decisions that were not kept, made again; those of one place at a time. */
static tsl_err make_again(dp_worker *w, const dp_choices *c, dp_choices *made) {
  tsl_err err = TSL_OK;
  const dp_sweep_span span = {c->lo, c->hi,       c->from,
                              c->to, c->top.data, dp_row_at(w, &w->rows.row[0])};
  made->lo = c->lo;
  made->hi = c->hi;
  made->from = c->from;
  made->to = c->to;
  TSL_TRY(dp_choices_reserve(w, made));
  TSL_TRY(dp_span_run(w, &span, made, NULL));
done:
  return err;
}

/* Through what was computed together. */
tsl_err dp_gpu_rows_walk(dp_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                         dp_steps *steps) {
  tsl_err err = TSL_OK;
  const bool stages = w->c.p->problem == DP_STAGECOACH;
  const dp_choices *first = NULL;
  dp_choices made = {};
  int64_t at = w->rows.n - 1;
  while (cursor->at[0] > 0) {
    const int64_t item = stages ? cursor->at[0] : cursor->at[0] - 1;
    const dp_choices *c = find(&w->rows, item, cursor->at[1], &at);
    if (c == NULL || (first != NULL && c != first)) break;
    first = c;
    if (c->top.data != NULL) TSL_TRY(make_again(w, c, &made));
    TSL_TRY(walk_on(w, c->top.data != NULL ? &made : c, cursor, steps));
  }
  cursor->lane = cursor->at[0] > 0 ? dp_lane_of(units, n, cursor->at[1]) : -1;
  if (cursor->at[0] == 0 && stages) TSL_TRY(dp_steps_add(steps, 0, cursor->at[1]));
done:
  dp_choices_clear(w, &made);
  return err;
}
