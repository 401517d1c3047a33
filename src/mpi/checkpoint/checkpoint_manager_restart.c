/* A run goes on: find the checkpoint and see whether it is of this run. */
#include "checkpoint_manager.h"

#include "collective_error.h"
#include "slab_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- find and read it; rank 0 */

/* The output's name of "OUTPUT.ckpt.N", or the text itself with slot -1. */
static void output_of(const char *text, char output[1024], int *slot) {
  const size_t n = strlen(text);
  *slot = -1;
  (void)snprintf(output, 1024, "%s", text);
  if (n < 8 || n >= 1024 || memcmp(text + n - 7, ".ckpt.", 6) != 0) return;
  if (text[n - 1] != '0' && text[n - 1] != '1') return;
  *slot = text[n - 1] - '0';
  output[n - 7] = '\0';
}

/* Both files of an output; an error in reading one is kept. */
typedef struct pair {
  char path[2][1100];
  bool there[2];
  tsl_err err[2];
  tsl_err_copy why[2];
  tsl_checkpoint read[2];
} pair;

static void read_pair(const char *output, pair *p) {
  for (int k = 0; k < 2; k++) {
    (void)snprintf(p->path[k], sizeof p->path[k], "%s.ckpt.%d", output, k);
    p->there[k] = access(p->path[k], F_OK) == 0;
    p->err[k] = TSL_ERR_INPUT;
    if (!p->there[k]) continue;
    p->err[k] = tsl_checkpoint_read(p->path[k], &p->read[k]);
    if (p->err[k] != TSL_OK) tsl_err_save(p->err[k], &p->why[k]);
  }
}

/* The newer of the good ones, or the one asked for; a damaged one is told. */
static tsl_err checkpoint_manager_restart_choose(const char *output, int asked, const pair *p,
                                                 int *chosen) {
  tsl_err err = TSL_OK;
  *chosen = -1;
  if (!p->there[0] && !p->there[1])
    TSL_FAIL(TSL_ERR_INPUT,
             "--restart: there is no checkpoint %s or .1; give the name of the output or of a "
             "checkpoint, or run without --restart",
             p->path[0]);
  for (int k = 0; k < 2; k++) {
    const bool good = p->err[k] == TSL_OK;
    if (good && (*chosen < 0 || p->read[k].head.sequence > p->read[*chosen].head.sequence))
      *chosen = k;
    if (p->there[k] && !good) fprintf(stderr, "tesela: warning: %s\n", p->why[k].message);
  }
  if (asked >= 0 && p->err[asked] == TSL_OK) *chosen = asked;
  if (*chosen < 0)
    TSL_FAIL(
        TSL_ERR_INPUT,
        "--restart: no checkpoint of '%s' is whole; remove %s.ckpt.* and run without --restart",
        output, output);
  if (p->there[1 - *chosen] && p->err[1 - *chosen] != TSL_OK)
    fprintf(stderr, "tesela: warning: goes on from '%s' instead\n", p->path[*chosen]);
done:
  return err;
}

static tsl_err take_chosen(tsl_session *s, pair *p, int chosen) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  k->from = p->read[chosen];
  p->read[chosen] = (tsl_checkpoint){.bytes = NULL};
  if (strcmp(k->from.family, s->family->name) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "--restart: '%s' is of family '%s', the deck of '%s'", p->path[chosen],
             k->from.family, s->family->name);
  k->slot = 1 - chosen;
  k->sequence = k->from.head.sequence;
  k->before = k->from.head.seconds;
  s->limits = k->from.head.limits; /* the same units as before */
  s->limited = true;
done:
  return err;
}

static tsl_err checkpoint_manager_restart_load(tsl_session *s) {
  tsl_err err = TSL_OK;
  pair *p = NULL;
  char output[1024];
  int asked = -1, chosen = -1;
  output_of(s->options->restart, output, &asked);
  TSL_TRY(tsl_alloc(1, sizeof *p, "checkpoints", (void **)&p));
  read_pair(output, p);
  TSL_TRY(checkpoint_manager_restart_choose(output, asked, p, &chosen));
  TSL_TRY(take_chosen(s, p, chosen));
done:
  for (int c = 0; c < 2 && p != NULL; c++) tsl_checkpoint_clear(&p->read[c]);
  tsl_free(p);
  return err;
}

/* The work of hours is not thrown away because a word was forgotten. */
static tsl_err check_new(const tsl_session *s) {
  tsl_err err = TSL_OK;
  char path[1100];
  for (int slot = 0; slot < 2 && !s->output.overwrite; slot++)
    if (access(tsl_checkpoints_path(s, slot, path), F_OK) == 0)
      TSL_FAIL(TSL_ERR_INPUT,
               "'%s' is the checkpoint of a run that was stopped: continue it with --restart %s, "
               "or begin anew with --overwrite",
               path, s->path);
done:
  return err;
}

tsl_err tsl_checkpoints_forget_old(const tsl_session *s) {
  tsl_err err = TSL_OK;
  char path[1100];
  for (int slot = 0; slot < 2 && s->options->restart == NULL; slot++)
    if (unlink(tsl_checkpoints_path(s, slot, path)) != 0 && errno != ENOENT)
      TSL_FAIL(TSL_ERR_INPUT, "cannot remove the old checkpoint '%s': %s", path, strerror(errno));
done:
  return err;
}

static tsl_err checkpoint_manager_restart_find(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(1, sizeof *s->checkpoints, "checkpoints", (void **)&s->checkpoints));
  s->checkpoints->output = s->path;
  if (s->rank == 0)
    TSL_TRY(s->options->restart != NULL ? checkpoint_manager_restart_load(s) : check_new(s));
done:
  return err;
}

tsl_err tsl_checkpoints_open(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, checkpoint_manager_restart_find(s));
done:
  return err;
}

/* ---- does it fit the problem? rank 0 */

const char *tsl_checkpoints_free_keys(const tsl_session *s, char text[300]) {
  size_t used = 0;
  text[0] = '\0';
  for (const char *const *key = s->family->free_keys; key != NULL && *key != NULL; key++)
    if (used < 300)
      used += (size_t)snprintf(text + used, 300 - used, "%s%s", used > 0 ? ", " : "", *key);
  return text;
}

static tsl_err fit_deck(const tsl_session *s) {
  tsl_err err = TSL_OK;
  char *resolved = NULL, keys[600], others[300];
  const char *const *free_keys = s->family->free_keys;
  TSL_TRY(tsl_deck_resolved(s->deck, &resolved));
  if (tsl_checkpoint_differ(s->checkpoints->from.deck, resolved, free_keys, keys, sizeof keys) > 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "--restart: the checkpoint is of another deck; other values of: %s. Only the sections "
             "run and output and the title%s%s may be changed",
             keys, free_keys != NULL ? ", and " : "", tsl_checkpoints_free_keys(s, others));
done:
  free(resolved);
  return err;
}

/* The same work; what the first phase lacks of it is nothing after a restart from a later one. */
static bool is_same(const tsl_unit *a, const tsl_unit *b) {
  tsl_unit one, two;
  memcpy(&one, a, sizeof one); /* with the bytes between its members */
  memcpy(&two, b, sizeof two);
  one.phase0_skipped = two.phase0_skipped = 0;
  return memcmp(&one, &two, sizeof one) == 0;
}

static tsl_err fit_units(const tsl_session *s) {
  tsl_err err = TSL_OK;
  const tsl_checkpoint *from = &s->checkpoints->from;
  bool same = from->head.n_units == s->units.n;
  if (from->head.inputs != s->checkpoints->inputs)
    TSL_FAIL(TSL_ERR_INPUT,
             "--restart: the input data have changed since the checkpoint was written; continue "
             "with the files as they were, or begin anew with --overwrite");
  for (int64_t u = 0; u < s->units.n && same; u++)
    same = is_same(&from->units[u], &s->units.list[u]);
  if (!same)
    TSL_FAIL(TSL_ERR_INPUT,
             "--restart: this program cuts the work differently than %s did, which "
             "wrote the checkpoint; continue with that one",
             from->version);
done:
  return err;
}

/* What was saved of a WAVE family: whole stages, and all of them when a walk follows. */
static tsl_err fit_tiles(const tsl_session *s) {
  tsl_err err = TSL_OK;
  const tsl_checkpoint *from = &s->checkpoints->from;
  uint8_t *finished = NULL;
  int64_t stage = 0;
  if (s->family->shape != TSL_WAVE) return TSL_OK;
  TSL_TRY(tsl_alloc(s->units.n, 1, "finished tiles", (void **)&finished));
  for (int64_t r = 0; r < from->head.n_rows; r++) finished[from->rows[r].unit.id] = 1;
  stage = tsl_checkpoints_stage(s, finished);
  for (int64_t u = 0; u < s->units.n; u++)
    if (finished[u] != (s->units.list[u].stage < stage) ||
        (from->tiles && !finished[u] && from->tiles[u]))
      TSL_FAIL(TSL_ERR_INPUT, "--restart: the checkpoint does not hold whole stages");
  if (from->tiles == NULL ||
      (from->head.n_rows == s->units.n && s->family->traceback_begin == NULL))
    TSL_FAIL(TSL_ERR_INPUT, "--restart: the checkpoint lacks the states of its tiles");
done:
  tsl_free(finished);
  return err;
}

/* Must a dimension be what it was? What is not saved is the family's to judge, and so is the length
 * of what it restores. */
static bool is_bound(const tsl_checkpoint_manager *k, const tsl_field *field, int d) {
  if (field->device) return false;
  if (!k->between || (field->role & TSL_IN)) return true;
  return (field->role & TSL_STATE) && (d > 0 || field->rank > 1);
}

static tsl_err fit_field(const tsl_checkpoint_manager *k, const tsl_problem *problem, int f) {
  tsl_err err = TSL_OK;
  const tsl_field *field = &problem->fields[f];
  const tsl_checkpoint *from = &k->from;
  const tsl_checkpoint_field *saved = &from->fields[f];
  const bool list = (field->role & TSL_OUT) && field->combine == TSL_LIST;
  bool same = strcmp(saved->name, field->name) == 0 && saved->type == field->type &&
              saved->combine == field->combine && saved->role == field->role &&
              saved->stream == field->stream;
  for (int d = list; d < 3; d++)
    same = same && (!is_bound(k, field, d) || saved->shape[d] == field->shape[d]);
  if (!same)
    TSL_FAIL(TSL_ERR_INPUT, "--restart: the checkpoint has another field '%s'", field->name);
  if (tsl_checkpoints_saves(k, field) && from->data[f] == NULL)
    TSL_FAIL(TSL_ERR_INPUT, "--restart: the checkpoint lacks field '%s'", field->name);
  if (list && from->head.n_rows > 0 && from->counts[f] == NULL)
    TSL_FAIL(TSL_ERR_INPUT, "--restart: the checkpoint lacks list '%s'", field->name);
done:
  return err;
}

static tsl_err restore_state(tsl_session *s) {
  tsl_err err = TSL_OK;
  const tsl_checkpoint *from = &s->checkpoints->from;
  for (int f = 0; f < s->problem.n_fields; f++) {
    tsl_field *field = &s->problem.fields[f];
    if (!(field->role & TSL_STATE)) continue;
    if (from->fields[f].shape[0] != field->shape[0]) { /* of one dimension */
      tsl_free(field->data);
      field->data = NULL;
      field->shape[0] = from->fields[f].shape[0];
    }
    TSL_TRY(tsl_field_allocate(field));
    memcpy(field->data, from->data[f], (size_t)tsl_field_bytes(field));
  }
  if (s->family->restore != NULL) TSL_TRY(s->family->restore(&s->problem, s->checkpoints->phase));
done:
  return err;
}

tsl_err tsl_checkpoints_fit(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  TSL_TRY(fit_deck(s));
  TSL_TRY(fit_units(s));
  TSL_TRY(fit_tiles(s));
  if (k->from.head.n_fields != s->problem.n_fields)
    TSL_FAIL(TSL_ERR_INPUT, "--restart: the checkpoint has other fields");
  for (int f = 0; f < s->problem.n_fields; f++) TSL_TRY(fit_field(k, &s->problem, f));
  k->phase = (int)k->from.head.phase;
  if (!k->between && k->phase != 0)
    TSL_FAIL(TSL_ERR_INPUT, "--restart: the checkpoint is of phase %d", k->phase);
  TSL_TRY(restore_state(s));
done:
  return err;
}

/* ---- the rows in FILE.part; rank 0 */

static tsl_err read_boxes(tsl_session *s, tsl_out *out, const tsl_unit *unit, char **buffer,
                          int64_t *room, tsl_checksum *sum) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < s->problem.n_fields; f++) {
    const tsl_field *field = &s->problem.fields[f];
    const int64_t bytes = tsl_slab_bytes(&s->problem, unit, f);
    int64_t lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    if (!field->stream || bytes == 0) continue;
    if (bytes > *room) {
      tsl_free(*buffer);
      *buffer = NULL;
      TSL_TRY(tsl_alloc(bytes, 1, "rows of a unit", (void **)buffer));
      *room = bytes;
    }
    s->family->region(&s->problem, unit, f, lo, hi);
    TSL_TRY(tsl_out_read_slab(out, field, lo, hi, *buffer));
    tsl_checksum_add(sum, *buffer, bytes);
  }
done:
  return err;
}

static tsl_err verify_rows(tsl_session *s, tsl_out *out) {
  tsl_err err = TSL_OK;
  const tsl_checkpoint *from = &s->checkpoints->from;
  char *buffer = NULL;
  int64_t room = 0;
  for (int64_t r = 0; r < from->head.n_rows; r++) {
    tsl_checksum sum = {0};
    const tsl_unit *unit = &s->units.list[from->rows[r].unit.id];
    TSL_TRY(read_boxes(s, out, unit, &buffer, &room, &sum));
    if (sum.bytes > 0 && tsl_checksum_end(&sum) != from->rows[r].check)
      TSL_FAIL(TSL_ERR_INPUT,
               "--restart: the rows of unit %lld in '%s.part' are not those of the checkpoint; "
               "remove %s.ckpt.* and run without --restart",
               (long long)unit->id, s->path, s->path);
  }
done:
  tsl_free(buffer);
  return err;
}

static tsl_err look_at_rows(tsl_session *s, tsl_out *out) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  for (int f = 0; f < s->problem.n_fields; f++) {
    const tsl_field *field = &s->problem.fields[f];
    k->place[f] = tsl_checkpoints_streams(field) ? tsl_out_place(out, field) : -1;
    if (k->restart && k->place[f] != k->from.fields[f].place)
      TSL_FAIL(TSL_ERR_INPUT,
               "--restart: this HDF5 library lays '%s' out differently; continue with the program "
               "that wrote the checkpoint",
               field->name);
  }
  if (k->restart) TSL_TRY(verify_rows(s, out));
done:
  return err;
}

tsl_err tsl_checkpoints_output(tsl_session *s, tsl_out *out) {
  tsl_err err = TSL_OK;
  if (!s->checkpoints->on) return TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? look_at_rows(s, out) : TSL_OK);
done:
  return err;
}
