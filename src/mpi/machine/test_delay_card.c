/* The compute thread sleeps by the factor of test_delay.h and adds the time slept to the parts. */
#include "test_delay_card.h"

#include "clock.h"
#include "test_delay.h"

/* Each part gets what it slept by its share of the time, or the same if none has taken any. */
static void spread(double slept, double used, tsl_part *parts, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    parts[k].seconds += used > 0 ? slept * parts[k].seconds / used : slept / (double)n;
}

tsl_err tsl_test_delay(const tsl_executor *executor, int64_t units, tsl_part *parts, int64_t n) {
  tsl_err err = TSL_OK;
  double factor = 1, used = 0;
  if (executor->placement->device.kind == TSL_CPU) return TSL_OK;
  TSL_TRY(tsl_test_delay_factor(&factor));
  for (int64_t k = 0; k < n; k++) used += parts[k].seconds;
  spread(tsl_test_delay_sleep(used, factor, units), used, parts, n);
done:
  return err;
}

tsl_err tsl_test_delay_turn(double start) {
  tsl_err err = TSL_OK;
  double factor = 1;
  TSL_TRY(tsl_test_delay_factor(&factor));
  (void)tsl_test_delay_sleep(tsl_now() - start, factor, 1);
done:
  return err;
}
