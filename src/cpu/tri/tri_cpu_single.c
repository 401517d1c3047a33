/** @file tri_cpu_single.c  Pairs of sequences one at a time, by dp's engine. */
#include "tri_cpu_single.h"

#include "dp_cpu.h"
#include "integers.h"
#include "tri_traceback.h"

enum {
  LONG_CELLS =
      1 << 24,         /* where a pair alone is as fast as many side by side, whatever its scores */
  FEW_CELLS = 1 << 18, /* below, pairs are made ready faster side by side, whatever the lanes */
  MOST_VALUE = 1 << 28 /* of the engine's numbers */
};

struct tri_single {
  const tri_cpu_letters *letters; /**< not owned */
  dp_cpu cpu;
  dp_problem problem;
  letters_scores scores; /**< DP_EDIT: not used */
};

tsl_err tri_single_create(const tri_cpu_letters *letters, tri_single **out) {
  tsl_err err = TSL_OK;
  const tri_params *p = letters->p;
  tri_single *l = NULL;
  *out = NULL;
  if (!tri_is_scored(p) || tri_is_dropping(p)) goto done;
  TSL_TRY(tsl_alloc(1, sizeof *l, "scores", (void **)&l));
  l->letters = letters;
  l->problem = p->codes > TRI_LETTERS_SCORED ? DP_EDIT /* the tracer's scores of it */
               : p->function == TRI_LOCAL    ? DP_LOCAL
                                             : DP_GLOBAL;
  l->scores = (letters_scores){.open = p->open, .extend = p->extend, .alphabet = p->codes};
  for (int a = 0; a < p->codes && l->problem != DP_EDIT; a++)
    for (int b = 0; b < p->codes; b++) l->scores.s[a][b] = letters->scores[a * p->codes + b];
  TSL_TRY(dp_cpu_open(1, &l->cpu));
  *out = l;
done:
  if (err != TSL_OK) tri_single_destroy(&l);
  return err;
}

void tri_single_destroy(tri_single **single) {
  tsl_free(*single);
  *single = NULL;
}

bool tri_single_is_faster(const tri_single *l, int64_t rows, int64_t columns, double cells) {
  const double largest = (double)rows * (double)columns, all = largest * TRI_LETTER_LANES;
  if (l == NULL || largest < FEW_CELLS) return false;
  const tri_params *p = l->letters->p;
  const int64_t of_pair = tsl_max(p->most, -(int64_t)p->least);
  const int64_t step = tsl_max(of_pair, (int64_t)p->open + p->extend);
  return (rows + columns) * step < MOST_VALUE && (largest >= LONG_CELLS || 2 * cells < all);
}

/** A pair and its table. */
typedef struct pair_table {
  const uint8_t *rows, *columns;
  int64_t n, m;
  dp_cpu_align *align;
} pair_table;

static tsl_err table_open(const tri_single *l, int64_t row, int64_t column, int threads,
                          pair_table *t) {
  const tri_sequences *s = &l->letters->sequences;
  const dp_cpu cpu = {.kernels = l->cpu.kernels, .threads = threads};
  *t = (pair_table){.rows = s->codes + s->starts[row],
                    .columns = s->codes + s->starts[column],
                    .n = tri_sequence_length(s, row),
                    .m = tri_sequence_length(s, column)};
  if (l->problem == DP_EDIT)
    return dp_cpu_edit_open(&cpu, 1, 1, 1, t->rows, t->n, t->columns, t->m, t->m, 0, &t->align);
  return dp_cpu_align_open(&cpu, l->problem, &l->scores, t->rows, t->n, t->columns, t->m, t->m, 0,
                           &t->align);
}

tsl_err tri_single_score(const tri_single *l, int64_t row, int64_t column, int threads,
                         int64_t *score) {
  tsl_err err = TSL_OK;
  pair_table t;
  TSL_TRY(table_open(l, row, column, threads, &t));
  dp_cpu_align_prune(t.align, t.n, t.m, 0);
  if (l->letters->p->function == TRI_EXTENSION) dp_cpu_align_track(t.align);
  TSL_TRY(dp_cpu_align_tile(t.align, 0, t.n, NULL, NULL, false));
  *score = dp_cpu_align_best(t.align).score;
done:
  dp_cpu_align_close(&t.align);
  return err;
}

/* ---- alignments */

/** Stages of rows, of which one is kept, and the row above each. */
typedef struct stages {
  int64_t rows, n, kept;
  int32_t *above; /**< [n][2][m] */
} stages;

static tsl_err run_stage(const pair_table *t, stages *s, int64_t k, bool keep) {
  s->kept = k;
  return dp_cpu_align_tile(t->align, k * s->rows, tsl_min((k + 1) * s->rows, t->n), NULL, NULL,
                           keep);
}

static int32_t *above(const pair_table *t, const stages *s, int64_t k, int gap) {
  return s->above + (2 * k + gap) * t->m;
}

static tsl_err run_stages(const pair_table *t, stages *s) {
  tsl_err err = TSL_OK;
  s->rows = tri_traceback_rows(t->n, t->m);
  s->n = tsl_divide_up(t->n, s->rows);
  TSL_TRY(tsl_alloc(2 * s->n * t->m, sizeof *s->above, "rows above stages", (void **)&s->above));
  for (int64_t k = 0; k < s->n; k++) {
    dp_cpu_align_row_get(t->align, above(t, s, k, 0), above(t, s, k, 1));
    TSL_TRY(run_stage(t, s, k, k == s->n - 1));
  }
done:
  return err;
}

/** Back through the stages to where the alignment begins. */
static tsl_err walk(const pair_table *t, stages *s, dp_place *at, tri_single_path *path) {
  tsl_err err = TSL_OK;
  while (at->row > 0 && at->column > 0 && !at->done) {
    const int64_t k = (at->row - 1) / s->rows, most = at->row - k * s->rows + at->column;
    int64_t n = 0;
    if (k != s->kept) {
      dp_cpu_align_row_put(t->align, above(t, s, k, 0), above(t, s, k, 1));
      TSL_TRY(run_stage(t, s, k, true));
      path->again += s->rows * t->m;
    }
    TSL_TRY(tsl_grow((void **)&path->steps, path->n, most, &path->room, 1, "steps"));
    TSL_TRY(dp_cpu_align_trace(t->align, at, path->steps + path->n, most, &n));
    path->n += n;
  }
done:
  return err;
}

tsl_err tri_single_trace(const tri_single *l, int64_t row, int64_t column, int64_t *score,
                         tri_single_path *path) {
  tsl_err err = TSL_OK;
  stages s = {.above = NULL};
  pair_table t;
  TSL_TRY(table_open(l, row, column, 1, &t));
  TSL_TRY(run_stages(&t, &s));
  const dp_best best = dp_cpu_align_best(t.align);
  dp_place at = {.row = t.n, .column = t.m};
  if (l->problem == DP_LOCAL) at.row = best.row, at.column = best.column;
  *score = l->problem == DP_EDIT ? -best.score : best.score;
  path->end[0] = at.row, path->end[1] = at.column, path->n = 0;
  TSL_TRY(walk(&t, &s, &at, path));
  path->begin[0] = at.row, path->begin[1] = at.column;
done:
  tsl_free(s.above);
  dp_cpu_align_close(&t.align);
  return err;
}
