/* Units, ranks of given speeds, and a plan of them. */
#pragma once

#include "random.h"

#include "parts.h"
#include "plan_kinds.h"

#include <string.h>

enum { MAX_RANKS = 7, MAX_UNITS = 5000 };

typedef struct instance {
  tsl_unit units[MAX_UNITS];
  tsl_speed speeds[MAX_RANKS];
  tsl_cost cost;
  tsl_plan plan;
  tsl_parts parts; /* empty until the test makes them */
} instance;

/* There is one kind. */
static const tsl_kind_sets one_set = {.n = 1, .mask = {1}};

/* n units of an item each, or of 0.5 to 1.5; rank r is predicted to need slowness[r] s an item. */
static inline tsl_err make_plan(instance *in, tsl_plan_kind kind, int64_t n, int ranks,
                                const double *slowness, double dynamic, uint64_t *random) {
  const tsl_plan_rule rule = {.kind = kind, .dynamic = dynamic};
  memset(in, 0, sizeof *in);
  in->cost = (tsl_cost){.n_ranks = ranks, .speeds = in->speeds};
  for (int r = 0; r < ranks; r++) in->speeds[r].c[0][3] = slowness[r];
  for (int64_t u = 0; u < n; u++)
    in->units[u] = (tsl_unit){.id = u, .count = random != NULL ? 0.5 + random_unit(random) : 1};
  const tsl_workload work = {in->units, n, ranks, tsl_cost_seconds, &in->cost};
  return tsl_plan_make(&rule, &one_set, &work, &in->plan);
}
