/* Threads that take items by a counter until none is left, or one fails. */
#include "tri_host_threads.cuh"

#include <algorithm>
#include <pthread.h>
#include <sched.h>
#include <vector>

namespace {

enum { MOST_THREADS = 64 };

/* What all threads share. */
struct work {
  tri_host_item run;
  void *context;
  int64_t n, next; /* taken atomically */
};

struct turn {
  work *all;
  int thread;
  pthread_t id;
  bool begun;
  int64_t item; /* the last one: which has failed, if error says so */
  tsl_err_copy error;
};

void *take_items(void *turn_) {
  turn *const t = (turn *)turn_;
  work *const all = t->all;
  tsl_err err = TSL_OK;
  while (err == TSL_OK && (t->item = __atomic_fetch_add(&all->next, 1, __ATOMIC_RELAXED)) < all->n)
    err = all->run(all->context, t->thread, t->item);
  if (err == TSL_OK) return nullptr;
  tsl_err_save(err, &t->error);
  __atomic_store_n(&all->next, all->n, __ATOMIC_RELAXED);
  return nullptr;
}

} // namespace

int tri_usable_cores(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : n;
}

tsl_err tri_host_threads_run(int threads, int64_t n, tri_host_item run, void *context) {
  work all = {run, context, n, 0};
  std::vector<turn> turns((size_t)std::max<int64_t>(1, std::min<int64_t>(n, threads)));
  const turn *first = nullptr;
  for (size_t k = 0; k < turns.size(); k++) {
    turn *const t = &turns[k];
    t->all = &all, t->thread = (int)k;
    if (k > 0) t->begun = pthread_create(&t->id, nullptr, take_items, t) == 0;
  }
  take_items(&turns[0]);
  for (turn &t : turns)
    if (t.begun) (void)pthread_join(t.id, nullptr);
  for (const turn &t : turns)
    if (t.error.code != TSL_OK && (first == nullptr || t.item < first->item)) first = &t;
  return first != nullptr ? tsl_err_restore(&first->error) : TSL_OK;
}
