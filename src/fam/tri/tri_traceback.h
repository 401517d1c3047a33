/**
 * @file tri_traceback.h
 * Alignments of kept pairs of sequences (key `alignment`): what a table of directions takes, and
 * what workers hand over. Fields, after those of the output:
 *   "spans"       LIST i64 [pairs][5]  begin and end of the row's sequence, of the column's, and
 *                 how many operations
 *   "operations"  LIST u32 [.]  of all pairs from their beginnings, as BAM has them: letters << 4 |
 *                 operation; 1: I, 2: D, 7: =, 8: X
 *
 * A table has a row for each letter of the row's sequence. On sockets its directions are five bits
 * for each of 64 pairs side by side; of a pair alone dp's engine keeps the sides of its blocks,
 * below a bit for each cell, of large tables for a stage of rows, and those of stages before are
 * computed again from the row above each. On cards a warp has a pair and keeps half a byte for each
 * cell: its lanes have neighbouring columns, each a row behind the lane before.
 *
 * Of EXTENSION the strips are of antidiagonals (i + j), a byte for each cell that is computed, on
 * sockets and cards.
 *
 * Of equally good alignments the one of family dp is taken: from the end pair, left, up, a gap
 * opened rather than extended; LOCAL ends in the best cell of the smallest row, then column.
 */
#pragma once

#include "tri.h"
#include "tri_extension.h"

#include <math.h>

TSL_C_BEGIN

enum {
  TRI_SPAN = 5,
  TRI_TRACEBACK_BYTES = 64 << 20,    /**< of a stage of a pair alone, where lengths are ordinary */
  TRI_TRACEBACK_COLUMNS = 128,       /**< of its blocks, at least */
  TRI_TRACEBACK_ROWS = 512,          /**< likewise, but for the last ones */
  TRI_TRACEBACK_ENGINE = 4 << 20,    /**< bytes of an engine's thread */
  TRI_EXTENSION_STRIP = 4 << 20,     /**< of a strip of EXTENSION, likewise */
  TRI_EXTENSION_BYTES = 256 << 10,   /**< the same of EXTENSION on a card */
  TRI_TRACEBACK_CELL = 5 * 8,        /**< of a cell of pairs side by side */
  TRI_TRACEBACK_TOGETHER = 160 << 20 /**< most of them */
};

/** Operations of BAM. */
enum { TRI_BAM_I = 1, TRI_BAM_D = 2, TRI_BAM_SAME = 7, TRI_BAM_OTHER = 8 };

/** Directions of a cell on a card: how its value is attained, END before all, else the first of
 *  these that does; whether gaps that end in it were just opened. */
enum {
  TRI_DIRECTION_PAIR = 0,
  TRI_DIRECTION_LEFT = 1,
  TRI_DIRECTION_UP = 2,
  TRI_DIRECTION_END = 3,
  TRI_DIRECTION_MASK = 3,
  TRI_DIRECTION_LEFT_OPENED = 4,
  TRI_DIRECTION_UP_OPENED = 8,
  TRI_DIRECTION_BITS = 4 /**< of all of these */
};

/** Field "spans"; "operations" is the next. */
static inline int tri_spans_of(const tri_params *p) {
  return p->output == TRI_PAIRED ? TRI_OUT_2 : TRI_OUT_3;
}

/** Bytes that a stage of so many rows and columns keeps: a side is two numbers a letter. */
static inline double tri_traceback_stage(double rows, double columns) {
  const double strips = columns / TRI_TRACEBACK_COLUMNS + 1, blocks = rows / TRI_TRACEBACK_ROWS + 1;
  return 8 * (strips * (rows + 1) + blocks * columns);
}

/** Rows of a stage of a table of n x m letters. */
static inline int64_t tri_traceback_rows(int64_t n, int64_t m) {
  int64_t rows = n > 1 ? n : 1;
  while (tri_traceback_stage((double)rows, (double)m) > TRI_TRACEBACK_BYTES &&
         rows > TRI_TRACEBACK_COLUMNS && rows / TRI_TRACEBACK_COLUMNS * rows > n)
    rows = (rows + 1) / 2; /* until stages and the rows above them take about the same */
  return rows;
}

/** Bytes that a thread needs for one pair, and for others beside it. */
static inline int64_t tri_traceback_bytes(int64_t n, int64_t m) {
  const int64_t rows = tri_traceback_rows(n, m), stages = (n + rows - 1) / rows;
  const int64_t together = n > TRI_TRACEBACK_TOGETHER / TRI_TRACEBACK_CELL / m
                               ? (int64_t)TRI_TRACEBACK_TOGETHER
                               : TRI_TRACEBACK_CELL * n * m;
  return together + (int64_t)tri_traceback_stage((double)rows, (double)m) + 8 * stages * m +
         16 * (n + m) + TRI_TRACEBACK_ENGINE;
}

/** EXTENSION: bytes of the directions of a strip, an antidiagonal or more, where lengths are
 *  ordinary so many; the cells that are kept before strips take no more. */
TSL_FN int64_t tri_extension_strip(int64_t n, int64_t m, int64_t ordinary) {
  const int64_t width = (n < m ? n : m) + 1;
  const int64_t strip = 8 * width * (int64_t)ceil(sqrt((double)(n + m + 1)));
  return strip > ordinary ? strip : ordinary;
}

/** Bytes that a thread needs for one pair: strips, and for each letter the lines of strips, seven
 *  cells and the letter itself. */
static inline int64_t tri_extension_bytes(int64_t n, int64_t m) {
  return 2 * tri_extension_strip(n, m, TRI_EXTENSION_STRIP) + (16 + 7 * 4 + 2) * (n + m + 1);
}

/** What a warp keeps of a pair, and where, in bytes: the directions of a strip from 0 on; the lines
 *  of all antidiagonals; before each strip its state and four arrays of `width` cells; the cells at
 *  work. */
typedef struct tri_extension_room {
  int64_t strip, width;
  int64_t lines, states, kept, cells, end;
} tri_extension_room;

TSL_FN tri_extension_room tri_extension_room_of(int64_t n, int64_t m) {
  tri_extension_room r = {
      tri_extension_strip(n, m, TRI_EXTENSION_BYTES), (n < m ? n : m) + 3, 0, 0, 0, 0, 0};
  const int64_t most = r.width - 2, strips = most * (n + m + 1) / (r.strip - most) + 2;
  r.lines = r.strip;
  r.states = r.lines + (n + m + 1) * (int64_t)sizeof(tri_extension_line);
  r.kept = r.states + strips * (int64_t)sizeof(tri_extension_state);
  r.cells = r.kept + strips * 4 * r.width * (int64_t)sizeof(int32_t);
  r.end = (r.cells + tri_extension_cells(n) * (int64_t)sizeof(int32_t) + 7) / 8 * 8;
  return r;
}

/** The table of a warp: strips of 32 x `each` columns, whose directions are `words` words of a lane
 *  for each of n + 31 steps. */
typedef struct tri_warp_table {
  int64_t strips;
  int32_t each, words;
} tri_warp_table;

enum { TRI_WARP_MOST = 16 /**< columns of a lane */ };

TSL_FN tri_warp_table tri_warp_table_of(int64_t m) {
  tri_warp_table t = {(m + 32 * TRI_WARP_MOST - 1) / (32 * TRI_WARP_MOST), 0, 0};
  if (t.strips == 0) return t;
  t.each = (int32_t)((m + 32 * t.strips - 1) / (32 * t.strips));
  t.words = (t.each * TRI_DIRECTION_BITS + 31) / 32;
  return t;
}

/** Bytes of directions of a table of n x m letters. */
TSL_FN int64_t tri_warp_directions(int64_t n, int64_t m) {
  const tri_warp_table t = tri_warp_table_of(m);
  return t.strips * (n + 31) * t.words * 128;
}

/** Bytes that a card needs for one pair: directions, a strip's last column, operations twice. */
static inline int64_t tri_traceback_card_bytes(int64_t n, int64_t m) {
  return tri_warp_directions(n, m) + 8 * n + 8 * (n + m);
}
static inline int64_t tri_extension_card_bytes(int64_t n, int64_t m) {
  return tri_extension_room_of(n, m).end + 8 * n + 8 * (n + m);
}

/** Pairs that rows [lo, hi) keep, as their part has them once it is computed. */
int64_t tri_kept_pairs(const tri_params *p, int64_t lo, int64_t hi, const tsl_part *part);

/** Places of the sequences of pair k: the row's, the column's. */
void tri_kept_pair(const tri_params *p, int64_t lo, const tsl_part *part, int64_t k,
                   int64_t place[2]);

TSL_C_END
