/**
 * @file tri_functions.h
 * The list of pair functions: one row each. The enum, the deck's words, what the family and the
 * backends know of a function, the kernels of every SIMD level and of the cards, and the tests
 * follow it; the formulas are in tri_pairs_body.h.
 */
#pragma once

/** How the points are prepared on the root before they are shared. */
typedef enum tri_prepare {
  TRI_RAW,          /**< as read; the formula sees differences only: fp32 may move the origin */
  TRI_UNIT_NORM,    /**< each point divided by its Euclidean norm */
  TRI_STANDARDISED, /**< each point centred on its own mean, then divided by its norm */
  TRI_SPHERE,       /**< (latitude, longitude) in degrees -> unit vector, d = 3; scale = radius */
  TRI_WRAPPED,      /**< each coordinate wrapped into [0, box), d <= 3 */
  TRI_FIXED,        /**< as read; the formula sees the numbers themselves, the origin stays */
  TRI_AMOUNTS,      /**< likewise, and none is negative */
  TRI_SHARES,       /**< amounts divided by their sum */
  TRI_TRUTHS,       /**< no numbers, but bits, 1 where a number is not 0: tri_bits.h */
  TRI_SCALED,       /**< less the mean, divided by the root of the variance of each dimension */
  TRI_WHITENED,     /**< less the mean, times the inverse of the covariance's Cholesky factor */
  TRI_OF_LETTERS    /**< no points, but sequences of letters: tri_letters.h */
} tri_prepare;

/** What one extra number per point means. */
typedef enum tri_extra {
  TRI_NO_EXTRA,
  TRI_RADIUS,
  TRI_MASS,
  TRI_TOTAL /**< the sum of the prepared coordinates, not read */
} tri_extra;

/** What the steps add up. All terms are +0 or above, but those of TRI_SIMILAR. */
typedef enum tri_sum {
  TRI_LENGTHS, /**< no term overflows where differences do not */
  TRI_SQUARES, /**< added to what was there, which may be -0: squares, or terms made of them */
  TRI_ROOT,    /**< TRI_SQUARES, and finish begins with the root of the sum */
  TRI_PRODUCT, /**< TRI_SQUARES of unit vectors, halved; matrix products give it too */
  TRI_TERMS,   /**< from +0; no search, as far boxes do not bound it; in strips on cards */
  TRI_POWERS,  /**< TRI_TERMS whose steps take `scale`, an order, in place of a period */
  TRI_SIMILAR  /**< TRI_TERMS; the larger, the nearer; `scale` is a sign, see params.similar */
} tri_sum;

/** Unit of a value. */
typedef enum tri_unit {
  TRI_OF_POINTS, /**< that of the coordinates (TRI_SPHERE: of the radius) */
  TRI_SQUARED,   /**< its square */
  TRI_UNITLESS   /**< 1; the deck's key `unit` is refused */
} tri_unit;

/**
 * Distances, whose kernels on a card are made for each output; new ones go to the end:
 * X(NAME, name, prepare, extra, sum, unit, flops_per_dimension, flops_per_pair, quantity)
 * quantity: what the values are, as an axis says it.
 */
#define TRI_DISTANCE_LIST(X)                                                                     \
  X(EUCLIDEAN, euclidean, TRI_RAW, TRI_NO_EXTRA, TRI_ROOT, TRI_OF_POINTS, 3, 1,                  \
    "Euclidean distance")                                                                        \
  X(SQEUCLIDEAN, sqeuclidean, TRI_RAW, TRI_NO_EXTRA, TRI_SQUARES, TRI_SQUARED, 3, 0,             \
    "squared Euclidean distance")                                                                \
  X(MANHATTAN, manhattan, TRI_RAW, TRI_NO_EXTRA, TRI_LENGTHS, TRI_OF_POINTS, 3, 0,               \
    "city-block (L1) distance")                                                                  \
  X(CHEBYSHEV, chebyshev, TRI_RAW, TRI_NO_EXTRA, TRI_LENGTHS, TRI_OF_POINTS, 3, 0,               \
    "Chebyshev (L-infinity) distance")                                                           \
  X(COSINE, cosine, TRI_UNIT_NORM, TRI_NO_EXTRA, TRI_PRODUCT, TRI_UNITLESS, 3, 1,                \
    "cosine distance, 1 - cos")                                                                  \
  X(CORRELATION, correlation, TRI_STANDARDISED, TRI_NO_EXTRA, TRI_PRODUCT, TRI_UNITLESS, 3, 1,   \
    "correlation distance, 1 - Pearson r")                                                       \
  X(HAVERSINE, haversine, TRI_SPHERE, TRI_NO_EXTRA, TRI_ROOT, TRI_OF_POINTS, 3, 30,              \
    "great-circle distance")                                                                     \
  X(OVERLAP, overlap, TRI_RAW, TRI_RADIUS, TRI_ROOT, TRI_OF_POINTS, 3, 3, "gap between spheres") \
  X(SEUCLIDEAN, seuclidean, TRI_SCALED, TRI_NO_EXTRA, TRI_ROOT, TRI_UNITLESS, 3, 1,              \
    "standardised Euclidean distance")                                                           \
  X(MAHALANOBIS, mahalanobis, TRI_WHITENED, TRI_NO_EXTRA, TRI_ROOT, TRI_UNITLESS, 3, 1,          \
    "Mahalanobis distance")

/** Sums of other terms (TRI_TERMS and what follows it), as above. */
#define TRI_TERM_LIST(X)                                                                          \
  X(MINKOWSKI, minkowski, TRI_RAW, TRI_NO_EXTRA, TRI_POWERS, TRI_OF_POINTS, 40, 40,               \
    "Minkowski distance")                                                                         \
  X(CANBERRA, canberra, TRI_FIXED, TRI_NO_EXTRA, TRI_TERMS, TRI_UNITLESS, 5, 0,                   \
    "Canberra distance")                                                                          \
  X(BRAYCURTIS, braycurtis, TRI_AMOUNTS, TRI_TOTAL, TRI_TERMS, TRI_UNITLESS, 2, 2,                \
    "Bray-Curtis dissimilarity")                                                                  \
  X(JENSENSHANNON, jensenshannon, TRI_SHARES, TRI_NO_EXTRA, TRI_TERMS, TRI_UNITLESS, 50, 2,       \
    "Jensen-Shannon distance")                                                                    \
  X(HAMMING, hamming, TRI_FIXED, TRI_NO_EXTRA, TRI_TERMS, TRI_UNITLESS, 2, 1, "Hamming distance") \
  X(INNER, inner, TRI_FIXED, TRI_NO_EXTRA, TRI_SIMILAR, TRI_SQUARED, 2, 1, "inner product")

/** Functions of two rows of bits, tri_bits.h: of how many are 1 in both, and in each. */
#define TRI_TRUTH_LIST(X)                                                                        \
  X(JACCARD, jaccard, TRI_TRUTHS, TRI_TOTAL, TRI_TERMS, TRI_UNITLESS, 0.0625, 3,                 \
    "Jaccard dissimilarity")                                                                     \
  X(DICE, dice, TRI_TRUTHS, TRI_TOTAL, TRI_TERMS, TRI_UNITLESS, 0.0625, 2, "Dice dissimilarity") \
  X(RUSSELLRAO, russellrao, TRI_TRUTHS, TRI_TOTAL, TRI_TERMS, TRI_UNITLESS, 0.0625, 5,           \
    "Russell-Rao dissimilarity")                                                                 \
  X(ROGERSTANIMOTO, rogerstanimoto, TRI_TRUTHS, TRI_TOTAL, TRI_TERMS, TRI_UNITLESS, 0.0625, 3,   \
    "Rogers-Tanimoto dissimilarity")                                                             \
  X(SOKALSNEATH, sokalsneath, TRI_TRUTHS, TRI_TOTAL, TRI_TERMS, TRI_UNITLESS, 0.0625, 6,         \
    "Sokal-Sneath dissimilarity")                                                                \
  X(YULE, yule, TRI_TRUTHS, TRI_TOTAL, TRI_TERMS, TRI_UNITLESS, 0.0625, 14, "Yule dissimilarity")

/** Functions of two sequences of letters, tri_letters.h; flops_per_pair: of 64 cells of a table. */
#define TRI_LETTER_LIST(X)                                                                     \
  X(EDIT, edit, TRI_OF_LETTERS, TRI_NO_EXTRA, TRI_TERMS, TRI_UNITLESS, 0, 14, "edit distance") \
  X(GLOBAL, global, TRI_OF_LETTERS, TRI_NO_EXTRA, TRI_SIMILAR, TRI_UNITLESS, 0, 640,           \
    "score of the global alignment")                                                           \
  X(LOCAL, local, TRI_OF_LETTERS, TRI_NO_EXTRA, TRI_SIMILAR, TRI_UNITLESS, 0, 704,             \
    "score of the best local alignment")                                                       \
  X(EXTENSION, extension, TRI_OF_LETTERS, TRI_NO_EXTRA, TRI_SIMILAR, TRI_UNITLESS, 0, 704,     \
    "score of the best extension")

/** Functions of points that decks name. */
#define TRI_NAMED_LIST(X) \
  TRI_DISTANCE_LIST(X)    \
  TRI_TERM_LIST(X)        \
  TRI_TRUTH_LIST(X)

/** The key `box` turns euclidean into it. */
#define TRI_PERIODIC_LIST(X)                                                                       \
  X(EUCLIDEAN_PERIODIC, euclidean_periodic, TRI_WRAPPED, TRI_NO_EXTRA, TRI_ROOT, TRI_OF_POINTS, 5, \
    1, "minimum-image Euclidean distance")

/** All that have a formula; gravity has its own. */
#define TRI_PAIR_LIST(X) \
  TRI_NAMED_LIST(X)      \
  TRI_PERIODIC_LIST(X)

/** Those that add up a term for each dimension. */
#define TRI_STEP_LIST(X) \
  TRI_DISTANCE_LIST(X)   \
  TRI_TERM_LIST(X)       \
  TRI_PERIODIC_LIST(X)

/** Those with a kernel for each output, and bounds for searches. */
#define TRI_DIRECT_LIST(X) \
  TRI_DISTANCE_LIST(X)     \
  TRI_PERIODIC_LIST(X)

/** TRI_EUCLIDEAN, ...: the list's order, then gravity, which is no sum over dimensions, equations,
 *  and those of letters. */
typedef enum tri_function {
#define X(NAME, ...) TRI_##NAME,
  TRI_PAIR_LIST(X)
#undef X
      TRI_GRAVITY,
  TRI_EQUATION, /**< the deck's own, tri_equation.h */
  TRI_EQUATION_PERIODIC,
#define X(NAME, ...) TRI_##NAME,
  TRI_LETTER_LIST(X)
#undef X
      TRI_N_FUNCTIONS,
  TRI_N_PAIRS = TRI_GRAVITY /**< functions of TRI_PAIR_LIST */
} tri_function;

/** Places in tri_choice_words. */
enum {
  TRI_WORD_GRAVITY = TRI_EUCLIDEAN_PERIODIC, /* which has no word */
  TRI_WORD_EQUATION,
  TRI_WORD_LETTERS /**< the first of TRI_LETTER_LIST */
};

/** A row of the list, and gravity's. */
typedef struct tri_about {
  tri_prepare prepare;
  tri_extra extra;
  tri_sum sum;
  tri_unit unit;
  double flops_d, flops_pair;
  const char *quantity;
} tri_about;

#ifdef __cplusplus
extern "C" {
#endif

extern const tri_about tri_abouts[TRI_N_FUNCTIONS];

/** Words for them, for messages and signatures; NULL-ended. */
extern const char *const tri_function_words[];

/** Words of the deck, NULL-ended: TRI_NAMED_LIST, gravity, equation, TRI_LETTER_LIST. */
extern const char *const tri_choice_words[];

#ifdef __cplusplus
}
#endif
