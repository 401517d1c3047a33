/* The deck section `triples:`: words, keys, and what goes with what. */
#include "triples_family.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const triples_function_words[] = {"axilrod_teller", "triangles", NULL};

static const char *const precision_words[] = {"fp32", "fp64", NULL};
static const char *const format_words[] = {"auto", "csv", "npy", "hdf5", "xyz", NULL};
static const char *const delimiter_words[] = {"auto", "comma", "semicolon", "tab", "blank", NULL};
static const char *const header_words[] = {"auto", "yes", "no", NULL};

#define AT(member) offsetof(triples_deck, member)
#define IN(member) (offsetof(triples_deck, input.member) - offsetof(triples_deck, input))
#define GEN(member) (offsetof(triples_deck, generator.member) - offsetof(triples_deck, generator))
#define BIG 1e300
#define TINY 1e-300

static const tsl_key triples_input_keys[] = {
    {"file", TSL_KEY_TEXT, IN(file), "", 0, 0, NULL, NULL, 0,
     "File with one point per row; relative to the deck's folder."},
    {"format", TSL_KEY_CHOICE, IN(format), "auto", 0, 0, format_words, NULL, 0,
     "File format; auto looks at the first bytes and at the ending .xyz."},
    {"dataset", TSL_KEY_TEXT, IN(dataset), "", 0, 0, NULL, NULL, 0,
     "HDF5: path of the dataset in the file, 1-D or 2-D."},
    {"columns", TSL_KEY_INTS, IN(columns), "", 0, TABLE_MAX_COLUMNS, NULL, NULL, 0,
     "Columns of the coordinates, counted from 0; default: all (XYZ: 0, 1, 2)."},
    {"delimiter", TSL_KEY_CHOICE, IN(delimiter), "auto", 0, 0, delimiter_words, NULL, 0,
     "Text: what separates fields; auto takes semicolon, comma, tab or blanks."},
    {"header", TSL_KEY_CHOICE, IN(header), "auto", 0, 0, header_words, NULL, 0,
     "Text: is the first line a header; auto: yes when no wanted field is a number."},
    {"comment", TSL_KEY_TEXT, IN(comment), "#", 0, 0, NULL, NULL, 0,
     "Text: one character that starts a comment."},
    {0}};

static const tsl_key triples_generator_keys[] = {
    {"kind", TSL_KEY_CHOICE, GEN(kind), "none", 0, 0, tri_kind_words, NULL, 0,
     "uniform: in a cube, or in the box; plummer: a star cluster; clusters: Gaussian blobs."},
    {"n", TSL_KEY_INT, GEN(n), "1000", 0, TRIPLES_MAX_N, NULL, NULL, 0, "Points."},
    {"d", TSL_KEY_INT, GEN(d), "3", 1, 3, NULL, NULL, 0, "Dimensions (plummer: always 3)."},
    {"seed", TSL_KEY_INT, GEN(seed), "1", 0, 0x1p53, NULL, NULL, 0, "Seed of the random numbers."},
    {"side", TSL_KEY_REAL, GEN(side), "1", TINY, BIG, NULL, NULL, 0,
     "Edge of the cube of points or cluster centres; with a box uniform points fill that."},
    {"scale", TSL_KEY_REAL, GEN(scale), "1", TINY, BIG, NULL, NULL, 0,
     "plummer: scale radius; clusters: standard deviation."},
    {"clusters", TSL_KEY_INT, GEN(clusters), "8", 1, 1e9, NULL, NULL, 0, "Number of blobs."},
    {0}};

const tsl_key triples_keys[] = {
    {"function", TSL_KEY_CHOICE, AT(function), NULL, 0, 0, triples_function_words, NULL, 0,
     "axilrod_teller: energy and forces of the triple-dipole potential; triangles: how many have "
     "their sides in which bins."},
    {"precision", TSL_KEY_CHOICE, AT(precision), "fp32", 0, 0, precision_words, NULL, 0,
     "Type of points and arithmetic; sums are in double precision."},
    {"unit", TSL_KEY_TEXT, AT(unit), "", 0, 0, NULL, NULL, 0,
     "Unit of the coordinates, written to the output; default: angstrom for XYZ."},
    {"input", TSL_KEY_MAP, AT(input), "", 0, 0, NULL, triples_input_keys,
     sizeof((triples_deck *)0)->input, "Points from a file."},
    {"generator", TSL_KEY_MAP, AT(generator), "", 0, 0, NULL, triples_generator_keys,
     sizeof((triples_deck *)0)->generator, "Made-up points instead of a file."},
    {"strength", TSL_KEY_REAL, AT(strength), "1", -BIG, BIG, NULL, NULL, 0,
     "axilrod_teller: nu (C9), an energy times a length to the ninth power."},
    {"cutoff", TSL_KEY_REAL, AT(cutoff), "", TINY, BIG, NULL, NULL, 0,
     "axilrod_teller: longest side of the triples that count; default all. A box needs one, at "
     "most "
     "a third of its shortest edge."},
    {"box", TSL_KEY_REALS, AT(box), "", TINY, BIG, NULL, NULL, 0,
     "Periods of a periodic box, one per dimension, in the unit of the coordinates."},
    {"bins", TSL_KEY_INT, AT(bins), "", 1, TRIPLES_MAX_BINS, NULL, NULL, 0,
     "triangles: number of bins of a side; default 10."},
    {"range", TSL_KEY_REALS, AT(range), "", 0, BIG, NULL, NULL, 0,
     "triangles: first and last edge of the bins of a side, [lo, hi)."},
    {0}};

/* ------------------------------------------------------------------ checks */

/** A key, and the function that uses it. */
static const struct {
  const char *path;
  int function;
} uses[] = {{"triples.strength", TRIPLES_AXILROD_TELLER},
            {"triples.cutoff", TRIPLES_AXILROD_TELLER},
            {"triples.bins", TRIPLES_TRIANGLES},
            {"triples.range", TRIPLES_TRIANGLES}};

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

static tsl_err check_axilrod_teller(const tsl_deck *deck, const triples_deck *s,
                                    triples_params *p) {
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

tsl_err triples_check(const tsl_deck *deck, const triples_deck *s, triples_params *p) {
  tsl_err err = TSL_OK;
  for (size_t u = 0; u < sizeof uses / sizeof uses[0]; u++)
    if (uses[u].function != s->function && tsl_deck_given(deck, uses[u].path))
      TSL_DECK_FAIL(deck, uses[u].path, "not used by function %s; remove it",
                    triples_function_words[s->function]);
  if (s->box.n > 3) TSL_DECK_FAIL(deck, "triples.box", "at most 3 edges are possible");
  p->function = s->function;
  p->type = s->precision == 0 ? TSL_F32 : TSL_F64;
  for (uint64_t k = 0; k < 3; k++) p->box[k] = k < s->box.n ? s->box.values[k] : INFINITY;
  if (p->function == TRIPLES_TRIANGLES)
    TSL_TRY(check_triangles(deck, s, p));
  else
    TSL_TRY(check_axilrod_teller(deck, s, p));
done:
  return err;
}

/* ------------------------------------------------------------------ points */

static tsl_err read_points(const tsl_deck *deck, const triples_deck *s, triples_points *points) {
  tsl_err err = TSL_OK;
  char *path = NULL;
  table_source source = {.format = s->input.format,
                         .dataset = s->input.dataset,
                         .delimiter = s->input.delimiter,
                         .header = s->input.header,
                         .comment = s->input.comment[0],
                         .columns = s->input.columns.values,
                         .n_columns = (int64_t)s->input.columns.n,
                         .extra = -1};
  if (strlen(s->input.comment) != 1 || strchr("0123456789+-.eE,; \t\"", source.comment) != NULL)
    TSL_DECK_FAIL(deck, "triples.input.comment",
                  "one character is needed that cannot be part of a number or a separator");
  TSL_TRY(tsl_deck_path(deck, s->input.file, &path));
  source.path = path;
  TSL_TRY(tsl_deck_blame(deck, "triples.input.file", table_read_format(&source, &source.format)));
  TSL_TRY(tsl_deck_blame(deck, "triples.input.file", table_read(&source, &points->table)));
  table_describe(&source, &points->table, points->from, sizeof points->from);
  (void)snprintf(points->unit, sizeof points->unit, "%s",
                 source.format == TABLE_FORMAT_XYZ ? "angstrom" : "1");
done:
  tsl_free(path);
  return err;
}

static tsl_err make_points(const tsl_deck *deck, const triples_deck *s, triples_points *points) {
  tsl_err err = TSL_OK;
  const bool boxed = s->box.n > 0 && !tsl_deck_given(deck, "triples.generator.side");
  const tri_generator generator = {.kind = s->generator.kind,
                                   .n = s->generator.n,
                                   .d = s->generator.d,
                                   .seed = s->generator.seed,
                                   .side = s->generator.side,
                                   .box = boxed ? s->box.values : NULL,
                                   .scale = s->generator.scale,
                                   .clusters = s->generator.clusters};
  if (s->generator.kind == TRI_PLUMMER && s->generator.d != 3)
    TSL_DECK_FAIL(deck, "triples.generator.d", "a Plummer sphere has 3 dimensions");
  if (s->box.n > 0 && (int64_t)s->box.n != s->generator.d)
    TSL_DECK_FAIL(deck, "triples.box", "%llu edges, but the points have %lld dimensions",
                  (unsigned long long)s->box.n, (long long)s->generator.d);
  TSL_TRY(tri_generate(&generator, &points->table));
  (void)snprintf(points->from, sizeof points->from, "made up, %s with seed %lld",
                 tri_kind_words[s->generator.kind], (long long)s->generator.seed);
  (void)snprintf(points->unit, sizeof points->unit, "1");
  points->made = true;
done:
  return err;
}

tsl_err triples_load(const tsl_deck *deck, const triples_deck *s, triples_points *points) {
  tsl_err err = TSL_OK;
  const char *where = s->input.file != NULL ? "triples.input.file" : "triples.generator.n";
  if ((s->input.file != NULL) == (s->generator.kind != TRI_NONE))
    TSL_DECK_FAIL(deck, s->input.file != NULL ? "triples.generator.kind" : "triples",
                  "points come from either input.file or generator.kind: give exactly one");
  if (s->input.file != NULL)
    TSL_TRY(read_points(deck, s, points));
  else
    TSL_TRY(make_points(deck, s, points));
  if (s->unit != NULL) (void)snprintf(points->unit, sizeof points->unit, "%s", s->unit);
  if (points->table.n > TRIPLES_MAX_N)
    TSL_DECK_FAIL(deck, where, "%lld points; triples of at most %d are possible",
                  (long long)points->table.n, TRIPLES_MAX_N);
  if (points->table.columns > 3)
    TSL_DECK_FAIL(deck, where, "points of %lld coordinates; triples have 1 to 3: name the columns",
                  (long long)points->table.columns);
  if (s->box.n > 0 && (int64_t)s->box.n != points->table.columns)
    TSL_DECK_FAIL(deck, "triples.box", "%llu edges, but the points have %lld dimensions",
                  (unsigned long long)s->box.n, (long long)points->table.columns);
done:
  return err;
}
