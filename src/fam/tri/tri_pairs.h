/**
 * @file tri_pairs.h
 * The pair functions: the one source of their formulas for CPU and GPU, float and double.
 *
 * The value of a pair (i, j) is
 *     acc = 0;  for k in 0..d-1: acc = step(acc, x[k][i], x[k][j], box[k]);
 *     value = finish(acc, extra[i], extra[j], scale);
 * on points prepared once on the root (TRI_RAW, TRI_UNIT_NORM, ...). Sums of squares and
 * products are explicit fused multiply-adds and nothing else is contracted (see fn.h), so every
 * device gives the same bits.
 *
 * To add a function: one line in TRI_PAIR_LIST, one step and one finish below. Kernels,
 * deck words, tests and `tesela bench` follow the list.
 *
 * Names after inclusion: tri_step_<name>_f32, tri_finish_<name>_f32, and _f64.
 */
#ifndef TSL_FAM_TRI_PAIRS_H
#define TSL_FAM_TRI_PAIRS_H

#include "fn.h"

/** How the points are prepared on the root before they are shared. */
typedef enum tri_prepare {
  TRI_RAW,          /**< as read */
  TRI_UNIT_NORM,    /**< each point divided by its Euclidean norm */
  TRI_STANDARDISED, /**< each point centred on its own mean, then divided by its norm */
  TRI_SPHERE,       /**< (latitude, longitude) in degrees -> unit vector, d = 3 */
  TRI_WRAPPED       /**< each coordinate wrapped into [0, box) */
} tri_prepare;

/** What one extra number per point means. */
typedef enum tri_extra { TRI_NO_EXTRA, TRI_RADIUS, TRI_MASS } tri_extra;

/**
 * X(name, prepare, extra, flops_per_dimension, flops_per_pair, doc)
 * euclidean_periodic is chosen by the key `box`, not by name; gravity has its own kernel and
 * is listed in TRI_FUNCTION_LIST only.
 */
#define TRI_PAIR_LIST(X)                                                                      \
  X(euclidean, TRI_RAW, TRI_NO_EXTRA, 3, 1, "Euclidean distance")                             \
  X(sqeuclidean, TRI_RAW, TRI_NO_EXTRA, 3, 0, "squared Euclidean distance")                   \
  X(manhattan, TRI_RAW, TRI_NO_EXTRA, 3, 0, "city-block (L1) distance")                       \
  X(chebyshev, TRI_RAW, TRI_NO_EXTRA, 3, 0, "Chebyshev (L-infinity) distance")                \
  X(cosine, TRI_UNIT_NORM, TRI_NO_EXTRA, 3, 1, "cosine distance, 1 - cos")                    \
  X(correlation, TRI_STANDARDISED, TRI_NO_EXTRA, 3, 1, "correlation distance, 1 - Pearson r") \
  X(haversine, TRI_SPHERE, TRI_NO_EXTRA, 3, 30, "great-circle distance")                      \
  X(overlap, TRI_RAW, TRI_RADIUS, 3, 3, "gap between spheres")                                \
  X(euclidean_periodic, TRI_WRAPPED, TRI_NO_EXTRA, 5, 1, "minimum-image Euclidean distance")

#define TRI_REAL float
#define TRI_(name) name##_f32
#define TRI_ABS fabsf
#define TRI_FMA fmaf
#ifndef TRI_SQRT_F32 /* a device may bring a faster square root that rounds correctly too */
#define TRI_SQRT_F32 sqrtf
#endif
#define TRI_SQRT TRI_SQRT_F32
#define TRI_EPSILON 0x1p-23f
/* P of tri_asin by Horner; coefficients of tools/asin_coefficients, relative error 1.8e-8 */
#define TRI_ASIN_P(z) \
  (0.16666672f +      \
   (z) * (0.07498855f + (z) * (0.04500138f + (z) * (0.026554542f + (z)*0.038085024f))))
#include "tri_pairs_body.h"

#define TRI_REAL double
#define TRI_(name) name##_f64
#define TRI_ABS fabs
#define TRI_FMA fma
#define TRI_SQRT sqrt
#define TRI_EPSILON 0x1p-52
/* likewise, relative error 5.6e-17 */
#define TRI_ASIN_P(z)                                                                 \
  (0.16666666666666648628 +                                                           \
   (z) *                                                                              \
       (0.075000000000207643609 +                                                     \
        (z) *                                                                         \
            (0.044642857103423643363 +                                                \
             (z) *                                                                    \
                 (0.030381947367098481126 +                                           \
                  (z) *                                                               \
                      (0.022372047631744510379 +                                      \
                       (z) *                                                          \
                           (0.017355259955786321748 +                                 \
                            (z) *                                                     \
                                (0.013929652902326633248 +                            \
                                 (z) *                                                \
                                     (0.0118754943826369232 +                         \
                                      (z) * (0.0078029494773533171436 +               \
                                             (z) * (0.016035514349148823079 +         \
                                                    (z) * (-0.010749050339697807562 + \
                                                           (z)*0.028169218060881412899)))))))))))
#include "tri_pairs_body.h"

#endif
