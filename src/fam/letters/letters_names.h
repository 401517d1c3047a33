/**
 * @file letters_names.h
 * Which names are given twice: a hash table of records, with linear probing (Knuth, TAOCP 6.4).
 */
#pragma once

#include "letters_records.h"

/** Hash of a name of n characters. */
uint64_t letters_names_hash(const char *name, int64_t n);

/**
 * The first of records [first, first + n) that has the name of an earlier one of them, "" apart.
 * @param[in] hashes  [first + n] of the names, by letters_names_hash
 * @param[out] same  the earlier record and this one; same[0] is -1 where there are none
 * @return TSL_ERR_MEMORY
 */
tsl_err letters_names_same(const letters_set *set, const uint64_t *hashes, int64_t first, int64_t n,
                           int64_t same[2]);
