/**
 * @file letters_names.h
 * Which names are given twice: a hash table of records, with linear probing (Knuth, TAOCP 6.4). It
 * has 11 bytes a record and no names: the caller compares those that the table takes for equal.
 */
#pragma once

#include "letters_records.h"

#include <stdbool.h>

/** Hash of a name of n characters; 0 of "" alone. */
uint64_t letters_names_hash(const char *name, int64_t n);

/** Records of one file by their names. */
typedef struct letters_names {
  uint64_t *slots; /**< [n] */
  uint64_t n;
} letters_names;

/** For n records at most, below 2^31; letters_names_clear releases it. */
tsl_err letters_names_create(int64_t n, letters_names *out);
void letters_names_clear(letters_names *names);

/** Do records a and b have the same name? */
typedef struct letters_names_equal {
  tsl_err (*are)(void *context, int64_t a, int64_t b, bool *equal);
  void *context;
} letters_names_equal;

/**
 * Put records [first, end) into the table, up to the first one that has the name of an earlier one;
 * names "" are all different.
 * @param[in] hashes  [end - first] of the names, by letters_names_hash
 * @param[out] same  the earlier record and this one; same[0] is -1 where there are none
 */
tsl_err letters_names_put(letters_names *names, const uint64_t *hashes, int64_t first, int64_t end,
                          const letters_names_equal *equal, int64_t same[2]);
