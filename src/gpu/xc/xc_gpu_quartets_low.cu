/* (ab|cd) on a card for shells up to d. */
#include "xc_gpu_quartets.cuh"

xc_quartet_run xc_quartet_low(int first, int second) {
  return xc_quartet_find<xc_quartet_spins, false>(first, second);
}
