/* FASTA as it comes: several records, CRLF, blanks and empty lines, comments, lower case. */
#include "dp_family.h"

#include "table_read.h"

#include <ctype.h>
#include <string.h>

/* Bytes not yet read. */
typedef struct scan {
  const char *at, *end;
} scan;

/* Next line without its end, CR included; false at the end. */
static bool next_line(scan *s, const char **line, int64_t *n) {
  const char *stop;
  if (s->at >= s->end) return false;
  stop = memchr(s->at, '\n', (size_t)(s->end - s->at));
  if (stop == NULL) stop = s->end;
  *line = s->at;
  *n = stop - s->at;
  s->at = stop < s->end ? stop + 1 : stop;
  if (*n > 0 && (*line)[*n - 1] == '\r') --*n;
  return true;
}

/* First word after '>'. */
static void copy_name(const char *line, int64_t n, char name[64]) {
  int64_t from = 1, k = 0;
  while (from < n && isblank((unsigned char)line[from])) from++;
  while (from < n && !isspace((unsigned char)line[from]) && k < 63) name[k++] = line[from++];
  name[k] = '\0';
}

/* Append the letters of a line to text, blanks left out; text may be NULL to count. */
static void add_letters(const char *line, int64_t n, char *text, int64_t *length) {
  for (int64_t k = 0; k < n; k++) {
    if (isspace((unsigned char)line[k])) continue;
    if (text != NULL) text[*length] = line[k];
    ++*length;
  }
}

/* Walk through the records; letters of the wanted one go to text. Returns the records seen. */
static int64_t walk_records(scan s, int64_t wanted, char *text, int64_t *n, char name[64]) {
  const char *line = NULL;
  int64_t length = 0, seen = 0;
  *n = 0;
  while (next_line(&s, &line, &length)) {
    if (length > 0 && line[0] == '>') {
      if (++seen == wanted) copy_name(line, length, name);
      if (seen > wanted) break;
    } else if (seen == wanted && !(length > 0 && line[0] == ';')) {
      add_letters(line, length, text, n);
    }
  }
  return seen;
}

static bool is_fasta(scan s) {
  while (s.at < s.end && isspace((unsigned char)*s.at)) s.at++;
  return s.at < s.end && (*s.at == '>' || *s.at == ';');
}

tsl_err dp_parse_fasta(const char *path, const char *bytes, int64_t n_bytes, int64_t record,
                       char **text, int64_t *n, char name[64]) {
  tsl_err err = TSL_OK;
  scan s = {bytes, bytes + n_bytes};
  const bool fasta = is_fasta(s);
  const int64_t wanted = fasta ? record : 0;
  *text = NULL, *n = 0, name[0] = '\0';
  if (!fasta && record > 1)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: record %lld asked for, but it is a plain text (no line begins with "
             "'>')",
             path, (long long)record);
  const int64_t seen = walk_records(s, wanted, NULL, n, name);
  if (seen < wanted)
    TSL_FAIL(TSL_ERR_INPUT, "%s: record %lld asked for, but the file has %lld", path,
             (long long)record, (long long)seen);
  TSL_TRY(tsl_alloc(*n, 1, path, (void **)text));
  (void)walk_records(s, wanted, *text, n, name);
done:
  return err;
}

tsl_err dp_read_fasta(const char *path, int64_t record, char **text, int64_t *n, char name[64]) {
  tsl_err err = TSL_OK;
  char *bytes = NULL;
  int64_t n_bytes = 0;
  TSL_TRY(table_file_load(path, &bytes, &n_bytes));
  TSL_TRY(dp_parse_fasta(path, bytes, n_bytes, record, text, n, name));
done:
  tsl_free(bytes);
  return err;
}
