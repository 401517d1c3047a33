/* Interval problems on a card: set-up, boxes, values in and out. */
#include "dp_fold.cuh"

#include <stdlib.h>
#include <string.h>

static const int64_t EXACT = (int64_t)1 << 53; /* doubles are integers below */

/* Largest value of any candidate, or -1 when it goes beyond 62 bits. */
static int64_t bound_of(const dp_interval_input *in) {
  int64_t bound = 0, most = 0;
  if (in->problem == DP_MATRIX_CHAIN) {
    for (int64_t k = 0; k <= in->n; k++) most = in->dims[k] > most ? in->dims[k] : most;
    if (!tsl_mul_i64(most, most, &bound) || !tsl_mul_i64(bound, most, &bound) ||
        !tsl_mul_i64(bound, in->n + 1, &bound))
      return -1;
  } else if (in->problem == DP_SEARCH_TREE && !in->real) {
    most = ((const int64_t *)in->high)[in->n + 1];
    if (!tsl_mul_i64(most, in->n + 2, &bound)) return -1;
  }
  return bound > INT64_MAX / 4 ? -1 : bound;
}

/* Sums ascend, gaps are not negative; no infinities. */
template <class T> static tsl_err check_tree(const dp_interval_input *in) {
  tsl_err err = TSL_OK;
  const T *high = (const T *)in->high, *low = (const T *)in->low, *base = (const T *)in->base;
  for (int64_t k = 0; k < in->n + 2; k++) {
    const bool rises = k == 0 || (high[k] >= high[k - 1] && low[k] >= low[k - 1]);
    const bool fits = high[k] >= 0 && low[k] >= 0 && high[k] - low[k] <= 0;
    if (!rises || !fits || (k <= in->n && !(base[k] >= 0)))
      TSL_FAIL(TSL_ERR_INPUT, "the weights of key or gap %lld are negative or not finite",
               (long long)k);
  }
done:
  return err;
}

static tsl_err check_input(const dp_interval_input *in) {
  tsl_err err = TSL_OK;
  if (in->problem != DP_MATRIX_CHAIN && in->problem != DP_SEARCH_TREE &&
      in->problem != DP_NUSSINOV && in->problem != DP_FOLD)
    TSL_FAIL(TSL_ERR_INTERNAL, "no interval engine for problem %d", (int)in->problem);
  if (in->n < 0 || in->n > 1 << 24)
    TSL_FAIL(TSL_ERR_INPUT, "an interval problem of %lld items; at most %d", (long long)in->n,
             1 << 24);
  for (int64_t k = 0; in->problem == DP_MATRIX_CHAIN && k <= in->n; k++)
    if (in->dims[k] < 0)
      TSL_FAIL(TSL_ERR_INPUT, "dimension %lld is %lld; allowed >= 0", (long long)k,
               (long long)in->dims[k]);
  if (in->problem == DP_SEARCH_TREE)
    TSL_TRY(in->real ? check_tree<double>(in) : check_tree<int64_t>(in));
  for (int64_t k = 0; in->problem == DP_NUSSINOV && k < in->n; k++)
    if (in->letters[k] > 31)
      TSL_FAIL(TSL_ERR_INPUT, "letter %lld has code %d; allowed 0..31", (long long)k,
               in->letters[k]);
  if (bound_of(in) < 0)
    TSL_FAIL(TSL_ERR_INPUT, "values of this problem may exceed 62 bits; scale the %s down",
             in->problem == DP_MATRIX_CHAIN ? "dimensions" : "weights");
done:
  return err;
}

/* An array to device memory, as int64 or double, padded with zeros to whole tiles. */
static tsl_err upload_posts(dp_interval *w, int which, const void *values, int64_t count) {
  tsl_err err = TSL_OK;
  const int64_t padded = w->tiles * DP_TILE;
  union word {
    int64_t whole;
    double real;
  } *words = NULL;
  TSL_TRY(tsl_alloc(padded, 8, "posts", (void **)&words));
  for (int64_t k = 0; k < count; k++) {
    if (w->real)
      words[k].real = ((const double *)values)[k];
    else if (w->wide)
      words[k].whole = ((const int64_t *)values)[k];
    else
      words[k].real = (double)((const int64_t *)values)[k];
  }
  TSL_TRY(tsl_gpu_upload(w->card, &w->posts_data[which], words, 8 * padded, "posts"));
  TSL_TRY(dp_card_wait(w->card));
done:
  tsl_free(words);
  return err;
}

static tsl_err upload_tree(dp_interval *w, const dp_interval_input *in) {
  tsl_err err = TSL_OK;
  TSL_TRY(upload_posts(w, 0, in->high, w->posts));
  TSL_TRY(upload_posts(w, 1, in->low, w->posts));
  TSL_TRY(upload_posts(w, 2, in->base, in->n + 1));
done:
  return err;
}

static tsl_err upload_letters(dp_interval *w, const dp_interval_input *in) {
  tsl_err err = TSL_OK;
  const int64_t padded = w->tiles * DP_TILE;
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, &w->posts_data[0], padded, "letters"));
  TSL_CUDA_TRY(cudaMemsetAsync(w->posts_data[0].data, 32, (size_t)padded, w->card->stream));
  if (in->n > 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(w->posts_data[0].data, in->letters, (size_t)in->n,
                                 cudaMemcpyDefault, w->card->stream));
  TSL_TRY(dp_card_wait(w->card));
  for (int x = 0; x < 32; x++) w->pairs[x] = in->pairs[x];
  w->loop = in->loop;
done:
  return err;
}

tsl_err dp_interval_open(dp_card *card, const dp_interval_input *in, dp_interval **out) {
  tsl_err err = TSL_OK;
  dp_interval *w = NULL;
  int64_t tiles = 0;
  *out = NULL;
  TSL_TRY(check_input(in));
  TSL_TRY(tsl_alloc(1, sizeof *w, "triangle", (void **)&w));
  w->card = card;
  w->problem = in->problem;
  w->n = in->n;
  w->posts = in->n + (in->problem == DP_SEARCH_TREE ? 2 : 1);
  w->tiles = tsl_ceil_div(w->posts, DP_TILE);
  w->real = in->problem == DP_SEARCH_TREE && in->real;
  w->wide = bound_of(in) >= EXACT;
  w->value_bytes = in->problem == DP_NUSSINOV || in->problem == DP_FOLD ? 4 : 8;
  tiles = dp_tile_number(0, w->tiles);
  TSL_TRY(tsl_gpu_reserve(&card->memory, &w->values, tiles * DP_TILE_CELLS * w->value_bytes,
                          "triangle"));
  TSL_TRY(tsl_gpu_reserve(&card->memory, &w->ready, 4 * tiles, "marks of tiles"));
  if (in->problem == DP_MATRIX_CHAIN) TSL_TRY(upload_posts(w, 0, in->dims, w->posts));
  if (in->problem == DP_SEARCH_TREE) TSL_TRY(upload_tree(w, in));
  if (in->problem == DP_NUSSINOV) TSL_TRY(upload_letters(w, in));
  if (in->problem == DP_FOLD) TSL_TRY(dp_fold_open(w, in));
  TSL_TRY(dp_interval_begin(w));
  *out = w;
done:
  if (err != TSL_OK) dp_interval_close(&w);
  return err;
}

void dp_interval_close(dp_interval **worker) {
  dp_interval *w = *worker;
  if (w == NULL) return;
  dp_fold_close(w);
  tsl_gpu_buffer *all[] = {&w->values,        &w->ready,         &w->list,
                           &w->posts_data[0], &w->posts_data[1], &w->posts_data[2],
                           &w->box,           &w->queue,         &w->solution};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->card->memory, buffer);
  tsl_free(w);
  *worker = NULL;
}

int64_t dp_interval_posts(const dp_interval *w) {
  return w->posts;
}

tsl_err dp_interval_begin(dp_interval *w) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemsetAsync(w->ready.data, 0, (size_t)w->ready.bytes, w->card->stream));
  if (w->fold != NULL) TSL_TRY(dp_fold_begin(w));
done:
  return err;
}

tsl_err dp_interval_pretend(dp_interval *w) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaMemsetAsync(w->ready.data, 1, (size_t)w->ready.bytes, w->card->stream));
  TSL_CUDA_TRY(cudaMemsetAsync(w->values.data, 0, (size_t)w->values.bytes, w->card->stream));
  if (w->fold != NULL) TSL_TRY(dp_fold_pretend(w));
done:
  return err;
}

tsl_err dp_interval_check_box(const dp_interval *w, const int64_t lo[2], const int64_t hi[2]) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < 2; k++)
    if (lo[k] < 0 || lo[k] > hi[k] || hi[k] > w->posts || lo[k] % DP_TILE != 0 ||
        (hi[k] % DP_TILE != 0 && hi[k] != w->posts))
      TSL_FAIL(TSL_ERR_INTERNAL, "box %lld..%lld of %lld posts is not made of whole tiles",
               (long long)lo[k], (long long)hi[k], (long long)w->posts);
done:
  return err;
}

/* Tiles of boxes by diagonals, those of all boxes together; *list from tsl_alloc. Diagonal d of a
 * box is its d-th from the lower left corner. */
static tsl_err list_tiles(const dp_box *boxes, int64_t n_boxes, int2 **list, int64_t *count) {
  tsl_err err = TSL_OK;
  int64_t room = 0, longest = 0;
  for (int64_t k = 0; k < n_boxes; k++) {
    const dp_box *x = &boxes[k];
    const int64_t rows = tsl_ceil_div(x->hi[0], DP_TILE) - x->lo[0] / DP_TILE;
    const int64_t columns = tsl_ceil_div(x->hi[1], DP_TILE) - x->lo[1] / DP_TILE;
    room += rows * columns;
    longest = rows + columns > longest ? rows + columns : longest;
  }
  *count = 0;
  TSL_TRY(tsl_alloc(room, sizeof **list, "tiles", (void **)list));
  for (int64_t d = 0; d < longest; d++)
    for (int64_t k = 0; k < n_boxes; k++) {
      const int64_t i0 = boxes[k].lo[0] / DP_TILE, i1 = tsl_ceil_div(boxes[k].hi[0], DP_TILE);
      const int64_t j0 = boxes[k].lo[1] / DP_TILE, j1 = tsl_ceil_div(boxes[k].hi[1], DP_TILE);
      for (int64_t i = i0; i < i1; i++) {
        const int64_t j = j0 + d - (i1 - 1 - i);
        if (j >= j0 && j < j1 && j >= i) (*list)[(*count)++] = make_int2((int)i, (int)j);
      }
    }
done:
  return err;
}

template <class P> static tsl_err launch(dp_interval *w, int64_t count) {
  typedef typename P::T T;
  tsl_err err = TSL_OK;
  const int threads = dp_tile_block<P>::THREADS;
  const size_t shared = sizeof(dp_interval_shared<T>);
  dp_interval_args<T> args = dp_interval_args_of<T>(w);
  unsigned blocks = 0;
  args.count = (int)count;
  TSL_TRY(dp_card_reset(w->card));
  TSL_TRY(dp_card_blocks(w->card, (const void *)dp_interval_kernel<P>, threads / 32, shared,
                         count * (threads / 32), &blocks));
  TSL_LAUNCH((dp_interval_kernel<P>), dim3((unsigned)blocks), (unsigned)threads, shared,
             w->card->stream, args);
done:
  return err;
}

tsl_err dp_interval_boxes(dp_interval *w, const dp_box *boxes, int64_t n) {
  tsl_err err = TSL_OK;
  int2 *list = NULL;
  int64_t count = 0;
  for (int64_t k = 0; k < n; k++) TSL_TRY(dp_interval_check_box(w, boxes[k].lo, boxes[k].hi));
  TSL_TRY(list_tiles(boxes, n, &list, &count));
  if (count == 0) goto done;
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, &w->list, 8 * count, "list of tiles"));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(w->list.data, list, (size_t)(8 * count), cudaMemcpyDefault, w->card->stream));
  if (w->fold != NULL)
    TSL_TRY(dp_fold_launch(w, count));
  else
    TSL_TRY(dp_interval_as(w, [=](auto p) { return launch<decltype(p)>(w, count); }));
done:
  tsl_free(list);
  return err;
}

tsl_err dp_interval_box(dp_interval *w, const int64_t lo[2], const int64_t hi[2]) {
  tsl_err err = TSL_OK;
  const dp_box box = {{lo[0], lo[1]}, {hi[0], hi[1]}};
  TSL_TRY(dp_interval_boxes(w, &box, 1));
  TSL_TRY(dp_card_wait(w->card));
done:
  return err;
}

/* A box between tiles and a plain matrix of type O. */
template <class T, class O>
static __global__ void get_kernel(T *tiles, int64_t a0, int64_t b0, int64_t rows, int64_t columns,
                                  O *box) {
  const int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= rows * columns) return;
  const int64_t a = a0 + w / columns, b = b0 + w % columns;
  box[w] = a < b ? (O)*dp_cell_at(tiles, a, b) : (O)0;
}
template <class T, class O>
static __global__ void put_kernel(T *tiles, uint32_t *ready, int64_t a0, int64_t b0, int64_t rows,
                                  int64_t columns, const O *box) {
  const int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= rows * columns) return;
  const int64_t a = a0 + w / columns, b = b0 + w % columns;
  if (a / DP_TILE > b / DP_TILE) return;
  *dp_cell_at(tiles, a, b) = (T)box[w];
  if (a % DP_TILE == 0 && b % DP_TILE == 0) ready[dp_tile_number(a / DP_TILE, b / DP_TILE)] = 1;
}

static bool is_pinned(const void *memory) {
  cudaPointerAttributes attributes = {};
  if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess)
    return attributes.type != cudaMemoryTypeUnregistered;
  (void)cudaGetLastError();
  return false;
}

/* Copy a box of tiles of T in or out, of host memory through w->box. */
template <class T, class O>
static tsl_err move_box(dp_interval *w, T *tiles, const int64_t lo[2], const int64_t hi[2],
                        void *out, const void *in) {
  tsl_err err = TSL_OK;
  const int64_t rows = hi[0] - lo[0], columns = hi[1] - lo[1];
  const int64_t bytes = rows * columns * (int64_t)sizeof(O);
  cudaStream_t stream = w->card->stream;
  const dim3 grid((unsigned)tsl_ceil_div(rows * columns, 256));
  if (bytes == 0) goto done;
  if (in == NULL && dp_card_holds(out)) {
    TSL_LAUNCH((get_kernel<T, O>), grid, 256, 0, stream, tiles, lo[0], lo[1], rows, columns,
               (O *)out);
    goto done;
  }
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, &w->box, bytes, "values of a box"));
  if (in != NULL) {
    const bool plain = !is_pinned(in);
    TSL_CUDA_TRY(cudaMemcpyAsync(w->box.data, in, (size_t)bytes, cudaMemcpyDefault, stream));
    TSL_LAUNCH((put_kernel<T, O>), grid, 256, 0, stream, tiles, (uint32_t *)w->ready.data, lo[0],
               lo[1], rows, columns, (const O *)w->box.data);
    if (plain) goto done; /* plain memory is read when the copy returns */
  } else {
    TSL_LAUNCH((get_kernel<T, O>), grid, 256, 0, stream, tiles, lo[0], lo[1], rows, columns,
               (O *)w->box.data);
    TSL_CUDA_TRY(cudaMemcpyAsync(out, w->box.data, (size_t)bytes, cudaMemcpyDefault, stream));
  }
  TSL_TRY(dp_card_wait(w->card));
done:
  return err;
}

static tsl_err move_any(dp_interval *w, const int64_t lo[2], const int64_t hi[2], void *out,
                        const void *in) {
  void *x = w->values.data;
  if (w->fold != NULL) return move_box<int32_t, int32_t>(w, dp_fold_pairs(w), lo, hi, out, in);
  if (w->problem == DP_NUSSINOV)
    return move_box<int32_t, int32_t>(w, (int32_t *)x, lo, hi, out, in);
  if (w->real) return move_box<double, double>(w, (double *)x, lo, hi, out, in);
  return w->wide ? move_box<int64_t, int64_t>(w, (int64_t *)x, lo, hi, out, in)
                 : move_box<double, int64_t>(w, (double *)x, lo, hi, out, in);
}

tsl_err dp_interval_get(dp_interval *w, const int64_t lo[2], const int64_t hi[2], void *values) {
  return move_any(w, lo, hi, values, NULL);
}

tsl_err dp_interval_put(dp_interval *w, const int64_t lo[2], const int64_t hi[2],
                        const void *values) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_interval_check_box(w, lo, hi));
  TSL_TRY(move_any(w, lo, hi, NULL, values));
done:
  return err;
}

tsl_err dp_interval_value(dp_interval *w, int64_t a, int64_t b, void *value) {
  tsl_err err = TSL_OK;
  const int64_t lo[2] = {a, b}, hi[2] = {a + 1, b + 1};
  int32_t narrow = 0;
  if (a < 0 || b < a || b >= w->posts)
    TSL_FAIL(TSL_ERR_INTERNAL, "interval %lld..%lld of %lld posts", (long long)a, (long long)b,
             (long long)w->posts);
  if (w->problem != DP_NUSSINOV) {
    TSL_TRY(dp_interval_get(w, lo, hi, value));
  } else {
    TSL_TRY(dp_interval_get(w, lo, hi, &narrow));
    *(int64_t *)value = narrow;
  }
done:
  return err;
}
