/** @file dp_cpu_align.h  A band of an alignment, shared by dp_cpu_align*.c. */
#pragma once

#include "dp_cpu.h"
#include "dp_kernels.h"

#include <stdatomic.h>

enum {
  ALIGN_ROWS = 2048,             /* most rows of a block */
  ALIGN_KEEP_ROWS = 512,         /* rows of a block that is kept */
  ALIGN_WIDTH = 64 * DP_COLUMNS, /* most columns of a strip */
  ALIGN_LD = ALIGN_ROWS + 2 * DP_PAD,
  ALIGN_MOST = 1 << 30 /* no |value| reaches this */
};

/**
 * What a block of rows of a strip is computed from. Row and column are those of the block's first
 * cell, in the table from 0 and in the band from 0.
 */
typedef struct align_sides {
  int64_t strip, row, rows, column, columns;
  int32_t corner;         /**< H left of and above the first cell */
  const int32_t *eh, *ee; /**< [rows] H and E' of the column before */
  const int32_t *h, *f;   /**< [columns] H and F' of the row above */
} align_sides;

/** A copy of them, to look later where its best cell is. */
typedef struct align_saved {
  align_sides sides;
  int32_t eh[ALIGN_ROWS], ee[ALIGN_ROWS], h[ALIGN_WIDTH], f[ALIGN_WIDTH];
} align_saved;

/** Memory of one thread. Lists by row begin at entry DP_PAD. */
typedef struct align_room {
  _Alignas(64) char b[64 * DP_COLUMNS];
  _Alignas(64) int32_t h[ALIGN_WIDTH], f[ALIGN_WIDTH], most[64];
  _Alignas(64) char profile[DP_N_WIDTHS][LETTERS_SCORED * (ALIGN_WIDTH + 64) * sizeof(int32_t)];
  _Alignas(64) char scores[DP_ALIGN_ROOM];
  int32_t h_in[ALIGN_LD], e_in[ALIGN_LD], h_out[ALIGN_LD], e_out[ALIGN_LD];
  int32_t row_h[ALIGN_WIDTH], row_f[ALIGN_WIDTH], lanes[ALIGN_WIDTH];
  int64_t profile_of[DP_N_WIDTHS]; /**< strip + 1 whose profile is there */
  int64_t found_row, found_column; /**< of a block, from 0 */
  dp_best best;                    /**< of the thread's blocks; its place only when not pending */
  bool pending;                    /**< it is somewhere in the block first */
  align_saved first, second;
} align_room;

struct dp_cpu_align {
  dp_cpu cpu;
  dp_align_kind kind;
  const uint8_t *rows, *columns; /**< not owned */
  int64_t n, m, first;
  letters_scores scores;                                          /**< DP_EDIT: not used */
  int32_t open, extend_e, extend_f, match, mismatch, most, least; /**< most, least: of a pair */
  int32_t move, below; /**< of DP_MOVING; move 0: scores are too large for it */
  bool matrix;
  uint8_t column_code[256];
  uint8_t *row_codes; /**< [n] by row: DP_PAD bytes before and after */
  int32_t *h, *f;     /**< [m] last row: H, F' */
  dp_best best;
  int64_t rows_left, columns_left; /**< dp_cpu_align_prune; 0: nothing is left out */
  int32_t first_known;             /**< a score that the table has: before the first row */
  _Atomic int32_t known;           /**< so far */
  _Atomic int64_t pruned;          /**< cells left out */
  int64_t row;                     /**< rows computed */
  int64_t width;                   /**< columns of a strip */
  int64_t n_strips;
  int32_t *corner;  /**< [n_strips] H of the row above, column before the strip */
  int32_t *eh, *ee; /**< [edge_room] H and E' of the edge, entry 0 the row above the tile */
  int64_t edge_room;
  align_room *rooms; /**< [threads] */
  /* what is kept of tile [keep_lo, keep_hi): the edges of all strips, the row above each block */
  int32_t *keep_h, *keep_e;         /**< [n_strips][keep_hi - keep_lo + 1] left edges */
  int32_t *keep_row_h, *keep_row_f; /**< [blocks][m] */
  int64_t keep_edges, keep_rows, keep_lo, keep_hi;
};

/** Compute one block of a strip: rows [first, first + rows) of the tile that begins at row lo. */
void align_block(dp_cpu_align *band, int64_t lo, int64_t strip, int64_t first, int64_t rows,
                 int thread);

/**
 * Leave a block out when it holds no better cell nor a way to one: what it hands on is then what
 * gaps alone make of its sides, which is never more than the table has.
 * @return false: it must be computed
 */
bool align_prune_block(dp_cpu_align *band, int64_t lo, int64_t strip, int64_t first, int64_t rows);
/** Some cell has this score. */
void align_know(dp_cpu_align *band, int64_t score);
/**
 * Raise H around a tile, the row above it and `rows` of its left edge, to what their neighbours
 * show that the table has at least: where another device has left cells out, less may have come.
 * Where none has, everything stays as it is.
 */
void align_smooth(dp_cpu_align *band, int64_t rows);

/** Make the place of a thread's best cell known. */
void align_settle_best(const dp_cpu_align *band, int thread);
