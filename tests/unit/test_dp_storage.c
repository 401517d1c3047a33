/* unit.dp.storage: the loops of `tesela bench dp-cpu` over tables stored in either order find what
 * loops from the definition find. */
#include "must.h"

#include "bench_dp_storage.h"

enum { N = 97 };

/** As the benchmark makes them up. */
static int64_t weight(int64_t k) {
  return 1 + k * 7919 % 1000;
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/** The best sum of a way from the first column to the last, straight on or from the row above. */
static int64_t columns(void) {
  static int64_t best[N][N];
  for (int64_t j = 1; j < N; j++)
    for (int64_t i = 1; i < N; i++)
      best[i][j] = larger(best[i][j - 1], best[i - 1][j - 1] + weight(i) - 500);
  return best[N - 1][N - 1];
}

static int64_t subsequence(void) {
  static int64_t best[N][N];
  for (int64_t i = 1; i < N; i++)
    for (int64_t j = 1; j < N; j++)
      best[i][j] = weight(i) % 4 == weight(N - 1 - j) % 4 ? best[i - 1][j - 1] + 1
                                                          : larger(best[i - 1][j], best[i][j - 1]);
  return best[N - 1][N - 1];
}

static int64_t chain(void) {
  static int64_t best[N][N];
  for (int64_t i = N - 1; i >= 0; i--)
    for (int64_t j = i + 1; j < N; j++) {
      best[i][j] = INT64_MAX;
      for (int64_t k = i; k < j; k++) {
        const int64_t cost =
            best[i][k] + best[k + 1][j] + weight(i) * weight(k + 1) * weight(j + 1);
        if (cost < best[i][j]) best[i][j] = cost;
      }
    }
  return best[0][N - 1];
}

static void same_by_definition(void **state) {
  static int64_t (*const by_definition[DP_N_STORED])(void) = {columns, subsequence, chain};
  (void)state;
  for (int k = 0; k < DP_N_STORED; k++) {
    const dp_storage_order order = (dp_storage_order)k;
    dp_storage_case about = dp_storage_case_of(order, true);
    about.n = N;
    for (int by_rows = 0; by_rows < 2; by_rows++) {
      double seconds = -1;
      int64_t goal = 0;
      MUST(dp_storage_run(order, &about, by_rows != 0, 2, &seconds, &goal));
      assert_int_equal(goal, by_definition[k]());
      assert_true(seconds >= 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_by_definition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
