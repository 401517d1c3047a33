/**
 * @file lang_objects.h
 * Compiled objects of a recurrence in a field, one for each architecture.
 *
 * Fields code_cpu and code_gpu (IN u8 []) are lists of objects, put there on the root by
 * tsl_backend.prepare and taken out by workers on any rank. Architectures are numbers:
 * tsl_device.capability of the devices (sockets: x86-64 level 2, 3, 4, or 0; cards: 10 * major +
 * minor).
 */
#pragma once

#include "contract.h"

TSL_C_BEGIN

#define LANG_FIELD_CPU "code_cpu"
#define LANG_FIELD_GPU "code_gpu"

/**
 * Append an object. Root only, before the fields are shared.
 * @param[in] field  "code_cpu" or "code_gpu"
 * @param[in] bytes  [n], copied
 */
tsl_err lang_objects_put(tsl_problem *problem, const char *field, int32_t architecture,
                         const void *bytes, int64_t n);

/**
 * The object of an architecture. Any rank.
 * @param[out] bytes  [*n] in the field, borrowed, aligned to 16 bytes; NULL when there is none
 */
tsl_err lang_objects_find(const tsl_problem *problem, const char *field, int32_t architecture,
                          const void **bytes, int64_t *n);

TSL_C_END
