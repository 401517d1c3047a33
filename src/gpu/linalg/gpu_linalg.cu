/* The operations, when they are worth their moves, and the handles, which a thread of its own
 * makes: loading the libraries and their kernels takes a few tenths of a second. */
#include "gpu_linalg.cuh"

#include "gpu_linalg_own.cuh"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* For matrices below LEAST launches alone take as long as the host. A system of SOLVED equations is
 * solved by the host in a millisecond, by the card in no less. At most a SHARE-th of the card's
 * memory is taken, as most of it is the worker's. */
enum { LEAST = 256, SOLVED = 1024, SHARE = 8, WARMED = 256 };

static linalg own;
static enum { COLD, WARMING, READY, FAILED } state = COLD;
static pthread_t warmer;
static tsl_err_copy outcome; /* of making the handles */
static bool lacks;

/* ------------------------------------------------------- diagonalisation, factors */

/* cuSOLVER may not end for NaN. The sum of squares overflows beyond 1e150, too. */
static tsl_err check_finite(linalg *l, int64_t n, const double *a) {
  tsl_err err = TSL_OK;
  double sum = 0;
  TSL_BLAS_TRY(tsl_blas.Ddot_64(l->blas, n * n, a, 1, a, 1, &sum));
  if (!isfinite(sum))
    TSL_FAIL(TSL_ERR_NUMERIC,
             "a matrix of order %lld to be diagonalised holds NaN, infinity or more than 1e150",
             (long long)n);
done:
  return err;
}

static tsl_err eigen(int64_t n, const double *a, double *values, double *vectors) {
  tsl_err err = TSL_OK;
  linalg *l = &own;
  double *from = NULL, *to = NULL;
  TSL_TRY(linalg_read(l, n * n, a, &from));
  TSL_TRY(check_finite(l, n, from));
  TSL_TRY(linalg_write(l, n * n, vectors, &to));
  if (to != from)
    TSL_CUDA_TRY(
        cudaMemcpyAsync(to, from, (size_t)(n * n) * 8, cudaMemcpyDeviceToDevice, l->stream));
  TSL_TRY(linalg_diagonalise(l, n, to, values));
done:
  return err;
}

static tsl_err factor(int64_t n, double *a, int64_t *row) {
  double *on_card = NULL;
  const tsl_err err = linalg_read(&own, n * n, a, &on_card);
  return err == TSL_OK ? linalg_factorise(&own, n, on_card, row) : err;
}

static tsl_err invert(int64_t n, double *a) {
  double *on_card = NULL;
  const tsl_err err = linalg_read(&own, n * n, a, &on_card);
  return err == TSL_OK ? linalg_invert(&own, n, on_card) : err;
}

/* -------------------------------------------------------- products, equations */

/* Row by row as cuBLAS sees it column by column: C^T = op(B)^T op(A)^T. */
static tsl_err multiply(linalg *l, const tsl_linalg_product *p, const double *a, const double *b,
                        double *c) {
  tsl_err err = TSL_OK;
  TSL_BLAS_TRY(tsl_blas.Dgemm(l->blas, p->b_turned ? CUBLAS_OP_T : CUBLAS_OP_N,
                              p->a_turned ? CUBLAS_OP_T : CUBLAS_OP_N, (int)p->n, (int)p->m,
                              (int)p->k, &p->factor, b, (int)(p->b_turned ? p->k : p->n), a,
                              (int)(p->a_turned ? p->m : p->k), &p->keep, c, (int)p->n));
done:
  return err;
}

static tsl_err product(const tsl_linalg_product *p) {
  tsl_err err = TSL_OK;
  linalg *l = &own;
  double *a = NULL, *b = NULL, *c = NULL;
  if (p->m == 0 || p->n == 0) goto done;
  TSL_TRY(linalg_read(l, p->m * p->k, p->a, &a));
  TSL_TRY(linalg_read(l, p->k * p->n, p->b, &b));
  if (p->keep != 0) TSL_TRY(linalg_read(l, p->m * p->n, p->c, &c));
  TSL_TRY(linalg_write(l, p->m * p->n, p->c, &c));
  TSL_TRY(multiply(l, p, p->k > 0 ? a : c, p->k > 0 ? b : c, c)); /* k = 0: not read */
done:
  return err;
}

static tsl_err solve_both(linalg *l, int64_t n, const double *factor, double *b) {
  tsl_err err = TSL_OK;
  double *x = (double *)l->vector.data;
  TSL_CUDA_TRY(cudaMemcpyAsync(x, b, (size_t)n * 8, cudaMemcpyHostToDevice, l->stream));
  TSL_BLAS_TRY(tsl_blas.Dtrsv(l->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                              (int)n, factor, (int)n, x, 1));
  TSL_BLAS_TRY(tsl_blas.Dtrsv(l->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT,
                              (int)n, factor, (int)n, x, 1));
  TSL_CUDA_TRY(cudaMemcpyAsync(b, x, (size_t)n * 8, cudaMemcpyDeviceToHost, l->stream));
  TSL_CUDA_TRY(cudaStreamSynchronize(l->stream));
done:
  return err;
}

/* --------------------------------------------------------------------- handles */

/* The first call of a kind loads its kernels: some of them now. */
static tsl_err warm_up(linalg *l) {
  tsl_err err = TSL_OK;
  static double a[WARMED * WARMED], values[WARMED];
  const tsl_linalg_product square = {WARMED, WARMED, WARMED, 1, 0, a, a, false, true, a};
  tsl_gpu_buffer both = {};
  double *on_card = NULL;
  int64_t row = 0;
  for (int i = 0; i < WARMED; i++)
    for (int j = 0; j < WARMED; j++) a[i * WARMED + j] = 1.0 / (1 + abs(i - j));
  TSL_TRY(tsl_gpu_reserve(&l->memory, &both, 2 * (int64_t)sizeof a, "a first matrix"));
  on_card = (double *)both.data;
  TSL_CUDA_TRY(cudaMemcpyAsync(on_card, a, sizeof a, cudaMemcpyHostToDevice, l->stream));
  TSL_TRY(multiply(l, &square, on_card, on_card, on_card + WARMED * WARMED));
  TSL_TRY(linalg_factorise(l, WARMED, on_card + WARMED * WARMED, &row));
  TSL_TRY(linalg_invert(l, WARMED, on_card + WARMED * WARMED));
  TSL_TRY(linalg_diagonalise(l, WARMED, on_card, values));
done:
  tsl_gpu_release(&l->memory, &both);
  return err;
}

static tsl_err open_handles(linalg *l) {
  tsl_err err = TSL_OK;
  TSL_TRY(linalg_load_solver()); /* beside the start of the card */
  TSL_TRY(tsl_platform_gpu.select(&l->card));
  l->memory.limit = l->card.memory_limit / SHARE;
  TSL_CUDA_TRY(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));
  TSL_TRY(tsl_blas_create(l->stream, &l->blas));
  TSL_SOLVER_TRY(tsl_solver.Create(&l->solver));
  TSL_SOLVER_TRY(tsl_solver.SetStream(l->solver, l->stream));
  TSL_SOLVER_TRY(tsl_solver.CreateParams(&l->parameters));
  TSL_TRY(tsl_gpu_stage_create(&l->stage));
  TSL_TRY(warm_up(l));
done:
  return err;
}

static void *warm_main(void *arg) {
  tsl_err_save(open_handles((linalg *)arg), &outcome);
  return NULL;
}

static void start_warming(void) {
  sigset_t all, before;
  if (state != COLD) return;
  (void)sigfillset(&all); /* signals are the main thread's */
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  state = WARMING;
  if (pthread_create(&warmer, NULL, warm_main, &own) != 0) {
    (void)warm_main(&own);
    state = outcome.code == TSL_OK ? READY : FAILED;
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_warming(void) {
  if (state != WARMING) return;
  (void)pthread_join(warmer, NULL);
  state = outcome.code == TSL_OK ? READY : FAILED;
}

/* Handles, and the card for this thread. */
static tsl_err make_ready(void) {
  tsl_err err = TSL_OK;
  start_warming();
  end_warming();
  if (state == FAILED) TSL_TRY(tsl_err_restore(&outcome));
  tsl_gpu_name_card(own.card.id);
  TSL_CUDA_TRY(cudaSetDevice(own.card.index));
done:
  return err;
}

/* No memory is no error: the host's threads do it. @return whether err is that */
static bool yields_to_host(tsl_err *err) {
  if (*err != TSL_ERR_DEVICE_MEMORY) return false;
  linalg_forget(&own);
  linalg_shrink(&own);
  lacks = true;
  *err = TSL_OK;
  return true;
}

/* ----------------------------------------------------------------------- table */

static void warm(int64_t order) {
  if (order >= LEAST) start_warming();
}

/* Moves at the rate of the host's threads into pinned memory; launches of one region; for each
 * column that the solver eliminates a few launches one after another (9 to 16 us at orders 256 to
 * 2000 of an H200, gpu.linalg.times); 9 n^3 operations in all. */
static double card_seconds(const linalg *l, const tsl_linalg_region *r) {
  static const double move = 8 / 1e10, launches = 1e-4, column = 1.3e-5;
  const double square = (double)r->order * (double)r->order;
  return launches + r->moved * move + r->operations / l->rate +
         (double)r->eigen * (column + 9 * square / l->rate);
}

static tsl_err reserve_region(linalg *l, const tsl_linalg_region *r) {
  tsl_err err = TSL_OK;
  TSL_TRY(make_ready());
  TSL_TRY(linalg_reserve(l, r->matrices, r->order * r->order));
  if (r->eigen > 0) TSL_TRY(linalg_reserve_eigen(l, r->order));
  if (r->factor > 0) TSL_TRY(linalg_reserve_factor(l, r->order));
  if (r->inverse > 0) TSL_TRY(linalg_reserve_inverse(l, r->order));
done:
  return err;
}

static bool is_worth(const tsl_linalg_region *region) {
  if (isinf(region->host_seconds)) return true;
  return region->order >= LEAST && card_seconds(&own, region) < region->host_seconds;
}

static tsl_err enter(const tsl_linalg_region *region, bool *taken) {
  tsl_err err = TSL_OK;
  *taken = false;
  if (!is_worth(region)) goto done;
  err = reserve_region(&own, region);
  *taken = !yields_to_host(&err) && err == TSL_OK;
done:
  return err;
}

static tsl_err fetch(double *a) {
  return linalg_fetch(&own, a);
}

static void leave(void) {
  linalg_forget(&own);
}

static void drop(const double *a) {
  linalg_copy *c = linalg_find(&own, a);
  if (c != NULL) c->host = NULL, c->held = false;
}

/* Not before something else has wanted the handles. */
static tsl_err hold(int64_t n, const double *a) {
  tsl_err err = TSL_OK;
  double *on_card = NULL;
  if (n < (int64_t)LEAST * LEAST || state == COLD) goto done;
  err = make_ready();
  if (err == TSL_OK) err = linalg_read(&own, n, a, &on_card);
  if (!yields_to_host(&err) && err == TSL_OK) linalg_find(&own, a)->held = true;
done:
  return err;
}

static tsl_err solve(int64_t n, const double *factor, double *b, bool *taken) {
  tsl_err err = TSL_OK;
  linalg *l = &own;
  const linalg_copy *c = n >= SOLVED ? linalg_find(l, factor) : NULL;
  *taken = false;
  if (c == NULL || !c->held) goto done;
  TSL_TRY(make_ready());
  err = tsl_gpu_reserve(&l->memory, &l->vector, n * 8, "a right-hand side");
  if (yields_to_host(&err)) goto done;
  if (err == TSL_OK) TSL_TRY(solve_both(l, n, (const double *)c->memory.data, b));
  *taken = true;
done:
  return err;
}

static void close_table(void) {
  linalg *l = &own;
  end_warming();
  (void)cudaSetDevice(l->card.index);
  for (int k = 0; k < LINALG_COPIES; k++) tsl_gpu_release(&l->memory, &l->copies[k].memory);
  tsl_gpu_release(&l->memory, &l->work);
  tsl_gpu_release(&l->memory, &l->vector);
  if (l->parameters != NULL) (void)tsl_solver.DestroyParams(l->parameters);
  if (l->solver != NULL) (void)tsl_solver.Destroy(l->solver);
  tsl_blas_destroy(&l->blas);
  if (l->stream != NULL) (void)cudaStreamDestroy(l->stream);
  tsl_gpu_stage_destroy(&l->stage);
  free(l->host_work);
  memset(l, 0, sizeof *l);
  state = COLD, lacks = false;
}

/* Half of what the card's units for double precision do at their highest clock. */
static double rate_of(int index, int processors) {
  enum { UNITS = 128 }; /* of single precision in a processor */
  int ratio = 0, kilohertz = 0;
  if (cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, index) !=
          cudaSuccess ||
      cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, index) != cudaSuccess || ratio < 1)
    return (void)cudaGetLastError(), 0;
  return 0.5 * 2 * processors * UNITS / ratio * 1e3 * kilohertz;
}

static const tsl_linalg table = {warm,  enter, product, eigen, factor, invert,
                                 fetch, leave, hold,    drop,  solve,  close_table};

const tsl_linalg *tsl_gpu_linalg(const tsl_device *card) {
  own.card = *card;
  own.rate = rate_of(card->index, card->processors);
  return &table;
}

int64_t tsl_gpu_linalg_bytes(void) {
  return own.memory.used;
}

bool tsl_gpu_linalg_lacks_memory(void) {
  return lacks;
}
