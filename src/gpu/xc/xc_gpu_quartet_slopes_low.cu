/* Derivatives of (ab|cd) on a card for shells up to d. */
#include "xc_gpu_quartet_slopes.cuh"

xc_quartet_run xc_quartet_slopes_low(int first, int second) {
  return xc_quartet_find<xc_slope_launch, false>(first, second);
}
