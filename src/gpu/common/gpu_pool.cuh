/**
 * @file gpu_pool.cuh
 * The card's pool, from which all memory of workers comes (cudaMallocAsync).
 */
#pragma once

#include "error.h"

#include <stdint.h>

/** Freed memory that a process keeps, so that small workers, one after another, are soon open. */
#define TSL_GPU_KEPT (UINT64_C(256) << 20)

/** The selected card's pool keeps this many bytes of what is freed; UINT64_MAX: all.
 *  @return TSL_ERR_DEVICE */
tsl_err tsl_gpu_keep(uint64_t bytes);
