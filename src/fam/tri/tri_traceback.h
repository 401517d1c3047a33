/**
 * @file tri_traceback.h
 * Alignments of kept pairs of sequences (key `alignment`): what a table of directions takes, and
 * what workers hand over. Fields, after those of the output:
 *   "spans"       LIST i64 [pairs][5]  begin and end of the row's sequence, of the column's, and
 *                 how many operations
 *   "operations"  LIST u32 [.]  of all pairs from their beginnings, as BAM has them: letters << 4 |
 *                 operation; 1: I, 2: D, 7: =, 8: X
 *
 * A table has a row for each letter of the row's sequence, and its directions are a byte for each
 * cell. Of large tables they are kept for a strip of rows; those of strips before are computed
 * again from the row above each.
 *
 * Of equally good alignments the one of family dp is taken: from the end pair, left, up, a gap
 * opened rather than extended; LOCAL ends in the best cell of the smallest row, then column.
 */
#ifndef TSL_FAM_TRI_TRACEBACK_H
#define TSL_FAM_TRI_TRACEBACK_H

#include "tri.h"

TSL_C_BEGIN

enum {
  TRI_SPAN = 5,
  TRI_TRACEBACK_BYTES = 4 << 20,     /**< of a strip, where lengths are ordinary */
  TRI_TRACEBACK_TOGETHER = 128 << 20 /**< most of pairs side by side */
};

/** Operations of BAM. */
enum { TRI_BAM_I = 1, TRI_BAM_D = 2, TRI_BAM_SAME = 7, TRI_BAM_OTHER = 8 };

/** Field "spans"; "operations" is the next. */
static inline int tri_spans_of(const tri_params *p) {
  return p->output == TRI_PAIRED ? TRI_OUT_2 : TRI_OUT_3;
}

/** Rows of a strip of a table of n x m letters. */
static inline int64_t tri_traceback_rows(int64_t n, int64_t m) {
  int64_t rows = TRI_TRACEBACK_BYTES / (m + 1) + 1;
  while (rows * rows < 8 * n) rows++; /* strips and rows above them take the same */
  return rows < n ? rows : n;
}

/** Bytes that a thread needs for one pair, and for others beside it. */
static inline int64_t tri_traceback_bytes(int64_t n, int64_t m) {
  const int64_t rows = tri_traceback_rows(n, m), strips = (n + rows - 1) / rows;
  const int64_t together =
      n > TRI_TRACEBACK_TOGETHER / 64 / m ? TRI_TRACEBACK_TOGETHER : 64 * n * m;
  return together + (rows + 8 * (strips + 4)) * (m + 1);
}

TSL_C_END
#endif
