/* What the tests of family fractal share: problems from deck text. */
#pragma once

#include "files.h"
#include "fractal_family.h"
#include "fractal_fn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A problem from the lines of a fractal section; release with release(). */
typedef struct made {
  tsl_deck *deck;
  tsl_problem problem;
} made;

static inline tsl_err make(const char *section, made *m) {
  char text[2048];
  const int n = snprintf(text, sizeof text, "family: fractal\nfractal:\n%s", section);
  *m = (made){.problem.family = &tsl_family_fractal};
  const tsl_err err = tsl_deck_parse(text, (size_t)n, "f.yaml", NULL, 0, &m->deck);
  return err == TSL_OK ? tsl_family_fractal.create(m->deck, &m->problem) : err;
}

static inline void release(made *m) {
  tsl_family_fractal.destroy(&m->problem);
  tsl_problem_clear(&m->problem);
  tsl_deck_destroy(&m->deck);
  tsl_files_clear();
}

static inline fractal_params *make_good(const char *section, made *m) {
  const tsl_err err = make(section, m);
  if (err != TSL_OK) fail_msg("%s", tsl_err_message());
  return m->problem.params;
}

static inline double coordinate(const made *m, int field, int64_t i) {
  const tsl_field *f = &m->problem.fields[field];
  return f->type == TSL_F32 ? (double)((const float *)f->data)[i] : ((const double *)f->data)[i];
}
