/* Fields of a histogram: counts of slots, what is added up from them, edges and g(r). */
#include "tri_marks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ----------------------------------------------------------------- fields */

typedef struct shape {
  int32_t rank;
  int64_t of[3];
} shape;

/** Kinds, bins, bins of the second axis, as far as there are more than one. */
static shape result_shape(const tri_params *p, const tri_own *own, bool kinds) {
  shape s = {0, {1, 1, 1}};
  if (kinds && own->names != NULL) s.of[s.rank++] = tri_kind_pairs(p, own);
  s.of[s.rank++] = p->bins;
  if (p->bins_2 > 0) s.of[s.rank++] = p->bins_2;
  return s;
}

static tsl_err add(tsl_problem *problem, const char *name, const char *doc, const char *unit,
                   int32_t type, int32_t combine, shape s) {
  tsl_err err = TSL_OK;
  tsl_field *added = NULL;
  tsl_field field = {.role = TSL_OUT,
                     .type = type,
                     .combine = combine,
                     .rank = s.rank,
                     .shape = {s.of[0], s.of[1], s.of[2]}};
  tsl_field_label(&field, name, unit, doc);
  TSL_TRY(tsl_problem_add(problem, &field, &added));
done:
  return err;
}

/** What the backends fill. */
static tsl_err add_counted(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  const shape regions = {2, {p->slots, tri_cells_each(p), 1}};
  const shape limbs = {2, {tri_cells_of(p), TRI_LIMBS, 1}};
  if (own->regions > 1)
    TSL_TRY(add(problem, "region_counts",
                "Counts of each pair of kinds (first index: pair of kinds, region, region).", "1",
                TSL_U64, TSL_SUM, regions));
  else
    TSL_TRY(add(problem, "counts",
                own->names != NULL ? "Pairs of each pair of kinds (see kinds) in each bin."
                : p->two
                    ? "Pairs of a point of each set with their value in [edges[b], edges[b+1])."
                    : "Pairs i < j with their value in [edges[b], edges[b+1]).",
                "1", TSL_U64, TSL_SUM, result_shape(p, own, true)));
  if (!p->weighted) goto done;
  TSL_TRY(add(problem, "sums", "Sums of products of whole weights.", "1", TSL_U64, TSL_SUM, limbs));
  problem->fields[TRI_OUT_2].hidden = 1;
done:
  return err;
}

static tsl_err add_edges(tsl_problem *problem, const char *unit) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  const shape first = {1, {p->bins + 1, 1, 1}}, second = {1, {p->bins_2 + 1, 1, 1}};
  const shape kinds = {2, {tri_kind_pairs(p, own), 2, 1}};
  char of_value[TSL_NAME];
  tri_value_unit(p, unit, of_value);
  TSL_TRY(add(problem, "edges", "Edges of the bins.", of_value, TSL_F64, TSL_GATHER, first));
  (void)snprintf(problem->fields[problem->n_fields - 1].quantity, TSL_NAME, "%s",
                 p->axes == TRI_AXES_RP_PI ? "distance across the axis, rp"
                                           : tri_abouts[p->function].quantity);
  if (p->bins_2 > 0) {
    const bool mu = p->axes == TRI_AXES_S_MU;
    TSL_TRY(add(problem, "edges_2", "Edges of the bins of the second axis.", mu ? "1" : of_value,
                TSL_F64, TSL_GATHER, second));
    (void)snprintf(problem->fields[problem->n_fields - 1].quantity, TSL_NAME, "%s",
                   mu ? "part along the axis, mu" : "distance along the axis, pi");
  }
  if (own->names != NULL)
    TSL_TRY(add(problem, "kinds", "Kinds of the pairs of kinds, by number (/run/facts names them).",
                "1", TSL_I64, TSL_GATHER, kinds));
done:
  return err;
}

static tsl_err add_estimate(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  const shape one = result_shape(p, own, false);
  const shape square = {2, {tri_cells_each(p), tri_cells_each(p), 1}};
  TSL_TRY(add(problem, "correlation",
              own->estimator == TRI_NATURAL ? "DD/RR - 1 in each bin, of numbers of pairs."
                                            : "(DD - 2 DR + RR)/RR in each bin.",
              "1", TSL_F64, TSL_GATHER, one));
  if (own->regions == 1) goto done;
  TSL_TRY(add(problem, "error", "Standard error of the correlation, of resampled regions.", "1",
              TSL_F64, TSL_GATHER, one));
  TSL_TRY(add(problem, "covariance", "Covariance of the bins of the correlation.", "1", TSL_F64,
              TSL_GATHER, square));
done:
  return err;
}

tsl_err tri_histogram_add(tsl_problem *problem, const char *unit) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  const shape all = result_shape(p, own, true);
  TSL_TRY(add_counted(problem));
  TSL_TRY(add_edges(problem, unit));
  if (own->regions > 1)
    TSL_TRY(add(problem, "counts", "Pairs in each bin, of all regions.", "1", TSL_U64, TSL_GATHER,
                all));
  if (p->weighted)
    TSL_TRY(add(problem, "weighted_counts", "Sums of the weights of the pairs in each bin.", "1",
                TSL_F64, TSL_GATHER, all));
  if (own->estimator != TRI_NO_ESTIMATOR) TSL_TRY(add_estimate(problem));
  if (p->function == TRI_EUCLIDEAN_PERIODIC && p->axes == TRI_AXES_VALUE)
    TSL_TRY(add(problem, "rdf", "Radial distribution g(r): counts over those of an ideal gas.", "1",
                TSL_F64, TSL_GATHER, all));
done:
  return err;
}

/* ---------------------------------------------------------------- results */

/** Data of a field by name; made here when the runtime has not. NULL: there is no such field. */
static tsl_err own_data(tsl_problem *problem, const char *name, void **data) {
  tsl_err err = TSL_OK;
  const int f = tsl_problem_find(problem, name);
  *data = NULL;
  if (f < 0) goto done;
  TSL_TRY(tsl_field_allocate(&problem->fields[f]));
  *data = problem->fields[f].data;
done:
  return err;
}

/** Length, area or volume between two radii in d = 1, 2, 3 dimensions. */
static double shell(int64_t d, double inner, double outer) {
  if (d == 1) return 2 * (outer - inner);
  if (d == 2) return pi * (outer - inner) * (outer + inner);
  return 4.0 / 3.0 * pi * (outer - inner) * (outer * outer + outer * inner + inner * inner);
}

double tri_ideal_part(const tri_params *p, const tri_own *own, int64_t b) {
  double volume = 1;
  for (int64_t k = 0; k < p->d; k++) volume *= p->box[k];
  return shell(p->d, tri_bin_edge(p, own, b), tri_bin_edge(p, own, b + 1)) / volume;
}

int64_t tri_kind_pairs(const tri_params *p, const tri_own *own) {
  const int64_t kinds = own->kinds > 0 ? own->kinds : 1;
  return p->two ? kinds * kinds : kinds * (kinds + 1) / 2;
}

void tri_kinds_of_pair(const tri_params *p, const tri_own *own, int64_t pair, int64_t kinds[2]) {
  kinds[0] = 0;
  if (p->two) {
    kinds[0] = pair / own->kinds, kinds[1] = pair % own->kinds;
    return;
  }
  for (int64_t rest = own->kinds; pair >= rest; rest--) pair -= rest, kinds[0]++;
  kinds[1] = kinds[0] + pair;
}

/** Points of a kind of a set, in all regions. */
static double points_of(const tri_own *own, int64_t kind, int set) {
  double points = 0;
  for (int64_t r = 0; r < own->regions; r++)
    points += own->totals[(kind * own->regions + r) * 2 + set].points;
  return points;
}

double tri_pairs_of_kinds(const tri_params *p, const tri_own *own, int64_t pair) {
  int64_t k[2] = {0, 0};
  if (own->names == NULL) return tri_pairs_of(p);
  tri_kinds_of_pair(p, own, pair, k);
  const double a = points_of(own, k[0], 0), b = points_of(own, k[1], p->two);
  return p->two || k[0] != k[1] ? a * b : a * (a - 1) / 2;
}

/** A 128-bit sum of limbs, less its biases, in units of pairs' weights. */
static double sum_of(const uint64_t limbs[TRI_LIMBS], int64_t bias, uint64_t count) {
  __extension__ typedef unsigned __int128 wide;
  __extension__ typedef __int128 signed_wide;
  wide sum = 0;
  for (int l = TRI_LIMBS - 1; l >= 0; l--) sum = (sum << 32) + limbs[l];
  return (double)(signed_wide)(sum - (wide)(uint64_t)bias * count);
}

double tri_weighted_count(const tsl_problem *problem, int64_t cell) {
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  const uint64_t *counts = problem->fields[TRI_OUT].data;
  if (!p->weighted) return (double)counts[cell];
  const uint64_t(*sums)[TRI_LIMBS] = problem->fields[TRI_OUT_2].data;
  return sum_of(sums[cell], p->bias, counts[cell]) * own->weight_unit * own->weight_unit;
}

/** Counts and sums of weights of all regions. */
static tsl_err add_regions(tsl_problem *problem, uint64_t *counts, double *weighted) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  const uint64_t *raw = problem->fields[TRI_OUT].data;
  const int64_t each = tri_cells_each(p), regions = (int64_t)own->regions * own->regions;
  for (int64_t pair = 0; pair < tri_kind_pairs(p, own); pair++)
    for (int64_t c = 0; c < each; c++) {
      const int64_t to = pair * each + c;
      uint64_t count = 0, limbs[TRI_LIMBS] = {0};
      for (int64_t r = 0; r < regions; r++) {
        const int64_t from = (pair * regions + r) * each + c;
        count += raw[from];
        for (int l = 0; l < TRI_LIMBS && p->weighted; l++)
          limbs[l] += ((const uint64_t *)problem->fields[TRI_OUT_2].data)[from * TRI_LIMBS + l];
      }
      if (counts != NULL) counts[to] = count;
      if (weighted != NULL)
        weighted[to] = sum_of(limbs, p->bias, count) * own->weight_unit * own->weight_unit;
    }
  return err;
}

static tsl_err finish_estimate(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  void *xi = NULL, *error = NULL, *covariance = NULL;
  TSL_TRY(own_data(problem, "correlation", &xi));
  TSL_TRY(own_data(problem, "error", &error));
  TSL_TRY(own_data(problem, "covariance", &covariance));
  if (xi != NULL) TSL_TRY(tri_estimate(problem, xi, covariance, error));
done:
  return err;
}

tsl_err tri_histogram_finish(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  void *edges = NULL, *edges_2 = NULL, *kinds = NULL, *counts = NULL, *weighted = NULL, *rdf = NULL;
  TSL_TRY(own_data(problem, "edges", &edges));
  TSL_TRY(own_data(problem, "edges_2", &edges_2));
  TSL_TRY(own_data(problem, "kinds", &kinds));
  TSL_TRY(own_data(problem, "counts", &counts));
  TSL_TRY(own_data(problem, "weighted_counts", &weighted));
  TSL_TRY(own_data(problem, "rdf", &rdf));
  for (int64_t b = 0; b <= p->bins; b++) ((double *)edges)[b] = tri_bin_edge(p, own, b);
  for (int64_t b = 0; b <= p->bins_2 && edges_2 != NULL; b++)
    ((double *)edges_2)[b] = tri_bin_edge_2(p, own, b);
  for (int64_t pair = 0; pair < tri_kind_pairs(p, own) && kinds != NULL; pair++)
    tri_kinds_of_pair(p, own, pair, (int64_t *)kinds + 2 * pair);
  if (own->regions > 1 || weighted != NULL)
    TSL_TRY(add_regions(problem, own->regions > 1 ? counts : NULL, weighted));
  TSL_TRY(finish_estimate(problem));
  for (int64_t pair = 0; pair < tri_kind_pairs(p, own) && rdf != NULL; pair++) {
    const double pairs = own->kinds > 0 ? tri_pairs_of_kinds(p, own, pair) : tri_pairs_of(p);
    for (int64_t b = 0; b < p->bins; b++)
      ((double *)rdf)[pair * p->bins + b] = pairs > 0
                                                ? (double)((uint64_t *)counts)[pair * p->bins + b] /
                                                      (pairs * tri_ideal_part(p, own, b))
                                                : 0;
  }
done:
  return err;
}
