/* Derivatives of (P|ab) times weights on a card for pairs of degree 5 to 8: those with f and g
 * shells. */
#include "xc_gpu_triple_slopes.cuh"

const xc_triple_slope_class xc_triple_slope_high[XC_TRIPLE_HIGH] = {
    XC_TRIPLE_SLOPE_CLASS(5, 18), XC_TRIPLE_SLOPE_CLASS(6, 25), XC_TRIPLE_SLOPE_CLASS(7, 18),
    XC_TRIPLE_SLOPE_CLASS(8, 25)};
