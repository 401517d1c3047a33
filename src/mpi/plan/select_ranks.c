/* Slow ranks are added in order of speed; the number of them with the shortest predicted time plus
 * prices is kept. */
#include "select_ranks.h"

#include <math.h>
#include <stdlib.h>

/* Ranks that take part so far: their joint speed (runs per second) and what the slow ones cost. */
typedef struct participants {
  double rate;
  double unit;  /* s of a unit, or a batch, of the slowest of the slow */
  double bytes; /* of the slow ones' results, if they had their share among fast ranks */
  int slow;
} participants;

static double run_seconds(const participants *p) {
  return 1 / p->rate;
}

static double price_of(const tsl_select_ask *ask, const participants *p) {
  if (p->slow == 0) return 0;
  const double fill = ask->stages > 0 ? p->slow * run_seconds(p) / (double)ask->stages : 0;
  return TSL_USEFUL_START * ask->phases + p->unit + p->bytes / TSL_USEFUL_RATE + fill;
}

static participants with_rank(const tsl_select_ask *ask, const participants *p,
                              const tsl_use *rank) {
  participants more = *p;
  const double rate = 1 / rank->alone, share = rate / (p->rate + rate);
  const double whole = rank->alone / (double)(ask->work.n_units * ask->phases);
  const double unit = whole > TSL_USEFUL_START ? whole / ask->cut_last : whole;
  more.rate += rate;
  more.unit = fmax(p->unit, ask->batch != NULL ? fmax(unit, ask->batch[rank->rank]) : unit);
  more.bytes += rank->rank > 0 ? share * ask->bytes : 0;
  more.slow++;
  return more;
}

/* A rank against the others of those that are best; peers have no price. */
static void judge(const tsl_select_ask *ask, const participants *best, bool peer, tsl_use *rank) {
  participants p = *best;
  if (rank->takes_part) p.rate -= 1 / rank->alone, p.slow -= !peer;
  if (!(p.rate > 0)) return; /* there are none */
  const participants more = with_rank(ask, &p, rank);
  rank->without = run_seconds(&p);
  rank->gain = run_seconds(&p) - run_seconds(&more);
  rank->price = peer ? 0 : price_of(ask, &more) - price_of(ask, &p);
}

static int by_speed(const void *a, const void *b) {
  const tsl_use *x = a, *y = b;
  if (x->alone != y->alone) return x->alone < y->alone ? -1 : 1;
  return x->rank < y->rank ? -1 : 1;
}

static int by_rank(const void *a, const void *b) {
  const tsl_use *x = a, *y = b;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Of a list ordered by speed. */
static void choose(const tsl_select_ask *ask, tsl_use *use) {
  const int n = ask->work.n_ranks;
  participants p = {.rate = 0}, best;
  int peers = 0;
  for (; peers < n && use[peers].alone <= TSL_USEFUL_PEERS * use[0].alone; peers++)
    p.rate += 1 / use[peers].alone;
  best = p;
  for (int k = peers; k < n; k++) {
    p = with_rank(ask, &p, &use[k]);
    if (run_seconds(&p) + price_of(ask, &p) < run_seconds(&best) + price_of(ask, &best)) best = p;
  }
  for (int k = 0; k < n; k++) use[k].takes_part = k < peers + best.slow;
  for (int k = 0; k < n; k++) judge(ask, &best, k < peers, &use[k]);
}

void tsl_select_ranks(const tsl_select_ask *ask, tsl_use *use) {
  bool known = ask->work.n_units > 0;
  for (int r = 0; r < ask->work.n_ranks; r++) {
    use[r] = (tsl_use){.rank = r, .takes_part = 1};
    if (ask->like != NULL && ask->like[r] < r)
      use[r].alone = use[ask->like[r]].alone;
    else
      for (int64_t u = 0; u < ask->work.n_units; u++)
        use[r].alone += ask->phases * tsl_workload_seconds(&ask->work, r, u);
    known = known && use[r].alone > 0;
  }
  if (!known) return; /* nothing to do, or nothing known of a rank: all take part */
  qsort(use, (size_t)ask->work.n_ranks, sizeof *use, by_speed);
  choose(ask, use);
  qsort(use, (size_t)ask->work.n_ranks, sizeof *use, by_rank);
}
