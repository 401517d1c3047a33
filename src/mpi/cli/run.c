/* `tesela run` from deck to HDF5 as one list of stages, and the shorter subcommands plan, calibrate
 * and devices. */
#include "run.h"

#include "checkpoint_manager.h"
#include "collective_error.h"
#include "field_rows.h"
#include "files.h"
#include "help.h"
#include "phases.h"
#include "question.h"
#include "report.h"
#include "series.h"
#include "shortcut.h"
#include "trial.h"
#include "whatif.h"
#include "worker_notes.h"

/* ---- output */

static tsl_err open_output(tsl_session *s, tsl_out **out) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? tsl_out_precheck(s->path, s->output.overwrite,
                                                              tsl_session_output_bytes(s))
                                           : TSL_OK);
  if (!s->checkpoints->safe) /* those that are there are of another run */
    TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? tsl_checkpoints_forget_old(s) : TSL_OK);
  if (s->checkpoints->on)
    TSL_COLLECTIVE_TRY(s->comm, tsl_out_create_lasting(s->comm, s->path, s->output.overwrite,
                                                       (int)s->output.compress,
                                                       tsl_checkpoints_resumes(s), out));
  else
    TSL_COLLECTIVE_TRY(s->comm, tsl_out_create(s->comm, s->path, s->output.overwrite,
                                               (int)s->output.compress, out));
  for (int f = 0; f < s->problem.n_fields; f++) {
    const tsl_field *field = &s->problem.fields[f];
    const bool streamed = (field->role & TSL_OUT) && (field->stream || field->combine == TSL_LIST);
    if (streamed && !field->hidden) TSL_COLLECTIVE_TRY(s->comm, tsl_out_field(*out, field));
  }
  TSL_TRY(tsl_checkpoints_output(s, *out));
  TSL_COLLECTIVE_TRY(s->comm, tsl_out_open_stream(*out));
done:
  return err;
}

/* ---- before and after */

/* Derived fields and pictures; rank 0 works, the others wait. */
static tsl_err run_finish(tsl_session *s, tsl_out *out) {
  tsl_err err = TSL_OK;
  if (s->family->finish == NULL) return TSL_OK;
  TSL_TRY(tsl_field_rows_finish(s->comm, &s->executor, &s->problem, out));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_FINISH));
done:
  return err;
}

/* Root: what is wrong with the names of the files to be written. */
static tsl_err check_files(const tsl_session *s) {
  tsl_err err = TSL_OK;
  const tsl_options *o = s->options;
  tsl_files_mode_set(s->output.overwrite  ? TSL_FILES_REPLACE
                     : o->restart != NULL ? TSL_FILES_RESTART
                                          : TSL_FILES_NEW);
  TSL_TRY(tsl_files_write(TSL_FILE_OUTPUT, "output", s->path));
  TSL_TRY(tsl_out_precheck(s->path, s->output.overwrite, 0));
  if (o->trace != NULL) TSL_TRY(tsl_files_write(TSL_FILE_BESIDE, "--trace", o->trace));
done:
  return err;
}

/* Root: files beside the output that could not be written. */
static tsl_err tell_lost(const tsl_session *s) {
  tsl_err err = TSL_OK;
  int n = 0;
  for (const char *lost; (lost = tsl_files_lost(n)) != NULL; n++)
    fprintf(stderr, "tesela: warning: lost: %s\n", lost);
  if (n > 0 && s->options->strict)
    TSL_FAIL(TSL_ERR_IO, "--strict: %d file%s beside the output %s lost; the results are in '%s'",
             n, n == 1 ? "" : "s", n == 1 ? "is" : "are", s->path);
done:
  return err;
}

/* Root: the next run is predicted by what this one measured. The result is written already,
 * whatever happens here. */
static void learn(const tsl_session *s, const tsl_record *record) {
  tsl_err err = TSL_OK;
  double between = 0, waiting = 0;
  tsl_kind_seconds(*shown)[TSL_MAX_KINDS] = NULL;
  if (record->summary.other_work) return;
  TSL_TRY(tsl_alloc(s->size, sizeof *shown, "measured times", (void **)&shown));
  TSL_TRY(tsl_record_kinds(s, record, shown));
  TSL_TRY(tsl_calibration_correct(&s->run, &s->cost, s->family->n_kinds, shown, s->options->quiet));
  TSL_TRY(tsl_record_besides(s, record, &between, &waiting));
  tsl_calibration_keep_phases(&s->run, &s->cost, TSL_BETWEEN, between);
  tsl_calibration_keep_phases(&s->run, &s->cost, TSL_WAITING, waiting);
done:
  if (err != TSL_OK)
    fprintf(stderr, "tesela: warning: calibration not corrected: %s\n", tsl_err_message());
  tsl_free(shown);
}

/* ---- the run, read from top to bottom */

/* Record and result into the output; then it has its name. */
static tsl_err end_run(tsl_session *s, tsl_out **out, tsl_record *record) {
  tsl_err err = TSL_OK;
  if (s->options->trace != NULL) TSL_TRY(tsl_trace_write(s->comm, &s->trace, s->options->trace));
  TSL_COLLECTIVE_TRY(s->comm, tsl_record_store(s, record, *out));
  TSL_COLLECTIVE_TRY(s->comm, tsl_out_commit(out));
  TSL_TRY(tsl_checkpoints_end(s, &record->summary));
  if (s->rank == 0) tsl_report_summary(&record->summary, stdout), printf("%s\n", s->path);
done:
  return err;
}

/* The result is there, whatever it is worth. */
static tsl_err judge(tsl_session *s, const tsl_record *record) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? tell_lost(s) : TSL_OK);
  if (!record->summary.valid)
    TSL_FAIL(TSL_ERR_NUMERIC, "the result is INVALID: %s", record->summary.reason);
done:
  return err;
}

/* Of many problems; the output is made at the end, from what checkpoints hold until then. */
static tsl_err run_series(tsl_session *s, tsl_options *options, tsl_out **out, tsl_record *record) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? tsl_checkpoints_forget_old(s) : TSL_OK);
  TSL_TRY(tsl_series_run(s, options, record));
  TSL_TRY(tsl_checkpoints_settle(s, NULL));
  TSL_TRY(open_output(s, out));
  TSL_COLLECTIVE_TRY(s->comm, tsl_out_close_stream(*out));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_WRITE));
  TSL_TRY(end_run(s, out, record));
  TSL_TRY(judge(s, record));
done:
  return err;
}

static tsl_err run_session(tsl_session *s, tsl_options *options, tsl_out **out,
                           tsl_record *record) {
  tsl_err err = TSL_OK;
  const bool talk = s->rank == 0 && !s->options->quiet;
  TSL_TRY(tsl_session_deck(s));
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? check_files(s) : TSL_OK);
  TSL_TRY(tsl_checkpoints_open(s));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_CHECKPOINT));
  if (tsl_series_asked(s)) return run_series(s, options, out, record);
  TSL_TRY(tsl_session_machine(s));
  if (talk) tsl_report_head(s, stdout);
  TSL_TRY(tsl_session_problem(s));
  if (talk) tsl_machine_print(s->placements, s->size, stdout);
  TSL_TRY(tsl_session_try_ways(s));
  TSL_TRY(tsl_checkpoints_ready(s));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_CHECKPOINT));
  TSL_TRY(tsl_session_worker(s));
  TSL_TRY(tsl_session_plan(s));
  TSL_TRY(tsl_session_shortcut(s));
  if (talk) tsl_report_plan(s, 0, stdout), fflush(stdout);
  TSL_TRY(open_output(s, out));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_WRITE));
  TSL_COLLECTIVE_TRY(s->comm, tsl_stage_rows(s, -1));
  TSL_TRY(tsl_phases_run(s, *out, record));
  TSL_TRY(tsl_worker_notes_gather(s, record));
  TSL_TRY(run_finish(s, *out));
  if (talk) tsl_record_print(s, record, stdout), tsl_worker_notes_print(record, stdout);
  TSL_TRY(end_run(s, out, record));
  if (s->rank == 0) learn(s, record);
  TSL_TRY(judge(s, record));
done:
  return err;
}

/* What was saved before a failure can be continued. */
static void keep_for_restart(tsl_session *s, tsl_out *out, tsl_err err) {
  tsl_checkpoints_abandon(s);
  if (out != NULL && err != TSL_OK) tsl_out_keep(out, s->checkpoints->safe);
  if (err == TSL_OK || s->checkpoints == NULL || !s->checkpoints->safe) return;
  if (err == TSL_ERR_PAUSED || err == TSL_ERR_LOST || s->rank != 0) return;
  fprintf(stderr, "tesela: a checkpoint is kept; --restart %s goes on from it\n", s->path);
}

tsl_err tsl_run(MPI_Comm comm, int argc, char **argv) {
  tsl_err err = TSL_OK;
  tsl_options options;
  tsl_session session = {.comm = MPI_COMM_NULL};
  tsl_record record = {0};
  tsl_out *out = NULL;
  TSL_TRY(tsl_options_parse(argc, argv, "ostqwirmx", true, &options));
  if (options.help) return tsl_help(comm, "run");
  TSL_TRY(tsl_session_open(comm, &options, &session));
  TSL_TRY(run_session(&session, &options, &out, &record));
done:
  keep_for_restart(&session, out, err);
  tsl_out_discard(&out);
  tsl_record_clear(&record);
  tsl_question_close(&session);
  tsl_session_close(&session);
  return err;
}

/* What a checkpoint leaves to do, or whether a run would write any. */
static tsl_err plan_checkpoints(tsl_session *s) {
  return s->options->restart != NULL ? tsl_checkpoints_ready(s) : tsl_checkpoints_foresee(s);
}

/* For ranks that are not here; nothing is measured. */
static tsl_err plan_cluster(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_whatif what;
  TSL_TRY(tsl_whatif_open(s, &what));
  TSL_TRY(tsl_session_machine(s));
  if (s->rank == 0) tsl_report_head(s, stdout);
  TSL_TRY(tsl_session_problem(s));
  TSL_TRY(plan_checkpoints(s));
  TSL_TRY(tsl_whatif_plan(s, &what));
  if (s->rank == 0) tsl_whatif_print(s, &what, stdout);
done:
  tsl_whatif_clear(&what);
  return err;
}

tsl_err tsl_in_session(MPI_Comm comm, int argc, char **argv, const char *switches, bool deck,
                       tsl_err (*work)(tsl_session *session)) {
  tsl_err err = TSL_OK;
  tsl_options options;
  tsl_session session = {.comm = MPI_COMM_NULL};
  TSL_TRY(tsl_options_parse(argc, argv, switches, deck, &options));
  if (options.help) return tsl_help(comm, argv[0]);
  TSL_TRY(tsl_session_open(comm, &options, &session));
  TSL_TRY(work(&session));
done:
  tsl_session_close(&session);
  return err;
}

static tsl_err plan_session(tsl_session *s) {
  tsl_err err = TSL_OK;
  double shortcut = 0;
  s->guesses = true;
  TSL_TRY(tsl_session_deck(s));
  if (s->options->restart != NULL) TSL_TRY(tsl_checkpoints_open(s));
  if (s->options->cluster != NULL) return plan_cluster(s);
  TSL_TRY(tsl_session_machine(s));
  if (s->rank == 0) tsl_report_head(s, stdout);
  TSL_TRY(tsl_session_problem(s));
  if (s->rank == 0) tsl_machine_print(s->placements, s->size, stdout);
  TSL_TRY(tsl_session_try_ways(s));
  TSL_TRY(plan_checkpoints(s));
  TSL_TRY(tsl_session_worker(s));
  TSL_TRY(tsl_session_plan(s));
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? tsl_session_shortcut_seconds(s, &shortcut) : TSL_OK);
  if (s->rank == 0) tsl_report_plan(s, shortcut, stdout);
done:
  return err;
}

tsl_err tsl_plan_only(MPI_Comm comm, int argc, char **argv) {
  return tsl_in_session(comm, argc, argv, "sqicr", true, plan_session);
}

static void print_speeds(const tsl_session *s) {
  char path[1024];
  (void)tsl_calibration_path(&s->run, path, sizeof path);
  printf("  %5s  %-34s %5s  %10s  %10s  %10s  %10s  %10s\n", "rank", "device", "kind", "s/unit",
         "s/flop", "s/byte", "s/item", "s/first");
  for (int r = 0; r < s->size; r++)
    for (int k = 0; k < s->family->n_kinds; k++) {
      const double *c = s->cost.speeds[r].c[k];
      printf("  %5d  %-34.34s %5d  %10.3e  %10.3e  %10.3e  %10.3e  %10.3e\n", r,
             s->placements[r].device.name, k, c[0], c[1], c[2], c[3], c[TSL_SETUP]);
    }
  printf("used by plans: equal devices that measured about the same have the middle of that\n"
         "stored in %s: what each device measured\n",
         path);
}

static tsl_err calibrate_session(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_session_deck(s));
  s->run.calibrate = TSL_CALIBRATE_ALWAYS;
  TSL_TRY(tsl_session_machine(s));
  TSL_TRY(tsl_session_problem(s));
  TSL_TRY(tsl_session_try_ways(s));
  TSL_TRY(tsl_session_worker(s));
  TSL_TRY(tsl_session_plan(s));
  if (s->rank == 0) print_speeds(s);
done:
  return err;
}

tsl_err tsl_calibrate_only(MPI_Comm comm, int argc, char **argv) {
  return tsl_in_session(comm, argc, argv, "sqi", true, calibrate_session);
}

static tsl_err list_devices(tsl_session *s) {
  tsl_err err = TSL_OK;
  const char *why = NULL;
  TSL_TRY(tsl_session_machine(s));
  TSL_TRY(tsl_session_memory(s));
  if (s->rank == 0) {
    tsl_machine_print(s->placements, s->size, stdout);
    if (tsl_platform_gpu.count(&why) == 0) printf("no GPU: %s\n", why);
  }
done:
  return err;
}

tsl_err tsl_devices(MPI_Comm comm, int argc, char **argv) {
  return tsl_in_session(comm, argc, argv, "", false, list_devices);
}
