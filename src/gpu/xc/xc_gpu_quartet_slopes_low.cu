/* Derivatives of (ab|cd) on a card for shells up to d. */
#include "xc_gpu_quartet_slopes.cuh"

template <int FIRST> static xc_quartet_run with(int second) {
  static_assert(XC_QUARTET_LOW == 6, "one entry for each class");
  static const xc_quartet_run all[] = {xc_slope_of<FIRST, 0>(), xc_slope_of<FIRST, 1>(),
                                       xc_slope_of<FIRST, 2>(), xc_slope_of<FIRST, 3>(),
                                       xc_slope_of<FIRST, 4>(), xc_slope_of<FIRST, 5>()};
  return all[second];
}

xc_quartet_run xc_quartet_slopes_low(int first, int second) {
  static xc_quartet_run (*const all[])(int) = {with<0>, with<1>, with<2>,
                                               with<3>, with<4>, with<5>};
  return all[first](second);
}
