/** @file dp_bands_region.c  The traceback through a part of the table within dp.memory. */
#include "dp_bands_region.h"

#include "dp_space.h"
#include "integers.h"

/** A part of a state or of an edge: entries from `at` on of all its n; at is a multiple of 32. */
typedef struct side {
  const void *data; /**< memory of the device, not owned; NULL: the boundary of the table */
  int64_t n, at;
} side;

/** Cells, letters from 0, with the state above them and their left edge. */
typedef struct region {
  dp_box cells;
  side top, left;
} region;

/** A region in n pieces along an axis, `step` letters each but the last. */
typedef struct pieces {
  int axis;
  int64_t n, step;
  bool sides; /**< one pass keeps all edges between them; else n is 2 */
} pieces;

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

/** Queue: the boundary above the region's columns to w->top. */
static tsl_err begin_top(walk *w, int64_t columns) {
  tsl_err err = TSL_OK;
  const dp_context *c = w->bands->c;
  const int64_t bytes = dp_state_bytes(c->p, columns);
  void *state = NULL;
  TSL_TRY(tsl_alloc(bytes, 1, "row of a region", &state));
  dp_free_top(c->p, columns, state);
  TSL_TRY(dp_reserve(c, &w->top, bytes, "row of a region"));
  TSL_TRY(dp_copy(c, w->top.data, state, bytes, DP_COPY_IN));
done:
  tsl_free(state);
  return err;
}

/** Queue: the state above the region's columns to w->top. */
static tsl_err cut_top(walk *w, const region *r) {
  tsl_err err = TSL_OK;
  const dp_context *c = w->bands->c;
  const int64_t columns = length_of(r, 1), whole = w->bands->engine->state_bytes(c->p, r->top.n);
  const bool bits = dp_state_is_bits(c->p);
  const int64_t entry = bits || c->p->problem != DP_DTW ? 4 : c->bytes;
  const int64_t n = bits ? dp_bit_words(columns) : columns, at = bits ? r->top.at / 32 : r->top.at;
  const int64_t step = entry * (bits ? dp_bit_words(r->top.n) : r->top.n);
  if (r->top.data == NULL) return begin_top(w, columns);
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

/** An engine for the region as one tile, which is to be queued next.
 *  @param[out] left    the tile's edge
 *  @param[out] engine  the caller's to close, also after an error */
static tsl_err open_region(walk *w, const region *r, const void **left, void **engine) {
  tsl_err err = TSL_OK;
  const dp_band_engine *e = w->bands->engine;
  dp_box cells = r->cells;
  if (r->left.data == NULL && w->bands->c->p->problem != DP_LOCAL)
    cells.lo[0] = 0; /* the boundary counts from the first row */
  TSL_TRY(dp_band_engine_open(e, w->bands->c, &cells, engine));
  if (is_aimed(w)) TSL_TRY(e->aim(*engine, w->cursor->at, w->cursor->at[DP_CURSOR_SCORE]));
  TSL_TRY(cut_top(w, r));
  TSL_TRY(e->state_put(*engine, r->cells.lo[0], w->top.data));
  TSL_TRY(cut_left(w, r, left));
  w->bands->again += (double)length_of(r, 0) * (double)length_of(r, 1);
done:
  return err;
}

/** All decisions of the region at once. */
static tsl_err follow(walk *w, const region *r) {
  tsl_err err = TSL_OK;
  const dp_band_engine *e = w->bands->engine;
  const dp_window nowhere = {NULL, 0};
  const void *left = NULL;
  void *engine = NULL;
  TSL_TRY(open_region(w, r, &left, &engine));
  TSL_TRY(
      dp_band_engine_tile(e, engine, r->cells.lo[0], r->cells.hi[0], left, NULL, true, nowhere));
  TSL_TRY(e->trace(engine, w->cursor, w->steps));
done:
  dp_band_engine_close(e, &engine);
  return err;
}

/* ---- what of a region the path cannot come through */

/** Can a path with this value in a cell attain the cursor's score? */
static bool attains(const walk *w, int64_t value, int64_t row, int64_t column) {
  const int64_t *at = w->cursor->at, pairs = tsl_min(at[0] - row, at[1] - column);
  return tsl_max(value, 0) + w->pair * pairs >= at[DP_CURSOR_SCORE];
}

/** *out: n values of the device, in host memory until the next call. */
static tsl_err look_at(const walk *w, const int32_t *values, int64_t n, const int32_t **out) {
  tsl_err err = TSL_OK;
  const dp_context *c = w->bands->c;
  const int64_t bytes = n * (int64_t)sizeof *values;
  *out = values;
  if (c->memory->reserve_pinned != NULL) {
    TSL_TRY(c->memory->reserve_pinned(&w->bands->looked, bytes));
    TSL_TRY(dp_copy(c, w->bands->looked.data, values, bytes, DP_COPY_OUT));
    *out = w->bands->looked.data;
  }
  TSL_TRY(dp_wait(c));
done:
  return err;
}

/** *first: of the values left of rows lo - 1, lo, ... the first that attains, rows + 1: none. */
static tsl_err first_on_left(const walk *w, const region *r, int64_t *first) {
  tsl_err err = TSL_OK;
  const int64_t rows = length_of(r, 0);
  const int32_t *edge = NULL; /* H and E' of the row above, and of each row */
  int64_t i = 0;
  *first = rows + 1;
  if (r->left.data == NULL) return TSL_OK;
  TSL_TRY(look_at(w, (const int32_t *)r->left.data + 2 * r->left.at, 2 * (rows + 1), &edge));
  while (i <= rows && !attains(w, edge[2 * i], r->cells.lo[0] + i, r->cells.lo[1])) i++;
  *first = i;
done:
  return err;
}

/** *first: of the values above the columns the first that attains, columns: none. */
static tsl_err first_above(const walk *w, const region *r, int64_t *first) {
  tsl_err err = TSL_OK;
  const int64_t columns = length_of(r, 1);
  const int32_t *h = NULL;
  int64_t j = 0;
  *first = columns;
  if (r->top.data == NULL) return TSL_OK;
  TSL_TRY(look_at(w, (const int32_t *)r->top.data + r->top.at, columns, &h));
  while (j < columns && !attains(w, h[j], r->cells.lo[0], r->cells.lo[1] + j + 1)) j++;
  *first = j;
done:
  return err;
}

/**
 * LOCAL: where the path to the cursor comes from one side alone, leave out the columns, or rows,
 * before the first one through which it can. What stands there then is 0, which is no more than
 * the table's.
 */
static tsl_err trim(const walk *w, region *r) {
  tsl_err err = TSL_OK;
  int64_t left = 0, above = 0, skip = 0;
  if (!is_aimed(w) || attains(w, 0, r->cells.lo[0], r->cells.lo[1])) return TSL_OK;
  TSL_TRY(first_on_left(w, r, &left));
  TSL_TRY(first_above(w, r, &above));
  if (left > length_of(r, 0) && above < length_of(r, 1)) {
    skip = above / 64 * 64;
    r->cells.lo[1] += skip, r->top.at += skip;
    if (skip > 0) r->left = (side){NULL, 0, 0};
  } else if (left > 0 && left <= length_of(r, 0) && above == length_of(r, 1)) {
    skip = (left - 1) / 64 * 64;
    r->cells.lo[0] += skip, r->left.at += skip;
    if (skip > 0) r->top = (side){NULL, 0, 0};
  }
done:
  return err;
}

/* ---- pieces */

/** Do the decisions of so many cells fit, also into half of what the device has left? */
static bool fits(const walk *w, int64_t rows, int64_t columns, int64_t memory) {
  const dp_context *c = w->bands->c;
  const int64_t left = c->memory->left != NULL ? c->memory->left(c->device) : INT64_MAX;
  return (rows <= DP_SPACE_LEAST && columns <= DP_SPACE_LEAST) ||
         w->bands->engine->keep_bytes(c->worker, rows, columns) <= tsl_min(memory, left / 2);
}

/** Bytes of one side between pieces. */
static int64_t side_bytes(const walk *w, const region *r, int axis) {
  const dp_context *c = w->bands->c;
  return axis == 1 ? dp_edge_size(c->p, length_of(r, 0))
                   : w->bands->engine->state_bytes(c->p, length_of(r, 1));
}

/**
 * Halves of the longer side. Where trim leaves of a piece little but what lies around its diagonal,
 * and one pass keeps several edges, as many columns as are then followed at once, or whose edges
 * take half of the memory.
 */
static pieces pieces_of(const walk *w, const region *r) {
  const int64_t rows = length_of(r, 0), columns = length_of(r, 1), every = w->bands->engine->every;
  const bool sides = is_aimed(w) && w->bands->engine->tile_sides != NULL &&
                     columns >= tsl_max(2 * every, rows / 2);
  pieces c = {.axis = sides || columns >= rows ? 1 : 0, .n = 2, .sides = sides};
  const int64_t bytes = side_bytes(w, r, c.axis), length = length_of(r, c.axis);
  const int64_t multiple = sides ? every : 64;
  c.step = tsl_divide_up(tsl_divide_up(length, 2), multiple) * multiple;
  while (sides && c.step > every && 2 * c.n * bytes <= w->memory / 2 &&
         !fits(w, c.step + c.step / 4, c.step, w->memory - c.n * bytes)) {
    c.step = tsl_divide_up(c.step, 2 * every) * every;
    c.n = tsl_divide_up(length, c.step);
  }
  return c;
}

/** All pieces but the last, as one tile; the sides between them, or below the first, to `kept`. */
static tsl_err keep_sides(walk *w, const region *first, const pieces *parts, dp_buffer *kept) {
  tsl_err err = TSL_OK;
  const dp_context *c = w->bands->c;
  const dp_band_engine *e = w->bands->engine;
  const int64_t lo = first->cells.lo[0], hi = first->cells.hi[0];
  const int64_t bytes = (parts->n - 1) * side_bytes(w, first, parts->axis);
  const dp_window nowhere = {NULL, 0};
  const void *left = NULL;
  void *engine = NULL;
  char have[24];
  w->memory -= bytes;
  if (w->memory < 0)
    TSL_FAIL(TSL_ERR_MEMORY,
             "dp.memory: %s is too little to recover the solution on this rank: nothing of it is "
             "left for the sides of a region of %lld x %lld cells; raise it, or use more ranks",
             tsl_bytes_text((double)c->p->budget, have), (long long)length_of(first, 0),
             (long long)length_of(first, 1));
  TSL_TRY(dp_reserve(c, kept, bytes, "side of a region"));
  TSL_TRY(open_region(w, first, &left, &engine));
  if (parts->sides)
    TSL_TRY(e->tile_sides(engine, lo, hi, left, parts->step, kept->data));
  else
    TSL_TRY(dp_band_engine_tile(e, engine, lo, hi, left, parts->axis == 1 ? kept->data : NULL,
                                false, nowhere));
  if (parts->axis == 0) TSL_TRY(e->state_get(engine, kept->data));
  if (parts->axis == 1 && !parts->sides && is_aimed(w)) TSL_TRY(forget_score(c, kept));
done:
  dp_band_engine_close(e, &engine);
  return err;
}

/** Piece k of a region. @param[in] before  the side between it and the one before; k 0: ignored */
static region piece_of(const region *r, const pieces *parts, int64_t k, const void *before) {
  region piece = *r;
  const int64_t at = k * parts->step, n = length_of(r, 1 - parts->axis);
  piece.cells.lo[parts->axis] += at;
  if (k < parts->n - 1) piece.cells.hi[parts->axis] = piece.cells.lo[parts->axis] + parts->step;
  side *along = parts->axis == 1 ? &piece.top : &piece.left;
  side *across = parts->axis == 1 ? &piece.left : &piece.top;
  along->at += at;
  if (k > 0) *across = (side){before, n, 0};
  return piece;
}

static tsl_err trace_region(walk *w, region r);

static tsl_err trace_pieces(walk *w, const region *r) {
  tsl_err err = TSL_OK;
  const pieces parts = pieces_of(w, r);
  const int64_t bytes = side_bytes(w, r, parts.axis), before = w->memory;
  region first = *r;
  dp_buffer kept = {NULL, 0};
  first.cells.hi[parts.axis] = r->cells.lo[parts.axis] + (parts.n - 1) * parts.step;
  TSL_TRY(keep_sides(w, &first, &parts, &kept));
  for (int64_t k = parts.n - 1; k > 0; k--)
    TSL_TRY(trace_region(w, piece_of(r, &parts, k, (char *)kept.data + (k - 1) * bytes)));
  dp_release(w->bands->c, &kept);
  w->memory = before;
  TSL_TRY(trace_region(w, piece_of(r, &parts, 0, NULL)));
done:
  dp_release(w->bands->c, &kept);
  return err;
}

/** Of the region, what lies left of the cursor and above it; nothing where the path does not come
 *  there. */
static tsl_err trace_region(walk *w, region r) {
  tsl_err err = TSL_OK;
  for (int axis = 0; axis < 2; axis++) {
    if (w->cursor->at[axis] <= r.cells.lo[axis]) return TSL_OK;
    r.cells.hi[axis] = w->cursor->at[axis];
  }
  if (w->cursor->lane < 0) return TSL_OK;
  TSL_TRY(trim(w, &r));
  if (fits(w, length_of(&r, 0), length_of(&r, 1), w->memory))
    TSL_TRY(follow(w, &r));
  else
    TSL_TRY(trace_pieces(w, &r));
done:
  return err;
}

/* ---- rows that were computed together */

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
  TSL_TRY(trace_region(&w, whole));
  TSL_TRY(dp_kept_store(c, &bands->keep, &kept->top));
  TSL_TRY(dp_kept_store(c, &bands->keep, &kept->left));
done:
  dp_release(c, &w.top);
  dp_release(c, &w.left);
  return err;
}
