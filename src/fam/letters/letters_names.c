/* A hash table of names. */
#include "letters_names.h"

#include "memory.h"

#include <string.h>

/* Fowler, Noll and Vo's hash (FNV-1a), its bits mixed once more by those of MurmurHash3: the low
 * ones are the slot. */
static uint64_t hash_of(const char *name) {
  uint64_t h = UINT64_C(14695981039346656037);
  for (const char *c = name; *c != '\0'; c++) h = (h ^ (unsigned char)*c) * UINT64_C(1099511628211);
  h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
  return h ^ (h >> 33);
}

tsl_err letters_names_create(int64_t n, letters_names *names) {
  tsl_err err = TSL_OK;
  int64_t slots = 2;
  while (slots / 3 * 2 < n) slots *= 2;
  *names = (letters_names){.mask = (uint64_t)slots - 1};
  TSL_TRY(tsl_alloc(slots, sizeof *names->slots, "table of names", (void **)&names->slots));
done:
  return err;
}

int64_t letters_names_add(letters_names *names, const letters_set *set, int64_t k) {
  const char *name = set->names + set->name_at[k];
  uint64_t at = hash_of(name) & names->mask;
  for (; names->slots[at] != 0; at = (at + 1) & names->mask) {
    const int64_t other = names->slots[at] - 1;
    if (strcmp(set->names + set->name_at[other], name) == 0) return other;
  }
  names->slots[at] = k + 1;
  return -1;
}

void letters_names_clear(letters_names *names) {
  tsl_free(names->slots);
  *names = (letters_names){.slots = NULL};
}
