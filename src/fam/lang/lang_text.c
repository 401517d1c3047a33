/* A text that grows by formatted pieces. */
#include "lang_text.h"

#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lang_put(lang_text *t, const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  const int n = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  if (t->err == TSL_OK && t->used + (size_t)n + 1 > t->room) {
    const size_t room = 2 * (t->used + (size_t)n + 1) + 1024;
    void *memory = NULL;
    t->err = tsl_alloc((int64_t)room, 1, "emitted text", &memory);
    if (t->err == TSL_OK) {
      if (t->used > 0) memcpy(memory, t->text, t->used);
      tsl_free(t->text);
      t->text = memory;
      t->room = room;
    }
  }
  if (t->err == TSL_OK) {
    (void)vsnprintf(t->text + t->used, t->room - t->used, fmt, again);
    t->used += (size_t)n;
  }
  va_end(again);
}
