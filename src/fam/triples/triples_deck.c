/* The deck section `triples:`: words, keys, and what goes with what. */
#include "triples_family.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const triples_function_words[] = {"axilrod_teller", "triangles", "equation", NULL};

static const char *const output_words[] = {"sum", "sums", "forces", NULL};
enum { SUM, SUMS, FORCES };
static const char *const precision_words[] = {"fp32", "fp64", NULL};

#define AT(member) offsetof(triples_deck, member)
#define BIG 1e300
#define TINY 1e-300

const tsl_key triples_keys[] = {
    {"function", TSL_KEY_MAP, AT(function), NULL, 0, 0, triples_function_words,
     triples_function_keys, sizeof(triples_function_deck),
     "axilrod_teller: energy and forces of the triple-dipole potential; triangles: how many have "
     "their sides in which bins; or an equation, a map with the keys below."},
    TSL_CHOICE_KEY(
        "output", AT(output), "", output_words,
        "Equation: sum (default), the sum over all triples; sums, also that of each point over its "
        "triples; forces, these and minus the sum's slope, by function.gradient (sockets)."),
    TSL_CHOICE_KEY("precision", AT(precision), "fp32", precision_words,
                   "Type of points and arithmetic; sums are in double precision."),
    TSL_TEXT_KEY("unit", AT(unit), "",
                 "Unit of the coordinates, written to the output; default: angstrom for XYZ."),
    TSL_MAP_KEY("input", AT(input), points_input_keys, sizeof(points_input), "Points from a file."),
    TSL_MAP_KEY("generator", AT(generator), points_generator_keys, sizeof(points_generator),
                "Made-up points instead of a file."),
    TSL_REAL_KEY("strength", AT(strength), "1", -BIG, BIG,
                 "axilrod_teller: nu (C9), an energy times a length to the ninth power."),
    TSL_REAL_KEY("cutoff", AT(cutoff), "", TINY, BIG,
                 "axilrod_teller, equation: longest side of the triples that count; default all. A "
                 "box needs one, at most a third of its shortest edge."),
    TSL_REALS_KEY("box", AT(box), TINY, BIG,
                  "Periods of a periodic box, one per dimension, in the unit of the coordinates."),
    TSL_INT_KEY("bins", AT(bins), "", 1, TRIPLES_MAX_BINS,
                "triangles: number of bins of a side; default 10."),
    TSL_REALS_KEY("range", AT(range), 0, BIG,
                  "triangles: first and last edge of the bins of a side, [lo, hi)."),
    {0}};

/* ------------------------------------------------------------------ checks */

#define F(function) (1u << TRIPLES_##function)

/** A key, and the functions that use it. */
static const struct {
  const char *path;
  uint32_t functions;
} uses[] = {{"triples.function.value", F(EQUATION)},
            {"triples.function.gradient", F(EQUATION)},
            {"triples.function.symmetric", F(EQUATION)},
            {"triples.function.unit", F(EQUATION)},
            {"triples.function.quantities", F(EQUATION)},
            {"triples.function.parameters", F(EQUATION)},
            {"triples.output", F(EQUATION)},
            {"triples.strength", F(AXILROD_TELLER)},
            {"triples.cutoff", F(AXILROD_TELLER) | F(EQUATION)},
            {"triples.bins", F(TRIANGLES)},
            {"triples.range", F(TRIANGLES)}};

/** Three sides of at most a third of the shortest edge close within the box, whatever images. */
static tsl_err check_longest(const tsl_deck *deck, const triples_deck *s, const char *path,
                             double longest) {
  tsl_err err = TSL_OK;
  double edge = INFINITY;
  for (uint64_t k = 0; k < s->box.n; k++) edge = fmin(edge, s->box.values[k]);
  if (3 * longest > edge * (1 + 0x1p-50))
    TSL_DECK_FAIL(deck, path,
                  "sides up to %g need a periodic box with every edge at least %g, so that a "
                  "triangle has one image; the shortest is %g",
                  longest, 3 * longest, edge);
done:
  return err;
}

static tsl_err check_triangles(const tsl_deck *deck, const triples_deck *s, triples_params *p) {
  tsl_err err = TSL_OK;
  if (s->range.n != 2)
    TSL_DECK_FAIL(deck, "triples.range", "triangles need two edges, range: [lo, hi]");
  if (!(s->range.values[0] < s->range.values[1]))
    TSL_DECK_FAIL(deck, "triples.range", "lo = %g must be less than hi = %g", s->range.values[0],
                  s->range.values[1]);
  TSL_TRY(check_longest(deck, s, "triples.range", s->range.values[1]));
  p->bins = tsl_deck_given(deck, "triples.bins") ? (int32_t)s->bins : 10;
  p->range_lo = s->range.values[0];
  p->range_hi = s->range.values[1];
done:
  return err;
}

/** Axilrod-Teller and equations. */
static tsl_err check_cutoff(const tsl_deck *deck, const triples_deck *s, triples_params *p) {
  tsl_err err = TSL_OK;
  const bool given = tsl_deck_given(deck, "triples.cutoff");
  if (s->box.n > 0 && !given)
    TSL_DECK_FAIL(deck, "triples.box", "a periodic box needs a cut-off, key cutoff");
  p->strength = s->strength;
  p->cutoff = given ? s->cutoff : INFINITY;
  if (given) TSL_TRY(check_longest(deck, s, "triples.cutoff", p->cutoff));
done:
  return err;
}

/** Equations: forces and the gradient belong together. */
static tsl_err check_gradient(const tsl_deck *deck, const triples_deck *s) {
  tsl_err err = TSL_OK;
  const bool forces = s->output == FORCES;
  if (forces && s->function.gradient == NULL)
    TSL_DECK_FAIL(deck, "triples.output",
                  "forces of an equation need the key gradient in triples.function");
  if (!forces && s->function.gradient != NULL)
    TSL_DECK_FAIL(deck, "triples.function.gradient", "not used by output %s; remove it",
                  output_words[s->output]);
done:
  return err;
}

tsl_err triples_check(const tsl_deck *deck, const triples_deck *s, triples_params *p) {
  tsl_err err = TSL_OK;
  for (size_t u = 0; u < sizeof uses / sizeof uses[0]; u++)
    if ((uses[u].functions & 1u << s->function.name) == 0 && tsl_deck_given(deck, uses[u].path))
      TSL_DECK_FAIL(deck, uses[u].path, "not used by function %s; remove it",
                    triples_function_words[s->function.name]);
  if (s->box.n > 3) TSL_DECK_FAIL(deck, "triples.box", "at most 3 edges are possible");
  TSL_TRY(check_gradient(deck, s));
  p->function = s->function.name;
  p->all = s->output != SUM;
  p->slopes = s->output == FORCES;
  p->n_quantities = (int32_t)s->function.quantities.n;
  p->type = s->precision == 0 ? TSL_F32 : TSL_F64;
  for (uint64_t k = 0; k < 3; k++) p->box[k] = k < s->box.n ? s->box.values[k] : INFINITY;
  if (p->function == TRIPLES_TRIANGLES)
    TSL_TRY(check_triangles(deck, s, p));
  else
    TSL_TRY(check_cutoff(deck, s, p));
done:
  return err;
}

/* ------------------------------------------------------------------ points */

static tsl_err check_sizes(const tsl_deck *deck, bool made, int64_t n, int64_t d) {
  tsl_err err = TSL_OK;
  if (n > TRIPLES_MAX_N)
    TSL_DECK_FAIL(deck, made ? "triples.generator.n" : "triples.input.file",
                  "%lld points; triples of at most %d are possible", (long long)n, TRIPLES_MAX_N);
  if (d > 3)
    TSL_DECK_FAIL(deck, made ? "triples.generator.d" : "triples.input.file",
                  "points of %lld coordinates; triples have 1 to 3%s", (long long)d,
                  made ? "" : ": name the columns");
done:
  return err;
}

/** Columns of the coordinates, then of quantities. */
static tsl_err read_points(const points_source *source, const triples_function_deck *s,
                           triples_points *points) {
  tsl_err err = TSL_OK;
  const tsl_ints *x = &source->input->columns;
  const lang_quantity *q = s->quantities.values;
  int64_t list[3 + LANG_QUANTITIES_MAX], n = 0;
  if (s->quantities.n > 0 && x->n == 0)
    TSL_DECK_FAIL(source->deck, "triples.input",
                  "give columns, those of the coordinates: with columns of quantities the others "
                  "are not all coordinates");
  if (x->n > 3 || s->quantities.n > LANG_QUANTITIES_MAX)
    TSL_DECK_FAIL(source->deck, x->n > 3 ? "triples.input.columns" : "triples.function.quantities",
                  "%d at most", x->n > 3 ? 3 : LANG_QUANTITIES_MAX);
  for (uint64_t k = 0; k < x->n; k++) list[n++] = x->values[k];
  for (uint64_t k = 0; k < s->quantities.n; k++) list[n++] = q[k].column;
  TSL_TRY(points_read(source, list, n, -1, &points->table, points->from, sizeof points->from));
done:
  return err;
}

tsl_err triples_load(const tsl_deck *deck, triples_deck *s, triples_points *points) {
  tsl_err err = TSL_OK;
  points_source source = {
      .deck = deck, .section = "triples", .input = &s->input, .generator = &s->generator};
  const int64_t n_quantities = (int64_t)s->function.quantities.n;
  TSL_TRY(points_choose(&source));
  TSL_TRY(points_settle(&source, &s->generator));
  points->made = s->generator.kind != POINTS_NONE;
  if (points->made && n_quantities > 0)
    TSL_DECK_FAIL(deck, "triples.function.quantities", "made-up points have no columns to take");
  if (points->made) {
    TSL_TRY(check_sizes(deck, true, s->generator.n, s->generator.d));
    TSL_TRY(points_make(&source, &s->box, "triples.box", &points->table, points->from,
                        sizeof points->from));
  } else {
    TSL_TRY(read_points(&source, &s->function, points));
    TSL_TRY(check_sizes(deck, false, points->table.n, points->table.columns - n_quantities));
  }
  (void)snprintf(points->unit, sizeof points->unit, "%s",
                 s->unit != NULL ? s->unit : points_unit(&source));
  if (s->box.n > 0 && (int64_t)s->box.n != points->table.columns - n_quantities)
    TSL_DECK_FAIL(deck, "triples.box", "%llu edges, but the points have %lld dimensions",
                  (unsigned long long)s->box.n, (long long)(points->table.columns - n_quantities));
done:
  return err;
}
