/**
 * @file letters_names.h
 * Which names there are already: a hash table of records, with linear probing (Knuth, TAOCP 6.4).
 */
#ifndef TSL_FAM_LETTERS_NAMES_H
#define TSL_FAM_LETTERS_NAMES_H

#include "letters_records.h"

/** Slots; release with letters_names_clear. */
typedef struct letters_names {
  int64_t *slots; /**< [mask + 1] record + 1; 0: free */
  uint64_t mask;  /**< slots - 1, slots a power of two above the records */
} letters_names;

/** For n records. @return TSL_ERR_MEMORY */
tsl_err letters_names_create(int64_t n, letters_names *names);

/** Add the name of record k, which set holds. @return the record that has it already, or -1 */
int64_t letters_names_add(letters_names *names, const letters_set *set, int64_t k);

void letters_names_clear(letters_names *names);

#endif
