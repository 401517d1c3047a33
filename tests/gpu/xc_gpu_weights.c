/* gpu.xc.weights: the step "xc.weights" of assist.h on a card beside the host's threads. Both do
 * the same operations in the same order, so all bits are the same: of Becke's cells and SSF's, of
 * every adjustment, with a cut and without. */
#include "test_xc_gpu.h"

#include "assist.h"
#include "clock.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 113, RANGE = 4096 };

static const xc_atom water[] = {{.z = 8, .at = {0, 0, 0.2219}},
                                {.z = 1, .at = {0, 1.4305, -0.8874}},
                                {.z = 1, .at = {0, -1.4305, -0.8874}}};
/* Radii that differ by up to 6.7 times. */
static const xc_atom uneven[] = {
    {.z = 26, .at = {0.1, 0.2, 0.3}},   {.z = 1, .at = {2.9, 0.3, -0.4}},
    {.z = 15, .at = {-3.1, 2.2, 0.7}},  {.z = 1, .at = {-4.2, 4.1, 2.0}},
    {.z = 37, .at = {0.5, -5.5, -2.5}}, {.z = 8, .at = {0.2, -1.1, 3.6}}};

static tsl_err on_host(void *context, int slot, int64_t lo, int64_t hi) {
  const xc_weighing *w = context;
  (void)slot;
  return xc_partition_weights(w->partition, w->grid, lo, hi);
}

static tsl_err same(const char *what, const xc_grid_rule *rule, const xc_grid *a,
                    const xc_grid *b) {
  tsl_err err = TSL_OK;
  int64_t others = 0, none = 0;
  double worst = 0;
  for (int64_t i = 0; i < a->n; i++) {
    others += memcmp(&a->w[i], &b->w[i], sizeof a->w[i]) != 0;
    none += b->w[i] == 0;
    worst = fmax(worst, fabs(a->w[i] - b->w[i]));
  }
  if (others > 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "%s, %s, adjust %s, cut %g: %lld of %lld weights are others, by %.3g",
             what, xc_scheme_words[rule->scheme], xc_adjust_words[rule->adjust], rule->cut,
             (long long)others, (long long)a->n, worst);
  if (rule->cut > 0 && a->n_atoms == MANY && none == 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "%s: no weight is 0, and nothing is seen of the cut", what);
done:
  return err;
}

static tsl_err one(const char *what, const xc_grid_rule *rule, const xc_atom *atoms, int64_t n,
                   bool tell) {
  tsl_err err = TSL_OK;
  xc_partition *partition = NULL;
  xc_grid mine = {.n = 0}, truth = {.n = 0};
  bool taken = false;
  TSL_TRY(xc_partition_create(rule, atoms, n, &partition));
  TSL_TRY(xc_grid_points(rule, atoms, n, &mine));
  TSL_TRY(xc_grid_points(rule, atoms, n, &truth));
  const double begin = tsl_now();
  TSL_TRY(tsl_assist("xc.weights", &(xc_weighing){partition, &mine}, &taken));
  const double middle = tsl_now();
  if (!taken) TSL_FAIL(TSL_ERR_DEVICE, "%s: the card does not take the weights", what);
  TSL_TRY(tsl_parallel(truth.n, RANGE, on_host, &(xc_weighing){partition, &truth}));
  if (tell)
    printf("%s, %s: %lld points of %lld atoms, %.2f ms with moves; %d threads of the host %.1f\n",
           what, xc_scheme_words[rule->scheme], (long long)mine.n, (long long)n,
           1e3 * (middle - begin), tsl_parallel_slots(), 1e3 * (tsl_now() - middle));
  TSL_TRY(same(what, rule, &mine, &truth));
done:
  xc_partition_destroy(&partition);
  xc_grid_clear(&mine);
  xc_grid_clear(&truth);
  return err;
}

/* As large and as dense as taxol. */
static void make_many(xc_atom atoms[MANY]) {
  static const int elements[] = {6, 1, 8, 1, 7};
  for (int a = 0; a < MANY; a++) {
    const int cell[3] = {a % 5, a / 5 % 5, a / 25};
    atoms[a] = (xc_atom){.z = elements[a % 5]};
    for (int x = 0; x < 3; x++) atoms[a].at[x] = 2.8 * cell[x] + 0.3 * cos(7.0 * a + 2.0 * x);
  }
}

/* Too little memory: nothing is taken, and nothing touched. */
static tsl_err test_small_card(const tsl_device *card, const xc_grid_rule *rule) {
  tsl_err err = TSL_OK;
  tsl_device small = *card;
  xc_partition *partition = NULL;
  xc_grid grid = {.n = 0}, before = {.n = 0};
  bool taken = true;
  small.memory_limit = 1 << 16, small.memory_share = 0;
  tsl_assist_open(tsl_gpu_assistants, &small);
  TSL_TRY(xc_partition_create(rule, water, 3, &partition));
  TSL_TRY(xc_grid_points(rule, water, 3, &grid));
  TSL_TRY(xc_grid_points(rule, water, 3, &before));
  TSL_TRY(tsl_assist("xc.weights", &(xc_weighing){partition, &grid}, &taken));
  if (taken || memcmp(grid.block, before.block, (size_t)grid.n * 4 * sizeof(double)) != 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "64 KiB of the card: taken %d, or points were touched", taken);
done:
  xc_partition_destroy(&partition);
  xc_grid_clear(&grid);
  xc_grid_clear(&before);
  return err;
}

tsl_err xc_test_weights(const tsl_device *card) {
  tsl_err err = TSL_OK;
  xc_grid_rule rule;
  xc_atom many[MANY];
  make_many(many);
  TSL_TRY(tsl_parallel_open(tsl_usable_cores()));
  tsl_assist_open(tsl_gpu_assistants, card);
  TSL_TRY(xc_grid_preset("coarse", &rule));
  for (int kind = 0; kind < 2 * XC_N_SCHEMES * XC_N_ADJUST; kind++) {
    rule.scheme = kind / 2 / XC_N_ADJUST, rule.adjust = kind / 2 % XC_N_ADJUST;
    rule.cut = kind % 2 == 0 ? 0 : 1e-14;
    TSL_TRY(one("an atom", &rule, water, 1, false));
    TSL_TRY(one("water", &rule, water, 3, false));
    TSL_TRY(one("six atoms", &rule, uneven, 6, false));
    TSL_TRY(one("many atoms", &rule, many, MANY, false));
  }
  TSL_TRY(xc_grid_preset("default", &rule));
  for (int again = 0; again < 4; again++) {
    rule.scheme = again % 2 == 0 ? XC_SSF : XC_BECKE;
    TSL_TRY(one("as taxol", &rule, many, MANY, true));
  }
  TSL_TRY(test_small_card(card, &rule));
done:
  tsl_assist_open(NULL, NULL);
  tsl_parallel_close();
  return err;
}
