/* Does the deck make sense? Every refusal names the deck's line and the way out. */
#include "tri_bits.h"
#include "tri_family.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double largest[TSL_N_TYPES] = {[TSL_F32] = FLT_MAX, [TSL_F64] = DBL_MAX};

tsl_err tri_check_function(const tsl_deck *deck, const tri_deck *s) {
  tsl_err err = TSL_OK;
  char path[64];
  const bool equation = s->function.name == TRI_WORD_EQUATION;
  for (const tsl_key *key = tri_function_keys + TRI_OF_EQUATIONS; key->name != NULL && !equation;
       key++) {
    (void)snprintf(path, sizeof path, "tri.function.%s", key->name);
    if (tsl_deck_given(deck, path))
      TSL_DECK_FAIL(deck, path, "not used by function %s; remove it",
                    tri_choice_words[s->function.name]);
  }
done:
  return err;
}

/** Outputs that look for small values have no meaning where large ones are near. */
static tsl_err check_similarity(const tsl_deck *deck, const tri_deck *s) {
  tsl_err err = TSL_OK;
  const uint32_t of_distances =
      TRI_BIT(MINIMUM) | TRI_BIT(MAXIMUM) | TRI_BIT(DBSCAN) | TRI_BIT(LINKAGE);
  const bool similar = tri_abouts[tri_deck_function(s)].sum == TRI_SIMILAR;
  if (similar && (of_distances >> s->output & 1) != 0)
    TSL_DECK_FAIL(deck, "tri.output", "%s is of distances, and function %s gives scores%s",
                  tri_output_words[s->output], tri_choice_words[s->function.name],
                  s->output == TRI_MAXIMUM ? "; topk with k: 1 has the best" : "");
done:
  return err;
}

/** Gravity: of two sets the other has the masses. */
static tsl_err check_masses(const tsl_deck *deck, const tri_deck *s) {
  tsl_err err = TSL_OK;
  const bool other = tri_other_given(deck);
  const points_generator *generator = other ? &s->other.generator : &s->generator;
  const char *column = other ? "tri.other.input.mass_column" : "tri.input.mass_column";
  if (generator->kind == POINTS_NONE && !tsl_deck_given(deck, "tri.mass") &&
      !tsl_deck_given(deck, column))
    TSL_DECK_FAIL(deck, "tri.function", "gravity needs masses: give %s or mass",
                  column + strlen("tri."));
done:
  return err;
}

tsl_err tri_check_pairing(const tsl_deck *deck, const tri_deck *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(tri_check_function(deck, s));
  TSL_TRY(check_similarity(deck, s));
  if (s->atom_pairs != NULL)
    TSL_DECK_FAIL(deck, "tri.atom_pairs", "goes with a trajectory, input.frames; remove it");
  if (s->output == TRI_PAIRED && !tri_other_given(deck))
    TSL_DECK_FAIL(deck, "tri.output", "paired is of two sets: give the second one as other");
  const bool gravity = tri_deck_function(s) == TRI_GRAVITY;
  const bool equation = s->function.name == TRI_WORD_EQUATION;
  if (gravity && s->output != TRI_FORCES)
    TSL_DECK_FAIL(deck, "tri.output", "function gravity gives output forces only, not %s",
                  tri_output_words[s->output]);
  if (!gravity && !equation && s->output == TRI_FORCES)
    TSL_DECK_FAIL(deck, "tri.output", "forces come from function gravity or an equation only");
  if (equation && s->output == TRI_FORCES && s->function.gradient == NULL)
    TSL_DECK_FAIL(deck, "tri.output",
                  "forces of an equation need the key gradient in tri.function");
  if (equation && s->output != TRI_FORCES && s->function.gradient != NULL)
    TSL_DECK_FAIL(deck, "tri.function.gradient", "not used by output %s; remove it",
                  tri_output_words[s->output]);
  const uint32_t output = 1u << s->output;
  const uint32_t ordered = TRI_BIT(TOPK) | TRI_BIT(FORCES) | TRI_BIT(SUM) | TRI_BIT(DEGREE) |
                           TRI_BIT(MINIMUM) | TRI_BIT(MAXIMUM) | TRI_BIT(CSR);
  const uint32_t of_equations = ordered | TRI_BIT(CONDENSED) | TRI_BIT(SQUARE) |
                                TRI_BIT(THRESHOLD) | TRI_BIT(HISTOGRAM) | TRI_BIT(PAIRED);
  if (s->box.n > 0 && s->function.name != TRI_EUCLIDEAN && !equation)
    TSL_DECK_FAIL(deck, "tri.box",
                  "a periodic box goes with function euclidean only, or an equation");
  if (equation && (output & of_equations) == 0)
    TSL_DECK_FAIL(deck, "tri.output", "function equation gives no output %s",
                  tri_output_words[s->output]);
  if (equation && !s->function.symmetric && (output & ordered) == 0 && !tri_two_given(deck, s))
    TSL_DECK_FAIL(
        deck, "tri.output",
        "output %s is of unordered pairs: say symmetric: yes in tri.function if the value "
        "of (i, j) is that of (j, i), or ask for topk or sum",
        tri_output_words[s->output]);
  if (tri_abouts[tri_deck_function(s)].extra == TRI_RADIUS && !tsl_deck_given(deck, "tri.radius") &&
      !tsl_deck_given(deck, "tri.input.radius_column"))
    TSL_DECK_FAIL(deck, "tri.function", "%s needs radii: give input.radius_column or radius",
                  tri_choice_words[s->function.name]);
  if (gravity) TSL_TRY(check_masses(deck, s));
done:
  return err;
}

/** One number must not come from two places. */
static tsl_err check_twice(const tsl_deck *deck, const char *one, const char *other) {
  tsl_err err = TSL_OK;
  if (tsl_deck_given(deck, one) && tsl_deck_given(deck, other))
    TSL_DECK_FAIL(deck, one, "given together with %s; give one of them", other);
done:
  return err;
}

/** A number must not overflow the chosen precision. */
static tsl_err check_large(const tsl_deck *deck, const char *path, const tri_params *p,
                           double value) {
  tsl_err err = TSL_OK;
  if (fabs(value) > largest[p->type])
    TSL_DECK_FAIL(deck, path, "%g is too large for %s", value,
                  p->type == TSL_F32 ? "fp32; use precision: fp64" : "fp64");
done:
  return err;
}

tsl_err tri_check_fits(const tsl_deck *deck, const char *path, const tri_params *p, double value) {
  tsl_err err = TSL_OK;
  TSL_TRY(check_large(deck, path, p, value));
  if (value != 0 && p->type == TSL_F32 && fabs(value) < FLT_MIN)
    TSL_DECK_FAIL(deck, path, "%g is too small for fp32; use precision: fp64", value);
done:
  return err;
}

static tsl_err check_box(const tsl_deck *deck, const tri_deck *s, tri_params *p) {
  tsl_err err = TSL_OK;
  if (s->box.n > 3) TSL_DECK_FAIL(deck, "tri.box", "at most 3 edges are possible");
  for (uint64_t k = 0; k < s->box.n; k++) {
    TSL_TRY(tri_check_fits(deck, "tri.box", p, s->box.values[k]));
    if (!(s->box.values[k] > 0))
      TSL_DECK_FAIL(deck, "tri.box", "edge %llu is %g; every edge must be positive",
                    (unsigned long long)k, s->box.values[k]);
    if (s->box.values[k] < (p->type == TSL_F32 ? TRI_LEAST_F32 : TRI_LEAST_F64))
      TSL_DECK_FAIL(deck, "tri.box", "edge %llu is %g, so short that values underflow %s; use %s",
                    (unsigned long long)k, s->box.values[k], p->type == TSL_F32 ? "fp32" : "fp64",
                    p->type == TSL_F32 ? "precision: fp64" : "a smaller unit of length");
    p->box[k] = s->box.values[k];
  }
done:
  return err;
}

bool tri_is_boxed(const tri_deck *s) {
  return s->box.n > 0 && s->function.name == TRI_EUCLIDEAN;
}

double tri_half_box(const tri_deck *s) {
  double edge = INFINITY;
  for (uint64_t k = 0; tri_is_boxed(s) && k < s->box.n; k++) edge = fmin(edge, s->box.values[k]);
  return edge / 2;
}

tsl_err tri_check_cut(const tsl_deck *deck, const tri_deck *s, const char *path, double cut) {
  tsl_err err = TSL_OK;
  if (cut > tri_half_box(s))
    TSL_DECK_FAIL(deck, path,
                  "the cut-off %g needs a periodic box with every edge at least %g; the shortest "
                  "is %g",
                  cut, 2 * cut, 2 * tri_half_box(s));
done:
  return err;
}

static tsl_err check_threshold(const tsl_deck *deck, const tri_deck *s, tri_params *p) {
  tsl_err err = TSL_OK;
  if (!tsl_deck_given(deck, "tri.threshold") && s->function.name != TRI_OVERLAP)
    TSL_DECK_FAIL(deck, "tri.output", "output %s needs the key threshold",
                  tri_output_words[s->output]);
  TSL_TRY(tri_check_fits(deck, "tri.threshold", p, s->threshold));
  TSL_TRY(tri_check_cut(deck, s, "tri.threshold", s->threshold));
  p->threshold = s->threshold;
done:
  return err;
}

/** Are values of points with themselves kept? */
static bool keeps_own(const tsl_deck *deck, const tri_deck *s, const tri_params *p) {
  if (tri_two_given(deck, s)) return true;
  if (tri_is_equation(p))
    return !p->gradient && (s->function.diagonal || !tsl_deck_given(deck, "tri.function.diagonal"));
  return tri_abouts[p->function].extra == TRI_RADIUS || tri_is_similarity(p);
}

/** Threads of a block of the maps; the words of the key block in its order. */
static void check_block(const tri_deck *s, tri_params *p) {
  static const struct {
    int32_t side, rows;
  } blocks[] = {{8, 0},  {16, 0}, {32, 0}, {8, 2},  {8, 4},  {16, 2},
                {16, 4}, {16, 8}, {32, 2}, {32, 4}, {32, 8}, {32, 16}};
  p->block = blocks[s->block].side;
  p->block_rows = blocks[s->block].rows;
  p->cdp_cutoff = (int32_t)s->cdp_cutoff;
  p->cdp_depth = s->cdp_depth;
}

tsl_err tri_check_values(const tsl_deck *deck, const tri_deck *s, tri_params *p) {
  tsl_err err = TSL_OK;
  p->function = tri_deck_function(s);
  p->output = s->output;
  p->type = tri_type_of(s);
  p->map = s->map;
  check_block(s, p);
  p->scale = s->sphere_radius;
  p->softening = s->softening;
  p->constant = s->constant;
  p->n_quantities = (int32_t)s->function.quantities.n;
  p->n_vectors = (int32_t)(tri_other_given(deck) ? s->other.input.vector_columns.n
                                                 : s->input.vector_columns.n);
  p->gradient = tri_is_equation(p) && p->output == TRI_FORCES;
  if (p->gradient) p->output = TRI_SUM;
  p->keeps_diagonal = keeps_own(deck, s, p);
  TSL_TRY(tri_check_fits(deck, "tri.sphere_radius", p, s->sphere_radius));
  TSL_TRY(check_large(deck, "tri.softening", p, s->softening * s->softening));
  TSL_TRY(check_large(deck, "tri.G", p, s->constant));
  TSL_TRY(check_twice(deck, "tri.radius", "tri.input.radius_column"));
  TSL_TRY(check_twice(deck, "tri.mass", "tri.input.mass_column"));
  TSL_TRY(check_box(deck, s, p));
  if (tri_has_threshold(p)) TSL_TRY(check_threshold(deck, s, p));
  p->similar = tri_is_similarity(p) && (tri_has_threshold(p) || p->output == TRI_TOPK);
  if (p->similar) p->threshold = -p->threshold;
done:
  return err;
}

/** The result's bytes must be countable. */
static tsl_err check_result(const tsl_deck *deck, const tri_params *p) {
  tsl_err err = TSL_OK;
  const int64_t rows = tri_rows_of(p), columns = tri_columns_of(p);
  const bool matrix = p->output == TRI_SQUARE || p->two;
  int64_t pairs = 0, cells = 0;
  const bool countable =
      (p->two || tsl_pairs_i64(p->n, &pairs)) && tsl_mul_i64(rows, columns, &cells) &&
      tsl_mul_i64(matrix ? cells : pairs, (int64_t)tsl_type_bytes((tsl_type)p->type), &cells);
  if (!countable && (p->output == TRI_SQUARE || p->output == TRI_CONDENSED))
    TSL_DECK_FAIL(deck, "tri.output", "%lld points give more %s values than 64 bits count",
                  (long long)p->n, tri_output_words[p->output]);
done:
  return err;
}

/** Where the points of each set are. */
static tsl_err set_places(const tsl_deck *deck, const tri_deck *s, const tri_points *points,
                          tri_params *p) {
  tsl_err err = TSL_OK;
  const int64_t rows = points->table.n - (s->self ? 0 : points->other);
  p->two = tri_two_given(deck, s);
  p->columns = p->two ? points->other : 0;
  p->first = (p->columns + TRI_PAD - 1) / TRI_PAD * TRI_PAD;
  p->n = p->first + rows;
  p->n_pad = (p->n + TRI_PAD - 1) / TRI_PAD * TRI_PAD;
  if (p->n > TRI_MAX_N)
    TSL_DECK_FAIL(deck, "tri", "both sets have %lld points; %lld are possible",
                  (long long)points->table.n, (long long)TRI_MAX_N - TRI_PAD);
done:
  return err;
}

/** Point k of both sets. */
static tsl_err check_paired(const tsl_deck *deck, const tri_params *p) {
  tsl_err err = TSL_OK;
  if (p->output == TRI_PAIRED && tri_rows_of(p) != p->columns)
    TSL_DECK_FAIL(deck, "tri.other",
                  "output paired takes number k of both sets, but the first has %lld and the other "
                  "has %lld",
                  (long long)tri_rows_of(p), (long long)p->columns);
done:
  return err;
}

static tsl_err check_dimensions(const tsl_deck *deck, const tri_deck *s, const tri_params *p) {
  tsl_err err = TSL_OK;
  if (tri_abouts[p->function].prepare == TRI_SPHERE && p->d_read != 2)
    TSL_DECK_FAIL(deck, "tri.function",
                  "%s needs 2 columns, latitude and longitude in degrees; the points have %lld",
                  tri_function_words[p->function], (long long)p->d_read);
  if (p->function == TRI_GRAVITY && p->d_read > 3)
    TSL_DECK_FAIL(deck, "tri.function", "gravity needs 1 to 3 coordinates; the points have %lld",
                  (long long)p->d_read);
  if (s->box.n > 0 && (int64_t)s->box.n != p->d_read)
    TSL_DECK_FAIL(deck, "tri.box", "%llu edges, but the points have %lld dimensions",
                  (unsigned long long)s->box.n, (long long)p->d_read);
done:
  return err;
}

/** What finishes of TRI_TERM_LIST and TRI_TRUTH_LIST take. */
static double scale_of(const tri_deck *s, const tri_params *p) {
  if (p->function == TRI_MINKOWSKI) return s->function.order;
  if (tri_is_similarity(p)) return p->similar ? -1 : 1;
  return (double)p->d;
}

tsl_err tri_check_points(const tsl_deck *deck, const tri_deck *s, const tri_points *points,
                         tri_params *p) {
  tsl_err err = TSL_OK;
  const bool spatial = tri_abouts[p->function].prepare == TRI_SPHERE || p->function == TRI_GRAVITY;
  TSL_TRY(set_places(deck, s, points, p));
  TSL_TRY(check_paired(deck, p));
  p->d_read = points->packed ? TRI_BYTE_BITS * points->d : points->d;
  p->d = spatial ? 3 : p->d_read;
  TSL_TRY(check_dimensions(deck, s, p));
  TSL_TRY(check_result(deck, p));
  if (tri_is_terms(p)) p->scale = scale_of(s, p);
  if (p->output == TRI_DBSCAN) p->k = s->min_samples - 1;
  const int64_t most = tri_partners_of(p);
  if (tri_output_in(p, TRI_BIT(MINIMUM) | TRI_BIT(LINKAGE))) p->k = most > 0;
  if (p->output != TRI_TOPK || most == 0) goto done;
  if (s->k > most)
    TSL_DECK_FAIL(deck, "tri.k", "%lld neighbours asked for, but %lld points have %lld each",
                  (long long)s->k, (long long)tri_rows_of(p), (long long)most);
  p->k = s->k;
done:
  return err;
}
