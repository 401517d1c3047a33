/**
 * @file memory.h
 * Checked sizes and aligned host memory.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

TSL_C_BEGIN

/** *out = a * b for a, b >= 0. @return false on overflow or a negative factor; *out untouched. */
bool tsl_mul_i64(int64_t a, int64_t b, int64_t *out);

/** *out = a + b for a, b >= 0. @return false on overflow or a negative term; *out untouched. */
bool tsl_add_i64(int64_t a, int64_t b, int64_t *out);

/** n(n-1)/2, the number of unordered pairs. @return false on overflow or n < 0. */
bool tsl_pairs_i64(int64_t n, int64_t *out);

/**
 * Allocate count elements of size bytes, zeroed, aligned to 64 bytes.
 * @param[in]  what  name of the thing, for the message
 * @param[out] out   memory, some even for a count of 0; free with tsl_free
 * @return TSL_ERR_MEMORY with the number of bytes asked for, of 64 MiB or more also where control
 *         groups leave less (cgroup.h; and what can be swapped). Test knob
 *         TSL_TEST_NO_MEMORY=RANK:N: allocation N (from 0) of that rank of the launcher fails
 */
tsl_err tsl_alloc(int64_t count, size_t size, const char *what, void **out);

/**
 * Make room for n + more elements in a list from tsl_alloc, of which the first n are kept; what
 * has to grow is at least twice as long afterwards. On failure the list stays as it is.
 * @param[in,out] list  NULL: none yet, with *room 0
 * @param[in,out] room  elements that the list has memory for
 */
tsl_err tsl_grow(void **list, int64_t n, int64_t more, int64_t *room, size_t size,
                 const char *what);

/** Free memory of tsl_alloc; NULL accepted. */
void tsl_free(void *memory);
void tsl_free_list(void *const *list, int n);

/** Free each of the pointers given; all are read before the first is freed. C only. */
#define TSL_FREE_ALL(...)                     \
  tsl_free_list((void *const[]){__VA_ARGS__}, \
                (int)(sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *)))

/** Bytes of this host's memory that this process may still take: MemAvailable of Linux, or what its
 *  control groups leave (cgroup.h) where that is less; -1: not known. */
int64_t tsl_memory_free(void);

/** Limits of this process that keep it from memory, threads and processes, as "; limits: ..." with
 *  the ulimit option of each; text holds at least 200 bytes; returns text. */
char *tsl_limits_text(char text[200]);

/** Bytes as text with a binary unit, "1.5 GiB"; text holds at least 24 bytes; returns text. */
char *tsl_bytes_text(double bytes, char text[24]);

TSL_C_END
