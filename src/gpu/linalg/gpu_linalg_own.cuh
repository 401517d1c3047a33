/**
 * @file gpu_linalg_own.cuh
 * What the table, its copies of matrices (gpu_linalg_copies.cu) and cuSOLVER's calls
 * (gpu_linalg_solver.cu) share.
 */
#pragma once

#include "gpu_blas.cuh"
#include "gpu_stage.cuh"

#include <cusolverDn.h>

/** cusolverDnCreate is tsl_solver.Create, and so on; not before linalg_load_solver. */
struct tsl_solver_functions {
#define TSL_SOLVER(name) decltype(&cusolverDn##name) name;
#include "gpu_solver.def"
#undef TSL_SOLVER
};
extern tsl_solver_functions tsl_solver;
/** Load it (gpu_library.cuh). @return TSL_ERR_DEVICE when it is not here */
tsl_err linalg_load_solver(void);

#define TSL_SOLVER_TRY(call)                                                              \
  do {                                                                                    \
    const cusolverStatus_t status_ = (call);                                              \
    if (status_ != CUSOLVER_STATUS_SUCCESS)                                               \
      TSL_FAIL((tsl_err)(status_ == CUSOLVER_STATUS_ALLOC_FAILED ? TSL_ERR_DEVICE_MEMORY  \
                                                                 : TSL_ERR_DEVICE),       \
               "card %s: %s: cuSOLVER's status %d", tsl_gpu_card(), #call, (int)status_); \
  } while (0)

/** Matrices of a region; bytes of the pinned memory that moves go through. */
enum { LINALG_COPIES = 40 };

/** A matrix on the card. */
typedef struct linalg_copy {
  const double *host; /**< its name; NULL: the memory is free */
  int64_t n;          /**< elements */
  bool held;
  tsl_gpu_buffer memory;
} linalg_copy;

/** Card, handles and memory of the table; one of a process. */
typedef struct linalg {
  tsl_device card;
  double rate; /**< operations a second of products in double precision, estimated */
  cudaStream_t stream;
  cublasHandle_t blas;
  cusolverDnHandle_t solver;
  cusolverDnParams_t parameters;
  tsl_gpu_memory memory;
  linalg_copy copies[LINALG_COPIES];
  tsl_gpu_buffer work, vector; /**< of the solver; order + 1 numbers */
  void *host_work;             /**< of the solver, [host_bytes] */
  size_t host_bytes;
  tsl_gpu_stage stage;
} linalg;

/** Make room for n copies of so many elements each beside those in use.
 *  @return TSL_ERR_DEVICE_MEMORY when there is none */
tsl_err linalg_reserve(linalg *l, int n, int64_t elements);
/** The card's copy of a matrix that is read; moved there when there is none.
 *  @param[out] out  not touched for n = 0 */
tsl_err linalg_read(linalg *l, int64_t n, const double *host, double **out);
/** Room for a matrix that is written. */
tsl_err linalg_write(linalg *l, int64_t n, const double *host, double **out);
/** The copy of that name, or NULL. */
linalg_copy *linalg_find(linalg *l, const double *host);
tsl_err linalg_fetch(linalg *l, double *host);
/** Forget all copies but those held; their memory stays for others. */
void linalg_forget(linalg *l);
/** Give back the memory of copies that are not in use. */
void linalg_shrink(linalg *l);

/* Matrices on the card, of order n. The calls reserve what the solver needs beside them, which a
 * region does before it begins. */

tsl_err linalg_reserve_eigen(linalg *l, int64_t n);
tsl_err linalg_reserve_factor(linalg *l, int64_t n);
tsl_err linalg_reserve_inverse(linalg *l, int64_t n);
/** Vectors replace the matrix, column by column: row k of the host's is vector k.
 *  @param[out] values  [n], in the host's memory
 *  @return TSL_ERR_NUMERIC when it does not converge */
tsl_err linalg_diagonalise(linalg *l, int64_t n, double *a, double *values);
/** tsl_linalg.factor and invert. */
tsl_err linalg_factorise(linalg *l, int64_t n, double *a, int64_t *row);
tsl_err linalg_invert(linalg *l, int64_t n, double *a);
