/* Row sweeps of one SIMD level: knapsacks and Pascal's triangle. */

/* Columns go down, so that a row may be replaced in place: what is read lies at or below what is
 * written, and is read before. */
#define DP_SACK(name, E)                                                                          \
  VECTOR_INLINE uint64_t sack_one_##name(const E *from, E *to, int64_t weight, E value) {         \
    const E old = *from, with = from[-weight] + value;                                            \
    *to = with > old ? with : old;                                                                \
    return with > old;                                                                            \
  }                                                                                               \
  /* whole vectors without bits, down to column k, which is where the next one ends */            \
  VECTOR_INLINE int64_t sack_plain_##name(const E *from, E *to, int64_t k, int64_t skip,          \
                                          int64_t weight, E value) {                              \
    const v_##name v = all_##name(value);                                                         \
    for (; k - (int)N_##name >= skip; k -= (int)N_##name) {                                       \
      const E *at = from + k - (int)N_##name;                                                     \
      store_##name(to + k - (int)N_##name,                                                        \
                   max_##name(load_##name(at), load_##name(at - weight) + v));                    \
    }                                                                                             \
    return k;                                                                                     \
  }                                                                                               \
  VECTOR_INLINE uint64_t sack_word_##name(const E *from, E *to, int64_t weight, E value) {        \
    const v_##name v = all_##name(value);                                                         \
    uint64_t word = 0;                                                                            \
    VECTOR_UNROLL for (int q = 64 - (int)N_##name; q >= 0; q -= (int)N_##name) {                  \
      const v_##name a = load_##name(from + q), b = load_##name(from + q - weight) + v;           \
      store_##name(to + q, max_##name(a, b));                                                     \
      word |= greater_bits_##name(b, a) << q;                                                     \
    }                                                                                             \
    return word;                                                                                  \
  }                                                                                               \
  /* single columns down to column end */                                                         \
  VECTOR_INLINE int64_t sack_single_##name(const E *from, E *to, int64_t k, int64_t end,          \
                                           int64_t weight, E value, uint64_t *bits) {             \
    for (; k > end; k--) {                                                                        \
      const uint64_t better = sack_one_##name(from + k - 1, to + k - 1, weight, value);           \
      if (bits != NULL) bits[(k - 1) / 64] |= better << (k - 1) % 64;                             \
    }                                                                                             \
    return k;                                                                                     \
  }                                                                                               \
  static void sack_##name(const E *from, E *to, int64_t n, int64_t skip, int64_t weight, E value, \
                          uint64_t *bits) {                                                       \
    int64_t k = n;                                                                                \
    if (bits == NULL) {                                                                           \
      k = sack_plain_##name(from, to, k, skip, weight, value);                                    \
    } else {                                                                                      \
      memset(bits, 0, (size_t)((n + 63) / 64) * sizeof *bits);                                    \
      k = sack_single_##name(from, to, k, n / 64 * 64 > skip ? n / 64 * 64 : skip, weight, value, \
                             bits);                                                               \
      for (; k - 64 >= skip; k -= 64)                                                             \
        bits[k / 64 - 1] = sack_word_##name(from + k - 64, to + k - 64, weight, value);           \
    }                                                                                             \
    (void)sack_single_##name(from, to, k, skip, weight, value, bits);                             \
    if (from != to && skip > 0) memcpy(to, from, (size_t)skip * sizeof *to);                      \
  }
DP_SACK(i32, int32_t)
DP_SACK(i64, int64_t)
#undef DP_SACK

static void sack_again(const int64_t *from, int64_t *to, int64_t n, int64_t weight, int64_t value,
                       uint64_t *bits) {
  const v_i64 v = all_i64(value);
  int64_t k = 0;
  for (; bits != NULL && k + 64 <= n; k += 64) {
    uint64_t word = 0;
    VECTOR_UNROLL for (int q = 0; q < 64; q += (int)N_i64) {
      const v_i64 a = load_i64(from + k + q), b = load_i64(to + k + q - weight) + v;
      store_i64(to + k + q, max_i64(a, b));
      word |= greater_bits_i64(b, a) << q;
    }
    bits[k / 64] = word;
  }
  for (; k + (int)N_i64 <= n; k += (int)N_i64)
    store_i64(to + k, max_i64(load_i64(from + k), load_i64(to + k - weight) + v));
  for (; k < n; k++) to[k] = to[k - weight] + value > from[k] ? to[k - weight] + value : from[k];
}

static void shrink(const int64_t *from, int64_t n, int32_t *to) {
  for (int64_t k = 0; k < n; k++) to[k] = (int32_t)from[k];
}

static void stretch(const int32_t *from, int64_t n, int64_t *to) {
  for (int64_t k = 0; k < n; k++) to[k] = from[k];
}

static void larger(const int64_t *to, const int64_t *from, int64_t n, uint64_t *bits) {
  for (int64_t k = 0; k < n; k += 64) {
    const int64_t most = n - k < 64 ? n - k : 64;
    uint64_t word = 0;
    for (int64_t b = 0; b < most; b++) word |= (uint64_t)(to[k + b] > from[k + b]) << b;
    bits[k / 64] = word;
  }
}

static void pascal(const int64_t *from, int64_t *to, int64_t n, int64_t modulus) {
  if (modulus > 0) {
    for (int64_t k = 0; k < n; k++) {
      const int64_t sum = from[k] + from[k - 1]; /* below 2^63 */
      to[k] = sum >= modulus ? sum - modulus : sum;
    }
    return;
  }
  for (int64_t k = 0; k < n; k++) {
    const uint64_t a = (uint64_t)from[k], b = (uint64_t)from[k - 1];
    to[k] = (int64_t)((a + b) | ((a | b) & UINT64_C(1) << 63));
  }
}
