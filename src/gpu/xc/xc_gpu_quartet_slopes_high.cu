/* Derivatives of (ab|cd) on a card where a pair has an f shell. */
#include "xc_gpu_quartet_slopes.cuh"

template <int FIRST, int SECOND> static xc_quartet_run either() {
  if constexpr (FIRST >= XC_QUARTET_LOW || SECOND >= XC_QUARTET_LOW)
    return xc_slope_of<FIRST, SECOND>();
  else
    return NULL;
}

template <int FIRST> static xc_quartet_run with(int second) {
  static_assert(XC_QUARTET_CLASSES == 10, "one entry for each class");
  static const xc_quartet_run all[] = {either<FIRST, 0>(), either<FIRST, 1>(), either<FIRST, 2>(),
                                       either<FIRST, 3>(), either<FIRST, 4>(), either<FIRST, 5>(),
                                       either<FIRST, 6>(), either<FIRST, 7>(), either<FIRST, 8>(),
                                       either<FIRST, 9>()};
  return all[second];
}

xc_quartet_run xc_quartet_slopes_high(int first, int second) {
  static xc_quartet_run (*const all[])(int) = {with<0>, with<1>, with<2>, with<3>, with<4>,
                                               with<5>, with<6>, with<7>, with<8>, with<9>};
  return all[first](second);
}
