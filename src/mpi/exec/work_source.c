/* Units in hand, of this rank's own part and of parts of others, and when to ask for more. */
#include "work_source.h"

#include "batch.h"
#include "clock.h"
#include "collective_error.h"

#include <math.h>

enum { MOST_UNITS = 1 << 29 }; /* ranges are counted in words, see shared_counter.c */

static const double PAUSE = 5e-4, PAUSE_PER_RANK = 2e-5; /* s between questions to the others */

/* Units that are this rank's, not handed out yet: positions of order. */
typedef struct range {
  int64_t at, end;
} range;

struct tsl_work_source {
  tsl_shared_counter *counter; /* not owned, as the next */
  const tsl_plan *plan;
  const int64_t *least; /* by kind of unit */
  int rank, size;
  tsl_parts parts;
  tsl_range *left;  /* [size] as last seen, as the next */
  double *slower;   /* [size] */
  double longest;   /* s of a batch */
  double enough;    /* s ahead at which the device gets no more, long before the end */
  range own, taken; /* planned here; of others' parts */
  bool own_over, others_over;
  bool waiting;     /* for others to take the last units planned here */
  double ask_again; /* tsl_now() from which others may be asked */
};

/* ---- opening */

static tsl_err work_source_allocate(tsl_work_source *s, const tsl_unit *units,
                                    const tsl_cost *cost) {
  tsl_err err = TSL_OK;
  const int64_t n = s->plan->n_units;
  if (n > MOST_UNITS) TSL_FAIL(TSL_ERR_INPUT, "%lld units; at most %d", (long long)n, MOST_UNITS);
  TSL_TRY(tsl_parts_make(s->plan, units, cost, &s->parts));
  TSL_TRY(tsl_alloc(s->size, sizeof *s->left, "work", (void **)&s->left));
  TSL_TRY(tsl_alloc(s->size, sizeof *s->slower, "work", (void **)&s->slower));
  for (int r = 0; r < s->size; r++) {
    s->slower[r] = 1;
    s->left[r] = tsl_parts_begin(&s->parts, s->plan, r);
  }
done:
  return err;
}

static tsl_err make_source(MPI_Comm comm, tsl_shared_counter *counter, const tsl_plan *plan,
                           const tsl_unit *units, const tsl_cost *cost, const int64_t *least,
                           bool overlaps, tsl_work_source **out) {
  tsl_err err = TSL_OK;
  tsl_work_source *s = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *s, "work", (void **)&s));
  *out = s;
  *s = (tsl_work_source){.counter = counter, .plan = plan, .least = least};
  TSL_MPI(MPI_Comm_rank(comm, &s->rank));
  TSL_MPI(MPI_Comm_size(comm, &s->size));
  TSL_TRY(work_source_allocate(s, units, cost));
  s->longest = fmax(TSL_BATCH_SHORT, s->parts.ideal / TSL_BATCHES);
  s->enough = overlaps ? s->longest : TSL_BATCH_SHORT;
  const tsl_range mine = s->left[s->rank];
  const int64_t start = s->parts.start[s->rank];
  s->own = (range){start, start + mine.front};
  s->own_over = mine.front == mine.back;
  s->others_over = plan->dynamic <= 0 || !tsl_cost_takes_part(cost, s->rank);
  TSL_TRY(tsl_counter_set_range(counter, mine));
done:
  return err;
}

tsl_err tsl_work_source_open(MPI_Comm comm, tsl_shared_counter *counter, const tsl_plan *plan,
                             const tsl_unit *units, const tsl_cost *cost, const int64_t *least,
                             bool overlaps, tsl_work_source **out) {
  tsl_err err = TSL_OK;
  /* ranges are set everywhere */
  TSL_COLLECTIVE_TRY(comm, make_source(comm, counter, plan, units, cost, least, overlaps, out));
done:
  return err;
}

void tsl_work_source_close(tsl_work_source **source) {
  tsl_work_source *s = *source;
  if (s == NULL) return;
  tsl_parts_clear(&s->parts);
  TSL_FREE_ALL(s->left, s->slower, s);
  *source = NULL;
}

/* ---- asking */

static tsl_parts_now now_of(const tsl_work_source *s) {
  return (tsl_parts_now){.left = s->left, .slower = s->slower};
}

static tsl_err take_own(tsl_work_source *s) {
  tsl_err err = TSL_OK;
  const tsl_parts_now now = now_of(s);
  const int64_t start = s->parts.start[s->rank];
  const int64_t next = tsl_parts_next(&s->parts, &now, s->rank);
  const int64_t least = next >= 0 ? s->least[s->parts.units[next].kind] : 1;
  const int32_t n = tsl_parts_take(&s->parts, &now, s->rank, s->longest, least);
  tsl_range got;
  TSL_TRY(tsl_counter_take_range(s->counter, s->rank, n, &got));
  s->own = (range){start + got.front, start + got.back};
  s->own_over = got.front >= got.back;
  s->left[s->rank].front = got.back; /* what others took shows the next time */
done:
  return err;
}

/* Only a slow rank looks first: its units are long, and nobody but a fast one would come for them.
 */
static tsl_err fetch_own(tsl_work_source *s, double moment) {
  tsl_err err = TSL_OK;
  if (s->own_over || (s->waiting && moment < s->ask_again)) return TSL_OK;
  if (tsl_parts_slow(&s->parts, s->rank)) {
    const tsl_parts_now now = now_of(s);
    TSL_TRY(tsl_counter_read(s->counter, s->slower, s->left));
    s->waiting = tsl_parts_wait(&s->parts, &now, s->rank);
  }
  if (s->waiting)
    s->ask_again = moment + PAUSE + PAUSE_PER_RANK * s->size;
  else
    TSL_TRY(take_own(s));
done:
  return err;
}

static bool nothing_left(const tsl_work_source *s) {
  for (int r = 0; r < s->size; r++)
    if (s->left[r].front < s->left[r].back) return false;
  return true;
}

static tsl_err take_from_others(tsl_work_source *s, double ahead) {
  tsl_err err = TSL_OK;
  const tsl_parts_now now = now_of(s);
  tsl_range got;
  int victim = -1;
  int64_t n = 0;
  TSL_TRY(tsl_counter_read(s->counter, s->slower, s->left));
  s->others_over = nothing_left(s);
  n = tsl_parts_steal(&s->parts, &now, s->rank, ahead, s->longest, &victim);
  if (n == 0) goto done;
  TSL_TRY(tsl_counter_take_range(s->counter, victim, (int32_t)n, &got));
  s->taken = (range){s->parts.start[victim] + got.front, s->parts.start[victim] + got.back};
done:
  return err;
}

static bool any(const range *r) {
  return r->at < r->end;
}

/* Something in own or taken, if there is anything for this rank now. */
static tsl_err fetch_units(tsl_work_source *s, double ahead) {
  tsl_err err = TSL_OK;
  const double now = tsl_now();
  if (any(&s->own) || any(&s->taken)) return TSL_OK;
  TSL_TRY(fetch_own(s, now));
  if (any(&s->own) || s->others_over || now < s->ask_again) return TSL_OK;
  TSL_TRY(take_from_others(s, ahead));
  if (!any(&s->taken)) s->ask_again = now + PAUSE + PAUSE_PER_RANK * s->size;
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
  else if (any(&s->taken))
    *unit = s->parts.order[s->taken.at++];
done:
  return err;
}

bool tsl_work_source_left(const tsl_work_source *s) {
  return any(&s->own) || any(&s->taken) || !s->own_over || !s->others_over;
}

void tsl_work_source_wake(tsl_work_source *s, double slower) {
  s->ask_again = 0;
  s->slower[s->rank] = slower;
}

double tsl_work_source_longest(const tsl_work_source *s) {
  return s->longest;
}

double tsl_work_source_enough(const tsl_work_source *s) {
  const tsl_parts_now now = now_of(s);
  return tsl_parts_enough(&s->parts, &now, s->rank, s->enough);
}

double tsl_work_source_total(const tsl_work_source *s) {
  return s->parts.before[s->parts.start[s->size]];
}
