/* Threshold output of a range of rows: compact, sort by (i, j), copy back. A buffer that is too
 * small is grown to the counted size and the rows are done again; rows whose records do not fit
 * the card are done in smaller batches. */
#include "tri_strips.cuh"
#include "tri_threshold.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <stdlib.h>
#include <string.h>

extern template tsl_err tri_threshold_rows<float>(const tri_gpu *, const tri_args<float> *, int64_t,
                                                  int64_t, const tri_records<float> *);
extern template tsl_err tri_threshold_rows<double>(const tri_gpu *, const tri_args<double> *,
                                                   int64_t, int64_t, const tri_records<double> *);

/* Places in w->work; the sort uses strips[1]. */
enum { COUNT, KEYS, KEYS_2, LIST_VALUES, LIST_VALUES_2 };
static const int64_t FIRST_CAPACITY = 1 << 22; /* records */

/* Keys to pairs (i, j). */
static __global__ void split_keys(const unsigned long long *keys, int64_t count,
                                  unsigned long long n, longlong2 *pairs) {
  const int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= count) return;
  const unsigned long long key = keys[r], i = key / n;
  pairs[r] = make_longlong2((long long)i, (long long)(key - i * n));
}

/* csr: keys to columns j, and how many there are of each row from a on. */
static __global__ void split_rows(const unsigned long long *keys, int64_t count,
                                  unsigned long long n, unsigned long long a, int *columns,
                                  int *lengths) {
  const int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= count) return;
  const unsigned long long key = keys[r], i = key / n;
  columns[r] = (int)(key - i * n);
  atomicAdd(lengths + (i - a), 1);
}

static tsl_err reserve_records(tri_gpu *w, int64_t capacity) {
  tsl_err err = TSL_OK;
  const int64_t value = tri_value_bytes(w);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[COUNT], 8, "count of records"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[KEYS], 8 * capacity, "keys of records"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[KEYS_2], 8 * capacity, "keys of records"));
  TSL_TRY(
      tsl_gpu_reserve(&w->memory, &w->work[LIST_VALUES], value * capacity, "values of records"));
  TSL_TRY(
      tsl_gpu_reserve(&w->memory, &w->work[LIST_VALUES_2], value * capacity, "values of records"));
done:
  return err;
}

/* Records that all four buffers hold; after a failed growth they may differ. */
static int64_t capacity_of(const tri_gpu *w) {
  int64_t least = INT64_MAX;
  for (int b = KEYS; b <= LIST_VALUES_2; b++) {
    const int64_t holds = w->work[b].bytes / (b <= KEYS_2 ? 8 : tri_value_bytes(w));
    if (holds < least) least = holds;
  }
  return least;
}

/* Compact rows [a, b); *count: records found, stored only if they are within the capacity. */
template <class R> static tsl_err compact(tri_gpu *w, int64_t a, int64_t b, int64_t *count) {
  tsl_err err = TSL_OK;
  tri_records<R> records = {};
  records.keys = (unsigned long long *)w->work[KEYS].data;
  records.count = (unsigned long long *)w->work[COUNT].data;
  records.values = (R *)w->work[LIST_VALUES].data;
  records.capacity = (unsigned long long)capacity_of(w);
  records.threshold = (R)w->p.threshold;
  records.full = w->p.output == TRI_CSR;
  TSL_CUDA_TRY(cudaMemsetAsync(records.count, 0, 8, w->stream));
  if (w->p.near)
    TSL_TRY(tri_near_threshold_run<R>(w, a, b, &records));
  else
    TSL_TRY(tri_each_strip<R>(w, a, b, !records.full,
                              [=](const tri_args<R> &args, int64_t first, int64_t last) {
                                return tri_threshold_rows<R>(w, &args, first, last, &records);
                              }));
  TSL_TRY(tsl_gpu_copy(w, count, records.count, 8));
done:
  return err;
}

/* Sort the records; on return *keys and *values point to the sorted ones. */
template <class R>
static tsl_err sort(tri_gpu *w, int64_t count, unsigned long long **keys, R **values) {
  tsl_err err = TSL_OK;
  size_t bytes = 0;
  int bits = 1;
  const unsigned long long most =
      (unsigned long long)tri_rows_of(&w->p) * (unsigned long long)tri_columns_of(&w->p);
  cub::DoubleBuffer<unsigned long long> k((unsigned long long *)w->work[KEYS].data,
                                          (unsigned long long *)w->work[KEYS_2].data);
  cub::DoubleBuffer<R> v((R *)w->work[LIST_VALUES].data, (R *)w->work[LIST_VALUES_2].data);
  while (bits < 64 && most >> bits != 0) bits++;
  TSL_CUDA_TRY(cub::DeviceRadixSort::SortPairs(NULL, bytes, k, v, count, 0, bits, w->stream));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->strips[1], (int64_t)bytes + 1, "space for sorting"));
  TSL_CUDA_TRY(
      cub::DeviceRadixSort::SortPairs(w->strips[1].data, bytes, k, v, count, 0, bits, w->stream));
  *keys = k.Current();
  *values = v.Current();
done:
  return err;
}

/* Make room for count more records of bytes each at the end of a list. */
static tsl_err extend(tsl_list *list, int64_t count, int64_t bytes) {
  tsl_err err = TSL_OK;
  int64_t all = 0;
  void *data = NULL;
  if (!tsl_add_i64(list->n, count, &all) || !tsl_mul_i64(all, bytes, &all))
    TSL_FAIL(TSL_ERR_MEMORY, "records of threshold overflow the address space");
  data = realloc(list->data, (size_t)all);
  if (data == NULL)
    TSL_FAIL(TSL_ERR_MEMORY, "no host memory for %lld records below the threshold; lower it",
             (long long)(list->n + count));
  list->data = data;
done:
  return err;
}

/* Pairs (i, j) of sorted keys into w->out; csr: columns, and lengths of rows [a, b) into strips[2]
 * and lengths. */
static tsl_err split(tri_gpu *w, const unsigned long long *keys, int64_t count, int64_t a,
                     int64_t b, int32_t *lengths) {
  tsl_err err = TSL_OK;
  const dim3 blocks((unsigned)tsl_ceil_div(count, 256));
  const unsigned long long n = (unsigned long long)tri_columns_of(&w->p);
  const size_t bytes = (size_t)(b - a) * sizeof *lengths;
  if (w->p.output != TRI_CSR) {
    TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out, 16 * count, "pairs of records"));
    TSL_LAUNCH(split_keys, blocks, 256, 0, w->stream, keys, count, n, (longlong2 *)w->out.data);
    goto done;
  }
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out, 4 * count, "columns of records"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->strips[2], (int64_t)bytes, "lengths of rows"));
  TSL_CUDA_TRY(cudaMemsetAsync(w->strips[2].data, 0, bytes, w->stream));
  TSL_LAUNCH(split_rows, blocks, 256, 0, w->stream, keys, count, n, (unsigned long long)a,
             (int *)w->out.data, (int *)w->strips[2].data);
  TSL_CUDA_TRY(
      cudaMemcpyAsync(lengths, w->strips[2].data, bytes, cudaMemcpyDeviceToHost, w->stream));
done:
  return err;
}

/* Sort and append count records of rows [a, b) to the part's lists. */
template <class R>
static tsl_err append(tri_gpu *w, int64_t count, int64_t a, int64_t b, int32_t *lengths,
                      tsl_part *part) {
  tsl_err err = TSL_OK;
  unsigned long long *keys = NULL;
  R *values = NULL;
  const int64_t record = w->p.output == TRI_CSR ? 4 : 16;
  tsl_list *pairs = &part->list[TRI_OUT], *list = &part->list[TRI_OUT_2];
  if (lengths != NULL) memset(lengths, 0, (size_t)(b - a) * sizeof *lengths);
  if (count == 0) return TSL_OK;
  TSL_TRY(sort<R>(w, count, &keys, &values));
  TSL_TRY(split(w, keys, count, a, b, lengths));
  TSL_TRY(extend(pairs, count, record));
  TSL_TRY(extend(list, count, (int64_t)sizeof(R)));
  TSL_TRY(tsl_gpu_fetch(&w->stage, w->out.data, record * count,
                        (char *)pairs->data + record * pairs->n, w->stream));
  TSL_TRY(tsl_gpu_fetch(&w->stage, values, count * (int64_t)sizeof(R), (R *)list->data + list->n,
                        w->stream));
  pairs->n += count;
  list->n += count;
done:
  return err;
}

/* Rows [a, b) whole, or TSL_ERR_DEVICE_MEMORY with nothing appended. lengths: csr, of row a on. */
template <class R>
static tsl_err batch(tri_gpu *w, int64_t a, int64_t b, int32_t *lengths, tsl_part *part) {
  tsl_err err = TSL_OK;
  int64_t count = 0, most = (b - a) * tri_columns_of(&w->p);
  TSL_TRY(reserve_records(w, most < FIRST_CAPACITY ? most + 1 : FIRST_CAPACITY));
  TSL_TRY(compact<R>(w, a, b, &count));
  if (count > capacity_of(w)) {
    TSL_TRY(reserve_records(w, count + count / 8));
    TSL_TRY(compact<R>(w, a, b, &count));
  }
  TSL_TRY(append<R>(w, count, a, b, lengths, part));
done:
  return err;
}

tsl_err tri_threshold_run(tri_gpu *w, int64_t lo, int64_t hi, tsl_part *part) {
  part->list[TRI_OUT] = part->list[TRI_OUT_2] = tsl_list{NULL, 0};
  return tri_in_batches(w, lo, hi, [=](int64_t a, int64_t b) {
    int32_t *const lengths =
        w->p.output == TRI_CSR ? (int32_t *)part->slab[TRI_OUT_3] + (a - lo) : NULL;
    return w->p.type == TSL_F64 ? batch<double>(w, a, b, lengths, part)
                                : batch<float>(w, a, b, lengths, part);
  });
}
