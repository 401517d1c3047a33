/** @file dp_bands_region.c  The traceback through a part of the table within dp.memory. */
#include "dp_bands_region.h"

#include "dp_space.h"
#include "integers.h"

/** A part of a state or of an edge: entries from `at` on of all its n; at is a multiple of 32. */
typedef struct side {
  const void *data; /**< memory of the device, not owned; NULL: the boundary left of the table */
  int64_t n, at;
} side;

/** Cells, letters from 0, with the state above them and their left edge. */
typedef struct region {
  dp_box cells;
  side top, left;
} region;

/** A traceback under way. */
typedef struct walk {
  dp_bands *bands;
  tsl_cursor *cursor;
  dp_steps *steps;
  int64_t memory;      /**< bytes left for what is kept */
  int64_t pair;        /**< LOCAL: largest score of a pair, at least 0 */
  dp_buffer top, left; /**< state and edge that a tile begins with */
} walk;

static int64_t length_of(const region *r, int axis) {
  return r->cells.hi[axis] - r->cells.lo[axis];
}

/* ---- tiles of a region */

/** Queue: the state above the region's columns to w->top. */
static tsl_err cut_top(walk *w, const region *r) {
  tsl_err err = TSL_OK;
  const dp_context *c = w->bands->c;
  const int64_t columns = length_of(r, 1), whole = w->bands->engine->state_bytes(c->p, r->top.n);
  const bool bits = dp_state_is_bits(c->p);
  const int64_t entry = bits || c->p->problem != DP_DTW ? 4 : c->bytes;
  const int64_t n = bits ? dp_bit_words(columns) : columns, at = bits ? r->top.at / 32 : r->top.at;
  const int64_t step = entry * (bits ? dp_bit_words(r->top.n) : r->top.n);
  TSL_TRY(dp_reserve(c, &w->top, whole, "row of a region"));
  for (int64_t part = 0; part < whole / step; part++)
    TSL_TRY(dp_copy(c, (char *)w->top.data + part * n * entry,
                    (const char *)r->top.data + part * step + at * entry, n * entry,
                    DP_COPY_WITHIN));
done:
  return err;
}

/** Queue: the left edge of the region's rows to w->left. *left: NULL: the boundary. */
static tsl_err cut_left(walk *w, const region *r, const void **left) {
  tsl_err err = TSL_OK;
  const dp_context *c = w->bands->c;
  const int64_t rows = length_of(r, 0);
  if (r->left.data == NULL) return dp_bands_side(w->bands, rows, left);
  TSL_TRY(dp_reserve(c, &w->left, dp_edge_size(c->p, r->left.n), "edge of a region"));
  TSL_TRY(dp_edge_move(c, (char *)r->left.data, r->left.n, r->left.at, r->left.at + rows,
                       w->left.data, true));
  *left = w->left.data;
done:
  return err;
}

/** Are cells left out from which the path to the cursor does not come? */
static bool is_aimed(const walk *w) {
  return w->bands->engine->aim != NULL && w->bands->c->p->problem == DP_LOCAL;
}

/** Queue: an edge tells the next region nothing of the score that was aimed at. */
static tsl_err forget_score(const dp_context *c, dp_buffer *edge) {
  static const int32_t none = DP_MINUS_INFINITY;
  return dp_copy(c, (int32_t *)edge->data + 1, &none, sizeof none, DP_COPY_IN);
}

/** Queue the region as one tile. @param[out] engine  the caller's to close */
static tsl_err run_region(walk *w, const region *r, void *right, bool keep, void **engine) {
  tsl_err err = TSL_OK;
  const dp_band_engine *e = w->bands->engine;
  dp_box cells = r->cells;
  const void *left = NULL;
  if (r->left.data == NULL && w->bands->c->p->problem != DP_LOCAL)
    cells.lo[0] = 0; /* the boundary counts from the first row */
  TSL_TRY(e->open(w->bands->c->worker, &cells, engine));
  if (is_aimed(w)) TSL_TRY(e->aim(*engine, w->cursor->at, w->cursor->at[DP_CURSOR_SCORE]));
  TSL_TRY(cut_top(w, r));
  TSL_TRY(e->state_put(*engine, r->cells.lo[0], w->top.data));
  TSL_TRY(cut_left(w, r, &left));
  w->bands->again += (double)length_of(r, 0) * (double)length_of(r, 1);
  TSL_TRY(
      e->tile(*engine, r->cells.lo[0], r->cells.hi[0], left, right, keep, (dp_window){NULL, 0}));
done:
  return err;
}

/* ---- one region */

/** All decisions of the region at once. */
static tsl_err follow(walk *w, const region *r) {
  tsl_err err = TSL_OK;
  void *engine = NULL;
  TSL_TRY(run_region(w, r, NULL, true, &engine));
  TSL_TRY(w->bands->engine->trace(engine, w->cursor, w->steps));
done:
  w->bands->engine->close(&engine);
  return err;
}

/** The first half of the region, whose lower state or right edge is kept for the other. */
static tsl_err keep_half(walk *w, const region *half, int axis, dp_buffer *kept) {
  tsl_err err = TSL_OK;
  const dp_context *c = w->bands->c;
  void *engine = NULL;
  const int64_t bytes = axis == 1 ? dp_edge_size(c->p, length_of(half, 0))
                                  : w->bands->engine->state_bytes(c->p, length_of(half, 1));
  char have[24];
  w->memory -= bytes;
  if (w->memory < 0)
    TSL_FAIL(TSL_ERR_MEMORY,
             "dp.memory: %s is too little to recover the solution on this rank: nothing of it is "
             "left for the sides of a region of %lld x %lld cells; raise it, or use more ranks",
             tsl_bytes_text((double)c->p->budget, have), (long long)length_of(half, 0),
             (long long)length_of(half, 1));
  TSL_TRY(dp_reserve(c, kept, bytes, "side of a region"));
  TSL_TRY(run_region(w, half, axis == 1 ? kept->data : NULL, false, &engine));
  if (axis == 0) TSL_TRY(w->bands->engine->state_get(engine, kept->data));
  if (axis == 1 && is_aimed(w)) TSL_TRY(forget_score(c, kept));
done:
  w->bands->engine->close(&engine);
  return err;
}

static tsl_err trace_region(walk *w, region r);

static tsl_err trace_halves(walk *w, const region *r, int axis) {
  tsl_err err = TSL_OK;
  const int64_t half = (length_of(r, axis) / 2 + 63) / 64 * 64, before = w->memory;
  region first = *r, second = *r;
  dp_buffer kept = {NULL, 0};
  first.cells.hi[axis] = second.cells.lo[axis] = r->cells.lo[axis] + half;
  TSL_TRY(keep_half(w, &first, axis, &kept));
  if (axis == 1) {
    second.top.at += half;
    second.left = (side){kept.data, length_of(r, 0), 0};
  } else {
    second.left.at += half;
    second.top = (side){kept.data, length_of(r, 1), 0};
  }
  TSL_TRY(trace_region(w, second));
  dp_release(w->bands->c, &kept);
  w->memory = before;
  TSL_TRY(trace_region(w, first));
done:
  dp_release(w->bands->c, &kept);
  return err;
}

/** Do the decisions fit, also into half of what the device has left? */
static bool fits(const walk *w, const region *r) {
  const dp_context *c = w->bands->c;
  const int64_t left = c->memory->left != NULL ? c->memory->left(c->device) : INT64_MAX;
  const int64_t rows = length_of(r, 0), columns = length_of(r, 1);
  return (rows <= DP_SPACE_LEAST && columns <= DP_SPACE_LEAST) ||
         w->bands->engine->keep_bytes(c->worker, rows, columns) <= tsl_min(w->memory, left / 2);
}

/** Of the region, what lies left of the cursor and above it; nothing where the path does not come
 *  there. */
static tsl_err trace_region(walk *w, region r) {
  for (int axis = 0; axis < 2; axis++) {
    if (w->cursor->at[axis] <= r.cells.lo[axis]) return TSL_OK;
    r.cells.hi[axis] = w->cursor->at[axis];
  }
  if (w->cursor->lane < 0) return TSL_OK;
  if (fits(w, &r)) return follow(w, &r);
  return trace_halves(w, &r, length_of(&r, 1) >= length_of(&r, 0) ? 1 : 0);
}

/* ---- what of a region the path cannot come through */

/** Can a path with this value in a cell attain the cursor's score? */
static bool attains(const walk *w, int64_t value, int64_t row, int64_t column) {
  const int64_t *at = w->cursor->at, pairs = tsl_min(at[0] - row, at[1] - column);
  return tsl_max(value, 0) + w->pair * pairs >= at[DP_CURSOR_SCORE];
}

/** Values of the device in host memory. @param[out] out  [n] from tsl_alloc */
static tsl_err fetch(const dp_context *c, const void *values, int64_t n, int32_t **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(n, sizeof **out, "side of a region", (void **)out));
  TSL_TRY(dp_copy(c, *out, values, n * (int64_t)sizeof **out, DP_COPY_OUT));
  TSL_TRY(dp_wait(c));
done:
  return err;
}

/** *may: does the path come in from the left, or begin within? */
static tsl_err comes_from_left(const walk *w, const region *r, bool *may) {
  tsl_err err = TSL_OK;
  const int64_t *lo = r->cells.lo, rows = length_of(r, 0);
  int32_t *edge = NULL; /* H and E' by row, from the row above */
  *may = attains(w, 0, lo[0], lo[1]);
  if (*may || r->left.data == NULL) return TSL_OK;
  TSL_TRY(fetch(w->bands->c, r->left.data, 2 * (rows + 1), &edge));
  for (int64_t i = 0; i <= rows && lo[0] + i <= w->cursor->at[0]; i++)
    *may |= attains(w, edge[2 * i], lo[0] + i, lo[1]);
done:
  tsl_free(edge);
  return err;
}

/**
 * LOCAL: leave out the columns before the first one through which the path to the cursor can come
 * down from the row above. What stands there then is 0, which is no more than the table's.
 */
static tsl_err trim(const walk *w, region *r) {
  tsl_err err = TSL_OK;
  const int64_t columns = length_of(r, 1);
  int64_t first = 0;
  int32_t *above = NULL;
  bool left = false;
  if (!is_aimed(w)) return TSL_OK;
  TSL_TRY(comes_from_left(w, r, &left));
  if (left) return TSL_OK;
  TSL_TRY(fetch(w->bands->c, r->top.data, columns, &above));
  while (first < columns && r->cells.lo[1] + first < w->cursor->at[1] &&
         !attains(w, above[first], r->cells.lo[0], r->cells.lo[1] + first + 1))
    first++;
  first = first / 64 * 64;
  if (first == 0 || r->cells.lo[1] + first >= w->cursor->at[1]) goto done;
  r->cells.lo[1] += first, r->top.at += first;
  r->left = (side){NULL, 0, 0};
done:
  tsl_free(above);
  return err;
}

tsl_err dp_bands_region(dp_bands *bands, const dp_band *b, dp_kept_rows *kept, tsl_cursor *cursor,
                        dp_steps *steps) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const int64_t rows = kept->hi - kept->lo, columns = b->hi - b->lo;
  const int64_t held = dp_keep_held(c, &bands->keep, kept->top.bytes + kept->left.bytes);
  walk w = {.bands = bands,
            .cursor = cursor,
            .steps = steps,
            .pair = dp_pair_most(c->p),
            .memory = c->p->budget - held - dp_edge_size(c->p, rows) -
                      bands->engine->state_bytes(c->p, columns)};
  TSL_TRY(dp_kept_fetch(c, &bands->keep, &kept->top));
  TSL_TRY(dp_kept_fetch(c, &bands->keep, &kept->left));
  region whole = {.cells = {{kept->lo, b->lo}, {kept->hi, b->hi}},
                  .top = {kept->top.data.data, columns, 0},
                  .left = {kept->left.data.data, rows, 0}};
  TSL_TRY(trim(&w, &whole));
  TSL_TRY(trace_region(&w, whole));
  TSL_TRY(dp_kept_store(c, &bands->keep, &kept->top));
  TSL_TRY(dp_kept_store(c, &bands->keep, &kept->left));
done:
  dp_release(c, &w.top);
  dp_release(c, &w.left);
  return err;
}
