/* A hash table of names. A slot has a part of the hash besides the record, so that hardly any name
 * but an equal one is looked at. */
#include "letters_names.h"

#include "memory.h"

#include <string.h>

enum {
  RECORD_BITS = 40, /* of a slot: record + 1, 0: free; above: the upper bits of the hash */
  AHEAD = 16        /* slots that are on their way from memory */
};

static const uint64_t record_mask = (UINT64_C(1) << RECORD_BITS) - 1;

/* Words of eight characters, the last one filled with zeros, each mixed in as MurmurHash3 mixes the
 * bits at its end: the low ones are the slot. */
uint64_t letters_names_hash(const char *name, int64_t n) {
  uint64_t h = (uint64_t)n * UINT64_C(0xc4ceb9fe1a85ec53);
  for (int64_t k = 0; k < n; k += (int64_t)sizeof h) {
    uint64_t word = 0;
    memcpy(&word, name + k, (size_t)(n - k < (int64_t)sizeof h ? n - k : (int64_t)sizeof h));
    h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
  }
  return h;
}

/* The record that has the name of record k, or -1; then k has a slot. */
static int64_t add(uint64_t *slots, uint64_t mask, const letters_set *set, uint64_t hash,
                   int64_t k) {
  const char *name = set->names + set->name_at[k];
  const uint64_t tag = hash & ~record_mask;
  uint64_t at = hash & mask;
  for (; slots[at] != 0; at = (at + 1) & mask) {
    const int64_t other = (int64_t)(slots[at] & record_mask) - 1;
    if ((slots[at] & ~record_mask) != tag) continue;
    if (strcmp(set->names + set->name_at[other], name) == 0) return other;
  }
  slots[at] = tag | (uint64_t)(k + 1);
  return -1;
}

tsl_err letters_names_same(const letters_set *set, const uint64_t *hashes, int64_t first, int64_t n,
                           int64_t same[2]) {
  tsl_err err = TSL_OK;
  const int64_t end = first + n;
  int64_t n_slots = 2;
  uint64_t *slots = NULL;
  same[0] = same[1] = -1;
  while (n_slots / 3 * 2 < n) n_slots *= 2;
  const uint64_t mask = (uint64_t)n_slots - 1;
  TSL_TRY(tsl_alloc(n_slots, sizeof *slots, "table of names", (void **)&slots));
  for (int64_t k = first; k < end && same[0] < 0; k++) {
    if (k + AHEAD < end) __builtin_prefetch(&slots[hashes[k + AHEAD] & mask], 1);
    if (set->names[set->name_at[k]] == '\0') continue;
    same[0] = add(slots, mask, set, hashes[k], k);
    same[1] = k;
  }
done:
  tsl_free(slots);
  return err;
}
