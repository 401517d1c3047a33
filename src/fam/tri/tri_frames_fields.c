/* Frames of a trajectory: the fields of a problem. */
#include "tri_frames_own.h"

#include "integers.h"

#include <stdio.h>
#include <string.h>

static tsl_err add_in(tsl_problem *problem, const char *name, int type, int64_t rows,
                      int64_t columns, const void *data) {
  tsl_err err = TSL_OK;
  tsl_field *added = NULL;
  TSL_TRY(tsl_problem_add_hidden(problem, name, "Where frames are.", type, rows, columns, &added));
  added->device = type == TSL_U8;
  if (rows > 0) memcpy(added->data, data, (size_t)tsl_field_bytes(added));
done:
  return err;
}

/** What a field of results has a row for, and when it is there. */
enum { EDGES, SLOTS, PAIRS, KINDS, LISTED, LIST }; /* dimensions after that of frames, if any */
enum { ALWAYS, HISTOGRAM, OF_CELLS, OF_KINDS, WEIGHTED, THRESHOLD, OF_LIST };

typedef struct out_field {
  const char *name, *unit, *doc;
  int type, stream;
  bool frames; /**< a row for each frame */
  int shape;   /**< -1: nothing else */
  int need;
} out_field;

static const out_field outs[] = {
    {"frames", "1", "Number of each frame in its file, from 1.", TSL_I64, 0, true, -1, ALWAYS},
    {"counts_frames", "1", "Pairs i < j of each frame with their distance in the bin.", TSL_U64, 1,
     true, SLOTS, HISTOGRAM},
    {"contacts", "1", "Pairs of each frame within the threshold, of all or of the list.", TSL_U64,
     0, true, -1, THRESHOLD},
    {"volumes", "^3", "Volume of each frame's cell; 0: none.", TSL_F64, 0, true, -1, ALWAYS},
    {"rdf_frames", "1", "g(r) of each frame: counts over those of an ideal gas in its cell.",
     TSL_F64, 1, true, SLOTS, OF_CELLS},
    {"weighted_counts_frames", "1", "Sums of the weights of each frame's pairs in the bin.",
     TSL_F64, 1, true, SLOTS, WEIGHTED},
    {"distances", "", "Distance of each pair of the list in each frame, of nearest images.",
     TSL_F64, 1, true, LISTED, OF_LIST},
    {"in_contact", "1", "1: the pair is within the threshold in this frame.", TSL_U8, 1, true,
     LISTED, OF_LIST},
    {"atom_pairs", "1", "Pairs of atoms, numbers from 0, as they are listed.", TSL_I64, 0, false,
     LIST, OF_LIST},
    {"occupancy", "1", "Part of the frames in which each pair is within the threshold.", TSL_F64, 0,
     false, LISTED, OF_LIST},
    {"counts", "1", "Pairs of all frames with their distance in [edges[b], edges[b+1]).", TSL_U64,
     0, false, SLOTS, HISTOGRAM},
    {"weighted_counts", "1", "Sums of the weights of all frames' pairs in the bin.", TSL_F64, 0,
     false, SLOTS, WEIGHTED},
    {"edges", "", "Edges of the bins.", TSL_F64, 0, false, EDGES, HISTOGRAM},
    {"kinds", "1", "Kinds of the pairs of kinds, by number (/run/facts names them).", TSL_I64, 0,
     false, PAIRS, OF_KINDS},
    {"rdf", "1", "Radial distribution g(r), the mean over the frames.", TSL_F64, 0, false, SLOTS,
     OF_CELLS},
    {"rdf_error", "1", "Standard error of rdf, from how frames differ; 0 of one frame.", TSL_F64, 0,
     false, SLOTS, OF_CELLS},
    {"coordination", "1",
     "Neighbours of an atom from the first edge to each bin's end, mean over the frames; with "
     "kinds [the atom's][the neighbours'].",
     TSL_F64, 0, false, KINDS, HISTOGRAM},
    {"coordination_error", "1", "Standard error of coordination, as of rdf.", TSL_F64, 0, false,
     KINDS, HISTOGRAM}};

static bool is_needed(const tri_params *p, int need) {
  const bool histogram = p->output == TRI_HISTOGRAM;
  const bool boxed = p->frames_boxed || p->box[0] > 0;
  return need == ALWAYS || (need == HISTOGRAM && histogram) ||
         (need == OF_CELLS && histogram && boxed) ||
         (need == OF_KINDS && tri_frames_n_kinds(p) > 0) ||
         (need == WEIGHTED && p->frames_weighted) || (need == THRESHOLD && !histogram) ||
         (need == OF_LIST && p->frames_pairs > 0);
}

/** Dimensions of a field. */
static void set_shape(const tri_params *p, const out_field *o, tsl_field *f) {
  const int64_t kinds = tri_frames_n_kinds(p), slots = tri_frames_slots(p);
  int64_t more[3] = {p->bins, 1, 1};
  int n = o->shape < 0 ? 0 : 1;
  if (o->shape == EDGES) more[0] = p->bins + 1;
  if (o->shape == PAIRS) more[0] = slots, more[1] = 2, n = 2;
  if (o->shape == SLOTS && kinds > 0) more[0] = slots, more[1] = p->bins, n = 2;
  if (o->shape == KINDS && kinds > 0) more[0] = more[1] = kinds, more[2] = p->bins, n = 3;
  if (o->shape == LISTED || o->shape == LIST) more[0] = p->frames_pairs;
  if (o->shape == LIST) more[1] = 2, n = 2;
  if (o->frames) f->shape[f->rank++] = p->frames;
  for (int k = 0; k < n; k++) f->shape[f->rank++] = more[k];
}

static tsl_err add_out(tsl_problem *problem, const out_field *o, const char *unit) {
  const tri_params *p = tri_params_of(problem);
  tsl_field *added = NULL;
  tsl_field field = {.role = TSL_OUT,
                     .type = o->type,
                     .combine = TSL_GATHER,
                     .shape = {1, 1, 1},
                     .stream = o->stream};
  const bool length = o->unit[0] != '1' && strcmp(unit, "1") != 0;
  set_shape(p, o, &field);
  (void)snprintf(field.name, sizeof field.name, "%s", o->name);
  (void)snprintf(field.doc, sizeof field.doc, "%s", o->doc);
  (void)snprintf(field.unit, sizeof field.unit, "%.30s%s", length ? unit : "1",
                 length ? o->unit : "");
  if (strcmp(o->name, "edges") == 0)
    (void)snprintf(field.quantity, sizeof field.quantity, "distance");
  return tsl_problem_add(problem, &field, &added);
}

/* --------------------------------------------------------------------- all */

/** Pairs of atoms of each pair of kinds; without kinds all of them. */
static tsl_err add_pairs(const tri_marks *m, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t kinds = tsl_max(1, tri_frames_n_kinds(p)), slots = tsl_max(1, tri_frames_slots(p));
  double *pairs = NULL, atoms[TRI_MOST_KINDS] = {0};
  TSL_TRY(tsl_alloc(slots, sizeof *pairs, "pairs of kinds", (void **)&pairs));
  for (int64_t i = 0; i < p->n; i++) atoms[m->kind != NULL ? m->kind[i] : 0]++;
  for (int64_t a = 0; a < kinds; a++)
    for (int64_t b = a; b < kinds; b++)
      pairs[tri_frames_pair_of(kinds, a, b)] =
          a != b ? atoms[a] * atoms[b] : atoms[a] * (atoms[a] - 1) / 2;
  TSL_TRY(add_in(problem, "pairs_of_slots", TSL_F64, slots, 1, pairs));
done:
  tsl_free(pairs);
  return err;
}

/** Classes of the atoms, and the slot of each two. */
static tsl_err add_classes(const tri_frames_input *in, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t classes = p->classes;
  int32_t *slots = NULL;
  TSL_TRY(tsl_alloc(tsl_max(1, classes * classes), sizeof *slots, "slots", (void **)&slots));
  for (int64_t a = 0; a < classes; a++)
    for (int64_t b = a; b < classes; b++)
      slots[a * classes + b] = slots[b * classes + a] = (int32_t)tri_frames_pair_of(classes, a, b);
  TSL_TRY(add_in(problem, "classes", TSL_I32, classes > 0 ? p->n : 0, 1,
                 p->frames_weighted ? in->class_of : in->marks.kind));
  TSL_TRY(add_in(problem, "slots", TSL_I32, classes, classes > 0 ? classes : 1, slots));
done:
  tsl_free(slots);
  return err;
}

tsl_err tri_frames_fields(const tri_frames_input *in, const char *unit, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  _Static_assert(sizeof(trajectory_place) == 3 * sizeof(int64_t), "a row of three");
  TSL_TRY(add_in(problem, "path", TSL_U8, (int64_t)strlen(in->path) + 1, 1, in->path));
  TSL_TRY(add_in(problem, "places", TSL_I64, in->t.n, 3, in->t.places));
  TSL_TRY(add_classes(in, problem));
  TSL_TRY(add_pairs(&in->marks, problem));
  TSL_TRY(add_in(problem, "names", TSL_U8, p->frames_named ? p->n : 0, TRAJECTORY_NAME, in->names));
  TSL_TRY(add_in(problem, "list", TSL_I64, in->n_pairs, 2, in->pairs));
  TSL_TRY(tri_frames_add_weights(in, problem));
  for (size_t k = 0; k < sizeof outs / sizeof *outs; k++)
    if (is_needed(p, outs[k].need)) TSL_TRY(add_out(problem, &outs[k], unit));
done:
  return err;
}
