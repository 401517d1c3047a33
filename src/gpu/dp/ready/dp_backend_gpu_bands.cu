/* Wavefronts on a card: bands of neighbouring lanes, their edges, what recovery keeps. */
#include "dp_backend_gpu.cuh"

enum { MORE_ROWS = 64 /* stages differ by so many rows: edges are made that much longer */ };

/* ---- edges as bytes */

/* Queue: rows [from, to) of an edge and the edge of these rows alone trade places by `out`; from is
 * a multiple of 32. All device memory. Entry 0 of a part does not go in, where the row before it
 * has more (E'). */
static tsl_err move_edge(const dp_worker *w, char *edge, int64_t rows, int64_t from, int64_t to,
                         char *part, bool out) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->p;
  const bool bits = dp_edge_is_bits(p);
  const int64_t entry = dp_edge_entry(p);
  const int64_t bytes = bits ? 4 * dp_bit_words(to - from) : (to - from + 1) * entry;
  const int64_t skip = !bits && !out && from > 0 ? entry : 0;
  for (int k = 0; k < (bits ? dp_bit_parts(p) : 1); k++) {
    char *whole = edge + (bits ? 4 * (k * dp_bit_words(rows) + from / 32) : from * entry);
    TSL_CUDA_TRY(cudaMemcpyAsync((out ? part : whole) + skip, (out ? whole : part) + skip,
                                 (size_t)(bytes - skip), cudaMemcpyDeviceToDevice, w->card.stream));
    part += bytes;
  }
done:
  return err;
}

/* ---- bands */

static void clear_kept(dp_worker *w, dp_band_gpu *b) {
  for (int64_t k = 0; k < b->n_kept; k++) {
    tsl_gpu_release(&w->card.memory, &b->kept[k].top);
    tsl_gpu_release(&w->card.memory, &b->kept[k].left);
  }
  tsl_free(b->kept);
}

void dp_gpu_bands_clear(dp_worker *w) {
  dp_bands_gpu *bands = &w->bands;
  const dp_band_engine *engine = bands->engine;
  for (int64_t k = 0; k < bands->n; k++) {
    dp_band_gpu *b = &bands->list[k];
    engine->close(&b->engine);
    clear_kept(w, b);
    tsl_free(b->image);
    tsl_gpu_release(&w->card.memory, &b->right);
    for (dp_pinned &out : b->out) dp_pinned_release(&out);
  }
  for (int64_t k = 0; k < bands->n_edges; k++)
    tsl_gpu_release(&w->card.memory, &bands->edges[k].data);
  dp_lane_states_clear(&bands->loaded);
  tsl_gpu_release(&w->card.memory, &bands->state);
  tsl_gpu_release(&w->card.memory, &bands->piece);
  tsl_gpu_release(&w->card.memory, &bands->trial_left);
  tsl_gpu_release(&w->card.memory, &bands->trial_right);
  tsl_free(bands->list);
  tsl_free(bands->edges);
  *bands = dp_bands_gpu{};
  bands->engine = engine;
}

dp_band_gpu *dp_gpu_band_find(dp_bands_gpu *bands, const tsl_unit *units, int64_t n) {
  const int64_t lo = units[0].lo[1], hi = units[n - 1].hi[1];
  for (int64_t k = 0; k < bands->n; k++)
    if (!bands->list[k].past && bands->list[k].lo == lo && bands->list[k].hi == hi)
      return &bands->list[k];
  return NULL;
}

tsl_err dp_gpu_band_open(dp_worker *w, const tsl_unit *units, int64_t n, dp_band_gpu **out) {
  tsl_err err = TSL_OK;
  dp_bands_gpu *bands = &w->bands;
  dp_band_gpu *b = NULL;
  TSL_TRY(dp_list_grow((void **)&bands->list, bands->n, &bands->room, sizeof *bands->list));
  b = &bands->list[bands->n];
  *b = dp_band_gpu{};
  b->lo = units[0].lo[1];
  b->hi = units[n - 1].hi[1];
  b->lanes[0] = units[0].lane;
  b->lanes[1] = units[n - 1].lane + 1;
  b->right_lo = b->at = b->out_lo[0] = b->out_lo[1] = -1;
  TSL_TRY(bands->engine->open(w, b->lo, b->hi, &b->engine));
  bands->n++;
  if (units[0].lo[0] > 0) TSL_TRY(dp_gpu_bands_go_on(w, b, units[0].lo[0]));
  *out = b;
done:
  return err;
}

/* ---- edges of tiles */

/* A band of this worker on the left has it on the card, or on the host where stages overlap. */
const void *dp_gpu_band_left(const dp_bands_gpu *bands, int64_t lo, int64_t row) {
  for (int64_t k = 0; k < bands->n; k++) {
    const dp_band_gpu *b = &bands->list[k];
    if (b->hi != lo) continue;
    if (b->right_lo == row) return b->right.data;
    for (int out = 0; out < 2; out++)
      if (b->out_lo[out] == row) return b->out[out].data;
  }
  for (int64_t k = 0; k < bands->n_edges; k++)
    if (bands->edges[k].column == lo && bands->edges[k].row == row)
      return bands->edges[k].data.data;
  return NULL;
}

/* Where the edge of a column from `row` on goes: in place of the oldest. */
static tsl_err edge_of_column(dp_bands_gpu *bands, int64_t column, int64_t row, int most,
                              dp_edge_gpu **out) {
  tsl_err err = TSL_OK;
  int n = 0;
  *out = NULL;
  for (int64_t k = 0; k < bands->n_edges; k++) {
    dp_edge_gpu *edge = &bands->edges[k];
    if (edge->column != column) continue;
    n++;
    if (*out == NULL || edge->row == row || ((*out)->row != row && edge->row < (*out)->row))
      *out = edge;
  }
  if (*out != NULL && (n == most || (*out)->row == row)) return TSL_OK;
  TSL_TRY(dp_list_grow((void **)&bands->edges, bands->n_edges, &bands->edge_room,
                       sizeof *bands->edges));
  *out = &bands->edges[bands->n_edges++];
  **out = dp_edge_gpu{};
  (*out)->column = column;
  (*out)->row = -1;
done:
  return err;
}

/* Plain host memory has been read when the copy returns; the card waits for it by the stream. */
tsl_err dp_gpu_bands_edge_in(dp_worker *w, const tsl_unit *unit, const void *bytes) {
  tsl_err err = TSL_OK;
  const int64_t rows = unit->hi[0] - unit->lo[0];
  dp_edge_gpu *edge = NULL;
  TSL_TRY(edge_of_column(&w->bands, unit->hi[1], unit->lo[0], dp_gpu_bands_overlap(w->p) ? 2 : 1,
                         &edge));
  edge->row = -1;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &edge->data, dp_edge_size(w->p, rows + MORE_ROWS),
                          "edge of another rank"));
  TSL_CUDA_TRY(cudaMemcpyAsync(edge->data.data, bytes, (size_t)dp_edge_size(w->p, rows),
                               cudaMemcpyHostToDevice, w->card.stream));
  edge->row = unit->lo[0];
done:
  return err;
}

tsl_err dp_gpu_bands_edge_out(dp_worker *w, const tsl_unit *unit, void *bytes) {
  const dp_bands_gpu *bands = &w->bands;
  const int64_t size = dp_edge_size(w->p, unit->hi[0] - unit->lo[0]);
  for (int64_t k = 0; k < bands->n; k++) {
    const dp_band_gpu *b = &bands->list[k];
    for (int out = 0; out < 2 && b->hi == unit->hi[1]; out++) {
      if (b->out_lo[out] != unit->lo[0] || b->out[out].bytes < size) continue;
      memcpy(bytes, b->out[out].data, (size_t)size);
      return TSL_OK;
    }
  }
  return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "dp: tile %lld has no edge",
                  (long long)unit->id);
}

tsl_err dp_gpu_band_out(dp_worker *w, dp_band_gpu *b, int64_t rows, void **out) {
  tsl_err err = TSL_OK;
  *out = NULL;
  if (b->hi == w->p->m) return TSL_OK;
  b->out_lo[b->turn] = -1;
  TSL_TRY(dp_pinned_reserve(&b->out[b->turn], dp_edge_size(w->p, rows + MORE_ROWS)));
  *out = b->out[b->turn].data;
done:
  return err;
}

/* Queue the copy of the right edge to the host. */
static tsl_err right_out(dp_worker *w, dp_band_gpu *b, int64_t lo, int64_t rows) {
  tsl_err err = TSL_OK;
  void *out = NULL;
  TSL_TRY(dp_gpu_band_out(w, b, rows, &out));
  if (out == NULL) goto done;
  TSL_CUDA_TRY(cudaMemcpyAsync(out, b->right.data, (size_t)dp_edge_size(w->p, rows),
                               cudaMemcpyDeviceToHost, w->card.stream));
  b->out_lo[b->turn] = lo;
  b->turn = 1 - b->turn;
done:
  return err;
}

/* ---- what recovery keeps */

/* Rows that recovery takes at a time: their cells fit half the memory, and half of what the card
 * has left. */
static int64_t rows_at_a_time(const dp_worker *w, const dp_band_gpu *b, int64_t rows) {
  const tsl_gpu_memory *memory = &w->card.memory;
  int64_t half = w->p->budget / 2;
  if (memory->limit > 0 && (memory->limit - memory->used) / 2 < half)
    half = (memory->limit - memory->used) / 2;
  while (rows > 64 && w->bands.engine->keep_bytes(b->engine, rows) > half)
    rows = (rows / 2 + 63) / 64 * 64;
  return rows;
}

/* Keep the state above rows [lo, hi) and rows from..to-1 of the tile's left edge. */
static tsl_err keep_rows(dp_worker *w, dp_band_gpu *b, int64_t lo, int64_t rows, int64_t from,
                         int64_t to, const void *left, dp_kept_rows **out) {
  tsl_err err = TSL_OK;
  const int64_t state = w->bands.engine->state_bytes(b->engine);
  const int64_t edge = left != NULL ? dp_edge_size(w->p, to - from) : 0;
  dp_kept_rows *kept = NULL;
  char have[24], need[24];
  TSL_TRY(dp_list_grow((void **)&b->kept, b->n_kept, &b->kept_room, sizeof *kept));
  kept = &b->kept[b->n_kept++];
  *kept = dp_kept_rows{lo + from, lo + to, {}, {}};
  w->bands.history += state + edge;
  if (w->bands.history > w->p->budget)
    TSL_FAIL(TSL_ERR_MEMORY,
             "dp.memory: %s is too little to recover the solution on this rank: the rows between "
             "its tiles need about %s; raise it, or use more ranks",
             tsl_bytes_text((double)w->p->budget, have),
             tsl_bytes_text((double)w->bands.history * (double)w->p->n / (double)kept->hi, need));
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &kept->top, state, "special row"));
  TSL_TRY(w->bands.engine->state_get(b->engine, kept->top.data));
  if (left != NULL) {
    TSL_TRY(tsl_gpu_reserve(&w->card.memory, &kept->left, edge, "special column"));
    TSL_TRY(move_edge(w, (char *)left, rows, from, to, (char *)kept->left.data, true));
  }
  *out = kept;
done:
  return err;
}

/* The tile in pieces that recovery can take one by one. */
static tsl_err tile_in_pieces(dp_worker *w, dp_band_gpu *b, int64_t lo, int64_t hi,
                              const void *left) {
  tsl_err err = TSL_OK;
  const int64_t rows = hi - lo, step = rows_at_a_time(w, b, rows);
  const dp_window nowhere = {NULL, 0};
  dp_kept_rows *kept = NULL;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &w->bands.piece, dp_edge_size(w->p, step), "edge"));
  for (int64_t from = 0; from < rows; from += step) {
    const int64_t to = from + step < rows ? from + step : rows;
    TSL_TRY(keep_rows(w, b, lo, rows, from, to, left, &kept));
    TSL_TRY(w->bands.engine->tile(b->engine, lo + from, lo + to, kept->left.data,
                                  w->bands.piece.data, false, nowhere));
    TSL_TRY(
        move_edge(w, (char *)b->right.data, rows, from, to, (char *)w->bands.piece.data, false));
  }
done:
  return err;
}

/* ---- tiles */

/* Cells of the tile in its slab; the slab's row 0 or column 0 may be the boundary. */
static dp_window window_of(const dp_worker *w, const tsl_unit *u, const tsl_part *part) {
  const bool edge = dp_has_boundary(w->p);
  const int64_t row = edge && u->lo[0] == 0, column = edge && u->lo[1] == 0;
  const int64_t ld = u->hi[1] - u->lo[1] + column;
  if (w->table < 0) return dp_window{NULL, 0};
  return dp_window{(char *)part->slab[w->table] + (row * ld + column) * w->bytes, ld};
}

int32_t dp_gpu_boundary(const dp_params *p, int64_t k, bool rows) {
  if (p->problem == DP_EDIT) return (int32_t)(k * (rows ? p->remove : p->insert));
  if (p->problem == DP_GLOBAL && k > 0)
    return (int32_t) - (p->scores.open + k * (int64_t)p->scores.extend);
  return 0;
}

static void fill_boundary(const dp_worker *w, const tsl_unit *u, const dp_window *window) {
  int32_t *cells = (int32_t *)window->cells;
  const int64_t first = u->lo[1] == 0 ? -1 : 0;
  if (cells == NULL || !dp_has_boundary(w->p)) return;
  for (int64_t c = first; c < u->hi[1] - u->lo[1] && u->lo[0] == 0; c++)
    cells[c - window->ld] = dp_gpu_boundary(w->p, u->lo[1] + c + 1, false);
  for (int64_t r = 0; r < u->hi[0] - u->lo[0] && u->lo[1] == 0; r++)
    cells[r * window->ld - 1] = dp_gpu_boundary(w->p, u->lo[0] + r + 1, true);
}

/* The best cell in the lane that has it, nothing in the others. */
tsl_err dp_gpu_band_best(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  int64_t best[3] = {0, 0, 0};
  dp_band_gpu *b = dp_gpu_band_find(&w->bands, units, n);
  if (w->best < 0 || units[0].hi[0] != w->p->n) return TSL_OK;
  TSL_TRY(w->bands.engine->best(b->engine, best));
  for (int64_t k = 0; k < n; k++) {
    const bool here = best[0] > 0 && best[2] > units[k].lo[1] && best[2] <= units[k].hi[1];
    for (int c = 0; c < 3; c++) ((int64_t *)parts[k].slab[w->best])[c] = here ? best[c] : 0;
  }
done:
  return err;
}

/* Queue the tiles of neighbouring lanes as one. */
static tsl_err run_band(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const int64_t lo = units[0].lo[0], hi = units[0].hi[0], from = units[0].lo[1];
  dp_band_gpu *b = dp_gpu_band_find(&w->bands, units, n);
  const dp_window window = window_of(w, &units[0], &parts[0]);
  const void *left = NULL;
  if (b == NULL) TSL_TRY(dp_gpu_band_open(w, units, n, &b));
  left = from > 0 ? dp_gpu_band_left(&w->bands, from, lo) : NULL;
  if (b->row != lo || (from > 0 && left == NULL))
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: tile %lld comes before what it needs", (long long)units[0].id);
  TSL_TRY(
      tsl_gpu_reserve(&w->card.memory, &b->right, dp_edge_size(w->p, hi - lo + MORE_ROWS), "edge"));
  if (w->p->mode == DP_RECOVER)
    TSL_TRY(tile_in_pieces(w, b, lo, hi, left));
  else
    TSL_TRY(w->bands.engine->tile(b->engine, lo, hi, left, b->right.data, false, window));
  TSL_TRY(right_out(w, b, lo, hi - lo));
  b->right_lo = lo;
  b->row = hi;
  fill_boundary(w, &units[0], &window);
done:
  return err;
}

int64_t dp_gpu_band_end(const dp_worker *w, const tsl_unit *units, int64_t n, int64_t k) {
  return w->table >= 0 ? k + 1 : dp_units_end(units, n, k);
}

tsl_err dp_gpu_bands_tiles(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  TSL_TRY(tsl_gpu_timer_start(&w->card.timer, w->card.stream));
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_gpu_band_end(w, units, n, k);
    TSL_TRY(run_band(w, units + k, end - k, parts + k));
  }
  TSL_TRY(tsl_gpu_timer_stop(&w->card.timer, w->card.stream, &seconds));
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_gpu_band_end(w, units, n, k);
    TSL_TRY(dp_gpu_band_best(w, units + k, end - k, parts + k));
  }
  dp_seconds_spread(seconds, units, n, parts);
done:
  return err;
}

/* LOCAL: the rows of the tile itself, from zeros: where the texts are alike, warps note one best
 * cell after the other. */
static tsl_err begin_at(dp_worker *w, void *engine, int64_t row) {
  tsl_err err = TSL_OK;
  tsl_gpu_buffer *state = &w->bands.state;
  const int64_t bytes = w->bands.engine->state_bytes(engine);
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, state, bytes, "row of a trial"));
  TSL_CUDA_TRY(cudaMemsetAsync(state->data, 0, (size_t)bytes, w->card.stream));
  TSL_TRY(w->bands.engine->state_put(engine, row, state->data));
done:
  return err;
}

tsl_err dp_gpu_trial_open(dp_worker *w, const tsl_unit *units, int64_t n, int64_t rows,
                          dp_trial_gpu *t) {
  tsl_err err = TSL_OK;
  dp_bands_gpu *bands = &w->bands;
  const int64_t size = dp_edge_size(w->p, rows);
  *t = dp_trial_gpu{};
  t->row = w->p->problem == DP_LOCAL && w->table < 0 ? units[0].lo[0] : 0;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &bands->trial_left, size, "edge"));
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &bands->trial_right, size, "edge"));
  TSL_CUDA_TRY(cudaMemsetAsync(bands->trial_left.data, 0, (size_t)size, w->card.stream));
  TSL_TRY(bands->engine->open(w, units[0].lo[1], units[n - 1].hi[1], &t->engine));
  if (t->row > 0) TSL_TRY(begin_at(w, t->engine, t->row));
  if (units[0].lo[1] > 0) t->left = bands->trial_left.data;
done:
  return err;
}

/* One band, alone. */
static tsl_err try_band(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const int64_t rows = units[0].hi[0] - units[0].lo[0];
  const dp_window window = window_of(w, &units[0], &parts[0]);
  dp_trial_gpu t = {};
  double seconds = 0;
  TSL_TRY(dp_gpu_trial_open(w, units, n, rows, &t));
  TSL_TRY(tsl_gpu_timer_start(&w->card.timer, w->card.stream));
  TSL_TRY(w->bands.engine->tile(t.engine, t.row, t.row + rows, t.left, w->bands.trial_right.data,
                                false, window));
  TSL_TRY(tsl_gpu_timer_stop(&w->card.timer, w->card.stream, &seconds));
  dp_seconds_spread(seconds, units, n, parts);
done:
  w->bands.engine->close(&t.engine);
  return err;
}

tsl_err dp_gpu_bands_trial(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  if (dp_gpu_bands_overlap(w->p) && units[0].stage < units[n - 1].stage)
    return dp_gpu_stages_trial(w, units, n, parts);
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_gpu_band_end(w, units, n, k);
    TSL_TRY(try_band(w, units + k, end - k, parts + k));
  }
done:
  return err;
}

tsl_err dp_gpu_bands_goal(dp_worker *w, tsl_field *goal) {
  tsl_err err = TSL_OK;
  double sum = 0;
  if (w->p->problem == DP_LOCAL) return TSL_OK;
  for (int64_t k = 0; k < w->bands.n; k++) {
    const dp_band_gpu *b = &w->bands.list[k];
    double part = 0;
    if (b->past) continue;
    TSL_TRY(w->bands.engine->goal(b->engine, b->hi == w->p->m, &part));
    sum += part;
  }
  if (goal->type == TSL_I64)
    *(int64_t *)goal->data = (int64_t)sum;
  else
    *(double *)goal->data = sum;
done:
  return err;
}
