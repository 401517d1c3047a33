/* Life of a session: open, deck, problem, units, worker, close; devices: stages_machine.c. */
#include "stages.h"

#include "assist.h"
#include "bcast.h"
#include "calibrate.h"
#include "checkpoint_manager.h"
#include "collective_error.h"
#include "files.h"
#include "heartbeat.h"
#include "parallel.h"
#include "sandbox.h"
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void utc_now(char *text, size_t size) {
  const time_t now = time(NULL);
  struct tm utc;
  (void)gmtime_r(&now, &utc);
  (void)strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

tsl_err tsl_session_open(MPI_Comm comm, const tsl_options *options, tsl_session *s) {
  tsl_err err = TSL_OK;
  *s = (tsl_session){.comm = MPI_COMM_NULL, .options = options, .opened = tsl_program_start()};
  utc_now(s->began, sizeof s->began);
  TSL_MPI(MPI_Comm_dup(comm, &s->comm));
  TSL_MPI(MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN));
  TSL_MPI(MPI_Comm_rank(s->comm, &s->rank));
  TSL_MPI(MPI_Comm_size(s->comm, &s->size));
  TSL_TRY(tsl_trace_start(s->comm, options != NULL && options->trace != NULL, &s->trace));
  tsl_stage_start(s);
done:
  return err;
}

/* ---- deck */

/* FILE.h5 in the working folder from the deck's name without folders and ending. */
static void default_path(const char *deck, char *path, size_t size) {
  const char *slash = strrchr(deck, '/');
  const char *name = slash != NULL ? slash + 1 : deck;
  const char *dot = strrchr(name, '.');
  const int length = (int)(dot != NULL && dot != name ? dot - name : (long)strlen(name));
  (void)snprintf(path, size, "%.*s.h5", length, name);
}

/* The text the root read, broadcast, parsed the same way everywhere. */
static tsl_err share_deck(tsl_session *s) {
  tsl_err err = TSL_OK;
  const tsl_options *o = s->options;
  int64_t n = s->rank == 0 ? (int64_t)strlen(tsl_deck_text(s->deck)) : 0;
  char *text = NULL;
  TSL_MPI(MPI_Bcast(&n, 1, MPI_INT64_T, 0, s->comm));
  TSL_COLLECTIVE_TRY(s->comm, tsl_alloc(n + 1, 1, "deck text", (void **)&text));
  if (s->rank == 0) memcpy(text, tsl_deck_text(s->deck), (size_t)n);
  TSL_TRY(tsl_bcast_bytes(s->comm, text, n));
  if (s->rank != 0) err = tsl_deck_parse(text, (size_t)n, o->deck, o->sets, o->n_sets, &s->deck);
done:
  tsl_free(text);
  return err;
}

/* A deck, or the deck that a family makes of another file. */
static tsl_err read_deck(tsl_session *s) {
  tsl_err err = TSL_OK;
  const tsl_options *o = s->options;
  char *text = NULL;
  if (o->text != NULL)
    return tsl_deck_parse(o->text, strlen(o->text), o->deck, o->sets, o->n_sets, &s->deck);
  for (int f = 0; tsl_families[f] != NULL && text == NULL; f++)
    if (tsl_families[f]->adopt != NULL) TSL_TRY(tsl_families[f]->adopt(o->deck, &text));
  if (text != NULL)
    TSL_TRY(tsl_deck_parse(text, strlen(text), o->deck, o->sets, o->n_sets, &s->deck));
  else
    TSL_TRY(tsl_deck_read(o->deck, o->sets, o->n_sets, &s->deck));
done:
  tsl_free(text);
  return err;
}

/* The output's file: -o, or what the deck says, or the deck's own name. */
static tsl_err name_output(tsl_session *s) {
  tsl_err err = TSL_OK;
  const char *given = s->options->output != NULL ? s->options->output : s->output.file;
  if (given == NULL) return default_path(s->options->deck, s->path, sizeof s->path), TSL_OK;
  if (strlen(given) > TSL_FILE_NAME_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "output: the name has %zu bytes; at most %d", strlen(given),
             TSL_FILE_NAME_MAX);
  (void)snprintf(s->path, sizeof s->path, "%s", given);
done:
  return err;
}

/* Lines go to the calibration file; root. */
static tsl_err name_calibration(const tsl_session *s) {
  tsl_err err = TSL_OK;
  char path[1024];
  TSL_TRY(tsl_calibration_path(&s->run, path, sizeof path));
  TSL_TRY(tsl_calibration_check(&s->run));
  TSL_TRY(tsl_files_write(TSL_FILE_GROWS, "run.calibration", path));
done:
  return tsl_deck_blame(s->deck, "run.calibration", err);
}

static tsl_err bind_settings(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_settings_bind(s->deck, &s->family, &s->run, &s->output));
  s->output.overwrite = s->output.overwrite || s->options->overwrite;
  if (s->run.calibrate == TSL_CALIBRATE_PROBE && !s->guesses)
    TSL_DECK_FAIL(s->deck, "run.calibrate",
                  "'probe' is a guess for `tesela plan`; what computes measures: auto or always");
  TSL_TRY(name_output(s));
  if (s->rank == 0) TSL_TRY(name_calibration(s));
done:
  return err;
}

tsl_err tsl_session_deck(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_files_clear();
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? read_deck(s) : TSL_OK);
  TSL_COLLECTIVE_TRY(s->comm, share_deck(s));
  TSL_COLLECTIVE_TRY(s->comm, bind_settings(s));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_DECK));
done:
  return err;
}

/* ---- problem and units */

/* Backend.prepare of a platform with the devices it has in the job. */
static tsl_err prepare_platform(tsl_session *s, const tsl_platform *platform) {
  tsl_err err = TSL_OK;
  const tsl_backend *backend = tsl_backend_find(platform, s->family->name);
  tsl_device *devices = NULL;
  int n = 0;
  if (backend == NULL || backend->prepare == NULL) return TSL_OK;
  TSL_TRY(tsl_alloc(s->size, sizeof *devices, "devices", (void **)&devices));
  for (int r = 0; r < s->size; r++)
    if (tsl_platform_of(&s->placements[r]) == platform) devices[n++] = s->placements[r].device;
  if (n > 0) TSL_TRY(backend->prepare(&s->problem, devices, n));
done:
  tsl_free(devices);
  return err;
}

/* What the family does on the root, with the devices of all ranks in sight. */
static tsl_err with_devices(tsl_session *s, tsl_err (*work)(tsl_deck *, tsl_problem *)) {
  tsl_err err = TSL_OK;
  tsl_device *devices = NULL;
  tsl_decider decider = tsl_session_decider(s);
  TSL_TRY(tsl_alloc(s->size, sizeof *devices, "devices", (void **)&devices));
  for (int r = 0; r < s->size; r++) devices[r] = s->placements[r].device;
  s->problem.devices = devices, s->problem.n_devices = s->size;
  s->problem.trial = &decider.trial;
  TSL_TRY(work(s->deck, &s->problem));
done:
  s->problem.devices = NULL, s->problem.n_devices = 0, s->problem.trial = NULL;
  tsl_free(devices);
  return err;
}

/* A run goes on from a checkpoint where it was. */
static bool has_shortcut(const tsl_session *s) {
  const tsl_backend *backend = tsl_backend_find(&tsl_platform_cpu, s->family->name);
  return s->options->restart == NULL && backend != NULL && backend->shortcut != NULL;
}

static tsl_err create_problem(tsl_session *s) {
  tsl_err err = TSL_OK;
  s->problem.family = s->family;
  s->problem.output = s->path;
  s->problem.talk = s->talk;
  if (s->rank != 0) return TSL_OK;
  s->problem.shortcut = has_shortcut(s);
  s->n_files = tsl_files_named();
  TSL_TRY(with_devices(s, s->family->create));
  TSL_TRY(tsl_files_check(s->deck));
  TSL_TRY(prepare_platform(s, &tsl_platform_cpu));
  TSL_TRY(prepare_platform(s, &tsl_platform_gpu));
done:
  return err;
}

/* Units small enough for the slowest rank to end near the others, large enough to be worth a
 * launch. */
static int64_t wanted_units(const tsl_session *s) {
  enum { FEW = 512, PER_RANK = 128, MANY = 65536 };
  const int64_t by_rank = (int64_t)s->size * PER_RANK;
  const int64_t wanted = s->finer * (by_rank < FEW ? FEW : by_rank);
  if (s->run.units > 0) return s->run.units;
  return wanted > MANY ? MANY : wanted;
}

double tsl_session_pipeline_fill(const tsl_session *s, int rank, bool *overlaps) {
  const tsl_backend *backend =
      tsl_backend_find(tsl_platform_of(&s->placements[rank]), s->family->name);
  *overlaps = false;
  if (backend == NULL || backend->pipeline_fill == NULL) return 0;
  return backend->pipeline_fill(&s->problem, &s->placements[rank].device, s->size, overlaps);
}

/* Of the rank whose stages cost most besides their cells; do those of all such ranks overlap? */
static double largest_fill(const tsl_session *s, bool *overlap) {
  double largest = 0;
  *overlap = true;
  for (int r = 0; r < s->size && s->rank == 0; r++) {
    bool overlaps = false;
    const double fill = tsl_session_pipeline_fill(s, r, &overlaps);
    if (fill > largest) largest = fill;
    if (fill > 0 && !overlaps) *overlap = false;
  }
  return largest;
}

static void make_limits(const tsl_session *s, tsl_limits *limits) {
  enum { SLABS = 4 }; /* the batches of a phase and the root's receive buffer */
  int64_t device = INT64_MAX, keep = INT64_MAX, host = INT64_MAX;
  for (int r = 0; r < s->size; r++) {
    const tsl_device *d = &s->placements[r].device;
    if (d->kind == TSL_GPU && d->memory_limit < device) device = d->memory_limit;
    if (d->memory_limit < keep) keep = d->memory_limit;
    if (d->host_limit < host) host = d->host_limit;
  }
  *limits = (tsl_limits){.slab_bytes = s->run.memory / SLABS,
                         .device_bytes = device,
                         .target_units = wanted_units(s),
                         .n_ranks = s->size,
                         .given = s->run.units > 0,
                         .way = (int16_t)s->way,
                         .keep_bytes = keep,
                         .host_bytes = host,
                         .widest = s->widest};
  limits->pipeline_fill = largest_fill(s, &limits->overlap);
}

static tsl_err share_units(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_MPI(MPI_Bcast(&s->units.n, 1, MPI_INT64_T, 0, s->comm));
  TSL_COLLECTIVE_TRY(s->comm, s->rank != 0 ? tsl_alloc(s->units.n, sizeof *s->units.list, "units",
                                                       (void **)&s->units.list)
                                           : TSL_OK);
  TSL_TRY(tsl_bcast_bytes(s->comm, s->units.list, s->units.n * (int64_t)sizeof *s->units.list));
done:
  return err;
}

tsl_err tsl_session_units(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_free(s->units.list);
  s->units = (tsl_units){0};
  if (!s->limited) make_limits(s, &s->limits);
  TSL_COLLECTIVE_TRY(s->comm,
                     s->rank == 0 ? s->family->units(&s->problem, &s->limits, &s->units) : TSL_OK);
  TSL_TRY(share_units(s));
done:
  return err;
}

/* The first problem is created beside the start of the cards, whose memory is known only now. */
static tsl_err meet_memory(tsl_session *s) {
  tsl_err err = TSL_OK;
  if (s->met) return TSL_OK;
  TSL_TRY(tsl_session_memory(s));
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 && s->family->check_memory != NULL
                                  ? with_devices(s, s->family->check_memory)
                                  : TSL_OK);
done:
  return err;
}

tsl_err tsl_session_problem(tsl_session *s) {
  tsl_err err = TSL_OK;
  s->finer = 1, s->widest = 0;
  TSL_COLLECTIVE_TRY(s->comm, create_problem(s));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_CREATE));
  TSL_TRY(meet_memory(s));
  tsl_sandbox_end(); /* all files of numbers are read */
  TSL_TRY(tsl_bcast_problem(s->comm, &s->problem));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_SHARE));
  TSL_TRY(tsl_session_units(s));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_UNITS));
done:
  return err;
}

/* ---- worker */

tsl_err tsl_session_worker(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, tsl_executor_open(&s->problem, &s->executor));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_OPEN_WORKER));
done:
  return err;
}

tsl_err tsl_session_reopen(tsl_session *s) {
  tsl_executor_close(&s->executor);
  return tsl_session_worker(s);
}

/* ---- sizes, end */

void tsl_session_facts(const tsl_session *s, char facts[TSL_FACTS]) {
  facts[0] = '\0';
  if (s->family->describe != NULL && s->rank == 0)
    s->family->describe(&s->problem, facts, TSL_FACTS);
}

int64_t tsl_session_output_bytes(const tsl_session *s) {
  int64_t bytes = 0;
  for (int f = 0; f < s->problem.n_fields; f++) {
    const tsl_field *field = &s->problem.fields[f];
    if ((field->role & TSL_OUT) && !field->hidden) bytes += tsl_field_bytes(field);
  }
  return bytes;
}

void tsl_session_drop(tsl_session *s) {
  tsl_executor_close(&s->executor);
  if (s->family != NULL && s->rank == 0 && s->family->destroy != NULL)
    s->family->destroy(&s->problem);
  tsl_problem_clear(&s->problem);
  tsl_free(s->units.list);
  s->units = (tsl_units){0};
  tsl_plan_clear(&s->plan);
  tsl_history_clear(&s->learned);
}

void tsl_session_close(tsl_session *s) {
  if (tsl_heart_alarm()) { /* the program ends now: what is left would wait for who is silent */
    tsl_heart_end(s->rescued);
    return;
  }
  tsl_session_drop(s);
  tsl_linalg_close();
  tsl_assist_open(NULL, NULL);
  tsl_executor_stop(&s->executor);
  tsl_parallel_close();
  tsl_heart_stop();
  tsl_checkpoints_free(s);
  TSL_FREE_ALL(s->cost.speeds, s->cost.left_out, s->cost.keys, s->use);
  tsl_free(s->placements);
  tsl_trace_clear(&s->trace);
  tsl_stage_clear(&s->stages);
  tsl_files_clear();
  tsl_deck_destroy(&s->deck);
  if (s->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&s->comm);
}
