/**
 * @file file_name.h
 * Names of files.
 */
#ifndef TSL_CORE_FILE_NAME_H
#define TSL_CORE_FILE_NAME_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Do two names stand for one file, there already (links followed) or yet to be made? */
bool tsl_same_file(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
