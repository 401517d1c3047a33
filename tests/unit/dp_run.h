/* Compiled recurrences in tests: text, object, and a whole table computed by one engine. */
#pragma once

#include "dp_emit.h"
#include "dp_random.h"
#include "lang_compile.h"

/** A compiled recurrence and the table it filled. */
typedef struct compiled {
  dp_recurrence *r;
  dp_code code;
  dp_args args;
  char *text;
  lang_object *object;
  size_t bytes; /**< of a value */
  char *table;  /**< [P][Q] */
  int bad;
  char best[8];
  int64_t best_p, best_q;
} compiled;

static inline tsl_err compiled_open(const draft *d, dp_pattern pattern, compiled *c) {
  memset(c, 0, sizeof *c);
  tsl_err err = draft_finish(d, &c->r);
  if (err == TSL_OK) err = dp_code_plan(c->r, pattern, &c->code);
  if (err == TSL_OK) err = dp_emit(c->r, DP_TARGET_C, &c->code, &c->text);
  if (err == TSL_OK) err = lang_object_open(c->text, 0, &dp_purpose, &c->object);
  if (err != TSL_OK) return err;
  dp_code_args(c->r, &c->args);
  c->bytes = tsl_type_bytes((tsl_type)c->code.type);
  c->table = calloc((size_t)(c->code.P * c->code.Q) + 1, c->bytes);
  return TSL_OK;
}

static inline void compiled_close(compiled *c) {
  dp_recurrence_destroy(&c->r);
  lang_object_close(&c->object);
  tsl_free(c->text);
  free(c->table);
}

static inline char *compiled_at(compiled *c, int64_t p, int64_t q) {
  return c->table + (size_t)(p * c->code.Q + q) * c->bytes;
}

static inline void *compiled_find(const compiled *c, const char *name) {
  void *address = NULL;
  if (lang_object_find(c->object, name, &address) != TSL_OK) fail_msg("%s", tsl_err_message());
  return address;
}

/** Rows in order, each in two or three parts. */
static inline void compiled_rows(compiled *c, uint64_t *seed) {
  dp_row_fn *const row = (dp_row_fn *)compiled_find(c, "tsl_dp_row");
  void *rows[DP_DEPTH_ROWS + 1];
  for (int64_t p = 0; p < c->code.P; p++) {
    for (int d = 0; d <= DP_DEPTH_ROWS; d++) rows[d] = p - d >= 0 ? compiled_at(c, p - d, 0) : NULL;
    for (int64_t q = 0; q < c->code.Q;) {
      int64_t end = q + 1 + random_below(seed, (int)c->code.Q);
      if (end > c->code.Q) end = c->code.Q;
      c->bad |= row(&c->args, rows, c->code.Q, p, q, end);
      q = end;
    }
  }
}

/** Tiles of random sizes, row by row of tiles. */
static inline void compiled_tiles(compiled *c, uint64_t *seed) {
  dp_tile_fn *const tile = (dp_tile_fn *)compiled_find(c, "tsl_dp_tile");
  for (int64_t p = 0; p < c->code.P;) {
    int64_t down = p + 1 + random_below(seed, 30);
    if (down > c->code.P) down = c->code.P;
    for (int64_t q = 0; q < c->code.Q;) {
      int64_t end = q + 1 + random_below(seed, random_below(seed, 2) == 0 ? 9 : 200);
      if (end > c->code.Q) end = c->code.Q;
      c->bad |= tile(&c->args, c->table, c->code.Q, p, down, q, end);
      q = end;
    }
    p = down;
  }
}

static inline void compiled_edge(compiled *c, int64_t p0, int64_t p1, int64_t q0, int64_t q1) {
  dp_edge_fn *const edge = (dp_edge_fn *)compiled_find(c, "tsl_dp_edge");
  char *out = calloc((size_t)((p1 - p0) * (q1 - q0)) + 1, c->bytes);
  c->bad |= edge(&c->args, p0, p1, q0, q1, out);
  for (int64_t p = p0; p < p1; p++)
    memcpy(compiled_at(c, p, q0), out + (size_t)((p - p0) * (q1 - q0)) * c->bytes,
           (size_t)(q1 - q0) * c->bytes);
  free(out);
}

/** One tile of the wavefront from the table's own edges; its outgoing edges must be the table's. */
static inline void compiled_wave_tile(compiled *c, int64_t p0, int64_t p1, int64_t q0, int64_t q1) {
  dp_wave_fn *const wave = (dp_wave_fn *)compiled_find(c, "tsl_dp_wave");
  const size_t m = (size_t)(q1 - q0), n = (size_t)(p1 - p0), b = c->bytes;
  char *top = calloc(m + 1, b), *left = calloc(n + 1, b);
  if (p0 > 0) memcpy(top, compiled_at(c, p0 - 1, q0), m * b);
  for (int64_t p = p0 - 1; p < p1; p++)
    if (q0 > 0 && p >= 0) memcpy(left + (size_t)(p - p0 + 1) * b, compiled_at(c, p, q0 - 1), b);
  dp_wave w = {.p0 = p0, .p1 = p1, .q0 = q0, .q1 = q1, .top = top, .left = left};
  w.table = compiled_at(c, p0, q0), w.stride = c->code.Q;
  w.best = c->best, w.best_p = c->best_p, w.best_q = c->best_q;
  c->bad |= wave(&c->args, &w);
  c->best_p = w.best_p, c->best_q = w.best_q;
  assert_memory_equal(top, compiled_at(c, p1 - 1, q0), m * b);
  for (int64_t p = p0 - 1; p < p1; p++)
    if (p >= 0) assert_memory_equal(left + (size_t)(p - p0 + 1) * b, compiled_at(c, p, q1 - 1), b);
  free(top);
  free(left);
}

static inline int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline void compiled_wave(compiled *c, uint64_t *seed) {
  const int64_t P = c->code.P, Q = c->code.Q;
  const int64_t mp = smaller(c->code.margin_p, P), mq = smaller(c->code.margin_q, Q);
  c->best_p = c->best_q = -1;
  compiled_edge(c, 0, mp, 0, Q);
  compiled_edge(c, mp, P, 0, mq);
  for (int64_t p = mp, down; p < P; p = down) {
    down = smaller(P, p + 1 + random_below(seed, 300));
    for (int64_t q = mq, end; q < Q; q = end) {
      end = smaller(Q, q + 1 + random_below(seed, 400));
      compiled_wave_tile(c, p, down, q, end);
    }
  }
}

/** Fill the table with the engine of the code. */
static inline void compiled_run(compiled *c, uint64_t *seed) {
  if (c->code.engine == DP_ROWS)
    compiled_rows(c, seed);
  else if (c->code.engine == DP_WAVEFRONT)
    compiled_wave(c, seed);
  else
    compiled_tiles(c, seed);
}

/** Value of cell (i, j) as the interpreter would have it. */
static inline dp_value compiled_value(compiled *c, int64_t i, int64_t j) {
  int64_t p, q;
  dp_value v = {0};
  dp_code_fold(&c->code, i, j, &p, &q);
  const char *at = compiled_at(c, p, q);
  switch (c->code.type) {
  case TSL_I16:
    v.whole = *(const int16_t *)at;
    break;
  case TSL_I32:
    v.whole = *(const int32_t *)at;
    break;
  case TSL_I64:
    v.whole = *(const int64_t *)at;
    break;
  case TSL_F32:
    v.real = *(const float *)at;
    break;
  default:
    v.real = *(const double *)at;
    break;
  }
  return v;
}
