/**
 * @file xc_memory.h
 * Memory that a rank needs: what is the same on all devices, and a bound that is known before any
 * work.
 */
#pragma once

#include "xc_problem.h"

TSL_C_BEGIN

/** Host bytes of the fields that a rank holds. */
double xc_memory_fields(const tsl_problem *problem);

/** Host bytes of the sums of threads, of packed matrices, of bounds of the shells' densities. */
double xc_memory_sums(const xc_params *p, int threads);

/** Card's bytes of shells, points and matrices, of fitting vectors. */
double xc_memory_card(const xc_params *p);

enum { XC_EXCHANGE_ROWS = (XC_MAX_L + 1) * (XC_MAX_L + 2) / 2 }; /**< of the largest shell */
/** Of these, fitted exchange of so many B_Q at a time: the metric, orbitals, K, places of pairs;
 *  and of each (P|mn), B_Q, B_Q unpacked and X. */
double xc_memory_card_exchange(const xc_params *p, int64_t rows);

/** Bytes rounded up so that tsl_bytes_text says no less. */
double xc_memory_said(double bytes);

/**
 * Root, after the molecule and its basis are known and before anything is computed: is there less
 * memory than any rank needs in any case? Points, pairs and groups are not known yet.
 * @param[in] kept       matrices of a spin kept for DIIS, in the state of the field on rank 0
 * @param[in] stability  the field's second derivatives are looked at there
 * @param[in] scratch    bytes that rank 0 needs beside, for effective core potentials
 * @return TSL_ERR_INPUT with the key, where the deck gives the limit; else TSL_ERR_MEMORY or
 *         TSL_ERR_DEVICE_MEMORY
 */
tsl_err xc_memory_check(const tsl_deck *deck, const tsl_problem *problem, int64_t kept,
                        bool stability, double scratch);
/** tsl_family.check_memory: likewise of cards alone. */
tsl_err xc_memory_check_cards(tsl_deck *deck, tsl_problem *problem);

TSL_C_END
