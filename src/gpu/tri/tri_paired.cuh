/**
 * @file tri_paired.cuh
 * Row k with column k of two sets of sequences on a card: output PAIRED. A warp's pairs come from a
 * list in which those of like lengths are neighbours (tri_paired_order.cuh). Scores of alignments:
 * tri_couples.cuh. EDIT: a thread has a pair, by the tables of all pairs (tri_letters.cuh); what
 * differs is where the letters come from: each thread reads its own sequences, and a pattern lies
 * in shared memory as planes, bit b of each letter's code in plane b.
 */
#pragma once

#include "tri_letters.cuh"

enum {
  TRI_PAIRED_WORDS = 8, /**< EDIT: words of 32 letters at a time */
  TRI_PAIRED_BITS = 8   /**< of a code at most */
};

/** Pairs of a launch. */
typedef struct tri_paired_list {
  const int *rows; /**< [n] */
  int n, lo;       /**< lo: row of out[0] */
  int wide;        /**< out is double, else float */
  void *out;
} tri_paired_list;

/** A sequence on the card. */
typedef struct tri_paired_sequence {
  int64_t start;
  int n;
} tri_paired_sequence;

static __device__ __forceinline__ tri_paired_sequence tri_paired_find(const tri_letters_args &s,
                                                                      int64_t place) {
  const int64_t start = s.starts[place];
  const tri_paired_sequence found = {start, (int)(s.starts[place + 1] - start)};
  return found;
}

/** Letters [at, at + 4) of a sequence; the code that none has behind its end. */
static __device__ __forceinline__ uint32_t tri_paired_four(const tri_letters_args &s,
                                                           const tri_paired_sequence &sequence,
                                                           int at) {
  const int64_t byte = sequence.start + at;
  const uint32_t *const words = (const uint32_t *)s.codes + byte / 4;
  const int shift = (int)(byte % 4), left = min(sequence.n - at, 4);
  const uint32_t none = (uint32_t)s.n_codes * 0x01010101u;
  if (left <= 0) return none;
  const uint32_t low = __ldg(words), high = shift + left > 4 ? __ldg(words + 1) : 0;
  const uint32_t four = __funnelshift_r(low, high, 8 * shift);
  const uint32_t mask = left == 4 ? 0xffffffffu : (1u << 8 * left) - 1;
  return (four & mask) | (none & ~mask);
}

static __device__ __forceinline__ void tri_paired_put(const tri_paired_list &list, int row,
                                                      int value) {
  if (list.wide)
    ((double *)list.out)[row - list.lo] = value;
  else
    ((float *)list.out)[row - list.lo] = (float)value;
}

/** One of a sequence with an empty one, but for EXTENSION; what the tables of others are begun
 *  with. */
static __device__ __forceinline__ int tri_paired_empty(const tri_params &p, int m, int n) {
  return p.function == TRI_LOCAL || m + n == 0 ? 0 : -(p.open + (m + n) * p.extend);
}

/* ---- edit distances */

/** Where a thread's pattern has a letter: BITS planes of each word, THREADS apart. */
template <int BITS> struct tri_letters_of_planes {
  const uint32_t *planes; /**< shared, [WORDS][BITS][THREADS] from the thread's own on */

  __device__ __forceinline__ uint32_t at(int w, uint32_t letter) const {
    uint32_t equal = 0xffffffffu;
#pragma unroll
    for (int b = 0; b < BITS; b++)
      equal &= ~(planes[(w * BITS + b) * TRI_LETTERS_THREADS] ^ (0u - (letter >> b & 1)));
    return equal;
  }
};

/** A text of bytes. */
struct tri_letters_of_bytes {
  const uint8_t *codes;

  __device__ __forceinline__ uint32_t letter(int t) const {
    return __ldg(codes + t);
  }
};

/** Planes of the WORDS words of a pattern from `first` on; zeros behind its end. */
template <int BITS>
static __device__ __forceinline__ void tri_paired_planes(const tri_letters_args &s,
                                                         const tri_paired_sequence &pattern,
                                                         int first, uint32_t *planes) {
  for (int w = 0; w < TRI_PAIRED_WORDS; w++) {
    uint32_t plane[BITS] = {};
    const int at = (first + w) * 32, here = min(pattern.n - at, 32);
    for (int k = 0; k < here; k++) {
      const uint32_t letter = __ldg(s.codes + pattern.start + at + k);
#pragma unroll
      for (int b = 0; b < BITS; b++) plane[b] |= (letter >> b & 1) << k;
    }
#pragma unroll
    for (int b = 0; b < BITS; b++) planes[(w * BITS + b) * TRI_LETTERS_THREADS] = plane[b];
  }
}

/** W words of a pattern are enough: short ones have neighbours of their kind. */
template <int BITS>
static __device__ __forceinline__ int tri_paired_part(const tri_letters_of_planes<BITS> &equal,
                                                      int letters, const tri_letters_of_bytes &text,
                                                      int n, bool top, uint32_t *below) {
  if (letters <= 32) return tri_letters_part<1>(equal, letters, text, n, top, below);
  if (letters <= 64) return tri_letters_part<2>(equal, letters, text, n, top, below);
  if (letters <= 128) return tri_letters_part<4>(equal, letters, text, n, top, below);
  return tri_letters_part<TRI_PAIRED_WORDS>(equal, letters, text, n, top, below);
}

template <int BITS>
static __global__ void __launch_bounds__(TRI_LETTERS_THREADS)
    tri_paired_edit(tri_letters_args s, tri_paired_list list) {
  extern __shared__ uint32_t shared[];
  uint32_t *const planes = shared + threadIdx.x;
  const int64_t me = (int64_t)blockIdx.x * TRI_LETTERS_THREADS + threadIdx.x;
  const int64_t all = (int64_t)gridDim.x * TRI_LETTERS_THREADS;
  uint32_t *const below = s.below + me * s.below_ld;
  for (int64_t at = me; at < list.n; at += all) {
    const int row = list.rows[at];
    const tri_paired_sequence pattern = tri_paired_find(s, s.p.first + row);
    const tri_paired_sequence text = tri_paired_find(s, row);
    const tri_letters_of_bytes letters = {s.codes + text.start};
    const tri_letters_of_planes<BITS> equal = {planes};
    int distance = text.n;
    for (int w = 0; w * 32 < pattern.n; w += TRI_PAIRED_WORDS) {
      tri_paired_planes<BITS>(s, pattern, w, planes);
      distance += tri_paired_part(equal, pattern.n - 32 * w, letters, text.n, w == 0, below);
    }
    tri_paired_put(list, row, distance);
  }
}
