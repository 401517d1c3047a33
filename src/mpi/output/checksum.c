/* Fletcher's two sums over 64-bit words, added piece by piece. */
#include "checksum.h"

#include <string.h>

void tsl_checksum_add(tsl_checksum *sum, const void *bytes, int64_t n) {
  const char *at = bytes;
  uint64_t a = sum->a, b = sum->b, word = 0;
  sum->bytes += n;
  for (; n >= 8; n -= 8, at += 8) {
    memcpy(&word, at, 8);
    a += word, b += a;
  }
  if (n > 0) {
    word = 0;
    memcpy(&word, at, (size_t)n);
    a += word, b += a;
  }
  sum->a = a, sum->b = b;
}

uint64_t tsl_checksum_end(const tsl_checksum *sum) {
  const uint64_t a = sum->a + (uint64_t)sum->bytes, b = sum->b + a;
  const uint64_t both = a ^ (b << 32 | b >> 32);
  return both != 0 ? both : 1;
}
