/* What the tests of family dp share: problems from deck text. */
#pragma once

#include "dp_family.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** A problem from the lines of a dp section, and its tiles; release with release(). */
typedef struct made {
  tsl_deck *deck;
  tsl_problem problem;
  tsl_units units;
} made;

static inline tsl_err make_asked(const char *section, bool shortcut, made *m) {
  static char text[65536];
  const int n = snprintf(text, sizeof text, "family: dp\ndp:\n%s", section);
  *m = (made){.problem = {.family = &tsl_family_dp, .shortcut = shortcut}};
  const tsl_err err = tsl_deck_parse(text, (size_t)n, "d.yaml", NULL, 0, &m->deck);
  return err == TSL_OK ? tsl_family_dp.create(m->deck, &m->problem) : err;
}

static inline tsl_err make(const char *section, made *m) {
  return make_asked(section, false, m);
}

static inline void release(made *m) {
  tsl_family_dp.destroy(&m->problem);
  tsl_problem_clear(&m->problem);
  tsl_deck_destroy(&m->deck);
  tsl_free(m->units.list);
}

static inline const dp_params *make_good(const char *section, made *m) {
  const tsl_err err = make(section, m);
  if (err != TSL_OK) fail_msg("%s\n%s", tsl_err_message(), section);
  return m->problem.params;
}

/** Tiles for so many ranks; wish: tiles asked for by the user, 0 none. */
static inline void cut_over(made *m, int ranks, int64_t wish, double fill, bool overlap) {
  const tsl_limits limits = {.slab_bytes = 1 << 16,
                             .device_bytes = INT64_MAX,
                             .target_units = wish > 0 ? wish : 512,
                             .n_ranks = ranks,
                             .given = wish > 0,
                             .pipeline_fill = fill,
                             .overlap = overlap};
  tsl_free(m->units.list);
  if (tsl_family_dp.units(&m->problem, &limits, &m->units) != TSL_OK)
    fail_msg("%s", tsl_err_message());
}

static inline void cut_for(made *m, int ranks, int64_t wish, double fill) {
  cut_over(m, ranks, wish, fill, false);
}

static inline void cut(made *m, int ranks, int64_t wish) {
  cut_for(m, ranks, wish, 0);
}
