/* Alignments as a SAM file (SAM format specification 1.6): a is the query, b the reference; the
 * letters, in blocks for people, are comments; or as PAF, or a table. */
#include "dp_family.h"

#include "letters_alignment.h"
#include "new_file.h"

#include <ctype.h>
#include <stdio.h>

enum { BLOCK = 60 };

_Static_assert((int)DP_MATCH == (int)LETTERS_SAME && (int)DP_MISMATCH == (int)LETTERS_OTHER &&
                   (int)DP_INSERT == (int)LETTERS_OF_REFERENCE &&
                   (int)DP_DELETE == (int)LETTERS_OF_QUERY,
               "operations of alignments");

letters_alignment dp_alignment_of(const tsl_problem *problem) {
  const dp_own *own = dp_own_of(problem);
  const dp_params *p = dp_params_of(problem);
  return (letters_alignment){.query = {own->a.name, "a", own->a.letters, own->a.n},
                             .reference = {own->b.name, "b", own->b.letters, p->m},
                             .steps = (const int64_t(*)[2])own->steps,
                             .n_steps = own->n_steps,
                             .begin = {own->begin[0], own->begin[1]},
                             .end = {own->end[0], own->end[1]},
                             .value = *(const int64_t *)problem->fields[DP_GOAL].data,
                             .distance = p->problem == DP_EDIT};
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

static void write_letters(const dp_own *own, const letters_alignment *a, FILE *file) {
  block t = {.i = a->begin[0], .j = a->begin[1]};
  for (int64_t k = a->n_steps - 1; k >= 0; k--)
    for (int64_t r = 0; r < a->steps[k][1]; r++) add_column(own, a->steps[k][0], &t, file);
  flush_block(&t, file);
}

static void write_header(const dp_own *own, FILE *file) {
  const letters_named *reference = &own->list[0].reference;
  letters_sam_begin(file);
  if (reference->n > 0) letters_sam_reference(reference, file);
  letters_sam_program(file);
  fprintf(file, "@CO\ta, the query: %s\n@CO\tb, the reference: %s\n", own->a.about, own->b.about);
  fputs("@CO\tPlace of the last letter of a line, from 1, and the letters\n@CO\t\n", file);
  for (int64_t k = 0; k < own->n_list; k++) {
    if (k > 0)
      fprintf(file, "@CO\talignment %lld, score %lld\n@CO\t\n", (long long)k + 1,
              (long long)own->list[k].value);
    write_letters(own, &own->list[k], file);
  }
}

tsl_err dp_write_alignment(const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const dp_own *own = dp_own_of(problem);
  const letters_format_of_alignments format = letters_alignments_as(own->alignment);
  tsl_new_file file = {.stream = NULL};
  TSL_TRY(tsl_new_file_open(own->alignment, &file));
  if (format == LETTERS_AS_TABLE) letters_table_head(own->list[0].distance, file.stream);
  if (format == LETTERS_AS_SAM || format == LETTERS_AS_NONE) write_header(own, file.stream);
  for (const letters_alignment *a = own->list; a < own->list + own->n_list; a++)
    if (format == LETTERS_AS_TABLE)
      letters_table_record(a, file.stream);
    else if (format != LETTERS_AS_PAF)
      letters_sam_record(a, file.stream);
    else if (a->n_steps > 0)
      letters_paf_record(a, file.stream);
done:
  return tsl_new_file_close(&file, err);
}
