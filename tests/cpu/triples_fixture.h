/* What the tests of family triples share: problems from deck text, all units run by a backend. */
#pragma once

#include "must.h"
#include "triples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct made {
  tsl_deck *deck;
  tsl_problem problem;
} made;

static inline void make(const char *section, made *m) {
  static char text[4096];
  const int n = snprintf(text, sizeof text, "family: triples\ntriples:\n%s", section);
  *m = (made){.problem.family = &tsl_family_triples};
  must(tsl_deck_parse(text, (size_t)n, "d.yaml", NULL, 0, &m->deck), "deck");
  must(tsl_family_triples.create(m->deck, &m->problem), section);
}

static inline void release(made *m) {
  tsl_family_triples.destroy(&m->problem);
  tsl_problem_clear(&m->problem);
  tsl_deck_destroy(&m->deck);
}

/** Bytes of TRIPLES_OUT. */
static inline int64_t out_bytes(const tsl_problem *problem) {
  return tsl_field_count(&problem->fields[TRIPLES_OUT]) * 8;
}

/** TRIPLES_OUT by a backend, about so many units, several in a call; free() it. */
static inline char *computed(made *m, const tsl_backend *backend, const tsl_device *device,
                             int64_t wish, double *seconds) {
  const tsl_limits limits = {
      .slab_bytes = INT64_MAX, .device_bytes = INT64_MAX, .target_units = wish, .n_ranks = 1};
  tsl_field *field = &m->problem.fields[TRIPLES_OUT];
  const int64_t bytes = out_bytes(&m->problem);
  char *out = malloc((size_t)bytes + 1);
  tsl_units units = {0};
  tsl_worker *worker = NULL;
  void *slab = NULL;
  must(tsl_family_triples.units(&m->problem, &limits, &units), "units");
  tsl_part *parts = calloc((size_t)units.n + 1, sizeof *parts);
  if (out == NULL || parts == NULL) abort();
  memset(out, 0xff, (size_t)bytes);
  if (backend->prepare != NULL) must(backend->prepare(&m->problem, device, 1), "prepare");
  must(backend->open(&m->problem, device, &worker), "open");
  must(backend->begin(worker, 0), "begin");
  if (field->combine == TSL_GATHER) {
    must(backend->host_alloc != NULL ? backend->host_alloc(bytes, &slab)
                                     : tsl_alloc(bytes, 1, "slab", &slab),
         "slab");
    for (int64_t u = 0; u < units.n; u++)
      parts[u].slab[TRIPLES_OUT] =
          (double *)slab + units.list[u].lo[0] * field->shape[1] * field->shape[2];
  }
  must(backend->run(worker, units.list, units.n, parts), "run");
  *seconds = 0;
  for (int64_t u = 0; u < units.n; u++) *seconds += parts[u].seconds;
  if (slab != NULL) {
    memcpy(out, slab, (size_t)bytes);
    if (backend->host_free != NULL)
      backend->host_free(slab);
    else
      tsl_free(slab);
  } else {
    field->data = out;
    must(backend->collect(worker, &m->problem), "collect");
    field->data = NULL;
  }
  backend->close(&worker);
  tsl_free(units.list);
  free(parts);
  return out;
}

#define TRIPLES_FILE "triples_fixture.csv"

/** A file of points in the unit cube with a quantity, in the working folder; remove() it. */
static inline void write_points(int n) {
  FILE *file = fopen(TRIPLES_FILE, "w");
  uint64_t state = 7;
  for (int e = 0; file != NULL && e < 4 * n; e++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    (void)fprintf(file, "%.9g%c", (double)(state >> 40) * 0x1p-24, e % 4 < 3 ? ',' : '\n');
  }
  if (file == NULL || fclose(file) != 0) exit(1);
}

#define TRIPLES_SUMS_OF(value)                                           \
  "  function:\n    value: \"" value "\"\n    symmetric: yes\n"          \
  "    parameters: [{name: s, value: 0.3}]\n    quantities: [{name: q, " \
  "column: 3}]\n  input: {file: " TRIPLES_FILE ", columns: [0, 1, 2]}\n"
#define TRIPLES_YUKAWA "q_i * q_j * q_k * exp(-(r_ij + r_jk + r_ki) / s) / (1 + r_ij * r_jk * r_ki)"
#define TRIPLES_CASES                                                         \
  "max(r2_ij, r2_jk, r2_ki) < s ? pow(q_i + q_j + q_k, 3) : log(1 + r2_ij * " \
  "r2_jk * r2_ki)"

/** Sections: each function, sizes around a tile, with and without cut-off, box and range. */
static const char *const triples_sections[] = {
    "  function: axilrod_teller\n  generator: {kind: uniform, n: 3}\n",
    "  function: axilrod_teller\n  generator: {kind: uniform, n: 64}\n",
    "  function: axilrod_teller\n  generator: {kind: uniform, n: 65, d: 2}\n",
    "  function: axilrod_teller\n  generator: {kind: plummer, n: 200}\n",
    "  function: axilrod_teller\n  cutoff: 0.4\n  generator: {kind: clusters, n: 333}\n",
    "  function: axilrod_teller\n  cutoff: 0.33\n  box: [1, 1.2, 1.1]\n  generator: {kind: "
    "uniform, "
    "n: 257}\n",
    "  function: triangles\n  bins: 7\n  range: [0, 0.3]\n  generator: {kind: uniform, n: 3}\n",
    "  function: triangles\n  bins: 5\n  range: [0.01, 9]\n  generator: {kind: uniform, n: 300}\n",
    "  function: triangles\n  bins: 64\n  range: [0, 0.3]\n  box: [1, 1, 1]\n  generator: {kind: "
    "uniform, n: 500}\n",
    "  function: triangles\n  bins: 12\n  range: [0.01, 0.1]\n  box: [1, 2, 0.3]\n  generator: "
    "{kind: uniform, n: 2000}\n",
    "  function: triangles\n  bins: 20\n  range: [0, 0.4]\n  generator: {kind: plummer, n: 900}\n",
    "  function: triangles\n  bins: 9\n  range: [0, 0.05]\n  generator: {kind: clusters, n: 1500, "
    "d: 2, scale: 0.03}\n",
    TRIPLES_SUMS_OF(TRIPLES_YUKAWA),
    TRIPLES_SUMS_OF(TRIPLES_YUKAWA) "  output: sums\n",
    TRIPLES_SUMS_OF(TRIPLES_CASES) "  output: sums\n  cutoff: 0.4\n",
    TRIPLES_SUMS_OF(TRIPLES_CASES) "  cutoff: 0.3\n  box: [1, 0.9, 1.1]\n",
    NULL};
