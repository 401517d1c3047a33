/* Units in hand, claims on this rank's own part, chunks of the tail, and units taken from the rank
 * with most left. */
#include "work_source.h"

#include "batch.h"
#include "clock.h"
#include "collective_error.h"

#include <math.h>

/* A rank claims a quarter of what is left of its own, so that the rest can be taken; one with most
 * of all speed claims more, as nobody could take much. */
static const double CLAIMED = 0.25;

static const double FASTER =
    2; /* times: who is faster by this takes the last units of a slow rank */

enum { MOST_UNITS = 1 << 29 }; /* claims are counted in words, see shared_counter.c */

enum { BATCHES = 64 }; /* of a rank in a phase, or more: what the last one can be late by */
static const double SHORT = 3e-3; /* s: batches need not be shorter than this */

static const double PAUSE = 5e-4, PAUSE_PER_RANK = 2e-5; /* s between questions to the others */

/* Units that are this rank's, not handed out yet: positions of order, or ids of the tail. */
typedef struct range {
  int64_t at, end;
} range;

struct tsl_work_source {
  tsl_shared_counter *counter; /* not owned, as the next three */
  const tsl_plan *plan;
  const tsl_unit *units;
  const tsl_cost *cost;
  int rank, size;
  tsl_parts parts;
  double *before;         /* [n_units + 1] work in order of id */
  tsl_range *claims;      /* [size] as last seen */
  double *slower;         /* [size] as last seen */
  double longest;         /* s of a batch */
  double enough;          /* s ahead at which the device gets no more */
  double share;           /* of all speed that this rank has */
  double claimed;         /* part of what is left of its own that a claim takes */
  range own, tail, taken; /* planned here; of the tail; of others' parts */
  bool own_over, tail_over, others_over;
  bool waiting;     /* for others to take the last units planned here */
  double ask_again; /* tsl_now() from which others may be asked */
};

/* ---- parts */

static bool is_finished(const tsl_plan *plan, int64_t unit) {
  return plan->finished != NULL && plan->finished[unit];
}

tsl_err tsl_parts_make(const tsl_plan *plan, const tsl_unit *units, const tsl_cost *cost,
                       tsl_parts *parts) {
  tsl_err err = TSL_OK;
  const int64_t n = plan->first_dynamic;
  int64_t *next = NULL;
  *parts = (tsl_parts){.n_ranks = plan->n_ranks};
  TSL_TRY(tsl_alloc(plan->n_ranks + 1, sizeof *parts->start, "parts", (void **)&parts->start));
  TSL_TRY(tsl_alloc(plan->n_ranks + 1, sizeof *next, "parts", (void **)&next));
  TSL_TRY(tsl_alloc(n, sizeof *parts->order, "parts", (void **)&parts->order));
  TSL_TRY(tsl_alloc(n + 1, sizeof *parts->before, "parts", (void **)&parts->before));
  for (int64_t u = 0; u < n; u++)
    if (!is_finished(plan, u)) parts->start[plan->owner[u] + 1]++;
  for (int r = 0; r < plan->n_ranks; r++) {
    parts->start[r + 1] += parts->start[r];
    next[r] = parts->start[r];
  }
  for (int64_t u = 0; u < n; u++)
    if (!is_finished(plan, u)) parts->order[next[plan->owner[u]]++] = u;
  for (int64_t k = 0; k < parts->start[plan->n_ranks]; k++)
    parts->before[k + 1] = parts->before[k] + tsl_cost_seconds(cost, 0, &units[parts->order[k]]);
done:
  tsl_free(next);
  if (err != TSL_OK) tsl_parts_clear(parts);
  return err;
}

void tsl_parts_clear(tsl_parts *parts) {
  tsl_free(parts->order);
  tsl_free(parts->start);
  tsl_free(parts->before);
  *parts = (tsl_parts){0};
}

/* ---- the rule of taking from others */

/* Work per second of a rank, judged by this unit. */
static double rate(const tsl_unit *unit, const tsl_cost *cost, const double *slower, int rank) {
  const double seconds = tsl_cost_seconds(cost, rank, unit) * slower[rank];
  if (!tsl_cost_takes_part(cost, rank)) return 0;
  return seconds > 0 ? tsl_cost_seconds(cost, 0, unit) / seconds : 0;
}

/* Seconds that a rank needs for its unclaimed units. */
static double seconds_left(const tsl_parts *parts, const tsl_range *claim, const tsl_unit *units,
                           const tsl_cost *cost, const double *slower, int rank) {
  const int64_t lo = parts->start[rank] + claim->front, hi = parts->start[rank] + claim->back;
  if (claim->front >= claim->back) return 0;
  const double speed = rate(&units[parts->order[hi - 1]], cost, slower, rank);
  return speed > 0 ? (parts->before[hi] - parts->before[lo]) / speed : 0;
}

int64_t tsl_work_source_steal(const tsl_parts *parts, const tsl_range *claims,
                              const tsl_unit *units, const tsl_cost *cost, const double *slower,
                              int rank, double ahead, double batch, int *victim) {
  double longest = 0, mine = 0, theirs = 0, goal = 0, last = 0;
  int64_t lo = 0, hi = 0, first = 0;
  *victim = -1;
  for (int r = 0; r < parts->n_ranks; r++) {
    const double left = r == rank ? 0 : seconds_left(parts, &claims[r], units, cost, slower, r);
    if (left > longest) *victim = r, longest = left;
  }
  if (*victim < 0) return 0;
  lo = parts->start[*victim] + claims[*victim].front;
  hi = first = parts->start[*victim] + claims[*victim].back;
  mine = rate(&units[parts->order[hi - 1]], cost, slower, rank);
  theirs = rate(&units[parts->order[hi - 1]], cost, slower, *victim);
  last = parts->before[hi] - parts->before[hi - 1];
  if (mine <= 0 || ahead + last / mine >= longest) return 0;
  goal = fmin((longest - ahead) * theirs / (mine + theirs) / 2, batch) * mine;
  while (first > lo && parts->before[hi] - parts->before[first - 1] <= goal) first--;
  return hi - first > 1 ? hi - first : 1;
}

/* ---- opening */

static tsl_err allocate(tsl_work_source *s) {
  tsl_err err = TSL_OK;
  const int64_t n = s->plan->n_units;
  if (n > MOST_UNITS) TSL_FAIL(TSL_ERR_INPUT, "%lld units; at most %d", (long long)n, MOST_UNITS);
  TSL_TRY(tsl_parts_make(s->plan, s->units, s->cost, &s->parts));
  TSL_TRY(tsl_alloc(n + 1, sizeof *s->before, "work", (void **)&s->before));
  TSL_TRY(tsl_alloc(s->size, sizeof *s->claims, "work", (void **)&s->claims));
  TSL_TRY(tsl_alloc(s->size, sizeof *s->slower, "work", (void **)&s->slower));
  for (int64_t u = 0; u < n; u++)
    s->before[u + 1] =
        s->before[u] + (is_finished(s->plan, u) ? 0 : tsl_cost_seconds(s->cost, 0, &s->units[u]));
  for (int r = 0; r < s->size; r++) s->slower[r] = 1;
  for (int r = 0; r < s->size; r++)
    s->claims[r].back = (int32_t)(s->parts.start[r + 1] - s->parts.start[r]);
done:
  return err;
}

/* The rank's part of all speed, by the whole work. */
static double share_of_speed(const tsl_work_source *s) {
  double sum = 0, mine = 0;
  for (int r = 0; r < s->size; r++) {
    double seconds = 0;
    if (!tsl_cost_takes_part(s->cost, r)) continue;
    for (int64_t u = 0; u < s->plan->n_units; u++)
      seconds += tsl_cost_seconds(s->cost, r, &s->units[u]);
    if (seconds <= 0) continue;
    sum += 1 / seconds;
    if (r == s->rank) mine = 1 / seconds;
  }
  return sum > 0 ? mine / sum : 0;
}

/* Where nothing is handed out late, batches need not be as short. */
static void set_lengths(tsl_work_source *s, bool overlaps) {
  const double shortest = s->own_over ? TSL_BATCH_LONGEST : SHORT;
  s->longest = fmax(shortest, s->plan->total_seconds / BATCHES);
  s->enough = overlaps ? s->longest : fmin(s->longest, TSL_POOL_AHEAD);
}

static tsl_err make_source(MPI_Comm comm, tsl_shared_counter *counter, const tsl_plan *plan,
                           const tsl_unit *units, const tsl_cost *cost, bool overlaps,
                           tsl_work_source **out) {
  tsl_err err = TSL_OK;
  tsl_work_source *s = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *s, "work", (void **)&s));
  *out = s;
  *s = (tsl_work_source){.counter = counter, .plan = plan, .units = units, .cost = cost};
  TSL_MPI(MPI_Comm_rank(comm, &s->rank));
  TSL_MPI(MPI_Comm_size(comm, &s->size));
  TSL_TRY(allocate(s));
  /* Whole parts of a plan without tail belong to their owners from the beginning. */
  s->own_over = s->tail_over = s->others_over =
      plan->first_dynamic == plan->n_units || !tsl_cost_takes_part(cost, s->rank);
  set_lengths(s, overlaps);
  if (s->own_over) {
    s->own = (range){s->parts.start[s->rank], s->parts.start[s->rank + 1]};
    goto done;
  }
  s->share = share_of_speed(s);
  s->claimed = fmax(CLAIMED, 2 * s->share - 1);
  TSL_TRY(tsl_counter_set_range(counter, s->claims[s->rank]));
done:
  return err;
}

tsl_err tsl_work_source_open(MPI_Comm comm, tsl_shared_counter *counter, const tsl_plan *plan,
                             const tsl_unit *units, const tsl_cost *cost, bool overlaps,
                             tsl_work_source **out) {
  tsl_err err = TSL_OK;
  /* claims are set everywhere */
  TSL_COLLECTIVE_TRY(comm, make_source(comm, counter, plan, units, cost, overlaps, out));
done:
  return err;
}

void tsl_work_source_close(tsl_work_source **source) {
  tsl_work_source *s = *source;
  if (s == NULL) return;
  tsl_parts_clear(&s->parts);
  tsl_free(s->before);
  tsl_free(s->claims);
  tsl_free(s->slower);
  tsl_free(s);
  *source = NULL;
}

/* ---- asking */

/* A part of what is left of this rank's own: enough to be worth a start, no more than a batch. */
static int32_t claim_size(const tsl_work_source *s) {
  const tsl_range *mine = &s->claims[s->rank];
  const int32_t left = mine->back - mine->front;
  const double longest = fmax(s->longest, TSL_POOL_PER_RANK * s->size);
  double seconds = 0;
  int32_t n = 0;
  const int32_t most = (int32_t)(left * s->claimed);
  while (n < left && (n < most || seconds < TSL_POOL_SHORTEST) && seconds < longest) {
    const int64_t u = s->parts.order[s->parts.start[s->rank] + mine->front + n++];
    seconds += tsl_cost_seconds(s->cost, s->rank, &s->units[u]) * s->slower[s->rank];
  }
  return n > 0 ? n : 1;
}

/* Is this rank's next unit better left to a rank twice as fast or more, as all ranks would be done
 * with everything before this one had finished it? That rank will come for it, see
 * tsl_work_source_steal. */
static bool left_to_others(const tsl_work_source *s, int64_t next) {
  const tsl_range *claim = &s->claims[s->rank];
  const int64_t end = s->parts.start[s->rank] + claim->back;
  const int64_t tail = next < s->plan->n_units ? next : s->plan->n_units;
  double rest = s->before[s->plan->n_units] - s->before[tail], others = 0, fastest = 0, mine = 0;
  if (claim->front >= claim->back) return false;
  const tsl_unit *unit = &s->units[s->parts.order[end - 1]];
  for (int r = 0; r < s->size; r++) {
    const int64_t lo = s->parts.start[r] + s->claims[r].front;
    const int64_t hi = s->parts.start[r] + s->claims[r].back;
    const double speed = rate(unit, s->cost, s->slower, r);
    if (hi > lo) rest += s->parts.before[hi] - s->parts.before[lo];
    if (r == s->rank) mine = speed;
    if (r != s->rank) others += speed;
    fastest = fmax(fastest, speed);
  }
  const int64_t first = s->parts.order[s->parts.start[s->rank] + claim->front];
  const double seconds = tsl_cost_seconds(s->cost, s->rank, &s->units[first]);
  return mine > 0 && fastest > FASTER * mine && rest < others * seconds * s->slower[s->rank];
}

/* Only a slow rank asks: its units are long, and nobody but a fast one would come for them. */
static tsl_err look_before_claim(tsl_work_source *s, bool *wait) {
  tsl_err err = TSL_OK;
  int64_t next = 0;
  *wait = false;
  if (s->share * (double)s->size > 1.0 / FASTER) return TSL_OK;
  TSL_TRY(tsl_counter_read(s->counter, s->slower, s->claims));
  TSL_TRY(tsl_counter_next(s->counter, &next));
  *wait = left_to_others(s, next);
done:
  return err;
}

static tsl_err claim_own(tsl_work_source *s) {
  tsl_err err = TSL_OK;
  tsl_range *mine = &s->claims[s->rank], got;
  const int64_t start = s->parts.start[s->rank];
  TSL_TRY(tsl_counter_take_range(s->counter, s->rank, claim_size(s), &got));
  s->own = (range){start + got.front, start + got.back};
  s->own_over = got.front >= got.back;
  mine->front = got.back; /* what others took shows at the next claim */
done:
  return err;
}

static tsl_err fetch_own(tsl_work_source *s, double now) {
  tsl_err err = TSL_OK;
  if (s->own_over || (s->waiting && now < s->ask_again)) return TSL_OK;
  TSL_TRY(look_before_claim(s, &s->waiting));
  if (s->waiting)
    s->ask_again = now + PAUSE + PAUSE_PER_RANK * s->size;
  else
    TSL_TRY(claim_own(s));
done:
  return err;
}

static tsl_err take_tail(tsl_work_source *s, double ahead) {
  const tsl_dynamic_pool tail = {.units = s->units,
                                 .before = s->before,
                                 .cost = s->cost,
                                 .longest = s->longest / 2,
                                 .enough = s->enough};
  return tsl_counter_take(s->counter, &tail, ahead, &s->tail.at, &s->tail.end, &s->tail_over);
}

static bool all_claimed(const tsl_work_source *s) {
  for (int r = 0; r < s->size; r++)
    if (s->claims[r].front < s->claims[r].back) return false;
  return true;
}

static tsl_err take_from_others(tsl_work_source *s, double ahead) {
  tsl_err err = TSL_OK;
  tsl_range got;
  int victim = -1;
  int64_t n = 0;
  TSL_TRY(tsl_counter_read(s->counter, s->slower, s->claims));
  s->others_over = all_claimed(s);
  n = tsl_work_source_steal(&s->parts, s->claims, s->units, s->cost, s->slower, s->rank, ahead,
                            s->longest, &victim);
  if (n == 0) goto done;
  TSL_TRY(tsl_counter_take_range(s->counter, victim, (int32_t)n, &got));
  s->taken = (range){s->parts.start[victim] + got.front, s->parts.start[victim] + got.back};
done:
  return err;
}

static bool any(const range *r) {
  return r->at < r->end;
}

/* Something in own, tail or taken, if there is anything for this rank now. */
static tsl_err fetch_units(tsl_work_source *s, double ahead) {
  tsl_err err = TSL_OK;
  const double now = tsl_now();
  if (any(&s->own) || any(&s->tail) || any(&s->taken)) return TSL_OK;
  TSL_TRY(fetch_own(s, now));
  if (any(&s->own) || now < s->ask_again) return TSL_OK;
  if (!s->tail_over) TSL_TRY(take_tail(s, ahead));
  if (s->tail_over && !s->others_over) TSL_TRY(take_from_others(s, ahead));
  if (!any(&s->tail) && !any(&s->taken)) s->ask_again = now + PAUSE + PAUSE_PER_RANK * s->size;
done:
  return err;
}

tsl_err tsl_work_source_next(tsl_work_source *s, double ahead, bool fetch, int64_t *unit,
                             bool *dynamic) {
  tsl_err err = TSL_OK;
  *unit = -1;
  if (fetch) TSL_TRY(fetch_units(s, ahead));
  *dynamic = !any(&s->own);
  if (any(&s->own))
    *unit = s->parts.order[s->own.at++];
  else if (any(&s->tail))
    *unit = s->tail.at++;
  else if (any(&s->taken))
    *unit = s->parts.order[s->taken.at++];
done:
  return err;
}

bool tsl_work_source_left(const tsl_work_source *s) {
  return any(&s->own) || any(&s->tail) || any(&s->taken) || !s->own_over || !s->tail_over ||
         !s->others_over;
}

void tsl_work_source_wake(tsl_work_source *s, double slower) {
  s->ask_again = 0;
  s->slower[s->rank] = slower;
}

double tsl_work_source_longest(const tsl_work_source *s) {
  return s->longest;
}

double tsl_work_source_enough(const tsl_work_source *s) {
  return s->enough;
}

double tsl_work_source_total(const tsl_work_source *s) {
  return s->before[s->plan->n_units];
}
