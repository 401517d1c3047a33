/* Record by record of two sets on a card: output PAIRED. Sequences go by the list of
 * tri_paired_order.cuh; of points, tiles of some rows with their own columns are computed, whose
 * diagonals are the values: cheaper than reading the points was. */
#include "tri_equation.cuh"
#include "tri_paired_order.cuh"

#include <algorithm>

enum { POINTS = 128 /* rows of a tile */ };

/* ---- sequences */

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
  for (tri_letters_set &set : l->sets)
    TSL_TRY(tsl_gpu_reserve(&w->memory, &set.counter, sizeof(tri_order), "order of pairs"));
  if (tri_is_dropping(&w->p)) return tri_extension_open(w);
  if (tri_is_scored(&w->p)) return tri_align_open(w);
  kernel = edit_kernel_of(&w->p, &bits);
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, TRI_LETTERS_THREADS,
                                                             (size_t)edit_shared(bits)));
  l->resident = tri_letters_at_once(w, TRI_LETTERS_THREADS * std::max<int64_t>(each, 1), blocks);
  TSL_TRY(tri_letters_below(w, l->resident * TRI_LETTERS_THREADS * each,
                            "differences of long sequences"));
done:
  return err;
}

/* Rows [a, b) by their lengths, into the rows of the set; its counter: the tri_order. */
static tsl_err order_pairs(tri_gpu *w, int a, int b) {
  tsl_err err = TSL_OK;
  tri_letters_set *const set = &w->letters->sets[w->letters->set];
  const int threads = 256;
  const dim3 blocks((unsigned)tsl_ceil_div(b - a, threads));
  tri_order *const order = (tri_order *)set->counter.data;
  TSL_TRY(tri_letters_reserve(w, (b - a) * (int64_t)sizeof(int), "list of pairs", &set->rows));
  TSL_CUDA_TRY(cudaMemsetAsync(order, 0, sizeof *order, w->stream));
  TSL_LAUNCH(tri_order_count, blocks, threads, 0, w->stream, tri_letters_args_of(w), a, b, order);
  TSL_LAUNCH(tri_order_sum, 1, TRI_ORDER_THREADS, 0, w->stream, order);
  TSL_LAUNCH(tri_order_put, blocks, threads, 0, w->stream, tri_letters_args_of(w), a, b, order,
             (int *)set->rows.data);
done:
  return err;
}

static tsl_err launch_scores(tri_gpu *w, const tri_paired_list *list, tri_order *order) {
  tri_pairs pairs = tri_pairs_of(w);
  pairs.rows = list->rows, pairs.n_rows = list->n, pairs.n_long = &order->n_long;
  pairs.lo = list->lo, pairs.out = list->out;
  return tri_align_run(w, &pairs, list->n, order->counters);
}

/* Values of rows [a, b) into out (device). */
static tsl_err run_list(tri_gpu *w, int64_t a, int64_t b, void *out) {
  tsl_err err = TSL_OK;
  const tri_letters_set *const set = &w->letters->sets[w->letters->set];
  tri_order *const order = (tri_order *)set->counter.data;
  tri_paired_list list = {};
  TSL_TRY(order_pairs(w, (int)a, (int)b));
  list.rows = (const int *)set->rows.data;
  list.n = (int)(b - a), list.lo = (int)a;
  list.wide = w->p.type == TSL_F64, list.out = out;
  if (tri_is_dropping(&w->p))
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
  tri_letters_state *const l = w->letters;
  const int64_t bytes = (b - a) * tri_value_bytes(w);
  tsl_gpu_buffer *const out = l != NULL ? &l->sets[l->set].out : &w->out;
  TSL_TRY(tri_letters_reserve(w, bytes, "values of pairs", out));
  if (l != NULL)
    TSL_TRY(run_list(w, a, b, out->data));
  else if (w->p.type == TSL_F64)
    TSL_TRY(run_tiles(w, a, b, (double *)out->data));
  else
    TSL_TRY(run_tiles(w, a, b, (float *)out->data));
  TSL_CUDA_TRY(cudaMemcpyAsync(slab, out->data, (size_t)bytes, cudaMemcpyDeviceToHost, w->stream));
done:
  return err;
}
