/* One table and its device, which the thread that opened it may use. */
#include "assist.h"

#include <string.h>

static _Thread_local struct {
  const tsl_assistant *table;
  const struct tsl_device *device;
} used;

void tsl_assist_open(const tsl_assistant *table, const struct tsl_device *device) {
  used.table = table, used.device = device;
}

tsl_err tsl_assist(const char *step, void *arguments, bool *taken) {
  *taken = false;
  for (const tsl_assistant *a = used.table; a != NULL && a->step != NULL; a++)
    if (strcmp(a->step, step) == 0) return a->take(used.device, arguments, taken);
  return TSL_OK;
}
