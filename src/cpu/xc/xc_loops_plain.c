/** @file xc_loops_plain.c  The same loops built scalar, and plain products, to measure against. */
#define TSL_SIMD_LEVEL 1
#define TSL_SIMD_TABLE xc_loops_plain
#define XC_PRODUCT plain_product
#include "xc_loops.h"

enum { TILE_ROWS = 4, TILE_COLUMNS = 4 };

/* C of at most 4 x 4 elements, kept in registers; steps of b along its rows and columns. */
static void tile(bool add, int64_t inner, const double *a, int64_t lda, int rows, const double *b,
                 int64_t along, int64_t across, int columns, double *c, int64_t ldc) {
  double sum[TILE_ROWS][TILE_COLUMNS] = {{0}};
  if (rows == TILE_ROWS && columns == TILE_COLUMNS)
    for (int64_t k = 0; k < inner; k++)
      for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_COLUMNS; j++)
          sum[i][j] += a[i * lda + k] * b[k * along + j * across];
  else
    for (int64_t k = 0; k < inner; k++)
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) sum[i][j] += a[i * lda + k] * b[k * along + j * across];
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) c[i * ldc + j] = (add ? c[i * ldc + j] : 0) + sum[i][j];
}

static int least(int64_t left, int most) {
  return left < most ? (int)left : most;
}

static void plain_product(bool turned, bool add, int64_t rows, int64_t columns, int64_t inner,
                          const double *a, int64_t lda, const double *b, int64_t ldb, double *c,
                          int64_t ldc) {
  const int64_t along = turned ? 1 : ldb, across = turned ? ldb : 1;
  for (int64_t j = 0; j < columns; j += TILE_COLUMNS)
    for (int64_t i = 0; i < rows; i += TILE_ROWS)
      tile(add, inner, a + i * lda, lda, least(rows - i, TILE_ROWS), b + j * across, along, across,
           least(columns - j, TILE_COLUMNS), c + i * ldc + j, ldc);
}

#include "xc_loops_body.h"
