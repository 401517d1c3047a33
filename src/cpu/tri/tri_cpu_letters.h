/**
 * @file tri_cpu_letters.h
 * Pairs of sequences on a socket: functions of TRI_LETTER_LIST.
 */
#ifndef TSL_CPU_TRI_CPU_LETTERS_H
#define TSL_CPU_TRI_CPU_LETTERS_H

#include "tri_letters.h"

enum {
  TRI_EDIT_LANES = 8,
  TRI_LETTER_ROWS = 8,   /**< rows of a block, for the columns' preparation */
  TRI_LETTER_LANES = 64, /**< most patterns side by side */
  TRI_LETTER_LINE = 64,  /**< bytes of a lane each of a table of alignments */
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
static inline int64_t tri_align_edge(const tri_align_patterns *p, bool local, int64_t k) {
  return local || k == 0 ? p->zero : -(p->open + k * p->extend);
}

/** The kernels of one SIMD level: values of the patterns with a text of n letters, out[lanes]. */
typedef struct tri_letter_kernels {
  int level;
  void (*edit)(const tri_edit_patterns *patterns, const uint8_t *text, int64_t n, int64_t *out);
  /** Of a width that holds the table's values, but 8 bits of LOCAL. */
  void (*align[TRI_N_WIDTHS])(const tri_align_patterns *patterns, const uint8_t *text, int64_t n,
                              bool local, int64_t *out);
} tri_letter_kernels;

/** Made by tsl_simd (tools/cmake/TslSimd.cmake). */
const tri_letter_kernels *tri_letter_kernels_at(int level);

/** What one thread owns. */
typedef struct tri_letters_thread {
  tri_edit_patterns edit;   /**< of edit distances */
  tri_align_patterns align; /**< of alignments */
  int64_t *by_length;       /**< [columns of a block] length << 32 | column, ascending */
  int64_t *again;  /**< [rows][columns] likewise: of each row those that 8 bits do not hold */
  int64_t columns; /**< room for columns of a block */
  int64_t done[2]; /**< pairs in 8 bits, and of them those done again */
} tri_letters_thread;

/** A worker's sequences; kernels is NULL where there are points. */
typedef struct tri_cpu_letters {
  const tri_params *p; /**< not owned */
  tri_sequences sequences;
  const int32_t *scores; /**< TRI_SCORES, not owned */
  const tri_letter_kernels *kernels;
  bool bytes; /**< scores of two letters fit 8 bits */
} tri_cpu_letters;

/** Find the sequences, when the function is of such. */
tsl_err tri_cpu_letters_open(const tsl_problem *problem, tri_cpu_letters *letters);

/** Memory of one thread for blocks of so many rows and columns. tri_letters_thread_clear() also
 *  after an error. */
tsl_err tri_letters_thread_create(const tri_cpu_letters *letters, int64_t rows, int64_t columns,
                                  tri_letters_thread **thread);
void tri_letters_thread_clear(tri_letters_thread **thread);

/** A block of values: rows [i, i + rows) x columns [j, j + n), places, into out[row][column]. */
typedef struct tri_letters_block {
  int64_t i, j, n;
  int rows;
  void *out; /**< float, or double where wide */
  int64_t out_ld;
  bool wide;
} tri_letters_block;

void tri_letters_fill(const tri_cpu_letters *letters, tri_letters_thread *thread,
                      const tri_letters_block *block);

#endif
