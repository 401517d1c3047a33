/** @file dp_cpu_align.c  Bands of alignments with affine gaps and of weighted edit distances. */
#include "dp_cpu_align.h"

#include "dp_pipe.h"

#include <string.h>

/* ------------------------------------------------------------------ scores */

/**
 * Codes so that equal codes score match and different ones mismatch, where the scores allow it:
 * a letter that does not match itself (such as N) gets different codes in rows and columns. Else
 * the letters themselves, to be looked up in the matrix.
 */
static void assign_codes(dp_cpu_align *b, uint8_t row_code[256]) {
  const letters_scores *s = &b->scores;
  const int k = s->alphabet;
  for (int x = 0; x < 256; x++) row_code[x] = b->column_code[x] = (uint8_t)x;
  if (b->kind == DP_ALIGN_LINEAR) return;
  b->mismatch = k > 1 ? s->s[0][1] : s->s[0][0];
  b->match = b->mismatch;
  for (int x = 0; x < k; x++)
    if (s->s[x][x] != b->mismatch) b->match = s->s[x][x];
  for (int x = 0; x < k; x++)
    for (int y = 0; y < k; y++)
      b->matrix |= s->s[x][y] != b->mismatch && (x != y || s->s[x][y] != b->match);
  for (int x = 0; x < k && !b->matrix; x++)
    if (s->s[x][x] != b->match) row_code[x] = (uint8_t)(x + LETTERS_SCORED);
}

static tsl_err check_letters(const letters_scores *s, const uint8_t *letters, int64_t n,
                             const char *which) {
  tsl_err err = TSL_OK;
  for (int64_t i = 0; i < n; i++)
    if (letters[i] >= s->alphabet)
      TSL_FAIL(TSL_ERR_INPUT, "letter %lld of %s is %d; the alphabet has 0 to %d",
               (long long)(i + 1), which, (int)letters[i], (int)s->alphabet - 1);
done:
  return err;
}

/** No sum of scores may reach 30 bits; rows and columns of the whole table. */
static tsl_err check_reach(const dp_cpu_align *b, int64_t n, int64_t total) {
  tsl_err err = TSL_OK;
  const double less = (double)(n < total ? n : total), both = (double)n + (double)total;
  const double extend = b->extend_e > b->extend_f ? b->extend_e : b->extend_f;
  const double most = less * (b->most > 0 ? b->most : 0);
  const double pair = -(double)(b->least < 0 ? b->least : 0);
  double least = less * pair + both * extend + 2.0 * b->open;
  if (b->kind == DP_ALIGN_LOCAL) least = pair + extend + b->open;
  if (most < ALIGN_MOST / 2 && least < ALIGN_MOST / 2) goto done;
  TSL_FAIL(TSL_ERR_INPUT,
           "scores up to %.6g and down to -%.6g are possible for %lld x %lld letters; the limit is "
           "%d: use smaller scores",
           most, least, (long long)n, (long long)total, ALIGN_MOST / 2);
done:
  return err;
}

/**
 * Rows that a lane of DP_MOVING computes from one base. H of cells k columns or rows apart differ
 * by at most k (most + extend) + open upwards and open + k extend downwards: a path to the farther
 * cell, cut where it leaves the nearer one's row or column, and a gap from there. A lane's first
 * column lies at its base; it computes those on the right of it from the one on the left. What is
 * computed on the way to H lies a gap or a bad pair lower.
 */
static void choose_move(dp_cpu_align *b) {
  const int64_t extend = b->extend_e > b->extend_f ? b->extend_e : b->extend_f;
  const int64_t open = b->open, most = b->most > 0 ? b->most : 0, pair = -(int64_t)b->least;
  const int64_t lower = open + 2 * extend > pair ? open + 2 * extend : pair;
  const int64_t opened = b->kind == DP_ALIGN_LOCAL ? 3 * open : 2 * open; /* align_smooth */
  const int64_t right = DP_COLUMNS * extend, left = most + extend;
  for (int rows = 32; rows >= 4 && b->move == 0; rows /= 2) {
    const int64_t above = (rows + DP_COLUMNS) * (most + extend) + opened + most;
    const int64_t below = rows * extend + (right > left ? right : left) + opened + lower;
    if (above + below < UINT8_MAX) b->move = rows, b->below = (int32_t)below;
  }
}

/* ------------------------------------------------------------------ open and close */

static tsl_err open_memory(dp_cpu_align *b) {
  tsl_err err = TSL_OK;
  uint8_t row_code[256], *codes = NULL;
  assign_codes(b, row_code);
  TSL_TRY(tsl_alloc(b->n + 2 * DP_PAD, 1, "codes of letters", (void **)&codes));
  b->row_codes = codes + DP_PAD;
  for (int64_t i = 0; i < b->n; i++) b->row_codes[i] = row_code[b->rows[i]];
  b->width = (int64_t)b->cpu.kernels->bytes * DP_COLUMNS;
  b->n_strips = (b->m + b->width - 1) / b->width;
  TSL_TRY(tsl_alloc(b->m, sizeof *b->h, "row of an alignment", (void **)&b->h));
  TSL_TRY(tsl_alloc(b->m, sizeof *b->f, "row of an alignment", (void **)&b->f));
  TSL_TRY(tsl_alloc(b->n_strips, sizeof *b->corner, "strips of an alignment", (void **)&b->corner));
  TSL_TRY(
      tsl_alloc(b->cpu.threads, sizeof *b->rooms, "blocks of an alignment", (void **)&b->rooms));
done:
  return err;
}

static tsl_err band_open(const dp_cpu_align *given, int64_t total, dp_cpu_align **out) {
  tsl_err err = TSL_OK;
  dp_cpu_align *b = NULL;
  *out = NULL;
  TSL_TRY(check_reach(given, given->n, total));
  TSL_TRY(tsl_alloc(1, sizeof *b, "band of an alignment", (void **)&b));
  *b = *given;
  choose_move(b);
  TSL_TRY(open_memory(b));
  dp_cpu_align_begin(b);
  *out = b;
done:
  if (err != TSL_OK) dp_cpu_align_close(&b);
  return err;
}

tsl_err dp_cpu_align_open(const dp_cpu *cpu, dp_problem problem, const letters_scores *scores,
                          const uint8_t *rows, int64_t n, const uint8_t *columns, int64_t m,
                          int64_t total, int64_t first, dp_cpu_align **out) {
  tsl_err err = TSL_OK;
  dp_cpu_align b = {.cpu = *cpu,
                    .kind = problem == DP_LOCAL ? DP_ALIGN_LOCAL : DP_ALIGN_GLOBAL,
                    .rows = rows,
                    .columns = columns,
                    .n = n,
                    .m = m,
                    .first = first,
                    .scores = *scores,
                    .open = scores->open,
                    .extend_e = scores->extend,
                    .extend_f = scores->extend};
  *out = NULL;
  if (problem != DP_GLOBAL && problem != DP_LOCAL)
    TSL_FAIL(TSL_ERR_INTERNAL, "alignment of dp problem %d", (int)problem);
  if (scores->alphabet < 1 || scores->alphabet > LETTERS_SCORED)
    TSL_FAIL(TSL_ERR_INPUT, "an alphabet of %d letters; allowed are 1 to %d", (int)scores->alphabet,
             LETTERS_SCORED);
  if (scores->open < 0 || scores->extend < 0)
    TSL_FAIL(TSL_ERR_INPUT, "gap costs open %d, extend %d; both must be >= 0", (int)scores->open,
             (int)scores->extend);
  TSL_TRY(check_letters(scores, rows, n, "the rows"));
  TSL_TRY(check_letters(scores, columns, m, "the columns"));
  b.most = b.least = scores->s[0][0];
  for (int x = 0; x < scores->alphabet; x++)
    for (int y = 0; y < scores->alphabet; y++) {
      const int32_t s = scores->s[x][y];
      if (s > b.most) b.most = s;
      if (s < b.least) b.least = s;
    }
  TSL_TRY(band_open(&b, total, out));
done:
  return err;
}

tsl_err dp_cpu_edit_open(const dp_cpu *cpu, int64_t insert, int64_t remove, int64_t replace,
                         const uint8_t *rows, int64_t n, const uint8_t *columns, int64_t m,
                         int64_t total, int64_t first, dp_cpu_align **out) {
  tsl_err err = TSL_OK;
  dp_cpu_align b = {.cpu = *cpu,
                    .kind = DP_ALIGN_LINEAR,
                    .rows = rows,
                    .columns = columns,
                    .n = n,
                    .m = m,
                    .first = first,
                    .extend_e = (int32_t)insert,
                    .extend_f = (int32_t)remove,
                    .mismatch = (int32_t)-replace,
                    .least = (int32_t)-replace};
  *out = NULL;
  if (insert < 0 || remove < 0 || replace < 0 || insert >= ALIGN_MOST || remove >= ALIGN_MOST ||
      replace >= ALIGN_MOST)
    TSL_FAIL(TSL_ERR_INPUT, "costs insert %lld, remove %lld, replace %lld; allowed are 0 to %d",
             (long long)insert, (long long)remove, (long long)replace, ALIGN_MOST - 1);
  TSL_TRY(band_open(&b, total, out));
done:
  return err;
}

void dp_cpu_align_close(dp_cpu_align **band) {
  dp_cpu_align *b = *band;
  if (b == NULL) return;
  if (b->row_codes != NULL) tsl_free(b->row_codes - DP_PAD);
  TSL_FREE_ALL(b->h, b->f, b->corner, b->eh, b->ee, b->rooms, b->keep_h, b->keep_e, b->keep_row_h,
               b->keep_row_f, b);
  *band = NULL;
}

/* ------------------------------------------------------------------ rows and boundaries */

/** F' as the band holds it: nothing that is no better than a gap opened now, or than none at all.
 */
static int32_t settle_f(const dp_cpu_align *b, int32_t h, int32_t f) {
  if (f > h) f = h; /* no gap is worth more than its last cell */
  if (f < h - b->open) f = h - b->open;
  return b->kind == DP_ALIGN_LOCAL && f < b->extend_f ? b->extend_f : f;
}

/** H of the boundary, k letters from the corner of the table. */
static int32_t boundary(const dp_cpu_align *b, int64_t k, int32_t extend) {
  if (b->kind == DP_ALIGN_LOCAL || k == 0) return 0;
  return -(b->open + (int32_t)k * extend);
}

void dp_cpu_align_begin(dp_cpu_align *b) {
  for (int64_t j = 0; j < b->m; j++) {
    b->h[j] = boundary(b, b->first + j + 1, b->extend_e);
    b->f[j] = settle_f(b, b->h[j], DP_MINUS_INFINITY);
  }
  b->best = (dp_best){0};
  b->known = b->first_known;
  b->pruned = 0;
  b->row = 0;
}

void dp_cpu_align_row_get(const dp_cpu_align *b, int32_t *h, int32_t *f) {
  const bool edit = b->kind == DP_ALIGN_LINEAR;
  for (int64_t j = 0; j < b->m; j++) {
    h[j] = edit ? -b->h[j] : b->h[j];
    if (!edit) f[j] = b->f[j];
  }
}

void dp_cpu_align_row_put(dp_cpu_align *b, const int32_t *h, const int32_t *f) {
  const bool edit = b->kind == DP_ALIGN_LINEAR;
  for (int64_t j = 0; j < b->m; j++) {
    b->h[j] = edit ? -h[j] : h[j];
    if (!edit) b->f[j] = settle_f(b, h[j], f[j]);
  }
}

dp_best dp_cpu_align_best(const dp_cpu_align *b) {
  if (b->kind == DP_ALIGN_LOCAL || b->kind == DP_ALIGN_TRACK) return b->best;
  const int64_t score = b->m > 0 ? b->h[b->m - 1] : 0;
  return (dp_best){b->kind == DP_ALIGN_LINEAR ? -score : score, b->row, b->m};
}

void dp_cpu_align_track(dp_cpu_align *b) {
  b->kind = DP_ALIGN_TRACK;
}

void dp_cpu_align_best_put(dp_cpu_align *b, const dp_best *best) {
  b->best = *best;
  align_know(b, best->score);
}

void dp_cpu_align_prune(dp_cpu_align *b, int64_t rows, int64_t columns, int64_t known) {
  b->rows_left = b->kind == DP_ALIGN_LOCAL ? rows : 0;
  b->columns_left = columns;
  b->first_known = (int32_t)known;
  align_know(b, known);
}

int64_t dp_cpu_align_pruned(const dp_cpu_align *b) {
  return b->pruned;
}

/* ------------------------------------------------------------------ edges */

static tsl_err edge_room(dp_cpu_align *b, int64_t rows) {
  tsl_err err = TSL_OK;
  if (rows + 1 <= b->edge_room) goto done;
  TSL_FREE_ALL(b->eh, b->ee);
  b->eh = b->ee = NULL;
  b->edge_room = 0;
  TSL_TRY(tsl_alloc(rows + 1, sizeof *b->eh, "edge of a tile", (void **)&b->eh));
  TSL_TRY(tsl_alloc(rows + 1, sizeof *b->ee, "edge of a tile", (void **)&b->ee));
  b->edge_room = rows + 1;
done:
  return err;
}

/** Entry i of the left edge of the tile that begins at row lo. */
static tsl_err dp_cpu_align_enter(dp_cpu_align *b, int64_t lo, int64_t i, const void *left) {
  tsl_err err = TSL_OK;
  int64_t h = boundary(b, lo + i, b->extend_f), e = DP_MINUS_INFINITY;
  if (left != NULL && b->kind == DP_ALIGN_LINEAR)
    h = -(int64_t)((const int32_t *)left)[i];
  else if (left != NULL) {
    h = ((const int32_t *)left)[2 * i];
    e = ((const int32_t *)left)[2 * i + 1];
    if (i == 0 && b->rows_left > 0) align_know(b, e); /* of columns on the left */
  }
  if (h >= ALIGN_MOST || h <= -ALIGN_MOST)
    TSL_FAIL(TSL_ERR_NUMERIC, "row %lld of an edge holds %lld; no score reaches that",
             (long long)(lo + i), (long long)h);
  b->eh[i] = (int32_t)h;
  b->ee[i] = (int32_t)(e > h ? h : e > h - b->open ? e : h - b->open);
done:
  return err;
}

/** The right edge; entry 0 is top. */
static void leave(const dp_cpu_align *b, int64_t rows, int32_t top, void *right) {
  for (int64_t i = 0; i <= rows; i++) {
    const int32_t h = i > 0 ? b->eh[i] : top;
    if (b->kind == DP_ALIGN_LINEAR) {
      ((int32_t *)right)[i] = -h;
      continue;
    }
    ((int32_t *)right)[2 * i] = h;
    ((int32_t *)right)[2 * i + 1] = i > 0              ? b->ee[i]
                                    : b->rows_left > 0 ? b->known
                                                       : DP_MINUS_INFINITY;
  }
}

/* ------------------------------------------------------------------ tiles */

/** A tile under way. */
typedef struct tile {
  dp_cpu_align *band;
  int64_t lo, rows, block;
  bool keep;
} tile;

/** Remember the block's left side and the row above it. */
static void keep_block(const tile *t, int64_t strip, int64_t block, int64_t rows) {
  const dp_cpu_align *b = t->band;
  const int64_t first = block * t->block, column = strip * b->width;
  const int64_t columns = b->m - column < b->width ? b->m - column : b->width;
  const int64_t at = strip * (t->rows + 1) + first, row_at = block * b->m + column;
  b->keep_h[at] = b->corner[strip];
  memcpy(b->keep_h + at + 1, b->eh + first + 1, (size_t)rows * sizeof *b->keep_h);
  memcpy(b->keep_e + at + 1, b->ee + first + 1, (size_t)rows * sizeof *b->keep_e);
  memcpy(b->keep_row_h + row_at, b->h + column, (size_t)columns * sizeof *b->keep_row_h);
  memcpy(b->keep_row_f + row_at, b->f + column, (size_t)columns * sizeof *b->keep_row_f);
}

static void dp_cpu_align_run_block(void *context, int64_t strip, int64_t block, int thread) {
  const tile *t = context;
  const int64_t first = block * t->block, left = t->rows - first;
  const int64_t rows = left < t->block ? left : t->block;
  if (t->keep) keep_block(t, strip, block, rows);
  if (align_prune_block(t->band, t->lo, strip, first, rows)) return;
  align_block(t->band, t->lo, strip, first, rows, thread);
}

/** Replace a list of at least `had` values by one of at least `need`. */
static tsl_err dp_cpu_align_grow(int32_t **list, int64_t need) {
  tsl_err err = TSL_OK;
  tsl_free(*list);
  *list = NULL;
  TSL_TRY(tsl_alloc(need, sizeof **list, "what a tile keeps", (void **)list));
done:
  return err;
}

static tsl_err keep_room(dp_cpu_align *b, const tile *t, int64_t blocks) {
  tsl_err err = TSL_OK;
  int64_t edges = 0, rows = 0;
  b->keep_lo = b->keep_hi = 0;
  if (!tsl_mul_i64(b->n_strips, t->rows + 1, &edges) || !tsl_mul_i64(blocks, b->m, &rows))
    TSL_FAIL(TSL_ERR_MEMORY, "what %lld x %lld cells keep does not fit", (long long)t->rows,
             (long long)b->m);
  if (edges > b->keep_edges) {
    b->keep_edges = 0;
    TSL_TRY(dp_cpu_align_grow(&b->keep_h, edges));
    TSL_TRY(dp_cpu_align_grow(&b->keep_e, edges));
    b->keep_edges = edges;
  }
  if (rows > b->keep_rows) {
    b->keep_rows = 0;
    TSL_TRY(dp_cpu_align_grow(&b->keep_row_h, rows));
    TSL_TRY(dp_cpu_align_grow(&b->keep_row_f, rows));
    b->keep_rows = rows;
  }
  b->keep_lo = t->lo, b->keep_hi = t->lo + t->rows;
done:
  return err;
}

/** Rows of a block: many, but enough blocks for all threads to be in step. */
static int64_t block_rows(const dp_cpu_align *b, int64_t rows, bool keep) {
  int64_t block = keep ? ALIGN_KEEP_ROWS : ALIGN_ROWS;
  while (b->cpu.threads > 1 && block > 256 && rows < 4 * block * b->cpu.threads) block /= 2;
  return keep ? ALIGN_KEEP_ROWS : block;
}

static void take_best(dp_cpu_align *b) {
  for (int t = 0; t < b->cpu.threads; t++) {
    align_settle_best(b, t);
    const dp_best *c = &b->rooms[t].best;
    if (c->score > b->best.score ||
        (c->score == b->best.score &&
         (c->row < b->best.row || (c->row == b->best.row && c->column < b->best.column))))
      b->best = *c;
  }
}

tsl_err dp_cpu_align_tile(dp_cpu_align *b, int64_t lo, int64_t hi, const void *left, void *right,
                          bool keep) {
  tsl_err err = TSL_OK;
  tile t = {.band = b, .lo = lo, .rows = hi - lo, .keep = keep};
  t.block = block_rows(b, t.rows, keep);
  const int64_t blocks = (t.rows + t.block - 1) / t.block;
  int32_t top = 0;
  if (lo < 0 || hi < lo || hi > b->n)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld to %lld of %lld", (long long)lo, (long long)hi,
             (long long)b->n);
  TSL_TRY(edge_room(b, t.rows));
  for (int64_t i = 0; i <= t.rows; i++) TSL_TRY(dp_cpu_align_enter(b, lo, i, left));
  align_smooth(b, t.rows);
  if (keep) TSL_TRY(keep_room(b, &t, blocks));
  top = b->m > 0 ? b->h[b->m - 1] : b->eh[0];
  for (int64_t s = 0; s < b->n_strips; s++)
    b->corner[s] = s > 0 ? b->h[s * b->width - 1] : b->eh[0];
  for (int k = 0; k < b->cpu.threads; k++) {
    b->rooms[k].best = b->best;
    b->rooms[k].pending = false;
    memset(b->rooms[k].profile_of, 0, sizeof b->rooms[k].profile_of);
  }
  TSL_TRY(dp_pipe_run(b->cpu.threads, b->n_strips, blocks, dp_cpu_align_run_block, &t));
  take_best(b);
  b->row = hi;
  if (right != NULL) leave(b, t.rows, top, right);
done:
  return err;
}

int64_t dp_cpu_align_keep_bytes(const dp_cpu *cpu, int64_t rows, int64_t m) {
  const double width = (double)cpu->kernels->bytes * DP_COLUMNS;
  const double strips = (double)m / width + 1, blocks = (double)rows / ALIGN_KEEP_ROWS + 1;
  const double bytes = 8 * (strips * ((double)rows + 1) + blocks * (double)m);
  return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}
