/* Frames through the C interface of libchemfiles (Fraux and others, chemfiles.org), 0.10. */
#include "trajectory.h"

#include "file_name.h"
#include "table_read.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/** Its functions that are used; handles are opaque, status 0 is good. */
typedef struct interface {
  const char *(*version)(void);
  const char *(*last_error)(void);
  int (*set_warning_callback)(void (*callback)(const char *));
  int (*free)(const void *handle);
  void *(*trajectory_open)(const char *path, char mode);
  void *(*trajectory_memory_reader)(const char *memory, uint64_t bytes, const char *format);
  int (*trajectory_close)(const void *trajectory);
  int (*trajectory_nsteps)(void *trajectory, uint64_t *n);
  int (*trajectory_read_step)(void *trajectory, uint64_t step, void *frame);
  void *(*frame)(void);
  int (*frame_positions)(void *frame, double (**at)[3], uint64_t *n);
  const void *(*cell_from_frame)(void *frame);
  int (*cell_matrix)(const void *cell, double matrix[3][3]);
  int (*cell_shape)(const void *cell, int *shape);
  const void *(*atom_from_frame)(void *frame, uint64_t index);
  int (*atom_type)(const void *atom, char *type, uint64_t size);
} interface;

enum { SHAPE_INFINITE = 2 };

typedef struct state {
  interface l;
  char *path;
  void *trajectory, *frame;
  void *map; /**< of the file's first bytes, where the others are left out; or MAP_FAILED */
  size_t mapped;
} state;

/* ---------------------------------------------------------------- library */

/** Load it; it stays loaded. */
static tsl_err open_library(const char *path, void **handle) {
  static const char file[] = "libchemfiles.so";
  tsl_err err = TSL_OK;
  const char *folder = getenv("TSL_CHEMFILES");
  char full[4096];
  const bool asked = folder != NULL && folder[0] != '\0';
  if (!asked) folder = TSL_CHEMFILES_FOLDER;
  if (snprintf(full, sizeof full, "%s/%s", folder, file) >= (int)sizeof full)
    TSL_FAIL(TSL_ERR_INPUT, "TSL_CHEMFILES: the folder's name is too long");
  *handle = folder[0] == '\0' ? NULL : dlopen(full, RTLD_NOW | RTLD_LOCAL);
  if (*handle == NULL && !asked) *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (*handle == NULL)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: this format needs %s, which is not here (%s); install it (PyPI: chemfiles) and "
             "set TSL_CHEMFILES to its folder, or convert the file to extended XYZ",
             path, file, dlerror());
done:
  return err;
}

static void no_warnings(const char *text) {
  (void)text;
}

static tsl_err find_interface(const char *path, interface *l) {
  tsl_err err = TSL_OK;
  void *handle = NULL;
  const struct {
    const char *name;
    void *to;
  } symbols[] = {{"chfl_version", &l->version},
                 {"chfl_last_error", &l->last_error},
                 {"chfl_set_warning_callback", &l->set_warning_callback},
                 {"chfl_free", &l->free},
                 {"chfl_trajectory_open", &l->trajectory_open},
                 {"chfl_trajectory_memory_reader", &l->trajectory_memory_reader},
                 {"chfl_trajectory_close", &l->trajectory_close},
                 {"chfl_trajectory_nsteps", &l->trajectory_nsteps},
                 {"chfl_trajectory_read_step", &l->trajectory_read_step},
                 {"chfl_frame", &l->frame},
                 {"chfl_frame_positions", &l->frame_positions},
                 {"chfl_cell_from_frame", &l->cell_from_frame},
                 {"chfl_cell_matrix", &l->cell_matrix},
                 {"chfl_cell_shape", &l->cell_shape},
                 {"chfl_atom_from_frame", &l->atom_from_frame},
                 {"chfl_atom_type", &l->atom_type}};
  TSL_TRY(open_library(path, &handle));
  for (size_t k = 0; k < sizeof symbols / sizeof symbols[0]; k++) {
    void *found = dlsym(handle, symbols[k].name);
    if (found == NULL)
      TSL_FAIL(TSL_ERR_INPUT, "libchemfiles.so of this host has no %s; chemfiles 0.10 is needed",
               symbols[k].name);
    memcpy(symbols[k].to, &found, sizeof found); /* a function's address, as POSIX has it */
  }
  if (strncmp(l->version(), "0.10.", 5) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "libchemfiles.so of this host is %s; chemfiles 0.10 is needed",
             l->version());
done:
  return err;
}

static tsl_err complain(const state *s, const char *what) {
  char why[256];
  (void)snprintf(why, sizeof why, "%s", s->l.last_error());
  why[strcspn(why, "\n")] = '\0';
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__, "%s: %s (chemfiles: %s)", s->path, what, why);
}

/* ------------------------------------------------------------------ frames */

void trajectory_library_close(void *state_) {
  state *s = state_;
  if (s == NULL) return;
  if (s->frame != NULL) (void)s->l.free(s->frame);
  if (s->trajectory != NULL) (void)s->l.trajectory_close(s->trajectory);
  if (s->map != MAP_FAILED) (void)munmap(s->map, s->mapped);
  TSL_FREE_ALL(s->path, s);
}

/** Of a text with a last frame that is cut off the library sees what is before: it would refuse all
 *  of the file. */
static tsl_err open_trajectory(state *s, int64_t bytes) {
  tsl_err err = TSL_OK;
  const char *const format = tsl_ends_in(s->path, ".gro") ? "GRO" : "LAMMPS";
  FILE *file = NULL;
  int64_t all = 0;
  TSL_TRY(table_file_open(s->path, &file, &all)); /* that it is there, and a regular file */
  if (bytes > 0) {
    s->mapped = (size_t)bytes;
    s->map = mmap(NULL, s->mapped, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    if (s->map == MAP_FAILED) TSL_FAIL(TSL_ERR_IO, "%s: it cannot be mapped", s->path);
    s->trajectory = s->l.trajectory_memory_reader(s->map, (uint64_t)s->mapped, format);
  } else {
    s->trajectory = s->l.trajectory_open(s->path, 'r');
  }
  if (s->trajectory == NULL) TSL_TRY(complain(s, "no trajectory that can be read"));
done:
  if (file != NULL) (void)fclose(file);
  return err;
}

tsl_err trajectory_library_open(const char *path, int64_t bytes, void **out) {
  tsl_err err = TSL_OK;
  state *s = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *s, "a reader of frames", (void **)&s));
  s->map = MAP_FAILED;
  TSL_TRY(tsl_alloc((int64_t)strlen(path) + 1, 1, "a file's name", (void **)&s->path));
  memcpy(s->path, path, strlen(path) + 1);
  TSL_TRY(find_interface(path, &s->l));
  (void)s->l.set_warning_callback(no_warnings);
  TSL_TRY(open_trajectory(s, bytes));
  s->frame = s->l.frame();
  if (s->frame == NULL) TSL_TRY(complain(s, "no memory for a frame"));
done:
  if (err != TSL_OK) trajectory_library_close(s), s = NULL;
  *out = s;
  return err;
}

/** The cell of the frame that was read: rows are vectors here, columns there. */
static tsl_err read_cell(const state *s, trajectory_cell *cell) {
  tsl_err err = TSL_OK;
  double m[3][3];
  int shape = SHAPE_INFINITE;
  const void *handle = s->l.cell_from_frame(s->frame);
  *cell = (trajectory_cell){.given = 0};
  if (handle == NULL || s->l.cell_shape(handle, &shape) != 0 || s->l.cell_matrix(handle, m) != 0)
    TSL_TRY(complain(s, "no cell"));
  if (shape == SHAPE_INFINITE) goto done;
  cell->given = 1;
  for (int k = 0; k < 9; k++) cell->vectors[k % 3][k / 3] = m[k / 3][k % 3];
  for (int k = 0; k < 3; k++) cell->periodic[k] = 1;
done:
  if (handle != NULL) (void)s->l.free(handle);
  return err;
}

/** Types of the atoms of the frame that was read. */
static tsl_err read_names(const state *s, int64_t number, trajectory_frame *frame) {
  tsl_err err = TSL_OK;
  const void *atom = NULL;
  memset(frame->names, 0, (size_t)frame->n * sizeof *frame->names);
  for (int64_t i = 0; i < frame->n; i++) {
    char *const name = frame->names[i];
    atom = s->l.atom_from_frame(s->frame, (uint64_t)i);
    if (atom == NULL || s->l.atom_type(atom, name, TRAJECTORY_NAME) != 0)
      TSL_TRY(complain(s, "no types of atoms"));
    if (name[0] == '\0')
      TSL_FAIL(TSL_ERR_INPUT, "%s: frame %lld: atom %lld (from 0) has no type", s->path,
               (long long)number, (long long)i);
    const size_t used = strlen(name);
    memset(name + used, 0, TRAJECTORY_NAME - used);
    (void)s->l.free(atom);
    atom = NULL;
  }
done:
  if (atom != NULL) (void)s->l.free(atom);
  return err;
}

/** @param[out] at  [n][3] of the library */
static tsl_err read_step(state *s, int64_t number, double (**at)[3], uint64_t *n) {
  tsl_err err = TSL_OK;
  char what[64];
  (void)snprintf(what, sizeof what, "frame %lld cannot be read", (long long)number);
  if (s->l.trajectory_read_step(s->trajectory, (uint64_t)number - 1, s->frame) != 0 ||
      s->l.frame_positions(s->frame, at, n) != 0)
    TSL_TRY(complain(s, what));
done:
  return err;
}

tsl_err trajectory_library_read(void *state_, const trajectory_place *place,
                                trajectory_frame *frame) {
  tsl_err err = TSL_OK;
  state *s = state_;
  double(*at)[3] = NULL;
  uint64_t n = 0;
  TSL_TRY(read_step(s, place->number, &at, &n));
  if ((int64_t)n != frame->n)
    TSL_FAIL(TSL_ERR_INPUT, "%s: frame %lld has %lld atoms, the first one %lld", s->path,
             (long long)place->number, (long long)n, (long long)frame->n);
  memcpy(frame->at, at, n * sizeof *at);
  TSL_TRY(read_cell(s, &frame->cell));
  if (frame->names != NULL) TSL_TRY(read_names(s, place->number, frame));
done:
  return err;
}

/* ------------------------------------------------------------------- scan */

/** A last frame that cannot be read is left out where others are before it. */
static tsl_err check_last(state *s, trajectory *t) {
  enum { WHY = 120 };
  tsl_err err = TSL_OK;
  double(*at)[3] = NULL;
  uint64_t n = 0;
  if (t->n < 2 || read_step(s, t->n, &at, &n) == TSL_OK) goto done;
  (void)snprintf(t->note, sizeof t->note,
                 "frame %lld cannot be read and is left out (chemfiles: %.*s)", (long long)t->n,
                 WHY, s->l.last_error());
  t->n--;
done:
  return err;
}

/** Frames, as the library and the file's own bytes have them. */
static tsl_err count_frames(state *s, const trajectory_end *end, trajectory *t) {
  tsl_err err = TSL_OK;
  uint64_t n = 0;
  if (s->l.trajectory_nsteps(s->trajectory, &n) != 0) TSL_TRY(complain(s, "frames are not known"));
  if (n == 0) TSL_FAIL(TSL_ERR_INPUT, "%s: a trajectory without frames", s->path);
  if (n > INT64_MAX / 2 || (int64_t)n < end->whole)
    TSL_FAIL(TSL_ERR_INPUT, "%s: chemfiles finds %llu frames where its bytes are those of %lld",
             s->path, (unsigned long long)n, (long long)end->whole);
  t->n = end->whole > 0 ? end->whole : (int64_t)n;
done:
  return err;
}

/** In words, what is left out. */
static void note_end(const trajectory_end *end, trajectory *t) {
  if (end->cut[0] != '\0')
    (void)snprintf(t->note, sizeof t->note, "frame %lld is cut off (%.150s) and left out",
                   (long long)t->n + 1, end->cut);
  else if (end->announced > t->n)
    (void)snprintf(t->note, sizeof t->note,
                   "the header announces %lld frames, of which %lld are there",
                   (long long)end->announced, (long long)t->n);
  else if (end->ended && end->atoms >= 0)
    (void)snprintf(t->note, sizeof t->note,
                   "frame %lld is cut off (%lld of %lld atoms are there, without an END) and left "
                   "out",
                   (long long)t->n + 1, (long long)end->atoms, (long long)t->n_atoms);
  else if (!end->ended)
    (void)snprintf(t->note, sizeof t->note, "frame %lld has no END", (long long)t->n);
}

tsl_err trajectory_library_scan(const char *path, trajectory *t) {
  tsl_err err = TSL_OK;
  state *s = NULL;
  void *memory = NULL;
  double(*at)[3] = NULL;
  uint64_t n = 0;
  trajectory_end end;
  TSL_TRY(trajectory_end_find(path, &end));
  if (end.whole == 0 && end.cut[0] != '\0')
    TSL_FAIL(TSL_ERR_INPUT, "%s: frame 1 is cut off (%s); there is no other", path, end.cut);
  t->bytes = end.keep;
  TSL_TRY(trajectory_library_open(path, t->bytes, &memory));
  s = memory;
  TSL_TRY(count_frames(s, &end, t));
  TSL_TRY(check_last(s, t));
  TSL_TRY(tsl_alloc(t->n, sizeof *t->places, "frames", (void **)&t->places));
  TSL_TRY(tsl_alloc(t->n, sizeof *t->cells, "cells of frames", (void **)&t->cells));
  for (int64_t k = 0; k < t->n; k++) t->places[k].number = k + 1;
  TSL_TRY(read_step(s, 1, &at, &n));
  if (n == 0 || n > (uint64_t)TABLE_MAX_ROWS)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %llu atoms", path, (unsigned long long)n);
  t->n_atoms = (int64_t)n;
  TSL_TRY(read_cell(s, &t->cells[0]));
  t->n_cells = 1;
  if (t->note[0] == '\0') note_end(&end, t);
done:
  trajectory_library_close(s);
  return err;
}
