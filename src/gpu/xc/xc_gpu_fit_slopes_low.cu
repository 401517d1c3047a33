/* Derivatives of (P|ab) on a card for pairs to degree 4. */
#include "xc_gpu_fit_slopes.cuh"

const xc_slope_run xc_slope_low[XC_SLOPE_LOW][XC_MAX_L + 1] = {
    XC_SLOPE_DEGREE(0), XC_SLOPE_DEGREE(1), XC_SLOPE_DEGREE(2), XC_SLOPE_DEGREE(3),
    XC_SLOPE_DEGREE(4)};
