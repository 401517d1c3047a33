/* Bands of the longest common subsequence and of the unit edit distance: set-up and tiles. */
#include "dp_bits.cuh"

#include <stdlib.h>
#include <string.h>

/* Number of the letters that occur in the columns; code_of: code of each byte. */
static int assign_codes(const uint8_t *columns, int64_t m, uint16_t code_of[256]) {
  bool occurs[256] = {};
  int letters = 0;
  for (int64_t j = 0; j < m; j++) occurs[columns[j]] = true;
  for (int x = 0; x < 256; x++) code_of[x] = occurs[x] ? (uint16_t)letters++ : UINT16_MAX;
  for (int x = 0; x < 256; x++)
    if (!occurs[x]) code_of[x] = (uint16_t)letters; /* equal to no column */
  return letters;
}

/* Bit planes of the columns' codes; columns from m on get a code that no row has. */
static __global__ void plane_kernel(const uint8_t *columns, int64_t m, const uint16_t *code_of,
                                    uint32_t beyond, int planes, int64_t stride, uint32_t *out) {
  const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t code = j < m ? code_of[columns[j]] : beyond;
  for (int q = 0; q < planes; q++) {
    const uint32_t word = __ballot_sync(DP_ALL_LANES, (code >> q & 1) != 0);
    if (threadIdx.x % DP_WARP == 0 && j / 32 < stride) out[q * stride + j / 32] = word;
  }
}

/* Codes of the rows of a tile, with rows that equal no column around them. */
static __global__ void code_kernel(const uint8_t *rows, const uint16_t *code_of, int64_t lo,
                                   int64_t count, uint32_t none, uint32_t scale, int64_t entries,
                                   dp_codes *out) {
  const int64_t entry = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t code[DP_BITS_ROWS];
  if (entry >= entries) return;
  for (int q = 0; q < DP_BITS_ROWS; q++) {
    const int64_t row = (entry - DP_WARP) * DP_BITS_ROWS + q;
    code[q] = scale * (row >= 0 && row < count ? code_of[rows[lo + row]] : none);
  }
  out[entry] = make_uint2(code[0] | code[1] << 16, code[2] | code[3] << 16);
}

/* Carries from the left as strip 0 wants them. left NULL: the boundary of the table. */
static __global__ void enter_kernel(const uint32_t *left, int parts, int64_t groups, int64_t rows,
                                    uint64_t *edge) {
  const int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= parts * groups) return;
  const int64_t group = w % groups, more = rows - 32 * group;
  const uint32_t real = more >= 32 ? ~0u : (1u << more) - 1;
  const uint32_t boundary = parts == 2 && w < groups ? ~0u : 0; /* EDIT: M[i][0] = i */
  edge[w] = (left != NULL ? left[w] : boundary) & real;
}

static __global__ void leave_kernel(const uint64_t *edge, int64_t words, uint32_t *right) {
  const int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (w < words) right[w] = (uint32_t)edge[w];
}

static __global__ void sum_kernel(const uint32_t *state, int64_t words, int64_t stride, int parts,
                                  int64_t m, long long *sum) {
  long long mine = 0;
  for (int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; w < words;
       w += (int64_t)gridDim.x * blockDim.x) {
    const int64_t more = m - 32 * w;
    const uint32_t real = more >= 32 ? ~0u : (1u << more) - 1;
    mine += __popc(state[w] & real);
    if (parts == 2) mine -= __popc(state[stride + w] & real);
  }
  for (int d = 16; d > 0; d /= 2) mine += __shfl_down_sync(DP_ALL_LANES, mine, d);
  if (threadIdx.x % DP_WARP == 0) atomicAdd((unsigned long long *)sum, (unsigned long long)mine);
}

static int64_t history_words(int parts, int64_t rows, int64_t m) {
  const int64_t strips = tsl_ceil_div(m, 32 * DP_WARP), groups = tsl_ceil_div(rows, 32);
  return strips * DP_BITS_BLOCKS * (groups + 4) * DP_BITS_ROWS * parts * DP_WARP;
}

int64_t dp_bits_keep_bytes(dp_problem problem, int64_t rows, int64_t m) {
  return 4 * history_words(problem == DP_EDIT ? 2 : 1, rows, m);
}

static tsl_err dp_bits_upload(dp_bits *b, const uint8_t *rows, const uint8_t *columns) {
  tsl_err err = TSL_OK;
  tsl_gpu_memory *memory = &b->card->memory;
  cudaStream_t stream = b->card->stream;
  const int planes = b->planes == 0 ? DP_BITS_PLANES_LOW : b->planes;
  TSL_TRY(tsl_gpu_reserve(memory, &b->rows, b->n + 1, "letters of the rows"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->columns, b->m + 1, "letters of the columns"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->row_codes, 512, "codes of letters"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->plane_bits, 4 * planes * b->stride, "planes of letters"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->state, 4 * b->parts * b->stride, "row of the table"));
  if (b->n > 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(b->rows.data, rows, (size_t)b->n, cudaMemcpyDefault, stream));
  if (b->m > 0)
    TSL_CUDA_TRY(
        cudaMemcpyAsync(b->columns.data, columns, (size_t)b->m, cudaMemcpyDefault, stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(b->row_codes.data, b->code_of, 512, cudaMemcpyDefault, stream));
  TSL_LAUNCH(plane_kernel, dim3((unsigned)tsl_ceil_div(32 * b->stride, 256)), 256, 0, stream,
             (const uint8_t *)b->columns.data, b->m, (const uint16_t *)b->row_codes.data,
             (uint32_t)b->letters + 1, planes, b->stride, (uint32_t *)b->plane_bits.data);
  TSL_CUDA_TRY(cudaStreamSynchronize(stream));
done:
  return err;
}

tsl_err dp_bits_open(dp_card *card, dp_problem problem, const uint8_t *rows, int64_t n,
                     const uint8_t *columns, int64_t m, int words, dp_bits **out) {
  tsl_err err = TSL_OK;
  dp_bits *b = NULL;
  *out = NULL;
  if (problem != DP_LCS && problem != DP_EDIT)
    TSL_FAIL(TSL_ERR_INTERNAL, "no bit-parallel engine for problem %d", (int)problem);
  if (n < 0 || n > INT32_MAX - 64 || m < 0 || m > INT32_MAX - 64)
    TSL_FAIL(TSL_ERR_INPUT, "sequences of %lld and %lld letters; at most %d on a card",
             (long long)n, (long long)m, INT32_MAX - 64);
  TSL_TRY(tsl_alloc(1, sizeof *b, "band", (void **)&b));
  b->card = card;
  b->parts = problem == DP_EDIT ? 2 : 1;
  b->words = words == 1 || words == 2 || words == 4 ? words : dp_bits_words(m);
  b->n = n;
  b->m = m;
  b->stride = DP_BITS_ALIGN * tsl_ceil_div(m + 1, 32 * DP_BITS_ALIGN);
  b->letters = assign_codes(columns, m, b->code_of);
  b->planes = b->letters <= DP_BITS_LETTERS ? 0
              : b->letters <= 62            ? DP_BITS_PLANES_MID
                                            : DP_BITS_PLANES_HIGH;
  TSL_TRY(dp_bits_upload(b, rows, columns));
  TSL_TRY(dp_bits_begin(b));
  *out = b;
done:
  if (err != TSL_OK) dp_bits_close(&b);
  return err;
}

void dp_bits_close(dp_bits **band) {
  dp_bits *b = *band;
  if (b == NULL) return;
  tsl_gpu_buffer *all[] = {&b->rows,  &b->row_codes, &b->columns, &b->plane_bits,
                           &b->state, &b->codes,     &b->edge,    &b->edge_bits,
                           &b->above, &b->history,   &b->pairs};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&b->card->memory, buffer);
  tsl_free(b);
  *band = NULL;
}

/* LCS: no differences. EDIT: M[0][j] = j. */
tsl_err dp_bits_begin(dp_bits *b) {
  tsl_err err = TSL_OK;
  const size_t part = (size_t)(4 * b->stride);
  char *state = (char *)b->state.data;
  TSL_CUDA_TRY(cudaMemsetAsync(state, b->parts == 2 ? 0xff : 0, part, b->card->stream));
  if (b->parts == 2) TSL_CUDA_TRY(cudaMemsetAsync(state + part, 0, part, b->card->stream));
done:
  return err;
}

static tsl_err dp_bits_prepare(dp_bits *b, int64_t lo, int64_t rows, int words_of_lane,
                               const uint32_t *left) {
  tsl_err err = TSL_OK;
  tsl_gpu_memory *memory = &b->card->memory;
  cudaStream_t stream = b->card->stream;
  const int64_t groups = tsl_ceil_div(rows, 32);
  const int64_t entries = DP_WARP + DP_BITS_BLOCKS * groups + DP_WARP + 8;
  const int64_t words = b->parts * groups;
  TSL_TRY(tsl_gpu_reserve(memory, &b->codes, entries * (int64_t)sizeof(dp_codes), "codes of rows"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->edge, 8 * words, "edge"));
  TSL_TRY(tsl_gpu_reserve(memory, &b->edge_bits, 4 * words, "edge"));
  if (left != NULL)
    TSL_CUDA_TRY(
        cudaMemcpyAsync(b->edge_bits.data, left, (size_t)(4 * words), cudaMemcpyDefault, stream));
  TSL_LAUNCH(code_kernel, dim3((unsigned)tsl_ceil_div(entries, 256)), 256, 0, stream,
             (const uint8_t *)b->rows.data, (const uint16_t *)b->row_codes.data, lo, rows,
             (uint32_t)b->letters, dp_bits_scale(b->planes, words_of_lane), entries,
             (dp_codes *)b->codes.data);
  TSL_LAUNCH(enter_kernel, dim3((unsigned)tsl_ceil_div(words, 256)), 256, 0, stream,
             left != NULL ? (const uint32_t *)b->edge_bits.data : NULL, b->parts, groups, rows,
             (uint64_t *)b->edge.data);
  TSL_TRY(dp_card_reset(b->card));
done:
  return err;
}

static dp_bits_function pick(const dp_bits *b, int words, bool keep) {
  if (b->parts == 1)
    return b->planes == 0                    ? dp_bits_pick<1, 0>(words, keep)
           : b->planes == DP_BITS_PLANES_MID ? dp_bits_pick<1, DP_BITS_PLANES_MID>(words, keep)
                                             : dp_bits_pick<1, DP_BITS_PLANES_HIGH>(words, keep);
  return dp_bits_pick_edit(b->planes, words, keep);
}

static tsl_err dp_bits_launch(dp_bits *b, int64_t rows, int words, bool keep) {
  tsl_err err = TSL_OK;
  const dp_bits_function kernel = pick(b, words, keep);
  dp_bits_args args = {};
  args.state = (uint32_t *)b->state.data;
  args.planes = (const uint32_t *)b->plane_bits.data;
  args.codes = (const dp_codes *)b->codes.data;
  args.edge = (uint64_t *)b->edge.data;
  args.ticket = (uint32_t *)b->card->ticket.data;
  args.history = (uint32_t *)b->history.data;
  args.stride = b->stride;
  args.columns = b->m;
  args.strips = (int)tsl_ceil_div(b->m, 32 * DP_WARP * words);
  args.groups = (int)tsl_ceil_div(rows, 32);
  args.rows = (int)rows;
  args.letters = b->letters;
  {
    const int warps = dp_card_warps(b->card, args.strips);
    const size_t shared =
        b->planes == 0 ? (size_t)(4 * warps * (b->letters + 1) * DP_WARP * words) : 0;
    unsigned blocks = 0;
    TSL_TRY(dp_card_blocks(b->card, (const void *)kernel, warps, shared, args.strips, &blocks));
    TSL_LAUNCH(kernel, dim3((unsigned)blocks), (unsigned)(32 * warps), shared, b->card->stream,
               args);
  }
done:
  return err;
}

/* Space for the bits of the tile, and the row above it. */
static tsl_err keep_tile(dp_bits *b, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const int64_t row = 4 * b->parts * b->stride;
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->history, 4 * history_words(b->parts, hi - lo, b->m),
                          "bits of the tile"));
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->above, row, "row above the tile"));
  TSL_CUDA_TRY(cudaMemcpyAsync(b->above.data, b->state.data, (size_t)row, cudaMemcpyDefault,
                               b->card->stream));
  b->kept_lo = lo;
  b->kept_hi = hi;
done:
  return err;
}

tsl_err dp_bits_tile(dp_bits *b, int64_t lo, int64_t hi, const uint32_t *left, uint32_t *right,
                     bool keep) {
  tsl_err err = TSL_OK;
  const int64_t rows = hi - lo, words = b->parts * tsl_ceil_div(rows, 32);
  const int lane_words = keep ? 1 : b->words;
  if (lo < 0 || hi > b->n || lo > hi)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld..%lld of %lld", (long long)lo, (long long)hi,
             (long long)b->n);
  if (keep) TSL_TRY(keep_tile(b, lo, hi));
  if (rows == 0) goto done;
  TSL_TRY(dp_bits_prepare(b, lo, rows, lane_words, left));
  if (b->m > 0) TSL_TRY(dp_bits_launch(b, rows, lane_words, keep));
  if (right == NULL) goto done;
  TSL_LAUNCH(leave_kernel, dim3((unsigned)tsl_ceil_div(words, 256)), 256, 0, b->card->stream,
             (const uint64_t *)b->edge.data, words, (uint32_t *)b->edge_bits.data);
  TSL_CUDA_TRY(cudaMemcpyAsync(right, b->edge_bits.data, (size_t)(4 * words), cudaMemcpyDefault,
                               b->card->stream));
  if (!dp_card_holds(right)) TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}

tsl_err dp_bits_sum(dp_bits *b, int64_t *sum) {
  tsl_err err = TSL_OK;
  long long *place = (long long *)((char *)b->card->ticket.data + 8);
  TSL_TRY(dp_card_reset(b->card));
  TSL_LAUNCH(sum_kernel, dim3(64), 256, 0, b->card->stream, (const uint32_t *)b->state.data,
             dp_bits_row_words(b->m), b->stride, b->parts, b->m, place);
  TSL_TRY(tsl_gpu_copy(b->card, sum, place, 8));
done:
  return err;
}

/* Words of real columns; what stands right of them reaches no column of the band. */
/* Parts lie stride apart in the band, without gaps in a state. */
static tsl_err move_state(dp_bits *b, char *state, bool get) {
  tsl_err err = TSL_OK;
  const int64_t part = 4 * dp_bits_row_words(b->m);
  for (int k = 0; k < b->parts; k++) {
    char *mine = (char *)b->state.data + 4 * k * b->stride, *other = state + k * part;
    TSL_CUDA_TRY(cudaMemcpyAsync(get ? other : mine, get ? mine : other, (size_t)part,
                                 cudaMemcpyDeviceToDevice, b->card->stream));
  }
done:
  return err;
}

tsl_err dp_bits_state_get(dp_bits *b, void *state) {
  return move_state(b, (char *)state, true);
}

tsl_err dp_bits_state_put(dp_bits *b, const void *state) {
  return move_state(b, (char *)state, false);
}

tsl_err dp_bits_row_get(dp_bits *b, uint32_t *bits) {
  tsl_err err = TSL_OK;
  const int64_t words = dp_bits_row_words(b->m);
  for (int part = 0; part < b->parts; part++)
    TSL_CUDA_TRY(cudaMemcpyAsync(bits + part * words,
                                 (const uint32_t *)b->state.data + part * b->stride,
                                 (size_t)(4 * words), cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
  if (b->m % 32 != 0)
    for (int part = 0; part < b->parts; part++)
      bits[(part + 1) * words - 1] &= (1u << (b->m % 32)) - 1;
done:
  return err;
}

tsl_err dp_bits_row_put(dp_bits *b, const uint32_t *bits) {
  tsl_err err = TSL_OK;
  const int64_t words = dp_bits_row_words(b->m);
  TSL_TRY(dp_bits_begin(b));
  for (int part = 0; part < b->parts; part++)
    TSL_CUDA_TRY(cudaMemcpyAsync((uint32_t *)b->state.data + part * b->stride, bits + part * words,
                                 (size_t)(4 * words), cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}
