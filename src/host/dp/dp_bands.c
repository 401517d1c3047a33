/** @file dp_bands.c  Wavefronts: bands of neighbouring lanes, their edges, what recovery keeps. */
#include "dp_bands.h"

#include "dp_space.h"

#include <string.h>

enum { MORE_ROWS = 64 /* stages differ by so many rows: edges are made that much longer */ };

/* ---- engines */

tsl_err dp_band_engine_open(const dp_band_engine *type, const dp_context *c, const dp_box *cells,
                            void **out) {
  tsl_err err = TSL_OK;
  dp_band_head *head = NULL;
  *out = NULL;
  TSL_TRY(tsl_alloc(type->bytes, 1, "band", (void **)&head));
  *head = (dp_band_head){.c = c, .top = cells->lo[0], .lo = cells->lo[1], .hi = cells->hi[1]};
  *out = head;
  TSL_TRY(type->open(head, cells->hi[0] - cells->lo[0]));
done:
  if (err != TSL_OK) dp_band_engine_close(type, out);
  return err;
}

void dp_band_engine_close(const dp_band_engine *type, void **engine) {
  if (*engine == NULL) return;
  type->close(*engine);
  tsl_free(*engine);
  *engine = NULL;
}

tsl_err dp_band_engine_tile(const dp_band_engine *type, void *engine, int64_t lo, int64_t hi,
                            const void *left, void *right, bool keep, dp_window window) {
  dp_band_head *head = engine;
  head->row = hi;
  if (keep) head->keep_lo = lo;
  return type->tile(engine, lo, hi, left, right, keep, window);
}

/* ---- bands */

void dp_bands_open(dp_bands *bands, const dp_context *c, const dp_band_engine *engine,
                   int edges_each) {
  *bands = (dp_bands){.c = c, .engine = engine, .edges_each = edges_each};
}

static void band_clear(const dp_bands *bands, dp_band *b) {
  const dp_context *c = bands->c;
  dp_band_engine_close(bands->engine, &b->engine);
  for (int64_t k = 0; k < b->n_kept; k++) {
    dp_kept_release(c, &b->kept[k].top);
    dp_kept_release(c, &b->kept[k].left);
  }
  TSL_FREE_ALL(b->kept, b->image);
  dp_release(c, &b->right);
  for (int k = 0; k < 2 && c->memory->release_pinned != NULL; k++)
    c->memory->release_pinned(&b->out[k]);
}

void dp_bands_clear(dp_bands *bands) {
  if (bands->c == NULL) return;
  for (int64_t k = 0; k < bands->n; k++) band_clear(bands, &bands->list[k]);
  for (int64_t k = 0; k < bands->n_edges; k++) dp_release(bands->c, &bands->edges[k].data);
  dp_keep_clear(&bands->keep);
  dp_lane_states_clear(&bands->loaded);
  dp_release(bands->c, &bands->state);
  dp_release(bands->c, &bands->piece);
  dp_release(bands->c, &bands->side);
  if (bands->c->memory->release_pinned != NULL) bands->c->memory->release_pinned(&bands->looked);
  TSL_FREE_ALL(bands->list, bands->edges);
  dp_bands_open(bands, bands->c, bands->engine, bands->edges_each);
}

dp_band *dp_band_find(dp_bands *bands, const tsl_unit *units, int64_t n) {
  const int64_t lo = units[0].lo[1], hi = units[n - 1].hi[1];
  for (int64_t k = 0; k < bands->n; k++)
    if (!bands->list[k].past && bands->list[k].lo == lo && bands->list[k].hi == hi)
      return &bands->list[k];
  return NULL;
}

tsl_err dp_bands_add(dp_bands *bands, int64_t lo, int64_t hi, dp_band **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_grow((void **)&bands->list, bands->n, 1, &bands->room, sizeof *bands->list, "list"));
  *out = &bands->list[bands->n++];
  **out = (dp_band){.lo = lo, .hi = hi, .right_lo = -1, .out_lo = {-1, -1}};
done:
  return err;
}

/** Queue: where b begins free, zeros above the table. */
static tsl_err begin_free(dp_bands *bands, const dp_band *b) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const int64_t columns = b->hi - b->lo, bytes = dp_state_bytes(c->p, columns);
  void *state = NULL;
  if (!(c->p->free_ends & DP_B_BEGIN)) return TSL_OK;
  TSL_TRY(tsl_alloc(bytes, 1, "row above the table", &state));
  dp_free_top(c->p, columns, state);
  TSL_TRY(dp_reserve(c, &bands->state, bytes, "row above the table"));
  TSL_TRY(dp_copy(c, bands->state.data, state, bytes, DP_COPY_IN));
  TSL_TRY(bands->engine->state_put(b->engine, 0, bands->state.data));
done:
  tsl_free(state);
  return err;
}

tsl_err dp_band_open(dp_bands *bands, const tsl_unit *units, int64_t n, dp_band **out) {
  tsl_err err = TSL_OK;
  const int64_t lo = units[0].lo[1], hi = units[n - 1].hi[1];
  const dp_box cells = {{0, lo}, {bands->c->p->n, hi}};
  dp_band *b = NULL;
  void *engine = NULL;
  TSL_TRY(dp_band_engine_open(bands->engine, bands->c, &cells, &engine));
  TSL_TRY(dp_bands_add(bands, lo, hi, &b));
  b->engine = engine;
  engine = NULL;
  b->lanes[0] = units[0].lane;
  b->lanes[1] = units[n - 1].lane + 1;
  b->column = dp_last_column_begin(bands->c->p);
  TSL_TRY(units[0].lo[0] > 0 ? dp_band_resume(bands, b, units[0].lo[0]) : begin_free(bands, b));
  *out = b;
done:
  dp_band_engine_close(bands->engine, &engine);
  return err;
}

/* ---- edges as bytes */

tsl_err dp_edge_move(const dp_context *c, char *edge, int64_t rows, int64_t from, int64_t to,
                     char *part, bool out) {
  tsl_err err = TSL_OK;
  const bool bits = dp_edge_is_bits(c->p);
  const int64_t entry = dp_edge_entry(c->p);
  const int64_t bytes = bits ? 4 * dp_bit_words(to - from) : (to - from + 1) * entry;
  const int64_t skip = !bits && !out && from > 0 ? entry : 0;
  for (int k = 0; k < (bits ? dp_bit_parts(c->p) : 1); k++) {
    char *whole = edge + (bits ? 4 * (k * dp_bit_words(rows) + from / 32) : from * entry);
    TSL_TRY(dp_copy(c, (out ? part : whole) + skip, (out ? whole : part) + skip, bytes - skip,
                    DP_COPY_WITHIN));
    part += bytes;
  }
done:
  return err;
}

/* ---- edges of tiles */

/** Left edge of rows from `row` on of the band that begins with a column; NULL when none came. A
 *  band of this worker on the left has it in its memory, or in pinned memory where stages overlap.
 */
static const void *edge_at(const dp_bands *bands, int64_t column, int64_t row) {
  for (int64_t k = 0; k < bands->n; k++) {
    const dp_band *b = &bands->list[k];
    if (b->hi != column) continue;
    if (b->right_lo == row) return b->right.data;
    for (int out = 0; out < 2; out++)
      if (b->out_lo[out] == row) return b->out[out].data;
  }
  for (int64_t k = 0; k < bands->n_edges; k++)
    if (bands->edges[k].column == column && bands->edges[k].row == row)
      return bands->edges[k].data.data;
  return NULL;
}

tsl_err dp_bands_side(dp_bands *bands, int64_t rows, const void **side) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const int64_t bytes = dp_edge_size(c->p, rows);
  void *edge = NULL;
  *side = NULL;
  if (!(c->p->free_ends & DP_A_BEGIN)) return TSL_OK;
  if (bands->side.bytes < bytes) {
    const int64_t more = dp_edge_size(c->p, rows + MORE_ROWS);
    TSL_TRY(tsl_alloc(more, 1, "left edge of the table", &edge));
    dp_free_side(c->p, rows + MORE_ROWS, edge);
    TSL_TRY(dp_wait(c));
    TSL_TRY(dp_reserve(c, &bands->side, more, "left edge of the table"));
    TSL_TRY(dp_copy(c, bands->side.data, edge, more, DP_COPY_IN));
    TSL_TRY(dp_wait(c));
  }
  *side = bands->side.data;
done:
  tsl_free(edge);
  return err;
}

tsl_err dp_band_left(dp_bands *bands, const dp_band *b, const tsl_unit *first, const void **left) {
  tsl_err err = TSL_OK;
  if (b->lo > 0)
    *left = edge_at(bands, b->lo, first->lo[0]);
  else
    TSL_TRY(dp_bands_side(bands, first->hi[0] - first->lo[0], left));
  if (b->row != first->lo[0] || (b->lo > 0 && *left == NULL))
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: tile %lld comes before what it needs", (long long)first->id);
done:
  return err;
}

/** Where the edge of a column from `row` on goes: in place of the oldest. */
static tsl_err edge_of_column(dp_bands *bands, int64_t column, int64_t row, dp_edge **out) {
  tsl_err err = TSL_OK;
  int n = 0;
  *out = NULL;
  for (int64_t k = 0; k < bands->n_edges; k++) {
    dp_edge *edge = &bands->edges[k];
    if (edge->column != column) continue;
    n++;
    if (*out == NULL || edge->row == row || ((*out)->row != row && edge->row < (*out)->row))
      *out = edge;
  }
  if (*out != NULL && (n == bands->edges_each || (*out)->row == row)) return TSL_OK;
  TSL_TRY(tsl_grow((void **)&bands->edges, bands->n_edges, 1, &bands->edge_room,
                   sizeof *bands->edges, "list"));
  *out = &bands->edges[bands->n_edges++];
  **out = (dp_edge){.column = column, .row = -1};
done:
  return err;
}

tsl_err dp_bands_edge_in(dp_bands *bands, const tsl_unit *unit, const void *bytes) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const int64_t rows = unit->hi[0] - unit->lo[0];
  dp_edge *edge = NULL;
  TSL_TRY(edge_of_column(bands, unit->hi[1], unit->lo[0], &edge));
  edge->row = -1;
  TSL_TRY(dp_reserve(c, &edge->data, dp_edge_size(c->p, rows + MORE_ROWS), "edge of another rank"));
  TSL_TRY(dp_copy(c, edge->data.data, bytes, dp_edge_size(c->p, rows), DP_COPY_IN));
  edge->row = unit->lo[0];
done:
  return err;
}

/** The right edge of a tile's rows in host memory, NULL: none. */
static const void *edge_on_host(const dp_bands *bands, int64_t column, int64_t row, int64_t size) {
  if (bands->c->memory->reserve_pinned == NULL) return edge_at(bands, column, row);
  for (int64_t k = 0; k < bands->n; k++) {
    const dp_band *b = &bands->list[k];
    for (int out = 0; out < 2 && b->hi == column; out++)
      if (b->out_lo[out] == row && b->out[out].bytes >= size) return b->out[out].data;
  }
  return NULL;
}

tsl_err dp_bands_edge_out(const dp_bands *bands, const tsl_unit *unit, void *bytes) {
  const int64_t size = dp_edge_size(bands->c->p, unit->hi[0] - unit->lo[0]);
  const void *edge = edge_on_host(bands, unit->hi[1], unit->lo[0], size);
  if (edge == NULL)
    return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "dp: tile %lld has no edge",
                    (long long)unit->id);
  memcpy(bytes, edge, (size_t)size);
  return TSL_OK;
}

tsl_err dp_band_out(const dp_bands *bands, dp_band *b, int64_t rows, void **out) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const bool wanted = b->hi < c->p->m || c->p->free_ends & DP_A_END;
  *out = NULL;
  if (!wanted || c->memory->reserve_pinned == NULL) return TSL_OK;
  b->out_lo[b->turn] = -1;
  TSL_TRY(c->memory->reserve_pinned(&b->out[b->turn], dp_edge_size(c->p, rows + MORE_ROWS)));
  *out = b->out[b->turn].data;
done:
  return err;
}

void dp_band_sent(dp_band *b, int64_t lo) {
  b->out_lo[b->turn] = lo;
  b->turn = 1 - b->turn;
}

/** Queue the copy of the right edge to pinned memory, where it is needed. */
static tsl_err right_out(const dp_bands *bands, dp_band *b, int64_t lo, int64_t rows) {
  tsl_err err = TSL_OK;
  void *out = NULL;
  TSL_TRY(dp_band_out(bands, b, rows, &out));
  if (out == NULL) goto done;
  TSL_TRY(dp_copy(bands->c, out, b->right.data, dp_edge_size(bands->c->p, rows), DP_COPY_OUT));
  dp_band_sent(b, lo);
done:
  return err;
}

/* ---- what recovery keeps */

/** Rows of a tile that recovery takes at a time; their decisions also fit half of what the device
 *  has left. */
static int64_t rows_at_a_time(const dp_bands *bands, const dp_band *b, int64_t rows) {
  const dp_context *c = bands->c;
  const int64_t left = c->memory->left != NULL ? c->memory->left(c->device) : INT64_MAX;
  return dp_space_step(c->p, b->hi - b->lo, b->lo > 0, rows, left, bands->engine->keep_bytes,
                       c->worker);
}

/** Queue: keep the state above rows [lo + from, lo + to) and their left edge, cut out of that of
 *  `rows` rows from lo on. */
static tsl_err keep_rows(dp_bands *bands, dp_band *b, int64_t lo, int64_t rows, int64_t from,
                         int64_t to, const void *left, dp_kept_rows **out) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const int64_t state = bands->engine->state_bytes(c->p, b->hi - b->lo);
  const int64_t edge = b->lo > 0 ? dp_edge_size(c->p, to - from) : 0;
  dp_kept_rows *kept = NULL;
  char have[24], need[24];
  TSL_TRY(tsl_grow((void **)&b->kept, b->n_kept, 1, &b->kept_room, sizeof *kept, "list"));
  kept = &b->kept[b->n_kept++];
  *kept = (dp_kept_rows){.lo = lo + from, .hi = lo + to};
  const double all = (double)(bands->keep.bytes + state + edge);
  if (all > (double)dp_keep_most(c))
    TSL_FAIL(TSL_ERR_MEMORY,
             "dp.%s: %s is too little to recover the solution on this rank: the rows between its "
             "tiles need about %s; raise it, or use more ranks",
             c->p->special_rows > 0 ? "special_rows.size" : "memory",
             tsl_bytes_text((double)dp_keep_most(c), have),
             tsl_bytes_text(all * (double)c->p->n / (double)kept->hi, need));
  TSL_TRY(dp_kept_reserve(c, &bands->keep, state, "special row", &kept->top));
  TSL_TRY(bands->engine->state_get(b->engine, kept->top.data.data));
  if (b->lo > 0) {
    TSL_TRY(dp_kept_reserve(c, &bands->keep, edge, "special column", &kept->left));
    TSL_TRY(dp_edge_move(c, (char *)left, rows, from, to, kept->left.data.data, true));
  }
  *out = kept;
done:
  return err;
}

/** The tile in pieces that recovery can take one by one. */
static tsl_err tile_in_pieces(dp_bands *bands, dp_band *b, int64_t lo, int64_t hi,
                              const void *left) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const int64_t rows = hi - lo, step = rows_at_a_time(bands, b, rows);
  const dp_window nowhere = {NULL, 0};
  dp_kept_rows *kept = NULL;
  TSL_TRY(dp_reserve(c, &bands->piece, dp_edge_size(c->p, step), "edge"));
  for (int64_t from = 0; from < rows; from += step) {
    const int64_t to = from + step < rows ? from + step : rows;
    TSL_TRY(keep_rows(bands, b, lo, rows, from, to, left, &kept));
    const void *side = b->lo > 0 ? kept->left.data.data : left;
    TSL_TRY(dp_band_engine_tile(bands->engine, b->engine, lo + from, lo + to, side,
                                bands->piece.data, false, nowhere));
    TSL_TRY(dp_edge_move(c, b->right.data, rows, from, to, bands->piece.data, false));
    TSL_TRY(dp_kept_store(c, &bands->keep, &kept->top));
    TSL_TRY(dp_kept_store(c, &bands->keep, &kept->left));
  }
done:
  return err;
}

/* ---- tiles */

dp_window dp_window_of(const dp_context *c, const tsl_unit *u, const tsl_part *part) {
  const bool edge = dp_has_boundary(c->p);
  const int64_t row = edge && u->lo[0] == 0, column = edge && u->lo[1] == 0;
  const int64_t ld = u->hi[1] - u->lo[1] + column;
  if (c->table < 0) return (dp_window){NULL, 0};
  return (dp_window){(char *)part->slab[c->table] + (row * ld + column) * c->bytes, ld};
}

static void fill_boundary(const dp_params *p, const tsl_unit *u, const dp_window *window) {
  int32_t *cells = window->cells;
  const int64_t first = u->lo[1] == 0 ? -1 : 0;
  if (cells == NULL || !dp_has_boundary(p)) return;
  for (int64_t c = first; c < u->hi[1] - u->lo[1] && u->lo[0] == 0; c++)
    cells[c - window->ld] = (int32_t)dp_boundary(p, u->lo[1] + c + 1, false);
  for (int64_t r = 0; r < u->hi[0] - u->lo[0] && u->lo[1] == 0; r++)
    cells[r * window->ld - 1] = (int32_t)dp_boundary(p, u->lo[0] + r + 1, true);
}

int64_t dp_band_end(const dp_bands *bands, const tsl_unit *units, int64_t n, int64_t k) {
  return bands->c->table >= 0 ? k + 1 : dp_units_end(units, n, k);
}

tsl_err dp_band_run(dp_bands *bands, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const int64_t lo = units[0].lo[0], hi = units[0].hi[0];
  const dp_window window = dp_window_of(c, &units[0], &parts[0]);
  const void *left = NULL;
  dp_band *b = dp_band_find(bands, units, n);
  if (b == NULL) TSL_TRY(dp_band_open(bands, units, n, &b));
  TSL_TRY(dp_band_left(bands, b, &units[0], &left));
  TSL_TRY(dp_reserve(c, &b->right, dp_edge_size(c->p, hi - lo + MORE_ROWS), "edge"));
  if (c->p->mode == DP_RECOVER)
    TSL_TRY(tile_in_pieces(bands, b, lo, hi, left));
  else
    TSL_TRY(
        dp_band_engine_tile(bands->engine, b->engine, lo, hi, left, b->right.data, false, window));
  TSL_TRY(right_out(bands, b, lo, hi - lo));
  b->right_lo = lo;
  b->row = hi;
  fill_boundary(c->p, &units[0], &window);
done:
  return err;
}

/* ---- the best cell */

/** Look at the right edge of tiles that end with the last column. */
static tsl_err look_at_column(const dp_bands *bands, dp_band *b, const tsl_unit *u) {
  tsl_err err = TSL_OK;
  const dp_params *p = bands->c->p;
  const int64_t rows = u->hi[0] - u->lo[0];
  const void *edge = NULL;
  if (!(p->free_ends & DP_A_END) || b->hi != p->m) return TSL_OK;
  edge = edge_on_host(bands, b->hi, u->lo[0], dp_edge_size(p, rows));
  if (edge == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: tile %lld has no edge to look at", (long long)u->id);
  TSL_TRY(dp_wait(bands->c)); /* its copy may be queued */
  dp_last_column_add(p, edge, u->lo[0], rows, &b->column);
done:
  return err;
}

/** What the lanes have of the end. */
static tsl_err find_ends(dp_bands *bands, dp_band *b, const tsl_unit *units, int64_t n,
                         tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_params *p = bands->c->p;
  TSL_TRY(look_at_column(bands, b, &units[n - 1]));
  if (units[0].hi[0] != p->n) return TSL_OK;
  TSL_TRY(dp_band_image(bands, b));
  for (int64_t k = 0; k < n; k++) {
    const int64_t from = units[k].lo[1] - b->lo, to = units[k].hi[1] - b->lo;
    const bool last = p->free_ends & DP_A_END && units[k].hi[1] == p->m;
    int64_t *lane = parts[k].slab[bands->c->best];
    dp_last_row_look(p, b->image, b->hi - b->lo, b->lo, from, to, lane);
    lane[3] = last ? b->column.best : 0, lane[4] = last ? b->column.row : 0;
  }
done:
  return err;
}

tsl_err dp_band_best(dp_bands *bands, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  int64_t best[3] = {0, 0, 0}, pruned = 0;
  const dp_band *b = NULL;
  if (c->p->free_ends != 0) return find_ends(bands, dp_band_find(bands, units, n), units, n, parts);
  if (c->best < 0 || units[0].hi[0] != c->p->n) return TSL_OK;
  b = dp_band_find(bands, units, n);
  TSL_TRY(bands->engine->best(b->engine, best));
  if (bands->engine->pruned != NULL) TSL_TRY(bands->engine->pruned(b->engine, &pruned));
  for (int64_t k = 0; k < n; k++) {
    const bool here = best[0] > 0 && best[2] > units[k].lo[1] && best[2] <= units[k].hi[1];
    int64_t *lane = parts[k].slab[c->best];
    for (int e = 0; e < 3; e++) lane[e] = here ? best[e] : 0;
    lane[3] = k > 0 ? 0 : b->resumed ? -1 : pruned;
  }
done:
  return err;
}

tsl_err dp_bands_goal(dp_bands *bands, tsl_field *goal) {
  tsl_err err = TSL_OK;
  double sum = 0;
  if (dp_has_best(bands->c->p)) return TSL_OK;
  for (int64_t k = 0; k < bands->n; k++) {
    const dp_band *b = &bands->list[k];
    double part = 0;
    if (b->past) continue;
    TSL_TRY(bands->engine->goal(b->engine, b->hi == bands->c->p->m, &part));
    sum += part;
  }
  if (goal->type == TSL_I64)
    *(int64_t *)goal->data = (int64_t)sum;
  else
    *(double *)goal->data = sum;
done:
  return err;
}
