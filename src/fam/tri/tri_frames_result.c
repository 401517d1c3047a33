/* What the frames say together: means, and how sure they are. */
#include "integers.h"
#include "tri_frames_own.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double edge(const tri_params *p, int64_t b) {
  return p->range_lo + (p->range_hi - p->range_lo) * ((double)b / (double)p->bins);
}

double tri_frames_ideal(const tri_params *p, double pairs, double volume, int64_t b) {
  const double pi = 3.14159265358979323846, inner = edge(p, b), outer = edge(p, b + 1);
  const double shell =
      4.0 / 3.0 * pi * (outer - inner) * (outer * outer + outer * inner + inner * inner);
  return pairs * (shell / volume);
}

double tri_frames_rdf(const tri_params *p, uint64_t count, double pairs, double volume, int64_t b) {
  const double ideal = volume > 0 ? tri_frames_ideal(p, pairs, volume, b) : 0;
  return ideal > 0 ? (double)count / ideal : 0;
}

/** Mean and standard error of a bin, frame after frame (Welford, Technometrics 4, 1962, 419). */
typedef struct moments {
  double *mean, *error; /**< [bins]; error: the sum of squares until the end */
} moments;

static void add_value(const moments *m, int64_t b, int64_t n, double value) {
  const double off = value - m->mean[b];
  m->mean[b] += off / (double)n;
  m->error[b] += off * (value - m->mean[b]);
}

static void end_moments(const moments *m, int64_t bins, int64_t n) {
  for (int64_t b = 0; b < bins; b++)
    m->error[b] = n > 1 ? sqrt(m->error[b] / ((double)n * (double)(n - 1))) : 0;
}

tsl_err tri_frames_derived(tsl_problem *problem, const char *name, void *out) {
  tsl_err err = TSL_OK;
  const int f = tsl_problem_find(problem, name);
  void *data = NULL;
  if (f < 0) goto done;
  tsl_field *field = &problem->fields[f];
  TSL_TRY(tsl_field_allocate(field));
  data = field->data;
  memset(data, 0, (size_t)tsl_field_bytes(field));
done:
  memcpy(out, &data, sizeof data);
  return err;
}

/** What is derived, and rows on their way. */
typedef struct totals {
  const double *pairs; /**< [slots] */
  uint64_t *counts;    /**< [slots][bins] */
  double *edges;
  int64_t (*kinds)[2];       /**< [slots]; NULL: no kinds */
  moments rdf, coordination; /**< [slots][bins], [kinds][kinds][bins] */
  int64_t n_rows;
  uint64_t *rows;          /**< [n_rows][slots][bins] */
  double *volumes;         /**< [n_rows] */
  double *weighted, *sums; /**< with weights: [slots][bins] of all, [n_rows][slots][bins] */
} totals;

/** A pair of kinds has `within` pairs up to the end of bin b: neighbours of an atom of each. */
static void add_neighbours(const tsl_problem *problem, const totals *t, const int64_t kinds[2],
                           int64_t b, int64_t number, double within) {
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  const int64_t n = tsl_max(1, tri_frames_n_kinds(p));
  for (int turn = 0; turn < (kinds[0] == kinds[1] ? 1 : 2); turn++) {
    const int64_t of = kinds[turn], other = kinds[1 - turn];
    const double atoms = tri_frames_n_kinds(p) > 0 ? own->totals[2 * of].points : (double)p->n;
    add_value(&t->coordination, (of * n + other) * p->bins + b, number,
              (of == other ? 2 : 1) * within / atoms);
  }
}

static void add_frame(const tsl_problem *problem, const totals *t, int64_t number, int64_t row) {
  static const int64_t alike[2] = {0, 0};
  const tri_params *p = tri_params_of(problem);
  const uint64_t *counts = t->rows + row * tri_frames_cells(p);
  for (int64_t slot = 0; slot < tsl_max(1, tri_frames_slots(p)); slot++) {
    uint64_t within = 0;
    for (int64_t b = 0; b < p->bins; b++) {
      const int64_t cell = slot * p->bins + b;
      within += counts[cell];
      t->counts[cell] += counts[cell];
      if (t->sums != NULL) t->weighted[cell] += t->sums[row * tri_frames_cells(p) + cell];
      add_neighbours(problem, t, t->kinds != NULL ? t->kinds[slot] : alike, b, number,
                     (double)within);
      if (t->rdf.mean != NULL)
        add_value(&t->rdf, cell, number,
                  tri_frames_rdf(p, counts[cell], t->pairs[slot], t->volumes[row], b));
    }
  }
}

static tsl_err open_totals(tsl_problem *problem, totals *t) {
  enum { ROWS = 64, CELLS = 1 << 22 };
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t cells = tri_frames_cells(p);
  t->n_rows = tsl_max(1, tsl_min(ROWS, CELLS / cells));
  t->pairs = problem->fields[TRI_FRAMES_PAIRS].data;
  TSL_TRY(tri_frames_derived(problem, "counts", &t->counts));
  TSL_TRY(tri_frames_derived(problem, "edges", &t->edges));
  TSL_TRY(tri_frames_derived(problem, "kinds", &t->kinds));
  TSL_TRY(tri_frames_derived(problem, "rdf", &t->rdf.mean));
  TSL_TRY(tri_frames_derived(problem, "rdf_error", &t->rdf.error));
  TSL_TRY(tri_frames_derived(problem, "coordination", &t->coordination.mean));
  TSL_TRY(tri_frames_derived(problem, "coordination_error", &t->coordination.error));
  TSL_TRY(tsl_alloc(t->n_rows * cells, sizeof *t->rows, "rows", (void **)&t->rows));
  TSL_TRY(tsl_alloc(t->n_rows, sizeof *t->volumes, "rows", (void **)&t->volumes));
  TSL_TRY(tri_frames_derived(problem, "weighted_counts", &t->weighted));
  if (p->frames_weighted)
    TSL_TRY(tsl_alloc(t->n_rows * cells, sizeof *t->sums, "rows", (void **)&t->sums));
  for (int64_t b = 0; b <= p->bins; b++) t->edges[b] = edge(p, b);
  for (int64_t slot = 0; slot < tri_frames_slots(p); slot++)
    tri_kinds_of_pair(p, problem->own, slot, t->kinds[slot]);
done:
  return err;
}

tsl_err tri_frames_finish(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t kinds = tsl_max(1, tri_frames_n_kinds(p));
  const int weighted = tsl_problem_find(problem, "weighted_counts_frames");
  totals t = {.counts = NULL};
  if (p->frames_pairs > 0) TSL_TRY(tri_frames_finish_pairs(problem, store));
  if (p->output != TRI_HISTOGRAM) goto done;
  TSL_TRY(open_totals(problem, &t));
  for (int64_t k = 0; k < p->frames; k += t.n_rows) {
    const int64_t end = tsl_min(k + t.n_rows, p->frames);
    TSL_TRY(store->read(store->state, TRI_FRAMES_ROWS, k, end, t.rows));
    TSL_TRY(store->read(store->state, TRI_FRAMES_VOLUMES, k, end, t.volumes));
    if (t.sums != NULL) TSL_TRY(store->read(store->state, weighted, k, end, t.sums));
    for (int64_t f = k; f < end; f++) add_frame(problem, &t, f + 1, f - k);
  }
  end_moments(&t.coordination, kinds * kinds * p->bins, p->frames);
  if (t.rdf.mean != NULL) end_moments(&t.rdf, tri_frames_cells(p), p->frames);
done:
  TSL_FREE_ALL(t.rows, t.volumes, t.sums);
  return err;
}

/* ---------------------------------------------------------------- summary */

/** Highest g(r) among bins in which an ideal gas has enough pairs to tell it from noise.
 *  @param[in] of  " O-H", or "" */
static void add_peak(const tsl_problem *problem, int64_t slot, const char *of,
                     tsl_summary *summary) {
  enum { ENOUGH = 100 };
  const tri_params *p = tri_params_of(problem);
  const int f = tsl_problem_find(problem, "rdf"), g = tsl_problem_find(problem, "rdf_error");
  const double *volumes = problem->fields[TRI_FRAMES_VOLUMES].data;
  const double pairs = ((const double *)problem->fields[TRI_FRAMES_PAIRS].data)[slot];
  int64_t peak = -1;
  char name[TSL_NAME];
  if (f < 0) return;
  const double *rdf = (const double *)problem->fields[f].data + slot * p->bins;
  const double *error = (const double *)problem->fields[g].data + slot * p->bins;
  for (int64_t b = 0; b < p->bins; b++)
    if (volumes[0] > 0 && (double)p->frames * tri_frames_ideal(p, pairs, volumes[0], b) >= ENOUGH &&
        (peak < 0 || rdf[b] > rdf[peak]))
      peak = b;
  if (peak < 0) return;
  (void)snprintf(name, sizeof name, "rdf peak%s", of);
  tsl_summary_add(summary, name, rdf[peak], "1");
  (void)snprintf(name, sizeof name, "rdf peak error%s", of);
  tsl_summary_add(summary, name, error[peak], "1");
  (void)snprintf(name, sizeof name, "rdf peak at%s", of);
  tsl_summary_add(summary, name, (edge(p, peak) + edge(p, peak + 1)) / 2,
                  problem->fields[tsl_problem_find(problem, "edges")].unit);
}

/** Of all atoms, or of each of few pairs of kinds. */
static void add_peaks(const tsl_problem *problem, tsl_summary *summary) {
  enum { FEW = 3 };
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  char of[2 * TRI_KIND_NAME + 4];
  const int64_t slots = tri_frames_slots(p);
  if (slots == 0) add_peak(problem, 0, "", summary);
  for (int64_t slot = 0; slot < slots && slots <= FEW; slot++) {
    int64_t k[2];
    tri_kinds_of_pair(p, own, slot, k);
    (void)snprintf(of, sizeof of, " %.8s-%.8s", own->names[k[0]], own->names[k[1]]);
    add_peak(problem, slot, of, summary);
  }
}

static void sum_contacts(const tsl_problem *problem, tsl_summary *summary) {
  const tri_params *p = tri_params_of(problem);
  const uint64_t *contacts = problem->fields[TRI_FRAMES_ROWS].data;
  double mean = 0, error = 0;
  const moments m = {&mean, &error};
  for (int64_t k = 0; k < p->frames; k++) add_value(&m, 0, k + 1, (double)contacts[k]);
  end_moments(&m, 1, p->frames);
  if (p->frames_pairs > 0)
    tsl_summary_add(summary, "pairs of the list", (double)p->frames_pairs, "1");
  tsl_summary_add(summary, "contacts, mean of the frames", mean, "1");
  tsl_summary_add(summary, "its standard error", error, "1");
}

tsl_err tri_frames_summary(const tsl_problem *problem, tsl_summary *summary) {
  const tri_params *p = tri_params_of(problem);
  double within = 0;
  summary->valid = true;
  tsl_summary_add(summary, "points", (double)p->n, "1");
  tsl_summary_add(summary, "frames", (double)p->frames, "1");
  if (p->output == TRI_THRESHOLD) {
    sum_contacts(problem, summary);
    return TSL_OK;
  }
  const uint64_t *counts = tsl_problem_data(problem, "counts");
  for (int64_t c = 0; c < tri_frames_cells(p); c++) within += (double)counts[c];
  tsl_summary_add(summary, "pairs in range", within, "1");
  add_peaks(problem, summary);
  return TSL_OK;
}
