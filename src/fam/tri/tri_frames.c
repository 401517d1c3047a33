/* Frames of a trajectory: from the deck to fields and units. */
#include "integers.h"
#include "tri_frames_own.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------- deck */

/** Keys that go with frames. */
static const char *const keys[] = {"function", "output",     "precision", "unit",
                                   "input",    "threshold",  "bins",      "range",
                                   "box",      "atom_pairs", NULL};
static const char *const input_keys[] = {"file",      "frames",      "symbols",
                                         "kind_file", "weight_file", NULL};

static tsl_err refuse_others(const tsl_deck *deck, const char *section, const tsl_key *table,
                             const char *const *allowed) {
  tsl_err err = TSL_OK;
  char path[128];
  for (const tsl_key *key = table; key->name != NULL; key++) {
    bool good = false;
    for (const char *const *a = allowed; *a != NULL; a++) good |= strcmp(*a, key->name) == 0;
    (void)snprintf(path, sizeof path, "%s.%s", section, key->name);
    if (!good && tsl_deck_given(deck, path))
      TSL_DECK_FAIL(deck, path, "not used with input.frames; remove it");
    if (strcmp(path, "tri.input") == 0) TSL_TRY(refuse_others(deck, path, key->keys, input_keys));
  }
done:
  return err;
}

static tsl_err check_choice(const tsl_deck *deck, const tri_deck *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(refuse_others(deck, "tri", tri_keys, keys));
  TSL_TRY(tri_check_function(deck, s));
  if (s->function.name != TRI_EUCLIDEAN)
    TSL_DECK_FAIL(deck, "tri.function", "frames go with function euclidean");
  if (s->precision > TRI_FP64) TSL_DECK_FAIL(deck, "tri.precision", "frames go with fp32 or fp64");
  if (s->output != TRI_HISTOGRAM && s->output != TRI_THRESHOLD)
    TSL_DECK_FAIL(deck, "tri.output", "frames go with output histogram or threshold");
  if (s->input.points.file == NULL)
    TSL_DECK_FAIL(deck, "tri.input.frames", "is of a file of frames; file: FILE is missing");
  if (s->box.n != 0 && s->box.n != 3)
    TSL_DECK_FAIL(deck, "tri.box", "%llu edges, but atoms have 3 coordinates",
                  (unsigned long long)s->box.n);
  for (uint64_t k = 0; k < s->box.n; k++)
    if (!(s->box.values[k] > 1e-6 && s->box.values[k] < 1e9))
      TSL_DECK_FAIL(deck, "tri.box", "edge %llu is %g; 1e-6 to 1e9 is possible",
                    (unsigned long long)k, s->box.values[k]);
done:
  return err;
}

/** Least height of the cells that are known before frames are read. */
static double least_height(const tri_params *p, const trajectory *t) {
  double least = INFINITY;
  for (int k = 0; k < 3 && p->box[k] > 0; k++) least = fmin(least, p->box[k]);
  for (int64_t k = 0; k < t->n_cells && p->frames_boxed; k++)
    least = fmin(least, tri_cell_height(&t->cells[k]));
  return least;
}

/** What the key said that gives the cut-off. */
static tsl_err check_cut(const tsl_deck *deck, const tri_params *p, const char *path,
                         const trajectory *t) {
  tsl_err err = TSL_OK;
  const bool histogram = p->output == TRI_HISTOGRAM;
  if (!(p->range_lo >= 0 && p->range_lo < p->range_hi && p->range_hi >= 1e-6 && p->range_hi < 1e9))
    TSL_DECK_FAIL(deck, path,
                  histogram ? "two edges with 0 <= lo < hi are needed, 1e9 at most"
                            : "a distance above 0 is needed, 1e9 at most");
  if (p->type == TSL_F32 && !((float)p->range_lo < (float)p->range_hi))
    TSL_DECK_FAIL(deck, path, "lo and hi are the same number in fp32; use precision: fp64");
  if (p->frames_pairs == 0 && p->range_hi > least_height(p, t) / 2 * (histogram ? 1 : 1 + 1e-6))
    TSL_DECK_FAIL(deck, path,
                  "the cut-off %g is above half of the least height of the frames' cells, %g",
                  histogram ? p->range_hi : p->threshold, least_height(p, t) / 2);
done:
  return err;
}

static tsl_err set_range(const tsl_deck *deck, const tri_deck *s, const trajectory *t,
                         tri_params *p) {
  tsl_err err = TSL_OK;
  const double half = least_height(p, t) / 2;
  p->bins = tsl_deck_given(deck, "tri.bins") ? (int32_t)s->bins : 200;
  if (p->output == TRI_THRESHOLD) {
    TSL_TRY(tsl_deck_given(deck, "tri.bins") || tsl_deck_given(deck, "tri.range")
                ? tsl_deck_fail(deck, TSL_ERR_INPUT,
                                tsl_deck_given(deck, "tri.bins") ? "tri.bins" : "tri.range",
                                __FILE__, __LINE__, "not used by output threshold; remove it")
                : TSL_OK);
    if (!tsl_deck_given(deck, "tri.threshold"))
      TSL_DECK_FAIL(deck, "tri.output", "output threshold needs the key threshold");
    p->threshold = s->threshold;
    p->bins = 1; /* of values up to the threshold, which counts */
    p->range_hi = p->type == TSL_F32 ? (double)nextafterf((float)s->threshold, INFINITY)
                                     : nextafter(s->threshold, INFINITY);
    return check_cut(deck, p, "tri.threshold", t);
  }
  if (tsl_deck_given(deck, "tri.threshold"))
    TSL_DECK_FAIL(deck, "tri.threshold", "not used by output histogram; remove it");
  if (s->range.n != 2 && !(s->range.n == 0 && half < 1e9))
    TSL_DECK_FAIL(deck, "tri.range", "output histogram needs two edges, range: [lo, hi]");
  p->range_lo = s->range.n == 0 ? 0 : s->range.values[0];
  p->range_hi = s->range.n == 0 ? half : s->range.values[1];
  TSL_TRY(check_cut(deck, p, "tri.range", t));
done:
  return err;
}

/** Those that are known have a volume. */
static tsl_err check_cells(const tsl_deck *deck, const trajectory *t) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < t->n_cells; k++)
    if (tri_cell_check(&t->cells[k], 0) != TSL_OK)
      TSL_DECK_FAIL(deck, "tri.input.file", "frame %lld: its cell has no volume",
                    (long long)t->places[k].number);
done:
  return err;
}

static tsl_err set_params(const tsl_deck *deck, const tri_deck *s, const trajectory *t,
                          tri_params *p) {
  tsl_err err = TSL_OK;
  p->function = TRI_EUCLIDEAN_PERIODIC;
  p->output = s->output;
  p->type = tri_type_of(s);
  p->n = t->n_atoms;
  p->d = p->d_read = 3;
  p->frames = t->n;
  p->frames_format = t->format;
  p->frames_bytes = t->bytes;
  p->frames_boxed = t->cells[0].given;
  for (uint64_t k = 0; k < s->box.n; k++) p->box[k] = s->box.values[k];
  TSL_TRY(check_cells(deck, t));
  if (s->box.n > 0 && p->frames_boxed)
    TSL_DECK_FAIL(deck, "tri.box", "the frames have cells of their own; remove it");
  TSL_TRY(set_range(deck, s, t, p));
done:
  return err;
}

/* ------------------------------------------------------------------- create */

static tsl_err note_frames(const tri_params *p, const trajectory *t, const char *file,
                           tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_own *own = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *own, "text", &problem->own));
  own = problem->own;
  (void)snprintf(own->text, TRI_TEXT, "frames: %.500s: %lld frames of %lld atoms, %s, in %s%s%s\n",
                 file, (long long)p->frames, (long long)p->n,
                 p->frames_boxed ? "with cells of their own"
                 : p->box[0] > 0 ? "in the deck's box"
                                 : "without a cell",
                 p->type == TSL_F32 ? "fp32" : "fp64", t->note[0] != '\0' ? "; " : "", t->note);
done:
  return err;
}

/** The file, as all ranks find it: they may be in other folders. */
static tsl_err find_path(const char *path, tri_frames_input *in) {
  tsl_err err = TSL_OK;
  char *full = realpath(path, NULL);
  const char *from = full != NULL ? full : path;
  TSL_TRY(tsl_alloc((int64_t)strlen(from) + 1, 1, "a file's name", (void **)&in->path));
  memcpy(in->path, from, strlen(from) + 1);
done:
  free(full);
  return err;
}

tsl_err tri_frames_create_problem(tsl_deck *deck, const tri_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_frames_input in = {.path = NULL};
  char *path = NULL;
  tri_params *p = problem->params;
  TSL_TRY(check_choice(deck, s));
  TSL_TRY(tsl_deck_path(deck, s->input.points.file, &path));
  TSL_TRY(tsl_deck_blame(deck, "tri.input.file", trajectory_scan(path, &in.t)));
  TSL_TRY(tsl_deck_blame(deck, "tri.input.frames", trajectory_choose(s->input.frames, &in.t)));
  TSL_TRY(tri_frames_pairs(deck, s, &in, p));
  TSL_TRY(set_params(deck, s, &in.t, p));
  TSL_TRY(find_path(path, &in));
  TSL_TRY(tri_frames_kinds(deck, s, &in, p));
  TSL_TRY(tri_frames_weights(deck, s, &in, p));
  TSL_TRY(note_frames(p, &in.t, s->input.points.file, problem));
  TSL_TRY(tri_frames_fields(&in, s->unit != NULL ? s->unit : "angstrom", problem));
  TSL_TRY(tri_frames_keep_kinds(&in, problem));
  tri_frames_note_weights(&in, problem->own);
done:
  tsl_free(path);
  tri_frames_input_clear(&in);
  return err;
}

/* -------------------------------------------------------------------- units */

static void set_features(const tri_params *p, tsl_unit *u) {
  const double n = (double)(u->hi[0] - u->lo[0]) * (double)p->n;
  u->count = n;
  u->flops = p->frames_pairs > 0 ? 50 * n : 1000 * n; /* some hundred neighbours of an atom */
  u->bytes = 50 * n;
  u->device_bytes = 72 * (double)p->n + 8 * (double)tri_cells_of(p);
}

tsl_err tri_frames_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units) {
  enum { MOST = 8192 };
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t most = tsl_max(limits->target_units, MOST);
  const int64_t room =
      tsl_max(1, limits->slab_bytes / (24 * tri_frames_cells(p) + 9 * p->frames_pairs + 32));
  const int64_t each = tsl_min(room, tsl_divide_up(p->frames, most));
  const int64_t n = tsl_divide_up(p->frames, each);
  void *memory = NULL;
  *units = (tsl_units){.n = 0};
  TSL_TRY(tsl_alloc(n, sizeof(tsl_unit), "units", &memory));
  *units = (tsl_units){.list = memory, .n = n};
  for (int64_t u = 0; u < n; u++) {
    units->list[u] = (tsl_unit){
        .id = u, .lo = {u * each, 0, 0}, .hi = {tsl_min((u + 1) * each, p->frames), 1, 1}};
    set_features(p, &units->list[u]);
  }
done:
  return err;
}

void tri_frames_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                       tsl_unit *out) {
  const int64_t n = whole->hi[0] - whole->lo[0];
  *out = *whole;
  out->hi[0] = whole->lo[0] + tsl_max(1, tsl_min(n, (int64_t)(fraction * (double)n)));
  set_features(tri_params_of(problem), out);
}

void tri_frames_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                       int64_t hi[3]) {
  const tri_params *p = tri_params_of(problem);
  const tsl_field *f = &problem->fields[field];
  memset(lo, 0, 3 * sizeof lo[0]);
  hi[0] = 0, hi[1] = hi[2] = 1;
  const int last = p->frames_pairs > 0
                       ? TRI_FRAMES_IN_CONTACT
                       : TRI_FRAMES_VOLUMES + tri_frames_has_rdf(problem) + p->frames_weighted;
  if (field > last) return; /* of finish */
  lo[0] = unit->lo[0], hi[0] = unit->hi[0], hi[1] = f->shape[1], hi[2] = f->shape[2];
}

/* ------------------------------------------------------------------- frames */

tsl_err tri_frames_slot_create(const tsl_problem *problem, tri_frames_slot *slot) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  *slot = (tri_frames_slot){.reader = NULL};
  TSL_TRY(trajectory_open(problem->fields[TRI_FRAMES_PATH].data, p->frames_format, p->frames_bytes,
                          &slot->reader));
  TSL_TRY(trajectory_frame_create(p->n, p->frames_named != 0, &slot->read));
  TSL_TRY(tri_frame_create(p->n, &slot->frame));
done:
  return err;
}

void tri_frames_slot_clear(tri_frames_slot *slot) {
  trajectory_close(&slot->reader);
  trajectory_frame_clear(&slot->read);
  tri_frame_clear(&slot->frame);
}

/** Kinds are those of the first frame: others must have its names. */
static tsl_err check_names(const tsl_problem *problem, const char *path, int64_t number,
                           const trajectory_frame *read) {
  tsl_err err = TSL_OK;
  const trajectory_name *first = problem->fields[TRI_FRAMES_NAMES].data;
  for (int64_t i = 0; i < read->n; i++)
    if (memcmp(read->names[i], first[i], sizeof *first) != 0)
      TSL_FAIL(TSL_ERR_INPUT, "%s: frame %lld: atom %lld (from 0) is '%s', in the first frame '%s'",
               path, (long long)number, (long long)i, read->names[i], first[i]);
done:
  return err;
}

tsl_err tri_frames_slot_read(const tsl_problem *problem, int64_t k, tri_frames_slot *slot) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const char *path = problem->fields[TRI_FRAMES_PATH].data;
  const trajectory_place *place =
      (const trajectory_place *)problem->fields[TRI_FRAMES_PLACES].data + k;
  TSL_TRY(trajectory_read(slot->reader, place, &slot->read));
  if (p->frames_named) TSL_TRY(check_names(problem, path, place->number, &slot->read));
  TSL_TRY(tri_frame_prepare(p, path, place->number, &slot->read, &slot->frame));
done:
  return err;
}

bool tri_frames_has_rdf(const tsl_problem *problem) {
  return tsl_problem_find(problem, "rdf_frames") == TRI_FRAMES_RDF;
}

/** Counts of pairs of classes to those of kinds, and to sums of weights, in the order of classes.
 *  @param[out] rows, sums  [pairs of kinds, at least 1][bins]; without weights sums is not used */
static void add_classes(const tsl_problem *problem, const uint64_t *counts, uint64_t *rows,
                        double *sums) {
  const tri_params *p = tri_params_of(problem);
  const int32_t *slot_of = problem->fields[TRI_FRAMES_SLOT_OF].data;
  const double *weights = problem->fields[TRI_FRAMES_WEIGHTS].data;
  const int64_t bins = p->bins, cells = tri_frames_cells(p);
  if (!p->frames_weighted) {
    memcpy(rows, counts, (size_t)cells * sizeof *rows);
    return;
  }
  memset(rows, 0, (size_t)cells * sizeof *rows);
  memset(sums, 0, (size_t)cells * sizeof *sums);
  for (int64_t s = 0; s < p->slots; s++)
    for (int64_t b = 0; b < bins; b++) {
      rows[slot_of[s] * bins + b] += counts[s * bins + b];
      sums[slot_of[s] * bins + b] += weights[s] * (double)counts[s * bins + b];
    }
}

void tri_frames_put(const tsl_problem *problem, const tsl_unit *unit, int64_t k, double volume,
                    const uint64_t *counts, tsl_part *part) {
  const tri_params *p = tri_params_of(problem);
  const int64_t row = k - unit->lo[0], cells = tri_frames_cells(p);
  const tsl_field *f = problem->fields;
  const int weighted = TRI_FRAMES_RDF + tri_frames_has_rdf(problem);
  uint64_t *const rows = (uint64_t *)part->slab[TRI_FRAMES_ROWS] + row * cells;
  double *const sums = p->frames_weighted ? (double *)part->slab[weighted] + row * cells : NULL;
  const double *pairs = f[TRI_FRAMES_PAIRS].data;
  ((int64_t *)part->slab[TRI_FRAMES_NUMBERS])[row] =
      ((const trajectory_place *)f[TRI_FRAMES_PLACES].data)[k].number;
  add_classes(problem, counts, rows, sums);
  ((double *)part->slab[TRI_FRAMES_VOLUMES])[row] = volume;
  if (!tri_frames_has_rdf(problem)) return;
  double *rdf = (double *)part->slab[TRI_FRAMES_RDF] + row * cells;
  for (int64_t c = 0; c < cells; c++)
    rdf[c] = tri_frames_rdf(p, rows[c], pairs[c / p->bins], volume, c % p->bins);
}
