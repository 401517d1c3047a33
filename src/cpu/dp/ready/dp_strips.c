/** @file dp_strips.c  Strips of a band of diagonals: what enters each, and the way back. */
#include "dp_strips.h"

#include "dp_kernels.h"
#include "integers.h"

#include <string.h>

/** Rows of a piece for each thread, a multiple of the blocks of engines: threads, one strip of
 *  columns after the other, are in step for most of it. */
enum { PIECE = 2048 };

/** A strip being computed: a problem of its own, whose rows are the strip's. */
typedef struct strip {
  dp_strip at;
  dp_params p;
  tsl_problem problem;
  tsl_worker w;
  void *engine;
} strip;

static int64_t rows_of(const dp_strip *at) {
  return at->rows[1] - at->rows[0];
}

static const uint32_t *bits_of(const void *edge) {
  return edge;
}

/** Cost or score of letters of b alone along the top, of a alone along the left side. */
static int64_t alone(const dp_params *p, int64_t letters, bool of_a) {
  return dp_goal_score(p, dp_gap_score(p, letters, of_a));
}

/* ---- sizes */

dp_strips_cut dp_strips_cut_of(const tsl_worker *w, int64_t k) {
  const dp_params *p = w->dp.c.p;
  const bool bits = dp_edge_is_bits(p);
  const int64_t vector = w->cpu.kernels->bytes;
  const int64_t narrow = bits ? 8 * vector : DP_COLUMNS * vector;
  const int64_t wide = bits ? DP_WORDS * narrow : 2 * narrow;
  const int64_t each = bits ? 2 * wide : wide; /* of several threads, which have wide words then */
  const int threads = (int)tsl_max(1, tsl_min(w->cpu.threads, 2 * k / each));
  const int64_t columns = threads > 1 ? each * threads : 2 * k <= narrow ? narrow : wide;
  const int64_t width = tsl_max(64, tsl_min(columns, p->m / 32 / 64 * 64));
  return (dp_strips_cut){k, width, dp_strips_number(p, width), (int64_t)PIECE * threads, threads};
}

static int64_t pieces_of(const dp_strips_cut *cut, const dp_strip *at) {
  return tsl_divide_up(rows_of(at), cut->piece);
}

double dp_strips_bytes(const tsl_worker *w, const dp_strips_cut *cut) {
  const dp_params *p = w->dp.c.p;
  double bytes = (double)w->dp.bands.engine->keep_bytes(w, cut->piece, cut->width);
  for (int64_t s = 0; s < cut->n; s++) {
    const dp_strip at = dp_strip_of(p, cut->k, cut->width, s);
    bytes += (double)dp_edge_size(p, rows_of(&at));
    bytes += (double)(pieces_of(cut, &at) * dp_state_bytes(p, cut->width));
  }
  return bytes;
}

double dp_strips_again(const tsl_worker *w, const dp_strips_cut *cut) {
  double cells = 0;
  for (int64_t s = 0; s < cut->n; s++) {
    const dp_strip at = dp_strip_of(w->dp.c.p, cut->k, cut->width, s);
    const int64_t columns = at.columns[1] - at.columns[0];
    cells += (double)columns * (double)tsl_min(rows_of(&at), columns + cut->piece);
  }
  return cells;
}

/* ---- one strip */

static void strip_close(const dp_strips *strips, strip **t) {
  if (*t == NULL) return;
  dp_band_engine_close(strips->engine, &(*t)->engine);
  tsl_free(*t);
  *t = NULL;
}

/** Values along the top where it is not the table's; bits begin with them. */
static tsl_err put_top(const dp_strips *strips, strip *t, int64_t corner) {
  tsl_err err = TSL_OK;
  const int64_t columns = t->at.columns[1] - t->at.columns[0];
  int32_t *state = NULL;
  if (t->at.rows[0] == 0 || dp_edge_is_bits(&t->p)) return TSL_OK;
  TSL_TRY(tsl_alloc(2 * columns, sizeof *state, "row of a strip", (void **)&state));
  for (int64_t j = 0; j < columns; j++) {
    state[j] = (int32_t)(corner + alone(&t->p, j + 1, false));
    state[columns + j] = DP_MINUS_INFINITY;
  }
  TSL_TRY(strips->engine->state_put(t->engine, 0, state));
done:
  tsl_free(state);
  return err;
}

static tsl_err strip_open(const dp_strips *strips, int64_t s, strip **out) {
  tsl_err err = TSL_OK;
  const tsl_problem *whole = strips->w->dp.c.problem;
  strip *t = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *t, "strip", (void **)&t));
  t->at = dp_strip_of(strips->w->dp.c.p, strips->cut.k, strips->cut.width, s);
  t->p = *strips->w->dp.c.p;
  t->p.n = rows_of(&t->at);
  t->problem.params = &t->p;
  t->problem.fields[DP_A].data = (uint8_t *)whole->fields[DP_A].data + t->at.rows[0];
  t->problem.fields[DP_B].data = whole->fields[DP_B].data;
  dp_context_set(&t->w.dp.c, &t->problem, &t->w, &dp_memory_host, NULL);
  t->w.cpu = strips->w->cpu;
  t->w.cpu.threads = strips->cut.threads;
  TSL_TRY(dp_band_engine_open(strips->engine, &t->w.dp.c,
                              &(dp_box){{0, t->at.columns[0]}, {t->p.n, t->at.columns[1]}},
                              &t->engine));
  TSL_TRY(put_top(strips, t, strips->sides[s].corner));
  *out = t;
  t = NULL;
done:
  strip_close(strips, &t);
  return err;
}

/* ---- from the right side of a strip to the left side of the next */

/** Sum of the differences of the first rows. */
static int64_t sum_bits(const dp_params *p, const void *edge, int64_t rows_all, int64_t rows) {
  const int64_t words = dp_bit_words(rows_all);
  int64_t sum = 0;
  for (int part = 0; part < dp_bit_parts(p); part++)
    for (int64_t w = 0; 32 * w < rows; w++) {
      const uint32_t mask = rows - 32 * w >= 32 ? ~0u : (1u << (rows - 32 * w)) - 1;
      const int bits = __builtin_popcount(bits_of(edge)[part * words + w] & mask);
      sum += part == 0 ? bits : -bits;
    }
  return sum;
}

/** Bits of rows that the strip before has not: as if its last value went on (LCS), or grew by one a
 *  row (EDIT). */
static void next_bits(const dp_params *p, const dp_strip *from, const dp_strip *to,
                      const uint32_t *right, uint32_t *left) {
  const int64_t words[2] = {dp_bit_words(rows_of(from)), dp_bit_words(rows_of(to))};
  const int64_t skip = (to->rows[0] - from->rows[0]) / 32, known = from->rows[1] - to->rows[0];
  for (int part = 0; part < dp_bit_parts(p); part++) {
    const uint32_t beyond = p->problem == DP_EDIT && part == 0 ? ~0u : 0;
    for (int64_t w = 0; w < words[1]; w++) {
      const int64_t rest = known - 32 * w;
      const uint32_t mask = rest >= 32 ? ~0u : rest > 0 ? (1u << rest) - 1 : 0;
      const uint32_t have = mask != 0 ? right[part * words[0] + skip + w] : 0;
      left[part * words[1] + w] = (have & mask) | (beyond & ~mask);
    }
  }
}

/** The same of values; of an affine gap no more is known than that it may begin anew. */
static void next_values(const dp_params *p, const dp_strip *from, const dp_strip *to,
                        const int32_t *right, int32_t *left) {
  const int64_t skip = to->rows[0] - from->rows[0], known = from->rows[1] - to->rows[0];
  const int64_t size = dp_edge_entry(p) / (int64_t)sizeof *left;
  for (int64_t i = 0; i <= rows_of(to); i++) {
    const int32_t *entry = right + size * (skip + tsl_min(i, known));
    left[size * i] = (int32_t)(entry[0] + alone(p, tsl_max(i - known, 0), true));
    if (size > 1) left[size * i + 1] = i > 0 && i <= known ? entry[1] : DP_MINUS_INFINITY;
  }
}

/** The side of strip s + 1. */
static tsl_err next_side(const dp_strips *strips, int64_t s, const strip *t) {
  tsl_err err = TSL_OK;
  dp_strip_side *side = &strips->sides[s + 1];
  const dp_params *p = strips->w->dp.c.p;
  const dp_strip to = dp_strip_of(p, strips->cut.k, strips->cut.width, s + 1);
  const void *right = strips->right.data;
  if (s + 1 == strips->cut.n) return TSL_OK;
  TSL_TRY(dp_reserve(&t->w.dp.c, &side->edge, dp_edge_size(p, rows_of(&to)), "side of a strip"));
  if (dp_edge_is_bits(p)) {
    side->corner = strips->sides[s].corner + alone(p, t->at.columns[1] - t->at.columns[0], false) +
                   sum_bits(p, right, rows_of(&t->at), to.rows[0] - t->at.rows[0]);
    next_bits(p, &t->at, &to, right, side->edge.data);
  } else {
    next_values(p, &t->at, &to, right, side->edge.data);
    side->corner = *(const int32_t *)side->edge.data;
  }
done:
  return err;
}

/* ---- pieces of rows */

static tsl_err tell(dp_strips_progress *progress, double cells) {
  tsl_err err = TSL_OK;
  progress->done += cells;
  if (!progress->step->tell(progress->step, progress->done / progress->likely))
    TSL_FAIL(TSL_ERR_STOPPED, "dp: a band is left");
done:
  return err;
}

/** Rows [lo, hi) of a strip. keep: for the way back; else their right side is added to right. */
static tsl_err run_piece(dp_strips *strips, int64_t s, const strip *t, int64_t lo, int64_t hi,
                         bool keep) {
  tsl_err err = TSL_OK;
  const dp_context *c = &t->w.dp.c;
  const int64_t rows = rows_of(&t->at), bytes = dp_edge_size(&t->p, hi - lo);
  char *edge = strips->sides[s].edge.data, *left = NULL;
  if (edge != NULL) {
    TSL_TRY(dp_reserve(c, &strips->part[0], bytes, "side of a piece"));
    left = strips->part[0].data;
    TSL_TRY(dp_edge_move(c, edge, rows, lo, hi, left, true));
  }
  TSL_TRY(dp_reserve(c, &strips->part[1], bytes, "side of a piece"));
  TSL_TRY(dp_band_engine_tile(strips->engine, t->engine, lo, hi, left, strips->part[1].data, keep,
                              (dp_window){NULL, 0}));
  if (!keep)
    TSL_TRY(dp_edge_move(c, strips->right.data, rows, lo, hi, strips->part[1].data, false));
  TSL_TRY(
      tell(strips->progress, (double)(hi - lo) * (double)(t->at.columns[1] - t->at.columns[0])));
done:
  return err;
}

static tsl_err run_strip(dp_strips *strips, int64_t s, const strip *t) {
  tsl_err err = TSL_OK;
  dp_strip_side *side = &strips->sides[s];
  const int64_t rows = rows_of(&t->at), piece = strips->cut.piece;
  const bool recover = t->p.mode == DP_RECOVER;
  side->state = dp_state_bytes(&t->p, t->at.columns[1] - t->at.columns[0]);
  if (recover)
    TSL_TRY(tsl_alloc(pieces_of(&strips->cut, &t->at), (size_t)side->state, "rows of a strip",
                      (void **)&side->tops));
  TSL_TRY(dp_reserve(&t->w.dp.c, &strips->right, dp_edge_size(&t->p, rows), "edge"));
  for (int64_t lo = 0; lo < rows; lo += piece) {
    if (recover)
      TSL_TRY(strips->engine->state_get(t->engine, side->tops + lo / piece * side->state));
    TSL_TRY(run_piece(strips, s, t, lo, tsl_min(lo + piece, rows), false));
  }
done:
  return err;
}

/* ---- all strips */

void dp_strips_clear(dp_strips *strips) {
  for (int64_t s = 0; strips->sides != NULL && s <= strips->cut.n; s++) {
    dp_release(&strips->w->dp.c, &strips->sides[s].edge);
    tsl_free(strips->sides[s].tops);
  }
  if (strips->w != NULL) {
    dp_release(&strips->w->dp.c, &strips->right);
    for (int k = 0; k < 2; k++) dp_release(&strips->w->dp.c, &strips->part[k]);
  }
  tsl_free(strips->sides);
  *strips = (dp_strips){0};
}

/** The goal; a strip of bits knows the differences along its last row only. */
static tsl_err goal_of(const dp_strips *strips, const strip *t, int64_t *goal) {
  tsl_err err = TSL_OK;
  const dp_strip_side *side = &strips->sides[strips->cut.n - 1];
  double part = 0;
  TSL_TRY(strips->engine->goal(t->engine, true, &part));
  *goal = (int64_t)part;
  if (dp_edge_is_bits(&t->p) && side->edge.data != NULL)
    *goal += side->corner + sum_bits(&t->p, side->edge.data, rows_of(&t->at), rows_of(&t->at));
done:
  return err;
}

tsl_err dp_strips_run(const tsl_worker *w, int64_t k, dp_strips_progress *progress, dp_strips *out,
                      int64_t *goal) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->dp.c.p;
  strip *t = NULL;
  const dp_strips_cut cut = dp_strips_cut_of(w, k);
  *out = (dp_strips){.w = w, .progress = progress, .engine = w->dp.bands.engine, .cut = cut};
  TSL_TRY(tsl_alloc(cut.n + 1, sizeof *out->sides, "sides of strips", (void **)&out->sides));
  for (int64_t s = 0; s < cut.n; s++) {
    TSL_TRY(strip_open(out, s, &t));
    TSL_TRY(run_strip(out, s, t));
    TSL_TRY(next_side(out, s, t));
    out->cells += (double)rows_of(&t->at) * (double)(t->at.columns[1] - t->at.columns[0]);
    if (s + 1 == cut.n) TSL_TRY(goal_of(out, t, goal));
    strip_close(out, &t);
    if (p->mode != DP_RECOVER) dp_release(&w->dp.c, &out->sides[s].edge);
  }
done:
  strip_close(out, &t);
  return err;
}

/* ---- the way back */

/** Through the pieces of a strip that the way meets, from the last on. */
static tsl_err walk_strip(dp_strips *strips, int64_t s, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const dp_strip_side *side = &strips->sides[s];
  const int64_t before = steps->n, rows = strips->cut.piece;
  strip *t = NULL;
  TSL_TRY(strip_open(strips, s, &t));
  cursor->at[0] -= t->at.rows[0];
  while (cursor->at[0] > 0 && cursor->at[1] > t->at.columns[0]) {
    const int64_t piece = (cursor->at[0] - 1) / rows, lo = piece * rows;
    TSL_TRY(strips->engine->state_put(t->engine, lo, side->tops + piece * side->state));
    TSL_TRY(run_piece(strips, s, t, lo, tsl_min(lo + rows, rows_of(&t->at)), true));
    TSL_TRY(strips->engine->trace(t->engine, cursor, steps));
  }
  cursor->at[0] += t->at.rows[0];
  for (int64_t k = before; k < steps->n && t->p.problem == DP_LCS; k++)
    steps->at[k][0] += t->at.rows[0];
  if (cursor->at[1] > t->at.columns[0] && cursor->at[0] > 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: the way back leaves a certain band at row %lld, column %lld",
             (long long)cursor->at[0], (long long)cursor->at[1]);
done:
  strip_close(strips, &t);
  return err;
}

tsl_err dp_strips_walk(dp_strips *strips, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const dp_params *p = strips->w->dp.c.p;
  tsl_cursor cursor = {.at = {p->n, p->m}};
  for (int64_t s = strips->cut.n - 1; s >= 0 && cursor.at[0] > 0 && cursor.at[1] > 0; s--)
    TSL_TRY(walk_strip(strips, s, &cursor, steps));
done:
  return err;
}
