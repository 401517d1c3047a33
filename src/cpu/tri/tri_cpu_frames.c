/**
 * @file tri_cpu_frames.c
 * Atoms are sorted into the cells of a grid. What a cell must look at is gathered once, without
 * gaps, and swept by each of its atoms; bins are counted one by one in several copies, so that
 * equal neighbours do not wait for each other.
 */
#include "tri_cpu_frames.h"

#include "integers.h"
#include "tri_cpu.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
  SWEEP = 1024, /**< atoms gathered before a cell's atoms sweep them: fits the first cache level */
  COPIES = 8,
  FEW_BINS = 1024 /**< with more of them there is one copy */
};

/** Places, from one tsl_alloc, and with kinds those of the atoms. */
typedef struct atoms {
  uint32_t *u[3];
  int32_t *kind; /**< NULL: all are alike */
} atoms;

/** What a thread counts with. */
typedef struct counter {
  atoms near;      /**< [SWEEP + TRI_FRAME_LAP] gathered */
  int64_t n;       /**< gathered */
  int32_t *bin;    /**< [SWEEP + TRI_FRAME_LAP] */
  uint32_t *few;   /**< [copies][slots][bins + 1] */
  uint64_t *all;   /**< [slots][bins + 1] */
  int64_t counted; /**< in few */
  char apart[128]; /**< from the next one's */
} counter;

/** A frame under way. */
typedef struct seat {
  tri_frames_slot slot;
  atoms sorted;   /**< [n + TRI_FRAME_LAP] */
  int32_t *cell;  /**< [n] of each atom */
  int64_t *first; /**< [room] where cells begin, and the end */
  int64_t room;
  uint64_t *counts; /**< [slots][bins] of the frame */
} seat;

typedef struct tri_frames_cpu {
  const tsl_problem *problem;
  const tri_params *p;
  tri_frame_bins bins;
  int threads;
  int copies;
  int64_t slots;     /**< 1 without kinds */
  int64_t room;      /**< slots (bins + 1) */
  int32_t *place_of; /**< with kinds [classes][classes] where the counts of two begin; or NULL */
  seat *seats;       /**< [threads], made when they are used */
  counter *counters; /**< [threads] */
} tri_frames_cpu;

/* ------------------------------------------------------------------ memory */

static tsl_err atoms_create(const tri_frames_cpu *w, int64_t room, atoms *a) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(3 * room, sizeof *a->u[0], "atoms", (void **)&a->u[0]));
  if (w->place_of != NULL)
    TSL_TRY(tsl_alloc(room, sizeof *a->kind, "kinds of atoms", (void **)&a->kind));
  a->u[1] = a->u[0] + room;
  a->u[2] = a->u[1] + room;
done:
  return err;
}

static tsl_err counter_create(const tri_frames_cpu *w, counter *c) {
  enum { ROOM = SWEEP + TRI_FRAME_LAP };
  tsl_err err = TSL_OK;
  TSL_TRY(atoms_create(w, ROOM, &c->near));
  TSL_TRY(tsl_alloc(ROOM, sizeof *c->bin, "bins", (void **)&c->bin));
  TSL_TRY(tsl_alloc(w->room * w->copies, sizeof *c->few, "counts", (void **)&c->few));
  TSL_TRY(tsl_alloc(w->room, sizeof *c->all, "counts", (void **)&c->all));
done:
  return err;
}

static tsl_err seat_create(const tri_frames_cpu *w, seat *s) {
  tsl_err err = TSL_OK;
  if (s->counts != NULL) goto done;
  TSL_TRY(tri_frames_slot_create(w->problem, &s->slot));
  TSL_TRY(atoms_create(w, w->p->n + TRI_FRAME_LAP, &s->sorted));
  TSL_TRY(tsl_alloc(w->p->n, sizeof *s->cell, "cells of atoms", (void **)&s->cell));
  TSL_TRY(tsl_alloc(tri_cells_of(w->p), sizeof *s->counts, "counts", (void **)&s->counts));
done:
  return err;
}

static void seat_clear(seat *s) {
  tri_frames_slot_clear(&s->slot);
  TSL_FREE_ALL(s->sorted.u[0], s->sorted.kind, s->cell, s->first, s->counts);
}

void tri_frames_close_cpu(tri_frames_cpu **frames) {
  tri_frames_cpu *w = *frames;
  if (w == NULL) return;
  for (int k = 0; k < w->threads && w->seats != NULL; k++) seat_clear(&w->seats[k]);
  for (int k = 0; k < w->threads && w->counters != NULL; k++) {
    counter *c = &w->counters[k];
    TSL_FREE_ALL(c->near.u[0], c->near.kind, c->bin, c->few, c->all);
  }
  TSL_FREE_ALL(w->seats, w->counters, w->place_of, w);
  *frames = NULL;
}

/** Where the counts of two kinds begin. */
static tsl_err set_places(tri_frames_cpu *w) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)w->p->classes * w->p->classes;
  const int32_t *slots = w->problem->fields[TRI_FRAMES_SLOTS].data;
  if (n == 0) goto done;
  TSL_TRY(tsl_alloc(n, sizeof *w->place_of, "places of counts", (void **)&w->place_of));
  for (int64_t k = 0; k < n; k++) w->place_of[k] = slots[k] * (w->p->bins + 1);
done:
  return err;
}

tsl_err tri_frames_open_cpu(const tsl_problem *problem, int threads, tri_frames_cpu **out) {
  tsl_err err = TSL_OK;
  tri_frames_cpu *w = NULL;
  int level = 0;
  TSL_TRY(tsl_alloc(1, sizeof *w, "a worker of frames", (void **)&w));
  *w = (tri_frames_cpu){.problem = problem, .p = tri_params_of(problem), .threads = threads};
  TSL_TRY(tsl_cpu_level_use(&level));
  w->bins = tri_frame_kernels_at(level)->bins[w->p->type == TSL_F64];
  w->slots = tsl_max(1, w->p->slots);
  w->room = w->slots * (w->p->bins + 1);
  w->copies = w->room <= FEW_BINS + 1 ? COPIES : 1;
  TSL_TRY(set_places(w));
  TSL_TRY(tsl_alloc(threads, sizeof *w->seats, "frames", (void **)&w->seats));
  TSL_TRY(tsl_alloc(threads, sizeof *w->counters, "counters", (void **)&w->counters));
  for (int k = 0; k < threads; k++) TSL_TRY(counter_create(w, &w->counters[k]));
done:
  if (err != TSL_OK) tri_frames_close_cpu(&w);
  *out = w;
  return err;
}

/* ------------------------------------------------------------------- counts */

static void flush(const tri_frames_cpu *w, counter *c) {
  const int64_t room = w->room;
  for (int k = 0; k < w->copies; k++)
    for (int64_t b = 0; b < room; b++) c->all[b] += c->few[k * room + b];
  memset(c->few, 0, (size_t)(w->copies * room) * sizeof *c->few);
  c->counted = 0;
}

/** Atom i of those that are sorted, and n <= SWEEP others. */
static void sweep(const tri_frames_cpu *w, const tri_frame_view *view, counter *c,
                  const atoms *sorted, int64_t i, const atoms *others, int64_t first, int64_t n) {
  const uint32_t at[3] = {sorted->u[0][i], sorted->u[1][i], sorted->u[2][i]};
  if (n <= 0) return;
  if (c->counted + n > UINT32_MAX) flush(w, c);
  c->counted += n;
  w->bins(view, at, others->u[0] + first, others->u[1] + first, others->u[2] + first, n, c->bin);
  if (w->place_of != NULL) {
    const int32_t *row = w->place_of + (int64_t)sorted->kind[i] * w->p->classes;
    for (int64_t k = 0; k < n; k++) c->bin[k] += row[others->kind[first + k]];
  }
  if (w->copies == COPIES)
    tri_count_8(c->bin, n, c->few, w->room);
  else
    for (int64_t k = 0; k < n; k++) c->few[c->bin[k]]++;
}

/* -------------------------------------------------------------------- cells */

/** The atoms [lo, hi) of a cell and all that is gathered. */
static void sweep_gathered(const tri_frames_cpu *w, const tri_frame_view *view, counter *c,
                           const seat *s, int64_t lo, int64_t hi) {
  for (int64_t i = lo; i < hi; i++) sweep(w, view, c, &s->sorted, i, &c->near, 0, c->n);
  c->n = 0;
}

/** Gather the atoms [from, to) for those of the cell [lo, hi). */
static void gather(const tri_frames_cpu *w, const tri_frame_view *view, counter *c, const seat *s,
                   int64_t lo, int64_t hi, int64_t from, int64_t to) {
  while (from < to) {
    const int64_t n = tsl_min(to - from, SWEEP - c->n);
    for (int k = 0; k < 3; k++)
      for (int64_t j = 0; j < n; j++) c->near.u[k][c->n + j] = s->sorted.u[k][from + j];
    for (int64_t j = 0; j < n && w->place_of != NULL; j++)
      c->near.kind[c->n + j] = s->sorted.kind[from + j];
    c->n += n, from += n;
    if (c->n == SWEEP) sweep_gathered(w, view, c, s, lo, hi);
  }
}

/** Pairs within a cell. */
static void sweep_own(const tri_frames_cpu *w, const tri_frame_view *view, counter *c,
                      const seat *s, int64_t lo, int64_t hi) {
  for (int64_t i = lo; i < hi; i++)
    for (int64_t j = i + 1; j < hi; j += SWEEP)
      sweep(w, view, c, &s->sorted, i, &s->sorted, j, tsl_min(hi - j, SWEEP));
}

/** Cell k of a row of cells, and all cells after it that are near. */
static void take_cell(const tri_frames_cpu *w, const tri_frame_view *view, counter *c,
                      const seat *s, int64_t row, int32_t k) {
  const tri_frame *f = &s->slot.frame;
  const int64_t n1 = f->cells[0], n2 = f->cells[1], n3 = f->cells[2];
  const int64_t lo = s->first[row * n1 + k], hi = s->first[row * n1 + k + 1];
  if (lo == hi) return;
  sweep_own(w, view, c, s, lo, hi);
  for (int t = 0; t < f->n_steps; t++) {
    const tri_step *step = &f->steps[t];
    const int64_t other = (row / n2 + step->d3) % n3 * n2 + (row % n2 + step->d2) % n2;
    int32_t a, b;
    if (other < row) continue;
    const int32_t rest = tri_step_run(step, (int32_t)n1, k, &a, &b);
    if (other == row) { /* cells after this one */
      if (rest > k) gather(w, view, c, s, lo, hi, hi, s->first[row * n1 + rest + 1]);
      a = a > k ? a : k + 1;
    } else if (rest >= 0) {
      gather(w, view, c, s, lo, hi, s->first[other * n1], s->first[other * n1 + rest + 1]);
    }
    if (a <= b)
      gather(w, view, c, s, lo, hi, s->first[other * n1 + a], s->first[other * n1 + b + 1]);
  }
  if (c->n > 0) sweep_gathered(w, view, c, s, lo, hi);
}

/** Sort the atoms of a frame by cells: counted, then put. */
static tsl_err sort(const tri_frames_cpu *w, seat *s) {
  tsl_err err = TSL_OK;
  const tri_frame *f = &s->slot.frame;
  const int32_t *kind = w->problem->fields[TRI_FRAMES_CLASSES].data;
  const int64_t cells = (int64_t)f->cells[0] * f->cells[1] * f->cells[2], n = w->p->n;
  if (cells + 2 > s->room) {
    tsl_free(s->first);
    s->first = NULL, s->room = 0;
    TSL_TRY(tsl_alloc(cells + 2, sizeof *s->first, "cells", (void **)&s->first));
    s->room = cells + 2;
  }
  memset(s->first, 0, (size_t)(cells + 2) * sizeof *s->first);
  for (int64_t i = 0; i < n; i++) {
    int32_t at[3];
    for (int k = 0; k < 3; k++) at[k] = tri_frame_cell(f->u[k][i], f->cells[k]);
    s->cell[i] = (at[2] * f->cells[1] + at[1]) * f->cells[0] + at[0];
    s->first[s->cell[i] + 2]++;
  }
  for (int64_t k = 2; k < cells + 2; k++) s->first[k] += s->first[k - 1];
  for (int64_t i = 0; i < n; i++) {
    const int64_t to = s->first[s->cell[i] + 1]++;
    for (int k = 0; k < 3; k++) s->sorted.u[k][to] = f->u[k][i];
    if (s->sorted.kind != NULL) s->sorted.kind[to] = kind[i];
  }
done:
  return err;
}

/** All pairs of a sorted frame, by `team` threads with the counters from counters on. */
static void count_frame(const tri_frames_cpu *w, seat *s, counter *counters, int team) {
  const tri_params *p = w->p;
  const tri_frame *f = &s->slot.frame;
  tri_frame_view view = {.lo = p->range_lo,
                         .hi = p->range_hi,
                         .inv_width = p->bins / (p->range_hi - p->range_lo),
                         .bins = p->bins};
  const int64_t rows = (int64_t)f->cells[1] * f->cells[2];
  memcpy(view.m, f->m, sizeof view.m);
#pragma omp parallel for schedule(dynamic, 4) num_threads(team) if (team > 1)
  for (int64_t row = 0; row < rows; row++)
    for (int32_t k = 0; k < f->cells[0]; k++)
      take_cell(w, &view, &counters[team > 1 ? omp_get_thread_num() : 0], s, row, k);
  memset(s->counts, 0, (size_t)tri_cells_of(p) * sizeof *s->counts);
  for (int t = 0; t < team; t++) {
    flush(w, &counters[t]);
    for (int64_t k = 0; k < w->slots; k++)
      for (int64_t b = 0; b < p->bins; b++)
        s->counts[k * p->bins + b] += counters[t].all[k * (p->bins + 1) + b + 1];
    memset(counters[t].all, 0, (size_t)w->room * sizeof *counters[t].all);
  }
}

/* ------------------------------------------------------------------- frames */

/** A frame of a unit. */
typedef struct errand {
  int64_t unit, frame;
} errand;

static tsl_err run_frame(const tri_frames_cpu *w, const tsl_unit *units, const errand *e,
                         double slow, int place, int team, tsl_part *parts) {
  tsl_err err = TSL_OK;
  seat *s = &w->seats[place];
  const double start = tsl_cpu_seconds();
  TSL_TRY(seat_create(w, s));
  TSL_TRY(tri_frames_slot_read(w->problem, e->frame, &s->slot));
  if (w->p->frames_pairs > 0) {
    tri_frames_put_pairs(w->problem, &units[e->unit], e->frame, &s->slot, &parts[e->unit]);
  } else {
    TSL_TRY(sort(w, s));
    count_frame(w, s, w->counters + (int64_t)place * team, team);
    tri_frames_put(w->problem, &units[e->unit], e->frame, s->slot.frame.volume, s->counts,
                   &parts[e->unit]);
  }
  (void)tsl_cpu_unit_seconds(start, slow, 1); /* waits, in tests */
done:
  return err;
}

tsl_err tri_frames_run_cpu(tri_frames_cpu *w, const tsl_unit *units, int64_t n, double slow,
                           tsl_part *parts) {
  tsl_err err = TSL_OK;
  tri_failure first = {.code = TSL_OK};
  const double start = tsl_cpu_seconds();
  errand *errands = NULL;
  int64_t m = 0;
  for (int64_t u = 0; u < n; u++) m += units[u].hi[0] - units[u].lo[0];
  TSL_TRY(tsl_alloc(m, sizeof *errands, "frames", (void **)&errands));
  m = 0;
  for (int64_t u = 0; u < n; u++)
    for (int64_t k = units[u].lo[0]; k < units[u].hi[0]; k++) errands[m++] = (errand){u, k};
  const int places = (int)tsl_max(1, tsl_min(w->threads, m)), team = w->threads / places;
  if (team > 1) omp_set_max_active_levels(2);
#pragma omp parallel for schedule(dynamic, 1) num_threads(places)
  for (int64_t k = 0; k < m; k++) {
    if (tri_failure_is(&first)) continue;
    const tsl_err failed =
        run_frame(w, units, &errands[k], slow, omp_get_thread_num(), team, parts);
    if (failed != TSL_OK) tri_failure_note(&first, failed);
  }
  TSL_TRY(tri_failure_take(&first));
  const double seconds = tsl_cpu_seconds() - start;
  for (int64_t u = 0; u < n; u++)
    parts[u].seconds = m > 0 ? seconds * (double)(units[u].hi[0] - units[u].lo[0]) / (double)m : 0;
done:
  tsl_free(errands);
  return err;
}
