/** @file tri_cpu_long.c  Long pairs of sequences, one at a time. */
#include "tri_cpu_long.h"

#include "dp_cpu.h"
#include "integers.h"

enum {
  LONG_CELLS =
      1 << 24,         /* where a pair alone is as fast as many side by side, whatever its scores */
  FEW_CELLS = 1 << 18, /* below, pairs are made ready faster side by side, whatever the lanes */
  MOST_VALUE = 1 << 28 /* of the engine's numbers */
};

struct tri_long {
  const tri_cpu_letters *letters; /**< not owned */
  dp_cpu cpu;
  dp_problem problem;
  letters_scores scores;
};

tsl_err tri_long_create(const tri_cpu_letters *letters, tri_long **out) {
  tsl_err err = TSL_OK;
  const tri_params *p = letters->p;
  tri_long *l = NULL;
  *out = NULL;
  if (!tri_is_scored(p) || tri_is_dropping(p)) goto done;
  TSL_TRY(tsl_alloc(1, sizeof *l, "scores", (void **)&l));
  l->letters = letters;
  l->problem = p->function == TRI_LOCAL ? DP_LOCAL : DP_GLOBAL;
  l->scores = (letters_scores){.open = p->open, .extend = p->extend, .alphabet = p->codes};
  for (int a = 0; a < p->codes; a++)
    for (int b = 0; b < p->codes; b++) l->scores.s[a][b] = letters->scores[a * p->codes + b];
  TSL_TRY(dp_cpu_open(1, &l->cpu));
  *out = l;
done:
  if (err != TSL_OK) tri_long_destroy(&l);
  return err;
}

void tri_long_destroy(tri_long **long_pairs) {
  tsl_free(*long_pairs);
  *long_pairs = NULL;
}

bool tri_long_alone(const tri_long *l, int64_t rows, int64_t columns, double cells) {
  const double largest = (double)rows * (double)columns, all = largest * TRI_LETTER_LANES;
  if (l == NULL || largest < FEW_CELLS) return false;
  const tri_params *p = l->letters->p;
  const int64_t of_pair = tsl_max(p->most, -(int64_t)p->least);
  const int64_t step = tsl_max(of_pair, (int64_t)p->open + p->extend);
  return (rows + columns) * step < MOST_VALUE && (largest >= LONG_CELLS || 2 * cells < all);
}

tsl_err tri_long_score(const tri_long *l, int64_t row, int64_t column, int threads,
                       int64_t *score) {
  tsl_err err = TSL_OK;
  const tri_sequences *s = &l->letters->sequences;
  const int64_t n = tri_sequence_length(s, row), m = tri_sequence_length(s, column);
  const uint8_t *const rows = s->codes + s->starts[row];
  const uint8_t *const columns = s->codes + s->starts[column];
  const dp_cpu cpu = {.kernels = l->cpu.kernels, .threads = threads};
  dp_cpu_align *table = NULL;
  TSL_TRY(dp_cpu_align_open(&cpu, l->problem, &l->scores, rows, n, columns, m, m, 0, &table));
  dp_cpu_align_prune(table, n, m, 0);
  if (l->letters->p->function == TRI_EXTENSION) dp_cpu_align_track(table);
  TSL_TRY(dp_cpu_align_tile(table, 0, n, NULL, NULL, false));
  *score = dp_cpu_align_best(table).score;
done:
  dp_cpu_align_close(&table);
  return err;
}
