/* Free ends: zeros where a table begins, and the best of its last column and row. */
#include "dp_ends.h"

#include <string.h>

/* ---- the beginning */

static void no_gaps(int32_t *values, int64_t n, int64_t step) {
  for (int64_t k = 0; k < n; k++) values[k * step] = DP_MINUS_INFINITY;
}

void dp_free_top(const dp_params *p, int64_t columns, void *state) {
  int32_t *values = state;
  memset(state, 0, (size_t)dp_state_bytes(p, columns));
  if (dp_ready_of(p)->affine) no_gaps(values + columns + (p->mode == DP_TABLE), columns, 1);
}

void dp_free_side(const dp_params *p, int64_t rows, void *edge) {
  memset(edge, 0, (size_t)dp_edge_size(p, rows));
  if (dp_ready_of(p)->affine) no_gaps((int32_t *)edge + 1, rows + 1, 2);
}

/* ---- the last column and the last row */

/** What cell k of a list of differences adds. */
static int64_t difference(const dp_params *p, const uint32_t *bits, int64_t n, int64_t k) {
  const int64_t at = k / 32, words = dp_bit_words(n);
  const uint32_t up = bits[at] >> k % 32 & 1;
  const uint32_t down = dp_bit_parts(p) == 2 ? bits[words + at] >> k % 32 & 1 : 0;
  return (int64_t)up - (int64_t)down;
}

dp_last_column dp_last_column_begin(const dp_params *p) {
  const int64_t value = dp_boundary(p, p->m, false);
  return (dp_last_column){value, 0, value};
}

void dp_last_column_add(const dp_params *p, const void *edge, int64_t first, int64_t rows,
                        dp_last_column *c) {
  const int64_t size = dp_edge_entry(p) / (int64_t)sizeof(int32_t);
  for (int64_t r = 0; r < rows; r++) {
    if (dp_edge_is_bits(p))
      c->value += difference(p, edge, rows, r);
    else
      c->value = ((const int32_t *)edge)[(r + 1) * size];
    if (dp_ends_better(p, c->value, c->best)) c->best = c->value, c->row = first + r + 1;
  }
}

void dp_last_row_look(const dp_params *p, const void *state, int64_t columns, int64_t first,
                      int64_t from, int64_t to, int64_t lane[3]) {
  const int32_t *values = (const int32_t *)state + (p->mode == DP_TABLE);
  int64_t value = 0;
  for (int64_t j = from; j < to; j++) {
    value = dp_state_is_bits(p) ? value + difference(p, state, columns, j) : values[j];
    if (j == from || dp_ends_better(p, value, lane[0])) lane[0] = value, lane[1] = first + j + 1;
  }
  lane[2] = value;
}

/* ---- the end */

/** Row 0 or column 0 alone. */
static void end_of_boundary(const dp_params *p, int64_t end[3]) {
  const bool begin = p->n == 0 ? p->free_ends & DP_B_END : p->free_ends & DP_A_END;
  end[0] = p->m > 0 ? dp_boundary(p, p->m, false) : dp_boundary(p, p->n, true);
  end[1] = p->n, end[2] = p->m;
  if (begin) memset(end, 0, 3 * sizeof *end);
}

/** Of the cells of the last row that may be the end. */
static void end_of_row(const dp_params *p, const int64_t (*lanes)[5], int64_t n, int64_t end[3]) {
  int64_t left = dp_boundary(p, p->n, true);
  end[0] = left, end[1] = p->n, end[2] = 0;
  for (int64_t k = 0; k < n; k++) {
    const int64_t base = dp_state_is_bits(p) ? left : 0;
    if (dp_ends_better(p, base + lanes[k][0], end[0]))
      end[0] = base + lanes[k][0], end[2] = lanes[k][1];
    left = base + lanes[k][2];
  }
  if (!(p->free_ends & DP_B_END)) end[0] = left, end[2] = p->m;
}

void dp_ends_find(const dp_params *p, const int64_t (*lanes)[5], int64_t n, int64_t end[3]) {
  if (n == 0) {
    end_of_boundary(p, end);
    return;
  }
  end_of_row(p, lanes, n, end);
  if (!(p->free_ends & DP_A_END) || dp_ends_better(p, end[0], lanes[n - 1][3])) return;
  if (lanes[n - 1][3] == end[0] && lanes[n - 1][4] == p->n) return; /* not a smaller row */
  end[0] = lanes[n - 1][3], end[1] = lanes[n - 1][4], end[2] = p->m;
}
