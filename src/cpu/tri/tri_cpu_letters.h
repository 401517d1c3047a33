/**
 * @file tri_cpu_letters.h
 * Pairs of sequences on a socket: functions of TRI_LETTER_LIST.
 */
#pragma once

#include "tri_cpu_extension.h"
#include "tri_cpu_traceback.h"
#include "tri_letters.h"

enum {
  TRI_EDIT_LANES = 8,
  TRI_LETTER_ROWS = 8,   /**< rows of a block, for the columns' preparation */
  TRI_LETTER_LANES = 64, /**< most patterns side by side */
  TRI_LETTER_LINE = 64,  /**< bytes of a lane each of a table of alignments */
  TRI_PAIR_ROWS = 4,     /**< most rows of pairs side by side between two looks at their values */
  TRI_LETTER_CODES = 32  /**< scores of a letter in tri_align_patterns.table */
};

/** Bits of the values of a table of alignments. */
typedef enum tri_width { TRI_8_BITS, TRI_16_BITS, TRI_32_BITS, TRI_N_WIDTHS } tri_width;

/** Patterns side by side, and memory for their state; 64-byte aligned. */
typedef struct tri_edit_patterns {
  uint64_t *equal;                 /**< [codes][words][lanes] bits of each letter */
  uint64_t *state;                 /**< [words][2][lanes] the last column's differences */
  uint64_t *room;                  /**< [2][words][lanes] */
  int64_t words;                   /**< of the longest of them */
  int64_t lengths[TRI_EDIT_LANES]; /**< in letters; 0: the lane is empty */
} tri_edit_patterns;

/** The same for alignments: int8_t of 64 lanes, int16_t of 32 or int32_t of 16. A table's cell is
 *  kept as G, what it is worth after a gap was opened: G = H - open - extend. Numbers of 8 bits are
 *  counted from `zero`, so that LOCAL uses all of them; where H reaches 127 it may be more. */
typedef struct tri_align_patterns {
  void *profile; /**< 16, 32 bits: [codes][m][lanes] score of each letter with the patterns', plus
                         open + extend */
  int8_t *table; /**< 8 bits: [codes][TRI_LETTER_CODES] likewise of two letters */
  uint8_t *letters; /**< [m][lanes] */
  void *g, *e; /**< [m][lanes] the column: G, and the best that ends with a gap in the pattern */
  int64_t m;   /**< letters of the longest of them */
  int64_t lengths[TRI_LETTER_LANES];
  int32_t open, extend;
  int32_t zero, minus; /**< what stands for 0 and for minus infinity */
} tri_align_patterns;

/** H at the table's edge, k letters from its corner. */
static inline int64_t tri_align_edge(const tri_align_patterns *p, tri_function function,
                                     int64_t k) {
  return function == TRI_LOCAL || k == 0 ? p->zero : -(p->open + k * p->extend);
}

/** Pairs side by side, a lane each, all with texts of their own; 64-byte aligned. Letters are
 *  codes, and one more beyond the end of a sequence, whose scores are not above 0. Scores are those
 *  of tri_align_patterns. */
typedef struct tri_letter_pairs {
  const uint8_t *texts[TRI_LETTER_LANES];
  int64_t ends[TRI_LETTER_LANES];    /**< letters of the texts; 0: the lane is empty */
  int64_t lengths[TRI_LETTER_LANES]; /**< of the patterns */
  int64_t n, m;                      /**< the longest of each */
  uint8_t *letters; /**< of the patterns: [m / 16][16][lanes / 16][16], in each block of 16 letters
                         lane l + 16 q at place [l][q] */
  void *g, *e;      /**< [m][lanes] as in tri_align_patterns */
  const int8_t *table; /**< [codes + 1][TRI_LETTER_CODES] of a text's letter with a pattern's; NULL:
                              they leave 8 bits, and `scores` is taken, 32 bits only */
  const int32_t *scores; /**< the same of 32 bits */
  int lanes;             /**< that are in use */
  int codes;
  int32_t open, extend, zero, minus;
  uint64_t *directions; /**< traced: [n][m][tri_planes()] out: of each cell a bit of each lane for
                             what holds */
  int32_t limit; /**< traced, LOCAL: no further row once a lane has a larger value, which counts
                      from `zero`; above it the width holds TRI_PAIR_ROWS more */
  int64_t *rows; /**< traced, LOCAL: [lanes] in, out: first row with the best cell, from 0 */
} tri_letter_pairs;

/** The kernels of one SIMD level: values of the patterns with a text of n letters, out[lanes]. */
typedef struct tri_letter_kernels {
  int level;
  void (*edit)(const tri_edit_patterns *patterns, const uint8_t *text, int64_t n, int64_t *out);
  /** GLOBAL, LOCAL or EXTENSION without x_drop, of a width that holds the table's values, but 8
   *  bits of LOCAL. */
  void (*align[TRI_N_WIDTHS])(const tri_align_patterns *patterns, const uint8_t *text, int64_t n,
                              tri_function function, int64_t *out);
  /** Each pattern with a text of its own: texts, and their letters. */
  void (*edit_pairs)(const tri_edit_patterns *patterns, const uint8_t *const *texts,
                     const int64_t *ends, int64_t *out);
  void (*align_pairs[TRI_N_WIDTHS])(const tri_letter_pairs *pairs, tri_function function,
                                    int64_t *out);
  /** The same of GLOBAL or LOCAL, with directions and, LOCAL, the row of each lane's best cell.
   *  @param[in] row  LOCAL: rows that are done, whose columns and values are there; else 0
   *  @return rows done: all, or LOCAL as many as `limit` allows */
  int64_t (*trace_pairs[TRI_N_WIDTHS])(const tri_letter_pairs *pairs, bool local, int64_t row,
                                       int64_t *out);
  /** Rows [lo, hi] of antidiagonal k of an extension; values below `cut` are dropped.
   *  @param[out] directions  [hi - lo + 1] or NULL  @return the largest value */
  int32_t (*extension)(const tri_extension *pair, int64_t k, int64_t lo, int64_t hi, int32_t cut,
                       uint8_t *directions);
} tri_letter_kernels;

/** Made by tsl_simd (tools/cmake/TslSimd.cmake). */
const tri_letter_kernels *tri_letter_kernels_at(int level);

/** What one thread owns. */
typedef struct tri_letters_thread {
  tri_edit_patterns edit;   /**< of edit distances */
  tri_align_patterns align; /**< of alignments */
  tri_extender *extender;   /**< tri_cpu_letters.extends: the only one that is there */
  int64_t *again;           /**< [TRI_LETTER_ROWS][TRI_LETTER_LANES] of tri_letters_block.columns:
                                 of each row those that 8 bits do not hold */
  int64_t done[2];          /**< pairs in 8 bits, and of them those done again */
} tri_letters_thread;

/** A worker's sequences; kernels is NULL where there are points. */
typedef struct tri_cpu_letters {
  const tri_params *p; /**< not owned */
  tri_sequences sequences;
  const int32_t *scores; /**< TRI_SCORES, not owned */
  const tri_letter_kernels *kernels;
  bool bytes;         /**< scores of two letters fit 8 bits */
  bool extends;       /**< EXTENSION by antidiagonals: cells are dropped, or pairs are aligned */
  int64_t *by_length; /**< [n_pad] length << 32 | place, ascending; NULL: PAIRED */
  struct tri_single *single; /**< tri_cpu_single.h */
} tri_cpu_letters;

/** Score of a row's letter a with a column's letter b, plus open + extend; code params.codes stands
 *  for what is beyond an end, with no score above 0. */
int32_t tri_letters_score(const tri_cpu_letters *letters, int64_t a, int64_t b);

/** 0 and minus infinity of whole tables in so many bits. */
void tri_letters_numbers(const tri_params *params, tri_width width, int32_t *zero, int32_t *minus);

/** Memory of patterns for edit distances; freed by tri_edit_clear. */
tsl_err tri_edit_create(const tri_params *params, tri_edit_patterns *patterns);
void tri_edit_clear(tri_edit_patterns *patterns);

/** Set the bits of a lane's pattern, n letters; those of the lane are 0 before. */
void tri_edit_put(tri_edit_patterns *patterns, int lane, const uint8_t *letters, int64_t n);

/** Find the sequences, when the function is of such. @param[in] params  borrowed
 *  tri_cpu_letters_close() also after an error. */
tsl_err tri_cpu_letters_open(const tsl_problem *problem, const tri_params *params,
                             tri_cpu_letters *letters);
void tri_cpu_letters_close(tri_cpu_letters *letters);

/** Memory of one thread. tri_letters_thread_clear() also after an error. */
tsl_err tri_letters_thread_create(const tri_cpu_letters *letters, tri_letters_thread **thread);
void tri_letters_thread_clear(tri_letters_thread **thread);

/** A block of values: rows [i, i + rows), places, with some columns, into out[row][place of the
 *  column]. */
typedef struct tri_letters_block {
  int64_t i;
  int rows;               /**< TRI_LETTER_ROWS at most */
  const int64_t *columns; /**< [n] of tri_cpu_letters.by_length; n: TRI_LETTER_LANES at most */
  int64_t n;
  void *out; /**< float, or double where wide */
  int64_t out_ld;
  bool wide;
} tri_letters_block;

/** @return TSL_ERR_MEMORY, of long pairs */
tsl_err tri_letters_fill(const tri_cpu_letters *letters, tri_letters_thread *thread,
                         const tri_letters_block *block);
