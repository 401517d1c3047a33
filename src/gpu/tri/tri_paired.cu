/* Record by record of two sets on a card: output PAIRED. Sequences go by the list of
 * tri_paired_order.cuh; of points, tiles of some rows with their own columns are computed, whose
 * diagonals are the values: cheaper than reading the points was. */
#include "tri_equation.cuh"
#include "tri_paired_order.cuh"

#include <algorithm>

enum { POINTS = 128 /* rows of a tile */ };

/* ---- sequences */

typedef void (*align_kernel)(tri_letters_args, tri_paired_list, unsigned *);

static align_kernel couples_kernel_of(const tri_params *p) {
  return p->function == TRI_LOCAL ? tri_couples_kernel<true> : tri_couples_kernel<false>;
}

static align_kernel warps_kernel_of(const tri_params *p) {
  return p->function == TRI_LOCAL ? tri_paired_warps<true> : tri_paired_warps<false>;
}

/* Letters of the longest text of a couple. */
static int64_t most_of_couples(const tri_gpu *w) {
  return std::max<int64_t>(1, std::min<int64_t>(w->p.longest, TRI_ALIGN_SHORT));
}

/* Couples and warps at once, and memory for what waits. */
static tsl_err open_scores(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  const int shared = tri_couple_shared(w->p.codes);
  const int64_t couples = TRI_COUPLE_GROUPS * most_of_couples(w) * (int64_t)sizeof(uint2);
  const int64_t warps = TRI_LETTERS_THREADS / 32 * std::max<int64_t>(w->p.longest, 1) *
                        (int64_t)sizeof(int2); /* of a block */
  int blocks = 0;
  TSL_CUDA_TRY(cudaFuncSetAttribute(couples_kernel_of(&w->p),
                                    cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared));
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, couples_kernel_of(&w->p), 32,
                                                             (size_t)shared));
  l->resident = tri_letters_at_once(w, couples, blocks);
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, warps_kernel_of(&w->p),
                                                             TRI_LETTERS_THREADS, 0));
  l->resident_long = tri_letters_at_once(w, warps, blocks);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &l->below,
                          std::max(l->resident * couples, l->resident_long * warps),
                          "gaps between tiles of patterns"));
done:
  return err;
}

static tsl_err launch_scores(tri_gpu *w, const tri_paired_list *list, tri_order *order) {
  tsl_err err = TSL_OK;
  const tri_letters_state *const l = w->letters;
  const int64_t wanted = tsl_ceil_div(list->n, (int64_t)TRI_COUPLE_ITEM);
  const int64_t longest = w->p.longest, large = tsl_ceil_div(list->n, TRI_LETTERS_THREADS / 32);
  const bool any = longest > TRI_ALIGN_SHORT || !tri_couple_fits(&w->p) ||
                   !tri_is_narrow(longest, longest, &w->p);
  if (any)
    TSL_LAUNCH(warps_kernel_of(&w->p), dim3((unsigned)std::min<int64_t>(large, l->resident_long)),
               TRI_LETTERS_THREADS, 0, w->stream, tri_letters_args_of(w), *list,
               &order->counters[0]);
  TSL_LAUNCH(couples_kernel_of(&w->p), dim3((unsigned)std::min<int64_t>(wanted, l->resident)), 32,
             tri_couple_shared(w->p.codes), w->stream, tri_letters_args_of(w), *list,
             &order->counters[1]);
done:
  return err;
}

typedef void (*edit_kernel)(tri_letters_args, tri_paired_list);

/* By the bits of a code, and those. */
static edit_kernel edit_kernel_of(const tri_params *p, int *bits) {
  *bits = p->codes <= 8 ? 3 : p->codes <= 32 ? 5 : TRI_PAIRED_BITS;
  return *bits == 3   ? tri_paired_edit<3>
         : *bits == 5 ? tri_paired_edit<5>
                      : tri_paired_edit<TRI_PAIRED_BITS>;
}

static int edit_shared(int bits) {
  return TRI_PAIRED_WORDS * bits * TRI_LETTERS_THREADS * (int)sizeof(uint32_t);
}

static tsl_err launch_edit(tri_gpu *w, const tri_paired_list *list) {
  tsl_err err = TSL_OK;
  int bits = 0;
  const edit_kernel kernel = edit_kernel_of(&w->p, &bits);
  const int64_t wanted = tsl_ceil_div(list->n, TRI_LETTERS_THREADS);
  TSL_LAUNCH(kernel, dim3((unsigned)std::min<int64_t>(wanted, w->letters->resident)),
             TRI_LETTERS_THREADS, edit_shared(bits), w->stream, tri_letters_args_of(w), *list);
done:
  return err;
}

tsl_err tri_paired_open(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  const int64_t each = (w->p.longest + 31) / 32 * 2 * (int64_t)sizeof(uint32_t);
  int blocks = 0, bits = 0;
  edit_kernel kernel = NULL;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &l->counter, sizeof(tri_order), "order of pairs"));
  if (w->p.function == TRI_EXTENSION) return tri_extension_open(w);
  if (tri_is_scored(&w->p)) return open_scores(w);
  kernel = edit_kernel_of(&w->p, &bits);
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, TRI_LETTERS_THREADS,
                                                             (size_t)edit_shared(bits)));
  l->resident = tri_letters_at_once(w, TRI_LETTERS_THREADS * std::max<int64_t>(each, 1), blocks);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &l->below, l->resident * TRI_LETTERS_THREADS * each,
                          "differences of long sequences"));
done:
  return err;
}

/* Rows [a, b) by their lengths, into l->rows; l->counter: its tri_order. */
static tsl_err order_pairs(tri_gpu *w, int a, int b) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  const int threads = 256;
  const dim3 blocks((unsigned)tsl_ceil_div(b - a, threads));
  tri_order *const order = (tri_order *)l->counter.data;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &l->rows, (b - a) * (int64_t)sizeof(int), "list of pairs"));
  TSL_CUDA_TRY(cudaMemsetAsync(order, 0, sizeof *order, w->stream));
  TSL_LAUNCH(tri_order_count, blocks, threads, 0, w->stream, tri_letters_args_of(w), a, b, order);
  TSL_LAUNCH(tri_order_sum, 1, TRI_ORDER_THREADS, 0, w->stream, order);
  TSL_LAUNCH(tri_order_put, blocks, threads, 0, w->stream, tri_letters_args_of(w), a, b, order,
             (int *)l->rows.data);
done:
  return err;
}

static tsl_err run_list(tri_gpu *w, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  tri_order *const order = (tri_order *)w->letters->counter.data;
  tri_paired_list list = {};
  TSL_TRY(order_pairs(w, (int)a, (int)b));
  list.rows = (const int *)w->letters->rows.data, list.n_large = &order->n_large;
  list.n = (int)(b - a), list.lo = (int)a;
  list.wide = w->p.type == TSL_F64, list.out = w->out.data;
  list.most = (int)most_of_couples(w);
  if (w->p.function == TRI_EXTENSION)
    TSL_TRY(tri_extension_list(w, &list, &order->counters[0]));
  else
    TSL_TRY(tri_is_scored(&w->p) ? launch_scores(w, &list, order) : launch_edit(w, &list));
done:
  return err;
}

/* ---- points */

template <class R> static __global__ void take_diagonal(const R *tile, int n, R *out) {
  const int k = (int)threadIdx.x;
  if (k < n) out[k] = tile[k * (n + 1)];
}

template <class R> static tsl_err run_tiles(tri_gpu *w, int64_t a, int64_t b, R *out) {
  tsl_err err = TSL_OK;
  const auto strip = w->equation != NULL ? tri_equation_strip : tri_values_strip;
  for (int64_t k = a; k < b; k += POINTS) {
    const int64_t end = std::min<int64_t>(k + POINTS, b);
    TSL_TRY(strip(w, w->p.first + k, w->p.first + end, k, end));
    TSL_LAUNCH(take_diagonal<R>, 1, POINTS, 0, w->stream, (const R *)w->strips[0].data,
               (int)(end - k), out + (k - a));
  }
done:
  return err;
}

tsl_err tri_paired_rows(tri_gpu *w, int64_t a, int64_t b, void *slab) {
  tsl_err err = TSL_OK;
  const int64_t bytes = (b - a) * tri_value_bytes(w);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out, bytes, "values of pairs"));
  if (w->letters != NULL)
    TSL_TRY(run_list(w, a, b));
  else if (w->p.type == TSL_F64)
    TSL_TRY(run_tiles(w, a, b, (double *)w->out.data));
  else
    TSL_TRY(run_tiles(w, a, b, (float *)w->out.data));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(slab, w->out.data, (size_t)bytes, cudaMemcpyDeviceToHost, w->stream));
done:
  return err;
}
