/**
 * @file tri_family.h
 * What the files of the family share among themselves: the deck section and the steps of create.
 */
#pragma once

#include "letters_records.h"
#include "letters_scores.h"
#include "points.h"
#include "tri.h"
#include "tri_equation_own.h"
#include "tri_near.h"

/** Words of the keys `precision`, `search`, `spacing`, `estimator` and `resampling`. */
enum { TRI_FP32, TRI_FP64, TRI_FP16, TRI_BF16, TRI_INT8 };
enum { TRI_SEARCH_AUTO, TRI_SEARCH_ALL, TRI_SEARCH_NEAR };
enum { TRI_UNIFORM_BINS, TRI_LOG_BINS };
enum { TRI_NO_ESTIMATOR, TRI_NATURAL, TRI_LANDY_SZALAY };
enum { TRI_JACKKNIFE, TRI_BOOTSTRAP };

/** Section `tri:`; the keys and their meaning are in tri_deck.c. */
typedef struct tri_input {
  points_input points;
  char *frames;
  int32_t alphabet; /**< letters_alphabet */
  int64_t radius_column, mass_column;
  tsl_ints vector_columns;
  char *kind_file, *weight_file, *region_file;
  int64_t kind_column, weight_column, region_column;
  bool symbols, packed, bfloat16;
} tri_input;

typedef struct tri_deck {
  tri_function_deck function;
  int32_t output, precision, search, map, block;
  int64_t cdp_cutoff;
  double cdp_depth;
  int64_t k, bins, min_samples, x_drop;
  double threshold, sphere_radius, softening, constant, radius, mass;
  tsl_reals range, box, edges, range_2;
  int32_t spacing, axes, estimator, resampling;
  int64_t bins_2, regions, resamples;
  bool self;
  char *unit;
  letters_scores_deck scores;
  char *tsv, *alignment;
  char *atom_pairs;
  tri_input input;
  points_generator generator;
  struct {
    tri_input input;
    points_generator generator;
  } other;
  struct {
    char *first, *other; /**< names of kinds */
  } between;
  bool is_other; /**< input and generator are those of `other`; not of the deck */
} tri_deck;

extern const tsl_key tri_keys[];
extern const char *const tri_precision_words[];

/** Type of arithmetic and values. */
static inline tsl_type tri_type_of(const tri_deck *s) {
  return s->precision == TRI_FP64 ? TSL_F64 : TSL_F32;
}

/** The tri_function chosen, the box considered. */
int32_t tri_deck_function(const tri_deck *s);

/**
 * Refuse given keys that the chosen function, output or source does not use, and fill in the
 * defaults of the absent ones. Of another set: keys of its input and generator.
 */
tsl_err tri_deck_settle(const tsl_deck *deck, int32_t format, tri_deck *s);

enum { TRI_TEXT = 3072, TRI_FROM = 1600 };

/** Smallest cloud or box of which squares of differences are added, see tri_prepare.c. */
#define TRI_LEAST_F32 0x1p-50
#define TRI_LEAST_F64 0x1p-484

/** Points of a class, of a set. */
typedef struct tri_total {
  double points, weight, square; /**< their number, sum of weights and of the squares of these */
} tri_total;

/** What the root keeps of a problem; problem->own. */
typedef struct tri_own {
  char text[TRI_TEXT];     /**< how the points came about */
  double *work;            /**< near and sequences: [chunks + 1] work of the rows before chunks of
                     tri_chunk_of() rows; or NULL */
  struct tri_graph *graph; /**< between phases, tri_graph_root.h; or NULL */
  /* HISTOGRAM, see tri_marks.h: */
  double *edges;          /**< [bins + 1], or NULL: of equal width */
  double range_2[2];      /**< of the second axis */
  double weight_unit;     /**< weights are whole multiples of it */
  double weight_off;      /**< by which rounding to them moves one at most */
  int32_t kinds, regions; /**< at least 1 */
  char (*names)[24];      /**< [kinds], or NULL */
  tri_total *totals;      /**< [kinds][regions][2 sets] */
  int32_t estimator, resampling;
  int64_t resamples;
  int64_t *row;        /**< between: points of the input, those of the other kind first; or NULL */
  char *tsv;           /**< file for a table with the names of sequences, of the deck; or NULL */
  char *alignment;     /**< file for alignments, of the deck; or NULL */
  int32_t format;      /**< letters_format_of_alignments of that file */
  int32_t alphabet;    /**< letters_alphabet, of sequences */
  int64_t alignments;  /**< that were written */
  char mismatch[256];  /**< the first one whose score is not the value; empty */
  letters_set letters; /**< of sequences: their names alone */
  struct tri_streamed *streamed; /**< sequences that are read when they are wanted; or NULL */
} tri_own;

enum { TRI_CHUNK = 64, TRI_MOST_CHUNKS = 1 << 20 /* of sequences */ };

/** Rows that tri_own.work has one number for: sequences may have long ones beside short ones. */
static inline int64_t tri_letters_chunk(int64_t rows) {
  return rows / TRI_MOST_CHUNKS + 1;
}
static inline int64_t tri_chunk_of(const tri_params *p) {
  const bool letters = tri_abouts[p->function].prepare == TRI_OF_LETTERS;
  return letters ? tri_letters_chunk(tri_rows_of(p)) : TRI_CHUNK;
}

/** Points before preparation; tri_points_clear releases them. */
typedef struct tri_points {
  table_rows table; /**< [n][d], then quantities, vectors, and one column more when has_extra; the
                       other set's rows first, 0 where the first set has no such column */
  int64_t d, more;  /**< dimensions; quantities and vectors */
  int64_t other;    /**< rows of the other set, else 0 */
  int64_t *row;     /**< between: [n] which point of the input each row was; else NULL */
  letters_set letters; /**< of functions of sequences: of both sets, in the table's order of rows;
                            else empty */
  struct tri_streamed *streamed; /**< or where they are, tri_streamed.h; else NULL */
  bool on_sockets;               /**< no rank has a card */
  bool has_extra;
  bool packed;  /**< each of the d numbers is eight dimensions */
  double moved; /**< by which rounding to a short type moved a coordinate at most, tri_types.c */
  bool made, other_made; /**< by a generator */
  char unit[32];         /**< of the coordinates, "1" when unknown */
  char from[TRI_FROM];   /**< where they come from, for people */
} tri_points;

/** The section of the deck that has the points' input or generator. */
static inline const char *tri_section(const tri_deck *s) {
  return s->is_other ? "tri.other" : "tri";
}

/** Could the file of names be written? Its path is kept. */
tsl_err tri_names_settle(const tsl_deck *deck, const tri_deck *s, tsl_problem *problem);
/** Write it. */
tsl_err tri_names_write(const tsl_problem *problem, const tsl_field_rows *store);

/** Have the sequences of rows [lo, hi) and of their columns at hand for what follows: PAIRED. */
tsl_err tri_letters_window(const tsl_problem *problem, int64_t lo, int64_t hi);
/** Name of a sequence of the rows' set or of the columns', "" where it has none. */
const char *tri_name_at(const tsl_problem *problem, bool of_row, int64_t number);
/** Its codes and how many they are. */
const uint8_t *tri_codes_at(const tsl_problem *problem, bool of_row, int64_t number, int64_t *n);

/** Work of row i with its columns, where sequences are fields; on any rank. */
double tri_letters_row(const tsl_problem *problem, int64_t i);
/** Have all letters of records [first, end) of a set scores in a matrix? The first one without is
 *  the error. @param[in] codes  of all records */
tsl_err tri_letters_known(const tsl_deck *deck, int32_t alphabet, const letters_set *set,
                          const uint8_t *codes, int64_t first, int64_t end, const char *matrix,
                          uint32_t known);
/** Has no rank a card? */
bool tri_on_sockets(const tsl_problem *problem);

/** Alignments: the file, params.aligned; after the outputs their fields; the file's lines. */
tsl_err tri_alignment_settle(const tsl_deck *deck, const tri_deck *s, tsl_problem *problem);
/** tsl_family.check_memory: has each device room for the largest alignment? */
tsl_err tri_alignment_memory(tsl_deck *deck, tsl_problem *problem);
tsl_err tri_alignment_add(tsl_problem *problem);
tsl_err tri_alignment_write(const tsl_problem *problem, const tsl_field_rows *store);

/** Refuse keys that sequences do not have. */
tsl_err tri_letters_settle(const tsl_deck *deck, const tri_deck *s);
/** Read the sequences in place of points, those of the other set before them. */
tsl_err tri_letters_load(const tsl_deck *deck, const tri_deck *s, tri_points *points);
/** How many the other set has, and where they come from. */
void tri_letters_other(const tri_points *points, tri_points *other);
/** Add the fields of tri_letters.h, set what params have of them, and own->work and ->letters;
 *  codes and names are the problem's then. */
tsl_err tri_letters_add(const tsl_deck *deck, const tri_deck *s, tri_points *points,
                        tsl_problem *problem);

/** Where the points come from. @param[in] format  of the file, by points_choose */
points_source tri_source(const tsl_deck *deck, const tri_deck *s, int32_t format);

/** What of input and generator it is; refuses what the function does not use.
 *  @param[out] format  as from points_choose */
tsl_err tri_choose_source(const tsl_deck *deck, const tri_deck *s, int32_t *format);

/** Coordinates as the deck's types have them: from bits (input.bfloat16), rounded (precision). */
tsl_err tri_types_settle(const tsl_deck *deck, const tri_deck *s, tri_points *points);

/** Read or make the points; format as from points_choose. */
tsl_err tri_load(const tsl_deck *deck, const tri_deck *s, int32_t format, tri_points *points);

void tri_points_clear(tri_points *points);

/** Does the deck name another set? */
bool tri_other_given(const tsl_deck *deck);

/** Are pairs those of two sets, `other` or `between`, and of these alone? */
bool tri_two_given(const tsl_deck *deck, const tri_deck *s);

/** Refuse outputs and functions that have no meaning for two sets. @param[in] path  tri.other or
 *  tri.between */
tsl_err tri_two_check(const tsl_deck *deck, const tri_deck *s, const char *path);

/** Check and settle the keys of the other set. @param[out] format  as from points_choose */
tsl_err tri_other_settle(const tsl_deck *deck, tri_deck *s, int32_t *format);

/** Read or make the other set and put it before the points. */
tsl_err tri_other_load(const tsl_deck *deck, const tri_deck *s, int32_t format, tri_points *points);

/** The section as if its points were the other set's. */
tri_deck tri_other_as(const tri_deck *s);

/** Place of a row of the table. */
static inline int64_t tri_place_of(const tri_params *p, int64_t row) {
  return !p->two || row < p->columns ? row : p->first + row - p->columns;
}

/** Keys of an equation are of no other function. */
tsl_err tri_check_function(const tsl_deck *deck, const tri_deck *s);

/** Function and output fit together. */
tsl_err tri_check_pairing(const tsl_deck *deck, const tri_deck *s);

/** A number must be held by the precision, and not become 0 in it. */
tsl_err tri_check_fits(const tsl_deck *deck, const char *path, const tri_params *p, double value);

/** Are values lengths in a periodic box? */
bool tri_is_boxed(const tri_deck *s);

/** Half of the shortest edge: the largest distance for which one image of a point is enough. */
double tri_half_box(const tri_deck *s);
tsl_err tri_check_cut(const tsl_deck *deck, const tri_deck *s, const char *path, double cut);

/** HISTOGRAM: the axes; fills params and own. */
tsl_err tri_check_bins(const tsl_deck *deck, const tri_deck *s, tri_params *p, tri_own *own);

/** HISTOGRAM: edge b of the first and of the second axis. */
double tri_bin_edge(const tri_params *p, const tri_own *own, int64_t b);
double tri_bin_edge_2(const tri_params *p, const tri_own *own, int64_t b);

/** Everything that needs no points: box, range, threshold, sizes; fills params but n, d, k. */
tsl_err tri_check_values(const tsl_deck *deck, const tri_deck *s, tri_params *p);

/** Everything that needs n and d; fills n, n_pad, d, d_read, k. */
tsl_err tri_check_points(const tsl_deck *deck, const tri_deck *s, const tri_points *points,
                         tri_params *p);

/** Points on their way into the field; borrowed. */
/** Where the points lie, of TRI_SCALED and TRI_WHITENED; d dimensions. */
typedef struct tri_spread {
  double *mean;   /**< [d] */
  double *factor; /**< TRI_SCALED: [d], 1 / standard deviation; TRI_WHITENED: [d][d], the lower
                       triangle of the inverse of the covariance's Cholesky factor */
} tri_spread;

typedef struct tri_preparing {
  const tsl_deck *deck;
  const tri_params *p;
  const char *path, *other_path; /**< of the deck, for messages about data */
  const tri_points *points;
  bool absolute; /**< coordinates count, not only their differences */
  bool exact;    /**< sums of whole numbers must be exact */
  tri_spread spread;
} tri_preparing;

/** Of all points; nothing for other functions. @param[in] variances  of the deck, or empty
 *  @param[out] spread  tri_spread_clear frees */
tsl_err tri_spread_create(const tri_preparing *c, const tsl_reals *variances, tri_spread *spread);
void tri_spread_clear(tri_spread *spread);

/** Prepare one point. @param[in,out] x  [params.d], zero where the point has no coordinate */
tsl_err tri_prepare_point(const tri_preparing *c, int64_t row, double *x);

/** Whose fault a row of the table is, for TSL_DECK_FAIL, and its number there. */
const char *tri_blamed(const tri_preparing *c, int64_t row);
long long tri_numbered(const tri_preparing *c, int64_t row);

/** Packed bits (tri_bits.h): are all numbers bytes? */
tsl_err tri_bits_check(const tri_preparing *c);
/** Add the field TRI_WORDS, and fill in the numbers of ones in TRI_EXTRAS. */
tsl_err tri_bits_add(const tri_points *points, tsl_problem *problem);

/** What storing the prepared points in params.type does to them. */
typedef struct tri_rounding {
  double *origin; /**< [params.d] subtracted before they are rounded; tri_rounding_clear frees */
  bool moved;     /**< it is not 0 */
  double most;    /**< largest distance by which a point is moved, in the unit of prepared points */
  double near;    /**< about how far nearest neighbours are apart; 0: unknown */
} tri_rounding;

/**
 * Choose the origin: fp32 and functions of differences only, where the points are far from 0
 * compared with their spread and not exact in fp32 as they are.
 */
tsl_err tri_rounding_create(const tri_preparing *c, tri_rounding *r);
void tri_rounding_clear(tri_rounding *r);

/** Round a coordinate to params.type, as tri_prepare_points stores it. */
double tri_rounded(const tri_params *p, double value);

/** Words for it, "; rounding moves ...", or "". */
void tri_rounding_describe(const tri_params *p, const char *unit, const tri_rounding *r, char *text,
                           size_t size);

/**
 * Fill the fields TRI_POINTS and TRI_EXTRAS (data allocated) and p->mass.
 * @param[in] absolute  the origin may not be moved
 * @param[in,out] rounding  zeroed; freed by the caller
 * @return TSL_ERR_INPUT naming the point that cannot be prepared
 */
tsl_err tri_prepare_points(const tsl_deck *deck, const tri_deck *s, const tri_points *points,
                           bool absolute, tsl_problem *problem, tri_rounding *rounding);

/**
 * Decide whether near pairs alone are looked at; if so put the points in order, set params.near and
 * own->work, and say in a line of own->text what part of the pairs that is.
 * @return TSL_ERR_INPUT when the deck wants it and it is not possible
 */
tsl_err tri_search_settle(const tsl_deck *deck, const tri_deck *s, tsl_problem *problem);

/** Pairs (i, j) of rows [0, i); i <= n. Global for tests. */
int64_t tri_pairs_before(const tri_params *p, int64_t i);

/** The same of a trajectory (tri_frames.h): the deck has input.frames, params->frames > 0. */
tsl_err tri_frames_create_problem(tsl_deck *deck, const tri_deck *s, tsl_problem *problem);
tsl_err tri_frames_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units);
void tri_frames_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                       tsl_unit *out);
void tri_frames_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                       int64_t hi[3]);
tsl_err tri_frames_finish(tsl_problem *problem, const tsl_field_rows *store);
tsl_err tri_frames_summary(const tsl_problem *problem, tsl_summary *summary);

tsl_err tri_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units);
void tri_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction, tsl_unit *out);
void tri_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                int64_t hi[3]);
tsl_err tri_advance(tsl_problem *problem, int phase, bool *more);
tsl_err tri_summary(const tsl_problem *problem, tsl_summary *summary);
