/* QCSchema on standard input and output: an AtomicInput a line, an AtomicResult or a
 * FailedOperation for each. Source: https://github.com/MolSSI/QCSchema, version 1. */
#include "xc_talk.h"

#include "xc_qcschema.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Longest line, bytes. */
static const int64_t longest = INT64_C(64) << 20;

void xc_lines_clear(xc_lines *lines) {
  json_decref(lines->input);
  lines->input = NULL;
}

static tsl_err lines_open(xc_talk *talk, const tsl_deck *deck, const xc_deck *s,
                          const tsl_serving *how) {
  (void)deck, (void)s, (void)how;
  xc_stream_standard(&talk->stream);
  return TSL_OK;
}

/* ------------------------------------------------------------------ answers */

/* The object as a line; NULL is what jansson returns without memory. */
static tsl_err put_object(xc_talk *talk, json_t *object) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  if (object != NULL) text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
  if (text == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for the answer as JSON");
  TSL_TRY(xc_stream_put(&talk->stream, text, (int64_t)strlen(text)));
  TSL_TRY(xc_stream_put(&talk->stream, "\n", 1));
done:
  free(text);
  return err;
}

/* The input's id, which answers carry. */
static bool put_id(const xc_lines *lines, json_t *object) {
  json_t *id = json_object_get(lines->input, "id");
  return id == NULL || json_object_set(object, "id", id) == 0;
}

/* FailedOperation, of the line as it came. */
static tsl_err put_failure(xc_talk *talk, const char *type, const char *message) {
  tsl_err err = TSL_OK;
  json_t *input = talk->lines.input, *object = NULL;
  object = json_pack("{s:O?, s:b, s:{s:s, s:s}}", "input_data", input, "success", 0, "error",
                     "error_type", type, "error_message", message);
  if (object == NULL || !put_id(&talk->lines, object))
    TSL_FAIL(TSL_ERR_MEMORY, "no memory for the answer as JSON");
  TSL_TRY(put_object(talk, object));
done:
  json_decref(object);
  return err;
}

static tsl_err put_error(xc_talk *talk, tsl_err failed) {
  const bool memory = failed == TSL_ERR_MEMORY || failed == TSL_ERR_DEVICE_MEMORY;
  char message[TSL_ERR_MESSAGE_MAX];
  (void)snprintf(message, sizeof message, "%s", tsl_err_message());
  for (char *c = message; *c != '\0'; c++) /* what came may be quoted, and may be no UTF-8 */
    if (*c < ' ' || *c > '~') *c = '?';
  return put_failure(talk,
                     failed == TSL_ERR_INPUT ? "input_error"
                     : memory                ? "resource_error"
                                             : "unknown_error",
                     message);
}

static tsl_err lines_answer(xc_talk *talk, const tsl_problem *problem, const tsl_summary *summary,
                            tsl_err failed) {
  tsl_err err = TSL_OK;
  json_t *object = NULL;
  if (failed != TSL_OK) return put_error(talk, failed);
  if (!summary->valid) return put_failure(talk, "convergence_error", summary->reason);
  TSL_TRY(xc_qcschema_result(xc_params_of(problem), xc_own_of(problem), &object));
  if (!put_id(&talk->lines, object)) TSL_FAIL(TSL_ERR_MEMORY, "no memory for the answer as JSON");
  TSL_TRY(put_object(talk, object));
done:
  json_decref(object);
  return err;
}

/* ---------------------------------------------------------------- questions */

/* The next line without its end, when it is whole; the last one may have none. */
static const char *find_line(xc_talk *talk, int64_t *n) {
  xc_stream *s = &talk->stream;
  xc_lines *l = &talk->lines;
  const int64_t left = xc_stream_left(s);
  const char *at = xc_stream_peek(s, 1);
  const char *end =
      left > l->searched ? memchr(at + l->searched, '\n', (size_t)(left - l->searched)) : NULL;
  l->searched = left;
  if (end == NULL && !(s->ended && left > 0)) return NULL;
  *n = end != NULL ? end - at : left;
  return at;
}

static void take_line(xc_talk *talk, int64_t n) {
  const bool end = xc_stream_left(&talk->stream) > n;
  xc_stream_take(&talk->stream, n + end);
  talk->lines.searched = 0;
}

/* A line that has grown too long is answered, and what follows of it thrown away. */
static tsl_err skip_long(xc_talk *talk) {
  tsl_err err = TSL_OK;
  xc_lines *l = &talk->lines;
  if (xc_stream_left(&talk->stream) <= longest && !l->skips) goto done;
  if (!l->skips) {
    l->number++;
    xc_lines_clear(l);
    TSL_TRY(put_failure(talk, "input_error", "a line of more than 64 MiB"));
  }
  l->skips = true, l->searched = 0;
  xc_stream_take(&talk->stream, xc_stream_left(&talk->stream));
done:
  return err;
}

static bool is_blank(const char *line, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    if (line[k] != ' ' && line[k] != '\t' && line[k] != '\r') return false;
  return true;
}

static tsl_err read_line(xc_talk *talk, const char *line, int64_t n) {
  tsl_err err = TSL_OK;
  xc_lines *l = &talk->lines;
  xc_lines_clear(l);
  xc_molecule_clear(&talk->asked);
  (void)snprintf(talk->what, sizeof talk->what, "line %lld", (long long)l->number);
  l->input = json_loadb(line, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
  TSL_TRY(xc_molecule_parse_json(talk->what, line, n, &talk->asked, &talk->model));
done:
  return err;
}

/* One line: a question, or its failure answered at once, or nothing. */
static tsl_err use_line(xc_talk *talk, const char *line, int64_t n, tsl_asked *asked) {
  tsl_err err = TSL_OK;
  xc_lines *l = &talk->lines;
  const bool rest = l->skips;
  l->skips = false;
  if (rest) goto done; /* the end of what was answered already */
  l->number++;
  if (is_blank(line, n)) goto done;
  const tsl_err bad = read_line(talk, line, n);
  if (bad == TSL_OK)
    *asked = TSL_ASKED_PROBLEM;
  else
    TSL_TRY(put_error(talk, bad));
done:
  return err;
}

static tsl_err lines_next(xc_talk *talk, double seconds, tsl_asked *asked) {
  tsl_err err = TSL_OK;
  int64_t n = 0;
  *asked = TSL_ASKED_NOTHING;
  const char *line = find_line(talk, &n);
  if (line != NULL) {
    TSL_TRY(use_line(talk, line, n, asked));
    take_line(talk, n);
  } else if (talk->stream.ended) {
    *asked = TSL_ASKED_END;
  } else {
    TSL_TRY(skip_long(talk));
    TSL_TRY(xc_stream_wait(&talk->stream, seconds));
  }
done:
  return err;
}

const xc_protocol xc_protocol_lines = {
    .open = lines_open, .next = lines_next, .answer = lines_answer};
