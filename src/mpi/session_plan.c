/* The stage of a session that decides who takes part and who gets what. */
#include "agree.h"
#include "plan_wave.h"
#include "session.h"
#include "share.h"

#include <math.h>

static tsl_err share_plan(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_plan *p = &s->plan;
  int32_t *owner = p->owner;
  double *seconds = p->seconds;
  TSL_TRY(tsl_share_bytes(s->comm, p, (int64_t)sizeof *p));
  p->owner = owner, p->seconds = seconds;
  if (s->rank != 0) {
    TSL_TRY(tsl_alloc(p->n_units, sizeof *p->owner, "plan", (void **)&p->owner));
    TSL_TRY(tsl_alloc(p->n_ranks, sizeof *p->seconds, "plan", (void **)&p->seconds));
  }
  TSL_TRY(tsl_share_bytes(s->comm, p->owner, p->n_units * (int64_t)sizeof *p->owner));
  TSL_TRY(tsl_share_bytes(s->comm, p->seconds, p->n_ranks * (int64_t)sizeof *p->seconds));
done:
  return err;
}

/* The ranks that take part, as the planners see them: numbered without gaps. */
typedef struct party {
  const tsl_cost *cost;
  int n;
  int *ranks;  /* [n] */
  bool *sides; /* [n] of a fixed share */
} party;

static double party_seconds(const void *model, int rank, const tsl_unit *unit) {
  const party *p = model;
  return tsl_cost_seconds(p->cost, p->ranks[rank], unit);
}

/* A fixed share is of all ranks. */
static tsl_err gather_party(const tsl_session *s, party *p) {
  tsl_err err = TSL_OK;
  bool *sides = NULL;
  const bool all = s->run.plan == TSL_PLAN_SHARE;
  *p = (party){.cost = &s->cost};
  TSL_TRY(tsl_alloc(s->size, sizeof *sides, "plan", (void **)&sides));
  TSL_TRY(tsl_alloc(s->size, sizeof *p->ranks, "plan", (void **)&p->ranks));
  TSL_TRY(tsl_alloc(s->size, sizeof *p->sides, "plan", (void **)&p->sides));
  tsl_session_sides(s, sides);
  for (int r = 0; r < s->size; r++)
    if (all || tsl_cost_takes_part(&s->cost, r)) p->sides[p->n] = sides[r], p->ranks[p->n++] = r;
done:
  tsl_free(sides);
  return err;
}

/* The plan's ranks by their own numbers. */
static tsl_err name_ranks(const party *p, int size, tsl_plan *plan) {
  tsl_err err = TSL_OK;
  double *seconds = NULL;
  TSL_TRY(tsl_alloc(size, sizeof *seconds, "plan", (void **)&seconds));
  for (int64_t u = 0; u < plan->n_units; u++)
    if (plan->owner[u] >= 0) plan->owner[u] = p->ranks[plan->owner[u]];
  for (int k = 0; k < p->n; k++) seconds[p->ranks[k]] = plan->seconds[k];
  tsl_free(plan->seconds);
  plan->seconds = seconds;
  plan->n_ranks = size;
done:
  return err;
}

static tsl_err make_plan(tsl_session *s) {
  tsl_err err = TSL_OK;
  party p = {.n = 0};
  tsl_plan_rule rule = {
      .kind = (tsl_plan_kind)s->run.plan, .dynamic = s->run.dynamic, .share = s->run.gpu_share};
  TSL_TRY(gather_party(s, &p));
  rule.fast = p.sides;
  TSL_TRY((s->family->shape == TSL_WAVE ? tsl_plan_wave : tsl_plan_make)(
      &rule, s->units.list, s->units.n, p.n, party_seconds, &p, &s->plan));
  TSL_TRY(name_ranks(&p, s->size, &s->plan));
done:
  tsl_free(p.ranks);
  tsl_free(p.sides);
  return err;
}

void tsl_session_sides(const tsl_session *s, bool *fast) {
  for (int r = 0; r < s->size; r++) fast[r] = s->seats[r].device.kind == TSL_GPU;
  tsl_plan_sides(fast, s->size, fast);
}

tsl_err tsl_session_deal(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_plan_clear(&s->plan);
  TSL_AGREE(s->comm, s->rank == 0 ? make_plan(s) : TSL_OK);
  TSL_AGREE(s->comm, share_plan(s));
done:
  return err;
}

/* ---- who takes part */

static const double LONG_RUN = 0.5; /* s: here finer units for slow ranks pay */
enum { FINER = 4, FAST = 8 };       /* when a rank is so many times slower than the fastest */

/* Stages of strips, whose number bounds what one more rank is worth; 0: no strips. */
static int64_t strip_stages(const tsl_session *s) {
  int64_t most_lane = 0;
  if (s->family->shape != TSL_WAVE || s->units.n == 0) return 0;
  for (int64_t u = 0; u < s->units.n; u++)
    if (s->units.list[u].lane > most_lane) most_lane = s->units.list[u].lane;
  return most_lane + 1 < s->units.n ? s->units.list[s->units.n - 1].stage + 1 : 0;
}

static bool can_be_finer(const tsl_session *s) {
  return s->family->shape == TSL_BAG && s->run.units == 0 && s->finer == 1;
}

static double alone(const tsl_session *s, int rank) {
  double seconds = 0;
  for (int64_t u = 0; u < s->units.n; u++)
    seconds += tsl_cost_seconds(&s->cost, rank, &s->units.list[u]);
  return seconds;
}

/* Everybody takes part where the user or the plan says so. */
static void judge_ranks(tsl_session *s) {
  const bool all = s->run.ranks == TSL_RANKS_ALL || s->run.plan == TSL_PLAN_ROUNDROBIN ||
                   s->run.plan == TSL_PLAN_SHARE;
  tsl_useful_ask ask = {.units = s->units.list,
                        .n_units = s->units.n,
                        .n_ranks = s->size,
                        .seconds = tsl_cost_seconds,
                        .model = &s->cost,
                        .bytes = (double)tsl_session_output_bytes(s),
                        .stages = strip_stages(s),
                        .cut_last = 1};
  double fastest = alone(s, 0);
  for (int r = 1; r < s->size; r++) fastest = fmin(fastest, alone(s, r));
  if (can_be_finer(s) && fastest > LONG_RUN) ask.cut_last = FINER;
  tsl_plan_useful(&ask, s->use);
  for (int r = 0; r < s->size && all; r++) s->use[r].takes_part = 1;
}

static tsl_err choose_ranks(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_free(s->use);
  tsl_free(s->cost.left_out);
  s->use = NULL, s->cost.left_out = NULL;
  TSL_TRY(tsl_alloc(s->size, sizeof *s->use, "ranks", (void **)&s->use));
  TSL_TRY(tsl_alloc(s->size, sizeof *s->cost.left_out, "ranks", (void **)&s->cost.left_out));
  if (s->rank == 0) judge_ranks(s);
  TSL_TRY(tsl_share_bytes(s->comm, s->use, s->size * (int64_t)sizeof *s->use));
  for (int r = 0; r < s->size; r++) s->cost.left_out[r] = !s->use[r].takes_part;
done:
  return err;
}

int tsl_session_parts(const tsl_session *s) {
  int n = 0;
  for (int r = 0; r < s->size; r++) n += tsl_cost_takes_part(&s->cost, r);
  return n;
}

/* Do slow ranks take part in a long run? The same on all ranks. */
static bool finer_pays(const tsl_session *s) {
  double fastest = INFINITY, slowest = 0, rate = 0;
  for (int r = 0; r < s->size; r++) {
    if (!s->use[r].takes_part || s->use[r].alone <= 0) continue;
    fastest = fmin(fastest, s->use[r].alone);
    slowest = fmax(slowest, s->use[r].alone);
    rate += 1 / s->use[r].alone;
  }
  return can_be_finer(s) && rate > 0 && 1 / rate > LONG_RUN && slowest > FAST * fastest;
}

static tsl_err calibrate(tsl_session *s) {
  tsl_err err = TSL_OK;
  const int before = s->measured;
  tsl_free(s->cost.speeds);
  s->cost.speeds = NULL;
  TSL_TRY(tsl_calibrate(s->comm, &s->station, s->units.list, s->units.n, &s->run, &s->cost,
                        &s->measured));
  if (before > s->measured) s->measured = before;
done:
  return err;
}

/* Units of another size are measured anew; who takes part is judged once. */
static tsl_err cut_finer(tsl_session *s) {
  tsl_err err = TSL_OK;
  s->finer = FINER;
  TSL_TRY(tsl_session_units(s));
  TSL_TRY(calibrate(s));
done:
  return err;
}

tsl_err tsl_session_plan(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(calibrate(s));
  TSL_AGREE(s->comm, choose_ranks(s));
  if (finer_pays(s)) TSL_TRY(cut_finer(s));
  TSL_TRY(tsl_session_deal(s));
done:
  return err;
}
