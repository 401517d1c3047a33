/* Ranks are sorted by the class of their device and by their seconds, and the median replaces those
 * near it. */
#include "device_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct member {
  char class[TSL_COST_KEY]; /* equal for equal devices */
  double seconds;           /* of all units */
  tsl_speed *speed;
} member;

/* A key is host|name|id|driver|threads|ranks|...: all but the first and the third word. */
static void tell_class(const char *key, char class[TSL_COST_KEY]) {
  const char *words[4] = {key};
  for (int k = 1; k < 4; k++) {
    words[k] = words[k - 1] + strcspn(words[k - 1], "|");
    words[k] += *words[k] == '|';
  }
  (void)snprintf(class, TSL_COST_KEY, "%.*s%s", (int)(words[2] - words[1]), words[1], words[3]);
}

/* Of equal ones by the coefficients, never by the rank. */
static int by_class(const void *a, const void *b) {
  const member *x = a, *y = b;
  const int order = strcmp(x->class, y->class);
  if (order != 0) return order;
  if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
  return memcmp(x->speed, y->speed, sizeof *x->speed);
}

static tsl_speed mean_speed(const tsl_speed *a, const tsl_speed *b) {
  tsl_speed mean;
  for (int kind = 0; kind < TSL_MAX_KINDS; kind++)
    for (int k = 0; k < TSL_N_TERMS; k++) mean.c[kind][k] = 0.5 * (a->c[kind][k] + b->c[kind][k]);
  return mean;
}

/* Of a list in order of seconds; where nobody is near the middle, each half by itself. */
static void pool(const member *list, int n) {
  if (n < 2 || list[n / 2].seconds <= 0) return; /* nothing is known of the middle */
  const member *a = &list[(n - 1) / 2], *b = &list[n / 2];
  const double middle = 0.5 * (a->seconds + b->seconds);
  const tsl_speed speed = mean_speed(a->speed, b->speed);
  int lo = 0, hi = n;
  while (lo < n && list[lo].seconds < (1 - TSL_NOISE) * middle) lo++;
  while (hi > 0 && list[hi - 1].seconds > (1 + TSL_NOISE) * middle) hi--;
  if (hi <= lo) lo = hi = n / 2;
  for (int k = lo; k < hi; k++) *list[k].speed = speed;
  pool(list, lo);
  pool(list + hi, n - hi);
}

tsl_err tsl_device_class_pool(const tsl_unit *units, int64_t n_units, tsl_cost *cost) {
  tsl_err err = TSL_OK;
  const int n = cost->n_ranks;
  member *list = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *list, "equal devices", (void **)&list));
  for (int r = 0; r < n; r++) {
    list[r].speed = &cost->speeds[r];
    tell_class(tsl_cost_key(cost, r), list[r].class);
    for (int64_t u = 0; u < n_units; u++) list[r].seconds += tsl_cost_mean(cost, r, &units[u]);
  }
  qsort(list, (size_t)n, sizeof *list, by_class);
  for (int first = 0, end; first < n; first = end) {
    for (end = first + 1; end < n && strcmp(list[first].class, list[end].class) == 0;) end++;
    pool(list + first, end - first);
  }
done:
  tsl_free(list);
  return err;
}
