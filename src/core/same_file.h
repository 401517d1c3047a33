/**
 * @file same_file.h
 * Two names of one file, so that a program does not write over what it reads or writes elsewhere.
 */
#ifndef TSL_CORE_SAME_FILE_H
#define TSL_CORE_SAME_FILE_H

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
