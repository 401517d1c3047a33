/* Derivatives of (P|ab) times weights on a card for pairs to degree 4: chunks are as large as
 * blocks of spherical functions. */
#include "xc_gpu_triple_slopes.cuh"

const xc_triple_slope_class xc_triple_slope_low[XC_TRIPLE_LOW] = {
    XC_TRIPLE_SLOPE_CLASS(0, 1), XC_TRIPLE_SLOPE_CLASS(1, 3), XC_TRIPLE_SLOPE_CLASS(2, 5),
    XC_TRIPLE_SLOPE_CLASS(2, 9), XC_TRIPLE_SLOPE_CLASS(3, 7), XC_TRIPLE_SLOPE_CLASS(3, 15),
    XC_TRIPLE_SLOPE_CLASS(4, 25)};
