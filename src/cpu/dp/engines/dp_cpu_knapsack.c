/** @file dp_cpu_knapsack.c  Knapsacks: rows of items over columns of capacities. */
#include "dp_cpu.h"
#include "dp_kernels.h"
#include "integers.h"

#include <omp.h>
#include <string.h>

enum {
  PIECE = 1 << 18,      /* bytes of a piece: it stays in the second-level cache, */
  WIDE_PIECE = 1 << 21, /* or, where the weights are too large for it, in the third-level cache */
  HALO = 3,             /* a group's weights add up to at most a third of a piece */
  QUANTUM = 64,         /* pieces begin at multiples of it, for the bits */
  /* unbounded: */
  LIGHT = 4,       /* vectors: items of smaller weights are taken one by one */
  BLOCK = 1 << 11, /* columns of a thread's block at most, */
  SHARE = 1 << 9,  /* and at least */
  LONG = 1 << 15   /* columns of a row that are worth another thread */
};

/** Items that are taken together, from one row in memory to the next. */
typedef struct group {
  int64_t first, items, weight; /**< weight: their sum */
  int64_t piece;                /**< columns of a piece */
  bool narrow;                  /**< values fit int32 */
} group;

/** The whole task. */
typedef struct sweep {
  const dp_kernels *kernels;
  int threads;
  const int64_t *weights, *values;
  int64_t items, lo, hi, words; /**< words: of bits of an item */
  uint64_t *taken;
} sweep;

/** Columns [lo, hi) of a group; scratch rows begin at column base; bits: those of taken too. */
typedef struct piece {
  int64_t lo, hi, base;
  bool bits;
} piece;

/** Items too heavy for every column change nothing. */
static bool is_light(const sweep *s, int64_t item) {
  return s->weights[item] < s->hi;
}

/** Sum of the weights of items [first, items) that matter, at most hi. */
static int64_t weight_from(const sweep *s, int64_t first) {
  int64_t sum = 0;
  for (int64_t i = first; i < s->items && sum < s->hi; i++)
    if (is_light(s, i)) sum = tsl_min(sum + s->weights[i], s->hi);
  return sum;
}

/** Items from first on, at least one, with weights up to a share of a piece. before: the largest
 *  value before them. */
static group group_of(const sweep *s, int64_t first, int64_t before, int64_t bytes) {
  group g = {.first = first, .narrow = before <= INT32_MAX};
  g.piece = bytes / (int64_t)(g.narrow ? sizeof(int32_t) : sizeof(int64_t));
  for (int64_t i = first; i < s->items; i++) {
    const int64_t weight = is_light(s, i) ? s->weights[i] : 0;
    if (g.items > 0 && g.weight + weight > g.piece / HALO) break;
    if (g.narrow && before + s->values[i] > INT32_MAX) {
      if (g.items > 0) break;
      return (group){.first = first, .items = 1, .weight = weight, .piece = g.piece / 2};
    }
    g.items++;
    g.weight += weight;
    before += s->values[i];
  }
  return g;
}

/** Cut the items into groups, each as large as a piece can take. most: the largest value. */
static int64_t cut_groups(const sweep *s, int64_t most, group *groups) {
  int64_t n = 0;
  for (int64_t i = 0; i < s->items; i += groups[n++].items) {
    group *g = &groups[n];
    *g = group_of(s, i, most, PIECE);
    if (g->items < 3 && (s->hi - s->lo) * (int64_t)sizeof(int64_t) >= 2 * WIDE_PIECE)
      *g = group_of(s, i, most, WIDE_PIECE);
    for (int64_t k = i; k < i + g->items; k++) most += s->values[k];
  }
  return n;
}

/** Values of scratch that a thread needs for any group. */
static int64_t scratch_of(const group *groups, int64_t n) {
  int64_t most = 1;
  for (int64_t k = 0; k < n; k++)
    if (groups[k].items > 1 && groups[k].piece + groups[k].weight > most)
      most = groups[k].piece + groups[k].weight;
  return most;
}

/* ------------------------------------------------------------------ a piece of columns */

static uint64_t *bits_of(const sweep *s, const piece *p, int64_t item) {
  return p->bits ? s->taken + item * s->words + (p->lo - s->lo) / 64 : NULL;
}

/** Columns of [first, first + n) that are too small for a weight. */
static int64_t skip_of(int64_t weight, int64_t first, int64_t n) {
  const int64_t skip = weight - first;
  return skip < 0 ? 0 : tsl_min(skip, n);
}

/**
 * The items of a group over a piece, in place: a holds the row before, from column base on, and in
 * the end the row after. An item makes only columns right whose column to the left was: from base
 * on at first, in the end from lo on.
 */
#define STEPS(name, E)                                                                        \
  static void steps_##name(const sweep *s, const group *g, const piece *p, E *a) {            \
    int64_t right = p->base;                                                                  \
    for (int64_t i = g->first; i < g->first + g->items; i++) {                                \
      const int64_t w = s->weights[i], n = p->hi - p->lo;                                     \
      E *const in = a + p->lo - p->base;                                                      \
      if (!is_light(s, i)) continue;                                                          \
      if (right > 0) right += w;                                                              \
      E *const halo = a + right - p->base;                                                    \
      s->kernels->sack_##name(in, in, n, skip_of(w, p->lo, n), w, (E)s->values[i],            \
                              bits_of(s, p, i));                                              \
      s->kernels->sack_##name(halo, halo, p->lo - right, skip_of(w, right, p->lo - right), w, \
                              (E)s->values[i], NULL);                                         \
    }                                                                                         \
  }
STEPS(i32, int32_t)
STEPS(i64, int64_t)
#undef STEPS

/** One piece of a group from row to row; rows are addressed by column. scratch: a piece. */
static void run_piece(const sweep *s, const group *g, const piece *p, const int64_t *from,
                      int64_t *to, int64_t *scratch) {
  const int64_t n = p->hi - p->base, columns = p->hi - p->lo, in = p->lo - p->base;
  if (g->items == 1 && !is_light(s, g->first)) {
    if (to != from) memcpy(to + p->lo, from + p->lo, (size_t)columns * sizeof *to);
  } else if (g->items == 1) {
    const int64_t w = s->weights[g->first];
    s->kernels->sack_i64(from + p->lo, to + p->lo, columns, skip_of(w, p->lo, columns), w,
                         s->values[g->first], bits_of(s, p, g->first));
  } else if (g->narrow) {
    s->kernels->shrink(from + p->base, n, (int32_t *)scratch);
    steps_i32(s, g, p, (int32_t *)scratch);
    s->kernels->stretch((int32_t *)scratch + in, columns, to + p->lo);
  } else {
    memcpy(scratch, from + p->base, (size_t)n * sizeof *scratch);
    steps_i64(s, g, p, scratch);
    memcpy(to + p->lo, scratch + in, (size_t)columns * sizeof *to);
  }
}

/** Scratch memory of all threads. */
typedef struct room {
  int64_t *values, each;
} room;

/** A group over columns [valid, hi) of the row after it. With one thread to may be from: pieces go
 *  down, and read only what lies at or below them. */
static void run_group(const sweep *s, const group *g, int64_t valid, const int64_t *from,
                      int64_t *to, const room *r) {
  const int64_t each = (s->hi - s->lo) / s->threads / QUANTUM * QUANTUM;
  int64_t step = g->items > 1 && each < HALO * g->weight ? HALO * g->weight : each;
  step = (step > g->piece ? g->piece : step < 1024 ? 1024 : step) / QUANTUM * QUANTUM;
  const int64_t before = (s->lo - valid + step - 1) / step;
  const int64_t after = (s->hi - s->lo + step - 1) / step;
#pragma omp parallel for schedule(dynamic) num_threads(s->threads)
  for (int64_t down = 1; down <= before + after; down++) {
    const int64_t k = before + after - down;
    piece p = {.lo = k < before ? valid + k * step : s->lo + (k - before) * step,
               .bits = k >= before && s->taken != NULL};
    p.hi = tsl_min(p.lo + step, k < before ? s->lo : s->hi);
    p.base = p.lo > g->weight ? p.lo - g->weight : 0;
    run_piece(s, g, &p, from, to, r->values + omp_get_thread_num() * r->each);
  }
}

/* ------------------------------------------------------------------ the task */

/** Numbers are what the header asks for; *most: the largest value of the row before. */
static tsl_err check(const sweep *s, const int64_t *from, int64_t *most) {
  tsl_err err = TSL_OK;
  int64_t sum = s->hi > s->lo ? from[s->hi - 1] : 0;
  *most = sum;
  if (s->lo < 0 || s->hi < s->lo || sum < 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "capacities %lld to %lld, value %lld", (long long)s->lo,
             (long long)s->hi, (long long)sum);
  for (int64_t i = 0; i < s->items; i++) {
    if (s->weights[i] < 0 || s->values[i] < 0)
      TSL_FAIL(TSL_ERR_INPUT, "item %lld has weight %lld and value %lld; neither may be negative",
               (long long)(i + 1), (long long)s->weights[i], (long long)s->values[i]);
    if (!tsl_add_i64(sum, s->values[i], &sum))
      TSL_FAIL(TSL_ERR_NUMERIC, "the values of items up to %lld exceed 63 bits",
               (long long)(i + 1));
  }
done:
  return err;
}

/** Bits of items that are too heavy for every column. */
static void clear_heavy(const sweep *s) {
  for (int64_t i = 0; s->taken != NULL && i < s->items; i++)
    if (!is_light(s, i)) memset(s->taken + i * s->words, 0, (size_t)s->words * sizeof *s->taken);
}

/**
 * Group after group. Rows in between begin at the first column that later items need: one thread
 * works in place in one of them, several from one to the other. A row of all columns needs no room
 * beside to.
 */
static tsl_err run_groups(const sweep *s, const group *groups, int64_t n, const int64_t *from,
                          int64_t *to, const room *r) {
  tsl_err err = TSL_OK;
  int64_t *rows[2] = {NULL, NULL};
  const int64_t begin = s->lo - tsl_min(s->lo, weight_from(s, 0));
  for (int64_t g = 0; g < n; g++) {
    const int64_t valid = s->lo - tsl_min(s->lo, weight_from(s, groups[g].first + groups[g].items));
    const int which = s->threads > 1 ? (int)((n - 1 - g) % 2) : 0; /* 0 in the end */
    int64_t *next = to;
    if (g < n - 1 && (which == 1 || s->lo > 0)) {
      if (rows[which] == NULL)
        TSL_TRY(
            tsl_alloc(s->hi - begin, sizeof **rows, "row of a knapsack", (void **)&rows[which]));
      next = rows[which] - begin;
    }
    run_group(s, &groups[g], valid, from, next, r);
    from = next;
  }
done:
  TSL_FREE_ALL(rows[0], rows[1]);
  return err;
}

tsl_err dp_cpu_knapsack(const dp_cpu *cpu, const int64_t *weights, const int64_t *values,
                        int64_t items, const int64_t *from, int64_t *to, int64_t lo, int64_t hi,
                        uint64_t *taken) {
  tsl_err err = TSL_OK;
  const sweep s = {.kernels = cpu->kernels,
                   .threads = cpu->threads,
                   .weights = weights,
                   .values = values,
                   .items = items,
                   .lo = lo,
                   .hi = hi,
                   .words = (hi - lo + 63) / 64,
                   .taken = taken};
  int64_t most = 0;
  group *groups = NULL;
  room r = {.values = NULL};
  TSL_TRY(check(&s, from, &most));
  if (lo == hi) goto done;
  clear_heavy(&s);
  if (items == 0) memcpy(to + lo, from + lo, (size_t)(hi - lo) * sizeof *to);
  TSL_TRY(tsl_alloc(items, sizeof *groups, "groups of items", (void **)&groups));
  const int64_t n = cut_groups(&s, most, groups);
  r.each = scratch_of(groups, n);
  TSL_TRY(tsl_alloc(cpu->threads * r.each, sizeof *r.values, "pieces of a knapsack's row",
                    (void **)&r.values));
  TSL_TRY(run_groups(&s, groups, n, from, to, &r));
done:
  TSL_FREE_ALL(groups, r.values);
  return err;
}

/* ------------------------------------------------------------------ unbounded */

/**
 * row[c] = max over q >= 0 of row[c - q w] + q v for a weight below a vector: first up to 2^k - 1
 * times by doubling, descending, then any number of times 2^k.
 */
static void run_light(const dp_kernels *k, int64_t weight, int64_t value, int64_t *row, int64_t lo,
                      int64_t hi) {
  const int64_t vector = k->bytes / (int64_t)sizeof *row;
  for (; weight < vector && weight < hi; weight *= 2, value *= 2)
    for (int64_t c = hi - 1; c >= lo && c >= weight; c--)
      if (row[c - weight] + value > row[c]) row[c] = row[c - weight] + value;
  const int64_t first = weight > lo ? weight : lo;
  if (first < hi) k->sack_again(row + first, row + first, hi - first, weight, value, NULL);
}

/** Items whose weights are a vector or more. */
typedef struct heavy {
  int64_t *weights, *values, n, least; /**< least: the smallest weight */
} heavy;

/** All items at columns [a, b), which do not need each other. */
static void run_block(const dp_kernels *k, const heavy *h, int64_t *row, int64_t a, int64_t b) {
  for (int64_t i = 0; i < h->n; i++) {
    const int64_t begin = a > h->weights[i] ? a : h->weights[i];
    if (begin < b)
      k->sack_again(row + begin, row + begin, b - begin, h->weights[i], h->values[i], NULL);
  }
}

/** All items at a block of columns after the other: each column takes the best of any item once
 *  more. Threads share a block. */
static void run_heavy(const dp_cpu *cpu, const heavy *h, int64_t *row, int64_t lo, int64_t hi) {
  const int64_t block = tsl_min(h->least, (int64_t)BLOCK * cpu->threads);
  const int64_t most = tsl_min(cpu->threads, block / SHARE);
#pragma omp parallel num_threads(most > 1 ? (int)most : 1)
  for (int64_t c = lo; c < hi; c += block) {
    const int64_t n = tsl_min(block, hi - c), thread = omp_get_thread_num();
    const int64_t all = omp_get_num_threads(), a = n * thread / all, b = n * (thread + 1) / all;
    run_block(cpu->kernels, h, row, c + a, c + b);
#pragma omp barrier
  }
}

/** One item of a vector's weight or more, from one row to the next. */
typedef struct again {
  const dp_kernels *kernels;
  int64_t weight, value, lo, hi;
  const int64_t *from;
  int64_t *to;
  uint64_t *taken; /* NULL, or zeros; bit c - lo */
} again;

/** Columns [a, b) of one word of taken, which others may write, too. */
static void run_few(const again *g, int64_t a, int64_t b) {
  uint64_t word = 0;
  for (int64_t c = a; c < b; c++) {
    const int64_t with = g->to[c - g->weight] + g->value;
    word |= (uint64_t)(with > g->from[c]) << (c - g->lo) % 64;
    g->to[c] = with > g->from[c] ? with : g->from[c];
  }
  if (word != 0) (void)__atomic_fetch_or(g->taken + (a - g->lo) / 64, word, __ATOMIC_RELAXED);
}

/** Columns [a, b) from left to right. */
static void run_slice(const again *g, int64_t a, int64_t b) {
  const int64_t begin = a > g->weight ? a : g->weight;
  if (a < g->weight)
    memcpy(g->to + a, g->from + a, (size_t)(tsl_min(b, g->weight) - a) * sizeof *g->to);
  if (begin >= b) return;
  if (g->taken == NULL) {
    g->kernels->sack_again(g->from + begin, g->to + begin, b - begin, g->weight, g->value, NULL);
    return;
  }
  const int64_t first = tsl_min(b, g->lo + (begin - g->lo + 63) / 64 * 64);
  const int64_t words = (b - first) / 64, last = first + 64 * words;
  run_few(g, begin, first);
  g->kernels->sack_again(g->from + first, g->to + first, 64 * words, g->weight, g->value,
                         g->taken + (first - g->lo) / 64);
  run_few(g, last, b);
}

/** Columns that differ by multiples of the weight are a thread's own: it waits for no other. */
static void run_again(const again *g, int threads) {
  const int64_t n = g->hi - g->lo, period = tsl_min(g->weight, n);
  const int64_t most = tsl_min(threads, tsl_min(period / SHARE, n / LONG));
  if (g->taken != NULL) memset(g->taken, 0, (size_t)((n + 63) / 64) * sizeof *g->taken);
  if (most <= 1) {
    run_slice(g, g->lo, g->hi);
    return;
  }
#pragma omp parallel num_threads((int)most)
  for (int64_t c = g->lo; c < g->hi; c += period) {
    const int64_t thread = omp_get_thread_num(), all = omp_get_num_threads();
    const int64_t a = tsl_min(g->hi, c + period * thread / all);
    run_slice(g, a, tsl_min(g->hi, c + period * (thread + 1) / all));
  }
}

static tsl_err check_unbounded(const int64_t *weights, const int64_t *values, int64_t items,
                               const int64_t *from, int64_t hi, const uint64_t *taken) {
  tsl_err err = TSL_OK;
  if (taken != NULL && items != 1)
    TSL_FAIL(TSL_ERR_INTERNAL, "bits of %lld items at once", (long long)items);
  for (int64_t i = 0; i < items; i++) {
    const int64_t w = weights[i], v = values[i];
    int64_t most = 0;
    if (w < 0 || v < 0 || (w == 0 && v > 0))
      TSL_FAIL(TSL_ERR_INPUT,
               "an item of weight %lld and value %lld; weights must be > 0, values >= 0",
               (long long)w, (long long)v);
    if (v == 0 || w >= hi) continue;
    /* of several items none is worth more for its weight than the best of them */
    if (!tsl_mul_i64((hi - 1) / w + (items > 1), v, &most) ||
        !tsl_add_i64(most, from[hi - 1], &most))
      TSL_FAIL(TSL_ERR_NUMERIC, "an item of value %lld taken %lld times may exceed 63 bits",
               (long long)v, (long long)((hi - 1) / w));
  }
done:
  return err;
}

tsl_err dp_cpu_knapsack_unbounded(const dp_cpu *cpu, const int64_t *weights, const int64_t *values,
                                  int64_t items, const int64_t *from, int64_t *to, int64_t lo,
                                  int64_t hi, uint64_t *taken) {
  tsl_err err = TSL_OK;
  const int64_t n = hi - lo, vector = cpu->kernels->bytes / (int64_t)sizeof *to;
  heavy h = {.least = INT64_MAX};
  if (n <= 0) goto done;
  TSL_TRY(check_unbounded(weights, values, items, from, hi, taken));
  if (items == 1 && weights[0] >= LIGHT * vector) {
    run_again(&(again){cpu->kernels, weights[0], values[0], lo, hi, from, to, taken}, cpu->threads);
    goto done;
  }
  TSL_TRY(tsl_alloc(items, sizeof *h.weights, "items", (void **)&h.weights));
  TSL_TRY(tsl_alloc(items, sizeof *h.values, "items", (void **)&h.values));
  memcpy(to + lo, from + lo, (size_t)n * sizeof *to);
  for (int64_t i = 0; i < items; i++) {
    if (values[i] == 0 || weights[i] >= hi) continue;
    if (weights[i] < LIGHT * vector) {
      run_light(cpu->kernels, weights[i], values[i], to, lo, hi);
      continue;
    }
    h.weights[h.n] = weights[i], h.values[h.n++] = values[i];
    h.least = tsl_min(h.least, weights[i]);
  }
  if (h.n > 0) run_heavy(cpu, &h, to, lo, hi);
  if (taken != NULL) cpu->kernels->larger(to + lo, from + lo, n, taken);
done:
  TSL_FREE_ALL(h.weights, h.values);
  return err;
}
