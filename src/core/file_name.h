/**
 * @file file_name.h
 * Names of files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Do two names stand for one file, there already (links followed) or yet to be made? */
bool tsl_same_file(const char *a, const char *b);

/** Does a name end so, upper or lower case, with something before it? */
bool tsl_ends_in(const char *name, const char *ending);

/** Is there no plain file of this name, or an empty one, or one whose first n bytes (at most 64)
 *  have this text? */
bool tsl_may_replace(const char *file, const char *text, size_t n);

#ifdef __cplusplus
}
#endif
