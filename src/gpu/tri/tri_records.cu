/* Records that a card's rank reads itself (params.streamed): by as many threads as it has cores. */
#include "tri_letters.cuh"

#include <algorithm>
#include <pthread.h>
#include <vector>

/* A thread's turn: pieces until none is left, or one fails. */
struct turn {
  letters_reader *reader;
  int64_t *next;
  int64_t n;
  int slot;
  pthread_t thread;
  bool begun;
  tsl_err_copy error;
};

static void *fill_pieces(void *turn_) {
  turn *const t = (turn *)turn_;
  tsl_err err = TSL_OK;
  int64_t k;
  while (err == TSL_OK && (k = __atomic_fetch_add(t->next, 1, __ATOMIC_RELAXED)) < t->n)
    err = letters_reader_fill(t->reader, k, t->slot);
  if (err == TSL_OK) return nullptr;
  tsl_err_save(err, &t->error);
  __atomic_store_n(t->next, t->n, __ATOMIC_RELAXED);
  return nullptr;
}

/* All pieces; threads that cannot begin are not missed. */
static tsl_err fill_all(letters_reader *reader, int threads) {
  const int64_t n = letters_reader_pieces(reader);
  std::vector<turn> turns((size_t)std::max<int64_t>(1, std::min<int64_t>(n, threads)));
  int64_t next = 0;
  for (size_t k = 0; k < turns.size(); k++) {
    turn *const t = &turns[k];
    t->reader = reader, t->next = &next, t->n = n, t->slot = (int)k;
    if (k > 0) t->begun = pthread_create(&t->thread, nullptr, fill_pieces, t) == 0;
  }
  fill_pieces(&turns[0]);
  for (turn &t : turns)
    if (t.begun) (void)pthread_join(t.thread, nullptr);
  for (const turn &t : turns)
    if (t.error.code != TSL_OK) return tsl_err_restore(&t.error);
  return TSL_OK;
}

tsl_err tri_letters_take(tri_gpu *w, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  int64_t first = 0;
  TSL_TRY(tri_records_aim(l->records, lo, hi));
  TSL_TRY(fill_all(l->records, l->threads));
  tri_records_ahead(l->records, hi, std::min(hi + (hi - lo), w->p.columns));
  l->sequences = tri_records_sequences(l->records, &first);
  w->p.first = first;
  TSL_TRY(tri_letters_upload(w, &l->sequences, first + hi - lo));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream)); /* the set is read anew by the next */
done:
  return err;
}
