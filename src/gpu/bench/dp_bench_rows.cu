/* Measurements of row sweeps and of the engine for any recurrence. */
#include "dp_bench.cuh"
#include "dp_grid.cuh"

typedef struct knapsack_case {
  const char *what;
  dp_problem problem;
  int64_t n, capacity, heaviest, dearest;
  bool keep;
  double goal;
  const char *published;
} knapsack_case;

static tsl_err make_items(const knapsack_case *c, int64_t n, int64_t **weights, int64_t **values) {
  tsl_err err = TSL_OK;
  uint64_t z = 88172645463325252ull;
  TSL_TRY(tsl_alloc(n, 8, "weights", (void **)weights));
  TSL_TRY(tsl_alloc(n, 8, "values", (void **)values));
  for (int64_t i = 0; i < n; i++) {
    z ^= z << 13;
    z ^= z >> 7;
    z ^= z << 17;
    (*weights)[i] = 1 + (int64_t)((z >> 20) % (uint64_t)c->heaviest);
    (*values)[i] = 1 + (int64_t)((z >> 40) % (uint64_t)c->dearest);
  }
done:
  return err;
}

static tsl_err bench_knapsack(dp_bench_options *o, const knapsack_case *c) {
  tsl_err err = TSL_OK;
  const int64_t n = o->quick ? c->n / 16 : c->n;
  int64_t *weights = NULL, *values = NULL;
  int64_t *taken = NULL;
  dp_knapsack *band = NULL;
  double seconds = 0, walk = 0;
  TSL_TRY(make_items(c, n, &weights, &values));
  TSL_TRY(tsl_alloc(n, 8, "taken items", (void **)&taken));
  TSL_TRY(dp_knapsack_open(&o->card, c->problem, n, weights, values, 0, c->capacity + 1, &band));
  TSL_TRY(bench_best(
      &o->card, o->repeat,
      [=]() {
        const tsl_err failed = dp_knapsack_begin(band);
        return failed != TSL_OK ? failed : dp_knapsack_items(band, 0, n, NULL, c->keep);
      },
      &seconds));
  {
    const dp_bench_line line = {
        c->what,     (double)n * (double)c->capacity / seconds, "cells/s", c->goal, false, seconds,
        c->published};
    dp_bench_print(o, &line);
  }
  if (!c->keep) goto done;
  TSL_TRY(bench_best(
      &o->card, o->repeat,
      [=]() {
        int64_t item = n, capacity = c->capacity;
        return dp_knapsack_trace(band, &item, &capacity, taken);
      },
      &walk));
  {
    const dp_bench_line line = {"  its items", (double)n / walk, "items/s", 0, false, walk, ""};
    dp_bench_print(o, &line);
  }
done:
  dp_knapsack_close(&band);
  tsl_free(weights);
  tsl_free(values);
  tsl_free(taken);
  return err;
}

/* The engine with the definition of a cell, as a deck's recurrence uses it. */
static tsl_err bench_engine(dp_bench_options *o) {
  static const char what[] = "engine, LCS by definition 256K x 256K int32";
  tsl_err err = TSL_OK;
  const int64_t n = o->quick ? 1 << 15 : 1 << 18;
  enum { A, B, ABOVE, BELOW, EDGE, FINISHED, COUNT };
  tsl_gpu_buffer buffers[COUNT] = {};
  uint8_t *a = NULL;
  dp_engine_args<dp_lcs_cell> args = {};
  double seconds = 0;
  if (!dp_bench_wants(o, what)) return TSL_OK;
  TSL_TRY(tsl_alloc(n, 1, "letters", (void **)&a));
  for (int k = 0; k < COUNT; k++)
    TSL_TRY(tsl_gpu_reserve(&o->card.memory, &buffers[k], 4 * (n + 8), "engine"));
  for (int k = A; k <= B; k++) {
    dp_bench_letters(a, n, 4, (uint64_t)k + 1);
    TSL_CUDA_TRY(cudaMemcpy(buffers[k].data, a, (size_t)n, cudaMemcpyDefault));
  }
  args.data.a = (const uint8_t *)buffers[A].data;
  args.data.b = (const uint8_t *)buffers[B].data;
  args.above = (const int32_t *)buffers[ABOVE].data;
  args.below = (int32_t *)buffers[BELOW].data;
  args.edge = (int32_t *)buffers[EDGE].data;
  args.p0 = args.q0 = 1;
  args.rows = args.columns = (int)n;
  TSL_CUDA_TRY(cudaMemset(buffers[ABOVE].data, 0, (size_t)(4 * n)));
  TSL_CUDA_TRY(cudaMemset(buffers[EDGE].data, 0, (size_t)(4 * n + 4)));
  TSL_TRY(bench_best(
      &o->card, o->repeat,
      [&]() {
        const int width = dp_grid_width(&o->card, n);
        return width == DP_GRID_COLUMNS
                   ? dp_grid_launch<dp_lcs_cell, DP_GRID_COLUMNS>(&o->card, args,
                                                                  &buffers[FINISHED])
                   : dp_grid_launch<dp_lcs_cell, DP_GRID_FEW>(&o->card, args, &buffers[FINISHED]);
      },
      &seconds));
  {
    const dp_bench_line line = {
        what, (double)n * (double)n / seconds, "cells/s", 80e9, false, seconds, ""};
    dp_bench_print(o, &line);
  }
done:
  for (tsl_gpu_buffer &b : buffers) tsl_gpu_release(&o->card.memory, &b);
  tsl_free(a);
  return err;
}

static tsl_err bench_edit(dp_bench_options *o) {
  static const char what[] = "edit distance weights 2 3 4, DNA 512K x 512K";
  tsl_err err = TSL_OK;
  const int64_t n = o->quick ? 1 << 15 : 1 << 19;
  uint8_t *a = NULL, *b = NULL;
  dp_grid *band = NULL;
  double seconds = 0;
  if (!dp_bench_wants(o, what)) return TSL_OK;
  TSL_TRY(tsl_alloc(n, 1, "letters", (void **)&a));
  TSL_TRY(tsl_alloc(n, 1, "letters", (void **)&b));
  dp_bench_letters(a, n, 4, 1);
  dp_bench_letters(b, n, 4, 2);
  TSL_TRY(dp_grid_open_edit(&o->card, 2, 3, 4, a, n, b, n, n, 0, &band));
  TSL_TRY(bench_best(
      &o->card, o->repeat,
      [=]() {
        const tsl_err failed = dp_grid_begin(band);
        return failed != TSL_OK ? failed : dp_grid_tile(band, 0, n, NULL, NULL, false);
      },
      &seconds));
  {
    const dp_bench_line line = {what, (double)n * (double)n / seconds, "cells/s", 0, false, seconds,
                                ""};
    dp_bench_print(o, &line);
  }
done:
  dp_grid_close(&band);
  tsl_free(a);
  tsl_free(b);
  return err;
}

tsl_err dp_bench_rows(dp_bench_options *o) {
  static const knapsack_case cases[] = {
      {"knapsack 4000 x 4M, weights to 1000, bits", DP_KNAPSACK, 4000, 1 << 22, 1000, 1000, true,
       0.4e12, "none found for this card; one item a pass is bound to 0.53e12 by memory"},
      {"knapsack 4000 x 4M, weights to 1000, values", DP_KNAPSACK, 4000, 1 << 22, 1000, 1000, false,
       0, ""},
      {"knapsack 1000 x 4M, weights to 1M, bits", DP_KNAPSACK, 1000, 1 << 22, 1 << 20, 1000, true,
       0, ""},
      {"knapsack 2000 x 4M, 64 bits, bits", DP_KNAPSACK, 2000, 1 << 22, 1000, (int64_t)1 << 24,
       true, 0, ""},
      {"unbounded knapsack 200 x 4M, weights to 10000", DP_KNAPSACK_UNBOUNDED, 200, 1 << 22, 10000,
       100, false, 0, ""}};
  tsl_err err = TSL_OK;
  for (const knapsack_case &c : cases)
    if (dp_bench_wants(o, c.what)) TSL_TRY(bench_knapsack(o, &c));
  TSL_TRY(bench_engine(o));
  TSL_TRY(bench_edit(o));
done:
  return err;
}
