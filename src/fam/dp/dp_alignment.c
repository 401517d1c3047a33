/* The alignment as a SAM file (SAM format specification 1.6): a is the query, b the reference; the
 * letters, in blocks for people, are comments. */
#include "dp_family.h"

#include "new_file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
  UNMAPPED = 4,                /* flag: nothing is aligned, or there is no reference */
  LONGEST_RUN = (1 << 28) - 1, /* of one operation: BAM has 28 bits for it */
  BLOCK = 60
};

/* ---- names */

/* Characters that names of references may have; queries may have all but '@'. */
static bool is_for_reference(char c, bool first) {
  if (c == '*' || c == '=') return !first;
  return isalnum((unsigned char)c) || (c != '\0' && strchr("!#$%&+./:;?@^_|~-", c) != NULL);
}

/* The name of a record, what SAM does not allow as '_'; `standard` for a sequence without one. */
static void write_name(const dp_sequence *sequence, const char *standard, bool reference,
                       FILE *file) {
  const char *name = sequence->name[0] != '\0' ? sequence->name : standard;
  for (const char *c = name; *c != '\0'; c++)
    fputc((reference ? is_for_reference(*c, c == name) : isgraph((unsigned char)*c) && *c != '@')
              ? *c
              : '_',
          file);
}

/* ---- the record */

/* Is there a letter of b in the alignment? */
static bool is_mapped(const tsl_problem *problem) {
  const dp_own *own = dp_own_of(problem);
  return own->n_steps > 0 && own->end[1] > own->begin[1];
}

static void write_run(int64_t length, char letter, FILE *file) {
  for (; length > 0; length -= LONGEST_RUN)
    fprintf(file, "%lld%c", (long long)(length < LONGEST_RUN ? length : LONGEST_RUN), letter);
}

static void write_cigar(const tsl_problem *problem, FILE *file) {
  static const char letters[] = {
      [DP_MATCH] = '=', [DP_MISMATCH] = 'X', [DP_INSERT] = 'D', [DP_DELETE] = 'I'};
  const dp_own *own = dp_own_of(problem);
  write_run(own->begin[0], 'S', file);
  for (int64_t k = own->n_steps - 1; k >= 0; k--)
    write_run(own->steps[k][1], letters[own->steps[k][0]], file);
  write_run(dp_params_of(problem)->n - own->end[0], 'S', file);
}

/* Letters of a, where all are such as SAM has. */
static void write_query(const dp_own *own, FILE *file) {
  bool fits = own->a.n > 0;
  for (int64_t k = 0; k < own->a.n && fits; k++)
    fits = isalpha((unsigned char)own->a.letters[k]) || own->a.letters[k] == '.';
  if (fits)
    (void)fwrite(own->a.letters, 1, (size_t)own->a.n, file); /* ferror tells */
  else
    fputc('*', file);
}

/* Letters that differ or stand alone. */
static int64_t differences(const dp_own *own) {
  int64_t n = 0;
  for (int64_t k = 0; k < own->n_steps; k++)
    if (own->steps[k][0] != DP_MATCH) n += own->steps[k][1];
  return n;
}

/* AS: score of an alignment; XD: weighted distance; NM: letters that differ. */
static void write_tags(const tsl_problem *problem, FILE *file) {
  const int64_t goal = *(const int64_t *)problem->fields[DP_GOAL].data;
  fprintf(file, "\t%s:i:%lld", dp_params_of(problem)->problem == DP_EDIT ? "XD" : "AS",
          (long long)goal);
  if (is_mapped(problem)) fprintf(file, "\tNM:i:%lld", (long long)differences(dp_own_of(problem)));
  fputc('\n', file);
}

static void write_record(const tsl_problem *problem, FILE *file) {
  const dp_own *own = dp_own_of(problem);
  const bool mapped = is_mapped(problem);
  write_name(&own->a, "a", false, file);
  fprintf(file, "\t%d\t", mapped ? 0 : UNMAPPED);
  if (mapped) {
    write_name(&own->b, "b", true, file);
    fprintf(file, "\t%lld\t255\t", (long long)own->begin[1] + 1);
    write_cigar(problem, file);
  } else {
    fputs("*\t0\t0\t*", file);
  }
  fputs("\t*\t0\t0\t", file);
  write_query(own, file);
  fputs("\t*", file);
  write_tags(problem, file);
}

/* ---- the header, with the letters as comments */

/* Up to 60 columns of the alignment at a time: a, marks, b. */
typedef struct block {
  char a[BLOCK + 1], marks[BLOCK + 1], b[BLOCK + 1];
  int n;
  int64_t i, j; /* letters taken */
} block;

static void flush_block(block *t, FILE *file) {
  if (t->n == 0) return;
  t->a[t->n] = t->marks[t->n] = t->b[t->n] = '\0';
  fprintf(file, "@CO\ta %12lld %s\n@CO\t  %12s %s\n@CO\tb %12lld %s\n@CO\t\n", (long long)t->i,
          t->a, "", t->marks, (long long)t->j, t->b);
  t->n = 0;
}

/* A character that keeps to its column. */
static char shown(char letter) {
  return (char)(isprint((unsigned char)letter) ? letter : '?');
}

static void add_column(const dp_own *own, int64_t op, block *t, FILE *file) {
  t->a[t->n] = op == DP_INSERT ? '-' : shown(own->a.letters[t->i++]);
  t->b[t->n] = op == DP_DELETE ? '-' : shown(own->b.letters[t->j++]);
  t->marks[t->n++] = op == DP_MATCH ? '|' : op == DP_MISMATCH ? '.' : ' ';
  if (t->n == BLOCK) flush_block(t, file);
}

static void write_letters(const dp_own *own, FILE *file) {
  block t = {.i = own->begin[0], .j = own->begin[1]};
  for (int64_t k = own->n_steps - 1; k >= 0; k--)
    for (int64_t r = 0; r < own->steps[k][1]; r++) add_column(own, own->steps[k][0], &t, file);
  flush_block(&t, file);
}

static void write_header(const tsl_problem *problem, FILE *file) {
  const dp_own *own = dp_own_of(problem);
  const long long m = (long long)dp_params_of(problem)->m;
  fputs("@HD\tVN:1.6\tSO:unknown\n", file);
  if (m > 0) {
    fputs("@SQ\tSN:", file);
    write_name(&own->b, "b", true, file);
    fprintf(file, "\tLN:%lld\n", m);
  }
  fprintf(file, "@PG\tID:tesela\tPN:tesela\n@CO\ta, the query: %s\n@CO\tb, the reference: %s\n",
          own->a.about, own->b.about);
  fputs("@CO\tPlace of the last letter of a line, from 1, and the letters\n@CO\t\n", file);
  write_letters(own, file);
}

tsl_err dp_write_alignment(const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tsl_new_file file = {.stream = NULL};
  TSL_TRY(tsl_new_file_open(dp_own_of(problem)->alignment, &file));
  write_header(problem, file.stream);
  write_record(problem, file.stream);
done:
  return tsl_new_file_close(&file, err);
}
