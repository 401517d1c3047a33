/**
 * @file tri_extension.h
 * EXTENSION (tri_letters.h), what sockets and cards share: a cell, which cells of an antidiagonal
 * are computed, and the best cell. Antidiagonal k has the cells (i, k - i), which are named by
 * their rows i. Rows from the first to the last one are computed that a cell which was not dropped
 * leads to; those beside them are TRI_EXTENSION_MINUS.
 */
#pragma once

#include "fn.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  TRI_EXTENSION_ARRAYS = 7, /**< of cells: h of three antidiagonals, e and f of two */
  TRI_EXTENSION_BESIDE = 3, /**< rows of them more than letters: -1, 0 and the one behind all */
  TRI_EXTENSION_MINUS = INT32_MIN / 2 - (1 << 28), /**< infinity, less than all values */
  TRI_EXTENSION_NONE = 1 << 30                     /**< before all rows, negative, or behind them */
};

/** What holds for a cell, bits of its directions: it is attained by a pair, by a gap to the left
 *  (by neither: by one upwards), and whether gaps that end in it were just opened. */
enum { TRI_PLANE_PAIR, TRI_PLANE_LEFT, TRI_PLANE_LEFT_OPENED, TRI_PLANE_UP_OPENED };

/** Numbers in all arrays of cells for a row's sequence of so many letters. */
TSL_FN int64_t tri_extension_cells(int64_t letters) {
  return TRI_EXTENSION_ARRAYS * (letters + TRI_EXTENSION_BESIDE);
}

/** What a cell follows from, and what its gaps come from. */
typedef struct tri_extension_from {
  int32_t pair;               /**< value of the cell before both letters, and their score */
  int32_t e_opened, e_longer; /**< from the cell at its left: a gap is opened there, or goes on */
  int32_t f_opened, f_longer; /**< likewise from the cell above */
} tri_extension_from;

/** Value of a cell, and of what ends in it with a gap along the row, or down. */
typedef struct tri_extension_cell {
  int32_t h, e, f;
} tri_extension_cell;

TSL_FN tri_extension_cell tri_extension_cell_of(tri_extension_from from) {
  tri_extension_cell cell;
  cell.e = from.e_opened > from.e_longer ? from.e_opened : from.e_longer;
  cell.f = from.f_opened > from.f_longer ? from.f_opened : from.f_longer;
  const int32_t gaps = cell.e > cell.f ? cell.e : cell.f;
  cell.h = from.pair > gaps ? from.pair : gaps;
  return cell;
}

/** Bits of TRI_PLANE_PAIR and so on. */
TSL_FN int32_t tri_extension_direction_of(tri_extension_from from, tri_extension_cell cell) {
  int32_t direction = cell.h == from.pair ? 1 << TRI_PLANE_PAIR : 0;
  direction |= cell.h == cell.e ? 1 << TRI_PLANE_LEFT : 0;
  direction |= from.e_opened >= from.e_longer ? 1 << TRI_PLANE_LEFT_OPENED : 0;
  direction |= from.f_opened >= from.f_longer ? 1 << TRI_PLANE_UP_OPENED : 0;
  return direction;
}

/** Where an extension is: what antidiagonal k follows from, but the cells. */
typedef struct tri_extension_state {
  int32_t k;
  int32_t lo[2], hi[2]; /**< rows that were not dropped, of antidiagonals k - 1 and k - 2 */
  int32_t least, most;  /**< rows of which k reads cells */
  int32_t top, at[2];   /**< the best value so far; its row, the smallest one, and column */
} tri_extension_state;

/** Traced: rows from `lo` on of an antidiagonal are computed, and its directions begin at a place
 *  of its strip. */
typedef struct tri_extension_line {
  int64_t lo, place;
} tri_extension_line;

/** Cell (0, 0) is done. */
TSL_FN tri_extension_state tri_extension_begin(void) {
  const tri_extension_state s = {1,     {0, TRI_EXTENSION_NONE}, {0, -TRI_EXTENSION_NONE}, -1, 1, 0,
                                 {0, 0}};
  return s;
}

/** Rows [lo, hi] of antidiagonal k, of n and m letters, that are computed. @return any? */
TSL_FN bool tri_extension_rows(const tri_extension_state *s, int32_t n, int32_t m, int32_t *lo,
                               int32_t *hi) {
  const int32_t first = s->lo[0] < s->lo[1] + 1 ? s->lo[0] : s->lo[1] + 1;
  const int32_t last = s->hi[0] > s->hi[1] ? s->hi[0] + 1 : s->hi[1] + 1;
  const int32_t least = s->k > m ? s->k - m : 0, most = s->k < n ? s->k : n;
  *lo = first > least ? first : least;
  *hi = last < most ? last : most;
  return *lo <= *hi;
}

/** Antidiagonal k has a largest value, first in such a row: is it the best, or the same in a
 *  smaller row? */
TSL_FN void tri_extension_look(tri_extension_state *s, int32_t value, int32_t row) {
  if (value > s->top || (value == s->top && row < s->at[0])) s->at[0] = row, s->at[1] = s->k - row;
  s->top = value > s->top ? value : s->top;
}

/** Its rows [lo, hi] are computed, of which [first, last] are what is left without dropped ones at
 *  both ends; first > last: none. */
TSL_FN void tri_extension_next(tri_extension_state *s, int32_t lo, int32_t hi, int32_t first,
                               int32_t last) {
  s->least = lo - 1, s->most = hi + 1;
  s->lo[1] = s->lo[0], s->hi[1] = s->hi[0];
  s->lo[0] = first <= last ? first : TRI_EXTENSION_NONE;
  s->hi[0] = first <= last ? last : -TRI_EXTENSION_NONE;
  s->k++;
}
