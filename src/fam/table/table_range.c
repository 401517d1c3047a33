/* Which frames of a file: all, FIRST:LAST or FIRST:LAST:STEP. */
#include "table_range.h"

#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

/* A number, or what stands for none. @return false: another word */
static bool take_number(const char **at, int64_t none, int64_t *value) {
  char *end = NULL;
  *value = none;
  if (**at == ':' || **at == '\0') return true;
  if (**at < '0' || **at > '9') return false;
  *value = strtoll(*at, &end, 10);
  *at = end;
  return true;
}

static bool take_colon(const char **at) {
  const bool there = **at == ':';
  *at += there;
  return there;
}

tsl_err table_range_parse(const char *which, int64_t n, table_range *r) {
  tsl_err err = TSL_OK;
  const char *at = which;
  *r = (table_range){1, n, 1};
  if (strcasecmp(which, "all") == 0) goto done;
  bool good = take_number(&at, 1, &r->first) && take_colon(&at) && take_number(&at, n, &r->last);
  if (good && take_colon(&at)) good = *at != '\0' && take_number(&at, 0, &r->step);
  if (!good || *at != '\0')
    TSL_FAIL(TSL_ERR_INPUT, "all, FIRST:LAST or FIRST:LAST:STEP is expected, numbers from 1");
  if (r->first < 1 || r->last < r->first || r->last > n || r->step < 1)
    TSL_FAIL(TSL_ERR_INPUT, "the file has frames 1 to %lld", (long long)n);
done:
  return err;
}
