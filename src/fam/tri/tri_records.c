/* Records of a unit, read by whoever computes it. */
#include "tri_records.h"

#include <string.h>

static const letters_mark *marks_of(const tsl_problem *problem, int file) {
  const letters_mark *marks = problem->fields[TRI_MARKS].data;
  return marks + (file > 0 ? tri_params_of(problem)->records_pieces[0] + 1 : 0);
}

/** Of a file that is gzip; else none. */
static letters_entries entries_of(const tsl_problem *problem, int file) {
  const tri_params *p = tri_params_of(problem);
  letters_entry *list = problem->fields[TRI_ENTRIES].data;
  uint8_t *histories = problem->fields[TRI_HISTORIES].data;
  const int64_t *n = p->records_entries;
  if (file > 0 && n[0] > 0) histories += list[n[0]].history, list += n[0] + 1;
  return (letters_entries){.list = list, .n = n[file], .histories = histories};
}

tsl_err tri_records_open(const tsl_problem *problem, int slots, letters_reader **reader) {
  const tri_params *p = tri_params_of(problem);
  const char *path = problem->fields[TRI_FILES].data;
  letters_marked files[LETTERS_FILES];
  for (int i = 0; i < LETTERS_FILES; i++) {
    files[i] = (letters_marked){.ask = {.path = path, .alphabet = p->records_alphabet[i]},
                                .format = p->records_format[i],
                                .marks = marks_of(problem, i),
                                .n = p->records_pieces[i],
                                .entries = entries_of(problem, i)};
    path += strlen(path) + 1;
  }
  return letters_reader_open(files, LETTERS_FILES, slots, reader);
}

tsl_err tri_records_aim(letters_reader *reader, int64_t lo, int64_t hi) {
  const int64_t from[LETTERS_FILES] = {lo, lo}, to[LETTERS_FILES] = {hi, hi};
  return letters_reader_aim(reader, from, to);
}

void tri_records_ahead(const letters_reader *reader, int64_t lo, int64_t hi) {
  const int64_t from[LETTERS_FILES] = {lo, lo}, to[LETTERS_FILES] = {hi, hi};
  letters_reader_ahead(reader, from, to);
}

tri_sequences tri_records_sequences(const letters_reader *reader, int64_t *first) {
  int64_t at[LETTERS_FILES];
  const letters_set *set = letters_reader_set(reader, at);
  *first = at[1] - at[0];
  return (tri_sequences){set->codes, set->starts + at[0]};
}

int64_t tri_records_bytes(const tsl_problem *problem, int64_t lo, int64_t hi) {
  const tri_params *p = tri_params_of(problem);
  int64_t bytes = (hi - lo) * TRI_RECORD_BYTES;
  for (int i = 0; i < LETTERS_FILES; i++) {
    const letters_mark *marks = marks_of(problem, i);
    const int64_t n = p->records_pieces[i];
    bytes += marks[letters_marked_find(marks, n, hi - 1) + 1].letters -
             marks[letters_marked_find(marks, n, lo)].letters;
  }
  return bytes;
}
