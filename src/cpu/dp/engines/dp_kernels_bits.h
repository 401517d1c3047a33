/* Bit strips of one SIMD level; see dp_kernels.h. LCS: Hyyro 2004; edit distance: Myers 1999 in the
 * form of Hyyro 2003, with rows and columns exchanged: the bits are columns. */

/** State of a strip in registers. */
typedef struct bit_lanes {
  v_u64 p[DP_WORDS], n[DP_WORDS];
  v_u64 carry_p, carry_n; /**< out of the last word of each lane, 0 or 1 */
} bit_lanes;

/** Constants of a strip. */
typedef struct bit_frame {
  v_u64 first; /**< all ones in lane G - 1 */
  v_u64 place; /**< bit of the last column of each lane's last word */
  v_u64 lane;
} bit_frame;

static bit_frame bit_frame_of(const dp_bit_strip *s) {
  bit_frame f = {.place = all_u64(63)};
  for (int p = 0; p < (int)N_u64; p++) f.lane[p] = (uint64_t)p;
  f.first = (v_u64)(f.lane == all_u64((uint64_t)s->lanes - 1));
  f.place[0] = (uint64_t)s->last;
  return f;
}

/** All ones in the lanes whose row exists in the step at which lane 0 has row `row`; lanes from G
 * on, which no lane looks at, hold anything. */
VECTOR_INLINE v_u64 bit_live(const dp_bit_strip *s, const bit_frame *f, int64_t row) {
  const v_i64 at = (v_i64)f->lane + all_i64(row);
  return (v_u64)((at >= all_i64(0)) & (at < all_i64(s->rows)));
}

VECTOR_INLINE v_u64 bit_equal(const dp_bit_strip *s, const int planes, const v_u64 *a,
                              const int words, const int r) {
  v_u64 equal = ~(a[0] ^ load_u64(s->b + r * (int)N_u64));
  VECTOR_UNROLL for (int q = 1; q < planes; q++) equal &=
      ~(a[q] ^ load_u64(s->b + (q * words + r) * (int)N_u64));
  return equal;
}

/** One step; masked: lanes whose row does not exist keep their state. */
VECTOR_INLINE void lcs_step(const dp_bit_strip *s, const bit_frame *f, bit_lanes *l,
                            const int planes, const int words, const bool masked, int64_t row,
                            uint64_t *keep) {
  v_u64 a[DP_PLANES], live = all_u64(0);
  v_u64 carry = choose_u64(f->first, load_u64(s->left_p + row), down_u64(l->carry_p, l->carry_p));
  VECTOR_UNROLL for (int q = 0; q < planes; q++) a[q] = load_u64(s->a + q * s->a_ld + row);
  if (masked) live = bit_live(s, f, row);
  VECTOR_UNROLL for (int r = 0; r < words; r++) {
    const v_u64 v = l->p[r], equal = bit_equal(s, planes, a, words, r);
    const v_u64 u = v & equal, sum = v + u + carry;
    const v_u64 out = u | (v & ~sum), next = sum | (v & ~equal);
    carry = r == words - 1 ? (out >> f->place) & all_u64(1) : out >> 63;
    l->p[r] = masked ? choose_u64(live, next, v) : next;
    if (keep != NULL) store_u64(keep + r * (int)N_u64, l->p[r]);
  }
  l->carry_p = carry;
  if (row >= 0) s->right_p[row] = carry[0];
}

VECTOR_INLINE void edit_step(const dp_bit_strip *s, const bit_frame *f, bit_lanes *l,
                             const int planes, const int words, const bool masked, int64_t row,
                             uint64_t *keep) {
  v_u64 a[DP_PLANES], live = all_u64(0);
  v_u64 in_p = choose_u64(f->first, load_u64(s->left_p + row), down_u64(l->carry_p, l->carry_p));
  v_u64 in_n = choose_u64(f->first, load_u64(s->left_n + row), down_u64(l->carry_n, l->carry_n));
  VECTOR_UNROLL for (int q = 0; q < planes; q++) a[q] = load_u64(s->a + q * s->a_ld + row);
  if (masked) live = bit_live(s, f, row);
  VECTOR_UNROLL for (int r = 0; r < words; r++) {
    const v_u64 p = l->p[r], n = l->n[r];
    const v_u64 x = bit_equal(s, planes, a, words, r) | in_n;
    const v_u64 same = (((x & p) + p) ^ p) | x | n; /* no change on the diagonal */
    const v_u64 down_p = n | ~(same | p), down_n = p & same;
    const v_u64 over_p = (down_p << 1) | in_p, over_n = (down_n << 1) | in_n;
    const v_u64 next_p = over_n | ~(same | over_p), next_n = over_p & same;
    in_p = r == words - 1 ? (down_p >> f->place) & all_u64(1) : down_p >> 63;
    in_n = r == words - 1 ? (down_n >> f->place) & all_u64(1) : down_n >> 63;
    l->p[r] = masked ? choose_u64(live, next_p, p) : next_p;
    l->n[r] = masked ? choose_u64(live, next_n, n) : next_n;
    if (keep != NULL) {
      store_u64(keep + r * (int)N_u64, same);
      store_u64(keep + (words + r) * (int)N_u64, l->p[r]);
    }
  }
  l->carry_p = in_p;
  l->carry_n = in_n;
  if (row >= 0) {
    s->right_p[row] = in_p[0];
    s->right_n[row] = in_n[0];
  }
}

VECTOR_INLINE void bit_steps(const dp_bit_strip *s, const bool edit, const int planes,
                             const int words, const bool keeps) {
  const bit_frame f = bit_frame_of(s);
  const int64_t ahead = s->lanes - 1, full = s->rows - ahead;
  const int64_t stride = (edit ? 2 : 1) * words * (int64_t)N_u64;
  uint64_t *keep = s->keep;
  bit_lanes l = {.carry_p = all_u64(0), .carry_n = all_u64(0)};
  VECTOR_UNROLL for (int r = 0; r < words; r++) {
    l.p[r] = load_u64(s->p + r * (int)N_u64);
    l.n[r] = edit ? load_u64(s->n + r * (int)N_u64) : all_u64(0);
  }
  int64_t row = -ahead;
#define DP_STEPS(end, masked)                                                \
  for (; row < (end); row++) {                                               \
    if (edit)                                                                \
      edit_step(s, &f, &l, planes, words, masked, row, keeps ? keep : NULL); \
    else                                                                     \
      lcs_step(s, &f, &l, planes, words, masked, row, keeps ? keep : NULL);  \
    if (keeps) keep += stride;                                               \
  }
  DP_STEPS(0, true)
  DP_STEPS(full, false)
  DP_STEPS(s->rows, true)
#undef DP_STEPS
  VECTOR_UNROLL for (int r = 0; r < words; r++) {
    store_u64(s->p + r * (int)N_u64, l.p[r]);
    if (edit) store_u64(s->n + r * (int)N_u64, l.n[r]);
  }
}

VECTOR_INLINE void bit_planes(const dp_bit_strip *s, const bool edit, const int words,
                              const bool keeps) {
  if (s->planes <= 2)
    bit_steps(s, edit, 2, words, keeps);
  else if (s->planes <= 5)
    bit_steps(s, edit, 5, words, keeps);
  else
    bit_steps(s, edit, DP_PLANES, words, keeps);
}

#define DP_BITS_CASE(name, edit, words, keeps)     \
  static void bits_##name(const dp_bit_strip *s) { \
    bit_planes(s, edit, words, keeps);             \
  }
DP_BITS_CASE(lcs_1, false, 1, false)
DP_BITS_CASE(lcs_1_keep, false, 1, true)
DP_BITS_CASE(lcs_n, false, DP_WORDS, false)
DP_BITS_CASE(lcs_n_keep, false, DP_WORDS, true)
DP_BITS_CASE(edit_1, true, 1, false)
DP_BITS_CASE(edit_1_keep, true, 1, true)
DP_BITS_CASE(edit_n, true, DP_WORDS, false)
DP_BITS_CASE(edit_n_keep, true, DP_WORDS, true)
#undef DP_BITS_CASE

static void bits(dp_problem problem, const dp_bit_strip *s) {
  static void (*const cases[2][2][2])(const dp_bit_strip *) = {
      {{bits_lcs_1, bits_lcs_1_keep}, {bits_lcs_n, bits_lcs_n_keep}},
      {{bits_edit_1, bits_edit_1_keep}, {bits_edit_n, bits_edit_n_keep}}};
  cases[problem == DP_EDIT][s->wide != 0][s->keep != NULL](s);
}

static void bits_spread(const uint8_t *codes, int64_t n, int planes, uint64_t *out, int64_t ld) {
  for (int q = 0; q < planes; q++)
    for (int64_t k = 0; k < n; k++) out[q * ld + k] = 0 - (uint64_t)(codes[k] >> q & 1);
}

static void bits_expand(const uint32_t *words, int64_t n, uint64_t *values) {
  for (int64_t k = 0; k < n; k += 32) {
    const uint64_t word = words[k / 32];
    const int64_t most = n - k < 32 ? n - k : 32;
    for (int64_t b = 0; b < most; b++) values[k + b] = word >> b & 1;
  }
}

static void bits_compress(const uint64_t *values, int64_t n, uint32_t *words) {
  for (int64_t k = 0; k < n; k += 32) {
    const int64_t most = n - k < 32 ? n - k : 32;
    uint64_t word = 0;
    for (int64_t b = 0; b < most; b++) word |= values[k + b] << b;
    words[k / 32] = (uint32_t)word;
  }
}
