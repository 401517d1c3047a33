/* What is done to cells that are on the card: wanted ones noted, the best found, the table given in
 * the user's order. */
#include "dp_recur_own.cuh"
#include "integers.h"

#include <string.h>

enum {
  BEST_BLOCKS = 64, /* of 256 threads, each with a best cell of its own */
  BEST_THREADS = 256,
  TURNED_BYTES = 64 << 20 /* of the table in the user's order at a time */
};

dp_recur_box dp_recur_common(dp_recur_box a, dp_recur_box b) {
  return dp_recur_box{tsl_max(a.p0, b.p0), tsl_min(a.p1, b.p1), tsl_max(a.q0, b.q0),
                      tsl_min(a.q1, b.q1)};
}

/* The part of a view that lies in box; its box may be empty. */
static dp_recur_view part_of(const dp_recur_card *w, dp_recur_view view, dp_recur_box box) {
  const dp_recur_box b = dp_recur_common(view.box, box);
  if (dp_recur_empty(&b)) return dp_recur_view{NULL, view.stride, b};
  const int64_t at = (b.p0 - view.box.p0) * view.stride + b.q0 - view.box.q0;
  return dp_recur_view{(char *)view.cells + at * w->bytes, view.stride, b};
}

/* How (p, q) and (i, j) become each other, on the card. */
struct folding {
  bool transpose, flip_i, flip_j;
  int64_t rows, cols; /* of the user */
  int cells;          /* lang_cells */

  __device__ __forceinline__ void unfold(int64_t p, int64_t q, int64_t *i, int64_t *j) const {
    const int64_t a = transpose ? q : p, b = transpose ? p : q;
    *i = flip_i ? rows - 1 - a : a;
    *j = flip_j ? cols - 1 - b : b;
  }
  __device__ __forceinline__ void fold(int64_t i, int64_t j, int64_t *p, int64_t *q) const {
    const int64_t a = flip_i ? rows - 1 - i : i, b = flip_j ? cols - 1 - j : j;
    *p = transpose ? b : a;
    *q = transpose ? a : b;
  }
  __device__ __forceinline__ bool has(int64_t i, int64_t j) const {
    return cells == LANG_CELLS_ALL || (cells == LANG_CELLS_UPPER ? i <= j : i >= j);
  }
};

static folding folding_of(const dp_recur_card *w) {
  const lang_table *t = &w->recur->recurrence->equation.names.tables[0];
  const dp_fold *f = &w->code.fold;
  return folding{f->transpose != 0, f->flip_i != 0, f->flip_j != 0, t->rows, t->cols, t->cells};
}

/* ---------------------------------------------------------------------------------- wanted */

template <class U>
static __global__ void wanted_kernel(const U *cells, int64_t stride, int values, dp_recur_box box,
                                     const int64_t *at, int64_t first, int64_t last, U *wanted) {
  const int64_t n = first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= last) return;
  const int64_t p = at[3 * n], q = at[3 * n + 1];
  if (p < box.p0 || p >= box.p1 || q < box.q0 || q >= box.q1) return;
  wanted[n] = cells[((p - box.p0) * stride + q - box.q0) * values + at[3 * n + 2]];
}

tsl_err dp_recur_note_wanted(dp_recur_card *w, dp_recur_view view) {
  const dp_recur_box box = view.box;
  if (dp_recur_empty(&box)) return TSL_OK;
  const int64_t first = dp_recur_wanted_from(w->recur, box.p0, box.q0);
  const int64_t last = dp_recur_wanted_from(w->recur, box.p1 - 1, box.q1);
  return dp_recur_by_bytes(w, [=](auto zero) {
    typedef decltype(zero) U;
    tsl_err err = TSL_OK;
    TSL_LAUNCH((wanted_kernel<U>), dim3((unsigned)tsl_ceil_div(last - first, 256)), 256, 0,
               w->card->stream, (const U *)view.cells, view.stride, (int)w->code.values, box,
               (const int64_t *)w->wanted_at.data, first, last, (U *)w->wanted.data);
  done:
    return err;
  });
}

/* ------------------------------------------------------------------------------------ best */

template <class T>
static __global__ void __launch_bounds__(BEST_THREADS)
    best_kernel(const T *cells, int64_t stride, int tables, int layers, dp_recur_box box, folding f,
                bool maximum, dp_engine_best<T> *bests) {
  const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t threads = (int64_t)gridDim.x * blockDim.x;
  const int64_t row = (box.q1 - box.q0) * layers, count = (box.p1 - box.p0) * row;
  dp_engine_best<T> best = bests[thread];
  for (int64_t n = thread; n < count; n += threads) {
    const int64_t r = n / row, c = n - r * row;
    const T value = cells[(r * stride * layers + c) * tables];
    const bool ahead = maximum ? value > best.value : value < best.value;
    if (best.p >= 0 && !ahead && value != best.value) continue;
    int64_t i, j, i2 = 0, j2 = 0;
    const int64_t q = box.q0 + c / layers, k = c % layers;
    f.unfold(box.p0 + r, q, &i, &j);
    if (!f.has(i, j)) continue;
    if (best.p >= 0) f.unfold(best.p, best.q / layers, &i2, &j2);
    const bool before = i < i2 || (i == i2 && (j < j2 || (j == j2 && k < best.q % layers)));
    if (best.p >= 0 && !ahead && !before) continue;
    best = dp_engine_best<T>{value, box.p0 + r, q * layers + k};
  }
  bests[thread] = best;
}

template <class T> static __global__ void none_kernel(dp_engine_best<T> *bests, int64_t n) {
  const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) bests[k] = dp_engine_best<T>{(T)0, -1, -1};
}

dp_recur_box dp_recur_goal_box(const dp_recur *recur) {
  const dp_code *c = &recur->code;
  const int32_t goal = recur->recurrence->equation.goal;
  dp_recur_box box = {0, c->P, 0, c->Q};
  if (goal == DP_GOAL_ALL) return box;
  if (goal == DP_GOAL_EXPR || c->P == 0 || c->Q == 0) return dp_recur_box{0, 0, 0, 0};
  const bool row = (goal == DP_GOAL_ROW) == (c->fold.transpose == 0); /* of folded rows */
  const bool flip = goal == DP_GOAL_ROW ? c->fold.flip_i != 0 : c->fold.flip_j != 0;
  const int64_t at = flip ? 0 : (row ? c->P : c->Q) - 1;
  if (row)
    box.p0 = at, box.p1 = at + 1;
  else
    box.q0 = at, box.q1 = at + 1;
  return box;
}

/* Values of a table in a cell. */
static int64_t layers_of(const dp_recur_card *w) {
  return tsl_max(w->code.layers, 1);
}

tsl_err dp_recur_note_best(dp_recur_card *w, dp_recur_view whole) {
  const dp_recur_view view = part_of(w, whole, w->goal);
  const dp_recur_box box = view.box;
  if (dp_recur_empty(&box)) return TSL_OK;
  const int64_t layers = layers_of(w), count = (box.p1 - box.p0) * (box.q1 - box.q0) * layers;
  const int64_t blocks = tsl_min(BEST_BLOCKS, tsl_ceil_div(count, BEST_THREADS));
  return dp_recur_typed(w, [=](auto zero) {
    typedef decltype(zero) T;
    tsl_err err = TSL_OK;
    TSL_LAUNCH((best_kernel<T>), dim3((unsigned)blocks), BEST_THREADS, 0, w->card->stream,
               (const T *)view.cells + w->recur->recurrence->equation.goal_table, view.stride,
               (int)w->code.tables, (int)layers, box, folding_of(w),
               w->recur->recurrence->equation.maximum != 0, (dp_engine_best<T> *)w->bests.data);
  done:
    return err;
  });
}

template <class T> static tsl_err forget_best(dp_recur_card *w) {
  tsl_err err = TSL_OK;
  w->n_bests = tsl_max(BEST_BLOCKS * BEST_THREADS,
                       tsl_ceil_div(w->code.Q, DP_WARP * 4)); /* the narrowest strips */
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, &w->bests,
                          w->n_bests * (int64_t)sizeof(dp_engine_best<T>), "best cells"));
  TSL_LAUNCH((none_kernel<T>), dim3((unsigned)tsl_ceil_div(w->n_bests, 256)), 256, 0,
             w->card->stream, (dp_engine_best<T> *)w->bests.data, w->n_bests);
done:
  return err;
}

tsl_err dp_recur_forget(dp_recur_card *w) {
  tsl_err err = TSL_OK;
  const int64_t n = w->recur->n_wanted;
  w->taken = dp_recur_best{0, -1, -1, 0};
  if (n > 0)
    TSL_CUDA_TRY(cudaMemsetAsync(w->wanted.data, 0, (size_t)(n * w->step), w->card->stream));
  if (!dp_recur_empty(&w->goal))
    TSL_TRY(dp_recur_typed(w, [=](auto zero) { return forget_best<decltype(zero)>(w); }));
done:
  return err;
}

template <class T> static tsl_err best_of(dp_recur_card *w, dp_recur_best *out) {
  tsl_err err = TSL_OK;
  dp_engine_best<T> *all = NULL;
  dp_recur_best one = {0, -1, -1, 0};
  *out = w->taken;
  TSL_TRY(tsl_alloc(w->n_bests, sizeof *all, "best cells", (void **)&all));
  TSL_TRY(tsl_gpu_copy(w->card, all, w->bests.data, (size_t)w->n_bests * sizeof *all));
  for (int64_t k = 0; k < w->n_bests; k++) {
    if (all[k].p < 0) continue;
    one.bits = dp_recur_bits(w->type, &all[k].value);
    dp_code_unfold(&w->code, all[k].p, all[k].q / layers_of(w), &one.i, &one.j);
    one.layer = all[k].q % layers_of(w);
    if (dp_recur_better(w->recur, &one, out)) *out = one;
  }
done:
  tsl_free(all);
  return err;
}

tsl_err dp_recur_best_of(dp_recur_card *w, dp_recur_best *best) {
  return dp_recur_typed(w, [=](auto zero) { return best_of<decltype(zero)>(w, best); });
}

/* ----------------------------------------------------------------------------------- table */

/* A box of the user's table. */
struct user_box {
  int64_t i0, i1, j0, j1;
};

static user_box user_box_of(const dp_recur_card *w, dp_recur_box b) {
  int64_t i, j, i2, j2;
  dp_code_unfold(&w->code, b.p0, b.q0, &i, &j);
  dp_code_unfold(&w->code, b.p1 - 1, b.q1 - 1, &i2, &j2);
  return user_box{tsl_min(i, i2), tsl_max(i, i2) + 1, tsl_min(j, j2), tsl_max(j, j2) + 1};
}

template <class U>
static __global__ void turn_kernel(const U *cells, int64_t stride, int values, dp_recur_box box,
                                   folding f, user_box to, U *out) {
  const int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, row = (to.j1 - to.j0) * values;
  if (n >= row) return;
  for (int64_t i = to.i0 + blockIdx.y; i < to.i1; i += gridDim.y) {
    int64_t p, q;
    f.fold(i, to.j0 + n / values, &p, &q);
    out[(i - to.i0) * row + n] = cells[((p - box.p0) * stride + q - box.q0) * values + n % values];
  }
}

/* The view, which fits the buffer, into the buffer. */
static tsl_err turn(dp_recur_card *w, dp_recur_view view, user_box to) {
  return dp_recur_by_bytes(w, [=](auto zero) {
    typedef decltype(zero) U;
    tsl_err err = TSL_OK;
    const dim3 grid((unsigned)tsl_ceil_div((to.j1 - to.j0) * w->code.values, 128),
                    (unsigned)tsl_min(to.i1 - to.i0, 4096));
    TSL_LAUNCH((turn_kernel<U>), grid, 128, 0, w->card->stream, (const U *)view.cells, view.stride,
               (int)w->code.values, view.box, folding_of(w), to, (U *)w->turned.data);
  done:
    return err;
  });
}

/* A view inside a unit to the unit's slab. */
static tsl_err give(dp_recur_card *w, dp_recur_view view, const tsl_unit *unit, void *slab) {
  tsl_err err = TSL_OK;
  const user_box whole = user_box_of(w, dp_recur_box_of(unit)), part = user_box_of(w, view.box);
  const int64_t cols = part.j1 - part.j0, rows = part.i1 - part.i0, ld = whole.j1 - whole.j0;
  const dp_fold *f = &w->code.fold;
  char *const to = (char *)slab + ((part.i0 - whole.i0) * ld + part.j0 - whole.j0) * w->bytes;
  const void *from = view.cells;
  int64_t pitch = view.stride;
  if (f->transpose != 0 || f->flip_i != 0 || f->flip_j != 0) {
    TSL_TRY(
        tsl_gpu_reserve(&w->card->memory, &w->turned, rows * cols * w->bytes, "cells to be given"));
    TSL_TRY(turn(w, view, part));
    from = w->turned.data;
    pitch = cols;
  }
  TSL_CUDA_TRY(cudaMemcpy2DAsync(to, (size_t)(ld * w->bytes), from, (size_t)(pitch * w->bytes),
                                 (size_t)(cols * w->bytes), (size_t)rows, cudaMemcpyDeviceToHost,
                                 w->card->stream));
done:
  return err;
}

tsl_err dp_recur_note_table(dp_recur_card *w, dp_recur_view view, const tsl_unit *units, int64_t n,
                            tsl_part *parts) {
  tsl_err err = TSL_OK;
  if (!dp_recur_gives(w->table, parts)) return TSL_OK;
  for (int64_t k = 0; k < n; k++) {
    dp_recur_view part = part_of(w, view, dp_recur_box_of(&units[k]));
    if (dp_recur_empty(&part.box)) continue;
    const int64_t row = (part.box.q1 - part.box.q0) * w->bytes, end = part.box.p1;
    const int64_t step = tsl_max(TURNED_BYTES / row, 1);
    for (dp_recur_box b = part.box; b.p0 < end; b.p0 += step) {
      b.p1 = tsl_min(b.p0 + step, end);
      TSL_TRY(give(w, part_of(w, part, b), &units[k], parts[k].slab[w->table]));
    }
  }
done:
  return err;
}
