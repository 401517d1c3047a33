/**
 * @file rna_mea.h
 * The structure of maximum expected accuracy: of all structures the one with the largest
 *
 *   sum over its pairs of 2 gamma p_ij  +  sum over its unpaired letters of q_i,
 *
 * p_ij the probability that i and j pair, q_i that i pairs with nobody (Do, Woods and Batzoglou
 * 2006, CONTRAfold, section 2.4; as RNAfold --MEA has it). A large gamma wants more pairs.
 */
#pragma once

#include "error.h"

#include <stdint.h>

/**
 * Time n^2 times the few pairs of a letter that can belong to it, memory n and these pairs.
 * Of structures that are as good the one whose last letters are unpaired, or pair nearest.
 * @param[in]  table     [n][n], p_ij above the diagonal
 * @param[in]  paired    [n], 1 - q_i
 * @param[out] partner   [n] whom a letter pairs with, -1: nobody
 * @param[out] accuracy  the largest sum
 * @return TSL_ERR_MEMORY
 */
tsl_err rna_mea(int64_t n, const double *table, const double *paired, double gamma,
                int64_t *partner, double *accuracy);
