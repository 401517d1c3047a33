/* Pairs of shells sorted by degree and size with the pairs of primitives that matter, and fitting
 * shells in parts sorted by degree. */
#include "xc_gpu_lists.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum {
  SIZES = XC_CARTESIANS(XC_MAX_L) * XC_CARTESIANS(XC_MAX_L) + 1,
  KEYS = (XC_TRIPLE_L + 1) * SIZES
};

/* --------------------------------------------------------------------- pairs */

static int key_of(const xc_basis *basis, const xc_shell_pair *pair) {
  const xc_shell *a = &basis->shells[pair->a], *b = &basis->shells[pair->b];
  return (a->l + b->l) * SIZES + xc_shell_size(a) * xc_shell_size(b);
}

bool xc_primitives_matter(const xc_shell *a, const xc_shell *b, int i, int j, double distance) {
  const double p = a->exponent[i] + b->exponent[j];
  const double decay = exp(-a->exponent[i] * b->exponent[j] / p * distance * distance);
  return fabs(a->coefficient[i] * b->coefficient[j]) / p * decay * pow(1 + distance, a->l + b->l) >
         1e-22;
}

double xc_shell_distance(const xc_shell *a, const xc_shell *b) {
  double sum = 0;
  for (int x = 0; x < 3; x++) sum += (a->at[x] - b->at[x]) * (a->at[x] - b->at[x]);
  return sqrt(sum);
}

static int32_t add_twos(const xc_shell *a, const xc_shell *b, int64_t bra, xc_triple_two *to) {
  const double distance = xc_shell_distance(a, b);
  int32_t n = 0;
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < b->n; j++)
      if (xc_primitives_matter(a, b, i, j, distance))
        to[n++] = (xc_triple_two){(int32_t)bra, (int16_t)i, (int16_t)j};
  return n;
}

/* Groups of all keys that occur; next[key] becomes the place of its first pair. */
static void set_groups(xc_triple_lists *lists, int64_t *next) {
  int64_t first = 0;
  for (int key = 0; key < KEYS; key++) {
    const int64_t n = next[key];
    next[key] = first;
    if (n > 0)
      lists->groups[lists->n_groups++] =
          (xc_triple_group){.L = key / SIZES, .size = key % SIZES, .first = first, .n = n};
    first += n;
  }
}

static tsl_err sort_pairs(const xc_basis *basis, const xc_pairs *pairs, xc_triple_lists *lists) {
  tsl_err err = TSL_OK;
  int64_t *next = NULL;
  TSL_TRY(tsl_alloc(KEYS, sizeof *next, "pairs by class", (void **)&next));
  for (int64_t k = 0; k < pairs->n; k++) next[key_of(basis, &pairs->list[k])]++;
  set_groups(lists, next);
  for (int64_t k = 0; k < pairs->n; k++) {
    const xc_shell_pair *pair = &pairs->list[k];
    lists->bras[next[key_of(basis, pair)]++] =
        (xc_triple_bra){.packed = pair->packed, .a = pair->a, .b = pair->b};
  }
done:
  tsl_free(next);
  return err;
}

static void set_twos(const xc_basis *basis, xc_triple_lists *lists) {
  for (int64_t g = 0; g < lists->n_groups; g++) {
    xc_triple_group *group = &lists->groups[g];
    for (int64_t k = group->first; k < group->first + group->n; k++) {
      xc_triple_bra *bra = &lists->bras[k];
      bra->first = (int32_t)lists->n_twos;
      bra->n =
          add_twos(&basis->shells[bra->a], &basis->shells[bra->b], k, lists->twos + lists->n_twos);
      lists->n_twos += bra->n, group->twos += bra->n;
      if (bra->n > group->most) group->most = bra->n;
    }
  }
}

tsl_err xc_triple_lists_create(const xc_basis *orbital, const xc_pairs *pairs,
                               xc_triple_lists *lists) {
  tsl_err err = TSL_OK;
  int64_t most = 0;
  *lists = (xc_triple_lists){.n_bras = pairs->n};
  for (int64_t k = 0; k < pairs->n; k++)
    most += orbital->shells[pairs->list[k].a].n * orbital->shells[pairs->list[k].b].n;
  if (most > INT_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%lld pairs of primitives; fitting on cards takes %d", (long long)most,
             INT_MAX);
  TSL_TRY(tsl_alloc(pairs->n, sizeof *lists->bras, "pairs", (void **)&lists->bras));
  TSL_TRY(tsl_alloc(most, sizeof *lists->twos, "pairs of primitives", (void **)&lists->twos));
  TSL_TRY(tsl_alloc(KEYS, sizeof *lists->groups, "classes of pairs", (void **)&lists->groups));
  TSL_TRY(sort_pairs(orbital, pairs, lists));
  set_twos(orbital, lists);
done:
  if (err != TSL_OK) xc_triple_lists_clear(lists);
  return err;
}

void xc_triple_lists_clear(xc_triple_lists *lists) {
  TSL_FREE_ALL(lists->bras, lists->twos, lists->groups);
  *lists = (xc_triple_lists){.bras = NULL};
}

int64_t xc_triple_lists_take(const xc_triple_lists *lists, int64_t lo, int64_t end, int64_t most,
                             int64_t *twos) {
  for (*twos = 0; lo < end && *twos + lists->bras[lo].n <= most; lo++) *twos += lists->bras[lo].n;
  return lo;
}

/* ------------------------------------------------------------------- fitting */

enum { POWERS = XC_MAX_L / 2 + 1, CONTRACTIONS = XC_MAX_PRIMITIVES + 1 };

static int part_key(const xc_triple_part *part) {
  return (part->l * POWERS + part->j) * CONTRACTIONS + part->n;
}

static int last_power(const xc_shell *s) {
  return s->spherical ? 0 : s->l / 2;
}

/* The parts of a shell, and their primitives. */
static void add_shell(const xc_triple_ket *ket, int64_t stride, xc_triple_parts *parts,
                      xc_triple_part *list) {
  const xc_shell *s = ket->shell;
  double *row = ket->row;
  for (int j = 0; j <= last_power(s); j++) {
    list[parts->n++] = (xc_triple_part){.at = {s->at[0], s->at[1], s->at[2]},
                                        .row = row,
                                        .first = (int32_t)parts->n_primitives,
                                        .n = s->n,
                                        .l = s->l - 2 * j,
                                        .j = j,
                                        .atom = s->atom};
    row += (2 * (s->l - 2 * j) + 1) * stride;
    for (int k = 0; k < s->n; k++)
      parts->primitives[parts->n_primitives++] =
          xc_triple_weight(s->exponent[k], s->coefficient[k], j);
  }
  if (!s->spherical && s->l > 0) parts->joins[parts->n_joins++] = (xc_triple_join){ket->row, s->l};
}

static void sort_parts(xc_triple_parts *parts, const xc_triple_part *list) {
  int64_t next[(XC_MAX_L + 1) * POWERS * CONTRACTIONS] = {0}, sum = 0;
  for (int64_t k = 0; k < parts->n; k++) next[part_key(&list[k])]++;
  for (int key = 0; key < (XC_MAX_L + 1) * POWERS * CONTRACTIONS; key++) {
    const int64_t n = next[key];
    if (key % (POWERS * CONTRACTIONS) == 0) parts->first[key / (POWERS * CONTRACTIONS)] = sum;
    next[key] = sum;
    sum += n;
  }
  parts->first[XC_MAX_L + 1] = sum;
  for (int64_t k = 0; k < parts->n; k++) parts->list[next[part_key(&list[k])]++] = list[k];
}

tsl_err xc_triple_parts_create(const xc_triple_ket *kets, int64_t n, int64_t stride,
                               xc_triple_parts *parts) {
  tsl_err err = TSL_OK;
  int64_t most = 0, primitives = 0;
  xc_triple_part *list = NULL;
  *parts = (xc_triple_parts){.n = 0};
  for (int64_t k = 0; k < n; k++) {
    const int count = last_power(kets[k].shell) + 1;
    most += count, primitives += count * kets[k].shell->n;
  }
  TSL_TRY(tsl_alloc(most, sizeof *list, "parts", (void **)&list));
  TSL_TRY(tsl_alloc(most, sizeof *parts->list, "parts", (void **)&parts->list));
  TSL_TRY(
      tsl_alloc(primitives, sizeof *parts->primitives, "primitives", (void **)&parts->primitives));
  TSL_TRY(tsl_alloc(n, sizeof *parts->joins, "Cartesian shells", (void **)&parts->joins));
  for (int64_t k = 0; k < n; k++) add_shell(&kets[k], stride, parts, list);
  sort_parts(parts, list);
done:
  tsl_free(list);
  if (err != TSL_OK) xc_triple_parts_clear(parts);
  return err;
}

void xc_triple_parts_clear(xc_triple_parts *parts) {
  TSL_FREE_ALL(parts->list, parts->primitives, parts->joins);
  *parts = (xc_triple_parts){.n = 0};
}
