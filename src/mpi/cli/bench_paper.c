/* Options, the runs of a deck, the comparison and the table of `tesela bench dp-paper`. */
#include "bench_paper.h"

#include "bench_cases.h"
#include "checkpoint_manager.h"
#include "collective_error.h"
#include "field_rows.h"
#include "new_file.h"
#include "phases.h"
#include "stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help_text[] =
    "usage: [mpirun -n RANKS] tesela bench dp-paper [options]\n"
    "\n"
    "Binomial coefficients, 0/1 knapsacks, longest common subsequences and matrix chains, by\n"
    "  plain     a whole table filled by nested loops on one thread\n"
    "  equation  a recurrence in a deck, compiled\n"
    "  engine    the engine of the ready problem\n"
    "for the value alone (value), with a solution recovered where the table is (recover), and, "
    "where\n"
    "a rank has a card, by the host (host); an equation's solution is always recovered by the "
    "host.\n"
    "Seconds are the mean of N runs after one that does not count, from the first unit to the\n"
    "solution; plain: from the first cell. All must find the same optimum.\n"
    "\n"
    "  --n SIZE,SIZE,...    instead of each problem's own\n"
    "  --problem NAME       of binomial, knapsack, lcs, matrix_chain this one alone\n"
    "  --repeat N           1 to 100 (standard 15)\n"
    "  --csv FILE           write the table\n"
    "  -s, --set KEY=VALUE  a key of all decks, such as run.device=cpu; repeatable\n";

enum { MOST_ARGS = 256, MOST_SIZES = 32, MOST_SIZE = 32768, DECK = 4096 };

typedef enum how { PLAIN, EQUATION, ENGINE, N_HOW } how;
static const char *const how_words[] = {"plain", "equation", "engine"};
static const char *const mode_words[] = {"value", "recover", "host"};

typedef struct bench {
  MPI_Comm comm;
  int rank;
  tsl_options options;
  int64_t repeats, sizes[MOST_SIZES];
  int n_sizes; /* 0: each problem's own */
  const char *problem, *csv;
  bool cards; /* a rank has one; known after the first session */
  bool told;  /* the head is printed */
  FILE *file; /* rank 0 */
  char output[512];
} bench;

/* Mean and scatter of the runs of one row, and what they found. */
typedef struct row {
  double mean, deviation;
  int64_t goal;
} row;

/* ---- command line */

static tsl_err whole(const char *name, const char **text, int64_t most, int64_t *value) {
  tsl_err err = TSL_OK;
  char *end = NULL;
  const long long n = strtoll(*text, &end, 10);
  if (end == *text || n < 1 || n > most || (*end != '\0' && *end != ','))
    TSL_FAIL(TSL_ERR_USAGE, "%s '%s': whole numbers from 1 to %lld are needed", name, *text,
             (long long)most);
  *value = n;
  *text = end;
done:
  return err;
}

static tsl_err read_sizes(bench *b, const char *text) {
  tsl_err err = TSL_OK;
  for (b->n_sizes = 0;; text++) {
    if (b->n_sizes == MOST_SIZES) TSL_FAIL(TSL_ERR_USAGE, "--n: more than %d sizes", MOST_SIZES);
    TSL_TRY(whole("--n", &text, MOST_SIZE, &b->sizes[b->n_sizes]));
    if (b->sizes[b->n_sizes++] < 2) TSL_FAIL(TSL_ERR_USAGE, "--n: sizes are 2 at least");
    if (*text == '\0') break;
  }
done:
  return err;
}

static tsl_err check_problem(const bench *b) {
  const char *names[8] = {NULL};
  if (b->problem == NULL) return TSL_OK;
  for (int k = 0; tsl_paper_cases[k].name != NULL; k++) {
    if (strcmp(tsl_paper_cases[k].name, b->problem) == 0) return TSL_OK;
    names[k] = tsl_paper_cases[k].name;
  }
  const char *near = tsl_nearest_word(b->problem, names);
  return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__, "--problem '%s' unknown%s%s%s", b->problem,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* An option of this benchmark's own with its value. */
static tsl_err own_option(bench *b, const char *name, const char *value) {
  tsl_err err = TSL_OK;
  const char *text = value;
  if (strcmp(name, "--csv") == 0) b->csv = value;
  if (strcmp(name, "--problem") == 0) b->problem = value;
  if (strcmp(name, "--n") == 0) TSL_TRY(read_sizes(b, value));
  if (strcmp(name, "--repeat") != 0) goto done;
  TSL_TRY(whole(name, &text, 100, &b->repeats));
  if (*text != '\0') TSL_FAIL(TSL_ERR_USAGE, "--repeat '%s': one number is needed", value);
done:
  return err;
}

static tsl_err parse(int argc, char **argv, bench *b) {
  static char name[] = "bench dp-paper";
  static const char *const own[] = {"--csv", "--problem", "--n", "--repeat"};
  tsl_err err = TSL_OK;
  char *rest[MOST_ARGS] = {name};
  int n = 1;
  b->repeats = 15;
  for (int k = 1; k < argc; k++) {
    bool mine = false;
    for (int o = 0; o < 4; o++) mine = mine || strcmp(argv[k], own[o]) == 0;
    if (mine && k + 1 == argc)
      TSL_FAIL(TSL_ERR_USAGE, "%s needs a value; see `tesela bench dp-paper --help`", argv[k]);
    if (mine) TSL_TRY(own_option(b, argv[k], argv[k + 1]));
    if (!mine && n == MOST_ARGS) TSL_FAIL(TSL_ERR_USAGE, "more than %d arguments", MOST_ARGS);
    if (mine)
      k++;
    else
      rest[n++] = argv[k];
  }
  TSL_TRY(check_problem(b));
  TSL_TRY(tsl_options_parse(n, rest, "s", false, &b->options));
  b->options.quiet = true;
done:
  return err;
}

/* ---- the runs of a deck */

static tsl_err open_output(const bench *b, const tsl_session *s, tsl_out **out) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, tsl_out_create(s->comm, b->output, false, 0, out));
  for (int f = 0; f < s->problem.n_fields; f++) {
    const tsl_field *field = &s->problem.fields[f];
    const bool streamed = (field->role & TSL_OUT) && (field->stream || field->combine == TSL_LIST);
    if (streamed && !field->hidden) TSL_COLLECTIVE_TRY(s->comm, tsl_out_field(*out, field));
  }
  TSL_COLLECTIVE_TRY(s->comm, tsl_out_open_stream(*out));
done:
  return err;
}

static tsl_err judge(const tsl_session *s, int64_t *goal) {
  tsl_err err = TSL_OK;
  tsl_summary summary = {.valid = true};
  TSL_TRY(s->family->summary(&s->problem, &summary));
  if (!summary.valid) TSL_FAIL(TSL_ERR_NUMERIC, "the result is INVALID: %s", summary.reason);
  for (int f = 0; f < s->problem.n_fields; f++)
    if (strcmp(s->problem.fields[f].name, "goal") == 0)
      *goal = *(const int64_t *)s->problem.fields[f].data;
done:
  return err;
}

/* A problem from its input to its solution; seconds from the first unit on. */
static tsl_err run_once(const bench *b, tsl_session *s, double *seconds, int64_t *goal) {
  tsl_err err = TSL_OK;
  tsl_record record = {0};
  tsl_out *out = NULL;
  TSL_TRY(tsl_session_problem(s));
  TSL_TRY(tsl_session_worker(s));
  TSL_TRY(tsl_session_plan(s));
  TSL_TRY(open_output(b, s, &out));
  TSL_MPI(MPI_Barrier(s->comm));
  const double start = tsl_now();
  TSL_TRY(tsl_phases_run(s, out, &record));
  TSL_TRY(tsl_field_rows_finish(s->comm, &s->executor, &s->problem, out));
  *seconds = tsl_now() - start;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? judge(s, goal) : TSL_OK);
done:
  tsl_out_discard(&out);
  tsl_record_clear(&record);
  return err;
}

/* Rank 0, once: the devices, and the head of the table. */
static void print_head(const bench *b, const tsl_session *s) {
  tsl_machine_print(s->placements, s->size, stdout);
  printf("mean and standard deviation of %lld runs; times: as fast as the plain program\n"
         "  %-12s %7s  %-8s  %-8s %12s %12s %9s  %s\n",
         (long long)b->repeats, "problem", "n", "by", "mode", "mean s", "deviation", "times",
         "optimum");
}

static tsl_err open_session(bench *b, tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_session_open(b->comm, &b->options, s));
  TSL_TRY(tsl_session_deck(s));
  s->run.checkpoint = 0;
  TSL_TRY(tsl_checkpoints_foresee(s));
  TSL_TRY(tsl_session_machine(s));
  TSL_TRY(tsl_session_memory(s));
  for (int r = 0; r < s->size; r++) b->cards = b->cards || s->placements[r].device.kind == TSL_GPU;
  if (b->rank == 0 && !b->told) print_head(b, s);
  b->told = true;
done:
  return err;
}

static row row_of(const double *seconds, int64_t n, int64_t goal) {
  row r = {.goal = goal};
  for (int64_t k = 0; k < n; k++) r.mean += seconds[k] / (double)n;
  for (int64_t k = 0; k < n; k++) r.deviation += (seconds[k] - r.mean) * (seconds[k] - r.mean);
  r.deviation = n > 1 ? sqrt(r.deviation / (double)(n - 1)) : 0;
  return r;
}

static tsl_err measure_deck(bench *b, const tsl_paper_case *c, how h, int64_t n,
                            tsl_paper_mode mode, row *result) {
  tsl_err err = TSL_OK;
  tsl_session s = {.comm = MPI_COMM_NULL};
  char deck[DECK];
  double seconds[101] = {0};
  int64_t goal = 0;
  c->deck(h == EQUATION, n, mode, deck, sizeof deck);
  b->options.text = deck;
  b->options.deck = c->name;
  TSL_TRY(open_session(b, &s));
  for (int64_t k = 0; k <= b->repeats; k++) {
    TSL_TRY(run_once(b, &s, &seconds[k], &goal));
    tsl_session_drop(&s);
  }
  *result = row_of(seconds + 1, b->repeats, goal);
done:
  tsl_session_close(&s);
  return err;
}

/* ---- the plain program, on rank 0 */

static tsl_err run_plain(const bench *b, const tsl_paper_case *c, const tsl_problem *problem,
                         bool recover, row *result) {
  tsl_err err = TSL_OK;
  tsl_plain_answer answer = {0};
  double seconds[101] = {0};
  for (int64_t k = 0; k <= b->repeats; k++) {
    TSL_TRY(c->plain(problem, recover, &answer));
    seconds[k] = answer.seconds;
    if (recover && answer.recovered != answer.goal)
      TSL_FAIL(TSL_ERR_NUMERIC, "%s: the plain program recovers %lld, its optimum is %lld", c->name,
               (long long)answer.recovered, (long long)answer.goal);
  }
  *result = row_of(seconds + 1, b->repeats, answer.goal);
done:
  return err;
}

static tsl_err measure_plain(bench *b, const tsl_paper_case *c, int64_t n, bool recover,
                             row *result) {
  tsl_err err = TSL_OK;
  tsl_session s = {.comm = MPI_COMM_NULL};
  char deck[DECK];
  c->deck(false, n, TSL_PAPER_VALUE, deck, sizeof deck);
  b->options.text = deck;
  b->options.deck = c->name;
  TSL_TRY(open_session(b, &s));
  TSL_TRY(tsl_session_problem(&s));
  TSL_COLLECTIVE_TRY(b->comm, b->rank == 0 ? run_plain(b, c, &s.problem, recover, result) : TSL_OK);
done:
  tsl_session_close(&s);
  return err;
}

/* ---- the table */

static tsl_err one_row(bench *b, const tsl_paper_case *c, how h, int64_t n, tsl_paper_mode mode,
                       const row *plain, row *result) {
  tsl_err err = TSL_OK;
  if (h == PLAIN)
    TSL_TRY(measure_plain(b, c, n, mode != TSL_PAPER_VALUE, result));
  else
    TSL_TRY(measure_deck(b, c, h, n, mode, result));
  if (b->rank != 0) goto done;
  const double times = plain != NULL ? plain->mean / result->mean : 1;
  printf("  %-12s %7lld  %-8s  %-8s %12.6f %12.6f %9.2f  %lld\n", c->name, (long long)n,
         how_words[h], mode_words[mode], result->mean, result->deviation, times,
         (long long)result->goal);
  (void)fflush(stdout);
  if (b->file != NULL)
    fprintf(b->file, "%s,%lld,%s,%s,%lld,%.9g,%.9g,%.6g,%lld\n", c->name, (long long)n,
            how_words[h], mode_words[mode], (long long)b->repeats, result->mean, result->deviation,
            times, (long long)result->goal);
done:
  return err;
}

/* Collective, as every rank knows the plain program's optimum only from rank 0. */
static tsl_err check_goal(const bench *b, const tsl_paper_case *c, how h, int64_t n,
                          const row *plain, const row *found) {
  tsl_err err = TSL_OK;
  if (b->rank == 0 && found->goal != plain->goal)
    err = tsl_fail(TSL_ERR_NUMERIC, __FILE__, __LINE__,
                   "%s of %lld: the %s finds %lld, the plain program %lld", c->name, (long long)n,
                   how_words[h], (long long)found->goal, (long long)plain->goal);
  TSL_COLLECTIVE_TRY(b->comm, err);
done:
  return err;
}

static tsl_err one_size(bench *b, const tsl_paper_case *c, int64_t n) {
  tsl_err err = TSL_OK;
  for (int mode = 0; mode < (c->recovers ? TSL_N_PAPER_MODES : 1); mode++) {
    row plain, found = {0};
    if (mode == TSL_PAPER_HOST && !b->cards) continue;
    TSL_TRY(one_row(b, c, PLAIN, n, (tsl_paper_mode)mode, NULL, &plain));
    for (int h = EQUATION; h < N_HOW; h++) {
      if (h == EQUATION && mode == TSL_PAPER_HOST) continue; /* the same as TSL_PAPER_RECOVER */
      TSL_TRY(one_row(b, c, (how)h, n, (tsl_paper_mode)mode, &plain, &found));
      TSL_TRY(check_goal(b, c, (how)h, n, &plain, &found));
    }
  }
done:
  return err;
}

static tsl_err all_rows(bench *b) {
  tsl_err err = TSL_OK;
  for (const tsl_paper_case *c = tsl_paper_cases; c->name != NULL; c++) {
    if (b->problem != NULL && strcmp(b->problem, c->name) != 0) continue;
    if (b->n_sizes == 0)
      for (int k = 0; c->sizes[k] > 0; k++) TSL_TRY(one_size(b, c, c->sizes[k]));
    for (int k = 0; k < b->n_sizes; k++) TSL_TRY(one_size(b, c, b->sizes[k]));
  }
done:
  return err;
}

/* Rank 0: the CSV file, and a name for the outputs, which nobody keeps. */
static tsl_err open_files(bench *b) {
  tsl_err err = TSL_OK;
  const char *folder = getenv("TMPDIR");
  const int n = snprintf(b->output, sizeof b->output, "%s/tesela-bench-%d.h5",
                         folder != NULL && folder[0] != '\0' ? folder : "/tmp", (int)getpid());
  if (n >= (int)sizeof b->output) TSL_FAIL(TSL_ERR_INPUT, "TMPDIR: the name is too long");
  if (b->csv == NULL) goto done;
  TSL_TRY(tsl_new_table_open("--csv", b->csv, &b->file));
  fprintf(b->file, "problem,n,by,mode,runs,mean_s,deviation_s,times_plain,optimum\n");
done:
  return err;
}

tsl_err tsl_bench_paper(MPI_Comm comm, int argc, char **argv) {
  tsl_err err = TSL_OK;
  bench b = {.comm = comm};
  TSL_TRY(parse(argc, argv, &b));
  TSL_MPI(MPI_Comm_rank(comm, &b.rank));
  if (b.options.help) {
    if (b.rank == 0) fputs(help_text, stdout);
    return TSL_OK;
  }
  TSL_COLLECTIVE_TRY(comm, b.rank == 0 ? open_files(&b) : TSL_OK);
  TSL_MPI(MPI_Bcast(b.output, (int)sizeof b.output, MPI_BYTE, 0, comm));
  TSL_TRY(all_rows(&b));
  TSL_COLLECTIVE_TRY(comm, tsl_new_table_close("--csv", b.csv, &b.file, TSL_OK));
done:
  return tsl_new_table_close("--csv", b.csv, &b.file, err);
}
