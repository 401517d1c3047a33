/* Equations of three points: compiled by NVRTC for the cards of the job; sums of pairs and rows. */
#include "triples_equation.h"

#include "integers.h"
#include "lang_gpu.cuh"
#include "triples_gpu.cuh"

extern "C" const char triples_equation_loops_gpu_text[];

struct triples_card_equation {
  lang_module *module;
  triples_equation_args args;
};

enum { PAIRS_KERNEL, ROWS_KERNEL, N_KERNELS };
static const char *const kernel_names[N_KERNELS] = {"tsl_triples_pairs", "tsl_triples_rows"};

/* As in triples_equation_loops.cuh. */
typedef struct equation_rows {
  long long first;
  double *pairs, *sums;
} equation_rows;
enum { BLOCK = 128, ROW_LANES = TRIPLES_LANES, LAUNCH_Y = 65535 };
static_assert(ROW_LANES == 64, "TRIPLES_ROW_LANES");

tsl_err triples_gpu_prepare(tsl_problem *problem, const tsl_device *devices, int n) {
  if (triples_params_of(problem)->function != TRIPLES_EQUATION) return TSL_OK;
  return lang_gpu_prepare_equation(problem, triples_equation_loops_gpu_text, &triples_purpose,
                                   devices, n);
}

tsl_err triples_equation_open(triples_gpu *w, const tsl_problem *problem, int32_t capability) {
  tsl_err err = TSL_OK;
  TSL_TRY(triples_upload(w, &problem->fields[TRIPLES_QUANTITIES], &w->quantities));
  TSL_TRY(tsl_alloc(1, sizeof *w->equation, "equation", (void **)&w->equation));
  TSL_TRY(lang_module_open(problem, capability, kernel_names, N_KERNELS, &w->equation->module));
  triples_equation_arguments(problem, w->points.data, w->quantities.data, &w->equation->args);
done:
  return err;
}

void triples_equation_close(triples_gpu *w) {
  if (w->equation == NULL) return;
  lang_module_unload(&w->equation->module);
  tsl_free(w->equation);
  w->equation = NULL;
}

/* Rows [a, b) into sums (device). */
static tsl_err run_rows(triples_gpu *w, int64_t a, int64_t b, double *sums) {
  tsl_err err = TSL_OK;
  equation_rows rows = {a, (double *)w->slopes.data, sums};
  void *params[] = {&w->equation->args, &rows};
  const int64_t blocks = (triples_columns(&w->p, b - 1) + BLOCK - 1) / BLOCK;
  const dim3 grid((unsigned)tsl_max(1, blocks), (unsigned)(b - a));
  TSL_TRY(lang_module_launch(w->equation->module, PAIRS_KERNEL, grid, BLOCK, w->stream, params));
  TSL_TRY(lang_module_launch(w->equation->module, ROWS_KERNEL, dim3(1, (unsigned)(b - a)),
                             ROW_LANES, w->stream, params));
done:
  return err;
}

tsl_err triples_equation_run(triples_gpu *w, int64_t lo, int64_t hi, double *host) {
  tsl_err err = TSL_OK;
  const int64_t row = w->p.n_pad * (int64_t)sizeof(double);
  const int64_t fit = tsl_max(1, TRIPLES_SCRATCH / tsl_max(1, row));
  const int64_t most = tsl_min(tsl_min(fit, LAUNCH_Y), hi - lo);
  const int64_t bytes = (hi - lo) * (int64_t)sizeof(double);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->slopes, most * row, "sums of pairs"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->sums, bytes, "sums of rows"));
  for (int64_t a = lo; a < hi; a += most)
    TSL_TRY(run_rows(w, a, tsl_min(hi, a + most), (double *)w->sums.data + a - lo));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(host, w->sums.data, (size_t)bytes, cudaMemcpyDeviceToHost, w->stream));
done:
  return err;
}
