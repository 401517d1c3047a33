/** @file tri_cpu_records.c  Records of a unit from their files, by all threads of a socket. */
#include "tri_cpu_records.h"

#include "integers.h"
#include "tri_records.h"

#include <omp.h>

struct tri_cpu_records {
  tri_params p; /* the problem's but for `first` */
  letters_reader *reader;
};

tsl_err tri_cpu_records_open(tsl_worker *w, const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(1, sizeof *w->records, "a reader of records", (void **)&w->records));
  w->records->p = *tri_params_of(problem);
  w->p = &w->records->p;
  TSL_TRY(tri_records_open(problem, w->threads, &w->records->reader));
done:
  return err;
}

void tri_cpu_records_close(tri_cpu_records **records) {
  if (*records == NULL) return;
  letters_reader_close(&(*records)->reader);
  tsl_free(*records);
  *records = NULL;
}

tsl_err tri_cpu_records_take(tsl_worker *w, tsl_unit *unit) {
  tsl_err err = TSL_OK;
  tri_failure first = {.code = TSL_OK};
  tri_cpu_records *const r = w->records;
  const int64_t lo = unit->lo[0], hi = unit->hi[0];
  TSL_TRY(tri_records_aim(r->reader, lo, hi));
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
  for (int64_t k = 0; k < letters_reader_pieces(r->reader); k++) {
    if (tri_failure_is(&first)) continue;
    const tsl_err failed = letters_reader_fill(r->reader, k, omp_get_thread_num());
    if (failed != TSL_OK) tri_failure_note(&first, failed);
  }
  TSL_TRY(tri_failure_take(&first));
  tri_records_ahead(r->reader, hi, tsl_min(hi + (hi - lo), w->p->columns));
  w->letters.sequences = tri_records_sequences(r->reader, &r->p.first);
  if (w->tracer != NULL) tri_tracer_take(w->tracer, &w->letters.sequences);
  unit->lo[0] = 0, unit->hi[0] = hi - lo;
done:
  return err;
}
