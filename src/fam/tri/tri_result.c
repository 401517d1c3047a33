/* After the units: signs of similarities, what a histogram adds, the lines of the summary. */
#include "tri_graph_root.h"
#include "tri_letters.h"
#include "tri_marks.h"

#include <math.h>
#include <stdio.h>

/** csr: where rows begin. */
static tsl_err set_indptr(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const int32_t *lengths = problem->fields[TRI_OUT_3].data;
  void *data = NULL;
  TSL_TRY(tri_graph_result(problem, "indptr", &data));
  int64_t *const indptr = data;
  indptr[0] = 0;
  for (int64_t i = 0; i < tri_rows_of(tri_params_of(problem)); i++)
    indptr[i + 1] = indptr[i] + lengths[i];
done:
  return err;
}

tsl_err tri_advance(tsl_problem *problem, int phase, bool *more) {
  (void)phase;
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  *more = false;
  if (tri_is_graph(p)) return tri_graph_advance(problem, more);
  if (p->frames > 0) return TSL_OK;
  if (p->output == TRI_HISTOGRAM) return tri_histogram_finish(problem);
  if (p->output == TRI_CSR) TSL_TRY(set_indptr(problem));
  TSL_TRY(tri_between_finish(problem));
done:
  return err;
}

static void restore(int type, void *values, int64_t n) {
  double *const d = values;
  float *const f = values;
  if (type == TSL_F64)
    for (int64_t k = 0; k < n; k++) d[k] = 0 - d[k]; /* never -0 */
  else
    for (int64_t k = 0; k < n; k++) f[k] = 0 - f[k];
}

void tri_restore_signs(const tri_params *p, const tsl_unit *unit, tsl_part *part) {
  if (!p->similar) return;
  if (p->output == TRI_TOPK)
    restore(p->type, part->slab[TRI_OUT_2], (unit->hi[0] - unit->lo[0]) * p->k);
  if (tri_output_in(p, TRI_BIT(THRESHOLD) | TRI_BIT(CSR)))
    restore(p->type, part->list[TRI_OUT_2].data, part->list[TRI_OUT_2].n);
}

/* ---------------------------------------------------------------- summary */

/** Highest g(r) among bins in which an ideal gas has enough pairs to tell it from noise. */
static void add_peak(const tsl_problem *problem, tsl_summary *summary) {
  enum { ENOUGH = 100 };
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  const double *rdf = tsl_problem_data(problem, "rdf");
  int64_t peak = -1;
  for (int64_t b = 0; b < p->bins; b++)
    if (tri_pairs_of(p) * tri_ideal_part(p, own, b) >= ENOUGH && (peak < 0 || rdf[b] > rdf[peak]))
      peak = b;
  if (peak < 0) return;
  tsl_summary_add(summary, "rdf peak", rdf[peak], "1");
  tsl_summary_add(summary, "rdf peak at",
                  (tri_bin_edge(p, own, peak) + tri_bin_edge(p, own, peak + 1)) / 2,
                  problem->fields[TRI_POINTS].unit);
}

static void sum_histogram(const tsl_problem *problem, tsl_summary *summary) {
  const tri_params *p = tri_params_of(problem);
  const uint64_t *counts = problem->fields[TRI_OUT].data;
  uint64_t in_range = 0;
  for (int64_t c = 0; c < tri_cells_of(p); c++) in_range += counts[c];
  tsl_summary_add(summary, "pairs in range", (double)in_range, "1");
  const tri_own *own = problem->own;
  if (tsl_problem_find(problem, "rdf") >= 0 && own->names == NULL) add_peak(problem, summary);
}

static void sum_degree(const tsl_problem *problem, tsl_summary *summary) {
  const tri_params *p = tri_params_of(problem);
  const int64_t *degree = problem->fields[TRI_OUT].data;
  int64_t sum = 0, most = 0;
  for (int64_t i = 0; i < tri_rows_of(p); i++) {
    sum += degree[i];
    most = degree[i] > most ? degree[i] : most;
  }
  tsl_summary_add(summary, "pairs within the threshold", (double)sum / (p->two ? 1 : 2), "1");
  tsl_summary_add(summary, "largest degree", (double)most, "1");
}

static void sum_csr(const tsl_problem *problem, tsl_summary *summary) {
  tsl_summary_add(summary, "entries", (double)problem->fields[TRI_OUT].shape[0], "1");
}

static void sum_threshold(const tsl_problem *problem, tsl_summary *summary) {
  const double kept = (double)problem->fields[TRI_OUT].shape[0];
  tsl_summary_add(summary, "pairs kept", kept, "1");
}

static double mass_of(const tsl_problem *problem, int64_t i) {
  return tsl_real_get(tri_params_of(problem)->type, problem->fields[TRI_EXTRAS].data, i);
}

/** Sums over the points in their order, so that every run gives the same bits. */
typedef struct totals {
  double energy, mass, push[3], strength;
} totals;

static totals sum_points(const tsl_problem *problem) {
  const tri_params *p = tri_params_of(problem);
  const double *a = problem->fields[TRI_OUT].data, *phi = problem->fields[TRI_OUT_2].data;
  totals t = {0};
  for (int64_t i = 0; i < p->n; i++) {
    const double m = mass_of(problem, i);
    double square = 0;
    for (int64_t k = 0; k < p->d_read; k++) {
      const double x = a[i * p->d_read + k];
      t.push[k] += m * x;
      square += x * x;
    }
    t.energy += 0.5 * m * phi[i];
    t.mass += m;
    t.strength += m * sqrt(square);
  }
  return t;
}

static void sum_forces(const tsl_problem *problem, tsl_summary *summary) {
  const double tolerance = 1e-3; /* of fp32 sums over many points, generously */
  const totals t = sum_points(problem);
  const double push = sqrt(t.push[0] * t.push[0] + t.push[1] * t.push[1] + t.push[2] * t.push[2]);
  tsl_summary_add(summary, "potential energy", t.energy, "1");
  tsl_summary_add(summary, "acceleration of the centre of mass", t.mass > 0 ? push / t.mass : 0,
                  "1");
  tsl_summary_add(summary, "total mass", t.mass, "1");
  if (isfinite(t.energy) && isfinite(t.strength) && push <= tolerance * t.strength) return;
  summary->valid = false;
  (void)snprintf(summary->reason, sizeof summary->reason, "%s",
                 isfinite(t.energy) && isfinite(t.strength)
                     ? "the forces do not cancel: the net force exceeds 1e-3 of their sum"
                     : "a force or potential is not finite: coincident points need softening > 0");
}

static void sum_alignments(const tsl_problem *problem, tsl_summary *summary) {
  const tri_own *own = problem->own;
  tsl_summary_add(summary, "alignments written", (double)own->alignments, "1");
  if (own->mismatch[0] == '\0') return;
  summary->valid = false;
  (void)snprintf(summary->reason, sizeof summary->reason, "%s", own->mismatch);
}

tsl_err tri_summary(const tsl_problem *problem, tsl_summary *summary) {
  static void (*const lines[TRI_N_OUTPUTS])(const tsl_problem *,
                                            tsl_summary *) = {[TRI_HISTOGRAM] = sum_histogram,
                                                              [TRI_THRESHOLD] = sum_threshold,
                                                              [TRI_FORCES] = sum_forces,
                                                              [TRI_DEGREE] = sum_degree,
                                                              [TRI_CSR] = sum_csr,
                                                              [TRI_COMPONENTS] = tri_graph_summary,
                                                              [TRI_DBSCAN] = tri_graph_summary,
                                                              [TRI_LINKAGE] = tri_graph_summary};
  const tri_params *p = tri_params_of(problem);
  if (p->frames > 0) return tri_frames_summary(problem, summary);
  summary->valid = true;
  const bool letters = tri_of_letters(p);
  tsl_summary_add(summary, letters ? "sequences" : "points", (double)tri_rows_of(p), "1");
  if (p->two)
    tsl_summary_add(summary, letters ? "sequences of the other set" : "points of the other set",
                    (double)p->columns, "1");
  tsl_summary_add(summary, "pairs", tri_pairs_of(p), "1");
  const bool own = p->output != TRI_FORCES || !p->two; /* two sets do not act on each other */
  if (lines[p->output] != NULL && own) lines[p->output](problem, summary);
  if (p->aligned) sum_alignments(problem, summary);
  return TSL_OK;
}
