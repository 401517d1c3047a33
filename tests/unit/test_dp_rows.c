/* unit.dp.rows: sweeps whose rows are int32 and whose decisions fill words of 32 columns, as a
 * card's do, give the edges, checkpoints and steps of those with int64 and words of 64. */
#include "dp_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 60, CAPACITY = 100, MIDDLE = 40, LANES = 2 };

static int64_t weights[ITEMS], values[ITEMS];

/* ---- engines: item i is taken in column c where (2 i + c) % 3 == 0; the last row is 7 c */

static bool taken(int64_t item, int64_t column) {
  return (2 * item + column) % 3 == 0 && column >= weights[item];
}

static void set_bits(const dp_sweep_span *span, int64_t step, char *made) {
  memset(made, 0, (size_t)((span->hi - span->lo) * step));
  for (int64_t i = span->lo; i < span->hi; i++)
    for (int64_t c = 0; c < span->to - span->from; c++)
      if (taken(i, span->from + c))
        ((uint32_t *)(made + (i - span->lo) * step))[c / 32] |= 1u << c % 32;
}

static int64_t narrow_bytes(const dp_params *p, int64_t items, int64_t columns) {
  (void)p;
  return items * ((columns + 31) / 32) * 4;
}

static tsl_err narrow_span(void *worker, const dp_sweep_span *span, void *made) {
  const dp_params *p = worker;
  for (int64_t c = span->from; c < span->to; c++) ((int32_t *)span->bottom)[c] = (int32_t)(7 * c);
  if (made != NULL) set_bits(span, narrow_bytes(p, 1, span->to - span->from), made);
  return TSL_OK;
}

static tsl_err wide_span(void *worker, const dp_sweep_span *span, void *made) {
  const dp_params *p = worker;
  for (int64_t c = span->from; c < span->to; c++) ((int64_t *)span->bottom)[c] = 7 * c;
  if (made != NULL) set_bits(span, dp_choice_bytes(p, 1, span->to - span->from), made);
  return TSL_OK;
}

static const dp_sweep_engine engines[2] = {{.decision_bytes = dp_choice_bytes, .span = wide_span},
                                           {.decision_bytes = narrow_bytes, .span = narrow_span}};

/* ---- two sweeps of a problem */

typedef struct sweeps {
  dp_params p;
  tsl_problem problem;
  dp_context c;
  dp_rows rows[2]; /* wide, narrow */
  tsl_unit units[LANES];
  int n_units;
  _Alignas(8) char state[2][LANES][4096];
  int64_t bytes[2][LANES];
} sweeps;

/** @param[in] budget  bytes for decisions; too few: the row above is kept instead */
static void open_sweeps(sweeps *s, int lanes, int64_t budget) {
  *s = (sweeps){.p = {.problem = DP_KNAPSACK,
                      .engine = DP_ROWS,
                      .mode = DP_RECOVER,
                      .type = TSL_I64,
                      .n = ITEMS,
                      .m = CAPACITY,
                      .budget = budget},
                .n_units = lanes};
  for (int i = 0; i < ITEMS; i++) weights[i] = 1 + 7 * i % 31;
  s->problem.params = &s->p;
  s->problem.fields[DP_A].data = weights;
  s->problem.fields[DP_B].data = values;
  s->problem.fields[DP_A].type = s->problem.fields[DP_B].type = TSL_I64;
  dp_context_set(&s->c, &s->problem, &s->p, &dp_memory_host, NULL);
  for (int k = 0; k < lanes; k++)
    s->units[k] = (tsl_unit){.id = k,
                             .lane = k,
                             .lo = {0, k == 0 ? 0 : MIDDLE},
                             .hi = {ITEMS, k == lanes - 1 ? CAPACITY + 1 : MIDDLE}};
  for (int k = 0; k < 2; k++) {
    assert_int_equal(dp_rows_open(&s->rows[k], &s->c, &engines[k], k == 1), TSL_OK);
    assert_int_equal(dp_rows_begin(&s->rows[k]), TSL_OK);
  }
}

static void close_sweeps(sweeps *s) {
  for (int k = 0; k < 2; k++) dp_rows_clear(&s->rows[k]);
}

/** On a row above of 5 c. */
static void run_sweeps(sweeps *s) {
  const tsl_unit above = {.stage = 1, .hi = {0, CAPACITY + 1}};
  tsl_part parts[LANES] = {0};
  int64_t row[CAPACITY + 1];
  for (int64_t c = 0; c <= CAPACITY; c++) row[c] = 5 * c;
  for (int k = 0; k < 2; k++) assert_int_equal(dp_rows_edge_in(&s->rows[k], &above, row), TSL_OK);
  for (int k = 0; k < 2; k++)
    assert_int_equal(dp_rows_run(&s->rows[k], s->units, s->n_units, parts), TSL_OK);
}

static void save_sweeps(sweeps *s) {
  for (int k = 0; k < 2; k++)
    for (int u = 0; u < s->n_units; u++) {
      s->bytes[k][u] = dp_rows_state_bytes(&s->rows[k], &s->units[u], 1);
      assert_in_range(s->bytes[k][u], 1, sizeof s->state[k][u]);
      assert_int_equal(dp_rows_save(&s->rows[k], &s->units[u], 1, s->state[k][u]), TSL_OK);
    }
}

/** Each from what the other has saved. */
static void exchange(sweeps *s) {
  const uint8_t own[LANES] = {1, 1};
  for (int k = 0; k < 2; k++) {
    assert_int_equal(dp_rows_begin(&s->rows[k]), TSL_OK);
    for (int u = 0; u < s->n_units; u++)
      assert_int_equal(dp_rows_load(&s->rows[k], &s->units[u], 1, own, s->n_units,
                                    s->state[1 - k][u], s->bytes[1 - k][u]),
                       TSL_OK);
  }
}

static void expect_kind(const sweeps *s, bool top) {
  for (int k = 0; k < 2; k++) assert_int_equal(s->rows[k].list[0].top.data != NULL, top);
}

static void expect_same(const sweeps *s) {
  for (int u = 0; u < s->n_units; u++) {
    assert_int_equal(s->bytes[0][u], s->bytes[1][u]);
    assert_memory_equal(s->state[0][u], s->state[1][u], (size_t)s->bytes[0][u]);
  }
}

/** Back from the last cell, as the pattern says. */
static void expect_steps(sweeps *s) {
  int64_t wanted[ITEMS], n = 0, column = CAPACITY;
  for (int64_t i = ITEMS - 1; i >= 0; i--) {
    if (!taken(i, column)) continue;
    wanted[n++] = i;
    column -= weights[i];
  }
  for (int k = 0; k < 2; k++) {
    tsl_cursor cursor = {.at = {ITEMS, CAPACITY}};
    dp_steps steps = {0};
    assert_int_equal(dp_rows_trace(&s->rows[k], s->units, s->n_units, &cursor, &steps), TSL_OK);
    assert_int_equal(cursor.lane, -1);
    assert_int_equal(steps.n, n);
    for (int64_t q = 0; q < n; q++) assert_int_equal(steps.at[q][0], wanted[q]);
    free(steps.at);
  }
}

static void expect_edges(sweeps *s) {
  int64_t edge[CAPACITY + 1];
  for (int k = 0; k < 2; k++)
    for (int u = 0; u < s->n_units; u++) {
      const int64_t from = s->units[u].lo[1], n = s->units[u].hi[1] - from;
      assert_int_equal(dp_rows_edge_out(&s->rows[k], &s->units[u], edge), TSL_OK);
      for (int64_t c = 0; c < n; c++) assert_int_equal(edge[c], 7 * (from + c));
      assert_int_equal(dp_rows_edge_in(&s->rows[k], &s->units[u], edge), TSL_OK);
    }
}

static void check_sweeps(int lanes, int64_t budget, bool top) {
  static sweeps s;
  open_sweeps(&s, lanes, budget);
  run_sweeps(&s);
  expect_kind(&s, top);
  expect_edges(&s);
  save_sweeps(&s);
  expect_same(&s);
  expect_steps(&s);
  exchange(&s);
  expect_edges(&s);
  expect_steps(&s);
  save_sweeps(&s);
  expect_same(&s);
  close_sweeps(&s);
}

static void decisions_are_the_same(void **state) {
  (void)state;
  check_sweeps(1, 1 << 20, false);
}

static void lanes_are_saved_apart(void **state) {
  (void)state;
  check_sweeps(LANES, 1 << 20, false);
}

static void row_above_is_the_same(void **state) {
  (void)state;
  check_sweeps(1, 900, true); /* more than a row, fewer than the bits of all items */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(decisions_are_the_same),
                                     cmocka_unit_test(lanes_are_saved_apart),
                                     cmocka_unit_test(row_above_is_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
