/* Bands of row sweeps, to test the kernels of dp_sweep.cuh one by one; in a run
 * dp_backend_gpu_sweep.cu launches them. */
#pragma once

#include "dp_sweep.cuh"

/* ---------------------------------------------------------------------------- stagecoach */

/* out[s] = min over x of in[x] + costs[x][s], s = first .. first + count - 1. */
template <class T>
static __global__ void dp_stage_kernel(const T *in, const T *costs, int64_t m, int64_t first,
                                       int64_t count, T *out) {
  __shared__ T parts[DP_STAGE_PARTS][DP_STAGE_STATES];
  const int lane = (int)threadIdx.x % DP_STAGE_STATES, part = (int)threadIdx.x / DP_STAGE_STATES;
  const int64_t s = (int64_t)blockIdx.x * DP_STAGE_STATES + lane;
  const bool mine = s < count;
  T best = 0;
  if (mine) best = in[0] + costs[first + s];
  for (int64_t x = part; mine && x < m; x += DP_STAGE_PARTS) {
    const T v = in[x] + costs[x * m + first + s];
    if (v < best) best = v;
  }
  parts[part][lane] = best;
  __syncthreads();
  if (part != 0 || !mine) return;
  for (int p = 1; p < DP_STAGE_PARTS; p++)
    if (parts[p][lane] < best) best = parts[p][lane];
  out[s] = best;
}

/** A band of columns of DP_BINOMIAL, DP_ALLOTMENT or DP_STAGECOACH. */
typedef struct dp_sweep {
  dp_card *card; /**< not owned */
  dp_problem problem;
  tsl_type type;
  bool keep;
  int64_t n, k, modulus; /**< BINOMIAL */
  int64_t rows, width;   /**< rows after row 0; columns of the table */
  int64_t first, count;
  int64_t room; /**< BINOMIAL: places left of the band */
  int64_t row;  /**< last row computed */
  int now;
  tsl_gpu_buffer line[2], whole, data, start, table, bad, choices;
} dp_sweep;

/** C(i, j) for j = first .. first + count - 1. @param[in] n, k  the goal; modulus 0: exact, int64,
 *  where an overflow counts only in cells that C(n, k) is made of */
tsl_err dp_sweep_open_binomial(dp_card *card, int64_t n, int64_t k, int64_t modulus, int64_t first,
                               int64_t count, dp_sweep **out);

/** M[i][j] = max over 0 <= x <= j of M[i-1][j-x] + r_i(x). @param[in] type  TSL_I32, I64, F32, F64
 *  @param[in] returns [n][m + 1] of the type, host; copied @param[in] keep  all rows, for the way
 *  back; a band of all columns */
tsl_err dp_sweep_open_allotment(dp_card *card, tsl_type type, int64_t n, int64_t m,
                                const void *returns, int64_t first, int64_t count, bool keep,
                                dp_sweep **out);

/** M[t][s] = min over x of M[t-1][x] + w_t(x, s), M[0] = start. @param[in] costs
 *  [stages - 1][m][m] @param[in] start [m], host; copied */
tsl_err dp_sweep_open_stagecoach(dp_card *card, tsl_type type, int64_t stages, int64_t m,
                                 const void *costs, const void *start, int64_t first, int64_t count,
                                 bool keep, dp_sweep **out);
void dp_sweep_close(dp_sweep **band);

/** Values of the row before that dp_sweep_rows wants from others for rows lo + 1 .. hi: BINOMIAL
 *  the min(first, hi - lo) columns left of the band, ALLOTMENT all first columns, STAGECOACH the
 *  whole row; 0 for a band of all columns. */
int64_t dp_sweep_halo(const dp_sweep *band, int64_t lo, int64_t hi);

/**
 * Compute rows lo + 1 .. hi of the table (row 0 is the boundary). One row at a time where a band
 * of ALLOTMENT or STAGECOACH has not all columns.
 * @param[in] others  dp_sweep_halo values of row lo, host; NULL when there are none
 * @return TSL_ERR_NUMERIC when an exact binomial does not fit 64 bits
 */
tsl_err dp_sweep_rows(dp_sweep *band, int64_t lo, int64_t hi, const void *others);

/** The last row, value [count]; host. BINOMIAL int64. */
tsl_err dp_sweep_get(dp_sweep *band, void *values);

/** keep: from column of the last row back to row 0. ALLOTMENT: choices[i - 1] is the amount of
 *  activity i; STAGECOACH: choices[t - 1] is the state before stage t. The smallest that attains.
 */
tsl_err dp_sweep_trace(dp_sweep *band, int64_t column, int64_t *choices);
