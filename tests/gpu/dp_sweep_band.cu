/* Binomial coefficients, resource allotment, stagecoach: set-up, rows, the way back. */
#include "dp_sweep_band.cuh"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------ binomial */

static tsl_err check_bad(dp_sweep *b) {
  tsl_err err = TSL_OK;
  int bad = 0;
  TSL_CUDA_TRY(cudaMemcpyAsync(&bad, b->bad.data, 4, cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
  if (bad != 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "C(%lld, %lld) does not fit 64 bits; give a modulus", (long long)b->n,
             (long long)b->k);
done:
  return err;
}

static tsl_err binomial_rows(dp_sweep *b, int64_t lo, int64_t hi, int64_t halo) {
  tsl_err err = TSL_OK;
  const bool all = halo == b->first; /* nothing to the left is missing */
  for (int64_t row = lo; row < hi;) {
    const int64_t rows = hi - row < DP_BINOMIAL_ROWS ? hi - row : (int64_t)DP_BINOMIAL_ROWS;
    const int64_t block = (int64_t)DP_BINOMIAL_THREADS * DP_BINOMIAL_LANE - rows;
    dp_binomial_args a = {};
    a.in = (const int64_t *)b->line[b->now].data;
    a.out = (int64_t *)b->line[1 - b->now].data;
    a.lowest = b->room - halo;
    a.start = all ? a.lowest : a.lowest + (row + rows - lo);
    a.end = b->room + b->count;
    a.column = b->first - b->room;
    a.row = row;
    a.rows = rows;
    a.n = b->n;
    a.k = b->k;
    a.modulus = (uint64_t)b->modulus;
    a.bad = (int *)b->bad.data;
    TSL_LAUNCH(dp_binomial_kernel, dim3((unsigned)tsl_ceil_div(a.end - a.start, block)),
               DP_BINOMIAL_THREADS, 0, b->card->stream, a);
    b->now = 1 - b->now;
    row += rows;
  }
  if (b->modulus == 0) TSL_TRY(check_bad(b));
done:
  return err;
}

/* -------------------------------------------------------------------------------- bands */

static int64_t value_bytes(const dp_sweep *b) {
  return (int64_t)tsl_type_bytes(b->type);
}

/* F is called with a value of the type. */
template <class F> static tsl_err as_type(const dp_sweep *b, F call) {
  return b->type == TSL_I32   ? call((int32_t)0)
         : b->type == TSL_I64 ? call((int64_t)0)
         : b->type == TSL_F32 ? call(0.0f)
                              : call(0.0);
}

static tsl_err open_band(dp_card *card, const dp_sweep *like, dp_sweep **out) {
  tsl_err err = TSL_OK;
  dp_sweep *b = NULL;
  *out = NULL;
  if (like->type != TSL_I32 && like->type != TSL_I64 && like->type != TSL_F32 &&
      like->type != TSL_F64)
    TSL_FAIL(TSL_ERR_INTERNAL, "a sweep in %s", tsl_type_name(like->type));
  if (like->rows < 0 || like->width < 0 || like->first < 0 || like->count < 0 ||
      like->first + like->count > like->width || (like->keep && like->count != like->width))
    TSL_FAIL(TSL_ERR_INTERNAL, "columns %lld + %lld of %lld", (long long)like->first,
             (long long)like->count, (long long)like->width);
  TSL_TRY(tsl_alloc(1, sizeof *b, "band", (void **)&b));
  *b = *like;
  b->card = card;
  b->room = b->problem == DP_BINOMIAL ? b->first : 0;
  for (int k = 0; k < 2; k++)
    TSL_TRY(tsl_gpu_reserve(&card->memory, &b->line[k], value_bytes(b) * (b->room + b->count + 1),
                            "row"));
  TSL_TRY(tsl_gpu_reserve(&card->memory, &b->bad, 4, "flags"));
  if (b->problem != DP_BINOMIAL)
    TSL_TRY(tsl_gpu_reserve(&card->memory, &b->whole, value_bytes(b) * (b->width + 1), "row"));
  if (b->keep)
    TSL_TRY(tsl_gpu_reserve(&card->memory, &b->table, value_bytes(b) * (b->rows + 1) * b->width + 8,
                            "rows kept"));
  *out = b;
done:
  if (err != TSL_OK) dp_sweep_close(&b);
  return err;
}

static char *last_line(const dp_sweep *b) {
  return (char *)b->line[b->now].data + b->room * value_bytes(b);
}

/* Copy the last row to the kept rows. */
static tsl_err keep_row(dp_sweep *b) {
  tsl_err err = TSL_OK;
  const int64_t bytes = value_bytes(b) * b->width;
  if (b->keep)
    TSL_CUDA_TRY(cudaMemcpyAsync((char *)b->table.data + b->row * bytes, last_line(b),
                                 (size_t)bytes, cudaMemcpyDefault, b->card->stream));
done:
  return err;
}

/* Back to row 0. */
static tsl_err begin_band(dp_sweep *b) {
  static const int64_t one = 1;
  tsl_err err = TSL_OK;
  const int64_t each = value_bytes(b);
  cudaStream_t stream = b->card->stream;
  b->row = 0;
  TSL_CUDA_TRY(cudaMemsetAsync(b->line[b->now].data, 0, (size_t)b->line[b->now].bytes, stream));
  TSL_CUDA_TRY(cudaMemsetAsync(b->bad.data, 0, 4, stream));
  if (b->problem == DP_BINOMIAL && b->first == 0 && b->count > 0 && b->modulus != 1)
    TSL_CUDA_TRY(cudaMemcpyAsync(last_line(b), &one, 8, cudaMemcpyDefault, stream));
  if (b->problem == DP_STAGECOACH)
    TSL_CUDA_TRY(cudaMemcpyAsync(last_line(b), (char *)b->start.data + each * b->first,
                                 (size_t)(each * b->count), cudaMemcpyDefault, stream));
  TSL_TRY(keep_row(b));
done:
  return err;
}

tsl_err dp_sweep_open_binomial(dp_card *card, int64_t n, int64_t k, int64_t modulus, int64_t first,
                               int64_t count, dp_sweep **out) {
  tsl_err err = TSL_OK;
  dp_sweep like = {};
  *out = NULL;
  if (n < 0 || k < 0 || modulus < 0)
    TSL_FAIL(TSL_ERR_INPUT, "C(%lld, %lld) modulo %lld; allowed >= 0", (long long)n, (long long)k,
             (long long)modulus);
  like.problem = DP_BINOMIAL;
  like.type = TSL_I64;
  like.n = like.rows = n;
  like.k = k;
  like.width = k + 1;
  like.modulus = modulus;
  like.first = first;
  like.count = count;
  TSL_TRY(open_band(card, &like, out));
  TSL_TRY(begin_band(*out));
done:
  if (err != TSL_OK) dp_sweep_close(out);
  return err;
}

/* Data of allotment or stagecoach to the card. */
static tsl_err upload(dp_sweep *b, const void *data, int64_t count, const void *start) {
  tsl_err err = TSL_OK;
  const int64_t each = value_bytes(b);
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->data, each * count + 8, "data"));
  TSL_CUDA_TRY(cudaMemcpyAsync(b->data.data, data, (size_t)(each * count), cudaMemcpyDefault,
                               b->card->stream));
  if (start != NULL) {
    TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->start, each * b->width + 8, "start"));
    TSL_CUDA_TRY(cudaMemcpyAsync(b->start.data, start, (size_t)(each * b->width), cudaMemcpyDefault,
                                 b->card->stream));
  }
  TSL_TRY(dp_card_wait(b->card));
  TSL_TRY(begin_band(b));
done:
  return err;
}

tsl_err dp_sweep_open_allotment(dp_card *card, tsl_type type, int64_t n, int64_t m,
                                const void *returns, int64_t first, int64_t count, bool keep,
                                dp_sweep **out) {
  tsl_err err = TSL_OK;
  dp_sweep like = {};
  like.problem = DP_ALLOTMENT;
  like.type = type;
  like.rows = n;
  like.width = m + 1;
  like.first = first;
  like.count = count;
  like.keep = keep;
  TSL_TRY(open_band(card, &like, out));
  TSL_TRY(upload(*out, returns, n * (m + 1), NULL));
done:
  if (err != TSL_OK) dp_sweep_close(out);
  return err;
}

tsl_err dp_sweep_open_stagecoach(dp_card *card, tsl_type type, int64_t stages, int64_t m,
                                 const void *costs, const void *start, int64_t first, int64_t count,
                                 bool keep, dp_sweep **out) {
  tsl_err err = TSL_OK;
  dp_sweep like = {};
  *out = NULL;
  if (stages < 1 || m < 1)
    TSL_FAIL(TSL_ERR_INPUT, "%lld stages of %lld states; allowed >= 1", (long long)stages,
             (long long)m);
  like.problem = DP_STAGECOACH;
  like.type = type;
  like.rows = stages - 1;
  like.width = m;
  like.first = first;
  like.count = count;
  like.keep = keep;
  TSL_TRY(open_band(card, &like, out));
  TSL_TRY(upload(*out, costs, (stages - 1) * m * m, start));
done:
  if (err != TSL_OK) dp_sweep_close(out);
  return err;
}

void dp_sweep_close(dp_sweep **band) {
  dp_sweep *b = *band;
  if (b == NULL) return;
  tsl_gpu_buffer *all[] = {&b->line[0], &b->line[1], &b->whole, &b->data,
                           &b->start,   &b->table,   &b->bad,   &b->choices};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&b->card->memory, buffer);
  tsl_free(b);
  *band = NULL;
}

int64_t dp_sweep_halo(const dp_sweep *b, int64_t lo, int64_t hi) {
  if (b->count == b->width || lo >= hi) return 0;
  if (b->problem == DP_STAGECOACH) return b->width;
  if (b->problem == DP_ALLOTMENT) return b->first;
  return hi - lo < b->first ? hi - lo : b->first;
}

/* One row of allotment or stagecoach from b->whole, which holds the row before. */
template <class T> static tsl_err next_row(dp_sweep *b) {
  tsl_err err = TSL_OK;
  const T *in = (const T *)b->whole.data, *data = (const T *)b->data.data;
  T *out = (T *)b->line[b->now].data;
  const int64_t m = b->width;
  if (b->problem == DP_ALLOTMENT)
    TSL_LAUNCH((dp_allot_kernel<T>),
               dim3((unsigned)tsl_ceil_div(b->count, DP_ALLOT_THREADS * DP_ALLOT_LANE)),
               DP_ALLOT_THREADS, 0, b->card->stream, in, data + b->row * m, b->first, b->count,
               out);
  else
    TSL_LAUNCH((dp_stage_kernel<T>), dim3((unsigned)tsl_ceil_div(b->count, DP_STAGE_STATES)),
               DP_STAGE_STATES * DP_STAGE_PARTS, 0, b->card->stream, in, data + b->row * m * m, m,
               b->first, b->count, out);
  b->row++;
  TSL_TRY(keep_row(b));
done:
  return err;
}

static tsl_err other_rows(dp_sweep *b, int64_t hi, int64_t halo, const void *others) {
  tsl_err err = TSL_OK;
  const int64_t each = value_bytes(b);
  while (b->row < hi) {
    if (halo > 0)
      TSL_CUDA_TRY(cudaMemcpyAsync(b->whole.data, others, (size_t)(each * halo), cudaMemcpyDefault,
                                   b->card->stream));
    TSL_CUDA_TRY(cudaMemcpyAsync((char *)b->whole.data + each * b->first, last_line(b),
                                 (size_t)(each * b->count), cudaMemcpyDefault, b->card->stream));
    TSL_TRY(as_type(b, [=](auto zero) { return next_row<decltype(zero)>(b); }));
  }
done:
  return err;
}

tsl_err dp_sweep_rows(dp_sweep *b, int64_t lo, int64_t hi, const void *others) {
  tsl_err err = TSL_OK;
  const int64_t halo = dp_sweep_halo(b, lo, hi), each = value_bytes(b);
  const bool single = b->problem != DP_BINOMIAL && b->count != b->width;
  if (lo != b->row || hi < lo || hi > b->rows || (single && hi > lo + 1) ||
      (halo > 0 && others == NULL))
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld..%lld after row %lld of %lld, %lld values of others",
             (long long)lo, (long long)hi, (long long)b->row, (long long)b->rows, (long long)halo);
  if (b->count == 0) {
    b->row = hi;
    goto done;
  }
  if (b->problem != DP_BINOMIAL) {
    TSL_TRY(other_rows(b, hi, halo, others));
    TSL_TRY(dp_card_wait(b->card));
    goto done;
  }
  if (halo > 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(last_line(b) - each * halo, others, (size_t)(each * halo),
                                 cudaMemcpyDefault, b->card->stream));
  TSL_TRY(binomial_rows(b, lo, hi, halo));
  b->row = hi;
done:
  return err;
}

tsl_err dp_sweep_get(dp_sweep *b, void *values) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemcpyAsync(values, last_line(b), (size_t)(value_bytes(b) * b->count),
                               cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}

/* --------------------------------------------------------------------------- the way back */

/* One block; for each row the smallest choice that attains the value. */
template <class T>
static __global__ void choice_kernel(const T *table, const T *data, int64_t rows, int64_t width,
                                     bool stages, int64_t column, long long *choices) {
  __shared__ unsigned long long found;
  for (int64_t i = rows; i > 0; i--) {
    const T *above = table + (i - 1) * width, value = table[i * width + column];
    const int64_t most = stages ? width : column + 1;
    if (threadIdx.x == 0) found = (unsigned long long)most;
    __syncthreads();
    for (int64_t x = threadIdx.x; x < most; x += blockDim.x) {
      const T v = stages ? above[x] + data[((i - 1) * width + x) * width + column]
                         : above[column - x] + data[(i - 1) * width + x];
      if (v == value) {
        atomicMin(&found, (unsigned long long)x);
        break;
      }
    }
    __syncthreads();
    const int64_t choice = (int64_t)found;
    __syncthreads();
    if (threadIdx.x == 0) choices[i - 1] = choice < most ? choice : -1;
    if (choice >= most) return;
    column = stages ? choice : column - choice;
  }
}

tsl_err dp_sweep_trace(dp_sweep *b, int64_t column, int64_t *choices) {
  tsl_err err = TSL_OK;
  const int64_t bytes = 8 * b->rows;
  if (!b->keep || b->row != b->rows || column < 0 || column >= b->width)
    TSL_FAIL(TSL_ERR_INTERNAL, "no way back from column %lld of row %lld", (long long)column,
             (long long)b->row);
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->choices, bytes + 8, "choices"));
  TSL_TRY(as_type(b, [=](auto zero) {
    typedef decltype(zero) T;
    tsl_err err = TSL_OK;
    TSL_LAUNCH((choice_kernel<T>), dim3(1), 256, 0, b->card->stream, (const T *)b->table.data,
               (const T *)b->data.data, b->rows, b->width, b->problem == DP_STAGECOACH, column,
               (long long *)b->choices.data);
  done:
    return err;
  }));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(choices, b->choices.data, (size_t)bytes, cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
  for (int64_t i = 0; i < b->rows; i++)
    if (choices[i] < 0) TSL_FAIL(TSL_ERR_INTERNAL, "row %lld has no choice", (long long)i + 1);
done:
  return err;
}
