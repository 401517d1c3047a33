/**
 * @file lang_text.h
 * Text of compiled code, piece by piece.
 */
#pragma once

#include "error.h"

#include <stddef.h>

TSL_C_BEGIN

/** A text that grows; zero it first; the first failure stays in err. */
typedef struct lang_text {
  char *text; /**< [room] zero-ended, or NULL; free with tsl_free */
  size_t used, room;
  tsl_err err;
} lang_text;

void lang_put(lang_text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

TSL_C_END
