/* Axes of a histogram: edges of bins, uniform, logarithmic or listed, of one axis or two. */
#include "tri_marks.h"

#include <float.h>
#include <math.h>

/** Edges that are no arithmetic series are kept. */
static tsl_err list_edges(const tri_deck *s, const tri_params *p, tri_own *own) {
  tsl_err err = TSL_OK;
  const double lo = p->range_lo, hi = p->range_hi;
  TSL_TRY(tsl_alloc(p->bins + 1, sizeof *own->edges, "edges", (void **)&own->edges));
  for (int64_t b = 0; b <= p->bins; b++)
    own->edges[b] = s->edges.n > 0 ? s->edges.values[b]
                    : b == 0       ? lo
                    : b == p->bins ? hi
                                   : lo * pow(hi / lo, (double)b / (double)p->bins);
done:
  return err;
}

/** First and last edge, and the number of bins. */
static tsl_err find_range(const tsl_deck *deck, const tri_deck *s, tri_params *p) {
  tsl_err err = TSL_OK;
  const bool standard = s->range.n == 0 && tri_is_boxed(s) && s->edges.n == 0;
  p->bins = (int32_t)s->bins;
  if (s->edges.n > 0) {
    if (s->range.n > 0 || tsl_deck_given(deck, "tri.bins") || tsl_deck_given(deck, "tri.spacing"))
      TSL_DECK_FAIL(deck, "tri.edges", "edges say it all: leave out range, bins and spacing");
    if (s->edges.n < 2 || s->edges.n > TRI_MAX_BINS + 1)
      TSL_DECK_FAIL(deck, "tri.edges", "%llu edges; 2 to %d are possible",
                    (unsigned long long)s->edges.n, TRI_MAX_BINS + 1);
    p->bins = (int32_t)s->edges.n - 1;
    p->range_lo = s->edges.values[0];
    p->range_hi = s->edges.values[p->bins];
    goto done;
  }
  if (!standard && s->range.n != 2)
    TSL_DECK_FAIL(deck, "tri.range", "output histogram needs two edges, range: [lo, hi]");
  p->range_lo = standard ? 0 : s->range.values[0];
  p->range_hi = standard ? tri_half_box(s) : s->range.values[1];
done:
  return err;
}

static tsl_err check_first(const tsl_deck *deck, const tri_deck *s, tri_params *p, tri_own *own) {
  tsl_err err = TSL_OK;
  const char *const path = s->edges.n > 0 ? "tri.edges" : "tri.range";
  TSL_TRY(find_range(deck, s, p));
  TSL_TRY(tri_check_fits(deck, path, p, p->range_lo));
  TSL_TRY(tri_check_fits(deck, path, p, p->range_hi));
  TSL_TRY(tri_check_fits(deck, path, p, p->range_hi - p->range_lo));
  if (!(p->range_lo < p->range_hi))
    TSL_DECK_FAIL(deck, path, "lo = %g must be less than hi = %g", p->range_lo, p->range_hi);
  if (p->type == TSL_F32 && !((float)p->range_lo < (float)p->range_hi))
    TSL_DECK_FAIL(deck, path, "lo and hi are the same number in fp32; use precision: fp64");
  TSL_TRY(tri_check_fits(deck, path, p, (double)p->bins / (p->range_hi - p->range_lo)));
  if (tri_is_boxed(s) && p->range_lo < 0)
    TSL_DECK_FAIL(deck, path, "with a box lo must be at least 0");
  if (s->spacing == TRI_LOG_BINS && !(p->range_lo > 0))
    TSL_DECK_FAIL(deck, path, "logarithmic bins begin above 0, not at %g", p->range_lo);
  TSL_TRY(tri_check_cut(deck, s, path, p->range_hi));
  p->listed = s->edges.n > 0 || s->spacing == TRI_LOG_BINS;
  if (p->listed) TSL_TRY(list_edges(s, p, own));
done:
  return err;
}

static tsl_err check_second(const tsl_deck *deck, const tri_deck *s, tri_params *p, tri_own *own) {
  tsl_err err = TSL_OK;
  const bool mu = s->axes == TRI_AXES_S_MU;
  const double epsilon = p->type == TSL_F32 ? FLT_EPSILON : DBL_EPSILON;
  if (s->function.name != TRI_EUCLIDEAN)
    TSL_DECK_FAIL(deck, "tri.axes", "two axes go with function euclidean only");
  if (!mu && s->range_2.n != 2)
    TSL_DECK_FAIL(deck, "tri.range_2", "rp_pi needs the range of pi, range_2: [lo, hi]");
  if (s->range_2.n != 0 && s->range_2.n != 2)
    TSL_DECK_FAIL(deck, "tri.range_2", "two edges are needed, range_2: [lo, hi]");
  own->range_2[0] = s->range_2.n > 0 ? s->range_2.values[0] : 0;
  own->range_2[1] = s->range_2.n > 0 ? s->range_2.values[1] : 1;
  TSL_TRY(tri_check_fits(deck, "tri.range_2", p, own->range_2[0]));
  TSL_TRY(tri_check_fits(deck, "tri.range_2", p, own->range_2[1]));
  if (!(own->range_2[0] < own->range_2[1]) || own->range_2[0] < 0)
    TSL_DECK_FAIL(deck, "tri.range_2", "lo = %g must be 0 or more and less than hi = %g",
                  own->range_2[0], own->range_2[1]);
  if (mu && own->range_2[1] > 1)
    TSL_DECK_FAIL(deck, "tri.range_2", "mu is 1 at most, not %g", own->range_2[1]);
  if (p->range_lo < 0) TSL_DECK_FAIL(deck, "tri.range", "distances begin at 0");
  if (!mu) TSL_TRY(tri_check_cut(deck, s, "tri.range_2", own->range_2[1]));
  p->axes = s->axes;
  p->bins_2 = (int32_t)s->bins_2;
  p->reach = mu ? 0 : hypot(p->range_hi, own->range_2[1]) * (1 + 64 * epsilon);
done:
  return err;
}

static tsl_err check_estimator(const tsl_deck *deck, const tri_deck *s, const tri_params *p,
                               tri_own *own) {
  tsl_err err = TSL_OK;
  enum { MOST = 4096 }; /* bins, for the covariance */
  const bool given = tsl_deck_given(deck, "tri.resampling");
  if (s->estimator != TRI_NO_ESTIMATOR && !s->self)
    TSL_DECK_FAIL(deck, "tri.estimator", "needs random points in other, and self: yes");
  if (s->estimator != TRI_NO_ESTIMATOR && tri_cells_each(p) > MOST)
    TSL_DECK_FAIL(deck, "tri.estimator", "%lld bins; %d are possible", (long long)tri_cells_each(p),
                  MOST);
  if (given && s->estimator == TRI_NO_ESTIMATOR)
    TSL_DECK_FAIL(deck, "tri.resampling", "needs an estimator");
  if (tsl_deck_given(deck, "tri.resamples") && s->resampling != TRI_BOOTSTRAP)
    TSL_DECK_FAIL(deck, "tri.resamples", "is of resampling: bootstrap");
  own->estimator = s->estimator;
  own->resampling = s->resampling;
  own->resamples = s->resamples;
done:
  return err;
}

tsl_err tri_check_bins(const tsl_deck *deck, const tri_deck *s, tri_params *p, tri_own *own) {
  tsl_err err = TSL_OK;
  TSL_TRY(check_first(deck, s, p, own));
  if (s->axes != TRI_AXES_VALUE)
    TSL_TRY(check_second(deck, s, p, own));
  else if (s->range_2.n > 0 || tsl_deck_given(deck, "tri.bins_2"))
    TSL_DECK_FAIL(deck, s->range_2.n > 0 ? "tri.range_2" : "tri.bins_2",
                  "needs axes: rp_pi or s_mu");
  TSL_TRY(check_estimator(deck, s, p, own));
done:
  return err;
}
