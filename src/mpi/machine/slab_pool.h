/**
 * @file slab_pool.h
 * Buffers for the GATHER slabs of units in flight; they bound the host memory of a rank.
 */
#pragma once

#include "contract.h"

/** Bytes of the slab that unit fills in field f; 0 when the field is not GATHER. */
int64_t tsl_slab_bytes(const tsl_problem *problem, const tsl_unit *unit, int f);

/** Bytes of the largest slab of any of the n units, by field. */
void tsl_slab_largest(const tsl_problem *problem, const tsl_unit *units, int64_t n,
                      int64_t bytes[TSL_MAX_FIELDS]);

/**
 * Give part a buffer of so many bytes for each GATHER field (tsl_slab_largest).
 * @param[in,out] part  freed with tsl_part_clear
 */
tsl_err tsl_part_init(const tsl_problem *problem, const tsl_backend *backend,
                      const int64_t bytes[TSL_MAX_FIELDS], tsl_part *part);

/** Free the slabs and lists of a part; a zeroed one is accepted. */
void tsl_part_clear(const tsl_problem *problem, const tsl_backend *backend, tsl_part *part);

/** Room for the slabs of the units of one batch, a block for each GATHER field. */
typedef struct tsl_slab_pool {
  const tsl_problem *problem; /**< not owned */
  const tsl_backend *backend; /**< not owned */
  void *block[TSL_MAX_FIELDS];
  int64_t used[TSL_MAX_FIELDS], bytes[TSL_MAX_FIELDS];
} tsl_slab_pool;

/**
 * Allocate room for n_most units, the largest of units.
 * @param[in]     units  shape [n]
 * @param[in,out] slots  freed with tsl_slab_pool_close
 */
tsl_err tsl_slab_pool_open(const tsl_problem *problem, const tsl_backend *backend,
                           const tsl_unit *units, int64_t n, int64_t n_most, tsl_slab_pool *slots);

/** Forget the slabs that were placed: a new batch begins. */
void tsl_slab_pool_reset(tsl_slab_pool *slots);

/** Give part the slabs of unit, right behind those of the unit placed before. */
tsl_err tsl_slab_pool_place(tsl_slab_pool *slots, const tsl_unit *unit, tsl_part *part);

/** Zeroed slots are accepted. */
void tsl_slab_pool_close(tsl_slab_pool *slots);

/** Has the part a buffer for any field? */
bool tsl_part_has_slabs(const tsl_part *part);

/** Free the records of LIST fields. */
void tsl_part_drop_lists(tsl_part *part);
