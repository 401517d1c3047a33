/** @file dp_cpu_interval.c  Triangles of interval problems: opening them, and their values. */
#include "dp_cpu_interval.h"

#include <math.h>
#include <string.h>

static const int64_t kind_bytes[] = {sizeof(int16_t), sizeof(int32_t), sizeof(int64_t),
                                     sizeof(double)};

/* ------------------------------------------------------------------ numbers */

static void inside_put(const dp_cpu_interval *w, char *list, int64_t k, int64_t whole,
                       double real) {
  if (w->kind == DP_JOIN_I16) ((int16_t *)list)[k] = (int16_t)whole;
  if (w->kind == DP_JOIN_I32) ((int32_t *)list)[k] = (int32_t)whole;
  if (w->kind == DP_JOIN_I64) ((int64_t *)list)[k] = whole;
  if (w->kind == DP_JOIN_F64) ((double *)list)[k] = real;
}

static int64_t inside_whole(const dp_cpu_interval *w, const char *list, int64_t k) {
  if (w->kind == DP_JOIN_I16) return ((const int16_t *)list)[k];
  if (w->kind == DP_JOIN_I32) return ((const int32_t *)list)[k];
  if (w->kind == DP_JOIN_I64) return ((const int64_t *)list)[k];
  return (int64_t)((const double *)list)[k]; /* an integer below 2^53, when asked for */
}

static void outside_to(const dp_cpu_interval *w, const void *from, int64_t i, char *list,
                       int64_t k) {
  if (w->type == TSL_F64)
    inside_put(w, list, k, 0, ((const double *)from)[i]);
  else if (w->type == TSL_I64)
    inside_put(w, list, k, ((const int64_t *)from)[i], (double)((const int64_t *)from)[i]);
  else
    inside_put(w, list, k, ((const int32_t *)from)[i], ((const int32_t *)from)[i]);
}

static void to_outside(const dp_cpu_interval *w, const char *list, int64_t k, void *to, int64_t i) {
  if (w->type == TSL_F64)
    ((double *)to)[i] = ((const double *)list)[k];
  else if (w->type == TSL_I64)
    ((int64_t *)to)[i] = inside_whole(w, list, k);
  else
    ((int32_t *)to)[i] = (int32_t)inside_whole(w, list, k);
}

/* ------------------------------------------------------------------ opening */

/** Largest |value| of n numbers of the outer type. */
static double dp_cpu_interval_largest(tsl_type type, const void *list, int64_t n) {
  double most = 0;
  for (int64_t k = 0; k < n; k++) {
    const double x =
        type == TSL_F64 ? ((const double *)list)[k] : (double)((const int64_t *)list)[k];
    if (fabs(x) > most) most = fabs(x);
  }
  return most;
}

/** What no sum reaches. */
static double bound_of(const dp_cpu_interval_input *in) {
  const double n = (double)in->posts;
  if (in->problem == DP_MATRIX_CHAIN) {
    const double d = dp_cpu_interval_largest(TSL_I64, in->dims, in->posts);
    return (n + 1) * d * d * d;
  }
  const double weight = dp_cpu_interval_largest(in->type, in->high, in->posts) +
                        dp_cpu_interval_largest(in->type, in->low, in->posts);
  return (n + 1) * (weight + dp_cpu_interval_largest(in->type, in->gaps, in->posts - 1));
}

static tsl_err check_input(const dp_cpu_interval_input *in) {
  tsl_err err = TSL_OK;
  const bool chain = in->problem == DP_MATRIX_CHAIN, tree = in->problem == DP_SEARCH_TREE;
  if (in->posts < 1 || !(chain || tree || in->problem == DP_NUSSINOV || in->problem == DP_FOLD))
    TSL_FAIL(TSL_ERR_INTERNAL, "intervals of dp problem %d with %lld posts", (int)in->problem,
             (long long)in->posts);
  if (tree ? in->type != TSL_I64 && in->type != TSL_F64 : in->type != (chain ? TSL_I64 : TSL_I32))
    TSL_FAIL(TSL_ERR_INTERNAL, "intervals of %s values", tsl_type_name(in->type));
  for (int64_t k = 0; chain && k < in->posts; k++)
    if (in->dims[k] < 0)
      TSL_FAIL(TSL_ERR_INPUT, "dimension %lld is %lld; it may not be negative", (long long)k,
               (long long)in->dims[k]);
  for (int64_t k = 0; in->problem == DP_NUSSINOV && k < in->posts - 1; k++)
    if (in->letters[k] >= 32)
      TSL_FAIL(TSL_ERR_INPUT, "letter %lld is %d; allowed are 0 to 31", (long long)k + 1,
               (int)in->letters[k]);
done:
  return err;
}

/** Integers of trees are faster than doubles only where vectors have a minimum of 64 bits. */
static tsl_err choose_kind(const dp_cpu *cpu, const dp_cpu_interval_input *in, dp_join_type *kind) {
  tsl_err err = TSL_OK;
  const bool integers = in->problem == DP_SEARCH_TREE && cpu->kernels->level == 4;
  *kind = DP_JOIN_F64;
  if (in->problem == DP_NUSSINOV) {
    *kind = in->posts / 2 < INT16_MAX / 2 ? DP_JOIN_I16 : DP_JOIN_I32;
    goto done;
  }
  if (in->problem == DP_FOLD) {
    *kind = DP_JOIN_I32;
    goto done;
  }
  if (in->type == TSL_F64 || (bound_of(in) < 0x1p53 && !integers)) goto done;
  *kind = DP_JOIN_I64;
  if (!(bound_of(in) < 0x1p61))
    TSL_FAIL(TSL_ERR_NUMERIC, "costs up to %.3g are possible; they must stay below 2^61",
             bound_of(in));
done:
  return err;
}

static tsl_err copy_list(const dp_cpu_interval *w, const void *from, int64_t n, char **out) {
  tsl_err err = TSL_OK;
  if (from == NULL) goto done;
  TSL_TRY(
      tsl_alloc(w->tiles * DP_SIDE, (size_t)w->size, "list of an interval problem", (void **)out));
  for (int64_t k = 0; k < n; k++) outside_to(w, from, k, *out, k);
done:
  return err;
}

void dp_cpu_interval_begin(dp_cpu_interval *w) {
  const bool max = w->problem == DP_NUSSINOV;
  const int64_t tile_count = w->tiles * (w->tiles + 1) / 2;
  const int64_t worst = w->kind == DP_JOIN_I16   ? INT16_MIN / 2
                        : w->kind == DP_JOIN_I32 ? INT32_MIN / 2
                                                 : INT64_C(1) << 61;
#pragma omp parallel for num_threads(w->cpu.threads)
  for (int64_t t = 0; t < tile_count; t++) {
    char *tile = w->values + t * DP_SIDE * DP_SIDE * w->size;
    for (int64_t k = 0; k < DP_SIDE * DP_SIDE; k++) inside_put(w, tile, k, worst, INFINITY);
  }
  for (int64_t a = 0; max && a < w->posts; a++) inside_put(w, interval_at(w, a, a), 0, 0, 0);
  if (w->fold != NULL) dp_cpu_fold_begin(w->fold);
}

tsl_err dp_cpu_interval_open(const dp_cpu *cpu, const dp_cpu_interval_input *in,
                             dp_cpu_interval **out) {
  tsl_err err = TSL_OK;
  dp_cpu_interval *w = NULL;
  int64_t count = 0;
  *out = NULL;
  TSL_TRY(check_input(in));
  TSL_TRY(tsl_alloc(1, sizeof *w, "interval problem", (void **)&w));
  w->cpu = *cpu;
  w->problem = in->problem;
  w->type = in->type;
  w->posts = in->posts;
  w->tiles = (in->posts + DP_SIDE - 1) / DP_SIDE;
  TSL_TRY(choose_kind(cpu, in, &w->kind));
  w->size = kind_bytes[w->kind];
  if (!tsl_mul_i64(w->tiles, w->tiles + 1, &count) ||
      !tsl_mul_i64(count / 2, DP_SIDE * DP_SIDE, &count))
    TSL_FAIL(TSL_ERR_INPUT, "%lld posts are too many", (long long)in->posts);
  TSL_TRY(
      tsl_alloc(count, (size_t)w->size, "triangle of an interval problem", (void **)&w->values));
  const bool chain = in->problem == DP_MATRIX_CHAIN, tree = in->problem == DP_SEARCH_TREE;
  if (chain) TSL_TRY(copy_list(w, in->dims, in->posts, &w->d));
  if (tree) TSL_TRY(copy_list(w, in->gaps, in->posts - 1, &w->base));
  if (tree) TSL_TRY(copy_list(w, in->high, in->posts, &w->high));
  if (tree) TSL_TRY(copy_list(w, in->low, in->posts, &w->low));
  if (in->problem == DP_NUSSINOV) {
    TSL_TRY(tsl_alloc(in->posts, 1, "letters", (void **)&w->letters));
    if (in->posts > 1) memcpy(w->letters, in->letters, (size_t)in->posts - 1);
  }
  if (in->problem == DP_FOLD) TSL_TRY(dp_cpu_fold_open(cpu, in, &w->fold));
  memcpy(w->pairs, in->pairs, sizeof w->pairs);
  w->span = in->span;
  dp_cpu_interval_begin(w);
  *out = w;
done:
  if (err != TSL_OK) dp_cpu_interval_close(&w);
  return err;
}

void dp_cpu_interval_close(dp_cpu_interval **interval) {
  dp_cpu_interval *w = *interval;
  if (w == NULL) return;
  dp_cpu_fold_close(&w->fold);
  TSL_FREE_ALL(w->values, w->d, w->base, w->high, w->low, w->letters, w);
  *interval = NULL;
}

/* ------------------------------------------------------------------ values */

void dp_cpu_interval_get(const dp_cpu_interval *w, const dp_box *box, void *values) {
  if (w->fold != NULL) {
    dp_cpu_fold_get(w, box, values);
    return;
  }
  const int64_t columns = box->hi[1] - box->lo[1];
  const int64_t bytes = (box->hi[0] - box->lo[0]) * columns * (int64_t)tsl_type_bytes(w->type);
  if (bytes > 0) memset(values, 0, (size_t)bytes);
  for (int64_t a = box->lo[0]; a < box->hi[0]; a++)
    for (int64_t b = a + 1 > box->lo[1] ? a + 1 : box->lo[1]; b < box->hi[1]; b++)
      to_outside(w, interval_at(w, a, b), 0, values, (a - box->lo[0]) * columns + b - box->lo[1]);
}

void dp_cpu_interval_put(dp_cpu_interval *w, const dp_box *box, const void *values) {
  const int64_t columns = box->hi[1] - box->lo[1];
  for (int64_t a = box->lo[0]; a < box->hi[0]; a++)
    for (int64_t b = a + 1 > box->lo[1] ? a + 1 : box->lo[1]; b < box->hi[1]; b++)
      outside_to(w, values, (a - box->lo[0]) * columns + b - box->lo[1], interval_at(w, a, b), 0);
}
