/**
 * @file dp_diagonals.h
 * Bands of diagonals of a table of two sequences, and what a path that leaves one can attain
 * (Ukkonen 1985, Algorithms for approximate string matching, section 3; here with scores and gaps).
 *
 * A path goes from cell (0, 0) to (n, m) by pairs (right and down), letters of b alone (right) and
 * letters of a alone (down). It is on diagonal j - i, at the beginning 0, at the end d = m - n. A
 * band of half-width k holds the diagonals
 *
 *   min(0, d) - k <= j - i <= max(0, d) + k
 *
 * A path that leaves it is somewhere x >= k + 1 diagonals beyond 0 or d, so it has
 *
 *   I >= x + max(0, d) letters of b alone,  D = I - d >= x + max(0, -d) letters of a alone,
 *   P = n - D = m - I pairs,
 *
 * and at least one gap of each kind. With scores, where larger is better (costs and lengths: LCS a
 * pair of equal letters 1; EDIT a pair of different ones -replace, insert and delete extend gaps),
 * its score is at most
 *
 *   f(x) = best(P) - 2 open - extend_b I - extend_a D,   I and D at their least
 *
 * where best(P) is the sum of the P largest of: for each letter of a the best score that it has
 * with a letter that occurs in b. The same holds with a and b exchanged; the smaller one counts.
 * From x to x + 1 best(P) loses the least number that it has, v, and the gaps cost extend_a +
 * extend_b more. So f falls from x on where v + extend_a + extend_b >= 0, for v only grows; where
 * that does not hold, f bounds nothing. Band k is *certain* for a score that some path attains when
 * it is above f(k + 1): then all optimal paths lie in the band, and each cell of one has in the
 * band the value that it has in the table, each other cell none that is better. A walk back by the
 * rules of dp.h takes the same way.
 */
#pragma once

#include "dp.h"

TSL_C_BEGIN

/** Numbers with how often each occurs, the largest first. */
typedef struct dp_counted {
  int64_t value[256], count[256];
  int n;
} dp_counted;

/** What bounds paths that leave a band. */
typedef struct dp_outside {
  int64_t n, m, open, extend; /**< extend: of a letter of a and a letter of b together */
  int64_t alone;              /**< of the letters that one sequence has more than the other */
  dp_counted a, b;
} dp_outside;

/** Scores of steps, larger is better (LCS, EDIT, GLOBAL, LOCAL): a pair of letters; a gap
 *  of letters of a, or of b, alone. */
int64_t dp_pair_score(const dp_params *p, int x, int y);
int64_t dp_gap_score(const dp_params *p, int64_t letters, bool of_a);

/** Can the problem be computed in a band: LCS, EDIT, GLOBAL, no whole table, no free ends, letters
 *  on both sides, and the deck's `band` does not forbid it? */
bool dp_diagonals_apply(const dp_params *p);

/** @param[in] a,b  letters, shape [n], [m] */
void dp_outside_set(const dp_params *p, const uint8_t *a, const uint8_t *b, dp_outside *out);

/** Largest score of a path that leaves band k >= 0. INT64_MAX: not bounded; INT64_MIN: there is no
 *  such path. It never grows with k. */
int64_t dp_outside_score(const dp_outside *outside, int64_t k);

/** Least k whose band is certain for a score that a path attains. */
int64_t dp_outside_width(const dp_outside *outside, int64_t score);

/** The goal as a score: larger is better. */
static inline int64_t dp_goal_score(const dp_params *p, int64_t goal) {
  return p->problem == DP_EDIT ? -goal : goal;
}

/* ---- strips of a band */

/**
 * A band cut into strips of columns, each of them a rectangle that holds the band's cells: letters
 * [columns[0], columns[1]) of b and [rows[0], rows[1]) of a, from 0. rows[0] is a multiple of 64.
 * Each strip begins at or below the top of the one before, and not below its end.
 */
typedef struct dp_strip {
  int64_t columns[2], rows[2];
} dp_strip;

/** Strip s of band k. @param[in] width  columns of a strip, a multiple of 64 */
dp_strip dp_strip_of(const dp_params *p, int64_t k, int64_t width, int64_t s);
int64_t dp_strips_number(const dp_params *p, int64_t width);
/** Cells of all strips. */
double dp_strips_cells(const dp_params *p, int64_t k, int64_t width);

/* ---- what a run says of it */

/** What is known before a run's attempts at bands, and what they came to. */
typedef struct dp_attempts {
  dp_outside outside;
  int64_t path;          /**< score of a path of anchors (dp_anchors.h) */
  int64_t hope;          /**< that no path near the anchors' exceeds */
  bool looked;           /**< all of these are set */
  int64_t runs;          /**< bands computed */
  double cells, seconds; /**< of all of them */
  bool certain;          /**< the last one's goal is the table's */
  int64_t k;             /**< its half-width */
  int64_t goal;
} dp_attempts;

/** Root: a path that is known before the table is filled. @return TSL_ERR_MEMORY */
tsl_err dp_attempts_look(tsl_problem *problem);

/** Root. certain: no tiles are cut, and the goal is theirs. */
dp_attempts *dp_attempts_of(const tsl_problem *problem);

/** Root: lines on what anchors foretell, and on the bands computed; nothing without either. */
void dp_attempts_tell(const tsl_problem *problem, char *text, size_t size);

TSL_C_END
