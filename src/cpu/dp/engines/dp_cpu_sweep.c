/** @file dp_cpu_sweep.c  Rows of Pascal's triangle, of an allotment and of a stagecoach. */
#include "dp_cpu.h"
#include "dp_kernels.h"

#include <omp.h>
#include <string.h>

enum { PASCAL_PIECE = 1 << 11, PASCAL_ROWS = 1 << 8 /* columns and rows that a piece takes */ };

/* ------------------------------------------------------------------ binomial */

/** Rows of columns [lo, hi); scratch: two rows of PASCAL_PIECE + PASCAL_ROWS + 1 values. */
static void pascal_piece(const dp_kernels *k, int64_t modulus, int64_t rows, const int64_t *from,
                         int64_t *to, int64_t lo, int64_t hi, int64_t *scratch) {
  const int64_t base = lo > rows ? lo - rows : 0, n = hi - base;
  int64_t *a = scratch + 1, *b = a + PASCAL_PIECE + PASCAL_ROWS + 1;
  a[-1] = b[-1] = 0; /* column -1, or one that no column of the piece rests on */
  memcpy(a, from + base, (size_t)n * sizeof *a);
  for (int64_t r = 0; r < rows; r++) {
    k->pascal(a, b, n, modulus);
    int64_t *const swap = a;
    a = b;
    b = swap;
  }
  memcpy(to + lo, a + lo - base, (size_t)(hi - lo) * sizeof *a);
}

/** At most PASCAL_ROWS rows, columns [lo, hi). */
static void pascal_rows(const dp_cpu *cpu, int64_t modulus, int64_t rows, const int64_t *from,
                        int64_t *to, int64_t lo, int64_t hi, int64_t *scratch) {
  const int64_t room = 2 * (PASCAL_PIECE + PASCAL_ROWS + 1);
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
  for (int64_t c = lo; c < hi; c += PASCAL_PIECE)
    pascal_piece(cpu->kernels, modulus, rows, from, to, c,
                 c + PASCAL_PIECE < hi ? c + PASCAL_PIECE : hi,
                 scratch + omp_get_thread_num() * room);
}

tsl_err dp_cpu_binomial(const dp_cpu *cpu, int64_t modulus, int64_t rows, const int64_t *from,
                        int64_t *to, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  int64_t *scratch = NULL, *between[2] = {NULL, NULL};
  const int64_t begin = lo > rows ? lo - rows : 0;
  if (modulus < 0 || modulus > INT64_C(1) << 62)
    TSL_FAIL(TSL_ERR_INPUT, "modulus %lld; allowed are 0 (exact) and 1 to 2^62",
             (long long)modulus);
  if (hi <= lo) goto done;
  if (rows == 0) memcpy(to + lo, from + lo, (size_t)(hi - lo) * sizeof *to);
  TSL_TRY(tsl_alloc((int64_t)cpu->threads * 2 * (PASCAL_PIECE + PASCAL_ROWS + 1), sizeof *scratch,
                    "pieces of Pascal's triangle", (void **)&scratch));
  for (int64_t r = 0, k = 0; r < rows; r += PASCAL_ROWS, k ^= 1) {
    const int64_t left = rows - r, some = left < PASCAL_ROWS ? left : PASCAL_ROWS;
    const int64_t later = left - some, valid = lo > later ? lo - later : 0;
    if (later > 0 && between[k] == NULL)
      TSL_TRY(tsl_alloc(hi - begin, sizeof **between, "row of Pascal's triangle",
                        (void **)&between[k]));
    int64_t *next = later > 0 ? between[k] - begin : to;
    pascal_rows(cpu, modulus, some, from, next, valid, hi, scratch);
    from = next;
  }
done:
  TSL_FREE_ALL(scratch, between[0], between[1]);
  return err;
}

/* ------------------------------------------------------------------ types */

static tsl_err row_type(tsl_type type, dp_row_type *out) {
  tsl_err err = TSL_OK;
  *out = DP_ROW_F64;
  if (type == TSL_I32)
    *out = DP_ROW_I32;
  else if (type == TSL_I64)
    *out = DP_ROW_I64;
  else if (type == TSL_F32)
    *out = DP_ROW_F32;
  else if (type != TSL_F64)
    TSL_FAIL(TSL_ERR_INTERNAL, "row sweep of %s", tsl_type_name(type));
done:
  return err;
}

/** Largest |value| of integers, INT64_MAX for the smallest integer of 64 bits. */
static int64_t dp_cpu_sweep_largest(dp_row_type type, const void *values, int64_t n) {
  int64_t most = 0;
  for (int64_t k = 0; k < n; k++) {
    const int64_t x =
        type == DP_ROW_I32 ? ((const int32_t *)values)[k] : ((const int64_t *)values)[k];
    const int64_t size = x == INT64_MIN ? INT64_MAX : x < 0 ? -x : x;
    if (size > most) most = size;
  }
  return most;
}

static size_t type_bytes(dp_row_type type) {
  return type == DP_ROW_I32 || type == DP_ROW_F32 ? 4 : 8;
}

/* ------------------------------------------------------------------ allotment */

tsl_err dp_cpu_allotment(const dp_cpu *cpu, tsl_type type, const void *from, const void *returns,
                         void *to, int64_t lo, int64_t hi, int32_t *choice) {
  tsl_err err = TSL_OK;
  enum { COLUMNS = 512 };
  dp_row_type t = DP_ROW_F64;
  TSL_TRY(row_type(type, &t));
  if (choice != NULL && hi > INT32_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "allotment: choices of %lld columns; at most %d are possible",
             (long long)hi, INT32_MAX);
  if (t == DP_ROW_I32 || t == DP_ROW_I64) {
    const int64_t a = dp_cpu_sweep_largest(t, from, hi), b = dp_cpu_sweep_largest(t, returns, hi);
    const int64_t most = t == DP_ROW_I32 ? INT32_MAX : INT64_MAX;
    if (a > most - b)
      TSL_FAIL(TSL_ERR_NUMERIC, "allotment: %lld + %lld may not fit %s", (long long)a, (long long)b,
               tsl_type_name(type));
  }
  /* the work of a column grows with it: the last ones first */
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
  for (int64_t k = 0; k < (hi - lo + COLUMNS - 1) / COLUMNS; k++) {
    const int64_t end = hi - k * COLUMNS, begin = end - COLUMNS > lo ? end - COLUMNS : lo;
    cpu->kernels->allot[t](from, returns, begin, end, (char *)to + (size_t)begin * type_bytes(t),
                           choice != NULL ? choice + begin - lo : NULL);
  }
done:
  return err;
}

/* ------------------------------------------------------------------ stagecoach */

tsl_err dp_cpu_stagecoach(const dp_cpu *cpu, tsl_type type, const void *from, const void *costs,
                          int64_t m, void *to, int64_t lo, int64_t hi, int32_t *choice) {
  tsl_err err = TSL_OK;
  dp_row_type t = DP_ROW_F64;
  int64_t lost = 0;
  TSL_TRY(row_type(type, &t));
  if (choice != NULL && m > INT32_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "stagecoach: choices of %lld states; at most %d are possible",
             (long long)m, INT32_MAX);
  const size_t size = type_bytes(t);
  const int64_t share = (hi - lo) / cpu->threads, columns = share < 256    ? 256
                                                            : share > 4096 ? 4096
                                                                           : share;
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads) reduction(+ : lost)
  for (int64_t k = 0; k < (hi - lo + columns - 1) / columns; k++) {
    const int64_t s = lo + k * columns, n = hi - s < columns ? hi - s : columns;
    lost += !cpu->kernels->stage[t](from, (const char *)costs + (size_t)s * size, m, m, n,
                                    (char *)to + (size_t)s * size,
                                    choice != NULL ? choice + s - lo : NULL);
  }
  if (lost > 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "stagecoach: a sum of costs leaves the type %s", tsl_type_name(type));
done:
  return err;
}
