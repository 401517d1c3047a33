/* Messages are looked at when they are whole; what cannot be one is refused at once. */
#include "xc_ipi.h"

#include "xc_token.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = 12, CELLS = 18 * (int)sizeof(double), INIT_MOST = 1 << 20 };

tsl_err xc_ipi_open(xc_stream *stream, int64_t n_atoms, const char *token, xc_ipi *ipi) {
  tsl_err err = TSL_OK;
  *ipi = (xc_ipi){.stream = stream, .n_atoms = n_atoms, .token = token};
  TSL_TRY(tsl_alloc(n_atoms, sizeof *ipi->places, "places of atoms", (void **)&ipi->places));
  TSL_TRY(tsl_alloc(n_atoms, sizeof *ipi->forces, "forces", (void **)&ipi->forces));
done:
  return err;
}

void xc_ipi_clear(xc_ipi *ipi) {
  TSL_FREE_ALL(ipi->places, ipi->forces);
  *ipi = (xc_ipi){.n_atoms = 0};
}

/* ----------------------------------------------------------------- answers */

static tsl_err put_header(const xc_ipi *ipi, const char *word) {
  char header[HEADER + 1];
  (void)snprintf(header, sizeof header, "%-12s", word);
  return xc_stream_put(ipi->stream, header, HEADER);
}

static tsl_err put_forces(const xc_ipi *ipi) {
  tsl_err err = TSL_OK;
  static const char nothing = '\0';
  const int32_t n = (int32_t)ipi->n_atoms, extra = (int32_t)sizeof nothing;
  TSL_TRY(put_header(ipi, "FORCEREADY"));
  TSL_TRY(xc_stream_put(ipi->stream, &ipi->energy, sizeof ipi->energy));
  TSL_TRY(xc_stream_put(ipi->stream, &n, sizeof n));
  TSL_TRY(xc_stream_put(ipi->stream, ipi->forces, n * (int64_t)sizeof *ipi->forces));
  TSL_TRY(xc_stream_put(ipi->stream, ipi->virial, sizeof ipi->virial));
  TSL_TRY(xc_stream_put(ipi->stream, &extra, sizeof extra));
  TSL_TRY(xc_stream_put(ipi->stream, &nothing, extra));
done:
  return err;
}

/* ---------------------------------------------------------------- messages */

/* Each takes its message and sets whole, or leaves it for when more of it has come. */
static tsl_err take_status(xc_ipi *ipi, bool *whole) {
  *whole = true;
  xc_stream_take(ipi->stream, HEADER);
  return put_header(ipi, ipi->answered ? "HAVEDATA" : ipi->started ? "READY" : "NEEDINIT");
}

/* Nothing is computed for who has not shown the token. */
static tsl_err check_token(const xc_ipi *ipi, const char *text, int64_t n) {
  tsl_err err = TSL_OK;
  bool named = false;
  if (ipi->token != NULL && !xc_token_shown(text, n, ipi->token, &named))
    TSL_FAIL(TSL_ERR_INPUT, "%s: INIT has %s token (xc.serve.token)", ipi->stream->name,
             named ? "another" : "no");
done:
  return err;
}

static tsl_err check_started(const xc_ipi *ipi, const char *word) {
  tsl_err err = TSL_OK;
  if (ipi->token != NULL && !ipi->started)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %s before an INIT with the token (xc.serve.token)",
             ipi->stream->name, word);
done:
  return err;
}

static tsl_err take_init(xc_ipi *ipi, bool *whole) {
  enum { NUMBERS = 2 * (int)sizeof(int32_t) };
  tsl_err err = TSL_OK;
  const char *at = xc_stream_peek(ipi->stream, HEADER + NUMBERS);
  int32_t numbers[2]; /* of the replica; bytes that follow */
  if (at == NULL) goto done;
  memcpy(numbers, at + HEADER, sizeof numbers);
  if (numbers[1] < 0 || numbers[1] > INIT_MOST)
    TSL_FAIL(TSL_ERR_INPUT, "%s: INIT with a text of %d bytes", ipi->stream->name, numbers[1]);
  at = xc_stream_peek(ipi->stream, HEADER + NUMBERS + numbers[1]);
  if (at == NULL) goto done;
  TSL_TRY(check_token(ipi, at + HEADER + NUMBERS, numbers[1]));
  xc_stream_take(ipi->stream, HEADER + NUMBERS + numbers[1]);
  ipi->started = *whole = true;
done:
  return err;
}

static tsl_err take_places(xc_ipi *ipi, bool *whole) {
  tsl_err err = TSL_OK;
  const int64_t head = HEADER + CELLS + (int64_t)sizeof(int32_t);
  const int64_t bytes = ipi->n_atoms * (int64_t)sizeof *ipi->places;
  const char *at = xc_stream_peek(ipi->stream, head);
  int32_t n = 0;
  TSL_TRY(check_started(ipi, "POSDATA"));
  if (at == NULL) goto done;
  memcpy(&n, at + HEADER + CELLS, sizeof n);
  if (n != ipi->n_atoms)
    TSL_FAIL(TSL_ERR_INPUT, "%s: places of %d atoms; the deck has %lld", ipi->stream->name, n,
             (long long)ipi->n_atoms);
  at = xc_stream_peek(ipi->stream, head + bytes);
  if (at == NULL) goto done;
  memcpy(ipi->places, at + head, (size_t)bytes);
  xc_stream_take(ipi->stream, head + bytes);
  for (int64_t a = 0; a < ipi->n_atoms; a++)
    for (int x = 0; x < 3; x++)
      if (!isfinite(ipi->places[a][x]))
        TSL_FAIL(TSL_ERR_INPUT, "%s: atom %lld is at (%g, %g, %g)", ipi->stream->name,
                 (long long)a + 1, ipi->places[a][0], ipi->places[a][1], ipi->places[a][2]);
  *whole = true;
  ipi->answered = false;
done:
  return err;
}

static tsl_err take_getforce(xc_ipi *ipi, bool *whole) {
  tsl_err err = TSL_OK;
  TSL_TRY(check_started(ipi, "GETFORCE"));
  if (!ipi->answered) TSL_FAIL(TSL_ERR_INPUT, "%s: GETFORCE before any places", ipi->stream->name);
  *whole = true;
  xc_stream_take(ipi->stream, HEADER);
  ipi->answered = false;
  TSL_TRY(put_forces(ipi));
done:
  return err;
}

/* A header's word without blanks behind it, other bytes as '?'. */
static void read_word(const char *at, char word[HEADER + 1]) {
  int n = HEADER;
  memcpy(word, at, HEADER);
  while (n > 0 && word[n - 1] == ' ') n--;
  word[n] = '\0';
  for (int k = 0; k < n; k++)
    if (word[k] < ' ' || word[k] > '~') word[k] = '?';
}

/* One message, when it is whole. */
static tsl_err take_message(xc_ipi *ipi, tsl_asked *asked, bool *whole) {
  tsl_err err = TSL_OK;
  const char *at = xc_stream_peek(ipi->stream, HEADER);
  char word[HEADER + 1];
  *whole = false;
  if (at == NULL) goto done;
  read_word(at, word);
  if (strcmp(word, "STATUS") == 0) {
    TSL_TRY(take_status(ipi, whole));
  } else if (strcmp(word, "INIT") == 0) {
    TSL_TRY(take_init(ipi, whole));
  } else if (strcmp(word, "POSDATA") == 0) {
    TSL_TRY(take_places(ipi, whole));
    if (*whole) *asked = TSL_ASKED_PROBLEM;
  } else if (strcmp(word, "GETFORCE") == 0) {
    TSL_TRY(take_getforce(ipi, whole));
  } else if (strcmp(word, "EXIT") == 0) {
    *whole = true, *asked = TSL_ASKED_END;
  } else {
    TSL_FAIL(TSL_ERR_INPUT, "%s: '%s' is no message of i-PI's protocol", ipi->stream->name, word);
  }
done:
  return err;
}

tsl_err xc_ipi_next(xc_ipi *ipi, double seconds, tsl_asked *asked) {
  tsl_err err = TSL_OK;
  xc_stream *s = ipi->stream;
  bool whole = true;
  *asked = TSL_ASKED_NOTHING;
  while (*asked == TSL_ASKED_NOTHING && whole) TSL_TRY(take_message(ipi, asked, &whole));
  if (*asked != TSL_ASKED_NOTHING) goto done;
  if (s->ended && (xc_stream_left(s) > 0 || ipi->answered))
    TSL_FAIL(TSL_ERR_IO, "%s: the server is gone %s", s->name,
             ipi->answered ? "and has not taken the forces" : "in the middle of a message");
  if (s->ended) { /* ASE's way to say EXIT */
    *asked = TSL_ASKED_END;
    goto done;
  }
  TSL_TRY(xc_stream_wait(s, seconds));
done:
  return err;
}
