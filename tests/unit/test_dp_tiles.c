/* unit.dp.tiles: tiles of family dp cover every cell once, in an order that their predecessors and
 * edges allow; a recovered solution that is none is found out. A case (../cpu/cases.h) is a cut. */
#include "../cpu/cases.h"
#include "dp_problem_fixture.h"
#include "dp_space.h"

static const int rank_counts[] = {1, 2, 3, 7};
static const int64_t wishes[] = {0, 1, 5, 1000};

static const char *const sections[] = {
    " problem: lcs\n mode: table\n a: {random: 130}\n b: {random: 333}\n",
    " problem: local\n mode: table\n a: {random: 7}\n b: {random: 3}\n",
    " problem: global\n mode: recover\n a: {random: 1}\n b: {random: 900}\n",
    " problem: dtw\n mode: table\n a: {random: 65}\n b: {random: 64}\n",
    " problem: knapsack\n mode: table\n capacity: 400\n weights: {random: 70, lo: 0, hi: 30}\n"
    " values: {random: 70}\n",
    " problem: knapsack\n mode: value\n capacity: 40\n weights: {random: 9, lo: 20, hi: 60}\n"
    " values: {random: 9}\n",
    " problem: knapsack_unbounded\n mode: table\n capacity: 300\n weights: {random: 9, lo: 9, hi: "
    "90}\n"
    " values: {random: 9}\n",
    " problem: knapsack_unbounded\n mode: value\n capacity: 3000\n weights: {random: 90, lo: 1, "
    "hi: "
    "400}\n"
    " values: {random: 90}\n",
    " problem: binomial\n mode: table\n n: 200\n k: 90\n modulus: 97\n",
    " problem: allotment\n mode: table\n capacity: 69\n returns: {random: 350}\n",
    " problem: stagecoach\n mode: table\n start: {random: 20}\n costs: {random: 2000}\n",
    " problem: matrix_chain\n mode: table\n dimensions: {random: 700, lo: 1, hi: 9}\n",
    " problem: search_tree\n mode: table\n keys: {random: 800}\n",
    " problem: nussinov\n mode: table\n a: {random: 1100}\n",
    " problem: nussinov\n mode: table\n a: {text: \"\"}\n",
};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

/** Run body for every problem, number of ranks and wish. */
static void for_all(void (*body)(const made *m)) {
  int64_t number = 0;
  for (size_t s = 0; s < N_SECTIONS; s++) {
    made m;
    (void)make_good(sections[s], &m);
    for (size_t r = 0; r < sizeof rank_counts / sizeof *rank_counts; r++)
      for (size_t w = 0; w < sizeof wishes / sizeof *wishes; w++) {
        if (!case_is_mine(number++)) continue;
        cut(&m, rank_counts[r], wishes[w]);
        body(&m);
      }
    release(&m);
  }
}

/* ------------------------------------------------------------------ samples */

/** A part of a tile: within it and of no more items, or a tile nearer to the diagonal. */
static void part_of_tile(const made *m) {
  static const double fractions[] = {1e-3, 0.3, 0.9, 1};
  const bool interval = dp_params_of(&m->problem)->engine == DP_INTERVAL;
  for (int64_t u = 0; u < m->units.n; u++)
    for (size_t f = 0; f < sizeof fractions / sizeof *fractions; f++) {
      const tsl_unit *whole = &m->units.list[u];
      tsl_unit part;
      tsl_family_dp.sample(&m->problem, whole, fractions[f], &part);
      assert_true(part.lo[0] == whole->lo[0] && part.hi[0] <= whole->hi[0]);
      assert_true(part.lo[0] < part.hi[0] && part.lo[1] < part.hi[1]);
      assert_true(part.hi[1] <= whole->hi[1] && (interval || part.lo[1] == whole->lo[1]));
      assert_true(part.count > 0 && (interval || part.count <= whole->count));
      if (fractions[f] == 1) assert_true(part.count == whole->count);
    }
}

static void samples(void **state) {
  (void)state;
  for_all(part_of_tile);
}

/** An unbounded knapsack without its table takes all items of a tile at once: some would not tell
 *  what all cost. */
static void all_items(void **state) {
  made m;
  tsl_unit part;
  (void)state;
  (void)make_good(
      " problem: knapsack_unbounded\n mode: value\n capacity: 999\n weights: {random: 99,"
      " lo: 9, hi: 90}\n values: {random: 99}\n",
      &m);
  cut(&m, 1, 0);
  const tsl_unit *whole = &m.units.list[0];
  assert_true(whole->hi[0] - whole->lo[0] > 1);
  tsl_family_dp.sample(&m.problem, whole, 0.25, &part);
  assert_int_equal(part.hi[0], whole->hi[0]);
  assert_int_equal(part.hi[1], 250);
  release(&m);
}

static int64_t stages_of(const char *mode, int ranks) {
  made m;
  char text[256];
  (void)snprintf(text, sizeof text,
                 " problem: knapsack_unbounded\n mode: %s\n capacity: 99999\n"
                 " weights: {random: 800, lo: 9, hi: 90}\n values: {random: 800}\n",
                 mode);
  (void)make_good(text, &m);
  cut(&m, ranks, 0);
  const int64_t stages = m.units.list[m.units.n - 1].stage + 1;
  release(&m);
  return stages;
}

/** Ranks share many items of such a knapsack a stage, and more stages the more they are; decisions
 *  are made item by item. */
static void items_of_stages(void **state) {
  (void)state;
  assert_int_equal(stages_of("value", 2), 10);  /* root of 800 / 8 */
  assert_int_equal(stages_of("value", 17), 40); /* of 16 times that */
  assert_int_equal(stages_of("recover", 2), 800);
}

/* ------------------------------------------------------------------ covering */

static void ordered(const made *m) {
  for (int64_t u = 0; u < m->units.n; u++) {
    const tsl_unit *x = &m->units.list[u], *before = u > 0 ? x - 1 : NULL;
    assert_int_equal(x->id, u);
    assert_true(x->lo[0] < x->hi[0] && x->lo[1] < x->hi[1] && x->count > 0);
    assert_true(x->lane >= 0 && x->lane < m->units.n && x->lane < DP_MAX_LANES);
    if (before == NULL) continue;
    assert_true(x->stage == before->stage || x->stage == before->stage + 1);
    if (x->stage == before->stage) assert_true(x->lane > before->lane);
  }
}

/** Cells of [rows][columns] that boxes cover once. */
typedef struct grid {
  int64_t rows, columns;
  uint8_t *times;
} grid;

static void grid_open(grid *g, int64_t rows, int64_t columns) {
  *g = (grid){rows, columns, calloc((size_t)(rows * columns) + 1, 1)};
  assert_non_null(g->times);
}

static void grid_add(const grid *g, const int64_t *lo, const int64_t *hi) {
  assert_true(lo[0] >= 0 && hi[0] <= g->rows && lo[1] >= 0 && hi[1] <= g->columns);
  for (int64_t i = lo[0]; i < hi[0]; i++)
    for (int64_t j = lo[1]; j < hi[1]; j++) g->times[i * g->columns + j]++;
}

static void tiles_cover(const made *m) {
  const dp_params *p = dp_params_of(&m->problem);
  const bool triangle = p->engine == DP_INTERVAL;
  const int64_t top = p->problem == DP_STAGECOACH;
  grid g;
  grid_open(&g, triangle ? dp_posts(p) : p->n, triangle ? dp_posts(p) : dp_width(p));
  for (int64_t u = 0; u < m->units.n; u++) grid_add(&g, m->units.list[u].lo, m->units.list[u].hi);
  for (int64_t i = 0; i < g.rows; i++)
    for (int64_t j = 0; j < g.columns; j++) {
      const int wanted = triangle ? i / DP_BOX <= j / DP_BOX : i >= top;
      if (g.times[i * g.columns + j] != wanted)
        fail_msg("cell %lld, %lld is in %d tiles", (long long)i, (long long)j,
                 g.times[i * g.columns + j]);
    }
  free(g.times);
}

static void regions_cover(const made *m) {
  const dp_params *p = dp_params_of(&m->problem);
  const int table = dp_field(&m->problem, "table"), best = dp_field(&m->problem, "best");
  int64_t lo[3], hi[3], n_best = 0;
  grid g;
  if (table < 0) return;
  grid_open(&g, m->problem.fields[table].shape[0], m->problem.fields[table].shape[1]);
  for (int64_t u = 0; u < m->units.n; u++) {
    dp_region(&m->problem, &m->units.list[u], table, lo, hi);
    grid_add(&g, lo, hi);
    if (best < 0) continue;
    dp_region(&m->problem, &m->units.list[u], best, lo, hi);
    if (hi[0] > lo[0]) assert_int_equal(lo[0], n_best++);
  }
  for (int64_t k = 0; k < g.rows * g.columns; k++)
    if (p->engine != DP_INTERVAL) assert_int_equal(g.times[k], 1);
  if (best >= 0) assert_int_equal(n_best, dp_own_of(&m->problem)->n_lanes);
  free(g.times);
}

static void cover_once(void **state) {
  (void)state;
  for_all(ordered);
  for_all(tiles_cover);
  for_all(regions_cover);
}

/* ------------------------------------------------------------------ stages */

/** Seconds of S stages in a pipeline of ranks when the cells of all take 1. */
static double pipeline(int ranks, double fill, int64_t stages) {
  return (double)(stages + ranks - 1) * (1 / (double)stages + fill);
}

/** Strips get the number of stages that ends soonest; a rank alone loses little to them. */
static void stages_by_fill(void **state) {
  static const char *const alignments[] = {
      " problem: local\n mode: value\n a: {random: 20000}\n b: {random: 20000}\n",
      " problem: recurrence\n mode: value\n table: {type: i32, rows: 20000, cols: 9000}\n"
      " boundary: [{where: \"i == 0 || j == 0\", value: \"0\"}]\n"
      " cell: \"max(M[i-1][j] + 1, M[i][j-1])\"\n goal: \"M[19999][8999]\"\n"};
  static const double fills[] = {0.5, 0.05, 0.02, 0.003, 1e-5, 0};
  (void)state;
  for (int s = 0; s < 2; s++) {
    made m;
    (void)make_good(alignments[s], &m);
    for (int ranks = 1; ranks <= 4; ranks++)
      for (int k = 0; k < 6; k++) {
        cut_for(&m, ranks, 0, fills[k]);
        const int64_t stages = m.units.list[m.units.n - 1].stage + 1, most = 16 * ranks;
        if (ranks == 1) {
          assert_true(stages == 1 || (double)stages * fills[k] <= 0.06);
          assert_true(stages <= 8 && (fills[k] > 0 || stages == 8));
          continue;
        }
        for (int64_t other = 1; other <= most; other++)
          assert_true(pipeline(ranks, fills[k], stages) <= 1.02 * pipeline(ranks, fills[k], other));
      }
    release(&m);
  }
}

/** The same where stages overlap, two at most: the device is free for the next when the cells are
 *  done, but no earlier than half of a stage's time. */
static double overlapped(int ranks, double fill, int64_t stages) {
  const double cells = 1 / (double)stages, whole = cells + fill;
  const double period = cells > whole / 2 ? cells : whole / 2;
  return (double)(stages - 1) * period + (double)ranks * whole;
}

/** Never much longer than with the best number of stages, nor than without overlap; a fill that is
 *  half as long again costs little more than it must. */
static void stages_that_overlap(void **state) {
  static const double fills[] = {0.5, 0.05, 0.02, 0.003, 1e-5, 0};
  made m;
  (void)state;
  (void)make_good(" problem: local\n mode: value\n a: {random: 20000}\n b: {random: 20000}\n", &m);
  for (int ranks = 1; ranks <= 8; ranks++)
    for (int k = 0; k < 6; k++) {
      cut_over(&m, ranks, 0, fills[k], true);
      const int64_t stages = m.units.list[m.units.n - 1].stage + 1,
                    most = ranks > 1 ? 16 * ranks : 8;
      const double took = overlapped(ranks, fills[k], stages);
      assert_true(stages <= most);
      if (ranks == 1) assert_true(took <= 1.0001 + fills[k]);
      if (ranks > 1) cut_over(&m, ranks, 0, fills[k], false);
      if (ranks > 1)
        assert_true(took <= pipeline(ranks, fills[k], m.units.list[m.units.n - 1].stage + 1));
      for (int64_t other = 1; other <= most && ranks > 1; other++) {
        assert_true(took <= 1.1 * overlapped(ranks, fills[k], other));
        assert_true(overlapped(ranks, 1.5 * fills[k], stages) <=
                    1.1 * overlapped(ranks, 1.5 * fills[k], other));
      }
    }
  release(&m);
}

/** Lanes are found by column. */
static void lanes_found(const made *m) {
  const dp_params *p = dp_params_of(&m->problem);
  if (p->engine == DP_INTERVAL) return;
  for (int64_t c = 0; c < dp_width(p); c++) {
    const tsl_unit *u = &m->units.list[dp_lane_of(m->units.list, m->units.n, c)];
    assert_true(u->stage == 0 && u->lo[1] <= c && c < u->hi[1]);
  }
}

static void lanes(void **state) {
  (void)state;
  for_all(lanes_found);
}

/* --------------------------------------------------------------- predecessors */

/** The tile of stage `stage` (of any, for intervals) with cell (i, j). */
static int64_t tile_with(const made *m, int64_t stage, int64_t i, int64_t j) {
  for (int64_t u = 0; u < m->units.n; u++) {
    const tsl_unit *x = &m->units.list[u];
    if (i < 0 && x->stage != stage) continue;
    if ((i < 0 || (x->lo[0] <= i && i < x->hi[0])) && x->lo[1] <= j && j < x->hi[1]) return u;
  }
  fail_msg("no tile");
  return -1;
}

/** Mark the tiles that a sweep's tile reads, by following every reference of every row. */
static void sweep_needs(const made *m, const tsl_unit *u, bool *needed) {
  const dp_params *p = dp_params_of(&m->problem);
  const int64_t *weights = m->problem.fields[DP_A].data, width = dp_width(p);
  bool *want = calloc((size_t)width, 1), *next = calloc((size_t)width, 1);
  assert_true(want != NULL && next != NULL);
  for (int64_t c = u->lo[1]; c < u->hi[1]; c++) want[c] = true;
  for (int64_t i = u->hi[0] - 1; i >= u->lo[0]; i--) {
    memset(next, 0, (size_t)width);
    for (int64_t c = width - 1; c >= 0; c--) {
      if (!want[c]) continue;
      next[c] = true;
      if (p->problem == DP_BINOMIAL && c > 0) next[c - 1] = true;
      if (p->problem == DP_KNAPSACK && c >= weights[i]) next[c - weights[i]] = true;
      if (p->problem == DP_KNAPSACK_UNBOUNDED && c >= weights[i]) {
        const int64_t left = c - weights[i];
        if (left < u->lo[1])
          needed[tile_with(m, u->stage, -1, left)] = true;
        else
          want[left] = true;
      }
      for (int64_t k = 0; k < width; k++)
        if (p->problem == DP_STAGECOACH || (p->problem == DP_ALLOTMENT && k <= c)) next[k] = true;
    }
    memcpy(want, next, (size_t)width);
  }
  for (int64_t c = 0; c < width && u->stage > 0; c++)
    if (want[c]) needed[tile_with(m, u->stage - 1, -1, c)] = true;
  free(want);
  free(next);
}

static void interval_needs(const made *m, const tsl_unit *u, bool *needed) {
  const bool inner = dp_params_of(&m->problem)->problem == DP_NUSSINOV;
  for (int64_t a = u->lo[0]; a < u->hi[0]; a += DP_BOX - 1)
    for (int64_t b = u->hi[1] - 1; b >= u->lo[1] && b > a; b -= DP_BOX - 1) {
      for (int64_t k = a + 1; k < b; k++) {
        needed[tile_with(m, 0, a, k)] = true;
        needed[tile_with(m, 0, k, b)] = true;
      }
      if (inner && b - a > 2) needed[tile_with(m, 0, a + 1, b - 1)] = true;
    }
}

/** What a tile needs of other lanes is listed; lists ascend and end before the tile. */
static void predecessors_suffice(const made *m) {
  const dp_params *p = dp_params_of(&m->problem);
  static int64_t list[1 << 15];
  const int64_t step = m->units.n > 60 ? m->units.n / 37 : 1;
  for (int64_t u = 0; u < m->units.n; u += step) {
    const tsl_unit *x = &m->units.list[u];
    bool *needed = calloc((size_t)m->units.n, 1), *listed = calloc((size_t)m->units.n, 1);
    const int64_t n = dp_predecessors(&m->problem, m->units.list, m->units.n, u, list, 1 << 15);
    assert_true(needed != NULL && listed != NULL && n <= 1 << 15);
    for (int64_t k = 0; k < n; k++) {
      assert_true(list[k] >= 0 && list[k] < u && (k == 0 || list[k] > list[k - 1]));
      listed[list[k]] = true;
    }
    if (p->engine == DP_ROWS) sweep_needs(m, x, needed);
    if (p->engine == DP_INTERVAL) interval_needs(m, x, needed);
    if (p->engine == DP_WAVEFRONT && x->lane > 0) needed[u - 1] = true;
    for (int64_t k = 0; k < u; k++) {
      if (needed[k] && !listed[k] && m->units.list[k].lane != x->lane)
        fail_msg("%s: tile %lld needs %lld", dp_problem_words[p->problem], (long long)u,
                 (long long)k);
      if (listed[k] && p->engine == DP_WAVEFRONT) assert_true(needed[k]);
    }
    free(needed);
    free(listed);
  }
}

static void predecessors(void **state) {
  (void)state;
  for_all(predecessors_suffice);
}

/** A short list is filled to its end, and the number still counts all. */
static void short_list(void **state) {
  made m;
  int64_t all[64], few[3] = {-1, -1, -1};
  (void)state;
  (void)make_good(" problem: matrix_chain\n dimensions: {random: 1500, lo: 1, hi: 2}\n", &m);
  cut(&m, 2, 0);
  const int64_t last = m.units.n - 1;
  const int64_t n = dp_predecessors(&m.problem, m.units.list, m.units.n, last, all, 64);
  assert_true(n > 2);
  assert_int_equal(dp_predecessors(&m.problem, m.units.list, m.units.n, last, few, 2), n);
  assert_memory_equal(all, few, 2 * sizeof *few);
  assert_int_equal(few[2], -1);
  release(&m);
}

/** Bytes of the edges of tiles of 70 rows and 9 columns, by what dp.h says. */
static void edges(void **state) {
  static const struct {
    const char *section;
    int64_t bytes;
  } cases[] = {
      {" problem: lcs\n a: {random: 70}\n b: {random: 9}\n", 3 * 4},
      {" problem: edit\n a: {random: 70}\n b: {random: 9}\n", 2 * 3 * 4},
      {" problem: edit\n edit: {insert: 2}\n a: {random: 70}\n b: {random: 9}\n", 71 * 4},
      {" problem: local\n a: {random: 70}\n b: {random: 9}\n", 71 * 8},
      {" problem: dtw\n a: {random: 70}\n b: {random: 9}\n", 71 * 8},
      {" problem: dtw\n type: f32\n a: {random: 70}\n b: {random: 9}\n", 71 * 4},
      {" problem: binomial\n n: 70\n k: 8\n", 9 * 8},
      {" problem: nussinov\n a: {random: 70}\n", 70 * 9 * 4},
  };
  const tsl_unit unit = {.hi = {70, 9, 1}};
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    made m;
    (void)make_good(cases[k].section, &m);
    assert_int_equal(dp_edge_bytes(&m.problem, &unit), cases[k].bytes);
    release(&m);
  }
}

/* ------------------------------------------------------- solutions scored again */

static tsl_err drop(void *state, int field, const void *records, int64_t n) {
  (void)field, (void)records;
  *(int64_t *)state = n;
  return TSL_OK;
}

/** What the summary says of steps (from the end of the solution) and a goal. */
static bool accepted(const char *section, int64_t goal, const int64_t (*steps)[2], int64_t n) {
  made m;
  tsl_cursor cursor;
  tsl_summary summary = {0};
  int64_t stored = -1;
  const tsl_field_rows store = {.state = &stored, .append = drop};
  (void)make_good(section, &m);
  cut(&m, 1, 0);
  assert_int_equal(tsl_alloc(1, 8, "goal", &m.problem.fields[DP_GOAL].data), TSL_OK);
  *(int64_t *)m.problem.fields[DP_GOAL].data = goal;
  assert_int_equal(dp_traceback_begin(&m.problem, &cursor), TSL_OK);
  assert_int_equal(dp_traceback_steps(&m.problem, steps, n), TSL_OK);
  assert_int_equal(dp_finish(&m.problem, &store), TSL_OK);
  assert_int_equal(dp_summary(&m.problem, &summary), TSL_OK);
  assert_true(stored >= 0 && summary.valid == (summary.reason[0] == '\0'));
  release(&m);
  return summary.valid;
}

static void lies_are_found(void **state) {
  static const char lcs[] = " problem: lcs\n mode: recover\n a: {text: ABCB}\n b: {text: BDCB}\n";
  static const char edit[] = " problem: edit\n mode: recover\n a: {text: ABC}\n b: {text: AC}\n";
  static const char sack[] = " problem: knapsack\n mode: recover\n capacity: 5\n"
                             " weights: {values: [2, 3, 4]}\n values: {values: [3, 4, 5]}\n";
  const int64_t bcb[][2] = {{3, 3}, {2, 2}, {1, 0}}, crossed[][2] = {{3, 3}, {1, 0}, {2, 2}};
  const int64_t other[][2] = {{3, 3}, {2, 1}, {1, 0}};
  const int64_t good[][2] = {{DP_MATCH, 1}, {DP_DELETE, 1}, {DP_MATCH, 1}};
  const int64_t wrong[][2] = {{DP_MISMATCH, 1}, {DP_DELETE, 1}, {DP_MATCH, 1}};
  const int64_t longer[][2] = {{DP_MATCH, 1}, {DP_DELETE, 3}};
  const int64_t two[][2] = {{1, 1}, {0, 1}}, heavy[][2] = {{2, 1}, {0, 1}}, twice[][2] = {{0, 2}};
  (void)state;
  assert_true(accepted(lcs, 3, bcb, 3));
  assert_false(accepted(lcs, 4, bcb, 3));
  assert_false(accepted(lcs, 3, crossed, 3));
  assert_false(accepted(lcs, 3, other, 3));
  assert_true(accepted(edit, 1, good, 3));
  assert_false(accepted(edit, 2, good, 3));
  assert_false(accepted(edit, 1, wrong, 3));
  assert_false(accepted(edit, 1, longer, 2));
  assert_true(accepted(sack, 7, two, 2));
  assert_false(accepted(sack, 8, two, 2));
  assert_false(accepted(sack, 8, heavy, 2));
  assert_false(accepted(sack, 6, twice, 1));
}

/** Of a checkpoint: steps that lead from the end of both sequences to the cursor, and no others. */
static tsl_err resumed(const char *section, const int64_t at[3], const int64_t (*steps)[2],
                       int64_t n) {
  made m;
  tsl_cursor cursor, from = {.lane = 0, .at = {at[0], at[1], at[2]}};
  (void)make_good(section, &m);
  cut(&m, 1, 0);
  assert_int_equal(dp_traceback_begin(&m.problem, &cursor), TSL_OK);
  const tsl_err err = dp_traceback_resume(&m.problem, &from, steps, n);
  const int64_t(*kept)[2] = NULL;
  int64_t n_kept = 0;
  dp_traceback_so_far(&m.problem, &kept, &n_kept);
  assert_int_equal(n_kept, err == TSL_OK ? n : 0);
  release(&m);
  return err;
}

static void steps_of_a_file(void **state) {
  static const char edit[] = " problem: edit\n mode: recover\n a: {text: ABC}\n b: {text: AC}\n";
  static const char lcs[] = " problem: lcs\n mode: recover\n a: {text: ABCB}\n b: {text: BDCB}\n";
  const int64_t good[][2] = {{DP_MATCH, 1}, {DP_DELETE, 1}}, far[][2] = {{DP_MATCH, 3}};
  const int64_t none[][2] = {{DP_MATCH, 0}}, other[][2] = {{4, 1}}, less[][2] = {{DP_DELETE, -1}};
  const int64_t pairs[][2] = {{3, 3}, {2, 2}}, back[][2] = {{2, 2}, {3, 3}}, out[][2] = {{4, 3}};
  (void)state;
  assert_int_equal(resumed(edit, (int64_t[]){1, 1, 0}, good, 2), TSL_OK);
  assert_int_equal(resumed(edit, (int64_t[]){1, 1, 3}, good, 2), TSL_ERR_INPUT);
  assert_int_equal(resumed(edit, (int64_t[]){2, 1, 0}, good, 2), TSL_ERR_INPUT);
  assert_int_equal(resumed(edit, (int64_t[]){1, INT64_MAX, 0}, good, 2), TSL_ERR_INPUT);
  assert_int_equal(resumed(edit, (int64_t[]){0, 0, 0}, far, 1), TSL_ERR_INPUT);
  assert_int_equal(resumed(edit, (int64_t[]){3, 2, 0}, none, 1), TSL_ERR_INPUT);
  assert_int_equal(resumed(edit, (int64_t[]){2, 1, 0}, other, 1), TSL_ERR_INPUT);
  assert_int_equal(resumed(edit, (int64_t[]){4, 2, 0}, less, 1), TSL_ERR_INPUT);
  assert_int_equal(resumed(lcs, (int64_t[]){2, 1, 0}, pairs, 2), TSL_OK);
  assert_int_equal(resumed(lcs, (int64_t[]){3, 2, 0}, pairs, 2), TSL_ERR_INPUT);
  assert_int_equal(resumed(lcs, (int64_t[]){2, 2, 0}, back, 2), TSL_ERR_INPUT);
  assert_int_equal(resumed(lcs, (int64_t[]){1, 1, 0}, out, 1), TSL_ERR_INPUT);
}

/** A few rows are enough, however long the sequences are; more memory never costs more. */
static void space_is_linear(void **state) {
  (void)state;
  for (int64_t n = 1000; n <= 100000000; n *= 10)
    for (int ranks = 1; ranks <= 4; ranks *= 4) {
      const dp_params p = {.problem = DP_GLOBAL,
                           .engine = DP_WAVEFRONT,
                           .mode = DP_RECOVER,
                           .type = TSL_I32,
                           .n = n,
                           .m = n};
      const double row = 8 * (double)n / ranks + 64, column = ranks > 1 ? 8 * (double)n : 0;
      assert_false(dp_space_plan(&p, (dp_space_ranks){ranks, 0}, 3 * row, true).fits);
      for (double bytes = 8 * row + 6 * column; bytes < 1e4 * row; bytes *= 1.7) {
        const dp_space s = dp_space_plan(&p, (dp_space_ranks){ranks, 0}, bytes, true);
        const dp_space whole = dp_space_plan(&p, (dp_space_ranks){ranks, 0}, bytes, false);
        assert_true(s.fits && s.most >= 1 && s.least >= 1 && s.least <= s.most);
        assert_true(s.least <= DP_SPACE_ROWS && whole.most == s.most && whole.least >= s.least);
        assert_true(whole.fits == (whole.least <= whole.most));
        assert_true(s.most * row + column <= bytes);
      }
    }
}

/** Of the table, what the way back computes again with as many stages and so much memory. */
static double part_again(int64_t n, int64_t n_stages, int64_t ranks, double bytes) {
  const dp_params p = {.problem = DP_GLOBAL,
                       .engine = DP_WAVEFRONT,
                       .mode = DP_RECOVER,
                       .type = TSL_I32,
                       .n = n,
                       .m = 2 * n,
                       .budget = (int64_t)bytes};
  const dp_cut cut = dp_cut_make(n, n_stages, 64);
  dp_ends stages = {0};
  double cells[4 * 16], sum = 0;
  assert_int_equal(dp_cut_ends(&cut, &stages), TSL_OK);
  assert_true(stages.n * ranks <= 4 * 16);
  dp_space_again(&p, &stages, ranks, false, cells);
  for (int64_t k = 0; k < stages.n * ranks; k++) sum += cells[k];
  tsl_free(stages.at);
  return sum / (double)n / (double)(2 * n);
}

/** Between K kept rows with room for all decisions: of each strip what lies left of the diagonal,
 *  and half of the squares on it; of ranks what lies right of their first column as well. */
static void way_back_is_counted(void **state) {
  const int64_t n = 64 * 240;
  (void)state;
  for (int64_t k = 1; k <= 16; k = k == 1 ? 2 : 2 * k)
    assert_true(fabs(part_again(n, k, 1, 1e18) - (0.5 + 0.5 / (double)k)) < 1e-9);
  for (int64_t ranks = 2; ranks <= 4; ranks += 2) /* strips and ranks meet on the diagonal */
    for (int64_t k = ranks; k <= 8; k *= 2)
      assert_true(fabs(part_again(n, k, ranks, 1e18) - (0.5 / (double)ranks + 0.5 / (double)k)) <
                  1e-9);
  const double row = 8.0 * 2 * (double)n; /* half of the memory holds k of them: 1/2 + 1/k */
  for (int k = 4; k <= 16; k *= 2) {
    const double part = part_again(n, 1, 1, 2.01 * k * (row + 64));
    const double about = 0.5 + 1.0 / fmin(k, DP_SPACE_ROWS);
    assert_true(part >= 0.9 * about && part <= 1.1 * about);
  }
}

static void more_lies(void **state) {
  static const char allot[] = " problem: allotment\n mode: recover\n type: i64\n capacity: 2\n"
                              " returns: {values: [0, 4, 5, 1, 2, 9]}\n";
  const int64_t one[][2] = {{1, 1}, {0, 1}}, last[][2] = {{1, 2}}, much[][2] = {{1, 2}, {0, 1}};
  (void)state;
  assert_true(accepted(allot, 9, last, 1)); /* 0 + 9 */
  assert_false(accepted(allot, 9, one, 2)); /* 4 + 2 */
  assert_true(accepted(allot, 6, one, 2));
  assert_false(accepted(allot, 13, much, 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples),
      cmocka_unit_test(all_items),
      cmocka_unit_test(items_of_stages),
      cmocka_unit_test(cover_once),
      cmocka_unit_test(stages_by_fill),
      cmocka_unit_test(stages_that_overlap),
      cmocka_unit_test(lanes),
      cmocka_unit_test(predecessors),
      cmocka_unit_test(short_list),
      cmocka_unit_test(edges),
      cmocka_unit_test(way_back_is_counted),
      cmocka_unit_test(lies_are_found),
      cmocka_unit_test(more_lies),
      cmocka_unit_test(steps_of_a_file),
      cmocka_unit_test(space_is_linear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
