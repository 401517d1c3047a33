/**
 * @file file_name.h
 * What is asked of the name of a file to be written, before anything is computed.
 */
#ifndef TSL_CORE_FILE_NAME_H
#define TSL_CORE_FILE_NAME_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Do two names stand for one file, there already (links followed) or yet to be made? */
bool tsl_same_file(const char *a, const char *b);

/** Can the file be written? It stays as it is, or absent. @return 0, or errno of why not */
int tsl_try_write(const char *file);

#ifdef __cplusplus
}
#endif
#endif
