/**
 * @file dp_cpu_align_prune.c
 * Blocks of local alignments that hold no better cell (block pruning, Sandes and de Melo 2013).
 *
 * A path that crosses a block comes from a value on its sides, and gains a pair at most in each
 * row and column that is left. Where even so it stays below a score that some cell has, the block
 * is not computed. What it hands on are the values of paths through it that have no pair inside
 * it: so no value anywhere is above that of the whole table, and all on a path to a best cell are
 * what they are there, for none of these paths crosses such a block. The best cell is the same,
 * also among several, and so is every decision on the way back from it.
 *
 * Cells k rows or columns apart then differ by no more than in the whole table, which DP_MOVING
 * relies on: the path that proves it has pairs on one side only, and gaps, which remain, on the
 * other (choose_move). Cards hand on less where they leave cells out; align_smooth puts that right.
 */
#include "dp_cpu_align.h"

#include "integers.h"

void align_know(dp_cpu_align *b, int64_t score) {
  int32_t known = atomic_load_explicit(&b->known, memory_order_relaxed);
  while (score > known && !atomic_compare_exchange_weak(&b->known, &known, (int32_t)score)) {
  }
}

/* ---- a block that is left out */

static dp_align_side side_of(const dp_cpu_align *b, int32_t *h, int32_t *gap, int64_t n,
                             int64_t across) {
  return (dp_align_side){.h = h,
                         .gap = gap,
                         .n = n,
                         .across = (int32_t)across,
                         .open = b->open,
                         .extend = b->extend_e};
}

/** Paths out of a side's last but one cells that turn into gaps across it; out of the last. */
static void arrivals(const dp_cpu_align *b, const dp_align_side *from, dp_align_side *to) {
  to->turned =
      b->cpu.kernels->opened(from->gap, from->n - 1, from->open, from->extend) - from->extend;
  to->along = from->gap[from->n - 1];
}

static int32_t highest(const dp_cpu_align *b, dp_align_side s, int32_t high) {
  int32_t low = INT32_MAX;
  b->cpu.kernels->range(s.h, s.n, &low, &high);
  return high;
}

bool align_prune_block(dp_cpu_align *b, int64_t lo, int64_t strip, int64_t first, int64_t rows) {
  const int64_t column = strip * b->width, columns = tsl_min(b->width, b->m - column);
  const int64_t extend = b->extend_e; /* LOCAL: that of either gap */
  dp_align_side above = side_of(b, b->h + column, b->f + column, columns, rows);
  dp_align_side before = side_of(b, b->eh + first + 1, b->ee + first + 1, rows, columns);
  const int64_t pairs = tsl_min(b->rows_left - lo - first, b->columns_left - column);
  int32_t high = b->corner[strip] > 0 ? b->corner[strip] : 0;
  if (b->rows_left == 0 || (rows + columns) * extend > ALIGN_MOST / 2) return false;
  high = highest(b, before, highest(b, above, high));
  if (high + pairs * tsl_max(b->most, 0) >= atomic_load_explicit(&b->known, memory_order_relaxed))
    return false;
  arrivals(b, &above, &before);
  arrivals(b, &before, &above);
  b->corner[strip] = before.h[rows - 1];
  b->cpu.kernels->cross(&above);
  b->cpu.kernels->cross(&before);
  atomic_fetch_add_explicit(&b->pruned, rows * columns, memory_order_relaxed);
  return true;
}

/* ---- sides that came from elsewhere */

/** Going along: a value is at least the best so far less `step` a cell and two gaps opened. */
static void lift(const dp_cpu_align *b, int32_t *h, int64_t step, int64_t *run) {
  *run -= step;
  *h = (int32_t)tsl_max(*h, *run - 2 * (int64_t)b->open);
  *run = tsl_max(*run, *h);
}

void align_smooth(dp_cpu_align *b, int64_t rows) {
  const int64_t gap = b->extend_e, back = gap + tsl_max(b->most, 0);
  int64_t run = INT32_MIN / 2;
  if (b->rows_left == 0) return;
  for (int64_t j = b->m - 1; j >= 0; j--) lift(b, &b->h[j], back, &run);
  lift(b, &b->eh[0], back, &run);
  for (int64_t i = 1; i <= rows; i++) lift(b, &b->eh[i], gap, &run);
  run = INT32_MIN / 2;
  for (int64_t i = rows; i >= 0; i--) lift(b, &b->eh[i], back, &run);
  for (int64_t j = 0; j < b->m; j++) lift(b, &b->h[j], gap, &run);
  for (int64_t j = 0; j < b->m; j++) b->f[j] = (int32_t)tsl_max(b->f[j], b->h[j] - b->open);
  for (int64_t i = 0; i <= rows; i++) b->ee[i] = (int32_t)tsl_max(b->ee[i], b->eh[i] - b->open);
}
