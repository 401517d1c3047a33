/* What the frames say together: means, and how sure they are. */
#include "integers.h"
#include "tri_family.h"
#include "tri_frames.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double edge(const tri_params *p, int64_t b) {
  return p->range_lo + (p->range_hi - p->range_lo) * ((double)b / (double)p->bins);
}

double tri_frames_ideal(const tri_params *p, double volume, int64_t b) {
  const double pi = 3.14159265358979323846, inner = edge(p, b), outer = edge(p, b + 1);
  const double shell =
      4.0 / 3.0 * pi * (outer - inner) * (outer * outer + outer * inner + inner * inner);
  return (double)p->n * ((double)p->n - 1) / 2 * (shell / volume);
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

/** Data of a derived field, zeroed; NULL: there is none. */
static tsl_err derived(tsl_problem *problem, const char *name, void *out) {
  tsl_err err = TSL_OK;
  const int f = tsl_problem_find(problem, name);
  void *data = NULL;
  if (f < 0) goto done;
  tsl_field *field = &problem->fields[f];
  const size_t bytes = tsl_type_bytes((tsl_type)field->type);
  if (field->data == NULL) TSL_TRY(tsl_alloc(tsl_field_count(field), bytes, name, &field->data));
  data = field->data;
  memset(data, 0, (size_t)tsl_field_count(field) * bytes);
done:
  memcpy(out, &data, sizeof data);
  return err;
}

/** What is derived, and rows on their way. */
typedef struct totals {
  uint64_t *counts;
  double *edges;
  moments rdf, coordination;
  uint64_t *rows;  /**< [ROWS][bins] */
  double *volumes; /**< [ROWS] */
} totals;

static void add_frame(const tri_params *p, const totals *t, int64_t number, int64_t row) {
  uint64_t within = 0;
  for (int64_t b = 0; b < p->bins; b++) {
    const uint64_t count = t->rows[row * p->bins + b];
    const double ideal = t->rdf.mean != NULL ? tri_frames_ideal(p, t->volumes[row], b) : 0;
    within += count;
    t->counts[b] += count;
    add_value(&t->coordination, b, number, 2 * (double)within / (double)p->n);
    if (t->rdf.mean != NULL)
      add_value(&t->rdf, b, number, t->volumes[row] > 0 && ideal > 0 ? (double)count / ideal : 0);
  }
}

tsl_err tri_frames_finish(tsl_problem *problem, const tsl_field_rows *store) {
  enum { ROWS = 64 };
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  totals t = {.counts = NULL};
  if (p->output != TRI_HISTOGRAM) goto done;
  TSL_TRY(derived(problem, "counts", &t.counts));
  TSL_TRY(derived(problem, "edges", &t.edges));
  TSL_TRY(derived(problem, "rdf", &t.rdf.mean));
  TSL_TRY(derived(problem, "rdf_error", &t.rdf.error));
  TSL_TRY(derived(problem, "coordination", &t.coordination.mean));
  TSL_TRY(derived(problem, "coordination_error", &t.coordination.error));
  TSL_TRY(tsl_alloc(ROWS * (int64_t)p->bins, sizeof *t.rows, "rows", (void **)&t.rows));
  TSL_TRY(tsl_alloc(ROWS, sizeof *t.volumes, "rows", (void **)&t.volumes));
  for (int64_t b = 0; b <= p->bins; b++) t.edges[b] = edge(p, b);
  for (int64_t k = 0; k < p->frames; k += ROWS) {
    const int64_t end = tsl_min(k + ROWS, p->frames);
    TSL_TRY(store->read(store->state, TRI_FRAMES_ROWS, k, end, t.rows));
    TSL_TRY(store->read(store->state, TRI_FRAMES_VOLUMES, k, end, t.volumes));
    for (int64_t f = k; f < end; f++) add_frame(p, &t, f + 1, f - k);
  }
  end_moments(&t.coordination, p->bins, p->frames);
  if (t.rdf.mean != NULL) end_moments(&t.rdf, p->bins, p->frames);
done:
  TSL_FREE_ALL(t.rows, t.volumes);
  return err;
}

/* ---------------------------------------------------------------- summary */

/** Highest g(r) among bins in which an ideal gas has enough pairs to tell it from noise. */
static void add_peak(const tsl_problem *problem, tsl_summary *summary) {
  enum { ENOUGH = 100 };
  const tri_params *p = tri_params_of(problem);
  const int f = tsl_problem_find(problem, "rdf"), g = tsl_problem_find(problem, "rdf_error");
  const double *volumes = problem->fields[TRI_FRAMES_VOLUMES].data;
  int64_t peak = -1;
  if (f < 0) return;
  const double *rdf = problem->fields[f].data, *error = problem->fields[g].data;
  for (int64_t b = 0; b < p->bins; b++)
    if (volumes[0] > 0 && (double)p->frames * tri_frames_ideal(p, volumes[0], b) >= ENOUGH &&
        (peak < 0 || rdf[b] > rdf[peak]))
      peak = b;
  if (peak < 0) return;
  tsl_summary_add(summary, "rdf peak", rdf[peak], "1");
  tsl_summary_add(summary, "rdf peak error", error[peak], "1");
  tsl_summary_add(summary, "rdf peak at", (edge(p, peak) + edge(p, peak + 1)) / 2,
                  problem->fields[tsl_problem_find(problem, "edges")].unit);
}

static void sum_contacts(const tsl_problem *problem, tsl_summary *summary) {
  const tri_params *p = tri_params_of(problem);
  const uint64_t *contacts = problem->fields[TRI_FRAMES_ROWS].data;
  double mean = 0, error = 0;
  const moments m = {&mean, &error};
  for (int64_t k = 0; k < p->frames; k++) add_value(&m, 0, k + 1, (double)contacts[k]);
  end_moments(&m, 1, p->frames);
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
  const uint64_t *counts = problem->fields[tsl_problem_find(problem, "counts")].data;
  for (int64_t b = 0; b < p->bins; b++) within += (double)counts[b];
  tsl_summary_add(summary, "pairs in range", within, "1");
  add_peak(problem, summary);
  return TSL_OK;
}
