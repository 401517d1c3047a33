/* Trials on the compute thread: growing ones in the middle of a kind's units, batches at several
 * places, and one fit to all. */
#include "measure.h"

#include "batch.h"
#include "integers.h"
#include "slab_pool.h"
#include "test_delay_card.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The model is in docs/scheduling.md, with the reasons of these figures. */
enum { GROWTH = 4, LAST = 3, PLACES = TSL_N_COEFFICIENTS + 1 };
static const double FIRST_SIZE = 1.0 / TSL_MAX_BATCH;
static const double STEEP = 0.6;    /* of the growth of the work */
static const double BUDGET = 1;     /* s for a kind; no trial begins after them */
static const double WARM_UP = 5e-3; /* s that a warm-up may compute */

/* Units to run on the compute thread. */
typedef struct trial {
  tsl_task task;
  const tsl_executor *executor;
  tsl_unit units[TSL_MAX_BATCH];
  int64_t n;
  int64_t bands;
  double setup;   /* operations of units that had not run before */
  double first;   /* s of its first run */
  double seconds; /* with everything in place */
  tsl_part parts[TSL_MAX_BATCH];
} trial;

/* What is measured of a kind. Strips of a stage that are a rank's part are a band; units of other
 * kinds are bands of one. */
typedef struct sampler {
  const tsl_executor *executor;
  const tsl_unit *units; /* [n_units] */
  int64_t n_units, room; /* units of a batch at most */
  int64_t stride, wide;  /* from a band to the next; units of a band in a trial */
  int64_t least;         /* units that the device computes at once, if more than 1 */
  bool overlaps;         /* strips: a stage begins while the one before ends */
  bool *ran;             /* [n_units] the unit's first run is over */
  const tsl_unit **at;   /* [n] first units of bands, from few items a byte to many */
  int64_t n;
  trial *trials;       /* [PLACES] room */
  double spent;        /* s */
  double first, setup; /* s that first runs took more, and their operations */
  tsl_sample samples[LAST + PLACES];
  int n_samples, n_grown;
  tsl_speed *speed;
} sampler;

/* ---- running */

static tsl_err run_trial(tsl_task *task) {
  tsl_err err = TSL_OK;
  trial *t = (trial *)task;
  TSL_TRY(t->executor->backend->run(t->executor->worker, t->units, t->n, t->parts));
  TSL_TRY(tsl_test_delay(t->executor, t->n, t->parts, t->n));
done:
  return err;
}

static tsl_err run_once(sampler *m, trial *t, double *seconds) {
  tsl_err err = TSL_OK;
  tsl_slab_pool slots = {.problem = NULL};
  memset(t->parts, 0, sizeof t->parts);
  *seconds = 0;
  TSL_TRY(
      tsl_slab_pool_open(m->executor->problem, m->executor->backend, t->units, t->n, t->n, &slots));
  for (int64_t u = 0; u < t->n; u++)
    TSL_TRY(tsl_slab_pool_place(&slots, &t->units[u], &t->parts[u]));
  TSL_TRY(tsl_compute_thread_call(m->executor->thread, &t->task));
  for (int64_t u = 0; u < t->n; u++) *seconds += t->parts[u].seconds;
  m->spent += *seconds;
done:
  for (int64_t u = 0; u < t->n; u++) tsl_part_drop_lists(&t->parts[u]);
  tsl_slab_pool_close(&slots);
  return err;
}

static bool same_box(const tsl_unit *a, const tsl_unit *b) {
  return memcmp(a->lo, b->lo, sizeof a->lo) == 0 && memcmp(a->hi, b->hi, sizeof a->hi) == 0;
}

/* What has not run before counts; a part of a unit is new each time. */
static tsl_err run_first(sampler *m, trial *t) {
  tsl_err err = TSL_OK;
  t->setup = 0;
  for (const tsl_unit *unit = t->units; unit < t->units + t->n; unit++) {
    t->setup += m->ran[unit->id] ? 0 : unit->setup;
    if (same_box(unit, &m->units[unit->id])) m->ran[unit->id] = true;
  }
  TSL_TRY(run_once(m, t, &t->first));
  t->seconds = t->first;
done:
  return err;
}

/* The better time counts, or where the first run made something anew, that of the second. */
static tsl_err run_again(sampler *m, trial *t) {
  tsl_err err = TSL_OK;
  double again = 0;
  TSL_TRY(run_once(m, t, &again));
  t->seconds = t->setup > 0 ? again : fmin(t->first, again);
  m->first += t->setup > 0 ? fmax(0, t->first - again) : 0;
  m->setup += t->setup;
done:
  return err;
}

/* ---- cutting */

/* Neighbouring bands of the kind from a unit on that fit a batch, and no more than wanted. */
static int64_t count_bands(const sampler *m, int64_t first, int64_t wanted) {
  int64_t n = 0;
  while (n < wanted && (n + 1) * m->wide <= m->room && first + n * m->stride < m->n_units &&
         m->units[first + n * m->stride].kind == m->at[0]->kind)
    n++;
  return n;
}

/* So many neighbouring bands, as far as there are; of less than one that part of its units. */
static void cut_trial(const sampler *m, const tsl_unit *at, double size, trial *t) {
  const tsl_problem *problem = m->executor->problem;
  *t = (trial){.task.run = run_trial, .executor = m->executor};
  t->bands = count_bands(m, at - m->units, size > 1 ? (int64_t)size : 1);
  for (int64_t b = 0; b < t->bands; b++, at += m->stride)
    for (int64_t k = 0; k < m->wide; k++) {
      tsl_unit *unit = &t->units[t->n++];
      *unit = at[k];
      if (problem->family->sample != NULL)
        problem->family->sample(problem, &at[k], size < 1 ? size : 1, unit);
    }
}

/* The unit, or one before it that as many follow as the device computes at once. */
static const tsl_unit *with_followers(const sampler *m, const tsl_unit *at) {
  while (at > m->units && at[-1].kind == at->kind &&
         count_bands(m, at - m->units, m->least) < m->least)
    at--;
  return at;
}

static bool same_work(const trial *a, const trial *b) {
  return a->n == b->n && same_box(&a->units[0], &b->units[0]);
}

/* The mean band; of strips that overlap all bands together, as the constant is taken once. */
static tsl_sample mean_of(const sampler *m, const trial *t) {
  const double n = m->overlaps ? 1 : (double)t->bands;
  tsl_sample mean = {.unit = t->units[0], .seconds = t->seconds / n};
  mean.unit.flops = mean.unit.bytes = mean.unit.count = mean.unit.setup = 0;
  for (int64_t u = 0; u < t->n; u++) {
    mean.unit.flops += t->units[u].flops / n;
    mean.unit.bytes += t->units[u].bytes / n;
    mean.unit.count += t->units[u].count / n;
    mean.unit.setup += t->units[u].setup / n;
  }
  return mean;
}

/* ---- measuring a kind */

static void fit(sampler *m) {
  const int kind = m->at[0]->kind;
  tsl_cost_fit(m->samples, m->n_samples, m->speed->c[kind]);
  m->speed->c[kind][TSL_SETUP] = m->setup > 0 ? m->first / m->setup : 0;
}

/* Trials of less work than they are long tell nothing of larger ones: the last few count. What the
 * first one shows of first runs is not taken, as it warms the device up. */
static tsl_err measure_growing(sampler *m) {
  tsl_err err = TSL_OK;
  trial *t = &m->trials[0], *before = &m->trials[1];
  const tsl_unit *at = with_followers(m, m->at[m->n / 2]);
  double size = m->least > 1 ? (double)m->least : FIRST_SIZE, smaller = 0;
  for (; m->n_samples == 0 || m->spent < BUDGET; smaller = size, size *= GROWTH) {
    cut_trial(m, at, size, t);
    if (smaller > 0 && same_work(t, before)) {
      if (size > 1) break; /* there are no more */
      continue;
    }
    TSL_TRY(run_first(m, t));
    if (t->first < TSL_PRECISE || t->setup > 0) TSL_TRY(run_again(m, t));
    if (m->n_samples == 0) m->first = m->setup = 0;
    m->samples[m->n_grown++ % LAST] = mean_of(m, t);
    m->n_samples = m->n_grown < LAST ? m->n_grown : LAST;
    const bool grows = smaller > 0 ? t->seconds * smaller >= STEEP * before->seconds * size
                                   : m->least > 1; /* it is a whole batch */
    if (t->first >= TSL_PRECISE && grows) break;
    *before = *t;
  }
  fit(m);
done:
  return err;
}

/* The last n samples are places, which count for how fast the device is; all for what that depends
 * on. */
static void set_level(sampler *m, int n) {
  double measured = 0, predicted = 0;
  double *c = m->speed->c[m->at[0]->kind];
  for (int k = m->n_samples - n; k < m->n_samples; k++) {
    measured += m->samples[k].seconds;
    predicted += tsl_speed_seconds(m->speed, &m->samples[k].unit);
  }
  for (int k = 0; k < TSL_N_COEFFICIENTS && predicted > 0; k++) c[k] *= measured / predicted;
}

/* One place cannot tell time for each byte from time for each item; bands from few items a byte to
 * many can. All in turn, so that none finds its data in a cache. */
static tsl_err measure_places(sampler *m) {
  tsl_err err = TSL_OK;
  trial *trials = m->trials;
  int n = 0;
  for (; n < PLACES && m->spent < BUDGET; n++) {
    const tsl_unit *at = with_followers(m, m->at[(m->n - 1) * (2 * n + 1) / (2 * PLACES)]);
    cut_trial(m, at, 1, &trials[n]);
    const tsl_unit band = mean_of(m, &trials[n]).unit;
    const double seconds =
        tsl_speed_seconds(m->speed, &band) + m->speed->c[band.kind][TSL_SETUP] * band.setup;
    cut_trial(m, at, fmax((double)m->least, TSL_PRECISE / fmax(1e-9, seconds)), &trials[n]);
    TSL_TRY(run_first(m, &trials[n]));
  }
  for (int k = 0; k < n; k++) {
    TSL_TRY(run_again(m, &trials[k]));
    m->samples[m->n_samples++] = mean_of(m, &trials[k]);
  }
  fit(m);
  set_level(m, n);
done:
  return err;
}

/* ---- units of any kind */

const tsl_unit *tsl_middle_unit(const tsl_unit *units, int64_t n, int kind) {
  int64_t of_kind = 0, seen = 0;
  for (int64_t u = 0; u < n; u++) of_kind += units[u].kind == kind;
  for (int64_t u = 0; u < n; u++)
    if (units[u].kind == kind && seen++ == of_kind / 2) return &units[u];
  return NULL;
}

static int by_intensity(const void *a, const void *b) {
  const tsl_unit *x = *(const tsl_unit *const *)a, *y = *(const tsl_unit *const *)b;
  const double p = x->count / (x->bytes + 1), q = y->count / (y->bytes + 1);
  if (p != q) return p < q ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static tsl_err measure_bag(sampler *m) {
  tsl_err err = TSL_OK;
  m->stride = m->wide = 1;
  for (int kind = 0; kind < m->executor->problem->family->n_kinds; kind++) {
    m->n = m->n_samples = m->n_grown = 0;
    m->spent = m->first = m->setup = 0;
    for (int64_t u = 0; u < m->n_units; u++)
      if (m->units[u].kind == kind) m->at[m->n++] = &m->units[u];
    if (m->n == 0) continue;
    const int64_t least = tsl_batch_least(m->executor, m->at[m->n / 2]);
    m->least = least > 1 ? tsl_min(least, m->room) : 0;
    qsort(m->at, (size_t)m->n, sizeof *m->at, by_intensity);
    TSL_TRY(measure_growing(m));
    TSL_TRY(measure_places(m));
  }
done:
  return err;
}

/* ---- strips */

static int64_t count_lanes(const tsl_unit *units, int64_t n_units) {
  int64_t n = 0;
  while (n < n_units && units[n].stage == units[0].stage) n++;
  return n;
}

bool tsl_measure_has_strips(const tsl_problem *problem, const tsl_unit *units, int64_t n_units) {
  const int64_t lanes = count_lanes(units, n_units);
  if (problem->family->shape != TSL_WAVE || lanes == 0) return false;
  for (int64_t u = 0; u < n_units; u++) {
    const bool alike = units[u].lane == u % lanes && units[u].stage == u / lanes;
    if (!alike || units[u].kind != units[0].kind || units[u].setup > 0) return false;
  }
  return true;
}

/* Lanes that fill the device, of the rank's. What a band costs besides its cells is shared out to
 * the rank's lanes; where stages overlap, it is paid once in all of them. */
static tsl_err measure_strips(sampler *m, int n_ranks) {
  tsl_err err = TSL_OK;
  const tsl_executor *executor = m->executor;
  const tsl_backend *backend = executor->backend;
  int64_t of_rank;
  m->overlaps = tsl_overlaps(executor);
  m->stride = count_lanes(m->units, m->n_units);
  of_rank = m->stride > n_ranks ? m->stride / n_ranks : 1;
  if (of_rank > m->room) of_rank = m->room;
  m->wide = of_rank;
  if (backend->saturating_lanes != NULL)
    m->wide = backend->saturating_lanes(executor->problem, &executor->placement->device, m->units,
                                        m->wide);
  for (int64_t u = (m->stride - m->wide) / 2; u < m->n_units; u += m->stride)
    m->at[m->n++] = &m->units[u];
  TSL_TRY(measure_growing(m));
  m->speed->c[m->units[0].kind][0] /= (double)(m->overlaps ? of_rank * m->n : of_rank);
done:
  return err;
}

tsl_err tsl_measure_warm_up(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                            const tsl_speed *speed) {
  tsl_err err = TSL_OK;
  trial *t = NULL;
  tsl_unit begin;
  const tsl_unit *at = &begin;
  sampler m = {.executor = executor, .units = at, .n_units = 1, .room = 1, .stride = 1, .at = &at};
  m.wide = 1;
  TSL_TRY(tsl_alloc(1, sizeof *t, "calibration", (void **)&t));
  for (int kind = 0; kind < executor->problem->family->n_kinds; kind++) {
    const tsl_unit *middle = tsl_middle_unit(units, n_units, kind);
    double seconds = 0;
    if (middle == NULL || middle->setup > 0) continue;
    begin = tsl_unit_begin(middle);
    cut_trial(&m, at, FIRST_SIZE, t);
    if (tsl_speed_seconds(speed, &t->units[0]) <= WARM_UP) TSL_TRY(run_once(&m, t, &seconds));
  }
done:
  tsl_free(t);
  return err;
}

tsl_err tsl_measure(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                    int n_ranks, int64_t memory, tsl_speed *speed) {
  tsl_err err = TSL_OK;
  tsl_unit *begin = NULL; /* nothing has run yet, so that units have as much to do as at first */
  sampler m = {.executor = executor, .n_units = n_units, .speed = speed};
  TSL_TRY(tsl_alloc(n_units, sizeof *begin, "calibration", (void **)&begin));
  TSL_TRY(tsl_alloc(n_units, sizeof *m.ran, "calibration", (void **)&m.ran));
  TSL_TRY(tsl_alloc(n_units, sizeof *m.at, "calibration", (void **)&m.at));
  TSL_TRY(tsl_alloc(PLACES, sizeof *m.trials, "calibration", (void **)&m.trials));
  for (int64_t u = 0; u < n_units; u++) begin[u] = tsl_unit_begin(&units[u]);
  m.units = begin;
  m.room = tsl_batch_room(executor->problem, units, n_units, memory);
  if (tsl_measure_has_strips(executor->problem, units, n_units))
    TSL_TRY(measure_strips(&m, n_ranks));
  else
    TSL_TRY(measure_bag(&m));
done:
  TSL_FREE_ALL(begin, m.ran, m.at, m.trials);
  return err;
}
