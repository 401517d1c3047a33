/* Problems of tri made by hand, and runs of the socket's backend in units of some rows each. */
#pragma once

#include "cases.h"
#include "must.h"
#include "tri_bits.h"
#include "tri_cpu.h"
#include "tri_pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long n_checks, n_failures;

static void fail_at(const char *what, const tri_params *p, int level, const char *detail) {
  if (++n_failures <= 20)
    fprintf(stderr, "FAIL %s: %s %s %s n=%lld d=%lld level=%d: %s\n", what,
            tri_function_words[p->function], tri_output_words[p->output],
            p->type == TSL_F32 ? "f32" : "f64", (long long)p->n, (long long)p->d, level, detail);
}

/* ------------------------------------------------------------------ problems made by hand */

static double random_01(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void put(void *array, int type, int64_t k, double value) {
  if (type == TSL_F32)
    ((float *)array)[k] = (float)value;
  else
    ((double *)array)[k] = value;
}

/** Prepare point i: centred for correlation, of unit length for all products and the sphere. */
static void point_set(const tri_params *p, double *point, uint64_t *state) {
  double mean = 0, norm = 0;
  for (int64_t k = 0; k < p->d; k++) mean += point[k] = random_01(state);
  const tri_prepare how = tri_abouts[p->function].prepare;
  if (how == TRI_STANDARDISED)
    for (int64_t k = 0; k < p->d; k++) point[k] -= mean / (double)p->d;
  for (int64_t k = 0; k < p->d; k++) norm += point[k] * point[k];
  const bool unit = how == TRI_UNIT_NORM || how == TRI_STANDARDISED || how == TRI_SPHERE;
  for (int64_t k = 0; unit && norm > 0 && k < p->d; k++) point[k] /= sqrt(norm);
  const bool coarse = how == TRI_FIXED || how == TRI_TRUTHS; /* equal ones are what counts */
  for (int64_t k = 0; coarse && k < p->d; k++) point[k] = floor(2 * point[k]);
}

/** The extra number of a point: a radius or mass, or the sum of its coordinates. */
static double extra_of(const tri_params *p, const double *point, uint64_t *state) {
  double total = 0;
  for (int64_t k = 0; k < p->d; k++) total += p->type == TSL_F32 ? (float)point[k] : point[k];
  if (tri_abouts[p->function].extra == TRI_TOTAL) return total;
  return p->mass != 0 ? p->mass : 0.1 + random_01(state);
}

/** Of truths: the bits of the points, which stay as numbers for references. */
static void words_make(tsl_problem *problem) {
  const tri_params *p = tri_params_of(problem);
  if (!tri_of_bits(p)) return;
  const void *x = problem->fields[TRI_POINTS].data;
  uint64_t *words = alloc(tri_words_of(p) * p->n_pad, sizeof *words);
  for (int64_t k = 0; k < p->d; k++)
    for (int64_t i = 0; i < p->n; i++) {
      const int64_t at = k * p->n_pad + i;
      const bool one =
          p->type == TSL_F32 ? ((const float *)x)[at] != 0 : ((const double *)x)[at] != 0;
      words[k / 64 * p->n_pad + i] |= (uint64_t)one << k % 64;
    }
  problem->fields[TRI_WORDS].data = words;
}

static void problem_make(tsl_problem *problem, const tri_params *params) {
  uint64_t state = 7;
  memset(problem, 0, sizeof *problem);
  tri_params *p = alloc(1, sizeof *p);
  *p = *params;
  p->n_pad = (p->n + TRI_PAD - 1) / TRI_PAD * TRI_PAD;
  p->keeps_diagonal = tri_abouts[p->function].extra == TRI_RADIUS;
  problem->params = p;
  problem->n_fields = TRI_OUT_3 + 1;
  tsl_field *points = &problem->fields[TRI_POINTS], *extras = &problem->fields[TRI_EXTRAS];
  points->shape[0] = p->d, points->shape[1] = p->n_pad;
  points->data = alloc(p->d * p->n_pad, 8);
  const bool has = tri_abouts[p->function].extra != TRI_NO_EXTRA;
  extras->shape[0] = has ? p->n_pad : 0;
  extras->data = alloc(extras->shape[0], 8);
  double *point = alloc(p->d, sizeof *point);
  for (int64_t i = 0; i < p->n; i++) {
    point_set(p, point, &state);
    for (int64_t k = 0; k < p->d; k++) {
      const bool read = p->function != TRI_GRAVITY || k < p->d_read;
      put(points->data, p->type, k * p->n_pad + i, read ? point[k] : 0);
    }
    if (has) put(extras->data, p->type, i, extra_of(p, point, &state));
  }
  tsl_free(point);
  words_make(problem);
}

/* ------------------------------------------------------------------ running cuts */

/** Everything a run of one output gives, whole. */
typedef struct whole {
  void *a, *b;      /**< TRI_OUT and TRI_OUT_2 */
  int64_t a_n, b_n; /**< bytes */
} whole;

static void whole_clear(whole *w) {
  free(w->a);
  free(w->b);
  memset(w, 0, sizeof *w);
}

/** The room of an array of n bytes. */
static int64_t room_of(int64_t n) {
  enum { STEP = 1 << 20 };
  return (n + STEP - 1) / STEP * STEP;
}

static void append(void **to, int64_t *n, const void *from, int64_t bytes) {
  if (bytes == 0) return;
  if (*to == NULL || room_of(*n + bytes) != room_of(*n))
    *to = realloc(*to, (size_t)room_of(*n + bytes));
  if (*to == NULL) exit(1);
  memcpy((char *)*to + *n, from, (size_t)bytes);
  *n += bytes;
}

/** Bytes of the slabs (or of a record) of a unit. */
static void slab_bytes(const tri_params *p, const tsl_unit *u, int64_t *a, int64_t *b) {
  const int64_t v = p->type == TSL_F32 ? 4 : 8, rows = u->hi[0] - u->lo[0];
  *a = *b = 0;
  switch ((tri_output)p->output) {
  case TRI_CONDENSED:
    *a = v * (tri_condensed_row(p->n, u->hi[0]) - tri_condensed_row(p->n, u->lo[0]));
    break;
  case TRI_SQUARE:
    *a = v * rows * u->hi[0];
    break;
  case TRI_TOPK:
    *a = 8 * rows * p->k, *b = v * rows * p->k;
    break;
  case TRI_FORCES:
    *a = 8 * rows * p->d_read, *b = 8 * rows;
    break;
  case TRI_THRESHOLD:
    *a = 16, *b = v;
    break;
  default:
    break;
  }
}

/** Squares come as slabs [rows][hi]; widen them to [rows][n]. */
static void append_square(const tri_params *p, const tsl_unit *u, const char *slab, whole *out) {
  const int64_t v = p->type == TSL_F32 ? 4 : 8;
  char *rest = calloc((size_t)p->n, (size_t)v);
  if (rest == NULL) exit(1);
  for (int64_t r = 0; r < u->hi[0] - u->lo[0]; r++) {
    append(&out->a, &out->a_n, slab + r * u->hi[0] * v, u->hi[0] * v);
    append(&out->a, &out->a_n, rest, (p->n - u->hi[0]) * v);
  }
  free(rest);
}

static void run_unit(tsl_worker *w, const tri_params *p, const tsl_unit *u, whole *out) {
  tsl_part part = {0};
  int64_t a = 0, b = 0;
  slab_bytes(p, u, &a, &b);
  const bool list = p->output == TRI_THRESHOLD;
  void *slab_a = alloc(a, 1), *slab_b = alloc(b, 1);
  memset(slab_a, 0xff, (size_t)a); /* so that an element left out is seen */
  memset(slab_b, 0xff, (size_t)b);
  part.slab[TRI_OUT] = slab_a, part.slab[TRI_OUT_2] = slab_b;
  must(tri_backend_cpu.run(w, u, 1, &part), "run");
  if (p->output == TRI_SQUARE)
    append_square(p, u, slab_a, out);
  else if (p->output != TRI_HISTOGRAM) {
    append(&out->a, &out->a_n, list ? part.list[TRI_OUT].data : slab_a,
           list ? a * part.list[TRI_OUT].n : a);
    append(&out->b, &out->b_n, list ? part.list[TRI_OUT_2].data : slab_b,
           list ? b * part.list[TRI_OUT_2].n : b);
  }
  if (!(part.seconds >= 0)) fail_at("seconds", p, 0, "negative");
  free(part.list[TRI_OUT].data);
  free(part.list[TRI_OUT_2].data);
  tsl_free(slab_a);
  tsl_free(slab_b);
}

/** Run all rows in units of rows each. */
static void run_cut(tsl_problem *problem, int64_t rows, int threads, whole *out) {
  tri_params *p = problem->params;
  tsl_worker *w = NULL;
  const tsl_device device = {.kind = TSL_CPU, .threads = threads};
  must(tri_backend_cpu.open(problem, &device, &w), "open");
  must(tri_backend_cpu.begin(w, 0), "begin");
  for (int64_t i = 0; i < p->n; i += rows) {
    const tsl_unit u = {.lo = {i}, .hi = {i + rows < p->n ? i + rows : p->n}};
    run_unit(w, p, &u, out);
  }
  if (p->output == TRI_HISTOGRAM) {
    tsl_field *counts = &problem->fields[TRI_OUT];
    counts->data = alloc(p->bins, 8);
    must(tri_backend_cpu.collect(w, problem), "collect");
    append(&out->a, &out->a_n, counts->data, 8 * p->bins);
    tsl_free(counts->data);
    counts->data = NULL;
  }
  tri_backend_cpu.close(&w);
}

/* ------------------------------------------------------------------ checks */

static void same_bytes(const char *what, const tri_params *p, int level, const whole *a,
                       const whole *b) {
  n_checks++;
  if (a->a_n != b->a_n || a->b_n != b->b_n) {
    fail_at(what, p, level, "another length");
    return;
  }
  if (a->a_n > 0 && memcmp(a->a, b->a, (size_t)a->a_n) != 0) fail_at(what, p, level, "field 1");
  if (a->b_n > 0 && memcmp(a->b, b->b, (size_t)a->b_n) != 0) fail_at(what, p, level, "field 2");
}
