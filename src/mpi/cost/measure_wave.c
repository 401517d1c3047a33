/* Strips of a WAVE family: a rank's tiles of a stage are one band to its device. */
#include "measure_own.h"

#include "batch.h"
#include "overlap.h"

#include <math.h>

enum { MOST_SAMPLES = 16, LEAST_SAMPLES = 3, PLACES = 5, LEAST_PLACES = 2, RUNS = 2 };

/* Chains: so many times the lanes that fill a device, which wait less for each other than those do;
 * stages, of which the first ones take longer: the device fills, and computes of the next ones. */
enum { CHAIN_WIDTH = 2, CHAIN_DEEP = 4, CHAIN_FIRST = 2 };

static const double FIRST_FRACTION = 1.0 / 1024, GROWTH = 4;
static const double LONG_ENOUGH = 0.08; /* s: a sample of this length is precise */
static const double RISE = 2;           /* the last sample is so many times longer than the first */
static const double FILLED = 3;         /* times the first: rows fill the device */
static const double OF_A_PLACE = 0.12;  /* s of a run at a place: most tiles as a whole */
static const double STEEP = 0.6;        /* of the growth of cells: they take most of the time */
static const double IN_LINE = 0.1;      /* of its time a single run may be off */
static const double BUDGET = 0.6;       /* s of places */
static const double GROWING = 1.5;      /* s of growing samples */

/* The table as it is cut, and this rank's part of it. */
typedef struct strips {
  const tsl_executor *executor;
  const tsl_unit *units; /* [stages][lanes] */
  int64_t lanes, stages;
  int64_t of_rank;       /* lanes of a band in the run */
  int64_t wide, deepest; /* lanes of a band in a trial; stages of a trial at most */
  bool overlaps;         /* a stage begins while the one before ends */
  int64_t chain_wide;    /* lanes, and stages, of trials at places, which run as the run does, */
  int64_t chain_deep;    /* one stage begun while another ends */
} strips;

static bool is_chain(const strips *s) {
  return s->overlaps && s->chain_deep > CHAIN_FIRST;
}

/* What is tried: bands of stages one after another, or a part of each. */
typedef struct trial {
  int64_t stage, lane; /* of the first tile */
  int64_t deep, wide;  /* stages, lanes */
  double fraction;     /* of the stages' rows */
} trial;

/* Lanes of the first stage. */
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

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static strips make_strips(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                          int n_ranks, int64_t memory, bool overlaps) {
  const int64_t room = tsl_batch_room(executor->problem, units, n_units, memory);
  strips s = {.executor = executor, .units = units, .lanes = count_lanes(units, n_units)};
  s.overlaps = overlaps;
  s.stages = n_units / s.lanes;
  s.wide = s.lanes / n_ranks > 0 ? s.lanes / n_ranks : 1;
  if (s.wide > room) s.wide = room;
  s.of_rank = s.wide;
  if (executor->backend->saturating_lanes != NULL)
    s.wide = executor->backend->saturating_lanes(executor->problem, &executor->placement->device,
                                                 units, s.wide);
  s.deepest = overlaps ? 1 : least(room / s.wide, s.stages);
  s.chain_wide = least(s.of_rank, CHAIN_WIDTH * s.wide);
  s.chain_deep = least(CHAIN_DEEP, least(room / s.chain_wide, s.stages));
  return s;
}

/* Its tiles, [deep][wide]. */
static int64_t cut_tiles(const strips *s, const trial *t, tsl_unit list[TSL_MAX_BATCH]) {
  int64_t n = 0;
  for (int64_t d = 0; d < t->deep; d++)
    for (int64_t l = 0; l < t->wide; l++)
      tsl_measure_sample(s->executor->problem, &s->units[(t->stage + d) * s->lanes + t->lane + l],
                         t->fraction, &list[n++]);
  return n;
}

/* What a trial shows. */
typedef struct outcome {
  tsl_sample sample; /* the mean tile; of a chain that of its later stages */
  double late;       /* s that the first stages of a chain take longer */
} outcome;

static tsl_sample mean_tile(const tsl_unit *tiles, const double *each, int64_t n) {
  double seconds = 0;
  for (int64_t k = 0; k < n; k++) seconds += each[k];
  return tsl_measure_mean(tiles, n, seconds);
}

static tsl_err run_trial(const strips *s, const trial *t, outcome *out) {
  tsl_err err = TSL_OK;
  tsl_unit list[TSL_MAX_BATCH] = {{0}};
  double each[TSL_MAX_BATCH];
  const int64_t n = cut_tiles(s, t, list);
  const int64_t first = s->overlaps && t->deep > CHAIN_FIRST ? CHAIN_FIRST * t->wide : 0;
  TSL_TRY(tsl_measure_each(s->executor, list, n, each));
  *out = (outcome){.sample = mean_tile(list + first, each + first, n - first)};
  if (first == 0) goto done;
  const tsl_sample early = mean_tile(list, each, first), *later = &out->sample;
  const double pace = later->seconds / fmax(1, later->unit.flops);
  out->late = fmax(0, early.seconds - pace * early.unit.flops) * (double)first;
done:
  return err;
}

/* Growing trials. */
typedef struct growth {
  trial last; /* the largest */
  tsl_sample samples[MOST_SAMPLES];
  double seconds[MOST_SAMPLES], cells[MOST_SAMPLES]; /* of all that a trial runs */
  int n;
} growth;

/* Do cells more take time more? In a table far wider than a trial has rows they hardly do: strips
 * that begin one after another take nearly all of it. */
static bool is_steep(const growth *g, int k) {
  return g->seconds[k] * g->cells[k - 1] >= STEEP * g->seconds[k - 1] * g->cells[k];
}

/* How far samples are off the line that fits them best, as a part of their time. */
static double off_line(const tsl_sample *samples, int n) {
  tsl_speed line = {.c = {{0}}};
  double worst = 0;
  tsl_cost_fit(samples, n, line.c[samples[0].unit.kind]);
  for (int k = 0; k < n; k++) {
    const double seconds = tsl_speed_seconds(&line, &samples[k].unit);
    worst = fmax(worst, fabs(seconds - samples[k].seconds) / samples[k].seconds);
  }
  return worst;
}

/* The first of the last samples that lie on a line: two or more. */
static int first_in_line(const growth *g) {
  int first = g->n > 2 ? g->n - 2 : 0;
  while (first > 0 && off_line(g->samples + first - 1, g->n - first + 1) <= IN_LINE) first--;
  return first;
}

/* More rows, then more stages. */
static bool grow(const strips *s, trial *t) {
  if (t->fraction < 1)
    t->fraction = fmin(1, GROWTH * t->fraction);
  else if (t->deep < s->deepest)
    t->deep = t->deep * (int64_t)GROWTH < s->deepest ? t->deep * (int64_t)GROWTH : s->deepest;
  else
    return false;
  t->stage = (s->stages - t->deep) / 2;
  return true;
}

/* Is the last sample precise, and its time that of its cells? For a chain: is the device full? */
static bool is_enough(const strips *s, const growth *g) {
  const int k = g->n - 1;
  if (is_chain(s)) return k > 0 && g->seconds[k] >= FILLED * g->seconds[0];
  return g->n >= LEAST_SAMPLES && g->seconds[k] >= LONG_ENOUGH &&
         g->seconds[k] >= RISE * g->seconds[0] && is_steep(g, k);
}

static tsl_err run_sample(const strips *s, growth *g) {
  tsl_err err = TSL_OK;
  const double units = (double)(g->last.deep * s->wide);
  outcome shown;
  TSL_TRY(run_trial(s, &g->last, &shown));
  g->samples[g->n] = shown.sample;
  g->seconds[g->n] = g->samples[g->n].seconds * units;
  g->cells[g->n] = g->samples[g->n].unit.count * units;
  g->n++;
done:
  return err;
}

/* Growing samples in the middle until one is enough; the first run of all only warms up. */
static tsl_err run_growing(const strips *s, growth *g) {
  tsl_err err = TSL_OK;
  double spent = 0;
  *g = (growth){.last = {.stage = s->stages / 2,
                         .lane = (s->lanes - s->wide) / 2,
                         .deep = 1,
                         .wide = s->wide,
                         .fraction = FIRST_FRACTION}};
  TSL_TRY(run_sample(s, g));
  g->n = 0;
  do {
    TSL_TRY(run_sample(s, g));
    spent += g->seconds[g->n - 1];
  } while (g->n < MOST_SAMPLES && !is_enough(s, g) && spent < GROWING && grow(s, &g->last));
done:
  return err;
}

/* What is run at places. */
typedef struct places {
  trial like; /* but for its place */
  int n, runs;
} places;

/* So much of a trial: fewer stages, for each costs what it costs; of a single one a part. */
static void cut(trial *t, double part) {
  const double stages = fmax(1, floor((double)t->deep * part));
  t->fraction = fmin(1, t->fraction * part * (double)t->deep / stages);
  t->deep = (int64_t)stages;
}

/* So many of them, for so many seconds each, as a calibration can afford. */
static void count_places(places *p, int fewest, double seconds) {
  p->n = PLACES;
  p->runs = seconds * PLACES * RUNS > BUDGET ? 1 : RUNS;
  if (seconds * PLACES > BUDGET) p->n = (int)fmax(fewest, BUDGET / seconds);
}

/* A part of the largest trial that shows its cells. */
static places choose_places(const strips *s, const growth *g) {
  const bool chain = is_chain(s);
  const double longest = g->seconds[g->n - 1], first = g->seconds[0];
  const double shows = fmax(RISE * first, g->seconds[first_in_line(g)]);
  const double wanted = fmax(OF_A_PLACE, chain ? FILLED * first : shows);
  places p = {.like = g->last};
  if (longest > wanted) cut(&p.like, wanted / longest);
  const double tiles = (double)(p.like.deep * p.like.wide);
  if (chain) {
    p.like.deep = s->chain_deep;
    p.like.wide = s->chain_wide;
  }
  count_places(&p, chain ? 1 : LEAST_PLACES,
               fmin(longest, wanted) * (double)(p.like.deep * p.like.wide) / tiles);
  return p;
}

/* 0, 2, 4 and so on, then 1, 3 and so on. */
static int64_t every_other(int64_t k, int64_t n) {
  return (2 * k + (n % 2 == 0 && 2 * k >= n)) % n;
}

/* Places from the first stages to the last, in lanes from one side to the other; one in the
 * middle. */
static trial place_at(const strips *s, const places *p, int k) {
  trial t = p->like;
  const int64_t lanes = s->lanes - t.wide;
  t.stage = (s->stages - t.deep) * (2 * k + 1) / (2 * p->n);
  t.lane = p->n == 1 ? lanes / 2 : lanes * every_other(k, p->n) / (p->n - 1);
  return t;
}

/* All places in turn, so that none finds its data in a cache; the best run of each counts. */
static tsl_err run_places(const strips *s, const places *p, tsl_sample samples[PLACES],
                          double *late) {
  tsl_err err = TSL_OK;
  *late = 0;
  for (int run = 0; run < p->runs; run++)
    for (int k = 0; k < p->n; k++) {
      const trial t = place_at(s, p, k);
      outcome shown;
      TSL_TRY(run_trial(s, &t, &shown));
      *late += shown.late / (p->n * p->runs);
      if (run == 0 || shown.sample.seconds < samples[k].seconds) samples[k] = shown.sample;
    }
done:
  return err;
}

/* Growing samples tell what a band costs besides its cells; places how the cells differ. */
static void fit_bands(const strips *s, const growth *g, const tsl_sample *at, int n_at,
                      tsl_speed *speed) {
  double *c = speed->c[s->units[0].kind];
  tsl_sample all[MOST_SAMPLES + PLACES];
  int n = 0;
  for (int k = first_in_line(g); k < g->n; k++) all[n++] = g->samples[k];
  tsl_cost_fit(all, n, c);
  if (tsl_measure_alike(at, n_at)) {
    const tsl_speed expected = *speed;
    tsl_measure_scale(at, n_at, &expected, c);
  } else {
    for (int k = 0; k < n_at; k++) all[n++] = at[k];
    tsl_cost_fit(all, n, c);
  }
  /* a band costs it once, not each of its lanes; where stages overlap it delays (plan_wave.h) */
  c[0] = s->overlaps ? 0 : c[0] * (double)s->wide / (double)s->of_rank;
}

/* Of the rank's part of the table. */
static double flops_of_rank(const strips *s) {
  double all = 0;
  for (int64_t u = 0; u < s->lanes * s->stages; u++) all += s->units[u].flops;
  return all * (double)s->of_rank / (double)s->lanes;
}

/* A chain's stages cost the device their cells alone, seconds for each flop; what the first of them
 * take longer is shared out to all. */
static void fit_chain(const strips *s, const tsl_sample *at, int n_at, double late,
                      tsl_speed *speed) {
  double *c = speed->c[s->units[0].kind];
  double seconds = 0, flops = 0;
  for (int k = 0; k < n_at; k++) {
    seconds += at[k].seconds;
    flops += at[k].unit.flops;
  }
  for (int k = 0; k < TSL_N_COEFFICIENTS; k++) c[k] = 0;
  c[1] = seconds / fmax(1, flops) + late / fmax(1, flops_of_rank(s));
}

tsl_err tsl_measure_strips(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                           int n_ranks, int64_t memory, tsl_speed *speed) {
  tsl_err err = TSL_OK;
  strips s;
  tsl_sample samples[PLACES];
  growth g;
  places p;
  bool overlaps = false;
  double late = 0;
  TSL_TRY(tsl_overlaps(executor, &overlaps));
  s = make_strips(executor, units, n_units, n_ranks, memory, overlaps);
  TSL_TRY(run_growing(&s, &g));
  p = choose_places(&s, &g);
  TSL_TRY(run_places(&s, &p, samples, &late));
  if (is_chain(&s))
    fit_chain(&s, samples, p.n, late, speed);
  else
    fit_bands(&s, &g, samples, p.n, speed);
done:
  return err;
}
