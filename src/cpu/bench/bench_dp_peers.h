/**
 * @file bench_dp_peers.h
 * Libraries that others have written, as peers of `tesela bench dp-cpu`; found at run time.
 */
#pragma once

#include "dp.h"

/**
 * Seconds that parasail's 16-bit kernels (striped and scan) for 256-bit vectors take for the score
 * of one pair, the best of both; affine gaps, letters "ACGT"[code].
 * @param[in]  problem  DP_GLOBAL or DP_LOCAL
 * @param[out] score    its score
 * @param[out] kernel   [48] the name of the faster kernel
 * @return false when the library or its kernels are missing
 */
bool dp_peer_parasail(dp_problem problem, const letters_scores *scores, const uint8_t *a, int64_t n,
                      const uint8_t *b, int64_t m, int repeats, double *seconds, int64_t *score,
                      char kernel[48]);

/** Seconds of edlib for the edit distance of one pair. @return false when it is missing */
bool dp_peer_edlib(const uint8_t *a, int64_t n, const uint8_t *b, int64_t m, int repeats,
                   double *seconds, int64_t *distance);
