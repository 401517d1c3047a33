/**
 * @file tri.h
 * The family tri: all pairs of n points (a triangular domain), as seen by its backends.
 *
 * Points are shared as a structure of arrays, x[k][i] with rows padded to n_pad. A unit is a
 * range of rows [lo[0], hi[0]) of the output; which columns a row has depends on the output:
 *
 *   condensed   upper triangle  j in (i, n)   flat, scipy.spatial.distance.pdist order
 *   square      lower triangle  j in [0, i]   n x n row-major; above the diagonal zero
 *   threshold   upper triangle  j in (i, n)   records (i, j, value) within it, by (i, j)
 *   histogram   upper triangle  j in (i, n)   counts per bin [lo, hi)
 *   topk        full rows       j != i        k nearest, by (value, j)
 *   forces      full rows       j != i        gravity only: acceleration and potential of i
 *   degree      full rows       j != i        how many are within the threshold
 *   minimum     full rows       j != i        the nearest: topk with k = 1
 *   maximum     full rows       j != i        the farthest, the first of equal ones
 *   csr         full rows       j != i        records (j, value) within the threshold, by (i, j)
 *   components, dbscan, linkage: full rows, in phases; tri_graph.h
 *   sum         full rows       all j         sum_j value(i, j) v_j for each vector v
 *   paired      two sets        j = i         value of row i with point i of the other set
 *
 * With two sets (params.two) rows are points of the first and columns all points of the other;
 * condensed is then the matrix [rows][columns] of scipy.spatial.distance.cdist. All go with them
 * but square and those in phases. Masses and vectors are the other set's: rows have the results.
 *
 * With params.near points lie in an order of their own (TRI_ORDER). Rows are then still counted as
 * in the input but for tri_rows_are_places(); columns of histogram are places j > i.
 *
 * Places of points: one set has them from 0 on. Of two sets the other comes first, from 0 on, and
 * row i of the first set is at place params.first + i; first is a multiple of TRI_PAD, and between
 * the sets are zeros.
 */
#pragma once

#include "contract.h"
#include "fn.h"
#include "tri_functions.h"

TSL_C_BEGIN

typedef enum tri_output {
  TRI_CONDENSED,
  TRI_SQUARE,
  TRI_THRESHOLD,
  TRI_TOPK,
  TRI_HISTOGRAM,
  TRI_FORCES,
  TRI_DEGREE,
  TRI_MINIMUM,
  TRI_MAXIMUM,
  TRI_CSR,
  TRI_COMPONENTS,
  TRI_DBSCAN,
  TRI_LINKAGE,
  TRI_SUM,
  TRI_PAIRED,
  TRI_N_OUTPUTS
} tri_output;

/** GPU maps from thread block to tile of the triangle; TRI_MAP_AUTO is our own wide-tile kernel. */
typedef enum tri_map {
  TRI_MAP_AUTO,
  TRI_MAP_BB,  /**< bounding box */
  TRI_MAP_RB,  /**< rectangle box, Jung & O'Leary 2008 */
  TRI_MAP_REC, /**< recursive squares, Ries 2009 */
  TRI_MAP_LTM, /**< lower-triangular map, Navarro & Hitschfeld 2013 */
  TRI_MAP_FRB, /**< flat recursive, log2f */
  TRI_MAP_FR,  /**< flat recursive, clz and shifts */
  TRI_MAP_CDP, /**< CUDA dynamic parallelism */
  TRI_N_MAPS
} tri_map;

/** Axes of a histogram. */
typedef enum tri_axes {
  TRI_AXES_VALUE, /**< the pair's value */
  TRI_AXES_RP_PI, /**< distance across the last axis, and along it */
  TRI_AXES_S_MU   /**< distance, and the part of it along the last axis, 0..1, both included */
} tri_axes;

enum {
  TRI_PAD = 128,        /**< n_pad is a multiple of this */
  TRI_MAX_BINS = 65536, /**< of a histogram */
  TRI_MAX_CLASSES = 4096,
  TRI_WEIGHT_BITS = 28, /**< a weight is at most 2^28 units, so that products of two fit 57 bits */
  TRI_MAX_K = 65536,    /**< neighbours per row */
  TRI_FEW_K = 1024,     /**< so many are chosen while pairs are looked at, and by searches */
  TRI_MAX_D = 1 << 20,  /**< dimensions of a point */
  TRI_CDP_CUTOFF = 1024 /**< rows of a triangle that the map cdp does not divide, unless told */
};
#define TRI_MAX_N INT64_C(2147483519) /**< points: n_pad fits 31 bits */

/** Parameters of a tri problem; plain data, the same on all ranks. */
typedef struct tri_params {
  int32_t function;   /**< tri_function */
  int32_t output;     /**< tri_output */
  int32_t type;       /**< TSL_F32 or TSL_F64: type of points, values and arithmetic */
  int32_t map;        /**< tri_map; for condensed and square on a GPU */
  int32_t block;      /**< block side B of the maps: 8, 16 or 32 */
  int32_t block_rows; /**< rows of threads of a block, a divisor of B; 0: B */
  int32_t cdp_cutoff; /**< map cdp: triangles of so many rows are not divided; 0: TRI_CDP_CUTOFF */
  int32_t bins;       /**< HISTOGRAM */
  int32_t near; /**< 1: points are sorted in space and only near ones are looked at, tri_near.h */
  int32_t n_quantities;   /**< EQUATION: columns of extras, before those of vectors */
  int32_t n_vectors;      /**< SUM: columns of extras, the last ones; 0: one vector of ones */
  int32_t keeps_diagonal; /**< SQUARE, SUM: the value of (i, i) is the function's; else 0. Two
                             sets have no such pair: 1 */
  int32_t gradient;  /**< SUM: 1: the deck's forces: minus a gradient's sums, and the value's */
  uint32_t equation; /**< EQUATION: sum of its text, for signatures */
  int32_t two;       /**< 1: pairs of two sets, rows x columns */
  int64_t n;         /**< points, 0..2^31-129; two sets: places, from 0 to the last row's */
  int64_t first;     /**< two sets: place of row 0, else 0 */
  int64_t columns;   /**< two sets: points of the other set, else 0 */
  int64_t n_pad;     /**< n rounded up to TRI_PAD (0 for n = 0) */
  int64_t d;         /**< rows of the points array (gravity: always 3, haversine: 3) */
  int64_t d_read;    /**< dimensions of the input points */
  int64_t k; /**< TOPK: neighbours per row, <= n - 1; MINIMUM: 1, LINKAGE: 1; DBSCAN: neighbours
                that make a core point, may exceed n - 1 */
  double threshold; /**< THRESHOLD, DEGREE, CSR, COMPONENTS, DBSCAN: largest value kept, of those
                       that workers have */
  int32_t similar;  /**< 1: tri_is_similarity and the output keeps near pairs, those of large
                       values: workers have them with their signs changed (tri_restore_signs) */
  int32_t axes;     /**< HISTOGRAM: tri_axes */
  int32_t bins_2;   /**< HISTOGRAM: bins of the second axis, 0: there is none */
  int32_t classes;  /**< HISTOGRAM: of points; 0: all are alike */
  int32_t listed;   /**< HISTOGRAM: 1: edges are in TRI_EDGES, 0: bins of equal width */
  int32_t weighted; /**< HISTOGRAM: 1: weights of pairs are added up, too */
  int64_t slots;    /**< HISTOGRAM: with classes, histograms that are kept apart; else 0 */
  int64_t bias;     /**< HISTOGRAM: added to each product of weights, so that none is negative */
  double reach;     /**< HISTOGRAM of rp and pi: larger distances are not counted */
  double cdp_depth; /**< map cdp: at most so much of log2 of the rows levels; 0: all */
  double range_lo;  /**< HISTOGRAM: first edge */
  double range_hi;  /**< HISTOGRAM: last edge, not included */
  double box[3];    /**< EUCLIDEAN_PERIODIC: period per dimension */
  double scale;     /**< HAVERSINE: sphere radius; see the finishes in tri_pairs_body.h */
  double softening; /**< GRAVITY: Plummer softening length eps */
  double constant;  /**< GRAVITY: G */
  double mass;      /**< GRAVITY: the mass when all are equal, else 0 */

  /* tri_letters.h, else 0: */
  int32_t codes;        /**< letters of the alphabet that occur, at least */
  int32_t open, extend; /**< of alignments: a gap of length g costs open + g extend */
  int32_t least, most;  /**< likewise: scores of two letters */
  int32_t x_drop;       /**< EXTENSION, at least 0: see tri_letters.h */
  int32_t aligned;      /**< 1: kept pairs are aligned, tri_traceback.h */
  int64_t longest;      /**< letters of the longest sequence */
  int32_t streamed; /**< PAIRED: 1: sequences are read by whoever computes them, tri_records.h */
  int32_t records_format[2], records_alphabet[2]; /**< then: of the other set's file, the rows' */
  int64_t records_pieces[2];                      /**< likewise: pieces in TRI_MARKS */
  int64_t records_entries[2];                     /**< likewise: in TRI_ENTRIES; plain text: 0 */

  int64_t frames;        /**< > 0: of a trajectory, n atoms each; fields and units: tri_frames.h */
  int32_t frames_format; /**< trajectory_format */
  int64_t frames_bytes;  /**< of the file that are read; 0: all */
  int32_t frames_boxed;  /**< 1: frames have cells */
  int64_t frames_pairs;  /**< > 0: pairs of a list, TRI_FRAMES_LIST, instead of all */
  int32_t frames_weighted; /**< 1: classes are the atoms of a kind that have one weight */
  int32_t frames_kinds;    /**< with frames_weighted: kinds, 0: all are alike; else classes are */
  int32_t frames_named;    /**< 1: names of atoms are compared with those of the first frame */
} tri_params;

/** A function of TRI_TERM_LIST? */
static inline bool tri_is_terms(const tri_params *p) {
  return tri_abouts[p->function].sum >= TRI_TERMS;
}

/** Values tell how similar points are: scores of alignments, inner products? */
static inline bool tri_is_similarity(const tri_params *p) {
  return tri_abouts[p->function].sum == TRI_SIMILAR;
}

/**
 * Indices into problem->fields. Those before TRI_OUT always exist:
 *   TRI_POINTS  IN  [d][n_pad]  params.type, prepared (tri_prepare), padding 0; of letters and bits
 *                   [0][n_pad]
 *   TRI_EXTRAS  IN  [m n_pad]  params.type, padding 0: radii or masses, if any; quantities; vectors
 *   TRI_ORDER   IN  i32 [n] or [0]  near: which point of the input is at each place of the two
 *   TRI_CLASSES IN  i32 [n_pad] or [0]  HISTOGRAM: class of each point, padding 0
 *   TRI_SLOTS   IN  i32 [classes][classes] or [0]  histogram that a row's and a column's class
 *                   count into, -1: none; of one set symmetric
 *   TRI_EDGES   IN  [..]  params.type, ascending: with params.listed [bins + 1] of the first axis,
 *                   then of a second one [bins_2 + 1]; bins are [edge, next edge)
 *   TRI_WEIGHTS IN  i32 [n_pad] or [0]  HISTOGRAM: weights in units, padding 0
 *   TRI_LETTERS, TRI_STARTS, TRI_SCORES  sequences of letters in place of points, tri_letters.h
 *   TRI_FILES to TRI_HISTORIES  where sequences are in files, tri_records.h
 *   TRI_WORDS   rows of bits in place of points, tri_bits.h
 * Output fields by output, from TRI_OUT on:
 *   condensed  "distances" GATHER stream [n(n-1)/2], two sets [rows][columns], params.type
 *   square     "distances" GATHER stream [n][n] params.type, diagonal 0 (overlap: -2 r_i)
 *   threshold  "pairs" LIST i64 [.][2] (i < j), "values" LIST [.] params.type
 *   topk       "neighbours" GATHER stream i64 [rows][k], "values" GATHER stream [rows][k]
 *   histogram  "counts" SUM u64 [slots][bins][bins_2], one histogram after another; weighted:
 *              "sums" SUM u64 [the same][TRI_LIMBS], 32 bits each, lowest first, of the products
 *              of weights and their biases; the family adds "edges" and others (tri_histogram.c)
 *   sum        "sums" GATHER f64 [rows][vectors, at least 1]; with params.gradient, which the
 *              deck calls output forces: "forces" GATHER f64 [rows][d], "potential" GATHER
 *              f64 [rows]
 *   forces     "accelerations" GATHER f64 [rows][d_read], "potential" GATHER f64 [rows]
 *   degree     "degree" GATHER i64 [rows]
 *   minimum, maximum  "neighbours" GATHER i64 [rows], "values" GATHER [rows] params.type;
 *              [0] where tri_partners_of is 0
 *   csr        "indices" LIST i32 [.], "values" LIST [.] params.type, "lengths" GATHER i32
 *              [rows], hidden; the family adds "indptr"
 *   paired     "values" GATHER stream [rows] params.type
 *   components, dbscan, linkage: tri_graph.h
 */
enum {
  TRI_POINTS,
  TRI_EXTRAS,
  TRI_ORDER,
  TRI_CLASSES,
  TRI_SLOTS,
  TRI_EDGES,
  TRI_WEIGHTS,
  TRI_LETTERS,
  TRI_STARTS,
  TRI_SCORES,
  TRI_FILES,
  TRI_MARKS,
  TRI_ENTRIES,
  TRI_HISTORIES,
  TRI_WORDS,
  TRI_OUT,
  TRI_OUT_2,
  TRI_OUT_3
};
enum { TRI_LIMBS = 4 };

/** Parameters of a problem. */
static inline const tri_params *tri_params_of(const tsl_problem *problem) {
  return (const tri_params *)problem->params;
}

/** Rows of the domain, and columns; all points of one set. */
static inline int64_t tri_rows_of(const tri_params *p) {
  return p->n - p->first;
}
static inline int64_t tri_columns_of(const tri_params *p) {
  return p->two ? p->columns : p->n;
}

/** Points that one may be paired with: of one set all others. */
static inline int64_t tri_partners_of(const tri_params *p) {
  const int64_t n = tri_columns_of(p) - (p->two ? 0 : 1);
  return n > 0 ? n : 0;
}

/** Pairs of the domain: unordered ones of one set. */
static inline double tri_pairs_of(const tri_params *p) {
  const double n = (double)p->n, rows = (double)tri_rows_of(p);
  if (p->output == TRI_PAIRED) return rows;
  return p->two ? rows * (double)p->columns : n < 2 ? 0 : n * (n - 1) / 2;
}

/** HISTOGRAM: counts of one histogram, and of all. */
static inline int64_t tri_cells_each(const tri_params *p) {
  return (int64_t)p->bins * (p->bins_2 > 0 ? p->bins_2 : 1);
}
static inline int64_t tri_cells_of(const tri_params *p) {
  return tri_cells_each(p) * (p->slots > 0 ? p->slots : 1);
}

/** HISTOGRAM: more than uniform bins of the values of pairs that are all alike? */
static inline bool tri_has_cells(const tri_params *p) {
  return p->output == TRI_HISTOGRAM &&
         (p->bins_2 > 0 || p->classes > 0 || p->weighted != 0 || p->listed != 0);
}

/** Place of (i, i+1) in the condensed vector: n i - i (i+1) / 2. For i = n - 1 or n: the end. */
TSL_FN int64_t tri_condensed_row(int64_t n, int64_t i) {
  return n * i - i * (i + 1) / 2;
}

/** SUM: numbers of a point: one for each vector, or potential and force. */
static inline int64_t tri_sums(const tri_params *p) {
  return p->gradient ? 1 + p->d_read : p->n_vectors > 0 ? p->n_vectors : 1;
}

/** One bit of a set of outputs. */
#define TRI_BIT(output) (1u << TRI_##output)

static inline bool tri_output_in(const tri_params *p, uint32_t set) {
  return (set >> p->output & 1) != 0;
}

/** Outputs that are worked out in phases, tri_graph.h. */
static inline bool tri_is_graph(const tri_params *p) {
  return tri_output_in(p, TRI_BIT(COMPONENTS) | TRI_BIT(DBSCAN) | TRI_BIT(LINKAGE));
}

/** near: rows are places, not points as counted in the input. */
static inline bool tri_rows_are_places(const tri_params *p) {
  return p->output == TRI_HISTOGRAM || tri_is_graph(p);
}

/** Rows look at pairs within params.threshold. */
static inline bool tri_has_threshold(const tri_params *p) {
  return tri_output_in(p, TRI_BIT(THRESHOLD) | TRI_BIT(DEGREE) | TRI_BIT(CSR) |
                              TRI_BIT(COMPONENTS) | TRI_BIT(DBSCAN));
}

/** Rows look for the k nearest of all. */
static inline bool tri_wants_nearest(const tri_params *p) {
  return tri_output_in(p, TRI_BIT(TOPK) | TRI_BIT(MINIMUM) | TRI_BIT(LINKAGE));
}

/** First column and one past the last column of row i for an output (diagonal of full rows
 * included). */
static inline void tri_row_span(const tri_params *p, int64_t i, int64_t *lo, int64_t *hi) {
  const bool upper =
      p->output == TRI_CONDENSED || p->output == TRI_THRESHOLD || p->output == TRI_HISTOGRAM;
  *lo = p->output == TRI_PAIRED ? i : upper && !p->two ? i + 1 : 0;
  *hi = p->output == TRI_SQUARE || p->output == TRI_PAIRED ? i + 1 : tri_columns_of(p);
}

/** Sequences: work (items) of a row of so many letters with n columns of so many in all: cells in
 *  words of 64, and so much for each pair.
 *  @param[in] aligned  PAIRED: with those that tracebacks compute again */
double tri_letters_work(const tri_params *p, double own, double columns, double n, bool aligned);

/**
 * GRAVITY in fp32 counts lengths in units of 2^length and masses in units of 2^weight, so that the
 * largest are near 1: exact, and r^-3 stays in range whatever units the points have. fp64: 0 and 0.
 */
void tri_gravity_units(const tsl_problem *problem, int *length, int *weight);

/** Values that are handed over with params.similar: of topk in slabs of TRI_OUT_2, of threshold and
 *  csr in lists. */
void tri_restore_signs(const tri_params *p, const tsl_unit *unit, tsl_part *part);

/** Words of the deck for outputs and maps; NULL-ended. */
extern const char *const tri_output_words[];
extern const char *const tri_map_words[];

extern const tsl_family tsl_family_tri;

TSL_C_END
