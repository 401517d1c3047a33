/**
 * @file assist.h
 * Steps of a family's host code that the root's device takes where it is much the faster one.
 *
 * Families have no devices. A step that the threads of the host can do (parallel.h), such as the
 * weights of a grid's points in create, is first offered here, by its name:
 *
 *   tsl_assist("xc.weights", &arguments, &taken) -> taken: it is done; else threads do it
 *
 * What the arguments are is said in a header of the family; the kernels are in the backend's folder
 * of that family, which gives the table a row. The device's results are the host's, bit for bit, so
 * that who took a step shows in nothing but its seconds. A family offers what is large enough to be
 * worth a launch and the moves.
 *
 * The runtime opens the device's table for the thread that calls the family; without it, and for
 * all other threads, no step is taken.
 */
#pragma once

#include "error.h"

#include <stdbool.h>

TSL_C_BEGIN

struct tsl_device; /* contract.h */

/** A step that devices of a kind can take. */
typedef struct tsl_assistant {
  const char *step; /**< FAMILY.WHAT; NULL ends a table */
  /** Do it. The device need not be selected, and what it takes to start is waited for.
   *  @param[out] taken  false: it has not the memory; the arguments are as they were
   *  @return other errors of the device */
  tsl_err (*take)(const struct tsl_device *device, void *arguments, bool *taken);
} tsl_assistant;

/** Those of cards: src/gpu/platform_gpu.cu, or platform_none.c. */
extern const tsl_assistant tsl_gpu_assistants[];

/** From now on the calling thread has this table, of this device; both are borrowed until the next
 *  call. NULL: none. */
void tsl_assist_open(const tsl_assistant *table, const struct tsl_device *device);

/** Offer a step. @param[out] taken  it is done @return errors of tsl_assistant.take */
tsl_err tsl_assist(const char *step, void *arguments, bool *taken);

TSL_C_END
