/* Records that a card's rank reads itself (params.streamed): by as many threads as it has cores. */
#include "tri_letters.cuh"

#include "tri_host_threads.cuh"

#include <algorithm>

static tsl_err fill_piece(void *context, int thread, int64_t piece) {
  return letters_reader_fill((letters_reader *)context, piece, thread);
}

/* Room for the records of a group of many units; larger ones take theirs when they are read. */
tsl_err tri_letters_reader(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  const letters_memory pinned = {tsl_gpu_host_alloc, tsl_gpu_host_free};
  const int64_t all = tri_records_bytes(w->problem, 0, w->p.columns);
  const int64_t bytes = std::min<int64_t>(all, TRI_WINDOW_BYTES / 2);
  l->threads = tri_usable_cores();
  TSL_TRY(tri_records_open(w->problem, l->threads, &l->records));
  TSL_TRY(letters_reader_memory(l->records, &pinned, bytes / TRI_RECORD_BYTES, bytes));
done:
  return err;
}

tsl_err tri_letters_read(tri_gpu *w, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  tri_letters_set *const next = &l->sets[1 - l->set];
  int64_t first = 0;
  TSL_CUDA_TRY(cudaEventRecord(l->sets[l->set].seen, w->stream));
  TSL_TRY(tri_records_aim(l->records, lo, hi));
  TSL_TRY(
      tri_host_threads_run(l->threads, letters_reader_pieces(l->records), fill_piece, l->records));
  tri_records_ahead(l->records, hi, std::min(hi + (hi - lo), w->p.columns));
  l->sequences = tri_records_sequences(l->records, &first);
  TSL_CUDA_TRY(cudaStreamWaitEvent(l->moves, next->seen, 0));
  TSL_TRY(tri_letters_upload(w, &l->sequences, first + hi - lo, next));
  l->set = 1 - l->set;
  w->p.first = first;
done:
  return err;
}
