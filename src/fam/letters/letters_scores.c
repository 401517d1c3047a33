/* Score matrices: files of scores for pairs of letters. */
#include "letters_scores.h"

#include "memory.h"
#include "table_read.h"

#include <ctype.h>
#include <string.h>

/* A file under way. */
typedef struct reader {
  table_lines lines;
  const char *at;          /* in the line */
  const char *word, *stop; /* the last word read */
  int32_t alphabet;
  letters_scores *scores;
  int columns[LETTERS_SCORED]; /* [n] codes */
  int n;
  uint32_t in_columns, in_rows;    /* a bit for each code */
  char written[2][LETTERS_SCORED]; /* how a letter was written: of columns, of rows */
} reader;

static const char *const side_of[] = {"column", "row"};

static bool next_word(reader *r) {
  while (r->at < r->lines.line_end && isspace((unsigned char)*r->at)) r->at++;
  r->word = r->at;
  while (r->at < r->lines.line_end && !isspace((unsigned char)*r->at)) r->at++;
  r->stop = r->at;
  return r->stop > r->word;
}

/* Next line that has a word; the word is read. */
static bool next_content(reader *r) {
  while (table_lines_content(&r->lines)) {
    r->at = r->lines.line;
    if (next_word(r)) return true;
  }
  return false;
}

/* The word as a letter that is not there yet; side 0: of columns, 1: of rows. */
static tsl_err take_letter(reader *r, int side, uint32_t *seen, int *code) {
  tsl_err err = TSL_OK;
  char shown[48];
  const long long line = (long long)r->lines.number;
  (void)table_shown(r->word, r->stop, shown);
  if (r->stop - r->word != 1)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: '%s' where the letter of a %s is needed", r->lines.path, line,
             shown, side_of[side]);
  *code = letters_code(r->alphabet, *r->word);
  if (*code < 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %s letter '%s' is not of the alphabet %s (%s)", r->lines.path,
             line, side_of[side], shown, letters_alphabet_words[r->alphabet],
             letters_all(r->alphabet));
  if ((*seen >> *code & 1) != 0 && r->written[side][*code] != *r->word)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %s letters '%c' and '%s' are one letter in the alphabet %s",
             r->lines.path, line, side_of[side], r->written[side][*code], shown,
             letters_alphabet_words[r->alphabet]);
  if ((*seen >> *code & 1) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %s letter '%s' is there twice", r->lines.path, line,
             side_of[side], shown);
  *seen |= UINT32_C(1) << *code;
  r->written[side][*code] = *r->word;
done:
  return err;
}

static tsl_err read_columns(reader *r) {
  tsl_err err = TSL_OK;
  if (!next_content(r))
    TSL_FAIL(TSL_ERR_INPUT, "%s: no line with the letters of the columns", r->lines.path);
  do {
    TSL_TRY(take_letter(r, 0, &r->in_columns, &r->columns[r->n]));
    r->n++; /* no letter twice: at most as many as the alphabet has */
  } while (next_word(r));
done:
  return err;
}

static tsl_err read_score(reader *r, int column, int32_t *score) {
  tsl_err err = TSL_OK;
  double value = 0;
  TSL_TRY(table_field_parse(&r->lines, column + 1, r->word, r->stop, &value));
  if (value < -10000 || value > 10000 || value != (double)(int32_t)value)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: column %d: a whole number from -10000 to 10000 is needed",
             r->lines.path, (long long)r->lines.number, column + 1);
  *score = (int32_t)value;
done:
  return err;
}

static tsl_err read_row(reader *r) {
  tsl_err err = TSL_OK;
  int row = -1, n = 0;
  const char letter = *r->word;
  TSL_TRY(take_letter(r, 1, &r->in_rows, &row));
  if ((r->in_columns >> row & 1) == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: row letter '%c' has no column", r->lines.path,
             (long long)r->lines.number, letter);
  for (; next_word(r); n++)
    if (n < r->n) TSL_TRY(read_score(r, n, &r->scores->s[row][r->columns[n]]));
  if (n != r->n)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: row '%c' has %d scores for %d columns", r->lines.path,
             (long long)r->lines.number, letter, n, r->n);
done:
  return err;
}

tsl_err letters_scores_parse(const char *path, const char *text, int64_t bytes, int32_t alphabet,
                             letters_scores *scores, uint32_t *known) {
  tsl_err err = TSL_OK;
  reader r = {.alphabet = alphabet, .scores = scores};
  table_lines_open(path, text, bytes, '#', &r.lines);
  memset(scores->s, 0, sizeof scores->s);
  scores->alphabet = 0;
  TSL_TRY(read_columns(&r));
  while (next_content(&r)) TSL_TRY(read_row(&r));
  for (int k = 0; k < r.n; k++) {
    const int code = r.columns[k];
    if ((r.in_rows >> code & 1) == 0)
      TSL_FAIL(TSL_ERR_INPUT, "%s: no row for letter %c", path, r.written[0][code]);
    if (code >= scores->alphabet) scores->alphabet = code + 1;
  }
  *known = r.in_columns;
done:
  return err;
}

tsl_err letters_scores_read(const char *path, int32_t alphabet, letters_scores *scores,
                            uint32_t *known) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  int64_t bytes = 0;
  TSL_TRY(table_file_load(path, &text, &bytes));
  TSL_TRY(letters_scores_parse(path, text, bytes, alphabet, scores, known));
done:
  tsl_free(text);
  return err;
}
