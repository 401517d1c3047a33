/* Trajectories: which reader a file has. */
#include "trajectory.h"

#include "file_name.h"
#include "table_range.h"

#include <stdio.h>
#include <string.h>

struct trajectory_reader {
  int32_t format;
  void *state;
};

tsl_err trajectory_scan(const char *path, trajectory *t) {
  static const char *const others[] = {".xtc", ".trr", ".dcd", ".pdb", ".gro", ".nc", ".lammpstrj"};
  tsl_err err = TSL_OK;
  bool known = false;
  *t = (trajectory){.format = TRAJECTORY_LIBRARY};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) known |= tsl_ends_in(path, others[k]);
  if (tsl_ends_in(path, ".xyz") || tsl_ends_in(path, ".extxyz")) {
    t->format = TRAJECTORY_XYZ;
    TSL_TRY(trajectory_xyz_scan(path, t));
  } else if (known) {
    TSL_TRY(trajectory_library_scan(path, t));
  } else {
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: frames are read of files whose names end in .xyz, .extxyz, .xtc, .trr, .dcd, "
             ".pdb, .gro, .nc or .lammpstrj",
             path);
  }
done:
  if (err != TSL_OK) trajectory_clear(t);
  return err;
}

void trajectory_clear(trajectory *t) {
  TSL_FREE_ALL(t->places, t->cells);
  *t = (trajectory){.n = 0};
}

tsl_err trajectory_frame_create(int64_t n, bool names, trajectory_frame *frame) {
  tsl_err err = TSL_OK;
  *frame = (trajectory_frame){.n = n};
  TSL_TRY(tsl_alloc(3 * n, sizeof *frame->at, "places of a frame", (void **)&frame->at));
  if (names) TSL_TRY(tsl_alloc(n, sizeof *frame->names, "names of atoms", (void **)&frame->names));
done:
  return err;
}

void trajectory_frame_clear(trajectory_frame *frame) {
  TSL_FREE_ALL(frame->at, frame->names);
  *frame = (trajectory_frame){.n = 0};
}

tsl_err trajectory_open(const char *path, int32_t format, int64_t bytes,
                        trajectory_reader **reader) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(1, sizeof **reader, "a reader of frames", (void **)reader));
  (*reader)->format = format;
  TSL_TRY(format == TRAJECTORY_XYZ ? trajectory_xyz_open(path, &(*reader)->state)
                                   : trajectory_library_open(path, bytes, &(*reader)->state));
done:
  if (err != TSL_OK) trajectory_close(reader);
  return err;
}

void trajectory_close(trajectory_reader **reader) {
  trajectory_reader *r = *reader;
  if (r == NULL) return;
  if (r->format == TRAJECTORY_XYZ)
    trajectory_xyz_close(r->state);
  else
    trajectory_library_close(r->state);
  tsl_free(r);
  *reader = NULL;
}

tsl_err trajectory_read(trajectory_reader *r, const trajectory_place *place,
                        trajectory_frame *frame) {
  return r->format == TRAJECTORY_XYZ ? trajectory_xyz_read(r->state, place, frame)
                                     : trajectory_library_read(r->state, place, frame);
}

tsl_err trajectory_choose(const char *which, trajectory *t) {
  tsl_err err = TSL_OK;
  table_range r;
  int64_t n = 0;
  char why[256];
  if (table_range_parse(which, t->n, &r) != TSL_OK) {
    (void)snprintf(why, sizeof why, "%s", tsl_err_message());
    TSL_FAIL(TSL_ERR_INPUT, "%s%s%s", why, t->note[0] != '\0' ? "; " : "", t->note);
  }
  for (int64_t k = r.first - 1; k < r.last; n++) {
    t->places[n] = t->places[k];
    if (k < t->n_cells) t->cells[n] = t->cells[k];
    k = r.step < r.last - k ? k + r.step : r.last;
  }
  if (t->n_cells == t->n) t->n_cells = n;
  t->n = n;
done:
  return err;
}
