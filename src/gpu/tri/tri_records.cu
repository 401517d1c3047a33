/* Records that a card's rank reads itself (params.streamed): by as many threads as it has cores,
 * into one set while kernels see the other. Kernels of a group begin while the last pairs of the
 * one before are at work. */
#include "tri_letters.cuh"

#include <algorithm>

/* Room for a group of units, so that none is looked for while the card waits. */
static tsl_err open_set(tri_gpu *w, tri_letters_set *set) {
  tsl_err err = TSL_OK;
  const letters_memory pinned = {tsl_gpu_host_alloc, tsl_gpu_host_free};
  const int64_t all = tri_records_bytes(w->problem, 0, w->p.columns);
  const int64_t bytes = std::min<int64_t>(all, TRI_WINDOW_BYTES / 2);
  TSL_CUDA_TRY(cudaStreamCreateWithFlags(&set->stream, cudaStreamNonBlocking));
  TSL_CUDA_TRY(cudaEventCreateWithFlags(&set->sent, cudaEventDisableTiming));
  TSL_CUDA_TRY(cudaEventCreateWithFlags(&set->seen, cudaEventDisableTiming));
  TSL_TRY(tri_records_open(w->problem, tsl_team_slots(w->letters->team), &set->records));
  TSL_TRY(letters_reader_memory(set->records, &pinned, bytes / TRI_RECORD_BYTES, bytes));
done:
  return err;
}

tsl_err tri_letters_readers(tri_gpu *w) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_team_open(std::min<int>(tsl_usable_cores(), TRI_READERS), &w->letters->team));
  for (tri_letters_set &set : w->letters->sets) TSL_TRY(open_set(w, &set));
  w->letters->own = w->stream;
done:
  return err;
}

tsl_err tri_letters_join(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  TSL_CUDA_TRY(cudaEventRecord(l->sets[l->set].seen, w->stream));
  TSL_CUDA_TRY(cudaStreamWaitEvent(w->stream, l->sets[1 - l->set].seen, 0));
done:
  return err;
}

/* A range of one piece. */
static tsl_err fill_piece(void *context, int slot, int64_t piece, int64_t) {
  return letters_reader_fill((letters_reader *)context, piece, slot);
}

tsl_err tri_letters_read(tri_gpu *w, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  tri_letters_set *const next = &l->sets[1 - l->set];
  letters_reader *const records = next->records;
  int64_t first = 0;
  TSL_CUDA_TRY(cudaEventRecord(l->sets[l->set].seen, w->stream));
  TSL_CUDA_TRY(cudaEventSynchronize(next->sent));
  TSL_TRY(tri_records_aim(records, lo, hi));
  TSL_TRY(tsl_team_run(l->team, letters_reader_pieces(records), 1, fill_piece, records));
  tri_records_ahead(records, hi, std::min(hi + (hi - lo), w->p.columns));
  l->sequences = tri_records_sequences(records, &first);
  TSL_CUDA_TRY(cudaStreamWaitEvent(l->moves, next->seen, 0));
  TSL_TRY(tri_letters_upload(w, &l->sequences, first + hi - lo, next));
  TSL_CUDA_TRY(cudaEventRecord(next->sent, l->moves));
  TSL_CUDA_TRY(cudaStreamWaitEvent(next->stream, next->sent, 0));
  l->set = 1 - l->set, w->stream = next->stream;
  w->p.first = first;
done:
  return err;
}
