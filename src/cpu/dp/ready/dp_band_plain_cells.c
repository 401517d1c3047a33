/** @file dp_band_plain_cells.c  One block of each problem, as the recurrences are written. */
#include "dp_band_plain.h"

#include <math.h>

/** What every block does for its rows; LEFT, DIAGONAL, UP are the values around the cell, the rest
 * are statements that set VALUE from them. */
#define PLAIN_BLOCK(T, ...)                                                                \
  do {                                                                                     \
    const plain_tile *t = k->tile;                                                         \
    const plain_band *e = t->band;                                                         \
    T *h = (T *)e->h + 1;                                                                  \
    const T *column = k->left;                                                             \
    T *out = k->right;                                                                     \
    if (k->r0 == 0) out[0] = h[k->c1 - 1];                                                 \
    for (int64_t r = k->r0; r < k->r1; r++) {                                              \
      T DIAGONAL = column[r], LEFT = column[r + 1];                                        \
      T *cells = t->window.cells != NULL ? (T *)t->window.cells + r * t->window.ld : NULL; \
      for (int64_t c = k->c0; c < k->c1; c++) {                                            \
        const T UP = h[c];                                                                 \
        T VALUE;                                                                           \
        __VA_ARGS__;                                                                       \
        h[c] = VALUE;                                                                      \
        if (cells != NULL) cells[c] = VALUE;                                               \
        DIAGONAL = UP, LEFT = VALUE;                                                       \
      }                                                                                    \
      out[r + 1] = LEFT;                                                                   \
    }                                                                                      \
  } while (0)

#define ROW_LETTER (((const uint8_t *)e->a)[t->lo + r])
#define COLUMN_LETTER (((const uint8_t *)e->b)[e->band.lo + c])

void plain_lcs(const plain_block *k) {
  PLAIN_BLOCK(int32_t, {
    const bool same = ROW_LETTER == COLUMN_LETTER;
    VALUE = LEFT > UP ? LEFT : UP;
    if (same && DIAGONAL + 1 > VALUE) VALUE = DIAGONAL + 1;
  });
}

void plain_edit(const plain_block *k) {
  const dp_params *p = k->tile->band->p;
  const int32_t insert = (int32_t)p->insert, remove = (int32_t)p->remove;
  const int32_t replace = (int32_t)p->replace;
  PLAIN_BLOCK(int32_t, {
    const int32_t pair = DIAGONAL + (ROW_LETTER == COLUMN_LETTER ? 0 : replace);
    const int32_t left = LEFT + insert, up = UP + remove;
    VALUE = left < up ? left : up;
    if (pair < VALUE) VALUE = pair;
  });
}

/** Distance of two numbers in their own type. */
#define DISTANCE(T, FABS)                                                       \
  const T d = ((const T *)e->a)[t->lo + r] - ((const T *)e->b)[e->band.lo + c]; \
  const T cost = square ? d * d : FABS(d)

#define DTW(T, FABS)                                 \
  const bool square = k->tile->band->p->square != 0; \
  PLAIN_BLOCK(T, {                                   \
    DISTANCE(T, FABS);                               \
    T least = LEFT < UP ? LEFT : UP;                 \
    if (DIAGONAL < least) least = DIAGONAL;          \
    VALUE = cost + least;                            \
  })

void plain_dtw_f32(const plain_block *k) {
  DTW(float, fabsf);
}

void plain_dtw_f64(const plain_block *k) {
  DTW(double, fabs);
}

static int32_t max_of(int32_t a, int32_t b) {
  return a > b ? a : b;
}

/** Gotoh 1982. E comes from the left, F from above. */
void plain_affine(const plain_block *k) {
  const plain_tile *t = k->tile;
  const plain_band *e = t->band;
  const letters_scores *s = &e->p->scores;
  const bool local = e->p->problem == DP_LOCAL;
  const int32_t first = s->open + s->extend, next = s->extend;
  const int32_t *column = k->left;
  int32_t *h = (int32_t *)e->h + 1, *out = k->right;
  if (k->r0 == 0) out[0] = h[k->c1 - 1], k->right_gaps[0] = DP_MINUS_INFINITY;
  for (int64_t r = k->r0; r < k->r1; r++) {
    int32_t diagonal = column[r], left = column[r + 1], gap = k->left_gaps[r + 1];
    int32_t *cells = t->window.cells != NULL ? (int32_t *)t->window.cells + r * t->window.ld : NULL;
    const int32_t *scores = s->s[ROW_LETTER];
    for (int64_t c = k->c0; c < k->c1; c++) {
      const int32_t up = h[c], pair = diagonal + scores[COLUMN_LETTER];
      gap = max_of(left - first, gap - next);
      e->f[c] = max_of(up - first, e->f[c] - next);
      int32_t value = max_of(pair, max_of(gap, e->f[c]));
      if (local && value < 0) value = 0;
      if (cells != NULL) cells[c] = value;
      if (local && value > k->best[0])
        k->best[0] = value, k->best[1] = t->lo + r + 1, k->best[2] = e->band.lo + c + 1;
      h[c] = value;
      diagonal = up, left = value;
    }
    out[r + 1] = left, k->right_gaps[r + 1] = max_of(gap, left - s->open); /* E', dp.h */
  }
}
