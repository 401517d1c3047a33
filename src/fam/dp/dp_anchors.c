/* Anchors, their chain, alignments from each to the next, and what these say of the table. */
#include "dp_anchors.h"

#include "dp_diagonals.h"
#include "integers.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
  LEAST_BAND = 16,      /**< half its width */
  MOST_APART = 16384,   /**< letters between anchors that are aligned */
  MOST_SHIFT = 256,     /**< diagonals between these anchors */
  THIN = 128,           /**< corners: their bands and a row of the table, at least */
  NONE = INT32_MIN / 2, /**< no path */
  SCANNED = 1 << 16     /**< places of b that a thread takes at once */
};

/** Words of a in a table with open addressing. */
typedef struct word {
  uint64_t letters;     /**< the word's letters, `bits` each */
  int64_t row, column;  /**< its first letter in a, in b */
  int32_t count;        /**< of it among the words of a; 0: a free place */
  _Atomic int32_t hits; /**< places of b */
} word;

typedef struct words {
  const uint8_t *a, *b;
  int64_t m, stride, looked_at;
  int length, bits;
  uint64_t places; /**< power of two */
  word *table;     /**< [places] */
} words;

/** Words of a, evenly. For LOCAL the look may take longer: a table of bits takes a tenth of its
 *  time. */
static void choose_words(const dp_params *p, words *w) {
  enum { ALL = 1 << 20, FEW = 1 << 14, DENSE = 4, SPARSE = 64 };
  const bool local = p->problem == DP_LOCAL;
  w->stride = local ? tsl_max(p->n / ALL, 1) : tsl_min(tsl_max(p->n / FEW, DENSE), SPARSE);
  w->looked_at = tsl_divide_up(p->n, w->stride);
}

/** The shortest words of which chance alone puts hardly one anywhere. */
static void choose_length(const dp_params *p, words *w) {
  const double pairs = (double)w->looked_at * (double)p->m;
  for (w->bits = 1; 1 << w->bits < p->letters;) w->bits++;
  w->length = (int)ceil(log(pairs) / log(tsl_max(p->letters, 2)));
  w->length = tsl_min(tsl_max(w->length, 1), 64 / w->bits);
}

static uint64_t append(const words *w, uint64_t letters, uint8_t code) {
  const int used = w->length * w->bits;
  return (letters << w->bits | code) & (used == 64 ? UINT64_MAX : (UINT64_C(1) << used) - 1);
}

static uint64_t spell(const words *w, const uint8_t *codes) {
  uint64_t letters = 0;
  for (int k = 0; k < w->length; k++) letters = append(w, letters, codes[k]);
  return letters;
}

/** Where a word is, or would be. Multiplicative hashing (Knuth, TAOCP 3, 6.4). */
static word *place_of(const words *w, uint64_t letters) {
  uint64_t at = (letters * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
  for (;; at++) {
    word *x = &w->table[at & (w->places - 1)];
    if (x->count == 0 || x->letters == letters) return x;
  }
}

static void enter_words(words *w) {
  for (int64_t k = 0; k < w->looked_at; k++) {
    const uint64_t letters = spell(w, w->a + k * w->stride);
    word *x = place_of(w, letters);
    if (x->count == 0) x->letters = letters, x->row = k * w->stride;
    x->count++;
  }
}

/* tsl_parallel_body: words of b. */
static tsl_err scan_words(void *context, int slot, int64_t lo, int64_t hi) {
  const words *w = context;
  uint64_t letters = spell(w, w->b + lo);
  (void)slot;
  for (int64_t j = lo; j < hi; j++) {
    word *x = place_of(w, letters);
    if (x->count == 1 && atomic_fetch_add_explicit(&x->hits, 1, memory_order_relaxed) == 0)
      x->column = j;
    if (j + 1 < hi) letters = append(w, letters, w->b[j + w->length]);
  }
  return TSL_OK;
}

static int by_row(const void *x, const void *y) {
  const dp_pair *a = x, *b = y;
  return a->row < b->row ? -1 : a->row > b->row;
}

/** Words that occur once in both.
 *  @param[out] list  [*n + 2] from tsl_alloc, the first *n by rows */
static tsl_err find_anchors(words *w, dp_pair **list, int64_t *n) {
  tsl_err err = TSL_OK;
  *n = 0;
  TSL_TRY(tsl_alloc((int64_t)w->places, sizeof *w->table, "words", (void **)&w->table));
  enter_words(w);
  if (w->looked_at > 0) TSL_TRY(tsl_parallel(w->m - w->length + 1, SCANNED, scan_words, w));
  for (uint64_t k = 0; k < w->places; k++) *n += w->table[k].count == 1 && w->table[k].hits == 1;
  TSL_TRY(tsl_alloc(*n + 2, sizeof **list, "anchors", (void **)list));
  *n = 0;
  for (uint64_t k = 0; k < w->places; k++) {
    const word *x = &w->table[k];
    if (x->count == 1 && x->hits == 1) (*list)[(*n)++] = (dp_pair){x->row, x->column};
  }
  qsort(*list, (size_t)*n, sizeof **list, by_row);
done:
  return err;
}

/** The longest chain of anchors with rising columns, in place. @param[in,out] n  anchors */
static tsl_err chain_anchors(dp_pair *list, int64_t *n) {
  tsl_err err = TSL_OK;
  /* last[k]: of the chains of k + 1 anchors the one that ends leftmost */
  int64_t *last = NULL, *before = NULL, length = 0;
  TSL_TRY(tsl_alloc(*n, sizeof *last, "chains", (void **)&last));
  TSL_TRY(tsl_alloc(*n, sizeof *before, "chains", (void **)&before));
  for (int64_t k = 0; k < *n; k++) {
    int64_t lo = 0, hi = length;
    while (lo < hi) {
      const int64_t middle = (lo + hi) / 2;
      if (list[last[middle]].column < list[k].column)
        lo = middle + 1;
      else
        hi = middle;
    }
    before[k] = lo > 0 ? last[lo - 1] : -1;
    last[lo] = k;
    length = tsl_max(length, lo + 1);
  }
  for (int64_t k = length - 1, at = length > 0 ? last[length - 1] : -1; k >= 0; k--) {
    last[k] = at;
    at = before[at];
  }
  for (int64_t k = 0; k < length; k++) list[k] = list[last[k]];
  *n = length;
done:
  TSL_FREE_ALL(last, before);
  return err;
}

/* ---- from an anchor to the next */

/** Scores of steps, as tables. */
typedef struct step_scores {
  int32_t open, extend[2]; /**< of a letter of b, of a alone */
  int32_t pair[256][256];
} step_scores;

/** A piece of the path. */
typedef struct piece {
  int64_t score;
  int64_t more; /**< that it might have besides, were the anchors others */
} piece;

typedef struct pieces {
  const dp_params *p;
  const step_scores *scores;
  const uint8_t *a, *b;
  const dp_pair *anchor; /**< [n + 1]: each piece ends where the next begins */
  int64_t best;          /**< of a pair */
  piece *made;           /**< [n] */
  int32_t *cells;        /**< [slots][2][MOST_APART + 1] H and F of a row */
} pieces;

static void set_scores(const dp_params *p, step_scores *s, int64_t *best) {
  for (int of_a = 0; of_a < 2; of_a++) {
    const int64_t one = -dp_gap_score(p, 1, of_a), two = -dp_gap_score(p, 2, of_a);
    s->extend[of_a] = (int32_t)(two - one);
    s->open = (int32_t)(one - s->extend[of_a]);
  }
  *best = INT64_MIN;
  for (int x = 0; x < p->letters; x++)
    for (int y = 0; y < p->letters; y++) {
      s->pair[x][y] = (int32_t)dp_pair_score(p, x, y);
      *best = tsl_max(*best, s->pair[x][y]);
    }
}

static int32_t larger(int32_t x, int32_t y) {
  return x > y ? x : y;
}

/** Half the width of the band in which n by m letters are aligned. */
static int64_t half_width(int64_t n, int64_t m) {
  return LEAST_BAND + llabs(n - m) + (int64_t)sqrt((double)n);
}

/** Global alignment of a[0..n) and b[0..m), n, m > 0, in a band around the rectangle's diagonal.
 *  @param[out] h,f  [m + 1], scratch */
static int32_t align_band(const pieces *t, const uint8_t *a, int64_t n, const uint8_t *b, int64_t m,
                          int32_t *h, int32_t *f) {
  const step_scores *s = t->scores;
  const int64_t half = half_width(n, m);
  const int32_t left = s->extend[0], up = s->extend[1], open = s->open;
  for (int64_t j = 0; j <= m; j++) {
    h[j] = j <= half ? (int32_t)dp_gap_score(t->p, j, false) : NONE;
    f[j] = NONE;
  }
  for (int64_t i = 1; i <= n; i++) {
    const int32_t *pair = s->pair[a[i - 1]];
    const int64_t middle = i * m / n, lo = tsl_max(middle - half, 1),
                  hi = tsl_min(middle + half, m);
    int32_t corner = h[lo - 1], e = NONE;
    h[lo - 1] = lo == 1 && i <= half ? (int32_t)dp_gap_score(t->p, i, true) : NONE;
    for (int64_t j = lo; j <= hi; j++) {
      e = larger(e, h[j - 1] - open) - left;
      f[j] = larger(f[j], h[j] - open) - up;
      const int32_t best = larger(larger(e, f[j]), corner + pair[b[j - 1]]);
      corner = h[j];
      h[j] = larger(best, NONE);
    }
  }
  return h[m];
}

/** Is the band of these letters worth its cells? */
static bool is_near(const dp_params *p, int64_t n, int64_t m) {
  const bool local = p->problem == DP_LOCAL;
  return tsl_max(n, m) <= MOST_APART && llabs(n - m) <= MOST_SHIFT &&
         (local || THIN * half_width(n, m) <= p->m);
}

/** Letters that are alike at either end are pairs; what is left is aligned, or its diagonal and a
 *  gap, or gaps. */
static piece make_piece(const pieces *t, dp_pair from, dp_pair to, int32_t *cells) {
  const uint8_t *a = t->a + from.row, *b = t->b + from.column;
  int64_t n = to.row - from.row, m = to.column - from.column;
  piece x = {0, 0};
  for (; n > 0 && m > 0 && *a == *b; a++, b++, n--, m--) x.score += t->scores->pair[*a][*b];
  for (; n > 0 && m > 0 && a[n - 1] == b[m - 1]; n--, m--)
    x.score += t->scores->pair[a[n - 1]][b[m - 1]];
  const int64_t gaps = dp_gap_score(t->p, n, true) + dp_gap_score(t->p, m, false);
  const int64_t pairs = tsl_min(n, m), gap = dp_gap_score(t->p, llabs(n - m), n > m);
  if (pairs > 0 && is_near(t->p, n, m)) {
    x.score += align_band(t, a, n, b, m, cells, cells + MOST_APART + 1);
    x.more = llabs(n - m) > LEAST_BAND ? -gap : 0;
    return x;
  }
  int64_t straight = gap;
  for (int64_t k = 0; k < pairs; k++) straight += t->scores->pair[a[k]][b[k]];
  const int64_t score = tsl_max(gaps, straight);
  x.score += score;
  x.more = pairs * t->best - score;
  return x;
}

/* tsl_parallel_body: pieces. */
static tsl_err make_pieces(void *context, int slot, int64_t lo, int64_t hi) {
  const pieces *t = context;
  int32_t *cells = t->cells + (int64_t)slot * 2 * (MOST_APART + 1);
  for (int64_t k = lo; k < hi; k++)
    t->made[k] = make_piece(t, t->anchor[k], t->anchor[k + 1], cells);
  return TSL_OK;
}

/** LOCAL: runs of pieces, of which each goes on from the one before, or begins anew. */
static tsl_err set_runs(const pieces *t, dp_chain *c) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(c->n, sizeof *c->run, "runs of pieces", (void **)&c->run));
  for (int64_t k = 0; k < c->n - 1; k++) {
    c->run[k + 1] = tsl_max(c->run[k] + t->made[k].score, 0);
    c->score = tsl_max(c->score, c->run[k + 1]);
  }
done:
  return err;
}

static tsl_err score_chain(const dp_params *p, const uint8_t *a, const uint8_t *b, dp_chain *c) {
  tsl_err err = TSL_OK;
  const int64_t n = c->n - 1, room = (int64_t)tsl_parallel_slots() * 2 * (MOST_APART + 1);
  step_scores *scores = NULL;
  pieces t = {.p = p, .a = a, .b = b, .anchor = c->anchor};
  TSL_TRY(tsl_alloc(1, sizeof *scores, "scores", (void **)&scores));
  set_scores(p, scores, &t.best);
  t.scores = scores;
  TSL_TRY(tsl_alloc(n, sizeof *t.made, "scores of pieces", (void **)&t.made));
  TSL_TRY(tsl_alloc(room, sizeof *t.cells, "rows of cells", (void **)&t.cells));
  TSL_TRY(tsl_parallel(n, 16, make_pieces, &t));
  if (p->problem == DP_LOCAL) {
    TSL_TRY(set_runs(&t, c));
    goto done;
  }
  for (int64_t k = 0; k < n; k++) c->score += t.made[k].score, c->hope += t.made[k].more;
  c->hope += c->score + dp_gap_score(p, llabs(p->n - p->m), p->n > p->m);
done:
  TSL_FREE_ALL(scores, t.made, t.cells);
  return err;
}

/** LOCAL: the last word's end; else the corners, between which all is one path. */
static void put_ends(const dp_params *p, const words *w, dp_chain *c) {
  const dp_pair last = c->n > 0 ? c->anchor[c->n - 1] : (dp_pair){0, 0};
  if (p->problem == DP_LOCAL) {
    if (c->n > 0) c->anchor[c->n++] = (dp_pair){last.row + w->length, last.column + w->length};
    return;
  }
  memmove(c->anchor + 1, c->anchor, (size_t)c->n * sizeof *c->anchor);
  c->anchor[0] = (dp_pair){0, 0};
  c->anchor[c->n + 1] = (dp_pair){p->n, p->m};
  c->n += 2;
}

tsl_err dp_chain_find(const dp_params *p, const uint8_t *a, const uint8_t *b, dp_chain *chain) {
  tsl_err err = TSL_OK;
  words w = {.a = a, .b = b, .m = p->m};
  *chain = (dp_chain){0};
  if (p->n == 0 || p->m == 0) goto done;
  choose_words(p, &w);
  choose_length(p, &w);
  w.looked_at = p->n < w.length || p->m < w.length ? 0 : (p->n - w.length) / w.stride + 1;
  for (w.places = 2; (int64_t)w.places < 2 * w.looked_at;) w.places *= 2;
  TSL_TRY(find_anchors(&w, &chain->anchor, &chain->n));
  TSL_TRY(chain_anchors(chain->anchor, &chain->n));
  put_ends(p, &w, chain);
  if (chain->n > 0) TSL_TRY(score_chain(p, a, b, chain));
done:
  tsl_free(w.table);
  if (err != TSL_OK) dp_chain_clear(chain);
  return err;
}

void dp_chain_clear(dp_chain *chain) {
  TSL_FREE_ALL(chain->anchor, chain->run);
  *chain = (dp_chain){0};
}

/* ---- the part of the table that is computed */

/** H of a cell, about. */
static int64_t guess(const dp_params *p, const dp_chain *c, int64_t i, int64_t j) {
  int64_t lo = 0,
          hi = c->n; /* anchors before lo lie above and to the left, from hi on they do not */
  while (lo < hi) {
    const int64_t middle = (lo + hi) / 2;
    if (c->anchor[middle].row <= i && c->anchor[middle].column <= j)
      lo = middle + 1;
    else
      hi = middle;
  }
  if (lo == 0) return 0;
  const dp_pair last = c->anchor[lo - 1];
  const int64_t shift = llabs((i - last.row) - (j - last.column));
  return tsl_max(c->run[lo - 1] + dp_gap_score(p, shift, true), 0);
}

void dp_needed_set(const dp_params *p, const dp_chain *chain, dp_needed *needed) {
  const double row = (double)p->n / DP_NEEDED_FIELDS, column = (double)p->m / DP_NEEDED_FIELDS;
  int64_t most = 0;
  for (int x = 0; x < p->scores.alphabet; x++)
    for (int y = 0; y < p->scores.alphabet; y++) most = tsl_max(most, p->scores.s[x][y]);
  *needed = (dp_needed){0};
  for (int x = 0; x < DP_NEEDED_FIELDS; x++)
    for (int y = 0; y < DP_NEEDED_FIELDS; y++) {
      const int64_t i = (int64_t)((x + 0.5) * row), j = (int64_t)((y + 0.5) * column);
      const int64_t left = tsl_min(p->n - i, p->m - j);
      const bool needs = guess(p, chain, i, j) + most * left >= chain->score;
      needed->until[x + 1][y + 1] =
          needed->until[x][y + 1] + needed->until[x + 1][y] - needed->until[x][y] + (needs ? 1 : 0);
    }
}

/** Fields above and to the left of a place, in between by lines. */
static double fields_until(const dp_needed *needed, double x, double y) {
  const int i = (int)tsl_min((int64_t)x, DP_NEEDED_FIELDS - 1);
  const int j = (int)tsl_min((int64_t)y, DP_NEEDED_FIELDS - 1);
  const float(*u)[DP_NEEDED_FIELDS + 1] = needed->until;
  const double left = u[i][j] + (x - i) * (u[i + 1][j] - u[i][j]);
  const double right = u[i][j + 1] + (x - i) * (u[i + 1][j + 1] - u[i][j + 1]);
  return left + (y - j) * (right - left);
}

double dp_needed_part(const dp_params *p, const dp_needed *needed, const int64_t lo[2],
                      const int64_t hi[2]) {
  const double row = DP_NEEDED_FIELDS / (double)p->n, column = DP_NEEDED_FIELDS / (double)p->m;
  const double x[2] = {(double)lo[0] * row, (double)hi[0] * row};
  const double y[2] = {(double)lo[1] * column, (double)hi[1] * column};
  const double area = (x[1] - x[0]) * (y[1] - y[0]);
  const double fields = fields_until(needed, x[1], y[1]) - fields_until(needed, x[0], y[1]) -
                        fields_until(needed, x[1], y[0]) + fields_until(needed, x[0], y[0]);
  return area > 0 ? fmin(fmax(fields / area, 0), 1) : 1;
}
