/** @file bench_dp_peers.c  parasail and edlib, loaded where they are installed. */
#include "bench_dp_peers.h"

#include "cpu.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ parasail */

/** Score of a pair: sequences with lengths, cost of a gap's first and of each further letter. */
typedef void *(*parasail_align)(const char *, int, const char *, int, int, int, const void *);

typedef struct parasail {
  void *handle;
  parasail_align (*lookup)(const char *);
  void *(*matrix_create)(const char *, int, int);
  void (*matrix_free)(void *);
  int (*result_score)(const void *);
  void (*result_free)(void *);
} parasail;

static bool parasail_open(parasail *p) {
  p->handle = dlopen("libparasail.so.8", RTLD_NOW);
  if (p->handle == NULL) return false;
  *(void **)&p->lookup = dlsym(p->handle, "parasail_lookup_function");
  *(void **)&p->matrix_create = dlsym(p->handle, "parasail_matrix_create");
  *(void **)&p->matrix_free = dlsym(p->handle, "parasail_matrix_free");
  *(void **)&p->result_score = dlsym(p->handle, "parasail_result_get_score");
  *(void **)&p->result_free = dlsym(p->handle, "parasail_result_free");
  return p->lookup != NULL && p->matrix_create != NULL && p->matrix_free != NULL &&
         p->result_score != NULL && p->result_free != NULL;
}

/** The letters as text; NULL without memory. */
static char *text_of(const uint8_t *codes, int64_t n) {
  char *text = malloc((size_t)n + 1);
  for (int64_t i = 0; text != NULL && i < n; i++) text[i] = "ACGT"[codes[i] & 3];
  if (text != NULL) text[n] = 0;
  return text;
}

bool dp_peer_parasail(dp_problem problem, const letters_scores *scores, const uint8_t *a, int64_t n,
                      const uint8_t *b, int64_t m, int repeats, double *seconds, int64_t *score,
                      char kernel[48]) {
  static const char *const kinds[] = {"striped", "scan"};
  parasail p = {.handle = NULL};
  char *text_a = text_of(a, n), *text_b = text_of(b, m);
  void *matrix = NULL;
  *seconds = INFINITY;
  if (text_a != NULL && text_b != NULL && parasail_open(&p))
    matrix = p.matrix_create("ACGT", scores->s[0][0], scores->s[0][1]);
  for (int k = 0; matrix != NULL && k < 2; k++) {
    char name[48];
    (void)snprintf(name, sizeof name, "%s_%s_avx2_256_16", problem == DP_LOCAL ? "sw" : "nw",
                   kinds[k]);
    const parasail_align align = p.lookup(name);
    for (int r = 0; align != NULL && r < repeats; r++) {
      const double start = tsl_cpu_seconds();
      void *result = align(text_a, (int)n, text_b, (int)m, scores->open + scores->extend,
                           scores->extend, matrix);
      const double took = tsl_cpu_seconds() - start;
      if (took < *seconds) {
        *seconds = took;
        *score = p.result_score(result);
        (void)snprintf(kernel, 48, "%s", name);
      }
      p.result_free(result);
    }
  }
  if (matrix != NULL) p.matrix_free(matrix);
  if (p.handle != NULL) (void)dlclose(p.handle);
  free(text_a);
  free(text_b);
  return *seconds < (double)INFINITY;
}

/* ------------------------------------------------------------------ edlib */

/* As in edlib.h 1.2. */
typedef struct edlib_config {
  int k, mode, task;
  const void *equalities;
  int n_equalities;
} edlib_config;

typedef struct edlib_result {
  int status, distance;
  int *ends, *starts;
  int n_locations;
  unsigned char *alignment;
  int alignment_length, alphabet_length;
} edlib_result;

bool dp_peer_edlib(const uint8_t *a, int64_t n, const uint8_t *b, int64_t m, int repeats,
                   double *seconds, int64_t *distance) {
  edlib_result (*align)(const char *, int, const char *, int, edlib_config) = NULL;
  void (*result_free)(edlib_result) = NULL;
  void *handle = dlopen("libedlib.so.1", RTLD_NOW);
  *seconds = INFINITY;
  if (handle == NULL) return false;
  *(void **)&align = dlsym(handle, "edlibAlign");
  *(void **)&result_free = dlsym(handle, "edlibFreeAlignResult");
  for (int r = 0; align != NULL && result_free != NULL && r < repeats; r++) {
    const edlib_config config = {.k = -1};
    const double start = tsl_cpu_seconds();
    const edlib_result result = align((const char *)a, (int)n, (const char *)b, (int)m, config);
    const double took = tsl_cpu_seconds() - start;
    if (took < *seconds) *seconds = took;
    *distance = result.distance;
    result_free(result);
  }
  (void)dlclose(handle);
  return *seconds < (double)INFINITY;
}
