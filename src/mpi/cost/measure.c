/* Trials on the compute thread: growing samples of each kind, batches at several intensities, first
 * runs against later ones, and the fit. */
#include "measure_own.h"

#include "batch.h"
#include "slab_pool.h"
#include "test_delay_card.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SAMPLES = 24 };

static const double FIRST_FRACTION = 1.0 / 256, GROWTH = 4;
static const double LONG_ENOUGH = 0.05; /* s: a sample of this length is precise */
static const double BUDGET = 0.35;      /* s for one kind on one rank */

/* Batches as a phase sends them: a part of its time (work_source.c), which lets a card that takes
 * some time to drain show its real speed; no longer than a calibration can afford. */
enum { BATCHES = 64 };
static const double LONGEST_BATCH = 0.03; /* s */

/* Units to run on the compute thread. */
typedef struct trial {
  tsl_task task;
  const tsl_executor *executor;
  const tsl_unit *units;
  int64_t n;
  tsl_part parts[TSL_MAX_BATCH];
} trial;

static tsl_err run_trial(tsl_task *task) {
  tsl_err err = TSL_OK;
  trial *t = (trial *)task;
  TSL_TRY(t->executor->backend->run(t->executor->worker, t->units, t->n, t->parts));
  TSL_TRY(tsl_test_delay(t->executor, t->n, t->parts, t->n));
done:
  return err;
}

tsl_err tsl_measure_each(const tsl_executor *executor, const tsl_unit *units, int64_t n,
                         double *seconds) {
  tsl_err err = TSL_OK;
  trial t = {.task.run = run_trial, .executor = executor, .units = units, .n = n};
  tsl_slab_pool slots = {.problem = NULL};
  TSL_TRY(tsl_slab_pool_open(executor->problem, executor->backend, units, n, n, &slots));
  for (int64_t u = 0; u < n; u++) TSL_TRY(tsl_slab_pool_place(&slots, &units[u], &t.parts[u]));
  TSL_TRY(tsl_compute_thread_call(executor->thread, &t.task));
  for (int64_t u = 0; u < n; u++) seconds[u] = t.parts[u].seconds;
done:
  for (int64_t u = 0; u < n; u++) tsl_part_drop_lists(&t.parts[u]);
  tsl_slab_pool_close(&slots);
  return err;
}

tsl_err tsl_measure_units(const tsl_executor *executor, const tsl_unit *units, int64_t n,
                          double *seconds) {
  tsl_err err = TSL_OK;
  double each[TSL_MAX_BATCH];
  TSL_TRY(tsl_measure_each(executor, units, n, each));
  *seconds = 0;
  for (int64_t u = 0; u < n; u++) *seconds += each[u];
done:
  return err;
}

/* Units of a kind in order of items per byte: they differ in what a device is good at. */
typedef struct places {
  const tsl_unit **list; /* [n] */
  int64_t n;
} places;

static int by_intensity(const void *a, const void *b) {
  const tsl_unit *x = *(const tsl_unit *const *)a, *y = *(const tsl_unit *const *)b;
  const double p = x->count / (x->bytes + 1), q = y->count / (y->bytes + 1);
  if (p != q) return p < q ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static tsl_err open_places(const tsl_unit *units, int64_t n, int kind, places *p) {
  tsl_err err = TSL_OK;
  *p = (places){NULL, 0};
  TSL_TRY(tsl_alloc(n, sizeof *p->list, "calibration", (void **)&p->list));
  for (int64_t u = 0; u < n; u++)
    if (units[u].kind == kind) p->list[p->n++] = &units[u];
  qsort(p->list, (size_t)p->n, sizeof *p->list, by_intensity);
done:
  return err;
}

const tsl_unit *tsl_measure_middle(const tsl_unit *units, int64_t n, int kind) {
  int64_t of_kind = 0, seen = 0;
  for (int64_t u = 0; u < n; u++) of_kind += units[u].kind == kind;
  for (int64_t u = 0; u < n; u++)
    if (units[u].kind == kind && seen++ == of_kind / 2) return &units[u];
  return NULL;
}

void tsl_measure_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                        tsl_unit *out) {
  *out = *whole;
  if (problem->family->sample != NULL && fraction < 1)
    problem->family->sample(problem, whole, fraction, out);
}

/* What first runs took more than later ones, and the operations that they did for it. */
typedef struct firsts {
  double seconds, setup;
  bool *ran; /* [n_units] the first run of the unit is over, or of a part of it */
} firsts;

/* Units whose first runs cost more than later ones? */
static bool has_setup(const tsl_unit *units, int64_t n, int kind) {
  for (int64_t u = 0; u < n; u++)
    if (units[u].kind == kind && units[u].setup > 0) return true;
  return false;
}

static void add_first(firsts *f, double setup, double first, double later) {
  if (setup <= 0) return;
  f->setup += setup;
  f->seconds += fmax(0, first - later);
}

/* Time a sample with everything in place; a fresh one shows its first run. */
static tsl_err time_sample(const tsl_executor *executor, bool fresh, tsl_sample *s, double *first,
                           firsts *f) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_measure_units(executor, &s->unit, 1, first));
  s->seconds = *first;
  if (s->unit.setup <= 0) goto done;
  TSL_TRY(tsl_measure_units(executor, &s->unit, 1, &s->seconds));
  if (fresh) add_first(f, s->unit.setup, *first, s->seconds);
done:
  return err;
}

static bool same_box(const tsl_unit *a, const tsl_unit *b) {
  return memcmp(a->lo, b->lo, sizeof a->lo) == 0 && memcmp(a->hi, b->hi, sizeof a->hi) == 0;
}

/* Growing samples until one is long enough or whole, and the time of the shortest; the first run of
 * all only warms up. */
static tsl_err measure_kind(const tsl_executor *executor, const tsl_unit *whole, firsts *f,
                            double *c, double *shortest) {
  tsl_err err = TSL_OK;
  tsl_sample samples[MAX_SAMPLES];
  tsl_unit before;
  double fraction = FIRST_FRACTION, spent = 0, first = 0;
  int n = 0;
  *shortest = INFINITY;
  tsl_measure_sample(executor->problem, whole, fraction, &before);
  TSL_TRY(tsl_measure_units(executor, &before, 1, &first));
  while (n < MAX_SAMPLES && spent < BUDGET) {
    tsl_sample *s = &samples[n++];
    tsl_measure_sample(executor->problem, whole, fraction, &s->unit);
    TSL_TRY(time_sample(executor, !same_box(&s->unit, &before), s, &first, f));
    before = s->unit;
    if (s->seconds > 0) *shortest = fmin(*shortest, s->seconds);
    spent += fmax(first, s->seconds);
    if (fraction >= 1 && (n >= 4 || s->seconds > LONG_ENOUGH)) break;
    if (s->unit.setup > 0 && first > LONG_ENOUGH) break; /* the others would take as long */
    fraction = s->seconds > LONG_ENOUGH || fraction * GROWTH > 1 ? 1 : fraction * GROWTH;
  }
  f->ran[whole->id] = true;
  tsl_cost_fit(samples, n, c);
done:
  return err;
}

/* Neighbours of the unit's kind from it on, at most room. */
static int64_t run_length(const tsl_unit *unit, const tsl_unit *end, int64_t room) {
  int64_t n = 1;
  while (n < room && unit + n < end && unit[n].kind == unit->kind) n++;
  return n;
}

tsl_sample tsl_measure_mean(const tsl_unit *units, int64_t n, double seconds) {
  tsl_sample mean = {.unit = units[0], .seconds = seconds / (double)n};
  mean.unit.flops = mean.unit.bytes = mean.unit.count = 0;
  for (int64_t u = 0; u < n; u++) {
    mean.unit.flops += units[u].flops / (double)n;
    mean.unit.bytes += units[u].bytes / (double)n;
    mean.unit.count += units[u].count / (double)n;
  }
  return mean;
}

/* Seconds of a batch when this device did everything. */
static double longest_batch(const tsl_unit *units, int64_t n_units, const tsl_speed *speed) {
  double total = 0;
  for (int64_t u = 0; u < n_units; u++) total += tsl_speed_seconds(speed, &units[u]);
  return fmin(LONGEST_BATCH, fmax(TSL_BATCH_LONGEST, total / BATCHES));
}

/* What fits a batch. */
typedef struct limit {
  double longest; /* s */
  int64_t room;   /* units */
} limit;

/* What a phase would send at a place: a batch of short units, or a part of a long one. */
typedef struct place {
  const tsl_unit *units; /* [n] */
  int64_t n;
  tsl_unit part;
  tsl_sample sample;   /* the best run */
  double first, setup; /* s of the first run, and what it did more */
} place;

static void open_place(const tsl_executor *executor, const tsl_unit *unit, const tsl_unit *end,
                       const limit *most, const tsl_speed *speed, firsts *f, place *p) {
  const double expected = tsl_speed_seconds(speed, unit);
  const double first = expected + speed->setup[unit->kind] * unit->setup;
  *p = (place){.units = unit, .n = tsl_batch_size(expected, most->longest, most->room)};
  p->n = run_length(unit, end, p->n);
  if (unit->setup > 0) { /* as many as a calibration can afford to run for the first time */
    const double fit = fmax(1, LONG_ENOUGH / fmax(first, 1e-9));
    if ((double)p->n > fit) p->n = (int64_t)fit;
  }
  for (int64_t u = 0; u < p->n; u++) {
    p->setup += f->ran[unit[u].id] ? 0 : unit[u].setup;
    f->ran[unit[u].id] = true;
  }
  if (p->n > 1) return;
  tsl_measure_sample(executor->problem, unit, LONG_ENOUGH / first, &p->part);
  p->setup = p->setup > 0 ? p->part.setup : 0;
  p->units = &p->part;
}

static tsl_err run_place(const tsl_executor *executor, int run, place *p) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  TSL_TRY(tsl_measure_units(executor, p->units, p->n, &seconds));
  if (run == 0) p->first = seconds;
  if (run == 0 && p->setup > 0) return err; /* that was not a run with everything in place */
  if (p->sample.seconds <= 0 || seconds < p->sample.seconds * (double)p->n)
    p->sample = tsl_measure_mean(p->units, p->n, seconds);
done:
  return err;
}

/* Seconds of a batch with everything in place. */
static tsl_err time_batch(const tsl_executor *executor, const tsl_unit *unit, int64_t n, firsts *f,
                          double *seconds) {
  tsl_err err = TSL_OK;
  double first = 0, setup = 0;
  for (int64_t u = 0; u < n; u++) {
    setup += f->ran[unit[u].id] ? 0 : unit[u].setup;
    f->ran[unit[u].id] = true;
  }
  TSL_TRY(tsl_measure_units(executor, unit, n, &first));
  *seconds = first;
  if (setup <= 0) goto done;
  TSL_TRY(tsl_measure_units(executor, unit, n, seconds));
  add_first(f, setup, first, *seconds);
done:
  return err;
}

/* Short units travel together in a phase and a device may do many as fast as one: then such a
 * batch, not the single unit, tells the cost. A longer batch may be faster still, so look again. */
static tsl_err measure_batches(const tsl_executor *executor, const tsl_unit *unit,
                               const tsl_unit *end, const limit *most, firsts *f,
                               tsl_speed *speed) {
  enum { LOOKS = 4 };
  tsl_err err = TSL_OK;
  double *c = speed->c[unit->kind];
  int64_t before = 1;
  for (int look = 0; look < LOOKS; look++) {
    const int64_t n = run_length(
        unit, end, tsl_batch_size(tsl_speed_seconds(speed, unit), most->longest, most->room));
    double seconds = 0, predicted = 0;
    if (n <= before) break;
    before = n;
    TSL_TRY(time_batch(executor, unit, n, f, &seconds));
    for (int64_t u = 0; u < n; u++) predicted += tsl_speed_seconds(speed, &unit[u]);
    for (int k = 0; k < TSL_N_COEFFICIENTS && predicted > 0; k++) c[k] *= seconds / predicted;
  }
done:
  return err;
}

bool tsl_measure_alike(const tsl_sample *samples, int n) {
  double least = samples[0].unit.count, most = least;
  for (int k = 1; k < n; k++) {
    least = fmin(least, samples[k].unit.count);
    most = fmax(most, samples[k].unit.count);
  }
  return most <= 1.1 * least;
}

void tsl_measure_scale(const tsl_sample *samples, int n, const tsl_speed *expected, double *c) {
  double measured = 0, predicted = 0;
  for (int k = 0; k < n; k++) {
    measured += samples[k].seconds;
    predicted += tsl_speed_seconds(expected, &samples[k].unit);
  }
  for (int k = 0; k < TSL_N_COEFFICIENTS && predicted > 0; k++) c[k] *= measured / predicted;
}

/* No unit costs more besides its work than the shortest sample took, whatever a fit to samples of
 * about the same time says. */
static void bound_constant(const tsl_sample *samples, int n, double shortest, double *c) {
  tsl_speed rest = {.c = {{0}}};
  double measured = 0, predicted = 0;
  if (c[0] <= shortest) return;
  memcpy(rest.c[samples[0].unit.kind], c, sizeof rest.c[0]);
  rest.c[samples[0].unit.kind][0] = 0;
  for (int k = 0; k < n; k++) {
    measured += fmax(0, samples[k].seconds - shortest);
    predicted += tsl_speed_seconds(&rest, &samples[k].unit);
  }
  if (predicted <= 0) return;
  c[0] = shortest;
  for (int k = 1; k < TSL_N_COEFFICIENTS; k++) c[k] *= measured / predicted;
}

/* One unit cannot tell time for each byte from time for each item; units of the kind from few items
 * a byte to many can. All places in turn, so that none finds its data in a cache; the best run of
 * each counts. */
static tsl_err measure_places(const tsl_executor *executor, const places *p, const tsl_unit *end,
                              const limit *most, firsts *f, double shortest, tsl_speed *speed) {
  enum { PLACES = 5, RUNS = 2 };
  tsl_err err = TSL_OK;
  place all[PLACES];
  tsl_sample samples[PLACES];
  const int kind = p->list[0]->kind;
  const int runs = RUNS + has_setup(p->list[0], 1, kind);
  tsl_speed expected = *speed;
  int n = 0;
  for (int k = 0; k < PLACES; k++)
    open_place(executor, p->list[(p->n - 1) * (2 * k + 1) / (2 * PLACES)], end, most, &expected, f,
               &all[k]);
  for (int run = 0; run < runs; run++)
    for (int k = 0; k < PLACES; k++) TSL_TRY(run_place(executor, run, &all[k]));
  for (int k = 0; k < PLACES; k++) {
    const tsl_sample *s = &all[k].sample;
    add_first(f, all[k].setup, all[k].first, s->seconds * (double)all[k].n);
    if (s->seconds > 0) samples[n++] = *s;
  }
  if (n > 0 && tsl_measure_alike(samples, n))
    tsl_measure_scale(samples, n, &expected, speed->c[kind]);
  else if (n > 0)
    tsl_cost_fit(samples, n, speed->c[kind]);
  if (n > 0) bound_constant(samples, n, shortest, speed->c[kind]);
done:
  return err;
}

/* Coefficients of one kind. */
static tsl_err measure_all(const tsl_executor *executor, const tsl_unit *whole,
                           const tsl_unit *units, int64_t n_units, limit *most, firsts *f,
                           tsl_speed *speed) {
  tsl_err err = TSL_OK;
  const int kind = whole->kind;
  places p = {NULL, 0};
  double shortest = 0;
  f->seconds = f->setup = 0;
  TSL_TRY(measure_kind(executor, whole, f, speed->c[kind], &shortest));
  TSL_TRY(measure_batches(executor, whole, units + n_units, most, f, speed));
  speed->setup[kind] = f->setup > 0 ? f->seconds / f->setup : 0;
  most->longest = longest_batch(units, n_units, speed);
  TSL_TRY(open_places(units, n_units, kind, &p));
  TSL_TRY(measure_places(executor, &p, units + n_units, most, f, shortest, speed));
  speed->setup[kind] = f->setup > 0 ? f->seconds / f->setup : 0;
done:
  tsl_free(p.list);
  return err;
}

/* All kinds of units that do not travel as strips. */
static tsl_err measure_bag(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                           int64_t memory, tsl_speed *speed) {
  tsl_err err = TSL_OK;
  firsts f = {.ran = NULL};
  limit most = {TSL_BATCH_LONGEST, tsl_batch_room(executor->problem, units, n_units, memory)};
  TSL_TRY(tsl_alloc(n_units, sizeof *f.ran, "calibration", (void **)&f.ran));
  for (int kind = 0; kind < executor->problem->family->n_kinds; kind++) {
    const tsl_unit *whole = tsl_measure_middle(units, n_units, kind);
    if (whole != NULL) TSL_TRY(measure_all(executor, whole, units, n_units, &most, &f, speed));
  }
done:
  tsl_free(f.ran);
  return err;
}

tsl_err tsl_measure(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                    int n_ranks, int64_t memory, tsl_speed *speed) {
  tsl_err err = TSL_OK;
  tsl_unit *begin = NULL; /* nothing has run yet, so that units have as much to do as at first */
  if (tsl_measure_has_strips(executor->problem, units, n_units))
    return tsl_measure_strips(executor, units, n_units, n_ranks, memory, speed);
  TSL_TRY(tsl_alloc(n_units, sizeof *begin, "calibration", (void **)&begin));
  for (int64_t u = 0; u < n_units; u++) begin[u] = tsl_unit_begin(&units[u]);
  TSL_TRY(measure_bag(executor, begin, n_units, memory, speed));
done:
  tsl_free(begin);
  return err;
}
