/* Records that a card's rank reads itself (params.streamed): by as many threads as it has cores. */
#include "tri_letters.cuh"

#include "tri_host_threads.cuh"

#include <algorithm>

static tsl_err fill_piece(void *context, int thread, int64_t piece) {
  return letters_reader_fill((letters_reader *)context, piece, thread);
}

tsl_err tri_letters_read(tri_gpu *w, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  tri_sequences s = {};
  int64_t first = 0;
  l->read[0] = l->read[1] = 0;
  TSL_TRY(tri_records_aim(l->records, lo, hi));
  TSL_TRY(
      tri_host_threads_run(l->threads, letters_reader_pieces(l->records), fill_piece, l->records));
  tri_records_ahead(l->records, hi, std::min(hi + (hi - lo), w->p.columns));
  s = tri_records_sequences(l->records, &first);
  TSL_TRY(tri_letters_upload(w, &s, first + hi - lo, &l->sets[1 - l->set]));
  l->read[0] = lo, l->read[1] = hi;
done:
  return err;
}

tsl_err tri_letters_take(tri_gpu *w, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  int64_t first = 0;
  if (l->read[0] != lo || l->read[1] != hi) TSL_TRY(tri_letters_read(w, lo, hi));
  l->read[0] = l->read[1] = 0;
  l->set = 1 - l->set;
  l->sequences = tri_records_sequences(l->records, &first);
  w->p.first = first;
done:
  return err;
}
