/* Diagonalisations and Cholesky's factors by cuSOLVER, in the memory that it asks for; inverses. */
#include "gpu_library.cuh"
#include "gpu_linalg_own.cuh"

#include <stdlib.h>

tsl_solver_functions tsl_solver;

static const tsl_gpu_function solver_functions[] = {
#define TSL_SOLVER(name) {"cusolverDn" #name, &tsl_solver.name},
#include "gpu_solver.def"
#undef TSL_SOLVER
};

tsl_err linalg_load_solver(void) {
  static tsl_gpu_library library = {"cusolver", CUSOLVER_VER_MAJOR, solver_functions,
                                    sizeof solver_functions / sizeof *solver_functions};
  return tsl_gpu_library_load(&library);
}

/* ------------------------------------------------------------- diagonalisation */

/* Memory that the solver asks for, of the card and of the host. */
static tsl_err reserve_work(linalg *l, size_t card, size_t host) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&l->memory, &l->work, (int64_t)card + 8, "a solver"));
  if (host <= l->host_bytes) goto done;
  free(l->host_work);
  l->host_bytes = 0;
  l->host_work = malloc(host);
  if (l->host_work == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for a solver");
  l->host_bytes = host;
done:
  return err;
}

/* For matrices of order n; what is needed depends on no address. Bytes of work on the card and on
 * the host. */
static tsl_err reserve_eigen(linalg *l, int64_t n, size_t *card, size_t *host) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&l->memory, &l->vector, (n + 1) * 8, "eigenvalues"));
  TSL_SOLVER_TRY(tsl_solver.Xsyevd_bufferSize(
      l->solver, l->parameters, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F,
      l->vector.data, n, CUDA_R_64F, l->vector.data, CUDA_R_64F, card, host));
  TSL_TRY(reserve_work(l, *card, *host));
done:
  return err;
}

tsl_err linalg_reserve_eigen(linalg *l, int64_t n) {
  size_t card = 0, host = 0;
  return reserve_eigen(l, n, &card, &host);
}

/* Vectors replace the matrix, column by column: row k of the host's is vector k. */
tsl_err linalg_diagonalise(linalg *l, int64_t n, double *a, double *values) {
  tsl_err err = TSL_OK;
  size_t card = 0, host = 0;
  int info = 0;
  double *on_card = NULL;
  int *info_on_card = NULL;
  TSL_TRY(reserve_eigen(l, n, &card, &host));
  on_card = (double *)l->vector.data;
  info_on_card = (int *)(on_card + n);
  TSL_SOLVER_TRY(tsl_solver.Xsyevd(
      l->solver, l->parameters, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F, a,
      n, CUDA_R_64F, on_card, CUDA_R_64F, l->work.data, card, l->host_work, host, info_on_card));
  TSL_CUDA_TRY(cudaMemcpyAsync(values, on_card, (size_t)n * 8, cudaMemcpyDeviceToHost, l->stream));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(&info, info_on_card, sizeof info, cudaMemcpyDeviceToHost, l->stream));
  TSL_CUDA_TRY(cudaStreamSynchronize(l->stream));
  if (info != 0)
    TSL_FAIL(TSL_ERR_NUMERIC,
             "card %s: diagonalisation of a matrix of order %lld failed (cuSOLVER: %d)",
             tsl_gpu_card(), (long long)n, info);
done:
  return err;
}

/* ----------------------------------------------------------------- factors */

/* Room for the factor, and the bytes of work on the card and on the host. */
static tsl_err reserve_factor(linalg *l, int64_t n, size_t *card, size_t *host) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&l->memory, &l->vector, (n + 1) * 8, "a factor"));
  TSL_SOLVER_TRY(tsl_solver.Xpotrf_bufferSize(l->solver, l->parameters, CUBLAS_FILL_MODE_LOWER, n,
                                              CUDA_R_64F, l->vector.data, n, CUDA_R_64F, card,
                                              host));
  TSL_TRY(reserve_work(l, *card, *host));
done:
  return err;
}

tsl_err linalg_reserve_factor(linalg *l, int64_t n) {
  size_t card = 0, host = 0;
  return reserve_factor(l, n, &card, &host);
}

/* What the solver says of the row; a negative one is of its arguments. */
tsl_err linalg_factorise(linalg *l, int64_t n, double *a, int64_t *row) {
  tsl_err err = TSL_OK;
  size_t card = 0, host = 0;
  int info = 0;
  TSL_TRY(reserve_factor(l, n, &card, &host));
  TSL_SOLVER_TRY(tsl_solver.Xpotrf(l->solver, l->parameters, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F,
                                   a, n, CUDA_R_64F, l->work.data, card, l->host_work, host,
                                   (int *)l->vector.data));
  TSL_TRY(tsl_gpu_copy(l, &info, l->vector.data, sizeof info));
  if (info < 0) TSL_FAIL(TSL_ERR_INTERNAL, "card %s: cuSOLVER: %d", tsl_gpu_card(), info);
  *row = info;
done:
  return err;
}

tsl_err linalg_reserve_inverse(linalg *l, int64_t n) {
  return reserve_work(l, (size_t)(n * n) * 8, 0);
}

static __global__ void set_diagonal(int64_t n, double *a) {
  const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) a[k * (n + 1)] = 1;
}

/* L X = 1, by products of blocks: faster than the solver's own inverse (ADR 14). What L has on its
 * diagonal is positive, as of linalg_factorise. */
tsl_err linalg_invert(linalg *l, int64_t n, double *a) {
  enum { THREADS = 256 };
  tsl_err err = TSL_OK;
  const size_t bytes = (size_t)(n * n) * 8;
  const double one = 1;
  double *x = NULL;
  TSL_TRY(linalg_reserve_inverse(l, n));
  x = (double *)l->work.data;
  TSL_CUDA_TRY(cudaMemsetAsync(x, 0, bytes, l->stream));
  set_diagonal<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, l->stream>>>(n, x);
  TSL_CUDA_TRY(cudaGetLastError());
  TSL_BLAS_TRY(tsl_blas.Dtrsm_64(l->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                                 CUBLAS_DIAG_NON_UNIT, n, n, &one, a, n, x, n));
  TSL_CUDA_TRY(cudaMemcpyAsync(a, x, bytes, cudaMemcpyDeviceToDevice, l->stream));
done:
  return err;
}
