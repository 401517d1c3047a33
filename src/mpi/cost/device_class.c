/* Ranks are sorted by the key of their device, and the median of the measurements that agree
 * replaces each of them. */
#include "device_class.h"

#include <stdlib.h>
#include <string.h>

/* ---- kinds of devices: a key is host|name|id|driver|threads|ranks|... */

enum { HOST, NAME, ID, DRIVER };

/* Word number k of a key, and its length. */
static const char *word(const char *key, int k, size_t *length) {
  for (; k > 0 && *key != '\0'; k--) {
    key += strcspn(key, "|");
    key += *key == '|';
  }
  *length = strcspn(key, "|");
  return key;
}

static int compare_words(const char *a, const char *b, int k) {
  size_t m, n;
  const char *x = word(a, k, &m), *y = word(b, k, &n);
  const int order = memcmp(x, y, m < n ? m : n);
  return order != 0 ? order : (m > n) - (m < n);
}

/* A rank by its key. */
typedef struct holder {
  const char *key;
  int rank, sharers; /* ranks on its device */
} holder;

static int by_device(const void *a, const void *b) {
  const holder *x = a, *y = b;
  const int order = compare_words(x->key, y->key, HOST);
  return order != 0 ? order : compare_words(x->key, y->key, ID);
}

static int by_kind(const void *a, const void *b) {
  const holder *x = a, *y = b;
  size_t m, n;
  int order = compare_words(x->key, y->key, NAME);
  if (order == 0) order = strcmp(word(x->key, DRIVER, &m), word(y->key, DRIVER, &n));
  return order != 0 ? order : (x->sharers > y->sharers) - (x->sharers < y->sharers);
}

/* End of those of a sorted list that are equal to the first. */
static int end_of_equals(const holder *list, int first, int n,
                         int (*compare)(const void *, const void *)) {
  int end = first + 1;
  while (end < n && compare(&list[first], &list[end]) == 0) end++;
  return end;
}

tsl_err tsl_device_class_kinds(const char *keys, size_t key_bytes, int n_ranks, int *kind) {
  tsl_err err = TSL_OK;
  holder *list = NULL;
  TSL_TRY(tsl_alloc(n_ranks, sizeof *list, "kinds of devices", (void **)&list));
  for (int r = 0; r < n_ranks; r++) list[r] = (holder){keys + (size_t)r * key_bytes, r, 0};
  qsort(list, (size_t)n_ranks, sizeof *list, by_device);
  for (int first = 0, end; first < n_ranks; first = end) {
    end = end_of_equals(list, first, n_ranks, by_device);
    for (int k = first; k < end; k++) list[k].sharers = end - first;
  }
  qsort(list, (size_t)n_ranks, sizeof *list, by_kind);
  for (int first = 0, end; first < n_ranks; first = end) {
    int lowest = list[first].rank;
    end = end_of_equals(list, first, n_ranks, by_kind);
    for (int k = first; k < end; k++) lowest = list[k].rank < lowest ? list[k].rank : lowest;
    for (int k = first; k < end; k++) kind[list[k].rank] = lowest;
  }
done:
  tsl_free(list);
  return err;
}

/* ---- what a run takes */

/* All units of each kind as so many mean ones. */
typedef struct work {
  tsl_unit mean[TSL_MAX_KINDS];
  double n[TSL_MAX_KINDS];
} work;

static void sum_work(const tsl_unit *units, int64_t n_units, work *w) {
  *w = (work){.n = {0}};
  for (int64_t u = 0; u < n_units; u++) w->n[units[u].kind]++;
  for (int64_t u = 0; u < n_units; u++) {
    tsl_unit *mean = &w->mean[units[u].kind];
    const double n = w->n[units[u].kind];
    mean->kind = units[u].kind;
    mean->flops += units[u].flops / n;
    mean->bytes += units[u].bytes / n;
    mean->count += units[u].count / n;
    mean->setup += units[u].setup / n;
  }
}

/* Seconds of all units on a rank alone, a mean run. */
static double run_seconds(const tsl_cost *cost, int rank, const work *w) {
  double sum = 0;
  for (int kind = 0; kind < TSL_MAX_KINDS; kind++)
    if (w->n[kind] > 0) sum += w->n[kind] * tsl_cost_mean(cost, rank, &w->mean[kind]);
  return sum;
}

/* ---- the middle */

/* A rank by one figure; of equal ones by the coefficients, never by its number. */
typedef struct member {
  int rank;
  double figure;
  const double *c; /* [TSL_N_COEFFICIENTS]; NULL: the figure is all */
} member;

static int by_figure(const void *a, const void *b) {
  const member *x = a, *y = b;
  if (x->figure != y->figure) return x->figure < y->figure ? -1 : 1;
  for (int k = 0; x->c != NULL && k < TSL_N_COEFFICIENTS; k++)
    if (x->c[k] != y->c[k]) return x->c[k] < y->c[k] ? -1 : 1;
  return 0;
}

static double middle(const member *list, int n) {
  return 0.5 * (list[(n - 1) / 2].figure + list[n / 2].figure);
}

/* Coefficients of one kind of units for all of the list. */
static void pool_kind(const work *w, int kind, const member *list, int n, member *room,
                      tsl_cost *cost) {
  double c[TSL_N_COEFFICIENTS];
  for (int k = 0; k < n; k++) {
    const int r = list[k].rank;
    room[k] = (member){r, tsl_cost_seconds(cost, r, &w->mean[kind]), cost->speeds[r].c[kind]};
  }
  qsort(room, (size_t)n, sizeof *room, by_figure);
  for (int k = 0; k < TSL_N_COEFFICIENTS; k++)
    c[k] = 0.5 * (room[(n - 1) / 2].c[k] + room[n / 2].c[k]);
  for (int k = 0; k < n; k++) memcpy(cost->speeds[list[k].rank].c[kind], c, sizeof c);
}

static void pool_setup(int kind, const member *list, int n, member *room, tsl_cost *cost) {
  for (int k = 0; k < n; k++)
    room[k] = (member){list[k].rank, cost->speeds[list[k].rank].setup[kind], NULL};
  qsort(room, (size_t)n, sizeof *room, by_figure);
  const double setup = middle(room, n);
  for (int k = 0; k < n; k++) cost->speeds[list[k].rank].setup[kind] = setup;
}

/* Ranks [*lo, *hi) of a list in order of seconds that agree with their middle: the one that is
 * furthest from it goes until all do. */
static void find_agreeing(const member *list, int n, int *lo, int *hi) {
  for (*lo = 0, *hi = n; *hi - *lo > 1;) {
    const double centre = middle(list + *lo, *hi - *lo);
    const double least = list[*lo].figure, most = list[*hi - 1].figure;
    if (least >= (1 - TSL_ALIKE_BOUND) * centre && most <= (1 + TSL_ALIKE_BOUND) * centre) return;
    if (most - centre >= centre - least)
      --*hi;
    else
      ++*lo;
  }
}

/* Those that agree, then those below and those above. */
static void pool_list(const work *w, const member *list, int n, member *room, tsl_cost *cost) {
  int lo, hi;
  if (n < 2) return;
  find_agreeing(list, n, &lo, &hi);
  for (int kind = 0; kind < TSL_MAX_KINDS && hi - lo > 1; kind++) {
    if (w->n[kind] <= 0) continue;
    pool_kind(w, kind, list + lo, hi - lo, room, cost);
    pool_setup(kind, list + lo, hi - lo, room, cost);
  }
  pool_list(w, list, lo, room, cost);
  pool_list(w, list + hi, n - hi, room, cost);
}

tsl_err tsl_device_class_pool(const int *device, const tsl_unit *units, int64_t n_units,
                              tsl_cost *cost) {
  tsl_err err = TSL_OK;
  member *list = NULL, *room = NULL;
  work w;
  sum_work(units, n_units, &w);
  TSL_TRY(tsl_alloc(cost->n_ranks, sizeof *list, "equal devices", (void **)&list));
  TSL_TRY(tsl_alloc(cost->n_ranks, sizeof *room, "equal devices", (void **)&room));
  for (int first = 0; first < cost->n_ranks; first++) {
    int n = 0;
    if (device[first] != first) continue;
    for (int r = first; r < cost->n_ranks; r++)
      if (device[r] == first) list[n++] = (member){r, run_seconds(cost, r, &w), NULL};
    qsort(list, (size_t)n, sizeof *list, by_figure);
    pool_list(&w, list, n, room, cost);
  }
done:
  tsl_free(list);
  tsl_free(room);
  return err;
}
