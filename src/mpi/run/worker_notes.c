/* Each worker's line is asked for on the compute thread, gathered on rank 0, printed, and stored as
 * /run/memory. */
#include "worker_notes.h"

#include "collective_error.h"

/* tell runs on the compute thread. */
typedef struct query {
  tsl_task task;
  const tsl_executor *executor;
  char *text; /* [TSL_NOTES] */
} query;

static tsl_err ask_worker(tsl_task *task) {
  const query *q = (const query *)task;
  q->executor->backend->notes(q->executor->worker, q->text);
  return TSL_OK;
}

/* Lines without text go. */
static int64_t keep_lines(tsl_worker_note *lines, int size) {
  int64_t n = 0;
  for (int r = 0; r < size; r++)
    if (lines[r].text[0] != '\0') lines[n++] = lines[r];
  return n;
}

tsl_err tsl_worker_notes_gather(tsl_session *s, tsl_record *record) {
  tsl_err err = TSL_OK;
  tsl_worker_note mine = {.rank = s->rank};
  query q = {.task.run = ask_worker, .executor = &s->executor, .text = mine.text};
  TSL_COLLECTIVE_TRY(s->comm, s->executor.backend->notes != NULL
                                  ? tsl_compute_thread_call(s->executor.thread, &q.task)
                                  : TSL_OK);
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? tsl_alloc(s->size, sizeof *record->told, "lines",
                                                       (void **)&record->told)
                                           : TSL_OK);
  TSL_MPI(MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, record->told, (int)sizeof mine, MPI_BYTE, 0,
                     s->comm));
  if (s->rank == 0) record->n_told = keep_lines(record->told, s->size);
done:
  return err;
}

void tsl_worker_notes_print(const tsl_record *record, FILE *file) {
  for (int64_t k = 0; k < record->n_told; k++)
    fprintf(file, "rank %d %s\n", record->told[k].rank, record->told[k].text);
  if (record->n_told > 0) fputc('\n', file);
}

static const tsl_column columns[] = {
    TSL_COLUMN(tsl_worker_note, rank, ""),
    TSL_TEXT_COLUMN(tsl_worker_note, text, "told"),
    TSL_NO_COLUMN,
};

tsl_err tsl_worker_notes_store(const tsl_record *record, tsl_out *out) {
  return tsl_out_table(out, "/run/memory", columns, record->told, sizeof *record->told,
                       record->n_told);
}
