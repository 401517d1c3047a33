/* Formulas of the eight fill orders: rule text, fold, allowed offsets, stages, width of a stage,
 * and the cell at a stage and lane. */
#include "dp_pattern.h"

#include <stddef.h>

const char *const dp_pattern_words[] = {"RUD",  "RDU",  "CLR",  "CRL",  "NOSE",
                                        "SENO", "SONE", "NESO", "auto", NULL};

static const char *const rules[DP_N_PATTERNS] = {
    "RUD reads rows above only",          "RDU reads rows below only",
    "CLR reads columns to the left only", "CRL reads columns to the right only",
    "NOSE reads up and left only",        "SENO reads down and right only",
    "SONE reads down and left only",      "NESO reads up and right only",
};

const char *dp_pattern_rule(dp_pattern pattern) {
  return rules[pattern];
}

dp_fold dp_pattern_fold(dp_pattern pattern) {
  static const dp_fold folds[DP_N_PATTERNS] = {
      [DP_RUD] = {0, 0, 0, 1},  [DP_RDU] = {0, 1, 0, 1},  [DP_CLR] = {1, 0, 0, 1},
      [DP_CRL] = {1, 0, 1, 1},  [DP_NOSE] = {0, 0, 0, 0}, [DP_SENO] = {0, 1, 1, 0},
      [DP_SONE] = {0, 1, 0, 0}, [DP_NESO] = {0, 0, 1, 0},
  };
  return folds[pattern];
}

bool dp_pattern_allows(dp_pattern pattern, int64_t di, int64_t dj) {
  const dp_fold fold = dp_pattern_fold(pattern);
  const int64_t a = fold.flip_i != 0 ? -di : di, b = fold.flip_j != 0 ? -dj : dj;
  if (fold.rows_only != 0) return (fold.transpose != 0 ? b : a) < 0;
  return a <= 0 && b <= 0 && (a < 0 || b < 0);
}

int64_t dp_pattern_stages(dp_pattern pattern, int64_t rows, int64_t cols) {
  const dp_fold fold = dp_pattern_fold(pattern);
  if (rows == 0 || cols == 0) return 0;
  if (fold.rows_only == 0) return rows + cols - 1;
  return fold.transpose != 0 ? cols : rows;
}

int64_t dp_pattern_width(dp_pattern pattern, int64_t rows, int64_t cols, int64_t stage) {
  const dp_fold fold = dp_pattern_fold(pattern);
  if (fold.rows_only != 0) return fold.transpose != 0 ? rows : cols;
  const int64_t first = stage >= cols ? stage - cols + 1 : 0;
  const int64_t last = stage < rows ? stage : rows - 1;
  return last - first + 1;
}

void dp_pattern_cell(dp_pattern pattern, int64_t rows, int64_t cols, int64_t stage, int64_t lane,
                     int64_t *i, int64_t *j) {
  const dp_fold fold = dp_pattern_fold(pattern);
  if (fold.rows_only != 0) {
    *i = fold.transpose != 0 ? lane : stage;
    *j = fold.transpose != 0 ? stage : lane;
  } else {
    *i = (stage >= cols ? stage - cols + 1 : 0) + lane;
    *j = stage - *i;
  }
  if (fold.flip_i != 0) *i = rows - 1 - *i;
  if (fold.flip_j != 0) *j = cols - 1 - *j;
}
