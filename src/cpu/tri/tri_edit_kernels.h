/**
 * @file tri_edit_kernels.h
 * Edit distances of one SIMD level: TRI_EDIT_LANES patterns side by side, a lane of 64-bit words
 * each, against one text, whose letter all lanes read. The table's last column gives the distance:
 * its top cell is the text's length, and the bits of its differences lead down to each pattern's
 * end, so that patterns of different lengths go together.
 */
#include "tri_cpu_letters.h"
#include "tri_edit.h"

#include <string.h>

#if defined __AVX512F__
enum { WIDTH = 8 };
#elif defined __AVX2__
enum { WIDTH = 4 };
#else
enum { WIDTH = 2 };
#endif
typedef uint64_t word __attribute__((vector_size(8 * WIDTH), may_alias, aligned(8 * WIDTH)));
_Static_assert((int)TRI_EDIT_LANES % (int)WIDTH == 0, "lanes in whole vectors");

TRI_EDIT_STEP(word, step, 64)

/** Lanes from `lane` on through the text; constant words when inlined keep the state in registers.
 */
TSL_FN void columns(const tri_edit_patterns *p, const int64_t words, int lane, const uint8_t *text,
                    int64_t n, word *up, word *down) {
  const uint64_t *const equal = p->equal + lane;
  for (int64_t w = 0; w < words; w++) up[w] = ~(word){0}, down[w] = (word){0};
  for (int64_t t = 0; t < n; t++) {
    const uint64_t *const letter = equal + text[t] * p->words * TRI_EDIT_LANES;
    word more = (word){0} + 1, less = (word){0};
    _Pragma("GCC unroll 8") for (int64_t w = 0; w < words; w++) {
      const word e = *(const word *)(letter + w * TRI_EDIT_LANES);
      tri_edit_step(e, &up[w], &down[w], &more, &less);
    }
  }
}

/** The last column to memory. */
TSL_FN void keep(const word *up, const word *down, int64_t words, int lane, uint64_t *state) {
  for (int64_t w = 0; w < words; w++) {
    memcpy(state + 2 * w * TRI_EDIT_LANES + lane, &up[w], sizeof up[w]);
    memcpy(state + (2 * w + 1) * TRI_EDIT_LANES + lane, &down[w], sizeof down[w]);
  }
}

#define FEW(W)                              \
  case W:                                   \
    columns(p, W, lane, text, n, up, down); \
    keep(up, down, W, lane, p->state);      \
    break;

/** The state in memory, of patterns of many words. */
static void many(const tri_edit_patterns *p, int lane, const uint8_t *text, int64_t n) {
  word *const up = (word *)p->room, *const down = up + p->words;
  columns(p, p->words, lane, text, n, up, down);
  keep(up, down, p->words, lane, p->state);
}

static void last_column(const tri_edit_patterns *p, const uint8_t *text, int64_t n) {
  for (int lane = 0; lane < TRI_EDIT_LANES; lane += WIDTH) {
    word up[8], down[8];
    switch (p->words) {
      FEW(1)
      FEW(2)
      FEW(3)
      FEW(4)
      FEW(5)
      FEW(6)
      FEW(7)
      FEW(8)
    default:
      many(p, lane, text, n);
      break;
    }
  }
}

static void distances(const tri_edit_patterns *p, const uint8_t *text, int64_t n, int64_t *out) {
  last_column(p, text, n);
  for (int lane = 0; lane < TRI_EDIT_LANES; lane++) {
    int64_t distance = n;
    for (int64_t w = 0, left = p->lengths[lane]; left > 0; w++, left -= 64) {
      const uint64_t mask = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
      const uint64_t *const bits = p->state + 2 * w * TRI_EDIT_LANES + lane;
      distance += __builtin_popcountll(bits[0] & mask);
      distance -= __builtin_popcountll(bits[TRI_EDIT_LANES] & mask);
    }
    out[lane] = distance;
  }
}

const tri_edit_kernels TSL_SIMD_TABLE = {.level = TSL_SIMD_LEVEL, .distances = distances};
