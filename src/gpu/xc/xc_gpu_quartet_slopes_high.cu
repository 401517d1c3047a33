/* Derivatives of (ab|cd) on a card where a pair has an f shell. */
#include "xc_gpu_quartet_slopes.cuh"

xc_quartet_run xc_quartet_slopes_high(int first, int second) {
  return xc_quartet_find<xc_slope_launch, true>(first, second);
}
