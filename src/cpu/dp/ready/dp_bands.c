/** @file dp_bands.c  Wavefronts: bands of neighbouring lanes, their edges, what recovery keeps. */
#include "dp_backend.h"

#include <string.h>

/* ---- edges as bytes */

/* part and whole trade places by `out`. Entry 0 of a part does not go in, where the row before it
 * has more (E'). */
static void move_edge(const dp_params *p, char *edge, int64_t rows, int64_t from, int64_t to,
                      char *part, bool out) {
  const bool bits = dp_edge_is_bits(p);
  const int64_t entry = dp_edge_entry(p);
  for (int k = 0; k < (bits ? dp_bit_parts(p) : 1); k++) {
    char *whole = edge + (bits ? 4 * (k * dp_bit_words(rows) + from / 32) : from * entry);
    const int64_t bytes = bits ? 4 * dp_bit_words(to - from) : (to - from + 1) * entry;
    const int64_t skip = !bits && !out && from > 0 ? entry : 0;
    memcpy((out ? part : whole) + skip, (out ? whole : part) + skip, (size_t)(bytes - skip));
    part += bytes;
  }
}

/* Edges of rows [from, to) cut out of one of `rows` rows, and put into one; from is a multiple of
 * 32. */
static void cut_edge(const dp_params *p, const void *edge, int64_t rows, int64_t from, int64_t to,
                     void *part) {
  move_edge(p, (char *)edge, rows, from, to, part, true);
}

static void paste_edge(const dp_params *p, void *edge, int64_t rows, int64_t from, int64_t to,
                       const void *part) {
  move_edge(p, edge, rows, from, to, (char *)part, false);
}

/* ---- bands */

static void clear_stages(dp_band *b) {
  for (int64_t k = 0; k < b->n_stages; k++) {
    tsl_free(b->stages[k].top);
    tsl_free(b->stages[k].left);
  }
  tsl_free(b->stages);
  b->stages = NULL;
  b->n_stages = b->room = 0;
  b->kept = -1;
}

void dp_bands_clear(tsl_worker *w) {
  dp_bands *bands = &w->bands;
  for (int64_t k = 0; k < bands->n; k++) {
    bands->ops->close(&bands->list[k].engine);
    clear_stages(&bands->list[k]);
    tsl_free(bands->list[k].right);
    tsl_free(bands->list[k].image);
  }
  for (int64_t k = 0; k < bands->n_edges; k++) tsl_free(bands->edges[k].data);
  dp_lane_states_clear(&bands->loaded);
  tsl_free(bands->list);
  tsl_free(bands->edges);
  *bands = (dp_bands){.ops = bands->ops};
}

tsl_err dp_bands_begin(tsl_worker *w) {
  dp_bands_clear(w);
  return TSL_OK;
}

tsl_err dp_bands_grow(void **list, int64_t n, int64_t *room, size_t size) {
  tsl_err err = TSL_OK;
  void *more = NULL;
  const int64_t wanted = *room > 0 ? 2 * *room : 16;
  if (n < *room) return TSL_OK;
  TSL_TRY(tsl_alloc(wanted, size, "bands", &more));
  if (n > 0) memcpy(more, *list, (size_t)n * size);
  tsl_free(*list);
  *list = more, *room = wanted;
done:
  return err;
}

static dp_band *find_band(dp_bands *bands, int64_t lo, int64_t hi) {
  for (int64_t k = 0; k < bands->n; k++)
    if (!bands->list[k].past && bands->list[k].lo == lo && bands->list[k].hi == hi)
      return &bands->list[k];
  return NULL;
}

/** A band of n tiles' lanes, at the row where they begin. */
static tsl_err open_band(tsl_worker *w, const tsl_unit *units, int64_t n, dp_band **out) {
  tsl_err err = TSL_OK;
  dp_bands *bands = &w->bands;
  const int64_t lo = units[0].lo[1], hi = units[n - 1].hi[1];
  void *engine = NULL;
  TSL_TRY(dp_bands_grow((void **)&bands->list, bands->n, &bands->room, sizeof *bands->list));
  TSL_TRY(bands->ops->open(w, lo, hi, &engine));
  bands->ops->begin(engine);
  bands->list[bands->n] = (dp_band){.lo = lo,
                                    .hi = hi,
                                    .lanes = {units[0].lane, units[n - 1].lane + 1},
                                    .engine = engine,
                                    .kept = -1};
  *out = &bands->list[bands->n++];
  if (units[0].lo[0] > 0) TSL_TRY(dp_bands_go_on(w, *out, units[0].lo[0]));
done:
  return err;
}

/* ---- edges of tiles */

/** Left edge of rows from `row` on of the band that begins with column lo; NULL when none came. */
static const void *left_edge(const dp_bands *bands, int64_t lo, int64_t row) {
  for (int64_t k = 0; k < bands->n; k++)
    if (bands->list[k].hi == lo && bands->list[k].right_lo == row && bands->list[k].right != NULL)
      return bands->list[k].right;
  for (int64_t k = 0; k < bands->n_edges; k++)
    if (bands->edges[k].column == lo && bands->edges[k].row == row) return bands->edges[k].data;
  return NULL;
}

tsl_err dp_bands_edge_in(tsl_worker *w, const tsl_unit *unit, const void *bytes) {
  tsl_err err = TSL_OK;
  dp_bands *bands = &w->bands;
  const int64_t size = dp_edge_size(w->p, unit->hi[0] - unit->lo[0]);
  dp_edge *edge = NULL;
  for (int64_t k = 0; k < bands->n_edges && edge == NULL; k++)
    if (bands->edges[k].column == unit->hi[1]) edge = &bands->edges[k];
  if (edge == NULL) {
    TSL_TRY(dp_bands_grow((void **)&bands->edges, bands->n_edges, &bands->edge_room, sizeof *edge));
    edge = &bands->edges[bands->n_edges++];
    *edge = (dp_edge){.column = unit->hi[1]};
  }
  if (edge->bytes < size) {
    tsl_free(edge->data);
    edge->data = NULL, edge->bytes = 0;
    TSL_TRY(tsl_alloc(size, 1, "edge", &edge->data));
    edge->bytes = size;
  }
  memcpy(edge->data, bytes, (size_t)size);
  edge->row = unit->lo[0];
done:
  return err;
}

tsl_err dp_bands_edge_out(tsl_worker *w, const tsl_unit *unit, void *bytes) {
  const void *edge = left_edge(&w->bands, unit->hi[1], unit->lo[0]);
  if (edge == NULL)
    return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "dp: tile %lld has no edge",
                    (long long)unit->id);
  memcpy(bytes, edge, (size_t)dp_edge_size(w->p, unit->hi[0] - unit->lo[0]));
  return TSL_OK;
}

static tsl_err right_room(const tsl_worker *w, dp_band *b, int64_t rows) {
  tsl_err err = TSL_OK;
  const int64_t size = dp_edge_size(w->p, rows);
  if (size <= b->right_bytes) return TSL_OK;
  tsl_free(b->right);
  b->right = NULL, b->right_bytes = 0;
  TSL_TRY(tsl_alloc(size, 1, "edge", &b->right));
  b->right_bytes = size;
done:
  return err;
}

/* ---- what recovery keeps */

/** Rows that recovery takes at a time: their cells fit half the memory. */
static int64_t rows_at_a_time(const tsl_worker *w, const dp_band *b, int64_t rows) {
  const int64_t half = w->p->budget / 2;
  while (rows > 64 && w->bands.ops->keep_bytes(b->engine, rows) > half)
    rows = (rows / 2 + 63) / 64 * 64;
  return rows;
}

static tsl_err keep_stage(tsl_worker *w, dp_band *b, int64_t lo, int64_t hi, const void *left) {
  tsl_err err = TSL_OK;
  dp_stage *stage = NULL;
  char have[24], need[24];
  const int64_t row = dp_state_bytes(w->p, b->hi - b->lo);
  const int64_t edge = left != NULL ? dp_edge_size(w->p, hi - lo) : 0;
  TSL_TRY(dp_bands_grow((void **)&b->stages, b->n_stages, &b->room, sizeof *stage));
  stage = &b->stages[b->n_stages++];
  *stage = (dp_stage){.lo = lo, .hi = hi};
  w->bands.history += row + edge;
  if (w->bands.history > w->p->budget)
    TSL_FAIL(TSL_ERR_MEMORY,
             "dp.memory: %s is too little to recover the solution on this rank: the rows between "
             "its tiles need about %s; raise it, or use more ranks",
             tsl_bytes_text((double)w->p->budget, have),
             tsl_bytes_text((double)w->bands.history * (double)w->p->n / (double)hi, need));
  TSL_TRY(tsl_alloc(row, 1, "special row", &stage->top));
  w->bands.ops->row_get(b->engine, stage->top);
  if (left == NULL) goto done;
  TSL_TRY(tsl_alloc(edge, 1, "special column", &stage->left));
  memcpy(stage->left, left, (size_t)edge);
done:
  return err;
}

/** The tile in pieces that recovery can take one by one. */
static tsl_err tile_in_pieces(tsl_worker *w, dp_band *b, int64_t lo, int64_t hi, const void *left) {
  tsl_err err = TSL_OK;
  const int64_t rows = hi - lo, step = rows_at_a_time(w, b, rows);
  char *in = NULL, *out = NULL;
  TSL_TRY(tsl_alloc(dp_edge_size(w->p, step), 1, "edge", (void **)&in));
  TSL_TRY(tsl_alloc(dp_edge_size(w->p, step), 1, "edge", (void **)&out));
  for (int64_t from = 0; from < rows; from += step) {
    const int64_t to = from + step < rows ? from + step : rows;
    if (left != NULL) cut_edge(w->p, left, rows, from, to, in);
    TSL_TRY(keep_stage(w, b, lo + from, lo + to, left != NULL ? in : NULL));
    TSL_TRY(w->bands.ops->tile(b->engine, lo + from, lo + to, left != NULL ? in : NULL, out, false,
                               (dp_window){NULL, 0}));
    paste_edge(w->p, b->right, rows, from, to, out);
  }
done:
  tsl_free(in);
  tsl_free(out);
  return err;
}

/* ---- tiles */

/** Cells of the tile in its slab; the slab's row 0 or column 0 may be the boundary. */
static dp_window window_of(const tsl_worker *w, const tsl_unit *u, const tsl_part *part) {
  const bool edge = dp_has_boundary(w->p);
  const int64_t row = edge && u->lo[0] == 0, column = edge && u->lo[1] == 0;
  const int64_t ld = u->hi[1] - u->lo[1] + column;
  if (w->table < 0) return (dp_window){NULL, 0};
  return (dp_window){(char *)part->slab[w->table] + (row * ld + column) * w->bytes, ld};
}

/** Value of the boundary at (k, 0), or at (0, k) for rows false. */
static int32_t boundary(const dp_params *p, int64_t k, bool rows) {
  if (p->problem == DP_EDIT) return (int32_t)(k * (rows ? p->remove : p->insert));
  if (p->problem == DP_GLOBAL && k > 0)
    return (int32_t) - (p->scores.open + k * (int64_t)p->scores.extend);
  return 0;
}

static void fill_boundary(const tsl_worker *w, const tsl_unit *u, const dp_window *window) {
  int32_t *cells = window->cells;
  const int64_t first = u->lo[1] == 0 ? -1 : 0;
  if (cells == NULL || !dp_has_boundary(w->p)) return;
  for (int64_t c = first; c < u->hi[1] - u->lo[1] && u->lo[0] == 0; c++)
    cells[c - window->ld] = boundary(w->p, u->lo[1] + c + 1, false);
  for (int64_t r = 0; r < u->hi[0] - u->lo[0] && u->lo[1] == 0; r++)
    cells[r * window->ld - 1] = boundary(w->p, u->lo[0] + r + 1, true);
}

/** LOCAL: the band's best cell in the lane that has it, nothing in the others. */
static void put_best(const tsl_worker *w, const dp_band *b, const tsl_unit *units, int64_t n,
                     tsl_part *parts) {
  int64_t best[3] = {0, 0, 0};
  if (w->best < 0 || units[0].hi[0] != w->p->n) return;
  w->bands.ops->best(b->engine, best);
  for (int64_t k = 0; k < n; k++) {
    const bool here = best[0] > 0 && best[2] > units[k].lo[1] && best[2] <= units[k].hi[1];
    for (int c = 0; c < 3; c++) ((int64_t *)parts[k].slab[w->best])[c] = here ? best[c] : 0;
  }
}

/** The tiles of neighbouring lanes as one. */
static tsl_err run_band(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const int64_t lo = units[0].lo[0], hi = units[0].hi[0], from = units[0].lo[1];
  dp_band *b = find_band(&w->bands, from, units[n - 1].hi[1]);
  const dp_window window = window_of(w, &units[0], &parts[0]);
  const void *left = NULL;
  if (b == NULL) TSL_TRY(open_band(w, units, n, &b));
  left = from > 0 ? left_edge(&w->bands, from, lo) : NULL;
  if (b->row != lo || (from > 0 && left == NULL))
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: tile %lld comes before what it needs", (long long)units[0].id);
  TSL_TRY(right_room(w, b, hi - lo));
  if (w->p->mode == DP_RECOVER)
    TSL_TRY(tile_in_pieces(w, b, lo, hi, left));
  else
    TSL_TRY(w->bands.ops->tile(b->engine, lo, hi, left, b->right, false, window));
  b->right_lo = lo;
  b->row = hi;
  fill_boundary(w, &units[0], &window);
  put_best(w, b, units, n, parts);
done:
  return err;
}

tsl_err dp_bands_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0, end; k < n; k = end) {
    const double start = tsl_cpu_seconds();
    end = w->table >= 0 ? k + 1 : dp_run_end(units, n, k);
    TSL_TRY(run_band(w, units + k, end - k, parts + k));
    dp_spread_seconds(w, start, units + k, end - k, parts + k);
  }
done:
  return err;
}

/** LOCAL: the time depends on the values. */
static tsl_err put_ridge(tsl_worker *w, void *engine, const tsl_unit *unit, int64_t columns,
                         int32_t *left) {
  tsl_err err = TSL_OK;
  dp_ridge r = {.row = unit->lo[0],
                .column = unit->lo[1],
                .rows = unit->hi[0] - unit->lo[0],
                .columns = columns,
                .left = left};
  TSL_TRY(tsl_alloc(columns, 2 * sizeof *r.above, "row of a trial", (void **)&r.above));
  TSL_TRY(dp_ridge_sides(w, &r));
  TSL_TRY(w->bands.ops->row_put(engine, r.row, r.above));
done:
  tsl_free(r.above);
  return err;
}

/** As tiles would run, from the top of the table and with zeros on the left, or from values like
 *  those around them. */
static tsl_err try_band(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const bool ridge = w->p->problem == DP_LOCAL && w->p->mode != DP_TABLE;
  const int64_t rows = units[0].hi[0] - units[0].lo[0], from = units[0].lo[1];
  const int64_t size = dp_edge_size(w->p, rows), top = ridge ? units[0].lo[0] : 0;
  double start = 0;
  void *engine = NULL, *left = NULL, *right = NULL;
  TSL_TRY(tsl_alloc(size, 1, "edge", &left));
  TSL_TRY(tsl_alloc(size, 1, "edge", &right));
  TSL_TRY(w->bands.ops->open(w, from, units[n - 1].hi[1], &engine));
  w->bands.ops->begin(engine);
  if (ridge) TSL_TRY(put_ridge(w, engine, units, units[n - 1].hi[1] - from, left));
  start = tsl_cpu_seconds();
  TSL_TRY(w->bands.ops->tile(engine, top, top + rows, from > 0 ? left : NULL, right, false,
                             window_of(w, &units[0], &parts[0])));
  dp_spread_seconds(w, start, units, n, parts);
done:
  w->bands.ops->close(&engine);
  tsl_free(left);
  tsl_free(right);
  return err;
}

tsl_err dp_bands_trial(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0, end; k < n; k = end) {
    end = w->table >= 0 ? k + 1 : dp_run_end(units, n, k);
    TSL_TRY(try_band(w, units + k, end - k, parts + k));
  }
done:
  return err;
}

void dp_bands_goal(const tsl_worker *w, tsl_field *goal) {
  double sum = 0;
  if (w->p->problem == DP_LOCAL) return;
  for (int64_t k = 0; k < w->bands.n; k++) {
    const dp_band *b = &w->bands.list[k];
    if (!b->past) sum += w->bands.ops->goal(b->engine, b->hi == w->p->m);
  }
  if (goal->type == TSL_I64)
    *(int64_t *)goal->data = (int64_t)sum;
  else
    *(double *)goal->data = sum;
}
