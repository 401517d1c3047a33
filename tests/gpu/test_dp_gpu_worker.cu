/* gpu.dp.recur_worker: recurrences through the worker's interface against the interpreter.
 *
 * usage: test_dp_gpu_worker text   every case compiles for old, new and future cards; needs no card
 *        test_dp_gpu_worker run    every case in random tiles, by one worker and by two of one card
 *                                  that give each other edges; skipped without a card
 *        test_dp_gpu_worker large  the same for large tables
 *        test_dp_gpu_worker restart  the same by two workers that are saved before a stage and
 *                                  followed by two others, which share the lanes in another way
 *        test_dp_gpu_worker bench  whole tables of two recurrences, goals only
 *
 * The runtime is played here: stages in order, in each the groups of the workers, edges before. */
#include "dp_recur_cases.h"
#include "dp_recur_gpu.cuh"
#include "lang_objects.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>
#include <string>
#include <vector>

static long n_checks, n_failures;

static void failed(const std::string &what, const char *why) {
  n_failures++;
  printf("FAIL %s: %s\n", what.c_str(), why);
}

/* Numbers from 0 on. */
struct dice {
  uint64_t state;
  int64_t below(int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return n <= 1 ? 0 : (int64_t)((state >> 33) % (uint64_t)n);
  }
};

static tsl_device the_card;

/* ------------------------------------------------------------------------------------- tiles */

/* Ends of at most `pieces` random pieces of a length. */
static std::vector<int64_t> cut(dice *d, int64_t n, int64_t pieces) {
  std::vector<int64_t> ends;
  for (int64_t at = 0; at < n;) {
    const int64_t left = pieces - (int64_t)ends.size();
    at += left <= 1 ? n - at : 1 + d->below(2 * (n - at) / left);
    if (at > n) at = n;
    ends.push_back(at);
  }
  return ends;
}

static std::vector<int64_t> each(int64_t n) {
  std::vector<int64_t> ends;
  for (int64_t k = 1; k <= n; k++) ends.push_back(k);
  return ends;
}

/* Has the box a cell of the table? */
static bool has_cell(const dp_recur *r, const tsl_unit &u) {
  const lang_table *t = &r->recurrence->equation.names.tables[0];
  for (int64_t p = u.lo[0]; p < u.hi[0]; p++)
    for (int64_t q = u.lo[1]; q < u.hi[1]; q++) {
      int64_t i, j;
      dp_code_unfold(&r->code, p, q, &i, &j);
      if (lang_has_cell(t, i, j)) return true;
    }
  return false;
}

/* One job: tiles, their owners, what came of them. */
struct job {
  const recur_case *c;
  std::string what;
  tsl_problem problem;
  dp_recur *recur = NULL;
  int n_workers, table, best;
  dp_card cards[2];
  dp_recur_card *workers[2] = {NULL, NULL};
  std::vector<tsl_unit> units;
  std::vector<int> owner, moved; /* moved: from stage `pause` on */
  int64_t pause;                 /* 0: never */
  std::vector<std::vector<char>> edges, slabs;
  std::vector<std::vector<int64_t>> bests;
  int64_t bytes;

  int64_t edge_bytes(const tsl_unit &u) const {
    const int64_t R = u.hi[0] - u.lo[0], C = u.hi[1] - u.lo[1], depth = c->code.depth;
    if (c->code.engine == DP_WAVEFRONT) return (R + 1) * bytes;
    return (c->code.engine == DP_ROWS && R > depth ? depth : R) * C * bytes;
  }
  /* Does b need the edge of a? */
  bool needs(const tsl_unit &b, const tsl_unit &a) const {
    if (c->code.engine == DP_WAVEFRONT) return a.stage == b.stage && a.lane + 1 == b.lane;
    if (c->code.engine == DP_ROWS) return a.stage + 1 == b.stage;
    return a.stage < b.stage && a.lo[0] <= b.lo[0] && a.lo[1] <= b.lo[1];
  }
};

static void make_units(job *j, dice *d) {
  const dp_code *code = &j->c->code;
  const bool boxes = code->engine == DP_INTERVAL;
  const bool single = code->engine == DP_ROWS && (code->depth == 0 || code->same_row != 0);
  const bool sweep = code->engine == DP_ROWS && !single && d->below(3) > 0;
  const std::vector<int64_t> rows = sweep ? each(code->P) : cut(d, code->P, 1 + d->below(6));
  const std::vector<int64_t> columns =
      code->engine == DP_ROWS && !sweep ? cut(d, code->Q, 1) : cut(d, code->Q, 1 + d->below(7));
  const int64_t down = (int64_t)rows.size(), across = (int64_t)columns.size();
  std::vector<int> lanes;
  for (int64_t l = 0; l < across; l++) lanes.push_back((int)d->below(j->n_workers));
  for (int64_t s = 0; s < (boxes ? down + across - 1 : down); s++)
    for (int64_t l = 0; l < (boxes ? down : across); l++) {
      const int64_t r = boxes ? l : s, k = boxes ? s - l : l;
      tsl_unit u = {};
      if (k < 0 || k >= across) continue;
      u.lo[0] = r > 0 ? rows[(size_t)r - 1] : 0, u.hi[0] = rows[(size_t)r];
      u.lo[1] = k > 0 ? columns[(size_t)k - 1] : 0, u.hi[1] = columns[(size_t)k];
      u.hi[2] = 1;
      if (!has_cell(j->recur, u)) continue;
      u.id = (int64_t)j->units.size();
      u.stage = s;
      u.lane = boxes ? u.id : l;
      u.count = (double)((u.hi[0] - u.lo[0]) * (u.hi[1] - u.lo[1]));
      j->units.push_back(u);
      j->owner.push_back(boxes ? (int)d->below(j->n_workers) : lanes[(size_t)l]);
    }
}

/* Owners of the lanes after a restart, and before which stage. */
static void plan_restart(job *j, dice *d) {
  std::vector<int> lanes;
  for (const tsl_unit &u : j->units) {
    while ((int64_t)lanes.size() <= u.lane) lanes.push_back((int)d->below(j->n_workers));
    j->moved.push_back(lanes[(size_t)u.lane]);
  }
  j->pause = j->units.empty() ? 0 : 1 + d->below(j->units.back().stage);
}

static bool is_last(const job *j, const tsl_unit &u) {
  return j->c->code.engine == DP_INTERVAL || u.hi[0] == j->c->code.P;
}

static void make_room(job *j) {
  j->edges.resize(j->units.size());
  j->slabs.resize(j->units.size());
  j->bests.resize(j->units.size());
  for (size_t k = 0; k < j->units.size(); k++) {
    const tsl_unit &u = j->units[k];
    if (j->table >= 0) j->slabs[k].resize((size_t)((int64_t)u.count * j->bytes));
    if (is_last(j, u)) j->bests[k].resize(DP_BEST_ROW, -77);
  }
}

/* --------------------------------------------------------------------------------- the runtime */

static tsl_err run_group(job *j, int worker, const std::vector<size_t> &group,
                         std::vector<std::vector<bool>> *given) {
  tsl_err err = TSL_OK;
  std::vector<tsl_unit> units;
  std::vector<tsl_part> parts(group.size());
  for (size_t k = 0; k < group.size(); k++) {
    const size_t n = group[k];
    units.push_back(j->units[n]);
    parts[k] = tsl_part{};
    if (j->table >= 0) parts[k].slab[j->table] = j->slabs[n].data();
    if (j->best >= 0 && !j->bests[n].empty()) parts[k].slab[j->best] = j->bests[n].data();
  }
  for (size_t a = 0; a < j->units.size(); a++) {
    bool wanted = false;
    for (const tsl_unit &u : units) wanted = wanted || j->needs(u, j->units[a]);
    if (!wanted || j->owner[a] == worker || (*given)[(size_t)worker][a]) continue;
    (*given)[(size_t)worker][a] = true;
    TSL_TRY(dp_recur_card_edge_in(j->workers[worker], &j->units[a], j->edges[a].data()));
  }
  TSL_TRY(
      dp_recur_card_tiles(j->workers[worker], units.data(), (int64_t)units.size(), parts.data()));
  for (size_t n : group) {
    bool asked = j->n_workers > 1;
    if (j->c->code.engine == DP_WAVEFRONT) /* the runtime asks for edges that leave the rank */
      asked = n + 1 < j->units.size() && j->needs(j->units[n + 1], j->units[n]) &&
              j->owner[n + 1] != worker;
    if (!asked) continue;
    j->edges[n].resize((size_t)j->edge_bytes(j->units[n]) + 1);
    TSL_TRY(dp_recur_card_edge_out(j->workers[worker], &j->units[n], j->edges[n].data()));
  }
done:
  return err;
}

/* Tiles 0..n-1 are done: all that is saved of them goes to new workers. */
static tsl_err restart(job *j, size_t n, std::vector<std::vector<bool>> *given) {
  tsl_err err = TSL_OK;
  std::vector<std::vector<char>> states(n);
  std::vector<uint8_t> own(j->units.size() + 1, 0);
  for (size_t k = 0; k < n; k++) {
    dp_recur_card *w = j->workers[j->owner[k]];
    states[k].resize((size_t)dp_recur_card_state_bytes(w, &j->units[k], j->pause));
    if (!states[k].empty())
      TSL_TRY(dp_recur_card_save(w, &j->units[k], j->pause, states[k].data()));
  }
  j->owner = j->moved;
  for (int w = 0; w < j->n_workers; w++) {
    dp_recur_card_close(&j->workers[w]);
    TSL_TRY(dp_recur_card_open(&j->cards[w], &j->problem, the_card.capability, &j->workers[w]));
    TSL_TRY(dp_recur_card_begin(j->workers[w]));
    std::fill(own.begin(), own.end(), 0);
    for (size_t k = 0; k < j->units.size(); k++)
      if (j->owner[k] == w) own[(size_t)j->units[k].lane] = 1;
    for (size_t k = 0; k < n; k++) {
      const int64_t bytes = (int64_t)states[k].size();
      (*given)[(size_t)w][k] = true;
      if (bytes == 0) continue;
      if (dp_recur_card_load(j->workers[w], &j->units[k], j->pause, own.data(), states[k].data(),
                             bytes - 1) == TSL_OK)
        failed(j->what, "a state that is cut off is taken");
      TSL_TRY(dp_recur_card_load(j->workers[w], &j->units[k], j->pause, own.data(),
                                 states[k].data(), bytes));
    }
  }
done:
  return err;
}

/* Groups of a stage: runs of one owner, or with independent tiles all of each. */
static tsl_err run_all(job *j) {
  tsl_err err = TSL_OK;
  std::vector<std::vector<bool>> given(2, std::vector<bool>(j->units.size(), false));
  for (size_t k = 0, end; k < j->units.size(); k = end) {
    if (j->pause > 0 && k > 0 && j->units[k].stage == j->pause && j->units[k - 1].stage < j->pause)
      TSL_TRY(restart(j, k, &given));
    for (end = k; end < j->units.size() && j->units[end].stage == j->units[k].stage;) end++;
    if (j->c->code.engine == DP_WAVEFRONT) {
      for (end = k + 1; end < j->units.size() && j->units[end].stage == j->units[k].stage &&
                        j->owner[end] == j->owner[k];)
        end++;
    }
    for (int w = 0; w < j->n_workers; w++) {
      std::vector<size_t> group;
      for (size_t n = k; n < end; n++)
        if (j->owner[n] == w) group.push_back(n);
      if (!group.empty()) TSL_TRY(run_group(j, w, group, &given));
    }
  }
done:
  return err;
}

/* ------------------------------------------------------------------------------------- checks */

static const char *value_of(const job *j, int64_t p, int64_t q, int64_t n) {
  const int64_t step = j->bytes / j->c->code.values;
  return j->c->values + (size_t)((p * j->c->code.Q + q) * j->bytes + n * step);
}

static void check_table(const job *j) {
  for (size_t k = 0; k < j->units.size() && j->table >= 0; k++) {
    const tsl_unit &u = j->units[k];
    int64_t i0, j0, i1, j1, i, jj;
    dp_code_unfold(&j->c->code, u.lo[0], u.lo[1], &i0, &j0);
    dp_code_unfold(&j->c->code, u.hi[0] - 1, u.hi[1] - 1, &i1, &j1);
    const int64_t top = i0 < i1 ? i0 : i1, side = j0 < j1 ? j0 : j1;
    const int64_t ld = (j0 < j1 ? j1 - j0 : j0 - j1) + 1;
    for (int64_t p = u.lo[0]; p < u.hi[0]; p++)
      for (int64_t q = u.lo[1]; q < u.hi[1]; q++) {
        dp_code_unfold(&j->c->code, p, q, &i, &jj);
        const char *got = j->slabs[k].data() + ((i - top) * ld + jj - side) * j->bytes;
        if (memcmp(got, value_of(j, p, q, 0), (size_t)j->bytes) == 0) continue;
        char why[96];
        (void)snprintf(why, sizeof why, "cell %lld, %lld differs", (long long)i, (long long)jj);
        failed(j->what, why);
        return;
      }
  }
}

static tsl_err check_goal(const job *j) {
  tsl_err err = TSL_OK;
  const dp_recur *r = j->recur;
  std::vector<int64_t> sum((size_t)r->n_wanted + 1, 0), part((size_t)r->n_wanted + 1, 0);
  dp_recur_best best = {0, -1, -1, 0};
  for (int w = 0; w < j->n_workers; w++) {
    TSL_TRY(dp_recur_card_collect(j->workers[w], part.data()));
    for (int64_t k = 0; k < r->n_wanted; k++) sum[(size_t)k] += part[(size_t)k];
  }
  for (int64_t k = 0; k < r->n_wanted; k++) {
    int64_t p, q;
    dp_code_fold(&r->code, r->wanted[k][0], r->wanted[k][1], &p, &q);
    if (sum[(size_t)k] == dp_recur_bits(r->code.type, value_of(j, p, q, r->wanted[k][2]))) continue;
    failed(j->what, "a wanted cell differs");
    break;
  }
  for (const std::vector<int64_t> &b : j->bests) {
    if (b.empty() || j->best < 0) continue;
    const dp_recur_best one = {b[0], b[1], b[2], b[3]};
    if (one.i != -1 && one.i < 0) failed(j->what, "a lane gives no best cell");
    if (dp_recur_better(r, &one, &best)) best = one;
  }
  if (best.i != j->c->goal_i || best.j != j->c->goal_j ||
      (best.i >= 0 && r->code.layers > 0 && best.layer != j->c->goal_layer))
    failed(j->what, "another cell is the best");
  else if (best.i >= 0) {
    int64_t p, q;
    dp_code_fold(&r->code, best.i, best.j, &p, &q);
    if (best.bits != dp_recur_bits(r->code.type, value_of(j, p, q, best.layer)))
      failed(j->what, "the best cell's value differs");
  }
done:
  return err;
}

/* --------------------------------------------------------------------------------------- jobs */

static void clear_job(job *j) {
  for (int w = 0; w < j->n_workers; w++) {
    dp_recur_card_close(&j->workers[w]);
    dp_card_close(&j->cards[w]);
  }
  dp_recur_close(&j->recur);
  tsl_problem_clear(&j->problem);
}

static tsl_err open_job(job *j, bool table) {
  tsl_err err = TSL_OK;
  for (int w = 0; w < j->n_workers; w++) j->cards[w] = dp_card{};
  TSL_TRY(recur_problem_make(j->c, table, &j->problem));
  TSL_TRY(dp_recur_prepare_gpu(&j->problem, &the_card, 1));
  TSL_TRY(dp_recur_open(&j->problem, &j->recur));
  j->table = dp_field(&j->problem, "table");
  j->best = dp_field(&j->problem, "best");
  j->bytes = dp_code_bytes(&j->c->code);
  for (int w = 0; w < j->n_workers; w++) {
    TSL_TRY(dp_card_open(0, &j->cards[w]));
    TSL_TRY(dp_recur_card_open(&j->cards[w], &j->problem, the_card.capability, &j->workers[w]));
  }
done:
  return err;
}

/* Calibration, then a phase. */
static tsl_err run_job(job *j, dice *d) {
  tsl_err err = TSL_OK;
  for (int w = 0; w < j->n_workers; w++) {
    const size_t n = (size_t)d->below((int64_t)j->units.size());
    tsl_part part = {};
    if (j->table >= 0) part.slab[j->table] = j->slabs[n].data();
    if (j->best >= 0 && !j->bests[n].empty()) part.slab[j->best] = j->bests[n].data();
    TSL_TRY(dp_recur_card_trial(j->workers[w], &j->units[n], 1, &part));
    TSL_TRY(dp_recur_card_begin(j->workers[w]));
  }
  TSL_TRY(run_all(j));
done:
  return err;
}

static void run(const recur_case *c, const std::string &name, uint64_t seed, int n_workers,
                bool table, bool restarted) {
  dice d = {seed * 977 + 13};
  job j = {};
  j.c = c;
  j.n_workers = n_workers;
  j.what = name + " [seed " + std::to_string(seed) + ", " + std::to_string(n_workers) +
           (table ? " workers, table] " : " workers] ") + c->what;
  n_checks++;
  tsl_err err = open_job(&j, table);
  if (err == TSL_OK) {
    make_units(&j, &d);
    make_room(&j);
    if (restarted) plan_restart(&j, &d);
    err = run_job(&j, &d);
    if (c->fails && err != TSL_ERR_NUMERIC) failed(j.what, "a failed cell is not reported");
    if (c->fails && err == TSL_ERR_NUMERIC)
      err = TSL_OK;
    else if (err == TSL_OK) {
      check_table(&j);
      err = check_goal(&j);
    }
  }
  if (err != TSL_OK) failed(j.what, tsl_err_message());
  clear_job(&j);
}

static void run_case(const recur_case *c, const std::string &name, int seeds) {
  for (int seed = 1; seed <= seeds; seed++)
    for (int workers = 1; workers <= 2; workers++)
      for (int table = 0; table < 2; table++)
        run(c, name, (uint64_t)seed, workers, table != 0, false);
}

static void run_sizes(int n, const int64_t (*sizes)[2], int n_sizes, int seeds) {
  recur_case c;
  for (int s = 0; s < n_sizes && recur_case_any_size(n); s++) {
    const std::string name = "case " + std::to_string(n) + ", " + std::to_string(sizes[s][0]) +
                             " x " + std::to_string(sizes[s][1]);
    if (recur_case_sized(n, sizes[s][0], sizes[s][1], &c) != TSL_OK)
      failed(name, tsl_err_message());
    else
      run_case(&c, name, seeds);
    recur_case_clear(&c);
  }
}

static void run_every(void) {
  static const int64_t sizes[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 31}, {37, 1}, {31, 67}};
  recur_case c;
  for (int n = 0; n < recur_n_cases(); n++) {
    if (recur_case_make(n, &c) != TSL_OK)
      failed(c.what, tsl_err_message());
    else
      run_case(&c, "case " + std::to_string(n), 3);
    recur_case_clear(&c);
    run_sizes(n, sizes, (int)(sizeof sizes / sizeof *sizes), 1);
  }
}

static void run_restarts(void) {
  recur_case c;
  for (int n = 0; n < recur_n_cases(); n++) {
    if (recur_case_make(n, &c) != TSL_OK) failed(c.what, tsl_err_message());
    for (uint64_t seed = 1; seed <= 4 && c.r != NULL; seed++)
      run(&c, "case " + std::to_string(n) + ", restart", seed, 2, seed % 2 == 0, true);
    recur_case_clear(&c);
  }
}

static void run_large(void) {
  static const int64_t sizes[][2] = {{701, 1499}};
  for (int n = 0; n < recur_n_cases(); n++)
    if (recur_case_any_large(n)) run_sizes(n, sizes, 1, 2);
}

/* ------------------------------------------------------------------------------------ compiling */

/* Every text compiles, comes back from the cache, and is PTX for a card that is too new. */
static void check_text(const recur_case *c) {
  static const int capabilities[] = {75, 90, 999};
  for (int capability : capabilities) {
    void *image = NULL, *again = NULL;
    int64_t n = 0, m = 0;
    n_checks++;
    const lang_program program = dp_recur_program(c->text);
    if (lang_compile_gpu(&program, capability, &image, &n) != TSL_OK ||
        lang_compile_gpu(&program, capability, &again, &m) != TSL_OK)
      failed(c->what, tsl_err_message());
    else if (n != m || memcmp(image, again, (size_t)n) != 0)
      failed(c->what, "the cache gives another image");
    else if ((memcmp(image, "\177ELF", 4) == 0) == (capability == 999))
      failed(c->what, "the image is not of the kind that the card wants");
    tsl_free(image);
    tsl_free(again);
  }
}

/* Rows that no card takes are refused before anything is compiled, with the key that makes them. */
static void check_long_rows(void) {
  recur_case c;
  tsl_problem problem = {};
  n_checks++;
  if (recur_case_long_rows(&c) != TSL_OK || recur_problem_make(&c, false, &problem) != TSL_OK)
    failed(c.what, tsl_err_message());
  else if (dp_recur_prepare_gpu(&problem, &the_card, 1) != TSL_ERR_INPUT ||
           strstr(tsl_err_message(), "a card takes rows of") == NULL ||
           strstr(tsl_err_message(), "dp.table.depth") == NULL)
    failed(c.what, "rows of more than 2 GiB are not refused");
  tsl_problem_clear(&problem);
  recur_case_clear(&c);
}

static void check_texts(void) {
  recur_case c;
  for (int n = 0; n < recur_n_cases(); n++) {
    if (recur_case_make(n, &c) != TSL_OK)
      failed(c.what, tsl_err_message());
    else
      check_text(&c);
    recur_case_clear(&c);
  }
}

/* -------------------------------------------------------------------------------------- bench */

enum { BENCH_SIDE = 400000, BENCH_STAGES = 8 };

/* Cells of a second, all stages of a whole table by one worker. */
static tsl_err bench_case(const recur_case *c, double *rate) {
  tsl_err err = TSL_OK;
  job j = {};
  j.c = c;
  j.n_workers = 1;
  *rate = 0;
  TSL_TRY(open_job(&j, false));
  for (int round = 0; round < 4; round++) {
    double seconds = 0;
    TSL_TRY(dp_recur_card_begin(j.workers[0]));
    for (int64_t s = 0; s < BENCH_STAGES; s++) {
      tsl_unit u = {};
      tsl_part part = {};
      u.lo[0] = s * c->code.P / BENCH_STAGES, u.hi[0] = (s + 1) * c->code.P / BENCH_STAGES;
      u.hi[1] = c->code.Q, u.count = 1;
      TSL_TRY(dp_recur_card_tiles(j.workers[0], &u, 1, &part));
      seconds += part.seconds;
    }
    const double now = (double)c->code.P * (double)c->code.Q / seconds;
    if (now > *rate) *rate = now;
  }
done:
  clear_job(&j);
  return err;
}

static void bench(void) {
  static const struct {
    const char *name, *cell, *frame;
  } all[] = {{"LCS", recur_lcs, "0"}, {"edit", recur_edit, "2 * (i + j)"}};
  std::vector<uint8_t> a(BENCH_SIDE), b(BENCH_SIDE);
  dice d = {1};
  for (int n = 0; n < BENCH_SIDE; n++)
    a[n] = (uint8_t) "ACGT"[d.below(4)], b[n] = (uint8_t) "ACGT"[d.below(4)];
  for (const auto &one : all) {
    recur_case c;
    double rate = 0;
    n_checks++;
    if (recur_case_letters(one.cell, one.frame, BENCH_SIDE, a.data(), b.data(), &c) != TSL_OK ||
        bench_case(&c, &rate) != TSL_OK)
      failed(one.name, tsl_err_message());
    else
      printf("deck's %s %d x %d, int32, worker: %.1f thousand million cells/s (goal 80)\n",
             one.name, BENCH_SIDE, BENCH_SIDE, rate / 1e9);
    recur_case_clear(&c);
  }
}

/* --------------------------------------------------------------------------------------- main */

static bool find_card(void) {
  cudaDeviceProp prop;
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || n < 1 || cudaSetDevice(0) != cudaSuccess ||
      cudaGetDeviceProperties(&prop, 0) != cudaSuccess)
    return false;
  the_card.kind = TSL_GPU;
  the_card.capability = 10 * prop.major + prop.minor;
  return true;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "run", *why = NULL;
  const bool text = strcmp(mode, "text") == 0;
  if (!lang_has_nvrtc(&why) || (!text && !find_card())) {
    printf("skipped: %s\n", why != NULL ? why : "no card");
    return 77;
  }
  if (text) check_long_rows(), check_texts();
  if (strcmp(mode, "run") == 0) run_every();
  if (strcmp(mode, "large") == 0) run_large();
  if (strcmp(mode, "restart") == 0) run_restarts();
  if (strcmp(mode, "bench") == 0) bench();
  printf("%s: %ld checks, %ld failures\n", n_failures == 0 ? "PASS" : "FAIL", n_checks, n_failures);
  return n_failures == 0 ? 0 : 1;
}
