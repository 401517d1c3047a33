/* tesela: the one place that starts and ends the program. */
#include "bench_paper.h"
#include "bench_share.h"
#include "clock.h"
#include "contract.h"
#include "environment.h"
#include "heartbeat.h"
#include "help.h"
#include "launcher.h"
#include "phase.h"
#include "probe_run.h"
#include "rates.h"
#include "run.h"
#include "sandbox.h"
#include "serve.h"
#include "show.h"
#include "version.h"

#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- subcommands that need no MPI */

static const tsl_platform *const platforms[] = {&tsl_platform_gpu, &tsl_platform_cpu};
enum { N_PLATFORMS = 2 };

/* Benchmarks that are started with mpirun or srun. */
static const struct {
  const char *name, *doc;
  tsl_err (*run)(MPI_Comm comm, int argc, char **argv);
} rank_benches[] = {
    {"dp-paper",
     "four dynamic programs by a plain loop, by an equation, by our engine (all devices)",
     tsl_bench_paper},
    {"share", "best fixed share between cards and sockets, or card against card (needs ranks)",
     tsl_bench_share},
};
enum { N_RANK_BENCHES = sizeof rank_benches / sizeof rank_benches[0] };

static void list_benches(void) {
  for (int p = 0; p < N_PLATFORMS; p++)
    for (const tsl_bench *b = platforms[p]->benches; b != NULL && b->name != NULL; b++)
      printf("  %-12s %s\n", b->name, b->doc);
  for (int k = 0; k < N_RANK_BENCHES; k++)
    printf("  %-12s %s\n", rank_benches[k].name, rank_benches[k].doc);
}

static tsl_err bench(int argc, char **argv) {
  const char *names[64];
  int n = 0;
  if (argc < 2) return list_benches(), TSL_OK;
  if (strcmp(argv[1], "--help") == 0) return tsl_help(MPI_COMM_NULL, "bench");
  for (int p = 0; p < N_PLATFORMS; p++)
    for (const tsl_bench *b = platforms[p]->benches; b != NULL && b->name != NULL; b++) {
      if (strcmp(argv[1], b->name) == 0) return b->run(argc - 1, argv + 1);
      if (n < 48) names[n++] = b->name;
    }
  for (int k = 0; k < N_RANK_BENCHES && n < 63; k++) names[n++] = rank_benches[k].name;
  names[n] = NULL;
  const char *near = tsl_nearest_word(argv[1], names);
  return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__,
                  "no benchmark '%s' in this build%s%s%s; `tesela bench` lists them", argv[1],
                  near ? "; did you mean '" : "", near ? near : "", near ? "'" : "");
}

static tsl_err help(int argc, char **argv) {
  if (argc > 2)
    return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__, "`tesela %s` takes one topic, not '%s' too",
                    argv[0], argv[2]);
  return tsl_help(MPI_COMM_NULL, argc > 1 ? argv[1] : "");
}

static tsl_err version(int argc, char **argv) {
  (void)argc, (void)argv;
  printf("tesela %s (%s)\n", TSL_VERSION, TSL_GIT_HASH);
  return TSL_OK;
}

static const struct {
  const char *name;
  tsl_err (*alone)(int argc, char **argv);
  tsl_err (*ranks)(MPI_Comm comm, int argc, char **argv);
} commands[] = {
    {"run", NULL, tsl_run},
    {"serve", NULL, tsl_serve},
    {"plan", NULL, tsl_plan_only},
    {"devices", NULL, tsl_devices},
    {"calibrate", NULL, tsl_calibrate_only},
    {"rates", NULL, tsl_rates},
    {"probe", NULL, tsl_probe},
    {"bench", bench, NULL},
    {"show", tsl_show, NULL},
    {"help", help, NULL},
    {"--help", help, NULL},
    {"-h", help, NULL},
    {"--version", version, NULL},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static int find_command(const char *word) {
  for (int k = 0; k < N_COMMANDS; k++)
    if (strcmp(word, commands[k].name) == 0) return k;
  return -1;
}

static tsl_err unknown_command(const char *word) {
  const char *names[N_COMMANDS + 1];
  for (int k = 0; k < N_COMMANDS; k++) names[k] = commands[k].name;
  names[N_COMMANDS] = NULL;
  const char *near = tsl_nearest_word(word, names);
  if (near == NULL && access(word, F_OK) == 0)
    return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__,
                    "'%s' is a file, not a subcommand; did you mean `tesela run %s`?", word, word);
  return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__,
                  "unknown subcommand '%s'%s%s%s; see `tesela --help`", word,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'" : "");
}

/* ---- signals and the end */

static void on_signal(int number) {
  tsl_stop_signal = number;
}

static void set_signals(void) {
  struct sigaction stop = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  (void)sigaction(SIGINT, &stop, NULL);
  (void)sigaction(SIGTERM, &stop, NULL);
  (void)sigaction(SIGUSR1, &stop, NULL);
  (void)signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error, not a death */
}

static void print_error(tsl_err err) {
  fflush(stdout);
  fprintf(stderr, "tesela: %s%s\n", err == TSL_ERR_PAUSED ? "" : "error: ", tsl_err_message());
  if (getenv("TSL_DEBUG") != NULL) fputs(tsl_err_places(), stderr);
}

/* What was printed must have arrived; a run's results are in its file by then. */
static tsl_err check_stdout(tsl_err err) {
  const bool failed = fflush(stdout) != 0 || ferror(stdout);
  if (!failed || err != TSL_OK) return err;
  return tsl_fail(TSL_ERR_IO, __FILE__, __LINE__, "cannot write to standard output: %s",
                  errno != 0 ? strerror(errno) : "some of it is lost");
}

/* A launcher of another library starts processes of which each takes itself for the only one. */
static tsl_err check_launcher(long started) {
  tsl_err err = TSL_OK;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int size = 1, length = 0;
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  (void)MPI_Get_library_version(version, &length);
  if (started > 1 && size == 1)
    TSL_FAIL(TSL_ERR_USAGE,
             "%ld processes were started, but for MPI each is alone: mpirun is that of another MPI "
             "library; use the one of %.*s, or srun --mpi=pmix",
             started, (int)strcspn(version, ",\n"), version);
done:
  return err;
}

/* Errors are agreed, so all ranks hold the same one and rank 0 prints it. MPI's own failures are
 * not: the rank that saw one prints it and ends the job. So does a rank that has lost another. */
static int run_ranks(tsl_err (*run)(MPI_Comm comm, int argc, char **argv), int argc, char **argv) {
  int provided = MPI_THREAD_SINGLE, rank = 0;
  /* Before MPI sets variables of its own. */
  const long place = tsl_launcher_rank(), started = tsl_launcher_size();
  /* While there is one thread; files of numbers are read on the root. */
  tsl_err err = place == 0 ? tsl_sandbox_begin() : TSL_OK;
  if (err != TSL_OK) return print_error(err), tsl_err_status(err);
  tsl_environment_before_mpi();
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 3;
  tsl_environment_after_mpi();
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  set_signals();
  if (provided < MPI_THREAD_FUNNELED)
    err = tsl_fail(TSL_ERR_MPI, __FILE__, __LINE__, "this MPI gives no MPI_THREAD_FUNNELED");
  else if ((err = check_launcher(started)) != TSL_OK)
    rank = (int)place;
  else
    err = check_stdout(run(MPI_COMM_WORLD, argc - 1, argv + 1));
  if (err != TSL_OK && err != TSL_ERR_LOST && (rank == 0 || err == TSL_ERR_MPI)) print_error(err);
  if (err == TSL_ERR_MPI || tsl_heart_alarm()) (void)MPI_Abort(MPI_COMM_WORLD, tsl_err_status(err));
  (void)MPI_Finalize();
  return tsl_err_status(err);
}

int main(int argc, char **argv) {
  tsl_err err;
  int k;
  (void)tsl_program_start();
  if (getuid() != geteuid()) return fputs("tesela: error: refuses to run setuid\n", stderr), 2;
  tsl_environment_settle();
  k = argc > 1 ? find_command(argv[1]) : -1;
  if (k >= 0 && commands[k].ranks != NULL) return run_ranks(commands[k].ranks, argc, argv);
  for (int b = 0; argc > 2 && strcmp(argv[1], "bench") == 0 && b < N_RANK_BENCHES; b++)
    if (strcmp(argv[2], rank_benches[b].name) == 0)
      return run_ranks(rank_benches[b].run, argc - 1, argv + 1);
  err = argc < 2 ? tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__, "no subcommand; see `tesela --help`")
        : k < 0  ? unknown_command(argv[1])
                 : commands[k].alone(argc - 1, argv + 1);
  err = check_stdout(err);
  if (err != TSL_OK) print_error(err);
  return tsl_err_status(err);
}
