/* The deck section `tri:`: words, keys, and which key goes with which choice. */
#include "tri_family.h"
#include "tri_letters.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const tri_output_words[] = {
    "condensed", "square", "threshold",  "topk",   "histogram", "forces", "degree", "minimum",
    "maximum",   "csr",    "components", "dbscan", "linkage",   "sum",    "paired", NULL};
const char *const tri_precision_words[] = {"fp32", "fp64", "fp16", "bf16", "int8", NULL};
const char *const tri_map_words[] = {"auto", "bb", "rb", "rec", "ltm", "frb", "fr", "cdp", NULL};

static const char *const search_words[] = {"auto", "all", "near", NULL};
static const char *const spacing_words[] = {"uniform", "log", NULL};
static const char *const estimator_words[] = {"none", "natural", "landy_szalay", NULL};
static const char *const resampling_words[] = {"jackknife", "bootstrap", NULL};
static const char *const axes_words[] = {"value", "rp_pi", "s_mu", NULL};
static const char *const block_words[] = {"8",    "16",   "32",   "8x2",  "8x4",   "16x2", "16x4",
                                          "16x8", "32x2", "32x4", "32x8", "32x16", NULL};

#define AT(member) offsetof(tri_deck, member)
#define IN(member) offsetof(tri_input, member)
#define OTHER(member) (offsetof(tri_deck, other.member) - offsetof(tri_deck, other))
#define BIG 1e300
#define TINY 1e-300

/* Keys that only some choices use have no standard here: `uses` below holds it. */
static const tsl_key input_keys[] = {
    POINTS_INPUT_KEYS(IN(points)),
    TSL_TEXT_KEY(
        "frames", IN(frames), "",
        "The file is a trajectory (XYZ, extended XYZ; XTC, TRR, DCD, PDB, GRO with libchemfiles), "
        "of which these frames are taken: all, FIRST:LAST or FIRST:LAST:STEP, from 1."),
    TSL_CHOICE_KEY("alphabet", IN(alphabet), "", letters_alphabet_words,
                   "Edit, global, local, extension: the letters of a FASTA or FASTQ file, plain or "
                   "gzip; default dna."),
    TSL_BOOL_KEY("packed", IN(packed), "",
                 "Jaccard to yule: each number of a row is a byte of eight dimensions, the first "
                 "the highest bit, as numpy.packbits has them."),
    TSL_BOOL_KEY("bfloat16", IN(bfloat16), "",
                 "Coordinates of the file are the 16 bits of bfloat16 numbers (uint16 in NPY)."),
    TSL_INT_KEY("radius_column", IN(radius_column), "", 0, POINTS_MAX_D * 16,
                "Overlap: column of the radii, counted from 0, in the unit of the coordinates."),
    TSL_INT_KEY("mass_column", IN(mass_column), "", 0, POINTS_MAX_D * 16,
                "Gravity: column of the masses, counted from 0; of two sets the other's."),
    TSL_INTS_KEY("vector_columns", IN(vector_columns), 0, POINTS_MAX_D * 16,
                 "Sum: columns of the vectors, counted from 0, of two sets the other's; default: "
                 "one vector of ones."),
    TSL_INT_KEY("kind_column", IN(kind_column), "", 0, POINTS_MAX_D * 16,
                "Histogram, between: column of the points' kinds, whole numbers."),
    TSL_TEXT_KEY("kind_file", IN(kind_file), "",
                 "Histogram, between: text with the kind of a point, a word, in each line; of "
                 "frames also a file of the same atoms."),
    TSL_BOOL_KEY(
        "symbols", IN(symbols), "",
        "Histogram, between: the symbols of XYZ are the kinds; of frames also types of atoms."),
    TSL_INT_KEY("weight_column", IN(weight_column), "", 0, POINTS_MAX_D * 16,
                "Histogram: column of the points' weights; a pair weighs their product."),
    TSL_TEXT_KEY("weight_file", IN(weight_file), "",
                 "Histogram: file with the weight of a point in each row; of frames, the same in "
                 "all of them."),
    TSL_INT_KEY("region_column", IN(region_column), "", 0, POINTS_MAX_D * 16,
                "Histogram: column of the points' regions, whole numbers from 0 on."),
    TSL_TEXT_KEY("region_file", IN(region_file), "",
                 "Histogram: file with the region of a point in each row."),
    {0}};

static const tsl_key other_keys[] = {
    TSL_MAP_KEY("input", OTHER(input), input_keys, sizeof(tri_input),
                "Points from a file, keys as those of input."),
    TSL_MAP_KEY("generator", OTHER(generator), points_generator_keys, sizeof(points_generator),
                "Made-up points, keys as those of generator; seed: default 2."),
    {0}};

static const tsl_key between_keys[] = {
    TSL_TEXT_KEY("first", 0, "", "Kind of the points i."),
    TSL_TEXT_KEY("other", sizeof(char *), "", "Kind of the points j."),
    {0}};

const tsl_key tri_keys[] = {
    {"function", TSL_KEY_MAP, AT(function), NULL, 0, 0, tri_choice_words, tri_function_keys,
     sizeof(tri_function_deck),
     "Value of a pair: a distance, the inner product, the gap between spheres (overlap), gravity; "
     "of sequences of letters the edit distance, or an alignment's score; or an equation, a map "
     "with the keys below."},
    TSL_CHOICE_KEY("output", AT(output), NULL, tri_output_words,
                   "What is kept: every value (condensed, square), those within a threshold "
                   "(threshold, csr), the nearest (topk), a histogram, forces; of each point the "
                   "number of others within a threshold (degree), the nearest (minimum) or the "
                   "farthest (maximum); clusters: components, dbscan, linkage; sums over all "
                   "points (sum); of two sets point k with point k (paired)."),
    TSL_CHOICE_KEY("precision", AT(precision), "fp32", tri_precision_words,
                   "Type of points, arithmetic and values; fp16, bf16: coordinates are rounded to "
                   "it, int8: they must be whole numbers of it, and all else is fp32."),
    TSL_TEXT_KEY("unit", AT(unit), "",
                 "Unit of the coordinates, written to the output; default: angstrom for XYZ, km "
                 "for haversine."),
    TSL_MAP_KEY("scores", AT(scores), letters_scores_bare_keys, sizeof(letters_scores_deck),
                "Global, local, extension: scores and gap costs; default: match 2, mismatch -3, "
                "open 5, extend 2."),
    TSL_INT_KEY("x_drop", AT(x_drop), "", 0, TRI_MAX_DROP,
                "Extension: cells whose score is so much less than the best before their "
                "antidiagonal, and more, are dropped; default: none are."),
    TSL_TEXT_KEY("tsv", AT(tsv), "",
                 "Sequences, outputs topk, threshold, paired, components, dbscan: file for the "
                 "result with their names, a table with tabs; relative to the working folder."),
    TSL_TEXT_KEY("alignment", AT(alignment), "",
                 "Sequences, outputs topk, threshold, paired: file for the alignments of the pairs "
                 "that are kept, NAME.sam, NAME.paf or NAME.tsv; relative to the working folder."),
    TSL_MAP_KEY("input", AT(input), input_keys, sizeof(tri_input),
                "Points, or sequences of letters, from a file."),
    TSL_MAP_KEY("generator", AT(generator), points_generator_keys, sizeof(points_generator),
                "Made-up points instead of a file."),
    TSL_MAP_KEY(
        "other", AT(other), other_keys, sizeof((tri_deck *)0)->other,
        "Another set: pairs are a point of the first set and one of the other. condensed is then a "
        "matrix, topk the nearest points of the other set, sum and forces those of the other set "
        "on "
        "each point of the first, paired has point k of both."),
    TSL_MAP_KEY("between", AT(between), between_keys, sizeof((tri_deck *)0)->between,
                "Two kinds of the points (input.kind_column, kind_file, symbols) as two sets; "
                "points_first and points_other say which points these are."),
    TSL_BOOL_KEY("self", AT(self), "",
                 "Output histogram with other: count the pairs within each set, too, as those of "
                 "two kinds."),
    TSL_REAL_KEY(
        "threshold", AT(threshold), "", 0, 0,
        "Outputs threshold, degree, csr, components, dbscan: largest value that counts, of scores "
        "and inner products the smallest, in the values' unit; overlap: default 0 (touching)."),
    TSL_TEXT_KEY(
        "atom_pairs", AT(atom_pairs), "",
        "Output threshold of frames: text with two numbers of atoms, from 0, in each line; the "
        "distances of these pairs, and which are contacts, instead of the number of all pairs."),
    TSL_INT_KEY(
        "min_samples", AT(min_samples), "", 1, TRI_FEW_K + 1,
        "Output dbscan: points within the threshold of a core point, itself included; default 5."),
    TSL_INT_KEY("k", AT(k), "", 1, TRI_MAX_K, "Output topk: neighbours per point; default 8."),
    TSL_INT_KEY("bins", AT(bins), "", 1, TRI_MAX_BINS,
                "Output histogram: number of bins; default 200."),
    TSL_REALS_KEY("range", AT(range), 0, 0,
                  "Output histogram: first and last edge, [lo, hi); default with a box: 0 to half "
                  "its shortest edge."),
    TSL_CHOICE_KEY(
        "spacing", AT(spacing), "", spacing_words,
        "Output histogram: bins of equal width (default), or of equal ratio of their edges."),
    TSL_REALS_KEY("edges", AT(edges), 0, 0,
                  "Output histogram: edges of the bins, ascending, in place of bins and range."),
    TSL_CHOICE_KEY("axes", AT(axes), "", axes_words,
                   "Output histogram: value (default); rp_pi: distance across the last coordinate "
                   "and along it; s_mu: distance and the part of it along the last coordinate."),
    TSL_INT_KEY("bins_2", AT(bins_2), "", 1, TRI_MAX_BINS,
                "rp_pi and s_mu: bins of the second axis; default 40 and 20."),
    TSL_REALS_KEY("range_2", AT(range_2), 0, 0,
                  "rp_pi and s_mu: first and last edge of the second axis; default of mu: 0 to 1, "
                  "1 included."),
    TSL_CHOICE_KEY("estimator", AT(estimator), "", estimator_words,
                   "Output histogram of data and random points (other, self: yes): natural, DD/RR "
                   "- 1, or landy_szalay, (DD - 2 DR + RR)/RR."),
    TSL_INT_KEY("regions", AT(regions), "", 2, 1024,
                "Output histogram: number of regions of equally many points that space is cut "
                "into, whose pairs are counted apart; with an estimator they give its errors."),
    TSL_CHOICE_KEY("resampling", AT(resampling), "", resampling_words,
                   "Estimator with regions: errors by jackknife (default) or bootstrap."),
    TSL_INT_KEY("resamples", AT(resamples), "", 2, 100000,
                "Bootstrap: number of samples; default 200."),
    TSL_REALS_KEY(
        "box", AT(box), 0, BIG,
        "Periods of a periodic box, one per dimension (1 to 3), in the unit of the coordinates."),
    TSL_REAL_KEY("sphere_radius", AT(sphere_radius), "", TINY, BIG,
                 "Haversine: radius of the sphere; default 6371.0088 km, the Earth's mean radius."),
    TSL_REAL_KEY("radius", AT(radius), "", 0, BIG,
                 "Overlap: one radius for all spheres, in the unit of the coordinates."),
    TSL_REAL_KEY("mass", AT(mass), "", 0, BIG,
                 "Gravity: one mass for all points; default for a generator: 1/n."),
    TSL_REAL_KEY("softening", AT(softening), "", 0, BIG,
                 "Gravity: Plummer softening length, in the unit of the coordinates; default 0."),
    TSL_REAL_KEY("G", AT(constant), "", 0, 0,
                 "Gravity: gravitational constant in the deck's units; default 1."),
    TSL_CHOICE_KEY(
        "search", AT(search), "", search_words,
        "Outputs with a cut-off: look at all pairs, or at near ones, points being sorted in space; "
        "auto (default): near where that is less than a quarter of the work."),
    TSL_CHOICE_KEY(
        "map", AT(map), "", tri_map_words,
        "GPU, condensed and square: map from thread block to tile; auto (default) is the fastest."),
    TSL_CHOICE_KEY("block", AT(block), "", block_words,
                   "GPU: threads of a block of the maps other than auto; default 16. 32x8: tiles "
                   "of 32 x 32 values, each thread four rows of one."),
    TSL_INT_KEY("cdp_cutoff", AT(cdp_cutoff), "", 1, INT32_MAX,
                "GPU, map cdp: triangles of so many rows launch no more kernels; default 1024."),
    TSL_REAL_KEY("cdp_depth", AT(cdp_depth), "", TINY, 1,
                 "GPU, map cdp: levels of launches as a part of log2 of the rows; default 1."),
    {0}};

/* ----------------------------------------------------------- who uses what */

#define O(output) (1u << TRI_##output)
#define F(function) (1u << TRI_##function)
#define ANY UINT32_MAX
#define MATRICES (O(CONDENSED) | O(SQUARE))
#define WITHIN (O(THRESHOLD) | O(DEGREE) | O(CSR) | O(COMPONENTS) | O(DBSCAN))
#define CUTS (WITHIN | O(HISTOGRAM) | O(TOPK) | O(MINIMUM) | O(LINKAGE))
#define IF_UNITLESS(NAME, name, prepare, extra, sum, unit, ...) \
  | ((unit) == TRI_UNITLESS ? F(NAME) : 0u)
#define IF_SPHERE(NAME, name, prepare, ...) | ((prepare) == TRI_SPHERE ? F(NAME) : 0u)
#define IF_RADIUS(NAME, name, prepare, extra, ...) | ((extra) == TRI_RADIUS ? F(NAME) : 0u)
#define IF_TERMS(NAME, name, prepare, extra, sum, ...) | ((sum) >= TRI_TERMS ? F(NAME) : 0u)
#define EQUATIONS (F(EQUATION) | F(EQUATION_PERIODIC))
#define UNITLESS (F(GRAVITY) TRI_PAIR_LIST(IF_UNITLESS) TRI_LETTER_LIST(IF_UNITLESS))
#define IF_LETTERS(NAME, ...) | F(NAME)
#define LETTERS (0u TRI_LETTER_LIST(IF_LETTERS))
#define IF_TRUTHS(NAME, ...) | F(NAME)
#define TRUTHS (0u TRI_TRUTH_LIST(IF_TRUTHS))
#define SCORED (LETTERS & ~F(EDIT))
#define SPHERES (0u TRI_PAIR_LIST(IF_SPHERE))
#define TERMS (0u TRI_PAIR_LIST(IF_TERMS))
#define RADII (0u TRI_PAIR_LIST(IF_RADIUS))
_Static_assert((int)TRI_N_FUNCTIONS <= 32, "a set of functions is 32 bits");

/** A key, the choices that use it, and its default when absent. */
typedef struct use {
  const char *path;
  uint32_t outputs, functions, sources;
  tsl_key_type type; /**< of the default; TEXT: none */
  size_t offset;
  double standard;
} use;

static const use uses[] = {
    {"tri.unit", ANY, ~UNITLESS, ANY, TSL_KEY_TEXT, 0, 0},
    {"tri.threshold", WITHIN, ANY, ANY, TSL_KEY_REAL, AT(threshold), 0},
    {"tri.k", O(TOPK), ANY, ANY, TSL_KEY_INT, AT(k), 8},
    {"tri.min_samples", O(DBSCAN), ANY, ANY, TSL_KEY_INT, AT(min_samples), 5},
    {"tri.bins", O(HISTOGRAM), ANY, ANY, TSL_KEY_INT, AT(bins), 200},
    {"tri.range", O(HISTOGRAM), ANY, ANY, TSL_KEY_REALS, AT(range), 0},
    {"tri.spacing", O(HISTOGRAM), ANY, ANY, TSL_KEY_CHOICE, AT(spacing), TRI_UNIFORM_BINS},
    {"tri.edges", O(HISTOGRAM), ANY, ANY, TSL_KEY_REALS, AT(edges), 0},
    {"tri.axes", O(HISTOGRAM), ANY, ANY, TSL_KEY_CHOICE, AT(axes), TRI_AXES_VALUE},
    {"tri.bins_2", O(HISTOGRAM), ANY, ANY, TSL_KEY_TEXT, 0, 0},
    {"tri.range_2", O(HISTOGRAM), ANY, ANY, TSL_KEY_REALS, AT(range_2), 0},
    {"tri.estimator", O(HISTOGRAM), ANY, ANY, TSL_KEY_CHOICE, AT(estimator), TRI_NO_ESTIMATOR},
    {"tri.regions", O(HISTOGRAM), ANY, ANY, TSL_KEY_INT, AT(regions), 0},
    {"tri.resampling", O(HISTOGRAM), ANY, ANY, TSL_KEY_CHOICE, AT(resampling), TRI_JACKKNIFE},
    {"tri.resamples", O(HISTOGRAM), ANY, ANY, TSL_KEY_INT, AT(resamples), 200},
    {"tri.self", O(HISTOGRAM), ANY, ANY, TSL_KEY_TEXT, 0, 0},
    {"tri.box", ANY, F(EUCLIDEAN_PERIODIC) | F(EQUATION_PERIODIC), ANY, TSL_KEY_REALS, AT(box), 0},
    {"tri.function.p", ANY, F(MINKOWSKI), ANY, TSL_KEY_REAL, AT(function.order), 2},
    {"tri.function.variances", ANY, F(SEUCLIDEAN), ANY, TSL_KEY_REALS, AT(function.variances), 0},
    {"tri.search", CUTS, ~(EQUATIONS | LETTERS), ANY, TSL_KEY_CHOICE, AT(search), TRI_SEARCH_AUTO},
    {"tri.sphere_radius", ANY, SPHERES, ANY, TSL_KEY_REAL, AT(sphere_radius), 6371.0088},
    {"tri.radius", ANY, RADII, ANY, TSL_KEY_TEXT, 0, 0},
    {"tri.mass", ANY, F(GRAVITY), ANY, TSL_KEY_TEXT, 0, 0},
    {"tri.softening", ANY, F(GRAVITY), ANY, TSL_KEY_REAL, AT(softening), 0},
    {"tri.G", ANY, F(GRAVITY), ANY, TSL_KEY_REAL, AT(constant), 1},
    {"tri.map", MATRICES, ~(EQUATIONS | TERMS | LETTERS), ANY, TSL_KEY_CHOICE, AT(map),
     TRI_MAP_AUTO},
    {"tri.block", MATRICES, ~(EQUATIONS | TERMS | LETTERS), ANY, TSL_KEY_CHOICE, AT(block), 1},
    {"tri.cdp_cutoff", MATRICES, ~(EQUATIONS | TERMS | LETTERS), ANY, TSL_KEY_INT, AT(cdp_cutoff),
     TRI_CDP_CUTOFF},
    {"tri.cdp_depth", MATRICES, ~(EQUATIONS | TERMS | LETTERS), ANY, TSL_KEY_REAL, AT(cdp_depth),
     1},
    {"tri.input.vector_columns", O(SUM), ANY, POINTS_ANY_FILE, TSL_KEY_INTS,
     AT(input.vector_columns), 0},
    {"tri.input.radius_column", ANY, RADII, POINTS_ANY_FILE, TSL_KEY_INT, AT(input.radius_column),
     -1},
    {"tri.input.mass_column", ANY, F(GRAVITY), POINTS_ANY_FILE, TSL_KEY_INT, AT(input.mass_column),
     -1},
    {"tri.tsv", O(TOPK) | O(THRESHOLD) | O(COMPONENTS) | O(DBSCAN) | O(PAIRED), LETTERS, ANY,
     TSL_KEY_TEXT, 0, 0},
    {"tri.alignment", O(TOPK) | O(THRESHOLD) | O(PAIRED), LETTERS, ANY, TSL_KEY_TEXT, 0, 0},
    {"tri.scores.match", ANY, SCORED, ANY, TSL_KEY_INT, AT(scores.match), LETTERS_MATCH},
    {"tri.scores.mismatch", ANY, SCORED, ANY, TSL_KEY_INT, AT(scores.mismatch), LETTERS_MISMATCH},
    {"tri.scores.open", ANY, SCORED, ANY, TSL_KEY_INT, AT(scores.open), LETTERS_OPEN},
    {"tri.scores.extend", ANY, SCORED, ANY, TSL_KEY_INT, AT(scores.extend), LETTERS_EXTEND},
    {"tri.scores.matrix", ANY, SCORED, ANY, TSL_KEY_TEXT, 0, 0},
    {"tri.x_drop", ANY, F(EXTENSION), ANY, TSL_KEY_INT, AT(x_drop), TRI_NO_DROP},
    {"tri.input.alphabet", ANY, LETTERS, POINTS_ANY_FILE, TSL_KEY_CHOICE, AT(input.alphabet),
     LETTERS_DNA},
    {"tri.input.packed", ANY, TRUTHS, POINTS_ANY_FILE, TSL_KEY_TEXT, 0, 0},
    {"tri.input.bfloat16", ANY, ~(LETTERS | TRUTHS), POINTS_ANY_FILE, TSL_KEY_TEXT, 0, 0},
    {"tri.input.kind_column", ANY, ANY, POINTS_ANY_FILE, TSL_KEY_INT, AT(input.kind_column), -1},
    {"tri.input.kind_file", ANY, ANY, POINTS_ANY_FILE, TSL_KEY_TEXT, 0, 0},
    {"tri.input.symbols", ANY, ANY, POINTS_FILE(XYZ), TSL_KEY_TEXT, 0, 0},
    {"tri.input.weight_column", O(HISTOGRAM), ANY, POINTS_ANY_FILE, TSL_KEY_INT,
     AT(input.weight_column), -1},
    {"tri.input.weight_file", O(HISTOGRAM), ANY, POINTS_ANY_FILE, TSL_KEY_TEXT, 0, 0},
    {"tri.input.region_column", O(HISTOGRAM), ANY, POINTS_ANY_FILE, TSL_KEY_INT,
     AT(input.region_column), -1},
    {"tri.input.region_file", O(HISTOGRAM), ANY, POINTS_ANY_FILE, TSL_KEY_TEXT, 0, 0},
};
enum { N_USES = sizeof uses / sizeof uses[0], TRI_PATH = 96 };

int32_t tri_deck_function(const tri_deck *s) {
  if (s->function.name == TRI_EUCLIDEAN && s->box.n > 0) return TRI_EUCLIDEAN_PERIODIC;
  if (s->function.name >= TRI_WORD_LETTERS)
    return TRI_EQUATION_PERIODIC + 1 + s->function.name - TRI_WORD_LETTERS;
  if (s->function.name == TRI_WORD_EQUATION)
    return s->box.n > 0 ? TRI_EQUATION_PERIODIC : TRI_EQUATION;
  return s->function.name == TRI_WORD_GRAVITY ? TRI_GRAVITY : s->function.name;
}

/** The path of a use, in the other set: below tri.other. @return false: it has no such key */
static bool path_in(const use *u, bool other, char path[TRI_PATH]) {
  const bool source = strncmp(u->path, "tri.input.", 10) == 0;
  (void)snprintf(path, TRI_PATH, "%s%s", other ? "tri.other" : "tri", u->path + strlen("tri"));
  return source || !other;
}

/** Given by the user; an empty list counts as absent. */
static bool is_given(const tsl_deck *deck, const tri_deck *s, const use *u, const char *path) {
  const void *member = (const char *)s + u->offset;
  if (u->type == TSL_KEY_REALS && ((const tsl_reals *)member)->n == 0) return false;
  if (u->type == TSL_KEY_INTS && ((const tsl_ints *)member)->n == 0) return false;
  return tsl_deck_given(deck, path);
}

static void set_standard(tri_deck *s, const use *u) {
  void *member = (char *)s + u->offset;
  if (u->type == TSL_KEY_REAL) *(double *)member = u->standard;
  if (u->type == TSL_KEY_INT) *(int64_t *)member = (int64_t)u->standard;
  if (u->type == TSL_KEY_CHOICE) *(int32_t *)member = (int32_t)u->standard;
}

static tsl_err check_use(const tsl_deck *deck, const tri_deck *s, const use *u, const char *path,
                         const points_source *source) {
  tsl_err err = TSL_OK;
  if ((u->functions & 1u << tri_deck_function(s)) == 0)
    TSL_DECK_FAIL(deck, path, "not used by function %s; remove it",
                  tri_choice_words[s->function.name]);
  if ((u->outputs & 1u << s->output) == 0)
    TSL_DECK_FAIL(deck, path, "not used by output %s; remove it", tri_output_words[s->output]);
  if ((u->sources & points_bit(source)) == 0) TSL_TRY(points_refuse(source, path));
done:
  return err;
}

tsl_err tri_deck_settle(const tsl_deck *deck, int32_t format, tri_deck *s) {
  tsl_err err = TSL_OK;
  const points_source source = tri_source(deck, s, format);
  char path[TRI_PATH];
  for (int u = 0; u < N_USES; u++) {
    if (!path_in(&uses[u], s->is_other, path)) continue;
    if (is_given(deck, s, &uses[u], path))
      TSL_TRY(check_use(deck, s, &uses[u], path, &source));
    else
      set_standard(s, &uses[u]);
  }
  TSL_TRY(points_settle(&source, &s->generator));
  if (!s->is_other && !tsl_deck_given(deck, "tri.bins_2"))
    s->bins_2 = s->axes == TRI_AXES_S_MU ? 20 : 40;
done:
  return err;
}
