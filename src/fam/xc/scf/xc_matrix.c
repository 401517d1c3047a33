/* Calls of OpenBLAS and LAPACKE with row-major arguments, or of the card's table where a region is
 * on it. LAPACKE's failures become TSL_ERR_NUMERIC or TSL_ERR_MEMORY. */
#include "xc_matrix.h"

#include "integers.h"
#include "linalg.h"
#include "memory.h"
#include "parallel.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* What xc_matrix_use has said. */
static struct {
  int threads;
  bool card;
} use = {.threads = 1, .card = true};

/* Of the thread that has a table, and of no other. */
static enum { OUTSIDE, ON_HOST, ON_CARD } where = OUTSIDE;

void xc_matrix_use(int threads, bool card, int64_t order) {
  const int most = openblas_get_num_procs();
  const tsl_linalg *table = tsl_linalg_used();
  use.threads = threads < most ? threads : most;
  use.card = card;
  tsl_parallel_inherit(openblas_set_num_threads, use.threads); /* where it starts those it lacks */
  if (card && table != NULL) table->warm(order);
}

tsl_err xc_matrix_create(int64_t rows, int64_t columns, const char *what, double **out) {
  tsl_err err = TSL_OK;
  int64_t n = 0;
  *out = NULL;
  if (!tsl_mul_i64(rows, columns, &n) || rows > INT32_MAX || columns > INT32_MAX)
    TSL_FAIL(TSL_ERR_MEMORY, "%s: %lld x %lld elements are too many", what, (long long)rows,
             (long long)columns);
  TSL_TRY(tsl_alloc(n, sizeof **out, what, (void **)out));
done:
  return err;
}

/* -------------------------------------------------------------------- regions */

/* The table that this thread may use. */
static const tsl_linalg *table_of(void) {
  return use.card ? tsl_linalg_used() : NULL;
}

/* The table of a region that is on the card. */
static const tsl_linalg *card_of(void) {
  const tsl_linalg *table = table_of();
  return table != NULL && where == ON_CARD ? table : NULL;
}

/* Of OpenBLAS 0.3 on recent Xeons: operations of a core in products; dsytrd, dstedc and dormtr, of
 * which a part goes by threads, one by the memory and one by the columns, however many threads. */
static double host_seconds(const tsl_linalg_region *r) {
  static const double rate = 3e10, shared = 1.7e-10, memory = 3e-11, columns = 4e-8;
  const double n = (double)r->order, threads = use.threads;
  return r->operations / (rate * threads) +
         (double)r->eigen * n * (n * (shared / threads + memory) + columns);
}

static tsl_err enter(tsl_linalg_region region) {
  tsl_err err = TSL_OK;
  const tsl_linalg *table = table_of();
  bool taken = false;
  if (table == NULL) goto done;
  region.host_seconds = host_seconds(&region);
  TSL_TRY(table->enter(&region, &taken));
  where = taken ? ON_CARD : ON_HOST;
done:
  return err;
}

tsl_err xc_matrix_enter(const xc_matrix_region *r) {
  const double n = (double)r->order;
  return enter((tsl_linalg_region){.order = r->order,
                                   .matrices = r->matrices,
                                   .moved = n * n * r->moved,
                                   .operations = 2 * n * n * n * r->products,
                                   .eigen = r->eigen * r->order});
}

tsl_err xc_matrix_fetch(double *a) {
  const tsl_linalg *card = card_of();
  return card != NULL ? card->fetch(a) : TSL_OK;
}

void xc_matrix_leave(void) {
  const tsl_linalg *card = card_of();
  if (card != NULL) card->leave();
  if (table_of() != NULL) where = OUTSIDE;
}

tsl_err xc_matrix_hold(int64_t rows, int64_t columns, const double *a) {
  tsl_err err = TSL_OK;
  const tsl_linalg *table = table_of();
  if (table == NULL) goto done;
  table->drop(a);
  TSL_TRY(table->hold(rows * columns, a));
done:
  return err;
}

void xc_matrix_drop(const double *a) {
  const tsl_linalg *table = tsl_linalg_used();
  if (table != NULL && a != NULL) table->drop(a);
}

/* An operation outside of regions is one of its own, whose result is fetched. */
static tsl_err enter_alone(const tsl_linalg_region *region, bool *alone) {
  *alone = table_of() != NULL && where == OUTSIDE;
  return *alone ? enter(*region) : TSL_OK;
}

static tsl_err leave_alone(bool alone, double *result, tsl_err err) {
  if (alone && err == TSL_OK) err = xc_matrix_fetch(result);
  if (alone) xc_matrix_leave();
  return err;
}

/* ------------------------------------------------------------------- products */

static void multiply_on_host(const tsl_linalg_product *p) {
  cblas_dgemm(CblasRowMajor, p->a_turned ? CblasTrans : CblasNoTrans,
              p->b_turned ? CblasTrans : CblasNoTrans, (int)p->m, (int)p->n, (int)p->k, p->factor,
              p->a, (int)(p->a_turned ? p->m : p->k), p->b, (int)(p->b_turned ? p->k : p->n),
              p->keep, p->c, (int)p->n);
}

static tsl_err multiply(const tsl_linalg_product *p) {
  tsl_err err = TSL_OK;
  const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
  const tsl_linalg_region region = {.order = tsl_max(tsl_max(p->m, p->n), p->k),
                                    .matrices = 3,
                                    .moved = m * k + k * n + m * n * (p->keep != 0 ? 2 : 1),
                                    .operations = 2 * m * n * k};
  bool alone = false;
  if (p->m == 0 || p->n == 0) goto done;
  TSL_TRY(enter_alone(&region, &alone));
  if (card_of() != NULL)
    TSL_TRY(card_of()->product(p));
  else
    multiply_on_host(p);
done:
  return leave_alone(alone, p->c, err);
}

tsl_err xc_matrix_product(int64_t m, int64_t n, int64_t k, double factor, const double *a,
                          bool a_turned, const double *b, bool b_turned, double *c) {
  return multiply(&(tsl_linalg_product){.m = m,
                                        .n = n,
                                        .k = k,
                                        .factor = factor,
                                        .a = a,
                                        .a_turned = a_turned,
                                        .b = b,
                                        .b_turned = b_turned,
                                        .c = c});
}

tsl_err xc_matrix_project(int64_t m, int64_t n, const double *a, const double *b, double *work,
                          double *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(xc_matrix_product(m, n, n, 1, b, false, a, false, work));
  TSL_TRY(xc_matrix_product(m, m, n, 1, work, false, b, true, out));
done:
  return err;
}

tsl_err xc_matrix_outer(int64_t n, int64_t k, double factor, const double *rows, double keep,
                        double *out) {
  return multiply(&(tsl_linalg_product){.m = n,
                                        .n = n,
                                        .k = k,
                                        .factor = factor,
                                        .keep = keep,
                                        .a = rows,
                                        .a_turned = true,
                                        .b = rows,
                                        .c = out});
}

/* ------------------------------------------------------------ diagonalisations */

static tsl_err check_finite(int64_t n, const double *a) {
  tsl_err err = TSL_OK;
  if (isfinite(xc_matrix_dot(n * n, a, a))) goto done; /* its square may overflow, too */
  for (int64_t k = 0; k < n * n; k++)
    if (!isfinite(a[k]))
      TSL_FAIL(TSL_ERR_NUMERIC, "a matrix to be diagonalised holds %g in row %lld", a[k],
               (long long)(k / n));
done:
  return err;
}

static tsl_err check_lapack(lapack_int info, const char *routine, int64_t n) {
  tsl_err err = TSL_OK;
  if (info != 0)
    TSL_FAIL(info == LAPACK_WORK_MEMORY_ERROR ? TSL_ERR_MEMORY : TSL_ERR_NUMERIC,
             "diagonalisation of a matrix of order %lld failed (%s: %d)", (long long)n, routine,
             (int)info);
done:
  return err;
}

static tsl_err eigen_on_host(int64_t n, double *a, double *values) {
  tsl_err err = TSL_OK;
  const lapack_int m = (lapack_int)n;
  TSL_TRY(check_finite(n, a));
  /* column-major: the same symmetric matrix, and its vectors come as rows */
  TSL_TRY(check_lapack(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', m, a, m, values), "dsyevd", n));
done:
  return err;
}

/* The steps of dsyevd, of which the last is for k vectors. */
static tsl_err eigen_lowest_on_host(int64_t n, int64_t k, double *a, double *values,
                                    double *vectors) {
  tsl_err err = TSL_OK;
  const lapack_int m = (lapack_int)n, few = (lapack_int)k;
  double *rest = NULL;
  TSL_TRY(check_finite(n, a));
  TSL_TRY(xc_matrix_create(2, n, "a tridiagonal matrix", &rest));
  double *beside = rest, *factors = rest + n;
  TSL_TRY(check_lapack(LAPACKE_dsytrd(LAPACK_COL_MAJOR, 'L', m, a, m, values, beside, factors),
                       "dsytrd", n));
  TSL_TRY(check_lapack(LAPACKE_dstedc(LAPACK_COL_MAJOR, 'I', m, values, beside, vectors, m),
                       "dstedc", n));
  TSL_TRY(check_lapack(
      LAPACKE_dormtr(LAPACK_COL_MAJOR, 'L', 'L', 'N', m, few, a, m, factors, vectors, m), "dormtr",
      n));
done:
  tsl_free(rest);
  return err;
}

static tsl_linalg_region eigen_region(int64_t n) {
  return (tsl_linalg_region){
      .order = n, .matrices = 2, .moved = 2 * (double)n * (double)n, .eigen = n};
}

tsl_err xc_matrix_eigen(int64_t n, double *a, double *values) {
  tsl_err err = TSL_OK;
  const tsl_linalg_region region = eigen_region(n);
  bool alone = false;
  TSL_TRY(enter_alone(&region, &alone));
  TSL_TRY(card_of() != NULL ? card_of()->eigen(n, a, values, a) : eigen_on_host(n, a, values));
done:
  return leave_alone(alone, a, err);
}

/* A card finds all vectors: to leave some out would save it no time. */
tsl_err xc_matrix_eigen_lowest(int64_t n, int64_t k, double *a, double *values, double *vectors) {
  tsl_err err = TSL_OK;
  const tsl_linalg_region region = eigen_region(n);
  bool alone = false;
  TSL_TRY(enter_alone(&region, &alone));
  TSL_TRY(card_of() != NULL ? card_of()->eigen(n, a, values, vectors)
                            : eigen_lowest_on_host(n, k, a, values, vectors));
done:
  return leave_alone(alone, vectors, err);
}

/* ------------------------------------------------------------------- equations */

static tsl_linalg_region factor_region(int64_t n, bool inverse) {
  const double square = (double)n * (double)n;
  return (tsl_linalg_region){.order = n,
                             .matrices = 1,
                             .moved = 2 * square,
                             .operations = (inverse ? 2 : 1) * square * (double)n / 3,
                             .factor = n,
                             .inverse = inverse ? n : 0};
}

static tsl_err factor_here(int64_t n, const char *what, double *a) {
  tsl_err err = TSL_OK;
  int64_t row = 0;
  if (card_of() != NULL)
    TSL_TRY(card_of()->factor(n, a, &row));
  else
    row = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (lapack_int)n, a, (lapack_int)n);
  if (row != 0)
    TSL_FAIL(TSL_ERR_NUMERIC,
             "%s is not positive definite at row %lld of %lld: its functions are "
             "linearly dependent",
             what, (long long)row, (long long)n);
done:
  return err;
}

static tsl_err invert_here(int64_t n, double *l) {
  tsl_err err = TSL_OK;
  const lapack_int order = (lapack_int)n;
  if (card_of() != NULL) return card_of()->invert(n, l);
  const lapack_int row = LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'L', 'N', order, l, order);
  if (row != 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "a factor of order %lld has no inverse (row %d)", (long long)n,
             (int)row);
  for (int64_t k = 1; k < n; k++) memset(l + k * n, 0, (size_t)k * sizeof *l);
done:
  return err;
}

static tsl_err factor(int64_t n, const char *what, bool inverse, double *a) {
  tsl_err err = TSL_OK;
  const tsl_linalg_region region = factor_region(n, inverse);
  bool alone = false;
  TSL_TRY(enter_alone(&region, &alone));
  TSL_TRY(factor_here(n, what, a));
  if (inverse) TSL_TRY(invert_here(n, a));
done:
  return leave_alone(alone, a, err);
}

tsl_err xc_matrix_factor(int64_t n, const char *what, double *a) {
  return factor(n, what, false, a);
}

tsl_err xc_matrix_inverse_factor(int64_t n, const char *what, double *a) {
  return factor(n, what, true, a);
}

/* Column k of the factor, row k in memory from its diagonal on, gets the order of the matrix, and
 * the place that rising pivots give it. */
static void unpivot(int64_t n, int64_t rank, const lapack_int *pivots, double *line, double *rows) {
  for (int64_t k = 0; k < rank; k++) {
    double *row = rows + k * n;
    memcpy(line + k, row + k, (size_t)(n - k) * sizeof *line);
    memset(row, 0, (size_t)n * sizeof *row);
    for (int64_t i = k; i < n; i++) row[pivots[i] - 1] = line[i];
  }
  for (int64_t k = 0; k < rank / 2; k++)
    cblas_dswap((int)n, rows + k * n, 1, rows + (rank - 1 - k) * n, 1);
}

/* Largest element of (a - sum_k r_k r_k^T) x, with an x that no vector of such a difference is
 * likely to be orthogonal to. @param[in] work  [3][n] */
static double left_over(int64_t n, int64_t rank, const double *a, const double *rows,
                        double *work) {
  const int m = (int)n;
  double *x = work, *y = x + n, *t = y + n, most = 0;
  for (int64_t i = 0; i < n; i++) x[i] = cos((double)(i * i));
  cblas_dsymv(CblasColMajor, CblasLower, m, 1, a, m, x, 1, 0, y, 1);
  cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rank, m, 1, rows, m, x, 1, 0, t, 1);
  cblas_dgemv(CblasRowMajor, CblasTrans, (int)rank, m, -1, rows, m, t, 1, 1, y, 1);
  for (int64_t i = 0; i < n; i++) most = isfinite(y[i]) ? fmax(most, fabs(y[i])) : INFINITY;
  return most;
}

tsl_err xc_matrix_roots(int64_t n, const char *what, const double *a, double *rows, int64_t *rank) {
  tsl_err err = TSL_OK;
  static const double rounding = 1e-13;
  const lapack_int m = (lapack_int)n;
  lapack_int *pivots = NULL, found = 0;
  double *work = NULL, largest = 0;
  TSL_TRY(xc_matrix_create(3, n, "a factor", &work));
  TSL_TRY(tsl_alloc(n, sizeof *pivots, "pivots of a factor", (void **)&pivots));
  for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(a[i * (n + 1)]));
  memcpy(rows, a, (size_t)(n * n) * sizeof *rows);
  (void)LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, 'L', m, rows, m, pivots, &found, rounding * largest,
                            work);
  unpivot(n, found, pivots, work, rows);
  const double left = left_over(n, found, a, rows, work);
  if (!(left <= fmax(1e3, (double)n) * rounding * largest))
    TSL_FAIL(
        TSL_ERR_NUMERIC,
        "%s has a negative eigenvalue, or holds NaN: of order %lld, with a diagonal up to %g, its "
        "%d roots miss it by %g",
        what, (long long)n, largest, (int)found, left);
  *rank = found;
done:
  TSL_FREE_ALL(work, pivots);
  return err;
}

tsl_err xc_matrix_solve(int64_t n, const double *factor, double *b) {
  tsl_err err = TSL_OK;
  const int m = (int)n;
  bool taken = false;
  if (table_of() != NULL) TSL_TRY(table_of()->solve(n, factor, b, &taken));
  if (taken) goto done;
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, m, factor, m, b, 1);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, m, factor, m, b, 1);
done:
  return err;
}

bool xc_matrix_solve_any(int n, double *a, double *b) {
  lapack_int pivots[64];
  return n <= 64 && LAPACKE_dgesv(LAPACK_COL_MAJOR, n, 1, a, n, pivots, b, n) == 0;
}

tsl_err xc_matrix_power(int64_t n, const double *matrix, double power, double limit, double *out) {
  tsl_err err = TSL_OK;
  double *vectors = NULL, *values = NULL, *scaled = NULL;
  TSL_TRY(xc_matrix_create(n, n, "vectors of a matrix", &vectors));
  TSL_TRY(xc_matrix_create(n, n, "vectors of a matrix", &scaled));
  TSL_TRY(xc_matrix_create(n, 1, "eigenvalues of a matrix", &values));
  memcpy(vectors, matrix, (size_t)(n * n) * sizeof *vectors);
  TSL_TRY(xc_matrix_eigen(n, vectors, values));
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = 0; i < n; i++)
      scaled[k * n + i] = values[k] < limit ? 0 : pow(values[k], power) * vectors[k * n + i];
  TSL_TRY(xc_matrix_product(n, n, n, 1, vectors, true, scaled, false, out));
done:
  tsl_free(vectors), tsl_free(values), tsl_free(scaled);
  return err;
}
