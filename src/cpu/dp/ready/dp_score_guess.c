/** @file dp_score_guess.c  A guess at the values around a tile of a local alignment, for trials.
 *
 *  How many bits a block needs depends on its values: near zero where the texts have nothing in
 *  common, and large in the wide wedge around a good alignment, which costs more. From the score of
 *  the texts' beginnings a value is guessed as that of a path along the diagonal and one gap.
 */
#include "dp_backend.h"

enum { LOOKED_AT = 2048 /* letters of either text */ };

/** Score of a letter along the diagonal. */
static tsl_err measure_slope(const tsl_worker *w, double *slope) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->dp.c.p;
  const int64_t shorter = p->n < p->m ? p->n : p->m;
  const int64_t n = shorter < LOOKED_AT ? shorter : LOOKED_AT;
  dp_cpu_align *align = NULL;
  TSL_TRY(dp_cpu_align_open(&w->cpu, DP_LOCAL, &p->scores, dp_input(&w->dp.c, DP_A), n,
                            dp_input(&w->dp.c, DP_B), n, n, 0, &align));
  TSL_TRY(dp_cpu_align_tile(align, 0, n, NULL, NULL, false));
  *slope = n > 0 ? (double)dp_cpu_align_best(align).score / (double)n : 0;
done:
  dp_cpu_align_close(&align);
  return err;
}

/** H after i letters of one text and j of the other. */
static int32_t guess(const dp_params *p, double slope, int64_t i, int64_t j) {
  const int64_t less = i < j ? i : j, apart = i < j ? j - i : i - j;
  const int64_t gap = apart > 0 ? p->scores.open + p->scores.extend * apart : 0;
  const int64_t h = (int64_t)(slope * (double)less) - gap;
  return h > 0 ? (int32_t)h : 0;
}

tsl_err dp_score_guess_sides(const tsl_worker *w, const dp_score_guess *g) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->dp.c.p;
  double slope = 0;
  TSL_TRY(measure_slope(w, &slope));
  for (int64_t k = 0; k < g->columns; k++) {
    g->above[k] = guess(p, slope, g->row, g->column + k + 1);
    g->above[g->columns + k] = g->above[k] - p->scores.open;
  }
  for (int64_t k = 0; k <= g->rows; k++) {
    g->left[2 * k] = guess(p, slope, g->row + k, g->column);
    g->left[2 * k + 1] = g->left[2 * k] - p->scores.open;
  }
done:
  return err;
}
