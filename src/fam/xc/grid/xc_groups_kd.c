/* Groups of equal numbers of points by median cuts (k-d tree: J. L. Bentley, 1975). */
#include "xc_groups_own.h"

#include "parallel.h"

#include <string.h>

/** Points of a group are a multiple of this many where the target allows it. */
enum { QUANTUM = 32 };

static bool before(const xc_place *a, const xc_place *b, int axis) {
  if (a->at[axis] != b->at[axis]) return a->at[axis] < b->at[axis];
  return a->point < b->point;
}

static void swap(xc_place *a, xc_place *b) {
  const xc_place kept = *a;
  *a = *b;
  *b = kept;
}

/** About the k-th of n places: that of a sample by a fixed generator, so that no order of points is
 *  a bad one. With a good one a range is gone through once and a half to find its middle. */
static xc_place xc_groups_kd_pick(const xc_place *places, int64_t n, int64_t k, int axis,
                                  uint64_t *state) {
  enum { MOST = 127, LEAST = 3, EACH = 64 };
  const int64_t wanted = n / EACH < MOST ? n / EACH : MOST, m = wanted > LEAST ? wanted : LEAST;
  const xc_place *sample[MOST];
  for (int64_t i = 0; i < m; i++) {
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
    const xc_place *drawn = &places[(int64_t)((*state >> 33) % (uint64_t)n)];
    int64_t at = i;
    for (; at > 0 && before(drawn, sample[at - 1], axis); at--) sample[at] = sample[at - 1];
    sample[at] = drawn;
  }
  return *sample[(int64_t)((double)m * (double)k / (double)n)];
}

/** Bring the k smallest of n places to the front (C. A. R. Hoare, 1961). */
static void select_first(xc_place *places, int64_t n, int64_t k, int axis) {
  uint64_t state = 1;
  int64_t lo = 0, hi = n;
  while (hi - lo > 1) {
    const xc_place pivot = xc_groups_kd_pick(places + lo, hi - lo, k - lo, axis, &state);
    int64_t i = lo, j = hi - 1;
    while (i <= j) {
      while (before(&places[i], &pivot, axis)) i++;
      while (before(&pivot, &places[j], axis)) j--;
      if (i <= j) swap(&places[i++], &places[j--]);
    }
    if (k <= j)
      hi = j + 1;
    else if (k >= i)
      lo = i;
    else
      return;
  }
}

static int longest_side(const xc_place *places, int64_t n) {
  double lo[3], hi[3], side[3];
  memcpy(lo, places[0].at, sizeof lo);
  memcpy(hi, places[0].at, sizeof hi);
  for (int64_t i = 1; i < n; i++)
    for (int k = 0; k < 3; k++) {
      const double at = places[i].at[k];
      lo[k] = at < lo[k] ? at : lo[k];
      hi[k] = at > hi[k] ? at : hi[k];
    }
  for (int k = 0; k < 3; k++) side[k] = hi[k] - lo[k];
  const int longest = side[1] > side[0] ? 1 : 0;
  return side[2] > side[longest] ? 2 : longest;
}

/** Points of a group: the same for all but one, whole vectors, at most target. */
static int64_t group_size(int64_t n, int64_t target) {
  const int64_t groups = (n - 1) / target + 1, even = (n - 1) / groups + 1;
  const int64_t whole = (even + QUANTUM - 1) / QUANTUM * QUANTUM;
  return whole < target ? whole : target;
}

/** The groups of all ranges of a depth of the tree, cut in two. */
typedef struct depth {
  xc_place *places;
  int64_t n, size;     /**< places; places of a group */
  const int64_t *edge; /**< [ranges + 1] first group of each range */
  int64_t *next;       /**< [2 ranges + 1] likewise, one deeper; ranges of no group occur */
} depth;

static tsl_err cut_ranges(void *context, int slot, int64_t lo, int64_t hi) {
  const depth *d = context;
  (void)slot;
  for (int64_t r = lo; r < hi; r++) {
    const int64_t left = (d->edge[r + 1] - d->edge[r]) / 2, first = d->edge[r] * d->size;
    const int64_t end = d->edge[r + 1] * d->size < d->n ? d->edge[r + 1] * d->size : d->n;
    d->next[2 * r] = d->edge[r];
    d->next[2 * r + 1] = d->edge[r] + left;
    if (left == 0) continue;
    const int axis = longest_side(d->places + first, end - first);
    select_first(d->places + first, end - first, left * d->size, axis);
  }
  return TSL_OK;
}

/** Order places so that groups of size follow one another. */
static tsl_err cut_all(xc_place *places, int64_t n, int64_t size) {
  tsl_err err = TSL_OK;
  const int64_t groups = (n + size - 1) / size;
  int64_t *edge = NULL, *next = NULL;
  TSL_TRY(tsl_alloc(2 * groups + 1, sizeof *edge, "cuts of the points", (void **)&edge));
  TSL_TRY(tsl_alloc(2 * groups + 1, sizeof *next, "cuts of the points", (void **)&next));
  edge[1] = groups;
  for (int64_t ranges = 1; ranges < groups; ranges *= 2) {
    depth d = {places, n, size, edge, next};
    next[2 * ranges] = groups;
    TSL_TRY(tsl_parallel(ranges, 1, cut_ranges, &d));
    int64_t *done = edge;
    edge = next, next = done;
  }
done:
  TSL_FREE_ALL(edge, next);
  return err;
}

tsl_err xc_groups_kd(xc_place *places, int64_t n, int64_t target, xc_cut *cut) {
  tsl_err err = TSL_OK;
  if (n == 0) goto done;
  const int64_t size = group_size(n, target);
  TSL_TRY(cut_all(places, n, size));
  for (int64_t first = 0; first < n; first += size)
    TSL_TRY(xc_cut_add(cut, first, n - first < size ? n - first : size, XC_GROUP_KD));
done:
  return err;
}
