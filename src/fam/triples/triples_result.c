/* After the units: forces and energy from the blocks' sums, bin edges, and the summary. */
#include "triples_family.h"

#include <math.h>
#include <stdio.h>

static double edge(const triples_params *p, int64_t b) {
  const double part = (double)b / (double)p->bins;
  return ldexp(p->range_lo + (p->range_hi - p->range_lo) * part, p->length);
}

/** One of the sums of point i over all blocks, in their order. */
static double sum_blocks(const tsl_problem *problem, int64_t i, int s) {
  const triples_params *p = triples_params_of(problem);
  const double *partial = problem->fields[TRIPLES_OUT].data;
  double sum = 0;
  for (int64_t block = 0; block < p->blocks; block++)
    sum += partial[(block * p->n + i) * TRIPLES_SUMS + s];
  return sum;
}

tsl_err triples_advance(tsl_problem *problem, int phase, bool *more) {
  tsl_err err = TSL_OK;
  const triples_params *p = triples_params_of(problem);
  const double factor = -ldexp(p->strength, -10 * p->length);
  double *data = NULL;
  (void)phase;
  *more = false;
  if (p->function == TRIPLES_EQUATION) goto done;
  TSL_TRY(tsl_field_allocate(&problem->fields[TRIPLES_OUT_2]));
  data = problem->fields[TRIPLES_OUT_2].data;
  if (p->function == TRIPLES_TRIANGLES)
    for (int64_t b = 0; b <= p->bins; b++) data[b] = edge(p, b);
  else
    for (int64_t i = 0; i < p->n; i++)
      for (int64_t k = 0; k < p->d; k++)
        data[i * p->d + k] = factor * sum_blocks(problem, i, (int)k);
done:
  return err;
}

/* ---------------------------------------------------------------- summary */

static double all_triples(const triples_params *p) {
  const double n = (double)p->n;
  return p->n < 3 ? 0 : n * (n - 1) * (n - 2) / 6;
}

/** Of a field of forces. @return is the largest one a number? */
static bool sum_net(const tsl_problem *problem, int field, tsl_summary *summary) {
  const triples_params *p = triples_params_of(problem);
  const double *forces = problem->fields[field].data;
  double net[3] = {0}, most = 0;
  for (int64_t i = 0; i < p->n; i++) {
    double square = 0;
    for (int64_t k = 0; k < p->d; k++) {
      const double f = forces[i * p->d + k];
      net[k] += f, square += f * f;
    }
    most = fmax(most, sqrt(square));
  }
  tsl_summary_add(summary, "largest force", most, "1");
  tsl_summary_add(summary, "net force", sqrt(net[0] * net[0] + net[1] * net[1] + net[2] * net[2]),
                  "1");
  return isfinite(most);
}

static void sum_forces(const tsl_problem *problem, tsl_summary *summary) {
  const triples_params *p = triples_params_of(problem);
  double energy = 0;
  for (int64_t i = 0; i < p->n; i++) energy += sum_blocks(problem, i, 3);
  energy *= ldexp(p->strength, -9 * p->length);
  tsl_summary_add(summary, "energy", energy, "1");
  const bool finite = sum_net(problem, TRIPLES_OUT_2, summary);
  if (isfinite(energy) && finite) return;
  summary->valid = false;
  (void)snprintf(summary->reason, sizeof summary->reason,
                 "a force or the energy is not finite: points are too close together");
}

static void sum_triangles(const tsl_problem *problem, tsl_summary *summary) {
  const uint64_t *counts = problem->fields[TRIPLES_OUT].data;
  const int64_t n = tsl_field_count(&problem->fields[TRIPLES_OUT]);
  uint64_t all = 0;
  for (int64_t c = 0; c < n; c++) all += counts[c];
  tsl_summary_add(summary, "triangles in range", (double)all, "1");
}

/** Each triple once. */
static void sum_values(const tsl_problem *problem, tsl_summary *summary) {
  const triples_params *p = triples_params_of(problem);
  const tsl_field *sums = &problem->fields[TRIPLES_OUT];
  double sum = 0;
  for (int64_t i = 0; i < p->n; i++) sum += ((const double *)sums->data)[i];
  tsl_summary_add(summary, "sum", p->all ? sum / 3 : sum, sums->unit);
  if (p->slopes) (void)sum_net(problem, TRIPLES_FORCES, summary); /* the run stops at NaN */
}

tsl_err triples_summary(const tsl_problem *problem, tsl_summary *summary) {
  const triples_params *p = triples_params_of(problem);
  summary->valid = true;
  tsl_summary_add(summary, "points", (double)p->n, "1");
  tsl_summary_add(summary, "triples", all_triples(p), "1");
  if (p->function == TRIPLES_EQUATION)
    sum_values(problem, summary);
  else if (p->function == TRIPLES_TRIANGLES)
    sum_triangles(problem, summary);
  else
    sum_forces(problem, summary);
  return TSL_OK;
}
