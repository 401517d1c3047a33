/* From a deck to parameters, coordinate tables and fields. */
#include "fractal_family.h"
#include "fractal_fn.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ----------------------------------------------------------------- limits */

/** Counts and sums must fit 64 bits, the coordinate tables half of this machine's memory. */
static tsl_err check_sizes(const tsl_deck *deck, const fractal_deck *s) {
  tsl_err err = TSL_OK;
  const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  const double tables = ((double)s->xres + (double)s->yres) * (double)sizeof(double);
  int64_t pixels = 0, sum = 0;
  char wanted[24], there[24];
  if (!tsl_mul_i64(s->xres, s->yres, &pixels) || !tsl_mul_i64(pixels, 8, &sum))
    TSL_DECK_FAIL(deck, "fractal.xres", "%lld x %lld pixels: their bytes overflow 64-bit counts",
                  (long long)s->xres, (long long)s->yres);
  if (!tsl_mul_i64(pixels, s->maxiter, &sum))
    TSL_DECK_FAIL(deck, "fractal.maxiter",
                  "%lld: the sum of %lld values below it could overflow 64 bits; at most %lld here",
                  (long long)s->maxiter, (long long)pixels, (long long)(INT64_MAX / pixels));
  if (s->mean == FRACTAL_MEAN_CUBLAS && sum > INT64_C(1) << 53)
    TSL_DECK_FAIL(
        deck, "fractal.gpu_mean",
        "cublas sums doubles, exact below 2^53, and %lld pixels of up to %lld steps could "
        "exceed that; use auto, tree or atomic",
        (long long)pixels, (long long)s->maxiter);
  if (tables > memory / 2)
    TSL_DECK_FAIL(deck, "fractal.xres",
                  "%lld columns and %lld rows: their coordinates take %s, more than half of this "
                  "machine's memory of %s",
                  (long long)s->xres, (long long)s->yres, tsl_bytes_text(tables, wanted),
                  tsl_bytes_text(memory, there));
done:
  return err;
}

/* ------------------------------------------------------------- parameters */

static bool julia_is_wild(const fractal_params *p) {
  if (p->type == TSL_F64) return fractal_is_wild_f64(p->c[0], p->c[1]);
  return fractal_is_wild_f32((float)p->c[0], (float)p->c[1]);
}

static void fill_params(const fractal_deck *s, fractal_params *p) {
  p->set = s->set;
  p->type = s->precision == 0 ? TSL_F64 : TSL_F32;
  p->value_type = s->maxiter <= 65536 ? TSL_U16 : TSL_U32;
  p->exact = s->exact;
  p->interior = s->interior;
  p->periodicity = s->periodicity;
  p->schedule = s->schedule;
  p->memory = s->memory;
  p->threads = s->threads;
  p->block = (int32_t)s->block;
  p->mean = s->mean;
  p->xres = s->xres;
  p->yres = s->yres;
  p->maxiter = s->maxiter;
  if (s->set != FRACTAL_JULIA) return;
  memcpy(p->c, s->c.values, sizeof p->c);
  p->wild = julia_is_wild(p);
}

/** May x + x be done on the exponent? Every cy must be large enough, or 0 with z_0 = 0
 * (fractal_fn.h). */
static bool may_double(const tsl_problem *problem) {
  const fractal_params *p = fractal_params_of(problem);
  const double least = p->type == TSL_F64 ? 0x1p-900 : 0x1p-100;
  const bool julia = p->set == FRACTAL_JULIA;
  if (julia) return fabs(p->type == TSL_F64 ? p->c[1] : (double)(float)p->c[1]) >= least;
  for (int64_t j = 0; j < p->yres; j++) {
    const double cy = fabs(tsl_real_get(p->type, problem->fields[FRACTAL_Y].data, j));
    if (cy != 0 && cy < least) return false;
  }
  return true;
}

/* ----------------------------------------------------------------- fields */

static tsl_err add_table(tsl_problem *problem, const fractal_view *view, int axis, int64_t n) {
  tsl_err err = TSL_OK;
  const fractal_params *p = fractal_params_of(problem);
  const tsl_field field = {.name = {axis == 0 ? 'x' : 'y'},
                           .unit = "1",
                           .doc = "Coordinates of the pixels' centres.",
                           .role = TSL_IN,
                           .type = p->type,
                           .rank = 1,
                           .shape = {n, 1, 1}};
  tsl_field *added = NULL;
  TSL_TRY(tsl_problem_add(problem, &field, &added));
  (void)snprintf(added->quantity, sizeof added->quantity, "%s part",
                 axis == 0 ? "real" : "imaginary");
  TSL_TRY(tsl_field_allocate(added));
  for (int64_t i = 0; i < n; i++)
    tsl_real_put(p->type, added->data, i, fractal_coordinate(view, axis, n, i));
done:
  return err;
}

static tsl_err add_image(tsl_problem *problem, const char *name, const char *doc, int32_t type) {
  tsl_err err = TSL_OK;
  const fractal_params *p = fractal_params_of(problem);
  tsl_field *added = NULL;
  tsl_field field = {.role = TSL_OUT,
                     .type = type,
                     .combine = TSL_GATHER,
                     .rank = 2,
                     .shape = {p->yres, p->xres, 1},
                     .stream = 1,
                     .scale = {1 + FRACTAL_Y, 1 + FRACTAL_X, 0}};
  tsl_field_label(&field, name, "1", doc);
  TSL_TRY(tsl_problem_add(problem, &field, &added));
done:
  return err;
}

static tsl_err add_totals(tsl_problem *problem) {
  tsl_field *added = NULL;
  tsl_field field = {.role = TSL_OUT,
                     .type = TSL_U64,
                     .combine = TSL_SUM,
                     .rank = 1,
                     .shape = {FRACTAL_N_TOTALS, 1, 1}};
  tsl_field_label(&field, "totals", "1",
                  "Sum of the values; pixels inside, filled, sampled among the filled, and wrong "
                  "among the sampled.");
  return tsl_problem_add(problem, &field, &added);
}

static tsl_err add_fields(tsl_problem *problem, const fractal_view *view, bool binarise) {
  tsl_err err = TSL_OK;
  const fractal_params *p = fractal_params_of(problem);
  TSL_TRY(add_table(problem, view, 0, p->xres));
  TSL_TRY(add_table(problem, view, 1, p->yres));
  TSL_TRY(add_image(problem, "iterations",
                    "1 + steps until the point has left the disc of radius 2; 0: it has not.",
                    p->value_type));
  TSL_TRY(add_totals(problem));
  if (binarise)
    TSL_TRY(add_image(problem, "binarised", "255 where iterations >= their mean, else 0.", TSL_U8));
done:
  return err;
}

/* ----------------------------------------------------------------- create */

static tsl_err copy_text(const char *text, char **out) {
  tsl_err err = TSL_OK;
  void *memory = NULL;
  if (text == NULL) goto done;
  const size_t bytes = strlen(text) + 1;
  TSL_TRY(tsl_alloc((int64_t)bytes, 1, "file name", &memory));
  memcpy(memory, text, bytes);
  *out = memory;
done:
  return err;
}

static tsl_err keep_pictures(const fractal_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  fractal_own *own = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *own, "pictures", &problem->own));
  own = problem->own;
  own->palette = s->palette;
  TSL_TRY(copy_text(s->png, &own->png));
  TSL_TRY(copy_text(s->binarised_png, &own->binarised_png));
done:
  return err;
}

static tsl_err fractal_create(tsl_deck *deck, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  fractal_deck s = {0};
  fractal_view view = {0};
  fractal_params *p = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *p, "parameters", &problem->params));
  problem->params_bytes = (int64_t)sizeof *p;
  p = problem->params;
  TSL_TRY(tsl_deck_bind(deck, "fractal", fractal_keys, sizeof s, &s));
  TSL_TRY(fractal_deck_settle(deck, &s));
  TSL_TRY(fractal_view_make(deck, &s, &view));
  TSL_TRY(fractal_view_check(deck, &s, &view));
  TSL_TRY(fractal_check_pictures(deck, &s));
  TSL_TRY(check_sizes(deck, &s));
  fill_params(&s, p);
  TSL_TRY(add_fields(problem, &view, s.binarise));
  p->doubling = may_double(problem);
  TSL_TRY(keep_pictures(&s, problem));
done:
  return err;
}

static void fractal_destroy(tsl_problem *problem) {
  fractal_own *own = problem->own;
  if (own == NULL) return;
  TSL_FREE_ALL(own->png, own->binarised_png, own);
  problem->own = NULL;
}

/** What the speed of a step depends on. */
static void fractal_signature(const tsl_problem *problem, char text[96]) {
  const fractal_params *p = fractal_params_of(problem);
  (void)snprintf(text, 96, "%s %s %s exact%d interior%d periodic%d wild%d %s %s %s %s block%d",
                 fractal_set_words[p->set], tsl_type_name((tsl_type)p->type),
                 tsl_type_name((tsl_type)p->value_type), p->exact, p->interior, p->periodicity,
                 p->wild, fractal_schedule_words[p->schedule], fractal_memory_words[p->memory],
                 fractal_threads_words[p->threads], fractal_mean_words[p->mean], p->block);
}

const tsl_family tsl_family_fractal = {
    .name = "fractal",
    .doc = "Escape-time images: Mandelbrot, Julia, burning ship; their mean, binarised image, PNG.",
    .shape = TSL_BAG,
    .n_kinds = 1,
    .keys = fractal_keys,
    .create = fractal_create,
    .units = fractal_units,
    .sample = fractal_sample,
    .signature = fractal_signature,
    .region = fractal_region,
    .finish = fractal_finish,
    .summary = fractal_summary,
    .destroy = fractal_destroy,
};
