/**
 * @file dp_others.h
 * LOCAL: after the best alignment the next best ones, no two of which have a pair of letters (i, j)
 * in common; gaps may be. On the root, from the letters alone.
 */
#pragma once

#include "dp.h"
#include "letters_alignment.h"

/** Bytes of dp.memory that they take on rank 0. */
int64_t dp_others_bytes(const dp_params *p);

/**
 * Find alignments until there are `most` of them, or none has a score above 0: of equal ones that
 * of the smallest row, then column, with the walk back of all alignments.
 * @param[in,out] list  [most], list[0] given; of others query and reference are its own, and steps
 *                      are the caller's to free, also after an error
 * @param[in,out] n     1, then how many there are
 */
tsl_err dp_others_find(const tsl_problem *problem, letters_alignment *list, int64_t most,
                       int64_t *n);

/** Do all of them have pairs of their own, and no score above one before it? Takes 8 bytes for each
 *  letter of a in them. */
tsl_err dp_others_check(const tsl_problem *problem, const letters_alignment *list, int64_t n,
                        bool *apart);
