/* Events in a growing array of each rank, and JSON formatted by hand, as a run may have a million
 * events. */
#include "trace.h"

#include "clock.h"
#include "collective_error.h"
#include "files.h"
#include "gather.h"
#include "new_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

tsl_err tsl_trace_start(MPI_Comm comm, bool on, tsl_timeline *trace) {
  tsl_err err = TSL_OK;
  *trace = (tsl_timeline){.on = on};
  TSL_MPI(MPI_Comm_rank(comm, &trace->rank));
  TSL_MPI(MPI_Barrier(comm));
  trace->origin = tsl_now();
done:
  return err;
}

tsl_err tsl_trace_add(tsl_timeline *trace, tsl_track track, const char *name, int64_t unit,
                      double start, double seconds) {
  tsl_err err = TSL_OK;
  tsl_event *event = NULL;
  if (!trace->on) return TSL_OK;
  TSL_TRY(tsl_grow((void **)&trace->events, trace->n, 1, &trace->capacity, sizeof *trace->events,
                   "trace events"));
  event = &trace->events[trace->n++];
  *event = (tsl_event){.track = track, .rank = trace->rank, .unit = unit, .seconds = seconds};
  event->start = start - trace->origin;
  memcpy(event->name, name, strnlen(name, sizeof event->name - 1)); /* the rest is 0 */
done:
  return err;
}

/* A run may have a million events: these put one down in some hundred instructions, where a
 * conversion of printf takes thousands. Each returns the place behind what it wrote. */

static char *put_text(char *to, const char *text) {
  const size_t n = strlen(text);
  memcpy(to, text, n);
  return to + n;
}

static char *put_number(char *to, int64_t value, int digits) {
  char reversed[24];
  int n = 0;
  if (value < 0) *to++ = '-';
  for (uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value; left > 0 || n < digits;
       left /= 10)
    reversed[n++] = (char)('0' + left % 10);
  while (n > 0) *to++ = reversed[--n];
  return to;
}

/* Seconds as microseconds, the unit of the format, to a nanosecond. */
static char *put_micro(char *to, double seconds) {
  const int64_t nano = llround(1e9 * fabs(seconds));
  if (seconds < 0 && nano > 0) *to++ = '-';
  to = put_number(to, nano / 1000, 1);
  *to++ = '.';
  return put_number(to, nano % 1000, 3);
}

static void print_event(FILE *file, const tsl_event *e) {
  char line[256]; /* five numbers of at most 24 characters, a name of 23, and 85 between them */
  char *to = put_text(line, ",\n{\"name\":\"");
  to = put_text(to, e->name);
  to = put_number(put_text(to, "\",\"ph\":\"X\",\"pid\":"), e->rank, 1);
  to = put_number(put_text(to, ",\"tid\":"), e->track, 1);
  to = put_micro(put_text(to, ",\"ts\":"), e->start);
  to = put_micro(put_text(to, ",\"dur\":"), e->seconds);
  if (e->unit >= 0) {
    to = put_number(put_text(to, ",\"args\":{\"unit\":"), e->unit, 1);
    *to++ = '}';
  }
  *to++ = '}';
  (void)fwrite(line, 1, (size_t)(to - line), file);
}

static void print_names(FILE *file, int n_ranks) {
  for (int r = 0; r < n_ranks; r++)
    fprintf(file,
            ",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"rank %d\"}}"
            ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"args\":{\"name\":"
            "\"device\"}}"
            ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":1,\"args\":{\"name\":"
            "\"main\"}}",
            r, r, r, r);
}

static tsl_err write_json(const char *path, const tsl_event *events, int64_t n, int n_ranks) {
  tsl_err err = TSL_OK;
  tsl_new_file file = {.stream = NULL};
  TSL_TRY(tsl_new_file_open(path, &file));
  fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", file.stream);
  fputs("{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":0,\"args\":{\"labels\":\"tesela\"}}",
        file.stream);
  print_names(file.stream, n_ranks);
  for (int64_t k = 0; k < n; k++) print_event(file.stream, &events[k]);
  fputs("\n]}\n", file.stream);
done:
  return tsl_new_file_close(&file, err);
}

tsl_err tsl_trace_write(MPI_Comm comm, const tsl_timeline *trace, const char *path) {
  tsl_err err = TSL_OK;
  void *all = NULL;
  int64_t n = 0;
  int size = 1;
  TSL_MPI(MPI_Comm_size(comm, &size));
  TSL_TRY(tsl_gather_rows(comm, trace->events, trace->n, sizeof *trace->events, &all, &n));
  if (trace->rank == 0) (void)tsl_files_lose("--trace", write_json(path, all, n, size));
done:
  tsl_free(all);
  return err;
}

void tsl_trace_clear(tsl_timeline *trace) {
  tsl_free(trace->events);
  *trace = (tsl_timeline){0};
}
