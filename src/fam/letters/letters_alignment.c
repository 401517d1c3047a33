/* Alignments of two sequences in files. */
#include "letters_alignment.h"

#include <ctype.h>
#include <string.h>

static const char operations[] = {[LETTERS_SAME] = '=',
                                  [LETTERS_OTHER] = 'X',
                                  [LETTERS_OF_REFERENCE] = 'D',
                                  [LETTERS_OF_QUERY] = 'I'};

static int64_t steps_but(const letters_alignment *a, int64_t operation) {
  int64_t n = 0;
  for (int64_t k = 0; k < a->n_steps; k++)
    if (a->steps[k][0] != operation) n += a->steps[k][1];
  return n;
}

int64_t letters_steps_query(const letters_alignment *a) {
  return steps_but(a, LETTERS_OF_REFERENCE);
}

int64_t letters_steps_reference(const letters_alignment *a) {
  return steps_but(a, LETTERS_OF_QUERY);
}

int64_t letters_steps_same(const letters_alignment *a) {
  return steps_but(a, -1) - steps_but(a, LETTERS_SAME);
}

/* ---- names */

/* Characters that names of references may have; queries may have all but '@'. */
static bool is_for_reference(char c, bool first) {
  if (c == '*' || c == '=') return !first;
  return isalnum((unsigned char)c) || (c != '\0' && strchr("!#$%&+./:;?@^_|~-", c) != NULL);
}

static const char *name_of(const letters_named *sequence) {
  return sequence->name[0] != '\0' ? sequence->name : sequence->standard;
}

/* What SAM does not allow as '_'. */
static void write_name(const letters_named *sequence, bool reference, FILE *file) {
  const char *name = name_of(sequence);
  for (const char *c = name; *c != '\0'; c++)
    fputc((reference ? is_for_reference(*c, c == name) : isgraph((unsigned char)*c) && *c != '@')
              ? *c
              : '_',
          file);
}

/* ---- runs and tags */

static void write_run(int64_t length, char letter, FILE *file) {
  for (; length > 0; length -= LETTERS_LONGEST_RUN)
    fprintf(file, "%lld%c",
            (long long)(length < LETTERS_LONGEST_RUN ? length : LETTERS_LONGEST_RUN), letter);
}

void letters_write_cigar(const letters_alignment *a, FILE *file) {
  if (a->n_steps == 0) fputc('*', file);
  for (int64_t k = a->n_steps - 1; k >= 0; k--)
    write_run(a->steps[k][1], operations[a->steps[k][0]], file);
}

/* Letters that differ or stand alone. */
static long long differences(const letters_alignment *a) {
  return (long long)steps_but(a, LETTERS_SAME);
}

static void write_value(const letters_alignment *a, FILE *file) {
  fprintf(file, "\t%s:i:%lld", a->distance ? "XD" : "AS", (long long)a->value);
}

/* ---- SAM */

void letters_sam_begin(FILE *file) {
  fputs("@HD\tVN:1.6\tSO:unknown\n", file);
}

void letters_sam_reference(const letters_named *reference, FILE *file) {
  fputs("@SQ\tSN:", file);
  write_name(reference, true, file);
  fprintf(file, "\tLN:%lld\n", (long long)reference->n);
}

void letters_sam_program(FILE *file) {
  fputs("@PG\tID:tesela\tPN:tesela\n", file);
}

static void write_letters(const letters_alignment *a, FILE *file) {
  const letters_named *q = &a->query;
  bool fits = q->n > 0 && q->letters != NULL && !a->other;
  for (int64_t k = 0; k < q->n && fits; k++)
    fits = isalpha((unsigned char)q->letters[k]) || q->letters[k] == '.';
  if (fits)
    (void)fwrite(q->letters, 1, (size_t)q->n, file); /* ferror tells */
  else
    fputc('*', file);
}

/* Is there a letter of the reference in it? */
static bool is_mapped(const letters_alignment *a) {
  return a->n_steps > 0 && a->end[1] > a->begin[1];
}

void letters_sam_record(const letters_alignment *a, FILE *file) {
  const bool mapped = is_mapped(a);
  write_name(&a->query, false, file);
  fprintf(file, "\t%d\t", (mapped ? 0 : LETTERS_UNMAPPED) | (a->other ? LETTERS_SECONDARY : 0));
  if (mapped) {
    write_name(&a->reference, true, file);
    fprintf(file, "\t%lld\t255\t", (long long)a->begin[1] + 1);
    write_run(a->begin[0], 'S', file);
    letters_write_cigar(a, file);
    write_run(a->query.n - a->end[0], 'S', file);
  } else {
    fputs("*\t0\t0\t*", file);
  }
  fputs("\t*\t0\t0\t", file);
  write_letters(a, file);
  fputs("\t*", file);
  write_value(a, file);
  if (mapped) fprintf(file, "\tNM:i:%lld", differences(a));
  fputc('\n', file);
}

/* ---- PAF and tables */

static void write_place(const letters_named *sequence, int64_t begin, int64_t end, FILE *file) {
  fprintf(file, "%s\t%lld\t%lld\t%lld", name_of(sequence), (long long)sequence->n, (long long)begin,
          (long long)end);
}

void letters_paf_record(const letters_alignment *a, FILE *file) {
  write_place(&a->query, a->begin[0], a->end[0], file);
  fputs("\t+\t", file);
  write_place(&a->reference, a->begin[1], a->end[1], file);
  fprintf(file, "\t%lld\t%lld\t255\ttp:A:%c\tNM:i:%lld", (long long)letters_steps_same(a),
          (long long)steps_but(a, -1), a->other ? 'S' : 'P', differences(a));
  write_value(a, file);
  fputs("\tcg:Z:", file);
  letters_write_cigar(a, file);
  fputc('\n', file);
}

void letters_table_head(bool distance, FILE *file) {
  fprintf(file,
          "query\tquery_letters\tquery_begin\tquery_end\ttarget\ttarget_letters\ttarget_begin\t"
          "target_end\t%s\tsame\tcolumns\tcigar\n",
          distance ? "distance" : "score");
}

void letters_table_record(const letters_alignment *a, FILE *file) {
  write_place(&a->query, a->begin[0], a->end[0], file);
  fputc('\t', file);
  write_place(&a->reference, a->begin[1], a->end[1], file);
  fprintf(file, "\t%lld\t%lld\t%lld\t", (long long)a->value, (long long)letters_steps_same(a),
          (long long)steps_but(a, -1));
  letters_write_cigar(a, file);
  fputc('\n', file);
}
