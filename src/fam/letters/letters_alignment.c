/* Alignments of two sequences in files. */
#include "letters_alignment.h"

#include "memory.h"

#include <ctype.h>
#include <string.h>

enum { NUMBER = 24 /* characters of one, at most */ };

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

/** Letters of operation SAME. */
static int64_t steps_same(const letters_alignment *a) {
  return steps_but(a, -1) - steps_but(a, LETTERS_SAME);
}

letters_format_of_alignments letters_alignments_as(const char *name) {
  static const char *const endings[LETTERS_AS_NONE] = {".sam", ".paf", ".tsv"};
  const size_t n = strlen(name);
  int format = 0;
  while (format < LETTERS_AS_NONE && (n < 5 || strcmp(name + n - 4, endings[format]) != 0))
    format++;
  return (letters_format_of_alignments)format;
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

/* A character of a name as SAM has it: what it does not allow is '_'. */
static char allowed(char c, bool reference, bool first) {
  const bool may = reference ? is_for_reference(c, first) : isgraph((unsigned char)c) && c != '@';
  return may ? c : '_';
}

static void write_name(const letters_named *sequence, bool reference, FILE *file) {
  const char *name = name_of(sequence);
  for (const char *c = name; *c != '\0'; c++)
    putc_unlocked(allowed(*c, reference, c == name), file);
}

/* A reference's name as it is written, ended by 0; room: NUMBER more than the name has.
 * @return its characters */
static int64_t spell(const char *name, int64_t number, char *spelled) {
  char *to = spelled;
  if (*name == '\0') to += snprintf(to, NUMBER, "%lld", (long long)number);
  for (const char *c = name; *c != '\0'; c++) *to++ = allowed(*c, true, c == name);
  *to = '\0';
  return to - spelled;
}

tsl_err letters_sam_equal(const char *const name[2], const int64_t number[2], bool *equal) {
  tsl_err err = TSL_OK;
  char *spelled[2] = {NULL};
  for (int k = 0; k < 2; k++) {
    TSL_TRY(tsl_alloc((int64_t)strlen(name[k]) + NUMBER, 1, "names", (void **)&spelled[k]));
    (void)spell(name[k], number[k], spelled[k]);
  }
  *equal = strcmp(spelled[0], spelled[1]) == 0;
done:
  TSL_FREE_ALL(spelled[0], spelled[1]);
  return err;
}

tsl_err letters_sam_put(letters_names *names, const letters_set *set, int64_t at, int64_t first,
                        int64_t end, const letters_names_equal *equal, int64_t same[2]) {
  tsl_err err = TSL_OK;
  const int64_t n = end - first, *name_at = set->name_at + at;
  uint64_t *hashes = NULL;
  char *spelled = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *hashes, "names", (void **)&hashes));
  TSL_TRY(tsl_alloc(name_at[n] - name_at[0] + NUMBER, 1, "names", (void **)&spelled));
  for (int64_t k = 0; k < n; k++)
    hashes[k] = letters_names_hash(spelled, spell(set->names + name_at[k], first + k, spelled));
  TSL_TRY(letters_names_put(names, hashes, first, end, equal, same));
done:
  TSL_FREE_ALL(hashes, spelled);
  return err;
}

/* letters_names_equal of a set in memory. */
static tsl_err equal_in_set(void *context, int64_t a, int64_t b, bool *equal) {
  const letters_set *set = context;
  const char *const name[] = {set->names + set->name_at[a], set->names + set->name_at[b]};
  const int64_t number[] = {a, b};
  return letters_sam_equal(name, number, equal);
}

tsl_err letters_sam_same(letters_set *set, int64_t n, int64_t same[2]) {
  tsl_err err = TSL_OK;
  const letters_names_equal equal = {equal_in_set, set};
  letters_names names = {.slots = NULL};
  TSL_TRY(letters_names_create(n, &names));
  TSL_TRY(letters_sam_put(&names, set, 0, 0, n, &equal, same));
done:
  letters_names_clear(&names);
  return err;
}

/* ---- runs and tags */

void letters_write_number(int64_t number, FILE *file) {
  char text[24], *at = text + sizeof text;
  uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do *--at = (char)('0' + left % 10);
  while ((left /= 10) > 0);
  if (number < 0) *--at = '-';
  while (at < text + sizeof text) putc_unlocked(*at++, file); /* ferror tells */
}

/* The same behind a tab and what it is. */
static void write_field(const char *what, int64_t number, FILE *file) {
  fputc('\t', file);
  fputs(what, file);
  letters_write_number(number, file);
}

static void write_run(int64_t length, char letter, FILE *file) {
  for (; length > 0; length -= LETTERS_LONGEST_RUN) {
    letters_write_number(length < LETTERS_LONGEST_RUN ? length : LETTERS_LONGEST_RUN, file);
    putc_unlocked(letter, file);
  }
}

void letters_write_cigar(const letters_alignment *a, FILE *file) {
  if (a->n_steps == 0) fputc('*', file);
  for (int64_t k = a->n_steps - 1; k >= 0; k--)
    write_run(a->steps[k][1], operations[a->steps[k][0]], file);
}

/* Letters that differ or stand alone. */
static int64_t differences(const letters_alignment *a) {
  return steps_but(a, LETTERS_SAME);
}

static void write_value(const letters_alignment *a, FILE *file) {
  write_field(a->distance ? "XD:i:" : "AS:i:", a->value, file);
}

/* ---- SAM */

void letters_sam_begin(FILE *file) {
  fputs("@HD\tVN:1.6\tSO:unknown\n", file);
}

void letters_sam_reference(const letters_named *reference, FILE *file) {
  fputs("@SQ\tSN:", file);
  write_name(reference, true, file);
  write_field("LN:", reference->n, file);
  fputc('\n', file);
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
  write_field("", (mapped ? 0 : LETTERS_UNMAPPED) | (a->other ? LETTERS_SECONDARY : 0), file);
  fputc('\t', file);
  if (mapped) {
    write_name(&a->reference, true, file);
    write_field("", a->begin[1] + 1, file);
    fputs("\t255\t", file);
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
  if (mapped) write_field("NM:i:", differences(a), file);
  fputc('\n', file);
}

/* ---- PAF and tables */

static void write_place(const letters_named *sequence, int64_t begin, int64_t end, FILE *file) {
  fputs(name_of(sequence), file);
  write_field("", sequence->n, file);
  write_field("", begin, file);
  write_field("", end, file);
}

void letters_paf_record(const letters_alignment *a, FILE *file) {
  write_place(&a->query, a->begin[0], a->end[0], file);
  fputs("\t+\t", file);
  write_place(&a->reference, a->begin[1], a->end[1], file);
  write_field("", steps_same(a), file);
  write_field("", steps_but(a, -1), file);
  fputs(a->other ? "\t255\ttp:A:S" : "\t255\ttp:A:P", file);
  write_field("NM:i:", differences(a), file);
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
  write_field("", a->value, file);
  write_field("", steps_same(a), file);
  write_field("", steps_but(a, -1), file);
  fputc('\t', file);
  letters_write_cigar(a, file);
  fputc('\n', file);
}
