/* unit.plan.whatif: seconds of messages between nodes, the fits of Amdahl and Gustafson, cluster
 * files good and bad, ranks that are alike. */
#include "cluster.h"
#include "cost.h"
#include "network.h"
#include "plan_wave.h"
#include "scaling_fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static bool near(double a, double b) {
  return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b));
}

/* ---- network */

static void network(void **state) {
  const tsl_network n = {.ranks_per_node = 4, .latency = 1e-6, .bandwidth = 1e9};
  (void)state;
  assert_true(!tsl_network_crosses(&n, 0, 3) && tsl_network_crosses(&n, 3, 4));
  assert_true(near(tsl_network_message(&n, 1e9), 1 + 1e-6));
  assert_true(tsl_network_bcast(&n, 1, 1e9) == 0);
  assert_true(near(tsl_network_bcast(&n, 2, 8), 1e-6 + 8e-9));
  assert_true(near(tsl_network_bcast(&n, 5, 8), 3 * (1e-6 + 8e-9)));           /* a tree */
  assert_true(near(tsl_network_bcast(&n, 64, 1e9), 2 * (6e-6 + 63.0 / 64.0))); /* in parts */
}

static void slower_is_never_faster(void **state) {
  (void)state;
  for (int nodes = 1; nodes < 300; nodes++)
    for (double bytes = 0; bytes < 1e12; bytes = 10 * bytes + 1) {
      const tsl_network fast = {.ranks_per_node = 1, .latency = 1e-6, .bandwidth = 1e10};
      const tsl_network late = {.ranks_per_node = 1, .latency = 3e-6, .bandwidth = 1e10};
      const tsl_network thin = {.ranks_per_node = 1, .latency = 1e-6, .bandwidth = 1e9};
      const double best = tsl_network_bcast(&fast, nodes, bytes);
      assert_true(best <= tsl_network_bcast(&late, nodes, bytes));
      assert_true(best <= tsl_network_bcast(&thin, nodes, bytes));
      assert_true(tsl_network_bcast(&fast, nodes, bytes) <=
                  tsl_network_bcast(&fast, nodes + 1, bytes) * (1 + 1e-12));
    }
}

/* ---- fits */

static void fits_find_the_laws(void **state) {
  const int64_t nodes[] = {1, 2, 5, 16, 100};
  double amdahl[5], gustafson[5];
  (void)state;
  for (int k = 0; k < 5; k++) {
    const double n = (double)nodes[k];
    amdahl[k] = 7 * (0.03 + 0.97 / n);
    gustafson[k] = 7 / (n - 0.2 * (n - 1));
  }
  assert_true(fabs(tsl_fit_amdahl(nodes, amdahl, 5, 7) - 0.03) < 1e-12);
  assert_true(fabs(tsl_fit_gustafson(nodes, gustafson, 5, 7) - 0.2) < 1e-12);
  assert_true(isnan(tsl_fit_amdahl(nodes, amdahl, 1, 7)));
  assert_true(isnan(tsl_fit_gustafson(nodes, gustafson, 1, 7)));
}

/* ---- files */

static tsl_err bind(const char *text, tsl_deck **file, tsl_cluster *cluster) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_deck_parse(text, strlen(text), "far.yaml", NULL, 0, file));
  TSL_TRY(tsl_cluster_bind(*file, cluster));
done:
  return err;
}

#define NETWORK "  network: {latency: 1e-6, bandwidth: 1e10}\n"

static void reads(void **state) {
  tsl_deck *file = NULL;
  tsl_cluster c;
  (void)state;
  assert_int_equal(bind("cluster:\n  nodes: [1, 3]\n  devices:\n    - {name: A, count: 4}\n"
                        "    - {name: B, like: A, speed: 2, figures: {memory: 3}}\n" NETWORK,
                        &file, &c),
                   TSL_OK);
  assert_int_equal(c.nodes.n, 2);
  assert_int_equal(c.nodes.values[1], 3);
  assert_int_equal(tsl_cluster_ranks(&c), 5);
  assert_string_equal(tsl_cluster_devices(&c)[1].like, "A");
  assert_true(tsl_cluster_devices(&c)[0].like == NULL && tsl_cluster_devices(&c)[0].speed == 1);
  assert_true(tsl_cluster_devices(&c)[0].figures.memory == 1);
  assert_true(tsl_cluster_devices(&c)[1].figures.memory == 3);
  assert_true(c.network.latency == 1e-6 && c.network.bandwidth == 1e10);
  tsl_deck_destroy(&file);
}

static void refuses(void **state) {
  static const char *const cases[][2] = {
      {"cluster:\n  nodes: 0\n  devices: [{name: A}]\n" NETWORK, "far.yaml:2: cluster.nodes"},
      {"cluster:\n  nodes: []\n  devices: [{name: A}]\n" NETWORK, "far.yaml:2: cluster.nodes"},
      {"cluster:\n  nodes: [2, -1]\n  devices: [{name: A}]\n" NETWORK, "far.yaml:2: cluster.nodes"},
      {"cluster:\n  devices: [{name: A}]\n" NETWORK, "missing key 'nodes'"},
      {"cluster:\n  nodes: 1\n" NETWORK, "missing key 'devices'"},
      {"cluster:\n  nodes: 1\n  devices: []\n" NETWORK, "far.yaml:3: cluster.devices"},
      {"cluster:\n  nodes: 1\n  devices: [{count: 2}]\n" NETWORK, "missing key 'name'"},
      {"cluster:\n  nodes: 1\n  devices: [{name: A, count: 0}]\n" NETWORK, "far.yaml:3: "},
      {"cluster:\n  nodes: 1\n  devices: [{name: A}]\n", "missing key 'network'"},
      {"cluster:\n  nodes: 1\n  devices: [{name: A}]\n  network: {bandwidth: 1e9}\n",
       "missing key 'latency'"},
      {"cluster:\n  nodes: 1\n  devices: [{name: A}]\n  network:\n    latency: -1e-6\n"
       "    bandwidth: 1e9\n",
       "far.yaml:5: cluster.network.latency"},
      {"cluster:\n  nodes: 1\n  devices: [{name: A}]\n  network: {latency: 0, bandwidth: 0}\n",
       "far.yaml:4: cluster.network.bandwidth"},
      {"cluster:\n  nodes: 1\n  device: [{name: A}]\n" NETWORK, "did you mean 'devices'?"},
      {"claster:\n  nodes: 1\n", "did you mean 'cluster'?"},
      {"cluster:\n  nodes: 1\n  devices: [{name: A, speed: 2}]\n" NETWORK, "name it by `like`"},
      {"cluster:\n  nodes: 1\n  devices: [{name: A, figures: {memory: 2}}]\n" NETWORK, "`like`"},
      {"cluster:\n  nodes: 1048576\n  devices: [{name: A, count: 1000}]\n" NETWORK, "at most"},
  };
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    tsl_deck *file = NULL;
    tsl_cluster c;
    assert_int_equal(bind(cases[k][0], &file, &c), TSL_ERR_INPUT);
    if (strstr(tsl_err_message(), cases[k][1]) == NULL)
      fail_msg("case %zu: '%s' does not have '%s'", k, tsl_err_message(), cases[k][1]);
    tsl_deck_destroy(&file);
  }
}

/* ---- ranks that are alike */

static void alike(void **state) {
  tsl_speed speeds[6] = {{.c = {{0}}}};
  bool left_out[6] = {false, false, false, false, true, false};
  const tsl_cost cost = {.n_ranks = 6, .speeds = speeds, .left_out = left_out};
  int32_t like[6];
  (void)state;
  speeds[1].c[0][3] = speeds[3].c[0][3] = 2;
  speeds[5].c[1][TSL_SETUP] = 1;
  tsl_cost_like(&cost, like);
  const int32_t expected[6] = {0, 1, 0, 1, 4, 5};
  assert_memory_equal(like, expected, sizeof like);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(network),
                                     cmocka_unit_test(slower_is_never_faster),
                                     cmocka_unit_test(fits_find_the_laws),
                                     cmocka_unit_test(reads),
                                     cmocka_unit_test(refuses),
                                     cmocka_unit_test(alike)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
