/**
 * @file xc_gpu_shares.cuh
 * The step "xc.weights" of the root (assist.h) on its card.
 */
#pragma once

#include "contract.h"

TSL_C_BEGIN

/** Multiply the volumes of a grid's points by their owners' shares, to the bits of
 *  xc_partition_weights. @param[in,out] arguments  xc_weighing; not taken: as it was */
tsl_err xc_shares_take(const tsl_device *card, void *arguments, bool *taken);

TSL_C_END
