/** @file dp_recur_wave.c  Wavefronts: a tile as strips of columns in step, from its edges alone. */
#include "dp_pipe.h"
#include "dp_recur_cpu.h"
#include "integers.h"

#include <string.h>

enum {
  HEIGHT = 512,      /* rows of a block */
  WIDTH = 8192,      /* columns of a strip, of a single thread */
  WIDTH_MOST = 4096, /* of several */
  WIDTH_LEAST = 512,
  SEEN_HEIGHT = 256, /* blocks whose cells all go somewhere */
  SEEN_WIDTH = 512,
  SEEN_BYTES = 1 << 25, /* of such a block, with a depth */
  STRIPS_OF_THREAD = 4
};

/* ---- sides */

static dp_side *find_side(const dp_recur_cpu *r, int64_t column) {
  for (int64_t k = 0; k < r->n_sides; k++)
    if (r->sides[k].column == column) return &r->sides[k];
  return NULL;
}

static tsl_err add_side(dp_recur_cpu *r, int64_t column, dp_side **out) {
  tsl_err err = TSL_OK;
  *out = find_side(r, column);
  if (*out != NULL) return TSL_OK;
  TSL_TRY(tsl_grow((void **)&r->sides, r->n_sides, 1, &r->side_room, sizeof *r->sides, "edges"));
  *out = &r->sides[r->n_sides++];
  **out = (dp_side){.column = column};
done:
  return err;
}

/** A side with room for the edge of rows lo - 1..hi - 1. */
static tsl_err open_side(dp_recur_cpu *r, int64_t column, int64_t lo, int64_t hi, char **values) {
  tsl_err err = TSL_OK;
  dp_side *side = NULL;
  void *memory = NULL;
  TSL_TRY(add_side(r, column, &side));
  if (side->n != hi - lo + 1) {
    TSL_TRY(tsl_alloc(hi - lo + 1, (size_t)r->bytes, "edge", &memory));
    tsl_free(side->values);
    side->values = memory;
    side->n = hi - lo + 1;
  }
  side->row = lo;
  *values = side->values;
done:
  return err;
}

void dp_recur_wave_clear(dp_recur_cpu *r) {
  for (int64_t k = 0; k < r->n_sides; k++) tsl_free(r->sides[k].values);
  tsl_free(r->sides);
  r->sides = NULL;
  r->n_sides = r->side_room = 0;
}

tsl_err dp_recur_wave_edge_out(const dp_recur_cpu *r, const tsl_unit *u, void *bytes) {
  tsl_err err = TSL_OK;
  const dp_side *side = find_side(r, u->hi[1]);
  if (side == NULL || side->row != u->lo[0] || side->n != u->hi[0] - u->lo[0] + 1)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: tile %lld has left no edge", (long long)u->id);
  memcpy(bytes, side->values, (size_t)(side->n * r->bytes));
done:
  return err;
}

tsl_err dp_recur_wave_edge_in(dp_recur_cpu *r, const tsl_unit *u, const void *bytes) {
  tsl_err err = TSL_OK;
  char *values = NULL;
  TSL_TRY(open_side(r, u->hi[1], u->lo[0], u->hi[0], &values));
  memcpy(values, bytes, (size_t)((u->hi[0] - u->lo[0] + 1) * r->bytes));
done:
  return err;
}

/* ---- a tile */

/** Neighbouring tiles that are computed as one. */
typedef struct span {
  tsl_worker *w;
  dp_recur_cpu *r;
  const tsl_unit *units;
  tsl_part *parts;
  int64_t n, lo[2], hi[2];
  int64_t p0, q0;         /**< first row and column that are no boundary */
  int64_t height, width;  /**< of blocks */
  int64_t blocks, strips; /**< their numbers */
  char *left;             /**< [rows + 1] column q0 - 1, entry 0 is row lo[0] - 1 */
  char *edges;            /**< [blocks][height + 1] column between the strip done and the next */
  char **scratch;         /**< [threads] [height + 1][width + 1], NULL until needed */
  char **lines;           /**< [threads] likewise, with a depth: of dp_wave */
  dp_fault fault;
} span;

/** Boundary cells [p0, p1) x [q0, q1) to out, row after row. */
static tsl_err do_boundary(span *s, int64_t p0, int64_t p1, int64_t q0, int64_t q1, char *out) {
  tsl_err err = TSL_OK;
  const dp_area cells = {p0, p1, q0, q1, out, q1 - q0};
  const dp_view view = {.cells = cells};
  if (p0 >= p1 || q0 >= q1) return TSL_OK;
  if (s->r->edge == NULL) {
    TSL_TRY(dp_recur_interpret(s->r, &view, p0, p1, q0, q1));
  } else if (s->r->edge(&s->r->recur->args, p0, p1, q0, q1, out) != 0) {
    TSL_TRY(dp_recur_explain(s->r, &view, p0, p1, q0, q1));
  }
  dp_recur_watch(s->r, &cells, false);
  dp_recur_store(s->w, &cells, s->units, s->n, s->parts);
done:
  return err;
}

/* ---- blocks */

/** A block of a strip: its cells and its edges. */
typedef struct block {
  int64_t p0, p1, q0, q1;
  char *top, *edge; /**< as of dp_wave */
  char *scratch;    /**< [rows + 1][columns + 1] */
  char *lines;
} block;

static dp_area inner_cells(const block *b, int64_t bytes) {
  const int64_t stride = b->q1 - b->q0 + 1;
  return (dp_area){b->p0, b->p1, b->q0, b->q1, b->scratch + (stride + 1) * bytes, stride};
}

/** The block by the interpreter: between its edges, which it moves on. */
static tsl_err interpret_block(const dp_recur_cpu *r, const block *b) {
  tsl_err err = TSL_OK;
  const size_t n = (size_t)r->bytes, rows = (size_t)(b->p1 - b->p0);
  const size_t columns = (size_t)(b->q1 - b->q0), stride = columns + 1;
  const dp_view view = {.cells = {b->p0 - 1, b->p1, b->q0 - 1, b->q1, b->scratch, (int64_t)stride}};
  memcpy(b->scratch + n, b->top, columns * n);
  for (size_t e = 0; e <= rows; e++) memcpy(b->scratch + e * stride * n, b->edge + e * n, n);
  TSL_TRY(dp_recur_interpret(r, &view, b->p0, b->p1, b->q0, b->q1));
  memcpy(b->top, b->scratch + (rows * stride + 1) * n, columns * n);
  for (size_t e = 0; e <= rows; e++)
    memcpy(b->edge + e * n, b->scratch + (e * stride + columns) * n, n);
done:
  return err;
}

/** The cells on the edges before compiled code moves them on; edges and back. */
static void exchange_edges(const dp_recur_cpu *r, const block *b, char *kept, bool back) {
  const size_t top = (size_t)((b->q1 - b->q0) * r->bytes);
  const size_t edge = (size_t)((b->p1 - b->p0 + 1) * r->bytes);
  memcpy(back ? b->top : kept, back ? kept : b->top, top);
  memcpy(back ? b->edge : kept + top, back ? kept + top : b->edge, edge);
}

/** The block by compiled code; cells to the scratch when they are seen. */
static tsl_err compile_block(dp_recur_cpu *r, const block *b, bool seen) {
  tsl_err err = TSL_OK;
  const dp_code *c = &r->recur->code;
  const bool checks = c->checks != 0;
  const dp_area cells = inner_cells(b, r->bytes);
  char best[8], *kept = NULL;
  dp_wave wave = {.p0 = b->p0, .p1 = b->p1, .q0 = b->q0, .q1 = b->q1, .top = b->top};
  wave.left = b->edge, wave.best = best, wave.best_p = wave.best_q = -1;
  wave.lines = b->lines;
  if (seen) wave.table = cells.values, wave.stride = cells.stride;
  if (checks)
    TSL_TRY(
        tsl_alloc(b->q1 - b->q0 + b->p1 - b->p0 + 1, (size_t)r->bytes, "edges", (void **)&kept));
  if (checks) exchange_edges(r, b, kept, false);
  if (r->wave(&r->recur->args, &wave) != 0 && checks && !r->trial) {
    const dp_view none = {.cells = cells};
    exchange_edges(r, b, kept, true);
    TSL_TRY(interpret_block(r, b));
    TSL_TRY(dp_recur_explain(r, &none, b->p0, b->p0, b->q0, b->q0));
  }
  if (c->best != 0 && wave.best_p >= 0) {
    dp_recur_best found = {.bits = dp_recur_bits(c->type, best), .layer = wave.best_layer};
    dp_code_unfold(c, wave.best_p, wave.best_q, &found.i, &found.j);
    dp_recur_offer(r, &found);
  }
done:
  tsl_free(kept);
  return err;
}

static tsl_err do_block(span *s, block *b, int thread) {
  tsl_err err = TSL_OK;
  dp_recur_cpu *r = s->r;
  const bool interpreted = r->wave == NULL, chosen = r->recur->code.best != 0 && !interpreted;
  const bool seen = interpreted || dp_recur_gives(s->w->dp.c.table, s->parts) ||
                    dp_recur_is_watched(r, b->p0, b->p1, b->q0, b->q1, chosen);
  const bool needed = seen || r->recur->code.checks != 0;
  if (needed && s->scratch[thread] == NULL)
    TSL_TRY(tsl_alloc((s->height + 1) * (s->width + 1), (size_t)r->bytes, "cells",
                      (void **)&s->scratch[thread]));
  if (r->recur->code.layers > 0 && s->lines[thread] == NULL)
    TSL_TRY(
        tsl_alloc(dp_code_strip_bytes(&r->recur->code), 1, "strip", (void **)&s->lines[thread]));
  b->scratch = s->scratch[thread], b->lines = s->lines[thread];
  TSL_TRY(interpreted ? interpret_block(r, b) : compile_block(r, b, seen));
  if (!seen) goto done;
  const dp_area cells = inner_cells(b, r->bytes);
  dp_recur_watch(r, &cells, chosen);
  dp_recur_store(s->w, &cells, s->units, s->n, s->parts);
done:
  return err;
}

static void pipe_block(void *context, int64_t strip, int64_t number, int thread) {
  span *s = context;
  block b = {.p0 = s->p0 + number * s->height, .q0 = s->q0 + strip * s->width};
  if (dp_fault_is(&s->fault)) return;
  b.p1 = tsl_min(b.p0 + s->height, s->hi[0]), b.q1 = tsl_min(b.q0 + s->width, s->hi[1]);
  b.top = s->r->top + b.q0 * s->r->bytes;
  b.edge = s->edges + number * (s->height + 1) * s->r->bytes;
  dp_fault_keep(&s->fault, do_block(s, &b, thread));
}

/* ---- edges of the tile */

/** Entry of the edge for row p. */
static size_t entry(const span *s, int64_t p) {
  return (size_t)((p - s->lo[0] + 1) * s->r->bytes);
}

/** The column left of the blocks: the boundary's, another tile's, or none. */
static tsl_err find_left(span *s) {
  tsl_err err = TSL_OK;
  dp_recur_cpu *r = s->r;
  const dp_side *side = find_side(r, s->lo[1]);
  TSL_TRY(tsl_alloc(s->hi[0] - s->lo[0] + 1, (size_t)r->bytes, "edge", (void **)&s->left));
  if (s->lo[1] > 0) {
    const bool here = side != NULL && side->row == s->lo[0] && side->n == s->hi[0] - s->lo[0] + 1;
    if (here)
      memcpy(s->left, side->values, (size_t)(side->n * r->bytes));
    else if (!r->trial)
      TSL_FAIL(TSL_ERR_INTERNAL, "dp: no edge for row %lld, column %lld", (long long)s->lo[0],
               (long long)s->lo[1]);
  } else if (s->q0 > 0) { /* column 0; above it what was left there */
    memcpy(s->left + entry(s, s->p0 - 1), r->top, (size_t)r->bytes);
    TSL_TRY(do_boundary(s, s->p0, s->hi[0], 0, 1, s->left + entry(s, s->p0)));
    memcpy(r->top, s->left + entry(s, s->hi[0] - 1), (size_t)r->bytes);
  }
done:
  return err;
}

static void cut_left(const span *s) {
  for (int64_t b = 0; b < s->blocks; b++) {
    const int64_t p0 = s->p0 + b * s->height, p1 = tsl_min(p0 + s->height, s->hi[0]);
    memcpy(s->edges + b * (s->height + 1) * s->r->bytes, s->left + entry(s, p0 - 1),
           (size_t)((p1 - p0 + 1) * s->r->bytes));
  }
}

/** The last column, for whoever comes next. corner: row lo[0] - 1; first: the boundary row. */
static tsl_err give_right(const span *s, const char *corner, const char *first) {
  tsl_err err = TSL_OK;
  char *right = NULL;
  const size_t n = (size_t)s->r->bytes;
  TSL_TRY(open_side(s->r, s->hi[1], s->lo[0], s->hi[0], &right));
  if (s->strips == 0) memcpy(right, s->left, entry(s, s->hi[0]));
  for (int64_t b = 0; b < s->blocks && s->strips > 0; b++) {
    const int64_t p0 = s->p0 + b * s->height, p1 = tsl_min(p0 + s->height, s->hi[0]);
    memcpy(right + entry(s, p0), s->edges + (b * (s->height + 1) + 1) * s->r->bytes,
           (size_t)(p1 - p0) * n);
  }
  memcpy(right, corner, n);
  if (s->p0 > s->lo[0]) memcpy(right + n, first, n);
done:
  return err;
}

/* ---- the whole */

static void set_blocks(span *s) {
  const int threads = s->w->cpu.threads;
  const int64_t columns = s->hi[1] - s->q0, rows = s->hi[0] - s->p0;
  const bool seen = dp_recur_gives(s->w->dp.c.table, s->parts) || s->r->wave == NULL;
  const int64_t fair = columns / (STRIPS_OF_THREAD * threads) + 1;
  s->height = seen ? SEEN_HEIGHT : HEIGHT;
  s->width = threads == 1 ? WIDTH : fair < WIDTH_MOST ? fair : WIDTH_MOST;
  if (s->width < WIDTH_LEAST) s->width = WIDTH_LEAST;
  if (seen && s->width > SEEN_WIDTH) s->width = SEEN_WIDTH;
  if (s->r->recur->code.layers > 0) { /* any block may be seen, the goal's for one */
    s->height = s->r->recur->code.lanes;
    const int64_t most = SEEN_BYTES / ((s->height + 1) * s->r->bytes);
    s->width = tsl_min(s->width, tsl_max(most, s->height));
  }
  s->width = tsl_min(s->width, columns > 0 ? columns : 1);
  s->height = tsl_min(s->height, rows > 0 ? rows : 1);
  s->blocks = (rows + s->height - 1) / s->height;
  s->strips = (columns + s->width - 1) / s->width;
}

static tsl_err dp_recur_wave_compute(span *s) {
  tsl_err err = TSL_OK;
  const dp_code *c = &s->r->recur->code;
  char *corner = NULL, *first = NULL;
  char *const last = s->r->top + (s->hi[1] - 1) * s->r->bytes;
  s->p0 = s->lo[0] == 0 ? tsl_min(c->margin_p, s->hi[0]) : s->lo[0];
  s->q0 = s->lo[1] == 0 ? tsl_min(c->margin_q, s->hi[1]) : s->lo[1];
  set_blocks(s);
  TSL_TRY(tsl_alloc(1, (size_t)s->r->bytes, "edge", (void **)&corner));
  TSL_TRY(tsl_alloc(1, (size_t)s->r->bytes, "edge", (void **)&first));
  if (s->lo[0] > 0) memcpy(corner, last, (size_t)s->r->bytes);
  TSL_TRY(do_boundary(s, s->lo[0], s->p0, s->lo[1], s->hi[1], s->r->top + s->lo[1] * s->r->bytes));
  memcpy(first, last, (size_t)s->r->bytes);
  TSL_TRY(find_left(s));
  TSL_TRY(tsl_alloc(s->blocks * (s->height + 1), (size_t)s->r->bytes, "edges", (void **)&s->edges));
  cut_left(s);
  TSL_TRY(dp_pipe_run(s->w->cpu.threads, s->strips, s->blocks, pipe_block, s));
  TSL_TRY(dp_fault_settle(&s->fault));
  TSL_TRY(give_right(s, corner, first));
done:
  TSL_FREE_ALL(corner, first);
  return err;
}

tsl_err dp_recur_wave_run(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  span s = {.w = w, .r = w->recur, .units = units, .parts = parts, .n = n};
  s.lo[0] = units[0].lo[0], s.hi[0] = units[0].hi[0];
  s.lo[1] = units[0].lo[1], s.hi[1] = units[n - 1].hi[1];
  TSL_TRY(tsl_alloc(w->cpu.threads, sizeof *s.scratch, "cells", (void **)&s.scratch));
  TSL_TRY(tsl_alloc(w->cpu.threads, sizeof *s.lines, "cells", (void **)&s.lines));
  TSL_TRY(dp_recur_wave_compute(&s));
done:
  for (int t = 0; t < w->cpu.threads && s.scratch != NULL; t++) tsl_free(s.scratch[t]);
  for (int t = 0; t < w->cpu.threads && s.lines != NULL; t++) tsl_free(s.lines[t]);
  TSL_FREE_ALL(s.scratch, s.lines, s.left, s.edges);
  return err;
}
