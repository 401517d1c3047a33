/* Classes of points, the slots that pairs of them count into, edges and whole weights. */
#include "tri_marks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CELLS = 1 << 27 };

/* ---------------------------------------------------------------- classes */

int64_t tri_slot_of(const tri_params *p, const tri_marks *m, int32_t a, int32_t b) {
  const int64_t kinds = m->kinds, regions = m->regions;
  int64_t ka = a / regions, kb = b / regions, ra = a % regions, rb = b % regions;
  if (!p->two && (ka > kb || (ka == kb && ra > rb))) {
    const int64_t k = ka, r = ra;
    ka = kb, kb = k, ra = rb, rb = r;
  }
  const int64_t pair = p->two ? ka * kinds + kb : ka * kinds - ka * (ka - 1) / 2 + kb - ka;
  return (pair * regions + ra) * regions + rb;
}

static int64_t pairs_of_kinds(const tri_params *p, const tri_marks *m) {
  return p->two ? (int64_t)m->kinds * m->kinds : (int64_t)m->kinds * (m->kinds + 1) / 2;
}

static tsl_err check_sizes(const tsl_deck *deck, const tri_params *p, const tri_marks *m) {
  tsl_err err = TSL_OK;
  const double cells = (double)p->slots * (double)tri_cells_each(p);
  if ((int64_t)m->kinds * m->regions > TRI_MAX_CLASSES)
    TSL_DECK_FAIL(deck, "tri.output", "%d kinds in %d regions; their product is %d at most",
                  m->kinds, m->regions, TRI_MAX_CLASSES);
  if (cells > MOST_CELLS)
    TSL_DECK_FAIL(deck, "tri.bins",
                  "%.3g counts in all, of kinds, regions and bins; %d are possible", cells,
                  MOST_CELLS);
done:
  return err;
}

static tsl_err add_classes(const tsl_deck *deck, const tri_marks *m, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_params *p = problem->params;
  tsl_field *classes = NULL, *slots = NULL;
  const bool has = m->kind != NULL || m->region != NULL;
  p->classes = has ? m->kinds * m->regions : 0;
  p->slots = has ? pairs_of_kinds(p, m) * m->regions * m->regions : 0;
  if (p->output == TRI_HISTOGRAM) TSL_TRY(check_sizes(deck, p, m));
  TSL_TRY(tsl_problem_add_hidden(problem, "classes", "Class of each point: its kind in its region.",
                                 TSL_I32, has ? p->n_pad : 0, 1, &classes));
  TSL_TRY(tsl_problem_add_hidden(problem, "slots", "Histogram that a pair of classes counts into.",
                                 TSL_I32, p->classes, has ? p->classes : 1, &slots));
  for (int64_t i = 0; has && i < m->n; i++)
    ((int32_t *)classes->data)[tri_place_of(p, i)] =
        (m->kind != NULL ? m->kind[i] : 0) * m->regions + (m->region != NULL ? m->region[i] : 0);
  for (int32_t a = 0; a < p->classes; a++)
    for (int32_t b = 0; b < p->classes; b++)
      ((int32_t *)slots->data)[a * p->classes + b] = (int32_t)tri_slot_of(p, m, a, b);
done:
  return err;
}

/* ------------------------------------------------------------------ edges */

double tri_bin_edge(const tri_params *p, const tri_own *own, int64_t b) {
  if (own != NULL && own->edges != NULL) return own->edges[b];
  return p->range_lo + (p->range_hi - p->range_lo) * ((double)b / (double)p->bins);
}

double tri_bin_edge_2(const tri_params *p, const tri_own *own, int64_t b) {
  return own->range_2[0] + (own->range_2[1] - own->range_2[0]) * ((double)b / (double)p->bins_2);
}

/** The next number of params.type. */
static double beyond(const tri_params *p, double value) {
  return p->type == TSL_F32 ? (double)nextafterf((float)value, INFINITY)
                            : nextafter(value, INFINITY);
}

static tsl_err check_edges(const tsl_deck *deck, const tri_params *p, const char *path,
                           const void *data, int64_t first, int64_t bins) {
  tsl_err err = TSL_OK;
  for (int64_t b = first; b < first + bins; b++)
    if (!(tsl_real_get(p->type, data, b) < tsl_real_get(p->type, data, b + 1)))
      TSL_DECK_FAIL(deck, path, "edges %lld and %lld, %g and %g, are not ascending%s",
                    (long long)(b - first), (long long)(b - first + 1),
                    tsl_real_get(p->type, data, b), tsl_real_get(p->type, data, b + 1),
                    p->type == TSL_F32 ? " in fp32" : "");
done:
  return err;
}

static tsl_err add_edges(const tsl_deck *deck, const tri_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const tri_own *own = problem->own;
  const int64_t first = p->listed ? p->bins + 1 : 0, second = p->bins_2 > 0 ? p->bins_2 + 1 : 0;
  tsl_field *edges = NULL;
  TSL_TRY(tsl_problem_add_hidden(problem, "bin_edges", "Edges that are listed, of both axes.",
                                 p->type, first + second, 1, &edges));
  for (int64_t b = 0; b < first; b++)
    tsl_real_put(p->type, edges->data, b, tri_bin_edge(p, own, b));
  for (int64_t b = 0; b < second; b++)
    tsl_real_put(p->type, edges->data, first + b, tri_bin_edge_2(p, own, b));
  if (first > 0)
    TSL_TRY(
        check_edges(deck, p, s->edges.n > 0 ? "tri.edges" : "tri.range", edges->data, 0, p->bins));
  if (second == 0) goto done;
  TSL_TRY(check_edges(deck, p, "tri.range_2", edges->data, first, p->bins_2));
  if (p->axes == TRI_AXES_S_MU) /* pairs along the axis have a mu of 1 */
    tsl_real_put(p->type, edges->data, first + p->bins_2, beyond(p, own->range_2[1]));
done:
  return err;
}

/* ---------------------------------------------------------------- weights */

/** Weights as multiples of a power of two, the largest of which fits TRI_WEIGHT_BITS. */
static tsl_err add_weights(const tsl_deck *deck, const tri_marks *m, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_params *p = problem->params;
  tri_own *own = problem->own;
  tsl_field *field = NULL;
  double most = 0, off = 0;
  bool negative = false;
  int exponent = 0;
  p->weighted = p->output == TRI_HISTOGRAM && m->weight != NULL;
  TSL_TRY(tsl_problem_add_hidden(problem, "whole_weights", "Weights of the points in units.",
                                 TSL_I32, p->weighted ? p->n_pad : 0, 1, &field));
  if (!p->weighted) goto done;
  for (int64_t i = 0; i < m->n; i++) {
    most = fmax(most, fabs(m->weight[i]));
    negative = negative || m->weight[i] < 0;
  }
  if (most > 0x1p400 || (most > 0 && most < 0x1p-400))
    TSL_DECK_FAIL(deck, "tri.input", "the largest weight is %g; use another unit", most);
  if (most > 0) (void)frexp(most, &exponent);
  own->weight_unit = ldexp(1, exponent - TRI_WEIGHT_BITS);
  p->bias = negative ? INT64_C(1) << 2 * TRI_WEIGHT_BITS : 0;
  for (int64_t i = 0; i < m->n; i++) {
    const double whole = nearbyint(m->weight[i] / own->weight_unit);
    ((int32_t *)field->data)[tri_place_of(p, i)] = (int32_t)whole;
    off = fmax(off, fabs(whole * own->weight_unit - m->weight[i]));
  }
  own->weight_off = off;
done:
  return err;
}

/* ------------------------------------------------------------------ totals */

/** Points of each class, and sums of their weights and of the squares of these. */
static tsl_err add_totals(const tri_marks *m, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  tri_own *own = problem->own;
  const int32_t *classes = problem->fields[TRI_CLASSES].data;
  const int32_t *weights = problem->fields[TRI_WEIGHTS].data;
  own->kinds = m->kinds, own->regions = m->regions;
  TSL_TRY(tsl_alloc((int64_t)m->kinds * m->regions * 2, sizeof *own->totals, "points of classes",
                    (void **)&own->totals));
  for (int64_t i = 0; i < m->n; i++) {
    const int64_t place = tri_place_of(p, i), other = p->two && i < p->columns;
    tri_total *t = &own->totals[(p->classes > 0 ? classes[place] : 0) * 2 + other];
    const double w = p->weighted ? weights[place] * own->weight_unit : 1;
    t->points++, t->weight += w, t->square += w * w;
  }
done:
  return err;
}

/** In words: kinds, regions and weights. */
static void note_marks(const tri_params *p, const tri_marks *m, tri_own *own) {
  size_t used = strlen(own->text);
  char *const text = own->text;
  if (m->kind != NULL) {
    used += (size_t)snprintf(text + used, TRI_TEXT - used, "kinds:");
    for (int32_t k = 0; k < m->kinds && used < TRI_TEXT - 128; k++)
      used += (size_t)snprintf(text + used, TRI_TEXT - used, "%s %d %s", k > 0 ? "," : "", k,
                               m->names[k]);
    used += (size_t)snprintf(text + used, TRI_TEXT - used, "\n");
  }
  if (m->region != NULL)
    used += (size_t)snprintf(text + used, TRI_TEXT - used, "regions: %d\n", m->regions);
  if (p->weighted)
    (void)snprintf(text + used, TRI_TEXT - used,
                   "weights: multiples of %.3g, whose sums are exact; rounding moves them by up to "
                   "%.2g\n",
                   own->weight_unit, own->weight_off);
}

tsl_err tri_classes_add(const tsl_deck *deck, const tri_deck *s, tri_marks *m,
                        tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_own *own = problem->own;
  TSL_TRY(tri_regions_cut(deck, s, problem, m));
  TSL_TRY(add_classes(deck, m, problem));
  TSL_TRY(add_edges(deck, s, problem));
  TSL_TRY(add_weights(deck, m, problem));
  if (tri_params_of(problem)->output != TRI_HISTOGRAM) goto done;
  TSL_TRY(add_totals(m, problem));
  note_marks(tri_params_of(problem), m, own);
  own->names = m->names;
  m->names = NULL;
done:
  return err;
}
