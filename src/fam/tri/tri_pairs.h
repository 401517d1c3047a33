/**
 * @file tri_pairs.h
 * The pair functions of tri_functions.h: the one source of their formulas for CPU and GPU, float
 * and double.
 *
 * The value of a pair (i, j) is
 *     acc = 0;  for k in 0..d-1: acc = step(acc, x[k][i], x[k][j], box[k]);
 *     value = finish(acc, extra[i], extra[j], scale);
 * on points prepared once on the root (TRI_RAW, TRI_UNIT_NORM, ...). Sums of squares and
 * products are explicit fused multiply-adds and nothing else is contracted (see fn.h), so every
 * device gives the same bits.
 *
 * Of truths (TRI_TRUTH_LIST, tri_bits.h) acc is how many are true of both points; there is no step.
 *
 * To add a function: a row of TRI_DISTANCE_LIST or TRI_TERM_LIST (tri_functions.h), a step and a
 * finish in tri_pairs_body.h. Deck words, kernels and tests follow the list.
 *
 * Names after inclusion: tri_step_<name>_f32, tri_finish_<name>_f32, and _f64; likewise bounds of
 * boxes and bins of histograms.
 */
#pragma once

#include "fn.h"
#include "lang_functions.h"
#include "tri_functions.h"

#include <stdbool.h>
#include <stdint.h>

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
