/**
 * @file tri_letters.cuh
 * Edit distances of sequences on a card. A thread has a pair: a block one row, whose letters are
 * the pattern, as bits in shared memory, and of each warp's lanes a column, the text. Columns of
 * like lengths are together in a group of 32, their letters four to a word and lane by lane, so
 * that a warp reads whole lines. The bits of a column of the table are in registers (tri_edit.h);
 * of patterns longer than MANY words these many are taken through the text at a time, and the
 * differences along the row below them wait in memory, two bits for each letter of the text.
 */
#pragma once

#include "parallel.h"
#include "tri_edit.h"
#include "tri_gpu.cuh"
#include "tri_records.h"

enum {
  TRI_LETTERS_GROUP = 32,    /**< columns of a warp */
  TRI_LETTERS_WINDOW = 4096, /**< columns among which those of like lengths come together */
  TRI_LETTERS_THREADS = 128, /**< of a block */
  TRI_LETTERS_FEW = 8,       /**< words of 32 letters of the kernel for short patterns */
  TRI_LETTERS_MANY = 32,     /**< and of the other one at a time */
  TRI_LETTERS_PACKED = 4,    /**< letters of a word */
  TRI_SCORES_LD = TRI_LETTERS_SCORED + 1 /**< of a table of scores in shared memory: odd */
};

/** Letters on the card: fields TRI_LETTERS and TRI_STARTS, or those of a group of units; and what
 *  kernels that see them need beside. */
typedef struct tri_letters_set {
  tsl_gpu_buffer codes, starts;
  tsl_gpu_buffer rows;    /**< alignments and lists: int [rows] */
  tsl_gpu_buffer counter; /**< of the items that blocks have taken */
  tsl_gpu_buffer below;   /**< uint32 [..]: what waits between tiles or words of patterns */
  tsl_gpu_buffer out;     /**< PAIRED: values */
  letters_reader
      *records;        /**< with params.streamed: what reads it, into pinned memory; else NULL */
  cudaEvent_t sent;    /**< likewise: it is on the card, the host's memory free */
  cudaEvent_t seen;    /**< likewise: kernels that were queued with it have ended */
  cudaStream_t stream; /**< likewise: of its kernels, which begin where others leave room */
} tri_letters_set;

/** Sequences on the card. */
typedef struct tri_letters_state {
  tri_letters_set sets[2]; /**< with params.streamed one is filled while the other is read */
  int set;                 /**< which one kernels see */
  tsl_gpu_buffer order;    /**< int [groups][32] column of each lane, -1: none */
  tsl_gpu_buffer first;    /**< int64 [groups] where a group's texts begin, in words x 32 lanes */
  tsl_gpu_buffer texts;    /**< uint32 [..][32] */
  int64_t groups;
  tsl_gpu_buffer scores;   /**< field TRI_SCORES */
  tsl_gpu_buffer columns;  /**< alignments of all pairs: int [columns of a strip] */
  int *by_length;          /**< likewise: [n_pad] places, the longest first, on the host */
  int resident;            /**< blocks of the kernel for long patterns; of alignments' kernels */
  int resident_again;      /**< of that for tables that 16 bits do not hold; 0: there are none */
  tsl_gpu_stage stage;     /**< letters of fields on their way to the card */
  cudaStream_t moves;      /**< where all letters go */
  tri_sequences sequences; /**< with params.streamed: of kernels' set, on the host */
  cudaStream_t own;        /**< likewise: the worker's stream where nothing was read yet */
  tsl_team *team;          /**< likewise, that reads */
} tri_letters_state;

/** What kernels see. */
typedef struct tri_letters_args {
  const uint8_t *codes;
  const int64_t *starts;
  const int *order;
  const int64_t *first;
  const uint32_t *texts;
  uint32_t *below;
  int64_t below_ld; /**< EDIT: words of a thread's; EXTENSION: of a warp's */
  int n_codes;
  const int *scores; /**< TRI_SCORES */
  const int *rows;   /**< EXTENSION: places of the strip's rows, the longest first */
  tri_params p;
} tri_letters_args;

/** Where a strip is: rows [a, b), columns [c0, c1), groups [g0, g1), into out[row][column]. */
template <class R> struct tri_letters_strip_of {
  int a, b, c0, c1, g0, g1;
  R *out;
};

TRI_EDIT_STEP(uint32_t, u32, 32)

/** Bits of words [first, first + words) of a pattern of n letters into equal[words][n_codes]; all
 *  threads of the block. */
static __device__ __forceinline__ void tri_letters_bits(const uint8_t *pattern, int n, int first,
                                                        int words, int n_codes, uint32_t *equal) {
  const int lane = (int)threadIdx.x % 32;
  for (int w = (int)threadIdx.x / 32; w < words; w += TRI_LETTERS_THREADS / 32) {
    const int at = (first + w) * 32 + lane;
    const int letter = at < n ? (int)pattern[at] : -1;
    for (int c = 0; c < n_codes; c++) {
      const uint32_t bits = __ballot_sync(0xffffffffu, letter == c);
      if (lane == 0) equal[w * n_codes + c] = bits;
    }
  }
}

/** Where the letters of a block's row are: bits of tri_letters_bits. */
struct tri_letters_of_block {
  const uint32_t *equal; /**< [words][n_codes] */
  int n_codes;

  __device__ __forceinline__ uint32_t at(int w, uint32_t letter) const {
    return equal[w * n_codes + letter];
  }
};

/** A text whose words are 32 lanes apart. */
struct tri_letters_of_group {
  const uint32_t *words;

  __device__ __forceinline__ uint32_t letter(int t) const {
    const uint32_t four = __ldg(words + (int64_t)t / TRI_LETTERS_PACKED * TRI_LETTERS_GROUP);
    return four >> 8 * (t % TRI_LETTERS_PACKED) & 255;
  }
};

/** A column of W words of the table. */
template <int W> struct tri_letters_column {
  uint32_t up[W], down[W];

  __device__ __forceinline__ void begin() {
#pragma unroll
    for (int w = 0; w < W; w++) up[w] = 0xffffffffu, down[w] = 0;
  }

  /** A letter of the text; E: where the pattern has it. */
  template <class E>
  __device__ __forceinline__ void step(const E &equal, uint32_t letter, uint32_t *more,
                                       uint32_t *less) {
#pragma unroll
    for (int w = 0; w < W; w++) tri_edit_u32(equal.at(w, letter), &up[w], &down[w], more, less);
  }

  /** Difference from above the first word to after `letters` letters, 32 W at most. */
  __device__ __forceinline__ int height(int letters) const {
    int sum = 0;
#pragma unroll
    for (int w = 0; w < W; w++) {
      const int left = letters - 32 * w;
      const uint32_t mask = left >= 32 ? 0xffffffffu : left > 0 ? (1u << left) - 1 : 0u;
      sum += __popc(up[w] & mask) - __popc(down[w] & mask);
    }
    return sum;
  }
};

/** Distance of a pattern of at most W words from a text of n letters, which begins at text with 32
 *  lanes between its words. */
template <int W>
static __device__ __forceinline__ int tri_letters_short(const tri_letters_of_block &equal,
                                                        int pattern, const uint32_t *text, int n) {
  tri_letters_column<W> column;
  uint32_t next = n > 0 ? __ldg(text) : 0;
  column.begin();
  for (int t = 0; t < n; t += TRI_LETTERS_PACKED) {
    uint32_t four = next;
    if (t + TRI_LETTERS_PACKED < n) next = __ldg(text += TRI_LETTERS_GROUP);
#pragma unroll
    for (int k = 0; k < TRI_LETTERS_PACKED; k++, four >>= 8) {
      uint32_t more = 1, less = 0;
      if (t + k < n) column.step(equal, four & 255, &more, &less);
    }
  }
  return n + column.height(pattern);
}

/** W words of a long pattern with text T; differences along rows come from below, and go there.
 *  @return what they add to the distance */
template <int W, class E, class T>
static __device__ __forceinline__ int tri_letters_part(const E &equal, int letters, const T &text,
                                                       int n, bool top, uint32_t *below) {
  tri_letters_column<W> column;
  column.begin();
  for (int t = 0; t < n; t += 32, below += 2) {
    uint32_t in_more = top ? 0xffffffffu : below[0], in_less = top ? 0u : below[1];
    uint32_t out_more = 0, out_less = 0;
    for (int k = 0; k < 32 && t + k < n; k++) {
      uint32_t more = in_more >> k & 1, less = in_less >> k & 1;
      column.step(equal, text.letter(t + k), &more, &less);
      out_more |= more << k, out_less |= less << k;
    }
    below[0] = out_more, below[1] = out_less;
  }
  return column.height(letters);
}

/** The column of a thread, or -1: none within the strip. */
template <class R>
static __device__ __forceinline__ int
tri_letters_column_of(const tri_letters_args &s, const tri_letters_strip_of<R> &o, int group) {
  const int column = group < o.g1 ? s.order[group * TRI_LETTERS_GROUP + (int)threadIdx.x % 32] : -1;
  return column >= o.c0 && column < o.c1 ? column : -1;
}

template <class R>
static __global__ void __launch_bounds__(TRI_LETTERS_THREADS)
    tri_letters_few(tri_letters_args s, tri_letters_strip_of<R> o) {
  extern __shared__ uint32_t equal[];
  const int row = o.a + (int)blockIdx.y;
  const int pattern = (int)(s.starts[row + 1] - s.starts[row]), words = (pattern + 31) / 32;
  if (words > TRI_LETTERS_FEW) return;
  tri_letters_bits(s.codes + s.starts[row], pattern, 0, words, s.n_codes, equal);
  __syncthreads();
  const int group = o.g0 + (int)(blockIdx.x * (TRI_LETTERS_THREADS / 32) + threadIdx.x / 32);
  const int column = tri_letters_column_of(s, o, group);
  if (column < 0) return;
  const uint32_t *const text = s.texts + s.first[group] * 32 + threadIdx.x % 32;
  const int n = (int)(s.starts[column + 1] - s.starts[column]);
  const tri_letters_of_block block = {equal, s.n_codes};
  int distance = n;
  switch (words) {
#define WORDS(W)                                              \
  case W:                                                     \
    distance = tri_letters_short<W>(block, pattern, text, n); \
    break;
    WORDS(1)
    WORDS(2)
    WORDS(3)
    WORDS(4)
    WORDS(5)
    WORDS(6)
    WORDS(7)
    WORDS(8)
#undef WORDS
  default:
    break;
  }
  o.out[(int64_t)(row - o.a) * (o.c1 - o.c0) + column - o.c0] = (R)distance;
}

/** Blocks take row after row and groups of columns; all threads of a block have the same row. */
template <class R>
static __global__ void __launch_bounds__(TRI_LETTERS_THREADS)
    tri_letters_many(tri_letters_args s, tri_letters_strip_of<R> o) {
  extern __shared__ uint32_t equal[];
  const int warps = TRI_LETTERS_THREADS / 32, across = (o.g1 - o.g0 + warps - 1) / warps;
  uint32_t *const below =
      s.below + ((int64_t)blockIdx.x * TRI_LETTERS_THREADS + threadIdx.x) * s.below_ld;
  for (int64_t item = blockIdx.x; item < (int64_t)across * (o.b - o.a); item += gridDim.x) {
    const int row = o.a + (int)(item / across);
    const int pattern = (int)(s.starts[row + 1] - s.starts[row]), words = (pattern + 31) / 32;
    if (words <= TRI_LETTERS_FEW) continue;
    const int group = o.g0 + (int)(item % across) * warps + (int)threadIdx.x / 32;
    const int column = tri_letters_column_of(s, o, group);
    const int n = column < 0 ? 0 : (int)(s.starts[column + 1] - s.starts[column]);
    const tri_letters_of_block block = {equal, s.n_codes};
    const tri_letters_of_group text = {s.texts +
                                       (column < 0 ? 0 : s.first[group] * 32 + threadIdx.x % 32)};
    int distance = n;
    for (int w = 0; w < words; w += TRI_LETTERS_MANY) {
      __syncthreads();
      tri_letters_bits(s.codes + s.starts[row], pattern, w, TRI_LETTERS_MANY, s.n_codes, equal);
      __syncthreads();
      distance +=
          tri_letters_part<TRI_LETTERS_MANY>(block, pattern - 32 * w, text, n, w == 0, below);
    }
    if (column >= 0) o.out[(int64_t)(row - o.a) * (o.c1 - o.c0) + column - o.c0] = (R)distance;
  }
}

/** What kernels see of the worker's. */
tri_letters_args tri_letters_args_of(const tri_gpu *w);

/** Blocks at once of a kernel of which so many are resident on a processor, when each needs so many
 *  bytes for what waits: a sixteenth of the worker's memory at most. */
int tri_letters_at_once(const tri_gpu *w, int64_t bytes, int blocks);

/** Room for what kernels need beside letters, of all sets. */
tsl_err tri_letters_below(tri_gpu *w, int64_t bytes, const char *what);
/** Groups of units are of about one size: with an eighth more they rarely need another buffer, for
 *  which the card would wait. */
tsl_err tri_letters_reserve(tri_gpu *w, int64_t bytes, const char *what, tsl_gpu_buffer *buffer);

/** Places [a, b) into a buffer by their lengths, the longest first, so that none is begun late.
 *  @param[out] n_long  how many have more than `length` letters; or NULL */
tsl_err tri_letters_order(tri_gpu *w, int64_t a, int64_t b, tsl_gpu_buffer *to, int64_t length,
                          int *n_long);

/** Alignments: units of a batch at least, of which `unit` is one: long pairs begin first, and few
 *  warps have the last of them while the others wait. */
int64_t tri_letters_units(const tri_gpu *w, const tsl_unit *unit);

/** Alignments, tri_align.cu: memory for what waits between tiles; the n values of pairs, of which
 *  out, rows and columns are set; values of rows [a, b) with columns [c0, c1).
 *  @param[in] counters  [2] on the card, set to 0 here */
struct tri_pairs;
struct tri_pairs tri_pairs_of(const tri_gpu *w);
tsl_err tri_align_open(tri_gpu *w);
tsl_err tri_align_run(tri_gpu *w, const struct tri_pairs *pairs, int64_t n, unsigned *counters);
template <class R>
tsl_err tri_align_rows(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1, R *out);

/** EXTENSION of which cells are dropped, tri_extension.cu: memory for antidiagonals; values of a
 *  strip; of a list's pairs. */
struct tri_paired_list;
tsl_err tri_extension_open(tri_gpu *w);
template <class R> tsl_err tri_extension_rows_run(tri_gpu *w, const tri_letters_strip_of<R> *strip);
tsl_err tri_extension_list(tri_gpu *w, const struct tri_paired_list *list, unsigned *counter);

/** PAIRED, tri_paired.cu: memory for what waits between words or tiles; of sequences or points,
 *  values of rows [a, b) into slab (host). */
tsl_err tri_paired_open(tri_gpu *w);
tsl_err tri_paired_rows(tri_gpu *w, int64_t a, int64_t b, void *slab);

/** tri_traceback.cu: align the pairs that rows [lo, hi) keep, which are in the first part on the
 *  host or on their way there, and fill its lists of spans and operations. Waits. */
tsl_err tri_traceback_rows_run(tri_gpu *w, int64_t lo, int64_t hi, tsl_part *part);

/** Letters and starts of places 0 to n_places - 1 into a set, on the stream l->moves; waits where
 *  they are not in pinned memory. */
tsl_err tri_letters_upload(tri_gpu *w, const tri_sequences *s, int64_t n_places,
                           tri_letters_set *to);

/** With params.streamed: open what reads. */
tsl_err tri_letters_readers(tri_gpu *w);
/** With params.streamed: read the records of rows [lo, hi), by all threads of the host, for kernels
 *  that are queued from now on, which wait for them. They are a problem of their own, rows and
 *  columns from 0 on, with params of the worker, whose stream is that of their kernels. Those read
 *  before stay on the card for kernels that were queued, on the host until the next ones are
 *  read. */
tsl_err tri_letters_read(tri_gpu *w, int64_t lo, int64_t hi);
/** The worker's stream waits for kernels of all that was read. */
tsl_err tri_letters_join(tri_gpu *w);
/** Those that kernels see, on the host, until others are read. */
tri_sequences tri_letters_sequences(const tri_gpu *w);

/** Upload the sequences and, but for PAIRED, put columns of like lengths together. */
tsl_err tri_letters_open(tri_gpu *w);
void tri_letters_close(tri_gpu *w);

/** Values of rows [a, b) with columns [c0, c1), places, into out (device). */
template <class R>
tsl_err tri_letters_rows(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1, R *out);
