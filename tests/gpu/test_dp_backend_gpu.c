/* gpu.dp.backend: the backend of dp on a card against plain loops and against the socket's.
 *   test_dp_backend_gpu [ONLY] [--small] [--restart] [--sockets] [--queued] [--seed N] [--rounds N]
 * Every problem and mode, random cuts into tiles and groups, one card, two workers of a card, card
 * and socket mixed: goals, tables, best cells, solutions and the bytes of all edges are the same.
 * ONLY: problems whose name contains it. --small: for sanitizers. --restart: instead, small ones
 * that are saved before a stage or in the walk and go on elsewhere: card to card, card to socket,
 * socket to card; recurrences too. --sockets: sockets stand for the cards, which tests the test;
 * --queued: with memory like a card's (dp_queued.h). Exit status 77: no card.
 * A case (../cpu/cases.h) is a deck with a mode and a way to recover, with dice of its own. */
#include "../cpu/cases.h"
#include "dp_backend_drive.h"
#include "dp_backend_recurrences.h"
#include "dp_queued.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long n_checks, n_failures;
static long n_paused; /* runs that went on from what others had saved */
static bool small_sizes, sockets_only, queued, restarts;
static tsl_device card, socket_one;
static const tsl_backend *card_backend, *socket_backend;
static uint64_t dice, of_all = 1; /* of a case; of the program */
static int64_t n_cases;

/** Is the next deck this run's? */
static bool next_is_mine(void) {
  dice = of_all + 7919 * (uint64_t)++n_cases;
  return case_is_mine(n_cases - 1);
}

static bool check(bool good, const char *name, const char *what, const char *more) {
  n_checks++;
  if (good) return true;
  if (++n_failures <= 40) printf("FAIL %s: %s %s\n", name, what, more);
  return false;
}

/* ---- problems as decks */

typedef struct section {
  const char *name;
  int modes; /* 1 << dp_mode */
  void (*write)(char *text, size_t size);
} section;

enum { VALUE = 1 << DP_VALUE, TABLE = 1 << DP_TABLE, RECOVER = 1 << DP_RECOVER };

/** A size: small ones, odd ones, and some thousand. */
static int size_of(int most) {
  const int64_t pick = dp_dice(&dice, 8);
  if (small_sizes && most > 300) most = 300;
  if (restarts) return most / 2 + 1 + (int)dp_dice(&dice, most / 2 + 1); /* has stages */
  if (pick == 0) return 1 + (int)dp_dice(&dice, 3);
  return 1 + (int)dp_dice(&dice, pick < 4 ? (most < 200 ? most : 200) : most);
}

/** The same of an interval problem, whose tiles are large. */
static int posts_of(int most) {
  return restarts ? 280 + (int)dp_dice(&dice, 300) : size_of(most);
}

static int seed_of(void) {
  return (int)dp_dice(&dice, 1000000);
}

/** Letters among which are N and other ambiguous ones: each equals itself and no other. */
static const char *ambiguous(char letters[301]) {
  const int n = 1 + (int)dp_dice(&dice, 300);
  for (int k = 0; k < n; k++) letters[k] = "ACGTNNRY"[dp_dice(&dice, 8)];
  letters[n] = '\0';
  return letters;
}

static void two_texts(char *text, size_t size, const char *first, const char *alphabet, int most) {
  const bool tall = !small_sizes && dp_dice(&dice, 4) == 0; /* stages that recovery takes apart */
  const int n = tall ? 20000 : size_of(most), m = size_of(tall ? 90 : most);
  const int a = seed_of(), b = seed_of();
  char one[301], other[301];
  if (!tall && !restarts && dp_dice(&dice, 4) == 0)
    (void)snprintf(text, size, "%s%s  a: {text: \"%s\"}\n  b: {text: \"%s\"}\n", first, alphabet,
                   ambiguous(one), ambiguous(other));
  else if (!tall && dp_dice(&dice, 2) == 0)
    (void)snprintf(text, size, "%s%s  a: {random: %d, seed: %d}\n  b: {mutate: 0.3, seed: %d}\n",
                   first, alphabet, n, a, b);
  else
    (void)snprintf(text, size, "%s%s  a: {random: %d, seed: %d}\n  b: {random: %d, seed: %d}\n",
                   first, alphabet, n, a, m, b);
}

static void write_lcs(char *text, size_t size) {
  two_texts(text, size, "  problem: lcs\n",
            dp_dice(&dice, 3) == 0 ? "  alphabet: bytes\n" : "  alphabet: dna\n", 3000);
}

static void write_edit(char *text, size_t size) {
  two_texts(text, size, "  problem: edit\n",
            dp_dice(&dice, 3) == 0 ? "  alphabet: bytes\n" : "  alphabet: dna\n", 3000);
}

static void write_weighted(char *text, size_t size) {
  static const char *const costs[] = {"{insert: 2, delete: 3, substitute: 4}",
                                      "{insert: 1, delete: 0, substitute: 7}",
                                      "{insert: 100, delete: 1, substitute: 55}"};
  char first[128];
  (void)snprintf(first, sizeof first, "  problem: edit\n  edit: %s\n", costs[dp_dice(&dice, 3)]);
  two_texts(text, size, first, "  alphabet: dna\n", 1500);
}

static void write_align(char *text, size_t size, const char *problem) {
  static const char *const scores[] = {"{match: 2, mismatch: -3, open: 5, extend: 2}",
                                       "{match: 1, mismatch: -1, open: 0, extend: 1}",
                                       "{match: 9, mismatch: 0, open: 3, extend: 0}",
                                       "{match: 5, mismatch: -4, open: 0, extend: 0}"};
  char first[160];
  (void)snprintf(first, sizeof first, "  problem: %s\n  scores: %s\n", problem,
                 scores[dp_dice(&dice, 4)]);
  two_texts(text, size, first, dp_dice(&dice, 3) == 0 ? "  alphabet: protein\n" : "", 2500);
}

static void write_global(char *text, size_t size) {
  write_align(text, size, "global");
}

/** Some ends are free. */
static void write_free(char *text, size_t size) {
  static void (*const writers[])(char *, size_t) = {write_edit, write_weighted, write_global};
  static const char *const words[] = {"a_begin", "a_end", "b_begin", "b_end"};
  const int64_t ends = 1 + dp_dice(&dice, 15);
  writers[dp_dice(&dice, 3)](text, size);
  for (int k = 0, n = 0; k <= 4; k++) {
    const size_t used = strlen(text);
    if (k < 4 && !(ends >> k & 1)) continue;
    (void)snprintf(text + used, size - used, "%s%s",
                   n++ == 0 ? "  free_ends: ["
                   : k < 4  ? ", "
                            : "",
                   k < 4 ? words[k] : "]\n");
  }
}

/** b begins as a does and ends sooner: the best cell is far above the last row. */
static void write_early(char *text, size_t size) {
  const int n = 150 + (int)dp_dice(&dice, 150), m = n / 4 + (int)dp_dice(&dice, n / 2);
  const int seed = seed_of();
  (void)snprintf(text, size,
                 "  problem: local\n  scores: {match: 2, mismatch: -3, open: 5, extend: 2}\n"
                 "  a: {random: %d, seed: %d}\n  b: {random: %d, seed: %d}\n",
                 n, seed, m, seed);
}

static void write_local(char *text, size_t size) {
  if (restarts && dp_dice(&dice, 3) > 0)
    write_early(text, size);
  else
    write_align(text, size, "local");
}

static void write_dtw(char *text, size_t size) {
  (void)snprintf(text, size,
                 "  problem: dtw\n  type: %s\n  distance: %s\n"
                 "  a: {random: %d, lo: %s, hi: 9, seed: %d}\n"
                 "  b: {random: %d, lo: %s, hi: 9, seed: %d}\n",
                 dp_dice(&dice, 2) ? "f32" : "f64", dp_dice(&dice, 2) ? "square" : "absolute",
                 size_of(1500), dp_dice(&dice, 2) ? "0" : "0.5", seed_of(), size_of(1500),
                 dp_dice(&dice, 2) ? "0" : "0.5", seed_of());
}

static void write_sack(char *text, size_t size) {
  const int n = size_of(120);
  (void)snprintf(text, size,
                 "  problem: knapsack\n  capacity: %d\n"
                 "  weights: {random: %d, lo: %d, hi: %d, seed: %d}\n"
                 "  values: {random: %d, lo: 0, hi: %s, seed: %d}\n",
                 size_of(20000), n, (int)dp_dice(&dice, 2), dp_dice(&dice, 2) ? 30 : 4000,
                 seed_of(), n, dp_dice(&dice, 2) ? "9" : "1000000000", seed_of());
}

static void write_unbounded(char *text, size_t size) {
  const int n = size_of(40);
  (void)snprintf(text, size,
                 "  problem: knapsack_unbounded\n  capacity: %d\n"
                 "  weights: {random: %d, lo: 1, hi: %d, seed: %d}\n"
                 "  values: {random: %d, lo: 0, hi: %s, seed: %d}\n",
                 size_of(9000), n, dp_dice(&dice, 2) ? 20 : 3000, seed_of(), n,
                 dp_dice(&dice, 2) ? "50" : "1000000000", seed_of());
}

static void write_binomial(char *text, size_t size) {
  (void)snprintf(text, size, "  problem: binomial\n  n: %d\n  k: %d\n  modulus: %s\n",
                 size_of(1500), size_of(1500), dp_dice(&dice, 2) ? "1000007" : "1");
}

static void write_exact(char *text, size_t size) {
  const int n = 1 + (int)dp_dice(&dice, 75);
  (void)snprintf(text, size, "  problem: binomial\n  n: %d\n  k: %d\n", n,
                 (int)dp_dice(&dice, n + 1));
}

static void write_allotment(char *text, size_t size) {
  static const char *const types[] = {"i32", "i64", "f32", "f64"};
  const int n = 1 + (int)dp_dice(&dice, 12), m = size_of(700);
  const int64_t type = dp_dice(&dice, 4);
  (void)snprintf(text, size,
                 "  problem: allotment\n  type: %s\n  capacity: %d\n"
                 "  returns: {random: %d, lo: %s, hi: 9, seed: %d}\n",
                 types[type], m, n * (m + 1), type < 2 || dp_dice(&dice, 2) ? "0" : "0.5",
                 seed_of());
}

static void write_stages(char *text, size_t size) {
  static const char *const types[] = {"i32", "i64", "f32", "f64"};
  const int n = 1 + (int)dp_dice(&dice, 8), m = size_of(150);
  const int64_t type = dp_dice(&dice, 4);
  (void)snprintf(text, size,
                 "  problem: stagecoach\n  type: %s\n"
                 "  start: {random: %d, lo: 0, hi: 3, seed: %d}\n"
                 "  costs: {random: %d, lo: %s, hi: 9, seed: %d}\n",
                 types[type], m, seed_of(), n * m * m, type < 2 || dp_dice(&dice, 2) ? "0" : "0.5",
                 seed_of());
}

static void write_chain(char *text, size_t size) {
  (void)snprintf(text, size,
                 "  problem: matrix_chain\n  dimensions: {random: %d, lo: 1, hi: %s, seed: %d}\n",
                 1 + posts_of(700), dp_dice(&dice, 3) ? "90" : "30000", seed_of());
}

static void write_tree(char *text, size_t size) {
  const int n = posts_of(650);
  const bool real = dp_dice(&dice, 2) != 0;
  (void)snprintf(text, size,
                 "  problem: search_tree\n  type: %s\n  keys: {random: %d, lo: %s, hi: 9, seed: "
                 "%d}\n  gaps: {random: %d, lo: %s, hi: 9, seed: %d}\n",
                 real ? "f64" : "i64", n, real ? "0.5" : "0", seed_of(), n + 1, real ? "0.5" : "0",
                 seed_of());
}

static void write_nussinov(char *text, size_t size) {
  (void)snprintf(
      text, size, "  problem: nussinov\n  a: {random: %d, seed: %d}\n  span: %d\n  wobble: %s\n",
      posts_of(800), seed_of(), (int)dp_dice(&dice, 4), dp_dice(&dice, 2) ? "yes" : "no");
}

static void write_rna(char *text, size_t size, const char *problem) {
  (void)snprintf(text, size,
                 "  problem: %s\n  a: {random: %d, seed: %d}\n  parameters: " TSL_INPUTS
                 "/dp/made_up.par\n  dangles: %d\n  temperature: %d\n",
                 problem, posts_of(600), seed_of(), 2 * (int)dp_dice(&dice, 2),
                 (int)dp_dice(&dice, 90));
}

static void write_fold(char *text, size_t size) {
  write_rna(text, size, "fold");
}

static void write_partition(char *text, size_t size) {
  write_rna(text, size, "partition");
}

static const section sections[] = {
    {"lcs", VALUE | TABLE | RECOVER, write_lcs},
    {"edit", VALUE | TABLE | RECOVER, write_edit},
    {"weighted", VALUE | TABLE | RECOVER, write_weighted},
    {"global", VALUE | TABLE | RECOVER, write_global},
    {"free ends", VALUE | TABLE | RECOVER, write_free},
    {"local", VALUE | TABLE | RECOVER, write_local},
    {"dtw", VALUE | TABLE | RECOVER, write_dtw},
    {"knapsack", VALUE | TABLE | RECOVER, write_sack},
    {"unbounded", VALUE | TABLE | RECOVER, write_unbounded},
    {"binomial", VALUE | TABLE, write_binomial},
    {"exact", VALUE | TABLE, write_exact},
    {"allotment", VALUE | TABLE | RECOVER, write_allotment},
    {"stagecoach", VALUE | TABLE | RECOVER, write_stages},
    {"chain", VALUE | TABLE | RECOVER, write_chain},
    {"tree", VALUE | TABLE | RECOVER, write_tree},
    {"nussinov", VALUE | TABLE | RECOVER, write_nussinov},
    {"fold", VALUE | TABLE | RECOVER, write_fold},
    {"partition", VALUE | TABLE, write_partition},
};

/* ---- one problem, solved by everybody */

/** The cells of the table, or the goal where no table was asked for, by plain loops. */
static void check_truth(const char *name, const dp_made *made, const dp_outcome *out) {
  const dp_params *p = dp_params_of(&made->problem);
  const tsl_field *goal = &made->problem.fields[DP_GOAL];
  const int f = dp_field(&made->problem, "table");
  int64_t rows = 0, columns = 0, wrong = 0;
  double *table = dp_truth_table(&made->problem, &rows, &columns);
  const double wanted = dp_truth_goal(&made->problem, table);
  double got;
  int64_t whole;
  char more[96];
  const double fine = p->problem == DP_PARTITION ? 1e-10 : 1e-12; /* sums of products of sums */
  memcpy(&got, out->goal, sizeof got);
  memcpy(&whole, out->goal, sizeof whole);
  if (goal->type == TSL_I64) got = (double)whole;
  (void)snprintf(more, sizeof more, "%.17g, by plain loops %.17g", got, wanted);
  check(fabs(got - wanted) <= fine * fabs(wanted), name, "goal", more);
  for (int64_t k = 0; k < rows * columns && f >= 0; k++) {
    const bool below = p->engine == DP_INTERVAL && k / columns >= k % columns;
    const tsl_type type = (tsl_type)made->problem.fields[f].type;
    const double cell = type == TSL_I32   ? ((const int32_t *)out->table)[k]
                        : type == TSL_I64 ? (double)((const int64_t *)out->table)[k]
                        : type == TSL_F32 ? ((const float *)out->table)[k]
                                          : ((const double *)out->table)[k];
    wrong += !below && !(fabs(cell - table[k]) <= fine * fabs(table[k]));
  }
  (void)snprintf(more, sizeof more, "%lld of %lld x %lld cells", (long long)wrong, (long long)rows,
                 (long long)columns);
  check(wrong == 0, name, "table", more);
  free(table);
}

static bool same(const void *a, int64_t n_a, const void *b, int64_t n_b) {
  return n_a == n_b && (n_a == 0 || memcmp(a, b, (size_t)n_a) == 0);
}

/** Local alignments leave out blocks by the score that a rank knows: their edges may differ. */
static bool keeps_edges(const dp_made *made) {
  return dp_params_of(&made->problem)->problem != DP_LOCAL;
}

/** edges: the tiles are the same; best: the best cells are given by lanes, not by bands. */
static void compare(const char *name, const dp_outcome *a, const dp_outcome *b, bool edges,
                    bool best) {
  int64_t wrong = 0;
  char more[64];
  if (a->err == TSL_ERR_MEMORY || b->err == TSL_ERR_MEMORY) { /* how much is kept differs */
    check(strstr(a->err != TSL_OK ? a->text : b->text, "dp.memory") != NULL, name, "message", "");
    return;
  }
  if (!check(a->err == b->err, name, "error", a->err != TSL_OK ? a->text : b->text)) return;
  if (a->err != TSL_OK) return;
  check(b->valid == a->valid, name, "verdict", b->text);
  check(memcmp(a->goal, b->goal, sizeof a->goal) == 0, name, "goal", "");
  check(same(a->table, a->table_bytes, b->table, b->table_bytes), name, "table", "differs");
  if (edges && best)
    check(same(a->best, a->best_bytes, b->best, b->best_bytes), name, "best", "differs");
  (void)snprintf(more, sizeof more, "%lld bytes, %lld bytes", (long long)a->path_bytes,
                 (long long)b->path_bytes);
  check(same(a->path, a->path_bytes, b->path, b->path_bytes), name, "path", more);
  for (int64_t u = 0; u < a->n_units && edges; u++)
    if (a->edges[u] != NULL && b->edges[u] != NULL)
      wrong += !same(a->edges[u], a->edge_bytes[u], b->edges[u], b->edge_bytes[u]);
  (void)snprintf(more, sizeof more, "%lld differ", (long long)wrong);
  check(wrong == 0, name, "edges", more);
}

/** Their edges beside the whole table. */
static void check_local_edges(const char *name, const dp_made *made, const dp_outcome *out) {
  int64_t rows = 0, columns = 0, wrong = 0;
  char more[64];
  if (out->err != TSL_OK || keeps_edges(made)) return;
  double *table = dp_truth_table(&made->problem, &rows, &columns);
  for (int64_t u = 0; u < out->n_units; u++)
    if (out->edges[u] != NULL)
      wrong += dp_truth_edge_above(&made->problem, table, &made->units.list[u], out->edges[u]);
  (void)snprintf(more, sizeof more, "%lld numbers above those of the table", (long long)wrong);
  check(wrong == 0, name, "edges", more);
  free(table);
}

/** Seats as letters: c card, s socket. Lanes go round the placements, or in shares, or by dice. */
static tsl_err solve(const char *text, const char *placements, int ranks, int64_t wish, int sharing,
                     dp_made *made, dp_outcome *out) {
  tsl_err err = TSL_OK;
  dp_drive drive = {.n_seats = (int)strlen(placements), .trial = dp_dice(&dice, 3) == 0};
  int *owner = NULL, *moved = NULL;
  int64_t lanes = 0;
  *out = (dp_outcome){0};
  TSL_TRY(dp_made_open(text, ranks, wish, made));
  lanes = dp_lanes(made);
  TSL_TRY(tsl_alloc(lanes, sizeof *owner, "owners", (void **)&owner));
  for (int64_t k = 0; k < lanes; k++)
    owner[k] = (int)(sharing == 0   ? k % drive.n_seats
                     : sharing == 1 ? k * drive.n_seats / lanes
                                    : dp_dice(&dice, drive.n_seats));
  TSL_TRY(tsl_alloc(lanes, sizeof *moved, "owners", (void **)&moved));
  for (int64_t k = 0; k < lanes; k++) moved[k] = (int)dp_dice(&dice, drive.n_seats);
  if (made->units.n > 0 && dp_dice(&dice, 2) == 0) {
    drive.moved = moved;
    drive.pause = 1 + dp_dice(&dice, made->units.list[made->units.n - 1].stage + 1);
  }
  for (int s = 0; s < drive.n_seats; s++)
    drive.placements[s] = placements[s] == 'c' ? (dp_seat){card_backend, &card}
                                               : (dp_seat){socket_backend, &socket_one};
  drive.overlap = dp_dice(&dice, 2) == 0;
  drive.owner = owner;
  drive.cuts = dp_dice(&dice, 2) ? (uint64_t)dp_dice(&dice, 1 << 20) : 0;
  TSL_TRY(dp_drive_run(made, &drive, out));
done:
  tsl_free(owner);
  tsl_free(moved);
  return err;
}

typedef struct way {
  const char *placements;
  int sharing;
  bool alone; /* as few tiles as for one rank */
} way;

static tsl_err try_way(const char *name, const char *text, const way *w, int64_t wish,
                       const dp_outcome *reference) {
  tsl_err err = TSL_OK;
  char label[160];
  dp_made made = {0};
  dp_outcome out = {0};
  (void)snprintf(label, sizeof label, "%s, %s%s", name, w->placements, w->alone ? " alone" : "");
  TSL_TRY(
      solve(text, w->placements, w->alone ? 1 : 3, w->alone ? 0 : wish, w->sharing, &made, &out));
  compare(label, reference, &out, !w->alone && keeps_edges(&made),
          dp_params_of(&made.problem)->problem == DP_STAGECOACH);
  check_local_edges(label, &made, &out);
done:
  dp_outcome_clear(&out);
  dp_made_close(&made);
  return err;
}

static tsl_err try_problem(const char *name, const char *text) {
  static const way ways[] = {{"c", 0, true},   {"c", 0, false},  {"cc", 0, false},
                             {"cc", 1, false}, {"cs", 2, false}, {"scc", 2, false},
                             {"csc", 1, false}};
  tsl_err err = TSL_OK;
  const int64_t wish = 1 + dp_dice(&dice, 9);
  const long failures = n_failures;
  dp_made made = {0};
  dp_outcome reference = {0};
  TSL_TRY(solve(text, "ss", 3, wish, 0, &made, &reference));
  if (reference.err == TSL_OK) check(reference.valid, name, "verdict of sockets", reference.text);
  if (reference.err == TSL_OK) check_truth(name, &made, &reference);
  for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
    TSL_TRY(try_way(name, text, &ways[k], wish, &reference));
done:
  if (n_failures > failures && n_failures <= 40)
    printf("the deck, %lld lanes:\n%s", (long long)wish, text);
  dp_outcome_clear(&reference);
  dp_made_close(&made);
  return err;
}

/* ---- saved, and gone on from elsewhere */

/** Lanes go from one placement to another; -1: by dice. */
typedef struct passage {
  const char *placements;
  int before, after;
  const char *label;
} passage;

static const passage passages[] = {{"c", 0, 0, "card to card"},
                                   {"s", 0, 0, "socket to socket"},
                                   {"cs", 0, 1, "card to socket"},
                                   {"cs", 1, 0, "socket to card"},
                                   {"csc", -1, -1, "all to all"}};

enum { N_PASSAGES = sizeof passages / sizeof *passages };

/** When: before a stage, or INT64_MAX: after turns of the walk; 0: never. */
typedef struct moment {
  int64_t pause, turns;
} moment;

static void seat_lanes(int *owner, int64_t lanes, int placement, int n_seats) {
  for (int64_t k = 0; k < lanes; k++)
    owner[k] = placement >= 0 ? placement : (int)dp_dice(&dice, n_seats);
}

static tsl_err pass(const char *text, const passage *by, int64_t wish, uint64_t cuts, moment when,
                    dp_made *made, dp_outcome *out) {
  tsl_err err = TSL_OK;
  dp_drive drive = {.n_seats = (int)strlen(by->placements), .cuts = cuts, .overlap = cuts % 2 == 0};
  int *owner = NULL, *moved = NULL;
  *out = (dp_outcome){0};
  TSL_TRY(dp_made_open(text, 3, wish, made));
  const int64_t lanes = dp_lanes(made);
  TSL_TRY(tsl_alloc(lanes, sizeof *owner, "owners", (void **)&owner));
  TSL_TRY(tsl_alloc(lanes, sizeof *moved, "owners", (void **)&moved));
  seat_lanes(owner, lanes, by->before, drive.n_seats);
  seat_lanes(moved, lanes, by->after, drive.n_seats);
  for (int s = 0; s < drive.n_seats; s++)
    drive.placements[s] = by->placements[s] == 'c' ? (dp_seat){card_backend, &card}
                                                   : (dp_seat){socket_backend, &socket_one};
  drive.owner = owner;
  drive.moved = when.pause > 0 ? moved : NULL;
  drive.pause = when.pause;
  drive.turns = when.turns;
  TSL_TRY(dp_drive_run(made, &drive, out));
done:
  tsl_free(owner);
  tsl_free(moved);
  return err;
}

/** A card saves the bytes that a socket does; but for F, and for rows that are kept in pieces. */
static bool saves_same(const dp_params *p) {
  return p->problem != DP_GLOBAL && p->problem != DP_LOCAL && p->mode != DP_RECOVER;
}

/** All passages at one moment. */
static tsl_err try_moment(const char *name, const char *text, int64_t wish, moment when,
                          const dp_outcome *reference) {
  tsl_err err = TSL_OK;
  const uint64_t cuts = dp_dice(&dice, 2) ? (uint64_t)dp_dice(&dice, 1 << 20) : 0;
  uint64_t saved[N_PASSAGES] = {0};
  dp_made made = {0};
  dp_outcome out = {0};
  for (int k = 0; k < N_PASSAGES; k++) {
    char label[160];
    (void)snprintf(label, sizeof label, "%s, %s, stage %lld, turn %lld", name, passages[k].label,
                   (long long)when.pause, (long long)when.turns);
    TSL_TRY(pass(text, &passages[k], wish, cuts, when, &made, &out));
    compare(label, reference, &out, keeps_edges(&made), false);
    check_local_edges(label, &made, &out);
    saved[k] = out.saved;
    n_paused += out.paused;
    if (k == 1 && out.paused && saves_same(dp_params_of(&made.problem)))
      check(saved[0] == saved[1], label, "bytes saved", "differ from the card's");
    dp_outcome_clear(&out);
    dp_made_close(&made);
    made = (dp_made){0};
  }
done:
  dp_outcome_clear(&out);
  dp_made_close(&made);
  return err;
}

/** Before some stage and, where there is a walk, after some of its turns. */
static tsl_err try_restart(const char *name, const char *text, bool plain) {
  tsl_err err = TSL_OK;
  const passage alone = {"s", 0, 0, "undisturbed"};
  const int64_t wish = 1 + dp_dice(&dice, 9);
  const long failures = n_failures;
  dp_made made = {0};
  dp_outcome reference = {0};
  TSL_TRY(pass(text, &alone, wish, 0, (moment){0, 0}, &made, &reference));
  if (reference.err == TSL_OK) check(reference.valid, name, "verdict of sockets", reference.text);
  if (reference.err == TSL_OK && plain) check_truth(name, &made, &reference);
  const int64_t n = made.units.n, last = n > 0 ? made.units.list[n - 1].stage : 0;
  const moment before = {last > 0 ? 1 + dp_dice(&dice, last) : 0, 0};
  const moment walking = {INT64_MAX, dp_dice(&dice, 3)};
  if (last > 0) TSL_TRY(try_moment(name, text, wish, before, &reference));
  if (reference.n_steps > 0) TSL_TRY(try_moment(name, text, wish, walking, &reference));
done:
  if (n_failures > failures && n_failures <= 40)
    printf("the deck, %lld lanes:\n%s", (long long)wish, text);
  dp_outcome_clear(&reference);
  dp_made_close(&made);
  return err;
}

static tsl_err restart_recurrences(void) {
  static const char *const modes[] = {"value", "table", "recover", "recover\n  memory: 96 KiB"};
  tsl_err err = TSL_OK;
  char text[1400], name[96];
  for (size_t k = 0; k < sizeof recurrences / sizeof *recurrences; k++) {
    if (!next_is_mine()) continue;
    const int64_t which = dp_dice(&dice, 4);
    const char *mode = modes[which];
    (void)snprintf(text, sizeof text, "  problem: recurrence\n  mode: %s\n%s", mode,
                   recurrences[k]);
    (void)snprintf(name, sizeof name, "recurrence %zu, %s", k, mode);
    err = try_restart(name, text, false);
    if (err == TSL_ERR_INPUT && which == 3) err = TSL_OK; /* too little memory, and said so */
    TSL_TRY(err);
  }
done:
  if (err != TSL_OK) printf("the deck:\n%s", text);
  return err;
}

/* ---- all problems and modes */

static tsl_err try_modes(const section *s) {
  static const char *const how[] = {"", "  recover: host\n", "  memory: 64 KiB\n",
                                    "  memory: 300 KiB\n  recover: host\n"};
  tsl_err err = TSL_OK;
  char body[1024], text[1400], name[96];
  dice = of_all + (uint64_t)n_cases;
  s->write(body, sizeof body);
  for (int mode = 0; mode < DP_N_MODES; mode++) {
    if (!(s->modes & 1 << mode)) continue;
    const size_t n = mode == DP_RECOVER ? sizeof how / sizeof *how : 1;
    const size_t first = restarts && n > 1 ? (size_t)dp_dice(&dice, 2) : 0; /* every other */
    for (size_t k = first; k < n; k += restarts ? 2 : 1) {
      if (!next_is_mine()) continue;
      (void)snprintf(text, sizeof text, "%s  mode: %s\n%s", body, dp_mode_words[mode], how[k]);
      (void)snprintf(name, sizeof name, "%s, %s %zu", s->name, dp_mode_words[mode], k);
      err = restarts ? try_restart(name, text, true) : try_problem(name, text);
      if (err == TSL_ERR_INPUT && k >= 2) err = TSL_OK; /* too little memory: said with the deck */
      TSL_TRY(err);
    }
  }
done:
  if (err != TSL_OK) printf("the deck:\n%s", text);
  return err;
}

/** A card that may use next to nothing: the message says how much is missing. */
static tsl_err limit_cases(void) {
  static const char deck[] = "  problem: knapsack\n  capacity: 100000\n"
                             "  weights: {random: 9, lo: 1, hi: 90}\n"
                             "  values: {random: 9, lo: 1, hi: 90}\n";
  tsl_err err = TSL_OK;
  dp_made made = {0};
  tsl_worker *worker = NULL;
  tsl_device few = card;
  few.memory_limit = 1 << 16;
  TSL_TRY(dp_made_open(deck, 1, 0, &made));
  const tsl_err failed = card_backend->open(&made.problem, &few, &worker);
  check(failed == TSL_ERR_DEVICE_MEMORY && worker == NULL, "limit", "error", tsl_err_message());
  check(strstr(tsl_err_message(), "needs") != NULL, "limit", "message", tsl_err_message());
done:
  if (worker != NULL) card_backend->close(&worker);
  dp_made_close(&made);
  return err;
}

static void report(const char *name, long checks, long failures) {
  printf("%-12s %6ld checks, %ld failures\n", name, n_checks - checks, n_failures - failures);
  (void)fflush(stdout);
}

static tsl_err run_all(const char *only, int rounds) {
  tsl_err err = TSL_OK;
  for (size_t k = 0; k < sizeof sections / sizeof *sections; k++) {
    const long checks = n_checks, failures = n_failures;
    if (only != NULL && strstr(sections[k].name, only) == NULL) continue;
    for (int r = 0; r < rounds; r++) TSL_TRY(try_modes(&sections[k]));
    report(sections[k].name, checks, failures);
  }
  if (restarts && (only == NULL || strstr("recurrence", only) != NULL)) {
    const long checks = n_checks, failures = n_failures;
    for (int r = 0; r < rounds; r++) TSL_TRY(restart_recurrences());
    report("recurrence", checks, failures);
  }
  if (restarts) check(n_paused > 0, "restart", "runs", "were never stopped");
  if (!sockets_only && only == NULL) TSL_TRY(limit_cases());
  check(n_checks > 0, only != NULL ? only : "all", "", "is the name of no problem");
done:
  return err;
}

static tsl_err open_devices(bool *skip) {
  tsl_err err = TSL_OK;
  const char *why = NULL;
  TSL_TRY(tsl_platform_cpu.describe(0, &socket_one));
  socket_one.threads = 2;
  socket_backend = tsl_backend_find(&tsl_platform_cpu, "dp");
  card = socket_one;
  card_backend = queued ? dp_queued_backend(socket_backend) : socket_backend;
  if (sockets_only) goto done;
  *skip = tsl_platform_gpu.count(&why) == 0;
  if (*skip) printf("SKIP: %s\n", why);
  if (*skip) goto done;
  card_backend = tsl_backend_find(&tsl_platform_gpu, "dp");
  TSL_TRY(tsl_platform_gpu.describe(0, &card));
  TSL_TRY(tsl_platform_gpu.select(&card));
done:
  return err;
}

int main(int argc, char **argv) {
  tsl_err err = TSL_OK;
  const char *only = NULL;
  bool skip = false;
  int rounds = 6;
  for (int a = 1; a < argc; a++)
    if (strcmp(argv[a], "--small") == 0)
      small_sizes = true, rounds = 2;
    else if (strcmp(argv[a], "--restart") == 0)
      small_sizes = restarts = true, rounds = 1;
    else if (strcmp(argv[a], "--rounds") == 0 && a + 1 < argc)
      rounds = atoi(argv[++a]);
    else if (strcmp(argv[a], "--sockets") == 0)
      sockets_only = true;
    else if (strcmp(argv[a], "--queued") == 0)
      sockets_only = queued = true;
    else if (strcmp(argv[a], "--seed") == 0 && a + 1 < argc)
      of_all = (uint64_t)atoll(argv[++a]);
    else
      only = argv[a];
  TSL_TRY(open_devices(&skip));
  if (skip) return 77;
  TSL_TRY(run_all(only, rounds));
done:
  if (err != TSL_OK) printf("FAIL: %s\n%s", tsl_err_message(), tsl_err_places());
  printf("%s: %ld checks, %ld failures\n", err == TSL_OK && n_failures == 0 ? "PASS" : "FAIL",
         n_checks, n_failures);
  return err == TSL_OK && n_failures == 0 ? 0 : 1;
}
