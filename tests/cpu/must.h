/* What a test cannot go on without: calls that go well, and memory. */
#pragma once

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

static inline void must(tsl_err err, const char *what) {
  if (err == TSL_OK) return;
  fprintf(stderr, "FAIL %s: %s\n%s\n", what, tsl_err_message(), tsl_err_places());
  exit(1);
}

static inline void *alloc(int64_t count, size_t size) {
  void *out = NULL;
  must(tsl_alloc(count, size, "test memory", &out), "memory");
  return out;
}
