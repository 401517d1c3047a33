/* From a deck to parameters and fields. */
#include "tri_graph_root.h"
#include "tri_letters.h"
#include "tri_marks.h"
#include "tri_streamed.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------- output fields */

/** What the fields of an output depend on. */
typedef struct sizes {
  int64_t n, pairs, k, d, columns, paired, n_1, edges, two, four, vectors, none;
} sizes;

#define SIZE(member) offsetof(sizes, member)
#define END SIZE(none)

/** Unit of a field: of the values, none, or of a length. */
typedef enum unit_of { OF_VALUE, OF_NOTHING } unit_of;

/** An output field; type -1 stands for params.type; ends with a NULL name. stream: 1 as in
 *  tsl_field; 2 hidden, may be infinite; 3 may be infinite. */
typedef struct output_field {
  const char *name;
  const char *doc;
  int type, combine, rank;
  size_t rows, columns;
  int stream, unit;
  const char *two; /**< doc of two sets, where it is another one */
} output_field;

enum { MAX_OUT = 6 };

static const output_field outputs[TRI_N_OUTPUTS][MAX_OUT] = {
    [TRI_CONDENSED] = {{"distances", "Values of all pairs i < j, row by row: (0,1), (0,2), ...", -1,
                        TSL_GATHER, 1, SIZE(pairs), END, 1, OF_VALUE}},
    [TRI_SQUARE] = {{"distances", "Values of all pairs, lower triangle j <= i; zero above.", -1,
                     TSL_GATHER, 2, SIZE(n), SIZE(n), 1, OF_VALUE}},
    [TRI_THRESHOLD] = {{"pairs", "Pairs i < j kept, sorted by (i, j).", TSL_I64, TSL_LIST, 2,
                        SIZE(none), END, 0, OF_NOTHING,
                        "Pairs kept, i of the first set and j of the other, sorted by (i, j)."},
                       {"values", "Values of the pairs kept, at most the threshold.", -1, TSL_LIST,
                        1, SIZE(none), END, 0, OF_VALUE}},
    [TRI_TOPK] = {{"neighbours", "The k nearest points of each point, nearest first.", TSL_I64,
                   TSL_GATHER, 2, SIZE(n), SIZE(k), 1, OF_NOTHING,
                   "The k points of the other set that are nearest to each point, nearest first."},
                  {"values", "Values of the k nearest points.", -1, TSL_GATHER, 2, SIZE(n), SIZE(k),
                   1, OF_VALUE}},
    [TRI_FORCES] = {{"accelerations", "Acceleration of each point.", TSL_F64, TSL_GATHER, 2,
                     SIZE(n), SIZE(d), 0, OF_NOTHING,
                     "Acceleration at each point by the masses of the other set."},
                    {"potential", "Gravitational potential at each point, its own mass left out.",
                     TSL_F64, TSL_GATHER, 1, SIZE(n), END, 0, OF_NOTHING,
                     "Gravitational potential at each point of the other set's masses."}},
    [TRI_DEGREE] = {{"degree", "Other points within the threshold of each point.", TSL_I64,
                     TSL_GATHER, 1, SIZE(n), END, 0, OF_NOTHING,
                     "Points of the other set within the threshold of each point."}},
#define THE_POINT(most, of)                                                                       \
  {                                                                                               \
    "neighbours", "The " most " point of each point, the first of equal ones.", TSL_I64,          \
        TSL_GATHER, 1, SIZE(paired), END, 1, OF_NOTHING,                                          \
        "The point of the other set that is " most " " of " each point, the first of equal ones." \
  }
#define ITS_VALUE(most) \
  { "values", "Values of the " most " points.", -1, TSL_GATHER, 1, SIZE(paired), END, 1, OF_VALUE }
    [TRI_MINIMUM] = {THE_POINT("nearest", "to"), ITS_VALUE("nearest")},
    [TRI_MAXIMUM] = {THE_POINT("farthest", "from"), ITS_VALUE("farthest")},
#undef THE_POINT
#undef ITS_VALUE
    [TRI_CSR] = {{"indices", "Points j within the threshold of point i, row by row, ascending.",
                  TSL_I32, TSL_LIST, 1, SIZE(none), END, 0, OF_NOTHING,
                  "Points j of the other set within the threshold of point i, row by row, "
                  "ascending."},
                 {"values", "Values of the pairs (i, j).", -1, TSL_LIST, 1, SIZE(none), END, 0,
                  OF_VALUE},
                 {"lengths", "Entries of each row.", TSL_I32, TSL_GATHER, 1, SIZE(n), END, 2,
                  OF_NOTHING},
                 {"indptr", "Row i has entries indptr[i] to indptr[i+1].", TSL_I64, TSL_GATHER, 1,
                  SIZE(n_1), END, 0, OF_NOTHING}},
#define LINKS                                                                                    \
  {                                                                                              \
    "links", "Clusters that a row is linked to.", TSL_I32, TSL_GATHER, 2, SIZE(n), SIZE(two), 2, \
        OF_NOTHING                                                                               \
  }
#define REACH \
  { "reach", "How far a row has to reach.", -1, TSL_GATHER, 1, SIZE(n), END, 2, OF_VALUE }
    [TRI_COMPONENTS] = {LINKS,
                        {"labels",
                         "Component of each point; components are numbered by their first points.",
                         TSL_I64, TSL_GATHER, 1, SIZE(n), END, 0, OF_NOTHING}},
    [TRI_DBSCAN] =
        {LINKS,
         REACH,
         {"labels", "Cluster of each point, numbered by their first core points; -1: noise.",
          TSL_I64, TSL_GATHER, 1, SIZE(n), END, 0, OF_NOTHING},
         {"core_distances",
          "Value of the neighbour that makes a point a core point; infinite: it is none.", -1,
          TSL_GATHER, 1, SIZE(n), END, 3, OF_VALUE}},
    [TRI_LINKAGE] = {LINKS,
                     REACH,
                     {"pairs", "Edges i < j of the minimum spanning tree, sorted by (value, i, j).",
                      TSL_I64, TSL_GATHER, 2, SIZE(edges), SIZE(two), 0, OF_NOTHING},
                     {"values", "Values of the edges.", -1, TSL_GATHER, 1, SIZE(edges), END, 0,
                      OF_VALUE},
                     {"linkage",
                      "Single linkage as scipy has it: the two clusters that each edge joins, its "
                      "value, points of both.",
                      TSL_F64, TSL_GATHER, 2, SIZE(edges), SIZE(four), 0, OF_NOTHING}},
#undef LINKS
#undef REACH
    [TRI_SUM] = {{"sums",
                  "Sums over all points j of value(i, j) times a vector's number j, for each "
                  "point i and vector.",
                  TSL_F64, TSL_GATHER, 2, SIZE(n), SIZE(vectors), 0, OF_VALUE,
                  "Sums over all points j of the other set of value(i, j) times a vector's number "
                  "j, for each point i and vector."}},
    [TRI_PAIRED] = {{"values", "Value of point k of the first set with point k of the other.", -1,
                     TSL_GATHER, 1, SIZE(n), END, 1, OF_VALUE}},
};

/** In place of TRI_SUM's with params.gradient. */
static const output_field forces[MAX_OUT] = {
    {"forces", "Minus the sum over all other points of the gradient by the point's coordinates.",
     TSL_F64, TSL_GATHER, 2, SIZE(n), SIZE(d), 0, OF_NOTHING,
     "Minus the sum over all points of the other set of the gradient by the point's coordinates."},
    {"potential", "Sum over all other points of the value.", TSL_F64, TSL_GATHER, 1, SIZE(n), END,
     0, OF_VALUE, "Sum over all points of the other set of the value."}};
/** Two sets: condensed. */
static const output_field matrix[] = {
    {"distances", "Values of all pairs: row i of the first set, column j of the other.", -1,
     TSL_GATHER, 2, SIZE(n), SIZE(columns), 1, OF_VALUE, NULL},
    {.name = NULL}};

/** Unit of a pair's value, from that of the coordinates. */
void tri_value_unit(const tri_params *p, const char *unit, char out[TSL_NAME]) {
  const tri_unit of = tri_abouts[p->function].unit;
  const bool bare = of == TRI_UNITLESS || strcmp(unit, "1") == 0;
  (void)snprintf(out, TSL_NAME, "%s%s", bare ? "1" : unit, of == TRI_SQUARED && !bare ? "^2" : "");
}

static int64_t size_of(const sizes *s, size_t offset) {
  return *(const int64_t *)((const char *)s + offset);
}

static tsl_err add_output(tsl_problem *problem, const output_field *o, const sizes *s,
                          const char *unit) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  tsl_field *added = NULL;
  tsl_field field = {.role = TSL_OUT,
                     .type = o->type < 0 ? p->type : o->type,
                     .combine = o->combine,
                     .rank = o->rank,
                     .shape = {size_of(s, o->rows), size_of(s, o->columns), 1},
                     .stream = o->stream == 1,
                     .hidden = o->stream == 2,
                     .infinite = o->stream >= 2};
  if (o->combine == TSL_LIST && o->rank == 2) field.shape[1] = 2;
  tsl_field_label(&field, o->name, "1", p->two && o->two != NULL ? o->two : o->doc);
  if (o->unit == OF_VALUE) {
    tri_value_unit(p, unit, field.unit);
    (void)snprintf(field.quantity, sizeof field.quantity, "%s", tri_abouts[p->function].quantity);
  }
  TSL_TRY(tsl_problem_add(problem, &field, &added));
done:
  return err;
}

static tsl_err add_outputs(tsl_problem *problem, const char *unit) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  sizes s = {.n = tri_rows_of(p),
             .k = p->k,
             .d = p->d_read,
             .columns = p->columns,
             .paired = tri_partners_of(p) > 0 ? tri_rows_of(p) : 0,
             .n_1 = tri_rows_of(p) + 1,
             .edges = p->n > 1 ? p->n - 1 : 0,
             .two = 2,
             .four = 4,
             .vectors = p->n_vectors > 0 ? p->n_vectors : 1};
  if (p->output == TRI_HISTOGRAM) return tri_histogram_add(problem, unit);
  if (!p->two && !tsl_pairs_i64(p->n, &s.pairs))
    TSL_FAIL(TSL_ERR_INPUT, "the pairs of %lld points overflow 64-bit counts", (long long)p->n);
  const output_field *const list = p->gradient                            ? forces
                                   : p->two && p->output == TRI_CONDENSED ? matrix
                                                                          : outputs[p->output];
  for (const output_field *o = list; o->name != NULL; o++)
    TSL_TRY(add_output(problem, o, &s, unit));
done:
  return err;
}

/* ---------------------------------------------------- points for pictures */

enum { MOST_DRAWN = 2000, MOST_SPACE = 3 };

/** Some points as they were read, evenly spaced in their order; none where they are no places in a
 *  plane or in space. */
static tsl_err add_drawn(tsl_problem *problem, const tri_points *points) {
  tsl_err err = TSL_OK;
  const int64_t n = points->table.n, d = points->d, m = n < MOST_DRAWN ? n : MOST_DRAWN;
  const bool on_sphere = tri_abouts[tri_params_of(problem)->function].prepare == TRI_SPHERE;
  tsl_field *added = NULL;
  tsl_field field = {.name = "drawn",
                     .doc =
                         "Coordinates of points k n / m of the n that were read, k = 0 to m - 1: "
                         "enough for a picture.",
                     .role = TSL_IN,
                     .type = TSL_F64,
                     .rank = 2,
                     .shape = {m, d, 1}};
  if (d < 2 || d > MOST_SPACE || points->packed) return TSL_OK;
  (void)snprintf(field.unit, sizeof field.unit, "%s", on_sphere ? "degree" : points->unit);
  TSL_TRY(tsl_problem_add(problem, &field, &added));
  TSL_TRY(tsl_field_allocate(added));
  for (int64_t k = 0; k < m; k++)
    memcpy((double *)added->data + k * d, points->table.values + k * n / m * points->table.columns,
           (size_t)d * sizeof(double));
done:
  return err;
}

/** Field TRI_ORDER, empty until tri_near_apply. */
static tsl_err add_order(tsl_problem *problem) {
  tsl_field *added = NULL;
  tsl_field field = {.role = TSL_IN, .type = TSL_I32, .rank = 1, .hidden = 1};
  tsl_field_label(&field, "order", "1", "Which point of the input each of the prepared ones is.");
  return tsl_problem_add(problem, &field, &added);
}

/* ----------------------------------------------------------------- create */

tsl_err tri_choose_source(const tsl_deck *deck, const tri_deck *s, int32_t *format) {
  tsl_err err = TSL_OK;
  points_source source = tri_source(deck, s, TABLE_FORMAT_AUTO);
  *format = TABLE_FORMAT_TEXT;
  if (s->function.name >= TRI_WORD_LETTERS) return tri_letters_settle(deck, s);
  TSL_TRY(points_choose(&source));
  *format = source.format;
done:
  return err;
}

/** Bind the section and settle which keys count; formats as from points_choose. */
static tsl_err read_section(tsl_deck *deck, tri_deck *s, int32_t *format, int32_t *other) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_deck_bind(deck, "tri", tri_keys, sizeof *s, s));
  TSL_TRY(tri_check_pairing(deck, s));
  TSL_TRY(tri_choose_source(deck, s, format));
  TSL_TRY(tri_deck_settle(deck, *format, s));
  TSL_TRY(tri_between_check(deck, s));
  if (tri_other_given(deck))
    TSL_TRY(tri_other_settle(deck, s, other));
  else if (s->self)
    TSL_DECK_FAIL(deck, "tri.self", "needs another set, other");
done:
  return err;
}

/** Of an equation the deck's; else the coordinates', from which value_unit makes that of values. */
static const char *unit_of_values(const tri_deck *s, const tri_points *points) {
  if (s->function.name != TRI_WORD_EQUATION) return points->unit;
  return s->function.unit != NULL ? s->function.unit : "1";
}

/** Keep for tri_describe how the points came about. */
static void note_points(const tri_deck *s, const tri_points *points, const tri_rounding *rounding,
                        bool older, tsl_problem *problem) {
  const tri_params *p = tri_params_of(problem);
  char cost[256], moved[128] = "";
  if (points->moved > 0)
    (void)snprintf(moved, sizeof moved, ", which moves coordinates by up to %.2g", points->moved);
  tri_rounding_describe(p, points->unit, rounding, cost, sizeof cost);
  tri_own *own = problem->own;
  if (tri_of_letters(p)) {
    if (points->streamed != NULL) tri_streamed_describe(points->streamed, moved, sizeof moved);
    (void)snprintf(own->text, TRI_TEXT, "sequences: %.1400s\n%s", points->from, moved);
    return;
  }
  (void)snprintf(
      own->text, TRI_TEXT, "%spoints: %.1400s; %lld of %lld dimension%s%s, in %s%s%s\n",
      older ? "deck: equation: is an older form of function: {value: ...}, and read as that\n" : "",
      points->from, (long long)points->table.n, (long long)p->d_read, p->d_read == 1 ? "" : "s",
      !points->has_extra           ? ""
      : p->function == TRI_GRAVITY ? " with masses"
                                   : " with radii",
      tri_precision_words[s->precision], moved, cost);
}

static void tri_describe(const tsl_problem *problem, char *text, size_t size) {
  (void)snprintf(text, size, "%s", ((const tri_own *)problem->own)->text);
}

static void tri_destroy(tsl_problem *problem) {
  tri_own *own = problem->own;
  if (own != NULL) tri_graph_clear(&own->graph);
  if (own != NULL) letters_clear(&own->letters);
  if (own != NULL) tri_streamed_clear(&own->streamed);
  if (own != NULL) TSL_FREE_ALL(own->work, own->edges, own->names, own->totals, own->row);
  tsl_free(own);
  problem->own = NULL;
}

static tsl_err tri_finish(tsl_problem *problem, const tsl_field_rows *store) {
  if (tri_params_of(problem)->frames > 0) return tri_frames_finish(problem, store);
  tsl_err err = TSL_OK;
  TSL_TRY(tri_names_write(problem, store));
  TSL_TRY(tri_alignment_write(problem, store));
done:
  return err;
}

/** What an equation asks for: names before the points are read, the rest after. */
static tsl_err begin_equation(const tsl_deck *deck, const tri_deck *s, const tri_params *p,
                              tri_equation *equation) {
  return tri_is_equation(p) ? tri_equation_names(deck, &s->function, p->type, equation) : TSL_OK;
}

static tsl_err finish_equation(const tsl_deck *deck, const tri_deck *s, tri_equation *equation,
                               tsl_problem *problem) {
  tsl_err err = TSL_OK;
  if (!tri_is_equation(problem->params)) goto done;
  TSL_TRY(tri_equation_fields(deck, equation, problem));
  if (s->function.gradient != NULL) TSL_TRY(tri_equation_slope(deck, equation, problem));
  if (s->function.symmetric) TSL_TRY(tri_equation_sample(deck, equation, problem));
done:
  return err;
}

/** Points and their marks, of both sets where there are two. */
static tsl_err load_sets(const tsl_deck *deck, const tri_deck *s, int32_t format,
                         int32_t other_format, tri_points *points, tri_marks *marks) {
  tsl_err err = TSL_OK;
  const tri_deck as_other = tri_other_as(s);
  tri_marks first = {0}, other = {0};
  TSL_TRY(tri_load(deck, s, format, points));
  if (!tri_other_given(deck)) {
    TSL_TRY(tri_marks_read(deck, s, format, points->table.n, marks));
    if (s->between.first != NULL) TSL_TRY(tri_between_split(deck, s, points, marks));
    goto done;
  }
  TSL_TRY(tri_marks_read(deck, s, format, points->table.n, &first));
  TSL_TRY(tri_other_load(deck, s, other_format, points));
  TSL_TRY(tri_marks_read(deck, &as_other, other_format, points->other, &other));
  TSL_TRY(tri_marks_join(deck, s, &first, &other, marks));
done:
  tri_marks_clear(&first);
  tri_marks_clear(&other);
  return err;
}

static tsl_err tri_create(tsl_deck *deck, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_equation equation = {0};
  tri_deck s = {0};
  tri_points points = {0};
  tri_rounding rounding = {0};
  tri_marks marks = {0};
  int32_t format = TABLE_FORMAT_AUTO, other = TABLE_FORMAT_AUTO;
  TSL_TRY(tsl_alloc(1, sizeof(tri_params), "parameters", &problem->params));
  problem->params_bytes = (int64_t)sizeof(tri_params);
  const bool older = tsl_deck_fold(deck, "tri", "function", "equation");
  if (tsl_deck_given(deck, "tri.input.frames")) {
    TSL_TRY(tsl_deck_bind(deck, "tri", tri_keys, sizeof s, &s));
    return tri_frames_create_problem(deck, &s, problem);
  }
  tri_params *const p = problem->params;
  TSL_TRY(tsl_alloc(1, sizeof(tri_own), "text", &problem->own));
  TSL_TRY(read_section(deck, &s, &format, &other));
  TSL_TRY(tri_check_values(deck, &s, problem->params));
  TSL_TRY(begin_equation(deck, &s, p, &equation));
  if (s.output == TRI_HISTOGRAM) TSL_TRY(tri_check_bins(deck, &s, problem->params, problem->own));
  points.on_sockets = tri_on_sockets(problem);
  TSL_TRY(load_sets(deck, &s, format, other, &points, &marks));
  TSL_TRY(tri_check_points(deck, &s, &points, problem->params));
  if (tri_is_equation(p)) TSL_TRY(tri_equation_parse(deck, &s.function, p->d, &equation));
  TSL_TRY(tri_prepare_points(deck, &s, &points, equation.absolute, problem, &rounding));
  TSL_TRY(add_order(problem));
  note_points(&s, &points, &rounding, older, problem);
  TSL_TRY(tri_classes_add(deck, &s, &marks, problem));
  TSL_TRY(tri_letters_add(deck, &s, &points, problem));
  TSL_TRY(tri_bits_add(&points, problem));
  TSL_TRY(tri_names_settle(deck, &s, problem));
  TSL_TRY(tri_alignment_settle(deck, &s, problem));
  TSL_TRY(add_outputs(problem, unit_of_values(&s, &points)));
  TSL_TRY(tri_alignment_add(problem));
  TSL_TRY(add_drawn(problem, &points));
  TSL_TRY(tri_between_add(&points, problem));
  TSL_TRY(finish_equation(deck, &s, &equation, problem));
  TSL_TRY(tri_search_settle(deck, &s, problem));
  if (tri_is_graph(problem->params)) TSL_TRY(tri_graph_create(problem));
done:
  tri_equation_clear(&equation);
  tri_marks_clear(&marks);
  tri_points_clear(&points);
  tri_rounding_clear(&rounding);
  return err;
}

/** What the speed of a pair depends on: the function, the output, the type, d, and k or the map. */
static void tri_signature(const tsl_problem *problem, char text[96]) {
  const tri_params *p = tri_params_of(problem);
  if (p->frames > 0) {
    (void)snprintf(text, 96, "frames %s %s n%lld b%d c%d p%lld f%d", tri_output_words[p->output],
                   tsl_type_name((tsl_type)p->type), (long long)p->n, p->bins, p->classes,
                   (long long)p->frames_pairs, p->frames_format);
    return;
  }
  int used =
      snprintf(text, 96, "%s %s %s d%lld k%lld b%d %s%d%s%s%s", tri_function_words[p->function],
               tri_output_words[p->output], tsl_type_name((tsl_type)p->type), (long long)p->d,
               (long long)p->k, p->bins, tri_map_words[p->map], p->block, p->near ? " near" : "",
               p->two ? " two" : "", tri_has_cells(p) ? " cells" : "");
  if (p->block_rows > 0) (void)snprintf(text + used, 96 - (size_t)used, "x%d", p->block_rows);
  if (tri_of_letters(p))
    used += snprintf(text + used, 96 - (size_t)used, " l%lld%s%s", (long long)p->longest,
                     p->aligned ? " aligned" : "", p->streamed ? " read" : "");
  if (p->function == TRI_EXTENSION)
    (void)snprintf(text + used, 96 - (size_t)used, " x%d", p->x_drop);
  if (p->output == TRI_SUM || tri_is_equation(p))
    (void)snprintf(text + used, 96 - (size_t)used, " %08x v%d", (unsigned)p->equation,
                   p->n_vectors);
}

const tsl_family tsl_family_tri = {
    .name = "tri",
    .doc = "All pairs of n points: distances, neighbours, histograms, overlaps, gravity.",
    .bad_value = "coinciding points or values too large for the chosen precision; or an equation "
                 "that has no "
                 "value there (diagonal: no leaves points with themselves out)",
    .shape = TSL_BAG,
    .n_kinds = 1,
    .keys = tri_keys,
    .create = tri_create,
    .check_memory = tri_alignment_memory,
    .units = tri_units,
    .sample = tri_sample,
    .signature = tri_signature,
    .describe = tri_describe,
    .region = tri_region,
    .advance = tri_advance,
    .finish = tri_finish,
    .summary = tri_summary,
    .destroy = tri_destroy,
};
