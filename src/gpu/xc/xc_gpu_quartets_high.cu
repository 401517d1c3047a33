/* (ab|cd) on a card where a pair has an f shell. */
#include "xc_gpu_quartets.cuh"

xc_quartet_run xc_quartet_high(int first, int second) {
  return xc_quartet_find<xc_quartet_spins, true>(first, second);
}
