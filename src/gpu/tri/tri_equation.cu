/* Equations of decks: compiled by NVRTC for the cards of the job, launched by their names. */
#include "tri_equation.cuh"

#include "tri_equation.h"

#include <string.h>

extern "C" const char tri_equation_loops_gpu_text[];

struct tri_card_equation {
  lang_module *module;
  tri_equation_args args;
};

enum { STORE, STRIP, SUM, N_KERNELS };
static const char *const kernel_names[N_KERNELS] = {"tsl_tri_store", "tsl_tri_strip",
                                                    "tsl_tri_sum"};

/* As in tri_equation_loops.cuh. */
typedef struct equation_rows {
  long long n, a, b;
  long long columns, origin, first;
  int square;
  void *out;
} equation_rows;
enum { BLOCK = 256, ROWS = 16, SUM_BLOCK = 128, LAUNCH_Y = 65535 };

tsl_err tri_gpu_prepare(tsl_problem *problem, const tsl_device *devices, int n) {
  if (!tri_is_equation(tri_params_of(problem))) return TSL_OK;
  return lang_gpu_prepare_equation(problem, tri_equation_loops_gpu_text, &tri_purpose, devices, n);
}

tsl_err tri_equation_open(tri_gpu *w, int32_t capability) {
  tsl_err err = TSL_OK;
  if (!tri_is_equation(&w->p)) return TSL_OK;
  TSL_TRY(tsl_alloc(1, sizeof *w->equation, "equation", (void **)&w->equation));
  TSL_TRY(lang_module_open(w->problem, capability, kernel_names, N_KERNELS, &w->equation->module));
  tri_equation_arguments(w->problem, w->points.data, w->extras.data, &w->equation->args);
done:
  return err;
}

void tri_equation_close(tri_gpu *w) {
  if (w->equation == NULL) return;
  lang_module_unload(&w->equation->module);
  tsl_free(w->equation);
  w->equation = NULL;
}

/* Launch over rows x columns in pieces of what a grid's y can count. */
static tsl_err launch_rows(tri_gpu *w, int kernel, equation_rows rows, int64_t columns) {
  tsl_err err = TSL_OK;
  void *params[] = {&w->equation->args, &rows};
  const int64_t a = rows.a, b = rows.b, most = (int64_t)LAUNCH_Y * ROWS;
  if (b - a > most)
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY, "%lld rows are more than a launch takes", (long long)(b - a));
  TSL_TRY(lang_module_launch(
      w->equation->module, kernel,
      dim3((unsigned)((columns + BLOCK - 1) / BLOCK), (unsigned)((b - a + ROWS - 1) / ROWS)), BLOCK,
      w->stream, params));
done:
  return err;
}

/* Values of rows [a, b) with columns [c0, c1) into out. */
static tsl_err fill(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1, void *out) {
  equation_rows rows = {};
  rows.n = w->p.n;
  rows.a = a;
  rows.b = b;
  rows.columns = c1 - c0;
  rows.first = c0;
  rows.out = out;
  return launch_rows(w, STRIP, rows, c1 - c0);
}

tsl_err tri_equation_store(tri_gpu *w, const tri_slab *slab, void *out) {
  const bool square = w->p.output == TRI_SQUARE;
  const int64_t first = w->p.first;
  equation_rows rows = {};
  if (w->p.two) return fill(w, first + slab->a, first + slab->b, 0, slab->columns, out);
  rows.n = w->p.n;
  rows.a = slab->a;
  rows.b = slab->b;
  rows.columns = slab->columns;
  rows.origin = tri_condensed_row(w->p.n, slab->a);
  rows.square = square;
  rows.out = out;
  return launch_rows(w, STORE, rows, square ? slab->columns : w->p.n);
}

tsl_err tri_equation_strip(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->strips[0], (b - a) * (c1 - c0) * tri_value_bytes(w),
                          "strip of values"));
  TSL_TRY(fill(w, a, b, c0, c1, w->strips[0].data));
done:
  return err;
}

int64_t tri_equation_sum_rows(const tri_gpu *w) {
  return SUM_BLOCK * (w->p.type == TSL_F32 && !w->p.gradient ? 2 : 1);
}

tsl_err tri_equation_sum(tri_gpu *w, const tri_sum_rows *sums, int splits) {
  const int64_t each = tri_equation_sum_rows(w);
  tri_sum_rows rows = *sums;
  void *params[] = {&w->equation->args, &rows};
  return lang_module_launch(w->equation->module, SUM,
                            dim3((unsigned)((rows.b - rows.a + each - 1) / each), (unsigned)splits),
                            SUM_BLOCK, w->stream, params);
}
