/* Ranks are sorted by the class of their device, or by their key, and by their seconds; the median
 * replaces those near it, or is the one that the file keeps. */
#include "device_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct member {
  char class[TSL_COST_KEY]; /* equal for equal devices, or the whole key */
  double seconds;           /* of all units */
  tsl_speed *speed;
  int rank;
} member;

typedef void class_of_key(const char *key, char class[TSL_COST_KEY]);

/* A key is host|name|id|driver|threads|ranks|...: all but the first and the third word. */
static void tell_class(const char *key, char class[TSL_COST_KEY]) {
  const char *words[4] = {key};
  for (int k = 1; k < 4; k++) {
    words[k] = words[k - 1] + strcspn(words[k - 1], "|");
    words[k] += *words[k] == '|';
  }
  (void)snprintf(class, TSL_COST_KEY, "%.*s%s", (int)(words[2] - words[1]), words[1], words[3]);
}

static void whole_key(const char *key, char class[TSL_COST_KEY]) {
  (void)snprintf(class, TSL_COST_KEY, "%s", key);
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

/* All ranks in order; free with tsl_free. */
static tsl_err list_members(const tsl_unit *units, int64_t n_units, const tsl_cost *cost,
                            class_of_key *tell, member **out) {
  tsl_err err = TSL_OK;
  const int n = cost->n_ranks;
  TSL_TRY(tsl_alloc(n, sizeof **out, "equal devices", (void **)out));
  for (int r = 0; r < n; r++) {
    member *m = &(*out)[r];
    m->rank = r;
    m->speed = &cost->speeds[r];
    tell(tsl_cost_key(cost, r), m->class);
    for (int64_t u = 0; u < n_units; u++) m->seconds += tsl_cost_mean(cost, r, &units[u]);
  }
  qsort(*out, (size_t)n, sizeof **out, by_class);
done:
  return err;
}

static int class_end(const member *list, int n, int first) {
  int end = first + 1;
  while (end < n && strcmp(list[first].class, list[end].class) == 0) end++;
  return end;
}

tsl_err tsl_device_class_pool(const tsl_unit *units, int64_t n_units, tsl_cost *cost) {
  tsl_err err = TSL_OK;
  const int n = cost->n_ranks;
  member *list = NULL;
  TSL_TRY(list_members(units, n_units, cost, tell_class, &list));
  for (int first = 0, end; first < n; first = end) {
    end = class_end(list, n, first);
    pool(list + first, end - first);
  }
done:
  tsl_free(list);
  return err;
}

tsl_err tsl_device_class_middle(const tsl_unit *units, int64_t n_units, const tsl_cost *cost,
                                int *middle) {
  tsl_err err = TSL_OK;
  const int n = cost->n_ranks;
  member *list = NULL;
  TSL_TRY(list_members(units, n_units, cost, whole_key, &list));
  for (int first = 0, end; first < n; first = end) {
    end = class_end(list, n, first);
    for (int k = first; k < end; k++) middle[list[k].rank] = list[(first + end - 1) / 2].rank;
  }
done:
  tsl_free(list);
  return err;
}
