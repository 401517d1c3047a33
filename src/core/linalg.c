/* One table, which the thread that opened it may use. */
#include "linalg.h"

#include <stddef.h>

static _Thread_local const tsl_linalg *used;

void tsl_linalg_open(const tsl_linalg *table) {
  tsl_linalg_close();
  used = table;
}

void tsl_linalg_close(void) {
  if (used != NULL) used->close();
  used = NULL;
}

const tsl_linalg *tsl_linalg_used(void) {
  return used;
}
