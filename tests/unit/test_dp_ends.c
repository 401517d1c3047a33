/* unit.dp.ends: the end of an alignment, from edges and states cut in all ways, is the best cell of
 * the last row and column of its table, of equal ones that of the smallest row, then column. */
#include "dp_ends.h"

#include "dp_problem_fixture.h"
#include "integers.h"
#include "random.h"

enum { MOST = 70, ROOM = 8 * (MOST + 2) };

/** A table's last column and row. */
typedef struct sides {
  dp_params p;
  int64_t column[MOST + 1], row[MOST + 1];
} sides;

static int64_t between(uint64_t *seed, int64_t lo, int64_t hi) {
  return lo + (int64_t)(random_bits(seed) % (uint64_t)(hi - lo + 1));
}

/** Fill a table row by row, of pairs of any letters. */
static void fill_table(uint64_t *seed, sides *s) {
  const dp_params *p = &s->p;
  const bool edit = p->problem == DP_EDIT;
  for (int64_t j = 0; j <= p->m; j++) s->row[j] = dp_boundary(p, j, false);
  s->column[0] = s->row[p->m];
  for (int64_t i = 1; i <= p->n; i++) {
    int64_t diagonal = s->row[0];
    s->row[0] = dp_boundary(p, i, true);
    for (int64_t j = 1; j <= p->m; j++) {
      const int64_t pair = diagonal + (edit ? between(seed, 0, 1) : between(seed, -2, 2));
      const int64_t up = s->row[j] + (edit ? 1 : -1), left = s->row[j - 1] + (edit ? 1 : -1);
      diagonal = s->row[j];
      s->row[j] = dp_ends_better(p, up, left) ? up : left;
      if (dp_ends_better(p, pair, s->row[j])) s->row[j] = pair;
    }
    s->column[i] = s->row[p->m];
  }
}

static void make_sides(uint64_t *seed, int32_t problem, bool unit, int32_t mode, sides *s) {
  s->p = (dp_params){.problem = problem, .mode = mode, .type = TSL_I32, .unit = unit};
  s->p.n = between(seed, 1, MOST), s->p.m = between(seed, 1, MOST);
  s->p.free_ends = (int32_t)between(seed, 1, 15);
  s->p.insert = s->p.remove = s->p.replace = 1;
  s->p.scores.extend = 1;
  fill_table(seed, s);
}

/** The rule, cell by cell. */
static void true_end(const sides *s, int64_t end[3]) {
  const dp_params *p = &s->p;
  end[0] = s->row[p->m], end[1] = p->n, end[2] = p->m;
  for (int64_t j = p->m; j >= 0 && p->free_ends & DP_B_END; j--)
    if (!dp_ends_better(p, end[0], s->row[j])) end[0] = s->row[j], end[1] = p->n, end[2] = j;
  for (int64_t i = p->n - 1; i >= 0 && p->free_ends & DP_A_END; i--)
    if (!dp_ends_better(p, end[0], s->column[i])) end[0] = s->column[i], end[1] = i, end[2] = p->m;
}

static void put_bit(uint32_t *bits, int64_t n, int64_t k, int64_t step) {
  if (step > 0) bits[k / 32] |= 1u << k % 32;
  if (step < 0) bits[dp_bit_words(n) + k / 32] |= 1u << k % 32;
}

/** The right edge of rows [lo, hi). */
static void make_edge(const sides *s, int64_t lo, int64_t hi, int32_t *edge) {
  const int64_t size = dp_edge_entry(&s->p) / 4;
  memset(edge, 0, (size_t)dp_edge_size(&s->p, hi - lo));
  for (int64_t r = 0; r < hi - lo; r++)
    if (dp_edge_is_bits(&s->p))
      put_bit((uint32_t *)edge, hi - lo, r, s->column[lo + r + 1] - s->column[lo + r]);
    else
      edge[(r + 1) * size] = (int32_t)s->column[lo + r + 1];
}

/** The state of a band of columns [lo, hi) after row n. */
static void make_state(const sides *s, int64_t lo, int64_t hi, int32_t *state) {
  const bool table = s->p.mode == DP_TABLE;
  memset(state, 0, (size_t)dp_state_bytes(&s->p, hi - lo));
  if (table) state[0] = (int32_t)s->row[lo];
  for (int64_t c = 0; c < hi - lo; c++)
    if (dp_state_is_bits(&s->p))
      put_bit((uint32_t *)state, hi - lo, c, s->row[lo + c + 1] - s->row[lo + c]);
    else
      state[c + table] = (int32_t)s->row[lo + c + 1];
}

/** Lanes of two and more columns, bands of some of them. */
static int64_t find_lanes(uint64_t *seed, const sides *s, const dp_last_column *column,
                          int64_t (*lanes)[5]) {
  int32_t state[ROOM];
  int64_t n = 0;
  for (int64_t lo = 0, hi; lo < s->p.m; lo = hi) {
    hi = tsl_min(lo + between(seed, 1, MOST), s->p.m);
    make_state(s, lo, hi, state);
    for (int64_t from = lo, to; from < hi; from = to) {
      to = tsl_min(from + between(seed, 1, 40), hi);
      memset(lanes[n], 0, sizeof lanes[n]);
      dp_last_row_look(&s->p, state, hi - lo, lo, from - lo, to - lo, lanes[n]);
      if (to == s->p.m) lanes[n][3] = column->best, lanes[n][4] = column->row;
      n++;
    }
  }
  return n;
}

static void one(uint64_t *seed, int32_t problem, bool unit, int32_t mode) {
  int64_t lanes[MOST][5], truth[3], end[3];
  int32_t edge[ROOM];
  sides s;
  make_sides(seed, problem, unit, mode, &s);
  dp_last_column column = dp_last_column_begin(&s.p);
  for (int64_t lo = 0, hi; lo < s.p.n; lo = hi) {
    hi = tsl_min(lo + between(seed, 1, MOST), s.p.n);
    make_edge(&s, lo, hi, edge);
    dp_last_column_add(&s.p, edge, lo, hi - lo, &column);
  }
  const int64_t n = find_lanes(seed, &s, &column, lanes);
  true_end(&s, truth);
  dp_ends_find(&s.p, (const int64_t(*)[5])lanes, n, end);
  assert_memory_equal(end, truth, sizeof end);
}

static void best_of_sides(void **state) {
  uint64_t seed = 5;
  (void)state;
  for (int round = 0; round < 4000; round++)
    one(&seed, round % 2 ? DP_EDIT : DP_GLOBAL, round % 4 == 1, round / 4 % DP_N_MODES);
}

static void without_cells(void **state) {
  dp_params p = {.problem = DP_GLOBAL, .type = TSL_I32, .m = 4, .free_ends = DP_B_END};
  int64_t end[3];
  (void)state;
  p.scores.open = 5, p.scores.extend = 2;
  dp_ends_find(&p, NULL, 0, end);
  assert_true(end[0] == 0 && end[1] == 0 && end[2] == 0);
  p.free_ends = DP_A_END;
  dp_ends_find(&p, NULL, 0, end);
  assert_true(end[0] == -13 && end[1] == 0 && end[2] == 4);
  p.free_ends = DP_B_BEGIN;
  dp_ends_find(&p, NULL, 0, end);
  assert_true(end[0] == 0 && end[1] == 0 && end[2] == 4);
}

/** What begins a table has no gap that could go on without being opened. */
static void zeros(void **state) {
  const dp_params affine = {.problem = DP_GLOBAL, .type = TSL_I32, .free_ends = 15};
  int32_t values[ROOM];
  (void)state;
  dp_free_top(&affine, 3, values);
  for (int k = 0; k < 6; k++) assert_int_equal(values[k], k < 3 ? 0 : DP_MINUS_INFINITY);
  dp_free_side(&affine, 2, values);
  for (int k = 0; k < 6; k++) assert_int_equal(values[k], k % 2 == 0 ? 0 : DP_MINUS_INFINITY);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(best_of_sides),
                                     cmocka_unit_test(without_cells), cmocka_unit_test(zeros)};
  return cmocka_run_group_tests_name("unit.dp.ends", tests, NULL, NULL);
}
