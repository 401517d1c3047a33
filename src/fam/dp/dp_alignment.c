/* The alignment as text: one line in the manner of SAM, then the letters. */
#include "dp_family.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void write_cigar(const dp_own *own, FILE *file) {
  static const char letters[] = {
      [DP_MATCH] = '=', [DP_MISMATCH] = 'X', [DP_INSERT] = 'D', [DP_DELETE] = 'I'};
  for (int64_t k = own->n_steps - 1; k >= 0; k--)
    fprintf(file, "%lld%c", (long long)own->steps[k][1], letters[own->steps[k][0]]);
  if (own->n_steps == 0) fputc('*', file);
}

/** Up to 60 columns of the alignment at a time: a, marks, b. */
typedef struct block {
  char a[61], marks[61], b[61];
  int n;
  int64_t i, j; /* letters taken */
} block;

static void flush_block(block *t, FILE *file) {
  if (t->n == 0) return;
  t->a[t->n] = t->marks[t->n] = t->b[t->n] = '\0';
  fprintf(file, "a %12lld %s\n  %12s %s\nb %12lld %s\n\n", (long long)t->i, t->a, "", t->marks,
          (long long)t->j, t->b);
  t->n = 0;
}

/** A character that keeps to its column. */
static char shown(int32_t alphabet, uint8_t code) {
  const char letter = dp_letter(alphabet, code);
  return isprint((unsigned char)letter) ? letter : '?';
}

static void write_column(const tsl_problem *problem, int64_t op, block *t, FILE *file) {
  const int32_t alphabet = dp_own_of(problem)->alphabet;
  const uint8_t *a = problem->fields[DP_A].data, *b = problem->fields[DP_B].data;
  t->a[t->n] = op == DP_INSERT ? '-' : shown(alphabet, a[t->i++]);
  t->b[t->n] = op == DP_DELETE ? '-' : shown(alphabet, b[t->j++]);
  t->marks[t->n++] = op == DP_MATCH ? '|' : op == DP_MISMATCH ? '.' : ' ';
  if (t->n == 60) flush_block(t, file);
}

static void write_text(const tsl_problem *problem, FILE *file) {
  const dp_own *own = dp_own_of(problem);
  const int64_t goal = *(const int64_t *)problem->fields[DP_GOAL].data;
  block t = {.i = own->begin[0], .j = own->begin[1]};
  fprintf(file, "@CO\ta is the query, b the reference; positions from 1\n");
  fprintf(file, "a\t0\tb\t%lld\t255\t", (long long)own->begin[1] + 1);
  if (own->begin[0] > 0) fprintf(file, "%lldS", (long long)own->begin[0]);
  write_cigar(own, file);
  if (own->end[0] < dp_params_of(problem)->n)
    fprintf(file, "%lldS", (long long)(dp_params_of(problem)->n - own->end[0]));
  fprintf(file, "\t*\t0\t0\t*\t*\tAS:i:%lld\n\n", (long long)goal);
  for (int64_t k = own->n_steps - 1; k >= 0; k--)
    for (int64_t r = 0; r < own->steps[k][1]; r++)
      write_column(problem, own->steps[k][0], &t, file);
  flush_block(&t, file);
}

tsl_err dp_write_alignment(const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const char *path = dp_own_of(problem)->alignment;
  FILE *file = fopen(path, "w");
  if (file == NULL) TSL_FAIL(TSL_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
  write_text(problem, file);
  const bool bad = ferror(file) != 0;
  const int closed = fclose(file);
  if (bad || closed != 0) TSL_FAIL(TSL_ERR_IO, "%s: not written: %s", path, strerror(errno));
done:
  return err;
}
