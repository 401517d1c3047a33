/**
 * @file gpu_linalg.cuh
 * The card's table of dense algebra (linalg.h): cuBLAS and cuSOLVER on copies of the host's
 * matrices. For one thread, the one that calls the family on the root.
 */
#pragma once

#include "contract.h"

TSL_C_BEGIN

/** tsl_platform.linalg: the table, for this card. Nothing is done on it before warm or enter. */
const tsl_linalg *tsl_gpu_linalg(const tsl_device *card);

/** Bytes of the card that the table holds; a worker of the same rank leaves them out of its own. */
int64_t tsl_gpu_linalg_bytes(void);

/** True: for lack of the card's memory the host's threads did what the card would have done. */
bool tsl_gpu_linalg_lacks_memory(void);

TSL_C_END
