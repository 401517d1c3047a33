/**
 * @file tri_cpu_letters.h
 * Pairs of sequences on a socket: functions of TRI_LETTER_LIST.
 */
#ifndef TSL_CPU_TRI_CPU_LETTERS_H
#define TSL_CPU_TRI_CPU_LETTERS_H

#include "tri_letters.h"

enum { TRI_EDIT_LANES = 8 };

/** Patterns side by side, and memory for their state; 64-byte aligned. */
typedef struct tri_edit_patterns {
  uint64_t *equal;                 /**< [codes][words][lanes] bits of each letter */
  uint64_t *state;                 /**< [words][2][lanes] the last column's differences */
  uint64_t *room;                  /**< [2][words][lanes] */
  int64_t words;                   /**< of the longest of them */
  int64_t lengths[TRI_EDIT_LANES]; /**< in letters; 0: the lane is empty */
} tri_edit_patterns;

/** The kernels of one SIMD level. */
typedef struct tri_edit_kernels {
  int level;
  /** Distances of the patterns from a text of n letters, into out[lanes]. */
  void (*distances)(const tri_edit_patterns *patterns, const uint8_t *text, int64_t n,
                    int64_t *out);
} tri_edit_kernels;

/** Made by tsl_simd (tools/cmake/TslSimd.cmake). */
const tri_edit_kernels *tri_edit_kernels_at(int level);

/** What one thread owns. */
typedef struct tri_letters_thread {
  tri_edit_patterns patterns;
  int64_t *by_length; /**< [columns of a block] length << 32 | column, ascending */
} tri_letters_thread;

/** A worker's sequences; sequences.codes is NULL where there are points. */
typedef struct tri_cpu_letters {
  tri_sequences sequences;
  const tri_edit_kernels *kernels;
  int64_t longest;
  int32_t codes;
} tri_cpu_letters;

/** Find the sequences, when the function is of such. */
tsl_err tri_cpu_letters_open(const tsl_problem *problem, tri_cpu_letters *letters);

/** Memory of one thread for blocks of so many columns. tri_letters_thread_clear() also after an
 *  error. */
tsl_err tri_letters_thread_create(const tri_cpu_letters *letters, int64_t columns,
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
