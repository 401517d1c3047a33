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
 * bits at its end: the low half tells the slot. */
uint64_t letters_names_hash(const char *name, int64_t n) {
  uint64_t h = (uint64_t)n * UINT64_C(0xc4ceb9fe1a85ec53);
  for (int64_t k = 0; k < n; k += (int64_t)sizeof h) {
    uint64_t word = 0;
    memcpy(&word, name + k, (size_t)(n - k < (int64_t)sizeof h ? n - k : (int64_t)sizeof h));
    h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
  }
  return h > 0 || n == 0 ? h : 1;
}

tsl_err letters_names_create(int64_t n, letters_names *out) {
  tsl_err err = TSL_OK;
  const int64_t n_slots = n + n / 3 + 2;
  *out = (letters_names){.n = (uint64_t)n_slots};
  TSL_TRY(tsl_alloc(n_slots, sizeof *out->slots, "table of names", (void **)&out->slots));
done:
  return err;
}

void letters_names_clear(letters_names *names) {
  tsl_free(names->slots);
  *names = (letters_names){.slots = NULL};
}

/* The slot to begin with: a part of the table as the hash's low half is one of all numbers. */
static uint64_t slot_of(const letters_names *n, uint64_t hash) {
  return ((hash & UINT32_MAX) * n->n) >> 32;
}

/* *other: the record that has the name of record k, or -1; then k has a slot. */
static tsl_err put(const letters_names *n, uint64_t hash, int64_t k,
                   const letters_names_equal *equal, int64_t *other) {
  tsl_err err = TSL_OK;
  const uint64_t tag = hash & ~record_mask;
  uint64_t at = slot_of(n, hash);
  bool same = false;
  for (; n->slots[at] != 0; at = at + 1 < n->n ? at + 1 : 0) {
    *other = (int64_t)(n->slots[at] & record_mask) - 1;
    if ((n->slots[at] & ~record_mask) == tag) TSL_TRY(equal->are(equal->context, *other, k, &same));
    if (same) goto done;
  }
  n->slots[at] = tag | (uint64_t)(k + 1);
  *other = -1;
done:
  return err;
}

tsl_err letters_names_put(letters_names *names, const uint64_t *hashes, int64_t first, int64_t end,
                          const letters_names_equal *equal, int64_t same[2]) {
  tsl_err err = TSL_OK;
  same[0] = same[1] = -1;
  for (int64_t k = first; k < end && same[0] < 0; k++) {
    const uint64_t *hash = &hashes[k - first];
    if (k + AHEAD < end) __builtin_prefetch(&names->slots[slot_of(names, hash[AHEAD])], 1);
    if (*hash == 0) continue;
    TSL_TRY(put(names, *hash, k, equal, &same[0]));
    same[1] = k;
  }
done:
  return err;
}
