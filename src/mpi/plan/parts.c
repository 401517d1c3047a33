/* Prefix sums of the ranks' parts, and the rules of taking from the front of one's own and from the
 * back of another's. */
#include "parts.h"

#include <math.h>

static const double TAKEN = 0.25; /* of what is left of its own */

static bool is_finished(const tsl_plan *plan, int64_t unit) {
  return plan->finished != NULL && plan->finished[unit];
}

/* It has left something on its owner that another rank would have to make anew. */
static bool stays(const tsl_plan *plan, const tsl_unit *unit) {
  return plan->kept && unit->setup > 0;
}

/* ---- lists */

/* start[r] is where the next unit of rank r - 1 goes, until all have come. */
static void list_units(const tsl_plan *plan, tsl_parts *p) {
  for (int64_t u = 0; u < plan->n_units; u++)
    if (plan->owner[u] + 2 <= p->n_ranks && !is_finished(plan, u)) p->start[plan->owner[u] + 2]++;
  for (int r = 2; r <= p->n_ranks; r++) p->start[r] += p->start[r - 1];
  for (int others = 0; others < 2; others++)
    for (int64_t u = 0; u < plan->n_units; u++)
      if (!is_finished(plan, u) && stays(plan, &p->units[u]) != others)
        p->order[p->start[plan->owner[u] + 1]++] = u;
  for (int r = 0; r < p->n_ranks; r++)
    for (int64_t k = p->start[r]; k < p->start[r + 1]; k++)
      p->before[k + 1] = p->before[k] + tsl_cost_seconds(p->cost, r, &p->units[p->order[k]]);
}

static tsl_range first_range(const tsl_parts *p, const tsl_plan *plan, int rank) {
  const int64_t *mine = p->order + p->start[rank];
  const int64_t n = p->start[rank + 1] - p->start[rank];
  int64_t front = (int64_t)ceil((double)n * (1 - plan->dynamic));
  while (front < n && stays(plan, &p->units[mine[front]])) front++;
  return (tsl_range){(int32_t)front, (int32_t)n};
}

/* ---- speeds */

/* The rank's own speed for a unit, as it has shown. */
static double seconds_of(const tsl_parts *p, int rank, int64_t unit) {
  return tsl_cost_seconds(p->cost, rank, &p->units[unit]) * p->slower[rank];
}

/* Seconds that a rank needs for a stretch of its own units. */
static double seconds_of_own(const tsl_parts *p, int rank, int64_t lo, int64_t hi) {
  return lo < hi ? (p->before[hi] - p->before[lo]) * p->slower[rank] : 0;
}

/* For those that are not begun. */
static double seconds_left(const tsl_parts *p, int rank) {
  const int64_t first = p->start[rank];
  return seconds_of_own(p, rank, first + p->left[rank].front, first + p->left[rank].back);
}

/* All units over the speed of all ranks, judged by the unit in the middle. */
static double ideal_time(const tsl_parts *p) {
  const int64_t n = p->start[p->n_ranks];
  double work = 0, speed = 0; /* on rank 0's device; of that in a second */
  for (int64_t k = 0; k < n; k++) work += seconds_of(p, 0, p->order[k]);
  for (int r = 0; r < p->n_ranks && n > 0; r++) {
    const double seconds = seconds_of(p, r, p->order[n / 2]);
    if (tsl_cost_takes_part(p->cost, r) && seconds > 0)
      speed += seconds_of(p, 0, p->order[n / 2]) / seconds;
  }
  return speed > 0 ? work / speed : 0;
}

/* ---- making */

tsl_err tsl_parts_make(const tsl_plan *plan, const tsl_unit *units, const tsl_cost *cost,
                       tsl_parts *p) {
  tsl_err err = TSL_OK;
  const int n = plan->n_ranks;
  *p = (tsl_parts){.n_ranks = n, .units = units, .cost = cost};
  TSL_TRY(tsl_alloc(n + 1, sizeof *p->start, "parts", (void **)&p->start));
  TSL_TRY(tsl_alloc(plan->n_units, sizeof *p->order, "parts", (void **)&p->order));
  TSL_TRY(tsl_alloc(plan->n_units + 1, sizeof *p->before, "parts", (void **)&p->before));
  TSL_TRY(tsl_alloc(n, sizeof *p->left, "parts", (void **)&p->left));
  TSL_TRY(tsl_alloc(n, sizeof *p->slower, "parts", (void **)&p->slower));
  list_units(plan, p);
  for (int r = 0; r < n; r++) p->left[r] = first_range(p, plan, r), p->slower[r] = 1;
  p->ideal = ideal_time(p);
done:
  if (err != TSL_OK) tsl_parts_clear(p);
  return err;
}

void tsl_parts_clear(tsl_parts *p) {
  TSL_FREE_ALL(p->order, p->start, p->before, p->left, p->slower);
  *p = (tsl_parts){0};
}

/* ---- the rules */

double tsl_parts_enough(const tsl_parts *p, int rank, double enough) {
  const double left = seconds_left(p, rank);
  return left > 0 ? fmax(TSL_PARTS_SHORTEST, fmin(enough, left / 2)) : enough;
}

int32_t tsl_parts_take(const tsl_parts *p, int rank, double batch, const int64_t *least) {
  const tsl_range *mine = &p->left[rank];
  const int64_t *next = p->order + p->start[rank] + mine->front;
  const int32_t left = mine->back - mine->front;
  const double longest = fmax(batch, TSL_PARTS_SHORTEST * p->n_ranks);
  const int32_t most = (int32_t)(left * TAKEN);
  double seconds = 0;
  int32_t n = 0;
  while (n < left && (n < least[p->units[next[0]].kind] ||
                      ((n < most || seconds < TSL_PARTS_SHORTEST) && seconds < longest)))
    seconds += seconds_of(p, rank, next[n++]);
  return n > 0 ? n : 1;
}

int64_t tsl_parts_steal(const tsl_parts *p, int rank, double ahead, double batch, int *victim) {
  double longest = 0;
  *victim = -1;
  for (int r = 0; r < p->n_ranks; r++) {
    const double left = r == rank ? 0 : seconds_left(p, r);
    if (left > longest) *victim = r, longest = left;
  }
  if (*victim < 0 || !tsl_cost_takes_part(p->cost, rank)) return 0;
  const int64_t lo = p->start[*victim] + p->left[*victim].front;
  const int64_t hi = p->start[*victim] + p->left[*victim].back;
  double mine = 0; /* s of the units on this rank */
  int64_t first = hi;
  for (; first > lo; first--) {
    mine += seconds_of(p, rank, p->order[first - 1]);
    const double theirs = seconds_of_own(p, *victim, first - 1, hi);
    if (first == hi ? ahead + mine > longest + theirs / 2 /* it has half a unit in hand, too */
                    : mine > batch || mine + theirs > (longest - ahead) / 2)
      break;
  }
  return hi - first;
}
