/* Scores of alignments on a card: memory, and the launches that a strip takes. */
#include "tri_align.cuh"

#include <algorithm>

enum { LONG_MEGABYTES = 1024 /* of what waits between tiles of texts that are not short */ };

/* Letters of the longest text, as its words hold them. */
static int64_t longest_padded(const tri_gpu *w) {
  return tsl_ceil_div(w->p.longest, TRI_LETTERS_PACKED) * TRI_LETTERS_PACKED;
}

/* What waits of a block for each letter of a text. */
static int64_t waiting_bytes(void) {
  return 2 * TRI_LETTERS_THREADS * (int64_t)sizeof(uint32_t);
}

tsl_err tri_align_open(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  const int64_t longest = longest_padded(w), most = std::min<int64_t>(longest, TRI_ALIGN_SHORT);
  const int64_t long_blocks = ((int64_t)LONG_MEGABYTES << 20) / (longest * waiting_bytes());
  int blocks = 0;
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, tri_align_kernel<tri_align_two, true, float>, TRI_LETTERS_THREADS, 0));
  l->resident = w->processors * std::max(blocks, 1);
  l->resident_long = (int)std::min<int64_t>(l->resident, std::max<int64_t>(long_blocks, 1));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &l->counter, sizeof(unsigned), "counter of items"));
  TSL_TRY(tsl_gpu_reserve(
      &w->memory, &l->below,
      std::max(l->resident * most, l->resident_long * (longest > TRI_ALIGN_SHORT ? longest : 0)) *
          waiting_bytes(),
      "gaps between tiles of patterns"));
done:
  return err;
}

/* Tables of P with texts of a range. */
template <class P, class R>
static tsl_err launch(tri_gpu *w, const tri_letters_strip_of<R> *strip, tri_align_range range,
                      int blocks) {
  tsl_err err = TSL_OK;
  unsigned *const counter = (unsigned *)w->letters->counter.data;
  const auto kernel =
      w->p.function == TRI_LOCAL ? tri_align_kernel<P, true, R> : tri_align_kernel<P, false, R>;
  TSL_CUDA_TRY(cudaMemsetAsync(counter, 0, sizeof *counter, w->stream));
  TSL_LAUNCH(kernel, dim3((unsigned)blocks), TRI_LETTERS_THREADS, 0, w->stream,
             tri_letters_args_of(w), *strip, range, counter);
done:
  return err;
}

/* Both widths, where there may be tables of them. */
template <class R>
static tsl_err launch_range(tri_gpu *w, const tri_letters_strip_of<R> *strip, tri_align_range range,
                            int blocks) {
  tsl_err err = TSL_OK;
  const int64_t longest = longest_padded(w);
  if (tri_is_narrow(1, 1, &w->p)) TSL_TRY((launch<tri_align_two, R>(w, strip, range, blocks)));
  if (!tri_is_narrow(longest, longest, &w->p))
    TSL_TRY((launch<tri_align_one, R>(w, strip, range, blocks)));
done:
  return err;
}

template <class R> tsl_err tri_align_rows(tri_gpu *w, const tri_letters_strip_of<R> *strip) {
  tsl_err err = TSL_OK;
  const int longest = (int)longest_padded(w);
  const tri_align_range few = {1, std::min(longest, (int)TRI_ALIGN_SHORT)},
                        many = {TRI_ALIGN_SHORT + 1, longest};
  TSL_TRY(tri_letters_order_rows(w, strip->a, strip->b));
  TSL_TRY(launch_range(w, strip, few, w->letters->resident));
  if (longest > TRI_ALIGN_SHORT) TSL_TRY(launch_range(w, strip, many, w->letters->resident_long));
done:
  return err;
}

template tsl_err tri_align_rows<float>(tri_gpu *, const tri_letters_strip_of<float> *);
template tsl_err tri_align_rows<double>(tri_gpu *, const tri_letters_strip_of<double> *);
