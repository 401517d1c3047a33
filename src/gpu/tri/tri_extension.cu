/* Extensions on a card: memory, and the launches for a strip and for a list of pairs. */
#include "tri_extension.cuh"

#include <algorithm>

tsl_err tri_extension_open(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  const int64_t bytes = TRI_LETTERS_THREADS / 32 * tri_extension_cells(w->p.longest) *
                        (int64_t)sizeof(int); /* of a block */
  int blocks = 0;
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, tri_extension_kernel<tri_extension_of_list>, TRI_LETTERS_THREADS, 0));
  l->resident = tri_letters_at_once(w, bytes, blocks);
  TSL_TRY(tri_letters_below(w, l->resident * bytes, "wide antidiagonals"));
done:
  return err;
}

/* n pairs of a source. */
template <class S>
static tsl_err launch(tri_gpu *w, const S &source, int64_t n, unsigned *counter) {
  tsl_err err = TSL_OK;
  const int64_t wanted = tsl_ceil_div(n, TRI_LETTERS_THREADS / 32);
  TSL_LAUNCH(tri_extension_kernel<S>,
             dim3((unsigned)std::min<int64_t>(wanted, w->letters->resident)), TRI_LETTERS_THREADS,
             0, w->stream, tri_letters_args_of(w), source, counter);
done:
  return err;
}

tsl_err tri_extension_list(tri_gpu *w, const tri_paired_list *list, unsigned *counter) {
  const tri_extension_of_list source = {*list};
  return launch(w, source, list->n, counter);
}

template <class R>
tsl_err tri_extension_rows_run(tri_gpu *w, const tri_letters_strip_of<R> *strip) {
  tsl_err err = TSL_OK;
  const tri_extension_of_strip<R> source = {*strip};
  unsigned *const counter = (unsigned *)w->letters->sets->counter.data;
  const int64_t n = (strip->b - strip->a) * (int64_t)(strip->c1 - strip->c0);
  TSL_TRY(tri_letters_order(w, strip->a, strip->b, &w->letters->sets->rows, 0, NULL));
  TSL_CUDA_TRY(cudaMemsetAsync(counter, 0, sizeof *counter, w->stream));
  TSL_TRY(launch(w, source, n, counter));
done:
  return err;
}

template tsl_err tri_extension_rows_run<float>(tri_gpu *, const tri_letters_strip_of<float> *);
template tsl_err tri_extension_rows_run<double>(tri_gpu *, const tri_letters_strip_of<double> *);
