/* Each worker's line is asked for on the compute thread, gathered on rank 0, printed, and stored as
 * /run/memory. */
#include "tell.h"

#include "agree.h"

/* tell runs on the hand. */
typedef struct question {
  tsl_task task;
  const tsl_station *station;
  char *text; /* [TSL_TELL] */
} question;

static tsl_err ask_worker(tsl_task *task) {
  const question *q = (const question *)task;
  q->station->backend->tell(q->station->worker, q->text);
  return TSL_OK;
}

/* Lines without text go. */
static int64_t keep_lines(tsl_told *lines, int size) {
  int64_t n = 0;
  for (int r = 0; r < size; r++)
    if (lines[r].text[0] != '\0') lines[n++] = lines[r];
  return n;
}

tsl_err tsl_tell_ask(tsl_session *s, tsl_record *record) {
  tsl_err err = TSL_OK;
  tsl_told mine = {.rank = s->rank};
  question q = {.task.run = ask_worker, .station = &s->station, .text = mine.text};
  TSL_AGREE(s->comm,
            s->station.backend->tell != NULL ? tsl_hand_call(s->station.hand, &q.task) : TSL_OK);
  TSL_AGREE(s->comm, s->rank == 0
                         ? tsl_alloc(s->size, sizeof *record->told, "lines", (void **)&record->told)
                         : TSL_OK);
  TSL_MPI(MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, record->told, (int)sizeof mine, MPI_BYTE, 0,
                     s->comm));
  if (s->rank == 0) record->n_told = keep_lines(record->told, s->size);
done:
  return err;
}

void tsl_tell_print(const tsl_record *record, FILE *file) {
  for (int64_t k = 0; k < record->n_told; k++)
    fprintf(file, "rank %d %s\n", record->told[k].rank, record->told[k].text);
  if (record->n_told > 0) fputc('\n', file);
}

static const tsl_column columns[] = {
    {"rank", "", offsetof(tsl_told, rank), TSL_I32, 0},
    {"told", "", offsetof(tsl_told, text), 0, TSL_TELL},
    {NULL, NULL, 0, 0, 0},
};

tsl_err tsl_tell_store(const tsl_record *record, tsl_out *out) {
  return tsl_out_table(out, "/run/memory", columns, record->told, sizeof *record->told,
                       record->n_told);
}
