/* Units in hand, of this rank's own part and of parts of others, and when to ask for more. */
#include "work_source.h"

#include "batch.h"
#include "clock.h"
#include "collective_error.h"

#include <math.h>

enum { MOST_UNITS = 1 << 29 }; /* ranges are counted in words, see shared_counter.c */

static const double PAUSE = 5e-4, PAUSE_PER_RANK = 2e-5; /* s between questions to the others */

struct tsl_work_source {
  tsl_shared_counter *counter; /* not owned, as the next */
  const int64_t *least;        /* by kind of unit */
  int rank;
  tsl_parts parts; /* what is left and who is slower as last seen */
  double longest;  /* s of a batch */
  double enough;   /* s ahead at which the device gets no more, long before the end */
  int64_t at, end; /* positions of order: units that are this rank's, not handed out yet */
  bool own_over, others_over;
  double ask_again; /* tsl_now() from which others may be asked */
};

/* ---- opening */

/* What the rank's least batch takes: one that is queued keeps the device at work meanwhile. */
static double batch_seconds(const tsl_work_source *s) {
  const tsl_parts *p = &s->parts;
  const int64_t first = p->start[s->rank];
  if (first == p->start[s->rank + 1]) return 0;
  const tsl_unit *unit = &p->units[p->order[first]];
  return (double)s->least[unit->kind] * tsl_cost_seconds(p->cost, s->rank, unit);
}

tsl_err tsl_work_source_open(MPI_Comm comm, tsl_shared_counter *counter, const tsl_plan *plan,
                             const tsl_unit *units, const tsl_cost *cost, const int64_t *least,
                             bool overlaps, tsl_work_source **out) {
  tsl_err err = TSL_OK;
  tsl_work_source *s = NULL;
  if (plan->n_units > MOST_UNITS)
    TSL_FAIL(TSL_ERR_INPUT, "%lld units; at most %d", (long long)plan->n_units, MOST_UNITS);
  TSL_TRY(tsl_alloc(1, sizeof *s, "work", (void **)&s));
  *out = s;
  *s = (tsl_work_source){.counter = counter, .least = least};
  TSL_MPI(MPI_Comm_rank(comm, &s->rank));
  TSL_TRY(tsl_parts_make(plan, units, cost, &s->parts));
  s->longest = fmax(TSL_BATCH_SHORT, s->parts.ideal / TSL_BATCHES);
  s->enough = overlaps ? fmax(s->longest, batch_seconds(s)) : TSL_BATCH_SHORT;
  const tsl_range mine = s->parts.left[s->rank];
  s->at = s->parts.start[s->rank], s->end = s->at + mine.front;
  s->own_over = mine.front == mine.back;
  s->others_over = plan->dynamic <= 0 || !tsl_cost_takes_part(cost, s->rank);
  TSL_TRY(tsl_counter_set_range(counter, mine));
done: /* ranges are set everywhere */
  return tsl_collective_error(comm, err);
}

void tsl_work_source_close(tsl_work_source **source) {
  tsl_work_source *s = *source;
  if (s == NULL) return;
  tsl_parts_clear(&s->parts);
  tsl_free(s);
  *source = NULL;
}

/* ---- asking */

/* Take n planned units of a rank. */
static tsl_err take(tsl_work_source *s, int owner, int32_t n) {
  tsl_err err = TSL_OK;
  tsl_range got;
  TSL_TRY(tsl_counter_take_range(s->counter, owner, n, &got));
  s->at = s->parts.start[owner] + got.front, s->end = s->parts.start[owner] + got.back;
  if (owner != s->rank) goto done;
  s->own_over = got.front >= got.back;
  s->parts.left[owner].front = got.back; /* what others took shows the next time */
done:
  return err;
}

static tsl_err fetch_others(tsl_work_source *s, double ahead) {
  tsl_err err = TSL_OK;
  int victim = -1;
  TSL_TRY(tsl_counter_read(s->counter, s->parts.slower, s->parts.left));
  s->others_over = true;
  for (int r = 0; r < s->parts.n_ranks; r++)
    s->others_over = s->others_over && s->parts.left[r].front >= s->parts.left[r].back;
  const int64_t n = tsl_parts_steal(&s->parts, s->rank, ahead, s->longest, &victim);
  if (n > 0) TSL_TRY(take(s, victim, (int32_t)n));
done:
  return err;
}

/* Something in hand, if there is anything for this rank now. */
static tsl_err fetch_units(tsl_work_source *s, double ahead) {
  tsl_err err = TSL_OK;
  const double now = tsl_now();
  if (s->at < s->end) return TSL_OK;
  if (!s->own_over)
    TSL_TRY(take(s, s->rank, tsl_parts_take(&s->parts, s->rank, s->longest, s->least)));
  if (s->at < s->end || now < s->ask_again) return TSL_OK;
  if (!s->others_over) TSL_TRY(fetch_others(s, ahead));
  if (s->at >= s->end) s->ask_again = now + PAUSE + PAUSE_PER_RANK * s->parts.n_ranks;
done:
  return err;
}

tsl_err tsl_work_source_batch(tsl_work_source *s, double ahead, int64_t room, const int64_t **units,
                              int64_t *n) {
  tsl_err err = TSL_OK;
  const tsl_parts *p = &s->parts;
  double seconds = 0;
  TSL_TRY(fetch_units(s, ahead));
  *units = p->order + s->at;
  for (*n = 0; s->at < s->end && *n < room; ++*n) {
    const tsl_unit *unit = &p->units[p->order[s->at]];
    if (*n >= s->least[p->units[**units].kind] && seconds >= s->longest) break;
    seconds += tsl_cost_seconds(p->cost, s->rank, unit) * p->slower[s->rank];
    s->at++;
  }
done:
  return err;
}

bool tsl_work_source_left(const tsl_work_source *s) {
  return s->at < s->end || !s->own_over || !s->others_over;
}

void tsl_work_source_wake(tsl_work_source *s, double slower) {
  s->ask_again = 0;
  s->parts.slower[s->rank] = slower;
}

double tsl_work_source_enough(const tsl_work_source *s) {
  return tsl_parts_enough(&s->parts, s->rank, s->enough);
}
