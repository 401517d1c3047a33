/* Each thread has one message and one list of places. tsl_fail starts both, and tsl_trace appends a
 * place. */
#include "error.h"

#include "text.h"

#include <stdio.h>
#include <string.h>

static const int err_status[] = {
#define X(name, status) status,
    TSL_ERR_LIST(X)
#undef X
};

static _Thread_local char message[TSL_ERR_MESSAGE_MAX];
static _Thread_local char places[TSL_ERR_PLACES_MAX];

static int known(tsl_err code) {
  return (int)code >= 0 && code < TSL_N_ERR;
}

int tsl_err_status(tsl_err code) {
  return known(code) ? err_status[code] : 3;
}

tsl_err tsl_fail(tsl_err code, const char *file, int line, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  tsl_text_plain(message);
  places[0] = '\0';
  return tsl_trace(code, file, line);
}

tsl_err tsl_trace(tsl_err code, const char *file, int line) {
  const size_t used = strlen(places);
  (void)snprintf(places + used, sizeof places - used, "  at %s:%d\n", file, line);
  return code;
}

const char *tsl_err_message(void) {
  return message;
}

const char *tsl_err_places(void) {
  return places;
}

void tsl_err_save(tsl_err code, tsl_err_copy *copy) {
  copy->code = code;
  memcpy(copy->message, message, sizeof message);
  memcpy(copy->places, places, sizeof places);
}

tsl_err tsl_err_restore(const tsl_err_copy *copy) {
  memcpy(message, copy->message, sizeof message);
  memcpy(places, copy->places, sizeof places);
  message[sizeof message - 1] = places[sizeof places - 1] = '\0';
  return copy->code;
}
