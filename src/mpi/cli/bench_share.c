/* Options, session, one timed row, the bisection over the share, and the table and CSV of `tesela
 * bench share`. */
#include "bench_share.h"

#include "collective_error.h"
#include "new_file.h"
#include "phase_run.h"
#include "stages.h"
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
    "usage: mpirun -n RANKS tesela bench share DECK [options]\n"
    "\n"
    "Cards take a fixed share of the domain, sockets the rest; where all ranks are on cards, or\n"
    "all on sockets, rank 0 a share and the others the rest: card against card. Finds the best\n"
    "share by bisection, prints it beside the deck's own plan and each side alone, and says how\n"
    "many times as fast one side alone is as the other. Nothing is written but the CSV file.\n"
    "\n"
    "  --tolerance T        stop when the sides' times or the share differ by less, 0.0001 to 0.5\n"
    "                       (standard 0.01)\n"
    "  --repeat N           best of N runs for each row, 1 to 100 (standard 3)\n"
    "  --csv FILE           write the table\n"
    "  -s, --set KEY=VALUE  override a key of the deck; repeatable\n"
    "  -q, --quiet          no table of ranks\n";

enum { MOST_ROWS = 32, MOST_ARGS = 256 };

/** What was asked for on the command line. */
typedef struct ask {
  double tolerance;
  int64_t repeats;
  const char *csv;
  bool help;
} ask;

/** A row of the table; times are the best run's. */
typedef struct row {
  char plan[24];
  double share; /* of the domain for the fast side, -1: not fixed */
  double items; /* share of the items that the fast side did */
  double fast, slow, wall, ideal, waiting;
} row;

typedef struct bench {
  tsl_session session;
  tsl_options options;
  ask ask;
  bool *fast;     /* [size] */
  bool mixed;     /* cards and sockets */
  int32_t plan;   /* of the deck */
  double dynamic; /* of the deck */
  row rows[MOST_ROWS];
  int n_rows;
} bench;

/* ---- command line */

static tsl_err bench_share_take_number(const char *name, const char *text, double low, double high,
                                       double *value) {
  tsl_err err = TSL_OK;
  char *end = NULL;
  *value = strtod(text, &end);
  if (end == text || *end != '\0' || !(*value >= low && *value <= high))
    TSL_FAIL(TSL_ERR_USAGE, "%s '%s': allowed are %g to %g", name, text, low, high);
done:
  return err;
}

/* Take this benchmark's own options out of argv; what is left is for tsl_options_parse. */
static tsl_err own_options(int argc, char **argv, ask *a, int *n_rest, char **rest) {
  tsl_err err = TSL_OK;
  double number = 0;
  *a = (ask){.tolerance = 0.01, .repeats = 3};
  *n_rest = 0;
  for (int k = 0; k < argc; k++) {
    const bool tolerance = strcmp(argv[k], "--tolerance") == 0;
    const bool repeat = strcmp(argv[k], "--repeat") == 0, csv = strcmp(argv[k], "--csv") == 0;
    if (!tolerance && !repeat && !csv) {
      if (*n_rest == MOST_ARGS) TSL_FAIL(TSL_ERR_USAGE, "more than %d arguments", MOST_ARGS);
      rest[(*n_rest)++] = argv[k];
      continue;
    }
    if (k + 1 == argc)
      TSL_FAIL(TSL_ERR_USAGE, "%s needs a value; see `tesela bench share --help`", argv[k]);
    if (csv) a->csv = argv[k + 1];
    if (tolerance) TSL_TRY(bench_share_take_number(argv[k], argv[k + 1], 1e-4, 0.5, &a->tolerance));
    if (repeat) TSL_TRY(bench_share_take_number(argv[k], argv[k + 1], 1, 100, &number));
    if (repeat) a->repeats = (int64_t)number;
    k++;
  }
done:
  return err;
}

static tsl_err bench_share_parse(int argc, char **argv, bench *b) {
  tsl_err err = TSL_OK;
  static char name[] = "bench share";
  char *rest[MOST_ARGS];
  int n = 0;
  TSL_TRY(own_options(argc, argv, &b->ask, &n, rest));
  rest[0] = name;
  TSL_TRY(tsl_options_parse(n, rest, "sq", true, &b->options));
done:
  return err;
}

/* ---- the session */

static tsl_err check_sides(const bench *b) {
  tsl_err err = TSL_OK;
  if (b->session.size == 1)
    TSL_FAIL(TSL_ERR_USAGE, "bench share needs ranks on both sides: mpirun -n 2 or more");
done:
  return err;
}

static tsl_err open_session(MPI_Comm comm, bench *b) {
  tsl_err err = TSL_OK;
  tsl_session *s = &b->session;
  TSL_TRY(tsl_session_open(comm, &b->options, s));
  TSL_TRY(tsl_session_deck(s));
  b->plan = s->run.plan == TSL_PLAN_SHARE ? TSL_PLAN_STRIPS : s->run.plan;
  b->dynamic = s->run.dynamic;
  s->run.plan = b->plan;
  TSL_TRY(tsl_session_machine(s));
  TSL_TRY(tsl_session_memory(s));
  if (s->rank == 0 && !b->options.quiet) {
    tsl_report_head(s, stdout);
    tsl_machine_print(s->placements, s->size, stdout);
  }
  b->options.quiet = true; /* no progress lines among the rows */
  TSL_COLLECTIVE_TRY(s->comm, tsl_alloc(s->size, sizeof *b->fast, "sides", (void **)&b->fast));
  tsl_session_sides(s, b->fast);
  for (int r = 1; r < s->size; r++)
    b->mixed = b->mixed || s->placements[r].device.kind != s->placements[0].device.kind;
  TSL_COLLECTIVE_TRY(s->comm, check_sides(b));
  TSL_TRY(tsl_session_problem(s));
  TSL_TRY(tsl_session_try_ways(s));
  TSL_TRY(tsl_session_worker(s));
  TSL_TRY(tsl_session_plan(s));
done:
  return err;
}

/* ---- one row */

/* Rank 0: what a run of the phase took. */
static row bench_share_judge(const bench *b, const tsl_record *record) {
  row r = {.wall = record->balance.wall,
           .ideal = record->balance.ideal,
           .waiting = record->balance.waiting};
  double fast = 0, all = 0;
  for (int k = 0; k < b->session.size; k++) {
    double *side = b->fast[k] ? &r.fast : &r.slow;
    *side = fmax(*side, record->lines[k].finish);
  }
  for (int64_t k = 0; k < record->n_rows; k++) {
    all += record->rows[k].unit.count;
    if (b->fast[record->rows[k].owner]) fast += record->rows[k].unit.count;
  }
  r.items = all > 0 ? fast / all : 0;
  return r;
}

static void bench_share_print_row(const row *r) {
  char share[16] = "-";
  if (r->share >= 0) (void)snprintf(share, sizeof share, "%.4f", r->share);
  printf("  %-22s %8s %8.1f %11.5g %11.5g %11.5g %7.1f\n", r->plan, share, 100 * r->items, r->fast,
         r->slow, r->wall, 100 * r->waiting);
  (void)fflush(stdout);
}

/* Deal by the session's settings and keep the best of the repeated runs; the same on all ranks. */
static tsl_err bench_share_measure(bench *b, const char *plan, double share, row *result) {
  tsl_err err = TSL_OK;
  tsl_session *s = &b->session;
  tsl_record record = {0};
  row best = {.wall = 0};
  TSL_TRY(tsl_session_assign(s));
  for (int64_t k = 0; k < b->ask.repeats; k++) {
    TSL_TRY(tsl_phase_run(s, NULL, 0, &record));
    const row r = s->rank == 0 ? bench_share_judge(b, &record) : best;
    if (k == 0 || r.wall < best.wall) best = r;
    tsl_record_clear(&record);
  }
  (void)snprintf(best.plan, sizeof best.plan, "%s", plan);
  best.share = share;
  TSL_MPI(MPI_Bcast(&best, (int)sizeof best, MPI_BYTE, 0, s->comm));
  if (s->rank == 0) bench_share_print_row(&best);
  if (b->n_rows < MOST_ROWS) b->rows[b->n_rows++] = best;
  if (result != NULL) *result = best;
done:
  tsl_record_clear(&record);
  return err;
}

static tsl_err measure_share(bench *b, const char *plan, double share, row *result) {
  b->session.run.plan = TSL_PLAN_SHARE;
  b->session.run.gpu_share = share;
  return bench_share_measure(b, plan, share, result);
}

static tsl_err measure_own(bench *b, row *result) {
  char plan[24];
  b->session.run.plan = b->plan;
  (void)snprintf(plan, sizeof plan, "%s, dynamic %g", tsl_plan_words[b->plan], b->dynamic);
  return bench_share_measure(b, plan, -1, result);
}

/* ---- the search */

/* The side that needs longer gives some of its share away. */
static tsl_err bisect(bench *b, row *best) {
  tsl_err err = TSL_OK;
  double low = 0, high = 1;
  for (int step = 0; high - low > b->ask.tolerance; step++) {
    row r;
    const double share = 0.5 * (low + high);
    TSL_TRY(measure_share(b, "fixed share", share, &r));
    if (step == 0 || r.wall < best->wall) *best = r;
    if (fabs(r.fast - r.slow) <= b->ask.tolerance * r.wall) break;
    if (r.fast > r.slow)
      high = share;
    else
      low = share;
  }
done:
  return err;
}

static tsl_err warm_up(bench *b) {
  tsl_err err = TSL_OK;
  tsl_record record = {0};
  TSL_TRY(tsl_phase_run(&b->session, NULL, 0, &record));
done:
  tsl_record_clear(&record);
  return err;
}

static tsl_err all_rows(bench *b) {
  tsl_err err = TSL_OK;
  row best = {.share = 0}, again, own, fast, slow;
  const char *const fast_name = b->mixed ? "cards" : "rank 0";
  const char *const slow_name = b->mixed ? "sockets" : "others";
  const bool talk = b->session.rank == 0;
  char label[24];
  TSL_TRY(warm_up(b));
  if (talk)
    printf("\n%lld units; best of %lld; %s: share of the domain given to %s, %% of the items it "
           "did\n  %-22s %8s %8s %11s %11s %11s %7s\n",
           (long long)b->session.units.n, (long long)b->ask.repeats, "share", fast_name, "plan",
           "share", "items %", b->mixed ? "cards s" : "rank 0 s",
           b->mixed ? "sockets s" : "others s", "wall s", "idle %");
  TSL_TRY(bisect(b, &best));
  TSL_TRY(measure_share(b, "best share again", best.share, &again));
  TSL_TRY(measure_own(b, &own));
  if (again.wall < best.wall) best = again;
  (void)snprintf(label, sizeof label, "%s alone", fast_name);
  TSL_TRY(measure_share(b, label, 1, &fast));
  (void)snprintf(label, sizeof label, "%s alone", slow_name);
  TSL_TRY(measure_share(b, label, 0, &slow));
  if (talk)
    printf("\nbest fixed share %.4f: %.5g s; %s: %.5g s, %.3f times faster than that, %.3f times "
           "faster than %s alone, %.1f %% above the ideal\n",
           best.share, best.wall, own.plan, own.wall, best.wall / own.wall, fast.wall / own.wall,
           fast_name, own.ideal > 0 ? 100 * (own.wall / own.ideal - 1) : 0);
  if (talk)
    printf("%s alone %.5g s, %s alone %.5g s: %s %.3f times as fast\n", fast_name, fast.wall,
           slow_name, slow.wall, fast_name, slow.wall / fast.wall);
done:
  return err;
}

/* ---- CSV */

static tsl_err open_csv(const bench *b, FILE **file) {
  tsl_err err = TSL_OK;
  *file = NULL;
  if (b->ask.csv == NULL || b->session.rank != 0) return TSL_OK;
  TSL_TRY(tsl_new_table_open("--csv", b->ask.csv, file));
done:
  return err;
}

static void write_csv(const bench *b, FILE *file) {
  if (file == NULL) return;
  fprintf(file, "plan,share,items,fast_s,others_s,wall_s,ideal_s,waiting\n");
  for (int k = 0; k < b->n_rows; k++) {
    const row *r = &b->rows[k];
    fprintf(file, "\"%s\",", r->plan);
    if (r->share >= 0) fprintf(file, "%.6f", r->share);
    fprintf(file, ",%.6f,%.9g,%.9g,%.9g,%.9g,%.6f\n", r->items, r->fast, r->slow, r->wall, r->ideal,
            r->waiting);
  }
}

tsl_err tsl_bench_share(MPI_Comm comm, int argc, char **argv) {
  tsl_err err = TSL_OK;
  int rank = 0;
  FILE *csv = NULL;
  bench b = {.session = {.comm = MPI_COMM_NULL}};
  TSL_TRY(bench_share_parse(argc, argv, &b));
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  if (b.options.help) {
    if (rank == 0) fputs(help_text, stdout);
    return TSL_OK;
  }
  TSL_TRY(open_session(comm, &b));
  TSL_COLLECTIVE_TRY(b.session.comm, open_csv(&b, &csv));
  TSL_TRY(all_rows(&b));
  write_csv(&b, csv);
  TSL_COLLECTIVE_TRY(b.session.comm, tsl_new_table_close("--csv", b.ask.csv, &csv, TSL_OK));
done:
  (void)tsl_new_table_close("--csv", b.ask.csv, &csv, err);
  tsl_free(b.fast);
  tsl_session_close(&b.session);
  return err;
}
