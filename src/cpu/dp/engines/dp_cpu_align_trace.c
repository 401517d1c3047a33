/** @file dp_cpu_align_trace.c  The way back through a kept tile: blocks of it are computed again,
 *  cell by cell, with the ways that attain each value. */
#include "dp_cpu_align.h"

#include <string.h>

/* Ways of a cell: how H is attained (the first that does), and whether its gaps were just opened.
 */
enum { H_PAIR = 0, H_LEFT = 1, H_UP = 2, H_END = 3, H_MASK = 3, E_OPENED = 4, F_OPENED = 8 };

/** The part of a kept block that the walk can reach: rows 1..rows, columns 1..columns. */
typedef struct patch {
  const dp_cpu_align *band;
  int64_t row, column; /**< of the tile, of the band: where row 1, column 1 lies, from 0 */
  int64_t rows, columns;
  int32_t *h, *f;                 /**< [columns + 1] H and F' of the row above */
  int32_t *pair, *best, *now, *e; /**< [columns + 1] of a row: pairs; the better of a pair and a gap
                                       in b; H; what a gap in a comes from */
  uint8_t *ways;                  /**< [rows][columns] */
} patch;

/** Pairs and gaps in b of a row, and the better of the two. over: H left of the row above. */
static void row_before(patch *p, const uint8_t letter, int32_t over) {
  const dp_cpu_align *b = p->band;
  const bool linear = b->kind == DP_ALIGN_LINEAR;
  const int32_t extend = b->extend_f, floor = b->kind == DP_ALIGN_LOCAL ? 0 : INT32_MIN;
  const uint8_t *columns = b->columns + p->column - 1;
  const int32_t *restrict h = p->h, *restrict f = linear ? p->h : p->f;
  int32_t *restrict pair = p->pair, *restrict best = p->best;
  const int64_t n = p->columns;
  p->h[0] = over;
  if (linear)
    for (int64_t j = 1; j <= n; j++) pair[j] = letter == columns[j] ? b->match : b->mismatch;
  else
    for (int64_t j = 1; j <= n; j++) pair[j] = b->scores.s[letter][columns[j]];
#pragma omp simd
  for (int64_t j = 1; j <= n; j++) {
    const int32_t gap = f[j] - extend, with = pair[j] + h[j - 1];
    const int32_t better = with > gap ? with : gap;
    pair[j] = with;
    best[j] = better > floor ? better : floor;
  }
}

/** Gaps in a, one cell after another, and H; e: what a gap comes from. */
static void row_across(patch *p, int32_t left_h, int32_t left_e) {
  const dp_cpu_align *b = p->band;
  const bool linear = b->kind == DP_ALIGN_LINEAR;
  const int32_t extend = b->extend_e, open = b->open;
  const int64_t n = p->columns;
  const int32_t *restrict best = p->best;
  int32_t *restrict now = p->now, *restrict from = p->e;
  int32_t e = linear ? left_h : left_e;
  now[0] = left_h;
  for (int64_t j = 1; j <= n; j++) {
    from[j] = e;
    e -= extend;
    const int32_t h = best[j] > e ? best[j] : e, opened = h - open; /* open 0 where linear */
    now[j] = h;
    e = e > opened ? e : opened;
  }
}

/** One row of ways, from the left side h, e of this row and h of the row above. */
static void patch_row(patch *p, int64_t i, int32_t over, int32_t left_h, int32_t left_e) {
  const dp_cpu_align *b = p->band;
  const int32_t end = b->kind == DP_ALIGN_LOCAL ? 0 : INT32_MIN; /* H where a local one begins */
  const int32_t linear = b->kind == DP_ALIGN_LINEAR ? E_OPENED | F_OPENED : 0;
  const int32_t extend_e = b->extend_e, extend_f = b->extend_f, open = b->open;
  const int64_t n = p->columns;
  int32_t *restrict h = p->h, *restrict f = p->f;
  const int32_t *restrict now = p->now, *restrict e = p->e, *restrict pair = p->pair;
  uint8_t *restrict ways = p->ways + (i - 1) * n - 1;
  row_before(p, b->rows[b->keep_lo + p->row + i - 1], over);
  row_across(p, left_h, left_e);
#pragma omp simd
  for (int64_t j = 1; j <= n; j++) {
    const int32_t at = now[j], opened = at - open, gap = f[j] - extend_f;
    int32_t way = at == e[j] - extend_e ? H_LEFT : H_UP;
    way = at == pair[j] ? H_PAIR : way;
    way = at == end ? H_END : way;
    way |= now[j - 1] - open >= e[j] ? E_OPENED : 0;
    way |= h[j] - open >= f[j] ? F_OPENED : 0;
    ways[j] = (uint8_t)(way | linear);
    h[j] = at;
    f[j] = gap > opened ? gap : opened;
  }
}

/** Compute the block that holds cell (i, j) of the tile up to that cell; i, j from 1. */
static void patch_fill(patch *p, int64_t i, int64_t j) {
  const dp_cpu_align *b = p->band;
  const int64_t block = (i - 1) / ALIGN_KEEP_ROWS, strip = (j - 1) / b->width;
  const int64_t tile_rows = b->keep_hi - b->keep_lo;
  p->row = block * ALIGN_KEEP_ROWS;
  p->column = strip * b->width;
  p->rows = i - p->row;
  p->columns = j - p->column;
  const int32_t *edge_h = b->keep_h + strip * (tile_rows + 1) + p->row;
  const int32_t *edge_e = b->keep_e + strip * (tile_rows + 1) + p->row;
  const size_t bytes = (size_t)p->columns * sizeof *p->h;
  memcpy(p->h + 1, b->keep_row_h + block * b->m + p->column, bytes);
  memcpy(p->f + 1, b->keep_row_f + block * b->m + p->column, bytes);
  for (int64_t r = 1; r <= p->rows; r++) patch_row(p, r, edge_h[r - 1], edge_h[r], edge_e[r]);
}

/** One move from the place; false when nothing was moved but the state. */
static bool move(const patch *p, dp_place *place, int64_t *i, int64_t *j, uint8_t *step) {
  const uint8_t way = p->ways[(*i - p->row - 1) * p->columns + *j - p->column - 1];
  if (place->state == DP_STEP_PAIR && (way & H_MASK) != H_PAIR) {
    place->done = (way & H_MASK) == H_END;
    if (!place->done) place->state = (way & H_MASK) == H_LEFT ? DP_STEP_LEFT : DP_STEP_UP;
    return false;
  }
  *step = (uint8_t)place->state;
  if (place->state == DP_STEP_LEFT && (way & E_OPENED)) place->state = DP_STEP_PAIR;
  if (place->state == DP_STEP_UP && (way & F_OPENED)) place->state = DP_STEP_PAIR;
  *i -= *step != DP_STEP_LEFT;
  *j -= *step != DP_STEP_UP;
  return true;
}

/** Walk until a side of the patch or the begin of a local alignment. */
static tsl_err walk_patch(const patch *p, dp_place *place, int64_t *i, int64_t *j, uint8_t *steps,
                          int64_t room, int64_t *count) {
  tsl_err err = TSL_OK;
  uint8_t step = 0;
  while (*i > p->row && *j > p->column && !place->done) {
    if (!move(p, place, i, j, &step)) continue;
    if (*count == room)
      TSL_FAIL(TSL_ERR_INTERNAL, "room for %lld steps is too little", (long long)room);
    steps[(*count)++] = step;
  }
done:
  return err;
}

tsl_err dp_cpu_align_trace(const dp_cpu_align *b, dp_place *place, uint8_t *steps, int64_t room,
                           int64_t *count) {
  tsl_err err = TSL_OK;
  patch p = {.band = b};
  int32_t **const lists[6] = {&p.h, &p.f, &p.pair, &p.best, &p.now, &p.e};
  int64_t i = place->row - b->keep_lo, j = place->column;
  *count = 0;
  if (i < 0 || place->row > b->keep_hi || j < 0 || j > b->m)
    TSL_FAIL(TSL_ERR_INTERNAL, "cell (%lld, %lld) is not in the kept tile", (long long)place->row,
             (long long)place->column);
  for (int k = 0; k < 6; k++)
    TSL_TRY(tsl_alloc(b->width + 1, sizeof *p.h, "row of a walk", (void **)lists[k]));
  TSL_TRY(tsl_alloc(b->width * ALIGN_KEEP_ROWS, 1, "ways of a walk", (void **)&p.ways));
  while (i > 0 && j > 0 && !place->done) {
    patch_fill(&p, i, j);
    TSL_TRY(walk_patch(&p, place, &i, &j, steps, room, count));
  }
  place->row = b->keep_lo + i;
  place->column = j;
done:
  TSL_FREE_ALL(p.h, p.f, p.pair, p.best, p.now, p.e, p.ways);
  return err;
}
