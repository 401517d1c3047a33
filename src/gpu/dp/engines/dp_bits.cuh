/**
 * @file dp_bits.cuh
 * Bit-parallel strips: the longest common subsequence and the unit edit distance.
 *
 * A word holds 32 columns of a row as differences M[i][j] - M[i][j-1]. LCS (Hyyro 2004): with V =
 * no difference and E = the letters are equal, the next row is V' = (V + (V & E)) | (V & ~E). Edit
 * distance (Myers 1999, Hyyro 2003): two vectors P (+1) and N (-1). What passes from word to word
 * is a carry, which is the difference M[i][j] - M[i-1][j] of the word's last column.
 *
 * A warp owns a strip of 32 K words and walks down the rows. Lane l is l blocks of four rows behind
 * lane 0, so the carries of a block come from the lane before by one shuffle. The last lane writes
 * the carries of 32 rows with the strip's number beside them; the next strip waits for that number.
 * One list of such words serves all strips: each replaces what it has read.
 *
 * E comes from masks in shared memory, one for each letter (few letters), or from bit planes of the
 * columns' letters in registers.
 */
#pragma once

#include "dp_gpu.cuh"
#include "dp_ptx.cuh"

enum {
  DP_BITS_ROWS = 4,        /**< rows of a block */
  DP_BITS_BLOCKS = 8,      /**< blocks of a word of carries */
  DP_BITS_LETTERS = 16,    /**< letters of the columns that masks in shared memory serve */
  DP_BITS_PLANES_LOW = 5,  /**< bit planes kept for masks */
  DP_BITS_PLANES_MID = 6,  /**< in registers: letters up to 62 */
  DP_BITS_PLANES_HIGH = 9, /**< in registers: all bytes */
  DP_BITS_ALIGN = 32 * 4,  /**< words of state are a multiple of this */
};

/** Words of a lane such that a thousand warps find work; at most 4. */
static inline int dp_bits_words(int64_t columns) {
  const int64_t strip = 32 * DP_WARP;
  return columns >= 4 * 800 * strip ? 4 : columns >= 2 * 800 * strip ? 2 : 1;
}

/** Codes of four rows, 16 bits each, times dp_bits_scale. */
typedef uint2 dp_codes;

/** Factor of the rows' codes: masks in shared memory (planes 0) want bytes of their table. */
static inline uint32_t dp_bits_scale(int planes, int words) {
  return planes == 0 ? 4u * 32u * (uint32_t)words : 1;
}

/** A launch. */
typedef struct dp_bits_args {
  uint32_t *state;        /**< [parts][stride] differences of the last row: +1, then -1 */
  const uint32_t *planes; /**< [planes][stride] bits of the columns' codes */
  const dp_codes *codes;  /**< [32 + blocks + 40]: rows of the tile from entry 32 on */
  uint64_t *edge;         /**< [parts][groups] strip number << 32 | carries of 32 rows */
  uint32_t *ticket;
  uint32_t *history; /**< keep: [strips][steps][4][parts][32]: LCS differences; EDIT where the
                          diagonal attains the value, then where the left does */
  int64_t stride;
  int64_t columns;
  int strips, groups; /**< groups of 32 rows */
  int rows;           /**< rows of the tile */
  int letters;        /**< codes 0..letters-1 occur in the columns; letters: in none */
} dp_bits_args;

/** E of a lane's words for a row. PLANES 0: masks in shared memory. */
template <int K, int PLANES> struct dp_match {
  uint32_t plane[PLANES][K];

  __device__ __forceinline__ void load(const dp_bits_args &a, int64_t first, uint32_t *, int) {
#pragma unroll
    for (int q = 0; q < PLANES; q++)
#pragma unroll
      for (int k = 0; k < K; k++) plane[q][k] = a.planes[q * a.stride + first + k];
  }

  __device__ __forceinline__ void get(uint32_t code, uint32_t (&e)[K]) const {
#pragma unroll
    for (int q = 0; q < PLANES; q++) {
      const uint32_t bit = (uint32_t)((int32_t)(code << (31 - q)) >> 31);
#pragma unroll
      for (int k = 0; k < K; k++) {
        const uint32_t same = ~(plane[q][k] ^ bit);
        e[k] = q == 0 ? same : e[k] & same;
      }
    }
  }
};

template <int K> struct dp_match<K, 0> {
  const uint32_t *mine; /**< [letters + 1][32][K] from the lane's first word on */

  __device__ __forceinline__ void load(const dp_bits_args &a, int64_t first, uint32_t *table,
                                       int lane) {
    uint32_t *own = table + lane * K;
    for (int k = 0; k < K; k++) {
      uint32_t plane[DP_BITS_PLANES_LOW];
      for (int q = 0; q < DP_BITS_PLANES_LOW; q++) plane[q] = a.planes[q * a.stride + first + k];
      for (int x = 0; x <= a.letters; x++) {
        uint32_t e = ~0u;
        for (int q = 0; q < DP_BITS_PLANES_LOW; q++) e &= (x >> q & 1) ? plane[q] : ~plane[q];
        own[x * 32 * K + k] = x < a.letters ? e : 0;
      }
    }
    mine = own;
  }

  /** @param[in] code  in bytes of the table, dp_bits_scale */
  __device__ __forceinline__ void get(uint32_t code, uint32_t (&e)[K]) const {
    const uint32_t *place = (const uint32_t *)((const char *)mine + code);
    if (K == 4) {
      const uint4 four = *(const uint4 *)place;
      e[0] = four.x, e[1 % K] = four.y, e[2 % K] = four.z, e[3 % K] = four.w;
    } else if (K == 2) {
      const uint2 two = *(const uint2 *)place;
      e[0] = two.x, e[1 % K] = two.y;
    } else
      e[0] = place[0];
  }
};

/** State of a lane; PARTS: 1 LCS, 2 edit distance. Carries of the last 32 rows in out. */
template <int PARTS, int K> struct dp_lane;

template <int K> struct dp_lane<1, K> {
  uint32_t v[K];
  uint32_t out[1];

  __device__ __forceinline__ void load(const dp_bits_args &a, int64_t first) {
#pragma unroll
    for (int k = 0; k < K; k++) v[k] = ~a.state[first + k];
    out[0] = 0;
  }
  __device__ __forceinline__ void store(const dp_bits_args &a, int64_t first) const {
#pragma unroll
    for (int k = 0; k < K; k++) a.state[first + k] = ~v[k];
  }
  /** What the way back wants of the row just done. */
  __device__ __forceinline__ uint32_t bits(int, int k) const {
    return ~v[k];
  }
  __device__ __forceinline__ void row(const uint32_t (&e)[K], uint32_t (&in)[1]) {
    uint32_t x[K], sum[K];
#pragma unroll
    for (int k = 0; k < K; k++) x[k] = v[k] & e[k];
    dp_add_row<K>(&in[0], &out[0], sum, v, x);
#pragma unroll
    for (int k = 0; k < K; k++) v[k] = sum[k] | (v[k] & ~e[k]);
  }
};

template <int K> struct dp_lane<2, K> {
  uint32_t p[K], n[K];
  uint32_t pair[K]; /**< the diagonal attains the value */
  uint32_t out[2];
  uint32_t up[2]; /**< ragged strip: bits of the last real column, as out */
  int word, bit;  /**< ragged strip: place of the last real column, word -1 in other lanes */

  __device__ __forceinline__ void load(const dp_bits_args &a, int64_t first) {
#pragma unroll
    for (int k = 0; k < K; k++) {
      p[k] = a.state[first + k];
      n[k] = a.state[a.stride + first + k];
    }
    out[0] = out[1] = up[0] = up[1] = 0;
  }
  __device__ __forceinline__ void store(const dp_bits_args &a, int64_t first) const {
#pragma unroll
    for (int k = 0; k < K; k++) {
      a.state[first + k] = p[k];
      a.state[a.stride + first + k] = n[k];
    }
  }
  __device__ __forceinline__ uint32_t bits(int part, int k) const {
    return part == 0 ? pair[k] : p[k];
  }
  template <bool RAGGED>
  __device__ __forceinline__ void row(const uint32_t (&e)[K], uint32_t (&in)[2]) {
    uint32_t x[K], sum[K], plus[K], minus[K], up_p[K], up_n[K], first[K];
    uint32_t none = 0, lost = 0;
#pragma unroll
    for (int k = 0; k < K; k++) {
      first[k] = k == 0 ? e[0] | in[1] >> 31 : e[k];
      x[k] = first[k] & p[k];
    }
    dp_add_row<K>(&none, &lost, sum, p, x);
#pragma unroll
    for (int k = 0; k < K; k++) {
      const uint32_t h = (sum[k] ^ p[k]) | first[k];
      pair[k] = e[k] | ~(h | n[k]);
      plus[k] = n[k] | ~(h | p[k]);
      minus[k] = p[k] & h;
    }
    if (RAGGED) {
#pragma unroll
      for (int k = 0; k < K; k++)
        if (k == word) {
          up[0] = up[0] << 1 | (plus[k] >> bit & 1);
          up[1] = up[1] << 1 | (minus[k] >> bit & 1);
        }
    }
    dp_add_row<K>(&in[0], &out[0], up_p, plus, plus);
    dp_add_row<K>(&in[1], &out[1], up_n, minus, minus);
#pragma unroll
    for (int k = 0; k < K; k++) {
      const uint32_t v = e[k] | n[k];
      p[k] = up_n[k] | ~(v | up_p[k]);
      n[k] = up_p[k] & v;
    }
  }
  /** A row that is not of the tile: the bits move up. */
  __device__ __forceinline__ void skip(uint32_t (&in)[2]) {
    for (int c = 0; c < 2; c++) in[c] += in[c], out[c] += out[c], up[c] += up[c];
  }
};

/** Four codes. */
static __device__ __forceinline__ uint32_t dp_row_code(const dp_codes &c, int q) {
  const uint32_t word = q < 2 ? c.x : c.y;
  return q % 2 == 0 ? word & 0xffff : word >> 16;
}

/** The rows of a block. LCS: rows that are not of the tile equal no column and bring no carry,
 *  which changes nothing. EDIT: they are left out. */
template <int K, int PLANES, bool RAGGED, class KEEP>
static __device__ __forceinline__ void dp_block(dp_lane<1, K> &lane, const dp_match<K, PLANES> &m,
                                                const dp_codes &codes, int, int, uint32_t (&in)[1],
                                                KEEP keep) {
  uint32_t e[DP_BITS_ROWS][K]; /* all before the first row: loads take long */
#pragma unroll
  for (int q = 0; q < DP_BITS_ROWS; q++) m.get(dp_row_code(codes, q), e[q]);
#pragma unroll
  for (int q = 0; q < DP_BITS_ROWS; q++) {
    lane.row(e[q], in);
    keep(q);
  }
}

template <int K, int PLANES, bool RAGGED, class KEEP>
static __device__ __forceinline__ void dp_block(dp_lane<2, K> &lane, const dp_match<K, PLANES> &m,
                                                const dp_codes &codes, int row, int rows,
                                                uint32_t (&in)[2], KEEP keep) {
  if (row >= 0 && row + DP_BITS_ROWS <= rows) {
#pragma unroll
    for (int q = 0; q < DP_BITS_ROWS; q++) {
      uint32_t e[K];
      m.get(dp_row_code(codes, q), e);
      lane.template row<RAGGED>(e, in);
      keep(q);
    }
    return;
  }
  for (int q = 0; q < DP_BITS_ROWS; q++) {
    if (row >= 0 && row + q < rows) {
      uint32_t e[K];
      m.get(dp_row_code(codes, q), e);
      lane.template row<RAGGED>(e, in);
      keep(q);
    } else
      lane.skip(in);
  }
}

/** The words of carries of one strip, in lane 0 and in the lane of the last column. */
template <int PARTS> struct dp_carries {
  uint64_t *edge;
  int groups;
  uint32_t strip;
  uint64_t next[PARTS];

  __device__ __forceinline__ void fetch(int group) {
    for (int c = 0; c < PARTS; c++) next[c] = dp_load_whole(edge + (int64_t)c * groups + group);
  }
  /** Bits of a group, first row on top; fetches the next group. */
  __device__ __forceinline__ void take(int group, uint32_t (&in)[PARTS]) {
    for (int c = 0; c < PARTS; c++) {
      while ((uint32_t)(next[c] >> 32) != strip)
        next[c] = dp_load_whole(edge + (int64_t)c * groups + group);
      in[c] = __brev((uint32_t)next[c]);
    }
    if (group + 1 < groups) fetch(group + 1);
  }
  __device__ __forceinline__ void give(int group, const uint32_t (&out)[PARTS]) {
    for (int c = 0; c < PARTS; c++)
      dp_store_whole(edge + (int64_t)c * groups + group,
                     (uint64_t)(strip + 1) << 32 | __brev(out[c]));
  }
};

/** One strip from the first row to the last. */
template <int PARTS, int K, int PLANES, bool KEEP, bool RAGGED>
static __device__ __forceinline__ void dp_strip(const dp_bits_args &a, int strip, int number,
                                                uint32_t *table) {
  const int64_t first = ((int64_t)strip * DP_WARP + number) * K;
  const int steps = DP_BITS_BLOCKS * (a.groups + 4);
  const dp_codes *codes = a.codes + DP_WARP - number;
  dp_lane<PARTS, K> lane;
  dp_match<K, PLANES> match;
  dp_carries<PARTS> carries = {a.edge, a.groups, (uint32_t)strip, {}};
  int exit = DP_WARP - 1; /* lane of the last column */
  lane.load(a, first);
  match.load(a, first, table, number);
  if constexpr (RAGGED) {
    const int64_t last = a.columns - 1 - (int64_t)strip * DP_WARP * K * 32;
    exit = (int)(last / (K * 32));
    lane.word = number == exit ? (int)(last / 32 % K) : -1;
    lane.bit = (int)(last % 32);
  }
  __syncwarp();
  if (number == 0) carries.fetch(0);
  dp_codes code = codes[0];
  for (int group = 0; group < a.groups + 4; group++) {
    uint32_t from[PARTS] = {};
    if (number == 0 && group < a.groups) carries.take(group, from);
    __syncwarp();
#pragma unroll
    for (int s = 0; s < DP_BITS_BLOCKS; s++) {
      const int step = DP_BITS_BLOCKS * group + s, row = DP_BITS_ROWS * (step - number);
      const dp_codes now = code;
      uint32_t in[PARTS];
      code = codes[step + 1];
#pragma unroll
      for (int c = 0; c < PARTS; c++) {
        const uint32_t before = __shfl_up_sync(DP_ALL_LANES, lane.out[c], 1);
        in[c] = number == 0 ? from[c] : before << (32 - DP_BITS_ROWS);
        from[c] <<= DP_BITS_ROWS;
      }
      dp_block<K, PLANES, RAGGED>(lane, match, now, row, a.rows, in, [&](int q) {
        if constexpr (KEEP)
          for (int c = 0; c < PARTS; c++)
            a.history[((((int64_t)strip * steps + step) * DP_BITS_ROWS + q) * PARTS + c) * DP_WARP +
                      number] = lane.bits(c, 0);
      });
      if constexpr (RAGGED) {
        const int block = step - exit;
        if (number == exit && block % DP_BITS_BLOCKS == DP_BITS_BLOCKS - 1 &&
            block / DP_BITS_BLOCKS < a.groups)
          carries.give(block / DP_BITS_BLOCKS, lane.up);
      } else if (s == 6 && number == exit && group >= 4)
        carries.give(group - 4, lane.out);
    }
  }
  lane.store(a, first);
}

template <int PARTS, int K, int PLANES, bool KEEP>
__global__ void __launch_bounds__(128) dp_bits_kernel(const __grid_constant__ dp_bits_args a) {
  const int lane = threadIdx.x % DP_WARP, warp = threadIdx.x / DP_WARP;
  uint32_t *table = (uint32_t *)dp_shared() + (int64_t)warp * (a.letters + 1) * DP_WARP * K;
  for (;;) {
    const uint32_t strip = dp_next_ticket(a.ticket, lane);
    if (strip >= (uint32_t)a.strips) return;
    const bool ragged = ((int64_t)strip + 1) * DP_WARP * K * 32 > a.columns;
    if (PARTS == 2 && ragged)
      dp_strip<PARTS, K, PLANES, KEEP, PARTS == 2>(a, (int)strip, lane, table);
    else
      dp_strip<PARTS, K, PLANES, KEEP, false>(a, (int)strip, lane, table);
    __syncwarp();
  }
}

typedef void (*dp_bits_function)(dp_bits_args);

/** Kernel of words K of a lane; keep exists for K = 1 alone. */
template <int PARTS, int PLANES> dp_bits_function dp_bits_pick(int words, bool keep) {
  if (keep) return dp_bits_kernel<PARTS, 1, PLANES, true>;
  return words == 4   ? dp_bits_kernel<PARTS, 4, PLANES, false>
         : words == 2 ? dp_bits_kernel<PARTS, 2, PLANES, false>
                      : dp_bits_kernel<PARTS, 1, PLANES, false>;
}

/** The same for the edit distance, compiled apart. */
dp_bits_function dp_bits_pick_edit(int planes, int words, bool keep);

/** The band. Buffers: what their names say; sizes in dp_bits.cu. */
struct dp_bits {
  dp_card *card;            /**< not owned */
  int parts, words, planes; /**< planes in registers, 0: masks in shared memory */
  int letters;
  int64_t n, m, stride;
  uint16_t code_of[256]; /**< code of a row letter */
  tsl_gpu_buffer rows, row_codes, columns, plane_bits, state, codes, edge, edge_bits;
  tsl_gpu_buffer history, above, pairs;
  int64_t kept_lo, kept_hi; /**< rows of the tile in history */
};

/** Words of one part of a row. */
static inline int64_t dp_bits_row_words(int64_t m) {
  return tsl_ceil_div(m, 32);
}
