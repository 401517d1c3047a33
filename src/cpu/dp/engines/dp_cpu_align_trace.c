/** @file dp_cpu_align_trace.c  The way back through a kept tile: blocks of it are computed again,
 *  cell by cell, with the ways that attain each value. */
#include "dp_cpu_align.h"
#include "fn.h"

#include <string.h>

/* Ways of a cell: how H is attained (the first that does), and whether its gaps were just opened.
 */
enum { H_PAIR = 0, H_LEFT = 1, H_UP = 2, H_END = 3, H_MASK = 3, E_OPENED = 4, F_OPENED = 8 };

/** Cells of a row in a vector; rows have room for one more than their cells. */
enum { CELLS = 16 };
typedef int32_t cells __attribute__((vector_size(CELLS * sizeof(int32_t)), aligned(4), may_alias));

/** The part of a kept block that the walk can reach: rows 1..rows, columns 1..columns. */
typedef struct patch {
  const dp_cpu_align *band;
  int64_t row, column; /**< of the tile, of the band: where row 1, column 1 lies, from 0 */
  int64_t rows, columns;
  int32_t *h, *f;                 /**< [columns + 1] H and F' of the row above */
  int32_t *pair, *best, *now, *e; /**< [columns + 1] of a row: pairs; the better of a pair and a gap
                                       in b; H; what a gap in a comes from */
  uint8_t *codes;                 /**< [columns + 1] of letters */
  uint8_t *ways;                  /**< [rows][columns] */
} patch;

/** Pairs and gaps in b of row i, and the better of the two. over: H left of the row above. */
TSL_LEVELS static void row_before(patch *p, int64_t i, int32_t over) {
  const dp_cpu_align *b = p->band;
  const int64_t n = p->columns, row = b->keep_lo + p->row + i - 1;
  const int32_t extend = b->extend_f, floor = b->kind == DP_ALIGN_LOCAL ? 0 : INT32_MIN;
  const int32_t match = b->match, mismatch = b->mismatch;
  const uint8_t code = b->row_codes[row], *restrict codes = p->codes;
  const int32_t *restrict h = p->h, *restrict f = b->kind == DP_ALIGN_LINEAR ? p->h : p->f;
  int32_t *restrict pair = p->pair, *restrict best = p->best;
  p->h[0] = over;
  if (b->matrix)
    for (int64_t j = 1; j <= n; j++) pair[j] = b->scores.s[code][codes[j]];
  else
    for (int64_t j = 1; j <= n; j++) pair[j] = code == codes[j] ? match : mismatch;
#pragma omp simd
  for (int64_t j = 1; j <= n; j++) {
    const int32_t gap = f[j] - extend, with = pair[j] + h[j - 1];
    const int32_t better = with > gap ? with : gap;
    pair[j] = with;
    best[j] = better > floor ? better : floor;
  }
}

/** *x becomes the larger of both, cell by cell. */
static inline void enlarge(cells *x, const cells *y) {
  const cells mask = *x > *y;
  *x = (*x & mask) | (*y & ~mask);
}

/** What each cell's gap is worth where it may have been opened by a cell before it in the vector:
 *  x[k] becomes the largest of x[k - d] - d extend, by ones, twos, fours and eights. */
static inline void spread(cells *x, int32_t extend) {
  static const cells from[4] = {{16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
                                {16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
                                {16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                                {16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7}};
  const cells none = (cells){0} + INT32_MIN;
  for (int k = 0; k < 4; k++) {
    const cells less = *x - (extend << k), shifted = __builtin_shuffle(less, none, from[k]);
    enlarge(x, &shifted);
  }
}

/**
 * Gaps in a, and H; e: what a gap comes from. A gap that is opened right after another is never
 * better than the longer one (open >= 0), so only those opened after pairs and gaps in b count:
 * E[j] = max over k <= j of best[k] - open - (j - k) extend, and of the left side's, j cells away.
 */
TSL_LEVELS static void row_across(patch *p, int32_t left_h, int32_t left_e) {
  const dp_cpu_align *b = p->band;
  const int32_t extend = b->extend_e, open = b->open; /* open 0 where linear */
  static const cells next = {16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  const cells away = (cells){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16} * extend;
  const int64_t n = p->columns;
  int32_t before = b->kind == DP_ALIGN_LINEAR ? left_h : left_e;
  p->now[0] = left_h;
  for (int64_t j = 1; j <= n; j += CELLS) {
    cells h = *(const cells *)(p->best + j), e = h - open;
    const cells far = before - away;
    spread(&e, extend);
    enlarge(&e, &far);
    const cells left = (cells){0} + before, from = __builtin_shuffle(e, left, next),
                gap = from - extend;
    enlarge(&h, &gap);
    *(cells *)(p->e + j) = from;
    *(cells *)(p->now + j) = h;
    before = e[CELLS - 1];
  }
}

/** One row of ways, from the left side h, e of this row and h of the row above. */
TSL_LEVELS static void patch_row(patch *p, int64_t i, int32_t over, int32_t left_h,
                                 int32_t left_e) {
  const dp_cpu_align *b = p->band;
  const int32_t end = b->kind == DP_ALIGN_LOCAL ? 0 : INT32_MIN; /* H where a local one begins */
  const int32_t linear = b->kind == DP_ALIGN_LINEAR ? E_OPENED | F_OPENED : 0;
  const int32_t extend_e = b->extend_e, extend_f = b->extend_f, open = b->open;
  const int64_t n = p->columns;
  int32_t *restrict h = p->h, *restrict f = p->f;
  const int32_t *restrict now = p->now, *restrict e = p->e, *restrict pair = p->pair;
  uint8_t *restrict ways = p->ways + (i - 1) * n - 1;
  row_before(p, i, over);
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
  for (int64_t c = 1; c <= p->columns; c++)
    p->codes[c] = b->column_code[b->columns[p->column + c - 1]];
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
    TSL_TRY(tsl_alloc(b->width + 2 + CELLS, sizeof *p.h, "row of a walk", (void **)lists[k]));
  TSL_TRY(tsl_alloc(b->width + 1, 1, "letters of a walk", (void **)&p.codes));
  TSL_TRY(tsl_alloc(b->width * ALIGN_KEEP_ROWS, 1, "ways of a walk", (void **)&p.ways));
  while (i > 0 && j > 0 && !place->done) {
    patch_fill(&p, i, j);
    TSL_TRY(walk_patch(&p, place, &i, &j, steps, room, count));
  }
  place->row = b->keep_lo + i;
  place->column = j;
done:
  TSL_FREE_ALL(p.h, p.f, p.pair, p.best, p.now, p.e, p.codes, p.ways);
  return err;
}
