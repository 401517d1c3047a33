/**
 * @file tri_kernels_bits.h
 * Kernels of tri_kernels.h for rows of bits (tri_bits.h): how many are 1 in both points of a pair,
 * lanes are columns, and the functions' values of that.
 *
 * Words are added up bit by bit (Harley and Seal): full adders turn eight words of the pairs into
 * one whose bits count eight, and what they leave, of which there is one each of ones, twos and
 * fours for the whole row; only these words' bits are then counted.
 */
#include "cpu_vectors.h"
#include "tri_bits.h"

/* Words from which on vectors are faster than counting word by word; of 16 bytes they never are
 * where there is an instruction for that. */
#if VECTOR_BYTES == 64 || !defined __POPCNT__
#define BIT_LEAST 1
#elif VECTOR_BYTES == 32
#define BIT_LEAST 8
#else
#define BIT_LEAST INT64_MAX
#endif

enum {
  BIT_ROWS = 4,                                   /* at once */
  BIT_SHARED = VECTOR_BYTES == 64 ? BIT_ROWS : 1, /* of them that the registers have room for */
  BIT_COLUMNS = 64,                               /* counted before their values are worked out */
  BIT_GROUP = 8,                                  /* words of one step */
  BIT_MOST = 31                                   /* steps after which a byte may be full */
};

/* low + a + b in each bit: low, and what it carries. */
VECTOR_INLINE v_u64 bit_add(v_u64 *low, v_u64 a, v_u64 b) {
#if VECTOR_BYTES == 64
  const __m512i x = (__m512i)*low, y = (__m512i)a, z = (__m512i)b;
  *low = (v_u64)_mm512_ternarylogic_epi64(x, y, z, 0x96);
  return (v_u64)_mm512_ternarylogic_epi64(x, y, z, 0xe8);
#else
  const v_u64 odd = *low ^ a, carry = (*low & a) | (odd & b);
  *low = odd ^ b;
  return carry;
#endif
}

/* Ones of each byte. */
VECTOR_INLINE v_u64 bit_bytes(v_u64 v) {
  const v_u64 fifth = all_u64(0x5555555555555555u), third = all_u64(0x3333333333333333u);
  v -= v >> 1 & fifth;
  v = (v & third) + (v >> 2 & third);
  return (v + (v >> 4)) & all_u64(0x0f0f0f0f0f0f0f0fu);
}

/* Sum of each lane's bytes. */
VECTOR_INLINE v_u64 bit_total(v_u64 v) {
  const v_u64 bytes = all_u64(0x00ff00ff00ff00ffu);
  v = (v & bytes) + (v >> 8 & bytes);
  v += v >> 16;
  return (v + (v >> 32)) & all_u64(0xffff);
}

/* Sums of a row: of each bit, of each byte's eights, and of each lane. */
typedef struct bit_sums {
  v_u64 ones, twos, fours, eights, total;
} bit_sums;

/* Eight words of the columns with the row's, which are ld apart. */
VECTOR_INLINE void bit_step(bit_sums *s, const v_u64 *column, const uint64_t *row, int64_t ld) {
  v_u64 both[BIT_GROUP];
  VECTOR_UNROLL for (int w = 0; w < BIT_GROUP; w++) both[w] = column[w] & all_u64(row[w * ld]);
  const v_u64 twos_a = bit_add(&s->ones, both[0], both[1]);
  const v_u64 twos_b = bit_add(&s->ones, both[2], both[3]);
  const v_u64 fours_a = bit_add(&s->twos, twos_a, twos_b);
  const v_u64 twos_c = bit_add(&s->ones, both[4], both[5]);
  const v_u64 twos_d = bit_add(&s->ones, both[6], both[7]);
  const v_u64 fours_b = bit_add(&s->twos, twos_c, twos_d);
  s->eights += bit_bytes(bit_add(&s->fours, fours_a, fours_b));
}

/* How many are 1 in both: n_rows rows, whose words begin at xi, and columns of one vector, from
 * column `at` of both on. */
VECTOR_INLINE void bit_columns(const uint64_t *xi, const uint64_t *xj, int64_t ld, int64_t words,
                               const int n_rows, int64_t at, uint64_t (*both)[BIT_COLUMNS]) {
  bit_sums s[BIT_SHARED] = {{all_u64(0), all_u64(0), all_u64(0), all_u64(0), all_u64(0)}};
  v_u64 column[BIT_GROUP];
  int64_t w = 0;
  for (int r = 1; r < n_rows; r++) s[r] = s[0];
  for (int steps = 1; w + BIT_GROUP <= words; w += BIT_GROUP, steps++) {
    VECTOR_UNROLL for (int k = 0; k < BIT_GROUP; k++) column[k] = load_u64(xj + (w + k) * ld);
    VECTOR_UNROLL for (int r = 0; r < n_rows; r++) bit_step(&s[r], column, xi + w * ld + r, ld);
    if (steps % BIT_MOST != 0) continue;
    for (int r = 0; r < n_rows; r++) s[r].total += bit_total(s[r].eights), s[r].eights = all_u64(0);
  }
  VECTOR_UNROLL for (int r = 0; r < n_rows; r++) {
    v_u64 rest = bit_bytes(s[r].ones); /* of at most eight words */
    for (int64_t k = w; k < words; k++)
      rest += bit_bytes(load_u64(xj + k * ld) & all_u64(xi[k * ld + r]));
    s[r].total = (s[r].total + bit_total(s[r].eights)) << 3;
    if (w > 0) rest += (bit_bytes(s[r].twos) << 1) + (bit_bytes(s[r].fours) << 2);
    store_u64(&both[r][at], s[r].total + bit_total(rest));
  }
}

/* The same word by word. */
VECTOR_INLINE void bit_words(const uint64_t *xi, const uint64_t *xj, int64_t ld, int64_t words,
                             const int n_rows, int64_t n, uint64_t (*both)[BIT_COLUMNS]) {
  for (int64_t c = 0; c < n; c++) {
    uint64_t sum[BIT_ROWS] = {0};
    for (int64_t w = 0; w < words; w++) {
      const uint64_t column = xj[w * ld + c];
      VECTOR_UNROLL for (int r = 0; r < n_rows; r++) sum[r] +=
          (uint64_t)__builtin_popcountll(xi[w * ld + r] & column);
    }
    VECTOR_UNROLL for (int r = 0; r < n_rows; r++) both[r][c] = sum[r];
  }
}

/* n_rows rows with columns [0, n) of xj, n <= BIT_COLUMNS. The last vector ends at the last column:
 * nothing beyond the field is read. */
VECTOR_INLINE void bit_rows(const uint64_t *xi, const uint64_t *xj, int64_t ld, int64_t words,
                            const int n_rows, int64_t n, uint64_t (*both)[BIT_COLUMNS]) {
  const int shared = n_rows < BIT_SHARED ? n_rows : BIT_SHARED;
  if (n < N_u64 || words < BIT_LEAST) {
    bit_words(xi, xj, ld, words, n_rows, n, both);
    return;
  }
  for (int64_t c = 0; c < n; c += N_u64) {
    const int64_t at = c + N_u64 <= n ? c : n - N_u64;
    for (int r = 0; r < n_rows; r += shared)
      bit_columns(xi + r, xj + at, ld, words, shared, at, both + r);
  }
}

/* Rows from i on, as many as fit, with columns [j, j + n). @return rows done */
static int bit_count(const tri_view *v, int64_t i, int rows, int64_t j, int64_t n,
                     uint64_t (*both)[BIT_COLUMNS]) {
  const uint64_t *const x = (const uint64_t *)v->x;
  const int64_t words = (v->d + TRI_WORD_BITS - 1) / TRI_WORD_BITS;
  if (rows < BIT_ROWS) {
    bit_rows(x + i, x + j, v->ld, words, 1, n, both);
    return 1;
  }
  bit_rows(x + i, x + j, v->ld, words, BIT_ROWS, n, both);
  return BIT_ROWS;
}

#define BIT_FILL(R, t, name)                                                                  \
  static void fill_##name##_##t(const tri_view *v, int64_t i, int rows, int64_t j, int64_t n, \
                                void *values, int64_t ld) {                                   \
    const R *const e = (const R *)v->extra, scale = (R)v->scale;                              \
    uint64_t both[BIT_ROWS][BIT_COLUMNS];                                                     \
    for (int64_t c = 0; c < n; c += BIT_COLUMNS) {                                            \
      const int64_t m = n - c < BIT_COLUMNS ? n - c : BIT_COLUMNS;                            \
      const R *const restrict ej = e + j + c;                                                 \
      for (int r = 0, done; r < rows; r += done) {                                            \
        done = bit_count(v, i + r, rows - r, j + c, m, both);                                 \
        for (int q = 0; q < done; q++) {                                                      \
          R *const restrict out = (R *)values + (r + q) * ld + c;                             \
          const R ei = e[i + r + q];                                                          \
          SIMD for (int64_t k = 0; k < m; k++) out[k] =                                       \
              tri_finish_##name##_##t((R)(int32_t)both[q][k], ei, ej[k], scale);              \
        }                                                                                     \
      }                                                                                       \
    }                                                                                         \
  }
#define BIT_FILLS(NAME, name, ...) BIT_FILL(float, f32, name) BIT_FILL(double, f64, name)
TRI_TRUTH_LIST(BIT_FILLS)
#undef BIT_FILLS
#undef BIT_FILL
#undef BIT_LEAST
