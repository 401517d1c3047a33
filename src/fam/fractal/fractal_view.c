/* What is seen: from the deck's view to coordinates, and where precision ends. */
#include "fractal_family.h"

#include <math.h>

/** Sides of the default views: squares that hold the whole set. */
static const struct {
  double centre[2], side;
} wholes[FRACTAL_N_SETS] = {[FRACTAL_MANDELBROT] = {{-0.5, 0}, 3},
                            [FRACTAL_JULIA] = {{0, 0}, 0},
                            [FRACTAL_BURNING_SHIP] = {{-0.5, -0.5}, 3.75}};

/** The filled Julia set of c lies in the disc of radius (1 + sqrt(1 + 4 |c|)) / 2. */
static double julia_side(const tsl_reals *c) {
  return 1 + sqrt(1 + 4 * hypot(c->values[0], c->values[1]));
}

static void see_whole(const fractal_deck *s, fractal_view *view) {
  const double side = s->set == FRACTAL_JULIA ? julia_side(&s->c) : wholes[s->set].side;
  const int64_t shorter = s->xres < s->yres ? s->xres : s->yres;
  for (int axis = 0; axis < 2; axis++) {
    view->centre[axis] = wholes[s->set].centre[axis];
    view->step[axis] = side / (double)shorter;
  }
}

static tsl_err see_corners(const tsl_deck *deck, const fractal_deck *s, fractal_view *view) {
  tsl_err err = TSL_OK;
  const double *v = s->view.corners.values;
  const int64_t n[2] = {s->xres, s->yres};
  if (s->view.corners.n != 4)
    TSL_DECK_FAIL(deck, "fractal.view.corners", "%llu numbers; wanted 4: [x_lo, y_lo, x_hi, y_hi]",
                  (unsigned long long)s->view.corners.n);
  for (int axis = 0; axis < 2; axis++) {
    const char name = axis == 0 ? 'x' : 'y';
    const double lo = v[axis], hi = v[axis + 2];
    if (!(lo < hi))
      TSL_DECK_FAIL(deck, "fractal.view.corners",
                    "the view is %s: %c_lo = %g must be below %c_hi "
                    "= %g",
                    lo == hi ? "empty" : "inverted", name, lo, name, hi);
    view->centre[axis] = 0.5 * (lo + hi);
    view->step[axis] = (hi - lo) / (double)n[axis];
  }
done:
  return err;
}

static tsl_err see_centre(const tsl_deck *deck, const fractal_deck *s, fractal_view *view) {
  tsl_err err = TSL_OK;
  if (!(s->view.width > 0))
    TSL_DECK_FAIL(deck, "fractal.view", "centre needs width, the width of the picture");
  if (s->view.centre.n != 2)
    TSL_DECK_FAIL(deck, "fractal.view", "width needs centre as [x, y], got %llu numbers",
                  (unsigned long long)s->view.centre.n);
  for (int axis = 0; axis < 2; axis++) {
    view->centre[axis] = s->view.centre.values[axis];
    view->step[axis] = s->view.width / (double)s->xres;
  }
done:
  return err;
}

tsl_err fractal_view_make(const tsl_deck *deck, const fractal_deck *s, fractal_view *view) {
  tsl_err err = TSL_OK;
  const bool around =
      tsl_deck_given(deck, "fractal.view.centre") || tsl_deck_given(deck, "fractal.view.width");
  const bool corners = tsl_deck_given(deck, "fractal.view.corners");
  if (around && corners)
    TSL_DECK_FAIL(deck, "fractal.view", "either corners, or centre and width; not both");
  if (corners)
    TSL_TRY(see_corners(deck, s, view));
  else if (around)
    TSL_TRY(see_centre(deck, s, view));
  else
    see_whole(s, view);
done:
  return err;
}

/* -------------------------------------------------------------- precision */

/** Gap between a number of the type near v >= 0 and the next. */
static double gap(int32_t type, double v) {
  if (type == TSL_F32) return (double)nextafterf((float)v, INFINITY) - (double)(float)v;
  return nextafter(v, INFINITY) - v;
}

/** Largest coordinate of an axis of n pixels, or a little more. */
static double reach(const fractal_view *view, int axis, int64_t n, double step) {
  return fabs(view->centre[axis]) + 0.5 * (double)n * step;
}

/**
 * Steps of at least one gap stay apart: rounding is monotonic and commutes with shifts by a gap.
 * The smallest such step from the view's own on, or 0 when the type has too few numbers.
 */
static double smallest_step(const fractal_view *view, int axis, int64_t n, int32_t type) {
  const double too_large = 1e12;
  double step = view->step[axis];
  while (step < too_large) {
    const double wanted = gap(type, reach(view, axis, n, step));
    if (wanted <= step) return step;
    step = wanted;
  }
  return 0;
}

/** Refusal of axis: its extent is too small, or n is too large. */
static tsl_err fail_axis(const tsl_deck *deck, const fractal_deck *s, const fractal_view *view,
                         int axis, int32_t type) {
  tsl_err err = TSL_OK;
  const bool square = s->view.corners.n == 0; /* then the width alone sets both steps */
  const int shown = square ? 0 : axis;
  const int64_t n[2] = {s->xres, s->yres};
  const char *words[2] = {"width", "height"}, *pixels[2] = {"columns", "rows"};
  const char *hint = type == TSL_F32 ? ", or use precision: fp64" : "";
  const double here = smallest_step(view, axis, n[axis], type);
  const double other = smallest_step(view, 1 - axis, n[1 - axis], type);
  const double step = square && other > here ? other : here;
  if (here == 0)
    TSL_DECK_FAIL(deck, axis == 0 ? "fractal.xres" : "fractal.yres",
                  "%s has too few numbers for %lld %s at any %s; ask for fewer%s",
                  type == TSL_F32 ? "fp32" : "fp64", (long long)n[axis], pixels[axis], words[axis],
                  hint);
  TSL_DECK_FAIL(deck, "fractal.view",
                "%s %.3g is too small: neighbouring %s would be one number in %s; with %lld %s the "
                "smallest meaningful %s here is %.4g%s",
                words[shown], (double)n[shown] * view->step[shown], pixels[axis],
                type == TSL_F32 ? "fp32" : "fp64", (long long)n[shown], pixels[shown], words[shown],
                1.0005 * (double)n[shown] * step, hint);
done:
  return err;
}

tsl_err fractal_view_check(const tsl_deck *deck, const fractal_deck *s, const fractal_view *view) {
  tsl_err err = TSL_OK;
  const int32_t type = s->precision == 0 ? TSL_F64 : TSL_F32;
  const int64_t n[2] = {s->xres, s->yres};
  for (int axis = 0; axis < 2; axis++)
    if (n[axis] > 1 && view->step[axis] < gap(type, reach(view, axis, n[axis], view->step[axis])))
      TSL_TRY(fail_axis(deck, s, view, axis, type));
done:
  return err;
}

double fractal_coordinate(const fractal_view *view, int axis, int64_t n, int64_t i) {
  const double offset = ((double)i + 0.5 - (double)n / 2) * view->step[axis];
  return axis == 0 ? view->centre[axis] + offset : view->centre[axis] - offset;
}
