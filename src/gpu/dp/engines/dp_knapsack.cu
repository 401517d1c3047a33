/* Bands of capacities of a knapsack: set-up, passes, values in and out, the way back. */
#include "dp_knapsack.cuh"

#include <stdlib.h>
#include <string.h>

int64_t dp_knap_most(bool unbounded, int64_t n, const int64_t *w, const int64_t *v,
                     int64_t capacity) {
  int64_t most = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t each = v[i];
    if (w[i] > capacity) continue;
    if (unbounded && !tsl_mul_i64(w[i] == 0 ? 0 : capacity / w[i] + 1, v[i], &each)) return -1;
    if (unbounded) {
      if (!tsl_mul_i64(2, each, &each)) return -1;
      most = each > most ? each : most;
    } else if (!tsl_add_i64(most, each, &most))
      return -1;
  }
  return most > INT64_MAX / 2 ? -1 : most;
}

static tsl_err check_items(const dp_knapsack *b) {
  tsl_err err = TSL_OK;
  for (int64_t i = 0; i < b->n; i++) {
    if (b->weights[i] < 0 || b->values[i] < 0)
      TSL_FAIL(TSL_ERR_INPUT, "item %lld has weight %lld and value %lld; allowed >= 0",
               (long long)i, (long long)b->weights[i], (long long)b->values[i]);
    if (b->unbounded && b->weights[i] == 0 && b->values[i] > 0)
      TSL_FAIL(TSL_ERR_INPUT, "item %lld weighs nothing and may be taken without end",
               (long long)i);
  }
done:
  return err;
}

tsl_err dp_knapsack_open(dp_card *card, dp_problem problem, int64_t n, const int64_t *weights,
                         const int64_t *values, int64_t first, int64_t count, dp_knapsack **out) {
  tsl_err err = TSL_OK;
  dp_knapsack *b = NULL;
  int64_t most = 0;
  *out = NULL;
  if (problem != DP_KNAPSACK && problem != DP_KNAPSACK_UNBOUNDED)
    TSL_FAIL(TSL_ERR_INTERNAL, "no knapsack engine for problem %d", (int)problem);
  if (n < 0 || first < 0 || count < 0 || first > INT64_MAX / 64 - count)
    TSL_FAIL(TSL_ERR_INPUT, "%lld items, capacities from %lld, %lld of them", (long long)n,
             (long long)first, (long long)count);
  TSL_TRY(tsl_alloc(1, sizeof *b, "band", (void **)&b));
  b->card = card;
  b->unbounded = problem == DP_KNAPSACK_UNBOUNDED;
  b->n = n;
  b->first = first;
  b->count = count;
  TSL_TRY(tsl_alloc(n, 8, "weights", (void **)&b->weights));
  TSL_TRY(tsl_alloc(n, 8, "values", (void **)&b->values));
  memcpy(b->weights, weights, (size_t)n * 8);
  memcpy(b->values, values, (size_t)n * 8);
  TSL_TRY(check_items(b));
  most = dp_knap_most(b->unbounded, n, weights, values, first + count);
  if (most < 0)
    TSL_FAIL(TSL_ERR_INPUT, "values of this knapsack may exceed 62 bits; scale them down");
  b->wide = most > INT32_MAX;
  TSL_TRY(dp_knapsack_begin(b));
  *out = b;
done:
  if (err != TSL_OK) dp_knapsack_close(&b);
  return err;
}

void dp_knapsack_close(dp_knapsack **band) {
  dp_knapsack *b = *band;
  if (b == NULL) return;
  tsl_gpu_buffer *all[] = {&b->row[0], &b->row[1], &b->bits, &b->box, &b->items};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&b->card->memory, buffer);
  tsl_free(b->weights);
  tsl_free(b->values);
  tsl_free(b);
  *band = NULL;
}

static int64_t dp_knapsack_value_bytes(const dp_knapsack *b) {
  return b->wide ? 8 : 4;
}

/* Rows with space for `halo` capacities left of the band; keeps the band's values. */
static tsl_err dp_knapsack_make_room(dp_knapsack *b, int64_t halo) {
  tsl_err err = TSL_OK;
  const int64_t room = 32 * tsl_ceil_div(halo, 32), each = dp_knapsack_value_bytes(b);
  const int64_t bytes = each * (room + b->count) + each;
  tsl_gpu_memory *memory = &b->card->memory;
  tsl_gpu_buffer fresh = {};
  if (b->row[0].data != NULL && room <= b->room) return TSL_OK;
  TSL_TRY(tsl_gpu_reserve(memory, &fresh, bytes, "row of capacities"));
  if (b->row[0].data != NULL)
    TSL_CUDA_TRY(cudaMemcpyAsync((char *)fresh.data + each * room,
                                 (char *)b->row[b->now].data + each * b->room,
                                 (size_t)(each * b->count), cudaMemcpyDefault, b->card->stream));
  TSL_TRY(dp_card_wait(b->card));
  for (int k = 0; k < 2; k++) tsl_gpu_release(memory, &b->row[k]);
  b->row[0] = fresh;
  fresh = {};
  b->now = 0;
  b->room = room;
  TSL_TRY(tsl_gpu_reserve(memory, &b->row[1], bytes, "row of capacities"));
done:
  tsl_gpu_release(memory, &fresh);
  return err;
}

tsl_err dp_knapsack_begin(dp_knapsack *b) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_knapsack_make_room(b, 0));
  TSL_CUDA_TRY(
      cudaMemsetAsync(b->row[b->now].data, 0, (size_t)b->row[b->now].bytes, b->card->stream));
done:
  return err;
}

int64_t dp_knapsack_halo(const dp_knapsack *b, int64_t lo, int64_t hi) {
  int64_t sum = 0;
  if (b->unbounded) return lo < hi ? b->first : 0;
  for (int64_t i = lo; i < hi && sum < b->first; i++)
    sum += b->weights[i] < b->first ? b->weights[i] : b->first;
  return sum < b->first ? sum : b->first;
}

template <class T, class O> static __global__ void cast_kernel(const T *in, O *out, int64_t count) {
  const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) out[k] = (O)in[k];
}

/* Values of host int64 to places of the current row, or back. */
static tsl_err move_values(dp_knapsack *b, int64_t place, int64_t count, int64_t *out,
                           const int64_t *in) {
  tsl_err err = TSL_OK;
  cudaStream_t stream = b->card->stream;
  const dim3 grid((unsigned)tsl_ceil_div(count, 256));
  char *row = (char *)b->row[b->now].data + place * dp_knapsack_value_bytes(b);
  int64_t *box = NULL;
  if (count == 0) goto done;
  TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->box, 8 * count, "values"));
  box = (int64_t *)b->box.data;
  if (in != NULL)
    TSL_CUDA_TRY(cudaMemcpyAsync(box, in, 8 * (size_t)count, cudaMemcpyDefault, stream));
  if (in != NULL && b->wide)
    TSL_LAUNCH((cast_kernel<int64_t, int64_t>), grid, 256, 0, stream, box, (int64_t *)row, count);
  else if (in != NULL)
    TSL_LAUNCH((cast_kernel<int64_t, int32_t>), grid, 256, 0, stream, box, (int32_t *)row, count);
  else if (b->wide)
    TSL_LAUNCH((cast_kernel<int64_t, int64_t>), grid, 256, 0, stream, (int64_t *)row, box, count);
  else
    TSL_LAUNCH((cast_kernel<int32_t, int64_t>), grid, 256, 0, stream, (int32_t *)row, box, count);
  if (out != NULL)
    TSL_CUDA_TRY(cudaMemcpyAsync(out, box, 8 * (size_t)count, cudaMemcpyDefault, stream));
  TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}

tsl_err dp_knap_list_make(bool unbounded, const int64_t *weights, const int64_t *values, int64_t lo,
                          int64_t hi, int64_t capacity, dp_knap_list *list) {
  tsl_err err = TSL_OK;
  const int64_t copies = unbounded ? 63 : 1;
  TSL_TRY(tsl_alloc((hi - lo) * copies, 8, "items", (void **)&list->weight));
  TSL_TRY(tsl_alloc((hi - lo) * copies, 8, "items", (void **)&list->value));
  TSL_TRY(tsl_alloc((hi - lo) * copies, 8, "items", (void **)&list->row));
  for (int64_t i = lo; i < hi; i++) {
    int64_t w = weights[i], v = values[i];
    for (int64_t k = 0; k < copies && w <= capacity && (k == 0 || w > 0); k++, w *= 2, v *= 2) {
      list->weight[list->n] = w;
      list->value[list->n] = v;
      list->row[list->n++] = i - lo;
      if (w > capacity / 2) break;
    }
  }
done:
  return err;
}

void dp_knap_list_clear(dp_knap_list *list) {
  tsl_free(list->weight);
  tsl_free(list->value);
  tsl_free(list->row);
  *list = dp_knap_list{};
}

int dp_knap_pass(const dp_knap_list *list, int64_t k, int64_t most, int64_t *sum) {
  int items = 0;
  *sum = 0;
  while (k + items < list->n && items < DP_KNAP_ITEMS && *sum + list->weight[k + items] <= most)
    *sum += list->weight[k + items++];
  if (items == 0) *sum = list->weight[k];
  return items;
}

/* A list of items lo..hi-1 for capacities of the band. */
static tsl_err list_items(const dp_knapsack *b, int64_t lo, int64_t hi, dp_knap_list *list) {
  return dp_knap_list_make(b->unbounded, b->weights, b->values, lo, hi, b->first + b->count - 1,
                           list);
}

template <class T>
static tsl_err run_pass(dp_knapsack *b, const dp_knap_list *list, int64_t k, int items,
                        int64_t start, int64_t lowest, bool keep) {
  tsl_err err = TSL_OK;
  dp_knap_args<T> a = {};
  a.in = (const T *)b->row[b->now].data;
  a.out = (T *)b->row[1 - b->now].data;
  a.start = start;
  a.end = b->room + b->count;
  a.lowest = lowest;
  a.band = b->room;
  a.bits_stride = tsl_ceil_div(b->count, 32);
  a.bits = keep ? (uint32_t *)b->bits.data : NULL;
  a.merge = b->unbounded;
  TSL_TRY(dp_knap_launch(b->card, a, list, k, items));
  b->now = 1 - b->now;
done:
  return err;
}

/* All passes; halo capacities left of the band are there at the start and fewer after each pass. */
template <class T>
static tsl_err run_items(dp_knapsack *b, const dp_knap_list *list, int64_t halo, bool keep) {
  tsl_err err = TSL_OK;
  const int64_t lowest = b->room - halo;
  int64_t used = 0;
  for (int64_t k = 0; k < list->n;) {
    int64_t sum = 0, start = 0;
    const int items = dp_knap_pass(list, k, dp_knap_size<T>::HALO, &sum);
    used = sum > halo - used ? halo : used + sum;
    start = halo == b->first ? lowest : lowest + used; /* all that is left of the band is there */
    start = start / 32 * 32;
    TSL_TRY(run_pass<T>(b, list, k, items, start, lowest, keep));
    k += items > 0 ? items : 1;
  }
done:
  return err;
}

tsl_err dp_knapsack_items(dp_knapsack *b, int64_t lo, int64_t hi, const int64_t *left, bool keep) {
  tsl_err err = TSL_OK;
  dp_knap_list list = {};
  const int64_t halo = lo <= hi ? dp_knapsack_halo(b, lo, hi) : 0;
  if (lo < 0 || hi > b->n || lo > hi || (halo > 0 && left == NULL))
    TSL_FAIL(TSL_ERR_INTERNAL, "items %lld..%lld of %lld, %lld values from the left", (long long)lo,
             (long long)hi, (long long)b->n, (long long)halo);
  TSL_TRY(dp_knapsack_make_room(b, halo));
  if (halo > 0) TSL_TRY(move_values(b, b->room - halo, halo, NULL, left));
  if (keep) {
    const int64_t bytes = 4 * (hi - lo) * tsl_ceil_div(b->count, 32);
    TSL_TRY(tsl_gpu_reserve(&b->card->memory, &b->bits, bytes + 4, "bits of decisions"));
    TSL_CUDA_TRY(cudaMemsetAsync(b->bits.data, 0, (size_t)bytes, b->card->stream));
    b->kept_lo = lo;
    b->kept_hi = hi;
  }
  if (b->count == 0) goto done;
  TSL_TRY(list_items(b, lo, hi, &list));
  TSL_TRY(b->wide ? run_items<int64_t>(b, &list, halo, keep)
                  : run_items<int32_t>(b, &list, halo, keep));
done:
  dp_knap_list_clear(&list);
  return err;
}

static tsl_err dp_knapsack_check_range(const dp_knapsack *b, int64_t c0, int64_t c1) {
  tsl_err err = TSL_OK;
  if (c0 < b->first || c1 < c0 || c1 > b->first + b->count)
    TSL_FAIL(TSL_ERR_INTERNAL, "capacities %lld..%lld are not in the band", (long long)c0,
             (long long)c1);
done:
  return err;
}

tsl_err dp_knapsack_get(dp_knapsack *b, int64_t c0, int64_t c1, int64_t *values) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_knapsack_check_range(b, c0, c1));
  TSL_TRY(move_values(b, b->room + c0 - b->first, c1 - c0, values, NULL));
done:
  return err;
}
