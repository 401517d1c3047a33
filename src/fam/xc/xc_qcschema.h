/**
 * @file xc_qcschema.h
 * The result as a tree of jansson's. Only for files that see its header.
 */
#pragma once

#include "xc_family.h"

#include <jansson.h>

/** AtomicResult of the field. @param[out] result  the caller's; json_decref */
tsl_err xc_qcschema_result(const xc_params *p, const xc_own *own, json_t **result);
