/* Measurements of the triangle: matrix chain, search tree, Nussinov. */
#include "dp_bench.cuh"

/* Box of all posts, timed; *walk: the solution. */
static tsl_err dp_bench_interval_run(dp_bench_options *o, const dp_interval_input *in, double *box,
                                     double *walk) {
  tsl_err err = TSL_OK;
  dp_interval *w = NULL;
  int64_t *first = NULL;
  const int64_t lo[2] = {0, 0};
  int64_t hi[2] = {0, 0}, posts = 0;
  TSL_TRY(dp_interval_open(&o->card, in, &w));
  posts = hi[0] = hi[1] = dp_interval_posts(w);
  TSL_TRY(tsl_alloc(2 * posts, 8, "solution", (void **)&first));
  TSL_TRY(bench_best(
      &o->card, o->repeat,
      [=]() {
        const tsl_err failed = dp_interval_begin(w);
        return failed != TSL_OK ? failed : dp_interval_box(w, lo, hi);
      },
      box));
  TSL_TRY(bench_best(
      &o->card, o->repeat, [=]() { return dp_interval_trace(w, first, first + posts); }, walk));
done:
  dp_interval_close(&w);
  tsl_free(first);
  return err;
}

static void print(const dp_bench_options *o, const char *what, int64_t n, double box, double walk,
                  double goal, const char *published) {
  const double splits = (double)n * (double)n * (double)n / 6;
  char name[80];
  const dp_bench_line line = {what, splits / box, "splits/s", goal, false, box, published};
  dp_bench_print(o, &line);
  (void)snprintf(name, sizeof name, "%s, solution", what);
  const dp_bench_line back = {name, (double)n / walk, "splits/s", 0, false, walk, ""};
  dp_bench_print(o, &back);
}

static tsl_err bench_chain(dp_bench_options *o, const char *what, int64_t most, double goal) {
  tsl_err err = TSL_OK;
  const int64_t n = o->quick ? 2048 : 16384;
  int64_t *dims = NULL;
  dp_interval_input in = {};
  double box = 0, walk = 0;
  if (!dp_bench_wants(o, what)) return TSL_OK;
  TSL_TRY(tsl_alloc(n + 1, 8, "dimensions", (void **)&dims));
  for (int64_t k = 0; k <= n; k++) dims[k] = 1 + (k * 2654435761LL) % most;
  in.problem = DP_MATRIX_CHAIN;
  in.n = n;
  in.dims = dims;
  TSL_TRY(dp_bench_interval_run(o, &in, &box, &walk));
  print(o, what, n, box, walk, goal, "");
done:
  tsl_free(dims);
  return err;
}

static tsl_err bench_tree(dp_bench_options *o) {
  static const char what[] = "search tree n = 16384";
  tsl_err err = TSL_OK;
  const int64_t n = o->quick ? 2048 : 16384;
  int64_t *sums = NULL, *gaps = NULL;
  dp_interval_input in = {};
  double box = 0, walk = 0;
  if (!dp_bench_wants(o, what)) return TSL_OK;
  TSL_TRY(tsl_alloc(n + 3, 8, "weights", (void **)&sums));
  TSL_TRY(tsl_alloc(n + 1, 8, "weights", (void **)&gaps));
  for (int64_t k = 1; k <= n + 1; k++)
    sums[k + 1] = sums[k] + (k <= n ? 1 + (k * 2654435761LL) % 1000 : 0);
  in.problem = DP_SEARCH_TREE;
  in.n = n;
  in.high = sums; /* of keys below a post; low: up to it */
  in.low = sums + 1;
  in.base = gaps;
  TSL_TRY(dp_bench_interval_run(o, &in, &box, &walk));
  print(o, what, n, box, walk, 0, "");
done:
  tsl_free(sums);
  tsl_free(gaps);
  return err;
}

static tsl_err bench_nussinov(dp_bench_options *o) {
  static const char what[] = "Nussinov n = 30000";
  tsl_err err = TSL_OK;
  const int64_t n = o->quick ? 4096 : 30000;
  uint8_t *letters = NULL;
  dp_interval_input in = {};
  double box = 0, walk = 0;
  if (!dp_bench_wants(o, what)) return TSL_OK;
  TSL_TRY(tsl_alloc(n, 1, "letters", (void **)&letters));
  dp_bench_letters(letters, n, 4, 3);
  in.problem = DP_NUSSINOV;
  in.n = n;
  in.letters = letters;
  in.pairs[0] = 1u << 3;
  in.pairs[1] = 1u << 2;
  in.pairs[2] = 1u << 1 | 1u << 3;
  in.pairs[3] = 1u << 0 | 1u << 2;
  in.loop = 3;
  TSL_TRY(dp_bench_interval_run(o, &in, &box, &walk));
  {
    const dp_bench_line line = {
        what, box, "s", 3, true, box, "8.62 s A100, 10.72 s EPYC 9654 (16-bit, plosone study)"};
    dp_bench_print(o, &line);
  }
  print(o, "Nussinov n = 30000, rate", n, box, walk, 0, "");
done:
  tsl_free(letters);
  return err;
}

tsl_err dp_bench_interval(dp_bench_options *o) {
  tsl_err err = TSL_OK;
  TSL_TRY(bench_chain(o, "matrix chain n = 16384, below 2^53", 1000, 1e12));
  TSL_TRY(bench_chain(o, "matrix chain n = 16384, 64 bits", 40000, 1e12));
  TSL_TRY(bench_tree(o));
  TSL_TRY(bench_nussinov(o));
done:
  return err;
}
