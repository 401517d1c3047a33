/* Derivatives of (P|ab) on a card for pairs of degree 5 to 8: those with f and g shells. */
#include "xc_gpu_fit_slopes.cuh"

const xc_slope_run xc_slope_high[XC_TRIPLE_L + 1 - XC_SLOPE_LOW][XC_MAX_L + 1] = {
    XC_SLOPE_DEGREE(5), XC_SLOPE_DEGREE(6), XC_SLOPE_DEGREE(7), XC_SLOPE_DEGREE(8)};
