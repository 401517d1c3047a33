/* Anchors, their chain, alignments from each to the next, and what these say of the table. */
#include "dp_anchors.h"

#include "integers.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
  MOST_WORDS = 1 << 20, /**< of a that are looked at, evenly */
  LEAST_BAND = 16,      /**< half its width */
  MOST_APART = 16384,   /**< letters between anchors that are aligned */
  MOST_SHIFT = 256,     /**< diagonals between these anchors */
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
 *  @param[out] list  [*n + 1] from tsl_alloc, the first *n by rows */
static tsl_err find_anchors(words *w, dp_pair **list, int64_t *n) {
  tsl_err err = TSL_OK;
  *n = 0;
  TSL_TRY(tsl_alloc((int64_t)w->places, sizeof *w->table, "words", (void **)&w->table));
  enter_words(w);
  TSL_TRY(tsl_parallel(w->m - w->length + 1, SCANNED, scan_words, w));
  for (uint64_t k = 0; k < w->places; k++) *n += w->table[k].count == 1 && w->table[k].hits == 1;
  TSL_TRY(tsl_alloc(*n + 1, sizeof **list, "anchors", (void **)list));
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

typedef struct pieces {
  const letters_scores *scores;
  const uint8_t *a, *b;
  const dp_pair *anchor; /**< [n + 1]: each piece ends where the next begins */
  int32_t *score;        /**< [n] */
  int32_t *cells;        /**< [slots][2][MOST_APART + 1] H and F of a row */
} pieces;

static int32_t larger(int32_t x, int32_t y) {
  return x > y ? x : y;
}

static int32_t gap_score(const letters_scores *s, int64_t length) {
  return length == 0 ? 0 : (int32_t) - (s->open + length * (int64_t)s->extend);
}

/** Global alignment of a[0..n) and b[0..m), n, m > 0, in a band around the rectangle's diagonal.
 *  @param[out] h,f  [m + 1], scratch */
static int32_t align_band(const letters_scores *s, const uint8_t *a, int64_t n, const uint8_t *b,
                          int64_t m, int32_t *h, int32_t *f) {
  const int64_t half = LEAST_BAND + llabs(n - m) + (int64_t)sqrt((double)n);
  const int32_t open = s->open + s->extend;
  for (int64_t j = 0; j <= m; j++) {
    h[j] = j <= half ? gap_score(s, j) : NONE;
    f[j] = NONE;
  }
  for (int64_t i = 1; i <= n; i++) {
    const int32_t *pair = s->s[a[i - 1]];
    const int64_t middle = i * m / n, lo = tsl_max(middle - half, 1),
                  hi = tsl_min(middle + half, m);
    int32_t corner = h[lo - 1], e = NONE;
    h[lo - 1] = lo == 1 && i <= half ? gap_score(s, i) : NONE;
    for (int64_t j = lo; j <= hi; j++) {
      e = larger(e - s->extend, h[j - 1] - open);
      f[j] = larger(f[j] - s->extend, h[j] - open);
      const int32_t best = larger(larger(e, f[j]), corner + pair[b[j - 1]]);
      corner = h[j];
      h[j] = larger(best, NONE);
    }
  }
  return h[m];
}

/* tsl_parallel_body: pieces. */
static tsl_err align_pieces(void *context, int slot, int64_t lo, int64_t hi) {
  const pieces *t = context;
  const letters_scores *s = t->scores;
  int32_t *h = t->cells + (int64_t)slot * 2 * (MOST_APART + 1), *f = h + MOST_APART + 1;
  for (int64_t k = lo; k < hi; k++) {
    const dp_pair from = t->anchor[k], to = t->anchor[k + 1];
    const int64_t n = to.row - from.row, m = to.column - from.column;
    const bool near = tsl_max(n, m) <= MOST_APART && llabs(n - m) <= MOST_SHIFT;
    const int32_t gaps = gap_score(s, n) + gap_score(s, m);
    t->score[k] = near ? align_band(s, t->a + from.row, n, t->b + from.column, m, h, f) : gaps;
  }
  return TSL_OK;
}

/** Runs of pieces: each goes on from the one before, or begins anew. */
static tsl_err set_runs(pieces *t, dp_chain *c) {
  tsl_err err = TSL_OK;
  const int64_t n = c->n - 1, room = (int64_t)tsl_parallel_slots() * 2 * (MOST_APART + 1);
  TSL_TRY(tsl_alloc(n, sizeof *t->score, "scores of pieces", (void **)&t->score));
  TSL_TRY(tsl_alloc(room, sizeof *t->cells, "rows of cells", (void **)&t->cells));
  TSL_TRY(tsl_alloc(c->n, sizeof *c->run, "runs of pieces", (void **)&c->run));
  TSL_TRY(tsl_parallel(n, 16, align_pieces, t));
  for (int64_t k = 0; k < n; k++) {
    c->run[k + 1] = tsl_max(c->run[k] + t->score[k], 0);
    c->score = tsl_max(c->score, c->run[k + 1]);
  }
done:
  TSL_FREE_ALL(t->score, t->cells);
  return err;
}

tsl_err dp_chain_find(const dp_params *p, const uint8_t *a, const uint8_t *b, dp_chain *chain) {
  tsl_err err = TSL_OK;
  words w = {.a = a, .b = b, .m = p->m, .looked_at = tsl_min(p->n, MOST_WORDS)};
  *chain = (dp_chain){0};
  if (p->n == 0 || p->m == 0) goto done;
  choose_length(p, &w);
  if (p->n < w.length || p->m < w.length) goto done;
  w.stride = p->n / w.looked_at;
  w.looked_at = (p->n - w.length) / w.stride + 1;
  for (w.places = 2; (int64_t)w.places < 2 * w.looked_at;) w.places *= 2;
  TSL_TRY(find_anchors(&w, &chain->anchor, &chain->n));
  TSL_TRY(chain_anchors(chain->anchor, &chain->n));
  if (chain->n == 0) goto done;
  const dp_pair last = chain->anchor[chain->n - 1];
  chain->anchor[chain->n++] = (dp_pair){last.row + w.length, last.column + w.length};
  pieces t = {.scores = &p->scores, .a = a, .b = b, .anchor = chain->anchor};
  TSL_TRY(set_runs(&t, chain));
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
static int64_t guess(const letters_scores *s, const dp_chain *c, int64_t i, int64_t j) {
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
  return tsl_max(c->run[lo - 1] + gap_score(s, llabs((i - last.row) - (j - last.column))), 0);
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
      const bool needs = guess(&p->scores, chain, i, j) + most * left >= chain->score;
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
