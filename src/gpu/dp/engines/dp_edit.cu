/* Kernels of the unit edit distance. */
#include "dp_bits.cuh"

dp_bits_function dp_bits_pick_edit(int planes, int words, bool keep) {
  return planes == 0                    ? dp_bits_pick<2, 0>(words, keep)
         : planes == DP_BITS_PLANES_MID ? dp_bits_pick<2, DP_BITS_PLANES_MID>(words, keep)
                                        : dp_bits_pick<2, DP_BITS_PLANES_HIGH>(words, keep);
}
