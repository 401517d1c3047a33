/* Cost of groups, predicted balance, statistics. */
#include "xc_groups.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const xc_cost_words[] = {"fitted", "seed", "paper", "size", NULL};

xc_group_features xc_group_features_of(const xc_group *group) {
  const double n = (double)group->n, b = (double)group->functions;
  return (xc_group_features){.nb = n * b, .nbb = n * b * b, .bb = b * b};
}

xc_cost_rule xc_cost_standard(xc_cost_kind kind) {
  xc_cost_rule rule = {.kind = kind};
  if (kind == XC_COST_FITTED) rule.c[2] = 1;
  if (kind == XC_COST_SEED || kind == XC_COST_PAPER) rule.c[0] = 250000;
  return rule;
}

/** TSL_ERR_INPUT when the rule is none. */
static tsl_err check_cost(const xc_cost_rule *rule) {
  tsl_err err = TSL_OK;
  if (rule->kind < 0 || rule->kind >= XC_N_COSTS)
    TSL_FAIL(TSL_ERR_INPUT, "groups: cost is number %d; allowed are 0 to %d", rule->kind,
             XC_N_COSTS - 1);
  for (int k = 0; k < 4; k++)
    if (!isfinite(rule->c[k]))
      TSL_FAIL(TSL_ERR_INPUT, "groups: coefficient %d of the cost is no number", k);
done:
  return err;
}

double xc_group_cost(const xc_cost_rule *rule, const xc_group *group) {
  const xc_group_features f = xc_group_features_of(group);
  const double n = (double)group->n, b = (double)group->functions;
  switch (rule->kind) {
  case XC_COST_SEED:
    return 10 * floor(n * b * (b + 1) / 2) + rule->c[0];
  case XC_COST_PAPER:
    return b * n * (n + 1) / 2 + rule->c[0];
  case XC_COST_SIZE:
    return ceil(n / 16) * 16 * b;
  default:
    return fmax(0, rule->c[0] + rule->c[1] * f.nb + rule->c[2] * f.nbb + rule->c[3] * f.bb);
  }
}

/* ----------------------------------------------------------------- balance */

static int by_falling(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return a > b ? -1 : a < b;
}

enum { MOST_RANKS = 1 << 20 };

/** Deal sorted costs to the rank that would end earliest. @return the time of the last */
static double deal(const double *costs, int64_t n, const double *speeds, int n_ranks,
                   double *load) {
  double last = 0;
  for (int64_t i = 0; i < n; i++) {
    int best = 0;
    double earliest = INFINITY;
    for (int r = 0; r < n_ranks; r++) {
      const double end = (load[r] + costs[i]) / (speeds != NULL ? speeds[r] : 1);
      if (end < earliest) earliest = end, best = r;
    }
    load[best] += costs[i];
    last = fmax(last, earliest);
  }
  return last;
}

static tsl_err check_ranks(const double *speeds, int n_ranks, double *all) {
  tsl_err err = TSL_OK;
  if (n_ranks < 1 || n_ranks > MOST_RANKS)
    TSL_FAIL(TSL_ERR_INPUT, "groups: balance over %d ranks; allowed are 1 to %d", n_ranks,
             (int)MOST_RANKS);
  for (int r = 0; r < n_ranks; r++) {
    const double speed = speeds != NULL ? speeds[r] : 1;
    if (!(speed > 0) || !isfinite(speed))
      TSL_FAIL(TSL_ERR_INPUT, "groups: the speed of rank %d is %g; it must be positive", r, speed);
    *all += speed;
  }
done:
  return err;
}

tsl_err xc_groups_balance(const xc_groups *groups, const xc_cost_rule *rule, const double *speeds,
                          int n_ranks, double *efficiency) {
  tsl_err err = TSL_OK;
  void *memory = NULL, *loads = NULL;
  double work = 0, all = 0;
  TSL_TRY(check_cost(rule));
  TSL_TRY(check_ranks(speeds, n_ranks, &all));
  TSL_TRY(tsl_alloc(groups->n > 0 ? groups->n : 1, sizeof(double), "costs of the groups", &memory));
  TSL_TRY(tsl_alloc(n_ranks, sizeof(double), "loads of the ranks", &loads));
  double *costs = memory;
  for (int64_t i = 0; i < groups->n; i++) {
    costs[i] = xc_group_cost(rule, &groups->list[i]);
    work += costs[i];
  }
  qsort(costs, (size_t)groups->n, sizeof *costs, by_falling);
  const double last = deal(costs, groups->n, speeds, n_ranks, loads);
  *efficiency = last > 0 ? fmin(1, work / (all * last)) : 1; /* rounding may exceed 1 */
done:
  TSL_FREE_ALL(memory, loads);
  return err;
}

/* -------------------------------------------------------------- statistics */

enum { TEXT_ROOM = 16384, LINEAR_BINS = 12, MOST_BINS = 64, BAR = 50 };

typedef struct writer {
  char *text;
  size_t used;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(w->text + w->used, TEXT_ROOM - w->used, format, list);
  va_end(list);
  w->used += (size_t)n < TEXT_ROOM - w->used ? (size_t)n : TEXT_ROOM - 1 - w->used;
}

static int by_rising(const void *left, const void *right) {
  return by_falling(right, left);
}

/** One line: least, tenths, most, mean of sorted values. */
static void put_quantiles(writer *w, const char *name, const double *v, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += v[i];
  put(w, "%-10s", name);
  for (int part = 0; part <= 4; part++) put(w, " %9.0f", v[(n - 1) * part / 4]);
  put(w, " %11.1f\n", sum / (double)n);
}

/** Bins of a histogram: of one width, or doubling (1, 2 to 3, 4 to 7). */
typedef struct bins {
  bool doubling;
  double width;
} bins;

static int bin_of(const bins *b, double value) {
  return b->doubling ? ilogb(value) : (int)(value / b->width);
}

static double bin_start(const bins *b, int bin) {
  return b->doubling ? ldexp(1, bin) : bin * b->width;
}

/** A power of two whose LINEAR_BINS-fold is more than most. */
static double bin_width(double most) {
  double width = 1;
  while (width * LINEAR_BINS <= most) width *= 2;
  return width;
}

/** @param[in] v  [n] whole numbers from 1, rising */
static void put_histogram(writer *w, const char *name, bool doubling, const double *v, int64_t n) {
  int64_t count[MOST_BINS] = {0}, most = 0;
  const bins b = {.doubling = doubling, .width = bin_width(v[n - 1])};
  const int first = bin_of(&b, v[0]), last = bin_of(&b, v[n - 1]);
  for (int64_t i = 0; i < n; i++) count[bin_of(&b, v[i])]++;
  for (int i = first; i <= last; i++) most = count[i] > most ? count[i] : most;
  put(w, "groups by %s\n", name);
  for (int i = first; i <= last; i++) {
    const int bar = (int)ceil((double)count[i] / (double)most * BAR);
    put(w, "%11.0f to %9.0f %8lld%s%.*s\n", bin_start(&b, i), bin_start(&b, i + 1) - 1,
        (long long)count[i], bar > 0 ? " " : "", bar,
        "##################################################");
  }
}

static void put_sums(writer *w, const xc_groups *groups) {
  static const char *const names[] = {"kd", "cubes", "spheres"};
  int64_t kinds[3] = {0}, points = 0;
  xc_group_features sum = {0};
  for (int64_t i = 0; i < groups->n; i++) {
    const xc_group_features f = xc_group_features_of(&groups->list[i]);
    sum.nb += f.nb, sum.nbb += f.nbb, sum.bb += f.bb;
    kinds[groups->list[i].kind]++;
    points += groups->list[i].n;
  }
  put(w, "groups %lld (", (long long)groups->n);
  for (int k = 0, any = 0; k < 3; k++)
    if (kinds[k] > 0) put(w, "%s%lld %s", any++ > 0 ? ", " : "", (long long)kinds[k], names[k]);
  put(w, "), points %lld, out of reach %lld\n", (long long)points, (long long)groups->unreached);
  put(w, "points x functions %.4g, points x functions^2 %.4g, functions^2 %.4g\n", sum.nb, sum.nbb,
      sum.bb);
}

static tsl_err put_balance(writer *w, const xc_groups *groups, const xc_cost_rule *rule,
                           int n_ranks) {
  tsl_err err = TSL_OK;
  put(w, "predicted balance over equal ranks (cost: %s)\n", xc_cost_words[rule->kind]);
  for (int ranks = 1, more = 1; more; ranks *= 2) {
    double efficiency;
    more = ranks < n_ranks;
    if (!more) ranks = n_ranks;
    TSL_TRY(xc_groups_balance(groups, rule, NULL, ranks, &efficiency));
    put(w, "%11d ranks %7.2f %%\n", ranks, 100 * efficiency);
  }
done:
  return err;
}

/** Points (0) or functions (1) of the groups, rising. */
static void sorted_values(const xc_groups *groups, int which, double *v) {
  for (int64_t i = 0; i < groups->n; i++)
    v[i] = (double)(which == 0 ? groups->list[i].n : groups->list[i].functions);
  qsort(v, (size_t)groups->n, sizeof *v, by_rising);
}

tsl_err xc_groups_text(const xc_groups *groups, const xc_cost_rule *rule, int n_ranks,
                       char **text) {
  static const char *const names[] = {"points", "functions"};
  tsl_err err = TSL_OK;
  void *memory = NULL, *values = NULL;
  TSL_TRY(tsl_alloc(TEXT_ROOM, 1, "statistics of the groups", &memory));
  TSL_TRY(
      tsl_alloc(groups->n > 0 ? 2 * groups->n : 1, sizeof(double), "sizes of the groups", &values));
  writer w = {.text = memory};
  TSL_TRY(check_cost(rule));
  put_sums(&w, groups);
  if (groups->n > 0) {
    put(&w, "%-10s %9s %9s %9s %9s %9s %11s\n", "", "least", "quarter", "half", "3/4", "most",
        "mean");
    for (int k = 0; k < 2; k++) {
      double *v = (double *)values + k * groups->n;
      sorted_values(groups, k, v);
      put_quantiles(&w, names[k], v, groups->n);
    }
    for (int k = 0; k < 2; k++)
      put_histogram(&w, names[k], k == 0, (double *)values + k * groups->n, groups->n);
  }
  TSL_TRY(put_balance(&w, groups, rule, n_ranks));
  *text = memory;
  memory = NULL;
done:
  TSL_FREE_ALL(memory, values);
  return err;
}
