/* Pairs of shells sorted by class with the pairs of primitives that matter, and functions as sums
 * of monomials. */
#include "xc_gpu_quartet_lists.h"

#include "xc_gpu_lists.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/** A pair while it is sorted. */
typedef struct entry {
  int32_t class, order;
  int32_t n_a, n_b, a, b; /**< contractions and shells */
} entry;

static int degree(const xc_basis *basis, int64_t shell) {
  return basis->shells[shell].l;
}

/* The shells of a pair, the one of higher degree first. */
static void shells_of(const xc_basis *basis, const xc_shell_pair *pair, const xc_shell *out[2]) {
  const bool turned = degree(basis, pair->a) < degree(basis, pair->b);
  out[0] = &basis->shells[turned ? pair->b : pair->a];
  out[1] = &basis->shells[turned ? pair->a : pair->b];
}

/* Pairs of primitives that matter; to, alpha: where they go, NULL: count only. */
static int32_t add_twos(const xc_shell *const s[2], xc_quartet_two *to, double *alpha) {
  const double distance = xc_shell_distance(s[0], s[1]);
  int32_t n = 0;
  for (int i = 0; i < s[0]->n; i++)
    for (int j = 0; j < s[1]->n; j++) {
      const bool last = n == 0 && i == s[0]->n - 1 && j == s[1]->n - 1;
      if (!last && !xc_primitives_matter(s[0], s[1], i, j, distance)) continue;
      if (to != NULL) xc_quartet_set(s[0], s[1], i, j, to + n), alpha[n] = s[0]->exponent[i];
      n++;
    }
  return n;
}

static int by_class(const void *left, const void *right) {
  const entry *p = left, *q = right;
  if (p->class != q->class) return p->class - q->class;
  if (p->n_a != q->n_a) return p->n_a - q->n_a;
  if (p->n_b != q->n_b) return p->n_b - q->n_b;
  return p->a != q->a ? p->a - q->a : p->b - q->b;
}

/* Entries of the pairs that cards compute, sorted. */
static tsl_err sort_pairs(const xc_basis *basis, const xc_pairs *pairs, entry **out, int64_t *n,
                          int64_t *twos) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(pairs->n, sizeof **out, "pairs of shells", (void **)out));
  for (int64_t k = 0; k < pairs->n; k++) {
    const xc_shell *s[2];
    shells_of(basis, &pairs->list[k], s);
    if (s[0]->l > XC_QUARTET_L) continue;
    (*out)[(*n)++] = (entry){.class = s[0]->l * (s[0]->l + 1) / 2 + s[1]->l,
                             .order = (int32_t)k,
                             .n_a = s[0]->n,
                             .n_b = s[1]->n,
                             .a = (int32_t)(s[0] - basis->shells),
                             .b = (int32_t)(s[1] - basis->shells)};
    *twos += add_twos(s, NULL, NULL);
  }
  qsort(*out, (size_t)*n, sizeof **out, by_class);
done:
  return err;
}

/* Where the monomials of each shell begin. */
static int32_t *number_monomials(const xc_basis *basis, int64_t *n) {
  int32_t *first = NULL;
  *n = 0;
  if (tsl_alloc(basis->n_shells, sizeof *first, "monomials", (void **)&first) != TSL_OK)
    return NULL;
  for (int64_t k = 0; k < basis->n_shells; k++) {
    first[k] = (int32_t)*n;
    *n += XC_CARTESIANS(degree(basis, k));
  }
  return first;
}

static tsl_err fill_turn(const xc_basis *basis, const int32_t *monomial, xc_quartet_lists *lists) {
  tsl_err err = TSL_OK;
  xc_harmonics harmonics;
  xc_harmonics_fill(&harmonics);
  TSL_TRY(tsl_alloc(basis->n * lists->n_monomials, sizeof *lists->turn, "monomials",
                    (void **)&lists->turn));
  for (int64_t k = 0; k < basis->n_shells; k++) {
    const xc_shell *s = &basis->shells[k];
    for (int m = 0; m < xc_shell_size(s); m++) {
      double *row = lists->turn + (s->first + m) * lists->n_monomials + monomial[k];
      for (int c = 0; c < XC_CARTESIANS(s->l); c++)
        row[c] = s->spherical ? harmonics.of[s->l][m][c] : (double)(c == m);
    }
  }
done:
  return err;
}

static void fill_pair(const xc_basis *basis, const xc_shell_pair *from, const int32_t *monomial,
                      int64_t at, xc_quartet_lists *lists) {
  const xc_shell *s[2];
  xc_quartet_pair *pair = &lists->pairs[at];
  shells_of(basis, from, s);
  const int32_t a = (int32_t)(s[0] - basis->shells), b = (int32_t)(s[1] - basis->shells);
  for (int x = 0; x < 3; x++) pair->at[x] = s[0]->at[x], pair->ab[x] = s[0]->at[x] - s[1]->at[x];
  pair->at_a = monomial[a], pair->at_b = monomial[b], pair->same = a == b;
  pair->first = (int32_t)lists->n_twos;
  pair->atom_a = s[0]->atom, pair->atom_b = s[1]->atom;
  pair->n = add_twos(s, lists->twos + lists->n_twos, lists->alpha + lists->n_twos);
  lists->n_twos += pair->n;
  lists->keys[at].bound = from->bound;
  lists->keys[at].a = a, lists->keys[at].b = b;
  lists->keys[at].atom = s[0]->atom == s[1]->atom ? s[0]->atom : -1;
}

static void fill_pairs(const xc_basis *basis, const xc_pairs *pairs, const entry *entries,
                       const int32_t *monomial, xc_quartet_lists *lists) {
  for (int64_t k = 0; k < pairs->n; k++) lists->place[k] = -1;
  for (int64_t k = 0; k < lists->n; k++) {
    fill_pair(basis, &pairs->list[entries[k].order], monomial, k, lists);
    lists->keys[k].order = entries[k].order;
    lists->place[entries[k].order] = (int32_t)k;
    lists->first[entries[k].class + 1] = k + 1;
  }
  for (int c = 0; c < XC_QUARTET_CLASSES; c++)
    if (lists->first[c + 1] < lists->first[c]) lists->first[c + 1] = lists->first[c];
}

tsl_err xc_quartet_lists_create(const xc_basis *orbital, const xc_pairs *pairs,
                                xc_quartet_lists *lists) {
  tsl_err err = TSL_OK;
  entry *entries = NULL;
  int32_t *monomial = NULL;
  int64_t twos = 0;
  memset(lists, 0, sizeof *lists);
  if (pairs->n > INT_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%lld pairs of shells; cards take %d", (long long)pairs->n, INT_MAX);
  TSL_TRY(sort_pairs(orbital, pairs, &entries, &lists->n, &twos));
  if (twos > INT_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%lld pairs of primitives; cards take %d", (long long)twos, INT_MAX);
  monomial = number_monomials(orbital, &lists->n_monomials);
  if (monomial == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for lists of pairs");
  TSL_TRY(tsl_alloc(lists->n, sizeof *lists->keys, "pairs", (void **)&lists->keys));
  TSL_TRY(tsl_alloc(lists->n, sizeof *lists->pairs, "pairs", (void **)&lists->pairs));
  TSL_TRY(tsl_alloc(twos, sizeof *lists->twos, "pairs of primitives", (void **)&lists->twos));
  TSL_TRY(tsl_alloc(twos, sizeof *lists->alpha, "exponents", (void **)&lists->alpha));
  TSL_TRY(tsl_alloc(pairs->n, sizeof *lists->place, "pairs", (void **)&lists->place));
  fill_pairs(orbital, pairs, entries, monomial, lists);
  TSL_TRY(fill_turn(orbital, monomial, lists));
done:
  tsl_free(entries);
  tsl_free(monomial);
  if (err != TSL_OK) xc_quartet_lists_clear(lists);
  return err;
}

void xc_quartet_lists_clear(xc_quartet_lists *lists) {
  TSL_FREE_ALL(lists->keys, lists->pairs, lists->twos, lists->alpha, lists->place, lists->turn);
  memset(lists, 0, sizeof *lists);
}
