/* A hash table of names. A slot has a part of the hash besides the record, so that hardly any name
 * but an equal one is looked at. */
#include "letters_names.h"

#include "integers.h"
#include "memory.h"
#include "parallel.h"

#include <string.h>

enum {
  RECORD_BITS = 40, /* of a slot: record + 1, 0: free; above: the upper bits of the hash */
  AHEAD = 16,       /* slots that are on their way from memory */
  GRAIN = 1 << 11
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

/* Names on their way into the table. */
typedef struct putting {
  const letters_names *names;
  const uint64_t *hashes; /* of records first + k */
  int64_t first;
  uint8_t *late; /* [..] 1: one with such a hash was there before */
} putting;

static uint64_t next_slot(const letters_names *n, uint64_t at) {
  return at + 1 < n->n ? at + 1 : 0;
}

/* tsl_parallel_body: records into free slots, in no order. */
static tsl_err put_new(void *context, int slot, int64_t lo, int64_t hi) {
  const putting *p = context;
  const letters_names *n = p->names;
  (void)slot;
  for (int64_t k = lo; k < hi; k++) {
    const uint64_t tag = p->hashes[k] & ~record_mask, mine = tag | (uint64_t)(p->first + k + 1);
    if (k + AHEAD < hi) __builtin_prefetch(&n->slots[slot_of(n, p->hashes[k + AHEAD])], 1);
    if (p->hashes[k] == 0) continue;
    for (uint64_t at = slot_of(n, p->hashes[k]);; at = next_slot(n, at)) {
      uint64_t there = __atomic_load_n(&n->slots[at], __ATOMIC_RELAXED);
      if (there == 0 && __atomic_compare_exchange_n(&n->slots[at], &there, mine, false,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        break;
      p->late[k] = (there & ~record_mask) == tag;
      if (p->late[k]) break;
    }
  }
  return TSL_OK;
}

/* Record k, which is late; the slot of a name has the first record of those that had their turn.
 * @param[in,out] same  its pair, where its later record is before that of what is there */
static tsl_err put_late(const putting *p, int64_t k, const letters_names_equal *equal,
                        int64_t same[2]) {
  tsl_err err = TSL_OK;
  const letters_names *n = p->names;
  const uint64_t hash = p->hashes[k - p->first], tag = hash & ~record_mask;
  uint64_t at = slot_of(n, hash);
  bool is = false;
  for (; n->slots[at] != 0; at = next_slot(n, at)) {
    const int64_t other = (int64_t)(n->slots[at] & record_mask) - 1;
    if ((n->slots[at] & ~record_mask) != tag) continue;
    TSL_TRY(equal->are(equal->context, other, k, &is));
    if (!is) continue;
    if (same[0] < 0 || tsl_max(other, k) < same[1])
      same[0] = tsl_min(other, k), same[1] = tsl_max(other, k);
    if (other < k) goto done;
    break;
  }
  n->slots[at] = tag | (uint64_t)(k + 1);
done:
  return err;
}

tsl_err letters_names_put(letters_names *names, const uint64_t *hashes, int64_t first, int64_t end,
                          const letters_names_equal *equal, int64_t same[2]) {
  tsl_err err = TSL_OK;
  putting p = {.names = names, .hashes = hashes, .first = first};
  const int64_t n = end - first;
  same[0] = same[1] = -1;
  TSL_TRY(tsl_alloc(n, 1, "table of names", (void **)&p.late));
  TSL_TRY(tsl_parallel(n, GRAIN, put_new, &p));
  for (const uint8_t *at = p.late; (at = memchr(at, 1, (size_t)(p.late + n - at))) != NULL; at++) {
    const int64_t k = first + (at - p.late);
    if (same[0] >= 0 && k > same[1]) break;
    TSL_TRY(put_late(&p, k, equal, same));
  }
done:
  tsl_free(p.late);
  return err;
}
