/* The structure of maximum expected accuracy, from lists of pairs that can belong to one. */
#include "rna_mea.h"

#include "memory.h"

#include <math.h>

/** A pair (i, j) that is better than all that letters i..j could do otherwise. */
typedef struct stem {
  int64_t i, next; /**< next: of the same j, with a larger i, -1 none */
  double sum;      /**< of letters i..j */
} stem;

typedef struct mea {
  int64_t n;
  const double *table;
  double gamma;
  double *alone; /**< [n] q_i */
  double *row;   /**< [n + 1] of the i at hand: row[j] the best sum of letters i..j-1 */
  double *inner; /**< [n + 1] the same of i + 1 */
  int64_t *last; /**< [n] by j: the stem with the smallest i so far, -1 none */
  stem *stems;
  int64_t n_stems, room;
} mea;

/** The best sum of letters i..j where the last one pairs with none or with one of its stems'.
 *  row is right up to j. @param[out] at  that stem, -1 none */
static double best_end(const mea *m, int64_t i, int64_t j, int64_t *at) {
  double best = m->row[j] + m->alone[j];
  *at = -1;
  for (int64_t k = m->last[j]; k >= 0; k = m->stems[k].next) {
    if (m->stems[k].i < i) continue;
    const double sum = m->row[m->stems[k].i] + m->stems[k].sum;
    if (sum > best) best = sum, *at = k;
  }
  return best;
}

static tsl_err add_stem(mea *m, int64_t i, int64_t j, double sum) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_grow((void **)&m->stems, m->n_stems, 1, &m->room, sizeof *m->stems, "pairs"));
  m->stems[m->n_stems] = (stem){.i = i, .next = m->last[j], .sum = sum};
  m->last[j] = m->n_stems++;
done:
  return err;
}

/** All stems that begin with letter i. */
static tsl_err fill_row(mea *m, int64_t i) {
  tsl_err err = TSL_OK;
  const double *p = m->table + i * m->n;
  double *swap = m->inner;
  m->inner = m->row, m->row = swap;
  m->row[i] = 0;
  for (int64_t j = i; j < m->n; j++) {
    int64_t at;
    double best = best_end(m, i, j, &at);
    const double pair = 2 * m->gamma * p[j];
    if (j > i && pair > m->alone[i] + m->alone[j]) { /* else both are as good alone */
      const double sum = m->inner[j] + pair;
      if (sum > best) {
        TSL_TRY(add_stem(m, i, j, sum));
        best = sum;
      }
    }
    m->row[j + 1] = best;
  }
done:
  return err;
}

/** The stems of letters lo..hi that lie in no other: their partners; what is in each goes on the
 *  stack. */
static void walk(mea *m, int64_t lo, int64_t hi, int64_t *partner, int64_t (*stack)[2],
                 int64_t *n_stack) {
  int64_t at;
  m->row[lo] = 0;
  for (int64_t j = lo; j <= hi; j++) m->row[j + 1] = best_end(m, lo, j, &at);
  for (int64_t j = hi; j >= lo; j--) {
    (void)best_end(m, lo, j, &at);
    if (at < 0) continue;
    const int64_t i = m->stems[at].i;
    partner[i] = j, partner[j] = i;
    stack[*n_stack][0] = i + 1, stack[(*n_stack)++][1] = j - 1;
    j = i;
  }
}

static tsl_err open_mea(mea *m, const double *paired) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(m->n + 1, sizeof *m->alone, "unpaired letters", (void **)&m->alone));
  TSL_TRY(tsl_alloc(m->n + 1, sizeof *m->row, "sums", (void **)&m->row));
  TSL_TRY(tsl_alloc(m->n + 1, sizeof *m->inner, "sums", (void **)&m->inner));
  TSL_TRY(tsl_alloc(m->n + 1, sizeof *m->last, "pairs", (void **)&m->last));
  for (int64_t k = 0; k < m->n; k++) m->alone[k] = fmax(1 - paired[k], 0), m->last[k] = -1;
done:
  return err;
}

tsl_err rna_mea(int64_t n, const double *table, const double *paired, double gamma,
                int64_t *partner, double *accuracy) {
  tsl_err err = TSL_OK;
  mea m = {.n = n, .table = table, .gamma = gamma};
  int64_t(*stack)[2] = NULL, n_stack = 0;
  TSL_TRY(open_mea(&m, paired));
  TSL_TRY(tsl_alloc(n + 1, sizeof *stack, "pairs", (void **)&stack));
  for (int64_t i = n - 1; i >= 0; i--) TSL_TRY(fill_row(&m, i));
  *accuracy = n > 0 ? m.row[n] : 0;
  for (int64_t k = 0; k < n; k++) partner[k] = -1;
  stack[n_stack][0] = 0, stack[n_stack++][1] = n - 1;
  while (n_stack > 0) {
    n_stack--;
    walk(&m, stack[n_stack][0], stack[n_stack][1], partner, stack, &n_stack);
  }
done:
  TSL_FREE_ALL(m.alone, m.row, m.inner, m.last, m.stems, stack);
  return err;
}
