/* Record by record of two sets on a card: output PAIRED. Sequences go by the lists of
 * tri_paired.cuh; of points, tiles of some rows with their own columns are computed, whose
 * diagonals are the values: cheaper than reading the points was. */
#include "tri_paired.cuh"

#include "tri_equation.cuh"

#include <algorithm>
#include <vector>

enum { POINTS = 128 /* rows of a tile */ };

/* ---- sequences */

/* Lists of a launch each: large tables, couples of 16 bits, single ones of 32. */
enum { LARGE, COUPLES, SINGLES, LISTS };

/* Cells from which on a thread would still be at work when all others have ended. */
static const int64_t LARGE_CELLS = 1 << 20;

typedef struct pair_of_list {
  int64_t tiles, text; /* 32 letters of the pattern; letters of the text, rounded up to words */
  int row;
} pair_of_list;

static int64_t round_up(int64_t n, int64_t to) {
  return tsl_ceil_div(n, to) * to;
}

/* Rows [a, b), the longest first; of like patterns by texts. */
static std::vector<pair_of_list> pairs_in_order(const tri_gpu *w, int64_t a, int64_t b) {
  const tri_sequences s = tri_sequences_of(w->problem);
  std::vector<pair_of_list> pairs((size_t)(b - a));
  for (int64_t k = a; k < b; k++)
    pairs[(size_t)(k - a)] = {tsl_ceil_div(tri_sequence_length(&s, w->p.first + k), 32),
                              round_up(tri_sequence_length(&s, k), TRI_LETTERS_PACKED), (int)k};
  std::sort(pairs.begin(), pairs.end(), [](const pair_of_list &x, const pair_of_list &y) {
    if (x.tiles != y.tiles) return x.tiles > y.tiles;
    return x.text != y.text ? x.text > y.text : x.row < y.row;
  });
  return pairs;
}

static int64_t cells_of(const pair_of_list &pair) {
  return pair.tiles * 32 * pair.text;
}

/* The largest first, so that none is begun late. */
static void take_large(std::vector<pair_of_list> &pairs, std::vector<int> &large) {
  const auto is_small = [](const pair_of_list &pair) {
    return pair.text <= TRI_ALIGN_SHORT && cells_of(pair) <= LARGE_CELLS;
  };
  const auto first = std::stable_partition(pairs.begin(), pairs.end(), is_small);
  std::stable_sort(first, pairs.end(), [](const pair_of_list &x, const pair_of_list &y) {
    return cells_of(x) > cells_of(y);
  });
  for (auto pair = first; pair != pairs.end(); ++pair) large.push_back(pair->row);
  pairs.erase(first, pairs.end());
}

/* Couples share registers, and so the table that is the larger of both. */
static void share_out(const tri_gpu *w, std::vector<pair_of_list> &pairs,
                      std::vector<int> (&lists)[LISTS]) {
  take_large(pairs, lists[LARGE]);
  for (size_t k = 0; k < pairs.size(); k += 2) {
    const bool two = k + 1 < pairs.size();
    const pair_of_list &x = pairs[k], &y = pairs[two ? k + 1 : k];
    const int64_t text = std::max(x.text, y.text);
    const bool narrow = tri_is_narrow(x.tiles * 32, text, &w->p);
    lists[narrow ? COUPLES : SINGLES].push_back(x.row);
    if (two || narrow) lists[narrow ? COUPLES : SINGLES].push_back(two ? y.row : -1);
  }
}

typedef void (*align_kernel)(tri_letters_args, tri_paired_list, unsigned *);

static align_kernel align_kernel_of(const tri_params *p, int kind) {
  const bool local = p->function == TRI_LOCAL;
  if (kind == LARGE) return local ? tri_paired_warps<true> : tri_paired_warps<false>;
  if (kind == COUPLES)
    return local ? tri_paired_align<tri_align_two, true> : tri_paired_align<tri_align_two, false>;
  return local ? tri_paired_align<tri_align_one, true> : tri_paired_align<tri_align_one, false>;
}

/* Blocks that memory holds what waits of, and which list->n pairs fill. */
static int64_t align_blocks(const tri_gpu *w, const tri_paired_list *list, int kind) {
  const tri_letters_state *const l = w->letters;
  const int64_t a_warp = (int64_t)sizeof(int2) * std::max<int64_t>(w->p.longest, 1);
  const int64_t pairs = kind == LARGE     ? TRI_LETTERS_THREADS / 32
                        : kind == COUPLES ? 2 * TRI_LETTERS_THREADS
                                          : TRI_LETTERS_THREADS;
  const int64_t room =
      kind == LARGE ? l->below.bytes / (a_warp * TRI_LETTERS_THREADS / 32) : (int64_t)l->resident;
  return std::min(tsl_ceil_div(list->n, pairs), std::min(room, (int64_t)l->resident));
}

static tsl_err launch_align(tri_gpu *w, const tri_paired_list *list, int kind) {
  tsl_err err = TSL_OK;
  unsigned *const counter = (unsigned *)w->letters->counter.data;
  TSL_CUDA_TRY(cudaMemsetAsync(counter, 0, sizeof *counter, w->stream));
  TSL_LAUNCH(align_kernel_of(&w->p, kind), dim3((unsigned)align_blocks(w, list, kind)),
             TRI_LETTERS_THREADS, 0, w->stream, tri_letters_args_of(w), *list, counter);
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
  if (tri_is_scored(&w->p)) return tri_align_open(w);
  const edit_kernel kernel = edit_kernel_of(&w->p, &bits);
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, TRI_LETTERS_THREADS,
                                                             (size_t)edit_shared(bits)));
  l->resident = w->processors * std::max(blocks, 1);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &l->below, l->resident * TRI_LETTERS_THREADS * each,
                          "differences of long sequences"));
done:
  return err;
}

static tsl_err run_lists(tri_gpu *w, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  std::vector<int> lists[LISTS], all;
  std::vector<pair_of_list> pairs = pairs_in_order(w, a, b);
  tri_paired_list list = {};
  if (tri_is_scored(&w->p))
    share_out(w, pairs, lists);
  else
    for (const pair_of_list &pair : pairs) lists[0].push_back(pair.row);
  for (const std::vector<int> &rows : lists) all.insert(all.end(), rows.begin(), rows.end());
  const size_t bytes = all.size() * sizeof(int);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->letters->rows, (int64_t)bytes, "list of pairs"));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(w->letters->rows.data, all.data(), bytes, cudaMemcpyHostToDevice, w->stream));
  list.rows = (const int *)w->letters->rows.data;
  list.lo = (int)a, list.wide = w->p.type == TSL_F64, list.out = w->out.data;
  list.most = (int)std::min<int64_t>(round_up(w->p.longest, TRI_LETTERS_PACKED), TRI_ALIGN_SHORT);
  for (int kind = 0; kind < LISTS; list.rows += list.n, kind++) {
    list.n = (int)lists[kind].size();
    if (list.n > 0)
      TSL_TRY(tri_is_scored(&w->p) ? launch_align(w, &list, kind) : launch_edit(w, &list));
  }
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream)); /* the vectors end here */
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
    TSL_TRY(run_lists(w, a, b));
  else if (w->p.type == TSL_F64)
    TSL_TRY(run_tiles(w, a, b, (double *)w->out.data));
  else
    TSL_TRY(run_tiles(w, a, b, (float *)w->out.data));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(slab, w->out.data, (size_t)bytes, cudaMemcpyDeviceToHost, w->stream));
done:
  return err;
}
