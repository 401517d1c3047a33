/**
 * @file xc_fixed.h
 * Sums that are the same bits in any order (xc.reproducible): 64-bit integers, value times 2^bits.
 *
 * Each contribution is computed alone, in an order that only the problem fixes, rounded once, and
 * added as an integer. Bits are chosen by the root in each phase, from bounds of the sums:
 *
 *   matrix of exchange-correlation  52, so values to 2048 hartree (as src/gpu/xc/xc_gpu_matrix.cu)
 *   energy, electrons               of 64 hartree for each electron: |E_xc| <= 1.68 int rho^(4/3)
 *                                   stays below 6 for each electron of any atom to Z = 118
 *   J, exact                        2 Q sum_kl |D_kl| Q_kl by |(ij|kl)| <= Q_ij Q_kl, Q the largest
 *   J, fitted                       Q sum_P |c_P| sqrt((P|P))
 *   K                               4 d (max_a sum_b Q_ab)^2, d the largest |D_kl|
 *
 * The bounds of J and K are proofs, those of the grid are not: every addition is checked. So that
 * no sum over ranks wraps unseen, each rank says how large its sums are (xc_fixed_set_guard) and
 * the root refuses what does not surely fit. @return of all: TSL_ERR_NUMERIC.
 */
#pragma once

#include "xc_problem.h"

#include <math.h>

TSL_C_BEGIN

/** Bits behind the point of a kind of sums in this phase, and 2^bits. */
static inline int xc_fixed_bits(const tsl_problem *problem, int which) {
  return ((const int32_t *)problem->fields[XC_IN_PRECISION].data)[1 + which];
}
static inline double xc_fixed_scale(const tsl_problem *problem, int which) {
  return ldexp(1, xc_fixed_bits(problem, which));
}

/** *sum += value scale, rounded to even. @return false, *sum untouched, when that is no number or
 *  too large */
static inline bool xc_fixed_add(int64_t *sum, double value, double scale) {
  const double scaled = value * scale;
  int64_t next;
  if (!(fabs(scaled) < 0x1p62)) return false;
  if (__builtin_add_overflow(*sum, (int64_t)llrint(scaled), &next)) return false;
  *sum = next;
  return true;
}

/** A share of a gradient as a multiple of 2^-42: sums below 2048 hartree/bohr are exact in doubles
 *  then. */
static inline double xc_fixed_share(double value) {
  return rint(value * 0x1p42) * 0x1p-42;
}

/** Add n numbers and make them zero. @return false as above; all are added that can be */
bool xc_fixed_flush(int64_t n, double *values, double scale, int64_t *sums);
/** sums += more. @return false when a sum overflows */
bool xc_fixed_join(int64_t n, const int64_t *more, int64_t *sums);
/** A worker sets its entry of XC_SUM_GUARD: the field's sums are less than so many 2^40. */
void xc_fixed_set_guard(tsl_problem *problem, int which, int field);
/** @return TSL_ERR_NUMERIC, of what, unless all numbers could be added */
tsl_err xc_fixed_held(bool all, const char *what);

/** Root: bits of the sums of the densities that are set now. */
tsl_err xc_fixed_choose(tsl_problem *problem);
/** Root: do the sums over ranks surely fit? */
tsl_err xc_fixed_check(const tsl_problem *problem);
/** Root: elements [first, first + n) of a field of sums as doubles, whether fixed or not. */
void xc_fixed_take(const tsl_problem *problem, int which, int field, int64_t first, int64_t n,
                   double *out);

TSL_C_END
