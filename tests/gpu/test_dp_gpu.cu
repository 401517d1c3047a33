/* gpu.dp.*: the engines of dp on a card against plain loops on the host.
 *   test_dp_gpu bits|affine|sides|interval|rows|engine|sweep|all [--small]
 *   test_dp_gpu bench [options of `tesela bench dp`]
 * --small: fewer and smaller cases, for sanitizers. Exit status 77: no card. Bitwise equality. */
#include "test_dp_gpu.cuh"

#include "dp_bench.cuh"

long n_checks, n_failures;
bool small_sizes;
dp_card card;

static tsl_err run(const char *what) {
  static const struct {
    const char *name;
    tsl_err (*test)(void);
  } tests[] = {{"bits", test_bits},         {"affine", test_affine}, {"sides", test_sides},
               {"interval", test_interval}, {"rows", test_rows},     {"engine", test_engine},
               {"sweep", test_sweep}};
  tsl_err err = TSL_OK;
  int ran = 0;
  for (const auto &t : tests) {
    if (strcmp(what, "all") != 0 && strcmp(what, t.name) != 0) continue;
    ran++;
    const long checks = n_checks, failures = n_failures;
    TSL_TRY(t.test());
    printf("%s: %ld checks, %ld failures\n", t.name, n_checks - checks, n_failures - failures);
  }
  if (ran == 0)
    TSL_FAIL(TSL_ERR_USAGE,
             "usage: test_dp_gpu bits|affine|sides|interval|rows|engine|sweep|all [--small]");
done:
  return err;
}

int main(int argc, char **argv) {
  tsl_err err = TSL_OK;
  int cards = 0;
  if (cudaGetDeviceCount(&cards) != cudaSuccess || cards == 0) {
    printf("SKIP: no card\n");
    return 77;
  }
  if (argc > 1 && strcmp(argv[1], "bench") == 0) {
    err = dp_bench(argc - 1, argv + 1);
    if (err != TSL_OK) printf("FAIL: %s\n%s", tsl_err_message(), tsl_err_places());
    return err == TSL_OK ? 0 : 1;
  }
  small_sizes = argc > 2 && strcmp(argv[2], "--small") == 0;
  TSL_CUDA_TRY(cudaSetDevice(0));
  TSL_TRY(dp_card_open(0, &card));
  TSL_TRY(run(argc > 1 ? argv[1] : "all"));
done:
  dp_card_close(&card);
  if (err != TSL_OK) printf("FAIL: %s\n%s", tsl_err_message(), tsl_err_places());
  printf("%s: %ld checks, %ld failures\n", err == TSL_OK && n_failures == 0 ? "PASS" : "FAIL",
         n_checks, n_failures);
  return err == TSL_OK && n_failures == 0 ? 0 : 1;
}
