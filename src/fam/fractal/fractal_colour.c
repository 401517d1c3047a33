/* From values to colour indices. */
#include "fractal_family.h"

#include <math.h>

enum { EACH = 512, OCTAVE = 256, FIRST_BITS = 9 }; /* values below EACH = 2^FIRST_BITS: one a bin */

int fractal_bin(uint32_t value) {
  if (value < EACH) return (int)value;
  const int exponent = 31 - __builtin_clz(value);
  const int mantissa = (int)(value >> (exponent - 8)) - OCTAVE;
  return EACH + (exponent - FIRST_BITS) * OCTAVE + mantissa;
}

/** Smallest value of a bin. */
static double value_of(int bin) {
  if (bin < EACH) return bin;
  return ldexp(OCTAVE + (bin - EACH) % OCTAVE, (bin - EACH) / OCTAVE + FIRST_BITS - 8);
}

static uint64_t count_outside(const fractal_tally *tally) {
  uint64_t n = 0;
  for (int b = 1; b < FRACTAL_BINS; b++) n += tally->count[b];
  return n;
}

/** Values of the first and the last colour; both 1 when all is inside. */
static void find_range(const fractal_tally *tally, double *lo, double *hi) {
  const uint64_t beyond = count_outside(tally) / 1000;
  int first = 1, last = FRACTAL_BINS - 1;
  *lo = *hi = 1;
  while (first < FRACTAL_BINS && tally->count[first] == 0) first++;
  if (first == FRACTAL_BINS) return;
  for (uint64_t n = tally->count[last]; last > first && n <= beyond; n += tally->count[last])
    last--;
  *lo = value_of(first);
  *hi = value_of(last);
}

void fractal_colours(const fractal_tally *tally, uint8_t colour[FRACTAL_BINS]) {
  double lo, hi;
  find_range(tally, &lo, &hi);
  colour[0] = 0;
  for (int b = 1; b < FRACTAL_BINS; b++) {
    const double value = fmin(fmax(value_of(b), lo), hi);
    const double part = hi > lo ? log(value / lo) / log(hi / lo) : 1;
    colour[b] = (uint8_t)(1 + lrint(254 * part));
  }
}
