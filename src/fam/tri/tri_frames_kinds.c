/* Kinds of a trajectory's atoms: its own symbols, those of another file, or words of a text. */
#include "tri_frames_own.h"

#include "file_name.h"

#include <stdio.h>
#include <string.h>

/** Names of the atoms of a file's first frame. @param[out] names  [n_atoms], tsl_free() frees */
static tsl_err read_names(const char *path, const trajectory *t, trajectory_name **names) {
  tsl_err err = TSL_OK;
  trajectory_reader *reader = NULL;
  trajectory_frame frame = {.n = 0};
  TSL_TRY(trajectory_open(path, t->format, t->bytes, &reader));
  TSL_TRY(trajectory_frame_create(t->n_atoms, true, &frame));
  TSL_TRY(trajectory_read(reader, &t->places[0], &frame));
  *names = frame.names;
  frame.names = NULL;
done:
  trajectory_close(&reader);
  trajectory_frame_clear(&frame);
  return err;
}

/** A file of atoms, not a text of words? */
static bool has_atoms(const char *path) {
  static const char *const endings[] = {".xyz", ".extxyz", ".pdb", ".gro"};
  bool has = false;
  for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
    has |= tsl_ends_in(path, endings[k]);
  return has;
}

/** Kinds by the names of another file's atoms. */
static tsl_err read_other(const char *path, int64_t n, tri_marks *marks) {
  tsl_err err = TSL_OK;
  trajectory t = {.n = 0};
  trajectory_name *names = NULL;
  TSL_TRY(trajectory_scan(path, &t));
  if (t.n_atoms != n)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld atoms, the frames have %lld", path, (long long)t.n_atoms,
             (long long)n);
  TSL_TRY(read_names(path, &t, &names));
  TSL_TRY(tri_marks_name(n, (const tri_kind_name *)names, marks));
done:
  tsl_free(names);
  trajectory_clear(&t);
  return err;
}

static tsl_err read_file(const tsl_deck *deck, const tri_deck *s, tri_frames_input *in) {
  tsl_err err = TSL_OK;
  char *path = NULL;
  tri_deck words = *s; /* columns are none of a trajectory's */
  words.input.kind_column = words.input.region_column = words.input.weight_column = -1;
  words.input.weight_file = NULL;
  TSL_TRY(tsl_deck_path(deck, s->input.kind_file, &path));
  if (has_atoms(path))
    TSL_TRY(
        tsl_deck_blame(deck, "tri.input.kind_file", read_other(path, in->t.n_atoms, &in->marks)));
  else
    TSL_TRY(tri_marks_read(deck, &words, TABLE_FORMAT_XYZ, in->t.n_atoms, &in->marks));
done:
  tsl_free(path);
  return err;
}

static tsl_err read_own(tri_frames_input *in) {
  tsl_err err = TSL_OK;
  const trajectory *t = &in->t;
  _Static_assert(sizeof(trajectory_name) == sizeof(tri_kind_name), "one is the other");
  TSL_TRY(read_names(in->path, t, &in->names));
  TSL_TRY(tri_marks_name(t->n_atoms, (const tri_kind_name *)in->names, &in->marks));
done:
  return err;
}

tsl_err tri_frames_kinds(const tsl_deck *deck, const tri_deck *s, tri_frames_input *in,
                         tri_params *p) {
  tsl_err err = TSL_OK;
  const bool own = s->input.symbols, file = s->input.kind_file != NULL;
  if (!own && !file) goto done;
  if (own && file)
    TSL_DECK_FAIL(deck, "tri.input.symbols", "kinds come from one of kind_file and symbols");
  if (p->output != TRI_HISTOGRAM)
    TSL_DECK_FAIL(deck, own ? "tri.input.symbols" : "tri.input.kind_file",
                  "kinds are of output histogram; remove it");
  TSL_TRY(own ? tsl_deck_blame(deck, "tri.input.symbols", read_own(in)) : read_file(deck, s, in));
  p->classes = in->marks.kinds;
  p->frames_named = own;
  p->slots = (int64_t)p->classes * (p->classes + 1) / 2;
  if (tri_cells_of(p) > TRI_FRAMES_MOST_CELLS)
    TSL_DECK_FAIL(deck, "tri.bins", "%lld counts of a frame, of kinds and bins; %d are possible",
                  (long long)tri_cells_of(p), TRI_FRAMES_MOST_CELLS);
done:
  return err;
}

static void note_kinds(const tri_marks *m, tri_own *own) {
  enum { ROOM = TRI_TEXT - 64 };
  size_t used = strlen(own->text);
  used += (size_t)snprintf(own->text + used, TRI_TEXT - used, "kinds:");
  for (int32_t k = 0; k < m->kinds && used < ROOM; k++)
    used += (size_t)snprintf(own->text + used, TRI_TEXT - used, "%s %d %s", k > 0 ? "," : "", k,
                             m->names[k]);
  used += (size_t)snprintf(own->text + used, TRI_TEXT - used, "\natoms of each kind:");
  for (int32_t k = 0; k < m->kinds && used < ROOM; k++)
    used += (size_t)snprintf(own->text + used, TRI_TEXT - used, "%s %.0f", k > 0 ? "," : "",
                             own->totals[2 * k].points);
  (void)snprintf(own->text + used, TRI_TEXT - used, "\n");
}

tsl_err tri_frames_keep_kinds(tri_frames_input *in, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_marks *m = &in->marks;
  tri_own *own = problem->own;
  if (m->kind == NULL) goto done;
  own->kinds = m->kinds, own->regions = 1;
  TSL_TRY(tsl_alloc((int64_t)m->kinds * 2, sizeof *own->totals, "atoms of kinds",
                    (void **)&own->totals));
  for (int64_t i = 0; i < m->n; i++) own->totals[2 * (int64_t)m->kind[i]].points++;
  note_kinds(m, own);
  own->names = m->names;
  in->marks.names = NULL;
done:
  return err;
}

void tri_frames_input_clear(tri_frames_input *in) {
  TSL_FREE_ALL(in->path, in->names, in->pairs, in->classes, in->class_of);
  trajectory_clear(&in->t);
  tri_marks_clear(&in->marks);
  *in = (tri_frames_input){.path = NULL};
}
