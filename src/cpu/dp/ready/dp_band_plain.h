/**
 * @file dp_band_plain.h
 * Bands by plain loops, cell by cell: the mode TABLE, which is bound by the memory and the file
 * that take its cells.
 *
 * Columns are cut into strips and rows into blocks; a block continues the row above it in place and
 * takes the column to its left from a ring of columns, one for each strip at work.
 */
#pragma once

#include "dp_backend.h"

typedef struct plain_band {
  dp_band_head band;
  const dp_params *p;
  int threads;
  const void *a, *b; /**< inputs, not owned */
  void *h;           /**< [width + 1] last row computed, entry 0 the column before the band */
  int32_t *f;        /**< [width] affine: F of that row */
  int64_t best[3];
} plain_band;

/** A tile being computed, by blocks. */
typedef struct plain_tile {
  plain_band *band;
  int64_t lo, rows;
  int64_t strips, blocks;
  void **columns;    /**< [strips_at_work] of [rows + 1] values right of a strip */
  int32_t **gaps;    /**< affine: the same of E */
  int64_t n_columns; /**< strips_at_work */
  const void *left;  /**< [rows + 1] values left of the band */
  const int32_t *left_gaps;
  dp_window window;
  int64_t (*best)[3]; /**< [strips] LOCAL */
} plain_tile;

/** A block: cells of rows [r0, r1) of the tile and columns [c0, c1) of the band. */
typedef struct plain_block {
  const plain_tile *tile;
  int64_t r0, r1, c0, c1;
  const void *left; /**< as plain_tile.left, of the strip */
  const int32_t *left_gaps;
  void *right;
  int32_t *right_gaps;
  int64_t *best;
} plain_block;

/** By problem and type. */
void plain_lcs(const plain_block *block);
void plain_edit(const plain_block *block);
void plain_affine(const plain_block *block);
void plain_dtw_f32(const plain_block *block);
void plain_dtw_f64(const plain_block *block);
